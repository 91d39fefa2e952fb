//! Collections as they are at one moment, in a file without a name.
//!
//! The read holds a place among scans and one state of the data for as long as it takes to write the items to the file,
//! however long the copy then writes; a read ends after as long as any scan. What is written meanwhile isn't in it.

use crate::{
    collection::{
        statements::{Row, Statements},
        stored::{self, StoredCollection},
    },
    fault,
    item::truncate::chunk_end,
    schema::{field::is_encrypted, index::Status, relation},
};
use serde::{Deserialize, Serialize};
use std::{
    io::{BufRead, BufReader, Lines, Seek, Write},
    path::Path,
};
use stoa_kernel::{Code, Fault, Millis, Result, SiteId};
use stoa_sql::{Table, params};
use stoa_store::{Requester, Site, Tx, boxed};
use tempfile::SpooledTempFile;

/// Bytes that are kept in memory.
const MEMORY: usize = 4 * 1024 * 1024;
/// Items of a piece, and bytes of their documents beside those of its last item.
const ROWS: usize = 500;
const BYTES: usize = 1_000_000;

/// Collections with their items.
pub(super) struct Snapshot {
    pub collections: Vec<StoredCollection>,
    items: SpooledTempFile,
}

/// An item: the position of its collection, then the columns of its row.
#[derive(Serialize, Deserialize)]
struct Line(usize, String, Millis, Millis, Option<String>, String);

impl Snapshot {
    /// # Errors
    /// WDE0025 for a collection that isn't there, WDE0119 for what no copy carries, TIME_LIMIT for more than one read may
    /// take, and an internal fault when the file can't be written.
    pub(super) async fn take(site: &Site, ids: &[String]) -> Result<Self> {
        let (site_id, number, ids, directory) = (site.id.clone(), site.number, ids.to_vec(), site.scratch.clone());
        let taken = site.read_snapshot(Requester::SERVER, move |tx| {
            boxed!({
                let (mut collections, mut file) = (Vec::with_capacity(ids.len()), File::new(&directory));
                for (position, id) in ids.iter().enumerate() {
                    let stored = stored::live(tx, &site_id, id).await?;
                    let stored = stored.ok_or_else(|| fault::collection_not_found(id))?;
                    check(tx, &site_id, &stored).await?;
                    file.put_items(tx, Table { site: number, number: stored.number }, position).await?;
                    collections.push(stored);
                }
                Ok(Self { collections, items: file.0 })
            })
        });
        taken.await
    }

    /// The items, a piece after another. Each is of one collection, whose position comes first.
    pub(super) fn pieces(mut self) -> Result<Pieces> {
        self.items.rewind().map_err(unkept)?;
        Ok(Pieces { lines: BufReader::with_capacity(1 << 16, self.items).lines(), next: None })
    }
}

struct File(SpooledTempFile);

impl File {
    fn new(directory: &Path) -> Self {
        Self(SpooledTempFile::new_in(MEMORY, directory))
    }

    async fn put_items(&mut self, tx: &mut Tx<'_>, table: Table, position: usize) -> Result<()> {
        let statements = Statements::new(tx.dialect(), table, "");
        let mut after = 0;
        while let Some(last) = chunk_end(tx, &statements.name, after, i64::MAX).await? {
            let read = |row: &stoa_store::Row<'_>| {
                Ok(Line(position, row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.doc(4)?.into_owned()))
            };
            for line in tx.rows(&statements.between, &params![after, last], read).await? {
                let mut text = serde_json::to_vec(&line).map_err(Fault::internal)?;
                text.push(b'\n');
                self.0.write_all(&text).map_err(unkept)?;
            }
            after = last;
        }
        Ok(())
    }
}

/// See [`Snapshot::pieces`].
pub(super) struct Pieces {
    lines: Lines<BufReader<SpooledTempFile>>,
    /// The first item of the next piece.
    next: Option<Line>,
}

impl Iterator for Pieces {
    type Item = Result<(usize, Vec<Row>)>;

    fn next(&mut self) -> Option<Self::Item> {
        self.piece().transpose()
    }
}

impl Pieces {
    fn piece(&mut self) -> Result<Option<(usize, Vec<Row>)>> {
        let Some(Line(position, ..)) = self.peek()? else { return Ok(None) };
        let (position, mut rows, mut bytes) = (*position, Vec::new(), 0);
        while rows.len() < ROWS && bytes < BYTES {
            if self.peek()?.is_none_or(|it| it.0 != position) {
                break;
            }
            let Some(Line(_, id, created, updated, owner, doc)) = self.next.take() else { break };
            bytes += doc.len();
            rows.push(Row::new(id, created, updated, owner, doc));
        }
        Ok(Some((position, rows)))
    }

    fn peek(&mut self) -> Result<Option<&Line>> {
        if self.next.is_none()
            && let Some(line) = self.lines.next()
        {
            self.next = Some(serde_json::from_str(&line.map_err(unkept)?).map_err(Fault::internal)?);
        }
        Ok(self.next.as_ref())
    }
}

fn unkept(error: std::io::Error) -> Fault {
    Fault::internal(format!("keeping the snapshot of a copy: {error}"))
}

/// What a collection has that no copy carries.
pub(super) async fn obstacle(
    tx: &mut Tx<'_>,
    site: &SiteId,
    stored: &StoredCollection,
) -> Result<Option<&'static str>> {
    let definition = &stored.definition;
    if definition.fields.iter().any(is_encrypted) {
        return Ok(Some("encrypted fields"));
    }
    if definition.holds_translations() {
        return Ok(Some("values in other languages (the plugin MULTILINGUAL)"));
    }
    if definition.draft_levels().is_some() || definition.published_id().is_some() {
        return Ok(Some("drafts of their own (the plugin DRAFT_ITEMS)"));
    }
    let is_linked = !relation::relations(tx, site, stored.number).await?.is_empty();
    Ok(is_linked.then_some("multi-references"))
}

/// Refuses a collection that can't be copied, or be copied over, as it is.
///
/// # Errors
/// WDE0119 for what no copy carries; UNAVAILABLE while a background job works on all items.
pub(super) async fn check(tx: &mut Tx<'_>, site: &SiteId, stored: &StoredCollection) -> Result<()> {
    if let Some(what) = obstacle(tx, site, stored).await? {
        return Err(not_carried(&stored.id, what));
    }
    let sql = "select 1 from stoa.sweep where site = $1 and collection = $2 limit 1";
    match tx.row(sql, &params![site, stored.number], |_| Ok(())).await? {
        None => Ok(()),
        Some(()) => {
            let text = format!(
                "The collection {} is being emptied, or the values of a deleted field are being removed; copy it later.",
                stored.id
            );
            Err(Fault::because(Code::Unavailable, text).with("collectionName", stored.id.as_str()))
        }
    }
}

/// The same of a collection whose table another takes the place of. An index is built and removed beside the writers, and
/// would have the transaction wait, and all writers behind it.
///
/// # Errors
/// As for [`check`]; UNAVAILABLE while an index is built or removed.
pub(super) async fn check_replaced(tx: &mut Tx<'_>, site: &SiteId, stored: &StoredCollection) -> Result<()> {
    check(tx, site, stored).await?;
    match stored.indexes.iter().find(|it| matches!(it.status, Status::Building | Status::Dropping)) {
        None => Ok(()),
        Some(index) => {
            let text = format!("The index {} of {} is being built or removed; try again later.", index.name, stored.id);
            Err(Fault::because(Code::Unavailable, text).with("collectionName", stored.id.as_str()))
        }
    }
}

/// WDE0119 with the collection and what stands in the way.
pub(super) fn not_carried(id: &str, what: &str) -> Fault {
    let text = format!("The collection {id} can't be copied between environments: copies don't carry {what}.");
    Fault::because(Code::NotSupported, text).with("collectionName", id)
}
