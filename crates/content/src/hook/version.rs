//! Which version of a site's code is active, as each node knows it (decision 34).
//!
//! A node that switches answers once the others have forgotten which version was active; each reads it again [`LIFE`]
//! after it last did besides, in case a node crashed in between.

use crate::Content;
use quick_cache::{Weighter, sync::Cache};
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};
use stoa_hooks::{Export, Hook, Version};
use stoa_kernel::{Fault, Result, SiteId, clock::Millis};
use stoa_sql::params;
use stoa_store::{ReaderPool, Site, Tx, boxed};

/// How long it is known which version is active.
const LIFE: Millis = 2_000;
/// Bytes of sources that are kept in memory, and what a site without any counts for.
const BYTES: u64 = 64 << 20;
const WITHOUT: u64 = 1_024;
/// Sources of the longest kind that there may be must fit into a part of it, so there are few parts.
const SITES: usize = 64;

/// Has a version run from now on.
pub(super) async fn activate(tx: &mut Tx<'_>, site: &SiteId, number: i64) -> Result<()> {
    let sql = "insert into stoa.hook_active (site, number) values ($1, $2) \
               on conflict (site) do update set number = excluded.number";
    tx.execute(sql, &params![site, number]).await?;
    Ok(())
}

pub(super) async fn active_number(tx: &mut Tx<'_>, site: &SiteId) -> Result<Option<i64>> {
    let sql = "select number from stoa.hook_active where site = $1";
    Ok(tx.row(sql, &params![site], |row| row.get(0)).await?)
}

/// Which version of each site is active.
pub(crate) struct HookVersions {
    sites: Cache<SiteId, Known, BySource>,
    /// Goes up when another version may have become active.
    generation: AtomicU64,
}

/// Sites count by how long their code is.
#[derive(Clone)]
struct BySource;

impl Weighter<SiteId, Known> for BySource {
    fn weight(&self, _: &SiteId, known: &Known) -> u64 {
        WITHOUT + known.version.as_ref().map_or(0, |it| it.source.len() as u64)
    }
}

#[derive(Clone)]
struct Known {
    version: Option<Arc<Version>>,
    read_at: Millis,
    read_in: u64,
}

impl Default for HookVersions {
    fn default() -> Self {
        Self { sites: Cache::with_weighter(SITES, BYTES, BySource), generation: AtomicU64::new(0) }
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

/// Hooks that decide on what is read, and how it is shown.
pub(super) const READS: [Hook; 4] = [Hook::BeforeGet, Hook::AfterGet, Hook::BeforeQuery, Hook::AfterQuery];

/// Whether a hook of a collection decides on which of its items are shown, and how.
pub(crate) async fn decides_on_what_is_shown(content: &Content, site: &Site, collection: &str) -> Result<bool> {
    if content.state.hook_host.get().is_none() {
        return Ok(false);
    }
    let version = active(content, site).await?;
    Ok(version.is_some_and(|it| READS.iter().any(|hook| it.has(collection, *hook))))
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
            let sql = "select source, plugin, exports from stoa.hook_version where site = $1 and number = $2";
            let read =
                |row: &stoa_store::Row<'_>| Ok((row.get::<String>(0)?, row.get::<Option<String>>(1)?, row.get(2)?));
            let (source, plugin, exports): (_, _, String) = tx
                .row(sql, &params![&id, number], read)
                .await?
                .ok_or_else(|| Fault::internal(format!("version {number} of hooks is active and isn't there")))?;
            let exports: Vec<Export> = serde_json::from_str(&exports).map_err(Fault::internal)?;
            Ok(Some(Arc::new(match plugin {
                Some(it) => {
                    Version::of_plugin(id, number, serde_json::from_str(&it).map_err(Fault::internal)?, exports)
                }
                None => Version::new(id, number, source, exports),
            })))
        })
    });
    found.await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_kept_up_to_so_many_bytes() {
        let known = |site: &SiteId, bytes: usize| {
            let version = Version::new(site.clone(), 1, "x".repeat(bytes), Vec::new());
            Known { version: Some(Arc::new(version)), read_at: 0, read_in: 0 }
        };
        let versions = HookVersions::default();
        for n in 0..300 {
            let site = SiteId::from(format!("s{n}"));
            versions.sites.insert(site.clone(), known(&site, 1 << 20));
            assert!(versions.sites.weight() <= BYTES, "{n}");
        }
        assert!(versions.sites.len() > 20, "{}", versions.sites.len());
        let longest = SiteId::from("longest");
        versions.sites.insert(longest.clone(), known(&longest, 8 << 20));
        assert!(versions.sites.get(&longest).is_some());
    }
}
