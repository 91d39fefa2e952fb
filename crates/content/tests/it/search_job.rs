//! The job that keeps the index of words: whatever is written, and wherever the job is killed, the index afterwards
//! equals one that is built of the items as they are.

use crate::{common::*, jobs, search};
use serde_json::{Value, json};
use std::{
    future::poll_fn,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::Poll,
    time::Duration,
};
use stoa_content::{
    Request,
    search::{Index, NewSegment},
    transfer::{FileOf, Format},
};
use stoa_search::{
    document::FieldText,
    segment::{Builder, Segment},
};
use stoa_sql::Table;
use stoa_store::{
    Consumers, Held, Names, ReaderPool, Serving, Site, TxFuture, Worker, boxed,
    outbox::{self, Lease, LeaseTimes, RESTORED},
};
use stoa_testkit::{Engine, on_both_engines, rounds};

const TIMES: LeaseTimes = LeaseTimes { look: 10, renewal: 30, life: 60_000 };

/// Is killed when it was waited for so often, and the next time once more than that: between any two transactions.
struct Killed {
    worker: Arc<dyn Worker>,
    waits: AtomicUsize,
}

impl Worker for Killed {
    fn work<'w>(&'w self, held: Held) -> TxFuture<'w, ()> {
        let mut left = self.waits.fetch_add(1, Ordering::Relaxed);
        let mut work = self.worker.work(held);
        boxed!({
            let killed = poll_fn(move |context| match left.checked_sub(1) {
                None => Poll::Ready(Ok(())),
                Some(it) => {
                    left = it;
                    work.as_mut().poll(context)
                }
            });
            killed.await
        })
    }
}

/// Loses its lease when it was waited for so often, and the next time once more than that, and goes on as one that stood
/// still.
struct Robbed {
    worker: Arc<dyn Worker>,
    waits: AtomicUsize,
    /// How often it noticed, and how often something was written after that.
    ended: AtomicUsize,
    wrote: AtomicUsize,
}

impl Worker for Robbed {
    fn work<'w>(&'w self, held: Held) -> TxFuture<'w, ()> {
        let mut left = self.waits.fetch_add(1, Ordering::Relaxed);
        let (site, consumer) = (held.site().clone(), held.consumer().to_owned());
        let mut work = self.worker.work(held);
        boxed!({
            let ended = poll_fn(|context| match left.checked_sub(1) {
                None => Poll::Ready(None),
                Some(it) => {
                    left = it;
                    work.as_mut().poll(context).map(Some)
                }
            });
            if let Some(ended) = ended.await {
                return ended;
            }
            // A transaction of its own that proves the lease has it to the end, so both go on.
            let mut robbery = std::pin::pin!(rob(&site, &consumer));
            let mut ended = None;
            let (lease, before) = loop {
                tokio::select! {
                    it = &mut robbery => break it,
                    it = &mut work, if ended.is_none() => ended = Some(it),
                }
            };
            if ended.is_none() {
                ended = Some(work.await);
                self.wrote.fetch_add(usize::from(written(&site).await != before), Ordering::Relaxed);
                self.ended.fetch_add(1, Ordering::Relaxed);
            }
            site.outbox().release(&lease).await?;
            ended.unwrap()
        })
    }
}

/// Takes the lease of a consumer, whoever has it; and what is stored of indexes from then on.
async fn rob(site: &Site, consumer: &str) -> (Lease, Vec<(i64, String, i64, i64)>) {
    loop {
        let rows = site.outbox().consumers().await.unwrap();
        let row = rows.iter().find(|it| it.name == consumer).unwrap();
        // Its holder may have said just then that it is alive.
        if let Some(lease) = site.outbox().take(row, "another").await.unwrap() {
            return (lease, written(site).await);
        }
    }
}

/// The segments, with their states, the bytes of their dead items and their lists.
async fn written(site: &Site) -> Vec<(i64, String, i64, i64)> {
    let read = site.read(ReaderPool::Scan, |tx| {
        boxed!({
            let sql = "select s.segment, s.state, cast(octet_length(s.dead) as bigint), \
                       (select count(*) from stoa.search_list l where l.site = s.site and l.collection = s.collection \
                        and l.segment = s.segment) from stoa.search_segment s order by s.collection, s.segment";
            let all = tx.rows(sql, &[], |row| {
                Ok((row.get::<i64>(0)?, row.get::<String>(1)?, row.get::<i64>(2)?, row.get::<i64>(3)?))
            });
            Ok(all.await?)
        })
    });
    read.await.unwrap()
}

fn consumers(world: &World) -> Consumers {
    Consumers::new(world.test.store.clone(), world.test.world.clone(), TIMES)
}

/// Has the index of the site's collections kept while the answer lives.
pub async fn serve(world: &World) -> Serving {
    world.content.search_subscribe(&world.site).await.unwrap();
    world.content.search_serve(&consumers(world))
}

async fn until(what: &str, is_so: impl AsyncFn() -> bool) {
    for _ in 0..6_000 {
        if is_so().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{what}: not within a minute");
}

pub async fn caught_up(world: &World) {
    let is_late = async || !world.content.search_lag(&world.site).await.unwrap().is_none();
    until("the index has caught up", async || !is_late().await).await;
}

pub async fn number(world: &World) -> Option<i64> {
    let read = world.site.read(ReaderPool::Point, |tx| {
        boxed!({
            let sql = "select number from stoa.collection where id = 'c' and deleted is null";
            Ok(tx.row(sql, &[], |row| row.get(0)).await?)
        })
    });
    read.await.unwrap()
}

async fn segments(world: &World) -> Vec<Segment> {
    let Some(collection) = number(world).await else { return Vec::new() };
    let index = Index { site: world.site.id.clone(), collection };
    let all = search::all_of(&world.site, index).await.unwrap();
    all.into_iter().map(|it| it.1).collect()
}

/// What is stored of the index, as one segment.
async fn stored(world: &World) -> Segment {
    Segment::merge(&segments(world).await).unwrap()
}

/// A plain reading: these fields of all items, with their bits, the first one that is displayed.
async fn expected(world: &World, fields: &'static [&'static str], is_first_displayed: bool) -> Segment {
    let table = Table { site: world.site.number, number: number(world).await.unwrap() };
    let read = world.site.read(ReaderPool::Scan, move |tx| {
        boxed!({
            let sql = format!("select rid, doc from {}", tx.dialect().table(table));
            Ok(tx.rows(&sql, &[], |row| Ok((row.get::<i64>(0)?, row.doc(1)?.into_owned()))).await?)
        })
    });
    let mut builder = Builder::default();
    for (rid, doc) in read.await.unwrap() {
        let doc: Value = serde_json::from_str(&doc).unwrap();
        let text = |it: &Value| match it {
            Value::Array(all) => Some(all.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n")),
            it => it.as_str().map(str::to_owned),
        };
        let texts: Vec<_> = fields.iter().enumerate().filter_map(|(n, it)| Some((n, text(&doc[*it])?))).collect();
        let texts: Vec<_> = texts
            .iter()
            .map(|(n, text)| FieldText { bit: 1 << n, is_display: is_first_displayed && *n == 0, text })
            .collect();
        builder.put(rid.unsigned_abs(), &texts);
    }
    builder.build()
}

async fn is_as_built_anew(world: &World) {
    caught_up(world).await;
    assert_eq!(stored(world).await, expected(world, &["title", "tags"], false).await);
}

async fn execute(world: &World, sql: &'static str) {
    world.site.write_with(sql, |tx, sql| boxed!(Ok(tx.execute(sql, &[]).await?))).await.unwrap();
}

async fn count(world: &World, sql: &'static str) -> i64 {
    let read = world.site.read(ReaderPool::Point, move |tx| boxed!(Ok(tx.row(sql, &[], |row| row.get(0)).await?)));
    read.await.unwrap().unwrap()
}

/// Has all collections looked at: the log tells of a definition.
async fn touch_definitions(world: &World) {
    let id = format!("touched{}", world.test.world.uuid());
    world
        .create(
            &id,
            json!({ "itemRead": "ANYONE", "itemInsert": "ANYONE", "itemUpdate": "ANYONE", "itemRemove": "ANYONE" }),
        )
        .await;
}

async fn truncate(world: &World) -> stoa_kernel::Result<()> {
    let body = json!({ "dataCollectionId": "c" }).to_string();
    world.content.item_truncate(&world.site, &owner(), &Request::parse(body.as_bytes())?).await
}

async fn import(world: &World, lines: &str) {
    let file = FileOf { collection: "c", format: Format::JsonLines };
    world.content.import(&world.site, &app(), file, lines.as_bytes(), |_| {}).await.unwrap();
}

/// Numbers from 0 up to a bound, from the fixed clock's sequence.
pub fn random(world: &World, bound: usize) -> usize {
    (u32::from_le_bytes(world.test.world.bytes::<4>()) as usize) % bound
}

pub fn words(world: &World) -> String {
    let word = |_| ["red", "car", "São", "Paulo", "東京タワー", "new", "york"][random(world, 7)];
    (0..random(world, 6)).map(word).collect::<Vec<_>>().join(" ")
}

fn item(world: &World) -> Value {
    let mut item = json!({ "_id": format!("i{}", random(world, 12)), "title": words(world), "n": random(world, 9) });
    if random(world, 2) == 0 {
        item["tags"] = json!([words(world), words(world)]);
    }
    item
}

/// One call out of all that write items.
pub async fn write(world: &World) {
    let id = format!("i{}", random(world, 12));
    match random(world, 12) {
        0..3 => drop(world.insert(&app(), item(world)).await),
        3..5 => drop(world.update(&app(), item(world), None).await),
        5..7 => drop(world.remove(&app(), &id, None).await),
        7 => {
            let items: Vec<_> = (0..4).map(|_| item(world)).collect();
            drop(world.bulk(&app(), "save", &many(items)).await);
        }
        8 => {
            let ids: Vec<_> = (0..5).map(|n| format!("i{}", n * 2)).collect();
            world.bulk(&app(), "remove", &json!({ "dataCollectionId": "c", "dataItemIds": ids })).await.unwrap();
        }
        9 => import(world, &format!("{}\n{}\n", item(world), item(world))).await,
        10 => {
            let patch = json!([{ "dataItemId": id, "fieldModifications": [
                { "fieldPath": "title", "action": "SET_FIELD", "setFieldOptions": { "value": words(world) } }] }]);
            drop(world.bulk(&app(), "patch", &json!({ "dataCollectionId": "c", "patches": patch })).await);
        }
        _ if random(world, 6) == 0 => truncate(world).await.unwrap(),
        _ => {}
    }
}

on_both_engines! {
    async fn random_histories_leave_the_index_of_their_items(engine) {
        let world = World::open(engine).await;
        let _serving = serve(&world).await;
        for _ in 0..rounds(6) {
            for _ in 0..random(&world, 30) {
                write(&world).await;
            }
            is_as_built_anew(&world).await;
        }
    }

    async fn random_histories_of_definitions_leave_the_index_of_their_items(engine) {
        for _ in 0..rounds(2) {
            let world = World::open(engine).await;
            let _serving = serve(&world).await;
            let (mut has_tags, mut is_displayed) = (true, false);
            let mut changes = vec!["displayField", "tags", "truncate", "truncate", "none"];
            while !changes.is_empty() {
                for _ in 0..random(&world, 20) {
                    write(&world).await;
                }
                match changes.swap_remove(random(&world, changes.len())) {
                    "displayField" => {
                        let object = json!({ "id": "c", "displayField": "title" });
                        world.content.collection_patch(&world.site, &owner(), &object).await.unwrap();
                        is_displayed = true;
                    }
                    "tags" => {
                        world.content.field_delete(&world.site, &owner(), "c", "tags").await.unwrap();
                        has_tags = false;
                    }
                    "truncate" => truncate(&world).await.unwrap(),
                    _ => {}
                }
                for _ in 0..random(&world, 8) {
                    write(&world).await;
                }
                caught_up(&world).await;
                let fields: &[&str] = if has_tags { &["title", "tags"] } else { &["title"] };
                assert_eq!(stored(&world).await, expected(&world, fields, is_displayed).await);
            }
        }
    }

    async fn job_that_is_killed_anywhere_leaves_the_same(engine) {
        let world = World::open(engine).await;
        for _ in 0..20 {
            write(&world).await;
        }
        let consumers = consumers(&world);
        world.content.search_subscribe(&world.site).await.unwrap();
        for _ in 0..rounds(2) {
            let killed = Arc::new(Killed { worker: world.content.search_worker(), waits: AtomicUsize::new(1) });
            let serving = consumers.serve(Names::Kind("search"), killed.clone());
            for _ in 0..20 {
                write(&world).await;
                tokio::time::sleep(Duration::from_millis(random(&world, 30) as u64)).await;
            }
            is_as_built_anew(&world).await;
            serving.end().await;
            let kills = killed.waits.load(Ordering::Relaxed);
            assert!(kills > 5, "{kills}");
        }
        // Nothing is left of what was cut off.
        let _serving = world.content.search_serve(&consumers);
        until("all is swept", async || count(&world, "select count(*) from stoa.search_segment where state <> 'LIVE'").await == 0).await;
        let lists = "select count(*) from stoa.search_list l where not exists (select 1 from stoa.search_segment s \
                     where s.site = l.site and s.collection = l.collection and s.segment = l.segment)";
        assert_eq!(count(&world, lists).await, 0);
        is_as_built_anew(&world).await;
    }

    async fn holder_that_lost_its_lease_in_the_middle_writes_nothing_more(engine) {
        let world = World::open(engine).await;
        for _ in 0..20 {
            write(&world).await;
        }
        world.content.search_subscribe(&world.site).await.unwrap();
        // Looked at so seldom that the holder itself notices first.
        let times = LeaseTimes { look: 300, renewal: 100, life: 2_000 };
        let node = Consumers::new(world.test.store.clone(), world.test.world.clone(), times);
        let (worker, zero) = (world.content.search_worker(), || AtomicUsize::new(0));
        let robbed = Arc::new(Robbed { worker, waits: AtomicUsize::new(1), ended: zero(), wrote: zero() });
        let serving = node.serve(Names::Kind("search"), robbed.clone());
        until("leases are lost in the middle", async || {
            write(&world).await;
            robbed.ended.load(Ordering::Relaxed) >= rounds(6)
        })
        .await;
        serving.end().await;
        execute(&world, "update stoa.outbox_consumer set holder = null where name = 'search'").await;
        assert_eq!(robbed.wrote.load(Ordering::Relaxed), 0, "writes of a lease that was lost");
        let _serving = world.content.search_serve(&consumers(&world));
        is_as_built_anew(&world).await;
    }

    async fn large_collections_are_built_and_merged(engine) {
        let world = World::open(engine).await;
        jobs::fill(&world, 6_000).await;
        let _serving = serve(&world).await;
        is_as_built_anew(&world).await;
        for n in 0..12 {
            world.insert(&app(), json!({ "title": format!("New York {n}") })).await.unwrap();
            caught_up(&world).await;
        }
        is_as_built_anew(&world).await;
        until("it is merged", async || segments(&world).await.len() < 10).await;
        is_as_built_anew(&world).await;
    }

    async fn index_follows_definitions(engine) {
        let world = World::open(engine).await;
        let _serving = serve(&world).await;
        for n in 0..5 {
            world.insert(&app(), json!({ "title": format!("New York {n}"), "tags": ["red", "car"], "late": "blue" })).await.unwrap();
        }
        is_as_built_anew(&world).await;
        world.content.field_create(&world.site, &owner(), "c", &json!({ "key": "late", "type": "TEXT" })).await.unwrap();
        caught_up(&world).await;
        assert_eq!(stored(&world).await, expected(&world, &["title", "tags", "late"], false).await);
        world.content.field_delete(&world.site, &owner(), "c", "tags").await.unwrap();
        caught_up(&world).await;
        assert_eq!(stored(&world).await, expected(&world, &["title", "late"], false).await);
        world.content.collection_patch(&world.site, &owner(), &json!({ "id": "c", "displayField": "title" })).await.unwrap();
        caught_up(&world).await;
        assert_eq!(stored(&world).await, expected(&world, &["title", "late"], true).await);

        world.content.collection_delete(&world.site, &owner(), "c").await.unwrap();
        caught_up(&world).await;
        until("nothing is kept of it", async || count(&world, "select count(*) from stoa.search_list").await == 0).await;
        assert_eq!(count(&world, "select count(*) from stoa.search_collection").await, 0);
        world.content.collection_restore(&world.site, &owner(), "c").await.unwrap();
        caught_up(&world).await;
        assert_eq!(stored(&world).await, expected(&world, &["title", "late"], true).await);
    }

    async fn truncated_collections_have_no_words(engine) {
        let world = World::open(engine).await;
        jobs::fill(&world, 1_200).await;
        let _serving = serve(&world).await;
        is_as_built_anew(&world).await;
        // The caller loses the right to it on the way: no row tells that items are gone.
        let world = jobs::with_standing(world, 2);
        assert!(truncate(&world).await.is_err());
        touch_definitions(&world).await;
        is_as_built_anew(&world).await;
        let world = jobs::with_standing(world, 1_000);
        truncate(&world).await.unwrap();
        is_as_built_anew(&world).await;
        assert!(segments(&world).await.is_empty());
    }

    async fn words_of_removed_items_leave_the_disk_in_a_day(engine) {
        let world = World::open(engine).await;
        let items = (0..20).map(|n| json!({ "_id": format!("i{n}"), "title": if n == 7 { "secret" } else { "york" } }));
        world.bulk(&app(), "insert", &many(items)).await.unwrap();
        let _serving = serve(&world).await;
        is_as_built_anew(&world).await;
        world.remove(&app(), "i7", None).await.unwrap();
        is_as_built_anew(&world).await;
        let secrets = "select count(*) from stoa.search_list where term = 'secret'";
        assert_eq!(count(&world, secrets).await, 1);
        world.test.clock.advance(19 * 60 * 60_000);
        touch_definitions(&world).await;
        caught_up(&world).await;
        assert_eq!(count(&world, secrets).await, 1);
        world.test.clock.advance(60 * 60_000);
        touch_definitions(&world).await;
        until("the word is gone", async || count(&world, secrets).await == 0).await;
        is_as_built_anew(&world).await;
        // SQLite overwrites them, PostgreSQL gives their place to others.
        let vacuums = "select coalesce(sum(vacuum_count), 0)::bigint from pg_stat_user_tables \
                       where schemaname = 'stoa' and relname in ('search_list', 'search_segment')";
        let before = if engine == Engine::Postgres { count(&world, vacuums).await } else { 0 };
        for table in ["stoa.search_list", "stoa.search_segment"] {
            world.site.reclaim(table).await.unwrap();
        }
        if engine == Engine::Postgres {
            until("both are vacuumed", async || count(&world, vacuums).await >= before + 2).await;
        }
    }

    /// As where the disk is full: what a failed merge or group has written must not be added to by the next try.
    async fn what_a_failed_try_has_written_is_swept_before_the_next(engine) {
        let world = World::open(engine).await;
        jobs::fill(&world, 300).await;
        touch_definitions(&world).await;
        let table = world.site.dialect().table(Table { site: world.site.number, number: number(&world).await.unwrap() });
        let rename = async |sql: String| {
            world.site.write_with(sql, |tx, sql| boxed!(Ok(tx.execute(sql, &[]).await?))).await.unwrap();
        };
        rename(format!("alter table {table} rename to hidden")).await;
        let _serving = serve(&world).await;
        let left = "select count(*) from stoa.search_segment where state = 'WRITING'";
        let whole = "select count(*) from stoa.search_collection where built = 9223372036854775807";
        until("the other one is built", async || count(&world, whole).await == 1).await;
        tokio::time::sleep(Duration::from_millis(500)).await;
        // What a try that was cut off would have left, while the collection rests.
        let index = Index { site: world.site.id.clone(), collection: number(&world).await.unwrap() };
        let cut_off = NewSegment { segment: Builder::default().build(), level: 0, language: String::new() };
        let begun = world.site.write_with((index, cut_off), |tx, (index, new)| boxed!(index.begin(tx, new).await));
        begun.await.unwrap();
        until("it is swept after the next try", async || count(&world, left).await == 0).await;
        assert_eq!(count(&world, whole).await, 1, "which failed too");
        let (schema, name) = table.split_once('.').unwrap();
        rename(format!("alter table {schema}.hidden rename to {name}")).await;
        is_as_built_anew(&world).await;
    }

    async fn index_is_built_anew_where_it_can_not_be_trusted(engine) {
        let world = World::open(engine).await;
        for n in 0..5 {
            world.insert(&app(), json!({ "_id": format!("i{n}"), "title": format!("New York {n}") })).await.unwrap();
        }
        let _serving = serve(&world).await;
        is_as_built_anew(&world).await;
        // Damaged, and noticed with the next item that is written.
        execute(&world, "delete from stoa.search_list where term = ''").await;
        world.update(&app(), json!({ "_id": "i3", "title": "Haven" }), None).await.unwrap();
        is_as_built_anew(&world).await;
        // Of words of another version, or of none.
        for sql in ["update stoa.search_collection set version = 77", "delete from stoa.search_collection"] {
            execute(&world, sql).await;
            execute(&world, "update stoa.search_segment set version = 77").await;
            touch_definitions(&world).await;
            is_as_built_anew(&world).await;
        }
        // Data that were replaced by a backup.
        execute(&world, "delete from stoa.search_segment").await;
        execute(&world, "delete from stoa.search_list").await;
        let now = world.test.world.now();
        let restored = world.site.write_with(world.site.id.clone(), move |tx, site| {
            boxed!(outbox::put(tx, site, RESTORED, "{}".to_owned(), now).await)
        });
        restored.await.unwrap();
        is_as_built_anew(&world).await;
    }

    async fn collection_that_fails_does_not_hold_up_the_others(engine) {
        let world = World::open(engine).await;
        world.insert(&app(), json!({ "title": "red" })).await.unwrap();
        touch_definitions(&world).await;
        let table = world.site.dialect().table(Table { site: world.site.number, number: number(&world).await.unwrap() });
        let rename = async |sql: String| {
            world.site.write_with(sql, |tx, sql| boxed!(Ok(tx.execute(sql, &[]).await?))).await.unwrap();
        };
        rename(format!("alter table {table} rename to hidden")).await;
        let _serving = serve(&world).await;
        let whole = "select count(*) from stoa.search_collection where built = 9223372036854775807";
        until("the other one is built", async || count(&world, whole).await == 1).await;
        let (schema, name) = table.split_once('.').unwrap();
        rename(format!("alter table {schema}.hidden rename to {name}")).await;
        // Both, once the one that failed has rested.
        is_as_built_anew(&world).await;
        assert_eq!(count(&world, whole).await, 2);
    }

    async fn collections_that_are_switched_off_keep_no_words(engine) {
        let world = World::open(engine).await;
        world.insert(&app(), json!({ "title": "New York" })).await.unwrap();
        let _serving = serve(&world).await;
        is_as_built_anew(&world).await;
        let switch = async |is_on: bool| {
            let object = json!({ "id": "c", "search": is_on });
            world.content.collection_patch(&world.site, &owner(), &object).await.unwrap()
        };
        assert_eq!(switch(false).await["search"], false);
        world.insert(&app(), json!({ "title": "New Haven" })).await.unwrap();
        caught_up(&world).await;
        until("nothing is kept of it", async || count(&world, "select count(*) from stoa.search_list").await == 0).await;
        assert_eq!(switch(true).await["search"], Value::Null);
        is_as_built_anew(&world).await;
    }

    async fn removals_tell_which_rows_went(engine) {
        let world = World::open(engine).await;
        world.bulk(&app(), "insert", &many((0..3).map(|n| json!({ "_id": format!("i{n}") })))).await.unwrap();
        let sql = format!("select id, rid from {}", world.site.dialect().table(Table { site: world.site.number, number: number(&world).await.unwrap() }));
        let read = world.site.read(ReaderPool::Point, move |tx| {
            boxed!(Ok(tx.rows(&sql, &[], |row| Ok((row.get::<String>(0)?, row.get::<i64>(1)?))).await?))
        });
        let rids: std::collections::HashMap<_, _> = read.await.unwrap().into_iter().collect();
        world.bulk(&app(), "remove", &json!({ "dataCollectionId": "c", "dataItemIds": ["i2", "none", "i0"] })).await.unwrap();
        let (kind, payload) = world.outbox().await.pop().unwrap();
        assert_eq!(kind, "data_item_deleted");
        assert_eq!((&payload["ids"], &payload["rids"]), (&json!(["i2", "i0"]), &json!([rids["i2"], rids["i0"]])));
    }
}
