//! Everything a test needs to run on real engines: never a mock of what can be run.
//!
//! [`on_both_engines!`] makes two tests out of one, and each gets a database of its own.

#![allow(clippy::unwrap_used, reason = "a test that can't be set up has failed")]

mod app;
mod effort;
mod exchanges;
pub mod openid;
mod p256;
pub mod passkey;
pub mod places;
mod push_service;
mod reach;
mod siteverify;
mod store;
mod streamed;
mod telephone;

pub use app::{Reply, Service, TestApp, TestClient};
pub use effort::rounds;
pub use exchanges::{TRAFFIC, traffic_directory};
pub use push_service::{PushService, Pushed};
pub use reach::local_reach;
pub use siteverify::Provider;
pub use store::{Engine, Guards, Node, TestDatabase, TestStore, postgres_url};
pub use streamed::{Message, Streamed};
pub use telephone::{Rung, TelephoneExchange};

/// Runs an async test once on SQLite and once on PostgreSQL.
///
/// ```text
/// on_both_engines! {
///     async fn an_item_comes_back(engine) { … }
/// }
/// ```
#[macro_export]
macro_rules! on_both_engines {
    ($($(#[$meta:meta])* async fn $name:ident($engine:ident) $body:block)+) => {$(
        mod $name {
            use super::*;
            $(#[$meta])*
            async fn check($engine: $crate::Engine) $body

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn sqlite() { check($crate::Engine::Sqlite).await }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn postgres() { check($crate::Engine::Postgres).await }
        }
    )+};
}
