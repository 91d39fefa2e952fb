//! Where people go on from an end or a failure, also on a server with several sites.

use super::*;
use stoa_identity::token;
use stoa_testkit::on_both_engines;

/// What a browser asks for when it opens an address.
const PAGE: [(&str, &str); 1] = [("accept", "text/html,application/xhtml+xml")];

/// A site with one front end.
async fn with_one_client(engine: Engine) -> World {
    let world = World::new(engine).await;
    world.app.app.identity.client_revoke(&world.app.site.id, &world.app.client.id).await.unwrap();
    world
}

on_both_engines! {
    async fn flow_continues_at_its_own_site(engine) {
        let world = with_one_client(engine).await;
        world.app.kit.store.site_create("Other", &world.app.kit.world).await.unwrap();
        let browser = world.browser();
        let begin = browser.ask(Method::POST, "/_api/account/v1/flows", Some(&json!({ "kind": "RECOVER" }))).await;
        assert_eq!(begin.verdict(), "404 SITE_NOT_FOUND", "no address tells which of them");
        let token = text(&browser.start(json!({ "kind": "SIGN_UP", "clientId": world.client.id })).await["token"]);
        let up = json!({ "type": "SIGN_UP", "email": "anna@example.org", "password": PASSWORD, "profile": {} });
        let view = browser.answer(&token, up).await;
        assert_eq!(view["step"], json!({ "type": "DONE", "message": "SIGNED_IN" }));
        assert_eq!((&view["clientId"], &view["homeUrl"]), (&json!(world.client.id), &json!(APP)));

        // Over, and another browser's: the failure names the client all the same.
        for reply in [browser.flow_view(&token).await, world.browser().flow_view(&token).await] {
            assert_eq!(reply.verdict(), "400 INVALID_STATE_TOKEN");
            assert_eq!(reply.json()["details"]["applicationError"]["data"]["clientId"], json!(world.client.id));
        }

        // The link of a message knows nothing but the site.
        let recover = json!({ "email": "anna@example.org" });
        assert_eq!(world.call(&world.visitor().await, "/v1/send-email", &recover).await.verdict(), "200");
        let link = path_of(&world.link_to("anna@example.org").await.unwrap());
        let phone = world.browser();
        let token = flow_of(&phone.open(&link).await);
        let view = phone.answer(&token, json!({ "type": "NEW_PASSWORD", "password": "another long phrase" })).await;
        assert_eq!(view["step"], json!({ "type": "DONE", "message": "PASSWORD_CHANGED" }));
        assert_eq!((&view["clientId"], &view["homeUrl"]), (&json!(world.client.id), &json!(APP)));
        let over = format!("/account/recover?over=link&clientId={}", world.client.id);
        assert_eq!(location(&phone.open(&link).await), over, "used");
        assert_eq!(location(&phone.open("/_api/account/v1/recover?token=l9999.x").await), "/account/recover?over=link");
    }

    async fn site_without_a_front_end_has_no_home(engine) {
        let world = with_one_client(engine).await;
        world.app.app.identity.client_revoke(&world.app.site.id, &world.client.id).await.unwrap();
        let view = world.browser().start(json!({ "kind": "SIGN_OUT" })).await;
        assert_eq!((&view["clientId"], &view["homeUrl"]), (&json!(null), &json!(null)));
    }

    async fn client_of_others_is_no_home_of_the_site(engine) {
        let world = with_one_client(engine).await;
        let (partner, _) = world.app.partner("items:read").await;
        world.app.app.identity.client_revoke(&world.app.site.id, &world.client.id).await.unwrap();
        let settings = world.app.anonymous().get("/_api/site/v1/public-settings").await.json();
        assert_eq!(settings["clientId"], json!(null));
        let view = world.browser().start(json!({ "kind": "SIGN_IN" })).await;
        assert_eq!((&view["clientId"], &view["homeUrl"]), (&json!(null), &json!(null)));

        // It is older than the site's own.
        world.app.kit.clock.advance(1000);
        let (name, redirect_uris) = ("Own".to_owned(), vec![CALLBACK.to_owned()]);
        let draft = NewClient { name, redirect_uris, ..NewClient::default() };
        let (own, _) = world.app.app.identity.client_create(&world.app.site.id, draft).await.unwrap();
        let settings = world.app.anonymous().get("/_api/site/v1/public-settings").await.json();
        assert_eq!(settings["clientId"], json!(own.id));
        let view = world.browser().start(json!({ "kind": "SIGN_IN" })).await;
        assert_eq!((&view["clientId"], &view["homeUrl"]), (&json!(own.id), &json!(APP)));
        // Those who come from its pages get back there.
        let view = world.browser().start(json!({ "kind": "SIGN_IN", "clientId": partner.id })).await;
        assert_eq!((&view["clientId"], &view["homeUrl"]), (&json!(partner.id), &json!("https://partner.example")));
    }

    async fn missing_part_of_a_page_is_no_page(engine) {
        let world = World::new(engine).await;
        for path in ["/account/assets/gone.js", "/assets/gone.css"] {
            let reply = world.browser().send(Method::GET, path, &PAGE, None).await;
            assert_eq!(reply.status, StatusCode::NOT_FOUND, "{path}");
            assert!(!String::from_utf8_lossy(&reply.body).contains("<html"), "{path}");
        }
    }

    async fn errors_are_pages_for_browsers_and_json_for_programs(engine) {
        let world = with_one_client(engine).await;
        let browser = world.browser();
        let id = world.client.id.as_str();
        let external = "https%3A%2F%2Felsewhere.example%2F";
        let gone = token::opaque(&world.app.kit.world, token::Kind::Redirect, world.app.site.number);
        let of_site = format!("/oauth2/authorize?session={}", gone.expose());
        let cases = [
            ("/oauth2/authorize".to_owned(), "/account/error?code=invalid_request".to_owned()),
            ("/oauth2/authorize?client_id=none".to_owned(), "/account/error?code=CLIENT_NOT_FOUND".to_owned()),
            (
                format!("/oauth2/authorize?client_id={id}&response_type=code&redirect_uri={external}"),
                "/account/error?code=REDIRECT_URI_NOT_ALLOWED".to_owned(),
            ),
            ("/oauth2/authorize?session=none".to_owned(), "/account/error?code=INVALID_LINK".to_owned()),
            (of_site, format!("/account/error?code=INVALID_LINK&clientId={id}")),
            ("/v1/logout?clientId=none".to_owned(), "/account/error?code=CLIENT_NOT_FOUND".to_owned()),
            (
                format!("/v1/logout?clientId={id}&postLogoutRedirectUri={external}"),
                "/account/error?code=REDIRECT_URI_NOT_ALLOWED".to_owned(),
            ),
        ];
        for (path, page) in cases {
            let shown = browser.send(Method::GET, &path, &PAGE, None).await;
            assert_eq!((shown.status, location(&shown)), (StatusCode::SEE_OTHER, page), "{path}");
            assert!(shown.headers["content-security-policy"].to_str().unwrap().contains("frame-ancestors 'none'"));
            let reply = browser.open(&path).await;
            assert!(reply.status.is_client_error() && reply.json()["message"].is_string(), "{path}: {}", reply.verdict());
        }
    }
}
