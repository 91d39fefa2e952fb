//! What a search answers is what a plain reading of the items answers: the same hits in the same order, by pages, for
//! who sees all items and for who sees their own.

use crate::{
    common::*,
    search_job::{caught_up, number, random, serve, words, write},
};
use serde_json::{Map, Value, json};
use stoa_content::{Page, search::Layout};
use stoa_kernel::{Caller, Code, Result};
use stoa_search::{
    question::{Mode, Options, Question},
    segment::Builder,
};
use stoa_sql::Table;
use stoa_store::{ReaderPool, boxed};
use stoa_testkit::{on_both_engines, rounds};

/// A member whose items some of them are.
const OWNER: &str = "mona";

/// What is asked, beside the page.
struct Asked {
    expression: String,
    and: bool,
    fuzzy: bool,
    fields: Vec<&'static str>,
    /// The least `n`.
    least: Option<i64>,
    /// By `n`, then by `_id`; else by rank.
    is_sorted: bool,
}

impl Asked {
    fn random(world: &World) -> Self {
        let mut expression = words(world);
        expression.push_str(["", "*", "~", " yrok~", " pau*", " タ", " none"][random(world, 7)]);
        let one_in = |n| random(world, n) == 0;
        Self {
            expression,
            and: one_in(2),
            fuzzy: one_in(3),
            fields: [vec![], vec!["title"], vec!["tags"]][random(world, 3)].clone(),
            least: one_in(2).then(|| random(world, 9) as i64),
            is_sorted: one_in(3),
        }
    }

    fn body(&self, paging: (&str, Value)) -> Value {
        let mode = if self.and { "AND" } else { "OR" };
        let mut search = json!({ "search": { "expression": self.expression, "mode": mode, "fuzzy": self.fuzzy, "fields": self.fields } });
        if let Some(least) = self.least {
            search["filter"] = json!({ "n": { "$gte": least } });
        }
        if self.is_sorted {
            search["sort"] = json!([{ "fieldName": "n", "order": "DESC" }, { "fieldName": "_id" }]);
        }
        search[paging.0] = paging.1;
        json!({ "dataCollectionId": "c", "search": search })
    }

    /// The ids of all that answer, from the items as they are, and whether every item is looked at as it stands.
    fn expected(
        &self,
        items: &[(u64, Map<String, Value>)],
        layout: &Layout,
        owner: Option<&str>,
    ) -> Option<Vec<String>> {
        let fields: Vec<String> = self.fields.iter().map(|it| (*it).to_owned()).collect();
        let options = Options {
            mode: if self.and { Mode::And } else { Mode::Or },
            fuzzy: self.fuzzy,
            fields: layout.bits(&fields).unwrap(),
            rarity: owner.is_none(),
        };
        let question = Question::parse(&self.expression, options).unwrap()?;
        let mut builder = Builder::default();
        for (rid, item) in items {
            layout.with_texts(item, |texts| builder.put(*rid, texts));
        }
        let mut hits = question.ask(&[builder.build()]).unwrap();
        let of = |rid: u64| &items.iter().find(|it| it.0 == rid).unwrap().1;
        let mut found: Vec<&Map<String, Value>> = hits.take(usize::MAX).iter().map(|it| of(it.rid)).collect();
        found.retain(|it| {
            let is_seen = owner.is_none_or(|owner| it.get("_owner").is_some_and(|it| it == owner));
            is_seen && self.least.is_none_or(|least| n_of(it).is_some_and(|n| n >= least))
        });
        if self.is_sorted {
            found.sort_by_key(|it| (std::cmp::Reverse(n_of(it)), it["_id"].to_string()));
        }
        found.retain(|it| layout.with_texts_of(&fields, it, |texts| question.is_answered_by(texts)));
        Some(found.iter().map(|it| it["_id"].as_str().unwrap().to_owned()).collect())
    }
}

fn n_of(item: &Map<String, Value>) -> Option<i64> {
    item.get("n").and_then(Value::as_i64)
}

async fn search(world: &World, caller: &Caller, body: Value) -> Result<Page> {
    world.content.item_search(&world.site, caller, None, body.as_object().unwrap()).await
}

fn ids(page: &Page) -> Vec<String> {
    let items: Vec<Value> = serde_json::from_str(&format!("[{}]", page.elements)).unwrap();
    assert_eq!(items.len(), page.count);
    items.iter().map(|it| it["id"].as_str().unwrap().to_owned()).collect()
}

/// All pages by offset, and there and back by cursor.
async fn all(world: &World, caller: &Caller, asked: &Asked) -> Vec<String> {
    let (limit, mut by_offset, mut by_cursor) = (1 + random(world, 6), Vec::new(), Vec::new());
    for offset in (0..).step_by(limit) {
        let page =
            search(world, caller, asked.body(("paging", json!({ "limit": limit, "offset": offset })))).await.unwrap();
        by_offset.extend(ids(&page));
        if !page.has_next {
            break;
        }
    }
    let (mut pages, mut cursor) = (Vec::new(), None);
    loop {
        let page = search(world, caller, asked.body(("cursorPaging", json!({ "limit": limit, "cursor": cursor }))))
            .await
            .unwrap();
        pages.push(ids(&page));
        let cursors = page.cursors.unwrap();
        match cursors.next {
            Some(next) => cursor = Some(next),
            None => {
                cursor = cursors.prev;
                break;
            }
        }
    }
    by_cursor.extend(pages.concat());
    assert_eq!(by_cursor, by_offset, "{}", asked.expression);
    while let Some(prev) = cursor {
        let page = search(world, caller, asked.body(("cursorPaging", json!({ "limit": limit, "cursor": prev }))))
            .await
            .unwrap();
        pages.pop();
        assert_eq!(Some(&ids(&page)), pages.last(), "back: {}", asked.expression);
        cursor = page.cursors.unwrap().prev;
    }
    assert!(pages.len() <= 1);
    by_offset
}

/// The items by their rows.
async fn items(world: &World) -> Vec<(u64, Map<String, Value>)> {
    let table = Table { site: world.site.number, number: number(world).await.unwrap() };
    let read = world.site.read(ReaderPool::Scan, move |tx| {
        boxed!({
            let sql = format!("select rid, doc from {}", tx.dialect().table(table));
            Ok(tx.rows(&sql, &[], |row| Ok((row.get::<i64>(0)?.unsigned_abs(), row.doc(1)?.into_owned()))).await?)
        })
    });
    read.await.unwrap().into_iter().map(|(rid, doc)| (rid, serde_json::from_str(&doc).unwrap())).collect()
}

fn layout() -> Layout {
    let levels =
        json!({ "itemRead": "ANYONE", "itemInsert": "ANYONE", "itemUpdate": "ANYONE", "itemRemove": "ANYONE" });
    let fields = json!([{ "key": "title", "type": "TEXT" }, { "key": "n", "type": "NUMBER" }, { "key": "tags", "type": "ARRAY_STRING" }]);
    Layout::of(&serde_json::from_value(json!({ "levels": levels, "fields": fields })).unwrap())
}

on_both_engines! {
    async fn random_histories_are_searched_as_a_plain_reading_says(engine) {
        let world = World::with_levels(engine, "SITE_MEMBER_AUTHOR", "ANYONE", "ANYONE", "ANYONE").await;
        let (_serving, layout, mut some) = (serve(&world).await, layout(), 0);
        for _ in 0..rounds(6) {
            for _ in 0..random(&world, 25) {
                write(&world).await;
                let own = json!({ "_id": format!("o{}", random(&world, 6)), "title": words(&world), "n": random(&world, 9) });
                if random(&world, 3) == 0 {
                    let _ = world.save(&member(OWNER), own).await;
                }
            }
            caught_up(&world).await;
            let items = items(&world).await;
            for _ in 0..12 {
                let asked = Asked::random(&world);
                for (caller, owner) in [(app(), None), (member(OWNER), Some(OWNER))] {
                    let Some(expected) = asked.expected(&items, &layout, owner) else { continue };
                    some += usize::from(expected.len() > 1);
                    let found = all(&world, &caller, &asked).await;
                    assert_eq!(found, expected, "{} {:?}", asked.body(("paging", Value::Null)), caller);
                }
            }
        }
        assert!(some > 10, "only {some} searches found several");
    }

    async fn items_that_the_index_has_not_met_are_shown_as_they_are(engine) {
        let world = World::open(engine).await;
        world.insert(&app(), json!({ "_id": "a", "title": "red car" })).await.unwrap();
        world.insert(&app(), json!({ "_id": "b", "title": "red boat" })).await.unwrap();
        let body = json!({ "dataCollectionId": "c", "search": { "search": { "expression": "red" } } });
        assert_eq!(ids(&search(&world, &app(), body.clone()).await.unwrap()), Vec::<String>::new(), "no index yet");
        let serving = serve(&world).await;
        caught_up(&world).await;
        serving.end().await;
        world.update(&app(), json!({ "_id": "a", "title": "blue car" }), None).await.unwrap();
        world.insert(&app(), json!({ "_id": "c", "title": "red bird" })).await.unwrap();
        assert_eq!(ids(&search(&world, &app(), body.clone()).await.unwrap()), ["b"]);
        world.remove(&app(), "b", None).await.unwrap();
        assert_eq!(ids(&search(&world, &app(), body).await.unwrap()), Vec::<String>::new());
    }

    async fn searches_that_make_no_sense_are_refused(engine) {
        let world = World::with_levels(engine, "SITE_MEMBER", "ANYONE", "ANYONE", "ANYONE").await;
        let asked = async |caller: Caller, search: Value| {
            let body = json!({ "dataCollectionId": "c", "search": search });
            search_code(&world, &caller, body).await
        };
        for (search, code) in [
            (json!({ "search": { "expression": "a".repeat(101) } }), Code::BadRequest),
            (json!({ "search": { "expression": "a b c d e f g h i j k l m n o p q" } }), Code::BadRequest),
            (json!({ "search": { "expression": "a", "fields": ["n"] } }), Code::FieldInvalid),
            (json!({ "search": { "expression": "a", "fields": ["none"] } }), Code::FieldInvalid),
            (json!({ "search": { "expression": "a" }, "filter": { "n": { "$regex": "x" } } }), Code::RegexNotAllowed),
            (json!({ "search": { "expression": "a" }, "cursorPaging": { "cursor": "x" } }), Code::CursorInvalid),
        ] {
            assert_eq!(asked(app(), search.clone()).await, Some(code), "{search}");
        }
        // Who may not read is told nothing of the fields.
        let named = json!({ "search": { "expression": "a", "fields": ["none"] } });
        assert_eq!(asked(visitor("v"), named).await, Some(Code::PermissionDenied));
        let off = json!({ "id": "c", "search": false });
        world.content.collection_patch(&world.site, &owner(), &off).await.unwrap();
        for search in [json!({}), json!({ "search": { "expression": "a" } })] {
            assert_eq!(asked(app(), search.clone()).await, Some(Code::SearchOff));
            assert_eq!(asked(visitor("v"), search).await, Some(Code::PermissionDenied));
        }
    }

    async fn damaged_index_is_built_anew(engine) {
        let world = World::open(engine).await;
        world.insert(&app(), json!({ "_id": "a", "title": "red car" })).await.unwrap();
        let serving = serve(&world).await;
        caught_up(&world).await;
        serving.end().await;
        let broken = world.site.write_with((), |tx, ()| boxed!(Ok(tx.execute("update stoa.search_list set part = part + 1", &[]).await?)));
        broken.await.unwrap();
        let body = json!({ "dataCollectionId": "c", "search": { "search": { "expression": "red" } } });
        assert_eq!(search_code(&world, &app(), body.clone()).await, Some(Code::Unavailable));
        let _serving = serve(&world).await;
        caught_up(&world).await;
        assert_eq!(ids(&search(&world, &app(), body).await.unwrap()), ["a"]);
    }
}

async fn search_code(world: &World, caller: &Caller, body: Value) -> Option<Code> {
    search(world, caller, body).await.err().map(|it| it.code())
}
