//! What those who run a site do with members: create, edit, import, move.

pub(crate) mod bulk;
pub(crate) mod edit;
pub(crate) mod import;
