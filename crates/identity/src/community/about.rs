//! What members write about themselves at length.

use crate::{
    Identity,
    community::{
        check::{check_owner, is_own},
        entity::{self, Entity, EntityChange, NewEntity},
        kind::ABOUT,
        visibility,
    },
    member::{self, Member},
};
use serde_json::{Value, json};
use std::collections::HashMap;
use stoa_kernel::{Caller, Code, Fault, MemberId, Result};
use stoa_store::{ReaderPool, Site, boxed};

impl Identity {
    /// Writes what a member tells of themselves: makes it, or changes it.
    ///
    /// # Errors
    /// [`Code::Forbidden`] for other members' texts; [`Code::Validation`]; [`Code::AlreadyExists`];
    /// [`Code::NotFound`]; [`Code::RevisionOld`].
    pub async fn about_write(&self, site: &Site, caller: &Caller, id: Option<&str>, object: &Value) -> Result<Entity> {
        let core = &self.core;
        let named = object.get("memberId").and_then(Value::as_str);
        let whose = match (id.or(named), caller) {
            (Some(whose), it) if it.is_privileged() => whose.to_owned(),
            (whose, Caller::Member { id: own, .. }) if whose.is_none_or(|it| it == own.as_str()) => {
                own.as_str().to_owned()
            }
            _ => return Err(Fault::new(Code::Forbidden)),
        };
        let member = member::find(site, &MemberId::from(whose.as_str())).await?.filter(Member::is_there);
        member.ok_or_else(|| Fault::new(Code::NotFound))?;
        let mut doc = ABOUT.parse(object, id.is_none())?;
        doc.insert("memberId".to_owned(), json!(whose));
        match id {
            Some(_) => {
                let change = EntityChange { id: whose, revision: entity::revision_in(object)?, doc };
                entity::change(core, site, caller, &ABOUT, change).await
            }
            None => entity::create(core, site, caller, &ABOUT, NewEntity { id: whose, doc }).await,
        }
    }

    /// What a member tells of themselves, if the caller may see the member.
    ///
    /// # Errors
    /// As [`Identity::member_see`]; [`Code::NotFound`].
    pub async fn about_get(&self, site: &Site, caller: &Caller, id: &str) -> Result<Entity> {
        visibility::check_seen(site, caller, &MemberId::from(id)).await?;
        let (site_id, id) = (site.id.clone(), id.to_owned());
        let found =
            site.read(ReaderPool::Point, move |tx| boxed!(entity::get(tx, &site_id, &ABOUT, &id).await)).await?;
        found.ok_or_else(|| Fault::new(Code::NotFound))
    }

    /// What these members write about themselves, of those that the caller may see.
    pub async fn about_list(&self, site: &Site, caller: &Caller, ids: &[String]) -> Result<Vec<Entity>> {
        let seen: Vec<String> = visibility::see_members(site, caller, ids).await?.into_iter().collect();
        let site_id = site.id.clone();
        let read = site.read(ReaderPool::Scan, move |tx| boxed!(entity::some(tx, &site_id, &ABOUT, &seen).await));
        let found: HashMap<String, Entity> = read.await?.into_iter().map(|it| (it.id.clone(), it)).collect();
        Ok(ids.iter().filter_map(|it| found.get(it).cloned()).collect())
    }

    /// Deletes what a member wrote about themselves.
    ///
    /// # Errors
    /// As [`Identity::about_write`].
    pub async fn about_delete(&self, site: &Site, caller: &Caller, id: &str) -> Result<()> {
        if !is_own(caller, &MemberId::from(id)) {
            check_owner(caller)?;
        }
        entity::delete(&self.core, site, caller, &ABOUT, (id, None), |_, _, _| boxed!(Ok(()))).await
    }
}
