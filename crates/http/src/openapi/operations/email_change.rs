//! Members who give their account another address.

use super::REFUSED;
use crate::{
    openapi::{Answer, Callers, Operation, Throttle},
    subject::Subject,
};
use stoa_kernel::Code;

const VIEW: &[Answer] = &[Answer::json("EmailChangeView", "Which address it is.")];
const LINK: &[Code] = &[Code::Forbidden, Code::LinkInvalid];
/// A member's own session, in which they have lately shown who they are.
const PROVED: &[Code] = &[Code::ProofNeeded];

pub(crate) const EMAIL_CHANGE_BEGIN: Operation = Operation::new(
    "emailChangeBegin",
    Subject::Members,
    Callers::Members,
    "Sends a code to an address that the calling member wants",
)
.notes(
    "The member shows first who they are, by `/_api/identity/v1/proof`. It answers alike whether or not another member has the \
     address.",
)
.takes("EmailChangeBeginRequest")
.answers(&[Answer::json("EmailChangeBeginResponse", "The code is on its way.")])
.errors(&[REFUSED, PROVED])
.counts(Throttle::Password);

pub(crate) const EMAIL_CHANGE_CONFIRM: Operation = Operation::new(
    "emailChangeConfirm",
    Subject::Members,
    Callers::Members,
    "Gives the calling member's account the address to which the last code of the session went",
)
.notes("For seven days the link in a message to the address before takes it back, where that was shown to be the member's.")
.takes("EmailChangeConfirmRequest")
.answers(&[Answer::json("EmailChangeConfirmResponse", "The account has the address.")])
.errors(&[REFUSED, PROVED, &[Code::VerificationFailed, Code::EmailTaken]])
.counts(Throttle::SignIn);

pub(crate) const EMAIL_CHANGE_GET: Operation = Operation::new(
    "emailChangeGet",
    Subject::AccountPages,
    Callers::Pages,
    "Tells which address an account can have again, by the link in the message",
)
.takes("LinkBody")
.answers(VIEW)
.errors(&[LINK]);

pub(crate) const EMAIL_CHANGE_UNDO: Operation = Operation::new(
    "emailChangeUndo",
    Subject::AccountPages,
    Callers::Pages,
    "Gives an account the address of before again",
)
.notes("All sessions end, and the password is set again by a recovery link.")
.takes("LinkBody")
.answers(VIEW)
.errors(&[LINK, &[Code::EmailTaken]]);
