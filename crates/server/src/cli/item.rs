//! `stoa item …`

use super::choice::ContentChoice;
use clap::{Args, Subcommand};
use serde::{Deserialize, Serialize};

#[derive(Debug, Args, Serialize, Deserialize)]
pub struct Item {
    #[command(flatten)]
    pub site: ContentChoice,
    #[command(subcommand)]
    pub verb: ItemVerb,
}

#[derive(Debug, Subcommand, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ItemVerb {
    /// Print an item as JSON
    #[command(after_help = "Examples:\n  stoa item get books b1\n  stoa item get books b1 --site Mine")]
    Get {
        /// Id of the collection
        collection: String,
        /// Id of the item
        id: String,
    },
    /// Print the items that a filter matches
    #[command(after_help = "Examples:\n  stoa item query books --filter '{\"price\":{\"$lt\":10}}' --sort -price\n  \
                            stoa item query books --limit 5 --json")]
    Query {
        /// Id of the collection
        collection: String,
        /// A filter as JSON, in single quotes for the shell
        #[arg(long, value_name = "JSON")]
        filter: Option<String>,
        /// Field to sort by, with a `-` before it for the greatest first; may be given several times
        #[arg(long, value_name = "FIELD", allow_hyphen_values = true)]
        sort: Vec<String>,
        /// How many at most
        #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1000))]
        limit: u32,
        /// How many to pass over
        #[arg(long, default_value_t = 0)]
        skip: u32,
    },
    /// Insert an item
    #[command(after_help = "Examples:\n  stoa item insert books '{\"title\":\"Emma\"}'\n  stoa item insert books -")]
    Insert {
        /// Id of the collection
        collection: String,
        /// The item as JSON, in single quotes for the shell; `-` for standard input
        item: String,
    },
    /// Remove an item
    #[command(after_help = "Examples:\n  stoa item remove books b1\n  stoa item remove books b1 --site Mine --json")]
    Remove {
        /// Id of the collection
        collection: String,
        /// Id of the item
        id: String,
    },
}
