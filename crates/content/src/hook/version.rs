//! The versions of a site's code: deployed, switched between, and known to each node (decision 34).
//!
//! A node that switches answers once the others have forgotten which version was active; each reads it again [`LIFE`]
//! after it last did besides, in case a node crashed in between.

use crate::Content;
use quick_cache::sync::Cache;
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};
use stoa_hooks::{Export, SourceRefusal, Version};
use stoa_kernel::{Caller, Code, Fault, Result, SiteId, TokenHash, clock::Millis};
use stoa_sql::params;
use stoa_store::{Area, ReaderPool, Site, Tx, boxed};

/// How long it is known which version is active.
const LIFE: Millis = 2_000;
/// Sites whose active version is kept in memory.
const SITES: usize = 1_000;

/// A deployed version, without its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookVersion {
    pub number: i64,
    pub is_active: bool,
    /// Names of functions, such as `cars_beforeInsert`.
    pub exports: Vec<String>,
    /// The id of who deployed it.
    pub author: String,
    pub created: Millis,
}

/// Why a source isn't deployed.
#[derive(Debug)]
pub enum HookRefusal {
    /// What is wrong with the source.
    Source(SourceRefusal),
    /// It has hooks of a collection that isn't there.
    CollectionUnknown { export: String },
    /// The caller, the server, or the engine.
    Fault(Fault),
}

impl From<Fault> for HookRefusal {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl Content {
    /// Deploys a source, which runs from now on, and answers its number.
    ///
    /// # Errors
    /// WDE0027 for all but owners and apps, WDE0119 on a server that runs no hooks, and what is wrong with the source.
    pub async fn hooks_deploy(&self, site: &Site, caller: &Caller, source: &str) -> Result<i64, HookRefusal> {
        may_deploy(caller)?;
        let host = self.state.hook_host.get().ok_or_else(|| Fault::new(Code::NotSupported))?;
        let exports = host.exports_of(source).await.map_err(HookRefusal::Source)?;
        for it in &exports {
            let found = crate::collection::load(self, site, &it.collection).await;
            if found.is_err_and(|it| crate::fault::is_collection_gone(&it)) {
                return Err(HookRefusal::CollectionUnknown { export: it.to_string() });
            }
        }
        let exports = serde_json::to_string(&exports).map_err(Fault::internal)?;
        let deployment = Deployment {
            site: site.id.clone(),
            source: source.to_owned(),
            exports,
            author: caller.id().to_owned(),
            created: self.state.world.now(),
        };
        let number = site.write_with(deployment, |tx, it| boxed!(it.write(tx).await)).await?;
        announce(self, site).await?;
        Ok(number)
    }

    /// Has another version run: the way back.
    ///
    /// # Errors
    /// WDE0027 for all but owners and apps, NOT_FOUND for a version that isn't there.
    pub async fn hooks_activate(&self, site: &Site, caller: &Caller, number: i64) -> Result<()> {
        may_deploy(caller)?;
        let activated = site.write_with((site.id.clone(), number), |tx, (site, number)| {
            boxed!({
                let sql = "select number from stoa.hook_version where site = $1 and number = $2";
                match tx.row(sql, &params![site, *number], |row| row.get::<i64>(0)).await? {
                    Some(_) => activate(tx, site, *number).await,
                    None => Err(Fault::because(Code::NotFound, format!("There is no version {number} of the hooks."))),
                }
            })
        });
        activated.await?;
        announce(self, site).await
    }

    /// The versions that were deployed, newest first.
    ///
    /// # Errors
    /// WDE0027 for all but owners and apps.
    pub async fn hooks_list(&self, site: &Site, caller: &Caller) -> Result<Vec<HookVersion>> {
        may_deploy(caller)?;
        let id = site.id.clone();
        let rows = site.read(ReaderPool::Point, move |tx| {
            boxed!({
                let active = active_number(tx, &id).await?;
                let sql = "select number, exports, author, created from stoa.hook_version where site = $1 \
                           order by number desc";
                let read = |row: &stoa_store::Row<'_>| {
                    Ok((row.get::<i64>(0)?, row.get::<String>(1)?, row.get::<String>(2)?, row.get::<i64>(3)?))
                };
                Ok((active, tx.rows(sql, &params![&id], read).await?))
            })
        });
        let (active, rows) = rows.await?;
        let version = |(number, exports, author, created): (i64, String, String, Millis)| {
            let exports: Vec<Export> = serde_json::from_str(&exports).map_err(Fault::internal)?;
            let exports = exports.iter().map(Export::to_string).collect();
            Ok(HookVersion { number, is_active: active == Some(number), exports, author, created })
        };
        rows.into_iter().map(version).collect()
    }
}

/// Answers once no node runs another version than the active one.
async fn announce(content: &Content, site: &Site) -> Result<()> {
    content.state.hook_versions.forget_all();
    if let Some(host) = content.state.hook_host.get() {
        host.resume(&site.id);
    }
    site.withdrawals().announce(Area::Content).await
}

fn may_deploy(caller: &Caller) -> Result<()> {
    match caller.is_privileged() {
        true => Ok(()),
        false => Err(Fault::because(
            Code::PermissionDenied,
            "The current user does not have permissions to manage the hooks of the site.",
        )),
    }
}

/// A version on its way in.
struct Deployment {
    site: SiteId,
    source: String,
    exports: String,
    author: String,
    created: Millis,
}

impl Deployment {
    async fn write(&self, tx: &mut Tx<'_>) -> Result<i64> {
        let Self { site, source, exports, author, created } = self;
        let sql = "select coalesce(max(number), 0) + 1 from stoa.hook_version where site = $1";
        let number = tx.row(sql, &params![site], |row| row.get::<i64>(0)).await?.unwrap_or(1);
        let sql = "insert into stoa.hook_version (site, number, sha256, source, exports, author, created) \
                   values ($1, $2, $3, $4, $5, $6, $7)";
        let sha256 = TokenHash::of(source).to_vec();
        tx.execute(sql, &params![site, number, sha256, source.clone(), exports.clone(), author.clone(), *created])
            .await?;
        activate(tx, site, number).await?;
        Ok(number)
    }
}

async fn activate(tx: &mut Tx<'_>, site: &SiteId, number: i64) -> Result<()> {
    let sql = "insert into stoa.hook_active (site, number) values ($1, $2) \
               on conflict (site) do update set number = excluded.number";
    tx.execute(sql, &params![site, number]).await?;
    Ok(())
}

async fn active_number(tx: &mut Tx<'_>, site: &SiteId) -> Result<Option<i64>> {
    let sql = "select number from stoa.hook_active where site = $1";
    Ok(tx.row(sql, &params![site], |row| row.get(0)).await?)
}

/// Which version of each site is active.
pub(crate) struct HookVersions {
    sites: Cache<SiteId, Known>,
    /// Goes up when another version may have become active.
    generation: AtomicU64,
}

#[derive(Clone)]
struct Known {
    version: Option<Arc<Version>>,
    read_at: Millis,
    read_in: u64,
}

impl Default for HookVersions {
    fn default() -> Self {
        Self { sites: Cache::new(SITES), generation: AtomicU64::new(0) }
    }
}

impl HookVersions {
    /// Has versions read again before they are used by a call that begins after this.
    pub(crate) fn forget_all(&self) {
        self.generation.fetch_add(1, Ordering::AcqRel);
    }
}

/// The version that is active, from memory as a rule; nothing where none was deployed.
pub(crate) async fn active(content: &Content, site: &Site) -> Result<Option<Arc<Version>>> {
    let (versions, now) = (&content.state.hook_versions, content.state.world.now());
    // Before it is read.
    let read_in = versions.generation.load(Ordering::Acquire);
    let known = versions.sites.get(&site.id);
    if let Some(it) = known.as_ref().filter(|it| it.read_in == read_in && now - it.read_at < LIFE) {
        return Ok(it.version.clone());
    }
    let version = read(site, known.and_then(|it| it.version)).await?;
    versions.sites.insert(site.id.clone(), Known { version: version.clone(), read_at: now, read_in });
    Ok(version)
}

/// Reads which version is active, and the version unless it is the one that is known.
async fn read(site: &Site, known: Option<Arc<Version>>) -> Result<Option<Arc<Version>>> {
    let id = site.id.clone();
    let found = site.read(ReaderPool::Point, move |tx| {
        boxed!({
            let Some(number) = active_number(tx, &id).await? else { return Ok(None) };
            if let Some(known) = known.filter(|it| it.number == number) {
                return Ok(Some(known));
            }
            let sql = "select source, exports from stoa.hook_version where site = $1 and number = $2";
            let read = |row: &stoa_store::Row<'_>| Ok((row.get::<String>(0)?, row.get::<String>(1)?));
            let (source, exports) = tx
                .row(sql, &params![&id, number], read)
                .await?
                .ok_or_else(|| Fault::internal(format!("version {number} of hooks is active and isn't there")))?;
            let exports: Vec<Export> = serde_json::from_str(&exports).map_err(Fault::internal)?;
            Ok(Some(Arc::new(Version::new(id, number, source, exports))))
        })
    });
    found.await
}
