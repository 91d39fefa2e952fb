//! One process that runs code of a site.

use super::replies::{Answer, Broken, Quiet, Replies, read, unexpected};
use crate::{
    call::Call,
    frame::{self, HEADER},
    hook::Hook,
    message::{Exported, QUIET_MILLISECONDS, Reply, Request, Settings, Told, build},
    version::Version,
};
use serde_json::value::{RawValue, to_raw_value};
use std::{borrow::Cow, ffi::OsString, os::fd::OwnedFd, path::PathBuf, process::Stdio, sync::Arc, time::Duration};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader},
    net::UnixStream,
    process::{Child, Command},
    time::{Instant, timeout_at},
};

/// How long a process gets to stop code by itself when its time is over, before it is killed.
const GRACE: Duration = Duration::from_millis(25);
/// How long answers may be kept from waking the server.
const QUIET: Duration = Duration::from_millis(QUIET_MILLISECONDS.unsigned_abs());
/// How long a process may take to start.
const STARTING: Duration = Duration::from_secs(10);
/// How long a module may take to be loaded.
pub const LOADING: Duration = Duration::from_secs(1);

/// How the program is started that runs the code.
#[derive(Debug, Clone)]
pub struct HostProgram {
    pub path: PathBuf,
    pub arguments: Vec<OsString>,
}

impl HostProgram {
    /// The running program with these arguments. On Linux it is the same even when its file was replaced meanwhile.
    ///
    /// # Errors
    /// Where the system doesn't tell which file that is.
    pub fn this_program(arguments: &[&str]) -> std::io::Result<Self> {
        let path = match cfg!(target_os = "linux") {
            true => PathBuf::from("/proc/self/exe"),
            false => std::env::current_exe()?,
        };
        Ok(Self { path, arguments: arguments.iter().map(OsString::from).collect() })
    }
}

pub struct Process {
    /// Killed when it is dropped.
    child: Child,
    socket: BufReader<UnixStream>,
    quiet: Quiet,
    settings: Settings,
    loaded: Option<Arc<Version>>,
    calls: u64,
}

/// Why a module isn't loaded.
pub enum NotLoaded {
    Told(Told),
    Broken(Broken),
}

impl Process {
    /// # Errors
    /// Why there is none.
    pub async fn start(program: &HostProgram, settings: Settings, until: Instant) -> Result<Self, String> {
        let until = until.min(Instant::now() + STARTING);
        let (child, socket, quiet) =
            spawn(program).map_err(|it| format!("{} can't be started: {it}", program.path.display()))?;
        let mut process = Self { child, socket: BufReader::new(socket), quiet, settings, loaded: None, calls: 0 };
        let begin = Request::Begin { build: build().into(), settings };
        match process.exchange(&begin, until).await {
            Ok(Reply::Ready { build: theirs }) if theirs == build() => Ok(process),
            Ok(Reply::Ready { build: theirs }) => Err(format!("it is build {theirs}, and the server is {}", build())),
            Ok(other) => Err(format!("it began with {other:?}")),
            Err(broken) => Err(format!("it doesn't begin: {broken:?}")),
        }
    }

    /// Whether it is still there. Something else may have killed it while it was idle.
    pub fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    pub fn has_loaded(&self, version: &Version) -> bool {
        self.loaded.as_ref().is_some_and(|it| it.number == version.number && Arc::ptr_eq(&it.source, &version.source))
    }

    /// Bytes of memory that are its own; nothing where the system doesn't tell.
    pub fn memory(&self) -> Option<usize> {
        let text = std::fs::read_to_string(format!("/proc/{}/statm", self.child.id()?)).ok()?;
        let mut pages = text.split(' ').skip(1).map(|it| it.parse::<usize>().ok());
        let (resident, shared) = (pages.next()??, pages.next()??);
        Some(resident.saturating_sub(shared) * rustix::param::page_size())
    }

    /// Ends it, and waits until it has.
    pub async fn end(mut self) {
        let _ = self.child.kill().await;
    }

    /// Loads a module, and tells what it exports.
    ///
    /// # Errors
    /// Why it isn't loaded.
    pub async fn load_source(
        &mut self,
        source: &str,
        tests: Option<&str>,
        time: Duration,
    ) -> Result<Vec<Exported>, NotLoaded> {
        self.loaded = None;
        let (source, tests) = (Cow::Borrowed(source), tests.map(Cow::Borrowed));
        let request = Request::Load { source, tests, milliseconds: milliseconds(time) };
        match self.exchange(&request, Instant::now() + time + GRACE).await {
            Ok(Reply::Loaded { exports }) => Ok(exports),
            Ok(Reply::NotLoaded { told }) => Err(NotLoaded::Told(told)),
            Ok(other) => Err(NotLoaded::Broken(unexpected(&other))),
            Err(broken) => Err(NotLoaded::Broken(broken)),
        }
    }

    /// Asks hooks, one behind another: its answers in their order, which are fewer than the calls where the code of one
    /// was stopped, or where it broke. `time` is what a call may take, `until` the end of the request. Answers that there
    /// is no `room` for, in bytes, are dropped.
    pub async fn ask(
        &mut self,
        version: &Arc<Version>,
        calls: &[Call],
        (time, until): (Duration, Instant),
        room: usize,
    ) -> (Vec<Answer>, Option<Broken>) {
        let at_once = |told| vec![Answer { told, console: String::new(), at: Instant::now() }];
        if !self.has_loaded(version) && !left(until).is_zero() {
            let is_short = left(until) < LOADING;
            match self.load_source(&version.source, None, LOADING.min(left(until))).await {
                Ok(_) => self.loaded = Some(Arc::clone(version)),
                Err(NotLoaded::Told(told)) => return (at_once(told), None),
                Err(NotLoaded::Broken(Broken::TimedOut)) if is_short => return (Vec::new(), Some(Broken::Abandoned)),
                Err(NotLoaded::Broken(broken)) => return (Vec::new(), Some(broken)),
            }
        }
        let time = time.min(left(until));
        if time.as_millis() == 0 {
            return (at_once(Told::TimedOut), None);
        }
        let mut replies = Replies::to(self.calls + 1, calls, self.settings, room);
        let broken = self.exchange_calls(calls, (time, until), &mut replies).await.err();
        if replies.is_stopped {
            self.loaded = None;
        }
        (replies.answers, broken)
    }

    /// Sends calls and reads answers at the same time, since neither side waits for the other while there is room on the
    /// way. What it sent when the code of a call was stopped is skipped.
    async fn exchange_calls(
        &mut self,
        calls: &[Call],
        (time, until): (Duration, Instant),
        replies: &mut Replies,
    ) -> Result<(), Broken> {
        let requests = requests_of(calls, self.calls + 1, milliseconds(time))?;
        self.calls += calls.len() as u64;
        let (most, quiet) = (self.settings.longest_reply(), &mut self.quiet);
        let (mut reading, mut writing) = tokio::io::split(&mut self.socket);
        let write = async {
            // Where it can't be written to, what it said before is still read, up to its end.
            let _ = writing.write_all(&requests).await;
            std::future::pending::<Result<(), Broken>>().await
        };
        let read = async {
            let mut woken = Instant::now();
            while replies.are_expected() {
                let own = woken + time + GRACE + QUIET;
                let reply = timeout_at(own.min(until + GRACE), received(&mut reading, most)).await;
                let reply = reply.map(read_reply);
                let id = reply.as_ref().ok().and_then(|it| it.as_ref().ok()?.id());
                quiet.take(replies, id, woken)?;
                woken = Instant::now();
                match reply {
                    Ok(reply) => replies.take(reply?, woken)?,
                    Err(_) if own > until + GRACE => return Err(Broken::Abandoned),
                    Err(_) => return Err(Broken::TimedOut),
                }
            }
            Ok(())
        };
        tokio::select! {
            it = read => it,
            it = write => it,
        }
    }

    /// Calls a function of what is loaded.
    ///
    /// # Errors
    /// Why there is no answer.
    pub async fn run(
        &mut self,
        export: &str,
        hook: Hook,
        argument: &RawValue,
        context: &RawValue,
        time: Duration,
    ) -> Result<(Told, String), Broken> {
        self.calls += 1;
        let (id, export, milliseconds) = (self.calls, Cow::Borrowed(export), milliseconds(time));
        let request = Request::Call { id, export, hook, milliseconds, argument, context, current: None };
        match self.exchange(&request, Instant::now() + time + GRACE).await? {
            Reply::Answer { id, console, told } if id == self.calls && console.len() <= self.settings.console => {
                Ok((told, console))
            }
            other => Err(unexpected(&other)),
        }
    }

    async fn exchange(&mut self, request: &Request<'_>, until: Instant) -> Result<Reply, Broken> {
        let (mut bytes, most) = (Vec::new(), self.settings.longest_reply());
        append(&mut bytes, request)?;
        let exchanged = async {
            self.socket.get_mut().write_all(&bytes).await?;
            received(&mut self.socket, most).await
        };
        match timeout_at(until, exchanged).await {
            Ok(reply) => read_reply(reply),
            Err(_) => Err(Broken::TimedOut),
        }
    }
}

/// Requests for calls, one behind another.
fn requests_of(calls: &[Call], first: u64, milliseconds: u64) -> Result<Vec<u8>, Broken> {
    let mut bytes = Vec::new();
    let mut shared: Option<(&Call, String, Box<RawValue>)> = None;
    for (id, call) in (first..).zip(calls) {
        // What calls that are asked about together have in common is written once.
        let of_last = |(it, ..): &(&Call, _, _)| {
            it.hook == call.hook && it.collection == call.collection && Arc::ptr_eq(&it.context, &call.context)
        };
        let (_, export, context) = match shared.take().filter(of_last) {
            Some(it) => shared.insert(it),
            None => {
                let context = to_raw_value(&call.context).map_err(|it| Broken::Ended(it.to_string()))?;
                shared.insert((call, format!("{}_{}", call.collection, call.hook), context))
            }
        };
        let (argument, current) = (&*call.argument, call.current.as_deref());
        let (hook, export) = (call.hook, Cow::Borrowed(export.as_str()));
        append(&mut bytes, &Request::Call { id, export, hook, milliseconds, argument, context, current })?;
    }
    Ok(bytes)
}

fn append(bytes: &mut Vec<u8>, request: &Request<'_>) -> Result<(), Broken> {
    frame::append(bytes, |it| Ok(serde_json::to_writer(it, request)?)).map_err(|it| Broken::Ended(it.to_string()))
}

async fn received(socket: &mut (impl AsyncRead + Unpin), most: usize) -> std::io::Result<Vec<u8>> {
    let mut header = [0; HEADER];
    socket.read_exact(&mut header).await?;
    let length = frame::length(header, most).ok_or_else(frame::too_long)?;
    let mut reply = vec![0; length];
    socket.read_exact(&mut reply).await?;
    Ok(reply)
}

fn read_reply(reply: std::io::Result<Vec<u8>>) -> Result<Reply, Broken> {
    read(&reply.map_err(|it| Broken::Ended(it.to_string()))?)
}

/// Starts the program with nothing of ours but two sockets: no environment, no terminal, no directory. The second is the
/// one for answers that don't wake the server.
fn spawn(program: &HostProgram) -> std::io::Result<(Child, UnixStream, Quiet)> {
    let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
    let (quiet, their_quiet) = Quiet::pair()?;
    let child = Command::new(&program.path)
        .args(&program.arguments)
        .arg0("stoa-hook-host")
        .env_clear()
        .current_dir("/")
        .process_group(0)
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stdout(Stdio::null())
        .stderr(Stdio::from(OwnedFd::from(their_quiet)))
        .kill_on_drop(true)
        .spawn()?;
    ours.set_nonblocking(true)?;
    Ok((child, UnixStream::from_std(ours)?, quiet))
}

fn left(until: Instant) -> Duration {
    until.saturating_duration_since(Instant::now())
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
