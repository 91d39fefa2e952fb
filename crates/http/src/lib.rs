//! HTTP: every route, every alias, and what turns a request into a `Caller` and a `Fault` into JSON.
//!
//! No rule of the product lives here. A handler extracts, calls one operation of `identity` or
//! `content`, and answers. This is the only room that knows both of them.

mod aliases;
mod app;
pub mod apps;
mod authority;
pub mod body;
pub mod content;
mod edge;
mod encoding;
mod endpoint;
mod exchange;
pub mod extract;
mod graphql;
mod graphql_state;
pub mod identity;
mod limits;
pub mod metrics;
pub mod openapi;
mod opening;
pub mod problem;
mod router;
mod routes;
mod settings;
mod site;
mod subject;
mod tag;
pub mod traffic;
mod webhooks;
mod welcome;

pub use app::App;
pub use edge::{REQUESTS, service};
pub use exchange::ExchangeLog;
pub use extract::{Call, RequestInfo};
pub use graphql_state::Graphql;
pub use limits::HttpLimits;
pub use opening::Opening;
pub use problem::Problem;
pub use router::{document, operations};
pub use settings::Settings;
pub use stoa_graphql::GraphqlLimits;
pub use subject::Subject;
pub use webhooks::waiting::Waiting;
