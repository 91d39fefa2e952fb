//! A site's own code before and after what is done with its items, run in real processes.

use crate::common::{World, app, code, editor, many, member, members, single, verdicts, visitor};
use serde_json::{Value, json};
use stoa_content::{Content, ContentLimits, Request, feed::FeedRequest};
use stoa_hooks::{HookLimits, Host, HostProgram};
use stoa_kernel::{Caller, Result};
use stoa_store::boxed;
use stoa_testkit::{Engine, on_both_engines};

/// This program is started with this word, which names no test, as a process of hooks.
const AS_HOOK_HOST: &str = "as-hook-host";

#[test]
fn hook_host() {
    if std::env::args().any(|it| it == AS_HOOK_HOST) {
        stoa_hooks::child::run(&stoa_kernel::World::real()).unwrap();
    }
}

pub fn host() -> Host {
    let arguments = ["hooks::hook_host", "--exact", "--nocapture", "--test-threads=1", AS_HOOK_HOST];
    // Machines of tests are slow now and then; the time of a hook has tests of its own.
    let limits = HookLimits { hook_milliseconds: 2_000, hook_request_time: 60_000, ..HookLimits::default() };
    Host::new(limits, HostProgram::this_program(&arguments).unwrap())
}

/// A site whose collection `c` is open to everyone, with this code.
pub async fn with_code(engine: Engine, source: &str) -> World {
    let world = World::open(engine).await;
    world.content.keep_hooks(host());
    world.content.hooks_deploy(&world.site, &app(), source).await.unwrap();
    world
}

async fn patch(world: &World, caller: &Caller, id: &str, modifications: Value) -> Result<Value> {
    let body = json!({ "dataCollectionId": "c", "patch": { "dataItemId": id, "fieldModifications": modifications } });
    let body = body.to_string();
    let item = world.content.item_patch(&world.site, caller, &Request::parse(body.as_bytes())?).await?;
    Ok(serde_json::from_str(&item.doc).unwrap())
}

on_both_engines! {
    async fn hooks_of_writes_change_what_is_written_and_answered(engine) {
        let world = with_code(engine, "
            export function c_beforeInsert(item, context) { item.title = 'in ' + context.userRole; return item }
            export function c_afterInsert(item) { item.after = true; return item }
            export function c_beforeUpdate(item, context) { item.title += ' was ' + context.currentItem.title; return item }
            export function c_beforeRemove(id, context) { if (context.currentItem.title == 'kept') throw new Error('is kept') }
            export function c_afterRemove(item) { return { ...item, gone: 1 } }
        ").await;
        let max = member("max");
        let inserted = world.insert(&max, json!({ "_id": "a", "title": "x" })).await.unwrap();
        assert_eq!((&inserted["title"], &inserted["after"]), (&json!("in siteMember"), &json!(true)));
        let stored = world.get(&max, "a").await.unwrap();
        assert_eq!((&stored["title"], &stored["after"]), (&json!("in siteMember"), &Value::Null));
        let updated = world.update(&max, json!({ "_id": "a", "title": "y" }), None).await.unwrap();
        assert_eq!(updated["title"], "y was in siteMember");
        let patched = patch(&world, &max, "a", json!([{ "fieldPath": "title", "action": "SET_FIELD", "setFieldOptions": { "value": "p" } }])).await;
        assert_eq!(patched.unwrap()["title"], "p was y was in siteMember");
        let (saved, is_new) = world.save(&max, json!({ "_id": "b", "title": "s" })).await.unwrap();
        assert_eq!((&saved["title"], &saved["after"], is_new), (&json!("in siteMember"), &json!(true), true));
        let (saved, is_new) = world.save(&max, json!({ "_id": "b", "title": "t" })).await.unwrap();
        assert_eq!((&saved["title"], is_new), (&json!("t was in siteMember"), false));
        let removed = world.remove(&max, "b", None).await.unwrap().unwrap();
        assert_eq!(removed["gone"], 1);
        let outcomes = world.bulk(&max, "insert", &many([json!({ "_id": "d" }), json!({ "_id": "a" })])).await.unwrap();
        assert_eq!(verdicts(&outcomes), ["INSERT", "WDE0074"]);
        assert_eq!(world.get(&max, "d").await.unwrap()["title"], "in siteMember");
        let outcomes = world.bulk(&max, "save", &many([json!({ "_id": "d", "title": "n" }), json!({ "_id": "e" })])).await.unwrap();
        assert_eq!(verdicts(&outcomes), ["UPDATE", "INSERT"]);
        assert_eq!(world.get(&max, "d").await.unwrap()["title"], "n was in siteMember");
        // Editors and owners may do without hooks, others may not.
        for (caller, title) in [(editor(), "bare"), (max.clone(), "in siteMember")] {
            let mut body = single(json!({ "title": "bare" }));
            body["suppressHooks"] = json!(true);
            let body = body.to_string();
            let item = world.content.item_insert(&world.site, &caller, &Request::parse(body.as_bytes()).unwrap()).await.unwrap();
            assert_eq!(serde_json::from_str::<Value>(&item.doc).unwrap()["title"], title);
        }
        let kept = json!({ "dataCollectionId": "c", "suppressHooks": true, "dataItems": [{ "data": { "_id": "k", "title": "kept" } }] });
        assert_eq!(verdicts(&world.bulk(&app(), "save", &kept).await.unwrap()), ["INSERT"]);
        let ids = json!({ "dataCollectionId": "c", "dataItemIds": ["k", "d"] });
        assert_eq!(verdicts(&world.bulk(&max, "remove", &ids).await.unwrap()), ["WDE0078", "DELETE"]);
        world.get(&max, "k").await.unwrap();
    }

    async fn what_fails_before_blocks_and_what_fails_after_does_not_undo(engine) {
        let source = |body: &str| format!("
            export function c_beforeInsert(item) {{ {body} }}
            export function c_afterUpdate(item) {{ throw new TypeError('told') }}
        ");
        let world = with_code(engine, &source("return item")).await;
        world.insert(&app(), json!({ "_id": "a", "n": 1 })).await.unwrap();
        let failed = world.update(&app(), json!({ "_id": "a", "n": 2 }), None).await.unwrap_err();
        assert_eq!((failed.code().name(), failed.data()["jsErrorValue"].clone()), ("WDE0078", json!({ "name": "TypeError", "message": "told" })));
        assert_eq!(world.get(&app(), "a").await.unwrap()["n"], 2);
        for (body, code) in [
            ("throw { why: 1 }", "WDE0078"),
            ("return Promise.reject(new Error('no'))", "WDE0078"),
            ("for (;;) {}", "WDE0172"),
            ("const a = []; a[4e9] = 1; a.reverse()", "WDE0172"),
            ("item.t = 'x'.repeat(2000000); return item", "WDE0150"),
            ("const all = []; for (;;) all.push(new Array(100000).fill(1))", "WDE0150"),
        ] {
            world.content.hooks_deploy(&world.site, &app(), &source(body)).await.unwrap();
            let refused = world.insert(&visitor("v"), json!({ "_id": "z" })).await.unwrap_err();
            assert_eq!(refused.code().name(), code, "{body}");
            if body.starts_with("throw") {
                assert_eq!(refused.data()["value"], json!({ "why": 1 }));
            }
            assert_eq!(crate::common::code(world.get(&app(), "z").await), "WDE0073", "{body}");
        }
        // What is of another type is ignored.
        world.content.hooks_deploy(&world.site, &app(), &source("return 7")).await.unwrap();
        assert_eq!(world.insert(&app(), json!({ "_id": "z", "n": 1 })).await.unwrap()["n"], 1);
    }

    async fn hook_can_not_widen(engine) {
        let world = World::with_levels(engine, "SITE_MEMBER_AUTHOR", "ANYONE", "SITE_MEMBER_AUTHOR", "ANYONE").await;
        world.content.keep_hooks(host());
        let source = "
            export function c_beforeInsert(item) { return { ...item, _id: 'other', _owner: 'eve', _createdDate: new Date(0), ['__proto__']: { x: 1 } } }
            export function c_beforeUpdate(item) { return { ...item, _owner: 'eve', _id: 'other' } }
            export function c_beforeQuery(query) { return query.ne('title', 'hidden') }
            export function c_afterQuery(item) { item.title += '!'; return item }
            export function c_beforeGet(id) { return id == 'mine' ? 'theirs' : id }
            export function c_beforeCount(query) { return query.limit(1) }
        ";
        world.content.hooks_deploy(&world.site, &app(), source).await.unwrap();
        let (max, eve) = (member("max"), member("eve"));
        let inserted = world.insert(&max, json!({ "_id": "mine", "title": "t" })).await.unwrap();
        assert_eq!((&inserted["_id"], &inserted["_owner"]), (&json!("mine"), &json!("max")));
        assert_ne!(inserted["_createdDate"], json!({ "$date": "1970-01-01T00:00:00.000Z" }));
        let updated = world.update(&max, json!({ "_id": "mine", "title": "u" }), None).await.unwrap();
        assert_eq!((&updated["_id"], &updated["_owner"]), (&json!("mine"), &json!("max")));
        world.insert(&max, json!({ "_id": "more", "title": "hidden" })).await.unwrap();
        world.insert(&eve, json!({ "_id": "theirs", "title": "eve's" })).await.unwrap();
        assert_eq!(code(world.get(&max, "mine").await), "WDE0073");
        assert_eq!(world.get(&eve, "mine").await.unwrap()["_id"], "theirs");
        assert_eq!(world.ids(&max, json!({})).await.unwrap(), ["mine"]);
        assert_eq!(world.ids(&visitor("v"), json!({})).await.unwrap(), Vec::<String>::new());
        let page = world.page(&max, json!({ "dataCollectionId": "c", "query": {} })).await.unwrap();
        assert!(page.elements.contains("\"u!\""), "{}", page.elements);
        assert_eq!(world.count(&max, json!({})).await.unwrap(), 2);
        // One who may read nothing reaches no hook.
        assert_eq!(code(world.update(&eve, json!({ "_id": "mine" }), None).await), "WDE0073");
    }

    async fn patch_of_an_encrypted_field_means_the_same_with_hooks(engine) {
        let world = World::new(engine).await;
        let fields = json!([{ "key": "title", "type": "TEXT" }, { "key": "pin", "type": "TEXT", "encrypted": true }]);
        let anyone = json!({ "itemRead": "ANYONE", "itemInsert": "ANYONE", "itemUpdate": "ANYONE" });
        world.create_with("c", json!({ "fields": fields, "dataPermissions": anyone })).await;
        world.content.keep_hooks(host());
        let source = "export function c_beforeUpdate(item) { item.seen = 'pin' in item; return item }";
        world.content.hooks_deploy(&world.site, &app(), source).await.unwrap();
        for (action, pin) in [("SET_FIELD", Some("1")), ("REMOVE_FIELD", None)] {
            world.save(&app(), json!({ "_id": "a", "title": "t", "pin": "0" })).await.unwrap();
            let change = |path: &str, action: &str| json!([{ "fieldPath": path, "action": action, "setFieldOptions": { "value": "1" } }]);
            let max = member("max");
            patch(&world, &max, "a", change("title", "SET_FIELD")).await.unwrap();
            assert_eq!(world.get(&app(), "a").await.unwrap()["pin"], "0", "what a caller isn't shown stays");
            patch(&world, &max, "a", change("pin", action)).await.unwrap();
            let item = world.get(&app(), "a").await.unwrap();
            assert_eq!((item["pin"].as_str(), &item["title"]), (pin, &json!("1")), "{action}");
        }
    }

    async fn owner_gives_an_item_to_another_with_hooks(engine) {
        let world = with_code(engine, "export function c_beforeUpdate(item) { return item }").await;
        world.insert(&member("max"), json!({ "_id": "a" })).await.unwrap();
        let give = json!([{ "fieldPath": "_owner", "action": "SET_FIELD", "setFieldOptions": { "value": "eve" } }]);
        assert_eq!(patch(&world, &app(), "a", give).await.unwrap()["_owner"], "eve");
        assert_eq!(world.get(&app(), "a").await.unwrap()["_owner"], "eve");
    }

    async fn patches_at_the_same_time_lose_nothing(engine) {
        let world = with_code(engine, "export function c_beforeUpdate(item, context) { item.n = context.currentItem.n + 1; return item }").await;
        world.insert(&app(), json!({ "_id": "a", "n": 0 })).await.unwrap();
        let change = json!([{ "fieldPath": "title", "action": "SET_FIELD", "setFieldOptions": { "value": "p" } }]);
        let (world, change) = (std::sync::Arc::new(world), std::sync::Arc::new(change));
        let patches: Vec<_> = (0..64).map(|_| {
            let (world, change) = (world.clone(), change.clone());
            tokio::spawn(async move { code(patch(&world, &app(), "a", (*change).clone()).await) })
        }).collect();
        let mut done = 0;
        for it in patches {
            match it.await.unwrap() {
                "ok" => done += 1,
                refused => assert!(["WDE0178", "WDE0122"].contains(&refused), "{refused}"),
            }
        }
        assert!(done > 0);
        assert_eq!(world.get(&app(), "a").await.unwrap()["n"], done);
    }

    async fn changes_of_one_item_in_a_call_follow_each_other(engine) {
        let world = with_code(engine, "export function c_beforeUpdate(item) { item.asked = (item.asked ?? 0) + 1; return item }").await;
        world.insert(&app(), json!({ "_id": "a", "n": 0 })).await.unwrap();
        let increment = json!([{ "fieldPath": "n", "action": "INCREMENT_FIELD", "incrementFieldOptions": { "value": 1 } }]);
        let patches = vec![json!({ "dataItemId": "a", "fieldModifications": increment }); 10];
        let body = json!({ "dataCollectionId": "c", "patches": patches });
        assert_eq!(verdicts(&world.bulk(&app(), "patch", &body).await.unwrap()), ["PATCH"; 10]);
        let item = world.get(&app(), "a").await.unwrap();
        assert_eq!((&item["n"], &item["asked"]), (&json!(10), &json!(10)));
    }

    async fn list_without_a_query_is_narrowed_as_well(engine) {
        let world = with_code(engine, "export function c_beforeQuery(query) { return query.eq('open', true) }").await;
        for (id, open) in [("a", true), ("b", false), ("c", true)] {
            world.insert(&app(), json!({ "_id": id, "open": open })).await.unwrap();
        }
        for request in [json!({ "dataCollectionId": "c" }), json!({ "dataCollectionId": "c", "query": null })] {
            assert_eq!(world.page(&visitor("v"), request).await.unwrap().count, 2);
        }
    }

    async fn answers_are_bounded_in_all_and_must_be_readable(engine) {
        let world = with_code(engine, "
            export function c_afterQuery(item) { return { ...item, x: 'x'.repeat(500000) } }
            export function c_afterGet(item) { return { ...item, ['\\ud800']: 1 } }
        ").await;
        let items: Vec<_> = (0..70).map(|n| json!({ "_id": format!("i{n}") })).collect();
        world.bulk(&app(), "insert", &json!({ "dataCollectionId": "c", "dataItems": items.iter().map(|it| json!({ "data": it })).collect::<Vec<_>>() })).await.unwrap();
        let page = async |limit: u32| world.page(&app(), json!({ "dataCollectionId": "c", "query": { "paging": { "limit": limit } } })).await;
        assert_eq!(page(20).await.unwrap().count, 20);
        assert_eq!(code(page(70).await), "WDE0150");
        assert_eq!(code(world.get(&app(), "i1").await), "WDE0150");
    }

    async fn versions_are_switched_by_owners_and_apps(engine) {
        let world = with_code(engine, "export function c_beforeInsert(item) { item.title = 'one'; return item }").await;
        let two = "export function c_beforeInsert(item) { item.title = 'two'; return item }";
        let other = Content::new(world.test.world.clone(), ContentLimits::default());
        other.keep_hooks(host());
        assert_eq!(world.content.hooks_deploy(&world.site, &app(), two).await.unwrap().number, 2);
        assert_eq!(world.insert(&app(), json!({})).await.unwrap()["title"], "two");
        world.content.hooks_activate(&world.site, &app(), 1).await.unwrap();
        assert_eq!(world.insert(&app(), json!({})).await.unwrap()["title"], "one");
        assert_eq!(code(world.content.hooks_activate(&world.site, &app(), 3).await), "NOT_FOUND");
        assert_eq!(code(world.content.hooks_activate(&world.site, &editor(), 2).await), "PERMISSION_DENIED");
        let list = world.content.hooks_list(&world.site, &app()).await.unwrap();
        let list: Vec<_> = list.iter().map(|it| (it.number, it.is_active, it.exports.join(" "))).collect();
        assert_eq!(list, [(2, false, "c_beforeInsert".to_owned()), (1, true, "c_beforeInsert".to_owned())]);
        for (source, says, data) in [
            ("export function cc_beforeInsert() {}", "did you mean c?", json!({ "export": "cc_beforeInsert" })),
            ("export function c_beforeInsrt() {}", "did you mean c_beforeInsert?", json!({ "export": "c_beforeInsrt" })),
            ("export const one = 1;\nexport function {", "SyntaxError", json!({ "line": 2, "column": 17 })),
        ] {
            let refused = world.content.hooks_deploy(&world.site, &app(), source).await.unwrap_err();
            let [violation] = refused.violations() else { panic!("{refused:?}") };
            assert_eq!((refused.code().name(), violation.field.as_str()), ("INVALID_ARGUMENT", "source"));
            assert!(violation.description.contains(says), "{}", violation.description);
            assert_eq!(json!(violation.data), data, "{}", violation.description);
        }
        assert_eq!(world.content.hooks_list(&world.site, &app()).await.unwrap().len(), 2, "nothing of it was deployed");
        // Another node that knows of version 1 runs version 2 at most 2 s after it became active.
        let body = single(json!({})).to_string();
        let request = Request::parse(body.as_bytes()).unwrap();
        let title = |it: stoa_content::Item| serde_json::from_str::<Value>(&it.doc).unwrap()["title"].clone();
        assert_eq!(title(other.item_insert(&world.site, &app(), &request).await.unwrap()), "one");
        world.content.hooks_activate(&world.site, &app(), 2).await.unwrap();
        world.test.clock.advance(2_000);
        assert_eq!(title(other.item_insert(&world.site, &app(), &request).await.unwrap()), "two");
        let distinct = members(json!({ "dataCollectionId": "c", "fieldName": "title" }));
        assert_eq!(world.content.item_distinct(&world.site, &app(), None, &distinct).await.unwrap().count, 2);
    }

    /// A node that crashed before it told the others that such a hook became active.
    async fn follower_is_told_nothing_more_once_a_hook_decides_on_what_is_shown(engine) {
        let world = World::new(engine).await;
        let anyone = json!({ "itemRead": "ANYONE", "itemInsert": "ANYONE" });
        world.create_with("c", json!({ "dataPermissions": anyone, "realtime": true })).await;
        world.content.keep_hooks(host());
        for source in ["export function c_afterGet(item) { return item }", "export function c_beforeCount(query) { return query }"] {
            world.content.hooks_deploy(&world.site, &app(), source).await.unwrap();
        }
        let request = FeedRequest::parse(&members(json!({ "dataCollectionId": "c" })), "s", world.content.limits()).unwrap();
        let view = world.content.feed_view(&world.site, &visitor("v"), &request).await.unwrap();
        let activated = world.site.write(|tx| {
            boxed!({
                tx.execute("update stoa.hook_active set number = 1", &[]).await?;
                Ok(())
            })
        });
        activated.await.unwrap();
        world.content.feed_may_go_on(&world.site, &view).await.unwrap();
        world.test.clock.advance(2_000);
        assert_eq!(code(world.content.feed_may_go_on(&world.site, &view).await), "WDE0119");
        assert_eq!(code(world.content.feed_view(&world.site, &visitor("v"), &request).await.map(|_| ())), "WDE0119");
    }
}
