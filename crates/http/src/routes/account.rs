//! Tokens, registration and sign-in, and what the account pages ask.

use crate::{
    endpoint::{Line, delete, get, patch, post},
    identity::*,
    openapi::operations::{
        apps::*, deletion::*, email_change::*, factors::*, impersonation::*, operators::*, pages::*, providers::*,
        redirects::*, sessions::*, sign_in::*, tokens::*, verification::*,
    },
};

/// All of them.
pub(super) fn routes() -> Vec<Line> {
    vec![
        // Tokens.
        post("/oauth2/token", token::token, &TOKEN_CREATE),
        post("/oauth/access", token::access, &APPLICATION_TOKEN_CREATE),
        post("/oauth2/revoke", token::revoke, &TOKEN_REVOKE),
        post("/oauth2/introspect", token::introspect, &TOKEN_INTROSPECT),
        post("/oauth2/token-info", token::token_info, &TOKEN_INFO_GET),
        get("/oauth2/jwks", token::jwks, &TOKEN_KEY_LIST),
        // Registration and login.
        post("/v2/register", authentication::register, &MEMBER_REGISTER),
        post("/v2/login", authentication::login, &MEMBER_LOGIN),
        post("/v2/sign-on", authentication::sign_on, &MEMBER_SIGN_ON),
        post("/v2/{factorType}/verify", factors::verify, &FACTOR_VERIFY),
        post("/v2/change-password", authentication::change_password, &PASSWORD_CHANGE),
        get("/_api/account/v1/captcha", authentication::captcha_challenge, &CAPTCHA_CHALLENGE_GET),
        post("/v2/validate-email", authentication::validate_email, &EMAIL_VALIDATE),
        post("/wix-sm/api/v1/auth/api/v1/auth/register", member_auth::register, &MEMBER_REGISTER_BY_EMAIL),
        post("/wix-sm/api/v1/auth/api/v1/auth/login", member_auth::login, &MEMBER_LOGIN_BY_EMAIL),
        post(
            "/wix-sm/api/v1/auth/v1/auth/members/send-set-password-email",
            member_auth::send_set_password_email,
            &PASSWORD_EMAIL_SEND,
        ),
        // Redirect sessions, the authorize address, signing out.
        post("/v1/redirect-session", redirect::create, &REDIRECT_SESSION_CREATE),
        get("/installer/install", install::install, &APP_INSTALL),
        get("/oauth2/authorize", authorize::authorize, &AUTHORIZE),
        get("/v1/logout", logout::logout, &MEMBER_LOGOUT),
        // Identity providers.
        get("/v1/sso/login/{tenantId}/{idpConnectionId}", sso::login, &SSO_LOGIN),
        get("/v1/callback", sso::callback, &SSO_CALLBACK),
        post("/v1/sso/login-with-token-params", sso::login_with_token_params, &SSO_TOKEN_LOGIN),
        get("/_api/identity/v1/connections", providers::mine, &MEMBER_CONNECTION_LIST),
        delete("/_api/identity/v1/connections/{id}", providers::disconnect, &MEMBER_CONNECTION_REMOVE),
        // No scope opens these: who changes them signs in as others.
        get("/_api/identity/v1/idp-connections", providers::list, &IDP_CONNECTION_LIST),
        post("/_api/identity/v1/idp-connections", providers::create, &IDP_CONNECTION_CREATE),
        get("/_api/identity/v1/idp-connections/{id}", providers::get, &IDP_CONNECTION_GET),
        patch("/_api/identity/v1/idp-connections/{id}", providers::update, &IDP_CONNECTION_UPDATE),
        delete("/_api/identity/v1/idp-connections/{id}", providers::remove, &IDP_CONNECTION_REMOVE),
        // Verification and recovery.
        post("/v1/auth/verify", verification::verify, &VERIFICATION_CHECK),
        post("/v1/auth/resend", verification::resend, &VERIFICATION_RESEND),
        post("/v1/start", verification::start, &VERIFICATION_START),
        post("/v1/Start", verification::start, &VERIFICATION_START),
        post("/v1/send-email", recovery::send_email, &RECOVERY_EMAIL_SEND),
        post("/v1/activation-email", recovery::activation_email, &ACTIVATION_EMAIL_SEND),
        post("/v1/recover", recovery::recover, &RECOVERY_FINISH),
        // Members' sessions.
        get("/_api/identity/v1/sessions", sessions::list, &SESSION_LIST),
        delete("/_api/identity/v1/sessions", sessions::end_others, &SESSION_END_OTHERS),
        delete("/_api/identity/v1/sessions/{id}", sessions::end, &SESSION_END),
        // Owners who act as members. No scope opens it, so nothing that is held to less begins it.
        post("/_api/identity/v1/members/{id}/impersonation", impersonation::start, &IMPERSONATION_START),
        delete("/_api/identity/v1/members/{id}/impersonation", impersonation::end, &IMPERSONATION_END),
        get("/_api/identity/v1/applications", sessions::applications, &APPLICATION_LIST),
        delete("/_api/identity/v1/applications/{id}", sessions::end_application, &APPLICATION_END),
        // Members' second factors.
        get("/_api/identity/v1/factors", factors::list, &FACTOR_LIST),
        post("/_api/identity/v1/factors", factors::begin, &FACTOR_BEGIN),
        post("/_api/identity/v1/factors/{id}/confirm", factors::confirm, &FACTOR_CONFIRM),
        patch("/_api/identity/v1/factors/{id}", factors::rename, &FACTOR_RENAME),
        delete("/_api/identity/v1/factors/{id}", factors::remove, &FACTOR_REMOVE),
        post("/_api/identity/v1/recovery-codes", factors::renew_codes, &RECOVERY_CODES_RENEW),
        delete("/_api/identity/v1/remembered-browsers", factors::forget, &REMEMBERED_BROWSERS_FORGET),
        post("/_api/identity/v1/push-questions", push::question, &PUSH_QUESTION_GET),
        post("/_api/identity/v1/push-questions/answer", push::answer, &PUSH_QUESTION_ANSWER),
        post("/_api/identity/v1/proof", factors::prove, &MEMBER_PROVE),
        post("/_api/identity/v1/email", email_change::begin, &EMAIL_CHANGE_BEGIN),
        post("/_api/identity/v1/email/confirm", email_change::confirm, &EMAIL_CHANGE_CONFIRM),
        post("/_api/identity/v1/deletion", deletion::ask, &DELETION_ASK),
        get("/_api/identity/v1/export", deletion::export, &MEMBER_EXPORT),
        post("/_api/identity/v1/password", member_account::replace_password, &PASSWORD_REPLACE),
        // The account pages.
        post("/_api/account/v1/flows", flow::start, &FLOW_START),
        get("/_api/account/v1/flows/{token}", flow::show, &FLOW_GET),
        post("/_api/account/v1/flows/{token}", flow::answer, &FLOW_ANSWER),
        post("/_api/account/v1/token", flow::token, &OPERATOR_TOKEN_CREATE),
        post("/_api/account/v1/member", member_account::open, &MEMBER_ACCOUNT_OPEN),
        get("/_api/account/v1/recover", recovery::open, &RECOVERY_OPEN),
        post("/_api/account/v1/approvals", approval::get, &APPROVAL_GET),
        post("/_api/account/v1/approvals/decide", approval::decide, &APPROVAL_DECIDE),
        post("/_api/account/v1/deletions", deletion::get, &DELETION_GET),
        post("/_api/account/v1/deletions/undo", deletion::undo, &DELETION_UNDO),
        post("/_api/account/v1/email-changes", email_change::get, &EMAIL_CHANGE_GET),
        post("/_api/account/v1/email-changes/undo", email_change::undo, &EMAIL_CHANGE_UNDO),
        get("/_api/account/v1/operator", operator_account::show, &OPERATOR_GET),
        post("/_api/account/v1/operator/password", operator_account::password, &OPERATOR_PASSWORD_CHANGE),
        post("/_api/account/v1/operator/sessions/end", operator_account::end, &OPERATOR_SESSION_END),
        post(
            "/_api/account/v1/operator/sessions/end-others",
            operator_account::end_others,
            &OPERATOR_SESSION_END_OTHERS,
        ),
        get("/_api/account/v1/operator/factors", operator_factors::list, &OPERATOR_FACTOR_LIST),
        post("/_api/account/v1/operator/factors", operator_factors::begin, &OPERATOR_FACTOR_BEGIN),
        post("/_api/account/v1/operator/factors/{id}/confirm", operator_factors::confirm, &OPERATOR_FACTOR_CONFIRM),
        patch("/_api/account/v1/operator/factors/{id}", operator_factors::rename, &OPERATOR_FACTOR_RENAME),
        delete("/_api/account/v1/operator/factors/{id}", operator_factors::remove, &OPERATOR_FACTOR_REMOVE),
        post("/_api/account/v1/operator/recovery-codes", operator_factors::renew_codes, &OPERATOR_RECOVERY_CODES_RENEW),
        post("/_api/account/v1/operator/proof", operator_factors::prove, &OPERATOR_PROVE),
        post("/_api/account/v1/installs", install::get, &APP_CONSENT_GET),
        post("/_api/account/v1/installs/decide", install::decide, &APP_CONSENT_DECIDE),
    ]
}
