//! A call of the members API, however its client sends it: what it names stands in the path, in flat or
//! dotted query pairs, in `.r` (JSON in base64url) or in the body (docs/protocol/identity.md §3).

use crate::{App, Call, Problem, body, body::Json};
use axum::{
    extract::{FromRequest, FromRequestParts, RawPathParams, Request},
    http::Method,
    response::Response,
};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::{Map, Value};
use std::sync::Arc;
use stoa_kernel::{
    Caller, Code, Fault, Faults, Network, Result, UserId, Violation,
    json::{self, Budget},
};
use stoa_store::Site;

/// The answer of a handler.
pub(crate) type Answer = Result<Response, Problem>;

/// Query pairs that are read.
const PAIRS: usize = 1_000;
/// Values in `.r`.
const QUERY_VALUES: usize = 4_096;

/// A call of the members API.
pub(crate) struct ApiCall {
    pub(crate) site: Arc<Site>,
    pub(crate) caller: Caller,
    /// The owner of the site who acts as the caller.
    pub(crate) impersonator: Option<UserId>,
    /// Where it comes from.
    pub(crate) network: Network,
    /// The path of the route, with the names of what the request's path names.
    pub(crate) route: &'static str,
    /// What the path names, when it names something.
    pub(crate) id: String,
    /// Query and body as one object.
    pub(crate) data: Value,
}

impl FromRequest<App> for ApiCall {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        let (mut parts, body) = request.into_parts();
        let call = Call::from_request_parts(&mut parts, app).await?;
        let path = RawPathParams::from_request_parts(&mut parts, app).await;
        let path = path.map_err(|it| Fault::new(Code::NotFound).logged(it))?;
        let id = path.iter().next().map(|it| it.1.to_owned()).unwrap_or_default();
        if id.contains('\0') {
            return Err(Fault::because(Code::NotFound, "no id holds U+0000").into());
        }
        let mut data = query(parts.uri.query().unwrap_or_default())?;
        if !matches!(parts.method, Method::GET | Method::HEAD) {
            let Json(sent) = Json::from_request(Request::from_parts(parts, body), app).await?;
            match sent {
                Value::Object(sent) => data.extend(sent),
                _ => return Err(invalid("", "an object is expected").into()),
            }
        }
        let Call { site, caller, impersonator, route, network, .. } = call;
        Ok(Self { site, caller, impersonator, network, route, id, data: Value::Object(data) })
    }
}

impl ApiCall {
    /// A string by its name; empty when it is missing or not a string.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.data[name].as_str().unwrap_or_default()
    }

    /// Keeps nothing more of query and body: for a call that has read them and waits for a hash.
    pub(crate) fn forget_data(&mut self) {
        self.data = Value::Null;
    }

    /// The list of strings of this name; one string counts as a list of one.
    ///
    /// # Errors
    /// [`Code::Validation`].
    pub(crate) fn strings(&self, name: &str) -> Result<Vec<String>> {
        strings(&self.data[name], name)
    }

    /// A page: limit and offset of `paging`, in any of its positions.
    ///
    /// # Errors
    /// [`Code::Validation`].
    pub(crate) fn page(&self, most: u32) -> Result<(u32, u32)> {
        let paging = self.paging();
        let (limit, offset) = Faults::both(number(paging, "limit", 50), number(paging, "offset", 0))?;
        Ok((limit.min(most), offset))
    }

    /// A page: limit and cursor.
    ///
    /// # Errors
    /// [`Code::Validation`].
    pub(crate) fn cursor_page(&self, most: u32) -> Result<(u32, &str)> {
        let paging = self.paging();
        let cursor = paging.get("cursor").and_then(Value::as_str).unwrap_or_default();
        Ok((number(paging, "limit", 50)?.clamp(1, most), cursor))
    }

    fn paging(&self) -> &Value {
        let query = &self.data["query"];
        let candidates = [&query["cursorPaging"], &query["paging"], &self.data["cursorPaging"], &self.data["paging"]];
        candidates.into_iter().find(|it| it.is_object()).unwrap_or(&Value::Null)
    }

    /// The filter of a query, in any of its positions; null when there is none.
    pub(crate) fn filter(&self) -> &Value {
        let candidates = [&self.data["query"]["filter"], &self.data["filter"]];
        candidates.into_iter().find(|it| !it.is_null()).unwrap_or(&Value::Null)
    }

    /// Whether a page by cursor is asked for.
    pub(crate) fn wants_cursor(&self) -> bool {
        self.data["query"]["cursorPaging"].is_object() || self.data["cursorPaging"].is_object()
    }
}

/// The answer `{name: value}`.
pub(crate) fn answer(name: &str, value: impl Into<Value>) -> Answer {
    let mut object = Map::new();
    object.insert(name.to_owned(), value.into());
    Ok(body::ok(&Value::Object(object)))
}

/// The answer `{}`.
pub(crate) fn done() -> Answer {
    Ok(body::ok(&Value::Object(Map::new())))
}

pub(crate) fn invalid(field: &str, why: &str) -> Fault {
    Fault::invalid(vec![Violation::new(field, "FORMAT", why)])
}

pub(crate) fn strings(value: &Value, field: &str) -> Result<Vec<String>> {
    match value {
        Value::Null => Ok(Vec::new()),
        Value::String(text) => Ok(vec![text.clone()]),
        Value::Array(list) => list
            .iter()
            .map(|it| it.as_str().map(str::to_owned).ok_or_else(|| invalid(field, "a list of texts is expected")))
            .collect(),
        _ => Err(invalid(field, "a list of texts is expected")),
    }
}

fn number(paging: &Value, name: &str, usual: u32) -> Result<u32> {
    let value = match &paging[name] {
        Value::Null => return Ok(usual),
        Value::String(text) => text.parse().ok(),
        value => value.as_u64().and_then(|it| u32::try_from(it).ok()),
    };
    value.ok_or_else(|| invalid(&format!("query.paging.{name}"), "a whole number is expected"))
}

/// Dotted names become nested objects, repeated ones lists.
fn query(text: &str) -> Result<Map<String, Value>> {
    let mut data = Map::new();
    for (name, value) in url::form_urlencoded::parse(text.as_bytes()).take(PAIRS) {
        if name == ".r" {
            let bytes = URL_SAFE_NO_PAD.decode(value.trim_end_matches('=')).ok();
            match bytes.and_then(|it| json::parse(&it, &Budget::of(QUERY_VALUES)).ok()) {
                Some(Value::Object(inner)) => data.extend(inner),
                _ => return Err(invalid(".r", "base64url of a JSON object is expected")),
            }
            continue;
        }
        let names: Vec<&str> = name.split('.').take(8).collect();
        insert(&mut data, &names, value.into_owned());
    }
    Ok(data)
}

fn insert(data: &mut Map<String, Value>, names: &[&str], value: String) {
    let [name, rest @ ..] = names else { return };
    let slot = data.entry(*name).or_insert(Value::Null);
    if !rest.is_empty() {
        if !slot.is_object() {
            *slot = Value::Object(Map::new());
        }
        if let Value::Object(inner) = slot {
            insert(inner, rest, value);
        }
        return;
    }
    *slot = match slot.take() {
        Value::Null => Value::String(value),
        Value::Array(mut list) => {
            list.push(Value::String(value));
            Value::Array(list)
        }
        first => Value::Array(vec![first, Value::String(value)]),
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn queries_in_every_form() {
        let read = |text: &str| query(text).map(Value::Object).ok();
        assert_eq!(read("a=1&b.c=2&b.d=3"), Some(json!({ "a": "1", "b": { "c": "2", "d": "3" } })));
        assert_eq!(read("a=1&a=2&a=3"), Some(json!({ "a": ["1", "2", "3"] })));
        assert_eq!(read(".r=eyJhIjpbMV19"), Some(json!({ "a": [1] })));
        assert_eq!(read(".r=%25"), None);
    }
}
