//! Codes that are sent, to be shown as a second factor: to a member's address (decision 46), or to a telephone (decision 49); and
//! those that show that another address is a member's (decision 58).
//!
//! A code belongs to what it was sent for: one sign-in, one session that changes something, one factor that is turned on. It
//! lives ten minutes, counts once, and only while the account has the address, or the number, to which it went. Its row stands
//! among those of the codes that prove addresses, so messages and wrong ones are counted together, but neither finds the other:
//! name and digest are made of other texts. A code of one kind is none of another. One that was shown is not counted any more in
//! the hour: who asked for it has the mailbox, or the telephone.

use crate::{
    Core,
    defence::code_limit::{self, WINDOW},
    factor::{
        FactorType, guard,
        row::{self, Factor},
    },
    member::Member,
};
use stoa_kernel::{Email, MemberId, Millis, Result, Secret, SessionId, SiteId, TokenHash};
use stoa_sql::params;
use stoa_store::Tx;

/// Life of a code.
pub(crate) const LIFE: Millis = 10 * 60_000;
/// Wrong codes for one that was sent.
const ATTEMPTS: i64 = 10;

/// What a code is of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sent {
    member: MemberId,
    name: String,
    /// The address without its case, or the id of the factor whose number never changes; another address as it was written.
    to: String,
}

impl Sent {
    /// Of a sign-in or a session by this name, by a factor that counts.
    pub(super) fn of(member: &Member, factor: &Factor, name: &str) -> Self {
        match factor.factor() {
            FactorType::Email => Self { name: name.to_owned(), ..Self::first(member, factor) },
            _ => Self { name: format!("{} {name}", factor.id), ..Self::first(member, factor) },
        }
    }

    /// The first one of a factor.
    pub(super) fn first(member: &Member, factor: &Factor) -> Self {
        let to = match factor.factor() {
            FactorType::Email => Email::fold(&member.email),
            _ => factor.id.clone(),
        };
        Self { member: member.id.clone(), name: factor.id.clone(), to }
    }
}

/// What a code is named that a session asks for which changes something.
pub(super) fn of_session(session: &str) -> String {
    format!("session {session}")
}

/// Makes a code, inside a transaction. The one that was sent for the same before ends.
///
/// # Errors
/// [`stoa_kernel::Code::Throttled`] when the member got too many messages.
pub(super) async fn put(core: &Core, tx: &mut Tx<'_>, site: &SiteId, sent: &Sent) -> Result<String> {
    let Sent { member, name, to } = sent;
    let (now, row) = (core.now(), row_hash(member, name));
    // Many at once are counted one after the other.
    guard::lock(tx, site, member).await?;
    code_limit::allow_message(tx, site, member, now).await?;
    // The one before keeps its own row and moment, so that it goes out of the hour when it does; nothing is found under its name.
    let sql = "update stoa.verification set hash = $1, code_expires = 0 where site = $2 and hash = $3";
    tx.send(sql, params![TokenHash::of(&core.world().token::<32>()), site, &row]).await?;
    let code = core.world().six_digits();
    let sql = "insert into stoa.verification (site, hash, member, email_folded, code_hash, code_expires, attempts, \
               messages, created, expires, signs_in) values ($1, $2, $3, $4, $5, $6, 0, 1, $7, $8, 0)";
    let digest = code_hash(member, name, &code);
    tx.send(sql, params![site, row, member, to.as_str(), digest, now + LIFE, now, now + WINDOW]).await?;
    Ok(code)
}

/// Makes a code that goes to another address which a member wants, inside a transaction. It is of the session that asks, and the
/// one before ends, whatever address that went to.
///
/// # Errors
/// As [`put`].
pub(crate) async fn put_to_address(
    core: &Core,
    tx: &mut Tx<'_>,
    site: &SiteId,
    (member, session): (&MemberId, &SessionId),
    email: &Email,
) -> Result<String> {
    // As it was written: two mailboxes may be one without their case.
    let sent = Sent { member: member.clone(), name: of_address(session), to: email.as_str().to_owned() };
    put(core, tx, site, &sent).await
}

/// Uses such a code up inside a transaction: the address to which it went, as it was written; nothing when it was wrong, which is
/// counted.
pub(crate) async fn take_at_address(
    tx: &mut Tx<'_>,
    site: &SiteId,
    (member, session): (&MemberId, &SessionId),
    code: &Secret,
    now: Millis,
) -> Result<Option<String>> {
    take_at(tx, site, (member, &of_address(session)), code, now).await
}

fn of_address(session: &SessionId) -> String {
    format!("address {session}")
}

/// Uses a code up inside a transaction: whether it was right. A wrong one is counted; a right one that went to an address which
/// the account has no more is used up without being counted.
pub(super) async fn take(tx: &mut Tx<'_>, site: &SiteId, sent: &Sent, code: &Secret, now: Millis) -> Result<bool> {
    let went = take_at(tx, site, (&sent.member, &sent.name), code, now).await?;
    Ok(went.is_some_and(|it| it == sent.to))
}

/// The same, with where it went: nothing for a wrong one.
async fn take_at(
    tx: &mut Tx<'_>,
    site: &SiteId,
    (member, name): (&MemberId, &str),
    code: &Secret,
    now: Millis,
) -> Result<Option<String>> {
    let digits: String = code.expose().chars().filter(|it| !it.is_whitespace()).collect();
    let (row, digest) = (row_hash(member, name), code_hash(member, name, &digits));
    let sql = "delete from stoa.verification where site = $1 and hash = $2 and member = $3 and code_hash = $4 \
               and code_expires > $5 and attempts < $6 returning email_folded";
    let values = params![site, &row, member, digest, now, ATTEMPTS];
    let went: Option<String> = tx.row(sql, &values, |row| row.get(0)).await?;
    if went.is_none() {
        let sql = "update stoa.verification set attempts = attempts + 1 where site = $1 and hash = $2 and member = $3";
        tx.send(sql, params![site, &row, member]).await?;
    }
    Ok(went)
}

/// Takes a code of a kind that counts, sent under a name; notes that it was used.
pub(super) async fn take_of(
    tx: &mut Tx<'_>,
    site: &SiteId,
    member: &Member,
    (factor, name): (FactorType, &str),
    code: &Secret,
    now: Millis,
) -> Result<bool> {
    let Some(factor) = row::confirmed(tx, site, &member.id, factor).await? else { return Ok(false) };
    if !take(tx, site, &Sent::of(member, &factor, name), code, now).await? {
        return Ok(false);
    }
    row::used(tx, site, &factor.id, now).await?;
    Ok(true)
}

fn row_hash(member: &MemberId, name: &str) -> TokenHash {
    TokenHash::of(&format!("second factor of {member}: {name}"))
}

fn code_hash(member: &MemberId, name: &str, code: &str) -> TokenHash {
    TokenHash::of(&format!("code {code} of {member}: {name}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::member::profile::Profile;

    #[test]
    fn code_is_of_one_member_and_name() {
        let (anna, ben) = (MemberId::from("anna"), MemberId::from("ben"));
        let of = |member: &MemberId, name: &str, code: &str| {
            (row_hash(member, name).to_vec(), code_hash(member, name, code).to_vec())
        };
        let right = of(&anna, "a", "123456");
        for (other, what) in [(of(&ben, "a", "123456"), "member"), (of(&anna, "b", "123456"), "name")] {
            assert!(other.0 != right.0 && other.1 != right.1, "{what}");
        }
        assert_ne!(of(&anna, "a", "123457").1, right.1);
    }

    #[test]
    fn code_is_of_one_factor() {
        let anna = Member::new(MemberId::from("anna"), "Anna@example.org", Profile::default(), 0);
        let factor = |id: &str| Factor::new((id.to_owned(), String::new()), Vec::new(), 0);
        let mail = factor(&row::email_id(&anna.id));
        let phones = ["sms-1", "sms-2", "call-1", "push-1"].map(factor);
        let all: Vec<Sent> = [&mail]
            .into_iter()
            .chain(&phones)
            .flat_map(|it| [Sent::first(&anna, it), Sent::of(&anna, it, "flow a"), Sent::of(&anna, it, "flow b")])
            .collect();
        for (at, one) in all.iter().enumerate() {
            assert!(all.iter().skip(at + 1).all(|other| other.name != one.name), "{one:?}");
        }
        assert_eq!((all[0].to.as_str(), all[3].to.as_str()), ("anna@example.org", "sms-1"));
    }
}
