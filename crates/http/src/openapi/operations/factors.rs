//! Second factors of members.

use super::{DONE, INVALID, NOT_FOUND, REFUSED};
use crate::{
    openapi::{Answer, Callers, Operation, Throttle},
    subject::Subject,
};
use stoa_kernel::Code;

const STATE: &[Answer] = &[Answer::json("StateMachine", "Where the sign-in stands; a session token when it is done.")];
const CODES: &[Answer] = &[Answer::json("RecoveryCodesResponse", "The codes, shown this once.")];
/// What changes factors asks for: a member's own session, in which they have lately shown who they are.
const PROVED: &[Code] = &[Code::Forbidden, Code::ProofNeeded];

const fn own(id: &'static str, summary: &'static str) -> Operation {
    Operation::new(id, Subject::Factors, Callers::Members, summary)
}

pub(crate) const FACTOR_VERIFY: Operation = Operation::new(
    "factorVerify",
    Subject::SignIn,
    Callers::Known,
    "Shows the second factor that a sign-in asks for",
)
.notes(
    "With the `stateToken` of a state `MFA_CHALLENGE`. Without a code it answers the challenge for the factor of the \
             path, with what a passkey is to sign for `WEBAUTHN`; with `EMAIL`, `SMS` and `CALL` it sends one, which counts with the state token of that answer. `SMS` and `CALL` are there where the server has a telephone provider. \
             With `PUSH` the member's browsers are asked: the two digits of `hint` are to be typed there. With that `transactionId` and the new state token it answers the same while the question waits, and goes on once it is approved.",
)
.takes("FactorVerifyRequest")
.answers(STATE)
.errors(&[INVALID, &[Code::StateTokenInvalid, Code::VerificationFailed]])
.counts(Throttle::SignIn);

pub(crate) const FACTOR_LIST: Operation = own("factorList", "Lists the calling member's second factors")
    .answers(&[Answer::json("FactorListResponse", "What the member has, and what the site allows.")])
    .errors(&[REFUSED]);

pub(crate) const FACTOR_BEGIN: Operation = own("factorBegin", "Begins to add a second factor")
    .notes("It counts once a code of it was shown, within a quarter of an hour; one that is sent lives ten minutes, and a passkey is made within five; `PASSWORD` counts at once, beside an identity provider. Members show first that their address is theirs.")
    .may_take("FactorBeginRequest")
    .answers(&[Answer::json("FactorBeginResponse", "The secret for the authenticator, where the code went, or what the browser is asked for a passkey. A browser of `PUSH` was sent its code.")])
    .errors(&[INVALID, PROVED, &[Code::VerificationRequired, Code::TooMany]])
    .counts(Throttle::Password);

pub(crate) const FACTOR_CONFIRM: Operation =
    own("factorConfirm", "Shows the first code of a second factor, or a new passkey")
        .takes("FactorConfirmRequest")
        .answers(&[Answer::json("FactorConfirmResponse", "The factor; with the first one recovery codes.")])
        .errors(&[NOT_FOUND, PROVED, &[Code::VerificationRequired, Code::VerificationFailed]])
        .counts(Throttle::Password);

pub(crate) const FACTOR_RENAME: Operation =
    own("factorRename", "Gives an authenticator, a passkey or a browser another name")
        .takes("FactorRenameRequest")
        .answers(&[Answer::json("FactorRenameResponse", "The factor.")])
        .errors(&[NOT_FOUND, PROVED])
        .counts(Throttle::Password);

pub(crate) const FACTOR_REMOVE: Operation = own("factorRemove", "Removes a second factor")
    .answers(DONE)
    .errors(&[NOT_FOUND, PROVED])
    .counts(Throttle::Password);

pub(crate) const RECOVERY_CODES_RENEW: Operation = own("recoveryCodesRenew", "Makes new recovery codes")
    .notes("Those before are worth nothing from then on.")
    .may_take("Empty")
    .answers(CODES)
    .errors(&[NOT_FOUND, PROVED])
    .counts(Throttle::Password);

pub(crate) const REMEMBERED_BROWSERS_FORGET: Operation =
    own("rememberedBrowsersForget", "Asks for a second factor in every browser again").answers(DONE).errors(&[REFUSED]);

pub(crate) const MEMBER_PROVE: Operation = own("memberProve", "Shows once more who the calling member is")
    .notes("Needed before second factors change. Members who have one show it, the others their password. With `emailData`, `smsData` or `callData` that has no code one is sent; with `pushData` that has no transaction the member's browsers are asked, and while the question waits its transaction answers the same; with `webauthnData` that has nothing the answer is what a passkey is to sign.")
    .takes("MemberProveRequest")
    .answers(&[Answer::json("MemberProveResponse", "Until when it holds, in this session; or where the code went, what is to be typed in a browser, or what a passkey is to sign.")])
    .errors(&[REFUSED, &[Code::ProofNeeded, Code::PasswordWrong, Code::VerificationFailed]])
    .counts(Throttle::SignIn);

pub(crate) const FACTORS_RESET: Operation =
    Operation::new("factorsReset", Subject::Factors, Callers::Owners, "Removes all second factors of a member")
        .answers(&[Answer::json("FactorsResetResponse", "How many there were, recovery codes not counted.")])
        .errors(&[NOT_FOUND, &[Code::ProofNeeded]]);

const fn push(id: &'static str, summary: &'static str) -> Operation {
    Operation::new(id, Subject::AccountPages, Callers::Pages, summary)
}

pub(crate) const PUSH_QUESTION_GET: Operation =
    push("pushQuestionGet", "Tells a browser that a member enrolled which sign-in, or change of the account, asks it")
        .notes("By the token of the message that went to the browser, for two minutes. No session is needed.")
        .takes("LinkBody")
        .answers(&[Answer::json("PushQuestion", "Where somebody signs in, or changes the account.")])
        .errors(&[&[Code::Forbidden, Code::NotFound]])
        .counts(Throttle::SignIn);

pub(crate) const PUSH_QUESTION_ANSWER: Operation = push("pushQuestionAnswer", "Approves or denies the sign-in that asks")
    .notes("Once. Another number than the one that is shown where somebody signs in denies it. After two denials within an hour the member's browsers are asked nothing for an hour.")
    .takes("PushAnswerRequest")
    .answers(DONE)
    .errors(&[INVALID, &[Code::Forbidden, Code::NotFound, Code::VerificationFailed]])
    .counts(Throttle::SignIn);
