//! A [`Fault`] as the client reads it (docs/protocol/identity.md §12.1, docs/protocol/content.md §14.1).
//!
//! Malformed input has the same form as everything else. The private half of a fault goes to the
//! log, never into the answer.

use axum::{
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use serde_json::{Map, Value, json};
use stoa_kernel::{Code, Fault};

pub struct Problem(pub Fault);

impl From<Fault> for Problem {
    fn from(fault: Fault) -> Self {
        Self(fault)
    }
}

impl From<stoa_store::Error> for Problem {
    fn from(error: stoa_store::Error) -> Self {
        Self(error.into())
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let fault = self.0;
        log(&fault);
        let status = StatusCode::from_u16(fault.code().status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let headers = [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "no-store")];
        let mut response = (status, headers, body(&fault).to_string()).into_response();
        if let Some(seconds) = fault.data().get("retryAfterSeconds").and_then(Value::as_u64) {
            response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
        }
        response
    }
}

/// Records what went wrong with a request, or with one of its items.
pub(crate) fn log(fault: &Fault) {
    match fault.code().status() {
        500.. if !is_of_clients(fault) => {
            tracing::error!(code = fault.code().name(), log = fault.log(), "request failed: {fault}")
        }
        _ => tracing::debug!(code = fault.code().name(), log = fault.log(), "request refused: {fault}"),
    }
}

/// Whether clients bring it about, as often as they like: by asking for what a site doesn't have, or by being so many
/// that they are told when to come back. The line about the request says enough of that.
fn is_of_clients(fault: &Fault) -> bool {
    let is_crowd = fault.log().is_none() && fault.data().contains_key("retryAfterSeconds");
    fault.code() == Code::NotBuilt || is_crowd
}

/// The error body. Content codes stand in the text as well, because callers search it for them.
pub fn body(fault: &Fault) -> Value {
    if fault.code() == Code::Validation {
        return json!({
            "message": fault.message(),
            "details": { "validationError": { "fieldViolations": fault.violations() } },
        });
    }
    let code = fault.code().name();
    let text = match fault.code().is_content() {
        true => format!("{code}: {}", fault.message()),
        false => fault.message().to_owned(),
    };
    let mut data = fault.data().clone();
    let mut details = Map::new();
    if !fault.violations().is_empty() {
        // Where a bulk answer has them, and where clients look that know the other form.
        data.insert("fieldViolations".to_owned(), json!(fault.violations()));
        details.insert("validationError".to_owned(), json!({ "fieldViolations": fault.violations() }));
    }
    details.insert("applicationError".to_owned(), json!({ "code": code, "description": text, "data": data }));
    json!({ "message": text, "details": details })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::Shortage;

    #[test]
    fn refusals_that_clients_bring_about_are_no_failures() {
        assert!(is_of_clients(&Shortage::Server.fault("bodies")));
        assert!(is_of_clients(&Fault::new(Code::NotBuilt)));
        for failure in [Fault::new(Code::Unavailable), Fault::internal("x")] {
            assert!(!is_of_clients(&failure), "{failure}");
        }
        let broken = Fault::new(Code::Unavailable).with("retryAfterSeconds", 5).logged("no answer");
        assert!(!is_of_clients(&broken), "there is something to be told");
    }
}
