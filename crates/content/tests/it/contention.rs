//! Many callers at once on the same items, on every node: each is answered, and none with "try again".

use crate::common::*;
use serde_json::{Value, json};
use std::{sync::Arc, time::Duration};
use stoa_content::{Content, ContentLimits, Outcome, Request};
use stoa_kernel::Result;
use stoa_store::{Area, Site, boxed};
use stoa_testkit::{Node, on_both_engines};

/// Calls that are made at once.
const CALLS: usize = 200;
/// Items that they share, and how many of them each call names.
const SHARED: usize = 60;
const NAMED: usize = 40;

/// A node with its own caches.
struct Process {
    site: Arc<Site>,
    content: Content,
    _node: Node,
}

async fn processes(world: &World) -> Vec<Arc<Process>> {
    let mut processes = Vec::new();
    for node in world.test.nodes(3).await {
        let site = node.store.site(&world.site.id).await.unwrap();
        let content = Content::new(world.test.world.clone(), ContentLimits::default());
        processes.push(Arc::new(Process { site, content, _node: node }));
    }
    processes
}

/// The ids that the nth call names, in an order of its own.
fn named(n: usize) -> Vec<String> {
    // Any step without a common divisor with their number goes round all of them.
    let step = [7, 11, 13, 17, 19, 23, 29, 31][n % 8];
    (0..NAMED).map(|k| format!("i{}", (n * 5 + k * step) % SHARED)).collect()
}

async fn bulk(process: &Process, n: usize, call: &str, make: impl Fn(&String) -> Value) -> Result<Vec<Outcome>> {
    let body = match call {
        "remove" => json!({ "dataCollectionId": "c", "dataItemIds": named(n) }),
        "patch" => json!({ "dataCollectionId": "c", "patches": named(n).iter().map(make).collect::<Value>() }),
        _ => many(named(n).iter().map(make)),
    };
    let (body, content) = (body.to_string(), &process.content);
    let request = Request::parse(body.as_bytes())?;
    match call {
        "insert" => content.item_bulk_insert(&process.site, &app(), &request).await,
        "update" => content.item_bulk_update(&process.site, &app(), &request).await,
        "save" => content.item_bulk_save(&process.site, &app(), &request).await,
        "patch" => content.item_bulk_patch(&process.site, &app(), &request).await,
        _ => content.item_bulk_remove(&process.site, &app(), &request).await,
    }
}

/// Runs all calls at once and gives their answers in order.
async fn at_once<T, F>(calls: impl Iterator<Item = F>) -> Vec<T>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let running: Vec<_> = calls.map(tokio::spawn).collect();
    let mut answers = Vec::with_capacity(running.len());
    for it in running {
        answers.push(it.await.unwrap());
    }
    answers
}

on_both_engines! {
    async fn bulk_calls_with_shared_ids_are_all_answered(engine) {
        let world = World::open(engine).await;
        let processes = processes(&world).await;
        let all = many((0..SHARED).map(|n| json!({ "_id": format!("i{n}"), "n": 0 })));
        world.bulk(&app(), "insert", &all).await.unwrap();
        let answers = at_once((0..CALLS).map(|n| {
            let process = processes[n % processes.len()].clone();
            let call = ["save", "update", "patch", "save", "remove", "insert", "save", "update"][n % 8];
            async move {
                let made = bulk(&process, n, call, |id| match call {
                    "patch" => json!({ "dataItemId": id, "fieldModifications": [
                        { "fieldPath": "n", "action": "INCREMENT_FIELD", "incrementFieldOptions": { "value": 1 } }] }),
                    _ => json!({ "_id": id, "n": n }),
                });
                made.await
            }
        }));
        for (n, answer) in answers.await.into_iter().enumerate() {
            let outcomes = answer.unwrap_or_else(|it| panic!("call {n}: {it:?}"));
            let ids: Vec<_> = outcomes.iter().map(|it| it.id.clone().unwrap()).collect();
            assert_eq!(ids, named(n), "answers stand in the order of the request");
            let others: Vec<_> =
                verdicts(&outcomes).into_iter().filter(|it| it.starts_with("WDE") && !["WDE0073", "WDE0074"].contains(it)).collect();
            assert!(others.is_empty(), "call {n}: {others:?}");
        }
    }

    async fn waiting_withdrawals_hold_no_connection(engine) {
        let world = World::open(engine).await;
        let store = &world.test.store;
        // A node that says nothing. Where no other can be, nothing looks for it.
        let silent = store.catalog().write_with((), |tx, ()| {
            boxed!({
                let sql = "insert into stoa.node (id, beat, seen_identity, seen_content) values ('silent', 1, 0, 0)";
                tx.execute(sql, &[]).await?;
                Ok(())
            })
        });
        silent.await.unwrap();
        let waiting: Vec<_> = (0..40)
            .map(|_| store.clone())
            .map(|store| tokio::spawn(async move { store.withdrawals().announce(Area::Content).await }))
            .collect();
        tokio::time::sleep(Duration::from_millis(200)).await;
        let caller = app();
        let written = world.insert(&caller, json!({ "_id": "meanwhile" }));
        tokio::time::timeout(Duration::from_millis(1_500), written).await.expect("a connection is free").unwrap();
        for it in waiting {
            it.await.unwrap().unwrap();
        }
        let again = store.withdrawals().announce(Area::Content);
        tokio::time::timeout(Duration::from_secs(1), again).await.expect("it is waited for once").unwrap();
    }

    async fn writer_that_stands_still_is_passed_over(engine) {
        let world = World::open(engine).await;
        // Where one process has the data to itself, all its writers stand still with it.
        if !world.site.is_shared() {
            return;
        }
        let site = world.site.clone();
        let still = tokio::spawn(async move {
            let written = site.write_with((), |tx, ()| {
                boxed!({
                    tx.row("select 1", &[], |_| Ok(())).await?;
                    tokio::time::sleep(Duration::from_secs(60)).await;
                    Ok(())
                })
            });
            written.await
        });
        tokio::time::sleep(Duration::from_millis(500)).await;
        let alone = world.site.write_alone_with((), |tx, ()| {
            boxed!({
                tx.row("select 1", &[], |_| Ok(())).await?;
                Ok(())
            })
        });
        tokio::time::timeout(Duration::from_secs(20), alone).await.expect("its lane is free again").unwrap();
        still.abort();
    }

    async fn increments_at_once_are_all_counted(engine) {
        let world = World::open(engine).await;
        let processes = processes(&world).await;
        let all = many((0..SHARED).map(|n| json!({ "_id": format!("i{n}"), "n": 0 })));
        world.bulk(&app(), "insert", &all).await.unwrap();
        let answers = at_once((0..60).map(|n| {
            let process = processes[n % processes.len()].clone();
            async move {
                let made = bulk(&process, n, "patch", |id| json!({ "dataItemId": id, "fieldModifications": [
                    { "fieldPath": "n", "action": "INCREMENT_FIELD", "incrementFieldOptions": { "value": 1 } }] }));
                verdicts(&made.await.unwrap()).iter().filter(|it| **it == "PATCH").count()
            }
        }));
        let counted: usize = answers.await.into_iter().sum();
        assert_eq!(counted, 60 * NAMED);
        let mut sum = 0;
        for n in 0..SHARED {
            sum += world.get(&app(), &format!("i{n}")).await.unwrap()["n"].as_u64().unwrap();
        }
        assert_eq!(sum, 60 * NAMED as u64);
    }

    async fn links_at_once_are_all_answered(engine) {
        let world = World::open(engine).await;
        world.create("people", json!({ "itemRead": "ANYONE", "itemInsert": "ANYONE" })).await;
        let field = json!({ "key": "actors", "type": "MULTI_REFERENCE",
            "typeMetadata": { "multiReference": { "referencedCollectionId": "people", "referencingFieldKey": "movies" } } });
        world.content.field_create(&world.site, &owner(), "c", &field).await.unwrap();
        let mut all = many((0..SHARED).map(|n| json!({ "_id": format!("i{n}") })));
        world.bulk(&app(), "insert", &all).await.unwrap();
        all["dataCollectionId"] = json!("people");
        world.bulk(&app(), "insert", &all).await.unwrap();
        let processes = processes(&world).await;
        let answers = at_once((0..120).map(|n| {
            let process = processes[n % processes.len()].clone();
            async move {
                // Through the field and through its inverse, one item and several.
                let (collection, field) = [("c", "actors"), ("people", "movies")][n / 2 % 2];
                let body = match n % 2 {
                    0 => json!({ "dataCollectionId": collection, "referringItemFieldName": field, "referringItemId": "i0",
                        "newReferencedItemIds": named(n) }),
                    _ => {
                        let edge = |id: &String| json!({ "referringItemFieldName": field, "referringItemId": id, "referencedItemId": "i1" });
                        json!({ "dataCollectionId": collection, "dataItemReferences": named(n).iter().map(edge).collect::<Value>() })
                    }
                };
                let body = body.to_string();
                let request = Request::parse(body.as_bytes()).unwrap();
                match n % 2 {
                    0 => process.content.references_replace(&process.site, &app(), &request).await,
                    _ => process.content.references_remove(&process.site, &app(), &request).await,
                }
            }
        }));
        for (n, answer) in answers.await.into_iter().enumerate() {
            assert!(answer.is_ok(), "call {n}: {answer:?}");
        }
    }

    async fn saves_under_a_unique_index_are_all_answered(engine) {
        let world = World::open(engine).await;
        let index = json!({ "name": "u", "fields": [{ "path": "n" }], "unique": true });
        world.content.index_create(&world.site, &app(), "c", &index).await.unwrap();
        while world.content.index_work_do(&world.site).await.unwrap() {}
        let processes = processes(&world).await;
        let answers = at_once((0..60).map(|n| {
            let process = processes[n % processes.len()].clone();
            let call = ["save", "insert"][n % 2];
            // The same few values under shared ids, so that each call takes what others have.
            async move { bulk(&process, n, call, |id| json!({ "_id": id, "n": (n + id.len() * 3) % 20 })).await }
        }));
        for (n, answer) in answers.await.into_iter().enumerate() {
            let outcomes = answer.unwrap_or_else(|it| panic!("call {n}: {it:?}"));
            let known = ["INSERT", "UPDATE", "WDE0074", "WDE0123"];
            assert!(verdicts(&outcomes).iter().all(|it| known.contains(it)), "call {n}: {:?}", verdicts(&outcomes));
        }
        let all = world.count(&app(), json!({})).await.unwrap();
        assert!(all <= 20, "each value once: {all}");
    }

    async fn collections_made_at_once_are_all_there(engine) {
        let world = World::new(engine).await;
        let processes = processes(&world).await;
        let answers = at_once((0..300).map(|n| {
            let process = processes[n % processes.len()].clone();
            async move {
                let object = json!({ "id": format!("c{n}"), "fields": [{ "key": "n", "type": "NUMBER" }], "dataPermissions": {} });
                process.content.collection_create(&process.site, &app(), &object).await.map(drop)
            }
        }));
        for (n, answer) in answers.await.into_iter().enumerate() {
            assert!(answer.is_ok(), "collection {n}: {answer:?}");
        }
        for n in [0, 150, 299] {
            world.content.collection_get(&world.site, &app(), &format!("c{n}"), &[], false).await.unwrap();
        }
        let again = json!({ "id": "c7", "fields": [{ "key": "n", "type": "NUMBER" }], "dataPermissions": {} });
        let same = at_once((0..20).map(|n| {
            let (process, again) = (processes[n % processes.len()].clone(), again.clone());
            async move { code(process.content.collection_create(&process.site, &app(), &again).await) }
        }));
        assert!(same.await.iter().all(|it| *it == "WDE0104"));
    }
}
