//! Where a snapshot and the log meet, nothing is missing and nothing comes twice, however much is written meanwhile.

use crate::kit::*;
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use stoa_testkit::on_both_engines;

/// Clients that come one after another while others write.
const CLIENTS: usize = 12;

fn number(item: &Value) -> i64 {
    item["n"].as_i64().unwrap()
}

on_both_engines! {
    async fn snapshot_meets_the_log_while_others_write(engine) {
        let kit = Arc::new(Kit::with(engine, 2, Default::default()).await);
        kit.node().create("c", "ANYONE", json!({})).await;
        let is_over = Arc::new(AtomicBool::new(false));
        let writers: Vec<_> = (0..4_usize)
            .map(|writer| {
                let (kit, is_over) = (kit.clone(), is_over.clone());
                tokio::spawn(async move {
                    let node = &kit.nodes[writer % kit.nodes.len()];
                    for n in 1_i64.. {
                        if is_over.load(Ordering::Relaxed) {
                            break;
                        }
                        let items = (0..3).map(|k| json!({ "_id": format!("{writer}-{k}"), "n": n }));
                        node.bulk("bulk-save", "c", items).await;
                        if n % 5 == 0 {
                            node.remove("c", &format!("{writer}-0")).await;
                        }
                        tokio::time::sleep(Duration::from_millis(5)).await;
                    }
                })
            })
            .collect();
        let mut clients = Vec::new();
        for n in 0..CLIENTS {
            let person = Person::new(visitor());
            let network = address(n as u32);
            let node = &kit.nodes[n % kit.nodes.len()];
            let opened = node.open(kit.world(), &person, with_snapshot("c", json!({})), network, None).await;
            let mut client = opened.unwrap();
            client.begun().await;
            // What the snapshot has isn't told again: of one item numbers only go up.
            let mut newest: BTreeMap<String, i64> =
                client.held["a"].items.iter().map(|(id, it)| (id.clone(), number(it))).collect();
            for _ in 0..20 {
                let Some(message) = client.next(Duration::from_millis(200)).await else { break };
                if message.event == "change" && message.data.get("item").is_some() {
                    let id = message.data["id"].as_str().unwrap().to_owned();
                    let now = number(&message.data["item"]);
                    let before = newest.insert(id.clone(), now);
                    assert!(before.is_none_or(|it| it < now), "{id} was {before:?} and is {now}");
                }
            }
            // Half of them come back from where they were.
            if n % 2 == 0 {
                let place = client.place.clone().unwrap();
                let items = client.held["a"].items.clone();
                drop(client);
                let opened = node.open(kit.world(), &person, from_place("c", json!({}), &place), network, None).await;
                client = opened.unwrap();
                client.held.get_mut("a").unwrap().items = items;
            }
            clients.push(client);
        }
        is_over.store(true, Ordering::Relaxed);
        for it in writers {
            it.await.unwrap();
        }
        let there = kit.node().query(&visitor(), "c", &json!({})).await.unwrap();
        for client in &mut clients {
            client.quiet().await;
            match client.ended() {
                // They didn't read for a while.
                Some(reason) => assert_eq!(reason, "overload"),
                None => assert_eq!(client.held["a"].items, there),
            }
        }
    }
}
