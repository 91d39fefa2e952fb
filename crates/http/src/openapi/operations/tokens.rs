//! OAuth 2.0 and OpenID Connect: `/oauth2/…`.

use crate::{
    openapi::{Answer, Callers, ErrorForm, Operation},
    subject::Subject,
};
use stoa_kernel::Code;

const GRANTS: &[Code] = &[
    Code::OauthInvalidRequest,
    Code::OauthInvalidClient,
    Code::OauthInvalidGrant,
    Code::OauthGrantType,
    Code::OauthInvalidScope,
];

/// What is wrong with the key by which one is given tokens of a member.
const BY_KEY: &[Code] = &[Code::OauthUnauthorized, Code::Unauthenticated, Code::ScopeMissing];

const fn token(id: &'static str, summary: &'static str) -> Operation {
    Operation::new(id, Subject::Tokens, Callers::Clients, summary).fails_as(ErrorForm::Oauth)
}

pub(crate) const TOKEN_CREATE: Operation = token("tokenCreate", "Gives tokens for a grant")
    .notes(
        "Grants: `anonymous` for a visitor, `authorization_code`, `refresh_token`, `client_credentials`, and \
         `authorized_client` with the token of a key in the header. Names of members may be written with `_` or in \
         camel case.",
    )
    .takes_form("TokenRequest")
    .answers(&[Answer::json("TokenResponse", "The tokens.")])
    .errors(&[GRANTS, BY_KEY]);

pub(crate) const APPLICATION_TOKEN_CREATE: Operation =
    token("applicationTokenCreate", "Gives an application tokens for its code, or new ones")
        .takes_form("TokenRequest")
        .answers(&[Answer::json("TokenResponse", "The tokens.")])
        .errors(&[GRANTS]);

pub(crate) const TOKEN_REVOKE: Operation = token("tokenRevoke", "Takes a token back, with those of its family")
    .notes("RFC 7009. A token that is not known counts as taken back.")
    .takes_form("TokenRevokeRequest")
    .answers(super::DONE)
    .errors(&[&[Code::OauthInvalidRequest, Code::OauthInvalidClient, Code::OauthTokenType, Code::OauthInvalidScope]]);

pub(crate) const TOKEN_INTROSPECT: Operation = token("tokenIntrospect", "Tells a client what a token of its says")
    .notes("RFC 7662.")
    .takes_form("TokenIntrospectRequest")
    .answers(&[Answer::json("TokenIntrospection", "What it says; of one that is not good only that.")])
    .errors(&[&[Code::OauthInvalidRequest, Code::OauthInvalidClient, Code::OauthInvalidScope]]);

pub(crate) const TOKEN_INFO_GET: Operation =
    Operation::new("tokenInfoGet", Subject::Tokens, Callers::Open, "Tells what a token says")
        .notes("Having it is right enough to ask.")
        .takes("TokenInfoRequest")
        .answers(&[Answer::json("TokenInfo", "What it says; of one that is not good only that.")])
        .errors(&[&[Code::OauthInvalidRequest]]);

pub(crate) const TOKEN_KEY_LIST: Operation =
    Operation::new("tokenKeyList", Subject::Tokens, Callers::Open, "Lists the public keys of access tokens")
        .answers(&[Answer::json("KeySet", "A JSON Web Key Set (RFC 7517).")]);

pub(crate) const USER_INFO_GET: Operation =
    Operation::new("userInfoGet", Subject::Tokens, Callers::Members, "Tells who the calling member is")
        .notes("OpenID Connect Core, section 5.3.")
        .answers(&[Answer::json("UserInfo", "The member.")])
        .errors(&[&[Code::Forbidden]]);
