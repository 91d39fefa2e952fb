//! A sign-in that isn't over yet ends with what it began with: the password, the account's standing.

use super::*;
use stoa_testkit::on_both_engines;

const LOGIN: &str = "/v2/login";

impl World {
    async fn recover(&self, email: &str, password: &str) -> Value {
        let visitor = self.visitor().await;
        assert_eq!(self.call(&visitor, "/v1/send-email", &json!({ "email": email })).await.verdict(), "200");
        let link = loop {
            // Links are sent after the answer, maybe behind a code.
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            let links = self.app.mail.last_to(email).map(|it| it.links).unwrap_or_default();
            if let Some(link) = links.into_iter().find(|it| it.contains("recover?token=")) {
                break link;
            }
        };
        let body = json!({ "recoveryToken": link.split_once("token=").unwrap().1, "password": password });
        self.call(&visitor, "/v1/recover", &body).await.json()
    }

    pub(super) async fn member_call(&self, id: &Value, what: &str) {
        let path = match what {
            "refuse-password" => format!("/_api/identity/v1/members/{}/refuse-password", text(id)),
            what => format!("/members/v1/members/{}/{what}", text(id)),
        };
        assert_eq!(self.app.app().post(&path, &json!({})).await.verdict(), "200", "{what}");
    }
}

on_both_engines! {
    async fn code_is_worth_nothing_after_a_new_password(engine) {
        let world = World::new(engine).await;
        world.policy(json!({ "requireEmailVerification": true })).await;
        // Somebody registers an address that isn't theirs; its owner takes it over, and is talked into a code.
        let begun = world.register("anna@example.org").await;
        let code = world.app.code_to("anna@example.org").await;
        assert_eq!(world.recover("anna@example.org", "a password of her own").await["state"], "SUCCESS");
        let visitor = world.visitor().await;
        let body = json!({ "code": code, "stateToken": begun["stateToken"] });
        assert_eq!(world.call(&visitor, "/v1/auth/verify", &body).await.verdict(), "400 INVALID_STATE_TOKEN");
        assert_eq!(world.call(&visitor, "/v1/auth/resend", &body).await.verdict(), "400 INVALID_STATE_TOKEN");
    }

    async fn refused_password_ends_its_sign_in(engine) {
        let world = World::new(engine).await;
        let visitor = world.visitor().await;
        let login = |email: &str| json!({ "loginId": { "email": email }, "password": PASSWORD });

        world.policy(json!({ "requireEmailVerification": true })).await;
        let begun = world.register("anna@example.org").await;
        let code = world.app.code_to("anna@example.org").await;
        world.member_call(&begun["identity"]["id"], "refuse-password").await;
        let body = json!({ "code": code, "stateToken": begun["stateToken"] });
        assert_eq!(world.call(&visitor, "/v1/auth/verify", &body).await.verdict(), "400 INVALID_STATE_TOKEN");
        assert_eq!(world.call(&visitor, LOGIN, &login("anna@example.org")).await.verdict(), "403 -19973");

        world.policy(json!({ "requireEmailVerification": false, "requiredFields": ["firstName"] })).await;
        let begun = world.register("ben@example.org").await;
        assert_eq!(begun["state"], "REQUIRE_MISSING_FIELDS");
        world.member_call(&begun["identity"]["id"], "refuse-password").await;
        let body = json!({ "stateToken": begun["stateToken"], "profile": { "firstName": "Ben" } });
        assert_eq!(world.call(&visitor, LOGIN, &body).await.verdict(), "403 -19973");

        world.policy(json!({ "requiredFields": [], "requireOwnerApproval": true })).await;
        let browser = world.browser();
        let token = text(&browser.start(json!({ "kind": "SIGN_UP" })).await["token"]);
        let input = json!({ "type": "SIGN_UP", "email": "cleo@example.org", "password": PASSWORD, "profile": {} });
        assert_eq!(browser.answer(&token, input).await["step"]["type"], "AWAIT_APPROVAL");
        let found = world.app.app().post("/members/v1/members/query", &json!({ "query": { "filter": { "loginEmail": "cleo@example.org" } } })).await.json();
        let id = &found["members"][0]["id"];
        world.member_call(id, "refuse-password").await;
        world.member_call(id, "approve").await;
        let view = browser.flow_view(&token).await.json();
        assert_eq!((&view["step"]["type"], &view["problems"][0]["code"]), (&json!("AWAIT_APPROVAL"), &json!("-19973")), "{view}");
        assert!(!browser.has("stoa-session"));

        // A recovery link is the way back; an app's word needs no password.
        world.policy(json!({ "requireOwnerApproval": false })).await;
        assert_eq!(world.recover("cleo@example.org", "another long phrase").await["state"], "SUCCESS");
        world.member_call(id, "refuse-password").await;
        let vouch = json!({ "loginId": { "email": "cleo@example.org" } });
        assert!(world.app.app().post("/v2/sign-on", &vouch).await.json()["sessionToken"].is_string());
        let again = json!({ "loginId": { "email": "cleo@example.org" }, "password": "another long phrase" });
        assert_eq!(world.call(&visitor, LOGIN, &again).await.verdict(), "403 -19973");
    }

    async fn blocked_member_gets_no_code(engine) {
        let world = World::new(engine).await;
        world.policy(json!({ "requireEmailVerification": true })).await;
        let begun = world.register("anna@example.org").await;
        world.app.code_to("anna@example.org").await;
        let start = json!({ "identityId": begun["identity"]["id"], "target": "EMAIL" });
        let started = world.app.app().post("/v1/start", &start).await.json();
        let code = world.app.code_to("anna@example.org").await;
        world.member_call(&begun["identity"]["id"], "block").await;
        let visitor = world.visitor().await;
        world.app.mail.take();
        let resend = |token: &Value| json!({ "stateToken": token });
        assert_eq!(world.call(&visitor, "/v1/auth/resend", &resend(&begun["stateToken"])).await.verdict(), "400 INVALID_STATE_TOKEN");
        assert_eq!(world.call(&visitor, "/v1/auth/resend", &resend(&started["verificationId"])).await.verdict(), "403 MEMBER_BLOCKED");
        assert!(world.app.mail.take().is_empty());
        // Nothing of it comes back with the block's end.
        world.member_call(&begun["identity"]["id"], "approve").await;
        let body = json!({ "code": code, "stateToken": begun["stateToken"] });
        assert_eq!(world.call(&visitor, "/v1/auth/verify", &body).await.verdict(), "400 INVALID_STATE_TOKEN");
    }

    async fn link_details_are_bounded(engine) {
        let world = World::new(engine).await;
        let visitor = world.visitor().await;
        let long = format!("{APP}/{}", "x".repeat(1_000));
        for (extra, field) in [
            (json!({ "language": "x".repeat(4_000) }), "language"),
            (json!({ "language": "no language" }), "language"),
            (json!({ "language": 7 }), "language"),
            (json!({ "redirect": 5 }), "redirect"),
            (json!({ "redirect": { "url": long } }), "redirect.url"),
            (json!({ "redirect": { "clientId": {} } }), "redirect.clientId"),
        ] {
            let mut body = extra.clone();
            body["email"] = json!("anna@example.org");
            let reply = world.call(&visitor, "/v1/send-email", &body).await;
            let violations = &reply.json()["details"]["validationError"]["fieldViolations"];
            assert_eq!((reply.status.as_u16(), violations[0]["field"].as_str()), (400, Some(field)), "{extra}");
            let reply = world.app.app().post("/v1/activation-email", &json!({ "identityId": "x", "emailOptions": extra })).await;
            let violations = &reply.json()["details"]["validationError"]["fieldViolations"];
            assert_eq!(violations[0]["field"], format!("emailOptions.{field}"), "{extra}");
        }
        let body = json!({ "email": "anna@example.org", "language": "pt-BR", "redirect": { "url": format!("{APP}/back") } });
        assert_eq!(world.call(&visitor, "/v1/send-email", &body).await.verdict(), "200");
    }

    async fn links_ignore_the_requested_host(engine) {
        let world = World::new(engine).await;
        world.register("anna@example.org").await;
        let visitor = world.visitor().await;
        let headers = [("authorization", visitor.as_str()), ("host", "evil.example"), ("content-type", "application/json")];
        let request = headers.iter().fold(Request::builder().method(Method::POST).uri("/v1/send-email"), |it, header| it.header(header.0, header.1));
        let body = json!({ "email": "anna@example.org" });
        let response = world.app.service().oneshot(request.body(Body::from(body.to_string())).unwrap()).await.unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        assert!(world.link_to("anna@example.org").await.unwrap().starts_with("http://localhost/"));
        // Nor does the way back.
        let body = json!({ "email": "anna@example.org", "redirect": { "url": "http://evil.example/" } });
        let request = headers.iter().fold(Request::builder().method(Method::POST).uri("/v1/send-email"), |it, header| it.header(header.0, header.1));
        let response = world.app.service().oneshot(request.body(Body::from(body.to_string())).unwrap()).await.unwrap();
        assert_eq!(response.status(), StatusCode::BAD_REQUEST);
    }

    async fn errors_say_what_clients_can_use(engine) {
        let world = World::new(engine).await;
        let visitor = world.visitor().await;
        for (body, rule) in [(json!({}), "REQUIRED_FIELD"), (json!({ "email": 5 }), "FORMAT")] {
            let reply = world.call(&visitor, "/v2/validate-email", &body).await.json();
            assert_eq!(reply["details"]["validationError"]["fieldViolations"][0]["violatedRule"], rule, "{reply}");
        }
        // The client reads a code of every refusal of login, and breaks on violations alone.
        world.policy(json!({ "requiredFields": ["firstName"] })).await;
        let begun = world.register("anna@example.org").await;
        let reply = world.call(&visitor, LOGIN, &json!({ "stateToken": begun["stateToken"], "profile": { "firstName": 5 } })).await;
        assert_eq!(reply.verdict(), "400 INVALID_PROFILE");
        let details = &reply.json()["details"];
        assert!(details.get("validationError").is_none());
        assert_eq!(details["applicationError"]["data"]["fieldViolations"][0]["field"], "profile.firstName");
        // How long to wait is said wherever something is tried too often.
        world.policy(json!({ "requiredFields": [], "requireEmailVerification": true })).await;
        let begun = world.register("ben@example.org").await;
        let mut refused = None;
        for _ in 0..11 {
            let reply = world.call(&visitor, "/v1/auth/resend", &json!({ "stateToken": begun["stateToken"] })).await;
            refused = Some(reply).filter(|it| it.status == StatusCode::TOO_MANY_REQUESTS);
        }
        let wait = refused.unwrap().headers["retry-after"].to_str().unwrap().parse::<u64>().unwrap();
        assert!((3_500..=3_600).contains(&wait), "{wait}");
    }

    async fn browser_languages_are_all_accepted(engine) {
        let world = World::new(engine).await;
        let browser = world.browser();
        let token = text(&browser.start(json!({ "kind": "SIGN_UP" })).await["token"]);
        let input = json!({ "type": "SIGN_UP", "email": "anna@example.org", "password": PASSWORD, "profile": {} });
        let headers = [("content-type", "application/json"), ("origin", "http://localhost"), ("sec-fetch-site", "same-origin"),
            ("accept-language", "ca-ES-valencia-u-co-trad,ca;q=0.8")];
        let path = format!("/_api/account/v1/flows/{token}");
        let view = browser.send(Method::POST, &path, &headers, Some(&input)).await.json();
        assert_eq!(view["step"]["type"], "DONE", "{view}");
    }
}
