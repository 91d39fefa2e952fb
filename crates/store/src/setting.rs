//! Small texts that a site keeps by name: the words of its mail, its pages, the key of its cursors.

use crate::{Error, Tx};
use stoa_kernel::SiteId;
use stoa_sql::params;

/// What is kept under the name.
pub async fn get(tx: &mut Tx<'_>, site: &SiteId, name: &str) -> Result<Option<String>, Error> {
    let sql = "select value from stoa.setting where site = $1 and name = $2";
    tx.row(sql, &params![site, name], |row| row.get(0)).await
}

/// Keeps a text under the name, in place of any other.
pub async fn put(tx: &mut Tx<'_>, site: &SiteId, name: &str, value: String) -> Result<(), Error> {
    let sql = "insert into stoa.setting (site, name, value) values ($1, $2, $3) \
               on conflict (site, name) do update set value = excluded.value";
    tx.execute(sql, &params![site, name, value]).await.map(|_| ())
}

/// Keeps a text under the name unless there is one, and answers the one that is there afterwards.
pub async fn put_first(tx: &mut Tx<'_>, site: &SiteId, name: &str, value: String) -> Result<String, Error> {
    let sql = "insert into stoa.setting (site, name, value) values ($1, $2, $3) on conflict (site, name) do nothing";
    tx.send(sql, params![site, name, value.clone()]).await?;
    Ok(get(tx, site, name).await?.unwrap_or(value))
}

pub async fn remove(tx: &mut Tx<'_>, site: &SiteId, name: &str) -> Result<(), Error> {
    let sql = "delete from stoa.setting where site = $1 and name = $2";
    tx.execute(sql, &params![site, name]).await.map(|_| ())
}
