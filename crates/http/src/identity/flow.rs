//! The flows of the account pages, and the token of an operator of the site.
//!
//! `POST /_api/account/v1/flows`: [`start`]. `GET` and `POST /_api/account/v1/flows/{token}`: [`show`],
//! [`answer`]. `POST /_api/account/v1/token`: [`token`].

use super::{browser::Visit, page_call::PageCall};
use crate::{App, Problem, body};
use axum::{
    extract::{Path, State, rejection::PathRejection},
    http::{HeaderValue, header},
    response::Response,
};
use serde_json::json;
use std::sync::Arc;
use stoa_identity::{
    flow::{FlowAnswer, FlowInput, FlowStart},
    token::Kind,
};
use stoa_kernel::{ClientId, Code, Fault, Result};
use stoa_store::Site;

/// `POST /_api/account/v1/flows` `{kind, clientId?, returnUrl?, invite?}`.
pub(crate) async fn start(State(app): State<App>, call: PageCall<FlowStart>) -> Result<Response, Problem> {
    let PageCall { visit, body: start } = call;
    let site = match (&start.invite, &start.client_id) {
        (Some(invite), _) => {
            let site = app.identity.site_of(Kind::Invite, invite).await;
            site.map_err(|_| Fault::new(Code::LinkInvalid))?
        }
        (None, Some(client)) => {
            let client = app.identity.client_get(&ClientId::from(client.as_str())).await?;
            app.store.site(&client.site).await?
        }
        (None, None) => visit.info.find_site(&app).await?,
    };
    visit.require_site(&site.id, if start.invite.is_some() { Code::LinkInvalid } else { Code::ClientUnknown })?;
    Ok(shown(&visit, app.identity.flow_start(&site, &start, &visit.browser).await?))
}

/// `GET /_api/account/v1/flows/{token}`: where the flow stands.
pub(crate) async fn show(State(app): State<App>, visit: Visit, path: Token) -> Result<Response, Problem> {
    visit.require_same_origin()?;
    let token = read_token(path)?;
    let site = site_of(&app, &token).await?;
    Ok(shown(&visit, app.identity.flow_show(&site, &token, &visit.browser).await?))
}

/// `POST /_api/account/v1/flows/{token}`: what the person sent.
pub(crate) async fn answer(
    State(app): State<App>,
    path: Token,
    PageCall { visit, body: input }: PageCall<FlowInput>,
) -> Result<Response, Problem> {
    let token = read_token(path)?;
    let site = site_of(&app, &token).await?;
    Ok(shown(&visit, app.identity.flow_answer(&site, &token, input, &visit.browser).await?))
}

/// `POST /_api/account/v1/token`: an access token for the person whose browser asks; for our own pages.
pub(crate) async fn token(State(app): State<App>, visit: Visit) -> Result<Response, Problem> {
    visit.require_same_origin()?;
    let access = app.identity.operator_access(&visit.operator(&app).await?).await?;
    let mut response = body::ok(&json!({ "access_token": access.token, "expires_in": access.expires_in }));
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

type Token = Result<Path<String>, PathRejection>;

/// The token in the path; one that isn't text names no flow.
fn read_token(path: Token) -> Result<String> {
    path.map(|Path(token)| token).map_err(|it| Fault::new(Code::StateTokenInvalid).logged(it))
}

async fn site_of(app: &App, token: &str) -> Result<Arc<Site>> {
    app.identity.site_of(Kind::Flow, token).await.map_err(|it| match it.code() {
        Code::SiteUnknown => Fault::new(Code::StateTokenInvalid),
        _ => it,
    })
}

fn shown(visit: &Visit, shown: FlowAnswer) -> Response {
    let mut response = body::ok(&shown.view);
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    visit.write(&shown.cookies, headers);
    response
}
