//! The accounts of those who run a site.

use super::{DONE, INVALID, NOT_FOUND};
use crate::{
    openapi::{Answer, Callers, Operation, Throttle},
    subject::Subject,
};
use stoa_kernel::Code;

const ACCOUNT: &[Answer] = &[Answer::json("OperatorAccount", "Who they are, where they are signed in, and problems.")];
const REFUSED: &[Code] = &[Code::Unauthenticated, Code::Forbidden];

const fn operator(id: &'static str, summary: &'static str) -> Operation {
    Operation::new(id, Subject::Operators, Callers::Pages, summary)
}

pub(crate) const OPERATOR_TOKEN_CREATE: Operation =
    operator("operatorTokenCreate", "Gives the pages an access token of the person who uses them")
        .answers(&[Answer::json("OperatorToken", "The token.")])
        .errors(&[REFUSED]);

pub(crate) const OPERATOR_GET: Operation =
    operator("operatorGet", "Tells who runs the site in this browser").answers(ACCOUNT).errors(&[REFUSED]);

pub(crate) const OPERATOR_PASSWORD_CHANGE: Operation =
    operator("operatorPasswordChange", "Changes the password, and ends the other sessions")
        .notes("What the person can put right stands in `problems`.")
        .takes("OperatorPasswordChangeRequest")
        .answers(ACCOUNT)
        .errors(&[REFUSED, &[Code::ProofNeeded]])
        .counts(Throttle::SignIn);

pub(crate) const OPERATOR_SESSION_END: Operation = operator("operatorSessionEnd", "Ends a session")
    .takes("OperatorSessionEndRequest")
    .answers(ACCOUNT)
    .errors(&[REFUSED, &[Code::NotFound]]);

pub(crate) const OPERATOR_SESSION_END_OTHERS: Operation =
    operator("operatorSessionEndOthers", "Ends all sessions but the one that asks")
        .takes("Empty")
        .answers(ACCOUNT)
        .errors(&[REFUSED]);

/// What changes factors asks for: a session in which the person has lately shown who they are.
const PROVED: &[Code] = &[Code::ProofNeeded];

pub(crate) const OPERATOR_FACTOR_LIST: Operation =
    operator("operatorFactorList", "Lists the second factors of who runs the site in this browser")
        .answers(&[Answer::json("OperatorFactorListResponse", "What they have, and whether the site requires one.")])
        .errors(&[REFUSED]);

pub(crate) const OPERATOR_FACTOR_BEGIN: Operation = operator("operatorFactorBegin", "Begins to add a second factor")
    .notes("As `factorBegin` for members: an authenticator, or with the type `WEBAUTHN` a passkey.")
    .takes("OperatorFactorBeginRequest")
    .answers(&[Answer::json(
        "OperatorFactorBeginResponse",
        "The secret for the authenticator, or what the browser is asked for a passkey.",
    )])
    .errors(&[INVALID, REFUSED, PROVED, &[Code::TooMany]])
    .counts(Throttle::Password);

pub(crate) const OPERATOR_FACTOR_CONFIRM: Operation =
    operator("operatorFactorConfirm", "Shows the first code of a second factor, or a new passkey")
        .takes("FactorConfirmRequest")
        .answers(&[Answer::json("FactorConfirmResponse", "The factor; with the first one recovery codes.")])
        .errors(&[NOT_FOUND, REFUSED, PROVED, &[Code::VerificationFailed]])
        .counts(Throttle::Password);

pub(crate) const OPERATOR_FACTOR_RENAME: Operation =
    operator("operatorFactorRename", "Gives an authenticator or a passkey another name")
        .takes("FactorRenameRequest")
        .answers(&[Answer::json("FactorRenameResponse", "The factor.")])
        .errors(&[NOT_FOUND, REFUSED, PROVED])
        .counts(Throttle::Password);

pub(crate) const OPERATOR_FACTOR_REMOVE: Operation = operator("operatorFactorRemove", "Removes a second factor")
    .answers(DONE)
    .errors(&[REFUSED, PROVED, &[Code::NotFound]])
    .counts(Throttle::Password);

pub(crate) const OPERATOR_RECOVERY_CODES_RENEW: Operation =
    operator("operatorRecoveryCodesRenew", "Makes new recovery codes")
        .notes("Those before are worth nothing from then on.")
        .takes("Empty")
        .answers(&[Answer::json("RecoveryCodesResponse", "The codes, shown this once.")])
        .errors(&[REFUSED, PROVED, &[Code::NotFound]])
        .counts(Throttle::Password);

pub(crate) const OPERATOR_PROVE: Operation = operator("operatorProve", "Shows once more who runs the site in this browser")
    .notes(
        "Needed before second factors, the password or what the site says of second factors change. Who has a second factor shows \
         it, the others their password. With `webauthnData` that has nothing the answer is what a passkey is to sign.",
    )
    .takes("OperatorProveRequest")
    .answers(&[Answer::json("OperatorProveResponse", "Until when it holds, in this session; or what a passkey is to sign.")])
    .errors(&[INVALID, REFUSED, PROVED, &[Code::PasswordWrong, Code::VerificationFailed]])
    .counts(Throttle::SignIn);
