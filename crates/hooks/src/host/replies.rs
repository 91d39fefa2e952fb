//! What a process answers to calls that were sent one behind another, and how it is read without being woken for each.

use crate::{
    call::Call,
    frame::Incoming,
    hook::Answers,
    message::{QUIET_BYTES, Reply, Settings, Told},
};
use std::{
    io::{ErrorKind, Read},
    os::unix::net::UnixStream,
};
use tokio::time::Instant;

/// What a process answered to a call.
pub struct Answer {
    pub told: Told,
    pub console: String,
    pub at: Instant,
}

/// Why a process can't be used any more; it is to be dropped.
#[derive(Debug)]
pub enum Broken {
    /// It didn't answer in time.
    TimedOut,
    /// The request ended while it was asked, which is not its fault.
    Abandoned,
    /// It ended, or said what it may not.
    Ended(String),
}

/// Replies as they are expected: one for each call, in their order.
pub struct Replies {
    pub answers: Vec<Answer>,
    /// The code of a call was stopped where it stood, and what was sent behind it is skipped.
    pub is_stopped: bool,
    next: u64,
    last: u64,
    settings: Settings,
    kind: Answers,
    room: usize,
}

impl Replies {
    /// To calls of one hook, from this one on. What comes once there is no more `room`, in bytes, is dropped.
    pub fn to(first: u64, calls: &[Call], settings: Settings, room: usize) -> Self {
        let (answers, last) = (Vec::with_capacity(calls.len()), first + calls.len() as u64);
        let kind = calls.first().map_or(Answers::Any, |it| it.hook.answers());
        Self { answers, is_stopped: false, next: first, last, settings, kind, room }
    }

    pub fn are_expected(&self) -> bool {
        self.next < self.last
    }

    /// Takes the next.
    ///
    /// # Errors
    /// It is not the one that comes next.
    pub fn take(&mut self, reply: Reply, at: Instant) -> Result<(), Broken> {
        let is_next = |id: u64| id == self.next && self.next < self.last;
        match reply {
            Reply::Skipped { id } if is_next(id) && self.is_stopped => {}
            Reply::Answer { id, console, mut told }
                if is_next(id) && !self.is_stopped && console.len() <= self.settings.console =>
            {
                self.is_stopped = matches!(told, Told::TimedOut | Told::OutOfMemory);
                match &told {
                    Told::Value(it) if !self.kind.include(it) => told = Told::Nothing,
                    _ if self.room == 0 && !self.is_stopped => told = Told::TooLarge,
                    _ => {}
                }
                self.room = self.room.saturating_sub(told.bytes());
                self.answers.push(Answer { told, console, at });
            }
            other => return Err(unexpected(&other)),
        }
        self.next += 1;
        Ok(())
    }
}

/// Where a process sends replies that needn't be read at once. No task waits for what is there, so that a reply costs no change
/// of process: it is read after each reply that woke the server, and when the process is ended.
pub struct Quiet {
    socket: UnixStream,
    incoming: Incoming,
}

impl Quiet {
    /// The server's side and the process's.
    ///
    /// # Errors
    /// The system has no sockets left.
    pub fn pair() -> std::io::Result<(Self, UnixStream)> {
        let (socket, theirs) = UnixStream::pair()?;
        socket.set_nonblocking(true)?;
        Ok((Self { socket, incoming: Incoming::new(QUIET_BYTES) }, theirs))
    }

    /// Takes the replies that are there whole, up to this one, which was received on the other socket. They were given after something was
    /// heard at `since`, and took no time worth telling.
    ///
    /// # Errors
    /// What was said is none of them.
    pub fn take(&mut self, replies: &mut Replies, end: Option<u64>, since: Instant) -> Result<(), Broken> {
        let ended = |it: std::io::Error| Broken::Ended(it.to_string());
        loop {
            while end.is_none_or(|it| replies.next < it)
                && let Some(it) = self.incoming.message().map_err(ended)?
            {
                replies.take(read(it)?, since)?;
            }
            if end.is_some_and(|it| replies.next >= it) {
                return Ok(());
            }
            match self.incoming.read_by(|it| self.socket.read(it)) {
                // At its end the other socket is at its end as well.
                Ok(0) => return Ok(()),
                Ok(_) => {}
                Err(it) if it.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(it) if it.kind() == ErrorKind::Interrupted => {}
                Err(it) => return Err(ended(it)),
            }
        }
    }
}

pub fn read(bytes: &[u8]) -> Result<Reply, Broken> {
    Reply::read(bytes).map_err(|it| Broken::Ended(format!("it said what is no reply: {it}")))
}

pub fn unexpected(reply: &Reply) -> Broken {
    let kind = match reply {
        Reply::Ready { .. } => "a beginning",
        Reply::Loaded { .. } | Reply::NotLoaded { .. } => "that it loaded something",
        Reply::Answer { .. } | Reply::Skipped { .. } => "an answer to another call, or with too much of a console",
    };
    Broken::Ended(format!("it said {kind}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{call::Context, frame, hook::Hook};
    use serde_json::value::RawValue;
    use std::{io::Write, sync::Arc};

    const SETTINGS: Settings = Settings { memory: 1 << 20, answer: 4_096, console: 8 };

    fn framed(message: &str) -> Vec<u8> {
        let mut bytes = Vec::new();
        frame::append(&mut bytes, |it| it.write_all(message.as_bytes())).expect("a frame");
        bytes
    }

    fn answer(id: u64, told: &str) -> Vec<u8> {
        framed(&format!(r#"{{"answer":{{"id":{id},"console":"","told":{told}}}}}"#))
    }

    fn calls(count: usize) -> Vec<Call> {
        let (collection, context) = (Arc::from("c"), Arc::new(Context::default()));
        let call = |_| Call {
            collection: Arc::clone(&collection),
            hook: Hook::BeforeInsert,
            argument: RawValue::NULL.to_owned(),
            current: None,
            context: Arc::clone(&context),
        };
        (0..count).map(call).collect()
    }

    /// What was answered, once this was said quietly before a reply to call `end`, or the end of the process.
    fn after(quiet: &[u8], end: Option<u64>) -> (usize, Result<u64, ()>) {
        let (mut quiet_side, mut theirs) = Quiet::pair().expect("sockets");
        theirs.write_all(quiet).expect("room");
        let mut replies = Replies::to(7, &calls(4), SETTINGS, 1 << 20);
        let taken = quiet_side.take(&mut replies, end, Instant::now());
        (replies.answers.len(), taken.map(|()| replies.next).map_err(|_| ()))
    }

    #[test]
    fn what_is_said_quietly_counts_in_its_place_or_is_the_end() {
        let answers = |ids: &[u64]| ids.iter().flat_map(|it| answer(*it, r#"{"value":{}}"#)).collect::<Vec<_>>();
        let stopped =
            [answer(7, r#""timedOut""#), framed(r#"{"skipped":{"id":8}}"#), framed(r#"{"skipped":{"id":9}}"#)];
        let long = answer(7, &format!(r#"{{"value":{{"a":"{}"}}}}"#, "x".repeat(QUIET_BYTES)));
        let whole = answers(&[7, 8, 9, 10]);
        for (quiet, end, becomes) in [
            (Vec::new(), None, (0, Ok(7))),
            (answers(&[7, 8]), None, (2, Ok(9))),
            (answers(&[7, 8]), Some(9), (2, Ok(9))),
            // Those behind the reply that woke the server wait for the next.
            (answers(&[7, 9]), Some(8), (1, Ok(8))),
            (answers(&[8]), Some(7), (0, Ok(7))),
            (whole.clone(), None, (4, Ok(11))),
            (whole[..whole.len() - 1].to_vec(), None, (3, Ok(10))),
            (stopped.concat(), Some(10), (1, Ok(10))),
            (answers(&[8]), Some(9), (0, Err(()))),
            (answers(&[7, 7]), Some(9), (1, Err(()))),
            (answers(&[7, 8, 9, 10, 11]), None, (4, Err(()))),
            (framed("[[[["), None, (0, Err(()))),
            (framed(r#"{"ready":{"build":""}}"#), None, (0, Err(()))),
            (framed(r#"{"skipped":{"id":7}}"#), None, (0, Err(()))),
            (vec![0xff; 4], None, (0, Err(()))),
            (long, None, (0, Err(()))),
        ] {
            assert_eq!(after(&quiet, end), becomes, "{end:?} {:?}", String::from_utf8_lossy(&quiet));
        }
    }

    #[test]
    fn answers_without_room_are_dropped() {
        let mut replies = Replies::to(1, &calls(4), SETTINGS, 10);
        for (id, text) in [(1, r#""of another kind""#), (2, r#"{"a":1}"#), (3, r#"{"a":2}"#), (4, r#"{"a":3}"#)] {
            let told = Told::Value(RawValue::from_string(text.to_owned()).expect("json"));
            replies.take(Reply::Answer { id, console: String::new(), told }, Instant::now()).expect("the next");
        }
        let told = replies.answers.iter().map(|it| serde_json::to_string(&it.told).expect("json"));
        let becomes = [r#""nothing""#, r#"{"value":{"a":1}}"#, r#"{"value":{"a":2}}"#, r#""tooLarge""#];
        assert_eq!((told.collect::<Vec<_>>(), replies.are_expected()), (becomes.map(str::to_owned).to_vec(), false));
    }
}
