//! Sign-in, sign-up, recovery and signing out on the account pages.
//!
//! A flow is a stored [`state::State`] and a pure [`step::step`]; the server conducts it (`conduct`) and
//! the page draws one step at a time (`wire`). The pages never decide what comes next.

mod conduct;
mod effects;
pub(crate) mod open;
mod problem;
mod record;
pub mod state;
pub mod step;
#[cfg(test)]
mod typescript;
mod view;
#[cfg(test)]
mod walk;
pub mod wire;

pub use wire::{FlowInput, FlowKind, FlowStart, FlowView};

use crate::{
    Core,
    operator::{self, PersonSession},
    session::{self, Session},
    token::{Kind, site_number},
};
use std::net::IpAddr;
use stoa_kernel::{Result, Secret};
use stoa_store::Site;

/// What a browser brings along with a request to the account pages.
#[derive(Debug, Clone)]
pub struct Browser {
    /// Cookie of a member's session.
    pub session: Option<String>,
    /// Cookie of a person who runs sites.
    pub person: Option<String>,
    /// Cookie that binds flows to this browser.
    pub flow: Option<String>,
    /// Cookie by which the browser is known again after its session.
    pub device: Option<String>,
    /// What the browser says it is.
    pub user_agent: Option<String>,
    /// The first language that the browser asks for (BCP 47).
    pub language: Option<String>,
    pub address: IpAddr,
    /// This server's own address, without final slash: issuer and links are made from it.
    pub base_url: String,
}

/// What becomes of a cookie.
#[derive(Debug, Default)]
pub enum Change {
    #[default]
    Keep,
    Set(Secret),
    Clear,
}

/// The cookies that an answer changes.
#[derive(Debug, Default)]
pub struct Cookies {
    pub session: Change,
    pub person: Change,
    pub flow: Change,
    pub device: Change,
}

/// A flow that has begun: its token is shown in the address of its page, `/account/flow/{token}`.
#[derive(Debug)]
pub struct Beginning {
    pub token: Secret,
    pub cookies: Cookies,
}

/// The next step, and what else the answer carries.
#[derive(Debug)]
pub struct Shown {
    pub view: FlowView,
    pub cookies: Cookies,
}

impl Browser {
    /// The member's session in this browser, when there is one at this site.
    pub(crate) async fn session(&self, core: &Core, site: &Site) -> Result<Option<Session>> {
        match &self.session {
            Some(cookie) => session::by_cookie(core, site, cookie).await,
            None => Ok(None),
        }
    }

    /// What becomes of the session cookie when the browser is signed out of a site. One host may serve several, and
    /// who signs out of one of them stays signed in at the others.
    pub(crate) fn signed_out(&self, site: &Site) -> Change {
        let is_others = self.session.as_deref().and_then(|it| site_number(Kind::Cookie, it));
        if is_others.is_some_and(|it| it != site.number) { Change::Keep } else { Change::Clear }
    }

    /// The session of a person who runs this site.
    pub(crate) async fn person(&self, core: &Core, site: &Site) -> Result<Option<PersonSession>> {
        let Some(cookie) = &self.person else { return Ok(None) };
        Ok(operator::session_by_cookie(core, cookie).await?.filter(|it| it.site == site.id))
    }
}
