//! Bytes → document → plan. Whatever arrives is let through or refused in words, on the stack of an ordinary thread, and
//! what is let through asks for no more than the limits say.

#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};
use std::sync::LazyLock;
use stoa_graphql::{
    Ask, CollectionType, FieldKind, FieldType, GraphqlLimits, Page, Request, Rights, SiteSchema, prepare,
};

static SITE: LazyLock<SiteSchema> = LazyLock::new(|| {
    let field = |key: &str, kind| FieldType { key: key.to_owned(), kind };
    let collection = |id: &str, fields| CollectionType {
        id: id.to_owned(),
        rights: Rights { read: true, insert: true, update: true, remove: true },
        fields,
    };
    let single = |id: &str| FieldKind::Single(id.to_owned());
    let multi = |id: &str| FieldKind::Multi(id.to_owned());
    let a = vec![
        field("t", FieldKind::Text),
        field("n", FieldKind::Number),
        field("b", single("b")),
        field("m", multi("b")),
    ];
    let b = vec![field("t", FieldKind::Texts), field("a", multi("a")), field("b", single("b"))];
    SiteSchema::build(&[collection("a", a), collection("b", b)]).expect("a schema")
});

// The document, and behind a zero byte the variables.
fuzz_target!(|bytes: &[u8]| {
    let mut parts = bytes.splitn(2, |it| *it == 0);
    let Ok(query) = std::str::from_utf8(parts.next().unwrap_or_default()) else { return };
    let variables: Value = parts.next().and_then(|it| serde_json::from_slice(it).ok()).unwrap_or(json!({}));
    let Ok(request) = Request::parse(json!({ "query": query, "variables": variables })) else { return };
    let limits = GraphqlLimits::default();
    let mut run = match prepare(&SITE, &request, &limits, true) {
        Ok(run) => run,
        Err(errors) => {
            assert!(!errors.is_empty() && errors.iter().all(|it| !it.message.is_empty()));
            return;
        }
    };
    let element =
        r#"{"id":"1","dataCollectionId":"a","data":{"_id":"1","t":5,"n":"x","b":{"_id":"2"},"m":[{"_id":"3"},"4"]}}"#;
    let mut asked = 0;
    loop {
        match run.next_ask() {
            None => break,
            Some(Ask::Query(_)) => {
                run.page(&Page { elements: element.to_owned(), ..Page::default() }).expect("a page");
            }
            Some(Ask::Count(_)) => run.count(1),
            Some(Ask::Write(..)) => run.written(&[], None).expect("written"),
        }
        asked += 1;
    }
    assert!(asked <= limits.graphql_root_fields.max(limits.graphql_mutations), "{asked}");
    let answer = run.finish();
    let answer: Value = serde_json::from_str(&answer).expect("an answer is JSON");
    assert!(answer.get("data").is_some());
});
