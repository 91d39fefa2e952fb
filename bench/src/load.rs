//! A load of HTTP/1.1 requests over kept connections: the next is sent when the answer has come.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// Answers a second. Every answer must be 200.
pub fn rate(address: SocketAddr, requests: &Arc<Vec<Vec<u8>>>, connections: usize, period: Duration) -> f64 {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        // A short run that is not counted fills caches on both sides.
        let _ = run(address, requests, connections, Duration::from_millis(300)).await;
        run(address, requests, connections, period).await
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

/// Reads one answer whole and gives the length of its body.
async fn answer(stream: &mut TcpStream, buffer: &mut [u8]) -> usize {
    let mut filled = 0;
    loop {
        let read = stream.read(&mut buffer[filled..]).await.unwrap();
        assert!(read > 0, "the server closed the connection");
        filled += read;
        let Some(head) = buffer[..filled].windows(4).position(|it| it == b"\r\n\r\n") else { continue };
        assert!(buffer.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&buffer[..filled.min(600)]));
        let length = content_length(&buffer[..head]);
        while filled < head + 4 + length {
            let read = stream.read(&mut buffer[filled..]).await.unwrap();
            assert!(read > 0, "the server closed the connection");
            filled += read;
        }
        return length;
    }
}

fn content_length(head: &[u8]) -> usize {
    let head = std::str::from_utf8(head).unwrap();
    let line = head.lines().find(|it| it.len() > 15 && it[..15].eq_ignore_ascii_case("content-length:")).unwrap();
    line[15..].trim().parse().unwrap()
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
