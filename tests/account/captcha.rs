//! A captcha provider, which is a real one here: it listens, checks the secret and takes a token once. And
//! what is tried against it.

use super::*;
use std::{
    future::pending,
    net::{IpAddr, Ipv4Addr},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};
use stoa_identity::{
    DeviceHints, Identity,
    defence::{
        Attempt,
        captcha_provider::ProviderSettings,
        throttle::{Rate, ThrottleLimits},
    },
    policy::PolicyChange,
    sign_in::Registration,
};
use stoa_kernel::{Caller, Code, Secret};
use stoa_outbound::{Exceptions, Reach, ReachConfig, SiteverifyLimits};
use stoa_sql::params;
use stoa_store::{ReaderPool, Site, boxed};
use stoa_testkit::{Provider, local_reach, on_both_engines};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    time::{sleep, timeout},
};

const SECRET: &str = "a-secret-of-the-provider";
const LOGIN: &str = "/v2/login";
const REGISTER: &str = "/v2/register";

fn draft(url: &str) -> ProviderSettings {
    ProviderSettings {
        url: url.to_owned(),
        secret: Secret::new(SECRET),
        visible_key: Some("key-visible".to_owned()),
        invisible_key: Some("key-invisible".to_owned()),
        minimum_score: None,
        script_url: None,
    }
}

fn credentials(email: &str) -> Value {
    json!({ "loginId": { "email": email }, "password": PASSWORD })
}

fn with_token(email: &str, kind: &str, token: &str) -> Value {
    let mut body = credentials(email);
    body["captchaTokens"] = json!([{ kind: token }]);
    body
}

/// A site that asks for a captcha and has a provider.
async fn world(engine: Engine, url: &str, limits: SiteverifyLimits) -> World {
    let world = World::with(engine, Config { siteverify: limits, ..Config::default() }).await;
    world.policy(json!({ "requireCaptcha": true })).await;
    world.app.app.identity.captcha_provider_set(&world.app.site, &draft(url)).await.unwrap();
    world
}

fn impatient() -> SiteverifyLimits {
    SiteverifyLimits { timeout: Duration::from_millis(700), ..SiteverifyLimits::default() }
}

impl World {
    async fn verdict(&self, path: &str, body: &Value) -> String {
        self.call(&self.visitor().await, path, body).await.verdict()
    }

    /// Registers with a token and says how that went.
    async fn tries(&self, email: &str, token: &str) -> String {
        self.verdict(REGISTER, &with_token(email, "Recaptcha", token)).await
    }
}

/// Registers at any site, without a request.
async fn register(identity: &Identity, site: &Arc<Site>, email: &str, token: &str) -> Option<Code> {
    let address = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let attempt = Attempt {
        address,
        visitor: None,
        client: None,
        hints: DeviceHints::default(),
        captcha: Some(token.to_owned()),
    };
    let (password, profile) = (Secret::new(PASSWORD), json!(null));
    let registration = Registration { email: email.to_owned(), password, profile };
    identity.member_register(site, &attempt, &registration).await.err().map(|it| it.code())
}

/// Something that listens and isn't a good provider.
struct Liar {
    url: String,
    /// Connections so far, and those that are open.
    met: Arc<AtomicUsize>,
    most_at_once: Arc<AtomicUsize>,
}

/// What it does with a connection once a request has begun to arrive.
#[derive(Clone)]
enum Lie {
    Says(Vec<u8>),
    /// One byte after the other, for ever.
    Drips,
    NeverAnswers,
    HangsUp,
}

impl Liar {
    async fn start(lie: Lie) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/siteverify", listener.local_addr().unwrap());
        let (met, open, most) = (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default(), Arc::default());
        let liar = Self { url, met: met.clone(), most_at_once: Arc::clone(&most) };
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (lie, open, most) = (lie.clone(), open.clone(), most.clone());
                met.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(async move {
                    most.fetch_max(open.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    lie.tell(stream).await;
                    open.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        liar
    }

    fn met(&self) -> usize {
        self.met.load(Ordering::SeqCst)
    }
}

impl Lie {
    async fn tell(self, mut stream: TcpStream) {
        let mut request = vec![0; 4096];
        let _ = stream.read(&mut request).await;
        match self {
            Self::Says(text) => {
                let _ = stream.write_all(&text).await;
                let _ = stream.shutdown().await;
                // What wasn't read yet must not reset the connection.
                let _ = timeout(Duration::from_secs(5), stream.read_to_end(&mut request)).await;
            }
            Self::Drips => {
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n{").await;
                while stream.write_all(b" ").await.is_ok() {
                    sleep(Duration::from_millis(50)).await;
                }
            }
            Self::NeverAnswers => {
                // Until the other side has had enough.
                while stream.read(&mut request).await.is_ok_and(|it| it > 0) {}
            }
            Self::HangsUp => {}
        }
    }
}

fn http(head: &str, body: &str) -> Lie {
    let length = body.len();
    Lie::Says(format!("HTTP/1.1 {head}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}").into_bytes())
}

/// What the site keeps under a name.
async fn kept(site: &Site, name: &'static str) -> Option<String> {
    let id = site.id.clone();
    let sql = "select value from stoa.setting where site = $1 and name = $2";
    let read =
        site.read(ReaderPool::Point, move |tx| boxed!(Ok(tx.row(sql, &params![&id, name], |row| row.get(0)).await?)));
    read.await.unwrap()
}

async fn keep(site: &Site, name: &'static str, value: String) {
    let sql = "insert into stoa.setting (site, name, value) values ($1, $2, $3) \
               on conflict (site, name) do update set value = excluded.value";
    let write = site.write_with((site.id.clone(), value), move |tx, (id, value)| {
        boxed!(Ok(tx.execute(sql, &params![id, name, value.as_str()]).await?))
    });
    write.await.unwrap();
}

pub(super) async fn require(identity: &Identity, site: &Site) {
    let change = PolicyChange { require_captcha: Some(true), ..PolicyChange::default() };
    identity.policy_update(site, &Caller::App { id: "key".into() }, change).await.unwrap();
}

on_both_engines! {
    async fn captcha_provider_decides(engine) {
        let provider = Provider::start(SECRET).await;
        let world = World::new(engine).await;
        let identity = &world.app.app.identity;
        let get = async |path: &str| {
            let visitor = world.visitor().await;
            send(&world.app, Method::GET, path, &[("authorization", &visitor)], None).await.json()
        };
        let settings = async || get("/_api/site/v1/public-settings").await["captcha"].clone();
        let work = json!({ "kind": "PROOF_OF_WORK", "visibleSiteKey": null, "invisibleSiteKey": null });
        assert_eq!((settings().await, &get("/_api/account/v1/captcha").await["kind"]), (work.clone(), &json!("PROOF_OF_WORK")));

        identity.captcha_provider_set(&world.app.site, &draft(&provider.url)).await.unwrap();
        let keys = json!({ "kind": "PROVIDER", "visibleSiteKey": "key-visible", "invisibleSiteKey": "key-invisible" });
        let mut with_widget = keys.clone();
        (with_widget["widget"], with_widget["scriptUrl"]) = (json!(null), json!(null));
        assert_eq!((settings().await, get("/_api/account/v1/captcha").await), (keys, with_widget));
        assert_eq!(world.verdict(REGISTER, &credentials("a@example.org")).await, "200", "nobody asked for one yet");
        world.policy(json!({ "requireCaptcha": true })).await;

        for path in [REGISTER, LOGIN] {
            assert_eq!(world.verdict(path, &credentials("a@example.org")).await, "400 -19971");
            let empty = with_token("a@example.org", "Recaptcha", "");
            assert_eq!(world.verdict(path, &empty).await, "400 -19971");
            let wrong = with_token("a@example.org", "Recaptcha", "nonsense");
            assert_eq!(world.verdict(path, &wrong).await, "400 -19970");
        }
        assert_eq!(provider.asked().len(), 2);

        // Each place that a client puts its token in, and what is said of it to the provider.
        for (n, kind) in ["Recaptcha", "InvisibleRecaptcha", "NoCaptcha", "recaptchaForClientSiteKey"].iter().enumerate() {
            let (token, email) = (format!("a+b&c=d%{n} ü~{n}"), format!("m{n}@example.org"));
            provider.solved(&token);
            let mut body = with_token(&email, kind, &token);
            if *kind == "recaptchaForClientSiteKey" {
                let id = "3f9a7a9e-2f0b-4b7c-8a57-1f5b8a3a1c11";
                body["captchaTokens"] = json!([{ *kind: { "token": token, "siteKeyId": id } }]);
            }
            assert_eq!(world.verdict(REGISTER, &body).await, "200", "{kind}");
            let form = provider.asked().remove(0);
            let sent: Vec<_> = form.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            assert_eq!(sent, [("response", token.as_str()), ("secret", SECRET)], "the person's address stays here");
            // Not a second time, for any client, and without a question.
            assert_eq!(world.tries(&format!("n{n}@example.org"), &token).await, "400 -19970");
            assert_eq!(world.verdict(LOGIN, &with_token(&email, "NoCaptcha", &token)).await, "400 -19970");
            assert_eq!(provider.asked().len(), 0);
        }
        provider.solved("for signing in");
        assert_eq!(world.verdict(LOGIN, &with_token("m0@example.org", "Recaptcha", "for signing in")).await, "200");

        // Too long for any token, and not worth a question.
        provider.asked();
        for length in [5_000, 5_001] {
            let long = "x".repeat(length);
            provider.solved(&long);
            let wants = if length == 5_000 { "200" } else { "400 -19970" };
            assert_eq!(world.tries(&format!("l{length}@example.org"), &long).await, wants);
        }
        assert_eq!(provider.asked().len(), 1);

        // Work is no answer here; and where it is one, no token is.
        identity.captcha_provider_remove(&world.app.site).await.unwrap();
        assert_eq!(settings().await, work);
        let (answer, other) = (world.captcha().await, world.captcha().await);
        provider.solved("late");
        assert_eq!(world.tries("w@example.org", "late").await, "400 -19970");
        assert_eq!(world.tries("w@example.org", &answer).await, "200");
        identity.captcha_provider_set(&world.app.site, &draft(&provider.url)).await.unwrap();
        assert_eq!(world.tries("v@example.org", &other).await, "400 -19970");
        assert_eq!(world.tries("v@example.org", "late").await, "200", "nobody had used it up");
    }

    async fn captcha_token_passes_once_among_a_hundred(engine) {
        // This provider forgets what was used, so it is up to us.
        let provider = Provider::lax(SECRET).await;
        let world = Arc::new(world(engine, &provider.url, SiteverifyLimits::default()).await);
        provider.solved("once");
        let visitor = world.visitor().await;
        let tasks: Vec<_> = (0..100)
            .map(|n| {
                let (world, visitor) = (world.clone(), visitor.clone());
                tokio::spawn(async move {
                    let body = with_token(&format!("p{n}@example.org"), "Recaptcha", "once");
                    world.call(&visitor, REGISTER, &body).await.verdict()
                })
            })
            .collect();
        let mut seen = BTreeMap::<String, usize>::new();
        for task in tasks {
            *seen.entry(task.await.unwrap()).or_default() += 1;
        }
        assert_eq!(seen.remove("200"), Some(1), "{seen:?}");
        assert!(seen.keys().all(|it| it == "400 -19970" || it == "503 UNAVAILABLE"), "{seen:?}");
        world.app.kit.clock.advance(30 * 60_000);
        assert_eq!(world.tries("later@example.org", "once").await, "400 -19970");
    }

    async fn failing_provider_lets_no_request_pass(engine) {
        let good = Provider::start(SECRET).await;
        let world = world(engine, &good.url, impatient()).await;
        let identity = &world.app.app.identity;
        let yes = r#"{"success":true}"#;
        let huge = format!("{}{yes}", " ".repeat(64 * 1024));
        let endless = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_owned()
            + &format!("1000\r\n{}\r\n", " ".repeat(4096)).repeat(64);
        let mut lies = vec![
            ("garbage", http("200 OK", "<html>yes</html>")),
            ("nothing", http("200 OK", "")),
            ("half", http("200 OK", "{\"success\":true")),
            ("text", http("200 OK", "{\"success\":\"true\"}")),
            ("500", http("500 Internal Server Error", yes)),
            ("503", http("503 Service Unavailable", yes)),
            ("403", http("403 Forbidden", "{\"success\":false}")),
            ("huge", http("200 OK", &huge)),
            ("endless", Lie::Says(endless.into_bytes())),
            ("not HTTP", Lie::Says(b"220 mail.example.org ESMTP\r\n".to_vec())),
            ("cut off", Lie::Says(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"success\":true}".to_vec())),
            ("our secret", http("200 OK", "{\"success\":false,\"error-codes\":[\"invalid-input-secret\"]}")),
            ("hangs up", Lie::HangsUp),
            ("drips", Lie::Drips),
            ("never", Lie::NeverAnswers),
        ];
        // To somebody who says yes to everything: the secret goes nowhere but where it was sent.
        let yes_man = Liar::start(http("200 OK", yes)).await;
        for status in ["301 Moved", "302 Found", "303 See Other", "307 Temporary Redirect", "308 Permanent Redirect"] {
            lies.push(("redirect", http(&format!("{status}\r\nLocation: {}", yes_man.url), yes)));
        }
        good.solved("token");
        for (name, lie) in lies {
            let liar = Liar::start(lie).await;
            identity.captcha_provider_set(&world.app.site, &draft(&liar.url)).await.unwrap();
            let body = with_token("a@example.org", "Recaptcha", "token");
            let asking = world.visitor().await;
            let reply = timeout(Duration::from_secs(20), world.call(&asking, REGISTER, &body)).await.unwrap();
            assert_eq!(reply.verdict(), "503 UNAVAILABLE", "{name}");
            assert_eq!(reply.headers["retry-after"], "5", "{name}");
            let body = String::from_utf8_lossy(&reply.body).into_owned();
            assert!(!body.contains(SECRET) && !body.contains("siteverify") && !body.contains("127.0.0.1"), "{body}");
            assert_eq!(liar.met(), 1, "{name}: asked once");
        }
        // No server listens.
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let nowhere = format!("http://{}/", listener.local_addr().unwrap());
        drop(listener);
        identity.captcha_provider_set(&world.app.site, &draft(&nowhere)).await.unwrap();
        assert_eq!(world.tries("a@example.org", "token").await, "503 UNAVAILABLE");
        // Signing in fails no other way, and the pages say that it is busy.
        assert_eq!(world.verdict(LOGIN, &with_token("a@example.org", "Recaptcha", "token")).await, "503 UNAVAILABLE");
        let browser = world.browser();
        let token = text(&browser.start(json!({ "kind": "SIGN_UP" })).await["token"]);
        let up = json!({ "type": "SIGN_UP", "email": "a@example.org", "password": PASSWORD, "profile": {}, "captcha": "token" });
        let path = format!("/_api/account/v1/flows/{token}");
        assert_eq!(browser.ask(Method::POST, &path, Some(&up)).await.verdict(), "503 UNAVAILABLE");

        // None of that used anything up.
        assert!(good.asked().is_empty());
        assert_eq!(yes_man.met(), 0, "no redirect was followed");
        identity.captcha_provider_set(&world.app.site, &draft(&good.url)).await.unwrap();
        assert_eq!(browser.answer(&token, up).await["step"]["type"], "DONE");
        assert_eq!(world.tries("b@example.org", "token").await, "400 -19970");
    }

    async fn slow_provider_holds_up_its_own_site_only(engine) {
        let (slow, good) = (Liar::start(Lie::NeverAnswers).await, Provider::start(SECRET).await);
        let timeout = Duration::from_secs(4);
        let limits = SiteverifyLimits { timeout, at_once: 2, waiting: 2, in_all: 8 };
        let world = Arc::new(world(engine, &slow.url, limits).await);
        let identity = world.app.app.identity.clone();
        let other = world.app.kit.store.site_create("Other", &world.app.kit.world).await.unwrap();
        identity.captcha_provider_set(&other, &draft(&good.url)).await.unwrap();
        require(&identity, &other).await;
        let tasks: Vec<_> = (0..20)
            .map(|n| {
                let (identity, site) = (identity.clone(), world.app.site.clone());
                let email = format!("p{n}@example.org");
                tokio::spawn(async move { register(&identity, &site, &email, "token").await })
            })
            .collect();
        while slow.met() < 2 {
            sleep(Duration::from_millis(10)).await;
        }
        // Sixteen were refused without waiting; meanwhile another site's members come in.
        while tasks.iter().filter(|it| it.is_finished()).count() < 16 {
            sleep(Duration::from_millis(10)).await;
        }
        good.solved("token");
        assert_eq!(register(&identity, &other, "a@example.org", "token").await, None);
        assert_eq!(slow.most_at_once.load(Ordering::SeqCst), 2);
        for task in tasks {
            assert_eq!(task.await.unwrap(), Some(Code::Unavailable));
        }
        assert!(slow.most_at_once.load(Ordering::SeqCst) <= 2 && slow.met() <= 4);
        // No request waits in line forever.
        good.solved("after");
        identity.captcha_provider_set(&world.app.site, &draft(&good.url)).await.unwrap();
        assert_eq!(register(&identity, &world.app.site, "b@example.org", "after").await, None);
    }

    async fn disconnected_client_keeps_its_permit(engine) {
        let slow = Liar::start(Lie::NeverAnswers).await;
        let timeout = Duration::from_secs(2);
        let limits = SiteverifyLimits { timeout, at_once: 2, waiting: 0, in_all: 2 };
        let world = world(engine, &slow.url, limits).await;
        let (identity, site) = (&world.app.app.identity, &world.app.site);
        for n in 1..=2 {
            let asking = register(identity, site, "a@example.org", "token");
            tokio::select! {
                _ = asking => panic!("it never answers"),
                () = async { while slow.met() < n { sleep(Duration::from_millis(10)).await } } => {}
            }
        }
        // Both have gone, but their questions are still open: there is no room for a third.
        assert_eq!(register(identity, site, "a@example.org", "token").await, Some(Code::Unavailable));
        assert_eq!(slow.met(), 2);
        let good = Provider::start(SECRET).await;
        good.solved("token");
        identity.captcha_provider_set(site, &draft(&good.url)).await.unwrap();
        for _ in 0..1_000 {
            match register(identity, site, "a@example.org", "token").await {
                Some(Code::Unavailable) => sleep(Duration::from_millis(10)).await,
                done => return assert_eq!(done, None),
            }
        }
        pending::<()>().await;
    }

    async fn tokens_and_secrets_belong_to_one_site(engine) {
        let (here, there) = (Provider::start(SECRET).await, Provider::start("another-secret").await);
        let world = world(engine, &here.url, SiteverifyLimits::default()).await;
        let identity = &world.app.app.identity;
        let other = world.app.kit.store.site_create("Other", &world.app.kit.world).await.unwrap();
        let other_account = ProviderSettings { secret: Secret::new("another-secret"), ..draft(&there.url) };
        identity.captcha_provider_set(&other, &other_account).await.unwrap();
        require(identity, &other).await;
        here.solved("of here");
        there.solved("of there");
        assert_eq!(register(identity, &world.app.site, "a@example.org", "of there").await, Some(Code::CaptchaInvalid));
        assert_eq!(register(identity, &other, "a@example.org", "of here").await, Some(Code::CaptchaInvalid));
        assert_eq!(register(identity, &world.app.site, "a@example.org", "of here").await, None);
        assert_eq!(register(identity, &other, "a@example.org", "of there").await, None);

        // A wrong secret is our fault and not the client's.
        identity.captcha_provider_set(&world.app.site, &draft(&there.url)).await.unwrap();
        there.solved("of there again");
        assert_eq!(register(identity, &world.app.site, "b@example.org", "of there again").await, Some(Code::Unavailable));
    }

    async fn secret_is_encrypted_for_its_location(engine) {
        let good = Provider::start(SECRET).await;
        let world = world(engine, &good.url, SiteverifyLimits::default()).await;
        let (identity, site) = (&world.app.app.identity, &world.app.site);
        good.solved("token");
        let stored = kept(site, "captcha provider").await.unwrap();
        assert!(!stored.contains(SECRET) && stored.contains(&good.url), "{stored}");

        // In no file, whatever else is there.
        let mut files = vec![world.app.kit.data()];
        let mut bytes = 0;
        while let Some(path) = files.pop() {
            if path.is_dir() {
                files.extend(std::fs::read_dir(path).unwrap().map(|it| it.unwrap().path()));
            } else if let Ok(content) = std::fs::read(&path) {
                bytes += content.len();
                assert!(!content.windows(SECRET.len()).any(|it| it == SECRET.as_bytes()), "{}", path.display());
            }
        }
        assert!(engine == Engine::Postgres || bytes > 10_000);

        // Who can write into the tables still can't have it sent anywhere else, nor lend it to another site.
        let thief = Provider::start(SECRET).await;
        thief.solved("token");
        keep(site, "captcha provider", stored.replace(&good.url, &thief.url)).await;
        assert_eq!(register(identity, site, "a@example.org", "token").await, Some(Code::Unavailable));
        let other = world.app.kit.store.site_create("Other", &world.app.kit.world).await.unwrap();
        require(identity, &other).await;
        keep(&other, "captcha provider", stored.clone()).await;
        assert_eq!(register(identity, &other, "a@example.org", "token").await, Some(Code::Unavailable));
        assert!(thief.asked().is_empty() && good.asked().is_empty());
        keep(site, "captcha provider", stored).await;
        assert_eq!(register(identity, site, "a@example.org", "token").await, None);

        // Another node, or this one after a restart, opens it as well.
        let (store, mail) = (world.app.kit.store.clone(), world.app.mail.clone());
        let opened = Identity::open(store, world.app.kit.world.clone(), mail, local_reach(), Config::default());
        let node = opened.await.unwrap();
        good.solved("another");
        assert_eq!(register(&node, site, "b@example.org", "another").await, None);
    }

    async fn provider_inside_the_network_is_not_asked(engine) {
        let provider = Provider::start(SECRET).await;
        let world = world(engine, &provider.url, SiteverifyLimits::default()).await;
        let site = &world.app.site;
        let open = async |exceptions: Exceptions| {
            let (store, mail) = (world.app.kit.store.clone(), world.app.mail.clone());
            let reach = ReachConfig { exceptions, ..ReachConfig::default() };
            let reach = Reach::new(&reach, world.app.kit.world.clone()).unwrap();
            Identity::open(store, world.app.kit.world.clone(), mail, reach, Config::default()).await.unwrap()
        };
        // The same site, on a server whose operator allows nothing: neither asked nor set.
        let strict = open(Exceptions::default()).await;
        provider.solved("token");
        assert_eq!(register(&strict, site, "a@example.org", "token").await, Some(Code::Unavailable));
        let refused = strict.captcha_provider_set(site, &draft(&provider.url)).await.err().unwrap();
        assert_eq!((refused.code(), refused.violations()[0].field.as_str()), (Code::Validation, "url"));
        assert!(provider.asked().is_empty());
        // And on one whose operator names the network.
        let allow = vec!["127.0.0.1/32".parse().unwrap()];
        let open = open(Exceptions { allow, ..Exceptions::default() }).await;
        open.captcha_provider_set(site, &draft(&provider.url)).await.unwrap();
        assert_eq!(register(&open, site, "a@example.org", "token").await, None);
        assert_eq!(provider.asked().len(), 1);
    }

    async fn score_threshold_can_be_set(engine) {
        let provider = Provider::start(SECRET).await;
        let world = world(engine, &provider.url, SiteverifyLimits::default()).await;
        let draft = ProviderSettings { minimum_score: Some(0.5), ..draft(&provider.url) };
        world.app.app.identity.captcha_provider_set(&world.app.site, &draft).await.unwrap();
        for (n, (score, wants)) in [(None, "400 -19970"), (Some(0.1), "400 -19970"), (Some(0.49), "400 -19970"),
            (Some(0.5), "200"), (Some(0.9), "200")].into_iter().enumerate() {
            provider.solved_with(&format!("t{n}"), score);
            assert_eq!(world.tries(&format!("m{n}@example.org"), &format!("t{n}")).await, wants, "{score:?}");
        }
    }

    async fn malformed_tokens_are_not_forwarded_forever(engine) {
        let provider = Provider::start(SECRET).await;
        let throttle = ThrottleLimits { captcha: Rate { burst: 3.0, per_second: 0.1 }, ..ThrottleLimits::default() };
        let world = World::with(engine, Config { throttle, ..Config::default() }).await;
        world.policy(json!({ "requireCaptcha": true })).await;
        world.app.app.identity.captcha_provider_set(&world.app.site, &draft(&provider.url)).await.unwrap();
        for n in 0..5 {
            provider.solved(&format!("good {n}"));
            assert_eq!(world.tries(&format!("m{n}@example.org"), &format!("good {n}")).await, "200", "what succeeds doesn't count");
        }
        provider.asked();
        for n in 0..6 {
            let wants = if n < 3 { "400 -19970" } else { "429 THROTTLED_FEATURE" };
            assert_eq!(world.tries("x@example.org", &format!("bad {n}")).await, wants);
        }
        assert_eq!(provider.asked().len(), 3);
        world.app.kit.clock.advance(10_000);
        provider.solved("good again");
        assert_eq!(world.tries("x@example.org", "good again").await, "200");
    }
}
