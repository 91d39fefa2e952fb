//! How a member adds the password as second factor.

use crate::{
    Identity,
    factor::{
        enrol::{self, Change},
        held::Enrolled,
        password, proof,
    },
    mail,
};
use std::{net::IpAddr, sync::Arc};
use stoa_kernel::{Caller, Code, Fault, Result, Violation};
use stoa_store::{Site, boxed};

impl Identity {
    /// Has the calling member asked for the password after an identity provider has shown who they are: from now on.
    ///
    /// # Errors
    /// As [`Identity::factor_begin`]; [`Code::Validation`] for a member who has no password or signs in by no provider;
    /// [`Code::TooMany`] when it is one already.
    pub async fn factor_add_password(&self, site: &Arc<Site>, caller: &Caller, address: IpAddr) -> Result<Enrolled> {
        let core = &self.core;
        let (member, session) = proof::oneself(caller)?;
        proof::count_change(core, site, &member, &session).await?;
        let input = (core.clone(), site.clone(), member, session);
        let added = site.write_with(input, move |tx, (core, site, member, session)| {
            boxed!({
                let person = enrol::may_enrol(core, tx, site, member, session).await?;
                if password::since(tx, &site.id, member).await?.is_some() {
                    return Err(Fault::new(Code::TooMany));
                }
                if !password::can_be(&person) {
                    let why = "it takes a password, and an identity provider that signs in";
                    return Err(Fault::invalid(vec![Violation::new("type", "VALIDATION", why)]));
                }
                password::set(tx, &site.id, member, Some(core.now())).await?;
                let change = Change { session: Some(session), address, is_passkey: false };
                enrol::count_from_now(core, tx, &site.id, &person, change).await?;
                let factor =
                    password::of_member(tx, &site.id, member).await?.ok_or_else(|| Fault::new(Code::NotFound))?;
                Ok(Enrolled { factor, recovery_codes: None })
            })
        });
        let enrolled = added.await?;
        mail::deliver_soon(core, &site.id).await;
        Ok(enrolled)
    }
}
