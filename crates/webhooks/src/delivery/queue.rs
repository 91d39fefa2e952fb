//! Events that wait apart from the log, in `stoa.webhook_event`.
//!
//! Of each entity the first one is tried (`PARKED`), and those behind it wait for it (`HELD`). When it is taken or given
//! up, the next one follows. What was given up (`DEAD`) is kept for a while, without documents, and can be sent once more.

use crate::message::{event::Event, narrow::without_document, source::narrow};
use stoa_kernel::{Code, EndpointId, Fault, Millis, Result, SiteId};
use stoa_sql::params;
use stoa_store::{Row, Tx, outbox::Entry};

/// What becomes of an event that waits apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventState {
    /// It is tried again later.
    Parked,
    /// It waits for one before it about the same entity.
    Held,
    /// It was given up.
    Dead,
}

impl EventState {
    const ALL: [Self; 3] = [Self::Parked, Self::Held, Self::Dead];

    /// `PARKED`, `HELD` or `DEAD`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Parked => "PARKED",
            Self::Held => "HELD",
            Self::Dead => "DEAD",
        }
    }

    /// The state of this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == name)
    }
}

/// An event that waits apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Queued {
    pub sequence: i64,
    pub place: i64,
    pub entity: String,
    pub event_type: String,
    pub state: EventState,
    /// The row of the log, narrowed to the event.
    pub kind: String,
    pub payload: String,
    pub happened: Millis,
    /// How often it was tried since it waits apart.
    pub attempts: i64,
    pub due: Option<Millis>,
    pub created: Millis,
    pub died: Option<Millis>,
    pub error: Option<String>,
}

impl Queued {
    /// An event of a row.
    pub(crate) fn new(event: &Event, row: &Entry, now: Millis) -> Result<Self> {
        Self::of(event, row, narrow(row, event.place)?, now)
    }

    /// The same, with what the row tells of it.
    pub(crate) fn of(event: &Event, row: &Entry, payload: String, now: Millis) -> Result<Self> {
        Ok(Self {
            sequence: event.sequence,
            place: i64::try_from(event.place).map_err(Fault::internal)?,
            entity: event.entity.clone(),
            event_type: event.event_type.to_owned(),
            state: EventState::Held,
            kind: row.kind.clone(),
            payload,
            happened: row.created,
            attempts: 0,
            due: None,
            created: now,
            died: None,
            error: None,
        })
    }

    /// The same as the first of its entity.
    pub(crate) fn parked(self, due: Millis, error: Option<String>) -> Self {
        Self { state: EventState::Parked, due: Some(due), error, ..self }
    }

    /// The row of the log that it was, as far as it tells of this event.
    pub(crate) fn entry(&self, site: &SiteId) -> Entry {
        Entry::kept(site.clone(), self.sequence, self.kind.clone(), self.payload.clone(), self.happened)
    }

    pub(crate) fn event_id(&self, site: &SiteId) -> String {
        format!("{site}-{}-{}", self.sequence, self.place)
    }

    /// What tells it apart among those of the endpoint.
    pub(crate) fn key(&self) -> (i64, i64) {
        (self.sequence, self.place)
    }

    fn row_id(&self, endpoint: &EndpointId) -> String {
        row_id(endpoint, self.key())
    }
}

fn row_id(endpoint: &EndpointId, (sequence, place): (i64, i64)) -> String {
    format!("{endpoint}-{sequence}-{place}")
}

/// When an event that failed again is tried next, after now; nothing where it is given up.
pub(crate) struct Next {
    pub now: Millis,
    pub wait: Option<Millis>,
    /// The same where one before it about the same entity was given up meanwhile: one after the other they would all
    /// wait as long as the first.
    pub as_a_follower: Option<Millis>,
}

/// Why an event was given up that might have arrived.
const CROWDED: &str = "too many events waited apart";

/// The queue of an endpoint, inside a transaction.
pub(crate) struct Queue<'q> {
    pub site: &'q SiteId,
    pub endpoint: &'q EndpointId,
}

const COLUMNS: &str =
    "sequence, place, entity, type, state, kind, payload, happened, attempts, due, created, died, error";

impl Queue<'_> {
    /// How many events of which entities wait, but for those that were given up, and whether one of them is tried.
    pub(crate) async fn entities(&self, tx: &mut Tx<'_>) -> Result<Vec<(String, usize, bool)>> {
        let sql = "select entity, count(*), sum(case when state = 'PARKED' then 1 else 0 end) from stoa.webhook_event \
                   where site = $1 and endpoint = $2 and state <> 'DEAD' group by entity";
        let each = |row: &Row<'_>| Ok((row.get(0)?, size(row.get(1)?), row.get::<i64>(2)? > 0));
        Ok(tx.rows(sql, &params![self.site, self.endpoint], each).await?)
    }

    /// How many events of an entity wait.
    pub(crate) async fn count_of(&self, tx: &mut Tx<'_>, entity: &str) -> Result<usize> {
        let sql = "select count(*) from stoa.webhook_event where site = $1 and endpoint = $2 and entity = $3 \
                   and state <> 'DEAD'";
        let count = tx.row(sql, &params![self.site, self.endpoint, entity], |row| row.get::<i64>(0)).await?;
        Ok(size(count.unwrap_or_default()))
    }

    /// The parked ones that are due first, at most so many.
    pub(crate) async fn first(&self, tx: &mut Tx<'_>, limit: i64) -> Result<Vec<Queued>> {
        let sql = format!(
            "select {COLUMNS} from stoa.webhook_event where site = $1 and endpoint = $2 and state = $3 \
             order by due, sequence, place limit $4"
        );
        let values = params![self.site, self.endpoint, EventState::Parked.as_str(), limit];
        Ok(tx.rows(&sql, &values, from_row).await?)
    }

    /// Those of a state behind one, in the order of the log.
    pub(crate) async fn list(
        &self,
        tx: &mut Tx<'_>,
        state: EventState,
        (sequence, place): (i64, i64),
        limit: i64,
    ) -> Result<Vec<Queued>> {
        let sql = format!(
            "select {COLUMNS} from stoa.webhook_event where site = $1 and endpoint = $2 and state = $3 \
             and (sequence > $4 or sequence = $4 and place > $5) order by sequence, place limit $6"
        );
        let values = params![self.site, self.endpoint, state.as_str(), sequence, place, limit];
        Ok(tx.rows(&sql, &values, from_row).await?)
    }

    pub(crate) async fn get(&self, tx: &mut Tx<'_>, key: (i64, i64)) -> Result<Option<Queued>> {
        let sql = format!("select {COLUMNS} from stoa.webhook_event where site = $1 and id = $2");
        Ok(tx.row(&sql, &params![self.site, row_id(self.endpoint, key)], from_row).await?)
    }

    /// Adds an event, unless it waits already. One that was given up waits again then.
    pub(crate) async fn put(&self, tx: &mut Tx<'_>, event: &Queued) -> Result<()> {
        let sql = format!(
            "insert into stoa.webhook_event (site, id, endpoint, {COLUMNS}) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, \
             $10, $11, $12, $13, $14, $15, $16) on conflict (site, id) do update set state = excluded.state, \
             due = excluded.due, attempts = 0, created = excluded.created, died = null, payload = excluded.payload \
             where webhook_event.state = 'DEAD'"
        );
        let values = params![
            self.site,
            event.row_id(self.endpoint),
            self.endpoint,
            event.sequence,
            event.place,
            &event.entity,
            &event.event_type,
            event.state.as_str(),
            &event.kind,
            &event.payload,
            event.happened,
            event.attempts,
            event.due,
            event.created,
            event.died,
            event.error.clone(),
        ];
        tx.execute(&sql, &values).await?;
        Ok(())
    }

    /// One was taken, or is no more; the next of its entity follows.
    pub(crate) async fn finish(&self, tx: &mut Tx<'_>, event: &Queued, now: Millis) -> Result<()> {
        let sql = "delete from stoa.webhook_event where site = $1 and id = $2";
        tx.execute(sql, &params![self.site, event.row_id(self.endpoint)]).await?;
        self.follow(tx, &event.entity, now).await
    }

    /// One failed again, and is tried at a time.
    async fn postpone(&self, tx: &mut Tx<'_>, event: &Queued, due: Millis, error: &str) -> Result<()> {
        let sql = "update stoa.webhook_event set attempts = attempts + 1, due = $1, error = $2 \
                   where site = $3 and id = $4 and state = $5";
        let id = event.row_id(self.endpoint);
        tx.execute(sql, &params![due, error, self.site, id, EventState::Parked.as_str()]).await?;
        Ok(())
    }

    /// One failed again: what follows, and whether it was given up.
    pub(crate) async fn refuse(&self, tx: &mut Tx<'_>, event: &Queued, next: &Next, error: &str) -> Result<bool> {
        let is_tried = self.get(tx, event.key()).await?.is_some_and(|it| it.state == EventState::Parked);
        if !is_tried {
            // It had to make room while it was on its way.
            return Ok(false);
        }
        let wait = match self.has_died_since(tx, event).await? {
            true => next.as_a_follower,
            false => next.wait,
        };
        match wait {
            Some(wait) => self.postpone(tx, event, next.now + wait, error).await?,
            None => self.give_up(tx, event, error, next.now).await?,
        }
        Ok(wait.is_none())
    }

    /// Whether one before it about the same entity was given up since this one waits.
    async fn has_died_since(&self, tx: &mut Tx<'_>, event: &Queued) -> Result<bool> {
        let sql = "select 1 from stoa.webhook_event where site = $1 and endpoint = $2 and entity = $3 and died >= $4 \
                   and (sequence < $5 or sequence = $5 and place < $6) limit 1";
        let (sequence, place) = event.key();
        let values = params![self.site, self.endpoint, &event.entity, event.created, sequence, place];
        Ok(tx.row(sql, &values, |_| Ok(())).await?.is_some())
    }

    /// Gives so many events up, the oldest of the entities that have the most; those that are tried last. Answers of which
    /// entities.
    pub(crate) async fn make_room(&self, tx: &mut Tx<'_>, mut over: usize, now: Millis) -> Result<Vec<String>> {
        let mut entities = Vec::new();
        while over > 0 {
            let sql = "select entity from stoa.webhook_event where site = $1 and endpoint = $2 and state <> 'DEAD' \
                       group by entity order by count(*) desc, min(sequence) limit 1";
            let Some(entity) = tx.row(sql, &params![self.site, self.endpoint], |row| row.get::<String>(0)).await?
            else {
                break;
            };
            let sql = format!(
                "select {COLUMNS} from stoa.webhook_event where site = $1 and endpoint = $2 and entity = $3 \
                 and state <> 'DEAD' order by case when state = 'HELD' then 0 else 1 end, sequence, place limit $4"
            );
            let values = params![self.site, self.endpoint, &entity, over as i64];
            for event in tx.rows(&sql, &values, from_row).await? {
                self.give_up(tx, &event, CROWDED, now).await?;
                over -= 1;
            }
            entities.push(entity);
        }
        Ok(entities)
    }

    /// How many were given up and are kept.
    pub(crate) async fn count_dead(&self, tx: &mut Tx<'_>) -> Result<usize> {
        let sql = "select count(*) from stoa.webhook_event where site = $1 and endpoint = $2 and state = 'DEAD'";
        let count = tx.row(sql, &params![self.site, self.endpoint], |row| row.get::<i64>(0)).await?;
        Ok(size(count.unwrap_or_default()))
    }

    /// Forgets so many of those that were given up, the first to die first.
    pub(crate) async fn forget_dead(&self, tx: &mut Tx<'_>, count: i64) -> Result<()> {
        let sql = "delete from stoa.webhook_event where site = $1 and id in (select id from stoa.webhook_event \
                   where site = $1 and endpoint = $2 and state = 'DEAD' order by died, sequence, place limit $3)";
        tx.execute(sql, &params![self.site, self.endpoint, count]).await?;
        Ok(())
    }

    /// One is given up; the next of its entity follows.
    pub(crate) async fn give_up(&self, tx: &mut Tx<'_>, event: &Queued, error: &str, now: Millis) -> Result<()> {
        let sql = "update stoa.webhook_event set state = $1, due = null, died = $2, payload = $3, error = $4, \
                   attempts = attempts + 1 where site = $5 and id = $6";
        let (state, payload) = (EventState::Dead.as_str(), without_document(&event.payload)?);
        tx.execute(sql, &params![state, now, payload, error, self.site, event.row_id(self.endpoint)]).await?;
        self.follow(tx, &event.entity, now).await
    }

    /// Lets the first event of an entity be tried, if none is.
    pub(crate) async fn follow(&self, tx: &mut Tx<'_>, entity: &str, now: Millis) -> Result<()> {
        let sql = "select 1 from stoa.webhook_event where site = $1 and endpoint = $2 and entity = $3 and state = $4 \
                   limit 1";
        let values = params![self.site, self.endpoint, entity, EventState::Parked.as_str()];
        if tx.row(sql, &values, |_| Ok(())).await?.is_some() {
            return Ok(());
        }
        let sql = "update stoa.webhook_event set state = $1, due = $2 where site = $3 and id in \
                   (select id from stoa.webhook_event where site = $3 and endpoint = $4 and entity = $5 and state = $6 \
                    order by sequence, place limit 1)";
        let values =
            params![EventState::Parked.as_str(), now, self.site, self.endpoint, entity, EventState::Held.as_str()];
        tx.execute(sql, &values).await?;
        Ok(())
    }

    /// Has an event that waits tried now. `false`: it doesn't wait.
    pub(crate) async fn hurry(&self, tx: &mut Tx<'_>, key: (i64, i64), now: Millis) -> Result<bool> {
        let Some(event) = self.get(tx, key).await? else { return Ok(false) };
        if event.state == EventState::Parked {
            let sql = "update stoa.webhook_event set due = $1 where site = $2 and id = $3";
            tx.execute(sql, &params![now, self.site, row_id(self.endpoint, key)]).await?;
        }
        if event.state == EventState::Dead {
            self.revive(tx, &event, now).await?;
        }
        Ok(true)
    }

    /// Has an event wait again that was given up.
    pub(crate) async fn revive(&self, tx: &mut Tx<'_>, event: &Queued, now: Millis) -> Result<()> {
        let sql = "update stoa.webhook_event set state = $1, created = $2, died = null, attempts = 0 \
                   where site = $3 and id = $4";
        tx.execute(sql, &params![EventState::Held.as_str(), now, self.site, event.row_id(self.endpoint)]).await?;
        self.follow(tx, &event.entity, now).await
    }

    /// How many wait, but for those that were given up.
    pub(crate) async fn count(&self, tx: &mut Tx<'_>) -> Result<usize> {
        let sql = "select count(*) from stoa.webhook_event where site = $1 and endpoint = $2 and state <> 'DEAD'";
        let count = tx.row(sql, &params![self.site, self.endpoint], |row| row.get::<i64>(0)).await?;
        Ok(size(count.unwrap_or_default()))
    }
}

/// What a count is.
fn size(count: i64) -> usize {
    usize::try_from(count).unwrap_or_default()
}

fn from_row(row: &Row<'_>) -> Result<Queued, stoa_store::Error> {
    let unknown = || stoa_store::Error::Other("an event of webhooks has another state than there is".to_owned());
    Ok(Queued {
        sequence: row.get(0)?,
        place: row.get(1)?,
        entity: row.get(2)?,
        event_type: row.get(3)?,
        state: EventState::parse(row.text(4)?).ok_or_else(unknown)?,
        kind: row.get(5)?,
        payload: row.get(6)?,
        happened: row.get(7)?,
        attempts: row.get(8)?,
        due: row.get(9)?,
        created: row.get(10)?,
        died: row.get(11)?,
        error: row.get(12)?,
    })
}

/// The number of a row and the place in it, of the id of an event of a site.
pub(crate) fn key_of(site: &SiteId, id: &str) -> Result<(i64, i64)> {
    let missing = || Fault::because(Code::NotFound, "The log of the site has no such event.");
    let rest = id.strip_prefix(site.as_str()).and_then(|it| it.strip_prefix('-')).ok_or_else(missing)?;
    let (sequence, place) = rest.split_once('-').ok_or_else(missing)?;
    let number = |text: &str| text.parse::<i64>().ok().filter(|it| *it >= 0).ok_or_else(missing);
    Ok((number(sequence)?, number(place)?))
}
