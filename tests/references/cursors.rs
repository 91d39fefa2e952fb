//! Walks through what items refer to, by cursor.

use super::*;

/// Makes items of actors, `a100` and up.
async fn cast(client: &TestClient<'_>, numbers: std::ops::Range<usize>) -> Vec<String> {
    let names: Vec<String> = numbers.map(|n| format!("a{}", 100 + n)).collect();
    let items: Vec<_> = names.iter().map(|it| json!({ "data": { "_id": it, "title": it } })).collect();
    let body = json!({ "dataCollectionId": "actors", "dataItems": items });
    assert_eq!(client.post("/v2/bulk/items/insert", &body).await.verdict(), "200");
    names
}

/// What public clients send with a cursor, and nothing else.
async fn follow(client: &TestClient<'_>, cursor: &str, limit: u32) -> Reply {
    let paging = json!({ "cursor": cursor, "limit": limit });
    let body = json!({ "dataCollectionId": "movies", "cursorPaging": paging, "fields": ["title"] });
    client.post("/v2/items/query-referenced", &body).await
}

/// The page's items, as `targets` or `near>far`.
fn shown(page: &Value) -> Vec<String> {
    let target = |it: &Value| match it.get("dataItem") {
        Some(item) => item["id"].as_str().unwrap().to_owned(),
        None => format!("no {}", it["unresolvedReference"]["referencedItemId"].as_str().unwrap()),
    };
    let source = |it: &Value| it["referringItemId"].as_str().map(|source| format!("{source}>")).unwrap_or_default();
    page["results"].as_array().unwrap().iter().map(|it| source(it) + &target(it)).collect()
}

fn cursor<'v>(page: &'v Value, way: &str) -> Option<&'v str> {
    let metadata = &page["pagingMetadata"];
    assert_eq!(metadata["hasNext"], json!(metadata["cursors"].get("next").is_some()), "{metadata}");
    assert_eq!((metadata.get("offset"), metadata["cursors"].is_object()), (None, true), "{metadata}");
    metadata["cursors"].get(way).map(|it| it.as_str().filter(|it| !it.is_empty()).expect("a cursor"))
}

/// Walks to the end and back to the beginning, and answers the pages of the way there.
async fn there_and_back(client: &TestClient<'_>, begin: Value, limit: u32) -> Vec<Vec<String>> {
    let mut page = client.post("/v2/items/query-referenced", &begin).await.json();
    assert_eq!(cursor(&page, "prev"), None);
    let mut pages = vec![shown(&page)];
    while let Some(next) = cursor(&page, "next") {
        page = follow(client, next, limit).await.json();
        assert!(cursor(&page, "prev").is_some());
        pages.push(shown(&page));
    }
    for wanted in pages.iter().rev().skip(1) {
        page = follow(client, cursor(&page, "prev").expect("a way back"), limit).await.json();
        assert!(cursor(&page, "next").is_some());
        assert_eq!(&shown(&page), wanted);
    }
    assert_eq!(cursor(&page, "prev"), None);
    pages
}

on_both_engines! {
    async fn link_pages_go_both_ways(engine) {
        let app = TestApp::new(engine).await;
        movies(&app, (OPEN, OPEN), (OPEN, OPEN)).await;
        let client = app.app();
        let names = cast(&client, 0..121).await;
        let linked: Vec<_> = names[..120].iter().map(String::as_str).collect();
        assert_eq!(link(&client, "movies", "actors", "m", &linked).await.verdict(), "200");
        let begin = |order: &str, paging: Value| json!({ "dataCollectionId": "movies", "referringItemFieldName": "actors",
            "referringItemId": "m", "order": order, "cursorPaging": paging, "returnTotalCount": true });
        for order in ["ASC", "DESC"] {
            let mut wanted = names[..120].to_vec();
            if order == "DESC" {
                wanted.reverse();
            }
            let pages = there_and_back(&client, begin(order, json!({ "limit": 25 })), 25).await;
            assert_eq!(pages, wanted.chunks(25).map(<[_]>::to_vec).collect::<Vec<_>>());
            let pages = there_and_back(&client, begin(order, json!({ "limit": 30 })), 30).await;
            assert_eq!(pages.iter().map(Vec::len).collect::<Vec<_>>(), [30; 4], "no empty page at the end");
        }
        // Meanwhile the last link of a page is removed, one behind it, and one is made.
        let first = client.post("/v2/items/query-referenced", &begin("ASC", json!({ "limit": 25 }))).await.json();
        assert_eq!(first["pagingMetadata"]["total"], 120);
        assert_eq!(unlink(&client, "movies", "actors", "m", &[&names[24], &names[30]]).await.verdict(), "200");
        assert_eq!(link(&client, "movies", "actors", "m", &[&names[120]]).await.verdict(), "200");
        let (mut page, mut met) = (first.clone(), shown(&first));
        while let Some(next) = cursor(&page, "next") {
            page = follow(&client, next, 25).await.json();
            met.extend(shown(&page));
        }
        let all: Vec<_> = names.iter().filter(|it| **it != names[30]).cloned().collect();
        assert_eq!(met, all, "each once: the removed one that was shown, and the new one at the end");
        let mut met = Vec::new();
        loop {
            met.splice(0..0, shown(&page));
            let Some(prev) = cursor(&page, "prev") else { break };
            page = follow(&client, prev, 25).await.json();
        }
        let left: Vec<_> = all.iter().filter(|it| **it != names[24]).cloned().collect();
        assert_eq!(met, left, "back, without the removed ones");
        // All that follows goes: the page is empty, and the way back leads to what is there.
        assert_eq!(replace(&client, "movies", "actors", "m", &[]).await.verdict(), "200");
        let empty = follow(&client, cursor(&first, "next").unwrap(), 25).await.json();
        assert_eq!((shown(&empty).len(), cursor(&empty, "next"), cursor(&empty, "prev").is_some()), (0, None, true));
        // By offset there are no cursors.
        let page = referenced(&client, "movies", "actors", "m", json!({ "paging": { "limit": 2 } })).await.json();
        assert_eq!(page["pagingMetadata"].get("cursors"), None);
    }

    async fn link_pages_begin_with_many_items(engine) {
        let app = TestApp::new(engine).await;
        movies(&app, (OPEN, OPEN), (OPEN, OPEN)).await;
        let client = app.app();
        link(&client, "movies", "actors", "m", &["p", "q"]).await;
        link(&client, "movies", "actors", "n", &["q", "p"]).await;
        link(&client, "movies", "actors", "m", &["r"]).await;
        let begin = |field: &str, order: &str, items: &[&str]| json!({ "dataCollectionId": "movies", "order": order,
            "referringItemFieldName": field, "referringItemIds": items, "cursorPaging": { "limit": 2 } });
        let pages = there_and_back(&client, begin("actors", "ASC", &["n", "m", "gone"]), 2).await;
        assert_eq!(pages.concat(), ["m>p", "m>q", "n>q", "n>p", "m>r"]);
        let pages = there_and_back(&client, begin("actors", "DESC", &["n", "m"]), 2).await;
        assert_eq!(pages.concat(), ["m>r", "n>p", "n>q", "m>q", "m>p"]);
        // Single references stand in the order of the request.
        for (id, lead) in [("s", json!("p")), ("t", json!("gone")), ("u", json!(7)), ("v", json!("q")), ("w", json!("p")), ("x", json!("r"))] {
            let body = json!({ "dataCollectionId": "movies", "dataItem": { "data": { "_id": id, "lead": lead } } });
            assert_eq!(client.post("/v2/items", &body).await.verdict(), "200");
        }
        let items = ["x", "s", "t", "u", "m", "v", "w"];
        let pages = there_and_back(&client, begin("lead", "ASC", &items), 2).await;
        assert_eq!(pages.concat(), ["x>r", "s>p", "t>no gone", "v>q", "w>p"]);
        let pages = there_and_back(&client, begin("lead", "DESC", &items), 2).await;
        assert_eq!(pages.concat(), ["w>p", "v>q", "t>no gone", "s>p", "x>r"]);
        // The item that the cursor stands at goes.
        let page = client.post("/v2/items/query-referenced", &begin("lead", "ASC", &items)).await.json();
        assert_eq!(client.delete("/v2/items/s?dataCollectionId=movies").await.verdict(), "200");
        let page = follow(&client, cursor(&page, "next").unwrap(), 2).await.json();
        assert_eq!(shown(&page), ["t>no gone", "v>q"]);
        assert_eq!(shown(&follow(&client, cursor(&page, "prev").unwrap(), 2).await.json()), ["x>r"]);
    }

    async fn link_cursor_serves_its_caller_only(engine) {
        let app = TestApp::new(engine).await;
        movies(&app, (OPEN, OPEN), ("SITE_MEMBER_AUTHOR", "SITE_MEMBER")).await;
        let client = app.app();
        let linked = cast(&client, 0..3).await;
        link(&client, "movies", "actors", "m", &linked.iter().map(String::as_str).collect::<Vec<_>>()).await;
        let begin = |client: &TestClient<'_>| {
            let client = app.with_token(&client.token);
            async move { referenced(&client, "movies", "actors", "m", json!({ "cursorPaging": { "limit": 1 } })).await.json() }
        };
        let page = begin(&client).await;
        let next = cursor(&page, "next").unwrap();
        assert_eq!(shown(&follow(&client, next, 1).await.json()), [linked[1].clone()]);
        assert_eq!(follow(&app.visitor().await, next, 1).await.verdict(), "400 WDE0151", "another kind of caller");
        let foreign = json!({ "dataCollectionId": "actors", "cursorPaging": { "cursor": next } });
        assert_eq!(client.post("/v2/items/query-referenced", &foreign).await.verdict(), "400 WDE0151");
        let items = json!({ "dataCollectionId": "movies", "query": { "cursorPaging": { "cursor": next } } });
        assert_eq!(client.post("/v2/items/query", &items).await.verdict(), "400 WDE0151", "another question");
        for bad in ["", "x", "AAAA", "=", &next[1..], &format!("{next}A"), &next[..next.len() - 4]] {
            assert_eq!(follow(&client, bad, 1).await.verdict(), "400 WDE0151", "{bad}");
        }
        for at in (0..next.len()).step_by(29) {
            let mut changed = next.to_owned();
            changed.replace_range(at..=at, if next.as_bytes()[at] == b'A' { "B" } else { "A" });
            assert_eq!(follow(&client, &changed, 1).await.verdict(), "400 WDE0151", "changed at {at}");
        }
        let with = |paging: Value, by_cursor: Value| referenced(&client, "movies", "actors", "m", json!({ "paging": paging, "cursorPaging": by_cursor }));
        assert_eq!(with(json!({ "offset": 1 }), json!({ "cursor": next })).await.verdict(), "400 WDE0080");
        assert_eq!(with(json!({ "offset": 1 }), json!({})).await.verdict(), "400 WDE0080");
        assert_eq!(with(json!({}), json!({ "cursor": 7 })).await.verdict(), "400 WDE0151");
        assert_eq!(with(json!({}), json!({ "limit": 101 })).await.verdict(), "400 WDE0036");
        // What a cursor request names itself doesn't count.
        let other = referenced(&client, "movies", "lead", "n", json!({ "order": "DESC", "cursorPaging": { "cursor": next, "limit": 1 } })).await;
        assert_eq!(shown(&other.json()), [linked[1].clone()]);
        // A member's cursor shows another member only what is theirs.
        let (ann, bob) = (app.member("ann@example.org").await, app.member("bob@example.org").await);
        for (member, ids) in [(&ann, ["ann1", "ann2"]), (&bob, ["bob1", "bob2"])] {
            for id in ids {
                insert(member, "actors", id).await;
            }
            assert_eq!(link(&client, "movies", "actors", "m", &ids).await.verdict(), "200");
        }
        let page = begin(&ann).await;
        assert_eq!(shown(&page), ["ann1"]);
        let stolen = follow(&bob, cursor(&page, "next").unwrap(), 100).await.json();
        assert_eq!(shown(&stolen), ["bob1", "bob2"]);
        // Nor does it outlast a right.
        let privileged = "PRIVILEGED";
        let mut object = definition(&app, "actors").await;
        object.as_object_mut().unwrap().remove("permissions");
        object["dataPermissions"] = json!({ "itemRead": privileged, "itemInsert": privileged, "itemUpdate": privileged, "itemRemove": privileged });
        let body = json!({ "collection": object }).to_string();
        let reply = client.send(axum::http::Method::PUT, "/v2/collections", Some(body.into())).await;
        assert_eq!(reply.verdict(), "200", "{:?}", reply.body);
        assert_eq!(follow(&ann, cursor(&page, "next").unwrap(), 1).await.verdict(), "403 WDE0027");
    }
}
