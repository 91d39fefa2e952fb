//! Work on all items of a collection: emptying it, or taking a deleted field's values out of its items.
//!
//! It goes in chunks, each a short transaction, so that other writers don't wait. What is to be done is
//! written down in the transaction that decides it, and how far it came in every chunk. Whoever asks for
//! it works until it is done; if that one is stopped, the collection's next reader goes on in the
//! background once nobody has touched it for [`LEASE`]. Items written after it began are left alone.

use crate::{Content, Request, collection::statements, event::Author, reference::link, schema::level};
use parking_lot::Mutex;
use std::{collections::HashSet, sync::Arc};
use stoa_kernel::{Caller, Fault, Result, SiteId, clock::Millis};
use stoa_sql::{Table, Value, params};
use stoa_store::{InsertRows, Site, Tx, boxed, outbox};

/// How long whoever works on a sweep may be silent before another takes it up.
pub(crate) const LEASE: Millis = 10_000;
/// Rows of a chunk, and bytes of their documents.
const ROWS: i64 = 500;
const BYTES: i64 = 1_000_000;
/// Links of a chunk: one item may have more than that.
const LINKS: u64 = 1000;

/// Collections that this process sweeps in the background.
#[derive(Default)]
pub(crate) struct Running(Mutex<HashSet<(SiteId, i64)>>);

/// What is to be done.
enum Task {
    Truncate,
    /// Take this member out of every item.
    Field(String),
}

struct Sweep {
    id: String,
    task: Task,
    upto: i64,
    started: Millis,
    done: i64,
    event: Option<String>,
}

impl Content {
    /// Removes every item of a collection. Items that are inserted meanwhile stay. Answered when it is
    /// done; one that was cut off goes on by itself.
    ///
    /// # Errors
    /// WDE0025, and WDE0027 for everyone but owners and apps.
    pub async fn item_truncate(&self, site: &Arc<Site>, caller: &Caller, request: &Request<'_>) -> Result<()> {
        let collection = self.collection(site, request.collection(caller)?).await?;
        level::may_truncate(caller, &collection)?;
        let now = self.world().now();
        let event = Author::new(&site.id, &collection, caller, now).truncated();
        let (place, id, table) = (site.clone(), self.world().uuid(), collection.table);
        let begin = site.write(move |tx| {
            let (site, id, event) = (place.clone(), id.clone(), event.clone());
            boxed!(begin(tx, &site, table, id, None, now, Some(event)).await)
        });
        begin.await?;
        self.sweep(site, table).await
    }

    /// Does all that is to be done on a collection, whether or not the caller still waits for it.
    pub(crate) async fn sweep(&self, site: &Arc<Site>, table: Table) -> Result<()> {
        let (content, site) = (self.clone(), site.clone());
        let work = tokio::spawn(async move {
            while !content.sweep_step(&site, table).await? {}
            Ok::<_, Fault>(())
        });
        work.await.unwrap_or_else(|it| Err(Fault::internal(format!("a sweep ended: {it}"))))
    }

    /// Goes on with what somebody left, unless this process does already.
    pub(crate) fn sweep_resume(&self, site: &Site, table: Table) {
        let Some(site) = site.shared() else { return };
        let key = (site.id.clone(), table.number);
        if !self.running().0.lock().insert(key.clone()) {
            return;
        }
        let content = self.clone();
        tokio::spawn(async move {
            if let Err(fault) = content.sweep(&site, table).await {
                tracing::warn!(site = %site.id, collection = table.number, "a sweep stopped: {fault:?}");
            }
            content.running().0.lock().remove(&key);
        });
    }

    /// One chunk of the oldest sweep; whether there was none left.
    async fn sweep_step(&self, site: &Arc<Site>, table: Table) -> Result<bool> {
        let (place, now) = (site.clone(), self.world().now());
        site.write(move |tx| {
            let site = place.clone();
            boxed!({
                let Some(sweep) = oldest(tx, &site.id, table.number).await? else { return Ok(true) };
                sweep.step(tx, &site, table, now).await.map(|()| false)
            })
        })
        .await
    }
}

/// Writes down what is to be done. Without a field it is a truncate.
pub(crate) async fn begin(
    tx: &mut Tx<'_>,
    site: &Site,
    table: Table,
    id: String,
    field: Option<&str>,
    now: Millis,
    event: Option<String>,
) -> Result<()> {
    let kind = if field.is_some() { "FIELD" } else { "TRUNCATE" };
    let sql = format!(
        "insert into stoa.sweep (site, collection, id, kind, field, upto, started, done, touched, event) \
         select $1, $2, $3, $4, $5, coalesce(max(rid), 0), $6, 0, $7, $8 from {}",
        tx.dialect().table(table)
    );
    let field = field.map(str::to_owned);
    tx.send(&sql, params![&site.id, table.number, id, kind.to_owned(), field, now, now, event]).await?;
    Ok(())
}

/// The deleted fields whose values are still being taken out.
pub(crate) async fn fields(tx: &mut Tx<'_>, site: &SiteId, collection: i64) -> Result<Vec<String>> {
    let sql = "select field from stoa.sweep where site = $1 and collection = $2 and field is not null";
    Ok(tx.rows(sql, &params![site, collection], |row| row.get(0)).await?)
}

async fn oldest(tx: &mut Tx<'_>, site: &SiteId, collection: i64) -> Result<Option<Sweep>> {
    let sql = "select id, field, upto, started, done, event from stoa.sweep \
               where site = $1 and collection = $2 order by started, id limit 1";
    let read = |row: &stoa_store::Row<'_>| {
        let field: Option<String> = row.get(1)?;
        Ok(Sweep {
            id: row.get(0)?,
            task: field.map_or(Task::Truncate, Task::Field),
            upto: row.get(2)?,
            started: row.get(3)?,
            done: row.get(4)?,
            event: row.get(5)?,
        })
    };
    Ok(tx.row(sql, &params![site, collection], read).await?)
}

impl Sweep {
    async fn step(&self, tx: &mut Tx<'_>, site: &Site, table: Table, now: Millis) -> Result<()> {
        let name = tx.dialect().table(table);
        // The chunk's last row. Sizes are read without the documents.
        let sql = format!(
            "select max(rid) from (select rid, sum(size) over (order by rid) - size as before from \
             (select rid, octet_length(doc) as size from {name} where rid > $1 and rid <= $2 order by rid limit $3) few) \
             sized where before < $4"
        );
        let last = tx.row(&sql, &params![self.done, self.upto, ROWS, BYTES], |row| row.get::<Option<i64>>(0)).await?;
        let Some(last) = last.flatten() else { return self.end(tx, site, table, now).await };
        match &self.task {
            Task::Truncate => {
                let these = format!("from {name} where rid > $1 and rid <= $2 and created <= $3");
                let params = params![self.done, last, self.started];
                let ids = tx.rows(&format!("select id {these}"), &params, |row| row.get::<String>(0)).await?;
                let gone = link::some_removed(tx, &site.id, table.number, &ids, LINKS).await?;
                if gone >= LINKS {
                    // Their other links go first, and then they do.
                    let sql = "update stoa.sweep set touched = $1 where site = $2 and collection = $3 and id = $4";
                    tx.send(sql, params![now, &site.id, table.number, self.id.clone()]).await?;
                    return Ok(());
                }
                tx.send(&format!("delete {these}"), params).await?;
            }
            Task::Field(field) => self.take_out(tx, &name, field, last).await?,
        }
        let sql = "update stoa.sweep set done = $1, touched = $2 where site = $3 and collection = $4 and id = $5";
        tx.send(sql, params![last, now, &site.id, table.number, self.id.clone()]).await?;
        Ok(())
    }

    async fn end(&self, tx: &mut Tx<'_>, site: &Site, table: Table, now: Millis) -> Result<()> {
        let sql = "delete from stoa.sweep where site = $1 and collection = $2 and id = $3";
        tx.send(sql, params![&site.id, table.number, self.id.clone()]).await?;
        match &self.event {
            Some(event) => outbox::put(tx, &site.id, "data_items_truncated", event.clone(), now).await,
            None => Ok(()),
        }
    }

    /// Writes the items of a chunk that have the member without it. Nothing else of them changes.
    async fn take_out(&self, tx: &mut Tx<'_>, name: &str, field: &str, last: i64) -> Result<()> {
        let sql = format!("select id, created, updated, owner, doc from {name} where rid > $1 and rid <= $2");
        let chunk = params![self.done, last];
        let rows = tx.rows(&sql, &chunk, |row| {
            let Some(without) = stoa_query::item::without(&row.doc(4)?, field) else { return Ok(None) };
            let (id, owner): (String, Option<String>) = (row.get(0)?, row.get(3)?);
            Ok(Some(params![id, row.get::<i64>(1)?, row.get::<i64>(2)?, owner, without].to_vec()))
        });
        let rows: Vec<Vec<Value>> = rows.await?.into_iter().flatten().collect();
        if rows.is_empty() {
            return Ok(());
        }
        let into = format!("insert into {name} (id, created, updated, owner, doc)");
        let values = ["$1", "$2", "$3", "$4"].map(str::to_owned);
        let values: Vec<_> = values.into_iter().chain([tx.dialect().store_doc("$5")]).collect();
        let replace = Some(statements::REPLACE);
        tx.insert_rows(InsertRows { into: &into, values: &values, key: "id", key_index: 0, replace, rows: &rows })
            .await?;
        Ok(())
    }
}

/// When the collection's sweeps were last worked on, if there are any.
pub(crate) async fn touched(tx: &mut Tx<'_>, site: &SiteId, collection: i64) -> Result<Option<Millis>> {
    let sql = "select max(touched) from stoa.sweep where site = $1 and collection = $2";
    Ok(tx.row(sql, &params![site, collection], |row| row.get::<Option<i64>>(0)).await?.flatten())
}
