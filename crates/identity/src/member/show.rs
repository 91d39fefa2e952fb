//! Whether members show themselves, as the site lets them.

use crate::{community::privacy, member::Member};
use stoa_kernel::{Result, SiteId};
use stoa_store::Tx;

/// What the site's settings mean for members.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Privacy {
    /// Members may show themselves.
    may_be_public: bool,
    /// New ones do, unless they say otherwise.
    is_public_by_default: bool,
}

impl Privacy {
    pub(crate) async fn read(tx: &mut Tx<'_>, site: &SiteId) -> Result<Self> {
        let may_be_public = privacy::may_be_public(tx, site).await?;
        let is_public_by_default = may_be_public && privacy::is_public_by_default(tx, site).await?;
        Ok(Self { may_be_public, is_public_by_default })
    }

    /// What a new member shows.
    pub(crate) fn begin(self, member: &mut Member) {
        member.is_public = self.is_public_by_default;
        self.hold(member);
    }

    /// Where the site lets nobody show themselves, a profile that asks for it becomes a private one: whoever
    /// registers can't know the rule, and the account is more than what it shows. Who is shown already stays.
    pub(crate) fn hold(self, member: &mut Member) {
        if asks(member) && !self.may_be_public {
            member.profile.0.insert("privacyStatus".to_owned(), "PRIVATE".into());
        }
    }
}

/// Whether a member who is not shown wants to be.
pub(crate) fn asks(member: &Member) -> bool {
    !member.is_public && member.profile.text("privacyStatus") == Some("PUBLIC")
}
