//! The whole HTTP surface in process, and callers of every kind who got their tokens as anyone would.

use crate::{Engine, Node, TestStore, exchanges, local_reach};
use axum::{
    body::{Body, Bytes},
    http::{HeaderMap, Method, Request, StatusCode},
    response::Response,
};
use serde_json::{Value, json};
use std::{
    collections::HashSet,
    convert::Infallible,
    net::Ipv4Addr,
    sync::{
        Arc, Mutex, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};
use stoa_content::{Content, ContentLimits};
use stoa_http::{App, Settings};
use stoa_identity::{
    Config, Identity,
    authorize::install::InstallRequest,
    browser::Browser,
    client::{Client, NewClient},
    password::Cost,
};
use stoa_kernel::{Email, Role, Scopes, Secret, World};
use stoa_outbound::{Mailer, Recorder};
use stoa_realtime::{Realtime, RealtimeLimits};
use stoa_store::{Consumers, Serving, Site, Store, outbox::LeaseTimes};
use stoa_webhooks::{Parts, Times, WebhookLimits, Webhooks};
use tower::{ServiceExt, util::BoxCloneSyncService};

/// A server with one site, one client and one API key; there may be more nodes that answer for it.
pub struct TestApp {
    pub kit: TestStore,
    pub app: App,
    pub site: Arc<Site>,
    pub client: Client,
    pub mail: Arc<Recorder>,
    /// Addresses and codes that [`TestApp::code_to`] has given.
    codes: Mutex<HashSet<String>>,
    api_key: String,
    service: OnceLock<Service>,
    others: Vec<Other>,
    /// Calls that one of several nodes has answered.
    calls: AtomicU64,
}

/// A further node on the same data.
struct Other {
    service: Service,
    _node: Node,
}

/// The whole HTTP surface. Making its routes takes longer than most calls, so a test makes them once.
pub type Service = BoxCloneSyncService<Request<Body>, Response, Infallible>;

/// A client: its requests carry the token of one caller.
#[derive(Clone)]
pub struct TestClient<'a> {
    app: &'a TestApp,
    pub token: String,
}

/// An answer, read whole.
#[derive(Debug)]
pub struct Reply {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl TestApp {
    pub async fn new(engine: Engine) -> Self {
        Self::with_mailer(engine, None).await
    }

    pub async fn with_config(engine: Engine, config: Config) -> Self {
        Self::with(engine, None, config).await
    }

    /// One whose mail goes elsewhere than into [`TestApp::mail`].
    pub async fn with_mailer(engine: Engine, mailer: Option<Arc<dyn Mailer>>) -> Self {
        Self::with(engine, mailer, Config::default()).await
    }

    /// One whose clients call `count` nodes on the same data, each time any of them, in an order that every run repeats.
    /// SQLite has but one node. [`TestApp::app`] is the first.
    pub async fn with_nodes(engine: Engine, count: usize) -> Self {
        let mut app = Self::new(engine).await;
        for node in app.kit.nodes(count).await.into_iter().skip(1) {
            let opened = open(node.store.clone(), app.kit.world.clone(), app.mail.clone(), Config::default()).await;
            app.others.push(Other { service: service(opened), _node: node });
        }
        app
    }

    /// Has the index of words of the site kept while the answer lives.
    pub async fn searched(&self) -> Serving {
        let leases = LeaseTimes { look: 20, renewal: 500, life: 60_000 };
        self.app.content.search_subscribe(&self.site).await.unwrap();
        self.app.content.search_serve(&Consumers::new(self.kit.store.clone(), self.kit.world.clone(), leases))
    }

    /// The newest code in a message to `email`, which may be sent after the answer that tells of it: waits for one that was
    /// not looked at before.
    pub async fn code_to(&self, email: &str) -> String {
        for _ in 0..3_000 {
            let code = self.mail.last_code_to(email);
            if let Some(code) = code.filter(|it| self.codes.lock().unwrap().insert(format!("{email} {it}"))) {
                return code;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("no new code to {email}")
    }

    /// Waits until a search finds all that was written before.
    pub async fn search_caught_up(&self) {
        let client = self.app();
        for _ in 0..6_000 {
            if client.get("/_api/search/v1/lag").await.json()["isCurrent"] == true {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("the index of words has not caught up within a minute");
    }

    async fn with(engine: Engine, mailer: Option<Arc<dyn Mailer>>, config: Config) -> Self {
        let kit = TestStore::new(engine).await;
        let mail = Arc::new(Recorder::default());
        let mailer = mailer.unwrap_or_else(|| mail.clone());
        let app = open(kit.store.clone(), kit.world.clone(), mailer, config).await;
        let site = kit.store.site_create("Test", &kit.world).await.unwrap();
        let draft = NewClient {
            name: "Test".to_owned(),
            redirect_uris: vec!["http://localhost/callback".to_owned()],
            origins: vec!["http://localhost".to_owned()],
            with_secret: false,
            ..NewClient::default()
        };
        let (client, _) = app.identity.client_create(&site.id, draft).await.unwrap();
        let (_, secret) = app.identity.api_key_create(&site.id, "test").await.unwrap();
        Self {
            kit,
            app,
            site,
            client,
            mail,
            codes: Mutex::default(),
            api_key: secret.expose().to_owned(),
            service: OnceLock::new(),
            others: Vec::new(),
            calls: AtomicU64::new(0),
        }
    }

    /// What answers. From the first call on [`TestApp::app`] changes by [`TestApp::restart`] only.
    pub fn service(&self) -> Service {
        self.service.get_or_init(|| service(self.app.clone())).clone()
    }

    /// What answers the next call.
    fn next_service(&self) -> Service {
        let calls = self.calls.fetch_add(1, Ordering::Relaxed);
        let mixed = calls.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mixed = (mixed ^ (mixed >> 32)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 32;
        match self.others.get(mixed as usize % (self.others.len() + 1)) {
            Some(other) => other.service.clone(),
            None => self.service(),
        }
    }

    /// The process started again with something else in it.
    pub fn restart(&mut self, change: impl FnOnce(&mut App)) {
        change(&mut self.app);
        self.service = OnceLock::new();
    }

    /// No token at all.
    pub fn anonymous(&self) -> TestClient<'_> {
        self.with_token("")
    }

    pub fn with_token(&self, token: &str) -> TestClient<'_> {
        TestClient { app: self, token: token.to_owned() }
    }

    /// The site's API key.
    pub fn app(&self) -> TestClient<'_> {
        self.with_token(&self.api_key)
    }

    /// A new anonymous visitor.
    pub async fn visitor(&self) -> TestClient<'_> {
        let grant = json!({ "clientId": self.client.id, "grantType": "anonymous" });
        let reply = self.anonymous().post("/oauth2/token", &grant).await;
        self.with_token(reply.json()["access_token"].as_str().expect("an access token"))
    }

    /// The site's owner.
    pub async fn owner(&self) -> TestClient<'_> {
        self.operator("owner@example.org", Role::Owner).await
    }

    /// An operator who works on the site's content.
    pub async fn editor(&self) -> TestClient<'_> {
        self.operator("editor@example.org", Role::Editor).await
    }

    /// Invites an operator, accepts the invitation and signs in.
    async fn operator(&self, email: &str, role: Role) -> TestClient<'_> {
        let (identity, email) = (&self.app.identity, Email::parse(email).unwrap());
        let life = Duration::from_secs(60);
        let link = identity.invite_create(&self.site.id, Some(&email), role, life, "http://localhost").await.unwrap();
        let (_, token) = link.split_once("invite=").unwrap();
        let password = Secret::new("correct horse battery");
        let (operator, role) =
            identity.invite_accept(token, None, &password, Ipv4Addr::LOCALHOST.into()).await.unwrap();
        let (session, _) = identity.operator_session_create(&self.site.id, &operator, role).await.unwrap();
        self.with_token(&identity.operator_access(&session).await.unwrap().token)
    }

    /// A new member with this address, active at once.
    pub async fn member(&self, email: &str) -> TestClient<'_> {
        let visitor = self.visitor().await;
        let body = json!({ "loginId": { "email": email }, "password": "correct horse battery" });
        let reply = visitor.post("/v2/register", &body).await.json();
        let member = reply["identity"]["id"].as_str().unwrap_or_else(|| panic!("{reply}"));
        let grant = json!({ "grant_type": "authorized_client", "scope": "offline_access", "member_id": member });
        let both = self.with_token(&format!("{},{}", visitor.token, self.api_key));
        let reply = both.post("/oauth2/token", &grant).await.json();
        self.with_token(reply["access_token"].as_str().unwrap_or_else(|| panic!("{reply}")))
    }
}

/// Callers who are held to scopes.
impl TestApp {
    /// A key that is held to these.
    pub async fn key(&self, scopes: &str) -> TestClient<'_> {
        let scopes = Some(Scopes::among(scopes));
        let (_, secret) = self.app.identity.api_key_create_held(&self.site.id, "held", scopes).await.unwrap();
        self.with_token(secret.expose())
    }

    /// A client of others with a secret, which may be given these.
    pub async fn partner(&self, scopes: &str) -> (Client, Secret) {
        let draft = NewClient {
            name: "Partner".to_owned(),
            redirect_uris: vec!["https://partner.example/callback".to_owned()],
            with_secret: true,
            is_third_party: true,
            scopes: Some(Scopes::among(scopes)),
            ..NewClient::default()
        };
        let (client, secret) = self.app.identity.client_create(&self.site.id, draft).await.unwrap();
        (client, secret.unwrap())
    }

    /// The member of a token as a client gets them that asks for `scope`.
    pub async fn through(&self, client: &Client, member: &TestClient<'_>, scope: &str) -> TestClient<'_> {
        let info = self.anonymous().post("/oauth2/token-info", &json!({ "token": member.token })).await.json();
        let grant = json!({ "clientId": client.id, "grantType": "anonymous" });
        let visitor = self.anonymous().post("/oauth2/token", &grant).await.json();
        let both = self.with_token(&format!("{},{}", visitor["access_token"].as_str().unwrap(), self.api_key));
        let grant = json!({ "grant_type": "authorized_client", "scope": scope, "member_id": info["subjectId"] });
        let reply = both.post("/oauth2/token", &grant).await.json();
        self.with_token(reply["access_token"].as_str().unwrap_or_else(|| panic!("{reply}")))
    }

    /// A client of others as an owner has installed it.
    pub async fn installed(&self, scopes: &str) -> TestClient<'_> {
        let (client, secret) = self.partner(scopes).await;
        let identity = &self.app.identity;
        let email = Email::parse("installer@example.org").unwrap();
        let life = Duration::from_secs(60);
        let link =
            identity.invite_create(&self.site.id, Some(&email), Role::Owner, life, "http://localhost").await.unwrap();
        let (_, token) = link.split_once("invite=").unwrap();
        let password = Secret::new("correct horse battery");
        let (owner, role) = identity.invite_accept(token, None, &password, Ipv4Addr::LOCALHOST.into()).await.unwrap();
        let (_, cookie) = identity.operator_session_create(&self.site.id, &owner, role).await.unwrap();
        let browser = Browser {
            session: Vec::new(),
            operator: vec![cookie.expose().to_owned()],
            flow: None,
            device: None,
            user_agent: None,
            language: None,
            address: Ipv4Addr::LOCALHOST.into(),
            base_url: "http://localhost".to_owned(),
            is_at_sites_host: false,
            relying_party: None,
        };
        let request = InstallRequest { app: client.id.as_str(), redirect_url: &client.redirect_uris[0], state: None };
        identity.install_decide(request, true, &browser).await.unwrap();
        let grant = json!({
            "grant_type": "client_credentials", "client_id": client.id, "client_secret": secret.expose(),
        });
        let reply = self.anonymous().post("/oauth2/token", &grant).await.json();
        self.with_token(reply["access_token"].as_str().unwrap_or_else(|| panic!("{reply}")))
    }
}

/// A node on this store.
async fn open(store: Arc<Store>, world: World, mailer: Arc<dyn Mailer>, config: Config) -> App {
    // The work of a hash was almost half of that of all tests. What it costs by default is tested where it is made.
    let config = Config { password: Cost { memory_kib: 64, passes: 1, lanes: 1 }, ..config };
    let identity = Identity::open(store.clone(), world.clone(), mailer, local_reach(), config).await.unwrap();
    let content = Content::new(world.clone(), ContentLimits::default());
    identity.set_ownership(Arc::new(content.clone()));
    content.keep_standing(identity.standing());
    content.hear(&store).await.unwrap();
    let realtime = Realtime::new(store.clone(), content.clone(), world.clone(), RealtimeLimits::default());
    // What a test waits for passes from node to node quickly.
    let leases = LeaseTimes { look: 100, renewal: 500, life: 1_300 };
    let webhooks = Webhooks::new(Parts {
        content: content.clone(),
        identity: identity.clone(),
        reach: local_reach(),
        consumers: Consumers::new(store.clone(), world.clone(), leases),
        world: world.clone(),
        limits: WebhookLimits::default(),
        times: Times::default(),
    });
    App {
        store,
        world,
        identity,
        content,
        realtime,
        webhooks,
        waiting: Arc::default(),
        graphql: Arc::default(),
        settings: Arc::new(Settings::default()),
        traffic: Arc::default(),
        metrics: Arc::default(),
        exchanges: exchanges::of_test(),
    }
}

fn service(app: App) -> Service {
    BoxCloneSyncService::new(stoa_http::service(app))
}

impl TestClient<'_> {
    pub async fn get(&self, path: &str) -> Reply {
        self.send(Method::GET, path, None).await
    }

    pub async fn delete(&self, path: &str) -> Reply {
        self.send(Method::DELETE, path, None).await
    }

    pub async fn post(&self, path: &str, body: &Value) -> Reply {
        self.send(Method::POST, path, Some(body.to_string().into())).await
    }

    /// Sends a body as it stands, however broken it is.
    pub async fn send(&self, method: Method, path: &str, body: Option<Bytes>) -> Reply {
        let mut request = Request::builder().method(method).uri(path).header("host", "localhost");
        if !self.token.is_empty() {
            request = request.header("authorization", &self.token);
        }
        if body.is_some() {
            request = request.header("content-type", "application/json");
        }
        let request = request.body(body.map_or_else(Body::empty, Body::from)).unwrap();
        Reply::of(self.service().oneshot(request).await.unwrap()).await
    }

    /// What answers its next call.
    pub(crate) fn service(&self) -> Service {
        self.app.next_service()
    }
}

impl Reply {
    /// An answer, read to its end.
    pub(crate) async fn of(response: Response) -> Self {
        let (status, headers) = (response.status(), response.headers().clone());
        let body = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
        Self { status, headers, body }
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|it| panic!("{it}: {} {}", self.status, String::from_utf8_lossy(&self.body)))
    }

    /// `200`, or the status and code of an error.
    pub fn verdict(&self) -> String {
        if self.status == StatusCode::OK {
            return "200".to_owned();
        }
        let json = self.json();
        let details = &json["details"];
        let code = details["applicationError"]["code"].as_str();
        let code = code.or(details.get("validationError").map(|_| "validationError"));
        format!("{} {}", self.status.as_u16(), code.unwrap_or("without a code"))
    }
}
