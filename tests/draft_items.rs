//! The plugin DRAFT_ITEMS: drafts in a collection of their own, which is there for those who manage them, in every call.

use axum::http::Method;
use futures_util::future::join_all;
use serde_json::{Value, json};
use stoa_testkit::{Engine, Reply, TestApp, TestClient, on_both_engines};

const OPEN: [&str; 4] = ["itemRead", "itemInsert", "itemUpdate", "itemRemove"];

/// A collection that anyone may read and write, with drafts of their own, and the published item `a`.
async fn world(engine: Engine, permissions: Value) -> TestApp {
    let app = TestApp::new(engine).await;
    let open: Value =
        OPEN.into_iter().map(|it| (it.to_owned(), json!("ANYONE"))).collect::<serde_json::Map<_, _>>().into();
    let fields = json!([{ "key": "title", "type": "TEXT" }, { "key": "n", "type": "NUMBER" }]);
    let object = json!({ "id": "news", "fields": fields, "dataPermissions": open });
    ok(app.app().post("/v2/collections", &json!({ "collection": object })).await);
    let options = json!({ "dataCollectionId": "news", "draftItemsOptions": { "draftPermissions": permissions } });
    let made = ok(app.app().post("/v2/collections/add-draft-items-plugin", &options).await);
    let plugin = &made["dataCollection"]["plugins"][0];
    assert_eq!(plugin["draftItemsOptions"]["draftsCollectionId"], "news__drafts", "{plugin}");
    ok(put(&app.app(), "news", json!({ "_id": "a", "title": "first", "n": 1 })).await);
    app
}

fn ok(reply: Reply) -> Value {
    assert_eq!(reply.verdict(), "200", "{:?}", reply.body);
    reply.json()
}

async fn put(client: &TestClient<'_>, collection: &str, data: Value) -> Reply {
    client.post("/v2/items/save", &json!({ "dataCollectionId": collection, "dataItem": { "data": data } })).await
}

async fn call(client: &TestClient<'_>, name: &str, id: &str) -> Reply {
    client.post(&format!("/v2/items/{name}"), &json!({ "dataCollectionId": "news", "dataItemId": id })).await
}

/// The title of an item in a collection, or why it isn't shown.
async fn title(client: &TestClient<'_>, collection: &str, id: &str) -> String {
    let reply = client.get(&format!("/v2/items/{id}?dataCollectionId={collection}")).await;
    match reply.verdict().as_str() {
        "200" => reply.json()["dataItem"]["data"]["title"].as_str().unwrap_or_default().to_owned(),
        other => other.to_owned(),
    }
}

async fn send(client: &TestClient<'_>, method: Method, path: &str, body: &Value) -> Reply {
    client.send(method, path, Some(body.to_string().into())).await
}

async fn special(app: &TestApp, client: &TestClient<'_>, rights: Value) {
    let made = ok(put(client, "news", json!({ "title": "mine" })).await);
    let id = &made["dataItem"]["data"]["_owner"];
    let grant = json!({ "userId": id, "draftItemsPluginPermissions": rights });
    let body = json!({ "dataCollectionId": "news", "specialPermissions": grant });
    ok(app.app().post("/v1/permissions/special", &body).await);
}

/// What each reading call on the drafts, and on what refers to one, answers: whether it tells of the draft `a`.
async fn told(client: &TestClient<'_>) -> Vec<&'static str> {
    let mut told = Vec::new();
    let ask = async |path: &str, mut body: Value| {
        if body.get("dataCollectionId").is_none() {
            body["dataCollectionId"] = json!("news__drafts");
        }
        String::from_utf8_lossy(&client.post(path, &body).await.body).into_owned()
    };
    let sum = json!({ "operations": [{ "resultFieldName": "s", "sum": { "itemFieldName": "n" } }] });
    let stages = json!({ "stages": [{ "filter": { "n": 77 } }] });
    let through = json!({ "dataCollectionId": "desks", "query": {}, "includeReferences": [{ "field": "main" }] });
    let search = json!({ "search": { "search": { "expression": "hidden" } } });
    for (name, path, body, sign) in [
        ("query", "/v2/items/query", json!({ "query": { "filter": { "_id": "a" } } }), "hidden"),
        ("count", "/v2/items/count", json!({}), "\"totalCount\":1"),
        ("distinct", "/v2/items/query-distinct-values", json!({ "fieldName": "title" }), "hidden"),
        ("aggregate", "/v2/items/aggregate", json!({ "aggregation": sum }), ":77"),
        ("pipeline", "/v2/items/aggregate-pipeline", json!({ "pipeline": stages }), "hidden"),
        ("search", "/v2/items/search", search, "hidden\""),
        ("include", "/v2/items/query", through, "hidden"),
    ] {
        if ask(path, body).await.contains(sign) {
            told.push(name);
        }
    }
    if title(client, "news__drafts", "a").await == "hidden" {
        told.push("get");
    }
    let known = client.post("/graphql/v1", &json!({ "query": "{_collections}" })).await;
    told.extend(String::from_utf8_lossy(&known.body).contains("news__drafts").then_some("graphql"));
    told
}

on_both_engines! {
    async fn drafts_are_made_published_and_taken_back(engine) {
        let app = world(engine, json!({})).await;
        let (key, visitor) = (app.app(), app.visitor().await);
        let before = ok(key.get("/v2/items/a?dataCollectionId=news").await)["dataItem"]["data"].clone();
        let draft = ok(call(&key, "create-draft", "a").await);
        assert_eq!((&draft["dataItem"]["id"], &draft["dataItem"]["data"]["title"]), (&json!("a"), &json!("first")));
        assert_eq!(draft["dataItem"]["data"]["_createdDate"], before["_createdDate"]);
        assert_eq!(call(&key, "create-draft", "a").await.verdict(), "409 ALREADY_EXISTS");
        assert_eq!(call(&key, "create-draft", "none").await.verdict(), "404 WDE0073");
        ok(put(&key, "news__drafts", json!({ "_id": "a", "title": "second" })).await);
        assert_eq!(title(&visitor, "news", "a").await, "first");
        let published = ok(call(&key, "publish-draft", "a").await);
        assert_eq!(published["dataItem"]["data"]["title"], "second");
        assert_eq!(published["dataItem"]["data"]["_createdDate"], before["_createdDate"]);
        assert_eq!(title(&visitor, "news", "a").await, "second");
        assert_eq!(title(&key, "news__drafts", "a").await, "404 WDE0073", "it is a draft no longer");
        assert_eq!(call(&key, "publish-draft", "a").await.verdict(), "404 NOT_FOUND");

        let draft = ok(call(&key, "unpublish", "a").await);
        assert_eq!(draft["dataItem"]["data"]["title"], "second");
        assert_eq!(title(&visitor, "news", "a").await, "404 WDE0073");
        assert_eq!(call(&key, "unpublish", "a").await.verdict(), "404 WDE0073");
        ok(call(&key, "publish-draft", "a").await);
        assert_eq!(title(&visitor, "news", "a").await, "second");
        ok(call(&key, "create-draft", "a").await);
        ok(put(&key, "news__drafts", json!({ "_id": "a", "title": "third" })).await);
        let whole = json!({ "dataCollectionId": "news", "dataItemId": "a", "copyToDraft": false });
        assert_eq!(ok(key.post("/v2/items/unpublish", &whole).await), json!({}));
        assert_eq!(title(&visitor, "news", "a").await, "404 WDE0073");
        assert_eq!(title(&key, "news__drafts", "a").await, "third", "what was a draft already stays one");
        let wrong = json!({ "dataCollectionId": "news", "dataItemId": "a", "copyToDraft": "no" });
        assert_eq!(key.post("/v2/items/unpublish", &wrong).await.verdict(), "400 WDE0018");
    }

    async fn drafts_keep_their_owner_and_the_rules_wait_until_they_are_published(engine) {
        let app = world(engine, json!({ "manageDrafts": "SITE_MEMBER_AUTHOR" })).await;
        let (ann, bob, editor) =
            (app.member("ann@example.org").await, app.member("bob@example.org").await, app.editor().await);
        let made = ok(put(&ann, "news__drafts", json!({ "_id": "mine", "title": "same" })).await);
        let owner = made["dataItem"]["data"]["_owner"].clone();
        assert_eq!(title(&bob, "news__drafts", "mine").await, "404 WDE0073");
        assert_eq!(title(&ann, "news__drafts", "mine").await, "same");
        assert_eq!(call(&ann, "publish-draft", "mine").await.verdict(), "403 WDE0027");
        let published = ok(call(&editor, "publish-draft", "mine").await);
        assert_eq!(published["dataItem"]["data"]["_owner"], owner);
        ok(call(&editor, "unpublish", "mine").await);
        assert_eq!(title(&ann, "news__drafts", "mine").await, "same", "it is still hers");

        let index = json!({ "dataCollectionId": "news", "index": { "name": "one", "fields": [{ "path": "title" }], "unique": true } });
        ok(app.app().post("/v2/indexes", &index).await);
        app.app.content.index_work_do(&app.site).await.unwrap();
        ok(put(&app.app(), "news", json!({ "_id": "a", "title": "same" })).await);
        assert_eq!(call(&editor, "publish-draft", "mine").await.verdict(), "409 WDE0123");
        assert_eq!(title(&ann, "news__drafts", "mine").await, "same", "nothing was done");
        let strict = json!({ "dataCollection": { "id": "news", "strictMode": true } });
        ok(send(&app.app(), Method::PATCH, "/v2/collections/news", &strict).await);
        ok(put(&ann, "news__drafts", json!({ "_id": "mine", "title": 7 })).await);
        assert_eq!(call(&editor, "publish-draft", "mine").await.verdict(), "400 WDE0075");
    }

    async fn drafts_are_told_by_no_call_to_those_who_may_not_manage_them(engine) {
        let app = world(engine, json!({})).await;
        let _serving = app.searched().await;
        let main = json!({ "key": "main", "type": "REFERENCE", "typeMetadata": { "reference": { "referencedCollectionId": "news__drafts" } } });
        let desks = json!({ "id": "desks", "fields": [main], "dataPermissions": { "itemRead": "ANYONE" } });
        ok(app.app().post("/v2/collections", &json!({ "collection": desks })).await);
        ok(put(&app.app(), "desks", json!({ "_id": "d", "main": "a" })).await);
        ok(put(&app.app(), "news__drafts", json!({ "_id": "a", "title": "hidden", "n": 77 })).await);
        app.search_caught_up().await;
        let (ann, bob) = (app.member("ann@example.org").await, app.member("bob@example.org").await);
        let whole = ["query", "count", "distinct", "aggregate", "pipeline", "search", "include", "get", "graphql"];
        for client in [app.editor().await, app.owner().await, app.app()] {
            assert_eq!(told(&client).await, whole);
        }
        for client in [app.visitor().await, ann.clone(), bob.clone()] {
            assert_eq!(told(&client).await, [""; 0]);
            assert_eq!(title(&client, "news", "a").await, "first");
            for name in ["create-draft", "publish-draft", "unpublish"] {
                assert_eq!(call(&client, name, "a").await.verdict(), "403 WDE0027", "{name}");
            }
            assert_eq!(put(&client, "news__drafts", json!({ "_id": "b" })).await.verdict(), "403 WDE0027");
            let change = json!({ "fieldPath": "n", "action": "SET_FIELD", "setFieldOptions": { "value": 1 } });
            let job = json!({ "dataCollectionId": "news__drafts", "filter": { "n": 77 }, "fieldModifications": [change] });
            assert_eq!(client.post("/v2/bulk/items/async-patch-by-filter", &job).await.verdict(), "403 WDE0027");
            let collections = client.post("/graphql/v1", &json!({ "query": "{_collections}" })).await.json();
            assert_eq!(collections["data"]["_collections"], json!(["news", "desks"]));
            let list = client.get("/v2/collections").await.json();
            let ids: Vec<_> = list["collections"].as_array().unwrap().iter().map(|it| &it["id"]).collect();
            assert_eq!(ids, ["news", "desks"]);
            assert_eq!(list["collections"][0]["plugins"], json!([]), "nor of the plugin");
        }
        special(&app, &ann, json!({ "manageDrafts": "ALLOWED" })).await;
        let object = ok(ann.get("/v2/collections/news").await)["collection"].clone();
        assert_eq!(object["plugins"][0]["draftItemsOptions"]["draftsCollectionId"], "news__drafts");
        assert_eq!(told(&ann).await, whole);
        assert_eq!(call(&ann, "create-draft", "a").await.verdict(), "409 ALREADY_EXISTS");
        assert_eq!(call(&ann, "publish-draft", "a").await.verdict(), "403 WDE0027");
        assert_eq!(call(&ann, "unpublish", "a").await.verdict(), "403 WDE0027");
        special(&app, &bob, json!({ "managePublishStatus": "ALLOWED" })).await;
        assert_eq!(told(&bob).await, [""; 0]);
        assert_eq!(call(&bob, "publish-draft", "a").await.verdict(), "403 WDE0027", "he may not manage drafts");
        let whole = json!({ "dataCollectionId": "news", "dataItemId": "a", "copyToDraft": false });
        assert_eq!(bob.post("/v2/items/unpublish", &whole).await.verdict(), "200");
    }

    async fn collection_of_drafts_follows_the_other(engine) {
        let app = world(engine, json!({})).await;
        let key = app.app();
        ok(call(&key, "create-draft", "a").await);
        let fields = async || {
            let object = ok(key.get("/v2/collections/news__drafts").await)["collection"].clone();
            assert_eq!(object["plugins"][0]["draftItemsOptions"]["publishedCollectionId"], "news");
            let keys = object["fields"].as_array().unwrap().iter().filter(|it| it["systemField"] == false);
            keys.map(|it| it["key"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        let field = json!({ "dataCollectionId": "news", "field": { "key": "m", "type": "NUMBER" } });
        ok(key.post("/v2/collections/create-field", &field).await);
        assert_eq!(fields().await, ["title", "n", "m"]);
        ok(key.post("/v2/collections/delete-field", &json!({ "dataCollectionId": "news", "fieldKey": "title" })).await);
        assert_eq!(fields().await, ["n", "m"]);
        assert_eq!(title(&key, "news__drafts", "a").await, "", "the field's value went out of the draft");
        let object = ok(key.get("/v2/collections/news").await)["collection"].clone();
        let same = ok(send(&key, Method::PUT, "/v2/collections", &json!({ "collection": object })).await);
        assert_eq!(same["collection"]["plugins"], object["plugins"], "a round trip keeps the pair");

        let own = json!({ "dataCollectionId": "news__drafts", "field": { "key": "own", "type": "TEXT" } });
        assert_eq!(key.post("/v2/collections/create-field", &own).await.verdict(), "400 WDE0080");
        assert_eq!(key.delete("/v2/collections/news__drafts").await.verdict(), "400 WDE0080");
        let open = json!({ "dataPermissions": { "id": "news__drafts", "itemRead": "ANYONE" } });
        assert_eq!(key.post("/v1/permissions", &open).await.verdict(), "400 WDE0080");
        let grant = json!({ "dataCollectionId": "news__drafts", "specialPermissions": { "policyId": "EDITOR", "itemRead": "ALLOWED" } });
        assert_eq!(key.post("/v1/permissions/special", &grant).await.verdict(), "400 WDE0080");
        let links = json!({ "key": "all", "type": "MULTI_REFERENCE", "typeMetadata": { "multiReference": { "referencedCollectionId": "news__drafts" } } });
        let desks = json!({ "collection": { "id": "desks", "fields": [links], "dataPermissions": {} } });
        assert_eq!(key.post("/v2/collections", &desks).await.verdict(), "400 WDE0075");

        ok(key.delete("/v2/collections/news").await);
        assert_eq!(key.get("/v2/collections/news__drafts").await.verdict(), "404 WDE0025");
        let restore = async |id: &str| key.post("/v2/collections/restore/x", &json!({ "dataCollectionId": id })).await.verdict();
        assert_eq!(restore("news__drafts").await, "400 WDE0080");
        assert_eq!(restore("news").await, "200");
        assert_eq!(fields().await, ["n", "m"]);
        ok(call(&key, "publish-draft", "a").await);

        ok(call(&key, "create-draft", "a").await);
        let delete = async |action: Value| {
            let body = json!({ "dataCollectionId": "news", "draftItemsRemovalAction": action });
            key.post("/v2/collections/delete-draft-items-plugin", &body).await.verdict()
        };
        assert_eq!(delete(json!("NONE")).await, "400 WDE0075");
        assert_eq!(delete(json!("FAIL_IF_DRAFT_ITEMS_EXIST")).await, "400 WDE0080");
        assert_eq!(delete(json!(null)).await, "400 WDE0080");
        assert_eq!(delete(json!("DISCARD_EXISTING_DRAFT_ITEMS")).await, "200");
        assert_eq!(key.get("/v2/collections/news__drafts").await.verdict(), "404 WDE0025");
        assert_eq!(call(&key, "create-draft", "a").await.verdict(), "400 WDE0080");
        let taken = json!({ "collection": { "id": "news__drafts", "fields": [{ "key": "n", "type": "NUMBER" }], "dataPermissions": {} } });
        ok(key.post("/v2/collections", &taken).await);
        let add = json!({ "dataCollectionId": "news", "plugin": { "type": "DRAFT_ITEMS" } });
        assert_eq!(key.post("/v2/collections/add-draft-items-plugin", &add).await.verdict(), "409 WDE0104");
        assert_eq!(key.post("/v2/collections/add-plugin", &add).await.verdict(), "409 WDE0104");
        let mut whole = ok(key.get("/v2/collections/news").await)["collection"].clone();
        whole["plugins"] = json!([{ "type": "DRAFT_ITEMS" }]);
        assert_eq!(send(&key, Method::PUT, "/v2/collections", &json!({ "collection": whole })).await.verdict(), "409 WDE0104");
        let part = json!({ "dataCollection": { "id": "news", "plugins": [{ "type": "DRAFT_ITEMS" }] } });
        assert_eq!(send(&key, Method::PATCH, "/v2/collections/news", &part).await.verdict(), "409 WDE0104");
    }

    async fn what_does_not_go_with_drafts_is_refused_by_name(engine) {
        let app = world(engine, json!({})).await;
        let key = app.app();
        let field = async |field: Value| {
            key.post("/v2/collections/create-field", &json!({ "dataCollectionId": "news", "field": field })).await.verdict()
        };
        assert_eq!(field(json!({ "key": "secret", "type": "TEXT", "encrypted": true })).await, "428 WDE0119");
        let links = json!({ "key": "all", "type": "MULTI_REFERENCE", "typeMetadata": { "multiReference": { "referencedCollectionId": "news" } } });
        assert_eq!(field(links).await, "428 WDE0119");
        for (name, action, wants) in [
            ("publish", json!(null), "400 WDE0075"),
            ("publish", json!("FAIL_WHEN_DRAFT_ITEMS_INSTALLED"), "400 WDE0075"),
            ("publish", json!("FAIL_WHEN_PUBLISH_INSTALLED"), "400 WDE0075"),
            ("publish", json!("COPY_DRAFT_ITEMS_WITH_DRAFT_STATUS"), "428 WDE0119"),
            ("draft-items", json!("COPY_DRAFT_ITEMS_WITH_DRAFT_STATUS"), "428 WDE0119"),
            ("draft-items", json!("FAIL_WHEN_PUBLISH_INSTALLED"), "400 WDE0080"),
        ] {
            let member = if name == "publish" { "draftItemsPluginConflictAction" } else { "publishPluginConflictAction" };
            let body = json!({ "dataCollectionId": "news", member: action });
            let reply = key.post(&format!("/v2/collections/add-{name}-plugin"), &body).await;
            assert_eq!(reply.verdict(), wants, "{name} {action}");
        }
        let single = json!({ "dataCollectionId": "news", "plugin": { "type": "SINGLE_ITEM" } });
        assert_eq!(key.post("/v2/collections/add-plugin", &single).await.verdict(), "400 WDE0075");
        let object = json!({ "id": "posts", "fields": [{ "key": "title", "type": "TEXT" }], "dataPermissions": {} });
        ok(key.post("/v2/collections", &json!({ "collection": object })).await);
        ok(key.post("/v2/collections/add-publish-plugin", &json!({ "dataCollectionId": "posts" })).await);
        let also = key.post("/v2/collections/add-draft-items-plugin", &json!({ "dataCollectionId": "posts" })).await;
        assert_eq!(also.verdict(), "400 WDE0075");
        let options = json!({ "multilingualOptions": { "translatableFieldKeys": ["title"] } });
        let add = async |name: &str, id: &str, mut body: Value| {
            body["dataCollectionId"] = id.into();
            key.post(&format!("/v2/collections/{name}-plugin"), &body).await.verdict()
        };
        assert_eq!(add("add-multilingual", "news", options.clone()).await, "428 WDE0119");
        // Its items keep what they are in other languages, with the plugin and without it.
        let object = json!({ "id": "pages", "fields": [{ "key": "title", "type": "TEXT" }], "dataPermissions": {} });
        ok(key.post("/v2/collections", &json!({ "collection": object })).await);
        assert_eq!(add("add-multilingual", "pages", options).await, "200");
        assert_eq!(add("add-draft-items", "pages", json!({})).await, "428 WDE0119");
        assert_eq!(add("delete-multilingual", "pages", json!({})).await, "200");
        assert_eq!(add("add-draft-items", "pages", json!({})).await, "428 WDE0119");
    }

    async fn streams_tell_of_drafts_when_they_are_published(engine) {
        let app = world(engine, json!({})).await;
        let (key, visitor) = (app.app(), app.visitor().await);
        let followed = json!({ "dataCollection": { "id": "news", "realtime": true } });
        ok(send(&key, Method::PATCH, "/v2/collections/news", &followed).await);
        let of = |id: &str| json!({ "key": id, "dataCollectionId": id });
        let mut stream = visitor.follow(&json!([of("news__drafts"), of("news")])).await;
        let (event, data) = stream.told().await;
        assert_eq!((event.as_str(), &data["key"]), ("failed", &json!("news__drafts")));
        assert_eq!(stream.told().await.0, "ready");
        ok(put(&key, "news__drafts", json!({ "_id": "b", "title": "new" })).await);
        ok(call(&key, "create-draft", "a").await);
        ok(put(&key, "news__drafts", json!({ "_id": "a", "title": "second" })).await);
        for (name, id, told) in [
            ("publish-draft", "b", json!(["enter", "new"])),
            ("publish-draft", "a", json!(["update", "second"])),
            ("create-draft", "a", json!(null)),
            ("unpublish", "b", json!(["leave", null])),
        ] {
            ok(call(&key, name, id).await);
            if told.is_null() {
                continue;
            }
            let data = stream.told().await.1;
            assert_eq!(json!([data["type"], data["item"]["title"]]), told, "{name} {id}: {data}");
        }
    }

    async fn drafts_are_published_or_discarded_with_their_plugin(engine) {
        let app = world(engine, json!({})).await;
        let (key, editor) = (app.app(), app.editor().await);
        let drafts = async |count: usize| {
            let item = |n: usize| json!({ "data": { "_id": format!("d{n:03}"), "title": format!("draft {n}") } });
            let items: Vec<Value> = (0..count).map(item).collect();
            ok(key.post("/v2/bulk/items/save", &json!({ "dataCollectionId": "news__drafts", "dataItems": items })).await);
        };
        let delete = async |client: &TestClient<'_>, action: &str| {
            let body = json!({ "dataCollectionId": "news", "draftItemsRemovalAction": action });
            client.post("/v2/collections/delete-draft-items-plugin", &body).await
        };
        let add = async |client: &TestClient<'_>, action: &str| {
            let body = json!({ "dataCollectionId": "news", "draftItemsPluginConflictAction": action });
            client.post("/v2/collections/add-publish-plugin", &body).await
        };
        let plugins = async || {
            let object = ok(key.get("/v2/collections/news").await)["collection"].clone();
            object["plugins"].as_array().unwrap().iter().map(|it| it["type"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        // More than one transaction publishes.
        drafts(120).await;
        ok(call(&key, "create-draft", "a").await);
        ok(put(&key, "news__drafts", json!({ "_id": "a", "title": "second" })).await);
        assert_eq!(delete(&app.visitor().await, "PUBLISH_EXISTING_DRAFT_ITEMS").await.verdict(), "403 WDE0027");
        assert_eq!(title(&key, "news", "d000").await, "404 WDE0073", "nothing was published for a visitor");
        ok(delete(&editor, "PUBLISH_EXISTING_DRAFT_ITEMS").await);
        assert_eq!(plugins().await, [""; 0]);
        assert_eq!(title(&key, "news", "a").await, "second");
        let count = ok(key.post("/v2/items/count", &json!({ "dataCollectionId": "news" })).await);
        assert_eq!(count["totalCount"], 121);

        ok(key.post("/v2/collections/add-draft-items-plugin", &json!({ "dataCollectionId": "news" })).await);
        ok(call(&key, "create-draft", "a").await);
        ok(put(&key, "news__drafts", json!({ "_id": "a", "title": "third" })).await);
        ok(put(&key, "news__drafts", json!({ "_id": "z", "title": 7 })).await);
        ok(send(&key, Method::PATCH, "/v2/collections/news", &json!({ "dataCollection": { "id": "news", "strictMode": true } })).await);
        let wrong = add(&key, "PUBLISH_DRAFT_ITEMS").await;
        assert_eq!(wrong.verdict(), "400 WDE0075", "{:?}", wrong.body);
        assert_eq!(plugins().await, ["DRAFT_ITEMS"]);
        assert_eq!(title(&key, "news", "a").await, "second", "those that a transaction would have published stay drafts");
        let index = json!({ "dataCollectionId": "news", "index": { "name": "one", "fields": [{ "path": "title" }], "unique": true } });
        ok(key.post("/v2/indexes", &index).await);
        app.app.content.index_work_do(&app.site).await.unwrap();
        ok(put(&key, "news__drafts", json!({ "_id": "z", "title": "draft 7" })).await);
        let by_type = json!({ "dataCollectionId": "news", "pluginType": "DRAFT_ITEMS", "draftItemsRemovalAction": "PUBLISH_EXISTING_DRAFT_ITEMS" });
        for reply in [
            add(&key, "PUBLISH_DRAFT_ITEMS").await,
            delete(&key, "PUBLISH_EXISTING_DRAFT_ITEMS").await,
            key.post("/v2/collections/delete-plugin", &by_type).await,
        ] {
            assert_eq!(reply.verdict(), "409 WDE0123", "{:?}", reply.body);
        }
        ok(put(&key, "news__drafts", json!({ "_id": "z", "title": "last" })).await);
        ok(add(&key, "PUBLISH_DRAFT_ITEMS").await);
        assert_eq!(plugins().await, ["PUBLISH"]);
        assert_eq!((title(&key, "news", "a").await, title(&key, "news", "z").await), ("third".into(), "last".into()));
        assert_eq!(key.get("/v2/collections/news__drafts").await.verdict(), "404 WDE0025");

        ok(key.post("/v2/collections/delete-publish-plugin", &json!({ "dataCollectionId": "news" })).await);
        ok(key.post("/v2/collections/add-draft-items-plugin", &json!({ "dataCollectionId": "news" })).await);
        ok(call(&key, "create-draft", "a").await);
        ok(put(&key, "news__drafts", json!({ "_id": "a", "title": "discarded" })).await);
        assert_eq!(add(&editor, "PUBLISH_DRAFT_ITEMS").await.verdict(), "403 WDE0027", "which items are drafts isn't an editor's");
        assert_eq!(title(&key, "news", "a").await, "third", "nothing was published");
        assert_eq!(add(&key, "FAIL_WHEN_DRAFT_ITEMS_INSTALLED").await.verdict(), "400 WDE0075");
        ok(add(&key, "DISCARD_DRAFT_ITEMS").await);
        assert_eq!((plugins().await, title(&key, "news", "a").await), (vec!["PUBLISH".to_owned()], "third".to_owned()));
    }

    async fn calls_that_would_pass_over_hooks_are_refused(engine) {
        let app = world(engine, json!({ "manageDrafts": "ANYONE", "managePublishStatus": "ANYONE" })).await;
        app.app.content.keep_hooks(crate::hooks::host());
        let (key, ann) = (app.app(), app.member("ann@example.org").await);
        let deploy = async |source: &str| {
            ok(key.post("/_api/hooks/v1/versions", &json!({ "source": source })).await);
        };
        for (source, refused) in [
            ("export function news_beforeUpdate(item) { return item; }", ["publish-draft"].as_slice()),
            ("export function news_afterInsert(item) { return item; }", &["publish-draft"]),
            ("export function news_beforeRemove(id) { return id; }", &["unpublish"]),
            ("export function news_beforeGet(id) { return id; }", &["create-draft", "unpublish"]),
            ("export function news_afterQuery(item) { return item; }", &["create-draft", "unpublish"]),
            ("export function news_afterCount(n) { return n; }", &[]),
            ("export function news__drafts_beforeInsert(item) { return item; }", &["create-draft", "unpublish"]),
            ("export function news__drafts_afterUpdate(item) { return item; }", &["unpublish"]),
            ("export function news__drafts_beforeRemove(id) { return id; }", &["publish-draft"]),
        ] {
            deploy(source).await;
            for name in ["create-draft", "publish-draft", "unpublish"] {
                let _ = put(&key, "news", json!({ "_id": "a", "title": "first" })).await;
                let draft = json!({ "dataCollectionId": "news__drafts", "dataItemId": "a" });
                match name {
                    "create-draft" => drop(key.post("/v2/items/remove", &draft).await),
                    _ => drop(put(&key, "news__drafts", json!({ "_id": "a", "title": "second" })).await),
                }
                let wants = if refused.contains(&name) { "428 WDE0119" } else { "200" };
                assert_eq!(call(&ann, name, "a").await.verdict(), wants, "{name} {source}");
            }
        }
        deploy("export function news_beforeUpdate(item) { return item; }").await;
        let _ = put(&key, "news__drafts", json!({ "_id": "a", "title": "second" })).await;
        let delete = json!({ "dataCollectionId": "news", "draftItemsRemovalAction": "PUBLISH_EXISTING_DRAFT_ITEMS" });
        assert_eq!(key.post("/v2/collections/delete-draft-items-plugin", &delete).await.verdict(), "428 WDE0119");
        let mut by_type = delete.clone();
        by_type["pluginType"] = json!("DRAFT_ITEMS");
        assert_eq!(key.post("/v2/collections/delete-plugin", &by_type).await.verdict(), "428 WDE0119");
        let body = json!({ "dataCollectionId": "news", "dataItemId": "a", "suppressHooks": true });
        assert_eq!(ann.post("/v2/items/publish-draft", &body).await.verdict(), "428 WDE0119", "they aren't hers to suppress");
        assert_eq!(key.post("/v2/items/publish-draft", &body).await.verdict(), "200");
    }

    async fn of_many_at_once_one_makes_or_publishes_a_draft(engine) {
        let app = world(engine, json!({})).await;
        let key = app.app();
        let all = async |name: &str| {
            let mut verdicts: Vec<String> = join_all((0..12).map(|_| call(&key, name, "a"))).await.iter().map(Reply::verdict).collect();
            verdicts.sort();
            verdicts
        };
        for _ in 0..3 {
            let made = all("create-draft").await;
            assert_eq!((made[0].as_str(), &made[1], &made[11]), ("200", &"409 ALREADY_EXISTS".to_owned(), &"409 ALREADY_EXISTS".to_owned()));
            let published = all("publish-draft").await;
            assert_eq!((published[0].as_str(), &published[1], &published[11]), ("200", &"404 NOT_FOUND".to_owned(), &"404 NOT_FOUND".to_owned()));
            join_all((0..6).map(|n| call(&key, if n % 2 == 0 { "unpublish" } else { "publish-draft" }, "a"))).await;
            let places = (title(&key, "news", "a").await, title(&key, "news__drafts", "a").await);
            assert!([&places.0, &places.1].iter().filter(|it| it.as_str() == "first").count() == 1, "in one place: {places:?}");
            if places.0 != "first" {
                ok(call(&key, "publish-draft", "a").await);
            }
        }
    }

    async fn publishing_takes_no_item_from_its_owner(engine) {
        let app = world(engine, json!({ "manageDrafts": "SITE_MEMBER_AUTHOR" })).await;
        let (ann, bob, editor) = (app.member("ann@example.org").await, app.member("bob@example.org").await, app.editor().await);
        let mine = ok(put(&ann, "news", json!({ "_id": "mine", "title": "ann's" })).await)["dataItem"]["data"].clone();
        for publisher in [&editor, &app.app()] {
            ok(put(&bob, "news__drafts", json!({ "_id": "mine", "title": "bob's" })).await);
            let published = ok(call(publisher, "publish-draft", "mine").await)["dataItem"]["data"].clone();
            assert_eq!((&published["title"], &published["_owner"]), (&json!("bob's"), &mine["_owner"]));
            assert_eq!(published["_createdDate"], mine["_createdDate"]);
        }

        // Nor is a draft that waits in its place a way to one that is taken back.
        for (id, unpublished) in [("a", "first"), ("mine", "bob's")] {
            ok(put(&bob, "news__drafts", json!({ "_id": id, "title": "bob's trap" })).await);
            ok(call(&editor, "unpublish", id).await);
            assert_eq!(title(&bob, "news__drafts", id).await, "404 WDE0073", "{id}");
            assert_eq!(title(&editor, "news__drafts", id).await, unpublished, "{id}");
        }

        // What a visitor's item becomes on its way goes to the member that the visitor becomes.
        let visitor = app.visitor().await;
        for id in ["back", "copied"] {
            ok(put(&visitor, "news", json!({ "_id": id, "title": id })).await);
        }
        ok(call(&editor, "unpublish", "back").await);
        ok(call(&app.app(), "create-draft", "copied").await);
        let member = crate::ownership::register(&visitor, "eve@example.org").await["identity"]["id"].clone();
        let eve = crate::ownership::joined(&app, &visitor, &member).await.expect("tokens");
        assert_eq!((title(&eve, "news__drafts", "back").await.as_str(), title(&eve, "news__drafts", "copied").await.as_str()), ("back", "copied"));
        for id in ["back", "copied"] {
            assert_eq!(ok(call(&editor, "publish-draft", id).await)["dataItem"]["data"]["_owner"], member, "{id}");
        }
    }

    async fn members_make_drafts_of_their_own_items_only(engine) {
        let app = world(engine, json!({ "manageDrafts": "SITE_MEMBER_AUTHOR" })).await;
        let (ann, bob) = (app.member("ann@example.org").await, app.member("bob@example.org").await);
        ok(put(&ann, "news", json!({ "_id": "mine", "title": "ann's" })).await);
        assert_eq!(call(&bob, "create-draft", "mine").await.verdict(), "403 WDE0027");
        assert_eq!(title(&app.app(), "news__drafts", "mine").await, "404 WDE0073", "there is none");
        ok(call(&ann, "create-draft", "mine").await);
        assert_eq!(call(&bob, "create-draft", "mine").await.verdict(), "403 WDE0027", "nor is bob told that there is one");
        assert_eq!(title(&ann, "news__drafts", "mine").await, "ann's");

        // Nor do they publish over items of others, where they publish their own.
        let own = json!({ "id": "news", "draftItemsPluginPermissions": { "managePublishStatus": "SITE_MEMBER_AUTHOR" } });
        ok(app.app().post("/v1/permissions", &json!({ "dataPermissions": own })).await);
        ok(call(&ann, "publish-draft", "mine").await);
        ok(put(&bob, "news__drafts", json!({ "_id": "mine", "title": "bob's" })).await);
        assert_eq!(call(&bob, "publish-draft", "mine").await.verdict(), "404 WDE0073");
        assert_eq!(title(&bob, "news", "mine").await, "ann's");
        ok(put(&bob, "news__drafts", json!({ "_id": "his", "title": "bob's" })).await);
        ok(call(&bob, "publish-draft", "his").await);
        assert_eq!(title(&ann, "news", "his").await, "bob's");

        // Nor do they make a draft that isn't theirs of an item that they take back, and learn of no draft by that.
        let all = json!({ "id": "news", "draftItemsPluginPermissions": { "managePublishStatus": "SITE_MEMBER" } });
        ok(app.app().post("/v1/permissions", &json!({ "dataPermissions": all })).await);
        assert_eq!(call(&ann, "unpublish", "his").await.verdict(), "404 WDE0073");
        ok(call(&bob, "create-draft", "his").await);
        assert_eq!(call(&ann, "unpublish", "his").await.verdict(), "404 WDE0073");
        assert_eq!(title(&ann, "news", "his").await, "bob's");
        ok(call(&bob, "unpublish", "his").await);
    }

    async fn drafts_open_no_way_around_levels(engine) {
        let app = world(engine, json!({})).await;
        let (key, editor) = (app.app(), app.editor().await);
        let levels = json!({ "itemRead": "ANYONE", "itemInsert": "PRIVILEGED", "itemUpdate": "CMS_EDITOR", "itemRemove": "CMS_EDITOR" });
        let object = json!({ "id": "kept", "fields": [{ "key": "title", "type": "TEXT" }], "dataPermissions": levels });
        ok(key.post("/v2/collections", &json!({ "collection": object })).await);
        let add = json!({ "dataCollectionId": "kept" });
        assert_eq!(editor.post("/v2/collections/add-draft-items-plugin", &add).await.verdict(), "403 WDE0027");
        ok(key.post("/v2/collections/add-draft-items-plugin", &add).await);

        // Those who may manage and publish drafts need no other right.
        let ann = app.member("ann@example.org").await;
        let made = ok(put(&ann, "news", json!({ "title": "mine" })).await);
        let levels: Value = OPEN.into_iter().map(|it| (it.to_owned(), json!("CMS_EDITOR"))).collect::<serde_json::Map<_, _>>().into();
        let object = json!({ "id": "closed", "fields": [{ "key": "title", "type": "TEXT" }], "dataPermissions": levels });
        ok(key.post("/v2/collections", &json!({ "collection": object })).await);
        ok(key.post("/v2/collections/add-draft-items-plugin", &json!({ "dataCollectionId": "closed" })).await);
        let of_closed = |id: &str| json!({ "dataCollectionId": "closed", "dataItemId": id });
        assert_eq!(ann.get("/v2/collections/closed").await.verdict(), "404 WDE0025");
        assert_eq!(ann.post("/v2/items/publish-draft", &of_closed("x")).await.verdict(), "403 WDE0027");
        let grant = json!({ "userId": made["dataItem"]["data"]["_owner"], "draftItemsPluginPermissions": { "manageDrafts": "ALLOWED", "managePublishStatus": "ALLOWED" } });
        ok(key.post("/v1/permissions/special", &json!({ "dataCollectionId": "closed", "specialPermissions": grant })).await);
        let object = ok(ann.get("/v2/collections/closed").await)["collection"].clone();
        assert_eq!(object["plugins"][0]["draftItemsOptions"]["draftsCollectionId"], "closed__drafts");
        let list = ann.get("/v2/collections").await.json();
        let ids: Vec<_> = list["collections"].as_array().unwrap().iter().map(|it| &it["id"]).collect();
        assert_eq!(ids, ["news", "kept", "closed", "closed__drafts"]);
        ok(put(&ann, "closed__drafts", json!({ "_id": "x", "title": "hers" })).await);
        ok(ann.post("/v2/items/publish-draft", &of_closed("x")).await);
        assert_eq!(title(&ann, "closed", "x").await, "403 WDE0027", "to publish is not to read");
        assert_eq!(title(&key, "closed", "x").await, "hers");
        ok(ann.post("/v2/items/unpublish", &of_closed("x")).await);
        assert_eq!(title(&ann, "closed__drafts", "x").await, "hers");

        let mine = async |client: &TestClient<'_>, id: &str| {
            let reply = client.get(&format!("/v1/permissions/current?dataCollectionId={id}")).await;
            (reply.verdict(), reply.json().to_string().contains("draftItems"))
        };
        let visitor = app.visitor().await;
        assert_eq!(mine(&visitor, "news").await, ("200".to_owned(), false));
        assert_eq!(mine(&visitor, "news__drafts").await, ("404 WDE0025".to_owned(), false));
        assert_eq!((mine(&ann, "closed").await.1, mine(&editor, "news").await.1), (true, true));
    }

    async fn drafts_take_along_what_was_written_and_nothing_else(engine) {
        let app = world(engine, json!({})).await;
        let key = app.app();
        let open = json!({ "key": "state", "type": "TEXT", "typeMetadata": { "text": { "defaultValue": "open" } } });
        ok(key.post("/v2/collections/create-field", &json!({ "dataCollectionId": "news", "field": open })).await);
        assert_eq!(ok(put(&key, "news", json!({ "_id": "new" })).await)["dataItem"]["data"]["state"], "open");
        for (name, place) in [("create-draft", "news__drafts"), ("publish-draft", "news"), ("unpublish", "news__drafts"), ("publish-draft", "news")] {
            let moved = ok(call(&key, name, "a").await)["dataItem"]["data"].clone();
            assert_eq!((&moved["title"], moved.get("state")), (&json!("first"), None), "{name}");
            assert_eq!(title(&key, place, "a").await, "first");
        }
        // What the published collection reads as links.
        let link = json!({ "key": "news", "type": "MULTI_REFERENCE", "typeMetadata": { "multiReference": { "referencedCollectionId": "news", "referencingFieldKey": "books", "referencingDisplayName": "books" } } });
        ok(key.post("/v2/collections", &json!({ "collection": { "id": "books", "fields": [link], "dataPermissions": {} } })).await);
        ok(put(&key, "news__drafts", json!({ "_id": "a", "title": "second", "books": ["x"] })).await);
        let published = ok(call(&key, "publish-draft", "a").await)["dataItem"]["data"].clone();
        assert_eq!((&published["title"], published.get("books")), (&json!("second"), None));
        assert_eq!(ok(key.get("/v2/items/a?dataCollectionId=news").await)["dataItem"]["data"].get("books"), None);
    }

    async fn no_draft_that_was_acknowledged_goes_with_the_plugin(engine) {
        let app = world(engine, json!({})).await;
        let key = app.app();
        let gone = json!({ "dataCollectionId": "news", "draftItemsRemovalAction": "FAIL_IF_DRAFT_ITEMS_EXIST" });
        for round in 0..8 {
            let write = async |n: usize| {
                let item = json!({ "dataCollectionId": "news__drafts", "dataItem": { "data": { "_id": format!("{n}") } } });
                let path = if n.is_multiple_of(2) { "/v2/items/save" } else { "/v2/items" };
                key.post(path, &item).await.verdict()
            };
            let writes = join_all((0..6).map(write));
            let (deleted, written) =
                tokio::join!(key.post("/v2/collections/delete-draft-items-plugin", &gone), writes);
            let is_written = written.iter().any(|it| it == "200");
            match deleted.verdict().as_str() {
                "200" => assert!(!is_written, "{round}: {written:?}"),
                "400 WDE0080" => {
                    assert!(is_written, "{round}: {written:?}");
                    let discard = json!({ "dataCollectionId": "news", "draftItemsRemovalAction": "DISCARD_EXISTING_DRAFT_ITEMS" });
                    ok(key.post("/v2/collections/delete-draft-items-plugin", &discard).await);
                }
                other => panic!("{other}"),
            }
            ok(key.post("/v2/collections/add-draft-items-plugin", &json!({ "dataCollectionId": "news" })).await);
        }
    }

    async fn item_is_somewhere_when_the_plugin_goes_meanwhile(engine) {
        let app = world(engine, json!({})).await;
        let key = app.app();
        let gone = json!({ "dataCollectionId": "news", "draftItemsRemovalAction": "FAIL_IF_DRAFT_ITEMS_EXIST" });
        for _ in 0..6 {
            let (deleted, taken) =
                tokio::join!(key.post("/v2/collections/delete-draft-items-plugin", &gone), call(&key, "unpublish", "a"));
            let (deleted, taken) = (deleted.verdict(), taken.verdict());
            assert!(["200", "400 WDE0080"].contains(&deleted.as_str()), "{deleted}");
            assert!(["200", "400 WDE0080", "404 WDE0025", "404 WDE0026"].contains(&taken.as_str()), "{taken}");
            assert!((deleted == "200") != (taken == "200"), "one of the two: {deleted}, {taken}");
            match taken.as_str() {
                "200" => drop(ok(call(&key, "publish-draft", "a").await)),
                _ => {
                    let add = json!({ "dataCollectionId": "news" });
                    ok(key.post("/v2/collections/add-draft-items-plugin", &add).await);
                }
            }
            assert_eq!(title(&key, "news", "a").await, "first");
        }
    }
}
