//! Pipelines and older aggregations by chance: what the server answers is what a plain reading of the stages gives,
//! to the last bit of sums, on every page. `STOA_AGGREGATES_SEED` repeats what a fresh seed drew.

use super::{AGGREGATE, PIPELINE, fill, model, open, random::Draw, stored};
use crate::oracle::fresh_seed;
use serde_json::{Value as Json, json};
use std::io::Write;
use stoa_testkit::{Engine, TestApp, on_both_engines, rounds};

/// Collections, and requests of each.
const COLLECTIONS: usize = 6;
const REQUESTS: usize = 60;
/// How often each stage, expression and accumulator is drawn at least, for each round of all.
const LEAST: usize = 10;
const DRAWN: &[&str] = &[
    "filter",
    "projection",
    "include",
    "exclude",
    "reshape",
    "projectNested",
    "group",
    "unwindArray",
    "sort",
    "limit",
    "skip",
    "objectToArray",
    "sum",
    "avg",
    "min",
    "max",
    "first",
    "last",
    "push",
    "fieldPath",
    "text",
    "numeric",
    "add",
    "subtract",
    "multiply",
    "divide",
    "abs",
    "mod",
    "floor",
    "ceil",
    "concat",
    "stringify",
    "toLower",
    "toUpper",
    "substring",
    "length",
    "aggregate",
];

on_both_engines! {
    async fn results_are_those_of_a_plain_reading(engine) {
        let app = TestApp::new(engine).await;
        let mut draw = Draw::new(19);
        let times = rounds(1);
        for n in 0..COLLECTIONS * times {
            if n == COLLECTIONS {
                // Each run of the more that is asked for draws something else.
                let seed = from_environment().unwrap_or_else(fresh_seed);
                let _ = writeln!(std::io::stdout(), "\naggregations on {engine:?}, seed {seed}");
                draw.go_on_from(seed);
            }
            let id = format!("c{n}");
            open(&app, &id).await;
            let size = if n == 0 { 0 } else { 70 };
            let items: Vec<_> = (0..size).map(|n| draw.document(n)).collect();
            fill(&app, &id, &items).await;
            if n % 2 == 1 {
                index(&app, &id).await;
            }
            let items = stored(&app, &id).await;
            for _ in 0..REQUESTS {
                ask(&app, &id, &items, &mut draw, engine).await;
            }
        }
        for it in DRAWN {
            let drawn = draw.counts.get(*it).copied().unwrap_or_default();
            assert!(drawn >= LEAST * times, "{it} was drawn {drawn} times");
        }
    }

    async fn nonsense_is_refused_and_breaks_nothing(engine) {
        let app = TestApp::new(engine).await;
        open(&app, "c").await;
        let mut draw = Draw::new(7);
        let items: Vec<_> = (0..20).map(|n| draw.document(n)).collect();
        fill(&app, "c", &items).await;
        let mut refused = 0;
        let times = rounds(200);
        for n in 0..times {
            let (path, body) = match n % 3 {
                0 => (AGGREGATE, draw.aggregate()),
                _ => (PIPELINE, json!({ "pipeline": { "stages": draw.pipeline() } })),
            };
            let mut body = draw.nonsense(&body);
            if !body.is_object() {
                body = json!({});
            }
            body["dataCollectionId"] = json!("c");
            let reply = app.app().post(path, &body).await;
            assert!(reply.status.is_success() || reply.status.is_client_error(), "{} {body}", reply.verdict());
            refused += usize::from(reply.status.is_client_error());
        }
        assert!(refused > times / 10, "{refused}");
    }
}

#[expect(clippy::disallowed_methods, reason = "the environment repeats a run")]
fn from_environment() -> Option<u64> {
    std::env::var("STOA_AGGREGATES_SEED").ok()?.parse().ok()
}

async fn index(app: &TestApp, id: &str) {
    for (name, fields) in
        [("by_n", json!([{ "path": "n" }])), ("by_kind", json!([{ "path": "kind" }, { "path": "m", "order": "DESC" }]))]
    {
        let body = json!({ "dataCollectionId": id, "index": { "name": name, "fields": fields } });
        assert_eq!(app.app().post("/v2/indexes", &body).await.verdict(), "200");
    }
    app.app.content.index_work_do(&app.site).await.unwrap();
}

/// One request by chance, by offset or walked by cursor.
async fn ask(app: &TestApp, id: &str, items: &[Json], draw: &mut Draw, engine: Engine) {
    let rows = model::items(items);
    let (path, body, expected) = if draw.one_in(4) {
        let body = draw.aggregate();
        let expected = model::aggregate(rows, &body);
        (AGGREGATE, body, expected)
    } else {
        let stages = draw.pipeline();
        let expected = model::run(rows, &stages);
        (PIPELINE, json!({ "pipeline": { "stages": stages } }), expected)
    };
    let expected = expected.map(|rows| rows.iter().map(|it| model::printed(&it.value)).collect::<Vec<_>>());
    let request = Request { path, id, body };
    match expected {
        Ok(expected) if draw.one_in(3) => request.walk(app, &expected, 1 + draw.below(9), engine).await,
        Ok(expected) => {
            let (limit, offset) = (1 + draw.below(60), if draw.one_in(2) { 0 } else { draw.below(20) });
            let wants_total = draw.one_in(2);
            let reply = request.send(app, "paging", json!({ "limit": limit, "offset": offset }), wants_total).await;
            let context = format!("{engine:?} {} {}", request.path, request.body);
            let page: Vec<_> = expected.iter().skip(offset).take(limit).cloned().collect();
            assert_eq!(printed(&reply), page, "{context}");
            let metadata = &reply["pagingMetadata"];
            assert_eq!(metadata["hasNext"], json!(offset + limit < expected.len()), "{context}");
            assert_eq!(metadata["count"], json!(page.len()), "{context}");
            let total = if wants_total { json!(expected.len()) } else { Json::Null };
            assert_eq!(metadata["total"], total, "{context}");
        }
        Err(model::Wrong) => {
            // Where a page is full before, nobody comes to what is wrong.
            let mut body = request.body.clone();
            body["dataCollectionId"] = json!(id);
            body["returnTotalCount"] = json!(true);
            let reply = app.app().post(path, &body).await;
            let may_end_early = request.body.to_string().contains("\"limit\":");
            assert!(
                reply.verdict() == "400 WDE0080" || may_end_early && reply.status.is_success(),
                "{} {}",
                reply.verdict(),
                request.body
            );
        }
    }
}

struct Request<'r> {
    path: &'static str,
    id: &'r str,
    body: Json,
}

impl Request<'_> {
    async fn send(&self, app: &TestApp, name: &str, paging: Json, wants_total: bool) -> Json {
        let mut body = self.body.clone();
        body["dataCollectionId"] = json!(self.id);
        if wants_total {
            body["returnTotalCount"] = json!(true);
        }
        let holder = if self.path == PIPELINE { &mut body["pipeline"] } else { &mut body };
        holder[name] = paging;
        let reply = app.app().post(self.path, &body).await;
        assert_eq!(reply.verdict(), "200", "{body} {:?}", reply.body);
        reply.json()
    }

    /// The next request of a walk: nothing but the cursor.
    async fn go_on(&self, app: &TestApp, cursor: &Json, limit: usize) -> Json {
        let paging = json!({ "limit": limit, "cursor": cursor });
        let body = match self.path == PIPELINE {
            true => json!({ "dataCollectionId": self.id, "pipeline": { "cursorPaging": paging } }),
            false => json!({ "dataCollectionId": self.id, "cursorPaging": paging }),
        };
        let reply = app.app().post(self.path, &body).await;
        assert_eq!(reply.verdict(), "200", "{} {:?}", self.body, reply.body);
        reply.json()
    }

    /// All pages forth, and back again.
    async fn walk(&self, app: &TestApp, expected: &[String], limit: usize, engine: Engine) {
        let context = format!("{engine:?} {} by {limit}", self.body);
        let mut pages = vec![self.send(app, "cursorPaging", json!({ "limit": limit }), false).await];
        for page in expected.chunks(limit).skip(1) {
            let next = pages.last().unwrap()["pagingMetadata"]["cursors"]["next"].clone();
            assert!(next.is_string(), "{context}");
            pages.push(self.go_on(app, &next, limit).await);
            assert_eq!(printed(pages.last().unwrap()), page, "{context}");
        }
        assert_eq!(printed(&pages[0]), expected.iter().take(limit).cloned().collect::<Vec<_>>(), "{context}");
        let last = pages.last().unwrap()["pagingMetadata"].clone();
        assert_eq!((&last["hasNext"], &last["cursors"]["next"]), (&json!(false), &Json::Null), "{context}");
        let mut back = last["cursors"]["prev"].clone();
        for page in pages.iter().rev().skip(1) {
            let reply = self.go_on(app, &back, limit).await;
            assert_eq!(printed(&reply), printed(page), "{context}");
            back = reply["pagingMetadata"]["cursors"]["prev"].clone();
        }
        assert_eq!(back, Json::Null, "{context}");
    }
}

fn printed(page: &Json) -> Vec<String> {
    page["results"].as_array().unwrap().iter().map(model::printed).collect()
}
