//! The processes of a server that run code of its sites.
//!
//! A call waits for a place of its site and of the server, takes a process that its site has already, or starts one, and
//! gives it back. Whatever a process does, the call ends in time: what takes too long is killed.

mod deaths;
mod pool;
mod process;
mod remote;
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
use process::{Broken, LOADING, NotLoaded};
use remote::Remote;
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

/// The place of a request between two calls, with its process. Where it is dropped others have it.
#[derive(Default)]
pub struct KeptPlace(Option<Lease>);

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
        self.ask(version, call, Instant::now() + left, &mut None).await
    }

    /// Asks one after another, most often of one process: as many answers as calls, whatever happens.
    pub async fn call_each(&self, version: &Arc<Version>, calls: &[Call], left: Duration) -> Vec<Called> {
        let (until, mut held) = (Instant::now() + left, None);
        let mut called = Vec::with_capacity(calls.len());
        for call in calls {
            called.push(self.ask(version, call, until, &mut held).await);
        }
        called
    }

    /// Asks about several calls of one hook, of one collection and one caller: as many answers as calls, whatever
    /// happens. An application is asked once; code is asked about one after another.
    pub async fn call_together(&self, version: &Arc<Version>, calls: &[Call], left: Duration) -> Vec<Called> {
        match &version.plugin {
            Some(plugin) => self.remote.ask(&self.pool, version, plugin, calls, Instant::now() + left).await,
            None => self.call_each(version, calls, left).await,
        }
    }

    /// Names who asks applications, once. Without it hooks that they answer fail.
    pub fn keep_plugins(&self, plugins: Weak<dyn Plugins>) {
        self.remote.keep(plugins);
    }

    pub fn plugins(&self) -> Option<Arc<dyn Plugins>> {
        self.remote.plugins()
    }

    /// Asks one hook in a place that is kept for the next call, as [`Host::call_each`] does.
    pub async fn call_keeping(
        &self,
        version: &Arc<Version>,
        call: &Call,
        left: Duration,
        kept: &mut KeptPlace,
    ) -> Called {
        self.ask(version, call, Instant::now() + left, &mut kept.0).await
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

    async fn ask(&self, version: &Arc<Version>, call: &Call, until: Instant, held: &mut Option<Lease>) -> Called {
        let began = Instant::now();
        let mut console = String::new();
        if let Some(plugin) = &version.plugin {
            let called = self.remote.ask(&self.pool, version, plugin, slice::from_ref(call), until).await.pop();
            return called.unwrap_or(Called { outcome: Err(Failure::Died), console, took: began.elapsed() });
        }
        let outcome = self.outcome(version, call, until, held, &mut console).await;
        self.pool.count(&outcome);
        Called { outcome, console, took: began.elapsed() }
    }

    async fn outcome(
        &self,
        version: &Arc<Version>,
        call: &Call,
        until: Instant,
        held: &mut Option<Lease>,
        console: &mut String,
    ) -> Result<Outcome, Failure> {
        let mut lease = match held.take() {
            Some(mut lease) => {
                lease.take_turns(until).await?;
                lease
            }
            None => self.pool.lease(version, call.context.network, until).await?,
        };
        let mut process = lease.process(version, until).await?;
        let asked = process.ask(version, call, self.time_of_call(), until).await;
        match asked {
            Ok((told, said)) => {
                lease.give_back(process);
                *held = Some(lease);
                *console = said;
                judged(call.hook, told, self.pool.limits.hook_answer)
            }
            Err(broken) => {
                self.pool.lost(version, &broken, call);
                Err(broken.into())
            }
        }
    }

    fn time_of_call(&self) -> Duration {
        Duration::from_millis(self.pool.limits.hook_milliseconds as u64)
    }
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
            Broken::TimedOut => Self::TimedOut,
            Broken::Ended(_) => Self::Died,
        }
    }
}
