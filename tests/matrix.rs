//! The permission matrix: callers × operations × levels, as one text.
//!
//! Each cell says what a caller reads or is refused. The collection holds one item of the member, one of
//! another member and one without an owner; what a caller may not see must not show in any answer.

use crate::interface;
use serde_json::{Value, json};
use std::fmt::Write;
use stoa_testkit::{Engine, Reply, TestApp, TestClient, on_both_engines};

pub(crate) mod members;
mod table;

use table::{Refusals, Table};

/// What a refusal's status stands for in these tables.
const REFUSALS: Refusals = Refusals(&["401 UNAUTHENTICATED", "403 WDE0027", "404 WDE0073"]);
/// Those of another's task.
const TASK_REFUSALS: Refusals = Refusals(&["404 NOT_FOUND"]);
/// The items of the collection, and the letters that they have in a table.
const ITEMS: [(&str, char); 3] = [("mine", 'M'), ("hers", 'O'), ("none", 'N')];

/// The operations of the rows, by the words that the rows begin with.
pub(crate) const OPERATIONS: &[(&str, &str)] = &[
    ("query", "itemQuery"),
    ("filter", "itemQuery"),
    ("or", "itemQuery"),
    ("not", "itemQuery"),
    ("sort", "itemQuery"),
    ("fields", "itemQuery"),
    ("count", "itemCount"),
    ("distinct", "itemDistinctQuery"),
    ("aggregate", "itemAggregate"),
    ("pipeline", "itemAggregatePipeline"),
    ("search", "itemSearch"),
    ("search lag", "searchLagGet"),
    ("get", "itemGet"),
    ("graphql", "graphqlExecute"),
    ("insert", "itemInsert"),
    ("update", "itemUpdate"),
    ("patch", "itemPatch"),
    ("save", "itemSave"),
    ("bulk insert", "itemBulkInsert"),
    ("bulk update", "itemBulkUpdate"),
    ("bulk save", "itemBulkSave"),
    ("bulk patch", "itemBulkPatch"),
    ("link", "referenceBulkInsert"),
    ("is linked", "referenceCheck"),
    ("links of", "referencedItemQuery"),
    ("replace links", "referenceReplace"),
    ("unlink", "referenceBulkRemove"),
    ("remove", "itemRemove"),
    ("truncate", "itemTruncate"),
    ("bulk remove", "itemBulkRemove"),
    ("filter patch", "itemPatchByFilter"),
    ("filter remove", "itemRemoveByFilter"),
    ("filter all", "itemRemoveByFilter"),
    ("foreign job", "asyncJobStatusGet"),
    ("task edit", "taskCreate"),
    ("foreign task", "taskGet"),
    ("foreign tasks", "taskList"),
    ("foreign cancel", "taskCancel"),
    ("permissions", "permissionsGet"),
    ("indexes", "indexList"),
    ("bad index", "indexCreate"),
    ("create field", "fieldCreate"),
    ("update field", "fieldUpdate"),
    ("delete field", "fieldDelete"),
    ("add plugin", "pluginAdd"),
    ("delete plugin", "pluginDelete"),
    ("create index", "indexCreate"),
    ("drop index", "indexDrop"),
    ("may", "permissionsGetMy"),
    ("follow", "realtimeStream"),
];

/// The operation of a row.
fn operation_of(row: &str) -> &'static str {
    let begins = |words: &str| row.strip_prefix(words).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
    let found = OPERATIONS.iter().filter(|it| begins(it.0)).max_by_key(|it| it.0.len());
    found.map(|it| it.1).unwrap_or_else(|| panic!("the row {row} has no operation"))
}

const LEVELS: [&str; 5] = ["ANYONE", "SITE_MEMBER", "SITE_MEMBER_AUTHOR", "CMS_EDITOR", "PRIVILEGED"];

on_both_engines! {
    async fn permission_matrix(engine) {
        kept("permission_matrix.txt", &draw(engine).await);
    }
}

/// Compares a matrix with the one that is kept.
pub(crate) fn kept(name: &str, matrix: &str) {
    let file = format!("{}/snapshots/{name}", env!("CARGO_MANIFEST_DIR"));
    #[expect(clippy::disallowed_methods, reason = "how a snapshot is renewed")]
    if std::env::var("UPDATE_SNAPSHOTS").is_ok() {
        std::fs::write(&file, matrix).unwrap();
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(matrix, kept, "the matrix changed; look at each line, then renew it with UPDATE_SNAPSHOTS=1");
}

async fn draw(engine: Engine) -> String {
    let app = TestApp::new(engine).await;
    let _serving = app.searched().await;
    let visitor = app.visitor().await;
    let member = app.member("member@example.org").await;
    let other = app.member("other@example.org").await;
    let editor = app.editor().await;
    let owner = app.owner().await;
    let (partner, _) = app.partner("items:write members:read").await;
    let callers = [
        ("nobody", app.anonymous()),
        ("visitor", visitor),
        ("member", member.clone()),
        ("editor", editor),
        ("owner", owner),
        ("app", app.app()),
        ("reader", app.key("items:read").await),
        ("keeper", app.key("items:write:c-cms_editor collections:write:c-privileged").await),
        ("via", app.through(&partner, &member, "offline_access items:read").await),
        ("bare", app.through(&partner, &member, "offline_access").await),
        ("agreed", app.installed("items:write collections:read").await),
    ];
    let mut out = String::from("# What each caller is answered, a table for the level that the operation asks for.\n");
    for line in [
        "# `app` is a key with full rights; `reader` is one held to items:read, `keeper` one held to",
        "# items:write:c-cms_editor and collections:write:c-privileged. `member` came through a client of the",
        "# site, `via` is the same member through one of others that asked for items:read, `bare` through one",
        "# that asked for offline_access alone; `agreed` is one of others in its own name, installed with",
        "# items:write and collections:read.",
    ] {
        let _ = writeln!(out, "{line}");
    }
    out.push_str("# Items: `M` is the member's, `O` another member's, `N` has no owner; `-` sees no item. `MN/3` is two of three.\n");
    out.push_str(&REFUSALS.legend());
    out.push_str("# Of another's task, as `foreign task` and `foreign cancel`, 404 is 404 NOT_FOUND.\n");
    for level in LEVELS {
        let collection = format!("c-{}", level.to_lowercase());
        fill(&app, &member, &other, &collection, level).await;
        let mut table = Table::new(level, callers.iter().map(|(name, _)| *name));
        for (name, caller) in &callers {
            let cells = cells(&app, caller, &collection, (&member, &other)).await;
            for (row, answer) in &cells {
                let operation = interface::operation(operation_of(row)).operation;
                interface::check_caller(operation, name, &REFUSALS.long(answer));
            }
            table.column(cells);
        }
        let _ = write!(out, "\n{table}");
    }
    out
}

/// Makes the collection open, writes the three items, then closes it to the level.
async fn fill(app: &TestApp, member: &TestClient<'_>, other: &TestClient<'_>, id: &str, level: &str) {
    let levels =
        |level: &str| json!({ "itemRead": level, "itemInsert": level, "itemUpdate": level, "itemRemove": level });
    let peers = |key: &str, inverse: &str| {
        let metadata = json!({ "multiReference": { "referencedCollectionId": id, "referencingFieldKey": inverse } });
        json!({ "key": key, "type": "MULTI_REFERENCE", "typeMetadata": metadata })
    };
    let collection = |level: &str| {
        json!({
            "id": id, "displayName": id, "dataPermissions": levels(level), "realtime": true,
            "fields": [{ "key": "secret", "type": "NUMBER" }, { "key": "word", "type": "TEXT" }, peers("peers", "peersOf"), peers("peersOf", "peers")],
        })
    };
    let made = app.app().post("/v2/collections", &json!({ "collection": collection("ANYONE") })).await;
    let revision = made.json()["collection"]["revision"].clone();
    refill(app, member, other, id).await;
    let mut closed = collection(level);
    closed["revision"] = revision;
    put(app, closed).await;
}

async fn refill(app: &TestApp, member: &TestClient<'_>, other: &TestClient<'_>, id: &str) {
    for (client, name, secret) in [(member.clone(), "mine", 1), (other.clone(), "hers", 2), (app.app(), "none", 3)] {
        let body = json!({ "dataCollectionId": id, "dataItem": { "data": { "_id": name, "secret": secret, "word": "bird" } } });
        let reply = client.post("/v2/items", &body).await;
        assert!(matches!(reply.verdict().as_str(), "200" | "409 WDE0074"), "{:?}", reply);
    }
}

/// All operations of one caller with what they answer; what they changed is put back after each.
async fn cells(
    app: &TestApp,
    caller: &TestClient<'_>,
    c: &str,
    (member, other): (&TestClient<'_>, &TestClient<'_>),
) -> Vec<(String, String)> {
    let mut cells = Vec::new();
    let mut cell = |operation: String, answer: String| cells.push((operation, REFUSALS.short(&answer)));
    let query = |query: Value| json!({ "dataCollectionId": c, "query": query, "returnTotalCount": true });
    for (name, body) in [
        ("query", query(json!({}))),
        ("filter", query(json!({ "filter": { "secret": { "$gt": 0 } } }))),
        ("or", query(json!({ "filter": { "$or": [{}, { "_owner": { "$exists": true } }] } }))),
        ("not", query(json!({ "filter": { "$not": [{ "secret": -1 }] } }))),
        ("sort", query(json!({ "sort": [{ "fieldName": "secret", "order": "DESC" }], "paging": { "limit": 1 } }))),
        ("fields", query(json!({ "fields": ["secret"], "filter": { "_id": { "$in": ["mine", "hers", "none"] } } }))),
    ] {
        cell(name.to_owned(), seen(&caller.post("/v2/items/query", &body).await));
    }
    cell("follow".to_owned(), followed(caller, c).await);
    let count = json!({ "dataCollectionId": c, "filter": { "secret": { "$gte": 1 } } });
    let reply = caller.post("/v2/items/count", &count).await;
    cell("count".to_owned(), answer(&reply, |json| json["totalCount"].to_string()));
    let distinct = json!({ "dataCollectionId": c, "fieldName": "secret" });
    let reply = caller.post("/v2/items/query-distinct-values", &distinct).await;
    cell("distinct".to_owned(), answer(&reply, |json| json["distinctValues"].to_string().replace(['[', ']'], "")));
    let operations = json!([{ "resultFieldName": "n", "itemCount": {} }, { "resultFieldName": "s", "sum": { "itemFieldName": "secret" } }]);
    let aggregate = json!({ "dataCollectionId": c, "aggregation": { "operations": operations } });
    let reply = caller.post("/v2/items/aggregate", &aggregate).await;
    cell(
        "aggregate".to_owned(),
        answer(&reply, |json| format!("{} {}", json["results"][0]["n"], json["results"][0]["s"])),
    );
    let ids = json!({ "push": { "expression": { "fieldPath": "_id" } }, "resultFieldName": "ids" });
    let stages = json!([{ "sort": { "values": [{ "fieldName": "secret" }, { "fieldName": "_id" }] } }, { "group": { "accumulators": [ids] } }]);
    let reply = caller
        .post("/v2/items/aggregate-pipeline", &json!({ "dataCollectionId": c, "pipeline": { "stages": stages } }))
        .await;
    let pushed = |json: &Value| {
        let ids = json["results"][0]["ids"].as_array().cloned().unwrap_or_default();
        let letter = |it: &Value| ITEMS.iter().find(|item| *it == item.0).map_or('?', |it| it.1);
        ids.iter().map(letter).collect::<String>()
    };
    cell("pipeline".to_owned(), answer(&reply, pushed));
    app.search_caught_up().await;
    let search = json!({ "expression": "bird" });
    let reply =
        caller.post("/v2/items/search", &json!({ "dataCollectionId": c, "search": { "search": search } })).await;
    cell("search".to_owned(), answer(&reply, found));
    let misspelled =
        json!({ "dataCollectionId": c, "search": { "search": { "expression": "brid" } }, "returnSuggestions": true });
    let reply = caller.post("/v2/items/search", &misspelled).await;
    cell(
        "search meant".to_owned(),
        answer(&reply, |json| json["suggestions"]["expression"].as_str().unwrap_or("-").to_owned()),
    );
    cell("search lag".to_owned(), caller.get("/_api/search/v1/lag").await.verdict());
    for (id, symbol) in ITEMS {
        let reply = caller.get(&format!("/v2/items/{id}?dataCollectionId={c}&dataItemId={id}")).await;
        cell(format!("get {symbol}"), reply.verdict());
    }
    cell("graphql query".to_owned(), graphql_seen(caller, c).await);
    let insert = json!({ "dataCollectionId": c, "dataItem": { "data": { "_id": "new", "secret": 9 } } });
    cell("insert".to_owned(), caller.post("/v2/items", &insert).await.verdict());
    let _ = app.app().post("/v2/items/remove", &json!({ "dataCollectionId": c, "dataItemId": "new" })).await;
    for (id, symbol) in ITEMS {
        let update = json!({ "dataCollectionId": c, "dataItem": { "id": id, "data": { "_id": id, "secret": 5 } } });
        cell(format!("update {symbol}"), caller.post("/v2/items/update", &update).await.verdict());
    }
    for (id, symbol) in ITEMS {
        let change =
            json!({ "fieldPath": "secret", "action": "INCREMENT_FIELD", "incrementFieldOptions": { "value": 1 } });
        let patch = json!({ "dataCollectionId": c, "patch": { "dataItemId": id, "fieldModifications": [change] } });
        cell(format!("patch {symbol}"), caller.post("/v2/items/patch", &patch).await.verdict());
    }
    for (id, symbol) in ITEMS {
        cell(format!("graphql patch {symbol}"), graphql_patch(caller, c, id).await);
    }
    for (id, symbol) in ITEMS {
        let save = json!({ "dataCollectionId": c, "dataItem": { "id": id, "data": { "_id": id, "secret": 6 } } });
        cell(format!("save {symbol}"), caller.post("/v2/items/save", &save).await.verdict());
    }
    let three = ITEMS.map(|(id, _)| id);
    let data = |id: &str| json!({ "id": id, "data": { "_id": id, "secret": 7 } });
    let new = json!({ "dataCollectionId": c, "dataItems": [data("new"), data("mine")] });
    cell("bulk insert".to_owned(), done(&caller.post("/v2/bulk/items/insert", &new).await));
    let _ = app.app().post("/v2/items/remove", &json!({ "dataCollectionId": c, "dataItemId": "new" })).await;
    let all = json!({ "dataCollectionId": c, "dataItems": three.map(data) });
    cell("bulk update".to_owned(), done(&caller.post("/v2/bulk/items/update", &all).await));
    cell("bulk save".to_owned(), done(&caller.post("/v2/bulk/items/save", &all).await));
    let patches = three.map(|id| {
        let set = json!({ "fieldPath": "secret", "action": "SET_FIELD", "setFieldOptions": { "value": 8 } });
        json!({ "dataItemId": id, "fieldModifications": [set] })
    });
    let patches = json!({ "dataCollectionId": c, "patches": patches });
    cell("bulk patch".to_owned(), done(&caller.post("/v2/bulk/items/patch", &patches).await));
    for (id, symbol) in ITEMS {
        for (call, answer) in links(caller, c, id).await {
            cell(format!("{call} {symbol}"), answer);
        }
    }
    for (id, symbol) in ITEMS {
        let remove = json!({ "dataCollectionId": c, "dataItemId": id });
        cell(format!("remove {symbol}"), caller.post("/v2/items/remove", &remove).await.verdict());
    }
    let truncate = caller.post("/v2/items/truncate", &json!({ "dataCollectionId": c })).await;
    cell("truncate".to_owned(), truncate.verdict());
    restore(app, member, other, c).await;
    let gone = json!({ "dataCollectionId": c, "dataItemIds": three });
    cell("bulk remove".to_owned(), done(&caller.post("/v2/bulk/items/remove", &gone).await));
    restore(app, member, other, c).await;
    for (operation, answer) in by_filter(app, caller, c).await {
        cell(operation.to_owned(), answer);
    }
    restore(app, member, other, c).await;
    let reply = caller.get(&format!("/v1/permissions?dataCollectionId={c}")).await;
    cell("permissions".to_owned(), reply.verdict());
    cell("indexes".to_owned(), caller.get(&format!("/v2/indexes?dataCollectionId={c}")).await.verdict());
    let index = json!({ "dataCollectionId": c, "index": { "name": "", "fields": [] } });
    cell("bad index".to_owned(), caller.post("/v2/indexes", &index).await.verdict());
    for (operation, answer) in definition(app, caller, c).await {
        cell(operation.to_owned(), answer);
    }
    let reply = caller.get(&format!("/v1/permissions/current?dataCollectionId={c}")).await;
    for right in ["itemRead", "itemInsert", "itemUpdate", "itemRemove"] {
        cell(format!("may {right}"), answer(&reply, |json| (json[right] == true).to_string()));
    }
    cells
}

/// The items that a stream begins with, or why there is none.
async fn followed(caller: &TestClient<'_>, c: &str) -> String {
    let subscription = json!({ "key": "a", "dataCollectionId": c, "snapshot": true });
    let mut stream = match caller.try_follow(&json!([subscription])).await {
        Ok(it) => it,
        Err(refused) => return refused.verdict(),
    };
    let mut ids: Vec<String> = Vec::new();
    loop {
        match stream.told().await {
            (event, data) if event == "snapshot" => {
                let items = data["items"].as_array().unwrap();
                ids.extend(items.iter().map(|it| it["_id"].as_str().unwrap().to_owned()));
            }
            (event, data) if event == "ready" => {
                return format!("{}/{}", letters(ids.iter().map(String::as_str)), data["total"]);
            }
            (_, data) => return format!("403 {}", data["code"].as_str().unwrap_or_default()),
        }
    }
}

/// Which items a document shows, and the total; `hidden` where the collection isn't in the caller's schema.
async fn graphql_seen(caller: &TestClient<'_>, c: &str) -> String {
    let document = format!("{{c: {} {{totalCount items {{_id}}}}}}", c.replace('-', "_"));
    let reply = caller.post("/graphql/v1", &json!({ "query": document })).await;
    answer(&reply, |json| match json["data"]["c"]["items"].as_array() {
        Some(items) => {
            let ids = letters(items.iter().filter_map(|it| it["_id"].as_str()));
            format!("{ids}/{}", json["data"]["c"]["totalCount"])
        }
        None => graphql_refusal(json),
    })
}

/// What a mutation of an item is answered.
async fn graphql_patch(caller: &TestClient<'_>, c: &str, id: &str) -> String {
    let name = c.replacen("c-", "C_", 1);
    let document = format!("mutation {{c: patch{name}(id: \"{id}\", inc: {{secret: 1}}) {{_id}}}}");
    let reply = caller.post("/graphql/v1", &json!({ "query": document })).await;
    answer(&reply, |json| if json["data"]["c"]["_id"] == id { "200".to_owned() } else { graphql_refusal(json) })
}

fn graphql_refusal(answer: &Value) -> String {
    match answer["errors"][0]["extensions"]["code"].as_str() {
        Some("GRAPHQL_VALIDATION_FAILED") if answer.get("data").is_none() => "hidden".to_owned(),
        code => code.unwrap_or_default().to_owned(),
    }
}

/// Changes of what the collection is: its fields, plugins and indexes. What they change is taken back.
async fn definition(app: &TestApp, caller: &TestClient<'_>, c: &str) -> [(&'static str, String); 7] {
    let owner = app.app();
    let field = |kind: &str| json!({ "dataCollectionId": c, "field": { "key": "extra", "type": kind } });
    let plugin = json!({ "dataCollectionId": c, "plugin": { "type": "SHARED" } });
    let (no_field, no_plugin) = (
        json!({ "dataCollectionId": c, "fieldKey": "extra" }),
        json!({ "dataCollectionId": c, "pluginType": "SHARED" }),
    );
    let index = json!({ "dataCollectionId": c, "index": { "name": "by-secret", "fields": [{ "path": "secret" }] } });
    let no_index = format!("/v2/indexes?dataCollectionId={c}&indexName=by-secret");
    let [create_field, update_field, delete_field] =
        ["create", "update", "delete"].map(|it| format!("/v2/collections/{it}-field"));
    let [add_plugin, delete_plugin] = ["add", "delete"].map(|it| format!("/v2/collections/{it}-plugin"));

    let created = caller.post(&create_field, &field("TEXT")).await.verdict();
    owner.post(&create_field, &field("TEXT")).await;
    let updated = caller.post(&update_field, &field("ANY")).await.verdict();
    let deleted = caller.post(&delete_field, &no_field).await.verdict();
    owner.post(&delete_field, &no_field).await;
    let added = caller.post(&add_plugin, &plugin).await.verdict();
    owner.post(&add_plugin, &plugin).await;
    let taken = caller.post(&delete_plugin, &no_plugin).await.verdict();
    owner.post(&delete_plugin, &no_plugin).await;
    let indexed = caller.post("/v2/indexes", &index).await.verdict();
    owner.post("/v2/indexes", &index).await;
    let dropped = caller.delete(&no_index).await.verdict();
    owner.delete(&no_index).await;
    app.app.content.index_work_do(&app.site).await.unwrap();
    [
        ("create field", created),
        ("update field", updated),
        ("delete field", deleted),
        ("add plugin", added),
        ("delete plugin", taken),
        ("create index", indexed),
        ("drop index", dropped),
    ]
}

/// The jobs that a caller may ask for, with the items that each has changed, and what is told of somebody else's.
async fn by_filter(app: &TestApp, caller: &TestClient<'_>, c: &str) -> [(&'static str, String); 8] {
    let begin = async |client: &TestClient<'_>, call: &str, filter: Value| {
        let set = json!([{ "fieldPath": "secret", "action": "SET_FIELD", "setFieldOptions": { "value": 10 } }]);
        let body = json!({ "dataCollectionId": c, "filter": filter, "fieldModifications": set });
        client.post(&format!("/v2/bulk/items/async-{call}-by-filter"), &body).await
    };
    let changed = async |reply: Reply| match reply.status.as_u16() {
        200 => {
            let job = crate::async_jobs::ended(caller, &reply).await;
            format!("{}/{}", job["successCount"], job["failureCount"])
        }
        _ => reply.verdict(),
    };
    let patched = changed(begin(caller, "patch", json!({ "secret": { "$gt": 0 } })).await).await;
    let removed = changed(begin(caller, "remove", json!({ "secret": { "$gt": 0 } })).await).await;
    let all = changed(begin(caller, "remove", json!({})).await).await;
    let job = begin(&app.app(), "patch", json!({ "secret": -1 })).await.json()["jobId"].clone();
    let job = job.as_str().unwrap_or_default();
    let of_another = caller.get(&format!("/v2/async-jobs/{job}/status?jobId={job}")).await;
    let task = async |client: &TestClient<'_>, filter: Value| {
        let operations = json!({ "replaceItems": [{ "from": 10, "to": 11 }] });
        let options =
            json!({ "dataCollectionId": c, "filter": filter, "fieldKey": "secret", "operations": operations });
        client
            .post("/v1/tasks", &json!({ "task": { "type": "EDIT_FIELD_DATA", "editFieldDataOptions": options } }))
            .await
    };
    let own = task(caller, json!({ "secret": -1 })).await.verdict();
    let other = task(&app.app(), json!({ "secret": -1 })).await.json()["task"]["id"].clone();
    let path = format!("/v1/tasks/{}", other.as_str().unwrap_or_default());
    let told = TASK_REFUSALS.short(&caller.get(&path).await.verdict());
    let listed = caller.get("/v1/tasks?paging.limit=100").await;
    let cancelled = TASK_REFUSALS.short(&caller.delete(&path).await.verdict());
    [
        ("filter patch", patched),
        ("filter remove", removed),
        ("filter all", all),
        ("foreign job", of_another.status.as_u16().to_string()),
        ("task edit", own),
        ("foreign task", told),
        ("foreign tasks", answer(&listed, |json| json["tasks"].to_string().contains(&other.to_string()).to_string())),
        ("foreign cancel", cancelled),
    ]
}

/// What an answer says, if it is one.
fn answer(reply: &Reply, says: impl FnOnce(&Value) -> String) -> String {
    if reply.status == 200 { says(&reply.json()) } else { reply.verdict() }
}

/// The letters of items, in the order of the letters' table.
fn letters<'v>(ids: impl Iterator<Item = &'v str>) -> String {
    let ids: Vec<&str> = ids.collect();
    let known = ITEMS.into_iter().filter(|(id, _)| ids.contains(id)).map(|(_, symbol)| symbol.to_string());
    let others = ids.iter().filter(|id| ITEMS.iter().all(|(known, _)| known != *id)).map(|id| format!("+{id}"));
    let letters: String = known.chain(others).collect();
    if letters.is_empty() { "-".to_owned() } else { letters }
}

/// The items that a call on many has done something to.
fn done(reply: &Reply) -> String {
    answer(reply, |json| {
        let results = json["results"].as_array().into_iter().flatten();
        let done = results.filter(|result| result["itemMetadata"]["success"] == true);
        letters(done.filter_map(|result| result["itemMetadata"]["id"].as_str()))
    })
}

/// Which items an answer shows, and the total it admits to.
fn seen(reply: &Reply) -> String {
    answer(reply, |json| format!("{}/{}", found(json), json["pagingMetadata"]["total"]))
}

/// The items of a page.
fn found(json: &Value) -> String {
    let items = json["dataItems"].as_array().into_iter().flatten();
    letters(items.filter_map(|item| item["data"]["_id"].as_str()))
}

/// Links an item with the member's, looks, and takes the link away again in both ways.
async fn links(caller: &TestClient<'_>, c: &str, id: &str) -> [(&'static str, String); 5] {
    let link = json!({ "referringItemFieldName": "peers", "referringItemId": id, "referencedItemId": "mine" });
    let many = json!({ "dataCollectionId": c, "dataItemReferences": [link] });
    let mut one = link;
    one["dataCollectionId"] = c.into();
    let mut none = one.clone();
    none["newReferencedItemIds"] = json!([]);
    let linked = caller.post("/v2/bulk/items/insert-references", &many).await.verdict();
    let reply = caller.post("/v2/items/is-referenced", &one).await;
    let is_linked = answer(&reply, |json| json["isReferenced"].to_string());
    let reply = caller.post("/v2/items/query-referenced", &one).await;
    let found = answer(&reply, |json| json["results"].as_array().map_or(0, Vec::len).to_string());
    [
        ("link", linked),
        ("is linked", is_linked),
        ("links of", found),
        ("replace links", caller.post("/v2/items/replace-references", &none).await.verdict()),
        ("unlink", caller.post("/v2/bulk/items/remove-references", &many).await.verdict()),
    ]
}

/// Puts the three items back as they were, each written by its owner while the collection is open.
async fn restore(app: &TestApp, member: &TestClient<'_>, other: &TestClient<'_>, c: &str) {
    let got = app.app().get(&format!("/v2/collections/{c}?dataCollectionId={c}")).await.json();
    let mut open = got["collection"].clone();
    let levels = open["dataPermissions"].clone();
    for id in ["mine", "hers", "none"] {
        let _ = app.app().post("/v2/items/remove", &json!({ "dataCollectionId": c, "dataItemId": id })).await;
    }
    open["dataPermissions"] =
        json!({ "itemRead": "ANYONE", "itemInsert": "ANYONE", "itemUpdate": "ANYONE", "itemRemove": "ANYONE" });
    open.as_object_mut().unwrap().remove("permissions");
    let mut opened = put(app, open).await["collection"].clone();
    refill(app, member, other, c).await;
    opened["dataPermissions"] = levels;
    opened.as_object_mut().unwrap().remove("permissions");
    put(app, opened).await;
}

async fn put(app: &TestApp, collection: Value) -> Value {
    let body = json!({ "collection": collection }).to_string().into();
    let reply = app.app().send(axum::http::Method::PUT, "/v2/collections", Some(body)).await;
    assert_eq!(reply.verdict(), "200", "{:?}", reply.body);
    reply.json()
}
