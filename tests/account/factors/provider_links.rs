//! What ties an account to an identity provider, and what must not (docs/identity-providers.md, "Who the member is").

use super::{
    passkey_hosts::{SHOP, WWW, ask, at_www},
    providers::{base64_of, person},
    *,
};

const DAY: i64 = 24 * 60 * 60_000;

fn link(password: &str) -> Value {
    json!({ "type": "LINK_PROVIDER", "password": password })
}

/// How many links there are.
async fn links(world: &World) -> i64 {
    world.count("provider_link").await
}

/// A client of others, and an address at which it asks for a code.
async fn partner(world: &World) -> (Client, String) {
    let (partner, _) = world.app.partner("items:read").await;
    let path = authorize_path(&partner, &[("scope", "items:read")]);
    (partner, path)
}

/// The client gets a code once the member has agreed.
async fn allow(browser: &Browser<'_>, asked: &Value, partner: &Client) {
    assert_eq!(asked["step"]["type"], "CONSENT", "{asked}");
    let view = browser.answer(&text(&asked["token"]), json!({ "type": "ALLOW" })).await;
    let url = text(&view["step"]["url"]);
    assert!(url.starts_with(&partner.redirect_uris[0]), "{view}");
    assert!(parameters(&url, '?').contains_key("code"), "{url}");
}

on_both_engines! {
    async fn thief_of_a_session_leaves_no_link(engine) {
        let world = World::new(engine).await;
        let (provider, id) = world.with_provider(json!({})).await;
        let evil = || person("evil", "anna@example.org");
        let stolen = world.member_access("anna@example.org").await;
        world.app.kit.clock.advance(60_000);
        // The session sets a password, for which it needs no old one, and shows it at once.
        assert_eq!(world.call(&stolen, "/v2/change-password", &json!({ "newPassword": ANOTHER })).await.verdict(), "200");
        let by_link = async |password: &str| {
            let browser = world.browser();
            let asked = browser.by_provider(&provider, &id, evil()).await;
            assert_eq!(asked["step"]["type"], "LINK_PROVIDER", "{asked}");
            assert_eq!(browser.answer(&text(&asked["token"]), link(password)).await["step"]["message"], "SIGNED_IN");
        };
        by_link(ANOTHER).await;
        assert_eq!((links(&world).await, world.connections(&stolen).await), (0, json!([])));
        // One that waits a day is linked, and the link to the address ends that.
        world.app.kit.clock.advance(DAY + 60_000);
        by_link(ANOTHER).await;
        assert_eq!(links(&world).await, 1);
        let recover = json!({ "recoveryToken": world.recovery_link("anna@example.org").await, "password": PASSWORD });
        assert_eq!(world.call(&world.visitor().await, "/v1/recover", &recover).await.json()["state"], "SUCCESS");
        assert_eq!(links(&world).await, 0);
        // And so do those who run the site.
        by_link(PASSWORD).await;
        assert_eq!(links(&world).await, 1);
        let refuse = format!("{OWN}/members/{}/refuse-password", world.id_of("anna@example.org").await);
        assert_eq!(world.app.app().post(&refuse, &json!({})).await.verdict(), "200");
        assert_eq!(links(&world).await, 0);
        // A link of long ago stays.
        let recover = json!({ "recoveryToken": world.recovery_link("anna@example.org").await, "password": PASSWORD });
        assert_eq!(world.call(&world.visitor().await, "/v1/recover", &recover).await.json()["state"], "SUCCESS");
        by_link(PASSWORD).await;
        world.app.kit.clock.advance(8 * DAY);
        let recover = json!({ "recoveryToken": world.recovery_link("anna@example.org").await, "password": PASSWORD });
        assert_eq!(world.call(&world.visitor().await, "/v1/recover", &recover).await.json()["state"], "SUCCESS");
        assert_eq!(links(&world).await, 1);
    }

    async fn who_goes_back_after_the_password_is_linked_with_nobody(engine) {
        let world = World::with_factors(engine).await;
        let (provider, id) = world.with_provider(json!({})).await;
        let anna = world.enrolled("anna@example.org").await;
        world.member_access("bob@example.org").await;
        for email in ["bob@example.org", "anna@example.org"] {
            world.next_step();
            let browser = world.browser();
            let view = browser.by_provider(&provider, &id, person("s", "anna@example.org")).await;
            let asked = browser.answer(&text(&view["token"]), link(PASSWORD)).await;
            assert_eq!(asked["step"]["type"], "SECOND_FACTOR", "{asked}");
            let token = text(&asked["token"]);
            assert_eq!(browser.answer(&token, json!({ "type": "BACK" })).await["step"]["type"], "SIGN_IN");
            let input = json!({ "type": "SIGN_IN", "email": email, "password": PASSWORD });
            let mut view = browser.answer(&token, input).await;
            if email == "anna@example.org" {
                view = browser.factor(&view, &world.totp(&anna.secret, 0), false).await;
            }
            assert_eq!((&view["step"]["message"], links(&world).await), (&json!("SIGNED_IN"), 0), "{email}");
        }
    }

    async fn word_of_both_sides_links_after_the_second_factor(engine) {
        let world = World::with_factors(engine).await;
        let (provider, id) = world.with_provider(json!({ "linksByEmail": true })).await;
        let anna = world.enrolled("anna@example.org").await;
        let nonce = "a nonce that was drawn";
        let body = json!({ "idpConnectionId": id, "tokenParams": {
            "idToken": provider.id_token(&person("s", "anna@example.org"), nonce), "nonce": nonce } });
        let asked = world.call(&world.visitor().await, "/v1/sso/login-with-token-params", &body).await.json();
        assert_eq!((&asked["state"], links(&world).await), (&json!("MFA_CHALLENGE"), 0), "{asked}");
        let browser = world.browser();
        let asked = browser.by_provider(&provider, &id, person("s", "anna@example.org")).await;
        assert_eq!((&asked["step"]["type"], links(&world).await), (&json!("SECOND_FACTOR"), 0), "{asked}");
        world.next_step();
        let done = browser.factor(&asked, &world.totp(&anna.secret, 0), false).await;
        assert_eq!((&done["step"]["message"], links(&world).await), (&json!("SIGNED_IN"), 1), "{done}");
        // Another person of the same provider who has the address by now is not that member.
        let view = world.browser().by_provider(&provider, &id, person("t", "anna@example.org")).await;
        assert_eq!((&view["step"]["reason"], links(&world).await), (&json!("REFUSED"), 1), "{view}");
    }

    async fn client_of_others_gets_nothing_before_the_member_agrees(engine) {
        let world = World::with_factors(engine).await;
        let (provider, id) = world.with_provider(json!({})).await;
        let (partner, path) = partner(&world).await;
        let anna = world.enrolled("anna@example.org").await;
        world.member_access("bob@example.org").await;
        let codes = world.count("code").await;
        let begin = async |browser: &Browser<'_>, subject: &str, email: &str| {
            let token = flow_of(&browser.open(&path).await);
            let view = browser.answer(&token, json!({ "type": "PROVIDER", "id": id })).await;
            browser.come_back(&token, &provider.approve(&text(&view["step"]["url"]), person(subject, email))).await
        };
        // Whose account is linked now, by a password alone and with a factor after it.
        let browser = world.browser();
        let asked = begin(&browser, "b", "bob@example.org").await;
        let asked = browser.answer(&text(&asked["token"]), link(PASSWORD)).await;
        assert_eq!((links(&world).await, world.count("code").await), (1, codes));
        allow(&browser, &asked, &partner).await;
        world.next_step();
        let browser = world.browser();
        let asked = begin(&browser, "a", "anna@example.org").await;
        let asked = browser.answer(&text(&asked["token"]), link(PASSWORD)).await;
        assert_eq!((&asked["step"]["type"], links(&world).await), (&json!("SECOND_FACTOR"), 1), "{asked}");
        let asked = browser.factor(&asked, &world.totp(&anna.secret, 0), false).await;
        assert_eq!((links(&world).await, world.count("code").await), (2, codes + 1));
        allow(&browser, &asked, &partner).await;
        // And who is new, and known from then on.
        let browser = world.browser();
        let asked = begin(&browser, "c", "carl@example.org").await;
        assert_eq!((links(&world).await, world.count("code").await), (3, codes + 2));
        allow(&browser, &asked, &partner).await;
        let again = authorize_path(&partner, &[("scope", "items:read"), ("prompt", "login consent")]);
        let token = flow_of(&browser.open(&again).await);
        let view = browser.answer(&token, json!({ "type": "PROVIDER", "id": id })).await;
        let url = text(&view["step"]["url"]);
        assert_eq!(parameters(&url, '?')["prompt"], "login", "the provider asks who it is as well");
        let asked = browser.come_back(&token, &provider.approve(&url, person("c", "carl@example.org"))).await;
        assert_eq!((links(&world).await, world.count("code").await), (3, codes + 3));
        allow(&browser, &asked, &partner).await;
    }

    async fn host_of_a_site_sends_nobody_to_a_provider(engine) {
        let world = World::new(engine).await;
        let (provider, id) = world.with_provider(json!({})).await;
        let app = at_www(&world).await;
        let open = async |host: &str, path: &str| ask(&app, Method::GET, format!("{host}{path}"), "", Value::Null).await;
        for (host, has_some) in [(WWW, true), (SHOP, false)] {
            // It would send the browser to the other host, which has another cookie.
            let begin = json!({ "kind": "SIGN_IN" });
            let page = ask(&app, Method::POST, format!("{host}/_api/account/v1/flows"), "", begin).await.json();
            assert_eq!(page["step"]["providers"].as_array().map(Vec::len), Some(usize::from(has_some)), "{host}: {page}");
            let key = base64_of(&[7; 32]).replace('=', "%3D");
            let site = &world.app.site.id;
            let path = format!("/_api/iam/authentication/v1/sso/login/{site}/{id}?tenantType=SITE&sessionId=a&encryptionKey={key}");
            let opened = open(host, &path).await;
            if has_some {
                assert!(location(&opened).starts_with(&provider.issuer), "{host}");
            } else {
                let violation = &opened.json()["details"]["validationError"]["fieldViolations"][0];
                assert_eq!((&violation["field"], &violation["violatedRule"]), (&json!("idpConnectionId"), &json!("FIELD_NOT_ALLOWED")));
            }
            let mut request = world.auth_request();
            request["idp"] = json!(id);
            let path = world.redirect_session(&world.visitor().await, &json!({ "auth": { "authRequest": request } })).await;
            let to = location(&open(host, &path).await);
            assert_eq!(to.starts_with(&provider.issuer), has_some, "{host}: {to}");
        }
    }

    async fn member_who_is_asked_to_agree_goes_to_no_provider(engine) {
        let world = World::new(engine).await;
        let (provider, id) = world.with_provider(json!({})).await;
        let (partner, _) = partner(&world).await;
        let browser = world.browser();
        world.member(&browser, "anna@example.org").await;
        let grant = json!({ "clientId": partner.id, "grantType": "anonymous" });
        let visitor = text(&world.call("", "/oauth2/token", &grant).await.json()["access_token"]);
        let mut request = world.auth_request();
        for (name, value) in [("clientId", json!(partner.id)), ("redirectUri", json!(partner.redirect_uris[0])), ("scope", json!("items:read")), ("idp", json!(id))] {
            request[name] = value;
        }
        let path = world.redirect_session(&visitor, &json!({ "auth": { "authRequest": request } })).await;
        let token = flow_of(&browser.open_from(&path, Some("https://partner.example")).await);
        assert_eq!(browser.flow_view(&token).await.json()["step"]["type"], "CONSENT");
        assert!(provider.calls().is_empty(), "nothing was asked of it");
        // Whom nobody knows goes there.
        let to = location(&world.browser().open_from(&path, Some("https://partner.example")).await);
        assert!(to.starts_with(&provider.issuer), "{to}");
    }

    async fn sign_in_by_a_provider_makes_no_password_of_a_thief_count(engine) {
        let world = World::new(engine).await;
        let (provider, id) = world.with_provider(json!({ "linksByEmail": true })).await;
        let stolen = world.member_access("anna@example.org").await;
        world.app.kit.clock.advance(60_000);
        assert_eq!(world.call(&stolen, "/v2/change-password", &json!({ "newPassword": ANOTHER })).await.verdict(), "200");
        world.policy(json!({ "secondFactor": "REQUIRED", "secondFactorGraceDays": 0 })).await;
        // The owner signs in by the provider, and shows the address; then a factor can be set up.
        let browser = world.browser();
        world.app.mail.take();
        let view = browser.by_provider(&provider, &id, person("s", "anna@example.org")).await;
        assert_eq!(view["step"]["type"], "VERIFY_EMAIL", "{view}");
        let code = world.app.code_to("anna@example.org").await;
        let view = browser.answer(&text(&view["token"]), json!({ "type": "VERIFY_EMAIL", "code": code })).await;
        assert_eq!(view["step"]["type"], "ENROL_FACTOR", "{view}");
        // None of it was the password: with it the stolen session adds no factor of its own.
        assert_eq!(world.prove(&stolen, json!({ "password": ANOTHER })).await, NEEDED);
        let confirm = json!({ "type": "CONFIRM_FACTOR", "code": world.totp(&text(&view["step"]["secret"]), 0) });
        let view = browser.answer(&text(&view["token"]), confirm).await;
        assert_eq!(view["step"]["type"], "RECOVERY_CODES", "{view}");
    }
}
