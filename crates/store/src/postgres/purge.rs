//! Everything that a site had in the shared database, removed for good.

use super::{Postgres, command};
use crate::Error;
use stoa_kernel::{Fault, Result};

/// Rows that a statement deletes.
const ROWS: i64 = 5_000;

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
