//! Second factors as members, browsers and attackers meet them (docs/second-factors.md, docs/defence.md).

use super::*;
use futures_util::future::join_all;
use ring::hmac;
use stoa_identity::Config;
use stoa_kernel::Email;
use stoa_store::{ReaderPool, boxed};
use stoa_testkit::on_both_engines;

const OWN: &str = "/_api/identity/v1";
const NEEDED: &str = "403 INSUFFICIENT_USER_AUTHENTICATION";
const WRONG: &str = "400 VERIFICATION_FAILED";
const UNPROVEN: &str = "403 EMAIL_VERIFICATION_REQUIRED";
const GONE: &str = "400 INVALID_STATE_TOKEN";
const ANOTHER: &str = "another long phrase";

/// A member with an authenticator.
struct Enrolled {
    email: String,
    /// Of the session in which it was added.
    access: String,
    id: String,
    secret: String,
    recovery_codes: Vec<String>,
}

impl World {
    async fn with_factors(engine: Engine) -> Self {
        let world = Self::new(engine).await;
        world.policy(json!({ "secondFactor": "OPTIONAL" })).await;
        world
    }

    async fn own(&self, access: &str, method: Method, path: &str, body: Value) -> Reply {
        let headers = [("authorization", access), ("origin", APP), ("content-type", "application/json")];
        let body = (method != Method::DELETE).then_some(&body);
        send(&self.app, method, &format!("{OWN}/{path}"), &headers, body).await
    }

    async fn post_own(&self, access: &str, path: &str, body: Value) -> Reply {
        self.own(access, Method::POST, path, body).await
    }

    async fn prove(&self, access: &str, proof: Value) -> String {
        self.post_own(access, "proof", proof).await.verdict()
    }

    /// A member who has just signed up and shown that the address is theirs, and a token of theirs.
    async fn member_access(&self, email: &str) -> String {
        let access = self.unproven_access(email).await;
        let start = json!({ "identityId": self.id_of(email).await, "target": "EMAIL" });
        let started = self.call(&access, "/v1/start", &start).await.json();
        let code = self.app.code_to(email).await;
        let verify = json!({ "code": code, "stateToken": started["verificationId"] });
        assert_eq!(self.call(&access, "/v1/auth/verify", &verify).await.json()["state"], "STATUS_CHECK");
        access
    }

    /// The same of one who has shown nothing of the address.
    async fn unproven_access(&self, email: &str) -> String {
        text(&self.member(&self.browser(), email).await["access_token"])
    }

    /// Gives a member another address, as those who run the site may.
    async fn move_to(&self, email: &str, other: &str) {
        let body = json!({ "newEmail": other }).to_string();
        let path = format!("/wix-sm/api/v1/auth/api/v1/members/{}/change-login-email", self.id_of(email).await);
        let reply = self.app.app().send(Method::PATCH, &path, Some(body.into())).await;
        assert_eq!(reply.verdict(), "200");
    }

    /// What a client does with a `sessionToken`.
    async fn access_of(&self, session_token: &Value) -> String {
        let browser = self.browser();
        let page = browser.open_from(&self.direct(&text(session_token)).await, Some(APP)).await;
        let tokens = self.exchange(message_of(&page)["code"].as_str().unwrap(), None).await;
        text(&tokens.json()["access_token"])
    }

    async fn enrol(&self, access: &str, proof: Value) -> (String, String, Vec<String>) {
        assert_eq!(self.prove(access, proof).await, "200");
        let begun = self.post_own(access, "factors", json!({})).await.json();
        let (id, secret) = (text(&begun["factor"]["id"]), text(&begun["secret"]));
        let confirmed =
            self.post_own(access, &format!("factors/{id}/confirm"), json!({ "code": self.totp(&secret, 0) })).await;
        assert_eq!(confirmed.verdict(), "200", "{}", confirmed.json());
        let codes = confirmed.json()["recoveryCodes"].as_array().cloned().unwrap_or_default();
        self.next_step();
        (id, secret, codes.iter().map(text).collect())
    }

    async fn enrolled(&self, email: &str) -> Enrolled {
        let access = self.member_access(email).await;
        let (id, secret, recovery_codes) = self.enrol(&access, json!({ "password": PASSWORD })).await;
        self.app.mail.take();
        Enrolled { email: email.to_owned(), access, id, secret, recovery_codes }
    }

    /// So that another code counts.
    fn next_step(&self) {
        self.app.kit.clock.advance(30_000);
    }

    fn totp(&self, secret: &str, steps: i64) -> String {
        code_at(secret, self.app.kit.world.now() / 30_000 + steps)
    }

    async fn login(&self, email: &str, password: &str) -> Value {
        let body = json!({ "loginId": { "email": email }, "password": password });
        self.call(&self.visitor().await, "/v2/login", &body).await.json()
    }

    /// A state token of one who has shown the password.
    async fn challenge(&self, member: &Enrolled) -> Value {
        let asked = self.login(&member.email, PASSWORD).await;
        assert_eq!(asked["state"], "MFA_CHALLENGE", "{asked}");
        asked["stateToken"].clone()
    }

    async fn verify_totp(&self, state_token: &Value, code: &str) -> Reply {
        let body = json!({ "stateToken": state_token, "totpData": { "code": code } });
        self.call(&self.visitor().await, "/v2/TOTP/verify", &body).await
    }

    async fn verify_recovery(&self, state_token: &Value, code: &str) -> Reply {
        let body = json!({ "stateToken": state_token, "recoveryCodeData": { "code": code } });
        self.call(&self.visitor().await, "/v2/RECOVERY_CODE/verify", &body).await
    }

    async fn subjects(&self) -> Vec<String> {
        self.app.mail.take().into_iter().map(|it| it.subject).collect()
    }

    async fn events(&self, event: &str) -> usize {
        let entries = self.app.app().get(&format!("{OWN}/audit?event={event}")).await.json();
        entries["entries"].as_array().unwrap().len()
    }

    async fn id_of(&self, email: &str) -> String {
        let email = Email::parse(email).unwrap();
        self.app.app.identity.member_by_email(&self.app.site, &email).await.unwrap().unwrap().id.to_string()
    }

    pub(crate) async fn recovery_link(&self, email: &str) -> String {
        self.app.mail.take();
        self.call(&self.visitor().await, "/v1/send-email", &json!({ "email": email })).await;
        loop {
            // Links are sent after the answer.
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            let links = self.app.mail.last_to(email).map(|it| it.links).unwrap_or_default();
            if let Some((_, token)) = links.iter().find_map(|it| it.split_once("recover?token=")) {
                return token.to_owned();
            }
        }
    }
}

impl Browser<'_> {
    /// Signs in on the account pages, and answers the view behind the password.
    async fn password(&self, email: &str) -> Value {
        let token = text(&self.start(json!({ "kind": "SIGN_IN" })).await["token"]);
        self.answer(&token, json!({ "type": "SIGN_IN", "email": email, "password": PASSWORD })).await
    }

    async fn factor(&self, view: &Value, code: &str, remember: bool) -> Value {
        let input = json!({ "type": "SECOND_FACTOR", "factor": "TOTP", "code": code, "remember": remember });
        self.answer(&text(&view["token"]), input).await
    }
}

/// RFC 6238, by other code than the server's.
fn code_at(secret: &str, step: i64) -> String {
    const ALPHABET: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    let bits: String = secret.chars().map(|it| format!("{:05b}", ALPHABET.find(it).unwrap())).collect();
    let key: Vec<u8> = bits
        .as_bytes()
        .chunks_exact(8)
        .map(|it| u8::from_str_radix(std::str::from_utf8(it).unwrap(), 2).unwrap())
        .collect();
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, &key), &step.to_be_bytes());
    let at = usize::from(tag.as_ref()[19] & 15);
    let number = u32::from_be_bytes(tag.as_ref()[at..at + 4].try_into().unwrap()) & 0x7fff_ffff;
    format!("{:06}", number % 1_000_000)
}

/// A code that is none of those around now.
fn wrong(world: &World, secret: &str) -> String {
    let right: Vec<String> = (-1..=1).map(|it| world.totp(secret, it)).collect();
    (0..).map(|n| format!("{n:06}")).find(|it| !right.contains(it)).unwrap()
}

on_both_engines! {
    async fn member_adds_a_factor_signs_in_with_it_and_removes_it(engine) {
        let world = World::with_factors(engine).await;
        let access = world.member_access("anna@example.org").await;
        let mut list = world.own(&access, Method::GET, "factors", json!({})).await.json();
        assert_eq!(list.as_object_mut().unwrap().remove("pushKey").unwrap().as_str().map(str::len), Some(87));
        assert_eq!(list, json!({ "policy": "OPTIONAL", "addable": ["WEBAUTHN", "TOTP", "PUSH", "EMAIL"], "factors": [], "recoveryCodesLeft": 0, "rememberedBrowsers": 0 }));
        assert_eq!(world.login("anna@example.org", PASSWORD).await["state"], "SUCCESS");
        world.app.mail.take();

        // Nothing without showing who one is.
        assert_eq!(world.post_own(&access, "factors", json!({ "name": "Phone" })).await.verdict(), NEEDED);
        assert_eq!(world.prove(&access, json!({ "password": "not the right one" })).await, "401 -19976");
        assert_eq!(world.prove(&access, json!({ "password": PASSWORD })).await, "200");
        assert_eq!(world.post_own(&access, "recovery-codes", json!({})).await.verdict(), "404 NOT_FOUND");
        let begun = world.post_own(&access, "factors", json!({ "name": "Phone" })).await;
        assert_eq!(begun.headers["cache-control"], "no-store");
        let begun = begun.json();
        let (id, secret, uri) = (text(&begun["factor"]["id"]), text(&begun["secret"]), text(&begun["uri"]));
        assert!(uri.starts_with("otpauth://totp/Test:anna%40example.org?") && uri.contains(&secret), "{uri}");
        // It is asked for once a code of it was shown.
        assert_eq!(world.login("anna@example.org", PASSWORD).await["state"], "SUCCESS");
        let confirm = format!("factors/{id}/confirm");
        let refused = world.post_own(&access, &confirm, json!({ "code": wrong(&world, &secret) })).await;
        assert_eq!(refused.verdict(), WRONG);
        let code = json!({ "code": format!(" {} ", world.totp(&secret, 0)) });
        let confirmed = world.post_own(&access, &confirm, code.clone()).await.json();
        assert_eq!((&confirmed["factor"]["name"], confirmed["recoveryCodes"].as_array().map(Vec::len)), (&json!("Phone"), Some(10)));
        assert_eq!(world.post_own(&access, &confirm, code).await.verdict(), "404 NOT_FOUND", "twice");
        assert_eq!(world.subjects().await, ["Your account at Test asks for a second step now"]);

        // The password alone tells nothing of the member any more.
        let asked = world.login("anna@example.org", PASSWORD).await;
        assert_eq!(asked.as_object().unwrap().keys().collect::<Vec<_>>(), ["state", "stateToken", "mfaChallengeData"]);
        assert_eq!((&asked["state"], &asked["mfaChallengeData"]["factorType"]), (&json!("MFA_CHALLENGE"), &json!("TOTP")));
        assert_eq!(asked["mfaChallengeData"]["availableFactors"][1]["factorType"], "RECOVERY_CODE");
        // The code with which it was confirmed has counted.
        assert_eq!(world.verify_totp(&asked["stateToken"], &world.totp(&secret, 0)).await.verdict(), WRONG);
        let signed = world.verify_totp(&asked["stateToken"], &world.totp(&secret, 1)).await.json();
        assert_eq!((&signed["state"], &signed["identity"]["email"]["address"]), (&json!("SUCCESS"), &json!("anna@example.org")));
        assert!(!world.access_of(&signed["sessionToken"]).await.is_empty());

        // Choosing another factor answers another state token.
        let chosen = json!({ "stateToken": asked["stateToken"] });
        let chosen = world.call(&world.visitor().await, "/_api/iam/authentication/v2/RECOVERY_CODE/verify", &chosen).await.json();
        assert_eq!((&chosen["state"], &chosen["mfaChallengeData"]["factorType"]), (&json!("MFA_CHALLENGE"), &json!("RECOVERY_CODE")));
        let recovery = text(&confirmed["recoveryCodes"][3]).to_lowercase().replace('-', " ");
        assert_eq!(world.verify_recovery(&chosen["stateToken"], &recovery).await.json()["state"], "SUCCESS");
        let mut subjects = world.subjects().await;
        // The rounds in the background may have taken the message.
        while subjects.is_empty() {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            subjects = world.subjects().await;
        }
        assert!(subjects.contains(&"A recovery code for Test was used".to_owned()), "{subjects:?}");
        let list = world.own(&access, Method::GET, "factors", json!({})).await.json();
        assert_eq!((&list["factors"][0]["name"], &list["recoveryCodesLeft"]), (&json!("Phone"), &json!(9)));

        world.app.kit.clock.advance(11 * 60_000);
        assert_eq!(world.own(&access, Method::DELETE, &format!("factors/{id}"), json!({})).await.verdict(), NEEDED);
        assert_eq!(world.prove(&access, json!({ "totpData": { "code": world.totp(&secret, 0) } })).await, "200");
        assert_eq!(world.own(&access, Method::DELETE, &format!("factors/{id}"), json!({})).await.verdict(), "200");
        assert_eq!(world.login("anna@example.org", PASSWORD).await["state"], "SUCCESS");
        assert_eq!(world.subjects().await, ["A second step was removed from your account at Test"]);
        assert_eq!((world.count("factor").await, world.count("recovery_code").await), (0, 0));
        for (event, count) in [("factor_add", 1), ("factor_remove", 1), ("recovery_code_use", 1)] {
            assert_eq!(world.events(event).await, count, "{event}");
        }
    }

    async fn every_way_of_signing_in_asks_for_the_factor(engine) {
        let world = World::with_factors(engine).await;
        let anna = world.enrolled("anna@example.org").await;
        let visitor = world.visitor().await;
        let login = json!({ "loginId": { "email": anna.email }, "password": PASSWORD });
        assert_eq!(world.call(&visitor, "/v2/login", &login).await.json()["state"], "MFA_CHALLENGE");
        let begun = world.call(&visitor, "/v2/login", &json!({ "loginId": { "email": anna.email } })).await.json();
        let goes_on = json!({ "stateToken": begun["stateToken"], "password": PASSWORD });
        assert_eq!(world.call(&visitor, "/v2/login", &goes_on).await.json()["state"], "MFA_CHALLENGE");
        let older = json!({ "email": anna.email, "password": PASSWORD });
        let reply = world.call(&visitor, "/wix-sm/api/v1/auth/api/v1/auth/login", &older).await;
        assert_eq!(reply.verdict(), "403 REQUIRE_MFA");
        let browser = world.browser();
        assert_eq!(browser.password(&anna.email).await["step"]["type"], "SECOND_FACTOR");
        assert!(!browser.has("stoa-session"));
        // A recovery link is no way around: it sets the password, and then asks.
        let link = world.recovery_link(&anna.email).await;
        let recover = json!({ "recoveryToken": link, "password": ANOTHER });
        let asked = world.call(&visitor, "/v1/recover", &recover).await.json();
        assert_eq!((&asked["state"], asked.get("identity")), (&json!("MFA_CHALLENGE"), None));
        assert_eq!(world.verify_totp(&asked["stateToken"], &world.totp(&anna.secret, 0)).await.json()["state"], "SUCCESS");
        let link = world.recovery_link(&anna.email).await;
        let opened = browser.open(&format!("/_api/account/v1/recover?token={link}")).await;
        let token = flow_of(&opened);
        let view = browser.answer(&token, json!({ "type": "NEW_PASSWORD", "password": "a third long phrase" })).await;
        assert_eq!(view["step"]["type"], "SECOND_FACTOR", "{view}");
        assert!(!browser.has("stoa-session"));
        world.next_step();
        let view = browser.factor(&view, &world.totp(&anna.secret, 0), false).await;
        assert_eq!(view["step"]["type"], "DONE", "{view}");
        assert!(browser.has("stoa-session"));
        // The word of an application stands for both factors.
        let vouch = json!({ "loginId": { "email": anna.email } });
        assert!(world.app.app().post("/v2/sign-on", &vouch).await.json()["sessionToken"].is_string());
    }

    async fn code_signs_in_once_among_a_hundred(engine) {
        let world = World::with_factors(engine).await;
        let anna = world.enrolled("anna@example.org").await;
        let token = world.challenge(&anna).await;
        let code = world.totp(&anna.secret, 0);
        let tries = join_all((0..100).map(|_| world.verify_totp(&token, &code))).await;
        let passed = tries.iter().filter(|it| it.verdict() == "200").count();
        assert_eq!(passed, 1);
        assert!(tries.iter().all(|it| ["200", WRONG, "429 THROTTLED_FEATURE"].contains(&it.verdict().as_str())));
        assert_eq!(world.events("member_sign_in").await, 2, "one of them and the first session");
        // Nor does one that is older than it, whichever state token it comes with.
        world.app.kit.clock.advance(3_600_000);
        let token = world.challenge(&anna).await;
        assert_eq!(world.verify_totp(&token, &world.totp(&anna.secret, 1)).await.verdict(), "200");
        assert_eq!(world.verify_totp(&token, &world.totp(&anna.secret, 1)).await.verdict(), WRONG);
        assert_eq!(world.verify_totp(&token, &world.totp(&anna.secret, 0)).await.verdict(), WRONG);
    }

    async fn recovery_code_signs_in_once_among_a_hundred(engine) {
        let world = World::with_factors(engine).await;
        let anna = world.enrolled("anna@example.org").await;
        let token = world.challenge(&anna).await;
        let tries = join_all((0..100).map(|_| world.verify_recovery(&token, &anna.recovery_codes[0]))).await;
        assert_eq!(tries.iter().filter(|it| it.verdict() == "200").count(), 1);
        // New ones end those before, and the sign-ins that wait.
        world.app.kit.clock.advance(3_600_000);
        let token = world.challenge(&anna).await;
        assert_eq!(world.prove(&anna.access, json!({ "totpData": { "code": world.totp(&anna.secret, 0) } })).await, "200");
        let renewed = world.post_own(&anna.access, "recovery-codes", json!({})).await.json();
        assert_eq!(renewed["recoveryCodes"].as_array().unwrap().len(), 10);
        assert_eq!(world.verify_recovery(&token, &anna.recovery_codes[1]).await.verdict(), GONE);
        let token = world.challenge(&anna).await;
        assert_eq!(world.verify_recovery(&token, &anna.recovery_codes[1]).await.verdict(), WRONG);
        world.app.kit.clock.advance(60_000);
        assert_eq!(world.verify_recovery(&token, &text(&renewed["recoveryCodes"][1])).await.verdict(), "200");
        // What is kept of them is no code.
        let sql = "select cast(count(*) as bigint) from stoa.recovery_code where used is null";
        let left = world.app.site.read(ReaderPool::Point, move |tx| boxed!(Ok(tx.row(sql, &[], |row| row.get::<i64>(0)).await?)));
        assert_eq!(left.await.unwrap(), Some(9));
    }

    async fn guessing_at_a_factor_waits_longer_each_time(engine) {
        let world = World::with_factors(engine).await;
        let anna = world.enrolled("anna@example.org").await;
        // A hundred at once, with the password: as many are looked at as don't wait.
        let token = world.challenge(&anna).await;
        let guess = wrong(&world, &anna.secret);
        let tries = join_all((0..100).map(|_| world.verify_totp(&token, &guess))).await;
        let looked_at = tries.iter().filter(|it| it.verdict() == WRONG).count();
        assert_eq!(looked_at, 5);
        let refused = tries.iter().find(|it| it.verdict() == "429 THROTTLED_FEATURE").unwrap();
        assert_eq!(refused.headers["retry-after"], "30");
        assert_eq!(world.events("factor_slowed").await, 1);
        // A new sign-in gives no more guesses, and the right code waits as well. Recovery codes are counted by themselves.
        let token = world.challenge(&anna).await;
        assert_eq!(world.verify_totp(&token, &world.totp(&anna.secret, 0)).await.verdict(), "429 THROTTLED_FEATURE");
        assert_eq!(world.prove(&anna.access, json!({ "totpData": { "code": world.totp(&anna.secret, 0) } })).await, "429 THROTTLED_FEATURE");
        assert_eq!(world.verify_recovery(&token, &anna.recovery_codes[0]).await.verdict(), "200");
        for wait in [30_000, 60_000, 120_000, 240_000] {
            world.app.kit.clock.advance(wait - 1_000);
            let token = world.challenge(&anna).await;
            assert_eq!(world.verify_totp(&token, &guess).await.verdict(), "429 THROTTLED_FEATURE", "{wait}");
            world.app.kit.clock.advance(1_000);
            assert_eq!(world.verify_totp(&token, &wrong(&world, &anna.secret)).await.verdict(), WRONG, "{wait}");
        }
        world.app.kit.clock.advance(480_000);
        let token = world.challenge(&anna).await;
        assert_eq!(world.verify_totp(&token, &world.totp(&anna.secret, 0)).await.verdict(), "200");
        // One that was right ends the count.
        let token = world.challenge(&anna).await;
        assert_eq!(world.verify_totp(&token, &wrong(&world, &anna.secret)).await.verdict(), WRONG);
        assert_eq!(world.verify_totp(&token, &world.totp(&anna.secret, 1)).await.verdict(), "200");
        // Who guesses at both keeps nobody from the recovery codes, neither at sign-in nor for a proof.
        let token = world.challenge(&anna).await;
        for n in 0..20 {
            assert_eq!(world.verify_recovery(&token, &format!("ABCD-EFGH-IJKL-MN{n:02}")).await.verdict(), WRONG);
            world.verify_totp(&token, &wrong(&world, &anna.secret)).await;
        }
        assert_eq!(world.verify_totp(&token, &wrong(&world, &anna.secret)).await.verdict(), "429 THROTTLED_FEATURE");
        assert_eq!(world.verify_recovery(&token, &anna.recovery_codes[1]).await.verdict(), "200");
        assert_eq!(world.prove(&anna.access, json!({ "recoveryCodeData": { "code": anna.recovery_codes[2] } })).await, "200");
        // Others notice nothing.
        let ben = world.enrolled("ben@example.org").await;
        let token = world.challenge(&ben).await;
        assert_eq!(world.verify_totp(&token, &world.totp(&ben.secret, 0)).await.verdict(), "200");
    }

    async fn codes_are_those_of_the_step_before_to_the_step_after(engine) {
        let world = World::with_factors(engine).await;
        let anna = world.enrolled("anna@example.org").await;
        world.app.kit.clock.advance(600_000);
        let token = world.challenge(&anna).await;
        for (steps, verdict) in [(-2, WRONG), (2, WRONG), (-1, "200"), (0, "200"), (1, "200"), (1, WRONG)] {
            assert_eq!(world.verify_totp(&token, &world.totp(&anna.secret, steps)).await.verdict(), verdict, "{steps}");
        }
    }

    async fn challenge_is_for_one_member_site_password_and_moment(engine) {
        let world = World::with_factors(engine).await;
        let (anna, ben) = (world.enrolled("anna@example.org").await, world.enrolled("ben@example.org").await);
        // Another member's code, and a text that is no token.
        let token = world.challenge(&anna).await;
        assert_eq!(world.verify_totp(&token, &world.totp(&ben.secret, 0)).await.verdict(), WRONG);
        assert_eq!(world.verify_recovery(&token, &ben.recovery_codes[0]).await.verdict(), WRONG);
        assert_eq!(world.verify_totp(&json!("no token"), &world.totp(&anna.secret, 0)).await.verdict(), GONE);
        // Tokens of other steps, and this one at others.
        let visitor = world.visitor().await;
        let begun = world.call(&visitor, "/v2/login", &json!({ "loginId": { "email": anna.email } })).await.json();
        assert_eq!(world.verify_totp(&begun["stateToken"], &world.totp(&anna.secret, 0)).await.verdict(), GONE);
        let login = json!({ "stateToken": token, "password": PASSWORD });
        assert_eq!(world.call(&visitor, "/v2/login", &login).await.verdict(), GONE);
        let code = json!({ "stateToken": token, "code": "123456" });
        assert_eq!(world.call(&visitor, "/v1/auth/verify", &code).await.verdict(), GONE);
        // Of another site.
        let other = world.app.kit.store.site_create("Other", &world.app.kit.world).await.unwrap();
        let (_, key) = world.app.app.identity.api_key_create(&other.id, "other").await.unwrap();
        let body = json!({ "stateToken": token, "totpData": { "code": world.totp(&anna.secret, 0) } });
        assert_eq!(world.call(key.expose(), "/v2/TOTP/verify", &body).await.verdict(), GONE);
        // Too old.
        world.app.kit.clock.advance(10 * 60_000);
        assert_eq!(world.verify_totp(&token, &world.totp(&anna.secret, 0)).await.verdict(), GONE);
        // Ended with the sessions, with the password, with the factors, with the member.
        let token = world.challenge(&anna).await;
        assert_eq!(world.own(&anna.access, Method::DELETE, "sessions", json!({})).await.verdict(), "200");
        assert_eq!(world.verify_totp(&token, &world.totp(&anna.secret, 0)).await.verdict(), GONE);
        let token = world.challenge(&anna).await;
        let change = json!({ "newPassword": ANOTHER });
        assert_eq!(world.call(&anna.access, "/v2/change-password", &change).await.verdict(), "200");
        assert_eq!(world.verify_totp(&token, &world.totp(&anna.secret, 0)).await.verdict(), GONE);
        let token = world.challenge(&ben).await;
        world.enrol(&ben.access, json!({ "totpData": { "code": world.totp(&ben.secret, 0) } })).await;
        assert_eq!(world.verify_totp(&token, &world.totp(&ben.secret, 0)).await.verdict(), GONE);
        let token = world.challenge(&ben).await;
        let block = format!("/members/v1/members/{}/block", world.id_of(&ben.email).await);
        assert_eq!(world.app.app().post(&block, &json!({})).await.verdict(), "200");
        assert_eq!(world.verify_totp(&token, &world.totp(&ben.secret, 0)).await.verdict(), GONE);
    }

    async fn stolen_session_changes_no_factor(engine) {
        let world = World::with_factors(engine).await;
        // A password that the session sets itself proves nothing, so that no stranger's factor locks the owner out.
        let stolen = world.member_access("anna@example.org").await;
        assert_eq!(world.call(&stolen, "/v2/change-password", &json!({ "newPassword": ANOTHER })).await.verdict(), "200");
        assert_eq!(world.prove(&stolen, json!({ "password": ANOTHER })).await, NEEDED);
        let again = world.login("anna@example.org", ANOTHER).await;
        let elsewhere = world.access_of(&again["sessionToken"]).await;
        assert_eq!(world.prove(&elsewhere, json!({ "password": ANOTHER })).await, NEEDED, "in a new session neither");
        // The owner sets one by a link to their address.
        let recover = json!({ "recoveryToken": world.recovery_link("anna@example.org").await, "password": PASSWORD });
        let signed = world.call(&world.visitor().await, "/v1/recover", &recover).await.json();
        let own = world.access_of(&signed["sessionToken"]).await;
        assert_eq!(world.prove(&stolen, json!({ "password": PASSWORD })).await, "401 UNAUTHENTICATED");
        let (id, secret, _) = world.enrol(&own, json!({ "password": PASSWORD })).await;

        // With a factor the password is no proof, and a proof is of its session alone.
        world.app.kit.clock.advance(20 * 60_000);
        let token = world.login("anna@example.org", PASSWORD).await["stateToken"].clone();
        let signed = world.verify_totp(&token, &world.totp(&secret, 0)).await.json();
        let stolen = world.access_of(&signed["sessionToken"]).await;
        // It isn't told whether it is right, and is no failed sign-in.
        for n in 0..30 {
            let password = if n % 2 == 0 { PASSWORD } else { "a guess of the password" };
            assert_eq!(world.prove(&stolen, json!({ "password": password })).await, NEEDED);
        }
        assert_eq!(world.login("anna@example.org", PASSWORD).await["state"], "MFA_CHALLENGE");
        world.next_step();
        assert_eq!(world.prove(&own, json!({ "totpData": { "code": world.totp(&secret, 0) } })).await, "200");
        let remove = format!("factors/{id}");
        for (method, path) in [
            (Method::POST, "factors"),
            (Method::POST, "recovery-codes"),
            (Method::DELETE, remove.as_str()),
        ] {
            assert_eq!(world.own(&stolen, method, path, json!({})).await.verdict(), NEEDED, "{path}");
        }
        // Another's factor is not there for a member who has proved who they are.
        let ben = world.enrolled("ben@example.org").await;
        assert_eq!(world.own(&ben.access, Method::DELETE, &remove, json!({})).await.verdict(), "404 NOT_FOUND");
        let confirm = format!("{remove}/confirm");
        assert_eq!(world.post_own(&ben.access, &confirm, json!({ "code": world.totp(&secret, 0) })).await.verdict(), "404 NOT_FOUND");
        // Nor for an application of others that the member lets in.
        let member = world.app.with_token(&own);
        let (partner, _) = world.app.partner("members:write").await;
        let held = world.app.through(&partner, &member, "members:write").await;
        assert_eq!(held.get(&format!("{OWN}/factors")).await.verdict(), "403 INSUFFICIENT_SCOPE");
        // A day later such a password counts.
        let carl = world.member_access("carl@example.org").await;
        assert_eq!(world.call(&carl, "/v2/change-password", &json!({ "newPassword": ANOTHER })).await.verdict(), "200");
        world.app.kit.clock.advance(24 * 3_600_000 + 1);
        let again = world.login("carl@example.org", ANOTHER).await;
        let carl = world.access_of(&again["sessionToken"]).await;
        assert_eq!(world.prove(&carl, json!({ "password": ANOTHER })).await, "200");
    }

    async fn passwords_of_the_proof_are_guessed_at_as_at_sign_in(engine) {
        let world = World::with_factors(engine).await;
        let stolen = world.member_access("anna@example.org").await;
        let mut verdicts = Vec::new();
        // Twenty, and twenty more from where the member has signed in before.
        for n in 0..41 {
            verdicts.push(world.prove(&stolen, json!({ "password": format!("a guess, number {n}") })).await);
        }
        let guesses = verdicts.iter().filter(|it| *it == "401 -19976").count();
        assert!((20..=40).contains(&guesses), "{verdicts:?}");
        assert!(verdicts[guesses..].iter().all(|it| it == "429 THROTTLED_FEATURE"), "{verdicts:?}");
    }

    async fn remembered_browser_is_not_asked(engine) {
        let world = World::with_factors(engine).await;
        let (anna, ben) = (world.enrolled("anna@example.org").await, world.enrolled("ben@example.org").await);
        let step = async |browser: &Browser<'_>, email: &str| text(&browser.password(email).await["step"]["type"]);
        let remember = async |browser: &Browser<'_>| {
            world.next_step();
            let view = browser.password(&anna.email).await;
            assert_eq!(view["step"], json!({ "type": "SECOND_FACTOR", "factors": ["TOTP", "RECOVERY_CODE"], "rememberDays": 30, "sentTo": null, "sentBy": null, "resendAfterSeconds": 30, "passkey": null }));
            assert_eq!(browser.factor(&view, &world.totp(&anna.secret, 0), true).await["step"]["type"], "DONE");
            assert_eq!(step(browser, &anna.email).await, "DONE");
        };
        // Not unless it was asked for.
        let plain = world.browser();
        let view = plain.password(&anna.email).await;
        plain.factor(&view, &world.totp(&anna.secret, 0), false).await;
        assert_eq!(step(&plain, &anna.email).await, "SECOND_FACTOR");

        let home = world.browser();
        remember(&home).await;
        let list = world.own(&anna.access, Method::GET, "factors", json!({})).await.json();
        assert_eq!(list["rememberedBrowsers"], 1);
        // Its cookie is worth nothing for another member, and no other cookie for her.
        assert_eq!(step(&home, &ben.email).await, "SECOND_FACTOR");
        let copied = world.browser();
        copied.cookies.lock().unwrap().insert("stoa-device".to_owned(), "A".repeat(43));
        assert_eq!(step(&copied, &anna.email).await, "SECOND_FACTOR");
        // A page of the site's own host brings it to the call.
        let cookie = format!("stoa-device={}", home.cookie("stoa-device").unwrap());
        let visitor = world.visitor().await;
        let headers = [("authorization", visitor.as_str()), ("content-type", "application/json"), ("cookie", cookie.as_str())];
        let login = json!({ "loginId": { "email": anna.email }, "password": PASSWORD });
        let signed = send(&world.app, Method::POST, "/v2/login", &headers, Some(&login)).await.json();
        assert_eq!(signed["state"], "SUCCESS");
        // A recovery link asks there as well.
        let recover = json!({ "recoveryToken": world.recovery_link(&anna.email).await, "password": PASSWORD });
        let asked = send(&world.app, Method::POST, "/v1/recover", &headers, Some(&recover)).await.json();
        assert_eq!(asked["state"], "MFA_CHALLENGE");
        assert_eq!(step(&home, &anna.email).await, "SECOND_FACTOR", "the password is another one");

        // It ends with time, by asking for it, with the sessions, with the factors.
        remember(&home).await;
        world.app.kit.clock.advance(30 * 24 * 3_600_000);
        assert_eq!(step(&home, &anna.email).await, "SECOND_FACTOR");
        remember(&home).await;
        let token = world.challenge(&anna).await;
        world.next_step();
        let signed = world.verify_totp(&token, &world.totp(&anna.secret, 0)).await.json();
        let access = world.access_of(&signed["sessionToken"]).await;
        assert_eq!(step(&home, &anna.email).await, "DONE");
        assert_eq!(world.own(&access, Method::DELETE, "remembered-browsers", json!({})).await.verdict(), "200");
        assert_eq!(step(&home, &anna.email).await, "SECOND_FACTOR");
        remember(&home).await;
        assert_eq!(world.own(&access, Method::DELETE, "sessions", json!({})).await.verdict(), "200");
        assert_eq!(step(&home, &anna.email).await, "SECOND_FACTOR");
        remember(&home).await;
        world.next_step();
        assert_eq!(world.prove(&access, json!({ "totpData": { "code": world.totp(&anna.secret, 0) } })).await, "200");
        assert_eq!(world.post_own(&access, "recovery-codes", json!({})).await.verdict(), "200");
        assert_eq!(step(&home, &anna.email).await, "SECOND_FACTOR");

        // A client that verifies by the call: the browser that opens what comes of it is remembered.
        world.next_step();
        let body = json!({ "stateToken": world.challenge(&anna).await, "rememberThisDevice": true, "totpData": { "code": world.totp(&anna.secret, 0) } });
        let signed = world.call(&world.visitor().await, "/v2/TOTP/verify", &body).await.json();
        let client = world.browser();
        client.open_from(&world.direct(&text(&signed["sessionToken"])).await, Some(APP)).await;
        assert_eq!(step(&client, &anna.email).await, "DONE");
        // What was asked for before all were forgotten adds none afterwards.
        for is_redirect in [false, true] {
            world.next_step();
            let body = json!({ "stateToken": world.challenge(&anna).await, "rememberThisDevice": true, "totpData": { "code": world.totp(&anna.secret, 0) } });
            let signed = world.call(&world.visitor().await, "/v2/TOTP/verify", &body).await.json();
            let forget = async || assert_eq!(world.own(&access, Method::DELETE, "remembered-browsers", json!({})).await.verdict(), "200");
            if !is_redirect {
                forget().await;
            }
            let path = world.direct(&text(&signed["sessionToken"])).await;
            if is_redirect {
                forget().await;
            }
            let client = world.browser();
            client.open_from(&path, Some(APP)).await;
            assert_eq!(step(&client, &anna.email).await, "SECOND_FACTOR", "{is_redirect}");
        }
        assert_eq!(world.events("remembered_browser_forget").await, 3);
        world.own(&access, Method::DELETE, "remembered-browsers", json!({})).await;
        assert_eq!(world.events("remembered_browser_forget").await, 3, "there was none");
    }

    async fn pages_take_steps_in_their_order_only(engine) {
        let world = World::with_factors(engine).await;
        let anna = world.enrolled("anna@example.org").await;
        let browser = world.browser();
        let start = browser.start(json!({ "kind": "SIGN_IN" })).await;
        let view = browser.factor(&start, &world.totp(&anna.secret, 0), false).await;
        assert_eq!((&view["step"]["type"], &view["problems"][0]["code"]), (&json!("SIGN_IN"), &json!("STEP_CHANGED")));
        let view = browser.password(&anna.email).await;
        let token = text(&view["token"]);
        for input in [
            json!({ "type": "VERIFY_EMAIL", "code": "123456" }),
            json!({ "type": "MISSING_FIELDS", "profile": {} }),
            json!({ "type": "NEW_PASSWORD", "password": ANOTHER }),
            json!({ "type": "SIGN_IN", "email": anna.email, "password": PASSWORD }),
            json!({ "type": "RESEND" }),
        ] {
            let view = browser.answer(&token, input.clone()).await;
            assert_eq!((&view["step"]["type"], &view["problems"][0]["code"]), (&json!("SECOND_FACTOR"), &json!("STEP_CHANGED")), "{input}");
        }
        let view = browser.factor(&view, "", false).await;
        assert_eq!(view["problems"][0]["code"], "REQUIRED");
        let view = browser.factor(&view, &wrong(&world, &anna.secret), false).await;
        assert_eq!((&view["problems"][0]["field"], &view["problems"][0]["code"]), (&json!("code"), &json!("INVALID_CODE")));
        // Another browser has nothing of it.
        let other = world.browser();
        assert_eq!(other.flow_view(&token).await.verdict(), GONE);
        // What it rests on ends: the page begins again.
        let change = json!({ "newPassword": ANOTHER });
        assert_eq!(world.call(&anna.access, "/v2/change-password", &change).await.verdict(), "200");
        let view = browser.factor(&view, &world.totp(&anna.secret, 0), false).await;
        assert_eq!((&view["step"]["type"], &view["problems"][0]["code"]), (&json!("SIGN_IN"), &json!("STEP_CHANGED")));
        assert!(!browser.has("stoa-session"));
    }

    async fn factors_that_are_not_built_are_refused_by_name(engine) {
        let world = World::with_factors(engine).await;
        let anna = world.enrolled("anna@example.org").await;
        let token = world.challenge(&anna).await;
        let visitor = world.visitor().await;
        for (path, extra, field) in [
            ("SMS", json!({ "smsData": { "code": "123456" } }), "factorType"),
            ("TOTP", json!({ "smsData": {} }), "smsData"),
            ("TOTP", json!({ "callData": { "code": "123456" } }), "callData"),
            ("EMAIL", json!({ "emailData": {} }), "factorType"),
            ("PASSWORD", json!({ "passwordData": { "password": PASSWORD } }), "factorType"),
            ("totp", json!({}), "factorType"),
            ("TOTP", json!({ "factorType": "RECOVERY_CODE" }), "factorType"),
            ("TOTP", json!({ "recoveryCodeData": { "code": "x" } }), "recoveryCodeData"),
            ("TOTP", json!({ "emailData": { "code": "x" } }), "emailData"),
            ("TOTP", json!({ "webauthnData": { "challengeId": "x", "credential": "{}" } }), "webauthnData"),
            ("WEBAUTHN", json!({ "webauthnData": [] }), "webauthnData"),
            ("WEBAUTHN", json!({ "webauthnData": { "challengeId": "x" } }), "webauthnData.credential"),
            ("WEBAUTHN", json!({ "webauthnData": { "credential": "{}" } }), "webauthnData.challengeId"),
            ("WEBAUTHN", json!({ "webauthnData": { "challengeId": "x".repeat(37), "credential": "{}" } }), "webauthnData.challengeId"),
            ("WEBAUTHN", json!({ "webauthnData": { "challengeId": "x", "credential": "x".repeat(3_001) } }), "webauthnData.credential"),
            ("WEBAUTHN", json!({ "webauthnData": { "challengeId": "x", "credential": {} } }), "webauthnData.credential"),
            ("WEBAUTHN", json!({ "webauthnData": {} }), "factorType"),
            ("TOTP", json!({ "totpData": { "code": 123_456 } }), "totpData.code"),
            ("TOTP", json!({ "totpData": { "code": "1".repeat(101) } }), "totpData.code"),
            ("TOTP", json!({ "totpData": { "code": "" } }), "totpData.code"),
            ("TOTP", json!({ "totpData": "123456" }), "totpData"),
            ("PUSH", json!({ "pushData": {} }), "factorType"),
            ("PUSH", json!({ "pushData": [] }), "pushData"),
            ("PUSH", json!({ "pushData": { "transactionId": 7 } }), "pushData.transactionId"),
            ("PUSH", json!({ "pushData": { "transactionId": "" } }), "pushData.transactionId"),
            ("PUSH", json!({ "pushData": { "transactionId": "x".repeat(37) } }), "pushData.transactionId"),
            ("TOTP", json!({ "pushData": { "transactionId": "x" } }), "pushData"),
            ("TOTP", json!({ "rememberThisDevice": "yes" }), "rememberThisDevice"),
            ("TOTP", json!({ "stateToken": 7 }), "stateToken"),
        ] {
            let mut body = json!({ "stateToken": token });
            body.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
            let reply = world.call(&visitor, &format!("/v2/{path}/verify"), &body).await;
            let json = reply.json();
            let fields: Vec<&str> = json["details"]["validationError"]["fieldViolations"].as_array().into_iter().flatten().filter_map(|it| it["field"].as_str()).collect();
            assert!(reply.status == StatusCode::BAD_REQUEST && fields.contains(&field), "{path} {extra}: {json}");
        }
        for (body, field) in [
            (json!({}), "password"),
            (json!({ "password": PASSWORD, "totpData": { "code": "123456" } }), "password"),
            (json!({ "password": 7 }), "password"),
        ] {
            let json = world.post_own(&anna.access, "proof", body.clone()).await.json();
            assert_eq!(json["details"]["validationError"]["fieldViolations"][0]["field"], field, "{body}: {json}");
        }
        let names = [json!(7), json!("x".repeat(101)), json!("a\u{7}b")];
        for name in names {
            let json = world.post_own(&anna.access, "factors", json!({ "name": name })).await.json();
            assert_eq!(json["details"]["validationError"]["fieldViolations"][0]["field"], "name", "{json}");
        }
    }

    async fn policy_lets_members_add_factors_or_not(engine) {
        let world = World::new(engine).await;
        let access = world.member_access("anna@example.org").await;
        assert_eq!(world.prove(&access, json!({ "password": PASSWORD })).await, "200");
        assert_eq!(world.post_own(&access, "factors", json!({})).await.verdict(), "403 PERMISSION_DENIED");
        let app = world.app.app();
        for policy in [json!("ALWAYS"), json!({ "roles": ["staff"] }), json!(true)] {
            let body = json!({ "signOnPolicy": { "secondFactor": policy } }).to_string();
            let reply = app.send(Method::PATCH, "/v1/sign-on-policies", Some(body.into())).await.json();
            assert_eq!(reply["details"]["validationError"]["fieldViolations"][0]["field"], "signOnPolicy.secondFactor", "{reply}");
        }
        world.policy(json!({ "secondFactor": "OPTIONAL" })).await;
        let (_, secret, _) = world.enrol(&access, json!({ "password": PASSWORD })).await;
        // Those that are there are asked for whatever the policy says.
        world.policy(json!({ "secondFactor": "OFF" })).await;
        let asked = world.login("anna@example.org", PASSWORD).await;
        assert_eq!(world.verify_totp(&asked["stateToken"], &world.totp(&secret, 0)).await.json()["state"], "SUCCESS");
        assert_eq!(app.get("/v1/sign-on-policies").await.json()["signOnPolicy"].get("secondFactor"), None);
    }

    async fn member_has_few_factors_however_many_are_begun_at_once(engine) {
        let world = World::with_factors(engine).await;
        let anna = world.enrolled("anna@example.org").await;
        let begun = join_all((0..30).map(|_| world.post_own(&anna.access, "factors", json!({})))).await;
        assert!(begun.iter().any(|it| it.verdict() == "200"));
        assert_eq!(world.count("factor").await, 2, "one that counts and one that waits");
        world.app.kit.clock.advance(20 * 60_000);
        for _ in 0..4 {
            world.enrol(&anna.access, json!({ "totpData": { "code": world.totp(&anna.secret, 0) } })).await;
        }
        assert_eq!(world.post_own(&anna.access, "factors", json!({})).await.verdict(), "400 TOO_MANY");
        // One that waits too long is none.
        let ben = world.member_access("ben@example.org").await;
        world.prove(&ben, json!({ "password": PASSWORD })).await;
        let begun = world.post_own(&ben, "factors", json!({})).await.json();
        world.app.kit.clock.advance(15 * 60_000);
        world.prove(&ben, json!({ "password": PASSWORD })).await;
        let confirm = format!("factors/{}/confirm", text(&begun["factor"]["id"]));
        let code = json!({ "code": world.totp(&text(&begun["secret"]), 0) });
        assert_eq!(world.post_own(&ben, &confirm, code).await.verdict(), "404 NOT_FOUND");
    }

    async fn operators_reset_what_a_member_has_lost(engine) {
        let world = World::with_factors(engine).await;
        let anna = world.enrolled("anna@example.org").await;
        let token = world.challenge(&anna).await;
        let reset = format!("{OWN}/members/{}/factors", world.id_of(&anna.email).await);
        assert_eq!(world.app.with_token(&anna.access).delete(&reset).await.verdict(), "403 PERMISSION_DENIED");
        assert_eq!(world.app.editor().await.delete(&reset).await.verdict(), "403 PERMISSION_DENIED");
        let owner = world.proved_owner("oscar@example.org").await;
        assert_eq!(owner.delete(&reset).await.json(), json!({ "removed": 1 }));
        assert_eq!(world.subjects().await, ["A second step was removed from your account at Test"]);
        assert_eq!(world.verify_totp(&token, &world.totp(&anna.secret, 0)).await.verdict(), GONE);
        assert_eq!(world.login(&anna.email, PASSWORD).await["state"], "SUCCESS");
        assert_eq!((world.count("recovery_code").await, world.events("factor_reset").await), (0, 1));
        // Once more there is nothing to tell of.
        assert_eq!(owner.delete(&reset).await.json(), json!({ "removed": 0 }));
        assert!(world.subjects().await.is_empty() && world.events("factor_reset").await == 1);
        // One that was only begun never counted.
        assert_eq!(world.prove(&anna.access, json!({ "password": PASSWORD })).await, "200");
        assert_eq!(world.post_own(&anna.access, "factors", json!({})).await.verdict(), "200");
        assert_eq!(owner.delete(&reset).await.json(), json!({ "removed": 0 }));
        assert!(world.subjects().await.is_empty() && world.events("factor_reset").await == 1);
        assert_eq!(world.count("factor").await, 0);
        assert_eq!(owner.delete(&format!("{OWN}/members/none/factors")).await.verdict(), "404 NOT_FOUND");
    }

    async fn nothing_of_a_factor_outlives_its_member_or_is_stored_open(engine) {
        let world = World::with_factors(engine).await;
        let anna = world.enrolled("anna@example.org").await;
        let browser = world.browser();
        let view = browser.password(&anna.email).await;
        browser.factor(&view, &world.totp(&anna.secret, 0), true).await;
        let sql = "select sealed from stoa.factor";
        let sealed = world.app.site.read(ReaderPool::Point, move |tx| boxed!(Ok(tx.row(sql, &[], |row| row.get::<Vec<u8>>(0)).await?)));
        let sealed = sealed.await.unwrap().unwrap();
        assert!(!sealed.windows(8).any(|it| anna.secret.as_bytes().windows(8).any(|secret| secret == it)));
        let path = format!("/members/v1/members/{}", world.id_of(&anna.email).await);
        assert_eq!(world.app.app().delete(&path).await.verdict(), "200");
        for table in ["factor", "factor_guard", "recovery_code", "remembered_browser"] {
            assert_eq!(world.count(table).await, 0, "{table}");
        }
    }
}

mod deletion;
mod email;
mod email_change;
mod erasure;
mod my_account;
mod network;
mod operator_factor_attacks;
mod operator_factors;
mod passkey_attacks;
mod passkey_ends;
mod passkey_hosts;
mod passkeys;
mod password_factor;
mod phone;
mod phone_limits;
mod provider_attacks;
mod provider_factors;
mod provider_links;
mod providers;
mod push;
mod push_attacks;
mod push_limits;
mod required;
mod takeover;
