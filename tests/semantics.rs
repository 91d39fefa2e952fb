//! What calls mean where the client can't show it: the answers of docs/semantics.md that need the whole
//! program (docs/protocol/content.md §21.4, §21.5, §21.10).

use crate::ownership::together;
use serde_json::{Value, json};
use stoa_testkit::{Reply, TestApp, TestClient, on_both_engines};

async fn open(app: &TestApp, id: &str) {
    let levels =
        json!({ "itemRead": "ANYONE", "itemInsert": "ANYONE", "itemUpdate": "ANYONE", "itemRemove": "ANYONE" });
    let fields = json!([{ "key": "n", "type": "NUMBER" }, { "key": "tags", "type": "ARRAY_STRING" },
        { "key": "more", "type": "ARRAY" }]);
    let body = json!({ "collection": { "id": id, "fields": fields, "dataPermissions": levels } });
    let reply = app.app().post("/v2/collections", &body).await;
    assert_eq!(reply.verdict(), "200", "{:?}", reply.body);
}

async fn write(client: &TestClient<'_>, how: &str, data: Value) -> Reply {
    let mut item = json!({ "data": data });
    if let Some(id) = item["data"].get("_id").cloned() {
        item["id"] = id;
    }
    client.post(&format!("/v2/items{how}"), &json!({ "dataCollectionId": "c", "dataItem": item })).await
}

fn data(reply: &Reply) -> Value {
    reply.json()["dataItem"]["data"].clone()
}

async fn stored(client: &TestClient<'_>, id: &str) -> Value {
    data(&client.get(&format!("/v2/items/{id}?dataCollectionId=c&dataItemId={id}")).await)
}

async fn query(client: &TestClient<'_>, query: Value) -> Reply {
    client.post("/v2/items/query", &json!({ "dataCollectionId": "c", "query": query })).await
}

fn ids(reply: &Reply) -> String {
    let json = reply.json();
    let items = json["dataItems"].as_array().unwrap_or_else(|| panic!("{json}"));
    items.iter().map(|it| it["data"]["_id"].as_str().unwrap()).collect::<Vec<_>>().join(" ")
}

on_both_engines! {
    async fn system_fields_are_kept_by_the_server(engine) {
        let app = TestApp::new(engine).await;
        let (ann, bob) = (app.member("ann@example.org").await, app.member("bob@example.org").await);
        open(&app, "c").await;
        // Only the server says when, and a member's items are the member's.
        let forged = json!({ "n": 1, "_owner": "bob", "_createdDate": { "$date": "2001-01-01T00:00:00.000Z" },
            "_updatedDate": { "$date": "2001-01-01T00:00:00.000Z" } });
        let made = data(&write(&ann, "", forged).await);
        let (id, owner) = (made["_id"].as_str().unwrap(), made["_owner"].clone());
        assert!(id.len() == 36 && owner != "bob" && owner.is_string(), "{made}");
        assert_eq!(made["_createdDate"], json!({ "$date": "2026-01-01T00:00:00.000Z" }));
        assert_eq!(made["_updatedDate"], made["_createdDate"]);
        // An id of one's own is used, once.
        assert_eq!(data(&write(&ann, "", json!({ "_id": "mine", "n": 1, "gone": true })).await)["_id"], "mine");
        assert_eq!(write(&bob, "", json!({ "_id": "mine" })).await.verdict(), "409 WDE0074");
        // An update replaces the whole item; the day it was made and its owner stay, any caller writes.
        app.kit.clock.advance(60_000);
        let updated = data(&write(&bob, "/update", json!({ "_id": "mine", "n": 2, "_owner": "bob" })).await);
        assert_eq!((&updated["n"], updated.get("gone")), (&json!(2), None));
        assert_eq!((&updated["_owner"], &updated["_createdDate"]), (&owner, &made["_createdDate"]));
        assert_eq!(updated["_updatedDate"], json!({ "$date": "2026-01-01T00:01:00.000Z" }));
        assert_eq!(stored(&ann, "mine").await, updated);
        // An update needs an id that is there; a save does not.
        assert_eq!(write(&ann, "/update", json!({ "n": 1 })).await.verdict(), "400 WDE0007");
        assert_eq!(write(&ann, "/update", json!({ "_id": "other", "n": 1 })).await.verdict(), "404 WDE0073");
        for (item, action) in [(json!({ "n": 3 }), "INSERTED"), (json!({ "_id": "new" }), "INSERTED"), (json!({ "_id": "mine" }), "UPDATED")] {
            let reply = write(&bob, "/save", item).await.json();
            assert_eq!(reply["action"], action, "{reply}");
        }
        assert_eq!(stored(&ann, "mine").await["_owner"], owner);
    }

    async fn condition_decides_inside_the_write(engine) {
        let app = TestApp::new(engine).await;
        open(&app, "c").await;
        let client = app.visitor().await;
        for id in ["a", "b"] {
            write(&client, "", json!({ "_id": id, "n": 1 })).await;
        }
        let with = |path: &'static str, mut body: Value, filter: Value| {
            body["dataCollectionId"] = "c".into();
            body["condition"] = json!({ "filter": filter });
            let client = client.clone();
            async move { client.post(path, &body).await }
        };
        let update = json!({ "dataItem": { "id": "a", "data": { "_id": "a", "n": 2 } } });
        // Unmet, it is as if the item were not there, and nothing happens.
        assert_eq!(with("/v2/items/update", update.clone(), json!({ "n": 5 })).await.verdict(), "404 WDE0073");
        assert_eq!(stored(&client, "a").await["n"], 1);
        assert_eq!(with("/v2/items/update", update.clone(), json!({ "n": 1 })).await.verdict(), "200");
        assert_eq!(with("/v2/items/update", update, json!({ "n": 1 })).await.verdict(), "404 WDE0073");
        assert_eq!(with("/v2/items/remove", json!({ "dataItemId": "a" }), json!({ "n": 1 })).await.verdict(), "404 WDE0073");
        // Of many, each is decided for itself.
        let many = json!({ "dataItems": [{ "id": "a", "data": { "_id": "a", "n": 9 } }, { "id": "b", "data": { "_id": "b", "n": 9 } }] });
        let reply = with("/v2/bulk/items/update", many, json!({ "n": { "$lt": 2 } })).await.json();
        let metadata = &reply["bulkActionMetadata"];
        assert_eq!((&metadata["totalSuccesses"], &metadata["totalFailures"]), (&json!(1), &json!(1)), "{reply}");
        assert_eq!(reply["results"][0]["itemMetadata"]["error"]["code"], "WDE0073", "{reply}");
        let reply = with("/v2/bulk/items/remove", json!({ "dataItemIds": ["a", "b"] }), json!({ "n": 9 })).await.json();
        assert_eq!(reply["results"][0]["itemMetadata"]["success"], false, "{reply}");
        assert_eq!(ids(&query(&client, json!({})).await), "a");
        // A hundred at once that all ask for the same state: one finds it.
        write(&client, "", json!({ "_id": "race", "n": 0 })).await;
        let body = json!({ "dataItem": { "id": "race", "data": { "_id": "race", "n": 1 } } });
        let race = (0..100).map(|_| with("/v2/items/update", body.clone(), json!({ "n": 0 })));
        let verdicts: Vec<_> = together(race).await.iter().map(Reply::verdict).collect();
        assert_eq!(verdicts.iter().filter(|it| *it == "200").count(), 1, "{verdicts:?}");
    }

    async fn condition_reveals_no_unreadable_value(engine) {
        let app = TestApp::new(engine).await;
        open(&app, "c").await;
        let (ann, bob) = (app.member("ann@example.org").await, app.member("bob@example.org").await);
        write(&ann, "", json!({ "_id": "hers", "n": 7 })).await;
        let levels = json!({ "id": "c", "itemRead": "SITE_MEMBER_AUTHOR" });
        assert_eq!(app.app().post("/v1/permissions", &json!({ "dataPermissions": levels })).await.verdict(), "200");
        // Bob may change every item and read only his own: asking after her number must not reveal it.
        for n in [7, 8] {
            let body = json!({ "dataCollectionId": "c", "dataItem": { "id": "hers", "data": { "_id": "hers", "n": 0 } },
                "condition": { "filter": { "n": n } } });
            assert_eq!(bob.post("/v2/items/update", &body).await.verdict(), "404 WDE0073", "{n}");
        }
        assert_eq!(stored(&ann, "hers").await["n"], 7);
    }

    async fn fields_are_not_enforced_without_strict_mode(engine) {
        let app = TestApp::new(engine).await;
        open(&app, "c").await;
        let client = app.visitor().await;
        let item = json!({ "_id": "a", "n": "text in a number field", "unknown": { "deep": [1, null, "x"] } });
        assert_eq!(write(&client, "", item).await.verdict(), "200");
        let item = stored(&client, "a").await;
        assert_eq!((&item["n"], &item["unknown"]["deep"]), (&json!("text in a number field"), &json!([1, null, "x"])));
        assert_eq!(ids(&query(&client, json!({ "filter": { "unknown.deep": "x" } })).await), "a");
    }

    async fn newest_items_come_first_without_a_sort(engine) {
        let app = TestApp::new(engine).await;
        open(&app, "c").await;
        let client = app.visitor().await;
        for id in ["a", "b", "c"] {
            write(&client, "", json!({ "_id": id })).await;
            app.kit.clock.advance(1000);
        }
        assert_eq!(ids(&query(&client, json!({})).await), "c b a");
        let collection = app.app().get("/v2/collections/c?dataCollectionId=c").await.json()["collection"].clone();
        assert_eq!(collection["defaultDisplayOrder"], json!({ "fieldKey": "_createdDate", "direction": "DESC" }), "{collection}");
        // Only one field that is an array can lead.
        let sort = json!([{ "fieldName": "tags" }, { "fieldName": "more" }]);
        assert_eq!(query(&client, json!({ "sort": sort })).await.verdict(), "400 WDE0121");
        assert_eq!(query(&client, json!({ "sort": [{ "fieldName": "tags" }, { "fieldName": "n" }] })).await.verdict(), "200");
    }

    async fn projections_by_url(engine) {
        let app = TestApp::new(engine).await;
        open(&app, "c").await;
        let client = app.visitor().await;
        write(&client, "", json!({ "_id": "a", "n": 1, "at": { "lat": 1, "lon": 2 } })).await;
        for (fields, shown) in [
            (json!(["n", "unknown"]), json!({ "_id": "a", "n": 1 })),
            (json!(["unknown"]), json!({ "_id": "a" })),
            (json!(["at.lon"]), json!({ "_id": "a", "at": { "lon": 2 } })),
        ] {
            let reply = query(&client, json!({ "fields": fields })).await.json();
            assert_eq!(reply["dataItems"][0]["data"], shown);
        }
        let all = query(&client, json!({ "fields": [] })).await.json();
        assert_eq!(all["dataItems"][0]["data"]["_createdDate"], json!({ "$date": "2026-01-01T00:00:00.000Z" }));
    }

    async fn groups_of_fields_change_nothing(engine) {
        let app = TestApp::new(engine).await;
        let fields = json!([{ "key": "n", "type": "NUMBER", "condition": { "fieldGroup": "more" } }]);
        let body = json!({ "collection": { "id": "c", "fields": fields, "dataPermissions": { "itemRead": "ANYONE" } } });
        let made = app.app().post("/v2/collections", &body).await;
        assert_eq!(made.verdict(), "200", "{:?}", made.body);
        let fields = made.json()["collection"]["fields"].clone();
        assert!(fields.as_array().unwrap().iter().all(|it| it.get("condition").is_none()), "{fields}");
        assert_eq!(write(&app.app(), "", json!({ "_id": "a", "n": 1 })).await.verdict(), "200");
        let client = app.visitor().await;
        for groups in [Value::Null, json!([]), json!(["more"])] {
            let body = json!({ "dataCollectionId": "c", "query": {}, "includeFieldGroups": groups });
            let page = client.post("/v2/items/query", &body).await.json();
            assert_eq!(page["dataItems"][0]["data"]["n"], 1, "{groups}");
        }
    }

    async fn options_that_need_nothing_are_accepted(engine) {
        let app = TestApp::new(engine).await;
        open(&app, "c").await;
        let client = app.visitor().await;
        let body = json!({ "dataCollectionId": "c", "dataItem": { "data": { "_id": "a" } }, "suppressHooks": true, "appOptions": { "any": [1] } });
        assert_eq!(client.post("/v2/items", &body).await.verdict(), "200");
        let body = json!({ "dataCollectionId": "c", "query": {}, "consistentRead": true, "suppressHooks": true, "appOptions": {}, "language": "de" });
        let reply = client.post("/v2/items/query", &body).await;
        assert_eq!((reply.verdict().as_str(), ids(&reply).as_str()), ("200", "a"));
        let paging = reply.json()["pagingMetadata"].clone();
        assert_eq!((&paging["tooManyToCount"], paging.get("total")), (&json!(false), None));
    }
}
