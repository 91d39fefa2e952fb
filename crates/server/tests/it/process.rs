//! Starts the real program the way scripts do, and talks to it.

use serde_json::{Value, json};
use std::{
    io::{BufRead, BufReader, Read, Seek, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, ExitStatus, Stdio},
    time::Duration,
};
use stoa_testkit::{Engine, TRAFFIC, TestDatabase, traffic_directory};

pub const STOA: &str = env!("CARGO_BIN_EXE_stoa");

/// A data directory, and a database when the engine is PostgreSQL.
pub struct Deployment {
    data: PathBuf,
    _directory: Option<tempfile::TempDir>,
    url: Option<String>,
    _database: Option<TestDatabase>,
    /// Where its servers leave what they were asked and answered.
    traffic: Option<PathBuf>,
}

impl Deployment {
    pub fn new(engine: Engine) -> Self {
        let database = (engine == Engine::Postgres).then(TestDatabase::blocking_create);
        let url = database.as_ref().map(|it| it.url().to_owned());
        let directory = tempfile::tempdir().unwrap();
        let traffic = traffic_directory();
        Self { data: directory.path().to_owned(), _directory: Some(directory), url, _database: database, traffic }
    }

    /// One whose servers copy no body, so that their memory can be measured.
    pub fn without_traffic(engine: Engine) -> Self {
        Self { traffic: None, ..Self::new(engine) }
    }

    /// With a data directory that the test looks after itself.
    pub fn with_data(data: PathBuf, engine: Engine) -> Self {
        Self { data, _directory: None, ..Self::new(engine) }
    }

    /// With a database that the test looks after itself.
    pub fn with_database(url: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        Self {
            data: directory.path().to_owned(),
            _directory: Some(directory),
            url: Some(url.to_owned()),
            _database: None,
            traffic: traffic_directory(),
        }
    }

    /// For opening the store without the program.
    pub fn store_config(&self) -> stoa_store::Config {
        stoa_store::Config {
            data: self.data().to_owned(),
            database_url: self.url.clone(),
            connections: 4,
            open_sites: stoa_store::Config::OPEN_SITES,
        }
    }

    pub fn data(&self) -> &Path {
        &self.data
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.data.join(name)
    }

    /// `stoa ARGUMENTS --data …`, ready to be started.
    pub fn stoa(&self, arguments: &[&str]) -> Command {
        self.stoa_at(&self.data, arguments)
    }

    /// The same from another data directory: on PostgreSQL a further node.
    pub fn stoa_at(&self, data: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(STOA);
        command.args(arguments).arg("--data").arg(data).env_remove("STOA_DATABASE_URL").stdin(Stdio::null());
        if let Some(url) = &self.url {
            command.arg("--database-url").arg(url);
        }
        match &self.traffic {
            Some(directory) => command.env(TRAFFIC, directory),
            None => command.env_remove(TRAFFIC),
        };
        command
    }

    /// Runs a command to its end and parses the last line it prints.
    pub fn json(&self, arguments: &[&str]) -> Value {
        let output = self.stoa(arguments).arg("--json").output().unwrap();
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "stoa {arguments:?} failed: {err}");
        serde_json::from_str(out.lines().last().unwrap_or_default()).unwrap_or_else(|it| panic!("{it}: {out} {err}"))
    }

    /// Makes a site with a key and an open collection `things`; answers the key.
    pub fn site_with_things(&self) -> String {
        self.json(&["site", "create", "--name", "Test"]);
        self.json(&["key", "create", "--name", "test"])["apiKey"].as_str().unwrap().to_owned()
    }

    /// After a kill PostgreSQL still carries out what it had received: waits until it has.
    pub fn wait_for_database(&self) {
        let Some(url) = &self.url else { return };
        let sql = "select count(*)::text from pg_stat_activity \
            where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()";
        for _ in 0..1000 {
            if crate::cluster::ask(url, sql) == "0" {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("the database still works for a server that is gone");
    }

    pub fn serve(&self, setup: impl FnOnce(&mut Command)) -> Server {
        let mut command = self.stoa(&["serve", "--port", "0"]);
        setup(&mut command);
        Server::start_quietly(command)
    }

    /// A server with another data directory: on PostgreSQL a further node.
    pub fn serve_at(&self, data: &Path) -> Server {
        Server::start_quietly(self.stoa_at(data, &["serve", "--port", "0"]))
    }

    /// One whose log can be read.
    pub fn serve_logging(&self, log: Stdio, setup: impl FnOnce(&mut Command)) -> Server {
        let mut command = self.stoa(&["serve", "--port", "0"]);
        setup(&mut command);
        Server::start(command, log)
    }
}

/// A running `stoa serve`; killed when dropped.
pub struct Server {
    pub child: Child,
    pub url: String,
    _input: Option<ChildStdin>,
}

impl Server {
    fn start(command: Command, log: Stdio) -> Self {
        Self::try_start(command, log).unwrap_or_else(|ended| panic!("no line `ready URL`: {ended}"))
    }

    /// One whose log is read only if it doesn't start.
    fn start_quietly(command: Command) -> Self {
        let mut log = tempfile::tempfile().unwrap();
        Self::try_start(command, log.try_clone().unwrap().into()).unwrap_or_else(|ended| {
            let mut said = String::new();
            log.rewind().and_then(|()| log.read_to_string(&mut said)).unwrap();
            panic!("no line `ready URL`: {ended}: {said}")
        })
    }

    fn try_start(mut command: Command, log: Stdio) -> Result<Self, ExitStatus> {
        let mut child = command.stdout(Stdio::piped()).stderr(log).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        match lines.by_ref().find_map(|it| it.ok()?.strip_prefix("ready ").map(str::to_owned)) {
            Some(url) => Ok(Self { child, url, _input: None }),
            None => Err(child.wait().unwrap()),
        }
    }

    /// SIGKILL: no chance to clean up.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// SIGTERM, and whether it ended well.
    pub fn stop(mut self) -> bool {
        let pid = self.child.id().to_string();
        Command::new("kill").args(["-TERM", &pid]).status().unwrap();
        self.child.wait().unwrap().success()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Runs a command that is refused: the error that it tells a script.
pub fn refusal(deployment: &Deployment, arguments: &[&str]) -> Value {
    let output = deployment.stoa(arguments).arg("--json").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "stoa {arguments:?} is refused: {}", String::from_utf8_lossy(&output.stdout));
    let error: Value =
        serde_json::from_str(said.lines().last().unwrap_or_default()).unwrap_or_else(|it| panic!("{it}: {said}"));
    error["error"].clone()
}

/// GETs with these headers: the status and the body.
pub fn get(url: &str, headers: &[(&str, &str)]) -> (u16, String) {
    let agent: ureq::Agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
    let request = headers.iter().fold(agent.get(url), |it, (name, value)| it.header(*name, *value));
    let mut response = request.call().unwrap();
    (response.status().as_u16(), response.body_mut().read_to_string().unwrap())
}

/// POSTs JSON with a key; the status and the body, or nothing when the connection broke.
pub fn post(url: &str, key: &str, body: &Value) -> Option<(u16, Value)> {
    let agent: ureq::Agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
    let mut response = agent
        .post(url)
        .header("authorization", key)
        .header("content-type", "application/json")
        .send(body.to_string())
        .ok()?;
    let status = response.status().as_u16();
    let text = response.body_mut().read_to_string().ok()?;
    Some((status, serde_json::from_str(&text).ok()?))
}

/// Makes the collection that the tests write into.
pub fn make_things(server: &Server, key: &str) {
    let collection = json!({ "collection": {
        "id": "things", "displayName": "Things",
        "fields": [{ "key": "n", "type": "NUMBER" }],
        "permissions": { "read": "ANYONE", "insert": "ADMIN", "update": "ADMIN", "remove": "ADMIN" },
    }});
    let (status, answer) = post(&format!("{}/v2/collections", server.url), key, &collection).unwrap();
    assert_eq!(status, 200, "{answer}");
}

/// Ids and numbers of all things, read page by page.
pub fn all_things(server: &Server, key: &str) -> Vec<(String, i64)> {
    let mut found = Vec::new();
    loop {
        let query = json!({ "dataCollectionId": "things", "query": {
            "sort": [{ "fieldName": "_id" }], "paging": { "limit": 1000, "offset": found.len() },
        }});
        let (status, answer) = post(&format!("{}/v2/items/query", server.url), key, &query).unwrap();
        assert_eq!(status, 200, "{answer}");
        let page = answer["dataItems"].as_array().unwrap();
        found.extend(
            page.iter()
                .map(|it| (it["data"]["_id"].as_str().unwrap().to_owned(), it["data"]["n"].as_i64().unwrap_or(-1))),
        );
        if answer["pagingMetadata"]["hasNext"] != json!(true) {
            return found;
        }
    }
}

/// Writes lines of JSON, one item each.
pub fn write_items(path: &Path, count: usize) {
    let mut file = std::io::BufWriter::new(std::fs::File::create(path).unwrap());
    for n in 0..count {
        writeln!(file, "{}", json!({ "_id": format!("i{n:06}"), "n": n, "text": "x".repeat(300) })).unwrap();
    }
}
