//! One message to an endpoint, at once, to see whether it arrives.

use crate::{
    Webhooks,
    access::Reaches,
    delivery::attempt::{Receiver, Report, Verdict, attempt},
    endpoint::{Endpoint, manage::within, secret, types},
    message::{envelope::Maker, event::Event},
};
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::{collections::HashMap, sync::Arc, time::Duration};
use stoa_kernel::{
    Caller, ClientId, Code, EndpointId, EventActor, EventSource, EventType, Fault, Form, Millis, Result, Right, SiteId,
};
use stoa_outbound::Target;
use stoa_store::{ReaderPool, Site, boxed};

/// How it went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestOutcome {
    pub delivered: bool,
    /// What the receiver answered, if it did, and the beginning of its body.
    pub status: Option<u16>,
    pub excerpt: String,
    /// How long it took, in milliseconds.
    pub millis: Millis,
    /// What went wrong.
    pub error: Option<String>,
    /// The type of the event that was sent.
    pub event_type: &'static str,
}

impl TestOutcome {
    /// `{"delivered", "type", "status"?, "excerpt", "ms", "error"?}`.
    pub fn to_json(&self) -> Value {
        let mut view = json!({
            "delivered": self.delivered, "type": self.event_type, "excerpt": self.excerpt, "ms": self.millis,
        });
        if let Some(status) = self.status {
            view["status"] = json!(status);
        }
        if let Some(error) = &self.error {
            view["error"] = json!(error);
        }
        view
    }
}

/// Tests under way. Each takes one of the places that its site has for calls, so a site has few of them, and one
/// application has not all of those.
#[derive(Default)]
pub(crate) struct Tests(Mutex<HashMap<SiteId, Vec<ClientId>>>);

const OF_SITE: usize = 4;
const OF_APP: usize = 2;
/// When who is refused may come back.
const RETRY_SECONDS: u64 = 5;

/// A test under way, until it is dropped.
struct Testing<'t> {
    tests: &'t Tests,
    site: SiteId,
    app: ClientId,
}

impl Tests {
    fn enter(&self, site: &SiteId, app: &ClientId) -> Result<Testing<'_>> {
        let mut sites = self.0.lock();
        let apps = sites.get(site).map_or(&[][..], Vec::as_slice);
        if apps.len() >= OF_SITE || apps.iter().filter(|it| *it == app).count() >= OF_APP {
            let fault = Fault::because(Code::Throttled, "Other tests of webhooks are under way.");
            return Err(fault.with("retryAfterSeconds", RETRY_SECONDS));
        }
        sites.entry(site.clone()).or_default().push(app.clone());
        Ok(Testing { tests: self, site: site.clone(), app: app.clone() })
    }
}

impl Drop for Testing<'_> {
    fn drop(&mut self) {
        let mut sites = self.tests.0.lock();
        let Some(apps) = sites.get_mut(&self.site) else { return };
        if let Some(at) = apps.iter().position(|it| *it == self.app) {
            apps.swap_remove(at);
        }
        if apps.is_empty() {
            sites.remove(&self.site);
        }
    }
}

impl Webhooks {
    /// Sends an event of the endpoint's first type about something that there isn't, whose `originatedFrom` says so. What
    /// comes of it changes nothing, whatever the endpoint's state.
    ///
    /// # Errors
    /// [`Code::Forbidden`], [`Code::ScopeMissing`], [`Code::NotFound`]; [`Code::Throttled`] while others are under way.
    pub async fn test(&self, site: &Site, caller: &Caller, id: &EndpointId) -> Result<TestOutcome> {
        let core = &self.core;
        let reaches = Reaches::of(caller, Right::Write)?;
        let (site_id, endpoint_id) = (site.id.clone(), id.clone());
        let read = site.read(ReaderPool::Point, move |tx| boxed!(within(tx, &site_id, &reaches, &endpoint_id).await));
        let endpoint = read.await?;
        let _testing = core.tests.enter(&site.id, &endpoint.app)?;
        let (event, event_type) = self.sample(&endpoint)?;
        let maker = Maker {
            site: site.id.clone(),
            app: endpoint.app.clone(),
            format: endpoint.format,
            max_bytes: endpoint.max_bytes,
            secrets: secret::keys(core, site, id).await?,
        };
        let target = Target::parse(&endpoint.url).map_err(Fault::internal)?;
        let timeout = Duration::from_millis(endpoint.timeout.unsigned_abs());
        let receiver = Arc::new(Receiver { target, timeout, maker });
        let Report { verdict, status, millis, what, excerpt } = attempt(core, site, receiver, Arc::new(event)).await;
        let delivered = verdict == Verdict::Taken;
        Ok(TestOutcome { delivered, status, excerpt, millis, error: (!delivered).then_some(what), event_type })
    }

    /// An event of the endpoint's first type, about something that there isn't.
    fn sample(&self, endpoint: &Endpoint) -> Result<(Event, &'static str)> {
        let core = &self.core;
        let none = || Fault::internal("an endpoint without a type");
        let kind = *types::kinds(&endpoint.types).first().ok_or_else(none)?;
        let named = |it: &&EventType| endpoint.types.iter().any(|name| name == it.name);
        let event_type = kind.events().iter().find(named).ok_or_else(none)?;
        let collection = endpoint.collections.as_ref().and_then(|it| it.first()).map_or("test", String::as_str);
        let entity = match event_type.fqdn {
            "wix.data.v2.data_item" => json!({
                "id": "test", "dataCollectionId": collection, "data": { "_id": "test", "title": "A test" },
            }),
            "" => json!({ "appId": endpoint.app, "originInstanceId": "" }),
            _ => json!({ "id": "test" }),
        };
        let change = match event_type.form {
            Form::Updated => json!({ "currentEntity": entity }),
            _ => entity,
        };
        let (row, now, actor) = (format!("test-{}", core.world.uuid()), core.world.now(), EventActor::server());
        let source = EventSource { row: &row, index: 0, sequence: 0, time: now, actor: &actor };
        let mut event = event_type.event(source, "test", change);
        if event_type.form != Form::Plain {
            event.body["originatedFrom"] = json!("test");
        }
        Ok((Event::of(kind, None, (0, now), &event)?, event_type.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_of_a_site_and_of_an_application_are_few() {
        let tests = Tests::default();
        let enter = |site: &str, app: &str| tests.enter(&SiteId::from(site), &ClientId::from(app));
        let first = enter("s", "a").expect("a place");
        let second = enter("s", "a").expect("a place");
        assert_eq!(enter("s", "a").err().map(|it| it.code()), Some(Code::Throttled), "the application has two");
        let others = [enter("s", "b"), enter("s", "c")].map(|it| it.expect("a place"));
        assert!(enter("s", "d").is_err(), "the site has four");
        let elsewhere = enter("t", "a").expect("a place of another site");
        drop(first);
        let third = enter("s", "a").expect("a place that became free");
        drop((second, third, others, elsewhere));
        assert!(tests.0.lock().is_empty(), "nothing is kept");
    }
}
