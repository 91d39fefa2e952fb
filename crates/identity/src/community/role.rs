//! Roles that members have, by their keys and titles.

use crate::{
    Identity,
    community::{Granted, Noun, TieFilter, grant, is_own, kind::ROLE, noun, privacy, tie},
};
use stoa_kernel::{Caller, MemberId, Result};
use stoa_store::{Lane, Site, boxed};

/// A role that a member has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoleHeld {
    pub key: String,
    /// Its key when there is no other.
    pub title: String,
}

impl Identity {
    /// The roles of a member: one's own, or anybody's for those who run the site.
    ///
    /// # Errors
    /// [`stoa_kernel::Code::Forbidden`].
    pub async fn member_roles(&self, site: &Site, caller: &Caller, whose: &str) -> Result<Vec<RoleHeld>> {
        if !is_own(caller, &MemberId::from(whose)) {
            privacy::admit(site, caller, Granted::Role.readers()).await?;
        }
        let ties = tie::all_of(site, ROLE.name, &TieFilter::of(vec![whose.to_owned()])).await?;
        let roles = roles(site).await?;
        Ok(ties.into_iter().map(|it| held(&roles, it.target)).collect())
    }

    /// The roles of each of these members.
    ///
    /// # Errors
    /// As [`Identity::granted_of`].
    pub async fn roles_of(
        &self,
        site: &Site,
        caller: &Caller,
        members: Vec<String>,
        field: &str,
    ) -> Result<Vec<(String, Vec<RoleHeld>)>> {
        let all = grant::granted_of(site, caller, Granted::Role, members, field).await?;
        let roles = roles(site).await?;
        let named = |keys: Vec<String>| keys.into_iter().map(|it| held(&roles, it)).collect();
        Ok(all.into_iter().map(|(id, keys)| (id, named(keys))).collect())
    }
}

async fn roles(site: &Site) -> Result<Vec<Noun>> {
    let site_id = site.id.clone();
    site.read(Lane::Scan, move |tx| boxed!(noun::all(tx, &site_id, &ROLE).await)).await
}

fn held(roles: &[Noun], key: String) -> RoleHeld {
    let title = roles.iter().find(|it| it.id == key).and_then(|it| it.text("title")).unwrap_or(&key).to_owned();
    RoleHeld { key, title }
}
