//! The log of a site, as the command line shows it, and as it is read while nodes are killed.

use crate::process::{Deployment, Server, make_things, post, refusal};
use serde_json::{Value, json};
use std::{
    collections::BTreeSet,
    io::{BufRead, BufReader},
    process::{Child, Stdio},
    sync::{Arc, Mutex},
    time::Duration,
};
use stoa_kernel::clock::elapsing;
use stoa_testkit::{Engine, TestDatabase, rounds};

const NODES: usize = 3;

/// Makes an item; its id.
fn write(server: &Server, key: &str, n: usize) -> Option<String> {
    let item = json!({ "dataCollectionId": "things", "dataItem": { "data": { "n": n } } });
    let (status, answer) = post(&format!("{}/v2/items", server.url), key, &item)?;
    (status == 200).then(|| answer["dataItem"]["data"]["_id"].as_str().unwrap().to_owned())
}

/// What `stoa log follow NAME --once` prints, until there are so many rows of items: on PostgreSQL transactions of other
/// databases hold readers up.
fn follow(deployment: &Deployment, more: &[&str], wanted: usize) -> Vec<Value> {
    let mut rows = Vec::new();
    for _ in 0..200 {
        let arguments = [&["log", "follow", "nightly", "--once"], more].concat();
        let output = deployment.stoa(&arguments).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).unwrap();
        rows.extend(text.lines().map(|it| serde_json::from_str::<Value>(it).unwrap()));
        if rows.iter().filter(|it| it["kind"] == "data_item_created").count() >= wanted {
            return rows;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("{} rows, not {wanted}", rows.len());
}

/// The ids of items that were made, in the order of the rows.
fn made(rows: &[Value]) -> Vec<String> {
    let created = rows.iter().filter(|it| it["kind"] == "data_item_created");
    created.map(|it| it["payload"]["items"][0]["_id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn log_is_shown_followed_and_begun_anew_on_sqlite() {
    show(Engine::Sqlite);
}

#[test]
fn log_is_shown_followed_and_begun_anew_on_postgres() {
    show(Engine::Postgres);
}

fn show(engine: Engine) {
    let deployment = Deployment::new(engine);
    let key = deployment.site_with_things();
    let server = deployment.serve(|_| {});
    make_things(&server, &key);
    let ids: Vec<String> = (0..5).map(|n| write(&server, &key, n).unwrap()).collect();
    assert_eq!(made(&follow(&deployment, &["--oldest"], 5)), ids);
    let status = deployment.json(&["log", "status"]);
    let consumer = &status["consumers"][0];
    assert_eq!(
        (&consumer["name"], &consumer["lagRows"], &consumer["hasGap"]),
        (&json!("follow:nightly"), &json!(0), &json!(false))
    );
    assert_eq!(consumer["node"], Value::Null, "no one follows at this moment: {status}");
    assert!(
        status["last"].as_i64() >= Some(5) && status["epoch"].as_str().is_some_and(|it| it.len() == 16),
        "{status}"
    );

    // Where it stopped it goes on, also without a server.
    let more = write(&server, &key, 5).unwrap();
    assert!(server.stop());
    assert_eq!(made(&follow(&deployment, &[], 1)), [more]);
    let begun = deployment.json(&["log", "restored"]);
    let after = deployment.json(&["log", "status"]);
    assert_eq!(begun["epoch"], after["epoch"]);
    assert_ne!(begun["epoch"], status["epoch"]);
    assert!(after["last"].as_i64().unwrap() > status["last"].as_i64().unwrap() + (1 << 32), "{after}");
    assert_eq!(after["consumers"][0]["lagRows"], 1, "a row that tells of it: {after}");

    for is_on in ["true", "false"] {
        let set = deployment.json(&["log", "set", "--redirect-sessions", is_on]);
        assert_eq!(set, json!({ "redirectSessions": is_on == "true" }));
    }
    deployment.json(&["log", "forget", "nightly"]);
    let consumers = deployment.json(&["log", "status"])["consumers"].clone();
    let names: Vec<_> = consumers.as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["search"], "what the server itself follows");
    assert_eq!(refusal(&deployment, &["log", "forget", "nightly"])["code"], "NOT_FOUND");
    for name in ["Nightly", "a:b", "a b", ""] {
        assert_eq!(refusal(&deployment, &["log", "follow", name])["code"], "USAGE", "{name}");
    }
}

/// What each `stoa log follow` printed, as it came.
type Seen = Arc<Mutex<Vec<Value>>>;

/// A server and what follows the log through it.
struct Node {
    deployment: Deployment,
    server: Server,
    follower: Child,
}

impl Node {
    fn start(deployment: Deployment, seen: &Seen) -> Self {
        let server = deployment.serve(|_| {});
        let mut command = deployment.stoa(&["log", "follow", "watch", "--oldest"]);
        let mut follower = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let (lines, seen) = (BufReader::new(follower.stdout.take().unwrap()).lines(), seen.clone());
        std::thread::spawn(move || {
            // The last line of one whose server was killed may end anywhere.
            let rows = lines.map_while(Result::ok).filter_map(|it| serde_json::from_str::<Value>(&it).ok());
            rows.for_each(|it| seen.lock().unwrap().push(it));
        });
        Self { deployment, server, follower }
    }

    /// The node that works for the consumer, and this one.
    fn holder(&self) -> (Option<String>, String) {
        let status = self.deployment.json(&["log", "status"]);
        let holder = status["consumers"][0]["node"].as_str().map(str::to_owned);
        (holder, status["thisNode"].as_str().unwrap().to_owned())
    }

    /// SIGKILL for the server; its follower ends by itself.
    fn kill(mut self) -> Deployment {
        self.server.kill();
        assert!(!self.follower.wait().unwrap().success(), "its follower says that the server is gone");
        self.deployment
    }
}

/// Writes through a node until what it wrote last was seen, and answers how long that took, in milliseconds.
fn until_seen(node: &Node, key: &str, ids: &mut Vec<String>, seen: &Seen) -> i64 {
    let begun = elapsing();
    let id = write(&node.server, key, ids.len()).unwrap();
    ids.push(id.clone());
    while elapsing() - begun < 90_000 {
        let is_seen = made(&seen.lock().unwrap()).contains(&id);
        if is_seen {
            return elapsing() - begun;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("{id} was not seen");
}

/// Three programs on one PostgreSQL; the one that reads is killed without warning, again and again.
#[test]
fn log_is_read_on_when_nodes_are_killed() {
    let database = TestDatabase::blocking_create();
    let deployments: Vec<_> = (0..NODES).map(|_| Deployment::with_database(database.url())).collect();
    let key = deployments[0].site_with_things();
    let (seen, mut ids) = (Seen::default(), Vec::new());
    make_things(&deployments[0].serve(|_| {}), &key);
    let mut nodes: Vec<Node> = deployments.into_iter().map(|it| Node::start(it, &seen)).collect();
    until_seen(&nodes[0], &key, &mut ids, &seen);
    for round in 0..rounds(1) {
        for _ in 0..20 {
            ids.push(write(&nodes[(round + ids.len()) % NODES].server, &key, ids.len()).unwrap());
        }
        let (holder, _) = nodes[0].holder();
        let place = nodes.iter().position(|it| Some(it.holder().1) == holder).expect("a node holds it");
        let deployment = nodes.remove(place).kill();
        // Those that are there go on; it comes back later.
        let took = until_seen(&nodes[round % (NODES - 1)], &key, &mut ids, &seen);
        // The promise is 15 s; what a busy machine adds is not ours.
        assert!(took < 45_000, "the log stood still for {took} ms");
        nodes.push(Node::start(deployment, &seen));
    }
    let seen = seen.lock().unwrap();
    let (mut known, mut last) = (BTreeSet::new(), 0);
    let mut first = Vec::new();
    for row in seen.iter().filter(|it| it["kind"] == "data_item_created") {
        let sequence = row["sequence"].as_i64().unwrap();
        if known.insert(sequence) {
            assert!(sequence > last, "{sequence} was seen for the first time behind {last}");
            last = sequence;
            first.push(row.clone());
        }
    }
    assert_eq!(made(&first), ids, "each item once and in order, whichever node told of it");
    for mut node in nodes {
        let _ = node.follower.kill();
        let _ = node.follower.wait();
    }
}
