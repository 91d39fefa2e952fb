//! Whether a site lets the server make indexes by itself, and what these are called.

use crate::{limits::ContentLimits, schema::index::IndexDefinition};
use stoa_kernel::{Result, SiteId};
use stoa_store::{Tx, setting};

/// The site's setting: `"on"` or `"off"` as JSON.
pub(crate) const SETTING: &str = "autoIndex";

/// Whether the server makes indexes on this site by itself.
pub(crate) async fn is_on(tx: &mut Tx<'_>, site: &SiteId, limits: &ContentLimits) -> Result<bool> {
    Ok(setting::get(tx, site, SETTING).await?.map_or(limits.auto_index.is_on, |it| it == "\"on\""))
}

/// Names for an index that the server makes, the best first.
pub(crate) fn names(definition: &IndexDefinition) -> impl Iterator<Item = String> + use<> {
    let names: String = definition.names().chars().take(100).collect();
    (1..10).map(move |n| if n == 1 { format!("auto-{names}") } else { format!("auto-{names}-{n}") })
}
