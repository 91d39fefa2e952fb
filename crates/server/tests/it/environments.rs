//! `stoa environments` as it is typed, and the program killed in the middle of copies: what is told to be done is done
//! whole, and whatever isn't has changed nothing.

use crate::process::{Deployment, Server, get, make_things, post, refusal, write_items};
use serde_json::{Value, json};
use std::{
    io::Write,
    process::{Command, Stdio},
    time::Duration,
};
use stoa_kernel::World;
use stoa_testkit::{Engine, TestDatabase, rounds};

#[test]
fn copies_killed_on_sqlite() {
    kill_copies(Engine::Sqlite, rounds(4));
}

#[test]
fn copies_killed_on_postgres() {
    kill_copies(Engine::Postgres, rounds(2));
}

/// Paused in the midst of a copy, for so long that another takes it up and ends it, and what it did is undone.
#[test]
fn paused_server_that_goes_on_changes_nothing() {
    let database = TestDatabase::blocking_create();
    let nodes = [Deployment::with_database(database.url()), Deployment::with_database(database.url())];
    let _ = make_pair(&nodes[0]);
    let (mut servers, mut followed) = (nodes.each_ref().map(|it| it.serve(|_| {})), 0);
    for round in 0..rounds(1) * 5 {
        if round >= rounds(1) && followed > 0 {
            break;
        }
        let item = json!({ "_id": format!("round{round}"), "n": round }).to_string();
        nodes[1].json(&["item", "insert", "things", &item, "--environment", "sandbox"]);
        let before = export(&nodes[1], "live");
        let copy = ["environments", "copy", "--from", "sandbox", "--to", "live"];
        let mut command = nodes[0].stoa(&copy).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        while status(&nodes[1])["copies"][0]["status"] != "RUNNING" && command.try_wait().unwrap().is_none() {}
        std::thread::sleep(Duration::from_millis(moment(200)));
        signal(&servers[0], "STOP");
        let latest = ended(&nodes[1]);
        assert_eq!(latest["status"], "SUCCEEDED", "{latest}");
        followed += usize::from(latest["attempts"].as_i64() > Some(1));
        assert!(export(&nodes[1], "live") == export(&nodes[1], "sandbox"), "{latest}");
        assert_eq!(nodes[1].json(&["environments", "undo"])["status"], "UNDONE");
        assert!(export(&nodes[1], "live") == before);
        signal(&servers[0], "CONT");
        let _ = command.wait();
        // It has found by then that it was followed, several times.
        std::thread::sleep(Duration::from_secs(3));
        for node in &nodes {
            assert!(export(node, "live") == before, "{}", status(node));
            assert_eq!(status(node)["copies"][0]["status"], "UNDONE");
        }
    }
    say(&format!("servers paused in copies: {followed} were followed"));
    assert!(followed > 0, "none was followed");
    servers.iter_mut().for_each(Server::kill);
}

/// Past the capture of the output of tests: for scripts/soak.
fn say(tally: &str) {
    let _ = writeln!(std::io::stdout(), "\n{tally}");
}

fn signal(server: &Server, name: &str) {
    let (name, pid) = (format!("-{name}"), server.child.id().to_string());
    assert!(Command::new("kill").args([name, pid]).status().unwrap().success());
}

/// So many milliseconds at the most.
fn moment(most: u64) -> u64 {
    u64::from_le_bytes(World::real().bytes::<8>()) % most
}

#[test]
fn sandbox_by_command_on_sqlite() {
    by_command(Engine::Sqlite);
}

#[test]
fn sandbox_by_command_on_postgres() {
    by_command(Engine::Postgres);
}

const ITEMS: usize = 6_000;

fn export(deployment: &Deployment, environment: &str) -> String {
    let output = deployment.stoa(&["export", "things", "--environment", environment]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn status(deployment: &Deployment) -> Value {
    deployment.json(&["environments", "status"])
}

/// The latest copy, once no process is to work on it.
fn ended(deployment: &Deployment) -> Value {
    for _ in 0..600 {
        let latest = status(deployment)["copies"][0].clone();
        if !matches!(latest["status"].as_str(), Some("RUNNING" | "UNDOING")) {
            return latest;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("the copy stands still: {}", status(deployment));
}

/// Ids and numbers of the items with the word that each round's item has, by a search or by an export.
type Marked = Vec<(String, i64)>;

fn marked<'v>(items: impl Iterator<Item = &'v Value>) -> Marked {
    let of = |it: &Value| (it["_id"].as_str().unwrap().to_owned(), it["n"].as_i64().unwrap());
    let mut marked: Marked = items.filter(|it| it["mark"] == "marked").map(of).collect();
    marked.sort();
    marked
}

/// What the index of an environment finds, once it knows of all that was written.
fn found(server: &Server, key: &str, environment: &str) -> Marked {
    let environment = environment.to_uppercase();
    for _ in 0..3_000 {
        let url = format!("{}/_api/search/v1/lag?environment={environment}", server.url);
        let (status, text) = get(&url, &[("authorization", key)]);
        assert_eq!(status, 200, "{text}");
        if serde_json::from_str::<Value>(&text).unwrap()["isCurrent"] == true {
            let search = json!({ "search": { "expression": "marked" }, "paging": { "limit": 1000 } });
            let body = json!({ "dataCollectionId": "things", "environment": environment, "search": search });
            let (status, answer) = post(&format!("{}/v2/items/search", server.url), key, &body).unwrap();
            assert_eq!(status, 200, "{answer}");
            return marked(answer["dataItems"].as_array().unwrap().iter().map(|it| &it["data"]));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("the index of {environment} has not caught up within a minute");
}

/// What an export holds.
fn held(export: &str) -> Marked {
    let items: Vec<Value> = export.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    marked(items.iter())
}

/// A site whose two environments have the same; answers its key.
fn make_pair(deployment: &Deployment) -> String {
    let key = deployment.site_with_things();
    make_things(&deployment.serve(|_| {}), &key);
    deployment.json(&["collection", "update", "things", "--field", "mark:text"]);
    let file = deployment.file("things.jsonl");
    write_items(&file, ITEMS);
    deployment.json(&["import", "things", file.to_str().unwrap()]);
    deployment.json(&["environments", "create"]);
    let copied = deployment.json(&["environments", "copy", "--from", "live", "--to", "sandbox"]);
    assert_eq!((&copied["status"], &copied["items"]), (&json!("SUCCEEDED"), &json!(ITEMS)));
    assert_eq!(export(deployment, "live"), export(deployment, "sandbox"));
    key
}

fn kill_copies(engine: Engine, rounds: usize) {
    let deployment = Deployment::new(engine);
    let key = make_pair(&deployment);
    let (mut done, mut cut_off, mut taken_up, mut undos, mut undos_taken_up) = (0, 0, 0, 0, 0);
    // More rounds than asked for, until one has hit a copy.
    for round in 0..rounds * 5 {
        if round >= rounds && taken_up > 0 {
            break;
        }
        let (from, to) = if round % 2 == 0 { ("live", "sandbox") } else { ("sandbox", "live") };
        let item = json!({ "_id": format!("round{round}"), "n": round, "mark": "marked" }).to_string();
        deployment.json(&["item", "insert", "things", &item, "--environment", from]);
        let (source, before, known) = (export(&deployment, from), export(&deployment, to), status(&deployment));
        let server = deployment.serve(|_| {});
        let server = kill_during(
            &deployment,
            server,
            &["environments", "copy", "--from", from, "--to", to],
            (Some("RUNNING"), 300),
        );
        let latest = ended(&deployment);
        taken_up += usize::from(latest["attempts"].as_i64() > Some(1));
        let (after, is_new) = (export(&deployment, to), latest["copyId"] != known["copies"][0]["copyId"]);
        match latest["status"].as_str() {
            Some("SUCCEEDED") if is_new => assert!(after == source, "{latest} says done, and isn't"),
            _ => assert!(after == before, "{latest} isn't done, and changed something"),
        }
        assert!(export(&deployment, from) == source, "what is copied stays as it is");
        for (environment, export) in [(from, &source), (to, &after)] {
            assert_eq!(found(&server, &key, environment), held(export), "{environment}, {latest}");
        }
        (done, cut_off) = if is_new { (done + 1, cut_off) } else { (done, cut_off + 1) };
        if is_new {
            // Undone, and killed in the middle as well.
            let server = kill_during(&deployment, server, &["environments", "undo"], (None, 400));
            let undone = ended(&deployment);
            undos += usize::from(undone["status"] == "UNDONE");
            undos_taken_up += usize::from(undone["status"] == "UNDONE" && undone["attempts"].as_i64() > Some(1));
            let wants = if undone["status"] == "UNDONE" { &before } else { &source };
            assert!(export(&deployment, to) == *wants, "{undone}");
            assert_eq!(found(&server, &key, to), held(wants), "{undone}");
            assert!(server.stop());
        }
    }
    let tally = format!(
        "killed in copies on {engine:?}: {done} begun, {taken_up} of them taken up, {undos} undone, {undos_taken_up} of \
         these taken up; {cut_off} kills were too early"
    );
    say(&tally);
    assert!(done > 0 && taken_up > 0, "{tally}");
    // Nothing is in the way of the next.
    let copied = deployment.json(&["environments", "copy", "--from", "live", "--to", "sandbox"]);
    assert_eq!(copied["status"], "SUCCEEDED");
    assert!(export(&deployment, "live") == export(&deployment, "sandbox"));
}

/// Kills the server while it carries a command out, so many milliseconds after that is seen at the most, and starts the next.
fn kill_during(
    deployment: &Deployment,
    mut server: Server,
    command: &[&str],
    (seen, most): (Option<&str>, u64),
) -> Server {
    let mut child = deployment.stoa(command).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while seen.is_some_and(|it| status(deployment)["copies"][0]["status"] != it) && child.try_wait().unwrap().is_none()
    {
    }
    std::thread::sleep(Duration::from_millis(moment(most)));
    server.kill();
    let _ = child.kill();
    let _ = child.wait();
    deployment.wait_for_database();
    deployment.serve(|_| {})
}

fn by_command(engine: Engine) {
    let deployment = Deployment::new(engine);
    deployment.site_with_things();
    let _server = deployment.serve(|_| {});
    let stoa = |words: &str| deployment.json(&words.split(' ').collect::<Vec<_>>());
    let refused = |words: &str| refusal(&deployment, &words.split(' ').collect::<Vec<_>>())["code"].clone();
    stoa("collection create things --field n:number");
    assert_eq!(refused("environments copy --from live --to sandbox"), "WDE0179");
    assert_eq!(refused("item query things --environment sandbox"), "WDE0179");
    assert_eq!(stoa("environments create")["environments"], json!(["LIVE", "SANDBOX"]));
    assert_eq!(refused("environments create"), "ALREADY_EXISTS");
    assert_eq!(refused("environments copy --from live --to live"), "USAGE");
    assert_eq!(refused("environments copy none --from live --to sandbox"), "WDE0025");
    assert_eq!(refused("environments undo"), "NOT_FOUND");
    assert_eq!(stoa("site list")[0]["hasSandbox"], true);
    assert_eq!(stoa("site list").as_array().unwrap().len(), 1);

    assert_eq!(stoa("environments copy --from LIVE --to SANDBOX")["collections"], json!(["things"]));
    stoa("item insert things {\"_id\":\"a\",\"n\":1} --environment sandbox");
    stoa("collection update things --field more:text --environment sandbox");
    let diff = stoa("environments diff --from sandbox --to live");
    assert_eq!(diff["collections"][0]["items"]["add"], json!({ "count": 1, "ids": ["a"] }), "{diff}");
    assert_eq!(diff["collections"][0]["definition"]["fields"]["added"], json!(["more"]));
    assert_eq!(stoa("item query things")["items"], json!([]));
    stoa("environments copy things --from sandbox --to live");
    assert_eq!(stoa("item query things")["items"].as_array().unwrap().len(), 1);
    assert_eq!(stoa("environments undo")["status"], "UNDONE");
    assert_eq!(stoa("item query things")["items"], json!([]));
    assert_eq!(refused("environments delete"), "USAGE");
    assert_eq!(stoa("environments delete things --yes SANDBOX")["deleted"], json!(["things"]));
    assert_eq!(stoa("environments status")["environments"][1], json!({ "name": "SANDBOX", "collections": [] }));
    assert_eq!(stoa("environments delete --yes SANDBOX")["deleted"], "SANDBOX");
    assert_eq!(stoa("site list")[0]["hasSandbox"], false);
}
