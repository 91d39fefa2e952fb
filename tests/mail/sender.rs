//! In whose name a site's messages are sent (decision 57).

use crate::account::{World, text};
use axum::http::Method;
use serde_json::{Value, json};
use std::sync::Arc;
use stoa_kernel::Caller;
use stoa_outbound::{Letter, Mailer, Sending};
use stoa_testkit::{Engine, Reply, TestApp, TestClient, on_both_engines};

const PASSWORD: &str = "correct horse battery";
const PATH: &str = "/_api/site/v1/mail-sender";

fn operator() -> Caller {
    Caller::App { id: "command-line".into() }
}

async fn set(who: &TestClient<'_>, body: Value) -> Reply {
    who.send(Method::PATCH, PATH, Some(body.to_string().into())).await
}

async fn allow(app: &TestApp, domain: &str) {
    app.app.identity.mail_domains_change(&app.site, &operator(), &[domain.to_owned()], &[]).await.unwrap();
}

async fn register(app: &TestApp, email: &str) -> String {
    let body = json!({ "loginId": { "email": email }, "password": PASSWORD });
    app.visitor().await.post("/v2/register", &body).await.json()["state"].as_str().unwrap().to_owned()
}

async fn must_verify(app: &TestApp) {
    let policy = json!({ "signOnPolicy": { "requireEmailVerification": true } });
    let reply = app.app().send(Method::PATCH, "/v1/sign-on-policies", Some(policy.to_string().into())).await;
    assert_eq!(reply.status, 200);
}

/// The next message to an address.
async fn letter_to(app: &TestApp, email: &str) -> Letter {
    for _ in 0..1_500 {
        if let Some(found) = app.mail.take_letters().into_iter().find(|it| it.mail.to == email) {
            return found;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    panic!("no message to {email}")
}

fn from(letter: &Letter) -> (&str, Option<&str>, Option<&str>) {
    (&letter.from_name, letter.from_address.as_deref(), letter.reply_to.as_deref())
}

/// A mail server whose address has a name that stands before it for every site.
struct Named(Arc<stoa_outbound::Recorder>);

impl Mailer for Named {
    fn send<'a>(&'a self, letter: &'a Letter) -> Sending<'a> {
        self.0.send(letter)
    }

    fn fixed_name(&self) -> Option<&str> {
        Some("Host")
    }
}

fn violation(reply: &Reply) -> (String, String) {
    let body = reply.json();
    let first = &body["details"]["validationError"]["fieldViolations"][0];
    (
        first["field"].as_str().unwrap_or_default().to_owned(),
        first["description"].as_str().unwrap_or_default().to_owned(),
    )
}

on_both_engines! {
    async fn messages_are_in_the_name_that_the_site_chose(engine) {
        let world = World::new(engine).await;
        let app = &world.app;
        must_verify(app).await;
        assert_eq!(app.app().get(PATH).await.json(), json!({ "mailSender": { "allowedDomains": [] } }));
        assert_eq!(register(app, "ada@example.org").await, "REQUIRE_EMAIL_VERIFICATION");
        assert_eq!(from(&letter_to(app, "ada@example.org").await), ("Test", None, None));

        allow(app, "rooms.example").await;
        let sender = json!({ "name": "The Reading Room", "address": "hello@rooms.example", "replyTo": "help@elsewhere.example" });
        let reply = set(&app.app(), json!({ "mailSender": sender })).await.json();
        assert_eq!(reply["mailSender"]["allowedDomains"], json!(["rooms.example"]));
        let own = ("The Reading Room", Some("hello@rooms.example"), Some("help@elsewhere.example"));
        register(app, "bob@example.org").await;
        assert_eq!(from(&letter_to(app, "bob@example.org").await), own, "a code");
        let visitor = app.visitor().await;
        assert_eq!(visitor.post("/v1/send-email", &json!({ "email": "bob@example.org" })).await.verdict(), "200");
        assert_eq!(from(&letter_to(app, "bob@example.org").await), own, "a link");

        // What goes to those who run sites is as before.
        app.owner().await;
        let browser = world.browser();
        let token = text(&browser.start(json!({ "kind": "OWNER_SIGN_IN" })).await["token"]);
        let email = "owner@example.org";
        browser.answer(&token, json!({ "type": "SWITCH", "to": "RECOVER", "email": email })).await;
        browser.answer(&token, json!({ "type": "RECOVER_REQUEST", "email": email })).await;
        assert_eq!(from(&letter_to(app, "owner@example.org").await), ("Test", None, None));

        // Another site of the server has none of it.
        let other = app.kit.store.site_create("Other", &app.kit.world).await.unwrap();
        assert_eq!(app.app.identity.mail_sender(&other, &operator()).await.unwrap(), Default::default());

        let gone = json!({ "mailSender": { "name": null, "address": null, "replyTo": null } });
        assert_eq!(set(&app.app(), gone).await.json()["mailSender"], json!({ "allowedDomains": ["rooms.example"] }));
        register(app, "eve@example.org").await;
        assert_eq!(from(&letter_to(app, "eve@example.org").await), ("Test", None, None));
        let events = app.app().get("/_api/identity/v1/audit?event=mail_sender_change").await.json();
        assert_eq!(events["entries"].as_array().map(Vec::len), Some(3), "{events}");
    }

    async fn site_sends_from_no_domain_but_those_it_was_allowed(engine) {
        let app = TestApp::new(engine).await;
        let address = |it: &str| json!({ "mailSender": { "address": it } });
        let why = "the operator of the server has allowed this site no address in ";
        allow(&app, "rooms.example").await;
        for (it, domain) in [
            ("ceo@bank.example", "bank.example"),
            ("ceo@mail.rooms.example", "mail.rooms.example"),
            ("ceo@xrooms.example", "xrooms.example"),
            ("ceo@rooms.example.bank.example", "rooms.example.bank.example"),
        ] {
            let reply = set(&app.app(), address(it)).await;
            assert_eq!(violation(&reply), ("mailSender.address".to_owned(), format!("{why}{domain}")));
        }
        for it in [
            "a@rooms.example\r\nBcc: eve@bank.example", "a@rooms.example,b@bank.example", "b@bank.example <a@rooms.example>",
            "b@bank.example@rooms.example", "a@rooms.example>", "\"b@bank.example\"@rooms.example", "a@rooms.example ", "rooms.example", "",
        ] {
            let reply = set(&app.app(), address(it)).await;
            assert_eq!((reply.verdict().as_str(), violation(&reply).0.as_str()), ("400 validationError", "mailSender.address"), "{it:?}");
        }
        let more = json!({ "mailSender": { "allowedDomains": ["rooms.example", "bank.example"], "address": "ceo@bank.example" } });
        assert_eq!(violation(&set(&app.app(), more).await).0, "mailSender.allowedDomains", "no call allows a domain");
        assert_eq!(set(&app.app(), address("Hello@Rooms.example")).await.verdict(), "200");

        // What is allowed one site is not allowed another.
        let other = app.kit.store.site_create("Other", &app.kit.world).await.unwrap();
        let change = stoa_identity::mail::SenderChange::parse(&address("hello@rooms.example")).unwrap();
        let here = std::net::IpAddr::from([127, 0, 0, 1]);
        assert!(app.app.identity.mail_sender_update(&other, &operator(), here, change, None).await.is_err());

        // Taken back, nothing is sent from there any more.
        app.app.identity.mail_domains_change(&app.site, &operator(), &[], &["ROOMS.example".to_owned()]).await.unwrap();
        assert_eq!(app.app().get(PATH).await.json(), json!({ "mailSender": { "allowedDomains": [] } }));
        must_verify(&app).await;
        register(&app, "ada@example.org").await;
        assert_eq!(from(&letter_to(&app, "ada@example.org").await), ("Test", None, None));
    }

    async fn owner_shows_the_password_and_no_other_person_may(engine) {
        let app = TestApp::new(engine).await;
        let (visitor, member, editor, owner) =
            (app.visitor().await, app.member("ada@example.org").await, app.editor().await, app.owner().await);
        let change = |password: Value| json!({ "mailSender": { "name": "Mine" }, "password": password });
        for who in [&visitor, &member, &editor] {
            assert_eq!(who.get(PATH).await.verdict(), "403 PERMISSION_DENIED");
            assert_eq!(set(who, change(json!(PASSWORD))).await.verdict(), "403 PERMISSION_DENIED");
            assert_eq!(set(who, json!({})).await.verdict(), "403 PERMISSION_DENIED", "nor learns what is wrong");
        }
        assert_eq!(owner.get(PATH).await.verdict(), "200");
        assert_eq!(violation(&set(&owner, change(Value::Null)).await).0, "password");
        assert_eq!(violation(&set(&owner, change(json!(5))).await).0, "password");
        assert_eq!(set(&owner, change(json!(PASSWORD))).await.json()["mailSender"]["name"], "Mine");
        // A stolen session guesses as often as one who signs in.
        let mut verdicts = Vec::new();
        for n in 0..30 {
            verdicts.push(set(&owner, change(json!(format!("guess number {n}")))).await.verdict());
        }
        let wrong = verdicts.iter().take_while(|it| *it == "401 -19976").count();
        assert!((1..=20).contains(&wrong), "{verdicts:?}");
        assert!(verdicts[wrong..].iter().all(|it| it == "429 THROTTLED_FEATURE"), "{verdicts:?}");
        assert_eq!(set(&owner, change(json!(PASSWORD))).await.status, 429);
        assert_eq!(app.app().get(PATH).await.json()["mailSender"]["name"], "Mine");
    }

    async fn no_scope_opens_the_sender(engine) {
        let app = TestApp::new(engine).await;
        allow(&app, "rooms.example").await;
        let change = json!({ "mailSender": { "name": "Bank", "address": "a@rooms.example", "replyTo": "eve@elsewhere.example" } });
        let everything = "items:write collections:write members:write members:sign-in site:write";
        for held in [app.key(everything).await, app.installed(everything).await] {
            assert_eq!(set(&held, change.clone()).await.verdict(), "403 INSUFFICIENT_SCOPE");
            assert_eq!(held.get(PATH).await.json(), json!({ "mailSender": { "allowedDomains": ["rooms.example"] } }));
        }
        assert_eq!(set(&app.app(), change).await.verdict(), "200", "a key with full rights");
    }

    async fn name_that_the_server_would_not_show_is_refused(engine) {
        let app = named(engine).await;
        let name = json!({ "mailSender": { "name": "Mine" } });
        let says = "this server sends in the name Host for every site without an address of its own";
        assert_eq!(violation(&set(&app.app(), name).await), ("mailSender.name".to_owned(), says.to_owned()));
        allow(&app, "rooms.example").await;
        let both = json!({ "mailSender": { "name": "Mine", "address": "a@rooms.example" } });
        assert_eq!(set(&app.app(), both).await.verdict(), "200");
    }
}

async fn named(engine: Engine) -> TestApp {
    TestApp::with_mailer(engine, Some(Arc::new(Named(Arc::default())))).await
}
