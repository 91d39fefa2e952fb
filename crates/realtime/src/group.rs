//! Those who are told the same.

use crate::{
    change::{Change, Told},
    counts::Counters,
    mailbox::Mailbox,
    message::{End, Resync},
};
use parking_lot::Mutex;
use std::{
    collections::HashMap,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};
use stoa_content::feed::{FeedItem, FeedView};
use stoa_kernel::{Fault, Result};
use stoa_store::outbox::Position;

/// Members that are told something before others get a turn.
const TURN: usize = 500;

/// Subscriptions, of whatever streams, whose views judge all rows alike. Each row is judged once for all of them.
pub(crate) struct Group {
    pub view: Arc<FeedView>,
    members: Mutex<HashMap<MemberId, Arc<Mailbox>>>,
}

/// A subscription: the number of its stream, and its own in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct MemberId {
    pub stream: u64,
    pub subscription: u8,
}

/// What a row tells a group.
pub(crate) struct Judged {
    pub changes: Vec<Change>,
    /// Whether there is something that can't be told.
    pub is_unknown: bool,
}

impl Group {
    pub(crate) fn new(view: Arc<FeedView>) -> Self {
        Self { view, members: Mutex::default() }
    }

    pub(crate) fn add(&self, id: MemberId, mailbox: Arc<Mailbox>) {
        self.members.lock().insert(id, mailbox);
    }

    /// Whether there is no member left.
    pub(crate) fn remove(&self, id: MemberId) -> bool {
        let mut members = self.members.lock();
        members.remove(&id);
        members.is_empty()
    }

    /// Tells the members of changes, with a pause for others in between. They read of it once they are woken.
    pub(crate) async fn tell(&self, judged: Judged, position: Position, counters: &Counters) {
        let Judged { changes, is_unknown } = judged;
        let changes: Vec<Arc<Change>> = changes.into_iter().map(Arc::new).collect();
        if !changes.is_empty() {
            self.each(|id, mailbox| {
                for it in &changes {
                    counters.overload(mailbox.put(id.subscription, it));
                }
            })
            .await;
        }
        if is_unknown {
            self.end(Some(position), &End::Resync(Resync::Gap)).await;
        }
    }

    /// Ends the subscriptions of the members, at a position of the log.
    pub(crate) async fn end(&self, position: Option<Position>, end: &End) {
        self.each(|id, mailbox| mailbox.end(id.subscription, position, end)).await;
    }

    /// Tells the members that who may read was changed at a position of the log.
    pub(crate) async fn rights(&self, position: Position) {
        self.each(|id, mailbox| mailbox.rights(id.subscription, position)).await;
    }

    /// Wakes the members, once all that a row tells them has been told.
    pub(crate) async fn wake(&self) {
        self.each(|_, mailbox| mailbox.wake.notify_one()).await;
    }

    async fn each(&self, tell: impl Fn(MemberId, &Mailbox)) {
        let members: Vec<(MemberId, Arc<Mailbox>)> =
            self.members.lock().iter().map(|(id, it)| (*id, it.clone())).collect();
        for some in members.chunks(TURN) {
            some.iter().for_each(|(id, mailbox)| tell(*id, mailbox));
            tokio::task::yield_now().await;
        }
    }
}

/// What the items of a row are to those who have a view.
///
/// # Errors
/// [`stoa_kernel::Code::Internal`] when judging failed: that is the matter of those with this view and of no others.
pub(crate) fn judge(view: &FeedView, items: &[FeedItem], position: Position) -> Result<Judged> {
    let judged = catch_unwind(AssertUnwindSafe(|| {
        let (mut changes, mut is_unknown) = (Vec::new(), false);
        for (n, item) in items.iter().enumerate() {
            match Change::of(view, item, position, n, items.len()) {
                Told::Nothing => {}
                Told::Unknown => is_unknown = true,
                Told::Change(it) => changes.push(it),
            }
        }
        Judged { changes, is_unknown }
    }));
    judged.map_err(|_| Fault::internal("judging a row of the log panicked"))
}
