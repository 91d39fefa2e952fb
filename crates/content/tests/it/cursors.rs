use crate::common::*;
use serde_json::{Map, Value, json};
use stoa_content::{Cursors, Page};
use stoa_kernel::Caller;
use stoa_testkit::on_both_engines;

fn ids(page: &Page) -> Vec<String> {
    let list: Value = serde_json::from_str(&format!("[{}]", page.elements)).unwrap();
    list.as_array().unwrap().iter().map(|it| it["data"]["_id"].as_str().unwrap().to_owned()).collect()
}

fn cursors(page: &Page) -> Cursors {
    page.cursors.clone().expect("a walk has cursors")
}

/// Nothing but what the public client sends with a cursor.
fn next(cursor: &str, limit: u32) -> Value {
    json!({ "dataCollectionId": "c", "query": { "fields": [], "cursorPaging": { "cursor": cursor, "limit": limit } } })
}

fn first(filter: Value, sort: Value, limit: u32) -> Value {
    json!({ "dataCollectionId": "c", "query": { "filter": filter, "sort": sort, "cursorPaging": { "limit": limit } } })
}

/// From the first page to the last and back again.
async fn there_and_back(world: &World, caller: &Caller, begin: Value) -> (Vec<String>, Vec<Vec<String>>) {
    let mut page = world.page(caller, begin).await.unwrap();
    let (mut all, mut pages) = (Vec::new(), Vec::new());
    assert_eq!(cursors(&page).prev, None);
    loop {
        all.extend(ids(&page));
        pages.push(ids(&page));
        assert_eq!(page.has_next, cursors(&page).next.is_some());
        let Some(cursor) = cursors(&page).next else { break };
        page = world.page(caller, next(&cursor, 3)).await.unwrap();
        assert!(cursors(&page).prev.is_some());
    }
    for expected in pages.iter().rev().skip(1) {
        page = world.page(caller, next(&cursors(&page).prev.expect("a way back"), 3)).await.unwrap();
        assert_eq!(ids(&page), *expected);
        assert!(page.has_next);
    }
    assert_eq!(cursors(&page).prev, None);
    (all, pages)
}

async fn filled(engine: stoa_testkit::Engine) -> World {
    let world = World::open(engine).await;
    let long = "x".repeat(3000);
    for n in 0..20 {
        let value = match n % 5 {
            0 => json!(n % 2),
            1 => json!(format!("{long}{n}")),
            2 => json!([n, "z"]),
            3 => Value::Null,
            _ => json!({ "$date": 1000 * (n % 3) }),
        };
        world.insert(&app(), json!({ "_id": format!("i{n:02}"), "v": value, "n": n })).await.unwrap();
        world.test.clock.advance(i64::from(n % 3 == 0));
    }
    world
}

on_both_engines! {
    async fn cursor_paging_meets_every_item_once_each_way(engine) {
        let world = filled(engine).await;
        let key = |name: &str, order: &str| json!({ "fieldName": name, "order": order });
        for sort in [
            json!([]),
            json!([key("v", "ASC")]),
            json!([key("v", "DESC")]),
            json!([key("_createdDate", "ASC"), key("v", "DESC")]),
            json!([key("v", "ASC"), key("n", "DESC")]),
            json!([key("_owner", "DESC"), key("_id", "DESC")]),
        ] {
            let filter = json!({ "n": { "$lt": 17 } });
            let whole = json!({ "filter": filter, "sort": sort });
            let expected = world.ids(&app(), whole).await.unwrap();
            let (walked, pages) = there_and_back(&world, &app(), first(filter, sort.clone(), 3)).await;
            assert_eq!(walked, expected, "{sort}");
            assert_eq!(pages.len(), 6);
        }
    }

    async fn cursor_of_a_random_order_keeps_its_seed(engine) {
        let world = filled(engine).await;
        let mut begin = first(json!({}), json!([]), 3);
        begin["sortMode"] = "RANDOM".into();
        let (mut walked, _) = there_and_back(&world, &app(), begin).await;
        walked.sort();
        assert_eq!(walked, (0..20).map(|n| format!("i{n:02}")).collect::<Vec<_>>());
    }

    async fn cursor_to_a_removed_item_loses_no_other(engine) {
        let world = filled(engine).await;
        let sort = json!([{ "fieldName": "n" }]);
        let one = world.page(&app(), first(json!({}), sort, 3)).await.unwrap();
        let two = world.page(&app(), next(&cursors(&one).next.unwrap(), 3)).await.unwrap();
        let (forward, back) = (cursors(&two).next.unwrap(), cursors(&two).prev.unwrap());
        // The item that the cursor stands at, and all that follow.
        for n in 5..20 {
            world.remove(&app(), &format!("i{n:02}"), None).await.unwrap();
        }
        let empty = world.page(&app(), next(&forward, 3)).await.unwrap();
        assert_eq!((empty.count, empty.has_next), (0, false));
        let again = world.page(&app(), next(&cursors(&empty).prev.unwrap(), 3)).await.unwrap();
        assert_eq!(ids(&again), ["i02", "i03", "i04"]);
        // All before, too: the way on leads back over the item where the page began.
        for n in 0..3 {
            world.remove(&app(), &format!("i{n:02}"), None).await.unwrap();
        }
        let empty = world.page(&app(), next(&back, 3)).await.unwrap();
        assert_eq!((empty.count, cursors(&empty).prev), (0, None));
        let again = world.page(&app(), next(&cursors(&empty).next.unwrap(), 3)).await.unwrap();
        assert_eq!(ids(&again), ["i03", "i04"]);
    }

    async fn distinct_values_have_cursors(engine) {
        let world = filled(engine).await;
        let distinct = |request: Value| {
            let world = &world;
            async move { world.content.item_distinct(&world.site, &app(), None, &members(request)).await.unwrap() }
        };
        let values = |page: &Page| serde_json::from_str::<Vec<Value>>(&format!("[{}]", page.elements)).unwrap();
        let next = |cursor: &str| json!({ "dataCollectionId": "c", "cursorPaging": { "cursor": cursor, "limit": 4 } });
        for order in ["ASC", "DESC"] {
            let begin = json!({ "dataCollectionId": "c", "fieldName": "v", "order": order, "filter": { "n": { "$gt": 0 } } });
            let all = values(&distinct(begin.clone()).await);
            let mut begin = begin;
            begin["cursorPaging"] = json!({ "limit": 4 });
            let mut page = distinct(begin).await;
            let mut pages = vec![values(&page)];
            while let Some(cursor) = cursors(&page).next {
                page = distinct(next(&cursor)).await;
                pages.push(values(&page));
            }
            assert_eq!(pages.concat(), all);
            for expected in pages.iter().rev().skip(1) {
                page = distinct(next(&cursors(&page).prev.unwrap())).await;
                assert_eq!(values(&page), *expected);
            }
            assert_eq!(cursors(&page).prev, None);
        }
    }

    async fn cursor_is_bound_to_site_call_and_caller(engine) {
        let world = filled(engine).await;
        world.create("d", json!({ "itemRead": "ANYONE", "itemInsert": "ANYONE", "itemUpdate": "ANYONE", "itemRemove": "ANYONE" })).await;
        let page = world.page(&app(), first(json!({}), json!([]), 3)).await.unwrap();
        let cursor = cursors(&page).next.unwrap();
        let asked = |caller: Caller, request: Value| {
            let world = &world;
            async move { code(world.page(&caller, request).await) }
        };
        assert_eq!(asked(owner(), next(&cursor, 3)).await, "WDE0151", "another kind of caller");
        let mut elsewhere = next(&cursor, 3);
        elsewhere["dataCollectionId"] = "d".into();
        assert_eq!(asked(app(), elsewhere).await, "WDE0151", "another collection");
        for bad in ["", "x", "AAAA", "=", &cursor[1..], &format!("{cursor}A"), &cursor[..cursor.len() - 4]] {
            assert_eq!(asked(app(), next(bad, 3)).await, "WDE0151", "{bad}");
        }
        for at in (0..cursor.len()).step_by(7) {
            let other = if cursor.as_bytes()[at] == b'A' { "B" } else { "A" };
            let mut changed = cursor.clone();
            changed.replace_range(at..=at, other);
            assert_eq!(asked(app(), next(&changed, 3)).await, "WDE0151", "changed at {at}");
        }
        let request = members(json!({ "dataCollectionId": "c", "cursorPaging": { "cursor": cursor } }));
        assert_eq!(code(world.content.item_distinct(&world.site, &app(), None, &request).await), "WDE0151", "another question");
        let other_site = World::open(engine).await;
        // Chance begins alike in all tests; elsewhere it has gone on.
        let _ = other_site.test.world.bytes::<1>();
        assert_eq!(code(other_site.page(&app(), next(&cursor, 3)).await), "WDE0151", "another site");
        let number = next(&cursor, 3);
        assert_eq!(asked(app(), number).await, "ok");
    }

    async fn cursor_carries_no_permission(engine) {
        let author = "SITE_MEMBER_AUTHOR";
        let world = World::with_levels(engine, author, "SITE_MEMBER", author, author).await;
        for (who, id) in [("ann", "1"), ("bob", "2"), ("ann", "3"), ("bob", "4"), ("ann", "5")] {
            world.insert(&member(who), json!({ "_id": id })).await.unwrap();
            world.test.clock.advance(1);
        }
        let page = world.page(&member("ann"), first(json!({}), json!([]), 1)).await.unwrap();
        assert_eq!(ids(&page), ["5"]);
        let stolen = world.page(&member("bob"), next(&cursors(&page).next.unwrap(), 100)).await.unwrap();
        assert_eq!(ids(&stolen), ["4", "2"]);
    }

    async fn cursor_pages_keep_their_limits(engine) {
        let world = filled(engine).await;
        let ask = |paging: Value| {
            let world = &world;
            async move { code(world.page(&app(), json!({ "dataCollectionId": "c", "query": paging })).await) }
        };
        assert_eq!(ask(json!({ "cursorPaging": { "limit": 100 } })).await, "ok");
        assert_eq!(ask(json!({ "cursorPaging": { "limit": 101 } })).await, "WDE0036");
        assert_eq!(ask(json!({ "paging": { "limit": 1000 } })).await, "ok");
        assert_eq!(ask(json!({ "cursorPaging": {}, "paging": { "offset": 1 } })).await, "WDE0080");
        assert_eq!(ask(json!({ "cursorPaging": { "cursor": 7 } })).await, "WDE0151");
        let by_offset = world.page(&app(), json!({ "dataCollectionId": "c", "query": { "paging": { "limit": 1 } } })).await.unwrap();
        assert_eq!(by_offset.cursors, None);
        let page = world.page(&app(), first(json!({}), json!([]), 50)).await.unwrap();
        let mut metadata = String::from("{");
        page.print_metadata(&mut metadata);
        let metadata: Map<String, Value> = serde_json::from_str(&(metadata + "}")).unwrap();
        assert_eq!(Value::Object(metadata), json!({ "count": 20, "hasNext": false, "tooManyToCount": false, "cursors": {} }));
    }
}
