//! How much members show of themselves.

use crate::{
    App,
    identity::ask::{Answer, Ask, answer},
};
use axum::extract::State;

/// `GET /default-privacy-status`.
pub(crate) async fn default(State(app): State<App>, ask: Ask) -> Answer {
    answer("defaultPrivacy", app.identity.privacy_get(&ask.site).await?)
}

/// `PATCH /default-privacy-status`.
pub(crate) async fn default_set(State(app): State<App>, ask: Ask) -> Answer {
    let sent = &ask.data["defaultPrivacy"];
    answer("defaultPrivacy", app.identity.privacy_set(&ask.site, &ask.caller, sent).await?)
}

/// `GET /privacy-settings`.
pub(crate) async fn get(State(app): State<App>, ask: Ask) -> Answer {
    answer("memberPrivacySettings", app.identity.privacy_get(&ask.site).await?)
}

/// `POST /privacy-settings`.
pub(crate) async fn set(State(app): State<App>, ask: Ask) -> Answer {
    let sent = &ask.data["memberPrivacySettings"];
    answer("memberPrivacySettings", app.identity.privacy_set(&ask.site, &ask.caller, sent).await?)
}
