//! Answers without an end, read message by message.

use crate::{Reply, TestClient};
use axum::{
    body::{Body, BodyDataStream},
    http::{HeaderMap, Request, StatusCode},
    response::Response,
};
use futures_util::StreamExt;
use serde_json::{Value, json};
use std::time::Duration;
use tower::ServiceExt;

/// No message is waited for longer.
const PATIENCE: Duration = Duration::from_secs(20);

/// A stream of server-sent events in progress. It ends when it is dropped.
pub struct Streamed {
    pub status: StatusCode,
    pub headers: HeaderMap,
    body: BodyDataStream,
    /// What has come of the next message.
    text: String,
    /// The newest id, of whichever message.
    pub last_id: Option<String>,
}

/// A message of a stream.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    pub event: String,
    pub id: Option<String>,
    pub data: Value,
}

impl TestClient<'_> {
    /// Follows these subscriptions.
    ///
    /// # Panics
    /// Where that is refused.
    pub async fn follow(&self, subscriptions: &Value) -> Streamed {
        match self.try_follow(subscriptions).await {
            Ok(it) => it,
            Err(refused) => panic!("{} {}", refused.status, String::from_utf8_lossy(&refused.body)),
        }
    }

    /// The same, or the refusal.
    ///
    /// # Errors
    /// Any answer but a stream.
    pub async fn try_follow(&self, subscriptions: &Value) -> Result<Streamed, Reply> {
        let body = json!({ "subscriptions": subscriptions }).to_string();
        let request = Request::post("/_api/realtime/v1/stream").header("host", "localhost");
        let request = request.header("content-type", "application/json").header("authorization", &self.token);
        let response = self.service().oneshot(request.body(Body::from(body)).unwrap()).await.unwrap();
        match response.status() {
            StatusCode::OK => Ok(Streamed::of(response)),
            _ => Err(Reply::of(response).await),
        }
    }
}

impl Streamed {
    fn of(response: Response) -> Self {
        let (parts, body) = response.into_parts();
        let (status, headers, body) = (parts.status, parts.headers, body.into_data_stream());
        Self { status, headers, body, text: String::new(), last_id: None }
    }

    /// The next message that has a name; nothing when the stream is over.
    ///
    /// # Panics
    /// Where none comes for twenty seconds.
    pub async fn next(&mut self) -> Option<Message> {
        match tokio::time::timeout(PATIENCE, self.read()).await {
            Ok(it) => it,
            Err(_) => panic!("no message came"),
        }
    }

    /// The next message, its name and its data.
    ///
    /// # Panics
    /// Where the stream is over, or none comes.
    pub async fn told(&mut self) -> (String, Value) {
        match self.next().await {
            Some(it) => (it.event, it.data),
            None => panic!("the stream is over"),
        }
    }

    /// Whether nothing comes for this long.
    pub async fn is_quiet(&mut self, time: Duration) -> bool {
        tokio::time::timeout(time, self.read()).await.is_err()
    }

    /// All that is still to come, up to the end of the stream.
    pub async fn rest(&mut self) -> Vec<Message> {
        let mut all = Vec::new();
        while let Some(it) = self.next().await {
            all.push(it);
        }
        all
    }

    async fn read(&mut self) -> Option<Message> {
        loop {
            while let Some((message, rest)) = self.text.split_once("\n\n") {
                let (message, rest) = (message.to_owned(), rest.to_owned());
                self.text = rest;
                if let Some(it) = self.parse(&message) {
                    return Some(it);
                }
            }
            let piece = self.body.next().await?.unwrap();
            self.text.push_str(std::str::from_utf8(&piece).unwrap());
        }
    }

    fn parse(&mut self, message: &str) -> Option<Message> {
        let field = |name: &str| message.lines().find_map(|it| it.strip_prefix(name)).map(str::to_owned);
        let id = field("id: ");
        if id.is_some() {
            self.last_id.clone_from(&id);
        }
        let (event, data) = (field("event: ")?, field("data: ")?);
        Some(Message { event, id, data: serde_json::from_str(&data).unwrap() })
    }
}
