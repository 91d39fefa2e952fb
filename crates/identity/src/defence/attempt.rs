//! Attempts at a password: which are permitted although others guess at the same account.
//!
//! The counts are in `throttle`. Only when they refuse is it looked up whether the account knows the
//! browser, so that a sign-in costs nothing more as long as there is no attack; the refusal costs the same
//! whether or not there is such an account.

use crate::{
    Core, audit,
    defence::{
        device::{self, DeviceHints},
        throttle::{AttemptKind, Permit},
    },
    member::{Member, row},
    operator::{self, Operator},
};
use std::net::IpAddr;
use std::sync::Arc;
use stoa_kernel::{ClientId, Email, Result, SiteId, VisitorId};
use stoa_store::{Site, boxed};

/// Where an attempt to register or sign in comes from.
#[derive(Debug, Clone)]
pub struct Attempt {
    pub address: IpAddr,
    /// The visitor who becomes the member.
    pub visitor: Option<VisitorId>,
    /// The front end that makes it, where one does.
    pub client: Option<ClientId>,
    /// By what the browser may be known.
    pub hints: DeviceHints,
    /// The answer to a captcha.
    pub captcha: Option<String>,
}

/// Whose password is attempted.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Account<'a> {
    Member(&'a Email),
    Operator(&'a Email),
}

impl Account<'_> {
    /// What attempts are counted by.
    fn name(&self) -> String {
        match self {
            Self::Member(email) => email.folded().to_owned(),
            Self::Operator(email) => format!("person:{}", email.folded()),
        }
    }
}

/// Counts an attempt at a password before it is checked.
///
/// # Errors
/// [`stoa_kernel::Code::Throttled`] when the address, the account or the site had too many and the
/// account does not know the browser.
pub(crate) async fn sign_in(core: &Arc<Core>, site: &Site, attempt: &Attempt, account: Account<'_>) -> Result<Permit> {
    let (throttle, now) = (&core.throttle, core.now());
    match throttle.attempt(AttemptKind::SignIn, now, &site.id, attempt.address, &account.name()) {
        Ok(permit) => {
            if permit.is_last_free {
                record_lockout(core, site, attempt, account).await?;
            }
            Ok(permit)
        }
        Err(refused) => match known_browser(core, site, attempt, account).await? {
            Some(device) => throttle.attempt_known(now, &site.id, &device),
            None => Err(refused),
        },
    }
}

/// A new password makes what was guessed before worthless.
pub(crate) fn unlock(core: &Core, site: &Site, member: &Member) {
    if let Some(email) = Email::parse(&member.email) {
        core.throttle.unlock(&site.id, &Account::Member(&email).name());
    }
}

/// The same for somebody who runs these sites.
pub(crate) fn unlock_operator(core: &Core, sites: &[SiteId], operator: &Operator) {
    if let Some(email) = Email::parse(&operator.email) {
        let name = Account::Operator(&email).name();
        sites.iter().for_each(|it| core.throttle.unlock(it, &name));
    }
}

async fn known_browser(core: &Core, site: &Site, attempt: &Attempt, account: Account<'_>) -> Result<Option<Vec<u8>>> {
    let subject = match account {
        Account::Member(email) => row::find_by_email(site, email).await?.map(|it| it.id.as_str().to_owned()),
        Account::Operator(email) => operator::find_by_email(core, email).await?.map(|it| it.operator.device_subject()),
    };
    // Looked up for an unknown account as well.
    let subject = subject.unwrap_or_else(|| core.world().uuid());
    device::find(core, site, &subject, &attempt.hints, attempt.address).await
}

/// Records that others than the owner may be guessing, whether or not there is such a member.
async fn record_lockout(core: &Arc<Core>, site: &Site, attempt: &Attempt, account: Account<'_>) -> Result<()> {
    let (address, visitor) = (attempt.address, attempt.visitor.clone());
    let email = match account {
        Account::Member(email) => Some(email.clone()),
        Account::Operator(_) => None,
    };
    site.write_with((core.clone(), site.id.clone(), email, visitor), move |tx, (core, site, email, visitor)| {
        boxed!({
            let member = match email {
                Some(email) => row::by_email(tx, site, email).await?.map(|it| it.id),
                None => None,
            };
            let (event, actor) = (audit::Event::SignInSlowed, audit::Actor::Visitor(visitor.as_ref()));
            let entry = audit::Entry { event, actor, member: member.as_ref(), address: Some(address), detail: None };
            audit::record(core, tx, site, entry).await
        })
    })
    .await
}
