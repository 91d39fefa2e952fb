//! What commands do, whether they run here or inside a server that holds the data directory.

mod app;
mod audit;
mod captcha;
mod client;
mod collection;
mod compact;
mod environments;
mod hooks;
mod import;
mod item;
mod key;
mod listen;
mod log;
mod mail;
mod member;
mod member_import;
mod owner;
mod seal;
mod site;
mod site_mail;
mod site_provider;
mod terminal;
mod tokens;
mod webhook;

use terminal::Terminal;

use crate::{
    cli::{CollectionVerb, ItemVerb, LogVerb, MailVerb, MemberVerb, SiteVerb, Verb, Webhook, WebhookVerb},
    config::Config,
    failure::Failure,
    print::print,
    report::{Output, Report},
    services::Services,
    transfer,
};
use serde_json::{Value, json};
use std::io::Read;
use tokio::runtime::Handle;

/// Runs a command that was typed: in the running server when there is one, else here.
pub fn from_command_line(verb: Verb, config: &Config, as_json: bool) -> Result<(), Failure> {
    let mut terminal = Terminal { config, as_json, report: Report::new(as_json), here: run_here };
    match verb {
        Verb::Migrate => migrate(config, as_json),
        Verb::Import(it) => import::typed(&mut terminal, it),
        Verb::Member(it) if matches!(it.verb, MemberVerb::Import { .. }) => member_import::typed(&mut terminal, it),
        Verb::Member(it) if matches!(it.verb, MemberVerb::Delete { .. }) => member::delete_typed(&mut terminal, it),
        Verb::Export(it) => terminal.run(&Verb::Export(it), None).map(drop),
        Verb::App(it) => {
            let input = app::file(&it).map(transfer::open).transpose()?;
            app::run_typed(&mut terminal, it, input)
        }
        Verb::Log(it) if matches!(it.verb, LogVerb::Follow { .. }) => terminal.run(&Verb::Log(it), None).map(drop),
        Verb::Mail(it) if matches!(it.verb, MailVerb::Preview { .. }) => mail::preview_typed(&mut terminal, it),
        Verb::Site(SiteVerb::Delete { named, yes }) => site::delete_typed(&mut terminal, named, yes),
        Verb::Collection(it) if matches!(it.verb, CollectionVerb::Delete { .. }) => {
            collection::delete_typed(&mut terminal, it)
        }
        Verb::Collection(it) if matches!(it.verb, CollectionVerb::Show { .. }) => {
            collection::show_typed(&mut terminal, it)
        }
        Verb::Item(it) if matches!(it.verb, ItemVerb::Query { .. }) => item::query_typed(&mut terminal, it),
        Verb::Webhook(Webhook { site, verb: WebhookVerb::Listen(it) }) => listen::listen(&mut terminal, site, it),
        Verb::Webhook(it) => webhook::run_typed(&mut terminal, it),
        Verb::Hooks(it) => hooks::run_typed(&mut terminal, it),
        Verb::Environments(it) => environments::run_typed(&mut terminal, it),
        verb => {
            let input = input_of(&verb)?;
            let value = terminal.run(&verb, input)?;
            print(&value, as_json || is_always_json(&verb));
            Ok(())
        }
    }
}

/// Whether the answer is a document, which people read as JSON too.
fn is_always_json(verb: &Verb) -> bool {
    match verb {
        Verb::Item(it) => matches!(it.verb, ItemVerb::Get { .. }),
        Verb::Mail(it) => matches!(it.verb, MailVerb::Show),
        _ => false,
    }
}

/// The file that goes with a command. A secret goes this way too: no command holds it.
fn input_of(verb: &Verb) -> Result<Option<Box<dyn Read + Send>>, Failure> {
    let file = match verb {
        Verb::Site(SiteVerb::Captcha(it)) => captcha::file(&it.verb),
        Verb::Site(SiteVerb::Provider(it)) => site_provider::file(&it.verb),
        Verb::Mail(it) => mail::file(&it.verb),
        Verb::Collection(it) => collection::file(&it.verb),
        Verb::Item(it) => item::file(&it.verb),
        _ => None,
    };
    Ok(file.map(transfer::open).transpose()?)
}

fn run_here(
    config: &Config,
    verb: &Verb,
    input: Option<Box<dyn Read + Send>>,
    report: &mut Report,
) -> Result<Value, Failure> {
    let makes_data = matches!(verb, Verb::Site(SiteVerb::Create { .. }));
    if !config.data.is_dir() && config.database_url.is_none() && !makes_data {
        let path = config.data.display();
        let text = format!("{path} is not there; start a server with it, or make a site: stoa site create --name NAME");
        return Err(text.into());
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(|it| it.to_string())?;
    let services = runtime.block_on(Services::open(config))?;
    let result = run(&services, runtime.handle(), verb, input.unwrap_or_else(|| Box::new(std::io::empty())), report);
    runtime.block_on(services.close());
    result
}

/// Runs one command. Blocks; not to be called from the runtime's own threads.
pub fn run(
    services: &Services,
    runtime: &Handle,
    verb: &Verb,
    input: Box<dyn Read + Send>,
    output: &mut dyn Output,
) -> Result<Value, Failure> {
    let choose = |it: &crate::cli::SiteChoice| runtime.block_on(services.choose_site(it.site.as_deref()));
    let choose_content = |it: &crate::cli::ContentChoice| runtime.block_on(services.choose_content(it));
    match verb {
        Verb::Site(SiteVerb::Captcha(it)) => {
            runtime.block_on(captcha::run(services, &*choose(&it.site)?, &it.verb, input))
        }
        Verb::Site(SiteVerb::Provider(it)) => {
            runtime.block_on(site_provider::run(services, &choose(&it.site)?, &it.verb, input))
        }
        Verb::Site(SiteVerb::Mail(it)) => runtime.block_on(site_mail::run(services, &*choose(&it.site)?, &it.verb)),
        Verb::Site(it) => runtime.block_on(site::run(services, it)),
        Verb::Client(it) => runtime.block_on(client::run(services, &*choose(&it.site)?, &it.verb)),
        Verb::Key(it) => runtime.block_on(key::run(services, &*choose(&it.site)?, &it.verb)),
        Verb::App(it) => runtime.block_on(app::run(services, &*choose(&it.site)?, it, input)),
        Verb::Owner(it) => runtime.block_on(owner::run(services, &*choose(&it.site)?, &it.verb)),
        Verb::Member(it) => match &it.verb {
            MemberVerb::Import { format, .. } => {
                member_import::import(services, runtime, &*choose(&it.site)?, *format, input, output)
            }
            verb => runtime.block_on(member::run(services, &choose(&it.site)?, verb)),
        },
        Verb::Mail(it) => runtime.block_on(mail::run(services, &*choose(&it.site)?, &it.verb, input)),
        Verb::Collection(it) => {
            runtime.block_on(collection::run(services, &choose_content(&it.site)?, &it.verb, input))
        }
        Verb::Item(it) => runtime.block_on(item::run(services, &*choose_content(&it.site)?, &it.verb, input)),
        Verb::Seal(it) => runtime.block_on(seal::run(services, *it, output)),
        Verb::Tokens(it) => runtime.block_on(tokens::run(services, it)),
        Verb::Compact => runtime.block_on(compact::run(services, output)),
        Verb::Webhook(it) => runtime.block_on(webhook::run(services, &choose(&it.site)?, &it.verb)),
        Verb::Hooks(it) => runtime.block_on(hooks::run(services, &*choose(&it.site)?, &it.verb, input)),
        Verb::Log(it) => log::run(services, runtime, &choose(&it.site)?, &it.verb, output),
        Verb::Audit(it) => runtime.block_on(audit::list(services, &*choose(&it.site)?, it)),
        Verb::Import(it) => import::run(services, runtime, &*choose_content(&it.site)?, it, input, output),
        Verb::Export(it) => {
            transfer::export(services, runtime, choose_content(&it.site)?, &it.collection, it.format, output)
        }
        Verb::Environments(it) => environments::run(services, runtime, &choose(&it.site)?, &it.verb, output),
        Verb::Serve { .. }
        | Verb::Migrate
        | Verb::Check
        | Verb::Openapi
        | Verb::Completions { .. }
        | Verb::HookHost => Err("this command runs by itself".into()),
    }
}

fn migrate(config: &Config, as_json: bool) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(|it| it.to_string())?;
    let count = runtime.block_on(async {
        let services = Services::open(config).await?;
        // Opening a site migrates its file.
        for id in services.store.sites_for_work().await? {
            services.store.site_for_work(&id).await?;
        }
        let sites = services.store.sites().await?;
        services.close().await;
        Ok::<_, Failure>(sites.len())
    })?;
    print(&json!({ "sites": count, "state": "current" }), as_json);
    Ok(())
}
