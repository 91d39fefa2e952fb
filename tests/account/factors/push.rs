//! Web Push as second factor, with a push service that listens, checks who sends and opens what a browser is sent: the way through,
//! on pages and by calls. What others try is in `push_attacks`, how often browsers are asked in `push_limits`.

use super::{
    phone::{field, offered},
    *,
};
use std::ops::Deref;
use stoa_identity::defence::throttle::{Rate, ThrottleLimits};
use stoa_sql::params;
use stoa_testkit::PushService;

pub(super) const MINUTE: i64 = 60_000;
pub(super) const THROTTLED: &str = "429 THROTTLED_FEATURE";
const QUESTIONS: &str = "/_api/identity/v1/push-questions";

/// A site whose members enrol browsers of a push service.
pub(super) struct Pushes {
    world: World,
    pub service: PushService,
}

impl Deref for Pushes {
    type Target = World;

    fn deref(&self) -> &World {
        &self.world
    }
}

/// A member with a browser of the name of their address.
pub(super) struct Holder {
    pub email: String,
    /// Of the session in which it was added.
    pub access: String,
    pub id: String,
    pub recovery_codes: Vec<String>,
}

/// A sign-in that has asked.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    /// The state token of the answer.
    pub state: Value,
    pub id: String,
    pub number: String,
    /// What the browser got.
    pub token: String,
}

impl Asked {
    /// Two digits that are others.
    pub fn wrong_number(&self) -> String {
        let number: u32 = self.number.parse().unwrap();
        format!("{:02}", (number + 1) % 100)
    }
}

impl Pushes {
    /// One network may ask as often as tests do.
    pub async fn new(engine: Engine) -> Self {
        let address = Rate { burst: 10_000.0, per_second: 100.0 };
        let throttle = ThrottleLimits { address, ..ThrottleLimits::default() };
        let world = World::with(engine, Config { throttle, ..Config::default() }).await;
        world.policy(json!({ "secondFactor": "OPTIONAL" })).await;
        Self { world, service: PushService::start().await }
    }

    pub async fn begin(&self, access: &str, browser: &str) -> Reply {
        let subscription = self.service.subscribe(browser);
        self.post_own(access, "factors", json!({ "type": "PUSH", "subscription": subscription })).await
    }

    /// Enrols a browser in a session that has proved who the member is: the id of its factor, and what confirmed it.
    pub async fn add(&self, access: &str, browser: &str) -> (String, Value) {
        let begun = self.begin(access, browser).await;
        assert_eq!(begun.verdict(), "200", "{}", begun.json());
        let code = self.service.next(1).await.remove(0).content["code"].clone();
        let id = text(&begun.json()["factor"]["id"]);
        let confirmed = self.post_own(access, &format!("factors/{id}/confirm"), json!({ "code": code })).await;
        assert_eq!(confirmed.verdict(), "200", "{}", confirmed.json());
        (id, confirmed.json())
    }

    pub async fn holder(&self, email: &str) -> Holder {
        let access = self.member_access(email).await;
        assert_eq!(self.prove(&access, json!({ "password": PASSWORD })).await, "200");
        let (id, confirmed) = self.add(&access, email).await;
        let recovery_codes = confirmed["recoveryCodes"].as_array().unwrap().iter().map(text).collect();
        self.app.mail.take();
        Holder { email: email.to_owned(), access, id, recovery_codes }
    }

    /// A state token of one who has shown the password.
    pub async fn waiting(&self, holder: &Holder) -> Value {
        let asked = self.login(&holder.email, PASSWORD).await;
        assert_eq!((&asked["state"], offered(&asked)), (&json!("MFA_CHALLENGE"), vec!["PUSH", "RECOVERY_CODE"]));
        asked["stateToken"].clone()
    }

    pub async fn ask(&self, state: &Value) -> Reply {
        let body = json!({ "stateToken": state, "pushData": {} });
        self.call(&self.visitor().await, "/v2/PUSH/verify", &body).await
    }

    /// Asks the one browser of the member.
    pub async fn asked_with(&self, state: &Value) -> Asked {
        let asked = self.ask(state).await;
        assert_eq!(asked.verdict(), "200", "{}", asked.json());
        let asked = asked.json();
        let token = text(&self.service.next(1).await[0].content["token"]);
        let data = &asked["mfaChallengeData"]["verificationChallengeData"];
        let (id, number) = (text(&data["pushData"]["transactionId"]), text(&data["hint"]));
        Asked { state: asked["stateToken"].clone(), id, number, token }
    }

    pub async fn asked(&self, holder: &Holder) -> Asked {
        self.asked_with(&self.waiting(holder).await).await
    }

    /// How a question stands for one who waits.
    pub async fn stands(&self, state: &Value, id: &str) -> Reply {
        let body = json!({ "stateToken": state, "pushData": { "transactionId": id } });
        self.call(&self.visitor().await, "/v2/PUSH/verify", &body).await
    }

    pub async fn question(&self, token: &str) -> Reply {
        self.browser().ask(Method::POST, QUESTIONS, Some(&json!({ "token": token }))).await
    }

    pub async fn answer(&self, token: &str, answer: Value) -> Reply {
        let mut body = json!({ "token": token });
        body.as_object_mut().unwrap().extend(answer.as_object().unwrap().clone());
        self.browser().ask(Method::POST, &format!("{QUESTIONS}/answer"), Some(&body)).await
    }

    pub async fn approve(&self, asked: &Asked) -> String {
        self.answer(&asked.token, json!({ "number": asked.number })).await.verdict()
    }

    pub async fn deny(&self, asked: &Asked) -> String {
        self.answer(&asked.token, json!({ "denied": true })).await.verdict()
    }

    pub async fn list(&self, access: &str) -> Value {
        self.own(access, Method::GET, "factors", json!({})).await.json()
    }

    /// Shows in a session by the browser who the member is.
    pub async fn prove_by_push(&self, access: &str) -> String {
        let asked = self.post_own(access, "proof", json!({ "pushData": {} })).await.json();
        let token = text(&self.service.next(1).await[0].content["token"]);
        let transaction = json!({ "pushData": asked["pushData"] });
        let waits = self.post_own(access, "proof", transaction.clone()).await.json();
        assert_eq!((&waits["hint"], &waits["pushData"]), (&asked["hint"], &asked["pushData"]), "{waits}");
        assert_eq!(self.answer(&token, json!({ "number": asked["hint"] })).await.verdict(), "200");
        self.prove(access, transaction).await
    }
}

impl Browser<'_> {
    /// Has the member's browsers asked from the view of a second factor.
    pub(super) async fn ask_push(&self, view: &Value, remember: bool) -> Value {
        let input = json!({ "type": "SECOND_FACTOR", "factor": "PUSH", "code": "", "remember": remember });
        self.answer(&text(&view["token"]), input).await
    }
}

pub(super) fn at(view: &Value) -> (&str, Option<&str>) {
    (view["step"]["type"].as_str().unwrap(), view["problems"][0]["code"].as_str())
}

on_both_engines! {
    async fn member_enrols_a_browser_signs_in_by_it_and_removes_it(engine) {
        let world = Pushes::new(engine).await;
        let access = world.member_access("anna@example.org").await;
        world.app.mail.take();
        assert_eq!(world.begin(&access, "laptop").await.verdict(), NEEDED);
        assert_eq!(world.prove(&access, json!({ "password": PASSWORD })).await, "200");
        let begun = world.begin(&access, "laptop").await;
        assert_eq!(begun.headers["cache-control"], "no-store");
        let begun = begun.json();
        let id = text(&begun["factor"]["id"]);
        assert_eq!(begun["factor"], json!({ "id": id, "type": "PUSH", "name": "Browser" }));
        let sent = world.service.next(1).await.remove(0);
        let code = text(&sent.content["code"]);
        let expires = world.app.kit.world.now() + 10 * MINUTE;
        let content = json!({ "kind": "code", "site": "Test", "code": code, "expires": expires, "locale": "en" });
        assert_eq!((sent.name.as_str(), sent.topic.as_str(), sent.content), ("laptop", "code", content));
        assert!(world.subjects().await.is_empty(), "it goes to the browser alone");
        // It is asked for once its code was shown.
        assert_eq!(world.login("anna@example.org", PASSWORD).await["state"], "SUCCESS");
        let confirm = format!("factors/{id}/confirm");
        let wrong = format!("{:06}", (code.parse::<u32>().unwrap() + 1) % 1_000_000);
        assert_eq!(world.post_own(&access, &confirm, json!({ "code": wrong })).await.verdict(), WRONG);
        let confirmed = world.post_own(&access, &confirm, json!({ "code": code })).await.json();
        assert_eq!(confirmed["recoveryCodes"].as_array().map(Vec::len), Some(10), "{confirmed}");
        assert_eq!(world.post_own(&access, &confirm, json!({ "code": code })).await.verdict(), "404 NOT_FOUND", "twice");
        assert_eq!(world.subjects().await, ["Your account at Test asks for a second step now"]);
        // What browser it is is stored encrypted.
        let sql = "select sealed from stoa.factor";
        let sealed = world.app.site.read(ReaderPool::Point, move |tx| boxed!(Ok(tx.row(sql, &[], |row| row.get::<Vec<u8>>(0)).await?)));
        let sealed = sealed.await.unwrap().unwrap();
        assert!(!sealed.windows(9).any(|it| it == b"127.0.0.1"));

        // The password alone asks nothing.
        let asked = world.login("anna@example.org", PASSWORD).await;
        assert_eq!((&asked["mfaChallengeData"]["factorType"], offered(&asked)), (&json!("PUSH"), vec!["PUSH", "RECOVERY_CODE"]));
        assert!(world.service.is_quiet().await);
        let sent = world.ask(&asked["stateToken"]).await.json();
        let data = &sent["mfaChallengeData"]["verificationChallengeData"];
        let number = text(&data["hint"]);
        assert!(number.len() == 2 && number.bytes().all(|it| it.is_ascii_digit()), "{number}");
        assert!(text(&sent["stateToken"]).len() <= 1_000);
        let pushed = world.service.next(1).await.remove(0);
        let token = text(&pushed.content["token"]);
        let expires = world.app.kit.world.now() + 2 * MINUTE;
        let content = json!({ "kind": "question", "for": "SIGN_IN", "site": "Test", "token": token, "expires": expires, "locale": "en" });
        assert_eq!((pushed.topic.as_str(), pushed.content), ("question", content), "the number is not in it");
        let transaction = text(&data["pushData"]["transactionId"]);
        let waits = world.stands(&sent["stateToken"], &transaction).await.json();
        assert_eq!((&waits["state"], &waits["mfaChallengeData"]["verificationChallengeData"]), (&json!("MFA_CHALLENGE"), data));
        assert!(world.service.is_quiet().await, "it was asked once");
        let shown = world.question(&token).await;
        assert_eq!(shown.headers["cache-control"], "no-store");
        let shown = shown.json();
        assert_eq!(shown["for"], "SIGN_IN");
        assert!(shown["address"].is_string() && shown["site"].is_object() && shown.get("device").is_none(), "{shown}");
        assert_eq!(world.answer(&token, json!({ "number": number })).await.json(), json!({}));
        for again in [json!({ "number": number }), json!({ "denied": true })] {
            assert_eq!(world.answer(&token, again).await.verdict(), "404 NOT_FOUND");
        }
        assert_eq!(world.question(&token).await.verdict(), "404 NOT_FOUND");
        // It counts with the state token that came with it.
        assert_eq!(world.stands(&asked["stateToken"], &transaction).await.verdict(), WRONG);
        let signed = world.stands(&sent["stateToken"], &transaction).await.json();
        assert_eq!((&signed["state"], &signed["identity"]["email"]["address"]), (&json!("SUCCESS"), &json!("anna@example.org")));
        assert!(!world.access_of(&signed["sessionToken"]).await.is_empty());
        assert_eq!(world.stands(&sent["stateToken"], &transaction).await.verdict(), WRONG, "once");
        assert_eq!(world.count("push_question").await, 0);
        let list = world.list(&access).await;
        assert!(list["factors"][0]["lastUsedDate"].is_string() && list["factors"][0].get("needsReenrolment").is_none(), "{list}");

        world.app.kit.clock.advance(11 * MINUTE);
        let remove = format!("factors/{id}");
        assert_eq!(world.own(&access, Method::DELETE, &remove, json!({})).await.verdict(), NEEDED);
        assert_eq!(world.prove(&access, json!({ "password": PASSWORD })).await, NEEDED, "there is a factor");
        assert_eq!(world.prove_by_push(&access).await, "200");
        let renamed = world.own(&access, Method::PATCH, &remove, json!({ "name": "Laptop" })).await.json();
        assert_eq!(renamed["factor"]["name"], "Laptop");
        world.app.mail.take();
        assert_eq!(world.own(&access, Method::DELETE, &remove, json!({})).await.verdict(), "200");
        assert_eq!(world.subjects().await, ["A second step was removed from your account at Test"]);
        assert_eq!(world.login("anna@example.org", PASSWORD).await["state"], "SUCCESS");
        assert_eq!((world.count("factor").await, world.count("recovery_code").await), (0, 0));
    }

    async fn pages_show_the_number_and_go_on_once_it_is_typed(engine) {
        let world = Pushes::new(engine).await;
        let anna = world.holder("anna@example.org").await;
        let browser = world.browser();
        let view = browser.password(&anna.email).await;
        assert_eq!((at(&view), &view["step"]["factors"]), (("SECOND_FACTOR", None), &json!(["PUSH", "RECOVERY_CODE"])));
        let token = text(&view["token"]);
        let waits = browser.ask_push(&view, true).await;
        assert_eq!((at(&waits), &waits["canGoBack"]), (("AWAIT_PUSH", None), &json!(true)), "{waits}");
        let number = text(&waits["step"]["number"]);
        let pushed = text(&world.service.next(1).await[0].content["token"]);
        assert_eq!(browser.flow_view(&token).await.json()["step"], waits["step"], "nobody has answered");
        // Another one takes its place.
        let again = browser.ask_push(&waits, true).await;
        assert_eq!(at(&again), ("AWAIT_PUSH", None));
        let second = text(&world.service.next(1).await[0].content["token"]);
        assert_eq!(world.answer(&pushed, json!({ "number": number })).await.verdict(), "404 NOT_FOUND");
        assert_eq!(world.answer(&second, json!({ "number": again["step"]["number"] })).await.verdict(), "200");
        assert_eq!(at(&browser.flow_view(&token).await.json()), ("DONE", None));
        assert!(browser.has("stoa-session"));
        // This browser need not ask again for a while.
        assert_eq!(at(&browser.password(&anna.email).await), ("DONE", None));

        // Back to another factor; nobody takes the answer any more.
        let other = world.browser();
        let view = other.password(&anna.email).await;
        let waits = other.ask_push(&view, false).await;
        let pushed = text(&world.service.next(1).await[0].content["token"]);
        let back = other.answer(&text(&view["token"]), json!({ "type": "BACK" })).await;
        assert_eq!((at(&back), &back["step"]["factors"]), (("SECOND_FACTOR", None), &json!(["PUSH", "RECOVERY_CODE"])));
        assert_eq!(world.answer(&pushed, json!({ "number": waits["step"]["number"] })).await.verdict(), "200");
        assert_eq!(at(&other.flow_view(&text(&view["token"])).await.json()), ("SECOND_FACTOR", None));
        // Nobody answers.
        let waits = other.ask_push(&back, false).await;
        assert_eq!(at(&waits), ("AWAIT_PUSH", None), "{waits}");
        world.service.next(1).await;
        world.app.kit.clock.advance(2 * MINUTE);
        let late = other.flow_view(&text(&view["token"])).await.json();
        assert_eq!((at(&late), &late["problems"][0]["field"]), (("SECOND_FACTOR", Some("PUSH_EXPIRED")), &json!("push")));
        // It is denied: this sign-in asks there no more.
        let waits = other.ask_push(&late, false).await;
        assert_eq!(at(&waits), ("AWAIT_PUSH", None), "{waits}");
        let pushed = text(&world.service.next(1).await[0].content["token"]);
        assert_eq!(world.answer(&pushed, json!({ "denied": true })).await.verdict(), "200");
        let denied = other.flow_view(&text(&view["token"])).await.json();
        assert_eq!((at(&denied), &denied["step"]["factors"]), (("SECOND_FACTOR", Some("PUSH_DENIED")), &json!(["RECOVERY_CODE"])));
        assert_eq!(at(&other.ask_push(&denied, false).await), ("SECOND_FACTOR", Some("STEP_CHANGED")));
        let code = json!({ "type": "SECOND_FACTOR", "factor": "RECOVERY_CODE", "code": anna.recovery_codes[0], "remember": false });
        assert_eq!(at(&other.answer(&text(&view["token"]), code).await), ("DONE", None));
    }

    async fn member_is_told_of_a_denial(engine) {
        let world = Pushes::new(engine).await;
        let anna = world.holder("anna@example.org").await;
        let asked = world.asked(&anna).await;
        let address = text(&world.question(&asked.token).await.json()["address"]);
        assert_eq!(world.deny(&asked).await, "200");
        assert_eq!(world.stands(&asked.state, &asked.id).await.verdict(), WRONG);
        assert_eq!(world.events("push_deny").await, 1);
        let told = world.app.mail.take();
        assert_eq!((told.len(), told[0].subject.as_str()), (1, "A sign-in to Test was refused"));
        assert!(told[0].text.contains(&format!("\u{2066}{address}\u{2069}\n")), "who asked: {}", told[0].text);
        // The same sign-in asks no more, another one does.
        let again = world.ask(&asked.state).await;
        assert_eq!((again.status, field(&again)), (StatusCode::BAD_REQUEST, json!("factorType")));
        assert_eq!(world.verify_recovery(&asked.state, &anna.recovery_codes[0]).await.json()["state"], "SUCCESS");
        world.app.kit.clock.advance(1);
        let other = world.asked(&anna).await;
        assert_eq!(world.approve(&other).await, "200");
        assert_eq!(world.stands(&other.state, &other.id).await.json()["state"], "SUCCESS");
    }

    async fn all_browsers_of_a_member_are_asked_and_the_same_one_takes_its_place(engine) {
        let world = Pushes::new(engine).await;
        let anna = world.holder("anna@example.org").await;
        for name in ["b", "c", "d", "e"] {
            world.add(&anna.access, name).await;
        }
        assert_eq!(world.begin(&anna.access, "f").await.verdict(), "400 TOO_MANY");
        // With other keys, as after it has unsubscribed.
        let (id, _) = world.add(&anna.access, &anna.email).await;
        let ids: Vec<Value> = world.list(&anna.access).await["factors"].as_array().unwrap().iter().map(|it| it["id"].clone()).collect();
        assert!(ids.len() == 5 && ids.contains(&json!(id)) && !ids.contains(&json!(anna.id)), "{ids:?}");
        let asked = world.ask(&world.waiting(&anna).await).await.json();
        let pushed = world.service.next(5).await;
        let tokens: std::collections::BTreeSet<String> = pushed.iter().map(|it| text(&it.content["token"])).collect();
        assert_eq!(tokens.len(), 1, "one question");
        let data = &asked["mfaChallengeData"]["verificationChallengeData"];
        assert_eq!(world.answer(tokens.first().unwrap(), json!({ "number": data["hint"] })).await.verdict(), "200");
        let signed = world.stands(&asked["stateToken"], &text(&data["pushData"]["transactionId"])).await.json();
        assert_eq!(signed["state"], "SUCCESS");
    }

    async fn browser_that_is_there_no_more_is_shown_as_such(engine) {
        let world = Pushes::new(engine).await;
        let anna = world.holder("anna@example.org").await;
        world.service.forget(&anna.email);
        assert_eq!(world.ask(&world.waiting(&anna).await).await.verdict(), "200");
        let mut list = world.list(&anna.access).await;
        while list["factors"][0].get("needsReenrolment").is_none() {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            list = world.list(&anna.access).await;
        }
        assert_eq!(list["factors"][0]["needsReenrolment"], true);
        // The member is asked for a second factor all the same.
        let asked = world.login(&anna.email, PASSWORD).await;
        assert_eq!((&asked["state"], offered(&asked)), (&json!("MFA_CHALLENGE"), vec!["RECOVERY_CODE"]));
        let refused = world.ask(&asked["stateToken"]).await;
        assert_eq!((refused.status, field(&refused)), (StatusCode::BAD_REQUEST, json!("factorType")));
        // Enrolled again it is asked again.
        let (id, _) = world.add(&anna.access, &anna.email).await;
        let list = world.list(&anna.access).await;
        assert_eq!((list["factors"].as_array().map(Vec::len), &list["factors"][0]["id"]), (Some(1), &json!(id)));
        let asked = world.asked(&anna).await;
        assert_eq!(world.approve(&asked).await, "200");
    }

    async fn push_service_that_takes_nothing_is_told_where_a_browser_is_enrolled(engine) {
        let world = Pushes::new(engine).await;
        let access = world.member_access("anna@example.org").await;
        assert_eq!(world.prove(&access, json!({ "password": PASSWORD })).await, "200");
        world.service.fails(5);
        assert_eq!(world.begin(&access, "laptop").await.status, StatusCode::SERVICE_UNAVAILABLE);
        assert!(world.list(&access).await["factors"].as_array().unwrap().is_empty());
        world.service.fails(0);
        world.add(&access, "laptop").await;
    }

    async fn question_that_no_browser_was_sent_is_told_and_does_not_count(engine) {
        let world = Pushes::new(engine).await;
        let anna = world.holder("anna@example.org").await;
        world.service.fails(5);
        for _ in 0..7 {
            let asked = world.ask(&world.waiting(&anna).await).await;
            assert_eq!(asked.verdict(), "200", "{}", asked.json());
            let asked = asked.json();
            let id = text(&asked["mfaChallengeData"]["verificationChallengeData"]["pushData"]["transactionId"]);
            let mut stands = world.stands(&asked["stateToken"], &id).await;
            while stands.verdict() == "200" {
                tokio::time::sleep(std::time::Duration::from_millis(10)).await;
                stands = world.stands(&asked["stateToken"], &id).await;
            }
            assert_eq!(stands.status, StatusCode::SERVICE_UNAVAILABLE, "{}", stands.json());
        }
        // Pages go back to the other ways.
        let browser = world.browser();
        let view = browser.password(&anna.email).await;
        let token = text(&view["token"]);
        let mut view = browser.ask_push(&view, false).await;
        while at(&view) == ("AWAIT_PUSH", None) {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
            view = browser.flow_view(&token).await.json();
        }
        assert_eq!(at(&view), ("SECOND_FACTOR", Some("PUSH_UNAVAILABLE")));
        world.service.fails(0);
        for _ in 0..5 {
            world.asked(&anna).await;
        }
    }

    async fn browser_that_does_not_open_keeps_none_of_the_others_from_being_asked(engine) {
        let world = Pushes::new(engine).await;
        let anna = world.holder("anna@example.org").await;
        let (lost, _) = world.add(&anna.access, "lost").await;
        let broken = world.app.site.write_with(lost, |tx, lost| {
            boxed!({
                tx.execute("update stoa.factor set sealed = $1 where id = $2", &params![vec![1_u8; 60], lost.as_str()]).await?;
                Ok(())
            })
        });
        broken.await.unwrap();
        let asked = world.asked(&anna).await;
        assert_eq!(world.approve(&asked).await, "200");
    }

    async fn key_that_does_not_open_takes_push_from_what_can_be_added(engine) {
        let world = Pushes::new(engine).await;
        let access = world.member_access("anna@example.org").await;
        let site = world.app.site.id.clone();
        let broken = world.app.site.write_with(site, |tx, site| {
            boxed!({
                let sql = "insert into stoa.setting (site, name, value) values ($1, 'push key', $2)";
                tx.execute(sql, &params![site, r#""AAAA""#]).await?;
                Ok(())
            })
        });
        broken.await.unwrap();
        let list = world.list(&access).await;
        let addable = list["addable"].as_array().unwrap();
        assert!(addable.contains(&json!("TOTP")) && !addable.contains(&json!("PUSH")), "{list}");
        assert_eq!(list.get("pushKey"), None);
    }

    async fn browsers_are_not_what_a_site_requires(engine) {
        let world = Pushes::new(engine).await;
        let anna = world.holder("anna@example.org").await;
        world.policy(json!({ "secondFactor": "REQUIRED", "secondFactorGraceDays": 0 })).await;
        let asked = world.asked(&anna).await;
        assert_eq!(world.approve(&asked).await, "200");
        let signed = world.stands(&asked.state, &asked.id).await.json();
        assert_eq!(signed["state"], "REQUIRE_MFA", "{signed}");
    }

    async fn browsers_are_asked_whatever_the_policy_says(engine) {
        let world = Pushes::new(engine).await;
        let anna = world.holder("anna@example.org").await;
        world.policy(json!({ "secondFactor": "OFF" })).await;
        assert_eq!(world.begin(&anna.access, "another").await.verdict(), "403 PERMISSION_DENIED");
        let list = world.list(&anna.access).await;
        assert_eq!((&list["addable"], list.get("pushKey")), (&json!([]), None));
        let asked = world.asked(&anna).await;
        assert_eq!(world.approve(&asked).await, "200");
        assert_eq!(world.stands(&asked.state, &asked.id).await.json()["state"], "SUCCESS");
    }
}
