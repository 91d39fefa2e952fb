//! Typed ids, one list. All are text on the wire and in the database; those that we make are UUIDv7.

use std::{fmt, sync::Arc};

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident)+) => {$(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
        #[serde(transparent)]
        pub struct $name(Arc<str>);

        impl $name {
            pub fn new(text: impl Into<Arc<str>>) -> Self {
                Self(text.into())
            }
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({})", stringify!($name), self.0)
            }
        }
        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.into())
            }
        }
        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(text.into())
            }
        }
    )+};
}

ids! {
    /// The unit of everything: one website with its people and content.
    SiteId
    /// A public OAuth client of a site (a front end).
    ClientId
    /// An API key (not its secret).
    KeyId
    /// An anonymous visitor; no row exists until the visitor owns something.
    VisitorId
    /// A member of a site.
    MemberId
    /// An operator (Owner or Editor).
    UserId
    /// A signed-in session of a member or an operator of the site.
    SessionId
    /// A collection's public id, at most 256 characters, chosen by its maker.
    CollectionId
    /// An item's `_id`, chosen by the client or a UUIDv7.
    ItemId
    /// A sign-in, sign-up or recovery in progress.
    FlowId
    /// A webhook endpoint of a site.
    EndpointId
}
