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

mod aggregate;
mod expression;
mod filter;
mod member;
mod page;
mod pipeline;
mod report;
mod search;

pub(crate) use report::{at, shortened};

pub use aggregate::{Aggregate, Operation, OperationKind};
pub use expression::Named;
pub use filter::{Condition, Filter, Operator};
pub use page::{Paging, Reference, Sort, SortKey};
pub use pipeline::{Member, Pipeline, Stage};
pub use search::{Highlight, Search, Words};

use crate::QueryLimits;
use member::{field_name, flag, names, present};
use report::Report;
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
    ///
    /// # Errors
    /// All that is wrong with it.
    pub fn parse(request: &Map<String, Json>, limits: &QueryLimits) -> Result<Self> {
        let mut report = Report::default();
        let read = Self {
            fields: names(request, "fields", MAX_NAMES, &mut report),
            descending: report.member("order", page::descending(request, "order")),
            paging: page::paging(request, limits, &mut report),
            total: report.member("returnTotalCount", flag(request, "returnTotalCount")),
        };
        report.finish(read)
    }
}

impl Query {
    /// Reads the body of a query request; members that it doesn't know are left to others.
    ///
    /// # Errors
    /// All that is wrong with it.
    pub fn parse(request: &Map<String, Json>, limits: &QueryLimits) -> Result<Self> {
        let empty = Map::new();
        let query = match present(request, "query") {
            None => Ok(Some(&empty)),
            Some(Json::Object(it)) => Ok(Some(it)),
            Some(_) => Err(Fault::because(Code::BadRequest, "query must be an object")),
        };
        let mut report = Report::default();
        let query = report.member("query", query).unwrap_or(&empty);
        let mark = report.enter("query");
        let filter = Filter::read_member(query, limits, &mut report);
        let keys = page::sort_keys(query, &mut report);
        let fields = names(query, "fields", MAX_NAMES, &mut report);
        let paging = page::paging(query, limits, &mut report);
        report.leave(mark);
        let read = Self {
            filter,
            sort: page::sort(keys, request, &mut report),
            fields,
            paging,
            total: report.member("returnTotalCount", flag(request, "returnTotalCount")),
            references: page::references(request, limits, &mut report),
            field_groups: names(request, "includeFieldGroups", limits.field_groups, &mut report),
        };
        report.finish(read)
    }
}

impl Distinct {
    /// Reads the body of a distinct request.
    ///
    /// # Errors
    /// All that is wrong with it.
    pub fn parse(request: &Map<String, Json>, limits: &QueryLimits) -> Result<Self> {
        let field = match present(request, "fieldName") {
            Some(Json::String(field)) => field_name(field),
            _ => Err(Fault::because(Code::FieldNotText, "fieldName must be a string")),
        };
        let mut report = Report::default();
        let read = Self {
            field: report.member("fieldName", field),
            filter: Filter::read_member(request, limits, &mut report),
            descending: report.member("order", page::descending(request, "order")),
            paging: page::paging(request, limits, &mut report),
            total: report.member("returnTotalCount", flag(request, "returnTotalCount")),
        };
        report.finish(read)
    }
}

/// The most names of fields in a projection: as many as a collection may be allowed.
const MAX_NAMES: usize = 1000;
