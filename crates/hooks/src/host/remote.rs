//! Calls of hooks that an application answers, one request for all that are about one hook.

use super::Host;
use crate::{
    call::{Call, Called, Failure, Outcome},
    plugin::{Plugin, Plugins, Question, judge, request},
    version::Version,
};
use std::{sync::Arc, time::Duration};
use tokio::time::{Instant, timeout_at};

/// Answers of a request may have so many times the bytes of one answer.
const ANSWERS: usize = 8;

impl Host {
    /// Names who asks applications, once. Without it hooks that they answer fail.
    pub fn keep_plugins(&self, plugins: Arc<dyn Plugins>) {
        if self.plugins.set(plugins).is_err() {
            tracing::warn!("who asks applications about hooks was named before");
        }
    }

    pub fn plugins(&self) -> Option<&Arc<dyn Plugins>> {
        self.plugins.get()
    }

    /// Asks about several calls of one hook, of one collection and one caller: as many answers as calls, whatever
    /// happens. An application is asked once; code is asked about one after another.
    pub async fn call_together(&self, version: &Arc<Version>, calls: &[Call], left: Duration) -> Vec<Called> {
        match &version.plugin {
            Some(plugin) => self.ask_plugin(version, plugin, calls, Instant::now() + left).await,
            None => self.call_each(version, calls, left).await,
        }
    }

    pub(super) async fn ask_plugin(
        &self,
        version: &Version,
        plugin: &Plugin,
        calls: &[Call],
        until: Instant,
    ) -> Vec<Called> {
        let began = Instant::now();
        let outcomes = self.outcomes(version, plugin, calls, until).await;
        let outcomes = outcomes.unwrap_or_else(|failure| calls.iter().map(|_| Err(failure.clone())).collect());
        let took = began.elapsed();
        let called = |outcome| {
            self.pool.count(&outcome);
            Called { outcome, console: String::new(), took }
        };
        outcomes.into_iter().map(called).collect()
    }

    async fn outcomes(
        &self,
        version: &Version,
        plugin: &Plugin,
        calls: &[Call],
        until: Instant,
    ) -> Result<Vec<Result<Outcome, Failure>>, Failure> {
        let Some(first) = calls.first() else { return Ok(Vec::new()) };
        let plugins = self.plugins.get().ok_or(Failure::NotStarted)?;
        let limits = &self.pool.limits;
        let _place = self.pool.plugin_place(version, until).await?;
        let whole = Instant::now() + Duration::from_millis(limits.hook_plugin_milliseconds as u64);
        let until = until.min(whole);
        let question = Question {
            site: &version.site,
            plugin,
            hook: first.hook,
            request: request(calls).ok_or(Failure::Died)?,
            context: &first.context,
            until,
            answer_bytes: ANSWERS * limits.hook_answer,
        };
        let answer = timeout_at(until, plugins.ask(question)).await.unwrap_or(Err(Failure::TimedOut));
        let judged = answer.and_then(|it| judge(&it, first.hook, calls.len(), limits.hook_answer));
        match &judged {
            Err(failure @ Failure::Died) => self.pool.plugin_failed(version, failure, first),
            // Where the request had less time than the application may take, that is not its fault.
            Err(failure @ Failure::TimedOut) if until == whole => self.pool.plugin_failed(version, failure, first),
            _ => {}
        }
        judged
    }
}
