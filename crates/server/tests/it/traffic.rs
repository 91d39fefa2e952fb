//! What a server writes down for a check that reads it after the tests (decision 28).

use crate::process::{Deployment, make_things};
use serde_json::{Value, json};
use std::{fs, os::unix::fs::PermissionsExt, path::Path};
use stoa_testkit::{Engine, TRAFFIC};

fn exchanges(directory: &Path) -> Vec<Value> {
    let files: Vec<_> = fs::read_dir(directory).unwrap().map(|it| it.unwrap().path()).collect();
    assert_eq!(files.len(), 1, "a file a process: {files:?}");
    assert_eq!(fs::metadata(&files[0]).unwrap().permissions().mode() & 0o777, 0o600);
    let text = fs::read_to_string(&files[0]).unwrap();
    text.lines().map(|it| serde_json::from_str(it).unwrap()).collect()
}

#[test]
fn exchanges_are_left_by_a_server_under_test() {
    let deployment = Deployment::without_traffic(Engine::Sqlite);
    let key = deployment.site_with_things();
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().join("called::so");
    let server = deployment.serve(|it| {
        it.env(TRAFFIC, &directory);
    });
    make_things(&server, &key);
    assert!(server.stop());
    let found = exchanges(&directory);
    let made = found.iter().find(|it| it["route"] == "/v2/collections").expect("the call that made the collection");
    for (name, value) in [("test", json!("called::so")), ("method", json!("POST")), ("status", json!(200))] {
        assert_eq!(made[name], value, "{name}");
    }
    for side in ["request", "response"] {
        let body = &made[side]["body"];
        assert!(body["text"].as_str().is_some_and(|it| it.contains("things")) && body["isWhole"] == true, "{made}");
    }
    assert!(!made.to_string().contains(&key), "tokens of headers are of no use to a check");
}

#[test]
fn exchanges_are_not_written_where_others_are_served() {
    let deployment = Deployment::without_traffic(Engine::Sqlite);
    deployment.site_with_things();
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().join("none");
    for others in [["--host", "0.0.0.0"], ["--trusted-proxy", "10.0.0.0/8"]] {
        let mut serve = deployment.stoa(&["serve", "--port", "0", "--outbox-only"]);
        let refused = serve.args(others).env(TRAFFIC, &directory).output().unwrap();
        let said = String::from_utf8_lossy(&refused.stderr);
        assert!(!refused.status.success() && said.contains("on this machine alone"), "{others:?}: {said}");
    }
    assert!(!directory.exists());
}
