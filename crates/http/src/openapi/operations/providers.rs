//! Identity providers: connections of a site, those of a member, and sign-in by them.

use super::{DONE, INVALID, NOT_FOUND, REFUSED, page, redirect};
use crate::{
    openapi::{Answer, Callers, Operation, Parameter, Throttle},
    subject::Subject,
};
use stoa_kernel::Code;

const CONNECTION: &[Answer] = &[Answer::json("IdpConnectionResponse", "The connection, without its secret.")];
/// What a member's sign-in is refused with.
const SIGN_IN: &[Code] = &[Code::MemberBlocked, Code::PasswordReset, Code::StateTokenInvalid];

const fn setting(id: &'static str, summary: &'static str) -> Operation {
    Operation::new(id, Subject::Settings, Callers::Owners, summary)
}

pub(crate) const IDP_CONNECTION_LIST: Operation =
    setting("idpConnectionList", "Lists the site's connections to identity providers")
        .answers(&[Answer::json("IdpConnectionListResponse", "The connections, without their secrets.")])
        .errors(&[REFUSED]);

pub(crate) const IDP_CONNECTION_CREATE: Operation = setting(
    "idpConnectionCreate",
    "Adds a connection to an identity provider",
)
.notes("Ten at most. `callbackUrl` is the redirect URI that the provider has to know. The secret is not shown again.")
.takes("IdpConnectionCreateRequest")
.answers(CONNECTION)
.errors(&[REFUSED, &[Code::ProofNeeded, Code::TooMany, Code::AlreadyExists]]);

pub(crate) const IDP_CONNECTION_GET: Operation =
    setting("idpConnectionGet", "Reads a connection to an identity provider").answers(CONNECTION).errors(&[NOT_FOUND]);

pub(crate) const IDP_CONNECTION_UPDATE: Operation =
    setting("idpConnectionUpdate", "Changes a connection to an identity provider")
        .notes("Members that are not sent stay. The issuer can't change: members are known by what it calls them.")
        .takes("IdpConnectionUpdateRequest")
        .answers(CONNECTION)
        .errors(&[NOT_FOUND, &[Code::ProofNeeded, Code::AlreadyExists]]);

pub(crate) const IDP_CONNECTION_REMOVE: Operation =
    setting("idpConnectionRemove", "Removes a connection to an identity provider")
        .notes("Members who have no other way in set a password by a recovery link.")
        .answers(DONE)
        .errors(&[NOT_FOUND, &[Code::ProofNeeded]]);

const fn own(id: &'static str, summary: &'static str) -> Operation {
    Operation::new(id, Subject::Sessions, Callers::Members, summary)
}

pub(crate) const MEMBER_CONNECTION_LIST: Operation =
    own("memberConnectionList", "Lists the identity providers by which the calling member signs in")
        .answers(&[Answer::json("MemberConnectionListResponse", "The connections.")])
        .errors(&[REFUSED]);

pub(crate) const MEMBER_CONNECTION_REMOVE: Operation =
    own("memberConnectionRemove", "Ends that the calling member signs in by an identity provider")
        .notes("Not where nothing else is left to sign in with.")
        .answers(DONE)
        .errors(&[NOT_FOUND, &[Code::ProofNeeded, Code::LastWayIn]])
        .counts(Throttle::Password);

pub(crate) const SSO_LOGIN: Operation =
    Operation::new("loginWithIdpConnection", Subject::SignIn, Callers::Open, "Sends a browser to an identity provider")
        .notes(
            "With a token it answers JSON that says where a browser is to go; without one it is a browser, which is sent there. In the \
             end a page posts the state of the sign-in, encrypted with AES-GCM, in the BroadcastChannel `wix-idp-` and `sessionId`.",
        )
        .query(&[
            Parameter::text("tenantId", "The site, as in the path."),
            Parameter::text("idpConnectionId", "The connection, as in the path."),
            Parameter::text("tenantType", "`SITE`."),
            Parameter::text("sessionId", "The end of the channel's name: letters, digits, `-`, `_` and `.`."),
            Parameter::text("encryptionKey", "Base64 of 16 or 32 bytes."),
            Parameter::text("visitorId", "Who becomes the member: the visitor of the token."),
            Parameter::text("bsi", "Nothing is made of it."),
            Parameter::text("ticket", "What an answer to a call with a token has in its address."),
            Parameter::packed(".r", "IdpLoginQuery", "All that stands in the query, as JSON in base64url."),
        ])
        .answers(&[
            Answer::json("LogoutResponse", "Where the browser is to go."),
            redirect("The provider."),
        ])
        .errors(&[
            NOT_FOUND,
            &[Code::SiteUnknown, Code::LinkInvalid, Code::Unavailable, Code::Unauthenticated],
        ])
        .counts(Throttle::Flow);

pub(crate) const SSO_CALLBACK: Operation =
    Operation::new("loginCallback", Subject::SignIn, Callers::Open, "Takes a browser back from an identity provider")
        .query(&[
            Parameter::text("state", "As it was sent there."),
            Parameter::text("code", "What the provider gave."),
            Parameter::text("error", "Why it gave none (RFC 6749, section 4.1.2.1)."),
            Parameter::text("iss", "Which provider it is (RFC 9207)."),
        ])
        .answers(&[
            page("A page that posts how the sign-in stands in the channel of the page that waits."),
            redirect("The page of the flow that began."),
        ])
        .errors(&[INVALID, &[Code::StateTokenInvalid]])
        .counts(Throttle::SignIn);

pub(crate) const SSO_TOKEN_LOGIN: Operation = Operation::new(
    "loginWithIdpConnectionTokenParams",
    Subject::SignIn,
    Callers::Known,
    "Signs a member in by an ID token that a front end got from an identity provider",
)
.notes("The token is for the client of the connection, and for a nonce that counts once.")
.takes("IdpTokenLoginRequest")
.answers(&[Answer::json("StateMachine", "Where the sign-in stands; a session token when it is done.")])
.errors(&[NOT_FOUND, SIGN_IN, &[Code::VerificationFailed, Code::EmailInvalid, Code::EmailTaken, Code::Unavailable]])
.counts(Throttle::SignIn);
