//! A service of leaked passwords, which is a real one here: it listens and is asked by the first digits of a hash. And
//! what becomes of new passwords when it fails.

use super::*;
use axum::extract::ConnectInfo;
use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};
use stoa_kernel::Role;
use stoa_outbound::{HashRangeCounts, HashRangeLimits};
use stoa_testkit::on_both_engines;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
    time::sleep,
};

const REGISTER: &str = "/v2/register";
/// A password, its SHA-1 cut in two, and what begins alike and is another's.
const LEAKED: &str = "violet umbrella 42";
const PREFIX: &str = "832FB";
const ANOTHER: &str = "quite another phrase";
const SUFFIX: &str = "D6CF71A63B64AB90A61E867A26930D945FC";
const OTHER: &str = "0018A45C4D1DEF81644B54AB7F969B88D65";

/// Answers every request alike, and keeps what was asked.
struct Ranges {
    url: String,
    asked: Arc<Mutex<Vec<String>>>,
    open: Arc<AtomicUsize>,
}

impl Ranges {
    /// Without an answer it never says anything.
    async fn start(answer: Option<String>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/range/", listener.local_addr().unwrap());
        let (asked, open) = (Arc::<Mutex<Vec<String>>>::default(), Arc::<AtomicUsize>::default());
        let (kept, most) = (asked.clone(), open.clone());
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (answer, kept, most) = (answer.clone(), kept.clone(), most.clone());
                tokio::spawn(async move {
                    most.fetch_add(1, Ordering::SeqCst);
                    let mut request = vec![0; 4096];
                    let length = stream.read(&mut request).await.unwrap_or(0);
                    kept.lock().unwrap().push(String::from_utf8_lossy(&request[..length]).into_owned());
                    match answer {
                        Some(text) => {
                            let _ = stream.write_all(text.as_bytes()).await;
                            let _ = stream.shutdown().await;
                        }
                        None => sleep(Duration::from_secs(60)).await,
                    }
                });
            }
        });
        Self { url, asked, open }
    }

    async fn says(head: &str, body: &str) -> Self {
        let length = body.len();
        let text = format!("HTTP/1.1 {head}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}");
        Self::start(Some(text)).await
    }

    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.asked.lock().unwrap())
    }
}

async fn world(engine: Engine, url: &str) -> World {
    World::with(engine, Config { leaked_passwords_url: Some(url.to_owned()), ..Config::default() }).await
}

/// Waits until something is so.
async fn until(is_so: impl Fn() -> bool) {
    for _ in 0..6_000 {
        if is_so() {
            return;
        }
        sleep(Duration::from_millis(10)).await;
    }
    panic!("a minute is over");
}

/// The rule that a password breaks, if any.
fn rule(reply: &Reply) -> Option<String> {
    let violation = &reply.json()["details"]["validationError"]["fieldViolations"][0];
    violation["ruleName"].as_str().map(str::to_owned)
}

/// The code of the problem with a password that an account page is told.
fn problem(view: &Value) -> &str {
    let problem = &view["problems"][0];
    assert_eq!(problem["field"], "password", "{view}");
    problem["code"].as_str().unwrap_or_default()
}

impl World {
    async fn registers(&self, email: &str, password: &str) -> Reply {
        let body = json!({ "loginId": { "email": email }, "password": password });
        self.call(&self.visitor().await, REGISTER, &body).await
    }

    /// A registration from a machine that others are not.
    async fn registers_from(&self, machine: u8, token: &str, email: &str) -> StatusCode {
        let body = json!({ "loginId": { "email": email }, "password": LEAKED }).to_string();
        let from = SocketAddr::from(([203, 0, 113, machine], 4400));
        let request = Request::post(REGISTER).header("host", "localhost").header("authorization", token);
        let request = request.header("origin", APP).header("content-type", "application/json");
        let request = request.extension(ConnectInfo(from)).body(Body::from(body)).unwrap();
        self.app.service().oneshot(request).await.unwrap().status()
    }

    fn counts(&self) -> (u64, u64, u64) {
        let HashRangeCounts { known, unknown, unanswered } = self.app.app.identity.leaked_passwords_counts();
        (known, unknown, unanswered)
    }
}

on_both_engines! {
    async fn leaked_password_is_refused_by_calls(engine) {
        let service = Ranges::says("200 OK", &format!("{OTHER}:3\r\n{SUFFIX}:17\r\n")).await;
        let world = world(engine, &service.url).await;
        let refused = world.registers("ada@example.org", LEAKED).await;
        assert_eq!((refused.status, rule(&refused).as_deref()), (StatusCode::BAD_REQUEST, Some("LEAKED_PASSWORD")));
        let asked = service.asked();
        assert_eq!(asked.len(), 1);
        assert!(asked[0].starts_with(&format!("GET /range/{PREFIX} HTTP/1.1\r\n")), "{}", asked[0]);
        let lower = asked[0].to_lowercase();
        assert!(lower.contains("add-padding: true") && !lower.contains(&SUFFIX.to_lowercase()), "{lower}");
        assert!(!lower.contains("umbrella") && !lower.contains("example.org"), "{lower}");
        // What is refused anyway is not asked about.
        for password in ["short", "password1", "ada.example.org"] {
            assert_eq!(world.registers("ada.example@example.org", password).await.status, StatusCode::BAD_REQUEST);
        }
        assert_eq!(service.asked().len(), 0);

        let browser = world.browser();
        let tokens = world.member(&browser, "ada@example.org").await;
        assert_eq!(service.asked().len(), 1, "one that nobody knows is asked about once");
        let ada = text(&tokens["access_token"]);
        let change = json!({ "newPassword": LEAKED });
        let refused = world.call(&ada, "/v2/change-password", &change).await;
        assert_eq!((refused.status, rule(&refused).as_deref()), (StatusCode::BAD_REQUEST, Some("LEAKED_PASSWORD")));
        assert_eq!(refused.json()["details"]["validationError"]["fieldViolations"][0]["field"], "newPassword");
        let visitor = world.visitor().await;
        let ask = json!({ "email": "ada@example.org", "redirect": { "url": APP, "clientId": world.client.id } });
        assert_eq!(world.call(&visitor, "/v1/send-email", &ask).await.status, StatusCode::OK);
        let link = world.link_to("ada@example.org").await.unwrap();
        let recover = async |password: &str| {
            let body = json!({ "recoveryToken": link.split_once("token=").unwrap().1, "password": password });
            world.call(&visitor, "/v1/recover", &body).await
        };
        let refused = recover(LEAKED).await;
        assert_eq!((refused.status, rule(&refused).as_deref()), (StatusCode::BAD_REQUEST, Some("LEAKED_PASSWORD")));
        assert_eq!(recover(ANOTHER).await.json()["state"], "SUCCESS", "the link is good all the same");

        service.asked();
        // Signing in is not setting one.
        let body = json!({ "loginId": { "email": "ada@example.org" }, "password": ANOTHER });
        assert_eq!(world.call(&visitor, "/v2/login", &body).await.status, StatusCode::OK);
        assert_eq!(service.asked().len(), 0);
        assert_eq!(world.counts(), (3, 2, 0));
    }

    async fn leaked_password_is_refused_on_the_pages_of_members(engine) {
        let service = Ranges::says("200 OK", &format!("{SUFFIX}:17\r\n")).await;
        let world = world(engine, &service.url).await;
        let browser = world.browser();
        let token = text(&browser.start(json!({ "kind": "SIGN_UP" })).await["token"]);
        let up = |password: &str| {
            json!({ "type": "SIGN_UP", "email": "ada@example.org", "password": password, "profile": {} })
        };
        assert_eq!(problem(&browser.answer(&token, up(LEAKED)).await), "PASSWORD_LEAKED");
        assert_eq!(browser.answer(&token, up(PASSWORD)).await["step"]["message"], "SIGNED_IN");

        let phone = world.browser();
        let token = text(&phone.start(json!({ "kind": "SIGN_IN" })).await["token"]);
        phone.answer(&token, json!({ "type": "SWITCH", "to": "RECOVER", "email": "ada@example.org" })).await;
        phone.answer(&token, json!({ "type": "RECOVER_REQUEST", "email": "ada@example.org" })).await;
        let link = path_of(&world.link_to("ada@example.org").await.unwrap());
        let token = flow_of(&phone.open(&link).await);
        let set = |password: &str| json!({ "type": "NEW_PASSWORD", "password": password });
        assert_eq!(problem(&phone.answer(&token, set(LEAKED)).await), "PASSWORD_LEAKED");
        assert_eq!(phone.answer(&token, set(ANOTHER)).await["step"]["message"], "PASSWORD_CHANGED", "the link is good");

        let own = phone.ask(Method::POST, "/_api/account/v1/member", Some(&json!({}))).await.json();
        let change = async |password: &str| {
            let body = json!({ "oldPassword": ANOTHER, "newPassword": password });
            world.call(&text(&own["access_token"]), "/_api/identity/v1/password", &body).await
        };
        let refused = change(LEAKED).await;
        assert_eq!((refused.status, rule(&refused).as_deref()), (StatusCode::BAD_REQUEST, Some("LEAKED_PASSWORD")));
        assert_eq!(change("a third long phrase").await.status, StatusCode::OK);
        assert_eq!(world.counts(), (3, 3, 0));
    }

    async fn leaked_password_is_refused_on_the_pages_of_owners(engine) {
        let service = Ranges::says("200 OK", &format!("{SUFFIX}:17\r\n")).await;
        let world = world(engine, &service.url).await;
        let set = |password: &str| json!({ "type": "NEW_PASSWORD", "password": password });
        let invite = world.invite(Some("olga@example.org"), Role::Owner).await;
        let browser = world.browser();
        let token = text(&browser.start(json!({ "kind": "OWNER_SETUP", "invite": invite })).await["token"]);
        assert_eq!(problem(&browser.answer(&token, set(LEAKED)).await), "PASSWORD_LEAKED");
        assert_eq!(browser.answer(&token, set(PASSWORD)).await["step"]["message"], "OWNER_READY", "the invitation is good");

        let phone = world.browser();
        let token = text(&phone.start(json!({ "kind": "OWNER_SIGN_IN" })).await["token"]);
        phone.answer(&token, json!({ "type": "SWITCH", "to": "RECOVER", "email": "olga@example.org" })).await;
        phone.answer(&token, json!({ "type": "RECOVER_REQUEST", "email": "olga@example.org" })).await;
        let link = path_of(&world.link_to("olga@example.org").await.unwrap());
        let token = flow_of(&phone.open(&link).await);
        assert_eq!(problem(&phone.answer(&token, set(LEAKED)).await), "PASSWORD_LEAKED");
        let view = phone.answer(&token, set(ANOTHER)).await;
        assert_eq!((&view["step"]["type"], &view["problems"]), (&json!("DONE"), &json!([])), "the link is good");

        let change = async |password: &str| {
            phone.change("password", json!({ "old": ANOTHER, "password": password })).await.json()
        };
        assert_eq!(problem(&change(LEAKED).await), "PASSWORD_LEAKED");
        assert_eq!(change("a third long phrase").await["problems"], json!([]));
        assert_eq!(world.counts(), (3, 3, 0));
    }

    async fn owner_has_the_service_asked_as_often_as_passwords_are_counted(engine) {
        let service = Ranges::says("200 OK", &format!("{SUFFIX}:17\r\n")).await;
        let world = world(engine, &service.url).await;
        world.owner("olga@example.org").await;
        let browser = world.browser();
        browser.run_site("olga@example.org", PASSWORD).await;
        service.asked();
        let mut codes = Vec::new();
        for _ in 0..40 {
            let body = json!({ "old": PASSWORD, "password": LEAKED });
            codes.push(text(&browser.change("password", body).await.json()["problems"][0]["code"]));
        }
        let asked = service.asked().len();
        assert_eq!(asked, codes.iter().filter(|it| *it == "PASSWORD_LEAKED").count());
        assert!((10..=20).contains(&asked), "as many as one account may be tried: {asked}");
        assert_eq!(codes.last().map(String::as_str), Some("THROTTLED_FEATURE"));
    }

    async fn padding_is_no_leak(engine) {
        let service = Ranges::says("200 OK", &format!("{SUFFIX}:0\r\n{OTHER}:0")).await;
        let world = world(engine, &service.url).await;
        assert_eq!(world.registers("ada@example.org", LEAKED).await.status, StatusCode::OK);
        assert_eq!(world.counts(), (0, 1, 0));
    }

    async fn service_that_fails_refuses_nobody_and_is_left_alone(engine) {
        let yes = format!("{SUFFIX}:17\r\n");
        let huge = format!("{OTHER}:1\r\n").repeat(10_000) + &yes;
        let elsewhere = Ranges::says("200 OK", &yes).await;
        let redirect = format!("302 Found\r\nLocation: {}{PREFIX}", elsewhere.url);
        for (head, body) in [
            ("500 Internal Server Error", yes.as_str()),
            ("404 Not Found", &yes),
            (&redirect, &yes),
            ("200 OK", "<html>yes</html>"),
            ("200 OK", &huge),
        ] {
            let service = Ranges::says(head, body).await;
            let world = world(engine, &service.url).await;
            for n in 0..5 {
                assert_eq!(world.registers(&format!("a{n}@example.org"), LEAKED).await.status, StatusCode::OK, "{head}");
            }
            assert_eq!(service.asked().len(), 3, "{head}: then it is left alone");
            assert_eq!(world.counts(), (0, 0, 5));
            world.app.kit.clock.advance(60_001);
            for n in 5..8 {
                assert_eq!(world.registers(&format!("a{n}@example.org"), LEAKED).await.status, StatusCode::OK, "{head}");
            }
            assert_eq!(service.asked().len(), 1, "{head}: one question looks whether it is back");
        }
        assert_eq!(elsewhere.asked().len(), 0, "no redirect is followed");
    }

    async fn slow_service_delays_few(engine) {
        let service = Ranges::start(None).await;
        let world = Arc::new(world(engine, &service.url).await);
        let begun = tokio::time::Instant::now();
        let tasks = (0..40).map(|n| {
            let world = world.clone();
            tokio::spawn(async move { world.registers(&format!("a{n}@example.org"), LEAKED).await.status })
        });
        for task in tasks.collect::<Vec<_>>() {
            assert_eq!(task.await.unwrap(), StatusCode::OK);
        }
        assert!(service.open.load(Ordering::SeqCst) <= 4, "questions of one network at the same time are few");
        assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
        service.asked();
        assert_eq!(world.registers("late@example.org", LEAKED).await.status, StatusCode::OK);
        assert_eq!(service.asked().len(), 0, "it is left alone");
    }

    async fn network_that_has_a_slow_service_asked_keeps_no_other_from_it(engine) {
        let service = Ranges::start(None).await;
        let leaked_passwords = HashRangeLimits { timeout: Duration::from_secs(120), ..HashRangeLimits::default() };
        let leaked_passwords_url = Some(service.url.clone());
        let world = World::with(engine, Config { leaked_passwords_url, leaked_passwords, ..Config::default() }).await;
        let world = Arc::new(world);
        let token = world.visitor().await;
        let register = |machine: u8, n: usize| {
            let (world, token) = (world.clone(), token.clone());
            tokio::spawn(async move { world.registers_from(machine, &token, &format!("a{machine}-{n}@example.org")).await })
        };
        let open = || service.open.load(Ordering::SeqCst);
        let mut tasks: Vec<_> = (0..40).map(|n| register(1, n)).collect();
        until(|| open() == 4).await;
        tasks.push(register(2, 0));
        until(|| open() == 5 && world.counts().2 == 36).await;
        assert_eq!(open(), 5, "four of the first network, and the other one");
        tasks.iter().for_each(|it| it.abort());
    }

    async fn limits_of_registration_come_before_the_service(engine) {
        let service = Ranges::says("200 OK", &format!("{SUFFIX}:17\r\n")).await;
        let world = world(engine, &service.url).await;
        let mut refused = 0;
        for _ in 0..40 {
            if world.registers("ada@example.org", LEAKED).await.status == StatusCode::TOO_MANY_REQUESTS {
                refused += 1;
            }
        }
        assert_eq!((service.asked().len(), refused), (20, 20), "as many as one account may be tried");
    }
}
