//! The installer of applications (docs/protocol/identity.md §16.1).
//!
//! `GET /installer/install?redirectUrl=…&appId=…[&state=…]`: [`install`].

use super::{
    browser::Visit,
    page::{page, see_other},
};
use crate::{App, Problem};
use axum::{
    extract::{RawQuery, State},
    response::Response,
};
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

/// `GET /installer/install`: the owner's browser goes to the application with a code.
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
    pairs.push((HERE, "1"));
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
    let installing = InstallRequest { app: get("appId"), redirect_url: get("redirectUrl"), state, address };
    let (url, cookies) = match app.identity.install(installing, &visit.browser).await? {
        InstallAnswer::Redirect(url) => (url, Cookies::default()),
        InstallAnswer::SignIn(begun) => (visit.path(&format!("/account/flow/{}", begun.token.expose())), begun.cookies),
    };
    let mut response = see_other(&url);
    visit.write(&cookies, response.headers_mut());
    Ok(response)
}
