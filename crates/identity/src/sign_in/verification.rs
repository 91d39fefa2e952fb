//! Verification of e-mail addresses, and the sign-ins that wait for it (docs/protocol/identity.md §7).

use crate::{
    Core, Identity,
    defence::code_limit,
    factor::{self, PasswordSet},
    mail::{self, notice},
    member::{self, Move, Status, access::MemberWrite},
    sign_in::{
        advance, approval_request,
        code::{self, Use},
        enrolment::{self, CallOrigin},
        origin::Origin,
        outcome::Outcome,
    },
    token::{self, Kind},
};
use std::{net::IpAddr, sync::Arc};
use stoa_kernel::{Caller, Code, Fault, MemberId, Result, Secret, TokenHash};
use stoa_sql::params;
use stoa_store::{Site, Tx, boxed};

impl Identity {
    /// Checks a code and goes on with the sign-in that waited for it (`POST /v1/auth/verify`). A code that
    /// no sign-in waited for ([`Identity::verification_start`]) proves the address and signs no member in:
    /// [`Outcome::StatusCheck`].
    ///
    /// # Errors
    /// [`Code::StateTokenInvalid`] when the token is unknown, finished or too old;
    /// [`Code::VerificationFailed`] when the code is wrong or expired; [`Code::Throttled`] after too
    /// many wrong ones; [`Code::MemberBlocked`].
    pub async fn verification_check(
        &self,
        site: &Arc<Site>,
        state_token: &str,
        code: &str,
        from: CallOrigin<'_>,
    ) -> Result<Outcome> {
        let core = &self.core;
        let is_ours = token::site_number(Kind::State, state_token) == Some(site.number);
        if !is_ours {
            return Err(Fault::new(Code::StateTokenInvalid));
        }
        let outcome = check(core, site, TokenHash::of(state_token), code, from.address).await?;
        enrolment::for_call(core, site, outcome, from).await
    }

    /// Sends another code for the same state token (`POST /v1/auth/resend`); the old one ends.
    ///
    /// # Errors
    /// [`Code::StateTokenInvalid`]; [`Code::Throttled`] when the member got too many messages;
    /// [`Code::MemberBlocked`].
    pub async fn verification_resend(&self, site: &Arc<Site>, state_token: &str) -> Result<Outcome> {
        let core = &self.core;
        if token::site_number(Kind::State, state_token) != Some(site.number) {
            return Err(Fault::new(Code::StateTokenInvalid));
        }
        let member = code::resend(core, site, TokenHash::of(state_token)).await?;
        Ok(Outcome::RequireEmailVerification { member, state_token: Secret::new(state_token) })
    }

    /// Sends a code to a member's address (`POST /v1/start`). Answers the state token that goes with
    /// it, called `verificationId` on the wire.
    ///
    /// # Errors
    /// [`Code::Forbidden`] unless the caller is the member, an app or an owner; [`Code::NotFound`];
    /// [`Code::Throttled`].
    pub async fn verification_start(&self, site: &Arc<Site>, caller: &Caller, id: &MemberId) -> Result<Secret> {
        let core = &self.core;
        let is_self = matches!(caller, Caller::Member { id: it, .. } if it == id);
        if !is_self && !caller.is_privileged() {
            return Err(Fault::new(Code::Forbidden));
        }
        let state_token = site
            .write_with((core.clone(), site.clone(), id.clone()), |tx, (core, site, id)| {
                boxed!({
                    let member = member::get(tx, &site.id, id).await?.filter(|it| !it.email.is_empty());
                    let member = member.ok_or_else(|| Fault::new(Code::NotFound))?;
                    code::start(core, tx, site, &member, Use::Address).await
                })
            })
            .await?;
        mail::deliver_soon(core, &site.id).await;
        Ok(state_token)
    }
}

/// Checks the code of a state token or flow by its hash, and goes on with the sign-in that waited for it.
///
/// # Errors
/// As [`Identity::verification_check`].
pub(crate) async fn check(
    core: &Arc<Core>,
    site: &Arc<Site>,
    hash: TokenHash,
    code: &str,
    address: IpAddr,
) -> Result<Outcome> {
    let checked = site
        .write_with((core.clone(), site.clone(), hash, code.to_owned()), move |tx, (core, site, hash, code)| {
            boxed!({
                let submitted = SubmittedCode { hash, code, address };
                // Not an error, so that the count of attempts is kept.
                check_in(core, tx, site, submitted).await
            })
        })
        .await?;
    let outcome = checked?;
    // Also for the notice about an account in use.
    mail::deliver_soon(core, &site.id).await;
    Ok(outcome)
}

/// A code that a client submits.
struct SubmittedCode<'a> {
    hash: &'a TokenHash,
    code: &'a str,
    address: IpAddr,
}

/// The inner error refuses the code and keeps what was written.
async fn check_in(core: &Core, tx: &mut Tx<'_>, site: &Site, submitted: SubmittedCode<'_>) -> Result<Result<Outcome>> {
    let SubmittedCode { hash, code, address } = submitted;
    let now = core.now();
    let stored = code::find(tx, site, hash, now).await?;
    let Some((stored, mut member)) = code::still_valid(tx, site, stored).await? else {
        return Ok(Err(Fault::new(Code::StateTokenInvalid)));
    };
    let recent = code_limit::recent(tx, &site.id, &stored.member, "attempts", now).await?;
    if stored.attempts >= code::TOKEN_ATTEMPTS || recent.sum >= code_limit::MEMBER_ATTEMPTS {
        return Ok(Err(recent.throttled(now)));
    }
    if stored.code_expires <= now || stored.code_hash != code::code_hash(&stored.member, code).to_vec() {
        let sql = "update stoa.verification set attempts = attempts + 1 where site = $1 and hash = $2";
        tx.send(sql, params![&site.id, hash]).await?;
        return Ok(Err(Fault::new(Code::VerificationFailed)));
    }
    // The right code ends every other code of the member as well, and messages are counted from zero: who asked reads them.
    let sql = "delete from stoa.verification where site = $1 and member = $2";
    tx.send(sql, params![&site.id, &stored.member]).await?;
    let was_active = member.status == Status::Active;
    if !Move::Verify.apply(&mut member) {
        return Ok(Err(Fault::new(Code::MemberBlocked)));
    }
    member::update(tx, &MemberWrite::shown_to_be(&stored.member), &site.id, &mut member, now).await?;
    if was_active {
        notice::email_verified(core, tx, &site.id, &member).await?;
    }
    let Some(first) = stored.first else {
        if matches!(member.status, Status::Blocked | Status::Offline) {
            return Ok(Err(Fault::new(Code::MemberBlocked)));
        }
        if member.status == Status::Pending && member.pending_approval && !member.pending_fields {
            approval_request::request(core, tx, &site.id, &member).await?;
        }
        return Ok(Ok(Outcome::StatusCheck { member }));
    };
    // The sign-in has shown the password, and now the address. One that began at a provider has shown no password.
    if first.is_own() {
        factor::password_was_set(core, tx, &site.id, &stored.member, PasswordSet::Confirmed).await?;
    }
    let (visitor, address) = (stored.visitor.as_ref(), Some(address));
    let origin = Origin { visitor, address, first, has_shown_address: true, ..Origin::default() };
    advance::kept(advance::advance(core, tx, site, member, origin).await)
}
