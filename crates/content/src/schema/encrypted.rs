//! When a field may be declared encrypted (decisions/0013): from its first day on, and then for good.
//!
//! What items hold under a key stays as it is when a field is declared. So a field can't become encrypted
//! when there are values, clear ones would remain in items, indexes and events; nor can it cease to be.

use crate::{
    Collection, Content,
    schema::{
        definition::Definition,
        field,
        index::{self, Index, Status},
    },
};
use stoa_kernel::{Code, Fault, Result};
use stoa_query::{
    Filter, compile,
    plan::{Field, Test},
};
use stoa_sql::Writer;
use stoa_store::{Lane, Site, boxed};

/// Whether a definition may take the place of another, or be the first, as far as encryption goes.
///
/// # Errors
/// WDE0119 naming the field that isn't encrypted any more, or suddenly is, or that an index holds.
pub(crate) fn check(before: &Definition, after: &Definition, indexes: &[Index]) -> Result<()> {
    for (n, it) in after.fields.iter().enumerate() {
        let (key, is_encrypted) = (field::key(it), field::is_encrypted(it));
        match before.fields.iter().find(|old| field::key(old) == key).map(field::is_encrypted) {
            Some(was_encrypted) if was_encrypted == is_encrypted => {}
            Some(_) => return Err(refused(n, "can't be changed; delete the field and make another")),
            None if is_encrypted => {
                let is_of_it = |it: &&Index| it.status != Status::Dropping && it.definition.is_of(key);
                if let Some(it) = indexes.iter().find(is_of_it) {
                    return Err(refused(n, &format!("can't be while the index {} holds its values", it.name)));
                }
            }
            None => {}
        }
    }
    Ok(())
}

/// Whether an index may hold these fields.
///
/// # Errors
/// WDE0119 for an encrypted one.
pub(crate) fn check_index(definition: &Definition, index: &index::Definition) -> Result<()> {
    let encrypted = definition.fields.iter().filter(|it| field::is_encrypted(it)).map(field::key);
    match encrypted.into_iter().find(|key| index.is_of(key)) {
        None => Ok(()),
        Some(key) => {
            let text = format!("{key} is an encrypted field, which no index can hold.");
            Err(Fault::because(Code::NotSupported, text).with("propertyName", key))
        }
    }
}

/// The encrypted fields, by their places, that a definition adds to another.
pub(crate) fn added<'d>(before: &'d Definition, after: &'d Definition) -> impl Iterator<Item = (usize, &'d str)> {
    let encrypted = after.fields.iter().enumerate().filter(|(_, it)| field::is_encrypted(it));
    let keys = encrypted.map(|(n, it)| (n, field::key(it)));
    keys.filter(|(_, key)| before.fields.iter().all(|it| field::key(it) != *key))
}

impl Content {
    /// Looks whether items have values already under the keys of new encrypted fields. It may look at all
    /// items, so nobody waits for it: what is written meanwhile stays clear, and is shown to nobody.
    ///
    /// # Errors
    /// WDE0119 when there are such values.
    pub(crate) async fn refuse_clear(&self, site: &Site, collection: &Collection, after: &Definition) -> Result<()> {
        for (n, key) in added(&collection.definition, after) {
            let mut sql = Writer::new(site.dialect());
            sql.push("select 1 from ").push(&collection.texts.name).push(" where ");
            let there = Filter::Test(Field::Path(vec![key.to_owned()]), Test::Empty).negated();
            compile::condition(&mut sql, &there);
            sql.push(" limit 1");
            let (sql, params) = sql.finish();
            let found = site.read(Lane::Scan, move |tx| boxed!(Ok(tx.row(&sql, &params, |_| Ok(())).await?)));
            if found.await?.is_some() {
                return Err(refused(n, &format!("can't be, for items have values under {key} already")));
            }
        }
        Ok(())
    }
}

fn refused(n: usize, why: &str) -> Fault {
    Fault::because(Code::NotSupported, format!("collection.fields[{n}].encrypted {why}."))
}
