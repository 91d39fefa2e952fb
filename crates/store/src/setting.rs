//! Small texts that a site keeps by name: the words of its mail, its pages, the key of its cursors.

use crate::{Error, ReaderPool, Site, Tx, boxed};
use stoa_kernel::{Fault, Result, SiteId, World};
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

/// A secret of a site by its name, made on first use and the same on all nodes.
///
/// # Errors
/// What the engine says.
pub async fn secret(site: &Site, name: &'static str, world: &World) -> Result<String> {
    let text = match known(site, name).await? {
        Some(it) => it,
        None => {
            let fresh = serde_json::Value::from(world.token::<32>()).to_string();
            let made = site.write_with((site.id.clone(), fresh), move |tx, (site, fresh)| {
                boxed!(Ok(put_first(tx, site, name, fresh.clone()).await?))
            });
            made.await?
        }
    };
    serde_json::from_str(&text).map_err(Fault::internal)
}

async fn known(site: &Site, name: &'static str) -> Result<Option<String>> {
    let id = site.id.clone();
    site.read(ReaderPool::Point, move |tx| boxed!(Ok(get(tx, &id, name).await?))).await
}

pub async fn remove(tx: &mut Tx<'_>, site: &SiteId, name: &str) -> Result<(), Error> {
    let sql = "delete from stoa.setting where site = $1 and name = $2";
    tx.execute(sql, &params![site, name]).await.map(|_| ())
}
