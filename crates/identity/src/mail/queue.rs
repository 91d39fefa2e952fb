//! The queue of what is to be sent: rows written in the transaction that causes them.
//!
//! A row is either a message or a question that the background has to answer first, so that a request costs
//! the same whatever the answer is: for whom a recovery link is, which owners are notified of a member.

use crate::{Core, encryption::MARK, mail::message::Message};
use serde::{Deserialize, Serialize};
use stoa_kernel::{Fault, MemberId, Millis, Result, SiteId};
use stoa_sql::params;
use stoa_store::{ReaderPool, Row, Site, Tx, boxed};

/// A row that was taken is delivered within this time, or may be taken again.
const LEASE: Millis = 5 * 60_000;

/// Recovery links that may be asked for and wait, in one process.
pub(crate) const WAITING: usize = 1_000;

/// One message to one person.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct QueuedMessage {
    pub to: String,
    /// The language that was asked for; the site's setting says which of these there are words in.
    pub language: Option<String>,
    /// That of the person's profile.
    #[serde(default)]
    pub own_language: Option<String>,
    pub message: Message,
}

/// What a row asks for.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Task {
    #[serde(rename = "letter")]
    Message(QueuedMessage),
    /// A recovery link is asked for, for an address that may be a member's.
    Recovery {
        email: String,
        #[serde(flatten)]
        options: LinkOptions,
    },
    /// The same for an address that may be that of somebody who runs the site.
    OperatorRecovery { email: String, language: Option<String> },
    /// A member waits for the owners' answer.
    Approval,
}

/// What is asked of a link in a message.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct LinkOptions {
    pub language: Option<String>,
    pub return_url: Option<String>,
}

/// What a row asks of others than the mail server; `task` is its id.
#[derive(Debug, Clone)]
pub(crate) enum Question {
    Recovery { task: String, email: String, options: LinkOptions },
    OperatorRecovery { task: String, email: String, language: Option<String> },
    Approval { task: String, member: MemberId },
}

impl Task {
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Message(it) => it.message.kind(),
            Self::Recovery { .. } | Self::OperatorRecovery { .. } => RECOVERY,
            Self::Approval => "approval",
        }
    }

    fn life(&self, now: Millis) -> Millis {
        match self {
            Self::Message(it) => it.message.life(now),
            Self::Recovery { .. } | Self::OperatorRecovery { .. } => 60 * 60_000,
            Self::Approval => 3 * 24 * 60 * 60_000,
        }
    }
}

/// The kind of [`Task::Recovery`] and [`Task::OperatorRecovery`]: no request waits for one, so that its time tells
/// nothing.
pub(super) const RECOVERY: &str = "recovery_asked";

/// A row that was taken.
pub(super) struct Taken {
    pub id: String,
    pub kind: String,
    pub member: Option<MemberId>,
    pub encrypted: Vec<u8>,
    pub created: Millis,
    pub expires: Millis,
    pub attempts: i64,
}

/// Records inside a transaction what is to be sent; after the commit the caller says so with
/// [`crate::mail::deliver_soon`].
pub(crate) async fn enqueue(
    core: &Core,
    tx: &mut Tx<'_>,
    site: &SiteId,
    member: Option<&MemberId>,
    task: &Task,
) -> Result<()> {
    // A member asks the owners once at a time, however often they sign in.
    let id = match (task, member) {
        (Task::Approval, Some(member)) => format!("approval-{member}"),
        _ => core.world().uuid(),
    };
    let (now, kind) = (core.now(), task.kind());
    let text = serde_json::to_string(task).map_err(Fault::internal)?;
    let encrypted = core.mail_queue.cipher.encrypt(core.world(), &associated_data(site, &id, kind), &text)?;
    let sql = "insert into stoa.mail (site, id, kind, member, sealed, created, due, expires, attempts) \
               values ($1, $2, $3, $4, $5, $6, $6, $7, 0) on conflict (site, id) do nothing";
    tx.send(sql, params![site, id, kind, member, encrypted, now, now + task.life(now)]).await?;
    Ok(())
}

pub(super) fn associated_data(site: &SiteId, id: &str, kind: &str) -> String {
    format!("{site} {id} {kind}")
}

/// Takes so many of what is due, all or without [`RECOVERY`]; it comes back when it is not finished in time.
pub(super) async fn take(tx: &mut Tx<'_>, site: &SiteId, now: Millis, all: bool, count: i64) -> Result<Vec<Taken>> {
    let sql = "update stoa.mail set due = $1, attempts = attempts + 1 where site = $2 and id in \
               (select id from stoa.mail where site = $2 and due <= $3 and kind <> $4 order by due, id limit $5) \
               and due <= $3 returning id, kind, member, sealed, created, expires, attempts";
    let read = |row: &Row<'_>| {
        let member: Option<String> = row.get(2)?;
        Ok(Taken {
            id: row.get(0)?,
            kind: row.get(1)?,
            member: member.map(MemberId::from),
            encrypted: row.get(3)?,
            created: row.get(4)?,
            expires: row.get(5)?,
            attempts: row.get(6)?,
        })
    };
    let but = if all { "" } else { RECOVERY };
    Ok(tx.rows(sql, &params![now + LEASE, site, now, but, count], read).await?)
}

/// Forgets what was delivered or answered; `false` when another has.
pub(crate) async fn done(tx: &mut Tx<'_>, site: &SiteId, id: &str) -> Result<bool> {
    let gone = tx.execute("delete from stoa.mail where site = $1 and id = $2", &params![site, id]).await?;
    Ok(gone == 1)
}

/// Puts a row back until `due`, or gives it up: then its content is forgotten and why is kept.
pub(super) async fn failed(
    tx: &mut Tx<'_>,
    site: &SiteId,
    taken: &Taken,
    due: Option<Millis>,
    error: &str,
) -> Result<()> {
    // What it says stays as it is now: it may be under another key than when it was taken.
    let set = if due.is_some() { "" } else { "sealed = null, " };
    let sql = format!("update stoa.mail set {set}due = $1, error = $2 where site = $3 and id = $4 and attempts = $5");
    tx.send(&sql, params![due, error, site, &taken.id, taken.attempts]).await?;
    Ok(())
}

/// Messages that a rotation of keys looks at in one piece.
const PIECE: i64 = 100;

/// Puts what waits under the current key, and answers how many messages that were. What is taken, delivered or given up
/// meanwhile stays so. What doesn't open stays as it is.
pub(crate) async fn reseal(core: &Core, site: &Site) -> Result<u64> {
    let (cipher, mut after, mut sealed) = (&core.mail_queue.cipher, String::new(), 0);
    loop {
        let found = others(site, cipher.mark(), after).await?;
        let Some(last) = found.last() else { return Ok(sealed) };
        after = last.id.clone();
        let mut renewed = Vec::with_capacity(found.len());
        for OldMessage { id, kind, encrypted } in found {
            let about = associated_data(&site.id, &id, &kind);
            if let Some(text) = cipher.decrypt(&about, &encrypted) {
                renewed.push((id, encrypted, cipher.encrypt(core.world(), &about, &text)?));
            }
        }
        let put = site.append_with((site.id.clone(), renewed), |tx, (site, renewed)| {
            boxed!({
                let sql = "update stoa.mail set sealed = $1 where site = $2 and id = $3 and sealed = $4";
                let mut count = 0;
                for (id, old, new) in renewed {
                    count += tx.execute(sql, &params![new.clone(), site, id, old.clone()]).await?;
                }
                Ok(count)
            })
        });
        sealed += put.await?;
    }
}

/// How many messages wait under older keys.
pub(crate) async fn left(core: &Core, site: &Site) -> Result<i64> {
    let (id, mark) = (site.id.clone(), core.mail_queue.cipher.mark());
    let read = site.read(ReaderPool::Point, move |tx| {
        boxed!({
            let sql = format!("select count(*) {OTHERS}");
            let count = tx.row(&sql, &params![&id, mark], |row| row.get::<i64>(0)).await?;
            Ok(count.unwrap_or_default())
        })
    });
    read.await
}

/// A message under an older key.
struct OldMessage {
    id: String,
    kind: String,
    encrypted: Vec<u8>,
}

/// Messages of a site `$1` that don't begin with the mark `$2` of the current key.
const OTHERS: &str = "from stoa.mail where site = $1 and sealed is not null and substr(sealed, 1, 9) <> $2";
const _: () = assert!(MARK == 9);

/// Some of them, in the order of their ids, behind one.
async fn others(site: &Site, mark: Vec<u8>, after: String) -> Result<Vec<OldMessage>> {
    let id = site.id.clone();
    let read = site.read(ReaderPool::Point, move |tx| {
        boxed!({
            let sql = format!("select id, kind, sealed {OTHERS} and id > $3 order by id limit $4");
            let each = |row: &Row<'_>| Ok(OldMessage { id: row.get(0)?, kind: row.get(1)?, encrypted: row.get(2)? });
            Ok(tx.rows(&sql, &params![&id, mark, after, PIECE], each).await?)
        })
    });
    read.await
}

/// When the next row is due; nothing when none waits.
pub(super) async fn next_due(tx: &mut Tx<'_>, site: &SiteId) -> Result<Option<Millis>> {
    let sql = "select due from stoa.mail where site = $1 and due is not null order by due limit 1";
    Ok(tx.row(sql, &params![site], |row| row.get(0)).await?)
}
