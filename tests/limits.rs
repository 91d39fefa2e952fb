//! What the configuration can lower and raise, one limit at a time: what is just within it is taken, one more
//! is refused with the documented error, which says where the limit is. Those of hooks are in `tests/hooks/limits.rs`.

use crate::{
    interface::{self, calls_with_bodies},
    webhooks,
};
use serde_json::{Value, json};
use std::sync::Arc;
use stoa_content::Content;
use stoa_http::{Settings, traffic::Kind};
use stoa_kernel::ClientId;
use stoa_realtime::{Realtime, RealtimeLimits};
use stoa_testkit::{Reply, TestApp, on_both_engines};
use stoa_webhooks::{Times, WebhookLimits};

/// The limits of all that a request passes through.
#[derive(Default)]
struct TestLimits {
    content: stoa_content::ContentLimits,
    http: stoa_http::HttpLimits,
    realtime: RealtimeLimits,
}

/// One limit and what meets it.
struct Row {
    name: &'static str,
    value: usize,
    set: fn(&mut TestLimits, usize),
    /// The call that meets it.
    operation: &'static str,
    /// Bodies that are taken, in order.
    within: Vec<Value>,
    beyond: Value,
    refusal: &'static str,
}

/// The process started again with other limits.
fn restart(app: &mut TestApp, change: impl FnOnce(&mut TestLimits)) {
    let mut limits = TestLimits::default();
    change(&mut limits);
    let content = Content::new(app.kit.world.clone(), limits.content);
    let kit = &app.kit;
    let realtime = Realtime::new(kit.store.clone(), content.clone(), kit.world.clone(), limits.realtime);
    app.restart(|it| {
        it.content = content;
        it.realtime = realtime;
        it.settings = Arc::new(Settings { limits: limits.http, ..Settings::default() });
    });
}

async fn open(app: &TestApp) {
    let reference = |key: &str| {
        let target = json!({ "reference": { "referencedCollectionId": "far" } });
        json!({ "key": key, "type": "REFERENCE", "typeMetadata": target })
    };
    let fields = json!([{ "key": "t", "type": "TEXT" }, reference("r1"), reference("r2"), reference("r3")]);
    for (id, fields) in [("far", json!([{ "key": "t", "type": "TEXT" }])), ("c", fields)] {
        let reply = app.app().post("/v2/collections", &collection(id, fields)).await;
        assert_eq!(reply.verdict(), "200", "{:?}", reply.body);
    }
}

fn collection(id: &str, fields: Value) -> Value {
    json!({ "collection": { "id": id, "fields": fields, "dataPermissions": { "itemRead": "ANYONE" } } })
}

fn texts(count: usize) -> Value {
    (0..count).map(|n| json!({ "key": format!("f{n}"), "type": "TEXT" })).collect()
}

fn in_c(mut members: Value) -> Value {
    members["dataCollectionId"] = json!("c");
    members
}

fn items(count: usize) -> Value {
    (0..count).map(|n| json!({ "data": { "_id": format!("i{n}"), "t": "x" } })).collect()
}

fn patches(count: usize) -> Value {
    let change = json!([{ "fieldPath": "t", "action": "SET_FIELD", "setFieldOptions": { "value": "y" } }]);
    (0..count).map(|n| json!({ "dataItemId": format!("i{n}"), "fieldModifications": change })).collect()
}

/// An item of so many levels.
fn deep(levels: usize) -> Value {
    let mut value = json!(1);
    for _ in 0..levels {
        value = json!({ "a": value });
    }
    in_c(json!({ "dataItem": { "data": value } }))
}

/// A query with a filter of so many levels.
fn nested(levels: usize) -> Value {
    let mut filter = json!({ "t": "x" });
    for n in 0..levels {
        let condition = json!({ "t": { "$ne": n.to_string() } });
        filter = json!({ ["$and", "$or"][n % 2]: [filter, condition] });
    }
    in_c(json!({ "query": { "filter": filter } }))
}

fn query(members: Value) -> Value {
    in_c(json!({ "query": members }))
}

/// A pipeline of so many stages, and a page of so many results.
fn piped(stages: usize, limit: usize) -> Value {
    let stages = vec![json!({ "skip": 0 }); stages];
    in_c(json!({ "pipeline": { "stages": stages, "paging": { "limit": limit } } }))
}

/// A page of so many items that a search finds.
fn searched(limit: usize) -> Value {
    in_c(json!({ "search": { "paging": { "limit": limit } } }))
}

fn including(names: usize, limit: Option<usize>) -> Value {
    let of = |n| match limit {
        Some(limit) => json!({ "field": format!("r{n}"), "limit": limit }),
        None => json!({ "field": format!("r{n}") }),
    };
    in_c(json!({ "includeReferences": (1..=names).map(of).collect::<Value>() }))
}

fn names(member: &str, count: usize) -> Value {
    in_c(json!({ member: (1..=count).map(|n| json!(format!("r{n}"))).collect::<Value>() }))
}

fn described(id: &str, length: usize) -> Value {
    let mut object = collection(id, texts(1));
    object["collection"]["description"] = json!("é".repeat(length));
    object
}

fn with_field(id: &str, field: Value) -> Value {
    collection(id, json!([field]))
}

fn field_described(id: &str, length: usize) -> Value {
    with_field(id, json!({ "key": "a", "type": "TEXT", "description": "é".repeat(length) }))
}

fn of_values(id: &str, count: usize, length: usize) -> Value {
    let values: Value = (0..count).map(|n| json!("é".repeat(length - 1) + &n.to_string())).collect();
    let metadata = json!({ "text": { "enumValues": { "values": values } } });
    with_field(id, json!({ "key": "a", "type": "TEXT", "typeMetadata": metadata }))
}

fn with_plugins(id: &str, plugins: &[&str]) -> Value {
    let mut object = collection(id, texts(1));
    object["collection"]["plugins"] = plugins.iter().map(|it| json!({ "type": it })).collect();
    object
}

fn index(n: usize, is_unique: bool) -> Value {
    let name = format!("{n} {is_unique}");
    in_c(json!({ "index": { "name": name, "fields": [{ "path": format!("f{n}") }], "unique": is_unique } }))
}

fn rows() -> Vec<Row> {
    macro_rules! row {
        ($name:literal = $value:literal in $($place:ident).+, $operation:literal, [$($within:expr),+], $beyond:expr => $refusal:literal) => {
            Row {
                name: $name,
                value: $value,
                set: |limits, value| limits.$($place).+ = value,
                operation: $operation,
                within: vec![$($within),+],
                beyond: $beyond,
                refusal: $refusal,
            }
        };
    }
    let removed = |count| in_c(json!({ "dataItemIds": (0..count).map(|n| json!(format!("i{n}"))).collect::<Value>() }));
    let many = |count| in_c(json!({ "dataItems": items(count) }));
    let changed = |count| in_c(json!({ "patches": patches(count) }));
    let with_id = |length| in_c(json!({ "dataItem": { "data": { "_id": "é".repeat(length) } } }));
    let named = |length: usize| collection(&"é".repeat(length), texts(1));
    let added = |key: &str| json!({ "dataCollectionId": "ten", "field": { "key": key, "type": "TEXT" } });
    vec![
        row!("bulk_items" = 3 in content.bulk_items, "itemBulkInsert", [many(3)], many(4) => "400 WDE0006"),
        row!("bulk_items" = 3 in content.bulk_items, "itemBulkUpdate", [many(3)], many(4) => "400 WDE0006"),
        row!("bulk_items" = 3 in content.bulk_items, "itemBulkSave", [many(3)], many(4) => "400 WDE0006"),
        row!("bulk_patches" = 2 in content.bulk_patches, "itemBulkPatch", [changed(2)], changed(3) => "400 WDE0006"),
        row!("bulk_items" = 3 in content.bulk_items, "itemBulkRemove", [removed(3)], removed(4) => "400 WDE0069"),
        row!("item_id" = 36 in content.item_id, "itemInsert", [with_id(36)], with_id(37) => "400 WDE0079"),
        row!("item_depth" = 4 in content.query.item_depth, "itemInsert", [deep(4)], deep(5) => "400 WDE0168"),
        row!("query_limit" = 60 in content.query.query_limit, "itemQuery",
            [query(json!({ "paging": { "limit": 60 } }))], query(json!({ "paging": { "limit": 61 } })) => "400 WDE0036"),
        row!("cursor_limit" = 50 in content.query.cursor_limit, "itemQuery",
            [query(json!({ "cursorPaging": { "limit": 50 } }))], query(json!({ "cursorPaging": { "limit": 51 } })) => "400 WDE0036"),
        row!("filter_depth" = 5 in content.query.filter_depth, "itemQuery", [nested(5)], nested(6) => "400 WDE0169"),
        row!("pipeline_results" = 50 in content.query.pipeline_results, "itemAggregatePipeline",
            [piped(0, 50)], piped(0, 51) => "400 WDE0036"),
        row!("search_limit" = 100 in content.query.search_limit, "itemSearch",
            [searched(100)], searched(101) => "400 WDE0036"),
        row!("pipeline_stages" = 2 in content.query.pipeline_stages, "itemAggregatePipeline",
            [piped(2, 50)], piped(3, 50) => "400 WDE0080"),
        row!("includes" = 2 in content.query.includes, "itemQuery", [including(2, None)], including(3, None) => "400 WDE0080"),
        row!("include_limit" = 50 in content.query.include_limit, "itemQuery",
            [including(1, Some(50))], including(1, Some(51)) => "400 WDE0036"),
        row!("include_names" = 2 in content.query.include_names, "itemQuery",
            [names("includeReferencedItems", 2)], names("includeReferencedItems", 3) => "400 WDE0080"),
        row!("field_groups" = 2 in content.query.field_groups, "itemQuery",
            [names("includeFieldGroups", 2)], names("includeFieldGroups", 3) => "400 WDE0080"),
        row!("collection_id" = 32 in content.collection_id, "collectionCreate", [named(32)], named(33) => "400 WDE0075"),
        row!("collection_description" = 10 in content.collection_description, "collectionCreate",
            [described("cd", 10)], described("cd2", 11) => "400 WDE0075"),
        row!("fields" = 10 in content.fields, "collectionCreate",
            [collection("ten", texts(10))], collection("eleven", texts(11)) => "400 WDE0075"),
        row!("fields" = 11 in content.fields, "fieldCreate", [added("one")], added("two") => "400 WDE0075"),
        row!("field_description" = 10 in content.field_description, "collectionCreate",
            [field_described("fd", 10)], field_described("fd2", 11) => "400 WDE0075"),
        row!("enum_values" = 3 in content.enum_values, "collectionCreate",
            [of_values("ev", 3, 2)], of_values("ev2", 4, 2) => "400 WDE0075"),
        row!("enum_value" = 4 in content.enum_value, "collectionCreate",
            [of_values("el", 2, 4)], of_values("el2", 2, 5) => "400 WDE0075"),
        row!("plugins" = 2 in content.plugins, "collectionCreate",
            [with_plugins("p", &["GRIDAPPLESS", "CMS"])], with_plugins("p2", &["GRIDAPPLESS", "CMS", "SHARED"]) => "400 WDE0075"),
        row!("plugins" = 3 in content.plugins, "pluginAdd",
            [json!({ "dataCollectionId": "p", "plugin": { "type": "SHARED" } })],
            json!({ "dataCollectionId": "p", "plugin": { "type": "CATEGORIES" } }) => "400 WDE0075"),
        row!("regular_indexes" = 2 in content.regular_indexes, "indexCreate",
            [index(1, false), index(2, false)], index(3, false) => "400 WDE0160"),
        row!("unique_indexes" = 2 in content.unique_indexes, "indexCreate",
            [index(4, true), index(5, true)], index(6, true) => "400 WDE0160"),
    ]
}

/// A refusal has the documented shape, and says where the limit is.
fn assert_refused(name: &str, reply: &Reply, verdict: &str, value: usize) {
    assert_eq!(reply.verdict(), verdict, "{name}: {:?}", reply.body);
    let body = reply.json();
    let error = &body["details"]["applicationError"];
    let (code, description) = (error["code"].as_str().unwrap(), error["description"].as_str().unwrap());
    assert!(description.starts_with(&format!("{code}: ")) || !code.starts_with("WDE"), "{name}: {body}");
    assert!(description.contains(&value.to_string()), "{name}: {body}");
    assert!(body["message"].is_string(), "{name}: {body}");
}

/// The size of an item with so long a text, as it is stored.
async fn stored(app: &TestApp, id: &str, length: usize) -> Result<usize, Reply> {
    let data = json!({ "_id": id, "t": "x".repeat(length) });
    let reply = app.app().post("/v2/items", &in_c(json!({ "dataItem": { "data": data } }))).await;
    if reply.verdict() != "200" {
        return Err(reply);
    }
    Ok(reply.json()["dataItem"]["data"].to_string().len())
}

/// How many tasks wait for their time.
async fn waiting(app: &TestApp) -> i64 {
    let sql = "select count(*) from stoa.async_job where pass = 1 and ended is null";
    let count = app.site.read(stoa_store::ReaderPool::Point, move |tx| {
        stoa_store::boxed!(Ok(tx.row(sql, &[], |row| row.get::<i64>(0)).await?))
    });
    count.await.unwrap().unwrap()
}

on_both_engines! {
    async fn limits_are_taken_from_the_configuration(engine) {
        let mut app = TestApp::new(engine).await;
        open(&app).await;
        for Row { name, value, set, operation, within, beyond, refusal } in rows() {
            let path = &interface::operation(operation).path();
            restart(&mut app, |limits| set(limits, value));
            for body in within {
                let reply = app.app().post(path, &body).await;
                assert_eq!(reply.verdict(), "200", "{name} {path}: {:?}", reply.body);
                let failures = reply.json()["bulkActionMetadata"]["totalFailures"].as_i64();
                assert_eq!(failures.unwrap_or(0), 0, "{name} {path}: {:?}", reply.body);
            }
            assert_refused(name, &app.app().post(path, &beyond).await, refusal, value);
            // What one limit refuses is no matter to the others.
            restart(&mut app, |_| {});
            let reply = app.app().post(path, &beyond).await;
            let is_beyond_default = matches!(name, "query_limit" | "include_limit" | "unique_indexes");
            assert!(reply.verdict() == "200" || is_beyond_default, "{name} {path}: {:?}", reply.body);
        }
    }

    async fn bytes_are_counted_to_the_last(engine) {
        let mut app = TestApp::new(engine).await;
        open(&app).await;
        // An item, in its stored form.
        let around = stored(&app, "a", 0).await.unwrap();
        restart(&mut app, |it| it.content.query.item_bytes = 1_024);
        assert_eq!(stored(&app, "b", 1_024 - around).await.unwrap(), 1_024);
        let refused = stored(&app, "c", 1_025 - around).await.unwrap_err();
        assert_refused("item_bytes", &refused, "400 WDE0009", 1_024);
        let patch = json!({ "dataItemId": "b", "fieldModifications":
            [{ "fieldPath": "u", "action": "SET_FIELD", "setFieldOptions": { "value": 1 } }] });
        let refused = app.app().post("/v2/items/patch", &in_c(json!({ "patch": patch }))).await;
        assert_refused("item_bytes", &refused, "400 WDE0009", 1_024);

        // A page of items.
        let only = json!({ "filter": { "_id": { "$in": ["a", "b"] } } });
        let page = async |app: &TestApp| app.app().post("/v2/items/query", &query(only.clone())).await;
        restart(&mut app, |_| {});
        let size = page(&app).await.json()["dataItems"].to_string().len() - "[]".len();
        restart(&mut app, |it| it.content.page_bytes = size);
        assert_eq!(page(&app).await.verdict(), "200");
        restart(&mut app, |it| it.content.page_bytes = size - 1);
        assert_refused("page_bytes", &page(&app).await, "413 WDE0109", size - 1);

    }

    async fn languages_of_an_item_are_counted_to_the_last(engine) {
        let mut app = TestApp::new(engine).await;
        open(&app).await;
        let plugin = in_c(json!({ "multilingualOptions": { "translatableFieldKeys": ["t"] } }));
        assert_eq!(app.app().post("/v2/collections/add-multilingual-plugin", &plugin).await.verdict(), "200");
        stored(&app, "a", 1).await.unwrap();
        restart(&mut app, |it| it.content.translations_bytes = 65_536);
        let update = async |length: usize| {
            let item = json!({ "data": { "_id": "a", "t": "x".repeat(length) } });
            app.app().post("/v2/items/update", &in_c(json!({ "dataItem": item, "language": "de" }))).await
        };
        // The text in its quotes, the names of the language and of the field, and 32 more.
        let around = "\"\"".len() + "de".len() + "t".len() + 32;
        assert_refused("translations_bytes", &update(65_537 - around).await, "400 WDE0009", 65_536);
        assert_eq!(update(65_536 - around).await.verdict(), "200");
    }

    async fn jobs_by_filter_have_so_many_places(engine) {
        let mut app = TestApp::new(engine).await;
        open(&app).await;
        let levels = json!({ "dataPermissions": { "id": "c", "itemRead": "ANYONE", "itemUpdate": "ANYONE" } });
        assert_eq!(app.app().post("/v1/permissions", &levels).await.verdict(), "200");
        let body = in_c(json!({ "filter": {}, "fieldModifications": [] }));
        let (owner, ada, visitor) = (app.app().token, app.member("ada@example.org").await.token, app.visitor().await.token);
        // Places are taken by jobs that another process works on.
        let hold = async |app: &TestApp, kind: &'static str, id: String, count: i64| {
            let held = app.site.write_with((app.site.id.clone(), id), move |tx, (site, id)| {
                stoa_store::boxed!({
                    tx.execute("delete from stoa.async_job", &[]).await?;
                    for n in 0..count {
                        let sql = "insert into stoa.async_job (site, id, collection, collection_id, kind, status, asker, \
                                   asker_kind, asker_id, created, done, succeeded, failed, failures, runner, touched, attempts) \
                                   values ($1, $2, 0, 'c', 'PATCH', 'PROCESSING', '{}', $3, $4, $5, '', 0, 0, '[]', 'x', $5, 0)";
                        let now = 4_000_000_000_000_i64;
                        let row = stoa_sql::params![site, format!("held{n}"), kind, id.as_str(), now];
                        tx.execute(sql, &row).await?;
                    }
                    Ok(())
                })
            });
            held.await.unwrap();
        };
        let path = "/v2/bulk/items/async-patch-by-filter";
        let begin = async |app: &TestApp, token: &str| app.with_token(token).post(path, &body).await;
        let member = app.app.identity.authenticate(Some(&ada), None).await.unwrap().caller.id().to_owned();
        restart(&mut app, |it| (it.content.async_jobs, it.content.caller_async_jobs) = (5, 2));
        for (kind, id, token) in [("MEMBER", member.as_str(), &ada), ("ANONYMOUS_VISITOR", "another", &visitor)] {
            hold(&app, kind, id.to_owned(), 1).await;
            assert_eq!(begin(&app, token).await.verdict(), "200", "{kind}");
            hold(&app, kind, id.to_owned(), 2).await;
            assert_refused("caller_async_jobs", &begin(&app, token).await, "429 THROTTLED_FEATURE", 2);
            assert_eq!(begin(&app, &owner).await.verdict(), "200", "others have theirs");
        }
        hold(&app, "MEMBER", "bob".to_owned(), 2).await;
        assert_eq!(begin(&app, &ada).await.verdict(), "200", "places of one member are not another's");
        hold(&app, "APP", "other".to_owned(), 4).await;
        assert_eq!(begin(&app, &owner).await.verdict(), "200");
        hold(&app, "APP", "other".to_owned(), 5).await;
        for token in [&owner, &ada] {
            assert_refused("async_jobs", &begin(&app, token).await, "429 THROTTLED_FEATURE", 5);
        }
    }

    async fn so_many_tasks_wait_for_their_time(engine) {
        let mut app = TestApp::new(engine).await;
        open(&app).await;
        let plugin = in_c(json!({ "publishOptions": { "defaultStatus": "DRAFT" } }));
        assert_eq!(app.app().post("/v2/collections/add-publish-plugin", &plugin).await.verdict(), "200");
        stored(&app, "a", 1).await.unwrap();
        restart(&mut app, |it| it.content.scheduled_tasks = 2);
        let options = in_c(json!({ "operation": "SCHEDULE_PUBLISHED_STATUS", "schedulePublishedStatusOptions": { "date": "2090-01-01T00:00:00.000Z" } }));
        let body = json!({ "task": { "type": "UPDATE_PUBLISH_STATUS", "updatePublishStatusOptions": options } });
        for n in 1..=2_i64 {
            let begun = app.app().post("/v1/tasks", &body).await;
            assert_eq!(begun.verdict(), "200", "{n}");
            while waiting(&app).await < n {
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
        }
        assert_refused("scheduled_tasks", &app.app().post("/v1/tasks", &body).await, "429 THROTTLED_FEATURE", 2);
        let patch = in_c(json!({ "filter": {}, "fieldModifications": [] }));
        assert_eq!(app.app().post("/v2/bulk/items/async-patch-by-filter", &patch).await.verdict(), "200", "jobs have places of their own");
    }

    async fn aggregations_have_bounded_work(engine) {
        let mut app = TestApp::new(engine).await;
        open(&app).await;
        assert_eq!(app.app().post("/v2/bulk/items/insert", &in_c(json!({ "dataItems": items(20) }))).await.verdict(), "200");
        let whole = ("/v2/items/aggregate-pipeline", in_c(json!({ "pipeline": {} })));
        let groups = ("/v2/items/aggregate", in_c(json!({ "aggregation": { "groupingFields": ["_id"] } })));
        let group = json!([{ "group": { "groupIds": [{ "key": "k", "expression": { "fieldPath": "_id" } }] } }]);
        let piped_groups = ("/v2/items/aggregate-pipeline", in_c(json!({ "pipeline": { "stages": group } })));
        // Each item is a row where it comes in, and one where it goes out.
        restart(&mut app, |it| it.content.pipeline_rows = 20);
        assert_eq!(app.app().post(whole.0, &whole.1).await.verdict(), "200");
        assert_refused("pipeline_rows", &app.app().post(groups.0, &groups.1).await, "400 WDE0080", 20);
        restart(&mut app, |it| it.content.pipeline_rows = 40);
        assert_eq!(app.app().post(groups.0, &groups.1).await.verdict(), "200");
        for (path, body) in [&groups, &piped_groups] {
            restart(&mut app, |it| it.content.pipeline_bytes = 2_000);
            assert_refused("pipeline_bytes", &app.app().post(path, body).await, "400 WDE0092", 2_000);
            restart(&mut app, |it| it.content.pipelines_bytes = 2_000);
            assert_eq!(app.app().post(path, body).await.verdict(), "503 UNAVAILABLE");
            restart(&mut app, |_| {});
            let reply = app.app().post(path, body).await;
            let size = reply.json()["results"].to_string().len() - "[]".len() + 1;
            restart(&mut app, |it| it.content.page_bytes = size);
            assert_eq!(app.app().post(path, body).await.verdict(), "200");
            restart(&mut app, |it| it.content.page_bytes = size - 1);
            assert_refused("page_bytes", &app.app().post(path, body).await, "413 WDE0109", size - 1);
        }
    }

    async fn searches_have_bounded_memory(engine) {
        let mut app = TestApp::new(engine).await;
        open(&app).await;
        let serving = app.searched().await;
        assert_eq!(app.app().post("/v2/bulk/items/insert", &in_c(json!({ "dataItems": items(20) }))).await.verdict(), "200");
        app.search_caught_up().await;
        serving.end().await;
        let body = in_c(json!({ "search": { "search": { "expression": "x" } } }));
        let search = async |app: &TestApp| app.app().post("/v2/items/search", &body).await;
        restart(&mut app, |it| it.content.search_bytes = 1_000);
        assert_refused("search_bytes", &search(&app).await, "400 WDE0092", 1_000);
        restart(&mut app, |it| it.content.searches_bytes = 2_000);
        assert_eq!(search(&app).await.verdict(), "503 UNAVAILABLE");
        restart(&mut app, |_| {});
        let reply = search(&app).await;
        assert_eq!(reply.json()["dataItems"].as_array().map(Vec::len), Some(20), "{reply:?}");
    }

    async fn bodies_of_every_call_are_counted_to_the_last(engine) {
        let mut app = TestApp::new(engine).await;
        open(&app).await;
        restart(&mut app, |it| (it.http.body_bytes, it.http.identity_body_bytes) = (131_072, 65_536));
        for (listed, path) in calls_with_bodies(|_| true) {
            let is_long = listed.route.kind == Kind::Content && listed.operation.id != "realtimeStream";
            let most = if is_long { 131_072 } else { 65_536 };
            let id = listed.operation.id;
            let send = async |length: usize| {
                let body = format!("{{}}{}", " ".repeat(length - 2));
                app.app().send(listed.method.clone(), &path, Some(body.into())).await.verdict()
            };
            assert_ne!(send(most).await, "413 WDE0109", "{id}");
            assert_eq!(send(most + 1).await, "413 WDE0109", "{id}");
        }
    }

    async fn limits_of_streams_are_taken_from_the_configuration(engine) {
        let mut app = TestApp::new(engine).await;
        let mut object = collection("c", json!([{ "key": "t", "type": "TEXT" }]));
        object["collection"]["realtime"] = json!(true);
        assert_eq!(app.app().post("/v2/collections", &object).await.verdict(), "200");
        let of = |members: Value| {
            let mut it = in_c(members);
            it["key"] = json!("a");
            json!([it])
        };
        let many = |count: usize| (0..count).map(|n| in_c(json!({ "key": n.to_string() }))).collect::<Value>();
        restart(&mut app, |it| it.realtime.stream_subscriptions = 2);
        drop(app.app().follow(&many(2)).await);
        let refused = app.app().try_follow(&many(3)).await.err().unwrap();
        assert_refused("stream_subscriptions", &refused, "400 WDE0036", 2);

        restart(&mut app, |it| (it.realtime.session_streams, it.realtime.network_streams) = (1, 3));
        let visitor = app.visitor().await;
        let mut held = vec![visitor.follow(&many(1)).await];
        let refused = visitor.try_follow(&many(1)).await.err().unwrap();
        assert_refused("session_streams", &refused, "429 THROTTLED_FEATURE", 1);
        held.extend([app.app().follow(&many(1)).await, app.app().follow(&many(1)).await]);
        let refused = app.app().try_follow(&many(1)).await.err().unwrap();
        assert_refused("network_streams", &refused, "429 THROTTLED_FEATURE", 3);
        drop(held);
        for set in [|it: &mut TestLimits| it.realtime.site_streams = 2, |it: &mut TestLimits| it.realtime.node_streams = 2] {
            restart(&mut app, set);
            let held = [app.app().follow(&many(1)).await, app.app().follow(&many(1)).await];
            let refused = app.app().try_follow(&many(1)).await.err().unwrap();
            assert_eq!(refused.verdict(), "503 UNAVAILABLE");
            drop(held);
            drop(app.app().follow(&many(1)).await);
        }

        let failed = async |app: &TestApp, subscription: Value| {
            let mut stream = app.app().follow(&of(subscription)).await;
            let (event, data) = stream.told().await;
            (event, data["code"].as_str().unwrap_or_default().to_owned())
        };
        let filter = |count: usize| json!({ "filter": { "$or": (0..count).map(|n| json!({ "t": n.to_string() })).collect::<Value>() } });
        restart(&mut app, |it| it.realtime.subscription_conditions = 2);
        assert_eq!(failed(&app, filter(2)).await.0, "ready");
        assert_eq!(failed(&app, filter(3)).await, ("failed".to_owned(), "WDE0093".to_owned()));
        restart(&mut app, |it| it.realtime.network_conditions = 3);
        assert_eq!(failed(&app, filter(2)).await.0, "ready");
        assert_eq!(failed(&app, filter(3)).await, ("failed".to_owned(), "THROTTLED_FEATURE".to_owned()));
        restart(&mut app, |it| it.realtime.site_conditions = 3);
        assert_eq!(failed(&app, filter(2)).await.0, "ready");
        assert_eq!(failed(&app, filter(3)).await, ("failed".to_owned(), "UNAVAILABLE".to_owned()));
        restart(&mut app, |it| it.realtime.snapshot_bytes = 65_536);
        for id in ["a", "b"] {
            stored(&app, id, 40_000).await.unwrap();
        }
        assert_eq!(failed(&app, json!({ "snapshot": true, "limit": 1 })).await.0, "snapshot");
        assert_eq!(failed(&app, json!({ "snapshot": true })).await, ("failed".to_owned(), "WDE0109".to_owned()));
        for (most, second) in [(200_000, "snapshot"), (100_000, "bye")] {
            restart(&mut app, |it| (it.realtime.snapshot_bytes, it.realtime.network_snapshot_memory) = (100_000, most));
            let mut unread = app.app().follow(&of(json!({ "snapshot": true }))).await;
            assert_eq!(unread.told().await.0, "snapshot");
            assert_eq!(failed(&app, json!({ "snapshot": true })).await.0, second);
        }
    }

    /// `webhook_pulls` is met in `tests/webhooks.rs`, and what a share of the cores is, in
    /// `crates/webhooks/src/delivery/lanes.rs`.
    async fn limits_of_webhooks_are_taken_from_the_configuration(engine) {
        let mut app = TestApp::new(engine).await;
        let id = webhooks::application(&app).await;
        webhooks::things(&app).await;
        let receiver = webhooks::Receiver::start().await;
        let restart = |app: &mut TestApp, change: fn(&mut WebhookLimits)| {
            let mut limits = WebhookLimits::default();
            change(&mut limits);
            webhooks::restart(app, limits, Times::default());
        };
        let of = |id: &ClientId| json!({ "appId": id, "url": receiver.url, "types": [webhooks::CREATED] });
        restart(&mut app, |it| it.webhook_endpoints = 3);
        let partner = app.installed("site:write items:read").await.token;
        let own = app.app.identity.client_list(&app.site.id).await.unwrap();
        let own = own.iter().find(|it| it.is_third_party).unwrap().id.clone();
        let endpoint = webhooks::make(&app, &of(&id)).await["endpoint"].clone();
        webhooks::make(&app, &of(&own)).await;
        restart(&mut app, |it| (it.webhook_endpoints, it.webhook_endpoints_of_app) = (3, 1));
        assert_refused("webhook_endpoints_of_app", &app.with_token(&partner).post(webhooks::ENDPOINTS, &of(&own)).await, "400 TOO_MANY", 1);
        restart(&mut app, |it| it.webhook_endpoints = 3);
        assert_eq!(app.with_token(&partner).post(webhooks::ENDPOINTS, &of(&own)).await.verdict(), "200");
        assert_refused("webhook_endpoints", &app.app().post(webhooks::ENDPOINTS, &of(&id)).await, "400 TOO_MANY", 3);

        restart(&mut app, |it| it.webhook_parked = 10);
        for n in 0..11 {
            webhooks::insert(&app, &n.to_string()).await;
        }
        webhooks::readable(&app, 11).await;
        let replay = format!("{}/replay", webhooks::path(&endpoint));
        let since = json!({ "since": "2020-01-01T00:00:00.000Z" });
        let replayed = app.app().post(&replay, &since).await.json();
        assert_eq!(replayed["count"], 10);
        assert!(replayed["next"].is_string(), "what did not fit: {replayed}");
        assert_refused("webhook_parked", &app.app().post(&replay, &since).await, "400 TOO_MANY", 10);

        receiver.think(300);
        let test = format!("{}/test", webhooks::path(&endpoint));
        let at_once = async |app: &TestApp| {
            let key = app.app();
            receiver.most();
            let replies = futures_util::future::join(webhooks::act(&key, &test), webhooks::act(&key, &test)).await;
            assert_eq!([replies.0.verdict(), replies.1.verdict()], ["200", "200"]);
            receiver.most()
        };
        for (change, most) in [
            ((|_| {}) as fn(&mut WebhookLimits), 2),
            (|it| it.webhook_calls = 1, 1),
            (|it| it.webhook_calls_of_site = 1, 1),
        ] {
            restart(&mut app, change);
            assert_eq!(at_once(&app).await, most);
        }
        // Tests take a few places of the site's, and of an application fewer.
        let key = app.app();
        let replies = futures_util::future::join_all((0..3).map(|_| webhooks::act(&key, &test))).await;
        let mut verdicts: Vec<String> = replies.iter().map(Reply::verdict).collect();
        verdicts.sort_unstable();
        assert_eq!(verdicts, ["200", "200", "429 THROTTLED_FEATURE"]);
    }

    async fn anonymous_filters_have_a_bounded_cost(engine) {
        let mut app = TestApp::new(engine).await;
        open(&app).await;
        restart(&mut app, |it| it.content.anonymous_conditions = 10);
        let visitor = app.visitor().await.token;
        let asking = |count: usize| {
            let filter: Value = (0..count).map(|n| json!({ "t": { "$contains": n.to_string() } })).collect();
            let filter = json!({ "$or": filter });
            in_c(json!({ "query": { "filter": filter }, "filter": filter, "fieldName": "t", "initialFilter": filter, "aggregation": {},
                "pipeline": { "stages": [{ "limit": 1 }, { "filter": filter }] } }))
        };
        for path in ["/v2/items/query", "/v2/items/count", "/v2/items/query-distinct-values", "/v2/items/aggregate", "/v2/items/aggregate-pipeline"] {
            let visitor = app.with_token(&visitor);
            assert_eq!(visitor.post(path, &asking(10)).await.verdict(), "200", "{path}");
            let refused = visitor.post(path, &asking(11)).await;
            assert_refused("anonymous_conditions", &refused, "400 WDE0093", 10);
            assert_eq!(app.app().post(path, &asking(11)).await.verdict(), "200", "{path}");
        }
    }

    async fn sites_have_a_bounded_number_of_collections(engine) {
        let mut app = TestApp::new(engine).await;
        open(&app).await;
        restart(&mut app, |it| it.content.collections = 3);
        let make = async |id: &str| app.app().post("/v2/collections", &collection(id, texts(1))).await;
        assert_eq!(make("third").await.verdict(), "200");
        assert_refused("collections", &make("fourth").await, "400 WDE0080", 3);
        // One that was deleted makes room, and comes back only while there is some.
        assert_eq!(app.app().delete("/v2/collections/third?dataCollectionId=third").await.verdict(), "200");
        assert_eq!(make("fourth").await.verdict(), "200");
        let restore = json!({ "dataCollectionId": "third" });
        assert_refused("collections", &app.app().post("/v2/collections/restore/third", &restore).await, "400 WDE0080", 3);
        assert_eq!(app.app().delete("/v2/collections/fourth?dataCollectionId=fourth").await.verdict(), "200");
        assert_eq!(app.app().post("/v2/collections/restore/third", &restore).await.verdict(), "200");
    }

    async fn collection_shows_its_limits(engine) {
        let mut app = TestApp::new(engine).await;
        open(&app).await;
        restart(&mut app, |it| {
            it.content.query.query_limit = 77;
            (it.content.regular_indexes, it.content.unique_indexes) = (5, 2);
        });
        let collection = app.app().get("/v2/collections/c?dataCollectionId=c").await.json()["collection"].clone();
        assert_eq!(collection["maxPageSize"], 77);
        assert_eq!(collection["capabilities"]["indexLimits"], json!({ "regular": 5, "unique": 2, "total": 7 }));
        assert_eq!(collection["capabilities"]["indexQuotaLimits"]["regular3Field"], 5);
    }

    async fn highest_limits_work(engine) {
        let mut app = TestApp::new(engine).await;
        open(&app).await;
        restart(&mut app, |it| {
            let query = &mut it.content.query;
            (it.content.bulk_items, it.content.bulk_patches) = (10_000, 10_000);
            (query.query_limit, query.cursor_limit, query.filter_depth) = (10_000, 10_000, 32);
            (query.item_bytes, it.http.body_bytes) = (4_194_304, 67_108_864);
        });
        for path in ["insert", "update", "save"] {
            let many = in_c(json!({ "dataItems": items(10_000) }));
            let reply = app.app().post(&format!("/v2/bulk/items/{path}"), &many).await.json();
            assert_eq!(reply["bulkActionMetadata"]["totalSuccesses"], 10_000, "{path}");
        }
        let changed = in_c(json!({ "patches": patches(10_000) }));
        let reply = app.app().post("/v2/bulk/items/patch", &changed).await.json();
        assert_eq!(reply["bulkActionMetadata"]["totalSuccesses"], 10_000);
        for paging in ["paging", "cursorPaging"] {
            let page = query(json!({ "filter": { "t": "y" }, paging: { "limit": 10_000 } }));
            let reply = app.app().post("/v2/items/query", &page).await.json();
            assert_eq!(reply["dataItems"].as_array().map(Vec::len), Some(10_000), "{paging}");
        }
        let reply = app.app().post("/v2/items/query", &nested(32)).await;
        assert_eq!((reply.verdict().as_str(), reply.json()["dataItems"].as_array().map(Vec::len)), ("200", Some(50)));
        assert_eq!(app.app().post("/v2/items/query", &nested(33)).await.verdict(), "400 WDE0169");
        let ids: Value = (0..10_000).map(|n| json!(format!("i{n}"))).collect();
        let reply = app.app().post("/v2/bulk/items/remove", &in_c(json!({ "dataItemIds": ids }))).await.json();
        assert_eq!(reply["bulkActionMetadata"]["totalSuccesses"], 10_000);
        let around = stored(&app, "a", 0).await.unwrap();
        assert_eq!(stored(&app, "b", 4_194_304 - around).await.unwrap(), 4_194_304);
        let item = app.app().get("/v2/items/b?dataCollectionId=c&dataItemId=b").await.json();
        assert_eq!(item["dataItem"]["data"].to_string().len(), 4_194_304);
        let patch = json!({ "dataItemId": "b", "fieldModifications":
            [{ "fieldPath": "t", "action": "SET_FIELD", "setFieldOptions": { "value": "z".repeat(3_000_000) } }] });
        assert_eq!(app.app().post("/v2/items/patch", &in_c(json!({ "patch": patch }))).await.verdict(), "200");
    }
}
