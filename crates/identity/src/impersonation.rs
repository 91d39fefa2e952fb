//! How much an owner may do who acts as a member (decision 54).

use serde::{Deserialize, Serialize};
use stoa_kernel::{Area, Right, Scopes};

/// What a site lets its owners do as its members, and what one of them asked for; each allows what those before it do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Impersonation {
    /// Nothing.
    #[default]
    Off,
    /// To see what the member sees.
    Read,
    /// To change items as well, as the member may.
    Write,
}

impl Impersonation {
    pub const ALL: [Self; 3] = [Self::Off, Self::Read, Self::Write];

    /// Its name in requests and answers.
    pub fn name(self) -> &'static str {
        match self {
            Self::Off => "OFF",
            Self::Read => "READ",
            Self::Write => "WRITE",
        }
    }

    /// What is left of the member's rights. Nothing here opens the account: passwords, addresses, factors, sessions, privacy
    /// and the like have no scope, or that of writing members, which is not among these.
    pub(crate) fn scopes(self) -> Scopes {
        Scopes::among(match self {
            Self::Off => "",
            Self::Read => "items:read collections:read members:read",
            Self::Write => "items:write collections:read members:read",
        })
    }

    /// What these scopes leave, which are those of an owner who acts as a member.
    pub(crate) fn of(scopes: &Scopes) -> Self {
        match scopes.allow_somewhere(Area::Items, Right::Write) {
            true => Self::Write,
            false => Self::Read,
        }
    }

    pub(crate) fn is_off(&self) -> bool {
        *self == Self::Off
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_but_items_is_ever_written() {
        for access in Impersonation::ALL {
            let scopes = access.scopes();
            for area in [Area::Collections, Area::Members, Area::Site] {
                assert!(!scopes.allow_somewhere(area, Right::Write), "{access:?} {area:?}");
            }
            assert!(
                !scopes.allow_somewhere(Area::Members, Right::SignIn)
                    && !scopes.allow_somewhere(Area::Site, Right::Read)
            );
            assert_eq!(scopes.allow(Area::Items, Right::Write, None), access == Impersonation::Write);
        }
        assert!(Impersonation::Off.scopes().is_empty());
        assert_eq!(
            [Impersonation::Read, Impersonation::Write].map(|it| Impersonation::of(&it.scopes()).name()),
            ["READ", "WRITE"]
        );
    }
}
