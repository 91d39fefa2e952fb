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
    endpoint::{Endpoint, EndpointState, row, secret, types},
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

/// How much more seldom what costs is done for an endpoint with nothing to send.
pub(super) const QUIET: Millis = 60;

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

impl Job {
    /// What tells it apart among events of the site.
    pub(super) fn key(&self) -> (i64, usize) {
        (self.event.sequence, self.event.place)
    }
}

/// Where an event on its way comes from.
pub(super) enum Origin {
    Log(Arc<Job>),
    Apart(Box<Queued>),
}

type Flying = Pin<Box<dyn Future<Output = (Origin, Report)> + Send>>;

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
    /// The place that is stored.
    pub place: Place,
    /// Rows that were read, the one whose events are being added with the place of the next, and the place behind all.
    pub rows: VecDeque<Entry>,
    pub current: Option<(Entry, usize)>,
    pub read_to: Place,
    /// Nothing more could be read the last time.
    pub is_end: bool,
    /// Then nothing is read until then, by the clock that only goes forward.
    pub gathers_until: Millis,

    /// Entities with events that wait apart, and how many, as the table had it after the last change of the entity.
    pub apart: HashMap<String, usize>,
    /// Whether something was changed there since all of it was read.
    pub has_changed_apart: bool,
    /// When the first of those is due that are not on their way.
    pub due: Option<Millis>,
    /// Entities of those that are.
    pub flying_apart: HashSet<String>,

    pub streak: Streak,
    /// Whether the endpoint fails because nothing was connected to, or could be sent.
    pub is_cut_off: bool,
    /// Events that an endpoint that fails has refused, the last one last. Once another one is taken, they have failed alone.
    pub tried: Vec<(i64, usize)>,
    /// Entities whose first event failed, and when it is tried again, by the clock that only goes forward.
    pub retries: Vec<(Millis, String)>,
    pub flights: FuturesUnordered<Flying>,
    /// Nothing new is sent until then, by the same clock.
    pub rests_until: Millis,
    /// When these were done last, by the same clock.
    pub stored: Millis,
    pub saved: Millis,
    pub looked: Millis,
    pub refreshed: Millis,
    pub checked: Millis,
    /// Whether something was sent since the place was stored, and whether the stored endpoint lacks that it arrived.
    pub is_lively: bool,
    pub has_more_to_note: bool,
    /// Whether it is known what may be heard; and whether the application may hear nothing at all.
    pub is_hearing_known: bool,
    pub is_barred: bool,

    pub _served: Gauge,
    pub open: Option<Gauge>,
}

impl Runner {
    /// Reads what is stored of the endpoint that a consumer is.
    pub(super) async fn open(core: Arc<Core>, held: Held, id: &EndpointId) -> Result<Self, Stop> {
        let site = held.site().clone();
        let (news, changes) = (held.news(), core.changes.subscribe());
        let (site_id, endpoint_id) = (site.id.clone(), id.clone());
        let read = site.read(ReaderPool::Point, move |tx| boxed!(row::get(tx, &site_id, &endpoint_id).await));
        let Some(endpoint) = read.await?.filter(|it| it.state.is_on()) else {
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
        let counts: Arc<Counts> = core.counts.clone();
        let is_open = endpoint.state == EndpointState::Open;
        let (now, quiet) = (elapsing(), QUIET * core.times.look);
        let place = Place { position: held.position(), created: core.world.now() };
        Ok(Self {
            kinds: types::kinds(&types).iter().map(|it| it.name()).collect(),
            receiver: Arc::new(Receiver { target, timeout, maker }),
            // Looked at before anything is read.
            heard: Heard { types, collections, hearing: Hearing::nothing() },
            news,
            changes,
            window: Window::new(),
            rows: VecDeque::new(),
            current: None,
            place,
            read_to: place,
            is_end: false,
            gathers_until: now,
            apart: HashMap::new(),
            has_changed_apart: true,
            due: None,
            flying_apart: HashSet::new(),
            streak: Streak::default(),
            is_cut_off: false,
            tried: Vec::new(),
            retries: Vec::new(),
            flights: FuturesUnordered::new(),
            rests_until: now,
            stored: now,
            saved: now,
            looked: now - quiet,
            refreshed: now - quiet,
            checked: now - quiet,
            is_lively: false,
            has_more_to_note: false,
            is_hearing_known: false,
            is_barred: false,
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
    pub(super) fn launch(&mut self, origin: Origin, event: Arc<Event>) {
        if let Origin::Apart(it) = &origin {
            self.flying_apart.insert(it.entity.clone());
        }
        let (core, site, receiver) = (self.core.clone(), self.site.clone(), self.receiver.clone());
        self.flights.push(Box::pin(async move { (origin, attempt(&core, &site, receiver, event).await) }));
    }

    /// When changes may be looked at again: who changes one endpoint often doesn't have the leases of all read as often.
    pub(super) fn next_check(&self) -> Millis {
        self.checked + self.core.times.look
    }

    /// Where an endpoint was changed in this process: whether it was another one.
    pub(super) async fn check_changes(&mut self) -> Result<(), Stop> {
        if !self.changes.has_changed().unwrap_or(false) || elapsing() < self.next_check() {
            return Ok(());
        }
        self.changes.mark_unchanged();
        self.checked = elapsing();
        let held = self.held.clone();
        match self.site.read(ReaderPool::Point, move |tx| boxed!(held.is_stored(tx).await)).await? {
            true => Ok(()),
            false => Err(Stop::Lost),
        }
    }

    /// Writes for the endpoint, as long as the lease is the stored one.
    pub(super) async fn write<I, T, F>(&mut self, input: I, body: F) -> Result<T, Stop>
    where
        I: Send + Sync + 'static,
        T: Send + 'static,
        F: for<'t> Fn(&'t mut Tx<'_>, &'t Queue<'t>, &'t I) -> TxFuture<'t, T> + Send + Sync + 'static,
    {
        let written = self.site.write_with(
            (self.held.clone(), self.site.id.clone(), self.endpoint.id.clone(), input, body),
            |tx, (held, site, endpoint, input, body)| {
                boxed!({
                    if !held.keep(tx).await? {
                        return Ok(None);
                    }
                    let queue = Queue { site, endpoint };
                    body(tx, &queue, input).await.map(Some)
                })
            },
        );
        written.await?.ok_or(Stop::Lost)
    }
}

/// What an endpoint may hear now.
///
/// # Errors
/// [`stoa_kernel::Code::OauthUnauthorized`] for an application of others that no owner has installed.
pub(crate) async fn hearing(core: &Core, endpoint: &Endpoint, app: &Client) -> Result<Hearing> {
    let hearing = Hearing::of(endpoint.scopes.as_ref(), app);
    if !app.is_third_party {
        return Ok(hearing);
    }
    let agreed = core.identity.app_agreement(app).await?;
    Ok(hearing.and(agreed.as_ref()))
}
