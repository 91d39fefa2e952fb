//! Under which name and from which address a request came: what a stranger writes is not believed.

use axum::{
    extract::ConnectInfo,
    http::{Request, request::Parts},
};
use std::{net::SocketAddr, sync::Arc};
use stoa_http::{App, RequestInfo, Settings};
use stoa_testkit::{Engine, TestApp};

const LOCAL: &str = "127.0.0.1:1";
const FAR: &str = "203.0.113.5:1";
const PROXY: &str = "10.0.0.1:1";

fn parts(peer: &str, headers: &[(&str, &str)]) -> Parts {
    let request = headers.iter().fold(Request::builder().uri("/"), |it, (name, value)| it.header(*name, *value));
    let mut parts = request.body(()).unwrap().into_parts().0;
    let peer: SocketAddr = peer.parse().unwrap();
    parts.extensions.insert(ConnectInfo(peer));
    parts
}

async fn with(settings: Settings) -> (TestApp, App) {
    let test = TestApp::new(Engine::Sqlite).await;
    let app = App { settings: Arc::new(settings), ..test.app.clone() };
    (test, app)
}

fn base(app: &App, peer: &str, headers: &[(&str, &str)]) -> Option<String> {
    RequestInfo::of(&parts(peer, headers), app).ok().map(|it| it.base_url)
}

#[tokio::test]
async fn loopback_alone_is_believed_without_a_public_url() {
    let tls = Settings { tls: true, ..Settings::default() };
    for settings in [Settings::default(), tls] {
        let scheme = if settings.tls { "https" } else { "http" };
        let (_test, app) = with(settings).await;
        assert_eq!(base(&app, FAR, &[("host", "evil.example")]), None);
        assert_eq!(base(&app, FAR, &[("host", "localhost:1@evil.example")]), None);
        assert_eq!(base(&app, FAR, &[("host", "localhost.evil.example")]), None);
        assert_eq!(base(&app, FAR, &[("host", "localhost:4400")]), Some(format!("{scheme}://localhost:4400")));
        // On this machine a made-up name fools no other client; through a proxy it might.
        assert_eq!(base(&app, LOCAL, &[("host", "my.test:8443")]), Some(format!("{scheme}://my.test:8443")));
        assert_eq!(base(&app, LOCAL, &[("host", "evil.example"), ("x-forwarded-for", "203.0.113.5")]), None);
        assert_eq!(
            base(&app, FAR, &[("host", "localhost"), ("x-forwarded-host", "evil.example")]),
            Some(format!("{scheme}://localhost"))
        );
    }
}

#[tokio::test]
async fn public_url_beats_every_header() {
    let settings = Settings { public_url: Some("https://www.example.org".to_owned()), ..Settings::default() };
    let (_test, app) = with(settings).await;
    for host in ["evil.example", "localhost", "www.example.org"] {
        assert_eq!(base(&app, FAR, &[("host", host)]).as_deref(), Some("https://www.example.org"));
    }
}

#[tokio::test]
async fn addresses_come_from_trusted_proxies_only() {
    let settings = Settings {
        public_url: Some("https://www.example.org".to_owned()),
        trusted_proxies: vec!["10.0.0.0/8".parse().unwrap()],
        ..Settings::default()
    };
    let (_test, app) = with(settings).await;
    let address = |peer: &str, lines: &[&str]| {
        let headers: Vec<_> = lines.iter().map(|it| ("x-forwarded-for", *it)).collect();
        RequestInfo::of(&parts(peer, &headers), &app).unwrap().address.to_string()
    };
    assert_eq!(address(FAR, &["198.51.100.7"]), "203.0.113.5", "a stranger's word");
    assert_eq!(address(PROXY, &["198.51.100.7"]), "198.51.100.7");
    assert_eq!(address(PROXY, &["1.2.3.4, 198.51.100.7"]), "198.51.100.7", "the client wrote the first one");
    assert_eq!(address(PROXY, &["1.2.3.4", "198.51.100.7, 10.0.0.2"]), "198.51.100.7", "each proxy adds a line");
    assert_eq!(address(PROXY, &["nonsense"]), "10.0.0.1");
    assert_eq!(address(PROXY, &[]), "10.0.0.1");
}
