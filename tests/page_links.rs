//! Page links over HTTP (docs/page-links.md).

use serde_json::{Value, json};
use stoa_testkit::{TestApp, on_both_engines};

/// A site with open products that have a link.
async fn world(engine: stoa_testkit::Engine) -> TestApp {
    let app = TestApp::new(engine).await;
    let open = json!({ "itemRead": "ANYONE", "itemInsert": "ANYONE", "itemUpdate": "ANYONE", "itemRemove": "ANYONE" });
    let calculator = json!({ "fieldsPattern": { "pattern": "/products/{title}", "lowercase": true } });
    let fields = json!([
        { "key": "title", "type": "TEXT" },
        { "key": "link", "type": "PAGE_LINK", "typeMetadata": { "pageLink": { "calculator": calculator } } },
    ]);
    let object = json!({ "id": "products", "fields": fields, "dataPermissions": open });
    assert_eq!(app.app().post("/v2/collections", &json!({ "collection": object })).await.verdict(), "200");
    let item = json!({ "dataCollectionId": "products", "dataItem": { "data": { "_id": "a", "title": "Red Shoes" } } });
    let made = app.visitor().await.post("/v2/items", &item).await.json();
    assert_eq!(made["dataItem"]["data"]["link"], "/products/red-shoes");
    app
}

on_both_engines! {
    async fn links_are_read_by_graphql(engine) {
        let app = world(engine).await;
        let visitor = app.visitor().await;
        let ask = async |query: &str| visitor.post("/graphql/v1", &json!({ "query": query })).await.json();
        let answer = ask("{products {items {title link}}}").await;
        assert_eq!(answer["data"]["products"]["items"], json!([{ "title": "Red Shoes", "link": "/products/red-shoes" }]));
        let alone = ask("{products {items {link}}}").await;
        assert_eq!(alone["data"]["products"]["items"], json!([{ "link": "/products/red-shoes" }]));
        let refused = ask(r#"{products(filter: {link: "/products/red-shoes"}) {items {link}}}"#).await;
        assert_eq!(refused["errors"][0]["extensions"]["code"], "WDE0119");
    }

    async fn links_are_changed_by_no_patch(engine) {
        let app = world(engine).await;
        let modification = json!({ "fieldPath": "link", "action": "SET_FIELD", "setFieldOptions": { "value": "/mine" } });
        let by_filter = json!({ "dataCollectionId": "products", "filter": {}, "fieldModifications": [modification] });
        let patch = json!({ "dataItemId": "a", "fieldModifications": [modification] });
        let single = json!({ "dataCollectionId": "products", "patch": patch });
        for client in [app.app(), app.visitor().await] {
            assert_eq!(client.post("/v2/bulk/items/async-patch-by-filter", &by_filter).await.verdict(), "400 WDE0075");
            let reply = client.post("/v2/items/patch", &single).await;
            assert_eq!(reply.verdict(), "400 WDE0075");
            let violation = &reply.json()["details"]["applicationError"]["data"]["fieldViolations"][0];
            assert_eq!(violation["field"], "link");
            let bulk = json!({ "dataCollectionId": "products", "patches": [patch] });
            let results = client.post("/v2/bulk/items/patch", &bulk).await.json();
            assert_eq!(results["results"][0]["itemMetadata"]["error"]["code"], "WDE0075");
        }
    }

    async fn what_a_definition_gets_wrong_is_named(engine) {
        let app = world(engine).await;
        let calculator = json!({ "fieldsPattern": { "pattern": "/{none}" } });
        let field = json!({ "key": "link", "type": "PAGE_LINK", "typeMetadata": { "pageLink": { "calculator": calculator } } });
        let path = "collection.fields[1].typeMetadata.pageLink.calculator.fieldsPattern.pattern";
        let reply = app.app().post("/v2/collections/update-field", &json!({ "dataCollectionId": "products", "field": field })).await;
        assert_eq!(reply.verdict(), "400 WDE0075");
        let violation: &Value = &reply.json()["details"]["applicationError"]["data"]["fieldViolations"][0];
        assert_eq!(violation["field"], path);
        let deleted = app.app().post("/v2/collections/delete-field", &json!({ "dataCollectionId": "products", "fieldKey": "title" })).await;
        assert_eq!(deleted.verdict(), "400 WDE0075");
    }
}
