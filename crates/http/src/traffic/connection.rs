//! Connections, and when one is closed from this side.
//!
//! Nothing here has a timer of its own: a connection notes what happens by a few stores, and a reaper, four times a
//! second, looks at all of them.

use super::{
    unread::{Pieces, Unread},
    usage::{Resource, Share, Shortage, TICK, Usage},
};
use crate::HttpLimits;
use std::{
    collections::HashMap,
    net::SocketAddr,
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
};
use stoa_kernel::Millis;
use tokio::sync::Notify;

/// What a reader of a waiting answer takes at least in [`HttpLimits::write_time`].
const LEAST_TAKEN: u64 = 32 * 1024;
/// Where connections are refused, one that isn't used for this long makes room. In milliseconds.
const CROWDED_TIME: Millis = 2_000;
/// Where answers are refused, the oldest that still waits for its reader goes after this long. In milliseconds.
const SHORT_TIME: Millis = 5_000;

/// Connections that are open, by number.
#[derive(Default)]
pub(super) struct Connections(Mutex<(u64, HashMap<u64, Arc<Connection>>)>);

/// How a connection ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum End {
    /// After the requests in progress.
    Gracefully,
    Now,
}

/// What a connection is doing.
pub struct Connection {
    pub peer: SocketAddr,
    is_trusted: bool,
    share: Arc<Share>,
    opened: u32,
    /// Requests in progress.
    requests: AtomicU32,
    has_served: AtomicBool,
    is_http2: AtomicBool,
    /// Since when no request is in progress; other times are 0 while they don't apply.
    idle_since: AtomicU32,
    /// Since when bytes are there that aren't a request yet.
    head_since: AtomicU32,
    /// Since when the socket takes no bytes.
    blocked_since: AtomicU32,
    /// Since when an answer waits.
    pending_since: AtomicU32,
    /// Bytes of answers that the socket hasn't taken whole.
    pending: AtomicUsize,
    /// Answers without an end; HTTP/2 may have several of them.
    streams: Mutex<Vec<Arc<Unread>>>,
    /// Bytes that the socket took.
    written: AtomicU64,
    /// When an answer began to wait, or was last seen to move, and what was written then: the reaper's own.
    window: Mutex<Option<(u32, u64)>>,
    end: AtomicU8,
    ended: Notify,
}

/// Counts as open until it is dropped.
pub struct OpenConnection {
    connection: Arc<Connection>,
    among: Arc<Connections>,
    number: u64,
}

impl std::ops::Deref for OpenConnection {
    type Target = Arc<Connection>;

    fn deref(&self) -> &Arc<Connection> {
        &self.connection
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.connection.share.give(Resource::Connections, 1);
        self.among.lock().1.remove(&self.number);
    }
}

impl Connections {
    fn lock(&self) -> MutexGuard<'_, (u64, HashMap<u64, Arc<Connection>>)> {
        self.0.lock().unwrap_or_else(|it| it.into_inner())
    }

    /// Counts a connection that was accepted.
    ///
    /// # Errors
    /// Where there are as many as there may be.
    pub(super) fn open(
        self: &Arc<Self>,
        peer: SocketAddr,
        is_trusted: bool,
        share: Share,
        limits: &HttpLimits,
    ) -> Result<OpenConnection, Shortage> {
        share.take(Resource::Connections, 1, limits)?;
        let (now, share) = (share.usage.now.load(Relaxed), Arc::new(share));
        let connection = Arc::new(Connection {
            peer,
            is_trusted,
            share,
            opened: now,
            requests: AtomicU32::new(0),
            has_served: AtomicBool::new(false),
            is_http2: AtomicBool::new(false),
            idle_since: AtomicU32::new(now),
            head_since: AtomicU32::new(0),
            blocked_since: AtomicU32::new(0),
            pending_since: AtomicU32::new(0),
            pending: AtomicUsize::new(0),
            streams: Mutex::default(),
            written: AtomicU64::new(0),
            window: Mutex::new(None),
            end: AtomicU8::new(0),
            ended: Notify::new(),
        });
        let mut open = self.lock();
        open.0 += 1;
        let number = open.0;
        open.1.insert(number, connection.clone());
        drop(open);
        Ok(OpenConnection { connection, among: self.clone(), number })
    }

    /// Lets a [`TICK`] pass.
    pub(super) fn reap(&self, usage: &Usage, limits: &HttpLimits) {
        let now = usage.now.fetch_add(1, Relaxed) + 1;
        if now.is_multiple_of(4) {
            usage.forget_networks();
        }
        let is_short = usage.is_short.swap(false, Relaxed);
        let (open, mut cut_off) = (self.lock(), Vec::new());
        for connection in open.1.values() {
            cut_off.extend(connection.cut_off_unread(now, limits.write_time));
            if let Some((end, why)) = connection.verdict(now, limits) {
                tracing::debug!(peer = %connection.peer, "closing a connection: {why}");
                connection.end(end);
            }
        }
        if is_short {
            let waiting = open.1.values().filter(|it| it.pending_since.load(Relaxed) > 0);
            let oldest = waiting.min_by_key(|it| it.pending_since.load(Relaxed));
            if let Some(it) = oldest.filter(|it| is_over(now, it.pending_since.load(Relaxed), SHORT_TIME)) {
                tracing::info!(peer = %it.peer, "closing the connection with the oldest answer: others lack room");
                it.end(End::Now);
            }
        }
        // What was crowded is so again when another connection is refused.
        for connection in open.1.values() {
            connection.share.gauges().for_each(|it| it.is_crowded.store(false, Relaxed));
        }
        drop(open);
        // What they hold may wait for others to give it back.
        drop(cut_off);
    }

    /// Ends all connections, and tells how many there are.
    pub(super) fn end_all(&self, end: End) -> usize {
        let open = self.lock();
        open.1.values().for_each(|it| it.end(end));
        open.1.len()
    }
}

impl Connection {
    /// Bytes came from the other end.
    pub fn was_read(&self) {
        if self.head_since.load(Relaxed) == 0 {
            self.head_since.store(self.now(), Relaxed);
        }
    }

    /// The socket took so many bytes.
    pub fn was_written(&self, bytes: usize) {
        self.written.fetch_add(bytes as u64, Relaxed);
        self.was_flushed();
    }

    /// The socket took all that it was given.
    pub fn was_flushed(&self) {
        if self.blocked_since.load(Relaxed) != 0 {
            self.blocked_since.store(0, Relaxed);
        }
    }

    /// The socket takes no bytes now.
    pub fn was_blocked(&self) {
        if self.blocked_since.load(Relaxed) == 0 {
            self.blocked_since.store(self.now(), Relaxed);
        }
    }

    /// How the connection is to be ended, if it is.
    pub fn end_of_life(&self) -> Option<End> {
        match self.end.load(Relaxed) {
            0 => None,
            1 => Some(End::Gracefully),
            _ => Some(End::Now),
        }
    }

    /// Waits until the connection is to be ended, in this way or a harder one.
    pub async fn ended(&self, least: End) -> End {
        loop {
            let told = self.ended.notified();
            match self.end_of_life() {
                Some(end) if end >= least => return end,
                _ => told.await,
            }
        }
    }

    pub(super) fn share(&self) -> &Arc<Share> {
        &self.share
    }

    pub(super) fn is_trusted(&self) -> bool {
        self.is_trusted
    }

    pub(super) fn request_begins(&self, is_http2: bool) {
        self.requests.fetch_add(1, Relaxed);
        if !self.has_served.load(Relaxed) {
            self.has_served.store(true, Relaxed);
            self.is_http2.store(is_http2, Relaxed);
        }
        self.head_since.store(0, Relaxed);
    }

    pub(super) fn request_ends(&self) {
        self.head_since.store(0, Relaxed);
        self.idle_since.store(self.now(), Relaxed);
        self.requests.fetch_sub(1, Relaxed);
    }

    /// So many bytes of an answer are there.
    pub(super) fn answer_waits(&self, bytes: usize) {
        if self.pending.fetch_add(bytes, Relaxed) == 0 {
            self.pending_since.store(self.now(), Relaxed);
        }
    }

    /// An answer of so many bytes was taken, or given up.
    pub(super) fn answer_is_gone(&self, bytes: usize) {
        if self.pending.fetch_sub(bytes, Relaxed) == bytes {
            self.pending_since.store(0, Relaxed);
            self.idle_since.store(self.now(), Relaxed);
        }
    }

    /// An answer without an end begins: the connection is in use until it is over.
    pub(super) fn stream_begins(&self, unread: Arc<Unread>) {
        self.open_streams().push(unread);
    }

    pub(super) fn stream_ends(&self, unread: &Arc<Unread>) {
        self.open_streams().retain(|it| !Arc::ptr_eq(it, unread));
        self.head_since.store(0, Relaxed);
        self.idle_since.store(self.now(), Relaxed);
    }

    fn open_streams(&self) -> MutexGuard<'_, Vec<Arc<Unread>>> {
        self.streams.lock().unwrap_or_else(|it| it.into_inner())
    }

    /// Bytes that the socket took.
    pub(super) fn written(&self) -> u64 {
        self.written.load(Relaxed)
    }

    /// Ticks since the start.
    pub(super) fn now(&self) -> u32 {
        self.share.usage.now.load(Relaxed)
    }

    fn end(&self, end: End) {
        self.end.fetch_max(if end == End::Now { 2 } else { 1 }, Relaxed);
        self.ended.notify_waiters();
    }

    /// Whether the connection's time is over, and what is said of it.
    fn verdict(&self, now: u32, limits: &HttpLimits) -> Option<(End, &'static str)> {
        let is_over = |since: u32, time| since > 0 && is_over(now, since, time);
        if self.is_stuck(now, limits.write_time) {
            return Some((End::Now, "its reader takes too little of an answer"));
        }
        let (is_streaming, is_unread) = self.streaming(now, limits.write_time);
        if is_unread && !self.is_http2.load(Relaxed) {
            return Some((End::Now, "its reader takes nothing of a stream"));
        }
        let is_busy = is_streaming || self.requests.load(Relaxed) > 0 || self.pending.load(Relaxed) > 0;
        if is_busy || self.blocked_since.load(Relaxed) > 0 {
            return None;
        }
        // A proxy keeps connections ready, and closes them itself.
        if self.is_trusted {
            return None;
        }
        let (head, idle) = match self.share.is_crowded() {
            true => (limits.head_time.min(CROWDED_TIME), limits.idle_time.min(CROWDED_TIME)),
            false => (limits.head_time, limits.idle_time),
        };
        let has_served = self.has_served.load(Relaxed);
        if !has_served && is_over(self.opened, head) {
            return Some((End::Now, "no request came"));
        }
        if !self.is_http2.load(Relaxed) && is_over(self.head_since.load(Relaxed), head) {
            return Some((End::Now, "a request did not come to an end"));
        }
        let idle_since = self.idle_since.load(Relaxed);
        if has_served && is_over(idle_since, idle) {
            // Who doesn't leave when asked to is left.
            let end = if is_over(idle_since, idle + 2 * CROWDED_TIME) { End::Now } else { End::Gracefully };
            return Some((end, "it was not used"));
        }
        None
    }

    /// Whether answers without an end are being sent, and whether a piece of one has waited for its reader so long. All
    /// that a connection of HTTP/1 writes is of that answer.
    fn streaming(&self, now: u32, time: Millis) -> (bool, bool) {
        let (streams, written) = (self.open_streams(), self.written());
        let is_alone = !self.is_http2.load(Relaxed);
        for it in streams.iter().filter(|it| is_alone && it.since() > 0 && it.taken(written) >= LEAST_TAKEN) {
            it.waits(now, written);
        }
        (!streams.is_empty(), streams.iter().any(|it| is_unread(it, now, time)))
    }

    /// Ends answers without an end of which their readers took nothing for so long, where others share the connection:
    /// behind a proxy these are other people's. What is left of them is dropped by the caller.
    fn cut_off_unread(&self, now: u32, time: Millis) -> Vec<Pieces> {
        if !self.is_http2.load(Relaxed) {
            return Vec::new();
        }
        let (mut streams, mut pieces) = (self.open_streams(), Vec::new());
        streams.retain(|it| match is_unread(it, now, time).then(|| it.cut_off()).flatten() {
            Some(cut_off) => {
                tracing::debug!(peer = %self.peer, "cutting off a stream: its reader takes nothing of it");
                pieces.push(cut_off);
                false
            }
            None => true,
        });
        if !pieces.is_empty() {
            self.idle_since.store(now, Relaxed);
        }
        pieces
    }

    /// Whether the other end took next to nothing of what waits for it, for so long.
    fn is_stuck(&self, now: u32, time: Millis) -> bool {
        let mut window = self.window.lock().unwrap_or_else(|it| it.into_inner());
        if self.blocked_since.load(Relaxed) == 0 && self.pending.load(Relaxed) == 0 {
            *window = None;
            return false;
        }
        let written = self.written.load(Relaxed);
        match *window {
            Some((_, before)) if written - before >= LEAST_TAKEN => *window = Some((now, written)),
            Some((since, _)) => return is_over(now, since, time),
            None => *window = Some((now, written)),
        }
        false
    }
}

/// Whether a piece of an answer has waited for its reader for so long.
fn is_unread(stream: &Unread, now: u32, time: Millis) -> bool {
    stream.since() > 0 && is_over(now, stream.since(), time)
}

fn is_over(now: u32, since: u32, time: Millis) -> bool {
    u128::from(now.saturating_sub(since)) * TICK.as_millis() > u128::from(time.unsigned_abs())
}
