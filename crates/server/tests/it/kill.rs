//! Killing the program at any moment loses nothing that was acknowledged and leaves nothing half-written.

use crate::process::{Place, all_things, make_things, post, write_items};
use serde_json::json;
use std::{
    collections::{HashMap, HashSet},
    process::Stdio,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};
use stoa_kernel::World;
use stoa_testkit::Engine;

/// Items of one bulk request.
const BULK: usize = 25;
const WRITERS: usize = 4;

#[test]
fn server_killed_on_sqlite() {
    kill_server(Engine::Sqlite, 25);
}

#[test]
fn server_killed_on_postgres() {
    kill_server(Engine::Postgres, 10);
}

#[test]
fn import_killed_on_sqlite() {
    kill_import(Engine::Sqlite, 25);
}

#[test]
fn import_killed_on_postgres() {
    kill_import(Engine::Postgres, 10);
}

/// A different moment each time; the moments need not be the same from run to run.
fn moment(most: u64) -> Duration {
    Duration::from_millis(u64::from_le_bytes(World::real().bytes::<8>()) % most)
}

fn kill_server(engine: Engine, rounds: usize) {
    let place = Place::new(engine);
    let key = place.site_with_things();
    make_things(&place.serve(|_| {}), &key);
    let acknowledged = Arc::new(Mutex::new(HashSet::new()));
    let sent = Arc::new(AtomicUsize::new(0));

    for _ in 0..rounds {
        let mut server = place.serve(|_| {});
        let stop = Arc::new(AtomicBool::new(false));
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let (url, key) = (server.url.clone(), key.clone());
                let (stop, acknowledged, sent) = (stop.clone(), acknowledged.clone(), sent.clone());
                std::thread::spawn(move || {
                    while !stop.load(Ordering::Relaxed) {
                        let bulk = sent.fetch_add(1, Ordering::Relaxed);
                        let is_single = writer == 0;
                        let answer = if is_single { insert(&url, &key, bulk) } else { bulk_insert(&url, &key, bulk) };
                        if answer == Some(200) {
                            acknowledged.lock().unwrap().insert((bulk, if is_single { 1 } else { BULK }));
                        }
                    }
                })
            })
            .collect();
        std::thread::sleep(Duration::from_millis(20) + moment(300));
        server.kill();
        stop.store(true, Ordering::Relaxed);
        for writer in writers {
            writer.join().unwrap();
        }
    }

    let server = place.serve(|_| {});
    let mut found: HashMap<usize, usize> = HashMap::new();
    for (_, bulk) in all_things(&server, &key) {
        *found.entry(bulk as usize).or_default() += 1;
    }
    let acknowledged = acknowledged.lock().unwrap();
    assert!(acknowledged.len() > rounds, "the writers got somewhere: {} acknowledged", acknowledged.len());
    for (bulk, count) in acknowledged.iter() {
        assert_eq!(found.get(bulk), Some(count), "acknowledged write {bulk} is there as a whole");
    }
    for (bulk, count) in &found {
        assert!(*count == 1 || *count == BULK, "write {bulk} is half there: {count} items");
    }
}

fn insert(url: &str, key: &str, n: usize) -> Option<u16> {
    let body = json!({ "dataCollectionId": "things", "dataItem": { "data": { "n": n, "text": "x".repeat(200) } } });
    post(&format!("{url}/v2/items"), key, &body).map(|it| it.0)
}

fn bulk_insert(url: &str, key: &str, n: usize) -> Option<u16> {
    let item = json!({ "data": { "n": n, "text": "x".repeat(200) } });
    let body = json!({ "dataCollectionId": "things", "dataItems": vec![item; BULK] });
    let (status, answer) = post(&format!("{url}/v2/bulk/items/insert"), key, &body)?;
    (answer["bulkActionMetadata"]["totalSuccesses"] == json!(BULK)).then_some(status)
}

fn kill_import(engine: Engine, rounds: usize) {
    const ITEMS: usize = 12_000;
    let place = Place::new(engine);
    let key = place.site_with_things();
    make_things(&place.serve(|_| {}), &key);
    let file = place.file("things.jsonl");
    write_items(&file, ITEMS);
    let import = ["import", "things", file.to_str().unwrap()];

    for _ in 0..rounds {
        let mut child = place.stoa(&import).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(moment(600));
        let _ = child.kill();
        let _ = child.wait();
    }
    let server = place.serve(|_| {});
    let partly = all_things(&server, &key).len();
    assert!(partly.is_multiple_of(1000), "only whole batches are there, not {partly} items");
    assert!(server.stop());

    // Beginning again completes it: what is there is recognised by its _id.
    let result = place.json(&import);
    assert_eq!(result["failed"], json!(0), "{result}");
    assert_eq!(result["inserted"].as_u64().unwrap() + result["updated"].as_u64().unwrap(), ITEMS as u64);
    let server = place.serve(|_| {});
    let all = all_things(&server, &key);
    assert_eq!(all.len(), ITEMS);
    assert!(all.iter().enumerate().all(|(n, it)| it.1 == n as i64));
}
