//! Instances of applications: what one gets for the code of its installation (docs/protocol/identity.md §16.1).

use crate::{
    Core,
    client::Client,
    oauth::{access::TokenAnswer, request::TokenRequest},
    token::{self, Kind, opaque, revocation, signing::Purpose},
};
use serde::{Deserialize, Serialize};
use stoa_kernel::{ClientId, Code, Fault, Result, SessionId, SiteId, TokenHash};
use stoa_sql::params;
use stoa_store::boxed;

/// A refresh token of an application. Signed, not stored: without the client's secret it is nothing, and
/// it ends when it is taken back, or with the client.
#[derive(Serialize, Deserialize)]
struct Claims {
    aud: SiteId,
    cid: ClientId,
    /// The installation, as its access tokens name it. Older tokens do without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sid: Option<SessionId>,
}

/// A refresh token of an application that was read.
pub(crate) struct Instance {
    pub(crate) id: SessionId,
    pub(crate) site: SiteId,
    pub(crate) client: ClientId,
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
    let used = site
        .write_with((site.id.clone(), TokenHash::of(code), client.id.clone()), move |tx, (site, hash, app)| {
            boxed!({
                let sql = "update stoa.install_code set used = $1 where site = $2 and hash = $3 and client = $4 \
                           and used is null and expires > $1";
                Ok(tx.execute(sql, &params![now, site, hash, app]).await?)
            })
        })
        .await?;
    if used == 0 {
        return Err(refused());
    }
    let id = Instance::id_of(code);
    let claims = Claims { aud: site.id.clone(), cid: client.id.clone(), sid: Some(id.clone()) };
    let refresh = core.keys.sign(Purpose::Instance, &claims)?;
    answer(core, client, &id, refresh).await.map(Some)
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
    answer(core, client, &instance.id, refresh.to_owned()).await.map(Some)
}

/// Reads the refresh token of an application: signature and form, not whether it was taken back.
pub(crate) fn read(core: &Core, token: &str) -> Option<Instance> {
    let claims: Claims = serde_json::from_slice(&core.keys.verify(Purpose::Instance, token)?).ok()?;
    let id = claims.sid.unwrap_or_else(|| Instance::id_of(token));
    Some(Instance { id, site: claims.aud, client: claims.cid })
}

async fn answer(core: &Core, client: &Client, id: &SessionId, refresh: String) -> Result<TokenAnswer> {
    Ok(TokenAnswer::new(token::issue_app_access(core, &client.site, &client.id, id).await?, Some(refresh)))
}
