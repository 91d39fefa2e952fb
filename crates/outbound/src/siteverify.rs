//! Asks a captcha provider whether a token is good, the way reCAPTCHA brought in and hCaptcha and Turnstile
//! take as well: a form with `secret` and `response`, answered by JSON that says `success`.
//!
//! The address of the person is not sent along (`remoteip`): the provider has met their browser already,
//! and none of the three needs it. Every question goes over a connection of its own, so that nothing of one
//! site waits in a pool for another's, and no redirect is followed: the secret goes to the address that was
//! set and to no other.

use serde::Deserialize;
use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::Duration,
};
use stoa_kernel::Secret;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The largest answer that is read.
const LARGEST: u64 = 64 * 1024;
/// What a provider says when it has something against us, or is broken, and not against the token.
const OURS: [&str; 3] = ["missing-input-secret", "invalid-input-secret", "internal-error"];

/// How much one provider may hold up.
#[derive(Debug, Clone)]
pub struct SiteverifyLimits {
    /// For a question from its beginning to its end, and as long again for waiting for a turn.
    pub timeout: Duration,
    /// Questions of one site at the same time.
    pub at_once: usize,
    /// Further ones that may wait for their turn.
    pub waiting: usize,
    /// Questions of all sites at the same time; each takes a thread, and for as long as a name server takes
    /// a second one, which isn't counted. `in_all / at_once` sites whose providers hang take all of them.
    pub in_all: usize,
}

impl Default for SiteverifyLimits {
    fn default() -> Self {
        Self { timeout: Duration::from_secs(5), at_once: 8, waiting: 56, in_all: 256 }
    }
}

/// One question.
#[derive(Debug, Clone)]
pub struct Siteverify {
    pub url: String,
    pub secret: Secret,
    pub token: Secret,
    /// Whether the address is one of this machine, which no proxy reaches.
    pub is_local: bool,
}

/// What the provider said of the token.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Verdict {
    Good { score: Option<f64> },
    Bad,
}

/// Why there is no verdict. The text is for the log and holds neither secret nor token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoVerdict(pub String);

/// Asks providers, each site in a lane of its own, so that a slow one holds up its own site only, as long as
/// not a whole lot of sites have one.
pub struct Siteverifier {
    agent: ureq::Agent,
    limits: SiteverifyLimits,
    threads: Arc<Semaphore>,
    lanes: Mutex<HashMap<String, Lane>>,
}

#[derive(Clone)]
struct Lane {
    places: Arc<Semaphore>,
    /// Places and those who wait for one.
    room: Arc<Semaphore>,
}

/// Kept until the thread is done, even if nobody waits for its answer any more.
struct Turn {
    _room: OwnedSemaphorePermit,
    _place: OwnedSemaphorePermit,
    _thread: OwnedSemaphorePermit,
}

#[derive(Deserialize)]
struct Answer {
    success: bool,
    score: Option<f64>,
    #[serde(rename = "error-codes")]
    errors: Option<Vec<String>>,
}

impl Siteverifier {
    pub fn new(limits: SiteverifyLimits) -> Self {
        let agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_idle_connections(0)
            .timeout_global(Some(limits.timeout))
            .user_agent(concat!("stoa/", env!("CARGO_PKG_VERSION")))
            .build()
            .into();
        let threads = Arc::new(Semaphore::new(limits.in_all));
        Self { agent, limits, threads, lanes: Mutex::default() }
    }

    /// Asks about a token, in the lane of `site`.
    ///
    /// # Errors
    /// When too many wait already, and when the provider could not be reached in time or said something that
    /// isn't a verdict: nobody is let in for that.
    pub async fn ask(&self, site: &str, question: Siteverify) -> Result<Verdict, NoVerdict> {
        let lane = self.lane(site);
        let full = || NoVerdict("too many questions to the captcha provider are under way".to_owned());
        let room = lane.room.try_acquire_owned().map_err(|_| full())?;
        let turn = tokio::time::timeout(self.limits.timeout, async {
            let place = lane.places.acquire_owned().await.ok()?;
            let thread = self.threads.clone().acquire_owned().await.ok()?;
            Some(Turn { _room: room, _place: place, _thread: thread })
        });
        let turn = turn.await.ok().flatten().ok_or_else(full)?;
        let agent = self.agent.clone();
        let asking = tokio::task::spawn_blocking(move || {
            let said = ask(&agent, &question);
            drop(turn);
            said
        });
        asking.await.map_err(|_| NoVerdict("the question to the captcha provider broke off".to_owned()))?
    }

    fn lane(&self, site: &str) -> Lane {
        let mut lanes = self.lanes.lock().unwrap_or_else(|it| it.into_inner());
        // Who asks holds permits, and with them the semaphore.
        lanes.retain(|_, it| Arc::strong_count(&it.room) > 1);
        let SiteverifyLimits { at_once, waiting, .. } = self.limits;
        let fresh = || Lane { places: Semaphore::new(at_once).into(), room: Semaphore::new(at_once + waiting).into() };
        lanes.entry(site.to_owned()).or_insert_with(fresh).clone()
    }
}

fn ask(agent: &ureq::Agent, question: &Siteverify) -> Result<Verdict, NoVerdict> {
    let request = agent.post(&question.url).header("accept", "application/json");
    let request = match question.is_local {
        true => request.config().proxy(None).build(),
        false => request.config().https_only(true).build(),
    };
    let form = [("secret", question.secret.expose()), ("response", question.token.expose())];
    let failed = |it: ureq::Error| NoVerdict(format!("the captcha provider could not be asked: {it}"));
    let mut response = request.send_form(form).map_err(failed)?;
    let status = response.status().as_u16();
    let text = response.body_mut().with_config().limit(LARGEST).read_to_vec().map_err(failed)?;
    verdict(status, &text)
}

/// What an answer comes to. A refusal may have the status of a bad request; everything else but 200 is a
/// failure, whatever it says.
fn verdict(status: u16, text: &[u8]) -> Result<Verdict, NoVerdict> {
    let answer = serde_json::from_slice::<Answer>(text).ok();
    let Some(answer) = answer.filter(|it| status == 200 || status == 400 && !it.success) else {
        return Err(NoVerdict(format!("the captcha provider answered {status} without a verdict")));
    };
    if answer.success {
        return Ok(Verdict::Good { score: answer.score });
    }
    // Only words that we know reach the log: what else is in there may be what was sent.
    let errors = answer.errors.unwrap_or_default();
    match OURS.into_iter().find(|ours| errors.iter().any(|it| it == ours)) {
        Some(ours) => Err(NoVerdict(format!("the captcha provider says {ours}"))),
        None => Ok(Verdict::Bad),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_verdict_is_one() {
        let of = |status: u16, text: &str| verdict(status, text.as_bytes()).map_err(|it| it.0);
        let good = |score| Ok(Verdict::Good { score });
        assert_eq!(of(200, r#"{"success":true}"#), good(None));
        assert_eq!(
            of(200, r#"{"success":true,"score":0.9,"action":"x","hostname":"h","error-codes":[]}"#),
            good(Some(0.9))
        );
        assert_eq!(of(200, r#"{"success":true,"score":null,"error-codes":null}"#), good(None));
        assert_eq!(of(200, r#"{"success":false}"#), Ok(Verdict::Bad));
        assert_eq!(of(200, r#"{"success":false,"error-codes":["timeout-or-duplicate"]}"#), Ok(Verdict::Bad));
        assert_eq!(of(400, r#"{"success":false,"error-codes":["invalid-input-response"]}"#), Ok(Verdict::Bad));
        for (status, text) in [
            (200, ""),
            (200, "true"),
            (200, "{}"),
            (200, r#"{"success":"true"}"#),
            (200, r#"{"success":1}"#),
            (200, r#"{"success":true,"score":"high"}"#),
            (200, r#"{"success":true"#),
            (200, r#"{"success":false,"error-codes":["invalid-input-secret"]}"#),
            (200, r#"{"success":false,"error-codes":["internal-error"]}"#),
            (201, r#"{"success":true}"#),
            (302, r#"{"success":true}"#),
            (400, r#"{"success":true}"#),
            (500, r#"{"success":true}"#),
            (500, r#"{"success":false}"#),
        ] {
            assert!(of(status, text).is_err(), "{status} {text}");
        }
    }

    #[test]
    fn what_a_provider_says_does_not_reach_the_log() {
        let said = verdict(200, br#"{"success":false,"error-codes":["hush","invalid-input-secret"]}"#);
        assert_eq!(said.unwrap_err().0, "the captcha provider says invalid-input-secret");
        assert!(!verdict(500, b"hush").unwrap_err().0.contains("hush"));
    }
}
