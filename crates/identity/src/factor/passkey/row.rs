//! Passkeys as they are stored.

use super::{transport::Transport, user_handle::user_handle};
use stoa_kernel::{MemberId, Millis, Result, SiteId};
use stoa_sql::params;
use stoa_store::{Row, Tx};

/// What the ids of passkeys begin with; those of other factors never do.
pub(crate) const PREFIX: &str = "passkey-";

/// A passkey of a member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Passkey {
    pub id: String,
    pub member: MemberId,
    /// By what its authenticator finds it.
    pub credential: Vec<u8>,
    /// The host of the account pages on which it was made.
    pub relying_party: String,
    /// What the member calls it.
    pub name: String,
    /// A COSE_Key.
    pub public_key: Vec<u8>,
    /// What the authenticator has counted up to; zero of those that don't count.
    pub counter: i64,
    pub is_backup_eligible: bool,
    pub is_backed_up: bool,
    /// How browsers get to it.
    pub transports: Vec<Transport>,
    pub created: Millis,
    pub used: Option<Millis>,
}

impl Passkey {
    pub(super) fn user_handle(&self, site: &SiteId) -> Vec<u8> {
        user_handle(site, &self.member)
    }
}

const COLUMNS: &str = "id, member, credential, name, public_key, counter, backup_eligible, backed_up, transports, created, used, \
                       relying_party";

fn read(row: &Row<'_>) -> std::result::Result<Passkey, stoa_store::Error> {
    Ok(Passkey {
        id: row.get(0)?,
        member: MemberId::from(row.text(1)?),
        credential: row.get(2)?,
        name: row.get(3)?,
        public_key: row.get(4)?,
        counter: row.get(5)?,
        is_backup_eligible: row.get::<i64>(6)? != 0,
        is_backed_up: row.get::<i64>(7)? != 0,
        transports: row.text(8)?.split(' ').filter_map(Transport::named).collect(),
        created: row.get(9)?,
        used: row.get(10)?,
        relying_party: row.get(11)?,
    })
}

/// All of a member, the oldest first.
pub(crate) async fn of_member(tx: &mut Tx<'_>, site: &SiteId, member: &MemberId) -> Result<Vec<Passkey>> {
    let sql = format!("select {COLUMNS} from stoa.passkey where site = $1 and member = $2 order by created, id");
    Ok(tx.rows(&sql, &params![site, member], read).await?)
}

/// How many a member has.
pub(crate) async fn count(tx: &mut Tx<'_>, site: &SiteId, member: &MemberId) -> Result<usize> {
    let sql = "select count(*) from stoa.passkey where site = $1 and member = $2";
    let count: Option<i64> = tx.row(sql, &params![site, member], |row| row.get(0)).await?;
    Ok(usize::try_from(count.unwrap_or_default()).unwrap_or_default())
}

/// The one of a site with this credential's id.
pub(super) async fn find(tx: &mut Tx<'_>, site: &SiteId, credential: &[u8]) -> Result<Option<Passkey>> {
    let sql = format!("select {COLUMNS} from stoa.passkey where site = $1 and credential = $2");
    Ok(tx.row(&sql, &params![site, credential.to_vec()], read).await?)
}

/// Writes a new one down: whether the site had none with this credential's id.
pub(super) async fn insert(tx: &mut Tx<'_>, site: &SiteId, passkey: &Passkey) -> Result<bool> {
    let sql = "insert into stoa.passkey (site, id, member, credential, name, public_key, counter, backup_eligible, backed_up, \
               transports, created, relying_party) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) \
               on conflict (site, credential) do nothing";
    let it = passkey;
    let transports = it.transports.iter().map(|it| it.name()).collect::<Vec<_>>().join(" ");
    let values = params![
        site,
        it.id.as_str(),
        &it.member,
        it.credential.clone(),
        it.name.as_str(),
        it.public_key.clone(),
        it.counter,
        i64::from(it.is_backup_eligible),
        i64::from(it.is_backed_up),
        transports,
        it.created,
        it.relying_party.as_str()
    ];
    Ok(tx.execute(sql, &values).await? == 1)
}

/// What a passkey says of itself when it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shown {
    pub counter: i64,
    pub is_backed_up: bool,
    pub at: Millis,
}

/// Notes that one was shown: whether it is there still, and its counter has grown, or it counts nothing.
pub(super) async fn advance(tx: &mut Tx<'_>, site: &SiteId, passkey: &Passkey, shown: Shown) -> Result<bool> {
    let sql = "update stoa.passkey set counter = $1, backed_up = $2, used = $3 where site = $4 and id = $5 \
               and (counter < $1 or (counter = 0 and $1 = 0))";
    let Shown { counter, is_backed_up, at } = shown;
    let values = params![counter, i64::from(is_backed_up), at, site, passkey.id.as_str()];
    Ok(tx.execute(sql, &values).await? == 1)
}

/// Gives one another name: whether the member has it.
pub(crate) async fn rename(
    tx: &mut Tx<'_>,
    site: &SiteId,
    member: &MemberId,
    (id, name): (&str, &str),
) -> Result<bool> {
    let sql = "update stoa.passkey set name = $1 where site = $2 and id = $3 and member = $4";
    Ok(tx.execute(sql, &params![name, site, id, member]).await? == 1)
}

/// Removes one: whether the member had it.
pub(crate) async fn remove(tx: &mut Tx<'_>, site: &SiteId, member: &MemberId, id: &str) -> Result<bool> {
    let sql = "delete from stoa.passkey where site = $1 and id = $2 and member = $3";
    Ok(tx.execute(sql, &params![site, id, member]).await? == 1)
}

/// Removes those of a member that were added at a time or later.
pub(crate) async fn remove_since(tx: &mut Tx<'_>, site: &SiteId, member: &MemberId, since: Millis) -> Result<()> {
    let sql = "delete from stoa.passkey where site = $1 and member = $2 and created >= $3";
    tx.send(sql, params![site, member, since]).await?;
    Ok(())
}

/// Removes all of a member: how many there were.
pub(crate) async fn remove_all(tx: &mut Tx<'_>, site: &SiteId, member: &MemberId) -> Result<u64> {
    let sql = "delete from stoa.passkey where site = $1 and member = $2";
    Ok(tx.execute(sql, &params![site, member]).await?)
}
