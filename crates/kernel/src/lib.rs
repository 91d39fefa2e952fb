//! The types that all crates share: who calls, what ids look like, what can go wrong, what time it is.
//!
//! Nothing here does I/O, and nothing here knows a database, a protocol or a collection.

pub mod actor;
pub mod caller;
pub mod clock;
pub mod code;
pub mod date;
pub mod event;
pub mod fault;
pub mod faults;
pub mod fold;
pub mod ids;
pub mod json;
pub mod kind;
pub mod language;
pub mod limit;
pub mod nearest;
pub mod network;
pub mod scopes;
pub mod secret;
pub mod text;

pub use actor::EventActor;
pub use caller::{Caller, Impersonator, Role, ScopedCaller};
pub use clock::{Clock, Millis, Rng, World};
pub use code::Code;
pub use event::{DomainEvent, EventSource};
pub use fault::{Fault, Result, Violation};
pub use faults::Faults;
pub use ids::*;
pub use kind::{EntryKind, EventType, Form};
pub use language::LanguageTag;
pub use network::Network;
pub use scopes::{Area, Right, Scopes};
pub use secret::{Secret, TokenHash};
pub use text::Email;
