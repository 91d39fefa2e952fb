//! `stoa member import`: members of another system, read as items are.

use super::{import::finish, terminal::Terminal};
use crate::{
    cli::{Format, Member, MemberVerb, Verb},
    failure::Failure,
    report::Output,
    services::{Services, operator, sentence},
    transfer::{format_of, open_with_size},
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

/// Sends the file that was named, and prints what came of it.
pub fn typed(terminal: &mut Terminal<'_>, mut typed: Member) -> Result<(), Failure> {
    let MemberVerb::Import { file, format } = &mut typed.verb else {
        return Err("this command imports members".into());
    };
    let (input, bytes) = open_with_size(file)?;
    *format = Some(format.unwrap_or_else(|| format_of(file)));
    let input = terminal.report.begin_file("members", input, bytes);
    let value = terminal.run(&Verb::Member(typed), Some(input))?;
    finish(&value, terminal.as_json)
}

/// Reads members into a site, telling progress after each commit. Where the file can't be read on, those before
/// are kept.
pub fn import(
    services: &Services,
    runtime: &Handle,
    site: &Site,
    format: Option<Format>,
    input: Box<dyn Read + Send>,
    output: &mut dyn Output,
) -> Result<Value, Failure> {
    let format = format.unwrap_or(Format::Jsonl);
    let mut counts = Counts::default();
    let mut waiting: Vec<(u64, ImportedMember)> = Vec::with_capacity(AT_ONCE);
    let mut end: Result<(), Failure> = Ok(());
    for record in Records::typed(format.into(), input, HashMap::new()) {
        let record = match record {
            Ok(it) => it,
            Err(fault) => {
                end = Err(fault.into());
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
) -> Result<(), Failure> {
    let (lines, members): (Vec<u64>, Vec<ImportedMember>) = waiting.into_iter().unzip();
    let operator = operator();
    let work = services.identity.member_import(site, &operator, members);
    for (line, arrived) in lines.into_iter().zip(runtime.block_on(work)?) {
        match arrived {
            ImportOutcome::New => counts.inserted += 1,
            ImportOutcome::Known => counts.known += 1,
            ImportOutcome::SlugTaken => counts.fail(line, "the slug belongs to another member"),
            ImportOutcome::AddressKept => {
                counts
                    .fail(line, "the address is kept for a member who changed it and can take it back for seven days");
            }
        }
    }
    Ok(())
}
