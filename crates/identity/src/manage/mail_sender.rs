//! Who says in whose name a site's messages are sent (decision 57): those who run the site choose name and address, and the
//! operator of the server in which domains that may be.

use crate::{
    Core, Identity, audit,
    defence::{attempt::Attempt, device::DeviceHints},
    mail::{MailSender, SenderChange, sender},
    sign_in::{operator_factor::proof, operator_password},
};
use std::{net::IpAddr, sync::Arc};
use stoa_kernel::{Caller, Code, Fault, Result, Secret, Violation};
use stoa_store::{ReaderPool, Site, boxed};

impl Identity {
    /// In whose name the site's messages are sent, for those who run it and for apps.
    ///
    /// # Errors
    /// [`Code::Forbidden`] for all others.
    pub async fn mail_sender(&self, site: &Site, caller: &Caller) -> Result<MailSender> {
        allow(caller)?;
        let id = site.id.clone();
        site.read(ReaderPool::Point, move |tx| boxed!(sender::read(tx, &id).await)).await
    }

    /// Changes it. Owners show their password with each change: messages with codes and links are believed for whom they
    /// are from. Apps have a key.
    ///
    /// # Errors
    /// [`Code::Forbidden`] for callers who are neither app nor owner; [`Code::Validation`] for what isn't allowed, and an
    /// owner's password that is missing; [`Code::PasswordWrong`]; [`Code::Throttled`].
    pub async fn mail_sender_update(
        &self,
        site: &Site,
        caller: &Caller,
        address: IpAddr,
        change: SenderChange,
        password: Option<&Secret>,
    ) -> Result<MailSender> {
        allow(caller)?;
        confirm(&self.core, site, caller, address, password).await?;
        let fixed_name = self.core.mail.fixed_name().map(str::to_owned);
        self.put(site, caller, Some(address), move |before| change.apply(before, fixed_name.as_deref())).await
    }

    /// Allows a site addresses in these domains and no longer in those; an address of the site in one of those goes with it.
    /// For the operator of the server alone: no route leads here. `caller` stands in the audit log.
    ///
    /// # Errors
    /// [`Code::Validation`] for what is no domain, or too many.
    pub async fn mail_domains_change(
        &self,
        site: &Site,
        caller: &Caller,
        allow: &[String],
        disallow: &[String],
    ) -> Result<MailSender> {
        let (allow, disallow) = (allow.to_vec(), disallow.to_vec());
        self.put(site, caller, None, move |before| before.with_domains(&allow, &disallow)).await
    }

    async fn put(
        &self,
        site: &Site,
        caller: &Caller,
        address: Option<IpAddr>,
        change: impl Fn(&MailSender) -> Result<MailSender> + Send + Sync + 'static,
    ) -> Result<MailSender> {
        let written = site.write_with(
            (self.core.clone(), site.id.clone(), caller.clone(), change),
            move |tx, (core, site, caller, change)| {
                boxed!({
                    let before = sender::read(tx, site).await?;
                    let after = change(&before)?;
                    if after != before {
                        sender::put(tx, site, &after).await?;
                        let (event, actor) = (audit::Event::MailSenderChanged, audit::Actor::Caller(caller));
                        let entry = audit::Entry { event, actor, member: None, address, detail: None };
                        audit::record(core, tx, site, entry).await?;
                    }
                    Ok(after)
                })
            },
        );
        written.await
    }
}

/// Whether an owner knows their password.
async fn confirm(
    core: &Arc<Core>,
    site: &Site,
    caller: &Caller,
    address: IpAddr,
    password: Option<&Secret>,
) -> Result<()> {
    let Caller::User { id, .. } = caller else { return Ok(()) };
    let Some(password) = password else {
        return Err(Fault::invalid(vec![Violation::new("password", "REQUIRED_FIELD", "your password is expected")]));
    };
    proof::require_of_enrolled_caller(core, caller).await?;
    let hints = DeviceHints::default();
    let attempt = Attempt { address, visitor: None, client: None, hints, captcha: None };
    operator_password::confirm_by_id(core, site, id, &attempt, password).await
}

fn allow(caller: &Caller) -> Result<()> {
    if caller.is_privileged() { Ok(()) } else { Err(Fault::new(Code::Forbidden)) }
}
