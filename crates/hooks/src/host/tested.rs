//! Tests that authors of hooks write, run where hooks are.

use super::{Host, judged, pool::Apart, process::LOADING};
use crate::{
    call::{Called, Failure, SourceRefusal},
    hook::Hook,
    message::Exported,
};
use serde_json::value::RawValue;
use std::time::Duration;
use stoa_kernel::SiteId;
use tokio::time::Instant;

/// Tests of a run, and how long all of them may take.
const MOST: usize = 1_000;
const ALL: Duration = Duration::from_secs(60);

/// A test and what came of it: a failure is one of the test.
pub struct Tested {
    pub name: String,
    pub called: Called,
}

impl Host {
    /// Runs the tests of a source in a process of their own. Each has the time of a call.
    ///
    /// # Errors
    /// Why source or tests can't be run.
    pub async fn test(&self, site: &SiteId, source: &str, tests: &str) -> Result<Vec<Tested>, SourceRefusal> {
        let limit = self.pool.limits.hook_source;
        if source.len().max(tests.len()) > limit {
            return Err(SourceRefusal::TooLong { limit });
        }
        let until = Instant::now() + ALL;
        let (process, found) = self.begun(site, source, tests, until).await?;
        let (mut held, mut tested) = (Some(process), Vec::with_capacity(found.len().min(MOST)));
        for name in found.into_iter().map(|it| it.name).take(MOST) {
            let began = Instant::now();
            let time = self.time_of_call().min(until.saturating_duration_since(began));
            let (mut outcome, mut console) = (Err(Failure::TimedOut), String::new());
            if !time.is_zero() {
                let mut process = match held.take() {
                    Some(it) => it,
                    None => self.begun(site, source, tests, until).await?.0,
                };
                let answer = process.run(&name, Hook::AfterDistinct, RawValue::NULL, RawValue::NULL, time).await;
                (outcome, console) = match answer {
                    Ok((told, said)) => (judged(Hook::AfterDistinct, told, self.pool.limits.hook_answer), said),
                    Err(broken) => (Err(broken.into()), String::new()),
                };
                // What was stopped where it stood starts again.
                let is_whole = !matches!(outcome, Err(Failure::TimedOut | Failure::OutOfMemory | Failure::Died));
                held = Some(process).filter(|_| is_whole);
            }
            tested.push(Tested { name, called: Called { outcome, console, took: began.elapsed() } });
        }
        Ok(tested)
    }

    /// A process that has loaded them, and the names of the tests.
    async fn begun(
        &self,
        site: &SiteId,
        source: &str,
        tests: &str,
        until: Instant,
    ) -> Result<(Apart, Vec<Exported>), SourceRefusal> {
        let mut process = self.pool.apart(site, until).await.map_err(SourceRefusal::Failed)?;
        let found = process.load_source(source, Some(tests), LOADING).await?;
        Ok((process, found))
    }
}
