//! Whole collections in and out, as JSON, JSON Lines or CSV, in streams of any length.
//!
//! An import saves items by `_id` in batches, each one transaction: killed at any moment it leaves whole
//! batches, and run again it updates what it finds and goes on. Items without `_id` get new ones, so they
//! are added once more by a second run. An item that is refused is reported with its line and does not
//! stop the others; a file that can't be read on does.
//!
//! An export reads by key in chunks; it isn't one moment's picture of a collection that is being written.

mod cell;
mod export;
mod records;

pub use records::{Record, Records};

use crate::{
    Collection, Content,
    reference_write::Saving,
    sent::check_id,
    write::{self, Draft, Incoming, Mode},
};
use std::{io::Read, path::Path, sync::Arc};
use stoa_kernel::{Caller, Code, Fault, Result};
use stoa_query::SentId;
use stoa_store::Site;

/// Items of one transaction.
pub const BATCH: usize = 1000;
/// Bytes of text that a batch may have before it is written with fewer items.
const BATCH_BYTES: usize = 4 * 1024 * 1024;

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

/// What an import has come to so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    pub inserted: u64,
    pub updated: u64,
    pub failed: u64,
}

/// What an import tells while it runs.
pub enum Event<'a> {
    /// A batch is written for good.
    Progress(Counts),
    /// An item was refused.
    Refused { line: u64, fault: &'a Fault },
}

impl Content {
    /// Reads items from `source` and saves them. Their `_createdDate` and `_owner` count.
    ///
    /// Reading blocks the thread it is called on.
    ///
    /// # Errors
    /// WDE0027 unless the caller is privileged, WDE0025 for the collection, WDE0080 with the line where the
    /// file can't be read on; batches before that stay.
    pub async fn import(
        &self,
        site: &Site,
        caller: &Caller,
        collection: &str,
        format: Format,
        source: impl Read,
        mut tell: impl FnMut(Event<'_>),
    ) -> Result<Counts> {
        let collection = self.privileged(site, caller, collection).await?;
        let mut records = Records::new(format, source, &collection);
        let mut counts = Counts::default();
        loop {
            let (mut batch, mut bytes) = (Vec::with_capacity(BATCH), 0);
            let mut is_over = true;
            let mut broken = None;
            for it in records.by_ref() {
                match it {
                    Ok(it) => {
                        bytes += it.size();
                        batch.push(it);
                    }
                    Err(fault) => {
                        broken = Some(fault);
                        break;
                    }
                }
                if batch.len() == BATCH || bytes > BATCH_BYTES {
                    is_over = false;
                    break;
                }
            }
            self.import_batch(site, caller, &collection, batch, &mut counts, &mut tell).await?;
            if let Some(fault) = broken {
                return Err(fault);
            }
            if is_over {
                return Ok(counts);
            }
        }
    }

    /// Saves one batch in one transaction and counts what became of each record.
    async fn import_batch(
        &self,
        site: &Site,
        caller: &Caller,
        collection: &Arc<Collection>,
        batch: Vec<Record>,
        counts: &mut Counts,
        tell: &mut impl FnMut(Event<'_>),
    ) -> Result<()> {
        let (mut items, mut lines) = (Vec::with_capacity(batch.len()), Vec::with_capacity(batch.len()));
        let mut saving = self.saving(site, caller, collection, false).await?;
        for Record { line, text } in batch {
            match text.and_then(|it| self.imported(&it, &mut saving)) {
                Ok(it) => {
                    items.push(it);
                    lines.push(line);
                }
                Err(fault) => {
                    counts.failed += 1;
                    tell(Event::Refused { line, fault: &fault });
                }
            }
        }
        if !items.is_empty() {
            let mut target = self.target(site, caller, collection).await?;
            target.is_import = true;
            target.author = target.author.importing();
            let answers = write::change(site, &target, Mode::Save, items, None).await?;
            for (line, answer) in lines.into_iter().zip(answers) {
                match answer {
                    Ok(it) if it.is_new => counts.inserted += 1,
                    Ok(_) => counts.updated += 1,
                    Err(fault) => {
                        counts.failed += 1;
                        tell(Event::Refused { line, fault: &fault });
                    }
                }
            }
        }
        tell(Event::Progress(*counts));
        Ok(())
    }

    fn imported(&self, text: &str, saving: &mut Saving) -> Result<Incoming> {
        let mut item = stoa_query::canonical(text)?;
        saving.take(0, &mut item)?;
        let id = match std::mem::replace(&mut item.id, SentId::Absent) {
            SentId::Text(id) => {
                check_id(&id, self.limits())?;
                id
            }
            SentId::Absent => self.world().uuid(),
            SentId::Null | SentId::Other => return Err(Fault::new(Code::ItemIdInvalid)),
        };
        Ok(Incoming { id, draft: Draft::Whole(item) })
    }

    /// A collection for a caller to whom everything in it is allowed.
    async fn privileged(&self, site: &Site, caller: &Caller, id: &str) -> Result<Arc<Collection>> {
        if !caller.is_privileged() {
            return Err(Fault::new(Code::PermissionDenied));
        }
        self.collection(site, id).await
    }
}
