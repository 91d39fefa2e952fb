//! Second factors of those who run a site (decision 60): how they are added, shown at every way of signing in, required, and taken away.

use super::{passkeys::honest, *};
use stoa_kernel::Role;
use stoa_sql::params;
use stoa_testkit::{TestClient, passkey::Passkey};

pub(super) const OLGA: &str = "olga@example.org";
const PAGES: &str = "/_api/account/v1/operator";

/// A person who runs the site and has an authenticator.
pub(super) struct Runner<'w> {
    /// In which it was added.
    pub browser: Browser<'w>,
    pub id: String,
    pub secret: String,
    pub recovery_codes: Vec<String>,
}

impl Browser<'_> {
    pub(super) async fn of_operator(&self, method: Method, path: &str, body: Value) -> Reply {
        let body = (method != Method::GET && method != Method::DELETE).then_some(&body);
        self.ask(method, &format!("{PAGES}/{path}"), body).await
    }

    pub(super) async fn prove_operator(&self, proof: Value) -> String {
        self.of_operator(Method::POST, "proof", proof).await.verdict()
    }

    /// What follows a step of a flow.
    pub(super) async fn next(&self, view: &Value, input: Value) -> Value {
        self.answer(&text(&view["token"]), input).await
    }

    /// The same of one of many at once: another of them may have ended the flow.
    pub(super) async fn try_next(&self, view: &Value, input: &Value) {
        let path = format!("/_api/account/v1/flows/{}", text(&view["token"]));
        let reply = self.ask(Method::POST, &path, Some(input)).await;
        assert!(["200", GONE].contains(&reply.verdict().as_str()), "{}", reply.json());
    }

    pub(super) async fn show_totp(&self, view: &Value, code: &str) -> Value {
        self.factor(view, code, false).await
    }

    pub(super) async fn show_recovery(&self, view: &Value, code: &str) -> Value {
        let input = json!({ "type": "SECOND_FACTOR", "factor": "RECOVERY_CODE", "code": code, "remember": false });
        self.next(view, input).await
    }

    pub(super) async fn operator_token(&self) -> String {
        let tokens = self.ask(Method::POST, "/_api/account/v1/token", Some(&json!({}))).await;
        text(&tokens.json()["access_token"])
    }
}

impl World {
    /// A person who runs the site and is signed in.
    pub(super) async fn runner_without(&self, email: &str) -> Browser<'_> {
        self.owner(email).await;
        let browser = self.browser();
        assert_eq!(at(&browser.run_site(email, PASSWORD).await), ("DONE", None));
        browser
    }

    /// The calls of an owner who has just shown the password once more.
    pub(super) async fn proved_owner(&self, email: &str) -> TestClient<'_> {
        let browser = self.proved_runner(email).await;
        self.app.with_token(&browser.operator_token().await)
    }

    pub(super) async fn proved_runner(&self, email: &str) -> Browser<'_> {
        let browser = self.runner_without(email).await;
        assert_eq!(browser.prove_operator(json!({ "password": PASSWORD })).await, "200");
        browser
    }

    pub(super) async fn runner(&self, email: &str) -> Runner<'_> {
        let browser = self.proved_runner(email).await;
        let begun = browser.of_operator(Method::POST, "factors", json!({ "name": "Phone" })).await.json();
        let (id, secret) = (text(&begun["factor"]["id"]), text(&begun["secret"]));
        let code = json!({ "code": self.totp(&secret, 0) });
        let confirmed = browser.of_operator(Method::POST, &format!("factors/{id}/confirm"), code).await;
        assert_eq!(confirmed.verdict(), "200", "{}", confirmed.json());
        let codes = confirmed.json()["recoveryCodes"].as_array().unwrap().iter().map(text).collect();
        self.next_step();
        self.app.mail.take();
        Runner { browser, id, secret, recovery_codes: codes }
    }

    /// What the catalogue has of second factors, in a table.
    pub(super) async fn count_of_operators(&self, table: &'static str) -> i64 {
        let sql = format!("select count(*) from stoa.{table} where site = $1");
        let read = self.app.app.store.catalog().read(ReaderPool::Scan, move |tx| {
            boxed!(Ok(tx.row(&sql, &params![""], |row| row.get::<i64>(0)).await?.unwrap_or_default()))
        });
        read.await.unwrap()
    }

    /// An invitation for somebody who has a password already, accepted.
    async fn accept(&self, browser: &Browser<'_>, email: &str) -> Value {
        let invite = self.invite(Some(email), Role::Owner).await;
        let view = browser.start(json!({ "kind": "OWNER_SETUP", "invite": invite })).await;
        browser.next(&view, json!({ "type": "NEW_PASSWORD", "password": PASSWORD })).await
    }

    async fn owner_link(&self, email: &str) -> String {
        self.app.mail.take();
        let browser = self.browser();
        let view = browser.start(json!({ "kind": "OWNER_SIGN_IN" })).await;
        let view = browser.next(&view, json!({ "type": "SWITCH", "to": "RECOVER", "email": email })).await;
        let view = browser.next(&view, json!({ "type": "RECOVER_REQUEST", "email": email })).await;
        assert_eq!(view["step"]["type"], "RECOVER_SENT", "{view}");
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

/// The step of a view, and what is wrong.
pub(super) fn at(view: &Value) -> (&str, Option<&str>) {
    (view["step"]["type"].as_str().unwrap(), view["problems"][0]["code"].as_str())
}

on_both_engines! {
    async fn operator_adds_a_factor_signs_in_with_it_and_removes_it(engine) {
        let world = World::new(engine).await;
        let browser = world.runner_without(OLGA).await;
        let none = json!({ "policy": "OPTIONAL", "addable": ["WEBAUTHN", "TOTP"], "factors": [], "recoveryCodesLeft": 0 });
        assert_eq!(browser.of_operator(Method::GET, "factors", json!({})).await.json(), none);
        // Nothing without showing who one is.
        for (method, path, body) in [
            (Method::POST, "factors", json!({})),
            (Method::POST, "factors", json!({ "type": "WEBAUTHN" })),
            (Method::POST, "factors/none/confirm", json!({ "code": "123456" })),
            (Method::PATCH, "factors/none", json!({ "name": "Mine" })),
            (Method::DELETE, "factors/none", json!({})),
            (Method::POST, "recovery-codes", json!({})),
        ] {
            assert_eq!(browser.of_operator(method, path, body).await.verdict(), NEEDED, "{path}");
        }
        assert_eq!(browser.prove_operator(json!({ "password": "not the right one" })).await, "401 -19976");
        assert_eq!(browser.prove_operator(json!({ "totpData": { "code": "123456" } })).await, WRONG);
        assert_eq!(browser.prove_operator(json!({ "webauthnData": {} })).await, "400 validationError");
        assert_eq!(browser.prove_operator(json!({ "password": PASSWORD })).await, "200");
        // Kinds that are sent are refused by name.
        for kind in ["EMAIL", "SMS", "CALL", "PUSH"] {
            let refused = browser.of_operator(Method::POST, "factors", json!({ "type": kind })).await;
            assert_eq!(refused.status, 400, "{kind}");
            assert_eq!(refused.json()["details"]["validationError"]["fieldViolations"][0]["field"], "type", "{kind}");
        }
        world.app.mail.take();
        let begun = browser.of_operator(Method::POST, "factors", json!({ "name": "Phone" })).await;
        assert_eq!(begun.headers["cache-control"], "no-store");
        let (id, secret) = (text(&begun.json()["factor"]["id"]), text(&begun.json()["secret"]));
        assert!(text(&begun.json()["uri"]).starts_with("otpauth://totp/Test:olga%40example.org?"));
        let confirm = format!("factors/{id}/confirm");
        let refused = browser.of_operator(Method::POST, &confirm, json!({ "code": wrong(&world, &secret) })).await;
        assert_eq!(refused.verdict(), WRONG);
        let code = json!({ "code": world.totp(&secret, 0) });
        let confirmed = browser.of_operator(Method::POST, &confirm, code.clone()).await.json();
        assert_eq!((&confirmed["factor"]["name"], confirmed["recoveryCodes"].as_array().map(Vec::len)), (&json!("Phone"), Some(10)));
        assert_eq!(browser.of_operator(Method::POST, &confirm, code).await.verdict(), "404 NOT_FOUND", "twice");
        assert_eq!(world.subjects().await, ["Your account at Test asks for a second step now"]);

        world.next_step();
        let other = world.browser();
        let view = other.run_site(OLGA, PASSWORD).await;
        assert_eq!(at(&view), ("SECOND_FACTOR", None), "{view}");
        assert_eq!(view["step"]["factors"], json!(["TOTP", "RECOVERY_CODE"]));
        assert_eq!((&view["step"]["rememberDays"], other.has("stoa-person")), (&json!(0), false));
        assert_eq!(at(&other.show_totp(&view, &wrong(&world, &secret)).await), ("SECOND_FACTOR", Some("INVALID_CODE")));
        assert_eq!(at(&other.show_totp(&view, &world.totp(&secret, 0)).await), ("DONE", None));
        assert!(other.has("stoa-person"));
        let third = world.browser();
        let view = third.run_site(OLGA, PASSWORD).await;
        assert_eq!(at(&third.show_recovery(&view, &text(&confirmed["recoveryCodes"][3])).await), ("DONE", None));
        let mut subjects = world.subjects().await;
        // The rounds in the background may have taken the message.
        while subjects.is_empty() {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            subjects = world.subjects().await;
        }
        assert!(subjects.contains(&"A recovery code for Test was used".to_owned()), "{subjects:?}");

        let renamed = browser.of_operator(Method::PATCH, &format!("factors/{id}"), json!({ "name": "Old phone" })).await;
        assert_eq!(renamed.json()["factor"]["name"], "Old phone");
        let list = browser.of_operator(Method::GET, "factors", json!({})).await.json();
        assert_eq!((&list["factors"][0]["name"], &list["recoveryCodesLeft"]), (&json!("Old phone"), &json!(9)));
        // The password is no proof any more, neither of this nor of another password.
        world.app.kit.clock.advance(11 * 60_000);
        assert_eq!(browser.prove_operator(json!({ "password": PASSWORD })).await, NEEDED);
        let change = json!({ "old": PASSWORD, "password": ANOTHER });
        assert_eq!(browser.change("password", change.clone()).await.verdict(), NEEDED);
        assert_eq!(browser.of_operator(Method::DELETE, &format!("factors/{id}"), json!({})).await.verdict(), NEEDED);
        assert_eq!(browser.prove_operator(json!({ "totpData": { "code": world.totp(&secret, 0) } })).await, "200");
        let fresh = browser.of_operator(Method::POST, "recovery-codes", json!({})).await.json();
        assert_eq!(fresh["recoveryCodes"].as_array().map(Vec::len), Some(10));
        assert_eq!(browser.of_operator(Method::DELETE, &format!("factors/{id}"), json!({})).await.verdict(), "200");
        assert_eq!(at(&world.browser().run_site(OLGA, PASSWORD).await), ("DONE", None));
        assert_eq!((world.count_of_operators("factor").await, world.count_of_operators("recovery_code").await), (0, 0));
        for (event, count) in [("factor_add", 1), ("factor_rename", 1), ("factor_remove", 1), ("recovery_code_use", 1), ("recovery_code_renew", 1)] {
            assert_eq!(world.events(event).await, count, "{event}");
        }
        assert_eq!(browser.change("password", change).await.status, 200);
    }

    async fn every_way_of_an_operator_asks_for_the_factor(engine) {
        let world = World::new(engine).await;
        let olga = world.runner(OLGA).await;
        let browser = world.browser();
        // An invitation gives a role, and no session.
        let view = world.accept(&browser, OLGA).await;
        assert_eq!((at(&view), browser.has("stoa-person")), (("SECOND_FACTOR", None), false), "{view}");
        assert_eq!(at(&browser.show_totp(&view, &world.totp(&olga.secret, 0)).await), ("DONE", None));
        // A recovery link sets the password, and then asks.
        let link = world.owner_link(OLGA).await;
        let browser = world.browser();
        let token = flow_of(&browser.open(&format!("/_api/account/v1/recover?token={link}")).await);
        let view = browser.answer(&token, json!({ "type": "NEW_PASSWORD", "password": ANOTHER })).await;
        assert_eq!((at(&view), browser.has("stoa-person")), (("SECOND_FACTOR", None), false), "{view}");
        world.next_step();
        assert_eq!(at(&browser.show_totp(&view, &world.totp(&olga.secret, 0)).await), ("DONE", None));
        assert!(browser.has("stoa-person"));
        // No call opens a session by the password alone.
        let (email, password) = (Email::parse(OLGA).unwrap(), stoa_kernel::Secret::new(ANOTHER));
        let identity = &world.app.app.identity;
        let here = std::net::Ipv4Addr::LOCALHOST.into();
        let known = identity.operator_sign_in(&world.app.site.id, &email, &password, here).await.unwrap();
        let refused = identity.operator_session_create(&world.app.site.id, &known.operator, known.role).await;
        assert_eq!(refused.unwrap_err().code(), stoa_kernel::Code::FactorNeeded);
        // Nor is the account's factor one of members: the same address as a member has none.
        world.register(OLGA).await;
        assert_eq!(world.login(OLGA, PASSWORD).await["state"], "SUCCESS");
    }

    async fn operator_signs_in_and_proves_by_a_passkey(engine) {
        let world = World::new(engine).await;
        let browser = world.runner_without(OLGA).await;
        assert_eq!(browser.prove_operator(json!({ "password": PASSWORD })).await, "200");
        let begun = browser.of_operator(Method::POST, "factors", json!({ "type": "WEBAUTHN" })).await.json();
        let (mut passkey, credential) = Passkey::create(&begun["options"], &honest());
        let confirm = format!("factors/{}/confirm", text(&begun["factor"]["id"]));
        world.app.mail.take();
        let added = browser.of_operator(Method::POST, &confirm, json!({ "credential": credential, "name": "Laptop" })).await;
        assert_eq!(added.json()["factor"]["type"], "WEBAUTHN", "{}", added.json());
        let told = world.app.mail.take();
        assert_eq!((told.len(), told[0].subject.as_str()), (1, "A passkey was added to your account at Test"));
        assert!(told[0].text.contains("takes a passkey, or another second step, as well as your password"), "{}", told[0].text);
        assert_eq!(browser.of_operator(Method::POST, &confirm, json!({ "credential": credential })).await.verdict(), WRONG);

        let other = world.browser();
        let view = other.run_site(OLGA, PASSWORD).await;
        assert_eq!(view["step"]["factors"], json!(["WEBAUTHN", "RECOVERY_CODE"]));
        let options = serde_json::from_str(view["step"]["passkey"]["options"].as_str().unwrap()).unwrap();
        let shown = json!({ "type": "PASSKEY", "challengeId": view["step"]["passkey"]["challengeId"], "credential": passkey.get(&options, &honest()), "remember": false });
        assert_eq!(at(&other.next(&view, shown).await), ("DONE", None));

        world.app.kit.clock.advance(11 * 60_000);
        let asked = other.of_operator(Method::POST, "proof", json!({ "webauthnData": {} })).await.json();
        let options = passkeys::options_of(&asked["webauthnData"]);
        let shown = json!({ "challengeId": asked["webauthnData"]["challengeId"], "credential": passkey.get(&options, &honest()) });
        assert_eq!(other.prove_operator(json!({ "webauthnData": shown.clone() })).await, "200");
        assert_eq!(browser.prove_operator(json!({ "webauthnData": shown })).await, WRONG, "another session, and a second time");
    }

    async fn required_factor_is_set_up_at_sign_in(engine) {
        let world = World::new(engine).await;
        let browser = world.runner_without(OLGA).await;
        // At once for some; the session that is open goes on.
        world.policy(json!({ "operatorSecondFactor": "REQUIRED", "operatorSecondFactorGraceDays": 0 })).await;
        world.app.kit.clock.advance(60_000);
        assert_eq!(at(&world.browser().run_site(OLGA, PASSWORD).await), ("ENROL_FACTOR", None));
        assert_eq!(browser.account().await.status, 200);
        world.policy(json!({ "operatorSecondFactor": "OPTIONAL" })).await;
        world.policy(json!({ "operatorSecondFactor": "REQUIRED" })).await;
        let policy = world.app.app().get("/v1/sign-on-policies").await.json()["signOnPolicy"].clone();
        assert_eq!(policy["operatorSecondFactorGraceDays"], 14);
        // For some days it is put off.
        let other = world.browser();
        let view = other.run_site(OLGA, PASSWORD).await;
        assert_eq!(at(&view), ("OFFER_FACTOR", None));
        assert!(view["step"]["until"].is_string() && !other.has("stoa-person"));
        assert_eq!(at(&other.next(&view, json!({ "type": "LATER" })).await), ("DONE", None));
        world.app.kit.clock.advance(14 * 86_400_000 - 60_000);
        let late = world.browser();
        let offered = late.run_site(OLGA, PASSWORD).await;
        world.app.kit.clock.advance(60_000);
        assert_eq!(at(&late.run_site(OLGA, PASSWORD).await), ("ENROL_FACTOR", None), "the days are over");
        // A page from before can't put it off any more.
        assert_eq!(at(&late.next(&offered, json!({ "type": "LATER" })).await), ("ENROL_FACTOR", None));
        assert!(!late.has("stoa-person"));

        let view = other.run_site(OLGA, PASSWORD).await;
        assert_eq!((at(&view), &view["step"]["until"]), (("ENROL_FACTOR", None), &Value::Null), "{view}");
        let secret = text(&view["step"]["secret"]);
        assert_eq!(at(&other.next(&view, json!({ "type": "LATER" })).await), ("ENROL_FACTOR", Some("STEP_CHANGED")));
        let wrong_code = json!({ "type": "CONFIRM_FACTOR", "code": wrong(&world, &secret) });
        assert_eq!(at(&other.next(&view, wrong_code).await), ("ENROL_FACTOR", Some("INVALID_CODE")));
        let right = json!({ "type": "CONFIRM_FACTOR", "code": world.totp(&secret, 0) });
        let view = other.next(&view, right).await;
        assert_eq!((at(&view), view["step"]["codes"].as_array().map(Vec::len)), (("RECOVERY_CODES", None), Some(10)));
        assert_eq!(at(&other.next(&view, json!({ "type": "CODES_KEPT" })).await), ("DONE", None));
        world.next_step();
        let view = late.run_site(OLGA, PASSWORD).await;
        assert_eq!(at(&late.show_totp(&view, &world.totp(&secret, 0)).await), ("DONE", None));
        // The last one stays.
        world.next_step();
        let list = late.of_operator(Method::GET, "factors", json!({})).await.json();
        assert_eq!(list["policy"], "REQUIRED");
        let last = format!("factors/{}", text(&list["factors"][0]["id"]));
        assert_eq!(late.prove_operator(json!({ "totpData": { "code": world.totp(&secret, 0) } })).await, "200");
        assert_eq!(late.of_operator(Method::DELETE, &last, json!({})).await.verdict(), "403 PERMISSION_DENIED");
    }

    async fn reset_ends_sessions_and_leaves_the_password(engine) {
        let world = World::new(engine).await;
        let olga = world.runner(OLGA).await;
        let access = olga.browser.operator_token().await;
        let waiting = world.browser();
        let view = waiting.run_site(OLGA, PASSWORD).await;
        let identity = &world.app.app.identity;
        let email = Email::parse(OLGA).unwrap();
        let command = stoa_kernel::Caller::App { id: stoa_kernel::KeyId::from("command-line") };
        let reset = async |email: &Email| identity.operator_factors_reset(&world.app.site.id, &command, email).await;
        assert_eq!(reset(&email).await.unwrap(), 1);
        // The log says who did it, and whose they were.
        let entry = world.app.app().get(&format!("{OWN}/audit?event=factor_reset")).await.json()["entries"][0].clone();
        assert_eq!((&entry["actorKind"], &entry["actor"], &entry["detail"]), (&json!("APP"), &json!("command-line"), &json!(OLGA)));
        assert_eq!(olga.browser.account().await.verdict(), "401 UNAUTHENTICATED");
        let policy = world.app.with_token(&access).get("/v1/sign-on-policies").await;
        assert_eq!(policy.verdict(), "401 UNAUTHENTICATED");
        assert_eq!(at(&waiting.show_totp(&view, &world.totp(&olga.secret, 0)).await), ("SIGN_IN", Some("STEP_CHANGED")));
        assert_eq!(at(&world.browser().run_site(OLGA, PASSWORD).await), ("DONE", None));
        assert!(world.subjects().await.contains(&"A second step was removed from your account at Test".to_owned()));
        assert_eq!((world.events("factor_reset").await, world.count_of_operators("recovery_code").await), (1, 0));
        // Once more there is nothing to tell of.
        assert_eq!(reset(&email).await.unwrap(), 0);
        assert_eq!(world.events("factor_reset").await, 1);
        let nobody = Email::parse("nobody@example.org").unwrap();
        let refused = reset(&nobody).await.unwrap_err();
        assert_eq!(refused.code(), stoa_kernel::Code::NotFound);
    }

    async fn what_is_worth_more_than_a_session_asks_for_a_proof(engine) {
        let world = World::new(engine).await;
        let browser = world.runner_without(OLGA).await;
        let access = browser.operator_token().await;
        let headers = [("authorization", access.as_str()), ("content-type", "application/json")];
        let change = async |policy: Value| {
            let body = json!({ "signOnPolicy": policy });
            send(&world.app, Method::PATCH, "/v1/sign-on-policies", &headers, Some(&body)).await.verdict()
        };
        assert_eq!(change(json!({ "requireCaptcha": false })).await, "200");
        assert_eq!(change(json!({ "secondFactor": "OFF", "operatorSecondFactor": "OPTIONAL" })).await, "200", "as it is");
        assert_eq!(change(json!({ "secondFactor": "OPTIONAL" })).await, NEEDED);
        assert_eq!(change(json!({ "operatorSecondFactor": "REQUIRED" })).await, NEEDED);
        assert_eq!(change(json!({ "impersonation": "READ" })).await, NEEDED);
        assert_eq!(change(json!({ "impersonation": "OFF", "impersonationWithoutNotice": true })).await, NEEDED);
        // By either somebody else comes into members' accounts.
        let anna = world.register("anna@example.org").await;
        let connections = format!("{OWN}/idp-connections");
        let factors = format!("{OWN}/members/{}/factors", text(&anna["identity"]["id"]));
        let connection = json!({ "idpConnection": { "name": "n", "issuer": "ftp://x.example", "clientId": "c", "clientSecret": "s" } });
        let own = json!({ "idpConnection": { "name": "own", "issuer": "https://login.example.org", "clientId": "c", "clientSecret": "s" } });
        let made = world.app.app().post(&connections, &own).await.json();
        let one = format!("{connections}/{}", text(&made["idpConnection"]["id"]));
        let label = json!({ "idpConnection": { "label": "L" } });
        let address = format!("/wix-sm/api/v1/auth/api/v1/members/{}/change-login-email", text(&anna["identity"]["id"]));
        let other = json!({ "newEmail": "taken@example.org" });
        let calls = [
            (Method::PATCH, &address, Some(&other), "200"),
            (Method::POST, &connections, Some(&connection), "400 validationError"),
            (Method::PATCH, &one, Some(&label), "200"),
            (Method::DELETE, &one, None, "200"),
            (Method::DELETE, &factors, None, "200"),
        ];
        for (method, path, body, _) in calls.clone() {
            assert_eq!(send(&world.app, method, path, &headers, body).await.verdict(), NEEDED, "{path}");
        }
        assert_eq!(send(&world.app, Method::GET, &connections, &headers, None).await.verdict(), "200");
        assert_eq!(browser.prove_operator(json!({ "password": PASSWORD })).await, "200");
        for (method, path, body, verdict) in calls {
            assert_eq!(send(&world.app, method, path, &headers, body).await.verdict(), verdict, "{path}");
        }
        assert_eq!(change(json!({ "secondFactor": "OPTIONAL" })).await, "200");
        let entry = world.app.app().get(&format!("{OWN}/audit?event=factor_policy_change")).await.json()["entries"][0].clone();
        assert_eq!((&entry["actorKind"], &entry["detail"]), (&json!("WIX_USER"), &json!("secondFactor from OFF to OPTIONAL")));
        assert_eq!(change(json!({ "impersonation": "READ" })).await, "200");
        // Who requires a factor has one: no owner shuts the door behind which they stand.
        assert_eq!(change(json!({ "operatorSecondFactor": "REQUIRED" })).await, "403 PERMISSION_DENIED");
        let olga = world.runner("oscar@example.org").await;
        let access = olga.browser.operator_token().await;
        let headers = [("authorization", access.as_str()), ("content-type", "application/json")];
        let body = json!({ "signOnPolicy": { "operatorSecondFactor": "REQUIRED", "operatorSecondFactorGraceDays": 0 } });
        assert_eq!(send(&world.app, Method::PATCH, "/v1/sign-on-policies", &headers, Some(&body)).await.verdict(), "200");
        // A key stands for no person.
        world.policy(json!({ "operatorSecondFactor": "OPTIONAL", "impersonation": "READ" })).await;
        world.app.kit.clock.advance(11 * 60_000);
        let path = format!("{OWN}/members/{}/impersonation", text(&anna["identity"]["id"]));
        let body = json!({ "reason": "to help", "password": PASSWORD });
        assert_eq!(send(&world.app, Method::POST, &path, &headers, Some(&body)).await.verdict(), NEEDED);
        let sender = json!({ "mailSender": { "name": "Ours" }, "password": PASSWORD });
        let change_sender = || send(&world.app, Method::PATCH, "/_api/site/v1/mail-sender", &headers, Some(&sender));
        assert_eq!(change_sender().await.verdict(), NEEDED);
        let (partner, _) = world.app.partner("items:read").await;
        let install = json!({ "appId": partner.id, "redirectUrl": partner.redirect_uris[0], "decision": "INSTALL" });
        let decide = || olga.browser.ask(Method::POST, "/_api/account/v1/installs/decide", Some(&install));
        assert_eq!(decide().await.verdict(), NEEDED);
        assert_eq!(olga.browser.prove_operator(json!({ "totpData": { "code": world.totp(&olga.secret, 0) } })).await, "200");
        assert_eq!(send(&world.app, Method::POST, &path, &headers, Some(&body)).await.verdict(), "200");
        assert_eq!((change_sender().await.verdict(), decide().await.verdict()), ("200".to_owned(), "200".to_owned()));
    }

    async fn what_is_no_call_on_operators_factors_is_refused(engine) {
        let world = World::new(engine).await;
        let browser = world.runner_without(OLGA).await;
        assert_eq!(browser.prove_operator(json!({ "password": PASSWORD })).await, "200");
        let line = "a\nb";
        for (method, path, body) in [
            (Method::POST, "factors", json!({ "type": 1 })),
            (Method::POST, "factors", json!({ "type": "RECOVERY_CODE" })),
            (Method::POST, "factors", json!({ "name": ["x"] })),
            (Method::POST, "factors", json!({ "name": line })),
            (Method::POST, "factors", json!({ "name": "x".repeat(101) })),
            (Method::POST, "factors", json!({ "phone": "+49 151 12345678" })),
            (Method::POST, "factors", json!([])),
            (Method::POST, "factors/x/confirm", json!({})),
            (Method::POST, "factors/x/confirm", json!({ "code": 123456 })),
            (Method::POST, "factors/x/confirm", json!({ "code": "123456", "name": "x" })),
            (Method::POST, "factors/x/confirm", json!({ "credential": {}, "name": "x" })),
            (Method::POST, "factors/x/confirm", json!({ "credential": "{}", "code": "123456" })),
            (Method::PATCH, "factors/x", json!({})),
            (Method::PATCH, "factors/x", json!({ "name": " " })),
            (Method::PATCH, "factors/x", json!({ "name": 1 })),
            (Method::POST, "proof", json!({})),
            (Method::POST, "proof", json!(null)),
            (Method::POST, "proof", json!({ "password": 1 })),
            (Method::POST, "proof", json!({ "password": PASSWORD, "totpData": { "code": "123456" } })),
            (Method::POST, "proof", json!({ "emailData": {} })),
            (Method::POST, "proof", json!({ "smsData": { "code": "123456" } })),
            (Method::POST, "proof", json!({ "pushData": {} })),
            (Method::POST, "proof", json!({ "webauthnData": { "challengeId": "x" } })),
        ] {
            let reply = browser.of_operator(method, path, body.clone()).await;
            assert_eq!(reply.verdict(), "400 validationError", "{path} {body}");
        }
        for (method, path, body, verdict) in [
            (Method::POST, "factors/x/confirm", json!({ "code": "123456" }), "404 NOT_FOUND"),
            (Method::POST, "factors/x/confirm", json!({ "credential": "{}" }), WRONG),
            (Method::PATCH, "factors/a%00b", json!({ "name": "x" }), "404 NOT_FOUND"),
            (Method::DELETE, "factors/%ff", json!({}), "404 NOT_FOUND"),
            (Method::POST, "recovery-codes", json!({}), "404 NOT_FOUND"),
        ] {
            assert_eq!(browser.of_operator(method, path, body).await.verdict(), verdict, "{path}");
        }
        // As many as there can be, and no more.
        for _ in 0..5 {
            let begun = browser.of_operator(Method::POST, "factors", json!({})).await.json();
            let code = json!({ "code": world.totp(&text(&begun["secret"]), 0) });
            let path = format!("factors/{}/confirm", text(&begun["factor"]["id"]));
            assert_eq!(browser.of_operator(Method::POST, &path, code).await.verdict(), "200");
        }
        assert_eq!(browser.of_operator(Method::POST, "factors", json!({})).await.verdict(), "400 TOO_MANY");
    }
}
