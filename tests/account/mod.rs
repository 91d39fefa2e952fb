//! The account pages and the addresses that lead to them, as browsers and clients meet them.

mod audited;
mod authorize;
mod captcha;
mod codes;
mod consent;
mod factors;
mod impersonation;
mod in_progress;
mod install;
mod intents;
mod leaked_passwords;
mod looks;
mod operators;
mod outcomes;
mod places;
mod scopes;
pub(crate) mod scopes_everywhere;
mod security;
mod sign_in;
mod sign_out;
mod sites;
mod standings;
mod ways_on;
mod widget;

use axum::{
    body::Body,
    http::{Method, Request, StatusCode},
};
use serde_json::{Value, json};
use std::{collections::BTreeMap, sync::Mutex, task::Poll};
use stoa_identity::{
    Config,
    client::{Client, NewClient},
};
use stoa_testkit::{Engine, Reply, TestApp};
use tower::ServiceExt;

pub const APP: &str = "https://app.example.org";
pub const CALLBACK: &str = "https://app.example.org/callback";
pub const PASSWORD: &str = "correct horse battery";
/// The pair of RFC 7636, appendix B.
pub const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
pub const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

/// A server with a client whose pages live elsewhere.
pub struct World {
    pub app: TestApp,
    pub client: Client,
}

impl World {
    pub async fn new(engine: Engine) -> Self {
        Self::with(engine, Config::default()).await
    }

    pub async fn with(engine: Engine, config: Config) -> Self {
        let app = TestApp::with_config(engine, config).await;
        let draft = NewClient {
            name: "Elsewhere".to_owned(),
            redirect_uris: vec![CALLBACK.to_owned()],
            origins: vec![APP.to_owned()],
            with_secret: false,
            ..NewClient::default()
        };
        let (client, _) = app.app.identity.client_create(&app.site.id, draft).await.unwrap();
        Self { app, client }
    }

    pub fn browser(&self) -> Browser<'_> {
        Browser { world: self, cookies: Mutex::default() }
    }

    /// A call of a client's page: with a token, from the client's origin.
    pub async fn call(&self, token: &str, path: &str, body: &Value) -> Reply {
        let headers = [("authorization", token), ("origin", APP), ("content-type", "application/json")];
        send(&self.app, Method::POST, path, &headers, Some(body)).await
    }

    pub async fn visitor(&self) -> String {
        let grant = json!({ "clientId": self.client.id, "grantType": "anonymous" });
        text(&self.call("", "/oauth2/token", &grant).await.json()["access_token"])
    }

    /// Registers an address and answers the StateMachineResponse.
    pub async fn register(&self, email: &str) -> Value {
        let body = json!({ "loginId": { "email": email }, "password": PASSWORD });
        self.call(&self.visitor().await, "/v2/register", &body).await.json()
    }

    pub fn auth_request(&self) -> Value {
        json!({ "redirectUri": CALLBACK, "clientId": self.client.id, "codeChallenge": CHALLENGE,
            "codeChallengeMethod": "S256", "responseMode": "fragment", "responseType": "code",
            "scope": "offline_access", "state": "the state" })
    }

    /// A redirect session's path and query on this server.
    pub async fn redirect_session(&self, token: &str, body: &Value) -> String {
        let reply = self.call(token, "/_api/redirects-api/v1/redirect-session", body).await;
        assert_eq!(reply.status, StatusCode::OK, "{}", reply.json());
        path_of(&text(&reply.json()["redirectSession"]["fullUrl"]))
    }

    /// The direct login's address for a finished login.
    pub async fn direct(&self, session_token: &str) -> String {
        let mut request = self.auth_request();
        let fields = request.as_object_mut().unwrap();
        fields.remove("redirectUri");
        fields.insert("responseMode".to_owned(), json!("web_message"));
        fields.insert("sessionToken".to_owned(), json!(session_token));
        let body = json!({ "auth": { "authRequest": request, "prompt": "none" } });
        self.redirect_session(&self.visitor().await, &body).await
    }

    pub async fn exchange(&self, code: &str, redirect_uri: Option<&str>) -> Reply {
        let mut grant = json!({ "clientId": self.client.id, "grantType": "authorization_code", "code": code,
            "codeVerifier": VERIFIER });
        if let Some(uri) = redirect_uri {
            grant["redirectUri"] = json!(uri);
        }
        self.call("", "/oauth2/token", &grant).await
    }

    /// Tokens of a new member, got by the direct login.
    pub async fn member(&self, browser: &Browser<'_>, email: &str) -> Value {
        let registered = self.register(email).await;
        let path = self.direct(&text(&registered["sessionToken"])).await;
        let page = browser.open_from(&path, Some(APP)).await;
        let code = message_of(&page)["code"].as_str().unwrap().to_owned();
        let tokens = self.exchange(&code, None).await;
        assert_eq!(tokens.status, StatusCode::OK, "{}", tokens.json());
        tokens.json()
    }

    /// Rows of a table of the site.
    pub async fn count(&self, table: &'static str) -> i64 {
        let sql = format!("select count(*) from stoa.{table}");
        let read = self.app.site.read(stoa_store::ReaderPool::Scan, move |tx| {
            stoa_store::boxed!(Ok(tx.row(&sql, &[], |row| row.get::<i64>(0)).await?.unwrap_or_default()))
        });
        read.await.unwrap()
    }

    pub async fn policy(&self, policy: Value) {
        let body = json!({ "signOnPolicy": policy }).to_string();
        let app = self.app.app();
        let reply = app.send(Method::PATCH, "/v1/sign-on-policies", Some(body.into())).await;
        assert_eq!(reply.status, StatusCode::OK);
    }
}

/// Polls a call and drops it when it waits for the next time after these, as where its connection is closed.
pub(crate) async fn cut_off<T>(call: impl Future<Output = T>, polls: usize) -> Option<T> {
    counted(call, polls).await.ok().map(|(it, _)| it)
}

/// The same, and how often a call waited that was answered.
pub(crate) async fn counted<T>(call: impl Future<Output = T>, most: usize) -> Result<(T, usize), CutOff> {
    let (mut call, mut waited) = (Box::pin(call), 0);
    std::future::poll_fn(move |context| match call.as_mut().poll(context) {
        Poll::Ready(it) => Poll::Ready(Ok((it, waited))),
        Poll::Pending if waited == most => Poll::Ready(Err(CutOff)),
        Poll::Pending => {
            waited += 1;
            Poll::Pending
        }
    })
    .await
}

/// The call was dropped.
#[derive(Debug)]
pub(crate) struct CutOff;

/// A browser: it keeps cookies and says where it comes from.
pub struct Browser<'w> {
    world: &'w World,
    pub cookies: Mutex<BTreeMap<String, String>>,
}

impl Browser<'_> {
    /// Opens an address by typing it.
    pub async fn open(&self, path: &str) -> Reply {
        self.open_from(path, None).await
    }

    /// Opens an address from a page of `origin`.
    pub async fn open_from(&self, path: &str, origin: Option<&str>) -> Reply {
        let referer = origin.map(|it| format!("{it}/"));
        let mut headers = vec![("sec-fetch-mode", "navigate")];
        headers.extend(referer.as_deref().map(|it| ("referer", it)));
        self.send(Method::GET, path, &headers, None).await
    }

    /// A request of an account page.
    pub async fn ask(&self, method: Method, path: &str, body: Option<&Value>) -> Reply {
        let mut headers = vec![("sec-fetch-site", "same-origin")];
        if body.is_some() {
            headers.extend([("content-type", "application/json"), ("origin", "http://localhost")]);
        }
        self.send(method, path, &headers, body).await
    }

    /// Begins a flow and answers its view.
    pub async fn start(&self, body: Value) -> Value {
        let reply = self.ask(Method::POST, "/_api/account/v1/flows", Some(&body)).await;
        assert_eq!(reply.status, StatusCode::OK, "{}", reply.json());
        reply.json()
    }

    /// Sends an input to a flow and answers the next view.
    pub async fn answer(&self, token: &str, input: Value) -> Value {
        let reply = self.ask(Method::POST, &format!("/_api/account/v1/flows/{token}"), Some(&input)).await;
        assert_eq!(reply.status, StatusCode::OK, "{}", reply.json());
        reply.json()
    }

    /// Opens the authorize address of a client of others and agrees where that is asked; answers where the browser goes on.
    pub async fn agree(&self, path: &str) -> String {
        let to = location(&self.open(path).await);
        match to.strip_prefix("/account/flow/") {
            Some(token) => text(&self.answer(token, json!({ "type": "ALLOW" })).await["step"]["url"]),
            None => to,
        }
    }

    pub async fn flow_view(&self, token: &str) -> Reply {
        self.ask(Method::GET, &format!("/_api/account/v1/flows/{token}"), None).await
    }

    /// Whether there is a cookie of this name, also one that carries a site.
    pub fn has(&self, cookie: &str) -> bool {
        self.cookie(cookie).is_some()
    }

    /// The value of the cookie of this name.
    pub fn cookie(&self, name: &str) -> Option<String> {
        let is_meant = |it: &str| it.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'));
        self.cookies.lock().unwrap().iter().find(|it| is_meant(it.0)).map(|it| it.1.clone())
    }

    pub async fn send(&self, method: Method, path: &str, headers: &[(&str, &str)], body: Option<&Value>) -> Reply {
        let cookies: Vec<String> =
            self.cookies.lock().unwrap().iter().map(|(name, value)| format!("{name}={value}")).collect();
        let cookies = cookies.join("; ");
        let mut headers = headers.to_vec();
        if !cookies.is_empty() {
            headers.push(("cookie", &cookies));
        }
        let reply = send(&self.world.app, method, path, &headers, body).await;
        for set in reply.headers.get_all("set-cookie") {
            let (pair, attributes) = set.to_str().unwrap().split_once(';').unwrap();
            let (name, value) = pair.split_once('=').unwrap();
            let mut kept = self.cookies.lock().unwrap();
            match attributes.contains("Max-Age=0") {
                true => kept.remove(name),
                false => kept.insert(name.to_owned(), value.to_owned()),
            };
        }
        reply
    }
}

pub async fn send(app: &TestApp, method: Method, path: &str, headers: &[(&str, &str)], body: Option<&Value>) -> Reply {
    let mut request = Request::builder().method(method).uri(path).header("host", "localhost");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(body.map_or_else(Body::empty, |it| Body::from(it.to_string()))).unwrap();
    let response = app.service().oneshot(request).await.unwrap();
    let (status, headers) = (response.status(), response.headers().clone());
    Reply { status, headers, body: axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap() }
}

pub fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("text expected, not {value}")).to_owned()
}

/// Path and query of an address of this server.
pub fn path_of(url: &str) -> String {
    url.strip_prefix("http://localhost").unwrap_or_else(|| panic!("not this server: {url}")).to_owned()
}

pub fn location(reply: &Reply) -> String {
    assert_eq!(reply.status, StatusCode::SEE_OTHER, "{}", String::from_utf8_lossy(&reply.body));
    reply.headers["location"].to_str().unwrap().to_owned()
}

/// The token of the flow that a redirect leads to.
pub fn flow_of(reply: &Reply) -> String {
    let location = location(reply);
    location.strip_prefix("/account/flow/").unwrap_or_else(|| panic!("not a flow: {location}")).to_owned()
}

/// What a `web_message` page posts.
pub fn message_of(reply: &Reply) -> Value {
    let html = String::from_utf8_lossy(&reply.body);
    let (_, rest) = html.split_once("postMessage(").unwrap_or_else(|| panic!("{html}"));
    let (message, _) = rest.split_once(",\"").unwrap();
    // The message ends where the target begins; it is the longest prefix that is JSON.
    let ends = rest.match_indices('}').map(|it| it.0);
    let parsed = ends.filter_map(|end| serde_json::from_str(&rest[..=end]).ok()).next();
    parsed.unwrap_or_else(|| panic!("{message}"))
}

/// Where a browser is sent as the standard says, for a code of a client that asks for `more` than that.
pub fn authorize_path(client: &Client, more: &[(&str, &str)]) -> String {
    let always = [
        ("client_id", client.id.as_str()),
        ("redirect_uri", &client.redirect_uris[0]),
        ("response_type", "code"),
        ("state", "s"),
        ("code_challenge", CHALLENGE),
        ("code_challenge_method", "S256"),
    ];
    let query = stoa_identity::address_form(always.into_iter().chain(more.iter().copied()));
    format!("/_api/oauth2/authorize?{query}")
}

/// The parameters behind `#` or `?` of an address.
pub fn parameters(url: &str, separator: char) -> BTreeMap<String, String> {
    let (_, query) = url.split_once(separator).unwrap_or_else(|| panic!("no {separator} in {url}"));
    let decode = |it: &str| {
        let text = it.replace('+', " ");
        let mut parts = text.split('%');
        let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
        for part in parts {
            bytes.push(u8::from_str_radix(&part[..2], 16).unwrap());
            bytes.extend(&part.as_bytes()[2..]);
        }
        String::from_utf8(bytes).unwrap()
    };
    query.split('&').filter_map(|it| it.split_once('=')).map(|(k, v)| (decode(k), decode(v))).collect()
}
