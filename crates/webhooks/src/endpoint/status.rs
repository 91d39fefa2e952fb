//! An endpoint, and how it stands.

use crate::endpoint::{Endpoint, Format};
use serde_json::{Value, json};
use std::collections::HashMap;
use stoa_kernel::{EndpointId, Millis, Result, SiteId};
use stoa_sql::params;
use stoa_store::{Row, Tx};

/// An endpoint, and how it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointStatus {
    pub endpoint: Endpoint,
    /// How long the oldest row of the log has waited that it has not read, in milliseconds.
    pub lag: Millis,
    /// Events that are tried again later, with those of the same entity behind them.
    pub parked: i64,
    /// Events that were given up.
    pub dead: i64,
    /// Whether its application has the key that its format needs.
    pub has_key: bool,
}

impl EndpointStatus {
    /// As [`Endpoint::to_json`], with `lagSeconds`, `parked` and `dead`.
    pub fn to_json(&self) -> Value {
        let mut view = self.endpoint.to_json();
        view["lagSeconds"] = json!(self.lag as f64 / 1_000.0);
        view["parked"] = json!(self.parked);
        view["dead"] = json!(self.dead);
        if let (None, false) = (&self.endpoint.reason, self.has_key) {
            view["reason"] = json!(NO_KEY);
        }
        view
    }

    pub(crate) fn new(endpoint: Endpoint, waiting: &Waiting, lags: &HashMap<String, Millis>, has_key: bool) -> Self {
        let lag = lags.get(&endpoint.consumer()).copied().unwrap_or_default();
        let (parked, dead) = waiting.of(&endpoint.id);
        let has_key = has_key || endpoint.format == Format::Standard;
        Self { endpoint, lag, parked, dead, has_key }
    }
}

/// What an endpoint waits for whose application can't sign.
pub(crate) const NO_KEY: &str =
    "The application has no active key, and events wait until it has: stoa app key rotate, then activate.";

/// Events that wait apart, by endpoint.
pub(crate) struct Waiting(HashMap<String, (i64, i64)>);

impl Waiting {
    /// Those of one endpoint, or of all of a site.
    pub(crate) async fn read(tx: &mut Tx<'_>, site: &SiteId, endpoint: Option<&EndpointId>) -> Result<Self> {
        let (condition, values) = match endpoint {
            Some(id) => ("site = $1 and endpoint = $2", params![site, id].to_vec()),
            None => ("site = $1", params![site].to_vec()),
        };
        let sql = format!(
            "select endpoint, count(*), sum(case when state = 'DEAD' then 1 else 0 end) \
             from stoa.webhook_event where {condition} group by endpoint"
        );
        let each = |row: &Row<'_>| Ok((row.get::<String>(0)?, row.get::<i64>(1)?, row.get::<i64>(2)?));
        let rows = tx.rows(&sql, &values, each).await?;
        Ok(Self(rows.into_iter().map(|(id, all, dead)| (id, (all - dead, dead))).collect()))
    }

    fn of(&self, endpoint: &EndpointId) -> (i64, i64) {
        self.0.get(endpoint.as_str()).copied().unwrap_or_default()
    }
}
