//! Where a sign-in stands: the answer of registration, login, verification and recovery (identity.md 10.1).

use crate::{
    Identity, approval,
    member::{self, Member, Status},
    verification,
};
use serde_json::{Value, json};
use std::sync::Arc;
use stoa_kernel::{Code, Fault, Result, Secret, VisitorId};
use stoa_store::{Site, Tx};

/// What comes next for a member who has shown who they are.
#[derive(Debug, Clone)]
pub enum SignIn {
    /// Signed in; the token becomes a session (`session`).
    Success { member: Member, session_token: Secret },
    /// A code was sent to the member's address; the state token goes with it.
    RequireEmailVerification { member: Member, state_token: Secret },
    /// Somebody who runs the site must approve the member first.
    RequireOwnerApproval { member: Member },
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
            Self::RequireOwnerApproval { member } => json!({
                "state": "REQUIRE_OWNER_APPROVAL",
                "identity": member.to_json(),
            }),
        }
    }

    pub fn member(&self) -> &Member {
        match self {
            Self::Success { member, .. }
            | Self::RequireEmailVerification { member, .. }
            | Self::RequireOwnerApproval { member } => member,
        }
    }
}

impl Identity {
    /// Decides inside a transaction what comes next for a member whose password, code or link was right:
    /// verification before approval before success. A pending member with nothing left to wait for
    /// becomes active here.
    ///
    /// # Errors
    /// [`Code::MemberBlocked`] for members who may not sign in at all.
    pub(crate) async fn sign_in_advance(
        &self,
        tx: &mut Tx<'_>,
        site: &Site,
        mut member: Member,
        visitor: Option<&VisitorId>,
    ) -> Result<SignIn> {
        match member.status {
            Status::Active => {}
            Status::Pending if member.pending_email => {
                let state_token = verification::start(self, tx, site, &member, visitor).await?;
                return Ok(SignIn::RequireEmailVerification { member, state_token });
            }
            Status::Pending if member.pending_approval => {
                approval::request(self, tx, &site.id, &member).await?;
                return Ok(SignIn::RequireOwnerApproval { member });
            }
            Status::Pending => {
                member.status = Status::Active;
                member::update(tx, &site.id, &mut member, self.now()).await?;
            }
            Status::Blocked | Status::Offline | Status::Deleted => {
                return Err(Fault::new(Code::MemberBlocked));
            }
        }
        member::note_login(tx, &site.id, &mut member, self.now()).await?;
        let session_token = self.session_token_issue(tx, site, &member.id, visitor).await?;
        Ok(SignIn::Success { member, session_token })
    }

    /// Has what the transaction of a sign-in left to be sent delivered.
    pub(crate) async fn send_after(&self, site: &Arc<Site>, outcome: SignIn) -> SignIn {
        if !matches!(outcome, SignIn::Success { .. }) {
            self.mail_soon(&site.id).await;
        }
        outcome
    }
}
