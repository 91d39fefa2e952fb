//! Links that travel with an export and come back by an import.

use crate::common::*;
use serde_json::{Value, json};
use std::sync::Arc;
use stoa_content::{
    Request,
    transfer::{Counts, Event, FileOf, Format, LinkCounts},
};
use stoa_kernel::Result;
use stoa_store::{ReaderPool, boxed};
use stoa_testkit::{Engine, on_both_engines};

const FORMATS: [Format; 3] = [Format::JsonLines, Format::Json, Format::Csv];

/// Movies (`c`) with actors among the people and with sequels, people with favourites among the movies.
async fn cinema(engine: Engine) -> World {
    let world = World::open(engine).await;
    world.create("people", json!({})).await;
    for (collection, key, to, inverse) in
        [("c", "actors", "people", "movies"), ("c", "sequels", "c", "prequels"), ("people", "favourites", "c", "fans")]
    {
        let field = json!({ "key": key, "type": "MULTI_REFERENCE",
            "typeMetadata": { "multiReference": { "referencedCollectionId": to, "referencingFieldKey": inverse } } });
        world.content.field_create(&world.site, &owner(), collection, &field).await.unwrap();
    }
    world
}

/// Imports a text and answers the counts and the refusals as `line: code`, with the field and the id of a
/// link that has no target.
async fn import(world: &World, collection: &str, format: Format, text: &str) -> (Result<Counts>, Vec<String>) {
    let mut refusals = Vec::new();
    let tell = |it: Event<'_>| match it {
        Event::Refused { line, fault } => refusals.push(format!("{line}: {}", fault.code().name())),
        Event::Unlinked { line, fault } => {
            let data = |name: &str| fault.data()[name].as_str().unwrap_or_default().to_owned();
            refusals.push(format!("{line}: {} {} {}", fault.code().name(), data("propertyName"), data("itemId")));
        }
        Event::Progress(_) => {}
    };
    let counts = world.content.import(&world.site, &app(), FileOf { collection, format }, text.as_bytes(), tell).await;
    (counts, refusals)
}

async fn lines(world: &World, collection: &str, items: &[Value]) -> (Counts, Vec<String>) {
    let text: String = items.iter().map(|it| format!("{it}\n")).collect();
    let (counts, refusals) = import(world, collection, Format::JsonLines, &text).await;
    (counts.unwrap(), refusals)
}

async fn export(world: &World, collection: &str, format: Format) -> String {
    let mut out = Vec::new();
    world.content.export(&world.site, &app(), FileOf { collection, format }, &mut out, |_| ()).await.unwrap();
    String::from_utf8(out).unwrap()
}

/// The exported items by id.
async fn exported(world: &World, collection: &str) -> serde_json::Map<String, Value> {
    let items: Vec<Value> = serde_json::from_str(&export(world, collection, Format::Json).await).unwrap();
    items.into_iter().map(|it| (it["_id"].as_str().unwrap().to_owned(), it)).collect()
}

/// All rows of links as they are kept, their numbers with them.
async fn rows(world: &World) -> Vec<(i64, i64, String, String)> {
    let read = world.site.read(ReaderPool::Scan, |tx| {
        boxed!({
            let sql = "select seq, relation, referring, referenced from stoa.item_link order by seq";
            Ok(tx.rows(sql, &[], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))).await?)
        })
    });
    read.await.unwrap()
}

fn counts(inserted: u64, updated: u64, failed: u64, made: u64, missing: u64) -> Counts {
    Counts { inserted, updated, failed, links: Some(LinkCounts { made, missing }), ..Counts::default() }
}

/// 1,203 movies, each with three actors and up to three sequels before and after it, and 40 people.
async fn filled(engine: Engine) -> World {
    let world = cinema(engine).await;
    let people: Vec<_> = (0..40).map(|n| json!({ "_id": format!("p{n:02}"), "title": format!("=P{n}") })).collect();
    assert_eq!(lines(&world, "people", &people).await.0, counts(40, 0, 0, 0, 0));
    let movie = |n: u64| {
        let actors: Vec<_> = [7, 3, 5].iter().map(|it| format!("p{:02}", (n * it + it) % 40)).collect();
        let sequels: Vec<_> = [n + 900, n.wrapping_sub(1), n, n + 2]
            .iter()
            .filter(|it| **it < 1203)
            .map(|it| format!("m{it:04}"))
            .collect();
        json!({ "_id": format!("m{n:04}"), "n": n, "actors": actors, "sequels": if n.is_multiple_of(5) { json!([]) } else { json!(sequels) } })
    };
    let movies: Vec<_> = (0..1203).map(movie).collect();
    let (done, refusals) = lines(&world, "c", &movies).await;
    assert_eq!((done.inserted, done.links.unwrap().missing, refusals.len()), (1203, 0, 0));
    let favourites: Vec<_> = (0..40).map(|n| json!({ "_id": format!("p{n:02}"), "title": "=P", "favourites": [format!("m{:04}", 1000 - n), "m0007", "m1100"] })).collect();
    assert_eq!(lines(&world, "people", &favourites).await.0, counts(0, 40, 0, 120, 0));
    world
}

on_both_engines! {
    async fn links_of_both_sides_come_back_in_their_order(engine) {
        let world = filled(engine).await;
        let (movies, people) = (exported(&world, "c").await, exported(&world, "people").await);
        assert_eq!(movies["m0007"]["actors"], json!(["p16", "p24", "p00"]));
        assert_eq!(movies["m0007"]["sequels"], json!(["m0907", "m0006", "m0007", "m0009"]), "those that came later in the file have their places");
        assert_eq!(movies["m0010"]["sequels"], json!([]), "none are written as well");
        assert_eq!(people["p03"]["favourites"], json!(["m0997", "m0007", "m1100"]));
        for inverse in ["movies", "fans", "prequels"] {
            assert!(people["p03"].get(inverse).is_none() && movies["m0007"].get(inverse).is_none(), "{inverse} says nothing new");
        }
        let links = rows(&world).await.len();

        for format in FORMATS {
            let (c, p) = (export(&world, "c", format).await, export(&world, "people", format).await);
            let other = cinema(engine).await;
            let (done, refusals) = import(&other, "people", format, &p).await;
            assert_eq!(done.unwrap(), counts(40, 0, 0, 0, 120), "{format:?}: the movies are still to come");
            let first = if format == Format::JsonLines { 1 } else { 2 };
            assert_eq!((refusals.len(), refusals[0].clone()), (120, format!("{first}: WDE0073 favourites m1000")), "{format:?}");
            let (done, refusals) = import(&other, "c", format, &c).await;
            assert_eq!((done.unwrap().links.unwrap().made as usize, refusals.len()), (links - 120, 0), "{format:?}");
            assert_eq!(import(&other, "people", format, &p).await.0.unwrap(), counts(0, 40, 0, 120, 0), "{format:?}");

            assert_eq!(export(&other, "c", format).await, c, "{format:?}");
            assert_eq!(export(&other, "people", format).await, p, "{format:?}");
            assert_eq!(rows(&other).await.len(), links, "{format:?}");

            // Once more changes nothing, and writes no link again.
            let before = rows(&other).await;
            let (done, refusals) = import(&other, "c", format, &c).await;
            assert_eq!((done.unwrap(), refusals.len()), (counts(0, 1203, 0, links as u64 - 120, 0), 0), "{format:?}");
            assert_eq!(rows(&other).await, before, "{format:?}");
        }
    }

    async fn import_that_broke_off_is_completed_by_the_next(engine) {
        let world = filled(engine).await;
        let (whole, people) = (export(&world, "c", Format::Json).await, export(&world, "people", Format::Json).await);
        let wants = exported(&world, "c").await;
        let other = cinema(engine).await;
        import(&other, "people", Format::Json, &people).await.0.unwrap();
        let half = &whole[..whole.find("{\"_id\":\"m1101\"").unwrap()];
        let (done, refusals) = import(&other, "c", Format::Json, half).await;
        assert_eq!((code(done), refusals.len()), ("WDE0080", 0));
        assert_eq!(other.count(&app(), json!({})).await.unwrap(), 1101);
        let (done, refusals) = import(&other, "c", Format::Json, &whole).await;
        let done = done.unwrap();
        assert_eq!((done.inserted, done.updated, done.failed, done.links.unwrap().missing, refusals.len()), (102, 1101, 0, 0, 0));
        let found = exported(&other, "c").await;
        assert!(wants.iter().all(|(id, it)| it["actors"] == found[id]["actors"] && it["sequels"] == found[id]["sequels"]));
        assert_eq!(found.len(), wants.len());
    }

    async fn unresolved_links_are_reported_with_their_lines(engine) {
        let world = cinema(engine).await;
        lines(&world, "people", &[json!({ "_id": "p1" }), json!({ "_id": "p2" })]).await;
        let file = [
            json!({ "_id": "a", "actors": ["p2", "gone", "p1"], "sequels": ["b", { "_id": "a" }, "b"] }),
            json!({ "_id": "b", "actors": ["p1"], "sequels": ["lost", "gone"] }),
            json!({ "_id": "d", "actors": "p1" }),
            json!({ "_id": "e", "actors": [1] }),
            json!({ "_id": "f", "actors": (0..1001).map(|n| format!("p{n}")).collect::<Vec<_>>() }),
        ];
        let (done, refusals) = lines(&world, "c", &file).await;
        assert_eq!(done, counts(2, 0, 3, 5, 3));
        assert_eq!(refusals[..3], ["3: WDE0303", "4: WDE0303", "5: WDE0303"]);
        let mut missing = refusals[3..].to_vec();
        missing.sort();
        assert_eq!(missing, ["1: WDE0073 actors gone", "2: WDE0073 sequels gone", "2: WDE0073 sequels lost"]);
        let found = exported(&world, "c").await;
        assert_eq!((&found["a"]["actors"], &found["a"]["sequels"]), (&json!(["p2", "p1"]), &json!(["b", "a"])));
        assert_eq!((&found["b"]["actors"], &found["b"]["sequels"]), (&json!(["p1"]), &json!([])));

        // Their coming makes the rest of the links, in their order.
        lines(&world, "people", &[json!({ "_id": "gone" })]).await;
        let (done, _) = lines(&world, "c", &file[..1]).await;
        assert_eq!(done, counts(0, 1, 0, 5, 0));
        assert_eq!(exported(&world, "c").await["a"]["actors"], json!(["p2", "gone", "p1"]));
    }

    async fn links_stay_when_absent_and_go_when_empty(engine) {
        let world = cinema(engine).await;
        lines(&world, "people", &[json!({ "_id": "p1" }), json!({ "_id": "p2" })]).await;
        let full = |id: &str| json!({ "_id": id, "actors": ["p1", "p2"], "sequels": [id] });
        lines(&world, "c", &["a", "b", "d"].map(full)).await;
        let (done, _) = lines(&world, "c", &[json!({ "_id": "a" }), json!({ "_id": "b", "actors": null, "sequels": [] })]).await;
        assert_eq!(done, counts(0, 2, 0, 0, 0));
        let (done, _) = import(&world, "c", Format::Csv, "_id,actors,sequels\nd,[],\n").await;
        assert_eq!(done.unwrap(), counts(0, 1, 0, 0, 0));
        let found = exported(&world, "c").await;
        let links = |id: &str| (found[id]["actors"].clone(), found[id]["sequels"].clone());
        assert_eq!(links("a"), (json!(["p1", "p2"]), json!(["a"])));
        assert_eq!(links("b"), (json!([]), json!([])));
        assert_eq!(links("d"), (json!([]), json!(["d"])), "an empty cell is a field that isn't sent");

        // The field that came with another takes links too.
        lines(&world, "people", &[json!({ "_id": "p1", "movies": ["d", "b"] })]).await;
        let found = exported(&world, "c").await;
        assert_eq!([&found["a"]["actors"], &found["b"]["actors"], &found["d"]["actors"]], [&json!(["p2"]), &json!(["p1"]), &json!(["p1"])]);
    }

    async fn links_of_an_item_imported_twice_are_the_last(engine) {
        for between in [0, 1000] {
            let world = cinema(engine).await;
            lines(&world, "people", &[json!({ "_id": "p1" })]).await;
            let others = |from: usize| (0..between).map(move |n| json!({ "_id": format!("o{}", from + n) }));
            let mut file = vec![json!({ "_id": "a", "sequels": ["z", "b"] }), json!({ "_id": "b", "sequels": ["b"] })];
            file.extend(others(0));
            file.extend([json!({ "_id": "a", "sequels": ["b"] }), json!({ "_id": "b", "sequels": ["z", "a"] })]);
            file.extend(others(between));
            file.push(json!({ "_id": "z", "actors": ["p1"] }));
            let (done, refusals) = lines(&world, "c", &file).await;
            assert_eq!((done.links.unwrap(), refusals.len()), (LinkCounts { made: 7, missing: 0 }, 0), "each value counts");
            let found = exported(&world, "c").await;
            assert_eq!((&found["a"]["sequels"], &found["b"]["sequels"]), (&json!(["b"]), &json!(["z", "a"])), "{between}");
        }
    }

    /// A call may bring 10,000 links along, and an import brings as many as it likes.
    async fn links_beyond_a_batch_go_in_several_transactions(engine) {
        let world = cinema(engine).await;
        let people: Vec<_> = (0..1000).map(|n| json!({ "_id": format!("p{n:03}") })).collect();
        lines(&world, "people", &people).await;
        let ids: Vec<_> = (0..1000).rev().map(|n| format!("p{n:03}")).collect();
        let movies: Vec<_> = (0..12).map(|n| json!({ "_id": format!("m{n:02}"), "actors": ids })).collect();
        let (done, refusals) = lines(&world, "c", &movies).await;
        assert_eq!((done, refusals.len()), (counts(12, 0, 0, 12_000, 0), 0));
        assert_eq!(exported(&world, "c").await["m11"]["actors"], json!(ids));
    }

    async fn field_of_a_deleted_target_takes_no_links(engine) {
        let world = cinema(engine).await;
        lines(&world, "people", &[json!({ "_id": "p1" })]).await;
        lines(&world, "c", &[json!({ "_id": "a", "actors": ["p1"] })]).await;
        world.content.collection_delete(&world.site, &owner(), "people").await.unwrap();
        assert!(exported(&world, "c").await["a"].get("actors").is_none());
        let (done, refusals) = lines(&world, "c", &[json!({ "_id": "a", "n": 1, "actors": ["p1"] }), json!({ "_id": "b", "actors": [] })]).await;
        assert_eq!((done, refusals), (counts(1, 1, 0, 0, 1), vec!["1: WDE0025 actors p1".to_owned()]));
    }

    /// A document may hold a value of a name that became a multi-reference later.
    async fn values_from_before_the_declaration_are_no_links(engine) {
        let world = World::open(engine).await;
        world.create("people", json!({})).await;
        world.insert(&app(), json!({ "_id": "a", "actors": ["p1"], "movies": ["x"], "n": 1 })).await.unwrap();
        lines(&world, "people", &[json!({ "_id": "p1", "movies": ["a"] })]).await;
        let field = json!({ "key": "actors", "type": "MULTI_REFERENCE",
            "typeMetadata": { "multiReference": { "referencedCollectionId": "people", "referencingFieldKey": "movies" } } });
        world.content.field_create(&world.site, &owner(), "c", &field).await.unwrap();
        let (movie, person) = (&exported(&world, "c").await["a"], &exported(&world, "people").await["p1"]);
        assert_eq!((&movie["actors"], &movie["movies"], &movie["n"]), (&json!([]), &json!(["x"]), &json!(1)));
        assert!(person.get("movies").is_none());
        assert!(!export(&world, "people", Format::Csv).await.lines().next().unwrap().contains("movies"));
    }

    async fn links_to_items_removed_meanwhile_are_not_made(engine) {
        let world = Arc::new(cinema(engine).await);
        let people: Vec<_> = (0..600).map(|n| json!({ "_id": format!("p{n:03}") })).collect();
        lines(&world, "people", &people).await;
        let remover = tokio::spawn({
            let world = world.clone();
            async move {
                for n in (0..600).step_by(20) {
                    let ids: Vec<_> = (n..n + 10).map(|n| format!("p{n:03}")).collect();
                    let body = json!({ "dataCollectionId": "people", "dataItemIds": ids }).to_string();
                    let request = Request::parse(body.as_bytes()).unwrap();
                    world.content.item_bulk_remove(&world.site, &app(), &request).await.unwrap();
                }
            }
        });
        let movies: Vec<_> = (0..600).map(|n| json!({ "_id": format!("m{n:03}"), "actors": [format!("p{n:03}"), format!("p{:03}", 599 - n)], "sequels": [format!("m{:03}", 599 - n)] })).collect();
        let (done, refusals) = lines(&world, "c", &movies).await;
        remover.await.unwrap();
        let links = done.links.unwrap();
        assert_eq!((links.made + links.missing, links.missing), (1800, refusals.len() as u64));
        let people = exported(&world, "people").await;
        assert_eq!(people.len(), 300);
        let rows = rows(&world).await;
        let actors: Vec<_> = rows.iter().filter(|it| it.3.starts_with('p')).collect();
        assert!(actors.iter().all(|it| people.contains_key(&it.3)), "a link leads to an item that is gone");
        assert_eq!((actors.len(), rows.len()), (600, 1200), "half of the people are there");
    }
}
