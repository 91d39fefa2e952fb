//! From the `Authorization` header to a [`Caller`]. The hottest path of the product.
//!
//! A token that was checked before is found again by its text: no signature, no allocation, no
//! statement, no lock that is waited for. Its age and the list of what is revoked count every time.

use crate::{
    Core, Identity,
    token::{
        self, operator_use,
        revocation::{self, Revocations},
    },
};
use quick_cache::{Equivalent, sync::Cache};
use std::{
    hash::{Hash, Hasher},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};
use stoa_kernel::{
    Caller, ClientId, Code, Fault, KeyId, Millis, Result, Role, Scopes, SessionId, SiteId, TokenHash, UserId, VisitorId,
};
use stoa_sql::params;
use stoa_store::{ReaderPool, Site, boxed};

/// An API key is read again from the catalogue after this long.
const KEY_LIFE: Millis = 60_000;

/// The role of an operator is read again after this long: a token says only which it was. So is that of an owner who acts as
/// a member, and whether that has ended.
const ROLE_LIFE: Millis = 2_000;

/// A caller whose token or key was found good.
#[derive(Debug, Clone, PartialEq)]
pub struct Authenticated {
    pub site: SiteId,
    pub caller: Caller,
    /// The client that the token was made for. Beside an API key it is the client of the visitor's token.
    pub client: Option<ClientId>,
    /// The visitor who calls, or whose token came together with an API key (docs/protocol/identity.md §4.6).
    pub visitor: Option<VisitorId>,
    /// When the token is not accepted any more, grace included. A key has no end.
    pub ends: Option<Millis>,
    /// What an application's token was given for.
    pub grant: Option<SessionId>,
}

/// A checked token with what must be checked again each time.
pub(crate) struct Verified {
    authenticated: Authenticated,
    /// Not accepted from this time on, or looked up again.
    until: Millis,
    is_looked_up: bool,
    /// [`Revocations::withdrawals`] when the role of an operator was read.
    role_read: Option<u64>,
    /// The generation of the signing keys at which it was read.
    keys: u64,
    /// The generation of the revocations at which it was last found good.
    seen: AtomicU64,
}

impl Verified {
    /// What a revocation may name: session or grant, subject, client. Where an owner acts as a member there is no client, and
    /// the owner's own session stands in its place.
    fn subjects(&self) -> [&str; 3] {
        let caller = self.authenticated.caller.bare();
        let session = match caller {
            Caller::Member { session, .. } | Caller::User { session, .. } => session.as_str(),
            Caller::App { .. } => self.authenticated.grant.as_ref().map_or("", |it| it.as_str()),
            Caller::Visitor { .. } | Caller::Scoped(_) => "",
        };
        let client = self.authenticated.client.as_ref().map(|it| it.as_str());
        let owner = self.authenticated.caller.impersonator().and_then(|it| it.session.as_ref());
        [session, caller.id(), owner.map(|it| it.as_str()).or(client).unwrap_or_default()]
    }

    /// Whether it need not be looked up again.
    fn is_current(&self, core: &Core, now: Millis) -> bool {
        let withdrawals = || core.revocations.withdrawals();
        self.keys == core.keys.generation()
            && (!self.is_looked_up || now < self.until && self.role_read.is_none_or(|it| it == withdrawals()))
    }

    fn is_refused(&self, revocations: &Revocations) -> bool {
        let generation = revocations.generation();
        if self.seen.load(Ordering::Relaxed) == generation {
            return false;
        }
        if revocations.refuses(&self.subjects()) {
            return true;
        }
        self.seen.store(generation, Ordering::Relaxed);
        false
    }
}

/// Checked tokens by their whole text.
pub(crate) struct VerifiedCache(Cache<TokenKey, Arc<Verified>>);

impl VerifiedCache {
    pub(crate) fn new(capacity: usize) -> Self {
        Self(Cache::new(capacity))
    }
}

/// A token as a key. Its last characters are the end of a signature or of random bits, so they alone
/// are hashed; equality is that of the whole text.
#[derive(PartialEq, Eq)]
struct TokenKey(Box<str>);

struct TokenText<'a>(&'a str);

fn hash_end(text: &str, state: &mut impl Hasher) {
    let bytes = text.as_bytes();
    state.write(&bytes[bytes.len().saturating_sub(24)..]);
}

impl Hash for TokenKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        hash_end(&self.0, state);
    }
}
impl Hash for TokenText<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        hash_end(self.0, state);
    }
}
impl Equivalent<TokenKey> for TokenText<'_> {
    fn equivalent(&self, key: &TokenKey) -> bool {
        *self.0 == *key.0
    }
}

/// The parts of an `Authorization` header.
#[derive(Debug, PartialEq, Eq)]
struct Header<'a> {
    token: &'a str,
    key: Option<&'a str>,
}

impl<'a> Header<'a> {
    /// Reads a raw token, `Bearer token`, `token,apiKey` and `,apiKey` (docs/protocol/identity.md §2.1).
    fn parse(text: &'a str) -> Self {
        let text = text.trim();
        let text = match text.split_at_checked(7) {
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("bearer ") => rest.trim(),
            _ => text,
        };
        match text.split_once(',') {
            Some((token, key)) => Self { token: token.trim(), key: Some(key.trim()) },
            None => Self { token: text, key: None },
        }
    }
}

impl Identity {
    /// The caller, by the `Authorization` header. `site_hint` is the header `wix-site-id`: when it is
    /// there it must name the site of the token or key.
    ///
    /// # Errors
    /// [`Code::Unauthenticated`] when there is no token or it isn't good; whatever the catalogue
    /// answers when an API key must be looked up.
    pub async fn authenticate(&self, authorization: Option<&str>, site_hint: Option<&str>) -> Result<Authenticated> {
        authenticate(&self.core, authorization, site_hint).await
    }
}

/// What [`Identity::authenticate`] does.
pub(crate) async fn authenticate(
    core: &Core,
    authorization: Option<&str>,
    site_hint: Option<&str>,
) -> Result<Authenticated> {
    let header = Header::parse(authorization.unwrap_or_default());
    let authenticated = match header.key {
        None => check(core, header.token).await?,
        Some(key) => check_joined(core, header.token, key).await?,
    };
    match site_hint {
        Some(hint) if !hint.is_empty() && hint != authenticated.site.as_str() => {
            Err(Fault::because(Code::Unauthenticated, "the token or key belongs to another site"))
        }
        _ => Ok(authenticated),
    }
}

/// `visitorToken,apiKey`: the key acts, the token says for which visitor and client.
async fn check_joined(core: &Core, token: &str, key: &str) -> Result<Authenticated> {
    let app = check(core, key).await?;
    if !matches!(app.caller.bare(), Caller::App { .. }) {
        return Err(refused());
    }
    if token.is_empty() {
        return Ok(app);
    }
    let visitor = check(core, token).await?;
    if visitor.site != app.site {
        return Err(Fault::because(Code::Unauthenticated, "the token and the key belong to different sites"));
    }
    Ok(Authenticated { client: visitor.client, visitor: visitor.visitor, ..app })
}

/// One token or key alone.
pub(crate) async fn check(core: &Core, token: &str) -> Result<Authenticated> {
    core.store.withdrawals().held().await?;
    let now = core.now();
    let cached = core.verified.0.get(&TokenText(token));
    let verified = match cached {
        Some(verified) if verified.is_current(core, now) => verified,
        _ if token.is_empty() => return Err(Fault::new(Code::Unauthenticated)),
        _ => {
            let verified = Arc::new(verify(core, token, now).await?);
            if now < verified.until {
                core.verified.0.insert(TokenKey(token.into()), verified.clone());
            }
            verified
        }
    };
    if now >= verified.until {
        return Err(Fault::because(Code::Unauthenticated, "the token has expired"));
    }
    if verified.is_refused(&core.revocations) {
        return Err(refused());
    }
    if !core.revocations.is_fresh(now) && revocation::is_revoked_in_catalog(core, verified.subjects()).await? {
        return Err(refused());
    }
    Ok(verified.authenticated.clone())
}

/// The first check of a token or key.
async fn verify(core: &Core, token: &str, now: Millis) -> Result<Verified> {
    let (seen, keys) = (AtomicU64::new(0), core.keys.generation());
    if token::site_number(token::Kind::ApiKey, token).is_some() {
        let (caller, site) = find_api_key(core, token).await?.ok_or_else(refused)?;
        let authenticated = Authenticated { site, caller, client: None, visitor: None, ends: None, grant: None };
        let until = now + KEY_LIFE;
        return Ok(Verified { authenticated, until, is_looked_up: true, role_read: None, keys, seen });
    }
    let mut claims = token::read_access(core, token).ok_or_else(refused)?;
    let ends = token::accepted_until(core, &claims);
    let mut until = ends;
    let mut role_read = None;
    if let Caller::User { id, role, session } = &mut claims.caller {
        role_read = Some(core.revocations.withdrawals());
        let standing = find_standing(core, &claims.site, id, session).await?.ok_or_else(refused)?;
        // A token that is over itself is no use of its session.
        if standing.has_ended || now < ends && !standing.shows(core, session).await {
            return Err(refused());
        }
        *role = standing.role;
        until = until.min(now + ROLE_LIFE);
    }
    if let Some(by) = claims.caller.impersonator() {
        role_read = Some(core.revocations.withdrawals());
        let none = SessionId::from("");
        let session = by.session.as_ref().unwrap_or(&none);
        let standing = find_standing(core, &claims.site, &by.owner, session).await?.ok_or_else(refused)?;
        let has_right = !standing.has_ended && standing.role == Role::Owner;
        let Caller::Member { session, .. } = claims.caller.bare() else { return Err(refused()) };
        if !has_right || !is_impersonation_open(&*core.store.site(&claims.site).await?, session, now).await? {
            return Err(refused());
        }
        until = until.min(now + ROLE_LIFE);
    }
    let visitor = match claims.caller.bare() {
        Caller::Visitor { id, .. } => Some(id.clone()),
        _ => None,
    };
    let (site, caller, client, grant) = (claims.site, claims.caller, claims.client, claims.grant);
    let authenticated = Authenticated { site, caller, client, visitor, ends: Some(ends), grant };
    let is_looked_up = role_read.is_some();
    Ok(Verified { authenticated, until, is_looked_up, role_read, keys, seen })
}

/// Whether a session in which an owner acts as a member is neither ended nor over: nothing comes of it but one access token, so
/// its row is asked, and no revocation that a crash has cut off is missed.
pub(crate) async fn is_impersonation_open(site: &Site, session: &SessionId, now: Millis) -> Result<bool> {
    let (id, session) = (site.id.clone(), session.clone());
    let sql = "select 1 from stoa.session where site = $1 and id = $2 and ended is null and expires > $3";
    let read = site.read(ReaderPool::Point, move |tx| {
        boxed!(Ok(tx.row(sql, &params![&id, &session, now], |_| Ok(())).await?.is_some()))
    });
    read.await
}

/// The App caller that a key is, held to the key's scopes.
async fn find_api_key(core: &Core, key: &str) -> Result<Option<(Caller, SiteId)>> {
    let hash = TokenHash::of(key);
    let sql = "select id, site, scopes from stoa.api_key where hash = $1 and revoked is null";
    let catalog = core.store.catalog();
    let found: Option<(String, String, Option<String>)> = catalog
        .read(ReaderPool::Point, move |tx| {
            boxed!(Ok(tx.row(sql, &params![hash], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).await?))
        })
        .await?;
    Ok(found.map(|(id, site, scopes)| {
        let scopes = scopes.as_deref().map(Scopes::among);
        (Caller::App { id: KeyId::from(id) }.held_to(scopes.as_ref()), SiteId::from(site))
    }))
}

/// How an operator stands with a site today.
struct Standing {
    role: Role,
    /// When the session was last used, where there is a row of it.
    used: Option<Millis>,
    /// The session.
    has_ended: bool,
}

impl Standing {
    /// Whether the session, which is shown, is still open.
    async fn shows(&self, core: &Core, session: &SessionId) -> bool {
        match self.used {
            Some(used) => operator_use::show(core, session, used).await,
            None => true,
        }
    }
}

async fn find_standing(core: &Core, site: &SiteId, operator: &UserId, session: &SessionId) -> Result<Option<Standing>> {
    let (site, operator, session) = (site.clone(), operator.clone(), session.clone());
    let sql = "select r.role, coalesce(s.used, s.created), s.ended is not null from stoa.person_role r \
               left join stoa.person_session s on s.id = $1 and s.person = r.person \
               where r.person = $2 and r.site = $3";
    let read = core.store.catalog().read(ReaderPool::Point, move |tx| {
        boxed!({
            let values = params![&session, &operator, &site];
            let found = tx.row(sql, &values, |row| {
                let role = if row.text(0)? == "OWNER" { Role::Owner } else { Role::Editor };
                Ok(Standing { role, used: row.get(1)?, has_ended: row.get(2)? })
            });
            Ok(found.await?)
        })
    });
    read.await
}

fn refused() -> Fault {
    Fault::new(Code::Unauthenticated)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_reads_every_form() {
        let header = |token, key| Header { token, key };
        assert_eq!(Header::parse("abc"), header("abc", None));
        assert_eq!(Header::parse("Bearer abc"), header("abc", None));
        assert_eq!(Header::parse("bearer  abc "), header("abc", None));
        assert_eq!(Header::parse("abc,k1.x"), header("abc", Some("k1.x")));
        assert_eq!(Header::parse(",k1.x"), header("", Some("k1.x")));
        assert_eq!(Header::parse(""), header("", None));
        assert_eq!(Header::parse("Bearer"), header("Bearer", None));
        assert_eq!(Header::parse("ünïcödé"), header("ünïcödé", None));
    }
}
