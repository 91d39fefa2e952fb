//! Searches and different values in other languages are those of a plain reading of the items as they are read there.

use crate::{
    common::*,
    search::all_of,
    search_call::{Asked, OWNER, all, ids, items, layout, search},
    search_extras,
    search_job::{caught_up, number, random, serve, words, write},
    translations::{multilingual, multilingual_world, patch_in, set, translate_collection, update_in},
};
use serde_json::{Map, Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};
use stoa_content::{Content, ContentLimits, Page, search::Index};
use stoa_kernel::{Caller, LanguageTag};
use stoa_query::{order, plan::Field};
use stoa_search::segment::{Builder, Segment};
use stoa_sql::key;
use stoa_store::{ReaderPool, boxed};
use stoa_testkit::{on_both_engines, rounds};

/// Those that are written.
const WRITTEN: [&str; 3] = ["de", "de-AT", "fr"];
/// Those that are asked for.
const ASKED: [Option<&str>; 6] = [None, Some("de"), Some("DE-at"), Some("de-AT-1996"), Some("fr-CA"), Some("it")];

/// How often each language is searched in a round at least.
const LEAST: usize = 5;

type Items = Vec<(u64, Map<String, Value>)>;

/// Values by language, row and field.
type Stored = BTreeMap<String, BTreeMap<u64, Vec<(String, Value)>>>;

async fn stored(world: &World) -> Stored {
    let read = world.site.read(ReaderPool::Scan, |tx| {
        boxed!({
            let sql = "select language, item, field, value from stoa.item_translation";
            let read = |row: &stoa_store::Row<'_>| {
                Ok((row.get::<String>(0)?, row.get::<i64>(1)?, row.get::<String>(2)?, row.get::<String>(3)?))
            };
            Ok(tx.rows(sql, &[], read).await?)
        })
    });
    let mut stored = Stored::new();
    for (language, item, field, value) in read.await.unwrap() {
        let values = stored.entry(language).or_default().entry(item.unsigned_abs()).or_default();
        values.push((field, serde_json::from_str(&value).unwrap()));
    }
    stored
}

/// The items as they are read in a language.
fn in_language(items: &Items, stored: &Stored, language: Option<&str>) -> Items {
    let lookup = language.and_then(LanguageTag::parse).map(|it| it.lookup()).unwrap_or_default();
    let mut items = items.clone();
    for (rid, item) in &mut items {
        for language in lookup.iter().rev() {
            for (field, value) in stored.get(language).and_then(|it| it.get(rid)).into_iter().flatten() {
                item.insert(field.clone(), value.clone());
            }
        }
    }
    items
}

/// What there is of the index is what is built of the items of each language.
async fn is_as_built_anew(world: &World, items: &Items, stored: &Stored) {
    let collection = number(world).await.unwrap();
    let mut built = BTreeMap::<String, Vec<Segment>>::new();
    for (listed, whole) in all_of(&world.site, Index { site: world.site.id.clone(), collection }).await.unwrap() {
        built.entry(listed.language).or_default().push(whole);
    }
    let built: BTreeMap<String, Segment> =
        built.into_iter().map(|(language, it)| (language, Segment::merge(&it).unwrap())).collect();
    let mut expected = BTreeMap::new();
    for language in stored.keys().map(String::as_str).chain([""]) {
        let mut builder = Builder::default();
        for (rid, item) in in_language(items, stored, Some(language)) {
            if language.is_empty() || stored[language].contains_key(&rid) {
                layout().with_texts(&item, |texts| builder.put(rid, texts));
            }
        }
        expected.insert(language.to_owned(), builder.build());
    }
    let has_items = |all: BTreeMap<String, Segment>| -> BTreeMap<String, Segment> {
        all.into_iter().filter(|it| !it.1.items().is_empty()).collect()
    };
    assert_eq!(has_items(built), has_items(expected));
}

async fn translate(world: &World) {
    let id = format!("i{}", random(world, 12));
    let language = WRITTEN[random(world, 3)];
    match random(world, 4) {
        0 => drop(update_in(world, &app(), language, json!({ "_id": id, "title": words(world) })).await),
        1 => drop(patch_in(world, &app(), language, (&id, set("tags", json!([words(world), words(world)])))).await),
        2 => drop(patch_in(world, &app(), language, (&id, set("title", Value::Null))).await),
        _ => drop(patch_in(world, &app(), language, (&id, set("title", json!(words(world))))).await),
    }
}

fn values(page: &Page) -> Vec<Value> {
    serde_json::from_str(&format!("[{}]", page.elements)).unwrap()
}

/// The different values of a field, by pages of each kind.
async fn distinct(world: &World, caller: &Caller, request: &Value) -> Vec<Value> {
    let ask = async |paging: (&str, Value)| {
        let mut request = members(request.clone());
        request.insert(paging.0.to_owned(), paging.1);
        world.content.item_distinct(&world.site, caller, None, &request).await.unwrap()
    };
    let (limit, mut by_offset) = (1 + random(world, 4), Vec::new());
    for offset in (0..).step_by(limit) {
        let page = ask(("paging", json!({ "limit": limit, "offset": offset }))).await;
        by_offset.extend(values(&page));
        if !page.has_next {
            assert_eq!(page.total, Some(by_offset.len() as i64));
            break;
        }
    }
    let (mut pages, mut cursor) = (Vec::new(), None);
    loop {
        let page = ask(("cursorPaging", json!({ "limit": limit, "cursor": cursor }))).await;
        pages.push(values(&page));
        let cursors = page.cursors.unwrap();
        cursor = cursors.next;
        if cursor.is_none() {
            let mut back = cursors.prev;
            let all = pages.concat();
            while let Some(prev) = back {
                let page = ask(("cursorPaging", json!({ "limit": limit, "cursor": prev }))).await;
                pages.pop();
                assert_eq!(Some(&values(&page)), pages.last(), "back");
                back = page.cursors.unwrap().prev;
            }
            assert_eq!(all, by_offset, "{request}");
            return by_offset;
        }
    }
}

fn is_seen(item: &Map<String, Value>, owner: Option<&str>) -> bool {
    owner.is_none_or(|owner| item.get("_owner").is_some_and(|it| it == owner))
}

on_both_engines! {
    async fn random_histories_are_read_in_each_language(engine) {
        let world = World::with_levels(engine, "SITE_MEMBER_AUTHOR", "ANYONE", "ANYONE", "ANYONE").await;
        translate_collection(&world).await;
        let (_serving, layout, mut found) = (serve(&world).await, layout(), BTreeMap::<Option<&str>, usize>::new());
        let mut tried = BTreeMap::<Option<&str>, usize>::new();
        for round in 1..=rounds(5) {
            for _ in 0..random(&world, 25) {
                write(&world).await;
                translate(&world).await;
                if random(&world, 4) == 0 {
                    let own = json!({ "_id": format!("i{}", random(&world, 6)), "title": words(&world), "n": random(&world, 9) });
                    let _ = world.save(&member(OWNER), own).await;
                }
            }
            caught_up(&world).await;
            let (items, stored) = (items(&world).await, stored(&world).await);
            is_as_built_anew(&world, &items, &stored).await;
            for language in ASKED {
                let shown = in_language(&items, &stored, language);
                let (mut asked_for, least) = (0, LEAST * round);
                while asked_for < 4 || tried.get(&language).is_none_or(|it| *it < least) {
                    asked_for += 1;
                    let asked = Asked::random(&world).in_language(language);
                    for (caller, owner) in [(app(), None), (member(OWNER), Some(OWNER))] {
                        let Some(expected) = asked.expected(&shown, &layout, owner) else { continue };
                        *tried.entry(language).or_default() += 1;
                        *found.entry(language).or_default() += usize::from(expected.len() > 1);
                        search_extras::are_right(&world, &caller, owner, &asked, &shown).await;
                        let answer = all(&world, &caller, &asked).await;
                        assert_eq!(answer, expected, "{} {caller:?}", asked.body(("paging", Value::Null)));
                    }
                }
                for (field, least) in [("title", 0), ("tags", random(&world, 9) as i64)] {
                    for (caller, owner) in [(app(), None), (member(OWNER), Some(OWNER))] {
                        let order = ["ASC", "DESC"][random(&world, 2)];
                        let request = json!({ "dataCollectionId": "c", "fieldName": field, "language": language, "order": order,
                            "filter": { "n": { "$gte": least } }, "returnTotalCount": true });
                        let passes = |it: &Map<String, Value>| it.get("n").and_then(Value::as_i64).is_some_and(|n| n >= least);
                        let shown = shown.iter().filter(|it| is_seen(&it.1, owner) && passes(&it.1));
                        let field = Field::Path(vec![field.to_owned()]);
                        let keys: BTreeSet<String> = shown.flat_map(|it| order::values(&field, &Value::Object(it.1.clone()))).collect();
                        let mut expected: Vec<Value> = keys.iter().map(|it| key::value(it)).collect();
                        if order == "DESC" {
                            expected.reverse();
                        }
                        assert_eq!(distinct(&world, &caller, &request).await, expected, "{request} {caller:?}");
                    }
                }
            }
        }
        assert!(ASKED.iter().all(|it| found.get(it).is_some_and(|it| *it > 1)), "{found:?}");
        assert!(tried.values().all(|it| *it >= LEAST * rounds(5)), "{tried:?}");
    }

    async fn words_are_found_in_their_language_alone(engine) {
        let world = multilingual_world(engine).await;
        for (id, title) in [("a", "House"), ("b", "Tree"), ("c", "House boat")] {
            world.insert(&app(), json!({ "_id": id, "title": title, "n": 1 })).await.unwrap();
        }
        update_in(&world, &app(), "de", json!({ "_id": "a", "title": "Haus", "n": 1 })).await.unwrap();
        update_in(&world, &app(), "de-AT", json!({ "_id": "b", "title": "Haus am Baum", "n": 1 })).await.unwrap();
        let _serving = serve(&world).await;
        caught_up(&world).await;
        let found = async |expression: &str, language: Option<&str>| {
            let search_for = json!({ "search": { "expression": expression } });
            let body = json!({ "dataCollectionId": "c", "language": language, "search": search_for });
            ids(&search(&world, &visitor("v"), body).await.unwrap())
        };
        assert_eq!((found("house", None).await, found("haus", None).await), (vec!["a".into(), "c".into()], vec![]));
        assert_eq!((found("house", Some("de")).await, found("haus", Some("de")).await), (vec!["c".to_owned()], vec!["a".into()]));
        assert_eq!(found("haus", Some("de-AT")).await, ["a", "b"], "the shorter title first");
        assert_eq!((found("tree", Some("de")).await, found("tree", Some("de-AT")).await), (vec!["b".to_owned()], vec![]));
        assert_eq!(found("haus", Some("fr")).await, Vec::<String>::new());
        // What a page shows is in the language too.
        let body = json!({ "dataCollectionId": "c", "language": "de", "search": { "search": { "expression": "haus" } } });
        let page = search(&world, &visitor("v"), body).await.unwrap();
        assert!(page.elements.contains(r#""title":"Haus""#), "{}", page.elements);

        // A field that leaves the list is searched as its primary text, and again in the language once it is back.
        let (content, site) = (&world.content, &world.site);
        content.plugin_delete(site, &owner(), "c", "MULTILINGUAL", None).await.unwrap();
        caught_up(&world).await;
        assert_eq!((found("house", Some("de")).await.len(), found("haus", Some("de")).await.len()), (2, 0));
        content.plugin_add(site, &owner(), "c", &multilingual(json!(["title"])), None).await.unwrap();
        caught_up(&world).await;
        assert_eq!((found("house", Some("de")).await.len(), found("haus", Some("de")).await), (1, vec!["a".to_owned()]));
        // What goes with an item isn't found for the next one in its row.
        world.remove(&app(), "c", None).await.unwrap();
        world.remove(&app(), "b", None).await.unwrap();
        world.insert(&app(), json!({ "_id": "d", "title": "Boat" })).await.unwrap();
        caught_up(&world).await;
        assert_eq!((found("haus", Some("de-AT")).await, found("boat", Some("de-AT")).await), (vec!["a".to_owned()], vec!["d".into()]));
    }

    async fn translations_that_the_index_has_not_met_are_shown_as_they_are(engine) {
        let world = multilingual_world(engine).await;
        world.insert(&app(), json!({ "_id": "a", "title": "red" })).await.unwrap();
        update_in(&world, &app(), "de", json!({ "_id": "a", "title": "rot" })).await.unwrap();
        let serving = serve(&world).await;
        caught_up(&world).await;
        serving.end().await;
        update_in(&world, &app(), "de", json!({ "_id": "a", "title": "blau" })).await.unwrap();
        for expression in ["rot", "blau"] {
            let body = json!({ "dataCollectionId": "c", "language": "de", "search": { "search": { "expression": expression } } });
            assert_eq!(ids(&search(&world, &app(), body).await.unwrap()), Vec::<String>::new(), "{expression}");
        }
    }

    async fn long_translations_are_indexed_in_pieces(engine) {
        let world = multilingual_world(engine).await;
        let long = |n: usize| (0..2_000).map(|word| format!("w{}", (word * 7 + n * 31) % 9_000)).collect::<Vec<_>>().join(" ");
        for n in 0..6 {
            let id = format!("i{n}");
            world.insert(&app(), json!({ "_id": id, "title": long(n), "n": 1 })).await.unwrap();
            for (at, language) in ["de", "fr", "it", "nl"].into_iter().enumerate() {
                update_in(&world, &app(), language, json!({ "_id": id, "title": long(n * 10 + at + 100), "n": 1 })).await.unwrap();
            }
        }
        let _serving = serve(&world).await;
        caught_up(&world).await;
        is_as_built_anew(&world, &items(&world).await, &stored(&world).await).await;
        for n in 0..10 {
            update_in(&world, &app(), "it", json!({ "_id": "i0", "title": format!("uno {n}"), "n": 1 })).await.unwrap();
            caught_up(&world).await;
        }
        tokio::time::sleep(Duration::from_millis(300)).await;
        is_as_built_anew(&world, &items(&world).await, &stored(&world).await).await;
    }

    async fn languages_with_lists_are_bounded(engine) {
        let world = multilingual_world(engine).await;
        for n in 0..3 {
            world.insert(&app(), json!({ "_id": format!("i{n}"), "title": "House", "n": 1 })).await.unwrap();
        }
        let serving = serve(&world).await;
        for n in 0..240 {
            let (id, language) = (format!("i{}", n / 80), format!("de-x-{n:04}"));
            patch_in(&world, &app(), &language, (&id, set("title", json!(format!("Haus{n}"))))).await.unwrap();
        }
        caught_up(&world).await;
        let languages = async || {
            let read = world.site.read(ReaderPool::Point, |tx| {
                let sql = "select count(distinct language) from stoa.search_segment where state = 'LIVE' and language <> ''";
                boxed!(Ok(tx.row(sql, &[], |row| row.get::<i64>(0)).await?))
            });
            read.await.unwrap()
        };
        assert_eq!(languages().await, Some(200));
        // The first ones keep theirs, and the others' items are found by their primary text.
        let found = async |expression: &str, language: &str| {
            let search_for = json!({ "search": { "expression": expression } });
            let body = json!({ "dataCollectionId": "c", "language": language, "search": search_for });
            ids(&search(&world, &app(), body).await.unwrap())
        };
        assert_eq!(found("haus0", "de-x-0000").await, ["i0"]);
        assert_eq!(found("house", "de-x-0000").await, ["i1", "i2"]);
        assert_eq!((found("haus239", "de-x-0239").await, found("house", "de-x-0239").await.len()), (vec![], 2), "i2 isn't shown so");
        assert_eq!(found("house", "fr").await.len(), 3);
        serving.end().await;
        // Built anew, all of them at once.
        let anew = world.site.write_with((), |tx, ()| {
            boxed!(Ok(tx.execute("update stoa.search_collection set version = 77", &[]).await?))
        });
        anew.await.unwrap();
        let _serving = serve(&world).await;
        caught_up(&world).await;
        assert_eq!(languages().await, Some(200));
    }

    async fn different_values_are_bounded(engine) {
        let mut world = multilingual_world(engine).await;
        for n in 0..20 {
            let id = format!("i{n}");
            world.insert(&app(), json!({ "_id": id, "title": format!("House {n}"), "n": n })).await.unwrap();
            update_in(&world, &app(), "de", json!({ "_id": id, "title": format!("{n} {}", "x".repeat(900)), "n": n })).await.unwrap();
        }
        let limits = ContentLimits { pipeline_bytes: 30_000, ..ContentLimits::default() };
        world.content = Content::new(world.test.world.clone(), limits);
        let ask = async |language: &str, most: usize| {
            let request = json!({ "dataCollectionId": "c", "fieldName": "title", "language": language, "filter": { "n": { "$lt": most } } });
            code(world.content.item_distinct(&world.site, &app(), None, &members(request)).await)
        };
        assert_eq!((ask("de", 5).await, ask("de", 20).await, ask("fr", 20).await), ("ok", "WDE0092", "ok"));
        assert_eq!(world.content.pipeline_memory(), 0, "nothing is held when it is over");
    }
}
