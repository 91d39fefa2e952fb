//! Everything that a site had in the shared database, removed for good; and what deleted rows left in its files.

use super::{Postgres, command};
use crate::Error;
use std::{collections::BTreeSet, time::Duration};
use stoa_kernel::{Code, Fault, Result};
use tokio_postgres::{Client, error::SqlState};

/// Rows that a statement deletes.
const ROWS: i64 = 5_000;
/// How often a table is asked for before a compaction gives up, each time for a second: with the pauses ten minutes.
const LOCK_TURNS: u32 = 60;
/// The longest pause between two of them.
const LOCK_PAUSE: Duration = Duration::from_secs(10);
/// How often it is looked whether older transactions have ended, in ten minutes.
const END_TURNS: u32 = 1_200;
const END_PAUSE: Duration = Duration::from_millis(500);

impl Postgres {
    /// Gives the place of deleted rows of a table to others, after another that does so now. It fails where that takes long.
    pub(crate) async fn vacuum(&self, table: &str) -> Result<()> {
        let connection = self.own_connection().await?;
        // Each alone: a vacuum is in no transaction.
        for sql in ["set lock_timeout = '10min'", &format!("vacuum {table}")] {
            connection.0.batch_execute(sql).await.map_err(|it| Error::from_postgres(&it))?;
        }
        Ok(())
    }

    /// Rewrites every table without the rows that were deleted, and renews what the planner knows of their values. One table
    /// after another is locked against everybody while it is written; requests for it while the lock is waited for wait a
    /// second at most.
    ///
    /// # Errors
    /// [`Code::Forbidden`] for a role that doesn't own the database, [`Code::Unavailable`] when a transaction that may see
    /// what was deleted, or holds a table, doesn't end.
    pub(crate) async fn compact(&self) -> Result<()> {
        let connection = self.own_connection().await?;
        let client = &connection.0;
        check_owner(client).await?;
        wait_for_transactions(client).await?;
        let map = |it: tokio_postgres::Error| Error::from_postgres(&it);
        let sql = "select quote_ident(schemaname) || '.' || quote_ident(tablename) from pg_tables \
                   where schemaname = 'stoa' or schemaname ~ '^site_[0-9]+$' order by schemaname, tablename";
        let found = client.query(sql, &[]).await.map_err(map)?;
        client.batch_execute("set lock_timeout = '1s'").await.map_err(map)?;
        for row in found {
            rewrite(client, "full, analyze", row.get(0)).await?;
        }
        // What the planner knew of values that are gone.
        rewrite(client, "full", "pg_catalog.pg_statistic").await
    }

    /// Removes the collections of a site and its rows in the shared tables, in pieces, each a transaction. Run
    /// again it goes on where it stopped.
    pub(crate) async fn purge_site(&self, id: &str, number: i64) -> Result<()> {
        let client = self.client().await?;
        let map = |it: tokio_postgres::Error| Fault::from(Error::from_postgres(&it));
        let schema = format!("site_{number}");
        // One by one: a transaction that drops hundreds of tables may need more locks than there are.
        let sql = "select tablename::text from pg_tables where schemaname = $1";
        for row in client.query(sql, &[&schema]).await.map_err(map)? {
            let table: String = row.get(0);
            command(&client, &format!("drop table if exists {schema}.\"{table}\"")).await?;
        }
        command(&client, &format!("drop schema if exists {schema} cascade")).await?;
        let sql = "select c.table_name::text from information_schema.columns c \
                   join information_schema.tables t using (table_schema, table_name) \
                   where c.table_schema = 'stoa' and c.column_name = 'site' and t.table_type = 'BASE TABLE'";
        for row in client.query(sql, &[]).await.map_err(map)? {
            let table: String = row.get(0);
            let sql = format!(
                "delete from stoa.{table} where ctid = any(array(select ctid from stoa.{table} where site = $1 limit $2))"
            );
            while client.execute(&sql, &[&id, &ROWS]).await.map_err(map)? > 0 {}
        }
        Ok(())
    }
}

/// Of another role's tables a vacuum only says that it skips them.
async fn check_owner(client: &Client) -> Result<()> {
    let sql = "select pg_has_role(datdba, 'USAGE') from pg_database where datname = current_database()";
    let row = client.query_one(sql, &[]).await.map_err(|it| Error::from_postgres(&it))?;
    match row.get(0) {
        true => Ok(()),
        false => Err(Fault::because(Code::Forbidden, "The server's role must own the database to compact it.")),
    }
}

/// Answers once no transaction is open that may see what was deleted before: what one may see is written into the new files too.
async fn wait_for_transactions(client: &Client) -> Result<()> {
    // Twice: one that began beside the first may see as little as they do.
    for _ in 0..2 {
        let mut open = transactions(client).await?;
        let mut turns = 0;
        while !open.is_empty() {
            if turns == END_TURNS {
                let names: Vec<String> = open.into_iter().map(|it| it.1).collect();
                let text = format!("What was deleted may still be read; end this and try again: {}.", names.join(", "));
                return Err(Fault::because(Code::Unavailable, text));
            }
            turns += 1;
            tokio::time::sleep(END_PAUSE).await;
            let now = transactions(client).await?;
            open.retain(|it| now.contains(it));
        }
    }
    Ok(())
}

/// Transactions of others in this database that are open or prepared, with a name for people. Every role sees all of them here.
async fn transactions(client: &Client) -> Result<BTreeSet<(String, String)>> {
    let sql = "select held.virtualtransaction, 'process ' || held.pid from pg_locks held \
               join pg_stat_activity session on session.pid = held.pid \
               join pg_database own on own.oid = session.datid and own.datname = current_database() \
               where held.locktype = 'virtualxid' and held.granted and held.pid <> pg_backend_pid() \
               union all select 'prepared ' || transaction::text, 'prepared transaction ' || gid from pg_prepared_xacts \
               where database = current_database()";
    let rows = client.query(sql, &[]).await.map_err(|it| Error::from_postgres(&it))?;
    Ok(rows.iter().map(|it| (it.get(0), it.get(1))).collect())
}

/// Vacuums a table that others may hold, or remove meanwhile.
async fn rewrite(client: &Client, how: &str, table: &str) -> Result<()> {
    let mut pause = END_PAUSE;
    for _ in 0..LOCK_TURNS {
        let Err(error) = client.batch_execute(&format!("vacuum ({how}) {table}")).await else { return Ok(()) };
        match error.code() {
            // The collection went meanwhile, or its site.
            Some(&SqlState::UNDEFINED_TABLE | &SqlState::INVALID_SCHEMA_NAME) => return Ok(()),
            // Those who wait behind the lock have their turn first.
            Some(&SqlState::LOCK_NOT_AVAILABLE | &SqlState::T_R_DEADLOCK_DETECTED) => {}
            _ => return Err(Error::from_postgres(&error).into()),
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LOCK_PAUSE);
    }
    Err(Fault::because(Code::Unavailable, format!("The table {table} is in use; those before it are compacted.")))
}
