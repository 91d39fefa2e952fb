//! One site with a client, on a real engine.

#![allow(dead_code, clippy::unwrap_used, reason = "each test file uses a part; a failed set-up is a failed test")]

pub mod statements;

use std::{
    net::{IpAddr, Ipv4Addr},
    sync::Arc,
};
use stoa_identity::{
    Config, DeviceHints, Identity,
    client::{Client, NewClient},
    defence::Attempt,
    oauth::{TokenAnswer, TokenRequest, code::NewCode, pkce},
    password::Cost,
    session::{NewSession, Session},
    sign_in::Outcome,
    sign_in::Registration,
    token::Kind,
};
use stoa_kernel::{Caller, Result, Secret, SessionId, SiteId, World};
use stoa_outbound::Recorder;
use stoa_store::{Site, boxed};
use stoa_testkit::{Engine, TestStore, local_reach};

pub const PASSWORD: &str = "a long enough phrase";
pub const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
pub const REDIRECT: &str = "https://app.example.org/callback";

pub struct Kit {
    pub base: TestStore,
    pub identity: Identity,
    pub mail: Arc<Recorder>,
    pub site: Arc<Site>,
    pub client: Client,
}

impl Kit {
    pub async fn new(engine: Engine) -> Self {
        Self::with(engine, config()).await
    }

    pub async fn with(engine: Engine, config: Config) -> Self {
        let base = TestStore::new(engine).await;
        let mail = Arc::new(Recorder::default());
        let (store, world) = (base.store.clone(), base.world.clone());
        let identity = Identity::open(store, world, mail.clone(), local_reach(), config).await.unwrap();
        let site = base.store.site_create("Test", &base.world).await.unwrap();
        let client = client(&identity, &site.id).await;
        Self { base, identity, mail, site, client }
    }

    /// Another node (or the same one after a restart) on the same data.
    pub async fn second_node(&self) -> Identity {
        self.node_with(config()).await
    }

    pub async fn node_with(&self, config: Config) -> Identity {
        let (store, world) = (self.base.store.clone(), self.base.world.clone());
        Identity::open(store, world, self.mail.clone(), local_reach(), config).await.unwrap()
    }

    /// The nodes beside this one: two where several can share the data, else none.
    pub async fn other_nodes(&self) -> Vec<Identity> {
        self.other_nodes_in(&self.base.world).await
    }

    /// The same, with a clock of their own.
    pub async fn other_nodes_in(&self, world: &World) -> Vec<Identity> {
        let mut others = Vec::new();
        for node in self.base.nodes(3).await.into_iter().skip(1) {
            let opened = Identity::open(node.store.clone(), world.clone(), self.mail.clone(), local_reach(), config());
            others.push(opened.await.unwrap());
        }
        others
    }

    pub async fn other_site(&self) -> (Arc<Site>, Client) {
        let site = self.base.store.site_create("Other", &self.base.world).await.unwrap();
        let client = client(&self.identity, &site.id).await;
        (site, client)
    }

    pub async fn visitor(&self) -> TokenAnswer {
        self.identity.token_grant(&anonymous(&self.client), None).await.unwrap()
    }

    pub async fn register(&self, email: &str) -> Result<Outcome> {
        let registration = registration(email, PASSWORD);
        self.identity.member_register(&self.site, &attempt(), &registration).await
    }

    pub async fn login(&self, email: &str, password: &str) -> Result<Outcome> {
        self.identity.member_login(&self.site, &attempt(), email, &Secret::new(password)).await
    }

    /// What the authorize page does with a `sessionToken`: a browser's session.
    pub async fn browser_session(&self, session_token: &str) -> Option<(Session, Secret)> {
        self.site
            .write_with(
                (self.identity.clone(), self.site.clone(), session_token.to_owned()),
                |tx, (identity, site, token)| {
                    boxed!({
                        let Some((member, visitor)) = identity.session_token_redeem(tx, site, token).await? else {
                            return Ok(None);
                        };
                        let new = NewSession { member, client: None, root: None, visitor, scopes: None };
                        Ok(Some(identity.session_create(tx, site, Kind::Cookie, &new).await?))
                    })
                },
            )
            .await
            .unwrap()
    }

    pub async fn code(&self, session: &Session, redirect_uri: Option<&str>, challenge: Option<String>) -> String {
        self.code_that(session, redirect_uri, challenge, false).await
    }

    /// A code whose session gets new refresh tokens, if it `rotates`.
    pub async fn code_that(
        &self,
        session: &Session,
        redirect_uri: Option<&str>,
        challenge: Option<String>,
        rotates: bool,
    ) -> String {
        let new = NewCode {
            client: self.client.id.clone(),
            member: session.member.clone(),
            root: session.id.clone(),
            visitor: None,
            redirect_uri: redirect_uri.map(str::to_owned),
            challenge,
            rotates,
            scopes: None,
        };
        let code = self
            .site
            .write_with((self.identity.clone(), self.site.clone(), new), |tx, (identity, site, new)| {
                boxed!(identity.code_issue(tx, site, new).await)
            })
            .await
            .unwrap();
        code.expose().to_owned()
    }

    /// Registers, goes through the browser and exchanges a code: the tokens of a member.
    pub async fn member(&self, email: &str) -> (TokenAnswer, Session, Secret) {
        let token = success(self.register(email).await.unwrap());
        let (session, cookie) = self.browser_session(&token).await.unwrap();
        let tokens = self.exchange(&session).await.unwrap();
        (tokens, session, cookie)
    }

    /// A code and its exchange in a browser's session.
    pub async fn exchange(&self, session: &Session) -> Result<TokenAnswer> {
        let code = self.code(session, Some(REDIRECT), Some(pkce::challenge_of(VERIFIER))).await;
        self.identity.token_grant(&self.code_request(&code), None).await
    }

    pub fn code_request(&self, code: &str) -> TokenRequest {
        TokenRequest {
            grant_type: "authorization_code".to_owned(),
            client_id: Some(self.client.id.to_string()),
            code: Some(code.to_owned()),
            redirect_uri: Some(REDIRECT.to_owned()),
            code_verifier: Some(VERIFIER.to_owned()),
            ..Default::default()
        }
    }

    pub async fn caller(&self, access: &str) -> Result<Caller> {
        Ok(self.identity.authenticate(Some(access), None).await?.caller)
    }

    pub async fn refresh(&self, token: &str) -> Result<TokenAnswer> {
        self.identity.token_grant(&refresh_request(token), None).await
    }

    pub async fn api_key(&self, site: &SiteId) -> String {
        self.identity.api_key_create(site, "Key").await.unwrap().1.expose().to_owned()
    }
}

/// The product's configuration with a cheap password hash.
pub fn config() -> Config {
    Config { password: Cost { memory_kib: 64, passes: 1, lanes: 1 }, ..Config::default() }
}

pub async fn client(identity: &Identity, site: &SiteId) -> Client {
    let new = NewClient {
        name: "Front end".to_owned(),
        redirect_uris: vec![REDIRECT.to_owned()],
        origins: vec!["https://app.example.org".to_owned()],
        with_secret: false,
        ..NewClient::default()
    };
    identity.client_create(site, new).await.unwrap().0
}

pub fn anonymous(client: &Client) -> TokenRequest {
    TokenRequest { grant_type: "anonymous".to_owned(), client_id: Some(client.id.to_string()), ..Default::default() }
}

pub fn refresh_request(token: &str) -> TokenRequest {
    TokenRequest { grant_type: "refresh_token".to_owned(), refresh_token: Some(token.to_owned()), ..Default::default() }
}

pub fn registration(email: &str, password: &str) -> Registration {
    Registration {
        email: email.to_owned(),
        password: Secret::new(password),
        profile: serde_json::json!({ "firstName": "Ada", "nickname": "ada" }),
    }
}

pub fn attempt() -> Attempt {
    attempt_from(IpAddr::V4(Ipv4Addr::LOCALHOST))
}

pub fn attempt_from(address: IpAddr) -> Attempt {
    Attempt { address, visitor: None, client: None, hints: DeviceHints::default(), captcha: None }
}

pub fn success(outcome: Outcome) -> String {
    match outcome {
        Outcome::Success { session_token, .. } => session_token.expose().to_owned(),
        other => panic!("expected success: {other:?}"),
    }
}

pub fn session_of(caller: &Caller) -> SessionId {
    match caller {
        Caller::Member { session, .. } => session.clone(),
        other => panic!("not a member: {other:?}"),
    }
}
