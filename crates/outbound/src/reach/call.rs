//! What is asked of an address, and what comes of it.

use super::target::Target;
use bytes::Bytes;
use hyper::{HeaderMap, Method};
use std::{fmt, time::Duration};

/// One request. It isn't printed: it may hold secrets.
#[derive(Clone)]
pub struct Call<'a> {
    pub target: &'a Target,
    pub method: Method,
    /// What is sent besides `Host`, `User-Agent`, `Connection` and the length of the body, which are ours.
    pub headers: HeaderMap,
    pub body: Bytes,
    /// The longest that the call takes, from its turn to the last byte; at most [`ReachLimits::whole`]. It waits no longer
    /// for its turn either.
    pub timeout: Duration,
    /// Bytes of the answer's body that are read.
    pub answer_bytes: usize,
}

/// What was answered, whatever the status. No redirect is followed.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
    /// Whether the body ended within [`Call::answer_bytes`]; what comes after them is not read.
    pub is_whole: bool,
}

/// Why there is no answer. The texts are for the log: told to people who chose the address, they would show which
/// names and machines are inside a network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unreached {
    /// The address, or one of those that its name has, may not be called. Nothing was connected to.
    Refused(String),
    /// The name has no address, or no name server said so in time.
    Unresolved(String),
    /// Too many calls to this host wait already, or none of the places was free in time.
    Busy,
    /// What takes too long.
    TimedOut(&'static str),
    /// No connection was made, or TLS refused it: nothing was sent.
    Unconnected(String),
    /// What was said there.
    Failed(String),
}

impl fmt::Display for Unreached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(why) => write!(f, "the address may not be called: {why}"),
            Self::Unresolved(why) => write!(f, "the name can't be resolved: {why}"),
            Self::Busy => f.write_str("too many calls to this host are under way"),
            Self::TimedOut(what) => write!(f, "{what} took too long"),
            Self::Unconnected(why) | Self::Failed(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for Unreached {}

impl Unreached {
    /// Whether nothing was sent, since there was no connection to send it by.
    pub fn is_unconnected(&self) -> bool {
        match self {
            Self::Refused(_) | Self::Unresolved(_) | Self::Unconnected(_) => true,
            Self::TimedOut(what) => *what == CONNECTING,
            Self::Busy | Self::Failed(_) => false,
        }
    }
}

/// What takes too long when no connection is made in time.
pub(super) const CONNECTING: &str = "connecting";

/// How much calls may take.
#[derive(Debug, Clone)]
pub struct ReachLimits {
    /// For finding the addresses of a name.
    pub resolve: Duration,
    /// Of it for one name server, before the next one is asked.
    pub ask: Duration,
    /// For connecting to one of them, TLS included.
    pub connect: Duration,
    /// For a call from its turn to its end, whatever it asks for.
    pub whole: Duration,
    /// Bytes of a request's body.
    pub request_bytes: usize,
    /// Bytes of an answer's head.
    pub head_bytes: usize,
    /// Calls at the same time. Each takes a socket, and a few for moments while it looks for a way.
    pub in_all: usize,
    /// Of them those to one host, whatever the port.
    pub of_host: usize,
    /// Further ones to one host that may wait for their turn.
    pub waiting_of_host: usize,
}

impl Default for ReachLimits {
    fn default() -> Self {
        Self {
            resolve: Duration::from_secs(3),
            ask: Duration::from_secs(1),
            connect: Duration::from_secs(3),
            whole: Duration::from_secs(30),
            request_bytes: 8 * 1024 * 1024,
            head_bytes: 16 * 1024,
            in_all: 512,
            of_host: 64,
            waiting_of_host: 192,
        }
    }
}
