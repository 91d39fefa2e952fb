//! The document is whole: every name leads somewhere, nothing stands twice, and free form is where it is named.

use super::{
    Answer, Listed, Parameter,
    schemas::{FILES, FREE_FORM},
};
use crate::{
    router::{document, operations},
    traffic::Kind,
};
use axum::http::Method;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Second paths of an operation, for clients that send both.
const SPELLED_TWICE: &[&str] = &["/v1/Start", "/graphql/alpha"];

fn whole() -> Value {
    serde_json::from_slice(document().text()).expect("JSON")
}

/// All values of members of this name, at any depth.
fn values_of<'v>(value: &'v Value, name: &str, found: &mut Vec<&'v Value>) {
    match value {
        Value::Object(members) => members.iter().for_each(|(key, it)| {
            if key == name {
                found.push(it);
            }
            values_of(it, name, found);
        }),
        Value::Array(list) => list.iter().for_each(|it| values_of(it, name, found)),
        _ => {}
    }
}

fn references(value: &Value) -> BTreeSet<String> {
    let mut found = Vec::new();
    values_of(value, "$ref", &mut found);
    found.into_iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// The schemas that these lead to, through others.
fn reached(document: &Value, from: BTreeSet<String>) -> BTreeSet<String> {
    let (mut reached, mut next) = (BTreeSet::new(), from);
    while let Some(name) = next.pop_first() {
        let schema = document.pointer(name.trim_start_matches('#')).unwrap_or(&Value::Null);
        if reached.insert(name) {
            next.extend(references(schema).difference(&reached).cloned());
        }
    }
    reached
}

fn schemas() -> BTreeMap<&'static str, Map<String, Value>> {
    let read = |text: &str| serde_json::from_str(text).expect("an object of schemas");
    FILES.iter().map(|(name, text)| (*name, read(text))).collect()
}

#[test]
fn references_lead_somewhere() {
    let document = whole();
    let missing: Vec<_> =
        references(&document).into_iter().filter(|it| document.pointer(it.trim_start_matches('#')).is_none()).collect();
    assert!(missing.is_empty(), "no such schema: {missing:#?}");
}

#[test]
fn schemas_have_one_name_and_are_used() {
    let mut places: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (file, schemas) in schemas() {
        for name in schemas.into_iter().map(|it| it.0) {
            places.entry(name).or_default().push(file);
        }
    }
    let twice: Vec<_> = places.iter().filter(|it| it.1.len() > 1).collect();
    assert!(twice.is_empty(), "{twice:?}");
    let document = whole();
    let used = reached(
        &document,
        ["/paths", "/webhooks", "/components/responses"]
            .iter()
            .flat_map(|it| references(&document.pointer(it).cloned().unwrap_or_default()))
            .collect(),
    );
    let unused: Vec<_> = places.keys().filter(|it| !used.contains(&format!("#/components/schemas/{it}"))).collect();
    assert!(unused.is_empty(), "no call takes or answers {unused:?}");
}

#[test]
fn operations_have_ids_answers_and_texts_of_their_own() {
    let mut ids: BTreeMap<&str, &Listed> = BTreeMap::new();
    let listed = operations();
    for it in &listed {
        let operation = it.operation;
        let is_spelling = SPELLED_TWICE.contains(&it.route.path);
        assert_eq!(ids.insert(operation.id, it).is_some(), is_spelling, "{} stands twice", operation.id);
        let is_camel = operation.id.starts_with(|it: char| it.is_ascii_lowercase())
            && operation.id.bytes().all(|it| it.is_ascii_alphanumeric());
        assert!(is_camel, "{}", operation.id);
        assert!(!operation.answers.is_empty() && operation.answers[0].status < 400, "{}", operation.id);
        assert!(!operation.summary.is_empty() && !operation.summary.ends_with('.'), "{}", operation.id);
        let names: BTreeSet<&str> = operation.query.iter().map(|it: &Parameter| it.name).collect();
        assert_eq!(names.len(), operation.query.len(), "{}", operation.id);
        // An answer of one status may have several forms, each of its own media type.
        let form = |it: &Answer| (it.status, it.content.as_ref().map(|it| format!("{:?}", it.media)));
        let forms: BTreeSet<_> = operation.answers.iter().map(form).collect();
        assert_eq!(forms.len(), operation.answers.len(), "{}", operation.id);
    }
    assert!(listed.len() > 200, "{}", listed.len());
}

#[test]
fn what_is_read_of_content_has_a_tag() {
    let has_tag = |it: &&Listed| it.method == Method::GET && it.route.kind == Kind::Content;
    let untold = operations()
        .iter()
        .filter(has_tag)
        .map(|it| it.operation)
        .filter(|it| !it.answers.iter().any(|it| it.status == 304))
        .map(|it| it.id)
        .collect::<Vec<_>>();
    assert!(untold.is_empty(), "edge.rs answers 304: {untold:?}");
}

/// Whether a schema lets an object have members that it doesn't name.
fn is_open(schema: &Map<String, Value>) -> bool {
    let is_object = match schema.get("type") {
        Some(Value::String(it)) => it == "object",
        Some(Value::Array(some)) => some.iter().any(|it| it == "object"),
        _ => false,
    };
    let is_anything =
        ["type", "$ref", "enum", "const", "anyOf", "oneOf", "allOf"].iter().all(|it| !schema.contains_key(*it));
    let is_closed = schema.get("additionalProperties").is_some_and(|it| *it != Value::Bool(true));
    is_anything || is_object && !is_closed
}

/// Places of open objects beneath a schema that don't say why.
fn open_places(value: &Value, path: &str, found: &mut Vec<String>) {
    let Some(schema) = value.as_object() else {
        if *value == Value::Bool(true) {
            found.push(path.to_owned());
        }
        return;
    };
    if schema.contains_key("x-free-form") {
        return;
    }
    if is_open(schema) {
        found.push(path.to_owned());
    }
    for name in ["properties", "patternProperties"] {
        for (key, it) in schema.get(name).and_then(Value::as_object).into_iter().flatten() {
            open_places(it, &format!("{path}.{key}"), found);
        }
    }
    for name in ["items", "additionalProperties"] {
        if let Some(it) = schema.get(name).filter(|it| it.is_object()) {
            open_places(it, &format!("{path}.{name}"), found);
        }
    }
    for name in ["anyOf", "oneOf", "allOf", "prefixItems"] {
        for it in schema.get(name).and_then(Value::as_array).into_iter().flatten() {
            open_places(it, &format!("{path}.{name}"), found);
        }
    }
}

#[test]
fn free_form_is_where_it_is_named() {
    let document = whole();
    let all = document["components"]["schemas"].as_object().expect("schemas");
    let marked: BTreeSet<&str> =
        all.iter().filter(|it| it.1.get("x-free-form").is_some()).map(|it| it.0.as_str()).collect();
    let named: BTreeSet<&str> = FREE_FORM.iter().copied().collect();
    assert_eq!(marked, named);
    let mut places = Vec::new();
    values_of(&document["components"]["schemas"], "x-free-form", &mut places);
    assert_eq!(places.len(), named.len(), "a mark stands at a schema with a name of its own");

    // What is answered is closed but there; requests may have members that no call knows.
    let mut answers = references(&document["components"]["responses"]);
    for methods in document["paths"].as_object().into_iter().flatten().map(|it| it.1) {
        for operation in methods.as_object().into_iter().flatten().map(|it| it.1) {
            answers.extend(references(&operation["responses"]));
        }
    }
    let mut open = Vec::new();
    for name in reached(&document, answers) {
        let schema = document.pointer(name.trim_start_matches('#')).unwrap_or(&Value::Null);
        if name.starts_with("#/components/schemas/") {
            open_places(schema, &name, &mut open);
        }
    }
    assert!(open.is_empty(), "answers may hold anything at {open:#?}");
}

#[test]
fn items_of_a_site_replace_those_of_the_document() {
    let types: Map<String, Value> = [("Item.a".to_owned(), Value::Bool(true))].into_iter().collect();
    let text = document().with_items(&serde_json::json!({ "anyOf": [] }), &types);
    let other: Value = serde_json::from_str(&text).expect("JSON");
    let mut ours = whole();
    let schemas = ours["components"]["schemas"].as_object_mut().expect("schemas");
    schemas.insert("ItemData".to_owned(), serde_json::json!({ "anyOf": [] }));
    schemas.insert("Item.a".to_owned(), Value::Bool(true));
    assert_eq!(other, ours);
}

#[test]
fn page_has_every_operation_once() {
    let page = String::from_utf8(document().page().whole().text().to_vec()).expect("text");
    let ids: BTreeSet<&str> = operations().iter().map(|it| it.operation.id).collect();
    for id in ids {
        assert_eq!(page.matches(&format!("<article id=\"{id}\">")).count(), 1, "{id}");
    }
    // What is linked is there, unless a filter left it out.
    for (_, rest) in page.match_indices("href=\"#").map(|(at, found)| page[at..].split_at(found.len())) {
        let id = rest.split('"').next().unwrap_or_default();
        assert!(page.contains(&format!("id=\"{id}\"")), "#{id}");
    }
}
