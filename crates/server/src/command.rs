//! What commands do, whether they run here or inside a server that holds the data directory.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "this is what commands print")]

use crate::{
    cli::{ClientVerb, Export, Format, Import, KeyVerb, OwnerVerb, RoleName, SiteVerb, Verb},
    config::Config,
    remote,
    report::Report,
    serve, socket,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::{
    fs::File,
    io::Read,
    path::Path,
    sync::{Arc, Mutex},
    time::Duration,
};
use stoa_content::{Content, Limits, transfer};
use stoa_identity::{Identity, client::ClientDraft};
use stoa_kernel::{Caller, Email, Fault, KeyId, Role, SiteId, World};
use stoa_outbound::OutboxFile;
use stoa_store::{Site, Store};
use tokio::runtime::Handle;

/// Life of an invitation.
const INVITATION: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// One command as it travels to a running server.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Command {
    SiteCreate { name: String, hosts: Vec<String> },
    SiteList,
    ClientCreate { site: Option<String>, name: String, redirect_uris: Vec<String>, origins: Vec<String>, secret: bool },
    ClientList { site: Option<String> },
    KeyCreate { site: Option<String>, name: String },
    KeyList { site: Option<String> },
    KeyRevoke { site: Option<String>, id: String },
    OwnerInvite { site: Option<String>, email: String, role: RoleName },
    Import { site: Option<String>, collection: String, format: Format },
    Export { site: Option<String>, collection: String, format: Format },
}

/// Where a command's progress and text go.
pub trait Output {
    fn progress(&mut self, value: &Value);
    fn text(&mut self, text: &[u8]) -> std::io::Result<()>;
}

/// Everything a process has open.
#[derive(Clone)]
pub struct Services {
    pub store: Arc<Store>,
    pub world: World,
    pub identity: Identity,
    pub content: Content,
    /// What printed links begin with; a server sets it to the address it really has.
    url: Arc<Mutex<String>>,
}

impl Services {
    pub async fn open(config: &Config) -> Result<Self, Fault> {
        let world = World::real();
        let storage = stoa_store::Config {
            data: config.data.clone(),
            database_url: config.database_url.clone(),
            connections: config.database_connections,
        };
        let store = Arc::new(Store::open(&storage).await?);
        let mail = Arc::new(OutboxFile::open(&config.data)?);
        let identity = Identity::open(store.clone(), world.clone(), mail, stoa_identity::Config::default()).await?;
        let content = Content::new(world.clone(), Limits::default());
        let url = config.public_url.clone().unwrap_or_else(|| format!("http://localhost:{}", config.port));
        Ok(Self { store, world, identity, content, url: Arc::new(Mutex::new(url)) })
    }

    /// The state of the router.
    pub fn app(&self, config: &Config) -> stoa_http::App {
        stoa_http::App {
            store: self.store.clone(),
            world: self.world.clone(),
            identity: self.identity.clone(),
            content: self.content.clone(),
            settings: Arc::new(serve::settings(config)),
        }
    }

    pub fn set_url(&self, url: &str) {
        *self.url.lock().unwrap_or_else(|it| it.into_inner()) = url.to_owned();
    }

    fn url(&self) -> String {
        self.url.lock().unwrap_or_else(|it| it.into_inner()).clone()
    }

    /// The named site, or the only one.
    pub async fn choose_site(&self, named: Option<&str>) -> Result<Arc<Site>, String> {
        if let Some(id) = named {
            return self
                .store
                .site(&SiteId::from(id))
                .await
                .map_err(|_| format!("no site has the id {id}; see stoa site list"));
        }
        match self.store.sites().await.map_err(sentence)?.as_slice() {
            [(id, _)] => self.store.site(id).await.map_err(sentence),
            [] => Err("there is no site yet; make one with: stoa site create --name NAME".to_owned()),
            several => Err(format!("there are {} sites; say which with --site (see stoa site list)", several.len())),
        }
    }

    /// A link for the first owner, as long as the only site has none.
    pub async fn first_owner_link(&self) -> Result<Option<String>, String> {
        let sites = self.store.sites().await.map_err(sentence)?;
        let [(id, _)] = sites.as_slice() else { return Ok(None) };
        if self.identity.owner_count(id).await.map_err(sentence)? > 0 {
            return Ok(None);
        }
        self.identity.invite_create(id, None, Role::Owner, INVITATION, &self.url()).await.map(Some).map_err(sentence)
    }
}

/// Runs a command that was typed: in the running server when there is one, else here.
pub fn from_command_line(verb: Verb, config: &Config, as_json: bool) -> Result<(), String> {
    let mut report = Report::new(as_json);
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
        Verb::Export(Export { collection, format, site }) => {
            (Command::Export { site: site.site, collection, format }, None)
        }
        verb => (plain_command(verb)?, None),
    };
    let (is_import, is_export) = (matches!(command, Command::Import { .. }), matches!(command, Command::Export { .. }));
    let result = match socket::connect(&config.data) {
        Some(stream) => socket::call(stream, &command, input, &mut report),
        None => run_here(config, command, input, &mut report),
    };
    report.end();
    let value = result?;
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
            import(services, runtime, &site, &collection, format, input, output)
        }
        Command::Export { site, collection, format } => {
            let site = runtime.block_on(services.choose_site(site.as_deref()))?;
            export(services, runtime, &site, &collection, format, output)
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
            let draft = ClientDraft { name, redirect_uris, origins, with_secret: secret };
            let (client, secret) = identity.client_create(&site.id, draft).await.map_err(sentence)?;
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
        Command::Import { .. } | Command::Export { .. } => Err("not an administrative command".to_owned()),
    }
}

/// Reads items into a collection, telling progress at most once a second.
pub fn import(
    services: &Services,
    runtime: &Handle,
    site: &Site,
    collection: &str,
    format: Format,
    input: Box<dyn Read + Send>,
    output: &mut dyn Output,
) -> Result<Value, String> {
    let mut errors = Errors::default();
    let mut pace = Pace::default();
    let tell = |event: transfer::Event<'_>| match event {
        transfer::Event::Progress(counts) if pace.is_due() => {
            let done = counts.inserted + counts.updated + counts.failed;
            output.progress(&json!({ "done": done, "inserted": counts.inserted, "updated": counts.updated, "failed": counts.failed }));
        }
        transfer::Event::Progress(_) => {}
        transfer::Event::Refused { line, fault } => errors.push(line, fault),
    };
    let operator = operator();
    let work = services.content.import(site, &operator, collection, format.into(), input, tell);
    let counts = runtime.block_on(work).map_err(sentence)?;
    Ok(json!({ "inserted": counts.inserted, "updated": counts.updated, "failed": counts.failed, "errors": errors.0 }))
}

fn export(
    services: &Services,
    runtime: &Handle,
    site: &Site,
    collection: &str,
    format: Format,
    output: &mut dyn Output,
) -> Result<Value, String> {
    let (pieces, texts) = std::sync::mpsc::sync_channel::<Vec<u8>>(8);
    let (services, site_id, name) = (services.clone(), site.id.clone(), collection.to_owned());
    let work = runtime.spawn(async move {
        let site = services.store.site(&site_id).await?;
        let mut out = std::io::BufWriter::with_capacity(1 << 16, Pieces(pieces));
        services.content.export(&site, &operator(), &name, format.into(), &mut out, |_| {}).await
    });
    for text in texts {
        output.text(&text).map_err(|it| format!("the output can't be written: {it}"))?;
    }
    let count = runtime.block_on(work).map_err(|it| it.to_string())?.map_err(sentence)?;
    Ok(json!({ "exported": count }))
}

/// Exported text on its way from the reading task to the writer.
struct Pieces(std::sync::mpsc::SyncSender<Vec<u8>>);

impl std::io::Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.send(bytes.to_vec()).map_err(|_| std::io::Error::from(std::io::ErrorKind::BrokenPipe))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The first refused items, in words; the rest are only counted.
#[derive(Default)]
pub struct Errors(pub Vec<String>);

impl Errors {
    const MOST: usize = 20;

    pub fn push(&mut self, line: u64, fault: &Fault) {
        if self.0.len() < Self::MOST {
            self.0.push(format!("line {line}: {} ({})", fault.message(), fault.code().name()));
        }
    }
}

/// Once a second is often enough to tell.
#[derive(Default)]
pub struct Pace(Option<std::time::Instant>);

impl Pace {
    #[expect(clippy::disallowed_methods, reason = "the pace of a progress display")]
    pub fn is_due(&mut self) -> bool {
        let now = std::time::Instant::now();
        let is_due = self.0.is_none_or(|it| now.duration_since(it).as_millis() >= 1000);
        if is_due {
            self.0 = Some(now);
        }
        is_due
    }
}

impl From<Format> for transfer::Format {
    fn from(format: Format) -> Self {
        match format {
            Format::Jsonl => Self::JsonLines,
            Format::Json => Self::Json,
            Format::Csv => Self::Csv,
        }
    }
}

/// The command line and the demo write as an app: it has full rights on the site.
pub fn operator() -> Caller {
    Caller::App { id: KeyId::from("command-line") }
}

fn plain_command(verb: Verb) -> Result<Command, String> {
    Ok(match verb {
        Verb::Site(SiteVerb::Create { name, host }) => Command::SiteCreate { name, hosts: host },
        Verb::Site(SiteVerb::List) => Command::SiteList,
        Verb::Client(ClientVerb::Create { name, redirect_uri, origin, secret, site }) => {
            Command::ClientCreate { site: site.site, name, redirect_uris: redirect_uri, origins: origin, secret }
        }
        Verb::Client(ClientVerb::List { site }) => Command::ClientList { site: site.site },
        Verb::Key(KeyVerb::Create { name, site }) => Command::KeyCreate { site: site.site, name },
        Verb::Key(KeyVerb::List { site }) => Command::KeyList { site: site.site },
        Verb::Key(KeyVerb::Revoke { id, site }) => Command::KeyRevoke { site: site.site, id },
        Verb::Owner(OwnerVerb::Invite { email, role, site }) => Command::OwnerInvite { site: site.site, email, role },
        Verb::Serve { .. } | Verb::Import(_) | Verb::Export(_) | Verb::Migrate | Verb::Check => {
            return Err("this command runs by itself".to_owned());
        }
    })
}

fn import_command(it: &Import) -> Command {
    let format = it.format.unwrap_or_else(|| format_of(&it.file));
    Command::Import { site: it.site.site.clone(), collection: it.collection.clone(), format }
}

/// The format that a file's ending names.
pub fn format_of(file: &Path) -> Format {
    match file.extension().and_then(|it| it.to_str()) {
        Some("json") => Format::Json,
        Some("csv") => Format::Csv,
        _ => Format::Jsonl,
    }
}

/// Opens what is to be imported; `-` is standard input.
pub fn open(file: &Path) -> Result<Box<dyn Read + Send>, String> {
    if file.as_os_str() == "-" {
        return Ok(Box::new(std::io::stdin()));
    }
    let opened = File::open(file).map_err(|it| format!("{}: {it}", file.display()))?;
    Ok(Box::new(std::io::BufReader::with_capacity(1 << 16, opened)))
}

/// Prints the counts. Lines that failed make the command fail, so that a script sees it.
fn finish_import(value: &Value, as_json: bool) -> Result<(), String> {
    let (inserted, updated, failed) = (&value["inserted"], &value["updated"], &value["failed"]);
    for error in value["errors"].as_array().into_iter().flatten() {
        eprintln!("{}", error.as_str().unwrap_or_default());
    }
    if as_json {
        println!("{}", json!({ "inserted": inserted, "updated": updated, "failed": failed }));
    } else {
        println!("{inserted} inserted, {updated} updated, {failed} failed");
    }
    match failed.as_u64() {
        Some(0) => Ok(()),
        _ => Err(format!("{failed} items were not imported")),
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

/// What a person at the terminal reads of a fault; the terminal belongs to who runs the server.
pub fn sentence(fault: Fault) -> String {
    match fault.log() {
        Some(log) => format!("{} ({log})", fault.message()),
        None => fault.message().to_owned(),
    }
}
