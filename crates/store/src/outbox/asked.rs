//! What a site's log tells only where a reader asks for it, because it costs.

use crate::{Error, Tx, setting};
use stoa_kernel::{Result, SiteId};

/// What readers may ask for. Each is a setting of the site, beside what those who run it set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// The ids of the items that a truncate removes, one row for each piece of the work.
    TruncatedItems,
    /// A row for each redirect session, and so for each sign-in.
    RedirectSessions,
}

impl Asked {
    fn setting(self) -> &'static str {
        match self {
            Self::TruncatedItems => "askedTruncatedItems",
            Self::RedirectSessions => "askedRedirectSessions",
        }
    }
}

/// Says whether some reader asks for it.
pub async fn ask(tx: &mut Tx<'_>, site: &SiteId, what: Asked, is_asked: bool) -> Result<()> {
    match is_asked {
        true => setting::put(tx, site, what.setting(), "true".to_owned()).await?,
        false => setting::remove(tx, site, what.setting()).await?,
    }
    Ok(())
}

/// Whether some reader asks for it.
pub async fn is_asked(tx: &mut Tx<'_>, site: &SiteId, what: Asked) -> Result<bool, Error> {
    Ok(setting::get(tx, site, what.setting()).await?.is_some())
}
