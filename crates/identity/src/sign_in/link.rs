//! Links in messages, whatever they are for: used once, or ended together.

use stoa_kernel::{MemberId, Millis, Result, SiteId};
use stoa_sql::params;
use stoa_store::Tx;

/// The purpose of the links that keep an account that is to be deleted.
pub(crate) const DELETION: &str = "deletion";
/// The purpose of the links that take an address of an account back.
pub(crate) const EMAIL_CHANGE: &str = "email_change";

/// Ends every link of a member for one purpose.
pub(crate) async fn end(tx: &mut Tx<'_>, site: &SiteId, member: &MemberId, purpose: &str, now: Millis) -> Result<()> {
    end_since(tx, site, member, (purpose, Millis::MIN), now).await
}

/// The same with those that were made at a time or later.
pub(crate) async fn end_since(
    tx: &mut Tx<'_>,
    site: &SiteId,
    member: &MemberId,
    (purpose, since): (&str, Millis),
    now: Millis,
) -> Result<()> {
    let sql = "update stoa.link set used = $1 where site = $2 and member = $3 and purpose = $4 and created >= $5 \
               and used is null";
    tx.send(sql, params![now, site, member, purpose, since]).await?;
    Ok(())
}
