//! Whole collections in and out, as JSON, JSON Lines or CSV, in streams of any length.
//!
//! An import saves items by `_id` in batches, each one transaction: killed at any moment it leaves whole
//! batches, and run again it updates what it finds and goes on. Items without `_id` get new ones, so they
//! are added once more by a second run. An item that is refused is reported with its line and does not
//! stop the others; a file that can't be read on does.
//!
//! Multi-references travel as arrays of ids (decision 10). An export writes those of the fields that
//! were declared; their inverse fields on other collections say the same once more.
//!
//! An export reads by key in chunks; it isn't one moment's picture of a collection that is being written.

mod cell;
mod compare;
mod deferred;
mod export;
mod import;
mod records;
mod translations;

pub use compare::is_same;
pub use deferred::{DeferredLinks, DeferredValue};
pub use import::{BATCH, Counts, Event, ImportOptions, LinkCounts, with_id_of};
pub use records::{Record, Records};

use crate::{
    RequestContext,
    collection::{
        self, Collection,
        access::{self, Command},
    },
};
use std::{path::Path, sync::Arc};
use stoa_kernel::Result;

/// How items are written down in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// One array of objects.
    Json,
    /// One object a line.
    JsonLines,
    /// A header line with field names, then a line an item.
    Csv,
}

/// A file's side of a transfer: what it holds, and how.
#[derive(Debug, Clone, Copy)]
pub struct FileOf<'a> {
    /// The collection's id.
    pub collection: &'a str,
    pub format: Format,
}

impl Format {
    /// `json`, `jsonl` or `csv`.
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "json" => Some(Self::Json),
            "jsonl" | "ndjson" => Some(Self::JsonLines),
            "csv" => Some(Self::Csv),
            _ => None,
        }
    }

    /// The format that a file's name ends with.
    pub fn of_file(path: &Path) -> Option<Self> {
        Self::parse(&path.extension()?.to_str()?.to_ascii_lowercase())
    }
}

/// A collection for a caller to whom everything in it is allowed.
async fn commanded(context: RequestContext<'_>, id: &str) -> Result<(Command, Arc<Collection>)> {
    let command = access::command(context.caller)?;
    Ok((command, collection::load(context.content, context.site, id).await?))
}
