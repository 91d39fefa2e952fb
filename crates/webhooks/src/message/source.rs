//! From rows of the log to the events that an endpoint hears.

use crate::{
    Core,
    access::Hearing,
    message::{
        event::{Event, entity_of},
        narrow::narrowed,
    },
};
use serde::Deserialize;
use std::borrow::Cow;
use stoa_content::event::read::{index_event, whole_event};
use stoa_kernel::{DomainEvent, EntryKind, Fault, Result};
use stoa_store::{Site, outbox::Entry};

/// What an endpoint hears.
#[derive(Debug, Clone)]
pub(crate) struct Heard {
    pub types: Vec<String>,
    /// All of them without.
    pub collections: Option<Vec<String>>,
    pub hearing: Hearing,
}

/// Events of a row, those from a place on.
#[derive(Debug)]
pub(crate) struct Piece {
    pub events: Vec<Event>,
    /// Where the next piece begins.
    pub next: usize,
    pub is_last: bool,
}

/// The payload of a row about items or an index.
#[derive(Deserialize)]
struct Head<'p> {
    #[serde(borrow, default)]
    collection: Option<Cow<'p, str>>,
}

impl Heard {
    /// Whether an event is still heard that was read a while ago.
    pub(crate) fn still_hears(&self, event: &Event) -> bool {
        self.hears(event, entity_of(&event.entity).1.as_deref())
    }

    fn hears(&self, event: &Event, collection: Option<&str>) -> bool {
        let is_of_collection = match (&self.collections, collection) {
            (Some(all), Some(one)) => all.iter().any(|it| it == one),
            _ => true,
        };
        is_of_collection
            && self.types.iter().any(|it| it == event.event_type)
            && self.hearing.allows(event.kind, collection)
    }
}

/// The events of a row that are heard: at most so many items of it, and about so many bytes of theirs.
pub(crate) async fn piece(
    core: &Core,
    site: &Site,
    heard: &Heard,
    entry: &Entry,
    (from, room): (usize, (usize, usize)),
) -> Result<Piece> {
    let nothing = Piece { events: Vec::new(), next: 0, is_last: true };
    let Some(kind) = EntryKind::parse(&entry.kind) else { return Ok(nothing) };
    let collection = collection(kind, entry)?;
    let collection = collection.as_deref();
    let is_heard_of = |it: &&str| heard.collections.as_ref().is_none_or(|all| all.iter().any(|one| one == it));
    if collection.is_some_and(|it| !is_heard_of(&it)) {
        return Ok(nothing);
    }
    let (made, next, is_last) = match kind {
        EntryKind::ItemCreated | EntryKind::ItemUpdated | EntryKind::ItemDeleted => {
            let made = core.content.item_events_from(site, entry, from, room).await?;
            (made.events, made.next, made.is_last)
        }
        EntryKind::BackupStateChanged
        | EntryKind::RestorationStateChanged
        | EntryKind::MovementJobCreated
        | EntryKind::MovementJobUpdated
        | EntryKind::MovementJobDeleted => (whole_event(entry)?.into_iter().collect(), 0, true),
        _ if collection.is_some() => (index_event(entry)?.into_iter().collect(), 0, true),
        _ => (core.identity.log_events(site, entry).await?, 0, true),
    };
    let event = |it: &DomainEvent| Event::of(kind, collection, (entry.sequence, entry.created), it);
    let mut events = made.iter().map(event).collect::<Result<Vec<_>>>()?;
    events.retain(|it| heard.hears(it, collection));
    Ok(Piece { events, next, is_last })
}

/// The event of a row that was narrowed to it, by the place that it had in the whole row. Nothing when what it tells of is
/// gone, or isn't heard any more.
pub(crate) async fn one(core: &Core, site: &Site, heard: &Heard, entry: &Entry, place: usize) -> Result<Option<Event>> {
    let types = EntryKind::parse(&entry.kind).map_or(1, |it| it.events().len().max(1));
    let all = piece(core, site, heard, entry, (0, (usize::MAX, usize::MAX))).await?;
    let Some(mut event) = all.events.into_iter().find(|it| it.place == place % types) else { return Ok(None) };
    // As it was called in the whole row.
    let id = format!("{}-{place}", entry.id());
    event.body = renamed(&event.body, &event.id, &id)?;
    (event.id, event.place) = (id, place);
    Ok(Some(event))
}

/// A row, narrowed to the event at a place in it.
pub(crate) fn narrow(entry: &Entry, place: usize) -> Result<String> {
    let kind = EntryKind::parse(&entry.kind).ok_or_else(|| Fault::internal("an event of a kind that isn't known"))?;
    narrowed(kind, &entry.payload, place)
}

fn collection<'e>(kind: EntryKind, entry: &'e Entry) -> Result<Option<Cow<'e, str>>> {
    let fqdn = kind.events().first().map_or("", |it| it.fqdn);
    if !["wix.data.v2.data_item", "wix.data.v2.index"].contains(&fqdn) {
        return Ok(None);
    }
    let head: Head<'_> = serde_json::from_str(&entry.payload).map_err(Fault::internal)?;
    Ok(Some(head.collection.unwrap_or_default()))
}

/// The body of an event under another id.
fn renamed(body: &str, from: &str, to: &str) -> Result<String> {
    let mut body: serde_json::Value = serde_json::from_str(body).map_err(Fault::internal)?;
    if body.get("id").and_then(|it| it.as_str()) == Some(from) {
        body["id"] = to.into();
    }
    serde_json::to_string(&body).map_err(Fault::internal)
}
