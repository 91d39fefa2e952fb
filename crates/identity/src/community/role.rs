//! Roles that members have, by their keys and titles.

use crate::{
    Identity,
    community::{
        assignment::{self, Assignable},
        check::is_own,
        entity::{self, Entity},
        kind::ROLE,
        relation::{self, RelationFilter},
        visibility,
    },
};
use stoa_kernel::{Caller, MemberId, Result};
use stoa_store::{ReaderPool, Site, boxed};

/// A role that a member has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AssignedRole {
    pub key: String,
    /// Its key when there is no other.
    pub title: String,
}

impl Identity {
    /// The roles of a member: one's own, or any member's for operators of the site.
    ///
    /// # Errors
    /// [`stoa_kernel::Code::Forbidden`].
    pub async fn member_roles(&self, site: &Site, caller: &Caller, whose: &str) -> Result<Vec<AssignedRole>> {
        if !is_own(caller, &MemberId::from(whose)) {
            visibility::check_readers(site, caller, Assignable::Role.readers()).await?;
        }
        let relations = relation::all_of(site, ROLE.name, &RelationFilter::of(vec![whose.to_owned()])).await?;
        let roles = roles(site).await?;
        Ok(relations.into_iter().map(|it| held(&roles, it.target)).collect())
    }

    /// The roles of each of these members.
    ///
    /// # Errors
    /// As [`Identity::assignments_of`].
    pub async fn roles_of(
        &self,
        site: &Site,
        caller: &Caller,
        members: Vec<String>,
        field: &str,
    ) -> Result<Vec<(String, Vec<AssignedRole>)>> {
        let all = assignment::assignments_of(site, caller, Assignable::Role, members, field).await?;
        let roles = roles(site).await?;
        let named = |keys: Vec<String>| keys.into_iter().map(|it| held(&roles, it)).collect();
        Ok(all.into_iter().map(|(id, keys)| (id, named(keys))).collect())
    }
}

async fn roles(site: &Site) -> Result<Vec<Entity>> {
    let site_id = site.id.clone();
    site.read(ReaderPool::Scan, move |tx| boxed!(entity::all(tx, &site_id, &ROLE).await)).await
}

fn held(roles: &[Entity], key: String) -> AssignedRole {
    let title = roles.iter().find(|it| it.id == key).and_then(|it| it.text("title")).unwrap_or(&key).to_owned();
    AssignedRole { key, title }
}
