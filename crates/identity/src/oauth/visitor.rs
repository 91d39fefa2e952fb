//! Visitors: anonymous callers. Nothing is stored for one; the signed refresh token is all there is.
//!
//! It ends some time after it was made, and nothing that is used later moves the end of a token that is out. So the life
//! is long by default: `@wix/sdk` keeps the first token, and its visitor is another one once that is over. A use of a
//! token that isn't quite new answers another one for the same visitor, and a client that takes it keeps its visitor as
//! long as it calls within that time.

use crate::{
    Core,
    client::Client,
    token::{self, Access, VisitorClaims},
};
use stoa_kernel::{Caller, ClientId, Millis, Result, Scopes, SiteId, VisitorId, limit::DAY};

/// A refresh token that is older, or has lived half of its life, is answered by another one.
const RENEWED_AFTER: Millis = DAY;

/// The tokens of a visitor.
#[derive(Debug, Clone)]
pub struct VisitorTokens {
    pub access: Access,
    pub refresh: String,
}

/// A new visitor of the client's site. Writes nothing.
pub(crate) async fn create(core: &Core, client: &Client) -> Result<VisitorTokens> {
    let visitor = VisitorId::from(core.world().uuid());
    let refresh = token::issue_visitor_refresh(core, &client.site, &visitor, Some(&client.id)).await?;
    let access = access(core, &client.site, visitor, Some(&client.id), client.bound().as_ref()).await?;
    Ok(VisitorTokens { access, refresh })
}

/// The tokens that a client has from now on for the refresh token that it has `shown`.
pub(crate) async fn renew(
    core: &Core,
    claims: VisitorClaims,
    scopes: Option<&Scopes>,
    shown: &str,
) -> Result<VisitorTokens> {
    let VisitorClaims { site, visitor, client, issued, has_end } = claims;
    let age = core.now() - issued;
    let refresh = match has_end && age < RENEWED_AFTER.min(core.config().visitor_life / 2) {
        true => shown.to_owned(),
        false => token::issue_visitor_refresh(core, &site, &visitor, client.as_ref()).await?,
    };
    Ok(VisitorTokens { access: access(core, &site, visitor, client.as_ref(), scopes).await?, refresh })
}

async fn access(
    core: &Core,
    site: &SiteId,
    visitor: VisitorId,
    client: Option<&ClientId>,
    scopes: Option<&Scopes>,
) -> Result<Access> {
    let caller = Caller::Visitor { id: visitor, client: client.cloned() }.held_to(scopes);
    token::issue_access(core, site, &caller, client).await
}
