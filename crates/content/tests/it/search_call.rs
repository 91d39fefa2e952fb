//! What a search answers is what a plain reading of the items answers: the same hits in the same order, by pages, for
//! who sees all items and for who sees their own.

use crate::{
    common::*,
    search_extras,
    search_job::{caught_up, number, random, serve, words, write},
};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use stoa_content::{Content, ContentLimits, Page, search::Layout};
use stoa_kernel::{Caller, Code, Result};
use stoa_search::{
    question::{Mode, Options, Question},
    segment::Builder,
};
use stoa_sql::Table;
use stoa_store::{ReaderPool, boxed};
use stoa_testkit::{on_both_engines, rounds};

/// A member whose items some of them are.
pub const OWNER: &str = "mona";

/// How often each way to search is tried in a round at least.
const LEAST: usize = 5;

/// What is asked, beside the page.
pub struct Asked {
    /// Nothing for the primary text.
    language: Option<&'static str>,
    pub expression: String,
    and: bool,
    fuzzy: bool,
    fields: Vec<&'static str>,
    /// The least `n`.
    least: Option<i64>,
    /// By `n`, then by `_id`; else by rank.
    is_sorted: bool,
}

impl Asked {
    pub fn random(world: &World) -> Self {
        let mut expression = words(world);
        expression.push_str(["", "*", "~", " yrok~", " pau*", " タ", " none"][random(world, 7)]);
        let one_in = |n| random(world, n) == 0;
        Self {
            language: None,
            expression,
            and: one_in(2),
            fuzzy: one_in(3),
            fields: [vec![], vec!["title"], vec!["tags"]][random(world, 3)].clone(),
            least: one_in(2).then(|| random(world, 9) as i64),
            is_sorted: one_in(3),
        }
    }

    pub fn in_language(self, language: Option<&'static str>) -> Self {
        Self { language, ..self }
    }

    /// The ways in which it searches; none where it has no words.
    fn ways(&self) -> Vec<&'static str> {
        let words: Vec<&str> = self.expression.split(' ').filter(|it| it.len() > 1).collect();
        if words.is_empty() {
            return Vec::new();
        }
        let has = |is_so: bool, way: &'static str| is_so.then_some(way);
        let ways = [
            Some(if self.and { "AND" } else { "OR" }),
            Some(if self.is_sorted { "sort" } else { "rank" }),
            has(words.iter().any(|it| it.ends_with('*')), "prefix"),
            has(self.fuzzy || words.iter().any(|it| it.ends_with('~')), "fuzzy"),
            has(words.iter().any(|it| !it.is_ascii()), "Unicode"),
            has(!self.fields.is_empty(), "fields"),
            has(self.least.is_some(), "filter"),
        ];
        ways.into_iter().flatten().collect()
    }

    pub fn body(&self, paging: (&str, Value)) -> Value {
        let mode = if self.and { "AND" } else { "OR" };
        let mut search = json!({ "search": { "expression": self.expression, "mode": mode, "fuzzy": self.fuzzy, "fields": self.fields } });
        if let Some(least) = self.least {
            search["filter"] = json!({ "n": { "$gte": least } });
        }
        if self.is_sorted {
            search["sort"] = json!([{ "fieldName": "n", "order": "DESC" }, { "fieldName": "_id" }]);
        }
        search[paging.0] = paging.1;
        json!({ "dataCollectionId": "c", "search": search, "language": self.language })
    }

    /// The fields that are searched; all where none is named.
    pub fn within(&self) -> Vec<String> {
        self.fields.iter().map(|it| (*it).to_owned()).collect()
    }

    pub fn is_fuzzy(&self) -> bool {
        self.fuzzy
    }

    /// As it is read for who sees all items, or those of an owner; none where all items are asked for.
    pub fn question(&self, layout: &Layout, owner: Option<&str>) -> Option<Question> {
        let options = Options {
            mode: if self.and { Mode::And } else { Mode::Or },
            fuzzy: self.fuzzy,
            fields: layout.bits(&self.within()).unwrap(),
            rarity: owner.is_none(),
        };
        Question::parse(&self.expression, options).unwrap()
    }

    /// The ids of all that answer, from the items as they are, and whether every item is looked at as it stands.
    pub fn expected(
        &self,
        items: &[(u64, Map<String, Value>)],
        layout: &Layout,
        owner: Option<&str>,
    ) -> Option<Vec<String>> {
        let (fields, question) = (self.within(), self.question(layout, owner)?);
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

/// How often each way to search was tried.
#[derive(Debug)]
pub struct Tally(BTreeMap<&'static str, usize>);

impl Default for Tally {
    fn default() -> Self {
        let ways = ["AND", "OR", "sort", "rank", "prefix", "fuzzy", "Unicode", "fields", "filter"];
        Self(ways.into_iter().map(|it| (it, 0)).collect())
    }
}

impl Tally {
    /// Counts one search.
    pub fn count(&mut self, asked: &Asked) {
        asked.ways().into_iter().for_each(|it| *self.0.get_mut(it).expect("a way") += 1);
    }

    /// How often the rarest way was.
    pub fn least(&self) -> usize {
        self.0.values().copied().min().unwrap_or_default()
    }
}

fn n_of(item: &Map<String, Value>) -> Option<i64> {
    item.get("n").and_then(Value::as_i64)
}

pub async fn search(world: &World, caller: &Caller, body: Value) -> Result<Page> {
    world.content.item_search(&world.site, caller, None, body.as_object().unwrap()).await
}

pub fn ids(page: &Page) -> Vec<String> {
    let items: Vec<Value> = serde_json::from_str(&format!("[{}]", page.elements)).unwrap();
    assert_eq!(items.len(), page.count);
    items.iter().map(|it| it["id"].as_str().unwrap().to_owned()).collect()
}

/// All pages by offset, and there and back by cursor.
pub async fn all(world: &World, caller: &Caller, asked: &Asked) -> Vec<String> {
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
pub async fn items(world: &World) -> Vec<(u64, Map<String, Value>)> {
    let table = Table { site: world.site.number, number: number(world).await.unwrap() };
    let read = world.site.read(ReaderPool::Scan, move |tx| {
        boxed!({
            let sql = format!("select rid, doc from {}", tx.dialect().table(table));
            Ok(tx.rows(&sql, &[], |row| Ok((row.get::<i64>(0)?.unsigned_abs(), row.doc(1)?.into_owned()))).await?)
        })
    });
    read.await.unwrap().into_iter().map(|(rid, doc)| (rid, serde_json::from_str(&doc).unwrap())).collect()
}

pub fn layout() -> Layout {
    let levels =
        json!({ "itemRead": "ANYONE", "itemInsert": "ANYONE", "itemUpdate": "ANYONE", "itemRemove": "ANYONE" });
    let fields = json!([{ "key": "title", "type": "TEXT" }, { "key": "n", "type": "NUMBER" }, { "key": "tags", "type": "ARRAY_STRING" }]);
    Layout::of(&serde_json::from_value(json!({ "levels": levels, "fields": fields })).unwrap())
}

on_both_engines! {
    async fn random_histories_are_searched_as_a_plain_reading_says(engine) {
        let world = World::with_levels(engine, "SITE_MEMBER_AUTHOR", "ANYONE", "ANYONE", "ANYONE").await;
        let (_serving, layout, mut some, mut tally) = (serve(&world).await, layout(), 0, Tally::default());
        for round in 1..=rounds(6) {
            for _ in 0..random(&world, 25) {
                write(&world).await;
                let own = json!({ "_id": format!("o{}", random(&world, 6)), "title": words(&world), "n": random(&world, 9) });
                if random(&world, 3) == 0 {
                    let _ = world.save(&member(OWNER), own).await;
                }
            }
            caught_up(&world).await;
            let (items, mut asked_for) = (items(&world).await, 0);
            while asked_for < 12 || tally.least() < LEAST * round {
                asked_for += 1;
                let asked = Asked::random(&world);
                for (caller, owner) in [(app(), None), (member(OWNER), Some(OWNER))] {
                    let Some(expected) = asked.expected(&items, &layout, owner) else { continue };
                    some += usize::from(expected.len() > 1);
                    tally.count(&asked);
                    search_extras::are_right(&world, &caller, owner, &asked, &items).await;
                    let found = all(&world, &caller, &asked).await;
                    assert_eq!(found, expected, "{} {:?}", asked.body(("paging", Value::Null)), caller);
                }
            }
        }
        assert!(some > 10, "only {some} searches found several");
        assert!(tally.least() >= LEAST * rounds(6), "{tally:?}");
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

    async fn words_of_others_change_nothing_for_who_sees_their_own(engine) {
        let mut answers = Vec::new();
        for others in [0, 80] {
            let world = World::with_levels(engine, "SITE_MEMBER_AUTHOR", "ANYONE", "ANYONE", "ANYONE").await;
            // Two letters of the ten that come last, or of the eleven that come first: errors alike.
            let title = |n: usize, first: u8| {
                format!("abcdef{}{}", char::from(first + (n / 10) as u8), char::from(first + (n % 10) as u8))
            };
            let write = async |caller: Caller, named: &str, count: usize, first: u8| {
                let items = (0..count).map(|n| json!({ "_id": format!("{named}{n}"), "title": title(n, first) }));
                if count > 0 {
                    world.bulk(&caller, "insert", &many(items)).await.unwrap();
                }
            };
            write(member("other"), "x", others, b'a').await;
            write(member(OWNER), "o", 60, b'p').await;
            write(member("other"), "y", others, b'a').await;
            let _serving = serve(&world).await;
            caught_up(&world).await;
            let mut pages = Vec::new();
            for (expression, offset) in [("abcdefpp~", 0), ("abcdefpp~", 40), ("abcdef*", 0), ("abcdefpp abcdefpq", 0)] {
                let search = json!({ "search": { "expression": expression }, "paging": { "limit": 50, "offset": offset } });
                let page = search_of(&world, &member(OWNER), search).await.unwrap();
                pages.push((ids(&page), page.has_next));
            }
            assert_eq!((pages[0].0.len(), pages[1].0.len()), (50, 20));
            answers.push(pages);
        }
        assert_eq!(answers[0], answers[1]);
    }

    async fn cursors_do_not_tell_how_many_items_there_are(engine) {
        let world = World::open(engine).await;
        world.bulk(&app(), "insert", &many((0..70).map(|n| json!({ "_id": format!("i{n}"), "title": "red" })))).await.unwrap();
        let _serving = serve(&world).await;
        caught_up(&world).await;
        let mut seen = Vec::new();
        for _ in 0..2 {
            let search = json!({ "search": { "expression": "red" }, "cursorPaging": { "limit": 60 } });
            let cursor = search_of(&world, &app(), search).await.unwrap().cursors.unwrap().next.unwrap();
            let text = String::from_utf8_lossy(&URL_SAFE_NO_PAD.decode(&cursor).unwrap()[32..]).into_owned();
            let held: Value = serde_json::from_str(&text).unwrap();
            let [_, _, hidden, once] = &held["m"].as_array().unwrap()[..] else { panic!("{text}") };
            seen.extend([hidden.clone(), once.clone()]);
        }
        // The same row each time, and no number twice: neither it nor how far rows are apart.
        let different: std::collections::HashSet<_> = seen.iter().map(Value::to_string).collect();
        assert_eq!(different.len(), 4);
        assert!(!different.contains("60"));
    }

    async fn searches_are_bounded_in_memory(engine) {
        let world = World::open(engine).await;
        world.bulk(&app(), "insert", &many((0..300).map(|n| json!({ "_id": format!("i{n}"), "title": format!("red car{n}") })))).await.unwrap();
        let serving = serve(&world).await;
        caught_up(&world).await;
        serving.end().await;
        let of = |bytes: usize, all: usize| {
            let limits = ContentLimits { search_bytes: bytes, searches_bytes: all, ..ContentLimits::default() };
            Content::new(world.test.world.clone(), limits)
        };
        let code = async |content: &Content, expression: &str| {
            let body = json!({ "dataCollectionId": "c", "search": { "search": { "expression": expression }, "paging": { "limit": 1 } } });
            content.item_search(&world.site, &app(), None, body.as_object().unwrap()).await.err().map(|it| it.code())
        };
        // A list of 300 items, and what is made of it; 300 lists of one item each.
        for (bytes, all, red, cars, one) in [
            (70_000, 1 << 20, None, None, None),
            (30_000, 1 << 20, None, Some(Code::SortTooLarge), None),
            (10_000, 1 << 20, Some(Code::SortTooLarge), Some(Code::SortTooLarge), None),
            (70_000, 1_000, Some(Code::Unavailable), Some(Code::Unavailable), Some(Code::Unavailable)),
        ] {
            let content = of(bytes, all);
            for (expression, expected) in [("red", red), ("c*", cars), ("car7", one)] {
                assert_eq!(code(&content, expression).await, expected, "{bytes} {all} {expression}");
            }
            // What was taken is given back.
            assert_eq!(code(&content, "car8").await, one);
        }
        let by_order = json!({ "dataCollectionId": "c", "search": { "search": { "expression": "red" }, "sort": [{ "fieldName": "n" }] } });
        let found = of(30_000, 1 << 20).item_search(&world.site, &app(), None, by_order.as_object().unwrap()).await;
        assert_eq!(found.err().map(|it| it.code()), Some(Code::SortTooLarge), "a number for each row");
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

async fn search_of(world: &World, caller: &Caller, asked: Value) -> Result<Page> {
    search(world, caller, json!({ "dataCollectionId": "c", "search": asked })).await
}

async fn search_code(world: &World, caller: &Caller, body: Value) -> Option<Code> {
    search(world, caller, body).await.err().map(|it| it.code())
}
