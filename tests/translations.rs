//! Items in other languages over HTTP (docs/translations.md).

use serde_json::{Value, json};
use stoa_testkit::{Reply, TestApp, TestClient, on_both_engines};

const LEVELS: [&str; 4] = ["itemRead", "itemInsert", "itemUpdate", "itemRemove"];

/// A site with open pages that have a title to translate.
async fn world(engine: stoa_testkit::Engine) -> TestApp {
    let app = TestApp::new(engine).await;
    let open: Value = LEVELS.iter().map(|it| ((*it).to_owned(), json!("ANYONE"))).collect();
    let fields = json!([{ "key": "title", "type": "TEXT" }, { "key": "n", "type": "NUMBER" }]);
    let object = json!({ "id": "pages", "fields": fields, "dataPermissions": open });
    assert_eq!(app.app().post("/v2/collections", &json!({ "collection": object })).await.verdict(), "200");
    let plugin =
        |key: &str| json!({ "dataCollectionId": "pages", "multilingualOptions": { "translatableFieldKeys": [key] } });
    let add = "/v2/collections/add-multilingual-plugin";
    assert_eq!(app.visitor().await.post(add, &plugin("title")).await.verdict(), "403 WDE0027");
    assert_eq!(app.app().post(add, &plugin("n")).await.verdict(), "400 WDE0075");
    let reply = app.app().post(add, &plugin("title")).await.json();
    let wants = json!([{ "type": "MULTILINGUAL", "multilingualOptions": { "translatableFieldKeys": ["title"] } }]);
    assert_eq!(reply["dataCollection"]["plugins"], wants);
    assert_eq!(app.app().post(add, &plugin("title")).await.verdict(), "400 WDE0080", "it is there already");
    let item = json!({ "dataItem": { "data": { "_id": "a", "title": "House", "n": 1 } } });
    assert_eq!(call(&app.app(), "/v2/items", item, None).await.verdict(), "200");
    app
}

/// A call in a language, or in none.
async fn call(client: &TestClient<'_>, path: &str, mut body: Value, language: Option<&str>) -> Reply {
    body["dataCollectionId"] = json!("pages");
    if let Some(it) = language {
        body["language"] = json!(it);
    }
    client.post(path, &body).await
}

fn item(title: &str) -> Value {
    json!({ "dataItem": { "id": "a", "data": { "_id": "a", "title": title } } })
}

async fn title(client: &TestClient<'_>, language: &str) -> Value {
    let reply = client.get(&format!("/v2/items/a?dataCollectionId=pages&language={language}")).await;
    reply.json()["dataItem"]["data"]["title"].clone()
}

on_both_engines! {
    async fn editors_translate_what_everyone_reads(engine) {
        let app = world(engine).await;
        let (editor, visitor, member) = (app.editor().await, app.visitor().await, app.member("ann@example.org").await);
        let update = "/v2/items/update";
        for client in [&visitor, &member] {
            assert_eq!(call(client, update, item("x"), Some("de")).await.verdict(), "403 WDE0027");
            assert_eq!(call(client, update, item("House"), None).await.verdict(), "200", "in their own language they may");
        }
        let reply = call(&editor, update, item("Haus"), Some("de")).await;
        assert_eq!(reply.json()["dataItem"]["data"]["title"], "Haus");
        assert_eq!(call(&app.owner().await, "/v2/items/save", item("Maison"), Some("fr-CA")).await.json()["action"], "UPDATED");
        let patch = json!({ "patch": { "dataItemId": "a", "fieldModifications": [
            { "fieldPath": "title", "action": "SET_FIELD", "setFieldOptions": { "value": "Huis" } }] } });
        assert_eq!(call(&app.app(), "/v2/items/patch", patch, Some("nl")).await.verdict(), "200");
        for (language, wants) in [("de-AT", "Haus"), ("fr-CA", "Maison"), ("fr", "House"), ("nl", "Huis"), ("en", "House")] {
            assert_eq!(title(&visitor, language).await, wants, "{language}");
        }
        let query = call(&visitor, "/v2/items/query", json!({ "query": { "filter": { "title": "House" } } }), Some("de")).await;
        assert_eq!(query.json()["dataItems"][0]["data"]["title"], "Haus");
        let by_title = json!({ "group": { "groupIds": [{ "key": "title", "expression": { "fieldPath": "title" } }] } });
        let pipeline = json!({ "pipeline": { "stages": [{ "filter": { "title": "House" } }, by_title] } });
        let groups = call(&visitor, "/v2/items/aggregate-pipeline", pipeline, Some("de")).await.json();
        assert!(groups["results"].to_string().contains("Haus"), "{groups}");
    }

    async fn what_can_not_be_in_a_language_is_refused(engine) {
        let app = world(engine).await;
        let refused = async |path: &str, body: Value| {
            let reply = call(&app.app(), path, body, Some("de")).await;
            (reply.verdict(), reply.json()["details"]["applicationError"]["data"]["path"].clone())
        };
        let wants = ("428 WDE0119".to_owned(), json!("language"));
        assert_eq!(refused("/v2/items", json!({ "dataItem": { "data": { "title": "x" } } })).await, wants);
        assert_eq!(refused("/v2/items/remove", json!({ "dataItemId": "a" })).await, wants);
        let other = json!({ "dataItem": { "id": "a", "data": { "_id": "a", "title": "Haus", "n": 2 } } });
        let reply = call(&app.app(), "/v2/items/update", other, Some("de")).await;
        assert_eq!(reply.verdict(), "428 WDE0119");
        assert_eq!(reply.json()["details"]["applicationError"]["data"]["propertyName"], "n");
        assert_eq!(title(&app.app(), "de").await, "House");
        let delete = json!({ "dataCollectionId": "pages" });
        let path = "/v2/collections/delete-multilingual-plugin";
        assert_eq!(app.visitor().await.post(path, &delete).await.verdict(), "403 WDE0027");
        assert_eq!(app.app().post(path, &delete).await.verdict(), "200");
        assert_eq!(app.app().post(path, &delete).await.verdict(), "400 WDE0080", "there is none");
        assert_eq!(refused("/v2/items/update", item("x")).await, wants, "nothing is written over the original");
    }
}
