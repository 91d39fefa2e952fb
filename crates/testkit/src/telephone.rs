//! A provider of text messages and calls that answers as Twilio does, behind a real listener. It takes nothing that the interface
//! does not: who asks, for which account, in which form, with which members.

use crate::siteverify::form;
use axum::{
    Router,
    body::Bytes,
    extract::{Path, State},
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
    routing::post,
};
use serde_json::json;
use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};
use stoa_identity::telephone::{Channel, TelephoneConfig};
use stoa_kernel::Secret;
use stoa_outbound::{TelephoneLimits, TelephoneProvider};
use tokio::net::TcpListener;

const ACCOUNT: &str = "AC00000000000000000000000000000001";
const SECRET: &str = "hush-hush";
/// Both in the form of RFC 7617, by other code than the server's.
const AUTHORIZATION: &str = "Basic QUMwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMTpodXNoLWh1c2g=";
const FROM: &str = "+15005550006";

/// Takes messages and calls, and keeps them.
pub struct TelephoneExchange {
    pub url: String,
    shared: Arc<Shared>,
}

/// What was sent to a number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rung {
    pub to: String,
    /// The message, or the instructions of the call.
    pub text: String,
    pub is_call: bool,
    pub code: String,
}

#[derive(Default)]
struct Shared {
    rung: Mutex<Vec<Rung>>,
    /// What was asked in another way than the interface says.
    wrong: Mutex<Vec<String>>,
    asked: AtomicUsize,
    mode: Mutex<Mode>,
}

/// What it answers to what is right.
#[derive(Debug, Clone, Copy, Default)]
enum Mode {
    #[default]
    Takes,
    /// This status and number of an error.
    Refuses(u16, u64),
    /// It takes what is sent, and the answer is lost.
    Hangs,
}

impl TelephoneExchange {
    pub async fn start() -> Self {
        let shared = Arc::<Shared>::default();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/2010-04-01", listener.local_addr().unwrap());
        let router =
            Router::new().route("/2010-04-01/Accounts/{account}/{what}", post(answer)).with_state(shared.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, shared }
    }

    /// The settings of a server that sends by it, to numbers that begin so.
    pub fn config(&self, prefixes: &[&str], limits: TelephoneLimits) -> TelephoneConfig {
        TelephoneConfig {
            provider: TelephoneProvider {
                url: self.url.clone(),
                account: ACCOUNT.to_owned(),
                user: None,
                secret: Secret::new(SECRET),
                from: FROM.to_owned(),
            },
            limits,
            channels: vec![Channel::Sms, Channel::Call],
            prefixes: prefixes.iter().map(|it| (*it).to_owned()).collect(),
            except: Vec::new(),
        }
    }

    /// What was sent since the last call.
    ///
    /// # Panics
    /// When anything was asked in another way than the interface says.
    pub fn rung(&self) -> Vec<Rung> {
        let wrong = std::mem::take(&mut *self.shared.wrong.lock().unwrap());
        assert!(wrong.is_empty(), "{wrong:?}");
        std::mem::take(&mut *self.shared.rung.lock().unwrap())
    }

    /// How often it was asked since the last call, whatever it answered.
    pub fn asked(&self) -> usize {
        self.shared.asked.swap(0, Ordering::SeqCst)
    }

    /// From now on it takes nothing, and says so.
    pub fn refuses(&self, status: u16, error: u64) {
        *self.shared.mode.lock().unwrap() = Mode::Refuses(status, error);
    }

    /// From now on the sender is not told what became of a message.
    pub fn hangs(&self) {
        *self.shared.mode.lock().unwrap() = Mode::Hangs;
    }

    /// From now on it takes what is sent.
    pub fn recovers(&self) {
        *self.shared.mode.lock().unwrap() = Mode::Takes;
    }
}

async fn answer(
    State(shared): State<Arc<Shared>>,
    Path((account, what)): Path<(String, String)>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let refuse = |status: StatusCode, code: u64| {
        (status, json!({ "code": code, "message": "no", "status": status.as_u16() }).to_string()).into_response()
    };
    let header = |name: &str| headers.get(name).and_then(|it| it.to_str().ok()).unwrap_or_default();
    shared.asked.fetch_add(1, Ordering::SeqCst);
    let form = form(&body);
    let rung = match read(&what, &form) {
        Ok(rung) if account == ACCOUNT && header("content-type") == "application/x-www-form-urlencoded" => rung,
        read => {
            let why = format!("{account} {what} {}: {read:?}: {form:?}", header("content-type"));
            shared.wrong.lock().unwrap().push(why);
            return refuse(StatusCode::BAD_REQUEST, 21_201);
        }
    };
    if header("authorization") != AUTHORIZATION {
        return refuse(StatusCode::UNAUTHORIZED, 20_003);
    }
    let mode = *shared.mode.lock().unwrap();
    if let Mode::Refuses(status, code) = mode {
        return refuse(StatusCode::from_u16(status).unwrap(), code);
    }
    shared.rung.lock().unwrap().push(rung);
    if matches!(mode, Mode::Hangs) {
        std::future::pending::<()>().await;
    }
    (StatusCode::CREATED, json!({ "sid": "SM1", "status": "queued" }).to_string()).into_response()
}

/// What a form asks for, which has these members and no other.
fn read(what: &str, form: &BTreeMap<String, String>) -> Result<Rung, String> {
    let names: Vec<&str> = form.keys().map(String::as_str).collect();
    let member = |name: &str| form.get(name).cloned().unwrap_or_default();
    let to = member("To");
    let is_number = to.len() > 7 && to.starts_with('+') && to[1..].bytes().all(|it| it.is_ascii_digit());
    if member("From") != FROM || !is_number {
        return Err("the numbers".to_owned());
    }
    match (what, names.as_slice()) {
        ("Messages.json", ["Body", "From", "To"]) => {
            let text = member("Body");
            let mut numbers = text.split(|it: char| !it.is_ascii_digit());
            let code = numbers.find(|it| it.len() == 6).ok_or("no code")?.to_owned();
            Ok(Rung { to, text, is_call: false, code })
        }
        ("Calls.json", ["From", "Timeout", "To", "Twiml"]) => {
            let text = member("Twiml");
            let inner = text.strip_prefix("<Response>").and_then(|it| it.strip_suffix("</Response>"));
            let (once, again) =
                inner.and_then(|it| it.split_once("<Pause length=\"1\"/>")).ok_or("no two sentences")?;
            let sentence = once.strip_prefix("<Say language=\"").and_then(|it| it.strip_suffix("</Say>"));
            let (_, said) = sentence.and_then(|it| it.split_once("\">")).ok_or("no sentence")?;
            let code: String = said.chars().filter(char::is_ascii_digit).collect();
            let spelt = code.chars().map(String::from).collect::<Vec<_>>().join(", ");
            match once == again && code.len() == 6 && said.contains(&spelt) {
                true => Ok(Rung { to, text, is_call: true, code }),
                false => Err("the sentence".to_owned()),
            }
        }
        _ => Err("the members".to_owned()),
    }
}
