//! Authenticators as they are stored, and beside them that a member takes codes that are sent: by e-mail, or to numbers, which stand
//! where authenticators have their secret. Browsers that are asked by Web Push have their subscription there.

use crate::factor::{FactorType, passkey};
use stoa_kernel::{MemberId, Millis, Result, SiteId};
use stoa_sql::params;
use stoa_store::{Row, Tx};

/// An authenticator of a member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Factor {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) sealed: Vec<u8>,
    pub(super) created: Millis,
    /// Nothing while no code of it was shown.
    pub(super) confirmed: Option<Millis>,
    pub(super) used: Option<Millis>,
    /// The step of time of the last code that counted.
    pub(super) last_step: i64,
    /// When the push service of a browser said that it is there no more.
    pub(super) ended: Option<Millis>,
}

/// What the ids of codes that are sent begin with; those of authenticators never do.
const EMAIL: &str = "email-";
const SMS: &str = "sms-";
const CALL: &str = "call-";
const PUSH: &str = "push-";
/// Of the password, which has no row of its own.
const PASSWORD: &str = "password-";

/// The one id under which a member takes codes by e-mail. The row has a sealed secret like any other, which is shown nowhere: to a
/// program that doesn't know the kind it is an authenticator that nobody has.
pub(super) fn email_id(member: &MemberId) -> String {
    format!("{EMAIL}{member}")
}

/// The one id under which a member's password is a second factor.
pub(super) fn password_id(member: &MemberId) -> String {
    format!("{PASSWORD}{member}")
}

/// An id under which a member takes codes at a number: another one each time that a number is added.
pub(super) fn phone_id(factor: FactorType, unique: &str) -> String {
    format!("{}{unique}", if factor == FactorType::Call { CALL } else { SMS })
}

/// An id of an enrolled browser.
pub(super) fn push_id(unique: &str) -> String {
    format!("{PUSH}{unique}")
}

/// The kind of factor that has an id; passkeys have a table of their own.
pub(super) fn kind_of(id: &str) -> FactorType {
    match id {
        it if it.starts_with(EMAIL) => FactorType::Email,
        it if it.starts_with(SMS) => FactorType::Sms,
        it if it.starts_with(CALL) => FactorType::Call,
        it if it.starts_with(PUSH) => FactorType::Push,
        it if it.starts_with(PASSWORD) => FactorType::Password,
        it if it.starts_with(passkey::PREFIX) => FactorType::Webauthn,
        _ => FactorType::Totp,
    }
}

impl Factor {
    /// One of which no code was shown yet, with what is sealed in it.
    pub(super) fn new((id, name): (String, String), sealed: Vec<u8>, created: Millis) -> Self {
        Self { id, name, sealed, created, confirmed: None, used: None, last_step: 0, ended: None }
    }

    pub(super) fn factor(&self) -> FactorType {
        kind_of(&self.id)
    }

    /// Whether it is a browser that counts and can be asked.
    pub(super) fn is_standing_browser(&self) -> bool {
        self.factor() == FactorType::Push && self.confirmed.is_some() && self.ended.is_none()
    }
}

/// All of a member, the oldest first.
pub(super) async fn of_member(tx: &mut Tx<'_>, site: &SiteId, member: &MemberId) -> Result<Vec<Factor>> {
    let sql = "select id, name, sealed, created, confirmed, used, last_step, ended from stoa.factor \
               where site = $1 and member = $2 order by created, id";
    let read = |row: &Row<'_>| {
        Ok(Factor {
            id: row.get(0)?,
            name: row.get(1)?,
            sealed: row.get(2)?,
            created: row.get(3)?,
            confirmed: row.get(4)?,
            used: row.get(5)?,
            last_step: row.get(6)?,
            ended: row.get(7)?,
        })
    };
    Ok(tx.rows(sql, &params![site, member], read).await?)
}

/// Writes down a factor of which no code was shown yet, in the place of any other such one.
pub(super) async fn begin(tx: &mut Tx<'_>, site: &SiteId, member: &MemberId, factor: &Factor) -> Result<()> {
    let sql = "delete from stoa.factor where site = $1 and member = $2 and confirmed is null";
    tx.send(sql, params![site, member]).await?;
    let sql = "insert into stoa.factor (site, id, member, name, sealed, created) values ($1, $2, $3, $4, $5, $6)";
    let Factor { id, name, sealed, created, .. } = factor;
    tx.send(sql, params![site, id.as_str(), member, name.as_str(), sealed.clone(), *created]).await?;
    Ok(())
}

/// The first code of a factor was shown: whether it waited for one.
pub(super) async fn confirm(
    tx: &mut Tx<'_>,
    site: &SiteId,
    member: &MemberId,
    id: &str,
    (step, now): (i64, Millis),
) -> Result<bool> {
    let sql = "update stoa.factor set confirmed = $1, used = $1, last_step = $2 \
               where site = $3 and id = $4 and member = $5 and confirmed is null";
    Ok(tx.execute(sql, &params![now, step, site, id, member]).await? == 1)
}

/// A code of a factor was shown: whether it counts. One of the same step, or of a later one, counted before if not.
pub(super) async fn advance(
    tx: &mut Tx<'_>,
    site: &SiteId,
    member: &MemberId,
    id: &str,
    (step, now): (i64, Millis),
) -> Result<bool> {
    let sql = "update stoa.factor set last_step = $1, used = $2 \
               where site = $3 and id = $4 and member = $5 and confirmed is not null and last_step < $1";
    Ok(tx.execute(sql, &params![step, now, site, id, member]).await? == 1)
}

/// The factor of a kind that counts, of which a member has one at most.
pub(super) async fn confirmed(
    tx: &mut Tx<'_>,
    site: &SiteId,
    member: &MemberId,
    factor: FactorType,
) -> Result<Option<Factor>> {
    let all = of_member(tx, site, member).await?;
    Ok(all.into_iter().find(|it| it.confirmed.is_some() && it.factor() == factor))
}

/// A code that was sent has counted.
pub(super) async fn used(tx: &mut Tx<'_>, site: &SiteId, id: &str, now: Millis) -> Result<()> {
    let sql = "update stoa.factor set used = $1 where site = $2 and id = $3";
    tx.send(sql, params![now, site, id]).await?;
    Ok(())
}

/// A question was approved in one of a member's browsers.
pub(super) async fn browsers_used(tx: &mut Tx<'_>, site: &SiteId, member: &MemberId, now: Millis) -> Result<()> {
    for factor in of_member(tx, site, member).await?.into_iter().filter(Factor::is_standing_browser) {
        used(tx, site, &factor.id, now).await?;
    }
    Ok(())
}

/// The push service of a browser has said that it is there no more.
pub(super) async fn browser_ended(tx: &mut Tx<'_>, site: &SiteId, id: &str, now: Millis) -> Result<()> {
    let sql = "update stoa.factor set ended = $1 where site = $2 and id = $3 and ended is null";
    tx.send(sql, params![now, site, id]).await?;
    Ok(())
}

/// Gives an authenticator another name: whether the member has it.
pub(super) async fn rename(
    tx: &mut Tx<'_>,
    site: &SiteId,
    member: &MemberId,
    (id, name): (&str, &str),
) -> Result<bool> {
    let sql = "update stoa.factor set name = $1 where site = $2 and id = $3 and member = $4 and confirmed is not null";
    Ok(tx.execute(sql, &params![name, site, id, member]).await? == 1)
}

/// Removes a confirmed factor: whether there was one.
pub(super) async fn remove(tx: &mut Tx<'_>, site: &SiteId, member: &MemberId, id: &str) -> Result<bool> {
    let sql = "delete from stoa.factor where site = $1 and id = $2 and member = $3 and confirmed is not null";
    Ok(tx.execute(sql, &params![site, id, member]).await? == 1)
}

/// Removes all of a member: how many of them were confirmed.
pub(super) async fn remove_all(tx: &mut Tx<'_>, site: &SiteId, member: &MemberId) -> Result<u64> {
    let sql = "delete from stoa.factor where site = $1 and member = $2 and confirmed is not null";
    let count = tx.execute(sql, &params![site, member]).await?;
    let sql = "delete from stoa.factor where site = $1 and member = $2";
    tx.send(sql, params![site, member]).await?;
    Ok(count)
}

/// Removes those of a member that were confirmed at a time or later, and those of which no code was shown.
pub(super) async fn remove_since(tx: &mut Tx<'_>, site: &SiteId, member: &MemberId, since: Millis) -> Result<()> {
    let sql = "delete from stoa.factor where site = $1 and member = $2 and (confirmed is null or confirmed >= $3)";
    tx.send(sql, params![site, member, since]).await?;
    Ok(())
}
