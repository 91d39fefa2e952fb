//! Redirect sessions for every intent of the protocol (docs/protocol/identity.md §5.1).

use super::*;
use stoa_testkit::on_both_engines;

const ID: &str = "00000000-0000-4000-8000-00000000000a";
const PAGES: &str = "/_api/site/v1/pages";

async fn set(world: &World, token: &str, pages: Value) -> Reply {
    let headers = [("authorization", token), ("content-type", "application/json")];
    send(&world.app, Method::PUT, PAGES, &headers, Some(&json!({ "pages": pages }))).await
}

on_both_engines! {
    async fn intents_lead_to_the_sites_own_page(engine) {
        let world = World::new(engine).await;
        let visitor = world.visitor().await;
        let intents = [
            ("ecomCheckout", json!({ "checkoutId": ID }), format!("?checkoutId={ID}")),
            ("eventsCheckout", json!({ "reservationId": ID, "eventSlug": "a party" }), format!("?reservationId={ID}&eventSlug=a+party")),
            ("paidPlansCheckout", json!({ "planId": ID, "checkoutData": "x=1" }), format!("?planId={ID}&checkoutData=x%3D1")),
            ("bookingsCheckout", json!({ "slotAvailability": { "locked": true }, "timezone": "UTC" }),
                "?slotAvailability=%7B%22locked%22%3Atrue%7D&timezone=UTC".to_owned()),
            ("storesProduct", json!({ "productSlug": "a-book" }), "?productSlug=a-book".to_owned()),
            ("bookingsBook", json!({}), String::new()),
            ("ecomOrderPaymentRequest", json!({ "paymentRequestId": ID }), format!("?paymentRequestId={ID}")),
            ("memberAccountPage", json!({ "section": "ORDERS" }), "?section=ORDERS".to_owned()),
        ];
        for (intent, body, _) in &intents {
            let reply = world.call(&visitor, "/v1/redirect-session", &json!({ *intent: body })).await;
            assert_eq!(reply.verdict(), "428 PAGE_NOT_SET", "{intent}: the site has no page yet");
        }
        let pages: serde_json::Map<_, _> =
            intents.iter().map(|(intent, ..)| ((*intent).to_owned(), json!(format!("https://shop.example.org/{intent}")))).collect();
        assert_eq!(set(&world, &visitor, json!(pages)).await.verdict(), "403 PERMISSION_DENIED");
        assert_eq!(set(&world, &world.app.app().token, json!(pages)).await.json()["pages"], json!(pages));
        let got = world.app.app().get(PAGES).await.json();
        assert_eq!(got["pages"], json!(pages));
        assert_eq!(send(&world.app, Method::GET, PAGES, &[("authorization", &visitor)], None).await.verdict(), "403 PERMISSION_DENIED");
        for (intent, body, query) in &intents {
            let path = world.redirect_session(&visitor, &json!({ *intent: body })).await;
            let to = location(&world.browser().open(&path).await);
            assert_eq!(to, format!("https://shop.example.org/{intent}{query}"));
        }

        // Callbacks and further parameters go along; callbacks are the client's own or none.
        let shop = |callbacks: Value| json!({ "ecomCheckout": { "checkoutId": ID }, "callbacks": callbacks,
            "preferences": { "additionalQueryParameters": { "lang": "de" } } });
        let good = json!({ "thankYouPageUrl": format!("{APP}/thanks?x=1"), "cartPageUrl": format!("{APP}/cart") });
        let to = location(&world.browser().open(&world.redirect_session(&visitor, &shop(good)).await).await);
        let found = parameters(&to, '?');
        assert_eq!((found["thankYouPageUrl"].as_str(), found["lang"].as_str()), ("https://app.example.org/thanks?x=1", "de"));
        for name in ["postFlowUrl", "thankYouPageUrl", "loginUrl", "bookingsServiceListUrl", "cartPageUrl", "planListUrl"] {
            let bad = shop(json!({ name: "https://evil.example/" }));
            assert_eq!(world.call(&visitor, "/v1/redirect-session", &bad).await.verdict(), "400 REDIRECT_URI_NOT_ALLOWED", "{name}");
        }
        for name in ["postFlowUrl", "thankYouPageUrl", "POSTFLOWURL", "checkoutId"] {
            let bad = json!({ "ecomCheckout": { "checkoutId": ID },
                "preferences": { "additionalQueryParameters": { name: "https://evil.example/" } } });
            let reply = world.call(&visitor, "/v1/redirect-session", &bad).await;
            let field = reply.json()["details"]["validationError"]["fieldViolations"][0]["field"].clone();
            assert_eq!(field, format!("preferences.additionalQueryParameters.{name}"));
        }
        for bad in [json!({ "ecomCheckout": "javascript:alert(1)" }), json!({ "login": "https://a.example/" }), json!([]), json!({ "ecomCheckout": 1 })] {
            assert_eq!(set(&world, &world.app.app().token, bad.clone()).await.verdict(), "400 validationError", "{bad}");
        }
    }

    async fn intents_sign_in_and_out(engine) {
        let world = World::new(engine).await;
        let visitor = world.visitor().await;
        let browser = world.browser();
        let login = json!({ "login": {}, "callbacks": { "postFlowUrl": format!("{APP}/in") } });
        let token = flow_of(&browser.open(&world.redirect_session(&visitor, &login).await).await);
        world.register("anna@example.org").await;
        let input = json!({ "type": "SIGN_IN", "email": "anna@example.org", "password": PASSWORD });
        assert_eq!(browser.answer(&token, input).await["step"]["url"], format!("{APP}/in?wixMemberLoggedIn=true"));
        let auth = json!({ "auth": { "authRequest": world.auth_request(), "prompt": "none" } });
        let to = location(&browser.open(&world.redirect_session(&visitor, &auth).await).await);
        let tokens = world.exchange(&parameters(&to, '#')["code"], Some(CALLBACK)).await.json();
        let logout = json!({ "logout": { "clientId": world.client.id }, "callbacks": { "postFlowUrl": format!("{APP}/out") } });
        let path = world.redirect_session(&text(&tokens["access_token"]), &logout).await;
        assert_eq!(location(&browser.open(&path).await), format!("{APP}/out"));
        assert!(!browser.has("stoa-session"));
    }

    async fn confidential_client_gets_new_refresh_tokens(engine) {
        let mut world = World::new(engine).await;
        let draft = NewClient {
            name: "Server side".to_owned(), redirect_uris: vec![CALLBACK.to_owned()], origins: vec![APP.to_owned()], with_secret: true, ..NewClient::default()
        };
        let (client, secret) = world.app.app.identity.client_create(&world.app.site.id, draft).await.unwrap();
        let secret = secret.unwrap();
        world.client = client;
        let registered = world.register("anna@example.org").await;
        let mut request = world.auth_request();
        request["sessionToken"] = registered["sessionToken"].clone();
        let body = json!({ "auth": { "authRequest": request, "prompt": "none" } });
        let to = location(&world.browser().open(&world.redirect_session(&world.visitor().await, &body).await).await);
        let token = async |path: &str, mut grant: Value| {
            (grant["client_id"], grant["client_secret"]) = (json!(world.client.id), json!(secret.expose()));
            world.call("", path, &grant).await
        };
        let exchange = json!({ "grant_type": "authorization_code", "code": parameters(&to, '#')["code"],
            "code_verifier": VERIFIER, "redirect_uri": CALLBACK });
        let first = token("/oauth2/token", exchange).await.json();
        let refresh = |it: &Value| json!({ "grant_type": "refresh_token", "refresh_token": it["refresh_token"] });
        let bare = json!({ "grantType": "refresh_token", "refreshToken": first["refresh_token"] });
        assert_eq!(world.call("", "/oauth2/token", &bare).await.verdict(), "401 invalid_client", "not without the secret");
        // Applications ask before every request, so theirs stays.
        let same = token("/oauth/access", refresh(&first)).await.json();
        assert_eq!(same["refresh_token"], first["refresh_token"]);
        let second = token("/oauth2/token", refresh(&first)).await.json();
        assert_ne!(second["refresh_token"], first["refresh_token"]);
        // An answer that got lost is asked for again; a copy that comes late ends the family.
        assert_eq!(token("/oauth2/token", refresh(&first)).await.verdict(), "200");
        world.app.kit.clock.advance(stoa_identity::oauth::rotation::GRACE + 1);
        assert_eq!(token("/oauth2/token", refresh(&second)).await.verdict(), "200");
        assert_eq!(token("/oauth2/token", refresh(&first)).await.verdict(), "400 invalid_grant");
        assert_eq!(token("/oauth2/token", refresh(&second)).await.verdict(), "400 invalid_grant");
    }
}
