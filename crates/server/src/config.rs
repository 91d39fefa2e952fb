//! Every configuration key on one page.
//!
//! A key has one name in three places: `stoa.toml` (`public_url = "…"`), the environment
//! (`STOA_PUBLIC_URL`) and a flag (`--public-url`). Keys of mail, of telephones and of the way out are in tables of the file
//! (`[smtp]`, `host = "…"`), and have its name before theirs elsewhere (`STOA_SMTP_HOST`, `--smtp-host`). A flag
//! beats the environment, which beats the file, which beats the default. What was written is [`Options`]; what it
//! means is [`Config`]. Flags are those of `stoa serve`; other commands take only the two that say where the data are
//! ([`Storage`]), and read the rest from the environment and the file.
//!
//! Limits are in two tables more ([`limits`]), which have no flags: sixty of them would bury the others in
//! `--help` (decision 15).

mod file;
mod limits;
mod reach;
mod telephone;

pub use limits::ServerLimits;
pub use reach::ReachOptions;
pub use telephone::TelephoneOptions;

use clap::{Args, FromArgMatches, ValueEnum};
use file::Keys;
use ipnet::IpNet;
use limits::Table;
use serde::Deserialize;
use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    time::Duration,
};
use stoa_identity::{password::PasswordList, session::Places, telephone::TelephoneConfig};
use stoa_kernel::{Secret, World};
use stoa_outbound::{HashRangeLimits, HashRanges, Reach, ReachConfig, Security, SmtpConfig};

/// Where the data are: what every command takes.
#[derive(Debug, Clone, Default, Args)]
pub struct Storage {
    /// Directory of the data: SQLite files, lock, socket, outbox [default: ./data]
    #[arg(long, env = "STOA_DATA", global = true, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Use PostgreSQL instead of SQLite files: postgres://user:password@host/database
    #[arg(long, env = "STOA_DATABASE_URL", global = true, hide_env_values = true, value_name = "URL")]
    pub database_url: Option<String>,
}

/// The keys as they were written; nothing is required.
#[derive(Debug, Clone, Default, Args, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[command(next_help_heading = "Configuration (also in stoa.toml and as STOA_… variables)")]
pub struct Options {
    #[arg(skip)]
    pub data: Option<PathBuf>,
    #[arg(skip)]
    pub database_url: Option<String>,
    /// Connections to PostgreSQL [default: 16]
    #[arg(long, env = "STOA_DATABASE_CONNECTIONS", value_name = "N")]
    pub database_connections: Option<usize>,
    /// Sites that stay open when nobody uses them [default: 256]
    #[arg(long, env = "STOA_OPEN_SITES", value_name = "N")]
    pub open_sites: Option<usize>,
    /// Address to listen on [default: 127.0.0.1]
    #[arg(long, env = "STOA_HOST", value_name = "ADDRESS")]
    pub host: Option<IpAddr>,
    /// Port to listen on, 0 for any free one [default: 4400]
    #[arg(long, env = "STOA_PORT", value_name = "N")]
    pub port: Option<u16>,
    /// What links, cookies and the token issuer are made from; needed for names beyond loopback
    #[arg(long, env = "STOA_PUBLIC_URL", value_name = "URL")]
    pub public_url: Option<String>,
    /// Proxies whose X-Forwarded-* headers are believed, as CIDR; may be given several times
    #[arg(long, env = "STOA_TRUSTED_PROXY", value_delimiter = ',', num_args = 1.., value_name = "CIDR")]
    pub trusted_proxy: Vec<IpNet>,
    /// Certificate chain (PEM); together with --tls-key the server speaks HTTPS
    #[arg(long, env = "STOA_TLS_CERT", value_name = "FILE")]
    pub tls_cert: Option<PathBuf>,
    /// Private key of the certificate (PEM)
    #[arg(long, env = "STOA_TLS_KEY", value_name = "FILE")]
    pub tls_key: Option<PathBuf>,
    /// Whether the server makes missing indexes by itself, on sites that don't say otherwise [default: true]
    #[arg(long, env = "STOA_AUTO_INDEX", value_name = "BOOL")]
    pub auto_index: Option<bool>,
    /// Whether everybody may ask for the schema of GraphQL, and not owners, editors and apps alone [default: false]
    #[arg(long, env = "STOA_GRAPHQL_INTROSPECTION", value_name = "BOOL")]
    pub graphql_introspection: Option<bool>,
    #[command(flatten)]
    pub smtp: SmtpOptions,
    #[command(flatten)]
    pub reach: ReachOptions,
    #[command(flatten)]
    pub telephone: TelephoneOptions,
    /// Serve others than this machine without a mail server: messages stay in DIR/outbox/mail.jsonl
    #[arg(long, env = "STOA_OUTBOX_ONLY")]
    pub outbox_only: bool,
    /// Passwords to refuse beside the common ones, one a line
    #[arg(long, env = "STOA_PASSWORD_LIST", value_name = "FILE")]
    pub password_list: Option<PathBuf>,
    /// File in the MaxMind DB format that tells in which city or country network addresses are
    #[arg(long, env = "STOA_PLACE_DATABASE", value_name = "FILE")]
    pub place_database: Option<PathBuf>,
    /// Service of leaked passwords to ask about new ones, for example https://api.pwnedpasswords.com/range
    #[arg(long, env = "STOA_LEAKED_PASSWORDS_URL", value_name = "URL")]
    pub leaked_passwords_url: Option<String>,
    /// Address and port at which GET /metrics answers, for example 127.0.0.1:9464; it asks for no password
    #[arg(long, env = "STOA_METRICS", value_name = "ADDRESS")]
    pub metrics: Option<SocketAddr>,
    /// What to log, for example `info` or `warn,stoa_http=debug` [default: info]
    #[arg(long, env = "STOA_LOG", value_name = "FILTER")]
    pub log: Option<String>,
    /// Log as JSON lines
    #[arg(long, env = "STOA_LOG_JSON")]
    pub log_json: bool,
    /// For tests of the program: directory into which whole requests and answers are written, passwords included
    #[arg(long, env = "STOA_TEST_TRAFFIC", value_name = "DIR", hide = true)]
    pub test_traffic: Option<PathBuf>,
    #[arg(skip)]
    limits: Table,
    #[arg(skip)]
    identity: Table,
}

/// The keys of mail. Without a host every message is kept in DIR/outbox/mail.jsonl.
#[derive(Debug, Clone, Default, Args, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SmtpOptions {
    /// Mail server; without one messages are kept in DIR/outbox/mail.jsonl and not sent
    #[arg(id = "smtp_host", long = "smtp-host", env = "STOA_SMTP_HOST", value_name = "NAME")]
    pub host: Option<String>,
    /// Port of the mail server [default: 465, 587 with starttls, 25 with none]
    #[arg(id = "smtp_port", long = "smtp-port", env = "STOA_SMTP_PORT", value_name = "N")]
    pub port: Option<u16>,
    /// TLS from the start, after STARTTLS, or none (only to this machine) [default: tls]
    #[arg(id = "smtp_security", long = "smtp-security", env = "STOA_SMTP_SECURITY", value_enum)]
    pub security: Option<SmtpSecurity>,
    /// User at the mail server; needs a password
    #[arg(id = "smtp_user", long = "smtp-user", env = "STOA_SMTP_USER", value_name = "NAME")]
    pub user: Option<String>,
    /// Password at the mail server; better in the file or the environment than on the command line
    #[arg(id = "smtp_password", long = "smtp-password", env = "STOA_SMTP_PASSWORD", hide_env_values = true)]
    pub password: Option<String>,
    /// Sender: no-reply@example.org, or with a name that is used for every site: Name <no-reply@example.org>
    #[arg(id = "smtp_from", long = "smtp-from", env = "STOA_SMTP_FROM", value_name = "ADDRESS")]
    pub from: Option<String>,
    /// Seconds to wait for a connection and for each answer [default: 15]
    #[arg(id = "smtp_timeout", long = "smtp-timeout", env = "STOA_SMTP_TIMEOUT", value_name = "N")]
    pub timeout: Option<u64>,
    /// Connections to the mail server at the same time [default: 4]
    #[arg(id = "smtp_connections", long = "smtp-connections", env = "STOA_SMTP_CONNECTIONS", value_name = "N")]
    pub connections: Option<u32>,
    /// Certificate authority (PEM) to trust beside the public ones
    #[arg(id = "smtp_ca", long = "smtp-ca", env = "STOA_SMTP_CA", value_name = "FILE")]
    pub ca: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SmtpSecurity {
    Tls,
    Starttls,
    None,
}

/// The keys as they are meant.
#[derive(Debug, Clone)]
pub struct Config {
    pub data: PathBuf,
    pub database_url: Option<String>,
    pub database_connections: usize,
    pub open_sites: usize,
    pub host: IpAddr,
    pub port: u16,
    pub public_url: Option<String>,
    pub trusted_proxies: Vec<IpNet>,
    pub tls: Option<Tls>,
    pub auto_index: bool,
    pub graphql_introspection: bool,
    pub smtp: Option<SmtpConfig>,
    pub reach: ReachConfig,
    pub telephone: Option<TelephoneConfig>,
    pub outbox_only: bool,
    pub refused_passwords: PasswordList,
    pub place_database: Option<PathBuf>,
    /// What [`Loaded::with_places`] has read.
    pub places: Option<Places>,
    pub leaked_passwords_url: Option<String>,
    pub metrics: Option<SocketAddr>,
    pub log: String,
    pub log_json: bool,
    pub test_traffic: Option<PathBuf>,
    pub limits: ServerLimits,
}

#[derive(Debug, Clone)]
pub struct Tls {
    pub cert: PathBuf,
    pub key: PathBuf,
}

/// A configuration, and all that is wrong with what was written: keys that can't be meant have their default.
pub struct Loaded {
    pub config: Config,
    /// Sentences that name the key, what is wrong with it and where it stands.
    pub mistakes: Vec<String>,
}

impl Loaded {
    /// Reads the file of places, for what serves or looks at it: other commands tell nobody's place.
    pub fn with_places(mut self) -> Self {
        self.config.places = places(self.config.place_database.as_deref(), &mut self.mistakes);
        self
    }

    /// The configuration, if all of it can be meant.
    pub fn checked(self) -> Result<Config, String> {
        if self.mistakes.is_empty() { Ok(self.config) } else { Err(self.mistakes.join("\n")) }
    }
}

impl Config {
    /// Reads `file` (by default `stoa.toml`, if it is there), the environment and what was typed. Without `flags`
    /// the environment is read alone.
    pub fn load(file: Option<&Path>, storage: Storage, flags: Option<Options>) -> Loaded {
        let mut mistakes = Vec::new();
        let written = match file {
            Some(path) => file::read(path, &mut mistakes),
            None if Path::new("stoa.toml").exists() => file::read(Path::new("stoa.toml"), &mut mistakes),
            None => Options::default(),
        };
        let (limits, identity) = limits::of_environment(&mut mistakes);
        let environment = Options { limits, identity, ..Options::default() };
        let typed = flags.unwrap_or_else(|| Options::of_environment(&mut mistakes));
        let typed = Options { data: storage.data, database_url: storage.database_url, ..typed };
        let config = Self::from_options(typed.over(environment).over(written), &mut mistakes);
        Loaded { config, mistakes }
    }

    fn from_options(options: Options, mistakes: &mut Vec<String>) -> Self {
        let tls = match (options.tls_cert, options.tls_key) {
            (Some(cert), Some(key)) => Some(Tls { cert, key }),
            (None, None) => None,
            (Some(_), None) => {
                mistakes.push("tls_cert is set without tls_key".to_owned());
                None
            }
            (None, Some(_)) => {
                mistakes.push("tls_key is set without tls_cert".to_owned());
                None
            }
        };
        if let Some(url) = &options.database_url
            && !(url.starts_with("postgres://") || url.starts_with("postgresql://"))
        {
            mistakes.push("database_url must begin with postgres://".to_owned());
        }
        let mut at_least_one = |name: &str, value: Option<usize>, default: usize| {
            if value == Some(0) {
                mistakes.push(format!("{name} must be at least 1"));
            }
            value.unwrap_or(default)
        };
        let database_connections = at_least_one("database_connections", options.database_connections, 16);
        let open_sites = at_least_one("open_sites", options.open_sites, stoa_store::Config::OPEN_SITES);
        let mut noted = |result: Result<String, String>| result.map_err(|it| mistakes.push(it)).ok();
        let public_url = options.public_url.and_then(|it| noted(public_url(&it)));
        let host = options.host.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
        // Behind a proxy on this machine a server listens on loopback too, and strangers reach it.
        let is_alone =
            host.is_loopback() && options.trusted_proxy.is_empty() && public_url.as_deref().is_none_or(is_here);
        if options.test_traffic.is_some() && !(host.is_loopback() && options.trusted_proxy.is_empty()) {
            let text = "test_traffic writes down passwords and tokens: it is for tests on this machine alone, \
                        with neither a host that others reach nor a trusted_proxy";
            mistakes.push(text.to_owned());
        }
        let reach = options.reach.meant(is_alone, mistakes);
        let leaked_passwords_url = leaked_passwords_url(options.leaked_passwords_url, &reach, mistakes);
        let telephone = options.telephone.meant(&reach, mistakes);
        Self {
            data: options.data.unwrap_or_else(|| PathBuf::from("data")),
            database_url: options.database_url,
            database_connections,
            open_sites,
            host,
            port: options.port.unwrap_or(4400),
            public_url,
            trusted_proxies: options.trusted_proxy,
            tls,
            auto_index: options.auto_index.unwrap_or(true),
            graphql_introspection: options.graphql_introspection.unwrap_or(false),
            smtp: smtp(options.smtp, mistakes),
            reach,
            telephone,
            outbox_only: options.outbox_only,
            refused_passwords: refused_passwords(options.password_list, mistakes),
            place_database: options.place_database,
            places: None,
            leaked_passwords_url,
            metrics: options.metrics,
            log: options.log.unwrap_or_else(|| "info".to_owned()),
            log_json: options.log_json,
            test_traffic: options.test_traffic,
            limits: ServerLimits::read(&options.limits, &options.identity, mistakes),
        }
    }
}

impl Config {
    /// What people are sent must reach them where others than this machine are served.
    ///
    /// # Errors
    /// A sentence that names the keys.
    pub fn require_mail(&self) -> Result<(), String> {
        let is_public = !self.host.is_loopback() || self.public_url.as_deref().is_some_and(|it| !is_here(it));
        if !is_public || self.smtp.is_some() || self.outbox_only {
            return Ok(());
        }
        let file = self.data.join("outbox").join("mail.jsonl");
        Err(format!(
            "others than this machine are served, but no mail server is set, so codes and links would reach no one; \
             set smtp.host, or --outbox-only if you pass on what is kept in {}",
            file.display()
        ))
    }

    /// The same for a server that starts: one that listens beyond this machine is refused; behind a proxy, where the
    /// public address is only a name, it is told.
    ///
    /// # Errors
    /// As [`Config::require_mail`].
    pub fn check_mail(&self) -> Result<(), String> {
        match self.require_mail() {
            Err(text) if self.host.is_loopback() => {
                tracing::warn!("{text}");
                Ok(())
            }
            checked => checked,
        }
    }
}

impl Options {
    /// The keys that have variables, each read for itself: one that can't be meant hides no other.
    fn of_environment(mistakes: &mut Vec<String>) -> Self {
        let command = || Self::augment_args(clap::Command::new("stoa").no_binary_name(true));
        let nothing = std::iter::empty::<&str>;
        let before = mistakes.len();
        for argument in command().get_arguments() {
            let alone = clap::Command::new("stoa").no_binary_name(true).arg(argument.clone());
            if let Err(error) = alone.try_get_matches_from(nothing()) {
                let variable = argument.get_env().unwrap_or_default().to_string_lossy().into_owned();
                let text = error.to_string();
                let line = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
                mistakes.push(format!("{variable}: {line}"));
            }
        }
        if mistakes.len() > before {
            return Self::default();
        }
        let read = command().try_get_matches_from(nothing()).and_then(|it| Self::from_arg_matches(&it));
        read.unwrap_or_else(|error| {
            mistakes.push(error.to_string());
            Self::default()
        })
    }
}

impl Keys for Options {
    fn keys() -> Vec<String> {
        let command = Self::augment_args(clap::Command::new("stoa"));
        let name = |id: &str| match id.split_once('_') {
            Some((table @ ("smtp" | "reach" | "telephone"), key)) => format!("{table}.{key}"),
            _ => id.to_owned(),
        };
        let has_flag = command.get_arguments().map(|it| name(it.get_id().as_str()));
        has_flag.chain(["data", "database_url"].map(str::to_owned)).collect()
    }

    fn over(self, file: Self) -> Self {
        Self {
            data: self.data.or(file.data),
            database_url: self.database_url.or(file.database_url),
            database_connections: self.database_connections.or(file.database_connections),
            open_sites: self.open_sites.or(file.open_sites),
            host: self.host.or(file.host),
            port: self.port.or(file.port),
            public_url: self.public_url.or(file.public_url),
            trusted_proxy: if self.trusted_proxy.is_empty() { file.trusted_proxy } else { self.trusted_proxy },
            tls_cert: self.tls_cert.or(file.tls_cert),
            tls_key: self.tls_key.or(file.tls_key),
            auto_index: self.auto_index.or(file.auto_index),
            graphql_introspection: self.graphql_introspection.or(file.graphql_introspection),
            smtp: self.smtp.over(file.smtp),
            reach: self.reach.over(file.reach),
            telephone: self.telephone.over(file.telephone),
            outbox_only: self.outbox_only || file.outbox_only,
            password_list: self.password_list.or(file.password_list),
            place_database: self.place_database.or(file.place_database),
            leaked_passwords_url: self.leaked_passwords_url.or(file.leaked_passwords_url),
            metrics: self.metrics.or(file.metrics),
            log: self.log.or(file.log),
            log_json: self.log_json || file.log_json,
            test_traffic: self.test_traffic.or(file.test_traffic),
            limits: self.limits.over(file.limits),
            identity: self.identity.over(file.identity),
        }
    }
}

impl SmtpOptions {
    fn over(self, file: Self) -> Self {
        Self {
            host: self.host.or(file.host),
            port: self.port.or(file.port),
            security: self.security.or(file.security),
            user: self.user.or(file.user),
            password: self.password.or(file.password),
            from: self.from.or(file.from),
            timeout: self.timeout.or(file.timeout),
            connections: self.connections.or(file.connections),
            ca: self.ca.or(file.ca),
        }
    }
}

/// Whether an address leads to this machine, by its host.
fn is_here(url: &str) -> bool {
    let host = url::Url::parse(url).ok().and_then(|it| it.host_str().map(str::to_owned)).unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    host == "localhost" || host.ends_with(".localhost") || address.is_ok_and(|it| it.is_loopback())
}

/// What the keys of mail mean; `None` without a host, and where they can't be meant.
fn smtp(options: SmtpOptions, mistakes: &mut Vec<String>) -> Option<SmtpConfig> {
    let before = mistakes.len();
    let mut wrong = |text: String| mistakes.push(text);
    let Some(host) = options.host else {
        if options.port.is_some() || options.user.is_some() || options.password.is_some() || options.from.is_some() {
            wrong("smtp.host is missing, but other keys of smtp are set".to_owned());
        }
        return None;
    };
    let (security, usual) = match options.security.unwrap_or(SmtpSecurity::Tls) {
        SmtpSecurity::Tls => (Security::Implicit, 465),
        SmtpSecurity::Starttls => (Security::StartTls, 587),
        SmtpSecurity::None => (Security::None, 25),
    };
    let is_here = host == "localhost" || host.parse::<IpAddr>().is_ok_and(|it| it.is_loopback());
    if security == Security::None && !is_here {
        wrong(format!("smtp.security is none, which is for this machine only, not for {host}"));
    }
    let login = match (options.user, options.password) {
        (Some(user), Some(password)) => Some((user, Secret::new(password))),
        (None, None) => None,
        (Some(_), None) => {
            wrong("smtp.user is set without smtp.password".to_owned());
            None
        }
        (None, Some(_)) => {
            wrong("smtp.password is set without smtp.user".to_owned());
            None
        }
    };
    let authority = options
        .ca
        .and_then(|path| std::fs::read(&path).map_err(|it| wrong(format!("smtp.ca {}: {it}", path.display()))).ok());
    let timeout = options.timeout.unwrap_or(15);
    if !(1..=100).contains(&timeout) {
        wrong("smtp.timeout must be between 1 and 100 seconds".to_owned());
    }
    if options.from.is_none() {
        wrong("smtp.from is missing: the address that messages are sent from".to_owned());
    }
    let from = options.from.filter(|_| mistakes.len() == before)?;
    Some(SmtpConfig {
        port: options.port.unwrap_or(usual),
        host,
        security,
        login,
        from,
        timeout: Duration::from_secs(timeout),
        connections: options.connections.unwrap_or(4).clamp(1, 64),
        authority,
    })
}

/// A file that can't be read refuses no password, and is told.
fn refused_passwords(path: Option<PathBuf>, mistakes: &mut Vec<String>) -> PasswordList {
    let Some(path) = path else { return PasswordList::default() };
    match std::fs::read(&path) {
        Ok(bytes) => PasswordList::parse(&bytes),
        Err(error) => {
            mistakes.push(format!("password_list {}: {error}", path.display()));
            PasswordList::default()
        }
    }
}

/// Bytes of a file of places: cities of the whole earth take a tenth of it.
const PLACES_MAX: u64 = 1 << 30;

/// The file is held in memory: what has no end, and what is no file of places by its size alone, is not read.
fn read_places(path: &Path) -> Result<Places, String> {
    let about = std::fs::metadata(path).map_err(|it| it.to_string())?;
    if !about.is_file() {
        return Err("this is no file".to_owned());
    }
    if about.len() > PLACES_MAX {
        return Err(format!("the file has {} bytes, and may have {PLACES_MAX}", about.len()));
    }
    std::fs::read(path).map_err(|it| it.to_string()).and_then(Places::parse)
}

/// A file that can't be read tells of no place, and is told.
fn places(path: Option<&Path>, mistakes: &mut Vec<String>) -> Option<Places> {
    let path = path?;
    read_places(path).map_err(|it| mistakes.push(format!("place_database {}: {it}", path.display()))).ok()
}

/// An address that may not be called asks nobody, and is told. What is wrong with `reach` itself is told there.
fn leaked_passwords_url(url: Option<String>, reach: &ReachConfig, mistakes: &mut Vec<String>) -> Option<String> {
    let url = url?;
    let reach = Reach::new(reach, World::real()).ok()?;
    match HashRanges::new(reach, &url, HashRangeLimits::default()) {
        Ok(_) => Some(url),
        Err(why) => {
            mistakes.push(format!("leaked_passwords_url: {why}"));
            None
        }
    }
}

fn public_url(text: &str) -> Result<String, String> {
    let url = url::Url::parse(text).map_err(|it| format!("public_url {text:?}: {it}"))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(format!("public_url {text:?} must begin with https:// or http:// and name a host"));
    }
    if url.path() != "/" || url.query().is_some() || url.fragment().is_some() {
        return Err(format!("public_url {text:?} must have neither path nor query"));
    }
    Ok(text.trim_end_matches('/').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use stoa_identity::telephone::Channel;

    /// What a file says, and all that is wrong with it.
    fn load(text: &str) -> Loaded {
        let mut mistakes = Vec::new();
        let written = file::parse(text, "stoa.toml", &mut mistakes);
        Loaded { config: Config::from_options(written, &mut mistakes), mistakes }
    }

    #[test]
    fn flag_beats_the_file() {
        let file: Options = toml::from_str("port = 5000\nhost = \"0.0.0.0\"").unwrap();
        let flags = Options { port: Some(6000), ..Options::default() };
        let config = Config::from_options(flags.over(file), &mut Vec::new());
        assert_eq!((config.port, config.host.to_string().as_str()), (6000, "0.0.0.0"));
    }

    #[test]
    fn public_address_needs_mail() {
        let is_served = |text: &str| load(text).checked().unwrap().require_mail().is_ok();
        for private in
            ["", "host = \"::1\"", "public_url = \"http://a.localhost:4400\"", "public_url = \"https://[::1]\""]
        {
            assert!(is_served(private), "{private}");
        }
        let mail = "[smtp]\nhost = \"mail.example.org\"\nfrom = \"a@example.org\"";
        for public in ["host = \"0.0.0.0\"", "host = \"::\"", "public_url = \"https://www.example.org\""] {
            assert!(!is_served(public), "{public}");
            assert_eq!(
                load(public).checked().unwrap().check_mail().is_ok(),
                public.starts_with("public_url"),
                "{public}"
            );
            assert!(is_served(&format!("{public}\noutbox_only = true")), "{public}");
            assert!(is_served(&format!("{public}\n{mail}")), "{public}");
        }
    }

    #[test]
    fn this_machine_is_called_only_where_it_alone_is_served() {
        let reaches = |text: &str| load(text).checked().unwrap().reach.exceptions.loopback;
        for alone in
            ["", "host = \"::1\"", "public_url = \"http://a.localhost:4400\"", "[reach]\nallow = [\"10.0.0.0/8\"]"]
        {
            assert!(reaches(alone), "{alone}");
        }
        for served in [
            "host = \"0.0.0.0\"",
            "host = \"192.0.2.1\"",
            "public_url = \"https://www.example.org\"",
            "trusted_proxy = [\"127.0.0.1/32\"]",
        ] {
            assert!(!reaches(served), "{served}");
        }
    }

    #[test]
    fn exceptions_are_networks() {
        let text = "[reach]\nallow = [\"10.1.0.0/16\", \"fd00::/8\"]\nname_servers = [\"10.1.0.53:53\"]";
        let reach = load(text).checked().unwrap().reach;
        assert_eq!(
            reach.exceptions.allow.iter().map(ToString::to_string).collect::<Vec<_>>(),
            ["10.1.0.0/16", "fd00::/8"]
        );
        assert_eq!(reach.name_servers.iter().map(ToString::to_string).collect::<Vec<_>>(), ["10.1.0.53:53"]);
    }

    #[test]
    fn mistakes_are_named() {
        for (text, says) in [
            ("prot = 1", "stoa.toml:1: prot is no key; did you mean port?"),
            ("port = \"x\"", "invalid type"),
            ("port = 70000", "70000"),
            ("tls_cert = \"a\"", "without tls_key"),
            ("public_url = \"example.org\"", "public_url"),
            ("public_url = \"https://example.org/x\"", "neither path"),
            ("database_url = \"mysql://x\"", "postgres://"),
            ("[smtp]\nfrom = \"a@example.org\"", "smtp.host is missing"),
            ("[smtp]\nhost = \"x\"", "smtp.from is missing"),
            ("[smtp]\nhost = \"x\"\nuser = \"u\"", "without smtp.password"),
            ("[smtp]\nhost = \"x\"\nsecurity = \"none\"", "this machine only"),
            ("[smtp]\nhots = \"x\"", "stoa.toml:2: smtp.hots is no key; did you mean smtp.host?"),
            ("[reach]\nalow = []", "stoa.toml:2: reach.alow is no key; did you mean reach.allow?"),
            ("[reach]\nallow = [\"inside\"]", "stoa.toml:2: reach.allow: "),
            ("[reach]\nca = \"nowhere/ca.pem\"", "reach.ca nowhere/ca.pem"),
            ("[reach]\nca = \"Cargo.toml\"", "reach.ca: the certificate authority: there is no certificate"),
            ("[telephone]\nulr = \"x\"", "stoa.toml:2: telephone.ulr is no key; did you mean telephone.url?"),
            ("[telephone]\nsecret = \"x\"", "telephone.url is missing"),
            ("[telephone]\nkinds = [\"fax\"]", "stoa.toml:2: telephone.kinds: "),
            ("[telephone]\nurl = \"https://sms.example.org\"", "telephone.account is missing"),
            ("[telephone]\nurl = \"https://sms.example.org\"", "telephone.countries is missing"),
            ("port = ", "stoa.toml: "),
            ("leaked_passwords_url = \"ftp://example.org/range\"", "leaked_passwords_url: "),
            ("leaked_passwords_url = \"https://10.1.0.1/range\"", "leaked_passwords_url: "),
            (
                "leaked_passwords_url = \"https://example.org/range?x=1\"",
                "leaked_passwords_url: an address without a query",
            ),
            ("password_list = \"nowhere/list.txt\"", "password_list nowhere/list.txt"),
            ("place_database = \"nowhere/places.mmdb\"", "place_database nowhere/places.mmdb"),
            ("place_database = \"Cargo.toml\"", "place_database Cargo.toml"),
            ("place_database = \"src\"", "place_database src: this is no file"),
            ("place_database = \"/dev/zero\"", "place_database /dev/zero: this is no file"),
            ("test_traffic = \"x\"\nhost = \"0.0.0.0\"", "on this machine alone"),
            ("test_traffic = \"x\"\ntrusted_proxy = [\"10.0.0.0/8\"]", "on this machine alone"),
        ] {
            let error = load(text).with_places().checked().unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
    }

    #[test]
    fn telephone_provider_is_whole_or_none() {
        let whole = "[telephone]\nurl = \"https://sms.example.org/2010-04-01\"\naccount = \"AC1\"\nsecret = \"hush\"\n\
                     from = \"+15005550006\"\ncountries = [\"+49\", \"1212\"]\n";
        let config = load(whole).checked().unwrap().telephone.unwrap();
        assert_eq!(
            (config.prefixes, config.channels),
            (vec!["49".into(), "1212".into()], vec![Channel::Sms, Channel::Call])
        );
        let alone = format!("{whole}kinds = [\"sms\"]\nexcept = [\"+49900\"]");
        let alone = load(&alone).checked().unwrap().telephone.unwrap();
        assert_eq!((alone.channels, alone.except), (vec![Channel::Sms], vec!["49900".into()]));
        assert!(load("").checked().unwrap().telephone.is_none());
        for (from, to, says) in [
            ("https://sms", "ftp://sms", "telephone.url: "),
            ("https://sms", "http://sms", "telephone.url: "),
            ("https://sms.example.org/2010-04-01", "https://10.1.0.1", "telephone.url: "),
            ("AC1", "a/b", "telephone.account: "),
            ("hush", "hush hush", "telephone.secret: "),
            ("+15005550006", "Stoa", "telephone.from: "),
            ("\"+49\", \"1212\"", "", "telephone.countries is missing"),
            ("1212", "Germany", "telephone.countries: \"Germany\""),
            ("1212", "4", "telephone.countries: \"4\""),
            ("countries = ", "except = [\"0900\"]\ncountries = ", "telephone.except: \"0900\""),
        ] {
            let text = whole.replace(from, to);
            let error = load(&text).checked().unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
    }

    #[test]
    fn mistakes_are_reported_all_at_once() {
        let text = "prot = 1\nport = 70000\nhost = \"127.0.0.2\"\nopen_sites = 0\n\n[smtp]\nhost = \"x\"\n\
                    hots = \"y\"\n\n[limits]\nbulk_items = 0\nbulk_itmes = 5\n";
        let Loaded { config, mistakes } = load(text);
        let expected = [
            "stoa.toml:1: prot is no key",
            "stoa.toml:2: port: ",
            "stoa.toml:8: smtp.hots is no key",
            "open_sites must be at least 1",
            "smtp.from is missing",
            "limits.bulk_items is 0",
            "limits.bulk_itmes is no key of the table limits; did you mean bulk_items?",
        ];
        assert_eq!(mistakes.len(), expected.len(), "{mistakes:#?}");
        for (mistake, says) in mistakes.iter().zip(expected) {
            assert!(mistake.contains(says), "{says}: {mistake}");
        }
        assert_eq!(config.host.to_string(), "127.0.0.2", "what can be meant counts");
    }
}
