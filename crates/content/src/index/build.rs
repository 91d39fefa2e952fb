//! Indexes built and removed in the background.
//!
//! Nothing is remembered but the rows: what was begun when the process ended is found BUILDING or
//! DROPPING at the next start and taken up again, leftovers first. Each piece of work has a lock, so that
//! of several nodes one does it, and looks under that lock whether it is still to be done.
//!
//! PostgreSQL builds beside the writers of the collection; on SQLite all writers of the site wait
//! (decision 11), which the log announces.

use crate::{
    Content,
    collection::stored::is_hidden,
    log::payload,
    schema::index::{self, Failure, Index, Status},
};
use parking_lot::Mutex;
use std::sync::{Arc, Weak};
use stoa_kernel::{EntryKind, EventActor, Fault, Result, clock::Millis};
use stoa_query::{compile, plan::Field};
use stoa_sql::{DocumentPath, Table, Value, params};
use stoa_store::{Error, ReaderPool, SchemaChange, Site, boxed, outbox::PendingEntry};

/// Builds of one index that may fail for an unknown reason.
const ATTEMPTS: i64 = 3;

/// Sites where an index is to be built or removed, for the loop that does it.
#[derive(Default)]
pub(crate) struct BuildQueue {
    sites: Mutex<Vec<Weak<Site>>>,
    added: tokio::sync::Notify,
}

impl BuildQueue {
    pub(crate) fn add(&self, site: &Arc<Site>) {
        let mut sites = self.sites.lock();
        sites.retain(|it| it.upgrade().is_some_and(|it| it.id != site.id));
        sites.push(Arc::downgrade(site));
        self.added.notify_one();
    }
}

/// How a build or a removal ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Done,
    /// Something is in the way; the build or removal is tried again later.
    Later,
}

impl Content {
    /// Waits until there is something to do, and answers for which sites.
    pub async fn index_work_wait(&self) -> Vec<Arc<Site>> {
        loop {
            let sites: Vec<_> = self.state.build_queue.sites.lock().drain(..).filter_map(|it| it.upgrade()).collect();
            if !sites.is_empty() {
                return sites;
            }
            self.state.build_queue.added.notified().await;
        }
    }

    /// Builds and removes what a site's indexes wait for, one after the other, and answers whether
    /// anything is left that should be tried again later.
    ///
    /// # Errors
    /// When the database can't be asked. A failed build is a status of its index, not an error.
    pub async fn index_work_do(&self, site: &Arc<Site>) -> Result<bool> {
        let site_id = site.id.clone();
        let todo = site.read(ReaderPool::Point, move |tx| {
            boxed!(Ok(index::of_site(tx, &site_id, &[Status::Building, Status::Dropping]).await?))
        });
        let todo = todo.await?;
        let mut is_left = false;
        for (collection, index) in todo {
            let table = Table { site: site.number, number: collection };
            let build = Build { content: self, site, table, collection: id_of(site, collection).await?, index };
            let end = match build.index.status {
                Status::Dropping => build.remove().await?,
                _ => build.build().await?,
            };
            is_left |= end == End::Later;
            self.state.schema_cache.forget_number(&site.id, collection);
        }
        Ok(is_left)
    }
}

/// The id of the collection that has this number.
async fn id_of(site: &Site, number: i64) -> Result<String> {
    let sql = "select id from stoa.collection where site = $1 and number = $2";
    let row = params![&site.id, number];
    let id = site.read(ReaderPool::Point, move |tx| boxed!(Ok(tx.row(sql, &row, |row| row.get(0)).await?)));
    Ok(id.await?.unwrap_or_default())
}

/// One index that is to be built or removed.
struct Build<'c> {
    content: &'c Content,
    site: &'c Arc<Site>,
    table: Table,
    /// The collection's id.
    collection: String,
    index: Index,
}

impl Build<'_> {
    async fn build(&self) -> Result<End> {
        let (began, online) = (self.now(), self.site.builds_online());
        let attempts = self.begin().await?;
        tracing::info!(
            site = %self.site.id, collection = self.table.number, index = self.index.name, attempts,
            writes_wait = !online, "building an index"
        );
        let mut statements = self.drop_statements();
        statements.extend(compile::index(self.site.dialect(), self.table, &self.index.spec(), online));
        let told = self.told(EntryKind::IndexBuilt, Status::Active, None);
        let done = self.site.change_schema(self.work(statements, self.move_to(Status::Active, None), told)).await;
        let milliseconds = self.now() - began;
        match done {
            Ok(true) => {
                tracing::info!(site = %self.site.id, index = self.index.name, milliseconds, "an index is active");
                Ok(End::Done)
            }
            // Another node is building it, or it is no longer wanted.
            Ok(false) => Ok(End::Later),
            Err(Error::Unique(text)) => {
                let item = self.duplicate().await;
                self.fail("WDE0113", "Two items have the same value.", item, &text).await
            }
            Err(Error::TooLarge(text)) => {
                self.fail("WDE0114", "An item has a value that is too large to index.", None, &text).await
            }
            Err(Error::Other(text)) if attempts >= ATTEMPTS => {
                self.fail("WDE0112", "The index could not be built.", None, &text).await
            }
            Err(error) => {
                tracing::warn!(site = %self.site.id, index = self.index.name, milliseconds, "an index is built later: {error:?}");
                Ok(End::Later)
            }
        }
    }

    async fn remove(&self) -> Result<End> {
        let sql = "delete from stoa.content_index where site = $1 and collection = $2 and number = $3";
        let row = params![&self.site.id, self.table.number, self.index.number];
        let statements = self.drop_statements();
        let told = self.told(EntryKind::IndexRemoved, Status::Dropping, None);
        match self.site.change_schema(self.work(statements, (sql.to_owned(), row.into()), told)).await {
            Ok(true) => {
                tracing::info!(site = %self.site.id, index = self.index.name, "an index is dropped");
                Ok(End::Done)
            }
            Ok(false) => Ok(End::Later),
            Err(error) => {
                tracing::warn!(site = %self.site.id, index = self.index.name, "an index can't be dropped yet: {error:?}");
                Ok(End::Later)
            }
        }
    }

    /// What a build left behind is removed, for it would go on refusing values; the row tells why.
    async fn fail(&self, code: &str, description: &str, item_id: Option<String>, text: &str) -> Result<End> {
        tracing::warn!(site = %self.site.id, index = self.index.name, code, "an index failed: {text}");
        let failure = Failure { code: code.to_owned(), description: format!("{code}: {description}"), item_id };
        let told = self.told(EntryKind::IndexFailed, Status::Failed, Some(failure.clone()));
        let failure = serde_json::to_string(&failure).map_err(Fault::internal)?;
        let statements = self.drop_statements();
        match self.site.change_schema(self.work(statements, self.move_to(Status::Failed, Some(failure)), told)).await {
            Ok(true) => Ok(End::Done),
            Ok(false) => Ok(End::Later),
            Err(error) => {
                tracing::warn!(site = %self.site.id, index = self.index.name, "leftovers of a failed index wait: {error:?}");
                Ok(End::Later)
            }
        }
    }

    /// Statements under the lock of the collection's table, if the index still stands where it was seen.
    fn work(&self, statements: Vec<String>, then: (String, Vec<Value>), event: PendingEntry) -> SchemaChange {
        let sql =
            "select 1 from stoa.content_index where site = $1 and collection = $2 and number = $3 and status = $4";
        let row = params![&self.site.id, self.table.number, self.index.number, self.index.status.name()];
        SchemaChange {
            key: (self.table.site, self.table.number),
            only_if: (sql.to_owned(), row.into()),
            statements,
            then,
            // Nobody knows a table that no collection has.
            event: (!is_hidden(&self.collection)).then_some(event),
        }
    }

    /// The row of the outbox that tells how the index stands then.
    fn told(&self, kind: EntryKind, status: Status, failure: Option<Failure>) -> PendingEntry {
        let index = Index { status, failure, ..self.index.clone() };
        let payload = payload(&self.collection, &EventActor::server(), &[("index", index.view())]);
        PendingEntry { site: self.site.id.clone(), kind: kind.name(), payload, now: self.now() }
    }

    fn drop_statements(&self) -> Vec<String> {
        compile::drop_index(self.site.dialect(), self.table, &self.index.spec(), self.site.builds_online())
    }

    fn move_to(&self, next: Status, failure: Option<String>) -> (String, Vec<Value>) {
        debug_assert!(self.index.status.leads_to(next), "an arrow of the diagram");
        let sql = "update stoa.content_index set status = $1, failure = $2, updated = $3 \
                   where site = $4 and collection = $5 and number = $6 and status = $7";
        let status = self.index.status.name();
        let now = self.now();
        let row = params![next.name(), failure, now, &self.site.id, self.table.number, self.index.number, status];
        (sql.to_owned(), row.into())
    }

    /// Counts this build and answers how many there were.
    async fn begin(&self) -> Result<i64> {
        let (collection, number) = (self.table.number, self.index.number);
        let counted = self.site.write_with(self.site.id.clone(), move |tx, site| {
            boxed!({
                let sql = "update stoa.content_index set attempts = attempts + 1 \
                           where site = $1 and collection = $2 and number = $3";
                tx.send(sql, params![site, collection, number]).await?;
                let sql = "select attempts from stoa.content_index \
                           where site = $1 and collection = $2 and number = $3";
                let attempts = tx.row(sql, &params![site, collection, number], |row| row.get(0)).await?;
                Ok(attempts.unwrap_or(0))
            })
        });
        counted.await
    }

    /// One of the items whose value another one has as well.
    async fn duplicate(&self) -> Option<String> {
        let (dialect, definition) = (self.site.dialect(), &self.index.definition);
        let Field::Path(names) = Field::parse(&definition.fields.first()?.path) else { return None };
        let key = dialect.unique(&DocumentPath::field(&names), definition.case_insensitive);
        let table = dialect.table(self.table);
        let sql = format!(
            "select max(id) from {table} where {key} is not null group by {key} having count(*) > 1 order by 1 limit 1"
        );
        let found = self.site.read(ReaderPool::Scan, move |tx| boxed!(Ok(tx.row(&sql, &[], |row| row.get(0)).await?)));
        found.await.ok().flatten()
    }

    fn now(&self) -> Millis {
        self.content.state.world.now()
    }
}
