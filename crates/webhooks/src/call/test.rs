//! One message to an endpoint, at once, to see whether it arrives.

use crate::{
    Webhooks,
    access::Reaches,
    delivery::attempt::{Receiver, Report, Verdict, attempt},
    endpoint::{Endpoint, manage::within, secret, types},
    message::{envelope::Maker, event::Event},
};
use serde_json::{Value, json};
use std::{sync::Arc, time::Duration};
use stoa_kernel::{Caller, EndpointId, EventActor, EventSource, EventType, Fault, Form, Millis, Result, Right};
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

impl Webhooks {
    /// Sends an event of the endpoint's first type about something that there isn't, whose `originatedFrom` says so. What
    /// comes of it changes nothing, whatever the endpoint's state.
    ///
    /// # Errors
    /// [`stoa_kernel::Code::Forbidden`], [`stoa_kernel::Code::ScopeMissing`], [`stoa_kernel::Code::NotFound`].
    pub async fn test(&self, site: &Site, caller: &Caller, id: &EndpointId) -> Result<TestOutcome> {
        let core = &self.core;
        let reaches = Reaches::of(caller, Right::Write)?;
        let (site_id, endpoint_id) = (site.id.clone(), id.clone());
        let read = site.read(ReaderPool::Point, move |tx| boxed!(within(tx, &site_id, &reaches, &endpoint_id).await));
        let endpoint = read.await?;
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
