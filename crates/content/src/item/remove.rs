//! Items removed by their ids.

use crate::{collection::access::covers, fault, item::row::WriteContext, reference::link, schema::level::Operation};
use std::collections::HashSet;
use stoa_kernel::Result;
use stoa_query::Filter;
use stoa_sql::params;
use stoa_store::{Site, Tx, boxed};

/// A call that removes items.
pub(crate) struct Removal {
    pub context: WriteContext,
    pub ids: Vec<String>,
    pub condition: Option<Filter>,
    /// Whether the documents are answered: a thousand of them need not be read to be removed.
    pub shows: bool,
}

/// Removes items and answers, for each id, the document that was there as the caller is shown it, or an empty
/// text if documents aren't wanted.
pub(crate) async fn remove(site: &Site, removal: Removal) -> Result<Vec<Result<String>>> {
    site.write_with(removal, |tx, removal| boxed!(removal.run(tx).await)).await
}

impl Removal {
    async fn run(&self, tx: &mut Tx<'_>) -> Result<Vec<Result<String>>> {
        let Self { context, ids, condition, shows } = self;
        let collection = context.collection();
        let scope = context.access().scope(Operation::Remove)?;
        if ids.len() > 1 {
            collection.statements.lock_rows(tx, ids).await?;
        }
        let mut there = context.existing(tx, ids, *shows).await?;
        let meeting = context.meeting(tx, ids, condition.as_ref()).await?;
        there.retain(|_, it| covers(&scope, it.owner.as_deref()));
        let meets = |id: &String| meeting.as_ref().is_none_or(|it| it.contains(id));
        let mut seen = HashSet::with_capacity(there.len());
        let removed = ids.iter().filter(|it| there.contains_key(*it) && meets(it) && seen.insert(it.as_str()));
        let removed: Vec<String> = removed.cloned().collect();
        // An id that stands twice in the list is found once.
        let answer = |id: &String| match there.remove(id) {
            Some(_) if !meets(id) => Err(fault::condition_failed(collection.id.as_str(), id)),
            Some(it) if *shows => Ok(context.view.show_last(&it.doc)),
            Some(_) => Ok(String::new()),
            None => Err(fault::item_not_found(collection.id.as_str(), id)),
        };
        let answers: Vec<_> = ids.iter().map(answer).collect();
        if !removed.is_empty() {
            tx.send(&collection.statements.delete, params![removed.clone()]).await?;
            link::items_removed(tx, &context.site, context.access(), &removed).await?;
            context.events.deleted(tx, &removed).await?;
        }
        Ok(answers)
    }
}
