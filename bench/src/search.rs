//! Searches beside point reads of the same run, inserts with an index of words and without, and how soon an item that was
//! written is found.

use crate::{
    figure::{Figures, Sizes, percentile},
    load,
    program::{Engine, Program, Random},
};
use serde_json::{Value, json};
use std::{
    path::Path,
    time::{Duration, Instant},
};

const CONNECTIONS: usize = 16;
/// Names of places, so many.
const PLACES: usize = 135_233;
/// Words that names are made of.
const WORDS: usize = 20_000;
/// Items of one insert, and inserts of one round.
const BATCH: usize = 1_000;
const BATCHES: usize = 50;
/// Writes a second, and how many of them are looked for.
const WRITES: u64 = 300;
const LOOKED_FOR: usize = 100;

/// The figures, printed as they come.
pub fn measure(binary: &Path, engine: Engine, sizes: &Sizes) -> Vec<Value> {
    println!("\n{engine:?}, searches over {PLACES} names of places");
    let mut figures = Figures::of(engine);
    let program = Program::start(binary, engine);
    make(&program, "places", true);
    fill(&program, "places", 0..PLACES);
    program.fill(sizes.items);
    caught_up(&program);
    questions(&program, sizes, &mut figures);
    inserts(&program, sizes, &mut figures);
    freshness(&program, &mut figures);
    figures.into_list()
}

/// Words of frequent and of rare ranks, as in a language: the n-th is met about 1/n times as often as the first.
fn word(random: &mut Random) -> String {
    let rank = (WORDS as f64).powf(random.below(1_000_000) as f64 / 1e6) as usize;
    let syllables = ["ka", "ro", "mi", "tel", "san", "bu", "lo", "den", "vi", "gar"];
    let (mut word, mut rest) = (String::new(), rank + 10);
    while rest > 0 {
        word.push_str(syllables[rest % 10]);
        rest /= 10;
    }
    word
}

fn make(program: &Program, id: &str, is_searched: bool) {
    let levels =
        json!({ "itemRead": "ANYONE", "itemInsert": "ANYONE", "itemUpdate": "ANYONE", "itemRemove": "ANYONE" });
    let fields = json!([{ "key": "name", "type": "TEXT" }, { "key": "text", "type": "TEXT" }]);
    let object =
        json!({ "id": id, "displayField": "name", "fields": fields, "dataPermissions": levels, "search": is_searched });
    program.post("/v2/collections", &json!({ "collection": object }));
}

fn fill(program: &Program, id: &str, range: std::ops::Range<usize>) {
    let mut random = Random::new();
    for start in range.clone().step_by(BATCH) {
        let item = |n: usize, random: &mut Random| json!({ "data": { "_id": format!("p{n}"), "name": format!("{} {}", word(random), word(random)) } });
        let items: Vec<_> = (start..range.end.min(start + BATCH)).map(|n| item(n, &mut random)).collect();
        program.post("/v2/bulk/items/insert", &json!({ "dataCollectionId": id, "dataItems": items }));
    }
}

fn caught_up(program: &Program) {
    while program.get("/_api/search/v1/lag")["isCurrent"] != true {
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn asked(id: &str, expression: &str) -> Value {
    json!({ "dataCollectionId": id, "search": { "search": { "expression": expression, "mode": "AND" }, "paging": { "limit": 10 } } })
}

fn questions(program: &Program, sizes: &Sizes, figures: &mut Figures) {
    let tokens = program.visitor_tokens(100);
    let reads = program.point_reads(&tokens, sizes.items);
    let mut random = Random::new();
    let expressions: Vec<_> = (0..2_000).map(|_| format!("{} {}", word(&mut random), word(&mut random))).collect();
    let searches = program.requests("/v2/items/search", expressions.len(), |n| asked("places", &expressions[n]));
    let rate = |requests| load::rate(program.address(), requests, CONNECTIONS, sizes.period);
    let rates: Vec<_> = (0..sizes.rounds).map(|_| (rate(&searches), rate(&reads))).collect();
    figures.add("search for two words", &rates, "point reads", 0.1);
}

/// Items a second, and how long the index takes to have them.
fn inserts(program: &Program, sizes: &Sizes, figures: &mut Figures) {
    let (mut rates, mut late) = (Vec::new(), Vec::new());
    for round in 0..sizes.rounds {
        let (with, without) = (format!("with{round}"), format!("without{round}"));
        make(program, &with, true);
        make(program, &without, false);
        caught_up(program);
        let seconds = |id: &str| {
            let start = Instant::now();
            fill(program, id, 0..BATCHES * BATCH);
            start.elapsed().as_secs_f64()
        };
        let theirs = seconds(&without);
        caught_up(program);
        let start = Instant::now();
        let ours = seconds(&with);
        caught_up(program);
        late.push(start.elapsed().as_secs_f64() / ours);
        let items = (BATCHES * BATCH) as f64;
        rates.push((items / ours, items / theirs));
    }
    figures.add("bulk inserts, searched", &rates, "the same without search", 0.8);
    let late = percentile(late, 0.5);
    println!("  the index has all of them after {late:.2} times as long as the inserts took   goal <= 3");
    figures.push(json!({ "engine": format!("{:?}", figures.engine), "figure": "index has caught up", "ratio": late }));
}

/// How soon an item is found while others are written.
fn freshness(program: &Program, figures: &mut Figures) {
    let mut waits = Vec::new();
    let (start, mut written) = (Instant::now(), 0_u64);
    for n in 0..LOOKED_FOR {
        for _ in 0..WRITES / 3 {
            let due = start + Duration::from_secs_f64(written as f64 / WRITES as f64);
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            let item = json!({ "data": { "name": format!("other {written}") } });
            program.post("/v2/items", &json!({ "dataCollectionId": "places", "dataItem": item }));
            written += 1;
        }
        let name = format!("unheard{n}of");
        let item = json!({ "data": { "name": name } });
        program.post("/v2/items", &json!({ "dataCollectionId": "places", "dataItem": item }));
        let since = Instant::now();
        let is_found = || program.post("/v2/items/search", &asked("places", &name))["dataItems"][0].is_object();
        while !is_found() {
            std::thread::sleep(Duration::from_millis(10));
        }
        waits.push(since.elapsed().as_secs_f64());
    }
    let seconds = percentile(waits, 0.99);
    println!("  an item is found within {seconds:.2} s in 99 of 100 cases beside {WRITES} writes a second   goal <= 1");
    figures
        .push(json!({ "engine": format!("{:?}", figures.engine), "figure": "found after, seconds", "ours": seconds }));
}
