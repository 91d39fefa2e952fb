//! Recovery codes: ten, shown once, kept as hashes, each good once. New ones end those before.
//!
//! A code has 80 random bits, so a plain digest of it tells nothing (decision 41).

use crate::{Core, factor::totp::base32};
use stoa_kernel::{MemberId, Result, SiteId, TokenHash, World};
use stoa_sql::params;
use stoa_store::Tx;

const COUNT: usize = 10;
/// Random bytes of a code: sixteen letters.
const BYTES: usize = 10;

/// New codes, as they are shown: `ABCD-EFGH-IJKL-MNOP`.
pub(super) fn draw(world: &World) -> Vec<String> {
    let code = || {
        let letters = base32(&world.bytes::<BYTES>());
        letters.as_bytes().chunks(4).map(String::from_utf8_lossy).collect::<Vec<_>>().join("-")
    };
    (0..COUNT).map(|_| code()).collect()
}

/// Draws codes and puts them in the place of all that the member had.
pub(super) async fn renew(core: &Core, tx: &mut Tx<'_>, site: &SiteId, member: &MemberId) -> Result<Vec<String>> {
    let codes = draw(core.world());
    replace(tx, site, member, &codes).await?;
    Ok(codes)
}

/// Puts codes in the place of all that the member had.
pub(super) async fn replace(tx: &mut Tx<'_>, site: &SiteId, member: &MemberId, codes: &[String]) -> Result<()> {
    remove(tx, site, member).await?;
    for code in codes {
        let sql = "insert into stoa.recovery_code (site, hash, member) values ($1, $2, $3)";
        tx.send(sql, params![site, hash(member, code), member]).await?;
    }
    Ok(())
}

pub(super) async fn remove(tx: &mut Tx<'_>, site: &SiteId, member: &MemberId) -> Result<()> {
    let sql = "delete from stoa.recovery_code where site = $1 and member = $2";
    tx.send(sql, params![site, member]).await?;
    Ok(())
}

/// Uses a code up: whether there was one that had not been used.
pub(super) async fn take(
    tx: &mut Tx<'_>,
    site: &SiteId,
    member: &MemberId,
    hash: &TokenHash,
    now: i64,
) -> Result<bool> {
    let sql = "update stoa.recovery_code set used = $1 where site = $2 and hash = $3 and member = $4 and used is null";
    Ok(tx.execute(sql, &params![now, site, hash, member]).await? == 1)
}

/// How many are left.
pub(super) async fn left(tx: &mut Tx<'_>, site: &SiteId, member: &MemberId) -> Result<i64> {
    let sql = "select count(*) from stoa.recovery_code where site = $1 and member = $2 and used is null";
    Ok(tx.row(sql, &params![site, member], |row| row.get(0)).await?.unwrap_or_default())
}

/// Of a code as a person types it: in any case, with spaces and hyphens anywhere, with digits for the letters that they
/// look like. Bound to the member.
pub(super) fn hash(member: &MemberId, typed: &str) -> TokenHash {
    let letters = typed.chars().filter(|it| it.is_ascii_alphanumeric()).map(|it| match it.to_ascii_uppercase() {
        '0' => 'O',
        '1' => 'I',
        '8' => 'B',
        other => other,
    });
    TokenHash::of(&format!("recovery {member} {}", letters.take(100).collect::<String>()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn codes_are_ten_and_differ() {
        let codes = draw(&World::fixed(0, 1).0);
        assert_eq!(codes.iter().collect::<HashSet<_>>().len(), 10);
        for code in codes {
            assert_eq!((code.len(), code.split('-').count()), (19, 4), "{code}");
        }
    }

    #[test]
    fn code_is_read_as_people_type_it() {
        let (anna, ben) = (MemberId::from("anna"), MemberId::from("ben"));
        let right = hash(&anna, "ABOI-EFGH-IJKL-MNOP");
        for typed in ["aboiefghijklmnop", " abo1 efgh ijkl mnop ", "AB0I–EFGH–IJKL–MNOP", "A8OI-EFGH-IJKL-MNOP"] {
            assert_eq!(hash(&anna, typed), right, "{typed}");
        }
        assert_ne!(hash(&anna, "ABOI-EFGH-IJKL-MNOQ"), right);
        assert_ne!(hash(&ben, "ABOI-EFGH-IJKL-MNOP"), right);
    }
}
