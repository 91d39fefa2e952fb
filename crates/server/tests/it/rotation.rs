//! Keys rotated, servers restarted and given another configuration one after the other, while members and visitors refresh and
//! read: no member is signed out, and nothing fails but what has to be asked again because its connection was cut.

use crate::process::{Deployment, Server, make_things};
use serde_json::{Value, json};
use std::{
    sync::{
        Arc, RwLock,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};
use stoa_kernel::{World, clock::elapsing};
use stoa_store::{Store, boxed};
use stoa_testkit::{Engine, TestDatabase, rounds};

const MEMBERS: usize = 6;
/// Between what one of them asks.
const PAUSE: Duration = Duration::from_millis(20);
/// How long a client asks again where no server answers, in milliseconds: longer than one takes to start on a busy machine.
const LONGEST_WAIT: i64 = 60_000;
/// What the operator changes from one restart to the next.
const CONFIGURATIONS: [[(&str, &str); 3]; 2] = [
    [("STOA_IDENTITY_ACCESS_LIFE", "4h"), ("STOA_IDENTITY_SESSION_IDLE", "60d"), ("STOA_LIMITS_QUERY_LIMIT", "900")],
    [("STOA_IDENTITY_ACCESS_LIFE", "2h"), ("STOA_IDENTITY_SESSION_IDLE", "30d"), ("STOA_LIMITS_QUERY_LIMIT", "500")],
];

#[test]
fn members_stay_signed_in_through_rotations_and_restarts_on_sqlite() {
    rotate_and_restart(&[Deployment::new(Engine::Sqlite)]);
}

#[test]
fn members_stay_signed_in_through_rotations_and_restarts_on_postgres() {
    let database = TestDatabase::blocking_create();
    rotate_and_restart(&[Deployment::with_database(database.url()), Deployment::with_database(database.url())]);
}

#[test]
fn server_replaces_keys_that_are_too_old_on_sqlite() {
    replaced_by_age(Engine::Sqlite);
}

#[test]
fn server_replaces_keys_that_are_too_old_on_postgres() {
    replaced_by_age(Engine::Postgres);
}

/// A server that finds keys which are a hundred days old.
fn replaced_by_age(engine: Engine) {
    let deployment = Deployment::new(engine);
    deployment.json(&["site", "create", "--name", "Mine"]);
    let before = deployment.json(&["tokens", "status"]);
    let is_old = |key: &Value| before.as_array().unwrap().iter().any(|it| it["key"] == key["key"]);
    let looked = format!(
        "insert into stoa.key_upkeep (task, since, seen) values ('TOKENS', 0, {now}), ('SEAL', 0, {now})",
        now = World::real().now()
    );
    change(&deployment, &["update stoa.signing_key set created = created - 8640000000", &looked]);
    let serve = || {
        deployment.serve(|command| {
            command.env("STOA_IDENTITY_SEALING_KEY_AGE", "30d");
        })
    };
    let server = serve();
    let since = elapsing();
    let (tokens, seal) = loop {
        let (tokens, seal) = (deployment.json(&["tokens", "status"]), deployment.json(&["seal", "status"]));
        if tokens.as_array().map(Vec::len) == Some(10) && seal["rotation"]["finished"].is_string() {
            break (tokens, seal);
        }
        assert!(elapsing() - since < LONGEST_WAIT, "{tokens} {seal}");
        std::thread::sleep(PAUSE);
    };
    for key in tokens.as_array().unwrap() {
        assert_eq!(key["state"], if is_old(key) { "SIGNS" } else { "VERIFIES" }, "shown first: {tokens}");
    }
    assert_eq!((&seal["state"], seal["keys"].as_array().map(Vec::len)), (&json!("COMPLETE"), Some(12)), "{seal}");
    let due = seal["keys"].as_array().unwrap().iter().filter(|it| it["rotates"].is_string());
    assert_eq!(due.count(), 6, "{seal}");
    assert!(server.stop());

    // An hour later.
    let shown =
        "update stoa.signing_key set created = created - 3600000, retired = retired - 3600000 where retired = created";
    change(&deployment, &[shown]);
    let server = serve();
    let since = elapsing();
    let tokens = loop {
        let tokens = deployment.json(&["tokens", "status"]);
        if tokens.as_array().unwrap().iter().all(|it| is_old(it) == (it["state"] == "VERIFIES")) {
            break tokens;
        }
        assert!(elapsing() - since < LONGEST_WAIT, "{tokens}");
        std::thread::sleep(PAUSE);
    };
    assert_eq!(tokens.as_array().map(Vec::len), Some(10), "{tokens}");
    for key in tokens.as_array().unwrap() {
        assert_eq!(key["rotates"].is_string(), !is_old(key), "{tokens}");
    }
    assert!(server.stop());
}

/// Changes the catalogue of a server that doesn't run.
fn change(deployment: &Deployment, statements: &[&str]) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let store = Store::open(&deployment.store_config()).await.unwrap();
        let statements: Vec<String> = statements.iter().map(|it| (*it).to_owned()).collect();
        let changed = store.catalog().write_with(statements, |tx, statements| {
            boxed!({
                for sql in statements {
                    assert!(tx.execute(sql, &[]).await? > 0);
                }
                Ok(())
            })
        });
        changed.await.unwrap();
        store.close();
    });
}

fn rotate_and_restart(nodes: &[Deployment]) {
    let key = nodes[0].site_with_things();
    let client = nodes[0].json(&["client", "create", "--name", "Website", "--redirect-uri", "https://a.example/cb"]);
    let mut servers: Vec<Server> = nodes.iter().map(|it| start(it, 0)).collect();
    make_things(&servers[0], &key);
    let site = Arc::new(Load {
        urls: RwLock::new(servers.iter().map(|it| it.url.clone()).collect()),
        client: client["clientId"].as_str().unwrap().to_owned(),
        is_over: AtomicBool::new(false),
        refreshes: AtomicUsize::new(0),
    });
    let people: Vec<Person> = (0..MEMBERS).map(|n| Person::new(site.clone(), &key, n)).collect();
    let header = header_of(&people[0].member.access).to_owned();
    assert!(people.iter().all(|it| header_of(&it.member.access) == header), "one key signs");

    let end = OnDrop(site.clone());
    let running: Vec<_> = people.into_iter().map(|it| std::thread::spawn(move || it.run())).collect();
    for round in 1..=rounds(2) {
        for (at, node) in nodes.iter().enumerate() {
            let made = node.json(&["tokens", "rotate"]);
            assert_eq!(made["keys"].as_array().map(Vec::len), Some(5), "{made}");
            assert_eq!(node.json(&["seal", "rotate"])["left"], 0);
            site.wait_for_refreshes();
            assert!(servers.remove(at).stop());
            let server = start(node, round);
            site.urls.write().unwrap()[at].clone_from(&server.url);
            servers.insert(at, server);
            site.wait_for_refreshes();
        }
    }
    drop(end);
    for person in running {
        let mut person = person.join().unwrap();
        person.refresh();
        assert_eq!(person.session(), person.session, "each is signed in as before");
        assert_ne!(header_of(&person.member.access), header, "a later key signs");
        assert_ne!(header_of(&person.visitor.access), header, "a later key signs");
    }
    let status = nodes[0].json(&["tokens", "status"]);
    let signing = status.as_array().unwrap().iter().filter(|it| it["state"] == "SIGNS").count();
    assert_eq!(signing, 5, "one of each purpose: {status}");
    for server in servers {
        assert!(server.stop());
    }
}

fn start(node: &Deployment, round: usize) -> Server {
    node.serve(|command| {
        // The address of which tokens and cookies are, whichever port the server is given.
        command.args(["--public-url", "http://localhost:4400"]).envs(CONFIGURATIONS[round % 2]);
    })
}

/// The first part of a token: it names the key.
fn header_of(token: &str) -> &str {
    token.split('.').next().unwrap()
}

/// What those who call have in common.
struct Load {
    /// Of the nodes, as a proxy in front of them knows them.
    urls: RwLock<Vec<String>>,
    client: String,
    is_over: AtomicBool,
    refreshes: AtomicUsize,
}

impl Load {
    fn wait_for_refreshes(&self) {
        let (begun, since) = (self.refreshes.load(Ordering::SeqCst), elapsing());
        while self.refreshes.load(Ordering::SeqCst) < begun + 2 * MEMBERS {
            assert!(elapsing() - since < LONGEST_WAIT, "those who call go on");
            std::thread::sleep(PAUSE);
        }
    }
}

struct OnDrop(Arc<Load>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.is_over.store(true, Ordering::SeqCst);
    }
}

struct Tokens {
    access: String,
    refresh: String,
}

/// A member, and a visitor beside them.
struct Person {
    site: Arc<Load>,
    agent: ureq::Agent,
    n: usize,
    member: Tokens,
    visitor: Tokens,
    /// Who the member is, and in which session.
    session: [String; 2],
}

impl Person {
    fn new(site: Arc<Load>, key: &str, n: usize) -> Self {
        let agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
        let none = || Tokens { access: String::new(), refresh: String::new() };
        let mut person = Self { site, agent, n, member: none(), visitor: none(), session: Default::default() };
        let anonymous = json!({ "clientId": person.site.client, "grantType": "anonymous" });
        let visitor = text(&person.ask("/oauth2/token", "", Some(&anonymous))["access_token"]);
        let body =
            json!({ "loginId": { "email": format!("member{n}@example.org") }, "password": "correct horse battery" });
        let id = person.ask("/v2/register", &visitor, Some(&body))["identity"]["id"].clone();
        let grant = json!({ "grant_type": "authorized_client", "scope": "offline_access", "member_id": id });
        person.member = tokens(&person.ask("/oauth2/token", &format!("{visitor},{key}"), Some(&grant)));
        person.visitor = tokens(&person.ask("/oauth2/token", "", Some(&anonymous)));
        person.session = person.session();
        assert_eq!(Value::from(person.session[0].as_str()), id);
        person
    }

    fn run(mut self) -> Self {
        while !self.site.is_over.load(Ordering::SeqCst) {
            let before = [self.member.access.clone(), self.visitor.access.clone()];
            self.refresh();
            self.site.refreshes.fetch_add(1, Ordering::SeqCst);
            // What was issued before is good for its life, whichever key signs by now.
            for access in [&before[0], &before[1], &self.member.access, &self.visitor.access] {
                let page =
                    self.ask("/v2/items/query", access, Some(&json!({ "dataCollectionId": "things", "query": {} })));
                assert_eq!(page["dataItems"], json!([]));
            }
            std::thread::sleep(PAUSE);
        }
        self
    }

    fn refresh(&mut self) {
        let grant = |it: &Tokens| json!({ "clientId": self.site.client, "grantType": "refresh_token", "refreshToken": it.refresh });
        let member = tokens(&self.ask("/oauth2/token", "", Some(&grant(&self.member))));
        let visitor = tokens(&self.ask("/oauth2/token", "", Some(&grant(&self.visitor))));
        (self.member, self.visitor) = (member, visitor);
    }

    /// The member's id, and that of the session.
    fn session(&self) -> [String; 2] {
        let sessions = self.ask("/_api/identity/v1/sessions", &self.member.access, None);
        let all = sessions["sessions"].as_array().unwrap();
        assert_eq!(all.len(), 1, "one sign-in, one session: {sessions}");
        let me = self.ask("/members/v1/members/my", &self.member.access, None);
        [text(&me["member"]["id"]), text(&all[0]["id"])]
    }

    /// Asks one node after the other until one answers, and answers what it said.
    fn ask(&self, path: &str, token: &str, body: Option<&Value>) -> Value {
        let since = elapsing();
        for turn in self.n.. {
            let url = {
                let urls = self.site.urls.read().unwrap();
                format!("{}{path}", urls[turn % urls.len()])
            };
            match self.ask_one(&url, token, body) {
                Some((200, answer)) => return answer,
                Some((status, answer)) => panic!("{path} answers {status}: {answer}"),
                None => assert!(elapsing() - since < LONGEST_WAIT, "no server answers {path}"),
            }
            std::thread::sleep(PAUSE);
        }
        unreachable!("turns do not end")
    }

    /// Nothing when the connection was cut.
    fn ask_one(&self, url: &str, token: &str, body: Option<&Value>) -> Option<(u16, Value)> {
        let mut response = match body {
            Some(body) => {
                let request = self.agent.post(url).header("content-type", "application/json");
                let request = if token.is_empty() { request } else { request.header("authorization", token) };
                request.send(body.to_string()).ok()?
            }
            None => self.agent.get(url).header("authorization", token).call().ok()?,
        };
        let status = response.status().as_u16();
        let text = response.body_mut().read_to_string().ok()?;
        Some((status, serde_json::from_str(&text).unwrap_or(Value::String(text))))
    }
}

fn tokens(answer: &Value) -> Tokens {
    Tokens { access: text(&answer["access_token"]), refresh: text(&answer["refresh_token"]) }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("text expected, not {value}")).to_owned()
}
