//! Sort, paging and included references.

use super::{
    member::{field_name, present},
    report::Report,
};
use crate::QueryLimits;
use serde_json::{Map, Value as Json};
use stoa_kernel::{Code, Fault, Result};

/// How the items are to be ordered.
#[derive(Debug, Clone, PartialEq)]
pub enum Sort {
    /// In order of importance; none for the collection's default.
    Keys(Vec<SortKey>),
    Random {
        seed: Option<i64>,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SortKey {
    pub field: String,
    pub descending: bool,
}

/// Which page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Paging {
    Offset {
        limit: Option<u32>,
        offset: u64,
    },
    /// Without a cursor: the first page by cursor.
    Cursor {
        limit: Option<u32>,
        cursor: Option<String>,
    },
}

/// A reference field whose items are wanted in place of their ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    pub field: String,
    pub limit: Option<u32>,
}

/// The largest integer that clients count with.
const MAX_INTEGER: f64 = 9_007_199_254_740_991.0;
const MAX_SORT_KEYS: usize = 10;

pub(super) fn sort_keys(query: &Map<String, Json>, report: &mut Report) -> Vec<SortKey> {
    let list = match present(query, "sort") {
        None => Ok(&[][..]),
        Some(Json::Array(list)) if list.len() <= MAX_SORT_KEYS => Ok(list.as_slice()),
        Some(Json::Array(_)) => {
            Err(Fault::because(Code::BadRequest, format!("sort has more than {MAX_SORT_KEYS} elements")))
        }
        Some(_) => Err(Fault::because(Code::SortNotList, "sort must be a list")),
    };
    let list = report.member("sort", list);
    let mark = report.enter("sort");
    let mut keys = Vec::with_capacity(list.len());
    for (n, element) in list.iter().enumerate() {
        let mark = report.enter_element(n);
        keys.extend(sort_key(element, report));
        report.leave(mark);
    }
    report.leave(mark);
    keys
}

/// By these keys, unless a request wants a random order.
pub(super) fn sort(keys: Vec<SortKey>, request: &Map<String, Json>, report: &mut Report) -> Sort {
    let is_random = match present(request, "sortMode").map(Json::as_str) {
        None | Some(Some("WIX_QUERY" | "UNKNOWN_SORT_MODE")) => Ok(false),
        Some(Some("RANDOM")) => Ok(true),
        Some(_) => Err(Fault::because(Code::BadRequest, "sortMode must be WIX_QUERY or RANDOM")),
    };
    match report.member("sortMode", is_random) {
        true => Sort::Random { seed: seed(request, report) },
        false => Sort::Keys(keys),
    }
}

fn sort_key(element: &Json, report: &mut Report) -> Option<SortKey> {
    let Json::Object(element) = element else {
        return report.keep(Err(Fault::because(Code::SortElement, "elements of sort must be objects")));
    };
    let field = match present(element, "fieldName") {
        Some(Json::String(field)) => field_name(field),
        _ => Err(Fault::because(Code::SortNotText, "fieldName in sort must be a string")),
    };
    let field = report.member("fieldName", field);
    Some(SortKey { field, descending: report.member("order", descending(element, "order")) })
}

pub(super) fn descending(object: &Map<String, Json>, member: &str) -> Result<bool> {
    match present(object, member).map(Json::as_str) {
        None | Some(Some("ASC")) => Ok(false),
        Some(Some("DESC")) => Ok(true),
        Some(_) => Err(Fault::because(Code::SortDirection, format!("{member} must be ASC or DESC"))),
    }
}

fn seed(request: &Map<String, Json>, report: &mut Report) -> Option<i64> {
    let options = match present(request, "randomOptions") {
        None => Ok(None),
        Some(Json::Object(it)) => Ok(Some(it)),
        Some(_) => Err(Fault::because(Code::OptionsInvalid, "randomOptions must be an object")),
    };
    let seed = report.member("randomOptions", options)?.get("seed")?;
    let mark = report.enter("randomOptions");
    // Clients ask of a seed at once whether it is an integer (docs/protocol/content.md §13.1).
    let seed = report.member("seed", whole(seed.as_f64().unwrap_or(f64::NAN), "seed").map(Some));
    report.leave(mark);
    seed
}

pub(super) fn paging(query: &Map<String, Json>, limits: &QueryLimits, report: &mut Report) -> Paging {
    paging_within(query, limits.query_limit, limits.cursor_limit, report)
}

/// The same with the most that a page by offset and one by cursor may have.
pub(super) fn paging_within(
    query: &Map<String, Json>,
    most: usize,
    by_cursor_most: usize,
    report: &mut Report,
) -> Paging {
    let read = |name: &str| match present(query, name) {
        None => Ok(None),
        Some(Json::Object(it)) => Ok(Some(it)),
        Some(_) => Err(Fault::because(Code::PagingInvalid, format!("{name} must be an object"))),
    };
    let by_offset = report.member("paging", read("paging"));
    let by_cursor = report.member("cursorPaging", read("cursorPaging"));
    let mark = report.enter("paging");
    let offset = by_offset.map_or(0, |it| report.member("offset", offset(it, by_cursor.is_some())));
    let Some(by_cursor) = by_cursor else {
        let limit = by_offset.and_then(|it| report.member("limit", limit_to(it, most)));
        report.leave(mark);
        return Paging::Offset { limit, offset };
    };
    report.leave(mark);
    let mark = report.enter("cursorPaging");
    let cursor = match present(by_cursor, "cursor") {
        None => Ok(None),
        Some(Json::String(it)) => Ok(Some(it.clone())),
        Some(_) => Err(Fault::because(Code::CursorInvalid, "cursor must be a string")),
    };
    let cursor = report.member("cursor", cursor);
    let limit = report.member("limit", limit_to(by_cursor, by_cursor_most));
    report.leave(mark);
    Paging::Cursor { limit, cursor }
}

fn offset(paging: &Map<String, Json>, is_by_cursor: bool) -> Result<u64> {
    let offset = integer(paging, "offset")?.unwrap_or(0);
    match u64::try_from(offset) {
        Err(_) => Err(Fault::because(Code::Negative, "offset must not be negative")),
        Ok(1..) if is_by_cursor => Err(Fault::because(Code::BadRequest, "skip can't be used with cursor paging")),
        Ok(offset) => Ok(offset),
    }
}

impl Reference {
    /// What a request wants included: `includeReferences`, and the older `includeReferencedItems`.
    ///
    /// # Errors
    /// All that is wrong with it.
    pub fn parse_all(request: &Map<String, Json>, limits: &QueryLimits) -> Result<Vec<Self>> {
        let mut report = Report::default();
        let read = references(request, limits, &mut report);
        report.finish(read)
    }
}

pub(super) fn references(request: &Map<String, Json>, limits: &QueryLimits, report: &mut Report) -> Vec<Reference> {
    let list = |name: &str, most: usize| match present(request, name) {
        None => Ok(&[][..]),
        Some(Json::Array(it)) if it.len() > most => {
            Err(Fault::because(Code::BadRequest, format!("{name} has more than {most} elements")))
        }
        Some(Json::Array(it)) => Ok(it.as_slice()),
        Some(_) => Err(Fault::because(Code::BadRequest, format!("{name} must be a list"))),
    };
    let mut references = Vec::new();
    let elements = report.member("includeReferences", list("includeReferences", limits.includes));
    let mark = report.enter("includeReferences");
    for (n, element) in elements.iter().enumerate() {
        let mark = report.enter_element(n);
        match element {
            Json::Object(element) => {
                let limit = report.member("limit", limit_to(element, limits.include_limit));
                let field = report.member("field", reference_name(element.get("field")));
                references.push(Reference { field, limit });
            }
            _ => {
                let text = "elements of includeReferences must be objects";
                report.keep::<()>(Err(Fault::because(Code::BadRequest, text)));
            }
        }
        report.leave(mark);
    }
    report.leave(mark);
    let names = report.member("includeReferencedItems", list("includeReferencedItems", limits.include_names));
    let mark = report.enter("includeReferencedItems");
    for (n, element) in names.iter().enumerate() {
        let mark = report.enter_element(n);
        let field = report.keep(reference_name(Some(element)));
        references.extend(field.map(|field| Reference { field, limit: None }));
        report.leave(mark);
    }
    if references.len() > limits.includes {
        let text = format!("at most {} references can be included", limits.includes);
        report.keep::<()>(Err(Fault::because(Code::BadRequest, text)));
    }
    report.leave(mark);
    references
}

fn reference_name(value: Option<&Json>) -> Result<String> {
    match value {
        Some(Json::String(it)) if it.is_empty() => {
            Err(Fault::because(Code::NameEmpty, "the name of a reference field must not be empty"))
        }
        Some(Json::String(it)) => field_name(it),
        _ => Err(Fault::because(Code::FieldNotText, "the name of a reference field must be a string")),
    }
}

fn limit_to(object: &Map<String, Json>, most: usize) -> Result<Option<u32>> {
    let most = most as i64;
    match integer(object, "limit")? {
        None => Ok(None),
        Some(it) if it < 1 => Err(Fault::because(Code::NotPositive, "limit must be positive")),
        Some(it) if it > most => {
            Err(Fault::because(Code::AboveMaximum, format!("limit must be at most {most}")).with("threshold", most))
        }
        Some(it) => Ok(Some(it as u32)),
    }
}

/// A whole number that clients can count with. Clients send none as null.
///
/// # Errors
/// WDE0032 for what is no number, WDE0035 for one that isn't whole or too large.
pub(super) fn integer(object: &Map<String, Json>, name: &str) -> Result<Option<i64>> {
    let Some(value) = object.get(name) else { return Ok(None) };
    match value.as_f64() {
        Some(it) => whole(it, name).map(Some),
        None => Err(Fault::because(Code::NotNumber, format!("{name} must be a number"))),
    }
}

fn whole(number: f64, name: &str) -> Result<i64> {
    match number.fract() != 0.0 || number.abs() >= MAX_INTEGER {
        true => Err(Fault::because(Code::NotInteger, format!("{name} must be an integer"))),
        false => Ok(number as i64),
    }
}
