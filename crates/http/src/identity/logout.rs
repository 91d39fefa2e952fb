//! Signing out (docs/protocol/identity.md §5.4): the module's call, and a browser that opens the same address.
//!
//! `GET /v1/logout`: [`logout`].

use super::{authorize::answer, browser::Visit};
use crate::{App, Problem, body, extract::text};
use axum::{
    extract::{RawQuery, State},
    http::HeaderMap,
    response::Response,
};
use serde_json::json;
use stoa_identity::authorize::{logout::LogoutRequest, standard::Parameters};
use stoa_kernel::ClientId;

/// `GET /v1/logout?postLogoutRedirectUri=&clientId=`. With a token: JSON, never a real redirect (trap
/// 17). Without: a browser, which is sent on.
pub(crate) async fn logout(
    State(app): State<App>,
    visit: Visit,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let query = Parameters::parse(&query.unwrap_or_default());
    let client = query.get("clientId").map(ClientId::from);
    let return_url = query.get("postLogoutRedirectUri");
    let request = LogoutRequest { client: client.as_ref(), return_url };
    let authorization = text(&headers, "authorization").filter(|it| !it.is_empty());
    if authorization.is_some() || headers.contains_key("x-wix-bi-gateway") {
        let authenticated = app.identity.authenticate(authorization, text(&headers, "wix-site-id")).await?;
        let site = app.store.site(&authenticated.site).await?;
        let base_url = &visit.info.base_url;
        let url = app.identity.logout(&site, &authenticated.caller, request, base_url).await?;
        return Ok(body::ok(&match url {
            Some(url) => json!({ "statusCode": 302, "headers": [{ "key": "Location", "value": url }] }),
            None => json!({ "statusCode": 200, "headers": [] }),
        }));
    }
    let done = async {
        if let Some(id) = &client {
            visit.require_client_of_site(&app, id.as_str()).await?;
        }
        let site = match &client {
            Some(id) => app.store.site(&app.identity.client_get(id).await?.site).await?,
            None => visit.info.find_site(&app).await?,
        };
        app.identity.logout_open(&site, request, &visit.browser, &visit.navigation).await
    };
    match done.await {
        Ok(done) => Ok(answer(&app, &visit, done)),
        Err(fault) => visit.refuse(fault, None),
    }
}
