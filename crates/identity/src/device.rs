//! The browsers in which a member has signed in, known by a cookie that outlives the session.
//!
//! A page of the client in whose frame the cookie can't be kept (browsers that block third parties) is
//! known by the kind of browser and the network instead, so that not every sign-in is news there.

use crate::{Identity, flow::Browser, flow::Change, notice};
use std::net::IpAddr;
use stoa_kernel::{MemberId, Millis, Result, Secret, TokenHash};
use stoa_sql::params;
use stoa_store::{Site, Tx};

/// A browser that was not used for this long is a new one.
const LIFE: Millis = 365 * 24 * 60 * 60 * 1000;

/// The browser of one request.
#[derive(Debug, Clone)]
pub(crate) struct Device {
    cookie: Secret,
    /// Stands in for the cookie where none can be kept.
    likeness: Option<String>,
    /// For people, for example `Firefox · Linux`.
    name: String,
}

impl Device {
    /// `is_framed`: the browser may not keep the cookie.
    pub(crate) fn of(me: &Identity, browser: &Browser, is_framed: bool) -> Self {
        let is_ours =
            |it: &&String| it.len() == 43 && it.bytes().all(|it| it.is_ascii_alphanumeric() || b"-_".contains(&it));
        let known = browser.device.as_ref().filter(is_ours).cloned();
        let cookie = Secret::new(known.unwrap_or_else(|| me.world().token::<32>()));
        let name = name_of(browser.user_agent.as_deref().unwrap_or_default());
        let likeness = is_framed.then(|| format!("{name} {}", network(browser.address)));
        Self { cookie, likeness, name }
    }

    /// The cookie for the answer: also a known one, so that it lives on.
    pub(crate) fn cookie(&self) -> Change {
        Change::Set(self.cookie.clone())
    }
}

impl Identity {
    /// Notes inside the transaction of a sign-in that the member uses this browser. When it is not the
    /// first one and was not seen before, a notice is put into the queue; answers whether.
    pub(crate) async fn device_seen(
        &self,
        tx: &mut Tx<'_>,
        site: &Site,
        member: &MemberId,
        device: &Device,
    ) -> Result<bool> {
        let now = self.now();
        let sql = "select hash from stoa.device where site = $1 and member = $2 and expires > $3 \
                   order by created desc limit 100";
        let known: Vec<Vec<u8>> = tx.rows(sql, &params![&site.id, member, now], |row| row.get(0)).await?;
        let marks = [Some(device.cookie.expose()), device.likeness.as_deref()];
        let hashes: Vec<TokenHash> = marks.into_iter().flatten().map(|it| hash_of(member, it)).collect();
        let is_new = !hashes.iter().any(|it| known.contains(&it.to_vec()));
        for hash in hashes {
            let sql = "insert into stoa.device (site, hash, member, created, expires) values ($1, $2, $3, $4, $5) \
                       on conflict (site, hash) do update set expires = excluded.expires";
            tx.execute(sql, &params![&site.id, hash, member, now, now + LIFE]).await?;
        }
        if known.is_empty() || !is_new {
            return Ok(false);
        }
        notice::new_device(self, tx, &site.id, member, device.name.clone()).await?;
        Ok(true)
    }

    /// Whether a member has signed in before in the browser that holds this cookie.
    ///
    /// # Errors
    /// Whatever the database answers.
    pub async fn device_is_known(&self, site: &Site, member: &MemberId, cookie: &str) -> Result<bool> {
        let (id, hash, now) = (site.id.clone(), hash_of(member, cookie), self.now());
        site.read(stoa_store::Lane::Point, move |tx| {
            stoa_store::boxed!({
                let sql = "select 1 from stoa.device where site = $1 and hash = $2 and expires > $3";
                Ok(tx.row(sql, &params![&id, &hash, now], |_| Ok(())).await?.is_some())
            })
        })
        .await
    }
}

/// Bound to the member: several may use one browser, and one's cookie says nothing about another.
fn hash_of(member: &MemberId, mark: &str) -> TokenHash {
    TokenHash::of(&format!("{member} {mark}"))
}

/// What a browser says of itself, in words from this list only: nothing of the header is repeated.
fn name_of(agent: &str) -> String {
    const BROWSERS: [(&str, &str); 8] = [
        ("Edg", "Edge"),
        ("OPR/", "Opera"),
        ("SamsungBrowser/", "Samsung Internet"),
        ("Firefox/", "Firefox"),
        ("FxiOS/", "Firefox"),
        ("CriOS/", "Chrome"),
        ("Chrome/", "Chrome"),
        ("Safari/", "Safari"),
    ];
    const SYSTEMS: [(&str, &str); 7] = [
        ("iPhone", "iPhone"),
        ("iPad", "iPad"),
        ("Android", "Android"),
        ("Windows", "Windows"),
        ("Mac OS X", "macOS"),
        ("CrOS", "ChromeOS"),
        ("Linux", "Linux"),
    ];
    let find = |list: &[(&str, &'static str)]| list.iter().find(|it| agent.contains(it.0)).map(|it| it.1);
    match (find(&BROWSERS), find(&SYSTEMS)) {
        (Some(browser), Some(system)) => format!("{browser} · {system}"),
        (Some(one), None) | (None, Some(one)) => one.to_owned(),
        (None, None) => "?".to_owned(),
    }
}

/// The part of an address that stays while a person stays where they are.
fn network(address: IpAddr) -> String {
    match address.to_canonical() {
        IpAddr::V4(it) => format!("{}", it.to_bits() >> 8),
        IpAddr::V6(it) => format!("{}", it.to_bits() >> 80),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_are_named_in_our_words() {
        for (agent, name) in [
            ("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox · Linux"),
            ("Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/140.0 Safari/537.36 Edg/140.0", "Edge · Windows"),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit Version/19 Safari/604.1",
                "Safari · iPhone",
            ),
            ("<script>alert(1)</script>", "?"),
            ("", "?"),
        ] {
            assert_eq!(name_of(agent), name);
        }
    }
}
