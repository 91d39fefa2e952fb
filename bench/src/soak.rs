//! `stoa-bench soak`: a mixed load for as long as one likes, with long readers, and a look at everything
//! that must not grow: the write-ahead log, memory, files, descriptors and the outbox. For as long again the program
//! is attacked while it answers ordinary requests ([`attacks`]).
//!
//! The time of the load goes in cycles of thirty seconds: for ten, scans overlap without a gap (on PostgreSQL a
//! transaction with a snapshot stays open besides), then there is one now and again. Writes keep an
//! even pace, so the whole takes about half a core.

use crate::{
    attacks,
    memory::anonymous,
    program::{Engine, Program, Which, item, write_items},
};
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use std::{
    collections::VecDeque,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

/// Keeps a server under a mixed load, then under attack; fails when something grows or visitors notice the attack.
#[derive(Args)]
pub struct Options {
    /// The program
    #[arg(long, default_value = "target/release/stoa")]
    program: PathBuf,
    #[arg(long, value_enum, default_value_t = Which::Both)]
    engine: Which,
    /// Minutes on each engine; the load has one half of them and the attacks have the other
    #[arg(long, default_value_t = 1.0)]
    minutes: f64,
    /// One of the two, for all of the minutes
    #[arg(long, value_enum)]
    only: Option<Part>,
    /// Items that are there all the time
    #[arg(long, default_value_t = 30_000)]
    items: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    Load,
    Attacks,
}

/// Most bytes of the logs of all SQLite files together.
const MOST_LOG: u64 = 160 << 20;
const MOST_MEMORY: u64 = 300 << 20;
/// Rows that may wait in the outbox: what stays without a reader, and the writes between two prunings.
const MOST_OUTBOX: u64 = 1000 + 20 * 40 * 2;
const CYCLE: Duration = Duration::from_secs(30);
const BURST: Duration = Duration::from_secs(10);
/// The pace of writes.
const BEAT: Duration = Duration::from_millis(250);

pub fn run(options: &Options) {
    let parts = options.only.as_ref().map_or(Part::value_variants(), std::slice::from_ref);
    let period = Duration::from_secs_f64(options.minutes * 60.0) / parts.len() as u32;
    for engine in options.engine.engines() {
        for part in parts {
            match part {
                Part::Load => soak(options, *engine, period),
                Part::Attacks => attacks::soak(&options.program, *engine, period),
            }
        }
    }
}

/// One look.
#[derive(Debug, Clone, Copy, Default)]
struct Sample {
    log: u64,
    memory: u64,
    files: u64,
    descriptors: u64,
    outbox: u64,
}

struct Load {
    program: Program,
    start: Instant,
    stop: AtomicBool,
    writes: AtomicU64,
    scans: AtomicU64,
}

fn soak(options: &Options, engine: Engine, period: Duration) {
    let program = Program::start(&options.program, engine);
    let file = tempfile::Builder::new().suffix(".jsonl").tempfile().unwrap();
    write_items(file.path(), options.items);
    program.import("things", file.path());
    let load = Arc::new(Load {
        program,
        start: Instant::now(),
        stop: AtomicBool::default(),
        writes: AtomicU64::default(),
        scans: AtomicU64::default(),
    });
    let begun = |work: fn(&Load, usize), n| {
        let load = load.clone();
        std::thread::spawn(move || work(&load, n))
    };
    let mut threads: Vec<_> = (0..3).map(|n| begun(Load::scan, n)).collect();
    threads.extend((0..2).map(|n| begun(Load::write, n)));
    if engine == Engine::Postgres {
        threads.push(begun(|load, _| load.hold_snapshots(), 0));
    }

    let mut samples = Vec::new();
    let step = Duration::from_secs_f64((period.as_secs_f64() / 600.0).clamp(0.5, 6.0));
    while load.start.elapsed() < period {
        std::thread::sleep(step);
        samples.push(load.sample());
        if samples.len().is_multiple_of(50) {
            load.tell(samples.last().unwrap());
        }
    }
    load.stop.store(true, Ordering::Relaxed);
    for it in threads {
        it.join().unwrap();
    }
    load.judge(engine, &samples);
}

impl Load {
    fn runs(&self) -> bool {
        !self.stop.load(Ordering::Relaxed)
    }

    fn is_burst(&self) -> bool {
        self.start.elapsed().as_millis() % CYCLE.as_millis() < BURST.as_millis()
    }

    /// A page and a count that look at every item.
    fn scan(&self, n: usize) {
        let body = json!({ "dataCollectionId": "things", "returnTotalCount": true, "query": {
            "filter": { "text": { "$contains": "jumps" }, "title": { "$contains": "9" } },
            "sort": [{ "fieldName": "title", "order": "DESC" }], "paging": { "limit": 100 } }});
        while self.runs() {
            if !self.is_burst() {
                std::thread::sleep(Duration::from_millis(1000 + 500 * n as u64));
            }
            let answer = self.program.post("/v2/items/query", &body);
            assert!(!answer["dataItems"].as_array().unwrap().is_empty());
            self.scans.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Singles, bulks, updates, and removes of as many as came.
    fn write(&self, n: usize) {
        let (mut ids, mut made) = (VecDeque::new(), 0_usize);
        let mut fresh = || {
            made += 1;
            let mut it = item(made);
            it["_id"] = json!(format!("soak{n}-{made}"));
            it
        };
        while self.runs() {
            let beat = Instant::now();
            for _ in 0..3 {
                let it = fresh();
                ids.push_back(it["_id"].as_str().unwrap().to_owned());
                self.send("/v2/items", &json!({ "dataCollectionId": "things", "dataItem": { "data": it } }));
            }
            let many: Vec<_> = (0..50).map(|_| fresh()).collect();
            ids.extend(many.iter().map(|it| it["_id"].as_str().unwrap().to_owned()));
            let many: Vec<_> = many.into_iter().map(|it| json!({ "data": it })).collect();
            self.send("/v2/bulk/items/insert", &json!({ "dataCollectionId": "things", "dataItems": many }));
            let changed: Vec<_> =
                ids.iter().take(5).map(|id| json!({ "data": { "_id": id, "title": "changed 9" } })).collect();
            self.send("/v2/bulk/items/update", &json!({ "dataCollectionId": "things", "dataItems": changed }));
            if ids.len() > 2000 {
                let gone: Vec<_> = ids.drain(..53).collect();
                self.send("/v2/bulk/items/remove", &json!({ "dataCollectionId": "things", "dataItemIds": gone }));
            }
            std::thread::sleep(BEAT.saturating_sub(beat.elapsed()));
        }
    }

    fn send(&self, path: &str, body: &Value) {
        let answer = self.program.post(path, body);
        let failures = answer["bulkActionMetadata"]["totalFailures"].as_u64().unwrap_or(0);
        assert_eq!(failures, 0, "{path}");
        self.writes.fetch_add(1, Ordering::Relaxed);
    }

    /// During bursts a snapshot stays open, as a backup keeps it.
    fn hold_snapshots(&self) {
        let url = self.program.database_url().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.unwrap();
            tokio::spawn(connection);
            let mut is_open = false;
            while self.runs() {
                if self.is_burst() != is_open {
                    is_open = !is_open;
                    let begin = "begin isolation level repeatable read; select count(*) from stoa.outbox";
                    client.batch_execute(if is_open { begin } else { "commit" }).await.unwrap();
                }
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        });
    }

    fn sample(&self) -> Sample {
        let process = self.program.id();
        let mut sample = Sample { memory: anonymous(process), outbox: self.program.outbox_rows(), ..Sample::default() };
        measure_files(self.program.data(), &mut sample);
        sample.descriptors = std::fs::read_dir(format!("/proc/{process}/fd")).map_or(0, |it| it.count() as u64);
        sample
    }

    fn tell(&self, it: &Sample) {
        println!(
            "  {:>5} s  log {:>4} MB  memory {:>4} MB  {} files  {} descriptors  outbox {:>6}  {} writes, {} scans",
            self.start.elapsed().as_secs(),
            it.log >> 20,
            it.memory >> 20,
            it.files,
            it.descriptors,
            it.outbox,
            self.writes.load(Ordering::Relaxed),
            self.scans.load(Ordering::Relaxed)
        );
    }

    fn judge(&self, engine: Engine, samples: &[Sample]) {
        let most = |pick: fn(&Sample) -> u64, samples: &[Sample]| samples.iter().map(pick).max().unwrap();
        let (early, late) = samples.split_at(samples.len() / 2);
        let all = Sample {
            log: most(|it| it.log, samples),
            memory: most(|it| it.memory, samples),
            files: most(|it| it.files, samples),
            descriptors: most(|it| it.descriptors, samples),
            outbox: most(|it| it.outbox, samples),
        };
        println!("{engine:?}, the most of each in {} looks:", samples.len());
        self.tell(&all);
        assert!(self.writes.load(Ordering::Relaxed) > 50 && self.scans.load(Ordering::Relaxed) > 5, "there was a load");
        assert!(all.log <= MOST_LOG, "the write-ahead log grew to {} MB", all.log >> 20);
        assert!(all.memory <= MOST_MEMORY, "memory grew to {} MB", all.memory >> 20);
        assert!(all.outbox <= MOST_OUTBOX, "{} rows in the outbox", all.outbox);
        let grows = |pick: fn(&Sample) -> u64, slack: u64| most(pick, late) > most(pick, early) + slack;
        assert!(!grows(|it| it.memory, 48 << 20), "memory grows");
        assert!(!grows(|it| it.files, 4), "files become more");
        assert!(!grows(|it| it.descriptors, 16), "descriptors become more");
    }
}

/// Files below a folder, and the length of the logs among them.
fn measure_files(folder: &Path, sample: &mut Sample) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let Ok(about) = entry.metadata() else { continue };
        if about.is_dir() {
            measure_files(&entry.path(), sample);
            continue;
        }
        sample.files += 1;
        if entry.file_name().to_string_lossy().ends_with("-wal") {
            sample.log += about.len();
        }
    }
}
