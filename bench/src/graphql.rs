//! Pages by GraphQL beside the same pages of the calls on items.

use crate::{
    figure::{Figures, Sizes},
    load,
    program::{Engine, Program},
};
use serde_json::{Value, json};
use std::path::Path;

const READERS: usize = 16;

/// The figures, printed as they come.
pub fn measure(binary: &Path, engine: Engine, sizes: &Sizes) -> Vec<Value> {
    println!("\n{engine:?}, {} items, pages of 50 with three fields by GraphQL", sizes.items);
    let mut figures = Figures::of(engine);
    let program = Program::start(binary, engine);
    program.make_collection("open", "ANYONE");
    program.fill_collection("open", sizes.items);
    program.index_of("open", "price");
    let filter = |n: usize| json!({ "price": { "$gte": n } });
    let rest = program.requests("/v2/items/query", 9_000, |n| {
        json!({ "dataCollectionId": "open", "query": { "filter": filter(n), "fields": ["n", "price", "color"],
            "sort": [{ "fieldName": "price", "order": "ASC" }], "paging": { "limit": 50 } } })
    });
    let query = "query($f: JSON) { open(filter: $f, sort: {field: \"price\"}, limit: 50) { items { n price color } } }";
    let graphql =
        program.requests("/graphql/v1", 9_000, |n| json!({ "query": query, "variables": { "f": filter(n) } }));
    let rate = |requests| load::rate(program.address(), requests, READERS, sizes.period);
    let rates: Vec<_> = (0..sizes.rounds).map(|_| (rate(&graphql), rate(&rest))).collect();
    figures.add("page of 50, three fields, GraphQL", &rates, "the same page of /v2/items/query", 0.4);
    figures.into_list()
}
