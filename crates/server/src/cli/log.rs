//! `stoa log …`

use super::choice::SiteChoice;
use clap::{Args, Subcommand};
use serde::{Deserialize, Serialize};

#[derive(Debug, Args, Serialize, Deserialize)]
pub struct Log {
    #[command(flatten)]
    pub site: SiteChoice,
    #[command(subcommand)]
    pub verb: LogVerb,
}

#[derive(Debug, Subcommand, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum LogVerb {
    /// Show how much is in the log, and how far each consumer is
    #[command(after_help = "Examples:\n  stoa log status\n  stoa log status --site Mine --json")]
    Status,
    /// Say that the site's data were replaced by a backup: who read on from a place in its log is told of a gap
    #[command(after_help = "Examples:\n  stoa log restored\n  stoa log restored --site Mine")]
    Restored,
    /// Print the rows of the log, a line of JSON each, from where the last reader of this name stopped
    #[command(
        after_help = "Examples:\n  stoa log follow nightly --oldest --once > rows.jsonl\n  stoa log follow watch --site Mine"
    )]
    Follow {
        /// Of a consumer of your own: 1 to 60 of the characters a to z, 0 to 9, - and _
        name: String,
        /// Begin with the oldest row that is there, when the name is new; else with what comes from now on
        #[arg(long)]
        oldest: bool,
        /// Stop where nothing more can be read
        #[arg(long)]
        once: bool,
    },
    /// Choose what else the log tells of
    #[command(after_help = "Examples:\n  stoa log set --redirect-sessions true\n  \
                            stoa log set --redirect-sessions false --site Mine")]
    Set {
        /// Whether it tells of each redirect session, which is a row for every sign-in
        #[arg(long, value_name = "ON", action = clap::ArgAction::Set)]
        redirect_sessions: bool,
    },
    /// Forget a name that followed the log; no rows are kept for it any more
    #[command(after_help = "Examples:\n  stoa log forget nightly\n  stoa log forget nightly --site Mine")]
    Forget {
        /// The name that followed
        name: String,
    },
}
