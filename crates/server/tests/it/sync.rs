//! A completed sync of the log stands before every acknowledgement.
//!
//! A small library under the program writes down the order of log writes, completed syncs and answers.
//! One client asks after another, so at each answer every log write so far must have been synced.

use crate::process::{Place, make_things, post};
use serde_json::json;
use std::{path::Path, process::Command};
use stoa_testkit::Engine;

#[test]
fn every_answer_follows_a_sync() {
    let place = Place::new(Engine::Sqlite);
    let key = place.site_with_things();
    let (library, log) = (place.file("sync_log.so"), place.file("events"));
    compile(&library);

    let server = place.serve(|it| {
        it.env("LD_PRELOAD", &library).env("SYNC_LOG", &log);
    });
    make_things(&server, &key);
    for n in 0..200 {
        let item = json!({ "dataCollectionId": "things", "dataItem": { "data": { "n": n } } });
        assert_eq!(post(&format!("{}/v2/items", server.url), &key, &item).unwrap().0, 200);
        if n % 10 == 0 {
            let items = json!({ "dataCollectionId": "things", "dataItems": vec![json!({ "data": { "n": n } }); 50] });
            assert_eq!(post(&format!("{}/v2/bulk/items/insert", server.url), &key, &items).unwrap().0, 200);
        }
    }
    drop(server);

    let events = std::fs::read(&log).unwrap();
    let count = |kind: u8| events.iter().filter(|it| **it == kind).count();
    assert!(count(b'a') >= 221 && count(b's') >= 221 && count(b'w') >= 442, "the library saw the program's events");
    let mut is_dirty = false;
    for (at, event) in events.iter().enumerate() {
        match event {
            b'w' => is_dirty = true,
            b's' => is_dirty = false,
            _ => assert!(!is_dirty, "answer {at} left before the log was synced"),
        }
    }
}

fn compile(library: &Path) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/sync_log.c");
    let done =
        Command::new("cc").args(["-shared", "-fPIC", "-O1", "-o"]).arg(library).arg(&source).arg("-ldl").status();
    assert!(done.unwrap().success(), "the C compiler that builds SQLite builds this too");
}
