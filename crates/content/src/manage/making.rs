//! Rows and tables of collections made, and values of removed fields on their way out: for a collection and for its pair.

use crate::{
    collection::{
        access::ManageAccess,
        job::{self, NewJob},
        save,
        stored::StoredCollection,
    },
    fault,
    log::payload,
    schema::{definition::Definition, field},
};
use serde_json::json;
use std::collections::HashSet;
use stoa_kernel::{Code, Fault, Result, SiteId, clock::Millis};
use stoa_sql::{Table, params};
use stoa_store::{Site, Tx};

/// The number of one more collection.
///
/// # Errors
/// WDE0080 when the site has as many as it may have.
pub(crate) async fn next_number(tx: &mut Tx<'_>, site: &SiteId, most: usize) -> Result<i64> {
    check_count(tx, site, most).await?;
    free_number(tx, site).await
}

/// The next number of a table of items.
pub(crate) async fn free_number(tx: &mut Tx<'_>, site: &SiteId) -> Result<i64> {
    let sql = "select coalesce(max(number), 0) + 1 from stoa.collection where site = $1";
    Ok(tx.row(sql, &params![site], |row| row.get(0)).await?.unwrap_or(1))
}

/// Refuses one more collection than the site may have.
pub(crate) async fn check_count(tx: &mut Tx<'_>, site: &SiteId, most: usize) -> Result<()> {
    let sql = "select count(*) from stoa.collection where site = $1 and deleted is null";
    let count: i64 = tx.row(sql, &params![site], |row| row.get(0)).await?.unwrap_or(0);
    match count < most as i64 {
        true => Ok(()),
        false => Err(Fault::because(Code::BadRequest, format!("A site has at most {most} collections."))),
    }
}

/// Writes a new collection and makes the table of its items.
///
/// # Errors
/// WDE0104 when the id is taken.
pub(crate) async fn make_collection(
    tx: &mut Tx<'_>,
    site: &Site,
    stored: &StoredCollection,
    access: &ManageAccess,
) -> Result<()> {
    if !save::insert(tx, &site.id, stored, access).await? {
        return Err(fault::collection_exists(&stored.id));
    }
    let table = Table { site: site.number, number: stored.number };
    for statement in tx.dialect().create_items_table(table) {
        tx.batch(&statement).await?;
    }
    Ok(())
}

/// The values of removed fields on their way out.
pub(crate) struct Purge<'a> {
    pub site: &'a SiteId,
    pub site_number: i64,
    /// What the ids of its jobs begin with.
    pub job: &'a str,
    pub now: Millis,
}

impl Purge<'_> {
    /// Begins to purge the values of fields that the definition no longer has, if there are such fields, and
    /// refuses new ones under keys whose values are still being purged.
    pub(crate) async fn begin(
        &self,
        tx: &mut Tx<'_>,
        stored: &StoredCollection,
        after: &Definition,
        access: &ManageAccess,
    ) -> Result<bool> {
        let table = Table { site: self.site_number, number: stored.number };
        let removed = missing_keys(&stored.definition, after);
        for (n, key) in removed.iter().enumerate() {
            let event = payload(&stored.id, &save::actor(access), &[("field", json!(key))]);
            let id = format!("{}-{n}", self.job);
            let job = NewJob { table, id, field: Some(key), event: Some(event), now: self.now };
            job::begin(tx, self.site, job, access).await?;
        }
        let added = missing_keys(after, &stored.definition);
        if !added.is_empty() {
            let purged = job::purged_fields(tx, self.site, stored.number).await?;
            if let Some(key) = added.iter().find(|it| purged.iter().any(|key| key == *it)) {
                let text = format!("The values of the deleted field {key} are still being removed.");
                return Err(Fault::because(Code::FieldDeleted, text).with("propertyName", *key));
            }
        }
        Ok(!removed.is_empty())
    }
}

/// The keys of fields with values that the first definition has and the second doesn't.
fn missing_keys<'d>(before: &'d Definition, after: &Definition) -> Vec<&'d str> {
    let keys: HashSet<&str> = after.fields.iter().map(field::key).collect();
    let valued = before.fields.iter().filter(|it| !field::is_multi(it)).map(field::key);
    valued.filter(|it| !keys.contains(it)).collect()
}
