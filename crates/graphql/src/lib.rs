//! GraphQL over the collections of a site: from a document to the calls of content that it comes to, and from what they
//! answer to the answer.
//!
//! Nothing here does I/O or knows who asks. [`SiteSchema`] is made of the collections that a caller may know of, so that
//! no other exists in it; [`prepare`] reads and checks a document and bounds what it may cost; [`Run`] says what content
//! is to be asked, one call for each field at the top, and prints. Who runs it hands each call to content with the
//! caller, whose rights are decided there and nowhere else (decision 31).
//!
//! Parsing, validation and introspection are the work of `apollo-compiler`; what a document may cost, and running it, are
//! ours.

mod call;
mod cost;
mod error;
mod fragments;
mod limits;
mod name;
mod plan;
mod print;
mod request;
mod run;
mod schema;
mod sdl;
mod shape;
mod types;
mod value;
mod wanted;

pub use error::{Error, ErrorCode, PathStep};
pub use limits::GraphqlLimits;
pub use request::{Request, prepare};
pub use run::{Ask, Page, Run, Written, failure};
pub use schema::SiteSchema;
pub use types::{CollectionType, FieldKind, FieldType, Rights, Write};
