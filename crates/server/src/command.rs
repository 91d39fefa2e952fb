//! What commands do, whether they run here or inside a server that holds the data directory.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "this is what commands print")]

use crate::{
    audit, captcha,
    cli::{
        AutoIndexState, CaptchaVerb, ClientVerb, Export, Format, Import, KeyVerb, MailVerb, MemberVerb, OwnerVerb,
        RoleName, SiteVerb, Verb,
    },
    config::Config,
    mail, member_import, remote,
    report::{Output, Report},
    services::{INVITATION, Services, sentence},
    socket,
    transfer::{self, format_of, open},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::io::Read;
use stoa_identity::client::NewClient;
use stoa_kernel::{ClientId, Email, KeyId, Role};
use tokio::runtime::Handle;

/// One command as it travels to a running server.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Command {
    SiteCreate { name: String, hosts: Vec<String> },
    SiteList,
    SiteAutoIndex { site: Option<String>, is_on: Option<bool> },
    SiteCaptchaShow { site: Option<String> },
    SiteCaptchaSet { site: Option<String>, provider: captcha::Provider },
    SiteCaptchaRemove { site: Option<String> },
    ClientCreate { site: Option<String>, name: String, redirect_uris: Vec<String>, origins: Vec<String>, secret: bool },
    ClientList { site: Option<String> },
    ClientSecret { site: Option<String>, id: String },
    ClientRevoke { site: Option<String>, id: String },
    KeyCreate { site: Option<String>, name: String },
    KeyList { site: Option<String> },
    KeyRevoke { site: Option<String>, id: String },
    OwnerInvite { site: Option<String>, email: String, role: RoleName },
    MemberList { site: Option<String>, pending: bool, limit: u32 },
    MemberApprove { site: Option<String>, member: String },
    Audit { site: Option<String>, wanted: audit::AuditFilter },
    MailShow { site: Option<String> },
    MailSet { site: Option<String>, text: String },
    MailPreview { site: Option<String> },
    MailFailures { site: Option<String> },
    Import { site: Option<String>, collection: String, format: Format },
    Export { site: Option<String>, collection: String, format: Format },
    MemberImport { site: Option<String>, format: Format },
}

/// Runs a command that was typed: in the running server when there is one, else here.
pub fn from_command_line(verb: Verb, config: &Config, as_json: bool) -> Result<(), String> {
    let mut report = Report::new(as_json);
    let mut preview = None;
    let (command, input): (Command, Option<Box<dyn Read + Send>>) = match verb {
        Verb::Import(it) if it.url.is_some() => {
            let result = remote::import(&it, &mut report)?;
            return finish_import(&result, as_json);
        }
        Verb::Migrate => return migrate(config, as_json),
        Verb::Import(it) => {
            let input = open(&it.file)?;
            report.begin(&it.collection, None);
            (import_command(&it), Some(input))
        }
        Verb::Member(MemberVerb::Import { file, format, site }) => {
            let input = open(&file)?;
            report.begin("members", None);
            let format = format.unwrap_or_else(|| format_of(&file));
            (Command::MemberImport { site: site.site, format }, Some(input))
        }
        Verb::Export(Export { collection, format, site }) => {
            (Command::Export { site: site.site, collection, format }, None)
        }
        Verb::Site(SiteVerb::Captcha(CaptchaVerb::Set(it))) => {
            // The secret goes the way of files: no command holds it.
            let input = open(&it.secret_file)?;
            (Command::SiteCaptchaSet { site: it.site.site.clone(), provider: it.into() }, Some(input))
        }
        Verb::Mail(MailVerb::Preview { directory, site }) => {
            preview = Some(directory);
            (Command::MailPreview { site: site.site }, None)
        }
        verb => (plain_command(verb)?, None),
    };
    let (is_import, is_export) = (
        matches!(command, Command::Import { .. } | Command::MemberImport { .. }),
        matches!(command, Command::Export { .. }),
    );
    let result = match socket::connect(&config.data) {
        Some(stream) => socket::call(stream, &command, input, &mut report),
        None => run_here(config, command, input, &mut report),
    };
    report.end();
    let value = result?;
    if let Some(directory) = preview {
        return mail::write_preview(&value, &directory, as_json);
    }
    match (is_import, is_export) {
        (true, _) => finish_import(&value, as_json),
        (_, true) => Ok(()),
        _ => {
            print(&value, as_json);
            Ok(())
        }
    }
}

fn run_here(
    config: &Config,
    command: Command,
    input: Option<Box<dyn Read + Send>>,
    report: &mut Report,
) -> Result<Value, String> {
    if !config.data.is_dir() && config.database_url.is_none() && !matches!(command, Command::SiteCreate { .. }) {
        let path = config.data.display();
        return Err(format!(
            "{path} is not there; start a server with it, or make a site: stoa site create --name NAME"
        ));
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(|it| it.to_string())?;
    let services = runtime.block_on(Services::open(config)).map_err(sentence)?;
    let result = run(&services, runtime.handle(), command, input.unwrap_or_else(|| Box::new(std::io::empty())), report);
    services.store.close();
    result
}

/// Runs one command. Blocks; not to be called from the runtime's own threads.
pub fn run(
    services: &Services,
    runtime: &Handle,
    command: Command,
    input: Box<dyn Read + Send>,
    output: &mut dyn Output,
) -> Result<Value, String> {
    match command {
        Command::Import { site, collection, format } => {
            let site = runtime.block_on(services.choose_site(site.as_deref()))?;
            transfer::import(services, runtime, &site, &collection, format, input, output)
        }
        Command::Export { site, collection, format } => {
            let site = runtime.block_on(services.choose_site(site.as_deref()))?;
            transfer::export(services, runtime, &site, &collection, format, output)
        }
        Command::MemberImport { site, format } => {
            let site = runtime.block_on(services.choose_site(site.as_deref()))?;
            member_import::import(services, runtime, &site, format, input, output)
        }
        Command::SiteCaptchaSet { site, provider } => {
            let site = runtime.block_on(services.choose_site(site.as_deref()))?;
            captcha::set(services, runtime, &site, provider, input)
        }
        command => runtime.block_on(administer(services, command)),
    }
}

async fn administer(services: &Services, command: Command) -> Result<Value, String> {
    let identity = &services.identity;
    match command {
        Command::SiteCreate { name, hosts } => {
            let site = services.store.site_create(&name, &services.world).await.map_err(sentence)?;
            for host in hosts {
                services.store.host_add(&site.id, &host).await.map_err(sentence)?;
            }
            Ok(json!({ "siteId": site.id }))
        }
        Command::SiteList => {
            let sites = services.store.sites().await.map_err(sentence)?;
            Ok(sites.into_iter().map(|(id, name)| json!({ "siteId": id, "name": name })).collect())
        }
        Command::ClientCreate { site, name, redirect_uris, origins, secret } => {
            let site = services.choose_site(site.as_deref()).await?;
            let new = NewClient { name, redirect_uris, origins, with_secret: secret };
            let (client, secret) = identity.client_create(&site.id, new).await.map_err(sentence)?;
            let mut value = json!({ "clientId": client.id, "siteId": site.id });
            if let Some(secret) = secret {
                value["clientSecret"] = json!(secret.expose());
            }
            Ok(value)
        }
        Command::ClientList { site } => {
            let site = services.choose_site(site.as_deref()).await?;
            let clients = identity.client_list(&site.id).await.map_err(sentence)?;
            let view = |it: stoa_identity::client::Client| json!({ "clientId": it.id, "name": it.name, "redirectUris": it.redirect_uris, "origins": it.origins });
            Ok(clients.into_iter().map(view).collect())
        }
        Command::ClientSecret { site, id } => {
            let site = services.choose_site(site.as_deref()).await?;
            let secret =
                identity.client_secret_renew(&site.id, &ClientId::from(id.as_str())).await.map_err(sentence)?;
            Ok(json!({ "clientId": id, "clientSecret": secret.expose() }))
        }
        Command::ClientRevoke { site, id } => {
            let site = services.choose_site(site.as_deref()).await?;
            identity.client_revoke(&site.id, &ClientId::from(id.as_str())).await.map_err(sentence)?;
            Ok(json!({ "revoked": id }))
        }
        Command::KeyCreate { site, name } => {
            let site = services.choose_site(site.as_deref()).await?;
            let (_, secret) = identity.api_key_create(&site.id, &name).await.map_err(sentence)?;
            Ok(json!({ "apiKey": secret.expose(), "siteId": site.id }))
        }
        Command::KeyList { site } => {
            let site = services.choose_site(site.as_deref()).await?;
            let keys = identity.api_key_list(&site.id).await.map_err(sentence)?;
            Ok(keys.into_iter().map(|it| json!({ "keyId": it.id, "name": it.name })).collect())
        }
        Command::SiteAutoIndex { site, is_on } => {
            let site = services.choose_site(site.as_deref()).await?;
            services.content.auto_index_set(&site, is_on).await.map_err(sentence)?;
            Ok(json!({ "autoIndex": services.content.auto_index_is_on(&site).await.map_err(sentence)? }))
        }
        Command::SiteCaptchaShow { site } => {
            captcha::show(services, &*services.choose_site(site.as_deref()).await?).await
        }
        Command::SiteCaptchaRemove { site } => {
            captcha::remove(services, &*services.choose_site(site.as_deref()).await?).await
        }
        Command::KeyRevoke { site, id } => {
            let site = services.choose_site(site.as_deref()).await?;
            identity.api_key_revoke(&site.id, &KeyId::from(id.as_str())).await.map_err(sentence)?;
            Ok(json!({ "revoked": id }))
        }
        Command::OwnerInvite { site, email, role } => {
            let site = services.choose_site(site.as_deref()).await?;
            let email = Email::parse(&email).ok_or_else(|| format!("{email} is not an email address"))?;
            let role = match role {
                RoleName::Owner => Role::Owner,
                RoleName::Editor => Role::Editor,
            };
            let url = services.url();
            let link =
                identity.invite_create(&site.id, Some(&email), role, INVITATION, &url).await.map_err(sentence)?;
            Ok(json!({ "setupUrl": link }))
        }
        Command::MemberList { site, pending, limit } => {
            mail::member_list(services, &*services.choose_site(site.as_deref()).await?, pending, limit).await
        }
        Command::MemberApprove { site, member } => {
            mail::member_approve(services, &*services.choose_site(site.as_deref()).await?, &member).await
        }
        Command::Audit { site, wanted } => {
            audit::list(services, &*services.choose_site(site.as_deref()).await?, wanted).await
        }
        Command::MailShow { site } => {
            let site = services.choose_site(site.as_deref()).await?;
            Ok(json!(identity.mail_setting(&site).await.map_err(sentence)?))
        }
        Command::MailSet { site, text } => {
            mail::set(services, &*services.choose_site(site.as_deref()).await?, &text).await
        }
        Command::MailPreview { site } => mail::preview(services, &*services.choose_site(site.as_deref()).await?).await,
        Command::MailFailures { site } => {
            mail::failures(services, &*services.choose_site(site.as_deref()).await?).await
        }
        Command::Import { .. }
        | Command::Export { .. }
        | Command::MemberImport { .. }
        | Command::SiteCaptchaSet { .. } => Err("not an administrative command".to_owned()),
    }
}

fn plain_command(verb: Verb) -> Result<Command, String> {
    Ok(match verb {
        Verb::Site(SiteVerb::Create { name, host_name }) => Command::SiteCreate { name, hosts: host_name },
        Verb::Site(SiteVerb::List) => Command::SiteList,
        Verb::Site(SiteVerb::AutoIndex { state, site }) => {
            let is_on = match state {
                AutoIndexState::On => Some(true),
                AutoIndexState::Off => Some(false),
                AutoIndexState::Default => None,
            };
            Command::SiteAutoIndex { site: site.site, is_on }
        }
        Verb::Site(SiteVerb::Captcha(CaptchaVerb::Show { site })) => Command::SiteCaptchaShow { site: site.site },
        Verb::Site(SiteVerb::Captcha(CaptchaVerb::Remove { site })) => Command::SiteCaptchaRemove { site: site.site },
        Verb::Client(ClientVerb::Create { name, redirect_uri, origin, secret, site }) => {
            Command::ClientCreate { site: site.site, name, redirect_uris: redirect_uri, origins: origin, secret }
        }
        Verb::Client(ClientVerb::List { site }) => Command::ClientList { site: site.site },
        Verb::Client(ClientVerb::Secret { id, site }) => Command::ClientSecret { site: site.site, id },
        Verb::Client(ClientVerb::Revoke { id, site }) => Command::ClientRevoke { site: site.site, id },
        Verb::Key(KeyVerb::Create { name, site }) => Command::KeyCreate { site: site.site, name },
        Verb::Key(KeyVerb::List { site }) => Command::KeyList { site: site.site },
        Verb::Key(KeyVerb::Revoke { id, site }) => Command::KeyRevoke { site: site.site, id },
        Verb::Owner(OwnerVerb::Invite { email, role, site }) => Command::OwnerInvite { site: site.site, email, role },
        Verb::Member(MemberVerb::List { pending, limit, site }) => {
            Command::MemberList { site: site.site, pending, limit }
        }
        Verb::Member(MemberVerb::Approve { member, site }) => Command::MemberApprove { site: site.site, member },
        Verb::Audit(it) => Command::Audit { site: it.site.site.clone(), wanted: it.try_into()? },
        Verb::Mail(MailVerb::Show { site }) => Command::MailShow { site: site.site },
        Verb::Mail(MailVerb::Set { file, site }) => Command::MailSet {
            site: site.site,
            text: std::io::read_to_string(open(&file)?).map_err(|it| it.to_string())?,
        },
        Verb::Mail(MailVerb::Failures { site }) => Command::MailFailures { site: site.site },
        Verb::Site(SiteVerb::Captcha(CaptchaVerb::Set(_)))
        | Verb::Mail(MailVerb::Preview { .. })
        | Verb::Member(MemberVerb::Import { .. })
        | Verb::Serve { .. }
        | Verb::Import(_)
        | Verb::Export(_)
        | Verb::Migrate
        | Verb::Check => {
            return Err("this command runs by itself".to_owned());
        }
    })
}

fn import_command(import: &Import) -> Command {
    let format = import.format.unwrap_or_else(|| format_of(&import.file));
    Command::Import { site: import.site.site.clone(), collection: import.collection.clone(), format }
}

/// Prints the counts. Items that failed make the command fail, so that a script sees it, and so do links that
/// lead to items which aren't there: what the file says isn't all in the site.
fn finish_import(value: &Value, as_json: bool) -> Result<(), String> {
    let (inserted, updated, failed) = (&value["inserted"], &value["updated"], &value["failed"]);
    let (known, links) = (value.get("known"), value.get("linked").zip(value.get("unlinked")));
    for error in value["errors"].as_array().into_iter().flatten() {
        eprintln!("{}", error.as_str().unwrap_or_default());
    }
    if as_json {
        let mut line = json!({ "inserted": inserted, "updated": updated, "failed": failed });
        for name in ["known", "linked", "unlinked"] {
            if let Some(count) = value.get(name) {
                line[name] = count.clone();
            }
        }
        println!("{line}");
    } else {
        let links = links.map(|(made, missing)| format!("; links: {made} made, {missing} without a target"));
        let changed = known.map_or(format!("{updated} updated"), |it| format!("{it} already there"));
        println!("{inserted} inserted, {changed}, {failed} failed{}", links.unwrap_or_default());
    }
    let unlinked = links.and_then(|it| it.1.as_u64()).unwrap_or_default();
    match (failed.as_u64(), unlinked) {
        (Some(0), 0) => Ok(()),
        (Some(0), _) => Err(format!("{unlinked} links lead to items that aren't there: import those, then this again")),
        (_, 0) => Err(format!("{failed} were not imported")),
        _ => Err(format!("{failed} were not imported, and {unlinked} links lead to items that aren't there")),
    }
}

fn migrate(config: &Config, as_json: bool) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(|it| it.to_string())?;
    let count = runtime.block_on(async {
        let services = Services::open(config).await.map_err(sentence)?;
        // Opening a site migrates its file.
        let sites = services.store.sites().await.map_err(sentence)?;
        for (id, _) in &sites {
            services.store.site(id).await.map_err(sentence)?;
        }
        services.store.close();
        Ok::<_, String>(sites.len())
    })?;
    print(&json!({ "sites": count, "state": "current" }), as_json);
    Ok(())
}

/// For people: one line a member; for scripts: one line of JSON.
fn print(value: &Value, as_json: bool) {
    match value {
        _ if as_json => println!("{value}"),
        Value::Array(rows) if rows.is_empty() => println!("none"),
        Value::Array(rows) => rows.iter().for_each(|row| println!("{}", line(row))),
        value => println!("{}", line(value)),
    }
}

fn line(row: &Value) -> String {
    let members = row.as_object().into_iter().flatten();
    let texts = members
        .map(|(key, value)| format!("{key} {}", value.as_str().map_or_else(|| value.to_string(), str::to_owned)));
    texts.collect::<Vec<_>>().join("  ")
}
