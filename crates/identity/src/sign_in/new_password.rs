//! What is wrong with a password that a person chooses. One that was set before isn't looked at again.

use crate::{
    Core,
    member::profile::Profile,
    password::{self, ContextWords, Share},
    token::site_names,
};
use ring::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};
use stoa_kernel::{Fault, Result, Secret, Violation};
use stoa_store::Site;

/// For whom a password is, as far as others know.
#[derive(Clone, Copy)]
pub(crate) struct Person<'a> {
    pub email: &'a str,
    pub profile: Option<&'a Profile>,
}

/// What is wrong with a password for any person: too short, too long, common. `field` is the JSON path it came from.
pub(crate) fn violation(core: &Core, password: &Secret, field: &str) -> Option<Violation> {
    password::violation(password, field, &core.config().refused_passwords)
}

/// The same, and what is wrong with it for this person at this site: it is made of words that stand around it.
pub(crate) async fn violation_for(
    core: &Core,
    site: &Site,
    person: Person<'_>,
    password: &Secret,
    field: &str,
) -> Result<Option<Violation>> {
    if let Some(violation) = violation(core, password, field) {
        return Ok(Some(violation));
    }
    let names = site_names::of_site(core, &site.id).await?;
    let url = core.mail_queue.url();
    let own_host = url.split_once("://").map_or(&*url, |it| it.1).split([':', '/']).next();
    let of_profile = |name: &'static str| person.profile.and_then(|it| it.text(name));
    let given = ["firstName", "lastName", "nickname"].into_iter().filter_map(of_profile);
    let name = site.name();
    let around = [person.email, name.as_str()].into_iter().chain(own_host);
    let words = ContextWords::of(around.chain(names.hosts.iter().map(String::as_str)).chain(given));
    Ok(words.violation(password, field, &core.config().refused_passwords))
}

/// Refuses a password that is known from a leak, where the operator of the server named a service that tells
/// ([`crate::Config::leaked_passwords_url`]). One that gives no answer refuses none. It is asked once the password is
/// counted, so that a stranger can't have it asked without end, and before it is hashed; networks have a share of the
/// questions at a time.
///
/// # Errors
/// [`stoa_kernel::Code::Validation`], with the rule `LEAKED_PASSWORD`.
pub(crate) async fn require_unleaked(core: &Core, share: Share, password: &Secret, field: &str) -> Result<()> {
    let Some(service) = &core.leaked_passwords else { return Ok(()) };
    let hash = digest(&SHA1_FOR_LEGACY_USE_ONLY, password.expose().as_bytes());
    if service.knows(hash.as_ref(), share.network(), core.now()).await != Some(true) {
        return Ok(());
    }
    let mut violation = Violation::new(field, "OTHER", "this password is known from a leak elsewhere");
    violation.rule_name = Some("LEAKED_PASSWORD");
    Err(Fault::invalid(vec![violation]))
}
