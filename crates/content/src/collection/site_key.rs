//! The keys with which a site's encrypted fields are sealed (decisions 13, 26).
//!
//! Keys have numbers, and one of them is current: it seals, all open. The first is a setting of its own, as it was when
//! there was only one; those that rotations make are in another. A new key is made known to all nodes first, and becomes
//! current when they have heard of it, so that no node meets a value that it can't open.
//!
//! In memory a site has one [`SiteKeys`], which those who hold it see change: a long read outlives a rotation.

use crate::Content;
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use parking_lot::RwLock;
use quick_cache::sync::Cache;
use ring::aead::{AES_256_GCM, LessSafeKey, UnboundKey};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use std::{
    convert::Infallible,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};
use stoa_kernel::{Fault, Result, SiteId, World};
use stoa_store::{Area, ReaderPool, Site, Tx, boxed, setting};

/// The name of the setting with the first key.
const FIRST: &str = "sealing key";
/// The name of the setting with all others, and which of all is current.
const OTHERS: &str = "sealing keys";
/// Sites whose keys are kept in memory.
const SITES: usize = 10_000;

/// What [`OTHERS`] says.
#[derive(Serialize, Deserialize)]
struct Stored {
    current: u32,
    keys: Vec<StoredKey>,
}

#[derive(Serialize, Deserialize)]
struct StoredKey {
    number: u32,
    key: String,
    /// The rotation that made it.
    rotation: String,
}

impl Stored {
    async fn read(tx: &mut Tx<'_>, site: &SiteId) -> Result<Self> {
        match setting::get(tx, site, OTHERS).await? {
            Some(text) => serde_json::from_str(&text).map_err(Fault::internal),
            None => Ok(Self { current: 1, keys: Vec::new() }),
        }
    }

    async fn put(&self, tx: &mut Tx<'_>, site: &SiteId) -> Result<()> {
        let text = serde_json::to_string(self).map_err(Fault::internal)?;
        Ok(setting::put(tx, site, OTHERS, text).await?)
    }
}

/// A key with its number.
#[derive(Clone)]
struct Numbered(u32, Arc<LessSafeKey>);

impl Numbered {
    fn new(number: u32, key: &str) -> Result<Self> {
        let bytes = URL_SAFE_NO_PAD.decode(key).map_err(Fault::internal)?;
        let key = UnboundKey::new(&AES_256_GCM, &bytes).map_err(Fault::internal)?;
        Ok(Self(number, Arc::new(LessSafeKey::new(key))))
    }
}

struct KeyList {
    current: Numbered,
    others: Vec<Numbered>,
}

impl KeyList {
    fn new(first: &str, stored: &Stored) -> Result<Self> {
        let first: String = serde_json::from_str(first).map_err(Fault::internal)?;
        let mut others = vec![Numbered::new(1, &first)?];
        for it in &stored.keys {
            others.push(Numbered::new(it.number, &it.key)?);
        }
        let at = others.iter().position(|it| it.0 == stored.current);
        let at = at.ok_or_else(|| Fault::internal("the current key of a site's encrypted fields is missing"))?;
        Ok(Self { current: others.swap_remove(at), others })
    }
}

/// The keys of one site.
pub(crate) struct SiteKeys {
    list: RwLock<KeyList>,
    /// The generation of [`Keys`] in which they were read.
    read_in: AtomicU64,
}

impl SiteKeys {
    /// The number of the key that seals.
    pub(crate) fn current(&self) -> u32 {
        self.list.read().current.0
    }

    /// The key that seals, with its number.
    pub(crate) fn sealing(&self) -> (u32, Arc<LessSafeKey>) {
        let Numbered(number, key) = self.list.read().current.clone();
        (number, key)
    }

    /// The key of a number, if this process knows it.
    pub(crate) fn opening(&self, number: u32) -> Option<Arc<LessSafeKey>> {
        let list = self.list.read();
        let found = std::iter::once(&list.current).chain(&list.others).find(|it| it.0 == number);
        found.map(|it| it.1.clone())
    }

    /// Puts what was read in the place of what is known, unless that is newer.
    fn update(&self, list: KeyList, read_in: u64) {
        let mut known = self.list.write();
        if read_in >= self.read_in.load(Ordering::Acquire) {
            *known = list;
            self.read_in.store(read_in, Ordering::Release);
        }
    }

    /// Keys of these bytes, numbered from 1 on.
    #[cfg(test)]
    pub(crate) fn of(bytes: &[u8], current: u32) -> Self {
        let text = |it: &u8| URL_SAFE_NO_PAD.encode([*it; 32]);
        let key = |(n, it): (usize, &u8)| StoredKey { number: n as u32 + 1, key: text(it), rotation: String::new() };
        let stored = Stored { current, keys: bytes.iter().enumerate().skip(1).map(key).collect() };
        let list = KeyList::new(&Json::from(text(&bytes[0])).to_string(), &stored).expect("keys");
        Self { list: RwLock::new(list), read_in: AtomicU64::new(0) }
    }
}

/// The keys of sites that have encrypted fields.
pub(crate) struct Keys {
    sites: Cache<SiteId, Arc<SiteKeys>>,
    /// Goes up when keys may have changed on some node.
    generation: AtomicU64,
}

impl Default for Keys {
    fn default() -> Self {
        Self { sites: Cache::new(SITES), generation: AtomicU64::new(0) }
    }
}

impl Keys {
    /// Has keys read again before they are used by a call that begins after this.
    pub(crate) fn forget_all(&self) {
        self.generation.fetch_add(1, Ordering::AcqRel);
    }
}

/// The site's keys. The first was made with the site's first encrypted field: one that is lost isn't replaced here, for
/// what it sealed would be lost as well, without a word.
pub(crate) async fn load(content: &Content, site: &Site) -> Result<Arc<SiteKeys>> {
    let keys = &content.state.site_keys;
    // Before they are read.
    let generation = keys.generation.load(Ordering::Acquire);
    let known = keys.sites.get(&site.id);
    if let Some(it) = known.as_ref().filter(|it| it.read_in.load(Ordering::Acquire) >= generation) {
        return Ok(it.clone());
    }
    let id = site.id.clone();
    let read = site.read(ReaderPool::Point, move |tx| {
        boxed!({
            let Some(first) = setting::get(tx, &id, FIRST).await? else { return Ok(None) };
            Ok(Some((first, Stored::read(tx, &id).await?)))
        })
    });
    let lost = || Fault::internal(format!("site {}: the key of its encrypted fields is missing", site.id));
    let (first, stored) = read.await?.ok_or_else(lost)?;
    let list = KeyList::new(&first, &stored)?;
    match known {
        Some(known) => {
            known.update(list, generation);
            Ok(known)
        }
        None => {
            let fresh = SiteKeys { list: RwLock::new(list), read_in: AtomicU64::new(generation) };
            // Of several that read them at once all hold the same.
            let Ok(kept) = keys.sites.get_or_insert_with(&site.id, || Ok::<_, Infallible>(Arc::new(fresh)));
            Ok(kept)
        }
    }
}

/// The site's keys in the transaction that declares an encrypted field; the first is made if there is none.
pub(crate) async fn create(tx: &mut Tx<'_>, world: &World, site: &SiteId) -> Result<SiteKeys> {
    let fresh = Json::from(world.token::<32>()).to_string();
    let first = setting::put_first(tx, site, FIRST, fresh).await?;
    let list = KeyList::new(&first, &Stored::read(tx, site).await?)?;
    Ok(SiteKeys { list: RwLock::new(list), read_in: AtomicU64::new(0) })
}

/// Gives a site the key of a rotation, with which all nodes seal when this answers; nothing where no field is encrypted.
/// Done again for the same rotation it goes on where it was cut off.
///
/// # Errors
/// What the engine says.
pub(crate) async fn rotate(content: &Content, site: &Site, rotation: &str) -> Result<Option<Arc<SiteKeys>>> {
    if !has_keys(site).await? {
        return Ok(None);
    }
    let prepared = site.write_with(
        (content.state.world.clone(), site.id.clone(), rotation.to_owned()),
        |tx, (world, site, rotation)| boxed!(prepare(tx, world, site, rotation).await),
    );
    prepared.await?;
    announce(content, site).await?;
    let taken_up = site.write_with((site.id.clone(), rotation.to_owned()), |tx, (site, rotation)| {
        boxed!(take_up(tx, site, rotation).await)
    });
    taken_up.await?;
    announce(content, site).await?;
    load(content, site).await.map(Some)
}

/// Whether the site has, or had, an encrypted field.
async fn has_keys(site: &Site) -> Result<bool> {
    let id = site.id.clone();
    let first = site.read(ReaderPool::Point, move |tx| boxed!(Ok(setting::get(tx, &id, FIRST).await?)));
    Ok(first.await?.is_some())
}

/// Makes the key of a rotation, which only opens for now.
async fn prepare(tx: &mut Tx<'_>, world: &World, site: &SiteId, rotation: &str) -> Result<()> {
    let mut stored = Stored::read(tx, site).await?;
    if stored.keys.iter().any(|it| it.rotation == rotation) {
        return Ok(());
    }
    let number = stored.keys.iter().map(|it| it.number).max().unwrap_or(1) + 1;
    stored.keys.push(StoredKey { number, key: world.token::<32>(), rotation: rotation.to_owned() });
    stored.put(tx, site).await
}

/// Makes it the one that seals.
async fn take_up(tx: &mut Tx<'_>, site: &SiteId, rotation: &str) -> Result<()> {
    let mut stored = Stored::read(tx, site).await?;
    match stored.keys.iter().find(|it| it.rotation == rotation) {
        Some(it) if it.number > stored.current => stored.current = it.number,
        _ => return Ok(()),
    }
    stored.put(tx, site).await
}

/// Answers once no node uses what it read of keys before.
async fn announce(content: &Content, site: &Site) -> Result<()> {
    content.state.site_keys.forget_all();
    site.withdrawals().announce(Area::Content).await
}
