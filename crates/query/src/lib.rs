//! The language of content: from the JSON of a request to SQL for either engine. Pure: no I/O, no clock.
//!
//! ```text
//! request ── wire ──▶ Query ── resolve ──▶ Find ── compile ──▶ (text, parameters)
//!                        schema, scope ─────┘
//! ```
//!
//! **Reading.** Each step is one call:
//! ```
//! # fn main() -> stoa_kernel::Result<()> {
//! # let body = serde_json::json!({"query": {"filter": {"population": {"$gt": 100000}}, "fields": ["name"]}});
//! # let request = body.as_object().unwrap();
//! # let schema = stoa_query::Schema::default();
//! # let (dialect, table) = (&stoa_sql::Sqlite, stoa_sql::Table { site: 1, number: 7 });
//! use stoa_query::{Context, QueryLimits, Scope, compile, resolve, wire};
//!
//! let query = wire::Query::parse(request, &QueryLimits::default())?;
//! let context = Context { schema: &schema, scope: Scope::OwnedBy("m1".to_owned()), seed: 0 };
//! let plan = resolve::find(&query, context)?;
//! let (text, params) = compile::find(dialect, table, &plan);
//! // Rows are `id, doc`; there are plan.window.limit + 1 of them if another page follows. Where the
//! // plan pages by cursor (plan::Start), the keyset values of plan::Position come after them.
//! let row = r#"{"_id":"1","name":"Ulm","country":"DE"}"#;
//! assert_eq!(stoa_query::item::project(row, &plan.projection), r#"{"_id":"1","name":"Ulm"}"#);
//! // For returnTotalCount:
//! let (text, params) = compile::count(dialect, table, &plan.count());
//! # Ok(())
//! # }
//! ```
//! `wire::Filter::parse_member` + [`resolve::count`] + [`compile::count`] count; `wire::Distinct` and its
//! namesakes list different values.
//!
//! **Indexes.** [`Schema::indexes`](schema::IndexSpec) are those that may serve; they change the way to an
//! answer and never the answer. [`compile::index`] and [`compile::drop_index`] write the statements that
//! make and remove one.
//!
//! **Writing.** `item::canonical(text, limits)?` reads an item's `data` once; `.document(Stamp { … })?` gives the
//! text to store, which is also the text to answer. A condition is a filter on its own:
//! `resolve::filter(&wire::Filter::parse(json, limits)?, &schema)?`, appended to an `update` or `delete` by
//! [`compile::condition`].
//!
//! **Aggregation.** [`resolve::pipeline`] and [`resolve::aggregate`] give a [`stages::Pipeline`], and
//! [`pipeline::Run`] takes documents and gives results.
//!
//! **In memory.** [`matches()`] and [`order::compare`] give the same answers for documents at hand.

pub mod compile;
pub mod item;
mod limits;
mod matches;
pub mod order;
pub mod pipeline;
pub mod plan;
pub mod resolve;
pub mod schema;
pub mod stages;
pub mod wire;

pub use item::{CanonicalItem, RawId, Stamp, canonical, project};
pub use limits::QueryLimits;
pub use matches::matches;
pub use plan::{Filter, Projection, Scope};
pub use resolve::Context;
pub use schema::{Kind, Links, Schema};
