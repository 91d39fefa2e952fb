//! Those who work on a copy: one at a time begins, another follows one that says nothing any more, and one that was
//! followed changes nothing, however late it goes on. And what one node does is true on the others.

use crate::{common::*, environment_pair::*};
use serde_json::{Value, json};
use std::{sync::Arc, time::Duration};
use stoa_content::{Content, ContentLimits, GetRequest};
use stoa_kernel::{Result, clock::elapsing};
use stoa_sql::params;
use stoa_store::{CopyRecord, Site, Store, boxed};
use stoa_testkit::{Engine, Node, on_both_engines, rounds};

/// Another process on the same data, or what comes nearest to it on SQLite, which has but one: other memory.
struct OtherNode {
    content: Content,
    store: Arc<Store>,
    live: Arc<Site>,
    _nodes: Vec<Node>,
}

impl OtherNode {
    async fn of(pair: &Pair) -> Self {
        let nodes = pair.world.test.nodes(2).await;
        let store = nodes[nodes.len() - 1].store.clone();
        let content = match nodes.len() {
            1 => pair.content().clone(),
            _ => Content::new(pair.world.test.world.clone(), ContentLimits::default()),
        };
        content.hear(&store).await.unwrap();
        pair.content().hear(&pair.world.test.store).await.unwrap();
        let live = store.site(&pair.world.site.id).await.unwrap();
        Self { content, store, live, _nodes: nodes }
    }
}

async fn read(content: &Content, site: &Arc<Site>, id: &str) -> Result<()> {
    let request = GetRequest { collection: "c".to_owned(), id: id.to_owned(), ..GetRequest::default() };
    content.item_get(site, &app(), &request).await.map(drop)
}

async fn write(content: &Content, site: &Arc<Site>, call: &str, id: &str) -> Result<()> {
    let set = json!({ "fieldPath": "n", "action": "SET_FIELD", "setFieldOptions": { "value": 700_000 } });
    let text = match call {
        "insert" => json!({ "dataCollectionId": "c", "dataItem": { "data": { "_id": id } } }),
        "patch" => json!({ "dataCollectionId": "c", "patch": { "dataItemId": id, "fieldModifications": [set] } }),
        _ => json!({ "dataCollectionId": "c", "dataItemId": id }),
    };
    let text = text.to_string();
    let request = item_of(&text);
    match call {
        "insert" => content.item_insert(site, &app(), &request).await.map(drop),
        "patch" => content.item_patch(site, &app(), &request).await.map(drop),
        _ => content.item_remove(site, &app(), &request).await.map(drop),
    }
}

fn reason(result: Result<()>) -> Value {
    result.map_or_else(|it| it.data().get("reason").cloned().unwrap_or_default(), |()| json!("done"))
}

async fn begin(pair: &Pair) -> CopyRecord {
    pair.world.test.clock.advance(1);
    let (store, live) = (&pair.world.test.store, &pair.world.site);
    pair.content().environment_copy_begin(store, live, &app(), &wish(TO_LIVE, &[])).await.unwrap().0
}

/// Lets a copy go on on which no worker is, until it has ended, and answers its status.
async fn settle(pair: &Pair) -> String {
    for _ in 0..20 {
        let status = pair.status().await["copies"][0]["status"].as_str().unwrap().to_owned();
        if !matches!(status.as_str(), "RUNNING" | "UNDOING") {
            // What this process knows of definitions is read again.
            pair.world.test.clock.advance(3_000);
            return status;
        }
        pair.world.test.clock.advance(11_000);
        pair.content().environment_copies_resume(&pair.world.test.store, None).await.unwrap();
    }
    panic!("{}", pair.status().await);
}

/// Rounds of two workers on one copy to LIVE, of which the other believes at some moment that the first is gone.
async fn two_work(pair: &Pair, other: &Content, store: &Arc<Store>) {
    let live = &pair.world.site;
    let mut taken_up = 0;
    for round in 0..rounds(6) {
        pair.fill(&pair.sandbox, 500 + round..501 + round).await;
        let (before, source) = (pair.export(live).await, pair.export(&pair.sandbox).await);
        let copy = begin(pair).await;
        let work = pair.content().environment_work(&pair.world.test.store, copy);
        let take_up = async {
            tokio::time::sleep(Duration::from_millis(15 * (round as u64 % 6))).await;
            pair.world.test.clock.advance(11_000);
            other.environment_copies_resume(store, None).await.unwrap();
        };
        let (worked, ()) = tokio::join!(work, take_up);
        let is_done = settle(pair).await == "SUCCEEDED";
        assert!(is_done || worked.is_err(), "round {round}: said to be done");
        taken_up += usize::from(pair.status().await["copies"][0]["attempts"].as_i64() > Some(1));
        let wants = if is_done { &source } else { &before };
        assert!(pair.export(live).await == *wants, "round {round}: done is {is_done}, and isn't so");
        pair.tend().await;
        assert!(pair.export(live).await == *wants, "round {round}");
        if is_done {
            assert_eq!(pair.undo().await.unwrap()["status"], "UNDONE");
            assert!(pair.export(live).await == before, "round {round}: what was replaced is lost");
        }
    }
    pair.tend().await;
    assert_eq!((pair.tables(live).await, pair.tables(&pair.sandbox).await), (1, 1));
    assert!(taken_up > 0, "the other never came");
}

/// Puts another's name in the place of a worker's; the number of the collection's table and what can be undone, if that
/// was the worker at that moment.
async fn shut_out(live: &Site, runner: &str) -> Option<(i64, Vec<String>)> {
    let seen = live.write_alone_with((live.id.clone(), runner.to_owned()), |tx, (site, runner)| {
        boxed!({
            let sql = "update stoa.environment_worker set runner = 'another' where site = $1 and runner = $2";
            let is_in_time = tx.execute(sql, &params![site, runner]).await? == 1;
            let sql = "select number from stoa.collection where site = $1 and id = 'c'";
            let number: Option<i64> = tx.row(sql, &params![site], |row| row.get(0)).await?;
            let sql = "select copy from stoa.environment_swap where site = $1 and state = 'DONE' order by copy";
            let done = tx.rows(sql, &params![site], |row| row.get::<String>(0)).await?;
            Ok(number.filter(|_| is_in_time).map(|it| (it, done)))
        })
    });
    seen.await.unwrap()
}

on_both_engines! {
    async fn of_a_hundred_copies_at_once_one_begins(engine) {
        let pair = Arc::new(Pair::with_items(engine, 300).await);
        pair.copy(TO_SANDBOX, &[]).await.unwrap();
        let all = (0..100).map(|n| {
            let pair = pair.clone();
            tokio::spawn(async move {
                let source = if n % 2 == 0 { TO_SANDBOX } else { TO_LIVE };
                let wish = wish(source, &[]);
                pair.content().environment_copy_begin(&pair.world.test.store, &pair.world.site, &app(), &wish).await.map(|it| it.0)
            })
        });
        let (mut begun, mut refused) = (Vec::new(), 0);
        for it in all.collect::<Vec<_>>() {
            match it.await.unwrap() {
                Ok(copy) => begun.push(copy),
                Err(fault) => {
                    assert_eq!(fault.code().name(), "ALREADY_EXISTS");
                    refused += 1;
                }
            }
        }
        assert_eq!((begun.len(), refused), (1, 99));
        assert_eq!(code(pair.undo().await), "ALREADY_EXISTS");
        let deleted = pair.content().environment_delete(&pair.world.test.store, &pair.world.site, &app(), &[]).await;
        assert_eq!(code(deleted), "ALREADY_EXISTS", "a copy needs the sandbox");
        pair.content().environment_work(&pair.world.test.store, begun.remove(0)).await.unwrap();
        assert_eq!(pair.export(&pair.sandbox).await, pair.export(&pair.world.site).await);
    }

    async fn copy_that_was_cut_off_is_taken_up(engine) {
        let pair = Pair::with_items(engine, 700).await;
        let (store, site, content) = (&pair.world.test.store, &pair.world.site, pair.content());
        let (copy, _) = content.environment_copy_begin(store, site, &app(), &wish(TO_SANDBOX, &[])).await.unwrap();
        content.environment_copies_resume(store, None).await.unwrap();
        assert_eq!(pair.status().await["copies"][0]["status"], "RUNNING", "a worker may be at work on it");
        pair.world.test.clock.advance(11_000);
        content.environment_copies_resume(store, None).await.unwrap();
        let status = pair.status().await;
        assert_eq!((&status["copies"][0]["copyId"], &status["copies"][0]["status"]), (&json!(copy.id), &json!("SUCCEEDED")));
        assert_eq!(pair.export(&pair.sandbox).await, pair.export(site).await);
        // Its first worker comes too late.
        assert_eq!(reason(content.environment_work(store, copy).await), "TAKEN_UP");
        assert_eq!(pair.export(&pair.sandbox).await, pair.export(site).await);
        assert_eq!(pair.tables(&pair.sandbox).await, 1);
    }

    async fn two_who_work_on_one_copy_lose_nothing(engine) {
        let pair = Pair::with_items(engine, 400).await;
        pair.copy(TO_SANDBOX, &[]).await.unwrap();
        // In the same process, under the same name of a node.
        let same = Content::new(pair.world.test.world.clone(), ContentLimits::default());
        two_work(&pair, &same, &pair.world.test.store).await;
        if engine == Engine::Postgres {
            let other = OtherNode::of(&pair).await;
            two_work(&pair, &other.content, &other.store).await;
        }
    }

    async fn worker_that_comes_late_changes_nothing(engine) {
        let pair = Pair::with_items(engine, 50).await;
        let (store, live) = (&pair.world.test.store, pair.world.site.clone());
        pair.copy(TO_SANDBOX, &[]).await.unwrap();
        pair.fill(&pair.sandbox, 50..51).await;
        let before = pair.export(&live).await;
        let late = begin(&pair).await;
        assert_eq!(settle(&pair).await, "SUCCEEDED");
        assert!(pair.export(&live).await != before);
        assert_eq!(pair.undo().await.unwrap()["status"], "UNDONE");
        pair.tend().await;
        assert_eq!(reason(pair.content().environment_work(store, late.clone()).await), "TAKEN_UP");
        assert!(pair.export(&live).await == before, "what was undone stays so");
        // Nor what came after it, and what can be undone of that.
        pair.fill(&pair.sandbox, 51..52).await;
        pair.copy(TO_LIVE, &[]).await.unwrap();
        let (after, status) = (pair.export(&live).await, pair.status().await);
        assert_eq!(reason(pair.content().environment_work(store, late).await), "TAKEN_UP");
        assert!(pair.export(&live).await == after && pair.status().await == status);
        assert_eq!(pair.undo().await.unwrap()["status"], "UNDONE");
        assert!(pair.export(&live).await == before);
        pair.tend().await;
        assert_eq!(pair.tables(&live).await, 1);
    }

    async fn worker_that_was_shut_out_changes_nothing_more(engine) {
        let pair = Pair::with_items(engine, 900).await;
        let (store, live) = (&pair.world.test.store, pair.world.site.clone());
        pair.copy(TO_SANDBOX, &[]).await.unwrap();
        let begun = elapsing();
        pair.copy(TO_LIVE, &[]).await.unwrap();
        let (took, mut stopped) = (Duration::from_millis((elapsing() - begun).unsigned_abs()), [0; 2]);
        for round in 0..rounds(16) {
            let (is_undo, part) = (round % 4 == 3, (round % 16) as u32);
            pair.fill(&pair.sandbox, 1_000 + round..1_001 + round).await;
            let copy = match is_undo {
                true => pair.content().environment_undo_begin(store, &live, &app(), None).await.unwrap(),
                false => begin(&pair).await,
            };
            let (runner, content, own) = (copy.runner.clone(), pair.content().clone(), store.clone());
            let work = tokio::spawn(async move { content.environment_work(&own, copy).await });
            tokio::time::sleep(took * part / if is_undo { 64 } else { 16 }).await;
            let seen = shut_out(&live, &runner).await;
            let worked = work.await.unwrap();
            if let Some((number, done)) = seen {
                let now = shut_out(&live, "another").await.unwrap();
                assert_eq!(now, (number, done), "round {round}: {worked:?}");
                stopped[usize::from(is_undo)] += 1;
            }
            let status = settle(&pair).await;
            assert_eq!(status, if is_undo { "UNDONE" } else { "SUCCEEDED" }, "round {round}: it is taken up again");
            assert!(is_undo || pair.export(&live).await == pair.export(&pair.sandbox).await, "round {round}");
        }
        assert!(stopped[0] > 0, "no copy was shut out in its midst");
        pair.tend().await;
        assert!(pair.tables(&live).await <= 2);
    }

    async fn copy_of_one_node_is_true_on_the_other_at_once(engine) {
        let pair = Pair::with_items(engine, 30).await;
        let (live, other) = (pair.world.site.clone(), OtherNode::of(&pair).await);
        pair.copy(TO_SANDBOX, &[]).await.unwrap();
        for round in 0..rounds(4) {
            let (new, own) = (format!("i{:05}", 40 + round), format!("own{round}"));
            pair.fill(&pair.sandbox, 40 + round..41 + round).await;
            assert_eq!(code(read(&other.content, &other.live, &new).await), "WDE0073");
            pair.copy(TO_LIVE, &[]).await.unwrap();
            read(&other.content, &other.live, &new).await.unwrap();
            write(&other.content, &other.live, "insert", &own).await.unwrap();
            read(pair.content(), &live, &own).await.unwrap();
            let undo = other.content.environment_undo_begin(&other.store, &other.live, &app(), None).await.unwrap();
            other.content.environment_work(&other.store, undo).await.unwrap();
            assert_eq!(code(read(pair.content(), &live, &new).await), "WDE0073");
            assert_eq!(code(read(&other.content, &other.live, &own).await), "WDE0073");
        }
    }

    async fn node_with_an_old_definition_refuses_and_then_is_right(engine) {
        let pair = Pair::with_items(engine, 10).await;
        let (live, other) = (pair.world.site.clone(), OtherNode::of(&pair).await);
        pair.copy(TO_SANDBOX, &[]).await.unwrap();
        for (call, id) in [("insert", "new"), ("patch", "i00003"), ("remove", "i00004")] {
            // One that is never told.
            let deaf = Content::new(pair.world.test.world.clone(), ContentLimits::default());
            read(&deaf, &other.live, "i00001").await.unwrap();
            let before = pair.export(&live).await;
            pair.copy(TO_LIVE, &[]).await.unwrap();
            assert_eq!(reason(write(&deaf, &other.live, call, id).await), "REPLACED", "{call}");
            assert!(pair.export(&live).await == pair.export(&pair.sandbox).await, "{call}");
            // It reads each definition again after two seconds.
            pair.world.test.clock.advance(2_001);
            write(&deaf, &other.live, call, id).await.unwrap();
            assert!(pair.export(&live).await != pair.export(&pair.sandbox).await, "{call}");
            pair.undo().await.unwrap();
            assert!(pair.export(&live).await == before, "{call}: nothing was written to what was replaced");
        }
    }
}
