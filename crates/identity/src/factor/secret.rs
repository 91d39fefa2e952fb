//! Secrets of authenticators, encrypted at rest with a key of their own (decision 26).

use crate::{
    Core,
    factor::{
        FactorType,
        realm::Realm,
        row::{self, Factor},
    },
};
use stoa_kernel::{Fault, MemberId, Result, Secret, SiteId};
use stoa_sql::params;
use stoa_store::{ReaderPool, Row, boxed};

/// Rows that are sealed again in one go.
const CHUNK: i64 = 500;

/// Encrypts the secret of a member's factor.
pub(super) fn seal(core: &Core, site: &SiteId, member: &MemberId, id: &str, secret: &str) -> Result<Vec<u8>> {
    core.ciphers.factor.encrypt(core.world(), &associated_data(site, member, id), secret)
}

/// The authenticators of a member with their secrets, read beside the transaction in which one counts.
///
/// # Errors
/// What the engine answers; [`stoa_kernel::Code::Internal`] when the key that encrypted one is gone.
pub(super) async fn of_member(core: &Core, realm: &Realm<'_>, member: &MemberId) -> Result<Vec<(Factor, Secret)>> {
    let (id, who) = (realm.id.clone(), member.clone());
    let factors = realm.database.read(ReaderPool::Point, move |tx| boxed!(row::of_member(tx, &id, &who).await)).await?;
    let mut opened = Vec::new();
    for factor in factors.into_iter().filter(|it| it.factor() == FactorType::Totp) {
        let secret = open(core, &realm.id, member, &factor.id, &factor.sealed).await?;
        let lost = || Fault::internal(format!("site {}: the secret of factor {} doesn't open", realm.id, factor.id));
        opened.push((factor.clone(), secret.ok_or_else(lost)?));
    }
    Ok(opened)
}

/// Decrypts what [`seal`] has made; nothing when it is of another member or factor, or its key is gone.
pub(super) async fn open(
    core: &Core,
    site: &SiteId,
    member: &MemberId,
    id: &str,
    sealed: &[u8],
) -> Result<Option<Secret>> {
    let about = associated_data(site, member, id);
    Ok(core.ciphers.factor.open(core.store().catalog(), &about, sealed).await?.map(Secret::new))
}

/// A secret as it is stored.
struct Stored {
    id: String,
    member: MemberId,
    sealed: Vec<u8>,
}

/// Puts the secrets of a realm under the current key, piece by piece, and answers how many were under others.
pub(crate) async fn reseal(core: &Core, realm: Realm<'_>) -> Result<u64> {
    let (mut after, mut count) = (String::new(), 0);
    loop {
        let page = page(&realm, after).await?;
        let Some(last) = page.last().map(|it| it.id.clone()) else { return Ok(count) };
        let mut changes = Vec::new();
        for Stored { id, member, sealed } in page {
            let about = associated_data(&realm.id, &member, &id);
            let cipher = &core.ciphers.factor;
            let Some(secret) = cipher.decrypt(&about, &sealed).filter(|_| !cipher.is_current(&sealed)) else {
                continue;
            };
            changes.push((id, sealed, cipher.encrypt(core.world(), &about, &secret)?));
        }
        let put = realm.database.append_with((realm.id.clone(), changes), |tx, (site, changes)| {
            boxed!({
                let mut count = 0;
                for (id, old, new) in changes {
                    let sql = "update stoa.factor set sealed = $1 where site = $2 and id = $3 and sealed = $4";
                    count += tx.execute(sql, &params![new.clone(), site, id, old.clone()]).await?;
                }
                Ok(count)
            })
        });
        count += put.await?;
        after = last;
    }
}

/// How many secrets of a realm are under older keys.
pub(crate) async fn left(core: &Core, realm: Realm<'_>) -> Result<u64> {
    let (mut after, mut count) = (String::new(), 0);
    loop {
        let page = page(&realm, after).await?;
        let Some(last) = page.last().map(|it| it.id.clone()) else { return Ok(count) };
        count += page.iter().filter(|it| !core.ciphers.factor.is_current(&it.sealed)).count() as u64;
        after = last;
    }
}

/// Secrets whose factors have ids behind this one.
async fn page(realm: &Realm<'_>, after: String) -> Result<Vec<Stored>> {
    let id = realm.id.clone();
    let read = realm.database.read(ReaderPool::Scan, move |tx| {
        boxed!({
            let sql = "select id, member, sealed from stoa.factor where site = $1 and id > $2 order by id limit $3";
            let each = |row: &Row<'_>| {
                Ok(Stored { id: row.get(0)?, member: MemberId::from(row.text(1)?), sealed: row.get(2)? })
            };
            Ok(tx.rows(sql, &params![&id, after.as_str(), CHUNK], each).await?)
        })
    });
    read.await
}

/// What a secret is encrypted for.
fn associated_data(site: &SiteId, member: &MemberId, id: &str) -> String {
    serde_json::json!(["factor", site, member, id]).to_string()
}
