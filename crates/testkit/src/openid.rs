//! An identity provider (OpenID Connect) behind a real listener: discovery, authorization, tokens, keys. It does what the standards say,
//! by other code than the server's, until a test orders otherwise.

use crate::siteverify::form;
use axum::{
    Router,
    body::Bytes,
    extract::{RawQuery, State},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use base64::{
    Engine,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use ring::{
    digest, hmac,
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair},
};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};
use stoa_kernel::World;
use tokio::net::TcpListener;

/// The client that sites are there.
pub const CLIENT: &str = "the:client";
pub const SECRET: &str = "hush:hush/+";

/// A provider, with the people that tests tell it of.
pub struct OpenidProvider {
    pub issuer: String,
    shared: Arc<Shared>,
}

/// How a token is signed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Signing {
    /// With Ed25519 and the key that is shown.
    #[default]
    Ed25519,
    /// With P-256 and the key that is shown.
    P256,
    /// With a key that is shown nowhere, under the name of the one that is.
    Another,
    /// With none (`alg` none).
    Nothing,
    /// With a MAC whose key is the public key (`HS256`).
    Mac,
}

/// What it does otherwise than the standards say.
#[derive(Debug, Clone, Default)]
pub struct Orders {
    /// Claims in the place of the right ones; null leaves one out.
    pub claims: Value,
    /// The same of the token's header.
    pub head: Value,
    /// The same of what it says of itself.
    pub metadata: Value,
    /// A status with which it answers codes.
    pub token_status: Option<u16>,
    /// A status with which it answers those who ask what it is.
    pub metadata_status: Option<u16>,
    /// The same of its keys.
    pub keys_status: Option<u16>,
    pub signing: Signing,
    /// The name of its keys, which is another one after they were changed.
    pub key: String,
    /// It takes a connection and says nothing.
    pub hangs: bool,
    /// It doesn't stop talking.
    pub is_huge: bool,
}

struct Shared {
    issuer: String,
    world: World,
    ed25519: Ed25519KeyPair,
    another: Ed25519KeyPair,
    p256: EcdsaKeyPair,
    orders: Mutex<Orders>,
    codes: Mutex<HashMap<String, Granted>>,
    /// What was asked in another way than the standards say.
    wrong: Mutex<Vec<String>>,
    calls: Mutex<BTreeMap<&'static str, usize>>,
}

/// What a code stands for.
struct Granted {
    person: Value,
    nonce: Value,
    challenge: String,
    redirect_uri: String,
}

impl OpenidProvider {
    pub async fn start(world: &World) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let issuer = format!("http://{}", listener.local_addr().unwrap());
        let random = random();
        let ed25519 = || {
            let pkcs8 = Ed25519KeyPair::generate_pkcs8(&random).unwrap();
            Ed25519KeyPair::from_pkcs8(pkcs8.as_ref()).unwrap()
        };
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
        let p256 = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8.as_ref(), &random).unwrap();
        let shared = Arc::new(Shared {
            issuer: issuer.clone(),
            world: world.clone(),
            ed25519: ed25519(),
            another: ed25519(),
            p256,
            orders: Mutex::new(Orders { key: "first".to_owned(), ..Orders::default() }),
            codes: Mutex::default(),
            wrong: Mutex::default(),
            calls: Mutex::default(),
        });
        let router = Router::new()
            .route("/.well-known/openid-configuration", get(metadata))
            .route("/authorize", get(authorize))
            .route("/token", post(token))
            .route("/jwks", get(jwks))
            .with_state(shared.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { issuer, shared }
    }

    /// Has it do otherwise from now on.
    pub fn order(&self, change: impl FnOnce(&mut Orders)) {
        change(&mut self.shared.orders());
    }

    /// Has it do as the standards say, with keys of this name.
    pub fn behave(&self, key: &str) {
        self.order(|it| *it = Orders { key: key.to_owned(), ..Orders::default() });
    }

    /// The person with these claims agrees to what a browser was sent with: where the provider sends it.
    pub fn approve(&self, url: &str, person: Value) -> String {
        let query = url.split_once('?').unwrap_or_else(|| panic!("no query: {url}")).1;
        assert!(url.starts_with(&format!("{}/authorize?", self.issuer)), "{url}");
        self.shared.approve(query, person).unwrap_or_else(|why| panic!("{why}: {url}"))
    }

    /// The same of a person who declines.
    pub fn decline(&self, url: &str, error: &str) -> String {
        let query = form(url.split_once('?').unwrap().1.as_bytes());
        format!("{}?error={error}&state={}&iss={}", query["redirect_uri"], query["state"], encode(&self.issuer))
    }

    /// A token as a front end of this client gets one.
    pub fn id_token(&self, person: &Value, nonce: &str) -> String {
        self.shared.token(person, &json!(nonce))
    }

    /// How often each of its addresses was called since this was asked last.
    ///
    /// # Panics
    /// When any was called in another way than the standards say.
    pub fn calls(&self) -> BTreeMap<&'static str, usize> {
        let wrong = std::mem::take(&mut *self.shared.wrong.lock().unwrap());
        assert!(wrong.is_empty(), "{wrong:?}");
        std::mem::take(&mut *self.shared.calls.lock().unwrap())
    }
}

impl Shared {
    fn orders(&self) -> MutexGuard<'_, Orders> {
        self.orders.lock().unwrap()
    }

    /// Counts a call, and does what is not to be expected.
    async fn called(&self, name: &'static str) -> Option<Response> {
        *self.calls.lock().unwrap().entry(name).or_default() += 1;
        let orders = self.orders().clone();
        if orders.hangs {
            tokio::time::sleep(Duration::from_secs(60)).await;
        }
        orders.is_huge.then(|| "x".repeat(4_000_000).into_response())
    }

    fn approve(&self, query: &str, person: Value) -> Result<String, String> {
        let query = form(query.as_bytes());
        let given = |name: &str| query.get(name).cloned().unwrap_or_default();
        let is_right = given("response_type") == "code"
            && given("client_id") == CLIENT
            && given("scope").split(' ').any(|it| it == "openid")
            && given("code_challenge_method") == "S256"
            && given("code_challenge").len() == 43
            && given("nonce").len() >= 43
            && given("state").len() >= 43;
        if !is_right {
            return Err(format!("{query:?}"));
        }
        let code = self.world.token::<16>();
        let granted = Granted {
            person,
            nonce: json!(given("nonce")),
            challenge: given("code_challenge"),
            redirect_uri: given("redirect_uri"),
        };
        self.codes.lock().unwrap().insert(code.clone(), granted);
        Ok(format!("{}?code={code}&state={}&iss={}", given("redirect_uri"), given("state"), encode(&self.issuer)))
    }

    fn exchange(&self, headers: &HeaderMap, body: &[u8]) -> Result<Value, String> {
        let form = form(body);
        let names: Vec<&str> = form.keys().map(String::as_str).collect();
        if names != ["code", "code_verifier", "grant_type", "redirect_uri"]
            || form["grant_type"] != "authorization_code"
        {
            return Err(format!("the members: {names:?}"));
        }
        // Both parts in the form of RFC 6749 section 2.3.1.
        let credentials = STANDARD.encode("the%3Aclient:hush%3Ahush%2F%2B");
        let given = headers.get(header::AUTHORIZATION).and_then(|it| it.to_str().ok()).unwrap_or_default();
        if given != format!("Basic {credentials}") {
            return Err(format!("the client: {given}"));
        }
        let granted = self.codes.lock().unwrap().remove(&form["code"]).ok_or("the code")?;
        let challenge = URL_SAFE_NO_PAD.encode(digest::digest(&digest::SHA256, form["code_verifier"].as_bytes()));
        if granted.challenge != challenge || granted.redirect_uri != form["redirect_uri"] {
            return Err("the verifier or the address".to_owned());
        }
        let token = self.token(&granted.person, &granted.nonce);
        Ok(json!({ "access_token": "a", "token_type": "Bearer", "expires_in": 60, "id_token": token }))
    }

    fn token(&self, person: &Value, nonce: &Value) -> String {
        let orders = self.orders().clone();
        let now = self.world.now() / 1_000;
        let mut claims = json!({ "iss": self.issuer, "aud": CLIENT, "iat": now, "exp": now + 300, "nonce": nonce });
        merge(&mut claims, person);
        merge(&mut claims, &orders.claims);
        let algorithm = match orders.signing {
            Signing::Ed25519 | Signing::Another => "EdDSA",
            Signing::P256 => "ES256",
            Signing::Nothing => "none",
            Signing::Mac => "HS256",
        };
        let name = if orders.signing == Signing::P256 { "p256" } else { "ed25519" };
        let mut head = json!({ "alg": algorithm, "kid": format!("{}-{name}", orders.key), "typ": "JWT" });
        merge(&mut head, &orders.head);
        let text = [&head, &claims].map(|it| URL_SAFE_NO_PAD.encode(it.to_string())).join(".");
        let signature = match orders.signing {
            Signing::Ed25519 => self.ed25519.sign(text.as_bytes()).as_ref().to_vec(),
            Signing::Another => self.another.sign(text.as_bytes()).as_ref().to_vec(),
            Signing::P256 => self.p256.sign(&random(), text.as_bytes()).unwrap().as_ref().to_vec(),
            Signing::Nothing => Vec::new(),
            Signing::Mac => {
                let key = hmac::Key::new(hmac::HMAC_SHA256, self.ed25519.public_key().as_ref());
                hmac::sign(&key, text.as_bytes()).as_ref().to_vec()
            }
        };
        format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature))
    }
}

async fn metadata(State(shared): State<Arc<Shared>>) -> Response {
    if let Some(other) = shared.called("metadata").await {
        return other;
    }
    let (orders, issuer) = (shared.orders().clone(), &shared.issuer);
    let mut document = json!({
        "issuer": issuer,
        "authorization_endpoint": format!("{issuer}/authorize"),
        "token_endpoint": format!("{issuer}/token"),
        "jwks_uri": format!("{issuer}/jwks"),
        "response_types_supported": ["code"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["EdDSA", "ES256"],
        "authorization_response_iss_parameter_supported": true,
    });
    merge(&mut document, &orders.metadata);
    let status = orders.metadata_status.unwrap_or(200);
    (StatusCode::from_u16(status).unwrap(), document.to_string()).into_response()
}

async fn authorize(State(shared): State<Arc<Shared>>, RawQuery(query): RawQuery) -> Response {
    let person = json!({ "sub": "someone", "email": "someone@example.org", "email_verified": true });
    match shared.approve(&query.unwrap_or_default(), person) {
        Ok(url) => (StatusCode::FOUND, [(header::LOCATION, url)]).into_response(),
        Err(why) => (StatusCode::BAD_REQUEST, why).into_response(),
    }
}

async fn token(State(shared): State<Arc<Shared>>, headers: HeaderMap, body: Bytes) -> Response {
    if let Some(other) = shared.called("token").await {
        return other;
    }
    let ordered = shared.orders().token_status;
    if let Some(status) = ordered {
        return (StatusCode::from_u16(status).unwrap(), json!({ "error": "server_error" }).to_string()).into_response();
    }
    match shared.exchange(&headers, &body) {
        Ok(tokens) => tokens.to_string().into_response(),
        Err(why) => {
            // A code that was used is what attackers bring.
            if why != "the code" {
                shared.wrong.lock().unwrap().push(why);
            }
            (StatusCode::BAD_REQUEST, json!({ "error": "invalid_grant" }).to_string()).into_response()
        }
    }
}

async fn jwks(State(shared): State<Arc<Shared>>) -> Response {
    if let Some(other) = shared.called("keys").await {
        return other;
    }
    let Orders { key, keys_status, .. } = shared.orders().clone();
    let status = keys_status.unwrap_or(200);
    let point = shared.p256.public_key().as_ref();
    let text = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
    let set = json!({ "keys": [
        { "kty": "OKP", "crv": "Ed25519", "use": "sig", "kid": format!("{key}-ed25519"),
            "x": text(shared.ed25519.public_key().as_ref()) },
        { "kty": "EC", "crv": "P-256", "use": "sig", "kid": format!("{key}-p256"), "x": text(&point[1..33]),
            "y": text(&point[33..]) },
    ] });
    (StatusCode::from_u16(status).unwrap(), set.to_string()).into_response()
}

/// Puts members into an object; null takes one out.
fn merge(object: &mut Value, changes: &Value) {
    for (name, value) in changes.as_object().into_iter().flatten() {
        match value {
            Value::Null => drop(object.as_object_mut().and_then(|it| it.remove(name))),
            value => object[name] = value.clone(),
        }
    }
}

/// A text as a value of a query.
fn encode(text: &str) -> String {
    text.bytes()
        .map(|it| if it.is_ascii_alphanumeric() { char::from(it).to_string() } else { format!("%{it:02X}") })
        .collect()
}

#[expect(clippy::disallowed_methods, reason = "keys of ring are drawn from the system; no test repeats a signature")]
fn random() -> SystemRandom {
    SystemRandom::new()
}
