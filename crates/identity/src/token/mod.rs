//! Tokens: signed ones, checked without a database, and opaque ones, of which only the hash is kept.
//!
//! Access tokens (every caller) and visitors' refresh tokens are signed. Everything else (`sessionToken`,
//! members' refresh tokens, cookies, codes, API keys, links) is opaque: a letter for its kind, the short
//! id of its site, a dot and 256 random bits, for example `r1.0Jq…`; of a refresh token that came by
//! rotation 128 of them say which session it is of (`oauth::rotation`). A signed token has two dots, an
//! opaque one has one, and neither ever holds a comma or white space (docs/protocol/identity.md §4.5).

pub mod authenticate;
pub mod key_lease;
pub(crate) mod opaque;
pub(crate) mod operator_use;
pub(crate) mod revocation;
pub mod signing;
pub mod signing_rotation;
pub(crate) mod site_names;

pub use opaque::{Kind, opaque, site_number};
pub(crate) use opaque::{decode, encode, site_of};

use crate::{
    Core, Identity,
    limits::{IMPERSONATION_LIFE, LONGEST_VISITOR},
    token::signing::Purpose,
};

use serde::{Deserialize, Serialize};
use stoa_kernel::{
    Caller, ClientId, Impersonator, KeyId, MemberId, Millis, Result, Role, Scopes, SessionId, SiteId, UserId, VisitorId,
};

/// An access token and the seconds it lives.
#[derive(Debug, Clone)]
pub struct Access {
    pub token: String,
    pub expires_in: i64,
    /// What it is held to; nothing when it has all that its caller may do.
    pub scopes: Option<Scopes>,
}

/// What an access token says.
#[derive(Debug, Clone, PartialEq)]
pub struct AccessClaims {
    pub site: SiteId,
    /// Held to the scopes of the token.
    pub caller: Caller,
    pub client: Option<ClientId>,
    /// What an application's token was given for: it can be taken back by this.
    pub grant: Option<SessionId>,
    /// UTC seconds.
    pub issued: i64,
    /// UTC seconds.
    pub expires: i64,
}

/// What a visitor's refresh token says.
#[derive(Debug, Clone, PartialEq)]
pub struct VisitorClaims {
    pub site: SiteId,
    pub visitor: VisitorId,
    pub client: Option<ClientId>,
    /// When the token was made, to a second.
    pub issued: Millis,
    /// Whether it says when it ends. Those of earlier versions don't.
    pub has_end: bool,
}

/// The claims as they are written. `aud` is the site, `knd` the kind of caller, `scp` what the token is held to, `act` the owner
/// who acts as its subject.
///
/// `iss` is for others who check a token. It is not compared here: our own key has signed it, `aud` tells the site, and
/// a site whose address changes keeps its visitors. Tokens made before sites had an issuer of their own say `stoa`.
#[derive(Serialize, Deserialize)]
struct Claims {
    iss: String,
    aud: SiteId,
    sub: String,
    knd: Knd,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sid: Option<SessionId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cid: Option<ClientId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rol: Option<Role>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    scp: Option<String>,
    /// The owner who acts as the member (RFC 8693, section 4.1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    act: Option<Act>,
    iat: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    exp: Option<i64>,
}

/// Who acts as the subject of a token, and the session in which they asked for it.
#[derive(Serialize, Deserialize)]
struct Act {
    sub: UserId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sid: Option<SessionId>,
}

#[derive(Serialize, Deserialize, Clone, Copy, PartialEq, Eq)]
enum Knd {
    #[serde(rename = "v")]
    Visitor,
    #[serde(rename = "m")]
    Member,
    #[serde(rename = "u")]
    User,
    #[serde(rename = "a")]
    App,
}

impl Identity {
    /// An access token for the caller, held to what the caller is held to. Nothing is stored.
    pub async fn access_issue(&self, site: &SiteId, caller: &Caller, client: Option<&ClientId>) -> Result<Access> {
        issue_access(&self.core, site, caller, client).await
    }
}

/// What [`Identity::access_issue`] does.
pub(crate) async fn issue_access(
    core: &Core,
    site: &SiteId,
    caller: &Caller,
    client: Option<&ClientId>,
) -> Result<Access> {
    sign_access(core, site, caller, client, None).await
}

/// An access token for a client in its own name, given for an installation or once, held to these scopes.
pub(crate) async fn issue_app_access(
    core: &Core,
    site: &SiteId,
    client: &ClientId,
    grant: &SessionId,
    scopes: Option<&Scopes>,
) -> Result<Access> {
    let caller = Caller::App { id: KeyId::from(client.as_str()) }.held_to(scopes);
    sign_access(core, site, &caller, Some(client), Some(grant)).await
}

async fn sign_access(
    core: &Core,
    site: &SiteId,
    caller: &Caller,
    client: Option<&ClientId>,
    grant: Option<&SessionId>,
) -> Result<Access> {
    let (knd, sid, rol) = match caller.bare() {
        Caller::Visitor { .. } => (Knd::Visitor, None, None),
        Caller::Member { session, .. } => (Knd::Member, Some(session), None),
        Caller::User { role, session, .. } => (Knd::User, Some(session), Some(*role)),
        Caller::App { .. } | Caller::Scoped(_) => (Knd::App, grant, None),
    };
    let impersonator = caller.impersonator();
    let longest = if impersonator.is_some() { IMPERSONATION_LIFE } else { Millis::MAX };
    let (now, life) = (core.now().div_euclid(1000), core.config().access_life.min(longest) / 1000);
    let claims = Claims {
        iss: site_names::issuer(core, site).await?,
        aud: site.clone(),
        sub: caller.id().to_owned(),
        knd,
        sid: sid.cloned(),
        cid: client.cloned(),
        rol,
        scp: caller.scopes().map(Scopes::to_string),
        act: impersonator.map(|it| Act { sub: it.owner.clone(), sid: it.session.clone() }),
        iat: now,
        exp: Some(now + life),
    };
    let scopes = caller.scopes().cloned();
    Ok(Access { token: core.keys.sign(Purpose::Access, &claims)?, expires_in: life, scopes })
}

/// Reads an access token: signature and form, not its age and not whether it was revoked.
pub(crate) fn read_access(core: &Core, token: &str) -> Option<AccessClaims> {
    let (claims, key_ends) = core.keys.verify_until(Purpose::Access, token)?;
    let claims: Claims = serde_json::from_slice(&claims).ok()?;
    // A key that leaked may have signed any end.
    let expires = claims.exp?.min(key_ends.div_euclid(1000));
    let client = claims.cid;
    let mut grant = None;
    let caller = match claims.knd {
        Knd::Visitor => Caller::Visitor { id: VisitorId::from(claims.sub), client: client.clone() },
        Knd::Member => Caller::Member { id: MemberId::from(claims.sub), session: claims.sid?, client: client.clone() },
        // Operators are never held: what they may do is looked up with each token.
        Knd::User if claims.scp.is_some() => return None,
        Knd::User => Caller::User { id: UserId::from(claims.sub), role: claims.rol?, session: claims.sid? },
        Knd::App => {
            grant = claims.sid;
            Caller::App { id: KeyId::from(claims.sub) }
        }
    };
    let scopes = claims.scp.as_deref().map(Scopes::among);
    let caller = match claims.act {
        None => caller.held_to(scopes.as_ref()),
        // Only members are acted for, and never with more than scopes leave.
        Some(act) if claims.knd == Knd::Member => {
            caller.impersonated(Impersonator { owner: act.sub, session: act.sid }, &scopes?)
        }
        Some(_) => return None,
    };
    Some(AccessClaims { site: claims.aud, caller, client, grant, issued: claims.iat, expires })
}

/// A refresh token of a visitor of this site, from now on.
pub(crate) async fn issue_visitor_refresh(
    core: &Core,
    site: &SiteId,
    visitor: &VisitorId,
    client: Option<&ClientId>,
) -> Result<String> {
    let (now, life) = (core.now().div_euclid(1000), core.config().visitor_life / 1000);
    let claims = Claims {
        iss: site_names::issuer(core, site).await?,
        aud: site.clone(),
        sub: visitor.as_str().to_owned(),
        knd: Knd::Visitor,
        sid: None,
        cid: client.cloned(),
        rol: None,
        scp: None,
        act: None,
        iat: now,
        exp: Some(now + life),
    };
    core.keys.sign(Purpose::Visitor, &claims)
}

/// Reads a visitor's refresh token; nothing when it is none, or has ended: when it says so, or earlier where lives are
/// shorter by now. One of an earlier version doesn't say so and is not held to what is configured: it ends after the longest
/// life that there is.
pub(crate) fn read_visitor_refresh(core: &Core, token: &str) -> Option<VisitorClaims> {
    let claims: Claims = serde_json::from_slice(&core.keys.verify(Purpose::Visitor, token)?).ok()?;
    let issued = claims.iat.saturating_mul(1000);
    let ends = match claims.exp {
        Some(exp) => exp.saturating_mul(1000).min(issued.saturating_add(core.config().visitor_life)),
        None => issued.saturating_add(LONGEST_VISITOR),
    };
    let is_good = claims.knd == Knd::Visitor && core.now() < ends;
    let (site, client, has_end) = (claims.aud, claims.cid, claims.exp.is_some());
    is_good.then(|| VisitorClaims { site, visitor: VisitorId::from(claims.sub), client, issued, has_end })
}

/// When a token stops being accepted. One that was made for longer than tokens live now, before the
/// configuration was changed, stops earlier than it says: a lower life holds for tokens issued before.
pub(crate) fn accepted_until(core: &Core, claims: &AccessClaims) -> Millis {
    let (issued, expires) = (claims.issued.saturating_mul(1000), claims.expires.saturating_mul(1000));
    let now_allowed = issued.saturating_add(core.config().access_life);
    // An owner who acts as a member has no client that refreshes too late.
    let grace = if claims.caller.impersonator().is_some() { 0 } else { core.config().access_grace };
    expires.min(now_allowed).saturating_add(grace)
}
