//! A browser: what it brings along with a request, and the cookies that an answer changes.

use std::net::IpAddr;
use stoa_kernel::Secret;

/// What a browser brings along with a request to the account pages.
#[derive(Debug, Clone)]
pub struct Browser {
    /// Cookies of members' sessions, one a site at most: several sites may share a host.
    pub session: Vec<String>,
    /// Cookies of operators, who run sites; one a site at most.
    pub operator: Vec<String>,
    /// Cookie that binds flows to this browser.
    pub flow: Option<String>,
    /// Cookie by which the browser is known again after its session.
    pub device: Option<String>,
    /// What the browser says it is.
    pub user_agent: Option<String>,
    /// The first language that the browser asks for (BCP 47).
    pub language: Option<String>,
    pub address: IpAddr,
    /// This server's own address, without final slash: addresses of its own pages begin with it.
    pub base_url: String,
}

/// What becomes of a cookie.
#[derive(Debug, Default)]
pub enum Change {
    #[default]
    Keep,
    Set(Secret),
    /// No one is signed in any more at the site with this number.
    Clear(i64),
}

/// The cookies that an answer changes.
#[derive(Debug, Default)]
pub struct Cookies {
    pub session: Change,
    pub operator: Change,
    pub flow: Change,
    pub device: Change,
}

/// A flow that has begun: its token is shown in the address of its page, `/account/flow/{token}`.
#[derive(Debug)]
pub struct Beginning {
    pub token: Secret,
    pub cookies: Cookies,
}
