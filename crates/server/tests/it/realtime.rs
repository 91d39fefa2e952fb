//! Streams of changes over real sockets: how long they last, who is cut off, and what a node that stops or dies leaves.

#![expect(clippy::disallowed_methods, reason = "deadlines of connections are real time")]

use crate::process::{Deployment, Server, post};
use serde_json::{Value, json};
use std::{
    io::{ErrorKind, Read, Write},
    net::{SocketAddr, TcpStream},
    process::{Command, Stdio},
    time::{Duration, Instant},
};
use stoa_testkit::Engine;

/// Nothing is waited for longer.
const PATIENCE: Duration = Duration::from_secs(60);
/// Bytes of the field of an item that fills sockets quickly.
const LARGE: usize = 60_000;

/// A client that follows `things`.
struct Follower {
    socket: TcpStream,
    text: String,
}

impl Follower {
    /// Sends the request, and reads nothing.
    fn open(server: &Server, key: &str, subscription: &Value) -> Self {
        let address: SocketAddr = server.url.strip_prefix("http://").unwrap().parse().unwrap();
        // Little room for what isn't read, so that the server soon notices.
        let socket = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
            let socket = tokio::net::TcpSocket::new_v4().unwrap();
            socket.set_recv_buffer_size(16 * 1024).unwrap();
            socket.connect(address).await.unwrap().into_std().unwrap()
        });
        socket.set_nonblocking(false).unwrap();
        socket.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        let body = json!({ "subscriptions": [subscription] }).to_string();
        let length = body.len();
        let head = format!(
            "POST /_api/realtime/v1/stream HTTP/1.1\r\nhost: localhost\r\nauthorization: {key}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n"
        );
        let mut it = Self { socket, text: String::new() };
        it.socket.write_all((head + &body).as_bytes()).unwrap();
        it
    }

    /// Follows all things from now on.
    fn ready(server: &Server, key: &str) -> Self {
        let mut it = Self::open(server, key, &json!({ "key": "a", "dataCollectionId": "things" }));
        it.wait_for("event: ready");
        it
    }

    /// Reads until this has come, and answers what came up to it.
    fn wait_for(&mut self, wanted: &str) -> String {
        let begun = Instant::now();
        loop {
            if let Some(at) = self.text.find(wanted) {
                let rest = self.text.split_off(at + wanted.len());
                return std::mem::replace(&mut self.text, rest);
            }
            assert!(begun.elapsed() < PATIENCE, "{wanted} did not come: {}", self.text);
            assert!(self.read(), "the stream ended: {}", self.text);
        }
    }

    /// Whether the connection is still there after what has come was read.
    fn read(&mut self) -> bool {
        let mut buffer = [0; 64 * 1024];
        match self.socket.read(&mut buffer) {
            Ok(0) => false,
            Ok(count) => {
                self.text.push_str(&String::from_utf8_lossy(&buffer[..count]));
                true
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => true,
            Err(_) => false,
        }
    }

    /// Waits until something can be read, and reads nothing: a server that stops serves no request that it hasn't begun.
    fn wait_for_answer(&self) {
        let begun = Instant::now();
        while let Err(error) = self.socket.peek(&mut [0]) {
            assert!(matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut), "{error}");
            assert!(begun.elapsed() < PATIENCE, "nothing was answered");
        }
    }

    /// Reads a byte.
    fn sip(&mut self) {
        let _ = self.socket.read(&mut [0]);
    }

    /// The newest id.
    fn place(&self, told: &str) -> String {
        let id = told.lines().rev().find_map(|it| it.strip_prefix("id: "));
        id.unwrap_or_else(|| panic!("no id: {told}")).trim().to_owned()
    }
}

fn make_followed(server: &Server, key: &str) {
    let collection = json!({ "collection": {
        "id": "things", "realtime": true, "fields": [{ "key": "n", "type": "NUMBER" }, { "key": "t", "type": "TEXT" }],
        "permissions": { "read": "ANYONE", "insert": "ADMIN", "update": "ADMIN", "remove": "ADMIN" },
    }});
    let (status, answer) = post(&format!("{}/v2/collections", server.url), key, &collection).unwrap();
    assert_eq!(status, 200, "{answer}");
}

fn save(server: &Server, key: &str, data: &Value) {
    let body = json!({ "dataCollectionId": "things", "dataItem": { "data": data } });
    let (status, answer) = post(&format!("{}/v2/items/save", server.url), key, &body).unwrap();
    assert_eq!(status, 200, "{answer}");
}

/// A server whose times are short.
fn quick(deployment: &Deployment) -> Server {
    deployment.serve(|it| {
        it.env("STOA_LIMITS_IDLE_TIME", "1s").env("STOA_LIMITS_HEAD_TIME", "1s").env("STOA_LIMITS_WRITE_TIME", "3s");
        it.env("STOA_LIMITS_STREAM_KEEP_ALIVE", "1s");
    })
}

#[test]
fn stream_outlives_idle_connections() {
    let deployment = Deployment::new(Engine::Sqlite);
    let key = deployment.site_with_things();
    let server = quick(&deployment);
    make_followed(&server, &key);
    let mut follower = Follower::ready(&server, &key);
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(5) {
        follower.wait_for(": \n");
    }
    save(&server, &key, &json!({ "_id": "one" }));
    follower.wait_for("\"type\":\"enter\"");
    assert!(server.stop());
}

/// Readers that take nothing, or a byte now and then, are cut off; who reads is told everything meanwhile.
#[test]
fn reader_that_does_not_read_is_cut_off_alone() {
    let deployment = Deployment::without_traffic(Engine::Sqlite);
    let key = deployment.site_with_things();
    let server = quick(&deployment);
    make_followed(&server, &key);
    let subscription = json!({ "key": "a", "dataCollectionId": "things" });
    let mut silent = Follower::open(&server, &key, &subscription);
    let mut sipping = Follower::open(&server, &key, &subscription);
    let mut reading = Follower::ready(&server, &key);
    let (text, begun) = ("x".repeat(LARGE), Instant::now());
    let mut slowest = Duration::ZERO;
    // More than sockets hold, and for longer than a reader may take nothing.
    for n in 0.. {
        let sent = Instant::now();
        save(&server, &key, &json!({ "_id": format!("i{n}"), "t": text }));
        reading.wait_for(&format!("\"id\":\"i{n}\""));
        slowest = slowest.max(sent.elapsed());
        sipping.sip();
        if n >= 300 && begun.elapsed() > Duration::from_secs(9) {
            break;
        }
        assert!(begun.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(slowest < Duration::from_secs(2), "{slowest:?}: others wait for who doesn't read");
    for (name, it) in [("silent", &mut silent), ("sipping", &mut sipping)] {
        let begun = Instant::now();
        while it.read() {
            assert!(begun.elapsed() < Duration::from_secs(5), "the {name} one is still there");
        }
    }
    save(&server, &key, &json!({ "_id": "last" }));
    reading.wait_for("\"id\":\"last\"");
}

#[test]
fn node_that_stops_says_so_and_waits_for_no_stream() {
    let deployment = Deployment::new(Engine::Sqlite);
    let key = deployment.site_with_things();
    let server = deployment.serve(|_| {});
    make_followed(&server, &key);
    let mut followers: Vec<Follower> = (0..10).map(|_| Follower::ready(&server, &key)).collect();
    let mut silent = Follower::open(&server, &key, &json!({ "key": "a", "dataCollectionId": "things" }));
    silent.wait_for_answer();
    let begun = Instant::now();
    assert!(server.stop());
    assert!(begun.elapsed() < Duration::from_secs(8), "{:?}", begun.elapsed());
    for it in &mut followers {
        it.wait_for("event: bye\ndata: {\"reconnectMs\":");
        while it.read() {}
    }
    silent.wait_for("event: bye");
}

#[test]
fn streams_come_over_http2_as_well() {
    let deployment = Deployment::new(Engine::Sqlite);
    let key = deployment.site_with_things();
    let server = deployment.serve(|_| {});
    make_followed(&server, &key);
    save(&server, &key, &json!({ "_id": "one" }));
    let body = json!({ "subscriptions": [{ "key": "a", "dataCollectionId": "things", "snapshot": true }] }).to_string();
    let url = format!("{}/_api/realtime/v1/stream", server.url);
    let mut curl = Command::new("curl");
    curl.args(["--http2-prior-knowledge", "-sN", "--max-time", "60", "-d", &body, &url]);
    curl.args(["-H", &format!("authorization: {key}"), "-H", "content-type: application/json"]);
    let mut curl = curl.stdout(Stdio::piped()).spawn().unwrap();
    let mut output = curl.stdout.take().unwrap();
    let mut text = String::new();
    let mut wait_for = |wanted: &str| {
        let mut buffer = [0; 4_096];
        while !text.contains(wanted) {
            let count = output.read(&mut buffer).unwrap();
            assert!(count > 0, "{text}");
            text.push_str(&String::from_utf8_lossy(&buffer[..count]));
        }
    };
    wait_for("\"items\":[{\"_id\":\"one\"");
    wait_for("event: ready");
    save(&server, &key, &json!({ "_id": "two" }));
    wait_for("\"type\":\"enter\",\"id\":\"two\"");
    assert!(server.stop(), "it waits for no stream");
    wait_for("event: bye");
    assert!(curl.wait().unwrap().success());
}

/// Written on one node and followed on another; when that dies, the stream goes on at the first one.
#[test]
fn streams_go_on_from_node_to_node() {
    let deployment = Deployment::new(Engine::Postgres);
    let key = deployment.site_with_things();
    let (here, beside) = (deployment.serve(|_| {}), tempfile::tempdir().unwrap());
    let mut elsewhere = deployment.serve_at(beside.path());
    make_followed(&here, &key);
    let mut follower = Follower::ready(&elsewhere, &key);
    save(&here, &key, &json!({ "_id": "one" }));
    let told = follower.wait_for("\"type\":\"enter\",\"id\":\"one\"");
    let place = follower.place(&told);
    elsewhere.kill();
    save(&here, &key, &json!({ "_id": "two" }));
    let mut follower =
        Follower::open(&here, &key, &json!({ "key": "a", "dataCollectionId": "things", "resume": place }));
    // Before it is ready or after it: the log is read up to the oldest transaction of the database.
    let missed = follower.wait_for("\"id\":\"two\"");
    assert!(!missed.contains("\"id\":\"one\""), "{missed}");
    save(&here, &key, &json!({ "_id": "three" }));
    follower.wait_for("\"id\":\"three\"");
}
