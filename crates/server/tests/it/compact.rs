//! `stoa compact`, beside a server and without one: files get smaller, and all that was not deleted is there. That words of
//! people are in no file afterwards is shown by `tests/account/factors/erasure.rs`.

use crate::process::{Deployment, all_things, make_things, post};
use serde_json::json;
use std::{process::Stdio, thread::sleep, time::Duration};
use stoa_testkit::{Engine, TestDatabase};

#[test]
fn compaction_by_command_on_sqlite() {
    compact(Engine::Sqlite);
}

#[test]
fn compaction_by_command_on_postgres() {
    compact(Engine::Postgres);
}

#[test]
fn compaction_waits_for_who_may_see_deleted_rows() {
    let database = TestDatabase::blocking_create();
    let deployment = Deployment::with_database(database.url());
    deployment.site_with_things();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let (reader, connection) =
        runtime.block_on(tokio_postgres::connect(database.url(), tokio_postgres::NoTls)).unwrap();
    runtime.spawn(connection);
    let run = |sql: &str| runtime.block_on(reader.batch_execute(sql)).unwrap();
    run("begin isolation level repeatable read; select count(*) from stoa.site");
    let mut compaction = deployment.stoa(&["compact"]).stdout(Stdio::null()).spawn().unwrap();
    sleep(Duration::from_secs(5));
    assert!(compaction.try_wait().unwrap().is_none(), "the reader may see what was deleted");
    run("commit");
    assert!(compaction.wait().unwrap().success());
}

fn compact(engine: Engine) {
    let deployment = Deployment::new(engine);
    let key = deployment.site_with_things();
    let server = deployment.serve(|_| {});
    make_things(&server, &key);
    let call = |path: &str, body| {
        let (status, answer) = post(&format!("{}{path}", server.url), &key, &body).unwrap();
        assert_eq!(status, 200, "{answer}");
    };
    let fill = |word: &str, from: usize| {
        let item = |n: usize| json!({ "data": { "_id": format!("{word}{n}"), "n": n, "text": word.repeat(40) } });
        for part in 0..4 {
            let items: Vec<_> = (0..500).map(|n| item(from + part * 500 + n)).collect();
            call("/v2/bulk/items/insert", json!({ "dataCollectionId": "things", "dataItems": items }));
        }
    };
    fill("gone", 0);
    for part in 0..4 {
        let ids: Vec<_> = (0..500).map(|n| format!("gone{}", part * 500 + n)).collect();
        call("/v2/bulk/items/remove", json!({ "dataCollectionId": "things", "dataItemIds": ids }));
    }
    fill("kept", 5_000);
    let size = || {
        std::fs::read_dir(deployment.data().join("sites"))
            .unwrap()
            .map(|it| it.unwrap().metadata().unwrap().len())
            .sum::<u64>()
    };
    let before = size();
    assert_eq!(deployment.json(&["compact"]), json!({ "compacted": 1 }));
    if engine == Engine::Sqlite {
        assert!(size() < before, "{} of {before} bytes", size());
    }
    assert_eq!(all_things(&server, &key).len(), 2_000);
    fill("more", 10_000);
    assert!(server.stop());
    assert_eq!(deployment.json(&["compact"]), json!({ "compacted": 1 }));
    let server = deployment.serve(|_| {});
    assert_eq!(all_things(&server, &key).len(), 4_000);
    assert!(server.stop());
}
