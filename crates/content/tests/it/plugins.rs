use crate::common::*;
use serde_json::{Value, json};
use stoa_content::{GetRequest, Request};
use stoa_testkit::on_both_engines;

async fn plugins(world: &World) -> Value {
    world.content.collection_get(&world.site, &app(), "c", &[], false).await.unwrap()["plugins"].clone()
}

/// A plugin that older versions kept without its pair.
fn unpaired() -> Value {
    json!({ "type": "DRAFT_ITEMS", "draftItemsOptions": { "draftPermissions": { "manageDrafts": "CMS_EDITOR" } } })
}

on_both_engines! {
    async fn plugins_are_kept_shown_and_deleted(engine) {
        let world = World::open(engine).await;
        let (content, site) = (&world.content, &world.site);
        for plugin in [
            json!({ "type": "SINGLE_ITEM", "singleItemOptions": { "singleItemId": "one" } }),
            json!({ "type": "GRIDAPPLESS" }),
            json!({ "type": "SHARED" }),
            json!({ "type": "EDITABLE_PAGE_LINK", "editablePageLinkOptions": { "isPersisted": true, "isMutable": false } }),
            json!({ "type": "CMS", "cmsOptions": { "siteSort": { "sort": [{ "fieldKey": "title", "direction": "ASC" }] } } }),
            json!({ "type": "CATEGORIES" }),
            json!({ "type": "URLIZED", "urlizedOptions": { "format": "PLAIN" } }),
            json!({ "type": "CATALOG", "catalogOptions": { "nameFieldKey": "title", "priceFieldKey": "n" } }),
        ] {
            let after = content.plugin_add(site, &app(), "c", &plugin, None).await.unwrap();
            assert_eq!(after["plugins"].as_array().unwrap().last(), Some(&plugin));
            assert_eq!(code(content.plugin_add(site, &app(), "c", &plugin, None).await), "WDE0080", "{plugin}");
        }
        assert_eq!(plugins(&world).await.as_array().unwrap().len(), 8);
        let whole = content.collection_get(site, &app(), "c", &[], false).await.unwrap();
        let same = content.collection_update(site, &app(), &whole).await.unwrap();
        assert_eq!(same["plugins"], whole["plugins"], "a round trip keeps them");
        for it in whole["plugins"].as_array().unwrap() {
            let name = it["type"].as_str().unwrap();
            content.plugin_delete(site, &app(), "c", name, None).await.unwrap();
            assert_eq!(code(content.plugin_delete(site, &app(), "c", name, None).await), "WDE0080");
        }
        assert_eq!(plugins(&world).await, json!([]));
        assert_eq!(code(content.plugin_add(site, &member("m"), "c", &json!({ "type": "CMS" }), None).await), "WDE0027");
        assert_eq!(code(content.plugin_add(site, &app(), "none", &json!({ "type": "CMS" }), None).await), "WDE0025");
        assert_eq!(code(content.plugin_delete(site, &app(), "c", "NOVEL", None).await), "WDE0075");
        assert_eq!(code(content.plugin_delete(site, &app(), "c", "CMS", Some(&json!("x"))).await), "WDE0075");
    }

    async fn plugins_of_drafts_exclude_each_other(engine) {
        let world = World::open(engine).await;
        let both = json!({ "id": "c", "plugins": [{ "type": "PUBLISH" }, { "type": "DRAFT_ITEMS" }] });
        assert_eq!(code(world.content.collection_patch(&world.site, &app(), &both).await), "WDE0075");
    }

    async fn plugin_without_its_pair_stays_where_it_is(engine) {
        let mut world = World::open(engine).await;
        world.keep_plugin(unpaired()).await;
        let (content, site, name) = (&world.content, &world.site, "DRAFT_ITEMS");
        let whole = content.collection_get(site, &app(), "c", &[], false).await.unwrap();
        assert_eq!(whole["plugins"][0]["type"], name);
        let same = content.collection_update(site, &app(), &whole).await.unwrap();
        assert_eq!(same["plugins"], whole["plugins"], "a round trip keeps it");
        assert_eq!(code(content.plugin_add(site, &app(), "c", &unpaired(), None).await), "WDE0080", "it is there already");
        // Without the plugin its drafts would show to those who can't see them.
        assert_eq!(code(content.plugin_delete(site, &editor(), "c", name, None).await), "WDE0027");
        content.plugin_delete(site, &owner(), "c", name, None).await.unwrap();
        assert_eq!(plugins(&world).await, json!([]));
    }

    async fn drafts_are_there_for_no_call_that_is_not_about_them(engine) {
        for (plugin, without_status) in [
            (json!({ "type": "PUBLISH" }), true),
            (json!({ "type": "PUBLISH", "publishOptions": { "defaultStatus": "DRAFT" } }), false),
            (json!({ "type": "DRAFT_ITEMS" }), true),
        ] {
            let mut world = World::open(engine).await;
            for (id, status) in [("none", None), ("out", Some("PUBLISHED")), ("in", Some("DRAFT"))] {
                let mut item = json!({ "_id": id, "title": id, "n": 1, "_owner": "ann" });
                if let Some(it) = status {
                    item["_publishStatus"] = it.into();
                }
                world.insert(&app(), item).await.unwrap();
            }
            for (key, kind, target) in [("one", "REFERENCE", "reference"), ("all", "MULTI_REFERENCE", "multiReference")] {
                let field = json!({ "key": key, "type": kind, "typeMetadata": { target: { "referencedCollectionId": "c" } } });
                if key == "one" {
                    let object = json!({ "id": "shelf", "fields": [field], "dataPermissions": { "itemRead": "ANYONE" } });
                    world.content.collection_create(&world.site, &owner(), &object).await.unwrap();
                } else {
                    world.content.field_create(&world.site, &owner(), "shelf", &field).await.unwrap();
                }
            }
            let mut body = single(json!({ "_id": "s", "one": "in", "all": ["in", "none", "out"] }));
            body["dataCollectionId"] = json!("shelf");
            body["saveReferences"] = json!(true);
            let body = body.to_string();
            world.content.item_insert(&world.site, &app(), &Request::parse(body.as_bytes()).unwrap()).await.unwrap();
            world.keep_plugin(plugin.clone()).await;

            let mut shown = vec!["out"];
            shown.extend(without_status.then_some("none"));
            shown.sort_unstable();
            for caller in [visitor("v"), member("ann"), editor(), owner(), app()] {
                let what = format!("{plugin} {caller:?}");
                for id in ["in", "none", "out"] {
                    let seen = world.get(&caller, id).await.map(|it| it["_id"].clone());
                    assert_eq!(seen.is_ok(), shown.contains(&id), "{what} {id} {seen:?}");
                }
                let by_title = json!({ "sort": [{ "fieldName": "title", "order": "ASC" }] });
                assert_eq!(world.ids(&caller, by_title).await.unwrap(), shown, "{what}");
                assert_eq!(world.ids(&caller, json!({ "paging": { "limit": 3 } })).await.unwrap().len(), shown.len(), "{what}");
                assert_eq!(world.count(&caller, json!({ "n": 1 })).await.unwrap(), shown.len() as i64, "{what}");
                let values = json!({ "dataCollectionId": "c", "fieldName": "title" });
                let values = world.content.item_distinct(&world.site, &caller, None, &members(values)).await.unwrap();
                assert_eq!(values.count, shown.len(), "{what}");

                let include = json!({ "dataCollectionId": "shelf", "includeReferences": [{ "field": "one" }, { "field": "all" }] });
                let page = world.page(&caller, include).await.unwrap();
                let it: Value = serde_json::from_str(&page.elements).unwrap();
                assert!(!it["data"]["one"].is_object(), "{what} {it}");
                let mut ids: Vec<_> = it["data"]["all"].as_array().unwrap().iter().map(|it| it["_id"].as_str().unwrap()).collect();
                ids.sort_unstable();
                assert_eq!(ids, shown, "{what}");
                let linked = json!({ "dataCollectionId": "shelf", "filter": { "all": { "$hasSome": ["in"] } } });
                let linked = world.content.item_count(&world.site, &caller, None, &members(linked)).await.unwrap();
                assert_eq!(linked, 0, "{what}");
                let referred = json!({
                    "dataCollectionId": "shelf", "referringItemFieldName": "all", "referringItemId": "s", "referencedItemId": "in",
                });
                let referred = world.content.is_referenced(&world.site, &caller, &members(referred)).await.unwrap();
                assert!(!referred, "{what}");

                let guess = world.update(&caller, json!({ "_id": "in", "title": "in", "n": 1, "_publishStatus": "DRAFT" }), Some(json!({ "n": 1 }))).await;
                assert_eq!(code(guess), "WDE0073", "a condition tells nothing: {what}");
            }
            for caller in [visitor("v"), app()] {
                assert_eq!(code(world.update(&caller, json!({ "_id": "in", "n": 2 }), None).await), "WDE0073");
                assert_eq!(code(world.remove(&caller, "in", None).await), "WDE0073");
            }
        }
    }

    async fn writes_that_can_be_in_no_language_are_refused(engine) {
        let mut world = World::open(engine).await;
        world.insert(&app(), json!({ "_id": "a", "title": "Haus" })).await.unwrap();
        world.keep_plugin(json!({ "type": "MULTILINGUAL", "multilingualOptions": { "translatableFieldKeys": ["title"] } })).await;
        let mut update = single(json!({ "_id": "a", "title": "house" }));
        update["language"] = json!("en");
        let (text, content, site) = (update.to_string(), &world.content, &world.site);
        let request = Request::parse(text.as_bytes()).unwrap();
        for refused in [
            content.item_insert(site, &app(), &request).await.map(drop),
            content.item_remove(site, &app(), &request).await.map(drop),
            content.item_truncate(site, &app(), &request).await,
            content.item_bulk_insert(site, &app(), &request).await.map(drop),
            content.item_bulk_remove(site, &app(), &request).await.map(drop),
        ] {
            let fault = refused.expect_err("a refusal");
            assert_eq!((fault.code().name(), &fault.data()["path"]), ("WDE0119", &json!("language")));
        }
        assert_eq!(world.get(&app(), "a").await.unwrap()["title"], "Haus");
        for (language, verdict) in [(json!(7), "WDE0018"), (json!(null), "ok")] {
            update["language"] = language;
            let text = update.to_string();
            let request = Request::parse(text.as_bytes()).unwrap();
            assert_eq!(code(content.item_update(site, &app(), &request).await), verdict);
        }
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
            json!({ "type": "EDITABLE_PAGE_LINK", "editablePageLinkOptions": { "isMutable": true } }),
            json!({ "type": "EDITABLE_PAGE_LINK", "editablePageLinkOptions": { "isPersisted": false, "isMutable": true } }),
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
