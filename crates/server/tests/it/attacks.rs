//! Clients that are silent, slow, greedy or gone, from one address, while another is served.

#![expect(clippy::disallowed_methods, reason = "deadlines of connections are real time")]

use crate::process::{Deployment, STOA, Server, make_things, post};
use serde_json::{Value, json};
use std::{
    io::{Read, Write},
    net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpStream},
    process::{Child, Command, Stdio},
    sync::mpsc::{RecvTimeoutError, Sender, channel},
    thread::JoinHandle,
    time::{Duration, Instant},
};
use stoa_testkit::Engine;

const ATTACKER: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);

/// A connection from an address of one's choice.
fn connect_from(from: Ipv4Addr, server: &Server) -> Option<TcpStream> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let stream = runtime.block_on(async {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.bind(SocketAddr::V4(SocketAddrV4::new(from, 0))).unwrap();
        socket.connect(address(server)).await.ok()
    });
    let stream = stream?.into_std().unwrap();
    stream.set_nonblocking(false).unwrap();
    Some(stream)
}

fn address(server: &Server) -> SocketAddr {
    server.url.split_once("://").unwrap().1.parse().unwrap()
}

/// Connections that send this and no more.
fn silent(count: usize, server: &Server, sent: &[u8]) -> Vec<TcpStream> {
    let connect = || {
        let mut stream = connect_from(ATTACKER, server)?;
        let _ = stream.write_all(sent);
        Some(stream)
    };
    (0..count).filter_map(|_| connect()).collect()
}

/// Whether the other side has closed the connection.
fn is_closed(stream: &TcpStream) -> bool {
    stream.set_nonblocking(true).unwrap();
    let mut bytes = [0; 4096];
    loop {
        match (&mut &*stream).read(&mut bytes) {
            Ok(0) => return true,
            Ok(_) => {}
            Err(error) => return error.kind() != std::io::ErrorKind::WouldBlock,
        }
    }
}

fn open_count(streams: &[TcpStream]) -> usize {
    streams.iter().filter(|it| !is_closed(it)).count()
}

fn eventually(what: &str, within: Duration, is_so: impl Fn() -> bool) {
    let until = Instant::now() + within;
    while !is_so() {
        assert!(Instant::now() < until, "{what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// How long the server takes to say that it is well.
fn health(server: &Server) -> Duration {
    let begun = Instant::now();
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .timeout_global(Some(Duration::from_secs(5)))
        .tls_config(ureq::tls::TlsConfig::builder().disable_verification(true).build())
        .build()
        .into();
    let answer = agent.get(format!("{}/healthz", server.url)).call();
    assert_eq!(answer.expect("the server is well").status(), 200);
    begun.elapsed()
}

/// The process's memory now and at its highest, in MB.
fn memory(server: &Server) -> (u64, u64) {
    let of = |name: &str| memory_of(server.child.id(), name).unwrap();
    (of("VmRSS"), of("VmHWM"))
}

/// One figure of a process's memory, in MB.
fn memory_of(process: u32, name: &str) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find(|it| it.starts_with(name))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? / 1024)
}

/// Looks at what a process holds of its own, without the files that it maps: those are its program, and its database once
/// for each connection. The kernel keeps no highest value of it.
struct OwnMemory {
    before: u64,
    highest: JoinHandle<u64>,
    _watched: Sender<()>,
}

impl OwnMemory {
    fn watch(server: &Server) -> Self {
        let process = server.child.id();
        let own = move || memory_of(process, "RssAnon");
        let (watched, until) = channel();
        let highest = std::thread::spawn(move || {
            let mut highest = 0;
            while until.recv_timeout(Duration::from_millis(2)) == Err(RecvTimeoutError::Timeout) {
                highest = highest.max(own().unwrap_or_default());
            }
            highest
        });
        Self { before: own().unwrap(), highest, _watched: watched }
    }

    /// How many MB more than at first it was at its highest.
    fn grown(self) -> u64 {
        let Self { before, highest, _watched: watched } = self;
        drop(watched);
        highest.join().unwrap().saturating_sub(before)
    }
}

/// How many sockets the process has.
fn sockets(server: &Server) -> usize {
    let files = std::fs::read_dir(format!("/proc/{}/fd", server.child.id())).unwrap();
    let links = files.filter_map(|it| std::fs::read_link(it.ok()?.path()).ok());
    links.filter(|it| it.to_string_lossy().starts_with("socket:")).count()
}

/// The same once connections that were closed on the other side are closed on this one.
fn settled_sockets(server: &Server) -> usize {
    std::thread::sleep(Duration::from_secs(1));
    sockets(server)
}

/// The same command where so many files may be open.
fn with_files(command: &mut Command, files: usize) {
    let mut limited = Command::new("sh");
    limited.args(["-c", &format!("ulimit -n {files} && exec \"$0\" \"$@\""), STOA]).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => limited.env(name, value),
            None => limited.env_remove(name),
        };
    }
    limited.stdin(Stdio::null());
    *command = limited;
}

fn limit(command: &mut Command, name: &str, value: &str) {
    command.env(format!("STOA_LIMITS_{name}"), value);
}

#[test]
fn silent_connections_leave_room_and_end() {
    let deployment = Deployment::new(Engine::Sqlite);
    deployment.site_with_things();
    let server = deployment.serve(|it| {
        limit(it, "HEAD_TIME", "3s");
        with_files(it, 300);
    });
    for sent in
        [&b""[..], b"GET / HTTP/1.1\r\nHost: x\r\nX-", b"PRI * HTTP/2.0\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"]
    {
        let what = String::from_utf8_lossy(sent).into_owned();
        let streams = silent(400, &server, sent);
        assert!(health(&server) < Duration::from_secs(2), "{what}");
        assert_eq!(deployment.json(&["site", "list"]).as_array().map(Vec::len), Some(1), "{what}");
        assert!(open_count(&streams) < 150, "{what}");
        eventually(&format!("silent connections end: {what}"), Duration::from_secs(6), || open_count(&streams) == 0);
    }
    assert!(server.stop());
}

#[test]
fn slow_and_idle_connections_end() {
    let deployment = Deployment::new(Engine::Sqlite);
    deployment.site_with_things();
    let server = deployment.serve(|it| {
        limit(it, "HEAD_TIME", "2s");
        limit(it, "IDLE_TIME", "12s");
    });
    let mut slow = connect_from(ATTACKER, &server).unwrap();
    let idle = silent(1, &server, b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n").remove(0);
    let mut half = silent(1, &server, b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n").remove(0);
    std::thread::sleep(Duration::from_millis(300));
    half.write_all(b"GET /").unwrap();
    let begun = Instant::now();
    // One byte at a time is no progress.
    let head = b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Long: ".iter().chain(std::iter::repeat(&b'x'));
    for byte in head {
        if slow.write_all(&[*byte]).is_err() || is_closed(&slow) {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
        assert!(begun.elapsed() < Duration::from_secs(8), "a head that never ends");
    }
    eventually("half a second request ends", Duration::from_secs(4), || is_closed(&half));
    assert!(!is_closed(&idle), "an idle connection is kept for a while");
    eventually("an idle connection ends", Duration::from_secs(15), || is_closed(&idle));
    assert!(half.write_all(b"x").is_err() || is_closed(&half));
}

/// A certificate for this test, and another one.
fn certificate(deployment: &Deployment, name: &str) {
    let files = [deployment.file("key.pem"), deployment.file("cert.pem")];
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"])
        .args(["-subj", &format!("/CN={name}"), "-addext", "subjectAltName=DNS:localhost"])
        .args(["-keyout".as_ref(), files[0].as_os_str(), "-out".as_ref(), files[1].as_os_str()])
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}

fn with_certificate(command: &mut Command, deployment: &Deployment) {
    command.arg("--tls-cert").arg(deployment.file("cert.pem")).arg("--tls-key").arg(deployment.file("key.pem"));
}

#[test]
fn silent_connections_of_tls_end() {
    let deployment = Deployment::new(Engine::Sqlite);
    deployment.site_with_things();
    certificate(&deployment, "first.example");
    let server = deployment.serve(|it| {
        limit(it, "HEAD_TIME", "3s");
        with_certificate(it, &deployment);
    });
    let hello = silent(20, &server, b"");
    let broken = silent(20, &server, &[22, 3, 1, 2, 0, 1, 0]);
    // After the handshake.
    let mut children: Vec<_> = (0..5)
        .map(|_| {
            Command::new("openssl")
                .args(["s_client", "-quiet", "-connect", &address(&server).to_string()])
                .stdin(Stdio::piped())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap()
        })
        .collect();
    assert!(health(&server) < Duration::from_secs(2));
    eventually("no handshake is waited for", Duration::from_secs(6), || open_count(&hello) + open_count(&broken) == 0);
    for child in &mut children {
        let until = Instant::now() + Duration::from_secs(6);
        while child.try_wait().unwrap().is_none() {
            assert!(Instant::now() < until, "silence after the handshake ends");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
    assert!(server.stop());
}

#[test]
fn certificate_is_read_again_when_it_changes() {
    let deployment = Deployment::new(Engine::Sqlite);
    deployment.site_with_things();
    certificate(&deployment, "first.example");
    let server = deployment.serve(|it| with_certificate(it, &deployment));
    let subject = || {
        let shown = Command::new("sh")
            .args(["-c", "openssl s_client -connect \"$0\" </dev/null 2>/dev/null | openssl x509 -noout -subject"])
            .arg(address(&server).to_string())
            .output()
            .unwrap();
        String::from_utf8(shown.stdout).unwrap()
    };
    assert!(subject().contains("first.example"), "{}", subject());
    std::fs::write(deployment.file("cert.pem"), "broken").unwrap();
    std::thread::sleep(Duration::from_secs(11));
    assert!(subject().contains("first.example"), "a broken file changes nothing");
    certificate(&deployment, "second.example");
    eventually("the new certificate is used", Duration::from_secs(15), || subject().contains("second.example"));
    let half = [("STOA_PORT", "0".into()), ("STOA_TLS_CERT", deployment.file("key.pem").into_os_string())];
    let refused = deployment.stoa(&["check"]).envs(half).output().unwrap();
    let said = String::from_utf8_lossy(&refused.stdout).into_owned();
    assert!(!refused.status.success() && said.contains("tls_cert is set without tls_key"), "{said}");
}

#[test]
fn endless_body_is_refused_at_once() {
    let deployment = Deployment::new(Engine::Sqlite);
    let key = deployment.site_with_things();
    let server = deployment.serve(|_| {});
    for (path, length) in [("/v2/items/query", 1_u64 << 40), ("/v2/items/query", 4_194_305), ("/v2/login", 65_537)] {
        let begun = Instant::now();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: {key}\r\nContent-Type: application/json\r\n\
             Content-Length: {length}\r\n\r\n{{"
        );
        let mut stream = connect_from(ATTACKER, &server).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = [0; 2048];
        let length = stream.read(&mut answer).unwrap();
        let answer = String::from_utf8_lossy(&answer[..length]).into_owned();
        assert!(answer.starts_with("HTTP/1.1 413") && answer.contains("WDE0109"), "{path}: {answer}");
        assert!(begun.elapsed() < Duration::from_secs(2), "{path} took {:?}", begun.elapsed());
    }
}

#[test]
fn bodies_of_many_values_take_little() {
    let deployment = Deployment::without_traffic(Engine::Sqlite);
    let key = deployment.site_with_things();
    let server = deployment.serve(|_| {});
    make_things(&server, &key);
    let before = memory(&server).0;
    let many = format!("{{\"dataCollectionId\":\"things\",\"x\":[{}0]}}", "{\"\":0},".repeat(520_000));
    let request = |path: &str, body: &str| {
        let mut stream = connect_from(ATTACKER, &server).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: {key}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes()));
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        answer
    };
    std::thread::scope(|scope| {
        let attackers: Vec<_> = (0..8)
            .map(|n| {
                let path = ["/v2/items/query", "/v2/collections", "/v2/bulk/items/patch", "/v2/login"][n % 4];
                let (request, many) = (&request, &many);
                scope.spawn(move || {
                    for _ in 0..6 {
                        let answer = request(path, many);
                        assert!(answer.contains("WDE0109") || answer.starts_with("HTTP/1.1 429"), "{path}: {answer}");
                    }
                })
            })
            .collect();
        let mut worst = Duration::ZERO;
        while !attackers.iter().all(|it| it.is_finished()) {
            worst = worst.max(health(&server));
        }
        assert!(worst < Duration::from_secs(1), "a health check took {worst:?}");
    });
    let (_, highest) = memory(&server);
    assert!(highest < before + 150, "memory went from {before} to {highest} MB");
    // What is just within the budget is read as before.
    let few = json!({ "dataCollectionId": "things", "query": { "filter": { "n": { "$in": (0..9_000).collect::<Vec<_>>() } } } });
    assert_eq!(post(&format!("{}/v2/items/query", server.url), &key, &few).unwrap().0, 200);
}

/// A collection of which a page is some 30 MB.
fn large_pages(server: &Server, key: &str) {
    make_things(server, key);
    for part in 0..6 {
        let item = |n: usize| json!({ "data": { "_id": format!("i{part}-{n}"), "text": "x".repeat(490_000) } });
        for n in 0..10 {
            let body = json!({ "dataCollectionId": "things", "dataItem": item(n) });
            assert_eq!(post(&format!("{}/v2/items", server.url), key, &body).unwrap().0, 200);
        }
    }
}

#[test]
fn readers_that_do_not_read_hold_little_and_end() {
    let deployment = Deployment::without_traffic(Engine::Sqlite);
    let key = deployment.site_with_things();
    let server = deployment.serve(|it| limit(it, "WRITE_TIME", "3s"));
    large_pages(&server, &key);
    let body = json!({ "dataCollectionId": "things", "query": { "paging": { "limit": 60 } } }).to_string();
    let request = format!(
        "POST /v2/items/query HTTP/1.1\r\nHost: localhost\r\nAuthorization: {key}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let before = settled_sockets(&server);
    let own = OwnMemory::watch(&server);
    let streams = silent(40, &server, request.as_bytes());
    let until = Instant::now() + Duration::from_secs(2);
    let mut worst = Duration::ZERO;
    while Instant::now() < until {
        worst = worst.max(health(&server));
        // Others are served meanwhile.
        let one = json!({ "dataCollectionId": "things", "query": { "paging": { "limit": 50 }, "fields": ["_id"] } });
        assert_eq!(post(&format!("{}/v2/items/query", server.url), &key, &one).unwrap().0, 200);
    }
    assert!(worst < Duration::from_secs(1), "a health check took {worst:?}");
    eventually("readers that don't read are left", Duration::from_secs(15), || sockets(&server) < before + 40);
    // Forty pages are 1,200 MB.
    let grown = own.grown();
    assert!(grown < 128, "memory grew by {grown} MB");
    drop(streams);
    // Who reads gets the page.
    let asked = Command::new("curl")
        .args(["-sS", "-H", "content-type: application/json", "-H", &format!("authorization: {key}"), "-d", &body])
        .arg(format!("{}/v2/items/query", server.url))
        .output()
        .unwrap();
    let whole: Value = serde_json::from_slice(&asked.stdout).unwrap();
    assert_eq!(whole["dataItems"].as_array().map(Vec::len), Some(60), "{}", String::from_utf8_lossy(&asked.stderr));
}

#[test]
fn readers_of_http2_that_do_not_read_end() {
    let deployment = Deployment::new(Engine::Sqlite);
    let key = deployment.site_with_things();
    let server = deployment.serve(|it| limit(it, "WRITE_TIME", "3s"));
    large_pages(&server, &key);
    let body = json!({ "dataCollectionId": "things", "query": { "paging": { "limit": 60 } } }).to_string();
    let before = settled_sockets(&server);
    let reader = Command::new("curl")
        .args(["-sS", "--http2-prior-knowledge", "--limit-rate", "100", "-o", "/dev/null", "--interface", "127.0.0.2"])
        .args(["-H", "content-type: application/json", "-H", &format!("authorization: {key}"), "-d", &body])
        .arg(format!("{}/v2/items/query", server.url))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let _reader = Reader(reader);
    eventually("it connects", Duration::from_secs(5), || sockets(&server) > before);
    let begun = Instant::now();
    eventually("who takes 100 bytes a second is left", Duration::from_secs(20), || sockets(&server) <= before);
    assert!(begun.elapsed() > Duration::from_secs(2), "but not at once");
}

/// A client that ends with its test.
struct Reader(Child);

impl Drop for Reader {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A body of 60 kB beside the password, sent by a crowd: what waits for its turn at hashing holds none of it.
#[test]
fn requests_that_wait_for_a_hash_keep_little() {
    let deployment = Deployment::without_traffic(Engine::Sqlite);
    deployment.site_with_things();
    let client = deployment.json(&["client", "create", "--name", "X", "--redirect-uri", "https://a.example/cb"]);
    let server = deployment.serve(|_| {});
    let grant = json!({ "clientId": client["clientId"], "grantType": "anonymous" });
    let (_, visitor) = post(&format!("{}/oauth2/token", server.url), "", &grant).unwrap();
    let token = visitor["access_token"].as_str().unwrap();
    let before = memory(&server).0;
    let waste: Vec<_> = (0..700).map(|n| json!({ "": n })).collect();
    let streams: Vec<_> = (0..200)
        .map(|n| {
            let body = json!({
                "loginId": { "email": format!("a{n}@example.org") }, "password": "correct horse battery",
                "waste": waste, "more": "x".repeat(50_000),
            });
            let body = body.to_string();
            let head = format!(
                "POST /v2/login HTTP/1.1\r\nHost: localhost\r\nAuthorization: {token}\r\n\
                 Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
                body.len()
            );
            silent(1, &server, [head.as_bytes(), body.as_bytes()].concat().as_slice()).remove(0)
        })
        .collect();
    assert!(health(&server) < Duration::from_secs(1));
    let during = memory(&server).0;
    assert!(during < before + 60, "200 waiting requests took memory from {before} to {during} MB");
    drop(streams);
}

#[test]
fn authority_of_http2_is_kept() {
    let deployment = Deployment::new(Engine::Sqlite);
    let key = deployment.site_with_things();
    let client = deployment.json(&["client", "create", "--name", "X", "--redirect-uri", "https://a.example/cb"]);
    let server = deployment.serve(|_| {});
    let (_, visitor) = post(
        &format!("{}/oauth2/token", server.url),
        &key,
        &json!({ "clientId": client["clientId"], "grantType": "anonymous" }),
    )
    .unwrap();
    let body =
        json!({ "logout": { "clientId": client["clientId"] }, "callbacks": { "postFlowUrl": "https://a.example/cb" } });
    let asked = Command::new("curl")
        .args(["-sS", "--http2-prior-knowledge", "-H", "content-type: application/json", "-H"])
        .arg(format!("authorization: {}", visitor["access_token"].as_str().unwrap()))
        .args(["-d", &body.to_string()])
        .arg(format!("{}/_api/redirects-api/v1/redirect-session", server.url))
        .output()
        .unwrap();
    let answer: Value = serde_json::from_slice(&asked.stdout).unwrap();
    let leads_to = answer["redirectSession"]["fullUrl"].as_str().unwrap_or_else(|| panic!("{answer}"));
    assert!(leads_to.starts_with(&server.url), "{leads_to} is not on {}", server.url);
}
