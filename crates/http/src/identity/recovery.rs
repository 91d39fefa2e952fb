//! Recovery of an account (docs/protocol/identity.md §8).
//!
//! `POST /v1/send-email`: [`send_email`]. `POST /v1/activation-email`: [`activation_email`].
//! `POST /v1/recover`: [`recover`]. `GET /_api/account/v1/recover`: [`open`].

use super::{
    authentication::{answered, origin},
    browser::Visit,
    page::{page_of, see_other},
};
use crate::{App, Call, Problem, RequestInfo, body, body::Json};
use axum::{
    extract::{RawQuery, State},
    response::Response,
};
use serde_json::json;
use stoa_identity::{
    authorize::standard::Parameters,
    token::{Kind, site_number},
};
use stoa_kernel::{Code, Fault, Secret, Violation};

/// `POST /v1/send-email`: answers alike whether or not the address is known.
pub(crate) async fn send_email(
    State(app): State<App>,
    call: Call,
    info: RequestInfo,
    Json(body): Json,
) -> Result<Response, Problem> {
    app.identity.recovery_send(&call.site, &call.caller, info.address, &body).await?;
    Ok(body::ok(&json!({})))
}

/// `POST /v1/activation-email`: apps and owners only.
pub(crate) async fn activation_email(
    State(app): State<App>,
    call: Call,
    Json(body): Json,
) -> Result<Response, Problem> {
    app.identity.activation_send(&call.site, &call.caller, &body).await?;
    Ok(body::ok(&json!({})))
}

/// `POST /v1/recover`.
pub(crate) async fn recover(
    State(app): State<App>,
    call: Call,
    info: RequestInfo,
    Json(body): Json,
) -> Result<Response, Problem> {
    let given = |name: &str| body[name].as_str().filter(|it| !it.is_empty());
    let (Some(link), Some(password)) = (given("recoveryToken"), given("password")) else {
        let missing = ["recoveryToken", "password"].into_iter().filter(|it| given(it).is_none());
        let violations = missing.map(|it| Violation::new(it, "REQUIRED_FIELD", "is required")).collect();
        return Err(Fault::invalid(violations).into());
    };
    let (link, password) = (link.to_owned(), Secret::new(password));
    drop(body);
    let outcome = app.identity.recovery_finish(&call.site, &link, &password, origin(&call.caller, &info)).await?;
    answered(&app, &call.site, &info, outcome).await
}

/// `GET /_api/account/v1/recover?token=…`: the link of the message. It opens the page on which the new
/// password is chosen and uses nothing up, so that a mail program may look at it first.
pub(crate) async fn open(State(app): State<App>, visit: Visit, RawQuery(query): RawQuery) -> Result<Response, Problem> {
    let query = Parameters::parse(&query.unwrap_or_default());
    let token = query.get("token").unwrap_or_default();
    let is_of_operator = site_number(Kind::OperatorLink, token).is_some();
    let kind = if is_of_operator { Kind::OperatorLink } else { Kind::Link };
    let begun = async {
        let site = app.identity.site_of(kind, token).await?;
        app.identity.recovery_open(&site, token, &visit.browser).await
    };
    match begun.await {
        Ok(begun) => {
            let mut response = see_other(&visit.path(&format!("/account/flow/{}", begun.token.expose())));
            visit.write(&begun.cookies, response.headers_mut());
            Ok(response)
        }
        // The page says that the link is over and asks for the address to which another is sent.
        Err(fault) if matches!(fault.code(), Code::LinkInvalid | Code::SiteUnknown) => {
            let client = app.identity.client_of_token(kind, token).await?;
            let page = if is_of_operator { "/account/owner?over=link" } else { "/account/recover?over=link" };
            Ok(see_other(&page_of(&visit.path(page), client.as_ref())))
        }
        Err(fault) => Err(fault.into()),
    }
}
