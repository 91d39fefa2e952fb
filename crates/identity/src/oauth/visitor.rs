//! Visitors: anonymous callers. Nothing is stored for one; the signed refresh token is all there is.

use crate::{
    Identity,
    client::Client,
    token::{Access, VisitorClaims},
};
use stoa_kernel::{Caller, Result, VisitorId};

/// The tokens of a visitor.
#[derive(Debug, Clone)]
pub struct VisitorTokens {
    pub access: Access,
    pub refresh: String,
}

impl Identity {
    /// A new visitor of the client's site. Writes nothing.
    pub fn visitor_create(&self, client: &Client) -> Result<VisitorTokens> {
        let visitor = VisitorId::from(self.world().uuid());
        let claims = VisitorClaims { site: client.site.clone(), visitor, client: Some(client.id.clone()) };
        let refresh = self.visitor_refresh_issue(&claims)?;
        Ok(VisitorTokens { access: self.visitor_access(&claims)?, refresh })
    }

    pub(crate) fn visitor_access(&self, claims: &VisitorClaims) -> Result<Access> {
        let caller = Caller::Visitor { id: claims.visitor.clone(), client: claims.client.clone() };
        self.access_issue(&claims.site, &caller, claims.client.as_ref())
    }
}
