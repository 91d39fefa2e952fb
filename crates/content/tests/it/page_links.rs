//! Page links of items: calculated wherever items are shown, by rules that nobody who writes items gets around.

use crate::{common::*, search_job::number};
use serde_json::{Value, json};
use stoa_content::{
    GetRequest, Request,
    transfer::{Event, FileOf, Format},
};
use stoa_kernel::{Caller, Result};
use stoa_sql::{Table, params};
use stoa_store::{ReaderPool, boxed};
use stoa_testkit::{Engine, on_both_engines};

/// A page link by this pattern, with lower-case letters.
pub fn link(key: &str, pattern: &str) -> Value {
    let calculator = json!({ "fieldsPattern": { "pattern": pattern, "lowercase": true } });
    json!({ "key": key, "type": "PAGE_LINK", "typeMetadata": { "pageLink": { "calculator": calculator } } })
}

pub fn editable(is_mutable: bool) -> Value {
    let options = json!({ "isPersisted": true, "isMutable": is_mutable });
    json!({ "type": "EDITABLE_PAGE_LINK", "editablePageLinkOptions": options })
}

fn urlized(format: &str) -> Value {
    json!({ "type": "URLIZED", "urlizedOptions": { "format": format } })
}

/// A collection `c` with a link of the title, open to everyone, with these members of its definition beside that.
async fn world(engine: Engine, members: Value) -> World {
    let levels =
        json!({ "itemRead": "ANYONE", "itemInsert": "ANYONE", "itemUpdate": "ANYONE", "itemRemove": "ANYONE" });
    let fields = json!([
        { "key": "title", "type": "TEXT" }, { "key": "n", "type": "NUMBER" }, { "key": "tags", "type": "ARRAY_STRING" },
        link("link", "/p/{title}"),
    ]);
    let mut definition = json!({ "dataPermissions": levels, "fields": fields });
    members.as_object().unwrap().iter().for_each(|(name, it)| definition[name.as_str()] = it.clone());
    let world = World::new(engine).await;
    world.create_with("c", definition).await;
    world
}

async fn import(world: &World, text: &str) -> Vec<String> {
    let mut refused = Vec::new();
    let tell = |it: Event<'_>| {
        if let Event::Refused { line, fault } = it {
            refused.push(format!("{line}: {}", fault.code().name()));
        }
    };
    let file = FileOf { collection: "c", format: Format::JsonLines };
    world.content.import(&world.site, &app(), file, text.as_bytes(), tell).await.unwrap();
    refused
}

async fn export(world: &World, format: Format) -> String {
    let mut out = Vec::new();
    world.content.export(&world.site, &app(), FileOf { collection: "c", format }, &mut out, |_| ()).await.unwrap();
    String::from_utf8(out).unwrap()
}

async fn patch(world: &World, caller: &Caller, id: &str, modification: Value) -> Result<Value> {
    let patch = json!({ "dataItemId": id, "fieldModifications": [modification] });
    let body = json!({ "dataCollectionId": "c", "patch": patch }).to_string();
    let item = world.content.item_patch(&world.site, caller, &Request::parse(body.as_bytes())?).await?;
    Ok(serde_json::from_str(&item.doc).unwrap())
}

fn set(field: &str, value: Value) -> Value {
    json!({ "fieldPath": field, "action": "SET_FIELD", "setFieldOptions": { "value": value } })
}

/// What is stored of the link of an item.
async fn stored(world: &World, id: &str) -> Value {
    let table = Table { site: world.site.number, number: number(world).await.unwrap() };
    let (sql, id) = (format!("select doc from {} where id = $1", world.site.dialect().table(table)), id.to_owned());
    let read = world.site.read(ReaderPool::Point, move |tx| {
        boxed!(Ok(tx.row(&sql, &params![id], |row| Ok(row.doc(0)?.into_owned())).await?))
    });
    let document: Value = serde_json::from_str(&read.await.unwrap().unwrap()).unwrap();
    document["link"].clone()
}

on_both_engines! {
    async fn links_are_shown_wherever_items_are(engine) {
        let world = world(engine, json!({})).await;
        let (content, site, visitor) = (&world.content, &world.site, visitor("v"));
        for (id, title) in [("a", "Red Shoes"), ("b", "Grün"), ("c", "")] {
            let made = world.insert(&visitor, json!({ "_id": id, "title": title })).await.unwrap();
            let expected = match id { "a" => json!("/p/red-shoes"), "b" => json!("/p/gr%C3%BCn"), _ => Value::Null };
            assert_eq!(made["link"], expected, "an insert answers it");
            assert_eq!(world.get(&visitor, id).await.unwrap(), made);
        }
        let updated = world.update(&visitor, json!({ "_id": "a", "title": "Blue" }), None).await.unwrap();
        assert_eq!(updated["link"], "/p/blue");
        let (saved, _) = world.save(&visitor, json!({ "_id": "a", "title": "Red" })).await.unwrap();
        assert_eq!(saved["link"], "/p/red");
        assert_eq!(patch(&world, &visitor, "a", set("title", json!("Red Shoes"))).await.unwrap()["link"], "/p/red-shoes");

        let found = |page: stoa_content::Page| serde_json::from_str::<Vec<Value>>(&format!("[{}]", page.elements)).unwrap();
        let query = json!({ "sort": [{ "fieldName": "_id" }], "paging": { "limit": 2 } });
        let items = found(world.page(&visitor, json!({ "dataCollectionId": "c", "query": query })).await.unwrap());
        assert_eq!(items[0]["data"]["link"], "/p/red-shoes");
        assert_eq!(items[1]["data"]["link"], "/p/gr%C3%BCn");
        // Of a projection that lacks what it is made of, too.
        let query = json!({ "filter": { "_id": "a" }, "fields": ["link"] });
        let items = found(world.page(&visitor, json!({ "dataCollectionId": "c", "query": query })).await.unwrap());
        assert_eq!(items[0]["data"], json!({ "_id": "a", "link": "/p/red-shoes" }));
        let query = json!({ "filter": { "_id": "a" }, "fields": ["title"] });
        let items = found(world.page(&visitor, json!({ "dataCollectionId": "c", "query": query })).await.unwrap());
        assert_eq!(items[0]["data"], json!({ "_id": "a", "title": "Red Shoes" }));
        let request = GetRequest { collection: "c".into(), id: "a".into(), fields: vec!["link".into()], ..GetRequest::default() };
        let item: Value = serde_json::from_str(&content.item_get(site, &visitor, &request).await.unwrap().doc).unwrap();
        assert_eq!(item, json!({ "_id": "a", "link": "/p/red-shoes" }));

        let search = json!({ "dataCollectionId": "c", "search": { "filter": { "_id": "a" } } });
        let items = found(content.item_search(site, &visitor, None, &members(search)).await.unwrap());
        assert_eq!(items[0]["data"]["link"], "/p/red-shoes");
        let pipeline = json!({ "dataCollectionId": "c", "pipeline": { "stages": [{ "filter": { "_id": "a" } }] } });
        let rows = content.item_aggregate_pipeline(site, &visitor, None, &members(pipeline)).await.unwrap();
        assert_eq!(found(rows)[0]["link"], "/p/red-shoes");

        let field = json!({ "key": "one", "type": "REFERENCE", "typeMetadata": { "reference": { "referencedCollectionId": "c" } } });
        let object = json!({ "id": "shelf", "fields": [field], "dataPermissions": { "itemRead": "ANYONE" } });
        content.collection_create(site, &owner(), &object).await.unwrap();
        let mut body = single(json!({ "_id": "s", "one": "a" }));
        body["dataCollectionId"] = json!("shelf");
        content.item_insert(site, &app(), &Request::parse(body.to_string().as_bytes()).unwrap()).await.unwrap();
        let include = json!({ "dataCollectionId": "shelf", "query": {}, "includeReferences": [{ "field": "one" }] });
        assert_eq!(found(world.page(&visitor, include).await.unwrap())[0]["data"]["one"]["link"], "/p/red-shoes");

        let mut sent = many([json!({ "_id": "d", "title": "New" })]);
        sent["returnEntity"] = json!(true);
        let bulk = world.bulk(&visitor, "insert", &sent).await.unwrap();
        let answered: Value = serde_json::from_str(&bulk[0].item.as_ref().unwrap().doc).unwrap();
        assert_eq!(answered["link"], "/p/new");
        assert_eq!(world.remove(&visitor, "d", None).await.unwrap().unwrap()["link"], "/p/new");
        let lines = export(&world, Format::JsonLines).await;
        assert!(lines.contains(r#""link":"/p/red-shoes""#), "{lines}");
        assert!(export(&world, Format::Csv).await.contains("/p/red-shoes"));
    }

    async fn links_are_told_as_they_are_shown(engine) {
        let world = world(engine, json!({ "logOldValues": true })).await;
        world.insert(&app(), json!({ "_id": "a", "title": "Red", "n": 1 })).await.unwrap();
        world.update(&app(), json!({ "_id": "a", "title": "Blue", "n": 1 }), None).await.unwrap();
        world.update(&app(), json!({ "_id": "a", "title": "Blue", "n": 2 }), None).await.unwrap();
        world.remove(&app(), "a", None).await.unwrap();
        let rows = world.outbox().await;
        assert_eq!(rows[0].1["items"][0]["link"], "/p/red");
        assert_eq!(rows[1].1["items"][0]["link"], "/p/blue");
        let mut modified: Vec<_> = rows[1].1["modified"][0].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
        modified.sort_unstable();
        assert_eq!(modified, ["link", "title"]);
        assert_eq!((&rows[1].1["old"][0]["link"], &rows[1].1["old"][0]["title"]), (&json!("/p/red"), &json!("Red")));
        assert_eq!(rows[2].1["modified"], json!([["n"]]));
        assert_eq!(rows[3].1["old"][0]["link"], "/p/blue");
        // An import names its items, which readers of the log then look up.
        assert_eq!(import(&world, r#"{"_id":"i","title":"Im Port"}"#).await, Vec::<String>::new());
        let (mut events, made) = (Vec::new(), world.log().await.len());
        for entry in &world.entries(&world.site, made).await {
            events.extend(world.content.item_events(&world.site, entry).await.unwrap());
        }
        let bodies: Vec<String> = events.iter().map(|it| it.body.to_string()).collect();
        for (n, link) in ["/p/red", "/p/blue", "/p/blue"].into_iter().enumerate() {
            assert!(bodies[n].contains(&format!("\"link\":\"{link}\"")), "{}", bodies[n]);
        }
        assert!(bodies.last().unwrap().contains("\"link\":\"/p/im-port\""), "{bodies:?}");
    }

    async fn what_writers_send_counts_for_nothing(engine) {
        let world = world(engine, json!({})).await;
        for caller in [visitor("v"), owner(), app()] {
            let (saved, _) = world.save(&caller, json!({ "_id": "a", "title": "x", "link": "//evil.example" })).await.unwrap();
            assert_eq!(saved["link"], "/p/x");
            let updated = world.update(&caller, json!({ "_id": "a", "title": "y", "link": 7 }), None).await.unwrap();
            assert_eq!(updated["link"], "/p/y");
            for modification in [set("link", json!("/mine")), set("link.a", json!(1)), json!({ "fieldPath": "link", "action": "REMOVE_FIELD" })] {
                let fault = patch(&world, &caller, "a", modification).await.expect_err("a refusal");
                assert_eq!((fault.code().name(), fault.violations()[0].field.as_str()), ("WDE0075", "link"));
            }
            let sent = many([json!({ "_id": "b", "title": "z", "link": "/mine" })]);
            world.bulk(&caller, "save", &sent).await.unwrap();
            assert_eq!(world.get(&caller, "b").await.unwrap()["link"], "/p/z");
        }
        assert_eq!(import(&world, r#"{"_id":"i","title":"Im Port","link":"/other"}"#).await, Vec::<String>::new());
        assert_eq!(world.get(&app(), "i").await.unwrap()["link"], "/p/im-port");
        for id in ["a", "b", "i"] {
            assert_eq!(stored(&world, id).await, Value::Null, "nothing of it is stored");
        }
        // Read, changed and sent back, an item has no other link than its own.
        let mut item = world.get(&visitor("v"), "a").await.unwrap();
        item["title"] = json!("Once More");
        assert_eq!(world.update(&visitor("v"), item, None).await.unwrap()["link"], "/p/once-more");
    }

    async fn nothing_is_asked_of_links(engine) {
        let world = world(engine, json!({})).await;
        let (content, site, app) = (&world.content, &world.site, app());
        world.insert(&app, json!({ "_id": "a", "title": "x" })).await.unwrap();
        for plugins in [json!([]), json!([editable(false)]), json!([editable(true)])] {
            content.collection_patch(site, &owner(), &json!({ "id": "c", "plugins": plugins })).await.unwrap();
            let collection = content.collection_get(site, &owner(), "c", &[], false).await.unwrap();
            let field = collection["fields"].as_array().unwrap().iter().find(|it| it["key"] == "link").unwrap();
            assert_eq!(field["capabilities"], json!({ "sortable": false, "queryOperators": [] }));
            for query in [
                json!({ "filter": { "link": "/p/x" } }), json!({ "filter": { "link": { "$exists": true } } }),
                json!({ "filter": { "$or": [{ "n": 1 }, { "$not": { "link": { "$startsWith": "/" } } }] } }),
                json!({ "filter": { "link.a": 1 } }), json!({ "sort": [{ "fieldName": "link" }] }),
            ] {
                assert_eq!(code(world.ids(&app, query.clone()).await), "WDE0119", "{query}");
            }
            assert_eq!(code(world.count(&app, json!({ "link": "/p/x" })).await), "WDE0119");
            let distinct = json!({ "dataCollectionId": "c", "fieldName": "link" });
            assert_eq!(code(content.item_distinct(site, &app, None, &members(distinct)).await), "WDE0119");
            for stage in [
                json!({ "group": { "groupIds": [{ "key": "l", "expression": { "fieldPath": "link" } }] } }),
                json!({ "filter": { "link": "/p/x" } }),
            ] {
                let pipeline = json!({ "dataCollectionId": "c", "pipeline": { "stages": [{ "skip": 1 }, stage] } });
                let refused = content.item_aggregate_pipeline(site, &app, None, &members(pipeline)).await;
                assert_eq!(code(refused), "WDE0119", "{stage}");
            }
            let condition = world.update(&app, json!({ "_id": "a", "title": "x" }), Some(json!({ "link": "/p/x" }))).await;
            assert_eq!(code(condition), "WDE0119");
            let index = json!({ "name": "i", "fields": [{ "path": "link" }] });
            assert_eq!(code(content.index_create(site, &owner(), "c", &index).await), "WDE0119");
            let search = json!({ "dataCollectionId": "c", "search": { "search": { "expression": "x", "fields": ["link"] } } });
            assert_eq!(code(content.item_search(site, &app, None, &members(search)).await), "WDE0147");
        }
    }

    async fn links_lead_back_to_their_items(engine) {
        let world = world(engine, json!({})).await;
        let titles = ["Red Shoes", "a  b\tc", " edge ", "x-y z", "Straße İstanbul", "ΟΔΟΣ", "東京 Tower", "שלום עולם", "50% / 2?"];
        for (n, title) in titles.iter().enumerate() {
            world.insert(&app(), json!({ "_id": n.to_string(), "title": title })).await.unwrap();
        }
        for (n, title) in titles.iter().enumerate() {
            let link = world.get(&visitor("v"), &n.to_string()).await.unwrap()["link"].as_str().unwrap().to_owned();
            // As the router of the client looks for an item by a part of an address.
            let bytes: Vec<u8> = decoded(link.strip_prefix("/p/").unwrap());
            let part = String::from_utf8(bytes).unwrap();
            let mut spec = Vec::new();
            for (n, literal) in part.split('-').enumerate() {
                if n > 0 {
                    spec.push(json!({ "type": "anyOf", "value": " \t\n-" }));
                }
                if !literal.is_empty() {
                    spec.push(json!({ "type": "literal", "value": literal }));
                }
            }
            let filter = json!({ "title": { "$matches": { "ignoreCase": true, "spec": spec } } });
            assert_eq!(world.ids(&visitor("v"), json!({ "filter": filter })).await.unwrap(), [n.to_string()], "{title}");
        }
    }

    async fn plugins_and_patterns_count_for_all_items_at_once(engine) {
        let world = world(engine, json!({})).await;
        let (content, site) = (&world.content, &world.site);
        world.insert(&app(), json!({ "_id": "a", "title": "Red Shoes", "n": 7 })).await.unwrap();
        let shown = async || world.get(&visitor("v"), "a").await.unwrap()["link"].clone();
        for (format, expected) in [("PLAIN", "/p/Red%20Shoes"), ("ORIGINAL", "/p/red-shoes"), ("UNKNOWN_FORMAT", "/p/red-shoes")] {
            let patch = json!({ "id": "c", "plugins": [urlized(format)] });
            content.collection_patch(site, &owner(), &patch).await.unwrap();
            assert_eq!(shown().await, expected, "{format}");
        }
        content.plugin_delete(site, &owner(), "c", "URLIZED", None).await.unwrap();
        for (calculator, expected) in [
            (json!({ "fieldsPattern": { "pattern": "/q/{title}/{n}" } }), json!("/q/Red-Shoes/7")),
            (json!({ "urlizedOnlyPattern": { "pattern": "/q/{title}" } }), json!("/q/Red%20Shoes")),
            (json!({ "fieldsPattern": { "pattern": "/all" } }), json!("/all")),
            (json!(null), Value::Null),
        ] {
            let field = json!({ "key": "link", "type": "PAGE_LINK", "typeMetadata": { "pageLink": { "calculator": calculator } } });
            content.field_update(site, &owner(), "c", &field, false).await.unwrap();
            assert_eq!(shown().await, expected, "{calculator}");
        }
        // Without a calculator it is a text like others.
        world.update(&visitor("v"), json!({ "_id": "a", "title": "x", "link": "anything" }), None).await.unwrap();
        assert_eq!(world.ids(&visitor("v"), json!({ "filter": { "link": "anything" } })).await.unwrap(), ["a"]);
        content.field_update(site, &owner(), "c", &link("link", "/p/{title}"), false).await.unwrap();
        assert_eq!(shown().await, "/p/x", "what it held counts no more");
        content.plugin_add(site, &owner(), "c", &editable(true), None).await.unwrap();
        assert_eq!(shown().await, "/p/x", "a text that is no path is no link");
    }

    async fn persisted_links_stay_while_items_change(engine) {
        let world = world(engine, json!({})).await;
        let (content, site, visitor) = (&world.content, &world.site, visitor("v"));
        world.insert(&visitor, json!({ "_id": "old", "title": "Old" })).await.unwrap();
        content.plugin_add(site, &owner(), "c", &editable(false), None).await.unwrap();
        assert_eq!(world.get(&visitor, "old").await.unwrap()["link"], "/p/old", "items from before have the calculated one");
        world.insert(&visitor, json!({ "_id": "a", "title": "First", "link": "/mine" })).await.unwrap();
        assert_eq!(stored(&world, "a").await, "/p/first");
        for sent in [json!({ "_id": "a", "title": "Second" }), json!({ "_id": "a", "title": "Third", "link": "/mine" }), json!({ "_id": "a", "title": "Fourth", "link": null })] {
            assert_eq!(world.update(&visitor, sent, None).await.unwrap()["link"], "/p/first");
        }
        assert_eq!(patch(&world, &visitor, "a", set("title", json!("Fifth"))).await.unwrap()["link"], "/p/first");
        assert_eq!(code(patch(&world, &visitor, "a", set("link", json!("/mine"))).await), "WDE0075");
        assert_eq!(world.get(&visitor, "a").await.unwrap()["title"], "Fifth");
        world.update(&visitor, json!({ "_id": "old", "title": "Newer" }), None).await.unwrap();
        assert_eq!(stored(&world, "old").await, "/p/newer", "and store the one of their first write");
        // A link that couldn't be made is made when it can be.
        world.insert(&visitor, json!({ "_id": "b" })).await.unwrap();
        assert_eq!(world.get(&visitor, "b").await.unwrap().get("link"), None);
        assert_eq!(world.update(&visitor, json!({ "_id": "b", "title": "Late" }), None).await.unwrap()["link"], "/p/late");
        // The pattern changes, links that were given out don't.
        content.field_update(site, &owner(), "c", &link("link", "/q/{title}"), false).await.unwrap();
        assert_eq!(world.get(&visitor, "a").await.unwrap()["link"], "/p/first");
        assert_eq!(world.insert(&visitor, json!({ "title": "New" })).await.unwrap()["link"], "/q/new");
        content.plugin_delete(site, &owner(), "c", "EDITABLE_PAGE_LINK", None).await.unwrap();
        assert_eq!(world.get(&visitor, "a").await.unwrap()["link"], "/q/fifth");
        // To delete the plugin takes no address away.
        world.update(&visitor, json!({ "_id": "a", "title": "Sixth", "link": "/mine" }), None).await.unwrap();
        assert_eq!(world.get(&visitor, "a").await.unwrap()["link"], "/q/sixth");
        content.plugin_add(site, &owner(), "c", &editable(false), None).await.unwrap();
        assert_eq!(world.get(&visitor, "a").await.unwrap()["link"], "/p/first");
    }

    async fn mutable_links_are_set_to_paths_and_nothing_else(engine) {
        let world = world(engine, json!({ "plugins": [editable(true)] })).await;
        let visitor = visitor("v");
        let made = world.insert(&visitor, json!({ "_id": "a", "title": "First", "link": "/sale/shoes" })).await.unwrap();
        assert_eq!(made["link"], "/sale/shoes");
        for (sent, expected) in [
            (json!({ "_id": "a", "title": "Second" }), "/sale/shoes"),
            (json!({ "_id": "a", "title": "Second", "link": null }), "/p/second"),
            (json!({ "_id": "a", "title": "Third", "link": "/p/second" }), "/p/second"),
            (json!({ "_id": "a", "title": "Third", "link": "" }), "/p/third"),
            (json!({ "_id": "a", "title": "Third", "link": "/gr%C3%BCn/x" }), "/gr%C3%BCn/x"),
        ] {
            assert_eq!(world.update(&visitor, sent.clone(), None).await.unwrap()["link"], expected, "{sent}");
        }
        assert_eq!(patch(&world, &visitor, "a", set("link", json!("/patched"))).await.unwrap()["link"], "/patched");
        for wrong in [
            json!("//evil.example"), json!("https://evil.example/"), json!("javascript:alert(1)"), json!("/a/../b"), json!("/%2e%2E/b"),
            json!("/a?b"), json!("/a#b"), json!("/a b"), json!("/grün"), json!("/a\\b"), json!("/a\u{202e}b"), json!("a"), json!("/"), json!("/%FF"), json!("/%C3"), json!("/%0D%0Aa"), json!("/%E2%80%AEa"),
            json!(format!("/{}", "a".repeat(2_048))), json!(7), json!(true), json!(["/a"]), json!({ "a": "/a" }),
        ] {
            let fault = world.update(&visitor, json!({ "_id": "a", "link": wrong }), None).await.expect_err("a refusal");
            assert_eq!((fault.code().name(), fault.violations()[0].field.as_str()), ("WDE0075", "link"), "{wrong}");
            assert_eq!(code(patch(&world, &visitor, "a", set("link", wrong.clone())).await), "WDE0075", "{wrong}");
            assert_eq!(code(world.insert(&visitor, json!({ "link": wrong })).await), "WDE0075", "{wrong}");
        }
        assert_eq!(import(&world, "{\"_id\":\"i\",\"link\":\"/kept\"}\n{\"_id\":\"j\",\"link\":\"no path\"}").await, ["2: WDE0075"]);
        assert_eq!(world.get(&visitor, "i").await.unwrap()["link"], "/kept");
        // What an item from before the plugin was shown with is sent back, and is nobody's choice.
        world.content.plugin_delete(&world.site, &owner(), "c", "EDITABLE_PAGE_LINK", None).await.unwrap();
        let mut item = world.insert(&visitor, json!({ "_id": "old", "title": "Old" })).await.unwrap();
        world.content.plugin_add(&world.site, &owner(), "c", &editable(true), None).await.unwrap();
        item["title"] = json!("New");
        assert_eq!(world.update(&visitor, item, None).await.unwrap()["link"], "/p/new");
        let field = |flag: &str| {
            let mut field = link("link", "/p/{title}");
            field[flag] = json!(true);
            field
        };
        for flag in ["readOnly", "immutable"] {
            world.content.field_update(&world.site, &owner(), "c", &field(flag), false).await.unwrap();
            let kept = world.update(&visitor, json!({ "_id": "a", "title": "x", "link": "/other" }), None).await.unwrap();
            assert_eq!(kept["link"], "/patched", "{flag}");
            assert_eq!(code(patch(&world, &visitor, "a", set("link", json!("/other"))).await), "WDE0075", "{flag}");
        }
    }

    async fn persisted_links_travel_in_files(engine) {
        let source = world(engine, json!({ "plugins": [editable(false)] })).await;
        source.insert(&app(), json!({ "_id": "a", "title": "First" })).await.unwrap();
        source.update(&app(), json!({ "_id": "a", "title": "Second" }), None).await.unwrap();
        let lines = export(&source, Format::JsonLines).await;
        let target = world(engine, json!({ "plugins": [editable(false)] })).await;
        assert_eq!(import(&target, &lines).await, Vec::<String>::new());
        assert_eq!(target.get(&app(), "a").await.unwrap()["link"], "/p/first", "an address that was given out");
        assert_eq!(export(&target, Format::JsonLines).await, lines);
    }

    async fn links_tell_nothing_that_may_not_be_read(engine) {
        let levels = json!({ "itemRead": "PRIVILEGED", "itemInsert": "ANYONE", "itemUpdate": "ANYONE", "itemRemove": "ANYONE" });
        let world = world(engine, json!({ "dataPermissions": levels, "plugins": [editable(false)] })).await;
        world.insert(&app(), json!({ "_id": "a", "title": "Top Secret" })).await.unwrap();
        let visitor = visitor("v");
        let answers = [
            world.update(&visitor, json!({ "_id": "a", "title": "guess" }), None).await.unwrap(),
            world.save(&visitor, json!({ "_id": "a", "title": "guess" })).await.unwrap().0,
            patch(&world, &visitor, "a", set("n", json!(1))).await.unwrap(),
        ];
        for answer in answers {
            assert!(!answer.to_string().contains("secret"), "{answer}");
        }
        assert_eq!(world.remove(&visitor, "a", None).await.unwrap(), None);
    }

    async fn links_are_bounded(engine) {
        let world = world(engine, json!({})).await;
        let visitor = visitor("v");
        for (title, is_linked) in [("x".repeat(2_045), true), ("x".repeat(2_046), false), ("東".repeat(100_000), false)] {
            let made = world.insert(&visitor, json!({ "title": title })).await.unwrap();
            assert_eq!(made.get("link").is_some(), is_linked, "{}", title.len());
        }
        let fields: Vec<Value> = (0..20).map(|n| link(&format!("link{n}"), "/{title}/{title}")).collect();
        let mut definition = world.content.collection_get(&world.site, &owner(), "c", &[], false).await.unwrap();
        definition["fields"].as_array_mut().unwrap().retain(|it| it["key"] != "link");
        definition["fields"].as_array_mut().unwrap().extend(fields);
        let amplified = world.content.collection_update(&world.site, &owner(), &definition).await;
        amplified.unwrap();
        let made = world.insert(&visitor, json!({ "title": "東".repeat(100) })).await.unwrap();
        let linked = (0..20).filter(|n| made.get(format!("link{n}")).is_some()).count();
        assert_eq!(linked, 2, "all links of an item have 4,096 bytes");
        world.content.field_create(&world.site, &owner(), "c", &json!({ "key": "x", "type": "TEXT" })).await.unwrap();
        let fewer = json!({ "id": "c", "fields": [{ "key": "title", "type": "TEXT" }, link("link", "/p/{title}")] });
        world.content.collection_patch(&world.site, &owner(), &fewer).await.unwrap();
        for title in [".", "..", " ", "\t\n", "\u{3000}"] {
            assert_eq!(world.insert(&visitor, json!({ "title": title })).await.unwrap().get("link"), None, "{title:?}");
        }
        for (title, link) in [("...", "/p/..."), ("a/../../b", "/p/a%2F..%2F..%2Fb"), ("?x#y", "/p/%3Fx%23y"), ("\u{202e}a\u{1}", "/p/%E2%80%AEa%01")] {
            assert_eq!(world.insert(&visitor, json!({ "title": title })).await.unwrap()["link"], link);
        }
    }

    async fn strict_rules_ask_nothing_of_links(engine) {
        let world = world(engine, json!({ "strictMode": true })).await;
        let visitor = visitor("v");
        assert_eq!(world.insert(&visitor, json!({ "_id": "a", "title": "x", "link": 7 })).await.unwrap()["link"], "/p/x");
        assert_eq!(world.update(&visitor, json!({ "_id": "a", "title": "y", "link": {} }), None).await.unwrap()["link"], "/p/y");
        assert_eq!(code(world.insert(&visitor, json!({ "title": 7 })).await), "WDE0075");
    }
}

/// The bytes that a percent-encoded text stands for.
fn decoded(text: &str) -> Vec<u8> {
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let Some((first, tail)) = rest.split_first() {
        let hex = || u8::from_str_radix(std::str::from_utf8(&tail[..2]).unwrap(), 16).unwrap();
        let (byte, tail) = if *first == b'%' { (hex(), &tail[2..]) } else { (*first, tail) };
        bytes.push(byte);
        rest = tail;
    }
    bytes
}
