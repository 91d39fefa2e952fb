//! `/metrics`, on an address of its own: what it tells is nothing for visitors, and no header that a proxy forgets to set
//! can make one of them out of a watcher ([decision 21](../../../decisions/0021-metrics.md)).

use axum::{
    Router,
    http::{HeaderMap, HeaderValue, StatusCode, header, uri::Authority},
    response::{IntoResponse, Response},
    routing::get,
};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use std::{
    net::{IpAddr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};
use stoa_hooks::{HookFigures, Host};
use stoa_http::{
    App,
    metrics::{self, Family, Kind, Measure, Sample},
};
use stoa_realtime::RealtimeCounts;
use stoa_store::ConsumerLag;
use stoa_webhooks::WebhookCounts;
use tokio::{net::TcpListener, sync::Semaphore};
use tower::ServiceExt;
use tracing::{Event, Level, Subscriber, field::Field};
use tracing_subscriber::{
    Layer,
    filter::{Filtered, Targets},
    layer::Context,
    registry::LookupSpan,
};

/// Connections at the same time; others wait to be accepted. Files are kept for the store, not for watchers.
const CONNECTIONS: usize = 16;
/// How long a connection may take, which has one request.
const LONGEST: Duration = Duration::from_secs(10);
/// How long nothing is accepted when the system has no room for another connection.
const BREATH: Duration = Duration::from_millis(100);

/// Consumers of logs whose lag is told, those that are farthest behind.
const MOST_LAGS: usize = 200;

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
pub async fn serve(address: SocketAddr, app: App, hooks: Host, work: Arc<Work>) -> Result<(), String> {
    let listener = TcpListener::bind(address).await.map_err(|it| format!("can't listen on {address}: {it}"))?;
    let address = listener.local_addr().map_err(|it| it.to_string())?;
    let watched = Arc::new(Watched { app, hooks, work, is_here: address.ip().is_loopback(), turn: Semaphore::new(1) });
    let router = Router::new().route("/metrics", get(move |headers: HeaderMap| answer(watched.clone(), headers)));
    tracing::info!("metrics are served at http://{address}/metrics");
    tokio::spawn(accept(listener, router));
    Ok(())
}

async fn accept(listener: TcpListener, router: Router) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    while let Ok(place) = places.clone().acquire_owned().await {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::debug!("a watcher was not accepted: {error}");
                tokio::time::sleep(BREATH).await;
                continue;
            }
        };
        let router = router.clone();
        tokio::spawn(async move {
            let service = service_fn(move |request: hyper::Request<Incoming>| router.clone().oneshot(request));
            let mut builder = http1::Builder::new();
            let serving = builder.keep_alive(false).serve_connection(TokioIo::new(stream), service);
            let _ = tokio::time::timeout(LONGEST, serving).await;
            drop(place);
        });
    }
}

/// What is told, and to whom.
struct Watched {
    app: App,
    hooks: Host,
    work: Arc<Work>,
    /// Whether the address is one of this machine alone.
    is_here: bool,
    /// One at a time: an answer asks the database about each open site.
    turn: Semaphore,
}

async fn answer(watched: Arc<Watched>, headers: HeaderMap) -> Response {
    if watched.is_here && !names_this_machine(&headers) {
        return (StatusCode::MISDIRECTED_REQUEST, "asked for under a name that is not this machine's\n")
            .into_response();
    }
    let _turn = watched.turn.acquire().await;
    let mut measures = watched.work.measures();
    measures.extend(now(&watched.app).await);
    measures.extend(streams(&watched.app.realtime.counts()));
    measures.extend(webhooks(watched.app.webhooks.counts()));
    measures.extend(hooks(watched.hooks.figures()));
    let mut lags = lags(&watched.app).await;
    measures.push(consumers(&lags));
    // What is farthest behind is what a watcher wants to know of.
    lags.sort_by_key(|it| -it.consumer.lag);
    lags.truncate(MOST_LAGS);
    let text = metrics::text(&watched.app.metrics, &watched.app.traffic, &measures, &families(&lags));
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    ([(header::CONTENT_TYPE, kind)], text).into_response()
}

/// Whether a request is for an address or for `localhost`. A page in a browser of this machine can have its own name
/// lead here, and would then read what it is answered; the name is what gives it away.
fn names_this_machine(headers: &HeaderMap) -> bool {
    let Some(host) = headers.get(header::HOST) else { return true };
    let Ok(authority) = Authority::try_from(host.as_bytes()) else { return false };
    let name = authority.host();
    let address = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    name.eq_ignore_ascii_case("localhost") || address.is_ok()
}

/// How far the consumers of logs are.
async fn lags(app: &App) -> Vec<ConsumerLag> {
    app.store.log_lags(app.world.now()).await.unwrap_or_else(|fault| {
        tracing::warn!("how far the consumers of logs are can't be asked: {fault:?}");
        Vec::new()
    })
}

fn consumers(lags: &[ConsumerLag]) -> Measure {
    let help = "Consumers of the logs of sites.";
    Measure { name: "stoa_log_consumers", help, kind: Kind::Gauge, value: lags.len() as f64 }
}

fn families(lags: &[ConsumerLag]) -> [Family; 2] {
    let samples = |value: fn(&ConsumerLag) -> f64| {
        let labels =
            |it: &ConsumerLag| vec![("site", it.site.as_str().to_owned()), ("consumer", it.consumer.name.clone())];
        lags.iter().map(|it| Sample { labels: labels(it), value: value(it) }).collect()
    };
    let rows = "Rows of its site's log that a consumer has not read.";
    let seconds = "How long the oldest of them has waited.";
    [
        Family { name: "stoa_log_lag_rows", help: rows, samples: samples(|it| it.consumer.lag_rows as f64) },
        Family { name: "stoa_log_lag_seconds", help: seconds, samples: samples(|it| it.consumer.lag as f64 / 1e3) },
    ]
}

fn webhooks(counts: WebhookCounts) -> Vec<Measure> {
    let of = |kind| move |name, help, value: f64| Measure { name, help, kind, value };
    let (counter, gauge) = (of(Kind::Counter), of(Kind::Gauge));
    let WebhookCounts { taken, refused, unreached, parked, died, disabled, served, open } = counts;
    vec![
        counter("stoa_webhooks_taken_total", "Deliveries of webhooks that arrived.", taken as f64),
        counter("stoa_webhooks_refused_total", "Those that were refused, or not answered in time.", refused as f64),
        counter("stoa_webhooks_unreached_total", "Those without a connection.", unreached as f64),
        counter("stoa_webhooks_parked_total", "Events that alone failed and were set apart.", parked as f64),
        counter("stoa_webhooks_died_total", "Events that were given up.", died as f64),
        counter("stoa_webhooks_disabled_total", "Webhook endpoints that were given up.", disabled as f64),
        gauge("stoa_webhooks_served", "Webhook endpoints that this process sends for.", served as f64),
        gauge("stoa_webhooks_open", "Those of them that fail.", open as f64),
    ]
}

fn hooks(figures: HookFigures) -> Vec<Measure> {
    let of = |kind| move |name, help, value: f64| Measure { name, help, kind, value };
    let (counter, gauge) = (of(Kind::Counter), of(Kind::Gauge));
    let HookFigures { calls, thrown, timed_out, failed, refused, started, died, processes, memory } = figures;
    vec![
        counter("stoa_hooks_calls_total", "Hooks of sites that were asked.", calls as f64),
        counter("stoa_hooks_thrown_total", "Those that threw.", thrown as f64),
        counter("stoa_hooks_timed_out_total", "Those that took too long.", timed_out as f64),
        counter("stoa_hooks_failed_total", "Those that failed otherwise.", failed as f64),
        counter("stoa_hooks_refused_total", "Those that were not tried.", refused as f64),
        counter("stoa_hooks_started_total", "Processes of hooks that were started.", started as f64),
        counter("stoa_hooks_died_total", "Those that died, or were killed for what they did.", died as f64),
        gauge("stoa_hooks_processes", "Processes of hooks.", processes as f64),
        gauge("stoa_hooks_bytes", "Bytes that they are counted with.", memory as f64),
    ]
}

/// How streams of changes stand.
fn streams(counts: &RealtimeCounts) -> [Measure; 6] {
    let measure = |name, kind, help, value: u64| Measure { name, help, kind, value: value as f64 };
    let gauge = |name, help, value| measure(name, Kind::Gauge, help, value);
    let counter = |name, help, value| measure(name, Kind::Counter, help, value);
    [
        gauge("stoa_realtime_streams", "Streams of changes that are open.", counts.streams),
        gauge("stoa_realtime_subscriptions", "Subscriptions of these.", counts.subscriptions),
        gauge("stoa_realtime_groups", "Groups of subscriptions that are told the same.", counts.groups),
        counter("stoa_realtime_messages_total", "Messages that streams were told.", counts.messages),
        counter("stoa_realtime_resyncs_total", "Subscriptions that were told to read again.", counts.resyncs),
        counter("stoa_realtime_overloads_total", "Subscriptions whose reader was too slow.", counts.overloads),
    ]
}

/// What waits and is open at this moment.
async fn now(app: &App) -> Vec<Measure> {
    let gauge = |name, help, value: u64| Measure { name, help, kind: Kind::Gauge, value: value as f64 };
    let counter = |name, help, value: u64| Measure { name, help, kind: Kind::Counter, value: value as f64 };
    let leaked = app.identity.leaked_passwords_counts();
    let sent = app.identity.telephone_counts();
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
        counter("stoa_leaked_passwords_known_total", "New passwords that are known from a leak.", leaked.known),
        counter("stoa_leaked_passwords_unknown_total", "Those that are not.", leaked.unknown),
        counter(
            "stoa_leaked_passwords_unanswered_total",
            "Those of which the service told nothing.",
            leaked.unanswered,
        ),
        counter("stoa_telephone_messages_total", "Codes that were sent by text message.", sent.messages),
        counter("stoa_telephone_calls_total", "Codes that were sent by call.", sent.calls),
        counter("stoa_telephone_refused_total", "Codes that the telephone provider refused.", sent.refused),
        counter(
            "stoa_telephone_failed_total",
            "Codes that were not sent to a telephone, or of which its provider told nothing.",
            sent.failed,
        ),
        counter(
            "stoa_telephone_over_limit_total",
            "Codes that a limit of the day kept from telephones.",
            app.identity.telephone_over_limit(),
        ),
        gauge("stoa_aggregations", "Aggregations that are at work.", app.content.pipelines_running() as u64),
        gauge("stoa_aggregations_bytes", "Bytes that they keep.", app.content.pipeline_memory() as u64),
    ]
}
