//! Items removed by their ids.

use crate::{
    collection::access::{covers, reads_documents},
    event::write::{DeletedItem, pieces},
    fault,
    item::{
        row::{DocumentPart, Existing, Seen, WriteContext},
        translation,
    },
    reference::link,
    schema::level::Operation,
};
use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};
use stoa_kernel::Result;
use stoa_query::Filter;
use stoa_sql::params;
use stoa_store::{Row, Site, Tx, boxed};

/// A call that removes items.
pub(crate) struct Removal {
    pub context: Arc<WriteContext>,
    pub ids: Vec<String>,
    pub condition: Option<Filter>,
    /// Whether the documents are answered: a thousand of them need not be read to be removed.
    pub shows: bool,
    /// What the items must still be, where hooks saw them; one that isn't among them wasn't there.
    pub seen: Option<HashMap<String, Seen>>,
}

/// Removes items and answers, for each id, the document that was there as the caller is shown it, or an empty
/// text if documents aren't wanted.
pub(crate) async fn remove(site: &Site, removal: Removal) -> Result<Vec<Result<String>>> {
    site.write_with(removal, |tx, removal| boxed!(removal.run(tx).await)).await
}

impl Removal {
    pub(crate) async fn run(&self, tx: &mut Tx<'_>) -> Result<Vec<Result<String>>> {
        let Self { context, ids, condition, shows, seen: _ } = self;
        let collection = context.collection();
        let scope = context.access().scope(Operation::Remove)?;
        if ids.len() > 1 {
            collection.statements.lock_rows(tx, ids).await?;
        }
        let is_read = *shows || self.seen.is_some() || reads_documents(&scope);
        let part = match (is_read, context.events.keeps_old()) {
            (true, _) => DocumentPart::Whole,
            (false, true) => DocumentPart::Length,
            (false, false) => DocumentPart::Nothing,
        };
        let mut there = context.existing(tx, ids, part).await?;
        let meeting = context.meeting(tx, ids, condition.as_ref()).await?;
        there.retain(|_, it| covers(&scope, it.owner.as_deref(), &it.doc));
        let meets = |id: &String| meeting.as_ref().is_none_or(|it| it.contains(id));
        let mut found = HashSet::with_capacity(there.len());
        let changed: HashSet<String> = match &self.seen {
            None => HashSet::new(),
            Some(seen) => {
                let is_changed = |it: &(&String, &Existing)| seen.get(it.0) != Some(&Seen::of(&it.1.doc));
                there.iter().filter(is_changed).map(|it| it.0.clone()).collect()
            }
        };
        let is_removed = |it: &String| there.contains_key(it) && meets(it) && !changed.contains(it);
        let removed = ids.iter().filter(|it| is_removed(it) && found.insert(it.as_str()));
        let removed: Vec<String> = removed.cloned().collect();
        if !removed.is_empty() {
            self.delete(tx, &removed, &there).await?;
        }
        // An id that stands twice in the list is found once.
        let answer = |id: &String| match there.remove(id) {
            Some(_) if !meets(id) => Err(fault::condition_failed(collection.id.as_str(), id)),
            Some(_) if changed.contains(id) => Err(fault::item_changed(collection.id.as_str(), id)),
            Some(it) if *shows => Ok(context.view.show_last(&it.doc)),
            Some(_) => Ok(String::new()),
            None => Err(fault::item_not_found(collection.id.as_str(), id)),
        };
        Ok(ids.iter().map(answer).collect())
    }

    /// Removes items that are there, and tells the outbox; what they were, where it is to know.
    async fn delete(&self, tx: &mut Tx<'_>, ids: &[String], there: &HashMap<String, Existing>) -> Result<()> {
        let context = &self.context;
        let is_told = context.events.keeps_old();
        match is_told && !self.shows {
            true => self.delete_telling(tx, ids, there).await?,
            false => tx.send(&context.collection().statements.delete, params![ids.to_vec()]).await?,
        }
        link::items_removed(tx, &context.site, context.access(), ids).await?;
        let rows: Vec<i64> = ids.iter().filter_map(|id| Some(there.get(id)?.rid)).collect();
        translation::items_removed(tx, &context.site, context.access(), &rows).await?;
        if is_told && !self.shows {
            return Ok(());
        }
        let item = |id: &String| {
            let Existing { rid, doc, .. } = there.get(id)?;
            Some(DeletedItem { id: id.clone(), rid: *rid, doc: if is_told { doc.clone() } else { String::new() } })
        };
        context.events.deleted(tx, &ids.iter().filter_map(item).collect::<Vec<_>>()).await
    }

    /// Removes items whose documents weren't read, as many at a time as one row tells of: a thousand of the largest
    /// would be half a gigabyte.
    async fn delete_telling(&self, tx: &mut Tx<'_>, ids: &[String], there: &HashMap<String, Existing>) -> Result<()> {
        let context = &self.context;
        let read = |row: &Row<'_>| Ok((row.get::<String>(0)?, row.doc(1)?.into_owned()));
        for piece in pieces(ids, |id| there.get(id).map_or(0, |it| it.length)) {
            let sql = &context.collection().statements.delete_returning;
            let mut docs: HashMap<String, String> =
                tx.rows(sql, &params![piece.to_vec()], read).await?.into_iter().collect();
            let item =
                |id: &String| Some(DeletedItem { id: id.clone(), rid: there.get(id)?.rid, doc: docs.remove(id)? });
            let items: Vec<_> = piece.iter().filter_map(item).collect();
            context.events.deleted(tx, &items).await?;
        }
        Ok(())
    }
}
