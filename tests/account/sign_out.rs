//! Signing out: what ends, and who may not end it.

use super::*;
use stoa_testkit::on_both_engines;

impl World {
    async fn refresh(&self, tokens: &Value) -> String {
        let grant = json!({ "clientId": self.client.id, "grantType": "refresh_token",
            "refreshToken": tokens["refresh_token"] });
        self.call("", "/oauth2/token", &grant).await.status.as_u16().to_string()
    }

    fn logout(&self) -> Value {
        json!({ "logout": { "clientId": self.client.id }, "callbacks": { "postFlowUrl": format!("{APP}/bye") } })
    }
}

on_both_engines! {
    async fn redirect_session_of_the_member_signs_out(engine) {
        let world = World::new(engine).await;
        let browser = world.browser();
        let tokens = world.member(&browser, "anna@example.org").await;
        assert_eq!(world.refresh(&tokens).await, "200");
        let access = text(&tokens["access_token"]);
        let path = world.redirect_session(&access, &world.logout()).await;
        assert_eq!(location(&browser.open_from(&path, Some(APP)).await), format!("{APP}/bye"));
        assert!(!browser.has("stoa-session"));
        assert_ne!(world.refresh(&tokens).await, "200");
        let my = send(&world.app, Method::GET, "/members/v1/members/my", &[("authorization", &access)], None).await;
        assert_eq!(my.status.as_u16(), 401);
    }

    async fn sign_out_from_another_site_needs_a_click(engine) {
        let world = World::new(engine).await;
        let browser = world.browser();
        let tokens = world.member(&browser, "anna@example.org").await;
        let other = world.member(&world.browser(), "eve@example.org").await;
        let lured = [
            world.redirect_session(&world.visitor().await, &world.logout()).await,
            world.redirect_session(&text(&other["access_token"]), &world.logout()).await,
            format!("/v1/logout?clientId={}&postLogoutRedirectUri=https%3A%2F%2Fapp.example.org%2Fbye", world.client.id),
        ];
        let mut token = String::new();
        for path in lured {
            token = flow_of(&browser.open_from(&path, Some("https://evil.example")).await);
            let view = browser.flow_view(&token).await.json();
            assert_eq!((&view["step"]["type"], &view["step"]["displayName"]),
                (&json!("CONFIRM_SIGN_OUT"), &json!("anna@example.org")));
            assert_eq!(world.refresh(&tokens).await, "200", "{path}");
        }
        let view = browser.answer(&token, json!({ "type": "CONFIRM_SIGN_OUT" })).await;
        assert_eq!(view["step"], json!({ "type": "REDIRECT", "url": format!("{APP}/bye") }));
        assert_ne!(world.refresh(&tokens).await, "200");
        assert!(!browser.has("stoa-session"));
    }

    async fn picture_on_a_page_signs_no_member_out(engine) {
        let world = World::new(engine).await;
        let browser = world.browser();
        let tokens = world.member(&browser, "anna@example.org").await;
        let path = format!("/v1/logout?clientId={}&postLogoutRedirectUri=https%3A%2F%2Fapp.example.org%2Fbye", world.client.id);
        let referer = format!("{APP}/");
        for (mode, dest) in [("no-cors", "image"), ("no-cors", "script"), ("navigate", "iframe"), ("cors", "empty")] {
            let headers = [("referer", referer.as_str()), ("sec-fetch-mode", mode), ("sec-fetch-dest", dest)];
            flow_of(&browser.send(Method::GET, &path, &headers, None).await);
            assert!(browser.has("stoa-session"), "{mode} {dest}");
            assert_eq!(world.refresh(&tokens).await, "200", "{mode} {dest}");
        }
    }

    async fn client_of_another_site_takes_no_cookie(engine) {
        let world = World::new(engine).await;
        let browser = world.browser();
        let tokens = world.member(&browser, "anna@example.org").await;
        let other = world.app.app.store.site_create("other", &world.app.kit.world).await.unwrap();
        let draft = NewClient { name: "Other".to_owned(), redirect_uris: vec![], origins: vec!["https://evil.example".to_owned()], with_secret: false, ..NewClient::default() };
        let (client, _) = world.app.app.identity.client_create(&other.id, draft).await.unwrap();
        let back = format!("/v1/logout?clientId={}&postLogoutRedirectUri=https%3A%2F%2Fevil.example%2F", client.id);
        for path in [back, format!("/v1/logout?clientId={}", client.id)] {
            let reply = browser.open_from(&path, Some("https://evil.example")).await;
            assert_eq!(reply.status, StatusCode::SEE_OTHER);
            assert!(browser.has("stoa-session"), "{path}");
        }
        assert_eq!(world.refresh(&tokens).await, "200");
    }

    async fn sign_out_by_the_modules_and_the_browser(engine) {
        let world = World::new(engine).await;
        let browser = world.browser();
        let tokens = world.member(&browser, "anna@example.org").await;
        let path = format!("/_api/iam/authentication/v1/logout?postLogoutRedirectUri=https%3A%2F%2Fapp.example.org%2Fbye&clientId={}", world.client.id);
        let access = text(&tokens["access_token"]);
        let bad = path.replace("app.example", "evil.example");
        let refused = send(&world.app, Method::GET, &bad, &[("authorization", &access)], None).await;
        assert_eq!(refused.verdict(), "400 REDIRECT_URI_NOT_ALLOWED");
        assert_eq!(world.refresh(&tokens).await, "200", "a refused call ends nothing");
        let reply = send(&world.app, Method::GET, &path, &[("authorization", &access)], None).await;
        assert_eq!((reply.verdict(), reply.json()["statusCode"].clone()), ("200".to_owned(), json!(302)));
        assert_eq!(reply.json()["headers"][0]["value"], format!("{APP}/bye"));
        assert_ne!(world.refresh(&tokens).await, "200");

        let browser = world.browser();
        let tokens = world.member(&browser, "ben@example.org").await;
        assert_eq!(location(&browser.open_from(&path, Some(APP)).await), format!("{APP}/bye"), "the client's page led here");
        assert_ne!(world.refresh(&tokens).await, "200");
        // No member is signed in: nothing to ask, and without an address a page says so.
        assert_eq!(location(&browser.open(&path).await), format!("{APP}/bye"));
        let token = flow_of(&browser.open("/v1/logout").await);
        assert_eq!(browser.flow_view(&token).await.json()["step"], json!({ "type": "DONE", "message": "SIGNED_OUT" }));
        assert_eq!(browser.open(&bad).await.verdict(), "400 REDIRECT_URI_NOT_ALLOWED");
    }
}
