//! The process that runs a site's code: it reads requests from its first descriptor, a socket, and writes a reply for each.
//! It ends when the server closes its side.

mod confine;
mod engine;
#[cfg(target_os = "linux")]
mod seccomp;

#[doc(hidden)]
pub use crate::message::build;
use crate::{
    frame::{self, HEADER},
    message::{Request, Settings},
};
use engine::Engine;
use rustix::io::Errno;
use std::io::{Error, ErrorKind, Result, stdin};
use stoa_kernel::World;

/// The longest request: a source or an item, with room for escapes.
const MOST: usize = 64 << 20;
/// How many seconds beyond what a call may take the process waits to be ended by the server, before it ends by itself.
const GRACE: u32 = 5;

/// Serves the server at the other end of standard input until it is gone.
///
/// # Errors
/// What went wrong before any code ran, or with the socket.
pub fn run(world: &World) -> Result<()> {
    let Some(first) = receive()? else { return Ok(()) };
    let settings = begin(&first)?;
    send(&serde_json::json!({ "ready": { "build": build() } }).to_string())?;
    let mut host = Host { world, settings, engine: None };
    while let Some(request) = receive()? {
        let reply = host.answer(&request)?;
        send(&reply)?;
    }
    Ok(())
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
}

impl Host<'_> {
    fn answer(&mut self, request: &[u8]) -> Result<String> {
        match serde_json::from_slice(request)? {
            Request::Begin { .. } => Err(Error::from(ErrorKind::InvalidData)),
            Request::Load { source, tests, milliseconds } => Ok(self.load(&source, tests.as_deref(), milliseconds)),
            Request::Call { id, export, hook, milliseconds, argument, context } => {
                let Some(engine) = &self.engine else { return Ok(format!(r#"{{"skipped":{{"id":{id}}}}}"#)) };
                expect_end_within(milliseconds);
                let ended = engine.run(&export, hook, argument.get(), context.get(), milliseconds);
                if ended.is_spent {
                    self.engine = None;
                }
                let console = serde_json::to_string(&ended.console)?;
                Ok(format!(r#"{{"answer":{{"id":{id},"console":{console},"told":{}}}}}"#, ended.told))
            }
        }
    }

    fn load(&mut self, source: &str, tests: Option<&str>, milliseconds: u64) -> String {
        expect_end_within(milliseconds);
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
}

/// The server ends what takes too long. Where it is gone, the system does it.
fn expect_end_within(milliseconds: u64) {
    let seconds = u32::try_from(milliseconds / 1_000).unwrap_or(u32::MAX / 2);
    nix::unistd::alarm::set(seconds + GRACE);
}

/// The next request; nothing when the server closed its side.
fn receive() -> Result<Option<Vec<u8>>> {
    nix::unistd::alarm::cancel();
    let mut header = [0; HEADER];
    if !read_whole(&mut header)? {
        return Ok(None);
    }
    let length = frame::length(header, MOST).ok_or(ErrorKind::InvalidData)?;
    let mut request = vec![0; length];
    if !read_whole(&mut request)? {
        return Err(Error::from(ErrorKind::UnexpectedEof));
    }
    Ok(Some(request))
}

/// False at the end of what there is.
fn read_whole(buffer: &mut [u8]) -> Result<bool> {
    let mut read = 0;
    while read < buffer.len() {
        match rustix::io::read(stdin(), &mut buffer[read..]) {
            Ok(0) if read == 0 => return Ok(false),
            Ok(0) => return Err(Error::from(ErrorKind::UnexpectedEof)),
            Ok(more) => read += more,
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(true)
}

/// Standard input is the socket, which goes both ways.
fn send(reply: &str) -> Result<()> {
    let bytes = frame::framed(reply.as_bytes()).ok_or(ErrorKind::InvalidData)?;
    let mut rest = bytes.as_slice();
    while !rest.is_empty() {
        match rustix::io::write(stdin(), rest) {
            Ok(written) => rest = &rest[written..],
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
