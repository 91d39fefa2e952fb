//! Endpoints: what they are, how they are stored, and who manages them.

pub(crate) mod change;
pub(crate) mod manage;
pub(crate) mod row;
pub(crate) mod secret;
pub(crate) mod status;
pub(crate) mod types;
pub(crate) mod wish;

use serde_json::{Value, json};
use stoa_kernel::{ClientId, EndpointId, Millis, Scopes, date::iso_from_millis};

/// Where events are sent, and which.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    pub id: EndpointId,
    /// The application that it is of: a client of the site with a secret.
    pub app: ClientId,
    pub url: String,
    /// Types of events, for example `wix.data.v2.data_item_created`; at least one, in order.
    pub types: Vec<String>,
    /// Of items and indexes only those of these collections; all of them without.
    pub collections: Option<Vec<String>>,
    pub format: Format,
    /// Bytes of a body. An event of more is sent without what its entity holds.
    pub max_bytes: usize,
    /// How long a receiver may take to answer, in milliseconds.
    pub timeout: Millis,
    pub state: EndpointState,
    /// Why it isn't active, or what is missing although it is.
    pub reason: Option<String>,
    /// UTC milliseconds, as all times.
    pub created: Millis,
    pub updated: Millis,
    /// What its maker was held to.
    pub(crate) scopes: Option<Scopes>,
    pub(crate) health: Health,
}

/// How it went lately. Not every success is noted: the times are the least that is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Health {
    /// Since when nothing has arrived, though something was sent.
    pub failing_since: Option<Millis>,
    /// How often it was probed since it failed.
    pub probes: usize,
    pub next_probe: Option<Millis>,
    pub last_success: Option<Millis>,
    pub last_failure: Option<Millis>,
    pub last_error: Option<String>,
    /// When rows of the log were missed, the last time.
    pub gap: Option<Millis>,
}

/// What is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A token (RS256), as the public client takes it; signed with the key of the application.
    Jwt,
    /// `{type, timestamp, data}` as JSON, as Standard Webhooks has it; signed with the secret of the endpoint.
    Standard,
}

/// What becomes of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndpointState {
    /// They are sent.
    Active,
    /// The receiver fails: it is probed from time to time, and goes on where it was.
    Open,
    /// Somebody has said so.
    Paused,
    /// The server gave up, or the receiver asked for it.
    Disabled,
}

impl Format {
    pub(crate) const ALL: [Self; 2] = [Self::Jwt, Self::Standard];

    /// `jwt` or `standard`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Jwt => "jwt",
            Self::Standard => "standard",
        }
    }
}

impl EndpointState {
    pub(crate) const ALL: [Self; 4] = [Self::Active, Self::Open, Self::Paused, Self::Disabled];

    /// `ACTIVE`, `OPEN`, `PAUSED` or `DISABLED`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Active => "ACTIVE",
            Self::Open => "OPEN",
            Self::Paused => "PAUSED",
            Self::Disabled => "DISABLED",
        }
    }

    /// Whether anything is sent, be it a probe.
    pub(crate) fn is_on(self) -> bool {
        matches!(self, Self::Active | Self::Open)
    }
}

/// Of consumers of the log that something is sent for.
pub(crate) const CONSUMERS: &str = "webhook:";
const CONSUMERS_OFF: &str = "webhook-off:";

/// The consumer of the log that an endpoint is.
pub(crate) fn consumer(id: &EndpointId, is_on: bool) -> String {
    format!("{}{id}", if is_on { CONSUMERS } else { CONSUMERS_OFF })
}

impl Endpoint {
    pub(crate) fn consumer(&self) -> String {
        consumer(&self.id, self.state.is_on())
    }

    /// As it is shown to those who manage it: the members of [`EndpointWish`](crate::EndpointWish) and `id`, `state`,
    /// `reason`, and times as ISO 8601 texts. Without secrets.
    pub fn to_json(&self) -> Value {
        let time = |it: Option<Millis>| it.map(iso_from_millis);
        let mut view = json!({
            "id": self.id,
            "appId": self.app,
            "url": self.url,
            "types": self.types,
            "environment": "LIVE",
            "format": self.format.as_str(),
            "maxBytes": self.max_bytes,
            "timeoutMs": self.timeout,
            "state": self.state.as_str(),
            "createdDate": iso_from_millis(self.created),
            "updatedDate": iso_from_millis(self.updated),
        });
        let Health { failing_since, next_probe, last_success, last_failure, last_error, gap, .. } = &self.health;
        let optional = [
            ("collections", self.collections.as_ref().map(|it| json!(it))),
            ("reason", self.reason.as_ref().map(|it| json!(it))),
            ("failingSince", time(*failing_since).map(Value::from)),
            ("nextAttempt", time(*next_probe).map(Value::from)),
            ("lastSuccess", time(*last_success).map(Value::from)),
            ("lastFailure", time(*last_failure).map(Value::from)),
            ("lastError", last_error.as_ref().map(|it| json!(it))),
            ("missedBefore", time(*gap).map(Value::from)),
        ];
        for (name, value) in optional {
            if let Some(value) = value {
                view[name] = value;
            }
        }
        view
    }
}
