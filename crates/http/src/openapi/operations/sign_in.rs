//! Registration and sign-in without the account pages.

use super::{DONE, INVALID, NOT_FOUND, REFUSED};
use crate::{
    openapi::{Answer, Callers, Operation, Throttle},
    subject::Subject,
};
use stoa_kernel::Code;

const STATE: &[Answer] = &[Answer::json("StateMachine", "Where the sign-in stands; a session token when it is done.")];
const CAPTCHA: &[Code] = &[Code::CaptchaMissing, Code::CaptchaInvalid];
const PASSWORD: &[Code] = &[Code::PasswordWrong, Code::PasswordReset, Code::EmailInvalid, Code::MemberBlocked];
const REGISTRATION: &[Code] = &[Code::Validation, Code::EmailTaken];

const fn sign_in(id: &'static str, summary: &'static str) -> Operation {
    Operation::new(id, Subject::SignIn, Callers::Known, summary)
}

pub(crate) const MEMBER_REGISTER: Operation = sign_in("memberRegister", "Registers a member")
    .takes("MemberRegisterRequest")
    .answers(STATE)
    .errors(&[REGISTRATION, CAPTCHA, &[Code::SlugTaken]])
    .counts(Throttle::Registration);

pub(crate) const MEMBER_LOGIN: Operation = sign_in("memberLogin", "Signs a member in by address and password")
    .notes(
        "Without a password it says that one is needed; with a `stateToken` it goes on where an earlier answer left \
         off. The members `webauthn` and `emailOtp` of the packages are refused: passkeys sign in on the account pages, and here as second factor.",
    )
    .takes("MemberLoginRequest")
    .answers(STATE)
    .errors(&[PASSWORD, CAPTCHA, &[Code::StateTokenInvalid, Code::ProfileInvalid, Code::NotBuilt]])
    .counts(Throttle::SignIn);

pub(crate) const MEMBER_SIGN_ON: Operation =
    Operation::new("memberSignOn", Subject::SignIn, Callers::Apps, "Signs a member in whom an application vouches for")
        .notes("It needs the scope `members:sign-in` of those who are held to scopes.")
        .takes("MemberSignOnRequest")
        .answers(&[Answer::json("MemberSignOnResponse", "The member and a session token.")])
        .errors(&[&[Code::Validation, Code::Forbidden, Code::MemberBlocked, Code::EmailTaken, Code::SlugTaken]]);

pub(crate) const PASSWORD_CHANGE: Operation =
    Operation::new("passwordChange", Subject::SignIn, Callers::Members, "Changes the calling member's password")
        .takes("PasswordChangeRequest")
        .answers(DONE)
        .errors(&[REFUSED])
        .counts(Throttle::Password);

pub(crate) const PASSWORD_REPLACE: Operation = Operation::new(
    "passwordReplace",
    Subject::SignIn,
    Callers::Members,
    "Changes the password of the calling member, who shows the one before",
)
.notes("All other sessions end. Members who have a second factor show it first, by `/_api/identity/v1/proof`.")
.takes("PasswordReplaceRequest")
.answers(DONE)
.errors(&[INVALID, REFUSED, &[Code::ProofNeeded, Code::PasswordWrong]])
.counts(Throttle::SignIn);

pub(crate) const PASSWORD_REFUSE: Operation = Operation::new(
    "passwordRefuse",
    Subject::SignIn,
    Callers::Owners,
    "Lets a member set another password before the next sign-in",
)
.may_take("Empty")
.answers(DONE)
.errors(&[NOT_FOUND]);

pub(crate) const CAPTCHA_CHALLENGE_GET: Operation = Operation::new(
    "captchaChallengeGet",
    Subject::SignIn,
    Callers::Open,
    "Gives a captcha challenge, or the keys of the site's provider",
)
.notes("Of the site that the token says, or without one the host name.")
.answers(&[Answer::json("CaptchaChallenge", "What to solve.")]);

pub(crate) const EMAIL_VALIDATE: Operation = sign_in("emailValidate", "Tells whether an address has the form of one")
    .takes("EmailValidateRequest")
    .answers(&[Answer::json("EmailValidateResponse", "Whether it has.")])
    .errors(&[INVALID]);

pub(crate) const MEMBER_REGISTER_BY_EMAIL: Operation =
    sign_in("memberRegisterByEmail", "Registers a member, in the form of the members package")
        .takes("MemberRegisterByEmailRequest")
        .answers(&[Answer::json(
            "SiteMemberSession",
            "The member, and a session unless something is to be done first.",
        )])
        .errors(&[REGISTRATION, CAPTCHA, &[Code::VerificationRequired]])
        .counts(Throttle::Registration);

pub(crate) const MEMBER_LOGIN_BY_EMAIL: Operation =
    sign_in("memberLoginByEmail", "Signs a member in, in the form of the members package")
        .takes("MemberLoginByEmailRequest")
        .answers(&[Answer::json(
            "SiteMemberSession",
            "The member, and a session unless something is to be done first.",
        )])
        .errors(&[INVALID, PASSWORD, CAPTCHA, &[Code::VerificationRequired, Code::FactorNeeded]])
        .counts(Throttle::SignIn);

pub(crate) const PASSWORD_EMAIL_SEND: Operation =
    sign_in("passwordEmailSend", "Sends a link by which a member sets a password")
        .notes("It answers alike whether or not the address is known.")
        .takes("PasswordEmailSendRequest")
        .answers(&[Answer::json("Accepted", "It is taken.")])
        .errors(&[&[Code::Validation, Code::ClientUnknown]])
        .counts(Throttle::Recovery);
