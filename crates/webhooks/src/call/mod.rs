//! What those who manage endpoints ask for: what waits, to send it once more, to try an endpoint, and to read events
//! without one.

pub(crate) mod events;
pub(crate) mod pull;
pub(crate) mod replay;
pub(crate) mod test;
