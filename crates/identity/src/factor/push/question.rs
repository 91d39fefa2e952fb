//! What the browsers of a member are asked: one row a member, so one question at a time.
//!
//! A question is of what it was asked for, by the name that codes have which are sent for it, and of the generation of the member's
//! factors. Who answers has the token that went to the browsers, and types the digits that are shown where the person signs in;
//! other digits deny. Who waits has the id, and takes the approval once.
//!
//! How many are asked is counted in the member's guard, on all nodes: after [`FREE`] since a factor of theirs was right each further
//! one waits, twice as long every time; two that are denied within an hour pause them all, and one that is denied ends them for the
//! sign-ins that had begun by then. What no browser was sent is not counted.

use crate::{Core, defence::device, factor::guard, telephone::Purpose, token};
use serde::{Deserialize, Serialize};
use std::net::IpAddr;
use stoa_kernel::{Code, Fault, MemberId, Millis, Result, Secret, SiteId, TokenHash};
use stoa_sql::params;
use stoa_store::{ReaderPool, Row, Site, Tx, boxed};

/// How long one can be answered.
pub(crate) const LIFE: Millis = 2 * 60_000;
/// How long an approval waits to be taken.
const TAKEN_WITHIN: Millis = 60_000;
/// Questions without an approval that don't wait. They are forgotten after an hour without one.
const FREE: i64 = 5;
/// Questions of a member within an hour, approved ones among them.
const IN_AN_HOUR: i64 = 60;
const HOUR: Millis = 60 * 60_000;
/// No wait is longer, and so long after one without a question they are counted from the beginning.
const DAY: Millis = 24 * HOUR;
const APPROVED: &str = "approved";
const DENIED: &str = "denied";
const UNSENT: &str = "unsent";
const SIGN_IN: &str = "sign_in";
const CHANGE: &str = "change";

/// A question as the one who waits for its answer knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// A UUID.
    pub id: String,
    /// Two digits, which are to be typed in the browser that is asked.
    pub number: String,
    /// UTC milliseconds.
    pub expires: Millis,
}

/// What a question is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AskedFor {
    SignIn,
    /// A proof in a session, before something of the account changes.
    Change,
}

impl AskedFor {
    pub(crate) fn of(purpose: Purpose) -> Self {
        match purpose {
            Purpose::SignIn => Self::SignIn,
            Purpose::Proof | Purpose::First => Self::Change,
        }
    }

    /// Its name in answers and messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::SignIn => "SIGN_IN",
            Self::Change => "CHANGE",
        }
    }

    fn stored(self) -> &'static str {
        match self {
            Self::SignIn => SIGN_IN,
            Self::Change => CHANGE,
        }
    }

    fn of_stored(text: &str) -> Self {
        if text == SIGN_IN { Self::SignIn } else { Self::Change }
    }
}

/// Why something is asked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reason {
    pub asked_for: AskedFor,
    /// When the sign-in began, which asks nothing after a denial; nothing of a proof.
    pub begun: Option<Millis>,
}

/// What comes of asking.
#[derive(Debug, Clone)]
pub(crate) enum Put {
    /// The question, and the token that answers it.
    Asked(Question, Secret),
    /// One was denied since the sign-in began.
    Denied,
}

/// Where the person is who asks for something.
#[derive(Debug, Clone)]
pub(crate) struct AskedFrom {
    /// The browser in the server's own words.
    pub device: Option<String>,
    pub address: IpAddr,
}

impl AskedFrom {
    /// By what a request says of its browser.
    pub(crate) fn of(address: IpAddr, user_agent: Option<&str>) -> Self {
        Self { device: user_agent.and_then(device::known_name), address }
    }
}

/// Writes a question down inside a transaction, in the place of the one before.
///
/// # Errors
/// [`Code::Throttled`] when too many were asked without an approval, or two were denied within the hour: then the transaction must
/// end, so that nothing is counted.
pub(crate) async fn put(
    core: &Core,
    tx: &mut Tx<'_>,
    site: &Site,
    (member, name): (&MemberId, &str),
    (from, reason): (&AskedFrom, Reason),
) -> Result<Put> {
    let now = core.now();
    // Many at once are counted one after the other.
    guard::lock(tx, &site.id, member).await?;
    if let Some(begun) = reason.begun {
        let sql = "select 1 from stoa.factor_guard where site = $1 and member = $2 and push_denied >= $3";
        if tx.row(sql, &params![&site.id, member, begun], |_| Ok(())).await?.is_some() {
            return Ok(Put::Denied);
        }
    }
    let generation = count(tx, &site.id, member, now).await?;
    let [high, low] = core.world().bytes::<2>();
    let number = 10 + i64::from(u16::from_be_bytes([high, low])) % 90;
    let token = token::opaque(core.world(), token::Kind::Question, site.number);
    let (id, expires) = (core.world().uuid(), now + LIFE);
    let sql = "insert into stoa.push_question (site, member, hash, id, name, generation, number, device, address, created, expires, kind) \
               values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) on conflict (site, member) do update set \
               kind = excluded.kind, \
               hash = excluded.hash, id = excluded.id, name = excluded.name, generation = excluded.generation, \
               number = excluded.number, device = excluded.device, address = excluded.address, created = excluded.created, \
               expires = excluded.expires, answer = null";
    let values = params![
        &site.id,
        member,
        TokenHash::of(token.expose()),
        id.as_str(),
        name,
        generation,
        number,
        from.device.clone(),
        from.address.to_string(),
        now,
        expires,
        reason.asked_for.stored()
    ];
    tx.send(sql, values).await?;
    Ok(Put::Asked(Question { id, number: number.to_string(), expires }, token))
}

/// Counts a question: the generation of the member's factors.
async fn count(tx: &mut Tx<'_>, site: &SiteId, member: &MemberId, now: Millis) -> Result<i64> {
    let sql = "update stoa.factor_guard set \
               push_asked = case when push_after <= $1 or (push_asked < $2 and push_after <= $3) then 1 else push_asked + 1 end, \
               push_after = $4, push_hour = case when push_hour <= $3 then $4 else push_hour end, \
               push_in_hour = case when push_hour <= $3 then 1 else push_in_hour + 1 end \
               where site = $5 and member = $6 and (push_asked < $2 or push_after <= $4) and push_paused <= $4 \
               and (push_hour <= $3 or push_in_hour < $7) returning push_asked, generation";
    let read = |row: &Row<'_>| Ok((row.get::<i64>(0)?, row.get::<i64>(1)?));
    let values = params![now - DAY, FREE, now - HOUR, now, site, member, IN_AN_HOUR];
    let Some((asked, generation)) = tx.row(sql, &values, read).await? else {
        let sql = "select case when push_asked < $1 then 0 else push_after end, push_paused, \
                   case when push_in_hour < $2 then 0 else push_hour + $3 end \
                   from stoa.factor_guard where site = $4 and member = $5";
        let read = |row: &Row<'_>| Ok(row.get::<Millis>(0)?.max(row.get(1)?).max(row.get(2)?));
        let until = tx.row(sql, &params![FREE, IN_AN_HOUR, HOUR, site, member], read).await?;
        let left = until.unwrap_or(now).saturating_sub(now).max(1);
        return Err(Fault::new(Code::Throttled).with("retryAfterSeconds", (left + 999) / 1_000));
    };
    if asked >= FREE {
        let sql = "update stoa.factor_guard set push_after = $1 where site = $2 and member = $3";
        tx.send(sql, params![now + wait(asked), site, member]).await?;
    }
    Ok(generation)
}

/// No browser was sent the question of a token: it ends, and is not counted among those that were not approved.
pub(crate) async fn unsent(
    tx: &mut Tx<'_>,
    site: &SiteId,
    (member, hash): (&MemberId, &TokenHash),
    now: Millis,
) -> Result<()> {
    guard::lock(tx, site, member).await?;
    let sql =
        "update stoa.push_question set answer = $1 where site = $2 and member = $3 and hash = $4 and answer is null";
    if tx.execute(sql, &params![UNSENT, site, member, hash]).await? != 1 {
        return Ok(());
    }
    let sql = "update stoa.factor_guard set push_asked = push_asked - 1, push_after = $1 \
               where site = $2 and member = $3 and push_asked > 0";
    tx.send(sql, params![now, site, member]).await?;
    Ok(())
}

fn wait(asked: i64) -> Millis {
    let doublings = u32::try_from((asked - FREE).clamp(0, 10)).unwrap_or_default();
    HOUR.saturating_mul(1 << doublings).min(DAY)
}

/// Whether a member's browsers are asked nothing for a while.
pub(crate) async fn is_paused(tx: &mut Tx<'_>, site: &SiteId, member: &MemberId, now: Millis) -> Result<bool> {
    let sql = "select 1 from stoa.factor_guard where site = $1 and member = $2 and push_paused > $3";
    Ok(tx.row(sql, &params![site, member, now], |_| Ok(())).await?.is_some())
}

/// How a question stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Standing {
    Waits(Question),
    Approved,
    Denied,
    /// No browser could be sent it.
    Unsent,
    /// It is too old, another one has taken its place, the member's factors have changed since, or there was none.
    Over,
}

/// How a question stands that was asked for something of this name.
pub(crate) async fn standing(
    core: &Core,
    site: &Site,
    (member, name): (&MemberId, &str),
    id: &str,
) -> Result<Standing> {
    let values = params![&site.id, member, name, id].to_vec();
    let read = site.read(ReaderPool::Point, move |tx| {
        boxed!({
            let sql = "select number, expires, answer, generation, (select generation from stoa.factor_guard \
                       where site = $1 and member = $2) from stoa.push_question \
                       where site = $1 and member = $2 and name = $3 and id = $4";
            let read = |row: &Row<'_>| {
                let is_current = row.get::<Option<i64>>(3)? == row.get(4)?;
                Ok((row.get::<i64>(0)?, row.get::<Millis>(1)?, row.get::<Option<String>>(2)?, is_current))
            };
            Ok(tx.row(sql, &values, read).await?)
        })
    });
    Ok(match read.await? {
        Some((_, _, Some(answer), _)) if answer == DENIED => Standing::Denied,
        Some((_, _, Some(answer), _)) if answer == UNSENT => Standing::Unsent,
        Some((_, expires, _, is_current)) if expires <= core.now() || !is_current => Standing::Over,
        Some((_, _, Some(_), _)) => Standing::Approved,
        Some((number, expires, None, _)) => {
            Standing::Waits(Question { id: id.to_owned(), number: number.to_string(), expires })
        }
        None => Standing::Over,
    })
}

/// Takes an approval inside a transaction: whether there was one. No other question waits after it.
pub(crate) async fn take(
    tx: &mut Tx<'_>,
    site: &SiteId,
    (member, name): (&MemberId, &str),
    id: &str,
    now: Millis,
) -> Result<bool> {
    guard::lock(tx, site, member).await?;
    let sql = "delete from stoa.push_question where site = $1 and member = $2 and name = $3 and id = $4 and answer = $5 \
               and expires > $6 and generation = (select generation from stoa.factor_guard where site = $1 and member = $2)";
    Ok(tx.execute(sql, &params![site, member, name, id, APPROVED, now]).await? == 1)
}

/// A question as a browser is shown it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushQuestion {
    pub(crate) member: MemberId,
    pub asked_for: AskedFor,
    /// Where the person is who asks.
    pub device: Option<String>,
    pub address: String,
    pub created: Millis,
    pub expires: Millis,
}

/// The question that a token answers, while it can be answered.
pub(crate) async fn by_token(
    tx: &mut Tx<'_>,
    site: &SiteId,
    hash: &TokenHash,
    now: Millis,
) -> Result<Option<PushQuestion>> {
    let sql = "select member, device, address, created, expires, kind from stoa.push_question as question \
               where site = $1 and hash = $2 and answer is null and expires > $3 and generation = \
               (select generation from stoa.factor_guard as guard where guard.site = $1 and guard.member = question.member)";
    let read = |row: &Row<'_>| {
        Ok(PushQuestion {
            member: MemberId::from(row.text(0)?),
            device: row.get(1)?,
            address: row.get(2)?,
            created: row.get(3)?,
            expires: row.get(4)?,
            asked_for: AskedFor::of_stored(row.text(5)?),
        })
    };
    Ok(tx.row(sql, &params![site, hash, now], read).await?)
}

/// Answers the question of a token inside a transaction, in which the member's guard is locked: whether it is approved. Nothing when
/// it was answered before, or is over.
pub(crate) async fn answer(
    tx: &mut Tx<'_>,
    site: &SiteId,
    (member, hash): (&MemberId, &TokenHash),
    number: Option<i64>,
    now: Millis,
) -> Result<Option<bool>> {
    // No question has this number.
    let number = number.unwrap_or(-1);
    let sql = "update stoa.push_question set answer = case when number = $1 then $2 else $3 end, \
               expires = case when number = $1 then $4 else expires end \
               where site = $5 and member = $6 and hash = $7 and answer is null and expires > $8 returning answer";
    let values = params![number, APPROVED, DENIED, now + TAKEN_WITHIN, site, member, hash, now];
    let answered: Option<String> = tx.row(sql, &values, |row| row.get(0)).await?;
    let Some(answered) = answered else { return Ok(None) };
    if answered == APPROVED {
        return Ok(Some(true));
    }
    let sql = "update stoa.factor_guard set push_paused = case when push_denied > $1 then $2 else push_paused end, push_denied = $3 \
               where site = $4 and member = $5";
    tx.send(sql, params![now - HOUR, now + HOUR, now, site, member]).await?;
    Ok(Some(false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_a_day() {
        let hours = [5, 6, 7, 8, 9, 10, i64::MAX].map(|asked| wait(asked) / HOUR);
        assert_eq!(hours, [1, 2, 4, 8, 16, 24, 24]);
    }
}
