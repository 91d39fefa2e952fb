//! E-mailed codes and recovery links.

use super::*;
use std::time::Duration;
use stoa_testkit::on_both_engines;

impl World {
    async fn code_to(&self, email: &str) -> String {
        self.app.code_to(email).await
    }

    async fn verify(&self, visitor: &str, state_token: &Value, code: &str) -> Reply {
        let body = json!({ "code": code, "stateToken": state_token });
        self.call(visitor, "/_api/iam/verification/v1/auth/verify", &body).await
    }

    /// The link that is sent after the answer.
    pub async fn link_to(&self, email: &str) -> Option<String> {
        for _ in 0..1_500 {
            let links = self.app.mail.last_to(email).map(|it| it.links).unwrap_or_default();
            if let Some(link) = links.into_iter().find(|it| it.contains("recover?token=")) {
                return Some(link);
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        None
    }
}

fn other(code: &str) -> &'static str {
    if code == "000000" { "111111" } else { "000000" }
}

on_both_engines! {
    async fn code_verifies_once(engine) {
        let world = World::new(engine).await;
        world.policy(json!({ "requireEmailVerification": true })).await;
        let registered = world.register("anna@example.org").await;
        assert_eq!(registered["state"], "REQUIRE_EMAIL_VERIFICATION");
        assert!(registered["sessionToken"].is_null());
        let (visitor, state) = (world.visitor().await, &registered["stateToken"]);
        let code = world.code_to("anna@example.org").await;
        for bad in [json!({}), json!({ "code": "12345", "stateToken": state }), json!({ "code": 123456, "stateToken": state })] {
            assert_eq!(world.call(&visitor, "/v1/auth/verify", &bad).await.verdict(), "400 validationError");
        }
        assert_eq!(world.verify(&visitor, state, other(&code)).await.verdict(), "400 VERIFICATION_FAILED");
        assert_eq!(world.verify(&visitor, &json!("t1.nonsense"), &code).await.verdict(), "400 INVALID_STATE_TOKEN");
        let reply = world.verify(&visitor, state, &code).await.json();
        assert_eq!((&reply["state"], &reply["identity"]["email"]["isVerified"]), (&json!("SUCCESS"), &json!(true)));
        assert!(reply["sessionToken"].is_string());
        assert_eq!(world.verify(&visitor, state, &code).await.verdict(), "400 INVALID_STATE_TOKEN");
    }

    async fn code_succeeds_once_among_a_hundred(engine) {
        let world = World::new(engine).await;
        world.policy(json!({ "requireEmailVerification": true })).await;
        let registered = world.register("anna@example.org").await;
        let (visitor, code) = (world.visitor().await, world.code_to("anna@example.org").await);
        let body = json!({ "code": code, "stateToken": registered["stateToken"] }).to_string();
        let mut tasks = Vec::new();
        for _ in 0..100 {
            let (app, body, visitor) = (world.app.app.clone(), body.clone(), visitor.clone());
            tasks.push(tokio::spawn(async move {
                let request = Request::builder().method(Method::POST).uri("/v1/auth/verify").header("host", "localhost");
                let request = request.header("authorization", visitor).body(Body::from(body)).unwrap();
                stoa_http::service(app).oneshot(request).await.unwrap().status()
            }));
        }
        let mut statuses = BTreeMap::new();
        for task in tasks {
            *statuses.entry(task.await.unwrap().as_u16()).or_insert(0) += 1;
        }
        assert_eq!(statuses.get(&200), Some(&1), "{statuses:?}");
        assert!(statuses.keys().all(|it| *it < 500), "{statuses:?}");
    }

    async fn guessing_and_flooding_end(engine) {
        let world = World::new(engine).await;
        world.policy(json!({ "requireEmailVerification": true })).await;
        let registered = world.register("anna@example.org").await;
        let (visitor, state) = (world.visitor().await, &registered["stateToken"]);
        let code = world.code_to("anna@example.org").await;
        for _ in 0..10 {
            assert_eq!(world.verify(&visitor, state, other(&code)).await.verdict(), "400 VERIFICATION_FAILED");
        }
        assert_eq!(world.verify(&visitor, state, &code).await.verdict(), "429 THROTTLED_FEATURE", "even the right one");

        // A new sign-in gives a new token, but the member's own count goes on.
        let login = json!({ "loginId": { "email": "anna@example.org" }, "password": PASSWORD });
        let again = world.call(&visitor, "/v2/login", &login).await.json();
        let (state, code) = (&again["stateToken"], world.code_to("anna@example.org").await);
        for _ in 0..10 {
            assert_eq!(world.verify(&visitor, state, other(&code)).await.verdict(), "400 VERIFICATION_FAILED");
        }
        let third = world.call(&visitor, "/v2/login", &login).await.json();
        let code = world.code_to("anna@example.org").await;
        assert_eq!(world.verify(&visitor, &third["stateToken"], &code).await.verdict(), "429 THROTTLED_FEATURE");

        let mut verdicts = Vec::new();
        for _ in 0..10 {
            let resend = json!({ "stateToken": third["stateToken"] });
            verdicts.push(world.call(&visitor, "/v1/auth/resend", &resend).await.verdict());
        }
        assert_eq!(verdicts.iter().filter(|it| *it == "200").count(), 7, "ten messages an hour");
        world.code_to("anna@example.org").await;
        world.app.kit.clock.advance(61 * 60_000);
        let late = world.call(&world.visitor().await, "/v2/login", &login).await.json();
        let code = world.code_to("anna@example.org").await;
        world.app.kit.clock.advance(10 * 60_000);
        let visitor = world.visitor().await;
        assert_eq!(world.verify(&visitor, &late["stateToken"], &code).await.verdict(), "400 VERIFICATION_FAILED", "ten minutes");
        let resend = json!({ "stateToken": late["stateToken"] });
        assert_eq!(world.call(&visitor, "/v1/auth/resend", &resend).await.json()["state"], "REQUIRE_EMAIL_VERIFICATION");
        let code = world.code_to("anna@example.org").await;
        assert_eq!(world.verify(&visitor, &late["stateToken"], &code).await.verdict(), "200");
    }

    async fn new_sign_in_gives_no_more_guesses(engine) {
        let world = World::new(engine).await;
        world.policy(json!({ "requireEmailVerification": true })).await;
        world.register("anna@example.org").await;
        let browser = world.browser();
        let token = text(&browser.start(json!({ "kind": "SIGN_IN" })).await["token"]);
        let mut problems = Vec::new();
        for _ in 0..4 {
            let input = json!({ "type": "SIGN_IN", "email": "anna@example.org", "password": PASSWORD });
            assert_eq!(browser.answer(&token, input).await["step"]["type"], "VERIFY_EMAIL");
            let code = world.code_to("anna@example.org").await;
            for _ in 0..7 {
                let view = browser.answer(&token, json!({ "type": "VERIFY_EMAIL", "code": other(&code) })).await;
                problems.push(text(&view["problems"][0]["code"]));
            }
            browser.answer(&token, json!({ "type": "BACK" })).await;
        }
        assert_eq!(problems.iter().filter(|it| *it == "INVALID_CODE").count(), 20, "{problems:?}");
        assert!(problems[20..].iter().all(|it| it == "THROTTLED_FEATURE"), "{problems:?}");
    }

    async fn sign_in_awaiting_a_code_ends_with_the_password(engine) {
        let world = World::new(engine).await;
        world.policy(json!({ "requireEmailVerification": true, "requireOwnerApproval": true })).await;
        // Somebody else was there first, by the API and on the pages; the codes lie in the mailbox of the owner.
        let anna = "anna@example.org";
        let (state, first) = (world.register(anna).await["stateToken"].clone(), world.code_to(anna).await);
        let browser = world.browser();
        let token = text(&browser.start(json!({ "kind": "SIGN_IN" })).await["token"]);
        let input = json!({ "type": "SIGN_IN", "email": anna, "password": PASSWORD });
        assert_eq!(browser.answer(&token, input).await["step"]["type"], "VERIFY_EMAIL");
        let (second, visitor) = (world.code_to(anna).await, world.visitor().await);
        world.app.mail.take();
        world.call(&visitor, "/v1/send-email", &json!({ "email": anna })).await;
        let link = world.link_to(anna).await.unwrap();
        let body = json!({ "recoveryToken": link.split_once("token=").unwrap().1, "password": "another long phrase" });
        let id = text(&world.call(&visitor, "/v1/recover", &body).await.json()["identity"]["id"]);
        let approve = format!("/members/v1/members/{id}/approve");
        assert_eq!(world.app.app().post(&approve, &json!({})).await.verdict(), "200");
        assert_eq!(world.verify(&visitor, &state, &first).await.verdict(), "400 INVALID_STATE_TOKEN");
        let resend = json!({ "stateToken": state });
        assert_eq!(world.call(&visitor, "/v1/auth/resend", &resend).await.verdict(), "400 INVALID_STATE_TOKEN");
        let view = browser.answer(&token, json!({ "type": "VERIFY_EMAIL", "code": second })).await;
        assert_eq!((&view["step"]["type"], browser.has("stoa-session")), (&json!("VERIFY_EMAIL"), false));
    }

    async fn sign_in_awaiting_a_code_ends_with_a_block_only(engine) {
        let world = World::new(engine).await;
        world.policy(json!({ "requireEmailVerification": true, "requireOwnerApproval": true })).await;
        let (anna, visitor) = ("anna@example.org", world.visitor().await);
        let registered = world.register(anna).await;
        let step = async |step: &str| {
            let path = format!("/members/v1/members/{}/{step}", text(&registered["identity"]["id"]));
            assert_eq!(world.app.app().post(&path, &json!({})).await.verdict(), "200", "{step}");
        };
        let login = async || {
            let body = json!({ "loginId": { "email": anna }, "password": PASSWORD });
            world.call(&visitor, "/v2/login", &body).await
        };
        for status in ["block", "disconnect"] {
            let (state, code) = (login().await.json()["stateToken"].clone(), world.code_to(anna).await);
            step(status).await;
            step("approve").await;
            assert_eq!(world.verify(&visitor, &state, &code).await.verdict(), "400 INVALID_STATE_TOKEN", "{status}");
        }
        let (state, code) = (login().await.json()["stateToken"].clone(), world.code_to(anna).await);
        step("approve").await;
        assert_eq!(world.verify(&visitor, &state, &code).await.json()["state"], "SUCCESS");
    }

    async fn guesses_of_an_ended_sign_in_count(engine) {
        let world = World::new(engine).await;
        world.policy(json!({ "requireEmailVerification": true })).await;
        let (anna, visitor) = ("anna@example.org", world.visitor().await);
        let registered = world.register(anna).await;
        let path = format!("/members/v1/members/{}", text(&registered["identity"]["id"]));
        let mut verdicts = BTreeMap::new();
        for _ in 0..3 {
            let body = json!({ "loginId": { "email": anna }, "password": PASSWORD });
            let state = world.call(&visitor, "/v2/login", &body).await.json()["stateToken"].clone();
            let code = world.code_to(anna).await;
            for _ in 0..9 {
                *verdicts.entry(world.verify(&visitor, &state, other(&code)).await.verdict()).or_insert(0) += 1;
            }
            for step in ["block", "approve"] {
                assert_eq!(world.app.app().post(&format!("{path}/{step}"), &json!({})).await.verdict(), "200");
            }
        }
        assert_eq!(verdicts["400 VERIFICATION_FAILED"], 20, "{verdicts:?}");
    }

    async fn verification_is_started(engine) {
        let world = World::new(engine).await;
        let registered = world.register("anna@example.org").await;
        let id = &registered["identity"]["id"];
        let body = json!({ "identityId": id, "target": "EMAIL" });
        let visitor = world.visitor().await;
        for path in ["/_api/iam/verification/v1/start", "/_api/iam/verification/v1/Start"] {
            assert_eq!(world.call(&visitor, path, &body).await.verdict(), "403 PERMISSION_DENIED");
            let reply = world.app.app().post(path, &body).await;
            assert_eq!(reply.verdict(), "200");
            let code = world.code_to("anna@example.org").await;
            let verified = world.verify(&visitor, &reply.json()["verificationId"], &code).await.json();
            assert_eq!((&verified["state"], &verified["sessionToken"]), (&json!("STATUS_CHECK"), &Value::Null));
            assert_eq!(verified["identity"]["email"]["isVerified"], true);
        }
        let nobody = json!({ "identityId": "nobody" });
        assert_eq!(world.app.app().post("/v1/start", &nobody).await.verdict(), "404 NOT_FOUND");
    }

    async fn recovery_by_a_link(engine) {
        let world = World::new(engine).await;
        let browser = world.browser();
        let tokens = world.member(&browser, "anna@example.org").await;
        let visitor = world.visitor().await;
        let ask = |email: &str, url: &str| json!({ "email": email, "redirect": { "url": url, "clientId": world.client.id } });
        let path = "/_api/iam/recovery/v1/send-email";
        let (known, unknown) = (
            world.call(&visitor, path, &ask("anna@example.org", APP)).await,
            world.call(&visitor, path, &ask("nobody@example.org", APP)).await,
        );
        assert_eq!((known.verdict(), known.body), (unknown.verdict(), unknown.body));
        let evil = ask("anna@example.org", "https://evil.example/");
        assert_eq!(world.call(&visitor, path, &evil).await.verdict(), "400 REDIRECT_URI_NOT_ALLOWED");
        assert_eq!(world.call(&visitor, path, &json!({ "email": "x" })).await.verdict(), "400 validationError");
        let link = world.link_to("anna@example.org").await.unwrap();
        let token = link.split_once("token=").unwrap().1.to_owned();
        assert!(world.app.mail.last_to("nobody@example.org").is_none());

        let recover = |token: &str, password: &str| json!({ "recoveryToken": token, "password": password });
        let path = "/_api/iam/recovery/v1/recover";
        assert_eq!(world.call(&visitor, path, &recover("l1.nonsense", "another phrase")).await.verdict(), "400 INVALID_LINK");
        assert_eq!(world.call(&visitor, path, &recover(&token, "short")).await.verdict(), "400 validationError");
        let reply = world.call(&visitor, path, &recover(&token, "another long phrase")).await.json();
        assert_eq!(reply["state"], "SUCCESS");
        assert_eq!(world.call(&visitor, path, &recover(&token, "another phrase")).await.verdict(), "400 INVALID_LINK");
        let grant = json!({ "clientId": world.client.id, "grantType": "refresh_token", "refreshToken": tokens["refresh_token"] });
        assert_ne!(world.call("", "/oauth2/token", &grant).await.status, StatusCode::OK, "other sessions are over");
        let login = json!({ "loginId": { "email": "anna@example.org" }, "password": PASSWORD });
        assert_eq!(world.call(&visitor, "/v2/login", &login).await.verdict(), "401 -19976");
    }

    async fn recovery_on_the_pages(engine) {
        let world = World::new(engine).await;
        world.register("anna@example.org").await;
        let browser = world.browser();
        let token = text(&browser.start(json!({ "kind": "SIGN_IN" })).await["token"]);
        browser.answer(&token, json!({ "type": "SWITCH", "to": "RECOVER", "email": "anna@example.org" })).await;
        let view = browser.answer(&token, json!({ "type": "RECOVER_REQUEST", "email": "anna@example.org" })).await;
        assert_eq!((&view["step"]["type"], &view["step"]["emailHint"]), (&json!("RECOVER_SENT"), &json!("a***@example.org")));
        let link = path_of(&world.link_to("anna@example.org").await.unwrap());

        // The link is opened in another browser, twice, as mail programs do.
        let phone = world.browser();
        flow_of(&phone.open(&link).await);
        let token = flow_of(&phone.open(&link).await);
        assert_eq!(phone.flow_view(&token).await.json()["step"]["type"], "NEW_PASSWORD");
        let view = phone.answer(&token, json!({ "type": "NEW_PASSWORD", "password": "12345678" })).await;
        assert_eq!(view["problems"][0]["code"], "PASSWORD_COMMON");
        let view = phone.answer(&token, json!({ "type": "NEW_PASSWORD", "password": "another long phrase" })).await;
        assert_eq!(view["step"], json!({ "type": "DONE", "message": "PASSWORD_CHANGED" }));
        assert!(phone.has("stoa-session"));
        assert!(location(&phone.open(&link).await).starts_with("/account/recover?over=link&clientId="));
    }
}
