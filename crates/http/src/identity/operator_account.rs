//! The page on which those who run a site change their password and see where they are signed in.
//!
//! `GET /_api/account/v1/operator`: [`show`]. `POST …/operator/password`: [`password`]. `POST …/operator/sessions/end`:
//! [`end`]. `POST …/operator/sessions/end-others`: [`end_others`]. All answer what [`show`] does, with `problems` that
//! the person can put right.

use super::{browser::Visit, page_call::PageCall};
use crate::{App, body};
use axum::{
    extract::State,
    http::{HeaderValue, header},
    response::Response,
};
use serde::Deserialize;
use serde_json::{Value, json};
use stoa_identity::{
    DeviceHints,
    defence::Attempt,
    flow::{problem_of, wire::Problem},
    operator::OperatorSession,
    password,
    session::Ending,
};
use stoa_kernel::{Code, Result, Role, Secret, date::iso_from_millis};

#[derive(Deserialize)]
pub(crate) struct PasswordBody {
    old: String,
    password: String,
}

#[derive(Deserialize)]
pub(crate) struct SessionBody {
    session: String,
}

/// `GET /_api/account/v1/operator`: who they are, and where they are signed in.
pub(crate) async fn show(State(app): State<App>, visit: Visit) -> Result<Response, crate::Problem> {
    visit.require_same_origin()?;
    let session = visit.operator(&app).await?;
    Ok(shown(&app, &visit, &session, None).await?)
}

/// `POST /_api/account/v1/operator/password` `{old, password}`: all other sessions end.
pub(crate) async fn password(
    State(app): State<App>,
    PageCall { visit, body: given }: PageCall<PasswordBody>,
) -> Result<Response, crate::Problem> {
    let session = visit.operator(&app).await?;
    let browser = &visit.browser;
    let hints = DeviceHints { cookie: browser.device.clone(), user_agent: browser.user_agent.clone() };
    let attempt = Attempt { address: browser.address, visitor: None, client: None, hints, captcha: None };
    let (old, new) = (Secret::new(given.old), Secret::new(given.password));
    let problem = match app.identity.operator_password_change(&session, &attempt, &old, &new).await {
        Ok(()) => None,
        Err(fault) => {
            let is_old = fault.code() == Code::PasswordWrong;
            let mut problem = problem_of(fault)?;
            if is_old {
                problem.field = Some("old".to_owned());
            }
            Some(problem)
        }
    };
    Ok(shown(&app, &visit, &session, problem).await?)
}

/// `POST /_api/account/v1/operator/sessions/end` `{session}`.
pub(crate) async fn end(
    State(app): State<App>,
    PageCall { visit, body: given }: PageCall<SessionBody>,
) -> Result<Response, crate::Problem> {
    let session = visit.operator(&app).await?;
    app.identity.operator_browsers_end(&session, Ending::One(&given.session)).await?;
    Ok(shown(&app, &visit, &session, None).await?)
}

/// `POST /_api/account/v1/operator/sessions/end-others` `{}`: all but the one that asks.
pub(crate) async fn end_others(
    State(app): State<App>,
    PageCall { visit, .. }: PageCall<Value>,
) -> Result<Response, crate::Problem> {
    let session = visit.operator(&app).await?;
    app.identity.operator_browsers_end(&session, Ending::Others).await?;
    Ok(shown(&app, &visit, &session, None).await?)
}

/// Places are named in the language of the browser.
async fn shown(app: &App, visit: &Visit, session: &OperatorSession, problem: Option<Problem>) -> Result<Response> {
    let site = app.store.site(&session.site).await?;
    let browsers = app.identity.operator_browsers(session).await?;
    let browsers = browsers.into_iter().map(|it| {
        json!({
            "id": it.id,
            "siteName": it.site_name,
            "device": it.device,
            "place": app.identity.place_of(it.address.as_deref(), visit.browser.language.as_deref()),
            "address": it.address,
            "createdDate": iso_from_millis(it.created),
            "isCurrent": it.is_current,
        })
    });
    let mut response = body::ok(&json!({
        "site": app.identity.site_face(&site).await?,
        "email": session.operator.email,
        "role": match session.role {
            Role::Owner => "OWNER",
            Role::Editor => "EDITOR",
        },
        "passwordMinLength": password::MIN_CHARS,
        "sessions": browsers.collect::<Vec<_>>(),
        "problems": problem.into_iter().collect::<Vec<_>>(),
    }));
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}
