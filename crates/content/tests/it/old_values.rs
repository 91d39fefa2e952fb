//! What rows of the log hold of items as they were: where a collection asks for it, and not a word more elsewhere.

use crate::common::*;
use serde_json::{Map, Value, json};
use stoa_content::{
    ContentChange, ContentEntry, ItemChange, Request,
    transfer::{FileOf, Format},
};
use stoa_kernel::{MemberId, VisitorId};
use stoa_store::{Ownership, boxed};
use stoa_testkit::{Engine, on_both_engines};

const ANYONE: &str = "ANYONE";

fn open_levels() -> Value {
    json!({ "itemRead": ANYONE, "itemInsert": ANYONE, "itemUpdate": ANYONE, "itemRemove": ANYONE })
}

/// A site with a collection `c` that is open to everyone and asks for old values, or doesn't.
async fn world(engine: Engine, is_on: bool) -> World {
    let world = World::new(engine).await;
    world.create_with("c", json!({ "dataPermissions": open_levels(), "logOldValues": is_on })).await;
    world
}

/// The payload of the last row about items.
async fn last(world: &World) -> Value {
    world.outbox().await.pop().unwrap().1
}

/// The items of the last row, as a reader gets them.
async fn last_items(world: &World) -> Vec<ItemChange> {
    let rows = world.log().await.len();
    let entries = world.entries(&world.site, rows).await;
    let told = entries.iter().rev().find_map(|it| match ContentEntry::parse(it).unwrap().unwrap().change {
        ContentChange::Items(items) => Some(items),
        _ => None,
    });
    told.unwrap()
}

async fn call(world: &World, path: &str, body: &Value) {
    let body = body.to_string();
    let request = Request::parse(body.as_bytes()).unwrap();
    let (content, site) = (&world.content, &world.site);
    match path {
        "patch" => drop(content.item_patch(site, &app(), &request).await.unwrap()),
        "truncate" => content.item_truncate(site, &app(), &request).await.unwrap(),
        "insert-references" => drop(content.references_insert(site, &app(), &request).await.unwrap()),
        "remove-references" => drop(content.references_remove(site, &app(), &request).await.unwrap()),
        "replace-references" => drop(content.references_replace(site, &app(), &request).await.unwrap()),
        other => panic!("no call {other}"),
    }
}

fn set(field: &str, value: Value) -> Value {
    json!({ "fieldPath": field, "action": "SET_FIELD", "setFieldOptions": { "value": value } })
}

fn members_of(payload: &Value) -> Vec<&str> {
    payload.as_object().unwrap().keys().map(String::as_str).collect()
}

on_both_engines! {
    /// Every way of changing an item, with old values and without: the rows are the same but for them.
    async fn updates_tell_what_fields_were(engine) {
        for is_on in [true, false] {
            let world = world(engine, is_on).await;
            let old = |payload: Value| match is_on {
                true => payload["old"].clone(),
                false => {
                    assert_eq!(members_of(&payload), ["collection", "identity", "items", "modified"]);
                    Value::Null
                }
            };
            let expect = |value: Value| if is_on { value } else { Value::Null };
            world.insert(&app(), json!({ "_id": "a", "n": 1, "title": "x" })).await.unwrap();
            assert_eq!(members_of(&last(&world).await), ["collection", "identity", "items"]);
            world.update(&app(), json!({ "_id": "a", "n": 2 }), None).await.unwrap();
            assert_eq!(old(last(&world).await), expect(json!([{ "n": 1, "title": "x" }])));
            let patch = json!({ "dataItemId": "a", "fieldModifications": [set("n", json!(3)), set("tags", json!(["t"]))] });
            call(&world, "patch", &json!({ "dataCollectionId": "c", "patch": patch })).await;
            assert_eq!(old(last(&world).await), expect(json!([{ "n": 2 }])));
            world.save(&app(), json!({ "_id": "a", "n": 4 })).await.unwrap();
            assert_eq!(old(last(&world).await), expect(json!([{ "n": 3, "tags": ["t"] }])));
            world.save(&app(), json!({ "_id": "a", "n": 4 })).await.unwrap();
            assert_eq!(old(last(&world).await), expect(json!([{}])), "nothing but the date changed");

            let items = many([json!({ "_id": "a", "n": 5 }), json!({ "_id": "b", "n": 1 }), json!({ "_id": "a", "n": 6 })]);
            world.bulk(&app(), "save", &items).await.unwrap();
            assert_eq!(old(last(&world).await), expect(json!([{ "n": 4 }, { "n": 5 }])), "each finds what the one before left");
            world.bulk(&app(), "update", &many([json!({ "_id": "b", "n": 2 }), json!({ "_id": "none" })])).await.unwrap();
            assert_eq!(old(last(&world).await), expect(json!([{ "n": 1 }])));
            let patches = json!([{ "dataItemId": "b", "fieldModifications": [set("title", json!("y"))] }]);
            world.bulk(&app(), "patch", &json!({ "dataCollectionId": "c", "patches": patches })).await.unwrap();
            assert_eq!(old(last(&world).await), expect(json!([{}])), "there was no title");
        }
    }

    async fn removals_tell_what_items_were(engine) {
        for is_on in [true, false] {
            let world = world(engine, is_on).await;
            world.bulk(&member("ann"), "insert", &many((0..6).map(|n| json!({ "_id": format!("i{n}"), "n": n })))).await.unwrap();
            world.remove(&app(), "i0", None).await.unwrap();
            world.bulk(&app(), "remove", &json!({ "dataCollectionId": "c", "dataItemIds": ["i3", "none", "i1", "i3"] })).await.unwrap();
            let shown = json!({ "dataCollectionId": "c", "dataItemIds": ["i5", "i2"], "returnEntity": true });
            world.bulk(&app(), "remove", &shown).await.unwrap();
            let rows = world.outbox().await;
            let rows: Vec<_> = rows.iter().filter(|it| it.0 == "data_item_deleted").map(|it| &it.1).collect();
            let ids: Vec<_> = rows.iter().map(|it| it["ids"].clone()).collect();
            assert_eq!(ids, [json!(["i0"]), json!(["i3", "i1"]), json!(["i5", "i2"])]);
            let told = |it: &&Value| it["old"].as_array().map(|it| it.iter().map(|it| it["n"].as_i64().unwrap()).collect::<Vec<_>>());
            let told: Vec<_> = rows.iter().map(told).collect();
            match is_on {
                true => assert_eq!(told, [Some(vec![0]), Some(vec![3, 1]), Some(vec![5, 2])]),
                false => assert!(rows.iter().all(|it| members_of(it) == ["collection", "identity", "ids", "rids"]), "{rows:?}"),
            }
            let is_whole = rows.iter().flat_map(|it| it["old"].as_array().into_iter().flatten());
            assert!(is_whole.clone().all(|it| it["_owner"] == "ann" && it["_createdDate"].is_object()));
            assert_eq!(world.count(&app(), json!({})).await.unwrap(), 1);
        }
    }

    /// The reader gets the item as it was, who owned it included.
    async fn items_before_and_after_are_read(engine) {
        let world = world(engine, true).await;
        let before = world.insert(&member("ann"), json!({ "_id": "a", "n": 1, "title": "x" })).await.unwrap();
        assert_eq!(last_items(&world).await[0].before, None);
        world.update(&app(), json!({ "_id": "a", "n": 2, "_owner": "bob" }), None).await.unwrap();
        let mut change = last_items(&world).await.remove(0);
        let mut modified = std::mem::take(&mut change.modified);
        modified.sort();
        assert_eq!(modified, ["_owner", "n", "title"]);
        let without_date = |it: &Value| {
            let mut it: Map<String, Value> = it.as_object().unwrap().clone();
            it.remove("_updatedDate");
            it
        };
        let mut read = change.before.unwrap();
        read.remove("_updatedDate");
        assert_eq!(read, without_date(&before));
        assert_eq!((&read["_owner"], &change.after.unwrap()["_owner"]), (&json!("ann"), &json!("bob")));
        let removed = world.remove(&app(), "a", None).await.unwrap().unwrap();
        let change = last_items(&world).await.remove(0);
        assert_eq!((change.after, change.before.map(Value::Object)), (None, Some(removed)));
    }

    async fn refused_change_tells_nothing(engine) {
        let world = world(engine, true).await;
        world.insert(&member("ann"), json!({ "_id": "a", "n": 1 })).await.unwrap();
        let before = world.log().await;
        let never = Some(json!({ "n": 9 }));
        assert_eq!(code(world.update(&app(), json!({ "_id": "a" }), never.clone()).await), "WDE0073");
        assert_eq!(code(world.remove(&app(), "a", never).await), "WDE0073");
        assert_eq!(code(world.insert(&app(), json!({ "_id": "a" })).await), "WDE0074");
        world.bulk(&app(), "remove", &json!({ "dataCollectionId": "c", "dataItemIds": ["none"] })).await.unwrap();
        assert_eq!(world.log().await, before);
    }

    async fn encrypted_values_are_in_no_row(engine) {
        let world = World::new(engine).await;
        let fields = json!([{ "key": "title", "type": "TEXT" }, { "key": "pin", "type": "TEXT", "encrypted": true }]);
        let object = json!({ "id": "c", "fields": fields, "dataPermissions": open_levels(), "logOldValues": true });
        world.content.collection_create(&world.site, &owner(), &object).await.unwrap();
        let secret = |n: usize| format!("secret-{n}");
        world.insert(&app(), json!({ "_id": "a", "title": "x", "pin": secret(0) })).await.unwrap();
        world.update(&app(), json!({ "_id": "a", "title": "y", "pin": secret(1) }), None).await.unwrap();
        let row = last(&world).await;
        assert_eq!((&row["modified"], &row["old"]), (&json!([["pin", "title"]]), &json!([{ "title": "x" }])));
        world.save(&app(), json!({ "_id": "b", "pin": secret(2) })).await.unwrap();
        for ids in [json!(["a"]), json!(["b"])] {
            let shows = ids[0] == "a";
            world.bulk(&app(), "remove", &json!({ "dataCollectionId": "c", "dataItemIds": ids, "returnEntity": shows })).await.unwrap();
            let old = &last(&world).await["old"][0];
            assert!(old["_id"] == ids[0] && old.get("pin").is_none(), "{old}");
        }
        let all = world.log().await.iter().map(|it| it.1.to_string()).collect::<String>();
        assert!(!all.contains("secret-") && !all.contains("sealed:"), "{all}");
    }

    /// A row stays below what a reader takes at once: what would not fit goes into several, in order.
    async fn large_rows_are_cut(engine) {
        let world = world(engine, true).await;
        let (ids, text) = ((0..12).map(|n| format!("i{n:02}")).collect::<Vec<_>>(), "x".repeat(450_000));
        for some in ids.chunks(4) {
            let items = some.iter().map(|id| json!({ "_id": id, "title": text }));
            world.bulk(&app(), "insert", &many(items)).await.unwrap();
        }
        let patches: Vec<_> = ids.iter().map(|id| json!({ "dataItemId": id, "fieldModifications": [set("title", json!("short"))] })).collect();
        world.bulk(&app(), "patch", &json!({ "dataCollectionId": "c", "patches": patches })).await.unwrap();
        let patches: Vec<_> = ids.iter().map(|id| json!({ "dataItemId": id, "fieldModifications": [set("title", json!(text))] })).collect();
        for some in patches.chunks(4) {
            world.bulk(&app(), "patch", &json!({ "dataCollectionId": "c", "patches": some })).await.unwrap();
        }
        world.bulk(&app(), "remove", &json!({ "dataCollectionId": "c", "dataItemIds": ids })).await.unwrap();
        let rows = world.outbox().await;
        assert!(rows.iter().all(|it| it.1.to_string().len() <= 4 << 20));
        let of = |kind: &str, list: &str| -> Vec<usize> {
            rows.iter().filter(|it| it.0 == kind).map(|it| it.1[list].as_array().unwrap().len()).collect()
        };
        assert_eq!(of("data_item_updated", "old"), [8, 4, 4, 4, 4], "the values that were replaced, then short ones");
        assert_eq!((of("data_item_deleted", "ids"), of("data_item_deleted", "old")), (vec![8, 4], vec![8, 4]));
        let gone = rows.iter().filter(|it| it.0 == "data_item_deleted").flat_map(|it| it.1["ids"].as_array().unwrap());
        assert_eq!(gone.map(|it| it.as_str().unwrap()).collect::<Vec<_>>(), ids);
    }

    async fn imports_name_their_items_whatever_is_asked(engine) {
        let world = world(engine, true).await;
        world.insert(&app(), json!({ "_id": "a", "n": 1 })).await.unwrap();
        let lines = b"{\"_id\":\"a\",\"n\":2}\n{\"_id\":\"b\",\"n\":1}\n";
        let file = FileOf { collection: "c", format: Format::JsonLines };
        world.content.import(&world.site, &app(), file, lines.as_slice(), |_| {}).await.unwrap();
        let rows = world.outbox().await.split_off(1);
        assert!(rows.iter().all(|it| members_of(&it.1) == ["collection", "identity", "ids"]), "{rows:?}");
    }

    async fn truncate_names_what_went_where_that_is_asked(engine) {
        for is_on in [true, false] {
            let world = world(engine, is_on).await;
            let ids: Vec<_> = (0..1_200).map(|n| format!("i{n:04}")).collect();
            for some in ids.chunks(1_000) {
                world.bulk(&app(), "insert", &many(some.iter().map(|id| json!({ "_id": id })))).await.unwrap();
            }
            let before = world.outbox().await.len();
            call(&world, "truncate", &json!({ "dataCollectionId": "c" })).await;
            let mut rows = world.outbox().await.split_off(before);
            let (kind, whole) = rows.pop().unwrap();
            assert_eq!((kind.as_str(), members_of(&whole)), ("data_items_truncated", vec!["collection", "identity", "truncated"]));
            let mut named: Vec<_> = rows.iter().flat_map(|it| it.1["ids"].as_array().unwrap()).map(|it| it.as_str().unwrap()).collect();
            named.sort_unstable();
            match is_on {
                true => assert_eq!(named, ids),
                false => assert!(rows.is_empty()),
            }
            let is_piece = |it: &Value| it["truncated"] == true && it["ids"].as_array().unwrap().len() <= 1_000 && it.get("old").is_none();
            assert!(rows.iter().all(|it| it.0 == "data_item_deleted" && is_piece(&it.1)));
        }
    }

    /// Links are told where one of the two collections asks, with those that went.
    async fn links_are_told_with_those_that_went(engine) {
        for (is_source_on, is_target_on) in [(true, false), (false, true), (false, false)] {
            let world = world(engine, is_source_on).await;
            world.create_with("people", json!({ "dataPermissions": open_levels(), "logOldValues": is_target_on })).await;
            let field = json!({ "key": "actors", "type": "MULTI_REFERENCE",
                "typeMetadata": { "multiReference": { "referencedCollectionId": "people", "referencingFieldKey": "movies" } } });
            world.content.field_create(&world.site, &owner(), "c", &field).await.unwrap();
            for id in ["p", "q", "r"] {
                let mut body = single(json!({ "_id": id }));
                body["dataCollectionId"] = json!("people");
                let body = body.to_string();
                world.content.item_insert(&world.site, &app(), &Request::parse(body.as_bytes()).unwrap()).await.unwrap();
            }
            world.insert(&app(), json!({ "_id": "m" })).await.unwrap();
            let before = world.log().await.len();
            let reference = |to: &str| json!({ "referringItemFieldName": "actors", "referringItemId": "m", "referencedItemId": to });
            let references = |list: &[&str]| json!({ "dataCollectionId": "c", "dataItemReferences": list.iter().map(|it| reference(it)).collect::<Vec<_>>() });
            call(&world, "insert-references", &references(&["q", "p"])).await;
            call(&world, "remove-references", &references(&["q", "r"])).await;
            let new = json!({ "dataCollectionId": "c", "referringItemFieldName": "actors", "referringItemId": "m", "newReferencedItemIds": ["r", "p"] });
            call(&world, "replace-references", &new).await;
            let body = json!({ "dataCollectionId": "c", "dataItem": { "id": "m", "data": { "_id": "m", "actors": ["q"] } }, "saveReferences": true }).to_string();
            world.content.item_update(&world.site, &app(), &Request::parse(body.as_bytes()).unwrap()).await.unwrap();

            let mut rows = world.log().await.split_off(before);
            rows.retain(|it| it.0 == "data_item_references_changed");
            let edges = |list: &[&str]| -> Value { list.iter().map(|it| json!(["m", it])).collect() };
            let told: Vec<_> = rows.iter().map(|it| (it.1["removed"].clone(), it.1["added"].clone())).collect();
            if !is_source_on && !is_target_on {
                assert!(rows.is_empty(), "{rows:?}");
                continue;
            }
            assert_eq!(told, [
                (edges(&[]), edges(&["q", "p"])), (edges(&["q"]), edges(&[])),
                (edges(&["p"]), edges(&["r", "p"])), (edges(&["r", "p"]), edges(&["q"])),
            ]);
            let head = &rows[0].1;
            assert_eq!((&head["collection"], &head["field"], &head["target"]), (&json!("c"), &json!("actors"), &json!("people")));
        }
    }

    async fn passed_items_tell_whose_they_were(engine) {
        let world = world(engine, true).await;
        for id in ["a", "b"] {
            world.insert(&visitor("v"), json!({ "_id": id, "n": 1 })).await.unwrap();
        }
        let passed = world.site.write_with((world.content.clone(), world.site.clone()), |tx, (content, site)| {
            boxed!({
                let (visitor, member) = (VisitorId::from("v"), MemberId::from("m"));
                Ownership::pass(content, tx, site, &visitor, &member).await
            })
        });
        assert!(!passed.await.unwrap(), "nothing is left");
        let row = last(&world).await;
        assert_eq!((&row["modified"], &row["old"]), (&json!([["_owner"], ["_owner"]]), &json!([{ "_owner": "v" }, { "_owner": "v" }])));
        let items = last_items(&world).await;
        assert!(items.iter().all(|it| it.before.as_ref().unwrap()["_owner"] == "v" && it.after.as_ref().unwrap()["_owner"] == "m"));
    }

    /// The setting is shown where it is on, stays when a client that doesn't know it sends a definition back, and counts
    /// from the next write on.
    async fn setting_is_kept_until_it_is_taken_back(engine) {
        let world = world(engine, false).await;
        let (content, site) = (&world.content, &world.site);
        let shown = async || content.collection_get(site, &owner(), "c", &[], false).await.unwrap();
        assert!(shown().await.get("logOldValues").is_none());
        world.insert(&app(), json!({ "_id": "a", "n": 1 })).await.unwrap();
        for (value, expected) in [(json!(true), json!([{ "n": 1 }])), (json!(false), Value::Null)] {
            content.collection_patch(site, &owner(), &json!({ "id": "c", "logOldValues": value })).await.unwrap();
            let mut whole = shown().await;
            assert_eq!(whole.get("logOldValues").is_some(), value == true);
            whole.as_object_mut().unwrap().remove("logOldValues");
            content.collection_update(site, &owner(), &whole).await.unwrap();
            world.update(&app(), json!({ "_id": "a", "n": if value == true { 2 } else { 3 } }), None).await.unwrap();
            assert_eq!(last(&world).await["old"], expected);
        }
        let reasons = async || world.site.outbox().status(world.test.world.now()).await.unwrap().reasons;
        assert_eq!(reasons().await, [""; 0]);
        content.collection_patch(site, &owner(), &json!({ "id": "c", "logOldValues": true })).await.unwrap();
        assert_eq!(reasons().await, ["collection:c"], "rows stay for those who resume");
        content.collection_delete(site, &owner(), "c").await.unwrap();
        assert_eq!(reasons().await, [""; 0]);
        content.collection_restore(site, &owner(), "c").await.unwrap();
        assert_eq!(reasons().await, ["collection:c"]);
        for name in ["logOldValues", "realtime"] {
            let wrong = json!({ "id": "c", name: "yes" });
            assert_eq!(code(content.collection_patch(site, &owner(), &wrong).await), "WDE0075", "{name}");
        }
    }

    /// Who follows a collection must be told what leaves: old values come with it and go with it, whether they are asked
    /// for by themselves or not.
    async fn realtime_brings_old_values(engine) {
        let world = world(engine, false).await;
        let (content, site) = (&world.content, &world.site);
        world.insert(&app(), json!({ "_id": "a", "n": 0 })).await.unwrap();
        let reasons = async || world.site.outbox().status(world.test.world.now()).await.unwrap().reasons;
        let steps = [
            (json!({ "realtime": true }), true),
            (json!({ "logOldValues": true }), true),
            (json!({ "realtime": false }), true),
            (json!({ "logOldValues": false }), false),
            (json!({ "realtime": true, "logOldValues": false }), true),
        ];
        for (n, (mut patch, is_kept)) in steps.into_iter().enumerate() {
            patch["id"] = json!("c");
            let shown = content.collection_patch(site, &owner(), &patch).await.unwrap();
            if let Some(is_on) = patch["realtime"].as_bool() {
                assert_eq!(shown.get("realtime"), is_on.then_some(&json!(true)));
            }
            world.update(&app(), json!({ "_id": "a", "n": n + 1 }), None).await.unwrap();
            assert_eq!(last(&world).await["old"], if is_kept { json!([{ "n": n }]) } else { Value::Null }, "{patch}");
            assert_eq!(reasons().await.len(), usize::from(is_kept), "{patch}");
        }
        // A client that doesn't know of it sends a definition back, and a rename says nothing of it.
        let mut whole = content.collection_get(site, &owner(), "c", &[], false).await.unwrap();
        whole.as_object_mut().unwrap().remove("realtime");
        assert_eq!(content.collection_update(site, &owner(), &whole).await.unwrap()["realtime"], true);
        let renamed = content.collection_patch(site, &owner(), &json!({ "id": "c", "displayName": "C" })).await.unwrap();
        assert_eq!(renamed["realtime"], true);
        assert!(content.collection_get(site, &member("ann"), "c", &[], false).await.unwrap().get("realtime").is_none());
        // What is shown is a definition that another collection can be made from.
        whole["realtime"] = json!(true);
        whole["id"] = json!("d");
        assert_eq!(content.collection_create(site, &owner(), &whole).await.unwrap()["realtime"], true);
        let denied = content.collection_patch(site, &member("ann"), &json!({ "id": "c", "realtime": false })).await;
        assert_eq!(code(denied), "WDE0027");
    }
}
