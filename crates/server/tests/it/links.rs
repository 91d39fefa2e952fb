//! Links that an import makes, by the program: what it prints, how it ends, and what a kill leaves.

use crate::process::{Deployment, Server, make_things, post};
use serde_json::{Value, json};
use std::{io::Write, path::Path, process::Stdio, time::Duration};
use stoa_kernel::World;
use stoa_testkit::{Engine, rounds};

#[test]
fn links_are_counted_on_sqlite() {
    links_are_counted(Engine::Sqlite);
}

#[test]
fn links_are_counted_on_postgres() {
    links_are_counted(Engine::Postgres);
}

#[test]
fn import_of_links_killed_on_sqlite() {
    kill_import(Engine::Sqlite, rounds(5));
}

#[test]
fn import_of_links_killed_on_postgres() {
    kill_import(Engine::Postgres, rounds(4));
}

/// Things that lead to things.
fn make_linked_things(server: &Server, key: &str) {
    make_things(server, key);
    let next = json!({ "key": "next", "type": "MULTI_REFERENCE",
        "typeMetadata": { "multiReference": { "referencedCollectionId": "things", "referencingFieldKey": "back" } } });
    let body = json!({ "dataCollectionId": "things", "field": next });
    let (status, answer) = post(&format!("{}/v2/collections/create-field", server.url), key, &body).unwrap();
    assert_eq!(status, 200, "{answer}");
}

/// Each thing leads to one that comes late, to one that comes soon and to itself.
fn write_linked(path: &Path, count: usize) {
    let mut file = std::io::BufWriter::new(std::fs::File::create(path).unwrap());
    for n in 0..count {
        let next = [count - 1 - n, (n + 2) % count, n].map(|it| format!("i{it:06}"));
        let text = "x".repeat(100);
        writeln!(file, "{}", json!({ "_id": format!("i{n:06}"), "n": n, "text": text, "next": next })).unwrap();
    }
}

fn exported(deployment: &Deployment, format: &str) -> String {
    let output = deployment.stoa(&["export", "things", "--format", format]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The last line that was printed, what was said beside it, and whether it ended well.
fn import(deployment: &Deployment, file: &Path, more: &[&str]) -> (Value, String, bool) {
    let arguments = [&["import", "things", file.to_str().unwrap(), "--json"], more].concat();
    let output = deployment.stoa(&arguments).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let last = serde_json::from_str(out.lines().last().unwrap_or_default()).unwrap_or_else(|it| panic!("{it}: {err}"));
    (last, err.into_owned(), output.status.success())
}

fn links_are_counted(engine: Engine) {
    let deployment = Deployment::new(engine);
    let key = deployment.site_with_things();
    let mut server = deployment.serve(|_| {});
    make_linked_things(&server, &key);
    let file = deployment.file("linked.jsonl");
    write_linked(&file, 1500);
    let all = json!({ "inserted": 1500, "updated": 0, "failed": 0, "linked": 4500, "unlinked": 0 });
    assert_eq!(deployment.json(&["import", "things", file.to_str().unwrap()]), all);

    // What is exported says the same in another site, in each format, and through the API as well.
    let (lines, table) = (deployment.file("out.jsonl"), deployment.file("out.csv"));
    std::fs::write(&lines, exported(&deployment, "jsonl")).unwrap();
    std::fs::write(&table, exported(&deployment, "csv")).unwrap();
    let first = |text: &str| serde_json::from_str::<Value>(text.lines().next().unwrap()).unwrap()["next"].clone();
    let wants = json!(["i001499", "i000002", "i000000"]);
    assert_eq!(first(&exported(&deployment, "jsonl")), wants);
    for (file, is_remote) in [(&lines, false), (&table, false), (&lines, true), (&table, true)] {
        let other = Deployment::new(engine);
        let key = other.site_with_things();
        let server = other.serve(|_| {});
        make_linked_things(&server, &key);
        let url = server.url.clone();
        let remote = ["--url", &url, "--api-key", &key];
        let more = if is_remote { &remote[..] } else { &[] };
        assert_eq!(import(&other, file, more), (all.clone(), String::new(), true), "{}", file.display());
        assert_eq!(first(&exported(&other, "jsonl")), wants);
        let again = json!({ "inserted": 0, "updated": 1500, "failed": 0, "linked": 4500, "unlinked": 0 });
        assert_eq!(import(&other, file, more).0, again);
        let links = |text: &str| text.lines().map(first).collect::<Vec<_>>();
        assert!(links(&exported(&other, "jsonl")) == links(&exported(&deployment, "jsonl")), "{}", file.display());
    }

    // A link without a target is named, the item is kept, and a script sees it.
    let item = json!({ "_id": "new", "next": ["i000007", "nowhere", "i000003"] });
    std::fs::write(&file, format!("{}\n{item}\n{}\n", json!({ "_id": "a" }), json!({ "_id": "b", "next": 7 })))
        .unwrap();
    let url = server.url.clone();
    let remote = ["--url", &url, "--api-key", &key];
    for (more, wants) in [(&[][..], [2, 0]), (&remote[..], [0, 2])] {
        let (last, err, is_well) = import(&deployment, &file, more);
        let wants = json!({ "inserted": wants[0], "updated": wants[1], "failed": 1, "linked": 2, "unlinked": 1 });
        assert_eq!(last, wants, "{err}");
        assert!(err.contains("line 2: saved without a link by next") && err.contains("nowhere"), "{err}");
        assert!(err.contains("line 3: ") && err.contains("1 links lead to items that aren't there"), "{err}");
        assert!(!is_well, "{err}");
    }
    let output = deployment.stoa(&["import", "things", file.to_str().unwrap()]).output().unwrap();
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(out, "0 inserted, 2 updated, 1 failed; links: 2 made, 1 without a target\n");
    server.kill();
}

fn kill_import(engine: Engine, rounds: usize) {
    const ITEMS: usize = 6000;
    let deployment = Deployment::new(engine);
    let key = deployment.site_with_things();
    make_linked_things(&deployment.serve(|_| {}), &key);
    let file = deployment.file("linked.jsonl");
    write_linked(&file, ITEMS);
    let arguments = ["import", "things", file.to_str().unwrap()];
    for _ in 0..rounds {
        let mut child = deployment.stoa(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // A different moment each time; the moments need not be the same from run to run.
        let moment = u64::from_le_bytes(World::real().bytes::<8>()) % 1500;
        std::thread::sleep(Duration::from_millis(moment));
        let _ = child.kill();
        let _ = child.wait();
        let left = std::fs::read_dir(deployment.data()).unwrap().filter_map(|it| Some(it.ok()?.file_name()));
        assert!(!left.into_iter().any(|it| it.to_string_lossy().starts_with(".tmp")), "nothing is left of what waited");
    }
    deployment.wait_for_database();

    // Beginning again completes it.
    let result = deployment.json(&arguments);
    let (inserted, updated) = (result["inserted"].as_u64().unwrap(), result["updated"].as_u64().unwrap());
    assert_eq!(inserted + updated, ITEMS as u64, "{result}");
    assert_eq!((&result["linked"], &result["unlinked"]), (&json!(3 * ITEMS), &json!(0)), "{result}");
    for (n, line) in exported(&deployment, "jsonl").lines().enumerate() {
        let item: Value = serde_json::from_str(line).unwrap();
        let next = [ITEMS - 1 - n, (n + 2) % ITEMS, n].map(|it| format!("i{it:06}"));
        assert_eq!((item["n"].as_u64(), &item["next"]), (Some(n as u64), &json!(next)), "{line}");
    }
}
