//! One attempt: a message is made, signed and sent, and what was answered is read.

use crate::{
    Core,
    endpoint::{manage::app, status::NO_KEY},
    message::{
        envelope::{Maker, Message, Signatory},
        event::Event,
    },
};
use bytes::Bytes;
use hyper::{HeaderMap, Method, header::HeaderName};
use std::{sync::Arc, time::Duration};
use stoa_identity::client::Client;
use stoa_kernel::{Code, Fault, Millis, Result, World, clock::elapsing, limit::SECOND};
use stoa_outbound::{Answer, Call, Reach, Target, Unreached};
use stoa_store::Site;

/// Bytes of an answer that are read, and of them those that are kept for the owner.
const READ: usize = 4_096;
const KEPT: usize = 500;

/// Where messages go, and how they are made.
pub(crate) struct Receiver {
    pub target: Target,
    pub timeout: Duration,
    pub maker: Maker,
}

/// How it went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Report {
    pub verdict: Verdict,
    pub status: Option<u16>,
    pub millis: Millis,
    /// For the owner: what happened, without what was answered. It tells nothing of inner networks.
    pub what: String,
    /// The beginning of what was answered.
    pub excerpt: String,
}

/// What follows from an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It arrived.
    Taken,
    /// It may be the event: another status, or no answer in time.
    Refused,
    /// It is the endpoint: nothing was connected to.
    Unreached,
    /// The endpoint asks to wait for so long.
    Later(Millis),
    /// Nothing is to be sent to the endpoint any more.
    Gone,
    /// The receiver wants this event no more.
    Unwanted,
    /// Nothing can be sent until somebody changes something here.
    Blocked,
    /// Nothing was sent, and nobody is to blame.
    Busy,
}

/// Sends an event once; and again at once without what its entity holds, where it was too long.
pub(crate) async fn attempt(core: &Core, site: &Site, receiver: Arc<Receiver>, event: Arc<Event>) -> Report {
    let began = elapsing();
    let report = send(core, site, receiver, event).await;
    let report = report.unwrap_or_else(|fault| Report::unsent(site, &fault, Verdict::Blocked));
    Report { millis: elapsing() - began, ..report }
}

/// What fails before there is a message concerns all events, and what fails with it, that event.
async fn send(core: &Core, site: &Site, receiver: Arc<Receiver>, event: Arc<Event>) -> Result<Report> {
    let lanes = core.lanes()?;
    let turn = lanes.turn(&site.id).await;
    let Some(app) = app(core, &site.id, &receiver.maker.app).await? else {
        return Ok(Report::of(Verdict::Gone, REVOKED));
    };
    if app.is_third_party && !is_installed(core, &app).await? {
        return Ok(Report::of(Verdict::Blocked, NOT_INSTALLED));
    }
    let by = match receiver.maker.signatory(core).await {
        Ok(by) => by,
        Err(fault) if fault.code() == Code::NotFound => return Ok(Report::of(Verdict::Blocked, NO_KEY)),
        Err(fault) => return Err(fault),
    };
    let (reach, world) = (core.reach.clone(), core.world.clone());
    let sent = turn.run(async move { receiver.send(&reach, &world, &event, &by).await }).await;
    Ok(sent.flatten().unwrap_or_else(|fault| Report::unsent(site, &fault, Verdict::Refused)))
}

/// Why nothing is sent to an application any more.
pub(crate) const REVOKED: &str = "The application was revoked.";
/// Why nothing is sent to one of others yet.
pub(crate) const NOT_INSTALLED: &str = "No owner of the site has installed the application.";

pub(crate) async fn is_installed(core: &Core, app: &Client) -> Result<bool> {
    match core.identity.app_agreement(app).await {
        Ok(_) => Ok(true),
        Err(fault) if fault.code() == Code::OauthUnauthorized => Ok(false),
        Err(fault) => Err(fault),
    }
}

impl Receiver {
    async fn send(&self, reach: &Reach, world: &World, event: &Event, by: &Signatory) -> Result<Report> {
        let message = self.maker.message(event, by, world.now(), false)?;
        let report = self.post(reach, &message).await?;
        if report.status != Some(413) || message.is_short {
            return Ok(report);
        }
        let message = self.maker.message(event, by, world.now(), true)?;
        if message.is_short { self.post(reach, &message).await } else { Ok(report) }
    }

    async fn post(&self, reach: &Reach, message: &Message) -> Result<Report> {
        let mut headers = HeaderMap::new();
        for (name, value) in &message.headers {
            headers.insert(HeaderName::from_static(name), value.parse().map_err(Fault::internal)?);
        }
        let call = Call {
            target: &self.target,
            method: Method::POST,
            headers,
            body: Bytes::from(message.body.clone()),
            timeout: self.timeout,
            answer_bytes: READ,
        };
        Ok(match reach.call(call).await {
            Ok(answer) => Report::answered(&answer),
            Err(unreached) => {
                tracing::debug!("a message did not reach {}: {unreached:?}", self.target);
                Report::unreached(&unreached)
            }
        })
    }
}

impl Report {
    /// Nothing was sent because of a fault here. One that passes is nobody's; any other has its verdict, and would be met
    /// again and again.
    fn unsent(site: &Site, fault: &Fault, verdict: Verdict) -> Self {
        if matches!(fault.code(), Code::Unavailable | Code::Throttled) {
            tracing::debug!(site = %site.id, "a message can't be sent yet: {fault:?}");
            return Self::of(Verdict::Busy, "the server is busy");
        }
        tracing::warn!(site = %site.id, "a message can't be made: {fault:?}");
        Self::of(verdict, "the server can't make the message; its log says why")
    }

    pub(super) fn of(verdict: Verdict, what: &str) -> Self {
        Self { verdict, status: None, millis: 0, what: what.to_owned(), excerpt: String::new() }
    }

    fn answered(answer: &Answer) -> Self {
        let header = |name: &str| answer.headers.get(name).and_then(|it| it.to_str().ok()).map(str::trim);
        let verdict = match (answer.status, header("webhook-delivery"), header("retry-after")) {
            (200..300, ..) => Verdict::Taken,
            (410, ..) | (_, Some("disable"), _) => Verdict::Gone,
            (_, Some("abort-message"), _) => Verdict::Unwanted,
            (429 | 503, _, Some(wait)) if wait.parse::<u32>().is_ok() => {
                Verdict::Later(wait.parse::<Millis>().unwrap_or_default() * SECOND)
            }
            _ => Verdict::Refused,
        };
        let what = match verdict {
            Verdict::Gone => format!("The receiver answered {} and wants nothing any more.", answer.status),
            _ => format!("the receiver answered {}", answer.status),
        };
        Self { status: Some(answer.status), excerpt: excerpt(&answer.body), ..Self::of(verdict, &what) }
    }

    fn unreached(unreached: &Unreached) -> Self {
        let verdict = match unreached {
            Unreached::Busy => Verdict::Busy,
            it if it.is_unconnected() => Verdict::Unreached,
            _ => Verdict::Refused,
        };
        let what = match (unreached, &verdict) {
            // Which of the two it is would tell which names there are inside.
            (Unreached::Refused(_) | Unreached::Unresolved(_), _) => "the host has no address that may be called",
            (Unreached::Busy, _) => "too many calls to the host are under way",
            (_, Verdict::Unreached) => "no connection could be made",
            (Unreached::TimedOut(_), _) => "there was no answer in time",
            _ => "the connection ended without an answer",
        };
        Self::of(verdict, what)
    }

    /// What happened and what was answered, for the owner of the endpoint.
    pub(crate) fn error(&self) -> String {
        match self.excerpt.is_empty() {
            true => self.what.clone(),
            false => format!("{}: {}", self.what, self.excerpt),
        }
    }
}

/// The beginning of an answer, as text on one line.
fn excerpt(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(&body[..body.len().min(KEPT)]);
    text.trim().chars().map(|it| if it.is_control() { ' ' } else { it }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(status: u16, headers: &[(&'static str, &'static str)]) -> Verdict {
        let headers =
            headers.iter().map(|(name, value)| (HeaderName::from_static(name), value.parse().expect("a value")));
        let answer = Answer { status, headers: headers.collect(), body: b"no\n\0way ".to_vec(), is_whole: true };
        let report = Report::answered(&answer);
        assert_eq!(report.excerpt, "no  way");
        report.verdict
    }

    #[test]
    fn answers_are_taken_for_what_they_say() {
        for status in [200, 202, 299] {
            assert_eq!(verdict(status, &[("webhook-delivery", "disable")]), Verdict::Taken);
        }
        for status in [199, 301, 302, 400, 404, 413, 429, 500, 503] {
            assert_eq!(verdict(status, &[]), Verdict::Refused, "{status}");
        }
        assert_eq!(verdict(410, &[]), Verdict::Gone);
        assert_eq!(verdict(400, &[("webhook-delivery", "disable")]), Verdict::Gone);
        assert_eq!(verdict(500, &[("webhook-delivery", "abort-message")]), Verdict::Unwanted);
        assert_eq!(verdict(503, &[("retry-after", "7")]), Verdict::Later(7_000));
        assert_eq!(verdict(429, &[("retry-after", "4294967295")]), Verdict::Later(4_294_967_295_000));
        assert_eq!(verdict(429, &[("retry-after", "-1")]), Verdict::Refused);
        assert_eq!(verdict(500, &[("retry-after", "7")]), Verdict::Refused);
    }

    #[test]
    fn retry_after_nothing_is_a_wait() {
        assert_eq!(verdict(503, &[("retry-after", "0")]), Verdict::Later(0));
    }

    #[test]
    fn owner_is_told_nothing_of_inner_networks() {
        let secret = || "10.1.2.3 is private".to_owned();
        for (unreached, expected) in [
            (Unreached::Refused(secret()), Verdict::Unreached),
            (Unreached::Unresolved(secret()), Verdict::Unreached),
            (Unreached::Unconnected(secret()), Verdict::Unreached),
            (Unreached::TimedOut("connecting"), Verdict::Unreached),
            (Unreached::TimedOut("the call"), Verdict::Refused),
            (Unreached::Failed(secret()), Verdict::Refused),
            (Unreached::Busy, Verdict::Busy),
        ] {
            let report = Report::unreached(&unreached);
            assert_eq!(report.verdict, expected, "{unreached:?}");
            assert!(!report.error().contains("10.1"), "{report:?}");
        }
        let report = |it: fn(String) -> Unreached| Report::unreached(&it(secret()));
        assert_eq!(report(Unreached::Refused), report(Unreached::Unresolved), "which names there are inside");
    }
}
