//! Codes by text message and by call as a second factor, with a provider that listens and checks what it is asked: the way
//! through, and the ways of who has the password, a session or another's number. How many are sent is in `phone_limits`.

use super::*;
use std::ops::Deref;
use stoa_identity::{
    DeviceHints, Identity,
    defence::throttle::{Rate, ThrottleLimits},
    factor::{FactorType, Shown},
    mail::MailSetting,
    password::Cost,
    sign_in::SubmittedFactor,
};
use stoa_kernel::{Caller, Code, KeyId, Secret};
use stoa_outbound::TelephoneLimits;
use stoa_testkit::{Rung, TelephoneExchange, local_reach};

pub(super) const MINUTE: i64 = 60_000;
pub(super) const THROTTLED: &str = "429 THROTTLED_FEATURE";
const NUMBER: &str = "+4915112345678";
const MASK: &str = "+49***78";

/// A site on a server that sends codes to numbers of two countries.
pub(super) struct Phones {
    world: World,
    pub exchange: TelephoneExchange,
}

impl Deref for Phones {
    type Target = World;

    fn deref(&self) -> &World {
        &self.world
    }
}

/// A member who takes codes at a number.
pub(super) struct ByPhone {
    pub email: String,
    /// Of the session in which it was added.
    pub access: String,
    pub id: String,
    recovery_codes: Vec<String>,
}

/// One network may ask as often as tests do.
pub(super) fn config(exchange: &TelephoneExchange) -> Config {
    let telephone = Rate { burst: 10_000.0, per_second: 100.0 };
    Config {
        telephone: Some(exchange.config(&["49", "1"], TelephoneLimits::default())),
        throttle: ThrottleLimits { telephone, ..ThrottleLimits::default() },
        ..Config::default()
    }
}

impl Phones {
    async fn new(engine: Engine) -> Self {
        Self::with(engine, |config| config).await
    }

    pub async fn with(engine: Engine, change: impl FnOnce(Config) -> Config) -> Self {
        let exchange = TelephoneExchange::start().await;
        let world = World::with(engine, change(config(&exchange))).await;
        world.policy(json!({ "secondFactor": "OPTIONAL", "secondFactorByTelephone": true })).await;
        Self { world, exchange }
    }

    /// What a number got that comes of a request, and nothing else.
    pub async fn rung_by(&self, request: impl Future<Output = Reply>) -> (Reply, Rung) {
        let before = self.exchange.rung();
        assert!(before.is_empty(), "{before:?}");
        let reply = request.await;
        assert_eq!(reply.verdict(), "200", "{}", reply.json());
        let mut rung = self.exchange.rung();
        assert_eq!(rung.len(), 1, "{rung:?}");
        (reply, rung.remove(0))
    }

    pub async fn begin(&self, access: &str, kind: &str, number: &str) -> Reply {
        self.post_own(access, "factors", json!({ "type": kind, "phone": number })).await
    }

    pub async fn add(&self, access: &str, kind: &str, number: &str) -> (String, Vec<String>) {
        let (begun, rung) = self.rung_by(self.begin(access, kind, number)).await;
        let id = text(&begun.json()["factor"]["id"]);
        let confirmed = self.post_own(access, &format!("factors/{id}/confirm"), json!({ "code": rung.code })).await;
        assert_eq!(confirmed.verdict(), "200", "{}", confirmed.json());
        let codes = confirmed.json()["recoveryCodes"].as_array().cloned().unwrap_or_default();
        (id, codes.iter().map(text).collect())
    }

    /// A member who may change their factors.
    pub async fn proved(&self, email: &str) -> String {
        let access = self.member_access(email).await;
        assert_eq!(self.prove(&access, json!({ "password": PASSWORD })).await, "200");
        access
    }

    pub async fn by_message(&self, email: &str, number: &str) -> ByPhone {
        let access = self.proved(email).await;
        let (id, recovery_codes) = self.add(&access, "SMS", number).await;
        self.app.mail.take();
        ByPhone { email: email.to_owned(), access, id, recovery_codes }
    }

    pub async fn ask(&self, state_token: &Value, kind: &str) -> Reply {
        let body = json!({ "stateToken": state_token, "factorType": kind });
        self.call(&self.visitor().await, &format!("/v2/{kind}/verify"), &body).await
    }

    pub async fn verify(&self, state_token: &Value, kind: &str, code: &str) -> Reply {
        let data = if kind == "CALL" { "callData" } else { "smsData" };
        let body = json!({ "stateToken": state_token, data: { "code": code } });
        self.call(&self.visitor().await, &format!("/v2/{kind}/verify"), &body).await
    }

    /// A state token of one who has shown the password.
    pub async fn asked(&self, member: &ByPhone) -> Value {
        let asked = self.login(&member.email, PASSWORD).await;
        assert_eq!((&asked["state"], offered(&asked)), (&json!("MFA_CHALLENGE"), vec!["SMS", "RECOVERY_CODE"]));
        asked["stateToken"].clone()
    }

    /// The same of one who had a code sent, and the code.
    pub async fn challenge_by_message(&self, member: &ByPhone) -> (Value, String) {
        let token = self.asked(member).await;
        let (sent, rung) = self.rung_by(self.ask(&token, "SMS")).await;
        (sent.json()["stateToken"].clone(), rung.code)
    }

    pub async fn prove_by_message(&self, access: &str) -> String {
        let (_, rung) = self.rung_by(self.post_own(access, "proof", json!({ "smsData": {} }))).await;
        self.prove(access, json!({ "smsData": { "code": rung.code } })).await
    }
}

pub(super) fn offered(asked: &Value) -> Vec<&str> {
    let all = asked["mfaChallengeData"]["availableFactors"].as_array().unwrap();
    all.iter().map(|it| it["factorType"].as_str().unwrap()).collect()
}

/// A code that is another one.
fn wrong(code: &str) -> String {
    format!("{:06}", (code.parse::<u32>().unwrap() + 1) % 1_000_000)
}

fn at(view: &Value) -> (&str, Option<&str>) {
    (view["step"]["type"].as_str().unwrap(), view["problems"][0]["code"].as_str())
}

pub(super) fn field(reply: &Reply) -> Value {
    reply.json()["details"]["validationError"]["fieldViolations"][0]["field"].clone()
}

on_both_engines! {
    async fn member_adds_a_number_signs_in_by_a_message_and_removes_it(engine) {
        let world = Phones::new(engine).await;
        let access = world.member_access("anna@example.org").await;
        world.app.mail.take();
        assert_eq!(world.begin(&access, "SMS", NUMBER).await.verdict(), NEEDED);
        assert_eq!(world.prove(&access, json!({ "password": PASSWORD })).await, "200");
        let (begun, rung) = world.rung_by(world.begin(&access, "SMS", "+49 (151) 1234-5678")).await;
        let said = format!("{} is your code for Test. Tell it to nobody.", rung.code);
        assert_eq!((rung.to.as_str(), &rung.text, rung.is_call), (NUMBER, &said, false));
        assert_eq!(begun.headers["cache-control"], "no-store");
        let begun = begun.json();
        let id = text(&begun["factor"]["id"]);
        let factor = json!({ "id": id, "type": "SMS", "name": MASK });
        assert_eq!((&begun["factor"], &begun["sentTo"], begun.get("secret")), (&factor, &json!(MASK), None));
        assert!(world.subjects().await.is_empty(), "it goes to the number alone");
        // They are asked for once one was shown.
        assert_eq!(world.login("anna@example.org", PASSWORD).await["state"], "SUCCESS");
        let confirm = format!("factors/{id}/confirm");
        assert_eq!(world.post_own(&access, &confirm, json!({ "code": wrong(&rung.code) })).await.verdict(), WRONG);
        let confirmed = world.post_own(&access, &confirm, json!({ "code": format!(" {} ", rung.code) })).await.json();
        assert_eq!(confirmed["recoveryCodes"].as_array().map(Vec::len), Some(10), "{confirmed}");
        assert_eq!(world.post_own(&access, &confirm, json!({ "code": rung.code })).await.verdict(), "404 NOT_FOUND", "twice");
        assert_eq!(world.subjects().await, ["Your account at Test asks for a second step now"]);
        let list = world.own(&access, Method::GET, "factors", json!({})).await.json();
        assert_eq!(list["addable"], json!(["WEBAUTHN", "TOTP", "PUSH", "EMAIL", "SMS", "CALL"]));
        assert_eq!((&list["factors"][0]["type"], &list["factors"][0]["name"]), (&json!("SMS"), &json!(MASK)));
        assert_eq!(world.begin(&access, "SMS", "+4915112345679").await.verdict(), "400 TOO_MANY");
        // The number is stored encrypted.
        let sql = "select sealed from stoa.factor";
        let sealed = world.app.site.read(ReaderPool::Point, move |tx| boxed!(Ok(tx.row(sql, &[], |row| row.get::<Vec<u8>>(0)).await?)));
        let sealed = sealed.await.unwrap().unwrap();
        assert!(!sealed.windows(6).any(|it| NUMBER.as_bytes().windows(6).any(|digits| digits == it)));

        // The password alone sends nothing.
        let asked = world.login("anna@example.org", PASSWORD).await;
        let challenge = &asked["mfaChallengeData"];
        assert_eq!((&challenge["factorType"], offered(&asked)), (&json!("SMS"), vec!["SMS", "RECOVERY_CODE"]));
        assert!(world.exchange.rung().is_empty() && challenge.get("verificationChallengeData").is_none());
        let body = json!({ "stateToken": asked["stateToken"], "smsData": { "deliveryMethod": "SMS" } });
        let visitor = world.visitor().await;
        let (sent, rung) = world.rung_by(world.call(&visitor, "/v2/SMS/verify", &body)).await;
        let sent = sent.json();
        assert_eq!(rung.to, NUMBER);
        assert_eq!(sent["mfaChallengeData"]["verificationChallengeData"]["hint"], MASK);
        assert!(text(&sent["stateToken"]).len() <= 1_000);
        // It counts with the state token sent with it.
        assert_eq!(world.verify(&asked["stateToken"], "SMS", &rung.code).await.verdict(), WRONG);
        assert_eq!(world.verify(&sent["stateToken"], "SMS", &wrong(&rung.code)).await.verdict(), WRONG);
        let signed = world.verify(&sent["stateToken"], "SMS", &rung.code).await.json();
        assert_eq!((&signed["state"], &signed["identity"]["email"]["address"]), (&json!("SUCCESS"), &json!("anna@example.org")));
        assert!(!world.access_of(&signed["sessionToken"]).await.is_empty());
        assert_eq!(world.verify(&sent["stateToken"], "SMS", &rung.code).await.verdict(), WRONG, "once");
        let list = world.own(&access, Method::GET, "factors", json!({})).await.json();
        assert!(list["factors"][0]["lastUsedDate"].is_string(), "{list}");

        world.app.kit.clock.advance(11 * MINUTE);
        let remove = format!("factors/{id}");
        assert_eq!(world.own(&access, Method::DELETE, &remove, json!({})).await.verdict(), NEEDED);
        assert_eq!(world.prove(&access, json!({ "password": PASSWORD })).await, NEEDED, "there is a factor");
        assert_eq!(world.prove_by_message(&access).await, "200");
        world.app.mail.take();
        assert_eq!(world.own(&access, Method::DELETE, &remove, json!({})).await.verdict(), "200");
        assert_eq!(world.subjects().await, ["A second step was removed from your account at Test"]);
        assert_eq!(world.login("anna@example.org", PASSWORD).await["state"], "SUCCESS");
        assert_eq!((world.count("factor").await, world.count("recovery_code").await), (0, 0));
        for (event, count) in [("factor_add", 1), ("factor_remove", 1)] {
            assert_eq!(world.events(event).await, count, "{event}");
        }
    }

    async fn code_of_a_call_is_spoken_digit_by_digit(engine) {
        let world = Phones::new(engine).await;
        let setting = MailSetting::parse(r#"{ "language": "de" }"#).unwrap();
        let app = Caller::App { id: KeyId::from("command-line") };
        world.app.app.identity.mail_setting_update(&world.app.site, &app, &setting).await.unwrap();
        let access = world.proved("anna@example.org").await;
        let (begun, rung) = world.rung_by(world.begin(&access, "CALL", NUMBER)).await;
        assert_eq!(begun.json()["factor"]["type"], "CALL");
        let digits = rung.code.chars().map(String::from).collect::<Vec<_>>().join(", ");
        let say = format!("<Say language=\"de-DE\">Ihr Code für Test ist: {digits}.</Say>");
        let twiml = format!("<Response>{say}<Pause length=\"1\"/>{say}</Response>");
        assert_eq!((rung.to.as_str(), rung.text, rung.is_call), (NUMBER, twiml, true));
        let confirm = format!("factors/{}/confirm", text(&begun.json()["factor"]["id"]));
        assert_eq!(world.post_own(&access, &confirm, json!({ "code": rung.code })).await.verdict(), "200");
        let asked = world.login("anna@example.org", PASSWORD).await;
        assert_eq!(offered(&asked), ["CALL", "RECOVERY_CODE"]);
        let (sent, rung) = world.rung_by(world.ask(&asked["stateToken"], "CALL")).await;
        assert!(rung.is_call && rung.to == NUMBER);
        assert_eq!(world.verify(&sent.json()["stateToken"], "CALL", &rung.code).await.json()["state"], "SUCCESS");
        // A message is no call: the member has no number for one.
        let refused = world.ask(&asked["stateToken"], "SMS").await;
        assert_eq!((refused.status, field(&refused)), (StatusCode::BAD_REQUEST, json!("factorType")));
    }

    async fn pages_send_to_a_number_when_they_are_asked_to(engine) {
        let world = Phones::new(engine).await;
        let anna = world.by_message("anna@example.org", NUMBER).await;
        world.add(&anna.access, "CALL", "+15005550001").await;
        let browser = world.browser();
        let view = browser.password(&anna.email).await;
        let unsent = json!({ "type": "SECOND_FACTOR", "factors": ["SMS", "CALL", "RECOVERY_CODE"], "rememberDays": 30,
            "sentTo": null, "sentBy": null, "resendAfterSeconds": 30, "passkey": null });
        assert_eq!(view["step"], unsent);
        let token = text(&view["token"]);
        let path = format!("/_api/account/v1/flows/{token}");
        let show = |kind: &str, code: &str| json!({ "type": "SECOND_FACTOR", "factor": kind, "code": code, "remember": true });
        assert_eq!(at(&browser.answer(&token, show("SMS", "123456")).await), ("SECOND_FACTOR", Some("INVALID_CODE")), "none was sent");
        for other in [json!({ "type": "RESEND" }), json!({ "type": "RESEND", "factor": "TOTP" }), json!({ "type": "RESEND", "factor": "RECOVERY_CODE" })] {
            assert_eq!(at(&browser.answer(&token, other).await), ("SECOND_FACTOR", Some("STEP_CHANGED")));
        }
        let resend = |kind: &str| json!({ "type": "RESEND", "factor": kind });
        let message = resend("SMS");
        let (sent, first) = world.rung_by(browser.ask(Method::POST, &path, Some(&message))).await;
        assert_eq!((&sent.json()["step"]["sentTo"], &sent.json()["step"]["sentBy"]), (&json!(MASK), &json!("SMS")));
        let call = resend("CALL");
        let (sent, called) = world.rung_by(browser.ask(Method::POST, &path, Some(&call))).await;
        assert_eq!((&sent.json()["step"]["sentTo"], &sent.json()["step"]["sentBy"]), (&json!("+15***01"), &json!("CALL")));
        assert!(called.is_call && !first.is_call);
        // A code of one kind is none of another.
        if first.code != called.code {
            assert_eq!(at(&browser.answer(&token, show("SMS", &called.code)).await), ("SECOND_FACTOR", Some("INVALID_CODE")));
            assert_eq!(at(&browser.answer(&token, show("CALL", &first.code)).await), ("SECOND_FACTOR", Some("INVALID_CODE")));
        }
        // Of this flow alone.
        let other = world.browser();
        let elsewhere = other.password(&anna.email).await;
        let view = other.answer(&text(&elsewhere["token"]), show("SMS", &first.code)).await;
        assert_eq!(at(&view), ("SECOND_FACTOR", Some("INVALID_CODE")));
        assert_eq!(at(&browser.answer(&token, show("SMS", &first.code)).await), ("DONE", None));
        assert!(browser.has("stoa-session"));
        assert_eq!(browser.password(&anna.email).await["step"]["type"], "DONE", "it is remembered");
        // A provider that fails leaves the other ways.
        world.exchange.refuses(500, 20_500);
        let view = other.answer(&text(&elsewhere["token"]), resend("SMS")).await;
        assert_eq!((at(&view), &view["step"]["sentTo"]), (("SECOND_FACTOR", Some("UNAVAILABLE")), &Value::Null));
        let shown = show("RECOVERY_CODE", &anna.recovery_codes[0]);
        assert_eq!(at(&other.answer(&text(&elsewhere["token"]), shown).await), ("DONE", None));
    }

    async fn code_by_message_signs_in_once_among_a_hundred(engine) {
        let world = Phones::new(engine).await;
        let anna = world.by_message("anna@example.org", NUMBER).await;
        let (token, code) = world.challenge_by_message(&anna).await;
        let tries = join_all((0..100).map(|_| world.verify(&token, "SMS", &code))).await;
        assert_eq!(tries.iter().filter(|it| it.verdict() == "200").count(), 1);
        assert!(tries.iter().all(|it| ["200", WRONG, THROTTLED].contains(&it.verdict().as_str())));
        assert_eq!(world.events("member_sign_in").await, 2, "one of them and the first session");
        world.app.kit.clock.advance(61 * MINUTE);
        // Nor one that is too old.
        let (_, rung) = world.rung_by(world.post_own(&anna.access, "proof", json!({ "smsData": {} }))).await;
        world.app.kit.clock.advance(10 * MINUTE);
        assert_eq!(world.prove(&anna.access, json!({ "smsData": { "code": rung.code } })).await, WRONG);
    }

    async fn code_is_of_one_member_sign_in_and_number(engine) {
        let world = Phones::new(engine).await;
        // Two members may have one number.
        let (anna, ben) = (world.by_message("anna@example.org", NUMBER).await, world.by_message("ben@example.org", NUMBER).await);
        let (token, code) = world.challenge_by_message(&anna).await;
        let (bens, bens_code) = world.challenge_by_message(&ben).await;
        if code != bens_code {
            assert_eq!(world.verify(&bens, "SMS", &code).await.verdict(), WRONG, "another member's challenge");
            assert_eq!(world.verify(&token, "SMS", &bens_code).await.verdict(), WRONG);
        }
        let visitor = world.visitor().await;
        for (path, data) in [("TOTP", "totpData"), ("EMAIL", "emailData")] {
            let shown = json!({ "stateToken": token, data: { "code": code } });
            assert_eq!(world.call(&visitor, &format!("/v2/{path}/verify"), &shown).await.verdict(), WRONG, "{path}");
        }
        assert_eq!(world.prove(&anna.access, json!({ "smsData": { "code": code } })).await, WRONG, "a session");
        let verify = json!({ "code": code, "stateToken": token });
        assert_eq!(world.call(&visitor, "/v1/auth/verify", &verify).await.verdict(), GONE, "an address");
        world.app.kit.clock.advance(MINUTE);
        let (second, second_code) = world.challenge_by_message(&anna).await;
        if second_code != code {
            assert_eq!(world.verify(&second, "SMS", &code).await.verdict(), WRONG, "another sign-in");
        }
        assert_eq!(world.verify(&token, "SMS", &code).await.verdict(), "200");
        // It ends with the number: another one is another factor.
        let proved = world.prove_by_message(&ben.access).await;
        assert_eq!(proved, "200");
        let (_, rung) = world.rung_by(world.post_own(&ben.access, "proof", json!({ "smsData": {} }))).await;
        assert_eq!(world.own(&ben.access, Method::DELETE, &format!("factors/{}", ben.id), json!({})).await.verdict(), "200");
        assert_eq!(world.verify(&bens, "SMS", &bens_code).await.verdict(), GONE);
        world.add(&ben.access, "SMS", "+15005550009").await;
        assert_eq!(world.prove(&ben.access, json!({ "smsData": { "code": rung.code } })).await, WRONG, "of the number before");
        // Nor is a first code one of a number that was asked for after it.
        let carl = world.proved("carl@example.org").await;
        let (before, rung) = world.rung_by(world.begin(&carl, "SMS", NUMBER)).await;
        let (after, _) = world.rung_by(world.begin(&carl, "SMS", "+15005550008")).await;
        let confirm = |begun: &Reply| format!("factors/{}/confirm", text(&begun.json()["factor"]["id"]));
        assert_eq!(world.post_own(&carl, &confirm(&before), json!({ "code": rung.code })).await.verdict(), "404 NOT_FOUND");
        assert_eq!(world.post_own(&carl, &confirm(&after), json!({ "code": rung.code })).await.verdict(), WRONG);
        // A site's own: another has nothing of it.
        let other = world.app.kit.store.site_create("Other", &world.app.kit.world).await.unwrap();
        let (_, key) = world.app.app.identity.api_key_create(&other.id, "other").await.unwrap();
        let body = json!({ "stateToken": second, "smsData": { "code": second_code } });
        assert_eq!(world.call(key.expose(), "/v2/SMS/verify", &body).await.verdict(), GONE);
    }

    async fn guessing_at_a_code_by_message_waits_longer_each_time(engine) {
        let world = Phones::new(engine).await;
        let anna = world.by_message("anna@example.org", NUMBER).await;
        let (token, code) = world.challenge_by_message(&anna).await;
        let guess = wrong(&code);
        let tries = join_all((0..100).map(|_| world.verify(&token, "SMS", &guess))).await;
        assert_eq!(tries.iter().filter(|it| it.verdict() == WRONG).count(), 5);
        assert_eq!(world.events("factor_slowed").await, 1);
        // Neither another code nor another state token gives more guesses, and the right one waits as well.
        assert_eq!(world.verify(&token, "SMS", &code).await.verdict(), THROTTLED);
        let (second, other) = world.challenge_by_message(&anna).await;
        assert_eq!(world.verify(&second, "SMS", &other).await.verdict(), THROTTLED);
        assert_eq!(world.prove(&anna.access, json!({ "smsData": { "code": "123456" } })).await, THROTTLED);
        // Recovery codes are the way in meanwhile.
        assert_eq!(world.verify_recovery(&second, &anna.recovery_codes[0]).await.verdict(), "200");
        world.app.kit.clock.advance(30_000);
        assert_eq!(world.verify(&second, "SMS", &other).await.verdict(), "200");
    }

    async fn stolen_session_adds_and_removes_no_number(engine) {
        let world = Phones::new(engine).await;
        let stolen = world.member_access("carl@example.org").await;
        assert_eq!(world.call(&stolen, "/v2/change-password", &json!({ "newPassword": ANOTHER })).await.verdict(), "200");
        assert_eq!(world.prove(&stolen, json!({ "password": ANOTHER })).await, NEEDED);
        assert_eq!(world.begin(&stolen, "SMS", NUMBER).await.verdict(), NEEDED);
        // Nor does one whose address is not confirmed.
        let unproven = world.unproven_access("dora@example.org").await;
        assert_eq!(world.prove(&unproven, json!({ "password": PASSWORD })).await, "200");
        assert_eq!(world.begin(&unproven, "SMS", NUMBER).await.verdict(), UNPROVEN);
        assert!(world.exchange.rung().is_empty() && world.count("factor").await == 0);

        let anna = world.by_message("anna@example.org", NUMBER).await;
        world.app.kit.clock.advance(11 * MINUTE);
        let (token, code) = world.challenge_by_message(&anna).await;
        let signed = world.verify(&token, "SMS", &code).await.json();
        let stolen = world.access_of(&signed["sessionToken"]).await;
        // A code that another session asked for proves nothing here.
        let (sent, rung) = world.rung_by(world.post_own(&anna.access, "proof", json!({ "smsData": {} }))).await;
        assert_eq!(sent.json(), json!({ "sentTo": MASK }));
        assert_eq!(world.prove(&stolen, json!({ "smsData": { "code": rung.code } })).await, WRONG);
        let remove = format!("factors/{}", anna.id);
        assert_eq!(world.own(&stolen, Method::DELETE, &remove, json!({})).await.verdict(), NEEDED);
        assert_eq!(world.begin(&stolen, "CALL", "+15005550001").await.verdict(), NEEDED);
        assert_eq!(world.prove(&anna.access, json!({ "smsData": { "code": rung.code } })).await, "200");
        assert_eq!(world.prove(&anna.access, json!({ "smsData": { "code": rung.code } })).await, WRONG, "once");
        // Another's is not there.
        let ben = world.proved("ben@example.org").await;
        let confirm = world.post_own(&ben, &format!("{remove}/confirm"), json!({ "code": "123456" })).await;
        assert_eq!(confirm.verdict(), "404 NOT_FOUND");
        assert_eq!(world.own(&ben, Method::DELETE, &remove, json!({})).await.verdict(), "404 NOT_FOUND");
        assert_eq!(world.own(&anna.access, Method::DELETE, &remove, json!({})).await.verdict(), "200");
    }

    async fn number_is_none_that_a_site_requires(engine) {
        let world = Phones::new(engine).await;
        let anna = world.by_message("anna@example.org", NUMBER).await;
        world.policy(json!({ "secondFactor": "REQUIRED", "secondFactorGraceDays": 0 })).await;
        let (token, code) = world.challenge_by_message(&anna).await;
        let answer = world.verify(&token, "SMS", &code).await.json();
        assert_eq!((&answer["state"], answer.get("sessionToken"), answer.get("stateToken")), (&json!("REQUIRE_MFA"), None, None));
        // The pages have an authenticator set up, once the code was shown.
        let browser = world.browser();
        let view = browser.password(&anna.email).await;
        let (token, path) = (text(&view["token"]), format!("/_api/account/v1/flows/{}", text(&view["token"])));
        for skip in ["ENROL_FACTOR", "LATER", "CODES_KEPT"] {
            assert_eq!(at(&browser.answer(&token, json!({ "type": skip })).await), ("SECOND_FACTOR", Some("STEP_CHANGED")));
        }
        let resend = json!({ "type": "RESEND", "factor": "SMS" });
        let (_, rung) = world.rung_by(browser.ask(Method::POST, &path, Some(&resend))).await;
        let shown = json!({ "type": "SECOND_FACTOR", "factor": "SMS", "code": rung.code, "remember": false });
        let view = browser.answer(&token, shown).await;
        assert_eq!(at(&view), ("ENROL_FACTOR", None));
        assert!(!browser.has("stoa-session"));
        let secret = text(&view["step"]["secret"]);
        let view = browser.answer(&token, json!({ "type": "CONFIRM_FACTOR", "code": world.totp(&secret, 0) })).await;
        assert_eq!(at(&view), ("RECOVERY_CODES", None), "{view}");
        assert_eq!(at(&browser.answer(&token, json!({ "type": "CODES_KEPT" })).await), ("DONE", None));
        world.next_step();
        // Beside it the number is another way; the authenticator is asked for first, and stays.
        let asked = world.login(&anna.email, PASSWORD).await;
        let ways = (&asked["mfaChallengeData"]["factorType"], offered(&asked));
        assert_eq!(ways, (&json!("TOTP"), vec!["TOTP", "SMS", "RECOVERY_CODE"]));
        let (sent, rung) = world.rung_by(world.ask(&asked["stateToken"], "SMS")).await;
        let signed = world.verify(&sent.json()["stateToken"], "SMS", &rung.code).await.json();
        assert_eq!(signed["state"], "SUCCESS");
        let access = world.access_of(&signed["sessionToken"]).await;
        assert_eq!(world.prove(&access, json!({ "totpData": { "code": world.totp(&secret, 0) } })).await, "200");
        let list = world.own(&access, Method::GET, "factors", json!({})).await.json();
        for (kind, verdict) in [("TOTP", "403 PERMISSION_DENIED"), ("SMS", "200")] {
            let found = list["factors"].as_array().unwrap().iter().find(|it| it["type"] == kind).unwrap();
            let path = format!("factors/{}", text(&found["id"]));
            assert_eq!(world.own(&access, Method::DELETE, &path, json!({})).await.verdict(), verdict, "{kind}");
        }
    }

    async fn mailbox_and_telephone_are_two_things(engine) {
        let world = Phones::new(engine).await;
        let anna = world.by_message("anna@example.org", NUMBER).await;
        // A password that a link has set proves the mailbox; a code by e-mail would prove it again, a number does not.
        let recover = json!({ "recoveryToken": world.recovery_link(&anna.email).await, "password": ANOTHER });
        let asked = world.call(&world.visitor().await, "/v1/recover", &recover).await.json();
        assert_eq!((&asked["state"], offered(&asked)), (&json!("MFA_CHALLENGE"), vec!["SMS", "RECOVERY_CODE"]));
        let (sent, rung) = world.rung_by(world.ask(&asked["stateToken"], "SMS")).await;
        assert_eq!(world.verify(&sent.json()["stateToken"], "SMS", &rung.code).await.json()["state"], "SUCCESS");
    }

    async fn number_is_no_way_in_where_the_server_sends_none(engine) {
        let world = Phones::new(engine).await;
        let anna = world.by_message("anna@example.org", NUMBER).await;
        let (token, code) = world.challenge_by_message(&anna).await;
        // The same data, by a server whose operator has taken the provider out of the configuration.
        let kit = &world.app.kit;
        let mail = world.app.mail.clone();
        // With hashes of the same cost: a sign-in at another one makes another hash, which ends what waits.
        let config = Config { password: Cost { memory_kib: 64, passes: 1, lanes: 1 }, ..Config::default() };
        let off = Identity::open(kit.store.clone(), kit.world.clone(), mail, local_reach(), config).await.unwrap();
        let address: std::net::IpAddr = "127.0.0.1".parse().unwrap();
        let shown = |code: Option<&str>| {
            let shown = code.map(|code| Shown::Code { factor: FactorType::Sms, code: Secret::new(code) });
            SubmittedFactor { factor: FactorType::Sms, shown, remembers: false }
        };
        let state = token.as_str().unwrap();
        for (code, expected) in [(Some(code.as_str()), Code::VerificationFailed), (None, Code::Validation)] {
            let refused = off.factor_verify(&world.app.site, state, shown(code), address.into()).await.unwrap_err();
            assert_eq!(refused.code(), expected);
        }
        // The question stays, and recovery codes answer it.
        let attempt = stoa_identity::defence::Attempt { address, visitor: None, client: None, hints: DeviceHints::default(), captcha: None };
        let asked = off.member_login(&world.app.site, &attempt, &anna.email, &Secret::new(PASSWORD)).await.unwrap().to_json();
        assert_eq!((&asked["state"], offered(&asked)), (&json!("MFA_CHALLENGE"), vec!["RECOVERY_CODE"]));
        let without = FactorType::ALL.into_iter().filter(|it| !matches!(it, FactorType::Sms | FactorType::Call));
        assert_eq!(off.factor_kinds(), without.collect::<Vec<_>>());
        assert!(world.exchange.rung().is_empty());
        assert_eq!(world.verify_recovery(&token, &anna.recovery_codes[0]).await.verdict(), "200");
    }

    async fn site_lets_its_members_add_numbers_or_not(engine) {
        let world = Phones::new(engine).await;
        let anna = world.by_message("anna@example.org", NUMBER).await;
        let ben = world.proved("ben@example.org").await;
        let (begun, rung) = world.rung_by(world.begin(&ben, "SMS", NUMBER)).await;
        world.policy(json!({ "secondFactorByTelephone": false })).await;
        // None is added, nor is one that was begun before; those that are there are asked for.
        let confirm = format!("factors/{}/confirm", text(&begun.json()["factor"]["id"]));
        assert_eq!(world.post_own(&ben, &confirm, json!({ "code": rung.code })).await.verdict(), "403 PERMISSION_DENIED");
        for kind in ["SMS", "CALL"] {
            assert_eq!(world.begin(&ben, kind, NUMBER).await.verdict(), "403 PERMISSION_DENIED", "{kind}");
        }
        assert!(world.exchange.rung().is_empty());
        let list = world.own(&ben, Method::GET, "factors", json!({})).await.json();
        assert_eq!(list["addable"], json!(["WEBAUTHN", "TOTP", "PUSH", "EMAIL"]));
        let (token, code) = world.challenge_by_message(&anna).await;
        assert_eq!(world.verify(&token, "SMS", &code).await.json()["state"], "SUCCESS");
        let app = world.app.app();
        assert_eq!(app.get("/v1/sign-on-policies").await.json()["signOnPolicy"].get("secondFactorByTelephone"), None);
        // It is what sites say, where there is a provider.
        let elsewhere = World::with_factors(engine).await;
        let body = json!({ "signOnPolicy": { "secondFactorByTelephone": true } }).to_string();
        let refused = elsewhere.app.app().send(Method::PATCH, "/v1/sign-on-policies", Some(body.into())).await;
        assert_eq!((refused.status, field(&refused)), (StatusCode::BAD_REQUEST, json!("signOnPolicy.secondFactorByTelephone")));
    }

    async fn what_numbers_have_not_is_refused_by_name(engine) {
        let world = Phones::new(engine).await;
        let access = world.proved("anna@example.org").await;
        for (body, name) in [
            (json!({ "type": "SMS" }), "phone"),
            (json!({ "type": "SMS", "phone": 49 }), "phone"),
            (json!({ "type": "SMS", "phone": "" }), "phone"),
            (json!({ "type": "SMS", "phone": "015112345678" }), "phone"),
            (json!({ "type": "SMS", "phone": "+49151" }), "phone"),
            (json!({ "type": "SMS", "phone": "+4915112345678901" }), "phone"),
            (json!({ "type": "SMS", "phone": "+4915112345678,,1" }), "phone"),
            (json!({ "type": "SMS", "phone": "1".repeat(41) }), "phone"),
            (json!({ "type": "SMS", "phone": NUMBER, "name": "Phone" }), "name"),
            (json!({ "type": "TOTP", "phone": NUMBER }), "phone"),
            (json!({ "type": "EMAIL", "phone": NUMBER }), "phone"),
            (json!({ "type": "PUSH", "phone": NUMBER }), "phone"),
            (json!({ "type": "PASSWORD", "phone": NUMBER }), "phone"),
        ] {
            let reply = world.post_own(&access, "factors", body.clone()).await;
            assert_eq!((reply.status, field(&reply)), (StatusCode::BAD_REQUEST, json!(name)), "{body}");
        }
        let anna = world.by_message("ben@example.org", NUMBER).await;
        let token = world.asked(&anna).await;
        for (path, data, name) in [
            ("SMS", json!({ "smsData": { "deliveryMethod": "WHATSAPP" } }), "smsData.deliveryMethod"),
            ("SMS", json!({ "smsData": { "templateId": "t" } }), "smsData.templateId"),
            ("SMS", json!({ "smsData": { "code": 123_456 } }), "smsData.code"),
            ("SMS", json!({ "smsData": "123456" }), "smsData"),
            ("SMS", json!({ "callData": { "code": "123456" } }), "callData"),
            ("CALL", json!({ "smsData": { "code": "123456" } }), "smsData"),
            ("SMS", json!({ "factorType": "CALL" }), "factorType"),
            ("SMS", json!({ "pushData": { "transactionId": "x" } }), "pushData"),
            ("SMS", json!({ "passwordData": { "password": PASSWORD } }), "passwordData"),
            ("CALL", json!({}), "factorType"),
        ] {
            let mut body = json!({ "stateToken": token });
            body.as_object_mut().unwrap().extend(data.as_object().unwrap().clone());
            let reply = world.call(&world.visitor().await, &format!("/v2/{path}/verify"), &body).await;
            assert_eq!((reply.status, field(&reply)), (StatusCode::BAD_REQUEST, json!(name)), "{path} {data}");
        }
        for (body, name) in [
            (json!({ "smsData": {}, "callData": {} }), "password"),
            (json!({ "smsData": { "code": "123456" }, "password": PASSWORD }), "password"),
            (json!({ "callData": {} }), "callData"),
            (json!({ "smsData": { "deliveryMethod": "WHATSAPP" } }), "smsData.deliveryMethod"),
            (json!({ "webauthnData": {} }), "webauthnData"),
        ] {
            let reply = world.post_own(&anna.access, "proof", body.clone()).await;
            assert_eq!((reply.status, field(&reply)), (StatusCode::BAD_REQUEST, json!(name)), "{body}");
        }
        assert!(world.exchange.rung().is_empty(), "nothing of it sends anything");
        // Where the site lets members add none, none is added.
        world.policy(json!({ "secondFactor": "OFF" })).await;
        assert_eq!(world.begin(&access, "SMS", NUMBER).await.verdict(), "403 PERMISSION_DENIED");
        assert!(world.exchange.rung().is_empty());
    }
}
