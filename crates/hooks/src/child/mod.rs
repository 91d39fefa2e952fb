//! The process that runs a site's code: it reads requests from its standard input, a socket, and writes a reply for each:
//! there, or where a reply need not wake the server, to its standard error, another socket. It ends when the server closes
//! its side.

mod confine;
mod engine;
#[cfg(target_os = "linux")]
mod seccomp;

#[doc(hidden)]
pub use crate::message::build;
use crate::{
    frame::{self, Incoming},
    message::{QUIET_BYTES, QUIET_MILLISECONDS, QUIET_REPLIES, Request, Settings},
};
use engine::Engine;
use rustix::io::Errno;
use serde_json::value::RawValue;
use std::{
    io::{Error, ErrorKind, Result, Write, stderr, stdin},
    os::fd::AsFd,
};
use stoa_kernel::{Millis, World, clock::elapsing};

/// The longest request: a source or an item, with room for escapes.
const MOST: usize = 64 << 20;
/// How many milliseconds beyond what a call may take the process waits to be ended by the server, before it ends by itself.
const GRACE: Millis = 5_000;

/// Serves the server at the other end of standard input until it is gone.
///
/// # Errors
/// What went wrong before any code ran, or with the socket.
pub fn run(world: &World) -> Result<()> {
    let (mut incoming, mut outgoing) = (Incoming::new(MOST), Outgoing::default());
    if !wait(&mut incoming)? {
        return Ok(());
    }
    let settings = begin(incoming.message()?.unwrap_or_default())?;
    outgoing.send(&serde_json::json!({ "ready": { "build": build() } }).to_string(), false)?;
    let mut host = Host { world, settings, engine: None, ends_at: None };
    loop {
        if !incoming.has_message()? {
            host.expect_nothing();
            if !wait(&mut incoming)? {
                return Ok(());
            }
            outgoing.begin();
        }
        let reply = host.answer(incoming.message()?.unwrap_or_default())?;
        outgoing.send(&reply, incoming.has_message()?)?;
    }
}

/// Waits for a message; false when the server closed its side.
fn wait(incoming: &mut Incoming) -> Result<bool> {
    while !incoming.has_message()? {
        let is_begun = incoming.is_within_message();
        match incoming.read_by(|it| Ok(rustix::io::read(stdin(), it)?)) {
            Ok(0) if !is_begun => return Ok(false),
            Ok(0) => return Err(Error::from(ErrorKind::UnexpectedEof)),
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}

/// Gives up what code must not have. A server of another build gets no answer.
fn begin(request: &[u8]) -> Result<Settings> {
    match serde_json::from_slice(request)? {
        Request::Begin { build: theirs, settings } if theirs == build() => {
            confine::confine(settings).map_err(Error::other)?;
            #[cfg(target_os = "linux")]
            seccomp::refuse_calls().map_err(Error::other)?;
            Ok(settings)
        }
        _ => Err(Error::other(format!("this is build {}, and the server is another", build()))),
    }
}

struct Host<'w> {
    world: &'w World,
    settings: Settings,
    /// Nothing before a module is loaded, and after code was stopped where it stood: the server loads it again.
    engine: Option<Engine>,
    /// When the system ends the process, where it was told to: milliseconds of the clock that only goes forward.
    ends_at: Option<Millis>,
}

impl Host<'_> {
    fn answer(&mut self, request: &[u8]) -> Result<String> {
        match serde_json::from_slice(request)? {
            Request::Begin { .. } => Err(Error::from(ErrorKind::InvalidData)),
            Request::Load { source, tests, milliseconds } => Ok(self.load(&source, tests.as_deref(), milliseconds)),
            Request::Call { id, export, hook, milliseconds, argument, context, current } => {
                if self.engine.is_some() {
                    self.expect_end_within(milliseconds);
                }
                let Some(engine) = &self.engine else { return Ok(format!(r#"{{"skipped":{{"id":{id}}}}}"#)) };
                let (argument, context) = (argument.get(), (context.get(), current.map(RawValue::get)));
                let ended = engine.run(&export, hook, argument, context, milliseconds);
                if ended.is_spent {
                    self.engine = None;
                }
                let console = serde_json::to_string(&ended.console)?;
                Ok(format!(r#"{{"answer":{{"id":{id},"console":{console},"told":{}}}}}"#, ended.told))
            }
        }
    }

    fn load(&mut self, source: &str, tests: Option<&str>, milliseconds: u64) -> String {
        self.expect_end_within(milliseconds);
        self.engine = None;
        let engine = match Engine::start(self.world, self.settings) {
            Ok(it) => it,
            Err(_) => return r#"{"notLoaded":{"told":"outOfMemory"}}"#.to_owned(),
        };
        match engine.load(source, tests, milliseconds) {
            Ok(exports) => {
                self.engine = Some(engine);
                format!(r#"{{"loaded":{{"exports":{exports}}}}}"#)
            }
            Err(told) => format!(r#"{{"notLoaded":{{"told":{told}}}}}"#),
        }
    }

    /// The server ends what takes too long. Where it is gone, the system does it: a little later than it has to, so that
    /// it isn't told again for each call.
    fn expect_end_within(&mut self, milliseconds: u64) {
        const SLACK: Millis = 1_000;
        let needed = elapsing().saturating_add(Millis::try_from(milliseconds).unwrap_or(Millis::MAX));
        if self.ends_at.is_none_or(|it| it < needed.saturating_add(GRACE)) {
            let seconds = (milliseconds / 1_000).saturating_add(((GRACE + SLACK) / 1_000).unsigned_abs());
            nix::unistd::alarm::set(u32::try_from(seconds).unwrap_or(u32::MAX));
            self.ends_at = Some(needed.saturating_add(GRACE + SLACK));
        }
    }

    fn expect_nothing(&mut self) {
        if self.ends_at.take().is_some() {
            nix::unistd::alarm::cancel();
        }
    }
}

/// Replies on their way. Where the server is asleep, one on standard input wakes it; one on standard error doesn't. It looks
/// there whenever it is woken, and when it ends the process, so each reply counts from the moment when it is written.
#[derive(Default)]
struct Outgoing {
    bytes: Vec<u8>,
    /// Replies and their bytes since one woke the server, and when that was.
    quiet_replies: usize,
    quiet_bytes: usize,
    since: Millis,
}

impl Outgoing {
    /// Requests were received after a pause.
    fn begin(&mut self) {
        (self.quiet_replies, self.quiet_bytes, self.since) = (0, 0, elapsing());
    }

    /// Sends a reply. Where more is to be answered it may be a quiet one: of these there are few enough that they always
    /// have room.
    fn send(&mut self, reply: &str, more_follow: bool) -> Result<()> {
        self.bytes.clear();
        frame::append(&mut self.bytes, |it| it.write_all(reply.as_bytes()))?;
        let bytes = self.quiet_bytes + self.bytes.len();
        let is_quiet = more_follow
            && bytes <= QUIET_BYTES
            && self.quiet_replies < QUIET_REPLIES
            && elapsing() - self.since < QUIET_MILLISECONDS;
        if is_quiet {
            (self.quiet_replies, self.quiet_bytes) = (self.quiet_replies + 1, bytes);
            return write_whole(stderr(), &self.bytes);
        }
        write_whole(stdin(), &self.bytes)?;
        self.begin();
        self.bytes.shrink_to(QUIET_BYTES);
        Ok(())
    }
}

fn write_whole(to: impl AsFd, mut bytes: &[u8]) -> Result<()> {
    while !bytes.is_empty() {
        match rustix::io::write(&to, bytes) {
            Ok(written) => bytes = &bytes[written..],
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
