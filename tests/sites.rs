//! How many sites stay open: those used last, up to a number, and those in use beside them.

use std::{collections::HashSet, sync::Arc, time::Duration};
use stoa_kernel::SiteId;
use stoa_sql::params;
use stoa_store::{Config, ReaderPool, SITE_KEPT, Site, SiteChange, Store, boxed};
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

    async fn deleted_site_goes_for_good_after_its_time(engine) {
        let kit = TestStore::new(engine).await;
        let wanted = SiteChange {
            name: Some("Gone".to_owned()),
            add_hosts: vec!["gone.test".to_owned()],
            ..SiteChange::default()
        };
        let gone = kit.store.site_make(wanted, &kit.world).await.unwrap().id.clone();
        let stays = kit.store.site_create("Stays", &kit.world).await.unwrap().id.clone();
        for id in [&gone, &stays] {
            count(&kit.store, id, 1).await;
        }
        let link = kit.store.catalog().write_with(gone.clone(), |tx, site| {
            boxed!({
                let sql = "insert into stoa.person_link (hash, person, site, created, expires) \
                           values ($1, 'p', $2, 1, 2)";
                tx.execute(sql, &params![vec![7_u8], site]).await?;
                Ok(())
            })
        });
        link.await.unwrap();
        let number = kit.store.site(&gone).await.unwrap().number;
        assert_eq!(kit.store.site_by_host("gone.test").await.unwrap().id, gone);
        let now = kit.world.now();
        let used = kit.store.site(&gone).await.unwrap();
        kit.store.site_delete(&gone, now).await.unwrap();
        assert!(kit.store.site(&gone).await.is_err(), "also while someone uses it");
        drop(used);
        assert!(kit.store.site(&gone).await.is_err() && kit.store.site_delete(&gone, now).await.is_err());
        assert_eq!(kit.store.site_by_host("gone.test").await.unwrap().id, stays, "the only one there is");

        assert_eq!(kit.store.sites_purge(now + SITE_KEPT - 1).await.unwrap(), 0);
        kit.store.site_restore(&gone, now + SITE_KEPT - 1).await.unwrap();
        assert_eq!(count(&kit.store, &gone, 0).await, 1, "all of it came back");
        kit.store.site_delete(&gone, now).await.unwrap();
        assert!(kit.store.site_restore(&gone, now + SITE_KEPT).await.is_err());
        assert_eq!(kit.store.sites_purge(now + SITE_KEPT).await.unwrap(), 1);
        assert_eq!(kit.store.sites_purge(now + SITE_KEPT).await.unwrap(), 0);
        assert!(kit.store.site_list(true).await.unwrap().is_empty());
        assert_eq!(count(&kit.store, &stays, 0).await, 1);
        match engine {
            Engine::Sqlite => {
                let files = std::fs::read_dir(kit.data().join("sites")).unwrap();
                let left = files.filter(|it| it.as_ref().unwrap().file_name().to_string_lossy().contains(gone.as_str()));
                assert_eq!(left.count(), 0);
            }
            Engine::Postgres => {
                let key = gone.clone();
                let read = kit.store.catalog().read(ReaderPool::Point, move |tx| {
                    boxed!({
                        let sql = "select count(*) from stoa.setting where site = $1";
                        Ok(tx.row(sql, &params![&key], |row| row.get::<i64>(0)).await?)
                    })
                });
                assert_eq!(read.await.unwrap(), Some(0));
            }
        }
        let links = kit.store.catalog().read(ReaderPool::Point, |tx| {
            let sql = "select count(*) from stoa.person_link";
            boxed!(Ok(tx.row(sql, &[], |row| row.get::<i64>(0)).await?))
        });
        assert_eq!(links.await.unwrap(), Some(0));
        let next = kit.store.site_create("Next", &kit.world).await.unwrap();
        assert_ne!(next.number, number, "a number is given once");
    }

    async fn site_changes_are_all_or_nothing(engine) {
        let kit = TestStore::new(engine).await;
        let id = kit.store.site_create("One", &kit.world).await.unwrap().id.clone();
        let other = SiteChange {
            name: Some("Two".to_owned()),
            add_hosts: vec!["two.test".to_owned()],
            is_default: Some(true),
            ..SiteChange::default()
        };
        kit.store.site_make(other, &kit.world).await.unwrap();
        let taken = SiteChange {
            name: Some("New".to_owned()),
            add_hosts: vec!["one.test".to_owned(), "TWO.test".to_owned()],
            is_default: Some(true),
            ..SiteChange::default()
        };
        let before = kit.store.site_list(false).await.unwrap();
        assert!(kit.store.site_update(&id, taken.clone(), 1).await.is_err());
        assert!(kit.store.site_make(taken.clone(), &kit.world).await.is_err());
        assert_eq!(kit.store.site_list(false).await.unwrap(), before);
        let open = kit.store.site(&id).await.unwrap();
        let free = SiteChange { add_hosts: vec!["one.test".to_owned()], ..taken };
        let after = kit.store.site_update(&id, free, 1).await.unwrap();
        assert_eq!((after.name.as_str(), after.is_default, open.name().as_str()), ("New", true, "New"));
        let defaults = kit.store.site_list(false).await.unwrap().into_iter().filter(|it| it.is_default).count();
        assert_eq!(defaults, 1, "it takes the place of the other");
        for wrong in ["", " ", "a\nb", &"x".repeat(101)] {
            let change = SiteChange { name: Some(wrong.to_owned()), ..SiteChange::default() };
            assert!(kit.store.site_update(&id, change, 1).await.is_err(), "{wrong:?}");
        }
        for wrong in ["http://x", "x:80", "-x.test", "a b", ""] {
            let change = SiteChange { add_hosts: vec![wrong.to_owned()], ..SiteChange::default() };
            assert!(kit.store.site_update(&id, change, 1).await.is_err(), "{wrong:?}");
        }
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

/// What one process does with a site others see soon.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn site_changes_reach_other_processes() {
    let kit = TestStore::new(Engine::Postgres).await;
    let beside = tempfile::tempdir().unwrap();
    let other = Store::open(&Config { data: beside.path().to_owned(), ..kit.config.clone() }).await.unwrap();
    let id = kit.store.site_create("One", &kit.world).await.unwrap().id.clone();
    let seen = other.site(&id).await.unwrap();
    let now = kit.world.now();
    let change = SiteChange { name: Some("Two".to_owned()), ..SiteChange::default() };
    kit.store.site_update(&id, change, now).await.unwrap();
    other.sites_refresh(now).await.unwrap();
    assert_eq!(seen.name(), "Two");
    kit.store.site_delete(&id, now).await.unwrap();
    other.sites_refresh(now).await.unwrap();
    assert!(other.site(&id).await.is_err());
    other.close();
}
