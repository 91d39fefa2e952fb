//! How many sites stay open: those used last, up to a number, and those in use beside them.

use std::{collections::HashSet, sync::Arc, time::Duration};
use stoa_kernel::SiteId;
use stoa_sql::params;
use stoa_store::{Config, ReaderPool, Site, Store, boxed};
use stoa_testkit::{Engine, Guards, TestStore, on_both_engines};

/// A store that keeps so many sites open, with so many sites that each have a little table.
async fn store(engine: Engine, open_sites: usize, sites: usize) -> (Arc<Store>, Vec<SiteId>, Guards) {
    let kit = TestStore::new(engine).await;
    let mut ids = Vec::with_capacity(sites);
    for n in 0..sites {
        ids.push(kit.store.site_create(&format!("site {n}"), &kit.world).await.unwrap().id.clone());
    }
    let (config, guards) = kit.close();
    let store = Arc::new(Store::open(&Config { open_sites, ..config }).await.unwrap());
    for id in &ids {
        count(&store, id, 1).await;
    }
    (store, ids, guards)
}

/// Counts up in a site's settings, and answers what it has counted to.
async fn count(store: &Store, id: &SiteId, by: i64) -> i64 {
    add(&store.site(id).await.unwrap(), by).await
}

async fn add(site: &Site, by: i64) -> i64 {
    let write = site.write_with(site.id.clone(), move |tx, key| {
        boxed!({
            let sql = "select value from stoa.setting where site = $1 and name = 'count'";
            let read = |row: &stoa_store::Row<'_>| row.get::<String>(0);
            let before: i64 = tx.row(sql, &params![key], read).await?.and_then(|it| it.parse().ok()).unwrap_or(0);
            let sql = "insert into stoa.setting (site, name, value) values ($1, 'count', $2) \
                       on conflict (site, name) do update set value = excluded.value";
            tx.execute(sql, &params![key, (before + by).to_string()]).await?;
            Ok(before + by)
        })
    });
    write.await.unwrap()
}

fn open(store: &Store) -> HashSet<SiteId> {
    store.open_sites().iter().map(|it| it.id.clone()).collect()
}

fn set(ids: &[SiteId], indexes: &[usize]) -> HashSet<SiteId> {
    indexes.iter().map(|it| ids[*it].clone()).collect()
}

on_both_engines! {
    async fn sites_beyond_the_open_bound_work(engine) {
        let (store, ids, _guards) = store(engine, 3, 10).await;
        for round in 2..5 {
            for id in &ids {
                assert_eq!(count(&store, id, 1).await, round, "nothing of a site is lost when it closes");
                assert!(store.open_sites().len() <= 3);
            }
        }
        assert_eq!(open(&store), set(&ids, &[7, 8, 9]));
    }

    async fn least_recently_used_site_is_closed(engine) {
        let (store, ids, _guards) = store(engine, 3, 5).await;
        for index in [0, 1, 2, 0] {
            store.site(&ids[index]).await.unwrap();
        }
        assert_eq!(open(&store), set(&ids, &[0, 1, 2]));
        let weak = Arc::downgrade(&store.site(&ids[1]).await.unwrap());
        store.site(&ids[3]).await.unwrap();
        assert_eq!(open(&store), set(&ids, &[0, 1, 3]), "0 was opened first, and 2 used least lately");
        for index in [0, 3, 4] {
            store.site(&ids[index]).await.unwrap();
        }
        assert_eq!(open(&store), set(&ids, &[0, 3, 4]));
        assert!(weak.upgrade().is_none(), "nothing is left of a site that was closed");
    }

    async fn site_in_use_is_not_closed(engine) {
        let (store, ids, _guards) = store(engine, 2, 6).await;
        let used = store.site(&ids[0]).await.unwrap();
        let (begun, has_begun) = tokio::sync::oneshot::channel();
        let (go_on, may_go_on) = std::sync::mpsc::channel::<()>();
        // A reader that stays until it is signalled.
        let reader = tokio::spawn({
            let site = store.site(&ids[1]).await.unwrap();
            async move {
                let id = site.id.clone();
                let read = site.read(ReaderPool::Scan, move |tx| {
                    boxed!({
                        let sql = "select value from stoa.setting where site = $1 and name = 'count'";
                        let one: Option<String> = tx.row(sql, &params![&id], |row| row.get(0)).await?;
                        let _ = begun.send(());
                        let _ = tokio::task::block_in_place(|| may_go_on.recv_timeout(Duration::from_secs(60)));
                        let two: Option<String> = tx.row(sql, &params![&id], |row| row.get(0)).await?;
                        Ok((one, two))
                    })
                });
                read.await.unwrap()
            }
        });
        has_begun.await.unwrap();
        for index in [2, 3, 4, 5, 2, 3, 4, 5] {
            count(&store, &ids[index], 1).await;
        }
        assert!(open(&store).is_superset(&set(&ids, &[0, 1])), "both are in use");
        assert_eq!(add(&used, 1).await, 2, "a site that isn't kept open goes on for those who have it");
        assert!(Arc::ptr_eq(&used, &store.site(&ids[0]).await.unwrap()), "and isn't opened a second time");
        count(&store, &ids[1], 5).await;
        go_on.send(()).unwrap();
        let (one, two) = reader.await.unwrap();
        assert_eq!((one.as_deref(), two.as_deref()), (Some("1"), Some("6")));
        drop(used);
        for index in [2, 3] {
            count(&store, &ids[index], 1).await;
        }
        assert_eq!(open(&store), set(&ids, &[2, 3]), "what nobody uses any more is closed");
    }

    async fn sites_opened_at_once_keep_the_bound(engine) {
        let (store, ids, _guards) = store(engine, 4, 20).await;
        let tasks: Vec<_> = (0..100)
            .map(|n| {
                let (store, id) = (store.clone(), ids[n * 7 % 20].clone());
                tokio::spawn(async move {
                    let site = store.site(&id).await.unwrap();
                    add(&site, 1).await;
                    store.open_sites().iter().filter(|it| it.id == site.id && !Arc::ptr_eq(it, &site)).count()
                })
            })
            .collect();
        for it in tasks {
            assert_eq!(it.await.unwrap(), 0, "no site is open twice");
        }
        assert!(store.open_sites().len() <= 4, "{}", store.open_sites().len());
        for id in &ids {
            assert_eq!(count(&store, id, 0).await, 6, "each was counted up by five tasks");
        }
    }
}
