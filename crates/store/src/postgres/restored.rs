//! Noticing that the data of a database are elsewhere, and numbering them for the cluster that they are in.

use super::{
    Postgres, command,
    origin::{Origin, WHOLE, WITHIN, is_withheld},
};
use crate::Error;
use deadpool_postgres::Object;

impl Postgres {
    /// Asks where the data are.
    pub(crate) async fn find_origin(&self) -> Result<(), Error> {
        let client = self.client().await?;
        let known = self.origin_expression();
        let found = match client.query_one(&format!("select {known}"), &[]).await {
            Err(error) if known == WHOLE && is_withheld(&error) => {
                tracing::info!("the server doesn't tell which it is; after a restore of the whole: stoa log restored");
                let row = client.query_one(&format!("select {WITHIN}"), &[]).await;
                (WITHIN, row)
            }
            row => (known, row),
        };
        let row = found.1.map_err(|it| Error::from_postgres(&it))?;
        let text: String = row.try_get(0).map_err(|it| Error::Other(it.to_string()))?;
        let has_moved = !matches!(self.origin_text(), known if known.is_empty() || known == text);
        if has_moved {
            // Before it is known here, so that it is tried again where it fails.
            number_alone(&client).await?;
        }
        *self.origin.write() = Origin { expression: found.0, text };
        Ok(())
    }

    /// Where the data were when it was last asked.
    pub(crate) fn origin_text(&self) -> String {
        self.origin.read().text.clone()
    }

    pub(crate) fn origin_expression(&self) -> &'static str {
        self.origin.read().expression
    }
}

/// The same in a transaction of its own, by one node at a time.
async fn number_alone(client: &Object) -> Result<(), Error> {
    command(client, "begin; select pg_advisory_xact_lock(7305811)").await?;
    let numbered = number_anew(client).await;
    command(client, if numbered.is_ok() { "commit" } else { "rollback" }).await?;
    numbered
}

/// A database that was restored into a younger cluster holds numbers of transactions that are still to
/// come there. Its rows are put before everything new, and each consumer before what it may not have read; one that
/// had missed rows still has.
pub(crate) async fn number_anew(client: &Object) -> Result<(), Error> {
    let next = "pg_snapshot_xmax(pg_current_snapshot())::text::bigint";
    let foreign = format!(
        "select exists (select 1 from stoa.outbox where tx >= {next}) \
         or exists (select 1 from stoa.outbox_consumer where tx >= {next}) \
         or exists (select 1 from stoa.log where floor_tx >= {next} or counted_tx >= {next})"
    );
    let row = client.query_one(&foreign, &[]).await.map_err(|it| Error::from_postgres(&it))?;
    if !row.try_get::<_, bool>(0).map_err(|it| Error::from_postgres(&it))? {
        return Ok(());
    }
    // Who serves one remembers its place from before: it has to take it again.
    let consumers = "update stoa.outbox_consumer c set holder = null, lease = lease + 1, tx = 0, seq = case \
                     when (c.tx, c.seq) < (l.floor_tx, l.floor_seq) then -1 \
                     else coalesce((select min(o.seq) - 1 from stoa.outbox o \
                     where o.site = c.site and (o.tx, o.seq) > (c.tx, c.seq)), greatest(c.seq, l.floor_seq)) end \
                     from stoa.log l where l.site = c.site";
    command(client, consumers).await?;
    let logs = "update stoa.log l set floor_tx = 0, counted_tx = 0, bytes = 0, floor_seq = at.seq, counted_seq = at.seq \
                from (select f.site, coalesce((select min(o.seq) - 1 from stoa.outbox o where o.site = f.site), \
                f.floor_seq) as seq from stoa.log f) as at where at.site = l.site";
    command(client, logs).await?;
    command(client, "update stoa.outbox set tx = 0").await?;
    Ok(())
}
