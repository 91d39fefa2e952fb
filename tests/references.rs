//! References by URL: pairs of fields, links, what may be seen of them, and those who try more.

use serde_json::{Value, json};
use stoa_testkit::{Reply, TestApp, TestClient, on_both_engines};

mod cursors;

const OPEN: &str = "ANYONE";

/// Makes a collection: one level to read, one for everything else.
async fn collection(app: &TestApp, id: &str, fields: Value, (read, others): (&str, &str)) -> Value {
    let levels = json!({ "itemRead": read, "itemInsert": others, "itemUpdate": others, "itemRemove": others });
    let object = json!({ "id": id, "displayName": id, "fields": fields, "dataPermissions": levels });
    let reply = app.app().post("/v2/collections", &json!({ "collection": object })).await;
    assert_eq!(reply.verdict(), "200", "{:?}", reply.body);
    reply.json()["collection"].clone()
}

async fn definition(app: &TestApp, id: &str) -> Value {
    app.app().get(&format!("/v2/collections/{id}?dataCollectionId={id}")).await.json()["collection"].clone()
}

fn field<'v>(collection: &'v Value, key: &str) -> Option<&'v Value> {
    collection["fields"].as_array().unwrap().iter().find(|it| it["key"] == key)
}

fn multi(key: &str, target: &str, inverse: &str) -> Value {
    json!({ "key": key, "type": "MULTI_REFERENCE", "typeMetadata": { "multiReference": {
        "referencedCollectionId": target, "referencingFieldKey": inverse, "referencingDisplayName": inverse } } })
}

fn single(key: &str, target: &str) -> Value {
    json!({ "key": key, "type": "REFERENCE", "typeMetadata": { "reference": { "referencedCollectionId": target } } })
}

fn title() -> Value {
    json!({ "key": "title", "type": "TEXT" })
}

async fn insert(client: &TestClient<'_>, id: &str, item: &str) {
    let body = json!({ "dataCollectionId": id, "dataItem": { "data": { "_id": item, "title": item } } });
    assert_eq!(client.post("/v2/items", &body).await.verdict(), "200", "{item}");
}

/// Movies with actors (`m`, `n`; `p`, `q`, `r`), each side with levels of its own.
async fn movies(app: &TestApp, movies: (&str, &str), actors: (&str, &str)) {
    collection(app, "actors", json!([title(), single("idol", "actors")]), actors).await;
    let fields = json!([title(), multi("actors", "actors", "movies"), single("lead", "actors")]);
    collection(app, "movies", fields, movies).await;
    for it in ["m", "n"] {
        insert(&app.app(), "movies", it).await;
    }
    for it in ["p", "q", "r"] {
        insert(&app.app(), "actors", it).await;
    }
}

fn entry(field: &str, source: &str, target: &str) -> Value {
    json!({ "referringItemFieldName": field, "referringItemId": source, "referencedItemId": target })
}

async fn link(client: &TestClient<'_>, collection: &str, field: &str, source: &str, target: &[&str]) -> Reply {
    let entries: Vec<_> = target.iter().map(|it| entry(field, source, it)).collect();
    let body = json!({ "dataCollectionId": collection, "dataItemReferences": entries });
    client.post("/v2/bulk/items/insert-references", &body).await
}

async fn unlink(client: &TestClient<'_>, collection: &str, field: &str, source: &str, target: &[&str]) -> Reply {
    let entries: Vec<_> = target.iter().map(|it| entry(field, source, it)).collect();
    let body = json!({ "dataCollectionId": collection, "dataItemReferences": entries });
    client.post("/v2/bulk/items/remove-references", &body).await
}

async fn replace(client: &TestClient<'_>, collection: &str, field: &str, source: &str, target: &[&str]) -> Reply {
    let body = json!({ "dataCollectionId": collection, "referringItemFieldName": field, "referringItemId": source,
        "newReferencedItemIds": target });
    client.post("/v2/items/replace-references", &body).await
}

async fn is_linked(client: &TestClient<'_>, collection: &str, field: &str, source: &str, target: &str) -> String {
    let mut body = entry(field, source, target);
    body["dataCollectionId"] = collection.into();
    let reply = client.post("/v2/items/is-referenced", &body).await;
    if reply.status == 200 { reply.json()["isReferenced"].to_string() } else { reply.verdict() }
}

async fn referenced(client: &TestClient<'_>, collection: &str, field: &str, source: &str, more: Value) -> Reply {
    let mut body =
        json!({ "dataCollectionId": collection, "referringItemFieldName": field, "referringItemId": source });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    client.post("/v2/items/query-referenced", &body).await
}

/// The ids of what an item refers to, in order, or the refusal.
async fn targets(client: &TestClient<'_>, collection: &str, field: &str, source: &str) -> String {
    let reply = referenced(client, collection, field, source, json!({})).await;
    if reply.status != 200 {
        return reply.verdict();
    }
    let json = reply.json();
    let ids = json["results"].as_array().unwrap().iter().map(|it| it["dataItem"]["data"]["_id"].as_str().unwrap());
    ids.collect::<Vec<_>>().join("")
}

async fn query(client: &TestClient<'_>, collection: &str, query: Value, includes: Value) -> Reply {
    let body = json!({ "dataCollectionId": collection, "query": query, "includeReferences": includes });
    client.post("/v2/items/query", &body).await
}

/// An item with what it includes.
async fn get(client: &TestClient<'_>, collection: &str, id: &str, includes: Value) -> Value {
    let filter = json!({ "filter": { "_id": id } });
    query(client, collection, filter, includes).await.json()["dataItems"][0]["data"].clone()
}

/// The ids of an included list, one after the other.
fn ids(list: &Value) -> String {
    list.as_array().unwrap_or_else(|| panic!("{list}")).iter().map(|it| it["_id"].as_str().unwrap()).collect()
}

on_both_engines! {
    async fn field_is_made_and_deleted_with_its_inverse(engine) {
        let app = TestApp::new(engine).await;
        movies(&app, (OPEN, OPEN), (OPEN, OPEN)).await;
        let actors = definition(&app, "actors").await;
        assert_eq!(actors["revision"], "2");
        let inverse = field(&actors, "movies").unwrap();
        assert_eq!((&inverse["type"], &inverse["displayName"]), (&json!("MULTI_REFERENCE"), &json!("movies")));
        let metadata = &inverse["typeMetadata"]["multiReference"];
        assert_eq!((&metadata["referencedCollectionId"], &metadata["referencingFieldKey"]), (&json!("movies"), &json!("actors")));
        // A round trip changes nothing, whatever it says of the inverse field's name.
        let mut sent = definition(&app, "movies").await;
        sent["fields"][1]["typeMetadata"]["multiReference"]["referencingFieldKey"] = json!("other");
        let body = json!({ "collection": sent }).to_string().into();
        let reply = app.app().send(axum::http::Method::PUT, "/v2/collections", Some(body)).await;
        assert_eq!(reply.verdict(), "200");
        let key = &reply.json()["collection"]["fields"][1]["typeMetadata"]["multiReference"]["referencingFieldKey"];
        assert_eq!(key, "movies");
        assert_eq!(link(&app.app(), "movies", "actors", "m", &["p"]).await.verdict(), "200");
        // Without a name the inverse field gets one; a taken one is refused.
        let body = json!({ "dataCollectionId": "movies", "field": multi("extras", "actors", "") });
        let reply = app.app().post("/v2/collections/create-field", &body).await;
        assert_eq!(reply.verdict(), "200", "{:?}", reply.body);
        let extras = definition(&app, "movies").await;
        let extras = field(&extras, "extras").unwrap()["typeMetadata"]["multiReference"]["referencingFieldKey"].clone();
        assert_eq!(extras, "movies_extras");
        assert!(field(&definition(&app, "actors").await, "movies_extras").is_some());
        for (field, wants) in [
            (multi("more", "actors", "title"), "409 WDE0123"),
            (multi("more", "actors", "_id"), "409 WDE0123"),
            (multi("more", "actors", "a.b"), "400 WDE0147"),
            (multi("more", "actors", "$a"), "400 WDE0134"),
            (multi("more", "nowhere", "x"), "404 WDE0025"),
            (multi("more", "movies", "more"), "400 WDE0075"),
            (json!({ "key": "more", "type": "MULTI_REFERENCE" }), "400 WDE0075"),
            (json!({ "key": "more", "type": "REFERENCE" }), "400 WDE0075"),
        ] {
            let body = json!({ "dataCollectionId": "movies", "field": field });
            assert_eq!(app.app().post("/v2/collections/create-field", &body).await.verdict(), wants, "{field}");
        }
        // Deleting the inverse field deletes the field, and its links with it.
        let delete = |id: &str, key: &str| json!({ "dataCollectionId": id, "fieldKey": key });
        let reply = app.app().post("/v2/collections/delete-field", &delete("actors", "movies")).await;
        assert_eq!(reply.verdict(), "200");
        assert!(field(&definition(&app, "movies").await, "actors").is_none());
        assert_eq!(link(&app.app(), "movies", "actors", "m", &["p"]).await.verdict(), "400 WDE0020");
        let body = json!({ "dataCollectionId": "movies", "field": multi("actors", "actors", "movies") });
        assert_eq!(app.app().post("/v2/collections/create-field", &body).await.verdict(), "200");
        assert_eq!(targets(&app.app(), "movies", "actors", "m").await, "", "the old links are gone");
        let reply = app.app().post("/v2/collections/delete-field", &delete("movies", "extras")).await;
        assert_eq!(reply.verdict(), "200");
        assert!(field(&definition(&app, "actors").await, "movies_extras").is_none());
    }

    async fn collection_may_refer_to_itself(engine) {
        let app = TestApp::new(engine).await;
        let fields = json!([title(), multi("follows", "people", "followers"), multi("followers", "people", "follows")]);
        let made = collection(&app, "people", fields, (OPEN, OPEN)).await;
        assert_eq!(made["fields"].as_array().unwrap().len(), 3 + 4, "sent together, they are one pair: {made}");
        for it in ["a", "b"] {
            insert(&app.app(), "people", it).await;
        }
        assert_eq!(link(&app.app(), "people", "follows", "a", &["b", "a"]).await.verdict(), "200");
        assert_eq!(targets(&app.app(), "people", "follows", "a").await, "ba");
        assert_eq!(targets(&app.app(), "people", "followers", "a").await, "a");
        assert_eq!(targets(&app.app(), "people", "followers", "b").await, "a");
        let item = get(&app.app(), "people", "b", json!([{ "field": "followers.follows" }])).await;
        assert_eq!(ids(&item["followers"][0]["follows"]), "ba");
        let remove = json!({ "dataCollectionId": "people", "dataItemId": "a" });
        assert_eq!(app.app().post("/v2/items/remove", &remove).await.verdict(), "200");
        assert_eq!(targets(&app.app(), "people", "followers", "b").await, "");
        let delete = json!({ "dataCollectionId": "people", "fieldKey": "follows" });
        assert_eq!(app.app().post("/v2/collections/delete-field", &delete).await.verdict(), "200");
        assert!(field(&definition(&app, "people").await, "followers").is_none());
    }

    async fn deleted_collection_comes_back_with_its_links(engine) {
        let app = TestApp::new(engine).await;
        movies(&app, (OPEN, OPEN), (OPEN, OPEN)).await;
        link(&app.app(), "movies", "actors", "m", &["p", "q"]).await;
        let path = "/v2/collections/movies?dataCollectionId=movies";
        assert_eq!(app.app().delete(path).await.verdict(), "200");
        assert_eq!(targets(&app.app(), "actors", "movies", "p").await, "404 WDE0025");
        assert_eq!(link(&app.app(), "actors", "movies", "p", &["m"]).await.verdict(), "404 WDE0025");
        assert_eq!(get(&app.app(), "actors", "p", json!([{ "field": "movies" }])).await["movies"], json!([]));
        let restore = json!({ "dataCollectionId": "movies" });
        assert_eq!(app.app().post("/v2/collections/restore/movies", &restore).await.verdict(), "200");
        assert_eq!(targets(&app.app(), "movies", "actors", "m").await, "pq");
        // Another collection of this name inherits nothing, and gets the name of the inverse field.
        assert_eq!(app.app().delete(path).await.verdict(), "200");
        collection(&app, "movies", json!([title(), multi("actors", "actors", "movies")]), (OPEN, OPEN)).await;
        insert(&app.app(), "movies", "m").await;
        assert_eq!(targets(&app.app(), "movies", "actors", "m").await, "");
        assert_eq!(targets(&app.app(), "actors", "movies", "p").await, "");
        assert_eq!(link(&app.app(), "actors", "movies", "p", &["m"]).await.verdict(), "200");
        assert_eq!(targets(&app.app(), "movies", "actors", "m").await, "p");
    }

    async fn links_are_made_and_removed(engine) {
        let app = TestApp::new(engine).await;
        movies(&app, (OPEN, OPEN), (OPEN, OPEN)).await;
        let client = app.app();
        let reply = link(&client, "movies", "actors", "m", &["q", "p"]).await.json();
        assert_eq!(reply["bulkActionMetadata"]["totalSuccesses"], 2);
        assert_eq!(reply["results"][1], json!({ "action": "INSERT",
            "referenceMetadata": { "originalIndex": 1, "success": true }, "dataItemReference": entry("actors", "m", "p") }));
        assert_eq!(targets(&client, "movies", "actors", "m").await, "qp", "in the order of linking");
        assert_eq!(targets(&client, "actors", "movies", "p").await, "m");
        assert_eq!(is_linked(&client, "movies", "actors", "m", "p").await, "true");
        assert_eq!(is_linked(&client, "actors", "movies", "p", "m").await, "true");
        assert_eq!(is_linked(&client, "movies", "actors", "n", "p").await, "false");
        assert_eq!(is_linked(&client, "movies", "actors", "m", "x").await, "false");
        // A refusal leaves everything as it was.
        let refused = link(&client, "movies", "actors", "m", &["r", "p"]).await;
        assert_eq!(refused.verdict(), "409 WDE0029");
        assert_eq!(refused.json()["details"]["applicationError"]["data"]["referencedItemId"], "p");
        for (target, wants) in [(&["r", "r"][..], "409 WDE0029"), (&["r", "x"], "404 WDE0073"), (&["r", ""], "400 WDE0021"), (&["r", "a\0"], "400 WDE0021"), (&[], "400 WDE0080")] {
            assert_eq!(link(&client, "movies", "actors", "m", target).await.verdict(), wants, "{target:?}");
        }
        assert_eq!(link(&client, "movies", "actors", "x", &["r"]).await.verdict(), "404 WDE0073");
        assert_eq!(targets(&client, "movies", "actors", "m").await, "qp");
        for key in ["title", "lead", "nothing", "_id"] {
            assert_eq!(link(&client, "movies", key, "m", &["r"]).await.verdict(), "400 WDE0020", "{key}");
        }
        assert_eq!(link(&client, "movies", "", "m", &["r"]).await.verdict(), "400 WDE0094");
        assert_eq!(link(&client, "nowhere", "actors", "m", &["r"]).await.verdict(), "404 WDE0025");
        let many: Vec<_> = (0..1001).map(|n| n.to_string()).collect();
        let many: Vec<_> = many.iter().map(String::as_str).collect();
        assert_eq!(link(&client, "movies", "actors", "m", &many).await.verdict(), "400 WDE0006");
        assert_eq!(replace(&client, "movies", "actors", "m", &many).await.verdict(), "400 WDE0006");
        for body in [json!({}), json!({ "dataItemReferences": {} }), json!({ "dataItemReferences": [1] }), json!({ "dataItemReferences": [{ "referringItemFieldName": "actors" }] })] {
            let mut body = body;
            body["dataCollectionId"] = json!("movies");
            assert_eq!(client.post("/v2/bulk/items/insert-references", &body).await.verdict(), "400 WDE0021", "{body}");
        }
        // Removing what isn't linked is no fault; the item must be there.
        assert_eq!(unlink(&client, "movies", "actors", "m", &["r", "p", "x"]).await.verdict(), "200");
        assert_eq!(targets(&client, "movies", "actors", "m").await, "q");
        assert_eq!(unlink(&client, "movies", "actors", "x", &["p"]).await.verdict(), "404 WDE0073");
        assert_eq!(unlink(&client, "actors", "movies", "q", &["m"]).await.verdict(), "200");
        assert_eq!(targets(&client, "movies", "actors", "m").await, "");
        // Replacing sets the order as well.
        link(&client, "movies", "actors", "n", &["p"]).await;
        let reply = replace(&client, "movies", "actors", "n", &["r", "p", "r"]).await.json();
        assert_eq!(reply["dataItemReferences"], json!([entry("actors", "n", "r"), entry("actors", "n", "p")]));
        assert_eq!(targets(&client, "movies", "actors", "n").await, "rp");
        assert_eq!(replace(&client, "movies", "actors", "n", &["p", "x"]).await.verdict(), "404 WDE0073");
        assert_eq!(targets(&client, "movies", "actors", "n").await, "rp");
        assert_eq!(replace(&client, "movies", "actors", "n", &[]).await.verdict(), "200");
        assert_eq!(targets(&client, "movies", "actors", "n").await, "");
    }

    async fn links_go_with_their_items(engine) {
        let app = TestApp::new(engine).await;
        movies(&app, (OPEN, OPEN), (OPEN, OPEN)).await;
        let client = app.app();
        link(&client, "movies", "actors", "m", &["p", "q", "r"]).await;
        link(&client, "movies", "actors", "n", &["p"]).await;
        client.post("/v2/items/remove", &json!({ "dataCollectionId": "actors", "dataItemId": "p" })).await;
        assert_eq!(targets(&client, "movies", "actors", "m").await, "qr");
        insert(&client, "actors", "p").await;
        assert_eq!(targets(&client, "movies", "actors", "m").await, "qr", "a new item inherits no links");
        let many = json!({ "dataCollectionId": "movies", "dataItemIds": ["m", "n", "x"] });
        assert_eq!(client.post("/v2/bulk/items/remove", &many).await.verdict(), "200");
        insert(&client, "movies", "m").await;
        assert_eq!(targets(&client, "movies", "actors", "m").await, "");
        assert_eq!(targets(&client, "actors", "movies", "q").await, "");
    }

    async fn referenced_items_come_in_pages(engine) {
        let app = TestApp::new(engine).await;
        movies(&app, (OPEN, OPEN), (OPEN, OPEN)).await;
        let client = app.app();
        link(&client, "movies", "actors", "m", &["p", "q", "r"]).await;
        link(&client, "movies", "actors", "n", &["q"]).await;
        let page = |more: Value| referenced(&client, "movies", "actors", "m", more);
        let shown = |reply: &Reply| {
            let json = reply.json();
            let ids = json["results"].as_array().unwrap().iter().map(|it| it["dataItem"]["data"]["_id"].as_str().unwrap().to_owned());
            (ids.collect::<String>(), json["pagingMetadata"]["hasNext"].as_bool().unwrap(), json["pagingMetadata"]["total"].as_i64())
        };
        assert_eq!(shown(&page(json!({ "order": "DESC" })).await), ("rqp".to_owned(), false, None));
        let paging = json!({ "paging": { "limit": 2 }, "returnTotalCount": true });
        assert_eq!(shown(&page(paging).await), ("pq".to_owned(), true, Some(3)));
        let paging = json!({ "paging": { "limit": 2, "offset": 2 }, "fields": ["title"] });
        let reply = page(paging).await;
        assert_eq!(reply.json()["results"][0]["dataItem"]["data"], json!({ "_id": "r", "title": "r" }));
        assert_eq!(shown(&reply), ("r".to_owned(), false, None));
        for (more, wants) in [
            (json!({ "order": "UP" }), "400 WDE0067"), (json!({ "paging": { "limit": 0 } }), "400 WDE0033"),
            (json!({ "paging": { "limit": 1001 } }), "400 WDE0036"), (json!({ "paging": { "offset": -1 } }), "400 WDE0034"),
            (json!({ "referringItemId": 7 }), "400 WDE0019"), (json!({ "referringItemId": "" }), "400 WDE0019"),
            (json!({ "referringItemIds": [] }), "400 WDE0019"), (json!({ "referringItemFieldName": "title" }), "400 WDE0020"),
            (json!({ "referringItemFieldName": 1 }), "400 WDE0003"), (json!({ "returnTotalCount": 1 }), "400 WDE0018"),
        ] {
            assert_eq!(page(more.clone()).await.verdict(), wants, "{more}");
        }
        let many = json!({ "dataCollectionId": "movies", "referringItemFieldName": "actors", "referringItemIds": ["n", "x", "m", "n"], "returnTotalCount": true });
        let reply = client.post("/v2/items/query-referenced", &many).await.json();
        let pairs: Vec<_> = reply["results"].as_array().unwrap().iter().map(|it| format!("{}{}", it["referringItemId"].as_str().unwrap(), it["dataItem"]["id"].as_str().unwrap())).collect();
        assert_eq!((pairs.join(" ").as_str(), &reply["pagingMetadata"]["total"]), ("mp mq mr nq", &json!(4)));
        assert_eq!(targets(&client, "movies", "actors", "x").await, "");
        // A single reference, one that leads nowhere, and none.
        let item = |id: &str, lead: Value| json!({ "dataCollectionId": "movies", "dataItem": { "data": { "_id": id, "lead": lead } } });
        for (id, lead) in [("s", json!("p")), ("t", json!("gone")), ("u", json!(7))] {
            assert_eq!(client.post("/v2/items", &item(id, lead)).await.verdict(), "200");
        }
        let many = json!({ "dataCollectionId": "movies", "referringItemFieldName": "lead", "referringItemIds": ["s", "t", "u", "m"], "returnTotalCount": true });
        let reply = client.post("/v2/items/query-referenced", &many).await.json();
        assert_eq!(reply["results"][0]["dataItem"]["data"]["title"], "p");
        assert_eq!(reply["results"][1], json!({ "referringItemId": "t", "unresolvedReference": {
            "referringItemId": "t", "referringItemFieldName": "lead", "referencedItemId": "gone", "unauthorized": false } }));
        assert_eq!((reply["results"].as_array().unwrap().len(), &reply["pagingMetadata"]["total"]), (2, &json!(2)));
        assert_eq!(is_linked(&client, "movies", "lead", "s", "p").await, "true");
        assert_eq!(is_linked(&client, "movies", "lead", "t", "gone").await, "false");
    }

    async fn required_links_refuse_no_item(engine) {
        let app = TestApp::new(engine).await;
        collection(&app, "actors", json!([title()]), (OPEN, OPEN)).await;
        let mut actors = multi("actors", "actors", "movies");
        actors["required"] = true.into();
        let mut name = title();
        name["required"] = true.into();
        let levels = json!({ "itemRead": OPEN, "itemInsert": OPEN, "itemUpdate": OPEN, "itemRemove": OPEN });
        let object = json!({ "id": "movies", "strictMode": true, "fields": [name, actors], "dataPermissions": levels });
        assert_eq!(app.app().post("/v2/collections", &json!({ "collection": object })).await.verdict(), "200");
        let client = app.app();
        insert(&client, "actors", "p").await;
        insert(&client, "movies", "m").await;
        let body = json!({ "dataCollectionId": "movies", "dataItem": { "data": { "_id": "m", "title": "M", "actors": ["p"] } }, "saveReferences": true });
        assert_eq!(client.post("/v2/items/update", &body).await.verdict(), "200");
        let body = json!({ "dataCollectionId": "movies", "dataItem": { "data": { "_id": "n" } } });
        assert_eq!(client.post("/v2/items", &body).await.verdict(), "400 WDE0075", "other fields are asked for still");
    }

    async fn referenced_items_are_included(engine) {
        let app = TestApp::new(engine).await;
        movies(&app, (OPEN, OPEN), (OPEN, OPEN)).await;
        let client = app.app();
        link(&client, "movies", "actors", "m", &["r", "p"]).await;
        let update = |c: &str, data: Value| json!({ "dataCollectionId": c, "dataItem": { "data": data } });
        for (c, data) in [
            ("movies", json!({ "_id": "m", "lead": "p", "title": "M" })), ("movies", json!({ "_id": "n", "lead": "gone", "x": 1 })),
            ("actors", json!({ "_id": "p", "idol": "q", "title": "P \u{fc} \"quoted\"" })),
        ] {
            assert_eq!(client.post("/v2/items/update", &update(c, data)).await.verdict(), "200");
        }
        // Nothing is there unless it is asked for.
        let plain = get(&client, "movies", "m", json!([])).await;
        assert_eq!((&plain["lead"], plain.get("actors")), (&json!("p"), None));
        let both = json!([{ "field": "lead" }, { "field": "actors" }]);
        let item = get(&client, "movies", "m", both.clone()).await;
        assert_eq!((item["lead"]["title"].as_str(), ids(&item["actors"]).as_str()), (Some("P \u{fc} \"quoted\""), "rp"));
        assert_eq!(item["title"], "M", "and nothing else changed");
        let item = get(&client, "movies", "n", both.clone()).await;
        assert_eq!((&item["lead"], &item["actors"], &item["x"]), (&json!("gone"), &json!([]), &json!(1)));
        let item = get(&client, "movies", "m", json!([{ "field": "actors", "limit": 1 }])).await;
        assert_eq!(ids(&item["actors"]), "r");
        // Down several levels, each with a limit of its own, and back through the inverse field.
        let deep = json!([{ "field": "actors.idol" }, { "field": "actors.movies.actors", "limit": 1 }]);
        let item = get(&client, "movies", "m", deep).await;
        assert_eq!(item["actors"][1]["idol"]["_id"], "q");
        assert_eq!((ids(&item["actors"]), ids(&item["actors"][0]["movies"]), ids(&item["actors"][0]["movies"][0]["actors"])), ("rp".to_owned(), "m".to_owned(), "r".to_owned()));
        // By the older name, with a projection, and by get.
        let body = json!({ "dataCollectionId": "movies", "query": { "fields": ["lead.title"], "filter": { "_id": "m" } }, "includeReferencedItems": ["lead", "actors"] });
        let reply = client.post("/v2/items/query", &body).await.json();
        assert_eq!(reply["dataItems"][0]["data"], json!({ "_id": "m", "lead": { "title": "P \u{fc} \"quoted\"" } }));
        let r = base64_url(&json!({ "dataCollectionId": "movies", "dataItemId": "m", "includeReferences": both }));
        let item = client.get(&format!("/v2/items/m?.r={r}")).await.json()["dataItem"]["data"].clone();
        assert_eq!((item["lead"]["_id"].as_str(), ids(&item["actors"]).as_str()), (Some("p"), "rp"));
        let hundred: Vec<_> = (0..101).map(|_| json!({ "field": "lead" })).collect();
        for (includes, wants) in [
            (json!([{ "field": "title" }]), "400 WDE0020"), (json!([{ "field": "nothing" }]), "400 WDE0020"),
            (json!([{ "field": "lead.title" }]), "400 WDE0020"), (json!([{ "field": "" }]), "400 WDE0094"),
            (json!([{ "field": 1 }]), "400 WDE0003"), (json!([1]), "400 WDE0080"), (json!("lead"), "400 WDE0080"),
            (json!(hundred), "400 WDE0080"), (json!([{ "field": "actors", "limit": 1001 }]), "400 WDE0036"),
            (json!([{ "field": "actors", "limit": 0 }]), "400 WDE0033"), (json!([{ "field": "lead.idol.idol.idol.idol.idol" }]), "400 WDE0080"),
        ] {
            assert_eq!(query(&client, "movies", json!({}), includes.clone()).await.verdict(), wants, "{includes}");
        }
        let fifty: Vec<_> = (0..51).map(|_| "lead").collect();
        let body = json!({ "dataCollectionId": "movies", "query": {}, "includeReferencedItems": fifty });
        assert_eq!(client.post("/v2/items/query", &body).await.verdict(), "400 WDE0080");
    }

    async fn includes_have_limits(engine) {
        let app = TestApp::new(engine).await;
        movies(&app, (OPEN, OPEN), (OPEN, OPEN)).await;
        let client = app.app();
        let big = "x".repeat(30_000);
        let items: Vec<_> = (0..60).map(|n| json!({ "data": { "_id": format!("a{n:02}"), "big": big } })).collect();
        let body = json!({ "dataCollectionId": "actors", "dataItems": items });
        assert_eq!(client.post("/v2/bulk/items/insert", &body).await.verdict(), "200");
        let all: Vec<_> = (0..60).map(|n| format!("a{n:02}")).collect();
        let all: Vec<_> = all.iter().map(String::as_str).collect();
        assert_eq!(link(&client, "movies", "actors", "m", &all).await.verdict(), "200");
        let count = |item: &Value| item["actors"].as_array().unwrap().len();
        assert_eq!(count(&get(&client, "movies", "m", json!([{ "field": "actors" }])).await), 50, "unless more are asked for");
        assert_eq!(count(&get(&client, "movies", "m", json!([{ "field": "actors", "limit": 1000 }])).await), 60);
        // Sixty actors, each with its movie, each with its sixty actors: 108 MB, if they let it.
        let reply = query(&client, "movies", json!({}), json!([{ "field": "actors.movies.actors", "limit": 1000 }, { "field": "actors", "limit": 1000 }])).await;
        assert_eq!(reply.verdict(), "413 WDE0109");
    }

    async fn items_bring_their_links(engine) {
        let app = TestApp::new(engine).await;
        movies(&app, (OPEN, OPEN), (OPEN, OPEN)).await;
        let client = app.app();
        let write = |call: &'static str, data: Value, more: Value| {
            let client = client.clone();
            async move {
                let mut body = json!({ "dataCollectionId": "movies", "dataItem": { "data": data } });
                body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
                client.post(call, &body).await
            }
        };
        let saves = json!({ "saveReferences": true });
        // Without a word they are dropped; whole items stand for their ids.
        let data = json!({ "_id": "s", "actors": ["p"], "lead": { "_id": "p", "title": "x" }, "z": 1 });
        let reply = write("/v2/items", data.clone(), json!({})).await.json()["dataItem"]["data"].clone();
        assert_eq!((&reply["lead"], reply.get("actors"), &reply["z"]), (&json!("p"), None, &json!(1)));
        assert_eq!(targets(&client, "movies", "actors", "s").await, "");
        let data = json!({ "_id": "t", "actors": [{ "_id": "q" }, "p", "q"] });
        assert_eq!(write("/v2/items", data, saves.clone()).await.json()["dataItem"]["data"].get("actors"), None);
        assert_eq!(targets(&client, "movies", "actors", "t").await, "qp");
        assert_eq!(get(&client, "movies", "t", json!([])).await.get("actors"), None);
        // An update that says nothing of a field leaves its links.
        for (data, wants) in [
            (json!({ "_id": "t", "title": "T" }), "qp"), (json!({ "_id": "t", "actors": ["r", "q"] }), "rq"),
            (json!({ "_id": "t", "actors": null }), ""), (json!({ "_id": "t", "actors": ["p"] }), "p"), (json!({ "_id": "t", "actors": [] }), ""),
        ] {
            assert_eq!(write("/v2/items/update", data.clone(), saves.clone()).await.verdict(), "200");
            assert_eq!(targets(&client, "movies", "actors", "t").await, wants, "{data}");
        }
        assert_eq!(write("/v2/items/save", json!({ "_id": "t", "actors": ["p"] }), saves.clone()).await.json()["action"], "UPDATED");
        assert_eq!(write("/v2/items/save", json!({ "_id": "u", "actors": ["p", "r"] }), saves.clone()).await.json()["action"], "INSERTED");
        assert_eq!((targets(&client, "movies", "actors", "t").await, targets(&client, "actors", "movies", "p").await), ("p".to_owned(), "tu".to_owned()));
        // What isn't there can't be linked, and then the item isn't written.
        for (data, wants) in [
            (json!({ "_id": "v", "actors": ["p", "x"] }), "404 WDE0073"), (json!({ "_id": "v", "actors": "p" }), "400 WDE0303"),
            (json!({ "_id": "v", "actors": [1] }), "400 WDE0303"), (json!({ "_id": "v", "actors": [{ "id": "p" }] }), "400 WDE0303"),
            (json!({ "_id": "v", "actors": [""] }), "400 WDE0303"), (json!({ "_id": "v", "actors": vec!["p"; 1001] }), "400 WDE0303"),
        ] {
            assert_eq!(write("/v2/items", data.clone(), saves.clone()).await.verdict(), wants, "{data}");
        }
        assert_eq!(get(&client, "movies", "v", json!([])).await, Value::Null);
        assert_eq!(write("/v2/items", json!({}), json!({ "saveReferences": 1 })).await.verdict(), "400 WDE0018");
        // The answer shows what the item refers to, if asked.
        let shows = json!({ "saveReferences": true, "includeReferencedItems": true });
        for call in ["/v2/items/update", "/v2/items/save"] {
            let data = json!({ "_id": "t", "actors": ["r", "p"], "lead": "p" });
            let item = write(call, data, shows.clone()).await.json()["dataItem"]["data"].clone();
            assert_eq!((ids(&item["actors"]), &item["lead"]["title"]), ("rp".to_owned(), &json!("p")));
        }
        let item = write("/v2/items", json!({ "_id": "w", "lead": "gone" }), shows).await.json()["dataItem"]["data"].clone();
        assert_eq!((&item["actors"], &item["lead"]), (&json!([]), &json!("gone")));
        // Many at once, each with an answer of its own.
        let list = [json!({ "_id": "b1", "actors": ["x"] }), json!({ "_id": "b2", "actors": ["p"] }), json!({ "_id": "b3", "actors": 7 }), json!({ "_id": "m", "actors": ["q"] }), json!({ "_id": "b4", "actors": ["r"] }), json!({ "_id": "b5", "actors": ["q"], "$no": 1 })];
        let items: Vec<_> = list.into_iter().map(|it| json!({ "data": it })).collect();
        let body = json!({ "dataCollectionId": "movies", "dataItems": items, "saveReferences": true });
        let codes = |reply: &Reply| {
            let json = reply.json();
            let code = |it: &Value| it["itemMetadata"]["error"]["code"].as_str().unwrap_or("ok").to_owned();
            json["results"].as_array().unwrap().iter().map(code).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(codes(&client.post("/v2/bulk/items/insert", &body).await), "WDE0073 ok WDE0303 WDE0074 ok WDE0134");
        for (id, wants) in [("b1", ""), ("b2", "p"), ("b3", ""), ("m", ""), ("b4", "r")] {
            assert_eq!(targets(&client, "movies", "actors", id).await, wants, "{id}");
        }
        for call in ["update", "save"] {
            let list = [json!({ "_id": "b2", "actors": ["q"] }), json!({ "_id": "b4", "actors": ["x"] }), json!({ "_id": "b2", "actors": ["r", "p"] }), json!({ "_id": "m", "actors": [call] })];
            insert(&client, "actors", call).await;
            let items: Vec<_> = list.into_iter().map(|it| json!({ "data": it })).collect();
            let body = json!({ "dataCollectionId": "movies", "dataItems": items, "saveReferences": true });
            assert_eq!(codes(&client.post(&format!("/v2/bulk/items/{call}"), &body).await), "ok WDE0073 ok ok", "{call}");
            for (id, wants) in [("b2", "rp"), ("b4", "r"), ("m", call)] {
                assert_eq!(targets(&client, "movies", "actors", id).await, wants, "{id}");
            }
        }
        // Items of one call may refer to each other.
        collection(&app, "people", json!([multi("follows", "people", "followers")]), (OPEN, OPEN)).await;
        let items = json!([{ "data": { "_id": "a", "follows": ["b"] } }, { "data": { "_id": "b", "follows": ["a", "b"] } }, { "data": { "_id": "c", "follows": ["x"] } }, { "data": { "_id": "d", "follows": ["c"] } }]);
        let body = json!({ "dataCollectionId": "people", "dataItems": items, "saveReferences": true });
        assert_eq!(codes(&client.post("/v2/bulk/items/insert", &body).await), "ok ok WDE0073 ok");
        assert_eq!((targets(&client, "people", "follows", "b").await, targets(&client, "people", "follows", "d").await), ("ab".to_owned(), String::new()));
    }

    async fn patches_change_links(engine) {
        let app = TestApp::new(engine).await;
        movies(&app, (OPEN, OPEN), (OPEN, OPEN)).await;
        let client = app.app();
        let step = |action: &str, value: Value| {
            let options = match action {
                "SET_FIELD" => "setFieldOptions",
                "APPEND_TO_ARRAY" => "appendToArrayOptions",
                _ => "removeFromArrayOptions",
            };
            json!({ "fieldPath": "actors", "action": action, options: { "value": value } })
        };
        let patch = |id: &str, steps: Value| json!({ "dataItemId": id, "fieldModifications": steps });
        let body = |steps: Value| json!({ "dataCollectionId": "movies", "patch": patch("m", steps) });
        for (steps, wants) in [
            (json!([step("SET_FIELD", json!(["q", { "_id": "p" }]))]), "qp"),
            (json!([step("APPEND_TO_ARRAY", json!("r"))]), "qpr"),
            (json!([step("APPEND_TO_ARRAY", json!("q"))]), "qpr"),
            (json!([step("REMOVE_FROM_ARRAY", json!("p")), step("REMOVE_FROM_ARRAY", json!("x"))]), "qr"),
            (json!([step("REMOVE_FROM_ARRAY", json!("q")), step("APPEND_TO_ARRAY", json!("q"))]), "rq"),
            (json!([step("SET_FIELD", json!(["p"])), step("APPEND_TO_ARRAY", json!({ "_id": "r" })), step("REMOVE_FROM_ARRAY", json!("p"))]), "r"),
            (json!([step("SET_FIELD", Value::Null)]), ""),
            (json!([step("APPEND_TO_ARRAY", json!("p")), { "fieldPath": "title", "action": "SET_FIELD", "setFieldOptions": { "value": "T" } }]), "p"),
            (json!([{ "fieldPath": "actors", "action": "REMOVE_FIELD" }]), ""),
        ] {
            let reply = client.post("/v2/items/patch", &body(steps.clone())).await;
            assert_eq!((reply.verdict().as_str(), targets(&client, "movies", "actors", "m").await.as_str()), ("200", wants), "{steps}");
            assert_eq!(reply.json()["dataItem"]["data"].get("actors"), None);
        }
        link(&client, "movies", "actors", "m", &["p"]).await;
        for (steps, wants) in [
            (json!([step("SET_FIELD", json!("p"))]), "400 WDE0303"), (json!([step("APPEND_TO_ARRAY", json!(["q"]))]), "400 WDE0303"),
            (json!([step("SET_FIELD", json!(["x"]))]), "404 WDE0073"), (json!([step("APPEND_TO_ARRAY", json!("x"))]), "404 WDE0073"),
            (json!([{ "fieldPath": "actors.0", "action": "REMOVE_FIELD" }]), "400 WDE0080"),
            (json!([{ "fieldPath": "actors", "action": "INCREMENT_FIELD", "incrementFieldOptions": { "value": 1 } }]), "400 WDE0080"),
        ] {
            assert_eq!(client.post("/v2/items/patch", &body(steps.clone())).await.verdict(), wants, "{steps}");
        }
        assert_eq!((targets(&client, "movies", "actors", "m").await, &get(&client, "movies", "m", json!([])).await["title"]), ("p".to_owned(), &json!("T")));
        let single = json!([{ "fieldPath": "lead", "action": "SET_FIELD", "setFieldOptions": { "value": { "_id": "q", "title": "x" } } }]);
        assert_eq!(client.post("/v2/items/patch", &body(single)).await.json()["dataItem"]["data"]["lead"], "q");
        // The condition may ask for links; each patch has an answer of its own.
        let patches = [patch("m", json!([step("APPEND_TO_ARRAY", json!("q"))])), patch("n", json!([step("APPEND_TO_ARRAY", json!("q"))])), patch("m", json!([step("SET_FIELD", json!(7))]))];
        let bulk = json!({ "dataCollectionId": "movies", "patches": patches, "condition": { "filter": { "actors": "p" } } });
        let reply = client.post("/v2/bulk/items/patch", &bulk).await.json();
        let codes: Vec<_> = reply["results"].as_array().unwrap().iter().map(|it| it["itemMetadata"]["error"]["code"].as_str().unwrap_or("ok")).collect();
        assert_eq!(codes, ["ok", "WDE0073", "WDE0303"], "{reply}");
        assert_eq!((targets(&client, "movies", "actors", "m").await, targets(&client, "movies", "actors", "n").await), ("pq".to_owned(), String::new()));
    }

    async fn links_lead_around_no_rights(engine) {
        let app = TestApp::new(engine).await;
        movies(&app, (OPEN, "CMS_EDITOR"), (OPEN, OPEN)).await;
        let (visitor, member) = (app.visitor().await, app.member("ann@example.org").await);
        assert_eq!(link(&app.app(), "movies", "actors", "m", &["p"]).await.verdict(), "200");
        let before = targets(&app.app(), "movies", "actors", "m").await;
        for it in [&visitor, &member] {
            assert_eq!(link(it, "movies", "actors", "m", &["q"]).await.verdict(), "403 WDE0027");
            assert_eq!(unlink(it, "movies", "actors", "m", &["p"]).await.verdict(), "403 WDE0027");
            assert_eq!(replace(it, "movies", "actors", "m", &[]).await.verdict(), "403 WDE0027");
            // Through the other side, by every way there is.
            assert_eq!(link(it, "actors", "movies", "q", &["m"]).await.verdict(), "403 WDE0027");
            assert_eq!(unlink(it, "actors", "movies", "p", &["m"]).await.verdict(), "403 WDE0027");
            assert_eq!(replace(it, "actors", "movies", "p", &[]).await.verdict(), "403 WDE0027");
            for call in ["/v2/items", "/v2/items/save", "/v2/items/update"] {
                let data = json!({ "_id": if call == "/v2/items" { "new" } else { "q" }, "movies": ["m"] });
                let body = json!({ "dataCollectionId": "actors", "dataItem": { "data": data }, "saveReferences": true });
                assert_eq!(it.post(call, &body).await.verdict(), "403 WDE0027", "{call}");
            }
            assert_eq!(targets(it, "movies", "actors", "m").await, before);
        }
        // Who owns a movie changes its links and no others, from either side.
        let app = TestApp::new(engine).await;
        movies(&app, (OPEN, "SITE_MEMBER_AUTHOR"), (OPEN, OPEN)).await;
        let (ann, bob) = (app.member("ann@example.org").await, app.member("bob@example.org").await);
        for (client, id) in [(&ann, "hers"), (&bob, "his")] {
            insert(client, "movies", id).await;
        }
        assert_eq!(link(&ann, "movies", "actors", "hers", &["p", "q"]).await.verdict(), "200");
        assert_eq!(link(&bob, "actors", "movies", "p", &["his"]).await.verdict(), "200");
        for (source, wants) in [("hers", "404 WDE0073"), ("m", "404 WDE0073"), ("nothing", "404 WDE0073")] {
            assert_eq!(link(&bob, "movies", "actors", source, &["r"]).await.verdict(), wants, "{source}");
            assert_eq!(unlink(&bob, "movies", "actors", source, &["p"]).await.verdict(), wants, "{source}");
            assert_eq!(replace(&bob, "movies", "actors", source, &["p"]).await.verdict(), wants, "{source}");
            assert_eq!(link(&bob, "actors", "movies", "r", &[source]).await.verdict(), wants, "{source}");
        }
        assert_eq!(unlink(&bob, "actors", "movies", "p", &["hers"]).await.verdict(), "200", "as if there were no such link");
        assert_eq!(replace(&bob, "actors", "movies", "p", &[]).await.verdict(), "200");
        assert_eq!((targets(&ann, "movies", "actors", "hers").await, targets(&bob, "movies", "actors", "his").await), ("pq".to_owned(), String::new()));
    }

    async fn unreadable_items_do_not_show_through_links(engine) {
        let app = TestApp::new(engine).await;
        movies(&app, (OPEN, OPEN), ("PRIVILEGED", "PRIVILEGED")).await;
        link(&app.app(), "movies", "actors", "m", &["p"]).await;
        let body = json!({ "dataCollectionId": "movies", "dataItem": { "data": { "_id": "m", "lead": "p" } } });
        assert_eq!(app.app().post("/v2/items/update", &body).await.verdict(), "200");
        let member = app.member("ann@example.org").await;
        let both = json!([{ "field": "lead" }, { "field": "actors" }, { "field": "lead.idol" }]);
        let item = get(&member, "movies", "m", both).await;
        assert_eq!((&item["lead"], &item["actors"]), (&json!("p"), &json!([])));
        for target_id in ["p", "q", "nothing"] {
            assert_eq!(is_linked(&member, "movies", "actors", "m", target_id).await, "403 WDE0027");
            assert_eq!(link(&member, "movies", "actors", "n", &[target_id]).await.verdict(), "403 WDE0027");
            let body = json!({ "dataCollectionId": "movies", "dataItem": { "data": { "_id": "n", "actors": [target_id] } }, "saveReferences": true });
            assert_eq!(member.post("/v2/items/update", &body).await.verdict(), "403 WDE0027");
        }
        assert_eq!(targets(&member, "movies", "actors", "m").await, "403 WDE0027");
        assert_eq!(targets(&member, "actors", "movies", "p").await, "403 WDE0027");
        for (filter, wants) in [
            (json!({ "actors": "p" }), 0), (json!({ "actors": { "$hasSome": ["p", "q"] } }), 0), (json!({ "actors": { "$exists": true } }), 0),
            (json!({ "actors": { "$isEmpty": true } }), 2), (json!({ "actors": { "$ne": "p" } }), 2), (json!({ "actors": { "$hasAll": [] } }), 0),
        ] {
            let reply = query(&member, "movies", json!({ "filter": filter }), json!([])).await.json();
            assert_eq!(reply["dataItems"].as_array().unwrap().len(), wants, "{filter}");
        }
        // Each sees the links to what is theirs; limits and totals count nothing else.
        let app = TestApp::new(engine).await;
        movies(&app, (OPEN, OPEN), ("SITE_MEMBER_AUTHOR", "SITE_MEMBER_AUTHOR")).await;
        let (ann, bob) = (app.member("ann@example.org").await, app.member("bob@example.org").await);
        for it in ["x", "y"] {
            insert(&ann, "actors", it).await;
        }
        insert(&bob, "actors", "z").await;
        link(&app.app(), "movies", "actors", "m", &["p", "x", "z", "q", "y"]).await;
        for (client, wants) in [(&ann, "xy"), (&bob, "z"), (&app.visitor().await, ""), (&app.app(), "pxzqy")] {
            assert_eq!(targets(client, "movies", "actors", "m").await, wants);
            assert_eq!(ids(&get(client, "movies", "m", json!([{ "field": "actors" }])).await["actors"]), wants);
            let reply = referenced(client, "movies", "actors", "m", json!({ "returnTotalCount": true, "paging": { "limit": 1 } })).await.json();
            assert_eq!((&reply["pagingMetadata"]["total"], &reply["pagingMetadata"]["hasNext"]), (&json!(wants.len()), &json!(wants.len() > 1)));
            for one in ["p", "q", "x", "y", "z"] {
                assert_eq!(is_linked(client, "movies", "actors", "m", one).await, wants.contains(one).to_string(), "{one}");
            }
        }
        let one = json!([{ "field": "actors", "limit": 1 }]);
        assert_eq!(ids(&get(&ann, "movies", "m", one.clone()).await["actors"]), "x");
        assert_eq!(ids(&get(&bob, "movies", "m", one).await["actors"]), "z");
        assert_eq!(link(&ann, "movies", "actors", "n", &["z"]).await.verdict(), "404 WDE0073");
        // A single reference to what isn't theirs tells no more than one to nothing.
        for (id, lead) in [("hidden", "z"), ("missing", "nobody")] {
            let body = json!({ "dataCollectionId": "movies", "dataItem": { "data": { "_id": id, "lead": lead } } });
            assert_eq!(app.app().post("/v2/items", &body).await.verdict(), "200");
            let reply = referenced(&ann, "movies", "lead", id, json!({})).await.json();
            assert_eq!(reply["results"][0]["unresolvedReference"]["unauthorized"], true, "{id}");
            assert_eq!(is_linked(&ann, "movies", "lead", id, lead).await, "false");
        }
        // Items that don't show refer to nothing.
        let app = TestApp::new(engine).await;
        movies(&app, ("SITE_MEMBER_AUTHOR", OPEN), (OPEN, OPEN)).await;
        link(&app.app(), "movies", "actors", "m", &["p"]).await;
        let ann = app.member("ann@example.org").await;
        assert_eq!((targets(&ann, "movies", "actors", "m").await, is_linked(&ann, "movies", "actors", "m", "p").await), (String::new(), "false".to_owned()));
        assert_eq!(targets(&ann, "actors", "movies", "p").await, "");
    }

    async fn links_do_not_dangle_after_a_race(engine) {
        let app = std::sync::Arc::new(TestApp::new(engine).await);
        movies(&app, (OPEN, OPEN), (OPEN, OPEN)).await;
        let names: Vec<String> = (0..25).map(|n| format!("a{n}")).collect();
        for it in &names {
            insert(&app.app(), "actors", it).await;
        }
        let mut race = tokio::task::JoinSet::new();
        for (n, name) in names.iter().cycle().take(100).enumerate() {
            let (app, name) = (app.clone(), name.clone());
            race.spawn(async move {
                let client = app.app();
                let source = if n % 2 == 0 { "m" } else { "n" };
                let reply = match n / 25 {
                    0 => link(&client, "movies", "actors", source, &[&name]).await,
                    1 => client.post("/v2/items/remove", &json!({ "dataCollectionId": "actors", "dataItemId": name })).await,
                    2 => link(&client, "actors", "movies", &name, &[source]).await,
                    _ => {
                        let data = json!({ "_id": format!("s{n}"), "actors": [name] });
                        let body = json!({ "dataCollectionId": "movies", "dataItem": { "data": data }, "saveReferences": true });
                        client.post("/v2/items", &body).await
                    }
                };
                let verdict = reply.verdict();
                assert!(["200", "404 WDE0073", "409 WDE0029", "503 UNAVAILABLE"].contains(&verdict.as_str()), "{verdict}");
                verdict == "200"
            });
        }
        let mut done = 0;
        while let Some(it) = race.join_next().await {
            done += usize::from(it.unwrap());
        }
        assert!(done >= 25, "{done}");
        let dangling = app.site.read(stoa_store::ReaderPool::Scan, {
            let site = app.site.number;
            move |tx| stoa_store::boxed!({
                let dialect = tx.dialect();
                let table = |number| dialect.table(stoa_sql::Table { site, number });
                let sql = format!(
                    "select count(*) from stoa.item_link l where not exists (select 1 from {} t where t.id = l.referenced) \
                     or not exists (select 1 from {} t where t.id = l.referring)", table(1), table(2)
                );
                Ok(tx.row(&sql, &[], |row| row.get::<i64>(0)).await?)
            })
        });
        assert_eq!(dangling.await.unwrap(), Some(0));
    }
}

fn base64_url(json: &Value) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let text = json.to_string();
    let mut out = String::new();
    for chunk in text.as_bytes().chunks(3) {
        let bits = chunk.iter().fold(0_u32, |all, it| all << 8 | u32::from(*it)) << (8 * (3 - chunk.len()));
        (0..=chunk.len()).for_each(|n| out.push(ALPHABET[(bits >> (18 - 6 * n) & 63) as usize] as char));
    }
    out
}
