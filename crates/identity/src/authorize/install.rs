//! Installing an application at a site (docs/protocol/identity.md §16.1).
//!
//! An application is a client with a secret; an instance of it is a site, so the instance's id is the
//! site's. An owner of the site opens the installer's address; the browser goes on to the application
//! with a code, and the application exchanges it, with its secret, for tokens of an App caller. What the
//! code adds to the secret is that the browser which brings it is an owner's.

use crate::{
    Identity,
    browser::{Beginning, Browser},
    client,
    flow::{
        FlowKind,
        open::{self, Destination},
    },
    operator,
    token::{self, Kind},
};
use stoa_kernel::{ClientId, Code, Fault, Millis, Result, Role, TokenHash};
use stoa_sql::params;
use stoa_store::boxed;

/// Life of a code.
const LIFE: Millis = 5 * 60_000;

/// What the installer's address asks for.
#[derive(Debug, Clone)]
pub struct InstallRequest<'a> {
    pub app: &'a str,
    pub redirect_url: &'a str,
    pub state: Option<&'a str>,
    /// The address itself, to come back to.
    pub address: String,
}

/// How the installer's address is answered.
#[derive(Debug)]
pub enum InstallAnswer {
    /// The browser goes there, with a code.
    Redirect(String),
    /// No operator of the site is signed in here.
    SignIn(Beginning),
}

impl Identity {
    /// Installs an application at its site, in the name of the owner who is signed in.
    ///
    /// # Errors
    /// [`Code::ClientUnknown`] also for clients without a secret; [`Code::RedirectRefused`];
    /// [`Code::Validation`] for a state that is too long; [`Code::Forbidden`] for an operator who is no owner.
    pub async fn install(&self, request: InstallRequest<'_>, browser: &Browser) -> Result<InstallAnswer> {
        let core = &self.core;
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
        let Some(operator) = operator::session_of_browser(core, &site, browser).await? else {
            let back = Some(request.address);
            let begun = open::begin(core, &site, FlowKind::OwnerSignIn, Destination::Address(back), browser).await?;
            return Ok(InstallAnswer::SignIn(begun));
        };
        if operator.role != Role::Owner {
            return Err(Fault::new(Code::Forbidden));
        }
        let code = token::opaque(core.world(), Kind::Install, site.number);
        let expires = core.now() + LIFE;
        site.append_with(
            (site.id.clone(), TokenHash::of(code.expose()), client.id.clone()),
            move |tx, (site, hash, app)| {
                boxed!({
                    let sql = "insert into stoa.install_code (site, hash, client, expires) values ($1, $2, $3, $4)";
                    tx.send(sql, params![site, hash, app, expires]).await?;
                    Ok(())
                })
            },
        )
        .await?;
        let mut pairs = vec![("code", code.expose()), ("instanceId", site.id.as_str())];
        pairs.extend(request.state.map(|it| ("state", it)));
        let uri = request.redirect_url;
        Ok(InstallAnswer::Redirect(match crate::address::Address::parse(uri) {
            Some(address) => address.with_query(pairs),
            // An address of an app's own scheme.
            None => format!("{uri}{}{}", if uri.contains('?') { '&' } else { '?' }, crate::address::form(pairs)),
        }))
    }
}
