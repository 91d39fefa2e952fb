//! What can be typed. The meaning of each command is in [`crate::command`].

use crate::config::Options;
use clap::{Args, Parser, Subcommand, ValueEnum};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Hosted identity and content for websites, in one program.
///
/// `stoa serve --demo` starts a server with the Atlas example on http://localhost:4400. Commands work
/// while the server runs on the same data directory.
#[derive(Debug, Parser)]
#[command(name = "stoa", version, propagate_version = true, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Verb,
    /// Configuration file [default: stoa.toml if it is there]
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Print the result as one line of JSON
    #[arg(long, global = true)]
    pub json: bool,
    #[command(flatten)]
    pub options: Options,
}

#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Answer requests until SIGTERM
    Serve {
        /// Make an example site on first start: the Atlas website with its cities and countries
        #[arg(long)]
        demo: bool,
    },
    /// Make and list sites
    #[command(subcommand)]
    Site(SiteVerb),
    /// Make, list and revoke clients of a site: front ends and, with a secret, applications
    #[command(subcommand)]
    Client(ClientVerb),
    /// Make, list and revoke API keys
    #[command(subcommand)]
    Key(KeyVerb),
    /// Invite the people who run a site
    #[command(subcommand)]
    Owner(OwnerVerb),
    /// List members, let those in who wait for it, take them over from another system
    #[command(subcommand)]
    Member(MemberVerb),
    /// A site's own words for its messages, and what could not be sent
    #[command(subcommand)]
    Mail(MailVerb),
    /// Show what happened to accounts and by whom, the latest first
    Audit(Audit),
    /// Read items from a file into a collection, and link them
    Import(Import),
    /// Write a collection's items, with their links, to standard output
    Export(Export),
    /// Bring the data to the form this version needs, then stop
    Migrate,
    /// Tell what is wrong with the configuration, and where
    Check,
}

#[derive(Debug, Subcommand)]
pub enum SiteVerb {
    /// Make an empty site
    Create {
        #[arg(long)]
        name: String,
        /// Host name that shows this site; may be given several times
        #[arg(long = "host-name", num_args = 1.., value_name = "NAME")]
        host_name: Vec<String>,
    },
    /// List all sites
    List,
    /// Say whether the server makes missing indexes of this site by itself
    AutoIndex {
        /// `default` is what the configuration says
        state: AutoIndexState,
        #[command(flatten)]
        site: SiteChoice,
    },
    /// Say who checks captcha answers: the server itself (proof of work) or a provider
    #[command(subcommand)]
    Captcha(CaptchaVerb),
}

#[derive(Debug, Subcommand)]
pub enum CaptchaVerb {
    /// Print the site's captcha without the secret, and whether the site asks for it
    Show {
        #[command(flatten)]
        site: SiteChoice,
    },
    /// Take tokens of reCAPTCHA, hCaptcha, Turnstile or any other provider with a siteverify address
    ///
    /// For sites with sign-in pages of their own: the hosted account pages have no widget.
    Set(CaptchaSet),
    /// Go back to the proof of work and forget the provider and its secret
    Remove {
        #[command(flatten)]
        site: SiteChoice,
    },
}

#[derive(Debug, Args)]
pub struct CaptchaSet {
    /// Address that checks tokens, for example https://api.hcaptcha.com/siteverify
    #[arg(long, value_name = "URL")]
    pub verify_url: String,
    /// File with the provider's secret, `-` for standard input; never shown again
    #[arg(long, value_name = "FILE")]
    pub secret_file: PathBuf,
    /// Public site key of a widget that people see
    #[arg(long, value_name = "KEY")]
    pub visible_key: Option<String>,
    /// Public site key of a widget that works unseen
    #[arg(long, value_name = "KEY")]
    pub invisible_key: Option<String>,
    /// Refuse answers with a lower score or none (reCAPTCHA v3, which calls every answer a success)
    #[arg(long, value_name = "0..1", value_parser = score)]
    pub minimum_score: Option<f64>,
    #[command(flatten)]
    pub site: SiteChoice,
}

/// NaN and infinities have no JSON, and would reach a running server as no score at all.
fn score(text: &str) -> Result<f64, String> {
    let score = text.parse().ok().filter(|it: &f64| it.is_finite());
    score.ok_or_else(|| "a number from 0 to 1 is expected".to_owned())
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum AutoIndexState {
    On,
    Off,
    Default,
}

#[derive(Debug, Subcommand)]
pub enum ClientVerb {
    /// Make a client
    Create {
        #[arg(long)]
        name: String,
        /// Address that sign-in may return to; exact, only a loopback port may vary
        #[arg(long, num_args = 1..)]
        redirect_uri: Vec<String>,
        /// Origin of the website, for example https://www.example.org
        #[arg(long, num_args = 1..)]
        origin: Vec<String>,
        /// Also make a client secret (for servers, never for browsers); it is shown once
        #[arg(long)]
        secret: bool,
        #[command(flatten)]
        site: SiteChoice,
    },
    /// List the clients of a site
    List {
        #[command(flatten)]
        site: SiteChoice,
    },
    /// Give a client another secret, shown once; the old one is refused from now on
    ///
    /// Tokens that were got with the old one live on: access tokens of the client itself until they
    /// expire. When the secret leaked, revoke the client.
    Secret {
        /// Id of the client, from `stoa client list`
        id: String,
        #[command(flatten)]
        site: SiteChoice,
    },
    /// Refuse a client and all its tokens from now on, those of its visitors and members as well
    Revoke {
        /// Id of the client, from `stoa client list`
        id: String,
        #[command(flatten)]
        site: SiteChoice,
    },
}

#[derive(Debug, Subcommand)]
pub enum KeyVerb {
    /// Make an API key with full rights on the site; it is shown once
    Create {
        #[arg(long)]
        name: String,
        #[command(flatten)]
        site: SiteChoice,
    },
    /// List the API keys of a site
    List {
        #[command(flatten)]
        site: SiteChoice,
    },
    /// Refuse a key from now on
    Revoke {
        /// Id of the key, from `stoa key list`
        id: String,
        #[command(flatten)]
        site: SiteChoice,
    },
}

#[derive(Debug, Subcommand)]
pub enum OwnerVerb {
    /// Print a one-time link with which a person sets a password
    Invite {
        #[arg(long)]
        email: String,
        #[arg(long, value_enum, default_value_t = RoleName::Owner)]
        role: RoleName,
        #[command(flatten)]
        site: SiteChoice,
    },
}

#[derive(Debug, Subcommand)]
pub enum MemberVerb {
    /// List the newest members
    List {
        /// Only those who wait for an owner's answer or have yet to prove their address
        #[arg(long)]
        pending: bool,
        /// How many at most
        #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1000))]
        limit: u32,
        #[command(flatten)]
        site: SiteChoice,
    },
    /// Read members with their existing password hashes (bcrypt, scrypt, PBKDF2, Argon2) from a file
    Import {
        /// File to read, `-` for standard input
        file: PathBuf,
        /// Format [default: by the file's ending, else jsonl]
        #[arg(long, value_enum)]
        format: Option<Format>,
        #[command(flatten)]
        site: SiteChoice,
    },
    /// Let a member in who waits for it
    Approve {
        /// Id or address of the member
        member: String,
        #[command(flatten)]
        site: SiteChoice,
    },
}

#[derive(Debug, Subcommand)]
pub enum MailVerb {
    /// Print the site's own words as JSON
    Show {
        #[command(flatten)]
        site: SiteChoice,
    },
    /// Replace the site's own words
    Set {
        /// JSON file as in docs/mail.md, `-` for standard input
        file: PathBuf,
        #[command(flatten)]
        site: SiteChoice,
    },
    /// Write every message in every language into a directory, for looking at
    Preview {
        directory: PathBuf,
        #[command(flatten)]
        site: SiteChoice,
    },
    /// List what could not be sent in the last month, and why
    Failures {
        #[command(flatten)]
        site: SiteChoice,
    },
}

#[derive(Debug, Clone, Copy, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RoleName {
    Owner,
    Editor,
}

#[derive(Debug, Clone, Args)]
pub struct SiteChoice {
    /// Id of the site; not needed when there is only one
    #[arg(long)]
    pub site: Option<String>,
}

#[derive(Debug, Args)]
pub struct Audit {
    /// Only what was done to this member: id or address
    #[arg(long)]
    pub member: Option<String>,
    /// Only events of this name, for example member_sign_in, password_change, sign_in_slowed
    #[arg(long)]
    pub event: Option<String>,
    /// From this time on, in UTC: 2026-01-31 or 2026-01-31T12:00:00Z
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Before this time
    #[arg(long, value_name = "TIME")]
    pub before: Option<String>,
    /// How many at most
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub limit: u32,
    #[command(flatten)]
    pub site: SiteChoice,
}

#[derive(Debug, Args)]
pub struct Import {
    /// Collection to write into; it must exist
    pub collection: String,
    /// File to read, `-` for standard input
    pub file: PathBuf,
    /// Format [default: by the file's ending, else jsonl]
    #[arg(long, value_enum)]
    pub format: Option<Format>,
    /// Import into a running server elsewhere
    #[arg(long, requires = "api_key")]
    pub url: Option<String>,
    /// API key for --url
    #[arg(long, env = "STOA_API_KEY", hide_env_values = true)]
    pub api_key: Option<String>,
    #[command(flatten)]
    pub site: SiteChoice,
}

#[derive(Debug, Args)]
pub struct Export {
    /// Collection to read
    pub collection: String,
    #[arg(long, value_enum, default_value_t = Format::Jsonl)]
    pub format: Format,
    #[command(flatten)]
    pub site: SiteChoice,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// One JSON object a line
    Jsonl,
    /// One JSON array of objects
    Json,
    /// Comma separated, first line names the fields
    Csv,
}

#[cfg(test)]
mod tests {
    use clap::{Command, CommandFactory};

    #[test]
    fn definition_is_sound() {
        super::Cli::command().debug_assert();
    }

    /// One that has the name of a global one hides it, and what is meant for the one reaches the other.
    #[test]
    fn arguments_have_no_name_of_a_global_one() {
        fn collect_shared(command: &Command, names: &[String], path: &str, shared: &mut Vec<String>) {
            for argument in command.get_arguments().filter(|it| !it.is_global_set()) {
                let (id, long) = (argument.get_id().as_str(), argument.get_long().unwrap_or_default());
                if names.iter().any(|name| name == id || name == long) {
                    shared.push(format!("{path} --{long}"));
                }
            }
            for subcommand in command.get_subcommands() {
                collect_shared(subcommand, names, &format!("{path} {}", subcommand.get_name()), shared);
            }
        }
        let root = super::Cli::command();
        let global = root.get_arguments().filter(|it| it.is_global_set());
        let names: Vec<String> =
            global.flat_map(|it| [Some(it.get_id().as_str()), it.get_long()]).flatten().map(str::to_owned).collect();
        let mut shared = Vec::new();
        collect_shared(&root, &names, "stoa", &mut shared);
        assert!(names.len() > 10 && shared.is_empty(), "{shared:?}");
    }
}
