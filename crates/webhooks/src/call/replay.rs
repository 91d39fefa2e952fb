//! Sending events once more, under the ids that they had: as far back as the log reaches.
//!
//! What is replayed waits apart, so events of an entity that happen meanwhile follow behind it.

use crate::{
    Core, Webhooks,
    access::{Hearing, Reaches},
    delivery::{
        queue::{EventState, Queue, Queued, key_of},
        runner::hearing,
    },
    endpoint::{
        Endpoint,
        manage::{app, within},
        types,
    },
    message::{
        event::{Event, entity_of},
        narrow::Narrowing,
        source::{Heard, piece},
    },
};
use serde_json::{Value, json};
use std::sync::Arc;
use stoa_kernel::{
    Caller, Code, EndpointId, EntryKind, Fault, Millis, Result, Right, Scopes, Violation, date, date::iso_from_millis,
    nearest::hint,
};
use stoa_store::{
    ReaderPool, Site, Tx, TxFuture, boxed,
    outbox::{self, Entry, Position},
};

/// Rows that are read at once, and events that are put apart in one transaction.
const ROWS: usize = 100;
const PIECE: (usize, usize) = (256, 2 << 20);

/// What is sent once more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Replay {
    /// What happened since a time, of these types if there are any, and of the entity with this id if there is one.
    Since { time: Millis, types: Option<Vec<String>>, entity: Option<String> },
    /// The event with this id.
    Event(String),
    /// All that were given up.
    Dead,
}

/// What came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replayed {
    /// Events that are sent once more.
    pub count: usize,
    /// Where not all fit: the time of the first row that was left out. To be asked for from there, later.
    pub next: Option<Millis>,
}

impl Replayed {
    /// `{"count", "next"?}`.
    pub fn to_json(&self) -> Value {
        let mut view = json!({ "count": self.count });
        if let Some(next) = self.next {
            view["next"] = json!(iso_from_millis(next));
        }
        view
    }
}

const NAMES: [&str; 5] = ["since", "types", "entityId", "event", "dead"];

impl Replay {
    /// Reads a body: one of `{"since": ISO 8601, "types"?, "entityId"?}`, `{"event": id}` and `{"dead": true}`.
    ///
    /// # Errors
    /// [`Code::Validation`] with what is wrong.
    pub fn parse(body: &Value) -> Result<Self> {
        let mut wrong = Vec::new();
        let mut refuse = |field: &str, rule, why: String| wrong.push(Violation::new(field, rule, why));
        for name in body.as_object().into_iter().flat_map(|it| it.keys()).filter(|it| !NAMES.contains(&it.as_str())) {
            refuse(name, "UNKNOWN_FIELD", format!("a replay has no such member{}", hint(name, NAMES)));
        }
        let given = |name: &str| body.get(name).filter(|it| !it.is_null());
        let text = |name: &str| given(name).map(|it| it.as_str().filter(|it| (1..=1_000).contains(&it.len())));
        let replay = match (given("since"), given("event"), given("dead")) {
            (Some(since), None, None) => {
                let time = since.as_str().and_then(date::parse);
                if time.is_none() {
                    refuse("since", "FORMAT", "a time in ISO 8601 is expected".to_owned());
                }
                let list = given("types").map(|it| serde_json::from_value::<Vec<String>>(it.clone()));
                let types = match list {
                    None => None,
                    Some(Ok(list)) if list.len() <= types::names().len() => Some(list),
                    Some(_) => {
                        refuse("types", "FORMAT", "a list of types is expected".to_owned());
                        None
                    }
                };
                for (at, name) in types.iter().flatten().enumerate() {
                    if let Some(why) = types::fault(name) {
                        refuse(&format!("types[{at}]"), "FORMAT", why);
                    }
                }
                let entity = text("entityId");
                if entity == Some(None) {
                    refuse("entityId", "FORMAT", "an id is expected".to_owned());
                }
                let entity = entity.flatten().map(str::to_owned);
                Some(Self::Since { time: time.unwrap_or_default(), types, entity })
            }
            (None, Some(_), None) => match text("event").flatten() {
                Some(id) => Some(Self::Event(id.to_owned())),
                None => {
                    refuse("event", "FORMAT", "the id of an event is expected".to_owned());
                    None
                }
            },
            (None, None, Some(Value::Bool(true))) => Some(Self::Dead),
            (None, None, Some(_)) => {
                refuse("dead", "FORMAT", "true is expected".to_owned());
                None
            }
            _ => {
                refuse("since", "REQUIRED_ONE_OF_FIELD", "one of since, event and dead is expected".to_owned());
                None
            }
        };
        if !matches!(replay, Some(Self::Since { .. })) {
            for name in ["types", "entityId"].into_iter().filter(|it| given(it).is_some()) {
                refuse(name, "ONE_OF_ALIGNMENT", "stands beside since only".to_owned());
            }
        }
        match replay {
            Some(replay) if wrong.is_empty() => Ok(replay),
            _ => Err(Fault::invalid(wrong)),
        }
    }
}

impl Webhooks {
    /// Sends events once more to an endpoint; to one that is paused or disabled, when it is resumed.
    ///
    /// # Errors
    /// [`Code::Forbidden`], [`Code::ScopeMissing`], [`Code::NotFound`], also for an event that the log has no more or the
    /// endpoint doesn't hear; [`Code::TooMany`] when there is no room for more events that wait apart.
    pub async fn replay(&self, site: &Site, caller: &Caller, id: &EndpointId, replay: Replay) -> Result<Replayed> {
        let core = &self.core;
        let reaches = Reaches::of(caller, Right::Write)?;
        let (site_id, endpoint_id, of) = (site.id.clone(), id.clone(), reaches.clone());
        let read = site.read(ReaderPool::Point, move |tx| {
            boxed!({
                let endpoint = within(tx, &site_id, &of, &endpoint_id).await?;
                Ok((endpoint, Queue { site: &site_id, endpoint: &endpoint_id }.count(tx).await?))
            })
        });
        let (endpoint, waiting) = read.await?;
        let room = core.limits.webhook_parked.saturating_sub(waiting);
        if room == 0 {
            let why = format!("{waiting} events wait apart already, as many as may.");
            return Err(Fault::because(Code::TooMany, why));
        }
        let work = Work { core, site, heard: heard(core, site, &endpoint).await?, reaches, id: endpoint.id, room };
        let replayed = match replay {
            Replay::Since { time, types, entity } => work.since(time, types, entity).await,
            Replay::Event(event) => work.event(&event).await,
            Replay::Dead => work.dead().await,
        }?;
        if replayed.count > 0 {
            core.changed();
        }
        Ok(replayed)
    }
}

/// What an endpoint hears.
async fn heard(core: &Core, site: &Site, endpoint: &Endpoint) -> Result<Heard> {
    let hearing = match app(core, &site.id, &endpoint.app).await? {
        Some(app) => match hearing(core, endpoint, &app).await {
            // No owner has installed it.
            Err(fault) if fault.code() == Code::OauthUnauthorized => Hearing::of(Some(&Scopes::default()), &app),
            hearing => hearing?,
        },
        None => return Err(Fault::because(Code::NotFound, "The application of the endpoint was revoked.")),
    };
    Ok(Heard { types: endpoint.types.clone(), collections: endpoint.collections.clone(), hearing })
}

struct Work<'w> {
    core: &'w Arc<Core>,
    site: &'w Site,
    heard: Heard,
    reaches: Reaches,
    id: EndpointId,
    /// Events that may be put apart.
    room: usize,
}

impl Work<'_> {
    async fn since(&self, time: Millis, types: Option<Vec<String>>, entity: Option<String>) -> Result<Replayed> {
        let names: Vec<String> = match types {
            Some(types) => self.heard.types.iter().filter(|it| types.contains(it)).cloned().collect(),
            None => self.heard.types.clone(),
        };
        let kinds: Vec<&str> = types::kinds(&names).iter().map(|it| it.name()).collect();
        let heard = Heard { types: names, ..self.heard.clone() };
        if kinds.is_empty() {
            return Ok(Replayed { count: 0, next: None });
        }
        // What is written meanwhile is sent anyway.
        let end = self.site.outbox().end().await?.position;
        let is_meant = |it: &Event| entity.as_ref().is_none_or(|id| entity_of(&it.entity).0 == *id);
        let (mut place, mut count, mut next, mut found) = (Position::default(), 0, None, Vec::new());
        loop {
            let batch = self.site.outbox().read_since(place, time, &kinds, ROWS).await?;
            for row in batch.entries.iter().filter(|it| it.position() <= end) {
                let events = self.of_row(&heard, row, is_meant).await?;
                if count + events.len() > self.room {
                    next = Some(row.created);
                    break;
                }
                count += events.len();
                found.extend(events);
                if found.len() >= PIECE.0 {
                    self.put(std::mem::take(&mut found)).await?;
                }
            }
            self.put(std::mem::take(&mut found)).await?;
            place = batch.end;
            if next.is_some() || batch.is_last || place >= end {
                return Ok(Replayed { count, next });
            }
        }
    }

    /// The events of a row as they are kept apart.
    async fn of_row(&self, heard: &Heard, row: &Entry, is_meant: impl Fn(&Event) -> bool) -> Result<Vec<Queued>> {
        let Some(kind) = EntryKind::parse(&row.kind) else { return Ok(Vec::new()) };
        let (narrowing, now) = (Narrowing::of(kind, &row.payload)?, self.core.world.now());
        let (mut queued, mut next) = (Vec::new(), 0);
        loop {
            let piece = piece(self.core, self.site, heard, row, (next, PIECE)).await?;
            for event in piece.events.iter().filter(|it| is_meant(it)) {
                queued.push(Queued::of(event, row, narrowing.at(event.place)?, now)?);
            }
            next = piece.next;
            if piece.is_last {
                return Ok(queued);
            }
            // A row may be megabytes long, and others wait for this thread.
            tokio::task::yield_now().await;
        }
    }

    async fn event(&self, id: &str) -> Result<Replayed> {
        let key = key_of(&self.site.id, id)?;
        let missing = || Fault::because(Code::NotFound, "The log of the site has no such event for this endpoint.");
        let now = self.core.world.now();
        let waits = self.write(key, move |tx, queue, key| boxed!(queue.hurry(tx, *key, now).await.map(usize::from)));
        if waits.await? > 0 {
            return Ok(Replayed { count: 1, next: None });
        }
        let row = self.site.outbox().row(key.0).await?.ok_or_else(missing)?;
        let place = usize::try_from(key.1).map_err(Fault::internal)?;
        let events = self.of_row(&self.heard, &row, |it| it.place == place).await?;
        if events.is_empty() {
            return Err(missing());
        }
        self.put(events).await?;
        Ok(Replayed { count: 1, next: None })
    }

    async fn dead(&self) -> Result<Replayed> {
        let mut count = 0;
        while count < self.room {
            let (now, limit) = (self.core.world.now(), ROWS.min(self.room - count) as i64);
            let revived = self.write(limit, move |tx, queue, limit| {
                boxed!({
                    let dead = queue.list(tx, EventState::Dead, (i64::MIN, 0), *limit).await?;
                    for event in &dead {
                        queue.revive(tx, event, now).await?;
                    }
                    Ok(dead.len())
                })
            });
            match revived.await? {
                0 => break,
                some => count += some,
            }
        }
        Ok(Replayed { count, next: None })
    }

    /// Puts events apart, due now, in pieces.
    async fn put(&self, events: Vec<Queued>) -> Result<()> {
        let now = self.core.world.now();
        for piece in events.chunks(PIECE.0) {
            let put = self.write(piece.to_vec(), move |tx, queue, events| {
                boxed!({
                    for event in events {
                        queue.put(tx, event).await?;
                        queue.follow(tx, &event.entity, now).await?;
                    }
                    Ok(events.len())
                })
            });
            put.await?;
        }
        Ok(())
    }

    /// Changes what waits, and answers how many events of it were changed. In the same transaction the endpoint's lease
    /// ends, so that whoever sends for it looks again at what waits, also when this call is cut off before its end; and
    /// nothing is put apart for an endpoint that is gone.
    async fn write<I, F>(&self, input: I, body: F) -> Result<usize>
    where
        I: Send + Sync + 'static,
        F: for<'t> Fn(&'t mut Tx<'_>, &'t Queue<'t>, &'t I) -> TxFuture<'t, usize> + Send + Sync + 'static,
    {
        let written = self.site.write_with(
            (self.site.id.clone(), self.reaches.clone(), self.id.clone(), input, body),
            |tx, (site, reaches, id, input, body)| {
                boxed!({
                    let consumer = within(tx, site, reaches, id).await?.consumer();
                    let count = body(tx, &Queue { site, endpoint: id }, input).await?;
                    if count > 0 {
                        outbox::consumer_rename(tx, site, &consumer, &consumer).await?;
                    }
                    Ok(count)
                })
            },
        );
        written.await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replay_is_one_of_three() {
        let parse = |body: Value| Replay::parse(&body);
        let wrong = |body: Value| {
            let fault = parse(body).expect_err("refused");
            fault.violations().iter().map(|it| format!("{} {}", it.field, it.violated_rule)).collect::<Vec<_>>()
        };
        assert_eq!(parse(json!({ "dead": true })).expect("a replay"), Replay::Dead);
        assert_eq!(parse(json!({ "event": "s-1-0" })).expect("a replay"), Replay::Event("s-1-0".to_owned()));
        let since = Replay::Since { time: 0, types: Some(vec!["AppRemoved".to_owned()]), entity: Some("e".to_owned()) };
        let body = json!({ "since": "1970-01-01T00:00:00Z", "types": ["AppRemoved"], "entityId": "e" });
        assert_eq!(parse(body).expect("a replay"), since);
        assert_eq!(wrong(json!({})), ["since REQUIRED_ONE_OF_FIELD"]);
        assert_eq!(wrong(json!([])), ["since REQUIRED_ONE_OF_FIELD"]);
        assert_eq!(wrong(json!({ "dead": false })), ["dead FORMAT"]);
        assert_eq!(wrong(json!({ "dead": true, "event": "x" })), ["since REQUIRED_ONE_OF_FIELD"]);
        assert_eq!(
            wrong(json!({ "dead": true, "types": [] , "tpyes": 1 })),
            ["tpyes UNKNOWN_FIELD", "types ONE_OF_ALIGNMENT"]
        );
        let body = json!({ "since": "yesterday", "types": ["x"], "entityId": 1 });
        assert_eq!(wrong(body), ["since FORMAT", "types[0] FORMAT", "entityId FORMAT"]);
    }
}
