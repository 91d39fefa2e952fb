//! Flows whose browser goes to an identity provider and comes back (decision 61). What the provider said stands in the flow's own record;
//! the page that is asked for next goes on with it.

use crate::{
    Core,
    browser::Browser,
    flow::{
        problem,
        record::{self, Context, Link, Record},
        state::{EffectResult, State},
        step::{self, Entry},
        wire::Provider,
    },
    provider::{
        Failed, IdpConnection, Once, ProviderFailure, ProviderPerson, authorization_url, connection, link,
        trip::{Purpose, Trip},
    },
    sign_in::Outcome,
};
use std::sync::Arc;
use stoa_kernel::{Code, Fault, Result, TokenHash};
use stoa_store::{Site, boxed};

/// The address of the provider with this id, for the browser of the flow with this token.
///
/// # Errors
/// [`Code::StateTokenInvalid`] for a browser without the cookie of flows; what the engine answers.
pub(super) async fn ask(
    core: &Core,
    site: &Site,
    id: &str,
    record: &Record,
    (token, browser): (&str, &Browser),
) -> Result<EffectResult> {
    let all = connection::all(site).await?;
    // One that the page did not show.
    let Some(connection) = all.into_iter().find(|it| it.id == id) else {
        return Ok(EffectResult::Refused(problem::moved_on()));
    };
    if !connection.is_enabled {
        let (provider, reason) = (named_by(&connection), ProviderFailure::Unavailable);
        return Ok(EffectResult::ProviderFailed { provider, reason });
    }
    let cookie = browser.flow.as_deref().ok_or_else(|| Fault::new(Code::StateTokenInvalid))?;
    Ok(match way(core, site, &connection, &record.context, (token, browser, cookie)).await? {
        Ok(url) => EffectResult::Sending { url },
        Err(reason) => EffectResult::ProviderFailed { provider: named_by(&connection), reason },
    })
}

/// The address of a provider, for a browser with this cookie that is in the flow with this token.
pub(super) async fn way(
    core: &Core,
    site: &Site,
    connection: &IdpConnection,
    context: &Context,
    (token, browser, cookie): (&str, &Browser, &str),
) -> Result<std::result::Result<String, ProviderFailure>> {
    // The provider would send the browser to a host that it brings no cookie of.
    if browser.is_at_sites_host {
        return Ok(Err(ProviderFailure::Unavailable));
    }
    let asks_who = context.authorization.as_ref().is_some_and(|it| it.prompt.asks_who());
    let purpose = Purpose::Flow { token: token.to_owned() };
    let trip = Trip::begin(core, &connection.id, browser, cookie, purpose);
    let url = authorization_url(core, site, connection, &trip, asks_who).await?;
    Ok(url.map_err(|failed| {
        failed.log(connection);
        failed.reason
    }))
}

/// A provider as pages name it.
pub(super) fn named_by(connection: &IdpConnection) -> Provider {
    Provider { id: connection.id.clone(), label: connection.label.clone() }
}

/// Notes in the flow what is linked once the member has signed in whose sign-in goes on so.
pub(super) async fn keep(site: &Arc<Site>, of: &Record, person: &ProviderPerson, outcome: &Outcome) -> Result<()> {
    let Some(link) = Link::of(person, outcome) else { return Ok(()) };
    let input = (site.clone(), of.clone(), link);
    let kept = site.write_with(input, |tx, (site, record, link)| boxed!(record::link(tx, site, record, link).await));
    kept.await
}

/// Puts into the flow what its browser has come back with. A flow that has moved on meanwhile stays where it is; one that is over, or
/// was begun in another browser, is none.
///
/// # Errors
/// [`Code::StateTokenInvalid`] for such a flow, and for an answer that was used.
pub(crate) async fn put(
    core: &Core,
    site: &Arc<Site>,
    (token, browser): (&str, &Browser),
    connection: &IdpConnection,
    person: std::result::Result<(ProviderPerson, Once), Failed>,
) -> Result<()> {
    let found = record::find(site, TokenHash::of(token), browser.flow.as_deref(), core.now()).await?;
    let waits = matches!(
        found.state,
        State::SignIn { .. }
            | State::SignUp { .. }
            | State::ByProvider { .. }
            | State::LinkProvider { .. }
            | State::ProviderFailed { .. }
    );
    let (state, once) = match person {
        Ok((person, once)) => {
            let state = step::begin(Entry::Returned { person }).ok_or_else(|| Fault::new(Code::NotBuilt))?;
            (state, Some(once))
        }
        Err(failed) => {
            failed.log(connection);
            (State::ProviderFailed { provider: named_by(connection), reason: failed.reason }, None)
        }
    };
    if waits && found.kind.is_of_members() {
        let put = site.write_with((site.clone(), found, state, once), |tx, (site, found, state, once)| {
            boxed!({
                if let Some(once) = once
                    && !link::take(tx, &site.id, once).await?
                {
                    return Err(Fault::new(Code::StateTokenInvalid));
                }
                record::advance(tx, site, found, state).await.map(drop)
            })
        });
        put.await?;
    }
    Ok(())
}
