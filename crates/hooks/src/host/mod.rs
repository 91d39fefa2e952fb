//! The processes of a server that run code of its sites.
//!
//! A call waits for a place of its site and of the server, takes a process that its site has already, or starts one, and
//! gives it back. Whatever a process does, the call ends in time: what takes too long is killed.

mod deaths;
mod pool;
mod process;
mod remote;
mod replies;
mod tested;

use crate::{
    call::{Call, Called, Failure, Outcome, SourceRefusal, Thrown},
    hook::{Export, Hook, is_code},
    limits::HookLimits,
    message::{Exported, Reply, Told},
    plugin::Plugins,
    version::Version,
};
pub use pool::HookFigures;
use pool::{Lease, Pool};
pub use process::HostProgram;
use process::{LOADING, NotLoaded, Process};
use remote::Remote;
use replies::{Answer, Broken};
use std::{
    slice,
    sync::{Arc, Weak},
    time::Duration,
};
use stoa_kernel::{SiteId, nearest::nearest};
pub use tested::Tested;
use tokio::time::Instant;

/// One for each server; cheap to clone.
#[derive(Clone)]
pub struct Host {
    pool: Arc<Pool>,
    remote: Arc<Remote>,
}

/// Calls that a process is sent one behind another, at most, and beside how many were sent before them.
const MOST_TOGETHER: usize = 512;
const MOST_GROWTH: usize = 8;
/// How long they are to take together: between two such groups others have their turn.
const TURN: Duration = Duration::from_millis(5);
/// Bytes of a value that a hook may throw.
const MOST_THROWN: usize = 4_096;
/// Bytes of an error that it may throw, whose name and message have as many characters each.
const MOST_ERROR: usize = 8 * MOST_THROWN;

impl Host {
    pub fn new(limits: HookLimits, program: HostProgram) -> Self {
        Self { pool: Arc::new(Pool::new(limits, program)), remote: Arc::default() }
    }

    pub fn limits(&self) -> &HookLimits {
        &self.pool.limits
    }

    /// What was counted since the start, and what there is now.
    pub fn figures(&self) -> HookFigures {
        self.pool.figures()
    }

    /// Asks one hook. `left` is what is left of the time of the request, waiting and starting included.
    pub async fn call(&self, version: &Arc<Version>, call: &Call, left: Duration) -> Called {
        let until = Instant::now() + left;
        let called = match &version.plugin {
            Some(plugin) => self.remote.ask(&self.pool, version, plugin, slice::from_ref(call), until).await.pop(),
            None => self.ask(version, slice::from_ref(call), (until, usize::MAX), &mut None).await.0.pop(),
        };
        called.unwrap_or(Called::failed(Failure::Died))
    }

    /// Asks about several calls of one hook, of one collection and one caller: as many answers as calls, whatever
    /// happens. An application is asked once; code is asked about one after another, most often by one process. Once the
    /// answers have more bytes than there is `room` for, nothing more is asked.
    pub async fn call_each(&self, version: &Arc<Version>, calls: &[Call], left: Duration, room: usize) -> Vec<Called> {
        let until = Instant::now() + left;
        match &version.plugin {
            Some(plugin) => self.remote.ask(&self.pool, version, plugin, calls, until).await,
            None => self.ask_each(version, calls, until, room).await,
        }
    }

    /// Names who asks applications, once. Without it hooks that they answer fail.
    pub fn keep_plugins(&self, plugins: Weak<dyn Plugins>) {
        self.remote.keep(plugins);
    }

    pub fn plugins(&self) -> Option<Arc<dyn Plugins>> {
        self.remote.plugins()
    }

    /// What a source exports: it is loaded in a process of its own, which ends then.
    ///
    /// # Errors
    /// Why it can't be deployed.
    pub async fn exports_of(&self, site: &SiteId, source: &str) -> Result<Vec<Export>, SourceRefusal> {
        let limit = self.pool.limits.hook_source;
        if source.len() > limit {
            return Err(SourceRefusal::TooLong { limit });
        }
        let mut process = self.pool.apart(site, Instant::now() + 10 * LOADING).await.map_err(SourceRefusal::Failed)?;
        match process.load_source(source, None, LOADING).await {
            Ok(exported) => exported.into_iter().map(export_of).collect(),
            Err(why) => Err(why.into()),
        }
    }

    /// Lets processes be started again for a site whose hooks are failing.
    pub fn resume(&self, site: &SiteId) {
        self.pool.resume(site);
    }

    /// Ends all processes. Calls are refused from now on.
    pub async fn shutdown(&self) {
        self.pool.shutdown().await;
    }

    async fn ask_each(&self, version: &Arc<Version>, calls: &[Call], until: Instant, mut room: usize) -> Vec<Called> {
        let (mut held, mut together) = (None, 1);
        let mut called: Vec<Called> = Vec::with_capacity(calls.len());
        while called.len() < calls.len() {
            let rest = &calls[called.len()..];
            if room == 0 {
                called.extend(rest.iter().map(|_| Called::failed(Failure::TooLarge)));
                break;
            }
            if Instant::now() >= until {
                // A process that is started for each would only find that out again.
                called.extend(rest.iter().map(|_| Called::failed(Failure::TimedOut)));
                break;
            }
            let group = &rest[..together.min(rest.len())];
            let (answered, ran) = self.ask(version, group, (until, room), &mut held).await;
            together = fitting(answered.len(), ran).min(MOST_GROWTH * together);
            room = room.saturating_sub(answered.iter().map(Called::bytes).sum());
            called.extend(answered);
        }
        called
    }

    /// Asks about calls, about the first at least: there may be fewer answers. How long code ran for them is without what
    /// they waited before.
    async fn ask(
        &self,
        version: &Arc<Version>,
        calls: &[Call],
        (until, room): (Instant, usize),
        held: &mut Option<Lease>,
    ) -> (Vec<Called>, Duration) {
        let mut before = Instant::now();
        let process = self.process(version, calls, until, held).await;
        let began = Instant::now();
        let called = match process {
            Ok(it) => self.answers(version, calls, (until, room), it, held).await,
            Err(failure) => vec![(Err(failure), String::new(), began)],
        };
        let ran = began.elapsed();
        let each = called.into_iter().map(|(outcome, console, at)| {
            self.pool.count(&outcome);
            let took = at - std::mem::replace(&mut before, at);
            Called { outcome, console, took }
        });
        (each.collect(), ran)
    }

    /// A right to run code, and the process that does.
    async fn process(
        &self,
        version: &Arc<Version>,
        calls: &[Call],
        until: Instant,
        held: &mut Option<Lease>,
    ) -> Result<(Lease, Process), Failure> {
        let mut lease = match held.take() {
            Some(mut lease) => {
                lease.take_turns(until).await?;
                lease
            }
            None => self.pool.lease(version, calls.first().and_then(|it| it.context.network), until).await?,
        };
        let process = lease.process(version, until).await?;
        Ok((lease, process))
    }

    async fn answers(
        &self,
        version: &Arc<Version>,
        calls: &[Call],
        (until, room): (Instant, usize),
        (mut lease, mut process): (Lease, Process),
        held: &mut Option<Lease>,
    ) -> Vec<(Result<Outcome, Failure>, String, Instant)> {
        let (most, began) = (self.pool.limits.hook_answer, Instant::now());
        let (answers, broken) = process.ask(version, calls, (self.time_of_call(), until), room).await;
        let judge = |(it, call): (Answer, &Call)| (judged(call.hook, it.told, most), it.console, it.at);
        let mut called: Vec<_> = answers.into_iter().zip(calls).map(judge).collect();
        match (broken, calls.get(called.len())) {
            (Some(broken), Some(call)) => {
                if !matches!(broken, Broken::Abandoned) {
                    self.pool.lost(version, &broken, call);
                }
                called.push((Err(broken.into()), String::new(), Instant::now()));
            }
            (Some(_), None) => {}
            (None, _) => {
                lease.give_back(process);
                if let Some((Err(Failure::TimedOut | Failure::OutOfMemory), ..)) = called.last() {
                    lease.cool_down(began.elapsed().min(self.time_of_call()));
                }
                *held = Some(lease);
            }
        }
        called
    }

    fn time_of_call(&self) -> Duration {
        Duration::from_millis(self.pool.limits.hook_milliseconds as u64)
    }
}

/// How many calls fit into a turn, if they take as long as these did.
fn fitting(calls: usize, took: Duration) -> usize {
    let fitting = TURN.as_nanos() * calls.max(1) as u128 / took.as_nanos().max(1);
    usize::try_from(fitting).unwrap_or(MOST_TOGETHER).clamp(1, MOST_TOGETHER)
}

/// What becomes of a message of a process, whatever it is.
///
/// # Errors
/// As [`Host::call`] answers them.
#[doc(hidden)]
pub fn judge(message: &[u8], hook: Hook, most: usize) -> Result<Outcome, Failure> {
    match Reply::read(message) {
        Ok(Reply::Answer { told, .. }) => judged(hook, told, most),
        _ => Err(Failure::Died),
    }
}

/// The server's own look at what a process told: only what the hook may answer, and no more of it.
fn judged(hook: Hook, told: Told, most: usize) -> Result<Outcome, Failure> {
    match told {
        Told::Value(value) if value.get().len() > most => Err(Failure::TooLarge),
        Told::Value(value) if hook.answers().include(&value) => Ok(Outcome::Value(value)),
        Told::Value(_) | Told::Nothing => Ok(Outcome::Nothing),
        Told::Thrown(value) if value.get().len() > MOST_THROWN => Err(Failure::TooLarge),
        Told::Error { name, message, code }
            if name.len() + message.len() + code.as_ref().map_or(0, |it| it.get().len()) > MOST_ERROR =>
        {
            Err(Failure::TooLarge)
        }
        other => Err(failure_of(other)),
    }
}

fn failure_of(told: Told) -> Failure {
    match told {
        Told::Error { name, message, code } => {
            Failure::Thrown(Thrown::Error { name, message, code: code.filter(|it| is_code(it)) })
        }
        Told::Thrown(value) => Failure::Thrown(Thrown::Value(value)),
        Told::TimedOut => Failure::TimedOut,
        Told::OutOfMemory => Failure::OutOfMemory,
        Told::TooLarge => Failure::TooLarge,
        // Only asked of what is no outcome.
        Told::Value(_) | Told::Nothing => Failure::Died,
    }
}

fn export_of(exported: Exported) -> Result<Export, SourceRefusal> {
    let Exported { name, callable } = exported;
    match Export::of_name(&name) {
        Some(export) if callable => Ok(export),
        _ => Err(SourceRefusal::NotAHook { nearest: nearest_hook(&name).filter(|it| *it != name), name }),
    }
}

/// The name that was perhaps meant.
fn nearest_hook(name: &str) -> Option<String> {
    let (collection, hook) = name.rsplit_once('_')?;
    let hook = nearest(hook, Hook::ALL.iter().map(|it| it.name()))?;
    Some(format!("{collection}_{hook}"))
}

impl From<NotLoaded> for SourceRefusal {
    fn from(why: NotLoaded) -> Self {
        match why {
            NotLoaded::Told(Told::Error { name, message, .. }) => {
                Self::Broken { message: format!("{name}: {message}") }
            }
            NotLoaded::Told(told) => Self::Failed(failure_of(told)),
            NotLoaded::Broken(broken) => Self::Failed(broken.into()),
        }
    }
}

impl From<Broken> for Failure {
    fn from(broken: Broken) -> Self {
        match broken {
            Broken::TimedOut | Broken::Abandoned => Self::TimedOut,
            Broken::Ended(_) => Self::Died,
        }
    }
}
