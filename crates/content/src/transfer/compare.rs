//! Items of a file beside those that are there: what a dry run tells, and what an import by key leaves alone.

use crate::{
    ContentLimits,
    collection::translation::{self, AllValues},
    event::write::modified,
    item::{
        change::PendingChange,
        row::{Before, DocumentPart, NewValue, WriteContext},
        unique,
    },
    transfer::translations::bytes_of,
    wire::patch::PatchBudget,
};
use std::collections::{HashMap, HashSet};
use stoa_kernel::{Code, Fault, Result};
use stoa_store::{ReaderPool, Site, Tx, boxed};

/// What an item of a file would come to.
pub(super) enum Verdict {
    New,
    Changed,
    /// It is there as the file has it.
    Same,
    Refused(Fault),
}

/// Whether an item of a file is there as the file has it, both as JSON text: `there` is what a server answered. What a
/// server puts on items itself doesn't count, nor does the order of members.
pub fn is_same(item: &str, there: &str) -> bool {
    let limits = ContentLimits::default().query.item();
    let data = |text: &str| stoa_query::canonical(text, limits).map(|it| it.data());
    match (data(item), data(there)) {
        (Ok(item), Ok(there)) => modified(&there, &item).is_empty(),
        _ => false,
    }
}

/// A verdict for each item. Of several with one id only the first is compared with what is there; values that must be
/// unique are, where that is asked for, compared with what is there and not with the rest of the file.
pub(super) async fn compare(
    site: &Site,
    write: WriteContext,
    (changes, translations): (&[PendingChange], &[Option<AllValues>]),
    checks_unique: bool,
) -> Result<Vec<Verdict>> {
    let ids: Vec<String> = changes.iter().map(|it| it.id.clone()).collect();
    let sent = changes.iter().zip(translations).filter_map(|(it, all)| Some((it.id.clone(), all.clone()?)));
    let sent: Vec<_> = sent.collect();
    let read = site.read(ReaderPool::Scan, move |tx| {
        boxed!({
            let there = write.existing(tx, &ids, DocumentPart::Whole).await?;
            let translated = translated_alike(tx, &write, sent).await?;
            Ok((write, there, translated))
        })
    });
    let (write, there, translated) = read.await?;
    let (mut seen, mut verdicts) = (HashSet::new(), Vec::with_capacity(changes.len()));
    let (mut rows, mut row_places) = (Vec::new(), Vec::new());
    for (change, translations) in changes.iter().zip(translations) {
        let is_alike = translations.is_none() || translated.contains(&change.id);
        let before = there.get(&change.id).filter(|_| seen.insert(&change.id));
        let row = match (before, &change.value) {
            (Some(it), value) => {
                let before = Before { created: it.created, owner: it.owner.as_deref(), doc: &it.doc };
                write.changed_row(change.id.clone(), value, before, &mut PatchBudget::default())
            }
            (None, NewValue::Whole(item)) => write.new_row(change.id.clone(), item),
            (None, NewValue::Patch(_) | NewValue::Patched(..) | NewValue::Refused) => {
                Err(Fault::new(Code::ItemNotFound))
            }
        };
        let verdict = match (row, before) {
            (Err(fault), _) => Verdict::Refused(fault),
            (Ok(row), Some(before)) if is_alike && modified(&before.doc, row.doc()).is_empty() => Verdict::Same,
            (Ok(row), before) => {
                row_places.push(verdicts.len());
                rows.push(row);
                if before.is_some() { Verdict::Changed } else { Verdict::New }
            }
        };
        verdicts.push(verdict);
    }
    if checks_unique && !rows.is_empty() && unique::guards(write.collection()) {
        let collection = write.collection().clone();
        let read = site.read(ReaderPool::Scan, move |tx| {
            boxed!(unique::breaches(tx, &collection, &rows.iter().collect::<Vec<_>>()).await)
        });
        for (n, fault) in read.await? {
            verdicts[row_places[n]] = Verdict::Refused(fault);
        }
    }
    Ok(verdicts)
}

/// Which of these items are in other languages what a file says. Of several with one id only the first is compared.
async fn translated_alike(
    tx: &mut Tx<'_>,
    write: &WriteContext,
    sent: Vec<(String, AllValues)>,
) -> Result<HashSet<String>> {
    let (collection, mut wanted) = (write.collection(), HashMap::new());
    for (id, mut all) in sent {
        all.retain(|_, values| !values.is_empty());
        wanted.entry(id).or_insert(all);
    }
    if wanted.is_empty() {
        return Ok(HashSet::new());
    }
    let (place, ids) = ((&write.site, &**collection), wanted.keys().cloned().collect::<Vec<_>>());
    let sizes = translation::sizes(tx, place, &ids).await?;
    // Those of another size are others, and needn't be read: so no more is held than the file has.
    let is_as_long =
        |id: &String, all: &AllValues| sizes.get(id).copied().unwrap_or_default() == bytes_of(collection, all);
    wanted.retain(|id, all| is_as_long(id, all));
    let ids: Vec<String> = wanted.keys().cloned().collect();
    let mut stored = translation::all(tx, place, &ids).await?;
    wanted.retain(|id, all| stored.remove(id).unwrap_or_default() == *all);
    Ok(wanted.into_keys().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_the_same_whatever_their_stamps() {
        let there = r#"{"_id":"1","_owner":"x","_createdDate":{"$date":"2024-01-01T00:00:00.000Z"},"a":1,"b":{"$date":"2024-01-01T00:00:00.000Z"}}"#;
        for same in [
            r#"{"b":{"$date":"2024-01-01T00:00:00Z"}, "a":1.0}"#,
            r#"{"_id":"1","a":1,"b":{"$date":"2024-01-01T00:00:00.000Z"},"_owner":"y"}"#,
        ] {
            assert!(is_same(same, there), "{same}");
        }
        for other in [r#"{"a":1}"#, r#"{"a":2,"b":{"$date":"2024-01-01T00:00:00.000Z"}}"#, "[1]", "not JSON"] {
            assert!(!is_same(other, there), "{other}");
        }
    }
}
