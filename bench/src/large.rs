//! Everyday calls on a large collection beside the same SQL by hand, and inserts beside one synced
//! commit an insert.

use crate::{
    load, median,
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
    let mut rows: [(Vec<f64>, Vec<f64>); 4] = Default::default();
    for _ in 0..rounds {
        let (rate, cost) = load::rate_and_cost(address, &indexed, connections, period, spent);
        rows[0].0.push(rate);
        rows[3].0.push(cost);
        let (rate, cost) = raw.indexed_pages_and_cost(connections, period);
        rows[0].1.push(rate);
        rows[3].1.push(cost);
        rows[1].0.push(load::rate(address, &filtered, 2, long));
        rows[1].1.push(raw.filtered_pages(2, long));
        rows[2].0.push(load::rate(address, &insert, WRITERS, period));
        rows[2].1.push(raw.single_inserts(WRITERS, period));
    }
    let [indexed, filtered, single, cost] = rows.map(|(mut ours, mut theirs)| (median(&mut ours), median(&mut theirs)));
    figures.times_as_long("indexed page of 50, HTTP", indexed, "the same SQL by hand", 2.0);
    if engine == Engine::Sqlite {
        // For each second of the processor's time. The load, which shares the processor, has no part in it.
        let pages = (1.0 / cost.0, 1.0 / cost.1);
        let ratio = cost.0 / cost.1;
        figures.row("the same, by processor time", pages, "the same SQL by hand", ratio, "times as long", "none");
    }
    let most = if engine == Engine::Sqlite { 1.5 } else { 2.0 };
    figures.times_as_long("unindexed filter with count", filtered, "the same SQL by hand", most);
    match engine {
        Engine::Sqlite => {
            figures.times_as_fast("durable insert, 64 writers, HTTP", single, "a synced commit each, in process", 1.5);
            println!("  a sync takes {:.0} µs", sync_time().as_secs_f64() * 1e6);
        }
        Engine::Postgres => {
            figures.times_as_fast("durable insert, 64 writers, HTTP", single, "pgbench, the same statement", 0.6);
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
        figures.times_as_fast(&name, slow, "a synced commit each, in process", 10.0);
    }
    figures.list
}

fn inserts(program: &Program) -> std::sync::Arc<Vec<Vec<u8>>> {
    program.requests("/v2/items", 1_000_000, |n| {
        let mut data = item(n);
        data.as_object_mut().unwrap().remove("_id");
        json!({ "dataCollectionId": "bulk", "dataItem": { "data": data } })
    })
}

/// Both sides under the library that makes syncs slow.
fn with_slow_syncs(binary: &Path, rounds: usize, period: Duration) -> (f64, f64) {
    let folder = tempfile::tempdir().unwrap();
    let library = compile(folder.path());
    let under = |command: &mut Command| {
        command.env("LD_PRELOAD", &library).env("SYNC_DELAY_US", DELAY.as_micros().to_string());
    };
    let program = Program::start_with(binary, Engine::Sqlite, under);
    let insert = inserts(&program);
    let (mut ours, mut theirs) = (vec![], vec![]);
    for _ in 0..rounds {
        ours.push(load::rate(program.address(), &insert, WRITERS, period));
        let mut alone = Command::new(std::env::current_exe().unwrap());
        alone.args(["--synced-inserts", &period.as_secs_f64().to_string()]);
        under(&mut alone);
        let output = alone.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        let mut words = text.split_whitespace().map(|it| it.parse::<f64>().unwrap());
        theirs.push(words.next().unwrap());
        if let (1, Some(sync)) = (theirs.len(), words.next()) {
            println!("  with {} ms more a sync takes {sync:.0} µs", DELAY.as_millis());
        }
    }
    (median(&mut ours), median(&mut theirs))
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
    fn times_as_long(&mut self, name: &str, (ours, theirs): (f64, f64), beside: &str, most: f64) {
        self.row(name, (ours, theirs), beside, theirs / ours, "times as long", &format!("<= {most:.1}"));
    }

    fn times_as_fast(&mut self, name: &str, (ours, theirs): (f64, f64), beside: &str, least: f64) {
        self.row(name, (ours, theirs), beside, ours / theirs, "times as fast", &format!(">= {least:.1}"));
    }

    fn row(&mut self, name: &str, (ours, theirs): (f64, f64), beside: &str, ratio: f64, words: &str, goal: &str) {
        println!("  {name:<34} {ours:>10.1}/s   {beside:<34} {theirs:>10.1}/s   {ratio:.2} {words}   goal {goal}");
        let engine = format!("{:?}", self.engine);
        self.list.push(json!({ "engine": engine, "figure": name, "ours": ours, "beside": beside, "theirs": theirs, "ratio": ratio, "goal": goal }));
    }
}
