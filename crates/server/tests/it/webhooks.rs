//! Webhooks by command, on both engines, and `stoa webhook listen` with a receiver on this machine.

use crate::process::{Deployment, Server, make_things, post, refusal};
use serde_json::{Value, json};
use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    process::{Child, Stdio},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU16, Ordering::Relaxed},
        mpsc::{Receiver as Lines, channel},
    },
    time::Duration,
};
use stoa_testkit::Engine;

const CREATED: &str = "wix.data.v2.data_item_created";

/// A receiver that answers as it is told, and keeps headers and bodies.
struct Receiver {
    address: String,
    status: Arc<AtomicU16>,
    taken: Arc<Mutex<Vec<(String, String)>>>,
}

impl Receiver {
    fn start() -> Self {
        Self::start_at("127.0.0.1:0")
    }

    fn start_at(address: &str) -> Self {
        let listener = TcpListener::bind(address).unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (status, taken) = (Arc::new(AtomicU16::new(200)), Arc::<Mutex<Vec<_>>>::default());
        let (answers, kept) = (status.clone(), taken.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if let Some(message) = read(&stream) {
                    kept.lock().unwrap().push(message);
                }
                let status = answers.load(Relaxed);
                let head = format!("HTTP/1.1 {status} X\r\ncontent-length: 4\r\nconnection: close\r\n\r\nseen");
                let _ = (&stream).write_all(head.as_bytes());
            }
        });
        Self { address, status, taken }
    }

    fn url(&self) -> String {
        format!("http://{}/webhook", self.address)
    }

    fn wait_for(&self, count: usize) -> Vec<(String, String)> {
        for _ in 0..600 {
            let taken = self.taken.lock().unwrap().clone();
            if taken.len() >= count {
                return taken;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("{:?}, not {count}", self.taken.lock().unwrap());
    }
}

/// The head of a request in lower case, and its body.
pub fn read(stream: &TcpStream) -> Option<(String, String)> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let head = head.to_ascii_lowercase();
    let length = head.lines().find_map(|it| it.strip_prefix("content-length: "))?.trim().parse().ok()?;
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((head, String::from_utf8(body).ok()?))
}

/// A site with an application that has an active key, and the collection of things; answers a key.
fn with_application(deployment: &Deployment) -> String {
    let key = deployment.site_with_things();
    deployment.json(&["client", "create", "--name", "Journal", "--secret"]);
    deployment.json(&["app", "key", "rotate"]);
    deployment.json(&["app", "key", "activate"]);
    key
}

fn insert(server: &Server, key: &str, n: u32) -> String {
    let item = json!({ "dataCollectionId": "things", "dataItem": { "data": { "n": n } } });
    let (status, answer) = post(&format!("{}/v2/items", server.url), key, &item).unwrap();
    assert_eq!(status, 200, "{answer}");
    answer["dataItem"]["data"]["_id"].as_str().unwrap().to_owned()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn endpoints_by_command_on_sqlite() {
    endpoints(Engine::Sqlite);
}

#[test]
fn endpoints_by_command_on_postgres() {
    endpoints(Engine::Postgres);
}

fn endpoints(engine: Engine) {
    let deployment = Deployment::new(engine);
    deployment.site_with_things();
    fn create<'t>(more: &[&'t str]) -> Vec<&'t str> {
        [&["webhook", "create", "--url", "https://app.example.org/webhook"], more].concat()
    }
    let none = refusal(&deployment, &create(&["--types", "data_item_created"]));
    assert!(none["message"].as_str().unwrap().contains("stoa client create"), "{none}");
    deployment.json(&["client", "create", "--name", "Journal", "--secret"]);

    // Without an active key a person is told what comes next, and the secret is what they see once.
    let output = deployment.stoa(&create(&["--types", "data_item_created,AppInstalled"])).output().unwrap();
    let (shown, said) = (text(&output.stdout), text(&output.stderr));
    assert!(shown.contains("whsec_") && shown.contains("https://app.example.org/webhook"), "{shown}");
    for step in ["stoa app key rotate", "stoa app key activate", "stoa webhook test"] {
        assert!(said.contains(step), "{step} in {said}");
    }
    let list = deployment.json(&["webhook", "list"]);
    let endpoint = &list[0];
    assert_eq!(endpoint["types"], json!([CREATED, "AppInstalled"]), "{list}");
    let id = endpoint["id"].as_str().unwrap();
    assert!(!list.to_string().contains("whsec_"));
    deployment.json(&["app", "key", "rotate"]);
    deployment.json(&["app", "key", "activate"]);

    // The same through a running server.
    let server = deployment.serve(|_| {});
    let unknown = refusal(&deployment, &create(&["--types", "data_item_create"]));
    assert!(unknown["message"].as_str().unwrap().contains("did you mean data_item_created?"), "{unknown}");
    let nothing = refusal(&deployment, &["webhook", "update", id]);
    assert_eq!(nothing["code"], "USAGE");
    let changed = deployment.json(&["webhook", "update", id, "--collections", "things,others", "--timeout-ms", "2000"]);
    assert_eq!((&changed["collections"], &changed["timeoutMs"]), (&json!(["things", "others"]), &json!(2_000)));
    let all = deployment.json(&["webhook", "update", id, "--all-collections"]);
    assert_eq!(all["collections"], Value::Null);
    assert_eq!(deployment.json(&["webhook", "pause", id])["state"], "PAUSED");
    assert_eq!(deployment.json(&["webhook", "show", id])["state"], "PAUSED");
    assert_eq!(deployment.json(&["webhook", "resume", id, "--from-now"])["state"], "ACTIVE");
    let secret = deployment.json(&["webhook", "rotate-secret", id])["secret"].clone();
    assert!(secret.as_str().unwrap().starts_with("whsec_"), "{secret}");
    assert_eq!(deployment.json(&["webhook", "events", id, "--state", "dead"])["events"], json!([]));
    assert_eq!(deployment.json(&["webhook", "replay", id, "--dead"])["count"], 0);
    assert_eq!(refusal(&deployment, &["webhook", "replay", id, "--since", "yesterday"])["code"], "INVALID_ARGUMENT");
    let types = deployment.json(&["webhook", "types"]);
    assert!(types.as_array().unwrap().iter().any(|it| it["type"] == CREATED), "{types}");
    let receiver = Receiver::start();
    let to = receiver.url();
    deployment.json(&["webhook", "update", id, "--url", &to]);
    let outcome = deployment.json(&["webhook", "test", id]);
    assert_eq!((&outcome["status"], &outcome["excerpt"]), (&json!(200), &json!("seen")), "{outcome}");
    assert_eq!(receiver.wait_for(1).len(), 1);
    assert_eq!(deployment.json(&["webhook", "delete", id]), json!({ "deleted": id }));
    assert_eq!(refusal(&deployment, &["webhook", "show", id])["code"], "NOT_FOUND");
    assert!(server.stop());
}

/// `stoa webhook listen`, ended when it is dropped.
struct Listener {
    child: Child,
    lines: Lines<String>,
    notes: Lines<String>,
}

impl Listener {
    fn start(deployment: &Deployment, more: &[&str]) -> Self {
        let arguments = [&["webhook", "listen", "--json"], more].concat();
        let mut child = deployment.stoa(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (lines, notes) = (passed_on(child.stdout.take().unwrap()), passed_on(child.stderr.take().unwrap()));
        let it = Self { child, lines, notes };
        it.note("Ctrl-C ends it");
        it
    }

    fn line(&self) -> Value {
        let line = self.lines.recv_timeout(Duration::from_secs(40)).expect("a line");
        serde_json::from_str(&line).unwrap()
    }

    /// Waits until it says so.
    fn note(&self, words: &str) {
        let mut said = Vec::new();
        while let Ok(note) = self.notes.recv_timeout(Duration::from_secs(40)) {
            said.push(note);
            if said.last().is_some_and(|it| it.contains(words)) {
                return;
            }
        }
        panic!("{words} in {said:?}");
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn passed_on(from: impl Read + Send + 'static) -> Lines<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        BufReader::new(from).lines().map_while(Result::ok).all(|it| sender.send(it).is_ok());
    });
    receiver
}

#[test]
fn listen_posts_what_happens_on_sqlite() {
    listen(Engine::Sqlite);
}

#[test]
fn listen_posts_what_happens_on_postgres() {
    listen(Engine::Postgres);
}

fn listen(engine: Engine) {
    let deployment = Deployment::new(engine);
    let key = with_application(&deployment);
    let nowhere = refusal(&deployment, &["webhook", "listen", "--forward", "http://127.0.0.1:1/"]);
    assert!(nowhere["message"].as_str().unwrap().contains("stoa serve"), "{nowhere}");
    let server = deployment.serve(|_| {});
    make_things(&server, &key);
    let wrong = refusal(&deployment, &["webhook", "listen", "--forward", "ftp://x"]);
    assert_eq!(wrong["code"], "USAGE");

    // Through the socket; first nothing listens, then the receiver is there and gets the same message.
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let to = format!("http://{free}/webhook");
    let listener = Listener::start(&deployment, &["--forward", &to, "--types", "data_item_created"]);
    let first = insert(&server, &key, 1);
    listener.note("Nothing listens");
    let receiver = Receiver::start_at(&free);
    let line = listener.line();
    assert_eq!(
        (&line["type"], &line["entityId"], &line["status"]),
        (&json!(CREATED), &json!(first), &json!(200)),
        "{line}"
    );
    assert!(line["ms"].is_u64() && line["time"].is_string(), "{line}");
    let (head, body) = receiver.wait_for(1).remove(0);
    assert!(head.contains("content-type: text/plain; charset=utf-8") && head.contains("webhook-id: "), "{head}");
    assert_eq!(body.split('.').count(), 3, "a token: {body}");

    // What is refused is told and not sent again; what comes next goes on.
    receiver.status.store(500, Relaxed);
    let second = insert(&server, &key, 2);
    let line = listener.line();
    assert_eq!((&line["entityId"], &line["status"]), (&json!(second), &json!(500)));
    receiver.status.store(204, Relaxed);
    let third = insert(&server, &key, 3);
    assert_eq!(listener.line()["entityId"], third);
    assert_eq!(receiver.wait_for(3).len(), 3);

    // The server goes and comes back; nothing that happens meanwhile is passed over.
    assert!(server.stop());
    listener.note("trying again");
    let server = deployment.serve(|_| {});
    let fourth = insert(&server, &key, 4);
    assert_eq!(listener.line()["entityId"], fourth);
    drop(listener);

    // With an API key, as from another machine.
    let elsewhere = Deployment::new(Engine::Sqlite);
    let to = receiver.url();
    let clients = deployment.json(&["client", "list"]);
    let app = clients.as_array().unwrap().iter().find(|it| it["name"] == "Journal").unwrap()["clientId"].clone();
    let app = app.as_str().unwrap();
    let remote = ["--forward", &to, "--url", &server.url, "--api-key", &key, "--format", "standard", "--app", app];
    let listener = Listener::start(&elsewhere, &remote);
    let fifth = insert(&server, &key, 5);
    assert_eq!(listener.line()["entityId"], fifth);
    let (head, body) = receiver.wait_for(5).remove(4);
    assert!(head.contains("content-type: application/json") && head.contains("webhook-signature: v1,"), "{head}");
    assert_eq!(serde_json::from_str::<Value>(&body).unwrap()["type"], CREATED);
    drop(listener);
    let refused = refusal(
        &elsewhere,
        &["webhook", "listen", "--forward", &to, "--url", &server.url, "--api-key", "wrong", "--app", app],
    );
    assert_eq!(refused["code"], "UNAUTHENTICATED", "{refused}");
}
