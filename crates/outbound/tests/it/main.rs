//! The way out, against real name servers and real peers on loopback.

#![allow(clippy::unwrap_used, reason = "a test that can't be set up has failed")]

mod forms;
mod limits;
mod name_server;
mod names;
mod openid;
mod peer;
mod tls;
mod web_push;

use name_server::NameServer;
use std::time::Duration;
use stoa_kernel::World;
use stoa_outbound::{Answer, Call, Exceptions, Reach, ReachConfig, ReachLimits, Target, Unreached};

/// Where peers are that a test allows; 127.0.0.1 is where nothing may go.
pub const ALLOWED: &str = "127.0.0.2";

/// What a way out is made of that may call [`ALLOWED`] and asks this name server. It has all the time that a busy machine
/// may need.
pub fn config(server: &NameServer) -> ReachConfig {
    let allow = vec![format!("{ALLOWED}/32").parse().unwrap()];
    ReachConfig {
        exceptions: Exceptions { allow, loopback: false },
        name_servers: vec![server.address],
        authority: None,
        limits: limits(Duration::from_secs(30)),
    }
}

pub fn reach(config: &ReachConfig) -> Reach {
    Reach::new(config, World::fixed(0, 1).0).unwrap()
}

/// The limits with this time for each step.
pub fn limits(step: Duration) -> ReachLimits {
    ReachLimits { resolve: step, ask: step, connect: step, ..ReachLimits::default() }
}

/// For calls that end only because their time does.
pub fn quick() -> ReachLimits {
    limits(Duration::from_millis(500))
}

/// Asks for an address and reads up to 1,000 bytes.
pub async fn get(reach: &Reach, url: &str) -> Result<Answer, Unreached> {
    get_within(reach, url, Duration::from_secs(30)).await
}

pub async fn get_within(reach: &Reach, url: &str, timeout: Duration) -> Result<Answer, Unreached> {
    let target = Target::parse(url).map_err(|it| Unreached::Refused(it.to_owned()))?;
    let (headers, body) = (hyper::HeaderMap::new(), bytes::Bytes::new());
    let call = Call { target: &target, method: hyper::Method::GET, headers, body, timeout, answer_bytes: 1_000 };
    // However a call goes, it ends.
    tokio::time::timeout(Duration::from_secs(60), reach.call(call)).await.expect("a call ends by itself")
}
