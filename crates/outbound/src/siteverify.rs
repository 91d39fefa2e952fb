//! Asks a captcha provider whether a token is good, the way reCAPTCHA brought in and hCaptcha and Turnstile
//! take as well: a form with `secret` and `response`, answered by JSON that says `success`.
//!
//! The address of the person is not sent along (`remoteip`): the provider has met their browser already,
//! and none of the three needs it. The question takes the way out ([`Reach`]): the secret goes to the address that
//! was set and to no other.

use crate::{
    reach::{Call, Reach, Target},
    turns::{TurnLimits, Turns},
};
use hyper::{
    HeaderMap, Method,
    header::{ACCEPT, CONTENT_TYPE, HeaderValue},
};
use serde::Deserialize;
use std::time::Duration;
use stoa_kernel::Secret;

/// The largest answer that is read, in bytes.
const LARGEST: usize = 64 * 1024;
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
    /// Questions of all sites at the same time. `in_all / at_once` sites whose providers hang take all of them.
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
    reach: Reach,
    timeout: Duration,
    turns: Turns,
}

#[derive(Deserialize)]
struct Answer {
    success: bool,
    score: Option<f64>,
    #[serde(rename = "error-codes")]
    errors: Option<Vec<String>>,
}

impl Siteverifier {
    pub fn new(reach: Reach, limits: SiteverifyLimits) -> Self {
        let SiteverifyLimits { timeout, at_once, waiting, in_all } = limits;
        let turns = Turns::new(TurnLimits { in_all, of_lane: at_once, waiting_of_lane: waiting, wait: timeout });
        Self { reach, timeout, turns }
    }

    /// Whether a provider may be at an address; see [`Reach::check`].
    ///
    /// # Errors
    /// A sentence for the operator, who chooses the address.
    pub fn check(&self, url: &str) -> Result<(), String> {
        let target = Target::parse(url)?;
        if target.has_query() {
            return Err("an address without a query (?) is expected".to_owned());
        }
        self.reach.check(&target).map_err(|it| it.to_string())
    }

    /// Asks about a token, in the lane of `site`.
    ///
    /// # Errors
    /// When too many wait already, and when the provider could not be reached in time or said something that
    /// isn't a verdict: nobody is let in for that.
    pub async fn ask(&self, site: &str, question: Siteverify) -> Result<Verdict, NoVerdict> {
        let full = || NoVerdict("too many questions to the captcha provider are under way".to_owned());
        let turn = self.turns.take(site).await.ok_or_else(full)?;
        let (reach, timeout) = (self.reach.clone(), self.timeout);
        // A task of its own: who hangs up has asked all the same, and makes no room for asking more.
        let asking = tokio::spawn(async move {
            let said = ask(&reach, &question, timeout).await;
            drop(turn);
            said
        });
        asking.await.map_err(|_| NoVerdict("the question to the captcha provider broke off".to_owned()))?
    }
}

async fn ask(reach: &Reach, question: &Siteverify, timeout: Duration) -> Result<Verdict, NoVerdict> {
    let failed = |why: String| NoVerdict(format!("the captcha provider could not be asked: {why}"));
    let target = Target::parse(&question.url).map_err(|it| failed(it.to_owned()))?;
    let form = [("secret", question.secret.expose()), ("response", question.token.expose())];
    let form = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(form).finish();
    let headers = HeaderMap::from_iter([
        (ACCEPT, HeaderValue::from_static("application/json")),
        (CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded")),
    ]);
    let (method, body) = (Method::POST, form.into());
    let call = Call { target: &target, method, headers, body, timeout, answer_bytes: LARGEST };
    let answer = reach.call(call).await.map_err(|it| failed(it.to_string()))?;
    if !answer.is_whole {
        return Err(failed(format!("it said more than {LARGEST} bytes")));
    }
    verdict(answer.status, &answer.body)
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
