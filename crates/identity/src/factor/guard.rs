//! The guard of a member's second factors: a row whose lock puts attempts in a line, and which counts the wrong ones.
//!
//! An attempt counts as a wrong one before it is looked at, and stops counting when it was right: a hundred at once are no way
//! around. After some wrong ones each further one has to wait, twice as long every time. The counts are stored, so they
//! hold on all nodes and after a restart. Recovery codes and passkeys are not counted: 80 bits and signatures can't be guessed, and a count would let
//! a thief of the password keep the member out.

use crate::factor::{Beside, FactorType, proved, remembered};
use stoa_kernel::{Code, Fault, MemberId, Millis, Result, SessionId, SiteId};
use stoa_sql::params;
use stoa_store::Tx;

/// Wrong answers that don't wait.
const FREE: i64 = 5;
/// The first wait; each after it is twice as long.
const FIRST_WAIT: Millis = 30_000;
/// No wait is longer.
const LONGEST_WAIT: Millis = 60 * 60_000;

/// An attempt that was counted.
pub(super) struct Attempted {
    /// Wrong ones since the last right one, this one among them.
    pub(super) wrong: i64,
}

impl Attempted {
    /// Whether others begin to wait now.
    pub(super) fn is_last_free(&self) -> bool {
        self.wrong == FREE
    }
}

/// Counts an attempt at a code inside a transaction, and locks the row.
///
/// # Errors
/// [`Code::Throttled`] while attempts have to wait. `None` for a member without a guard, who has nothing to guess at.
pub(super) async fn attempt(
    tx: &mut Tx<'_>,
    site: &SiteId,
    member: &MemberId,
    now: Millis,
) -> Result<Option<Result<Attempted>>> {
    let sql = "update stoa.factor_guard set wrong_codes = wrong_codes + 1 \
               where site = $1 and member = $2 and codes_after <= $3 returning wrong_codes";
    let wrong: Option<i64> = tx.row(sql, &params![site, member, now], |row| row.get(0)).await?;
    if let Some(wrong) = wrong {
        if wrong >= FREE {
            let sql = "update stoa.factor_guard set codes_after = $1 where site = $2 and member = $3";
            tx.send(sql, params![now + wait(wrong), site, member]).await?;
        }
        return Ok(Some(Ok(Attempted { wrong })));
    }
    let sql = "select codes_after from stoa.factor_guard where site = $1 and member = $2";
    let until: Option<Millis> = tx.row(sql, &params![site, member], |row| row.get(0)).await?;
    Ok(until.map(|until| Err(Fault::new(Code::Throttled).with("retryAfterSeconds", seconds(until - now)))))
}

/// Whole seconds, so many that the wait is over after them.
fn seconds(left: Millis) -> i64 {
    (left.max(1) + 999) / 1_000
}

/// The attempt was right: none is counted any more.
pub(super) async fn absolve(tx: &mut Tx<'_>, site: &SiteId, member: &MemberId) -> Result<()> {
    let sql = "update stoa.factor_guard set wrong_codes = 0, codes_after = 0 where site = $1 and member = $2";
    tx.send(sql, params![site, member]).await?;
    Ok(())
}

/// Writes down what ends when a factor of this kind was right, inside the transaction in which it counts. The member is there: questions
/// that others asked keep nothing from them. Wrong codes are forgotten, but for a recovery code, which is none of the guessed ones; and a
/// password that a link has set is the member's where it was shown beside something more than the mailbox.
pub(super) async fn was_right(
    tx: &mut Tx<'_>,
    site: &SiteId,
    member: &MemberId,
    (factor, beside): (FactorType, Beside),
) -> Result<()> {
    let (forgets, trusts_password) = match factor {
        FactorType::Webauthn | FactorType::Totp | FactorType::Push | FactorType::Sms | FactorType::Call => (true, true),
        FactorType::Email | FactorType::Password => (true, false),
        FactorType::RecoveryCode => (false, true),
    };
    let trusts_password = trusts_password && beside.is_own();
    let sql = "update stoa.factor_guard set push_asked = 0, push_after = 0, \
               wrong_codes = case when $1 = 1 then 0 else wrong_codes end, \
               codes_after = case when $1 = 1 then 0 else codes_after end, \
               password_doubted = case when $2 = 1 then null else password_doubted end \
               where site = $3 and member = $4";
    tx.send(sql, params![i64::from(forgets), i64::from(trusts_password), site, member]).await?;
    Ok(())
}

/// Makes the guard of a member unless there is one, and locks it.
pub(super) async fn lock(tx: &mut Tx<'_>, site: &SiteId, member: &MemberId) -> Result<()> {
    let sql = "insert into stoa.factor_guard (site, member) values ($1, $2) \
               on conflict (site, member) do update set generation = factor_guard.generation";
    tx.send(sql, params![site, member]).await?;
    Ok(())
}

/// Ends every sign-in that waits for a factor, every browser in which the member is not asked, and what was proven in other
/// sessions than the one that acts: what they rest on has changed.
pub(crate) async fn end_sign_ins(
    tx: &mut Tx<'_>,
    site: &SiteId,
    member: &MemberId,
    acting: Option<&SessionId>,
) -> Result<()> {
    count_up(tx, site, member).await?;
    proved::withdraw(tx, site, member, acting).await?;
    remembered::forget(tx, site, member).await?;
    Ok(())
}

/// Ends every sign-in that waits for a factor.
pub(crate) async fn count_up(tx: &mut Tx<'_>, site: &SiteId, member: &MemberId) -> Result<()> {
    let sql = "update stoa.factor_guard set generation = generation + 1 where site = $1 and member = $2";
    tx.send(sql, params![site, member]).await?;
    Ok(())
}

/// What a sign-in of this member names that waits for a factor; nothing for members who have none.
pub(crate) async fn generation(tx: &mut Tx<'_>, site: &SiteId, member: &MemberId) -> Result<Option<i64>> {
    let sql = "select generation from stoa.factor_guard where site = $1 and member = $2 and (exists \
               (select 1 from stoa.factor where site = $1 and member = $2 and confirmed is not null) or exists \
               (select 1 from stoa.passkey where site = $1 and member = $2))";
    Ok(tx.row(sql, &params![site, member], |row| row.get(0)).await?)
}

/// The same whether or not they have one; locks their guard.
pub(crate) async fn locked_generation(tx: &mut Tx<'_>, site: &SiteId, member: &MemberId) -> Result<i64> {
    lock(tx, site, member).await?;
    let sql = "select generation from stoa.factor_guard where site = $1 and member = $2";
    Ok(tx.row(sql, &params![site, member], |row| row.get(0)).await?.unwrap_or_default())
}

fn wait(wrong: i64) -> Millis {
    let doublings = u32::try_from((wrong - FREE).clamp(0, 30)).unwrap_or_default();
    FIRST_WAIT.saturating_mul(1 << doublings).min(LONGEST_WAIT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wait_that_is_told_is_long_enough() {
        assert_eq!([1, 999, 1_000, 1_001, 1_900, 30_000].map(seconds), [1, 1, 1, 2, 2, 30]);
    }

    #[test]
    fn waits_double_up_to_the_longest() {
        let waits = [5, 6, 7, 11, 12, 13, 1_000, i64::MAX].map(wait);
        assert_eq!(waits, [30_000, 60_000, 120_000, 1_920_000, 3_600_000, 3_600_000, 3_600_000, 3_600_000]);
    }
}
