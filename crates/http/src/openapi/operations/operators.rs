//! The accounts of those who run a site.

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
        .errors(&[REFUSED])
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
