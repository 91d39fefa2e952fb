//! By what members get into their accounts, as those who run the site change it: connections to identity providers, second factors
//! taken away, and the address to which a password is recovered. Each lets the one who commands it into members' accounts, so an owner's
//! session alone is not enough (decision 60).

use crate::{
    Core, Identity, factor,
    manage::edit,
    member::Member,
    provider::{ConnectionChange, IdpConnection, connection},
    sign_in::operator_factor::proof,
};
use std::sync::Arc;
use stoa_kernel::{Caller, Code, Fault, MemberId, Result};
use stoa_store::Site;

impl Identity {
    /// Adds a connection. The provider is not asked: it may be set up later.
    ///
    /// # Errors
    /// [`Code::Forbidden`] unless the caller is an owner or a full key; [`Code::ProofNeeded`] for an owner who has not lately shown who
    /// they are; [`Code::Validation`]; [`Code::TooMany`]; [`Code::AlreadyExists`] for the name.
    pub async fn idp_connection_create(
        &self,
        site: &Arc<Site>,
        caller: &Caller,
        change: ConnectionChange,
    ) -> Result<IdpConnection> {
        require_proof(&self.core, caller).await?;
        connection::create(&self.core, site, caller, change).await
    }

    /// Changes a connection. The issuer stays: subjects are only unique there.
    ///
    /// # Errors
    /// As [`Identity::idp_connection_create`]; [`Code::NotFound`].
    pub async fn idp_connection_update(
        &self,
        site: &Arc<Site>,
        caller: &Caller,
        id: &str,
        change: ConnectionChange,
    ) -> Result<IdpConnection> {
        require_proof(&self.core, caller).await?;
        connection::update(&self.core, site, caller, id, change).await
    }

    /// Removes a connection, and what ties members to its provider.
    ///
    /// # Errors
    /// As [`Identity::idp_connection_update`].
    pub async fn idp_connection_remove(&self, site: &Arc<Site>, caller: &Caller, id: &str) -> Result<()> {
        require_proof(&self.core, caller).await?;
        connection::remove(&self.core, site, caller, id).await
    }

    /// Takes all second factors of a member away, who has lost them; the member is told. Answers how many there were,
    /// recovery codes not counted.
    ///
    /// # Errors
    /// [`Code::Forbidden`] unless the caller is an app or owner; [`Code::ProofNeeded`] for an owner who has not lately shown who they
    /// are; [`Code::NotFound`] for an unknown member.
    pub async fn factors_reset(&self, site: &Arc<Site>, caller: &Caller, id: &MemberId) -> Result<u64> {
        require_proof(&self.core, caller).await?;
        factor::reset(&self.core, site, caller, id).await
    }

    /// Gives a member another address to sign in with. It counts as not verified.
    ///
    /// # Errors
    /// [`Code::Forbidden`] unless the caller is an app or owner; [`Code::ProofNeeded`] for an owner who has not lately shown who they
    /// are; [`Code::NotFound`]; [`Code::Validation`]; [`Code::EmailTaken`].
    pub async fn member_change_email(
        &self,
        site: &Site,
        caller: &Caller,
        id: &MemberId,
        email: &str,
    ) -> Result<Member> {
        require_proof(&self.core, caller).await?;
        edit::change_email(&self.core, site, caller, id, email).await
    }
}

/// # Errors
/// [`Code::Forbidden`] for callers who are neither app nor owner; [`Code::ProofNeeded`].
async fn require_proof(core: &Core, caller: &Caller) -> Result<()> {
    if !caller.is_privileged() {
        return Err(Fault::new(Code::Forbidden));
    }
    proof::require_of_caller(core, caller).await
}
