use crate::common::*;
use serde_json::{Value, json};
use stoa_content::{Content, ContentLimits, ListOptions};
use stoa_testkit::on_both_engines;

fn cars() -> Value {
    json!({
        "id": "Shop/cars", "displayName": "Cars",
        "fields": [
            { "key": "title", "displayName": "Title", "type": "TEXT" },
            { "key": "maker", "type": "REFERENCE", "typeMetadata": { "reference": { "referencedCollectionId": "makers" } } },
            { "key": "n", "type": "NUMBER", "numberRange": { "min": 1, "max": "Infinity" } },
        ],
        "permissions": { "insert": "ADMIN", "update": "ADMIN", "remove": "ADMIN", "read": "ANYONE" },
        "plugins": [{ "type": "SINGLE_ITEM", "singleItemOptions": { "singleItemId": "SINGLE" } }],
    })
}

on_both_engines! {
    async fn faults_of_a_definition_are_told_together(engine) {
        let world = World::new(engine).await;
        let places = |result: stoa_kernel::Result<Value>| -> Vec<String> {
            let fault = result.expect_err("a refusal");
            assert_eq!(fault.code().name(), "WDE0075", "{fault:?}");
            fault.violations().iter().map(|it| it.field.clone()).collect()
        };
        let object = json!({
            "id": "a?b", "displayName": 7, "dataPermissions": { "itemRead": "ALL" },
            "fields": [
                { "key": "$a", "type": "NOVEL" }, { "type": "TEXT" }, { "key": "ok", "type": "TEXT" }, { "key": "ok", "type": "TEXT" },
                { "key": "to", "type": "REFERENCE" },
            ],
            "plugins": [{ "type": "MAGIC" }, { "type": "CMS", "cmsOptions": [] }],
        });
        assert_eq!(places(world.content.collection_create(&world.site, &app(), &object).await), [
            "collection.id", "collection.displayName", "collection.dataPermissions.itemRead", "collection.fields[0].type",
            "collection.fields[0].key", "collection.fields[1].key", "collection.fields[3].key",
            "collection.fields[4].typeMetadata.reference.referencedCollectionId", "collection.plugins[0].type",
            "collection.plugins[1].cmsOptions",
        ]);
        // What fields ask of values, once the fields are what they must be.
        let broken = |key: &str| json!({ "key": key, "type": "TEXT", "typeMetadata": { "text": { "textValidation": { "pattern": "(" } } } });
        let object = json!({ "id": "a", "fields": [broken("a"), { "key": "b", "type": "TEXT" }, broken("c")], "dataPermissions": {} });
        let found = places(world.content.collection_create(&world.site, &app(), &object).await);
        assert!(found.len() == 2 && found[0].starts_with("collection.fields[0]") && found[1].starts_with("collection.fields[2]"), "{found:?}");
        world.create("c", json!({ "itemRead": "ANYONE" })).await;
        let patch = json!({ "id": "c", "description": [], "fields": [{ "key": "x" }] });
        assert_eq!(places(world.content.collection_patch(&world.site, &app(), &patch).await), ["dataCollection.description", "dataCollection.fields[0].type"]);
        assert_eq!(places(world.content.collection_update(&world.site, &app(), &json!({ "id": "c" })).await), ["collection.revision", "collection.fields"]);
    }

    async fn collection_is_made_changed_deleted_and_restored(engine) {
        let world = World::new(engine).await;
        let (content, site) = (&world.content, &world.site);
        let made = content.collection_create(site, &editor(), &cars()).await.unwrap();
        assert_eq!(made["revision"], "1");
        assert_eq!(made["dataPermissions"]["itemInsert"], "CMS_EDITOR");
        assert_eq!(made["permissions"]["insert"], "ADMIN");
        assert_eq!(made["fields"].as_array().unwrap().len(), 7, "three and the system's four");
        assert_eq!(made["fields"][1]["typeMetadata"], cars()["fields"][1]["typeMetadata"]);
        assert_eq!(made["displayField"], "title");
        assert_eq!(made["createdDate"], "2026-01-01T00:00:00.000Z");
        assert_eq!(code(content.collection_create(site, &app(), &cars()).await), "WDE0104");

        let read = content.collection_get(site, &app(), "Shop/cars", &[], false).await.unwrap();
        assert_eq!(read, made);
        let some = content.collection_get(site, &app(), "Shop/cars", &["displayName".to_owned()], false).await.unwrap();
        assert_eq!(some, json!({ "id": "Shop/cars", "displayName": "Cars" }));

        // The whole object comes back on a round trip.
        world.test.clock.advance(5);
        let mut changed = read.clone();
        changed["displayName"] = "Autos".into();
        changed["permissions"]["read"] = "SITE_MEMBER".into();
        let after = content.collection_update(site, &app(), &changed).await.unwrap();
        assert_eq!(after["revision"], "2");
        assert_eq!(after["dataPermissions"]["itemRead"], "SITE_MEMBER");
        assert_eq!(after["fields"], read["fields"]);
        assert_eq!(after["plugins"], cars()["plugins"]);
        assert_eq!(after["updatedDate"], "2026-01-01T00:00:00.005Z");
        assert_eq!(code(content.collection_update(site, &app(), &changed).await), "WDE0178");
        changed.as_object_mut().unwrap().remove("revision");
        assert_eq!(code(content.collection_update(site, &app(), &changed).await), "WDE0075");

        let patch = json!({ "id": "Shop/cars", "description": "With wheels" });
        let patched = content.collection_patch(site, &app(), &patch).await.unwrap();
        assert_eq!((&patched["displayName"], &patched["description"]), (&json!("Autos"), &json!("With wheels")));

        content.collection_delete(site, &app(), "Shop/cars").await.unwrap();
        assert_eq!(code(content.collection_get(site, &app(), "Shop/cars", &[], false).await), "WDE0025");
        assert_eq!(code(content.collection_delete(site, &app(), "Shop/cars").await), "WDE0025");
        let back = content.collection_restore(site, &app(), "Shop/cars").await.unwrap();
        assert_eq!(back["displayName"], "Autos");
        assert_eq!(code(content.collection_restore(site, &app(), "Shop/cars").await), "WDE0104");
        assert_eq!(code(content.collection_restore(site, &app(), "other").await), "WDE0025");

        content.collection_delete(site, &app(), "Shop/cars").await.unwrap();
        let again = content.collection_create(site, &app(), &cars()).await.unwrap();
        assert_eq!(again["revision"], "1", "an id is free again after a delete");
    }

    async fn collections_are_defined_by_editors_only(engine) {
        let world = World::new(engine).await;
        let (content, site) = (&world.content, &world.site);
        for caller in [visitor("v"), member("m")] {
            assert_eq!(code(content.collection_create(site, &caller, &cars()).await), "WDE0027");
            assert_eq!(code(content.collection_delete(site, &caller, "x").await), "WDE0027");
        }
        let mut private = cars();
        private["id"] = "private".into();
        private["dataPermissions"] = json!({ "itemRead": "PRIVILEGED" });
        assert_eq!(code(content.collection_create(site, &editor(), &private).await), "WDE0027");
        let kept = content.collection_create(site, &owner(), &private).await.unwrap();
        let mut opened = kept.clone();
        opened["dataPermissions"]["itemRead"] = "ANYONE".into();
        assert_eq!(code(content.collection_update(site, &editor(), &opened).await), "WDE0027");
        assert_eq!(code(content.collection_delete(site, &editor(), "private").await), "WDE0027");
        content.collection_update(site, &owner(), &opened).await.unwrap();
    }

    async fn collections_are_reduced_for_those_who_manage_none(engine) {
        let world = World::new(engine).await;
        let (content, site) = (&world.content, &world.site);
        content.collection_create(site, &owner(), &cars()).await.unwrap();
        let mut hidden = cars();
        hidden["id"] = "hidden".into();
        hidden["permissions"]["read"] = "ADMIN".into();
        content.collection_create(site, &owner(), &hidden).await.unwrap();

        let seen = content.collection_get(site, &visitor("v"), "Shop/cars", &[], true).await.unwrap();
        let names: Vec<_> = seen.as_object().unwrap().keys().cloned().collect();
        assert_eq!(names, ["id", "displayName", "displayField", "plugins", "fields", "allowedDataPermissions"]);
        assert_eq!(seen["fields"][0], json!({ "key": "title", "displayName": "Title", "type": "TEXT" }));
        let allowed = json!({ "itemRead": true, "itemInsert": false, "itemUpdate": false, "itemRemove": false });
        assert_eq!(seen["allowedDataPermissions"], allowed);
        assert_eq!(code(content.collection_get(site, &visitor("v"), "hidden", &[], false).await), "WDE0025");
        let list = |caller| async move { content.collection_list(site, &caller, &ListOptions::default()).await.unwrap() };
        assert_eq!(list(visitor("v")).await.total, 1);
        assert_eq!(list(editor()).await.total, 2);
    }

    async fn collection_lists_are_sorted_and_paged(engine) {
        let world = World::new(engine).await;
        for (id, name) in [("b", "Two"), ("a", "One"), ("c", "Three")] {
            let mut object = cars();
            object["id"] = id.into();
            object["displayName"] = name.into();
            world.content.collection_create(&world.site, &app(), &object).await.unwrap();
            world.test.clock.advance(1);
        }
        let list = |options: ListOptions| {
            let world = &world;
            async move {
                let list = world.content.collection_list(&world.site, &app(), &options).await?;
                let ids = list.collections.iter().map(|it| it["id"].as_str().unwrap().to_owned());
                Ok((ids.collect::<Vec<_>>().join(""), list.total))
            }
        };
        let by = |name: &str| ListOptions { sort: Some(name.to_owned()), ..ListOptions::default() };
        assert_eq!(list(ListOptions::default()).await.unwrap(), ("bac".to_owned(), 3));
        assert_eq!(list(by("_id")).await.unwrap().0, "abc");
        assert_eq!(list(by("displayName")).await.unwrap().0, "acb");
        assert_eq!(list(ListOptions { is_descending: true, ..by("createdDate") }).await.unwrap().0, "cab");
        let page = ListOptions { limit: Some(1), offset: 1, ..by("id") };
        assert_eq!(list(page).await.unwrap(), ("b".to_owned(), 3));
        assert_eq!(code(list(by("revision")).await), "WDE0080");
    }

    async fn fields_are_added_changed_and_deleted(engine) {
        let world = World::new(engine).await;
        let (content, site) = (&world.content, &world.site);
        content.collection_create(site, &app(), &cars()).await.unwrap();
        let id = "Shop/cars";
        let field = json!({ "key": "color", "type": "TEXT", "displayName": "Colour" });
        content.field_create(site, &app(), id, &field).await.unwrap();
        assert_eq!(code(content.field_create(site, &app(), id, &field).await), "WDE0123");
        let patch = json!({ "key": "color", "displayName": "Color" });
        let after = content.field_update(site, &app(), id, &patch, true).await.unwrap();
        assert_eq!((&after["fields"][3]["displayName"], &after["fields"][3]["type"]), (&json!("Color"), &json!("TEXT")));
        assert_eq!(code(content.field_update(site, &app(), id, &patch, false).await), "WDE0075", "a type is missing");
        let after = content.field_delete(site, &app(), id, "color").await.unwrap();
        assert_eq!(after["revision"], "4");
        assert_eq!(code(content.field_delete(site, &app(), id, "color").await), "WDE0147");
    }

    async fn collections_made_at_once_share_no_number_or_id(engine) {
        let world = World::new(engine).await;
        let make = |id: String| {
            let (content, site) = (world.content.clone(), world.site.clone());
            tokio::spawn(async move {
                let mut object = cars();
                object["id"] = id.into();
                content.collection_create(&site, &app(), &object).await.map(|_| ())
            })
        };
        let calls: Vec<_> = (0..8).map(|n| make(format!("c{}", n % 4))).collect();
        let mut verdicts = Vec::new();
        for it in calls {
            verdicts.push(code(it.await.unwrap()));
        }
        verdicts.sort_unstable();
        assert_eq!(verdicts, ["WDE0104", "WDE0104", "WDE0104", "WDE0104", "ok", "ok", "ok", "ok"]);
    }

    async fn definition_changed_elsewhere_is_seen_in_two_seconds(engine) {
        let world = World::open(engine).await;
        // A second set of memories on the same store stands for another node.
        let other = Content::new(world.test.world.clone(), ContentLimits::default());
        let query = members(json!({ "dataCollectionId": "c", "query": {} }));
        other.item_query(&world.site, &visitor("v"), None, &query).await.unwrap();
        let patch = json!({ "id": "c", "dataPermissions": { "itemRead": "PRIVILEGED" } });
        world.content.collection_patch(&world.site, &owner(), &patch).await.unwrap();
        assert_eq!(code(world.ids(&visitor("v"), json!({})).await), "WDE0027", "at once where it was made");
        world.test.clock.advance(2_000);
        assert_eq!(code(other.item_query(&world.site, &visitor("v"), None, &query).await), "WDE0027");
    }

    async fn malformed_definitions_have_their_codes(engine) {
        let world = World::new(engine).await;
        let with = |name: &str, value: Value| {
            let mut object = cars();
            object[name] = value;
            object
        };
        for (object, wants) in [
            (json!({}), "WDE0075"),
            (with("id", json!("")), "WDE0075"),
            (with("id", json!(1)), "WDE0075"),
            (with("id", json!("a?b")), "WDE0075"),
            (with("id", json!("a\u{0}b")), "WDE0075"),
            (with("id", json!("x".repeat(257))), "WDE0075"),
            (with("fields", json!([])), "WDE0075"),
            (with("fields", json!({})), "WDE0075"),
            (with("fields", json!([1])), "WDE0075"),
            (with("fields", json!([{ "key": "a", "type": "TEXT" }, { "key": "a", "type": "TEXT" }])), "WDE0075"),
            (with("fields", json!([{ "key": "$a", "type": "TEXT" }])), "WDE0134"),
            (with("permissions", json!(null)), "WDE0075"),
            (with("permissions", json!({ "read": "EVERYONE" })), "WDE0075"),
            (with("permissions", json!("ANYONE")), "WDE0075"),
            (with("plugins", json!([{ "type": "MAGIC" }])), "WDE0075"),
            (with("strictMode", json!("yes")), "WDE0075"),
            (with("displayName", json!(["x"])), "WDE0075"),
            (with("displayName", json!("a\u{0}")), "WDE0075"),
        ] {
            let result = world.content.collection_create(&world.site, &app(), &object).await;
            assert_eq!(code(result), wants, "{object}");
        }
        let strange = with("id", json!("'; drop table stoa.collection; -- ../ü 😀"));
        world.content.collection_create(&world.site, &app(), &strange).await.unwrap();
    }
}
