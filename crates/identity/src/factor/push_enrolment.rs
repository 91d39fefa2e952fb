//! How members enrol a browser that is asked by Web Push: it is sent a first code, which confirms it as the code of any other factor
//! does (`enrol`). The same browser again takes its own place.

use crate::{
    Identity,
    defence::{device, throttle::AttemptKind},
    factor::{
        FactorType, browsers, enrol, held, proof,
        push::{Subscription, key_of},
        row,
        sent::{self, LIFE, Sent},
        sent_enrolment::pending,
    },
};
use std::{net::IpAddr, sync::Arc};
use stoa_kernel::{Caller, Code, Fault, Millis, Result, Secret, Violation};
use stoa_outbound::Unpushed;
use stoa_store::{Site, boxed};

/// What a browser is called that says nothing of itself.
const NAME: &str = "Browser";
/// Seconds after which a push service may have recovered.
const RETRY: i64 = 60;

/// A browser that waits for its first code, which was sent to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushEnrolment {
    pub id: String,
    pub name: String,
    /// Of the code; another is sent by beginning again.
    pub expires: Millis,
}

impl Identity {
    /// Begins to enrol a browser: it is sent a code, which is shown to [`Identity::factor_confirm`]. Without a name it is called by
    /// what `user_agent` says.
    ///
    /// # Errors
    /// As [`Identity::factor_begin`]; [`Code::Validation`] as well for an address that says by itself that it may not be
    /// called; [`Code::Unavailable`] when nothing reaches the browser.
    pub async fn factor_begin_push(
        &self,
        site: &Arc<Site>,
        caller: &Caller,
        (subscription, name): (Subscription, Option<&str>),
        (address, user_agent): (IpAddr, Option<&str>),
    ) -> Result<PushEnrolment> {
        let core = &self.core;
        let (member, session) = proof::oneself(caller)?;
        let usual = user_agent.and_then(device::known_name);
        let name = held::checked_name(name, usual.as_deref().unwrap_or(NAME))?;
        proof::count_change(core, site, &member, &session).await?;
        core.push.service.check(subscription.target()).map_err(|it| refused(site, &it))?;
        let _sent = core.throttle.attempt(AttemptKind::Factor, core.now(), &site.id, address, "")?;
        // What can't be signed is not begun.
        key_of(core, site).await?;
        let same = browsers::same_as(core, site, &member, &subscription).await?;
        let id = row::push_id(&core.world().uuid());
        let factor = pending(core, site, &member, (id, name), &subscription.text())?;
        let begun = site.write_with((core.clone(), site.clone(), member, session, factor, same), |tx, input| {
            boxed!({
                let (core, site, member, session, factor, same) = input;
                let person = enrol::may_enrol(core, tx, site, member, session).await?;
                enrol::may_add(tx, &site.id, member, FactorType::Push, same).await?;
                row::begin(tx, &site.id, member, factor).await?;
                let code = sent::put(core, tx, &site.id, &Sent::first(&person, factor)).await?;
                let language = person.profile.text("language").map(str::to_owned);
                let begun =
                    PushEnrolment { id: factor.id.clone(), name: factor.name.clone(), expires: factor.created + LIFE };
                Ok((begun, Secret::new(code), language))
            })
        });
        let (begun, code, language) = begun.await?;
        let code = (&code, begun.expires);
        match browsers::send_code(core, site, &subscription, code, language.as_deref()).await? {
            Ok(()) => Ok(begun),
            // Whether a name leads inside is told by no other answer than that there is none.
            Err(why) => {
                let told = "The browser could not be reached by its push service; try again later.";
                Err(Fault::because(Code::Unavailable, told)
                    .with("retryAfterSeconds", RETRY)
                    .logged(format!("site {}: {why}", site.id)))
            }
        }
    }
}

/// Which names and machines there are inside is told to the log alone (decision 25).
fn refused(site: &Site, why: &Unpushed) -> Fault {
    let told = "this server sends nothing to push services at such an address";
    let violation = Violation::new("subscription.endpoint", "VALIDATION", told);
    Fault::invalid(vec![violation]).logged(format!("site {}: {why}", site.id))
}
