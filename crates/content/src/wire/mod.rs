//! What clients send, parsed: requests, items, patches. Nothing here knows what is stored.

pub(crate) mod edit;
pub(crate) mod items;
pub(crate) mod options;
pub(crate) mod patch;
pub(crate) mod request;
pub(crate) mod task;
pub(crate) mod validator;
