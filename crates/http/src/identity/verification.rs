//! E-mailed codes (docs/protocol/identity.md §7).
//!
//! `POST /v1/auth/verify`: [`verify`]. `POST /v1/auth/resend`: [`resend`]. `POST /v1/start` and
//! `/v1/Start`: [`start`].

use super::authentication::{answered, origin};
use crate::{App, Call, Problem, RequestInfo, body, body::Json};
use axum::{extract::State, response::Response};
use serde_json::{Value, json};
use stoa_kernel::{Fault, MemberId, Violation};

/// `POST /v1/auth/verify`.
pub(crate) async fn verify(
    State(app): State<App>,
    call: Call,
    info: RequestInfo,
    Json(body): Json,
) -> Result<Response, Problem> {
    let mut fields = Fields::of(&body);
    let (code, state_token) = (fields.text("code", Some(6)), fields.text("stateToken", None));
    fields.done()?;
    let outcome = app.identity.verification_check(&call.site, state_token, code, origin(&call.caller, &info)).await?;
    answered(&app, &call.site, &info, outcome).await
}

/// `POST /v1/auth/resend`.
pub(crate) async fn resend(State(app): State<App>, call: Call, Json(body): Json) -> Result<Response, Problem> {
    let mut fields = Fields::of(&body);
    let state_token = fields.text("stateToken", None);
    fields.done()?;
    let outcome = app.identity.verification_resend(&call.site, state_token).await?;
    Ok(body::ok(&outcome.to_json()))
}

/// `POST /v1/start`, also spelled `/v1/Start` (trap 25).
pub(crate) async fn start(State(app): State<App>, call: Call, Json(body): Json) -> Result<Response, Problem> {
    let mut fields = Fields::of(&body);
    let id = fields.text("identityId", None);
    if !matches!(&body["target"], Value::Null) && body["target"] != "EMAIL" {
        fields.violations.push(Violation::new("target", "INVALID_ENUM_VALUE", "must be EMAIL"));
    }
    fields.done()?;
    let token = app.identity.verification_start(&call.site, &call.caller, &MemberId::from(id)).await?;
    Ok(body::ok(&json!({ "verificationId": token.expose() })))
}

/// Members of the body, and what is wrong with them.
pub(super) struct Fields<'b> {
    body: &'b Value,
    pub(super) violations: Vec<Violation>,
}

impl<'b> Fields<'b> {
    pub(super) fn of(body: &'b Value) -> Self {
        Self { body, violations: Vec::new() }
    }

    /// Text that must be there, of exactly `length` characters when one is given.
    pub(super) fn text(&mut self, name: &'static str, length: Option<usize>) -> &'b str {
        let violation = match (&self.body[name], length) {
            (Value::String(text), Some(length)) if !text.is_empty() && text.chars().count() != length => {
                Violation::new(name, "EXACT_LENGTH", format!("must be {length} characters"))
            }
            (Value::String(text), _) if text.chars().count() > 1000 => {
                Violation::new(name, "MAX_LENGTH", "must be at most 1000 characters")
            }
            (Value::String(text), _) if !text.is_empty() => return text,
            (Value::Null | Value::String(_), _) => Violation::new(name, "REQUIRED_FIELD", "is required"),
            _ => Violation::new(name, "FORMAT", "must be a string"),
        };
        self.violations.push(violation);
        ""
    }

    pub(super) fn done(self) -> Result<(), Fault> {
        if self.violations.is_empty() { Ok(()) } else { Err(Fault::invalid(self.violations)) }
    }
}
