//! The one decision of a sign-in: what comes next for a member who has shown who they are.

use crate::{
    Core, audit,
    factor::{self, Beside, FactorType, FirstFactor},
    mail,
    member::{self, Member, Move, Status, access::MemberWrite},
    password::Fingerprint,
    policy, session,
    sign_in::{
        approval_request,
        code::{self, Use},
        origin::{Origin, SecondFactor},
        outcome::Outcome,
        pending::{self, PendingAuthentication},
    },
};
use std::sync::Arc;
use stoa_kernel::{Caller, Code, Fault, Result, date::iso_from_millis};
use stoa_store::{Site, Tx};

/// Decides inside a transaction what comes next for a member whose password, code or link was right:
/// verification before missing fields before approval before a second factor before success. A pending member with nothing
/// left to wait for becomes active here, and every success is noted in the audit log. This is the one place that makes a
/// `sessionToken`, so no way of signing in passes a second factor by; the word of an app stands for both factors.
///
/// # Errors
/// [`Code::MemberBlocked`] for members who may not sign in at all; [`Code::PasswordReset`] for those whose
/// password is refused, whatever they have shown before it was.
pub(crate) async fn advance(
    core: &Core,
    tx: &mut Tx<'_>,
    site: &Site,
    mut member: Member,
    origin: Origin<'_>,
) -> Result<Outcome> {
    let (visitor, write) = (origin.visitor, MemberWrite::shown_to_be(&member.id));
    match next(&member) {
        Next::Refuse => return Err(refusal(&member)),
        _ if member.must_reset => return Err(Fault::new(Code::PasswordReset)),
        Next::Open if member.status == Status::Active => {}
        Next::Open => {
            member.status = Status::Active;
            member::update(tx, &write, &site.id, &mut member, core.now()).await?;
        }
        Next::Verify => {
            let state_token = code::start(core, tx, site, &member, Use::SignIn(visitor, origin.first)).await?;
            return Ok(Outcome::RequireEmailVerification { member, state_token });
        }
        Next::Complete => {
            let fields = policy::read(tx, &site.id).await?.missing_fields(&member.profile);
            if !fields.is_empty() {
                let password = Fingerprint::of(member.password_hash.as_deref());
                let pending = PendingAuthentication::MissingFields {
                    member: member.id.clone(),
                    password,
                    visitor: visitor.cloned(),
                };
                let state_token = pending::issue(core, &site.id, &pending)?;
                return Ok(Outcome::RequireMissingFields { member, fields, state_token });
            }
            // The site requires less than before, or the profile was completed otherwise.
            Move::Complete.apply(&mut member);
            member::update(tx, &write, &site.id, &mut member, core.now()).await?;
            if member.pending_approval {
                approval_request::request(core, tx, &site.id, &member).await?;
                return Ok(Outcome::RequireOwnerApproval { member });
            }
        }
        Next::Approve => {
            approval_request::request(core, tx, &site.id, &member).await?;
            return Ok(Outcome::RequireOwnerApproval { member });
        }
    }
    let remembers = match origin.second {
        _ if origin.app.is_some() => false,
        second => {
            if let Some(question) = asks_for_factor(core, tx, site, &member, origin).await? {
                return Ok(question);
            }
            second.remembers()
        }
    };
    member::record_login(tx, &write, &site.id, &mut member, core.now()).await?;
    let entry = match origin.app {
        Some(app) => audit::Entry::by(app, audit::Event::SignedIn, &member.id),
        None => audit::Entry::by_oneself(&member.id, audit::Event::SignedIn),
    };
    audit::record(core, tx, &site.id, entry.at_address(origin.address)).await?;
    let scopes = origin.app.and_then(Caller::scopes);
    let new = session::NewToken { member: &member.id, visitor, scopes, remembers };
    let session_token = session::issue_token(core, tx, site, new).await?;
    Ok(Outcome::Success { member, session_token })
}

/// What [`advance`] answers, with the refusals of members apart for whom a transaction is kept in which something was used up.
pub(super) fn kept(advanced: Result<Outcome>) -> Result<Result<Outcome>> {
    match advanced {
        Err(fault) if matches!(fault.code(), Code::MemberBlocked | Code::PasswordReset) => Ok(Err(fault)),
        advanced => advanced.map(Ok),
    }
}

/// What is asked of a member about second factors: one of those that they have, or to set one up where the site requires it. Codes
/// that are sent are none that a site requires, so who has shown one may be asked for an authenticator yet.
async fn asks_for_factor(
    core: &Core,
    tx: &mut Tx<'_>,
    site: &Site,
    member: &Member,
    origin: Origin<'_>,
) -> Result<Option<Outcome>> {
    // It counted inside this transaction, so the member has it, and it is what a site requires: nothing more is asked.
    if let SecondFactor::Shown { is_authenticator: true, .. } = origin.second {
        return Ok(None);
    }
    let by_password = factor::password_is_asked(core, tx, &site.id, member, origin.first).await?;
    let generation = match factor::generation(tx, &site.id, &member.id).await? {
        // The password alone is none beside a password.
        None if by_password => Some(factor::locked_generation(tx, &site.id, &member.id).await?),
        generation => generation,
    };
    let has_one = match generation {
        Some(generation) => {
            let has_shown = match origin.second {
                SecondFactor::Shown { .. } => true,
                SecondFactor::PutOff { has_shown, .. } => has_shown,
                SecondFactor::Browser(cookie) => {
                    factor::remembered::is_remembered(core, tx, &site.id, &member.id, cookie).await?
                }
                SecondFactor::Nothing => false,
            };
            if !has_shown {
                let factors = offered(core, tx, site, member, (origin.first, by_password)).await?;
                return pending::challenge(core, site, member, generation, factors, origin).map(Some);
            }
            if factor::has_authenticator(core, tx, &site.id, &member.id).await? {
                return Ok(None);
            }
            true
        }
        None => false,
    };
    let Some(due) = policy::read(tx, &site.id).await?.factor_due(tx, &site.id, member).await? else { return Ok(None) };
    let until = (core.now() < due).then_some(due);
    if until.is_some() && matches!(origin.second, SecondFactor::PutOff { .. }) {
        return Ok(None);
    }
    let generation = factor::locked_generation(tx, &site.id, &member.id).await?;
    Ok(Some(pending::enrolment(core, member, (generation, has_one), origin, until)))
}

/// What may be shown beside what was, with the password where it counts. Where there is nothing else there are no recovery codes either.
async fn offered(
    core: &Core,
    tx: &mut Tx<'_>,
    site: &Site,
    member: &Member,
    (first, by_password): (FirstFactor, bool),
) -> Result<Vec<FactorType>> {
    let mut factors = factor::offered(core, tx, &site.id, member, Beside::First(first)).await?;
    if by_password {
        if factor::generation(tx, &site.id, &member.id).await?.is_none() {
            factors.clear();
        }
        let before_codes = factors.iter().position(|it| *it == FactorType::RecoveryCode).unwrap_or(factors.len());
        factors.insert(before_codes, FactorType::Password);
    }
    Ok(factors)
}

/// Has what the transaction of a sign-in left to be sent delivered.
pub(crate) async fn send_after(core: &Arc<Core>, site: &Arc<Site>, outcome: Outcome) -> Outcome {
    if !matches!(outcome, Outcome::Success { .. }) {
        mail::deliver_soon(core, &site.id).await;
    }
    outcome
}

/// What a member who may not sign in is told, who has shown who they are.
fn refusal(member: &Member) -> Fault {
    let Some(deletion) = member.deletion else { return Fault::new(Code::MemberBlocked) };
    let why = match deletion.kept_as {
        Status::Active => "The account is to be deleted. The link in the message about it keeps the account.",
        // To keep it opens nothing.
        _ => "The account is to be deleted.",
    };
    Fault::because(Code::MemberBlocked, why).with("deletionDate", iso_from_millis(deletion.due))
}

/// What comes next for a member, by standing alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Open,
    Verify,
    Complete,
    Approve,
    Refuse,
}

fn next(member: &Member) -> Next {
    match member.status {
        Status::Blocked | Status::Offline | Status::Deleted => Next::Refuse,
        _ if member.pending_email => Next::Verify,
        _ if member.pending_fields => Next::Complete,
        _ if member.pending_approval => Next::Approve,
        Status::Active | Status::Pending => Next::Open,
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    /// How often files below a folder call a function, its own definition not counted.
    fn calls(folder: &Path, call: &str) -> usize {
        let count = |path: &Path| {
            fs::read_to_string(path).unwrap_or_default().replace(&format!("fn {call}"), "").matches(call).count()
        };
        let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|it| it.path());
        entries.map(|it| if it.is_dir() { calls(&it, call) } else { count(&it) }).sum()
    }

    #[test]
    fn session_tokens_are_made_in_one_place() {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        assert_eq!(calls(&sources, concat!("issue_", "token(")), 1);
        assert_eq!(calls(&sources, concat!("insert into stoa.session_", "token ")), 1);
    }
}
