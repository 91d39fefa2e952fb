//! What anyone may know about the site and the server: health, readiness, public settings.

use crate::{App, Problem, RequestInfo, body};
use axum::{
    body::Body,
    extract::State,
    http::{HeaderValue, header},
    response::Response,
};
use serde_json::json;
use stoa_kernel::{Code, Fault};

/// `GET /healthz`: the process lives.
pub(crate) async fn health() -> Response {
    body::ok(&json!({ "status": "ok" }))
}

/// `GET /readyz`: the database answers, so requests can be served.
pub(crate) async fn ready(State(app): State<App>) -> Result<Response, Problem> {
    app.store.ping().await.map_err(|it| Fault::new(Code::Unavailable).logged(format!("{it:?}")))?;
    Ok(body::ok(&json!({ "status": "ready" })))
}

/// `GET /robots.txt`: pages may be found, what is behind them is nothing to read.
pub(crate) async fn robots() -> Response {
    const TEXT: &str = "User-agent: *\nDisallow: /account\nDisallow: /_api/\nDisallow: /signed-in\n";
    let mut response = Response::new(Body::from(TEXT));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}

/// `GET /_api/site/v1/public-settings`: what the website under this host name needs to start.
pub(crate) async fn public_settings(State(app): State<App>, info: RequestInfo) -> Result<Response, Problem> {
    let site = info.find_site(&app).await?;
    let client = app.identity.client_list(&site.id).await?.into_iter().find(|it| !it.is_third_party);
    Ok(body::ok(&json!({
        "siteId": site.id,
        "name": site.name(),
        "clientId": client.map(|it| it.id),
        "language": "en",
        "captcha": app.identity.captcha_public(&site).await?,
    })))
}
