//! Consumers of all sites, asked for and renewed by one statement each.

use super::Postgres;
use crate::{Error, lease::ConsumerRow};
use tokio_postgres::{Row, types::ToSql};

const ALL: &str = "select c.site, c.name, c.holder, c.lease, c.beat from stoa.outbox_consumer c \
    join stoa.site s on s.id = c.site where s.deleted is null";
const RENEW: &str =
    "update stoa.outbox_consumer set beat = beat + 1 where holder = $1 returning site, name, holder, lease, beat";
const RELEASE: &str = "update stoa.outbox_consumer set holder = null where holder = $1";
const NODES: &str = "select id, beat from stoa.node where works = 1";
const WORKS: &str = "update stoa.node set works = $1 where id = $2 and works <> $1";

impl Postgres {
    /// Every consumer of a site that was not deleted.
    pub(crate) async fn consumers(&self) -> Result<Vec<ConsumerRow>, Error> {
        self.short(ALL, &[]).await?.iter().map(consumer).collect()
    }

    /// Renews what a node holds, and answers it.
    pub(crate) async fn consumers_renew(&self, node: &str) -> Result<Vec<ConsumerRow>, Error> {
        self.short(RENEW, &[&node]).await?.iter().map(consumer).collect()
    }

    /// Gives back all that a node holds.
    pub(crate) async fn consumers_release(&self, node: &str) -> Result<(), Error> {
        self.short(RELEASE, &[&node]).await.map(drop)
    }

    /// Says whether a node works for consumers that are shared out.
    pub(crate) async fn node_works(&self, node: &str, works: bool) -> Result<(), Error> {
        self.short(WORKS, &[&i64::from(works), &node]).await.map(drop)
    }

    /// Nodes that do, or did until lately, and their beats.
    pub(crate) async fn nodes(&self) -> Result<Vec<(String, i64)>, Error> {
        let read = |row: &Row| Ok((row.try_get(0).map_err(wrong)?, row.try_get(1).map_err(wrong)?));
        self.short(NODES, &[]).await?.iter().map(read).collect()
    }

    /// A short statement, which is a transaction of its own, on a connection that others use as well: leases must not
    /// wait for one that is free.
    async fn short(&self, sql: &str, params: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>, Error> {
        let client = self.shared_client().await?;
        let statement = client.prepare_cached(sql).await.map_err(|it| Error::from_postgres(&it))?;
        client.query(&statement, params).await.map_err(|it| Error::from_postgres(&it))
    }
}

fn consumer(row: &Row) -> Result<ConsumerRow, Error> {
    let site: String = row.try_get(0).map_err(wrong)?;
    let (name, node) = (row.try_get(1).map_err(wrong)?, row.try_get(2).map_err(wrong)?);
    let (number, beat) = (row.try_get(3).map_err(wrong)?, row.try_get(4).map_err(wrong)?);
    Ok(ConsumerRow { site: site.into(), name, node, number, beat })
}

fn wrong(error: tokio_postgres::Error) -> Error {
    Error::Other(error.to_string())
}
