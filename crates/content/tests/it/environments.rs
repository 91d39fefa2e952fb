//! Copies between LIVE and SANDBOX: what they carry, that they can be taken back, and that nothing comes between.

use crate::{common::*, environment_pair::*};
use serde_json::{Value, json};
use std::{collections::BTreeSet, sync::Arc};
use stoa_content::{
    Content, ContentLimits, GetRequest, UNDO_KEPT,
    transfer::{FileOf, Format},
};
use stoa_kernel::Caller;
use stoa_sql::params;
use stoa_store::{Ownership, Site, boxed};
use stoa_testkit::on_both_engines;

on_both_engines! {
    async fn copy_does_what_diff_said_and_undo_restores(engine) {
        let pair = Pair::with_items(engine, 1203).await;
        let (live, sandbox, content) = (pair.world.site.clone(), pair.sandbox.clone(), pair.content());
        content.index_create(&live, &app(), "c", &json!({ "name": "n", "fields": [{ "path": "n" }], "unique": true })).await.unwrap();
        while content.index_work_do(&live).await.unwrap() {}

        let before = pair.diff(TO_SANDBOX).await;
        let expected = json!({
            "collectionId": "c", "change": "ADD", "definition": {},
            "items": {
                "add": { "count": 1203, "ids": ["i00000", "i00001", "i00002"] }, "change": { "count": 0, "ids": [] },
                "remove": { "count": 0, "ids": [] }, "same": 0,
            },
        });
        assert_eq!(before["collections"], json!([expected]));
        let copied = pair.copy(TO_SANDBOX, &[]).await.unwrap();
        assert_eq!((&copied["status"], &copied["items"], &copied["to"]), (&json!("SUCCEEDED"), &json!(1203), &json!("SANDBOX")));
        assert_eq!(pair.export(&live).await, pair.export(&sandbox).await);
        assert_eq!(pair.definition(&live).await["indexes"], pair.definition(&sandbox).await["indexes"]);
        assert_eq!(pair.diff(TO_SANDBOX).await["collections"][0]["change"], "NONE");
        assert_eq!(pair.diff(TO_LIVE).await["collections"][0]["items"]["same"], 1203);

        // Something of everything.
        pair.fill(&sandbox, 1203..1206).await;
        for (call, body) in [
            ("patch", json!({ "dataCollectionId": "c", "patch": { "dataItemId": "i00003", "fieldModifications": [
                { "fieldPath": "title", "action": "SET_FIELD", "setFieldOptions": { "value": "new" } },
            ] } })),
            ("remove", json!({ "dataCollectionId": "c", "dataItemId": "i00004" })),
        ] {
            let text = body.to_string();
            match call {
                "patch" => drop(content.item_patch(&sandbox, &app(), &item_of(&text)).await.unwrap()),
                _ => drop(content.item_remove(&sandbox, &app(), &item_of(&text)).await.unwrap()),
            }
        }
        content.field_create(&sandbox, &app(), "c", &json!({ "key": "more", "type": "TEXT" })).await.unwrap();
        let said = pair.diff(TO_LIVE).await["collections"][0].clone();
        assert_eq!(said["definition"], json!({ "fields": { "added": ["more"], "changed": [], "removed": [] } }));
        assert_eq!(said["items"]["add"], json!({ "count": 3, "ids": ["i01203", "i01204", "i01205"] }));
        assert_eq!(said["items"]["change"], json!({ "count": 1, "ids": ["i00003"] }));
        assert_eq!(said["items"]["remove"], json!({ "count": 1, "ids": ["i00004"] }));

        let (items, definition) = (pair.export(&live).await, pair.definition(&live).await);
        let copied = pair.copy(TO_LIVE, &["c"]).await.unwrap();
        assert_eq!(copied["status"], "SUCCEEDED", "{copied}");
        assert_eq!(pair.export(&live).await, pair.export(&sandbox).await);
        assert_eq!(pair.definition(&live).await["fields"], pair.definition(&sandbox).await["fields"]);
        // The index is there, and holds.
        let twice = json!({ "dataCollectionId": "c", "dataItem": { "data": { "_id": "x", "n": 7 } } }).to_string();
        assert_eq!(code(content.item_insert(&live, &app(), &item_of(&twice)).await), "WDE0123");

        let undone = pair.undo().await.unwrap();
        assert_eq!(undone["status"], "UNDONE", "{undone}");
        assert_eq!(pair.export(&live).await, items, "byte by byte");
        assert_eq!(pair.definition(&live).await, definition);
        assert_eq!(code(content.item_insert(&live, &app(), &item_of(&twice)).await), "WDE0123");
        assert_eq!(pair.diff(TO_LIVE).await["collections"][0], said);
        assert_eq!(pair.tables(&live).await, 2, "somebody may read what was there");
        pair.tend().await;
        assert_eq!((pair.tables(&live).await, pair.tables(&sandbox).await), (1, 1), "nothing is left behind");
        // The copy before it went to the other environment.
        assert_eq!(pair.undo().await.unwrap()["to"], "SANDBOX");
        assert_eq!(code(pair.undo().await), "NOT_FOUND");
    }

    async fn undo_of_a_first_copy_takes_the_collection_away(engine) {
        let pair = Pair::with_items(engine, 3).await;
        pair.copy(TO_SANDBOX, &[]).await.unwrap();
        assert_eq!(pair.undo().await.unwrap()["status"], "UNDONE");
        let status = pair.status().await;
        assert_eq!(status["environments"], json!([{ "name": "LIVE", "collections": ["c"] }, { "name": "SANDBOX", "collections": [] }]));
        pair.tend().await;
        assert_eq!(pair.tables(&pair.sandbox).await, 0);
        // None of it is restored by another way.
        for id in ["c", "\u{1}1", "\u{1}2"] {
            assert_eq!(code(pair.content().collection_restore(&pair.sandbox, &app(), id).await), "WDE0025", "{id:?}");
        }
    }

    async fn what_copies_dont_carry_is_refused_by_name(engine) {
        let pair = Pair::with_items(engine, 2).await;
        let world = &pair.world;
        let open = json!({ "dataPermissions": { "itemRead": "ANYONE", "itemInsert": "ANYONE", "itemUpdate": "ANYONE", "itemRemove": "ANYONE" } });
        let with = |name: &str, value: Value| { let mut it = open.clone(); it[name] = value; it };
        world.create_with("c2", open.clone()).await;
        world.create_with("linked", with("fields", json!([{ "key": "others", "type": "MULTI_REFERENCE", "typeMetadata": { "multiReference": {
            "referencedCollectionId": "c2", "referencingFieldKey": "back", "referencingDisplayName": "back" } } }]))).await;
        for id in ["sealed", "worded", "drafted"] {
            let members = match id {
                "sealed" => with("fields", json!([{ "key": "pin", "type": "TEXT", "encrypted": true }])),
                "worded" => with("plugins", json!([{ "type": "MULTILINGUAL", "multilingualOptions": { "translatableFieldKeys": ["title"] } }])),
                _ => with("plugins", json!([{ "type": "DRAFT_ITEMS" }])),
            };
            world.create_with(id, members).await;
        }
        let copied = pair.copy(TO_SANDBOX, &["c"]).await.unwrap();
        assert_eq!(copied["collections"], json!(["c"]));
        for id in ["linked", "sealed", "worded", "drafted", "drafted__drafts"] {
            let fault = pair.copy(TO_SANDBOX, &["c", id]).await.unwrap_err();
            assert_eq!((fault.code().name(), &fault.data()["collectionName"]), ("WDE0119", &json!(id)));
        }
        let (_, left) = pair.content().environment_copy_begin(&world.test.store, &world.site, &app(), &wish(TO_SANDBOX, &[])).await.unwrap();
        let left: BTreeSet<&str> = left.as_array().unwrap().iter().map(|it| it["collectionId"].as_str().unwrap()).collect();
        assert!(left.contains("linked") && left.contains("sealed") && !left.contains("c"), "{left:?}");
        assert_eq!(code(pair.copy(TO_SANDBOX, &["none"]).await), "WDE0025");
    }

    async fn only_who_has_all_rights_copies(engine) {
        let pair = Pair::with_items(engine, 1).await;
        let (content, store, site) = (pair.content(), &pair.world.test.store, &pair.world.site);
        for caller in [editor(), member("ada"), visitor("v")] {
            let wish = wish(TO_SANDBOX, &[]);
            assert_eq!(code(content.environment_copy_begin(store, site, &caller, &wish).await), "WDE0027");
            assert_eq!(code(content.environment_diff(store, site, &caller, &wish, 1).await), "WDE0027");
            assert_eq!(code(content.environment_undo_begin(store, site, &caller, None).await), "WDE0027");
            assert_eq!(code(content.environment_create(store, site, &caller).await), "WDE0027");
            assert_eq!(code(content.environment_delete(store, site, &caller, &[]).await), "WDE0027");
            assert_eq!(code(content.environment_status(store, site, &caller).await), "WDE0027");
        }
    }

    async fn nothing_that_is_written_meanwhile_is_lost(engine) {
        let pair = Arc::new(Pair::with_items(engine, 2_000).await);
        pair.copy(TO_SANDBOX, &[]).await.unwrap();
        // One writer adds to where the copy comes from, in order, and one to where it goes.
        let write = |site: Arc<Site>, name: &'static str| {
            let pair = pair.clone();
            tokio::spawn(async move {
                let mut written = Vec::new();
                for n in 0..150 {
                    let id = format!("{name}{n:04}");
                    let text = json!({ "dataCollectionId": "c", "dataItem": { "data": { "_id": id, "n": 100_000 + n } } }).to_string();
                    loop {
                        match pair.content().item_insert(&site, &app(), &item_of(&text)).await {
                            Ok(_) => break written.push(id),
                            Err(fault) if fault.data().get("reason").is_some_and(|it| it == "REPLACED") => {}
                            Err(fault) => panic!("{fault:?}"),
                        }
                    }
                }
                written
            })
        };
        let (there, here) = (write(pair.sandbox.clone(), "s"), write(pair.world.site.clone(), "l"));
        assert_eq!(pair.copy(TO_LIVE, &[]).await.unwrap()["status"], "SUCCEEDED");
        let (there, here) = (there.await.unwrap(), here.await.unwrap());
        let ids = |text: &str| text.lines().map(|it| serde_json::from_str::<Value>(it).unwrap()["_id"].as_str().unwrap().to_owned()).collect::<BTreeSet<_>>();
        let after = ids(&pair.export(&pair.world.site).await);
        let count = there.iter().filter(|it| after.contains(*it)).count();
        assert!(there[..count].iter().all(|it| after.contains(it)), "a snapshot has what came first, and not what came later");
        pair.undo().await.unwrap();
        let before = ids(&pair.export(&pair.world.site).await);
        let lost: Vec<_> = here.iter().filter(|it| !after.contains(*it) && !before.contains(*it)).collect();
        assert!(lost.is_empty(), "written, and neither before nor after: {lost:?}");
    }

    async fn copied_items_go_to_the_members_that_visitors_became(engine) {
        let pair = Pair::new(engine).await;
        let live = &pair.world.site;
        for (who, id) in [("early", "e"), ("late", "l"), ("never", "n")] {
            pair.world.insert(&visitor(who), json!({ "_id": id })).await.unwrap();
        }
        let owner = async |id: &str| pair.world.get(&app(), id).await.unwrap()["_owner"].as_str().unwrap().to_owned();
        let becomes = async |visitor: &'static str, member: &'static str| {
            let passed = live.write_with((pair.content().clone(), live.clone()), move |tx, (content, site)| {
                boxed!({
                    let sql = "insert into stoa.visitor_member (site, visitor, member, created, unfinished) \
                               values ($1, $2, $3, $4, 0)";
                    tx.execute(sql, &params![&site.id, visitor, member, 1]).await?;
                    while content.pass(tx, site, &visitor.into(), &member.into()).await? {}
                    Ok(())
                })
            });
            passed.await.unwrap();
        };
        pair.copy(TO_SANDBOX, &[]).await.unwrap();
        becomes("early", "member-e").await;
        pair.copy(TO_LIVE, &[]).await.unwrap();
        assert_eq!((owner("e").await, owner("l").await), ("member-e".to_owned(), "late".to_owned()));
        becomes("late", "member-l").await;
        assert_eq!(owner("l").await, "member-l");
        pair.undo().await.unwrap();
        assert_eq!([owner("e").await, owner("l").await, owner("n").await], ["member-e", "member-l", "never"]);
        becomes("never", "member-n").await;
        assert_eq!(owner("n").await, "member-n");
    }

    async fn what_was_replaced_is_kept_until_the_next_copy_or_for_a_week(engine) {
        let pair = Pair::with_items(engine, 600).await;
        for _ in 0..3 {
            pair.copy(TO_SANDBOX, &[]).await.unwrap();
            pair.tend().await;
            assert!(pair.tables(&pair.sandbox).await <= 2);
        }
        let status = pair.status().await;
        let undoable: Vec<bool> = status["copies"].as_array().unwrap().iter().map(|it| it.get("canBeUndoneUntil").is_some()).collect();
        assert_eq!(undoable.iter().filter(|it| **it).count(), 1, "{status}");
        pair.world.test.clock.advance(UNDO_KEPT + 1);
        pair.content().environment_tend(&pair.world.test.store, &pair.sandbox).await.unwrap();
        pair.tend().await;
        assert_eq!(pair.tables(&pair.sandbox).await, 1);
        assert_eq!(code(pair.undo().await), "NOT_FOUND");
        assert_eq!(pair.export(&pair.sandbox).await, pair.export(&pair.world.site).await);
    }

    async fn drafts_that_nothing_restores_go(engine) {
        let pair = Pair::with_items(engine, 1).await;
        let (world, content, site) = (&pair.world, pair.content(), &pair.world.site);
        let levels = json!({ "itemRead": "ANYONE", "itemInsert": "ANYONE", "itemUpdate": "ANYONE", "itemRemove": "ANYONE" });
        let with_drafts = || json!({ "dataPermissions": levels, "plugins": [{ "type": "DRAFT_ITEMS" }] });
        for id in ["lives", "deleted", "made_again"] {
            world.create_with(id, with_drafts()).await;
        }
        let action = json!("DISCARD_EXISTING_DRAFT_ITEMS");
        content.plugin_delete(site, &app(), "lives", "DRAFT_ITEMS", Some(&action)).await.unwrap();
        for id in ["deleted", "made_again"] {
            content.collection_delete(site, &app(), id).await.unwrap();
        }
        world.create_with("made_again", json!({ "dataPermissions": levels })).await;
        // c, lives, deleted with its drafts, which come back with it, and the new one.
        assert_eq!(pair.tables(site).await, 8);
        for _ in 0..3 {
            pair.tend().await;
        }
        assert_eq!(pair.tables(site).await, 5);
        content.collection_restore(site, &app(), "deleted").await.unwrap();
        content.collection_get(site, &app(), "deleted__drafts", &[], false).await.unwrap();
    }

    async fn collection_made_anew_is_in_the_way_of_undo(engine) {
        let pair = Pair::with_items(engine, 5).await;
        pair.copy(TO_SANDBOX, &[]).await.unwrap();
        pair.fill(&pair.sandbox, 5..6).await;
        pair.copy(TO_LIVE, &[]).await.unwrap();
        pair.content().collection_delete(&pair.world.site, &app(), "c").await.unwrap();
        let levels = json!({ "itemRead": "ANYONE", "itemInsert": "ANYONE", "itemUpdate": "ANYONE", "itemRemove": "ANYONE" });
        pair.world.create("c", levels).await;
        assert_eq!(code(pair.undo().await), "ALREADY_EXISTS");
        assert_eq!(pair.export(&pair.world.site).await, "");
        pair.content().collection_delete(&pair.world.site, &app(), "c").await.unwrap();
        assert_eq!(pair.undo().await.unwrap()["status"], "UNDONE");
        assert_eq!(pair.export(&pair.world.site).await.lines().count(), 5);
    }

    async fn what_no_copy_carries_is_in_the_way_of_undo(engine) {
        let pair = Pair::with_items(engine, 3).await;
        let (content, live) = (pair.content(), pair.world.site.clone());
        pair.world.create("other", json!({ "itemRead": "ANYONE", "itemInsert": "ANYONE", "itemUpdate": "ANYONE", "itemRemove": "ANYONE" })).await;
        pair.copy(TO_SANDBOX, &["c"]).await.unwrap();
        pair.fill(&pair.sandbox, 3..4).await;
        pair.copy(TO_LIVE, &["c"]).await.unwrap();
        let after = pair.export(&live).await;
        let refused = async |what: &str| {
            let fault = pair.undo().await.unwrap_err();
            assert_eq!((fault.code().name(), &fault.data()["collectionName"]), ("WDE0119", &json!("c")), "{what}");
            let copy = pair.status().await["copies"][0].clone();
            assert_eq!((&copy["status"], &copy["undoError"]["code"]), (&json!("SUCCEEDED"), &json!("WDE0119")), "{what}");
            assert!(copy.get("canBeUndoneUntil").is_some() && copy.get("error").is_none(), "{copy}");
            assert_eq!(pair.export(&live).await, after, "{what}");
        };
        content.plugin_add(&live, &app(), "c", &json!({ "type": "DRAFT_ITEMS" }), None).await.unwrap();
        refused("drafts").await;
        content.plugin_delete(&live, &app(), "c", "DRAFT_ITEMS", Some(&json!("DISCARD_EXISTING_DRAFT_ITEMS"))).await.unwrap();
        let link = json!({ "key": "others", "type": "MULTI_REFERENCE", "typeMetadata": { "multiReference": {
            "referencedCollectionId": "c", "referencingFieldKey": "back", "referencingDisplayName": "back" } } });
        content.field_create(&live, &app(), "other", &link).await.unwrap();
        refused("a link to it").await;
        content.field_delete(&live, &app(), "other", "others").await.unwrap();
        while pair.rows(&live, "sweep").await > 0 {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        assert_eq!(pair.undo().await.unwrap()["status"], "UNDONE");
        assert_eq!(pair.export(&live).await.lines().count(), 3);
    }

    async fn truncate_that_was_refused_never_happens(engine) {
        let pair = Pair::with_items(engine, 7).await;
        let live = &pair.world.site;
        pair.copy(TO_SANDBOX, &[]).await.unwrap();
        let before = pair.export(live).await;
        let replaced = pair.number(live).await;
        // Another process has the collection in its memory, and isn't told in time.
        let other = Content::new(pair.world.test.world.clone(), ContentLimits::default());
        let request = json!({ "dataCollectionId": "c" }).to_string();
        other.item_get(live, &app(), &GetRequest { collection: "c".to_owned(), id: "i00000".to_owned(), ..GetRequest::default() }).await.unwrap();
        pair.copy(TO_LIVE, &[]).await.unwrap();
        let _ = other.item_truncate(live, &app(), &item_of(&request)).await;
        assert_eq!(pair.rows(live, "sweep").await, 0, "nothing is written down of what is refused");
        // And where one was written down all the same.
        let planted = live.write_with(live.id.clone(), move |tx, id| boxed!({
            let sql = "insert into stoa.sweep (site, collection, id, kind, upto, started, done, touched)                        values ($1, $2, 'late', 'TRUNCATE', 1000, $3, 0, 1)";
            tx.execute(sql, &params![id, replaced, i64::MAX]).await?;
            Ok(())
        }));
        planted.await.unwrap();
        assert_eq!(pair.undo().await.unwrap()["status"], "UNDONE");
        assert_eq!(pair.rows(live, "sweep").await, 0);
        assert_eq!(pair.export(live).await, before);
    }

    async fn undo_of_what_expired_meanwhile_is_told_as_failed(engine) {
        let pair = Pair::with_items(engine, 2).await;
        let (content, store, site) = (pair.content(), &pair.world.test.store, &pair.world.site);
        pair.copy(TO_SANDBOX, &[]).await.unwrap();
        pair.fill(&pair.sandbox, 2..3).await;
        pair.copy(TO_LIVE, &[]).await.unwrap();
        let after = pair.export(site).await;
        let copy = content.environment_undo_begin(store, site, &app(), None).await.unwrap();
        // As by one who looked which copies are open just before.
        let expired = site.write_with(site.id.clone(), |tx, id| boxed!({
            tx.execute("delete from stoa.environment_swap where site = $1", &params![id]).await?;
            Ok(())
        }));
        expired.await.unwrap();
        assert_eq!(code(content.environment_work(store, copy).await), "NOT_FOUND");
        let copy = pair.status().await["copies"][0].clone();
        assert_eq!((&copy["status"], &copy["undoError"]["code"]), (&json!("SUCCEEDED"), &json!("NOT_FOUND")));
        assert_eq!(pair.export(site).await, after);
    }

    async fn index_in_work_is_in_the_way(engine) {
        let pair = Pair::with_items(engine, 2).await;
        let live = &pair.world.site;
        pair.copy(TO_SANDBOX, &[]).await.unwrap();
        pair.content().index_create(live, &app(), "c", &json!({ "name": "n", "fields": [{ "path": "n" }] })).await.unwrap();
        assert_eq!(code(pair.copy(TO_LIVE, &[]).await), "UNAVAILABLE");
        assert_eq!(pair.status().await["copies"][0]["status"], "FAILED");
        while pair.content().index_work_do(live).await.unwrap() {}
        pair.copy(TO_LIVE, &[]).await.unwrap();
    }

    async fn export_that_meets_an_undo_fails(engine) {
        let pair = Pair::with_items(engine, 1_100).await;
        pair.copy(TO_SANDBOX, &[]).await.unwrap();
        pair.copy(TO_LIVE, &[]).await.unwrap();
        let (live, mut out, mut undone) = (pair.world.site.clone(), Vec::new(), None);
        let file = FileOf { collection: "c", format: Format::JsonLines };
        let undo = |_: u64| {
            let undo = || tokio::runtime::Handle::current().block_on(pair.undo());
            undone.get_or_insert_with(|| tokio::task::block_in_place(undo).unwrap()["status"].clone());
        };
        assert_eq!(code(pair.content().export(&live, &app(), file, &mut out, undo).await), "UNAVAILABLE");
        assert_eq!(undone, Some(json!("UNDONE")));
        assert_eq!(String::from_utf8(out).unwrap().lines().count(), 1_100, "nothing is taken from who reads");
    }

    async fn preferred_is_decided_for_each_collection(engine) {
        let pair = Pair::with_items(engine, 1).await;
        let (content, store, live) = (pair.content(), &pair.world.test.store, &pair.world.site);
        pair.world.create("other", json!({ "itemRead": "ANYONE", "itemInsert": "ANYONE", "itemUpdate": "ANYONE", "itemRemove": "ANYONE" })).await;
        pair.copy(TO_SANDBOX, &["c"]).await.unwrap();
        let place = async |environment: &str, collection: &str, caller: &Caller| {
            let mut asked = members(json!({ "dataCollectionId": collection, "environment": environment }));
            let site = content.environment_of(store, live, caller, &mut asked).await.unwrap();
            (site.id == pair.sandbox.id, asked.contains_key("environment"))
        };
        for caller in [app(), owner(), editor()] {
            assert_eq!(place("LIVE", "c", &caller).await, (false, true));
            assert_eq!(place("SANDBOX", "c", &caller).await, (true, false));
            assert_eq!(place("SANDBOX", "other", &caller).await, (true, false), "where it isn't found");
            assert_eq!(place("SANDBOX_PREFERRED", "c", &caller).await, (true, false));
            assert_eq!(place("SANDBOX_PREFERRED", "other", &caller).await, (false, true));
        }
        for caller in [member("ada"), visitor("v")] {
            for environment in ["LIVE", "SANDBOX", "SANDBOX_PREFERRED"] {
                assert_eq!(place(environment, "c", &caller).await, (false, true), "a refusal is read from what stays");
            }
        }
        content.environment_delete(store, live, &app(), &["c".to_owned()]).await.unwrap();
        assert_eq!(place("SANDBOX_PREFERRED", "c", &app()).await, (false, true));
        content.environment_delete(store, live, &app(), &[]).await.unwrap();
        assert_eq!(place("SANDBOX", "c", &app()).await, (false, true), "which is then refused");
        let request = GetRequest::parse(&members(json!({ "dataCollectionId": "c", "dataItemId": "i00000", "environment": "SANDBOX" })), content.limits()).unwrap();
        assert_eq!(code(content.item_get(live, &app(), &request).await), "WDE0179");
    }
}
