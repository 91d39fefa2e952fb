//! `/metrics`, on an address of its own: what it tells is nothing for visitors, and no header that a proxy forgets to set
//! can make one of them out of a watcher ([decision 21](../../../decisions/0021-metrics.md)).

use axum::{
    Router,
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
    routing::get,
};
use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};
use stoa_http::{
    App,
    metrics::{self, Kind, Measure},
};
use tokio::net::TcpListener;
use tracing::{Event, Level, Subscriber, field::Field};
use tracing_subscriber::{
    Layer,
    filter::{Filtered, Targets},
    layer::Context,
    registry::LookupSpan,
};

const STATEMENT: &str = "stoa::statement";
const TRANSACTION: &str = "stoa::transaction";
const SCAN: &str = "stoa::scan";
const HASH: &str = "stoa::password";

/// Work that the store and the hashers tell of by events of targets of their own.
#[derive(Debug, Default)]
pub struct Work {
    statements: AtomicU64,
    transactions: AtomicU64,
    hashes: AtomicU64,
    scans: AtomicU64,
    /// In microseconds.
    scan_wait: AtomicU64,
}

/// Counts [`Work`]; without it the events are not even made.
pub struct WorkLayer(Arc<Work>);

impl Work {
    pub fn layer<S>(self: &Arc<Self>) -> Filtered<WorkLayer, Targets, S>
    where
        S: Subscriber + for<'l> LookupSpan<'l>,
    {
        let targets = [STATEMENT, TRANSACTION, SCAN, HASH].map(|it| (it, Level::TRACE));
        WorkLayer(self.clone()).with_filter(Targets::new().with_targets(targets))
    }

    fn measures(&self) -> Vec<Measure> {
        let counter = |name, help, value| Measure { name, help, kind: Kind::Counter, value };
        let count = |it: &AtomicU64| it.load(Relaxed) as f64;
        vec![
            counter("stoa_statements_total", "Statements that were sent to the database.", count(&self.statements)),
            counter("stoa_transactions_total", "Transactions that wrote.", count(&self.transactions)),
            counter("stoa_scans_total", "Long reads that came to their turn or were refused.", count(&self.scans)),
            counter(
                "stoa_scan_wait_seconds_total",
                "Time that long reads waited for their turn.",
                count(&self.scan_wait) / 1e6,
            ),
            counter("stoa_hashes_total", "Passwords that were hashed.", count(&self.hashes)),
        ]
    }
}

impl<S: Subscriber> Layer<S> for WorkLayer {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let work = &self.0;
        let counter = match event.metadata().target() {
            STATEMENT => &work.statements,
            TRANSACTION => &work.transactions,
            HASH => &work.hashes,
            SCAN => {
                event.record(&mut |field: &Field, value: &dyn std::fmt::Debug| {
                    if field.name() == "waited" {
                        work.scan_wait.fetch_add(format!("{value:?}").parse().unwrap_or(0), Relaxed);
                    }
                });
                &work.scans
            }
            _ => return,
        };
        counter.fetch_add(1, Relaxed);
    }
}

/// Answers `GET /metrics` at this address until the process ends.
///
/// # Errors
/// A sentence when the address can't be listened on.
pub async fn serve(address: SocketAddr, app: App, work: Arc<Work>) -> Result<(), String> {
    let listener = TcpListener::bind(address).await.map_err(|it| format!("can't listen on {address}: {it}"))?;
    let address = listener.local_addr().map_err(|it| it.to_string())?;
    let router = Router::new().route("/metrics", get(move || answer(app.clone(), work.clone())));
    tracing::info!("metrics are served at http://{address}/metrics");
    tokio::spawn(async move {
        if let Err(error) = axum::serve(listener, router).await {
            tracing::error!("metrics are no longer served: {error}");
        }
    });
    Ok(())
}

async fn answer(app: App, work: Arc<Work>) -> Response {
    let mut measures = work.measures();
    measures.extend(now(&app).await);
    let text = metrics::text(&app.metrics, &app.traffic, &measures);
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    ([(header::CONTENT_TYPE, kind)], text).into_response()
}

/// What waits and is open at this moment.
async fn now(app: &App) -> Vec<Measure> {
    let gauge = |name, help, value: u64| Measure { name, help, kind: Kind::Gauge, value: value as f64 };
    let sites = app.store.open_sites();
    let mut waiting = 0;
    for site in &sites {
        match app.identity.mail_waiting(site).await {
            Ok(count) => waiting += count.unsigned_abs(),
            Err(fault) => tracing::warn!(site = %site.id, "the queue of mail could not be counted: {fault:?}"),
        }
    }
    vec![
        gauge("stoa_open_sites", "Sites that are open.", sites.len() as u64),
        gauge("stoa_mail_waiting", "Messages of open sites that are still to be sent.", waiting),
        gauge("stoa_hashes_waiting", "Passwords that wait to be hashed.", app.identity.hashes_waiting() as u64),
    ]
}
