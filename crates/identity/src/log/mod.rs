//! Rows of the log about people (decision 24): who did what to whom, by ids alone.
//!
//! ```json
//! {"identity":{"type":"APP","id":"…"},"ids":["…"]}
//! {"identity":{"type":"MEMBER","id":"…"},"relations":[{"id":"…","holder":"…","target":"…"}]}
//! ```
//!
//! Nothing of a person but ids stands in a row: what else is told is read when it is told ([`crate::event`]), so that
//! what was forgotten by then is told no more, and the log has nothing that outlives it.

use serde::{Deserialize, Serialize};
use stoa_kernel::{EntryKind, EventActor, Fault, Millis, Result, SiteId};
use stoa_store::{Tx, outbox};

/// A relation of a member: to a badge, or to another member.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RelationIds {
    /// Of the relation itself.
    pub id: String,
    /// The member who has the badge, or who follows or reports.
    pub holder: String,
    /// The badge, or the other member.
    pub target: String,
}

/// What a row holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Payload {
    pub identity: EventActor,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ids: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub relations: Vec<RelationIds>,
}

/// A row that is to be written, in the transaction that it tells of.
#[derive(Debug, Clone)]
pub(crate) struct PeopleEntry {
    pub kind: EntryKind,
    pub actor: EventActor,
    pub now: Millis,
}

/// Tells of relations that one made or removed, if the log has a kind of row for that.
pub(crate) async fn relations(
    tx: &mut Tx<'_>,
    site: &SiteId,
    (kind, actor, now): (Option<EntryKind>, &EventActor, Millis),
    relations: Vec<RelationIds>,
) -> Result<()> {
    match kind {
        None => Ok(()),
        Some(kind) => PeopleEntry { kind, actor: actor.clone(), now }.put(tx, site, Vec::new(), relations).await,
    }
}

impl PeopleEntry {
    /// Tells of these; nothing, if there are none.
    pub(crate) async fn put_ids(self, tx: &mut Tx<'_>, site: &SiteId, ids: Vec<String>) -> Result<()> {
        self.put(tx, site, ids, Vec::new()).await
    }

    async fn put(self, tx: &mut Tx<'_>, site: &SiteId, ids: Vec<String>, relations: Vec<RelationIds>) -> Result<()> {
        if ids.is_empty() && relations.is_empty() {
            return Ok(());
        }
        let payload = Payload { identity: self.actor, ids, relations };
        let payload = serde_json::to_string(&payload).map_err(Fault::internal)?;
        outbox::put(tx, site, self.kind.name(), payload, self.now).await
    }
}
