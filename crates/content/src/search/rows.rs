//! Items of a collection by the numbers of their rows, and the segments that are made of them.

use super::layout::Layout;
use serde_json::Map;
use std::sync::Arc;
use stoa_kernel::{Fault, Result};
use stoa_search::segment::{Builder, Segment};
use stoa_sql::{Table, Value, params};
use stoa_store::{ReaderPool, Row, Site, boxed};

/// The most items of a segment that is made of items, and bytes of their documents, which are in memory at once.
const GROUP: usize = 5_000;
const GROUP_BYTES: usize = 8_000_000;

/// Which items are looked for.
#[derive(Debug, Clone)]
pub(super) enum Which {
    Ids(Vec<String>),
    Rows(Vec<i64>),
    /// Those of the next rows, enough for a group.
    Behind(i64),
}

/// An item that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Found {
    /// Its row.
    pub rid: u64,
    /// Bytes of its document.
    size: usize,
}

/// The rows of items, without their documents.
pub(super) async fn found(site: &Site, table: Table, which: Which) -> Result<Vec<Found>> {
    let read = |row: &Row<'_>| {
        let (rid, size): (i64, i64) = (row.get(0)?, row.get(1)?);
        Ok(Found { rid: rid.unsigned_abs(), size: usize::try_from(size).unwrap_or(0) })
    };
    site.read(ReaderPool::Scan, move |tx| {
        boxed!({
            let dialect = tx.dialect();
            let (condition, param): (String, Value) = match which {
                Which::Ids(ids) => (dialect.any_of("id", "$1"), ids.into()),
                Which::Rows(rids) => (dialect.any_row_of("rid", "$1"), texts(rids).into()),
                Which::Behind(rid) => (format!("rid > $1 order by rid limit {GROUP}"), rid.into()),
            };
            let (table, size) = (dialect.table(table), "cast(octet_length(doc) as bigint)");
            Ok(tx.rows(&format!("select rid, {size} from {table} where {condition}"), &[param], read).await?)
        })
    })
    .await
}

/// Items side by side that are read at once.
pub(super) fn groups(found: &[Found]) -> Vec<&[Found]> {
    let (mut groups, mut start, mut bytes) = (Vec::new(), 0, 0);
    for (n, it) in found.iter().enumerate() {
        if n > start && (n - start == GROUP || bytes + it.size > GROUP_BYTES) {
            groups.push(&found[start..n]);
            (start, bytes) = (n, 0);
        }
        bytes += it.size;
    }
    groups.extend(Some(&found[start..]).filter(|it| !it.is_empty()));
    groups
}

/// A segment of the items of these rows, as far as they are there.
pub(super) async fn segment_of(site: &Site, table: Table, layout: &Arc<Layout>, group: &[Found]) -> Result<Segment> {
    if group.is_empty() {
        return Ok(Builder::default().build());
    }
    let rids = texts(group.iter().map(|it| it.rid));
    let read = site.read(ReaderPool::Scan, move |tx| {
        boxed!({
            let (table, these) = (tx.dialect().table(table), tx.dialect().any_row_of("rid", "$1"));
            let sql = format!("select rid, doc from {table} where {these}");
            let document = |row: &Row<'_>| Ok((row.get::<i64>(0)?.unsigned_abs(), row.doc(1)?.into_owned()));
            Ok(tx.rows(&sql, &params![rids], document).await?)
        })
    });
    let (documents, layout) = (read.await?, layout.clone());
    // Words take longer than reading.
    tokio::task::spawn_blocking(move || built(&layout, &documents)).await.map_err(Fault::internal)
}

fn built(layout: &Layout, documents: &[(u64, String)]) -> Segment {
    let mut builder = Builder::default();
    for (rid, document) in documents {
        let document: Map<String, serde_json::Value> = match serde_json::from_str(document) {
            Ok(it) => it,
            // It can't be shown either, and must not keep others from being found.
            Err(error) => {
                tracing::warn!(rid, "a document that can't be read has no words: {error}");
                continue;
            }
        };
        layout.with_texts(&document, |texts| builder.put(*rid, texts));
    }
    builder.build()
}

fn texts(numbers: impl IntoIterator<Item = impl ToString>) -> Vec<String> {
    numbers.into_iter().map(|it| it.to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_bounded_in_items_and_bytes() {
        let found = |sizes: &[usize]| sizes.iter().map(|size| Found { rid: 1, size: *size }).collect::<Vec<_>>();
        let lengths = |sizes: &[usize]| groups(&found(sizes)).iter().map(|it| it.len()).collect::<Vec<_>>();
        assert_eq!(lengths(&[1; 12_000]), [5_000, 5_000, 2_000]);
        assert_eq!(lengths(&[GROUP_BYTES + 1, 1, GROUP_BYTES - 1, 1]), [1, 2, 1]);
        assert!(lengths(&[]).is_empty());
    }
}
