//! Encrypted fields by URL: what is stored, who is shown what, and what can't be asked (decision 13).

use serde_json::{Value, json};
use std::path::Path;
use stoa_content::transfer::{FileOf, Format};
use stoa_kernel::Caller;
use stoa_sql::Table;
use stoa_store::outbox::Position;
use stoa_testkit::{Engine, Reply, TestApp, TestClient, on_both_engines};

mod broken;
mod declared;
mod rotated;

const OPEN: &str = "ANYONE";

fn levels(level: &str) -> Value {
    json!({ "itemRead": level, "itemInsert": level, "itemUpdate": level, "itemRemove": level })
}

fn secret(key: &str, kind: &str) -> Value {
    json!({ "key": key, "type": kind, "encrypted": true })
}

async fn make(app: &TestApp, object: Value) -> Reply {
    app.app().post("/v2/collections", &json!({ "collection": object })).await
}

/// A collection `c` that is open to everyone, with a title and a few encrypted fields.
async fn open(app: &TestApp) {
    let fields = json!([{ "key": "title", "type": "TEXT" }, secret("pin", "TEXT"), secret("card", "OBJECT"),
        secret("codes", "ARRAY_STRING"), secret("is_rich", "BOOLEAN")]);
    let reply = make(app, json!({ "id": "c", "fields": fields, "dataPermissions": levels(OPEN) })).await;
    assert_eq!(reply.verdict(), "200", "{:?}", reply.body);
}

async fn write(client: &TestClient<'_>, how: &str, data: Value) -> Reply {
    let item = json!({ "id": data["_id"], "data": data });
    client.post(&format!("/v2/items{how}"), &json!({ "dataCollectionId": "c", "dataItem": item })).await
}

async fn bulk(client: &TestClient<'_>, how: &str, items: &[Value]) -> Value {
    let items: Vec<_> = items.iter().map(|it| json!({ "id": it["_id"], "data": it })).collect();
    let body = json!({ "dataCollectionId": "c", "dataItems": items, "returnEntity": true });
    client.post(&format!("/v2/bulk/items/{how}"), &body).await.json()
}

fn modification(path: &str, action: &str, value: Value) -> Value {
    let options = match action {
        "SET_FIELD" => "setFieldOptions",
        "INCREMENT_FIELD" => "incrementFieldOptions",
        "APPEND_TO_ARRAY" => "appendToArrayOptions",
        _ => "removeFromArrayOptions",
    };
    json!({ "fieldPath": path, "action": action, options: { "value": value } })
}

async fn patch(client: &TestClient<'_>, id: &str, modifications: Value) -> Reply {
    let patch = json!({ "dataItemId": id, "fieldModifications": modifications });
    client.post("/v2/items/patch", &json!({ "dataCollectionId": "c", "patch": patch })).await
}

async fn query(client: &TestClient<'_>, query: Value) -> Reply {
    client.post("/v2/items/query", &json!({ "dataCollectionId": "c", "query": query })).await
}

async fn get(client: &TestClient<'_>, id: &str) -> Reply {
    client.get(&format!("/v2/items/{id}?dataCollectionId=c")).await
}

fn data(reply: &Reply) -> Value {
    assert_eq!(reply.verdict(), "200", "{:?}", reply.body);
    reply.json()["dataItem"]["data"].clone()
}

/// The encrypted members of an item, as `pin=…`.
fn secrets(item: &Value) -> String {
    let shown = ["pin", "card", "codes", "is_rich"].iter().filter_map(|it| Some(format!("{it}={}", item.get(it)?)));
    shown.collect::<Vec<_>>().join(" ")
}

/// Whether the text stands anywhere in what the database keeps, whichever table, index or free page.
pub(crate) async fn is_stored(app: &TestApp, engine: Engine, text: &str) -> bool {
    if engine == Engine::Sqlite {
        return stands_in(&app.kit.data(), text.as_bytes());
    }
    let url = app.kit.config.database_url.as_deref().unwrap();
    let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.unwrap();
    let connection = tokio::spawn(connection);
    let tables = "select table_schema || '.\"' || table_name || '\"' from information_schema.tables \
                  where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')";
    let mut is_there = false;
    for it in client.query(tables, &[]).await.unwrap() {
        let sql = format!("select 1 from {} t where t::text like $1 limit 1", it.get::<_, String>(0));
        is_there |= !client.query(&sql, &[&format!("%{text}%")]).await.unwrap().is_empty();
    }
    drop(client);
    connection.await.unwrap().unwrap();
    is_there
}

pub(crate) fn stands_in(path: &Path, bytes: &[u8]) -> bool {
    if path.is_dir() {
        return std::fs::read_dir(path).unwrap().any(|it| stands_in(&it.unwrap().path(), bytes));
    }
    let Ok(found) = std::fs::read(path) else { return false };
    found.windows(bytes.len()).any(|it| it == bytes)
}

/// The bodies of all events so far.
async fn events(app: &TestApp) -> Vec<Value> {
    events_behind(app, &mut Position::default()).await
}

/// Those behind a place, which moves on.
async fn events_behind(app: &TestApp, place: &mut Position) -> Vec<Value> {
    let outbox = app.site.outbox();
    let mut bodies = Vec::new();
    // On PostgreSQL transactions of other databases hold readers up: a last event tells that all were read.
    write(&app.app(), "/save", json!({ "_id": "the last", "title": "last" })).await;
    while bodies.last().is_none_or(|it: &Value| it["entityId"] != "the last") {
        let batch = outbox.read(*place, &stoa_content::event::read::KINDS, 100).await.unwrap();
        for it in &batch.entries {
            bodies.extend(app.app.content.item_events(&app.site, it).await.unwrap().into_iter().map(|it| it.body));
        }
        *place = batch.end;
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    bodies.pop();
    bodies
}

fn key() -> Caller {
    Caller::App { id: "test".into() }
}

async fn export(app: &TestApp, format: Format) -> stoa_kernel::Result<String> {
    let mut out = Vec::new();
    app.app.content.export(&app.site, &key(), FileOf { collection: "c", format }, &mut out, |_| ()).await?;
    Ok(String::from_utf8(out).unwrap())
}

async fn import(app: &TestApp, format: Format, text: &str) -> stoa_content::transfer::Counts {
    app.app
        .content
        .import(&app.site, &key(), FileOf { collection: "c", format }, text.as_bytes(), |_| ())
        .await
        .unwrap()
}

on_both_engines! {
    async fn encrypted_values_are_stored_as_ciphertext(engine) {
        let app = TestApp::new(engine).await;
        open(&app).await;
        let n = std::cell::Cell::new(0);
        let hush = || {
            n.set(n.get() + 1);
            format!("hush-{}", n.get())
        };
        for (client, name) in [(app.app(), "app"), (app.member("ann@example.org").await, "ann"), (app.visitor().await, "vic")] {
            let item = |id: &str| json!({ "_id": format!("{name}-{id}"), "title": "loud", "pin": hush(),
                "card": { "no": hush(), "deep": [{ "x": hush() }] }, "codes": [hush(), hush()] });
            let (one, two, three) = (item("1"), item("2"), item("3"));
            for (how, it) in [("", &one), ("/update", &item("1")), ("/save", &item("1")), ("/save", &two)] {
                assert_eq!(write(&client, how, it.clone()).await.verdict(), "200");
            }
            for (how, it) in [("insert", &three), ("update", &item("3")), ("save", &item("3")), ("save", &item("4"))] {
                assert_eq!(bulk(&client, how, std::slice::from_ref(it)).await["bulkActionMetadata"]["totalSuccesses"], 1);
            }
            let set = json!([modification("pin", "SET_FIELD", hush().into()), modification("card", "SET_FIELD", json!({ "a": hush() }))]);
            assert_eq!(patch(&client, &format!("{name}-1"), set.clone()).await.verdict(), "200");
            let many = json!({ "dataCollectionId": "c", "patches": [{ "dataItemId": format!("{name}-2"), "fieldModifications": set }] });
            assert_eq!(client.post("/v2/bulk/items/patch", &many).await.verdict(), "200");
            let imported = format!("{}\n{}\n", item("4"), item("5"));
            assert_eq!(import(&app, Format::JsonLines, &imported).await.updated, 1);
            let removed = json!({ "dataCollectionId": "c", "dataItemId": format!("{name}-5") });
            assert_eq!(client.post("/v2/items/remove", &removed).await.verdict(), "200");
        }
        assert!(is_stored(&app, engine, "loud").await, "what isn't encrypted is found");
        assert!(is_stored(&app, engine, "sealed:1:").await);
        assert!(!is_stored(&app, engine, "hush").await);
        for it in events(&app).await {
            assert!(!it.to_string().contains("hush") && !it.to_string().contains("sealed:"), "{it}");
        }
        // Everything comes back as it was written last.
        let found = query(&app.app(), json!({ "paging": { "limit": 100 } })).await.json();
        for it in found["dataItems"].as_array().unwrap() {
            assert_eq!(it.to_string().matches("hush").count() > 0, it["id"] != "the last", "{it}");
        }
    }

    async fn values_are_shown_to_privileged_callers_only(engine) {
        let app = TestApp::new(engine).await;
        open(&app).await;
        let (whole, none) = (r#"pin="1234" card={"no":"42","of":{"bank":"x"}} codes=["a","b"] is_rich=true"#, "");
        let item = |id: &str| json!({ "_id": id, "title": "t", "pin": "1234", "card": { "no": "42", "of": { "bank": "x" } },
            "codes": ["a", "b"], "is_rich": true });
        let askers = [(app.app(), whole), (app.owner().await, whole), (app.editor().await, none),
            (app.member("ann@example.org").await, none), (app.visitor().await, none)];
        for (n, (client, shown)) in askers.iter().enumerate() {
            let [a, b, c, d] = ["a", "b", "c", "d"].map(|it| format!("{it}{n}"));
            for (how, id) in [("", &a), ("/update", &a), ("/save", &a), ("/save", &b)] {
                let answer = data(&write(client, how, item(id)).await);
                assert_eq!((secrets(&answer).as_str(), &answer["title"]), (*shown, &json!("t")), "{how} {n}");
            }
            for (how, id) in [("insert", &c), ("update", &c), ("save", &c), ("save", &d)] {
                let answer = bulk(client, how, &[item(id)]).await;
                assert_eq!(secrets(&answer["results"][0]["dataItem"]["data"]), *shown, "{how} {n} {answer}");
            }
            let set = json!([modification("title", "SET_FIELD", json!("t")), modification("pin", "SET_FIELD", json!("1234"))]);
            assert_eq!(secrets(&data(&patch(client, &a, set.clone()).await)), *shown);
            let many = json!({ "dataCollectionId": "c", "returnEntity": true, "patches": [{ "dataItemId": b, "fieldModifications": set }] });
            assert_eq!(secrets(&client.post("/v2/bulk/items/patch", &many).await.json()["results"][0]["dataItem"]["data"]), *shown);
            assert_eq!(secrets(&data(&get(client, &a).await)), *shown);
            let body = json!({ "dataCollectionId": "c", "dataItemId": c });
            let gone = client.post("/v2/items/remove", &body).await.json();
            assert_eq!((secrets(&gone["dataItem"]["data"]).as_str(), &gone["dataItem"]["data"]["title"]), (*shown, &json!("t")));
            let body = json!({ "dataCollectionId": "c", "dataItemIds": [d], "returnEntity": true });
            let gone = client.post("/v2/bulk/items/remove", &body).await.json();
            assert_eq!(secrets(&gone["results"][0]["dataItem"]["data"]), *shown, "{gone}");
        }
        let list = |page: &Value| page["dataItems"].as_array().unwrap().iter().map(|it| it["data"].clone()).collect::<Vec<_>>();
        for (client, shown) in &askers {
            let pages = [json!({}), json!({ "filter": { "title": "t" } }), json!({ "sort": [{ "fieldName": "title" }] }),
                json!({ "paging": { "limit": 3, "offset": 1 } }), json!({ "filter": { "_id": "a1" } })];
            for it in pages {
                let found = list(&query(client, it).await.json());
                assert!(!found.is_empty() && found.iter().all(|it| secrets(it) == *shown && it["title"] == "t"), "{found:?}");
            }
            let page = query(client, json!({ "cursorPaging": { "limit": 4 } })).await.json();
            let next = query(client, json!({ "cursorPaging": { "limit": 4, "cursor": page["pagingMetadata"]["cursors"]["next"] } })).await.json();
            let back = query(client, json!({ "cursorPaging": { "limit": 4, "cursor": next["pagingMetadata"]["cursors"]["prev"] } })).await.json();
            assert_eq!((list(&page), list(&page).len(), list(&next).len()), (list(&back), 4, 4));
            for it in [&page, &next, &back] {
                assert!(list(it).iter().all(|it| secrets(it) == *shown), "{it}");
            }
            // A projection shows parts of a value to who is shown the whole.
            let parts = query(client, json!({ "fields": ["pin", "card.of", "title"], "filter": { "_id": "a1" } })).await;
            let wants = if shown.is_empty() { json!({ "_id": "a1", "title": "t" }) }
                else { json!({ "_id": "a1", "title": "t", "pin": "1234", "card": { "of": { "bank": "x" } } }) };
            assert_eq!(list(&parts.json()), [wants]);
        }
    }

    async fn values_do_not_show_through_references(engine) {
        let app = TestApp::new(engine).await;
        open(&app).await;
        let single = json!({ "reference": { "referencedCollectionId": "c" } });
        let multi = json!({ "multiReference": { "referencedCollectionId": "c", "referencingFieldKey": "near" } });
        let fields = json!([{ "key": "one", "type": "REFERENCE", "typeMetadata": single }, secret("own", "TEXT"),
            { "key": "many", "type": "MULTI_REFERENCE", "typeMetadata": multi }]);
        let made = make(&app, json!({ "id": "near", "fields": fields, "dataPermissions": levels(OPEN) })).await;
        assert_eq!(made.verdict(), "200", "{:?}", made.body);
        for id in ["p", "q"] {
            write(&app.app(), "", json!({ "_id": id, "title": id, "pin": "1234" })).await;
        }
        let item = json!({ "id": "n", "data": { "_id": "n", "one": "p", "own": "5678", "many": ["p", "q"] } });
        for (client, pin, own) in [(app.app(), json!("1234"), json!("5678")), (app.visitor().await, Value::Null, Value::Null)] {
            let body = json!({ "dataCollectionId": "near", "dataItem": item, "saveReferences": true, "includeReferencedItems": true });
            let saved = data(&client.post("/v2/items/save", &body).await);
            let included = json!({ "dataCollectionId": "near", "query": {}, "includeReferences": [{ "field": "one" }, { "field": "many" }] });
            let found = client.post("/v2/items/query", &included).await.json()["dataItems"][0]["data"].clone();
            let got = client.get("/v2/items/n?dataCollectionId=near&includeReferencedItems=one&includeReferencedItems=many").await;
            assert_eq!((&data(&got)["one"]["pin"], &data(&got)["one"]["title"]), (&pin, &json!("p")));
            for it in [saved, found] {
                assert_eq!((&it["one"]["title"], &it["one"]["pin"], &it["own"]), (&json!("p"), &pin, &own), "{it}");
                for (n, id) in ["p", "q"].iter().enumerate() {
                    assert_eq!((&it["many"][n]["_id"], &it["many"][n]["pin"]), (&json!(id), &pin), "{it}");
                }
            }
            for field in ["one", "many"] {
                for paging in [json!({}), json!({ "cursorPaging": { "limit": 5 } })] {
                    let mut body = json!({ "dataCollectionId": "near", "referringItemId": "n", "referringItemFieldName": field });
                    body.as_object_mut().unwrap().extend(paging.as_object().unwrap().clone());
                    let found = client.post("/v2/items/query-referenced", &body).await.json();
                    let shown = &found["results"][0]["dataItem"]["data"];
                    assert_eq!((&shown["title"], &shown["pin"]), (&json!("p"), &pin), "{found}");
                }
            }
            // There is no way through a reference into another collection's fields.
            for name in ["one.pin", "many.pin"] {
                let body = json!({ "dataCollectionId": "near", "query": { "filter": { name: "1234" } } });
                assert_eq!(client.post("/v2/items/query", &body).await.json()["dataItems"], json!([]));
            }
        }
    }

    async fn values_are_not_open_to_queries(engine) {
        let app = TestApp::new(engine).await;
        open(&app).await;
        write(&app.app(), "", json!({ "_id": "a", "title": "t", "pin": "1234", "codes": ["x"], "card": { "no": 1 } })).await;
        let pattern = json!({ "spec": [{ "type": "literal", "value": "1" }] });
        let filters = [
            json!({ "pin": "1234" }), json!({ "pin": { "$ne": "0" } }), json!({ "pin": { "$gt": "0" } }), json!({ "pin": null }),
            json!({ "pin": { "$exists": true } }), json!({ "pin": { "$isEmpty": false } }), json!({ "pin": { "$in": [] } }),
            json!({ "pin": { "$startsWith": "1" } }), json!({ "pin": { "$contains": "" } }), json!({ "pin": { "$endsWith": "4" } }),
            json!({ "pin": { "$matches": pattern } }), json!({ "codes": { "$hasSome": ["x"] } }), json!({ "codes": { "$hasAll": [] } }),
            json!({ "card": { "no": 1 } }), json!({ "card.no": 1 }), json!({ "card.no.deep": { "$exists": false } }),
            json!({ "$or": [{ "title": "t" }, { "pin": "1234" }] }), json!({ "$not": { "pin": "1234" } }),
            json!({ "$and": [{ "_id": { "$in": [] } }, { "$or": [{ "$not": { "card.no": 1 } }] }] }),
            json!({ "title": { "$not": { "$eq": "t" } }, "is_rich": true }),
        ];
        let named = |it: &Reply| ["pin", "codes", "card", "is_rich"].iter().any(|name| it.json()["message"].as_str().unwrap().contains(name));
        let item = json!({ "id": "a", "data": { "_id": "a", "title": "changed" } });
        for client in [app.app(), app.visitor().await] {
            for it in &filters {
                let condition = json!({ "filter": it });
                for (path, body) in [
                    ("/v2/items/query", json!({ "query": { "filter": it } })),
                    ("/v2/items/query", json!({ "query": { "filter": it, "cursorPaging": { "limit": 5 } } })),
                    ("/v2/items/count", json!({ "filter": it })),
                    ("/v2/items/query-distinct-values", json!({ "fieldName": "title", "filter": it })),
                    ("/v2/items/update", json!({ "dataItem": item, "condition": condition })),
                    ("/v2/items/patch", json!({ "patch": { "dataItemId": "a" }, "condition": condition })),
                    ("/v2/items/remove", json!({ "dataItemId": "a", "condition": condition })),
                    ("/v2/bulk/items/update", json!({ "dataItems": [item], "condition": condition })),
                    ("/v2/bulk/items/patch", json!({ "patches": [{ "dataItemId": "a" }], "condition": condition })),
                    ("/v2/bulk/items/remove", json!({ "dataItemIds": ["a"], "condition": condition })),
                ] {
                    let mut body = body;
                    body["dataCollectionId"] = "c".into();
                    let reply = client.post(path, &body).await;
                    assert_eq!(reply.verdict(), "428 WDE0119", "{path} {it}");
                    assert!(named(&reply), "{:?}", reply.body);
                }
            }
            for name in ["pin", "codes", "card.no"] {
                for sort in [json!([{ "fieldName": name }]), json!([{ "fieldName": "_id" }, { "fieldName": name, "order": "DESC" }])] {
                    assert_eq!(query(&client, json!({ "sort": sort })).await.verdict(), "428 WDE0119");
                    assert_eq!(query(&client, json!({ "sort": sort, "cursorPaging": {} })).await.verdict(), "428 WDE0119");
                }
                let body = json!({ "dataCollectionId": "c", "fieldName": name });
                assert_eq!(client.post("/v2/items/query-distinct-values", &body).await.verdict(), "428 WDE0119");
                let body = json!({ "dataCollectionId": "c", "query": {}, "includeReferences": [{ "field": name }] });
                assert_ne!(client.post("/v2/items/query", &body).await.verdict(), "200");
            }
        }
        assert_eq!(data(&get(&app.app(), "a").await)["title"], "t", "nothing was written");
    }

    async fn patches_set_and_remove_whole_values(engine) {
        let app = TestApp::new(engine).await;
        open(&app).await;
        for client in [app.app(), app.visitor().await] {
            write(&app.app(), "/save", json!({ "_id": "a", "title": "t", "pin": "1234", "codes": ["x"], "card": { "n": 1 }, "is_rich": true })).await;
            for it in [
                modification("card.n", "SET_FIELD", json!(2)), modification("card.n", "INCREMENT_FIELD", json!(1)),
                json!({ "fieldPath": "card.n", "action": "REMOVE_FIELD" }), modification("card", "INCREMENT_FIELD", json!(1)),
                modification("codes", "APPEND_TO_ARRAY", json!("y")), modification("codes", "REMOVE_FROM_ARRAY", json!("x")),
                modification("pin.x", "APPEND_TO_ARRAY", json!("y")), modification("pin", "APPEND_TO_ARRAY", json!(1)),
            ] {
                let reply = patch(&client, "a", json!([modification("title", "SET_FIELD", json!("no")), it])).await;
                assert_eq!(reply.verdict(), "428 WDE0119", "{it}");
            }
            let list = json!([modification("pin", "SET_FIELD", json!("new")), json!({ "fieldPath": "codes", "action": "REMOVE_FIELD" }),
                json!({ "fieldPath": "is_rich", "action": "SET_FIELD", "setFieldOptions": {} })]);
            assert_eq!(patch(&client, "a", list).await.verdict(), "200");
            let item = data(&get(&app.app(), "a").await);
            assert_eq!((secrets(&item).as_str(), &item["title"]), (r#"pin="new" card={"n":1}"#, &json!("t")));
            assert_eq!(patch(&client, "a", json!([modification("pin", "SET_FIELD", Value::Null)])).await.verdict(), "200");
            assert_eq!(data(&get(&app.app(), "a").await)["pin"], Value::Null);
        }
    }

    async fn values_hidden_from_a_writer_are_kept(engine) {
        let app = TestApp::new(engine).await;
        open(&app).await;
        let (visitor, ann, key) = (app.visitor().await, app.member("ann@example.org").await, app.app());
        write(&key, "", json!({ "_id": "a", "title": "t", "pin": "1234", "codes": null, "card": { "n": 1 } })).await;
        // Read, changed, written back: by each way that replaces an item whole.
        for (n, client) in [&visitor, &ann].into_iter().enumerate() {
            let mut item = data(&get(client, "a").await);
            item["title"] = json!(format!("by {n}"));
            for how in ["/update", "/save"] {
                assert_eq!(write(client, how, item.clone()).await.verdict(), "200");
            }
            for how in ["update", "save"] {
                assert_eq!(bulk(client, how, &[item.clone(), item.clone()]).await["bulkActionMetadata"]["totalSuccesses"], 2);
            }
            let found = data(&get(&key, "a").await);
            assert_eq!((secrets(&found).as_str(), &found["title"]), (r#"pin="1234" card={"n":1} codes=null"#, &item["title"]));
        }
        // What is sent counts, null too.
        write(&visitor, "/update", json!({ "_id": "a", "pin": "new", "card": null })).await;
        assert_eq!(secrets(&data(&get(&key, "a").await)), r#"pin="new" card=null codes=null"#);
        // For who sees it, what isn't sent is gone, as of any field.
        write(&key, "/update", json!({ "_id": "a", "title": "t" })).await;
        assert_eq!(secrets(&data(&get(&key, "a").await)), "");
        write(&visitor, "/update", json!({ "_id": "a", "title": "u" })).await;
        assert_eq!(secrets(&data(&get(&key, "a").await)), "");
    }

    async fn rules_check_the_plaintext(engine) {
        let app = TestApp::new(engine).await;
        let fields = json!([
            { "key": "title", "type": "TEXT" },
            { "key": "pin", "type": "TEXT", "encrypted": true, "required": true, "stringLengthRange": { "minLength": 4, "maxLength": 6 } },
            { "key": "birth", "type": "NUMBER", "encrypted": true, "immutable": true },
            { "key": "rank", "type": "NUMBER", "encrypted": true, "readOnly": true, "required": true },
            { "key": "note", "type": "TEXT", "encrypted": true, "typeMetadata": { "text": { "defaultValue": "hush" } } },
        ]);
        let made = make(&app, json!({ "id": "c", "strictMode": true, "fields": fields, "dataPermissions": levels(OPEN) })).await;
        assert_eq!(made.verdict(), "200", "{:?}", made.body);
        let (key, visitor) = (app.app(), app.visitor().await);
        for (pin, verdict) in [(json!("123"), "400 WDE0075"), (json!("1234567"), "400 WDE0075"), (json!(12345), "400 WDE0075"),
            (Value::Null, "400 WDE0075"), (json!("1234"), "200")] {
            assert_eq!(write(&key, "/save", json!({ "_id": "a", "pin": pin, "birth": 1990, "rank": 1 })).await.verdict(), verdict, "{pin}");
        }
        let stored = async || data(&get(&key, "a").await);
        assert_eq!(stored().await["note"], "hush", "a default is sealed and shown like any value");
        // Who isn't shown them sends none, and nothing is missing.
        assert_eq!(write(&visitor, "/update", json!({ "_id": "a", "title": "t" })).await.verdict(), "200");
        assert_eq!(write(&visitor, "/update", json!({ "_id": "a", "pin": "12345" })).await.verdict(), "200");
        assert_eq!(write(&visitor, "/update", json!({ "_id": "a", "pin": "1" })).await.verdict(), "400 WDE0075");
        assert_eq!(patch(&visitor, "a", json!([{ "fieldPath": "pin", "action": "REMOVE_FIELD" }])).await.verdict(), "400 WDE0075");
        let item = stored().await;
        assert_eq!((&item["pin"], &item["birth"], &item["rank"], &item["note"]), (&json!("12345"), &json!(1990), &json!(1), &json!("hush")));
        // Whether a guess is right can't be found out by sending it.
        for (name, guesses) in [("birth", [json!(1990), json!(1991), Value::Null]), ("rank", [json!(1), json!(2), Value::Null])] {
            for it in guesses {
                assert_eq!(write(&visitor, "/update", json!({ "_id": "a", name: it })).await.verdict(), "400 WDE0075", "{name} {it}");
                let set = json!([modification(name, "SET_FIELD", it.clone())]);
                assert_eq!(patch(&visitor, "a", set).await.verdict(), "400 WDE0075", "{name} {it}");
            }
        }
        // Who is shown it may write it back, and an immutable one stays when it isn't sent.
        let whole = stored().await;
        assert_eq!(write(&key, "/update", whole.clone()).await.verdict(), "200");
        assert_eq!(write(&key, "/update", json!({ "_id": "a", "pin": "1234", "rank": 2 })).await.verdict(), "200");
        let item = stored().await;
        assert_eq!((&item["birth"], &item["rank"], item.get("note")), (&json!(1990), &json!(2), None));
        assert_eq!(write(&key, "/update", json!({ "_id": "a", "pin": "1234", "rank": 2, "birth": 1991 })).await.verdict(), "400 WDE0075");
        assert!(!is_stored(&app, engine, "1234").await);
    }

    async fn events_name_a_field_and_not_its_value(engine) {
        let app = TestApp::new(engine).await;
        open(&app).await;
        let (key, visitor) = (app.app(), app.visitor().await);
        write(&key, "", json!({ "_id": "a", "title": "t", "pin": "hush" })).await;
        write(&key, "/update", json!({ "_id": "a", "title": "u", "pin": "hush" })).await;
        write(&visitor, "/update", json!({ "_id": "a", "title": "v" })).await;
        write(&visitor, "/update", json!({ "_id": "a", "title": "v", "pin": "hush" })).await;
        write(&visitor, "/update", json!({ "_id": "a", "title": "v", "pin": "hush hush" })).await;
        patch(&key, "a", json!([{ "fieldPath": "pin", "action": "REMOVE_FIELD" }])).await;
        import(&app, Format::JsonLines, r#"{"_id":"b","title":"imported","pin":"hush"}"#).await;
        let events = events(&app).await;
        let modified: Vec<_> = events.iter().filter_map(|it| it["updatedEvent"].get("modifiedFields")).cloned().collect();
        assert_eq!(modified, [json!({ "title": "u" }), json!({ "title": "v" }), json!({}), json!({ "pin": null }), json!({ "pin": null })]);
        assert_eq!(events.len(), 7);
        assert_eq!(events[6]["createdEvent"]["entity"]["data"]["title"], "imported");
        for it in &events {
            assert!(!it.to_string().contains("hush") && !it.to_string().contains("sealed:"), "{it}");
        }
        assert!(!is_stored(&app, engine, "hush").await);
    }

    async fn exports_are_plaintext_and_imports_encrypt(engine) {
        let app = TestApp::new(engine).await;
        open(&app).await;
        for n in 0..3 {
            write(&app.app(), "", json!({ "_id": format!("i{n}"), "title": "t", "pin": format!("=hush {n}"), "card": { "n": n }, "codes": ["a"], "is_rich": n == 1 })).await;
        }
        for format in [Format::JsonLines, Format::Json, Format::Csv] {
            let text = export(&app, format).await.unwrap();
            assert!(text.contains("hush 2") && !text.contains("sealed:"), "{text}");
            let other = TestApp::new(engine).await;
            open(&other).await;
            let counts = import(&other, format, &text).await;
            assert_eq!((counts.inserted, counts.failed), (3, 0), "{format:?}");
            assert_eq!(export(&other, format).await.unwrap(), text, "{format:?}");
            assert_eq!(import(&other, format, &text).await.updated, 3);
            assert!(!is_stored(&other, engine, "hush").await, "{format:?}");
            assert_eq!(secrets(&data(&get(&other.visitor().await, "i1").await)), "");
        }
        let editor = app.editor().await;
        assert_eq!(secrets(&data(&get(&editor, "i1").await)), "");
    }

    async fn items_keep_their_values_under_a_new_owner(engine) {
        let app = TestApp::new(engine).await;
        open(&app).await;
        let visitor = app.visitor().await;
        write(&visitor, "", json!({ "_id": "a", "title": "t", "pin": "hush" })).await;
        let body = json!({ "loginId": { "email": "vic@example.org" }, "password": "correct horse battery" });
        let member = visitor.post("/v2/register", &body).await.json()["identity"]["id"].as_str().unwrap().to_owned();
        let grant = json!({ "grant_type": "authorized_client", "scope": "offline_access", "member_id": member });
        let both = app.with_token(&format!("{},{}", visitor.token, app.app().token));
        assert_eq!(both.post("/oauth2/token", &grant).await.verdict(), "200");
        let item = data(&get(&app.app(), "a").await);
        assert_eq!((&item["_owner"], &item["pin"]), (&json!(member), &json!("hush")));
        let events = events(&app).await;
        assert_eq!(events[1]["updatedEvent"]["modifiedFields"], json!({ "_owner": member }));
        assert_eq!(events[1]["updatedEvent"]["currentEntity"]["data"].get("pin"), None);
        assert!(!is_stored(&app, engine, "hush").await);
    }
}

/// The name of the items' table of `c`, the first collection.
fn table(app: &TestApp) -> String {
    app.site.dialect().table(Table { site: app.site.number, number: 1 })
}
