//! Where a member is signed in, and in which applications.

use super::{DONE, NOT_FOUND, PACKED, REFUSED};
use crate::{
    openapi::{Answer, Callers, Operation, Parameter},
    subject::Subject,
};

const WHOSE: &[Parameter] =
    &[Parameter::text("memberId", "Whose, for owners and keys; their own for members."), PACKED];

const fn session(id: &'static str, summary: &'static str) -> Operation {
    Operation::new(id, Subject::Sessions, Callers::Members, summary).query(WHOSE)
}

pub(crate) const SESSION_LIST: Operation = session("sessionList", "Lists where a member is signed in")
    .answers(&[Answer::json("SessionListResponse", "The sessions.")])
    .errors(&[REFUSED]);

pub(crate) const SESSION_END: Operation = session("sessionEnd", "Ends a session").answers(DONE).errors(&[NOT_FOUND]);

pub(crate) const SESSION_END_OTHERS: Operation =
    session("sessionEndOthers", "Ends all sessions but the one that asks").answers(DONE).errors(&[REFUSED]);

const fn application(id: &'static str, summary: &'static str) -> Operation {
    Operation::new(id, Subject::Sessions, Callers::Members, summary)
}

pub(crate) const APPLICATION_LIST: Operation =
    application("applicationList", "Lists the applications of others that may act for the calling member")
        .answers(&[Answer::json("ApplicationListResponse", "The applications, and what they may do.")])
        .errors(&[REFUSED]);

pub(crate) const APPLICATION_END: Operation =
    application("applicationEnd", "Signs the calling member off an application of others")
        .notes("The consent is taken back, and its tokens are refused from then on.")
        .answers(DONE)
        .errors(&[NOT_FOUND]);
