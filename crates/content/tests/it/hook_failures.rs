//! What `onFailure` makes of calls that fail.

use crate::{
    common::{World, app, code, many, member, members, verdicts},
    hooks::with_code,
};
use serde_json::{Value, json};
use stoa_content::{GetRequest, Page};
use stoa_kernel::Fault;
use stoa_testkit::on_both_engines;

fn elements(page: &Page) -> Value {
    serde_json::from_str(&format!("[{}]", page.elements)).unwrap()
}

fn thrown(fault: &Fault) -> (&'static str, Value, Value) {
    let of = |name: &str| fault.data().get(name).cloned().unwrap_or_default();
    (fault.code().name(), of("jsErrorValue"), of("value"))
}

async fn distinct_without_field(world: &World) -> stoa_kernel::Result<Page> {
    let request = members(json!({ "dataCollectionId": "c" }));
    world.content.item_distinct(&world.site, &app(), None, &request).await
}

on_both_engines! {
    async fn hook_of_failures_answers_in_place_of_the_call_or_says_another_error(engine) {
        let world = with_code(engine, "
            export function c_beforeInsert(item) {
                if (item.title === 'no') throw Object.assign(new TypeError('bad'), { code: 'B' });
                return item;
            }
            export function c_afterUpdate() { throw new Error('late') }
            export function c_onFailure(error, context) {
                if (error.message === 'late') return { _id: 'other', title: 'rescued' };
                if (error.code === 'WDE0073') return { title: context.collectionName, isError: error instanceof Error };
                if (error.code === 'WDE0074') throw Object.assign(new RangeError('taken'), { code: 7 });
                if (error.code === 'B') return Promise.reject({ why: error.name });
            }
        ").await;
        let max = member("max");
        let instead = |id: &str| json!({ "_id": id, "title": "c", "isError": true });
        assert_eq!(world.get(&max, "none").await.unwrap(), instead("none"));
        assert_eq!(world.update(&max, json!({ "_id": "none" }), None).await.unwrap(), instead("none"));
        assert_eq!(world.remove(&max, "none", None).await.unwrap(), Some(instead("none")));
        assert_eq!(world.count(&app(), json!({})).await.unwrap(), 0, "nothing is written");
        world.insert(&max, json!({ "_id": "a", "title": "x" })).await.unwrap();
        let taken = json!({ "name": "RangeError", "message": "taken", "code": 7 });
        let refused = world.insert(&max, json!({ "_id": "a" })).await.unwrap_err();
        assert_eq!(thrown(&refused), ("WDE0078", taken, Value::Null));
        let refused = world.insert(&max, json!({ "title": "no" })).await.unwrap_err();
        assert_eq!(thrown(&refused), ("WDE0078", Value::Null, json!({ "why": "TypeError" })));
        // What comes after doesn't undo; and the item stays the one that was asked for.
        let updated = world.update(&max, json!({ "_id": "a", "title": "y" }), None).await.unwrap();
        assert_eq!(updated, json!({ "_id": "a", "title": "rescued" }));
        assert_eq!(world.get(&max, "a").await.unwrap()["title"], "y");
        // Where it answers nothing, the error stays.
        assert_eq!(code(world.update(&max, json!({ "title": "z" }), None).await), "WDE0007");
        let list = many([json!({ "_id": "a" }), json!({ "_id": "b" }), json!({ "_id": "d", "title": "no" })]);
        let outcomes = world.bulk(&max, "insert", &list).await.unwrap();
        assert_eq!(verdicts(&outcomes), ["WDE0078", "INSERT", "WDE0078"]);
        let mut removal = json!({ "dataCollectionId": "c", "dataItemIds": ["none", "b"], "returnEntity": true });
        let outcomes = world.bulk(&max, "remove", &removal).await.unwrap();
        assert_eq!(verdicts(&outcomes), ["DELETE", "DELETE"]);
        assert_eq!(outcomes[0].item.as_ref().map(|it| serde_json::from_str(&it.doc).unwrap()), Some(instead("none")));
        // Owners may do without.
        removal["suppressHooks"] = json!(true);
        assert_eq!(verdicts(&world.bulk(&app(), "remove", &removal).await.unwrap()), ["WDE0073", "WDE0073"]);
        let refused = GetRequest { collection: "c".to_owned(), id: "none".to_owned(), ..GetRequest::default() };
        assert!(world.content.item_get(&world.site, &max, &refused).await.unwrap().cache_seconds.is_none());
    }

    async fn what_the_hook_of_failures_can_not_answer_leaves_the_error(engine) {
        let source = |body: &str| format!("export function c_onFailure(error) {{ {body} }}");
        let world = with_code(engine, &source("return [{ _id: 'x', n: 1 }, { n: 2 }]")).await;
        let wrong = json!({ "title": { "$none": 1 } });
        let page = world.page(&app(), json!({ "dataCollectionId": "c", "query": { "filter": wrong } })).await.unwrap();
        let all = elements(&page);
        assert_eq!((page.count, &all[0]["data"], &all[1]["data"]["n"]), (2, &json!({ "_id": "x", "n": 1 }), &json!(2)));
        assert_eq!(all[0]["id"], "x");
        assert_eq!(all[1]["id"], all[1]["data"]["_id"]);
        let missing = code(world.count(&app(), wrong.clone()).await);
        assert_ne!(missing, "ok", "a list is no count");
        assert_eq!(elements(&distinct_without_field(&world).await.unwrap())[0]["n"], 1);
        assert_eq!(code(world.get(&app(), "none").await), "WDE0073", "a list is no item");
        for (body, counted) in [
            ("return 7", Some(7)),
            ("return -1", None),
            ("return 1.5", None),
            ("return { items: [] }", None),
            ("for (;;) {}", None),
            ("return 'x'.repeat(2000000)", None),
            ("const a = []; a[4e9] = 1; a.reverse()", None),
        ] {
            world.content.hooks_deploy(&world.site, &app(), &source(body)).await.unwrap();
            let answer = world.count(&app(), wrong.clone()).await;
            match counted {
                Some(it) => assert_eq!(answer.unwrap(), it, "{body}"),
                None => assert_eq!(code(answer), missing, "{body}"),
            }
        }
        world.content.hooks_deploy(&world.site, &app(), &source("return { items: [{ _id: 'y' }] }")).await.unwrap();
        assert_eq!(world.ids(&app(), json!({ "filter": wrong })).await.unwrap(), ["y"]);
    }

    async fn who_may_do_nothing_reaches_no_hook_of_failures(engine) {
        let world = World::with_levels(engine, "SITE_MEMBER_AUTHOR", "PRIVILEGED", "SITE_MEMBER_AUTHOR", "PRIVILEGED").await;
        world.content.keep_hooks(crate::hooks::host());
        let source = "export function c_onFailure() { return { open: true } }";
        world.content.hooks_deploy(&world.site, &app(), source).await.unwrap();
        let visitor = crate::common::visitor("v");
        assert_eq!(code(world.insert(&visitor, json!({ "_id": "a" })).await), "WDE0027");
        assert_eq!(code(world.remove(&visitor, "a", None).await), "WDE0027");
        assert_eq!(code(world.get(&visitor, "a").await), "WDE0073");
        assert_eq!(world.get(&member("max"), "a").await.unwrap(), json!({ "_id": "a", "open": true }));
    }
}
