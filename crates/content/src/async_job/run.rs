//! The work on the jobs of a site, in turns.

use super::{
    BEAT,
    piece::{Step, step},
    row::{self, AsyncJob},
};
use crate::Content;
use parking_lot::Mutex;
use std::{
    collections::{BTreeMap, HashMap},
    convert::Infallible,
    sync::Arc,
    time::Duration,
};
use stoa_kernel::{Code, Fault, Result, SiteId, clock::Millis};
use stoa_store::{ReaderPool, Site, boxed};
use tokio::{sync::Semaphore, time::sleep};

/// Sites whose jobs this process works on at one time.
const SITES: usize = 8;

/// When a site that could not be opened is tried again.
const RETRY: Millis = 30_000;

/// The sites whose jobs are worked on, and whether one was added since its list was last read.
pub(crate) struct JobRuns {
    sites: Mutex<HashMap<SiteId, bool>>,
    turns: Semaphore,
    /// When jobs of a site are to be looked for that wait for their time, or were left by a process that was stopped.
    due: Mutex<HashMap<SiteId, Millis>>,
}

impl Default for JobRuns {
    fn default() -> Self {
        Self { sites: Mutex::default(), turns: Semaphore::new(SITES), due: Mutex::default() }
    }
}

impl JobRuns {
    /// Whether the caller is to work on the site's jobs. If others do, they look again.
    fn begin(&self, site: &SiteId) -> bool {
        let mut sites = self.sites.lock();
        match sites.get_mut(site) {
            Some(is_added) => {
                *is_added = true;
                false
            }
            None => {
                sites.insert(site.clone(), false);
                true
            }
        }
    }

    /// Whether nothing was added meanwhile; then the work has ended.
    fn end(&self, site: &SiteId) -> bool {
        let mut sites = self.sites.lock();
        match sites.get_mut(site) {
            Some(is_added) if *is_added => {
                *is_added = false;
                false
            }
            _ => {
                sites.remove(site);
                true
            }
        }
    }
}

/// Work on the jobs of a site. Work that fails, or panics, ends whatever was added: the server's loop begins it again.
struct Work<'r> {
    runs: &'r JobRuns,
    site: &'r SiteId,
    has_ended: bool,
}

impl Drop for Work<'_> {
    fn drop(&mut self) {
        if !self.has_ended {
            self.runs.sites.lock().remove(self.site);
        }
    }
}

impl Content {
    /// Works on the jobs of a site on which no other process does, until none is left; not awaited. Called when a job is
    /// added and when one is asked for, and now and then for each site, in case a process was stopped.
    pub fn async_jobs_start(&self, site: &Arc<Site>) {
        if !self.state.job_runs.begin(&site.id) {
            return;
        }
        let (content, site) = (self.clone(), site.clone());
        tokio::spawn(async move {
            let mut work = Work { runs: &content.state.job_runs, site: &site.id, has_ended: false };
            while !work.has_ended {
                if let Err(fault) = run(&content, &site).await {
                    tracing::warn!(site = %site.id, "jobs by filter stand still: {fault:?}");
                    break;
                }
                work.has_ended = work.runs.end(&site.id);
            }
            note_due(&content, &site).await;
        });
    }

    /// Notes when jobs of a site are to be looked for, which may be closed until then.
    pub async fn async_jobs_look(&self, site: &Site) {
        note_due(self, site).await;
    }

    /// Notes that a site could not be looked at, which is tried again after a while, or that there is none any more.
    pub fn async_jobs_unseen(&self, site: &SiteId, fault: &Fault) {
        let mut due = self.state.job_runs.due.lock();
        if fault.code() == Code::SiteUnknown {
            due.remove(site);
        } else {
            due.insert(site.clone(), self.state.world.now() + RETRY);
        }
    }

    /// The sites, open or not, some of whose jobs are to be looked for by now.
    pub fn async_jobs_due(&self) -> Vec<SiteId> {
        let now = self.state.world.now();
        let due = self.state.job_runs.due.lock();
        due.iter().filter(|it| *it.1 <= now).map(|it| it.0.clone()).collect()
    }
}

/// Notes when the next task of a site is to be done: nothing may open the site until then.
async fn note_due(content: &Content, site: &Site) {
    let (id, now) = (site.id.clone(), content.state.world.now());
    let next = site.read(ReaderPool::Point, move |tx| boxed!(row::next_due(tx, &id, now).await)).await;
    let mut due = content.state.job_runs.due.lock();
    match next {
        Ok(Some(it)) => {
            due.insert(site.id.clone(), it);
        }
        Ok(None) => {
            due.remove(&site.id);
        }
        Err(fault) => tracing::debug!(site = %site.id, "when tasks are due can't be read: {fault:?}"),
    }
}

/// Works on the jobs of a site under a name of its own, and says so meanwhile.
async fn run(content: &Content, site: &Arc<Site>) -> Result<()> {
    let runner = content.state.world.uuid();
    tokio::select! {
        worked = work_through(content, site, &runner) => worked,
        never = beat(content, site, &runner) => match never {},
    }
}

/// Says again and again that the runner is at work: a look may take longer than the others wait.
async fn beat(content: &Content, site: &Site, runner: &str) -> Infallible {
    loop {
        sleep(Duration::from_millis(BEAT.unsigned_abs())).await;
        let now = content.state.world.now();
        let said = site.write_with((site.id.clone(), runner.to_owned()), move |tx, (site, runner)| {
            boxed!(row::beat(tx, site, runner, now).await)
        });
        if let Err(fault) = said.await {
            tracing::debug!(site = %site.id, "work on jobs by filter can't be told: {fault:?}");
        }
    }
}

/// Works until no job of the site is left for this process. A job that fails holds up no other.
async fn work_through(content: &Content, site: &Arc<Site>, runner: &str) -> Result<()> {
    let mut claimed: BTreeMap<String, AsyncJob> = BTreeMap::new();
    let mut failed: Option<Fault> = None;
    loop {
        let turns = &content.state.job_runs.turns;
        let _turn = turns.acquire().await.map_err(Fault::internal)?;
        claim_all(content, site, runner, &mut claimed).await?;
        if claimed.is_empty() {
            return failed.map_or(Ok(()), Err);
        }
        let ids: Vec<String> = claimed.keys().cloned().collect();
        for id in ids {
            let Some(job) = claimed.get_mut(&id) else { continue };
            match step(content, site, job).await {
                Ok(Step::More) => {}
                Ok(Step::Over) => drop(claimed.remove(&id)),
                Err(fault) => {
                    claimed.remove(&id);
                    failed = Some(fault);
                }
            }
        }
    }
}

/// Takes the jobs on which no process works.
async fn claim_all(
    content: &Content,
    site: &Arc<Site>,
    runner: &str,
    claimed: &mut BTreeMap<String, AsyncJob>,
) -> Result<()> {
    let now = content.state.world.now();
    for id in claimable(site, now).await?.into_iter().filter(|it| !claimed.contains_key(it)).collect::<Vec<_>>() {
        match claim(site, (id, runner.to_owned()), now).await {
            Ok(Some(job)) => drop(claimed.insert(job.claim.id.clone(), job)),
            Ok(None) => {}
            // The others go on.
            Err(fault) => tracing::warn!(site = %site.id, "a job by filter can't be taken up: {fault:?}"),
        }
    }
    Ok(())
}

async fn claimable(site: &Site, now: Millis) -> Result<Vec<String>> {
    let id = site.id.clone();
    site.read(ReaderPool::Point, move |tx| boxed!(row::claimable(tx, &id, now).await)).await
}

async fn claim(site: &Site, (id, runner): (String, String), now: Millis) -> Result<Option<AsyncJob>> {
    let claimed = site.write_with((site.id.clone(), id, runner), move |tx, (site, id, runner)| {
        boxed!(row::claim(tx, site, id, runner, now).await)
    });
    claimed.await
}
