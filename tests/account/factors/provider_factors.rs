//! Second factors of members whom an identity provider has shown, several beside each other.

use super::{
    phone::offered,
    providers::person,
    push::{Pushes, at},
    *,
};
use stoa_testkit::openid::OpenidProvider;

const DAY: i64 = 24 * 60 * 60_000;

impl World {
    /// Gives a member another address, which they then show to be theirs.
    async fn moved_and_shown(&self, email: &str, other: &str) -> String {
        self.move_to(email, other).await;
        let start = json!({ "identityId": self.id_of(other).await, "target": "EMAIL" });
        let started = self.app.app().post("/v1/start", &start).await.json();
        let verify = json!({ "code": self.app.code_to(other).await, "stateToken": started["verificationId"] });
        self.call(&self.visitor().await, "/v1/auth/verify", &verify).await.verdict()
    }

    /// Signs in by a token that a front end has got itself, and answers what comes then.
    async fn by_token(&self, provider: &OpenidProvider, id: &str, person: Value) -> Value {
        let nonce = format!("a nonce that was drawn at {}", self.count("provider_answer").await);
        let body = json!({ "idpConnectionId": id, "tokenParams": { "idToken": provider.id_token(&person, &nonce), "nonce": nonce } });
        self.call(&self.visitor().await, "/v1/sso/login-with-token-params", &body).await.json()
    }

    /// Sets the authenticator up that a sign-in by a provider asks for, and codes by e-mail in a later one; answers the secret.
    async fn with_authenticator_and_mail(
        &self,
        browser: &Browser<'_>,
        view: &Value,
        (provider, id, person): (&OpenidProvider, &str, Value),
    ) -> String {
        let secret = text(&view["step"]["secret"]);
        let confirm = json!({ "type": "CONFIRM_FACTOR", "code": self.totp(&secret, 0) });
        assert_eq!(at(&browser.answer(&text(&view["token"]), confirm).await), ("RECOVERY_CODES", None));
        self.next_step();
        let email = text(&person["email"]);
        let asked = self.by_token(provider, id, person).await;
        let signed = self.verify_totp(&asked["stateToken"], &self.totp(&secret, 0)).await.json();
        let access = self.access_of(&signed["sessionToken"]).await;
        self.next_step();
        assert_eq!(self.prove(&access, json!({ "totpData": { "code": self.totp(&secret, 0) } })).await, "200");
        self.turn_on(&access, &email).await;
        secret
    }
}

on_both_engines! {
    async fn browsers_are_asked_after_a_provider_beside_the_password(engine) {
        let world = Pushes::new(engine).await;
        let (provider, id, access) = world.by_both("anna@example.org").await;
        assert_eq!(world.post_own(&access, "factors", json!({ "type": "PASSWORD" })).await.verdict(), "200");
        assert_eq!(world.prove(&access, json!({ "password": PASSWORD })).await, "200");
        // The password has brought no recovery codes, so the browser does.
        let (_, confirmed) = world.add(&access, "laptop").await;
        assert_eq!(confirmed["recoveryCodes"].as_array().map(Vec::len), Some(10), "{confirmed}");
        assert_eq!(offered(&world.login("anna@example.org", PASSWORD).await), ["PUSH", "RECOVERY_CODE"]);

        let browser = world.browser();
        let asked = browser.by_provider(&provider, &id, person("s", "anna@example.org")).await;
        assert_eq!((at(&asked), &asked["step"]["factors"]), (("SECOND_FACTOR", None), &json!(["PUSH", "PASSWORD", "RECOVERY_CODE"])));
        let waits = browser.ask_push(&asked, false).await;
        assert_eq!(at(&waits), ("AWAIT_PUSH", None), "{waits}");
        let pushed = text(&world.service.next(1).await[0].content["token"]);
        assert_eq!(world.answer(&pushed, json!({ "number": waits["step"]["number"] })).await.verdict(), "200");
        assert_eq!(at(&browser.flow_view(&text(&asked["token"])).await.json()), ("DONE", None));

        // Denied, the sign-in goes on with the password, which it has not seen yet.
        let other = world.browser();
        let asked = other.by_provider(&provider, &id, person("s", "anna@example.org")).await;
        other.ask_push(&asked, false).await;
        let pushed = text(&world.service.next(1).await[0].content["token"]);
        assert_eq!(world.answer(&pushed, json!({ "denied": true })).await.verdict(), "200");
        let denied = other.flow_view(&text(&asked["token"])).await.json();
        assert_eq!((at(&denied), &denied["step"]["factors"]), (("SECOND_FACTOR", Some("PUSH_DENIED")), &json!(["PASSWORD", "RECOVERY_CODE"])));
        let show = json!({ "type": "SECOND_FACTOR", "factor": "PASSWORD", "code": PASSWORD, "remember": false });
        assert_eq!(at(&other.answer(&text(&asked["token"]), show).await), ("DONE", None));
    }

    async fn code_by_email_shows_nothing_beside_a_provider_of_the_same_mailbox(engine) {
        const REFUSED: &str = "400 validationError";
        let world = World::with_factors(engine).await;
        let (provider, id, access) = world.by_both("anna@example.org").await;
        let (_, codes) = world.turn_on(&access, "anna@example.org").await;
        let by_call = async |email: &str| world.by_token(&provider, &id, person("s", email)).await;
        let by_page = async || world.browser().by_provider(&provider, &id, person("s", "Anna@example.org")).await;

        // Beside the password it counts, and is asked for.
        let asked = world.login("anna@example.org", PASSWORD).await;
        assert_eq!(offered(&asked), ["EMAIL", "RECOVERY_CODE"]);
        let (of_password, code) = world.code_of("anna@example.org", world.ask_code(&asked["stateToken"])).await;
        // After the provider the password is, and no code is sent or taken, also one that another sign-in had sent.
        let asked = by_call("anna@example.org").await;
        assert_eq!(offered(&asked), ["PASSWORD", "RECOVERY_CODE"], "{asked}");
        world.app.mail.take();
        assert_eq!(world.ask_code(&asked["stateToken"]).await.verdict(), REFUSED);
        assert_eq!(world.verify_email(&asked["stateToken"], &code).await.verdict(), REFUSED);
        assert!(world.app.mail.take().is_empty());
        let shown = by_page().await;
        assert_eq!(shown["step"]["factors"], json!(["PASSWORD", "RECOVERY_CODE"]), "{shown}");
        assert_eq!(world.verify_password(&asked["stateToken"], "another one").await.verdict(), WRONG);
        assert_eq!(world.verify_password(&asked["stateToken"], PASSWORD).await.json()["state"], "SUCCESS");
        assert_eq!(world.verify_email(&of_password.json()["stateToken"], &code).await.json()["state"], "SUCCESS");

        // What the provider names now is chosen by who signs in: by the scope, or in the account there.
        for named in [json!({ "sub": "s" }), person("s", "anna@elsewhere.example"), person("s", "not an address")] {
            let asked = world.by_token(&provider, &id, named).await;
            assert_eq!(offered(&asked), ["PASSWORD", "RECOVERY_CODE"], "{asked}");
        }

        // A password that the mailbox has set is no more than that.
        world.app.kit.clock.advance(8 * DAY);
        let recover = json!({ "recoveryToken": world.recovery_link("anna@example.org").await, "password": ANOTHER });
        assert_eq!(world.call(&world.visitor().await, "/v1/recover", &recover).await.json()["state"], "MFA_CHALLENGE");
        let asked = by_call("anna@example.org").await;
        assert_eq!(offered(&asked), ["RECOVERY_CODE"], "{asked}");
        assert_eq!(world.verify_password(&asked["stateToken"], ANOTHER).await.verdict(), REFUSED);
        assert_eq!(by_page().await["step"]["factors"], json!(["RECOVERY_CODE"]));
        assert_eq!(world.verify_recovery(&asked["stateToken"], &codes[0]).await.json()["state"], "SUCCESS");
        // The member has not shown that password: who has set it knows it, and the mailbox.
        assert_eq!(offered(&by_call("anna@example.org").await), ["RECOVERY_CODE"]);
        let asked = world.login("anna@example.org", ANOTHER).await;
        assert_eq!(offered(&asked), ["RECOVERY_CODE"]);
        assert_eq!(world.verify_recovery(&asked["stateToken"], &codes[1]).await.json()["state"], "SUCCESS");
        assert_eq!(offered(&by_call("anna@example.org").await), ["PASSWORD", "RECOVERY_CODE"]);

        // The account has another address than the one by which it was linked: that is another mailbox, unless the provider names it too.
        let started = world.moved_and_shown("anna@example.org", "anna@elsewhere.example").await;
        assert_eq!(started, "200");
        let asked = by_call("anna@example.org").await;
        assert_eq!(offered(&asked), ["EMAIL", "RECOVERY_CODE"], "{asked}");
        assert_eq!(world.verify_password(&asked["stateToken"], ANOTHER).await.verdict(), REFUSED);
        for named in [json!({ "sub": "s" }), person("s", "anna@elsewhere.example"), person("s", "not an address")] {
            assert_eq!(offered(&world.by_token(&provider, &id, named).await), ["PASSWORD", "RECOVERY_CODE"]);
        }

        // A password that a link to the present address has set keeps codes from beside itself alone.
        const THIRD: &str = "a third phrase of hers";
        world.app.kit.clock.advance(8 * DAY);
        let link = world.recovery_link("anna@elsewhere.example").await;
        let recover = json!({ "recoveryToken": link, "password": THIRD });
        assert_eq!(world.call(&world.visitor().await, "/v1/recover", &recover).await.json()["state"], "MFA_CHALLENGE");
        assert_eq!(offered(&world.login("anna@elsewhere.example", THIRD).await), ["RECOVERY_CODE"]);
        let asked = by_call("anna@example.org").await;
        assert_eq!(offered(&asked), ["EMAIL", "RECOVERY_CODE"], "{asked}");
        let (sent, code) = world.code_of("anna@elsewhere.example", world.ask_code(&asked["stateToken"])).await;
        assert_eq!(world.verify_email(&sent.json()["stateToken"], &code).await.json()["state"], "SUCCESS");
        assert_eq!(offered(&world.login("anna@elsewhere.example", THIRD).await), ["RECOVERY_CODE"]);
    }

    async fn password_that_a_link_has_set_is_no_factor_beside_others(engine) {
        let world = World::with_factors(engine).await;
        let (provider, id, access) = world.by_both("anna@example.org").await;
        assert_eq!(world.post_own(&access, "factors", json!({ "type": "PASSWORD" })).await.verdict(), "200");
        let (_, secret, codes) = world.enrol(&access, json!({ "password": PASSWORD })).await;
        let asked = async || world.by_token(&provider, &id, person("s", "anna@example.org")).await;
        assert_eq!(offered(&asked().await), ["TOTP", "PASSWORD", "RECOVERY_CODE"]);
        // Who reads the mailbox opens the account there, and sets a password: the factor is another thing.
        world.app.kit.clock.advance(8 * DAY);
        let recover = json!({ "recoveryToken": world.recovery_link("anna@example.org").await, "password": ANOTHER });
        assert_eq!(world.call(&world.visitor().await, "/v1/recover", &recover).await.json()["state"], "MFA_CHALLENGE");
        let challenge = asked().await;
        assert_eq!(offered(&challenge), ["TOTP", "RECOVERY_CODE"]);
        assert_eq!(world.verify_password(&challenge["stateToken"], ANOTHER).await.verdict(), "400 validationError");
        let code = world.totp(&secret, 0);
        let signed = world.verify_totp(&challenge["stateToken"], &code).await.json();
        // The member has not shown that password, nor by a proof or by adding a factor: who has set it knows it, and the mailbox.
        let session = world.access_of(&signed["sessionToken"]).await;
        world.next_step();
        assert_eq!(world.prove(&session, json!({ "totpData": { "code": world.totp(&secret, 0) } })).await, "200");
        world.next_step();
        world.enrol(&session, json!({ "totpData": { "code": world.totp(&secret, 0) } })).await;
        assert_eq!(offered(&asked().await), ["TOTP", "RECOVERY_CODE"]);
        let by_password = world.login("anna@example.org", ANOTHER).await;
        let shown = world.verify_totp(&by_password["stateToken"], &world.totp(&secret, 0)).await.json();
        assert_eq!(shown["state"], "SUCCESS", "{shown}");
        assert_eq!(offered(&asked().await), ["TOTP", "PASSWORD", "RECOVERY_CODE"], "it is the member's by now");
        // Nor is one that a session has set.
        let change = json!({ "newPassword": PASSWORD });
        let signed = world.verify_recovery(&asked().await["stateToken"], &codes[0]).await.json();
        let stolen = world.access_of(&signed["sessionToken"]).await;
        assert_eq!(world.call(&stolen, "/v2/change-password", &change).await.verdict(), "200");
        assert_eq!(offered(&asked().await), ["TOTP", "RECOVERY_CODE"]);
    }

    async fn password_of_before_the_first_factor_counts_once_it_was_shown_with_it(engine) {
        let world = World::new(engine).await;
        let (provider, id) = world.with_provider(json!({})).await;
        let anna = || person("s", "anna@example.org");
        assert_eq!(world.by_token(&provider, &id, anna()).await["state"], "SUCCESS");
        // Who reads the mailbox sets the account's first password, signs in by it, and proves by it.
        let recover = json!({ "recoveryToken": world.recovery_link("anna@example.org").await, "password": ANOTHER });
        let stolen = world.call(&world.visitor().await, "/v1/recover", &recover).await.json();
        let stolen = world.access_of(&stolen["sessionToken"]).await;
        assert_eq!(world.prove(&stolen, json!({ "password": ANOTHER })).await, "200");
        // The member sets a factor up, and takes codes by e-mail as well.
        world.policy(json!({ "secondFactor": "REQUIRED", "secondFactorGraceDays": 0 })).await;
        let browser = world.browser();
        let view = browser.by_provider(&provider, &id, anna()).await;
        let secret = world.with_authenticator_and_mail(&browser, &view, (&provider, &id, anna())).await;
        // Neither way does the mailbox do.
        assert_eq!(offered(&world.login("anna@example.org", ANOTHER).await), ["TOTP", "RECOVERY_CODE"]);
        assert_eq!(offered(&world.by_token(&provider, &id, anna()).await), ["TOTP", "RECOVERY_CODE"]);
        world.next_step();
        let asked = world.login("anna@example.org", ANOTHER).await;
        let shown = world.verify_totp(&asked["stateToken"], &world.totp(&secret, 0)).await.json();
        assert_eq!(shown["state"], "SUCCESS", "{shown}");
        assert_eq!(offered(&world.login("anna@example.org", ANOTHER).await), ["TOTP", "EMAIL", "RECOVERY_CODE"]);
    }

    async fn sign_in_that_has_asked_for_fields_rests_on_the_least(engine) {
        let world = World::new(engine).await;
        let (provider, id) = world.with_provider(json!({ "linksByEmail": true })).await;
        let policy = json!({ "requireEmailVerification": true, "requiredFields": ["firstName"], "secondFactor": "REQUIRED", "secondFactorGraceDays": 0 });
        world.policy(policy).await;
        let anna = || person("s", "anna@example.org");
        // Who reads the mailbox makes the account, up to the fields that are missing.
        let registered = world.register("anna@example.org").await;
        let verify = json!({ "code": world.app.code_to("anna@example.org").await, "stateToken": registered["stateToken"] });
        assert_eq!(world.call(&world.visitor().await, "/v1/auth/verify", &verify).await.json()["state"], "REQUIRE_MISSING_FIELDS");
        // The member, who comes by a provider, tells them, and sets a factor up.
        let browser = world.browser();
        let view = browser.by_provider(&provider, &id, anna()).await;
        assert_eq!(at(&view), ("MISSING_FIELDS", None), "{view}");
        let told = json!({ "type": "MISSING_FIELDS", "profile": { "firstName": "Anna" } });
        let view = browser.answer(&text(&view["token"]), told).await;
        world.with_authenticator_and_mail(&browser, &view, (&provider, &id, anna())).await;
        // That the password was not shown is not forgotten: it is no way around the authenticator.
        assert_eq!(offered(&world.by_token(&provider, &id, anna()).await), ["TOTP", "RECOVERY_CODE"]);
        assert_eq!(offered(&world.login("anna@example.org", PASSWORD).await), ["TOTP", "RECOVERY_CODE"]);
    }

    async fn sign_in_by_a_provider_comes_to_an_end_where_a_thief_has_set_the_password(engine) {
        let world = World::with_factors(engine).await;
        let (provider, id, access) = world.by_both("anna@example.org").await;
        let (_, codes) = world.turn_on(&access, "anna@example.org").await;
        assert_eq!(world.post_own(&access, "factors", json!({ "type": "PASSWORD" })).await.verdict(), "200");
        // The proof of the session has ended.
        world.app.kit.clock.advance(60 * 60_000);
        assert_eq!(world.call(&access, "/v2/change-password", &json!({ "newPassword": ANOTHER })).await.verdict(), "200");
        world.policy(json!({ "secondFactor": "REQUIRED", "secondFactorGraceDays": 0 })).await;
        let browser = world.browser();
        let recover = |code: &str| json!({ "type": "SECOND_FACTOR", "factor": "RECOVERY_CODE", "code": code, "remember": false });
        let view = browser.by_provider(&provider, &id, person("s", "anna@example.org")).await;
        assert_eq!((at(&view), &view["step"]["factors"]), (("SECOND_FACTOR", None), &json!(["RECOVERY_CODE"])), "{view}");
        world.app.mail.take();
        let view = browser.answer(&text(&view["token"]), recover(&codes[0])).await;
        assert_eq!(at(&view), ("VERIFY_EMAIL", None), "{view}");
        let code = world.app.code_to("anna@example.org").await;
        // Neither what it rests on nor that the address was shown is lost on the way.
        let view = browser.answer(&text(&view["token"]), json!({ "type": "VERIFY_EMAIL", "code": code })).await;
        assert_eq!((at(&view), &view["step"]["factors"]), (("SECOND_FACTOR", None), &json!(["RECOVERY_CODE"])), "{view}");
        let view = browser.answer(&text(&view["token"]), recover(&codes[1])).await;
        assert_eq!(at(&view), ("ENROL_FACTOR", None), "{view}");
    }

    async fn flow_that_waited_for_the_owner_asks_for_what_was_added_since(engine) {
        let world = World::new(engine).await;
        let (provider, id) = world.with_provider(json!({ "linksByEmail": true })).await;
        world.policy(json!({ "requireOwnerApproval": true, "requireEmailVerification": true, "secondFactor": "OPTIONAL" })).await;
        let registered = world.register("anna@example.org").await;
        let code = world.app.code_to("anna@example.org").await;
        let verify = json!({ "code": code, "stateToken": registered["stateToken"] });
        assert_eq!(world.call(&world.visitor().await, "/v1/auth/verify", &verify).await.json()["state"], "REQUIRE_OWNER_APPROVAL");
        let thief = world.browser();
        let waits = thief.by_provider(&provider, &id, person("s", "anna@example.org")).await;
        assert_eq!(at(&waits), ("AWAIT_APPROVAL", None), "{waits}");
        let approve = format!("/members/v1/members/{}/approve", world.id_of("anna@example.org").await);
        assert_eq!(world.app.app().post(&approve, &json!({})).await.verdict(), "200");
        let signed = world.login("anna@example.org", PASSWORD).await;
        let access = world.access_of(&signed["sessionToken"]).await;
        assert_eq!(world.prove(&access, json!({ "password": PASSWORD })).await, "200");
        world.turn_on(&access, "anna@example.org").await;
        // It rests on the provider, which it does not say any more.
        let view = thief.flow_view(&text(&waits["token"])).await.json();
        assert_eq!(view["step"]["type"], "SIGN_IN", "{view}");
    }

    async fn codes_by_email_need_something_that_they_stand_beside(engine) {
        let world = World::new(engine).await;
        let (provider, id) = world.with_provider(json!({})).await;
        world.policy(json!({ "secondFactor": "REQUIRED", "secondFactorGraceDays": 0 })).await;
        let browser = world.browser();
        let view = browser.by_provider(&provider, &id, person("s", "anna@example.org")).await;
        assert_eq!(at(&view), ("ENROL_FACTOR", None), "{view}");
        let secret = text(&view["step"]["secret"]);
        let confirm = json!({ "type": "CONFIRM_FACTOR", "code": world.totp(&secret, 0) });
        assert_eq!(at(&browser.answer(&text(&view["token"]), confirm).await), ("RECOVERY_CODES", None));
        world.next_step();
        let asked = world.by_token(&provider, &id, person("s", "anna@example.org")).await;
        let signed = world.verify_totp(&asked["stateToken"], &world.totp(&secret, 0)).await.json();
        let access = world.access_of(&signed["sessionToken"]).await;
        world.next_step();
        assert_eq!(world.prove(&access, json!({ "totpData": { "code": world.totp(&secret, 0) } })).await, "200");
        let addable = async || world.own(&access, Method::GET, "factors", Value::Null).await.json()["addable"].clone();
        assert!(!addable().await.as_array().unwrap().contains(&json!("EMAIL")));
        let refused = world.post_own(&access, "factors", json!({ "type": "EMAIL" })).await;
        let violation = &refused.json()["details"]["validationError"]["fieldViolations"][0];
        assert_eq!((&violation["field"], &violation["violatedRule"]), (&json!("type"), &json!("VALIDATION")), "{}", refused.json());
        let set = world.call(&access, "/v2/change-password", &json!({ "newPassword": PASSWORD })).await;
        assert_eq!(set.verdict(), "200");
        assert!(addable().await.as_array().unwrap().contains(&json!("EMAIL")));
        world.turn_on(&access, "anna@example.org").await;
    }
}
