//! The calls of identity, one file a noun, and their routes by canonical path.

pub mod authentication;
pub mod authorize;
mod browser;
pub mod flow;
pub mod logout;
pub mod members;
pub mod policy;
pub mod recovery;
pub mod redirect;
pub mod token;
pub mod verification;

use crate::App;
use axum::routing::{MethodRouter, get, post};

/// Every route of identity; the router joins them to its own page.
pub(crate) fn routes() -> Vec<(&'static str, MethodRouter<App>)> {
    vec![
        // Tokens.
        ("/oauth2/token", post(token::token)),
        ("/oauth2/token-info", post(token::token_info)),
        ("/oauth2/jwks", get(token::jwks)),
        ("/oauth2/user-info", get(token::user_info)),
        // Registration and login.
        ("/v2/register", post(authentication::register)),
        ("/v2/login", post(authentication::login)),
        ("/v2/sign-on", post(authentication::sign_on)),
        ("/v2/change-password", post(authentication::change_password)),
        ("/v2/validate-email", post(authentication::validate_email)),
        ("/v1/sign-on-policies", get(policy::get).patch(policy::update)),
        // Redirect sessions, the authorize address, signing out.
        ("/v1/redirect-session", post(redirect::create)),
        ("/oauth2/authorize", get(authorize::authorize)),
        ("/v1/logout", get(logout::logout)),
        // Verification and recovery.
        ("/v1/auth/verify", post(verification::verify)),
        ("/v1/auth/resend", post(verification::resend)),
        ("/v1/start", post(verification::start)),
        ("/v1/Start", post(verification::start)),
        ("/v1/send-email", post(recovery::send_email)),
        ("/v1/activation-email", post(recovery::activation_email)),
        ("/v1/recover", post(recovery::recover)),
        // The account pages.
        ("/_api/account/v1/flows", post(flow::start)),
        ("/_api/account/v1/flows/{token}", get(flow::show).post(flow::answer)),
        ("/_api/account/v1/token", post(flow::token)),
        ("/_api/account/v1/recover", get(recovery::open)),
        // Members.
        ("/members/v1/members/my", get(members::my)),
        ("/members/v1/members/query", post(members::query)),
        ("/members/v1/members/{id}", get(members::get).delete(members::delete)),
        ("/members/v1/members/{id}/approve", post(members::approve)),
        ("/members/v1/members/{id}/block", post(members::block)),
    ]
}
