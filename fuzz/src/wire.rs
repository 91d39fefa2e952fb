//! Bytes → canonical item, and bytes → request. Whatever arrives is either read or refused with a code;
//! what is read is canonical, and projection loses nothing that was asked for.

#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::Value as Json;
use stoa_query::{
    Context, QueryLimits, Schema, Scope, Stamp, canonical, item,
    pipeline::{Bounds, Reading, Run, SharedMemory},
    resolve, wire,
};

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let read: Result<Json, _> = serde_json::from_str(text);
    match canonical(text, QueryLimits::default().item()) {
        Err(fault) => assert!(fault.code().status() < 500, "{fault:?}"),
        Ok(sent) => {
            assert!(read.as_ref().is_ok_and(Json::is_object), "only JSON objects are items");
            let stamp = Stamp { id: "i", created: 0, updated: 0, owner: None };
            let Ok(document) = sent.document(stamp) else { return };
            check_document(&document);
        }
    }
    let Ok(Json::Object(request)) = read else { return };
    let _ = wire::Distinct::parse(&request, &QueryLimits::default());
    if let Err(fault) = wire::Query::parse(&request, &QueryLimits::default()) {
        assert!(fault.code().status() < 500, "{fault:?}");
    }
    check_aggregations(&request);
});

/// Both forms: read or refused, and what is read runs over a few items or says what it can't work out.
fn check_aggregations(request: &serde_json::Map<String, Json>) {
    let (schema, limits) = (Schema::default(), QueryLimits::default());
    let context = || Context { schema: &schema, scope: Scope::Everything, seed: 0 };
    let pipeline = wire::Pipeline::parse(request, &limits).and_then(|it| resolve::pipeline(&it, context()));
    let aggregate = wire::Aggregate::parse(request, &limits).and_then(|it| resolve::aggregate(&it, context()));
    for plan in [pipeline, aggregate] {
        match plan {
            Err(fault) => assert!(fault.code().status() < 500, "{fault:?}"),
            Ok(plan) => {
                let reading = Reading::of(&plan);
                let bounds = Bounds { bytes: 1 << 20, rows: 10_000, answer: 1 << 20 };
                let mut run = Run::new(&plan, &reading, bounds, SharedMemory::new(1 << 24), Box::new(|| false));
                let flow = ITEMS.iter().try_for_each(|it| run.text(it).map(drop));
                if let Err(fault) = flow.and_then(|()| run.finish().map(drop)) {
                    assert!(fault.code().status() < 500, "{fault:?}");
                }
            }
        }
    }
}

const ITEMS: &[&str] = &[
    r#"{"_id":"a","n":1,"t":"x","l":[1,"y",null,[2]],"o":{"p":{"q":-0.5}},"d":{"$date":"2024-03-05T06:07:08.009Z"}}"#,
    r#"{"_id":"b","n":1e308,"t":"ß\n","l":[],"o":[{"p":1},{"p":[2]}]}"#,
    r#"{"_id":"c"}"#,
];

fn check_document(document: &str) {
    let stamp = Stamp { id: "i", created: 0, updated: 0, owner: None };
    let again = canonical(document, QueryLimits::default().item())
        .and_then(|it| it.document(stamp))
        .expect("canonical text is an item");
    assert_eq!(again, document, "canonical text is its own canonical form");
    let json: Json = serde_json::from_str(document).expect("canonical text is JSON");
    // All names at once are the whole document; one name is that member.
    let names: Vec<String> = json.as_object().expect("an object").keys().cloned().collect();
    for name in names.iter().filter(|it| !it.contains('.')) {
        let projected = item::project(document, &resolve::projection(std::slice::from_ref(name)));
        let projected: Json = serde_json::from_str(&projected).expect("a projection is JSON");
        assert_eq!(projected.get(name), json.get(name));
        assert_eq!(projected.get("_id"), json.get("_id"));
    }
}
