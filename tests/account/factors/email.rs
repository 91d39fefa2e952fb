//! Codes by e-mail as a second factor: the way through, and the ways of who has the password, a session or the mailbox alone.

use super::*;
use std::time::Duration;
use stoa_kernel::date::iso_from_millis;

const MINUTE: i64 = 60_000;
const THROTTLED: &str = "429 THROTTLED_FEATURE";
/// How often a message is looked for, and how long it takes from one look to the next.
const TRIES: usize = 1_500;
const PAUSE: Duration = Duration::from_millis(20);

/// A member who takes codes by e-mail.
struct ByEmail {
    email: &'static str,
    /// Of the session in which it was turned on.
    access: String,
    id: String,
    recovery_codes: Vec<String>,
}

impl World {
    /// The code of the message that comes of a request.
    pub(super) async fn code_of(&self, email: &str, request: impl Future<Output = Reply>) -> (Reply, String) {
        self.app.mail.take();
        let reply = request.await;
        assert_eq!(reply.verdict(), "200", "{}", reply.json());
        for _ in 0..TRIES {
            // The rounds in the background may send it after the answer.
            if let Some(code) = self.app.mail.last_to(email).and_then(|it| it.code) {
                return (reply, code);
            }
            tokio::time::sleep(PAUSE).await;
        }
        panic!("no code to {email}");
    }

    /// Turns codes by e-mail on, by a session that has proved who the member is.
    pub(super) async fn turn_on(&self, access: &str, email: &str) -> (String, Vec<String>) {
        let begin = self.post_own(access, "factors", json!({ "type": "EMAIL" }));
        let (begun, code) = self.code_of(email, begin).await;
        let id = text(&begun.json()["factor"]["id"]);
        let confirmed = self.post_own(access, &format!("factors/{id}/confirm"), json!({ "code": code })).await;
        assert_eq!(confirmed.verdict(), "200", "{}", confirmed.json());
        let codes = confirmed.json()["recoveryCodes"].as_array().cloned().unwrap_or_default();
        (id, codes.iter().map(text).collect())
    }

    async fn by_email(&self, email: &'static str) -> ByEmail {
        let access = self.member_access(email).await;
        assert_eq!(self.prove(&access, json!({ "password": PASSWORD })).await, "200");
        let (id, recovery_codes) = self.turn_on(&access, email).await;
        self.app.mail.take();
        ByEmail { email, access, id, recovery_codes }
    }

    pub(super) async fn ask_code(&self, state_token: &Value) -> Reply {
        let body = json!({ "stateToken": state_token, "factorType": "EMAIL", "emailData": {} });
        self.call(&self.visitor().await, "/v2/EMAIL/verify", &body).await
    }

    pub(super) async fn verify_email(&self, state_token: &Value, code: &str) -> Reply {
        let body = json!({ "stateToken": state_token, "emailData": { "code": code } });
        self.call(&self.visitor().await, "/v2/EMAIL/verify", &body).await
    }

    /// A state token of one who has shown the password and had a code sent, and the code.
    async fn challenge_by_email(&self, member: &ByEmail) -> (Value, String) {
        let asked = self.login(member.email, PASSWORD).await;
        assert_eq!((&asked["state"], offered(&asked)), (&json!("MFA_CHALLENGE"), vec!["EMAIL", "RECOVERY_CODE"]));
        let (sent, code) = self.code_of(member.email, self.ask_code(&asked["stateToken"])).await;
        (sent.json()["stateToken"].clone(), code)
    }

    /// Proves by a code in a session who the member is.
    async fn prove_by_email(&self, access: &str, email: &str) -> String {
        let (_, code) = self.code_of(email, self.post_own(access, "proof", json!({ "emailData": {} }))).await;
        self.prove(access, json!({ "emailData": { "code": code } })).await
    }
}

fn offered(asked: &Value) -> Vec<&str> {
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

on_both_engines! {
    async fn member_turns_codes_by_email_on_signs_in_by_one_and_turns_them_off(engine) {
        let world = World::with_factors(engine).await;
        let access = world.member_access("anna@example.org").await;
        assert_eq!(world.post_own(&access, "factors", json!({ "type": "EMAIL" })).await.verdict(), NEEDED);
        assert_eq!(world.prove(&access, json!({ "password": PASSWORD })).await, "200");
        let begin = world.post_own(&access, "factors", json!({ "type": "EMAIL" }));
        let (begun, code) = world.code_of("anna@example.org", begin).await;
        assert_eq!(begun.headers["cache-control"], "no-store");
        let begun = begun.json();
        assert_eq!((&begun["factor"]["type"], &begun["sentTo"]), (&json!("EMAIL"), &json!("a***@example.org")));
        let ends = iso_from_millis(world.app.kit.world.now() + 10 * MINUTE);
        assert_eq!((begun.get("secret"), &begun["expiresDate"]), (None, &json!(ends)));
        // They are asked for once one was shown.
        assert_eq!(world.login("anna@example.org", PASSWORD).await["state"], "SUCCESS");
        let id = text(&begun["factor"]["id"]);
        let confirm = format!("factors/{id}/confirm");
        assert_eq!(world.post_own(&access, &confirm, json!({ "code": wrong(&code) })).await.verdict(), WRONG);
        world.app.mail.take();
        let confirmed = world.post_own(&access, &confirm, json!({ "code": format!(" {code} ") })).await.json();
        assert_eq!(confirmed["recoveryCodes"].as_array().map(Vec::len), Some(10), "{confirmed}");
        assert_eq!(world.post_own(&access, &confirm, json!({ "code": code })).await.verdict(), "404 NOT_FOUND", "twice");
        assert_eq!(world.subjects().await, ["Your account at Test asks for a second step now"]);
        let list = world.own(&access, Method::GET, "factors", json!({})).await.json();
        assert_eq!((&list["factors"][0]["type"], &list["recoveryCodesLeft"]), (&json!("EMAIL"), &json!(10)));
        assert_eq!(world.post_own(&access, "factors", json!({ "type": "EMAIL" })).await.verdict(), "400 TOO_MANY");

        // The password alone sends nothing.
        let asked = world.login("anna@example.org", PASSWORD).await;
        let challenge = &asked["mfaChallengeData"];
        assert_eq!((&challenge["factorType"], offered(&asked)), (&json!("EMAIL"), vec!["EMAIL", "RECOVERY_CODE"]));
        assert!(world.subjects().await.is_empty() && challenge.get("verificationChallengeData").is_none());
        let (sent, code) = world.code_of("anna@example.org", world.ask_code(&asked["stateToken"])).await;
        let letter = world.app.mail.last_to("anna@example.org").unwrap();
        assert!(letter.subject.ends_with("signs you in to Test") && letter.links.is_empty(), "{}", letter.subject);
        let sent = sent.json();
        assert_eq!(sent["mfaChallengeData"]["verificationChallengeData"]["hint"], "a***@example.org");
        assert!(text(&sent["stateToken"]).len() <= 1_000);
        // It counts with the state token of the same answer.
        assert_eq!(world.verify_email(&asked["stateToken"], &code).await.verdict(), WRONG);
        assert_eq!(world.verify_email(&sent["stateToken"], &wrong(&code)).await.verdict(), WRONG);
        let signed = world.verify_email(&sent["stateToken"], &code).await.json();
        assert_eq!((&signed["state"], &signed["identity"]["email"]["address"]), (&json!("SUCCESS"), &json!("anna@example.org")));
        assert!(!world.access_of(&signed["sessionToken"]).await.is_empty());
        let list = world.own(&access, Method::GET, "factors", json!({})).await.json();
        assert!(list["factors"][0]["lastUsedDate"].is_string(), "{list}");
        let older = json!({ "email": "anna@example.org", "password": PASSWORD });
        let reply = world.call(&world.visitor().await, "/wix-sm/api/v1/auth/api/v1/auth/login", &older).await;
        assert_eq!(reply.verdict(), "403 REQUIRE_MFA");

        world.app.kit.clock.advance(11 * MINUTE);
        let remove = format!("factors/{id}");
        assert_eq!(world.own(&access, Method::DELETE, &remove, json!({})).await.verdict(), NEEDED);
        assert_eq!(world.prove(&access, json!({ "password": PASSWORD })).await, NEEDED, "there is a factor");
        assert_eq!(world.prove_by_email(&access, "anna@example.org").await, "200");
        world.app.mail.take();
        assert_eq!(world.own(&access, Method::DELETE, &remove, json!({})).await.verdict(), "200");
        assert_eq!(world.subjects().await, ["A second step was removed from your account at Test"]);
        assert_eq!(world.login("anna@example.org", PASSWORD).await["state"], "SUCCESS");
        assert_eq!((world.count("factor").await, world.count("recovery_code").await), (0, 0));
        for (event, count) in [("factor_add", 1), ("factor_remove", 1)] {
            assert_eq!(world.events(event).await, count, "{event}");
        }
    }

    async fn first_code_is_sent_again_when_it_is_over(engine) {
        let world = World::with_factors(engine).await;
        let access = world.member_access("anna@example.org").await;
        assert_eq!(world.prove(&access, json!({ "password": PASSWORD })).await, "200");
        let begin = async || {
            let (begun, code) =
                world.code_of("anna@example.org", world.post_own(&access, "factors", json!({ "type": "EMAIL" }))).await;
            (format!("factors/{}/confirm", text(&begun.json()["factor"]["id"])), json!({ "code": code }))
        };
        let (confirm, first) = begin().await;
        world.app.kit.clock.advance(9 * MINUTE);
        assert_eq!(world.prove(&access, json!({ "password": PASSWORD })).await, "200");
        world.app.kit.clock.advance(MINUTE);
        assert_eq!(world.post_own(&access, &confirm, first).await.verdict(), WRONG);
        let (again, second) = begin().await;
        assert_eq!(again, confirm);
        assert_eq!(world.post_own(&access, &confirm, second).await.verdict(), "200");
        assert_eq!(world.count("factor").await, 1);
    }

    async fn pages_send_a_code_when_they_are_asked_to(engine) {
        let world = World::with_factors(engine).await;
        let anna = world.by_email("anna@example.org").await;
        let browser = world.browser();
        let view = browser.password(anna.email).await;
        let unsent = json!({ "type": "SECOND_FACTOR", "factors": ["EMAIL", "RECOVERY_CODE"], "rememberDays": 30,
            "sentTo": null, "sentBy": null, "resendAfterSeconds": 30, "passkey": null });
        assert_eq!(view["step"], unsent);
        let token = text(&view["token"]);
        let show = |code: &str| json!({ "type": "SECOND_FACTOR", "factor": "EMAIL", "code": code, "remember": true });
        assert_eq!(at(&browser.answer(&token, show("123456")).await), ("SECOND_FACTOR", Some("INVALID_CODE")), "none was sent");
        let path = format!("/_api/account/v1/flows/{token}");
        let resend = json!({ "type": "RESEND" });
        let (sent, first) = world.code_of(anna.email, browser.ask(Method::POST, &path, Some(&resend))).await;
        assert_eq!(sent.json()["step"]["sentTo"], "a***@example.org");
        assert_eq!(browser.flow_view(&token).await.json()["step"]["sentTo"], "a***@example.org");
        // Another ends the one before, unless chance has drawn the same.
        let (_, second) = world.code_of(anna.email, browser.ask(Method::POST, &path, Some(&resend))).await;
        if first != second {
            assert_eq!(at(&browser.answer(&token, show(&first)).await), ("SECOND_FACTOR", Some("INVALID_CODE")));
        }
        // It is no code that proves an address, and of this flow alone.
        let view = browser.answer(&token, json!({ "type": "VERIFY_EMAIL", "code": second })).await;
        assert_eq!(at(&view), ("SECOND_FACTOR", Some("STEP_CHANGED")));
        let other = world.browser();
        let elsewhere = other.password(anna.email).await;
        let view = other.answer(&text(&elsewhere["token"]), show(&second)).await;
        assert_eq!(at(&view), ("SECOND_FACTOR", Some("INVALID_CODE")));
        // Nor of what the same flow begins again.
        browser.answer(&token, json!({ "type": "BACK" })).await;
        let again = json!({ "type": "SIGN_IN", "email": anna.email, "password": PASSWORD });
        let view = browser.answer(&token, again).await;
        assert_eq!((at(&view), &view["step"]["sentTo"]), (("SECOND_FACTOR", None), &Value::Null));
        assert_eq!(at(&browser.answer(&token, show(&second)).await), ("SECOND_FACTOR", Some("INVALID_CODE")));
        let (_, third) = world.code_of(anna.email, browser.ask(Method::POST, &path, Some(&resend))).await;
        assert_eq!(at(&browser.answer(&token, show(&third)).await), ("DONE", None));
        assert!(browser.has("stoa-session"));
        assert_eq!(browser.password(anna.email).await["step"]["type"], "DONE", "it is remembered");
        // Who takes none is sent none.
        let ben = world.enrolled("ben@example.org").await;
        let view = other.password(&ben.email).await;
        assert_eq!(at(&other.answer(&text(&view["token"]), resend).await), ("SECOND_FACTOR", Some("STEP_CHANGED")));
        assert!(world.app.mail.last_to(&ben.email).is_none());
    }

    async fn code_by_email_signs_in_once_among_a_hundred(engine) {
        let world = World::with_factors(engine).await;
        let anna = world.by_email("anna@example.org").await;
        let (token, code) = world.challenge_by_email(&anna).await;
        let tries = join_all((0..100).map(|_| world.verify_email(&token, &code))).await;
        assert_eq!(tries.iter().filter(|it| it.verdict() == "200").count(), 1);
        assert!(tries.iter().all(|it| ["200", WRONG, THROTTLED].contains(&it.verdict().as_str())));
        assert_eq!(world.events("member_sign_in").await, 2, "one of them and the first session");
        world.app.kit.clock.advance(61 * MINUTE);
        // Nor one that is too old.
        let (token, _) = world.challenge_by_email(&anna).await;
        world.app.kit.clock.advance(9 * MINUTE);
        let (sent, code) = world.code_of(anna.email, world.ask_code(&token)).await;
        world.app.kit.clock.advance(MINUTE);
        assert_eq!(world.verify_email(&sent.json()["stateToken"], &code).await.verdict(), GONE, "it lives no longer");
        let send = world.post_own(&anna.access, "proof", json!({ "emailData": {} }));
        let (_, code) = world.code_of(anna.email, send).await;
        world.app.kit.clock.advance(10 * MINUTE);
        assert_eq!(world.prove(&anna.access, json!({ "emailData": { "code": code } })).await, WRONG);
    }

    async fn code_is_of_one_purpose_member_and_sign_in(engine) {
        let world = World::with_factors(engine).await;
        let (anna, ben) = (world.by_email("anna@example.org").await, world.by_email("ben@example.org").await);
        let (token, code) = world.challenge_by_email(&anna).await;
        let visitor = world.visitor().await;
        // One that proves the address is no factor.
        let start = json!({ "identityId": world.id_of(anna.email).await, "target": "EMAIL" });
        let (started, address_code) = world.code_of(anna.email, world.call(&anna.access, "/v1/start", &start)).await;
        if address_code != code {
            assert_eq!(world.verify_email(&token, &address_code).await.verdict(), WRONG);
            let verify = json!({ "code": code, "stateToken": started.json()["verificationId"] });
            assert_eq!(world.call(&visitor, "/v1/auth/verify", &verify).await.verdict(), WRONG, "nor the other way round");
        }
        let verify = json!({ "code": code, "stateToken": token });
        assert_eq!(world.call(&visitor, "/v1/auth/verify", &verify).await.verdict(), GONE);
        assert_eq!(world.call(&visitor, "/v1/auth/resend", &json!({ "stateToken": token })).await.verdict(), GONE);
        assert_eq!(world.verify_email(&started.json()["verificationId"], &address_code).await.verdict(), GONE);
        // Nor is one of another factor, member, sign-in or session.
        let shown = json!({ "stateToken": token, "totpData": { "code": code } });
        assert_eq!(world.call(&visitor, "/v2/TOTP/verify", &shown).await.verdict(), WRONG);
        let (bens, bens_code) = world.challenge_by_email(&ben).await;
        if bens_code != code {
            assert_eq!(world.verify_email(&bens, &code).await.verdict(), WRONG);
            assert_eq!(world.verify_email(&token, &bens_code).await.verdict(), WRONG);
        }
        assert_eq!(world.prove(&anna.access, json!({ "emailData": { "code": code } })).await, WRONG);
        world.app.kit.clock.advance(MINUTE);
        let (second, second_code) = world.challenge_by_email(&anna).await;
        if second_code != code {
            assert_eq!(world.verify_email(&second, &code).await.verdict(), WRONG);
        }
        world.app.kit.clock.advance(30_000);
        assert_eq!(world.verify_email(&token, &code).await.verdict(), "200");
        // It ends with the sessions and the factors.
        assert_eq!(world.own(&anna.access, Method::DELETE, "sessions", json!({})).await.verdict(), "200");
        assert_eq!(world.verify_email(&second, &second_code).await.verdict(), GONE);
        // A site's own: another has nothing of it.
        let other = world.app.kit.store.site_create("Other", &world.app.kit.world).await.unwrap();
        let (_, key) = world.app.app.identity.api_key_create(&other.id, "other").await.unwrap();
        let body = json!({ "stateToken": bens, "emailData": { "code": bens_code } });
        assert_eq!(world.call(key.expose(), "/v2/EMAIL/verify", &body).await.verdict(), GONE);
    }

    async fn guessing_at_a_code_by_email_waits_longer_each_time(engine) {
        let world = World::with_factors(engine).await;
        let anna = world.by_email("anna@example.org").await;
        let (token, code) = world.challenge_by_email(&anna).await;
        let guess = wrong(&code);
        let tries = join_all((0..100).map(|_| world.verify_email(&token, &guess))).await;
        assert_eq!(tries.iter().filter(|it| it.verdict() == WRONG).count(), 5);
        assert_eq!(world.events("factor_slowed").await, 1);
        // Neither another code nor another state token gives more guesses, and the right one waits as well.
        assert_eq!(world.verify_email(&token, &code).await.verdict(), THROTTLED);
        let (second, other) = world.challenge_by_email(&anna).await;
        assert_eq!(world.verify_email(&second, &other).await.verdict(), THROTTLED);
        assert_eq!(world.prove(&anna.access, json!({ "emailData": { "code": "123456" } })).await, THROTTLED);
        world.app.kit.clock.advance(30_000);
        assert_eq!(world.verify_email(&second, &wrong(&other)).await.verdict(), WRONG);
        world.app.kit.clock.advance(30_000);
        assert_eq!(world.verify_email(&second, &other).await.verdict(), THROTTLED, "a minute now");
        // Recovery codes are the way in meanwhile.
        assert_eq!(world.verify_recovery(&second, &anna.recovery_codes[0]).await.verdict(), "200");
        world.app.kit.clock.advance(30_000);
        assert_eq!(world.verify_email(&second, &other).await.verdict(), "200");
    }

    async fn member_gets_few_codes_however_many_are_asked_for(engine) {
        let world = World::with_factors(engine).await;
        let anna = world.by_email("anna@example.org").await;
        let asked = world.login(anna.email, PASSWORD).await;
        let tries = join_all((0..100).map(|_| world.ask_code(&asked["stateToken"]))).await;
        let sent = tries.iter().filter(|it| it.verdict() == "200").count();
        assert!((1..=10).contains(&sent), "{sent}");
        assert!(tries.iter().all(|it| ["200", THROTTLED].contains(&it.verdict().as_str())));
        for _ in sent..10 {
            assert_eq!(world.ask_code(&asked["stateToken"]).await.verdict(), "200");
        }
        // All that sends codes counts together: pages, proofs, what proves an address.
        assert_eq!(world.ask_code(&asked["stateToken"]).await.verdict(), THROTTLED);
        let browser = world.browser();
        let view = browser.password(anna.email).await;
        let view = browser.answer(&text(&view["token"]), json!({ "type": "RESEND" })).await;
        assert_eq!((at(&view), &view["step"]["sentTo"]), (("SECOND_FACTOR", Some("THROTTLED_FEATURE")), &Value::Null));
        assert_eq!(world.post_own(&anna.access, "proof", json!({ "emailData": {} })).await.verdict(), THROTTLED);
        let start = json!({ "identityId": world.id_of(anna.email).await, "target": "EMAIL" });
        assert_eq!(world.call(&anna.access, "/v1/start", &start).await.verdict(), THROTTLED);
        // Others notice nothing, and an hour later there is room again: for ten, also from one session.
        let ben = world.by_email("ben@example.org").await;
        world.challenge_by_email(&ben).await;
        for _ in 0..3 {
            world.app.kit.clock.advance(61 * MINUTE);
            let tries = join_all((0..20).map(|_| world.post_own(&anna.access, "proof", json!({ "emailData": {} })))).await;
            let sent = tries.iter().filter(|it| it.verdict() == "200").count();
            assert!((1..=10).contains(&sent), "{sent}");
        }
    }

    async fn each_code_leaves_the_hour_at_its_own_moment(engine) {
        let world = World::with_factors(engine).await;
        let anna = world.by_email("anna@example.org").await;
        let send = async || world.post_own(&anna.access, "proof", json!({ "emailData": {} })).await;
        assert_eq!(send().await.verdict(), "200");
        world.app.kit.clock.advance(59 * MINUTE);
        for _ in 0..9 {
            assert_eq!(send().await.verdict(), "200");
        }
        assert_eq!(send().await.verdict(), THROTTLED);
        // The first of them goes, and no more.
        world.app.kit.clock.advance(2 * MINUTE);
        let (_, code) = world.code_of(anna.email, send()).await;
        assert_eq!(send().await.verdict(), THROTTLED);
        // One that was used is not counted: who asked for it reads the mailbox.
        assert_eq!(world.prove(&anna.access, json!({ "emailData": { "code": code } })).await, "200");
        assert_eq!(send().await.verdict(), "200");
        assert_eq!(send().await.verdict(), THROTTLED);
    }

    async fn stolen_session_turns_no_codes_by_email_on_or_off(engine) {
        let world = World::with_factors(engine).await;
        let stolen = world.member_access("carl@example.org").await;
        assert_eq!(world.call(&stolen, "/v2/change-password", &json!({ "newPassword": ANOTHER })).await.verdict(), "200");
        assert_eq!(world.prove(&stolen, json!({ "password": ANOTHER })).await, NEEDED);
        assert_eq!(world.post_own(&stolen, "factors", json!({ "type": "EMAIL" })).await.verdict(), NEEDED);
        assert_eq!(world.count("factor").await, 0);
        // Nor does one whose address nobody has shown.
        let unproven = world.unproven_access("dora@example.org").await;
        assert_eq!(world.prove(&unproven, json!({ "password": PASSWORD })).await, "200");
        assert_eq!(world.post_own(&unproven, "factors", json!({ "type": "EMAIL" })).await.verdict(), UNPROVEN);

        let anna = world.by_email("anna@example.org").await;
        world.app.kit.clock.advance(11 * MINUTE);
        let (token, code) = world.challenge_by_email(&anna).await;
        let signed = world.verify_email(&token, &code).await.json();
        let stolen = world.access_of(&signed["sessionToken"]).await;
        let remove = format!("factors/{}", anna.id);
        // A code that another session asked for proves nothing here.
        let send = world.post_own(&anna.access, "proof", json!({ "emailData": {} }));
        let (sent, code) = world.code_of(anna.email, send).await;
        assert_eq!(sent.json(), json!({ "sentTo": "a***@example.org" }));
        assert_eq!(world.prove(&stolen, json!({ "emailData": { "code": code } })).await, WRONG);
        assert_eq!(world.own(&stolen, Method::DELETE, &remove, json!({})).await.verdict(), NEEDED);
        assert_eq!(world.prove(&anna.access, json!({ "emailData": { "code": code } })).await, "200");
        assert_eq!(world.prove(&anna.access, json!({ "emailData": { "code": code } })).await, WRONG, "once");
        assert_eq!(world.own(&stolen, Method::DELETE, &remove, json!({})).await.verdict(), NEEDED);
        assert_eq!(world.own(&anna.access, Method::DELETE, &remove, json!({})).await.verdict(), "200");
        // Another's is not there.
        let ben = world.by_email("ben@example.org").await;
        let eve = world.by_email("eve@example.org").await;
        let foreign = format!("factors/{}", eve.id);
        assert_eq!(world.own(&ben.access, Method::DELETE, &foreign, json!({})).await.verdict(), "404 NOT_FOUND");
        let confirm = world.post_own(&ben.access, &format!("{foreign}/confirm"), json!({ "code": "123456" })).await;
        assert_eq!(confirm.verdict(), "404 NOT_FOUND");
    }

    async fn codes_go_to_no_address_that_nobody_has_shown(engine) {
        let world = World::with_factors(engine).await;
        let anna = world.by_email("anna@example.org").await;
        let (token, code) = world.challenge_by_email(&anna).await;
        let browser = world.browser();
        let view = browser.password(anna.email).await;
        world.move_to(anna.email, "other@example.org").await;
        // Neither does one count that went to the address before: what waited is over.
        assert_eq!(world.verify_email(&token, &code).await.verdict(), GONE);
        assert_eq!(world.ask_code(&token).await.verdict(), GONE);
        let view = browser.answer(&text(&view["token"]), json!({ "type": "RESEND" })).await;
        assert_eq!(at(&view), ("SIGN_IN", Some("STEP_CHANGED")));
        let asked = world.login("other@example.org", PASSWORD).await;
        assert_eq!((&asked["state"], offered(&asked)), (&json!("MFA_CHALLENGE"), vec!["RECOVERY_CODE"]), "still asked");
        let refused = world.post_own(&anna.access, "proof", json!({ "emailData": {} })).await;
        assert_eq!(refused.json()["details"]["validationError"]["fieldViolations"][0]["field"], "emailData");
        let signed = world.verify_recovery(&asked["stateToken"], &anna.recovery_codes[0]).await.json();
        let access = world.access_of(&signed["sessionToken"]).await;
        // Once it is shown they go there.
        let start = json!({ "identityId": world.id_of("other@example.org").await, "target": "EMAIL" });
        let (started, code) = world.code_of("other@example.org", world.call(&access, "/v1/start", &start)).await;
        let verify = json!({ "code": code, "stateToken": started.json()["verificationId"] });
        assert_eq!(world.call(&access, "/v1/auth/verify", &verify).await.verdict(), "200");
        let asked = world.login("other@example.org", PASSWORD).await;
        let (sent, code) = world.code_of("other@example.org", world.ask_code(&asked["stateToken"])).await;
        assert_eq!(world.verify_email(&sent.json()["stateToken"], &code).await.verdict(), "200");
        // One that was begun for another address is not turned on.
        let ben = world.member_access("ben@example.org").await;
        assert_eq!(world.prove(&ben, json!({ "password": PASSWORD })).await, "200");
        let begin = world.post_own(&ben, "factors", json!({ "type": "EMAIL" }));
        let (begun, code) = world.code_of("ben@example.org", begin).await;
        world.move_to("ben@example.org", "carl@example.org").await;
        let confirm = format!("factors/{}/confirm", text(&begun.json()["factor"]["id"]));
        assert_eq!(world.post_own(&ben, &confirm, json!({ "code": code })).await.verdict(), UNPROVEN);
    }

    async fn mailbox_alone_signs_nobody_in(engine) {
        let world = World::with_factors(engine).await;
        let anna = world.by_email("anna@example.org").await;
        // Who reads the mail sets a password by a link, and has shown nothing else.
        let recover = json!({ "recoveryToken": world.recovery_link(anna.email).await, "password": ANOTHER });
        let asked = world.call(&world.visitor().await, "/v1/recover", &recover).await.json();
        assert_eq!((&asked["state"], offered(&asked)), (&json!("MFA_CHALLENGE"), vec!["RECOVERY_CODE"]));
        let refused = world.ask_code(&asked["stateToken"]).await;
        assert_eq!(refused.json()["details"]["validationError"]["fieldViolations"][0]["field"], "factorType");
        // Nor by signing in with it afterwards, by calls, on the pages, or by another link.
        let asked = world.login(anna.email, ANOTHER).await;
        assert_eq!(offered(&asked), ["RECOVERY_CODE"]);
        assert_eq!(world.verify_email(&asked["stateToken"], "123456").await.verdict(), WRONG);
        let browser = world.browser();
        let link = world.recovery_link(anna.email).await;
        let token = flow_of(&browser.open(&format!("/_api/account/v1/recover?token={link}")).await);
        let view = browser.answer(&token, json!({ "type": "NEW_PASSWORD", "password": PASSWORD })).await;
        assert_eq!((at(&view), &view["step"]["factors"]), (("SECOND_FACTOR", None), &json!(["RECOVERY_CODE"])));
        assert_eq!(at(&browser.answer(&token, json!({ "type": "RESEND" })).await), ("SECOND_FACTOR", Some("STEP_CHANGED")));
        assert!(!browser.has("stoa-session"));
        world.app.kit.clock.advance(48 * 60 * MINUTE);
        assert_eq!(offered(&world.login(anna.email, PASSWORD).await), ["RECOVERY_CODE"], "time proves nothing");
        // A recovery code shows that it is the member: from then on codes count beside this password.
        let asked = world.login(anna.email, PASSWORD).await;
        assert_eq!(world.verify_recovery(&asked["stateToken"], &anna.recovery_codes[0]).await.verdict(), "200");
        let (token, code) = world.challenge_by_email(&anna).await;
        assert_eq!(world.verify_email(&token, &code).await.verdict(), "200");
        // So does an authenticator; each can be chosen where there are both.
        let access = world.access_of(&world.signed_by_email(&anna).await).await;
        assert_eq!(world.prove_by_email(&access, anna.email).await, "200");
        let begun = world.post_own(&access, "factors", json!({})).await.json();
        let secret = text(&begun["secret"]);
        let confirm = format!("factors/{}/confirm", text(&begun["factor"]["id"]));
        let confirmed = world.post_own(&access, &confirm, json!({ "code": world.totp(&secret, 0) })).await;
        assert_eq!((confirmed.verdict(), confirmed.json().get("recoveryCodes")), ("200".to_owned(), None));
        world.next_step();
        let both = vec!["TOTP", "EMAIL", "RECOVERY_CODE"];
        let asked = world.login(anna.email, PASSWORD).await;
        assert_eq!((&asked["mfaChallengeData"]["factorType"], offered(&asked)), (&json!("TOTP"), both.clone()));
        world.app.kit.clock.advance(61 * MINUTE);
        let recover = json!({ "recoveryToken": world.recovery_link(anna.email).await, "password": ANOTHER });
        let asked = world.call(&world.visitor().await, "/v1/recover", &recover).await.json();
        assert_eq!(offered(&asked), ["TOTP", "RECOVERY_CODE"]);
        assert_eq!(world.verify_totp(&asked["stateToken"], &world.totp(&secret, 0)).await.verdict(), "200");
        assert_eq!(offered(&world.login(anna.email, ANOTHER).await), both);
    }

    async fn codes_by_email_are_none_that_a_site_requires(engine) {
        let world = World::with_factors(engine).await;
        let anna = world.by_email("anna@example.org").await;
        world.policy(json!({ "secondFactor": "REQUIRED", "secondFactorGraceDays": 1 })).await;
        // While it may be put off it is, behind the code: never in its place.
        let browser = world.browser();
        let view = browser.password(anna.email).await;
        assert_eq!(at(&view), ("SECOND_FACTOR", None));
        let (token, path) = (text(&view["token"]), format!("/_api/account/v1/flows/{}", text(&view["token"])));
        assert_eq!(at(&browser.answer(&token, json!({ "type": "LATER" })).await), ("SECOND_FACTOR", Some("STEP_CHANGED")));
        let resend = json!({ "type": "RESEND" });
        let (_, code) = world.code_of(anna.email, browser.ask(Method::POST, &path, Some(&resend))).await;
        let show = |code: &str| json!({ "type": "SECOND_FACTOR", "factor": "EMAIL", "code": code, "remember": true });
        assert_eq!(at(&browser.answer(&token, show(&code)).await), ("OFFER_FACTOR", None));
        assert!(!browser.has("stoa-session"));
        assert_eq!(at(&browser.answer(&token, json!({ "type": "LATER" })).await), ("DONE", None));
        assert_eq!(at(&browser.password(anna.email).await), ("OFFER_FACTOR", None), "the browser is remembered");
        let (token, code) = world.challenge_by_email(&anna).await;
        assert_eq!(world.verify_email(&token, &code).await.json()["state"], "SUCCESS", "calls put it off");

        world.app.kit.clock.advance(24 * 60 * MINUTE);
        let (token, code) = world.challenge_by_email(&anna).await;
        let answer = world.verify_email(&token, &code).await.json();
        assert_eq!((&answer["state"], answer.get("sessionToken"), answer.get("stateToken")), (&json!("REQUIRE_MFA"), None, None));
        // The list is of what meets the rule: what was just shown, and any other kind, is not in it under another status.
        let named = answer["requireMfaData"]["availableFactors"].as_array().unwrap();
        let named: Vec<&str> = named.iter().map(|it| it["factorType"].as_str().unwrap()).collect();
        assert_eq!(named, ["WEBAUTHN", "TOTP"], "{answer}");
        // The pages have an authenticator set up, once the code was shown.
        let browser = world.browser();
        let view = browser.password(anna.email).await;
        let (token, path) = (text(&view["token"]), format!("/_api/account/v1/flows/{}", text(&view["token"])));
        assert_eq!(at(&browser.answer(&token, json!({ "type": "ENROL_FACTOR" })).await), ("SECOND_FACTOR", Some("STEP_CHANGED")));
        let (_, code) = world.code_of(anna.email, browser.ask(Method::POST, &path, Some(&resend))).await;
        let view = browser.answer(&token, show(&code)).await;
        assert_eq!((at(&view), &view["step"]["until"]), (("ENROL_FACTOR", None), &Value::Null));
        let secret = text(&view["step"]["secret"]);
        assert_eq!(world.events("recovery_code_renew").await, 0);
        let view = browser.answer(&token, json!({ "type": "CONFIRM_FACTOR", "code": world.totp(&secret, 0) })).await;
        assert_eq!(at(&view), ("RECOVERY_CODES", None), "{view}");
        assert_eq!(world.events("recovery_code_renew").await, 1, "the ten of before are worth nothing");
        assert_eq!(at(&browser.answer(&token, json!({ "type": "CODES_KEPT" })).await), ("DONE", None));
        assert!(browser.has("stoa-session"));
        assert_eq!(at(&browser.password(anna.email).await), ("DONE", None), "the browser is remembered");
        world.next_step();
        let asked = world.login(anna.email, PASSWORD).await;
        assert_eq!(offered(&asked), ["TOTP", "EMAIL", "RECOVERY_CODE"]);
        let refused = world.verify_recovery(&asked["stateToken"], &anna.recovery_codes[0]).await;
        assert_eq!(refused.verdict(), WRONG, "one of before");
        let (sent, code) = world.code_of(anna.email, world.ask_code(&asked["stateToken"])).await;
        let signed = world.verify_email(&sent.json()["stateToken"], &code).await.json();
        assert_eq!(signed["state"], "SUCCESS", "beside an authenticator they are another way");
        // It stays, and the codes by e-mail go when the member wants.
        let access = world.access_of(&signed["sessionToken"]).await;
        assert_eq!(world.prove(&access, json!({ "totpData": { "code": world.totp(&secret, 0) } })).await, "200");
        let list = world.own(&access, Method::GET, "factors", json!({})).await.json();
        let id_of = |kind: &str| {
            let found = list["factors"].as_array().unwrap().iter().find(|it| it["type"] == kind);
            text(&found.unwrap()["id"])
        };
        let remove = async |id: String| world.own(&access, Method::DELETE, &format!("factors/{id}"), json!({})).await.verdict();
        assert_eq!(remove(id_of("TOTP")).await, "403 PERMISSION_DENIED");
        assert_eq!(remove(id_of("EMAIL")).await, "200");
        assert_eq!(remove(id_of("TOTP")).await, "403 PERMISSION_DENIED");
    }

    async fn what_was_shown_is_not_asked_for_again_before_a_factor_that_is_required(engine) {
        let world = World::with_factors(engine).await;
        let anna = world.by_email("anna@example.org").await;
        world.policy(json!({ "secondFactor": "REQUIRED", "secondFactorGraceDays": 0 })).await;
        // A password that a session has set without the one before, so that the address would be asked for.
        world.app.kit.clock.advance(11 * MINUTE);
        for (password, factor) in [(ANOTHER, "EMAIL"), ("a third long phrase", "RECOVERY_CODE")] {
            let changed = world.call(&anna.access, "/v2/change-password", &json!({ "newPassword": password })).await;
            assert_eq!(changed.verdict(), "200");
            let browser = world.browser();
            let token = text(&browser.start(json!({ "kind": "SIGN_IN" })).await["token"]);
            let sign_in = json!({ "type": "SIGN_IN", "email": anna.email, "password": password });
            assert_eq!(at(&browser.answer(&token, sign_in).await), ("SECOND_FACTOR", None));
            let code = match factor {
                "EMAIL" => {
                    let (path, resend) = (format!("/_api/account/v1/flows/{token}"), json!({ "type": "RESEND" }));
                    world.code_of(anna.email, browser.ask(Method::POST, &path, Some(&resend))).await.1
                }
                _ => anna.recovery_codes[0].clone(),
            };
            world.app.mail.take();
            let show = json!({ "type": "SECOND_FACTOR", "factor": factor, "code": code, "remember": false });
            assert_eq!(at(&browser.answer(&token, show).await), ("ENROL_FACTOR", None), "{factor}");
            assert!(world.app.mail.last_to(anna.email).is_none_or(|it| it.code.is_none()), "{factor}");
        }
    }

    async fn calls_are_led_to_the_pages_of_their_own_client(engine) {
        let world = World::with_factors(engine).await;
        let anna = world.by_email("anna@example.org").await;
        world.member_access("ben@example.org").await;
        world.policy(json!({ "secondFactor": "REQUIRED", "secondFactorGraceDays": 0 })).await;
        world.app.kit.clock.advance(1_000);
        let (name, redirect_uris) = ("Second".to_owned(), vec![CALLBACK.to_owned()]);
        let draft = NewClient { name, redirect_uris, origins: vec![APP.to_owned()], ..NewClient::default() };
        let (second, _) = world.app.app.identity.client_create(&world.app.site.id, draft).await.unwrap();
        let grant = json!({ "clientId": second.id, "grantType": "anonymous" });
        let visitor = text(&world.call("", "/oauth2/token", &grant).await.json()["access_token"]);
        let led_to = |answer: &Value| {
            assert_eq!(answer["state"], "REQUIRE_MFA", "{answer}");
            text(&answer["additionalData"]["signInUrl"]["strValue"]).split_once("clientId=").unwrap().1.to_owned()
        };
        let (token, code) = world.challenge_by_email(&anna).await;
        let shown = json!({ "stateToken": token, "emailData": { "code": code } });
        assert_eq!(led_to(&world.call(&visitor, "/v2/EMAIL/verify", &shown).await.json()), second.id.to_string());
        let recover = json!({ "recoveryToken": world.recovery_link("ben@example.org").await, "password": ANOTHER });
        assert_eq!(led_to(&world.call(&visitor, "/v1/recover", &recover).await.json()), second.id.to_string());
        // Of the first client as of none.
        let (token, code) = world.challenge_by_email(&anna).await;
        assert_eq!(led_to(&world.verify_email(&token, &code).await.json()), world.client.id.to_string());
    }

    async fn what_codes_by_email_have_not_is_refused_by_name(engine) {
        let world = World::with_factors(engine).await;
        let anna = world.by_email("anna@example.org").await;
        for (body, field) in [
            (json!({ "type": "SMS" }), "type"),
            (json!({ "type": "RECOVERY_CODE" }), "type"),
            (json!({ "type": 7 }), "type"),
            (json!({ "type": "EMAIL", "name": "Mail" }), "name"),
        ] {
            let json = world.post_own(&anna.access, "factors", body.clone()).await.json();
            assert_eq!(json["details"]["validationError"]["fieldViolations"][0]["field"], field, "{body}: {json}");
        }
        for (body, field) in [
            (json!({ "emailData": "123456" }), "emailData"),
            (json!({ "emailData": { "code": 123_456 } }), "emailData.code"),
            (json!({ "emailData": { "code": "1".repeat(101) } }), "emailData.code"),
            (json!({ "emailData": { "code": "123456" }, "password": PASSWORD }), "password"),
            (json!({ "emailData": {}, "password": PASSWORD }), "password"),
            (json!({ "emailData": {}, "totpData": {} }), "password"),
        ] {
            let json = world.post_own(&anna.access, "proof", body.clone()).await.json();
            assert_eq!(json["details"]["validationError"]["fieldViolations"][0]["field"], field, "{body}: {json}");
        }
        // A sign-in takes what it names.
        let asked = world.login(anna.email, PASSWORD).await;
        let body = json!({ "stateToken": asked["stateToken"] });
        let json = world.call(&world.visitor().await, "/v2/TOTP/verify", &body).await.json();
        assert_eq!(json["details"]["validationError"]["fieldViolations"][0]["field"], "factorType", "{json}");
        // Those who run the site take it away with the others.
        let reset = format!("{OWN}/members/{}/factors", world.id_of(anna.email).await);
        assert_eq!(world.app.app().delete(&reset).await.json(), json!({ "removed": 1 }));
        assert_eq!(world.login(anna.email, PASSWORD).await["state"], "SUCCESS");
        // Where the site lets members add none, none is added.
        world.policy(json!({ "secondFactor": "OFF" })).await;
        assert_eq!(world.prove(&anna.access, json!({ "password": PASSWORD })).await, "200");
        assert_eq!(world.post_own(&anna.access, "factors", json!({ "type": "EMAIL" })).await.verdict(), "403 PERMISSION_DENIED");
    }

    async fn member_is_told_that_browsers_were_forgotten(engine) {
        let world = World::with_factors(engine).await;
        let anna = world.enrolled("anna@example.org").await;
        let browser = world.browser();
        let view = browser.password(&anna.email).await;
        assert_eq!(browser.factor(&view, &world.totp(&anna.secret, 0), true).await["step"]["type"], "DONE");
        let mut subjects = Vec::new();
        let told = |subjects: &[String]| subjects.iter().filter(|it| it.contains("in every browser again")).count();
        for _ in 0..2 {
            assert_eq!(world.own(&anna.access, Method::DELETE, "remembered-browsers", json!({})).await.verdict(), "200");
        }
        for _ in 0..TRIES {
            subjects.extend(world.subjects().await);
            if told(&subjects) > 0 {
                break;
            }
            tokio::time::sleep(PAUSE).await;
        }
        let written = world.events("remembered_browser_forget").await;
        assert_eq!((told(&subjects), written), (1, 1), "the second time there was none");
    }
}

impl World {
    /// The session token of a sign-in by a code.
    async fn signed_by_email(&self, member: &ByEmail) -> Value {
        let (token, code) = self.challenge_by_email(member).await;
        self.verify_email(&token, &code).await.json()["sessionToken"].clone()
    }
}
