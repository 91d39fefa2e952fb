//! Visitors: anonymous callers. Nothing is stored for one; the signed refresh token is all there is.

use crate::{
    Core,
    client::Client,
    token::{self, Access, VisitorClaims},
};
use stoa_kernel::{Caller, Result, Scopes, VisitorId};

/// The tokens of a visitor.
#[derive(Debug, Clone)]
pub struct VisitorTokens {
    pub access: Access,
    pub refresh: String,
}

/// A new visitor of the client's site. Writes nothing.
pub(crate) async fn create(core: &Core, client: &Client) -> Result<VisitorTokens> {
    let visitor = VisitorId::from(core.world().uuid());
    let claims = VisitorClaims { site: client.site.clone(), visitor, client: Some(client.id.clone()) };
    let refresh = token::issue_visitor_refresh(core, &claims).await?;
    Ok(VisitorTokens { access: issue_access(core, &claims, client.bound().as_ref()).await?, refresh })
}

/// A visitor's access token, held to these scopes.
pub(crate) async fn issue_access(core: &Core, claims: &VisitorClaims, scopes: Option<&Scopes>) -> Result<Access> {
    let caller = Caller::Visitor { id: claims.visitor.clone(), client: claims.client.clone() }.held_to(scopes);
    token::issue_access(core, &claims.site, &caller, claims.client.as_ref()).await
}
