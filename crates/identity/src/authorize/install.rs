//! Installing an application at a site (docs/protocol/identity.md §16.1).
//!
//! An application is a client with a secret; an instance of it is a site, so the instance's id is the
//! site's. An owner of the site opens the installer's address and is asked, on a page that names what the application
//! would hold (docs/scopes.md). When they agree, the browser goes on to the application with a code, and the
//! application exchanges it, with its secret, for tokens of an App caller. What the code adds to the secret is that an
//! owner has agreed to it.

use crate::{
    Core, Identity,
    address::{Address, form, shown_host},
    browser::{Beginning, Browser},
    client::{self, Client},
    flow::{
        FlowKind,
        open::{self, Destination},
    },
    log::PeopleEntry,
    operator::{self, OperatorSession},
    sign_in::operator_factor::proof,
    token::{self, Kind},
};
use serde_json::{Value, json};
use std::sync::Arc;
use stoa_kernel::{ClientId, Code, EntryKind, EventActor, Fault, Millis, Result, Role, Scopes, TokenHash};
use stoa_sql::params;
use stoa_store::{Site, boxed};

/// Life of a code.
const LIFE: Millis = 5 * 60_000;

/// What the installer's address asks for.
#[derive(Debug, Clone)]
pub struct InstallRequest<'a> {
    pub app: &'a str,
    pub redirect_url: &'a str,
    pub state: Option<&'a str>,
}

/// How the installer's address is answered.
#[derive(Debug)]
pub enum InstallAnswer {
    /// An owner is signed in here: the browser goes to the page that asks them.
    Ask,
    /// No operator of the site is signed in here.
    SignIn(Beginning),
}

/// What an owner is asked.
pub struct InstallConsent {
    client: Arc<Client>,
    site: Arc<Site>,
    /// Where the browser goes with the code.
    host: String,
}

impl InstallConsent {
    /// The site that the application would be installed at.
    pub fn site(&self) -> &Site {
        &self.site
    }

    /// What the page shows. `scopes` is null for an application that would have full rights.
    pub fn to_json(&self) -> Value {
        json!({
            "appName": self.client.name,
            "host": self.host,
            "isThirdParty": self.client.is_third_party,
            "scopes": self.client.bound().as_ref().map(Scopes::texts),
        })
    }
}

/// A request whose application, address and site belong together.
struct Checked {
    client: Arc<Client>,
    site: Arc<Site>,
}

impl Identity {
    /// Whether an owner can be asked about an application here, or has to sign in first. `address` is where the
    /// sign-in leads back to. Nothing is installed by this.
    ///
    /// # Errors
    /// [`Code::ClientUnknown`] also for clients without a secret; [`Code::RedirectRefused`];
    /// [`Code::OauthInvalidRequest`] for a state that is too long; [`Code::Forbidden`] for an operator who is no
    /// owner.
    pub async fn install_open(
        &self,
        request: InstallRequest<'_>,
        address: String,
        browser: &Browser,
    ) -> Result<InstallAnswer> {
        let core = &self.core;
        let Checked { site, .. } = check(core, &request).await?;
        match operator::session_of_browser(core, &site, browser).await? {
            Some(operator) => require_owner(&operator).map(|()| InstallAnswer::Ask),
            None => {
                let back = Destination::Address(Some(address));
                open::begin(core, &site, FlowKind::OwnerSignIn, back, browser).await.map(InstallAnswer::SignIn)
            }
        }
    }

    /// What the owner who is signed in here is asked.
    ///
    /// # Errors
    /// As [`Identity::install_open`], and [`Code::Unauthenticated`] when no one of the site is signed in.
    pub async fn install_consent(&self, request: InstallRequest<'_>, browser: &Browser) -> Result<InstallConsent> {
        let Checked { client, site } = check(&self.core, &request).await?;
        installer(&self.core, &site, browser).await?;
        Ok(InstallConsent { client, site, host: shown_host(request.redirect_url) })
    }

    /// The owner's answer, and the address to which the browser goes with it: with a code when they agree, with
    /// `error=access_denied` when they don't. Who agrees and has a second factor has lately shown it in this session.
    ///
    /// # Errors
    /// As [`Identity::install_consent`]; [`Code::ProofNeeded`].
    pub async fn install_decide(&self, request: InstallRequest<'_>, agrees: bool, browser: &Browser) -> Result<String> {
        let core = &self.core;
        let Checked { client, site } = check(core, &request).await?;
        let owner = installer(core, &site, browser).await?;
        if agrees {
            proof::require_of_enrolled(core, &owner.operator.id, &owner.id).await?;
        } else {
            return Ok(answer_address(&request, vec![("error", "access_denied")]));
        }
        let code = token::opaque(core.world(), Kind::Install, site.number);
        let now = core.now();
        let scopes = client.bound().as_ref().map(Scopes::to_string);
        site.append_with(
            (site.id.clone(), TokenHash::of(code.expose()), client.id.clone(), scopes, owner.operator.id.clone()),
            move |tx, (site, hash, app, scopes, owner)| {
                boxed!({
                    let sql = "insert into stoa.install_code (site, hash, client, expires, scopes) \
                           values ($1, $2, $3, $4, $5)";
                    tx.send(sql, params![site, hash, app, now + LIFE, scopes.as_deref()]).await?;
                    let sql = "insert into stoa.installation (site, client, scopes, person, created) \
                           values ($1, $2, $3, $4, $5) on conflict (site, client) do update set \
                           scopes = excluded.scopes, person = excluded.person, created = excluded.created";
                    tx.send(sql, params![site, app, scopes.as_deref(), owner, now]).await?;
                    let actor = EventActor::operator(owner);
                    let entry = PeopleEntry { kind: EntryKind::AppInstalled, actor, now };
                    entry.put_ids(tx, site, vec![app.to_string()]).await
                })
            },
        )
        .await?;
        tracing::info!(site = %site.id, client = %client.id, owner = %owner.operator.id, "an application was installed");
        Ok(answer_address(&request, vec![("code", code.expose()), ("instanceId", site.id.as_str())]))
    }
}

/// # Errors
/// As [`Identity::install_open`], but for who is signed in.
async fn check(core: &Core, request: &InstallRequest<'_>) -> Result<Checked> {
    let client = client::get(core, &ClientId::from(request.app)).await?;
    if client.secret_hash.is_none() {
        return Err(Fault::new(Code::ClientUnknown));
    }
    if !client.allows_redirect(request.redirect_url) {
        return Err(Fault::new(Code::RedirectRefused));
    }
    if request.state.is_some_and(|it| it.len() > 2048) {
        return Err(Fault::because(Code::OauthInvalidRequest, "state is too long"));
    }
    let site = core.store().site(&client.site).await?;
    Ok(Checked { client, site })
}

/// The owner who is signed in in this browser.
async fn installer(core: &Core, site: &Site, browser: &Browser) -> Result<OperatorSession> {
    let operator = operator::session_of_browser(core, site, browser).await?;
    let operator = operator.ok_or_else(|| Fault::new(Code::Unauthenticated))?;
    require_owner(&operator)?;
    Ok(operator)
}

fn require_owner(operator: &OperatorSession) -> Result<()> {
    if operator.role == Role::Owner { Ok(()) } else { Err(Fault::new(Code::Forbidden)) }
}

fn answer_address<'a>(request: &InstallRequest<'a>, mut pairs: Vec<(&'a str, &'a str)>) -> String {
    pairs.extend(request.state.map(|it| ("state", it)));
    let uri = request.redirect_url;
    match Address::parse(uri) {
        Some(address) => address.with_query(pairs),
        // An address of an app's own scheme.
        None => format!("{uri}{}{}", if uri.contains('?') { '&' } else { '?' }, form(pairs)),
    }
}
