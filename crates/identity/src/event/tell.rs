//! Events of rows about people, as they are sent to others.

use crate::{
    Identity,
    event::{entry::IdentityEntry, made},
};
use stoa_kernel::{DomainEvent, EventSource, Result};
use stoa_store::{Site, outbox::Entry};

impl Identity {
    /// The events of a row; none for a row of another kind. A badge that is assigned or unassigned is told in both
    /// versions of the badges API, so of these a reader takes the types that it was asked for.
    ///
    /// # Errors
    /// When the database can't be asked, and [`stoa_kernel::Code::Internal`] for a payload that isn't one of its kind.
    pub async fn log_events(&self, site: &Site, entry: &Entry) -> Result<Vec<DomainEvent>> {
        let Some(IdentityEntry { kind, actor, change }) = IdentityEntry::parse(entry)? else {
            return Ok(Vec::new());
        };
        let (row, mut events) = (entry.id(), Vec::new());
        for (n, changes) in made::changes(site, kind, change).await?.into_iter().enumerate() {
            for (of_type, (event_type, (entity, change))) in kind.events().iter().zip(changes).enumerate() {
                let (sequence, time) = (entry.sequence, entry.created);
                // The place in the row, which stays the same when others are gone.
                let index = n * kind.events().len() + of_type;
                let source = EventSource { row: &row, index, sequence, time, actor: &actor };
                events.push(event_type.event(source, &entity, change));
            }
        }
        Ok(events)
    }
}
