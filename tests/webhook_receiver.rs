//! Receivers of webhooks that behave badly: they fail, hang, answer late, refuse the size, ask to wait, lead elsewhere,
//! are gone, or drop the connection when they have the body. Each writes down what arrived, and what it said.

use crate::webhook_model::draw;
use std::{
    collections::HashMap,
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};
use stoa_kernel::World;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};

/// A request that arrived whole, and whether it was answered with success.
#[derive(Debug, Clone)]
pub struct Arrival {
    /// By lower-case name.
    pub head: HashMap<String, String>,
    pub body: String,
    pub is_taken: bool,
}

/// A receiver at an address of its own.
pub struct Receiver {
    pub address: SocketAddr,
    shared: Arc<Shared>,
    listening: JoinHandle<()>,
}

struct Shared {
    chance: World,
    /// From now on everything is taken.
    is_good: Mutex<bool>,
    arrivals: Mutex<Vec<Arrival>>,
}

/// What becomes of a request.
#[derive(Clone, Copy)]
enum Answer {
    Status(&'static str, u64),
    Drop,
    Hang,
}

impl Receiver {
    pub async fn start(seed: u64) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let chance = World::fixed(0, seed).0;
        let shared = Arc::new(Shared { chance, is_good: Mutex::new(false), arrivals: Mutex::default() });
        let serving = shared.clone();
        let listening = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(receive(stream, serving.clone()));
            }
        });
        Self { address, shared, listening }
    }

    pub fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }

    pub fn improve(&self) {
        *self.shared.is_good.lock().unwrap() = true;
    }

    /// What arrived so far, in the order in which it was read.
    pub fn arrivals(&self) -> Vec<Arrival> {
        self.shared.arrivals.lock().unwrap().clone()
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

impl Shared {
    fn answer(&self) -> Answer {
        if *self.is_good.lock().unwrap() {
            return Answer::Status("204 No Content", 0);
        }
        match draw(&self.chance, 200) {
            0..120 => Answer::Status("200 OK", 0),
            120..140 => Answer::Status("202 Accepted", 40 + draw(&self.chance, 100)),
            140..162 => Answer::Status("500 Internal Server Error", 0),
            162..172 => Answer::Drop,
            172..180 => Answer::Status("413 Payload Too Large", 0),
            180..186 => Answer::Status("429 Too Many Requests\r\nretry-after: 1", 0),
            186..192 => Answer::Status("302 Found\r\nlocation: http://127.0.0.1:1/", 0),
            192..196 => Answer::Status("200 twice over\r\nnot a header", 0),
            196..199 => Answer::Hang,
            _ => Answer::Status("410 Gone", 0),
        }
    }
}

async fn receive(mut stream: TcpStream, shared: Arc<Shared>) {
    let Some((head, body)) = read(&mut stream).await else { return };
    let answer = shared.answer();
    let is_taken = matches!(answer, Answer::Status(line, _) if line.starts_with("20") && !line.contains("twice"));
    shared.arrivals.lock().unwrap().push(Arrival { head, body, is_taken });
    match answer {
        Answer::Status(line, wait) => {
            tokio::time::sleep(Duration::from_millis(wait)).await;
            let text = format!("HTTP/1.1 {line}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
            let _ = stream.write_all(text.as_bytes()).await;
        }
        Answer::Drop => {}
        // Longer than the endpoint waits.
        Answer::Hang => tokio::time::sleep(Duration::from_millis(1_500)).await,
    }
}

/// A request with a length; nothing when the connection ends before it is whole.
async fn read(stream: &mut TcpStream) -> Option<(HashMap<String, String>, String)> {
    let (mut bytes, mut piece) = (Vec::new(), [0; 16_384]);
    loop {
        if let Some(end) = bytes.windows(4).position(|it| it == b"\r\n\r\n") {
            let head = String::from_utf8(bytes[..end].to_vec()).ok()?;
            let head: HashMap<String, String> = head
                .lines()
                .filter_map(|it| it.split_once(": "))
                .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
                .collect();
            let length: usize = head.get("content-length")?.parse().ok()?;
            if bytes.len() >= end + 4 + length {
                let body = String::from_utf8(bytes[end + 4..end + 4 + length].to_vec()).ok()?;
                return Some((head, body));
            }
        }
        match stream.read(&mut piece).await.ok()? {
            0 => return None,
            read => bytes.extend_from_slice(&piece[..read]),
        }
    }
}
