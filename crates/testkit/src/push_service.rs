//! A push service with browsers, behind a real listener. It takes nothing that the standards don't (RFC 8030, 8188, 8291, 8292): who
//! sends has signed it with the key with which the browser subscribed, and the browser opens it with keys of its own.

use crate::p256;
use axum::{
    Router,
    body::Bytes,
    extract::{Path, State},
    http::{HeaderMap, StatusCode},
    routing::post,
};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::{
    aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey},
    hmac,
    signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey},
};
use serde_json::{Value, json};
use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU8, Ordering},
    },
    time::Duration,
};
use stoa_kernel::World;
use tokio::net::TcpListener;

/// Takes messages for browsers, opens and keeps them.
pub struct PushService {
    pub origin: String,
    shared: Arc<Shared>,
    world: World,
}

/// What a browser was sent.
#[derive(Debug, Clone, PartialEq)]
pub struct Pushed {
    /// The browser.
    pub name: String,
    pub topic: String,
    pub content: Value,
}

#[derive(Default)]
struct Shared {
    origin: Mutex<String>,
    browsers: Mutex<HashMap<String, Browser>>,
    pushed: Mutex<Vec<Pushed>>,
    /// What was sent in another way than the standards say.
    wrong: Mutex<Vec<String>>,
    /// The hundreds of the status that everything is answered with; zero while all is taken.
    fails: AtomicU8,
}

#[derive(Clone)]
struct Browser {
    private: [u8; 32],
    auth: [u8; 16],
    /// The key with which it subscribed, once one is known.
    sender: Option<String>,
    is_gone: bool,
}

impl PushService {
    pub async fn start() -> Self {
        let shared = Arc::<Shared>::default();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        *shared.origin.lock().unwrap() = origin.clone();
        let router = Router::new().route("/push/{name}", post(take)).with_state(shared.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { origin, shared, world: World::real() }
    }

    /// A browser subscribes: `PushSubscription.toJSON()`. One of a name that is known keeps its address, with other keys.
    pub fn subscribe(&self, name: &str) -> Value {
        let mut private = self.world.bytes::<32>();
        // Below the order of the group.
        private[0] &= 0x7f;
        let browser = Browser { private, auth: self.world.bytes(), sender: None, is_gone: false };
        let keys = json!({
            "p256dh": URL_SAFE_NO_PAD.encode(p256::public_key(&private)),
            "auth": URL_SAFE_NO_PAD.encode(browser.auth),
        });
        self.shared.browsers.lock().unwrap().insert(name.to_owned(), browser);
        json!({ "endpoint": format!("{}/push/{name}", self.origin), "expirationTime": null, "keys": keys })
    }

    /// From now on there is no such browser.
    pub fn forget(&self, name: &str) {
        self.shared.browsers.lock().unwrap().get_mut(name).unwrap().is_gone = true;
    }

    /// From now on it takes nothing, and says so by a status of these hundreds.
    pub fn fails(&self, hundreds: u8) {
        self.shared.fails.store(hundreds, Ordering::SeqCst);
    }

    /// The next messages, as many, and none beyond them; they are sent after the answers that tell of them.
    ///
    /// # Panics
    /// When they don't come, or anything was sent in another way than the standards say.
    pub async fn next(&self, count: usize) -> Vec<Pushed> {
        for _ in 0..1_000 {
            let wrong = std::mem::take(&mut *self.shared.wrong.lock().unwrap());
            assert!(wrong.is_empty(), "{wrong:?}");
            if self.shared.pushed.lock().unwrap().len() >= count {
                let pushed = std::mem::take(&mut *self.shared.pushed.lock().unwrap());
                assert_eq!(pushed.len(), count, "{pushed:?}");
                return pushed;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("{count} messages are expected, not {:?}", self.shared.pushed.lock().unwrap());
    }

    /// Whether nothing comes for a moment.
    pub async fn is_quiet(&self) -> bool {
        tokio::time::sleep(Duration::from_millis(100)).await;
        self.next(0).await.is_empty()
    }
}

async fn take(
    State(shared): State<Arc<Shared>>,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> StatusCode {
    let mut browsers = shared.browsers.lock().unwrap();
    let Some(browser) = browsers.get_mut(&name).filter(|it| !it.is_gone) else { return StatusCode::GONE };
    let origin = shared.origin.lock().unwrap().clone();
    let content = match read(&origin, browser, &headers, &body) {
        Ok(content) => content,
        Err(why) => {
            shared.wrong.lock().unwrap().push(format!("{name}: {why}: {headers:?}"));
            return StatusCode::BAD_REQUEST;
        }
    };
    match shared.fails.load(Ordering::SeqCst) {
        0 => {}
        hundreds => return StatusCode::from_u16(u16::from(hundreds) * 100).unwrap(),
    }
    let topic = headers["topic"].to_str().unwrap().to_owned();
    shared.pushed.lock().unwrap().push(Pushed { name, topic, content });
    StatusCode::CREATED
}

fn read(origin: &str, browser: &mut Browser, headers: &HeaderMap, body: &[u8]) -> Result<Value, String> {
    let header = |name: &str| headers.get(name).and_then(|it| it.to_str().ok()).unwrap_or_default();
    for (name, value) in [("ttl", "120"), ("urgency", "high"), ("content-encoding", "aes128gcm")] {
        if header(name) != value {
            return Err(format!("{name} is {}", header(name)));
        }
    }
    let topic = header("topic");
    if topic.is_empty()
        || topic.len() > 32
        || !topic.bytes().all(|it| it.is_ascii_alphanumeric() || b"-_".contains(&it))
    {
        return Err("the topic".to_owned());
    }
    let sender = sender(origin, header("authorization")).ok_or("the signature")?;
    if *browser.sender.get_or_insert_with(|| sender.clone()) != sender {
        return Err("another key than the one with which it subscribed".to_owned());
    }
    let text = open(browser, body).ok_or("the encryption")?;
    serde_json::from_slice(&text).map_err(|it| it.to_string())
}

/// The key of who sends, when the signature is for this push service.
fn sender(origin: &str, authorization: &str) -> Option<String> {
    let (token, key) = authorization.strip_prefix("vapid t=")?.split_once(", k=")?;
    let (signed, signature) = token.rsplit_once('.')?;
    let public = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, URL_SAFE_NO_PAD.decode(key).ok()?);
    public.verify(signed.as_bytes(), &URL_SAFE_NO_PAD.decode(signature).ok()?).ok()?;
    let (head, claims) = signed.split_once('.')?;
    let json = |text: &str| serde_json::from_slice::<Value>(&URL_SAFE_NO_PAD.decode(text).ok()?).ok();
    let (head, claims) = (json(head)?, json(claims)?);
    let is_whole = head["alg"] == "ES256"
        && head["typ"] == "JWT"
        && claims["aud"] == origin
        && claims["exp"].is_u64()
        && claims["sub"].as_str().is_some_and(|it| it.starts_with("http") || it.starts_with("mailto:"));
    is_whole.then(|| key.to_owned())
}

/// RFC 8291 and 8188, by the keys of the browser.
fn open(browser: &Browser, body: &[u8]) -> Option<Vec<u8>> {
    let (salt, rest) = body.split_at_checked(16)?;
    let (size, rest) = rest.split_at_checked(4)?;
    let (length, rest) = rest.split_first()?;
    let (sender, record) = rest.split_at_checked(usize::from(*length))?;
    if sender.len() != 65 || record.len() > u32::from_be_bytes(size.try_into().ok()?) as usize || body.len() > 4096 {
        return None;
    }
    let shared = p256::agree(&browser.private, sender);
    let about = [b"WebPush: info\0".as_slice(), &p256::public_key(&browser.private), sender].concat();
    let secret = derive(&browser.auth, &shared, &about, 32);
    let key = derive(salt, &secret, b"Content-Encoding: aes128gcm\0", 16);
    let nonce = derive(salt, &secret, b"Content-Encoding: nonce\0", 12);
    let key = LessSafeKey::new(UnboundKey::new(&AES_128_GCM, &key).ok()?);
    let mut record = record.to_vec();
    let nonce = Nonce::try_assume_unique_for_key(&nonce).ok()?;
    let text = key.open_in_place(nonce, Aad::empty(), &mut record).ok()?;
    let end = text.iter().rposition(|it| *it != 0)?;
    (text[end] == 2).then(|| text[..end].to_vec())
}

/// HKDF of one block (RFC 5869).
fn derive(salt: &[u8], secret: &[u8], about: &[u8], length: usize) -> Vec<u8> {
    let sign = |key: &[u8], text: &[u8]| hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), text);
    let prk = sign(salt, secret);
    sign(prk.as_ref(), &[about, &[1]].concat()).as_ref()[..length].to_vec()
}
