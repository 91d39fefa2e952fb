//! Clients that follow a collection, each over a connection of its own, in a thread of their own.

use serde_json::json;
use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
    sync::{Semaphore, oneshot},
};

/// Streams of one address; fewer than one may have.
const OF_ADDRESS: usize = 10;
/// So many connect at once.
const CONNECTING: usize = 64;
/// No one waits longer for anything.
const PATIENCE: Duration = Duration::from_secs(120);
const CHANGE: &[u8] = b"event: change";

/// One who follows.
#[derive(Clone)]
pub struct Follower {
    address: Ipv4Addr,
    request: Arc<[u8]>,
    collection: &'static str,
}

impl Follower {
    /// The `n`th, by a token.
    pub fn of(n: usize, token: &str, collection: &'static str) -> Self {
        let subscription = json!({ "key": "a", "dataCollectionId": collection, "snapshot": true, "limit": 10 });
        let body = json!({ "subscriptions": [subscription] }).to_string();
        let length = body.len();
        let request = format!(
            "POST /_api/realtime/v1/stream HTTP/1.1\r\nhost: localhost\r\nauthorization: {token}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
        );
        Self { address: address(n / OF_ADDRESS), request: request.into_bytes().into(), collection }
    }

    /// The same from the `n`th of other addresses.
    pub fn elsewhere(&self, n: usize) -> Self {
        Self { address: address(60_000 + n), ..self.clone() }
    }

    pub fn follows(&self, collection: &str) -> bool {
        self.collection == collection
    }

    async fn connect(&self, server: SocketAddr) -> TcpStream {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind((self.address, 0).into()).unwrap();
        let mut stream = socket.connect(server).await.unwrap();
        stream.write_all(&self.request).await.unwrap();
        stream
    }
}

/// One of the addresses of this machine.
fn address(n: usize) -> Ipv4Addr {
    let [.., high, low] = (n as u32).to_be_bytes();
    Ipv4Addr::new(127, 3, high, low)
}

/// Followers that are connected, until it is dropped.
pub struct Crowd {
    news: Arc<News>,
    /// Those who follow the collection that changes are counted of.
    counted: usize,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// Changes that are waited for.
#[derive(Default)]
struct News {
    round: AtomicUsize,
    /// Changes that each is to be told of in this round.
    expected: AtomicUsize,
    /// Followers that weren't.
    left: AtomicUsize,
    last: Mutex<Option<Instant>>,
    told: Condvar,
}

/// The changes of one round.
pub struct Waiting<'c>(&'c News);

impl Crowd {
    /// Returns when all are connected and told that they are ready; `counted` is the collection whose followers count.
    pub fn gather(server: SocketAddr, followers: &[Follower], counted: &str) -> Self {
        Self::begin(server, followers, counted, true)
    }

    /// The same of followers that never read.
    pub fn gather_silent(server: SocketAddr, followers: &[Follower]) -> Self {
        Self::begin(server, followers, "", false)
    }

    fn begin(server: SocketAddr, followers: &[Follower], counted: &str, is_reading: bool) -> Self {
        let (news, all) = (Arc::<News>::default(), followers.to_vec());
        let counts: Vec<bool> = all.iter().map(|it| it.follows(counted)).collect();
        let ((stop, stopped), (here, are_here)) = (oneshot::channel(), std::sync::mpsc::channel());
        let heard = news.clone();
        let of_crowd = counts.iter().filter(|it| **it).count();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let places = Arc::new(Semaphore::new(CONNECTING));
                for (follower, counts) in all.into_iter().zip(counts) {
                    let place = places.clone().acquire_owned().await.unwrap();
                    let (here, news) = (here.clone(), counts.then(|| heard.clone()));
                    tokio::spawn(async move {
                        let mut stream = follower.connect(server).await;
                        if is_reading {
                            ready(&mut stream).await;
                        }
                        here.send(()).unwrap();
                        drop(place);
                        if is_reading { read(stream, news).await } else { keep(stream).await }
                    });
                }
                let _ = stopped.await;
            });
        });
        for n in 0..followers.len() {
            are_here.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("only {n} followers are ready"));
        }
        Self { news, counted: of_crowd, stop: Some(stop), thread: Some(thread) }
    }

    /// Those who are told of the changes that count.
    pub fn counted(&self) -> usize {
        self.counted
    }

    /// From here on so many changes are to come to each.
    pub fn expect(&self, changes: usize) -> Waiting<'_> {
        let news = &*self.news;
        *news.last.lock().unwrap() = None;
        news.left.store(self.counted, SeqCst);
        news.expected.store(changes, SeqCst);
        news.round.fetch_add(1, SeqCst);
        Waiting(news)
    }
}

impl Waiting<'_> {
    /// Waits until the last of all has them, and answers how long after `begun` that was.
    pub fn since(self, begun: Instant) -> Duration {
        let (news, last) = (self.0, self.0.last.lock().unwrap());
        let (last, over) = news.told.wait_timeout_while(last, PATIENCE, |it| it.is_none()).unwrap();
        assert!(!over.timed_out(), "{} followers were not told", news.left.load(SeqCst));
        last.unwrap() - begun
    }
}

impl Drop for Crowd {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

/// Reads until the stream says that its subscription is ready.
async fn ready(stream: &mut TcpStream) {
    let (mut text, mut buffer) = (Vec::new(), [0; 4_096]);
    while !contains(&text, b"event: ready") {
        let count = tokio::time::timeout(PATIENCE, stream.read(&mut buffer)).await.unwrap().unwrap();
        text.extend_from_slice(&buffer[..count]);
        let is_refused = count == 0 || contains(&text, b"event: failed") || !text.starts_with(b"HTTP/1.1 200 ");
        assert!(!is_refused, "{}", String::from_utf8_lossy(&text));
    }
}

/// Reads for ever, and counts changes.
async fn read(mut stream: TcpStream, news: Option<Arc<News>>) {
    let mut buffer = [0; 4_096];
    // What is left of a word that the last piece began.
    let (mut tail, mut round, mut changes) = (Vec::new(), 0, 0);
    loop {
        let count = stream.read(&mut buffer).await.unwrap_or(0);
        assert!(count > 0, "a stream ended");
        let Some(news) = &news else { continue };
        tail.extend_from_slice(&buffer[..count]);
        let found = tail.windows(CHANGE.len()).filter(|it| *it == CHANGE).count();
        tail.drain(..tail.len().saturating_sub(CHANGE.len() - 1));
        if found > 0 {
            let now = news.round.load(SeqCst);
            if now != round {
                (round, changes) = (now, 0);
            }
            let (before, expected) = (changes, news.expected.load(SeqCst));
            changes += found;
            if before < expected && changes >= expected && news.left.fetch_sub(1, SeqCst) == 1 {
                *news.last.lock().unwrap() = Some(Instant::now());
                news.told.notify_all();
            }
        }
    }
}

async fn keep(stream: TcpStream) {
    std::future::pending::<()>().await;
    drop(stream);
}

fn contains(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len()).any(|it| it == word)
}
