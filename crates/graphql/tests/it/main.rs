//! From documents to answers, with pages that stand in the test.

mod answers;
mod hostile;
mod refusals;
mod schema;

use serde_json::{Value, json};
use stoa_graphql::{
    Ask, CollectionType, Error, FieldKind, FieldType, GraphqlLimits, Page, Request, Rights, Run, SiteSchema, prepare,
};

const ALL: Rights = Rights { read: true, insert: true, update: true, remove: true };

fn collection(id: &str, rights: Rights, fields: &[(&str, FieldKind)]) -> CollectionType {
    let field = |(key, kind): &(&str, FieldKind)| FieldType { key: (*key).to_owned(), kind: kind.clone() };
    CollectionType { id: id.to_owned(), rights, fields: fields.iter().map(field).collect() }
}

/// Cars of brands, with tags; brands of countries.
fn cars() -> Vec<CollectionType> {
    let single = |id: &str| FieldKind::Single(id.to_owned());
    let multi = |id: &str| FieldKind::Multi(id.to_owned());
    vec![
        collection(
            "cars",
            ALL,
            &[
                ("title", FieldKind::Text),
                ("price", FieldKind::Number),
                ("isNew", FieldKind::Boolean),
                ("built", FieldKind::DateTime),
                ("colours", FieldKind::Texts),
                ("extra", FieldKind::Any),
                ("brand", single("brands")),
                ("tags", multi("tags")),
                ("secret", single("hidden")),
                ("secrets", multi("hidden")),
            ],
        ),
        collection(
            "brands",
            Rights { read: true, ..Rights::default() },
            &[("name", FieldKind::Text), ("cars", multi("cars")), ("country", single("brands"))],
        ),
        collection("tags", Rights { insert: true, ..Rights::default() }, &[("name", FieldKind::Text)]),
    ]
}

fn site() -> SiteSchema {
    SiteSchema::build(&cars()).unwrap_or_else(|it| panic!("{it}"))
}

fn request(query: &str, variables: Value) -> Request {
    Request::parse(json!({ "query": query, "variables": variables })).expect("a request")
}

fn plan(query: &str, variables: Value) -> Result<Run, Vec<Error>> {
    prepare(&site(), &request(query, variables), &GraphqlLimits::default(), false)
}

fn refusal(query: &str, variables: Value) -> String {
    match plan(query, variables) {
        Ok(_) => panic!("{query} is let through"),
        Err(errors) => errors.iter().map(|it| it.message.as_str()).collect::<Vec<_>>().join("; "),
    }
}

/// The requests of content that a document comes to, each answered with an empty page.
fn asked(query: &str, variables: Value) -> Vec<Value> {
    let mut run = plan(query, variables).unwrap_or_else(|it| panic!("{query}: {it:?}"));
    let mut asked = Vec::new();
    loop {
        match run.next_ask() {
            None => return asked,
            Some(Ask::Query(it)) => {
                asked.push(Value::Object(it.clone()));
                run.page(&Page::default()).expect("a page");
            }
            Some(Ask::Count(it)) => {
                asked.push(json!({ "count": it }));
                run.count(0);
            }
            Some(Ask::Write(write, body)) => {
                asked.push(json!({ write.name(): body }));
                run.written(&[], None).expect("written");
            }
        }
    }
}

/// What a document of one page is answered where these are its items.
fn answered(query: &str, documents: &[Value]) -> Value {
    let mut run = plan(query, json!({})).unwrap_or_else(|it| panic!("{query}: {it:?}"));
    let element = |it: &Value| format!("{{\"id\":{},\"dataCollectionId\":\"c\",\"data\":{it}}}", it["_id"]);
    let elements = documents.iter().map(element).collect::<Vec<_>>().join(",");
    let page = Page { elements, total: Some(7), has_next: true, next: Some("n\"x".to_owned()), prev: None };
    while let Some(Ask::Query(_)) = run.next_ask() {
        run.page(&page).expect("a page");
    }
    let text = run.finish();
    serde_json::from_str(&text).unwrap_or_else(|it| panic!("{it}: {text}"))
}
