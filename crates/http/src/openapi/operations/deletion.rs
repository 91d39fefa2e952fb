//! Members who want to be deleted, or a copy of what is known of them.

use super::{DONE, NOT_FOUND, REFUSED};
use crate::{
    openapi::{Answer, Callers, Operation, Throttle},
    subject::Subject,
};
use stoa_kernel::Code;

const VIEW: &[Answer] = &[Answer::json("DeletionView", "Which account it is.")];
const LINK: &[Code] = &[Code::Forbidden, Code::LinkInvalid];
/// A member's own session, in which they have lately shown who they are.
const PROVED: &[Code] = &[Code::ProofNeeded];

pub(crate) const DELETION_ASK: Operation =
    Operation::new("deletionAsk", Subject::Members, Callers::Members, "Has the calling member's account deleted")
        .notes(
            "After the days that the policy says (`accountDeletionDays`); until then the member can't sign in, and keeps the \
             account by the link in the message that they get. They show first who they are, by `/_api/identity/v1/proof`.",
        )
        .may_take("DeletionAskRequest")
        .answers(&[Answer::json("DeletionAskResponse", "When the account goes.")])
        .errors(&[REFUSED, PROVED])
        .counts(Throttle::Password);

pub(crate) const MEMBER_EXPORT: Operation =
    Operation::new("memberExport", Subject::Members, Callers::Members, "Gives a member a copy of their data")
        .notes(
            "They show first who they are, by `/_api/identity/v1/proof`. Lists have at most 5,000 rows each. Two copies are made at \
             a time.",
        )
        .answers(&[Answer::json("MemberExport", "What is known.")])
        .errors(&[REFUSED, PROVED])
        .counts(Throttle::Export);

pub(crate) const DELETION_UNDO_BY_OWNER: Operation = Operation::new(
    "deletionUndoByOwner",
    Subject::Members,
    Callers::Owners,
    "Keeps the account of a member who is to be deleted",
)
.may_take("Empty")
.answers(DONE)
.errors(&[NOT_FOUND, &[Code::AlreadyExists]]);

pub(crate) const DELETION_GET: Operation = Operation::new(
    "deletionGet",
    Subject::AccountPages,
    Callers::Pages,
    "Tells which account is to be deleted, by the link in the message",
)
.takes("LinkBody")
.answers(VIEW)
.errors(&[LINK]);

pub(crate) const DELETION_UNDO: Operation =
    Operation::new("deletionUndo", Subject::AccountPages, Callers::Pages, "Keeps an account that is to be deleted")
        .takes("LinkBody")
        .answers(VIEW)
        .errors(&[LINK]);
