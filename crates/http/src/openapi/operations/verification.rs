//! Codes and links that are sent by mail.

use super::{DONE, NOT_FOUND, redirect};
use crate::{
    openapi::{Answer, Callers, Operation, Parameter, Throttle},
    subject::Subject,
};
use stoa_kernel::Code;

const STATE: &[Answer] = &[Answer::json("StateMachine", "Where the sign-in stands; a session token when it is done.")];

const fn verification(id: &'static str, summary: &'static str) -> Operation {
    Operation::new(id, Subject::Verification, Callers::Known, summary)
}

pub(crate) const VERIFICATION_CHECK: Operation =
    verification("verificationCheck", "Checks a code that was sent by mail")
        .takes("VerificationCheckRequest")
        .answers(STATE)
        .errors(&[&[Code::Validation, Code::StateTokenInvalid, Code::VerificationFailed, Code::MemberBlocked]])
        .counts(Throttle::SignIn);

pub(crate) const VERIFICATION_RESEND: Operation = verification("verificationResend", "Sends another code")
    .takes("VerificationResendRequest")
    .answers(STATE)
    .errors(&[&[Code::Validation, Code::StateTokenInvalid, Code::MemberBlocked]]);

pub(crate) const VERIFICATION_START: Operation = Operation::new(
    "verificationStart",
    Subject::Verification,
    Callers::Members,
    "Sends a code by which a member's address is verified",
)
.takes("VerificationStartRequest")
.answers(&[Answer::json("VerificationStartResponse", "With what the code is checked.")])
.errors(&[NOT_FOUND]);

pub(crate) const RECOVERY_EMAIL_SEND: Operation =
    verification("recoveryEmailSend", "Sends a link by which an account is recovered")
        .notes("It answers alike whether or not the address is known.")
        .takes("RecoveryEmailSendRequest")
        .answers(DONE)
        .errors(&[&[Code::Validation, Code::ClientUnknown, Code::RedirectRefused]])
        .counts(Throttle::Recovery);

pub(crate) const ACTIVATION_EMAIL_SEND: Operation = Operation::new(
    "activationEmailSend",
    Subject::Verification,
    Callers::Owners,
    "Sends a member a link by which the account is taken into use",
)
.takes("ActivationEmailSendRequest")
.answers(DONE)
.errors(&[NOT_FOUND, &[Code::ClientUnknown, Code::RedirectRefused]]);

pub(crate) const RECOVERY_FINISH: Operation = verification("recoveryFinish", "Sets a password by a link that was sent")
    .takes("RecoveryFinishRequest")
    .answers(STATE)
    .errors(&[&[Code::Validation, Code::LinkInvalid]])
    .counts(Throttle::Password);

pub(crate) const RECOVERY_OPEN: Operation = Operation::new(
    "recoveryOpen",
    Subject::Verification,
    Callers::Open,
    "Leads the browser from a link of a message to the page where a password is set",
)
.notes("It uses nothing up.")
.query(&[Parameter::text("token", "The token of the link.").required()])
.answers(&[redirect("The page, or one that says that the link is over.")])
.counts(Throttle::Flow);
