//! The calls of identity, one file an entity.

pub(crate) mod api_call;
pub(crate) mod app_key;
pub mod approval;
pub mod authentication;
pub mod authorize;
mod browser;
pub mod community;
mod cursor;
pub(crate) mod deletion;
pub(crate) mod factors;
mod filter;
pub mod flow;
pub mod install;
pub mod logout;
pub(crate) mod member_account;
pub(crate) mod member_auth;
mod member_wire;
pub mod members;
pub(crate) mod operator_account;
mod page;
mod page_call;
pub mod policy;
pub mod recovery;
pub mod redirect;
pub(crate) mod sessions;
pub mod token;
pub mod verification;
