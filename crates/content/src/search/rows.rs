//! Items of a collection by the numbers of their rows, and the segments that are made of them.

use super::{indexer::Known, layout::Layout, write::NewSegment};
use serde_json::{Map, Value as Json};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use stoa_kernel::{Fault, LanguageTag, Result};
use stoa_search::segment::Builder;
use stoa_sql::{Value, params};
use stoa_store::{ReaderPool, Row, Site, Tx, boxed};

/// The most items of a segment that is made of items, and bytes of their documents, which are in memory at once.
pub(super) const GROUP: usize = 20_000;
pub(super) const GROUP_BYTES: usize = 8_000_000;
/// Rows of a collection that is built that are looked at in one statement.
pub(super) const NEXT: usize = 2_000;

/// The most languages of a collection that have lists of their own, beside the primary text: each question and each batch
/// meets the segments of more than one, and a tag is free to whoever may write.
pub(super) const LANGUAGES: usize = 200;

/// Which items are looked for.
#[derive(Debug, Clone)]
pub(super) enum Which {
    Ids(Vec<String>),
    Rows(Vec<i64>),
    /// Those of the next rows.
    Behind(i64),
}

/// An item that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Found {
    /// Its row.
    pub rid: u64,
    /// Bytes of its document, as often as it is read: once for each language, with what it is there.
    pub size: usize,
}

/// The rows of items, without their documents.
pub(super) async fn found(site: &Site, known: &Known, which: Which) -> Result<Vec<Found>> {
    let known = known.clone();
    site.read(ReaderPool::Scan, move |tx| {
        boxed!({
            let dialect = tx.dialect();
            let (condition, param): (String, Value) = match which {
                Which::Ids(ids) => (dialect.any_of("id", "$1"), ids.into()),
                Which::Rows(rids) => (dialect.any_row_of("rid", "$1"), texts(rids).into()),
                Which::Behind(rid) => (format!("rid > $1 order by rid limit {NEXT}"), rid.into()),
            };
            let (table, size) = (dialect.table(known.table), "cast(octet_length(doc) as bigint)");
            let read = |row: &Row<'_>| Ok(Found { rid: row.get::<i64>(0)?.unsigned_abs(), size: bytes(row.get(1)?) });
            let mut found =
                tx.rows(&format!("select rid, {size} from {table} where {condition}"), &[param], read).await?;
            if known.layout.has_translations() {
                let languages = languages(tx, &known, &found).await?;
                for it in &mut found {
                    let (count, values) = languages.get(&it.rid).copied().unwrap_or_default();
                    it.size = it.size.saturating_mul(1 + count).saturating_add(values);
                }
            }
            Ok(found)
        })
    })
    .await
}

/// Into how many languages items are translated, and the bytes of all that, of those that are.
async fn languages(tx: &mut Tx<'_>, known: &Known, found: &[Found]) -> Result<HashMap<u64, (usize, usize)>> {
    let columns = "item, count(distinct language), cast(sum(octet_length(value)) as bigint)";
    let sql = format!("{} group by item", translations(tx, columns));
    let read = |row: &Row<'_>| Ok((row.get::<i64>(0)?.unsigned_abs(), (bytes(row.get(1)?), bytes(row.get(2)?))));
    let params = params![&known.index.site, known.index.collection, texts(found.iter().map(|it| it.rid))];
    Ok(tx.rows(&sql, &params, read).await?.into_iter().collect())
}

/// A statement that reads what items of a collection are in other languages.
fn translations(tx: &Tx<'_>, columns: &str) -> String {
    let these = tx.dialect().any_row_of("item", "$3");
    format!("select {columns} from stoa.item_translation where site = $1 and collection = $2 and {these}")
}

fn bytes(number: i64) -> usize {
    usize::try_from(number).unwrap_or(0)
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

/// Segments of the items of these rows, as far as they are there: one of the primary text, and one for each language that
/// any of them is translated into, up to [`LANGUAGES`] in all: those that had lists first keep them.
pub(super) async fn segments_of(site: &Site, known: &Known, group: &[Found]) -> Result<Vec<NewSegment>> {
    if group.is_empty() {
        return Ok(Vec::new());
    }
    let (rids, of) = (texts(group.iter().map(|it| it.rid)), known.clone());
    let read = site.read(ReaderPool::Scan, move |tx| {
        boxed!({
            let (table, these) = (tx.dialect().table(of.table), tx.dialect().any_row_of("rid", "$1"));
            let sql = format!("select rid, doc from {table} where {these}");
            let document = |row: &Row<'_>| Ok((row.get::<i64>(0)?.unsigned_abs(), row.doc(1)?.into_owned()));
            let documents: BTreeMap<u64, String> =
                tx.rows(&sql, &params![rids.clone()], document).await?.into_iter().collect();
            if !of.layout.has_translations() {
                return Ok((documents, Languages::new(), BTreeSet::new()));
            }
            let values = values(tx, &of, rids).await?;
            let listed = listed(of.index.languages(tx).await?, values.keys());
            Ok((documents, values, listed))
        })
    });
    let ((documents, values, listed), layout) = (read.await?, known.layout.clone());
    // Words take longer than reading.
    tokio::task::spawn_blocking(move || built(&layout, &documents, &values, &listed)).await.map_err(Fault::internal)
}

/// Values of fields by language and row, those of fields whose words are searched.
type Languages = BTreeMap<String, BTreeMap<u64, Vec<(String, String)>>>;

async fn values(tx: &mut Tx<'_>, known: &Known, rids: Vec<String>) -> Result<Languages> {
    let sql = translations(tx, "item, language, field, value");
    let mut all = Languages::new();
    let read = |row: &Row<'_>| {
        let field: String = row.get(2)?;
        if known.layout.is_translatable(&field) {
            let of_language = all.entry(row.get(1)?).or_default();
            of_language.entry(row.get::<i64>(0)?.unsigned_abs()).or_default().push((field, row.get(3)?));
        }
        Ok(())
    };
    tx.rows(&sql, &params![&known.index.site, known.index.collection, rids], read).await?;
    Ok(all)
}

/// The languages that have lists: those that have some already, and others while there are few enough.
fn listed<'l>(mut listed: BTreeSet<String>, others: impl IntoIterator<Item = &'l String>) -> BTreeSet<String> {
    let new: Vec<String> = others.into_iter().filter(|it| !listed.contains(*it)).cloned().collect();
    let left = LANGUAGES.saturating_sub(listed.len());
    listed.extend(new.into_iter().take(left));
    listed
}

/// One language after the other, so that words of one alone are in memory.
fn built(
    layout: &Layout,
    documents: &BTreeMap<u64, String>,
    values: &Languages,
    listed: &BTreeSet<String>,
) -> Vec<NewSegment> {
    let primary = documents.iter().map(|(rid, document)| (*rid, document.as_str(), Vec::new()));
    let mut segments = vec![segment(layout, primary)];
    for (language, items) in values.iter().filter(|it| listed.contains(it.0)) {
        let lookup = LanguageTag::parse(language).map_or_else(|| vec![language.clone()], |it| it.lookup());
        let items = items.keys().filter_map(|rid| {
            // The nearest language comes last.
            let languages = lookup.iter().rev().filter_map(|it| values.get(it)?.get(rid));
            Some((*rid, documents.get(rid)?.as_str(), languages.flatten().collect()))
        });
        segments.push(NewSegment { language: language.clone(), ..segment(layout, items) });
    }
    segments.retain(|it| !it.segment.items().is_empty());
    segments
}

/// A segment of documents in which values take the place of those that they have.
fn segment<'d>(layout: &Layout, items: impl Iterator<Item = (u64, &'d str, Vec<&'d (String, String)>)>) -> NewSegment {
    let mut builder = Builder::default();
    for (rid, document, values) in items {
        match read(document, values) {
            Ok(it) => layout.with_texts(&it, |texts| builder.put(rid, texts)),
            // It can't be shown either, and must not keep others from being found.
            Err(error) => tracing::warn!(rid, "a document that can't be read has no words: {error}"),
        }
    }
    NewSegment { segment: builder.build(), level: 0, language: String::new() }
}

fn read(document: &str, values: Vec<&(String, String)>) -> serde_json::Result<Map<String, Json>> {
    let mut document: Map<String, Json> = serde_json::from_str(document)?;
    for (field, value) in values {
        document.insert(field.clone(), serde_json::from_str(value)?);
    }
    Ok(document)
}

fn texts(numbers: impl IntoIterator<Item = impl ToString>) -> Vec<String> {
    numbers.into_iter().map(|it| it.to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_with_lists_are_bounded_and_keep_them() {
        let tags = |from: usize, to: usize| (from..to).map(|it| format!("de-x-{it:04}")).collect::<BTreeSet<_>>();
        let first = listed(BTreeSet::new(), &tags(500, 1_000));
        assert_eq!(first, tags(500, 500 + LANGUAGES));
        assert_eq!(listed(first.clone(), &tags(0, 600)), first, "none takes the place of another");
        assert_eq!(listed(tags(0, LANGUAGES - 1), &tags(0, 999)), tags(0, LANGUAGES));
        assert_eq!(listed(tags(0, 3), &tags(2, 5)), tags(0, 5));
    }

    #[test]
    fn groups_are_bounded_in_items_and_bytes() {
        let found = |sizes: &[usize]| sizes.iter().map(|size| Found { rid: 1, size: *size }).collect::<Vec<_>>();
        let lengths = |sizes: &[usize]| groups(&found(sizes)).iter().map(|it| it.len()).collect::<Vec<_>>();
        assert_eq!(lengths(&[1; 50_000]), [20_000, 20_000, 10_000]);
        assert_eq!(lengths(&[GROUP_BYTES + 1, 1, GROUP_BYTES - 1, 1]), [1, 2, 1]);
        assert!(lengths(&[]).is_empty());
    }
}
