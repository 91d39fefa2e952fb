//! Callers × operations × levels, and attempts to learn of what may not be read.

use crate::common::*;
use serde_json::json;
use stoa_content::Level;
use stoa_kernel::Caller;
use stoa_testkit::on_both_engines;

/// An item of Ann's, one of Bob's, one without an owner and one of the visitor's.
async fn seed(world: &World) {
    let ids: Vec<_> = ["a", "b", "n", "v", "new"].into();
    let _ = world.bulk(&app(), "remove", &json!({ "dataCollectionId": "c", "dataItemIds": ids })).await;
    let items = [("a", Some("ann")), ("b", Some("bob")), ("n", None), ("v", Some("vic"))];
    let items = items.map(|(id, owner)| json!({ "_id": id, "_owner": owner, "title": id, "secret": id }));
    world.bulk(&app(), "insert", &many(items)).await.unwrap();
}

async fn set(world: &World, levels: serde_json::Value) {
    let patch = json!({ "id": "c", "dataPermissions": levels });
    world.content.collection_patch(&world.site, &owner(), &patch).await.unwrap();
}

/// One line: what becomes of each operation on the items a, b, n and v.
async fn line(world: &World, caller: &Caller) -> String {
    seed(world).await;
    let mut get = Vec::new();
    let mut update = Vec::new();
    let mut save = Vec::new();
    for id in ["a", "b", "n", "v"] {
        get.push(code(world.get(caller, id).await));
        update.push(code(world.update(caller, json!({ "_id": id, "title": "x" }), None).await));
        save.push(code(world.save(caller, json!({ "_id": id, "title": "y" })).await));
    }
    let by_id = json!({ "sort": [{ "fieldName": "_id" }] });
    let query =
        world.ids(caller, by_id).await.map_or_else(|it| it.code().name().to_owned(), |it| format!("[{}]", it.join("")));
    let count = world.count(caller, json!({})).await.map_or_else(|it| it.code().name().to_owned(), |it| it.to_string());
    let insert = code(world.insert(caller, json!({ "_id": "new" })).await);
    seed(world).await;
    let mut remove = Vec::new();
    for id in ["a", "b", "n", "v"] {
        remove.push(code(world.remove(caller, id, None).await));
    }
    let short = |list: Vec<&str>| list.iter().map(|it| it.trim_start_matches("WDE00")).collect::<Vec<_>>().join(",");
    format!(
        "get {} query {query} count {count} insert {} update {} save {} remove {}",
        short(get),
        short(vec![insert]),
        short(update),
        short(save),
        short(remove)
    )
}

const ALL: &str =
    "get ok,ok,ok,ok query [abnv] count 4 insert ok update ok,ok,ok,ok save ok,ok,ok,ok remove ok,ok,ok,ok";
const NONE: &str =
    "get 27,27,27,27 query WDE0027 count WDE0027 insert 27 update 27,27,27,27 save 27,27,27,27 remove 27,27,27,27";
/// A member under SITE_MEMBER_AUTHOR, by name.
const OWN_ANN: &str =
    "get ok,73,73,73 query [a] count 1 insert ok update ok,73,73,73 save ok,73,73,73 remove ok,73,73,73";
/// A visitor there finds nothing and writes nothing, even what is the visitor's own.
const READS_NOTHING: &str =
    "get 73,73,73,73 query [] count 0 insert 27 update 27,27,27,27 save 27,27,27,27 remove 27,27,27,27";

on_both_engines! {
    async fn permission_matrix_holds(engine) {
        let world = World::open(engine).await;
        for level in Level::ALL {
            let name = level.name();
            set(&world, json!({ "itemRead": name, "itemInsert": name, "itemUpdate": name, "itemRemove": name })).await;
            for caller in [visitor("vic"), member("ann"), editor(), owner(), app()] {
                let wants = match (&caller, level) {
                    (_, Level::Anyone) => ALL,
                    (Caller::Visitor { .. }, Level::SiteMemberAuthor) => READS_NOTHING,
                    (Caller::Member { .. }, Level::SiteMember) => ALL,
                    (Caller::Member { .. }, Level::SiteMemberAuthor) => OWN_ANN,
                    (Caller::Visitor { .. } | Caller::Member { .. }, _) => NONE,
                    (Caller::User { role: stoa_kernel::Role::Editor, .. }, Level::Privileged) => NONE,
                    _ => ALL,
                };
                assert_eq!(line(&world, &caller).await, wants, "{name} {caller:?}");
            }
        }
    }

    async fn levels_are_decided_independently(engine) {
        let world = World::with_levels(engine, "PRIVILEGED", "ANYONE", "SITE_MEMBER", "CMS_EDITOR").await;
        for (caller, wants) in [
            (visitor("v"), ["WDE0027", "ok", "WDE0027", "WDE0027"]),
            (member("m"), ["WDE0027", "ok", "ok", "WDE0027"]),
            (editor(), ["WDE0027", "ok", "ok", "ok"]),
            (app(), ["ok", "ok", "ok", "ok"]),
        ] {
            seed(&world).await;
            let found = [
                code(world.get(&caller, "a").await),
                code(world.insert(&caller, json!({ "_id": "new" })).await),
                code(world.update(&caller, json!({ "_id": "a" }), None).await),
                code(world.remove(&caller, "a", None).await),
            ];
            assert_eq!(found, wants, "{caller:?}");
        }
    }

    async fn sandbox_is_for_editors_and_not_there_yet(engine) {
        let world = World::open(engine).await;
        let asked = |environment: &str| json!({ "dataCollectionId": "c", "query": {}, "environment": environment });
        for (caller, wants) in [(visitor("v"), "WDE0027"), (member("m"), "WDE0027"), (editor(), "WDE0179"), (app(), "WDE0179")] {
            assert_eq!(code(world.page(&caller, asked("SANDBOX")).await), wants, "{caller:?}");
            assert_eq!(code(world.page(&caller, asked("SANDBOX_PREFERRED")).await), "ok", "{caller:?}");
        }
    }

    async fn save_needs_the_right_for_what_it_comes_to(engine) {
        let world = World::with_levels(engine, "ANYONE", "ANYONE", "CMS_EDITOR", "CMS_EDITOR").await;
        seed(&world).await;
        assert_eq!(code(world.save(&visitor("v"), json!({ "_id": "new" })).await), "ok");
        assert_eq!(code(world.save(&visitor("v"), json!({ "_id": "a" })).await), "WDE0027");
        set(&world, json!({ "itemInsert": "CMS_EDITOR", "itemUpdate": "ANYONE" })).await;
        seed(&world).await;
        assert_eq!(code(world.save(&visitor("v"), json!({ "_id": "new" })).await), "WDE0027");
        assert_eq!(code(world.save(&visitor("v"), json!({ "_id": "a" })).await), "ok");
        let both = many([json!({ "_id": "b" }), json!({ "_id": "new" })]);
        assert_eq!(verdicts(&world.bulk(&visitor("v"), "save", &both).await.unwrap()), ["UPDATE", "WDE0027"]);
    }

    async fn hidden_items_show_in_no_answer(engine) {
        let world = World::with_levels(engine, "SITE_MEMBER_AUTHOR", "ANYONE", "ANYONE", "ANYONE").await;
        seed(&world).await;
        let ann = member("ann");
        // Filters that name, negate or widen: none sees past the scope.
        for filter in [
            json!({ "_owner": "bob" }), json!({ "_id": "b" }), json!({ "secret": "b" }), json!({ "_id": { "$ne": "a" } }),
            json!({ "$or": [{ "secret": "b" }, { "_owner": { "$ne": "ann" } }] }), json!({ "$not": { "_owner": "ann" } }),
            json!({ "_owner": { "$nin": ["ann"] } }), json!({ "_owner": null }), json!({ "_owner": { "$exists": false } }),
        ] {
            assert_eq!(world.ids(&ann, json!({ "filter": filter })).await.unwrap(), [""; 0], "{filter}");
            assert_eq!(world.count(&ann, filter.clone()).await.unwrap(), 0, "{filter}");
        }
        for query in [
            json!({ "filter": { "$or": [{}, { "_owner": "bob" }] } }), json!({ "sort": [{ "fieldName": "secret" }] }),
            json!({ "fields": ["secret", "_owner"] }), json!({ "filter": { "$not": { "_owner": "bob" } } }),
        ] {
            assert_eq!(world.ids(&ann, query.clone()).await.unwrap(), ["a"], "{query}");
        }
        let page = world.page(&ann, json!({ "dataCollectionId": "c", "returnTotalCount": true, "query": {} })).await.unwrap();
        assert_eq!((page.total, page.has_next), (Some(1), false));
        let values = json!({ "dataCollectionId": "c", "fieldName": "secret", "returnTotalCount": true });
        let values = world.content.item_distinct(&world.site, &ann, None, &members(values)).await.unwrap();
        assert_eq!((values.elements.as_str(), values.total), ("\"a\"", Some(1)));

        // A condition is a question as well: it sees what may be read, whatever may be written.
        let guess = |secret: &str| Some(json!({ "secret": secret }));
        assert_eq!(code(world.update(&ann, json!({ "_id": "b" }), guess("b")).await), "WDE0073");
        assert_eq!(code(world.remove(&ann, "b", guess("b")).await), "WDE0073");
        set(&world, json!({ "itemRead": "PRIVILEGED" })).await;
        assert_eq!(code(world.update(&ann, json!({ "_id": "b" }), guess("b")).await), "WDE0027");
        // What is removed is shown only to those who might have read it.
        assert_eq!(world.remove(&ann, "b", None).await.unwrap(), None);
        set(&world, json!({ "itemRead": "SITE_MEMBER_AUTHOR" })).await;
        assert_eq!(world.remove(&ann, "n", None).await.unwrap(), None);
        assert!(world.remove(&ann, "a", None).await.unwrap().is_some());
    }

    async fn editor_changes_no_privileged_collection(engine) {
        let world = World::open(engine).await;
        let (content, site, eve) = (&world.content, &world.site, editor());
        content.plugin_add(site, &owner(), "c", &json!({ "type": "SHARED" }), None).await.unwrap();
        content.index_create(site, &owner(), "c", &json!({ "name": "old", "fields": [{ "path": "n" }] })).await.unwrap();
        let field = |key: &str| json!({ "key": key, "type": "TEXT" });
        for kept in ["itemRead", "itemUpdate", "itemRemove"] {
            let mut levels = json!({ "itemRead": "ANYONE", "itemInsert": "ANYONE", "itemUpdate": "ANYONE", "itemRemove": "ANYONE" });
            levels[kept] = json!("PRIVILEGED");
            set(&world, levels).await;
            seed(&world).await;
            let whole = content.collection_get(site, &eve, "c", &[], false).await.unwrap();
            let mut without = whole.clone();
            without["fields"].as_array_mut().unwrap().retain(|it| it["key"] != "title");
            let fields = json!({ "id": "c", "fields": without["fields"] });
            let refused = [
                code(content.field_delete(site, &eve, "c", "title").await),
                code(content.field_create(site, &eve, "c", &field("more")).await),
                code(content.field_update(site, &eve, "c", &field("n"), false).await),
                code(content.collection_update(site, &eve, &without).await),
                code(content.collection_patch(site, &eve, &fields).await),
                code(content.plugin_add(site, &eve, "c", &json!({ "type": "GRIDAPPLESS" }), None).await),
                code(content.plugin_delete(site, &eve, "c", "SHARED", None).await),
                code(content.index_create(site, &eve, "c", &json!({ "name": "new", "fields": [{ "path": "title" }] })).await),
                code(content.index_drop(site, &eve, "c", "old").await),
                code(content.collection_delete(site, &eve, "c").await),
            ];
            assert_eq!(refused, ["WDE0027"; 10], "{kept}");
            assert_eq!(world.get(&app(), "a").await.unwrap()["title"], "a", "{kept}");
            assert_eq!(content.index_list(site, &eve, "c", 0, None).await.unwrap().indexes.last().unwrap()["status"], "BUILDING");
            // What is no matter of items is still the editor's.
            let mut named = whole.clone();
            named["displayName"] = json!(format!("called {kept}"));
            let named = content.collection_update(site, &eve, &named).await.unwrap();
            assert_eq!(named["displayName"], format!("called {kept}"));
            assert_eq!(named["fields"], whole["fields"]);
        }
        content.field_delete(site, &owner(), "c", "title").await.unwrap();
        content.plugin_delete(site, &app(), "c", "SHARED", None).await.unwrap();
        content.index_drop(site, &app(), "c", "old").await.unwrap();
    }

    async fn editor_changes_what_editors_may_write(engine) {
        let world = World::with_levels(engine, "CMS_EDITOR", "PRIVILEGED", "CMS_EDITOR", "CMS_EDITOR").await;
        let (content, site, eve) = (&world.content, &world.site, editor());
        seed(&world).await;
        content.field_create(site, &eve, "c", &json!({ "key": "more", "type": "TEXT" })).await.unwrap();
        content.field_delete(site, &eve, "c", "title").await.unwrap();
        assert_eq!(world.get(&eve, "a").await.unwrap()["title"], json!(null));
        content.plugin_add(site, &eve, "c", &json!({ "type": "SHARED" }), None).await.unwrap();
        content.plugin_delete(site, &eve, "c", "SHARED", None).await.unwrap();
        content.index_create(site, &eve, "c", &json!({ "name": "i", "fields": [{ "path": "n" }] })).await.unwrap();
        content.index_drop(site, &eve, "c", "i").await.unwrap();
        content.collection_delete(site, &eve, "c").await.unwrap();
    }

    async fn relation_is_a_change_of_both_collections(engine) {
        let world = World::with_levels(engine, "ANYONE", "ANYONE", "PRIVILEGED", "ANYONE").await;
        let (content, site, eve) = (&world.content, &world.site, editor());
        world.create("d", json!({ "itemRead": "ANYONE", "itemInsert": "ANYONE", "itemUpdate": "ANYONE", "itemRemove": "ANYONE" })).await;
        let metadata = json!({ "multiReference": { "referencedCollectionId": "c", "referencingFieldKey": "back" } });
        let link = json!({ "key": "to", "type": "MULTI_REFERENCE", "typeMetadata": metadata });
        let fields = || async {
            let whole = content.collection_get(site, &eve, "c", &[], false).await.unwrap();
            whole["fields"].as_array().unwrap().iter().any(|it| it["key"] == "back")
        };
        assert_eq!(code(content.field_create(site, &eve, "d", &link).await), "WDE0027");
        assert!(!fields().await);
        content.field_create(site, &owner(), "d", &link).await.unwrap();
        assert_eq!(code(content.field_delete(site, &eve, "d", "to").await), "WDE0027");
        assert!(fields().await);
        set(&world, json!({ "itemUpdate": "CMS_EDITOR" })).await;
        content.field_delete(site, &eve, "d", "to").await.unwrap();
        assert!(!fields().await);
    }
}
