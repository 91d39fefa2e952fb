//! Which account pages may load the widget of a captcha provider: those on which members sign in and register, each only
//! that of its own site's provider. Sites that share a host share none of it, and at a host that was given to one site no
//! other's provider is admitted: its script would have that site's origin.

use super::browser::Visit;
use crate::{App, Problem};
use axum::{extract::FromRequestParts, http::request::Parts};
use std::sync::Arc;
use stoa_identity::{defence::captcha_widget::Sources, flow::FlowKind, token::Kind};
use stoa_kernel::{ClientId, Code};
use stoa_store::Site;

/// An account page that may ask for a captcha, by how it finds its site.
#[derive(Debug, PartialEq, Eq)]
enum AccountPage {
    /// One step of a flow.
    Flow(String),
    /// A flow begins: at the site of a client, or at the one that the address or the host name says.
    Start(Option<String>),
    /// A member's own pages, which let strangers sign in.
    Member,
}

/// From where the page that is asked for may load a widget. What can't be told now loads none.
pub(crate) async fn of_page(app: &App, mut parts: Parts) -> Option<Sources> {
    let page = AccountPage::of(parts.uri.path(), parts.uri.query().unwrap_or_default())?;
    let site = site_of(app, &mut parts, page).await.ok()??;
    Some(app.identity.captcha_widget(&site).await.ok()??.sources)
}

/// The site whose members sign in on this page, if that is what it is for.
async fn site_of(app: &App, parts: &mut Parts, page: AccountPage) -> Result<Option<Arc<Site>>, Problem> {
    let visit = Visit::from_request_parts(parts, app).await?;
    let site = match page {
        AccountPage::Flow(token) => {
            let site = app.identity.site_of(Kind::Flow, &token).await?;
            match app.identity.flow_kind(&site, &token, &visit.browser).await? {
                FlowKind::SignIn | FlowKind::SignUp | FlowKind::Recover => site,
                FlowKind::SignOut | FlowKind::OwnerSetup | FlowKind::OwnerSignIn => return Ok(None),
            }
        }
        AccountPage::Start(Some(client)) => {
            let client = app.identity.client_get(&ClientId::from(client.as_str())).await?;
            app.store.site(&client.site).await?
        }
        AccountPage::Start(None) => visit.info.find_site(app).await?,
        AccountPage::Member => match visit.member(app).await {
            Err(fault) if fault.code() == Code::Unauthenticated => visit.info.find_site(app).await?,
            Ok(_) => return Ok(None),
            Err(fault) => return Err(fault.into()),
        },
    };
    visit.require_site(&site.id, Code::SiteUnknown)?;
    let is_elsewhere = visit.info.is_host_of_another(app, &site.id).await?;
    Ok(Some(site).filter(|_| !is_elsewhere))
}

impl AccountPage {
    /// As `web/apps/account/src/flow/route.ts` reads addresses.
    fn of(path: &str, query: &str) -> Option<Self> {
        let given = |name: &str| {
            url::form_urlencoded::parse(query.as_bytes()).find(|it| it.0 == name).map(|it| it.1.into_owned())
        };
        let rest = path.strip_prefix("/account").filter(|it| it.is_empty() || it.starts_with('/'))?;
        let names: Vec<&str> = rest.trim_matches('/').split('/').collect();
        match names.as_slice() {
            ["flow", token] => Some(Self::Flow((*token).to_owned())),
            ["sign-in" | "sign-up" | "recover"] => Some(Self::start(given("clientId"))),
            [""] if ["clientId", "returnUrl", "over"].iter().any(|it| given(it).is_some()) => {
                Some(Self::start(given("clientId")))
            }
            ["" | "profile" | "password" | "sessions" | "privacy"] => Some(Self::Member),
            _ => None,
        }
    }

    fn start(client: Option<String>) -> Self {
        Self::Start(client.filter(|it| !it.is_empty()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_operators_and_of_other_matters_ask_for_no_captcha() {
        let start = |client: Option<&str>| Some(AccountPage::Start(client.map(str::to_owned)));
        for (path, query, page) in [
            ("/account/sign-in", "", start(None)),
            ("/account/sign-up/", "clientId=", start(None)),
            ("/account/recover", "returnUrl=x&clientId=a%2Db", start(Some("a-b"))),
            ("/account", "over=link", start(None)),
            ("/account/", "", Some(AccountPage::Member)),
            ("/account/privacy", "clientId=a", Some(AccountPage::Member)),
            ("/account/flow/f7.x", "", Some(AccountPage::Flow("f7.x".to_owned()))),
            ("/account/flow/f7.x/y", "", None),
            ("/account/flow", "", None),
            ("/account/owner", "clientId=a", None),
            ("/account/security", "", None),
            ("/account/setup", "", None),
            ("/account/sign-out", "", None),
            ("/account/install", "", None),
            ("/account/approve", "", None),
            ("/accounts/sign-in", "", None),
            ("/sign-in", "", None),
            ("/", "", None),
        ] {
            assert_eq!(AccountPage::of(path, query), page, "{path}?{query}");
        }
    }
}
