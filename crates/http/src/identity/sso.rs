//! Sign-in by identity providers (docs/protocol/identity.md §1.3, §6): a browser that is sent to one and comes back, and an ID token that a
//! front end got itself.
//!
//! `GET /v1/sso/login/{tenantId}/{idpConnectionId}`: [`login`]. `GET /v1/callback`: [`callback`]. `POST
//! /v1/sso/login-with-token-params`: [`login_with_token_params`].

use super::{
    authentication::{answered, attempt},
    authorize::script_json,
    browser::{Visit, hints},
    page::{page, see_other},
    passkeys::relying_party,
};
use crate::{App, Call, Problem, RequestInfo, body, body::Json, extract::text, problem::log};
use axum::{
    extract::{Path, RawQuery, State, rejection::PathRejection},
    http::HeaderMap,
    response::Response,
};
use serde_json::{Value, json};
use std::{collections::BTreeMap, sync::Arc};
use stoa_identity::{
    authorize::{
        provider::{ChannelAnswer, ProviderAnswer, ProviderReturn, TokenLogin},
        standard::Parameters,
    },
    provider::Channel,
};
use stoa_kernel::{Code, Fault, Result, SiteId, Violation, VisitorId};
use stoa_store::Site;

type Named = Result<Path<(String, String)>, PathRejection>;

/// `GET /v1/sso/login/{tenantId}/{idpConnectionId}`. With a token: JSON that says where a browser is to go. Without: a browser, which is
/// sent on.
pub(crate) async fn login(
    State(app): State<App>,
    visit: Visit,
    headers: HeaderMap,
    path: Named,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let Path((tenant, connection)) = path.map_err(|it| Fault::new(Code::NotFound).logged(it))?;
    let query = Parameters::parse(&query.unwrap_or_default());
    let authorization = text(&headers, "authorization").filter(|it| !it.is_empty());
    if let Some(authorization) = authorization {
        let known = app.identity.authenticate(Some(authorization), text(&headers, "wix-site-id")).await?;
        if known.site.as_str() != tenant {
            return Err(Fault::new(Code::SiteUnknown).into());
        }
        let site = app.store.site(&known.site).await?;
        let channel = channel(&query, (&tenant, &connection))?;
        let base = &visit.info.base_url;
        let path = format!("{base}/_api/iam/authentication/v1/sso/login/{}/{connection}", site.id);
        let url = app.identity.provider_ticket(&site, &known.caller, (&connection, &path), channel).await?;
        return Ok(body::ok(&json!({ "statusCode": 302, "headers": [{ "key": "Location", "value": url }] })));
    }
    let opened = async {
        let site = app.store.site(&SiteId::from(tenant.as_str())).await?;
        visit.require_site(&site.id, Code::SiteUnknown)?;
        let ticket = query.get("ticket");
        let channel = match ticket {
            Some(_) => Channel::default(),
            None => channel(&query, (&tenant, &connection))?,
        };
        app.identity.provider_open(&site, &connection, (ticket, channel), &visit.browser).await
    };
    match opened.await {
        Ok((url, cookies)) => {
            let mut response = see_other(&url);
            visit.write(&cookies, response.headers_mut());
            Ok(response)
        }
        Err(fault) => visit.refuse(fault, None),
    }
}

/// `GET /v1/callback?state&code`: a browser comes back from a provider.
pub(crate) async fn callback(
    State(app): State<App>,
    visit: Visit,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let query = Parameters::parse(&query.unwrap_or_default());
    let returned = async {
        if query.get("sessionToken").is_some() {
            let why = "only providers send browsers here";
            return Err(Fault::invalid(vec![Violation::new("sessionToken", "FIELD_NOT_ALLOWED", why)]));
        }
        let state = query.get("state").ok_or_else(|| Fault::new(Code::StateTokenInvalid))?;
        let answer =
            ProviderAnswer { state, code: query.get("code"), error: query.get("error"), issuer: query.get("iss") };
        let site = app.identity.provider_site(state).await?;
        visit.require_site(&site.id, Code::StateTokenInvalid)?;
        let returned = app.identity.provider_return(&site, answer, &visit.browser).await?;
        Ok((site, returned))
    };
    match returned.await {
        Ok((site, ProviderReturn::Flow { token })) => {
            let path = format!("/account/flow/{}", token.expose());
            Ok(see_other(&format!("{}{path}", prefix(&app, &visit, &site).await)))
        }
        Ok((site, ProviderReturn::Channel { channel, answer })) => posted(&app, &visit, &site, channel, answer).await,
        Err(fault) => visit.refuse(fault, None),
    }
}

/// What stands before the paths of a site's pages at this host.
async fn prefix(app: &App, visit: &Visit, site: &Site) -> String {
    match visit.info.find_site(app).await {
        Ok(found) if found.id == site.id => String::new(),
        _ => format!("/s/{}", site.id),
    }
}

/// A page that posts the answer in the channel of the page that waits.
async fn posted(
    app: &App,
    visit: &Visit,
    site: &Arc<Site>,
    channel: Channel,
    answer: ChannelAnswer,
) -> Result<Response, Problem> {
    let answer = match answer {
        ChannelAnswer::Outcome(outcome) => {
            let at = relying_party(app, &visit.info).await?;
            app.identity.outcome_at(site, *outcome, at.as_ref()).await?.to_json()
        }
        ChannelAnswer::Failed(reason) => json!({ "error": reason.name(), "errorDescription": reason.sentence() }),
        ChannelAnswer::Refused(fault) => {
            log(&fault);
            json!({ "error": fault.code().name(), "errorDescription": fault.message() })
        }
    };
    let message = script_json(&app.identity.channel_message(&channel, &answer)?);
    let name = script_json(&json!(format!("wix-idp-{}", channel.session_id)));
    let nonce = app.world.token::<16>();
    let html = format!(
        "<!doctype html><meta charset=\"utf-8\"><title>Signing in</title><script nonce=\"{nonce}\">\
         (function(){{var c=new BroadcastChannel({name});c.postMessage({message});c.close();window.close()}})()</script>"
    );
    Ok(page(&html, &format!("'nonce-{nonce}'"), &[]))
}

/// `POST /v1/sso/login-with-token-params` `{idpConnectionId, tokenParams: {idToken, nonce}}`.
pub(crate) async fn login_with_token_params(
    State(app): State<App>,
    call: Call,
    info: RequestInfo,
    headers: HeaderMap,
    Json(body): Json,
) -> Result<Response, Problem> {
    let mut wrong = Vec::new();
    let params = &body["tokenParams"];
    let connection = required(&body["idpConnectionId"], "idpConnectionId", &mut wrong);
    let token = required(&params["idToken"], "tokenParams.idToken", &mut wrong);
    let nonce = required(&params["nonce"], "tokenParams.nonce", &mut wrong);
    for name in params
        .as_object()
        .into_iter()
        .flat_map(|it| it.keys())
        .filter(|it| !["idToken", "nonce"].contains(&it.as_str()))
    {
        wrong.push(Violation::new(format!("tokenParams.{name}"), "FIELD_NOT_ALLOWED", "idToken and nonce are taken"));
    }
    if !wrong.is_empty() {
        return Err(Fault::invalid(wrong).into());
    }
    let attempt = attempt(&call.caller, &info, hints(&headers, &info), &body);
    let login = TokenLogin { connection, token, nonce };
    let outcome = app.identity.provider_login(&call.site, &attempt, login).await?;
    answered(&app, &call.site, &info, outcome).await
}

fn required<'a>(value: &'a Value, field: &str, wrong: &mut Vec<Violation>) -> &'a str {
    match value {
        Value::String(text) if !text.is_empty() => return text,
        Value::Null | Value::String(_) => wrong.push(Violation::new(field, "REQUIRED_FIELD", "is required")),
        _ => wrong.push(Violation::new(field, "FORMAT", "text is expected")),
    }
    ""
}

/// The page that waits, as the query names it.
fn channel(query: &Parameters, (tenant, connection): (&str, &str)) -> Result<Channel> {
    let mut wrong = Vec::new();
    for (name, in_path) in [("tenantId", tenant), ("idpConnectionId", connection)] {
        if query.get(name).is_some_and(|it| it != in_path) {
            wrong.push(Violation::new(name, "VALIDATION", "it is not the one of the path"));
        }
    }
    if query.get("tenantType").is_some_and(|it| it != "SITE") {
        wrong.push(Violation::new("tenantType", "INVALID_ENUM_VALUE", "must be SITE"));
    }
    let mut text = |name: &str| {
        let value = query.get(name).unwrap_or_default().to_owned();
        if value.is_empty() {
            wrong.push(Violation::new(name, "REQUIRED_FIELD", "is required"));
        }
        value
    };
    let (session_id, encryption_key) = (text("sessionId"), text("encryptionKey"));
    if !wrong.is_empty() {
        return Err(Fault::invalid(wrong));
    }
    let payload: BTreeMap<String, String> =
        query.below("customPayload.").map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    Ok(Channel { session_id, encryption_key, visitor: query.get("visitorId").map(VisitorId::from), payload })
}
