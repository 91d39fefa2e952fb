//! `stoa member import`: members of another system, read as items are.

use crate::{
    cli::Format,
    report::Output,
    services::{Services, operator, sentence},
};
use serde_json::{Value, json};
use std::{collections::HashMap, io::Read};
use stoa_content::transfer::Records;
use stoa_identity::manage::{AT_ONCE, ImportOutcome, ImportedMember};
use stoa_store::Site;
use tokio::runtime::Handle;

/// Messages about lines that are kept.
const ERRORS: usize = 20;

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

/// Reads members into a site, telling progress after each commit. Where the file can't be read on, those before
/// are kept.
pub fn import(
    services: &Services,
    runtime: &Handle,
    site: &Site,
    format: Format,
    input: Box<dyn Read + Send>,
    output: &mut dyn Output,
) -> Result<Value, String> {
    let mut counts = Counts::default();
    let mut waiting: Vec<(u64, ImportedMember)> = Vec::with_capacity(AT_ONCE);
    let mut end = Ok(());
    for record in Records::typed(format.into(), input, HashMap::new()) {
        let record = match record {
            Ok(it) => it,
            Err(fault) => {
                end = Err(sentence(fault));
                break;
            }
        };
        let sent = record.text.map_err(sentence);
        let sent = sent.and_then(|it| serde_json::from_str::<Value>(&it).map_err(|it| it.to_string()));
        match sent.and_then(|it| ImportedMember::parse(&it).map_err(sentence)) {
            Ok(arrival) => waiting.push((record.line, arrival)),
            Err(why) => counts.fail(record.line, &why),
        }
        if waiting.len() == AT_ONCE {
            take(services, runtime, site, std::mem::take(&mut waiting), &mut counts)?;
            let done = counts.inserted + counts.known + counts.failed;
            output
                .progress(&json!({ "done": done, "inserted": counts.inserted, "updated": 0, "failed": counts.failed }));
        }
    }
    take(services, runtime, site, waiting, &mut counts)?;
    end?;
    let Counts { inserted, known, failed, errors } = counts;
    Ok(json!({ "inserted": inserted, "updated": 0, "known": known, "failed": failed, "errors": errors }))
}

fn take(
    services: &Services,
    runtime: &Handle,
    site: &Site,
    waiting: Vec<(u64, ImportedMember)>,
    counts: &mut Counts,
) -> Result<(), String> {
    let (lines, members): (Vec<u64>, Vec<ImportedMember>) = waiting.into_iter().unzip();
    let operator = operator();
    let work = services.identity.member_import(site, &operator, members);
    for (line, arrived) in lines.into_iter().zip(runtime.block_on(work).map_err(sentence)?) {
        match arrived {
            ImportOutcome::New => counts.inserted += 1,
            ImportOutcome::Known => counts.known += 1,
            ImportOutcome::SlugTaken => counts.fail(line, "the slug belongs to another member"),
        }
    }
    Ok(())
}
