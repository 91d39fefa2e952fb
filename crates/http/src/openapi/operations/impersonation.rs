//! Owners who act as members.

use super::NOT_FOUND;
use crate::{
    openapi::{Answer, Callers, Operation, Throttle},
    subject::Subject,
};
use stoa_kernel::Code;

const STARTS: &[Code] = &[Code::PasswordWrong, Code::ProofNeeded, Code::MemberBlocked];

const fn impersonation(id: &'static str, callers: Callers, summary: &'static str) -> Operation {
    Operation::new(id, Subject::Sessions, callers, summary)
}

pub(crate) const IMPERSONATION_START: Operation =
    impersonation("impersonationStart", Callers::Persons, "Begins that an owner acts as a member")
        .notes(
            "The owner shows their own password, has shown their second factor lately where they have one, and says why, which the audit log keeps. The policy says how far it goes \
             (`impersonation`). The token lives for half an hour at most and is not renewed; it says whose it is (`act`), reads \
             what the member may, and with `WRITE` changes items as the member may, and nothing else. What the same owner began \
             with the member before ends. The member is told by mail, sees it among their sessions, and can end it.",
        )
        .takes("ImpersonationStartRequest")
        .answers(&[Answer::json("ImpersonationStartResponse", "The token.")])
        .errors(&[NOT_FOUND, STARTS])
        .counts(Throttle::Password);

pub(crate) const IMPERSONATION_END: Operation =
    impersonation("impersonationEnd", Callers::Owners, "Ends that owners act as a member")
        .answers(&[Answer::json("ImpersonationEndResponse", "How many did.")])
        .errors(&[NOT_FOUND]);
