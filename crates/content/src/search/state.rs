//! How far the index of each collection is.

use super::row::Index;
use std::collections::HashMap;
use stoa_kernel::{EntryKind, Millis, Result, SiteId};
use stoa_search::words::VERSION;
use stoa_sql::{Writer, params};
use stoa_store::{Row, Tx, outbox};

/// Of a collection all of whose rows were read once.
pub(super) const WHOLE: i64 = i64::MAX;

/// A row of `stoa.search_collection`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct State {
    pub is_on: bool,
    /// Of the words in its segments; 0 where it is to be built anew.
    pub version: i64,
    /// [`super::Layout::text`].
    pub fields: String,
    /// The last row that was read.
    pub built: i64,
}

impl State {
    /// Whether the index is, or is becoming, what this program would make of these fields.
    pub(super) fn is_of(&self, fields: &str) -> bool {
        self.version == i64::from(VERSION) && self.fields == fields
    }
}

/// The states of a site's collections by their numbers.
pub(super) async fn all(tx: &mut Tx<'_>, site: &SiteId) -> Result<HashMap<i64, State>> {
    let sql = format!("select {COLUMNS} from stoa.search_collection where site = $1");
    Ok(tx.rows(&sql, &params![site], read).await?.into_iter().collect())
}

/// The state of one.
pub(super) async fn of(tx: &mut Tx<'_>, index: &Index) -> Result<Option<State>> {
    let sql = format!("select {COLUMNS} from stoa.search_collection where site = $1 and collection = $2");
    Ok(tx.row(&sql, &params![&index.site, index.collection], read).await?.map(|it| it.1))
}

const COLUMNS: &str = "collection, is_on, version, fields, built";

fn read(row: &Row<'_>) -> Result<(i64, State), stoa_store::Error> {
    let is_on = row.get::<i64>(1)? != 0;
    Ok((row.get(0)?, State { is_on, version: row.get(2)?, fields: row.get(3)?, built: row.get(4)? }))
}

/// How many collections have an index that isn't whole yet.
pub(super) async fn unbuilt(tx: &mut Tx<'_>, site: &SiteId) -> Result<i64> {
    let sql = "select count(*) from stoa.collection c left join stoa.search_collection s \
               on s.site = c.site and s.collection = c.number where c.site = $1 and c.deleted is null \
               and coalesce(s.is_on, 1) <> 0 and (coalesce(s.built, 0) < $2 or coalesce(s.version, 0) <> $3)";
    Ok(tx.row(sql, &params![site, WHOLE, i64::from(VERSION)], |row| row.get(0)).await?.unwrap_or(0))
}

/// Has the index of a collection built anew in which a search found damage, and tells the job of it.
pub(crate) async fn note_damage(tx: &mut Tx<'_>, index: &Index, now: Millis) -> Result<()> {
    build_anew(tx, &index.site, Some(index.collection)).await?;
    outbox::put(tx, &index.site, EntryKind::SearchDamaged.name(), "{}".to_owned(), now).await
}

/// Has the index of a collection, or those of all, built anew by whichever node keeps them.
pub(crate) async fn build_anew(tx: &mut Tx<'_>, site: &SiteId, collection: Option<i64>) -> Result<()> {
    let mut sql = Writer::new(tx.dialect());
    sql.push("update stoa.search_collection set version = 0, built = 0 where is_on <> 0 and site = ").bind(site);
    if let Some(it) = collection {
        sql.push(" and collection = ").bind(it);
    }
    let (sql, params) = sql.finish();
    tx.execute(&sql, &params).await?;
    Ok(())
}

impl Index {
    /// Begins to build it: what there is of it is read no longer.
    pub(super) async fn begin_anew(&self, tx: &mut Tx<'_>, fields: &str) -> Result<()> {
        self.retire(tx).await?;
        let sql = "insert into stoa.search_collection (site, collection, is_on, version, fields, built) \
                   values ($1, $2, 1, $3, $4, 0) on conflict (site, collection) \
                   do update set is_on = 1, version = excluded.version, fields = excluded.fields, built = 0";
        tx.execute(sql, &params![&self.site, self.collection, i64::from(VERSION), fields]).await?;
        Ok(())
    }

    /// Writes down that rows up to this one were read.
    pub(super) async fn note_built(&self, tx: &mut Tx<'_>, built: i64) -> Result<()> {
        let sql = "update stoa.search_collection set built = $1 where site = $2 and collection = $3";
        Ok(tx.send(sql, params![built, &self.site, self.collection]).await?)
    }

    /// Keeps nothing of a collection that is switched off.
    pub(super) async fn switch_off(&self, tx: &mut Tx<'_>) -> Result<()> {
        self.retire(tx).await?;
        let sql = "insert into stoa.search_collection (site, collection, is_on, version, fields, built) \
                   values ($1, $2, 0, 0, '', 0) on conflict (site, collection) \
                   do update set is_on = 0, version = 0, fields = '', built = 0";
        tx.execute(sql, &params![&self.site, self.collection]).await?;
        Ok(())
    }

    /// Forgets a collection that is gone.
    pub(super) async fn forget(&self, tx: &mut Tx<'_>) -> Result<()> {
        self.retire(tx).await?;
        let sql = "delete from stoa.search_collection where site = $1 and collection = $2";
        tx.execute(sql, &params![&self.site, self.collection]).await?;
        Ok(())
    }

    /// Lets no question read its segments; they are deleted in pieces.
    async fn retire(&self, tx: &mut Tx<'_>) -> Result<()> {
        let sql = "update stoa.search_segment set state = 'REMOVED' \
                   where site = $1 and collection = $2 and state <> 'REMOVED'";
        tx.execute(sql, &params![&self.site, self.collection]).await?;
        Ok(())
    }
}
