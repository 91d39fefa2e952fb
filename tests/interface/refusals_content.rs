//! What a call of content may be refused with: whatever is wrong with it, its operation describes the answer.
//!
//! Each call is sent whole, and then with one thing wrong, for every place of its body and all that may be wrong there.

use axum::http::Method;
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use stoa_http::{Opening, openapi::Listed, operations};
use stoa_testkit::{Reply, TestApp, TestClient, on_both_engines};

on_both_engines! {
    async fn refusals_of_content_are_described(engine) {
        let app = TestApp::new(engine).await;
        let document: Value = serde_json::from_slice(stoa_http::document().text()).unwrap();
        let visitor = app.visitor().await;
        make(&app, "closed", "PRIVILEGED").await;
        make(&app, "gone", "ANYONE").await;
        assert_eq!(app.app().delete("/v2/collections/gone").await.verdict(), "200");
        let (mut foreign, mut asked) = (Vec::new(), BTreeSet::new());
        for listed in operations().into_iter().filter(|it| it.route.opening == Opening::Collections) {
            let id = listed.operation.id;
            if !asked.insert(id) {
                // The same at another path.
                continue;
            }
            let things = format!("things-{id}");
            make(&app, &things, "ANYONE").await;
            renew(&app, &things).await;
            let mut seen: BTreeMap<String, Value> = BTreeMap::new();
            for (client, body) in [(&app.app(), whole(id, &things)), (&visitor, whole(id, "closed"))] {
                for mut broken in broken_in_one_place(&body) {
                    name_the_revision(&app, &things, &mut broken).await;
                    let reply = send(client, &listed, &things, &broken).await;
                    if reply.status.is_client_error() {
                        seen.entry(reply.verdict()).or_insert(broken);
                    } else {
                        renew(&app, &things).await;
                    }
                }
            }
            if id == "collectionPatch" {
                for collection in [json!(null), json!(7), json!("gone"), json!("closed"), json!(things)] {
                    let body = json!({ "dataCollectionId": collection, "field": { "key": "n", "displayName": "N" } });
                    let path = format!("/v2/collections/{things}/patch-field");
                    let reply = app.app().send(Method::PATCH, &path, Some(body.to_string().into())).await;
                    if reply.status.is_client_error() {
                        seen.entry(reply.verdict()).or_insert(body);
                    }
                }
            }
            for query in [".r=%25", ".r=W10", "a=1&a.b=2"] {
                let reply = ask(&app.app(), &listed, &things, query).await;
                if reply.status.is_client_error() {
                    seen.entry(reply.verdict()).or_insert(query.into());
                }
            }
            let described = described(&document, id);
            foreign.extend(seen.iter().filter(|it| !described.contains(it.0)).map(|(verdict, body)| format!("{id}: {verdict} {}", short(body))));
        }
        assert!(foreign.is_empty(), "not described: {foreign:#?}");
    }

    async fn writes_of_one_item_take_so_many_links(engine) {
        let app = TestApp::new(engine).await;
        let link = |n: usize| json!({ "multiReference": { "referencedCollectionId": "hubs", "referencingFieldKey": format!("of{n}") } });
        let field = |n: usize| json!({ "key": format!("links{n}"), "type": "MULTI_REFERENCE", "typeMetadata": link(n) });
        let fields: Vec<Value> = (0..11).map(field).collect();
        let levels = json!({ "itemRead": "ANYONE", "itemInsert": "ANYONE", "itemUpdate": "ANYONE" });
        let hubs = json!({ "id": "hubs", "fields": fields, "dataPermissions": levels });
        assert_eq!(app.app().post("/v2/collections", &json!({ "collection": hubs })).await.verdict(), "200");
        let ids: Vec<String> = (0..1_000).map(|n| n.to_string()).collect();
        let mut data = json!({ "_id": "one" });
        (0..11).for_each(|n| data[format!("links{n}")] = json!(ids));
        let body = json!({ "dataCollectionId": "hubs", "dataItem": { "id": "one", "data": data }, "saveReferences": true });
        let body = || Some(body.to_string().into());
        for path in ["/v2/items", "/v2/items/update", "/v2/items/save"] {
            assert_eq!(app.app().send(Method::POST, path, body()).await.verdict(), "400 WDE0006", "{path}");
        }
        assert_eq!(app.app().send(Method::PUT, "/v2/items/one", body()).await.verdict(), "400 WDE0006");
    }
}

fn short(body: &Value) -> String {
    body.to_string().chars().take(200).collect()
}

/// The statuses with their codes that the document has of a call.
fn described(document: &Value, id: &str) -> BTreeSet<String> {
    let paths = document["paths"].as_object().unwrap().values();
    let calls = paths.flat_map(|it| it.as_object().unwrap().values());
    let call = calls.into_iter().find(|it| it["operationId"] == id).unwrap();
    let mut found = BTreeSet::new();
    for (status, response) in call["responses"].as_object().unwrap() {
        let shared = response["$ref"].as_str().and_then(|it| document.pointer(it.strip_prefix('#')?));
        for code in shared.unwrap_or(response)["x-codes"].as_array().into_iter().flatten() {
            found.insert(format!("{status} {}", code.as_str().unwrap()));
        }
    }
    found
}

/// Makes the collection that calls name, of which each call has its own.
pub(super) async fn make(app: &TestApp, id: &str, level: &str) {
    let link = json!({ "multiReference": { "referencedCollectionId": id, "referencingFieldKey": "peersOf" } });
    let fields = json!([
        { "key": "n", "type": "NUMBER" },
        { "key": "t", "type": "TEXT" },
        { "key": "code", "type": "TEXT" },
        { "key": "tags", "type": "ARRAY_STRING" },
        { "key": "others", "type": "ARRAY_STRING" },
        { "key": "boss", "type": "REFERENCE", "typeMetadata": { "reference": { "referencedCollectionId": id } } },
        { "key": "peers", "type": "MULTI_REFERENCE", "typeMetadata": link },
    ]);
    let levels = json!({ "itemRead": level, "itemInsert": level, "itemUpdate": level, "itemRemove": level });
    let object = json!({ "id": id, "fields": fields, "dataPermissions": levels, "strictMode": true });
    let reply = app.app().post("/v2/collections", &json!({ "collection": object })).await;
    assert_eq!(reply.verdict(), "200", "{:?}", reply.body);
    let index = json!({ "name": "by_code", "fields": [{ "path": "code" }], "unique": true });
    let reply = app.app().post("/v2/indexes", &json!({ "dataCollectionId": id, "index": index })).await;
    assert_eq!(reply.verdict(), "200", "{:?}", reply.body);
    app.app.content.index_work_do(&app.site).await.unwrap();
}

/// Writes the items that calls name, which a call that was taken may have changed.
pub(super) async fn renew(app: &TestApp, collection: &str) {
    for id in ["one", "two"] {
        let item = json!({ "_id": id, "n": 1, "t": id, "code": id });
        let body = json!({ "dataCollectionId": collection, "dataItem": { "data": item } });
        let _ = app.app().post("/v2/items/save", &body).await;
    }
}

/// Puts the revision that the collection has now where the request asks for it.
async fn name_the_revision(app: &TestApp, things: &str, body: &mut Value) {
    for definition in ["/collection/revision", "/dataCollection/revision"] {
        if let Some(it) = body.pointer_mut(definition).filter(|it| **it == "current") {
            let reply = app.app().get(&format!("/v2/collections/{things}")).await;
            *it = reply.json()["collection"]["revision"].clone();
        }
    }
}

/// A request with everything that the call reads.
pub(super) fn whole(id: &str, things: &str) -> Value {
    if id == "realtimeStream" {
        let sort = json!([{ "fieldName": "n", "order": "ASC" }]);
        let subscription = json!({ "key": "a", "dataCollectionId": things, "filter": { "n": 1 }, "fields": ["n"], "snapshot": true, "limit": 1, "sort": sort });
        return json!({ "subscriptions": [subscription, { "key": "b", "dataCollectionId": things, "resume": "x" }] });
    }
    if id == "graphqlExecute" {
        return json!({ "query": "query q {_collections}", "operationName": "q", "variables": { "n": 1 }, "extensions": {} });
    }
    let item = json!({ "id": "one", "data": { "_id": "one", "n": 2, "t": "one", "code": "one", "peers": ["one"] } });
    let new = json!({ "id": "new", "data": { "_id": "new", "n": 2, "peers": ["one"] } });
    let condition = json!({ "filter": { "n": 1 } });
    let changes = json!([{ "fieldPath": "n", "action": "SET_FIELD", "setFieldOptions": { "value": 3 } }]);
    let patch = json!({ "dataItemId": "one", "fieldModifications": changes });
    let reference = json!({ "referringItemFieldName": "peers", "referringItemId": "one", "referencedItemId": "two" });
    let operations = json!({ "addItems": ["x"], "removeItems": ["y"], "replaceItems": [{ "from": "a", "to": "b" }], "removeDuplicates": true });
    let task = json!({ "type": "EDIT_FIELD_DATA", "editFieldDataOptions": { "dataCollectionId": things, "environment": "LIVE", "filter": { "n": -1 }, "fieldKey": "tags", "operations": operations } });
    let levels =
        json!({ "itemRead": "ANYONE", "itemInsert": "ANYONE", "itemUpdate": "ANYONE", "itemRemove": "ANYONE" });
    let definition = json!({ "id": things, "revision": "current", "displayName": "Things", "fields": [{ "key": "n", "type": "NUMBER" }], "plugins": [], "dataPermissions": levels });
    let of_items = json!({
        "dataCollectionId": things, "environment": "LIVE", "language": null,
        "dataItemId": "one", "dataItemIds": ["one"],
        "dataItem": if id == "itemInsert" { new.clone() } else { item.clone() },
        "dataItems": if id == "itemBulkInsert" { json!([new]) } else { json!([item]) },
        "patch": patch, "patches": [patch], "fieldModifications": changes, "jobId": "none", "condition": condition,
        "saveReferences": true, "includeReferencedItems": false, "returnEntity": false,
        "query": { "filter": { "n": 1 }, "sort": [{ "fieldName": "n", "order": "ASC" }], "paging": { "limit": 1, "offset": 0 }, "fields": ["n"] },
        // Nothing that other calls ask for is to go in the background.
        "filter": { "n": if id == "itemRemoveByFilter" { -1 } else { 1 } }, "fieldName": "n", "order": "ASC", "paging": { "limit": 1, "offset": 0 }, "fields": ["n"],
        "includeReferences": [{ "field": "boss" }], "returnTotalCount": false, "sortMode": "WIX_QUERY", "randomOptions": { "seed": 1 },
        "referringItemFieldName": "peers", "referringItemId": "one", "referencedItemId": "two",
        "referringItemIds": null, "newReferencedItemIds": ["two"],
        "initialFilter": { "n": 1 }, "finalFilter": { "count": 1 },
        "aggregation": { "groupingFields": ["t"], "operations": [{ "resultFieldName": "count", "itemCount": {} }, { "resultFieldName": "nSum", "sum": { "itemFieldName": "n" } }] },
        "sort": [{ "fieldName": "count", "order": "ASC" }],
        "pipeline": { "stages": stages(), "paging": { "limit": 1, "offset": 0 } },
        "dataItemReferences": [reference],
    });
    let of_collections = json!({
        "collection": definition, "dataCollection": definition, "field": { "key": "n", "type": "NUMBER" }, "fieldKey": "n",
        "plugin": { "type": "CMS", "cmsOptions": { "siteSort": { "sort": [] } } }, "pluginType": "CMS",
        "cmsOptions": { "siteSort": { "sort": [] } },
        "index": { "name": "by_n", "fields": [{ "path": "n", "order": "ASC" }] }, "indexName": "by_n",
        "dataPermissions": { "id": things, "itemRead": "ANYONE" },
        "taskId": "none", "task": task,
        "specialPermissions": { "id": "s", "userId": "u", "itemRead": "ALLOWED" }, "specialPermissionsId": "s",
    });
    let reads: Vec<&str> = members(id);
    let picked: Map<String, Value> = [of_items, of_collections]
        .iter()
        .flat_map(|it| it.as_object().unwrap())
        .filter(|it| reads.contains(&it.0.as_str()))
        .map(|(name, it)| (name.clone(), it.clone()))
        .collect();
    Value::Object(picked)
}

/// One stage of each kind.
fn stages() -> Value {
    let product = json!({ "multiply": { "expressions": [{ "fieldPath": "n" }, { "numeric": 2 }] } });
    let part = json!({ "substring": { "expression": { "text": "abc" }, "startExpression": { "numeric": 1 } } });
    json!([
        { "filter": { "n": 1 } },
        { "projection": { "fields": [{ "include": { "fieldName": "n" } }, { "exclude": { "fieldName": "t" } }, { "reshape": { "resultFieldName": "part", "expression": part } },
            { "projectNested": { "resultFieldName": "o", "fields": [{ "include": { "fieldName": "x" } }] } }] } },
        { "unwindArray": { "arrayFieldName": "n" } },
        { "sort": { "values": [{ "fieldName": "n", "order": "ASC" }] } },
        { "skip": 0 },
        { "limit": 5 },
        { "objectToArray": { "objectFieldName": "o", "destinationFieldName": "p" } },
        { "group": { "groupIds": [{ "key": "n", "expression": { "fieldPath": "n" } }], "accumulators": [{ "resultFieldName": "s", "sum": { "expression": product } }] } },
    ])
}

/// What a call reads of its body or query.
fn members(id: &str) -> Vec<&'static str> {
    let own = match id {
        "itemInsert" | "itemUpdate" | "itemPut" | "itemSave" => {
            "dataItem condition saveReferences includeReferencedItems"
        }
        "itemPatch" | "itemPatchById" => "patch condition",
        "itemGet" | "itemGetByQuery" => "dataItemId fields includeReferences",
        "itemRemove" | "itemDelete" => "dataItemId condition",
        "itemDraftCreate" | "itemDraftPublish" => "dataItemId",
        "itemUnpublish" => "dataItemId copyToDraft",
        "itemTruncate" => "",
        "itemBulkInsert" | "itemBulkUpdate" | "itemBulkSave" => "dataItems condition saveReferences returnEntity",
        "itemBulkPatch" => "patches condition returnEntity",
        "itemBulkRemove" => "dataItemIds condition returnEntity",
        "itemPatchByFilter" => "filter fieldModifications",
        "itemRemoveByFilter" => "filter",
        "asyncJobStatusGet" => "jobId",
        "taskCreate" => "task",
        "taskList" => "paging",
        "taskGet" | "taskCancel" => "taskId",
        "itemQuery" | "itemQueryByGet" => "query includeReferences returnTotalCount sortMode randomOptions",
        "itemCount" => "filter",
        "itemDistinctQuery" => "fieldName filter order paging returnTotalCount",
        "itemAggregate" => "initialFilter finalFilter aggregation sort paging returnTotalCount",
        "itemSearch" => "search includeReferences",
        "itemAggregatePipeline" => "pipeline returnTotalCount",
        "referenceBulkInsert" | "referenceBulkRemove" => "dataItemReferences",
        "referenceReplace" => "referringItemFieldName referringItemId newReferencedItemIds",
        "referenceCheck" => "referringItemFieldName referringItemId referencedItemId",
        "referencedItemQuery" => {
            "referringItemFieldName referringItemId referringItemIds order fields paging returnTotalCount"
        }
        "collectionCreate" | "collectionUpdate" => "collection",
        "collectionPatch" => "dataCollection field",
        "collectionGet" => "fields",
        "collectionList" => "paging fields",
        "fieldCreate" | "fieldUpdate" => "field",
        "fieldDelete" => "fieldKey",
        "pluginAdd" => "plugin",
        "pluginDelete" => "pluginType",
        "cmsPluginAdd" => "cmsOptions",
        "indexCreate" => "index",
        "indexDrop" => "indexName",
        "indexList" => "paging",
        "permissionsUpdate" => "dataPermissions",
        "specialPermissionCreate" | "specialPermissionUpdate" => "specialPermissions",
        "specialPermissionDelete" => "specialPermissionsId",
        _ => "",
    };
    own.split_whitespace().chain(["dataCollectionId", "environment", "language"]).collect()
}

/// The request as it is, and with one thing wrong.
fn broken_in_one_place(body: &Value) -> Vec<Value> {
    let mut all = vec![body.clone()];
    for pointer in places(body) {
        let name = pointer.rsplit('/').next().unwrap_or_default();
        for wrong in wrong_at(name) {
            let mut broken = body.clone();
            *broken.pointer_mut(&pointer).unwrap() = wrong;
            all.push(broken);
        }
        let (parent, _) = pointer.rsplit_once('/').unwrap();
        let mut without = body.clone();
        if let Some(Value::Object(members)) = without.pointer_mut(parent) {
            members.remove(name);
            all.push(without);
        }
    }
    all
}

/// Every place in a body, as JSON pointers; of filters, items and orders as wholes.
fn places(body: &Value) -> Vec<String> {
    fn walk(value: &Value, at: &str, found: &mut Vec<String>) {
        let mut visit = |key: String, child: &Value| {
            let at = format!("{at}/{key}");
            found.push(at.clone());
            if !matches!(key.as_str(), "filter" | "data") {
                walk(child, &at, found);
            }
        };
        match value {
            Value::Object(members) => members.iter().for_each(|(key, child)| visit(key.clone(), child)),
            Value::Array(elements) => elements.iter().enumerate().for_each(|(i, child)| visit(i.to_string(), child)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    walk(body, "", &mut found);
    found
}

/// What may be wrong in a place of this name.
fn wrong_at(name: &str) -> Vec<Value> {
    let deep = |member: &str| (0..100).fold(json!({ "n": 1 }), |inner, _| json!({ member: inner }));
    let many = |one: Value| Value::Array(vec![one; 1_001]);
    let mut wrong = vec![
        json!(null),
        json!(7),
        json!(-1),
        json!(1.5),
        json!("nope"),
        json!(""),
        json!(true),
        json!([]),
        json!([null]),
        json!({}),
    ];
    wrong.extend(match name {
        "dataCollectionId" => vec![json!("gone"), json!("closed")],
        "environment" => vec![json!("SANDBOX")],
        "language" => vec![json!("en")],
        "filter" => vec![
            json!([1]),
            json!({ "$and": 5 }),
            json!({ "$and": [5] }),
            json!({ "$not": 5 }),
            json!({ "n": { "$near": 1 } }),
            json!({ "n": { "$regex": "x" } }),
            json!({ "t": { "$startsWith": 5 } }),
            json!({ "n": { "$gt": null } }),
            json!({ "n": { "$in": 5 } }),
            json!({ "n": { "$in": [{}] } }),
            json!({ "n": { "$hasSome": [{}] } }),
            json!({ "$near": 1 }),
            json!({ "": 1 }),
            json!({ "n": { "$matches": 5 } }),
            deep("$not"),
            json!({ "peers": { "$gt": "a" } }),
            json!({ "_publishStatus": "DRAFT" }),
            json!({ "n.$a": 1 }),
        ],
        "data" => vec![
            json!({ "_id": 7 }),
            json!({ "_id": "" }),
            json!({ "_id": "a?b" }),
            json!({ "_id": "none" }),
            json!({ "_id": "two" }),
            json!({ "_id": "one", "$a": 1 }),
            deep("a"),
            json!({ "_id": "one", "a": "x".repeat(600_000) }),
            json!({ "_id": "one", "peers": 5 }),
            json!({ "_id": "one", "peers": [5] }),
            json!({ "_id": "one", "peers": ["none"] }),
            json!({ "_id": "one", "peers": (0..1_001).map(|n| format!("x{n}")).collect::<Vec<_>>() }),
            json!({ "_id": "new", "peers": 5 }),
            json!({ "_id": "new", "code": "two" }),
            json!({ "_id": "one", "code": "two" }),
            json!({ "_id": "one", "n": "x" }),
            json!({ "_id": "one?" }),
            json!({ "_id": "one", "_publishStatus": "DRAFT" }),
            json!({ "_id": "one", "t": "two" }),
        ],
        "dataItems" => vec![many(json!({ "data": { "n": 1 } }))],
        "dataItemIds" | "newReferencedItemIds" => {
            vec![many(json!("one")), json!([5]), json!(["none"]), json!(["two", "two"])]
        }
        "referringItemIds" => vec![json!((0..1_001).map(|n| format!("x{n}")).collect::<Vec<_>>()), json!([5])],
        "fieldModifications" => {
            let deep = vec!["a"; 40].join(".");
            let set = |path: &str, value: Value| json!([{ "fieldPath": path, "action": "SET_FIELD", "setFieldOptions": { "value": value } }]);
            vec![
                set("code", json!("two")),
                set("n", json!("x")),
                set("t", json!("x".repeat(600_000))),
                set(&deep, json!(1)),
                set("peers", json!(5)),
            ]
        }
        "patches" => vec![many(json!({ "dataItemId": "one", "fieldModifications": [] }))],
        "dataItemReferences" => vec![many(
            json!({ "referringItemFieldName": "peers", "referringItemId": "one", "referencedItemId": "two" }),
        )],
        "dataItemId" | "referringItemId" | "referencedItemId" => vec![json!("none"), json!("a?b")],
        "fieldName" | "referringItemFieldName" | "fieldPath" | "path" => {
            vec![json!("$n"), json!("n"), json!("boss"), json!("peers"), json!(vec!["a"; 40].join("."))]
        }
        "sort" => vec![
            json!([1]),
            json!([{ "fieldName": 1 }]),
            json!([{ "fieldName": "n", "order": "up" }]),
            many(json!({ "fieldName": "n" })),
            json!([{ "fieldName": "tags" }, { "fieldName": "others" }]),
        ],
        "limit" | "offset" => vec![json!(1_000_000), json!("x"), json!(0)],
        "query" => {
            vec![json!({ "cursorPaging": { "cursor": "x" } }), json!({ "cursorPaging": { "limit": 5, "cursor": 5 } })]
        }
        "fields" => vec![
            json!(["$n"]),
            json!([5]),
            json!([{ "key": "a.b", "type": "TEXT" }]),
            json!([{ "key": "$a", "type": "TEXT" }]),
            json!([links("links")]),
        ],
        "plugins" => vec![json!([{ "type": "DRAFT_ITEMS" }, { "type": "MULTILINGUAL" }]), json!([{ "type": "NEAR" }])],
        "field" | "includeReferences" => vec![
            json!("n"),
            links("links"),
            links("n"),
            json!({ "key": "a.b", "type": "TEXT" }),
            json!({ "key": "$a", "type": "TEXT" }),
            json!({ "key": "m", "type": "TEXT" }),
            json!({ "key": "n", "type": "TEXT" }),
            json!({ "key": "none", "type": "TEXT" }),
            json!([{ "field": "n" }]),
            json!([{ "field": "" }]),
            json!([{ "field": 5 }]),
            json!({ "key": "code", "type": "TEXT", "typeMetadata": { "unique": true } }),
        ],
        "fieldKey" => vec![json!("_id")],
        "collection" | "dataCollection" => vec![
            json!({ "id": "none", "revision": "1", "fields": [{ "key": "n", "type": "NUMBER" }] }),
            json!({ "id": "closed", "revision": "99", "fields": [] }),
            json!({ "id": "linked", "fields": [links("links")], "dataPermissions": {} }),
            json!({ "id": "gone", "revision": "1", "fields": [] }),
            json!({ "id": "nope", "revision": "1", "fields": [] }),
        ],
        "plugin" => vec![json!({ "type": "DRAFT_ITEMS" }), json!({ "type": "NEAR" })],
        "pluginType" => vec![json!("PUBLISH"), json!("CMS")],
        "index" => vec![
            json!({ "name": "x", "fields": [{ "path": "$n" }] }),
            json!({ "name": "x", "fields": [{ "path": "peers" }] }),
        ],
        "specialPermissionsId" | "id" => vec![json!("gone"), json!("closed")],
        _ => vec![],
    });
    wrong
}

/// A field of links whose other end would have the name of a field that is there.
fn links(key: &str) -> Value {
    let link = json!({ "referencedCollectionId": "closed", "referencingFieldKey": "t" });
    json!({ "key": key, "type": "MULTI_REFERENCE", "typeMetadata": { "multiReference": link } })
}

pub(super) async fn send(client: &TestClient<'_>, listed: &Listed, things: &str, body: &Value) -> Reply {
    let path = path(listed, things);
    match listed.operation.request {
        Some(_) => client.send(listed.method.clone(), &path, Some(body.to_string().into())).await,
        None => {
            client
                .send(listed.method.clone(), &format!("{path}?.r={}", URL_SAFE_NO_PAD.encode(body.to_string())), None)
                .await
        }
    }
}

async fn ask(client: &TestClient<'_>, listed: &Listed, things: &str, query: &str) -> Reply {
    let is_read = matches!(listed.method, Method::GET | Method::DELETE);
    let body = (!is_read).then(|| "7".into());
    client.send(listed.method.clone(), &format!("{}?{query}", path(listed, things)), body).await
}

pub(super) fn path(listed: &Listed, things: &str) -> String {
    let path = listed.path();
    let id = if path.starts_with("/v2/items") {
        "one"
    } else if path.contains("/special/") {
        "s"
    } else {
        things
    };
    path.replace("{id}", id)
}
