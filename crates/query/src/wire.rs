//! What a client writes, taken apart but not yet understood: names are text, operands any JSON.
//!
//! Two dialects arrive (docs/protocol/content.md §4.1), one grammar reads both:
//!
//! ```text
//! filter    = { member, … }                  all members hold; {} holds always
//! member    = "$and": [filter, …] | "$or": [filter, …]
//!           | "$not": [filter] | "$not": filter
//!           | field: { operator: operand, … }    all operators hold
//!           | field: value                       the same as { "$eq": value }
//! operator  = "$eq" … | "$not": { operator: operand, … }
//! ```
//!
//! An object is operators when one of its names begins with `$`, except a date (`{"$date": …}`).

mod filter;
mod member;
mod page;

pub use filter::{Condition, Filter, Operator};
pub use page::{Paging, Reference, Sort, SortKey};

use crate::QueryLimits;
use member::{field_name, flag, present, text_list};
use serde_json::{Map, Value as Json};
use stoa_kernel::{Code, Fault, Result};

/// The members of a query request that decide which items are found (docs/protocol/content.md §3.8).
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    pub filter: Filter,
    pub sort: Sort,
    /// Dotted names; empty for all fields.
    pub fields: Vec<String>,
    pub paging: Paging,
    pub total: bool,
    /// For `content` to resolve.
    pub references: Vec<Reference>,
    pub field_groups: Vec<String>,
}

/// The members of a distinct request (docs/protocol/content.md §3.9).
#[derive(Debug, Clone, PartialEq)]
pub struct Distinct {
    pub field: String,
    pub filter: Filter,
    pub descending: bool,
    pub paging: Paging,
    pub total: bool,
}

/// The members of a request for referenced items that say which of them (docs/protocol/content.md §3.6).
#[derive(Debug, Clone, PartialEq)]
pub struct Referenced {
    pub fields: Vec<String>,
    /// By the order of the links.
    pub descending: bool,
    pub paging: Paging,
    pub total: bool,
}

impl Referenced {
    /// Reads the body of such a request.
    pub fn parse(request: &Map<String, Json>, limits: &QueryLimits) -> Result<Self> {
        Ok(Self {
            fields: text_list(request, "fields", Code::FieldNotText, MAX_NAMES)?,
            descending: page::descending(request, "order")?,
            paging: page::paging(request, limits)?,
            total: flag(request, "returnTotalCount")?,
        })
    }
}

impl Query {
    /// Reads the body of a query request; members that it doesn't know are left to others.
    pub fn parse(request: &Map<String, Json>, limits: &QueryLimits) -> Result<Self> {
        let empty = Map::new();
        let query = match present(request, "query") {
            None => &empty,
            Some(Json::Object(it)) => it,
            Some(_) => return Err(Fault::because(Code::BadRequest, "query must be an object")),
        };
        Ok(Self {
            filter: Filter::parse_member(query, limits)?,
            sort: page::sort(query, request)?,
            fields: text_list(query, "fields", Code::FieldNotText, MAX_NAMES)?,
            paging: page::paging(query, limits)?,
            total: flag(request, "returnTotalCount")?,
            references: page::references(request, limits)?,
            field_groups: text_list(request, "includeFieldGroups", Code::FieldNotText, limits.field_groups)?,
        })
    }
}

impl Distinct {
    /// Reads the body of a distinct request.
    pub fn parse(request: &Map<String, Json>, limits: &QueryLimits) -> Result<Self> {
        let Some(Json::String(field)) = present(request, "fieldName") else {
            return Err(Fault::because(Code::FieldNotText, "fieldName must be a string"));
        };
        Ok(Self {
            field: field_name(field)?,
            filter: Filter::parse_member(request, limits)?,
            descending: page::descending(request, "order")?,
            paging: page::paging(request, limits)?,
            total: flag(request, "returnTotalCount")?,
        })
    }
}

/// The most names of fields in a projection: as many as a collection may be allowed.
const MAX_NAMES: usize = 1000;
