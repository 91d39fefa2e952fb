//! Opening the catalogue and the sites in it.

use crate::{
    DataDirectory, Database, Outbox, ReaderPool, Requester, Row, SiteChange, Tx, TxFuture, Withdrawals, boxed, migrate,
    outbox::{self, ReadPoint},
    postgres::Postgres,
    site_change,
    site_log::{self, Settling},
};
use parking_lot::{Mutex, RwLock};
use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{
        Arc, Weak,
        atomic::{AtomicI64, Ordering},
    },
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
    catalog: Arc<Database>,
    pool: Option<Arc<Postgres>>,
    withdrawals: Arc<Withdrawals>,
    /// What this process is called among others on the same data.
    node: String,
    /// Where the epochs of logs and the names of those who work on copies come from.
    pub(crate) world: World,
    open: Mutex<OpenSites>,
    opening: tokio::sync::Mutex<()>,
}

/// One site: the unit of everything.
pub struct Site {
    pub id: SiteId,
    /// Internal number, part of table names on PostgreSQL.
    pub number: i64,
    /// The site whose SANDBOX it is.
    sandbox_of: Option<SiteId>,
    /// A site may be renamed while it is open.
    name: RwLock<String>,
    /// Where work puts for a while what doesn't fit into memory: the data directory.
    pub scratch: PathBuf,
    database: Database,
    catalog: Arc<Database>,
    withdrawals: Arc<Withdrawals>,
    /// Of its log, the highest number that the catalogue remembers.
    pub(crate) remembered: AtomicI64,
    /// Where its data were when that was last compared with its log.
    pub(crate) origin: Mutex<String>,
    me: Weak<Site>,
}

impl Site {
    /// What people call it.
    pub fn name(&self) -> String {
        self.name.read().clone()
    }

    /// Whether it is the SANDBOX of another site.
    pub fn is_sandbox(&self) -> bool {
        self.sandbox_of.is_some()
    }

    /// The site to which those belong who call here: for a SANDBOX that whose it is.
    pub fn principals(&self) -> &SiteId {
        self.sandbox_of.as_ref().unwrap_or(&self.id)
    }

    /// Another handle on this site, for work that outlives a request.
    pub fn shared(&self) -> Option<Arc<Self>> {
        self.me.upgrade()
    }

    /// What its node takes away, for other nodes to hear of.
    pub fn withdrawals(&self) -> &Withdrawals {
        &self.withdrawals
    }

    /// Reads one state of its data, and where its log stood then: following it from there misses nothing and repeats
    /// nothing. Takes the caller's turn among scans.
    ///
    /// # Errors
    /// As for a scan.
    pub async fn read_at_point<T, F>(&self, requester: Requester, body: F) -> Result<(T, ReadPoint)>
    where
        T: Send + 'static,
        F: for<'t> FnOnce(&'t mut Tx<'_>) -> TxFuture<'t, T> + Send + 'static,
    {
        let site = self.id.clone();
        let read = self.database.read_snapshot(requester, move |tx| {
            boxed!({
                let point = outbox::read_point(tx, &site).await?;
                Ok((body(tx).await?, point))
            })
        });
        read.await
    }

    /// Its jobs and events.
    pub fn outbox(&self) -> Outbox<'_> {
        Outbox::new(&self.id, &self.database, &self.catalog)
    }
}

impl std::ops::Deref for Site {
    type Target = Database;
    fn deref(&self) -> &Database {
        &self.database
    }
}

/// What the catalogue has of a site.
struct Found {
    number: i64,
    name: String,
    sandbox_of: Option<SiteId>,
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
                pool.find_origin().await?;
                (Database::postgres(pool.clone(), 0), Some(pool))
            }
        };
        let world = World::real();
        let (catalog, node) = (Arc::new(catalog), world.uuid());
        let withdrawals = match &pool {
            Some(pool) => Withdrawals::among_nodes(pool.clone(), node.clone()),
            None => Withdrawals::alone(),
        };
        let open = Mutex::new(OpenSites { known: HashMap::new(), most: config.open_sites, kept: 0, tick: 0 });
        let opening = tokio::sync::Mutex::default();
        Ok(Self { directory, catalog, pool, withdrawals, node, world, open, opening })
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

    /// What this node takes away, for other nodes to hear of.
    pub fn withdrawals(&self) -> &Withdrawals {
        &self.withdrawals
    }

    pub fn directory(&self) -> &DataDirectory {
        &self.directory
    }

    /// What this process is called among others on the same data: random, and new with each start.
    pub fn node(&self) -> &str {
        &self.node
    }

    pub(crate) fn pool(&self) -> Option<&Arc<Postgres>> {
        self.pool.as_ref()
    }

    /// Gives a site that is open its new name.
    pub(crate) fn rename_open(&self, id: &SiteId, name: &str) {
        let open = self.open.lock().in_use(id);
        if let Some(site) = open {
            name.clone_into(&mut *site.name.write());
        }
    }

    /// Whether somebody uses a site, or it is kept open for who will.
    pub(crate) fn is_in_use(&self, id: &SiteId) -> bool {
        self.open.lock().in_use(id).is_some()
    }

    /// Keeps a site open no longer; those who use it go on until they are done.
    pub(crate) fn forget(&self, id: &SiteId) {
        let kept = self.open.lock().forget(id);
        drop(kept);
    }

    /// Makes an empty site of this name.
    ///
    /// # Errors
    /// [`Code::Validation`] for a name that can't be one.
    pub async fn site_create(&self, name: &str, world: &World) -> Result<Arc<Site>> {
        self.site_make(SiteChange { name: Some(name.to_owned()), ..SiteChange::default() }, world).await
    }

    /// Makes an empty site that is as the change says, which must name it.
    ///
    /// # Errors
    /// As for [`Store::site_update`]; then there is no site.
    pub async fn site_make(&self, wanted: SiteChange, world: &World) -> Result<Arc<Site>> {
        let wanted = wanted.checked()?;
        let id = SiteId::from(world.uuid());
        if self.pool.is_none() {
            // The file comes first: without its row in the catalogue it belongs to no site and does no harm.
            migrate::sqlite(&DataDirectory::site_file(self.directory.path(), id.as_str()), migrate::Scope::Site)?;
        }
        let created = self.catalog.write_with((id.clone(), wanted, world.now()), |tx, (id, wanted, now)| {
            boxed!({
                let sql = "insert into stoa.site (id, number, name, created) \
                           select $1, coalesce(max(number), 0) + 1, $2, $3 from stoa.site";
                let name = wanted.name.clone().unwrap_or_default();
                tx.send(sql, params![id, name, *now]).await?;
                site_change::apply(tx, id, wanted, *now).await
            })
        });
        created.await?;
        self.site(&id).await
    }

    /// The site, opened if it is not. [`Code::SiteUnknown`] when the catalogue does not have it, and for the SANDBOX of
    /// another, which no request names ([`Store::sandbox`]).
    pub async fn site(&self, id: &SiteId) -> Result<Arc<Site>> {
        let site = self.site_for_work(id).await?;
        if site.is_sandbox() { Err(Fault::new(Code::SiteUnknown)) } else { Ok(site) }
    }

    /// The same for the server's own work, which is done for a SANDBOX as well.
    ///
    /// # Errors
    /// [`Code::SiteUnknown`].
    pub async fn site_for_work(&self, id: &SiteId) -> Result<Arc<Site>> {
        if let Some(site) = self.open.lock().kept(id) {
            return Ok(site);
        }
        // One at a time, so that a file is not opened twice.
        let _guard = self.opening.lock().await;
        let in_use = self.open.lock().in_use(id);
        let site = match in_use {
            // It may have been deleted while someone used it.
            Some(site) => self.find(id).await.map(|_| site)?,
            None => self.open_site(id).await?,
        };
        let over = self.open.lock().keep(site.clone());
        if let Some(over) = over {
            // Closing waits for a thread and for the disk, unless a request uses the site and closes it later.
            let _ = tokio::task::spawn_blocking(move || drop(over)).await;
        }
        Ok(site)
    }

    /// What the catalogue has of a site that was not deleted.
    async fn find(&self, id: &SiteId) -> Result<Found> {
        let key = id.clone();
        let read = self.catalog.read(ReaderPool::Point, move |tx| {
            boxed!({
                let sql = "select number, name, sandbox_of from stoa.site where id = $1 and deleted is null";
                let found = |row: &Row<'_>| {
                    let sandbox_of = row.get::<Option<String>>(2)?.map(SiteId::from);
                    Ok(Found { number: row.get(0)?, name: row.get(1)?, sandbox_of })
                };
                Ok(tx.row(sql, &params![&key], found).await?)
            })
        });
        read.await?.ok_or_else(|| Fault::new(Code::SiteUnknown))
    }

    async fn open_site(&self, id: &SiteId) -> Result<Arc<Site>> {
        let Found { number, name, sandbox_of } = self.find(id).await?;
        let database = match &self.pool {
            Some(pool) => Database::postgres(pool.clone(), number),
            None => {
                let file = DataDirectory::site_file(self.directory.path(), id.as_str());
                migrate::sqlite(&file, migrate::Scope::Site)?;
                Database::sqlite(&file)?
            }
        };
        let settling = self.settling(id, &database)?;
        let origin = settling.origin.clone();
        let sequence = site_log::settle(settling).await?;
        Ok(Arc::new_cyclic(|me| Site {
            id: id.clone(),
            number,
            sandbox_of,
            name: RwLock::new(name),
            scratch: self.directory.path().to_owned(),
            database,
            catalog: self.catalog.clone(),
            withdrawals: self.withdrawals.clone(),
            remembered: AtomicI64::new(sequence),
            origin: Mutex::new(origin),
            me: me.clone(),
        }))
    }

    /// A site's log and what the catalogue remembers of it, to be compared.
    fn settling<'s>(&'s self, id: &'s SiteId, database: &'s Database) -> Result<Settling<'s>> {
        let origin = match &self.pool {
            Some(pool) => pool.origin_text(),
            None => site_log::origin_of(&DataDirectory::site_file(self.directory.path(), id.as_str()))?,
        };
        let (epoch, now) = (self.world.token::<12>(), self.world.now());
        Ok(Settling { catalog: &self.catalog, database, site: id, origin, epoch, is_restored: false, now })
    }

    /// Begins a new epoch of an open site's log if its data are a copy, or an older state of them, as it may be known.
    pub(crate) async fn settle_log(&self, site: &Site, is_restored: bool) -> Result<()> {
        let settling = Settling { is_restored, ..self.settling(&site.id, site)? };
        let origin = settling.origin.clone();
        let sequence = site_log::settle(settling).await?;
        site.remembered.fetch_max(sequence, Ordering::Relaxed);
        *site.origin.lock() = origin;
        Ok(())
    }

    /// The sites that are open in this process.
    pub fn open_sites(&self) -> Vec<Arc<Site>> {
        self.open.lock().known.values().filter_map(|it| it.site.upgrade()).collect()
    }

    /// All sites that were not deleted and are no other's SANDBOX, oldest first: id and name.
    pub async fn sites(&self) -> Result<Vec<(SiteId, String)>> {
        self.catalog
            .read(ReaderPool::Point, |tx| {
                boxed!({
                    let sql =
                        "select id, name from stoa.site where deleted is null and sandbox_of is null order by number";
                    let rows = tx.rows(sql, &[], |row| Ok((SiteId::from(row.text(0)?), row.get(1)?))).await?;
                    Ok(rows)
                })
            })
            .await
    }

    /// Whether the database answers: readiness.
    pub async fn ping(&self) -> Result<()> {
        self.catalog
            .read(ReaderPool::Point, |tx| boxed!(Ok(tx.row("select 1", &[], |_| Ok(())).await.map(|_| ())?)))
            .await
    }

    /// Answers nothing any more, and tells other nodes of it, so that none waits for this one. Before [`Self::close`].
    pub async fn leave(&self) {
        self.withdrawals.leave().await;
    }

    /// Lets go of connections; open SQLite files close when their last user is gone.
    pub fn close(&self) {
        self.withdrawals.stop();
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

    /// Lets go of a site.
    fn forget(&mut self, id: &SiteId) -> Option<Arc<Site>> {
        let kept = self.known.get_mut(id)?.kept.take()?;
        self.kept -= 1;
        Some(kept)
    }

    fn let_all_go(&mut self) -> Vec<Arc<Site>> {
        self.kept = 0;
        self.known.values_mut().filter_map(|it| it.kept.take()).collect()
    }
}
