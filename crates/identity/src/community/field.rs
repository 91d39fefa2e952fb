//! Custom fields: to whom they apply, and those that sites usually have.

use crate::{
    Identity,
    community::{
        assignment::{self, Assignable},
        check::at_most,
        entity::{self, Entity, EntityFilter},
        kind::{self, Readers},
        visibility,
    },
};
use serde_json::{Map, Value};
use stoa_kernel::{Caller, Result};
use stoa_store::{ReaderPool, Site, boxed};

/// Name, type and social network of the fields that sites usually have.
const USUAL: [(&str, &str, &str); 12] = [
    ("Phone", "TEXT", "UNKNOWN"),
    ("Company", "TEXT", "UNKNOWN"),
    ("Position", "TEXT", "UNKNOWN"),
    ("Birthdate", "DATE", "UNKNOWN"),
    ("Website", "URL", "UNKNOWN"),
    ("Facebook", "SOCIAL", "FACEBOOK"),
    ("Instagram", "SOCIAL", "INSTAGRAM"),
    ("LinkedIn", "SOCIAL", "LINKEDIN"),
    ("Pinterest", "SOCIAL", "PINTEREST"),
    ("SoundCloud", "SOCIAL", "SOUNDCLOUD"),
    ("TikTok", "SOCIAL", "TIKTOK"),
    ("YouTube", "SOCIAL", "YOUTUBE"),
];

/// Which custom fields apply to whom.
#[derive(Debug, Clone)]
pub struct Applications {
    pub fields: Vec<Entity>,
    /// For each of those who were named, whether each of the fields applies.
    pub applies: Vec<(String, Vec<bool>)>,
}

impl Identity {
    /// Which fields apply to each of these members.
    ///
    /// # Errors
    /// [`stoa_kernel::Code::Forbidden`] unless the caller runs the site; [`stoa_kernel::Code::Validation`].
    pub async fn fields_of_members(&self, site: &Site, caller: &Caller, members: Vec<String>) -> Result<Applications> {
        visibility::check_readers(site, caller, Readers::Staff).await?;
        at_most(&members, "memberIds", "ids")?;
        let of = |(id, roles): (String, Vec<String>)| {
            let roles = roles.into_iter().map(|it| ("ROLE", it));
            (id.clone(), [("MEMBER", id)].into_iter().chain(roles).collect())
        };
        let roles = assignment::assignments_of(site, caller, Assignable::Role, members, "memberIds").await?;
        applied(site, roles.into_iter().map(of).collect()).await
    }

    /// Which fields apply to each of these roles.
    ///
    /// # Errors
    /// As [`Identity::fields_of_members`].
    pub async fn fields_of_roles(&self, site: &Site, caller: &Caller, roles: Vec<String>) -> Result<Applications> {
        visibility::check_readers(site, caller, Readers::Staff).await?;
        at_most(&roles, "roleIds", "ids")?;
        applied(site, roles.into_iter().map(|it| (it.clone(), vec![("ROLE", it)])).collect()).await
    }

    /// Fields that sites usually have and this one doesn't yet, as far as a filter finds them.
    ///
    /// # Errors
    /// [`stoa_kernel::Code::Forbidden`] unless the caller runs the site.
    pub async fn field_suggestions(
        &self,
        site: &Site,
        caller: &Caller,
        filter: &EntityFilter,
    ) -> Result<Vec<Map<String, Value>>> {
        visibility::check_readers(site, caller, Readers::Staff).await?;
        let site_id = site.id.clone();
        let fields =
            site.read(ReaderPool::Scan, move |tx| boxed!(entity::all(tx, &site_id, &kind::FIELD).await)).await?;
        let is_there =
            |name: &str| fields.iter().filter_map(|it| it.text("name")).any(|it| it.eq_ignore_ascii_case(name));
        let suggestion = |(name, kind, social): &(&str, &str, &str)| {
            let members = [
                ("name", *name),
                ("fieldType", *kind),
                ("socialType", *social),
                ("fieldOrigin", "SYSTEM"),
                ("defaultPrivacy", "PRIVATE"),
            ];
            members.into_iter().map(|(name, value)| (name.to_owned(), Value::from(value))).collect::<Map<_, _>>()
        };
        let all = USUAL.iter().filter(|it| !is_there(it.0)).map(suggestion);
        Ok(all.filter(|it| filter.fits(&|field| field.read(it))).collect())
    }
}

/// For each of those who are named, which fields apply to a member who is or has these.
async fn applied(site: &Site, named: Vec<(String, Vec<(&'static str, String)>)>) -> Result<Applications> {
    let site_id = site.id.clone();
    let read = site.read(ReaderPool::Scan, move |tx| {
        boxed!({
            let fields = entity::all(tx, &site_id, &kind::FIELD).await?;
            Ok((fields, entity::all(tx, &site_id, &kind::APPLICATION).await?))
        })
    });
    let (fields, rules) = read.await?;
    let applies = named.into_iter().map(|(id, held)| {
        let names = |rule: &Entity, list: &str, kind: &str| {
            let items = rule.doc.get(list).and_then(|it| it["items"].as_array()).into_iter().flatten();
            items.into_iter().any(|it| held.iter().any(|(what, id)| it[kind] == *what && it["entityId"] == **id))
        };
        let applies = |field: &Entity| match rules.iter().find(|it| it.id == field.id) {
            Some(rule) => names(rule, "applications", "applicationType") && !names(rule, "exclusions", "exclusionType"),
            None => field.text("appliesTo") != Some("SELECTED_MEMBERS"),
        };
        (id, fields.iter().map(applies).collect())
    });
    Ok(Applications { applies: applies.collect(), fields })
}
