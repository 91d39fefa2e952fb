//! How long the answer to a withdrawal waits for the other nodes of a database.

use crate::{
    figure::{median, percentile},
    program::{Engine, Program},
};
use serde_json::{Value, json};
use std::{path::Path, time::Instant};

/// Withdrawals of one measurement.
const WITHDRAWALS: usize = 100;
/// Nodes beside the one that is asked.
const OTHERS: usize = 2;

/// Changes the level of a collection again and again, alone and among other nodes.
pub fn measure(binary: &Path) -> Value {
    let program = Program::start(binary, Engine::Postgres);
    let alone = withdraw(&program);
    let _others: Vec<_> = (0..OTHERS).map(|_| program.neighbour()).collect();
    let among = withdraw(&program);
    let [alone, typical] = [alone, among.clone()].map(|mut it| median(&mut it));
    let slowest = percentile(among, 0.99);
    println!(
        "\n  a level changed, answered by all of {} nodes: {:.0} ms, p99 {:.0} ms; by one alone {:.1} ms",
        OTHERS + 1,
        typical * 1e3,
        slowest * 1e3,
        alone * 1e3
    );
    json!({ "engine": "Postgres", "figure": "withdrawal among nodes", "oursSeconds": typical, "p99Seconds": slowest, "theirsSeconds": alone, "beside": "one node alone", "ratio": typical / alone })
}

/// Seconds that each took.
fn withdraw(program: &Program) -> Vec<f64> {
    let level = |n: usize| if n.is_multiple_of(2) { "PRIVILEGED" } else { "ANYONE" };
    let change = |n| {
        let start = Instant::now();
        program.post("/v1/permissions", &json!({ "dataPermissions": { "id": "things", "itemRead": level(n) } }));
        start.elapsed().as_secs_f64()
    };
    (0..WITHDRAWALS).map(change).collect()
}
