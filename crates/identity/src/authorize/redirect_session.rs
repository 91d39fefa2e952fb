//! A browser opened the address of a redirect session.

use crate::{
    Identity,
    address::Address,
    authorize::{self, Authorized, Navigation, OpenedRequest, logout},
    browser::Browser,
    client::{self, Client},
    flow::{
        FlowKind,
        open::{self, Destination},
    },
    oauth::authorization::{AuthorizeAnswer, Delivery},
    redirect::plan::{self, Plan},
};
use std::sync::Arc;
use stoa_kernel::{Result, TokenHash};
use stoa_store::Site;

impl Identity {
    /// Opens the address of a redirect session.
    ///
    /// # Errors
    /// [`Code::LinkInvalid`] when it is unknown or too old.
    pub async fn redirect_session_open(
        &self,
        site: &Arc<Site>,
        token: &str,
        browser: &Browser,
        navigation: &Navigation,
    ) -> Result<Authorized> {
        let core = &self.core;
        match plan::get(core, site, token).await? {
            Plan::Auth(mut request) => {
                let client = client::of_site(core, site, &request.client).await?;
                // A version before consent has not written it down.
                request.of_others = client.is_third_party;
                let opened = OpenedRequest { client: &client, request, redirect_session: Some(TokenHash::of(token)) };
                authorize::answer(core, site, opened, browser, navigation).await
            }
            Plan::Login { client, return_url } => {
                let client = match &client {
                    Some(id) => Some(client::of_site(core, site, id).await?),
                    None => None,
                };
                if navigation.is_frame {
                    return Ok(Authorized::of(AuthorizeAnswer::Blank { origins: origins(client.as_deref()) }));
                }
                let begun =
                    open::begin(core, site, FlowKind::SignIn, Destination::Address(return_url), browser).await?;
                Ok(Authorized::of(AuthorizeAnswer::Flow(begun)))
            }
            Plan::Page { url } => Ok(Authorized::of(AuthorizeAnswer::Deliver(Delivery::Redirect(url)))),
            Plan::Logout(plan) => {
                let answer = logout::sign_out(core, site, plan, browser).await?;
                Ok(Authorized::of(answer))
            }
        }
    }
}

/// The web origins that belong to a client, for `frame-ancestors`.
fn origins(client: Option<&Client>) -> Vec<String> {
    let Some(client) = client else { return Vec::new() };
    let all = client.origins.iter().chain(&client.redirect_uris);
    let mut origins: Vec<String> = all.filter_map(|it| Some(Address::parse(it)?.origin())).collect();
    origins.dedup();
    origins
}
