//! A captcha provider that answers as the public ones do, behind a real listener.

use axum::{Router, body::Bytes, extract::State, routing::post};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex},
};
use tokio::net::TcpListener;

/// Checks secret and token, each token once.
pub struct Provider {
    pub url: String,
    pub secret: String,
    shared: Arc<Shared>,
}

struct Shared {
    secret: String,
    /// Whether a token may be used again, as no good provider lets it.
    is_lax: bool,
    tokens: Mutex<HashMap<String, Token>>,
    asked: Mutex<Vec<BTreeMap<String, String>>>,
}

struct Token {
    score: Option<f64>,
    is_used: bool,
}

impl Provider {
    pub async fn start(secret: &str) -> Self {
        Self::with(secret, false).await
    }

    /// One that lets a token be used any number of times.
    pub async fn lax(secret: &str) -> Self {
        Self::with(secret, true).await
    }

    async fn with(secret: &str, is_lax: bool) -> Self {
        let shared = Shared { secret: secret.to_owned(), is_lax, tokens: Mutex::default(), asked: Mutex::default() };
        let shared = Arc::new(shared);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/siteverify", listener.local_addr().unwrap());
        let router = Router::new().route("/siteverify", post(answer)).with_state(shared.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, secret: secret.to_owned(), shared }
    }

    /// Somebody solved the widget and got this token.
    pub fn solved(&self, token: &str) {
        self.solved_with(token, None);
    }

    pub fn solved_with(&self, token: &str, score: Option<f64>) {
        self.shared.tokens.lock().unwrap().insert(token.to_owned(), Token { score, is_used: false });
    }

    /// The forms that were sent since the last call.
    pub fn asked(&self) -> Vec<BTreeMap<String, String>> {
        std::mem::take(&mut *self.shared.asked.lock().unwrap())
    }
}

async fn answer(State(shared): State<Arc<Shared>>, body: Bytes) -> String {
    let form = form(&body);
    let verdict = shared.verify(&form);
    shared.asked.lock().unwrap().push(form);
    verdict.to_string()
}

impl Shared {
    fn verify(&self, form: &BTreeMap<String, String>) -> Value {
        let no = |why: &str| json!({ "success": false, "error-codes": [why] });
        match form.get("secret") {
            None => return no("missing-input-secret"),
            Some(it) if *it != self.secret => return no("invalid-input-secret"),
            Some(_) => {}
        }
        let Some(token) = form.get("response") else { return no("missing-input-response") };
        let mut tokens = self.tokens.lock().unwrap();
        let Some(token) = tokens.get_mut(token) else { return no("invalid-input-response") };
        if token.is_used && !self.is_lax {
            return no("timeout-or-duplicate");
        }
        token.is_used = true;
        let mut yes = json!({ "success": true, "challenge_ts": "2026-01-01T00:00:00Z", "hostname": "localhost",
            "action": "login", "error-codes": [] });
        if let Some(score) = token.score {
            yes["score"] = json!(score);
        }
        yes
    }
}

/// Reads `application/x-www-form-urlencoded`.
pub(crate) fn form(body: &[u8]) -> BTreeMap<String, String> {
    let decode = |text: &str| {
        let mut parts = text.split('%');
        let mut bytes = parts.next().unwrap_or_default().replace('+', " ").into_bytes();
        for part in parts {
            bytes.push(u8::from_str_radix(&part[..2], 16).unwrap());
            bytes.extend(part[2..].replace('+', " ").into_bytes());
        }
        String::from_utf8(bytes).unwrap()
    };
    let text = std::str::from_utf8(body).unwrap();
    text.split('&').filter_map(|it| it.split_once('=')).map(|(name, value)| (decode(name), decode(value))).collect()
}
