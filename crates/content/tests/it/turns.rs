//! Reads that look at many items: whose turn it is, what an anonymous caller may ask for, and what waiting is told.

use crate::common::*;
use serde_json::{Value, json};
use std::{
    net::{Ipv4Addr, Ipv6Addr},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
};
use stoa_content::Origin;
use stoa_kernel::{Caller, Network, Result};
use stoa_testkit::on_both_engines;

fn from(last: u8) -> Origin {
    Some(Network::of(Ipv4Addr::new(192, 0, 2, last).into()))
}

/// So many conditions, none of which holds: each is asked of every item.
fn branches(count: usize) -> Value {
    let branch = |n| json!({ "title": { "$contains": format!("never {n}") } });
    json!({ "$or": (0..count).map(branch).collect::<Value>() })
}

async fn filled(world: &World, thousands: usize) {
    for n in 0..thousands {
        let item =
            |it| json!({ "_id": format!("{n}-{it}"), "title": format!("a title of some length, of item {n}-{it}") });
        world.bulk(&app(), "insert", &many((0..1000).map(item))).await.unwrap();
    }
}

async fn count(world: &World, caller: &Caller, origin: Origin, filter: Value) -> Result<i64> {
    let request = members(json!({ "dataCollectionId": "c", "filter": filter }));
    world.content.item_count(&world.site, caller, origin, &request).await
}

/// How many of 60 heavy reads were done before a search from elsewhere, which was asked after them.
async fn gone_first(world: &Arc<World>, crowd: impl Fn(u16) -> Origin) -> usize {
    let done = Arc::new(AtomicUsize::new(0));
    let heavy: Vec<_> = (0..60)
        .map(|n| {
            let (world, done, origin) = (world.clone(), done.clone(), crowd(n));
            tokio::spawn(async move {
                let found = count(&world, &member(&format!("m{}", n % 2)), origin, branches(490)).await;
                done.fetch_add(1, SeqCst);
                found
            })
        })
        .collect();
    // They are all under way when the search begins.
    while done.load(SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
    let search = json!({ "title": { "$contains": "item 0-77" } });
    assert_eq!(count(world, &visitor("v"), from(2), search).await.unwrap(), 11);
    let before = done.load(SeqCst);
    heavy.iter().for_each(tokio::task::JoinHandle::abort);
    before
}

on_both_engines! {
    async fn search_of_one_network_waits_for_no_other(engine) {
        let world = Arc::new(World::open(engine).await);
        filled(&world, 1).await;
        let before = gone_first(&world, |_| from(1)).await;
        assert!(before < 40, "{before} of 60 heavy reads went first");
    }

    async fn networks_of_one_line_have_the_turns_of_one(engine) {
        let world = Arc::new(World::open(engine).await);
        filled(&world, 1).await;
        let line = |n| Some(Network::of(Ipv6Addr::new(0x2001, 0xdb8, 1, n, 0, 0, 0, 1).into()));
        let before = gone_first(&world, line).await;
        assert!(before < 40, "{before} of 60 heavy reads went first");
    }

    async fn waiting_for_a_turn_is_bounded_and_told(engine) {
        let world = Arc::new(World::open(engine).await);
        filled(&world, 1).await;
        let (told, mut answers) = tokio::sync::mpsc::unbounded_channel();
        let heavy: Vec<_> = (0..160).map(|_| {
            let (world, told) = (world.clone(), told.clone());
            tokio::spawn(async move { told.send(count(&world, &app(), from(1), branches(490)).await) })
        }).collect();
        let refused = loop {
            if let Err(fault) = answers.recv().await.unwrap() {
                break fault;
            }
        };
        assert_eq!((refused.code().name(), refused.code().status()), ("THROTTLED_FEATURE", 429));
        assert!(refused.data()["retryAfterSeconds"].as_i64() > Some(0));
        let elsewhere = count(&world, &visitor("v"), from(2), json!({ "title": { "$contains": "item 0-77" } })).await;
        assert_eq!(elsewhere.unwrap(), 11, "others have room to wait");
        heavy.iter().for_each(tokio::task::JoinHandle::abort);
        for it in heavy {
            let _ = it.await;
        }
        // Those that were given up have left the line, and the reads that were under way end.
        assert_eq!(count(&world, &app(), from(1), json!({ "title": { "$contains": "item 0-77" } })).await.unwrap(), 11);
    }

    async fn anonymous_filters_have_a_bounded_cost(engine) {
        let world = World::open(engine).await;
        filled(&world, 1).await;
        let most = world.content.limits().anonymous_conditions;
        for (caller, conditions, verdict) in [
            (visitor("v"), most, "ok"), (visitor("v"), most + 1, "WDE0093"), (member("m"), most + 1, "ok"), (app(), 490, "ok"),
        ] {
            assert_eq!(code(world.count(&caller, branches(conditions)).await), verdict, "{caller:?} {conditions}");
            let query = json!({ "filter": branches(conditions) });
            assert_eq!(code(world.ids(&caller, query).await), verdict, "{caller:?} {conditions}");
            let values = members(json!({ "dataCollectionId": "c", "fieldName": "title", "filter": branches(conditions) }));
            let values = world.content.item_distinct(&world.site, &caller, None, &values).await;
            assert_eq!(code(values), verdict, "{caller:?} {conditions}");
        }
        // What an id finds at once costs little, whatever else is asked of it.
        let by_id = json!({ "filter": { "$and": [{ "_id": "0-1" }, branches(490)] } });
        assert_eq!(code(world.ids(&visitor("v"), by_id).await), "ok");
        let fault = world.count(&visitor("v"), branches(most + 1)).await.unwrap_err();
        assert_eq!((&fault.data()["conditions"], &fault.data()["most"]), (&json!(most + 1), &json!(most)));
    }

    async fn values_of_a_long_array_are_found_in_one_pass(engine) {
        let world = World::open(engine).await;
        let tags: Vec<u8> = (0..60_000_u32).map(|n| (n % 10) as u8).collect();
        world.insert(&app(), json!({ "_id": "a", "tags": tags, "n": 1 })).await.unwrap();
        let request = members(json!({ "dataCollectionId": "c", "fieldName": "tags", "returnTotalCount": true }));
        let page = world.content.item_distinct(&world.site, &app(), None, &request).await.unwrap();
        let values: Value = serde_json::from_str(&format!("[{}]", page.elements)).unwrap();
        assert_eq!(values, json!([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]));
    }
}
