//! `stoa hooks …`

use super::terminal::Terminal;
use crate::{
    cli::{HookTrial as Trial, Hooks, HooksVerb, SiteChoice, Verb},
    failure::Failure,
    print::{print, print_text},
    services::{Services, operator},
    transfer,
};
use serde_json::{Value, json};
use std::{
    collections::BTreeSet,
    io::Read,
    path::{Path, PathBuf},
    time::Duration,
};
use stoa_content::{HookLogEntry, HookTrial, HookVersion, HookWish};
use stoa_kernel::date::iso_from_millis;
use stoa_store::Site;

/// How long a follower waits before it asks again.
const PAUSE: Duration = Duration::from_secs(1);
/// How far behind what was read last an entry may come, in milliseconds.
const OVERLAP: i64 = 10_000;

/// The file with the code.
pub fn file(verb: &HooksVerb) -> Option<&Path> {
    match verb {
        HooksVerb::Deploy { file } => Some(file),
        _ => None,
    }
}

pub async fn run(
    services: &Services,
    site: &Site,
    verb: &HooksVerb,
    input: Box<dyn Read + Send>,
) -> Result<Value, Failure> {
    let (content, caller) = (&services.content, &operator());
    match verb {
        HooksVerb::Deploy { .. } => {
            let source = std::io::read_to_string(input).map_err(|it| format!("the code can't be read: {it}"))?;
            Ok(view(&content.hooks_deploy(site, caller, &source).await?))
        }
        HooksVerb::Connect { url, app, hooks } => {
            let plugin = json!({ "plugin": { "appId": app, "url": url, "hooks": hooks } });
            let members = plugin.as_object().ok_or("an application is an object")?;
            Ok(view(&content.hooks_deploy(site, caller, HookWish::parse(members)?).await?))
        }
        HooksVerb::Activate { number } => {
            content.hooks_activate(site, caller, *number).await?;
            Ok(json!({ "active": number }))
        }
        HooksVerb::List => Ok(content.hooks_list(site, caller).await?.iter().map(view).collect()),
        HooksVerb::Resume => {
            content.hooks_resume(site, caller)?;
            Ok(json!({ "resumed": true }))
        }
        HooksVerb::Log { limit, after, .. } => {
            let entries = content.hook_log_list(site, caller, after.as_deref(), i64::from(*limit)).await?;
            Ok(entries.iter().map(HookLogEntry::to_json).collect())
        }
        HooksVerb::Types => Ok(json!(content.hook_types(site, caller).await?)),
        HooksVerb::Ask(body) => {
            let members = body.as_object().ok_or("a trial is an object")?;
            Ok(content.hook_try(site, caller, HookTrial::parse(members)?).await?)
        }
        HooksVerb::RunTests { source, tests } => Ok(content.hooks_test(site, caller, source, tests).await?),
        HooksVerb::Try(_) | HooksVerb::Test { .. } => Err("this command runs by itself".into()),
    }
}

/// A command that was typed: a trial takes along what its files hold, and types are for a file.
pub fn run_typed(terminal: &mut Terminal<'_>, typed: Hooks) -> Result<(), Failure> {
    let Hooks { site, verb } = typed;
    if let HooksVerb::Log { limit, after, follow: true } = verb {
        return follow(terminal, &site, limit, after);
    }
    if let HooksVerb::Test { file, source } = verb {
        return test(terminal, site, &file, source);
    }
    let input = file(&verb).map(transfer::open).transpose()?;
    let (verb, is_text) = match verb {
        HooksVerb::Try(trial) => (HooksVerb::Ask(body(&trial)?), false),
        verb => {
            let is_text = matches!(verb, HooksVerb::Types);
            (verb, is_text)
        }
    };
    let value = terminal.run(&Verb::Hooks(Hooks { site, verb }), input)?;
    match value.as_str() {
        Some(text) if is_text && !terminal.as_json => print_text(text.trim_end()),
        _ => print(&value, terminal.as_json),
    }
    Ok(())
}

/// Runs tests, and prints what came of them.
fn test(terminal: &mut Terminal<'_>, site: SiteChoice, file: &Path, source: Option<PathBuf>) -> Result<(), Failure> {
    let source = source.unwrap_or_else(|| file.with_file_name("data.js"));
    let verb = HooksVerb::RunTests { source: text(&source)?, tests: text(file)? };
    let value = terminal.run(&Verb::Hooks(Hooks { site, verb }), None)?;
    match terminal.as_json {
        true => print(&value, true),
        false => value["tests"].as_array().into_iter().flatten().for_each(|it| print_text(&tested(it))),
    }
    match value["failed"].as_u64() {
        Some(0) => Ok(()),
        _ => Err(format!("{} passed, {} failed", value["passed"], value["failed"]).into()),
    }
}

/// A test as one line, and beneath it what it said.
fn tested(test: &Value) -> String {
    let text = |it: &Value| it.as_str().unwrap_or_default().to_owned();
    let why = match (&test["error"], &test["value"]) {
        (Value::Null, Value::Null) => text(&test["outcome"]),
        (Value::Null, value) => value.to_string(),
        (error, _) => format!("{}: {}", text(&error["name"]), text(&error["message"])),
    };
    let head = match test["passed"] == true {
        true => format!("passed  {}", text(&test["name"])),
        false => format!("failed  {}: {why}", text(&test["name"])),
    };
    with_said(head, &text(&test["console"]))
}

/// A line, and what was said beneath.
fn with_said(head: String, console: &str) -> String {
    let said: String = console.lines().map(|it| format!("\n  {it}")).collect();
    (head + &said).replace(|it: char| it.is_control() && it != '\n', "\u{fffd}")
}

/// Prints what hooks say, until Ctrl-C. Ids are of the clocks of the nodes, which write a second later, so that an entry may
/// come behind one that has been read: the last ones are read again, and those that were printed left out.
fn follow(terminal: &mut Terminal<'_>, site: &SiteChoice, limit: u32, first: Option<String>) -> Result<(), Failure> {
    let (mut printed, mut after) = (BTreeSet::new(), first.clone());
    loop {
        let verb = HooksVerb::Log { limit, after: after.clone(), follow: false };
        let value = terminal.run(&Verb::Hooks(Hooks { site: site.clone(), verb }), None)?;
        let entries = value.as_array().map(Vec::as_slice).unwrap_or_default();
        for it in entries.iter().filter(|it| printed.insert(text_of(it, "id"))) {
            match terminal.as_json {
                true => print(it, true),
                false => print_text(&line(it)),
            }
        }
        if entries.len() >= limit as usize {
            after = entries.last().map(|it| text_of(it, "id"));
            continue;
        }
        if let Some(last) = printed.last() {
            after = Some(before(last)).max(first.clone());
            printed = after.as_ref().map(|it| printed.split_off(it)).unwrap_or_default();
        }
        std::thread::sleep(PAUSE);
    }
}

/// An id that is so long before another.
fn before(id: &str) -> String {
    let time = id.split('-').next().and_then(|it| it.parse::<i64>().ok()).unwrap_or_default();
    format!("{:015}", (time - OVERLAP).max(0))
}

fn text_of(entry: &Value, name: &str) -> String {
    entry[name].as_str().unwrap_or_default().to_owned()
}

/// An entry of the log as one line, and what it said beneath.
fn line(entry: &Value) -> String {
    let text = |name: &str| text_of(entry, name);
    let head = format!(
        "{} {}_{} {} {} ms, version {}{}",
        text("time"),
        text("collectionId"),
        text("hook"),
        text("outcome"),
        entry["milliseconds"],
        entry["version"],
        entry["requestId"].as_str().map_or(String::new(), |it| format!(", request {it}"))
    );
    with_said(head, &text("console"))
}

/// The body of the call that asks a hook.
fn body(trial: &Trial) -> Result<Value, Failure> {
    let mut body = json!({
        "collectionId": trial.collection, "hook": trial.hook, "argument": document(&trial.argument)?,
    });
    if let Some(path) = &trial.current {
        body["currentItem"] = document(path)?;
    }
    if let Some(path) = &trial.source {
        body["source"] = json!(text(path)?);
    }
    Ok(body)
}

fn document(path: &Path) -> Result<Value, Failure> {
    serde_json::from_str(&text(path)?).map_err(|it| Failure::usage(format!("{} is not JSON: {it}", path.display())))
}

fn text(path: &Path) -> Result<String, Failure> {
    let read = std::io::read_to_string(transfer::open(path)?);
    read.map_err(|it| format!("{} can't be read: {it}", path.display()).into())
}

fn view(it: &HookVersion) -> Value {
    let mut view = json!({
        "version": it.number, "active": it.is_active, "exports": it.exports.join(" "), "author": it.author,
        "deployed": iso_from_millis(it.created),
    });
    if let Some(plugin) = &it.plugin {
        view["application"] = json!(plugin.app_id);
        view["url"] = json!(plugin.url);
    }
    view
}
