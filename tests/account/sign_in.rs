//! Signing in and up on the account pages.

use super::*;
use stoa_testkit::on_both_engines;

on_both_engines! {
    async fn hosted_page_leads_back_with_a_code(engine) {
        let world = World::new(engine).await;
        world.register("anna@example.org").await;
        let visitor = world.visitor().await;
        let browser = world.browser();
        let body = json!({ "auth": { "authRequest": world.auth_request(), "prompt": "login" } });
        let path = world.redirect_session(&visitor, &body).await;
        let opened = browser.open_from(&path, Some(APP)).await;
        assert_eq!(opened.headers["referrer-policy"], "no-referrer");
        let token = flow_of(&opened);

        let view = browser.flow_view(&token).await.json();
        assert_eq!((&view["kind"], &view["step"]["type"]), (&json!("SIGN_IN"), &json!("SIGN_IN")));
        assert_eq!((&view["step"]["canSignUp"], &view["canGoBack"]), (&json!(true), &json!(false)));
        let cancel = parameters(view["cancelUrl"].as_str().unwrap(), '#');
        assert_eq!((cancel["error"].as_str(), cancel["state"].as_str()), ("access_denied", "the state"));

        let input = |password: &str| json!({ "type": "SIGN_IN", "email": "Anna@Example.org", "password": password });
        let view = browser.answer(&token, input("wrong password")).await;
        assert_eq!(view["problems"][0]["code"], "INVALID_CREDENTIALS");
        assert_eq!(view["step"]["email"], "Anna@Example.org");
        assert!(!browser.has("stoa-session"));
        let view = browser.answer(&token, input(PASSWORD)).await;
        let url = text(&view["step"]["url"]);
        assert!(url.starts_with(&format!("{CALLBACK}#")), "{url}");
        let found = parameters(&url, '#');
        assert_eq!(found["state"], "the state");
        assert_eq!(found["iss"], format!("http://localhost/s/{}", world.app.site.id), "as in its tokens");
        assert_eq!(world.exchange(&found["code"], Some(CALLBACK)).await.verdict(), "200");
        assert!(browser.has("stoa-session"));
        assert_eq!(browser.flow_view(&token).await.verdict(), "400 INVALID_STATE_TOKEN", "a flow ends once");

        // The browser is signed in now: no question is asked any more, unless the client wants one.
        let body = json!({ "auth": { "authRequest": world.auth_request(), "prompt": "none" } });
        let to = location(&browser.open(&world.redirect_session(&visitor, &body).await).await);
        assert!(parameters(&to, '#').contains_key("code"), "{to}");
        let body = json!({ "auth": { "authRequest": world.auth_request(), "prompt": "login" } });
        flow_of(&browser.open(&world.redirect_session(&visitor, &body).await).await);
    }

    async fn flow_belongs_to_its_browser(engine) {
        let world = World::new(engine).await;
        let (mine, theirs) = (world.browser(), world.browser());
        let token = text(&mine.start(json!({ "kind": "SIGN_IN" })).await["token"]);
        theirs.start(json!({ "kind": "SIGN_IN" })).await;
        assert_eq!(theirs.flow_view(&token).await.verdict(), "400 INVALID_STATE_TOKEN");
        assert_eq!(mine.flow_view(&token).await.verdict(), "200");
        let second = text(&mine.start(json!({ "kind": "SIGN_UP" })).await["token"]);
        assert_eq!(mine.flow_view(&token).await.verdict(), "200", "two tabs");
        assert_eq!(mine.flow_view(&second).await.verdict(), "200");
        world.app.kit.clock.advance(61 * 60_000);
        assert_eq!(mine.flow_view(&token).await.verdict(), "400 INVALID_STATE_TOKEN");
    }

    async fn cross_site_requests_are_refused(engine) {
        let world = World::new(engine).await;
        let browser = world.browser();
        let token = text(&browser.start(json!({ "kind": "SIGN_IN" })).await["token"]);
        let path = format!("/_api/account/v1/flows/{token}");
        let input = json!({ "type": "SIGN_IN", "email": "a@example.org", "password": "x" });
        let json_type = ("content-type", "application/json");
        for (headers, verdict) in [
            (vec![json_type, ("sec-fetch-site", "cross-site")], "403 PERMISSION_DENIED"),
            (vec![json_type, ("sec-fetch-site", "same-site")], "403 PERMISSION_DENIED"),
            (vec![json_type, ("origin", "https://evil.example")], "403 PERMISSION_DENIED"),
            (vec![json_type, ("origin", "null")], "403 PERMISSION_DENIED"),
            (vec![("content-type", "text/plain"), ("sec-fetch-site", "same-origin")], "400 MALFORMED_JSON"),
            (vec![json_type, ("origin", "http://localhost")], "200"),
        ] {
            let reply = browser.send(Method::POST, &path, &headers, Some(&input)).await;
            assert_eq!(reply.verdict(), verdict, "{headers:?}");
        }
        let broken = json!({ "type": "NO_SUCH_INPUT" });
        assert_eq!(browser.ask(Method::POST, &path, Some(&broken)).await.verdict(), "400 MALFORMED_JSON");
        for start in [json!({ "kind": "STEP_UP" }), json!({ "kind": "X" }), json!([])] {
            let reply = browser.ask(Method::POST, "/_api/account/v1/flows", Some(&start)).await;
            assert!(reply.status.is_client_error() || reply.status == StatusCode::NOT_IMPLEMENTED, "{start}");
        }
        let bad = json!({ "kind": "SIGN_IN", "returnUrl": "https://evil.example/" });
        let reply = browser.ask(Method::POST, "/_api/account/v1/flows", Some(&bad)).await;
        assert_eq!(reply.verdict(), "400 REDIRECT_URI_NOT_ALLOWED");
    }

    async fn registration_meets_every_demand_of_the_policy(engine) {
        let world = World::new(engine).await;
        world.policy(json!({ "requireEmailVerification": true, "requireOwnerApproval": true })).await;
        let browser = world.browser();
        let start = json!({ "kind": "SIGN_IN", "clientId": world.client.id, "returnUrl": format!("{APP}/after?x=1") });
        let token = text(&browser.start(start).await["token"]);
        let view = browser.answer(&token, json!({ "type": "SWITCH", "to": "SIGN_UP", "email": "b@example.org" })).await;
        assert_eq!((&view["step"]["type"], &view["canGoBack"]), (&json!("SIGN_UP"), &json!(true)));
        let up = |password: &str| json!({ "type": "SIGN_UP", "email": "b@example.org", "password": password,
            "profile": { "firstName": " Ben " } });
        for (password, code) in [("short", "PASSWORD_TOO_SHORT"), ("password1", "PASSWORD_COMMON"), ("", "REQUIRED")] {
            let view = browser.answer(&token, up(password)).await;
            assert_eq!((&view["problems"][0]["code"], &view["problems"][0]["field"]), (&json!(code), &json!("password")));
        }
        let view = browser.answer(&token, up(PASSWORD)).await;
        assert_eq!((&view["step"]["type"], &view["step"]["emailHint"]), (&json!("VERIFY_EMAIL"), &json!("b***@example.org")));
        let first = world.app.code_to("b@example.org").await;
        let wrong = if first == "000000" { "111111" } else { "000000" };
        let view = browser.answer(&token, json!({ "type": "VERIFY_EMAIL", "code": wrong })).await;
        assert_eq!(view["problems"][0]["code"], "INVALID_CODE");
        let view = browser.answer(&token, json!({ "type": "RESEND" })).await;
        assert_eq!(view["problems"], json!([]));
        let second = world.app.code_to("b@example.org").await;
        assert_ne!(first, second);
        let view = browser.answer(&token, json!({ "type": "VERIFY_EMAIL", "code": first })).await;
        assert_eq!(view["problems"][0]["code"], "INVALID_CODE", "the code before is over");
        let view = browser.answer(&token, json!({ "type": "VERIFY_EMAIL", "code": second })).await;
        assert_eq!(view["step"]["type"], "AWAIT_APPROVAL");
        assert_eq!(browser.flow_view(&token).await.json()["step"]["type"], "AWAIT_APPROVAL");

        let email = stoa_kernel::Email::parse("b@example.org").unwrap();
        let found = world.app.app.identity.member_by_email(&world.app.site, &email).await.unwrap().unwrap();
        let path = format!("/members/v1/members/{}/approve", found.id);
        assert_eq!(world.app.app().post(&path, &json!({})).await.verdict(), "200");
        let view = browser.flow_view(&token).await.json();
        assert_eq!(view["step"]["url"], format!("{APP}/after?x=1&wixMemberLoggedIn=true"));
        assert!(browser.has("stoa-session"));

        let again = text(&browser.start(json!({ "kind": "SIGN_UP" })).await["token"]);
        let view = browser.answer(&again, up(PASSWORD)).await;
        assert_eq!((&view["problems"][0]["code"], &view["problems"][0]["field"]), (&json!("EMAIL_TAKEN"), &json!("email")));
    }

    async fn answers_at_once_open_one_session(engine) {
        let world = World::new(engine).await;
        world.register("anna@example.org").await;
        let browser = world.browser();
        let token = text(&browser.start(json!({ "kind": "SIGN_IN" })).await["token"]);
        let path = format!("/_api/account/v1/flows/{token}");
        let input = json!({ "type": "SIGN_IN", "email": "anna@example.org", "password": PASSWORD });
        let cookie = format!("stoa-flow={}", browser.cookies.lock().unwrap()["stoa-flow"]);
        let mut tasks = Vec::new();
        for _ in 0..8 {
            let request = Request::builder().method(Method::POST).uri(&path).header("host", "localhost");
            let request = request.header("cookie", &cookie).header("content-type", "application/json");
            let (app, request) = (world.app.app.clone(), request.body(Body::from(input.to_string())).unwrap());
            tasks.push(tokio::spawn(async move {
                let response = stoa_http::service(app).oneshot(request).await.unwrap();
                let body = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
                serde_json::from_slice::<Value>(&body).unwrap()["step"]["type"] == "DONE"
            }));
        }
        let mut done = 0;
        for task in tasks {
            done += usize::from(task.await.unwrap());
        }
        assert_eq!(done, 1);
    }

    async fn pending_approval_ends_with_the_password(engine) {
        let world = World::new(engine).await;
        world.policy(json!({ "requireOwnerApproval": true })).await;
        let browser = world.browser();
        let wait = async |email: &str| {
            let token = text(&browser.start(json!({ "kind": "SIGN_UP" })).await["token"]);
            let up = json!({ "type": "SIGN_UP", "email": email, "password": PASSWORD, "profile": {} });
            assert_eq!(browser.answer(&token, up).await["step"]["type"], "AWAIT_APPROVAL");
            token
        };
        // The owner of the address sets a password, or an app vouches for them; the page of the one that was
        // there first is still open.
        let (recovered, vouched) = (wait("anna@example.org").await, wait("ben@example.org").await);
        let visitor = world.visitor().await;
        world.call(&visitor, "/v1/send-email", &json!({ "email": "anna@example.org" })).await;
        let link = world.link_to("anna@example.org").await.unwrap();
        let body = json!({ "recoveryToken": link.split_once("token=").unwrap().1, "password": "another long phrase" });
        let anna = world.call(&visitor, "/v1/recover", &body).await.json();
        assert_eq!(anna["state"], "REQUIRE_OWNER_APPROVAL");
        let path = format!("/members/v1/members/{}/approve", text(&anna["identity"]["id"]));
        assert_eq!(world.app.app().post(&path, &json!({})).await.verdict(), "200");
        let sign_on = json!({ "loginId": { "email": "ben@example.org" }, "profile": {} });
        assert_eq!(world.app.app().post("/v2/sign-on", &sign_on).await.verdict(), "200");
        for token in [recovered, vouched] {
            let view = browser.flow_view(&token).await.json();
            assert_eq!((&view["step"]["type"], &view["problems"][0]["code"]), (&json!("SIGN_IN"), &json!("STEP_CHANGED")));
            assert!(!browser.has("stoa-session"));
        }
    }

    async fn path_that_is_no_text_is_answered(engine) {
        let world = World::new(engine).await;
        let browser = world.browser();
        for path in ["/_api/account/v1/flows/%ff", "/_api/account/v1/flows/%c3%28"] {
            assert_eq!(browser.ask(Method::GET, path, None).await.verdict(), "400 INVALID_STATE_TOKEN");
            let input = json!({ "type": "RESEND" });
            assert_eq!(browser.ask(Method::POST, path, Some(&input)).await.verdict(), "400 INVALID_STATE_TOKEN");
        }
    }
}
