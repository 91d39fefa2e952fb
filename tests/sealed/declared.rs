//! What may be declared encrypted, and when.

use super::*;

async fn create_field(app: &TestApp, field: Value) -> Reply {
    app.app().post("/v2/collections/create-field", &json!({ "dataCollectionId": "c", "field": field })).await
}

async fn definition(client: &TestClient<'_>) -> Value {
    client.get("/v2/collections/c?dataCollectionId=c").await.json()["collection"].clone()
}

fn field(collection: &Value, key: &str) -> Value {
    collection["fields"].as_array().unwrap().iter().find(|it| it["key"] == key).unwrap().clone()
}

fn says(reply: &Reply, text: &str) {
    assert_eq!(reply.verdict(), "428 WDE0119", "{:?}", reply.body);
    assert!(reply.json()["message"].as_str().unwrap().contains(text), "{:?}", reply.body);
}

async fn create_index(app: &TestApp, index: Value) -> Reply {
    app.app().post("/v2/indexes", &json!({ "dataCollectionId": "c", "index": index })).await
}

on_both_engines! {
    async fn encrypted_field_shows_its_capabilities(engine) {
        let app = TestApp::new(engine).await;
        let fields = json!([secret("pin", "TEXT"), { "key": "title", "type": "TEXT", "encrypted": false }]);
        assert_eq!(make(&app, json!({ "id": "c", "fields": fields, "dataPermissions": levels(OPEN) })).await.verdict(), "200");
        let collection = definition(&app.app()).await;
        let pin = field(&collection, "pin");
        assert_eq!((&pin["encrypted"], &pin["capabilities"]), (&json!(true), &json!({ "sortable": false, "queryOperators": [] })));
        assert_eq!(field(&collection, "title")["encrypted"], false);
        assert_eq!(collection["displayField"], "title", "who reads items sees what stands for one");
        assert_eq!(field(&definition(&app.visitor().await).await, "pin"), json!({ "key": "pin", "type": "TEXT" }));
    }

    async fn types_but_references_are_encrypted(engine) {
        let app = TestApp::new(engine).await;
        open(&app).await;
        let one = json!({ "reference": { "referencedCollectionId": "c" } });
        let many = json!({ "multiReference": { "referencedCollectionId": "c" } });
        for (kind, metadata) in [("REFERENCE", one), ("MULTI_REFERENCE", many)] {
            let field = json!({ "key": "x", "type": kind, "typeMetadata": metadata, "encrypted": true });
            says(&make(&app, json!({ "id": "d", "fields": [field], "dataPermissions": levels(OPEN) })).await, "collection.fields[0].encrypted");
            says(&create_field(&app, field).await, "field.encrypted");
        }
        let fields = json!([{ "key": "_owner", "type": "TEXT", "encrypted": true }, { "key": "a", "type": "TEXT" }]);
        says(&make(&app, json!({ "id": "d", "fields": fields, "dataPermissions": levels(OPEN) })).await, "collection.fields[0].encrypted");
        let others = stoa_content::schema::field::TYPES.iter().filter(|it| !it.ends_with("REFERENCE"));
        let fields: Vec<_> = others.map(|it| secret(it, it)).collect();
        let made = make(&app, json!({ "id": "d", "fields": fields, "dataPermissions": levels(OPEN) })).await;
        assert_eq!(made.verdict(), "200", "{:?}", made.body);
        // As it is read it can be sent back, with all that the server says of it.
        let mut collection = made.json()["collection"].clone();
        collection["displayName"] = "another".into();
        assert_eq!(app.app().send("PUT".parse().unwrap(), "/v2/collections", Some(json!({ "collection": collection }).to_string().into())).await.verdict(), "200");
    }

    async fn encrypted_flag_never_changes(engine) {
        let app = TestApp::new(engine).await;
        open(&app).await;
        write(&app.app(), "", json!({ "_id": "a", "title": "t", "pin": "hush" })).await;
        let collection = definition(&app.app()).await;
        for (key, to) in [("title", true), ("pin", false)] {
            let n = collection["fields"].as_array().unwrap().iter().position(|it| it["key"] == key).unwrap();
            let path = format!("collection.fields[{n}].encrypted");
            let mut changed = collection.clone();
            changed["fields"][n]["encrypted"] = to.into();
            let put = app.app().send("PUT".parse().unwrap(), "/v2/collections", Some(json!({ "collection": changed }).to_string().into())).await;
            says(&put, &path);
            let body = json!({ "dataCollection": { "id": "c", "fields": changed["fields"] } });
            says(&app.app().send("PATCH".parse().unwrap(), "/v2/collections/c", Some(body.to_string().into())).await, &path);
            let body = json!({ "dataCollectionId": "c", "field": { "key": key, "type": "TEXT", "encrypted": to } });
            says(&app.app().post("/v2/collections/update-field", &body).await, &path);
        }
        // Leaving the member out is the same as false.
        let body = json!({ "dataCollectionId": "c", "field": { "key": "pin", "type": "TEXT" } });
        says(&app.app().post("/v2/collections/update-field", &body).await, "encrypted");
        // Everything else of the field changes as of any.
        let body = json!({ "dataCollectionId": "c", "field": { "key": "pin", "type": "ANY", "displayName": "Pin", "encrypted": true } });
        assert_eq!(app.app().post("/v2/collections/update-field", &body).await.verdict(), "200");
        assert_eq!(data(&get(&app.app(), "a").await)["pin"], "hush");
    }

    async fn existing_values_can_not_become_encrypted(engine) {
        let app = TestApp::new(engine).await;
        open(&app).await;
        write(&app.app(), "", json!({ "_id": "a", "old": "clear", "none": null })).await;
        says(&create_field(&app, secret("old", "TEXT")).await, "encrypted can't be, for items have values under old already");
        assert_eq!(create_field(&app, secret("none", "TEXT")).await.verdict(), "200", "null is no value");
        assert_eq!(create_field(&app, secret("fresh", "TEXT")).await.verdict(), "200");
        write(&app.visitor().await, "", json!({ "_id": "b", "none": "hush", "fresh": "hush" })).await;
        assert!(!is_stored(&app, engine, "hush").await);
        // A deleted field takes its values along, and then its key is free for either kind.
        let body = json!({ "dataCollectionId": "c", "fieldKey": "fresh" });
        assert_eq!(app.app().post("/v2/collections/delete-field", &body).await.verdict(), "200");
        assert_eq!(data(&get(&app.app(), "b").await).get("fresh"), None);
        assert_eq!(create_field(&app, json!({ "key": "fresh", "type": "TEXT" })).await.verdict(), "200");
    }

    async fn indexes_hold_no_encrypted_value(engine) {
        let app = TestApp::new(engine).await;
        open(&app).await;
        for index in [
            json!({ "fields": [{ "path": "pin" }] }), json!({ "fields": [{ "path": "pin" }], "unique": true }),
            json!({ "fields": [{ "path": "title" }, { "path": "card.no", "order": "DESC" }] }),
            json!({ "fields": [{ "path": "pin" }], "caseInsensitive": true }),
        ] {
            let mut index = index;
            index["name"] = "x".into();
            says(&create_index(&app, index).await, "encrypted field");
        }
        // And what an index holds doesn't become encrypted, while there is that index.
        for (n, path) in ["later", "later.inside"].iter().enumerate() {
            assert_eq!(create_index(&app, json!({ "name": format!("i{n}"), "fields": [{ "path": path }] })).await.verdict(), "200");
            app.app.content.index_work_do(&app.site).await.unwrap();
            says(&create_field(&app, secret("later", "TEXT")).await, &format!("the index i{n}"));
            let path = format!("/v2/indexes?dataCollectionId=c&indexName=i{n}");
            assert_eq!(app.app().delete(&path).await.verdict(), "200");
        }
        app.app.content.index_work_do(&app.site).await.unwrap();
        assert_eq!(create_field(&app, secret("later", "TEXT")).await.verdict(), "200");
        says(&create_index(&app, json!({ "name": "again", "fields": [{ "path": "later" }] })).await, "encrypted field");
    }

    async fn single_item_has_its_defaults_encrypted(engine) {
        let app = TestApp::new(engine).await;
        let pin = json!({ "key": "pin", "type": "NUMBER", "encrypted": true, "typeMetadata": { "number": { "defaultValue": 741_741 } } });
        let plugins = json!([{ "type": "SINGLE_ITEM", "singleItemOptions": { "singleItemId": "it" } }]);
        let made = make(&app, json!({ "id": "c", "fields": [pin], "plugins": plugins, "dataPermissions": levels(OPEN) })).await;
        assert_eq!(made.verdict(), "200", "{:?}", made.body);
        assert_eq!(data(&get(&app.app(), "it").await)["pin"], 741_741);
        assert_eq!(data(&get(&app.visitor().await, "it").await).get("pin"), None);
        let rows = broken::stored(&app, "it").await;
        assert!(rows.contains("\"pin\":\"sealed:1:") && !rows.contains("741741"), "{rows}");
    }
}
