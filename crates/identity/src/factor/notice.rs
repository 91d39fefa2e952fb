//! What a member is told about their second factors: each change, in the transaction that makes it.

use crate::{
    Core,
    mail::{FactorChange, Message, notice},
    member::Member,
};
use stoa_kernel::{Result, SiteId};
use stoa_store::Tx;

pub(crate) async fn changed(
    core: &Core,
    tx: &mut Tx<'_>,
    site: &SiteId,
    member: &Member,
    change: FactorChange,
) -> Result<()> {
    notice::send(core, tx, site, member, Message::FactorChanged { change, at: core.now() }).await
}

pub(super) async fn recovery_code_used(core: &Core, tx: &mut Tx<'_>, site: &SiteId, member: &Member) -> Result<()> {
    changed(core, tx, site, member, FactorChange::RecoveryCodeUsed).await
}
