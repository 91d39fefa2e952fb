//! Codes by e-mail beside what a member signs in by: they are something more where that is a password, or an identity provider whose
//! account another mailbox opens (decision 46).

use crate::{
    factor::{FactorType, FirstFactor},
    member::Member,
};
use stoa_kernel::{Result, SiteId};
use stoa_sql::params;
use stoa_store::Tx;

/// Whether a member signs in by something beside which a code by e-mail is something more.
pub(super) async fn can_be(tx: &mut Tx<'_>, site: &SiteId, member: &Member) -> Result<bool> {
    if member.has_password() {
        return Ok(true);
    }
    let sql = "select email from stoa.provider_link where site = $1 and member = $2";
    let named: Vec<Option<String>> = tx.rows(sql, &params![site, &member.id], |row| row.get(0)).await?;
    Ok(named.iter().any(|it| FirstFactor::of_provider([it.as_deref()], member).takes(FactorType::Email)))
}
