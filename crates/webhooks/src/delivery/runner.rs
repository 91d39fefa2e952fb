//! What a node knows of an endpoint that it sends for.

use crate::{
    Core,
    access::Hearing,
    delivery::{
        attempt::{Receiver, Report, attempt},
        counts::{Counts, Gauge},
        queue::{Queue, Queued},
        streak::Streak,
        window::Window,
    },
    endpoint::{Endpoint, manage::app, row, secret, types},
    message::{envelope::Maker, event::Event, source::Heard},
};
use futures_util::stream::FuturesUnordered;
use std::{
    collections::{HashMap, HashSet, VecDeque},
    pin::Pin,
    sync::Arc,
    time::Duration,
};
use stoa_identity::client::Client;
use stoa_kernel::{EndpointId, Fault, Millis, Result, clock::elapsing};
use stoa_outbound::Target;
use stoa_store::{
    Held, News, ReaderPool, Site, Tx, TxFuture, boxed,
    outbox::{Entry, Position},
};
use tokio::sync::watch;

/// Calls of an endpoint at the same time, and of them those of events that wait apart: what fails must not take all.
pub(super) const CALLS: usize = 4;
pub(super) const CALLS_APART: usize = 2;

/// Why the work for an endpoint ends.
#[derive(Debug)]
pub(super) enum Stop {
    /// The lease is another's, or the endpoint is another one now.
    Lost,
    Fault(Fault),
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// A place in the log, and when the row before it was written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub position: Position,
    pub created: Millis,
}

/// An event of the log, and the place behind its row.
#[derive(Debug)]
pub(super) struct Job {
    pub event: Arc<Event>,
    pub row: Position,
}

/// An event on its way.
pub(super) struct Flight {
    pub origin: Origin,
    /// Whether it tries an endpoint that fails.
    pub is_probe: bool,
}

/// Where an event on its way comes from.
pub(super) enum Origin {
    Log(Arc<Job>),
    Apart(Box<Queued>),
}

type Flying = Pin<Box<dyn Future<Output = (Flight, Report)> + Send>>;

/// What is known of an endpoint.
pub(super) struct Runner {
    pub core: Arc<Core>,
    pub held: Held,
    pub site: Arc<Site>,
    pub endpoint: Endpoint,
    pub receiver: Arc<Receiver>,
    pub heard: Heard,
    /// Kinds of rows that it hears of.
    pub kinds: Vec<&'static str>,
    pub news: News,
    /// Changes of endpoints by this process.
    pub changes: watch::Receiver<u64>,

    pub window: Window<Place, Arc<Job>>,
    /// Rows that were read, the one whose events are being added with the place of the next, and the place behind all.
    pub rows: VecDeque<Entry>,
    pub current: Option<(Entry, usize)>,
    pub read_to: Place,
    /// Nothing more could be read the last time.
    pub is_end: bool,

    /// Entities with events that wait apart, and how many.
    pub apart: HashMap<String, usize>,
    /// When the first of those is due that are not on their way.
    pub due: Option<Millis>,
    pub flying_apart: HashSet<(i64, i64)>,

    pub streak: Streak,
    /// Entities whose first event failed, and when it is tried again, by the clock that only goes forward.
    pub retries: Vec<(Millis, String)>,
    pub flights: FuturesUnordered<Flying>,
    /// Nothing new is sent until then, by the same clock.
    pub rests_until: Millis,
    /// When these were done last, by the same clock.
    pub stored: Millis,
    pub saved: Millis,
    pub looked: Millis,
    /// Whether the stored endpoint says that nothing has arrived for a while, or lacks what has.
    pub is_noted_failing: bool,
    pub has_more_to_note: bool,

    pub _served: Gauge,
    pub open: Option<Gauge>,
}

impl Runner {
    /// Reads what is stored of the endpoint that a consumer is.
    pub(super) async fn open(core: Arc<Core>, held: Held, id: &EndpointId) -> Result<Self, Stop> {
        let site = held.site().clone();
        let (news, changes) = (held.news(), core.changes.subscribe());
        let (site_id, endpoint_id) = (site.id.clone(), id.clone());
        let read = site.read(ReaderPool::Point, move |tx| {
            boxed!({
                let Some(endpoint) = row::get(tx, &site_id, &endpoint_id).await? else { return Ok(None) };
                let apart = Queue { site: &site_id, endpoint: &endpoint_id }.entities(tx).await?;
                Ok(Some((endpoint, apart)))
            })
        });
        let Some((endpoint, apart)) = read.await?.filter(|it| it.0.state.is_on()) else {
            return Err(Stop::Lost);
        };
        let target = Target::parse(&endpoint.url).map_err(Fault::internal)?;
        let secrets = secret::keys(&core, &site, id).await?;
        let maker = Maker {
            site: site.id.clone(),
            app: endpoint.app.clone(),
            format: endpoint.format,
            max_bytes: endpoint.max_bytes,
            secrets,
        };
        let timeout = Duration::from_millis(endpoint.timeout.unsigned_abs());
        let (types, collections) = (endpoint.types.clone(), endpoint.collections.clone());
        let app = app(&core, &site, &endpoint.app).await?;
        let hearing = match &app {
            Some(app) => hearing(&core, &endpoint, app).await?,
            None => Hearing::default(),
        };
        let counts: Arc<Counts> = core.counts.clone();
        let is_open = endpoint.reason.is_some();
        let (now, position) = (elapsing(), held.position());
        Ok(Self {
            kinds: types::kinds(&types).iter().map(|it| it.name()).collect(),
            receiver: Arc::new(Receiver { target, timeout, maker }),
            heard: Heard { types, collections, hearing },
            news,
            changes,
            window: Window::new(),
            rows: VecDeque::new(),
            current: None,
            read_to: Place { position, created: core.world.now() },
            is_end: false,
            due: (!apart.is_empty()).then_some(Millis::MIN),
            apart,
            flying_apart: HashSet::new(),
            streak: Streak::default(),
            retries: Vec::new(),
            flights: FuturesUnordered::new(),
            rests_until: now,
            stored: now,
            saved: now,
            looked: now,
            is_noted_failing: endpoint.health.failing_since.is_some(),
            has_more_to_note: false,
            _served: Gauge::new(&counts, |it| &it.served),
            open: is_open.then(|| Gauge::new(&counts, |it| &it.open)),
            endpoint,
            site,
            held,
            core,
        })
    }

    pub(super) fn now(&self) -> Millis {
        self.core.world.now()
    }

    /// Events that wait apart.
    pub(super) fn apart_count(&self) -> usize {
        self.apart.values().sum()
    }

    /// Sends an event.
    pub(super) fn launch(&mut self, origin: Origin, event: Arc<Event>, is_probe: bool) {
        if let Origin::Apart(it) = &origin {
            self.flying_apart.insert(it.key());
        }
        let (core, site, receiver) = (self.core.clone(), self.site.clone(), self.receiver.clone());
        let flight = Flight { origin, is_probe };
        self.flights.push(Box::pin(async move { (flight, attempt(&core, &site, receiver, event).await) }));
    }

    /// Where an endpoint was changed in this process: whether it was another one.
    pub(super) async fn check_changes(&mut self) -> Result<(), Stop> {
        if !self.changes.has_changed().unwrap_or(false) {
            return Ok(());
        }
        self.changes.mark_unchanged();
        let held = self.held.clone();
        match self.site.read(ReaderPool::Point, move |tx| boxed!(held.is_stored(tx).await)).await? {
            true => Ok(()),
            false => Err(Stop::Lost),
        }
    }

    /// Writes for the endpoint, as long as the lease is the stored one.
    pub(super) async fn write<I, F>(&mut self, input: I, body: F) -> Result<(), Stop>
    where
        I: Send + Sync + 'static,
        F: for<'t> Fn(&'t mut Tx<'_>, &'t Queue<'t>, &'t I) -> TxFuture<'t, ()> + Send + Sync + 'static,
    {
        let written = self.site.write_with(
            (self.held.clone(), self.site.id.clone(), self.endpoint.id.clone(), input, body),
            |tx, (held, site, endpoint, input, body)| {
                boxed!({
                    if !held.is_stored(tx).await? {
                        return Ok(false);
                    }
                    let queue = Queue { site, endpoint };
                    body(tx, &queue, input).await?;
                    Ok(true)
                })
            },
        );
        if written.await? { Ok(()) } else { Err(Stop::Lost) }
    }
}

/// What an endpoint may hear now.
pub(crate) async fn hearing(core: &Core, endpoint: &Endpoint, app: &Client) -> Result<Hearing> {
    let hearing = Hearing::of(endpoint.scopes.as_ref(), app);
    if !app.is_third_party {
        return Ok(hearing);
    }
    // Without an agreement nothing is sent at all, which each attempt finds out.
    let agreed = core.identity.app_agreement(app).await.ok().flatten();
    Ok(hearing.and(agreed.as_ref()))
}
