//! A search for words as it was written (docs/protocol/content.md §3.12).

use super::{
    Filter, Paging, Reference, SortKey,
    member::{flag, names, present},
    page::{self, integer},
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
    /// What is wanted of the texts that answer; nothing where they aren't shown apart.
    pub highlight: Option<Highlight>,
    /// Whether other words that may be meant are wanted.
    pub suggests: bool,
}

/// How much is wanted of the texts that answer. No client package sends it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Highlight {
    /// The fields of which it is wanted; empty for all that are searched.
    pub fields: Vec<String>,
    /// The most characters of a fragment of a text.
    pub max_length: usize,
    /// The most fragments of a field.
    pub max_fragments: usize,
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
/// The least and the most characters of a fragment, and how many where none are named; then the same of fragments.
const LENGTH: (i64, i64, i64) = (20, 1000, 200);
const FRAGMENTS: (i64, i64, i64) = (1, 10, 3);

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
        let highlight = highlight(search, &mut report);
        report.leave(mark);
        let suggests = report.member("returnSuggestions", flag(request, "returnSuggestions"));
        let references = page::references(request, limits, &mut report);
        let paging = with_limit(paging);
        let words = Words { expression, fuzzy, all_words, within };
        report.finish(Self { filter, sort, fields, paging, references, words, highlight, suggests })
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

fn highlight(search: &Map<String, Json>, report: &mut Report) -> Option<Highlight> {
    let wanted = report.member("highlight", object(search, "highlight"))?;
    let mark = report.enter("highlight");
    let fields = within(wanted, report);
    let max_length = report.member("maxLength", number(wanted, "maxLength", LENGTH));
    let max_fragments = report.member("maxFragments", number(wanted, "maxFragments", FRAGMENTS));
    for name in wanted.keys().filter(|it| !matches!(it.as_str(), "fields" | "maxLength" | "maxFragments")) {
        let text = "highlight takes fields, maxLength and maxFragments";
        report.member::<()>(name, Err(Fault::because(Code::BadRequest, text)));
    }
    report.leave(mark);
    Some(Highlight { fields, max_length, max_fragments })
}

/// `bounds`: the least, the most, and what stands for none.
fn number(holder: &Map<String, Json>, name: &str, (least, most, default): (i64, i64, i64)) -> Result<usize> {
    let it = match present(holder, name) {
        Some(_) => integer(holder, name)?.unwrap_or(default),
        None => default,
    };
    if (least..=most).contains(&it) {
        return Ok(it as usize);
    }
    Err(Fault::because(Code::BadRequest, format!("{name} must be from {least} to {most}")))
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
    fn highlights_and_suggestions_are_there_where_they_are_asked_for() {
        let read = |search: Json, suggests: Json| {
            let request = json!({ "search": search, "returnSuggestions": suggests });
            Search::parse(request.as_object().expect("an object"), &QueryLimits::default())
                .map(|it| (it.highlight, it.suggests))
        };
        let of = |fields: &[&str], max_length, max_fragments| {
            Some(Highlight { fields: fields.iter().map(|it| (*it).to_owned()).collect(), max_length, max_fragments })
        };
        let some = json!({ "highlight": { "fields": ["a"], "maxLength": 20, "maxFragments": 1 } });
        assert_eq!(read(json!({}), Json::Null).expect("allowed"), (None, false));
        assert_eq!(read(json!({ "highlight": null }), false.into()).expect("allowed"), (None, false));
        assert_eq!(read(json!({ "highlight": {} }), true.into()).expect("allowed"), (of(&[], 200, 3), true));
        assert_eq!(read(some, true.into()).expect("allowed"), (of(&["a"], 20, 1), true));
        assert_eq!(read(json!({}), 1.into()).expect_err("no flag").code(), Code::OptionsInvalid);
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
            (json!({ "highlight": true }), Code::BadRequest, "search.highlight"),
            (json!({ "highlight": { "fields": [7] } }), Code::FieldNotText, "search.highlight.fields[0]"),
            (json!({ "highlight": { "maxLength": 19 } }), Code::BadRequest, "search.highlight.maxLength"),
            (json!({ "highlight": { "maxFragments": 11 } }), Code::BadRequest, "search.highlight.maxFragments"),
            (json!({ "highlight": { "tag": "b" } }), Code::BadRequest, "search.highlight.tag"),
            (json!({ "paging": { "limit": 1001 } }), Code::AboveMaximum, "search.paging.limit"),
            (json!({ "sort": [{}] }), Code::SortNotText, "search.sort[0].fieldName"),
        ] {
            let fault = parse(search).expect_err(path);
            assert_eq!(fault.code(), code, "{path}");
            assert_eq!(fault.violations().first().map(|it| it.field.as_str()), Some(path));
        }
    }
}
