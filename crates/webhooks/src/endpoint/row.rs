//! An endpoint as a row of its site.

use crate::endpoint::{Endpoint, EndpointState, Format, Health};
use stoa_kernel::{ClientId, EndpointId, Fault, Result, Scopes, SiteId};
use stoa_sql::{Value, params};
use stoa_store::{Error, Row, Tx};

/// In the order of [`from_row`].
const COLUMNS: &str = "id, app, url, types, collections, format, max_bytes, timeout, state, reason, scopes, created, \
                       updated, failing_since, probes, next_probe, last_success, last_failure, last_error, gap";

/// The endpoints of a site, the oldest first.
pub(crate) async fn all(tx: &mut Tx<'_>, site: &SiteId) -> Result<Vec<Endpoint>> {
    let sql = format!("select {COLUMNS} from stoa.webhook_endpoint where site = $1 order by created, id");
    Ok(tx.rows(&sql, &params![site], from_row).await?)
}

pub(crate) async fn get(tx: &mut Tx<'_>, site: &SiteId, id: &EndpointId) -> Result<Option<Endpoint>> {
    // No id of ours is longer or holds U+0000, and one engine refuses to look for that.
    if id.as_str().len() > 100 || id.as_str().contains('\0') {
        return Ok(None);
    }
    let sql = format!("select {COLUMNS} from stoa.webhook_endpoint where site = $1 and id = $2");
    Ok(tx.row(&sql, &params![site, id], from_row).await?)
}

/// Writes an endpoint in place of itself, or as a new one.
pub(crate) async fn put(tx: &mut Tx<'_>, site: &SiteId, endpoint: &Endpoint) -> Result<()> {
    let sql = format!(
        "insert into stoa.webhook_endpoint (site, {COLUMNS}) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, \
         $13, $14, $15, $16, $17, $18, $19, $20, $21) on conflict (site, id) do update set app = excluded.app, \
         url = excluded.url, types = excluded.types, collections = excluded.collections, format = excluded.format, \
         max_bytes = excluded.max_bytes, timeout = excluded.timeout, state = excluded.state, reason = excluded.reason, \
         scopes = excluded.scopes, updated = excluded.updated, failing_since = excluded.failing_since, probes = excluded.probes, \
         next_probe = excluded.next_probe, last_success = excluded.last_success, \
         last_failure = excluded.last_failure, last_error = excluded.last_error, gap = excluded.gap"
    );
    tx.execute(&sql, &values(site, endpoint)?).await?;
    Ok(())
}

pub(crate) async fn delete(tx: &mut Tx<'_>, site: &SiteId, id: &EndpointId) -> Result<()> {
    for table in ["webhook_event", "webhook_secret"] {
        tx.execute(&format!("delete from stoa.{table} where site = $1 and endpoint = $2"), &params![site, id]).await?;
    }
    tx.execute("delete from stoa.webhook_endpoint where site = $1 and id = $2", &params![site, id]).await?;
    Ok(())
}

fn values(site: &SiteId, endpoint: &Endpoint) -> Result<Vec<Value>> {
    let Endpoint { health, .. } = endpoint;
    Ok(vec![
        Value::from(site),
        Value::from(&endpoint.id),
        Value::from(&endpoint.app),
        Value::from(endpoint.url.clone()),
        Value::from(list(&endpoint.types)?),
        Value::from(endpoint.collections.as_deref().map(list).transpose()?),
        Value::from(endpoint.format.as_str()),
        Value::from(i64::try_from(endpoint.max_bytes).map_err(Fault::internal)?),
        Value::from(endpoint.timeout),
        Value::from(endpoint.state.as_str()),
        Value::from(endpoint.reason.clone()),
        Value::from(endpoint.scopes.as_ref().map(Scopes::to_string)),
        Value::from(endpoint.created),
        Value::from(endpoint.updated),
        Value::from(health.failing_since),
        Value::from(i64::try_from(health.probes).map_err(Fault::internal)?),
        Value::from(health.next_probe),
        Value::from(health.last_success),
        Value::from(health.last_failure),
        Value::from(health.last_error.clone()),
        Value::from(health.gap),
    ])
}

fn list(texts: &[String]) -> Result<String> {
    serde_json::to_string(texts).map_err(Fault::internal)
}

fn from_row(row: &Row<'_>) -> Result<Endpoint, Error> {
    let wrong = |what: &str| Error::Other(format!("an endpoint of webhooks has another {what} than there is"));
    let texts = |text: &str| serde_json::from_str::<Vec<String>>(text).map_err(|_| wrong("list"));
    let (format, state) = (row.text(5)?, row.text(8)?);
    let scopes: Option<String> = row.get(10)?;
    let collections: Option<String> = row.get(4)?;
    Ok(Endpoint {
        id: EndpointId::from(row.text(0)?),
        app: ClientId::from(row.text(1)?),
        url: row.get(2)?,
        types: texts(row.text(3)?)?,
        collections: collections.as_deref().map(texts).transpose()?,
        format: Format::ALL.into_iter().find(|it| it.as_str() == format).ok_or_else(|| wrong("format"))?,
        max_bytes: usize::try_from(row.get::<i64>(6)?).map_err(|_| wrong("size"))?,
        timeout: row.get(7)?,
        state: EndpointState::ALL.into_iter().find(|it| it.as_str() == state).ok_or_else(|| wrong("state"))?,
        reason: row.get(9)?,
        scopes: scopes.as_deref().map(Scopes::among),
        created: row.get(11)?,
        updated: row.get(12)?,
        health: Health {
            failing_since: row.get(13)?,
            probes: usize::try_from(row.get::<i64>(14)?).unwrap_or_default(),
            next_probe: row.get(15)?,
            last_success: row.get(16)?,
            last_failure: row.get(17)?,
            last_error: row.get(18)?,
            gap: row.get(19)?,
        },
    })
}
