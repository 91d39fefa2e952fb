//! What old values cost: writes into a collection that asks for them, beside the same into one that doesn't, and those
//! beside the same statements by hand.

use crate::{
    figure::{Figures, Sizes},
    load,
    program::{Program, Random, item, item_id},
    raw::Raw,
};
use serde_json::{Value, json};
use std::sync::Arc;

const WRITERS: usize = 64;
/// Items of a bulk call, and calls of them that take turns.
const BULK: usize = 1_000;
const CALLS: usize = 4;
/// Turns in each round: short ones, so that both sides meet the same moments of the machine.
const TURNS: usize = 4;
/// At most 15 % more.
const GOAL: f64 = 0.87;

/// The collection that asks, and the one that doesn't.
const COLLECTIONS: [&str; 2] = ["asking", "silent"];

type Requests = Arc<Vec<Vec<u8>>>;

/// The figures, printed as they come.
pub fn measure(program: &Program, sizes: &Sizes, figures: &mut Figures) {
    let items = sizes.items.min(20_000);
    for (collection, is_asking) in COLLECTIONS.into_iter().zip([true, false]) {
        program.make_collection_that(collection, "ANYONE", is_asking);
        program.fill_collection(collection, items);
    }
    let kinds: [(&str, usize, [Requests; 2]); 5] = [
        ("single update, 64 writers", WRITERS, COLLECTIONS.map(|it| updates(program, it, items))),
        ("single patch, 64 writers", WRITERS, COLLECTIONS.map(|it| patches(program, it, items))),
        ("single insert, 64 writers", WRITERS, COLLECTIONS.map(|it| inserts(program, it))),
        ("bulk update of 1,000", 2, COLLECTIONS.map(|it| bulk_updates(program, it))),
        ("bulk insert and remove of 1,000", 1, COLLECTIONS.map(|it| bulk_removes(program, it))),
    ];
    let turn = sizes.period / TURNS as u32;
    for (name, connections, [asking, silent]) in &kinds {
        let rate = |requests| load::rate(program.address(), requests, *connections, turn);
        let pair = |n: usize| {
            // Each goes first every second time.
            if n.is_multiple_of(2) {
                let ours = rate(asking);
                (ours, rate(silent))
            } else {
                let theirs = rate(silent);
                (rate(asking), theirs)
            }
        };
        let rates: Vec<_> = (0..sizes.rounds * TURNS).map(pair).collect();
        figures.add(&format!("{name}, old values"), &rates, "the same without them", GOAL);
    }
    let raw = Raw::make(figures.engine, program.database_url(), items);
    let (updates, inserts) = (&kinds[0].2[1], &kinds[2].2[1]);
    let rate = |requests| load::rate(program.address(), requests, WRITERS, sizes.period);
    let updated: Vec<_> =
        (0..sizes.rounds).map(|_| (rate(updates), raw.single_updates(WRITERS, sizes.period))).collect();
    let inserted: Vec<_> =
        (0..sizes.rounds).map(|_| (rate(inserts), raw.single_inserts(WRITERS, sizes.period))).collect();
    figures.add("single update without old values", &updated, "the same SQL by hand", 0.4);
    figures.add("single insert without old values", &inserted, "the same SQL by hand", 0.6);
}

fn updates(program: &Program, collection: &str, items: usize) -> Requests {
    let mut random = Random::new();
    let prices: Vec<usize> = (0..97).map(|_| random.below(10_000)).collect();
    program.requests("/v2/items/update", items, |n| {
        let mut data = item(n);
        data["price"] = json!(prices[n % prices.len()]);
        json!({ "dataCollectionId": collection, "dataItem": { "id": data["_id"], "data": data } })
    })
}

fn patches(program: &Program, collection: &str, items: usize) -> Requests {
    let modification =
        json!({ "fieldPath": "price", "action": "INCREMENT_FIELD", "incrementFieldOptions": { "value": 1 } });
    program.requests("/v2/items/patch", items, |n| {
        let patch = json!({ "dataItemId": item_id(n), "fieldModifications": [modification] });
        json!({ "dataCollectionId": collection, "patch": patch })
    })
}

fn inserts(program: &Program, collection: &str) -> Requests {
    program.requests(
        "/v2/items",
        1_000_000,
        |n| json!({ "dataCollectionId": collection, "dataItem": { "data": without_id(n) } }),
    )
}

/// The same thousand items with other prices each time.
fn bulk_updates(program: &Program, collection: &str) -> Requests {
    let body = |call: usize| {
        let changed = |n: usize| {
            let mut data = item(n);
            data["price"] = json!(n + call);
            json!({ "id": data["_id"], "data": data })
        };
        json!({ "dataCollectionId": collection, "dataItems": (0..BULK).map(changed).collect::<Vec<_>>() })
    };
    Arc::new((0..CALLS).map(|call| program.request("/v2/bulk/items/update", &body(call))).collect())
}

/// A thousand items come and go.
fn bulk_removes(program: &Program, collection: &str) -> Requests {
    let id = |n: usize| format!("gone{n}");
    let inserted = |n: usize| {
        let mut data = without_id(n);
        data["_id"] = json!(id(n));
        json!({ "id": id(n), "data": data })
    };
    let items: Vec<Value> = (0..BULK).map(inserted).collect();
    let ids: Vec<String> = (0..BULK).map(id).collect();
    Arc::new(vec![
        program.request("/v2/bulk/items/insert", &json!({ "dataCollectionId": collection, "dataItems": items })),
        program.request("/v2/bulk/items/remove", &json!({ "dataCollectionId": collection, "dataItemIds": ids })),
    ])
}

fn without_id(n: usize) -> Value {
    let mut data = item(n);
    data.as_object_mut().unwrap().remove("_id");
    data
}
