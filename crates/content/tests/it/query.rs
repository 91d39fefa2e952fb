use crate::common::*;
use serde_json::{Value, json};
use stoa_testkit::on_both_engines;

async fn filled(engine: stoa_testkit::Engine) -> World {
    let world = World::open(engine).await;
    let items = [
        json!({ "_id": "1", "n": 1, "title": "Ulm", "tags": ["x", "y"], "when": { "$date": "2024-01-01T00:00:00.000Z" } }),
        json!({ "_id": "2", "n": 2, "title": "ulmer", "tags": ["y"], "when": { "$date": "2025-01-01T00:00:00.000Z" } }),
        json!({ "_id": "3", "n": "2", "title": "Straße", "tags": [], "deep": { "a": 1 } }),
        json!({ "_id": "4", "n": null, "title": "Bär", "flag": true }),
        json!({ "_id": "5", "title": "", "flag": false }),
    ];
    for it in items {
        world.insert(&app(), it).await.unwrap();
        world.test.clock.advance(1);
    }
    world
}

on_both_engines! {
    async fn total_is_the_same_however_it_is_known(engine) {
        let world = World::open(engine).await;
        for n in 0..12 {
            world.insert(&app(), json!({ "_id": format!("i{n:02}"), "n": n, "title": format!("t{}", n % 5) })).await.unwrap();
        }
        let sort = json!([{ "fieldName": "title", "order": "DESC" }]);
        for (query, count, total) in [
            // All on the page; the last page; a page beyond the end; one among several.
            (json!({ "filter": { "n": { "$lt": 3 } } }), 3, 3),
            (json!({ "filter": { "n": { "$lt": 10 } }, "paging": { "limit": 4, "offset": 8 } }), 2, 10),
            (json!({ "filter": { "n": { "$lt": 10 } }, "paging": { "limit": 4, "offset": 10 } }), 0, 10),
            (json!({ "filter": { "n": { "$lt": 10 } }, "paging": { "limit": 4, "offset": 2 } }), 4, 10),
            (json!({ "filter": { "n": { "$gt": 99 } } }), 0, 0),
            // The same in an order of its own.
            (json!({ "filter": { "n": { "$lt": 10 } }, "sort": sort, "paging": { "limit": 4, "offset": 2 } }), 4, 10),
            (json!({ "filter": { "n": { "$lt": 10 } }, "sort": sort, "paging": { "limit": 4, "offset": 8 } }), 2, 10),
            (json!({ "filter": { "n": { "$lt": 10 } }, "sort": sort, "paging": { "limit": 4, "offset": 10 } }), 0, 10),
            (json!({ "filter": { "n": { "$gt": 99 } }, "sort": sort }), 0, 0),
            // By cursor.
            (json!({ "filter": { "n": { "$lt": 10 } }, "sort": sort, "cursorPaging": { "limit": 4 } }), 4, 10),
            (json!({ "filter": { "n": { "$lt": 3 } }, "cursorPaging": { "limit": 4 } }), 3, 3),
        ] {
            let request = json!({ "dataCollectionId": "c", "returnTotalCount": true, "query": query });
            let page = world.page(&app(), request.clone()).await.unwrap();
            assert_eq!((page.count, page.total), (count, Some(total)), "{request}");
            let Some(next) = page.cursors.and_then(|it| it.next) else { continue };
            let mut next = json!({ "dataCollectionId": "c", "returnTotalCount": true, "query": { "cursorPaging": { "cursor": next, "limit": 20 } } });
            let rest = world.page(&app(), next.clone()).await.unwrap();
            assert_eq!((rest.count, rest.total), (6, Some(10)));
            next["returnTotalCount"] = json!(false);
            assert_eq!(world.page(&app(), next).await.unwrap().elements, rest.elements);
        }
    }

    async fn page_of_an_index_may_have_arrays_in_it(engine) {
        let world = World::open(engine).await;
        for n in 0..60 {
            world.insert(&app(), json!({ "_id": format!("i{n:02}"), "n": n, "title": format!("t{}", n % 5) })).await.unwrap();
        }
        let index = json!({ "name": "n", "fields": [{ "path": "n" }] });
        world.content.index_create(&world.site, &app(), "c", &index).await.unwrap();
        while world.content.index_work_do(&world.site).await.unwrap() {}
        let query = json!({ "filter": { "n": { "$gte": 7, "$lt": 50 } }, "sort": [{ "fieldName": "n", "order": "ASC" }], "paging": { "limit": 3 } });
        assert_eq!(world.ids(&app(), query.clone()).await.unwrap(), ["i07", "i08", "i09"]);
        world.save(&app(), json!({ "_id": "i03", "n": [8, 99] })).await.unwrap();
        for _ in 0..2 {
            assert_eq!(world.ids(&app(), query.clone()).await.unwrap(), ["i07", "i03", "i08"]);
        }
        let none = json!({ "filter": { "n": { "$gt": 1000 } }, "sort": [{ "fieldName": "n", "order": "ASC" }] });
        assert_eq!(world.ids(&app(), none).await.unwrap(), [""; 0]);
    }

    async fn operators_filter_items(engine) {
        let world = filled(engine).await;
        let date = |text: &str| json!({ "$date": text });
        for (filter, wants) in [
            (json!({}), "12345"),
            (json!({ "n": 2 }), "2"),
            (json!({ "n": "2" }), "3"),
            (json!({ "n": null }), "45"),
            (json!({ "n": { "$ne": 2 } }), "1345"),
            (json!({ "n": { "$ne": null } }), "123"),
            (json!({ "n": { "$gt": 1 } }), "2"),
            (json!({ "n": { "$gte": 1, "$lt": 2 } }), "1"),
            (json!({ "n": { "$lte": 1 } }), "1"),
            (json!({ "when": { "$lt": date("2024-06-01T00:00:00Z") } }), "1"),
            (json!({ "_createdDate": { "$gt": date("2026-01-01T00:00:00.002Z") } }), "45"),
            (json!({ "title": { "$startsWith": "ULM" } }), "12"),
            (json!({ "title": { "$endsWith": "SSE" } }), ""),
            (json!({ "title": { "$contains": "ä" } }), "4"),
            (json!({ "tags": "y" }), "12"),
            (json!({ "tags": { "$hasSome": ["x", "z"] } }), "1"),
            (json!({ "tags": { "$hasAll": ["x", "y"] } }), "1"),
            (json!({ "_id": { "$in": ["1", "5", 7] } }), "15"),
            (json!({ "n": { "$nin": [1, 2] } }), "345"),
            (json!({ "n": { "$exists": true } }), "1234"),
            (json!({ "n": { "$isEmpty": true } }), "45"),
            (json!({ "deep.a": 1 }), "3"),
            (json!({ "deep": { "a": 1 } }), "3"),
            (json!({ "flag": true }), "4"),
            (json!({ "$or": [{ "n": 1 }, { "flag": false }] }), "15"),
            (json!({ "$and": [{}, { "$not": [{ "n": { "$gt": 0 } }] }] }), "345"),
            (json!({ "$and": [] }), "12345"),
            (json!({ "$not": {} }), ""),
            (json!({ "title": { "$matches": { "ignoreCase": true, "spec": [{ "type": "literal", "value": "ULM" }] } } }), "1"),
        ] {
            let found = world.ids(&app(), json!({ "filter": filter, "sort": [{ "fieldName": "_id" }] })).await.unwrap();
            assert_eq!(found.join(""), wants, "{filter}");
            assert_eq!(world.count(&app(), filter.clone()).await.unwrap(), wants.len() as i64, "{filter}");
        }
    }

    async fn queries_sort_project_and_page(engine) {
        let world = filled(engine).await;
        let sorted = |sort: Value| { let world = &world; async move { world.ids(&app(), json!({ "sort": sort })).await.unwrap().join("") } };
        assert_eq!(sorted(json!([])).await, "54321", "the newest first");
        assert_eq!(sorted(json!([{ "fieldName": "n" }])).await, "45123");
        assert_eq!(sorted(json!([{ "fieldName": "n", "order": "DESC" }, { "fieldName": "_id", "order": "DESC" }])).await, "32154");
        assert_eq!(sorted(json!([{ "fieldName": "title" }])).await, "54312");

        let page = |paging: Value, fields: Value| {
            let query = json!({ "paging": paging, "fields": fields, "sort": [{ "fieldName": "_id" }] });
            json!({ "dataCollectionId": "c", "query": query, "returnTotalCount": true })
        };
        let first = world.page(&app(), page(json!({ "limit": 2 }), json!(["title", "deep.a", "none"]))).await.unwrap();
        let elements: Value = serde_json::from_str(&format!("[{}]", first.elements)).unwrap();
        assert_eq!(
            elements,
            json!([
                { "id": "1", "dataCollectionId": "c", "data": { "_id": "1", "title": "Ulm" } },
                { "id": "2", "dataCollectionId": "c", "data": { "_id": "2", "title": "ulmer" } },
            ])
        );
        let mut metadata = String::new();
        first.print_metadata(&mut metadata);
        assert_eq!(metadata, r#""count":2,"offset":0,"hasNext":true,"tooManyToCount":false,"total":5"#);
        let last = world.page(&app(), page(json!({ "limit": 2, "offset": 4 }), json!([]))).await.unwrap();
        assert_eq!((last.count, last.offset, last.has_next, last.total), (1, 4, false, Some(5)));
        let beyond = world.page(&app(), page(json!({ "offset": 9_000_000 }), json!([]))).await.unwrap();
        assert_eq!((beyond.count, beyond.has_next), (0, false));
    }

    async fn page_has_a_size_in_bytes(engine) {
        let world = filled(engine).await;
        let small = stoa_content::ContentLimits { page_bytes: 200, ..stoa_content::ContentLimits::default() };
        let content = stoa_content::Content::new(world.test.world.clone(), small);
        let ask = |limit: u32| {
            let request = members(json!({ "dataCollectionId": "c", "query": { "paging": { "limit": limit } } }));
            let (content, site) = (&content, &world.site);
            async move { code(content.item_query(site, &app(), None, &request).await) }
        };
        assert_eq!((ask(1).await, ask(5).await), ("ok", "WDE0109"));
    }

    async fn seed_gives_one_order(engine) {
        let world = filled(engine).await;
        let request = |seed: Value| json!({ "dataCollectionId": "c", "query": {}, "sortMode": "RANDOM", "randomOptions": seed });
        let one = world.page(&app(), request(json!({ "seed": 42 }))).await.unwrap();
        assert_eq!(world.page(&app(), request(json!({ "seed": 42 }))).await.unwrap().elements, one.elements);
        assert_eq!(world.page(&app(), request(json!({}))).await.unwrap().count, 5);
    }

    async fn distinct_answers_different_values(engine) {
        let world = filled(engine).await;
        for (field, wants) in [("tags", r#""x","y""#), ("n", r#"null,1,2,"2""#), ("when", r#"{"$date":"2024-01-01T00:00:00.000Z"}"#)] {
            let request = json!({ "dataCollectionId": "c", "fieldName": field });
            let page = world.content.item_distinct(&world.site, &app(), None, &members(request)).await.unwrap();
            assert!(page.elements.contains(wants) || page.elements == wants, "{field}: {}", page.elements);
        }
    }

    async fn pages_of_a_default_order_follow_each_other(engine) {
        let world = World::open(engine).await;
        world.bulk(&app(), "insert", &many((0..120).map(|n| json!({ "_id": format!("{n:03}") })))).await.unwrap();
        let mut seen = Vec::new();
        for offset in [0, 50, 100] {
            let query = json!({ "paging": { "offset": offset } });
            seen.extend(world.ids(&app(), query).await.unwrap());
        }
        let wants: Vec<_> = (0..120).rev().map(|n| format!("{n:03}")).collect();
        assert_eq!(seen, wants, "of one moment, by id in the direction of the order");
    }
}
