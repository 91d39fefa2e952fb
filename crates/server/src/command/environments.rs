//! `stoa environments …`

use super::terminal::Terminal;
use crate::{
    cli::{CopyChoice, Environments, EnvironmentsVerb, Verb},
    failure::Failure,
    print::print,
    report::Output,
    services::{Services, operator},
};
use serde_json::{Value, json};
use std::{sync::Arc, time::Duration};
use stoa_content::CopyWish;
use stoa_kernel::Code;
use stoa_store::{CopyRecord, Environment, Site};
use tokio::runtime::Handle;

/// How often it is told how far a copy is.
const PROGRESS: Duration = Duration::from_millis(500);
/// What is typed to confirm that it is meant.
const SANDBOX: &str = "SANDBOX";

/// Runs one. Blocks; not to be called from the runtime's own threads.
pub fn run(
    services: &Services,
    runtime: &Handle,
    site: &Arc<Site>,
    verb: &EnvironmentsVerb,
    output: &mut dyn Output,
) -> Result<Value, Failure> {
    let (content, store, operator) = (&services.content, &services.store, operator());
    match verb {
        EnvironmentsVerb::Create => {
            runtime.block_on(content.environment_create(store, site, &operator))?;
            Ok(json!({ "environments": ["LIVE", SANDBOX] }))
        }
        EnvironmentsVerb::Copy(choice) => {
            let wish = wish(choice)?;
            // One that was cut off comes first.
            runtime.block_on(content.environment_copies_resume(store, Some(site)))?;
            let (copy, left) = runtime.block_on(content.environment_copy_begin(store, site, &operator, &wish))?;
            let mut ended = work(services, runtime, site, copy, output)?;
            ended["left"] = left;
            Ok(ended)
        }
        EnvironmentsVerb::Diff { choice, ids } => {
            let wish = wish(choice)?;
            Ok(runtime.block_on(content.environment_diff(store, site, &operator, &wish, *ids as usize))?)
        }
        EnvironmentsVerb::Undo { copy } => {
            runtime.block_on(content.environment_copies_resume(store, Some(site)))?;
            let copy = runtime.block_on(content.environment_undo_begin(store, site, &operator, copy.as_deref()))?;
            work(services, runtime, site, copy, output)
        }
        EnvironmentsVerb::Status => Ok(runtime.block_on(content.environment_status(store, site, &operator))?),
        EnvironmentsVerb::Delete { collections, yes } => {
            if yes.as_deref() != Some(SANDBOX) {
                return Err(not_confirmed());
            }
            runtime.block_on(content.environment_copies_resume(store, Some(site)))?;
            runtime.block_on(content.environment_delete(store, site, &operator, collections))?;
            Ok(match collections.is_empty() {
                true => json!({ "deleted": SANDBOX }),
                false => json!({ "deleted": collections }),
            })
        }
    }
}

/// Prints what a person wants to see: tables without ids of items.
pub fn run_typed(terminal: &mut Terminal<'_>, mut typed: Environments) -> Result<(), Failure> {
    if let EnvironmentsVerb::Delete { collections, yes: yes @ None } = &mut typed.verb {
        let what = if collections.is_empty() { "The SANDBOX goes".to_owned() } else { collections.join(", ") };
        let question = format!("{what}, with all items there. LIVE stays as it is.\nType SANDBOX to delete:");
        *yes = Some(terminal.ask(&question, &not_confirmed().message)?);
    }
    let is_diff = matches!(typed.verb, EnvironmentsVerb::Diff { .. });
    let value = terminal.run(&Verb::Environments(typed), None)?;
    if terminal.as_json || !is_diff {
        print(&value, terminal.as_json);
        return Ok(());
    }
    let row = |it: &Value| {
        let count = |kind: &str| it["items"][kind]["count"].clone();
        let definition = it["definition"].as_object().into_iter().flatten().map(|it| it.0.as_str());
        json!({
            "collection": it["collectionId"], "change": it["change"], "add": count("add"), "changed": count("change"),
            "remove": count("remove"), "same": it["items"]["same"], "definition": definition.collect::<Vec<_>>(),
        })
    };
    print(&value["collections"].as_array().into_iter().flatten().map(row).collect(), false);
    for it in value["left"].as_array().into_iter().flatten() {
        let text = |name: &str| it[name].as_str().unwrap_or_default().to_owned();
        terminal.note(&format!("{} is left: copies don't carry {}", text("collectionId"), text("reason")));
    }
    Ok(())
}

fn wish(choice: &CopyChoice) -> Result<CopyWish, Failure> {
    let (source, target): (Environment, Environment) = (choice.from.into(), choice.to.into());
    if source == target {
        return Err(Failure::usage("--from and --to name the same environment"));
    }
    Ok(CopyWish { source, collections: choice.collections.clone() })
}

/// Works on a copy, and tells how far it is. It goes on in a server when who typed the command is gone.
fn work(
    services: &Services,
    runtime: &Handle,
    site: &Arc<Site>,
    copy: CopyRecord,
    output: &mut dyn Output,
) -> Result<Value, Failure> {
    let (content, store, id) = (services.content.clone(), services.store.clone(), copy.id.clone());
    let mut working = runtime.spawn(async move { content.environment_work(&store, copy).await });
    loop {
        match runtime.block_on(async { tokio::time::timeout(PROGRESS, &mut working).await }) {
            Ok(worked) => {
                worked.map_err(|it| it.to_string())??;
                break;
            }
            Err(_) => {
                let copy = runtime.block_on(services.content.environment_copy_get(&services.store, site, &id))?;
                output.progress(&json!({ "done": copy["items"] }));
            }
        }
    }
    Ok(runtime.block_on(services.content.environment_copy_get(&services.store, site, &id))?)
}

fn not_confirmed() -> Failure {
    Failure::new(Code::Validation, "nothing was deleted; to delete in the SANDBOX give its name: --yes SANDBOX")
}
