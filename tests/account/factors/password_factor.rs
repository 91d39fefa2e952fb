//! The password as second factor, beside an identity provider (docs/second-factors.md).

use super::{providers::person, *};

impl World {
    /// A member with a password who signs in by a provider as well, and has lately shown who they are.
    pub(super) async fn by_both(&self, email: &str) -> (stoa_testkit::openid::OpenidProvider, String, String) {
        let (provider, id) = self.with_provider(json!({})).await;
        let access = self.member_access(email).await;
        let browser = self.browser();
        let view = browser.by_provider(&provider, &id, person("s", email)).await;
        browser.answer(&text(&view["token"]), json!({ "type": "LINK_PROVIDER", "password": PASSWORD })).await;
        assert_eq!(self.prove(&access, json!({ "password": PASSWORD })).await, "200");
        (provider, id, access)
    }

    pub(super) async fn verify_password(&self, state_token: &Value, password: &str) -> Reply {
        let body = json!({ "stateToken": state_token, "passwordData": { "password": password } });
        self.call(&self.visitor().await, "/v2/PASSWORD/verify", &body).await
    }
}

on_both_engines! {
    async fn password_is_asked_for_after_a_provider_and_never_after_itself(engine) {
        let world = World::with_factors(engine).await;
        let plain = world.member_access("bob@example.org").await;
        assert_eq!(world.prove(&plain, json!({ "password": PASSWORD })).await, "200");
        assert_eq!(world.post_own(&plain, "factors", json!({ "type": "PASSWORD" })).await.verdict(), "400 validationError", "there is no provider");

        let (provider, id, access) = world.by_both("anna@example.org").await;
        let list = async || world.own(&access, Method::GET, "factors", Value::Null).await.json();
        assert!(list().await["addable"].as_array().unwrap().contains(&json!("PASSWORD")));
        assert_eq!(world.post_own(&access, "factors", json!({ "type": "PASSWORD", "name": "x" })).await.verdict(), "400 validationError");
        let added = world.post_own(&access, "factors", json!({ "type": "PASSWORD" })).await;
        assert_eq!((added.verdict().as_str(), &added.json()["factor"]["type"], added.json().get("recoveryCodes")), ("200", &json!("PASSWORD"), None));
        assert_eq!(world.post_own(&access, "factors", json!({ "type": "PASSWORD" })).await.verdict(), "400 TOO_MANY");
        assert!(!list().await["addable"].as_array().unwrap().contains(&json!("PASSWORD")));
        let factor = text(&list().await["factors"][0]["id"]);

        // Not beside itself, nor is the account one with a second factor for it.
        assert_eq!(world.login("anna@example.org", PASSWORD).await["state"], "SUCCESS");
        assert_eq!(world.prove(&access, json!({ "password": PASSWORD })).await, "200");
        let browser = world.browser();
        let asked = browser.by_provider(&provider, &id, person("s", "anna@example.org")).await;
        assert_eq!(asked["step"]["factors"], json!(["PASSWORD"]), "{asked}");
        let show = |password: &str| json!({ "type": "SECOND_FACTOR", "factor": "PASSWORD", "code": password, "remember": false });
        let wrong = browser.answer(&text(&asked["token"]), show("another one")).await;
        assert_eq!((&wrong["problems"][0]["field"], &wrong["problems"][0]["code"]), (&json!("code"), &json!("INVALID_CODE")));
        assert_eq!(browser.answer(&text(&asked["token"]), show(PASSWORD)).await["step"]["message"], "SIGNED_IN");

        assert_eq!(world.own(&access, Method::DELETE, &format!("factors/{factor}"), Value::Null).await.verdict(), "200");
        assert_eq!(world.own(&access, Method::DELETE, &format!("factors/{factor}"), Value::Null).await.verdict(), "404 NOT_FOUND");
        assert_eq!(world.browser().by_provider(&provider, &id, person("s", "anna@example.org")).await["step"]["message"], "SIGNED_IN");
    }

    async fn calls_show_it_where_it_counts(engine) {
        let world = World::with_factors(engine).await;
        let (provider, id, access) = world.by_both("anna@example.org").await;
        assert_eq!(world.post_own(&access, "factors", json!({ "type": "PASSWORD" })).await.verdict(), "200");
        let mut n = 0;
        let mut challenge = async || {
            n += 1;
            let nonce = format!("a nonce of this test {n}");
            let token = provider.id_token(&person("s", "anna@example.org"), &nonce);
            let body = json!({ "idpConnectionId": id, "tokenParams": { "idToken": token, "nonce": nonce } });
            world.call(&world.visitor().await, "/v1/sso/login-with-token-params", &body).await.json()
        };
        let asked = challenge().await;
        assert_eq!((&asked["state"], &asked["mfaChallengeData"]["factorType"]), (&json!("MFA_CHALLENGE"), &json!("PASSWORD")));
        assert_eq!(world.verify_password(&asked["stateToken"], "another one").await.verdict(), WRONG);
        let body = json!({ "stateToken": asked["stateToken"], "passwordData": { "password": 7 } });
        assert_eq!(world.call(&world.visitor().await, "/v2/PASSWORD/verify", &body).await.verdict(), "400 validationError");
        assert_eq!(world.verify_password(&asked["stateToken"], PASSWORD).await.json()["state"], "SUCCESS");
        // A factor beside it: both may be shown, and codes of the one are not for sign-ins of the other.
        let (_, secret, _) = world.enrol(&access, json!({ "password": PASSWORD })).await;
        let asked = challenge().await;
        let offered: Vec<&Value> = asked["mfaChallengeData"]["availableFactors"].as_array().unwrap().iter().map(|it| &it["factorType"]).collect();
        assert_eq!(offered, ["TOTP", "PASSWORD", "RECOVERY_CODE"]);
        let by_password = world.login("anna@example.org", PASSWORD).await;
        assert_eq!(by_password["state"], "MFA_CHALLENGE");
        assert_eq!(by_password["mfaChallengeData"]["availableFactors"].as_array().map(Vec::len), Some(2));
        assert_eq!(world.verify_password(&by_password["stateToken"], PASSWORD).await.verdict(), "400 validationError", "who has shown it shows nothing more");
        assert_eq!(world.verify_totp(&by_password["stateToken"], &world.totp(&secret, 0)).await.json()["state"], "SUCCESS");
        assert_eq!(world.verify_password(&asked["stateToken"], PASSWORD).await.json()["state"], "SUCCESS");
    }

    async fn guesses_count_as_those_at_the_password(engine) {
        let world = World::with_factors(engine).await;
        let (provider, id, access) = world.by_both("anna@example.org").await;
        assert_eq!(world.post_own(&access, "factors", json!({ "type": "PASSWORD" })).await.verdict(), "200");
        let browser = world.browser();
        let asked = browser.by_provider(&provider, &id, person("s", "anna@example.org")).await;
        let token = text(&asked["token"]);
        let input = json!({ "type": "SECOND_FACTOR", "factor": "PASSWORD", "code": "another one", "remember": false });
        // As many as anybody has, one of which went into the sign-in before, and those of a browser that the account knows.
        let mut codes = Vec::new();
        for _ in 0..41 {
            codes.push(text(&browser.answer(&token, input.clone()).await["problems"][0]["code"]));
        }
        let wrong = codes.iter().filter(|it| *it == "INVALID_CODE").count();
        assert_eq!((wrong, codes[wrong..].join(" ").as_str()), (39, "THROTTLED_FEATURE THROTTLED_FEATURE"), "{codes:?}");
    }

    async fn browser_that_the_account_knows_answers_while_others_guess(engine) {
        let world = World::with_factors(engine).await;
        let (provider, id, access) = world.by_both("anna@example.org").await;
        assert_eq!(world.post_own(&access, "factors", json!({ "type": "PASSWORD" })).await.verdict(), "200");
        let firefox = ("user-agent", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0");
        let headers = [("sec-fetch-site", "same-origin"), ("content-type", "application/json"), ("origin", "http://localhost"), firefox];
        let show = json!({ "type": "SECOND_FACTOR", "factor": "PASSWORD", "code": PASSWORD, "remember": false });
        let signs_in = async |browser: &Browser<'_>| {
            let asked = browser.by_provider(&provider, &id, person("s", "anna@example.org")).await;
            let path = format!("/_api/account/v1/flows/{}", text(&asked["token"]));
            let view = browser.send(Method::POST, &path, &headers, Some(&show)).await.json();
            text(if view["problems"][0].is_object() { &view["problems"][0]["code"] } else { &view["step"]["message"] })
        };
        let own = world.browser();
        assert_eq!(signs_in(&own).await, "SIGNED_IN");
        let visitor = world.visitor().await;
        let guess = json!({ "loginId": { "email": "anna@example.org" }, "password": "not this one" });
        let headers = [("authorization", visitor.as_str()), ("content-type", "application/json"), firefox];
        for _ in 0..25 {
            send(&world.app, Method::POST, "/v2/login", &headers, Some(&guess)).await;
        }
        assert_eq!(signs_in(&world.browser()).await, "THROTTLED_FEATURE");
        assert_eq!(signs_in(&own).await, "SIGNED_IN");
    }

    async fn it_is_none_of_those_that_a_site_requires(engine) {
        let world = World::with_factors(engine).await;
        let (provider, id, access) = world.by_both("anna@example.org").await;
        assert_eq!(world.post_own(&access, "factors", json!({ "type": "PASSWORD" })).await.verdict(), "200");
        world.policy(json!({ "secondFactor": "REQUIRED", "secondFactorGraceDays": 0 })).await;
        let browser = world.browser();
        let asked = browser.by_provider(&provider, &id, person("s", "anna@example.org")).await;
        assert_eq!(asked["step"]["factors"], json!(["PASSWORD"]));
        let show = json!({ "type": "SECOND_FACTOR", "factor": "PASSWORD", "code": PASSWORD, "remember": false });
        let view = browser.answer(&text(&asked["token"]), show).await;
        assert_eq!(view["step"]["type"], "ENROL_FACTOR", "{view}");
    }

    async fn password_that_changes_ends_what_waits(engine) {
        let world = World::with_factors(engine).await;
        let (provider, id, access) = world.by_both("anna@example.org").await;
        assert_eq!(world.post_own(&access, "factors", json!({ "type": "PASSWORD" })).await.verdict(), "200");
        let browser = world.browser();
        let asked = browser.by_provider(&provider, &id, person("s", "anna@example.org")).await;
        let change = json!({ "oldPassword": PASSWORD, "newPassword": ANOTHER });
        assert_eq!(world.post_own(&access, "password", change).await.verdict(), "200");
        let show = json!({ "type": "SECOND_FACTOR", "factor": "PASSWORD", "code": ANOTHER, "remember": false });
        let view = browser.answer(&text(&asked["token"]), show).await;
        assert_eq!((&view["step"]["type"], &view["problems"][0]["code"]), (&json!("SIGN_IN"), &json!("STEP_CHANGED")));
    }
}
