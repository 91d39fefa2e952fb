//! Items inserted, without a look at what is there: the engine finds out which ids are new.
//!
//! One call is one transaction whatever the number of items, with a statement for all of them and one
//! row of the outbox for each kind of event. A refusal of one item leaves the others alone.

use crate::{
    collection::statements::Row,
    item::{ownership, row::WriteContext, unique},
};
use std::sync::Arc;
use stoa_kernel::{Caller, Result};
use stoa_store::{Site, Tx, boxed};

/// A call that inserts rows whose ids differ.
pub(crate) struct Insert {
    pub context: WriteContext,
    pub rows: Vec<Row>,
}

/// Inserts rows and tells for each why it wasn't, if so.
pub(crate) async fn insert(site: &Site, insert: &Arc<Insert>) -> Result<Vec<Result<()>>> {
    let Insert { context, rows } = &**insert;
    let is_visitor = matches!(context.caller().bare(), Caller::Visitor { .. });
    let is_draft = context.collection().definition.published_id().is_some();
    // Visitors may become members at this very moment, and what is linked may go, or the collection of drafts, so such
    // writes decide on what they read.
    let decides = is_visitor || is_draft || !context.references.is_empty();
    // Most inserts are of one item that is new, and decide on nothing.
    if let ([row], false, false) = (rows.as_slice(), decides, context.access().is_import())
        && insert_with_event(site, context, row).await?
    {
        return Ok(vec![Ok(())]);
    }
    let answers = if decides {
        site.write_with(insert.clone(), |tx, it| boxed!(insert_in(tx, &it.context, &it.rows).await)).await?
    } else {
        site.append_with(insert.clone(), |tx, it| boxed!(insert_in(tx, &it.context, &it.rows).await)).await?
    };
    ownership::visitor_wrote(context);
    Ok(answers)
}

async fn insert_with_event(site: &Site, context: &WriteContext, row: &Row) -> Result<bool> {
    let event = context.events.creation(std::iter::once(row.doc()));
    site.insert_with_event(context.collection().statements.insert_with_event(row, event)).await
}

async fn insert_in(tx: &mut Tx<'_>, context: &WriteContext, rows: &[Row]) -> Result<Vec<Result<()>>> {
    ownership::visitor_writes(tx, context).await?;
    context.check_drafts(tx).await?;
    let references = &context.references;
    if references.is_empty() {
        return insert_rows(tx, context, &rows.iter().collect::<Vec<_>>()).await;
    }
    let ids: Vec<String> = rows.iter().map(|it| it.id().to_owned()).collect();
    let mut refused = references.refusals(tx, context.collection(), 0, &ids).await?;
    let accepted: Vec<_> = rows.iter().enumerate().filter(|(n, _)| !refused.contains_key(n)).map(|it| it.1).collect();
    let mut inserted = insert_rows(tx, context, &accepted).await?.into_iter();
    let answer = |n| match refused.remove(&n) {
        Some(fault) => Err(fault),
        None => inserted.next().unwrap_or(Ok(())),
    };
    let answers: Vec<_> = (0..rows.len()).map(answer).collect();
    references.write(tx, &context.events, 0, (&ids, |n| answers[n].is_ok())).await?;
    Ok(answers)
}

async fn insert_rows(tx: &mut Tx<'_>, context: &WriteContext, rows: &[&Row]) -> Result<Vec<Result<()>>> {
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let (collection, is_new) = (context.collection(), insert_new(tx, context, rows).await?);
    let mut taken = unique::taken(tx, collection, rows, &is_new).await?;
    let is_free = |n: &usize| !is_new[*n] && !taken.contains(rows[*n].id());
    let free: Vec<usize> = (0..rows.len()).filter(is_free).collect();
    if !free.is_empty() {
        // An item with this id was removed between the two looks, or a unique value is taken: trying again tells.
        let again: Vec<&Row> = free.iter().map(|n| rows[*n]).collect();
        if insert_new(tx, context, &again).await?.contains(&true) {
            // The log orders by transactions, and this one may have begun before the one that removed the item.
            return Err(tx.again("an item was removed while others of the call were inserted"));
        }
        taken = unique::taken(tx, collection, rows, &is_new).await?;
        let is_free = |n: &usize| !is_new[*n] && !taken.contains(rows[*n].id());
        let free: Vec<usize> = (0..rows.len()).filter(is_free).collect();
        if !free.is_empty() && !unique::is_possible(tx, &context.site, collection).await? {
            // Their ids come and go: they were there both times when it counted.
            taken.extend(free.into_iter().map(|n| rows[n].id().to_owned()));
        }
    }
    Ok(unique::refusals(collection, rows, &is_new, &taken))
}

/// Inserts those of the rows that are new, tells the outbox, and answers which they were.
pub(crate) async fn insert_new(tx: &mut Tx<'_>, context: &WriteContext, rows: &[&Row]) -> Result<Vec<bool>> {
    let values: Vec<_> = rows.iter().map(|it| it.values()).collect();
    let collection = context.collection();
    let rows_of_call = collection.statements.insert_rows(false, unique::guards(collection), &values);
    let is_new = tx.insert_rows(rows_of_call).await?;
    if is_new.contains(&true) {
        let docs = rows.iter().zip(&is_new).filter(|(_, is_new)| **is_new).map(|(row, _)| row.doc());
        context.events.created(tx, docs).await?;
    }
    Ok(is_new)
}

/// Makes the item of a collection that has but one, with the defaults of its fields, unless it is there.
pub(crate) async fn insert_single(tx: &mut Tx<'_>, context: &WriteContext, id: &str) -> Result<()> {
    let row = context.single_row(id.to_owned())?;
    insert_in(tx, context, &[row]).await?;
    Ok(())
}
