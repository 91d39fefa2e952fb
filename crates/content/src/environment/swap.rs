//! What a copy makes and replaces, as rows of the environment that it goes to.

use stoa_kernel::{Millis, SiteId};
use stoa_sql::params;
use stoa_store::{Error, ReaderPool, Row, Site, Tx, boxed};

/// What becomes of the table of a [`Swap`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// It is filled; no collection has it.
    Staged,
    /// Its collection has it, and what it had before is kept.
    Done,
    /// The copy was taken back: it is on its way out once that has ended.
    Undone,
    /// It is on its way out.
    Going,
}

impl State {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Staged => "STAGED",
            Self::Done => "DONE",
            Self::Undone => "UNDONE",
            Self::Going => "GOING",
        }
    }

    fn parse(name: &str) -> Result<Self, Error> {
        let found = [Self::Staged, Self::Done, Self::Undone, Self::Going].into_iter().find(|it| it.name() == name);
        found.ok_or_else(|| Error::Other(format!("the state of a copied table: {name}")))
    }
}

/// A table that a copy made for a collection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Swap {
    pub copy: String,
    /// The collection's id.
    pub collection: String,
    pub state: State,
    /// The table's number.
    pub staged: i64,
    /// That of the one in whose place it is.
    pub replaced: Option<i64>,
    pub changed: Millis,
}

const COLUMNS: &str = "copy, collection, state, staged, replaced, changed";

/// Those of one copy, or of all.
pub(super) async fn read(site: &Site, copy: Option<&str>) -> stoa_kernel::Result<Vec<Swap>> {
    let (site_id, copy) = (site.id.clone(), copy.map(str::to_owned));
    let read = site.read(ReaderPool::Point, move |tx| {
        boxed!({
            let all = all(tx, &site_id).await?;
            Ok(all.into_iter().filter(|it| copy.as_ref().is_none_or(|copy| *copy == it.copy)).collect())
        })
    });
    read.await
}

/// Those of a site.
pub(super) async fn all(tx: &mut Tx<'_>, site: &SiteId) -> Result<Vec<Swap>, Error> {
    let sql = format!("select {COLUMNS} from stoa.environment_swap where site = $1 order by copy, collection");
    tx.rows(&sql, &params![site], swap).await
}

/// Those of one copy, in a transaction.
pub(super) async fn of_copy(tx: &mut Tx<'_>, site: &SiteId, copy: &str) -> Result<Vec<Swap>, Error> {
    Ok(all(tx, site).await?.into_iter().filter(|it| it.copy == copy).collect())
}

fn swap(row: &Row<'_>) -> Result<Swap, Error> {
    Ok(Swap {
        copy: row.get(0)?,
        collection: row.get(1)?,
        state: State::parse(row.text(2)?)?,
        staged: row.get(3)?,
        replaced: row.get(4)?,
        changed: row.get(5)?,
    })
}

impl Swap {
    pub(super) async fn insert(&self, tx: &mut Tx<'_>, site: &SiteId) -> Result<(), Error> {
        let sql = "insert into stoa.environment_swap (site, copy, collection, state, staged, replaced, changed) \
                   values ($1, $2, $3, $4, $5, $6, $7)";
        let Self { copy, collection, state, staged, replaced, changed } = self;
        tx.execute(sql, &params![site, copy, collection, state.name(), *staged, *replaced, *changed]).await.map(drop)
    }

    /// Puts another row in the place of this one, and answers whether it was still there as it was seen.
    pub(super) async fn replace(&self, tx: &mut Tx<'_>, site: &SiteId, next: &Self) -> Result<bool, Error> {
        let sql = "update stoa.environment_swap set state = $1, staged = $2, replaced = $3, changed = $4 \
                   where site = $5 and copy = $6 and collection = $7 and state = $8 and staged = $9";
        let Self { copy, collection, state, staged, .. } = self;
        let (after, before) = (next.state.name(), state.name());
        let row = params![after, next.staged, next.replaced, next.changed, site, copy, collection, before, *staged];
        Ok(tx.execute(sql, &row).await? == 1)
    }

    /// Whether the row is still there as it was seen.
    pub(super) async fn is_there(&self, tx: &mut Tx<'_>, site: &SiteId) -> Result<bool, Error> {
        let sql = "select 1 from stoa.environment_swap \
                   where site = $1 and copy = $2 and collection = $3 and state = $4 and staged = $5";
        let row = params![site, &self.copy, &self.collection, self.state.name(), self.staged];
        Ok(tx.row(sql, &row, |_| Ok(())).await?.is_some())
    }

    pub(super) async fn remove(&self, tx: &mut Tx<'_>, site: &SiteId) -> Result<(), Error> {
        let sql = "delete from stoa.environment_swap where site = $1 and copy = $2 and collection = $3 and staged = $4";
        tx.execute(sql, &params![site, &self.copy, &self.collection, self.staged]).await.map(drop)
    }
}
