//! The browsers in which a member has signed in, known by a cookie that outlives the session. In these the
//! member may sign in while others guess at the account; the member is notified of a new one.
//!
//! A page of the client in whose frame the cookie can't be kept (browsers that block third parties) is
//! known by the kind of browser and the network instead, so that not every sign-in is news there.

use crate::{
    Core, audit,
    browser::{Browser, Change},
    mail::notice,
    operator::{Operator, OperatorSession},
};
use std::net::IpAddr;
use std::sync::Arc;
use stoa_kernel::{MemberId, Millis, Result, Secret, SessionId, SiteId, TokenHash};
use stoa_sql::params;
use stoa_store::{ReaderPool, Site, Tx, boxed};

/// A browser that was not used for this long is a new one.
const LIFE: Millis = 365 * 24 * 60 * 60 * 1000;

/// Stands for the browsers that were forgotten: neither a cookie nor what a browser is like.
const FORGOTTEN: &str = "";

/// What a request says of its browser.
#[derive(Debug, Clone, Default)]
pub struct DeviceHints {
    /// The cookie that [`Device::cookie`] set.
    pub cookie: Option<String>,
    pub user_agent: Option<String>,
}

/// The browser of one request.
#[derive(Debug, Clone)]
pub(crate) struct Device {
    cookie: Secret,
    /// Stands in for the cookie where none can be kept.
    likeness: Option<String>,
    /// To be read, for example `Firefox · Linux`.
    name: String,
    address: IpAddr,
}

impl Device {
    /// `is_framed`: the browser may not keep the cookie.
    pub(crate) fn of(core: &Core, browser: &Browser, is_framed: bool) -> Self {
        let known = browser.device.as_deref().filter(|it| is_ours(it)).map(str::to_owned);
        let cookie = Secret::new(known.unwrap_or_else(|| core.world().token::<32>()));
        let name = name_of(browser.user_agent.as_deref().unwrap_or_default());
        let likeness = is_framed.then(|| likeness(&name, browser.address));
        Self { cookie, likeness, name, address: browser.address }
    }

    /// The cookie for the answer: also a known one, so that it lives on.
    pub(crate) fn cookie(&self) -> Change {
        Change::Set(self.cookie.clone())
    }

    /// The value of the cookie.
    pub(crate) fn secret(&self) -> &str {
        self.cookie.expose()
    }
}

/// Records inside the transaction of a sign-in that the member uses this browser, and with the session which one it is. When
/// it is not the first one and was not seen before, a notice is put into the queue; answers whether.
pub(crate) async fn record_seen(
    core: &Core,
    tx: &mut Tx<'_>,
    site: &Site,
    session: &SessionId,
    member: &MemberId,
    device: &Device,
) -> Result<bool> {
    let now = core.now();
    let sql = "update stoa.session set device = $1, address = $2 where site = $3 and id = $4";
    tx.send(sql, params![device.name.as_str(), device.address.to_string(), &site.id, session]).await?;
    let sql = "select hash from stoa.device where site = $1 and member = $2 and expires > $3 \
               order by created desc limit 100";
    let known: Vec<Vec<u8>> = tx.rows(sql, &params![&site.id, member, now], |row| row.get(0)).await?;
    let hints = [Some(device.cookie.expose()), device.likeness.as_deref()];
    let hashes: Vec<TokenHash> = hints.into_iter().flatten().map(|it| hash_of(member.as_str(), it)).collect();
    let is_new = !hashes.iter().any(|it| known.contains(&it.to_vec()));
    for hash in hashes {
        remember(tx, &site.id, member.as_str(), hash, now).await?;
    }
    if known.is_empty() || !is_new {
        return Ok(false);
    }
    notice::new_device(core, tx, &site.id, member, device.name.clone()).await?;
    Ok(true)
}

/// Forgets inside a transaction the browsers of a member, one of which may have been a thief's. One that no cookie names stays in their
/// place, so that the member is notified of the next.
pub(crate) async fn forget(tx: &mut Tx<'_>, site: &SiteId, member: &MemberId, now: Millis) -> Result<()> {
    let sql = "delete from stoa.device where site = $1 and member = $2";
    if tx.execute(sql, &params![site, member]).await? == 0 {
        return Ok(());
    }
    remember(tx, site, member.as_str(), hash_of(member.as_str(), FORGOTTEN), now).await
}

/// How many browsers of a member are known.
pub(crate) async fn count(tx: &mut Tx<'_>, site: &SiteId, member: &MemberId, now: Millis) -> Result<i64> {
    let sql = "select count(*) from stoa.device where site = $1 and member = $2 and expires > $3 and hash <> $4";
    let values = params![site, member, now, hash_of(member.as_str(), FORGOTTEN)];
    Ok(tx.row(sql, &values, |row| row.get(0)).await?.unwrap_or_default())
}

/// Records that an operator signed in with this browser, and which one it is.
pub(crate) async fn record_operator(
    core: &Arc<Core>,
    site: &Site,
    session: &OperatorSession,
    device: &Device,
    address: IpAddr,
) -> Result<()> {
    let subject = session.operator.device_subject();
    let hash = hash_of(&subject, device.cookie.expose());
    let named = core.store().catalog().append_with((session.id.clone(), device.name.clone()), move |tx, (id, name)| {
        boxed!({
            let sql = "update stoa.person_session set device = $1, address = $2 where id = $3";
            tx.send(sql, params![name.clone(), address.to_string(), id]).await?;
            Ok(())
        })
    });
    named.await?;
    site.write_with(
        (core.clone(), site.id.clone(), subject, hash, session.operator.id.clone()),
        move |tx, (core, site, subject, hash, operator)| {
            boxed!({
                remember(tx, site, subject, hash.clone(), core.now()).await?;
                let (event, actor) = (audit::Event::OperatorSignedIn, audit::Actor::Operator(operator));
                let entry = audit::Entry { event, actor, member: None, address: Some(address), detail: None };
                audit::record(core, tx, site, entry).await
            })
        },
    )
    .await
}

/// The browser of a request, when the subject has signed in with it before: by its cookie, or by what it
/// is like where no cookie could be kept.
pub(crate) async fn find(
    core: &Core,
    site: &Site,
    subject: &str,
    hints: &DeviceHints,
    address: IpAddr,
) -> Result<Option<Vec<u8>>> {
    let likeness = likeness(&name_of(hints.user_agent.as_deref().unwrap_or_default()), address);
    let cookie = hints.cookie.as_deref().filter(|it| is_ours(it)).unwrap_or(&likeness);
    let (id, now) = (site.id.clone(), core.now());
    let (by_cookie, by_likeness) = (hash_of(subject, cookie), hash_of(subject, &likeness));
    site.read(ReaderPool::Point, move |tx| {
        boxed!({
            let sql = "select hash from stoa.device where site = $1 and hash in ($2, $3) and expires > $4 \
                       order by hash limit 1";
            Ok(tx.row(sql, &params![&id, &by_cookie, &by_likeness, now], |row| row.get(0)).await?)
        })
    })
    .await
}

impl Operator {
    /// How devices tell operators from members.
    pub(crate) fn device_subject(&self) -> String {
        format!("person:{}", self.id)
    }
}

async fn remember(tx: &mut Tx<'_>, site: &SiteId, subject: &str, hash: TokenHash, now: Millis) -> Result<()> {
    let sql = "insert into stoa.device (site, hash, member, created, expires) values ($1, $2, $3, $4, $5) \
               on conflict (site, hash) do update set expires = excluded.expires";
    tx.send(sql, params![site, hash, subject, now, now + LIFE]).await?;
    Ok(())
}

fn is_ours(cookie: &str) -> bool {
    cookie.len() == 43 && cookie.bytes().all(|it| it.is_ascii_alphanumeric() || b"-_".contains(&it))
}

/// Bound to the member: several may use one browser, and one's cookie says nothing about another.
fn hash_of(subject: &str, hint: &str) -> TokenHash {
    TokenHash::of(&format!("{subject} {hint}"))
}

fn likeness(name: &str, address: IpAddr) -> String {
    format!("{name} {}", network(address))
}

/// The name of a browser, where it says something that is known.
pub(crate) fn known_name(agent: &str) -> Option<String> {
    Some(name_of(agent)).filter(|it| it != "?")
}

/// What a browser says of itself, in names from this list only: nothing of the header is repeated.
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
    fn device_is_named_in_our_words() {
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
