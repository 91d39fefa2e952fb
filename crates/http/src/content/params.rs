//! What a GET or DELETE carries: its whole payload stands in the query string (docs/protocol/content.md §1.4).
//!
//! Nested members are dotted (`paging.limit=5`), lists repeat their key, and a payload that doesn't fit
//! this form is base64url JSON in the parameter `.r`. Ids in the path aren't encoded by clients, so the
//! path is only read when the query string doesn't say the same.
//!
//! A pair of the query string has text alone. What becomes of it is decided here, by its name; from here on a flag is
//! a flag and a number is a number, wherever they stand.

use axum::http::Uri;
use base64::{Engine, alphabet, engine};
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value, map::Entry};
use stoa_kernel::{
    Code, Fault, Result,
    json::{self, Budget},
};

/// Values in `.r`.
const QUERY_VALUES: usize = 4_096;
/// Levels of a dotted name.
const DEPTH: usize = 8;

/// Names of flags, which are written `true` and `false`.
const FLAGS: [&str; 8] = [
    "consistentRead",
    "suppressHooks",
    "showDrafts",
    "publishPluginOptions.includeDraftItems",
    "returnTotalCount",
    "saveReferences",
    "returnEntity",
    "includeAllowedDataPermissions",
];
/// Names of numbers.
const NUMBERS: [&str; 7] = [
    "paging.limit",
    "paging.offset",
    "cursorPaging.limit",
    "query.paging.limit",
    "query.paging.offset",
    "query.cursorPaging.limit",
    "randomOptions.seed",
];
/// Names of lists, also of those with one element. (Of `fields` each call has its own form.)
const LISTS: [&str; 3] = ["includeReferencedItems", "includeFieldGroups", "query.fields"];

/// base64url with or without padding, as different clients send it.
const BASE64: engine::GeneralPurpose = engine::GeneralPurpose::new(
    &alphabet::URL_SAFE,
    engine::GeneralPurposeConfig::new().with_decode_padding_mode(engine::DecodePaddingMode::Indifferent),
);

/// The members of a request without a body.
///
/// # Errors
/// WDE0080 when `.r` isn't base64url of a JSON object, or names contradict each other.
pub(super) fn members(uri: &Uri) -> Result<Map<String, Value>> {
    let mut members = Map::new();
    for (name, value) in url::form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes()) {
        if name == ".r" {
            return decode(&value);
        }
        insert(&mut members, &name, typed(&name, value.into_owned()))?;
    }
    Ok(members)
}

/// Gives `name` the rest of the path after `prefix`, if the query string doesn't have it.
pub(super) fn default_from_path(members: &mut Map<String, Value>, name: &str, uri: &Uri, prefix: &str) {
    if members.contains_key(name) {
        return;
    }
    if let Some(rest) = uri.path().strip_prefix(prefix).filter(|it| !it.is_empty()) {
        // A percent sign that begins nothing stands for itself; bytes that aren't text are replaced.
        let decoded = percent_decode_str(rest).decode_utf8_lossy();
        members.insert(name.to_owned(), decoded.into_owned().into());
    }
}

/// A member that may be one text or a list of them.
pub(super) fn strings(members: &Map<String, Value>, name: &str) -> Vec<String> {
    match members.get(name) {
        Some(Value::String(it)) => vec![it.clone()],
        Some(Value::Array(list)) => list.iter().filter_map(|it| it.as_str().map(str::to_owned)).collect(),
        _ => Vec::new(),
    }
}

/// Whether a flag is set.
pub(super) fn flag(members: &Map<String, Value>, name: &str) -> bool {
    members.get(name) == Some(&Value::Bool(true))
}

/// A member as text.
///
/// # Errors
/// `code` when it is missing or something else.
pub(super) fn text<'m>(members: &'m Map<String, Value>, name: &str, code: Code) -> Result<&'m str> {
    let wrong = || Fault::because(code, format!("{name} must be a string."));
    members.get(name).and_then(Value::as_str).ok_or_else(wrong)
}

/// A whole number of 0 or more.
///
/// # Errors
/// WDE0152 when it is anything else.
pub(super) fn whole(members: &Map<String, Value>, pointer: &str) -> Result<Option<usize>> {
    let (outer, inner) = pointer.split_once('.').unwrap_or((pointer, ""));
    let number = match members.get(outer).and_then(|it| it.get(inner)) {
        None | Some(Value::Null) => return Ok(None),
        Some(it) => it.as_u64().and_then(|it| usize::try_from(it).ok()),
    };
    let wrong = || Fault::because(Code::PagingInvalid, format!("{pointer} must be a whole number of 0 or more."));
    number.map(Some).ok_or_else(wrong)
}

fn decode(text: &str) -> Result<Map<String, Value>> {
    let bad = |why: &str| Fault::because(Code::BadRequest, format!("The parameter .r {why}."));
    let bytes = BASE64.decode(text).map_err(|_| bad("is not base64url"))?;
    let budget = Budget::of(QUERY_VALUES);
    match json::parse(&bytes, &budget).map_err(|_| bad("is not JSON in UTF-8 of a few thousand values"))? {
        Value::Object(it) => Ok(it),
        _ => Err(bad("is not a JSON object")),
    }
}

/// The value of a pair. One that hasn't the form of its kind stays text, and is refused where it is used.
fn typed(name: &str, text: String) -> Value {
    let value = if FLAGS.contains(&name) {
        text.parse().ok().map(Value::Bool)
    } else if NUMBERS.contains(&name) && !text.contains(|it: char| it.is_ascii_whitespace()) {
        serde_json::from_str(&text).ok().map(Value::Number)
    } else {
        None
    };
    value.unwrap_or(Value::String(text))
}

fn insert(members: &mut Map<String, Value>, name: &str, value: Value) -> Result<()> {
    let contradiction = || Fault::because(Code::BadRequest, format!("The parameter {name} contradicts another."));
    let mut slot = members;
    let mut names = name.split('.').peekable();
    let mut depth = 0;
    while let Some(part) = names.next() {
        depth += 1;
        if depth > DEPTH {
            return Err(Fault::because(Code::BadRequest, "A parameter is nested too deep."));
        }
        if names.peek().is_none() {
            match slot.entry(part.to_owned()) {
                Entry::Vacant(it) => {
                    it.insert(if LISTS.contains(&name) { vec![value].into() } else { value });
                }
                Entry::Occupied(mut it) => match it.get_mut() {
                    Value::Array(list) => list.push(value),
                    Value::Object(_) => return Err(contradiction()),
                    one => *one = Value::Array(vec![one.take(), value]),
                },
            }
            return Ok(());
        }
        let inner = slot.entry(part.to_owned()).or_insert_with(|| Value::Object(Map::new()));
        slot = inner.as_object_mut().ok_or_else(contradiction)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(query: &str) -> Result<Value> {
        members(&format!("/v2/items?{query}").parse().expect("a URI")).map(Value::Object)
    }

    #[test]
    fn dotted_names_and_repeated_keys() {
        assert_eq!(
            read("paging.limit=5&fields=a&fields=b&fields=c&dataItemId=x%20y").expect("members"),
            json!({ "paging": { "limit": 5 }, "fields": ["a", "b", "c"], "dataItemId": "x y" })
        );
        for bad in ["a=1&a.b=2", "a.b=2&a=1", "a.b.c.d.e.f.g.h.i.j=1"] {
            assert_eq!(read(bad).expect_err(bad).code(), Code::BadRequest, "{bad}");
        }
    }

    #[test]
    fn flags_and_numbers_have_their_types() {
        assert_eq!(
            read("consistentRead=true&publishPluginOptions.includeDraftItems=false&query.paging.limit=5&paging.offset=-1.5")
                .expect("members"),
            json!({
                "consistentRead": true, "publishPluginOptions": { "includeDraftItems": false },
                "query": { "paging": { "limit": 5 } }, "paging": { "offset": -1.5 },
            })
        );
        // What is something else stays what was sent, and so does text that looks like the one or the other.
        assert_eq!(
            read("consistentRead=TRUE&suppressHooks=1&paging.limit=%205&paging.offset=0x5&dataItemId=5&fields=true")
                .expect("members"),
            json!({
                "consistentRead": "TRUE", "suppressHooks": "1", "paging": { "limit": " 5", "offset": "0x5" },
                "dataItemId": "5", "fields": "true",
            })
        );
        assert_eq!(
            read("includeReferencedItems=a&query.fields=b&query.fields=c").expect("members"),
            json!({ "includeReferencedItems": ["a"], "query": { "fields": ["b", "c"] } })
        );
        assert_eq!(
            read("consistentRead=true&consistentRead=true").expect("members"),
            json!({ "consistentRead": [true, true] })
        );
    }

    #[test]
    fn protocol_test_vector_is_read() {
        let vector = ".r=eyJkYXRhQ29sbGVjdGlvbklkIjoiYyIsInF1ZXJ5Ijp7ImZpZWxkcyI6W10sImZpbHRlciI6e30sInNvcnQiOltdfSwiaW5jbHVkZVJlZmVyZW5jZXMiOltdfQ";
        let query = json!({ "fields": [], "filter": {}, "sort": [] });
        let wants = json!({ "dataCollectionId": "c", "query": query, "includeReferences": [] });
        assert_eq!(read(vector).expect("members"), wants);
        assert_eq!(read(&format!("{vector}==")).expect("padded"), wants);
        for bad in [".r=", ".r=%%%", ".r=e30x", ".r=W10", ".r=_w"] {
            assert_eq!(read(bad).expect_err(bad).code(), Code::BadRequest, "{bad}");
        }
    }

    #[test]
    fn path_says_what_the_query_does_not() {
        let uri: Uri = "/v2/items/a/b%20c%?dataCollectionId=x".parse().expect("a URI");
        let mut found = members(&uri).expect("members");
        default_from_path(&mut found, "dataItemId", &uri, "/v2/items/");
        default_from_path(&mut found, "dataCollectionId", &uri, "/v2/");
        assert_eq!(Value::Object(found), json!({ "dataCollectionId": "x", "dataItemId": "a/b c%" }));
    }
}
