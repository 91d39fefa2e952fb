//! The SANDBOX of a site: a site of its own in the catalogue, which has content and nothing else, and is reached by way of
//! the site that it belongs to (decision 40).

use crate::{DataDirectory, ReaderPool, Site, Store, boxed, migrate, site_change::sandbox_delete};
use std::sync::Arc;
use stoa_kernel::{Code, Fault, Millis, Result, SiteId, World};
use stoa_sql::params;

/// Which of the two contents of a site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Environment {
    Live,
    Sandbox,
}

impl Environment {
    pub fn name(self) -> &'static str {
        match self {
            Self::Live => "LIVE",
            Self::Sandbox => "SANDBOX",
        }
    }

    /// The other one.
    pub fn other(self) -> Self {
        match self {
            Self::Live => Self::Sandbox,
            Self::Sandbox => Self::Live,
        }
    }

    pub(crate) fn parse(name: &str) -> Self {
        if name == "SANDBOX" { Self::Sandbox } else { Self::Live }
    }
}

impl Store {
    /// Makes an empty SANDBOX of a site.
    ///
    /// # Errors
    /// [`Code::AlreadyExists`] when the site has one, [`Code::SiteUnknown`] when it was deleted.
    pub async fn sandbox_create(&self, of: &Site, world: &World) -> Result<Arc<Site>> {
        let exists = || Fault::because(Code::AlreadyExists, "The site has a sandbox already.");
        if of.is_sandbox() {
            return Err(Fault::new(Code::SiteUnknown));
        }
        if self.sandbox_id(&of.id).await?.is_some() {
            return Err(exists());
        }
        let id = SiteId::from(world.uuid());
        if self.pool().is_none() {
            // As for any site.
            migrate::sqlite(&DataDirectory::site_file(self.directory().path(), id.as_str()), migrate::Scope::Site)?;
        }
        let created = self.catalog().write_alone_with((id.clone(), of.id.clone(), world.now()), |tx, (id, of, now)| {
            boxed!({
                let sql = "select name from stoa.site where id = $1 and deleted is null";
                let name: Option<String> = tx.row(sql, &params![of], |row| row.get(0)).await?;
                let name = name.ok_or_else(|| Fault::new(Code::SiteUnknown))?;
                let sql = "select 1 from stoa.site where sandbox_of = $1 and deleted is null";
                if tx.row(sql, &params![of], |_| Ok(())).await?.is_some() {
                    return Ok(false);
                }
                let sql = "insert into stoa.site (id, number, name, created, sandbox_of) \
                           select $1, coalesce(max(number), 0) + 1, $2, $3, $4 from stoa.site";
                tx.execute(sql, &params![id, name, *now, of]).await?;
                Ok(true)
            })
        });
        match created.await {
            Ok(true) => self.site_for_work(&id).await,
            refused => {
                self.purge_data(&id).await?;
                refused.and_then(|_| Err(exists()))
            }
        }
    }

    /// The SANDBOX of a site, opened, if it has one.
    ///
    /// # Errors
    /// When the catalogue can't be asked.
    pub async fn sandbox(&self, of: &Site) -> Result<Option<Arc<Site>>> {
        let Some(id) = self.sandbox_id(&of.id).await? else { return Ok(None) };
        match self.site_for_work(&id).await {
            Ok(site) => Ok(Some(site)),
            // It was deleted just now.
            Err(fault) if fault.code() == Code::SiteUnknown => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    /// Deletes the SANDBOX of a site, as a site is deleted: its data go for good later.
    ///
    /// # Errors
    /// [`Code::SandboxDisabled`] when there is none; [`Code::AlreadyExists`] while a copy is at work.
    pub async fn sandbox_delete(&self, of: &Site, now: Millis) -> Result<()> {
        let written = self.catalog().write_alone_with(of.id.clone(), move |tx, of| {
            boxed!({
                let sql = "select 1 from stoa.environment_copy where site = $1 and ended is null";
                if tx.row(sql, &params![of], |_| Ok(())).await?.is_some() {
                    return Err(Self::busy());
                }
                Ok(sandbox_delete(tx, of, now).await?)
            })
        });
        let deleted = written.await?;
        deleted.iter().for_each(|it| self.forget(it));
        if deleted.is_empty() { Err(Fault::new(Code::SandboxDisabled)) } else { Ok(()) }
    }

    /// Another copy of the site is at work.
    pub(crate) fn busy() -> Fault {
        Fault::because(Code::AlreadyExists, "A copy between the environments of the site is at work already.")
    }

    /// The ids of all sites that were not deleted, and of their SANDBOXes: for the server's own work
    /// ([`Store::site_for_work`]).
    ///
    /// # Errors
    /// When the catalogue can't be asked.
    pub async fn sites_for_work(&self) -> Result<Vec<SiteId>> {
        let read = self.catalog().read(ReaderPool::Point, |tx| {
            boxed!({
                let sql = "select id from stoa.site where deleted is null order by number";
                Ok(tx.rows(sql, &[], |row| Ok(SiteId::from(row.text(0)?))).await?)
            })
        });
        read.await
    }

    async fn sandbox_id(&self, of: &SiteId) -> Result<Option<SiteId>> {
        let of = of.clone();
        let read = self.catalog().read(ReaderPool::Point, move |tx| {
            boxed!({
                let sql = "select id from stoa.site where sandbox_of = $1 and deleted is null";
                Ok(tx.row(sql, &params![&of], |row| Ok(SiteId::from(row.text(0)?))).await?)
            })
        });
        read.await
    }
}
