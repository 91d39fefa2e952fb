//! What somebody asks to follow.

use crate::limits::ContentLimits;
use serde_json::{Map, Value, json};
use stoa_kernel::{Code, Fault, Result, Violation};
use stoa_query::wire::Query;

/// Items of a collection that somebody asks to follow: those that match a filter, some of their fields, and which of
/// them come first. Read, and not yet compared with a collection.
#[derive(Debug, Clone)]
pub struct FeedRequest {
    pub collection: String,
    pub(crate) query: Query,
}

impl FeedRequest {
    /// Reads `dataCollectionId`, `filter`, `fields`, `sort` and `limit` of a subscription, which is at this path in its
    /// request.
    ///
    /// # Errors
    /// WDE0001 and what makes a query invalid: all that is wrong, each with its path.
    pub fn parse(subscription: &Map<String, Value>, path: &str, limits: &ContentLimits) -> Result<Self> {
        let collection = match subscription.get("dataCollectionId") {
            Some(Value::String(it)) => Ok(it.clone()),
            _ => {
                let fault = Fault::new(Code::CollectionNotText);
                let text = fault.message().to_owned();
                Err(fault.violating(vec![Violation::new(format!("{path}.dataCollectionId"), "FORMAT", text)]))
            }
        };
        let (collection, query) = stoa_kernel::Faults::both(collection, parse_query(subscription, path, limits))?;
        Ok(Self { collection, query })
    }
}

/// The query that the subscription is, in the form that queries have.
fn parse_query(subscription: &Map<String, Value>, path: &str, limits: &ContentLimits) -> Result<Query> {
    let mut query = Map::new();
    for name in ["filter", "fields", "sort"] {
        if let Some(it) = subscription.get(name) {
            query.insert(name.to_owned(), it.clone());
        }
    }
    if let Some(limit) = subscription.get("limit").filter(|it| !it.is_null()) {
        query.insert("paging".to_owned(), json!({ "limit": limit }));
    }
    let request = Map::from_iter([("query".to_owned(), Value::Object(query))]);
    Query::parse(&request, &limits.query).map_err(|it| moved(it, path))
}

/// A fault of the query, with its paths as the request has them.
fn moved(fault: Fault, path: &str) -> Fault {
    let place = |field: &str| {
        let inner = field.strip_prefix("query.").unwrap_or(field);
        format!("{path}.{}", inner.strip_prefix("paging.").unwrap_or(inner))
    };
    let violations = fault.violations().iter().map(|it| Violation { field: place(&it.field), ..it.clone() });
    let violations = violations.collect();
    fault.violating(violations)
}
