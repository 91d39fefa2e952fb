//! The events of an endpoint that wait apart, or were given up.

use crate::{
    Webhooks,
    access::Reaches,
    delivery::queue::{EventState, Queue, Queued},
    endpoint::manage::within,
    message::event::entity_of,
};
use serde_json::{Value, json};
use stoa_kernel::{Caller, EndpointId, Fault, Result, Right, SiteId, Violation, date::iso_from_millis};
use stoa_store::{ReaderPool, Site, boxed};

/// Events of a page, unless it is said, and at most.
const PAGE: usize = 50;
const MOST: usize = 100;

/// Which events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventQuery {
    pub state: EventState,
    /// Of a page: 1 to 100.
    pub limit: usize,
    /// [`EventPage::next`] of the page before.
    pub after: Option<String>,
}

impl Default for EventQuery {
    fn default() -> Self {
        Self { state: EventState::Parked, limit: PAGE, after: None }
    }
}

/// An event that waits apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitingEvent {
    site: SiteId,
    queued: Queued,
}

/// A page of them, in the order in which they happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventPage {
    pub events: Vec<WaitingEvent>,
    /// Where the next page begins, if there may be one.
    pub next: Option<String>,
}

impl WaitingEvent {
    /// The id of the event, the same in all messages that tell it.
    pub fn id(&self) -> String {
        self.queued.event_id(&self.site)
    }

    /// `{"id", "type", "entityId", "dataCollectionId"?, "state", "attempts", "eventTime", "createdDate", "nextAttempt"?,
    /// "diedDate"?, "lastError"?}`; what the entity holds is not told.
    pub fn to_json(&self) -> Value {
        let Queued { event_type, state, attempts, happened, created, due, died, error, entity, .. } = &self.queued;
        let (entity, collection) = entity_of(entity);
        let mut view = json!({
            "id": self.id(),
            "type": event_type,
            "entityId": entity,
            "state": state.as_str(),
            "attempts": attempts,
            "eventTime": iso_from_millis(*happened),
            "createdDate": iso_from_millis(*created),
        });
        let optional = [
            ("dataCollectionId", collection),
            ("nextAttempt", due.map(iso_from_millis)),
            ("diedDate", died.map(iso_from_millis)),
            ("lastError", error.clone()),
        ];
        for (name, value) in optional {
            if let Some(value) = value {
                view[name] = json!(value);
            }
        }
        view
    }
}

impl EventPage {
    /// `{"events": […], "next"?}`.
    pub fn to_json(&self) -> Value {
        let mut view = json!({ "events": self.events.iter().map(WaitingEvent::to_json).collect::<Vec<_>>() });
        if let Some(next) = &self.next {
            view["next"] = json!(next);
        }
        view
    }
}

impl Webhooks {
    /// Events of an endpoint that wait apart from the log, or were given up.
    ///
    /// # Errors
    /// [`stoa_kernel::Code::Forbidden`], [`stoa_kernel::Code::ScopeMissing`], [`stoa_kernel::Code::NotFound`];
    /// [`stoa_kernel::Code::Validation`] for a limit or a place that is none.
    pub async fn event_list(
        &self,
        site: &Site,
        caller: &Caller,
        id: &EndpointId,
        query: EventQuery,
    ) -> Result<EventPage> {
        let reaches = Reaches::of(caller, Right::Read)?;
        let after = query.check()?;
        let (site_id, id, EventQuery { state, limit, .. }) = (site.id.clone(), id.clone(), query);
        let read = site.read(ReaderPool::Point, move |tx| {
            boxed!({
                within(tx, &site_id, &reaches, &id).await?;
                Queue { site: &site_id, endpoint: &id }.list(tx, state, after, limit as i64).await
            })
        });
        let queued = read.await?;
        let last = queued.last().filter(|_| queued.len() == limit).map(Queued::key);
        let next = last.map(|(sequence, place)| format!("{sequence}-{place}"));
        let events = queued.into_iter().map(|queued| WaitingEvent { site: site.id.clone(), queued }).collect();
        Ok(EventPage { events, next })
    }
}

impl EventQuery {
    /// Behind which event it begins.
    fn check(&self) -> Result<(i64, i64)> {
        let refuse = |field: &str, why: String| Fault::invalid(vec![Violation::new(field, "FORMAT", why)]);
        if !(1..=MOST).contains(&self.limit) {
            return Err(refuse("limit", format!("a whole number from 1 to {MOST} is expected")));
        }
        let Some(after) = &self.after else { return Ok((i64::MIN, 0)) };
        let place = after.split_once('-').and_then(|(it, place)| Some((it.parse().ok()?, place.parse().ok()?)));
        place.ok_or_else(|| refuse("after", "the end of another page is expected".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stoa_kernel::Code;

    #[test]
    fn page_begins_where_another_ended() {
        let query =
            |limit, after: Option<&str>| EventQuery { limit, after: after.map(str::to_owned), ..EventQuery::default() };
        assert_eq!(query(50, None).check().expect("the first"), (i64::MIN, 0));
        assert_eq!(query(1, Some("7-3")).check().expect("a place"), (7, 3));
        for wrong in [query(0, None), query(101, None), query(1, Some("x")), query(1, Some("7-")), query(1, Some(""))] {
            assert_eq!(wrong.check().expect_err("refused").code(), Code::Validation);
        }
    }
}
