//! Sort, paging and included references.

use super::member::{field_name, present};
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

pub(super) fn sort(query: &Map<String, Json>, request: &Map<String, Json>) -> Result<Sort> {
    let keys = match present(query, "sort") {
        None => Vec::new(),
        Some(Json::Array(list)) if list.len() <= MAX_SORT_KEYS => list.iter().map(sort_key).collect::<Result<_>>()?,
        Some(Json::Array(_)) => {
            return Err(Fault::because(Code::BadRequest, format!("sort has more than {MAX_SORT_KEYS} elements")));
        }
        Some(_) => return Err(Fault::because(Code::SortNotList, "sort must be a list")),
    };
    match present(request, "sortMode").map(Json::as_str) {
        None | Some(Some("WIX_QUERY" | "UNKNOWN_SORT_MODE")) => Ok(Sort::Keys(keys)),
        Some(Some("RANDOM")) => Ok(Sort::Random { seed: seed(request)? }),
        Some(_) => Err(Fault::because(Code::BadRequest, "sortMode must be WIX_QUERY or RANDOM")),
    }
}

fn sort_key(element: &Json) -> Result<SortKey> {
    let Json::Object(element) = element else {
        return Err(Fault::because(Code::SortElement, "elements of sort must be objects"));
    };
    match present(element, "fieldName") {
        Some(Json::String(field)) => {
            Ok(SortKey { field: field_name(field)?, descending: descending(element, "order")? })
        }
        _ => Err(Fault::because(Code::SortNotText, "fieldName in sort must be a string")),
    }
}

pub(super) fn descending(object: &Map<String, Json>, member: &str) -> Result<bool> {
    match present(object, member).map(Json::as_str) {
        None | Some(Some("ASC")) => Ok(false),
        Some(Some("DESC")) => Ok(true),
        Some(_) => Err(Fault::because(Code::SortDirection, format!("{member} must be ASC or DESC"))),
    }
}

fn seed(request: &Map<String, Json>) -> Result<Option<i64>> {
    match present(request, "randomOptions") {
        None => Ok(None),
        Some(Json::Object(options)) => integer(options, "seed"),
        Some(_) => Err(Fault::because(Code::OptionsInvalid, "randomOptions must be an object")),
    }
}

pub(super) fn paging(query: &Map<String, Json>, limits: &QueryLimits) -> Result<Paging> {
    let read = |name: &str| match present(query, name) {
        None => Ok(None),
        Some(Json::Object(it)) => Ok(Some(it)),
        Some(_) => Err(Fault::because(Code::PagingInvalid, format!("{name} must be an object"))),
    };
    let (by_offset, by_cursor) = (read("paging")?, read("cursorPaging")?);
    let offset = by_offset.map_or(Ok(None), |it| integer(it, "offset"))?.unwrap_or(0);
    let offset = u64::try_from(offset).map_err(|_| Fault::because(Code::Negative, "offset must not be negative"))?;
    let Some(by_cursor) = by_cursor else {
        let limit = by_offset.map_or(Ok(None), |it| limit_to(it, limits.query_limit))?;
        return Ok(Paging::Offset { limit, offset });
    };
    if offset > 0 {
        return Err(Fault::because(Code::BadRequest, "skip can't be used with cursor paging"));
    }
    let cursor = match present(by_cursor, "cursor") {
        None => None,
        Some(Json::String(it)) => Some(it.clone()),
        Some(_) => return Err(Fault::because(Code::CursorInvalid, "cursor must be a string")),
    };
    Ok(Paging::Cursor { limit: limit_to(by_cursor, limits.cursor_limit)?, cursor })
}

impl Reference {
    /// What a request wants included: `includeReferences`, and the older `includeReferencedItems`.
    pub fn parse_all(request: &Map<String, Json>, limits: &QueryLimits) -> Result<Vec<Self>> {
        references(request, limits)
    }
}

pub(super) fn references(request: &Map<String, Json>, limits: &QueryLimits) -> Result<Vec<Reference>> {
    let list = |name: &str| match present(request, name) {
        None => Ok(&[][..]),
        Some(Json::Array(it)) => Ok(it.as_slice()),
        Some(_) => Err(Fault::because(Code::BadRequest, format!("{name} must be a list"))),
    };
    let mut references = Vec::new();
    for element in list("includeReferences")? {
        let Json::Object(element) = element else {
            return Err(Fault::because(Code::BadRequest, "elements of includeReferences must be objects"));
        };
        let limit = limit_to(element, limits.include_limit)?;
        references.push(Reference { field: reference_name(element.get("field"))?, limit });
    }
    let names = list("includeReferencedItems")?;
    if names.len() > limits.include_names {
        let text = format!("includeReferencedItems has more than {} elements", limits.include_names);
        return Err(Fault::because(Code::BadRequest, text));
    }
    for element in names {
        references.push(Reference { field: reference_name(Some(element))?, limit: None });
    }
    if references.len() > limits.includes {
        let text = format!("at most {} references can be included", limits.includes);
        return Err(Fault::because(Code::BadRequest, text));
    }
    Ok(references)
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

/// A whole number that clients can count with.
fn integer(object: &Map<String, Json>, name: &str) -> Result<Option<i64>> {
    let Some(value) = present(object, name) else { return Ok(None) };
    // Numbers in the parameters of a URL arrive as text.
    let number = match value {
        Json::Number(it) => it.as_f64(),
        Json::String(it) => it.parse().ok(),
        _ => None,
    };
    let number = number.ok_or_else(|| Fault::because(Code::NotNumber, format!("{name} must be a number")))?;
    if number.fract() != 0.0 || number.abs() >= MAX_INTEGER {
        return Err(Fault::because(Code::NotInteger, format!("{name} must be an integer")));
    }
    Ok(Some(number as i64))
}
