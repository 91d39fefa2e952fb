//! What providers say of themselves (OpenID Connect Discovery 1.0, RFC 8414) and their keys, kept in memory for a while.
//!
//! Both are read from addresses that the operator of a site chose, so a provider that is slow, broken or too talkative is asked again
//! after some seconds at the earliest, however many ask.

use super::{Failed, jwk::Jwk};
use quick_cache::sync::Cache;
use serde_json::Value;
use std::{convert::Infallible, sync::Arc, time::Duration};
use stoa_kernel::{
    Millis,
    json::{self, Budget},
};
use stoa_outbound::{ClientSecretIn, OpenidClient, OpenidFailure, OpenidLimits, Reach};
use tokio::{sync::Mutex, time::timeout};

/// How long what was read counts.
const LIFE: Millis = 60 * 60_000;
/// How long a site does not ask again after a failure.
const PAUSE: Millis = 10_000;
/// How long a key that is not known has no others looked for.
const KEYS_PAUSE: Millis = 30_000;
/// How long a caller waits for the call of another one.
const LONGEST_WAIT: Duration = Duration::from_secs(12);
/// Values of a document.
const VALUES: usize = 5_000;
/// Characters of an address in one.
const LONGEST: usize = 2_048;

/// Asks providers, and remembers what they said.
pub(crate) struct Providers {
    pub(super) client: OpenidClient,
    metadata: Memory<Metadata>,
    keys: Memory<Vec<Jwk>>,
}

/// What was read of addresses. What was read counts for all sites; that it could not be read counts for the site alone that has asked,
/// since other sites have calls of their own.
struct Memory<T> {
    read: Cache<String, Arc<Read<T>>>,
    /// By site and address.
    asked: Cache<String, Arc<Mutex<Asked>>>,
}

/// What an address said, and when.
struct Read<T> {
    at: Millis,
    found: Arc<T>,
}

/// A site's last call of an address, and the right to make the next one.
#[derive(Default)]
struct Asked {
    at: Millis,
    failed: Option<Failed>,
}

/// Why there is nothing new.
enum Unread {
    /// The call was not made, which says nothing of the provider.
    NotAsked(String),
    Failed(Failed),
}

impl<T> Memory<T> {
    fn new() -> Self {
        Self { read: Cache::new(1_024), asked: Cache::new(4_096) }
    }

    /// What was read lately. With `other` it is to be younger than [`KEYS_PAUSE`].
    fn known(&self, address: &str, other: bool, now: Millis) -> Option<Arc<T>> {
        let life = if other { KEYS_PAUSE } else { LIFE };
        self.read.get(address).filter(|it| is_within(it.at, life, now)).map(|it| it.found.clone())
    }

    /// What an address says: by one call at a time of each site, for which others wait.
    async fn get(
        &self,
        (site, address): (&str, &str),
        other: bool,
        now: Millis,
        call: impl Future<Output = Result<T, Unread>>,
    ) -> Result<Arc<T>, Failed> {
        if let Some(known) = self.known(address, other, now) {
            return Ok(known);
        }
        let begun = || Ok::<_, Infallible>(Arc::default());
        let Ok(asked) = self.asked.get_or_insert_with(&format!("{site} {address}"), begun);
        let Ok(mut asked) = timeout(LONGEST_WAIT, asked.lock()).await else {
            return Err(Failed::unavailable("it is being asked already"));
        };
        // Meanwhile somebody else may have read it.
        if let Some(known) = self.known(address, other, now) {
            return Ok(known);
        }
        match (&asked.failed, self.known(address, false, now)) {
            // Also of a call that has failed, or whose caller has gone.
            (_, Some(known)) if is_within(asked.at, KEYS_PAUSE, now) => return Ok(known),
            (Some(failed), None) if is_within(asked.at, PAUSE, now) => return Err(failed.clone()),
            _ => {}
        }
        let before = std::mem::replace(&mut *asked, Asked { at: now, failed: None });
        match call.await {
            Ok(found) => {
                let found = Arc::new(found);
                self.read.insert(address.to_owned(), Arc::new(Read { at: now, found: found.clone() }));
                Ok(found)
            }
            Err(Unread::Failed(failed)) => {
                // What was read before stays.
                asked.failed = Some(failed.clone());
                Err(failed)
            }
            Err(Unread::NotAsked(why)) => {
                *asked = before;
                Err(Failed::unavailable(why))
            }
        }
    }
}

fn is_within(at: Millis, life: Millis, now: Millis) -> bool {
    (at..at + life).contains(&now)
}

/// Of what a provider says of itself, what is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Metadata {
    pub authorization_endpoint: String,
    pub token_endpoint: String,
    pub jwks_uri: String,
    pub secret_in: ClientSecretIn,
    /// Whether its answers name it (RFC 9207).
    pub names_itself: bool,
}

impl Providers {
    pub(crate) fn new(reach: Reach) -> Self {
        let client = OpenidClient::new(reach, OpenidLimits::default());
        Self { client, metadata: Memory::new(), keys: Memory::new() }
    }

    /// Whether a provider may be at an address.
    ///
    /// # Errors
    /// A sentence for the operator.
    pub(super) fn check(&self, issuer: &str) -> Result<(), String> {
        self.client.check(issuer)
    }

    /// What the provider with this issuer says of itself.
    pub(super) async fn metadata(&self, site: &str, issuer: &str, now: Millis) -> Result<Arc<Metadata>, Failed> {
        let call = async {
            let url = format!("{}/.well-known/openid-configuration", issuer.trim_end_matches('/'));
            let document = self.document(site, &url).await?;
            self.read(issuer, &document).map_err(Unread::Failed)
        };
        self.metadata.get((site, issuer), false, now, call).await
    }

    /// The keys at an address. With `other` those that were read a while ago don't do; one that is asked for in vain is answered by those
    /// of before, until the next call may be made.
    pub(super) async fn keys(&self, site: &str, url: &str, other: bool, now: Millis) -> Result<Arc<Vec<Jwk>>, Failed> {
        let call = async {
            let document = self.document(site, url).await?;
            let none = || Unread::Failed(Failed::unavailable("its keys are no set of keys"));
            Jwk::of_set(&document).ok_or_else(none)
        };
        self.keys.get((site, url), other, now, call).await
    }

    async fn document(&self, site: &str, url: &str) -> Result<Value, Unread> {
        let text = self.client.get(site, url).await.map_err(|failure| match failure {
            OpenidFailure::NotAsked(why) => Unread::NotAsked(why),
            OpenidFailure::Unreached(why) | OpenidFailure::Refused(why) => Unread::Failed(Failed::unavailable(why)),
        })?;
        let parsed = json::parse(&text, &Budget::of(VALUES));
        parsed.map_err(|_| Unread::Failed(Failed::unavailable("it answered no JSON")))
    }

    /// # Errors
    /// [`Failed`] also for one that names another issuer (OpenID Connect Discovery 1.0, 4.3), or addresses that may not be called.
    fn read(&self, issuer: &str, document: &Value) -> Result<Metadata, Failed> {
        if document["issuer"].as_str() != Some(issuer) {
            return Err(Failed::unavailable("it says that it is another issuer"));
        }
        let address = |name: &str| {
            let text = document[name].as_str().filter(|it| it.len() <= LONGEST).unwrap_or_default();
            let checked = self.client.check(text).map(|()| text.to_owned());
            checked.map_err(|why| Failed::unavailable(format!("{name}: {why}")))
        };
        let methods = document["token_endpoint_auth_methods_supported"].as_array();
        let takes = |name: &str| methods.is_some_and(|all| all.iter().any(|it| it == name));
        // Without a list it is the header (OpenID Connect Discovery 1.0, 3).
        let secret_in = match takes("client_secret_post") && !takes("client_secret_basic") {
            true => ClientSecretIn::Form,
            false => ClientSecretIn::Header,
        };
        Ok(Metadata {
            authorization_endpoint: address("authorization_endpoint")?,
            token_endpoint: address("token_endpoint")?,
            jwks_uri: address("jwks_uri")?,
            secret_in,
            names_itself: document["authorization_response_iss_parameter_supported"] == true,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        cell::Cell,
        future::ready,
        sync::atomic::{AtomicUsize, Ordering},
    };
    use tokio::task::{JoinSet, yield_now};

    fn failed() -> Unread {
        Unread::Failed(Failed::unavailable("it is down"))
    }

    fn not_asked() -> Unread {
        Unread::NotAsked("too many".to_owned())
    }

    /// The next call of an address by a site is made, with this result.
    async fn get(memory: &Memory<u8>, site: &str, now: Millis, result: Result<u8, Unread>) -> (Option<u8>, bool) {
        let was_called = Cell::new(false);
        let call = async {
            was_called.set(true);
            result
        };
        let got = memory.get((site, "address"), false, now, call).await;
        (got.ok().map(|it| *it), was_called.get())
    }

    #[tokio::test]
    async fn call_that_was_not_made_says_nothing_of_the_provider() {
        let memory = Memory::new();
        assert_eq!(get(&memory, "a", LIFE, Err(not_asked())).await, (None, true));
        assert_eq!(get(&memory, "a", LIFE, Err(not_asked())).await, (None, true), "it is asked at once");
        assert_eq!(get(&memory, "b", LIFE, Ok(1)).await, (Some(1), true));
        assert_eq!(get(&memory, "a", LIFE, Ok(2)).await, (Some(1), false), "what others read counts");
    }

    #[tokio::test]
    async fn failure_counts_for_the_site_that_has_asked() {
        let memory = Memory::new();
        assert_eq!(get(&memory, "a", LIFE, Err(failed())).await, (None, true));
        assert_eq!(get(&memory, "a", LIFE + PAUSE - 1, Ok(1)).await, (None, false), "not before a while");
        assert_eq!(get(&memory, "b", LIFE, Err(not_asked())).await, (None, true));
        assert_eq!(get(&memory, "a", LIFE + PAUSE, Ok(1)).await, (Some(1), true));
        let later = 2 * LIFE + PAUSE;
        assert_eq!(get(&memory, "a", later - 1, Ok(2)).await, (Some(1), false));
        assert_eq!(get(&memory, "a", later, Ok(2)).await, (Some(2), true));
    }

    #[tokio::test]
    async fn hundred_at_once_make_one_call() {
        let (memory, calls) = (Arc::new(Memory::new()), Arc::new(AtomicUsize::new(0)));
        for (now, result, of_all) in [(LIFE, None, 1), (LIFE + PAUSE, Some(1_u8), 2)] {
            let mut all = JoinSet::new();
            for _ in 0..100 {
                let (memory, calls) = (memory.clone(), calls.clone());
                all.spawn(async move {
                    let call = async {
                        calls.fetch_add(1, Ordering::SeqCst);
                        yield_now().await;
                        result.ok_or_else(failed)
                    };
                    memory.get(("a", "address"), false, now, call).await.ok().map(|it| *it)
                });
            }
            assert!(all.join_all().await.into_iter().all(|it| it == result));
            assert_eq!(calls.load(Ordering::SeqCst), of_all);
        }
    }

    #[tokio::test]
    async fn others_are_looked_for_after_a_while() {
        let (memory, site) = (Memory::new(), ("a", "address"));
        assert_eq!(get(&memory, "a", LIFE, Ok(1)).await, (Some(1), true));
        let other =
            async |now: Millis, result| memory.get(site, true, now, ready(result)).await.ok().map(|it: Arc<u8>| *it);
        assert_eq!(other(LIFE + KEYS_PAUSE - 1, Ok(2)).await, Some(1));
        let at = LIFE + KEYS_PAUSE;
        assert_eq!(other(at, Err(failed())).await, None);
        assert_eq!(other(at + KEYS_PAUSE - 1, Ok(2)).await, Some(1), "those of before do until then");
        assert_eq!(get(&memory, "a", at + 1, Ok(3)).await, (Some(1), false));
        assert_eq!(other(at + KEYS_PAUSE, Ok(2)).await, Some(2));
    }
}
