//! Encrypted values that are sealed again, with the key of a rotation (decision 26).
//!
//! A collection is gone through in chunks, each a short transaction; what is done needs no note, since a value says which
//! key it is under. Nothing else of an item changes: no time, no revision, and no event tells of it.

use crate::{
    Content,
    collection::{
        Collection,
        cipher::FieldCipher,
        site_key::{self, SiteKeys},
        statements::{Row, Statements},
        stored,
    },
    item::truncate,
};
use std::sync::Arc;
use stoa_kernel::{Result, World};
use stoa_sql::{Table, params};
use stoa_store::{ReaderPool, Site, boxed};

impl Content {
    /// Gives a site that has encrypted fields the key of a rotation, and seals with it what is under older ones. Answers
    /// how many items that were; `tell` hears how many so far. Cut off, it is done again for the same rotation.
    ///
    /// # Errors
    /// What the engine says.
    pub async fn seal_site(&self, site: &Site, rotation: &str, mut tell: impl FnMut(u64)) -> Result<u64> {
        let Some(keys) = site_key::rotate(self, site, rotation).await? else { return Ok(0) };
        let mut sealed = 0;
        for walk in walks(site, &keys).await? {
            let (mut after, mut unreadable) = (0, 0);
            while let Some((last, outdated)) = walk.look(after).await? {
                if outdated > 0 {
                    let done = walk.seal(&self.state.world, after, last).await?;
                    sealed += done.sealed;
                    unreadable += done.unreadable;
                    tell(sealed);
                }
                after = last;
            }
            if unreadable > 0 {
                let collection = walk.table.number;
                tracing::warn!(site = %site.id, collection, "encrypted values of {unreadable} items don't open and stay as they are");
            }
        }
        Ok(sealed)
    }

    /// How many items of a site have values under older keys.
    ///
    /// # Errors
    /// What the engine says; an internal fault when the site's key is missing.
    pub async fn seal_left(&self, site: &Site) -> Result<u64> {
        let collections = encrypted(site).await?;
        if collections.is_empty() {
            return Ok(0);
        }
        let (keys, mut left) = (site_key::load(self, site).await?, 0);
        for collection in &collections {
            let (walk, mut after) = (Walk::new(site, collection, &keys).await?, 0);
            while let Some((last, outdated)) = walk.look(after).await? {
                left += outdated;
                after = last;
            }
        }
        Ok(left)
    }
}

/// The collections of a site that have encrypted fields, those that can be restored among them.
async fn encrypted(site: &Site) -> Result<Vec<Collection>> {
    let id = site.id.clone();
    let read = site.read(ReaderPool::Scan, move |tx| {
        boxed!({
            let sql = "select number from stoa.collection where site = $1 order by number";
            let numbers = tx.rows(sql, &params![&id], |row| row.get::<i64>(0)).await?;
            let mut all = Vec::new();
            for number in numbers {
                all.extend(stored::by_number(tx, &id, number).await?);
            }
            Ok(all)
        })
    });
    let all = read.await?.into_iter().map(|it| Collection::new(site, it));
    Ok(all.filter(|it| !it.encrypted.is_empty()).collect())
}

async fn walks<'s>(site: &'s Site, keys: &Arc<SiteKeys>) -> Result<Vec<Walk<'s>>> {
    let mut walks = Vec::new();
    for collection in encrypted(site).await? {
        walks.push(Walk::new(site, &collection, keys).await?);
    }
    Ok(walks)
}

/// The items of a collection that are there when it begins.
struct Walk<'s> {
    site: &'s Site,
    table: Table,
    cipher: Arc<FieldCipher>,
    /// The last row.
    upto: i64,
}

/// What became of a chunk.
struct Done {
    sealed: u64,
    unreadable: u64,
}

impl<'s> Walk<'s> {
    async fn new(site: &'s Site, collection: &Collection, keys: &Arc<SiteKeys>) -> Result<Self> {
        let (table, name) = (collection.table, collection.statements.name.clone());
        let upto = site.read(ReaderPool::Point, move |tx| {
            boxed!({
                let sql = format!("select max(rid) from {name}");
                Ok(tx.row(&sql, &[], |row| row.get::<Option<i64>>(0)).await?.flatten().unwrap_or_default())
            })
        });
        let cipher = Arc::new(FieldCipher::new(keys.clone(), &site.id, collection));
        Ok(Self { site, table, cipher, upto: upto.await? })
    }

    /// The last row of the chunk behind a row, and how many of its items have values under older keys.
    async fn look(&self, after: i64) -> Result<Option<(i64, u64)>> {
        let (table, cipher, upto) = (self.table, self.cipher.clone(), self.upto);
        let read = self.site.read(ReaderPool::Scan, move |tx| {
            boxed!({
                let statements = Statements::new(tx.dialect(), table, "");
                let last = truncate::chunk_end(tx, &statements.name, after, upto).await?;
                let Some(last) = last else { return Ok(None) };
                let chunk = params![after, last];
                let is_outdated = tx.rows(&statements.between, &chunk, |row| Ok(cipher.has_outdated(&row.doc(4)?)));
                Ok(Some((last, is_outdated.await?.into_iter().filter(|it| *it).count() as u64)))
            })
        });
        read.await
    }

    /// Seals the values of a chunk again, as they are in this moment.
    async fn seal(&self, world: &World, after: i64, last: i64) -> Result<Done> {
        let table = self.table;
        let written = self.site.write_with((self.cipher.clone(), world.clone()), move |tx, (cipher, world)| {
            boxed!({
                let statements = Statements::new(tx.dialect(), table, "");
                let chunk = params![after, last];
                let rows = tx.rows(&statements.between, &chunk, |row| {
                    let doc = row.doc(4)?.into_owned();
                    Ok(Row::new(row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, doc))
                });
                let (mut renewed, mut unreadable) = (Vec::new(), 0);
                for row in rows.await? {
                    match cipher.renewed(world, row.doc())? {
                        Some(doc) => renewed.push(row.with_doc(doc)),
                        None => unreadable += u64::from(cipher.has_outdated(row.doc())),
                    }
                }
                let values: Vec<_> = renewed.iter().map(Row::values).collect();
                if !values.is_empty() {
                    tx.insert_rows(statements.insert_rows(true, false, &values)).await?;
                }
                Ok(Done { sealed: renewed.len() as u64, unreadable })
            })
        });
        written.await
    }
}
