//! What goes into a statement. The kinds are those that both engines store alike.

/// A bound parameter.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Null,
    /// `bigint` / `INTEGER`. Flags are 0 and 1, times are UTC milliseconds.
    Int(i64),
    /// `double precision` / `REAL`.
    Real(f64),
    /// `text`.
    Text(String),
    /// `bytea` / `BLOB`.
    Bytes(Vec<u8>),
    /// A list for `= ANY(…)`; see [`crate::Dialect::any_of`].
    Texts(Vec<String>),
}

macro_rules! from {
    ($($from:ty => |$it:ident| $to:expr;)+) => {$(
        impl From<$from> for Value {
            fn from($it: $from) -> Self { $to }
        }
    )+};
}

from! {
    i64 => |it| Self::Int(it);
    i32 => |it| Self::Int(it.into());
    u32 => |it| Self::Int(it.into());
    bool => |it| Self::Int(it.into());
    f64 => |it| Self::Real(it);
    String => |it| Self::Text(it);
    &String => |it| Self::Text(it.clone());
    &str => |it| Self::Text(it.to_owned());
    Vec<u8> => |it| Self::Bytes(it);
    Vec<String> => |it| Self::Texts(it);
    stoa_kernel::TokenHash => |it| Self::Bytes(it.to_vec());
    &stoa_kernel::TokenHash => |it| Self::Bytes(it.to_vec());
    &stoa_kernel::SiteId => |it| it.as_str().into();
    &stoa_kernel::ClientId => |it| it.as_str().into();
    &stoa_kernel::KeyId => |it| it.as_str().into();
    &stoa_kernel::VisitorId => |it| it.as_str().into();
    &stoa_kernel::MemberId => |it| it.as_str().into();
    &stoa_kernel::UserId => |it| it.as_str().into();
    &stoa_kernel::SessionId => |it| it.as_str().into();
    &stoa_kernel::CollectionId => |it| it.as_str().into();
    &stoa_kernel::ItemId => |it| it.as_str().into();
    &stoa_kernel::EndpointId => |it| it.as_str().into();
    &stoa_kernel::FlowId => |it| it.as_str().into();
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(it: Option<T>) -> Self {
        it.map_or(Self::Null, Into::into)
    }
}

/// `params![a, b]`: a list of [`Value`]s from anything that converts.
#[macro_export]
macro_rules! params {
    ($($value:expr),* $(,)?) => { [$($crate::Value::from($value)),*] };
}
