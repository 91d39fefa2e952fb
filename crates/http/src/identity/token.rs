//! Tokens: the token endpoint, token-info, user-info and the public keys (docs/protocol/identity.md §4).

use crate::{
    App, Call, Problem,
    body::{self, IdentityRaw, Json},
    extract, problem,
};
use axum::{
    extract::State,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::Response,
};
use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use stoa_identity::oauth::{TokenRequest, request::open_envelope};
use stoa_kernel::{Code, Fault, Result};

/// `POST /oauth2/token`: every grant. Takes JSON and form bodies; errors have the members of RFC 6749
/// and our own side by side.
pub(crate) async fn token(State(app): State<App>, headers: HeaderMap, body: Result<IdentityRaw, Problem>) -> Response {
    answer(&headers, body, async |request| app.identity.token_grant(&request, authorization(&headers)).await).await
}

/// `POST /oauth/access`: tokens for applications, with their secret.
pub(crate) async fn access(State(app): State<App>, headers: HeaderMap, body: Result<IdentityRaw, Problem>) -> Response {
    answer(&headers, body, async |request| app.identity.application_grant(&request).await).await
}

/// `POST /oauth2/revoke` (RFC 7009).
pub(crate) async fn revoke(State(app): State<App>, headers: HeaderMap, body: Result<IdentityRaw, Problem>) -> Response {
    answer(&headers, body, async |request| app.identity.token_revoke(&request).await.map(|()| json!({}))).await
}

/// `POST /oauth2/introspect` (RFC 7662).
pub(crate) async fn introspect(
    State(app): State<App>,
    headers: HeaderMap,
    body: Result<IdentityRaw, Problem>,
) -> Response {
    answer(&headers, body, async |request| app.identity.token_introspect(&request, authorization(&headers)).await).await
}

fn authorization(headers: &HeaderMap) -> Option<&str> {
    extract::text(headers, "authorization")
}

/// Reads a request in any form, with the client's credentials from the header or the body.
async fn answer<T: serde::Serialize>(
    headers: &HeaderMap,
    body: Result<IdentityRaw, Problem>,
    call: impl AsyncFnOnce(TokenRequest) -> Result<T>,
) -> Response {
    let basic = authorization(headers).and_then(basic_credentials);
    let answer = async {
        let mut request = read(headers, body.map_err(|it| it.0)?)?;
        if let Some((id, secret)) = basic.clone() {
            request.client_id.get_or_insert(id);
            request.client_secret = request.client_secret.or(Some(secret).filter(|it| !it.is_empty()));
        }
        call(request).await
    };
    let mut response = match answer.await {
        Ok(answer) => body::ok(&answer),
        Err(fault) => refuse(&fault, basic.is_some()),
    };
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// `POST /oauth2/token-info`: what a token says; having it is right enough to ask.
pub(crate) async fn token_info(State(app): State<App>, Json(body): Json) -> Result<Response, Problem> {
    let opened = open_envelope(&body, &["token"])?;
    let token = opened.as_ref().unwrap_or(&body).get("token").and_then(Value::as_str);
    let token = token.ok_or_else(|| Fault::because(Code::OauthInvalidRequest, "token is missing"))?;
    Ok(body::ok(&app.identity.token_info(token).await?))
}

/// `GET /oauth2/jwks`: the public keys of access tokens.
pub(crate) async fn jwks(State(app): State<App>) -> Response {
    body::ok(&app.identity.jwks())
}

/// `GET /oauth2/user-info`: the calling member.
pub(crate) async fn user_info(State(app): State<App>, call: Call) -> Result<Response, Problem> {
    let mut info = app.identity.user_info(&call.site, &call.caller).await?;
    extract::mark(&mut info, call.impersonator.as_ref());
    Ok(body::ok(&info))
}

fn read(headers: &HeaderMap, raw: IdentityRaw) -> Result<TokenRequest> {
    let kind = extract::text(headers, "content-type").unwrap_or_default().to_ascii_lowercase();
    if kind.starts_with("application/x-www-form-urlencoded") {
        return TokenRequest::from_form(raw.bytes());
    }
    TokenRequest::from_json(&raw.value()?)
}

/// The client's id and secret from `Authorization: Basic` (RFC 6749 section 2.3.1).
fn basic_credentials(authorization: &str) -> Option<(String, String)> {
    let (scheme, rest) = authorization.split_once(' ')?;
    let text = String::from_utf8(STANDARD.decode(rest.trim()).ok()?).ok()?;
    let (id, secret) = text.split_once(':').filter(|_| scheme.eq_ignore_ascii_case("basic"))?;
    let decode = |it: &str| {
        let pair = format!("{it}=");
        url::form_urlencoded::parse(pair.as_bytes()).next().map(|(name, _)| name.into_owned())
    };
    Some((decode(id)?, decode(secret)?))
}

/// The error of RFC 6749 section 5.2 with our members beside it.
fn refuse(fault: &Fault, is_basic: bool) -> Response {
    let code = fault.code();
    let error = match code {
        Code::OauthInvalidRequest
        | Code::OauthInvalidClient
        | Code::OauthInvalidGrant
        | Code::OauthGrantType
        | Code::OauthInvalidScope
        | Code::OauthTokenType
        | Code::OauthUnauthorized => code.name(),
        Code::Unauthenticated | Code::ScopeMissing => "unauthorized_client",
        _ if code.status() >= 500 => "server_error",
        _ => "invalid_request",
    };
    problem::log(fault);
    let mut body = json!({ "error": error, "error_description": fault.message() });
    if let (Value::Object(body), Value::Object(ours)) = (&mut body, problem::body(fault)) {
        body.extend(ours);
    }
    let mut response = body::ok(&body);
    *response.status_mut() = StatusCode::from_u16(code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    if is_basic && code.status() == 401 {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Basic realm=\"stoa\""));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn basic_credentials_are_decoded() {
        let header = format!("Basic {}", STANDARD.encode("a%3Ab:s%20e"));
        assert_eq!(basic_credentials(&header), Some(("a:b".to_owned(), "s e".to_owned())));
        for other in ["", "Basic", "Basic %", "Bearer YTpi", "eyJ.a.b"] {
            assert_eq!(basic_credentials(other), None, "{other}");
        }
    }
}
