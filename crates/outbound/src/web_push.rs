//! Messages to browsers, by the push services that these name (RFC 8030): what is in one is encrypted already (RFC 8291), and who
//! sends it is signed (RFC 8292). A browser, or who says to be one, chooses the address: the way out is [`Reach`].

use crate::{
    reach::{Call, Reach, Target, Unreached},
    turns::{TurnLimits, Turns},
};
use hyper::{
    HeaderMap, Method,
    header::{AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, HeaderName, HeaderValue},
};
use std::{fmt, time::Duration};
use stoa_kernel::Secret;

/// How long a push service keeps a message for a browser that can't be reached, in seconds.
const TTL: &str = "120";
/// The longest that one message takes for which a request waits; any waits as long for its turn.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The longest that a question takes, which only a member waits for.
const QUESTION: Duration = Duration::from_secs(3);
/// Messages at the same time: in all, of one site, and further ones of a site that wait.
const IN_ALL: usize = 256;
const OF_SITE: usize = 32;
const WAITING_OF_SITE: usize = 224;
/// The same of one host for one site. Who enrols browsers chooses their push services: slow ones, as many as a member has browsers,
/// leave places to the others of the site.
const OF_HOST: usize = 6;
const WAITING_OF_HOST: usize = 122;
/// Never fewer than there are places of hosts in use: who has one has, or waits for, one of the site.
const OF_HOSTS: usize = 1 << 20;
/// The largest answer that is read, in bytes. Nothing of it is used.
const LARGEST: usize = 4 * 1024;

/// A message on its way to one browser. It isn't printed: the address is a secret of the browser.
pub struct PushMessage {
    /// Where the push service takes messages for the browser.
    pub target: Target,
    /// The value of `Authorization`, with the signature of the sender.
    pub authorization: Secret,
    /// `aes128gcm` (RFC 8188).
    pub body: Vec<u8>,
    /// A later message of the same topic takes the place of one that waits. Letters of base64url, at most 32.
    pub topic: &'static str,
}

/// Why a message is not on its way. The texts are for the log and hold no address but the origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unpushed {
    /// The address may not be called.
    Refused(String),
    /// The push service has no such browser any more (RFC 8030 section 7.3).
    Gone,
    /// Too many are under way.
    Busy,
    Failed(String),
}

impl fmt::Display for Unpushed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(why) | Self::Failed(why) => f.write_str(why),
            Self::Gone => f.write_str("the push service has no such browser any more"),
            Self::Busy => f.write_str("too many messages to browsers are under way"),
        }
    }
}

/// Sends messages to browsers, each site in a lane of its own, and in it each host of push services.
pub struct WebPush {
    reach: Reach,
    hosts: Turns,
    turns: Turns,
}

impl WebPush {
    pub fn new(reach: Reach) -> Self {
        let limits = TurnLimits { in_all: IN_ALL, of_lane: OF_SITE, waiting_of_lane: WAITING_OF_SITE, wait: TIMEOUT };
        let of_hosts =
            TurnLimits { in_all: OF_HOSTS, of_lane: OF_HOST, waiting_of_lane: WAITING_OF_HOST, wait: TIMEOUT };
        Self { reach, hosts: Turns::new(of_hosts), turns: Turns::new(limits) }
    }

    /// Whether a push service may be at an address; see [`Reach::check`].
    ///
    /// # Errors
    /// [`Unpushed::Refused`].
    pub fn check(&self, target: &Target) -> Result<(), Unpushed> {
        self.reach.check(target).map_err(|it| Unpushed::Refused(it.to_string()))
    }

    /// Sends a message, in the lane of `site`. One try.
    ///
    /// # Errors
    /// [`Unpushed`], each kind.
    pub async fn send(&self, site: &str, message: PushMessage) -> Result<(), Unpushed> {
        self.send_within(site, message, TIMEOUT).await
    }

    /// The same of a question, which a slow push service gets no more.
    ///
    /// # Errors
    /// As [`WebPush::send`].
    pub async fn ask(&self, site: &str, message: PushMessage) -> Result<(), Unpushed> {
        self.send_within(site, message, QUESTION).await
    }

    async fn send_within(&self, site: &str, message: PushMessage, timeout: Duration) -> Result<(), Unpushed> {
        // The host first: who waits for a slow one must not hold what others of the site could use.
        let lane = format!("{site} {}", message.target.host_name());
        let _of_host = self.hosts.take(&lane).await.ok_or(Unpushed::Busy)?;
        let _turn = self.turns.take(site).await.ok_or(Unpushed::Busy)?;
        self.call(message, timeout).await
    }

    async fn call(&self, message: PushMessage, timeout: Duration) -> Result<(), Unpushed> {
        let PushMessage { target, authorization, body, topic } = message;
        let unsigned = |_| Unpushed::Failed("the signature is no value of a header".to_owned());
        let mut authorization = HeaderValue::from_str(authorization.expose()).map_err(unsigned)?;
        authorization.set_sensitive(true);
        let headers = HeaderMap::from_iter([
            (AUTHORIZATION, authorization),
            (CONTENT_ENCODING, HeaderValue::from_static("aes128gcm")),
            (CONTENT_TYPE, HeaderValue::from_static("application/octet-stream")),
            (HeaderName::from_static("ttl"), HeaderValue::from_static(TTL)),
            (HeaderName::from_static("urgency"), HeaderValue::from_static("high")),
            (HeaderName::from_static("topic"), HeaderValue::from_static(topic)),
        ]);
        let call =
            Call { target: &target, method: Method::POST, headers, body: body.into(), timeout, answer_bytes: LARGEST };
        match self.reach.call(call).await {
            Ok(answer) => verdict(answer.status, &target),
            Err(refused @ Unreached::Refused(_)) => Err(Unpushed::Refused(refused.to_string())),
            Err(Unreached::Busy) => Err(Unpushed::Busy),
            Err(why) => Err(Unpushed::Failed(format!("{target}: {why}"))),
        }
    }
}

fn verdict(status: u16, target: &Target) -> Result<(), Unpushed> {
    match status {
        200..=299 => Ok(()),
        404 | 410 => Err(Unpushed::Gone),
        other => Err(Unpushed::Failed(format!("{target} answered {other}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_says_what_became_of_a_message() {
        let target = Target::parse("https://push.example.org/secret/path").unwrap();
        for status in [200, 201, 202, 204] {
            assert_eq!(verdict(status, &target), Ok(()), "{status}");
        }
        for status in [404, 410] {
            assert_eq!(verdict(status, &target), Err(Unpushed::Gone), "{status}");
        }
        for status in [301, 400, 401, 403, 413, 429, 500, 503] {
            let failed = verdict(status, &target).unwrap_err();
            assert_eq!(failed, Unpushed::Failed(format!("https://push.example.org answered {status}")));
        }
    }
}
