//! An upgrade under load: programs are stopped and started again while visitors and members refresh their tokens and
//! read, and none of them is told of an error or signed out.
//!
//! Judged by counts, not by time. Callers go from node to node, as behind a proxy, and ask again for what was not
//! answered. What a program says in its log that it answered must have arrived.

use crate::{
    cluster::ask,
    process::{Deployment, Server, make_things},
};
use serde_json::{Value, json};
use std::{
    collections::HashMap,
    fs::File,
    io::{Read, Write},
    net::TcpStream,
    path::PathBuf,
    process::Stdio,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};
use stoa_identity::{
    Config, Identity,
    client::NewClient,
    oauth::{TokenRequest, code::NewCode, pkce},
    session::{NewSession, Session},
    sign_in::SignOn,
    token::Kind,
};
use stoa_kernel::{Caller, Secret, World};
use stoa_outbound::OutboxFile;
use stoa_sql::params;
use stoa_store::{Site, Store, boxed};
use stoa_testkit::{Engine, TestDatabase, local_reach};

/// People of each kind.
const EACH: usize = 3;
/// Rounds that everyone completes in each state of the nodes.
const ROUNDS: usize = 2;
/// Between two tries, and between two looks at the counts.
const PAUSE: Duration = Duration::from_millis(10);
/// Tries and looks after which nothing is to be hoped for.
const MOST: usize = 12_000;
const TOKEN: &str = "/oauth2/token";
const QUERY: &str = "/v2/items/query";
const REDIRECT: &str = "https://app.example.org/callback";
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";

#[test]
fn upgrade_and_back_under_load_fails_no_refresh() {
    let database = TestDatabase::blocking_create();
    let url = database.url();
    let mut nodes = [0, 1].map(|slot| Node::new(slot, Deployment::with_database(url)));
    under_load(&mut nodes, |nodes, load, spare| {
        restart_each(nodes, load, spare);
        // A later program has been there, and only added something: an earlier one goes on with it.
        ask(url, &later(98, 1));
        restart_each(nodes, load, spare);
        // One that has done more: who runs goes on, an earlier one that is started refuses.
        ask(url, &later(99, 0));
        load.go_on();
        nodes[0].stop();
        let said = refused_start(&nodes[0].deployment);
        assert!(said.contains("changed by a later version of Stoa (catalog/99_later)"), "{said}");
        load.go_on();
        ask(url, "delete from stoa.migration where number = 99 returning name");
        nodes[0].start(load);
        load.go_on();
    });
}

#[test]
fn restart_under_load_on_sqlite_fails_no_refresh() {
    let mut nodes = [Node::new(0, Deployment::new(Engine::Sqlite))];
    under_load(&mut nodes, |nodes, load, spare| {
        for later in [None, None, Some(98)] {
            let refused = load.tally.lock().unwrap().refused;
            spare.lose(load);
            nodes[0].stop();
            load.wait("callers are refused meanwhile", |it| it.refused > refused);
            if let Some(number) = later {
                record(&nodes[0].deployment, number, 1);
            }
            nodes[0].start(load);
            spare.regain(load);
            load.go_on();
        }
    });
    let deployment = &nodes[0].deployment;
    record(deployment, 99, 0);
    let said = refused_start(deployment);
    assert!(said.contains("changed by a later version of Stoa (site/99_later)"), "{said}");
}

/// One node after the other, as with `systemctl restart`.
fn restart_each(nodes: &mut [Node], load: &Load, spare: &mut Person) {
    for node in nodes {
        spare.lose(load);
        node.stop();
        spare.regain(load);
        load.go_on();
        node.start(load);
        load.go_on();
    }
}

/// Starts the nodes, lets people refresh and read, and looks at what they got when the changes are made.
fn under_load(nodes: &mut [Node], changes: impl FnOnce(&mut [Node], &Load, &mut Person)) {
    let key = nodes[0].deployment.site_with_things();
    let mut people = people(&nodes[0].deployment);
    let mut spare = people.pop().unwrap();
    let load = Load::new(nodes.len(), people.len());
    for it in &mut *nodes {
        it.start(&load);
    }
    make_things(&nodes[0].running.as_ref().unwrap().server, &key);
    std::thread::scope(|scope| {
        let over = OnDrop(&load.is_over);
        for (n, person) in people.into_iter().enumerate() {
            let load = &load;
            scope.spawn(move || person.live(n, load));
        }
        load.go_on();
        changes(nodes, &load, &mut spare);
        drop(over);
    });
    for it in &mut *nodes {
        it.stop();
    }
    let tally = load.tally.into_inner().unwrap();
    assert!(tally.failed.is_empty(), "{:?}", tally.failed);
    for (run, answered) in nodes.iter().flat_map(|it| &it.answered) {
        assert!(*answered > 0, "run {run} answered nothing");
        assert_eq!(tally.received.get(run), Some(answered), "what run {run} answered has arrived");
    }
}

/// What a program says that can't be started.
fn refused_start(deployment: &Deployment) -> String {
    let output = deployment.stoa(&["serve", "--port", "0"]).output().unwrap();
    assert!(!output.status.success());
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// What a later program would write into the ledger of PostgreSQL.
fn later(number: i64, additive: i64) -> String {
    format!(
        "insert into stoa.migration (scope, number, name, checksum, additive) \
         values ('catalog', {number}, 'catalog/{number}_later', 'x', {additive}) returning name"
    )
}

/// What a later program would write into the catalogue of a directory whose sites it has opened.
fn record(deployment: &Deployment, number: i64, additive: i64) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    runtime.block_on(async {
        let store = Store::open(&deployment.store_config()).await.unwrap();
        let written = store.catalog().write(move |tx| {
            boxed!({
                let sql = "insert into stoa.migration (scope, number, name, checksum, additive) \
                           values ('site', $1, $2, 'x', $3)";
                tx.execute(sql, &params![number, format!("site/{number}_later"), additive]).await?;
                Ok(())
            })
        });
        written.await.unwrap();
        store.close();
    });
}

/// A program that is stopped and started again.
struct Node {
    slot: usize,
    deployment: Deployment,
    logs: tempfile::TempDir,
    running: Option<Running>,
    /// For each run that is over how many requests of people it says it has answered.
    answered: Vec<(usize, usize)>,
}

struct Running {
    run: usize,
    server: Server,
    log: PathBuf,
}

impl Node {
    fn new(slot: usize, deployment: Deployment) -> Self {
        Self { slot, deployment, logs: tempfile::tempdir().unwrap(), running: None, answered: Vec::new() }
    }

    fn start(&mut self, load: &Load) {
        let run = load.runs.fetch_add(1, SeqCst);
        let log = self.logs.path().join(format!("{run}.log"));
        let server = self.deployment.serve_logging(Stdio::from(File::create(&log).unwrap()), |command| {
            command.args(["--public-url", "http://localhost:4400"]);
        });
        let address = server.url.trim_start_matches("http://").to_owned();
        load.nodes.lock().unwrap()[self.slot] = (run, address);
        self.running = Some(Running { run, server, log });
    }

    /// Ends it with SIGTERM. Callers still go there until it is started again.
    fn stop(&mut self) {
        let Running { run, server, log } = self.running.take().unwrap();
        assert!(server.stop(), "run {run} ended well");
        let log = std::fs::read_to_string(log).unwrap();
        assert!(!log.contains("were closed before their requests were answered"), "{log}");
        let is_answer = |it: &&str| it.contains("status=200") && [TOKEN, QUERY].iter().any(|route| it.contains(route));
        self.answered.push((run, log.lines().filter(is_answer).count()));
    }
}

/// What people share: where nodes are, and what they got.
struct Load {
    runs: AtomicUsize,
    /// By slot: the run that was begun last, and its address.
    nodes: Mutex<Vec<(usize, String)>>,
    turn: AtomicUsize,
    tally: Mutex<Tally>,
    is_over: AtomicBool,
}

#[derive(Default)]
struct Tally {
    /// Completed by each person.
    rounds: Vec<usize>,
    /// Answers with status 200, by run.
    received: HashMap<usize, usize>,
    /// Connections that no one accepted.
    refused: usize,
    failed: Vec<String>,
}

/// Why there is no answer.
enum Lost {
    Refused,
    Unanswered,
}

impl Load {
    fn new(nodes: usize, people: usize) -> Self {
        Self {
            runs: AtomicUsize::new(0),
            nodes: Mutex::new(vec![(0, String::new()); nodes]),
            turn: AtomicUsize::new(0),
            tally: Mutex::new(Tally { rounds: vec![0; people], ..Tally::default() }),
            is_over: AtomicBool::new(false),
        }
    }

    /// Waits until everyone has completed some more rounds.
    fn go_on(&self) {
        let before = self.tally.lock().unwrap().rounds.clone();
        self.wait("someone gets no further", |it| it.rounds.iter().zip(&before).all(|(now, it)| *now >= it + ROUNDS));
    }

    fn wait(&self, what: &str, is_so: impl Fn(&Tally) -> bool) {
        for _ in 0..MOST {
            let (failed, is_so) = {
                let tally = self.tally.lock().unwrap();
                (tally.failed.clone(), is_so(&tally))
            };
            assert!(failed.is_empty(), "{failed:?}");
            if is_so {
                return;
            }
            std::thread::sleep(PAUSE);
        }
        panic!("{what}");
    }

    /// Asks one node after the other until one answers; nothing when it refuses, or all is over.
    fn ask(&self, path: &str, token: &str, body: &Value) -> Option<Value> {
        for _ in 0..MOST {
            if self.is_over.load(SeqCst) {
                return None;
            }
            let (run, address) = {
                let nodes = self.nodes.lock().unwrap();
                nodes[self.turn.fetch_add(1, SeqCst) % nodes.len()].clone()
            };
            let answer = call(&address, path, token, body);
            let mut tally = self.tally.lock().unwrap();
            match answer {
                Ok((200, answer)) => {
                    *tally.received.entry(run).or_default() += 1;
                    return Some(answer);
                }
                // A node that has not heard of the others yet, or is about to leave them.
                Ok((503, _)) | Err(Lost::Unanswered) => {}
                Ok((status, answer)) => {
                    tally.failed.push(format!("{path} at run {run}: {status} {answer}"));
                    return None;
                }
                Err(Lost::Refused) => tally.refused += 1,
            }
            drop(tally);
            std::thread::sleep(PAUSE);
        }
        self.tally.lock().unwrap().failed.push(format!("{path} was never answered"));
        None
    }
}

/// POSTs JSON on a connection of its own.
fn call(address: &str, path: &str, token: &str, body: &Value) -> Result<(u16, Value), Lost> {
    let mut stream = TcpStream::connect(address).map_err(|_| Lost::Refused)?;
    let body = body.to_string();
    let authorization = if token.is_empty() { String::new() } else { format!("authorization: {token}\r\n") };
    // Of this version answers end with the connection, and come in one piece.
    let request = format!(
        "POST {path} HTTP/1.0\r\nhost: {address}\r\ncontent-type: application/json\r\n{authorization}\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut answer = Vec::new();
    let sent = stream
        .set_read_timeout(Some(Duration::from_secs(60)))
        .and_then(|()| stream.write_all(request.as_bytes()))
        .and_then(|()| stream.read_to_end(&mut answer));
    // A connection may break behind an answer that is whole.
    let _ = sent;
    let answer = String::from_utf8(answer).map_err(|_| Lost::Unanswered)?;
    let (head, body) = answer.split_once("\r\n\r\n").ok_or(Lost::Unanswered)?;
    let status = head.split(' ').nth(1).and_then(|it| it.parse().ok()).ok_or(Lost::Unanswered)?;
    Ok((status, serde_json::from_str(body).map_err(|_| Lost::Unanswered)?))
}

/// Somebody who has a refresh token.
struct Person {
    refresh: String,
    /// Gets another refresh token for each.
    rotates: bool,
}

impl Person {
    /// Refreshes and reads until all is over. Every fourth answer gets lost.
    fn live(mut self, n: usize, load: &Load) {
        for round in n.. {
            if round % 4 == 0 && self.request(load).is_none() {
                return;
            }
            let Some(access) = self.refresh(load) else { return };
            let query = json!({ "dataCollectionId": "things", "query": { "paging": { "limit": 1 } } });
            let Some(_) = load.ask(QUERY, &access, &query) else { return };
            load.tally.lock().unwrap().rounds[n] += 1;
        }
    }

    /// Gets an answer that gets lost on its way.
    fn lose(&self, load: &Load) {
        self.request(load).expect("a refresh");
    }

    /// Sends the token again whose answer got lost.
    fn regain(&mut self, load: &Load) {
        self.refresh(load).expect("a refresh whose answer was lost works again");
    }

    /// Gets an access token, and perhaps another refresh token.
    fn refresh(&mut self, load: &Load) -> Option<String> {
        let answer = self.request(load)?;
        let [access, refresh] = ["access_token", "refresh_token"].map(|it| answer[it].as_str().unwrap_or_default());
        if refresh.is_empty() || (refresh != self.refresh) != self.rotates {
            load.tally.lock().unwrap().failed.push(format!("an answer without the right refresh token: {answer}"));
            return None;
        }
        self.refresh = refresh.to_owned();
        Some(access.to_owned())
    }

    fn request(&self, load: &Load) -> Option<Value> {
        load.ask(TOKEN, "", &json!({ "grantType": "refresh_token", "refreshToken": self.refresh }))
    }
}

/// Visitors, members of clients that keep their refresh token, and members of clients that get another one each time.
fn people(deployment: &Deployment) -> Vec<Person> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let store = Arc::new(Store::open(&deployment.store_config()).await.unwrap());
        let mail = Arc::new(OutboxFile::open(deployment.data()).unwrap());
        let opened = Identity::open(store.clone(), World::real(), mail, local_reach(), Config::default());
        let identity = opened.await.unwrap();
        let (id, _) = store.sites().await.unwrap().remove(0);
        let site = store.site(&id).await.unwrap();
        let redirect_uris = vec![REDIRECT.to_owned()];
        let new = NewClient { name: "Front end".to_owned(), redirect_uris, ..NewClient::default() };
        let (client, _) = identity.client_create(&site.id, new).await.unwrap();
        let client_id = Some(client.id.to_string());
        let mut people = Vec::new();
        for n in 0..EACH {
            let grant =
                TokenRequest { grant_type: "anonymous".to_owned(), client_id: client_id.clone(), ..Default::default() };
            let visitor = identity.token_grant(&grant, None).await.unwrap().refresh_token.unwrap();
            people.push(Person { refresh: visitor, rotates: false });

            let sign_on = SignOn { email: format!("anna{n}@example.org"), profile: json!(null), verify_email: true };
            let caller = Caller::App { id: "test".into() };
            let member = identity.member_sign_on(&site, &caller, None, &sign_on).await.unwrap().0.id;
            let of_client = NewSession {
                member: member.clone(),
                client: Some(client.id.clone()),
                root: None,
                visitor: None,
                scopes: None,
            };
            let (_, refresh) = session(&identity, &site, Kind::Refresh, of_client).await;
            people.push(Person { refresh: refresh.expose().to_owned(), rotates: false });

            let of_browser =
                NewSession { member: member.clone(), client: None, root: None, visitor: None, scopes: None };
            let (browser, _) = session(&identity, &site, Kind::Cookie, of_browser).await;
            let new = NewCode {
                client: client.id.clone(),
                member,
                root: browser.id,
                visitor: None,
                scopes: None,
                redirect_uri: Some(REDIRECT.to_owned()),
                rotates: true,
                challenge: Some(pkce::challenge_of(VERIFIER)),
            };
            let code = code(&identity, &site, new).await;
            let grant = TokenRequest {
                grant_type: "authorization_code".to_owned(),
                client_id: client_id.clone(),
                code: Some(code),
                redirect_uri: Some(REDIRECT.to_owned()),
                code_verifier: Some(VERIFIER.to_owned()),
                ..Default::default()
            };
            let refresh = identity.token_grant(&grant, None).await.unwrap().refresh_token.unwrap();
            people.push(Person { refresh, rotates: true });
        }
        store.leave().await;
        store.close();
        people
    })
}

async fn session(identity: &Identity, site: &Arc<Site>, kind: Kind, new: NewSession) -> (Session, Secret) {
    let input = (identity.clone(), site.clone(), new);
    let made = site
        .write_with(input, move |tx, (identity, site, new)| boxed!(identity.session_create(tx, site, kind, new).await));
    made.await.unwrap()
}

async fn code(identity: &Identity, site: &Arc<Site>, new: NewCode) -> String {
    let issued = site.write_with((identity.clone(), site.clone(), new), |tx, (identity, site, new)| {
        boxed!(identity.code_issue(tx, site, new).await)
    });
    issued.await.unwrap().expose().to_owned()
}

/// Callers end too when the test fails.
struct OnDrop<'a>(&'a AtomicBool);

impl Drop for OnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, SeqCst);
    }
}
