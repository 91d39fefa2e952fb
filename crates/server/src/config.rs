//! Every configuration key on one page.
//!
//! A key has one name in three places: `stoa.toml` (`public_url = "…"`), the environment
//! (`STOA_PUBLIC_URL`) and a flag (`--public-url`). Keys of mail are in a table of the file (`[smtp]`,
//! `host = "…"`), and have its name before theirs elsewhere (`STOA_SMTP_HOST`, `--smtp-host`). A flag beats
//! the environment, which beats the file, which beats the default. What was written is [`Options`]; what it
//! means is [`Config`].
//!
//! Limits are in two tables more ([`limits`]), which have no flags: sixty of them would bury the others in
//! `--help` (decision 15).

mod limits;

pub use limits::ServerLimits;

use clap::{Args, ValueEnum};
use ipnet::IpNet;
use limits::Table;
use serde::Deserialize;
use std::{
    net::{IpAddr, Ipv4Addr},
    path::{Path, PathBuf},
    time::Duration,
};
use stoa_identity::password::PasswordList;
use stoa_kernel::Secret;
use stoa_outbound::{Security, SmtpConfig};

/// The keys as they were written; nothing is required.
#[derive(Debug, Clone, Default, Args, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[command(next_help_heading = "Configuration (also in stoa.toml and as STOA_… variables)")]
pub struct Options {
    /// Directory of the data: SQLite files, lock, socket, outbox [default: ./data]
    #[arg(long, env = "STOA_DATA", global = true, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Use PostgreSQL instead of SQLite files: postgres://user:password@host/database
    #[arg(long, env = "STOA_DATABASE_URL", global = true, hide_env_values = true, value_name = "URL")]
    pub database_url: Option<String>,
    /// Connections to PostgreSQL [default: 16]
    #[arg(long, env = "STOA_DATABASE_CONNECTIONS", global = true, value_name = "N")]
    pub database_connections: Option<usize>,
    /// Sites that stay open when nobody uses them [default: 256]
    #[arg(long, env = "STOA_OPEN_SITES", global = true, value_name = "N")]
    pub open_sites: Option<usize>,
    /// Address to listen on [default: 127.0.0.1]
    #[arg(long, env = "STOA_HOST", global = true, value_name = "ADDRESS")]
    pub host: Option<IpAddr>,
    /// Port to listen on, 0 for any free one [default: 4400]
    #[arg(long, env = "STOA_PORT", global = true, value_name = "N")]
    pub port: Option<u16>,
    /// What links, cookies and the token issuer are made from; needed for names beyond loopback
    #[arg(long, env = "STOA_PUBLIC_URL", global = true, value_name = "URL")]
    pub public_url: Option<String>,
    /// Proxies whose X-Forwarded-* headers are believed, as CIDR; may be given several times
    #[arg(long, env = "STOA_TRUSTED_PROXY", global = true, value_delimiter = ',', num_args = 1.., value_name = "CIDR")]
    pub trusted_proxy: Vec<IpNet>,
    /// Certificate chain (PEM); together with --tls-key the server speaks HTTPS
    #[arg(long, env = "STOA_TLS_CERT", global = true, value_name = "FILE")]
    pub tls_cert: Option<PathBuf>,
    /// Private key of the certificate (PEM)
    #[arg(long, env = "STOA_TLS_KEY", global = true, value_name = "FILE")]
    pub tls_key: Option<PathBuf>,
    /// Whether the server makes missing indexes by itself, on sites that don't say otherwise [default: true]
    #[arg(long, env = "STOA_AUTO_INDEX", global = true, value_name = "BOOL")]
    pub auto_index: Option<bool>,
    #[command(flatten)]
    pub smtp: SmtpOptions,
    /// Serve others than this machine without a mail server: messages stay in DIR/outbox/mail.jsonl
    #[arg(long, env = "STOA_OUTBOX_ONLY", global = true)]
    pub outbox_only: bool,
    /// Passwords to refuse beside the common ones, one a line
    #[arg(long, env = "STOA_PASSWORD_LIST", global = true, value_name = "FILE")]
    pub password_list: Option<PathBuf>,
    /// What to log, for example `info` or `warn,stoa_http=debug` [default: info]
    #[arg(long, env = "STOA_LOG", global = true, value_name = "FILTER")]
    pub log: Option<String>,
    /// Log as JSON lines
    #[arg(long, env = "STOA_LOG_JSON", global = true)]
    pub log_json: bool,
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
    #[arg(id = "smtp_host", long = "smtp-host", env = "STOA_SMTP_HOST", global = true, value_name = "NAME")]
    pub host: Option<String>,
    /// Port of the mail server [default: 465, 587 with starttls, 25 with none]
    #[arg(id = "smtp_port", long = "smtp-port", env = "STOA_SMTP_PORT", global = true, value_name = "N")]
    pub port: Option<u16>,
    /// TLS from the start, after STARTTLS, or none (only to this machine) [default: tls]
    #[arg(id = "smtp_security", long = "smtp-security", env = "STOA_SMTP_SECURITY", global = true, value_enum)]
    pub security: Option<SmtpSecurity>,
    /// User at the mail server; needs a password
    #[arg(id = "smtp_user", long = "smtp-user", env = "STOA_SMTP_USER", global = true, value_name = "NAME")]
    pub user: Option<String>,
    /// Password at the mail server; better in the file or the environment than on the command line
    #[arg(
        id = "smtp_password",
        long = "smtp-password",
        env = "STOA_SMTP_PASSWORD",
        global = true,
        hide_env_values = true
    )]
    pub password: Option<String>,
    /// Sender: no-reply@example.org, or with a name that is used for every site: Name <no-reply@example.org>
    #[arg(id = "smtp_from", long = "smtp-from", env = "STOA_SMTP_FROM", global = true, value_name = "ADDRESS")]
    pub from: Option<String>,
    /// Seconds to wait for a connection and for each answer [default: 15]
    #[arg(id = "smtp_timeout", long = "smtp-timeout", env = "STOA_SMTP_TIMEOUT", global = true, value_name = "N")]
    pub timeout: Option<u64>,
    /// Connections to the mail server at the same time [default: 4]
    #[arg(
        id = "smtp_connections",
        long = "smtp-connections",
        env = "STOA_SMTP_CONNECTIONS",
        global = true,
        value_name = "N"
    )]
    pub connections: Option<u32>,
    /// Certificate authority (PEM) to trust beside the public ones
    #[arg(id = "smtp_ca", long = "smtp-ca", env = "STOA_SMTP_CA", global = true, value_name = "FILE")]
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
    pub smtp: Option<SmtpConfig>,
    pub outbox_only: bool,
    pub refused_passwords: PasswordList,
    pub log: String,
    pub log_json: bool,
    pub limits: ServerLimits,
}

#[derive(Debug, Clone)]
pub struct Tls {
    pub cert: PathBuf,
    pub key: PathBuf,
}

impl Config {
    /// Reads `file` (by default `stoa.toml`, if it is there) and puts `flags` over it.
    ///
    /// # Errors
    /// A sentence that names the key, what is wrong with it and where it stands.
    pub fn load(file: Option<&Path>, flags: Options) -> Result<Self, String> {
        let written = match file {
            Some(path) => read(path)?,
            None if Path::new("stoa.toml").exists() => read(Path::new("stoa.toml"))?,
            None => Options::default(),
        };
        let (limits, identity) = limits::of_environment()?;
        let environment = Options { limits, identity, ..Options::default() };
        Self::from_options(flags.over(environment).over(written))
    }

    fn from_options(options: Options) -> Result<Self, String> {
        let tls = match (options.tls_cert, options.tls_key) {
            (Some(cert), Some(key)) => Some(Tls { cert, key }),
            (None, None) => None,
            (Some(_), None) => return Err("tls_cert is set without tls_key".to_owned()),
            (None, Some(_)) => return Err("tls_key is set without tls_cert".to_owned()),
        };
        if let Some(url) = &options.database_url
            && !(url.starts_with("postgres://") || url.starts_with("postgresql://"))
        {
            return Err("database_url must begin with postgres://".to_owned());
        }
        let database_connections = options.database_connections.unwrap_or(16);
        if database_connections == 0 {
            return Err("database_connections must be at least 1".to_owned());
        }
        let open_sites = options.open_sites.unwrap_or(stoa_store::Config::OPEN_SITES);
        if open_sites == 0 {
            return Err("open_sites must be at least 1".to_owned());
        }
        Ok(Self {
            data: options.data.unwrap_or_else(|| PathBuf::from("data")),
            database_url: options.database_url,
            database_connections,
            open_sites,
            host: options.host.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST)),
            port: options.port.unwrap_or(4400),
            public_url: options.public_url.map(|it| public_url(&it)).transpose()?,
            trusted_proxies: options.trusted_proxy,
            tls,
            auto_index: options.auto_index.unwrap_or(true),
            smtp: smtp(options.smtp)?,
            outbox_only: options.outbox_only,
            refused_passwords: options.password_list.map_or_else(|| Ok(PasswordList::default()), |it| list(&it))?,
            log: options.log.unwrap_or_else(|| "info".to_owned()),
            log_json: options.log_json,
            limits: ServerLimits::read(&options.limits, &options.identity)?,
        })
    }
}

impl Config {
    /// What people are sent must reach them where others than this machine are served.
    ///
    /// # Errors
    /// A sentence that names the keys.
    pub fn require_mail(&self) -> Result<(), String> {
        let is_here = |url: &String| {
            let host = url::Url::parse(url).ok().and_then(|it| it.host_str().map(str::to_owned)).unwrap_or_default();
            let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
            host == "localhost" || host.ends_with(".localhost") || address.is_ok_and(|it| it.is_loopback())
        };
        let is_public = !self.host.is_loopback() || self.public_url.as_ref().is_some_and(|it| !is_here(it));
        if !is_public || self.smtp.is_some() || self.outbox_only {
            return Ok(());
        }
        let file = self.data.join("outbox").join("mail.jsonl");
        Err(format!(
            "others than this machine are served, but no mail server is set, so codes and links would reach nobody; \
             set smtp.host, or --outbox-only if you pass on what is kept in {}",
            file.display()
        ))
    }
}

impl Options {
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
            smtp: self.smtp.over(file.smtp),
            outbox_only: self.outbox_only || file.outbox_only,
            password_list: self.password_list.or(file.password_list),
            log: self.log.or(file.log),
            log_json: self.log_json || file.log_json,
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

fn smtp(options: SmtpOptions) -> Result<Option<SmtpConfig>, String> {
    let Some(host) = options.host else {
        let is_set =
            options.port.is_some() || options.user.is_some() || options.password.is_some() || options.from.is_some();
        return if is_set { Err("smtp.host is missing, but other keys of smtp are set".to_owned()) } else { Ok(None) };
    };
    let (security, usual) = match options.security.unwrap_or(SmtpSecurity::Tls) {
        SmtpSecurity::Tls => (Security::Implicit, 465),
        SmtpSecurity::Starttls => (Security::StartTls, 587),
        SmtpSecurity::None => (Security::None, 25),
    };
    let is_here = host == "localhost" || host.parse::<IpAddr>().is_ok_and(|it| it.is_loopback());
    if security == Security::None && !is_here {
        return Err(format!("smtp.security is none, which is for this machine only, not for {host}"));
    }
    let login = match (options.user, options.password) {
        (Some(user), Some(password)) => Some((user, Secret::new(password))),
        (None, None) => None,
        (Some(_), None) => return Err("smtp.user is set without smtp.password".to_owned()),
        (None, Some(_)) => return Err("smtp.password is set without smtp.user".to_owned()),
    };
    let authority = match options.ca {
        Some(path) => Some(std::fs::read(&path).map_err(|it| format!("smtp.ca {}: {it}", path.display()))?),
        None => None,
    };
    let timeout = options.timeout.unwrap_or(15);
    if !(1..=100).contains(&timeout) {
        return Err("smtp.timeout must be between 1 and 100 seconds".to_owned());
    }
    Ok(Some(SmtpConfig {
        port: options.port.unwrap_or(usual),
        host,
        security,
        login,
        from: options.from.ok_or("smtp.from is missing: the address that messages are sent from")?,
        timeout: Duration::from_secs(timeout),
        connections: options.connections.unwrap_or(4).clamp(1, 64),
        authority,
    }))
}

fn list(path: &Path) -> Result<PasswordList, String> {
    let bytes = std::fs::read(path).map_err(|it| format!("password_list {}: {it}", path.display()))?;
    Ok(PasswordList::parse(&bytes))
}

fn read(path: &Path) -> Result<Options, String> {
    let text = std::fs::read_to_string(path).map_err(|it| format!("{}: {it}", path.display()))?;
    // The parser's own message shows the line and points at the word.
    toml::from_str(&text).map_err(|it| format!("{}: {it}", path.display()))
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

    #[test]
    fn flag_beats_the_file() {
        let file: Options = toml::from_str("port = 5000\nhost = \"0.0.0.0\"").unwrap();
        let flags = Options { port: Some(6000), ..Options::default() };
        let config = Config::from_options(flags.over(file)).unwrap();
        assert_eq!((config.port, config.host.to_string().as_str()), (6000, "0.0.0.0"));
    }

    #[test]
    fn public_address_needs_mail() {
        let is_served = |text: &str| {
            let config = Config::from_options(toml::from_str::<Options>(text).unwrap()).unwrap();
            config.require_mail().is_ok()
        };
        for private in
            ["", "host = \"::1\"", "public_url = \"http://a.localhost:4400\"", "public_url = \"https://[::1]\""]
        {
            assert!(is_served(private), "{private}");
        }
        let mail = "[smtp]\nhost = \"mail.example.org\"\nfrom = \"a@example.org\"";
        for public in ["host = \"0.0.0.0\"", "host = \"::\"", "public_url = \"https://www.example.org\""] {
            assert!(!is_served(public), "{public}");
            assert!(is_served(&format!("{public}\noutbox_only = true")), "{public}");
            assert!(is_served(&format!("{public}\n{mail}")), "{public}");
        }
    }

    #[test]
    fn mistakes_are_named() {
        let load =
            |text: &str| toml::from_str::<Options>(text).map_err(|it| it.to_string()).and_then(Config::from_options);
        for (text, says) in [
            ("prot = 1", "unknown field `prot`"),
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
            ("[smtp]\nhots = \"x\"", "unknown field `hots`"),
            ("password_list = \"nowhere/list.txt\"", "password_list nowhere/list.txt"),
        ] {
            let error = load(text).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
