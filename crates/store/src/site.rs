//! Opening the catalogue and the sites in it.

use crate::{DataDirectory, Database, Outbox, ReaderPool, boxed, migrate, postgres::Postgres};
use parking_lot::Mutex;
use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{Arc, Weak},
};
use stoa_kernel::{Code, Fault, Result, SiteId, World};
use stoa_sql::params;

/// Where the data is.
#[derive(Debug, Clone)]
pub struct Config {
    pub data: PathBuf,
    /// `postgres://…`; without it every site is a SQLite file in `data`.
    pub database_url: Option<String>,
    /// Connections to PostgreSQL.
    pub connections: usize,
    /// Sites that stay open without being used: on SQLite each has a file with a thread and connections, on
    /// PostgreSQL a site costs nothing. Those in use are open beside them.
    pub open_sites: usize,
}

impl Config {
    /// The default of [`Config::open_sites`].
    pub const OPEN_SITES: usize = 256;
}

/// Everything a process has open: the catalogue and its sites.
pub struct Store {
    directory: DataDirectory,
    catalog: Database,
    pool: Option<Arc<Postgres>>,
    open: Mutex<OpenSites>,
    opening: tokio::sync::Mutex<()>,
}

/// One site: the unit of everything.
pub struct Site {
    pub id: SiteId,
    /// Internal number, part of table names on PostgreSQL.
    pub number: i64,
    pub name: String,
    /// Where work puts for a while what doesn't fit into memory: the data directory.
    pub scratch: PathBuf,
    database: Database,
    news: tokio::sync::Notify,
    me: Weak<Site>,
}

impl Site {
    /// Another handle on this site, for work that outlives a request.
    pub fn shared(&self) -> Option<Arc<Self>> {
        self.me.upgrade()
    }

    /// Its jobs and events.
    pub fn outbox(&self) -> Outbox<'_> {
        Outbox::new(&self.id, &self.database, &self.news)
    }
}

impl std::ops::Deref for Site {
    type Target = Database;
    fn deref(&self) -> &Database {
        &self.database
    }
}

/// Sites in use, and those used last, which stay open.
struct OpenSites {
    known: HashMap<SiteId, Known>,
    /// How many may stay open, and how many do.
    most: usize,
    kept: usize,
    /// Counts uses.
    tick: u64,
}

/// A site that is open, or was a moment ago.
struct Known {
    site: Weak<Site>,
    /// Keeps it open.
    kept: Option<Arc<Site>>,
    /// The turn of its last use.
    used: u64,
}

impl Store {
    /// Takes the data directory's lock, migrates what is older and opens the catalogue.
    pub async fn open(config: &Config) -> Result<Self> {
        let directory = DataDirectory::hold(&config.data)?;
        let (catalog, pool) = match &config.database_url {
            None => {
                let file = DataDirectory::catalog_file(directory.path());
                migrate::sqlite(&file, migrate::Scope::Catalog)?;
                (Database::sqlite(&file)?, None)
            }
            Some(url) => {
                let pool = Arc::new(Postgres::connect(url, config.connections)?);
                migrate::postgres(&pool).await?;
                (Database::postgres(pool.clone(), 0), Some(pool))
            }
        };
        let open = Mutex::new(OpenSites { known: HashMap::new(), most: config.open_sites, kept: 0, tick: 0 });
        Ok(Self { directory, catalog, pool, open, opening: tokio::sync::Mutex::default() })
    }

    /// Connects to PostgreSQL once and answers its version, changing nothing.
    pub async fn probe(url: &str) -> Result<String> {
        let pool = Postgres::connect(url, 1)?;
        let client = pool.client().await?;
        crate::postgres::check_encoding(&client).await?;
        crate::postgres::version(&client).await
    }

    /// What must be known before a site is open: sites, hosts, clients, keys, operators, signing keys.
    pub fn catalog(&self) -> &Database {
        &self.catalog
    }

    pub fn directory(&self) -> &DataDirectory {
        &self.directory
    }

    /// Makes an empty site.
    pub async fn site_create(&self, name: &str, world: &World) -> Result<Arc<Site>> {
        let id = SiteId::from(world.uuid());
        if self.pool.is_none() {
            // The file comes first: without its row in the catalogue it belongs to no site and does no harm.
            migrate::sqlite(&DataDirectory::site_file(self.directory.path(), id.as_str()), migrate::Scope::Site)?;
        }
        let created = self.catalog.write_with((id.clone(), name.to_owned(), world.now()), |tx, (id, name, now)| {
            boxed!({
                let sql = "insert into stoa.site (id, number, name, created) \
                           select $1, coalesce(max(number), 0) + 1, $2, $3 from stoa.site";
                tx.send(sql, params![id, name, *now]).await?;
                Ok(())
            })
        });
        created.await?;
        self.site(&id).await
    }

    /// Lets a host name show a site; a name shows one site only.
    pub async fn host_add(&self, site: &SiteId, host: &str) -> Result<()> {
        let added = self.catalog.write_with((site.clone(), host.to_ascii_lowercase()), |tx, (site, host)| {
            boxed!({
                let sql = "insert into stoa.host (host, site) values ($1, $2) on conflict (host) do nothing";
                match tx.execute(sql, &params![host, site]).await? {
                    0 => Err(Fault::because(Code::AlreadyExists, "this host name already shows a site")),
                    _ => Ok(()),
                }
            })
        });
        added.await
    }

    /// The site, opened if it is not. [`Code::SiteUnknown`] when the catalogue does not have it.
    pub async fn site(&self, id: &SiteId) -> Result<Arc<Site>> {
        if let Some(site) = self.open.lock().kept(id) {
            return Ok(site);
        }
        // One at a time, so that a file is not opened twice.
        let _guard = self.opening.lock().await;
        let in_use = self.open.lock().in_use(id);
        let site = match in_use {
            Some(site) => site,
            None => self.open_site(id).await?,
        };
        let over = self.open.lock().keep(site.clone());
        if let Some(over) = over {
            // Closing waits for a thread and for the disk, unless a request uses the site and closes it later.
            let _ = tokio::task::spawn_blocking(move || drop(over)).await;
        }
        Ok(site)
    }

    async fn open_site(&self, id: &SiteId) -> Result<Arc<Site>> {
        let key = id.clone();
        let found = self
            .catalog
            .read(ReaderPool::Point, move |tx| {
                boxed!({
                    let sql = "select number, name from stoa.site where id = $1";
                    Ok(tx.row(sql, &params![&key], |row| Ok((row.get(0)?, row.get(1)?))).await?)
                })
            })
            .await?;
        let (number, name): (i64, String) = found.ok_or_else(|| Fault::new(Code::SiteUnknown))?;
        let database = match &self.pool {
            Some(pool) => Database::postgres(pool.clone(), number),
            None => {
                let file = DataDirectory::site_file(self.directory.path(), id.as_str());
                migrate::sqlite(&file, migrate::Scope::Site)?;
                Database::sqlite(&file)?
            }
        };
        Ok(Arc::new_cyclic(|me| Site {
            id: id.clone(),
            number,
            name,
            scratch: self.directory.path().to_owned(),
            database,
            news: tokio::sync::Notify::new(),
            me: me.clone(),
        }))
    }

    /// The sites that are open in this process.
    pub fn open_sites(&self) -> Vec<Arc<Site>> {
        self.open.lock().known.values().filter_map(|it| it.site.upgrade()).collect()
    }

    /// All sites, oldest first: id and name.
    pub async fn sites(&self) -> Result<Vec<(SiteId, String)>> {
        self.catalog
            .read(ReaderPool::Point, |tx| {
                boxed!({
                    let sql = "select id, name from stoa.site order by number";
                    let rows = tx.rows(sql, &[], |row| Ok((SiteId::from(row.text(0)?), row.get(1)?))).await?;
                    Ok(rows)
                })
            })
            .await
    }

    /// The site that a host name shows: the one registered for it, else the only one there is.
    pub async fn site_by_host(&self, host: &str) -> Result<Arc<Site>> {
        let host = host.to_owned();
        let found = self
            .catalog
            .read(ReaderPool::Point, move |tx| {
                boxed!({
                    let sql = "select site from stoa.host where host = $1";
                    if let Some(id) = tx.row(sql, &params![&host], |row| row.get::<String>(0)).await? {
                        return Ok(Some(id));
                    }
                    let sql = "select id from stoa.site order by number limit 2";
                    let all = tx.rows(sql, &[], |row| row.get::<String>(0)).await?;
                    Ok(if all.len() == 1 { all.into_iter().next() } else { None })
                })
            })
            .await?;
        self.site(&SiteId::from(found.ok_or_else(|| Fault::new(Code::SiteUnknown))?)).await
    }

    /// Whether the database answers: readiness.
    pub async fn ping(&self) -> Result<()> {
        self.catalog
            .read(ReaderPool::Point, |tx| boxed!(Ok(tx.row("select 1", &[], |_| Ok(())).await.map(|_| ())?)))
            .await
    }

    /// Lets go of connections; open SQLite files close when their last user is gone.
    pub fn close(&self) {
        let kept = self.open.lock().let_all_go();
        drop(kept);
        if let Some(pool) = &self.pool {
            pool.close();
        }
    }
}

impl OpenSites {
    /// A site that is kept open: it has been used just now.
    fn kept(&mut self, id: &SiteId) -> Option<Arc<Site>> {
        let known = self.known.get_mut(id)?;
        let site = known.kept.clone()?;
        self.tick += 1;
        known.used = self.tick;
        Some(site)
    }

    /// A site that is open, be it only because a request still uses it.
    fn in_use(&self, id: &SiteId) -> Option<Arc<Site>> {
        self.known.get(id)?.site.upgrade()
    }

    /// Keeps a site open, and answers the one that was used least lately if they are too many now.
    fn keep(&mut self, site: Arc<Site>) -> Option<Arc<Site>> {
        self.known.retain(|_, it| it.site.strong_count() > 0);
        self.tick += 1;
        let known = Known { site: Arc::downgrade(&site), used: self.tick, kept: Some(site.clone()) };
        let before = self.known.insert(site.id.clone(), known);
        self.kept += usize::from(before.is_none_or(|it| it.kept.is_none()));
        if self.kept <= self.most {
            return None;
        }
        let oldest = self.known.values_mut().filter(|it| it.kept.is_some()).min_by_key(|it| it.used)?;
        self.kept -= 1;
        oldest.kept.take()
    }

    fn let_all_go(&mut self) -> Vec<Arc<Site>> {
        self.kept = 0;
        self.known.values_mut().filter_map(|it| it.kept.take()).collect()
    }
}
