//! Signing out (docs/protocol/identity.md §5.4).
//!
//! Any page can make a browser open an address. So a session only ends without a question when the
//! request proves that it comes from the member's own client: a redirect session made with the member's
//! token, or a navigation from one of the client's pages. Otherwise the account page asks.

use crate::{
    Core, Identity,
    address::Address,
    authorize::{Authorized, Navigation},
    browser::Browser,
    client,
    flow::{
        FlowKind,
        open::{self, Destination},
    },
    oauth::authorization::AuthorizeAnswer,
    redirect::plan::Logout,
    session,
};
use std::sync::Arc;
use stoa_kernel::{Caller, ClientId, Result};
use stoa_store::Site;

/// What a request for signing out names.
#[derive(Debug, Clone, Copy, Default)]
pub struct LogoutRequest<'a> {
    pub client: Option<&'a ClientId>,
    /// Where the browser goes afterwards.
    pub return_url: Option<&'a str>,
}

impl Identity {
    /// Ends the session of the calling member (the module's `logout`). For other callers there is
    /// nothing to end. Answers the checked return address.
    ///
    /// # Errors
    /// [`stoa_kernel::Code::ClientUnknown`], [`stoa_kernel::Code::RedirectRefused`]; nothing is ended then.
    pub async fn logout(
        &self,
        site: &Arc<Site>,
        caller: &Caller,
        request: LogoutRequest<'_>,
        base_url: &str,
    ) -> Result<Option<String>> {
        let core = &self.core;
        let own = match caller.bare() {
            Caller::Visitor { client, .. } | Caller::Member { client, .. } => client.as_ref(),
            Caller::User { .. } | Caller::App { .. } | Caller::Scoped(_) => None,
        };
        let client = match request.client.or(own) {
            Some(id) => Some(client::of_site(core, site, id).await?),
            None => None,
        };
        let url = client::return_url(client.as_deref(), request.return_url, base_url)?;
        if let Caller::Member { session, .. } = caller.bare() {
            session::end(core, site, session).await?;
        }
        Ok(url)
    }

    /// A browser opened `/v1/logout`: signed out at once when a page of the client led here, asked
    /// otherwise.
    ///
    /// # Errors
    /// As [`Identity::logout`].
    pub async fn logout_open(
        &self,
        site: &Arc<Site>,
        request: LogoutRequest<'_>,
        browser: &Browser,
        navigation: &Navigation,
    ) -> Result<Authorized> {
        let core = &self.core;
        let client = match request.client {
            Some(id) => Some(client::of_site(core, site, id).await?),
            None => None,
        };
        let url = client::return_url(client.as_deref(), request.return_url, &browser.base_url)?;
        let session = session::of_browser(core, site, browser).await?;
        let from = navigation.referer.as_deref().and_then(Address::parse).map(|it| it.origin());
        // A user who may write on one of the client's pages may put a picture there.
        let is_led = navigation.is_page
            && from.zip(client.as_deref()).is_some_and(|(origin, client)| client.allows_origin(&origin));
        match session {
            Some(_) if !is_led => {
                let begun = open::begin(core, site, FlowKind::SignOut, Destination::Address(url), browser).await?;
                Ok(Authorized::of(AuthorizeAnswer::Flow(begun)))
            }
            session => {
                if let Some(session) = session {
                    session::end(core, site, &session.id).await?;
                }
                Ok(Authorized::of(open::signed_out(core, site, url, browser).await?))
            }
        }
    }
}

/// A browser opened the address of a redirect session for signing out.
pub(crate) async fn sign_out(
    core: &Core,
    site: &Arc<Site>,
    plan: Logout,
    browser: &Browser,
) -> Result<AuthorizeAnswer> {
    let Logout { session, member, return_url } = plan;
    if let Some(session) = &session {
        session::end(core, site, session).await?;
    }
    // What is left was not of the same family.
    match session::of_browser(core, site, browser).await? {
        Some(left) if member.as_ref() == Some(&left.member) => {
            session::end(core, site, &left.id).await?;
            open::signed_out(core, site, return_url, browser).await
        }
        Some(_) => Ok(AuthorizeAnswer::Flow(
            open::begin(core, site, FlowKind::SignOut, Destination::Address(return_url), browser).await?,
        )),
        None => open::signed_out(core, site, return_url, browser).await,
    }
}
