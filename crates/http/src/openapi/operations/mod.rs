//! Every operation as data, a file a subject, and what several of them share.

pub(crate) mod apps;
pub(crate) mod badges;
pub(crate) mod collections;
pub(crate) mod deletion;
pub(crate) mod email_change;
pub(crate) mod factors;
pub(crate) mod fields;
pub(crate) mod graphql;
pub(crate) mod hooks;
pub(crate) mod impersonation;
pub(crate) mod indexes;
pub(crate) mod items;
pub(crate) mod members;
pub(crate) mod operators;
pub(crate) mod pages;
pub(crate) mod permissions;
pub(crate) mod providers;
pub(crate) mod realtime;
pub(crate) mod redirects;
pub(crate) mod references;
pub(crate) mod relations;
pub(crate) mod roles;
pub(crate) mod server;
pub(crate) mod sessions;
pub(crate) mod settings;
pub(crate) mod sign_in;
pub(crate) mod tasks;
pub(crate) mod tokens;
pub(crate) mod verification;
pub(crate) mod webhooks;

use super::{Answer, Content, Media, Parameter};
use stoa_kernel::Code;

/// `{}`.
const DONE: &[Answer] = &[Answer::json("Empty", "It is done.")];

/// The answer to a call on many, each with a result of its own.
const EACH: &[Answer] = &[Answer::json("BulkResponse", "What became of each, in the order of the request.")];

/// A browser is sent on.
const fn redirect(about: &'static str) -> Answer {
    Answer { status: 303, about, content: None }
}

/// A page for people.
const fn page(about: &'static str) -> Answer {
    Answer { status: 200, about, content: Some(Content { media: Media::Html, schema: None }) }
}

/// Nothing new since the tag that was sent.
const UNCHANGED: Answer = Answer::empty(304, "Nothing has changed since the tag in `if-none-match`.");

/// All of what is asked, in one value.
const PACKED: Parameter = Parameter::text(".r", "All that stands in the query, as JSON in base64url.");
const LIMIT: Parameter = Parameter::number("paging.limit", "As many on a page, at most.");
const OFFSET: Parameter = Parameter::number("paging.offset", "As many are left out before.");
const CURSOR_LIMIT: Parameter = Parameter::number("cursorPaging.limit", "As many on a page, at most.");
const CURSOR: Parameter = Parameter::text("cursorPaging.cursor", "Where the page before ended, as its answer says.");

const PACKED_ONLY: &[Parameter] = &[PACKED];
const PAGED: &[Parameter] = &[LIMIT, OFFSET, PACKED];
const PAGED_BY_CURSOR: &[Parameter] = &[CURSOR_LIMIT, CURSOR, PACKED];

/// What is wrong with a call of the members API: its query or body, member by member.
const INVALID: &[Code] = &[Code::Validation];
/// The same where the caller may have no right, or there is nothing of that id.
const REFUSED: &[Code] = &[Code::Validation, Code::Forbidden];
const NOT_FOUND: &[Code] = &[Code::Validation, Code::Forbidden, Code::NotFound];
const CURSORS: &[Code] = &[Code::CursorInvalid];
/// What a filter of members, or of what is around them, asks for and there isn't.
const FILTERED: &[Code] = &[Code::FilterTooDeep, Code::NotSupported];

/// What is wrong with any call on a collection: the request, the collection's name, or the caller's right.
const IN_COLLECTION: &[Code] =
    &[Code::BadRequest, Code::CollectionNotText, Code::CollectionNotFound, Code::PermissionDenied];

/// The same with a call on items, which tells a deleted collection from none and chooses an environment.
const ON_ITEMS: &[Code] = &[
    Code::BadRequest,
    Code::CollectionNotText,
    Code::OptionsInvalid,
    Code::CollectionNotFound,
    Code::CollectionDeleted,
    Code::PermissionDenied,
    Code::SandboxDisabled,
];

/// What is wrong with an item that is written.
const ITEM_VALUES: &[Code] = &[
    Code::ItemNotObject,
    Code::ItemIdInvalid,
    Code::ItemTooLarge,
    Code::ItemTooDeep,
    Code::FieldNameDollar,
    Code::FieldDeleted,
    Code::RequestInvalid,
    Code::MultiReferenceValue,
    Code::NotSupported,
    Code::UniqueConflict,
    Code::TooManyItems,
];

/// What is wrong with a filter, of a query or a condition.
const FILTER: &[Code] = &[
    Code::FilterNotObject,
    Code::FilterTree,
    Code::FilterInvalid,
    Code::FilterTooDeep,
    Code::FieldNameDollar,
    Code::OperandNotText,
    Code::OperandType,
    Code::ListElementType,
    Code::ListOperand,
    Code::RegexNotAllowed,
    Code::NotSupported,
];

/// What is wrong with a page.
const PAGING: &[Code] =
    &[Code::PagingInvalid, Code::NotNumber, Code::NotPositive, Code::Negative, Code::NotInteger, Code::AboveMaximum];

/// What is wrong with an order of several fields.
const SORT: &[Code] =
    &[Code::SortNotText, Code::SortNotList, Code::SortElement, Code::SortDirection, Code::SortSeveralArrays];
