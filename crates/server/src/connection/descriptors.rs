//! File descriptors: as many as the system gives, and some of them kept from connections.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use stoa_http::HttpLimits;

/// No server needs more, and some systems have trouble with a limit without end.
const MOST: u64 = 1_048_576;
/// Kept for the command socket, mail, the log, certificates and the runtime.
const BASE: u64 = 64;
/// What a SQLite file takes at most: a writer, two scanners and some readers, of two or three files each.
const PER_SITE: u64 = 32;

/// Raises the limit of open files as far as it goes, and lowers the numbers of connections to what it leaves when the
/// store has got its part. `files` is how many the store may want besides sites.
///
/// # Errors
/// A sentence when there are too few files to serve anything.
pub fn fit_to_descriptors(limits: &mut HttpLimits, open_sites: usize, files: usize) -> Result<(), String> {
    let allowed = raise();
    let wanted = BASE + files as u64 + PER_SITE * open_sites as u64;
    let (connections, of_network) = share_out(allowed, wanted, limits);
    if connections < 8 {
        return Err(format!("{allowed} open files are too few; raise the limit (ulimit -n) to 128 or more"));
    }
    if connections < limits.connections {
        tracing::warn!(
            "{allowed} open files are allowed: {connections} connections at the same time, {of_network} of one network"
        );
    }
    (limits.connections, limits.network_connections) = (connections, of_network);
    Ok(())
}

/// Raises the soft limit to the hard one, and tells it.
fn raise() -> u64 {
    let limit = getrlimit(Resource::Nofile);
    let hard = limit.maximum.unwrap_or(MOST).min(MOST);
    let soft = limit.current.unwrap_or(MOST);
    if soft >= hard {
        return soft;
    }
    match setrlimit(Resource::Nofile, Rlimit { current: Some(hard), maximum: limit.maximum }) {
        Ok(()) => hard,
        Err(_) => soft,
    }
}

/// Connections in all and of one network. The store gets what it wants, but no more than half; one network gets no
/// more than three quarters of what is left, so that another can still ask for the health of the server.
fn share_out(allowed: u64, wanted: u64, limits: &HttpLimits) -> (usize, usize) {
    let left = usize::try_from(allowed - wanted.min(allowed / 2)).unwrap_or(usize::MAX);
    let connections = limits.connections.min(left);
    (connections, limits.network_connections.min((connections / 4 * 3).max(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptors_are_kept_for_the_store() {
        let limits = HttpLimits::default();
        let wanted = BASE + PER_SITE * 256;
        assert_eq!(share_out(1_048_576, wanted, &limits), (8_192, 512));
        assert_eq!(share_out(10_000, wanted, &limits), (5_000, 512));
        assert_eq!(share_out(300, wanted, &limits), (150, 111));
        assert_eq!(share_out(300, 100, &limits), (200, 150));
    }
}
