//! Groups over the large collection beside the same SQL by hand, and point reads while ten pipelines run.

use crate::{
    figure::{Figures, Sizes, percentile},
    load,
    memory::Peak,
    program::{Engine, Program, agent, write_items},
    raw::Raw,
};
use serde_json::{Value, json};
use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

const PIPELINES: usize = 10;
/// A caller who is told that too many wait asks again after this long: sooner than the answer says, so that ten are there.
const AGAIN: Duration = Duration::from_millis(200);
const CONNECTIONS: usize = 16;

/// The figures, printed as they come.
pub fn measure(binary: &Path, engine: Engine, sizes: &Sizes) -> Vec<Value> {
    let Sizes { items, rounds, period } = *sizes;
    println!("\n{engine:?}, aggregations over {items} items of about 400 bytes");
    let program = Arc::new(Program::start(binary, engine));
    let peak = Peak::watch(program.id());
    let file = tempfile::Builder::new().suffix(".jsonl").tempfile().unwrap();
    write_items(file.path(), items);
    program.import("things", file.path());
    let raw = Raw::make(engine, program.database_url(), items);
    raw.settle();
    let tokens = program.visitor_tokens(100);
    let mut figures = Figures::of(engine);
    for (keys, names, least) in [(1, "one key", [3.0, 1.3]), (2, "two keys", [2.0, 1.3])] {
        let body = grouping(&["color", "price"][..keys]);
        let mut rates = Vec::new();
        let mut parallel = Vec::new();
        for _ in 0..rounds {
            let start = Instant::now();
            let found = program.post_as(&tokens[0], "/v2/items/aggregate-pipeline", &body);
            assert!(found["results"].as_array().is_some_and(|it| it.len() >= 5), "{found}");
            let ours = 1.0 / start.elapsed().as_secs_f64();
            rates.push((ours, 1.0 / raw.group_seconds(keys, false)));
            if engine == Engine::Postgres {
                parallel.push((ours, 1.0 / raw.group_seconds(keys, true)));
            }
        }
        let least = least[usize::from(engine == Engine::Postgres)];
        figures.add(&format!("group by {names}, HTTP"), &rates, "the same SQL by hand", least);
        if engine == Engine::Postgres {
            figures.add(&format!("group by {names}, HTTP"), &parallel, "the same with parallel workers", 0.0);
        }
    }
    beside_pipelines(&program, &tokens, items, rounds, period, &mut figures);
    let most = peak.megabytes();
    println!("  most anonymous memory of the program: {most} MB   goal < 500");
    figures.push(json!({ "engine": format!("{engine:?}"), "figure": "anonymous memory, MB", "ours": most }));
    figures.into_list()
}

/// Count, sum, average and extremes by these keys.
fn grouping(keys: &[&str]) -> Value {
    let field = |name: &str| json!({ "fieldPath": name });
    let of = |name: &str, function: &str, field: Value| json!({ "resultFieldName": name, function: { "expression": field } });
    let keys: Vec<_> = keys.iter().map(|it| json!({ "key": it, "expression": field(it) })).collect();
    let accumulators = [
        of("count", "sum", json!({ "numeric": 1 })),
        of("sum", "sum", field("n")),
        of("average", "avg", field("n")),
        of("least", "min", field("price")),
        of("most", "max", field("price")),
    ];
    let group = json!({ "group": { "groupIds": keys, "accumulators": accumulators } });
    json!({ "dataCollectionId": "things", "pipeline": { "stages": [group] } })
}

/// Point reads at half their peak, alone and while ten callers ask for groups.
fn beside_pipelines(
    program: &Arc<Program>,
    tokens: &[String],
    items: usize,
    rounds: usize,
    period: Duration,
    figures: &mut Figures,
) {
    let reads = program.point_reads(tokens, items);
    let half = load::rate(program.address(), &reads, CONNECTIONS, period) / 2.0;
    let (mut medians, mut rates) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let alone = load::steady(program.address(), &reads, CONNECTIONS, half, period);
        let stop = Arc::new(AtomicBool::new(false));
        let asking: Vec<_> = (0..PIPELINES)
            .map(|n| {
                let (program, stop, token) = (program.clone(), stop.clone(), tokens[n].clone());
                std::thread::spawn(move || {
                    let (agent, body) = (agent(), grouping(&["color"]));
                    while !stop.load(Ordering::Relaxed) {
                        match program.answer_over(&agent, "/v2/items/aggregate-pipeline", &token, &body) {
                            (200, _) => {}
                            (429, _) => std::thread::sleep(AGAIN),
                            other => panic!("{other:?}"),
                        }
                    }
                })
            })
            .collect();
        std::thread::sleep(Duration::from_millis(500));
        let beside = load::steady(program.address(), &reads, CONNECTIONS, half, period);
        stop.store(true, Ordering::Relaxed);
        asking.into_iter().for_each(|it| it.join().unwrap());
        rates.push((beside.per_second, alone.per_second));
        medians.push(beside.median / alone.median);
    }
    figures.add("point reads beside ten pipelines, HTTP", &rates, "alone, at half their peak", 0.95);
    let median = percentile(medians, 0.5);
    println!("  their median takes {median:.2} times as long   goal <= 1.5");
    let engine = format!("{:?}", figures.engine);
    figures.push(json!({ "engine": engine, "figure": "median of point reads beside ten pipelines", "ratio": median }));
}
