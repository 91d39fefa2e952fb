//! One client's stream.

use crate::{
    change::Modified,
    core::{Core, Following},
    effort::{Effort, cost},
    group::{Group, MemberId, judge},
    mailbox::{Bounds, Mailbox, Next},
    memory::Room,
    message::{self, End, Resync},
    opening::{Asker, StreamOpening},
    places::Place,
    request::{Begin, Subscription},
    token::{Identity, StreamToken},
};
use bytes::Bytes;
use std::{collections::VecDeque, sync::Arc, time::Duration};
use stoa_content::{
    Origin,
    feed::{FeedChange, FeedRow, FeedView, KINDS},
};
use stoa_kernel::{Caller, Code, Fault, Millis, Result, clock::elapsing};
use stoa_store::{
    Site,
    outbox::{Entry, Position, Read, ReadPoint, Token, Visible},
};
use tokio::sync::watch;

/// Between two times in which a stream with nothing to tell asks again who asks.
const PAUSE: Millis = 1_000;
/// Rows that a subscription reads at once that comes back.
const ROWS: usize = 50;
/// When a client may come back whose stream has ended: from the first, and within the second after it, so that not all
/// come at once.
const RECONNECT: (Millis, u16) = (500, 4_500);

/// What a client is sent: whole messages, one after another.
pub struct EventStream {
    site: Arc<Site>,
    asker: Arc<dyn Asker>,
    origin: Origin,
    following: Following,
    place: Option<Place>,
    number: u64,
    caller: Caller,
    identity: Identity,
    subscriptions: Vec<Subscribed>,
    mailbox: Arc<Mailbox>,
    /// Made, and not handed out yet.
    ready: VecDeque<Ready>,
    /// For what is made.
    room: Option<Room>,
    /// The epoch of the log that is followed.
    epoch: String,
    /// Up to here some subscription has been told everything otherwise, and of these rows behind it: a place is good for
    /// all subscriptions when it is behind both.
    floor: Position,
    visible: Vec<Visible>,
    withdrawn: watch::Receiver<u64>,
    /// The withdrawals in regard of which the caller is who they are.
    seen: u64,
    /// When that was looked at.
    seen_at: Millis,
    closing: watch::Receiver<bool>,
    until: Millis,
    /// When a sign of life is due.
    sign_at: Millis,
    is_ending: bool,
    opened: Millis,
    /// Why it ends, for the log.
    end: &'static str,
}

/// A message of a subscription, or of the stream.
struct Ready {
    subscription: Option<usize>,
    message: Bytes,
}

struct Subscribed {
    asked: Subscription,
    stage: Stage,
    /// Whose changes it is told.
    group: Option<Arc<Group>>,
    /// What that costs.
    effort: Option<Effort>,
}

/// How far a subscription is.
enum Stage {
    Waiting,
    /// It is told of changes, which wait until the items are read.
    Snapshot,
    /// The same until what it missed is read.
    Behind(Behind),
    Live,
    Ended,
}

/// What a subscription that comes back has read.
#[derive(Debug, Clone)]
struct Behind {
    /// Where it began.
    start: Position,
    /// Up to where.
    token: Token,
    visible: Option<Visible>,
    /// What comes behind this it is told as it happens.
    until: Token,
    rows: usize,
}

/// What a stream is made of.
pub(crate) struct Opened {
    pub opening: StreamOpening,
    pub following: Following,
    pub place: Place,
    pub number: u64,
    pub caller: Caller,
    pub withdrawn: watch::Receiver<u64>,
    pub seen: u64,
}

impl EventStream {
    pub(crate) fn new(opened: Opened) -> Self {
        let Opened { opening, following, place, number, caller, withdrawn, seen } = opened;
        let (core, limits) = (&following.core, &following.core.limits);
        let StreamOpening { site, asker, origin, request, until, .. } = opening;
        let subscribed = |asked| Subscribed { asked, stage: Stage::Waiting, group: None, effort: None };
        let subscriptions: Vec<Subscribed> = request.subscriptions.into_iter().map(subscribed).collect();
        let bounds = Bounds { messages: limits.stream_messages, bytes: limits.stream_bytes };
        Self {
            mailbox: Arc::new(Mailbox::new(subscriptions.len(), bounds)),
            until: until.min(core.world.now() + limits.stream_life),
            opened: elapsing(),
            end: "its client went",
            closing: core.closing.subscribe(),
            sign_at: elapsing() + limits.stream_keep_alive,
            identity: Identity::of(&caller),
            place: Some(place),
            ready: VecDeque::new(),
            room: None,
            epoch: String::new(),
            floor: Position::default(),
            visible: Vec::new(),
            seen_at: elapsing(),
            is_ending: false,
            site,
            asker,
            origin,
            following,
            number,
            caller,
            subscriptions,
            withdrawn,
            seen,
        }
    }

    /// The next message: one complete server-sent event, or a comment as a sign of life; nothing when the stream is
    /// over. May be dropped and called again: nothing is lost.
    pub async fn next(&mut self) -> Option<Bytes> {
        loop {
            // What follows until something is handed out waits for nothing.
            if !self.is_ending && *self.withdrawn.borrow() != self.seen {
                // Apart from the stream, which waits most of the time: so it takes little memory then.
                Box::pin(self.look_again()).await;
                continue;
            }
            if let Some(it) = self.ready.pop_front() {
                return Some(self.hand_out(it.message));
            }
            self.room = None;
            if self.is_ending {
                self.release();
                return None;
            }
            if *self.closing.borrow() || self.core().world.now() >= self.until {
                self.end();
                continue;
            }
            if let Some(n) = self.subscriptions.iter().position(Subscribed::is_beginning) {
                Box::pin(self.set_up_in_time(n)).await;
                continue;
            }
            if let Some(it) = self.mailbox.next() {
                let message = self.print(it);
                return Some(self.hand_out(message));
            }
            if self.subscriptions.iter().all(|it| matches!(it.stage, Stage::Ended)) {
                self.end();
                continue;
            }
            if elapsing() >= self.sign_at {
                let place = self.quiet_place();
                self.sign_at = elapsing() + self.core().limits.stream_keep_alive;
                return Some(message::keep_alive(place.as_ref()));
            }
            self.wait().await;
        }
    }

    fn core(&self) -> &Core {
        &self.following.core
    }

    fn hand_out(&mut self, message: Bytes) -> Bytes {
        self.core().counters.message();
        self.sign_at = elapsing() + self.core().limits.stream_keep_alive;
        message
    }

    /// Waits until there may be something to do.
    async fn wait(&mut self) {
        let now = elapsing();
        let end = self.until - self.following.core.world.now();
        let longest = millis((self.sign_at - now).min(end).max(1));
        let pause = millis((self.seen_at + PAUSE - now).max(0) + self.spread());
        let (withdrawn, closing, mailbox) = (&mut self.withdrawn, &mut self.closing, &self.mailbox);
        let looks_again = async {
            // Whoever makes withdrawals one after another makes nobody ask more often than this.
            let _ = withdrawn.changed().await;
            tokio::time::sleep(pause).await;
        };
        tokio::select! {
            () = mailbox.wake.notified() => {}
            () = looks_again => {}
            _ = closing.changed() => {}
            () = tokio::time::sleep(longest) => {}
        }
    }

    /// How much later than others a stream with nothing to tell asks again: a few milliseconds where streams are few, and ten
    /// seconds where they are as many as a node has by default.
    fn spread(&self) -> Millis {
        let most = Millis::try_from(self.core().places.count() / 5).unwrap_or(0);
        Millis::from(u16::from_be_bytes(self.core().world.bytes())) % (most + 1)
    }

    /// Something was withdrawn, perhaps from others: asks again who asks, and what they may see.
    async fn look_again(&mut self) {
        let seen = *self.withdrawn.borrow_and_update();
        if self.core().store.withdrawals().held().await.is_err() {
            return self.end();
        }
        let Ok(caller) = self.asker.caller().await else { return self.end() };
        for n in 0..self.subscriptions.len() {
            let Some(group) = self.subscriptions[n].group.clone() else { continue };
            // What was withdrawn was another's, most often.
            if caller == self.caller && self.core().content.feed_is_current(&self.site, &group.view) {
                continue;
            }
            match self.view(n, &caller).await {
                Ok(view) if view.key() == group.view.key() => {}
                Ok(view) if !view.has_shape_of(&group.view) => self.lose(n, &End::Resync(Resync::Schema)),
                Ok(_) => self.lose(n, &End::Resync(Resync::Permission)),
                // Nothing is known of the rights; the client comes back and asks again.
                Err(fault) if is_passing(&fault) => return self.end(),
                Err(fault) => self.lose(n, &End::failed(&fault)),
            }
        }
        (self.identity, self.caller) = (Identity::of(&caller), caller);
        (self.seen, self.seen_at) = (seen, elapsing());
    }

    async fn view(&self, n: usize, caller: &Caller) -> Result<FeedView> {
        let (limits, feed) = (&self.core().limits, &self.subscriptions[n].asked.feed);
        let view = self.core().content.feed_view(&self.site, caller, feed).await?;
        let (conditions, most) = (view.conditions(), limits.subscription_conditions);
        if conditions > most {
            let text = format!("The filter has {conditions} conditions; a subscription may have {most}.");
            return Err(Fault::because(Code::FilterInvalid, text));
        }
        Ok(view)
    }

    /// The next step of a subscription that is beginning, for which there must be memory. Nothing is done where the stream is
    /// to end meanwhile: what was begun is begun again, or never.
    async fn set_up_in_time(&mut self, n: usize) {
        let left = millis(self.until - self.core().world.now());
        let mut closing = self.closing.clone();
        let setting_up = async {
            if !self.hold_memory(n).await {
                return self.end();
            }
            self.set_up(n).await;
            self.shrink_memory(self.ready.iter().map(|it| it.message.len()).sum());
        };
        tokio::select! {
            biased;
            _ = closing.wait_for(|it| *it) => {}
            () = tokio::time::sleep(left) => {}
            () = setting_up => {}
        }
    }

    /// The next step of a subscription that is beginning.
    async fn set_up(&mut self, n: usize) {
        match self.subscriptions[n].stage {
            Stage::Waiting => match self.view(n, &self.caller).await {
                Ok(view) => {
                    if let Err(fault) = self.join(n, view) {
                        self.lose(n, &End::failed(&fault));
                    }
                }
                Err(fault) => self.lose(n, &End::failed(&fault)),
            },
            Stage::Snapshot => match self.read_snapshot(n).await {
                Ok(()) => {}
                Err(fault) => self.lose(n, &End::failed(&fault)),
            },
            Stage::Behind(_) => match self.catch_up(n).await {
                Ok(None) => {}
                Ok(Some(end)) => self.lose(n, &end),
                Err(fault) => self.lose(n, &End::failed(&fault)),
            },
            Stage::Live | Stage::Ended => {}
        }
    }

    /// From now on the subscription is told of changes, which wait until it has begun.
    ///
    /// # Errors
    /// [`Code::Throttled`] and [`Code::Unavailable`] where its filter is more than this node may still be asked for.
    fn join(&mut self, n: usize, view: FeedView) -> Result<()> {
        let member = self.member(n);
        let effort = match &self.place {
            Some(place) => {
                let (core, most) = (self.core(), self.core().limits.network_conditions);
                Some(core.efforts.take(place.network(), cost(&view), most)?)
            }
            None => None,
        };
        let (group, taken) =
            self.following.feed.join(view, member, self.mailbox.clone(), self.core().limits.site_conditions)?;
        self.subscriptions[n].effort = effort;
        if matches!(self.subscriptions[n].asked.begin, Begin::Resume(_)) {
            self.mailbox.resume(index(n));
        }
        self.core().counters.subscribed();
        self.epoch.clone_from(&taken.epoch);
        self.subscriptions[n].group = Some(group);
        match self.subscriptions[n].asked.begin.clone() {
            Begin::Now => {
                let Token { epoch, position, .. } = taken;
                self.begin(n, ReadPoint { epoch, position, visible: None }, None);
            }
            Begin::Snapshot => self.subscriptions[n].stage = Stage::Snapshot,
            Begin::Lost => self.lose(n, &End::Resync(Resync::Gap)),
            Begin::Resume(it) if it.identity != self.identity => self.lose(n, &End::Resync(Resync::Permission)),
            Begin::Resume(StreamToken { token, visible, .. }) => {
                let start = token.after();
                self.subscriptions[n].stage = Stage::Behind(Behind { start, token, visible, until: taken, rows: 0 });
            }
        }
        Ok(())
    }

    /// The items that are there.
    async fn read_snapshot(&mut self, n: usize) -> Result<()> {
        let Some(group) = self.subscriptions[n].group.clone() else { return Ok(()) };
        let (most, content) = (self.core().limits.snapshot_bytes, &self.core().content);
        let snapshot = content.feed_snapshot(&self.site, &self.caller, self.origin, group.view.clone(), most).await?;
        let pieces = message::snapshot(&self.subscriptions[n].asked.quoted_key, snapshot.items);
        for message in pieces {
            self.ready.push_back(Ready { subscription: Some(n), message });
        }
        self.begin(n, snapshot.point, Some(snapshot.total));
        Ok(())
    }

    /// A part of what a subscription missed; how it ends if that can't be told.
    async fn catch_up(&mut self, n: usize) -> Result<Option<End>> {
        let Subscribed { stage: Stage::Behind(behind), group: Some(group), .. } = &self.subscriptions[n] else {
            return Ok(None);
        };
        let (mut behind, group) = (behind.clone(), group.clone());
        let batch = match self.site.outbox().resume(&behind.token, &KINDS, ROWS).await? {
            Read::Gap(_) => return Ok(Some(End::Resync(Resync::Gap))),
            Read::Batch(batch) => batch,
        };
        behind.rows += batch.entries.len();
        if behind.rows > self.core().limits.resume_rows {
            return Ok(Some(End::Resync(Resync::Gap)));
        }
        for entry in batch.entries.iter().filter(|it| it.position() <= behind.until.position) {
            if let Some(end) = self.tell_missed(n, &group, &behind, entry)? {
                return Ok(Some(end));
            }
            // Each row costs something, also where it is another's.
            tokio::task::yield_now().await;
        }
        let is_done = batch.is_last || batch.end >= behind.until.position;
        let end = batch.end.max(behind.token.after());
        behind.token = Token { epoch: behind.token.epoch, position: end, delivered: None };
        if !is_done {
            self.subscriptions[n].stage = Stage::Behind(behind);
            return Ok(None);
        }
        // What is behind both places it is told as it happens.
        let Behind { token: Token { epoch, .. }, visible, start, until, .. } = behind;
        let position = until.position.max(start);
        let visible = visible.filter(|it| !it.is_past(position));
        self.begin(n, ReadPoint { epoch, position, visible }, None);
        Ok(None)
    }

    /// What a row tells one who missed it.
    fn tell_missed(&mut self, n: usize, group: &Group, behind: &Behind, entry: &Entry) -> Result<Option<End>> {
        let position = entry.position();
        if behind.visible.as_ref().is_some_and(|it| it.includes(position)) {
            return Ok(None);
        }
        let Some(row) = FeedRow::parse_of(entry, group.view.collection())? else { return Ok(None) };
        let items = match row.change {
            FeedChange::Items(items) => items,
            FeedChange::Interrupted(why) => return Ok(Some(End::Resync(why.into()))),
            FeedChange::Definition => return Ok(Some(End::Resync(Resync::Schema))),
            FeedChange::Rights => return Ok(Some(End::Resync(Resync::Permission))),
        };
        let judged = judge(&group.view, &items, position)?;
        if judged.is_unknown {
            return Ok(Some(End::Resync(Resync::Gap)));
        }
        let skip = behind.token.skip(position);
        let is_missed = |delivered: Option<u32>| delivered.is_none_or(|it| it as usize > skip);
        let visible = behind.visible.clone().filter(|it| !it.is_past(position));
        for change in judged.changes.iter().filter(|it| is_missed(it.delivered)) {
            let token = change.token(&behind.token.epoch);
            let id = StreamToken { token, identity: self.identity, visible: visible.clone() };
            let key = &self.subscriptions[n].asked.quoted_key;
            let message = message::change(key, change.net, Modified::Fields(&change.modified), change, Some(&id));
            self.ready.push_back(Ready { subscription: Some(n), message });
        }
        Ok(None)
    }

    /// The subscription has what a point of the log includes, and is told the rest as it happens.
    fn begin(&mut self, n: usize, point: ReadPoint, total: Option<i64>) {
        self.mailbox.begin(index(n), point.clone());
        self.floor = self.floor.max(point.position);
        self.visible.extend(point.visible.clone());
        let id = StreamToken { token: point.token(), identity: self.identity, visible: point.visible };
        let message = message::ready(&self.subscriptions[n].asked.quoted_key, total, &id);
        self.ready.push_back(Ready { subscription: Some(n), message });
        self.subscriptions[n].stage = Stage::Live;
    }

    /// A subscription ends, whatever was still to be told to it.
    fn lose(&mut self, n: usize, end: &End) {
        self.mailbox.forget(index(n));
        self.ready.retain(|it| it.subscription != Some(n));
        let message = self.close(n, end);
        self.ready.push_back(Ready { subscription: Some(n), message });
    }

    /// Takes a subscription out of its group, and answers what its client is told.
    fn close(&mut self, n: usize, end: &End) -> Bytes {
        self.part(n);
        self.subscriptions[n].stage = Stage::Ended;
        if matches!(end, End::Resync(_)) {
            self.core().counters.resync();
        }
        message::end(&self.subscriptions[n].asked.quoted_key, end)
    }

    fn part(&mut self, n: usize) {
        self.subscriptions[n].effort = None;
        if let Some(group) = self.subscriptions[n].group.take() {
            self.following.feed.part(&group, self.member(n));
            self.core().counters.unsubscribed();
        }
    }

    fn print(&mut self, next: Next) -> Bytes {
        match next {
            Next::End(n, end) => self.close(n, &end),
            Next::Change(n, waiting) => {
                let change = &waiting.change;
                let id = self.token(change.token(&self.epoch));
                let key = &self.subscriptions[n].asked.quoted_key;
                message::change(key, waiting.net(), waiting.modified(), change, id.as_ref())
            }
        }
    }

    /// The place of a stream to which everything was told; nothing where that isn't so, or not known.
    fn quiet_place(&mut self) -> Option<StreamToken> {
        // In this order: what is told before the place is in the mailbox before it is looked at.
        let told = self.following.feed.told().filter(|it| it.epoch == self.epoch)?;
        if self.mailbox.is_empty() { self.token(told) } else { None }
    }

    /// A place as it is told, if it is good for all subscriptions.
    fn token(&mut self, token: Token) -> Option<StreamToken> {
        self.visible.retain(|it| !it.is_past(token.position));
        let is_good = self.visible.is_empty() && token.position >= self.floor;
        is_good.then_some(StreamToken { token, identity: self.identity, visible: None })
    }

    /// The stream ends: its client may come back soon.
    fn end(&mut self) {
        let [high, low] = self.core().world.bytes::<2>();
        let jitter = u16::from_be_bytes([high, low]) % RECONNECT.1;
        let message = message::bye(RECONNECT.0 + Millis::from(jitter));
        self.ready.clear();
        self.ready.push_back(Ready { subscription: None, message });
        self.is_ending = true;
        self.end = self.reason();
        (0..self.subscriptions.len()).for_each(|n| self.part(n));
    }

    /// Makes room for others, once everything is told.
    fn release(&mut self) {
        self.place = None;
        (0..self.subscriptions.len()).for_each(|n| self.part(n));
    }

    /// Why the stream ends from this side, for the log.
    fn reason(&self) -> &'static str {
        if *self.closing.borrow() {
            "this node stops"
        } else if self.core().world.now() >= self.until {
            "its time is over"
        } else if self.subscriptions.iter().all(|it| matches!(it.stage, Stage::Ended)) {
            "its subscriptions have all ended"
        } else {
            "it isn't known who asks, or there is no room"
        }
    }

    /// Whether there is memory for the next step of a subscription; the first needs none.
    async fn hold_memory(&mut self, n: usize) -> bool {
        let (Some(place), None) = (&self.place, &self.room) else { return true };
        if matches!(self.subscriptions[n].stage, Stage::Waiting) {
            return true;
        }
        let core = &self.following.core;
        self.room = core.memory.hold(place.network(), core.limits.snapshot_bytes).await;
        self.room.is_some()
    }

    fn shrink_memory(&mut self, bytes: usize) {
        if let Some(it) = &mut self.room {
            it.shrink(bytes);
        }
    }

    fn member(&self, n: usize) -> MemberId {
        MemberId { stream: self.number, subscription: index(n) }
    }
}

impl Drop for EventStream {
    fn drop(&mut self) {
        self.release();
        let millis = elapsing() - self.opened;
        tracing::debug!(site = %self.site.id, stream = self.number, millis, "a stream is over: {}", self.end);
    }
}

impl Subscribed {
    fn is_beginning(&self) -> bool {
        matches!(self.stage, Stage::Waiting | Stage::Snapshot | Stage::Behind(_))
    }
}

/// How long a time is; none where it is over.
fn millis(time: Millis) -> Duration {
    Duration::from_millis(u64::try_from(time).unwrap_or(0))
}

/// The number of a subscription; a stream has at most a hundred.
fn index(n: usize) -> u8 {
    u8::try_from(n).unwrap_or(u8::MAX)
}

/// Whether a fault is the server's, and not what the caller asked for.
fn is_passing(fault: &Fault) -> bool {
    matches!(fault.code(), Code::Unavailable | Code::Internal | Code::TimeLimit)
}
