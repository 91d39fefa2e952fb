//! Items that are followed: `/_api/realtime/v1/stream`.

use super::{FILTER, PAGING, SORT};
use crate::{
    openapi::{Answer, Callers, Operation},
    subject::Subject,
};
use stoa_kernel::Code;

/// What is wrong with a request as a whole. What is wrong with a subscription for this caller, or in this collection, is a
/// message of the stream.
const REQUEST: &[Code] = &[Code::BadRequest, Code::CollectionNotText, Code::OptionsInvalid, Code::FieldNotText];

pub(crate) const REALTIME_STREAM: Operation = Operation::new(
    "realtimeStream",
    Subject::Realtime,
    Callers::Permitted,
    "Tells changes of items as they happen",
)
.notes(
    "Of collections with `realtime`, to whom may read them: what comes among the items that a subscription asks \
             for, what changes there and what leaves. A comment comes where nothing has been told for 20 seconds. A \
             token in the address is refused. More in docs/realtime.md.",
)
.takes("RealtimeStreamRequest")
.answers(&[Answer::events("RealtimeMessage", "Messages, for an hour at most.")])
.errors(&[REQUEST, FILTER, PAGING, SORT]);
