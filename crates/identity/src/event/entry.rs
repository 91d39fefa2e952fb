//! What a row of the log tells of people.

use crate::{
    log::{Payload, RelationIds},
    policy::SignOnPolicy,
};
use serde::Deserialize;
use stoa_kernel::{EntryKind, EventActor, Fault, Result};
use stoa_store::outbox::Entry;

/// What a row tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdentityEntry {
    pub kind: EntryKind,
    /// Who did it.
    pub actor: EventActor,
    pub change: IdentityChange,
}

/// What happened, to what the kind says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IdentityChange {
    /// Members, badges, texts about members (by the member's id), reported members, redirect sessions or applications.
    Entities(Vec<String>),
    /// Badges of members, or what members did to each other.
    Relations(Vec<RelationIds>),
    /// The sign-on policy as it was then.
    Policy(SignOnPolicy),
}

/// The payload of a row about the policy. Older ones don't say who changed it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PolicyPayload {
    #[serde(default = "EventActor::server")]
    identity: EventActor,
    sign_on_policy: SignOnPolicy,
}

impl IdentityEntry {
    /// Reads a row; nothing for one of another kind.
    ///
    /// # Errors
    /// [`stoa_kernel::Code::Internal`] for a payload that isn't one of its kind.
    pub fn parse(entry: &Entry) -> Result<Option<Self>> {
        let Some(kind) = EntryKind::parse(&entry.kind) else { return Ok(None) };
        let text = entry.payload.as_str();
        let (actor, change) = match kind {
            EntryKind::MemberCreated
            | EntryKind::MemberUpdated
            | EntryKind::MemberDeleted
            | EntryKind::BadgeCreated
            | EntryKind::BadgeUpdated
            | EntryKind::BadgeDeleted
            | EntryKind::FirstReported
            | EntryKind::ReportsDeleted
            | EntryKind::AboutCreated
            | EntryKind::AboutUpdated
            | EntryKind::AboutDeleted
            | EntryKind::RedirectSessionCreated
            | EntryKind::AppInstalled
            | EntryKind::AppRemoved => {
                let Payload { identity, ids, .. } = read(text)?;
                (identity, IdentityChange::Entities(ids))
            }
            EntryKind::BadgeAssigned
            | EntryKind::BadgeUnassigned
            | EntryKind::MemberFollowed
            | EntryKind::MemberUnfollowed
            | EntryKind::MemberReported
            | EntryKind::ReportDeleted => {
                let Payload { identity, relations, .. } = read(text)?;
                (identity, IdentityChange::Relations(relations))
            }
            EntryKind::PolicyUpdated => {
                let PolicyPayload { identity, sign_on_policy } = read(text)?;
                (identity, IdentityChange::Policy(sign_on_policy))
            }
            _ => return Ok(None),
        };
        Ok(Some(Self { kind, actor, change }))
    }
}

fn read<'t, T: Deserialize<'t>>(text: &'t str) -> Result<T> {
    serde_json::from_str(text).map_err(Fault::internal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_of_older_rows_have_no_author() {
        let payload: PolicyPayload = read(r#"{"signOnPolicy":{"requireOwnerApproval":true}}"#).expect("a payload");
        assert_eq!(payload.identity, EventActor::server());
        assert!(payload.sign_on_policy.require_owner_approval);
    }
}
