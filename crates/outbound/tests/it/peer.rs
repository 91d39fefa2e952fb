//! Something that listens on loopback and behaves as a test wants it to.

use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::TcpListener,
    time::sleep,
};

pub struct Peer {
    pub address: SocketAddr,
    met: Arc<AtomicUsize>,
    heard: Heard,
}

type Heard = Arc<Mutex<Vec<String>>>;

/// What it does once a request has begun to arrive.
#[derive(Clone)]
pub enum Manner {
    Says(Vec<u8>),
    /// The first text, then the second over and over, as fast as it is read.
    Floods(&'static str, &'static str),
    /// The same, a piece at a time.
    Drips(&'static str, &'static str),
    NeverAnswers,
}

impl Peer {
    pub async fn start(host: &str, manner: Manner) -> Self {
        Self::at(TcpListener::bind((host, 0)).await.unwrap(), manner)
    }

    /// Two at one port, so that the same address of the web leads to either.
    pub async fn two(manner: Manner) -> (Self, Self) {
        loop {
            let first = TcpListener::bind((super::ALLOWED, 0)).await.unwrap();
            if let Ok(second) = TcpListener::bind(("127.0.0.1", first.local_addr().unwrap().port())).await {
                return (Self::at(first, manner.clone()), Self::at(second, manner));
            }
        }
    }

    fn at(listener: TcpListener, manner: Manner) -> Self {
        let (address, met, heard) = (listener.local_addr().unwrap(), Arc::<AtomicUsize>::default(), Heard::default());
        let peer = Self { address, met: met.clone(), heard: heard.clone() };
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                met.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(behave(stream, manner.clone(), heard.clone()));
            }
        });
        peer
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Connections so far.
    pub fn met(&self) -> usize {
        self.met.load(Ordering::SeqCst)
    }

    /// Waits for so many connections.
    pub async fn meets(&self, count: usize) {
        while self.met() < count {
            sleep(Duration::from_millis(5)).await;
        }
    }

    /// The requests so far.
    pub fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap().clone()
    }
}

pub async fn behave(mut stream: impl AsyncRead + AsyncWrite + Unpin, manner: Manner, heard: Heard) {
    let mut request = request(&mut stream).await;
    heard.lock().unwrap().push(String::from_utf8_lossy(&request).into_owned());
    match manner {
        Manner::Says(text) => {
            let _ = stream.write_all(&text).await;
            let _ = stream.shutdown().await;
            // What wasn't read yet must not reset the connection.
            let _ = stream.read_to_end(&mut request).await;
        }
        Manner::Floods(first, then) => {
            let then = then.repeat(64);
            let mut sent = stream.write_all(first.as_bytes()).await;
            while sent.is_ok() {
                sent = stream.write_all(then.as_bytes()).await;
            }
        }
        Manner::Drips(first, then) => {
            let mut sent = stream.write_all(first.as_bytes()).await;
            while sent.is_ok() {
                sleep(Duration::from_millis(20)).await;
                sent = stream.write_all(then.as_bytes()).await;
            }
        }
        Manner::NeverAnswers => {
            let _ = stream.read_to_end(&mut request).await;
        }
    }
}

/// A request with its body, or whatever begins otherwise than one.
async fn request(stream: &mut (impl AsyncRead + Unpin)) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let is_over = stream.read_buf(&mut bytes).await.unwrap_or_default() == 0;
        if is_over || is_whole(&String::from_utf8_lossy(&bytes)) {
            return bytes;
        }
    }
}

fn is_whole(request: &str) -> bool {
    let length = request.lines().find_map(|it| it.strip_prefix("content-length: ")?.parse::<usize>().ok());
    let has_body = |it: (&str, &str)| it.1.len() >= length.unwrap_or_default();
    !request.starts_with(['G', 'P']) || request.split_once("\r\n\r\n").is_some_and(has_body)
}

/// An answer with a body of a known length.
pub fn says(head: &str, body: &str) -> Manner {
    Manner::Says(format!("HTTP/1.1 {head}\r\nContent-Length: {}\r\n\r\n{body}", body.len()).into_bytes())
}
