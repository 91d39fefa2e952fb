//! A load of HTTP/1.1 requests over kept connections: the next is sent when the answer has come.

use crate::figure::median;
use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
    sync::oneshot,
};

/// Answers a second. Every answer must be 200.
pub fn rate(address: SocketAddr, requests: &Arc<Vec<Vec<u8>>>, connections: usize, period: Duration) -> f64 {
    rate_and_cost(address, requests, connections, period, || 0.0).0
}

/// The same, and the seconds that each answer took on the clock that `spent` reads: a process's processor
/// time, for example, in which the load has no part.
pub fn rate_and_cost(
    address: SocketAddr,
    requests: &Arc<Vec<Vec<u8>>>,
    connections: usize,
    period: Duration,
    spent: impl Fn() -> f64,
) -> (f64, f64) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        // A short run that is not counted fills caches on both sides.
        let _ = run(address, requests, connections, Duration::from_millis(300)).await;
        let before = spent();
        let rate = run(address, requests, connections, period).await;
        (rate, (spent() - before) / (rate * period.as_secs_f64()))
    })
}

async fn run(address: SocketAddr, requests: &Arc<Vec<Vec<u8>>>, connections: usize, period: Duration) -> f64 {
    let (stop, count) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let tasks: Vec<_> = (0..connections)
        .map(|n| {
            let (requests, stop, count) = (requests.clone(), stop.clone(), count.clone());
            tokio::spawn(async move {
                let mut stream = TcpStream::connect(address).await.unwrap();
                stream.set_nodelay(true).unwrap();
                let mut buffer = vec![0; 256 * 1024];
                let mut at = n * 7919;
                while !stop.load(Ordering::Relaxed) {
                    stream.write_all(&requests[at % requests.len()]).await.unwrap();
                    answer(&mut stream, &mut buffer).await;
                    count.fetch_add(1, Ordering::Relaxed);
                    at += 1;
                }
            })
        })
        .collect();
    let start = Instant::now();
    tokio::time::sleep(period).await;
    let (done, took) = (count.load(Ordering::Relaxed), start.elapsed());
    stop.store(true, Ordering::Relaxed);
    for task in tasks {
        task.await.unwrap();
    }
    done as f64 / took.as_secs_f64()
}

/// Sends all requests at once, each from an address and over a connection of its own, and waits for every answer.
pub fn at_once(address: SocketAddr, requests: &Arc<Vec<Vec<u8>>>) {
    Crowd::gather(address, requests).go().join().unwrap();
}

/// Many clients with a connection each, which wait for the signal to send all at once. They have a thread of their
/// own: what it takes to send so much disturbs no other client.
struct Crowd {
    signal: oneshot::Sender<()>,
    thread: std::thread::JoinHandle<Duration>,
}

impl Crowd {
    /// Returns when all are connected.
    fn gather(address: SocketAddr, requests: &Arc<Vec<Vec<u8>>>) -> Self {
        let ((signal, heard), (here, is_here)) = (oneshot::channel(), std::sync::mpsc::channel());
        let requests = requests.clone();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let mut streams = Vec::with_capacity(requests.len());
                for n in 0..requests.len() {
                    streams.push(connect_from(n, address).await.unwrap());
                }
                here.send(()).unwrap();
                heard.await.unwrap();
                burst(streams, &requests).await
            })
        });
        is_here.recv().unwrap();
        Self { signal, thread }
    }

    /// The thread ends with the last answer, and gives the time until then.
    fn go(self) -> std::thread::JoinHandle<Duration> {
        self.signal.send(()).unwrap();
        self.thread
    }
}

/// A connection from one of this machine's addresses: people who come at once come from many networks.
async fn connect_from(n: usize, address: SocketAddr) -> std::io::Result<TcpStream> {
    let [.., high, low] = (n as u32).to_be_bytes();
    let socket = TcpSocket::new_v4()?;
    socket.bind((Ipv4Addr::new(127, 1, high, low), 0).into())?;
    socket.connect(address).await
}

/// The time until the last answer.
async fn burst(streams: Vec<TcpStream>, requests: &Arc<Vec<Vec<u8>>>) -> Duration {
    let start = Instant::now();
    let tasks: Vec<_> = streams
        .into_iter()
        .enumerate()
        .map(|(n, mut stream)| {
            let requests = requests.clone();
            tokio::spawn(async move {
                stream.write_all(&requests[n]).await.unwrap();
                answer(&mut stream, &mut vec![0; 16 * 1024]).await;
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    start.elapsed()
}

/// Requests at a steady pace, whatever the answers take: how long each took in seconds, and how long the
/// burst that was sent meanwhile. With a burst only what is asked while it goes on counts.
///
/// A request that no connection was free for has waited since it was due.
pub fn paced(
    address: SocketAddr,
    requests: &Arc<Vec<Vec<u8>>>,
    connections: usize,
    per_second: f64,
    period: Duration,
    with: Option<&Arc<Vec<Vec<u8>>>>,
) -> (Vec<f64>, Duration) {
    let crowd = with.map(|it| Crowd::gather(address, it));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (stop, next) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let start = Instant::now();
        let tasks: Vec<_> = (0..connections)
            .map(|_| {
                let (requests, stop, next) = (requests.clone(), stop.clone(), next.clone());
                tokio::spawn(async move {
                    let mut stream = TcpStream::connect(address).await.unwrap();
                    stream.set_nodelay(true).unwrap();
                    let (mut buffer, mut times) = (vec![0; 64 * 1024], Vec::new());
                    while !stop.load(Ordering::Relaxed) {
                        let n = next.fetch_add(1, Ordering::Relaxed);
                        let mut due = start + Duration::from_secs_f64(n as f64 / per_second);
                        if due > Instant::now() {
                            tokio::time::sleep_until(due.into()).await;
                            // The timer's own millisecond is not the server's.
                            due = Instant::now();
                        }
                        stream.write_all(&requests[n as usize % requests.len()]).await.unwrap();
                        answer(&mut stream, &mut buffer).await;
                        times.push((due, due.elapsed().as_secs_f64()));
                    }
                    times
                })
            })
            .collect();
        // A short run is not counted.
        tokio::time::sleep(Duration::from_millis(300)).await;
        let begin = Instant::now();
        let took = match crowd {
            Some(crowd) => {
                let answered = crowd.go();
                tokio::task::spawn_blocking(|| answered.join().unwrap()).await.unwrap()
            }
            None => {
                tokio::time::sleep(period).await;
                period
            }
        };
        let end = Instant::now();
        stop.store(true, Ordering::Relaxed);
        let mut times = Vec::new();
        for task in tasks {
            let all = task.await.unwrap();
            times.extend(all.into_iter().filter(|it| (begin..=end).contains(&it.0)).map(|it| it.1));
        }
        (times, took)
    })
}

/// What became of requests that were asked at a steady pace.
pub struct Steady {
    /// Requests that were due, and those that were answered with 200.
    pub asked: usize,
    pub answered: usize,
    /// Why a request had no such answer, of the first that had none.
    pub failure: Option<String>,
    /// Answers a second, of those that came within the period.
    pub per_second: f64,
    /// Seconds that the median answer took since its request was due; as long as a client waits if there was none.
    pub median: f64,
}

/// Clients ask so long for an answer.
const ANSWER_LIMIT: Duration = Duration::from_secs(10);

/// The same as [`paced`] where something may go wrong: all that is due in the period is asked, a client that fails
/// connects again and goes on, and all is counted.
pub fn steady(
    address: SocketAddr,
    requests: &Arc<Vec<Vec<u8>>>,
    connections: usize,
    per_second: f64,
    period: Duration,
) -> Steady {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (next, start) = (Arc::new(AtomicU64::new(0)), Instant::now());
        // A short run is not counted.
        let begin = start + Duration::from_millis(300);
        let end = begin + period;
        let tasks: Vec<_> = (0..connections)
            .map(|_| {
                let (requests, next) = (requests.clone(), next.clone());
                let mut client = Client { address, stream: None, buffer: vec![0; 64 * 1024] };
                tokio::spawn(async move {
                    let mut all = Vec::new();
                    loop {
                        let n = next.fetch_add(1, Ordering::Relaxed);
                        let due = start + Duration::from_secs_f64(n as f64 / per_second);
                        if due >= end {
                            return all;
                        }
                        let mut since = due;
                        if due > Instant::now() {
                            tokio::time::sleep_until(due.into()).await;
                            since = Instant::now();
                        }
                        let answered = client.ask(&requests[n as usize % requests.len()], end + ANSWER_LIMIT).await;
                        if due >= begin {
                            all.push(answered.map(|at| (at, at.duration_since(since).as_secs_f64())));
                        }
                    }
                })
            })
            .collect();
        let mut all = Vec::new();
        for task in tasks {
            all.extend(task.await.unwrap());
        }
        let mut times: Vec<_> = all.iter().flatten().map(|it| it.1).collect();
        let in_time = all.iter().flatten().filter(|it| it.0 <= end).count();
        Steady {
            asked: all.len(),
            answered: times.len(),
            per_second: in_time as f64 / period.as_secs_f64(),
            median: if times.is_empty() { ANSWER_LIMIT.as_secs_f64() } else { median(&mut times) },
            failure: all.into_iter().find_map(Result::err),
        }
    })
}

/// One whose connection may end.
struct Client {
    address: SocketAddr,
    stream: Option<TcpStream>,
    buffer: Vec<u8>,
}

impl Client {
    /// When the answer had come. Nothing is asked after `latest`, or waited for.
    async fn ask(&mut self, request: &[u8], latest: Instant) -> Result<Instant, String> {
        let left = ANSWER_LIMIT.min(latest.saturating_duration_since(Instant::now()));
        if left.is_zero() {
            return Err("it could not be asked in time".to_owned());
        }
        let answered = tokio::time::timeout(left, self.exchange(request)).await;
        let answered = answered.unwrap_or_else(|_| Err(format!("no answer in {left:?}")));
        if answered.is_err() {
            self.stream = None;
        }
        answered.map(|()| Instant::now())
    }

    async fn exchange(&mut self, request: &[u8]) -> Result<(), String> {
        let failed = |it: std::io::Error| it.to_string();
        let stream = match &mut self.stream {
            Some(stream) => stream,
            none => {
                let fresh = TcpStream::connect(self.address).await.map_err(failed)?;
                fresh.set_nodelay(true).map_err(failed)?;
                none.insert(fresh)
            }
        };
        stream.write_all(request).await.map_err(failed)?;
        try_answer(stream, &mut self.buffer).await.map(|_| ())
    }
}

/// Reads one answer whole and gives the length of its body.
async fn answer(stream: &mut TcpStream, buffer: &mut [u8]) -> usize {
    try_answer(stream, buffer).await.unwrap_or_else(|why| panic!("{why}"))
}

async fn try_answer(stream: &mut TcpStream, buffer: &mut [u8]) -> Result<usize, String> {
    let mut filled = more(stream, buffer).await?;
    loop {
        let Some(head) = buffer[..filled].windows(4).position(|it| it == b"\r\n\r\n") else {
            filled += more(stream, &mut buffer[filled..]).await?;
            continue;
        };
        if !buffer.starts_with(b"HTTP/1.1 200") {
            return Err(String::from_utf8_lossy(&buffer[..filled.min(600)]).into_owned());
        }
        let length = content_length(&buffer[..head]).ok_or("an answer without a length")?;
        while filled < head + 4 + length {
            filled += more(stream, &mut buffer[filled..]).await?;
        }
        return Ok(length);
    }
}

/// How many bytes came.
async fn more(stream: &mut TcpStream, buffer: &mut [u8]) -> Result<usize, String> {
    match stream.read(buffer).await {
        Ok(0) => Err("the server closed the connection".to_owned()),
        read => read.map_err(|it| it.to_string()),
    }
}

/// What a head says of its body.
pub fn content_length(head: &[u8]) -> Option<usize> {
    let head = std::str::from_utf8(head).ok()?;
    let line = head.lines().find(|it| it.len() > 15 && it.as_bytes()[..15].eq_ignore_ascii_case(b"content-length:"))?;
    line[15..].trim().parse().ok()
}

/// The body length of one answer.
pub fn answer_length(address: SocketAddr, request: &[u8]) -> usize {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(request).await.unwrap();
        answer(&mut stream, &mut vec![0; 256 * 1024]).await
    })
}
