//! Killing the program at any moment loses nothing that was acknowledged and leaves nothing half-written.

use crate::{
    mixed::Load,
    process::{Deployment, all_things, make_things, write_items},
};
use serde_json::json;
use std::{process::Stdio, time::Duration};
use stoa_kernel::World;
use stoa_testkit::{Engine, rounds};

#[test]
fn server_killed_on_sqlite() {
    kill_server(Engine::Sqlite, rounds(25));
}

#[test]
fn server_killed_on_postgres() {
    kill_server(Engine::Postgres, rounds(25));
}

#[test]
fn import_killed_on_sqlite() {
    kill_import(Engine::Sqlite, rounds(8));
}

#[test]
fn import_killed_on_postgres() {
    kill_import(Engine::Postgres, rounds(5));
}

/// A different moment each time; the moments need not be the same from run to run.
fn moment(most: u64) -> Duration {
    Duration::from_millis(below(most))
}

fn below(most: u64) -> u64 {
    u64::from_le_bytes(World::real().bytes::<8>()) % most
}

fn kill_server(engine: Engine, rounds: usize) {
    let deployment = Deployment::new(engine);
    let key = deployment.site_with_things();
    let mut load = Load::new(&deployment.serve(|_| {}), &key);
    for _ in 0..rounds {
        let mut server = deployment.serve(|_| {});
        let running = load.start(&server);
        running.wait_for_progress(below(20) as usize);
        std::thread::sleep(moment(30));
        server.kill();
        load = running.stop();
        deployment.wait_for_database();
    }
    let server = deployment.serve(|_| {});
    load.reconcile(&server);
    assert!(server.stop());
    assert!(load.acknowledged() > 5 * rounds, "the writers got somewhere: {} acknowledged", load.acknowledged());
    load.check_tables(&deployment);
}

fn kill_import(engine: Engine, rounds: usize) {
    const ITEMS: usize = 12_000;
    let deployment = Deployment::new(engine);
    let key = deployment.site_with_things();
    make_things(&deployment.serve(|_| {}), &key);
    let file = deployment.file("things.jsonl");
    write_items(&file, ITEMS);
    let import = ["import", "things", file.to_str().unwrap()];

    for _ in 0..rounds {
        let mut child = deployment.stoa(&import).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(moment(600));
        let _ = child.kill();
        let _ = child.wait();
    }
    let server = deployment.serve(|_| {});
    let partly = all_things(&server, &key).len();
    assert!(partly.is_multiple_of(1000), "only whole batches are there, not {partly} items");
    assert!(server.stop());

    // Beginning again completes it: what is there is recognised by its _id.
    let result = deployment.json(&import);
    assert_eq!(result["failed"], json!(0), "{result}");
    assert_eq!(result["inserted"].as_u64().unwrap() + result["updated"].as_u64().unwrap(), ITEMS as u64);
    let server = deployment.serve(|_| {});
    let all = all_things(&server, &key);
    assert_eq!(all.len(), ITEMS);
    assert!(all.iter().enumerate().all(|(n, it)| it.1 == n as i64));
}
