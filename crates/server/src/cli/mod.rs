//! What can be typed, a file for each noun. A command travels to a running server as it was typed, but for what
//! only this machine has: files and addresses. The meaning of each is in [`crate::command`].

mod app;
mod audit;
mod choice;
mod client;
mod collection;
mod environments;
mod hooks;
mod item;
mod key;
mod log;
mod mail;
mod member;
mod owner;
mod seal;
mod site;
mod tokens;
mod transfer;
mod webhook;

pub use app::{App, AppKeyVerb, AppVerb};
pub use audit::Audit;
pub use choice::{ContentChoice, EnvironmentName, SiteChoice};
pub use client::{Client, ClientVerb};
pub use collection::{Collection, CollectionChange, CollectionVerb, LevelName, Levels, NewCollection, NewField};
pub use environments::{CopyChoice, Environments, EnvironmentsVerb};
pub use hooks::{Hooks, HooksVerb, Trial as HookTrial};
pub use item::{Item, ItemVerb};
pub use key::{Key, KeyVerb};
pub use log::{Log, LogVerb};
pub use mail::{Mail, MailVerb};
pub use member::{Member, MemberVerb};
pub use owner::{Owner, OwnerVerb, RoleName};
pub use seal::SealVerb;
pub use site::{
    AutoIndexState, CaptchaSet, CaptchaVerb, Face, ImpersonationAccess, OperatorFactors, ProviderAdd, ProviderUpdate,
    SecondFactors, SiteMailVerb, SiteProviderVerb, SiteVerb,
};
pub use tokens::TokensVerb;
pub use transfer::{Export, Format, Import};
pub use webhook::{EndpointUpdate, Listen, MessageFormat, NewEndpoint, PullOrder, ReplayChoice, Webhook, WebhookVerb};

use crate::config::{Options, Storage};
use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Hosted identity and content for websites, in one program.
///
/// Commands work while the server runs on the same data directory, and without it.
#[derive(Debug, Parser)]
#[command(
    name = "stoa",
    version,
    propagate_version = true,
    max_term_width = 100,
    disable_help_subcommand = true,
    after_help = "Examples:\n  stoa serve --demo            the Atlas example on http://127.0.0.1:4400\n  \
                  stoa site create --name Mine  a site of your own, in ./data"
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Verb,
    #[command(flatten)]
    pub common: Common,
}

/// What every command takes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Every command")]
pub struct Common {
    #[command(flatten)]
    pub storage: Storage,
    /// Configuration file [default: stoa.toml if it is there]
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Print results and errors as one line of JSON each
    #[arg(long, global = true)]
    pub json: bool,
}

#[derive(Debug, Subcommand, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Verb {
    /// Answer requests until SIGTERM
    #[serde(skip)]
    #[command(after_help = "Examples:\n  stoa serve --demo\n  \
                            stoa serve --data /srv/stoa --port 8080 --public-url https://www.example.org")]
    Serve {
        /// Make an example site on first start: the Atlas website with its cities and countries
        #[arg(long)]
        demo: bool,
        #[command(flatten)]
        options: Box<Options>,
    },
    /// Make sites, name them, show, delete and restore them
    #[command(subcommand)]
    Site(SiteVerb),
    /// Make, list and revoke clients of a site: front ends and, with a secret, applications
    Client(Client),
    /// Make, list and revoke API keys
    Key(Key),
    /// Keys of an application, by which it knows that what it is sent is from here
    App(App),
    /// The people who run a site
    Owner(Owner),
    /// Members: list and show them, let them in, keep them out, take them over from another system
    Member(Member),
    /// A site's own words for its messages, and what could not be sent
    Mail(Mail),
    /// Make collections and change their fields and permissions
    Collection(Collection),
    /// Single items of a collection
    Item(Item),
    /// LIVE and SANDBOX of a site: make the sandbox, copy collections either way, and take copies back
    Environments(Environments),
    /// Show what happened to accounts and by whom, the latest first
    Audit(Audit),
    /// Keys with which secrets are sealed in the database
    #[command(subcommand)]
    Seal(SealVerb),
    /// Keys with which tokens are signed
    #[command(subcommand)]
    Tokens(TokensVerb),
    /// Rewrite the data without what was deleted, so that no file holds it any more
    #[command(after_help = "Examples:\n  stoa compact\n  stoa compact --data /srv/stoa --json")]
    Compact,
    /// Webhooks: what happens on a site is posted to its applications
    Webhook(Webhook),
    /// A site's own code, asked before and after what is done with its items
    Hooks(Hooks),
    /// The log of a site: how far its consumers are, what is in it, and that its data were restored
    Log(Log),
    /// Read items from a file into a collection, and link them
    Import(Import),
    /// Write a collection's items, with their links, to standard output
    Export(Export),
    /// Bring the data to the form this version needs, then stop
    #[serde(skip)]
    #[command(after_help = "Examples:\n  stoa migrate\n  stoa migrate --data /srv/stoa --json")]
    Migrate,
    /// Tell all that is wrong with the configuration, and where
    #[serde(skip)]
    #[command(after_help = "Examples:\n  stoa check\n  stoa check --config /etc/stoa.toml --json")]
    Check,
    /// Print the description of the HTTP interface (OpenAPI 3.1)
    #[serde(skip)]
    #[command(after_help = "Examples:\n  stoa openapi > openapi.json\n  stoa openapi --json > openapi.min.json")]
    Openapi,
    /// Print what makes a shell complete commands
    #[serde(skip)]
    #[command(after_help = "Examples:\n  stoa completions bash > ~/.local/share/bash-completion/completions/stoa\n  \
                            stoa completions zsh > ~/.zfunc/_stoa")]
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Run a site's hooks for the server at the other end of standard input, which starts this by itself
    #[serde(skip)]
    #[command(hide = true)]
    HookHost,
}

#[cfg(test)]
mod tests {
    use super::Cli;
    use clap::{Command, CommandFactory};

    /// Every command that does something for who types it, with the words that lead to it.
    fn leaves<'c>(command: &'c Command, path: &str, each: &mut impl FnMut(&'c Command, &str)) {
        let path = format!("{path}{}{}", if path.is_empty() { "" } else { " " }, command.get_name());
        if command.get_subcommands().next().is_none() {
            each(command, &path);
        }
        for subcommand in command.get_subcommands().filter(|it| !it.is_hide_set()) {
            leaves(subcommand, &path, each);
        }
    }

    #[test]
    fn definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn id_of_a_key_may_begin_with_a_hyphen() {
        for id in ["-zxVZwterqLLn1rslWmVHJVqOHa9wLLfiVKp9MD_ygM", "--xVZwterqLLn1rslWmVHJVqOHa9wLLfiVKp9MD_ygM"] {
            for (command, name) in [(&["show"][..], "id"), (&["remove"], "id"), (&["activate", "--key"], "key")] {
                let words = [&["stoa", "app", "key"], command, &[id, "--app", "Billing"]].concat();
                let parsed = Cli::command().try_get_matches_from(words).unwrap();
                let (_, app) = parsed.subcommand().unwrap();
                let (_, key) = app.subcommand().unwrap();
                let (_, last) = key.subcommand().unwrap();
                assert_eq!(last.get_one::<String>(name).unwrap(), id);
            }
        }
    }

    #[test]
    fn commands_have_two_examples_that_can_be_typed() {
        let root = Cli::command();
        let (mut count, mut wrong) = (0, Vec::new());
        leaves(&root, "", &mut |command, path| {
            let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let examples: Vec<&str> =
                text.lines().filter_map(|it| it.trim().split_once("stoa ").map(|it| it.1)).collect();
            if examples.len() != 2 {
                wrong.push(format!("{path} has {} examples", examples.len()));
            }
            let verb = path.trim_start_matches("stoa ");
            for example in examples {
                let typed = example.split(" > ").next().unwrap_or_default();
                let words = typed.split_whitespace().map(|it| it.trim_matches(['\'', '"']));
                let parsed = Cli::command().try_get_matches_from(["stoa"].into_iter().chain(words));
                if !typed.starts_with(verb) || parsed.is_err() {
                    wrong.push(format!("{path}: stoa {typed}: {:?}", parsed.err().map(|it| it.to_string())));
                }
            }
            count += 1;
        });
        assert!(count > 30 && wrong.is_empty(), "{}", wrong.join("\n"));
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
        let root = Cli::command();
        let global = root.get_arguments().filter(|it| it.is_global_set());
        let names: Vec<String> =
            global.flat_map(|it| [Some(it.get_id().as_str()), it.get_long()]).flatten().map(str::to_owned).collect();
        let mut shared = Vec::new();
        collect_shared(&root, &names, "stoa", &mut shared);
        assert!(names.len() == 8 && shared.is_empty(), "{names:?} {shared:?}");
    }
}
