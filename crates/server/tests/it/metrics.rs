//! `/metrics`: at an address of its own, and nowhere else.

use crate::process::{Deployment, Server, get, make_things, post};
use serde_json::json;
use std::{fs::File, net::TcpStream, process::Stdio, time::Duration};
use stoa_testkit::Engine;

#[test]
fn metrics_are_at_an_address_of_their_own_on_sqlite() {
    watch(Engine::Sqlite);
}

#[test]
fn metrics_are_at_an_address_of_their_own_on_postgres() {
    watch(Engine::Postgres);
}

#[test]
fn metrics_are_nowhere_unless_asked_for() {
    let deployment = Deployment::new(Engine::Sqlite);
    deployment.site_with_things();
    let server = deployment.serve(|_| {});
    assert_eq!(get(&format!("{}/metrics", server.url), &[]).0, 404);
    assert!(server.stop());
}

/// A page in a browser of this machine can have a name of its own lead to it, and watchers take few of the files.
#[test]
fn metrics_are_told_under_names_of_this_machine() {
    let deployment = Deployment::new(Engine::Sqlite);
    deployment.site_with_things();
    let log = deployment.file("server.log");
    let server = deployment.serve_logging(Stdio::from(File::create(&log).unwrap()), |command| {
        command.args(["--metrics", "127.0.0.1:0"]);
    });
    let metrics = address(&log);
    for (host, wants) in
        [("localhost:9464", 200), ("[::1]", 200), ("a.example:9464", 421), ("127.0.0.1.a.example", 421)]
    {
        let (status, text) = get(&metrics, &[("host", host)]);
        assert_eq!((status, text.contains("stoa_connections")), (wants, wants == 200), "{host}");
    }
    let files = || std::fs::read_dir(format!("/proc/{}/fd", server.child.id())).map_or(0, Iterator::count);
    let before = files();
    let to = metrics.trim_start_matches("http://").trim_end_matches("/metrics");
    let idle: Vec<_> = (0..60).map(|_| TcpStream::connect(to).unwrap()).collect();
    std::thread::sleep(Duration::from_millis(300));
    let more = files().saturating_sub(before);
    assert!(more <= 30, "{more} files for {} watchers who say nothing", idle.len());
    drop(idle);
    assert_eq!(get(&metrics, &[]).0, 200);
    assert!(server.stop());
}

#[test]
fn lag_of_consumers_is_told_on_sqlite() {
    tell_lag(Engine::Sqlite);
}

#[test]
fn lag_of_consumers_is_told_on_postgres() {
    tell_lag(Engine::Postgres);
}

fn tell_lag(engine: Engine) {
    let deployment = Deployment::new(engine);
    let key = deployment.site_with_things();
    let log = deployment.file("server.log");
    let server = deployment.serve_logging(Stdio::from(File::create(&log).unwrap()), |command| {
        command.args(["--metrics", "127.0.0.1:0"]);
    });
    let metrics = address(&log);
    // The index of words is kept by a consumer of its own.
    let consumers = || value(&get(&metrics, &[]).1, "stoa_log_consumers");
    for _ in 0..6_000 {
        if consumers() > 0.0 {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(consumers(), 1.0);
    make_things(&server, &key);
    let followed = deployment.stoa(&["log", "follow", "lag", "--once"]).output().unwrap();
    assert!(followed.status.success(), "{followed:?}");
    let site = deployment.json(&["log", "status"])["siteId"].as_str().unwrap().to_owned();
    for n in 0..3 {
        let item = json!({ "dataCollectionId": "things", "dataItem": { "data": { "n": n } } });
        assert_eq!(post(&format!("{}/v2/items", server.url), &key, &item).unwrap().0, 200);
    }
    let text = get(&metrics, &[]).1;
    let labels = format!("{{site=\"{site}\",consumer=\"follow:lag\"}}");
    assert!(value(&text, &format!("stoa_log_lag_rows{labels}")) >= 3.0, "{text}");
    assert!(value(&text, &format!("stoa_log_lag_seconds{labels}")) >= 0.0, "{text}");
    assert_eq!(value(&text, "stoa_log_consumers"), 2.0);
    assert!(value(&text, &format!("stoa_log_lag_rows{{site=\"{site}\",consumer=\"search\"}}")) >= 0.0, "{text}");
    assert!(server.stop());
}

/// Where the log says that they are.
fn address(log: &std::path::Path) -> String {
    for _ in 0..500 {
        let text = std::fs::read_to_string(log).unwrap();
        if let Some((_, rest)) = text.split_once("metrics are served at ") {
            return rest.split_whitespace().next().unwrap().to_owned();
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("the log does not say where metrics are served");
}

/// The value of a line.
fn value(text: &str, line: &str) -> f64 {
    let found = text.lines().find_map(|it| it.strip_prefix(line)?.strip_prefix(' '));
    found.unwrap_or_else(|| panic!("no {line} in {text}")).parse().unwrap()
}

fn query(server: &Server, key: &str) {
    let body = json!({ "dataCollectionId": "things", "query": {} });
    assert_eq!(post(&format!("{}/v2/items/query", server.url), key, &body).unwrap().0, 200);
}

fn watch(engine: Engine) {
    let deployment = Deployment::new(engine);
    let key = deployment.site_with_things();
    let log = deployment.file("server.log");
    let server = deployment.serve_logging(Stdio::from(File::create(&log).unwrap()), |command| {
        command.args(["--metrics", "127.0.0.1:0"]);
    });
    let metrics = address(&log);
    make_things(&server, &key);
    query(&server, &key);
    get(&format!("{}/no/such/path/{}", server.url, "x".repeat(50)), &[]);
    let (status, before) = get(&metrics, &[]);
    assert_eq!(status, 200);
    for _ in 0..3 {
        query(&server, &key);
    }
    let after = get(&metrics, &[]).1;
    let queries = "stoa_requests_total{method=\"POST\",route=\"/v2/items/query\",status=\"200\"}";
    assert_eq!((value(&before, queries), value(&after, queries)), (1.0, 4.0));
    assert_eq!(value(&after, "stoa_request_seconds_count{route=\"/v2/items/query\"}"), 4.0);
    assert!(value(&after, "stoa_statements_total") > value(&before, "stoa_statements_total"));
    assert!(value(&after, "stoa_transactions_total") >= 1.0, "the collection was written");
    for name in ["stoa_connections", "stoa_requests_in_progress", "stoa_bodies_bytes", "stoa_answers_bytes"] {
        value(&after, name);
    }
    for name in [
        "stoa_mail_waiting",
        "stoa_aggregations",
        "stoa_aggregations_bytes",
        "stoa_hashes_waiting",
        "stoa_hashes_total",
        "stoa_scan_wait_seconds_total",
    ] {
        value(&after, name);
    }
    assert_eq!(value(&after, "stoa_refused_total{what=\"body\"}"), 0.0);
    assert!(!after.contains("xxxxx"), "what a client makes up is no label");

    // Who reaches the public address is a stranger, whatever they say of themselves.
    for headers in [&[][..], &[("x-forwarded-for", "127.0.0.1")], &[("authorization", &*key)], &[("host", "127.0.0.1")]]
    {
        let (status, text) = get(&format!("{}/metrics", server.url), headers);
        assert!(status == 404 && !text.contains("stoa_requests_total"), "{headers:?}: {status}");
    }
    assert!(server.stop());
}
