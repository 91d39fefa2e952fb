//! The limit: the bare framework, its routes, the same number of bytes.

use axum::{
    Router,
    http::header,
    routing::{get, post},
};
use std::{
    io::{BufRead, BufReader},
    net::{SocketAddr, TcpListener},
    process::{Child, Command, Stdio},
};

/// Serves until it is killed; prints its address first.
#[expect(clippy::print_stdout, reason = "the parent reads the address")]
pub fn serve(bytes: usize) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        println!("{}", listener.local_addr().unwrap());
        let body: &'static [u8] = vec![b'x'; bytes].leak();
        let answer = move || async move { ([(header::CONTENT_TYPE, "application/json")], body) };
        let router = Router::new()
            .route("/v2/items/{id}", get(answer))
            .route("/oauth2/token", post(answer))
            .route("/v2/validate-email", post(answer));
        axum_server::from_tcp(listener).unwrap().serve(router.into_make_service()).await.unwrap();
    });
}

/// The bare framework in a process of its own.
pub struct Bare {
    child: Child,
    address: SocketAddr,
}

impl Bare {
    pub fn start(bytes: usize) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--bare", &bytes.to_string()])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Self { child, address: line.trim().parse().unwrap() }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
