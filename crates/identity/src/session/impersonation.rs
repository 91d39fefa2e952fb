//! How much an owner may do who acts as a member, and the end of it (decision 54).

use crate::{Core, audit, session::SessionSelector};
use serde::{Deserialize, Serialize};
use std::net::IpAddr;
use stoa_kernel::{Area, MemberId, Result, Right, Scopes, SessionId, SiteId};
use stoa_store::Tx;

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

/// Ends inside a transaction sessions in which owners act as members, and records each that was not over by itself: answers how
/// many those were, and all that ended.
pub(crate) async fn end(
    core: &Core,
    tx: &mut Tx<'_>,
    site: &SiteId,
    which: &SessionSelector,
    actor: audit::Actor<'_>,
    address: Option<IpAddr>,
) -> Result<(usize, Vec<SessionId>)> {
    let (condition, mut values) = which.condition(site, 2);
    values.insert(0, core.now().into());
    let sql = format!("select member from stoa.session where expires > $1 and {condition} and ended is null");
    let alive: Vec<MemberId> = tx.rows(&sql, &values, |row| Ok(MemberId::from(row.text(0)?))).await?;
    let ended = which.end(tx, site, core.now()).await?;
    for member in &alive {
        let event = audit::Event::ImpersonationEnded;
        let entry = audit::Entry { event, actor, member: Some(member), address, detail: None };
        audit::record(core, tx, site, entry).await?;
    }
    Ok((alive.len(), ended))
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
