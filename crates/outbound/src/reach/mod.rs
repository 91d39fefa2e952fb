//! The way out: the only way by which the process calls an address that somebody else chose (decision 25).
//!
//! Each call, and each further try of one, goes through the same steps anew: the name is resolved here, every address
//! that it has is checked, and the connection is made to a checked address, while TLS checks the name. So a name that
//! leads elsewhere a moment later gains nothing. No redirect is followed, no proxy of the environment is used, nothing
//! is kept from one call for the next.
//!
//! A call is a future and takes no thread. Dropping it closes its connection.

mod address;
mod call;
mod connect;
mod exchange;
mod resolve;
mod target;

pub use address::Exceptions;
pub use call::{Answer, Call, ReachLimits, Unreached};
pub use target::Target;

use crate::turns::{TurnLimits, Turns};
use connect::Connector;
use resolve::{Resolver, Times};
use std::{
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};
use stoa_kernel::World;
use target::Host;
use tokio::time::timeout;

/// What the operator of the server says of calls.
#[derive(Debug, Clone, Default)]
pub struct ReachConfig {
    pub exceptions: Exceptions,
    /// Name servers; without any those of the machine (`/etc/resolv.conf`), read for each call.
    pub name_servers: Vec<SocketAddr>,
    /// Certificate authority (PEM) to trust beside the public ones.
    pub authority: Option<Vec<u8>>,
    pub limits: ReachLimits,
}

/// Calls addresses. One for the process: what it bounds, it bounds for all who hold a copy.
#[derive(Clone)]
pub struct Reach(Arc<Inner>);

struct Inner {
    exceptions: Exceptions,
    limits: ReachLimits,
    resolver: Resolver,
    connector: Connector,
    /// A lane for each host.
    turns: Turns,
}

impl Reach {
    /// Connects nowhere yet.
    ///
    /// # Errors
    /// A sentence, when the certificate authority can't be read.
    pub fn new(config: &ReachConfig, world: World) -> Result<Self, String> {
        let ReachConfig { exceptions, name_servers, authority, limits } = config.clone();
        let turns = Turns::new(TurnLimits {
            in_all: limits.in_all,
            of_lane: limits.of_host,
            waiting_of_lane: limits.waiting_of_host,
            wait: limits.whole,
        });
        let connector = Connector::new(authority.as_deref())?;
        let resolver = Resolver::new(world, name_servers, Times { all: limits.resolve, one: limits.ask });
        Ok(Self(Arc::new(Inner { exceptions, limits, resolver, connector, turns })))
    }

    /// Whether an address may be called, as far as that can be said before a name is resolved: for those who store one.
    /// Each call checks again.
    ///
    /// # Errors
    /// [`Unreached::Refused`].
    pub fn check(&self, target: &Target) -> Result<(), Unreached> {
        let exceptions = &self.0.exceptions;
        let checked = match target.host() {
            Host::Address(it) => exceptions.check(target.is_https(), &[*it]),
            Host::Name(name) if resolve::is_localhost(name) => exceptions.check(target.is_https(), &resolve::HERE),
            Host::Name(_) if target.is_https() || exceptions.hold_networks() => Ok(()),
            Host::Name(name) => Err(format!("{name} is called by https only (reach.allow)")),
        };
        checked.map_err(Unreached::Refused)
    }

    /// Calls an address.
    ///
    /// # Errors
    /// [`Unreached`], each kind. A status is none of them, whichever it is.
    pub async fn call(&self, call: Call<'_>) -> Result<Answer, Unreached> {
        let most = self.0.limits.request_bytes;
        if call.body.len() > most {
            return Err(Unreached::Failed(format!("the request has {} bytes, more than {most}", call.body.len())));
        }
        let whole = call.timeout.min(self.0.limits.whole);
        // Who waits for a turn in vain was kept from calling by others, not by the address.
        let turn = timeout(whole, self.0.turns.take(&call.target.host().to_string())).await;
        let _turn = turn.ok().flatten().ok_or(Unreached::Busy)?;
        within(whole, "the call", self.0.call(call)).await
    }
}

impl Inner {
    async fn call(&self, call: Call<'_>) -> Result<Answer, Unreached> {
        let addresses = self.addresses(call.target).await?;
        self.exceptions.check(call.target.is_https(), &addresses).map_err(Unreached::Refused)?;
        let connecting = self.connector.connect(call.target, &addresses);
        let stream = within(self.limits.connect, call::CONNECTING, connecting).await?;
        exchange::exchange(stream, call, self.limits.head_bytes).await
    }

    /// Every address that the host has.
    async fn addresses(&self, target: &Target) -> Result<Vec<IpAddr>, Unreached> {
        match target.host() {
            Host::Address(it) => Ok(vec![*it]),
            Host::Name(name) => self.resolver.addresses(name).await.map_err(Unreached::Unresolved),
        }
    }
}

async fn within<T>(
    time: Duration,
    what: &'static str,
    work: impl Future<Output = Result<T, Unreached>>,
) -> Result<T, Unreached> {
    timeout(time, work).await.unwrap_or(Err(Unreached::TimedOut(what)))
}
