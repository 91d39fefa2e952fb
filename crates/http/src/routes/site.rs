//! What anyone may know of the server, and what owners set about their site.

use crate::{
    endpoint::{Line, get, patch, put},
    identity::{app_key, mail_sender, members, policy, redirect},
    openapi::operations::{apps::APP_KEY_SET_GET, server::*, settings::*},
    site,
};

/// What anyone may know.
pub(super) fn server() -> Vec<Line> {
    vec![
        get("/healthz", site::health, &HEALTH_GET),
        get("/readyz", site::ready, &READINESS_GET),
        get("/robots.txt", site::robots, &ROBOTS_GET),
        get("/_api/site/v1/public-settings", site::public_settings, &SITE_PUBLIC_SETTINGS_GET),
        get("/_api/apps/v1/{id}/jwks", app_key::jwks, &APP_KEY_SET_GET),
    ]
}

/// Settings of the site.
pub(super) fn settings() -> Vec<Line> {
    vec![
        get("/v1/sign-on-policies", policy::get, &SIGN_ON_POLICY_GET),
        patch("/v1/sign-on-policies", policy::update, &SIGN_ON_POLICY_UPDATE),
        get("/_api/site/v1/pages", redirect::pages, &SITE_PAGES_GET),
        put("/_api/site/v1/pages", redirect::pages_set, &SITE_PAGES_UPDATE),
        get("/_api/site/v1/mail-sender", mail_sender::get, &MAIL_SENDER_GET),
        get("/_api/identity/v1/audit", members::audit, &AUDIT_LIST),
    ]
}

/// What no scope opens: codes and links of all members go out in that name.
pub(super) fn sender() -> Vec<Line> {
    vec![patch("/_api/site/v1/mail-sender", mail_sender::update, &MAIL_SENDER_UPDATE)]
}
