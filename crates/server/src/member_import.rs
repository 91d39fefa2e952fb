//! `stoa member import`: members of another system, from JSON lines or CSV.

use crate::{
    cli::Format,
    report::Output,
    services::{Services, operator, sentence},
};
use serde_json::{Map, Value, json};
use std::io::{BufRead, BufReader, Read};
use stoa_identity::member::{AT_ONCE, Arrival, Arrived};
use stoa_kernel::Fault;
use stoa_store::Site;
use tokio::runtime::Handle;

/// Messages about lines that are kept, and the longest line.
const ERRORS: usize = 20;
const LINE: u64 = 256 * 1024;

#[derive(Default)]
struct Counts {
    inserted: u64,
    known: u64,
    failed: u64,
    errors: Vec<String>,
}

impl Counts {
    fn fail(&mut self, line: u64, why: &str) {
        self.failed += 1;
        if self.errors.len() < ERRORS {
            self.errors.push(format!("line {line}: {why}"));
        }
    }
}

/// Reads members into a site, telling progress after each commit.
pub fn import(
    services: &Services,
    runtime: &Handle,
    site: &Site,
    format: Format,
    input: Box<dyn Read + Send>,
    output: &mut dyn Output,
) -> Result<Value, String> {
    let mut counts = Counts::default();
    let mut waiting: Vec<(u64, Arrival)> = Vec::with_capacity(AT_ONCE);
    for record in records(format, input)? {
        let (line, sent) = record?;
        match sent.and_then(|it| Arrival::parse(&it).map_err(violations)) {
            Ok(arrival) => waiting.push((line, arrival)),
            Err(why) => counts.fail(line, &why),
        }
        if waiting.len() == AT_ONCE {
            take(services, runtime, site, std::mem::take(&mut waiting), &mut counts)?;
            let done = counts.inserted + counts.known + counts.failed;
            output
                .progress(&json!({ "done": done, "inserted": counts.inserted, "updated": 0, "failed": counts.failed }));
        }
    }
    take(services, runtime, site, waiting, &mut counts)?;
    let Counts { inserted, known, failed, errors } = counts;
    Ok(json!({ "inserted": inserted, "updated": 0, "known": known, "failed": failed, "errors": errors }))
}

fn take(
    services: &Services,
    runtime: &Handle,
    site: &Site,
    waiting: Vec<(u64, Arrival)>,
    counts: &mut Counts,
) -> Result<(), String> {
    let (lines, arrivals): (Vec<u64>, Vec<Arrival>) = waiting.into_iter().unzip();
    let operator = operator();
    let work = services.identity.member_import(site, &operator, arrivals);
    for (line, arrived) in lines.into_iter().zip(runtime.block_on(work).map_err(sentence)?) {
        match arrived {
            Arrived::New => counts.inserted += 1,
            Arrived::Known => counts.known += 1,
            Arrived::SlugTaken => counts.fail(line, "the slug belongs to another member"),
        }
    }
    Ok(())
}

fn violations(fault: Fault) -> String {
    let all = fault.violations().iter().map(|it| format!("{}: {}", it.field, it.description));
    all.collect::<Vec<_>>().join("; ")
}

type Record = Result<(u64, Result<Value, String>), String>;

/// Each record with its line: an object, or what is wrong with it. The outer error ends the import.
fn records(format: Format, input: Box<dyn Read + Send>) -> Result<Box<dyn Iterator<Item = Record>>, String> {
    let unreadable = |it: &dyn std::fmt::Display| format!("the file can't be read: {it}");
    match format {
        Format::Csv => {
            let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(input);
            let names = reader.headers().map_err(|it| unreadable(&it))?.clone();
            Ok(Box::new(reader.into_records().enumerate().map(move |(n, row)| {
                let row = row.map_err(|it| unreadable(&it))?;
                let cells = names.iter().zip(&row).filter(|it| !it.1.is_empty());
                let object: Map<String, Value> = cells.map(|(name, it)| (name.to_owned(), it.into())).collect();
                Ok((n as u64 + 2, Ok(Value::Object(object))))
            })))
        }
        Format::Jsonl => {
            let mut reader = BufReader::new(input);
            let mut number = 0;
            Ok(Box::new(std::iter::from_fn(move || {
                loop {
                    let mut line = Vec::new();
                    match reader.by_ref().take(LINE).read_until(b'\n', &mut line) {
                        Err(error) => return Some(Err(unreadable(&error))),
                        Ok(0) => return None,
                        Ok(length) if length as u64 == LINE => {
                            return Some(Err(format!("line {} is too long", number + 1)));
                        }
                        Ok(_) => number += 1,
                    }
                    if line.iter().all(u8::is_ascii_whitespace) {
                        continue;
                    }
                    return Some(Ok((number, serde_json::from_slice(&line).map_err(|it| it.to_string()))));
                }
            })))
        }
        Format::Json => Err("members are imported from JSON lines or CSV".to_owned()),
    }
}
