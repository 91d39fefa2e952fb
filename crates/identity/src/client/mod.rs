//! OAuth clients: the front ends of a site, with the addresses to which answers may go.

pub mod key;

use crate::{
    Core, Identity,
    log::PeopleEntry,
    token::{self, Kind, revocation},
};
use quick_cache::sync::Cache;
use std::sync::Arc;
use stoa_kernel::{
    ClientId, Code, EntryKind, EventActor, Fault, Millis, Result, Scopes, Secret, SiteId, TokenHash, Violation,
};
use stoa_sql::params;
use stoa_store::{ReaderPool, Row, Site, boxed};
use url::Url;

/// A client is read again from the catalogue after this long. Revoking does not wait for it.
const LIFE: Millis = 60_000;

/// A front end of a site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Client {
    pub id: ClientId,
    pub site: SiteId,
    pub name: String,
    /// Where codes may be sent: compared as text, except that the port of a loopback address may vary.
    pub redirect_uris: Vec<String>,
    /// Web origins of the front end, for example `https://www.example.org`.
    pub origins: Vec<String>,
    /// Hash of the secret; a client that has one is confidential.
    pub secret_hash: Option<Vec<u8>>,
    /// Whether others than those who run the site wrote it. What it asks for is all it gets, and its owners are asked
    /// before it gets anything by itself.
    pub is_third_party: bool,
    /// The most that it can be given; everything without, unless it is of others.
    pub scopes: Option<Scopes>,
    pub created: Millis,
    pub revoked: Option<Millis>,
}

/// What a client is made from.
#[derive(Debug, Clone, Default)]
pub struct NewClient {
    pub name: String,
    pub redirect_uris: Vec<String>,
    pub origins: Vec<String>,
    /// Whether to make a secret.
    pub with_secret: bool,
    /// As [`Client::is_third_party`]; such a client needs scopes.
    pub is_third_party: bool,
    pub scopes: Option<Scopes>,
}

/// Clients in memory.
pub(crate) struct Clients(Cache<ClientId, (Millis, Arc<Client>)>);

impl Clients {
    pub(crate) fn new() -> Self {
        Self(Cache::new(4096))
    }
}

impl Client {
    /// Whether a code may be sent to this address: the text of a registered one, or a registered
    /// loopback address with another port (RFC 8252 section 7.3).
    pub fn allows_redirect(&self, uri: &str) -> bool {
        self.redirect_uris.iter().any(|it| it == uri || is_same_but_port(it, uri))
    }

    /// Whether pages of this origin belong to the client: a registered origin or that of a redirect URI.
    pub fn allows_origin(&self, origin: &str) -> bool {
        let Some(given) = origin_of(origin) else { return false };
        let registered = self.origins.iter().chain(&self.redirect_uris);
        registered.filter_map(|it| origin_of(it)).any(|it| it == given || is_same_but_port(&it, &given))
    }

    /// Whether a person may be sent back to this address after logout, recovery or a callback: it has
    /// the origin of the client.
    pub fn allows_return(&self, address: &str) -> bool {
        let registered = self.origins.iter().chain(&self.redirect_uris);
        crate::address::same_origin(address, registered.map(String::as_str)).is_some()
    }

    /// The most that any token of the client holds; nothing when it may hold all that its caller has.
    pub fn bound(&self) -> Option<Scopes> {
        self.scopes.clone().or_else(|| self.is_third_party.then(Scopes::default))
    }

    /// What a request for a member's rights comes to. Where the site's own client names no scope, it is the member's
    /// whole right; `offline_access`, which the public SDK sends, is none. A client of others gets what it names.
    pub fn grant(&self, asked: Option<&Scopes>) -> Option<Scopes> {
        let asked = asked.cloned().or_else(|| self.is_third_party.then(Scopes::default));
        Scopes::narrowed(self.bound().as_ref(), asked.as_ref())
    }

    /// Where people find the front end: its first origin, else that of the first address codes are sent to.
    pub fn home(&self) -> Option<String> {
        self.origins.iter().chain(&self.redirect_uris).find_map(|it| origin_of(it))
    }

    /// By what other nodes learn that the secret is another one now, before they read the client again.
    fn secret_subject(&self) -> Option<String> {
        let hash = self.secret_hash.as_ref()?;
        Some(format!("secret-{}", hash.iter().map(|it| format!("{it:02x}")).collect::<String>()))
    }

    /// Whether the secret is the client's. A client without a secret has none that is right.
    pub fn has_secret(&self, secret: &str) -> bool {
        self.secret_hash.as_ref().is_some_and(|it| *it == TokenHash::of(secret).to_vec())
    }
}

impl Identity {
    /// Registers a client.
    ///
    /// # Errors
    /// [`Code::SiteUnknown`]; [`Code::NameEmpty`]; [`Code::Validation`] with a violation for each
    /// address that can't be registered.
    pub async fn client_create(&self, site: &SiteId, new: NewClient) -> Result<(Client, Option<Secret>)> {
        let core = &self.core;
        let name = check_name(&new.name)?;
        let site = core.store.site(site).await?;
        let mut violations = Vec::new();
        for (i, uri) in new.redirect_uris.iter().enumerate() {
            if let Err(why) = check_redirect_uri(uri) {
                violations.push(Violation::new(format!("redirectUris[{i}]"), "FORMAT", why));
            }
        }
        let mut origins = Vec::new();
        for (i, text) in new.origins.iter().enumerate() {
            match origin_of(text) {
                Some(origin) => origins.push(origin),
                None => violations.push(Violation::new(
                    format!("origins[{i}]"),
                    "FORMAT",
                    format!("{text:?} is not a web origin such as https://www.example.org"),
                )),
            }
        }
        if new.is_third_party && new.scopes.as_ref().is_none_or(Scopes::is_empty) {
            let why = "a third-party client needs scopes: without, it could do nothing";
            violations.push(Violation::new("scopes", "REQUIRED_FIELD", why));
        }
        if !violations.is_empty() {
            return Err(Fault::invalid(violations));
        }
        let secret = new.with_secret.then(|| Secret::new(core.world().token::<32>()));
        let client = Client {
            id: ClientId::from(core.world().uuid()),
            site: site.id.clone(),
            name,
            redirect_uris: new.redirect_uris,
            origins,
            secret_hash: secret.as_ref().map(|it| TokenHash::of(it.expose()).to_vec()),
            is_third_party: new.is_third_party,
            scopes: new.scopes,
            created: core.now(),
            revoked: None,
        };
        core.store
            .catalog()
            .append_with(client.clone(), move |tx, row| {
                boxed!({
                    let sql = "insert into stoa.client (id, site, name, redirect_uris, origins, secret_hash, created, \
                               scopes, third_party) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
                    let values = params![
                        &row.id,
                        &row.site,
                        &row.name,
                        json_list(&row.redirect_uris),
                        json_list(&row.origins),
                        row.secret_hash.clone(),
                        row.created,
                        row.scopes.as_ref().map(Scopes::to_string),
                        row.is_third_party
                    ];
                    tx.send(sql, values).await?;
                    Ok(())
                })
            })
            .await?;
        Ok((client, secret))
    }

    /// A client that was not revoked, by its id. From memory when it was asked for before.
    ///
    /// # Errors
    /// [`Code::ClientUnknown`].
    pub async fn client_get(&self, id: &ClientId) -> Result<Arc<Client>> {
        get(&self.core, id).await
    }

    /// The clients of a site that are not revoked, oldest first.
    pub async fn client_list(&self, site: &SiteId) -> Result<Vec<Client>> {
        list(&self.core, site).await
    }

    /// That of the site which a token names, whether or not the token is still good.
    pub async fn client_of_token(&self, kind: Kind, token: &str) -> Result<Option<ClientId>> {
        let core = &self.core;
        match token::site_of(core, kind, token).await {
            Ok(site) => Ok(first(core, &site.id).await?.map(|it| it.id)),
            Err(fault) if fault.code() == Code::SiteUnknown => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    /// Gives a client another secret. The old one is refused from now on; tokens that were got with it
    /// live on.
    ///
    /// # Errors
    /// [`Code::NotFound`] when the site has no such client, or it has no secret.
    pub async fn client_secret_renew(&self, site: &SiteId, client: &ClientId) -> Result<Secret> {
        let core = &self.core;
        let secret = Secret::new(core.world().token::<32>());
        let (now, end) = (core.now(), revocation::end(core));
        let old = core
            .store
            .catalog()
            .write_with((site.clone(), client.clone(), TokenHash::of(secret.expose())), move |tx, (site, id, hash)| {
                boxed!({
                    let sql = format!("{SELECT} where site = $1 and id = $2 and revoked is null");
                    let found = tx.row(&sql, &params![site, id], from_row).await?;
                    let old = found.and_then(|it| it.secret_subject()).ok_or_else(|| Fault::new(Code::NotFound))?;
                    let sql = "update stoa.client set secret_hash = $1 where site = $2 and id = $3";
                    tx.send(sql, params![hash, site, id]).await?;
                    revocation::insert(tx, &old, now, end).await?;
                    Ok(old)
                })
            })
            .await?;
        core.clients.0.remove(client);
        revocation::announce(core, &old).await?;
        Ok(secret)
    }

    /// Revokes a client: its tokens, those of its visitors included, are refused from now on. An application is no
    /// longer installed then.
    ///
    /// # Errors
    /// [`Code::NotFound`] when the site has no such client.
    pub async fn client_revoke(&self, site: &SiteId, client: &ClientId) -> Result<()> {
        let core = &self.core;
        let (now, end) = (core.now(), revocation::end(core));
        core.store
            .catalog()
            .write_with((site.clone(), client.clone()), move |tx, (site, id)| {
                boxed!({
                    let sql = "update stoa.client set revoked = coalesce(revoked, $1) where site = $2 and id = $3";
                    if tx.execute(sql, &params![now, site, id]).await? == 0 {
                        return Err(Fault::new(Code::NotFound));
                    }
                    // Nothing is signed for it any more (`app_key`).
                    tx.send("delete from stoa.app_key where client = $1", params![id]).await?;
                    revocation::insert(tx, id.as_str(), now, end).await
                })
            })
            .await?;
        core.clients.0.remove(client);
        revocation::announce(core, client.as_str()).await?;
        uninstall(core, site, client).await
    }
}

/// Members whose consent one transaction takes away: no other write waits long.
const CONSENTS_AT_ONCE: i64 = 500;

/// Takes away what members and an owner agreed to for an application, and tells the log, if an owner did. Asked for once
/// more, it does what was left undone.
async fn uninstall(core: &Core, site: &SiteId, client: &ClientId) -> Result<()> {
    let site = match core.store.site(site).await {
        Err(fault) if fault.code() == Code::SiteUnknown => return Ok(()),
        found => found?,
    };
    let entry = PeopleEntry { kind: EntryKind::AppRemoved, actor: EventActor::server(), now: core.now() };
    let removed = site.write_with((site.id.clone(), client.clone(), entry), |tx, (site, client, entry)| {
        boxed!({
            let sql = "delete from stoa.installation where site = $1 and client = $2";
            match tx.execute(sql, &params![site, client]).await? {
                0 => Ok(()),
                _ => entry.clone().put_ids(tx, site, vec![client.to_string()]).await,
            }
        })
    });
    removed.await?;
    loop {
        let ended = site.write_with((site.id.clone(), client.clone()), |tx, (site, client)| {
            boxed!({
                let sql = "delete from stoa.consent where site = $1 and client = $2 and member in \
                           (select member from stoa.consent where site = $1 and client = $2 limit $3)";
                Ok(tx.execute(sql, &params![site, client, CONSENTS_AT_ONCE]).await?)
            })
        });
        if ended.await? < CONSENTS_AT_ONCE.unsigned_abs() {
            return Ok(());
        }
    }
}

/// What [`Identity::client_get`] does.
pub(crate) async fn get(core: &Core, id: &ClientId) -> Result<Arc<Client>> {
    core.store.withdrawals().held().await?;
    let now = core.now();
    let unknown = || Fault::new(Code::ClientUnknown);
    // No id of ours holds U+0000, and one engine refuses to look for it.
    if id.as_str().contains('\0') || core.revocations.refuses(&[id.as_str()]) {
        return Err(unknown());
    }
    if let Some((read_at, client)) = core.clients.0.get(id)
        && (read_at..read_at + LIFE).contains(&now)
        && !client.secret_subject().is_some_and(|it| core.revocations.refuses(&[&it]))
    {
        return Ok(client);
    }
    let key = id.clone();
    let found = core
        .store
        .catalog()
        .read(ReaderPool::Point, move |tx| {
            boxed!({
                let sql = format!("{SELECT} where id = $1 and revoked is null");
                Ok(tx.row(&sql, &params![&key], from_row).await?)
            })
        })
        .await?;
    let client = Arc::new(found.ok_or_else(unknown)?);
    core.clients.0.insert(id.clone(), (now, client.clone()));
    Ok(client)
}

/// Whether a client was revoked. It is read from the catalogue, never from memory: who looks after a write misses no
/// revocation before it.
pub(crate) async fn is_revoked(core: &Core, id: &ClientId) -> Result<bool> {
    let key = id.clone();
    core.store
        .catalog()
        .read(ReaderPool::Point, move |tx| {
            boxed!({
                let sql = "select 1 from stoa.client where id = $1 and revoked is null";
                Ok(tx.row(sql, &params![&key], |_| Ok(())).await?.is_none())
            })
        })
        .await
}

/// What [`Identity::client_list`] does.
pub(crate) async fn list(core: &Core, site: &SiteId) -> Result<Vec<Client>> {
    let site = site.clone();
    core.store
        .catalog()
        .read(ReaderPool::Point, move |tx| {
            boxed!({
                let sql = format!("{SELECT} where site = $1 and revoked is null order by created, id");
                Ok(tx.rows(&sql, &params![&site], from_row).await?)
            })
        })
        .await
}

/// The front end that stands for its site where nothing names another: one of the site's own.
pub(crate) async fn first(core: &Core, site: &SiteId) -> Result<Option<Client>> {
    Ok(list(core, site).await?.into_iter().find(|it| !it.is_third_party))
}

const SELECT: &str = "select id, site, name, redirect_uris, origins, secret_hash, created, revoked, scopes, \
                      third_party from stoa.client";

fn from_row(row: &Row<'_>) -> Result<Client, stoa_store::Error> {
    let list = |text: &str| serde_json::from_str::<Vec<String>>(text).unwrap_or_default();
    Ok(Client {
        id: ClientId::from(row.text(0)?),
        site: SiteId::from(row.text(1)?),
        name: row.get(2)?,
        redirect_uris: list(row.text(3)?),
        origins: list(row.text(4)?),
        secret_hash: row.get(5)?,
        created: row.get(6)?,
        revoked: row.get(7)?,
        scopes: row.get::<Option<String>>(8)?.as_deref().map(Scopes::among),
        is_third_party: row.get(9)?,
    })
}

fn json_list(list: &[String]) -> String {
    serde_json::Value::from(list).to_string()
}

/// A name for people: 1 to 100 characters after trimming, none of which controls how those beside it are shown.
pub(crate) fn check_name(name: &str) -> Result<String> {
    let name = name.trim();
    let refuse = |rule, why| Err(Fault::invalid(vec![Violation::new("name", rule, why)]));
    match name.chars().count() {
        0 => Err(Fault::new(Code::NameEmpty)),
        101.. => refuse("MAX_LENGTH", "a name has at most 100 characters"),
        _ if name.chars().any(controls_text) => {
            refuse("FORMAT", "a name has no control characters, nor such that change the direction of writing")
        }
        _ => Ok(name.to_owned()),
    }
}

/// Whether a character changes how a question reads in which a name stands: line ends and the like, and the marks,
/// embeddings, overrides and isolates of bidirectional text (Unicode Standard Annex 9, section 2).
fn controls_text(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// An address that codes may be sent to: absolute, without fragment, and not in clear text except on
/// this machine. An app's own scheme must contain a dot (RFC 8252 section 7.1).
fn check_redirect_uri(uri: &str) -> Result<(), String> {
    let url = Url::parse(uri).map_err(|it| format!("{uri:?} is not an absolute address: {it}"))?;
    if uri.contains('#') {
        return Err(format!("{uri:?} has a fragment"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(format!("{uri:?} holds a user name"));
    }
    if uri.len() > 2048 || uri.chars().any(|it| it.is_control() || it.is_whitespace()) {
        return Err("the address is too long or holds white space".to_owned());
    }
    match url.scheme() {
        "https" => Ok(()),
        "http" if is_loopback(&url) => Ok(()),
        "http" => Err(format!("{uri:?} is not https")),
        scheme if scheme.contains('.') => Ok(()),
        scheme => Err(format!("the scheme {scheme:?} can't be registered")),
    }
}

/// The origin of a web address as browsers write it.
fn origin_of(address: &str) -> Option<String> {
    let url = Url::parse(address).ok()?;
    let origin = url.origin();
    (matches!(url.scheme(), "http" | "https") && origin.is_tuple()).then(|| origin.ascii_serialization())
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(url::Host::Ipv4(it)) => it.is_loopback(),
        Some(url::Host::Ipv6(it)) => it.is_loopback(),
        Some(url::Host::Domain(it)) => it == "localhost" || it.ends_with(".localhost"),
        None => false,
    }
}

/// Two clear-text loopback addresses that differ in nothing but the port.
fn is_same_but_port(registered: &str, given: &str) -> bool {
    let parse = |it: &str| {
        let mut url = Url::parse(it).ok()?;
        let is_local = url.scheme() == "http" && is_loopback(&url);
        // What Url::parse tidied up was not the same text.
        let is_plain = it == url.as_str() || format!("{it}/") == url.as_str();
        (is_local && is_plain && url.set_port(None).is_ok()).then_some(url)
    };
    matches!((parse(registered), parse(given)), (Some(a), Some(b)) if a == b)
}

/// A client of this site.
///
/// # Errors
/// [`Code::ClientUnknown`], also for a client of another site.
pub(crate) async fn of_site(core: &Core, site: &Site, id: &ClientId) -> Result<Arc<Client>> {
    let client = get(core, id).await?;
    if client.site == site.id { Ok(client) } else { Err(Fault::new(Code::ClientUnknown)) }
}

/// A return address, when it may be used: of the client's origins, or of this server itself.
///
/// # Errors
/// [`Code::RedirectRefused`].
pub(crate) fn return_url(client: Option<&Client>, url: Option<&str>, base_url: &str) -> Result<Option<String>> {
    let Some(url) = url.filter(|it| !it.is_empty()) else { return Ok(None) };
    if client.is_some_and(|it| it.allows_return(url)) {
        return Ok(Some(url.to_owned()));
    }
    match crate::address::same_origin(url, [base_url]) {
        Some(_) => Ok(Some(url.to_owned())),
        None => Err(Fault::new(Code::RedirectRefused)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(uris: &[&str], origins: &[&str]) -> Client {
        Client {
            id: "c".into(),
            site: "s".into(),
            name: "Front end".to_owned(),
            redirect_uris: uris.iter().map(|it| (*it).to_owned()).collect(),
            origins: origins.iter().map(|it| (*it).to_owned()).collect(),
            secret_hash: None,
            is_third_party: false,
            scopes: None,
            created: 0,
            revoked: None,
        }
    }

    #[test]
    fn redirects_match_as_text() {
        let it = client(&["https://app.example.org/cb", "http://127.0.0.1:3000/cb", "http://localhost/cb?x=1"], &[]);
        for good in [
            "https://app.example.org/cb",
            "http://127.0.0.1:3000/cb",
            "http://127.0.0.1:49152/cb",
            "http://localhost:8080/cb?x=1",
        ] {
            assert!(it.allows_redirect(good), "{good}");
        }
        for bad in [
            "https://app.example.org/cb/",
            "https://app.example.org/cb?x=1",
            "https://app.example.org/cb#f",
            "https://app.example.org:444/cb",
            "https://APP.example.org/cb",
            "http://app.example.org/cb",
            "https://app.example.org/x/../cb",
            "https://app.example.org@evil.example/cb",
            "http://127.0.0.1:3000/cb2",
            "http://127.0.0.1:3000/x/../cb",
            "http://user@127.0.0.1:3000/cb",
            "http://127.0.0.2:3000/cb",
            "http://localhost/cb",
            "",
        ] {
            assert!(!it.allows_redirect(bad), "{bad}");
        }
    }

    #[test]
    fn origins_and_returns() {
        let it = client(&["https://app.example.org/cb"], &["https://www.example.org"]);
        assert!(it.allows_origin("https://www.example.org") && it.allows_origin("https://app.example.org"));
        assert!(!it.allows_origin("https://www.example.org:8443") && !it.allows_origin("null"));
        assert!(!it.allows_origin("https://www.example.org.evil.example") && !it.allows_origin(""));
        assert!(it.allows_return("https://www.example.org/after?x=1#y"));
        for bad in
            ["https://evil.example/", "javascript:alert(1)", "//www.example.org", "/x", "https://a@www.example.org/"]
        {
            assert!(!it.allows_return(bad), "{bad}");
        }
    }

    #[test]
    fn grants_follow_whose_client_it_is() {
        let own = client(&[], &[]);
        let bound = Client { scopes: Some(Scopes::among("items:read members:read")), ..client(&[], &[]) };
        let others = Client { is_third_party: true, ..bound.clone() };
        let text = |it: &Client, asked: Option<&str>| {
            let asked = asked.and_then(|it| Scopes::asked(it).expect("scopes"));
            it.grant(asked.as_ref()).map(|it| it.to_string())
        };
        for whole in [None, Some(""), Some("offline_access"), Some("openid email")] {
            assert_eq!(text(&own, whole), None, "{whole:?}");
            assert_eq!(text(&bound, whole).as_deref(), Some("items:read members:read"), "{whole:?}");
            assert_eq!(text(&others, whole).as_deref(), Some(""), "{whole:?}");
        }
        let asked = Some("offline_access items:write site:read");
        assert_eq!(text(&own, asked).as_deref(), Some("items:write site:read"));
        assert_eq!(text(&bound, asked).as_deref(), Some("items:read"));
        assert_eq!(text(&others, asked).as_deref(), Some("items:read"));
        // One of others that lost its scopes can do nothing, not everything.
        let without = Client { scopes: None, ..others };
        assert_eq!(without.bound(), Some(Scopes::default()));
        assert_eq!(text(&without, asked).as_deref(), Some(""));
    }

    #[test]
    fn name_stays_in_its_place() {
        for good in ["Ledger", " Ledger ", "دفتر", "פנקס 2", "帳簿", "Crème & Co.", "👩\u{200d}💻"] {
            assert_eq!(check_name(good).ok().as_deref(), Some(good.trim()), "{good}");
        }
        for bad in [
            "\0",
            "a\u{202e}b",
            "a\u{2066}b",
            "a\u{2069}b",
            "a\u{200f}b",
            "a\u{61c}b",
            "a\nb",
            "a\u{2028}b",
            "a\u{85}b",
        ] {
            assert!(check_name(bad).is_err(), "{bad:?}");
        }
        assert!(check_name(&"a".repeat(100)).is_ok() && check_name(&"a".repeat(101)).is_err());
    }

    #[test]
    fn redirect_uri_that_can_be_registered() {
        for good in ["https://a.example/cb", "http://localhost:4400/", "http://[::1]/cb", "org.example.app:/cb"] {
            assert_eq!(check_redirect_uri(good), Ok(()), "{good}");
        }
        for bad in [
            "http://a.example/cb",
            "https://a.example/#x",
            "javascript:alert(1)",
            "data:x",
            "/cb",
            "",
            "https://u:p@a.example/",
        ] {
            assert!(check_redirect_uri(bad).is_err(), "{bad}");
        }
    }
}
