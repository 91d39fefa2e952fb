//! Clients that attack a server, in a process of their own with one thread, from an address of their own; and a
//! listener that takes the same and does nothing with it, so that what the attackers themselves cost is known.

use crate::load::content_length;
use clap::{Args, ValueEnum};
use serde_json::json;
use std::{
    io::{self, BufRead, BufReader},
    net::{Ipv4Addr, SocketAddr},
    process::{Child, Command, Stdio},
    sync::Arc,
    time::Duration,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpSocket, TcpStream},
    time::Instant,
};

/// Another address of this machine than the one that ordinary visitors have.
const ATTACKER: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);
/// More connections than one network may have.
const SILENT: usize = 600;
/// Bodies at once. With their beat they are about what a line of a gigabit carries.
const BODIES: usize = 12;
const SIGN_INS: usize = 8;
const READERS: usize = 40;
const SEARCHES: usize = 10;
/// Branches of one search: near the most that a filter may have, and the most that a visitor's may.
const BRANCHES: [usize; 2] = [490, 100];
/// Just below the most bytes that a body may have.
const BODY_BYTES: usize = 4_190_000;
/// An attacker stays no longer than this, whatever happens.
const VISIT: Duration = Duration::from_secs(60);
/// How connections begin that then say no more: not at all, with half a head, with the beginning of HTTP/2.
const BEGINNINGS: [&str; 4] =
    ["", "GET / HTTP/1.1\r\nhost: x\r\nx-", "PRI * HTTP/2.0\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"];

/// What the attackers do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Attack {
    Silence,
    Bodies,
    Readers,
    Searches,
}

impl Attack {
    pub fn name(self) -> &'static str {
        match self {
            Self::Silence => "silent connections",
            Self::Bodies => "bodies of many values",
            Self::Readers => "readers that do not read",
            Self::Searches => "searches of many branches",
        }
    }
}

/// Attacks until standard input ends.
#[derive(Args)]
pub struct Options {
    #[arg(value_enum)]
    attack: Attack,
    target: SocketAddr,
    /// A visitor's token
    token: String,
}

pub fn run(options: &Options) {
    let (slots, target) = (slots(options.attack, &options.token), options.target);
    until_input_ends(async move {
        for slot in slots {
            tokio::spawn(slot.attack(target));
        }
        std::future::pending().await
    });
}

fn slots(attack: Attack, token: &str) -> Vec<Slot> {
    match attack {
        Attack::Silence => {
            let begin = |n: usize| -> Arc<[u8]> { BEGINNINGS[n % BEGINNINGS.len()].as_bytes().into() };
            (0..SILENT).map(|n| Slot::repeating(&begin(n), Leaves::WhenClosed, Duration::from_secs(1))).collect()
        }
        Attack::Bodies => [bodies(token), sign_ins(token)].into_iter().flatten().collect(),
        Attack::Readers => {
            let page = json!({ "dataCollectionId": "imported", "query": { "paging": { "limit": 60 } } });
            let page = post("/v2/items/query", token, &page.to_string());
            let leaves = Leaves::Unread(Duration::from_secs(5));
            (0..READERS).map(|_| Slot::repeating(&page, leaves, Duration::from_millis(250))).collect()
        }
        Attack::Searches => {
            let searches = BRANCHES.map(|count| {
                let branch = |n: usize| json!({ "text": { "$contains": format!("nothing has {n}") } });
                let branches: Vec<_> = (0..count).map(branch).collect();
                let query = json!({ "filter": { "$or": branches } });
                post("/v2/items/query", token, &json!({ "dataCollectionId": "things", "query": query }).to_string())
            });
            let (leaves, beat) = (Leaves::WhenAnswered, Duration::from_millis(100));
            (0..SEARCHES).map(|n| Slot::repeating(&searches[n % searches.len()], leaves, beat)).collect()
        }
    }
}

/// Bodies whose values take many times their bytes, for calls that may be so large and for one that may not.
fn bodies(token: &str) -> Vec<Slot> {
    const VALUE: &str = "{\"\":0},";
    let body = format!("{{\"dataCollectionId\":\"things\",\"x\":[{}0]}}", VALUE.repeat(BODY_BYTES / VALUE.len()));
    let requests = ["/v2/items/query", "/v2/bulk/items/patch", "/v2/login"].map(|path| post(path, token, &body));
    (0..BODIES)
        .map(|n| {
            let request = &requests[n % requests.len()];
            Slot::repeating(request, Leaves::WhenAnswered, Duration::from_millis(400))
        })
        .collect()
}

/// Sign-ins, each at another account, that wait for a hash with as large a body as they may have.
fn sign_ins(token: &str) -> Vec<Slot> {
    let waste: Vec<_> = (0..700).map(|n| json!({ "": n })).collect();
    let body = move |slot: usize, visit: usize| {
        let email = format!("a{slot}-{visit}@example.org");
        let more = "x".repeat(50_000);
        json!({ "loginId": { "email": email }, "password": "correct horse battery", "waste": waste, "more": more })
    };
    (0..SIGN_INS)
        .map(|n| {
            let (body, token) = (body.clone(), token.to_owned());
            let sent = move |visit: usize| post("/v2/login", &token, &body(n, visit).to_string());
            Slot { sent: Box::new(sent), leaves: Leaves::WhenAnswered, beat: Duration::from_millis(500) }
        })
        .collect()
}

fn post(path: &str, token: &str, body: &str) -> Arc<[u8]> {
    let length = body.len();
    let request = format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: {token}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    );
    request.into_bytes().into()
}

/// One attacker, who comes again and again.
struct Slot {
    /// What is sent at each visit.
    sent: Box<dyn Fn(usize) -> Arc<[u8]> + Send + Sync>,
    leaves: Leaves,
    /// There is at most one visit in this time, so that a fast server is not attacked more than a slow one.
    beat: Duration,
}

/// When an attacker goes.
#[derive(Clone, Copy)]
enum Leaves {
    WhenClosed,
    WhenAnswered,
    /// After so long, having read nothing.
    Unread(Duration),
}

impl Slot {
    fn repeating(sent: &Arc<[u8]>, leaves: Leaves, beat: Duration) -> Self {
        let sent = sent.clone();
        Self { sent: Box::new(move |_| sent.clone()), leaves, beat }
    }

    async fn attack(self, target: SocketAddr) {
        for visit in 0.. {
            let next = Instant::now() + self.beat;
            // A server may refuse and close whatever it wants.
            let _ = tokio::time::timeout(VISIT, self.visit(target, visit)).await;
            tokio::time::sleep_until(next).await;
        }
    }

    async fn visit(&self, target: SocketAddr, visit: usize) -> io::Result<()> {
        let socket = TcpSocket::new_v4()?;
        socket.bind((ATTACKER, 0).into())?;
        if matches!(self.leaves, Leaves::Unread(_)) {
            socket.set_recv_buffer_size(4096)?;
        }
        let mut stream = socket.connect(target).await?;
        stream.write_all(&(self.sent)(visit)).await?;
        match self.leaves {
            Leaves::WhenClosed => drop(tokio::io::copy(&mut stream, &mut tokio::io::sink()).await),
            Leaves::WhenAnswered => stream.readable().await?,
            Leaves::Unread(after) => tokio::time::sleep(after).await,
        }
        Ok(())
    }
}

/// Takes each request whole and answers it with a few bytes, until standard input ends; prints its address first.
#[expect(clippy::print_stdout, reason = "the parent reads the address")]
pub fn listen() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    println!("{}", listener.local_addr().unwrap());
    until_input_ends(async move {
        let listener = TcpListener::from_std(listener).unwrap();
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            tokio::spawn(take(stream));
        }
    });
}

async fn take(mut stream: TcpStream) -> io::Result<()> {
    let (mut head, mut bytes) = (Vec::new(), vec![0; 64 * 1024]);
    loop {
        let read = stream.read(&mut bytes).await?;
        if read == 0 {
            return Ok(());
        }
        head.extend_from_slice(&bytes[..read]);
        let Some(end) = head.windows(4).position(|it| it == b"\r\n\r\n") else { continue };
        let whole = end + 4 + content_length(&head[..end]).unwrap_or(0);
        let mut missing = whole.saturating_sub(head.len());
        head.clear();
        while missing > 0 {
            let read = stream.read(&mut bytes).await?;
            if read == 0 {
                return Ok(());
            }
            missing = missing.saturating_sub(read);
        }
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n").await?;
    }
}

/// Works on one thread until the bench, which holds the other end of standard input, closes it or dies.
fn until_input_ends(work: impl Future<Output = ()> + Send + 'static) {
    std::thread::spawn(move || {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work);
    });
    let _ = io::copy(&mut io::stdin(), &mut io::sink());
}

/// A process of attackers, or the listener's; killed when dropped.
pub struct Process(Child);

impl Process {
    pub fn attack(attack: Attack, target: SocketAddr, token: &str) -> Self {
        let attack = attack.to_possible_value().unwrap();
        Self::start(&["attack", attack.get_name(), &target.to_string(), token])
    }

    /// The listener, and its address.
    pub fn listen() -> (Self, SocketAddr) {
        let mut process = Self::start(&["listen"]);
        let mut line = String::new();
        BufReader::new(process.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
        (process, line.trim().parse().unwrap())
    }

    fn start(arguments: &[&str]) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        Self(command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
