//! The program under measurement, started as scripts start it.

use clap::ValueEnum;
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

/// Which engines are measured.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub enum Which {
    Sqlite,
    Postgres,
    Both,
}

impl Which {
    pub fn engines(self) -> &'static [Engine] {
        match self {
            Self::Sqlite => &[Engine::Sqlite],
            Self::Postgres => &[Engine::Postgres],
            Self::Both => &[Engine::Sqlite, Engine::Postgres],
        }
    }
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

/// A member's id and access token.
pub struct Member {
    pub id: String,
    pub token: String,
}

impl Program {
    pub fn start(binary: &Path, engine: Engine) -> Self {
        Self::start_with(binary, engine, |_| {})
    }

    /// `setup` changes the command that serves.
    pub fn start_with(binary: &Path, engine: Engine, setup: impl FnOnce(&mut Command)) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let database_url = (engine == Engine::Postgres).then(new_database);
        let stoa = |arguments: &[&str]| {
            let mut command = Command::new(binary);
            command.args(arguments).arg("--data").arg(directory.path()).env("STOA_LOG", "warn").stdin(Stdio::null());
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
        setup(&mut serve);
        let (child, address) = serve_until_ready(&mut serve);
        let program = Self { binary: binary.to_owned(), child, database_url, address, key, client, directory };
        for collection in ["things", "bulk", "imported"] {
            program.make_collection(collection, "ANYONE");
        }
        program
    }

    /// Another node on the same database.
    pub fn neighbour(&self) -> Neighbour {
        let directory = tempfile::tempdir().unwrap();
        let url = self.database_url.as_deref().expect("nodes share a PostgreSQL");
        let mut serve = Command::new(&self.binary);
        serve.args(["serve", "--port", "0", "--log", "warn", "--database-url", url, "--data"]).arg(directory.path());
        let (child, _) = serve_until_ready(&mut serve);
        Neighbour { child, _directory: directory }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The key that most requests are sent with.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The client that visitors come from.
    pub fn client(&self) -> &str {
        &self.client
    }

    pub fn database_url(&self) -> Option<&str> {
        self.database_url.as_deref()
    }

    /// A collection that callers of this level read: the rule is asked each time.
    pub fn make_collection(&self, id: &str, read: &str) {
        self.make_collection_that(id, read, false);
    }

    /// The same of one that may ask for old values.
    pub fn make_collection_that(&self, id: &str, read: &str, logs_old_values: bool) {
        self.post(
            "/v2/collections",
            &json!({ "collection": {
                "id": id, "displayName": id, "logOldValues": logs_old_values, "fields": [
                    { "key": "n", "type": "NUMBER" }, { "key": "price", "type": "NUMBER" }, { "key": "color", "type": "TEXT" },
                ],
                "permissions": { "read": read, "insert": "ADMIN", "update": "ADMIN", "remove": "ADMIN" },
            }}),
        );
    }

    /// A collection that may be followed.
    pub fn make_followed(&self, id: &str, read: &str) {
        self.post(
            "/v2/collections",
            &json!({ "collection": {
                "id": id, "displayName": id, "realtime": true, "fields": [{ "key": "price", "type": "NUMBER" }],
                "permissions": { "read": read, "insert": "ADMIN", "update": "ADMIN", "remove": "ADMIN" },
            }}),
        );
    }

    /// A collection of texts that everybody reads; the first is its display field. A search finds its items, or not.
    pub fn make_searched(&self, id: &str, fields: &[&str], is_searched: bool) {
        let fields: Vec<_> = fields.iter().map(|it| json!({ "key": it, "type": "TEXT" })).collect();
        self.post(
            "/v2/collections",
            &json!({ "collection": {
                "id": id, "displayField": fields[0]["key"], "fields": fields, "search": is_searched,
                "permissions": { "read": "ANYONE", "insert": "ADMIN", "update": "ADMIN", "remove": "ADMIN" },
            }}),
        );
    }

    pub fn fill(&self, count: usize) {
        self.fill_collection("things", count);
    }

    pub fn fill_collection(&self, collection: &str, count: usize) {
        for start in (0..count).step_by(1000) {
            let items: Vec<_> = (start..count.min(start + 1000)).map(|n| json!({ "data": item(n) })).collect();
            self.post("/v2/bulk/items/insert", &json!({ "dataCollectionId": collection, "dataItems": items }));
        }
    }

    /// As [`Program::fill`], each item owned by one of these in turn.
    pub fn fill_owned(&self, collection: &str, count: usize, owners: &[Member]) {
        for start in (0..count).step_by(1000) {
            let owned = |n: usize| {
                let mut data = item(n);
                data["_owner"] = json!(owners[n % owners.len()].id);
                json!({ "data": data })
            };
            let items: Vec<_> = (start..count.min(start + 1000)).map(owned).collect();
            self.post("/v2/bulk/items/insert", &json!({ "dataCollectionId": collection, "dataItems": items }));
        }
    }

    /// A member that an application vouches for.
    pub fn member(&self, email: &str) -> Member {
        let both = format!("{},{}", self.visitor_tokens(1)[0], self.key);
        let body = json!({ "loginId": { "email": email } });
        let signed = self.post_with("/v2/sign-on", &both, &body);
        let (id, session) = (&signed["identity"]["id"], &signed["sessionToken"]);
        let grant = json!({ "grant_type": "authorized_client", "member_id": id, "session_token": session });
        let tokens = self.post_with("/oauth2/token", &both, &grant);
        let text = |it: &Value| it.as_str().unwrap().to_owned();
        Member { id: text(id), token: text(&tokens["access_token"]) }
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
    pub fn import(&self, collection: &str, file: &Path) -> f64 {
        self.run_import(&["import", collection], file)
    }

    /// The same for `stoa member import`.
    pub fn member_import(&self, file: &Path) -> f64 {
        self.run_import(&["member", "import"], file)
    }

    fn run_import(&self, arguments: &[&str], file: &Path) -> f64 {
        let start = Instant::now();
        let file = file.to_str().unwrap();
        self.run(&[arguments, &[file]].concat());
        start.elapsed().as_secs_f64()
    }

    /// Waits until a search finds all that was written.
    pub fn search_caught_up(&self) {
        while self.get("/_api/search/v1/lag")["isCurrent"] != true {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// What a command of the running server prints.
    pub fn run(&self, arguments: &[&str]) -> Value {
        let output = Command::new(&self.binary)
            .args(arguments)
            .arg("--data")
            .arg(self.directory.path())
            .args(self.database_url.iter().flat_map(|it| ["--database-url", it]))
            .arg("--json")
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        // A command that tells of its progress prints a line each time; the last one is its result.
        let text = String::from_utf8(output.stdout).unwrap();
        serde_json::from_str(text.lines().last().unwrap_or("null")).unwrap()
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    pub fn data(&self) -> &Path {
        self.directory.path()
    }

    /// Rows that wait in the outbox.
    pub fn outbox_rows(&self) -> u64 {
        let sql = "select count(*) from outbox";
        match &self.database_url {
            None => {
                let sites = std::fs::read_dir(self.data().join("sites")).unwrap().flatten().map(|it| it.path());
                let file = sites.into_iter().find(|it| it.extension().is_some_and(|it| it == "db")).unwrap();
                let conn =
                    rusqlite::Connection::open_with_flags(file, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
                conn.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap() as u64
            }
            Some(url) => {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                runtime.block_on(async {
                    let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.unwrap();
                    tokio::spawn(connection);
                    let row = client.query_one("select count(*) from stoa.outbox", &[]).await.unwrap();
                    row.get::<_, i64>(0) as u64
                })
            }
        }
    }

    /// Makes an index through the public call and waits until it is there.
    pub fn index(&self, field: &str) {
        self.index_of("things", field);
    }

    /// The same in another collection, with what the server makes beside it.
    pub fn index_of(&self, collection: &str, field: &str) {
        let index = json!({ "name": field, "fields": [{ "path": field, "order": "ASC" }] });
        self.post("/v2/indexes", &json!({ "dataCollectionId": collection, "index": index }));
        for _ in 0..6000 {
            let list = self.get(&format!("/v2/indexes?dataCollectionId={collection}&paging.limit=20&paging.offset=0"));
            let all = list["indexes"].as_array().unwrap();
            assert!(all.iter().all(|it| it["status"] != "FAILED"), "{list}");
            if all.iter().all(|it| it["status"] == "ACTIVE") {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("the index was not built in five minutes");
    }

    /// Requests of one kind by the holder of the key, each body made with a random number below `most`.
    pub fn requests(&self, path: &str, most: usize, body: impl Fn(usize) -> Value) -> Arc<Vec<Vec<u8>>> {
        let mut random = Random::new();
        Arc::new((0..2_000).map(|_| self.request(path, &body(random.below(most)))).collect())
    }

    /// A request by the holder of the key.
    pub fn request(&self, path: &str, body: &Value) -> Vec<u8> {
        self.request_as(&self.key, path, body)
    }

    /// The same by the holder of this token.
    pub fn request_as(&self, token: &str, path: &str, body: &Value) -> Vec<u8> {
        let body = body.to_string();
        let length = body.len();
        format!("POST {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: {token}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}")
            .into_bytes()
    }

    pub fn get(&self, path: &str) -> Value {
        let mut response =
            ureq::get(format!("http://{}{path}", self.address)).header("authorization", &self.key).call().unwrap();
        serde_json::from_str(&response.body_mut().read_to_string().unwrap()).unwrap()
    }

    pub fn delete(&self, path: &str) {
        let url = format!("http://{}{path}", self.address);
        ureq::delete(url).header("authorization", &self.key).call().unwrap();
    }

    pub fn post(&self, path: &str, body: &Value) -> Value {
        self.post_with(path, if path == "/oauth2/token" { "" } else { &self.key }, body)
    }

    /// The same by the holder of this token.
    pub fn post_as(&self, token: &str, path: &str, body: &Value) -> Value {
        self.post_with(path, token, body)
    }

    fn post_with(&self, path: &str, token: &str, body: &Value) -> Value {
        serde_json::from_str(&self.post_over(&agent(), path, token, body)).unwrap()
    }

    /// The text of an answer, over connections that are kept.
    pub fn post_over(&self, agent: &ureq::Agent, path: &str, token: &str, body: &Value) -> String {
        let (status, text) = self.answer_over(agent, path, token, body);
        assert_eq!(status, 200, "{path}: {text}");
        text
    }

    /// The status and the text of any answer.
    pub fn answer_over(&self, agent: &ureq::Agent, path: &str, token: &str, body: &Value) -> (u16, String) {
        let request = agent.post(format!("http://{}{path}", self.address)).header("content-type", "application/json");
        // The host of the pages, as a browser would name it.
        let request = request.header("host", "localhost");
        let request = if token.is_empty() { request } else { request.header("authorization", token) };
        let mut response = request.send(body.to_string()).unwrap();
        let text = response.body_mut().with_config().limit(64 << 20).read_to_string().unwrap();
        (response.status().as_u16(), text)
    }
}

/// Connections of a caller who looks at each status.
pub fn agent() -> ureq::Agent {
    ureq::Agent::config_builder().http_status_as_error(false).build().into()
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

/// A node that answers nothing but other nodes; killed when dropped.
pub struct Neighbour {
    child: Child,
    _directory: tempfile::TempDir,
}

impl Drop for Neighbour {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn serve_until_ready(command: &mut Command) -> (Child, SocketAddr) {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let address = lines.find_map(|it| it.ok()?.strip_prefix("ready http://")?.parse().ok()).unwrap();
    (child, address)
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

    /// The same numbers for the same seed.
    pub fn seeded(seed: u64) -> Self {
        let mut random = Self((seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        for _ in 0..4 {
            random.below(1);
        }
        random
    }

    pub fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % most as u64) as usize
    }
}

/// A fresh database in the cluster named by `STOA_TEST_POSTGRES`.
pub fn new_database() -> String {
    let base = std::env::var("STOA_TEST_POSTGRES").expect("set STOA_TEST_POSTGRES, or run make bench");
    let name = format!("stoa_bench_{:x}", Random::new().0);
    on_cluster(&format!("create database {name} encoding 'UTF8' template template0"));
    let (server, _) = base.rsplit_once('/').unwrap();
    format!("{server}/{name}")
}

pub fn on_cluster(sql: &str) {
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
