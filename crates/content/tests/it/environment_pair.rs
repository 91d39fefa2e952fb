//! A site with both environments, and what tests do with them.

use crate::common::*;
use serde_json::{Value, json};
use std::sync::Arc;
use stoa_content::{
    Content, CopyWish, READ_OUT, Request,
    transfer::{FileOf, Format},
};
use stoa_kernel::Result;
use stoa_sql::params;
use stoa_store::{Environment, ReaderPool, Site, boxed};
use stoa_testkit::Engine;

/// A site with a SANDBOX, and `c` in LIVE.
pub struct Pair {
    pub world: World,
    pub sandbox: Arc<Site>,
}

pub const TO_SANDBOX: Environment = Environment::Live;
pub const TO_LIVE: Environment = Environment::Sandbox;

pub fn wish(source: Environment, collections: &[&str]) -> CopyWish {
    CopyWish { source, collections: collections.iter().map(|it| (*it).to_owned()).collect() }
}

impl Pair {
    pub async fn new(engine: Engine) -> Self {
        let world = World::open(engine).await;
        let sandbox = world.test.store.sandbox_create(&world.site, &world.test.world).await.unwrap();
        Self { world, sandbox }
    }

    /// The same with so many items in LIVE.
    pub async fn with_items(engine: Engine, count: usize) -> Self {
        let pair = Self::new(engine).await;
        let live = pair.world.site.clone();
        pair.fill(&live, 0..count).await;
        pair
    }

    pub async fn fill(&self, site: &Site, which: std::ops::Range<usize>) {
        let ids: Vec<usize> = which.collect();
        for piece in ids.chunks(1000) {
            let items = many(piece.iter().map(|n| json!({ "_id": format!("i{n:05}"), "n": n })));
            let text = items.to_string();
            let saved = self.content().item_bulk_save(site, &app(), &Request::parse(text.as_bytes()).unwrap()).await;
            assert!(saved.unwrap().iter().all(|it| it.fault.is_none()));
        }
    }

    pub fn content(&self) -> &Content {
        &self.world.content
    }

    pub async fn copy(&self, source: Environment, collections: &[&str]) -> Result<Value> {
        let store = &self.world.test.store;
        // The latest is the one that began last.
        self.world.test.clock.advance(1);
        let wish = wish(source, collections);
        let (copy, _) = self.content().environment_copy_begin(store, &self.world.site, &app(), &wish).await?;
        let id = copy.id.clone();
        self.content().environment_work(store, copy).await?;
        self.content().environment_copy_get(store, &self.world.site, &id).await
    }

    pub async fn undo(&self) -> Result<Value> {
        let (store, site) = (&self.world.test.store, &self.world.site);
        let copy = self.content().environment_undo_begin(store, site, &app(), None).await?;
        let (id, content) = (copy.id.clone(), self.content());
        content.environment_work(store, copy).await?;
        content.environment_copy_get(store, site, &id).await
    }

    pub async fn diff(&self, source: Environment) -> Value {
        let store = &self.world.test.store;
        let diff = self.content().environment_diff(store, &self.world.site, &app(), &wish(source, &[]), 3).await;
        diff.unwrap()
    }

    pub async fn status(&self) -> Value {
        self.content().environment_status(&self.world.test.store, &self.world.site, &app()).await.unwrap()
    }

    /// All items, byte by byte.
    pub async fn export(&self, site: &Site) -> String {
        let mut out = Vec::new();
        let file = FileOf { collection: "c", format: Format::JsonLines };
        self.content().export(site, &app(), file, &mut out, |_| ()).await.unwrap();
        String::from_utf8(out).unwrap()
    }

    pub async fn definition(&self, site: &Site) -> Value {
        let mut definition = self.content().collection_get(site, &app(), "c", &[], false).await.unwrap();
        for name in ["revision", "updatedDate"] {
            definition.as_object_mut().unwrap().remove(name);
        }
        definition
    }

    /// Removes what isn't needed, once it is not read.
    pub async fn tend(&self) {
        self.world.test.clock.advance(READ_OUT + 1);
        for site in [&self.world.site, &self.sandbox] {
            self.content().environment_tend(&self.world.test.store, site).await.unwrap();
        }
    }

    /// The number of the table that `c` has.
    pub async fn number(&self, site: &Site) -> i64 {
        let id = site.id.clone();
        let number = site.read(ReaderPool::Scan, move |tx| {
            boxed!({
                let sql = "select number from stoa.collection where site = $1 and id = 'c'";
                Ok(tx.row(sql, &params![&id], |row| row.get::<i64>(0)).await?)
            })
        });
        number.await.unwrap().unwrap()
    }

    pub async fn rows(&self, site: &Site, table: &'static str) -> i64 {
        let id = site.id.clone();
        let counted = site.read(ReaderPool::Scan, move |tx| {
            boxed!({
                let sql = format!("select count(*) from stoa.{table} where site = $1");
                Ok(tx.row(&sql, &params![&id], |row| row.get::<i64>(0)).await?)
            })
        });
        counted.await.unwrap().unwrap()
    }

    /// Tables of items, of collections or not.
    pub async fn tables(&self, site: &Site) -> usize {
        let (read, id, number) = (site, site.id.clone(), site.number);
        let all = read.read(ReaderPool::Scan, move |tx| {
            boxed!({
                let sql = "select number from stoa.collection where site = $1";
                Ok(tx.rows(sql, &params![&id], |row| row.get::<i64>(0)).await?)
            })
        });
        let mut count = 0;
        for it in all.await.unwrap() {
            let table = read.dialect().table(stoa_sql::Table { site: number, number: it });
            let there = read.read(ReaderPool::Scan, move |tx| {
                boxed!(Ok(tx.rows(&format!("select rid from {table} limit 1"), &[], |_| Ok(())).await.map(drop)?))
            });
            count += usize::from(there.await.is_ok());
        }
        count
    }
}

pub fn item_of(text: &str) -> Request<'_> {
    Request::parse(text.as_bytes()).unwrap()
}
