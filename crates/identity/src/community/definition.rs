//! Entities that operators of the site define: roles, badges, custom fields and to whom these apply.

use crate::{
    Identity,
    community::{
        check::check_owner,
        entity::{self, Change, Entity, EntityChange, EntityFilter, NewEntity, Position},
        kind::{self, Kind},
        visibility,
    },
};
use serde_json::{Map, Value, json};
use stoa_kernel::{Caller, Code, Fault, Result};
use stoa_store::{ReaderPool, Site, boxed};

impl Identity {
    /// A entity.
    ///
    /// # Errors
    /// [`Code::Forbidden`]; [`Code::NotFound`].
    pub async fn definition_get(&self, site: &Site, caller: &Caller, kind: &'static Kind, id: &str) -> Result<Entity> {
        find(site, caller, kind, id).await
    }

    /// All entities that a filter finds, in their order. A site has few of a kind.
    ///
    /// # Errors
    /// [`Code::Forbidden`].
    pub async fn definition_list(
        &self,
        site: &Site,
        caller: &Caller,
        kind: &'static Kind,
        filter: &EntityFilter,
    ) -> Result<Vec<Entity>> {
        visibility::check_readers(site, caller, kind.read).await?;
        let site_id = site.id.clone();
        let mut found = site.read(ReaderPool::Scan, move |tx| boxed!(entity::all(tx, &site_id, kind).await)).await?;
        found.retain(|it| filter.finds(it) && kind.shows(it, caller));
        Ok(found)
    }

    /// Makes an entity of a kind that operators of the site define.
    ///
    /// # Errors
    /// [`Code::Forbidden`]; [`Code::Validation`]; [`Code::AlreadyExists`]; [`Code::TooMany`]; [`Code::NotFound`] when
    /// the entity that it is a part of is not there.
    pub async fn definition_create(
        &self,
        site: &Site,
        caller: &Caller,
        kind: &'static Kind,
        object: &Value,
    ) -> Result<Entity> {
        let core = &self.core;
        check_owner(caller)?;
        let mut doc = kind.parse(object, true)?;
        doc.retain(|_, it| !it.is_null());
        let id = match kind.id_from {
            Some(name) => doc.get(name).and_then(Value::as_str).unwrap_or_default().to_owned(),
            None => core.world().uuid(),
        };
        for (name, usual) in kind.defaults {
            doc.entry(*name).or_insert_with(|| json!(usual));
        }
        if kind.name == kind::FIELD.name {
            let key = key_of(&doc);
            doc.entry("key").or_insert(key);
        }
        let by = Change::by(core, caller);
        site.write_with((site.id.clone(), NewEntity { id, doc }, by), move |tx, (site, new, by)| {
            boxed!({
                let mut new = new.clone();
                if let Some(part) = &kind.part_of {
                    let whole = entity::get(tx, site, part.whole, &new.id).await?;
                    let whole = whole.ok_or_else(|| Fault::new(Code::NotFound))?;
                    new.doc.insert(part.takes_as.to_owned(), json!(whole.text(part.takes)));
                }
                entity::insert(tx, site, kind, new, by).await
            })
        })
        .await
    }

    /// Changes one.
    ///
    /// # Errors
    /// [`Code::Forbidden`]; [`Code::Validation`]; [`Code::NotFound`]; [`Code::RevisionOld`].
    pub async fn definition_update(
        &self,
        site: &Site,
        caller: &Caller,
        kind: &'static Kind,
        id: &str,
        object: &Value,
    ) -> Result<Entity> {
        let core = &self.core;
        check_owner(caller)?;
        let doc = kind.parse(object, false)?;
        let change = EntityChange { id: id.to_owned(), revision: entity::revision_in(object)?, doc };
        entity::change(core, site, caller, kind, change).await
    }

    /// Puts them in an order.
    ///
    /// # Errors
    /// [`Code::Forbidden`]; [`Code::NotFound`].
    pub async fn definition_order(
        &self,
        site: &Site,
        caller: &Caller,
        kind: &'static Kind,
        ids: Vec<String>,
    ) -> Result<Vec<Entity>> {
        check_owner(caller)?;
        entity::order(site, kind, ids).await
    }

    /// Moves one among its kind.
    ///
    /// # Errors
    /// [`Code::Forbidden`]; [`Code::NotFound`].
    pub async fn definition_move(
        &self,
        site: &Site,
        caller: &Caller,
        kind: &'static Kind,
        id: &str,
        to: Position,
    ) -> Result<()> {
        check_owner(caller)?;
        entity::reorder(site, kind, id, to).await
    }
}

/// What [`Identity::definition_get`] does.
pub(crate) async fn find(site: &Site, caller: &Caller, kind: &'static Kind, id: &str) -> Result<Entity> {
    visibility::check_readers(site, caller, kind.read).await?;
    let (site_id, id) = (site.id.clone(), id.to_owned());
    let found = site.read(ReaderPool::Point, move |tx| boxed!(entity::get(tx, &site_id, kind, &id).await)).await?;
    found.filter(|it| kind.shows(it, caller)).ok_or_else(|| Fault::new(Code::NotFound))
}

impl Kind {
    /// Whether the caller, who reads others of its kind, reads this one.
    pub(crate) fn shows(&self, entity: &Entity, caller: &Caller) -> bool {
        caller.is_editor() || self.hidden.is_none_or(|it| entity.doc.get(it) != Some(&Value::Bool(true)))
    }
}

/// The key of a custom field that came without one, after its name.
fn key_of(doc: &Map<String, Value>) -> Value {
    let name = doc.get("name").and_then(Value::as_str).unwrap_or_default().to_lowercase();
    let key: String = name.chars().map(|it| if it.is_alphanumeric() { it } else { '-' }).collect();
    json!(format!("custom.{key}"))
}
