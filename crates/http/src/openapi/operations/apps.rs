//! Applications of others.

use super::{UNCHANGED, page, redirect};
use crate::{
    openapi::{Answer, Callers, Operation, Parameter, Throttle},
    subject::Subject,
};
use stoa_kernel::Code;

const REFUSED: &[Code] =
    &[Code::ClientUnknown, Code::RedirectRefused, Code::OauthInvalidRequest, Code::Unauthenticated, Code::Forbidden];

pub(crate) const APP_INSTALL: Operation = Operation::new(
    "appInstall",
    Subject::Apps,
    Callers::Open,
    "Leads an owner's browser to the page that asks whether to install an application",
)
.query(&[
    Parameter::text("appId", "The application.").required(),
    Parameter::text("redirectUrl", "Where the answer goes; one of the application's addresses.").required(),
    Parameter::text("state", "It comes back as it is."),
    Parameter::text("token", "What the client of the platform sends; it is not looked at."),
    Parameter::text("here", "Set by the page that leads here itself."),
])
.answers(&[
    page("A page that leads here itself, so that the browser brings its cookies."),
    redirect("The page that asks."),
])
.errors(&[REFUSED])
.counts(Throttle::Flow);

pub(crate) const APP_CONSENT_GET: Operation =
    Operation::new("appConsentGet", Subject::Apps, Callers::Pages, "Tells what an application asks for")
        .takes("AppConsentRequest")
        .answers(&[Answer::json("AppConsent", "What it asks for.")])
        .errors(&[REFUSED]);

pub(crate) const APP_CONSENT_DECIDE: Operation =
    Operation::new("appConsentDecide", Subject::Apps, Callers::Pages, "Installs an application, or not")
        .takes("AppConsentDecideRequest")
        .answers(&[Answer::json("AppConsentDecideResponse", "Where the browser is to go.")])
        .errors(&[REFUSED, &[Code::ProofNeeded]]);

pub(crate) const APP_KEY_SET_GET: Operation = Operation::new(
    "appKeySetGet",
    Subject::Apps,
    Callers::Open,
    "The public keys by which an application knows what it is sent from here",
)
.notes("As RFC 7517 writes them: one that follows, the one that signs, and those that were retired lately.")
.answers(&[Answer::json("AppKeySet", "The keys."), UNCHANGED])
.errors(&[&[Code::NotFound]]);
