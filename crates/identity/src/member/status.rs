//! Identity status: every move there is, in one table (identity.md 10.4).
//!
//! ```text
//!  registers ──▶ PENDING ──verify, approve──▶ ACTIVE
//!                 │   ▲                        │  ▲
//!              block  └────── unblock ──┐    block │ unblock, approve
//!                 ▼                     │      ▼  │
//!                 └─────────────────▶ BLOCKED ◀───┘
//!  disconnect: PENDING, ACTIVE, BLOCKED ──▶ OFFLINE ──approve──▶ ACTIVE or PENDING
//!  delete: every status but DELETED ──▶ DELETED, which nothing leaves
//! ```
//!
//! Beside its status a member remembers what it waits for (a verified address, an approval). ACTIVE is
//! reached only when nothing is waited for. The table that a test walks is `status.txt`.

use super::Member;
use stoa_kernel::{Caller, Code, Fault, MemberId, Result};

/// StatusName of identity.md 10.4. Only ACTIVE members can sign in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    Pending,
    Active,
    Blocked,
    Deleted,
    Offline,
}

impl Status {
    pub(crate) const ALL: [Self; 5] = [Self::Pending, Self::Active, Self::Blocked, Self::Deleted, Self::Offline];

    pub fn name(self) -> &'static str {
        match self {
            Self::Pending => "PENDING",
            Self::Active => "ACTIVE",
            Self::Blocked => "BLOCKED",
            Self::Deleted => "DELETED",
            Self::Offline => "OFFLINE",
        }
    }
}

/// What can happen to a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Move {
    /// The person has shown that the address is theirs.
    Verify,
    /// Somebody who runs the site lets the member in; of a blocked one it lifts the block.
    Approve,
    /// An app has recognised the person elsewhere: counts for everything that is waited for.
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
    pub(crate) const ALL: [Self; 7] =
        [Self::Verify, Self::Approve, Self::Vouch, Self::Block, Self::Unblock, Self::Disconnect, Self::Delete];

    pub fn name(self) -> &'static str {
        match self {
            Self::Verify => "verify",
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
            Self::Verify => who == Who::Oneself,
            Self::Vouch => who == Who::App,
            Self::Delete => who != Who::Anyone,
            Self::Approve | Self::Block | Self::Unblock | Self::Disconnect => matches!(who, Who::App | Who::Owner),
        }
    }

    /// # Errors
    /// [`Code::Forbidden`].
    pub(crate) fn allow(self, caller: &Caller, id: &MemberId) -> Result<()> {
        let who = match caller {
            Caller::Member { id: it, .. } if it == id => Who::Oneself,
            Caller::App { .. } => Who::App,
            it if it.is_privileged() => Who::Owner,
            _ => Who::Anyone,
        };
        if self.may(who) { Ok(()) } else { Err(Fault::new(Code::Forbidden)) }
    }

    /// Carries the move out; `false` when the member's status does not know it.
    pub(crate) fn apply(self, member: &mut Member) -> bool {
        use Status::{Active, Blocked, Deleted, Offline, Pending};
        match (self, member.status) {
            (_, Deleted) => return false,
            (Self::Verify, _) => (member.email_verified, member.pending_email) = (true, false),
            (Self::Approve, _) => member.pending_approval = false,
            (Self::Vouch, Pending | Active) => (member.pending_email, member.pending_approval) = (false, false),
            (Self::Vouch, Blocked | Offline) => return false,
            (Self::Unblock, Blocked) | (Self::Block | Self::Disconnect | Self::Delete, _) => {}
            (Self::Unblock, Pending | Active | Offline) => return false,
        }
        let waits = member.pending_email || member.pending_approval;
        let open = if waits { Pending } else { Active };
        member.status = match (self, member.status) {
            (Self::Block, _) => Blocked,
            (Self::Disconnect, _) => Offline,
            (Self::Delete, _) => Deleted,
            (Self::Approve | Self::Unblock, _) | (Self::Verify | Self::Vouch, Pending) => open,
            (Self::Verify | Self::Vouch, other) => other,
        };
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Profile;
    use std::fmt::Write;

    fn member(status: Status, (email, approval): (bool, bool)) -> Member {
        let mut member = Member::new(MemberId::from("m"), "m@example.org", Profile::default(), 0);
        (member.status, member.pending_email, member.pending_approval) = (status, email, approval);
        member
    }

    fn waits(member: &Member) -> &'static str {
        match (member.pending_email, member.pending_approval) {
            (false, false) => "nothing",
            (true, false) => "address",
            (false, true) => "approval",
            (true, true) => "both",
        }
    }

    #[test]
    fn every_move_from_every_status_is_in_the_table() {
        let mut table = String::from("# status, waits for: move by whom -> status, waits for\n");
        for status in Status::ALL {
            let all = [(false, false), (true, false), (false, true), (true, true)];
            let is_possible = |waits: &(bool, bool)| match status {
                Status::Pending => *waits != (false, false),
                Status::Active | Status::Deleted => *waits == (false, false),
                Status::Blocked | Status::Offline => true,
            };
            for waiting in all.into_iter().filter(is_possible) {
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
                    let is_open = after.status == Status::Active && before.status != Status::Active;
                    assert!(!is_open || waits(&after) == "nothing", "{} opened too early", step.name());
                }
            }
        }
        #[expect(clippy::disallowed_methods, reason = "how a snapshot is renewed")]
        if std::env::var("UPDATE_SNAPSHOTS").is_ok() {
            std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/src/member/status.txt"), &table).expect("written");
        }
        assert_eq!(table, include_str!("status.txt"), "look at each line, then renew with UPDATE_SNAPSHOTS=1");
    }
}
