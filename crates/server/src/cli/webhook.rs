//! `stoa webhook …`

use super::choice::SiteChoice;
use clap::{Args, Subcommand, ValueEnum};
use serde::{Deserialize, Serialize};

#[derive(Debug, Args, Serialize, Deserialize)]
pub struct Webhook {
    #[command(flatten)]
    pub site: SiteChoice,
    #[command(subcommand)]
    pub verb: WebhookVerb,
}

#[derive(Debug, Subcommand, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum WebhookVerb {
    /// Make an endpoint: from now on its application is told of what happens
    #[command(after_help = "Examples:\n  \
        stoa webhook create --url https://app.example.org/webhook --types data_item_created,data_item_deleted\n  \
        stoa webhook create --app Billing --url https://app.example.org/members --types member_created --format standard")]
    Create(NewEndpoint),
    /// List the endpoints of the site, and how far each is behind
    #[command(after_help = "Examples:\n  stoa webhook list\n  stoa webhook list --site Mine --json")]
    List,
    /// Show an endpoint
    #[command(after_help = "Examples:\n  stoa webhook show w1\n  stoa webhook show w1 --json")]
    Show {
        /// Id of the endpoint, from `stoa webhook list`
        id: String,
    },
    /// Change an endpoint; what isn't named stays
    #[command(after_help = "Examples:\n  stoa webhook update w1 --url https://app.example.org/hooks\n  \
                            stoa webhook update w1 --types data_item_created --all-collections")]
    Update(EndpointUpdate),
    /// Delete an endpoint, with all that waits for it
    #[command(after_help = "Examples:\n  stoa webhook delete w1\n  stoa webhook delete w1 --site Mine --json")]
    Delete {
        /// Id of the endpoint, from `stoa webhook list`
        id: String,
    },
    /// Send nothing until `resume`; what happens meanwhile waits
    #[command(after_help = "Examples:\n  stoa webhook pause w1\n  stoa webhook pause w1 --site Mine --json")]
    Pause {
        /// Id of the endpoint, from `stoa webhook list`
        id: String,
    },
    /// Go on sending, where it stopped: after `pause`, and after the server disabled the endpoint
    #[command(after_help = "Examples:\n  stoa webhook resume w1\n  stoa webhook resume w1 --from-now")]
    Resume {
        /// Id of the endpoint, from `stoa webhook list`
        id: String,
        /// Begin with what happens from now on, and never send what has waited
        #[arg(long)]
        from_now: bool,
    },
    /// Send again what the log still has, one event, or what was given up
    #[command(after_help = "Examples:\n  stoa webhook replay w1 --since 2026-11-25T10:00:00Z --types data_item_created\n  \
                            stoa webhook replay w1 --dead")]
    Replay(ReplayChoice),
    /// Send one signed message now and show what the receiver answers
    #[command(after_help = "Examples:\n  stoa webhook test w1\n  stoa webhook test w1 --json")]
    Test {
        /// Id of the endpoint, from `stoa webhook list`
        id: String,
    },
    /// List events that the receiver refused, and those that wait behind them
    #[command(after_help = "Examples:\n  stoa webhook events w1\n  stoa webhook events w1 --state dead --limit 10")]
    Events {
        /// Id of the endpoint, from `stoa webhook list`
        id: String,
        /// Which events
        #[arg(long, value_enum, default_value_t = EventState::Parked)]
        state: EventState,
        /// How many at most
        #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=100))]
        limit: u32,
        /// Where the list before ended: its `next`
        #[arg(long, value_name = "NEXT")]
        after: Option<String>,
    },
    /// List the types of event that an endpoint can name
    #[command(after_help = "Examples:\n  stoa webhook types\n  stoa webhook types --json")]
    Types,
    /// Make another secret; the one before it signs as well for a day, so that a receiver has time to change
    #[command(
        after_help = "Examples:\n  stoa webhook rotate-secret w1\n  stoa webhook rotate-secret w1 --site Mine --json"
    )]
    RotateSecret {
        /// Id of the endpoint, from `stoa webhook list`
        id: String,
    },
    /// Send events to a receiver on this machine as they happen, signed as an endpoint would send them
    ///
    /// The messages are posted by this command: no address of this machine has to be reachable from elsewhere, and no
    /// endpoint is made. It goes on until Ctrl-C.
    #[command(after_help = "Examples:\n  stoa webhook listen --forward http://localhost:3000/webhook\n  \
        stoa webhook listen --forward http://localhost:3000/webhook --app 1f0c --url https://www.example.org --api-key k1.secret")]
    Listen(Listen),
    /// One look of `listen`, inside the server.
    #[command(skip)]
    Pull(PullOrder),
}

#[derive(Debug, Args, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NewEndpoint {
    /// Address that messages are posted to: https, and public unless the server's configuration allows it
    #[arg(long)]
    pub url: String,
    /// Types of event, with commas between them: whole names, or their last part (`data_item_created`); see `stoa
    /// webhook types`
    #[arg(long, value_name = "TYPE", value_delimiter = ',', required = true)]
    pub types: Vec<String>,
    /// Collections whose items it is told of, with commas between them [default: all]
    #[arg(long, value_name = "COLLECTION", value_delimiter = ',')]
    pub collections: Vec<String>,
    /// Id or name of the application, a client with a secret; needed only where several could be meant
    #[arg(long, value_name = "APP")]
    pub app: Option<String>,
    /// Form of the messages
    #[arg(long, value_enum, default_value_t = MessageFormat::Jwt)]
    pub format: MessageFormat,
    /// Bytes of a message, at most: what is larger goes without its data [default: 98304]
    #[arg(long, value_name = "BYTES")]
    pub max_bytes: Option<u64>,
    /// Milliseconds that the receiver has for its answer [default: 10000]
    #[arg(long, value_name = "MILLISECONDS")]
    pub timeout_ms: Option<u64>,
}

#[derive(Debug, Args, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EndpointUpdate {
    /// Id of the endpoint, from `stoa webhook list`
    pub id: String,
    /// Another address
    #[arg(long)]
    pub url: Option<String>,
    /// Other types of event, with commas between them
    #[arg(long, value_name = "TYPE", value_delimiter = ',')]
    pub types: Vec<String>,
    /// Other collections, with commas between them
    #[arg(long, value_name = "COLLECTION", value_delimiter = ',')]
    pub collections: Vec<String>,
    /// Items of all collections
    #[arg(long, conflicts_with = "collections")]
    pub all_collections: bool,
    /// Bytes of a message, at most
    #[arg(long, value_name = "BYTES")]
    pub max_bytes: Option<u64>,
    /// Milliseconds that the receiver has for its answer
    #[arg(long, value_name = "MILLISECONDS")]
    pub timeout_ms: Option<u64>,
}

#[derive(Debug, Args, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReplayChoice {
    /// Id of the endpoint, from `stoa webhook list`
    pub id: String,
    /// What happened since this time (ISO 8601, UTC), as far back as the log reaches
    #[arg(long, value_name = "TIME", required_unless_present_any = ["event", "dead"], conflicts_with_all = ["event", "dead"])]
    pub since: Option<String>,
    /// With --since: these types alone, with commas between them
    #[arg(long, value_name = "TYPE", value_delimiter = ',', requires = "since")]
    pub types: Vec<String>,
    /// With --since: the item or other entity of this id alone
    #[arg(long, value_name = "ID", requires = "since")]
    pub entity: Option<String>,
    /// One event, by its id
    #[arg(long, value_name = "ID", conflicts_with = "dead")]
    pub event: Option<String>,
    /// All events that were given up
    #[arg(long)]
    pub dead: bool,
}

#[derive(Debug, Args, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Listen {
    /// Where messages are posted to
    #[arg(long, value_name = "URL")]
    pub forward: String,
    /// Types of event, with commas between them [default: all]
    #[arg(long, value_name = "TYPE", value_delimiter = ',')]
    pub types: Vec<String>,
    /// Collections whose items it is told of, with commas between them [default: all]
    #[arg(long, value_name = "COLLECTION", value_delimiter = ',')]
    pub collections: Vec<String>,
    /// Id or name of the application whose key signs; needed where several could be meant, and by its id with --url
    #[arg(long, value_name = "APP")]
    pub app: Option<String>,
    /// Form of the messages
    #[arg(long, value_enum, default_value_t = MessageFormat::Jwt)]
    pub format: MessageFormat,
    /// Secret of the messages' signatures, `whsec_` and bytes in base64 [default: a new one, which is shown]
    #[serde(skip)]
    #[arg(long, env = "STOA_WEBHOOK_SECRET", hide_env_values = true)]
    pub secret: Option<String>,
    /// Take the events of a running server elsewhere
    #[arg(long, requires = "api_key")]
    pub url: Option<String>,
    /// API key for --url
    #[serde(skip)]
    #[arg(long, env = "STOA_API_KEY", hide_env_values = true)]
    pub api_key: Option<String>,
}

/// What `listen` asks of the server, time after time: the body of `POST /_api/webhooks/v1/pull`, with an application by
/// its name too.
#[derive(Debug, Serialize, Deserialize)]
pub struct PullOrder {
    pub app: Option<String>,
    pub body: serde_json::Value,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum MessageFormat {
    /// A token signed with the application's key, as the public client takes it
    Jwt,
    /// JSON with a signature in headers, as Standard Webhooks describes it
    Standard,
}

impl MessageFormat {
    /// As the interface has it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Jwt => "jwt",
            Self::Standard => "standard",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum EventState {
    /// Refused, and tried again later
    Parked,
    /// Waiting behind a parked one of the same item
    Held,
    /// Given up after two days
    Dead,
}

impl From<EventState> for stoa_webhooks::EventState {
    fn from(state: EventState) -> Self {
        match state {
            EventState::Parked => Self::Parked,
            EventState::Held => Self::Held,
            EventState::Dead => Self::Dead,
        }
    }
}
