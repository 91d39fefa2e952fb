//! Where `stoa webhook listen` posts messages: a receiver that the person at the terminal names, called by their own
//! command. The server never calls it.

use crate::failure::Failure;
use serde_json::{Map, Value};
use std::{io::Read, time::Duration};
use stoa_kernel::{Millis, clock::elapsing};
use url::Url;

/// How long a receiver has for its answer, as long as one of an endpoint by default.
const TIME: Duration = Duration::from_secs(10);
/// Bytes of an answer that are shown.
const SHOWN: u64 = 200;

/// A receiver of messages.
pub struct Receiver {
    agent: ureq::Agent,
    url: Url,
}

/// What came of posting a message.
pub enum Posted {
    /// Whatever the status is; `excerpt` is the beginning of the answer.
    Answered { status: u16, ms: Millis, excerpt: String },
    /// Nothing listens there. The same message may be posted again.
    NobodyListens,
    /// It took the connection and gave no answer.
    Failed { why: String, ms: Millis },
}

impl Receiver {
    /// # Errors
    /// A sentence, when this is no address of a receiver.
    pub fn new(url: &str) -> Result<Self, Failure> {
        let refused = |why: &str| Failure::usage(format!("--forward {url}: {why}"));
        let parsed = Url::parse(url).map_err(|it| refused(&it.to_string()))?;
        if !matches!(parsed.scheme(), "http" | "https") {
            return Err(refused("an address by http or https is expected"));
        }
        let config = ureq::Agent::config_builder().http_status_as_error(false).timeout_global(Some(TIME));
        // What is on this machine is reached by no proxy, and a redirect is an answer, as it is to an endpoint.
        let config = config.proxy(None).max_redirects(0).max_redirects_will_error(false);
        Ok(Self { agent: config.build().into(), url: parsed })
    }

    pub fn url(&self) -> &str {
        self.url.as_str()
    }

    /// Posts a message with its headers.
    pub fn post(&self, headers: &Map<String, Value>, body: &str) -> Posted {
        let since = elapsing();
        let request = headers.iter().filter_map(|(name, value)| Some((name, value.as_str()?)));
        let request = request.fold(self.agent.post(self.url.as_str()), |it, (name, value)| it.header(name, value));
        match request.send(body) {
            Ok(mut answer) => {
                let mut excerpt = Vec::new();
                // What breaks off has its status all the same.
                let _ = answer.body_mut().as_reader().take(SHOWN).read_to_end(&mut excerpt);
                let excerpt = String::from_utf8_lossy(&excerpt).into_owned();
                Posted::Answered { status: answer.status().as_u16(), ms: elapsing() - since, excerpt }
            }
            Err(ureq::Error::ConnectionFailed) => Posted::NobodyListens,
            Err(ureq::Error::Io(it)) if it.kind() == std::io::ErrorKind::ConnectionRefused => Posted::NobodyListens,
            Err(error) => Posted::Failed { why: error.to_string(), ms: elapsing() - since },
        }
    }
}
