//! What a unique index allows once: breaches are found before they are written, so that of many items
//! only those that breach it fail (WDE0123).
//!
//! Inserts leave it to the engine, which skips a row that breaches any unique index; here it is only found out
//! which. Changes are looked over first, in their transaction: on PostgreSQL it is run again when another
//! one came between, on SQLite none can.

use crate::{
    collection::{Collection, statements::Row},
    fault,
    schema::index::{self, Index, Status},
};
use serde_json::Value as Json;
use std::collections::{HashMap, HashSet};
use stoa_kernel::{Fault, Result, SiteId};
use stoa_query::plan::Field;
use stoa_sql::{Dialect, DocumentPath, params};
use stoa_store::{Error, Tx};

/// Of rows that were not inserted, the ids that are there.
pub(crate) async fn taken(
    tx: &mut Tx<'_>,
    collection: &Collection,
    rows: &[&Row],
    is_new: &[bool],
) -> Result<HashSet<String>> {
    let refused = rows.iter().zip(is_new).filter(|(_, it)| !**it).map(|(row, _)| row.id().to_owned());
    let refused: Vec<String> = refused.collect();
    if refused.is_empty() {
        return Ok(HashSet::new());
    }
    let sql = &collection.statements.some_without_documents;
    Ok(tx.rows(sql, &params![refused], |row| row.get::<String>(0)).await?.into_iter().collect())
}

/// Why each row was not inserted, if it wasn't: its id is [`taken`], or a value that must be unique.
pub(crate) fn refusals(
    collection: &Collection,
    rows: &[&Row],
    is_new: &[bool],
    taken: &HashSet<String>,
) -> Vec<Result<()>> {
    let answer = |(row, is_new): (&&Row, &bool)| match row.id() {
        _ if *is_new => Ok(()),
        id if taken.contains(id) => Err(fault::item_exists(collection.id.as_str(), id)),
        id => Err(conflict(collection, id, active(collection).next())),
    };
    rows.iter().zip(is_new).map(answer).collect()
}

/// Of rows that are to be written in this order, and whose ids differ, those that breach a unique index.
pub(crate) async fn breaches(tx: &mut Tx<'_>, collection: &Collection, rows: &[&Row]) -> Result<HashMap<usize, Fault>> {
    let mut found = HashMap::new();
    for index in active(collection) {
        let keys: Vec<Option<String>> = rows.iter().map(|it| key(index, it)).collect();
        let mut holders = holders(tx, collection, index, &keys).await?;
        // By item as well: to look through all holders for each row would take the square of their number.
        let mut held: HashMap<String, String> = holders.iter().map(|(key, id)| (id.clone(), key.clone())).collect();
        for (n, row) in rows.iter().enumerate() {
            if found.contains_key(&n) {
                continue;
            }
            let id = row.id();
            match keys.get(n).and_then(Option::as_ref) {
                Some(key) if holders.get(key).is_some_and(|it| it != id) => {
                    found.insert(n, conflict(collection, id, Some(index)));
                }
                key => {
                    // What it had before is free for those that come after it.
                    if let Some(before) = held.remove(id) {
                        holders.remove(&before);
                    }
                    if let Some(key) = key {
                        holders.insert(key.clone(), id.to_owned());
                        held.insert(id.to_owned(), key.clone());
                    }
                }
            }
        }
    }
    Ok(found)
}

/// Whether changes have to be looked over.
pub(crate) fn guards(collection: &Collection) -> bool {
    active(collection).next().is_some()
}

/// Whether values can be refused at all. This process may not know of an index yet.
pub(crate) async fn is_possible(tx: &mut Tx<'_>, site: &SiteId, collection: &Collection) -> Result<bool> {
    if guards(collection) {
        return Ok(true);
    }
    Ok(index::of_collection(tx, site, collection.table.number).await?.iter().any(|it| it.definition.unique))
}

/// What becomes of a call when the engine refused a row after all: another transaction came between, or
/// the index is so new that it wasn't known of.
pub(crate) fn refused(tx: &mut Tx<'_>, collection: &Collection, rows: &[&Row], error: Error) -> Fault {
    match error {
        Error::Unique(text) if guards(collection) => tx.again(&text),
        // Of several rows it isn't known which; they are tried one by one.
        Error::Unique(_) => conflict(collection, rows.first().map_or("", |it| it.id()), None),
        error => error.into(),
    }
}

/// Which items have these values now.
async fn holders(
    tx: &mut Tx<'_>,
    collection: &Collection,
    index: &Index,
    keys: &[Option<String>],
) -> Result<HashMap<String, String>> {
    let keys: Vec<String> = keys.iter().flatten().cloned().collect();
    let (dialect, table) = (tx.dialect(), &collection.statements.name);
    let key = expression(dialect, index);
    let sql = format!("select {key}, id from {table} where {}", dialect.any_of(&key, "$1"));
    let rows = tx.rows(&sql, &params![keys], |row| Ok((row.get(0)?, row.get(1)?))).await?;
    Ok(rows.into_iter().collect())
}

/// What the index holds of an item, as SQL; it is the index's own expression, so that it serves.
fn expression(dialect: &dyn Dialect, index: &Index) -> String {
    dialect.unique(&DocumentPath::field(&names(index)), index.definition.case_insensitive)
}

/// The same of a row that is to be written; nothing for a missing value.
fn key(index: &Index, row: &Row) -> Option<String> {
    let document: Json = serde_json::from_str(row.doc()).ok()?;
    let value = names(index).iter().try_fold(&document, |it, name| it.as_object()?.get(name))?;
    stoa_sql::key::unique(Some(&value.to_string()), index.definition.case_insensitive)
}

/// The names of its field, which is never one of the system.
fn names(index: &Index) -> Vec<String> {
    match index.definition.fields.first().map(|it| Field::parse(&it.path)) {
        Some(Field::Path(names)) => names,
        _ => Vec::new(),
    }
}

fn active(collection: &Collection) -> impl Iterator<Item = &Index> {
    collection.indexes.iter().filter(|it| it.definition.unique && it.status == Status::Active)
}

/// A value that another item has.
fn conflict(collection: &Collection, id: &str, index: Option<&Index>) -> Fault {
    let details = match index {
        Some(it) => format!("The index {} allows each value of {} once.", it.name, names(it).join(".")),
        None => "A unique index allows each value once.".to_owned(),
    };
    fault::value_not_unique(collection.id.as_str(), id, details)
}
