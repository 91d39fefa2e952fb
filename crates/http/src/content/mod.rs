//! Content over HTTP: one file a noun, each handler a few lines that extract, call and answer.

pub(crate) mod bulk;
pub(crate) mod collections;
pub(crate) mod items;
mod params;
pub(crate) mod read;

use crate::{Call, Problem};
use stoa_kernel::{Code, Fault};

/// Calls of content that this server does not have yet: WDE0119 in the documented shape, to known callers.
pub(crate) async fn not_supported(_: Call) -> Problem {
    Problem(Fault::new(Code::NotSupported))
}
