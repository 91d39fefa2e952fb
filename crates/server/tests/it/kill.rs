//! Killing the program at any moment loses nothing that was acknowledged and leaves nothing half-written.

use crate::{
    mixed::Load,
    process::{Deployment, Server, all_things, get, make_things, post, write_items},
};
use serde_json::{Value, json};
use std::{path::PathBuf, process::Stdio, time::Duration};
use stoa_kernel::{World, date};
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

#[test]
fn jobs_killed_on_sqlite() {
    kill_jobs(Engine::Sqlite, rounds(3));
}

#[test]
fn jobs_killed_on_postgres() {
    kill_jobs(Engine::Postgres, rounds(3));
}

#[test]
fn schedules_killed_on_sqlite() {
    kill_schedule(Engine::Sqlite, rounds(3));
}

#[test]
fn schedules_killed_on_postgres() {
    kill_schedule(Engine::Postgres, rounds(3));
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

/// Jobs that change or remove items go on after each kill, and none is met twice.
fn kill_jobs(engine: Engine, rounds: usize) {
    let things = Things::new(engine);
    let add = json!([{ "fieldPath": "n", "action": "INCREMENT_FIELD", "incrementFieldOptions": { "value": 100_000 } }]);
    let patch = json!({ "dataCollectionId": "things", "filter": {}, "fieldModifications": add });
    let most = json!({ "dataCollectionId": "things", "filter": { "n": { "$gte": THINGS / 10 } } });
    let mut server = things.deployment.serve(|_| {});
    let (mut met, mut jobs) = (0, 0);
    while met < rounds {
        jobs += 1;
        assert!(jobs <= 2 * rounds, "{met} kills met {jobs} changes");
        things.fill();
        met += things.killed_in(&mut server, ("async-patch-by-filter", &patch, THINGS), rounds - met);
        let all = all_things(&server, &things.key);
        assert_eq!(all.len(), THINGS);
        assert!(all.iter().enumerate().all(|(n, it)| it.1 == n as i64 + 100_000), "each item was met once");
    }
    (met, jobs) = (0, 0);
    while met < rounds {
        jobs += 1;
        assert!(jobs <= 2 * rounds, "{met} kills met {jobs} removals");
        things.fill();
        met += things.killed_in(&mut server, ("async-remove-by-filter", &most, THINGS - THINGS / 10), rounds - met);
        let all = all_things(&server, &things.key);
        assert_eq!(all.len(), THINGS / 10, "the others are gone");
        assert!(all.iter().enumerate().all(|(n, it)| it.1 == n as i64), "those that stay are as they were");
    }
}

/// A task that publishes items at a time goes on after each kill, while it marks them and while it publishes them, and
/// publishes each once.
fn kill_schedule(engine: Engine, rounds: usize) {
    let things = Things::new(engine);
    let mut server = things.deployment.serve(|_| {});
    things.fill();
    let call = |server: &Server, path: &str, body: &Value| {
        let (status, answer) = post(&format!("{}{path}", server.url), &things.key, body).unwrap();
        assert_eq!(status, 200, "{answer}");
        answer
    };
    let plugin = json!({ "dataCollectionId": "things", "publishOptions": { "defaultStatus": "DRAFT" } });
    call(&server, "/v2/collections/add-publish-plugin", &plugin);
    let options = json!({
        "dataCollectionId": "things", "operation": "SCHEDULE_PUBLISHED_STATUS",
        "schedulePublishedStatusOptions": { "date": date::print(World::real().now() + 4_000) },
    });
    let task = json!({ "type": "UPDATE_PUBLISH_STATUS", "updatePublishStatusOptions": options });
    let begun = call(&server, "/v1/tasks", &json!({ "task": task }));
    assert!(all_things(&server, &things.key).is_empty(), "nothing is published yet");
    let id = begun["task"]["id"].as_str().unwrap();
    let mut met = 0;
    for _ in 0..rounds {
        std::thread::sleep(moment(300));
        server.kill();
        things.deployment.wait_for_database();
        server = things.deployment.serve(|_| {});
        met += usize::from(wait_for_task(&server, &things.key, id, |_| true)["status"] != "COMPLETED");
    }
    assert!(met > 0, "a kill met the task");
    let state = wait_for_task(&server, &things.key, id, |it| it["finishedAt"].is_string());
    assert_eq!((&state["status"], &state["itemsSucceeded"]), (&json!("COMPLETED"), &json!(THINGS)), "{state}");
    assert_eq!(all_things(&server, &things.key).len(), THINGS);
}

/// How a task stands once it is so.
fn wait_for_task(server: &Server, key: &str, id: &str, is_so: impl Fn(&Value) -> bool) -> Value {
    for _ in 0..6_000 {
        let (status, text) = get(&format!("{}/v1/tasks/{id}", server.url), &[("authorization", key)]);
        assert_eq!(status, 200, "{text}");
        let state: Value = serde_json::from_str(&text).unwrap();
        if is_so(&state["task"]) {
            return state["task"].clone();
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("the task {id} stands still");
}

const THINGS: usize = 6_000;

/// A site with items for jobs.
struct Things {
    deployment: Deployment,
    key: String,
    file: PathBuf,
}

impl Things {
    fn new(engine: Engine) -> Self {
        let deployment = Deployment::new(engine);
        let key = deployment.site_with_things();
        make_things(&deployment.serve(|_| {}), &key);
        let file = deployment.file("things.jsonl");
        write_items(&file, THINGS);
        Self { deployment, key, file }
    }

    /// Has all items as they were.
    fn fill(&self) {
        self.deployment.json(&["import", "things", self.file.to_str().unwrap()]);
    }

    /// Begins a job and kills the server in the middle of it, so many times if it lasts; answers how many kills met it.
    fn killed_in(&self, server: &mut Server, (call, body, count): (&str, &Value, usize), most: usize) -> usize {
        let (status, begun) = post(&format!("{}/v2/bulk/items/{call}", server.url), &self.key, body).unwrap();
        assert_eq!(status, 200, "{begun}");
        let id = begun["jobId"].as_str().unwrap();
        let (mut before, mut met) = (0, 0);
        while met < most {
            let (done, status) = wait_for_job(server, &self.key, id, |it| it["successCount"].as_u64() > Some(before));
            if matches!(status.as_str(), "SUCCEEDED" | "FAILED") {
                break;
            }
            before = done;
            std::thread::sleep(moment(20));
            server.kill();
            self.deployment.wait_for_database();
            *server = self.deployment.serve(|_| {});
            // One that has ended by then was not met.
            met += usize::from(!matches!(
                wait_for_job(server, &self.key, id, |_| true).1.as_str(),
                "SUCCEEDED" | "FAILED"
            ));
        }
        let (done, status) = wait_for_job(server, &self.key, id, |_| false);
        assert_eq!((done, status.as_str()), (count as u64, "SUCCEEDED"), "{call}");
        met
    }
}

/// How many items a job has changed when it is so, or has ended, and how it stands.
fn wait_for_job(server: &Server, key: &str, id: &str, is_so: impl Fn(&Value) -> bool) -> (u64, String) {
    for _ in 0..2_000 {
        let url = format!("{}/v2/async-jobs/{id}/status?jobId={id}", server.url);
        let (status, text) = get(&url, &[("authorization", key)]);
        assert_eq!(status, 200, "{text}");
        let state: Value = serde_json::from_str(&text).unwrap();
        let has_ended = matches!(state["status"].as_str(), Some("SUCCEEDED" | "FAILED"));
        if has_ended || is_so(&state) {
            return (state["successCount"].as_u64().unwrap(), state["status"].as_str().unwrap().to_owned());
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("the job {id} stands still");
}
