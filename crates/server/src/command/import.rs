//! `stoa import`

use super::{collection::definition_of, terminal::Terminal};
use crate::{
    cli::{Collection, CollectionVerb, Format, Import, Levels, NewCollection, Verb},
    failure::Failure,
    guess::guess_fields,
    print::{count, print},
    remote,
    report::Output,
    services::Services,
    transfer::{self, Source, format_of, open, open_with_size},
};
use serde_json::{Value, json};
use std::io::Read;
use stoa_content::transfer::ImportOptions;
use stoa_kernel::Code;
use stoa_store::Site;
use tokio::runtime::Handle;

/// Sends the file that was named, here or to a server elsewhere, and prints what came of it.
pub fn typed(terminal: &mut Terminal<'_>, mut typed: Import) -> Result<(), Failure> {
    let format = typed.format.unwrap_or_else(|| format_of(&typed.file));
    typed.format = Some(format);
    if typed.url.is_some() {
        if typed.site.environment.is_some() {
            return Err(Failure::usage("--environment is for a site on this machine, and not for --url"));
        }
        let server = remote::Server::new(&typed)?;
        if typed.create && !server.has_collection(&typed.collection)? {
            server.create_collection(&definition_of(&new_collection(terminal, &typed, format)?))?;
        }
        let result = remote::import(server, &typed, &mut terminal.report)?;
        return finish(&result, terminal.as_json);
    }
    if typed.create {
        create(terminal, &typed, format)?;
    }
    let (input, bytes) = open_with_size(&typed.file)?;
    let input = terminal.report.begin_file(&typed.collection, input, bytes);
    let value = terminal.run(&Verb::Import(typed), Some(input))?;
    finish(&value, terminal.as_json)
}

pub fn run(
    services: &Services,
    runtime: &Handle,
    site: &Site,
    wanted: &Import,
    input: Box<dyn Read + Send>,
    output: &mut dyn Output,
) -> Result<Value, Failure> {
    let options = ImportOptions { key: wanted.key.as_deref(), is_dry_run: wanted.dry_run, asks_hooks: wanted.hooks };
    let format = wanted.format.unwrap_or(Format::Jsonl);
    transfer::import(services, runtime, site, Source { collection: &wanted.collection, format, options, input }, output)
}

/// Makes the collection with the fields that the file has, unless it is there.
fn create(terminal: &mut Terminal<'_>, typed: &Import, format: Format) -> Result<(), Failure> {
    let about = |verb: CollectionVerb| Verb::Collection(Collection { site: typed.site.clone(), verb });
    match terminal.run(&about(CollectionVerb::Show { name: typed.collection.clone() }), None) {
        Ok(_) => return Ok(()),
        Err(failure) if failure.code == Code::CollectionNotFound.name() => {}
        Err(failure) => return Err(failure),
    }
    let new = new_collection(terminal, typed, format)?;
    terminal.run(&about(CollectionVerb::Create(new)), None).map(drop)
}

/// A collection with the fields that the file has, shown and confirmed.
fn new_collection(terminal: &Terminal<'_>, typed: &Import, format: Format) -> Result<NewCollection, Failure> {
    let name = typed.collection.clone();
    if typed.file.as_os_str() == "-" {
        return Err(Failure::usage("--create reads the file twice, so it can't be standard input"));
    }
    if typed.dry_run {
        return Err(Failure::usage(format!("there is no collection {name}, and a dry run makes none")));
    }
    let fields = guess_fields(format, open(&typed.file)?)?;
    if fields.is_empty() {
        return Err(Failure::usage(format!("{} has no fields to make a collection of", typed.file.display())));
    }
    if !typed.yes {
        let shown = fields.iter().map(|it| json!({ "field": it.key, "type": it.kind.to_lowercase() }));
        print(&shown.collect(), false);
        let answer = terminal.ask(
            &format!("Make the collection {name} with these fields, for editors, owners and apps? [y/N]"),
            "the collection is not there; add --yes to make it with the fields that the file has",
        )?;
        if !matches!(answer.to_lowercase().as_str(), "y" | "yes") {
            return Err(Failure::usage("nothing was made"));
        }
    }
    let (display_name, from, levels) = (None, None, Levels::default());
    Ok(NewCollection { name, display_name, fields, from, log_old_values: false, realtime: false, levels })
}

/// Prints the counts. Items that failed make the command fail, so that a script sees it, and so do links that
/// lead to items which aren't there: what the file says isn't all in the site.
#[expect(clippy::print_stdout, clippy::print_stderr, reason = "this is what the command prints")]
pub fn finish(value: &Value, as_json: bool) -> Result<(), Failure> {
    let (failed, links) = (&value["failed"], value.get("linked").zip(value.get("unlinked")));
    if as_json {
        let mut line = json!({ "inserted": value["inserted"], "updated": value["updated"], "failed": failed });
        for name in ["known", "unchanged", "linked", "unlinked"] {
            if let Some(count) = value.get(name) {
                line[name] = count.clone();
            }
        }
        println!("{line}");
    } else {
        for error in value["errors"].as_array().into_iter().flatten() {
            eprintln!("{}", error.as_str().unwrap_or_default());
        }
        let number = |it: &Value| count(it.as_u64().unwrap_or_default());
        let links = links
            .map(|(made, missing)| format!("; links: {} made, {} without a target", number(made), number(missing)));
        let changed = match (value.get("known"), value.get("unchanged")) {
            (Some(known), _) => format!("{} already there", number(known)),
            (_, Some(same)) => format!("{} updated, {} unchanged", number(&value["updated"]), number(same)),
            _ => format!("{} updated", number(&value["updated"])),
        };
        let (inserted, failed) = (number(&value["inserted"]), number(failed));
        let begin = if value["isDryRun"] == true { "nothing is written; it would be: " } else { "" };
        println!("{begin}{inserted} inserted, {changed}, {failed} failed{}", links.unwrap_or_default());
    }
    let unlinked = links.and_then(|it| it.1.as_u64()).unwrap_or_default();
    let failure = Failure::from(match (failed.as_u64(), unlinked) {
        (Some(0), 0) => return Ok(()),
        (Some(0), _) => format!("{unlinked} links lead to items that aren't there: import those, then this again"),
        (_, 0) => format!("{failed} were not imported"),
        _ => format!("{failed} were not imported, and {unlinked} links lead to items that aren't there"),
    });
    Err(if as_json { failure.with("errors", value["errors"].clone()) } else { failure })
}
