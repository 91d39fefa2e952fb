//! `stoa import` and `stoa export`

use super::choice::ContentChoice;
use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

#[derive(Debug, Args, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[command(after_help = "Examples:\n  stoa import books books.csv --create --key isbn\n  \
                        stoa import books books.csv --key isbn --url https://www.example.org --api-key k1.secret")]
pub struct Import {
    /// Collection to write into
    pub collection: String,
    /// File to read, `-` for standard input
    #[serde(skip)]
    pub file: PathBuf,
    /// Format [default: by the file's ending, else jsonl]
    #[arg(long, value_enum)]
    pub format: Option<Format>,
    /// Field whose value is the id of an item that has none: the same file again adds nothing
    #[arg(long, value_name = "FIELD")]
    pub key: Option<String>,
    /// Make the collection, with the fields that the file has, if it is not there
    #[serde(skip)]
    #[arg(long)]
    pub create: bool,
    /// With --create: make it without asking
    #[serde(skip)]
    #[arg(long, requires = "create")]
    pub yes: bool,
    /// Read the file and tell what is wrong with it and what it would change, but write nothing
    #[arg(long, conflicts_with = "url")]
    pub dry_run: bool,
    /// Ask the site's hooks about each item
    #[arg(long, conflicts_with = "dry_run")]
    pub hooks: bool,
    /// Import into a running server elsewhere
    #[serde(skip)]
    #[arg(long, requires = "api_key")]
    pub url: Option<String>,
    /// API key for --url
    #[serde(skip)]
    #[arg(long, env = "STOA_API_KEY", hide_env_values = true)]
    pub api_key: Option<String>,
    #[command(flatten)]
    pub site: ContentChoice,
}

#[derive(Debug, Args, Serialize, Deserialize)]
#[command(after_help = "Examples:\n  stoa export books > books.jsonl\n  stoa export books --format csv --site Mine")]
pub struct Export {
    /// Collection to read
    pub collection: String,
    /// Format
    #[arg(long, value_enum, default_value_t = Format::Jsonl)]
    pub format: Format,
    #[command(flatten)]
    pub site: ContentChoice,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Format {
    /// One JSON object a line
    Jsonl,
    /// One JSON array of objects
    Json,
    /// Comma separated, first line names the fields
    Csv,
}
