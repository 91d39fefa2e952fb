//! What webhooks need of identity: the key that their secrets are sealed with, who issues their tokens, and a message to
//! owners. Webhooks themselves are `stoa_webhooks`.

mod notice;
mod secret;

pub(crate) use secret::{left, reseal};
