//! What a process has open: the store and what works on it.

use crate::config::Config;
use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::Duration,
};
use stoa_content::{AutoIndex, Content};
use stoa_http::Settings;
use stoa_identity::Identity;
use stoa_kernel::{Caller, Code, Fault, KeyId, Role, SiteId, World};
use stoa_outbound::{Mail, Mailer, OutboxFile, Smtp};
use stoa_store::{Site, Store};

/// Life of an invitation.
pub const INVITATION: Duration = Duration::from_secs(7 * 24 * 60 * 60);

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
            open_sites: config.open_sites,
        };
        let store = Arc::new(Store::open(&storage).await?);
        let mail: Arc<dyn Mailer> = match &config.smtp {
            Some(smtp) => {
                Arc::new(Smtp::new(smtp).map_err(|it| Fault::because(Code::Unavailable, format!("smtp: {it}")))?)
            }
            None => Arc::new(OutboxFile::open(&config.data)?),
        };
        let refused_passwords = config.refused_passwords.clone();
        let settings = stoa_identity::Config { refused_passwords, ..(&config.limits.identity).into() };
        let identity = Identity::open(store.clone(), world.clone(), mail, settings).await?;
        let auto_index = AutoIndex { is_on: config.auto_index, ..AutoIndex::default() };
        let limits = stoa_content::ContentLimits { auto_index, ..config.limits.content.clone() };
        let content = Content::new(world.clone(), limits);
        identity.set_ownership(Arc::new(content.clone()));
        content.keep_standing(identity.standing());
        let url = config.public_url.clone().unwrap_or_else(|| format!("http://localhost:{}", config.port));
        identity.url_set(&url);
        Ok(Self { store, world, identity, content, url: Arc::new(Mutex::new(url)) })
    }

    /// The state of the router.
    pub fn app(&self, config: &Config) -> stoa_http::App {
        stoa_http::App {
            store: self.store.clone(),
            world: self.world.clone(),
            identity: self.identity.clone(),
            content: self.content.clone(),
            settings: Arc::new(settings(config)),
            compressed: Arc::default(),
            traffic: Arc::default(),
        }
    }

    pub fn set_url(&self, url: &str) {
        self.identity.url_set(url);
        *self.url.lock().unwrap_or_else(|it| it.into_inner()) = url.to_owned();
    }

    pub fn url(&self) -> String {
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

    /// Keeps the link for the first owner where only the owner of the data directory reads it; answers the file.
    pub fn keep_owner_link(&self, data: &Path, link: &str) -> Result<PathBuf, String> {
        let outbox = OutboxFile::open(data).map_err(sentence)?;
        let mail = Mail {
            to: String::new(),
            subject: "The first owner of the site".to_owned(),
            text: format!("This link works once, for seven days, and sets the password of the site's owner:\n{link}\n"),
            html: String::new(),
            links: vec![link.to_owned()],
            code: None,
        };
        outbox.keep(&mail).map_err(sentence)?;
        Ok(outbox.path().to_owned())
    }
}

/// The settings of the HTTP layer that follow from the configuration.
fn settings(config: &Config) -> Settings {
    Settings {
        public_url: config.public_url.clone(),
        trusted_proxies: config.trusted_proxies.clone(),
        tls: config.tls.is_some(),
        limits: config.limits.http.clone(),
    }
}

/// The command line and the demo write as an app: it has full rights on the site.
pub fn operator() -> Caller {
    Caller::App { id: KeyId::from("command-line") }
}

/// What a person at the terminal reads of a fault: all that breaks rules, or its sentence. The terminal belongs to
/// who runs the server.
pub fn sentence(fault: Fault) -> String {
    let violations = fault.violations().iter().map(|it| format!("{}: {}", it.field, it.description));
    match fault.log() {
        _ if !fault.violations().is_empty() => violations.collect::<Vec<_>>().join("; "),
        Some(log) => format!("{} ({log})", fault.message()),
        None => fault.message().to_owned(),
    }
}
