//! A search for words as it was written (docs/protocol/content.md §3.12).

use super::{
    Filter, Paging, Reference, SortKey,
    member::{flag, names, present},
    page,
    report::Report,
};
use crate::QueryLimits;
use serde_json::{Map, Value as Json};
use stoa_kernel::{Code, Fault, Result};

/// The members of a request that say what is searched for, and which of what is found is wanted.
#[derive(Debug, Clone, PartialEq)]
pub struct Search {
    pub filter: Filter,
    /// None for the best first.
    pub sort: Vec<SortKey>,
    /// Dotted names of what is wanted of each item; empty for all fields.
    pub fields: Vec<String>,
    /// The limit is known.
    pub paging: Paging,
    pub references: Vec<Reference>,
    pub words: Words,
}

/// What is searched for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Words {
    /// Blank for all items.
    pub expression: String,
    /// Whether every word may have errors.
    pub fuzzy: bool,
    /// Whether an item must hold all words; else one of them.
    pub all_words: bool,
    /// The fields whose words are searched; empty for all.
    pub within: Vec<String>,
}

/// The page's size when the request names none (docs/protocol/content.md §19).
const DEFAULT_LIMIT: u32 = 100;
/// The most fields that are named to be searched, and the most characters of a name.
const MAX_WITHIN: usize = 20;
const MAX_WITHIN_NAME: usize = 200;
/// As for the projection of a query.
const MAX_NAMES: usize = 1000;

impl Search {
    /// Reads the body of a request; members that it doesn't know are left to others.
    ///
    /// # Errors
    /// All that is wrong with it.
    pub fn parse(request: &Map<String, Json>, limits: &QueryLimits) -> Result<Self> {
        let mut report = Report::default();
        let empty = Map::new();
        let search = report.member("search", object(request, "search")).unwrap_or(&empty);
        let mark = report.enter("search");
        let filter = Filter::read_member(search, limits, &mut report);
        let sort = page::sort_keys(search, &mut report);
        let fields = names(search, "fields", MAX_NAMES, &mut report);
        let paging = page::paging_within(search, limits.search_limit, limits.search_limit, &mut report);
        let words = report.member("search", object(search, "search")).unwrap_or(&empty);
        let inner = report.enter("search");
        let expression = report.member("expression", expression(words));
        let fuzzy = report.member("fuzzy", flag(words, "fuzzy"));
        let all_words = report.member("mode", mode(words));
        let within = within(words, &mut report);
        report.leave(inner);
        report.leave(mark);
        let references = page::references(request, limits, &mut report);
        let paging = with_limit(paging);
        let words = Words { expression, fuzzy, all_words, within };
        report.finish(Self { filter, sort, fields, paging, references, words })
    }
}

fn object<'m>(holder: &'m Map<String, Json>, name: &str) -> Result<Option<&'m Map<String, Json>>> {
    match present(holder, name) {
        None => Ok(None),
        Some(Json::Object(it)) => Ok(Some(it)),
        Some(_) => Err(Fault::because(Code::BadRequest, format!("{name} must be an object"))),
    }
}

fn expression(words: &Map<String, Json>) -> Result<String> {
    match present(words, "expression") {
        None => Ok(String::new()),
        Some(Json::String(it)) => Ok(it.clone()),
        Some(_) => Err(Fault::because(Code::BadRequest, "expression must be a string")),
    }
}

fn mode(words: &Map<String, Json>) -> Result<bool> {
    match present(words, "mode").map(Json::as_str) {
        None | Some(Some("OR")) => Ok(false),
        Some(Some("AND")) => Ok(true),
        Some(_) => Err(Fault::because(Code::BadRequest, "mode must be OR or AND")),
    }
}

fn within(words: &Map<String, Json>, report: &mut Report) -> Vec<String> {
    let names = names(words, "fields", MAX_WITHIN, report);
    let mark = report.enter("fields");
    for (n, name) in names.iter().enumerate() {
        let element = report.enter_element(n);
        if name.chars().count() > MAX_WITHIN_NAME {
            let text = format!("a field to be searched has a name of more than {MAX_WITHIN_NAME} characters");
            report.keep::<()>(Err(Fault::because(Code::BadRequest, text)));
        }
        report.leave(element);
    }
    report.leave(mark);
    names
}

fn with_limit(paging: Paging) -> Paging {
    let known = |limit: Option<u32>| limit.or(Some(DEFAULT_LIMIT));
    match paging {
        Paging::Offset { limit, offset } => Paging::Offset { limit: known(limit), offset },
        Paging::Cursor { limit, cursor } => Paging::Cursor { limit: known(limit), cursor },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parse(search: Json) -> Result<Search> {
        let request = json!({ "dataCollectionId": "c", "search": search });
        Search::parse(request.as_object().expect("an object"), &QueryLimits::default())
    }

    #[test]
    fn what_is_left_out_has_its_default() {
        let read = parse(Json::Null).expect("allowed");
        let words = |expression: &str, is_so, within: &[&str]| Words {
            expression: expression.to_owned(),
            fuzzy: is_so,
            all_words: is_so,
            within: within.iter().map(|it| (*it).to_owned()).collect(),
        };
        assert_eq!(read.words, words("", false, &[]));
        assert_eq!(read.paging, Paging::Offset { limit: Some(100), offset: 0 });
        let read = parse(json!({ "search": { "expression": "red", "mode": "AND", "fuzzy": true, "fields": ["a"] },
            "paging": { "limit": 5, "offset": 2 }, "sort": [{ "fieldName": "a" }] }))
        .expect("allowed");
        assert_eq!((read.words, read.sort.len()), (words("red", true, &["a"]), 1));
        assert_eq!(read.paging, Paging::Offset { limit: Some(5), offset: 2 });
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (search, code, path) in [
            (json!(7), Code::BadRequest, "search"),
            (json!({ "search": [] }), Code::BadRequest, "search.search"),
            (json!({ "search": { "expression": 7 } }), Code::BadRequest, "search.search.expression"),
            (json!({ "search": { "mode": "NOT" } }), Code::BadRequest, "search.search.mode"),
            (json!({ "search": { "fuzzy": 1 } }), Code::OptionsInvalid, "search.search.fuzzy"),
            (json!({ "search": { "fields": "a" } }), Code::FieldNotText, "search.search.fields"),
            (json!({ "search": { "fields": vec!["a"; 21] } }), Code::BadRequest, "search.search.fields"),
            (json!({ "search": { "fields": ["a".repeat(201)] } }), Code::BadRequest, "search.search.fields[0]"),
            (json!({ "paging": { "limit": 1001 } }), Code::AboveMaximum, "search.paging.limit"),
            (json!({ "sort": [{}] }), Code::SortNotText, "search.sort[0].fieldName"),
        ] {
            let fault = parse(search).expect_err(path);
            assert_eq!(fault.code(), code, "{path}");
            assert_eq!(fault.violations().first().map(|it| it.field.as_str()), Some(path));
        }
    }
}
