//! Items in other languages: what the plugin MULTILINGUAL brings (docs/translations.md).

use crate::common::*;
use serde_json::{Value, json};
use stoa_content::{
    GetRequest, Request,
    transfer::{Counts, Event, FileOf, Format},
};
use stoa_kernel::{Caller, Fault, Result};
use stoa_store::{ReaderPool, boxed};
use stoa_testkit::on_both_engines;

pub fn multilingual(keys: Value) -> Value {
    json!({ "type": "MULTILINGUAL", "multilingualOptions": { "translatableFieldKeys": keys } })
}

/// A site whose collection `c` has translatable titles and tags.
pub async fn multilingual_world(engine: stoa_testkit::Engine) -> World {
    let world = World::open(engine).await;
    translate_collection(&world).await;
    world
}

pub async fn translate_collection(world: &World) {
    let plugin = multilingual(json!(["title", "tags"]));
    let after = world.content.plugin_add(&world.site, &owner(), "c", &plugin, None).await.unwrap();
    assert_eq!(after["plugins"][0], plugin);
}

pub async fn get_in(world: &World, caller: &Caller, id: &str, language: &str) -> Result<Value> {
    let request = members(json!({ "dataCollectionId": "c", "dataItemId": id, "language": language }));
    let request = GetRequest::parse(&request, world.content.limits())?;
    let item = world.content.item_get(&world.site, caller, &request).await?;
    Ok(serde_json::from_str(&item.doc).unwrap())
}

/// Updates an item in a language.
pub async fn update_in(world: &World, caller: &Caller, language: &str, data: Value) -> Result<Value> {
    let mut body = single(data);
    body["language"] = json!(language);
    let body = body.to_string();
    let item = world.content.item_update(&world.site, caller, &Request::parse(body.as_bytes())?).await?;
    Ok(serde_json::from_str(&item.doc).unwrap())
}

pub async fn patch_in(world: &World, caller: &Caller, language: &str, (id, list): (&str, Value)) -> Result<Value> {
    let patch = json!({ "dataItemId": id, "fieldModifications": list });
    let body = json!({ "dataCollectionId": "c", "patch": patch, "language": language }).to_string();
    let item = world.content.item_patch(&world.site, caller, &Request::parse(body.as_bytes())?).await?;
    Ok(serde_json::from_str(&item.doc).unwrap())
}

pub fn set(field: &str, value: Value) -> Value {
    json!([{ "fieldPath": field, "action": "SET_FIELD", "setFieldOptions": { "value": value } }])
}

/// The data of the items of a page, each in its wrapper.
pub fn data(elements: &str) -> Vec<Value> {
    let list: Vec<Value> = serde_json::from_str(&format!("[{elements}]")).unwrap();
    list.into_iter().map(|it| it["data"].clone()).collect()
}

/// What is stored: row of the item, language, field and value.
pub async fn rows(world: &World) -> Vec<(String, String, String)> {
    let read = world.site.read(ReaderPool::Scan, |tx| {
        boxed!({
            let sql = "select language, field, value from stoa.item_translation order by item, language, field";
            Ok(tx.rows(sql, &[], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).await?)
        })
    });
    read.await.unwrap()
}

pub fn refusal<T>(result: Result<T>) -> Fault {
    result.err().expect("a refusal")
}

on_both_engines! {
    async fn items_are_read_in_their_languages(engine) {
        let world = multilingual_world(engine).await;
        let (content, site) = (&world.content, &world.site);
        for (id, title, n) in [("a", "House", 1), ("b", "Tree", 2), ("c", "River", 3)] {
            world.insert(&app(), json!({ "_id": id, "title": title, "n": n, "tags": ["x"] })).await.unwrap();
        }
        update_in(&world, &app(), "de", json!({ "_id": "a", "title": "Haus" })).await.unwrap();
        update_in(&world, &app(), "de-AT", json!({ "_id": "a", "tags": ["y"] })).await.unwrap();
        update_in(&world, &app(), "DE", json!({ "_id": "b", "title": "Haus", "tags": ["z"] })).await.unwrap();

        let visitor = visitor("v");
        for (id, language, title, tags) in [
            ("a", "de", "Haus", "x"), ("a", "DE", "Haus", "x"), ("a", "de-AT", "Haus", "y"), ("a", "de-at-1996", "Haus", "y"),
            ("a", "de-CH", "Haus", "x"), ("a", "fr", "House", "x"), ("c", "de", "River", "x"), ("b", "de-AT", "Haus", "z"),
        ] {
            let item = get_in(&world, &visitor, id, language).await.unwrap();
            assert_eq!((&item["title"], &item["tags"]), (&json!(title), &json!([tags])), "{id} {language}");
        }
        assert_eq!(world.get(&visitor, "a").await.unwrap()["title"], "House");

        let request = |more: Value| {
            let mut request = json!({ "dataCollectionId": "c", "language": "de" });
            request.as_object_mut().unwrap().extend(members(more));
            members(request)
        };
        // The filter and the order are about the primary text, the answer is in the language.
        let query = json!({ "query": { "filter": { "title": { "$ne": "Haus" } }, "sort": [{ "fieldName": "title", "order": "ASC" }] } });
        let page = content.item_query(site, &visitor, None, &request(query)).await.unwrap();
        let titles = |elements: &str| data(elements).iter().map(|it| it["title"].as_str().unwrap().to_owned()).collect::<Vec<_>>();
        assert_eq!(titles(&page.elements), ["Haus", "River", "Haus"]);
        let fields = json!({ "query": { "filter": { "_id": "a" } }, "fields": ["title"] });
        let page = content.item_query(site, &visitor, None, &request(json!({ "query": { "filter": { "_id": "a" }, "fields": ["title"] } }))).await.unwrap();
        assert_eq!(data(&page.elements), [json!({ "_id": "a", "title": "Haus" })], "{fields}");
        // A language goes with the cursor.
        let first = json!({ "query": { "sort": [{ "fieldName": "_id", "order": "ASC" }], "cursorPaging": { "limit": 1 } } });
        let page = content.item_query(site, &visitor, None, &request(first)).await.unwrap();
        let cursor = page.cursors.unwrap().next.unwrap();
        let next = json!({ "dataCollectionId": "c", "query": { "cursorPaging": { "cursor": cursor, "limit": 1 } } });
        assert_eq!(titles(&content.item_query(site, &visitor, None, &members(next)).await.unwrap().elements), ["Haus"]);
        assert_eq!(content.item_count(site, &visitor, None, &request(json!({ "filter": { "title": "Haus" } }))).await.unwrap(), 0);

        let group = json!({ "aggregation": { "groupingFields": ["title"], "operations": [{ "resultFieldName": "sum", "sum": { "itemFieldName": "n" } }] },
            "sort": [{ "fieldName": "sum", "order": "ASC" }] });
        let page = content.item_aggregate(site, &visitor, None, &request(group)).await.unwrap();
        let groups: Vec<Value> = serde_json::from_str(&format!("[{}]", page.elements)).unwrap();
        let groups: Vec<_> = groups.iter().map(|it| (it["title"].as_str().unwrap(), it["sum"].as_f64().unwrap())).collect();
        let mut wants = vec![("Haus", 3.0), ("River", 3.0)];
        wants.retain(|it| groups.contains(it));
        assert_eq!((groups.len(), wants.len()), (2, 2), "{groups:?}");

        let distinct = async |field: &str| {
            content.item_distinct(site, &visitor, None, &request(json!({ "fieldName": field }))).await.unwrap().elements
        };
        assert_eq!(distinct("title").await, r#""Haus","River""#);
        assert_eq!(distinct("tags").await, r#""x","z""#);
        assert_eq!(distinct("n").await, "1,2,3");
    }

    async fn what_is_referred_to_is_in_the_language_as_well(engine) {
        let world = multilingual_world(engine).await;
        let (content, site) = (&world.content, &world.site);
        world.insert(&app(), json!({ "_id": "a", "title": "House" })).await.unwrap();
        update_in(&world, &app(), "de", json!({ "_id": "a", "title": "Haus" })).await.unwrap();
        let field = |key: &str, kind: &str, target: &str| {
            json!({ "key": key, "type": kind, "typeMetadata": { target: { "referencedCollectionId": "c" } } })
        };
        let one = field("one", "REFERENCE", "reference");
        let object = json!({ "id": "shelf", "fields": [one], "dataPermissions": { "itemRead": "ANYONE" } });
        content.collection_create(site, &owner(), &object).await.unwrap();
        content.field_create(site, &owner(), "shelf", &field("all", "MULTI_REFERENCE", "multiReference")).await.unwrap();
        let mut body = single(json!({ "_id": "s", "one": "a", "all": ["a"] }));
        body["dataCollectionId"] = json!("shelf");
        body["saveReferences"] = json!(true);
        let body = body.to_string();
        content.item_insert(site, &app(), &Request::parse(body.as_bytes()).unwrap()).await.unwrap();
        for (language, wants) in [(json!("de"), "Haus"), (json!("fr"), "House"), (Value::Null, "House")] {
            let include = json!({ "dataCollectionId": "shelf", "language": language, "includeReferences": [{ "field": "one" }, { "field": "all" }] });
            let item = data(&world.page(&visitor("v"), include).await.unwrap().elements).remove(0);
            assert_eq!((&item["one"]["title"], &item["all"][0]["title"]), (&json!(wants), &json!(wants)));
            for key in ["one", "all"] {
                let request = json!({ "dataCollectionId": "shelf", "language": language, "referringItemId": "s", "referringItemFieldName": key, "fields": ["title"] });
                let page = content.references_query(site, &visitor("v"), None, &members(request)).await.unwrap();
                let it: Value = serde_json::from_str(&page.elements).unwrap();
                assert_eq!(it["dataItem"]["data"], json!({ "_id": "a", "title": wants }), "{key} {language}");
            }
        }
    }

    async fn writes_touch_their_language_only(engine) {
        let world = multilingual_world(engine).await;
        let item = json!({ "_id": "a", "title": "House", "n": 1, "tags": ["x"] });
        let before = world.insert(&app(), item).await.unwrap();
        // Sent back whole: what wasn't changed is no translation.
        let mut whole = before.clone();
        whole["title"] = json!("Haus");
        let answer = update_in(&world, &editor(), "de", whole.clone()).await.unwrap();
        assert_eq!((&answer["title"], &answer["tags"], &answer["n"]), (&json!("Haus"), &json!(["x"]), &json!(1)));
        assert_eq!(rows(&world).await, [("de".into(), "title".into(), "\"Haus\"".into())]);
        let primary = world.get(&app(), "a").await.unwrap();
        assert_eq!((&primary["title"], &primary["_owner"]), (&json!("House"), &before["_owner"]));
        let outbox = world.outbox().await;
        assert!(outbox.last().unwrap().0.contains("updated"), "{outbox:?}");
        assert!(!format!("{outbox:?}").contains("Haus"), "events are about the primary text");

        // A change of the primary text leaves the translation, and shows where there is none.
        world.update(&app(), json!({ "_id": "a", "title": "Home", "n": 2, "tags": ["y"] }), None).await.unwrap();
        let german = get_in(&world, &app(), "a", "de").await.unwrap();
        assert_eq!((&german["title"], &german["tags"], &german["n"]), (&json!("Haus"), &json!(["y"]), &json!(2)));

        let patched = patch_in(&world, &app(), "de", ("a", json!([{ "fieldPath": "tags", "action": "APPEND_TO_ARRAY", "appendToArrayOptions": { "value": "z" } }]))).await;
        assert_eq!(patched.unwrap()["tags"], json!(["y", "z"]));
        assert_eq!(world.get(&app(), "a").await.unwrap()["tags"], json!(["y"]));
        for empty in [json!([{ "fieldPath": "tags", "action": "REMOVE_FIELD" }]), set("title", Value::Null)] {
            patch_in(&world, &app(), "de", ("a", empty)).await.unwrap();
        }
        assert_eq!(get_in(&world, &app(), "a", "de").await.unwrap()["title"], "Home");
        assert_eq!(rows(&world).await, []);

        // Whatever is no translatable field is refused, unless it is what it was.
        for (key, value) in [("n", json!(7)), ("other", json!(1)), ("_owner", json!("ann"))] {
            let mut whole = world.get(&app(), "a").await.unwrap();
            whole[key] = value.clone();
            let fault = refusal(update_in(&world, &app(), "de", whole).await);
            assert_eq!((fault.code().name(), &fault.data()["propertyName"]), ("WDE0119", &json!(key)));
        }
        for key in ["n", "other", "_owner"] {
            let fault = refusal(patch_in(&world, &app(), "de", ("a", set(key, json!("7")))).await);
            assert_eq!((fault.code().name(), &fault.data()["propertyName"]), ("WDE0119", &json!(key)));
        }
        assert_eq!(code(update_in(&world, &app(), "de", json!({ "_id": "none", "title": "x" })).await), "WDE0073");
        assert_eq!(code(update_in(&world, &app(), &format!("de{}", "-abcdefgh".repeat(8)), json!({ "_id": "a", "title": "x" })).await), "WDE0018");

        // Many at once, each for itself; of one item in turn.
        world.insert(&app(), json!({ "_id": "b", "title": "Tree" })).await.unwrap();
        for call in ["update", "save"] {
            let mut body = many([
                json!({ "_id": "a", "title": call }), json!({ "_id": "none", "title": "x" }), json!({ "_id": "b", "n": 7 }), json!({ "_id": "a", "title": "last" }),
            ]);
            body["language"] = json!("fr");
            assert_eq!(verdicts(&world.bulk(&app(), call, &body).await.unwrap()), ["UPDATE", "WDE0073", "WDE0119", "UPDATE"]);
            assert_eq!(rows(&world).await, [("fr".into(), "title".into(), "\"last\"".into())]);
        }
        let add = |value: &str| json!({ "dataItemId": "a", "fieldModifications": [{ "fieldPath": "tags", "action": "APPEND_TO_ARRAY", "appendToArrayOptions": { "value": value } }] });
        let body = json!({ "dataCollectionId": "c", "language": "fr", "patches": [add("1"), add("2")] });
        assert_eq!(verdicts(&world.bulk(&app(), "patch", &body).await.unwrap()), ["PATCH", "PATCH"]);
        assert_eq!(get_in(&world, &app(), "a", "fr").await.unwrap()["tags"], json!(["y", "1", "2"]));
        assert_eq!(world.get(&app(), "b").await.unwrap()["title"], "Tree");
    }

    async fn only_those_who_work_on_the_site_translate(engine) {
        let world = World::with_levels(engine, "PRIVILEGED", "ANYONE", "ANYONE", "ANYONE").await;
        translate_collection(&world).await;
        world.insert(&app(), json!({ "_id": "a", "title": "House", "n": 1, "_owner": "ann" })).await.unwrap();
        for caller in [visitor("v"), member("ann")] {
            assert_eq!(code(update_in(&world, &caller, "de", json!({ "_id": "a", "title": "x" })).await), "WDE0027");
            assert_eq!(code(patch_in(&world, &caller, "de", ("a", set("title", json!("x")))).await), "WDE0027");
            let mut body = many([json!({ "_id": "a", "title": "x" })]);
            body["language"] = json!("de");
            for call in ["update", "save"] {
                assert_eq!(code(world.bulk(&caller, call, &body).await.map(drop)), "WDE0027");
            }
        }
        // An editor who may update and not read is told nothing of the item, not even what is the same.
        assert_eq!(code(update_in(&world, &editor(), "de", json!({ "_id": "a", "title": "Haus", "n": 1 })).await), "WDE0119");
        let answer = update_in(&world, &editor(), "de", json!({ "_id": "a", "title": "Haus" })).await.unwrap();
        assert_eq!(answer, json!({ "_id": "a" }));
        assert_eq!(code(get_in(&world, &editor(), "a", "de").await), "WDE0027");
        assert_eq!(get_in(&world, &app(), "a", "de").await.unwrap()["title"], "Haus");
    }

    async fn translations_go_with_their_items(engine) {
        let world = multilingual_world(engine).await;
        let (content, site) = (&world.content, &world.site);
        let translated = |id: &'static str| {
            let world = &world;
            async move {
                world.insert(&app(), json!({ "_id": id, "title": "House", "tags": ["x"] })).await.unwrap();
                assert_eq!(get_in(world, &app(), id, "de").await.unwrap()["title"], "House", "nothing of an older item shows");
                update_in(world, &app(), "de", json!({ "_id": id, "title": "Haus", "tags": ["y"] })).await.unwrap();
            }
        };
        translated("a").await;
        world.remove(&app(), "a", None).await.unwrap();
        assert_eq!(rows(&world).await, []);
        translated("a").await;
        translated("b").await;
        let ids = json!({ "dataCollectionId": "c", "dataItemIds": ["a", "b"] });
        world.bulk(&app(), "remove", &ids).await.unwrap();
        assert_eq!(rows(&world).await, []);
        translated("a").await;
        let body = json!({ "dataCollectionId": "c" }).to_string();
        content.item_truncate(site, &app(), &Request::parse(body.as_bytes()).unwrap()).await.unwrap();
        assert_eq!(rows(&world).await, []);
        // A field takes its values along, and leaves the list.
        translated("a").await;
        let after = content.field_delete(site, &owner(), "c", "tags").await.unwrap();
        assert_eq!(after["plugins"][0], multilingual(json!(["title"])));
        assert_eq!(rows(&world).await, [("de".into(), "title".into(), "\"Haus\"".into())]);
        // Without the plugin the primary text is read, and nothing is written over it.
        content.plugin_delete(site, &owner(), "c", "MULTILINGUAL", None).await.unwrap();
        assert_eq!(get_in(&world, &app(), "a", "de").await.unwrap()["title"], "House");
        assert_eq!(code(update_in(&world, &app(), "de", json!({ "_id": "a", "title": "x" })).await), "WDE0119");
        content.plugin_add(site, &owner(), "c", &multilingual(json!(["title"])), None).await.unwrap();
        assert_eq!(get_in(&world, &app(), "a", "de").await.unwrap()["title"], "Haus", "the plugin shows them again");
        content.plugin_delete(site, &owner(), "c", "MULTILINGUAL", None).await.unwrap();
        world.remove(&app(), "a", None).await.unwrap();
        assert_eq!(rows(&world).await, [], "they go with the item, shown or not");
    }

    async fn only_fields_that_say_something_are_translatable(engine) {
        let world = World::open(engine).await;
        let (content, site) = (&world.content, &world.site);
        let secret = json!({ "key": "secret", "type": "TEXT", "encrypted": true });
        content.field_create(site, &owner(), "c", &secret).await.unwrap();
        for key in ["n", "none", "secret", "_id", "_owner"] {
            let fault = refusal(content.plugin_add(site, &owner(), "c", &multilingual(json!(["title", key])), None).await);
            assert_eq!(fault.code().name(), "WDE0075", "{key}");
        }
        let mut whole = content.collection_get(site, &owner(), "c", &[], false).await.unwrap();
        whole["plugins"] = json!([multilingual(json!(["title", "tags", "title"]))]);
        let mut whole = content.collection_update(site, &owner(), &whole).await.unwrap();
        assert_eq!(whole["plugins"][0], multilingual(json!(["title", "tags"])), "each once");
        // A field of another type leaves the list that is sent back.
        let fields = whole["fields"].as_array_mut().unwrap();
        fields.iter_mut().find(|it| it["key"] == "tags").unwrap()["type"] = json!("NUMBER");
        let after = content.collection_update(site, &owner(), &whole).await.unwrap();
        assert_eq!(after["plugins"][0], multilingual(json!(["title"])));
        let object = json!({ "id": "d", "fields": [{ "key": "n", "type": "NUMBER" }], "dataPermissions": {}, "plugins": [multilingual(json!(["n"]))] });
        assert_eq!(code(content.collection_create(site, &owner(), &object).await), "WDE0075");
    }

    async fn items_in_other_languages_are_bounded(engine) {
        let world = multilingual_world(engine).await;
        world.insert(&app(), json!({ "_id": "a", "title": "House", "tags": ["x"] })).await.unwrap();
        for n in 0..100 {
            update_in(&world, &app(), &format!("x-l{n}"), json!({ "_id": "a", "title": format!("t{n}") })).await.unwrap();
        }
        let more = json!({ "_id": "a", "title": "more" });
        assert_eq!(code(update_in(&world, &app(), "x-more", more.clone()).await), "WDE0080");
        update_in(&world, &app(), "x-l7", json!({ "_id": "a" })).await.unwrap();
        assert_eq!(code(update_in(&world, &app(), "x-more", more).await), "ok");
        let half = "x".repeat(300_000);
        assert_eq!(code(update_in(&world, &app(), "x-l1", json!({ "_id": "a", "title": half, "tags": [half] })).await), "WDE0009");
        assert_eq!(code(patch_in(&world, &app(), "x-l1", ("a", set("title", json!(half)))).await), "ok");
        assert_eq!(code(patch_in(&world, &app(), "x-l1", ("a", set("tags", json!([half])))).await), "WDE0009");
        assert_eq!(world.get(&app(), "a").await.unwrap()["title"], "House");
    }

    async fn rules_hold_in_every_language(engine) {
        let world = World::new(engine).await;
        let fields = json!([
            { "key": "title", "type": "TEXT", "typeMetadata": { "text": { "maxLength": 5 } } }, { "key": "must", "type": "NUMBER", "required": true },
        ]);
        let levels = json!({ "itemRead": "ANYONE", "itemInsert": "ANYONE", "itemUpdate": "ANYONE", "itemRemove": "ANYONE" });
        world.create_with("c", json!({ "dataPermissions": levels, "strictMode": true, "fields": fields, "plugins": [multilingual(json!(["title"]))] })).await;
        world.insert(&app(), json!({ "_id": "a", "title": "House", "must": 1 })).await.unwrap();
        assert_eq!(code(update_in(&world, &editor(), "de", json!({ "_id": "a", "title": "Gebäude" })).await), "WDE0075");
        assert_eq!(code(update_in(&world, &editor(), "de", json!({ "_id": "a", "title": "Haus" })).await), "ok");
        assert_eq!(code(patch_in(&world, &editor(), "de", ("a", set("title", json!(7)))).await), "WDE0075");
    }

    async fn files_hold_all_languages(engine) {
        let world = multilingual_world(engine).await;
        for id in ["a", "b"] {
            world.insert(&app(), json!({ "_id": id, "title": "House", "tags": ["x"] })).await.unwrap();
        }
        update_in(&world, &app(), "de", json!({ "_id": "a", "title": "Haus", "tags": ["ä"] })).await.unwrap();
        update_in(&world, &app(), "fr-CA", json!({ "_id": "a", "title": "Maison" })).await.unwrap();
        let file = |format| FileOf { collection: "c", format };
        for format in [Format::JsonLines, Format::Json, Format::Csv] {
            let mut out = Vec::new();
            world.content.export(&world.site, &app(), file(format), &mut out, |_| ()).await.unwrap();
            let other = multilingual_world(engine).await;
            for round in 0..2 {
                let refused = |it: Event<'_>| assert!(!matches!(it, Event::Refused { .. }), "{format:?}");
                let done = other.content.import(&other.site, &app(), file(format), out.as_slice(), refused).await.unwrap();
                let wants = if round == 0 { (2, 0) } else { (0, 2) };
                assert_eq!(done, Counts { inserted: wants.0, updated: wants.1, ..Counts::default() }, "{format:?}");
                assert_eq!(rows(&other).await, rows(&world).await, "{format:?}");
                assert_eq!(other.get(&app(), "a").await.unwrap()["_translations"], Value::Null);
            }
            // An item that says nothing of languages keeps them, one that says there are none has none.
            for (line, count) in [(json!({ "_id": "a", "title": "House" }), 3), (json!({ "_id": "a", "title": "House", "_translations": {} }), 0)] {
                let line = line.to_string();
                other.content.import(&other.site, &app(), file(Format::JsonLines), line.as_bytes(), |_| ()).await.unwrap();
                assert_eq!(rows(&other).await.len(), count);
            }
        }
        let mut refused = Vec::new();
        let lines: String = [json!(7), json!({ "de": 7 }), json!({ "no tag": {} }), json!({ "de": { "n": 1 } }), json!({ "de": {}, "DE": {} })]
            .iter().map(|it| format!("{}\n", json!({ "_id": "a", "title": "x", "_translations": it }))).collect();
        let tell = |it: Event<'_>| {
            if let Event::Refused { fault, .. } = it {
                refused.push(fault.code().name());
            }
        };
        world.content.import(&world.site, &app(), file(Format::JsonLines), lines.as_bytes(), tell).await.unwrap();
        assert_eq!(refused, ["WDE0080", "WDE0080", "WDE0080", "WDE0119", "WDE0080"]);
        assert_eq!(world.get(&app(), "a").await.unwrap()["title"], "House");
    }
}
