//! `stoa mail …`

use super::choice::SiteChoice;
use clap::{Args, Subcommand};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

#[derive(Debug, Args, Serialize, Deserialize)]
pub struct Mail {
    #[command(flatten)]
    pub site: SiteChoice,
    #[command(subcommand)]
    pub verb: MailVerb,
}

#[derive(Debug, Subcommand, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum MailVerb {
    /// Print the site's own words as JSON
    #[command(after_help = "Examples:\n  stoa mail show\n  stoa mail show --site Mine > words.json")]
    Show,
    /// Replace the site's own words
    #[command(after_help = "Examples:\n  stoa mail set words.json\n  stoa mail set - --site Mine")]
    Set {
        /// JSON file as in docs/mail.md, `-` for standard input
        #[serde(skip)]
        file: PathBuf,
    },
    /// Write every message in every language into a directory, for looking at
    #[command(after_help = "Examples:\n  stoa mail preview ./preview\n  stoa mail preview /tmp/mail --site Mine")]
    Preview {
        #[serde(skip)]
        directory: PathBuf,
    },
    /// List what could not be sent in the last month, and why
    #[command(after_help = "Examples:\n  stoa mail failures\n  stoa mail failures --json")]
    Failures,
}
