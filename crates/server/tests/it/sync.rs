//! A completed sync of the log stands before every acknowledgement.
//!
//! A small library under the program writes down the order of log writes, completed syncs and answers.
//! Every item has a mark of its own, found again in the bytes that are written and in the answer. So for
//! each answer: its item was written, then the log was synced, and only then did the answer leave.

use crate::{
    disk::Disk,
    process::{Deployment, make_things, post},
};
use serde_json::json;
use std::{collections::HashMap, sync::Arc};
use stoa_testkit::Engine;

const CLIENTS: usize = 64;

#[test]
fn answers_follow_a_sync() {
    answers_follow_syncs(1, 100);
}

#[test]
fn answers_to_many_at_once_follow_a_sync() {
    answers_follow_syncs(CLIENTS, 12);
}

/// Each client writes one item after another, ten in one call every tenth time, and one again and again.
fn answers_follow_syncs(clients: usize, rounds: usize) {
    let deployment = Deployment::new(Engine::Sqlite);
    let key = deployment.site_with_things();
    let (disk, log) = (Disk::new(&deployment, "/sites/"), deployment.file("events"));
    let server = deployment.serve(|command| {
        disk.under(command).env("SYNC_LOG", &log).env("SYNC_PATH", "/sites/");
    });
    make_things(&server, &key);
    let url = Arc::new(server.url.clone());
    let writers: Vec<_> = (0..clients)
        .map(|client| {
            let (url, key) = (url.clone(), key.clone());
            std::thread::spawn(move || {
                let mark = |n: usize| format!("mk{:08}", client * 10_000 + n);
                for n in 0..rounds {
                    let item = json!({ "data": { "_id": mark(n * 100), "n": n } });
                    let body = json!({ "dataCollectionId": "things", "dataItem": item });
                    assert_eq!(post(&format!("{url}/v2/items"), &key, &body).unwrap().0, 200);
                    let data = |n: usize| json!({ "_id": format!("own{client}"), "mark": mark(n) });
                    let set = |n: usize| json!({ "fieldPath": "mark", "action": "SET_FIELD", "setFieldOptions": { "value": mark(n) } });
                    let changes = [
                        ("save", json!({ "dataItem": { "data": data(n * 100 + 20) } })),
                        ("update", json!({ "dataItem": { "data": data(n * 100 + 21) } })),
                        ("patch", json!({ "patch": { "dataItemId": format!("own{client}"), "fieldModifications": [set(n * 100 + 22)] } })),
                    ];
                    for (call, mut body) in changes {
                        body["dataCollectionId"] = "things".into();
                        assert_eq!(post(&format!("{url}/v2/items/{call}"), &key, &body).unwrap().0, 200);
                    }
                    if n % 10 == 9 {
                        let items: Vec<_> =
                            (1..11).map(|it| json!({ "data": { "_id": mark(n * 100 + it) } })).collect();
                        let body = json!({ "dataCollectionId": "things", "dataItems": items });
                        assert_eq!(post(&format!("{url}/v2/bulk/items/insert"), &key, &body).unwrap().0, 200);
                    }
                }
            })
        })
        .collect();
    for writer in writers {
        writer.join().unwrap();
    }
    drop(server);

    let events = std::fs::read_to_string(&log).unwrap();
    let (mut written, mut synced, mut answers) = (HashMap::new(), 0, 0);
    for (at, event) in events.lines().enumerate() {
        match event.split_at(1) {
            ("w", mark) => {
                written.entry(mark).or_insert(at);
            }
            ("s", _) => synced = at,
            (_, "--------") => {}
            (_, mark) => {
                answers += 1;
                let written = written.get(mark).unwrap_or_else(|| panic!("{mark} was answered and not written"));
                assert!(*written < synced, "the answer for {mark} left before the log was synced");
            }
        }
    }
    assert_eq!(answers, clients * (4 * rounds + rounds / 10), "every answer was seen");
}
