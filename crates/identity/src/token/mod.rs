//! Tokens: signed ones, checked without a database, and opaque ones, of which only the hash is kept.
//!
//! Access tokens (every caller) and visitors' refresh tokens are signed. Everything else (`sessionToken`,
//! members' refresh tokens, cookies, codes, API keys, links) is opaque: a letter for its kind, the short
//! id of its site, a dot and 256 random bits, for example `r1.0Jq…`; of a refresh token that came by
//! rotation 128 of them say which session it is of (`oauth::rotation`). A signed token has two dots, an
//! opaque one has one, and neither ever holds a comma or white space (identity.md 4.5).

pub mod authenticate;
pub(crate) mod revocation;
pub mod signing;

use crate::{Core, Identity, client::Client, token::signing::Purpose};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use stoa_kernel::{
    Caller, ClientId, Code, Fault, KeyId, MemberId, Millis, Result, Role, Secret, SessionId, SiteId, UserId, VisitorId,
    World,
};
use stoa_sql::params;
use stoa_store::{Lane, Site, boxed};

const ISSUER: &str = "stoa";

/// What an opaque token is for. Each kind begins with its own letter, so none passes for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A member's refresh token.
    Refresh,
    /// `sessionToken` of a finished sign-in.
    Session,
    /// The cookie of a browser's session.
    Cookie,
    /// An authorization code.
    Code,
    /// An API key.
    ApiKey,
    /// A sign-in, sign-up or recovery in progress.
    Flow,
    /// `stateToken`: a sign-in that waits for an e-mailed code.
    State,
    /// A link in a message: recovery, activation.
    Link,
    /// A link with which an owner decides about a member.
    Approval,
    /// A redirect session.
    Redirect,
    /// An invitation of a person who runs a site.
    Invite,
    /// The session of a person who runs a site.
    Person,
    /// A code that tells an application where it was installed.
    Install,
}

impl Kind {
    fn letter(self) -> char {
        match self {
            Self::Refresh => 'r',
            Self::Session => 's',
            Self::Cookie => 'b',
            Self::Code => 'c',
            Self::ApiKey => 'k',
            Self::Flow => 'f',
            Self::State => 't',
            Self::Link => 'l',
            Self::Approval => 'a',
            Self::Redirect => 'd',
            Self::Invite => 'i',
            Self::Person => 'p',
            Self::Install => 'n',
        }
    }
}

/// A new opaque token of a site, given by the site's internal number.
pub fn opaque(world: &World, kind: Kind, site: i64) -> Secret {
    spell(kind, site, &world.bytes())
}

/// The opaque token that stands for these bytes.
pub(crate) fn spell(kind: Kind, site: i64, bytes: &[u8; 32]) -> Secret {
    Secret::new(format!("{}{site}.{}", kind.letter(), URL_SAFE_NO_PAD.encode(bytes)))
}

/// What [`spell`] was given.
pub(crate) fn bytes(text: &str) -> Option<[u8; 32]> {
    URL_SAFE_NO_PAD.decode(text.split_once('.')?.1).ok()?.try_into().ok()
}

/// The internal number of the site that an opaque token names; `None` when it is not of this kind.
pub fn site_number(kind: Kind, text: &str) -> Option<i64> {
    let (site, random) = text.strip_prefix(kind.letter())?.split_once('.')?;
    let is_token = random.len() == 43 && random.bytes().all(|it| it.is_ascii_alphanumeric() || b"-_".contains(&it));
    let is_number = !site.is_empty() && site.len() <= 15 && site.bytes().all(|it| it.is_ascii_digit());
    if !is_token || !is_number || site.starts_with('0') {
        return None;
    }
    site.parse().ok()
}

/// An access token and the seconds it lives.
#[derive(Debug, Clone)]
pub struct Access {
    pub token: String,
    pub expires_in: i64,
}

/// What an access token says.
#[derive(Debug, Clone, PartialEq)]
pub struct AccessClaims {
    pub site: SiteId,
    pub caller: Caller,
    pub client: Option<ClientId>,
    /// What an application's token was given for: it can be taken back by this.
    pub grant: Option<SessionId>,
    /// UTC seconds.
    pub issued: i64,
    /// UTC seconds.
    pub expires: i64,
}

/// What a visitor's refresh token says. It has no end.
#[derive(Debug, Clone, PartialEq)]
pub struct VisitorClaims {
    pub site: SiteId,
    pub visitor: VisitorId,
    pub client: Option<ClientId>,
}

/// The claims as they are written. `aud` is the site, `knd` the kind of caller.
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
    iat: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    exp: Option<i64>,
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
    /// The site that an opaque token, code or link names at its beginning, opened.
    ///
    /// # Errors
    /// [`Code::SiteUnknown`] when the text is not one of ours or its site is gone.
    pub async fn site_of(&self, kind: Kind, text: &str) -> Result<Arc<Site>> {
        site_of(&self.core, kind, text).await
    }

    /// An access token for the caller. Nothing is stored.
    pub fn access_issue(&self, site: &SiteId, caller: &Caller, client: Option<&ClientId>) -> Result<Access> {
        issue_access(&self.core, site, caller, client)
    }
}

/// What [`Identity::site_of`] does.
pub(crate) async fn site_of(core: &Core, kind: Kind, text: &str) -> Result<Arc<Site>> {
    let number = site_number(kind, text).ok_or_else(|| Fault::new(Code::SiteUnknown))?;
    let id = match core.sites.get(&number) {
        Some(id) => id,
        None => {
            let sql = "select id from stoa.site where number = $1";
            let found: Option<String> = core
                .store
                .catalog()
                .read(Lane::Point, move |tx| boxed!(Ok(tx.row(sql, &params![number], |row| row.get(0)).await?)))
                .await?;
            let id = SiteId::from(found.ok_or_else(|| Fault::new(Code::SiteUnknown))?);
            core.sites.insert(number, id.clone());
            id
        }
    };
    core.store.site(&id).await
}

/// What [`Identity::access_issue`] does.
pub(crate) fn issue_access(core: &Core, site: &SiteId, caller: &Caller, client: Option<&ClientId>) -> Result<Access> {
    sign_access(core, site, caller, client, None)
}

/// An access token for a client in its own name, given for an installation or once.
pub(crate) fn issue_app_access(core: &Core, client: &Client, grant: &SessionId) -> Result<Access> {
    let caller = Caller::App { id: KeyId::from(client.id.as_str()) };
    sign_access(core, &client.site, &caller, Some(&client.id), Some(grant))
}

fn sign_access(
    core: &Core,
    site: &SiteId,
    caller: &Caller,
    client: Option<&ClientId>,
    grant: Option<&SessionId>,
) -> Result<Access> {
    let (sub, knd, sid, rol) = match caller {
        Caller::Visitor { id, .. } => (id.as_str(), Knd::Visitor, None, None),
        Caller::Member { id, session, .. } => (id.as_str(), Knd::Member, Some(session), None),
        Caller::User { id, role, session } => (id.as_str(), Knd::User, Some(session), Some(*role)),
        Caller::App { id } => (id.as_str(), Knd::App, grant, None),
    };
    let (now, life) = (core.now().div_euclid(1000), core.config().access_life / 1000);
    let claims = Claims {
        iss: ISSUER.to_owned(),
        aud: site.clone(),
        sub: sub.to_owned(),
        knd,
        sid: sid.cloned(),
        cid: client.cloned(),
        rol,
        iat: now,
        exp: Some(now + life),
    };
    Ok(Access { token: core.keys.sign(Purpose::Access, &claims)?, expires_in: life })
}

/// Reads an access token: signature, issuer and form, not its age and not whether it was revoked.
pub(crate) fn read_access(core: &Core, token: &str) -> Option<AccessClaims> {
    let claims: Claims = read(&core.keys.verify(Purpose::Access, token)?)?;
    let client = claims.cid;
    let mut grant = None;
    let caller = match claims.knd {
        Knd::Visitor => Caller::Visitor { id: VisitorId::from(claims.sub), client: client.clone() },
        Knd::Member => Caller::Member { id: MemberId::from(claims.sub), session: claims.sid?, client: client.clone() },
        Knd::User => Caller::User { id: UserId::from(claims.sub), role: claims.rol?, session: claims.sid? },
        Knd::App => {
            grant = claims.sid;
            Caller::App { id: KeyId::from(claims.sub) }
        }
    };
    Some(AccessClaims { site: claims.aud, caller, client, grant, issued: claims.iat, expires: claims.exp? })
}

pub(crate) fn issue_visitor_refresh(core: &Core, claims: &VisitorClaims) -> Result<String> {
    let claims = Claims {
        iss: ISSUER.to_owned(),
        aud: claims.site.clone(),
        sub: claims.visitor.as_str().to_owned(),
        knd: Knd::Visitor,
        sid: None,
        cid: claims.client.clone(),
        rol: None,
        iat: core.now().div_euclid(1000),
        exp: None,
    };
    core.keys.sign(Purpose::Visitor, &claims)
}

pub(crate) fn read_visitor_refresh(core: &Core, token: &str) -> Option<VisitorClaims> {
    let claims: Claims = read(&core.keys.verify(Purpose::Visitor, token)?)?;
    let is_visitor = claims.knd == Knd::Visitor;
    is_visitor.then(|| VisitorClaims { site: claims.aud, visitor: VisitorId::from(claims.sub), client: claims.cid })
}

/// When a token stops being accepted. One that was made for longer than tokens live now, before the
/// configuration was changed, stops earlier than it says: a lower life holds for those that are out.
pub(crate) fn accepted_until(core: &Core, claims: &AccessClaims) -> Millis {
    let (issued, expires) = (claims.issued.saturating_mul(1000), claims.expires.saturating_mul(1000));
    let now_allowed = issued.saturating_add(core.config().access_life);
    expires.min(now_allowed).saturating_add(core.config().access_grace)
}

fn read(claims: &[u8]) -> Option<Claims> {
    let claims: Claims = serde_json::from_slice(claims).ok()?;
    (claims.iss == ISSUER).then_some(claims)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opaque_tokens_name_their_site_and_kind() {
        let (world, _) = World::fixed(0, 1);
        let token = opaque(&world, Kind::Refresh, 42);
        assert_eq!(site_number(Kind::Refresh, token.expose()), Some(42));
        assert_eq!(site_number(Kind::Session, token.expose()), None);
        assert!(!token.expose().contains(','));
        for bad in ["", "r", "r1", "r1.", "r1.short", "r01.", "r-1.x", "r1.é"] {
            assert_eq!(site_number(Kind::Refresh, bad), None, "{bad}");
        }
        let padded = token.expose().replace("r42", "r042");
        assert_eq!(site_number(Kind::Refresh, &padded), None);
    }
}
