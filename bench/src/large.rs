//! Everyday calls on a large collection beside the same SQL by hand, and inserts beside one synced
//! commit an insert.

use crate::{
    figure::median,
    load,
    memory::{Peak, processor_time},
    program::{Engine, Program, item, write_items},
    raw::{self, Raw},
};
use serde_json::{Value, json};
use std::{
    io::Write,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

/// What every sync takes longer for the last row.
const DELAY: Duration = Duration::from_millis(2);
const WRITERS: usize = 64;
/// Turns at pages of an index in each round.
const TURNS: usize = 4;

pub struct Sizes {
    pub items: usize,
    pub rounds: usize,
    pub period: Duration,
}

/// The figures, printed as they come.
pub fn measure(binary: &Path, engine: Engine, sizes: &Sizes) -> Vec<Value> {
    let Sizes { items, rounds, period } = *sizes;
    println!("\n{engine:?}, {items} items of about 400 bytes");
    let mut figures = Figures { engine, list: Vec::new() };
    let program = Program::start(binary, engine);
    let peak = Peak::watch(program.id());
    let start = Instant::now();
    {
        let file = tempfile::Builder::new().suffix(".jsonl").tempfile().unwrap();
        write_items(file.path(), items);
        println!("  imported in {:.1} s", program.import("things", file.path()));
    }
    let raw = Raw::make(engine, program.database_url(), items);
    program.index("price");
    raw.index_price();
    raw.settle();
    println!("  filled and indexed, both sides, in {:.1} s", start.elapsed().as_secs_f64());

    let connections = 8;
    let indexed = program.requests("/v2/items/query", 9000, |from| {
        json!({ "dataCollectionId": "things", "query": {
            "filter": { "price": { "$gte": from } }, "sort": [{ "fieldName": "price", "order": "ASC" }], "paging": { "limit": 50 } }})
    });
    let filtered = program.requests("/v2/items/query", items / 2, |from| {
        json!({ "dataCollectionId": "things", "returnTotalCount": true, "query": {
            "filter": { "n": { "$gt": from }, "color": "red" }, "paging": { "limit": 50 } }})
    });
    let insert = inserts(&program);
    let address = program.address();
    // A filtered page takes long; its period holds enough of them.
    let long = period.max(Duration::from_secs_f64(items as f64 / 150_000.0));
    let spent = || processor_time(program.id());
    let (mut indexed_pages, mut by_cost, mut filtered_pages, mut single) = (vec![], vec![], vec![], vec![]);
    // Pages take little time: many short turns, so that both sides meet the same moments of the machine.
    for _ in 0..rounds * TURNS {
        let ours = load::rate_and_cost(address, &indexed, connections, period / 2, spent);
        let theirs = raw.indexed_pages_and_cost(connections, period / 2);
        indexed_pages.push((ours.0, theirs.0));
        by_cost.push((1.0 / ours.1, 1.0 / theirs.1));
    }
    for _ in 0..rounds {
        filtered_pages.push((load::rate(address, &filtered, 2, long), raw.filtered_pages(2, long)));
        single.push((load::rate(address, &insert, WRITERS, period), raw.single_inserts(WRITERS, period)));
    }
    figures.times_as_long("indexed page of 50, HTTP", &indexed_pages, "the same SQL by hand", 2.0);
    if engine == Engine::Sqlite {
        // For each second of the processor's time. The load, which shares the processor, has no part in it.
        figures.times_as_long("the same, by processor time", &by_cost, "the same SQL by hand", 2.0);
    }
    let most = if engine == Engine::Sqlite { 1.5 } else { 2.0 };
    figures.times_as_long("unindexed filter with count", &filtered_pages, "the same SQL by hand", most);
    match engine {
        Engine::Sqlite => {
            figures.times_as_fast("durable insert, 64 writers, HTTP", &single, "a synced commit each, in process", 1.5);
            println!("  a sync takes {:.0} µs", sync_time().as_secs_f64() * 1e6);
        }
        Engine::Postgres => {
            figures.times_as_fast("durable insert, 64 writers, HTTP", &single, "pgbench, the same statement", 0.6);
        }
    }
    println!("  most anonymous memory of the program: {} MB   goal < 300", peak.megabytes());
    figures
        .list
        .push(json!({ "engine": format!("{engine:?}"), "figure": "anonymous memory, MB", "ours": peak.megabytes() }));
    drop((peak, program, raw));

    if engine == Engine::Sqlite {
        let slow = with_slow_syncs(binary, rounds, period);
        let name = format!("the same, +{} ms a sync", DELAY.as_millis());
        figures.times_as_fast(&name, &slow, "a synced commit each, in process", 10.0);
    }
    figures.list
}

pub fn inserts(program: &Program) -> std::sync::Arc<Vec<Vec<u8>>> {
    program.requests("/v2/items", 1_000_000, |n| {
        let mut data = item(n);
        data.as_object_mut().unwrap().remove("_id");
        json!({ "dataCollectionId": "bulk", "dataItem": { "data": data } })
    })
}

/// Both sides under the library that makes syncs slow.
fn with_slow_syncs(binary: &Path, rounds: usize, period: Duration) -> Vec<(f64, f64)> {
    let folder = tempfile::tempdir().unwrap();
    let library = compile(folder.path());
    let under = |command: &mut Command| {
        command.env("LD_PRELOAD", &library).env("SYNC_DELAY_US", DELAY.as_micros().to_string());
    };
    let program = Program::start_with(binary, Engine::Sqlite, under);
    let insert = inserts(&program);
    let mut rates = Vec::new();
    for _ in 0..rounds {
        let ours = load::rate(program.address(), &insert, WRITERS, period);
        let mut alone = Command::new(std::env::current_exe().unwrap());
        alone.args(["--synced-inserts", &period.as_secs_f64().to_string()]);
        under(&mut alone);
        let output = alone.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        let mut words = text.split_whitespace().map(|it| it.parse::<f64>().unwrap());
        rates.push((ours, words.next().unwrap()));
        if let (1, Some(sync)) = (rates.len(), words.next()) {
            println!("  with {} ms more a sync takes {sync:.0} µs", DELAY.as_millis());
        }
    }
    rates
}

/// The child under the library: its rate of synced inserts and what a sync took there.
pub fn synced_inserts(seconds: f64) {
    let rate = raw::synced_inserts_alone(Duration::from_secs_f64(seconds));
    println!("{rate} {}", sync_time().as_secs_f64() * 1e6);
}

/// The median time of making 4 KB durable.
fn sync_time() -> Duration {
    let file = tempfile::tempfile().unwrap();
    let mut times: Vec<_> = (0..101)
        .map(|n| {
            file.write_all_at(&[1; 4096], n * 4096).unwrap();
            let start = Instant::now();
            file.sync_data().unwrap();
            start.elapsed()
        })
        .collect();
    times.sort();
    times[times.len() / 2]
}

/// The library of the tests that watch the disk.
fn compile(folder: &Path) -> PathBuf {
    let (source, library) = (folder.join("disk.c"), folder.join("disk.so"));
    let mut file = std::fs::File::create(&source).unwrap();
    file.write_all(include_bytes!("../../crates/server/tests/it/disk.c")).unwrap();
    let mut compile = Command::new("cc");
    compile.args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(&source).arg("-ldl");
    assert!(compile.status().unwrap().success(), "the C compiler that builds SQLite builds this too");
    library
}

struct Figures {
    engine: Engine,
    list: Vec<Value>,
}

impl Figures {
    fn times_as_long(&mut self, name: &str, rates: &[(f64, f64)], beside: &str, most: f64) {
        let times = |(ours, theirs): (f64, f64)| theirs / ours;
        self.row(name, rates, beside, times, "times as long", &format!("<= {most:.1}"));
    }

    fn times_as_fast(&mut self, name: &str, rates: &[(f64, f64)], beside: &str, least: f64) {
        let times = |(ours, theirs): (f64, f64)| ours / theirs;
        self.row(name, rates, beside, times, "times as fast", &format!(">= {least:.1}"));
    }

    /// The rates and their ratio are each the median of all turns: what slows the machine down for a while
    /// slows both sides of a turn.
    fn row(
        &mut self,
        name: &str,
        rates: &[(f64, f64)],
        beside: &str,
        times: impl Fn((f64, f64)) -> f64,
        words: &str,
        goal: &str,
    ) {
        let of =
            |figure: &dyn Fn((f64, f64)) -> f64| median(&mut rates.iter().map(|it| figure(*it)).collect::<Vec<_>>());
        let (ours, theirs, ratio) = (of(&|it| it.0), of(&|it| it.1), of(&times));
        println!("  {name:<34} {ours:>10.1}/s   {beside:<34} {theirs:>10.1}/s   {ratio:.2} {words}   goal {goal}");
        let engine = format!("{:?}", self.engine);
        self.list.push(json!({ "engine": engine, "figure": name, "ours": ours, "beside": beside, "theirs": theirs, "ratio": ratio, "goal": goal }));
    }
}
