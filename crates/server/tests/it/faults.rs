//! A disk that is full or fails, and a database that is restarted, under the running program: a clear
//! error, nothing acknowledged lost, nothing refused done, and work goes on without a restart.

use crate::{
    cluster::Cluster,
    disk::{Disk, Trouble},
    mixed::{Load, Running},
    process::{Deployment, Server, post},
};
use serde_json::json;
use std::time::Duration;
use stoa_testkit::Engine;

#[test]
fn disk_troubles_on_sqlite() {
    let deployment = Deployment::new(Engine::Sqlite);
    let key = deployment.site_with_things();
    let disk = Disk::new(&deployment, "/sites/");
    let mut server = deployment.serve(|command| {
        disk.under(command);
    });
    let running = Load::new(&server, &key).start(&server);
    for _ in 0..3 {
        for (trouble, codes) in [
            (Trouble::Full, &["STORAGE_FULL"][..]),
            (Trouble::Writes, &["OUTCOME_UNKNOWN", "UNAVAILABLE"]),
            (Trouble::Syncs, &["OUTCOME_UNKNOWN"]),
        ] {
            running.wait_for_progress(40);
            break_until_refused(&disk, trouble, &running, codes);
            reads(&server, &key);
            disk.mends();
        }
    }
    running.wait_for_progress(100);
    let mut load = running.stop();
    load.reconcile(&server);

    // What was acknowledged after such a time is as durable as ever.
    server.kill();
    let server = deployment.serve(|_| {});
    load.reconcile(&server);
    assert!(server.stop());
    load.check_tables(&deployment);
}

#[test]
fn postgres_restarted_and_its_disk_failing() {
    let cluster = Cluster::start();
    let deployment = Deployment::with_database(cluster.url());
    let key = deployment.site_with_things();
    let disk = Disk::in_folder(cluster.folder(), "/base/");
    let server = deployment.serve(|_| {});
    let mut running = Load::new(&server, &key).start(&server);
    for _ in 0..6 {
        running.wait_for_progress(30);
        cluster.restart(None);
    }

    cluster.restart(Some(&disk));
    for _ in 0..2 {
        running.wait_for_progress(30);
        break_until_refused(&disk, Trouble::Full, &running, &["STORAGE_FULL"]);
        reads(&server, &key);
        disk.mends();
    }
    // A log that can't be synced ends every connection, and the database reads its log again.
    for _ in 0..2 {
        running.wait_for_progress(30);
        break_until_refused(&disk, Trouble::OneSync, &running, &["OUTCOME_UNKNOWN", "UNAVAILABLE"]);
    }
    running.wait_for_progress(100);
    let mut load = running.stop();
    load.reconcile(&server);
    running = load.start(&server);
    running.wait_for_progress(30);
    load = running.stop();
    load.reconcile(&server);
    assert!(server.stop());
    load.check_tables(&deployment);
}

/// Has the disk fail until a write is refused with one of these codes, which may be the first one alone.
fn break_until_refused(disk: &Disk, trouble: Trouble, running: &Running, codes: &[&str]) {
    let count = || running.refusals().iter().filter(|it| codes.contains(&it.0.as_str())).map(|it| it.1).sum::<usize>();
    let before = count();
    disk.breaks(trouble);
    for _ in 0..3000 {
        if count() > before {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("none of {codes:?} was answered: {:?}", running.refusals());
}

/// Reading goes on whatever becomes of writes.
fn reads(server: &Server, key: &str) {
    let (status, answer) =
        post(&format!("{}/v2/items/query", server.url), key, &json!({ "dataCollectionId": "things" })).unwrap();
    assert_eq!(status, 200, "{answer}");
}
