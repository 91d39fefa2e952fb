//! Where a sign-in stands: the answer of registration, login, verification and recovery (identity.md 10.1).

use crate::{
    Core, audit, mail,
    member::{self, Member, Move, Status, access::MemberWrite},
    password,
    policy::{self, Field},
    session,
    sign_in::{
        approval,
        stage::{self, Stage},
        verification,
    },
};
use serde_json::{Value, json};
use std::{net::IpAddr, sync::Arc};
use stoa_kernel::{Caller, Code, Fault, Result, Secret, VisitorId};
use stoa_store::{Site, Tx};

/// What comes next for a member who has shown who they are.
#[derive(Debug, Clone)]
pub enum SignIn {
    /// Signed in; the token becomes a session (`session`).
    Success { member: Member, session_token: Secret },
    /// A code was sent to the member's address; the state token goes with it.
    RequireEmailVerification { member: Member, state_token: Secret },
    /// The profile lacks what the site requires; the state token says who may complete it.
    RequireMissingFields { member: Member, fields: Vec<Field>, state_token: Secret },
    /// Somebody who runs the site must approve the member first.
    RequireOwnerApproval { member: Member },
    /// The address was verified outside of a sign-in. Nothing keeps the member from signing in, but who
    /// asks has not shown a first factor.
    StatusCheck { member: Member },
}

impl SignIn {
    /// The StateMachineResponse.
    pub fn to_json(&self) -> Value {
        match self {
            Self::Success { member, session_token } => json!({
                "state": "SUCCESS",
                "sessionToken": session_token.expose(),
                "identity": member.to_json(),
            }),
            Self::RequireEmailVerification { member, state_token } => json!({
                "state": "REQUIRE_EMAIL_VERIFICATION",
                "stateToken": state_token.expose(),
                "identity": member.to_json(),
            }),
            Self::RequireMissingFields { member, fields, state_token } => json!({
                "state": "REQUIRE_MISSING_FIELDS",
                "stateToken": state_token.expose(),
                "identity": member.to_json(),
                "additionalData": { "missingFields": { "listValue": {
                    "value": fields.iter().map(|it| json!({ "strValue": it.name() })).collect::<Vec<_>>(),
                } } },
            }),
            Self::RequireOwnerApproval { member } => json!({
                "state": "REQUIRE_OWNER_APPROVAL",
                "identity": member.to_json(),
            }),
            Self::StatusCheck { member } => json!({ "state": "STATUS_CHECK", "identity": member.to_json() }),
        }
    }

    pub fn member(&self) -> &Member {
        match self {
            Self::Success { member, .. }
            | Self::RequireEmailVerification { member, .. }
            | Self::RequireMissingFields { member, .. }
            | Self::RequireOwnerApproval { member }
            | Self::StatusCheck { member } => member,
        }
    }
}

/// Where a sign-in comes from.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Origin<'a> {
    /// The visitor who becomes the member.
    pub visitor: Option<&'a VisitorId>,
    /// Of the person; unknown when an app speaks for them.
    pub address: Option<IpAddr>,
    /// The app that vouches for the member.
    pub app: Option<&'a Caller>,
}

/// Decides inside a transaction what comes next for a member whose password, code or link was right:
/// verification before missing fields before approval before success. A pending member with nothing left to wait for
/// becomes active here, and every success is noted in the audit log.
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
) -> Result<SignIn> {
    let (visitor, write) = (origin.visitor, MemberWrite::shown_to_be(&member.id));
    match next(&member) {
        Next::Refuse => return Err(Fault::new(Code::MemberBlocked)),
        _ if member.must_reset => return Err(Fault::new(Code::PasswordReset)),
        Next::Open if member.status == Status::Active => {}
        Next::Open => {
            member.status = Status::Active;
            member::update(tx, &write, &site.id, &mut member, core.now()).await?;
        }
        Next::Verify => {
            let state_token = verification::start(core, tx, site, &member, visitor).await?;
            return Ok(SignIn::RequireEmailVerification { member, state_token });
        }
        Next::Complete => {
            let fields = policy::read(tx, &site.id).await?.lacking(&member.profile);
            if !fields.is_empty() {
                let password = password::digest(member.password_hash.as_deref());
                let stage = Stage::Complete { member: member.id.clone(), password, visitor: visitor.cloned() };
                let state_token = stage::issue(core, &site.id, &stage)?;
                return Ok(SignIn::RequireMissingFields { member, fields, state_token });
            }
            // The site requires less than before, or somebody else has completed the profile.
            Move::Complete.apply(&mut member);
            member::update(tx, &write, &site.id, &mut member, core.now()).await?;
            if member.pending_approval {
                approval::request(core, tx, &site.id, &member).await?;
                return Ok(SignIn::RequireOwnerApproval { member });
            }
        }
        Next::Approve => {
            approval::request(core, tx, &site.id, &member).await?;
            return Ok(SignIn::RequireOwnerApproval { member });
        }
    }
    member::note_login(tx, &write, &site.id, &mut member, core.now()).await?;
    let entry = match origin.app {
        Some(app) => audit::Entry::by(app, audit::Event::SignedIn, &member.id),
        None => audit::Entry::by_oneself(&member.id, audit::Event::SignedIn),
    };
    audit::note(core, tx, &site.id, entry.from_address(origin.address)).await?;
    let session_token = session::issue_token(core, tx, site, &member.id, visitor).await?;
    Ok(SignIn::Success { member, session_token })
}

/// Has what the transaction of a sign-in left to be sent delivered.
pub(crate) async fn send_after(core: &Arc<Core>, site: &Arc<Site>, outcome: SignIn) -> SignIn {
    if !matches!(outcome, SignIn::Success { .. }) {
        mail::soon(core, &site.id).await;
    }
    outcome
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
