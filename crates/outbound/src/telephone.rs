//! Sends text messages and makes calls by the HTTP interface of Twilio, which other providers have as well: a form to
//! `URL/Accounts/ACCOUNT/Messages.json` or `…/Calls.json`, with the account's name and secret (RFC 7617).
//!
//! What is sent costs money and reaches a person, so nothing is sent twice: there is one try, and the outcome when its
//! answer is lost is not known. A provider that fails several times in a row is left alone for a while. A number that it does
//! not take is no failure of it: who chooses numbers keeps no other person from being sent a message.

use crate::{
    reach::{Answer, Call, Reach, Target, Unreached},
    turns::{TurnLimits, Turns},
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use hyper::{
    HeaderMap, Method,
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue},
};
use serde::Deserialize;
use std::{
    borrow::Cow,
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};
use stoa_kernel::{Millis, Secret};

/// The largest answer that is read, in bytes.
const LARGEST: usize = 64 * 1024;
/// Characters of an account's name, and of its secret.
const LONGEST_NAME: usize = 100;
const LONGEST_SECRET: usize = 1_000;
/// Failures in a row after which nothing is sent for [`PAUSE`].
const MOST_FAILURES: u32 = 3;
const PAUSE: Millis = 60_000;
/// Errors of the interface that are about the number that something comes from.
const OF_SENDER: [u64; 7] = [21_210, 21_212, 21_603, 21_606, 21_611, 21_659, 21_660];
/// Places among the counts, after messages and calls.
const REFUSED: usize = 2;
const FAILED: usize = 3;
/// Seconds that a telephone rings.
const RINGS: &str = "30";

/// A provider, and the account there.
#[derive(Debug, Clone)]
pub struct TelephoneProvider {
    /// What stands before `/Accounts/…`, for example `https://api.twilio.com/2010-04-01`.
    pub url: String,
    pub account: String,
    /// The name that goes with the secret, where it is another one than the account's.
    pub user: Option<String>,
    pub secret: Secret,
    /// The number that messages and calls come from: `+` and digits.
    pub from: String,
}

/// How much the provider may hold up.
#[derive(Debug, Clone)]
pub struct TelephoneLimits {
    /// For a message from its beginning to the provider's answer.
    pub timeout: Duration,
    /// For waiting for a turn before it.
    pub wait: Duration,
    /// Messages of one site at the same time.
    pub at_once: usize,
    /// Further ones that may wait for their turn.
    pub waiting: usize,
    /// Messages of all sites at the same time.
    pub in_all: usize,
}

impl Default for TelephoneLimits {
    fn default() -> Self {
        Self { timeout: Duration::from_secs(10), wait: Duration::from_secs(2), at_once: 8, waiting: 24, in_all: 32 }
    }
}

/// What a telephone is to get.
#[derive(Debug, Clone)]
pub enum Dispatch {
    /// A text message.
    Message(String),
    /// A call in which a sentence is said twice, in a language by its tag (`en-US`).
    Call { sentence: String, language: &'static str },
}

/// Why nothing was sent, or why it is not known whether it was. The texts are for the log and hold no number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unsent {
    /// Too many are under way, or the provider has failed several times: nothing was asked of it.
    Busy,
    /// The provider takes the request for a bad one: the number, as far as it is up to who chose it.
    Refused(String),
    /// The account does not send by the number of [`TelephoneProvider::from`], or not to this country. That is no failure of the
    /// provider, since it may be up to who chose the number.
    Sender(String),
    Failed(String),
    /// The provider was asked and its answer is lost: what was to be sent may arrive.
    Unknown(String),
}

/// What was sent since the process began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TelephoneCounts {
    pub messages: u64,
    pub calls: u64,
    /// Those that the provider refused.
    pub refused: u64,
    /// Those that failed, were not tried, or of which the provider told nothing.
    pub failed: u64,
}

/// Sends by one provider. Cheap to clone; what it bounds, it bounds for all who hold a copy.
#[derive(Clone)]
pub struct TelephoneGateway(Arc<Inner>);

struct Inner {
    reach: Reach,
    messages: Target,
    calls: Target,
    authorization: HeaderValue,
    from: String,
    timeout: Duration,
    turns: Turns,
    health: Mutex<Health>,
    counts: [AtomicU64; 4],
}

/// Leave to send one thing: the word that the provider is not left alone. Dropped unused, another gets it.
pub struct Leave {
    inner: Arc<Inner>,
    site: String,
    at: Millis,
    /// What is sent looks whether the provider is back.
    is_probe: bool,
    is_used: AtomicBool,
}

/// Whether the provider answers: how often in a row it did not, and until when it is left alone.
#[derive(Debug, Default)]
struct Health {
    failures: u32,
    until: Millis,
}

impl TelephoneGateway {
    /// Connects nowhere yet.
    ///
    /// # Errors
    /// A sentence for the operator, who writes the settings; it begins with the name of the key.
    pub fn new(reach: Reach, provider: &TelephoneProvider, limits: TelephoneLimits) -> Result<Self, String> {
        let TelephoneProvider { url, account, user, secret, from } = provider;
        let is_name = |it: &str| {
            (1..=LONGEST_NAME).contains(&it.len())
                && it.bytes().all(|it| it.is_ascii_alphanumeric() || b"-_".contains(&it))
        };
        if !is_name(account) {
            return Err("account: letters, digits, - and _ are expected".to_owned());
        }
        let user = user.as_deref().unwrap_or(account);
        if !is_name(user) {
            return Err("user: letters, digits, - and _ are expected".to_owned());
        }
        let is_word = |it: &str| (1..=LONGEST_SECRET).contains(&it.len()) && it.bytes().all(|it| it.is_ascii_graphic());
        if !is_word(secret.expose()) {
            return Err("secret: one word of printable characters is expected".to_owned());
        }
        let base = Target::parse(url).map_err(|it| format!("url: {it}"))?;
        if base.has_query() {
            return Err("url: an address without a query (?) is expected".to_owned());
        }
        reach.check(&base).map_err(|it| format!("url: {it}"))?;
        let base = url.trim_end_matches('/');
        let target = |what: &str| {
            Target::parse(&format!("{base}/Accounts/{account}/{what}.json")).map_err(|it| format!("url: {it}"))
        };
        let basic = format!("Basic {}", STANDARD.encode(format!("{user}:{}", secret.expose())));
        let mut authorization = HeaderValue::from_str(&basic).map_err(|it| format!("secret: {it}"))?;
        authorization.set_sensitive(true);
        let TelephoneLimits { timeout, wait, at_once, waiting, in_all } = limits;
        Ok(Self(Arc::new(Inner {
            messages: target("Messages")?,
            calls: target("Calls")?,
            reach,
            authorization,
            from: from.clone(),
            timeout,
            turns: Turns::new(TurnLimits { in_all, of_lane: at_once, waiting_of_lane: waiting, wait }),
            health: Mutex::default(),
            counts: Default::default(),
        })))
    }

    /// Leave to send one thing, in the lane of a site. Who asks before anything is counted counts nothing in vain.
    ///
    /// # Errors
    /// [`Unsent::Busy`].
    pub fn leave(&self, site: &str, now: Millis) -> Result<Leave, Unsent> {
        let Some(is_probe) = self.0.health().lets(now) else {
            self.0.counts[FAILED].fetch_add(1, Relaxed);
            return Err(Unsent::Busy);
        };
        let (inner, site) = (self.0.clone(), site.to_owned());
        Ok(Leave { inner, site, at: now, is_probe, is_used: AtomicBool::new(false) })
    }

    /// Sends something to a number (`+` and digits). One try, which goes on when this future is dropped.
    ///
    /// # Errors
    /// [`Unsent`], each kind.
    pub async fn send(&self, leave: Arc<Leave>, to: &str, dispatch: Dispatch, now: Millis) -> Result<(), Unsent> {
        let to = to.to_owned();
        let turn = self.0.turns.take(&leave.site).await;
        // Others may have found meanwhile that it fails.
        let turn = turn.filter(|_| leave.is_probe || !self.0.health().is_paused(now));
        let Some(turn) = turn else {
            self.0.told(&leave.site, false, Some(&Unsent::Busy));
            return Err(Unsent::Busy);
        };
        leave.is_used.store(true, Relaxed);
        // A task of its own: who hangs up has had it sent all the same, and its outcome is noted and counted.
        let sending = tokio::spawn(async move {
            let Leave { inner, site, .. } = &*leave;
            let sent = inner.call(&to, &dispatch).await;
            match sent {
                Err(Unsent::Failed(_) | Unsent::Unknown(_)) => inner.note(false, now),
                Ok(()) | Err(Unsent::Refused(_)) => inner.note(true, now),
                // Nothing was asked of it, or it may be up to the number.
                Err(Unsent::Busy | Unsent::Sender(_)) => leave.is_used.store(false, Relaxed),
            }
            inner.told(site, matches!(dispatch, Dispatch::Call { .. }), sent.as_ref().err());
            drop(turn);
            sent
        });
        sending.await.unwrap_or_else(|_| Err(Unsent::Unknown("the message broke off".to_owned())))
    }

    pub fn counts(&self) -> TelephoneCounts {
        let [messages, calls, refused, failed] = self.0.counts.each_ref().map(|it| it.load(Relaxed));
        TelephoneCounts { messages, calls, refused, failed }
    }
}

impl Inner {
    /// Counts what was sent or was not, and tells the operator why not.
    fn told(&self, site: &str, is_call: bool, why: Option<&Unsent>) {
        let count = match why {
            None => usize::from(is_call),
            Some(Unsent::Refused(_)) => REFUSED,
            Some(_) => FAILED,
        };
        self.counts[count].fetch_add(1, Relaxed);
        if let Some(why) = why {
            tracing::warn!(site, "a code was not sent to a telephone: {why}");
        }
    }

    async fn call(&self, to: &str, dispatch: &Dispatch) -> Result<(), Unsent> {
        let (target, what) = match dispatch {
            Dispatch::Message(text) => (&self.messages, vec![("Body", Cow::Borrowed(text.as_str()))]),
            Dispatch::Call { sentence, language } => {
                (&self.calls, vec![("Twiml", spoken(sentence, language).into()), ("Timeout", RINGS.into())])
            }
        };
        let addressed = [("To", Cow::Borrowed(to)), ("From", self.from.as_str().into())];
        let form = addressed.into_iter().chain(what);
        let form = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(form).finish();
        let headers = HeaderMap::from_iter([
            (ACCEPT, HeaderValue::from_static("application/json")),
            (AUTHORIZATION, self.authorization.clone()),
            (CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded")),
        ]);
        let (method, body, timeout) = (Method::POST, form.into(), self.timeout);
        let call = Call { target, method, headers, body, timeout, answer_bytes: LARGEST };
        match self.reach.call(call).await {
            Ok(answer) => verdict(&answer),
            Err(Unreached::Busy) => Err(Unsent::Busy),
            Err(why) if why.is_unconnected() => Err(Unsent::Failed(why.to_string())),
            Err(why) => Err(Unsent::Unknown(why.to_string())),
        }
    }

    fn note(&self, is_well: bool, now: Millis) {
        match (self.health().note(is_well, now), is_well) {
            (true, true) => tracing::info!("the telephone provider answers again"),
            (true, false) => tracing::warn!("the telephone provider fails, and is left alone for a while"),
            (false, _) => {}
        }
    }

    fn health(&self) -> MutexGuard<'_, Health> {
        self.health.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Leave {
    fn drop(&mut self) {
        if self.is_probe && !self.is_used.load(Relaxed) {
            self.inner.health().untried(self.at);
        }
    }
}

impl fmt::Debug for Leave {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Leave").field("site", &self.site).finish_non_exhaustive()
    }
}

impl fmt::Display for Unsent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Busy => f.write_str("too many are under way, or the provider has failed"),
            Self::Refused(why) | Self::Failed(why) => f.write_str(why),
            Self::Sender(why) => write!(f, "{why}: the account does not send by the number of telephone.from"),
            Self::Unknown(why) => write!(f, "{why}; it may arrive all the same"),
        }
    }
}

impl Health {
    fn is_paused(&self, now: Millis) -> bool {
        // A clock that was set back holds nothing up.
        self.failures >= MOST_FAILURES && now < self.until && self.until - now <= PAUSE
    }

    /// Whether a message may be tried now, and is the one that after a pause looks whether the provider is back; nothing while it
    /// is left alone.
    fn lets(&mut self, now: Millis) -> Option<bool> {
        if self.is_paused(now) {
            return None;
        }
        let is_probe = self.failures >= MOST_FAILURES;
        if is_probe {
            self.until = now + PAUSE;
        }
        Some(is_probe)
    }

    /// What was to look for the provider from a time on was not tried: another may.
    fn untried(&mut self, since: Millis) {
        if self.until == since + PAUSE {
            self.until = since;
        }
    }

    /// Whether this was the turn for the better, or for the worse.
    fn note(&mut self, is_well: bool, now: Millis) -> bool {
        let was_paused = self.failures >= MOST_FAILURES;
        if is_well {
            self.failures = 0;
            return was_paused;
        }
        self.failures = self.failures.saturating_add(1);
        self.until = now + PAUSE;
        !was_paused && self.failures >= MOST_FAILURES
    }
}

/// What an answer comes to. Only the number of an error reaches the log: what else is said may be what was sent.
fn verdict(answer: &Answer) -> Result<(), Unsent> {
    #[derive(Deserialize)]
    struct Said {
        code: Option<u64>,
    }
    let status = answer.status;
    if (200..300).contains(&status) {
        return Ok(());
    }
    let code = serde_json::from_slice::<Said>(&answer.body).ok().and_then(|it| it.code);
    let why =
        code.map_or_else(|| format!("it answered {status}"), |code| format!("it answered {status}, error {code}"));
    match (status, code) {
        (400, Some(code)) if OF_SENDER.contains(&code) => Err(Unsent::Sender(why)),
        (400, _) | (403, Some(21_000..22_000)) => Err(Unsent::Refused(why)),
        _ => Err(Unsent::Failed(why)),
    }
}

/// TwiML that says a sentence twice.
fn spoken(sentence: &str, language: &str) -> String {
    let mut say = format!("<Say language=\"{language}\">");
    for character in sentence.chars() {
        match character {
            '&' => say.push_str("&amp;"),
            '<' => say.push_str("&lt;"),
            '>' => say.push_str("&gt;"),
            // XML has no other control characters.
            it if it.is_control() => say.push(' '),
            it => say.push(it),
        }
    }
    say.push_str("</Say>");
    format!("<Response>{say}<Pause length=\"1\"/>{say}</Response>")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reach::ReachConfig;
    use stoa_kernel::World;

    fn provider() -> TelephoneProvider {
        TelephoneProvider {
            url: "https://sms.example.org/2010-04-01/".to_owned(),
            account: "AC1".to_owned(),
            user: None,
            secret: Secret::new("hush"),
            from: "+15005550006".to_owned(),
        }
    }

    fn gateway(provider: &TelephoneProvider) -> Result<TelephoneGateway, String> {
        let reach = Reach::new(&ReachConfig::default(), World::fixed(0, 1).0).unwrap();
        TelephoneGateway::new(reach, provider, TelephoneLimits::default())
    }

    #[test]
    fn settings_are_checked_and_named() {
        assert!(gateway(&provider()).is_ok());
        let refused = [
            (TelephoneProvider { account: "a/b".to_owned(), ..provider() }, "account: "),
            (TelephoneProvider { account: String::new(), ..provider() }, "account: "),
            (TelephoneProvider { user: Some("a:b".to_owned()), ..provider() }, "user: "),
            (TelephoneProvider { secret: Secret::new("a b"), ..provider() }, "secret: "),
            (TelephoneProvider { secret: Secret::new(""), ..provider() }, "secret: "),
            (TelephoneProvider { url: "https://sms.example.org/?a=b".to_owned(), ..provider() }, "url: "),
            (TelephoneProvider { url: "http://sms.example.org".to_owned(), ..provider() }, "url: "),
            (TelephoneProvider { url: "https://10.0.0.1".to_owned(), ..provider() }, "url: "),
            (TelephoneProvider { url: "sms.example.org".to_owned(), ..provider() }, "url: "),
        ];
        for (provider, key) in refused {
            let why = gateway(&provider).err().unwrap_or_default();
            assert!(why.starts_with(key), "{provider:?}: {why}");
        }
    }

    #[test]
    fn only_a_bad_request_is_up_to_the_number() {
        let of = |status, text: &str| {
            let (headers, body, is_whole) = (HeaderMap::new(), text.as_bytes().to_vec(), true);
            verdict(&Answer { status, headers, body, is_whole })
        };
        assert_eq!((of(201, "{}"), of(200, "")), (Ok(()), Ok(())));
        let refused = of(400, r#"{"code":21211,"message":"The number +4915111 is not valid","status":400}"#);
        assert_eq!(refused, Err(Unsent::Refused("it answered 400, error 21211".to_owned())));
        assert_eq!(of(400, "no"), Err(Unsent::Refused("it answered 400".to_owned())));
        for error in OF_SENDER {
            assert!(matches!(of(400, &format!("{{\"code\":{error}}}")), Err(Unsent::Sender(_))), "{error}");
        }
        // A country to which the account may not send.
        assert!(matches!(of(403, r#"{"code":21408}"#), Err(Unsent::Refused(_))));
        assert!(matches!(of(403, r#"{"code":20003}"#), Err(Unsent::Failed(_))));
        for status in [302, 401, 403, 404, 429, 500, 503] {
            assert!(matches!(of(status, r#"{"code":"x"}"#), Err(Unsent::Failed(_))), "{status}");
        }
    }

    #[test]
    fn provider_that_fails_is_left_alone_and_looked_after() {
        let (mut health, start) = (Health::default(), 1_000_000);
        for at in 0..2 {
            assert!(health.lets(start + at) == Some(false) && !health.note(false, start + at));
        }
        assert!(health.lets(start + 2).is_some() && health.note(false, start + 2), "told once");
        assert!(health.is_paused(start + 3) && health.lets(start + 3).is_none());
        assert!(!health.is_paused(start + 2 + PAUSE));
        assert_eq!(health.lets(start + 2 + PAUSE), Some(true), "one looks whether it is back");
        assert!(health.lets(start + 3 + PAUSE).is_none(), "and one alone");
        health.untried(start + 2 + PAUSE);
        assert_eq!(health.lets(start + 3 + PAUSE), Some(true), "another, when that one was not tried");
        health.untried(start + 2 + PAUSE);
        assert!(health.lets(start + 3 + PAUSE).is_none(), "once");
        assert!(!health.note(false, start + 3 + PAUSE), "that it still fails is not told again");
        assert!(health.lets(start + 4 + 2 * PAUSE).is_some() && health.note(true, start + 4 + 2 * PAUSE), "it is back");
        assert!(health.lets(start + 5 + 2 * PAUSE).is_some() && !health.note(false, start + 5 + 2 * PAUSE));
        assert!(health.lets(start + 6 + 2 * PAUSE).is_some(), "one failure is none yet");
        // Leave that is not used is another's.
        let gateway = gateway(&provider()).unwrap();
        *gateway.0.health() = Health { failures: MOST_FAILURES, until: start };
        let leave = gateway.leave("s", start).unwrap();
        assert!(gateway.leave("s", start).is_err());
        drop(leave);
        assert!(gateway.leave("s", start).is_ok());
        let ahead = Health { failures: MOST_FAILURES, until: start + 9 * PAUSE };
        assert!(!ahead.is_paused(start), "a clock that was set back holds nothing up");
    }

    #[test]
    fn sentence_is_said_twice_and_is_no_markup() {
        let say = "<Say language=\"en-GB\">A &amp; &lt;Dial&gt;+1&lt;/Dial&gt;: 1, 2</Say>";
        let expected = format!("<Response>{say}<Pause length=\"1\"/>{say}</Response>");
        assert_eq!(spoken("A & <Dial>+1</Dial>:\n1, 2".replace('\n', " ").as_str(), "en-GB"), expected);
        assert!(spoken("a\u{7}\u{0}b", "en-GB").contains("a  b"));
    }
}
