//! At which hosts there are passkeys: those of the account pages that `public_url` names, and not those of sites with hosts of their own.

use super::{passkeys::options_of, *};
use axum::{body::Body, http::Request};
use std::sync::Arc;
use stoa_http::{App, Settings};
use stoa_store::SiteChange;
use stoa_testkit::passkey::{Ceremony, Passkey};
use tower::ServiceExt;

pub(super) const WWW: &str = "https://www.example.org";
pub(super) const SHOP: &str = "https://shop.example.org";
/// As a proxy may ask.
const INSIDE: &str = "http://stoa.internal:4400";

/// A server whose account pages are at [`WWW`], and whose site has [`SHOP`] for itself as well.
pub(super) async fn at_www(world: &World) -> App {
    let hosts = SiteChange { add_hosts: vec!["shop.example.org".to_owned()], ..SiteChange::default() };
    world.app.kit.store.site_update(&world.app.site.id, hosts, world.app.kit.world.now()).await.unwrap();
    let settings = Settings { public_url: Some(WWW.to_owned()), ..Settings::default() };
    App { settings: Arc::new(settings), ..world.app.app.clone() }
}

pub(super) async fn ask(app: &App, method: Method, url: String, token: &str, body: Value) -> Reply {
    let request = Request::builder().method(method.clone()).uri(url).header("content-type", "application/json");
    let request = if token.is_empty() { request } else { request.header("authorization", token) };
    let body = if method == Method::GET { Body::empty() } else { Body::from(body.to_string()) };
    let response = stoa_http::service(app.clone()).oneshot(request.body(body).unwrap()).await.unwrap();
    let (status, headers) = (response.status(), response.headers().clone());
    Reply { status, headers, body: axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap() }
}

on_both_engines! {
    async fn host_of_a_site_that_is_not_the_pages_own_has_no_passkeys(engine) {
        let world = World::with_factors(engine).await;
        let access = world.member_access("anna@example.org").await;
        assert_eq!(world.prove(&access, json!({ "password": PASSWORD })).await, "200");
        let app = at_www(&world).await;
        for (host, has_some) in [(WWW, true), (INSIDE, true), (SHOP, false)] {
            let begin = json!({ "kind": "SIGN_IN" });
            let page = ask(&app, Method::POST, format!("{host}/_api/account/v1/flows"), "", begin).await;
            let challenge = page.json()["step"]["passkey"].clone();
            assert_eq!(challenge.is_object(), has_some, "{host}: {}", page.json());
            if has_some {
                assert!(text(&challenge["options"]).contains(r#""rpId":"www.example.org""#), "{challenge}");
            }
            let list = ask(&app, Method::GET, format!("{host}{OWN}/factors"), &access, Value::Null).await.json();
            let addable = list["addable"].as_array().unwrap();
            assert_eq!(addable.contains(&json!("WEBAUTHN")), has_some, "{host}: {list}");
            let begin = json!({ "type": "WEBAUTHN" });
            let begun = ask(&app, Method::POST, format!("{host}{OWN}/factors"), &access, begin).await;
            assert_eq!(begun.verdict(), if has_some { "200" } else { "403 PERMISSION_DENIED" }, "{host}");
        }
        // What is required can be a passkey where there are some.
        world.policy(json!({ "secondFactor": "REQUIRED", "secondFactorGraceDays": 0 })).await;
        let visitor = world.visitor().await;
        for (host, kinds) in [(WWW, json!(["WEBAUTHN", "TOTP"])), (SHOP, json!(["TOTP"]))] {
            let login = json!({ "loginId": { "email": "anna@example.org" }, "password": PASSWORD });
            let asked = ask(&app, Method::POST, format!("{host}/v2/login"), &visitor, login).await.json();
            let named = asked["requireMfaData"]["availableFactors"].as_array().unwrap_or_else(|| panic!("{asked}"));
            let named: Vec<&Value> = named.iter().map(|it| &it["factorType"]).collect();
            assert_eq!(json!(named), kinds, "{host}");
        }
    }

    async fn passkey_of_another_host_is_not_asked_for(engine) {
        let world = World::with_factors(engine).await;
        // Made at `localhost`, before the pages moved.
        let (access, passkey) = world.with_passkey("anna@example.org").await;
        let visitor = world.visitor().await;
        let app = at_www(&world).await;
        let login = json!({ "loginId": { "email": "anna@example.org" }, "password": PASSWORD });
        let at = async |host: &str| ask(&app, Method::POST, format!("{host}/v2/login"), &visitor, login.clone()).await.json();
        for host in [WWW, SHOP] {
            let asked = at(host).await;
            assert_eq!((&asked["state"], &asked["mfaChallengeData"]["factorType"]), (&json!("MFA_CHALLENGE"), &json!("RECOVERY_CODE")), "{host}");
            assert_eq!(asked["mfaChallengeData"]["availableFactors"].as_array().map(Vec::len), Some(1), "{asked}");
        }
        let proof = ask(&app, Method::POST, format!("{WWW}{OWN}/proof"), &access, json!({ "webauthnData": {} })).await;
        assert_eq!(proof.verdict(), "400 validationError");
        // At its own host it is asked for as before.
        let asked = world.login("anna@example.org", PASSWORD).await;
        let data = &asked["mfaChallengeData"]["verificationChallengeData"]["webauthnData"];
        assert_eq!(options_of(data)["allowCredentials"].as_array().map(Vec::len), Some(1));
        assert!(!passkey.id.is_empty());
    }

    async fn passkey_of_another_host_is_none_that_a_site_requires(engine) {
        let mut world = World::with_factors(engine).await;
        let access = world.member_access("anna@example.org").await;
        assert_eq!(world.prove(&access, json!({ "password": PASSWORD })).await, "200");
        let (mut old, added) = world.add_passkey(&access, "Laptop").await;
        let codes: Vec<String> = added["recoveryCodes"].as_array().unwrap().iter().map(text).collect();
        world.policy(json!({ "secondFactor": "REQUIRED", "secondFactorGraceDays": 0 })).await;
        world.session_by_passkey("anna@example.org", &mut old).await;

        // The pages move.
        world.app.app.identity.url_set(WWW);
        let settings = Settings { public_url: Some(WWW.to_owned()), ..Settings::default() };
        world.app.restart(|app| app.settings = Arc::new(settings));
        let asked = world.login("anna@example.org", PASSWORD).await;
        assert_eq!(asked["mfaChallengeData"]["factorType"], "RECOVERY_CODE", "{asked}");
        let shown = world.verify_recovery(&asked["stateToken"], &codes[0]).await.json();
        assert_eq!((&shown["state"], shown.get("sessionToken")), (&json!("REQUIRE_MFA"), None), "{shown}");
        let named = &shown["requireMfaData"]["availableFactors"];
        let activation = |kind: &str| json!({ "factorType": kind, "factorStatus": "REQUIRE_ACTIVATION" });
        assert_eq!(*named, json!([activation("WEBAUTHN"), activation("TOTP")]));

        // On the pages one is set up for this host, on the authenticator of before as well.
        let browser = world.browser();
        let view = browser.password("anna@example.org").await;
        assert_eq!((&view["step"]["type"], &view["step"]["passkey"]), (&json!("SECOND_FACTOR"), &Value::Null), "{view}");
        let input = json!({ "type": "SECOND_FACTOR", "factor": "RECOVERY_CODE", "code": codes[1], "remember": false });
        let view = browser.answer(&text(&view["token"]), input).await;
        assert_eq!(view["step"]["type"], "ENROL_FACTOR", "{view}");
        let asked = &view["step"]["passkey"];
        let options: Value = serde_json::from_str(asked["options"].as_str().unwrap()).unwrap();
        assert_eq!((&options["rp"]["id"], &options["excludeCredentials"]), (&json!("www.example.org"), &json!([])));
        let (mut new, credential) = Passkey::create(&options, &Ceremony::at(WWW));
        let input = json!({ "type": "CONFIRM_PASSKEY", "challengeId": asked["challengeId"], "credential": credential });
        let view = browser.answer(&text(&view["token"]), input).await;
        assert_eq!(view["step"]["type"], "RECOVERY_CODES", "{view}");
        let done = browser.answer(&text(&view["token"]), json!({ "type": "CODES_KEPT" })).await;
        assert_eq!(done["step"]["type"], "DONE", "{done}");

        // From now on it is asked for, and is what the site requires: it stays, and the other can go.
        let asked = world.login("anna@example.org", PASSWORD).await;
        let data = asked["mfaChallengeData"]["verificationChallengeData"]["webauthnData"].clone();
        let credential = new.get(&options_of(&data), &Ceremony::at(WWW));
        let answer = json!({ "challengeId": data["challengeId"], "credential": credential });
        let body = json!({ "stateToken": asked["stateToken"], "webauthnData": answer });
        let signed = world.call(&world.visitor().await, "/v2/WEBAUTHN/verify", &body).await.json();
        assert_eq!(signed["state"], "SUCCESS", "{signed}");
        let fresh = json!({ "recoveryCodeData": { "code": view["step"]["codes"][0] } });
        assert_eq!(world.prove(&access, fresh).await, "200");
        let list = world.own(&access, Method::GET, "factors", Value::Null).await.json();
        let ids: Vec<String> = list["factors"].as_array().unwrap().iter().map(|it| text(&it["id"])).collect();
        let of_before = text(&added["factor"]["id"]);
        let of_now = ids.iter().find(|it| **it != of_before).unwrap();
        let remove = async |id: &str| world.own(&access, Method::DELETE, &format!("factors/{id}"), Value::Null).await.verdict();
        assert_eq!(remove(of_now).await, "403 PERMISSION_DENIED");
        assert_eq!(remove(&of_before).await, "200");
    }
}
