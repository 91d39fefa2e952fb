//! What a subscription missed that comes back with a place.

use crate::{
    change::Change,
    group::judge,
    message::{End, Resync},
    token::StreamToken,
};
use stoa_content::feed::{FeedChange, FeedItem, FeedRow, FeedView, KINDS, RIGHTS};
use stoa_kernel::Result;
use stoa_store::{
    Site,
    outbox::{Entry, Position, Read, ReadPoint, Token, Visible},
};

/// Rows that are read at once.
const ROWS: usize = 50;
/// Changes of definitions that are looked through; with more, of whatever collections, the items are read again.
const DEFINITIONS: usize = 500;

/// How far one has read what it missed.
#[derive(Debug, Clone)]
pub(crate) struct Behind {
    /// Where it began.
    start: Position,
    /// Up to where it has read.
    token: Token,
    /// What it knows of the log behind that.
    visible: Option<Visible>,
    /// What comes behind this it is told as it happens.
    until: Token,
    rows: usize,
    /// Whether today's rights are those of the whole time.
    is_checked: bool,
}

/// What a part of the log tells of what was missed.
pub(crate) enum Missed {
    /// More is to be read.
    Some(Vec<Change>),
    /// With this it has all up to a point.
    Rest(Vec<Change>, ReadPoint),
    /// It can't be told.
    End(End),
}

impl Behind {
    pub(crate) fn new(place: StreamToken, until: Token) -> Self {
        let StreamToken { token, visible, .. } = place;
        Self { start: token.after(), token, visible, until, rows: 0, is_checked: false }
    }

    /// Reads on, for one whose view was made before this began.
    ///
    /// # Errors
    /// What the engine says.
    pub(crate) async fn read(&mut self, site: &Site, view: &FeedView, most: usize) -> Result<Missed> {
        let batch = match site.outbox().resume(&self.token, &KINDS, ROWS).await? {
            Read::Gap(_) => return Ok(Missed::End(End::Resync(Resync::Gap))),
            Read::Batch(batch) => batch,
        };
        self.rows += batch.entries.len();
        if self.rows > most {
            return Ok(Missed::End(End::Resync(Resync::Gap)));
        }
        if !self.is_checked {
            if let Some(end) = self.look_for_changed_rights(site, view).await? {
                return Ok(Missed::End(end));
            }
            self.is_checked = true;
        }
        let mut missed = Vec::new();
        for entry in batch.entries.iter().filter(|it| it.position() <= self.until.position) {
            match self.judge(view, entry) {
                Ok(changes) => missed.extend(changes),
                Err(end) => return Ok(Missed::End(end)),
            }
            // Each row costs something, also where it is another's.
            tokio::task::yield_now().await;
        }
        let end = batch.end.max(self.token.after());
        self.token = Token { epoch: self.token.epoch.clone(), position: end, delivered: None };
        if !batch.is_last && batch.end < self.until.position {
            return Ok(Missed::Some(missed));
        }
        // What is behind both places it is told as it happens.
        let position = self.until.position.max(self.start);
        let visible = self.visible.take().filter(|it| !it.is_past(position));
        Ok(Missed::Rest(missed, ReadPoint { epoch: self.token.epoch.clone(), position, visible }))
    }

    /// Rows are judged by today's rights, so nothing is told when these, or the definition, were others at any time since
    /// the place: not by a row that stands far behind the first one, and not by one that can't be read yet. What changes
    /// from now on is a withdrawal.
    async fn look_for_changed_rights(&self, site: &Site, view: &FeedView) -> Result<Option<End>> {
        let rows = site.outbox().committed(&self.token, &RIGHTS, DEFINITIONS).await?;
        for entry in rows.iter().filter(|it| !self.is_known(it.position())) {
            if let Err(end) = items_of(view, entry) {
                return Ok(Some(end));
            }
        }
        Ok((rows.len() == DEFINITIONS).then_some(End::Resync(Resync::Gap)))
    }

    /// What a row tells one who missed it, or how the subscription ends.
    fn judge(&self, view: &FeedView, entry: &Entry) -> std::result::Result<Vec<Change>, End> {
        let position = entry.position();
        if self.is_known(position) {
            return Ok(Vec::new());
        }
        let Some(items) = items_of(view, entry)? else { return Ok(Vec::new()) };
        let judged = judge(view, &items, position).map_err(|it| End::failed(&it))?;
        if judged.is_unknown {
            return Err(End::Resync(Resync::Gap));
        }
        let (skip, mut changes) = (self.token.skip(position), judged.changes);
        changes.retain(|it| it.delivered.is_none_or(|it| it as usize > skip));
        Ok(changes)
    }

    fn is_known(&self, row: Position) -> bool {
        self.visible.as_ref().is_some_and(|it| it.includes(row))
    }
}

/// The items of a row about a view's collection, or how those end who missed it; nothing of a row about another.
fn items_of(view: &FeedView, entry: &Entry) -> std::result::Result<Option<Vec<FeedItem>>, End> {
    let row = FeedRow::parse_of(entry, view.collection()).map_err(|_| End::Resync(Resync::Gap))?;
    match row.map(|it| it.change) {
        None => Ok(None),
        Some(FeedChange::Items(items)) => Ok(Some(items)),
        Some(FeedChange::Interrupted(why)) => Err(End::Resync(why.into())),
        Some(FeedChange::Definition) => Err(End::Resync(Resync::Schema)),
        Some(FeedChange::Rights) => Err(End::Resync(Resync::Permission)),
    }
}
