//! The table `[reach]`: the way out, by which the server calls addresses that others than its operator chose
//! (decision 25).

use clap::Args;
use ipnet::IpNet;
use serde::Deserialize;
use std::{net::SocketAddr, path::PathBuf};
use stoa_kernel::World;
use stoa_outbound::{Exceptions, Reach, ReachConfig};

/// The keys as they were written.
#[derive(Debug, Clone, Default, Args, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ReachOptions {
    /// Networks that may be called though they are not public, as CIDR; http works there too
    #[arg(id = "reach_allow", long = "reach-allow", env = "STOA_REACH_ALLOW", value_delimiter = ',', num_args = 1..,
        value_name = "CIDR")]
    pub allow: Vec<IpNet>,
    /// Name servers to ask, as address and port [default: those of /etc/resolv.conf]
    #[arg(id = "reach_name_servers", long = "reach-name-servers", env = "STOA_REACH_NAME_SERVERS",
        value_delimiter = ',', num_args = 1.., value_name = "ADDRESS")]
    pub name_servers: Vec<SocketAddr>,
    /// Certificate authority (PEM) to trust beside the public ones
    #[arg(id = "reach_ca", long = "reach-ca", env = "STOA_REACH_CA", value_name = "FILE")]
    pub ca: Option<PathBuf>,
}

impl ReachOptions {
    /// These keys, and from a file what they don't have.
    pub(super) fn over(self, file: Self) -> Self {
        Self {
            allow: if self.allow.is_empty() { file.allow } else { self.allow },
            name_servers: if self.name_servers.is_empty() { file.name_servers } else { self.name_servers },
            ca: self.ca.or(file.ca),
        }
    }

    /// What the keys mean. With `loopback` this machine may be called.
    pub(super) fn meant(self, loopback: bool, mistakes: &mut Vec<String>) -> ReachConfig {
        let mut wrong = |text: String| mistakes.push(text);
        let Self { allow, name_servers, ca } = self;
        let authority = ca.and_then(|path| {
            std::fs::read(&path).map_err(|it| wrong(format!("reach.ca {}: {it}", path.display()))).ok()
        });
        let exceptions = Exceptions { allow, loopback };
        let config = ReachConfig { exceptions, name_servers, authority, ..ReachConfig::default() };
        if let Err(why) = Reach::new(&config, World::real()) {
            wrong(format!("reach.ca: {why}"));
        }
        config
    }
}
