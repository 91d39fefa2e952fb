//! What the catalogue has of a site: name, host names, whether it is the default, whether it was deleted; and which
//! site a host name shows.

use crate::{
    Area, DataDirectory, ReaderPool, Row, Site, SiteChange, Store, Tx, boxed,
    site_change::{apply, sandbox_delete, sandbox_restore},
    site_log,
};
use std::{collections::HashMap, sync::Arc};
use stoa_kernel::{Code, Fault, Millis, Result, SiteId};
use stoa_sql::params;

/// How long a deleted site can be restored, in milliseconds: 30 days.
pub const SITE_KEPT: Millis = 30 * 24 * 60 * 60 * 1000;
/// How far back each look for changes of other processes goes, in milliseconds.
const OVERLAP: Millis = 60_000;
/// Tables of the catalogue whose rows belong to a site.
const OWNED: [&str; 10] = [
    "host",
    "client",
    "api_key",
    "app_key",
    "person_role",
    "invite",
    "person_session",
    "person_link",
    "site_log",
    "environment_copy",
];

/// A row of the catalogue. Times are milliseconds since 1970.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiteRecord {
    pub id: SiteId,
    pub name: String,
    /// In lower case, in alphabetical order.
    pub hosts: Vec<String>,
    pub created: Millis,
    pub deleted: Option<Millis>,
    /// Whether it answers where nothing names a site; at most one does.
    pub is_default: bool,
    /// Whether it is the example site.
    pub is_demo: bool,
    /// Whether it has a SANDBOX.
    pub has_sandbox: bool,
}

/// The SANDBOX of a site is no site of its own to those who ask.
const SELECT: &str = "select id, name, created, deleted, is_default, is_demo, \
                      (select count(*) from stoa.site b where b.sandbox_of = s.id and b.deleted is null) \
                      from stoa.site s where sandbox_of is null";

impl Store {
    /// Every site that was not deleted, or every one that was, the oldest first.
    pub async fn site_list(&self, is_deleted: bool) -> Result<Vec<SiteRecord>> {
        let read = self.catalog().read(ReaderPool::Scan, move |tx| {
            boxed!({
                let which = if is_deleted { "> 0" } else { "is null" };
                let sql = format!("{SELECT} and deleted {which} order by number");
                let mut sites = tx.rows(&sql, &[], from_row).await?;
                let places: HashMap<SiteId, usize> =
                    sites.iter().enumerate().map(|(n, it)| (it.id.clone(), n)).collect();
                let hosts = "select site, host from stoa.host order by host";
                for (site, host) in tx.rows(hosts, &[], |row| Ok((SiteId::from(row.text(0)?), row.get(1)?))).await? {
                    if let Some(place) = places.get(&site) {
                        sites[*place].hosts.push(host);
                    }
                }
                Ok(sites)
            })
        });
        read.await
    }

    /// What the catalogue has of a site that was not deleted.
    ///
    /// # Errors
    /// [`Code::SiteUnknown`].
    pub async fn site_record(&self, id: &SiteId) -> Result<SiteRecord> {
        let found = self.site_list(false).await?.into_iter().find(|it| it.id == *id);
        found.ok_or_else(|| Fault::new(Code::SiteUnknown))
    }

    /// Whether it is the example site; a site that isn't there is not.
    pub async fn site_is_demo(&self, id: &SiteId) -> Result<bool> {
        let id = id.clone();
        let read = self.catalog().read(ReaderPool::Point, move |tx| {
            boxed!({
                let sql = "select is_demo from stoa.site where id = $1";
                Ok(tx.row(sql, &params![&id], |row| row.get::<i64>(0)).await?)
            })
        });
        Ok(read.await? == Some(1))
    }

    /// Changes a site, all of it or nothing.
    ///
    /// # Errors
    /// [`Code::Validation`] for names that can't be one; [`Code::AlreadyExists`] for a host name that shows another
    /// site; [`Code::NotFound`] for a host name to be removed that isn't there; [`Code::SiteUnknown`].
    pub async fn site_update(&self, id: &SiteId, change: SiteChange, now: Millis) -> Result<SiteRecord> {
        let written = self.catalog().write_with((id.clone(), change.checked()?), move |tx, (id, change)| {
            boxed!({
                let sql = "select 1 from stoa.site where id = $1 and deleted is null and sandbox_of is null";
                tx.row(sql, &params![id], |_| Ok(())).await?.ok_or_else(|| Fault::new(Code::SiteUnknown))?;
                apply(tx, id, change, now).await
            })
        });
        written.await?;
        let record = self.site_record(id).await?;
        self.rename_open(id, &record.name);
        Ok(record)
    }

    /// Deletes a site: nothing answers for it any more, on other nodes after a second or so. Its data stay for [`SITE_KEPT`].
    ///
    /// # Errors
    /// [`Code::SiteUnknown`].
    pub async fn site_delete(&self, id: &SiteId, now: Millis) -> Result<()> {
        let written = self.catalog().write_with(id.clone(), move |tx, id| {
            boxed!({
                let sql = "update stoa.site set deleted = $1, changed = $1, is_default = 0 \
                           where id = $2 and deleted is null and sandbox_of is null";
                if tx.execute(sql, &params![now, id]).await? == 0 {
                    return Err(Fault::new(Code::SiteUnknown));
                }
                Ok(sandbox_delete(tx, id, now).await?)
            })
        });
        let sandbox = written.await?;
        self.forget(id);
        sandbox.iter().for_each(|it| self.forget(it));
        // Whoever was let in for long is asked for again.
        self.withdrawals().announce(Area::Identity).await
    }

    /// Brings back a site that was deleted. Host names that show another site by now stay with that one; its log begins
    /// a new epoch.
    ///
    /// # Errors
    /// [`Code::SiteUnknown`] when no such site was deleted, or too long ago.
    pub async fn site_restore(&self, id: &SiteId, now: Millis) -> Result<SiteRecord> {
        let written = self.catalog().write_with(id.clone(), move |tx, id| {
            boxed!({
                sandbox_restore(tx, id, now).await?;
                let sql = "update stoa.site set deleted = null, changed = $1 \
                           where id = $2 and deleted > $3 and sandbox_of is null";
                if tx.execute(sql, &params![now, id, now - SITE_KEPT]).await? == 0 {
                    return Err(Fault::new(Code::SiteUnknown));
                }
                Ok(site_log::distrust(tx, id).await?)
            })
        });
        written.await?;
        let settle = async { self.settle_log(&*self.site(id).await?, false).await };
        if let Err(fault) = settle.await {
            // It is done when the site is opened next.
            tracing::warn!(site = %id, "the log of a site that was restored can't begin its epoch: {fault:?}");
        }
        self.site_record(id).await
    }

    /// Removes for good what was deleted longer ago than [`SITE_KEPT`], and answers how many sites that were.
    pub async fn sites_purge(&self, now: Millis) -> Result<usize> {
        let read = self.catalog().read(ReaderPool::Scan, move |tx| {
            boxed!({
                let sql = "select id from stoa.site where deleted > 0 and deleted <= $1 order by number";
                Ok(tx.rows(sql, &params![now - SITE_KEPT], |row| Ok(SiteId::from(row.text(0)?))).await?)
            })
        });
        let over = read.await?;
        for id in &over {
            self.forget(id);
            self.purge_data(id).await?;
            // The row of the site is changed last: by it an interrupted purge is taken up again. It stays, so that
            // the site's number is never given to another one.
            let written = self.catalog().write_with(id.clone(), |tx, id| {
                boxed!({
                    for table in OWNED {
                        tx.execute(&format!("delete from stoa.{table} where site = $1"), &params![id]).await?;
                    }
                    tx.execute("update stoa.site set name = '', deleted = 0 where id = $1", &params![id]).await?;
                    Ok(())
                })
            });
            written.await?;
        }
        Ok(over.len())
    }

    pub(crate) async fn purge_data(&self, id: &SiteId) -> Result<()> {
        match self.pool() {
            None => {
                let file = DataDirectory::site_file(self.directory().path(), id.as_str());
                for end in ["", "-wal", "-shm"] {
                    let mut path = file.clone().into_os_string();
                    path.push(end);
                    match std::fs::remove_file(&path) {
                        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                            return Err(Fault::internal(format!("{}: {error}", path.display())));
                        }
                        _ => {}
                    }
                }
                Ok(())
            }
            Some(pool) => {
                let key = id.clone();
                let sql = "select number from stoa.site where id = $1";
                let number = self.catalog().read(ReaderPool::Point, move |tx| {
                    boxed!(Ok(tx.row(sql, &params![&key], |row| row.get::<i64>(0)).await?))
                });
                match number.await? {
                    Some(number) => pool.purge_site(id.as_str(), number).await,
                    None => Ok(()),
                }
            }
        }
    }

    /// Notices what other processes on the same database changed of sites that are open here: names, deletion. To
    /// be called every second or so; where no other process can be, it does nothing.
    pub async fn sites_refresh(&self, now: Millis) -> Result<()> {
        if self.pool().is_none() {
            return Ok(());
        }
        let changed = self.catalog().read(ReaderPool::Point, move |tx| {
            boxed!({
                let sql = "select id, name, deleted from stoa.site where changed > $1";
                let each = |row: &Row<'_>| Ok((SiteId::from(row.text(0)?), row.get(1)?, row.get(2)?));
                Ok(tx.rows(sql, &params![now - OVERLAP], each).await?)
            })
        });
        let changed: Vec<(SiteId, String, Option<Millis>)> = changed.await?;
        for (id, name, deleted) in changed {
            match deleted {
                Some(_) if self.is_in_use(&id) => {
                    self.forget(&id);
                    self.withdrawals().look_again();
                }
                Some(_) => {}
                None => self.rename_open(&id, &name),
            }
        }
        Ok(())
    }

    /// The site that a host name shows: the one registered for it, else the default, else the demo, else the only
    /// one there is.
    ///
    /// # Errors
    /// [`Code::SiteUnknown`].
    pub async fn site_by_host(&self, host: &str) -> Result<Arc<Site>> {
        let host = host.to_owned();
        let read = self.catalog().read(ReaderPool::Point, move |tx| {
            boxed!({
                if let Some(id) = given_to(tx, &host).await? {
                    return Ok(Some(id));
                }
                let sql = "select id, is_default + is_demo from stoa.site where deleted is null and sandbox_of is null \
                           order by is_default desc, is_demo desc, number limit 2";
                let all: Vec<(String, i64)> = tx.rows(sql, &[], |row| Ok((row.get(0)?, row.get(1)?))).await?;
                let is_alone = all.len() == 1;
                Ok(all.into_iter().next().filter(|it| is_alone || it.1 > 0).map(|it| SiteId::from(it.0)))
            })
        });
        self.site(&read.await?.ok_or_else(|| Fault::new(Code::SiteUnknown))?).await
    }

    /// The site that a host name was given to. None where it shows one only because no other is meant, as
    /// [`Store::site_by_host`] says.
    pub async fn site_of_host(&self, host: &str) -> Result<Option<SiteId>> {
        let host = host.to_owned();
        self.catalog().read(ReaderPool::Point, move |tx| boxed!(Ok(given_to(tx, &host).await?))).await
    }
}

async fn given_to(tx: &mut Tx<'_>, host: &str) -> Result<Option<SiteId>, crate::Error> {
    let sql =
        "select h.site from stoa.host h join stoa.site s on s.id = h.site where h.host = $1 and s.deleted is null";
    tx.row(sql, &params![host.to_owned()], |row| Ok(SiteId::from(row.text(0)?))).await
}

fn from_row(row: &Row<'_>) -> Result<SiteRecord, crate::Error> {
    Ok(SiteRecord {
        id: SiteId::from(row.text(0)?),
        name: row.get(1)?,
        hosts: Vec::new(),
        created: row.get(2)?,
        deleted: row.get(3)?,
        is_default: row.get::<i64>(4)? == 1,
        is_demo: row.get::<i64>(5)? == 1,
        has_sandbox: row.get::<i64>(6)? > 0,
    })
}
