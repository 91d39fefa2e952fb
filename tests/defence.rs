//! Attacks on accounts as they come through HTTP: what is refused, how, and who gets through meanwhile.
//! The counts themselves are shown in `crates/identity/tests/defence.rs`.

use crate::account::{APP, PASSWORD, World, text};
use axum::{
    body::Body,
    extract::ConnectInfo,
    http::{Method, Request, StatusCode},
};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    net::{IpAddr, Ipv4Addr, SocketAddr},
};
use stoa_http::App;
use stoa_testkit::{Reply, on_both_engines};
use tower::ServiceExt;

/// The n-th machine of an attacker who has many.
fn machine(n: u8) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(203, 0, 113, n))
}

/// `POST` from a machine.
async fn post(app: App, from: IpAddr, path: &str, headers: Vec<(&str, String)>, body: Value) -> Reply {
    let mut request = Request::builder().method(Method::POST).uri(path).header("host", "localhost");
    request = request.header("content-type", "application/json").extension(ConnectInfo(SocketAddr::new(from, 4400)));
    for (name, value) in headers {
        request = request.header(name, value);
    }
    let request = request.body(Body::from(body.to_string())).unwrap();
    let response = stoa_http::service(app).oneshot(request).await.unwrap();
    let (status, headers) = (response.status(), response.headers().clone());
    Reply { status, headers, body: axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap() }
}

fn login(email: &str, password: &str) -> Value {
    json!({ "loginId": { "email": email }, "password": password })
}

on_both_engines! {
    async fn the_owner_signs_in_while_a_hundred_guess(engine) {
        let world = World::new(engine).await;
        let browser = world.browser();
        let tokens = world.member(&browser, "anna@example.org").await;
        let device = browser.cookies.lock().unwrap()["stoa-device"].clone();
        let visitor = world.visitor().await;
        let app = || world.app.app.clone();
        let header = |token: &str| vec![("authorization", token.to_owned()), ("origin", APP.to_owned())];

        let tries = (0..100).map(|n| {
            let body = login("anna@example.org", &format!("guess number {n}"));
            tokio::spawn(post(app(), machine(n), "/v2/login", header(&visitor), body))
        });
        let mut verdicts = BTreeMap::new();
        for reply in tries.collect::<Vec<_>>() {
            let reply = reply.await.unwrap();
            if reply.status == StatusCode::TOO_MANY_REQUESTS {
                assert_eq!(reply.headers["retry-after"], "1");
                assert_eq!(reply.json()["details"]["applicationError"]["data"]["retryAfterSeconds"], 1);
            }
            *verdicts.entry(reply.verdict()).or_insert(0) += 1;
        }
        let expected = [("401 -19976".to_owned(), 20), ("429 THROTTLED_FEATURE".to_owned(), 80)];
        assert_eq!(verdicts, BTreeMap::from(expected));

        // The right password, from elsewhere: by the call, by its older form, on the page.
        let refused = "429 THROTTLED_FEATURE";
        let right = login("anna@example.org", PASSWORD);
        let older = json!({ "email": "anna@example.org", "password": PASSWORD });
        let older_path = "/wix-sm/api/v1/auth/api/v1/auth/login";
        assert_eq!(post(app(), machine(200), "/v2/login", header(&visitor), right.clone()).await.verdict(), refused);
        assert_eq!(post(app(), machine(200), older_path, header(&visitor), older.clone()).await.verdict(), refused);
        let stranger = world.browser();
        let begin = json!({ "kind": "SIGN_IN" });
        let input = json!({ "type": "SIGN_IN", "email": "anna@example.org", "password": PASSWORD });
        let token = text(&stranger.start(begin.clone()).await["token"]);
        let view = stranger.answer(&token, input.clone()).await;
        assert_eq!((&view["step"]["type"], &view["problems"][0]["code"]), (&json!("SIGN_IN"), &json!("THROTTLED")));

        // The owner's browser: with its cookie by the call and on the page, and by what it is like where the
        // page of a client could keep no cookie.
        let with_cookie = || {
            let mut headers = header(&visitor);
            headers.push(("cookie", format!("stoa-device={device}")));
            headers
        };
        assert_eq!(post(app(), machine(201), "/v2/login", with_cookie(), right.clone()).await.verdict(), "200");
        assert_eq!(post(app(), machine(201), older_path, with_cookie(), older).await.verdict(), "200");
        let here = IpAddr::V4(Ipv4Addr::LOCALHOST);
        assert_eq!(post(app(), here, "/v2/login", header(&visitor), right.clone()).await.verdict(), "200");
        let token = text(&browser.start(begin).await["token"]);
        assert_eq!(browser.answer(&token, input).await["step"]["type"], "DONE");

        // Everything that is no sign-in goes on as before, also from the attacker's machines.
        let refresh = json!({ "grantType": "refresh_token", "refreshToken": tokens["refresh_token"] });
        let anonymous = json!({ "clientId": world.client.id, "grantType": "anonymous" });
        for n in 0..50 {
            for body in [&refresh, &anonymous] {
                assert_eq!(post(app(), machine(n), "/oauth2/token", vec![], body.clone()).await.verdict(), "200");
            }
        }
        let app = world.app.app();
        let entries = app.get("/_api/identity/v1/audit?event=sign_in_slowed").await.json();
        assert_eq!(entries["entries"].as_array().unwrap().len(), 1);
        assert_eq!(entries["entries"][0]["actorKind"], "ANONYMOUS_VISITOR");
    }

    async fn one_machine_can_not_fill_the_disk_with_beginnings(engine) {
        let world = World::new(engine).await;
        let visitor = world.visitor().await;
        let app = || world.app.app.clone();
        let begin = json!({ "login": {} });
        let mut refused = None;
        for _ in 0..1_100 {
            let headers = vec![("authorization", visitor.clone())];
            let reply = post(app(), machine(1), "/v1/redirect-session", headers, begin.clone()).await;
            if reply.status != StatusCode::OK {
                refused = Some(reply);
                break;
            }
        }
        let refused = refused.expect("refused in the end");
        assert_eq!(refused.verdict(), "429 THROTTLED_FEATURE");
        assert!(refused.headers.contains_key("retry-after"));
        let flow = |n: u8| post(app(), machine(n), "/_api/account/v1/flows", vec![], json!({ "kind": "SIGN_IN" }));
        assert_eq!(flow(1).await.verdict(), "429 THROTTLED_FEATURE");
        assert_eq!(flow(2).await.verdict(), "200");
    }
}
