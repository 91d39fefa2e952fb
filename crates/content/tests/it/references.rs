//! Filters on multi-references: the engines against the matcher in memory, for callers who see all links
//! and for one who sees some.

use crate::common::*;
use serde_json::{Value, json};
use std::{collections::HashMap, sync::Arc};
use stoa_content::Request;
use stoa_query::{Links, QueryLimits, Scope, resolve, wire};
use stoa_testkit::on_both_engines;

/// The same numbers every time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    fn actor(&mut self) -> Value {
        match self.roll(12) {
            0 => json!(7),
            1 => json!("nobody"),
            2 => json!({ "_id": format!("a{}", self.roll(8)), "name": "whole" }),
            it => json!(format!("a{}", it % 8)),
        }
    }

    fn actors(&mut self) -> Value {
        (0..self.roll(4)).map(|_| self.actor()).collect()
    }

    fn filter(&mut self, depth: u64) -> Value {
        let several = |it: &mut Self| (0..=it.roll(2)).map(|_| it.filter(depth + 1)).collect::<Value>();
        match self.roll(if depth < 3 { 14 } else { 10 }) {
            0 => json!({ "actors": self.actor() }),
            1 => json!({ "actors": { "$ne": self.actor() } }),
            2 => json!({ "actors": { "$in": self.actors() } }),
            3 => json!({ "actors": { "$nin": self.actors() } }),
            4 => json!({ "actors": { "$hasSome": self.actors() } }),
            5 => json!({ "actors": { "$hasAll": self.actors() } }),
            6 => json!({ "actors": { "$exists": self.roll(2) == 0 } }),
            7 => json!({ "actors": { "$isEmpty": self.roll(2) == 0 } }),
            8 => json!({ "actors": null }),
            9 => json!({ "n": { "$lt": self.roll(30) } }),
            10 => json!({ "$and": several(self) }),
            11 => json!({ "$or": several(self) }),
            12 => json!({ "$not": self.filter(depth + 1) }),
            _ => json!({ "actors": { "$not": { "$hasSome": self.actors() } } }),
        }
    }
}

/// Eight actors, four of them Ann's, and thirty movies with links between them.
async fn cast(world: &World) -> HashMap<String, Vec<String>> {
    let levels = json!({ "itemRead": "SITE_MEMBER_AUTHOR", "itemInsert": "ANYONE" });
    world.create("people", levels).await;
    let field = json!({ "key": "actors", "type": "MULTI_REFERENCE",
        "typeMetadata": { "multiReference": { "referencedCollectionId": "people", "referencingFieldKey": "movies" } } });
    world.content.field_create(&world.site, &owner(), "c", &field).await.unwrap();
    for n in 0..8 {
        let owner = if n % 2 == 0 { "ann" } else { "bob" };
        let mut body = single(json!({ "_id": format!("a{n}"), "_owner": owner }));
        body["dataCollectionId"] = json!("people");
        let body = body.to_string();
        world.content.item_insert(&world.site, &app(), &Request::parse(body.as_bytes()).unwrap()).await.unwrap();
    }
    let (mut dice, mut links) = (Dice(7), HashMap::new());
    for n in 0..30 {
        let mut actors: Vec<String> = (0..dice.roll(4)).map(|_| format!("a{}", dice.roll(8))).collect();
        actors.sort();
        actors.dedup();
        let mut body = single(json!({ "_id": format!("m{n:02}"), "n": n, "actors": actors }));
        body["saveReferences"] = json!(true);
        let body = body.to_string();
        world.content.item_insert(&world.site, &app(), &Request::parse(body.as_bytes()).unwrap()).await.unwrap();
        links.insert(format!("m{n:02}"), actors);
    }
    links
}

on_both_engines! {
    async fn filters_by_links_agree_with_the_matcher(engine) {
        let world = World::open(engine).await;
        let links = cast(&world).await;
        let mut schema = stoa_query::Schema::default();
        schema.fields.insert("actors".to_owned(), stoa_query::Kind::MultiReference);
        schema.links.insert("actors".to_owned(), Arc::new(Links {
            field: "actors".to_owned(), site: String::new(), relation: 0, source_column: "", target_column: "",
            table: stoa_sql::Table { site: 0, number: 0 }, scope: Scope::Nothing,
        }));
        let mut dice = Dice(2026);
        let mut proper = 0;
        for round in 0..400 {
            let filter = dice.filter(0);
            for (caller, sees_all) in [(app(), true), (member("ann"), false)] {
                let sees = |it: &str| sees_all || it.as_bytes()[1].is_multiple_of(2);
                let sent = wire::Filter::parse(&filter, &QueryLimits::default()).unwrap();
                let resolved = resolve::filter(&sent, &schema).unwrap();
                let wants: Vec<String> = (0..30).map(|n| (n, format!("m{n:02}"))).filter(|(n, id)| {
                    let actors: Vec<_> = links[id].iter().filter(|it| sees(it)).collect();
                    let mut document = json!({ "_id": id, "n": n });
                    if !actors.is_empty() {
                        document["actors"] = json!(actors);
                    }
                    stoa_query::matches(&resolved, &document)
                }).map(|it| it.1).collect();
                let query = json!({ "filter": filter, "sort": [{ "fieldName": "_id" }] });
                assert_eq!(world.ids(&caller, query).await.unwrap(), wants, "{round}: {filter} {caller:?}");
                assert_eq!(world.count(&caller, filter.clone()).await.unwrap(), wants.len() as i64, "{filter}");
                proper += usize::from(!wants.is_empty() && wants.len() < 30);
            }
        }
        assert!(proper > 400, "{proper} of 800 answers are a proper part");
    }

    async fn link_filters_beyond_membership_are_refused(engine) {
        let world = World::open(engine).await;
        cast(&world).await;
        for (query, wants) in [
            (json!({ "filter": { "actors": { "$gt": "a" } } }), "WDE0093"),
            (json!({ "filter": { "actors": { "$contains": "a" } } }), "WDE0093"),
            (json!({ "filter": { "actors": { "$startsWith": "a" } } }), "WDE0093"),
            (json!({ "filter": { "actors": ["a1"] } }), "WDE0093"),
            (json!({ "filter": { "actors": { "x": 1 } } }), "WDE0093"),
            (json!({ "filter": { "actors": { "$hasSome": [true] } } }), "WDE0047"),
            (json!({ "sort": [{ "fieldName": "actors" }] }), "WDE0119"),
        ] {
            assert_eq!(code(world.ids(&app(), query.clone()).await), wants, "{query}");
        }
        let distinct = members(json!({ "dataCollectionId": "c", "fieldName": "actors" }));
        assert_eq!(code(world.content.item_distinct(&world.site, &app(), None, &distinct).await), "WDE0119");
        let distinct = members(json!({ "dataCollectionId": "c", "fieldName": "n", "filter": { "actors": "a1" }, "returnTotalCount": true }));
        let page = world.content.item_distinct(&world.site, &app(), None, &distinct).await.unwrap();
        assert_eq!(page.total, Some(world.count(&app(), json!({ "actors": "a1" })).await.unwrap()));
    }
}
