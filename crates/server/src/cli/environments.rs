//! `stoa environments …`

use super::choice::{EnvironmentName, SiteChoice};
use clap::{Args, Subcommand};
use serde::{Deserialize, Serialize};

#[derive(Debug, Args, Serialize, Deserialize)]
pub struct Environments {
    #[command(flatten)]
    pub site: SiteChoice,
    #[command(subcommand)]
    pub verb: EnvironmentsVerb,
}

#[derive(Debug, Subcommand, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum EnvironmentsVerb {
    /// Make the SANDBOX of a site, with nothing in it
    #[command(after_help = "Examples:\n  stoa environments create\n  stoa environments create --site Mine --json")]
    Create,
    /// Copy collections with their items from one environment to the other, where they replace what is there
    #[command(after_help = "Examples:\n  stoa environments copy --from live --to sandbox\n  \
                            stoa environments copy cars makers --from sandbox --to live --json")]
    Copy(CopyChoice),
    /// Tell what a copy would add, change and remove
    #[command(after_help = "Examples:\n  stoa environments diff --from sandbox --to live\n  \
                            stoa environments diff cars --from live --to sandbox --ids 100 --json")]
    Diff {
        #[command(flatten)]
        choice: CopyChoice,
        /// How many ids of items of each kind at most
        #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(0..=1000))]
        ids: u32,
    },
    /// Undo a copy: what it replaced comes back, and what was written to its collections since goes
    #[command(after_help = "Examples:\n  stoa environments undo\n  \
                            stoa environments undo 0198f1c2-7d1e-7aa0-8f3b-0c2f5b7e9d10 --json")]
    Undo {
        /// Id of the copy [default: the latest that succeeded]
        copy: Option<String>,
    },
    /// Show the environments of a site, and the copies between them
    #[command(after_help = "Examples:\n  stoa environments status\n  stoa environments status --site Mine --json")]
    Status,
    /// Delete the SANDBOX, or some of its collections
    #[command(after_help = "Examples:\n  stoa environments delete --yes SANDBOX\n  \
                            stoa environments delete cars makers --yes SANDBOX --json")]
    Delete {
        /// Ids of collections [default: the whole SANDBOX]
        #[arg(value_name = "COLLECTION")]
        collections: Vec<String>,
        /// The word SANDBOX, so that nothing is asked
        #[arg(long, value_name = "NAME")]
        yes: Option<String>,
    },
}

/// What is to be copied.
#[derive(Debug, Args, Serialize, Deserialize)]
pub struct CopyChoice {
    /// Ids of collections [default: all that can be copied]
    #[arg(value_name = "COLLECTION")]
    pub collections: Vec<String>,
    /// The environment to copy from
    #[arg(long, value_enum, ignore_case = true, value_name = "ENVIRONMENT")]
    pub from: EnvironmentName,
    /// The other one
    #[arg(long, value_enum, ignore_case = true, value_name = "ENVIRONMENT")]
    pub to: EnvironmentName,
}
