//! In whose name a site's messages are sent (decision 57).

use crate::{App, Call, Problem, RequestInfo, body, body::Json};
use axum::{extract::State, response::Response};
use serde_json::{Value, json};
use stoa_identity::mail::{MailSender, SenderChange};
use stoa_kernel::{Fault, Result as Checked, Secret, Violation};

/// `GET /_api/site/v1/mail-sender`.
pub(crate) async fn get(State(app): State<App>, call: Call) -> Result<Response, Problem> {
    Ok(shown(&app.identity.mail_sender(&call.site, &call.caller).await?))
}

/// `PATCH /_api/site/v1/mail-sender` `{mailSender, password?}`.
pub(crate) async fn update(
    State(app): State<App>,
    call: Call,
    info: RequestInfo,
    Json(body): Json,
) -> Result<Response, Problem> {
    // Who may not change it is told so first.
    app.identity.mail_sender(&call.site, &call.caller).await?;
    let (change, password) = (SenderChange::parse(&body)?, password(&body)?);
    let sender = app.identity.mail_sender_update(&call.site, &call.caller, info.address, change, password.as_ref());
    Ok(shown(&sender.await?))
}

fn password(body: &Value) -> Checked<Option<Secret>> {
    match &body["password"] {
        Value::Null => Ok(None),
        Value::String(text) => Ok(Some(Secret::new(text.as_str()))),
        _ => Err(Fault::invalid(vec![Violation::new("password", "FORMAT", "text is expected")])),
    }
}

fn shown(sender: &MailSender) -> Response {
    body::ok(&json!({ "mailSender": sender }))
}
