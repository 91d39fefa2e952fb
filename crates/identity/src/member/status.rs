//! Identity status: every move there is, in one table (docs/protocol/identity.md §10.4).
//!
//! ```text
//!  registers ──▶ PENDING ──verify, approve──▶ ACTIVE
//!                 │   ▲                        │  ▲
//!              block  └────── unblock ──┐    block │ unblock, approve
//!                 ▼                     │      ▼  │
//!                 └─────────────────▶ BLOCKED ◀───┘
//!  disconnect: PENDING, ACTIVE, BLOCKED ──▶ OFFLINE ──approve──▶ ACTIVE or PENDING
//!  delete: every status but DELETED ──▶ DELETED, which nothing leaves
//!  leave:  ACTIVE ──▶ DELETED that waits ──keep──▶ ACTIVE, or what block and disconnect made of it; delete ──▶ DELETED for good
//! ```
//!
//! Beside its status a member remembers what it waits for (a verified address, missing fields of the
//! profile, an approval). ACTIVE is reached only when nothing is waited for. The table that a test walks is `status.txt`.

use crate::member::{Deletion, Member, Status};
use stoa_kernel::Millis;

/// What can happen to a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Move {
    /// The person has shown that the address is theirs.
    Verify,
    /// The person has given what the site requires of its members.
    Complete,
    /// Operators of the site let the member in; of a blocked one it lifts the block.
    Approve,
    /// An app has authenticated the person on its own: counts for everything that is waited for.
    Vouch,
    Block,
    Unblock,
    /// The person no longer belongs to the site, the account stays.
    Disconnect,
    Delete,
}

/// Who makes a move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Who {
    Oneself,
    App,
    Owner,
    Anyone,
}

impl Move {
    #[cfg(test)]
    pub(crate) const ALL: [Self; 8] = [
        Self::Verify,
        Self::Complete,
        Self::Approve,
        Self::Vouch,
        Self::Block,
        Self::Unblock,
        Self::Disconnect,
        Self::Delete,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Verify => "verify",
            Self::Complete => "complete",
            Self::Approve => "approve",
            Self::Vouch => "vouch",
            Self::Block => "block",
            Self::Unblock => "unblock",
            Self::Disconnect => "disconnect",
            Self::Delete => "delete",
        }
    }

    pub(crate) fn may(self, who: Who) -> bool {
        match self {
            Self::Verify | Self::Complete => who == Who::Oneself,
            Self::Vouch => who == Who::App,
            Self::Delete => who != Who::Anyone,
            Self::Approve | Self::Block | Self::Unblock | Self::Disconnect => matches!(who, Who::App | Who::Owner),
        }
    }

    /// Whether a member can't have sessions any more after it.
    pub(crate) fn closes(self) -> bool {
        matches!(self, Self::Block | Self::Disconnect | Self::Delete)
    }

    /// Carries the move out; `false` when the member's status does not know it.
    pub(crate) fn apply(self, member: &mut Member) -> bool {
        use Status::{Active, Blocked, Deleted, Offline, Pending};
        if let Some(deletion) = &mut member.deletion {
            match (self, deletion.kept_as) {
                (Self::Delete, _) => member.deletion = None,
                (Self::Block, _) => deletion.kept_as = Blocked,
                (Self::Disconnect, _) => deletion.kept_as = Offline,
                (Self::Unblock, Blocked) => deletion.kept_as = Active,
                _ => return false,
            }
            return true;
        }
        match (self, member.status) {
            (_, Deleted) => return false,
            (Self::Verify, _) => (member.email_verified, member.pending_email) = (true, false),
            (Self::Complete, _) => member.pending_fields = false,
            (Self::Approve, _) => member.pending_approval = false,
            (Self::Vouch, Pending | Active) | (Self::Delete, _) => {
                (member.pending_email, member.pending_fields, member.pending_approval) = (false, false, false);
            }
            (Self::Vouch, Blocked | Offline) => return false,
            (Self::Unblock, Blocked) | (Self::Block | Self::Disconnect, _) => {}
            (Self::Unblock, Pending | Active | Offline) => return false,
        }
        let waits = member.pending_email || member.pending_fields || member.pending_approval;
        let open = if waits { Pending } else { Active };
        member.status = match (self, member.status) {
            (Self::Block, _) => Blocked,
            (Self::Disconnect, _) => Offline,
            (Self::Delete, _) => Deleted,
            (Self::Approve | Self::Unblock, _) | (Self::Verify | Self::Complete | Self::Vouch, Pending) => open,
            (Self::Verify | Self::Complete | Self::Vouch, other) => other,
        };
        true
    }
}

/// Has a member go at a time, who can be kept until then; `false` for those who can't sign in.
pub(crate) fn leave(member: &mut Member, due: Millis) -> bool {
    if member.status != Status::Active {
        return false;
    }
    (member.status, member.deletion) = (Status::Deleted, Some(Deletion { due, kept_as: Status::Active }));
    true
}

/// Keeps a member who was to go, as they were or as they were made meanwhile; `false` where no deletion waits.
pub(crate) fn keep(member: &mut Member) -> bool {
    let Some(deletion) = member.deletion.take() else { return false };
    member.status = deletion.kept_as;
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::member::profile::Profile;
    use std::fmt::Write;
    use stoa_kernel::MemberId;

    type Waits = [bool; 3];

    fn member(status: Status, [email, fields, approval]: Waits) -> Member {
        let mut member = Member::new(MemberId::from("m"), "m@example.org", Profile::default(), 0);
        (member.status, member.pending_email) = (status, email);
        (member.pending_fields, member.pending_approval) = (fields, approval);
        member
    }

    fn waits_of(member: &Member) -> Waits {
        [member.pending_email, member.pending_fields, member.pending_approval]
    }

    fn waits(member: &Member) -> String {
        let names = ["address", "fields", "approval"].into_iter().zip(waits_of(member));
        let names: Vec<_> = names.filter(|it| it.1).map(|it| it.0).collect();
        if names.is_empty() { "nothing".to_owned() } else { names.join("+") }
    }

    fn is_possible(status: Status, waits: Waits) -> bool {
        match status {
            Status::Pending => waits != [false; 3],
            Status::Active | Status::Deleted => waits == [false; 3],
            Status::Blocked | Status::Offline => true,
        }
    }

    #[test]
    fn status_table_has_every_move_from_every_status() {
        let mut table = String::from("# status, waits for: move by whom -> status, waits for\n");
        for status in Status::ALL {
            let all = (0..8_u8).map(|it| [it & 1 != 0, it & 2 != 0, it & 4 != 0]);
            for waiting in all.filter(|it| is_possible(status, *it)) {
                for step in Move::ALL {
                    let who =
                        [(Who::Oneself, "self"), (Who::App, "app"), (Who::Owner, "owner"), (Who::Anyone, "anyone")];
                    let who: Vec<_> = who.into_iter().filter(|it| step.may(it.0)).map(|it| it.1).collect();
                    let (before, mut after) = (member(status, waiting), member(status, waiting));
                    let _ =
                        write!(table, "{} {}: {} by {} -> ", status.name(), waits(&before), step.name(), who.join("/"));
                    let _ = match step.apply(&mut after) {
                        true => writeln!(table, "{} {}", after.status.name(), waits(&after)),
                        false => writeln!(table, "no"),
                    };
                    assert!(is_possible(after.status, waits_of(&after)), "{} leads out of the table", step.name());
                    let is_open = after.status == Status::Active && before.status != Status::Active;
                    assert!(!is_open || waits(&after) == "nothing", "{} opened too early", step.name());
                }
            }
        }
        for kept_as in [Status::Active, Status::Blocked, Status::Offline] {
            let waiting = || {
                let mut member = member(Status::Deleted, [false; 3]);
                member.deletion = Some(Deletion { due: 1, kept_as });
                member
            };
            let shown = |it: &Member| match it.deletion {
                Some(it) => format!("waits, kept as {}", it.kept_as.name()),
                None => "for good".to_owned(),
            };
            for step in Move::ALL {
                let mut after = waiting();
                let _ = write!(table, "DELETED {}: {} -> ", shown(&after), step.name());
                let _ = match step.apply(&mut after) {
                    true => writeln!(table, "{} {}", after.status.name(), shown(&after)),
                    false => writeln!(table, "no"),
                };
                assert_eq!(after.status, Status::Deleted, "{} keeps the account", step.name());
            }
            let mut kept = waiting();
            assert!(keep(&mut kept) && !keep(&mut kept));
            let _ = writeln!(table, "DELETED {}: keep -> {}", shown(&waiting()), kept.status.name());
        }
        for status in Status::ALL {
            let mut left = member(status, [false; 3]);
            assert_eq!(leave(&mut left, 1), status == Status::Active);
        }
        #[expect(clippy::disallowed_methods, reason = "how a snapshot is renewed")]
        if std::env::var("UPDATE_SNAPSHOTS").is_ok() {
            std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/src/member/status.txt"), &table).expect("written");
        }
        let is_same = table == include_str!("status.txt");
        assert!(is_same, "member/status.txt is stale: look at each line, then renew with UPDATE_SNAPSHOTS=1");
    }
}
