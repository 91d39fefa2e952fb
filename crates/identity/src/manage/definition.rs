//! Roles, badges and their kin, as far as more than the community has a word in them.

use crate::{
    Identity,
    community::{
        check::check_owner,
        entity::{self, DeletionCheck},
        kind::{Kind, ROLE},
    },
    policy,
};
use stoa_kernel::{Caller, Fault, Result, SiteId, Violation};
use stoa_store::{Site, Tx, boxed};

impl Identity {
    /// Deletes one, its parts and the relations to it.
    ///
    /// # Errors
    /// As for update; [`stoa_kernel::Code::Validation`] for a role of whose members the site requires second factors.
    pub async fn definition_delete(
        &self,
        site: &Site,
        caller: &Caller,
        kind: &'static Kind,
        id: &str,
        revision: Option<i64>,
    ) -> Result<()> {
        check_owner(caller)?;
        let check: DeletionCheck = match kind.name == ROLE.name {
            true => |tx, site, key| boxed!(unnamed(tx, site, key).await),
            false => |_, _, _| boxed!(Ok(())),
        };
        entity::delete(&self.core, site, caller, kind, (id, revision), check).await
    }
}

/// Refuses a role that the sign-on policy names: deleted, it would take the requirement with it without a word.
async fn unnamed(tx: &mut Tx<'_>, site: &SiteId, key: &str) -> Result<()> {
    if !policy::names_role(tx, site, key).await? {
        return Ok(());
    }
    let why = "the sign-on policy requires second factors of members with this role: change the policy first";
    Err(Fault::invalid(vec![Violation::new("roleKey", "FIELD_NOT_ALLOWED", why)]))
}
