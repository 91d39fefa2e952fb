//! `stoa site …`

use super::choice::SiteChoice;
use clap::{Args, Subcommand, ValueEnum};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

#[derive(Debug, Subcommand, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SiteVerb {
    /// Make an empty site
    #[command(after_help = "Examples:\n  stoa site create --name Mine\n  \
                            stoa site create --name Shop --host-name shop.example.org www.shop.example.org")]
    Create {
        /// What people call it, 1 to 100 characters
        #[arg(long)]
        name: String,
        /// Host name that shows this site; may be given several times
        #[arg(long = "host-name", num_args = 1.., value_name = "NAME")]
        host_name: Vec<String>,
        /// Let it answer where nothing names a site, as the first site of a directory does
        #[arg(long)]
        default: bool,
    },
    /// List all sites, or those that were deleted
    #[command(after_help = "Examples:\n  stoa site list\n  stoa site list --deleted --json")]
    List {
        /// Those that were deleted and can be restored
        #[arg(long)]
        deleted: bool,
    },
    /// Show a site and how much is in it
    #[command(after_help = "Examples:\n  stoa site show\n  stoa site show Atlas --json")]
    Show {
        /// Name, id or the beginning of an id
        #[arg(value_name = "SITE")]
        named: Option<String>,
    },
    /// Rename a site, give it host names or take them away, make it the default, say how its account pages look
    #[command(after_help = "Examples:\n  stoa site update Mine --name Ours --host-name www.example.org\n  \
                            stoa site update Mine --logo https://www.example.org/logo.svg --colour '#0b5394'")]
    Update {
        /// Name, id or the beginning of an id
        #[arg(value_name = "SITE")]
        named: String,
        /// Another name
        #[arg(long)]
        name: Option<String>,
        /// Host name that shows this site from now on; may be given several times
        #[arg(long = "host-name", num_args = 1.., value_name = "NAME")]
        host_name: Vec<String>,
        /// Host name that no longer does; may be given several times
        #[arg(long = "no-host-name", num_args = 1.., value_name = "NAME")]
        no_host_name: Vec<String>,
        /// Let it answer where nothing names a site, in place of any other
        #[arg(long, conflicts_with = "no_default")]
        default: bool,
        /// Let it answer only where it is named
        #[arg(long)]
        no_default: bool,
        #[command(flatten)]
        face: Face,
    },
    /// Delete a site with all that is in it; it can be restored for 30 days
    #[command(after_help = "Examples:\n  stoa site delete Mine\n  stoa site delete 1f0c --yes Mine")]
    Delete {
        /// Name, id or the beginning of an id
        #[arg(value_name = "SITE")]
        named: String,
        /// The name of the site, so that nothing is asked
        #[arg(long, value_name = "NAME")]
        yes: Option<String>,
    },
    /// Bring back a site that was deleted
    #[command(after_help = "Examples:\n  stoa site restore Mine\n  stoa site restore 1f0c --json")]
    Restore {
        /// Name, id or the beginning of an id, from `stoa site list --deleted`
        #[arg(value_name = "SITE")]
        named: String,
    },
    /// Say whether the server makes missing indexes of this site by itself
    #[command(after_help = "Examples:\n  stoa site auto-index off\n  stoa site auto-index default --site Mine")]
    AutoIndex {
        /// `default` is what the configuration says
        state: AutoIndexState,
        #[command(flatten)]
        site: SiteChoice,
    },
    /// Say whether members of this site can add a second factor, or have to; those who have one are asked for it in any case
    #[command(after_help = "Examples:\n  stoa site second-factors optional --by-telephone true\n  \
                            stoa site second-factors required --grace 14d --role editor --json")]
    SecondFactors {
        /// `optional` lets members add one if they like; with `required` none signs in without
        state: SecondFactors,
        /// For how many days members may put off what is required, such as 14d; 0d for not at all
        #[arg(long, value_name = "DAYS", value_parser = days)]
        grace: Option<u32>,
        /// Require it of members with this role only; several times for several, '' for all members
        #[arg(long, value_name = "KEY")]
        role: Vec<String>,
        /// Whether members can add a number of a telephone as well, where the server sends codes to some [default: as before]
        #[arg(long, value_name = "BOOL")]
        by_telephone: Option<bool>,
        #[command(flatten)]
        site: SiteChoice,
    },
    /// Say whether those who run this site need a second factor for it; those who have one are asked for it in any case
    #[command(after_help = "Examples:\n  stoa site operator-factors required --grace 14d\n  \
                            stoa site operator-factors optional --site Mine --json")]
    OperatorFactors {
        /// With `required` none of them signs in without; one who has none sets it up while signing in
        state: OperatorFactors,
        /// For how many days they may put off what is required, such as 14d; 0d for not at all
        #[arg(long, value_name = "DAYS", value_parser = days)]
        grace: Option<u32>,
        #[command(flatten)]
        site: SiteChoice,
    },
    /// Say for how long an account of this site stays that its member wants to be deleted, who can keep it until then
    #[command(after_help = "Examples:\n  stoa site account-deletion 30d\n  stoa site account-deletion 0d --json")]
    AccountDeletion {
        /// Days from 0d to 90d; 0d deletes at once
        #[arg(value_name = "DAYS", value_parser = days)]
        days: u32,
        #[command(flatten)]
        site: SiteChoice,
    },
    /// Say whether owners of this site may act as its members, to see what they see or to change items as well
    #[command(
        after_help = "Examples:\n  stoa site impersonation read\n  stoa site impersonation write --notice false --json"
    )]
    Impersonation {
        /// `off` ends what owners have begun
        access: ImpersonationAccess,
        /// Whether members are told by mail when an owner begins [default: as before]
        #[arg(long, value_name = "BOOL")]
        notice: Option<bool>,
        #[command(flatten)]
        site: SiteChoice,
    },
    /// Say who checks captcha answers: the server itself (proof of work) or a provider
    Captcha(Captcha),
    /// Say in whose name the messages of a site are sent, and in which domains it may have an address
    Mail(SiteMail),
    /// Let members sign in by identity providers (OpenID Connect)
    Provider(SiteProvider),
}

/// How the account pages of a site look.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Face {
    /// Address of a picture by https, shown in place of the name on the account pages; '' for none
    #[arg(long, value_name = "URL")]
    pub logo: Option<String>,
    /// Colour of links and buttons there, made darker or lighter where it could not be read; '' for ours
    #[arg(long, value_name = "#RRGGBB")]
    pub colour: Option<String>,
    /// Address of the terms, linked from the account pages; '' for none
    #[arg(long, value_name = "URL")]
    pub terms: Option<String>,
    /// Address of what is said about privacy, linked from the account pages; '' for none
    #[arg(long, value_name = "URL")]
    pub privacy: Option<String>,
    /// Language there for people whose browser asks for none that there is, such as de; '' for English
    #[arg(long, value_name = "TAG")]
    pub language: Option<String>,
}

#[derive(Debug, Args, Serialize, Deserialize)]
pub struct SiteMail {
    #[command(flatten)]
    pub site: SiteChoice,
    #[command(subcommand)]
    pub verb: SiteMailVerb,
}

#[derive(Debug, Subcommand, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SiteMailVerb {
    /// Print in whose name the site's messages are sent
    #[command(after_help = "Examples:\n  stoa site mail show\n  stoa site mail show --site Mine --json")]
    Show,
    /// Choose the name that people read, the address that messages are from, and where answers go
    #[command(after_help = "Examples:\n  stoa site mail set --name Library --reply-to help@example.org\n  \
                            stoa site mail set --address hello@example.org --site Mine")]
    Set {
        /// One line without @, 64 characters at most; '' for the site's name
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
        /// In a domain that was allowed; '' for the server's address
        #[arg(long, value_name = "ADDRESS")]
        address: Option<String>,
        /// '' for the sender
        #[arg(long, value_name = "ADDRESS")]
        reply_to: Option<String>,
    },
    /// Let the site have an address in these domains: its mail server must speak for them
    #[command(
        after_help = "Examples:\n  stoa site mail allow example.org\n  stoa site mail allow example.org example.com --site Mine"
    )]
    Allow {
        #[arg(required = true, value_name = "DOMAIN")]
        domains: Vec<String>,
    },
    /// Let it have none there any more; an address that it has there goes with it
    #[command(
        after_help = "Examples:\n  stoa site mail disallow example.org\n  stoa site mail disallow example.org --site Mine --json"
    )]
    Disallow {
        #[arg(required = true, value_name = "DOMAIN")]
        domains: Vec<String>,
    },
}

#[derive(Debug, Args, Serialize, Deserialize)]
pub struct SiteProvider {
    #[command(flatten)]
    pub site: SiteChoice,
    #[command(subcommand)]
    pub verb: SiteProviderVerb,
}

#[derive(Debug, Subcommand, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SiteProviderVerb {
    /// Print the site's connections to providers, without their secrets
    #[command(after_help = "Examples:\n  stoa site provider list\n  stoa site provider list --site Mine --json")]
    List,
    /// Connect the site to a provider, at which this server has to be registered with the address that is printed
    #[command(after_help = "Examples:\n  \
        stoa site provider add google --issuer https://accounts.google.com --client-id ID --client-secret-file secret.txt --label Google\n  \
        stoa site provider add staff --issuer https://login.example.org --client-id ID --client-secret-file - --creates-members false")]
    Add(ProviderAdd),
    /// Change a connection; what isn't named stays
    #[command(after_help = "Examples:\n  stoa site provider update google --label Google\n  \
                            stoa site provider update staff --enabled false --site Mine")]
    Update(ProviderUpdate),
    /// Remove a connection, and by whom the provider knows members; those who have no password set one by a recovery link
    #[command(
        after_help = "Examples:\n  stoa site provider remove google\n  stoa site provider remove staff --site Mine --json"
    )]
    Remove {
        /// Its name or id
        #[arg(value_name = "NAME")]
        name: String,
    },
}

#[derive(Debug, Args, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProviderAdd {
    /// A word of small letters, digits and `-` for these commands
    #[arg(value_name = "NAME")]
    pub name: String,
    /// Address of the provider, as its discovery document has it
    #[arg(long, value_name = "URL")]
    pub issuer: String,
    /// Id of the client that the provider has for this site
    #[arg(long, value_name = "ID")]
    pub client_id: String,
    /// File with the client's secret, `-` for standard input; never shown again
    #[serde(skip)]
    #[arg(long, value_name = "FILE")]
    pub client_secret_file: PathBuf,
    /// What members call the provider [default: NAME]
    #[arg(long, value_name = "TEXT")]
    pub label: Option<String>,
    /// Whether people who are unknown get an account [default: true]
    #[arg(long, value_name = "BOOL")]
    pub creates_members: Option<bool>,
    /// Whether the provider's word that an address is verified is enough to sign in to the account that has shown the same address
    #[arg(long)]
    pub links_by_email: bool,
}

#[derive(Debug, Args, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProviderUpdate {
    /// Its name or id
    #[arg(value_name = "NAME")]
    pub name: String,
    /// Another id of the client
    #[arg(long, value_name = "ID")]
    pub client_id: Option<String>,
    /// File with another secret, `-` for standard input
    #[serde(skip)]
    #[arg(long, value_name = "FILE")]
    pub client_secret_file: Option<PathBuf>,
    /// What members call the provider
    #[arg(long, value_name = "TEXT")]
    pub label: Option<String>,
    /// Whether people who are unknown get an account
    #[arg(long, value_name = "BOOL")]
    pub creates_members: Option<bool>,
    /// Whether a verified address is enough
    #[arg(long, value_name = "BOOL")]
    pub links_by_email: Option<bool>,
    /// Whether members can use it
    #[arg(long, value_name = "BOOL")]
    pub enabled: Option<bool>,
}

#[derive(Debug, Args, Serialize, Deserialize)]
pub struct Captcha {
    #[command(flatten)]
    pub site: SiteChoice,
    #[command(subcommand)]
    pub verb: CaptchaVerb,
}

#[derive(Debug, Subcommand, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CaptchaVerb {
    /// Print the site's captcha without the secret, and whether the site asks for it
    #[command(after_help = "Examples:\n  stoa site captcha show\n  stoa site captcha show --site Mine --json")]
    Show,
    /// Take tokens of reCAPTCHA, hCaptcha, Turnstile or any other provider with a siteverify address
    ///
    /// The account pages draw the widgets of reCAPTCHA, hCaptcha and Turnstile. That of another provider they draw with
    /// --script-url; without it the provider is for sites with sign-in pages of their own.
    #[command(after_help = "Examples:\n  \
        stoa site captcha set --verify-url https://api.hcaptcha.com/siteverify --visible-key KEY --secret-file secret.txt\n  \
        stoa site captcha set --verify-url https://captcha.example.org/siteverify --script-url https://captcha.example.org/api.js --visible-key KEY --secret-file secret.txt")]
    Set(CaptchaSet),
    /// Go back to the proof of work and forget the provider and its secret
    #[command(after_help = "Examples:\n  stoa site captcha remove\n  stoa site captcha remove --site Mine")]
    Remove,
}

#[derive(Debug, Args, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CaptchaSet {
    /// Address that checks tokens, for example https://api.hcaptcha.com/siteverify
    #[arg(long, value_name = "URL")]
    pub verify_url: String,
    /// File with the provider's secret, `-` for standard input; never shown again
    #[serde(skip)]
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
    /// Script that draws the widget on the account pages, with the calls of reCAPTCHA v2; for providers that aren't known
    #[arg(long, value_name = "URL")]
    pub script_url: Option<String>,
}

/// NaN and infinities have no JSON, and would reach a running server as no score at all.
fn score(text: &str) -> Result<f64, String> {
    let score = text.parse().ok().filter(|it: &f64| it.is_finite());
    score.ok_or_else(|| "a number from 0 to 1 is expected".to_owned())
}

#[derive(Debug, Clone, Copy, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SecondFactors {
    Off,
    Optional,
    Required,
}

#[derive(Debug, Clone, Copy, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum OperatorFactors {
    Optional,
    Required,
}

#[derive(Debug, Clone, Copy, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ImpersonationAccess {
    Off,
    Read,
    Write,
}

/// Whole days, with or without a `d`.
fn days(text: &str) -> Result<u32, String> {
    let number = text.strip_suffix('d').unwrap_or(text);
    number.parse().map_err(|_| "a number of days is expected, such as 14d".to_owned())
}

#[derive(Debug, Clone, Copy, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum AutoIndexState {
    On,
    Off,
    Default,
}
