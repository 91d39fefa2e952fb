//! How members who are signed in change their password: as the public packages do, without the one before, and as the
//! account page does, which shows it.

use crate::{
    Core, Identity, audit,
    defence::attempt::Attempt,
    factor::{self, PasswordSet},
    mail::{self, notice},
    member::{self, access::MemberWrite, row},
    session::{self, SessionSelector},
    sign_in::{
        login::{hash_password, password_attempt, password_permit},
        new_password::{self, Person},
    },
};
use std::{net::IpAddr, sync::Arc};
use stoa_kernel::{Caller, Code, Fault, MemberId, Result, Secret, SessionId};
use stoa_store::{Site, boxed};

impl Identity {
    /// Changes the calling member's password and ends all their other sessions. `from` is the network address that
    /// asks.
    ///
    /// # Errors
    /// [`Code::Forbidden`] unless the caller is a member; [`Code::Validation`] for the new password;
    /// [`Code::Throttled`]; [`Code::Unauthenticated`] when the session ends meanwhile.
    pub async fn password_change(&self, site: &Arc<Site>, caller: &Caller, from: IpAddr, new: &Secret) -> Result<()> {
        let asked = asking(caller)?;
        require_good(&self.core, site, asked.0, new).await?;
        password_attempt(&self.core, &site.id, asked.0.as_str())?;
        set(&self.core, site, caller, asked, from, new).await
    }

    /// The same for a member who shows the password before, and one who has a second factor has lately shown it in this
    /// session ([`Identity::member_prove`]).
    ///
    /// # Errors
    /// As [`Identity::password_change`], and [`Code::ProofNeeded`]; [`Code::PasswordWrong`] for the one before;
    /// [`Code::PasswordReset`].
    pub async fn password_replace(
        &self,
        site: &Arc<Site>,
        caller: &Caller,
        attempt: &Attempt,
        old: &Secret,
        new: &Secret,
    ) -> Result<()> {
        let (core, asked) = (&self.core, asking(caller)?);
        require_good(core, site, asked.0, new).await?;
        // Before the old one is compared, which costs a hash: a right one is no failed sign-in, however often it comes.
        let permit = password_permit(core, &site.id, asked.0.as_str())?;
        if let Err(fault) = factor::before_password_change(core, site, caller, attempt, old).await {
            // Guesses are counted as sign-ins. They don't use up what a recovery link needs.
            core.throttle.refund(permit);
            return Err(fault);
        }
        set(core, site, caller, asked, attempt.address, new).await
    }
}

/// # Errors
/// [`Code::Validation`] for a password that is not good enough for the member.
async fn require_good(core: &Core, site: &Site, id: &MemberId, new: &Secret) -> Result<()> {
    let member = member::find(site, id).await?.ok_or_else(|| Fault::new(Code::NotFound))?;
    let person = Person { email: &member.email, profile: Some(&member.profile) };
    match new_password::violation_for(core, site, person, new, "newPassword").await? {
        Some(violation) => Err(Fault::invalid(vec![violation])),
        None => Ok(()),
    }
}

/// Sets the password, and ends the other sessions; the caller has counted it.
async fn set(
    core: &Arc<Core>,
    site: &Arc<Site>,
    caller: &Caller,
    (id, session): (&MemberId, &SessionId),
    from: IpAddr,
    new: &Secret,
) -> Result<()> {
    let share = core.passwords.share(from, site.id.as_str(), id.as_str());
    let hash = hash_password(core, share, new, "newPassword").await?;
    let root = session::root(site, session).await?;
    let others = SessionSelector::MemberExcept(id.clone(), root);
    let write = MemberWrite::of(caller, id)?;
    let input = (core.clone(), site.id.clone(), write, id.clone(), hash, others.clone(), session.clone());
    session::end_in(core, site, Some(others), input, move |tx, (core, site, write, id, hash, others, session)| {
        boxed!({
            // It may have ended while the password was hashed, because it was another person's.
            session::require_open(tx, site, session).await?;
            let mut member = row::get(tx, site, id).await?.ok_or_else(|| Fault::new(Code::NotFound))?;
            (member.password_hash, member.must_reset) = (Some(hash.clone()), false);
            row::write_password(tx, write, site, &member).await?;
            row::update(tx, write, site, &mut member, core.now()).await?;
            factor::password_was_set(core, tx, site, id, PasswordSet::BySession(session)).await?;
            let entry = audit::Entry::by_oneself(&member.id, audit::Event::PasswordChanged).at_address(Some(from));
            audit::record(core, tx, site, entry).await?;
            notice::password_changed(core, tx, site, &member).await?;
            Ok(((), others.end(tx, site, core.now()).await?))
        })
    })
    .await?;
    mail::deliver_soon(core, &site.id).await;
    Ok(())
}

/// The member and the session of a caller with a member's whole right.
fn asking(caller: &Caller) -> Result<(&MemberId, &SessionId)> {
    match caller {
        Caller::Member { id, session, .. } => Ok((id, session)),
        _ => Err(Fault::new(Code::Forbidden)),
    }
}
