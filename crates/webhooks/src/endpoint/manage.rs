//! What those who manage endpoints do with them.

use crate::{
    Core, Webhooks,
    access::{Hearing, Reaches},
    endpoint::{
        Endpoint, EndpointState, Health,
        change::{EndpointChange, Resumption},
        consumer, row,
        secret::{self, EndpointSecret},
        status::{EndpointStatus, Waiting},
        types,
        wish::EndpointWish,
    },
};
use std::sync::Arc;
use stoa_identity::{app_key::KeyState, client::Client};
use stoa_kernel::{
    Caller, ClientId, Code, EndpointId, EntryKind, Fault, Millis, Result, Right, Scopes, SiteId, Violation,
};
use stoa_outbound::Target;
use stoa_sql::params;
use stoa_store::{
    ReaderPool, Site, Tx, boxed,
    outbox::{self, Asked, Start},
};

/// Why rows of the log stay for a while although all have read them: they can be sent once more.
const REASON: &str = "webhooks";
/// How long an endpoint that goes on with what comes from now on waits for transactions that run already.
const LONGEST_WAIT: Millis = 5_000;

impl Webhooks {
    /// Makes an endpoint, which hears of what happens from now on. Its secret is shown here only.
    ///
    /// # Errors
    /// [`Code::Forbidden`] and [`Code::ScopeMissing`] (`access`); [`Code::Validation`] for an address that may not be
    /// called, an application that there isn't or that isn't the caller's, and types that it may not hear;
    /// [`Code::TooMany`], for an application that is held to scopes also when it has as many as it may have by itself.
    pub async fn endpoint_create(
        &self,
        site: &Site,
        caller: &Caller,
        wish: EndpointWish,
    ) -> Result<(Endpoint, EndpointSecret)> {
        let core = &self.core;
        let reaches = Reaches::of(caller, Right::Write)?;
        let endpoint = endpoint_of(core, wish, reaches.scopes());
        check(core, site, &reaches, &endpoint).await?;
        let (secret, sealed) = secret::make(core, &site.id, &endpoint.id)?;
        site.outbox().expect_consumers().await?;
        let (most, most_of_app) = (core.limits.webhook_endpoints, core.limits.webhook_endpoints_of_app);
        let most_of_app = if reaches == Reaches::All { most } else { most_of_app };
        let made =
            site.write_alone_with((site.id.clone(), endpoint.clone(), sealed), move |tx, (site, endpoint, sealed)| {
                boxed!({
                    let all = row::all(tx, site).await?;
                    if all.len() >= most {
                        let why = format!("A site has at most {most} webhook endpoints.");
                        return Err(Fault::because(Code::TooMany, why));
                    }
                    // Others need places as well.
                    if all.iter().filter(|it| it.app == endpoint.app).count() >= most_of_app {
                        let why = format!("An application that is held to scopes has at most {most_of_app} of them.");
                        return Err(Fault::because(Code::TooMany, why));
                    }
                    row::put(tx, site, endpoint).await?;
                    secret::insert(tx, site, &endpoint.id, sealed).await?;
                    outbox::consumer_subscribe(tx, site, &endpoint.consumer(), Start::Newest).await?;
                    ask(tx, site).await
                })
            });
        made.await?;
        core.identity.redirect_session_log_read(site);
        tracing::info!(site = %site.id, endpoint = %endpoint.id, app = %endpoint.app, "a webhook endpoint was made");
        Ok((endpoint, secret))
    }

    /// The endpoints of a site that a caller may manage, the oldest first.
    ///
    /// # Errors
    /// [`Code::Forbidden`], [`Code::ScopeMissing`].
    pub async fn endpoint_list(&self, site: &Site, caller: &Caller) -> Result<Vec<EndpointStatus>> {
        let reaches = Reaches::of(caller, Right::Read)?;
        let id = site.id.clone();
        let read = site.read(ReaderPool::Point, move |tx| {
            boxed!({
                let mut endpoints = row::all(tx, &id).await?;
                endpoints.retain(|it| reaches.includes(&it.app));
                Ok((endpoints, Waiting::read(tx, &id, None).await?))
            })
        });
        let (endpoints, waiting) = read.await?;
        statuses(&self.core, site, endpoints, &waiting).await
    }

    /// One of them.
    ///
    /// # Errors
    /// As for all of them, and [`Code::NotFound`].
    pub async fn endpoint_get(&self, site: &Site, caller: &Caller, id: &EndpointId) -> Result<EndpointStatus> {
        let reaches = Reaches::of(caller, Right::Read)?;
        let (site_id, id) = (site.id.clone(), id.clone());
        let read = site.read(ReaderPool::Point, move |tx| {
            boxed!({
                let endpoint = within(tx, &site_id, &reaches, &id).await?;
                Ok((endpoint, Waiting::read(tx, &site_id, Some(&id)).await?))
            })
        });
        let (endpoint, waiting) = read.await?;
        let status = statuses(&self.core, site, vec![endpoint], &waiting).await?.pop();
        status.ok_or_else(|| Fault::internal("an endpoint without a status"))
    }

    /// Changes an endpoint. One that was probed is tried at once where its address is another one now. From then on it is
    /// held to what its caller is held to: who may not read items must not have them sent to an address of their own.
    ///
    /// # Errors
    /// As for making one, and [`Code::NotFound`].
    pub async fn endpoint_update(
        &self,
        site: &Site,
        caller: &Caller,
        id: &EndpointId,
        change: EndpointChange,
    ) -> Result<Endpoint> {
        let core = &self.core;
        let reaches = Reaches::of(caller, Right::Write)?;
        let mut wanted = self.find(site, &reaches, id).await?;
        change.apply(&mut wanted);
        wanted.scopes = Scopes::narrowed(wanted.scopes.as_ref(), reaches.scopes());
        check(core, site, &reaches, &wanted).await?;
        let (now, scopes) = (core.world.now(), reaches.scopes().cloned());
        let changed = self.write(site, &reaches, id, move |endpoint| {
            let is_moved = change.url.as_ref().is_some_and(|it| *it != endpoint.url);
            change.apply(endpoint);
            endpoint.scopes = Scopes::narrowed(endpoint.scopes.as_ref(), scopes.as_ref());
            endpoint.updated = now;
            if is_moved && endpoint.state == EndpointState::Open {
                activate(endpoint);
            }
        });
        changed.await
    }

    /// Deletes an endpoint with all that waits for it.
    ///
    /// # Errors
    /// [`Code::Forbidden`], [`Code::ScopeMissing`], [`Code::NotFound`].
    pub async fn endpoint_delete(&self, site: &Site, caller: &Caller, id: &EndpointId) -> Result<()> {
        let reaches = Reaches::of(caller, Right::Write)?;
        let deleted = site.write_with((site.id.clone(), reaches, id.clone()), |tx, (site, reaches, id)| {
            boxed!({
                let endpoint = within(tx, site, reaches, id).await?;
                outbox::consumer_unsubscribe(tx, site, &endpoint.consumer()).await?;
                row::delete(tx, site, id).await?;
                ask(tx, site).await
            })
        });
        deleted.await?;
        self.core.changed();
        self.core.identity.redirect_session_log_read(site);
        tracing::info!(site = %site.id, endpoint = %id, "a webhook endpoint was deleted");
        Ok(())
    }

    /// Sends nothing any more, until it is resumed. The log waits for it as long as for any reader: fourteen days, or
    /// 1 GB.
    ///
    /// # Errors
    /// [`Code::Forbidden`], [`Code::ScopeMissing`], [`Code::NotFound`].
    pub async fn endpoint_pause(&self, site: &Site, caller: &Caller, id: &EndpointId) -> Result<Endpoint> {
        let reaches = Reaches::of(caller, Right::Write)?;
        let now = self.core.world.now();
        let paused = self.write(site, &reaches, id, move |endpoint| {
            endpoint.state = EndpointState::Paused;
            endpoint.reason = None;
            endpoint.updated = now;
        });
        paused.await
    }

    /// Sends again, from where it was; or with what comes from now on, and then what waited for the endpoint is
    /// forgotten, but for what was given up. On PostgreSQL it waits for transactions that run already, so that none of what
    /// was written before is sent; where one runs for longer than five seconds, some of it is.
    ///
    /// # Errors
    /// [`Code::Forbidden`], [`Code::ScopeMissing`], [`Code::NotFound`]; [`Code::Validation`] when its application is
    /// gone.
    pub async fn endpoint_resume(
        &self,
        site: &Site,
        caller: &Caller,
        id: &EndpointId,
        resumption: Resumption,
    ) -> Result<Endpoint> {
        let core = &self.core;
        let reaches = Reaches::of(caller, Right::Write)?;
        let wanted = self.find(site, &reaches, id).await?;
        check(core, site, &reaches, &wanted).await?;
        let now = core.world.now();
        if resumption.from_now {
            site.outbox().until_readable(LONGEST_WAIT).await?;
            let skipped = site.append_with((site.id.clone(), id.clone()), |tx, (site, id)| {
                boxed!({
                    for is_on in [true, false] {
                        outbox::consumer_move(tx, site, &consumer(id, is_on), Start::Newest).await?;
                    }
                    let sql = "delete from stoa.webhook_event where site = $1 and endpoint = $2 and state <> 'DEAD'";
                    tx.execute(sql, &params![site, id]).await?;
                    Ok(())
                })
            });
            skipped.await?;
            core.changed();
        }
        let resumed = self.write(site, &reaches, id, move |endpoint| {
            activate(endpoint);
            endpoint.updated = now;
        });
        resumed.await
    }

    /// Gives an endpoint another secret, shown here only. The one before it signs beside it for a day.
    ///
    /// # Errors
    /// [`Code::Forbidden`], [`Code::ScopeMissing`], [`Code::NotFound`].
    pub async fn endpoint_secret_rotate(
        &self,
        site: &Site,
        caller: &Caller,
        id: &EndpointId,
    ) -> Result<EndpointSecret> {
        let core = &self.core;
        let reaches = Reaches::of(caller, Right::Write)?;
        let (secret, sealed) = secret::make(core, &site.id, id)?;
        let until = core.world.now() + core.times.secret_overlap;
        let rotated =
            site.write_with((site.id.clone(), reaches, id.clone(), sealed), move |tx, (site, reaches, id, sealed)| {
                boxed!({
                    let endpoint = within(tx, site, reaches, id).await?;
                    secret::retire(tx, site, id, until).await?;
                    secret::insert(tx, site, id, sealed).await?;
                    // Whoever sends for it begins again, with the new secret.
                    let consumer = endpoint.consumer();
                    outbox::consumer_rename(tx, site, &consumer, &consumer).await?;
                    Ok(())
                })
            });
        rotated.await?;
        core.changed();
        Ok(secret)
    }

    /// An endpoint that a caller may manage, as it is stored.
    async fn find(&self, site: &Site, reaches: &Reaches, id: &EndpointId) -> Result<Endpoint> {
        let (site_id, reaches, id) = (site.id.clone(), reaches.clone(), id.clone());
        site.read(ReaderPool::Point, move |tx| boxed!(within(tx, &site_id, &reaches, &id).await)).await
    }

    /// Changes an endpoint; whoever sends for it begins again.
    async fn write<F>(&self, site: &Site, reaches: &Reaches, id: &EndpointId, change: F) -> Result<Endpoint>
    where
        F: Fn(&mut Endpoint) + Send + Sync + 'static,
    {
        let written = site.write_with(
            (site.id.clone(), reaches.clone(), id.clone(), change),
            |tx, (site, reaches, id, change)| {
                boxed!({
                    let mut endpoint = within(tx, site, reaches, id).await?;
                    let before = endpoint.consumer();
                    change(&mut endpoint);
                    row::put(tx, site, &endpoint).await?;
                    outbox::consumer_rename(tx, site, &before, &endpoint.consumer()).await?;
                    ask(tx, site).await?;
                    Ok(endpoint)
                })
            },
        );
        let endpoint = written.await?;
        self.core.changed();
        self.core.identity.redirect_session_log_read(site);
        tracing::info!(site = %site.id, endpoint = %id, state = endpoint.state.as_str(), "a webhook endpoint changed");
        Ok(endpoint)
    }
}

/// An endpoint that a caller may manage.
pub(crate) async fn within(tx: &mut Tx<'_>, site: &SiteId, reaches: &Reaches, id: &EndpointId) -> Result<Endpoint> {
    let endpoint = row::get(tx, site, id).await?.filter(|it| reaches.includes(&it.app));
    endpoint.ok_or_else(|| Fault::because(Code::NotFound, "The site has no such webhook endpoint."))
}

fn endpoint_of(core: &Core, wish: EndpointWish, scopes: Option<&Scopes>) -> Endpoint {
    let EndpointWish { app, url, types, collections, format, max_bytes, timeout } = wish;
    let now = core.world.now();
    Endpoint {
        id: EndpointId::from(core.world.uuid()),
        app,
        url,
        types,
        collections,
        format,
        max_bytes,
        timeout,
        state: EndpointState::Active,
        reason: None,
        created: now,
        updated: now,
        scopes: scopes.cloned(),
        health: Health::default(),
    }
}

/// As if nothing had failed.
fn activate(endpoint: &mut Endpoint) {
    endpoint.state = EndpointState::Active;
    endpoint.reason = None;
    endpoint.health.failing_since = None;
    endpoint.health.probes = 0;
    endpoint.health.next_probe = None;
}

/// Refuses an endpoint that can't be.
async fn check(core: &Core, site: &Site, reaches: &Reaches, endpoint: &Endpoint) -> Result<()> {
    let mut wrong = Vec::new();
    let mut refuse = |field: &str, why: String| wrong.push(Violation::new(field, "FORMAT", why));
    // What is inside of a network is not told: which address is which kind, and which names there are.
    let is_fit = Target::parse(&endpoint.url).is_ok_and(|it| core.reach.check(&it).is_ok());
    if !is_fit {
        refuse("url", "the address may not be called: https and a host of the public internet are expected".to_owned());
    }
    match app(core, &site.id, &endpoint.app).await? {
        Some(app) if reaches.includes(&app.id) => {
            let hearing = Hearing::of(endpoint.scopes.as_ref(), &app);
            if let Some(why) = unheard(&hearing, &endpoint.types, endpoint.collections.as_deref()) {
                refuse("types", why);
            }
        }
        Some(_) => refuse("appId", "an application that is held to scopes has endpoints of its own only".to_owned()),
        None => refuse("appId", "the site has no application with this id; a client with a secret is one".to_owned()),
    }
    if wrong.is_empty() { Ok(()) } else { Err(Fault::invalid(wrong)) }
}

/// Why not all of these types of these collections may be heard.
pub(crate) fn unheard(hearing: &Hearing, types: &[String], collections: Option<&[String]>) -> Option<String> {
    let collections: Vec<Option<&str>> = match collections {
        Some(ids) => ids.iter().map(|it| Some(it.as_str())).collect(),
        None => vec![None],
    };
    let is_heard = |kind: &EntryKind| collections.iter().all(|it| hearing.allows(*kind, *it));
    let kinds = types::kinds(types);
    let kind = kinds.iter().find(|it| !is_heard(it))?;
    let name = kind.events().iter().map(|it| it.name).find(|it| types.iter().any(|name| name == it))?;
    Some(format!("{name} needs the scope {}, which the application doesn't have", Hearing::missing(*kind)))
}

/// An application of a site; nothing when there is none of this id.
pub(crate) async fn app(core: &Core, site: &SiteId, id: &ClientId) -> Result<Option<Arc<Client>>> {
    match core.identity.client_get(id).await {
        Ok(app) if app.site == *site && app.secret_hash.is_some() => Ok(Some(app)),
        Ok(_) => Ok(None),
        Err(fault) if fault.code() == Code::ClientUnknown => Ok(None),
        Err(fault) => Err(fault),
    }
}

/// Has the log tell what the endpoints of a site hear, and no more.
async fn ask(tx: &mut Tx<'_>, site: &SiteId) -> Result<()> {
    let endpoints = row::all(tx, site).await?;
    let hears = |kind: EntryKind| endpoints.iter().any(|it| types::kinds(&it.types).contains(&kind));
    outbox::ask(tx, site, Asked::TruncatedItems, hears(EntryKind::ItemDeleted)).await?;
    outbox::ask(tx, site, Asked::RedirectSessions, hears(EntryKind::RedirectSessionCreated)).await?;
    match endpoints.is_empty() {
        true => outbox::keep_no_longer(tx, site, REASON).await,
        false => outbox::keep(tx, site, REASON).await,
    }
}

async fn statuses(
    core: &Core,
    site: &Site,
    endpoints: Vec<Endpoint>,
    waiting: &Waiting,
) -> Result<Vec<EndpointStatus>> {
    let consumers: Vec<String> = endpoints.iter().map(Endpoint::consumer).collect();
    let lags = site.outbox().waits(&consumers, core.world.now()).await?;
    let mut all = Vec::with_capacity(endpoints.len());
    for endpoint in endpoints {
        let has_key = match core.identity.app_key_list(&site.id, &endpoint.app).await {
            Ok(keys) => keys.iter().any(|it| it.state == KeyState::Active),
            Err(fault) if fault.code() == Code::NotFound => false,
            Err(fault) => return Err(fault),
        };
        all.push(EndpointStatus::new(endpoint, waiting, &lags, has_key));
    }
    Ok(all)
}
