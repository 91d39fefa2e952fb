//! The authorize address, and how an authorization travels back (docs/protocol/identity.md §5.3).
//!
//! `GET /oauth2/authorize` (alias `/_api/oauth2/authorize`): [`authorize`].

use super::{
    browser::Visit,
    page::{page, see_other},
};
use crate::{App, Problem};
use axum::{
    extract::{RawQuery, State},
    response::Response,
};
use serde_json::json;
use std::sync::Arc;
use stoa_identity::{
    authorize::{Authorized, standard::Parameters},
    browser::{Change, Cookies},
    oauth::{AuthorizeAnswer, Delivery},
    token::Kind,
};
use stoa_kernel::{Code, Fault, Result};
use stoa_store::Site;

/// `GET /oauth2/authorize`: `?session=…` of a redirect session, or a standard authorization request.
pub(crate) async fn authorize(
    State(app): State<App>,
    visit: Visit,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let query = Parameters::parse(&query.unwrap_or_default());
    let session = query.get("session");
    if let Err(fault) = check_site(&app, &visit, &query).await {
        return visit.refuse(fault, None);
    }
    let authorized = async {
        match session {
            Some(token) => {
                let site = site_of(&app, token).await?;
                app.identity.redirect_session_open(&site, token, &visit.browser, &visit.navigation).await
            }
            None => app.identity.authorize_standard(&query, &visit.browser, &visit.navigation).await,
        }
    };
    match (authorized.await, session) {
        (Ok(authorized), _) => Ok(answer(&app, &visit, authorized)),
        (Err(fault), Some(token)) => {
            let client = app.identity.client_of_token(Kind::Redirect, token).await?;
            visit.refuse(fault, client.as_ref())
        }
        (Err(fault), None) => visit.refuse(fault, None),
    }
}

/// Lets pass what the site of the address has to do with: its own clients and redirect sessions.
///
/// # Errors
/// [`Code::ClientUnknown`]; [`Code::LinkInvalid`].
async fn check_site(app: &App, visit: &Visit, query: &Parameters) -> Result<()> {
    match (&visit.info.site, query.get("session"), query.get("client_id")) {
        (Some(_), Some(token), _) => visit.require_site(&site_of(app, token).await?.id, Code::LinkInvalid),
        (Some(_), None, Some(client)) => visit.require_client_of_site(app, client).await,
        _ => Ok(()),
    }
}

async fn site_of(app: &App, token: &str) -> Result<Arc<Site>> {
    app.identity.site_of(Kind::Redirect, token).await.map_err(|_| Fault::new(Code::LinkInvalid))
}

/// An [`Authorized`] as a browser reads it: 303, or a page that needs nothing else.
pub(crate) fn answer(app: &App, visit: &Visit, authorized: Authorized) -> Response {
    let session = authorized.session.map_or(Change::Keep, Change::Set);
    let mut cookies = Cookies { session, device: authorized.device, ..Cookies::default() };
    let mut response = match authorized.answer {
        AuthorizeAnswer::Deliver(Delivery::Redirect(url)) => see_other(&url),
        AuthorizeAnswer::Deliver(Delivery::Message { origin, code, state, error }) => {
            let message = match (code, error) {
                (Some(code), _) => json!({ "code": code, "state": state }),
                (None, error) => {
                    let (name, description) = error.unwrap_or_default();
                    json!({ "error": name, "error_description": description, "state": state })
                }
            };
            message_page(&app.world.token::<16>(), &origin, &message)
        }
        AuthorizeAnswer::Flow(begun) => {
            cookies = begun.cookies;
            match begun.onward {
                Some(url) => see_other(&url),
                None => see_other(&visit.path(&format!("/account/flow/{}", begun.token.expose()))),
            }
        }
        AuthorizeAnswer::Blank { origins } => {
            page("<!doctype html><meta charset=\"utf-8\"><title>Ready</title>", "'none'", &origins)
        }
        AuthorizeAnswer::SignedOut { url, session } => {
            cookies.session = session;
            see_other(&url)
        }
    };
    visit.write(&cookies, response.headers_mut());
    response
}

/// A page that hands a message to the window that waits for it, and to no other origin.
fn message_page(nonce: &str, origin: &str, message: &serde_json::Value) -> Response {
    let (message, target) = (script_json(message), script_json(&json!(origin)));
    let html = format!(
        "<!doctype html><meta charset=\"utf-8\"><title>Signing in</title><script nonce=\"{nonce}\">\
         (function(){{var w=window.parent!==window?window.parent:window.opener;\
         if(w)w.postMessage({message},{target})}})()</script>"
    );
    page(&html, &format!("'nonce-{nonce}'"), &[origin.to_owned()])
}

/// JSON that can stand inside a script element.
pub(super) fn script_json(value: &serde_json::Value) -> String {
    let text = value.to_string();
    text.replace('<', "\\u003c").replace('>', "\\u003e").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_can_not_leave_its_script() {
        let text = script_json(&json!({ "state": "</script><script>alert(1)//\u{2028}" }));
        assert!(!text.contains('<') && !text.contains('>') && !text.contains('\u{2028}'));
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&text).expect("still JSON")["state"],
            "</script><script>alert(1)//\u{2028}"
        );
    }
}
