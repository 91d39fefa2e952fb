//! Code of a site, asked before and after what is done with its items.
//!
//! It runs in processes of its own ([`Host`], [`child`]: decision 34), which can be ended at any moment: the engine doesn't stop its own
//! native loops, and it is C beside our keys. What an answer means to a call is the business of content.

mod call;
pub mod child;
mod frame;
mod hook;
mod host;
mod limits;
mod message;
mod plugin;
mod version;

pub use call::{Call, Called, Context, Failure, Outcome, SourceRefusal, Thrown};
#[doc(hidden)]
pub use frame::Incoming;
pub use hook::{Answers, Export, Hook, Hooks};
pub use host::{HookFigures, Host, HostProgram, Tested, judge};
pub use limits::HookLimits;
pub use plugin::{Asking, Plugin, PluginAnswer, Plugins, Question};
pub use version::Version;
