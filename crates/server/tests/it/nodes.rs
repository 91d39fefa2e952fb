//! Several nodes on one PostgreSQL: what one has withdrawn, and said so, none grants.
//!
//! Judged by order, not by time: each target has a period that the withdrawer makes odd after the answer to a
//! withdrawal and even before the next grant. A request that begins and ends within one odd period must be refused.

use crate::process::{Deployment, Server, post};
use serde_json::{Value, json};
use std::{
    process::Command,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};
use stoa_identity::{
    Config, Identity,
    client::{Client, NewClient},
    operator::{Operator, OperatorSession},
    session::{NewSession, Session},
    sign_in::SignOn,
    token::Kind,
};
use stoa_kernel::{Caller, ClientId, Email, MemberId, Role, UserId, World, clock::elapsing};
use stoa_outbound::OutboxFile;
use stoa_sql::params;
use stoa_store::{Site, Store, boxed};
use stoa_testkit::{TestDatabase, local_reach, rounds};
use tokio::runtime::Runtime;

const NODES: usize = 3;
/// Threads that withdraw, each something of its own.
const WITHDRAWERS: usize = 16;
/// Threads that call for each of them.
const CALLERS: usize = 4;
/// Between the calls of one thread.
const PAUSE: Duration = Duration::from_millis(5);

#[test]
fn withdrawals_hold_on_all_nodes_when_answered() {
    let cluster = Nodes::start();
    let targets: Vec<_> = (0..WITHDRAWERS).map(|n| Arc::new(cluster.target(n))).collect();
    let is_over = Arc::new(AtomicBool::new(false));
    let callers: Vec<_> = targets
        .iter()
        .flat_map(|target| (0..CALLERS).map(move |n| (n, target.clone())))
        .map(|(n, target)| {
            let (urls, is_over) = (cluster.urls(), is_over.clone());
            std::thread::spawn(move || target.call(&urls, n, &is_over))
        })
        .collect();

    // Callers end too when a withdrawer fails.
    let end = OnDrop(is_over);
    let each = rounds(160).div_ceil(WITHDRAWERS);
    std::thread::scope(|scope| {
        for target in &targets {
            let cluster = &cluster;
            scope.spawn(move || (0..each).for_each(|n| cluster.grant_and_withdraw(target, n)));
        }
    });
    drop(end);
    let counts: Vec<Count> = callers.into_iter().map(|it| it.join().unwrap()).collect();
    for target in &targets {
        let wrong = target.wrong.lock().unwrap();
        assert!(wrong.is_empty(), "{:?} was granted after it was withdrawn: {wrong:?}", target.kind);
    }
    let (granted, refused) = counts.iter().fold((0, 0), |sum, it| (sum.0 + it.granted, sum.1 + it.refused));
    assert!(granted > each && refused > each, "callers saw both: {granted} granted, {refused} refused");
}

#[test]
fn withdrawal_passes_over_a_stopped_node() {
    let cluster = Nodes::start();
    for kind in [What::Level, What::Session] {
        let target = cluster.target_of(kind, 0);
        let is_granted = |node: usize| target.ask(&agent(), &cluster.servers[node].url);
        cluster.grant(&target, 0);
        for node in 0..NODES {
            assert_eq!(is_granted(node), Some(true), "{kind:?} at node {node}");
        }
        let stopped = &cluster.servers[2];
        signal(stopped, "STOP");
        let before = elapsing();
        cluster.withdraw(&target, 0);
        let waited = elapsing() - before;
        assert!(waited < 3_000, "{kind:?}: {waited} ms");
        signal(stopped, "CONT");
        for _ in 0..50 {
            assert_ne!(is_granted(2), Some(true), "{kind:?} at a node that was stopped");
        }
        cluster.grant(&target, 1);
        assert_eq!(is_granted(2), Some(true), "{kind:?}: a node that goes on takes part again");
    }
}

struct OnDrop(Arc<AtomicBool>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// What can be taken away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    Level,
    SpecialPermission,
    Collection,
    Key,
    Client,
    Session,
    Block,
    Operator,
    Role,
}

const KINDS: [What; 9] = [
    What::Level,
    What::SpecialPermission,
    What::Collection,
    What::Key,
    What::Client,
    What::Session,
    What::Block,
    What::Operator,
    What::Role,
];

/// Who blocks members.
fn app() -> Caller {
    Caller::App { id: "test".into() }
}

/// One thing that is granted and withdrawn in turns, and those who call for it.
struct Target {
    kind: What,
    /// The collection that is asked for.
    collection: String,
    /// Odd from the answer to a withdrawal to the next grant.
    period: AtomicUsize,
    /// With what callers call, and what the withdrawer needs of the last grant.
    granted: Mutex<Grant>,
    wrong: Mutex<Vec<String>>,
}

#[derive(Clone, Default)]
struct Grant {
    token: String,
    id: String,
}

#[derive(Default)]
struct Count {
    granted: usize,
    refused: usize,
}

impl Target {
    fn call(&self, urls: &[String], first: usize, is_over: &AtomicBool) -> Count {
        let (agent, mut count) = (agent(), Count::default());
        for n in first.. {
            if is_over.load(Ordering::SeqCst) {
                break;
            }
            let before = self.period.load(Ordering::SeqCst);
            let answer = self.ask(&agent, &urls[n % urls.len()]);
            let after = self.period.load(Ordering::SeqCst);
            match answer {
                Some(true) if before % 2 == 1 && before == after => {
                    self.wrong.lock().unwrap().push(format!("node {}, period {before}", n % urls.len()));
                }
                Some(true) => count.granted += 1,
                Some(false) => count.refused += 1,
                None => {}
            }
            // The processor is for the programs, and for those who withdraw.
            std::thread::sleep(PAUSE);
        }
        count
    }

    /// Whether the items may be read; nothing when the node can't say.
    fn ask(&self, agent: &ureq::Agent, url: &str) -> Option<bool> {
        let token = self.granted.lock().unwrap().token.clone();
        let body = json!({ "dataCollectionId": self.collection, "query": { "paging": { "limit": 1 } } });
        let sent = agent.post(format!("{url}/v2/items/query")).header("authorization", &token);
        match sent.header("content-type", "application/json").send(body.to_string()).ok()?.status().as_u16() {
            200 => Some(true),
            401 | 403 | 404 => Some(false),
            503 => None,
            status => panic!("{:?} answers {status}", self.kind),
        }
    }
}

/// Three programs, and a fourth node in the test that withdraws what only commands can.
struct Nodes {
    servers: Vec<Server>,
    key: String,
    runtime: Runtime,
    identity: Identity,
    site: Arc<Site>,
    /// A client that stays.
    client: Client,
    _deployments: Vec<Deployment>,
    _database: TestDatabase,
}

impl Nodes {
    fn start() -> Self {
        let database = TestDatabase::blocking_create();
        let deployments: Vec<_> = (0..=NODES).map(|_| Deployment::with_database(database.url())).collect();
        let key = deployments[0].site_with_things();
        let servers = deployments[..NODES].iter().map(|it| it.serve(|_| {})).collect();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let (identity, site, client) = runtime.block_on(async {
            let own = &deployments[NODES];
            let store = Arc::new(Store::open(&own.store_config()).await.unwrap());
            let mail = Arc::new(OutboxFile::open(own.data()).unwrap());
            let opened = Identity::open(store.clone(), World::real(), mail, local_reach(), Config::default());
            let identity = opened.await.unwrap();
            let (id, _) = store.sites().await.unwrap().remove(0);
            let site = store.site(&id).await.unwrap();
            let new = NewClient { name: "Stays".to_owned(), ..NewClient::default() };
            let (client, _) = identity.client_create(&site.id, new).await.unwrap();
            // Tokens of an operator are good while the person has a role.
            let role = store.catalog().write_with(site.id.clone(), |tx, site| {
                boxed!({
                    let sql = "insert into stoa.person_role (person, site, role) values ('operator', $1, 'OWNER')";
                    tx.execute(sql, &params![site]).await?;
                    Ok(())
                })
            });
            role.await.unwrap();
            (identity, site, client)
        });
        Self { servers, key, runtime, identity, site, client, _deployments: deployments, _database: database }
    }

    fn urls(&self) -> Vec<String> {
        self.servers.iter().map(|it| it.url.clone()).collect()
    }

    fn target(&self, n: usize) -> Target {
        self.target_of(KINDS[n % KINDS.len()], n)
    }

    fn target_of(&self, kind: What, n: usize) -> Target {
        let collection = format!("{kind:?}{n}").to_lowercase();
        let read = if [What::SpecialPermission, What::Role].contains(&kind) { "ADMIN" } else { "ANYONE" };
        self.post(
            0,
            "/v2/collections",
            &json!({ "collection": {
                "id": collection, "fields": [{ "key": "n", "type": "NUMBER" }],
                "permissions": { "read": read, "insert": "ADMIN", "update": "ADMIN", "remove": "ADMIN" },
            }}),
        );
        let id = match kind {
            What::Block => self.vouched(&collection).to_string(),
            What::Role => self.editor(&collection),
            _ => String::new(),
        };
        let granted = Mutex::new(Grant { token: self.visitor(self.client.id.as_str()), id });
        let target = Target { kind, collection, period: AtomicUsize::new(0), granted, wrong: Mutex::default() };
        if kind == What::Role {
            // Editors read what ADMIN may.
            self.level(&target, 0, "PRIVILEGED");
        }
        target
    }

    fn grant_and_withdraw(&self, target: &Target, n: usize) {
        self.grant(target, n);
        // Until somebody has it in memory.
        let (agent, urls) = (agent(), self.urls());
        for url in &urls {
            assert_eq!(target.ask(&agent, url), Some(true), "{:?} is granted at {url}", target.kind);
        }
        self.withdraw(target, n);
        target.period.fetch_add(1, Ordering::SeqCst);
        for url in &urls {
            assert_ne!(target.ask(&agent, url), Some(true), "{:?} is withdrawn at {url}", target.kind);
        }
        target.period.fetch_add(1, Ordering::SeqCst);
    }

    /// Grants it; what a node can do by HTTP at one node after the other.
    fn grant(&self, target: &Target, n: usize) {
        let name = format!("{} {n}", target.collection);
        let before = target.granted.lock().unwrap().clone();
        let grant = match target.kind {
            What::Level => {
                self.level(target, n, "ANYONE");
                before
            }
            What::Collection => {
                if n > 0 {
                    let body = json!({ "dataCollectionId": target.collection });
                    self.post(n, &format!("/v2/collections/restore/{}", target.collection), &body);
                }
                before
            }
            What::SpecialPermission => {
                let (session, token) = self.member(self.vouched(&format!("{}-{n}", target.collection)));
                let rights = json!({ "userId": session.member, "itemRead": "ALLOWED" });
                let body = json!({ "dataCollectionId": target.collection, "specialPermissions": rights });
                let made = self.post(n, "/v1/permissions/special", &body);
                Grant { token, id: made["specialPermissions"]["id"].as_str().unwrap().to_owned() }
            }
            What::Key => {
                let made = self.runtime.block_on(self.identity.api_key_create(&self.site.id, &name));
                let (key, secret) = made.unwrap();
                Grant { token: secret.expose().to_owned(), id: key.id.to_string() }
            }
            What::Client => {
                let new = NewClient { name, ..NewClient::default() };
                let made = self.runtime.block_on(self.identity.client_create(&self.site.id, new));
                let id = made.unwrap().0.id.to_string();
                Grant { token: self.visitor(&id), id }
            }
            What::Session => {
                let (session, token) = self.member(self.vouched(&format!("{}-{n}", target.collection)));
                Grant { token, id: session.id.to_string() }
            }
            What::Block => {
                let member = MemberId::from(before.id.clone());
                if n > 0 {
                    let caller = app();
                    let unblocked = self.identity.member_unblock(&self.site, &caller, &member);
                    self.runtime.block_on(unblocked).unwrap();
                }
                Grant { token: self.member(member).1, id: before.id }
            }
            What::Role => {
                self.role(&before.id, Role::Owner);
                // Of a session that no list has: it doesn't end, but what it may do has changed.
                let (person, session) = (UserId::from(before.id.clone()), World::real().uuid().into());
                let token = self.access(&Caller::User { id: person, role: Role::Owner, session }, None);
                Grant { token, id: before.id }
            }
            What::Operator => {
                let session = self.operator(World::real().uuid());
                let token = self.access(&session.caller(), None);
                Grant { token, id: session.id.to_string() }
            }
        };
        *target.granted.lock().unwrap() = grant;
    }

    /// Takes it away, at another node than the one that granted it, and returns when that is answered.
    fn withdraw(&self, target: &Target, n: usize) {
        let id = target.granted.lock().unwrap().id.clone();
        let (identity, site) = (&self.identity, &self.site);
        match target.kind {
            What::Level => self.level(target, n + 1, "PRIVILEGED"),
            What::Collection => {
                let path = format!("/v2/collections/{0}?dataCollectionId={0}", target.collection);
                self.delete(n + 1, &path);
            }
            What::SpecialPermission => self.delete(n + 1, &format!("/v1/permissions/special/{id}")),
            What::Key => self.runtime.block_on(identity.api_key_revoke(&site.id, &id.into())).unwrap(),
            What::Client => self.runtime.block_on(identity.client_revoke(&site.id, &id.into())).unwrap(),
            What::Session => self.runtime.block_on(identity.session_end(site, &id.into())).unwrap(),
            What::Block => drop(self.runtime.block_on(identity.member_block(site, &app(), &id.into())).unwrap()),
            What::Role => self.role(&id, Role::Editor),
            What::Operator => self.runtime.block_on(identity.operator_session_end(&self.operator(id))).unwrap(),
        }
    }

    fn level(&self, target: &Target, node: usize, read: &str) {
        let levels = json!({ "dataPermissions": { "id": target.collection, "itemRead": read } });
        self.post(node, "/v1/permissions", &levels);
    }

    /// A member who is known to the site.
    fn vouched(&self, name: &str) -> MemberId {
        let sign_on = SignOn { email: format!("{name}@example.org"), profile: json!(null), verify_email: true };
        let caller = app();
        let made = self.identity.member_sign_on(&self.site, &caller, None, &sign_on);
        self.runtime.block_on(made).unwrap().0.id
    }

    /// A person with a role on the site; their id is the name.
    fn editor(&self, name: &str) -> String {
        let (catalog, email) = (self.identity.store().catalog(), format!("{name}@example.org"));
        let made = catalog.write_with((name.to_owned(), email, self.site.id.clone()), |tx, (name, email, site)| {
            boxed!({
                let sql = "insert into stoa.person (id, email, email_folded, created) values ($1, $2, $2, 0)";
                tx.execute(sql, &params![name, email]).await?;
                let sql = "insert into stoa.person_role (person, site, role) values ($1, $2, 'EDITOR')";
                tx.execute(sql, &params![name, site]).await?;
                Ok(())
            })
        });
        self.runtime.block_on(made).unwrap();
        name.to_owned()
    }

    fn role(&self, name: &str, role: Role) {
        let email = Email::parse(&format!("{name}@example.org")).unwrap();
        self.runtime.block_on(self.identity.operator_role_set(&self.site.id, &email, role)).unwrap();
    }

    /// A member's session and a token of it.
    fn member(&self, member: MemberId) -> (Session, String) {
        let new = NewSession { member, client: Some(self.client.id.clone()), root: None, visitor: None, scopes: None };
        let made =
            self.site.write_with((self.identity.clone(), self.site.clone(), new), |tx, (identity, site, new)| {
                boxed!(Ok(identity.session_create(tx, site, Kind::Cookie, new).await?.0))
            });
        let session = self.runtime.block_on(made).unwrap();
        let token = self.access(&session.caller(), Some(&self.client.id));
        (session, token)
    }

    fn access(&self, caller: &Caller, client: Option<&ClientId>) -> String {
        self.runtime.block_on(self.identity.access_issue(&self.site.id, caller, client)).unwrap().token
    }

    fn operator(&self, session: String) -> OperatorSession {
        let operator = Operator::new(UserId::from("operator"), "operator@example.org");
        OperatorSession { id: session.into(), site: self.site.id.clone(), operator, role: Role::Owner }
    }

    fn visitor(&self, client: &str) -> String {
        let grant = json!({ "clientId": client, "grantType": "anonymous" });
        self.post(0, "/oauth2/token", &grant)["access_token"].as_str().unwrap().to_owned()
    }

    fn post(&self, node: usize, path: &str, body: &Value) -> Value {
        let url = format!("{}{path}", self.servers[node % NODES].url);
        let (status, answer) = post(&url, &self.key, body).expect("the node answers");
        assert_eq!(status, 200, "{path}: {answer}");
        answer
    }

    fn delete(&self, node: usize, path: &str) {
        let url = format!("{}{path}", self.servers[node % NODES].url);
        let answer = agent().delete(url).header("authorization", &self.key).call().expect("the node answers");
        assert_eq!(answer.status().as_u16(), 200, "{path}");
    }
}

fn agent() -> ureq::Agent {
    ureq::Agent::config_builder().http_status_as_error(false).build().into()
}

fn signal(server: &Server, name: &str) {
    let pid = server.child.id().to_string();
    assert!(Command::new("kill").args([&format!("-{name}"), &pid]).status().unwrap().success());
}
