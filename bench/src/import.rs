//! `stoa import` of many items beside the same documents inserted by hand, 1,000 a transaction.

use crate::{
    program::{Program, write_items},
    raw::Raw,
};
use std::time::Instant;

/// Seconds of ours and of theirs.
pub fn compare(program: &Program, raw: &Raw, count: usize) -> (f64, f64) {
    let file = tempfile::Builder::new().suffix(".jsonl").tempfile().unwrap();
    write_items(file.path(), count);
    let ours = program.import("imported", file.path());
    // By hand: the same file is read and parsed for the ids, as any importer must.
    let start = Instant::now();
    let text = std::fs::read_to_string(file.path()).unwrap();
    let mut batches = Vec::new();
    for (n, line) in text.lines().enumerate() {
        if n % 1000 == 0 {
            batches.push(Vec::with_capacity(1000));
        }
        let parsed: serde_json::Value = serde_json::from_str(line).unwrap();
        batches.last_mut().unwrap().push((format!("i{}", parsed["_id"].as_str().unwrap()), line.to_owned()));
    }
    raw.insert_all(batches.into_iter());
    (ours, start.elapsed().as_secs_f64())
}
