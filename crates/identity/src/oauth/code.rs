//! Authorization codes: bound to client, address and challenge, short-lived, used once.

use crate::{
    Core, Identity,
    client::Client,
    oauth::{TokenRequest, authorization::Authorization, consent, pkce},
    session::{self, NewSession, Session, SessionSelector},
    token::{self, Kind},
};
use std::sync::Arc;
use stoa_kernel::{ClientId, Code, Fault, MemberId, Millis, Result, Scopes, Secret, SessionId, TokenHash, VisitorId};
use stoa_sql::params;
use stoa_store::{Site, Tx, boxed};

/// Sessions that one member may have with one client at a time.
const MOST: i64 = 50;
/// Of those beyond, this many end with one code: there are more only if a limit was lowered.
const ENDED_AT_ONCE: i64 = 10;

/// What a code is made from: the authorize page has checked client, address and challenge.
#[derive(Debug, Clone)]
pub struct NewCode {
    pub client: ClientId,
    pub member: MemberId,
    /// The browser's session ([`Session::root`]) that the client's session will belong to.
    pub root: SessionId,
    pub visitor: Option<VisitorId>,
    /// Absent in the direct-login flow, which has none (docs/protocol/identity.md §5.3).
    pub redirect_uri: Option<String>,
    /// Whether it was asked for as the standard says, by a client that takes new refresh tokens.
    pub rotates: bool,
    /// The S256 challenge. Without one only a client with a secret can use the code.
    pub challenge: Option<String>,
    /// What the client's session is held to; nothing when it has the member's whole right.
    pub scopes: Option<Scopes>,
}

/// A stored code.
struct Stored {
    new: NewCode,
    expires: Millis,
    /// The session it was exchanged for.
    session: Option<SessionId>,
}

/// What an exchange found. Not an error, so that what it writes is kept.
enum Exchange {
    /// Sessions in `surplus` are to end for it.
    Done {
        session: Session,
        refresh: Secret,
        surplus: Vec<SessionId>,
    },
    /// The code was used before, for this session.
    Used(SessionId),
    Refused(&'static str),
}

impl Identity {
    /// Makes a code inside a transaction.
    pub async fn code_issue(&self, tx: &mut Tx<'_>, site: &Site, new: &NewCode) -> Result<Secret> {
        issue(&self.core, tx, site, new).await
    }
}

/// What [`Identity::code_issue`] does.
pub(crate) async fn issue(core: &Core, tx: &mut Tx<'_>, site: &Site, new: &NewCode) -> Result<Secret> {
    let code = token::opaque(core.world(), Kind::Code, site.number);
    let sql = "insert into stoa.code (site, hash, client, member, root, visitor, redirect_uri, challenge, expires, \
               rotates, scopes) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";
    let values = params![
        &site.id,
        TokenHash::of(code.expose()),
        &new.client,
        &new.member,
        &new.root,
        new.visitor.as_ref(),
        new.redirect_uri.clone(),
        new.challenge.clone(),
        core.now() + core.config().code_life,
        new.rotates,
        new.scopes.as_ref().map(Scopes::to_string)
    ];
    tx.send(sql, values).await?;
    Ok(code)
}

/// A code for the member of a browser's session, as the client asked for it; none for a client of others when the member has
/// not agreed to all that it asks for.
pub(crate) async fn issue_for(
    core: &Core,
    tx: &mut Tx<'_>,
    site: &Site,
    request: &Authorization,
    (member, root): (&MemberId, &SessionId),
) -> Result<Option<Secret>> {
    if !consent::covers(tx, &site.id, request, member).await? {
        return Ok(None);
    }
    let new = NewCode {
        client: request.client.clone(),
        member: member.clone(),
        root: root.clone(),
        visitor: request.visitor.clone(),
        rotates: request.rotates,
        redirect_uri: request.redirect_uri.clone(),
        challenge: request.challenge.clone(),
        scopes: request.granted(),
    };
    issue(core, tx, site, &new).await.map(Some)
}

/// Exchanges a code for a client's session. A second use is refused; when it is right in all but
/// that it ends the session that the first one made (RFC 9700 section 4.2; also when many use it at
/// the same time). One who has nothing but the code ends no session.
///
/// # Errors
/// [`Code::OauthInvalidGrant`].
pub(crate) async fn redeem(
    core: &Arc<Core>,
    site: &Arc<Site>,
    client: &Client,
    code: &str,
    request: &TokenRequest,
) -> Result<(Session, Secret)> {
    let exchange = site
        .write_with(
            (core.clone(), site.clone(), TokenHash::of(code), client.clone(), request.clone()),
            move |tx, (core, site, hash, client, request)| {
                boxed!({
                    let Some(stored) = find(tx, site, hash).await? else {
                        return Ok(Exchange::Refused("the code is not known"));
                    };
                    if let Err(why) = check(&stored.new, client, request) {
                        return Ok(Exchange::Refused(why));
                    }
                    if let Some(session) = stored.session {
                        return Ok(Exchange::Used(session));
                    }
                    if core.now() >= stored.expires {
                        return Ok(Exchange::Refused("the code has expired"));
                    }
                    let (rotates, of_others) = (stored.new.rotates, client.is_third_party);
                    let NewCode { member, client, root, visitor, scopes, .. } = stored.new;
                    if !is_open(tx, site, &root).await? {
                        return Ok(Exchange::Refused("the session has ended"));
                    }
                    if of_others && !consent::allows(tx, &site.id, &member, (&client, scopes.as_ref())).await? {
                        return Ok(Exchange::Refused("the member has not agreed to it"));
                    }
                    let new = NewSession { member, client: Some(client), root: Some(root), visitor, scopes };
                    let (mut session, refresh) = match session::create(core, tx, site, Kind::Refresh, &new).await {
                        Err(fault) if fault.code() == Code::MemberBlocked => {
                            return Ok(Exchange::Refused("the member may not sign in"));
                        }
                        made => made?,
                    };
                    if rotates {
                        session.rotates = true;
                        let sql = "update stoa.session set rotates = 1 where site = $1 and id = $2";
                        tx.send(sql, params![&site.id, &session.id]).await?;
                    }
                    let sql = "update stoa.code set session = $1 where site = $2 and hash = $3";
                    tx.send(sql, params![&session.id, &site.id, hash]).await?;
                    let surplus = surplus(tx, site, &session).await?;
                    Ok(Exchange::Done { session, refresh, surplus })
                })
            },
        )
        .await?;
    let refused = |why: &str| Fault::new(Code::OauthInvalidGrant).logged(why);
    match exchange {
        Exchange::Done { session, refresh, surplus } => {
            // Should it come to nothing here, the next exchange finds them again.
            for id in surplus {
                session::end_all(core, site, SessionSelector::One(id)).await?;
            }
            Ok((session, refresh))
        }
        Exchange::Refused(why) => Err(refused(why)),
        Exchange::Used(session) => {
            session::end_all(core, site, SessionSelector::One(session)).await?;
            Err(refused("the code was used before; the session it made is ended"))
        }
    }
}

async fn find(tx: &mut Tx<'_>, site: &Site, hash: &TokenHash) -> Result<Option<Stored>> {
    let sql = "select client, member, root, visitor, redirect_uri, challenge, expires, session, rotates, scopes \
               from stoa.code where site = $1 and hash = $2";
    let values = params![&site.id, hash];
    let stored = tx.row(sql, &values, |row| {
        let (visitor, session): (Option<String>, Option<String>) = (row.get(3)?, row.get(7)?);
        Ok(Stored {
            new: NewCode {
                client: ClientId::from(row.text(0)?),
                member: MemberId::from(row.text(1)?),
                root: SessionId::from(row.text(2)?),
                visitor: visitor.map(VisitorId::from),
                redirect_uri: row.get(4)?,
                challenge: row.get(5)?,
                rotates: row.get(8)?,
                scopes: row.get::<Option<String>>(9)?.as_deref().map(Scopes::among),
            },
            expires: row.get(6)?,
            session: session.map(SessionId::from),
        })
    });
    Ok(stored.await?)
}

/// Whether the code is this client's, and the client has shown that it asked for it.
fn check(code: &NewCode, client: &Client, request: &TokenRequest) -> Result<(), &'static str> {
    if code.client != client.id {
        return Err("the code was made for another client");
    }
    if code.redirect_uri.is_some() && code.redirect_uri != request.redirect_uri {
        return Err("the redirect address is another one");
    }
    match (&code.challenge, &request.code_verifier) {
        (Some(challenge), Some(verifier)) if pkce::fits(verifier, challenge) => Ok(()),
        (Some(_), _) => Err("the code verifier is missing or wrong"),
        (None, Some(_)) => Err("the code was asked for without a challenge"),
        // The secret, when one is sent, was compared before.
        (None, None) if request.client_secret.is_some() => Ok(()),
        (None, None) => Err("a public client needs a code verifier"),
    }
}

/// The oldest sessions that the member has with the client beyond [`MOST`], never the new one.
async fn surplus(tx: &mut Tx<'_>, site: &Site, new: &Session) -> Result<Vec<SessionId>> {
    let sql = "select id from stoa.session where site = $1 and member = $2 and client = $3 and id <> $4 \
               and ended is null order by created desc, id desc limit $5 offset $6";
    let values = params![&site.id, &new.member, new.client.as_ref(), &new.id, ENDED_AT_ONCE, MOST - 1];
    Ok(tx.rows(sql, &values, |row| Ok(SessionId::from(row.text(0)?))).await?)
}

/// Whether the browser's session through which the code was made still lives.
async fn is_open(tx: &mut Tx<'_>, site: &Site, root: &SessionId) -> Result<bool> {
    let sql = "select 1 from stoa.session where site = $1 and id = $2 and ended is null";
    Ok(tx.row(sql, &params![&site.id, root], |_| Ok(())).await?.is_some())
}
