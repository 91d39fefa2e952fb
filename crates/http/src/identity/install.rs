//! The installer of applications (docs/protocol/identity.md §16.1).
//!
//! `GET /installer/install?redirectUrl=…&appId=…[&state=…]`: [`install`]. It leads to a page on which the owner is
//! asked, which reads what is asked from `POST /_api/account/v1/installs`: [`get`], and sends the answer to
//! `POST /_api/account/v1/installs/decide`: [`decide`].

use super::{
    browser::Visit,
    page::{page, see_other},
    page_call::PageCall,
};
use crate::{App, Problem, body};
use axum::{
    extract::{RawQuery, State},
    http::{HeaderValue, header},
    response::Response,
};
use serde::Deserialize;
use serde_json::json;
use stoa_identity::{
    address_form,
    authorize::{
        install::{InstallAnswer, InstallRequest},
        standard::Parameters,
    },
    browser::Cookies,
};

/// Says that the request was made by our own page.
const HERE: &str = "here";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InstallBody {
    app_id: String,
    redirect_url: String,
    state: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct DecisionBody {
    #[serde(flatten)]
    asked: InstallBody,
    decision: Decision,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum Decision {
    Install,
    Decline,
}

impl InstallBody {
    fn request(&self) -> InstallRequest<'_> {
        InstallRequest { app: &self.app_id, redirect_url: &self.redirect_url, state: self.state.as_deref() }
    }
}

/// `GET /installer/install`: the owner's browser goes to the page that asks.
///
/// The cookie of operators is not sent when a page of another site leads here, so the first
/// answer is a page that leads here itself.
pub(crate) async fn install(
    State(app): State<App>,
    visit: Visit,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let query = Parameters::parse(&query.unwrap_or_default());
    let get = |name: &str| query.get(name).unwrap_or_default();
    let state = query.get("state");
    let mut pairs = vec![("redirectUrl", get("redirectUrl")), ("appId", get("appId"))];
    pairs.extend(state.map(|it| ("state", it)));
    let asked = address_form(pairs.clone());
    pairs.push((HERE, "1"));
    visit.require_client_of_site(&app, get("appId")).await?;
    let path = visit.path(&format!("/installer/install?{}", address_form(pairs)));
    if visit.browser.operator.is_empty() && query.get(HERE).is_none() {
        // The path is percent-encoded: it has neither quotes nor angles.
        let html = format!(
            "<!doctype html><meta charset=\"utf-8\"><title>Installing</title>\
             <meta http-equiv=\"refresh\" content=\"0;url={}\"><p><a href=\"{0}\">Continue</a>",
            path.replace('&', "&amp;")
        );
        return Ok(page(&html, "'none'", &[]));
    }
    let address = format!("{}{path}", visit.info.base_url);
    let request = InstallRequest { app: get("appId"), redirect_url: get("redirectUrl"), state };
    let (url, cookies) = match app.identity.install_open(request, address, &visit.browser).await? {
        InstallAnswer::Ask => (visit.path(&format!("/account/install?{asked}")), Cookies::default()),
        InstallAnswer::SignIn(begun) => (visit.path(&format!("/account/flow/{}", begun.token.expose())), begun.cookies),
    };
    let mut response = see_other(&url);
    visit.write(&cookies, response.headers_mut());
    Ok(response)
}

/// `POST /_api/account/v1/installs` `{appId, redirectUrl, state?}`: what the owner is asked.
pub(crate) async fn get(
    State(app): State<App>,
    PageCall { visit, body: asked }: PageCall<InstallBody>,
) -> Result<Response, Problem> {
    let consent = app.identity.install_consent(asked.request(), &visit.browser).await?;
    let mut shown = consent.to_json();
    shown["site"] = json!(app.identity.site_face(consent.site()).await?);
    Ok(private(body::ok(&shown)))
}

/// `POST /_api/account/v1/installs/decide` `{appId, redirectUrl, state?, decision: INSTALL | DECLINE}` → `{url}`.
pub(crate) async fn decide(
    State(app): State<App>,
    PageCall { visit, body: DecisionBody { asked, decision } }: PageCall<DecisionBody>,
) -> Result<Response, Problem> {
    let agrees = decision == Decision::Install;
    let url = app.identity.install_decide(asked.request(), agrees, &visit.browser).await?;
    Ok(private(body::ok(&json!({ "url": url }))))
}

fn private(mut response: Response) -> Response {
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
