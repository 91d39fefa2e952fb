//! What the account pages of this server ask.

use crate::{
    openapi::{Answer, Callers, Operation, Throttle},
    subject::Subject,
};
use stoa_kernel::Code;

const VIEW: &[Answer] = &[Answer::json("FlowView", "The step that the person is at.")];
const APPROVAL: &[Answer] = &[Answer::json("ApprovalView", "Who waits, or what was decided.")];

const fn page(id: &'static str, summary: &'static str) -> Operation {
    Operation::new(id, Subject::AccountPages, Callers::Pages, summary)
}

pub(crate) const FLOW_START: Operation = page("flowStart", "Begins a flow")
    .takes("FlowStart")
    .answers(VIEW)
    .errors(&[&[Code::Forbidden, Code::ClientUnknown, Code::RedirectRefused, Code::LinkInvalid]])
    .counts(Throttle::Flow);

pub(crate) const FLOW_GET: Operation =
    page("flowGet", "Tells where a flow stands").answers(VIEW).errors(&[&[Code::Forbidden, Code::StateTokenInvalid]]);

pub(crate) const FLOW_ANSWER: Operation = page("flowAnswer", "Takes what a person sent to the step of a flow")
    .notes("What is wrong with it stands in the `problems` of the view.")
    .takes("FlowInput")
    .answers(VIEW)
    .errors(&[&[Code::Forbidden, Code::StateTokenInvalid]])
    .counts(Throttle::SignIn);

pub(crate) const MEMBER_ACCOUNT_OPEN: Operation =
    page("memberAccountOpen", "Tells which member is signed in in this browser, and gives the pages a token of theirs")
        .takes("Empty")
        .answers(&[Answer::json("MemberAccount", "Who they are, and the token.")])
        .errors(&[&[Code::Unauthenticated, Code::Forbidden]]);

pub(crate) const APPROVAL_GET: Operation = page("approvalGet", "Tells which member waits to be let in")
    .takes("LinkBody")
    .answers(APPROVAL)
    .errors(&[&[Code::Forbidden, Code::LinkInvalid]]);

pub(crate) const APPROVAL_DECIDE: Operation = page("approvalDecide", "Lets a member in, or not")
    .takes("ApprovalDecideRequest")
    .answers(APPROVAL)
    .errors(&[&[Code::Forbidden, Code::LinkInvalid]]);
