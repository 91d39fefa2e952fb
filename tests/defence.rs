//! Attacks on accounts as they come through HTTP: what is refused, how, and who gets through meanwhile.
//! The counts themselves are shown in `crates/identity/tests/defence.rs`.

use crate::account::{APP, CALLBACK, PASSWORD, World, location, message_of, parameters, send, text};
use axum::{
    body::Body,
    extract::ConnectInfo,
    http::{Method, Request, StatusCode},
};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::Arc,
};
use stoa_http::{App, Settings};
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
    async fn owner_signs_in_while_a_hundred_guess(engine) {
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
                let seconds = reply.json()["details"]["applicationError"]["data"]["retryAfterSeconds"].as_u64().unwrap();
                assert_eq!(reply.headers["retry-after"], seconds.to_string());
                assert!((1..=60).contains(&seconds), "{seconds}");
            }
            *verdicts.entry(reply.verdict()).or_insert(0) += 1;
        }
        // One that waited too long for its hash was no guess; those that are left go the same way.
        let guesses = verdicts.remove("401 -19976").unwrap_or(0);
        assert!((1..=20).contains(&guesses), "{guesses}");
        assert_eq!(verdicts, BTreeMap::from([("429 THROTTLED_FEATURE".to_owned(), 100 - guesses)]));
        for n in guesses..20 {
            let reply = post(app(), machine(n), "/v2/login", header(&visitor), login("anna@example.org", "one more guess")).await;
            assert!(["401 -19976", "429 THROTTLED_FEATURE"].contains(&reply.verdict().as_str()), "{}", reply.verdict());
        }

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
        let (path, firefox) = (format!("/_api/account/v1/flows/{token}"), ("user-agent", "Firefox/140.0 Linux"));
        let headers = [("sec-fetch-site", "same-origin"), ("content-type", "application/json"), firefox];
        let view = stranger.send(Method::POST, &path, &headers, Some(&input)).await.json();
        assert_eq!((&view["step"]["type"], &view["problems"][0]["code"]), (&json!("SIGN_IN"), &json!("THROTTLED_FEATURE")));

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

    async fn sign_ins_begun_by_one_machine_are_bounded(engine) {
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
    async fn tokens_of_barred_members_are_worthless(engine) {
        for step in ["block", "delete"] {
            let world = World::new(engine).await;
            let (browser, email) = (world.browser(), "anna@example.org");
            let tokens = world.member(&browser, email).await;
            let (access, visitor) = (text(&tokens["access_token"]), world.visitor().await);
            let me = send(&world.app, Method::GET, "/members/v1/members/my", &[("authorization", &access)], None).await;
            let id = text(&me.json()["member"]["id"]);
            // A code that was not exchanged yet, a sign-in that is no session yet, a link that was sent.
            let silent = json!({ "auth": { "authRequest": world.auth_request(), "prompt": "none" } });
            let open = async || location(&browser.open(&world.redirect_session(&visitor, &silent).await).await);
            let code = parameters(&open().await, '#')["code"].clone();
            let signed = world.call(&visitor, "/v2/login", &login(email, PASSWORD)).await.json();
            let direct = world.direct(&text(&signed["sessionToken"])).await;
            world.call(&visitor, "/v1/send-email", &json!({ "email": email })).await;
            let link = world.link_to(email).await.unwrap();

            let (app, path) = (world.app.app(), format!("/members/v1/members/{id}"));
            let done = match step {
                "delete" => app.delete(&path).await,
                step => app.post(&format!("{path}/{step}"), &json!({})).await,
            };
            assert_eq!(done.verdict(), "200");
            assert_ne!(world.exchange(&code, Some(CALLBACK)).await.status, StatusCode::OK, "{step}: code");
            assert_eq!(parameters(&open().await, '#')["error"], "login_required", "{step}: the browser's session");
            assert!(message_of(&browser.open_from(&direct, Some(APP)).await)["code"].is_null(), "{step}: session token");
            let recover = json!({ "recoveryToken": link.split_once("token=").unwrap().1, "password": "another long phrase" });
            assert_ne!(world.call(&visitor, "/v1/recover", &recover).await.status, StatusCode::OK, "{step}: link");
            let grant = json!({ "grantType": "refresh_token", "refreshToken": tokens["refresh_token"] });
            assert_eq!(world.call("", "/oauth2/token", &grant).await.status, StatusCode::BAD_REQUEST, "{step}: refresh");
            let info = send(&world.app, Method::GET, "/oauth2/user-info", &[("authorization", &access)], None).await;
            assert_eq!(info.status, StatusCode::UNAUTHORIZED, "{step}: user-info");
            assert_eq!(world.call(&visitor, "/v2/login", &login(email, PASSWORD)).await.json()["sessionToken"], Value::Null);
        }
    }

    async fn members_end_only_their_own_sessions(engine) {
        let world = World::new(engine).await;
        let (home, phone) = (world.browser(), world.browser());
        let first = world.member(&home, "anna@example.org").await;
        let signed = world.call(&world.visitor().await, "/v2/login", &login("anna@example.org", PASSWORD)).await.json();
        let page = phone.open_from(&world.direct(&text(&signed["sessionToken"])).await, Some(APP)).await;
        let second = world.exchange(message_of(&page)["code"].as_str().unwrap(), None).await.json();
        let other = world.member(&world.browser(), "ben@example.org").await;
        let as_of = |tokens: &Value| world.app.with_token(&text(&tokens["access_token"]));
        let (anna, away, ben, app) = (as_of(&first), as_of(&second), as_of(&other), world.app.app());
        let visitor = world.app.with_token(&world.visitor().await);
        const ALL: &str = "/_api/identity/v1/sessions";

        let list = anna.get(ALL).await.json();
        let of = |current: bool| {
            let all = list["sessions"].as_array().unwrap().iter().filter(|it| it["isCurrent"] == current);
            all.map(|it| text(&it["id"])).collect::<Vec<_>>()
        };
        let (mine, others) = (of(true), of(false));
        assert_eq!((mine.len(), others.len()), (1, 1), "{list}");
        assert_eq!(list["sessions"][0]["clientIds"], json!([world.client.id]));
        assert_eq!(ben.get(ALL).await.json()["sessions"].as_array().unwrap().len(), 1);
        let member = text(&signed["identity"]["id"]);
        let of_anna = format!("{ALL}?memberId={member}");
        for (who, path, verdict) in [
            (&visitor, ALL, "403 PERMISSION_DENIED"),
            (&visitor, &*of_anna, "403 PERMISSION_DENIED"),
            (&ben, &*of_anna, "403 PERMISSION_DENIED"),
            (&app, ALL, "400 validationError"),
            (&app, &*of_anna, "200"),
            (&anna, &*of_anna, "200"),
        ] {
            assert_eq!(who.get(path).await.verdict(), verdict, "{path}");
        }
        let one = |id: &str| format!("{ALL}/{id}");
        for id in [&*others[0], "nothing", "%00", "%ff"] {
            assert_eq!(ben.delete(&one(id)).await.verdict(), "404 NOT_FOUND", "{id}");
        }
        assert_eq!(visitor.delete(&one(&others[0])).await.verdict(), "403 PERMISSION_DENIED");
        assert_eq!(away.get("/members/v1/members/my").await.verdict(), "200");

        assert_eq!(anna.delete(&one(&others[0])).await.verdict(), "200");
        assert_eq!(away.get("/members/v1/members/my").await.verdict(), "401 UNAUTHENTICATED", "at once");
        let refresh = async |tokens: &Value| {
            let grant = json!({ "grantType": "refresh_token", "refreshToken": tokens["refresh_token"] });
            world.call("", "/oauth2/token", &grant).await.status
        };
        assert_eq!((refresh(&first).await, refresh(&second).await), (StatusCode::OK, StatusCode::BAD_REQUEST));
        assert_eq!(anna.delete(&one(&others[0])).await.verdict(), "404 NOT_FOUND", "it is over");
        assert_eq!(anna.delete(ALL).await.verdict(), "200");
        assert_eq!((refresh(&first).await, refresh(&other).await), (StatusCode::OK, StatusCode::OK));
        assert_eq!(app.delete(&of_anna).await.verdict(), "200");
        assert_eq!((refresh(&first).await, refresh(&other).await), (StatusCode::BAD_REQUEST, StatusCode::OK));
        let records = app.get(&format!("/_api/identity/v1/audit?event=session_end&member={member}")).await.json();
        assert_eq!(records["entries"].as_array().unwrap().len(), 3);
    }

    async fn sign_in_takes_no_earlier_session(engine) {
        let world = World::new(engine).await;
        let browser = world.browser();
        let sign_in = async |email: &str| {
            let token = text(&browser.start(json!({ "kind": "SIGN_IN" })).await["token"]);
            let input = json!({ "type": "SIGN_IN", "email": email, "password": PASSWORD });
            assert_eq!(browser.answer(&token, input).await["step"]["type"], "DONE");
            browser.cookie("stoa-session").unwrap()
        };
        for name in ["anna", "ben"] {
            world.register(&format!("{name}@example.org")).await;
        }
        let planted = format!("b{}.{}", world.app.site.number, "x".repeat(43));
        let name = format!("stoa-session-{}", world.app.site.number);
        browser.cookies.lock().unwrap().insert(name, planted.clone());
        let first = sign_in("anna@example.org").await;
        let again = sign_in("anna@example.org").await;
        let other = sign_in("ben@example.org").await;
        assert!(planted != first && first != again && again != other);
    }

    async fn answers_have_their_headers(engine) {
        let world = World::new(engine).await;
        let registered = world.register("anna@example.org").await;
        let direct = world.direct(&text(&registered["sessionToken"])).await;
        let visitor = world.visitor().await;
        let silent = json!({ "auth": { "authRequest": world.auth_request(), "prompt": "none" } });
        let silent = world.redirect_session(&visitor, &silent).await;
        let anonymous = json!({ "clientId": world.client.id, "grantType": "anonymous" });
        let begin = json!({ "kind": "SIGN_IN" });
        let value = |reply: &Reply, name: &str| reply.headers.get(name).map(|it| it.to_str().unwrap().to_owned());
        for (method, path, body, is_page, is_kept) in [
            (Method::GET, "/healthz", None, false, true),
            (Method::GET, "/no/such/path", None, false, true),
            (Method::POST, "/oauth2/token", Some(&anonymous), false, false),
            (Method::POST, "/v2/login", Some(&begin), false, false),
            (Method::POST, "/_api/account/v1/flows", Some(&begin), false, false),
            (Method::GET, &*direct, None, true, false),
            (Method::GET, &*silent, None, true, false),
        ] {
            let headers = [("content-type", "application/json"), ("origin", "http://localhost")];
            let reply = send(&world.app, method, path, &headers, body).await;
            assert_eq!(value(&reply, "x-content-type-options").as_deref(), Some("nosniff"), "{path}");
            assert_eq!(value(&reply, "access-control-allow-credentials"), None, "{path}");
            assert_eq!(value(&reply, "strict-transport-security"), None, "{path}: not on this machine");
            assert!(is_kept || value(&reply, "cache-control").as_deref() == Some("no-store"), "{path}: {reply:?}");
            if is_page {
                let policy = value(&reply, "content-security-policy").unwrap();
                assert!(policy.starts_with("default-src 'none'") && policy.contains("frame-ancestors"), "{path}: {policy}");
                assert_eq!(value(&reply, "referrer-policy").as_deref(), Some("no-referrer"), "{path}");
            }
        }

        // As the world sees it.
        let settings = Settings { public_url: Some("https://www.example.org".to_owned()), ..Settings::default() };
        let app = App { settings: Arc::new(settings), ..world.app.app.clone() };
        let reply = post(app, machine(1), "/_api/account/v1/flows", vec![], begin).await;
        assert_eq!(value(&reply, "strict-transport-security").as_deref(), Some("max-age=31536000"));
        let cookie = value(&reply, "set-cookie").unwrap();
        let (name, flags) = cookie.split_once('=').unwrap();
        assert_eq!(name, "__Host-stoa-flow");
        assert!(flags.ends_with("; HttpOnly; SameSite=Lax; Secure; Path=/"), "{flags}");
    }
}
