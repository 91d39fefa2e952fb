//! How many codes go to telephones in a day: to one number, to one member, to numbers that begin alike, and of a whole site.
//! Each costs money, and somebody may earn by what is sent to numbers of theirs. The counts are stored, so they hold on all nodes
//! and after a restart; of many at once each is counted in its turn.
//!
//! First codes take half of what a site, a beginning and a number get, at most, and proofs of sessions half of what a number and
//! a member get: who does nothing but add numbers, of others too, or has stolen a session, keeps no member out who signs in.

use crate::{Core, telephone::PhoneNumber};
use std::sync::atomic::Ordering::Relaxed;
use stoa_kernel::{Code, Fault, MemberId, Millis, Result, SiteId, limit::DAY};
use stoa_sql::params;
use stoa_store::{Row, Tx};

/// Codes a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DayLimits {
    pub number: usize,
    pub member: usize,
    pub prefix: usize,
    pub site: usize,
}

impl From<&crate::IdentityLimits> for DayLimits {
    fn from(limits: &crate::IdentityLimits) -> Self {
        Self {
            number: limits.telephone_number_daily,
            member: limits.telephone_member_daily,
            prefix: limits.telephone_country_daily,
            site: limits.telephone_site_daily,
        }
    }
}

/// A code that is about to be sent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Message<'a> {
    pub member: &'a MemberId,
    pub number: &'a PhoneNumber,
    /// How the number begins, of those that are allowed.
    pub prefix: &'a str,
    pub purpose: Purpose,
}

/// For what a code is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    SignIn,
    /// A proof in a session, which may be a stolen one.
    Proof,
    /// The first one, by which a number is added.
    First,
}

/// Counts a code inside the transaction that writes it.
///
/// # Errors
/// [`Code::Throttled`] where it would be one too many: then the transaction must end, so that nothing is counted.
pub(crate) async fn allow(core: &Core, tx: &mut Tx<'_>, site: &SiteId, message: Message<'_>) -> Result<()> {
    let Message { member, number, prefix, purpose } = message;
    let limits = &core.config().telephone_daily;
    // In this order always: what all share is locked first.
    let (prefix, number) = (format!("prefix {prefix}"), format!("number {}", number.bare()));
    let member = format!("member {member}");
    // Where many share one, the operator learns that it is used up.
    for (subject, most, is_shared) in [
        ("site", limits.site, true),
        (prefix.as_str(), limits.prefix, true),
        (number.as_str(), limits.number, false),
        (member.as_str(), limits.member, false),
    ] {
        let part = match purpose {
            Purpose::First if subject != member => Some("first codes"),
            Purpose::Proof if !is_shared => Some("proofs"),
            _ => None,
        };
        let part = part.map(|it| (format!("{it} of {subject}"), most.div_ceil(2)));
        for (subject, most) in [(subject.to_owned(), most)].into_iter().chain(part) {
            let sent = count(core, tx, site, &subject, most).await?;
            if is_shared && sent == most {
                tracing::warn!(%site, "the last code by telephone of a day is sent: {most}, {subject}");
            }
        }
    }
    Ok(())
}

/// Counts one of a subject, whose day begins with the first: which of the day it is.
async fn count(core: &Core, tx: &mut Tx<'_>, site: &SiteId, subject: &str, most: usize) -> Result<usize> {
    let now = core.now();
    let hash = core.ciphers.factor.digest(&format!("telephone codes of {site}: {subject}"));
    let sql = "insert into stoa.phone_count (site, hash, since, sent) values ($1, $2, $3, 1) \
               on conflict (site, hash) do update set \
               sent = case when phone_count.since <= $4 then 1 else phone_count.sent + 1 end, \
               since = case when phone_count.since <= $4 then excluded.since else phone_count.since end \
               returning sent, since";
    let read = |row: &Row<'_>| Ok((row.get::<i64>(0)?, row.get::<Millis>(1)?));
    let counted = tx.row(sql, &params![site, hash, now, now - DAY], read).await?;
    let Some((sent, since)) = counted else { return Err(Fault::internal("a telephone code was not counted")) };
    let sent = usize::try_from(sent).map_err(Fault::internal)?;
    if sent <= most {
        return Ok(sent);
    }
    if let Some(telephone) = &core.telephone {
        telephone.over_limit.fetch_add(1, Relaxed);
    }
    let wait = (since + DAY - now).clamp(1_000, DAY);
    Err(Fault::new(Code::Throttled).with("retryAfterSeconds", (wait + 999) / 1_000))
}
