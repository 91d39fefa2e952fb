//! The calls of identity, one file a noun, and their routes by canonical path.

pub mod authentication;
pub mod authorize;
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
        // Members.
        ("/members/v1/members/my", get(members::my)),
        ("/members/v1/members/query", post(members::query)),
        ("/members/v1/members/{id}", get(members::get).delete(members::delete)),
        ("/members/v1/members/{id}/approve", post(members::approve)),
        ("/members/v1/members/{id}/block", post(members::block)),
    ]
}
