//! Sessions and the three opaque tokens that stand for them.
//!
//! - `sessionToken` says for a few minutes, once, that a member has just signed in. Login, registration
//!   and the like answer with one; the authorize page and the `authorized_client` grant take it. No
//!   session exists until then.
//! - The cookie stands for the session of a browser on this server's own pages: a root session.
//! - A refresh token stands for the session of one client. When the client got it through a browser's
//!   session it has that session as its root; all sessions with one root are a family and end together.
//!
//! A session in which an owner acts as the member (decision 54) has a token that nothing stands for: it can't be shown, so
//! nothing but the one access token ever comes of it.
//!
//! Access tokens name the session they were made in, so ending a session refuses them (`revocation`).

pub(crate) mod impersonation;
mod list;
mod place;
pub(crate) mod visitor_merge;

pub use impersonation::Impersonation;
pub use list::{Ending, ListedImpersonation, SignedIn};
pub use place::{Place, Places};

use crate::{
    Core, Identity,
    browser::Browser,
    member,
    token::{self, Access, Kind, revocation},
};
use std::sync::Arc;
use stoa_kernel::{
    Caller, ClientId, Code, Fault, MemberId, Millis, Result, Scopes, Secret, SessionId, SiteId, TokenHash, UserId,
    VisitorId,
};
use stoa_sql::params;
use stoa_store::{ReaderPool, Site, Tx, TxFuture, boxed};

/// A session's last use is recorded at most this often.
const USE_STEP: Millis = 3_600_000;

/// A session that has not ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    pub id: SessionId,
    /// The first session of the family; its own id when it is that one.
    pub root: SessionId,
    pub member: MemberId,
    pub client: Option<ClientId>,
    /// The visitor that the member was before.
    pub visitor: Option<VisitorId>,
    pub created: Millis,
    pub used: Millis,
    /// Each refresh replaces the token by another one.
    pub rotates: bool,
    /// What its tokens are held to; nothing when they have the member's whole right.
    pub scopes: Option<Scopes>,
}

/// What a session is made from.
#[derive(Debug, Clone)]
pub struct NewSession {
    pub member: MemberId,
    pub client: Option<ClientId>,
    /// The browser's session; without it the new one is a root.
    pub root: Option<SessionId>,
    pub visitor: Option<VisitorId>,
    /// What it is held to; nothing when it has the member's whole right.
    pub scopes: Option<Scopes>,
}

/// What a `sessionToken` stood for.
pub(crate) struct RedeemedToken {
    pub member: MemberId,
    pub visitor: Option<VisitorId>,
    /// What the app was held to that vouched for the member.
    pub scopes: Option<Scopes>,
    /// Whether no second factor is to be asked again in the browser where the sign-in ends.
    pub remembers: bool,
}

impl Session {
    /// The caller of access tokens made in this session.
    pub fn caller(&self) -> Caller {
        let caller = Caller::Member { id: self.member.clone(), session: self.id.clone(), client: self.client.clone() };
        caller.held_to(self.scopes.as_ref())
    }
}

impl Identity {
    /// Makes a session inside a transaction; `kind` is [`Kind::Cookie`] or [`Kind::Refresh`]. The
    /// secret is the cookie's value or the refresh token.
    ///
    /// # Errors
    /// [`stoa_kernel::Code::MemberBlocked`] when the member may not sign in.
    pub async fn session_create(
        &self,
        tx: &mut Tx<'_>,
        site: &Site,
        kind: Kind,
        new: &NewSession,
    ) -> Result<(Session, Secret)> {
        create(&self.core, tx, site, kind, new).await
    }

    /// Takes a `sessionToken` inside a transaction: who signed in, and as which visitor. It works once;
    /// `None` when it is unknown, used, expired or of another site.
    pub async fn session_token_redeem(
        &self,
        tx: &mut Tx<'_>,
        site: &Site,
        token: &str,
    ) -> Result<Option<(MemberId, Option<VisitorId>)>> {
        let redeemed = redeem_token(&self.core, tx, site, token).await?;
        Ok(redeemed.map(|it| (it.member, it.visitor)))
    }

    /// The browser's session that a cookie stands for; `None` when there is none (any more).
    pub async fn session_by_cookie(&self, site: &Site, cookie: &str) -> Result<Option<Session>> {
        by_cookie(&self.core, site, cookie).await
    }

    /// An access token of a browser's session, with the member's whole right: for the pages of this server.
    pub async fn session_access(&self, site: &Site, session: &Session) -> Result<Access> {
        token::issue_access(&self.core, &site.id, &session.caller(), None).await
    }

    /// Ends the whole family of a session: signing out. Its access tokens are refused from now on.
    pub async fn session_end(&self, site: &Site, session: &SessionId) -> Result<()> {
        end(&self.core, site, session).await
    }
}

/// What [`Identity::session_create`] does.
pub(crate) async fn create(
    core: &Arc<Core>,
    tx: &mut Tx<'_>,
    site: &Site,
    kind: Kind,
    new: &NewSession,
) -> Result<(Session, Secret)> {
    member::require_active(tx, &site.id, &new.member).await?;
    let (id, now) = (SessionId::from(core.world().uuid()), core.now());
    let secret = token::opaque(core.world(), kind, site.number);
    let session = Session {
        root: new.root.clone().unwrap_or_else(|| id.clone()),
        id,
        member: new.member.clone(),
        client: new.client.clone(),
        visitor: new.visitor.clone(),
        created: now,
        used: now,
        rotates: false,
        scopes: new.scopes.clone(),
    };
    let sql = "insert into stoa.session \
               (site, id, root, member, client, hash, visitor, created, used, expires, scopes) \
               values ($1, $2, $3, $4, $5, $6, $7, $8, $8, $9, $10)";
    let values = params![
        &site.id,
        &session.id,
        &session.root,
        &session.member,
        session.client.as_ref(),
        TokenHash::of(secret.expose()),
        session.visitor.as_ref(),
        now,
        now + core.config().session_life,
        session.scopes.as_ref().map(Scopes::to_string)
    ];
    tx.send(sql, values).await?;
    visitor_merge::merge(core, tx, site, &session.member, session.visitor.as_ref()).await?;
    Ok((session, secret))
}

/// What a `sessionToken` is to stand for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NewToken<'a> {
    pub member: &'a MemberId,
    pub visitor: Option<&'a VisitorId>,
    /// What the app is held to that vouched for the member.
    pub scopes: Option<&'a Scopes>,
    /// Whether no second factor is to be asked again in the browser where the sign-in ends.
    pub remembers: bool,
}

/// Makes a `sessionToken` inside a transaction.
pub(crate) async fn issue_token(core: &Core, tx: &mut Tx<'_>, site: &Site, new: NewToken<'_>) -> Result<Secret> {
    let NewToken { member, visitor, scopes, remembers } = new;
    let secret = token::opaque(core.world(), Kind::Session, site.number);
    let expires = core.now() + core.config().session_token_life;
    let sql = "insert into stoa.session_token (site, hash, member, visitor, expires, scopes, remembers) \
               values ($1, $2, $3, $4, $5, $6, $7)";
    let hash = TokenHash::of(secret.expose());
    let scopes = scopes.map(Scopes::to_string);
    tx.send(sql, params![&site.id, hash, member, visitor, expires, scopes, i64::from(remembers)]).await?;
    Ok(secret)
}

/// What [`Identity::session_token_redeem`] does. One that is held to scopes counts as none: what is made of it here is
/// a browser's session, which has the member's whole right.
pub(crate) async fn redeem_token(
    core: &Core,
    tx: &mut Tx<'_>,
    site: &Site,
    token: &str,
) -> Result<Option<RedeemedToken>> {
    let redeemed = redeem_held_token(core, tx, site, token).await?;
    Ok(redeemed.filter(|it| it.scopes.is_none()))
}

/// The same for what keeps a session to the scopes of the token.
pub(crate) async fn redeem_held_token(
    core: &Core,
    tx: &mut Tx<'_>,
    site: &Site,
    token: &str,
) -> Result<Option<RedeemedToken>> {
    if token::site_number(Kind::Session, token) != Some(site.number) {
        return Ok(None);
    }
    let sql = "delete from stoa.session_token where site = $1 and hash = $2 returning member, visitor, expires, \
               scopes, remembers";
    let found = tx
        .row(sql, &params![&site.id, TokenHash::of(token)], |row| {
            let (visitor, scopes): (Option<String>, Option<String>) = (row.get(1)?, row.get(3)?);
            let expires: Millis = row.get(2)?;
            let redeemed = RedeemedToken {
                member: MemberId::from(row.text(0)?),
                visitor: visitor.map(VisitorId::from),
                scopes: scopes.as_deref().map(Scopes::among),
                remembers: row.get::<i64>(4)? != 0,
            };
            Ok((redeemed, expires))
        })
        .await?;
    let now = core.now();
    Ok(found.filter(|it| it.1 > now).map(|it| it.0))
}

/// What [`Identity::session_by_cookie`] does.
pub(crate) async fn by_cookie(core: &Core, site: &Site, cookie: &str) -> Result<Option<Session>> {
    by_secret(core, site, Kind::Cookie, cookie).await
}

pub(crate) async fn by_secret(core: &Core, site: &Site, kind: Kind, secret: &str) -> Result<Option<Session>> {
    if token::site_number(kind, secret) != Some(site.number) {
        return Ok(None);
    }
    find(core, site, TokenHash::of(secret).to_vec()).await
}

/// A session that has not ended, of a member who may sign in, by the hash of its secret.
pub(crate) async fn find(core: &Core, site: &Site, hash: Vec<u8>) -> Result<Option<Session>> {
    let (id, now) = (site.id.clone(), core.now());
    let idle_since = now - core.config().session_idle;
    let found = site
        .read(ReaderPool::Point, move |tx| {
            boxed!({
                let sql = "select s.id, s.root, s.member, s.client, s.visitor, s.created, s.used, s.rotates, s.scopes \
                           from stoa.session s join stoa.member m on m.site = s.site and m.id = s.member \
                           where s.site = $1 and s.hash = $2 and s.ended is null and s.expires > $3 \
                           and s.used > $4 and m.status = 'ACTIVE'";
                let values = params![&id, hash, now, idle_since];
                let found = tx.row(sql, &values, |row| {
                    let (client, visitor): (Option<String>, Option<String>) = (row.get(3)?, row.get(4)?);
                    Ok(Session {
                        id: SessionId::from(row.text(0)?),
                        root: SessionId::from(row.text(1)?),
                        member: MemberId::from(row.text(2)?),
                        client: client.map(ClientId::from),
                        visitor: visitor.map(VisitorId::from),
                        created: row.get(5)?,
                        used: row.get(6)?,
                        rotates: row.get(7)?,
                        scopes: row.get::<Option<String>>(8)?.as_deref().map(Scopes::among),
                    })
                });
                Ok(found.await?)
            })
        })
        .await?;
    // Revoked comes before ended, and a crash may lie between them.
    let found = found.filter(|it| !core.revocations.refuses(&[it.id.as_str()]));
    if let Some(session) = &found
        && now - session.used > USE_STEP
    {
        // A refresh must not fail because of this: the client would sign the member out.
        if let Err(fault) = record_use(site, session, now).await {
            tracing::warn!("the use of a session was not written down: {fault:?}");
        }
    }
    Ok(found)
}

/// Records that the session, and the browser's session behind it, is still in use.
async fn record_use(site: &Site, session: &Session, now: Millis) -> Result<()> {
    site.append_with((site.id.clone(), session.clone()), move |tx, (site, session)| {
        boxed!({
            let sql = "update stoa.session set used = $1 where site = $2 and (id = $3 or id = $4) and used < $1";
            tx.send(sql, params![now, site, &session.id, &session.root]).await?;
            Ok(())
        })
    })
    .await
}

/// # Errors
/// [`Code::Unauthenticated`] when the session has ended.
pub(crate) async fn require_open(tx: &mut Tx<'_>, site: &SiteId, session: &SessionId) -> Result<()> {
    let sql = "select 1 from stoa.session where site = $1 and id = $2 and ended is null";
    let open = tx.row(sql, &params![site, session], |_| Ok(())).await?;
    open.ok_or_else(|| Fault::new(Code::Unauthenticated))
}

/// What [`Identity::session_end`] does.
pub(crate) async fn end(core: &Core, site: &Site, session: &SessionId) -> Result<()> {
    let root = root(site, session).await?;
    end_all(core, site, SessionSelector::Family(root)).await
}

/// The first session of the family; the session itself when it is not known.
pub(crate) async fn root(site: &Site, session: &SessionId) -> Result<SessionId> {
    let (id, key) = (site.id.clone(), session.clone());
    let sql = "select root from stoa.session where site = $1 and id = $2";
    let root: Option<String> = site
        .read(ReaderPool::Point, move |tx| boxed!(Ok(tx.row(sql, &params![&id, &key], |row| row.get(0)).await?)))
        .await?;
    Ok(root.map_or_else(|| session.clone(), SessionId::from))
}

/// Ends sessions.
pub(crate) async fn end_all(core: &Core, site: &Site, selector: SessionSelector) -> Result<()> {
    let now = core.now();
    let input = (site.id.clone(), selector.clone());
    end_in(core, site, Some(selector), input, move |tx, (site, selector)| {
        boxed!(Ok(((), selector.end(tx, site, now).await?)))
    })
    .await
}

/// A transaction that ends sessions, and answers which beside its result. `expected` are those that it is
/// going to end: they are refused first, those that were made meanwhile afterwards.
///
/// The store lends `input` to each run of `body`, as [`Site::write_with`] does.
pub(crate) async fn end_in<I, T, F>(
    core: &Core,
    site: &Site,
    expected: Option<SessionSelector>,
    input: I,
    body: F,
) -> Result<T>
where
    I: Send + Sync + 'static,
    T: Send + 'static,
    F: for<'t> Fn(&'t mut Tx<'_>, &'t I) -> TxFuture<'t, (T, Vec<SessionId>)> + Send + Sync + 'static,
{
    let is_asked = expected.is_some();
    let before = match expected {
        Some(selector) => open(site, selector).await?,
        None => Vec::new(),
    };
    revocation::revoke(core, &before).await?;
    let (answer, mut ended) = site.write_with(input, body).await?;
    ended.retain(|it| !before.contains(it));
    revocation::revoke(core, &ended).await?;
    // Also where none was open: another node may have ended them, and still wait for the others.
    if is_asked || !ended.is_empty() {
        revocation::announce_all(core).await?;
    }
    Ok(answer)
}

async fn open(site: &Site, selector: SessionSelector) -> Result<Vec<SessionId>> {
    let id = site.id.clone();
    site.read(ReaderPool::Point, move |tx| {
        boxed!({
            let (condition, values) = selector.condition(&id, 1);
            let sql = format!("select id from stoa.session where {condition} and ended is null");
            Ok(tx.rows(&sql, &values, |row| Ok(SessionId::from(row.text(0)?))).await?)
        })
    })
    .await
}

/// A set of sessions of one site.
#[derive(Debug, Clone)]
pub(crate) enum SessionSelector {
    /// This one alone.
    One(SessionId),
    /// All with this root.
    Family(SessionId),
    /// All of a member.
    Member(MemberId),
    /// All of a member except the family with this root.
    MemberExcept(MemberId, SessionId),
    /// Those in which owners act as members.
    Impersonations,
    /// Those in which owners act as this member.
    ImpersonationsOf(MemberId),
    /// Those in which this owner acts as this member.
    ImpersonationsBy(MemberId, UserId),
    /// Those in which this owner acts as whatever member.
    ImpersonationsByOwner(UserId),
    /// All of a member with a client.
    Client(MemberId, ClientId),
}

impl SessionSelector {
    /// A condition whose parameters are numbered from `first`, and their values.
    pub(crate) fn condition(&self, site: &SiteId, first: usize) -> (String, Vec<stoa_sql::Value>) {
        let (second, third) = (first + 1, first + 2);
        let (text, values): (_, Vec<_>) = match self {
            Self::One(id) => (format!("id = ${second}"), params![site, id].into()),
            Self::Family(root) => (format!("root = ${second}"), params![site, root].into()),
            Self::Member(member) => (format!("member = ${second}"), params![site, member].into()),
            // None where the family has ended meanwhile that acts: it says nothing about the others, which may be newer.
            Self::MemberExcept(member, root) => {
                let acts = format!("select 1 from stoa.session own where own.site = ${first} and own.root = ${third}");
                let others =
                    format!("member = ${second} and root <> ${third} and exists ({acts} and own.ended is null)");
                (others, params![site, member, root].into())
            }
            Self::Impersonations => ("impersonator is not null".to_owned(), params![site].into()),
            Self::ImpersonationsOf(member) => {
                (format!("member = ${second} and impersonator is not null"), params![site, member].into())
            }
            Self::ImpersonationsBy(member, owner) => {
                (format!("member = ${second} and impersonator = ${third}"), params![site, member, owner].into())
            }
            Self::ImpersonationsByOwner(owner) => (format!("impersonator = ${second}"), params![site, owner].into()),
            Self::Client(member, client) => {
                (format!("member = ${second} and client = ${third}"), params![site, member, client].into())
            }
        };
        (format!("site = ${first} and {text}"), values)
    }

    /// Ends the sessions inside a transaction and answers which they were.
    pub(crate) async fn end(&self, tx: &mut Tx<'_>, site: &SiteId, now: Millis) -> Result<Vec<SessionId>> {
        let (condition, mut values) = self.condition(site, 2);
        values.insert(0, now.into());
        let sql = format!("update stoa.session set ended = $1 where {condition} and ended is null returning id");
        let ids = tx.rows(&sql, &values, |row| Ok(SessionId::from(row.text(0)?))).await?;
        // A sign-in that is not a session yet must not become one.
        if let Self::Member(member) | Self::MemberExcept(member, _) = self {
            end_sign_ins(tx, site, member, now).await?;
        }
        // Nor a code that the client holds. Used ones stay: their second use is seen by them.
        if let Self::Client(member, client) = self {
            let sql = "delete from stoa.code where site = $1 and member = $2 and client = $3 and session is null";
            tx.send(sql, params![site, member, client]).await?;
        }
        Ok(ids)
    }
}

/// The member's session in a browser, when there is one at this site.
pub(crate) async fn of_browser(core: &Core, site: &Site, browser: &Browser) -> Result<Option<Session>> {
    let own = browser.session.iter().find(|it| token::site_number(Kind::Cookie, it) == Some(site.number));
    match own {
        Some(cookie) => by_cookie(core, site, cookie).await,
        None => Ok(None),
    }
}

/// Ends inside a transaction the member's sign-ins that are no session yet or wait for a code or a second factor, and the browsers in
/// which no factor is asked. Their wrong codes and messages still count.
async fn end_sign_ins(tx: &mut Tx<'_>, site: &SiteId, member: &MemberId, now: Millis) -> Result<()> {
    let sql = "delete from stoa.session_token where site = $1 and member = $2";
    tx.send(sql, params![site, member]).await?;
    let sql = "update stoa.redirect_session set member = null where site = $1 and member = $2";
    tx.send(sql, params![site, member]).await?;
    let sql = "update stoa.verification set expires = $1 \
               where site = $2 and member = $3 and signs_in <> 0 and expires > $1";
    tx.send(sql, params![now, site, member]).await?;
    let sql = "update stoa.factor_guard set generation = generation + 1 where site = $1 and member = $2";
    tx.send(sql, params![site, member]).await?;
    let sql = "delete from stoa.remembered_browser where site = $1 and member = $2";
    tx.send(sql, params![site, member]).await?;
    Ok(())
}
