//! Codes that are sent to a member's address, to be shown as a second factor (decision 46).
//!
//! A code belongs to what it was sent for: one sign-in, one session that changes something, one factor that is turned on. It
//! lives ten minutes, counts once, and only while the account has the address to which it went. Its row stands among those of
//! the codes that prove addresses, so messages and wrong ones are counted together, but neither finds the other: name and
//! digest are made of other texts. One that was shown is not counted any more: who asked for it reads the mailbox.

use crate::{
    Core,
    defence::code_limit::{self, WINDOW},
    factor::guard,
    mail::{Message, notice},
    member::Member,
};
use stoa_kernel::{Email, MemberId, Millis, Result, Secret, SiteId, TokenHash};
use stoa_sql::params;
use stoa_store::Tx;

/// Life of a code.
pub(super) const LIFE: Millis = 10 * 60_000;
/// Wrong codes for one that was sent.
const ATTEMPTS: i64 = 10;

/// A code as somebody shows it.
#[derive(Debug, Clone)]
pub(super) struct MailedCode {
    row: TokenHash,
    code: TokenHash,
}

impl MailedCode {
    /// One that would have been sent to the member under this name.
    pub(super) fn of(member: &MemberId, name: &str, code: &Secret) -> Self {
        let digits: String = code.expose().chars().filter(|it| !it.is_whitespace()).collect();
        Self { row: row_hash(member, name), code: code_hash(member, name, &digits) }
    }
}

/// What a code is named that a session asks for which changes something.
pub(super) fn of_session(session: &str) -> String {
    format!("session {session}")
}

/// Sends a code under a name, inside a transaction. The one that was sent under it before ends.
///
/// # Errors
/// [`stoa_kernel::Code::Throttled`] when the member got too many messages.
pub(crate) async fn send(core: &Core, tx: &mut Tx<'_>, site: &SiteId, member: &Member, name: &str) -> Result<()> {
    let (now, row) = (core.now(), row_hash(&member.id, name));
    // Many at once are counted one after the other.
    guard::lock(tx, site, &member.id).await?;
    code_limit::allow_message(tx, site, &member.id, now).await?;
    // The one before keeps its own row and moment, so that it goes out of the hour when it does; nothing is found under its name.
    let sql = "update stoa.verification set hash = $1, code_expires = 0 where site = $2 and hash = $3";
    tx.send(sql, params![TokenHash::of(&core.world().token::<32>()), site, &row]).await?;
    let code = core.world().six_digits();
    let sql = "insert into stoa.verification (site, hash, member, email_folded, code_hash, code_expires, attempts, \
               messages, created, expires, signs_in) values ($1, $2, $3, $4, $5, $6, 0, 1, $7, $8, 0)";
    let values = params![
        site,
        row,
        &member.id,
        Email::fold(&member.email),
        code_hash(&member.id, name, &code),
        now + LIFE,
        now,
        now + WINDOW
    ];
    tx.send(sql, values).await?;
    notice::send(core, tx, site, member, Message::SecondFactor { code }).await
}

/// Uses a code up inside a transaction: whether it was right. A wrong one is counted.
pub(super) async fn take(
    tx: &mut Tx<'_>,
    site: &SiteId,
    member: &Member,
    shown: &MailedCode,
    now: Millis,
) -> Result<bool> {
    let sql = "delete from stoa.verification where site = $1 and hash = $2 and member = $3 and email_folded = $4 \
               and code_hash = $5 and code_expires > $6 and attempts < $7";
    let folded = Email::fold(&member.email);
    let values = params![site, &shown.row, &member.id, folded, &shown.code, now, ATTEMPTS];
    if tx.execute(sql, &values).await? == 1 {
        return Ok(true);
    }
    let sql = "update stoa.verification set attempts = attempts + 1 where site = $1 and hash = $2 and member = $3";
    tx.send(sql, params![site, &shown.row, &member.id]).await?;
    Ok(false)
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

    #[test]
    fn code_is_of_one_member_and_name() {
        let (anna, ben) = (MemberId::from("anna"), MemberId::from("ben"));
        let of = |member: &MemberId, name: &str, code: &str| {
            let shown = MailedCode::of(member, name, &Secret::new(code));
            (shown.row.to_vec(), shown.code.to_vec())
        };
        let right = of(&anna, "a", "123456");
        assert_eq!(of(&anna, "a", " 123 456 "), right);
        for (other, what) in [(of(&ben, "a", "123456"), "member"), (of(&anna, "b", "123456"), "name")] {
            assert!(other.0 != right.0 && other.1 != right.1, "{what}");
        }
        assert_ne!(of(&anna, "a", "123457").1, right.1);
    }
}
