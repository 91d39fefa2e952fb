//! Second factors of those who run sites (decision 60): one account for all sites of the installation, in the catalogue. What a
//! factor is, how it is checked and limited is in `factor`, for members and for them.
//!
//! [`ask`] is the one place that lets a session of theirs be opened, whichever way somebody came: by password, by an invitation or by a
//! recovery link. How a site that requires a factor has one set up on the way is in [`enrolment`]; [`own`] is what they do with
//! their factors in a session, once they have shown in it who they are ([`proof`]).

pub(crate) mod ask;
pub(crate) mod enrolment;
pub mod own;
pub(crate) mod proof;
mod tell;

pub use ask::Cleared;

use crate::{
    factor::{self, FactorType, held},
    password::Fingerprint,
    sign_in::challenge::Challenge,
};
use stoa_kernel::{MemberId, Millis, Result, UserId};
use stoa_sql::params;
use stoa_store::Tx;

/// The kinds of factors of those who run sites. Nothing is sent to them: an address or a number would be the weaker way.
pub const KINDS: [FactorType; 3] = [FactorType::Webauthn, FactorType::Totp, FactorType::RecoveryCode];

/// A person who runs sites, and what they can show, as the catalogue has it.
#[derive(Debug, Clone)]
struct Known {
    email: String,
    created: Millis,
    password: Fingerprint,
    /// That of their factors; nothing of one who has none.
    generation: Option<i64>,
    factors: Vec<FactorType>,
}

/// Reads it inside a transaction of the catalogue. `None` where there is no such person.
async fn known(tx: &mut Tx<'_>, person: &MemberId) -> Result<Option<Known>> {
    let realm = factor::operators();
    let sql = "select email, created, password_hash from stoa.person where id = $1";
    let found: Option<(String, Millis, Option<String>)> =
        tx.row(sql, &params![person.as_str()], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).await?;
    let Some((email, created, hash)) = found else { return Ok(None) };
    let held = held::list(tx, &realm, person).await?;
    // Recovery codes are always named, also when all were used.
    let is_one = |kind: &FactorType| *kind == FactorType::RecoveryCode || held.iter().any(|it| it.factor == *kind);
    Ok(Some(Known {
        email,
        created,
        password: Fingerprint::of(hash.as_deref()),
        generation: factor::generation(tx, &realm, person).await?,
        factors: KINDS.into_iter().filter(is_one).collect(),
    }))
}

/// The person of a sign-in that waits, while it is not over and the password is the one that was shown.
async fn still_waits(tx: &mut Tx<'_>, challenge: &Challenge, now: Millis) -> Result<Option<Known>> {
    if now >= challenge.until {
        return Ok(None);
    }
    Ok(known(tx, &challenge.member).await?.filter(|it| it.password == challenge.password))
}

/// The id of the person of a sign-in that waits.
fn person_of(challenge: &Challenge) -> UserId {
    UserId::from(challenge.member.as_str())
}
