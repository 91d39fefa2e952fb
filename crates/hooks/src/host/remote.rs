//! Calls of hooks that an application answers, one request for all that are about one hook.

use super::pool::Pool;
use crate::{
    call::{Call, Called, Failure, Outcome},
    plugin::{Plugin, Plugins, Question, judge, request},
    version::Version,
};
use std::{
    sync::{Arc, OnceLock, Weak},
    time::Duration,
};
use tokio::time::{Instant, timeout_at};

/// Answers of a request may have so many times the bytes of one answer.
const ANSWERS: usize = 8;

/// Who asks applications, once that is known. It works with the content, which has the host: held from here as well, none
/// of them would ever be dropped, nor the lock of the data directory given back.
#[derive(Default)]
pub struct Remote {
    plugins: OnceLock<Weak<dyn Plugins>>,
}

impl Remote {
    pub fn keep(&self, plugins: Weak<dyn Plugins>) {
        if self.plugins.set(plugins).is_err() {
            tracing::warn!("who asks applications about hooks was named before");
        }
    }

    pub fn plugins(&self) -> Option<Arc<dyn Plugins>> {
        self.plugins.get()?.upgrade()
    }

    /// Asks an application once about several calls: as many answers as calls, whatever happens.
    pub async fn ask(
        &self,
        pool: &Arc<Pool>,
        version: &Version,
        plugin: &Plugin,
        calls: &[Call],
        until: Instant,
    ) -> Vec<Called> {
        let began = Instant::now();
        let outcomes = self.outcomes(pool, version, plugin, calls, until).await;
        let outcomes = outcomes.unwrap_or_else(|failure| calls.iter().map(|_| Err(failure.clone())).collect());
        let took = began.elapsed();
        let called = |outcome| {
            pool.count(&outcome);
            Called { outcome, console: String::new(), took }
        };
        outcomes.into_iter().map(called).collect()
    }

    async fn outcomes(
        &self,
        pool: &Arc<Pool>,
        version: &Version,
        plugin: &Plugin,
        calls: &[Call],
        until: Instant,
    ) -> Result<Vec<Result<Outcome, Failure>>, Failure> {
        let Some(first) = calls.first() else { return Ok(Vec::new()) };
        let plugins = self.plugins().ok_or(Failure::NotStarted)?;
        let limits = &pool.limits;
        let _place = pool.plugin_place(version, first.context.network, until).await?;
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
            Err(failure @ Failure::Died) => pool.plugin_failed(version, failure, first),
            // Where the request had less time than the application may take, that is not its fault.
            Err(failure @ Failure::TimedOut) if until == whole => pool.plugin_failed(version, failure, first),
            _ => {}
        }
        judged
    }
}
