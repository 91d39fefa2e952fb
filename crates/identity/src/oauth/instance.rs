//! Instances of applications: what one gets for the code of its installation (docs/protocol/identity.md §16.1).

use crate::{
    Core, Identity,
    client::Client,
    oauth::{access::TokenAnswer, request::TokenRequest},
    token::{self, Kind, opaque, revocation, signing::Purpose},
};
use serde::{Deserialize, Serialize};
use stoa_kernel::{ClientId, Code, Fault, Result, Scopes, SessionId, SiteId, TokenHash};
use stoa_sql::params;
use stoa_store::{ReaderPool, boxed};

/// A refresh token of an application. Signed, not stored: without the client's secret it is nothing, and
/// it ends when it is taken back, or with the client.
#[derive(Serialize, Deserialize)]
struct Claims {
    aud: SiteId,
    cid: ClientId,
    /// The installation, as its access tokens name it. Older tokens do without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sid: Option<SessionId>,
    /// What an owner has agreed to; all rights without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    scp: Option<String>,
}

/// A refresh token of an application that was read.
pub(crate) struct Instance {
    pub(crate) id: SessionId,
    pub(crate) site: SiteId,
    pub(crate) client: ClientId,
    scopes: Option<Scopes>,
}

/// How ids of installations begin, whose tokens have no end.
const PREFIX: &str = "install-";

impl Instance {
    /// The id of what was installed with this code or token, of which it tells nothing.
    fn id_of(text: &str) -> SessionId {
        SessionId::from(format!("{PREFIX}{}", opaque::hex(&TokenHash::of(text))))
    }
}

/// Whether what an application's access token was given for is an installation.
pub(crate) fn is_instance(id: &SessionId) -> bool {
    id.as_str().starts_with(PREFIX)
}

impl Identity {
    /// What an owner has agreed to for an application of others; nothing when that was everything.
    ///
    /// # Errors
    /// [`Code::OauthUnauthorized`] when none has agreed to anything.
    pub async fn app_agreement(&self, app: &Client) -> Result<Option<Scopes>> {
        agreed(&self.core, app).await
    }
}

/// Exchanges the code of an installation, once; `None` when it is no such code. The caller has checked
/// the client's secret.
///
/// # Errors
/// [`Code::OauthInvalidGrant`] when it is unknown, used, too old or another application's.
pub(crate) async fn redeem(core: &Core, client: &Client, code: &str) -> Result<Option<TokenAnswer>> {
    if token::site_number(Kind::Install, code).is_none() {
        return Ok(None);
    }
    let refused = || Fault::new(Code::OauthInvalidGrant);
    let site = token::site_of(core, Kind::Install, code).await.map_err(|_| refused())?;
    if site.id != client.site {
        return Err(refused());
    }
    let now = core.now();
    let agreed: Option<Option<String>> = site
        .write_with((site.id.clone(), TokenHash::of(code), client.id.clone()), move |tx, (site, hash, app)| {
            boxed!({
                let sql = "update stoa.install_code set used = $1 where site = $2 and hash = $3 and client = $4 \
                           and used is null and expires > $1 returning scopes";
                Ok(tx.row(sql, &params![now, site, hash, app], |row| row.get(0)).await?)
            })
        })
        .await?;
    let agreed = agreed.ok_or_else(refused)?;
    let (id, scopes) = (Instance::id_of(code), agreed.as_deref().map(Scopes::among));
    let claims = Claims { aud: site.id.clone(), cid: client.id.clone(), sid: Some(id.clone()), scp: agreed };
    let refresh = core.keys.sign(Purpose::Instance, &claims)?;
    answer(core, client, &Instance { id, site: claims.aud, client: claims.cid, scopes }, refresh).await.map(Some)
}

/// New access for an application by its refresh token, which stays the same; `None` when it is none.
///
/// # Errors
/// [`Code::OauthInvalidGrant`] for another application's, or when it was taken back.
pub(crate) async fn refresh(core: &Core, client: &Client, request: &TokenRequest) -> Result<Option<TokenAnswer>> {
    let Some(refresh) = request.refresh_token.as_deref() else { return Ok(None) };
    let Some(instance) = read(core, refresh) else { return Ok(None) };
    let is_its_own = instance.client == client.id && instance.site == client.site;
    if !is_its_own || revocation::is_revoked(core, [instance.id.as_str(), "", ""]).await? {
        return Err(Fault::new(Code::OauthInvalidGrant));
    }
    let asked = Scopes::narrowed(instance.scopes.as_ref(), request.scopes.as_ref());
    answer(core, client, &Instance { scopes: asked, ..instance }, refresh.to_owned()).await.map(Some)
}

/// What an owner has agreed to for an application; nothing when that was everything.
///
/// # Errors
/// [`Code::OauthUnauthorized`] when none has agreed to anything.
pub(crate) async fn agreed(core: &Core, client: &Client) -> Result<Option<Scopes>> {
    let site = core.store.site(&client.site).await?;
    let (site_id, id) = (site.id.clone(), client.id.clone());
    let sql = "select scopes from stoa.installation where site = $1 and client = $2";
    let found: Option<Option<String>> = site
        .read(ReaderPool::Point, move |tx| boxed!(Ok(tx.row(sql, &params![&site_id, &id], |row| row.get(0)).await?)))
        .await?;
    let refused = || Fault::because(Code::OauthUnauthorized, "no owner of the site has installed the application");
    Ok(found.ok_or_else(refused)?.as_deref().map(Scopes::among))
}

/// Reads the refresh token of an application: signature and form, not whether it was taken back.
pub(crate) fn read(core: &Core, token: &str) -> Option<Instance> {
    let claims: Claims = serde_json::from_slice(&core.keys.verify(Purpose::Instance, token)?).ok()?;
    let id = claims.sid.unwrap_or_else(|| Instance::id_of(token));
    let scopes = claims.scp.as_deref().map(Scopes::among);
    Some(Instance { id, site: claims.aud, client: claims.cid, scopes })
}

/// What an installation gives, never more than its client may have.
async fn answer(core: &Core, client: &Client, instance: &Instance, refresh: String) -> Result<TokenAnswer> {
    let scopes = Scopes::narrowed(client.bound().as_ref(), instance.scopes.as_ref());
    let access = token::issue_app_access(core, &client.site, &client.id, &instance.id, scopes.as_ref()).await?;
    Ok(TokenAnswer::new(access, Some(refresh)))
}
