//! The program under measurement, started as scripts start it.

use serde_json::{Value, json};
use std::{
    io::{BufRead, BufReader, Write},
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};
use stoa_kernel::World;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    Sqlite,
    Postgres,
}

pub struct Program {
    binary: PathBuf,
    child: Child,
    directory: tempfile::TempDir,
    database_url: Option<String>,
    address: SocketAddr,
    key: String,
    client: String,
}

impl Program {
    pub fn start(binary: &Path, engine: Engine) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let database_url = (engine == Engine::Postgres).then(new_database);
        let stoa = |arguments: &[&str]| {
            let mut command = Command::new(binary);
            command.args(arguments).arg("--data").arg(directory.path()).args(["--log", "warn"]).stdin(Stdio::null());
            command.args(database_url.iter().flat_map(|it| ["--database-url", it]));
            command
        };
        let run = |arguments: &[&str], member: &str| {
            let output = stoa(arguments).arg("--json").output().expect("the release binary runs; make build makes it");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            let value: Value = serde_json::from_slice(&output.stdout).unwrap();
            value[member].as_str().unwrap().to_owned()
        };
        run(&["site", "create", "--name", "bench"], "siteId");
        let client = run(&["client", "create", "--name", "bench", "--redirect-uri", "http://localhost/"], "clientId");
        let key = run(&["key", "create", "--name", "bench"], "apiKey");
        let mut serve = stoa(&["serve", "--port", "0"]);
        let mut child = serve.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let address = lines.find_map(|it| it.ok()?.strip_prefix("ready http://")?.parse().ok()).unwrap();
        let program = Self { binary: binary.to_owned(), child, database_url, address, key, client, directory };
        for collection in ["things", "bulk", "imported"] {
            program.make_collection(collection);
        }
        program
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn database_url(&self) -> Option<&str> {
        self.database_url.as_deref()
    }

    /// Reads are allowed to members for their own items and to anyone for these: the rule is asked each time.
    fn make_collection(&self, id: &str) {
        self.post(
            "/v2/collections",
            &json!({ "collection": {
                "id": id, "displayName": id, "fields": [{ "key": "n", "type": "NUMBER" }],
                "permissions": { "read": "ANYONE", "insert": "ADMIN", "update": "ADMIN", "remove": "ADMIN" },
            }}),
        );
    }

    pub fn fill(&self, count: usize) {
        for start in (0..count).step_by(1000) {
            let items: Vec<_> = (start..count.min(start + 1000)).map(|n| json!({ "data": item(n) })).collect();
            self.post("/v2/bulk/items/insert", &json!({ "dataCollectionId": "things", "dataItems": items }));
        }
    }

    pub fn visitor_tokens(&self, count: usize) -> Vec<String> {
        let body = json!({ "clientId": self.client, "grantType": "anonymous" });
        (0..count).map(|_| self.post("/oauth2/token", &body)["access_token"].as_str().unwrap().to_owned()).collect()
    }

    /// GETs of random items by random visitors.
    pub fn point_reads(&self, tokens: &[String], items: usize) -> Arc<Vec<Vec<u8>>> {
        let mut random = Random::new();
        let requests = (0..50_000).map(|_| {
            let (id, token) = (item_id(random.below(items)), &tokens[random.below(tokens.len())]);
            format!("GET /v2/items/{id}?dataCollectionId=things&dataItemId={id} HTTP/1.1\r\nhost: localhost\r\nauthorization: {token}\r\n\r\n")
                .into_bytes()
        });
        Arc::new(requests.collect())
    }

    /// The newest fifty items, in the default order, which an index has.
    pub fn pages(&self, tokens: &[String]) -> Arc<Vec<Vec<u8>>> {
        let mut random = Random::new();
        let requests = (0..2_000).map(|_| {
            let body = json!({ "dataCollectionId": "things", "query": { "paging": { "limit": 50, "offset": random.below(200) } } }).to_string();
            let token = &tokens[random.below(tokens.len())];
            format!("POST /v2/items/query HTTP/1.1\r\nhost: localhost\r\nauthorization: {token}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}", body.len())
                .into_bytes()
        });
        Arc::new(requests.collect())
    }

    /// Items a second in bulk inserts of 1,000, two at once.
    pub fn bulk_inserts(&self, period: Duration) -> f64 {
        let items: Vec<_> = (0..1000)
            .map(|n| {
                let mut it = item(n);
                it.as_object_mut().unwrap().remove("_id");
                json!({ "data": it })
            })
            .collect();
        let body = Arc::new(json!({ "dataCollectionId": "bulk", "dataItems": items }).to_string());
        let start = Instant::now();
        let writers: Vec<_> = (0..2)
            .map(|_| {
                let (body, key, url) =
                    (body.clone(), self.key.clone(), format!("http://{}/v2/bulk/items/insert", self.address));
                std::thread::spawn(move || {
                    let (agent, mut done) = (ureq::Agent::new_with_defaults(), 0);
                    while start.elapsed() < period {
                        let mut response = agent
                            .post(&url)
                            .header("authorization", &key)
                            .header("content-type", "application/json")
                            .send(body.as_str())
                            .unwrap();
                        let answer = response.body_mut().with_config().limit(64 << 20).read_to_string().unwrap();
                        assert!(answer.contains("\"totalSuccesses\":1000"));
                        done += 1000;
                    }
                    done
                })
            })
            .collect();
        let done: usize = writers.into_iter().map(|it| it.join().unwrap()).sum();
        done as f64 / start.elapsed().as_secs_f64()
    }

    /// Runs `stoa import` against the running server's directory and answers the seconds it took.
    pub fn import(&self, file: &Path) -> f64 {
        let start = Instant::now();
        let output = Command::new(&self.binary)
            .args(["import", "imported"])
            .arg(file)
            .arg("--data")
            .arg(self.directory.path())
            .args(self.database_url.iter().flat_map(|it| ["--database-url", it]))
            .arg("--json")
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        start.elapsed().as_secs_f64()
    }

    pub fn resident_megabytes(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let line = status.lines().find_map(|it| it.strip_prefix("VmRSS:")).unwrap_or("0");
        line.trim().trim_end_matches(" kB").trim().parse::<u64>().unwrap_or(0) / 1024
    }

    fn post(&self, path: &str, body: &Value) -> Value {
        let agent: ureq::Agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
        let request = agent.post(format!("http://{}{path}", self.address)).header("content-type", "application/json");
        let request = if path == "/oauth2/token" { request } else { request.header("authorization", &self.key) };
        let mut response = request.send(body.to_string()).unwrap();
        let text = response.body_mut().with_config().limit(64 << 20).read_to_string().unwrap();
        assert_eq!(response.status().as_u16(), 200, "{path}: {text}");
        serde_json::from_str(&text).unwrap()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if let Some(name) = self.database_url.as_deref().and_then(|it| it.rsplit('/').next()) {
            on_cluster(&format!("drop database if exists {name} with (force)"));
        }
    }
}

/// An item of about 400 bytes.
pub fn item(n: usize) -> Value {
    let colors = ["red", "green", "blue", "white", "black"];
    json!({
        "_id": item_id(n), "n": n, "price": (n * 7919) % 10_000, "color": colors[n % 5], "isOpen": n.is_multiple_of(3),
        "title": format!("Thing number {n}"), "text": "the quick brown fox jumps over the lazy dog ".repeat(6),
        "tags": ["a", "b", colors[(n + 1) % 5]],
    })
}

pub fn item_id(n: usize) -> String {
    // Spread, so that neighbours in time are not neighbours in the index.
    format!("{:016x}", (n as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

pub struct Random(u64);

impl Random {
    pub fn new() -> Self {
        Self(u64::from_le_bytes(World::real().bytes::<8>()) | 1)
    }
    pub fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % most as u64) as usize
    }
}

/// A fresh database in the cluster named by `STOA_TEST_POSTGRES`.
fn new_database() -> String {
    let base = std::env::var("STOA_TEST_POSTGRES").expect("set STOA_TEST_POSTGRES, or run make bench");
    let name = format!("stoa_bench_{:x}", Random::new().0);
    on_cluster(&format!("create database {name} encoding 'UTF8' template template0"));
    let (server, _) = base.rsplit_once('/').unwrap();
    format!("{server}/{name}")
}

fn on_cluster(sql: &str) {
    let base = std::env::var("STOA_TEST_POSTGRES").expect("set STOA_TEST_POSTGRES, or run make bench");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (client, connection) = tokio_postgres::connect(&base, tokio_postgres::NoTls).await.unwrap();
        tokio::spawn(connection);
        client.batch_execute(sql).await.unwrap();
    });
}

/// Writes items as JSON Lines and closes the file.
pub fn write_items(path: &Path, count: usize) {
    let mut file = std::io::BufWriter::new(std::fs::File::create(path).unwrap());
    for n in 0..count {
        writeln!(file, "{}", item(n)).unwrap();
    }
    file.flush().unwrap();
}
