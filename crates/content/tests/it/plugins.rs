use crate::common::*;
use serde_json::{Value, json};
use stoa_content::GetRequest;
use stoa_testkit::on_both_engines;

async fn plugins(world: &World) -> Value {
    world.content.collection_get(&world.site, &app(), "c", &[], false).await.unwrap()["plugins"].clone()
}

on_both_engines! {
    async fn plugins_are_kept_shown_and_deleted(engine) {
        let world = World::open(engine).await;
        let (content, site) = (&world.content, &world.site);
        for plugin in [
            json!({ "type": "SINGLE_ITEM", "singleItemOptions": { "singleItemId": "one" } }),
            json!({ "type": "URLIZED", "urlizedOptions": { "format": "PLAIN" } }),
            json!({ "type": "GRIDAPPLESS" }),
            json!({ "type": "MULTILINGUAL", "multilingualOptions": { "translatableFieldKeys": ["title"] } }),
            json!({ "type": "SHARED" }),
            json!({ "type": "EDITABLE_PAGE_LINK", "editablePageLinkOptions": { "isPersisted": true, "isMutable": false } }),
            json!({ "type": "CMS", "cmsOptions": { "siteSort": { "sort": [{ "fieldKey": "title", "direction": "ASC" }] } } }),
            json!({ "type": "CATALOG", "catalogOptions": { "nameFieldKey": "title", "priceFieldKey": "n" } }),
            json!({ "type": "CATEGORIES" }),
            json!({ "type": "DRAFT_ITEMS", "draftItemsOptions": { "draftPermissions": { "manageDrafts": "CMS_EDITOR" } } }),
        ] {
            let after = content.plugin_add(site, &app(), "c", &plugin, None).await.unwrap();
            assert_eq!(after["plugins"].as_array().unwrap().last(), Some(&plugin));
            assert_eq!(code(content.plugin_add(site, &app(), "c", &plugin, None).await), "WDE0080", "{plugin}");
        }
        assert_eq!(plugins(&world).await.as_array().unwrap().len(), 10);
        let whole = content.collection_get(site, &app(), "c", &[], false).await.unwrap();
        let same = content.collection_update(site, &app(), &whole).await.unwrap();
        assert_eq!(same["plugins"], whole["plugins"], "a round trip keeps them");
        for it in whole["plugins"].as_array().unwrap() {
            let name = it["type"].as_str().unwrap();
            content.plugin_delete(site, &app(), "c", name, None).await.unwrap();
            assert_eq!(code(content.plugin_delete(site, &app(), "c", name, None).await), "WDE0080");
        }
        assert_eq!(plugins(&world).await, json!([]));
        let publish = json!({ "type": "PUBLISH", "publishOptions": { "defaultStatus": "DRAFT", "lifecycleStatus": "MIGRATING_TO_DRAFT_ITEMS" } });
        let after = content.plugin_add(site, &app(), "c", &publish, None).await.unwrap();
        assert_eq!(after["plugins"], json!([{ "type": "PUBLISH", "publishOptions": { "defaultStatus": "DRAFT", "lifecycleStatus": "ACTIVE" } }]));
        assert_eq!(code(content.plugin_add(site, &member("m"), "c", &json!({ "type": "CMS" }), None).await), "WDE0027");
        assert_eq!(code(content.plugin_add(site, &app(), "none", &json!({ "type": "CMS" }), None).await), "WDE0025");
    }

    async fn publish_and_draft_items_exclude_each_other(engine) {
        let world = World::open(engine).await;
        let (content, site) = (&world.content, &world.site);
        let (publish, drafts) = (json!({ "type": "PUBLISH" }), json!({ "type": "DRAFT_ITEMS" }));
        content.plugin_add(site, &app(), "c", &publish, None).await.unwrap();
        for action in [None, Some(json!(null)), Some(json!("FAIL_WHEN_PUBLISH_INSTALLED"))] {
            assert_eq!(code(content.plugin_add(site, &app(), "c", &drafts, action.as_ref()).await), "WDE0080");
        }
        assert_eq!(code(content.plugin_add(site, &app(), "c", &drafts, Some(&json!("DISCARD_DRAFT_ITEMS"))).await), "WDE0075");
        let copy = json!("COPY_DRAFT_ITEMS_WITH_DRAFT_STATUS");
        let after = content.plugin_add(site, &app(), "c", &drafts, Some(&copy)).await.unwrap();
        assert_eq!(after["plugins"], json!([drafts]));
        assert_eq!(code(content.plugin_add(site, &app(), "c", &publish, None).await), "WDE0080");
        content.plugin_add(site, &app(), "c", &publish, Some(&json!("DISCARD_DRAFT_ITEMS"))).await.unwrap();
        assert_eq!(plugins(&world).await[0]["type"], "PUBLISH");
        assert_eq!(code(content.plugin_delete(site, &app(), "c", "PUBLISH", Some(&json!("x"))).await), "WDE0075");
        assert_eq!(code(content.plugin_delete(site, &app(), "c", "NOVEL", None).await), "WDE0075");
        let both = json!({ "id": "c", "plugins": [publish, drafts] });
        assert_eq!(code(content.collection_patch(site, &app(), &both).await), "WDE0075");
    }

    async fn plugin_options_belong_to_their_plugin(engine) {
        let world = World::open(engine).await;
        for plugin in [
            json!(7), json!({}), json!({ "type": "MAGIC" }), json!({ "type": 1 }),
            json!({ "type": "PUBLISH", "publishOptions": { "defaultStatus": "MAYBE" } }),
            json!({ "type": "PUBLISH", "publishOptions": [] }),
            json!({ "type": "PUBLISH", "urlizedOptions": { "format": "PLAIN" } }),
            json!({ "type": "SINGLE_ITEM", "singleItemOptions": { "singleItemId": "a?b" } }),
            json!({ "type": "SINGLE_ITEM", "singleItemOptions": { "singleItemId": "" } }),
            json!({ "type": "URLIZED", "urlizedOptions": { "format": "FANCY" } }),
            json!({ "type": "MULTILINGUAL", "multilingualOptions": { "translatableFieldKeys": "title" } }),
            json!({ "type": "EDITABLE_PAGE_LINK", "editablePageLinkOptions": { "isMutable": "no" } }),
            json!({ "type": "CMS", "cmsOptions": { "siteSort": { "sort": [{ "direction": "UP" }] } } }),
            json!({ "type": "CATALOG", "catalogOptions": { "nameFieldKey": 7 } }),
            json!({ "type": "DRAFT_ITEMS", "draftItemsOptions": { "draftPermissions": { "manageDrafts": "ALL" } } }),
        ] {
            let added = world.content.plugin_add(&world.site, &app(), "c", &plugin, None).await;
            assert_eq!(code(added), "WDE0075", "{plugin}");
            let patch = json!({ "id": "c", "plugins": [plugin] });
            assert_eq!(code(world.content.collection_patch(&world.site, &app(), &patch).await), "WDE0075", "{plugin}");
        }
        let twice = json!({ "id": "c", "plugins": [{ "type": "CMS" }, { "type": "CMS" }] });
        assert_eq!(code(world.content.collection_patch(&world.site, &app(), &twice).await), "WDE0075");
    }

    async fn single_item_collection_has_one_item(engine) {
        let world = World::new(engine).await;
        let levels = json!({ "itemRead": "ANYONE", "itemInsert": "ANYONE", "itemUpdate": "ANYONE", "itemRemove": "ANYONE" });
        let object = json!({
            "id": "c", "dataPermissions": levels, "strictMode": true,
            "fields": [
                { "key": "title", "type": "TEXT", "typeMetadata": { "text": { "defaultValue": "Welcome" } } },
                { "key": "must", "type": "TEXT", "required": true },
            ],
            "plugins": [{ "type": "SINGLE_ITEM", "singleItemOptions": { "singleItemId": "home" } }],
        });
        world.content.collection_create(&world.site, &owner(), &object).await.unwrap();
        assert_eq!(world.get(&visitor("v"), "home").await.unwrap()["title"], "Welcome", "it is there from the start");
        assert_eq!(world.outbox().await[0].0, "data_item_created");
        for data in [json!({ "must": "x" }), json!({ "_id": "home", "must": "x" })] {
            assert_eq!(code(world.insert(&app(), data).await), "WDE0074");
        }
        assert_eq!(code(world.insert(&app(), json!({ "_id": "other", "must": "x" })).await), "WDE0119");
        assert_eq!(code(world.save(&app(), json!({ "_id": "other", "must": "x" })).await), "WDE0119");
        let (saved, is_new) = world.save(&app(), json!({ "title": "Hello", "must": "x" })).await.unwrap();
        assert_eq!((&saved["_id"], is_new), (&json!("home"), false));
        for call in ["insert", "save"] {
            assert_eq!(code(world.bulk(&app(), call, &many([json!({ "must": "x" })])).await), "WDE0119");
        }
        world.remove(&app(), "home", None).await.unwrap();
        assert_eq!(world.insert(&app(), json!({ "must": "x" })).await.unwrap()["_id"], "home", "one that was removed comes back by its id");
    }

    async fn single_item_comes_with_its_plugin(engine) {
        let world = World::open(engine).await;
        world.insert(&app(), json!({ "_id": "a", "n": 1 })).await.unwrap();
        world.content.plugin_add(&world.site, &owner(), "c", &json!({ "type": "SINGLE_ITEM" }), None).await.unwrap();
        assert_eq!(world.get(&app(), "SINGLE").await.unwrap()["_owner"], "olga");
        assert_eq!(world.get(&app(), "a").await.unwrap()["n"], 1, "what else is there stays");
    }

    async fn deleted_collection_has_no_items(engine) {
        let world = World::open(engine).await;
        world.insert(&app(), json!({ "_id": "a" })).await.unwrap();
        world.content.collection_delete(&world.site, &app(), "c").await.unwrap();
        assert_eq!(code(world.get(&app(), "a").await), "WDE0026");
        assert_eq!(code(world.insert(&app(), json!({})).await), "WDE0026");
        assert_eq!(code(world.count(&app(), json!({})).await), "WDE0026");
        let request = GetRequest { collection: "never".to_owned(), id: "a".to_owned(), ..GetRequest::default() };
        assert_eq!(code(world.content.item_get(&world.site, &app(), &request).await), "WDE0025");
        assert_eq!(code(world.content.collection_get(&world.site, &app(), "c", &[], false).await), "WDE0025");
        assert_eq!(code(world.content.collection_delete(&world.site, &app(), "c").await), "WDE0025");
        world.content.collection_restore(&world.site, &app(), "c").await.unwrap();
        assert_eq!(world.get(&app(), "a").await.unwrap()["_id"], "a", "its items come back with it");
    }
}
