//! How much members show of themselves.

use crate::{
    App,
    identity::api_call::{Answer, ApiCall, answer},
};
use axum::extract::State;

/// `GET /default-privacy-status`.
pub(crate) async fn default(State(app): State<App>, call: ApiCall) -> Answer {
    answer("defaultPrivacy", app.identity.privacy_get(&call.site).await?)
}

/// `PATCH /default-privacy-status`.
pub(crate) async fn default_set(State(app): State<App>, call: ApiCall) -> Answer {
    let sent = &call.data["defaultPrivacy"];
    answer("defaultPrivacy", app.identity.privacy_set(&call.site, &call.caller, sent).await?)
}

/// `GET /privacy-settings`.
pub(crate) async fn get(State(app): State<App>, call: ApiCall) -> Answer {
    answer("memberPrivacySettings", app.identity.privacy_get(&call.site).await?)
}

/// `POST /privacy-settings`.
pub(crate) async fn set(State(app): State<App>, call: ApiCall) -> Answer {
    let sent = &call.data["memberPrivacySettings"];
    answer("memberPrivacySettings", app.identity.privacy_set(&call.site, &call.caller, sent).await?)
}
