//! Redirect sessions and the authorize address.

use super::*;
use stoa_testkit::on_both_engines;

on_both_engines! {
    async fn direct_login_ends_in_a_members_tokens(engine) {
        let world = World::new(engine).await;
        let registered = world.register("anna@example.org").await;
        assert_eq!(registered["state"], "SUCCESS");
        let path = world.direct(&text(&registered["sessionToken"])).await;
        let browser = world.browser();
        let page = browser.open_from(&path, Some(APP)).await;
        assert_eq!(page.status, StatusCode::OK);
        let policy = page.headers["content-security-policy"].to_str().unwrap();
        assert!(policy.contains("frame-ancestors https://app.example.org"), "{policy}");
        assert!(!page.headers.contains_key("x-frame-options"));
        assert_eq!(page.headers["cache-control"], "no-store");
        assert!(String::from_utf8_lossy(&page.body).contains(",\"https://app.example.org\")"), "the exact origin");
        let message = message_of(&page);
        assert_eq!(message["state"], "the state");
        let tokens = world.exchange(message["code"].as_str().unwrap(), None).await.json();
        let me = send(&world.app, Method::GET, "/members/v1/members/my",
            &[("authorization", tokens["access_token"].as_str().unwrap())], None).await;
        assert_eq!(me.json()["member"]["id"], registered["identity"]["id"]);
        assert!(browser.has("stoa-session"), "the client's own page led here");

        let again = browser.open_from(&path, Some(APP)).await;
        assert_eq!(message_of(&again)["error"], "invalid_request", "single use");
        assert_eq!(message_of(&again)["state"], "the state");
    }

    async fn foreign_address_signs_no_member_in(engine) {
        let world = World::new(engine).await;
        for from in [None, Some("https://evil.example"), Some("https://app.example.org.evil.example")] {
            let registered = world.register(&format!("a{}@example.org", from.map_or(0, str::len))).await;
            let path = world.direct(&text(&registered["sessionToken"])).await;
            let browser = world.browser();
            let page = browser.open_from(&path, from).await;
            assert!(message_of(&page)["code"].is_string());
            assert!(!browser.has("stoa-session"), "{from:?}");
        }
    }

    async fn code_is_issued_once_to_a_hundred_at_once(engine) {
        let world = World::new(engine).await;
        let registered = world.register("anna@example.org").await;
        let path = world.direct(&text(&registered["sessionToken"])).await;
        let mut tasks = Vec::new();
        for _ in 0..100 {
            let (app, path) = (world.app.app.clone(), path.clone());
            tasks.push(tokio::spawn(async move {
                let request = Request::builder().uri(path).header("host", "localhost").body(Body::empty()).unwrap();
                let response = stoa_http::service(app).oneshot(request).await.unwrap();
                let (status, headers) = (response.status(), response.headers().clone());
                let body = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
                message_of(&Reply { status, headers, body })["code"].is_string()
            }));
        }
        let mut codes = 0;
        for task in tasks {
            codes += usize::from(task.await.unwrap());
        }
        assert_eq!(codes, 1);
    }

    async fn prompt_none_shows_no_page(engine) {
        let world = World::new(engine).await;
        let visitor = world.visitor().await;
        for (mode, separator) in [("fragment", '#'), ("query", '?')] {
            let mut request = world.auth_request();
            request["responseMode"] = json!(mode);
            let body = json!({ "auth": { "authRequest": request, "prompt": "none" } });
            let path = world.redirect_session(&visitor, &body).await;
            let to = location(&world.browser().open(&path).await);
            assert!(to.starts_with(&format!("{CALLBACK}{separator}")), "{to}");
            let found = parameters(&to, separator);
            assert_eq!((found["error"].as_str(), found["state"].as_str()), ("login_required", "the state"));
            assert_eq!(found["iss"], format!("http://localhost/s/{}", world.app.site.id), "as in its tokens");
        }
        let page = world.browser().open(&world.direct("s1.nonsense").await).await;
        assert_eq!(message_of(&page)["error"], "login_required");
    }

    async fn messages_go_to_the_clients_origins_only(engine) {
        let world = World::new(engine).await;
        let visitor = world.visitor().await;
        let mut request = world.auth_request();
        request.as_object_mut().unwrap().remove("redirectUri");
        request["responseMode"] = json!("web_message");
        let body = json!({ "auth": { "authRequest": request, "prompt": "none" } });
        for origin in ["https://evil.example", "null", "https://app.example.org:444", "http://app.example.org"] {
            let headers = [("authorization", visitor.as_str()), ("origin", origin)];
            let reply = send(&world.app, Method::POST, "/v1/redirect-session", &headers, Some(&body)).await;
            assert_eq!(reply.verdict(), "400 REDIRECT_URI_NOT_ALLOWED", "{origin}");
        }
        // Outside a browser a client with one origin needs none.
        let headers = [("authorization", visitor.as_str())];
        let reply = send(&world.app, Method::POST, "/v1/redirect-session", &headers, Some(&body)).await;
        assert_eq!(reply.verdict(), "200");
    }

    async fn addresses_stay_within_the_client(engine) {
        let world = World::new(engine).await;
        let visitor = world.visitor().await;
        let tricks = [
            "https://evil.example/callback", "https://app.example.org/callback/", "https://app.example.org/callback?x=1",
            "https://app.example.org/callback#x", "https://app.example.org:8443/callback", "unused://",
            "https://APP.example.org/callback", "https://app.example.org@evil.example/callback",
            "https://app.example.org\\@evil.example/callback", "https://app.example.org%2f@evil.example/callback",
            "//app.example.org/callback", "javascript:alert(1)", "https://app.example.org/./callback",
            "http://app.example.org/callback", " https://app.example.org/callback", "https://app.example.org/callback\u{0}",
        ];
        for uri in tricks {
            let mut request = world.auth_request();
            request["redirectUri"] = json!(uri);
            let body = json!({ "auth": { "authRequest": request, "prompt": "none" } });
            let reply = world.call(&visitor, "/v1/redirect-session", &body).await;
            assert_eq!(reply.verdict(), "400 REDIRECT_URI_NOT_ALLOWED", "{uri:?}");
            let logout = json!({ "logout": { "clientId": world.client.id }, "callbacks": { "postFlowUrl": uri } });
            let verdict = world.call(&visitor, "/v1/redirect-session", &logout).await.verdict();
            let is_own_origin = uri.starts_with("https://app.example.org/") && !uri.contains('\0')
                || uri.eq_ignore_ascii_case("https://app.example.org/callback");
            assert_eq!(verdict == "200", is_own_origin, "{uri:?} {verdict}");
        }
        let other = json!({ "auth": { "authRequest": { "clientId": "00000000-0000-0000-0000-000000000000",
            "redirectUri": CALLBACK, "state": "s", "codeChallenge": CHALLENGE, "codeChallengeMethod": "S256",
            "responseMode": "query" } } });
        assert_eq!(world.call(&visitor, "/v1/redirect-session", &other).await.verdict(), "400 CLIENT_NOT_FOUND");
        assert_eq!(world.call(&visitor, "/v1/redirect-session", &json!({})).await.verdict(), "400 validationError");
        let shop = json!({ "ecomCheckout": { "checkoutId": "00000000-0000-4000-8000-00000000000a" } });
        assert_eq!(world.call(&visitor, "/v1/redirect-session", &shop).await.verdict(), "428 PAGE_NOT_SET");
        assert_eq!(world.call("", "/v1/redirect-session", &shop).await.verdict(), "401 UNAUTHENTICATED");
    }

    async fn redirect_session_answers(engine) {
        let world = World::new(engine).await;
        let visitor = world.visitor().await;
        let body = json!({ "auth": { "authRequest": world.auth_request(), "prompt": "login" } });
        let reply = world.call(&visitor, "/v1/redirect-session", &body).await.json();
        let session = &reply["redirectSession"];
        let endpoint = text(&session["urlDetails"]["endpoint"]);
        assert_eq!(endpoint, "http://localhost/_api/oauth2/authorize");
        let token = text(&session["urlDetails"]["searchParams"]["session"]);
        assert_eq!(text(&session["fullUrl"]), format!("{endpoint}?session={token}"));
        assert!(session["id"].is_string() && session["sessionToken"].is_string());

        // Pre-warm: a frame gets an empty page that the client may frame, and no flow.
        let path = world.redirect_session(&visitor, &json!({ "login": {} })).await;
        let frame = world.browser().send(Method::GET, &path, &[("sec-fetch-dest", "iframe")], None).await;
        assert_eq!(frame.status, StatusCode::OK);
        assert!(frame.headers["content-security-policy"].to_str().unwrap().contains(APP));

        // It does not live long.
        world.app.kit.clock.advance(11 * 60_000);
        assert_eq!(world.browser().open(&path).await.verdict(), "400 INVALID_LINK");
        assert_eq!(world.browser().open("/_api/oauth2/authorize?session=d1.x").await.verdict(), "400 INVALID_LINK");
    }

    async fn standard_requests_are_served(engine) {
        let world = World::new(engine).await;
        let (client, browser) = (&world.client.id, world.browser());
        let base = format!("/_api/oauth2/authorize?client_id={client}&redirect_uri=https%3A%2F%2Fapp.example.org%2Fcallback");
        let good = format!("{base}&response_type=code&state=s1&code_challenge={CHALLENGE}&code_challenge_method=S256");
        let token = flow_of(&browser.open(&good).await);
        world.register("anna@example.org").await;
        let input = json!({ "type": "SIGN_IN", "email": "anna@example.org", "password": PASSWORD });
        let view = browser.answer(&token, input).await;
        let found = parameters(view["step"]["url"].as_str().unwrap(), '?');
        assert_eq!(found["state"], "s1");
        assert_eq!(world.exchange(&found["code"], Some(CALLBACK)).await.verdict(), "200");

        for (query, error) in [
            (format!("{base}&response_type=token&state=s"), "unsupported_response_type"),
            (format!("{base}&response_type=code&state=s"), "invalid_request"),
            (format!("{base}&response_type=code&state=s&code_challenge={CHALLENGE}&code_challenge_method=plain"), "invalid_request"),
            (format!("{base}&response_type=code&state=s&code_challenge={CHALLENGE}"), "invalid_request"),
            (format!("{good}&prompt=none%20login").replace("s1", "s"), "invalid_request"),
            (format!("{good}&response_mode=form_post").replace("s1", "s"), "invalid_request"),
        ] {
            let to = location(&browser.open(&query).await);
            let found = parameters(&to, '?');
            assert_eq!((found["error"].as_str(), found["state"].as_str()), (error, "s"), "{query}");
        }
        for (query, verdict) in [
            (good.replace("callback", "other"), "400 REDIRECT_URI_NOT_ALLOWED"),
            (good.replace("app.example", "evil.example"), "400 REDIRECT_URI_NOT_ALLOWED"),
            (good.replace(client.as_str(), "nobody"), "400 CLIENT_NOT_FOUND"),
            (format!("{good}&redirect_uri=https%3A%2F%2Fevil.example"), "400 invalid_request"),
            (format!("/_api/oauth2/authorize?client_id={client}"), "400 invalid_request"),
            ("/_api/oauth2/authorize".to_owned(), "400 invalid_request"),
        ] {
            assert_eq!(browser.open(&query).await.verdict(), verdict, "{query}");
        }
    }

    async fn authorize_address_is_read_by_no_other_origin(engine) {
        let world = World::new(engine).await;
        let query = format!("client_id={}&redirect_uri=https%3A%2F%2Fapp.example.org%2Fcallback&response_type=code&prompt=none", world.client.id);
        let evil = [("origin", "https://evil.example"), ("access-control-request-method", "GET")];
        let site = format!("/s/{}", world.app.site.id);
        let install = format!("appId={}&redirectUrl=https%3A%2F%2Fapp.example.org%2Fcallback", world.client.id);
        for (path, query) in [("/oauth2/authorize", &query), ("/_api/oauth2/authorize", &query), ("/v1/oauth/authorize", &query), ("/installer/install", &install)] {
            for prefix in ["", site.as_str()] {
                for method in [Method::GET, Method::OPTIONS] {
                    let reply = send(&world.app, method.clone(), &format!("{prefix}{path}?{query}"), &evil, None).await;
                    let named: Vec<_> = reply.headers.keys().filter(|it| it.as_str().starts_with("access-control")).collect();
                    assert!(named.is_empty() && !reply.status.is_server_error(), "{method} {prefix}{path}: {reply:?}");
                }
            }
        }
        // What pages call is as open as before, and the answers to errors too.
        for (method, path) in [(Method::OPTIONS, "/oauth2/token"), (Method::GET, "/oauth2/token"), (Method::OPTIONS, "/v1/redirect-session")] {
            let reply = send(&world.app, method, path, &evil, None).await;
            assert_eq!(reply.headers["access-control-allow-origin"], "*", "{path}");
        }
    }

    async fn redirect_session_ends_with_the_password(engine) {
        let world = World::new(engine).await;
        let login = async |password: &str| {
            let body = json!({ "loginId": { "email": "anna@example.org" }, "password": password });
            text(&world.call(&world.visitor().await, "/v2/login", &body).await.json()["sessionToken"])
        };
        let tokens = world.member(&world.browser(), "anna@example.org").await;
        let access = text(&tokens["access_token"]);
        let opened = async |path: &str| message_of(&world.browser().open_from(path, Some(APP)).await);

        // Somebody who knew the old password keeps an address that was made with it.
        let stolen = world.direct(&login(PASSWORD).await).await;
        let change = json!({ "newPassword": "another long phrase" });
        assert_eq!(world.call(&access, "/v2/change-password", &change).await.verdict(), "200");
        assert_eq!(opened(&stolen).await["error"], "login_required");
        let good = world.direct(&login("another long phrase").await).await;
        assert!(opened(&good).await["code"].is_string(), "the new password's own is good");

        let stolen = world.direct(&login("another long phrase").await).await;
        let sign_on = json!({ "loginId": { "email": "anna@example.org" }, "profile": {} });
        let signed = world.app.app().post("/v2/sign-on", &sign_on).await.json();
        assert_eq!(opened(&stolen).await["error"], "login_required");
        assert!(opened(&world.direct(&text(&signed["sessionToken"])).await).await["code"].is_string());
    }
}
