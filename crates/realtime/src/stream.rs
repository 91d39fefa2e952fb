//! One client's stream.

use crate::{
    behind::{Behind, Missed},
    change::{Change, Modified},
    core::{Core, Following},
    effort::{Effort, cost},
    group::{Group, MemberId},
    mailbox::{Bounds, Mailbox, Next, Rest},
    memory::Room,
    message::{self, End, Resync},
    opening::{Asker, StreamOpening},
    places::Place,
    request::{Begin, Subscription},
    token::{Identity, PlaceKey, StreamToken},
};
use bytes::Bytes;
use std::{collections::VecDeque, sync::Arc, time::Duration};
use stoa_content::{Origin, feed::FeedView};
use stoa_kernel::{Caller, Code, Fault, Millis, Result, clock::elapsing};
use stoa_store::{
    Site,
    outbox::{Position, ReadPoint, Token, Visible},
};
use tokio::sync::watch;

/// Between two times in which a stream with nothing to tell asks again who asks.
const PAUSE: Millis = 1_000;
/// When a client may come back whose stream has ended: from the first, and within the second after it, so that not all
/// come at once.
const RECONNECT: (Millis, u16) = (500, 4_500);

/// What a client is sent: whole messages, one after another.
pub struct EventStream {
    site: Arc<Site>,
    asker: Arc<dyn Asker>,
    origin: Origin,
    following: Following,
    key: Arc<PlaceKey>,
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
    /// It is told of changes, which wait until the items are read: those that its own view shows, in its order. Others of its
    /// group may ask for other ones.
    Snapshot(Arc<FeedView>),
    /// The same until it is known where the log stands.
    Now,
    /// The same until what it missed is read.
    Behind(Behind),
    Live,
    Ended,
}

/// What a stream is made of.
pub(crate) struct Opened {
    pub opening: StreamOpening,
    pub following: Following,
    pub key: Arc<PlaceKey>,
    pub place: Place,
    pub number: u64,
    pub caller: Caller,
    pub withdrawn: watch::Receiver<u64>,
    pub seen: u64,
}

impl EventStream {
    pub(crate) fn new(opened: Opened) -> Self {
        let Opened { opening, following, key, place, number, caller, withdrawn, seen } = opened;
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
            key,
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
            if !self.is_ending && self.is_over() {
                self.end();
            }
            // The lease first, the number after it, and then nothing waits until something is handed out.
            if !self.is_ending && !self.core().store.withdrawals().is_held() {
                let held = Box::pin(self.following.core.store.withdrawals().held()).await;
                if held.is_err() {
                    self.end();
                }
                continue;
            }
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
            if let Some(n) = self.subscriptions.iter().position(Subscribed::is_beginning) {
                Box::pin(self.set_up_in_time(n)).await;
                continue;
            }
            // Asked for before the mailbox: all that these rows tell is there then.
            let told = self.following.feed.told(&self.epoch);
            if let Some((next, rest)) = self.mailbox.next(told) {
                let message = self.print(next, told, rest);
                return Some(self.hand_out(message));
            }
            if self.subscriptions.iter().all(|it| matches!(it.stage, Stage::Ended)) {
                self.end();
                continue;
            }
            if elapsing() >= self.sign_at {
                // The place of a stream to which everything was told.
                let place = told.filter(|_| self.mailbox.is_empty()).and_then(|it| self.sealed(it, None));
                self.sign_at = elapsing() + self.core().limits.stream_keep_alive;
                return Some(message::keep_alive(place.as_deref()));
            }
            self.wait().await;
        }
    }

    /// Whether its time is over, or that of its node.
    fn is_over(&self) -> bool {
        *self.closing.borrow() || self.core().world.now() >= self.until
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
        match self.take_step(n).await {
            Ok(None) => {}
            Ok(Some(end)) => self.lose(n, &end),
            // In a moment it may well be: the client comes back.
            Err(fault) if is_passing(&fault) => self.end(),
            Err(fault) => self.lose(n, &End::failed(&fault)),
        }
    }

    /// The same; how the subscription ends if it does.
    async fn take_step(&mut self, n: usize) -> Result<Option<End>> {
        match &self.subscriptions[n].stage {
            Stage::Waiting => {
                let view = self.view(n, &self.caller).await?;
                Ok(self.join(n, Arc::new(view)))
            }
            Stage::Snapshot(view) => {
                let view = view.clone();
                self.read_snapshot(n, view).await.map(|()| None)
            }
            Stage::Now => {
                let content = &self.core().content;
                let point = content.feed_point(&self.site, &self.caller, self.origin).await?;
                self.begin(n, point, None);
                Ok(None)
            }
            Stage::Behind(_) => self.catch_up(n).await,
            Stage::Live | Stage::Ended => Ok(None),
        }
    }

    /// From now on the subscription is told of changes, which wait until it has begun; how it ends if it can't begin.
    fn join(&mut self, n: usize, view: Arc<FeedView>) -> Option<End> {
        let member = self.member(n);
        let (core, most) = (self.core(), self.core().limits.network_conditions);
        let effort = match &self.place {
            Some(place) => match core.efforts.take(place.network(), cost(&view), most) {
                Ok(it) => Some(it),
                Err(fault) => return Some(End::failed(&fault)),
            },
            None => None,
        };
        if matches!(self.subscriptions[n].asked.begin, Begin::Resume(_)) {
            self.mailbox.resume(index(n));
        }
        let most = core.limits.site_conditions;
        let joined = match self.following.feed.join(view.clone(), member, self.mailbox.clone(), most) {
            Ok(it) => it,
            Err(fault) => return Some(End::failed(&fault)),
        };
        let (group, taken) = joined;
        self.subscriptions[n].effort = effort;
        let begin = std::mem::replace(&mut self.subscriptions[n].asked.begin, Begin::Now);
        self.core().counters.subscribed();
        self.epoch.clone_from(&taken.epoch);
        self.subscriptions[n].group = Some(group);
        self.subscriptions[n].stage = match begin {
            Begin::Now => Stage::Now,
            Begin::Snapshot => Stage::Snapshot(view),
            Begin::Resume(place) => match self.key.open(&place) {
                None => return Some(End::Resync(Resync::Gap)),
                Some(it) if it.identity != self.identity => return Some(End::Resync(Resync::Permission)),
                Some(it) => Stage::Behind(Behind::new(it, taken)),
            },
        };
        None
    }

    /// The items that are there.
    async fn read_snapshot(&mut self, n: usize, view: Arc<FeedView>) -> Result<()> {
        let (most, content) = (self.core().limits.snapshot_bytes, &self.core().content);
        let snapshot = content.feed_snapshot(&self.site, &self.caller, self.origin, view, most).await?;
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
        let (mut behind, view) = (behind.clone(), group.view.clone());
        let rows = self.core().limits.resume_rows;
        match behind.read(&self.site, &view, rows).await? {
            Missed::End(end) => return Ok(Some(end)),
            Missed::Some(changes) => {
                self.tell_missed(n, &changes);
                self.subscriptions[n].stage = Stage::Behind(behind);
            }
            Missed::Rest(changes, point) => {
                self.tell_missed(n, &changes);
                self.begin(n, point, None);
            }
        }
        Ok(None)
    }

    /// Without ids: a place is told when the subscription has begun, and before that there is none that is good for others
    /// as well.
    fn tell_missed(&mut self, n: usize, changes: &[Change]) {
        let key = &self.subscriptions[n].asked.quoted_key;
        let messages = changes.iter().map(|it| message::change(key, it.net, Modified::Fields(&it.modified), it, None));
        self.ready.extend(messages.map(|message| Ready { subscription: Some(n), message }));
    }

    /// The subscription has what a point of the log includes, and is told the rest as it happens.
    fn begin(&mut self, n: usize, point: ReadPoint, total: Option<i64>) {
        self.mailbox.begin(index(n), point.clone());
        self.floor = self.floor.max(point.position);
        self.visible.extend(point.visible.clone());
        let place = StreamToken { token: point.token(), identity: self.identity, visible: point.visible };
        let id = self.key.seal(&place);
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

    fn print(&mut self, next: Next, told: Option<Position>, rest: Rest) -> Bytes {
        match next {
            Next::End(n, end) => self.close(n, &end),
            Next::Change(n, waiting) => {
                let change = &waiting.change;
                let id = told.and_then(|told| self.place_after(change, told, rest));
                let key = &self.subscriptions[n].asked.quoted_key;
                message::change(key, waiting.net(), waiting.modified(), change, id.as_deref())
            }
        }
    }

    /// The place behind all that was told with this change: before the row of the first that still waits, and not behind rows
    /// of which some may still come. A row that several subscriptions are told of is behind it only when all were.
    fn place_after(&mut self, change: &Change, told: Position, rest: Rest) -> Option<String> {
        match rest {
            Rest::Unknown => None,
            Rest::From(row) if row <= told => {
                let is_within = row == change.position && self.subscriptions.len() == 1;
                self.sealed(row, Some(change.delivered.filter(|_| is_within).unwrap_or(0)))
            }
            Rest::From(_) | Rest::Nothing => self.sealed(told, None),
        }
    }

    /// A place as it is told, if it is good for all subscriptions.
    fn sealed(&mut self, position: Position, delivered: Option<u32>) -> Option<String> {
        let token = Token { epoch: self.epoch.clone(), position, delivered };
        let place = token.after();
        self.visible.retain(|it| !it.is_past(place));
        let is_good = self.visible.is_empty() && place >= self.floor;
        is_good.then(|| self.key.seal(&StreamToken { token, identity: self.identity, visible: None }))
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

    /// Whether there is memory for the next step of a subscription, if that needs any.
    async fn hold_memory(&mut self, n: usize) -> bool {
        let (Some(place), None) = (&self.place, &self.room) else { return true };
        if matches!(self.subscriptions[n].stage, Stage::Waiting | Stage::Now) {
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
        !matches!(self.stage, Stage::Live | Stage::Ended)
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

/// Whether a fault is the server's of this moment, and not what the caller asked for.
fn is_passing(fault: &Fault) -> bool {
    matches!(fault.code(), Code::Unavailable | Code::Internal | Code::TimeLimit | Code::Throttled)
}
