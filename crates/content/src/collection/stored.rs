//! Collections as rows: their definitions, with what is kept in rows beside their own.

use crate::schema::{
    definition::Definition,
    index::{self, Index},
    special::{self, PrincipalGrants},
};
use std::collections::HashMap;
use stoa_kernel::{Result, SiteId, clock::Millis};
use stoa_sql::params;
use stoa_store::{Row, Tx};

/// What a row of `stoa.collection` says.
#[derive(Clone)]
pub(crate) struct StoredCollection {
    pub number: i64,
    pub id: String,
    pub definition: Definition,
    pub revision: i64,
    pub created: Millis,
    pub updated: Millis,
    pub grants: PrincipalGrants,
    pub indexes: Vec<Index>,
}

const COLUMNS: &str = "number, id, definition, revision, created, updated";

/// The id of the row of a table that isn't a collection's at the moment: one that is being filled, or that was replaced
/// (decision 40). Such a row is deleted, and no request names it: ids of collections have no control characters.
pub(crate) fn hidden_id(number: i64) -> String {
    format!("{HIDDEN}{number}")
}

/// Whether a row is one of these.
pub(crate) fn is_hidden(id: &str) -> bool {
    id.starts_with(HIDDEN)
}

const HIDDEN: char = '\u{1}';

/// The collection that has this id now.
pub(crate) async fn live(tx: &mut Tx<'_>, site: &SiteId, id: &str) -> Result<Option<StoredCollection>> {
    let sql = format!("select {COLUMNS} from stoa.collection where site = $1 and id = $2 and deleted is null");
    match tx.row(&sql, &params![site, id], read).await? {
        None => Ok(None),
        Some(stored) => Ok(Some(with_related_rows(tx, site, stored).await?)),
    }
}

/// The collection with this number, deleted or not.
pub(crate) async fn by_number(tx: &mut Tx<'_>, site: &SiteId, number: i64) -> Result<Option<StoredCollection>> {
    let sql = format!("select {COLUMNS} from stoa.collection where site = $1 and number = $2");
    match tx.row(&sql, &params![site, number], read).await? {
        None => Ok(None),
        Some(stored) => Ok(Some(with_related_rows(tx, site, stored).await?)),
    }
}

/// All collections of a site, the oldest first, without their indexes.
pub(crate) async fn all_live(tx: &mut Tx<'_>, site: &SiteId) -> Result<Vec<StoredCollection>> {
    let sql = format!("select {COLUMNS} from stoa.collection where site = $1 and deleted is null order by number");
    let mut all = tx.rows(&sql, &params![site], read).await?;
    let mut grants = special::of_collections(tx, site, None).await?;
    let numbers: HashMap<String, i64> = all.iter().map(|it| (it.id.clone(), it.number)).collect();
    // Collections of drafts first: theirs are made of what others have.
    for stored in &mut all {
        let published = stored.definition.published_id().and_then(|it| numbers.get(it));
        if let Some(it) = published.and_then(|it| grants.get(it)) {
            stored.grants = it.clone().for_drafts();
        }
    }
    for stored in all.iter_mut().filter(|it| it.definition.published_id().is_none()) {
        stored.grants = grants.remove(&stored.number).unwrap_or_default();
    }
    Ok(all)
}

/// Whether there was a collection with this id.
pub(crate) async fn is_deleted(tx: &mut Tx<'_>, site: &SiteId, id: &str) -> Result<bool> {
    let sql = "select number from stoa.collection where site = $1 and id = $2 and deleted is not null limit 1";
    Ok(tx.row(sql, &params![site, id], |row| row.get::<i64>(0)).await?.is_some())
}

/// With what is kept in rows beside its own.
async fn with_related_rows(tx: &mut Tx<'_>, site: &SiteId, mut stored: StoredCollection) -> Result<StoredCollection> {
    let number = stored.number;
    stored.grants = match stored.definition.published_id() {
        None => grants(tx, site, number).await?,
        Some(id) => {
            let sql = "select number from stoa.collection where site = $1 and id = $2 and deleted is null";
            match tx.row(sql, &params![site, id], |row| row.get::<i64>(0)).await? {
                Some(published) => grants(tx, site, published).await?.for_drafts(),
                None => PrincipalGrants::default(),
            }
        }
    };
    stored.indexes = index::of_collection(tx, site, number).await?;
    Ok(stored)
}

async fn grants(tx: &mut Tx<'_>, site: &SiteId, number: i64) -> Result<PrincipalGrants> {
    Ok(special::of_collections(tx, site, Some(number)).await?.remove(&number).unwrap_or_default())
}

fn read(row: &Row<'_>) -> Result<StoredCollection, stoa_store::Error> {
    let definition = serde_json::from_str(row.text(2)?);
    Ok(StoredCollection {
        number: row.get(0)?,
        id: row.get(1)?,
        definition: definition.map_err(|it| stoa_store::Error::Other(format!("definition of a collection: {it}")))?,
        revision: row.get(3)?,
        created: row.get(4)?,
        updated: row.get(5)?,
        grants: PrincipalGrants::default(),
        indexes: Vec::new(),
    })
}
