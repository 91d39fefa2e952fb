//! The permission matrix: callers × operations × levels, as one text.
//!
//! Each cell says what a caller reads or is told. The collection holds one item of the member, one of
//! another member and one of nobody; what a caller may not see must not show in any answer.

use serde_json::{Value, json};
use std::fmt::Write;
use stoa_testkit::{Asker, Engine, TestApp, on_both_engines};

pub(crate) mod members;

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
    let visitor = app.visitor().await;
    let member = app.member("member@example.org").await;
    let other = app.member("other@example.org").await;
    let editor = app.editor().await;
    let owner = app.owner().await;
    let callers = [
        ("nobody", app.nobody()),
        ("visitor", visitor),
        ("member", member.clone()),
        ("editor", editor),
        ("owner", owner),
        ("app", app.app()),
    ];
    let mut out = String::from("# What each caller is answered, by the level that the operation asks for.\n");
    out.push_str("# Items: `mine` is the member's, `hers` another member's, `none` nobody's; `-` sees no item.\n");
    for level in LEVELS {
        let collection = format!("c-{}", level.to_lowercase());
        let _ = writeln!(out, "\n## {level}");
        fill(&app, &member, &other, &collection, level).await;
        for (name, caller) in &callers {
            let _ = writeln!(out, "{name:<8} {}", row(&app, caller, &collection, (&member, &other)).await);
        }
    }
    out
}

/// Makes the collection open, writes the three items, then closes it to the level.
async fn fill(app: &TestApp, member: &Asker<'_>, other: &Asker<'_>, id: &str, level: &str) {
    let levels =
        |level: &str| json!({ "itemRead": level, "itemInsert": level, "itemUpdate": level, "itemRemove": level });
    let peers = |key: &str, pair: &str| {
        let metadata = json!({ "multiReference": { "referencedCollectionId": id, "referencingFieldKey": pair } });
        json!({ "key": key, "type": "MULTI_REFERENCE", "typeMetadata": metadata })
    };
    let collection = |level: &str| {
        json!({
            "id": id, "displayName": id, "dataPermissions": levels(level),
            "fields": [{ "key": "secret", "type": "NUMBER" }, peers("peers", "peersOf"), peers("peersOf", "peers")],
        })
    };
    let made = app.app().post("/v2/collections", &json!({ "collection": collection("ANYONE") })).await;
    let revision = made.json()["collection"]["revision"].clone();
    refill(app, member, other, id).await;
    let mut closed = collection(level);
    closed["revision"] = revision;
    put(app, closed).await;
}

async fn refill(app: &TestApp, member: &Asker<'_>, other: &Asker<'_>, id: &str) {
    for (asker, name, secret) in [(member.clone(), "mine", 1), (other.clone(), "hers", 2), (app.app(), "none", 3)] {
        let body = json!({ "dataCollectionId": id, "dataItem": { "data": { "_id": name, "secret": secret } } });
        let reply = asker.post("/v2/items", &body).await;
        assert!(matches!(reply.verdict().as_str(), "200" | "409 WDE0074"), "{:?}", reply);
    }
}

/// All operations of one caller, what they changed put back after each.
async fn row(app: &TestApp, caller: &Asker<'_>, c: &str, (member, other): (&Asker<'_>, &Asker<'_>)) -> String {
    let mut cells = Vec::new();
    let query = |query: Value| json!({ "dataCollectionId": c, "query": query, "returnTotalCount": true });
    for (name, body) in [
        ("query", query(json!({}))),
        ("filter", query(json!({ "filter": { "secret": { "$gt": 0 } } }))),
        ("or", query(json!({ "filter": { "$or": [{}, { "_owner": { "$exists": true } }] } }))),
        ("not", query(json!({ "filter": { "$not": [{ "secret": -1 }] } }))),
        ("sort", query(json!({ "sort": [{ "fieldName": "secret", "order": "DESC" }], "paging": { "limit": 1 } }))),
        ("fields", query(json!({ "fields": ["secret"], "filter": { "_id": { "$in": ["mine", "hers", "none"] } } }))),
    ] {
        let reply = caller.post("/v2/items/query", &body).await;
        cells.push(format!("{name} {}", seen(&reply.verdict(), &reply)));
    }
    let count = json!({ "dataCollectionId": c, "filter": { "secret": { "$gte": 1 } } });
    let reply = caller.post("/v2/items/count", &count).await;
    cells.push(format!(
        "count {}",
        if reply.status == 200 { reply.json()["totalCount"].to_string() } else { reply.verdict() }
    ));
    let distinct = json!({ "dataCollectionId": c, "fieldName": "secret" });
    let reply = caller.post("/v2/items/query-distinct-values", &distinct).await;
    cells.push(format!(
        "distinct {}",
        if reply.status == 200 { reply.json()["distinctValues"].to_string() } else { reply.verdict() }
    ));
    for id in ["mine", "hers", "none"] {
        let reply = caller.get(&format!("/v2/items/{id}?dataCollectionId={c}&dataItemId={id}")).await;
        cells.push(format!("get {id} {}", reply.verdict()));
    }
    let insert = json!({ "dataCollectionId": c, "dataItem": { "data": { "_id": "new", "secret": 9 } } });
    cells.push(format!("insert {}", caller.post("/v2/items", &insert).await.verdict()));
    let _ = app.app().post("/v2/items/remove", &json!({ "dataCollectionId": c, "dataItemId": "new" })).await;
    for id in ["mine", "hers", "none"] {
        let update = json!({ "dataCollectionId": c, "dataItem": { "id": id, "data": { "_id": id, "secret": 5 } } });
        cells.push(format!("update {id} {}", caller.post("/v2/items/update", &update).await.verdict()));
    }
    for id in ["mine", "hers", "none"] {
        let change =
            json!({ "fieldPath": "secret", "action": "INCREMENT_FIELD", "incrementFieldOptions": { "value": 1 } });
        let patch = json!({ "dataCollectionId": c, "patch": { "dataItemId": id, "fieldModifications": [change] } });
        cells.push(format!("patch {id} {}", caller.post("/v2/items/patch", &patch).await.verdict()));
    }
    let three = ["mine", "hers", "none"];
    for id in three {
        let save = json!({ "dataCollectionId": c, "dataItem": { "id": id, "data": { "_id": id, "secret": 6 } } });
        cells.push(format!("save {id} {}", caller.post("/v2/items/save", &save).await.verdict()));
    }
    let data = |id: &str| json!({ "id": id, "data": { "_id": id, "secret": 7 } });
    let new = json!({ "dataCollectionId": c, "dataItems": [data("new"), data("mine")] });
    cells.push(format!("bulk insert {}", done(&caller.post("/v2/bulk/items/insert", &new).await)));
    let _ = app.app().post("/v2/items/remove", &json!({ "dataCollectionId": c, "dataItemId": "new" })).await;
    let all = json!({ "dataCollectionId": c, "dataItems": three.map(data) });
    cells.push(format!("bulk update {}", done(&caller.post("/v2/bulk/items/update", &all).await)));
    cells.push(format!("bulk save {}", done(&caller.post("/v2/bulk/items/save", &all).await)));
    let patches = three.map(|id| {
        let set = json!({ "fieldPath": "secret", "action": "SET_FIELD", "setFieldOptions": { "value": 8 } });
        json!({ "dataItemId": id, "fieldModifications": [set] })
    });
    let patches = json!({ "dataCollectionId": c, "patches": patches });
    cells.push(format!("bulk patch {}", done(&caller.post("/v2/bulk/items/patch", &patches).await)));
    for id in ["mine", "hers", "none"] {
        cells.push(format!("links {id} {}", links(caller, c, id).await));
    }
    for id in ["mine", "hers", "none"] {
        let remove = json!({ "dataCollectionId": c, "dataItemId": id });
        cells.push(format!("remove {id} {}", caller.post("/v2/items/remove", &remove).await.verdict()));
    }
    let truncate = caller.post("/v2/items/truncate", &json!({ "dataCollectionId": c })).await;
    cells.push(format!("truncate {}", truncate.verdict()));
    restore(app, member, other, c).await;
    let gone = json!({ "dataCollectionId": c, "dataItemIds": three });
    cells.push(format!("bulk remove {}", done(&caller.post("/v2/bulk/items/remove", &gone).await)));
    restore(app, member, other, c).await;
    cells.push(format!("permissions {}", caller.get(&format!("/v1/permissions?dataCollectionId={c}")).await.verdict()));
    cells.push(format!("indexes {}", caller.get(&format!("/v2/indexes?dataCollectionId={c}")).await.verdict()));
    let index = json!({ "dataCollectionId": c, "index": { "name": "", "fields": [] } });
    cells.push(format!("bad index {}", caller.post("/v2/indexes", &index).await.verdict()));
    let reply = caller.get(&format!("/v1/permissions/current?dataCollectionId={c}")).await;
    let (mine, words) = (reply.json(), ["itemRead", "itemInsert", "itemUpdate", "itemRemove"]);
    let rights: Vec<_> = words.into_iter().filter(|it| mine[it] == true).collect();
    cells.push(format!("mine {}", if reply.status == 200 { rights.join("+") } else { reply.verdict() }));
    cells.join(" | ")
}

/// The items that a call on many has done something to.
fn done(reply: &stoa_testkit::Reply) -> String {
    if reply.status != 200 {
        return reply.verdict();
    }
    let json = reply.json();
    let done = json["results"].as_array().into_iter().flatten().filter(|it| it["itemMetadata"]["success"] == true);
    let ids: Vec<_> = done.filter_map(|it| it["itemMetadata"]["id"].as_str()).collect();
    if ids.is_empty() { "-".to_owned() } else { ids.join("+") }
}

/// Links an item with the member's, looks, and takes the link away again in both ways.
async fn links(caller: &Asker<'_>, c: &str, id: &str) -> String {
    let link = json!({ "referringItemFieldName": "peers", "referringItemId": id, "referencedItemId": "mine" });
    let many = json!({ "dataCollectionId": c, "dataItemReferences": [link] });
    let mut one = link;
    one["dataCollectionId"] = c.into();
    let mut none = one.clone();
    none["newReferencedItemIds"] = json!([]);
    let mut verdicts = vec![caller.post("/v2/bulk/items/insert-references", &many).await.verdict()];
    let reply = caller.post("/v2/items/is-referenced", &one).await;
    verdicts.push(if reply.status == 200 { reply.json()["isReferenced"].to_string() } else { reply.verdict() });
    let reply = caller.post("/v2/items/query-referenced", &one).await;
    let found = |reply: stoa_testkit::Reply| reply.json()["results"].as_array().map_or(0, Vec::len).to_string();
    verdicts.push(if reply.status == 200 { found(reply) } else { reply.verdict() });
    verdicts.push(caller.post("/v2/items/replace-references", &none).await.verdict());
    verdicts.push(caller.post("/v2/bulk/items/remove-references", &many).await.verdict());
    verdicts.join(", ")
}

/// Puts the three items back as they were, each written by its owner while the collection is open.
async fn restore(app: &TestApp, member: &Asker<'_>, other: &Asker<'_>, c: &str) {
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

/// Which items an answer shows, and the total it admits to.
fn seen(verdict: &str, reply: &stoa_testkit::Reply) -> String {
    if verdict != "200" {
        return verdict.to_owned();
    }
    let json = reply.json();
    let mut ids: Vec<&str> =
        json["dataItems"].as_array().into_iter().flatten().filter_map(|it| it["data"]["_id"].as_str()).collect();
    ids.sort_unstable();
    let ids = if ids.is_empty() { "-".to_owned() } else { ids.join("+") };
    format!("{ids} of {}", json["pagingMetadata"]["total"])
}
