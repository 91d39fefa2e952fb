//! The names under which a site is known: its hosts, and the issuer that its tokens and answers name.

use crate::Core;
use std::sync::Arc;
use stoa_kernel::{Millis, Result, SiteId};
use stoa_sql::params;
use stoa_store::{ReaderPool, boxed};

/// The hosts of a site are read again from the catalogue after this long.
const LIFE: Millis = 10_000;

/// The host names of a site.
pub(crate) struct SiteNames {
    /// In alphabetical order.
    pub hosts: Vec<String>,
    until: Millis,
}

/// The hosts that show a site, as they were at most [`LIFE`] ago.
pub(crate) async fn of_site(core: &Core, site: &SiteId) -> Result<Arc<SiteNames>> {
    let now = core.now();
    if let Some(names) = core.site_names.get(site).filter(|it| now < it.until) {
        return Ok(names);
    }
    let id = site.clone();
    let sql = "select host from stoa.host where site = $1 order by host";
    let hosts = core
        .store()
        .catalog()
        .read(ReaderPool::Point, move |tx| boxed!(Ok(tx.rows(sql, &params![&id], |row| row.get(0)).await?)));
    let names = Arc::new(SiteNames { hosts: hosts.await?, until: now + LIFE });
    core.site_names.insert(site.clone(), names.clone());
    Ok(names)
}

/// What tokens of a site name as their issuer (RFC 7519 section 4.1.1), as do its answers to authorization requests
/// (RFC 9207): the site's own origin, or its path at the server's address where it has no host of its own.
pub(crate) async fn issuer(core: &Core, site: &SiteId) -> Result<String> {
    let names = of_site(core, site).await?;
    Ok(issuer_at(&core.mail_queue.url(), &names.hosts, site))
}

/// The issuer beneath `url`, which is a scheme, a host and perhaps a port.
fn issuer_at(url: &str, hosts: &[String], site: &SiteId) -> String {
    let (scheme, authority) = url.split_once("://").unwrap_or(("http", url));
    let port_at = authority.rfind(':').filter(|at| !authority[*at..].contains(']')).unwrap_or(authority.len());
    let (own, port) = authority.split_at(port_at);
    let is_own = |it: &String| it.eq_ignore_ascii_case(own.trim_start_matches('[').trim_end_matches(']'));
    match hosts.iter().find(|it| is_own(it)).or(hosts.first()) {
        Some(host) if host.contains(':') => format!("{scheme}://[{host}]{port}"),
        Some(host) => format!("{scheme}://{host}{port}"),
        None => format!("{url}/s/{site}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn issuer_is_the_sites_own_origin_or_its_path() {
        let issuer = |url: &str, hosts: &[&str]| {
            let hosts: Vec<String> = hosts.iter().map(|it| (*it).to_owned()).collect();
            issuer_at(url, &hosts, &SiteId::from("7e57"))
        };
        let url = "https://www.example.org:8443";
        assert_eq!(issuer(url, &[]), "https://www.example.org:8443/s/7e57");
        assert_eq!(issuer(url, &["shop.example.org"]), "https://shop.example.org:8443");
        assert_eq!(
            issuer(url, &["a.example.org", "www.example.org"]),
            "https://www.example.org:8443",
            "the server's own"
        );
        assert_eq!(issuer("https://www.example.org", &["b.example", "c.example"]), "https://b.example");
        assert_eq!(issuer("http://[::1]:4400", &["::2"]), "http://[::2]:4400");
        assert_eq!(issuer("http://[::1]", &["::1"]), "http://[::1]");
        assert_eq!(issuer("http://[::1]", &[]), "http://[::1]/s/7e57");
    }
}
