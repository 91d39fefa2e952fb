//! What a process has open: the store and what works on it.

pub use crate::failure::sentence;

use crate::{
    cli::{ContentChoice, EnvironmentName},
    config::Config,
    failure::Failure,
};
use serde_json::{Value, json};
use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::Duration,
};
use stoa_content::{AutoIndex, Content};
use stoa_hooks::{Host, HostProgram};
use stoa_http::{Settings, metrics::Metrics};
use stoa_identity::Identity;
use stoa_kernel::{Caller, Code, Fault, KeyId, Role, World, nearest::hint};
use stoa_outbound::{Mail, Mailer, OutboxFile, Reach, Smtp};
use stoa_realtime::Realtime;
use stoa_store::{Consumers, Site, SiteRecord, Store, outbox::LeaseTimes};
use stoa_webhooks::{Parts, Times, Webhooks};

/// Life of an invitation.
pub const INVITATION: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Everything a process has open.
#[derive(Clone)]
pub struct Services {
    pub store: Arc<Store>,
    pub world: World,
    pub identity: Identity,
    pub content: Content,
    /// What runs the code of sites.
    pub hooks: Host,
    pub realtime: Realtime,
    pub webhooks: Webhooks,
    /// The consumers of logs that this process works for.
    pub consumers: Consumers,
    /// Those that keep indexes of words. Each site has one, and a process works for so many at a time: these take no
    /// place from the others.
    pub indexers: Consumers,
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
        let settings = stoa_identity::Config {
            refused_passwords: config.refused_passwords.clone(),
            leaked_passwords_url: config.leaked_passwords_url.clone(),
            telephone: config.telephone.clone(),
            places: config.places.clone(),
            ..(&config.limits.identity).into()
        };
        let reach = Reach::new(&config.reach, world.clone());
        let reach = reach.map_err(|it| Fault::because(Code::Unavailable, format!("reach: {it}")))?;
        let identity = Identity::open(store.clone(), world.clone(), mail, reach.clone(), settings).await?;
        let auto_index = AutoIndex { is_on: config.auto_index, ..AutoIndex::default() };
        let limits = stoa_content::ContentLimits { auto_index, ..config.limits.content.clone() };
        let content = Content::new(world.clone(), limits);
        identity.set_ownership(Arc::new(content.clone()));
        content.keep_standing(identity.standing());
        content.hear(&store).await?;
        let program = HostProgram::this_program(&["hook-host"]);
        let program = program.map_err(|it| Fault::because(Code::Unavailable, format!("hooks: {it}")))?;
        let hooks = Host::new(config.limits.hooks.clone(), program);
        content.keep_hooks(hooks.clone());
        let realtime = Realtime::new(store.clone(), content.clone(), world.clone(), config.limits.realtime.clone());
        let url = config.public_url.clone().unwrap_or_else(|| format!("http://127.0.0.1:{}", config.port));
        identity.url_set(&url);
        let [consumers, indexers] =
            [(); 2].map(|()| Consumers::new(store.clone(), world.clone(), LeaseTimes::default()));
        let webhooks = Webhooks::new(Parts {
            content: content.clone(),
            identity: identity.clone(),
            reach,
            consumers: consumers.clone(),
            world: world.clone(),
            limits: config.limits.webhooks.clone(),
            times: Times::default(),
        });
        hooks.keep_plugins(webhooks.plugins());
        let url = Arc::new(Mutex::new(url));
        Ok(Self { store, world, identity, content, hooks, realtime, webhooks, consumers, indexers, url })
    }

    /// The state of the router.
    pub fn app(&self, config: &Config) -> stoa_http::App {
        stoa_http::App {
            store: self.store.clone(),
            world: self.world.clone(),
            identity: self.identity.clone(),
            content: self.content.clone(),
            realtime: self.realtime.clone(),
            webhooks: self.webhooks.clone(),
            waiting: Arc::default(),
            graphql: Arc::new(stoa_http::Graphql::new(stoa_http::GraphqlLimits {
                introspection: config.graphql_introspection,
                ..config.limits.graphql.clone()
            })),
            settings: Arc::new(settings(config)),
            traffic: Arc::default(),
            metrics: Arc::new(if config.metrics.is_some() { Metrics::watched() } else { Metrics::default() }),
            exchanges: None,
        }
    }

    /// Lets go of what this process holds and others wait for, then of the data.
    pub async fn close(&self) {
        self.consumers.leave().await;
        self.indexers.leave().await;
        self.hooks.shutdown().await;
        self.write_hook_logs().await;
        self.store.leave().await;
        self.store.close();
    }

    /// Writes down what hooks said and how they failed.
    pub async fn write_hook_logs(&self) {
        for site in self.store.open_sites() {
            if let Err(fault) = self.content.hook_log_write(&site).await {
                tracing::warn!(site = %site.id, "what hooks said could not be written: {fault:?}");
            }
        }
        self.content.hook_log_drop();
    }

    pub fn set_url(&self, url: &str) {
        self.identity.url_set(url);
        *self.url.lock().unwrap_or_else(|it| it.into_inner()) = url.to_owned();
    }

    pub fn url(&self) -> String {
        self.url.lock().unwrap_or_else(|it| it.into_inner()).clone()
    }

    /// The site that a command is about, opened.
    ///
    /// # Errors
    /// As [`choose`].
    pub async fn choose_site(&self, named: Option<&str>) -> Result<Arc<Site>, Failure> {
        Ok(self.store.site(&self.choose(named).await?.id).await?)
    }

    /// The site that holds what a command on content is about: the site itself, or its SANDBOX.
    ///
    /// # Errors
    /// As [`choose`]; WDE0179 where there is no SANDBOX.
    pub async fn choose_content(&self, choice: &ContentChoice) -> Result<Arc<Site>, Failure> {
        let site = self.choose_site(choice.site.site.as_deref()).await?;
        if choice.environment != Some(EnvironmentName::Sandbox) {
            return Ok(site);
        }
        let text = "the site has no sandbox; make one with: stoa environments create";
        self.store.sandbox(&site).await?.ok_or_else(|| Failure::new(Code::SandboxDisabled, text))
    }

    /// The site that a command is about.
    ///
    /// # Errors
    /// As [`choose`].
    pub async fn choose(&self, named: Option<&str>) -> Result<SiteRecord, Failure> {
        choose(self.store.site_list(false).await?, named)
    }

    /// A link for the first owner, as long as the site that commands are about has none.
    pub async fn first_owner_link(&self) -> Result<Option<String>, String> {
        let Ok(site) = choose(self.store.site_list(false).await.map_err(sentence)?, None) else { return Ok(None) };
        if self.identity.owner_count(&site.id).await.map_err(sentence)? > 0 {
            return Ok(None);
        }
        let link = self.identity.invite_create(&site.id, None, Role::Owner, INVITATION, &self.url()).await;
        link.map(Some).map_err(sentence)
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

/// The site that is meant: by its id, its name or the one id that begins so. Where none is named the question is open
/// only if several could be: the default is meant, else the only one, else the only one beside the demo.
///
/// # Errors
/// A failure that lists those that could be meant.
pub fn choose(sites: Vec<SiteRecord>, named: Option<&str>) -> Result<SiteRecord, Failure> {
    let Some(named) = named else {
        if sites.is_empty() {
            return Err(Failure::new(
                Code::SiteUnknown,
                "there is no site yet; make one with: stoa site create --name NAME",
            ));
        }
        let is_alone = sites.len() == 1;
        let own = sites.iter().filter(|it| !it.is_demo).count();
        let is_meant = |it: &&SiteRecord| it.is_default || is_alone || own == 1 && !it.is_demo;
        let meant = sites.iter().find(|it| it.is_default).or_else(|| sites.iter().find(is_meant));
        return meant.cloned().ok_or_else(|| open_question("several sites are here; say which with --site", &sites));
    };
    let ways: [&dyn Fn(&SiteRecord) -> bool; 4] = [
        &|it| it.id.as_str() == named,
        &|it| it.name == named,
        &|it| it.name.to_lowercase() == named.to_lowercase(),
        &|it| !named.is_empty() && it.id.as_str().starts_with(named),
    ];
    for way in ways {
        let found: Vec<SiteRecord> = sites.iter().filter(|it| way(it)).cloned().collect();
        match found.as_slice() {
            [] => {}
            [one] => return Ok(one.clone()),
            several => return Err(open_question(&format!("several sites could be meant by {named}"), several)),
        }
    }
    let hint = hint(named, sites.iter().map(|it| it.name.as_str()));
    Err(Failure::new(Code::SiteUnknown, format!("no site is called {named}, and no id begins so{hint}")))
}

/// Lists the sites that could be meant.
fn open_question(text: &str, sites: &[SiteRecord]) -> Failure {
    let line = |it: &SiteRecord| format!("\n{}  {}", it.id.as_str(), it.name.replace(char::is_control, "\u{fffd}"));
    let list: String = sites.iter().map(line).collect();
    let candidates = sites.iter().map(|it| json!({ "siteId": it.id, "name": it.name })).collect::<Value>();
    Failure::usage(format!("{text}:{list}")).with("candidates", candidates)
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

#[cfg(test)]
mod tests {
    use super::*;
    use stoa_kernel::SiteId;

    fn site(id: &str, name: &str) -> SiteRecord {
        SiteRecord {
            id: SiteId::from(id),
            name: name.to_owned(),
            hosts: Vec::new(),
            created: 0,
            deleted: None,
            is_default: false,
            is_demo: false,
            has_sandbox: false,
        }
    }

    fn chosen(sites: &[SiteRecord], named: Option<&str>) -> Result<String, String> {
        choose(sites.to_vec(), named).map(|it| it.id.as_str().to_owned()).map_err(|it| it.message)
    }

    #[test]
    fn site_is_asked_for_only_where_the_question_is_open() {
        let demo = SiteRecord { is_demo: true, ..site("d1", "Atlas") };
        let (mine, yours) = (site("m1", "Mine"), site("y1", "Yours"));
        assert_eq!(chosen(std::slice::from_ref(&demo), None), Ok("d1".to_owned()));
        assert_eq!(chosen(&[demo.clone(), mine.clone()], None), Ok("m1".to_owned()), "the demo is no one's own");
        let open = chosen(&[demo.clone(), mine.clone(), yours.clone()], None).unwrap_err();
        assert!(open.contains("--site") && open.contains("m1  Mine") && open.contains("d1  Atlas"), "{open}");
        let default = SiteRecord { is_default: true, ..yours };
        assert_eq!(chosen(&[demo, mine, default], None), Ok("y1".to_owned()));
        assert!(chosen(&[], None).unwrap_err().contains("stoa site create"));
    }

    #[test]
    fn site_is_named_by_its_name_or_the_beginning_of_its_id() {
        let sites = [site("1f0c", "Mine"), site("1f9a", "Yours"), site("2b", "1f0c"), site("3c", "Yours")];
        for (named, id) in [("1f0c", "1f0c"), ("1f0", "1f0c"), ("mine", "1f0c"), ("2", "2b"), ("Mine", "1f0c")] {
            assert_eq!(chosen(&sites, Some(named)), Ok(id.to_owned()), "{named}");
        }
        for (named, says) in
            [("1f", "1f9a  Yours"), ("Yours", "3c  Yours"), ("Myne", "did you mean Mine?"), ("", "no site")]
        {
            assert!(chosen(&sites, Some(named)).is_err_and(|it| it.contains(says)), "{named}");
        }
    }
}
