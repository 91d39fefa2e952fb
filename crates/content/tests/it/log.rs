//! Each change of a collection, its rights and its indexes writes its row of the log, and nothing else does.

use crate::common::*;
use serde_json::{Value, json};
use stoa_content::{ContentChange, ContentEntry, event::read::index_event};
use stoa_kernel::EntryKind::{self, *};
use stoa_testkit::on_both_engines;

/// The kinds of all rows but the first ones.
async fn kinds_since(world: &World, before: usize) -> Vec<EntryKind> {
    world.log().await[before..].iter().map(|it| EntryKind::parse(&it.0).expect("a kind of the table")).collect()
}

async fn work(world: &World) {
    for _ in 0..1_500 {
        if !world.content.index_work_do(&world.site).await.unwrap() {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    panic!("the work does not end");
}

on_both_engines! {
    async fn each_change_of_a_collection_writes_its_row(engine) {
        let world = World::open(engine).await;
        let (content, site) = (&world.content, &world.site);
        let identity = json!({ "type": "WIX_USER", "id": "olga" });
        let created = world.log().await;
        assert_eq!(created, [(CollectionCreated.name().to_owned(), json!({ "collection": "c", "identity": identity, "revision": "1" }))]);

        content.collection_patch(site, &owner(), &json!({ "id": "c", "displayName": "Cars" })).await.unwrap();
        assert_eq!(kinds_since(&world, 1).await, [CollectionUpdated]);
        assert_eq!(world.log().await[1].1["revision"], "2");
        content.permissions_update(site, &app(), &json!({ "id": "c", "itemRead": "SITE_MEMBER" })).await.unwrap();
        assert_eq!(kinds_since(&world, 2).await, [CollectionUpdated, CollectionAccessChanged]);
        assert_eq!(world.log().await[3].1, json!({ "collection": "c", "identity": { "type": "APP", "id": "key" } }));
        let grant = content.special_add(site, &owner(), "c", &json!({ "userId": "ann", "itemRead": "ALLOWED" })).await.unwrap();
        let grant = grant["id"].as_str().unwrap().to_owned();
        content.special_update(site, &owner(), &grant, &json!({ "itemInsert": "ALLOWED" })).await.unwrap();
        content.special_remove(site, &owner(), &grant).await.unwrap();
        assert_eq!(kinds_since(&world, 4).await, [CollectionAccessChanged; 3]);

        content.collection_delete(site, &owner(), "c").await.unwrap();
        content.collection_restore(site, &owner(), "c").await.unwrap();
        assert_eq!(kinds_since(&world, 7).await, [CollectionDeleted, CollectionRestored]);
    }

    async fn change_of_another_collection_writes_a_row_for_both(engine) {
        let world = World::open(engine).await;
        world.create("people", json!({ "itemRead": "ANYONE" })).await;
        let before = world.log().await.len();
        let field = json!({ "key": "actors", "type": "MULTI_REFERENCE",
            "typeMetadata": { "multiReference": { "referencedCollectionId": "people", "referencingFieldKey": "movies" } } });
        world.content.field_create(&world.site, &owner(), "c", &field).await.unwrap();
        let rows = &world.log().await[before..];
        let changed: Vec<_> = rows.iter().map(|it| (it.0.as_str(), it.1["collection"].as_str().unwrap())).collect();
        assert_eq!(changed, [(CollectionUpdated.name(), "people"), (CollectionUpdated.name(), "c")]);
    }

    async fn refused_change_writes_no_row(engine) {
        let world = World::open(engine).await;
        let (content, site) = (&world.content, &world.site);
        let before = world.log().await;
        let wrong = json!({ "id": "c", "revision": "9", "displayName": "x" });
        assert_eq!(code(content.collection_patch(site, &owner(), &wrong).await), "WDE0178");
        assert_eq!(code(content.collection_restore(site, &owner(), "c").await), "WDE0104");
        assert_eq!(code(content.collection_delete(site, &owner(), "none").await), "WDE0025");
        let object = json!({ "id": "c", "fields": [{ "key": "a", "type": "TEXT" }], "dataPermissions": {} });
        assert_eq!(code(content.collection_create(site, &owner(), &object).await), "WDE0104");
        assert_eq!(code(content.field_delete(site, &owner(), "c", "none").await), "WDE0147");
        assert_eq!(code(content.index_drop(site, &owner(), "c", "none").await), "WDE0176");
        assert_eq!(code(content.special_remove(site, &owner(), "none").await), "NOT_FOUND");
        assert_eq!(code(world.update(&app(), json!({ "_id": "none" }), None).await), "WDE0073");
        assert_eq!(world.log().await, before);
    }

    async fn index_is_told_from_its_making_to_its_end(engine) {
        let world = World::open(engine).await;
        let before = world.log().await.len();
        let fields = |path: &str| json!([{ "path": path }]);
        for (name, unique) in [("by-n", false), ("only", true)] {
            let index = json!({ "name": name, "fields": fields(if unique { "title" } else { "n" }), "unique": unique });
            world.content.index_create(&world.site, &owner(), "c", &index).await.unwrap();
        }
        for id in ["a", "b"] {
            world.insert(&app(), json!({ "_id": id, "title": "same" })).await.unwrap();
        }
        work(&world).await;
        world.content.index_drop(&world.site, &owner(), "c", "by-n").await.unwrap();
        work(&world).await;

        let entries = world.entries(&world.site, before + 7).await.split_off(before);
        let read = |it| ContentEntry::parse(it).unwrap().unwrap();
        let told: Vec<_> = entries.iter().map(read).filter_map(|it| match it.change {
            ContentChange::Index(index) => Some((it.kind, it.actor.id, index["name"].as_str().unwrap().to_owned(), index["status"].as_str().unwrap().to_owned())),
            _ => None,
        }).collect();
        let told: Vec<_> = told.iter().map(|it| (it.0, it.1.as_str(), it.2.as_str(), it.3.as_str())).collect();
        assert_eq!(told, [
            (IndexCreated, "olga", "by-n", "BUILDING"), (IndexCreated, "olga", "only", "BUILDING"),
            (IndexBuilt, "", "by-n", "ACTIVE"), (IndexFailed, "", "only", "FAILED"), (IndexRemoved, "", "by-n", "DROPPING"),
        ]);
        let events: Vec<_> = entries.iter().filter_map(|it| index_event(it).unwrap()).collect();
        let types: Vec<_> = events.iter().map(|it| it.event_type.trim_start_matches("wix.data.v2.index_")).collect();
        assert_eq!(types, ["created", "created", "updated", "updated", "deleted"]);
        let failed = &events[3].body["updatedEvent"]["currentEntity"];
        assert_eq!((&failed["status"], &failed["failure"]["code"]), (&json!("FAILED"), &json!("WDE0113")));
        assert_eq!(events[3].identity, json!({ "identityType": "UNKNOWN" }));
        assert_eq!(events[0].body["createdEvent"]["entity"]["id"], events[0].body["entityId"]);
    }

    async fn purged_field_is_told_when_its_values_are_gone(engine) {
        let world = World::open(engine).await;
        for some in [0..600, 600..1_200] {
            world.bulk(&app(), "insert", &many(some.map(|n| json!({ "_id": format!("i{n}"), "n": n })))).await.unwrap();
        }
        let before = world.log().await.len();
        world.content.field_delete(&world.site, &owner(), "c", "n").await.unwrap();
        let rows = &world.log().await[before..];
        assert_eq!(rows.iter().map(|it| it.0.as_str()).collect::<Vec<_>>(), [CollectionUpdated.name(), FieldPurged.name()]);
        assert_eq!(rows[1].1, json!({ "collection": "c", "identity": { "type": "WIX_USER", "id": "olga" }, "field": "n" }));
        assert!(world.get(&app(), "i7").await.unwrap().get("n").is_none());
    }

    async fn other_sites_have_none_of_it(engine) {
        let world = World::open(engine).await;
        let other = world.test.store.site_create("other", &world.test.world).await.unwrap();
        world.insert(&app(), json!({ "_id": "a" })).await.unwrap();
        let entries = world.entries(&world.site, 2).await;
        assert_eq!(entries.iter().map(|it| it.kind.as_str()).collect::<Vec<_>>(), [CollectionCreated.name(), ItemCreated.name()]);
        assert!(entries.iter().all(|it| it.site == world.site.id));
        assert!(world.entries(&other, 0).await.is_empty());
    }

    /// What a row tells is read back as it was written, whichever kind it is of.
    async fn rows_are_read_as_they_were_written(engine) {
        let world = World::open(engine).await;
        world.insert(&member("ann"), json!({ "_id": "a", "n": 1 })).await.unwrap();
        world.content.collection_delete(&world.site, &owner(), "c").await.unwrap();
        let entries = world.entries(&world.site, 3).await;
        let told: Vec<ContentEntry> = entries.iter().map(|it| ContentEntry::parse(it).unwrap().unwrap()).collect();
        assert_eq!((told[0].kind, &told[0].change), (CollectionCreated, &ContentChange::Definition(Some(1))));
        let ContentChange::Items(items) = &told[1].change else { panic!("{:?}", told[1]) };
        assert_eq!((items[0].id.as_str(), &items[0].before), ("a", &None));
        assert_eq!(items[0].after.as_ref().unwrap()["n"], json!(1));
        assert_eq!(told[1].actor.to_json(), json!({ "identityType": "MEMBER", "memberId": "ann" }));
        assert_eq!((told[2].kind, &told[2].change), (CollectionDeleted, &ContentChange::Definition(None)));
        assert!(told.iter().all(|it| it.collection == "c"));
        let own = serde_json::from_str::<Value>(&entries[1].payload).unwrap();
        assert!(own.get("old").is_none());
    }
}
