//! Searches over the cities beside point reads of the same run, inserts with an index of words and without, how soon an
//! item that was written is found, and questions beside the full-text search of both engines.

use crate::{
    corpus::{Corpus, Document},
    figure::{Figures, Sizes, median, percentile},
    load,
    memory::Peak,
    program::{Engine, Program, Random},
    questions,
};
use flate2::read::GzDecoder;
use serde_json::{Value, json};
use std::{
    fs::File,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

const CONNECTIONS: usize = 16;
/// Members that ask.
const MEMBERS: usize = 20;
/// Items that are read by their ids, at most.
const READ: usize = 100_000;
/// Cities that are made up where those of the demo weren't built.
const PLACES: usize = 135_233;
/// Items of one insert, and inserts of one round.
const BATCH: usize = 1_000;
const BATCHES: usize = 50;
/// Writes a second, who writes them, and how many others are looked for.
const WRITES: f64 = 300.0;
const WRITERS: usize = 8;
const LOOKED_FOR: usize = 100;

/// The figures, printed as they come.
pub fn measure(binary: &Path, engine: Engine, sizes: &Sizes) -> Vec<Value> {
    println!("\n{engine:?}, searches");
    let mut figures = Figures::of(engine);
    let program = Program::start(binary, engine);
    let peak = Peak::watch(program.id());
    let members: Vec<_> = (0..MEMBERS).map(|n| program.member(&format!("reader{n}@example.org")).token).collect();
    let names = fill_cities(&program);
    program.fill(sizes.items.min(READ));
    program.search_caught_up();
    two_words(&program, &members, &names, sizes, &mut figures);
    inserts(&program, 1, sizes, &mut figures);
    inserts(&program, 2, sizes, &mut figures);
    freshness(&program, &members[0], &mut figures);
    questions::measure(&program, &members[0], sizes, &mut figures);
    let most = peak.megabytes();
    println!("  most anonymous memory of the program: {most} MB   goal < 500");
    figures.push(json!({ "engine": format!("{engine:?}"), "figure": "anonymous memory, MB", "ours": most }));
    figures.into_list()
}

/// Imports the cities of the demo; answers the names of two words or more.
fn fill_cities(program: &Program) -> Vec<String> {
    program.make_searched("cities", &["name", "altName", "searchName"], true);
    let cities = demo_cities().unwrap_or_else(|| {
        println!("  the demo isn't built: cities are made up");
        let corpus = Corpus::new(PLACES);
        (0..PLACES)
            .map(|n| json!({ "_id": format!("p{n}"), "name": corpus.document(n).title }).to_string() + "\n")
            .collect()
    });
    let file = tempfile::Builder::new().suffix(".jsonl").tempfile().unwrap();
    std::fs::write(file.path(), &cities).unwrap();
    program.import("cities", file.path());
    let name = |line: &str| serde_json::from_str::<Value>(line).unwrap()["name"].as_str().unwrap().to_owned();
    cities.lines().map(name).filter(|it| it.split(' ').nth(1).is_some()).collect()
}

/// Those of the demo, as lines to import; nothing where it wasn't built.
fn demo_cities() -> Option<String> {
    let file = File::open("web/apps/atlas/demo/out/cities.jsonl.gz").ok()?;
    std::io::read_to_string(GzDecoder::new(file)).ok()
}

/// Searches for the first two words of names, by members, beside point reads by the same.
fn two_words(program: &Program, members: &[String], names: &[String], sizes: &Sizes, figures: &mut Figures) {
    let mut random = Random::new();
    let searches = (0..2_000).map(|n| {
        let name = &names[random.below(names.len())];
        let expression = name.split(' ').take(2).collect::<Vec<_>>().join(" ");
        let search = json!({ "search": { "expression": expression, "mode": "AND" }, "paging": { "limit": 10 } });
        let body = json!({ "dataCollectionId": "cities", "search": search });
        program.request_as(&members[n % members.len()], "/v2/items/search", &body)
    });
    let searches = Arc::new(searches.collect());
    let reads = program.point_reads(members, sizes.items.min(READ));
    let rate = |requests| load::rate(program.address(), requests, CONNECTIONS, sizes.period);
    let rates: Vec<_> = (0..sizes.rounds).map(|_| (rate(&searches), rate(&reads))).collect();
    figures.add("search for two words over the cities", &rates, "point reads", 0.1);
}

/// Items a second with an index and without, by so many writers at once, and how long the index takes to have them.
fn inserts(program: &Program, writers: usize, sizes: &Sizes, figures: &mut Figures) {
    let (corpus, mut rates, mut late) = (Corpus::new(BATCHES * BATCH), Vec::new(), Vec::new());
    for round in 0..sizes.rounds {
        let (with, without) = (format!("with{writers}{round}"), format!("without{writers}{round}"));
        program.make_searched(&with, &["title", "body"], true);
        program.make_searched(&without, &["title", "body"], false);
        let seconds = |id: &str| {
            let bodies: Vec<Value> = (0..BATCHES).map(|n| bulk(&corpus, id, n * BATCH)).collect();
            program.search_caught_up();
            let start = Instant::now();
            std::thread::scope(|scope| {
                for writer in 0..writers {
                    let theirs = bodies.iter().skip(writer).step_by(writers);
                    scope.spawn(move || theirs.for_each(|it| drop(program.post("/v2/bulk/items/insert", it))));
                }
            });
            (start, start.elapsed().as_secs_f64())
        };
        let (_, theirs) = seconds(&without);
        let (start, ours) = seconds(&with);
        program.search_caught_up();
        late.push(start.elapsed().as_secs_f64() / ours);
        let items = (BATCHES * BATCH) as f64;
        rates.push((items / ours, items / theirs));
    }
    figures.add(&format!("bulk inserts, searched, {writers} at once"), &rates, "the same without search", 0.8);
    let late = median(&mut late);
    println!("  the index has all of them after {late:.2} times as long as the inserts took   goal <= 3");
    let engine = format!("{:?}", figures.engine);
    figures.push(
        json!({ "engine": engine, "figure": "index has caught up", "writers": writers, "ratio": late, "goal": 3 }),
    );
}

fn bulk(corpus: &Corpus, id: &str, from: usize) -> Value {
    let item = |n: usize| {
        let Document { title, body } = corpus.document(n);
        json!({ "data": { "title": title, "body": body } })
    };
    json!({ "dataCollectionId": id, "dataItems": (from..from + BATCH).map(item).collect::<Vec<_>>() })
}

/// How soon after its answer an item is found while others are written all the time.
fn freshness(program: &Program, member: &str, figures: &mut Figures) {
    program.make_searched("fresh", &["title", "body"], true);
    let corpus = Corpus::new(READ);
    let insert = |n: usize| {
        let Document { title, body } = corpus.document(n);
        json!({ "dataCollectionId": "fresh", "dataItem": { "data": { "title": title, "body": body } } })
    };
    let (others, stop) = (program.requests("/v2/items", READ, insert), AtomicBool::new(false));
    let (waits, answered, seconds) = std::thread::scope(|scope| {
        let writing = scope.spawn(|| {
            let (start, mut answered) = (Instant::now(), 0.0);
            while !stop.load(Ordering::Relaxed) {
                let period = Duration::from_secs(2);
                let steady = load::steady(program.address(), &others, WRITERS, WRITES, period);
                assert!(steady.failure.is_none(), "{:?}", steady.failure);
                // Each run begins with 0.3 seconds that it doesn't count.
                answered += steady.answered as f64 + 0.3 * WRITES;
            }
            (answered, start.elapsed().as_secs_f64())
        });
        std::thread::sleep(Duration::from_secs(1));
        let waits: Vec<_> = (0..LOOKED_FOR).map(|n| seconds_until_found(program, member, n)).collect();
        stop.store(true, Ordering::Relaxed);
        let (answered, seconds) = writing.join().unwrap();
        (waits, answered, seconds)
    });
    let (rate, middle, most) = (answered / seconds, percentile(waits.clone(), 0.5), percentile(waits, 0.98));
    println!(
        "  an item is found within {most:.2} s in 99 of 100 cases, {middle:.2} s in half of them, beside {rate:.0} writes a second   goal <= 1"
    );
    let engine = format!("{:?}", figures.engine);
    figures.push(json!({ "engine": engine, "figure": "found after, seconds", "ours": most, "median": middle, "writes": rate, "goal": 1 }));
}

fn seconds_until_found(program: &Program, member: &str, n: usize) -> f64 {
    let name = format!("unheard{n}of");
    let item = json!({ "data": { "title": name } });
    program.post("/v2/items", &json!({ "dataCollectionId": "fresh", "dataItem": item }));
    let since = Instant::now();
    let search = json!({ "search": { "expression": name }, "paging": { "limit": 10 } });
    let body = json!({ "dataCollectionId": "fresh", "search": search });
    while !program.post_as(member, "/v2/items/search", &body)["dataItems"][0].is_object() {
        std::thread::sleep(Duration::from_millis(10));
    }
    since.elapsed().as_secs_f64()
}
