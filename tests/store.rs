//! What a transaction promises (docs/hazards.md §Writers sharing a commit, §Two kinds of transaction).

use std::{collections::HashSet, sync::Arc};
use stoa_kernel::{Code, Fault};
use stoa_sql::{Value, params};
use stoa_store::{Database, InsertRows, InsertWithEvent, ReaderPool, Site, Store, boxed, outbox::PendingEntry};
use stoa_testkit::{TestStore, on_both_engines};

/// A site with a little table to write into.
async fn site(kit: &TestStore) -> Arc<Site> {
    let site = kit.store.site_create("test", &kit.world).await.unwrap();
    site.write(|tx| {
        boxed!({
            tx.batch("create table stoa.tally (name text primary key, count bigint not null)").await?;
            tx.execute("insert into stoa.tally (name, count) values ($1, $2)", &params!["a", 0_i64]).await?;
            Ok(())
        })
    })
    .await
    .unwrap();
    site
}

async fn count(site: &Database, name: &'static str) -> Option<i64> {
    site.read(ReaderPool::Point, move |tx| {
        boxed!(Ok(tx.row("select count from stoa.tally where name = $1", &params![name], |row| row.get(0)).await?))
    })
    .await
    .unwrap()
}

async fn add(site: &Database, name: String) -> stoa_kernel::Result<()> {
    site.append_with(name, |tx, name| {
        boxed!({
            tx.execute("insert into stoa.tally (name, count) values ($1, $2)", &params![name, 1_i64]).await?;
            Ok(())
        })
    })
    .await
}

/// Sends new rows without waiting for any, and may think better of it.
async fn send(site: &Database, names: Vec<String>, then: Option<Code>) -> stoa_kernel::Result<()> {
    site.append_with(names, move |tx, names| {
        boxed!({
            for name in names {
                tx.send("insert into stoa.tally (name, count) values ($1, $2)", params![name, 1_i64]).await?;
            }
            then.map_or(Ok(()), |code| Err(Fault::new(code)))
        })
    })
    .await
}

/// Writes into a ledger what a later program would.
async fn record(database: &Database, scope: &'static str, number: i64, additive: i64) {
    let write = database.write(move |tx| {
        boxed!({
            let sql = "insert into stoa.migration (scope, number, name, checksum, additive) \
                       values ($1, $2, $3, 'x', $4)";
            tx.execute(sql, &params![scope, number, format!("{scope}/{number}_later"), additive]).await?;
            Ok(())
        })
    });
    write.await.unwrap();
}

/// What opening everything again says.
async fn reopened(config: &stoa_store::Config, id: &stoa_kernel::SiteId) -> Result<Arc<Store>, Fault> {
    let store = Arc::new(Store::open(config).await?);
    store.site(id).await.map(|_| store)
}

on_both_engines! {
    async fn data_of_a_later_version_are_refused_by_name(engine) {
        let kit = TestStore::new(engine).await;
        let site = kit.store.site_create("test", &kit.world).await.unwrap();
        let id = site.id.clone();
        record(kit.store.catalog(), "catalog", 98, 1).await;
        record(&site, "site", 98, 1).await;
        drop(site);
        let (config, _guards) = kit.close();
        let store = reopened(&config, &id).await.expect("what only adds something is no hindrance");
        record(&store.site(&id).await.unwrap().clone(), "site", 99, 0).await;
        store.close();
        drop(store);
        let refused = reopened(&config, &id).await.err().expect("another shape of the data");
        assert_eq!(refused.code(), Code::Unavailable);
        let text = refused.message();
        assert!(text.contains("later version of Stoa (site/99_later)"), "{text}");
    }

    async fn later_shape_of_sites_is_refused_at_start(engine) {
        let kit = TestStore::new(engine).await;
        let read = kit.store.catalog().read(ReaderPool::Point, |tx| boxed!({
            let sql = "select count(*) from stoa.migration where scope = 'site'";
            Ok(tx.row(sql, &[], |row| row.get::<i64>(0)).await?)
        }));
        assert!(read.await.unwrap().unwrap() > 10, "the catalogue tells which are done at each site that is opened");
        record(kit.store.catalog(), "site", 98, 1).await;
        let (config, guards) = kit.close();
        let store = Store::open(&config).await.expect("what only adds something is no hindrance");
        record(store.catalog(), "site", 99, 0).await;
        store.close();
        drop(store);
        let refused = Store::open(&config).await.err().expect("before any site is asked for");
        assert!(refused.message().contains("later version of Stoa (site/99_later)"), "{}", refused.message());
        drop(guards);
    }

    async fn ledger_of_an_older_version_is_completed(engine) {
        let kit = TestStore::new(engine).await;
        let site = kit.store.site_create("test", &kit.world).await.unwrap();
        let id = site.id.clone();
        for database in [kit.store.catalog(), &**site] {
            let write = database.write(|tx| boxed!(Ok(tx.batch("alter table stoa.migration drop column additive").await?)));
            // On PostgreSQL both are one database.
            let _ = write.await;
        }
        drop(site);
        let (config, _guards) = kit.close();
        let store = reopened(&config, &id).await.unwrap();
        record(store.catalog(), "catalog", 99, 0).await;
        store.close();
        drop(store);
        let refused = reopened(&config, &id).await.err().expect("the column is there again");
        assert!(refused.message().contains("catalog/99_later"), "{}", refused.message());
    }

    async fn increments_are_never_lost(engine) {
        let kit = TestStore::new(engine).await;
        let site = site(&kit).await;
        let writers: Vec<_> = (0..40)
            .map(|n| {
                let site = site.clone();
                tokio::spawn(async move {
                    site.write(move |tx| boxed!({
                        let sql = "select count from stoa.tally where name = $1";
                        let before: i64 = tx.row(sql, &params!["a"], |row| row.get(0)).await?.unwrap();
                        let sql = "update stoa.tally set count = $1 where name = $2";
                        // The loser is refused at once, or at the commit.
                        match n % 2 {
                            0 => drop(tx.execute(sql, &params![before + 1, "a"]).await?),
                            _ => tx.send(sql, params![before + 1, "a"]).await?,
                        }
                        Ok(())
                    }))
                    .await
                })
            })
            .collect();
        let mut done = 0;
        for writer in writers {
            // On PostgreSQL a writer that lost too often is refused as busy; then nothing was counted.
            done += i64::from(writer.await.unwrap().is_ok());
        }
        assert!(done > 0);
        assert_eq!(count(&site, "a").await, Some(done));
    }

    async fn refusal_undoes_only_its_own_transaction(engine) {
        let kit = TestStore::new(engine).await;
        let site = site(&kit).await;
        let writers: Vec<_> = (0..200_i64)
            .map(|n| {
                let site = site.clone();
                tokio::spawn(async move {
                    site.append(move |tx| boxed!({
                        let sql = "insert into stoa.tally (name, count) values ($1, $2)";
                        tx.execute(sql, &params![format!("n{n}"), n]).await?;
                        if n % 3 == 0 { Err(Fault::new(Code::BadRequest)) } else { Ok(n) }
                    }))
                    .await
                })
            })
            .collect();
        let mut kept = 0;
        for writer in writers {
            kept += i64::from(writer.await.unwrap().is_ok());
        }
        assert_eq!(kept, (0..200).filter(|n| n % 3 != 0).count() as i64);
        let rows = site
            .read(ReaderPool::Scan, |tx| boxed!(Ok(tx.row("select count(*) from stoa.tally", &[], |row| row.get::<i64>(0)).await?)))
            .await
            .unwrap();
        assert_eq!(rows, Some(kept + 1));
    }

    async fn sent_statements_are_written_wholly_or_not_at_all(engine) {
        let kit = TestStore::new(engine).await;
        let site = site(&kit).await;
        let names = |prefix: &str| -> Vec<String> { (0..100).map(|n| format!("{prefix}{n}")).collect() };
        send(&site, names("kept"), None).await.unwrap();
        for index in [0, 1, 50, 99] {
            let mut names = names("lost");
            names[index] = "a".to_owned();
            let refused = send(&site, names, None).await.unwrap_err();
            assert_eq!(refused.code(), Code::Internal, "a breach that nobody maps: {refused:?}");
        }
        let refused = send(&site, names("refused"), Some(Code::BadRequest)).await.unwrap_err();
        assert_eq!(refused.code(), Code::BadRequest);
        send(&site, vec!["x\0".to_owned()], None).await.unwrap_err();
        let rows = site.read(ReaderPool::Scan, |tx| boxed!(Ok(tx.rows("select name from stoa.tally", &[], |row| row.get(0)).await?)));
        let rows: Vec<String> = rows.await.unwrap();
        assert_eq!(rows.len(), 101);
        assert!(rows.iter().all(|it| it == "a" || it.starts_with("kept")), "{rows:?}");
    }

    async fn sent_statements_are_seen_by_the_next(engine) {
        let kit = TestStore::new(engine).await;
        let site = site(&kit).await;
        let seen = site
            .write(|tx| boxed!({
                let insert = "insert into stoa.tally (name, count) values ($1, $2)";
                tx.send(insert, params!["b", 1_i64]).await?;
                // This one is new to the connection and has to be prepared behind what is on its way.
                let sql = "select count(*) + 0 from stoa.tally";
                let there = tx.row(sql, &[], |row| row.get::<i64>(0)).await?;
                tx.send(insert, params!["c", 1_i64]).await?;
                Ok((there, tx.execute("delete from stoa.tally", &[]).await?))
            }))
            .await
            .unwrap();
        assert_eq!(seen, (Some(2), 3));
    }

    async fn ignored_refusal_fails_the_transaction(engine) {
        let kit = TestStore::new(engine).await;
        let site = site(&kit).await;
        for waits in [true, false] {
            let refused = site
                .write(move |tx| boxed!({
                    let insert = "insert into stoa.tally (name, count) values ($1, $2)";
                    tx.send(insert, params!["b", 1_i64]).await?;
                    match waits {
                        true => drop(tx.execute(insert, &params!["a", 1_i64]).await),
                        false => drop(tx.send(insert, params!["a", 1_i64]).await),
                    }
                    drop(tx.row("select count from stoa.tally", &[], |row| row.get::<i64>(0)).await);
                    Ok(())
                }))
                .await
                .unwrap_err();
            // The breach itself, and not what was refused for its sake.
            assert!(format!("{refused:?}").contains("unmapped unique constraint"), "{refused:?}");
        }
        assert_eq!(count(&site, "b").await, None);
    }

    async fn broken_constraint_fails_alone(engine) {
        let kit = TestStore::new(engine).await;
        let site = site(&kit).await;
        let writers: Vec<_> = (0..100)
            .map(|n| {
                let site = site.clone();
                tokio::spawn(async move { add(&site, format!("n{}", n / 2)).await })
            })
            .collect();
        let mut kept = 0;
        for writer in writers {
            kept += i32::from(writer.await.unwrap().is_ok());
        }
        assert_eq!(kept, 50, "each name once");
    }

    async fn panic_harms_no_other_transaction(engine) {
        let kit = TestStore::new(engine).await;
        let site = site(&kit).await;
        let panicking = {
            let site = site.clone();
            tokio::spawn(async move {
                site.append(|tx| boxed!({
                    tx.execute("delete from stoa.tally where name = $1", &params!["a"]).await?;
                    if tx.dialect().name() != "" { panic!("on purpose") }
                    Ok(())
                }))
                .await
            })
        };
        let mates: Vec<_> = (0..20).map(|n| { let site = site.clone(); tokio::spawn(async move { add(&site, format!("m{n}")).await }) }).collect();
        assert!(!matches!(panicking.await, Ok(Ok(()))));
        for mate in mates {
            mate.await.unwrap().unwrap();
        }
        assert_eq!(count(&site, "a").await, Some(0), "what the panicking body did is undone");
    }

    async fn dropped_request_leaves_no_transaction_open(engine) {
        let kit = TestStore::new(engine).await;
        let site = site(&kit).await;
        for n in 0..30_u64 {
            let writing = add(&site, format!("d{n}"));
            let _ = tokio::time::timeout(std::time::Duration::from_micros(n * 40), writing).await;
        }
        // Everyone else still gets through, and each name is there wholly or not at all.
        add(&site, "after".to_owned()).await.unwrap();
        assert_eq!(count(&site, "after").await, Some(1));
    }

    async fn reads_of_dropped_requests_stop_in_the_engine(engine) {
        let kit = TestStore::new(engine).await;
        let site = site(&kit).await;
        let endless: Vec<_> = (0..20)
            .map(|_| {
                let site = site.clone();
                tokio::spawn(async move {
                    let sql = "with recursive endless(i) as (select count from stoa.tally where name = $1 union all \
                               select i + 1 from endless where i < 1000000000000) select count(*) from endless";
                    site.read(ReaderPool::Scan, move |tx| {
                        boxed!(Ok(tx.row(sql, &params!["a"], |row| row.get::<i64>(0)).await?))
                    })
                    .await
                })
            })
            .collect();
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        for it in endless {
            it.abort();
            assert!(it.await.is_err_and(|it| it.is_cancelled()));
        }
        // On SQLite a turn ends with the thread's work; on PostgreSQL the server itself says what it works on.
        let patient = std::time::Duration::from_secs(20);
        let sql = match site.dialect().name() {
            "sqlite" => "select 0",
            _ => "select count(*) from pg_stat_activity where state = 'active' and query like 'with recursive endless%' and datname = current_database()",
        };
        let stopped = async {
            loop {
                let read = site.read(ReaderPool::Scan, move |tx| boxed!(Ok(tx.row(sql, &[], |row| row.get::<i64>(0)).await?)));
                if read.await.unwrap() == Some(0) {
                    return;
                }
                tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            }
        };
        tokio::time::timeout(patient, stopped).await.expect("what no one waits for stops before its limit of 30 s");
    }

    async fn inserted_rows_tell_which_were_new(engine) {
        let kit = TestStore::new(engine).await;
        let site = site(&kit).await;
        let inserted = site
            .append(|tx| boxed!({
                let rows = ["b", "a", "c"].map(|name| [Value::from(name), Value::Int(7)]);
                let rows = rows.each_ref().map(|it| &it[..]);
                let values = ["$1".to_owned(), "$2".to_owned()];
                let into = "insert into stoa.tally (name, count)";
                Ok(tx.insert_rows(InsertRows { into, values: &values, key: "name", key_index: 0, replace: None, keeps_order: true, rows: &rows }).await?)
            }))
            .await
            .unwrap();
        assert_eq!(inserted, [true, false, true]);
        assert_eq!((count(&site, "a").await, count(&site, "c").await), (Some(0), Some(7)));
    }

    async fn inserts_that_wait_share_a_statement(engine) {
        let kit = TestStore::new(engine).await;
        let site = site(&kit).await;
        let table = "create table stoa.checked (name text primary key, count bigint not null check (count < 100))";
        site.write(move |tx| boxed!(Ok(tx.batch(table).await?))).await.unwrap();
        let inserts: Vec<_> = (0..200_i64)
            .map(|n| {
                let site = site.clone();
                let (name, count) = (format!("n{}", n % 190), if n == 7 { 100 } else { n % 50 });
                let event = PendingEntry { site: site.id.clone(), kind: "made", payload: name.clone(), now: 5 };
                let (into, values) = ("insert into stoa.checked (name, count)".to_owned(), vec!["$1".into(), "$2".into()]);
                let insert = InsertWithEvent { into, values, key: "name", row: params![name, count].into(), event };
                tokio::spawn(async move { site.insert_with_event(insert).await })
            })
            .collect();
        let (mut written, mut refused, mut failed) = (0, 0, Vec::new());
        for (n, it) in inserts.into_iter().enumerate() {
            match it.await.unwrap() {
                Ok(true) => written += 1,
                Ok(false) => refused += 1,
                Err(fault) => failed.push((n, fault.code())),
            }
        }
        // Of each two of one name the first is written, and what the engine refuses fails alone.
        assert_eq!((written, refused, failed), (190, 9, vec![(7, Code::Internal)]));
        let read = site.read(ReaderPool::Point, |tx| boxed!({
            let sql = "select payload, tx from stoa.outbox where kind = 'made' order by seq";
            Ok(tx.rows(sql, &[], |row| Ok((row.get::<String>(0)?, row.get::<i64>(1)?))).await?)
        }));
        let entries = read.await.unwrap();
        let (names, transactions): (HashSet<_>, HashSet<_>) = entries.iter().cloned().unzip();
        assert_eq!((entries.len(), names.len()), (190, 190));
        // Also those that were on their way together with the one that was refused.
        assert!(transactions.len() < 95, "{} transactions", transactions.len());
    }

    async fn second_start_finds_all_data(engine) {
        let kit = TestStore::new(engine).await;
        let site = site(&kit).await;
        add(&site, "kept".to_owned()).await.unwrap();
        let id = site.id.clone();
        drop(site);
        let (config, _guards) = kit.close();
        let store = Store::open(&config).await.unwrap();
        assert_eq!(count(&store.site(&id).await.unwrap(), "kept").await, Some(1));
    }

    async fn directory_has_one_owner(engine) {
        let kit = TestStore::new(engine).await;
        let refused = Store::open(&kit.config).await.err().expect("the lock is held");
        assert!(refused.message().contains("in use by another process"));
    }

    async fn unknown_site_is_refused(engine) {
        let kit = TestStore::new(engine).await;
        let refused = kit.store.site(&"nobody".into()).await.err().unwrap();
        assert_eq!(refused.code(), Code::SiteUnknown);
    }

    async fn folding_is_one_function(engine) {
        let kit = TestStore::new(engine).await;
        let site = site(&kit).await;
        let different = site
            .read(ReaderPool::Scan, |tx| boxed!({
                let function = if tx.dialect().name() == "sqlite" { "stoa_fold" } else { "stoa.fold" };
                let mut different = Vec::new();
                let all: Vec<char> = (1..=0x10_ffff_u32).filter_map(char::from_u32).collect();
                for chunk in all.chunks(4096) {
                    let text: String = chunk.iter().collect();
                    let sql = format!("select {function}($1)");
                    let folded: String = tx.row(&sql, &params![&text], |row| row.get(0)).await?.unwrap();
                    if folded != stoa_kernel::fold::fold(&text) {
                        different.push(chunk[0]);
                    }
                }
                Ok(different)
            }))
            .await
            .unwrap();
        assert_eq!(different, Vec::<char>::new(), "blocks of code points that fold differently");
    }
}

/// A full disk refuses clearly, loses nothing that was acknowledged, and is over when there is room.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn full_disk_is_survived() {
    let kit = TestStore::new(stoa_testkit::Engine::Sqlite).await;
    let site = site(&kit).await;
    let limit = |pages: String| {
        let site = site.clone();
        async move {
            let done: stoa_kernel::Result<()> =
                site.write_with(pages, |tx, pages| boxed!(Ok(tx.batch(pages).await?))).await;
            done.unwrap();
        }
    };
    let pages = site.read(ReaderPool::Point, |tx| {
        boxed!(Ok(tx.row("select page_count from pragma_page_count", &[], |row| row.get::<i64>(0)).await?))
    });
    let pages = pages.await.unwrap().unwrap() + 40;
    limit(format!("pragma stoa.max_page_count = {pages}")).await;
    let writers: Vec<_> = (0..200)
        .map(|n| {
            let site = site.clone();
            tokio::spawn(async move { add(&site, format!("{n:0>4000}")).await.map(|()| format!("{n:0>4000}")) })
        })
        .collect();
    let (mut kept, mut refused) = (Vec::new(), 0);
    for writer in writers {
        match writer.await.unwrap() {
            Ok(name) => kept.push(name),
            Err(fault) => {
                assert_eq!(fault.code(), Code::StorageFull, "{fault:?}");
                refused += 1;
            }
        }
    }
    assert!(!kept.is_empty() && refused > 0, "{} kept, {refused} refused", kept.len());
    let there: Vec<String> = site
        .read(ReaderPool::Scan, |tx| {
            boxed!(Ok(tx.rows("select name from stoa.tally where name <> $1", &params!["a"], |row| row.get(0)).await?))
        })
        .await
        .unwrap();
    assert_eq!(there.len(), kept.len());
    assert!(kept.iter().all(|it| there.contains(it)));
    limit("pragma stoa.max_page_count = 1000000".to_owned()).await;
    add(&site, "again".to_owned()).await.unwrap();
}

on_both_engines! {
    async fn point_reads_go_on_beside_long_reads(engine) {
        let kit = TestStore::new(engine).await;
        let site = site(&kit).await;
        let long = || {
            let site = site.clone();
            tokio::spawn(async move {
                let endless = "with recursive n(i) as (select 1 union all select i + 1 from n where i < 2000000000) select count(*) from n";
                let read: stoa_kernel::Result<Option<i64>> = site
                    .read(ReaderPool::Scan, move |tx| boxed!(Ok(tx.row(endless, &[], |row| row.get(0)).await?)))
                    .await;
                read
            })
        };
        let running: Vec<_> = (0..4).map(|_| long()).collect();
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        for _ in 0..50 {
            assert_eq!(count(&site, "a").await, Some(0));
        }
        // The caller goes away, so the work stops and the reader is free again.
        running.iter().for_each(|it| it.abort());
        let free = site.read(ReaderPool::Scan, |tx| boxed!(Ok(tx.row("select count(*) from stoa.tally", &[], |row| row.get::<i64>(0)).await?)));
        let free = tokio::time::timeout(std::time::Duration::from_secs(10), free).await;
        assert_eq!(free.expect("the pool is free").unwrap(), Some(1));
    }
}

/// Scans that overlap leave the log no moment to restart by itself.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn log_stays_bounded_under_continuous_readers() {
    let kit = TestStore::new(stoa_testkit::Engine::Sqlite).await;
    let site = site(&kit).await;
    let scans = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let readers: Vec<_> = (0..4)
        .map(|_| {
            let (site, scans) = (site.clone(), scans.clone());
            tokio::spawn(async move {
                let sql = "with recursive n(i) as (select count from stoa.tally where name = $1 union all \
                           select i + 1 from n where i < 300000) select count(*) from n";
                loop {
                    let read = site.read(ReaderPool::Scan, move |tx| {
                        boxed!(Ok(tx.row(sql, &params!["a"], |row| row.get::<i64>(0)).await?))
                    });
                    read.await.unwrap();
                    scans.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                }
            })
        })
        .collect();
    let log = kit.data().join("sites").join(format!("{}.db-wal", site.id.as_str()));
    let (text, mut longest, mut shortest) = ("x".repeat(256 << 10), 0, u64::MAX);
    for n in 0..600 {
        add(&site, format!("{n}{text}")).await.unwrap();
        let length = std::fs::metadata(&log).unwrap().len();
        longest = longest.max(length);
        shortest = if longest > 32 << 20 { shortest.min(length) } else { shortest };
    }
    readers.iter().for_each(|it| it.abort());
    assert!(scans.load(std::sync::atomic::Ordering::Relaxed) > 4, "scans went on all the time");
    assert!(longest < 128 << 20, "the log grew to {} MB of 300 that were written", longest >> 20);
    assert!(shortest < 16 << 20, "and was emptied, not only kept from growing: {} MB", shortest >> 20);
}

/// What was decided on rows that are not committed is not answered before they are, and not at all if they
/// never will be.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn refusal_waits_for_the_commit_it_rests_on() {
    let kit = TestStore::new(stoa_testkit::Engine::Sqlite).await;
    let site = site(&kit).await;
    // A row that points nowhere is found at the commit, and takes the commit with it.
    let table = "create table stoa.pointer (name text references tally (name) deferrable initially deferred)";
    site.write(move |tx| boxed!(Ok(tx.batch(table).await?))).await.unwrap();
    let (free, wait) = std::sync::mpsc::channel::<()>();
    let wait = std::sync::Mutex::new(wait);
    let busy = {
        let site = site.clone();
        tokio::spawn(async move {
            site.append_with(wait, |_, wait| {
                boxed!({
                    let _ = wait.lock().unwrap().recv();
                    Ok(())
                })
            })
            .await
        })
    };
    let moment = || tokio::time::sleep(std::time::Duration::from_millis(100));
    moment().await;
    let write = |points_nowhere: bool| {
        let site = site.clone();
        tokio::spawn(async move {
            site.append(move |tx| {
                boxed!({
                    let sql = "insert into stoa.tally (name, count) values ($1, $2)";
                    match tx.execute(sql, &params!["contested", 1_i64]).await {
                        Err(stoa_store::Error::Unique(_)) => return Err(Fault::new(Code::AlreadyExists)),
                        it => it?,
                    };
                    if points_nowhere {
                        tx.execute("insert into stoa.pointer (name) values ($1)", &params!["nowhere"]).await?;
                    }
                    Ok(())
                })
            })
            .await
        })
    };
    // Both wait for the busy one, and so share the next commit.
    let first = write(true);
    moment().await;
    let second = write(false);
    moment().await;
    free.send(()).unwrap();
    busy.await.unwrap().unwrap();
    assert!(first.await.unwrap().is_err());
    let refusal = second.await.unwrap();
    assert_ne!(refusal.as_ref().err().map(Fault::code), Some(Code::AlreadyExists), "the name is not there");
    assert_eq!(count(&site, "contested").await, refusal.is_ok().then_some(1));
    add(&site, "after".to_owned()).await.unwrap();
}

on_both_engines! {
    async fn deadlocked_transactions_both_complete(engine) {
        let kit = TestStore::new(engine).await;
        let site = site(&kit).await;
        add(&site, "b".to_owned()).await.unwrap();
        let runs = Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let swap = |names: [&'static str; 2]| {
            let (site, runs) = (site.clone(), runs.clone());
            tokio::spawn(async move {
                // Two rows in one order and in the other, with a pause between in which the other takes its first.
                site.append_with(runs, move |tx, runs| {
                    boxed!({
                        runs.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                        for name in names {
                            tx.execute("update stoa.tally set count = count + 1 where name = $1", &params![name]).await?;
                            if tx.dialect().name() == "postgres" {
                                tx.row("select pg_sleep(0.3)", &[], |_| Ok(())).await?;
                            }
                        }
                        Ok(())
                    })
                })
                .await
            })
        };
        let (one, other) = (swap(["a", "b"]), swap(["b", "a"]));
        one.await.unwrap().unwrap();
        other.await.unwrap().unwrap();
        assert_eq!((count(&site, "a").await, count(&site, "b").await), (Some(2), Some(3)));
        // On PostgreSQL one of them was a victim (40P01) and ran again.
        let expected = if site.dialect().name() == "postgres" { 3 } else { 2 };
        assert_eq!(runs.load(std::sync::atomic::Ordering::Relaxed), expected);
    }

    async fn schema_change_does_not_wait_forever(engine) {
        let kit = TestStore::new(engine).await;
        let site = site(&kit).await;
        let change = || stoa_store::SchemaChange {
            key: (site.number, 1),
            only_if: ("select 1".to_owned(), Vec::new()),
            statements: vec!["alter table stoa.tally add column more bigint".to_owned()],
            then: ("update stoa.tally set count = count + 1".to_owned(), Vec::new()),
            event: None,
        };
        if engine == stoa_testkit::Engine::Postgres {
            let reader = {
                let site = site.clone();
                tokio::spawn(async move {
                    site.append(|tx| boxed!({
                        tx.row("select count from stoa.tally", &[], |_| Ok(())).await?;
                        tx.row("select pg_sleep(8)", &[], |_| Ok(())).await?;
                        Ok(())
                    }))
                    .await
                })
            };
            tokio::time::sleep(std::time::Duration::from_millis(300)).await;
            // It gives up, and lets those pass who wait behind it, before the reader is done.
            let refused = site.change_schema(change()).await;
            assert!(matches!(refused, Err(stoa_store::Error::Retry(_))), "{refused:?}");
            assert!(!reader.is_finished());
            assert_eq!(count(&site, "a").await, Some(0));
            assert!(!reader.is_finished());
            reader.await.unwrap().unwrap();
        }
        assert_eq!(site.change_schema(change()).await, Ok(true));
        assert_eq!(count(&site, "a").await, Some(1));
    }

    async fn prepared_statements_are_bounded(engine) {
        let kit = TestStore::new(engine).await;
        let site = site(&kit).await;
        // More texts than the four connections that reads share keep all together.
        for n in 0..4_400 {
            let sql = format!("select {n} + count from stoa.tally where name = $1");
            let read = site.read(ReaderPool::Point, move |tx| boxed!(Ok(tx.row(&sql, &params!["a"], |row| row.get::<i64>(0)).await?)));
            assert_eq!(read.await.unwrap(), Some(n));
        }
        if engine == stoa_testkit::Engine::Postgres {
            for _ in 0..8 {
                let sql = "select count(*) from pg_prepared_statements";
                let kept = site.read(ReaderPool::Point, move |tx| boxed!(Ok(tx.row(sql, &[], |row| row.get::<i64>(0)).await?)));
                assert!((1..=1_000).contains(&kept.await.unwrap().unwrap()), "what was let go is closed at the server");
            }
        }
    }
}

#[tokio::test]
async fn database_in_another_encoding_is_refused() {
    let kit = TestStore::new(stoa_testkit::Engine::Postgres).await;
    let site = site(&kit).await;
    let url = kit.config.database_url.clone().unwrap();
    let (server, name) = url.rsplit_once('/').unwrap();
    let other = format!("{name}_latin");
    let outside = |statement: String| stoa_store::SchemaChange {
        key: (0, 0),
        only_if: ("select 1".to_owned(), Vec::new()),
        statements: vec![statement],
        then: ("select 1".to_owned(), Vec::new()),
        event: None,
    };
    let create = format!("create database {other} encoding 'LATIN1' locale 'C' template template0");
    // Other tests make databases from the same one, and a change of the schema doesn't wait for long.
    while !site.change_schema(outside(create.clone())).await.unwrap() {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    let mut config = stoa_store::Config { database_url: Some(format!("{server}/{other}")), ..kit.config.clone() };
    config.data = kit.data().join("other");
    let refused = Store::open(&config).await.err().expect("text would not fit");
    assert!(refused.message().contains("encoding LATIN1"), "{refused:?}");
    assert_eq!(site.change_schema(outside(format!("drop database {other} with (force)"))).await, Ok(true));
}
