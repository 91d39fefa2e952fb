//! From a website to the account pages and back.

use super::{PACKED, page, redirect};
use crate::{
    openapi::{Answer, Callers, Operation, Parameter, Throttle},
    subject::Subject,
};
use stoa_kernel::Code;

pub(crate) const REDIRECT_SESSION_CREATE: Operation = Operation::new(
    "redirectSessionCreate",
    Subject::Redirects,
    Callers::Known,
    "Makes an address to which a website sends a person",
)
.takes("RedirectSessionCreateRequest")
.answers(&[Answer::json("RedirectSessionCreateResponse", "The address.")])
.errors(&[&[Code::Validation, Code::ClientUnknown, Code::RedirectRefused, Code::PageNotSet]])
.counts(Throttle::Flow);

pub(crate) const AUTHORIZE: Operation =
    Operation::new("authorize", Subject::Redirects, Callers::Open, "Begins an authorization in the browser that comes")
        .notes(
            "`session` of a redirect session, or the parameters of a standard request (OpenID Connect Core, section \
             3.1.2.1). What is wrong is told to the client where its address is known, else on a page.",
        )
        .query(&[
            Parameter::text("session", "The token of a redirect session."),
            Parameter::text("client_id", "The client."),
            Parameter::text("redirect_uri", "Where the answer goes; one of the client's addresses."),
            Parameter::text("response_type", "`code`."),
            Parameter::text("response_mode", "`query`, `fragment` or `web_message`."),
            Parameter::text("scope", "What is asked for, with spaces between."),
            Parameter::text("state", "It comes back as it is."),
            Parameter::text("nonce", "It stands in the token."),
            Parameter::text("code_challenge", "PKCE, by SHA-256."),
            Parameter::text("code_challenge_method", "`S256`."),
            Parameter::text("prompt", "`none`, `login`, or what OpenID Connect has."),
            Parameter::text("max_age", "Seconds since the last sign-in, at most."),
            Parameter::text("login_hint", "The address that is offered."),
        ])
        .answers(&[
            page("A page that hands the answer to the window that waits for it."),
            redirect("The account pages, or the client with a code or an error."),
        ])
        .errors(&[&[Code::ClientUnknown, Code::RedirectRefused, Code::OauthInvalidRequest, Code::LinkInvalid]])
        .counts(Throttle::Flow);

pub(crate) const MEMBER_LOGOUT: Operation =
    Operation::new("memberLogout", Subject::Redirects, Callers::Open, "Signs a member out")
        .notes(
            "With a token it answers JSON that says where the browser is to go; without one it is a browser, which is \
             sent there.",
        )
        .query(&[
            Parameter::text("postLogoutRedirectUri", "Where to go then; one of the client's addresses."),
            Parameter::text("clientId", "The client."),
            PACKED,
        ])
        .answers(&[
            Answer::json("LogoutResponse", "Where the browser is to go; a page for a browser with nowhere to go."),
            redirect("Where the person came from, or a page that says that they are signed out."),
        ])
        .errors(&[&[Code::ClientUnknown, Code::RedirectRefused, Code::Unauthenticated]])
        .counts(Throttle::Flow);
