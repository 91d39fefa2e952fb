//! Keys of applications by URL: what everyone is shown, and that no private half is stored or shown anywhere (decision 26).

use axum::{
    body::Body,
    http::{Method, Request, header},
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use stoa_identity::{app_key::SigningKey, client::NewClient};
use stoa_kernel::ClientId;
use stoa_testkit::{Engine, Reply, TestApp, on_both_engines};
use tower::ServiceExt;

const PRIVATE: &str = include_str!("../crates/identity/tests/keys/pkcs1.pem");
const PUBLIC: &str = include_str!("../crates/identity/tests/keys/public.pem");

async fn application(app: &TestApp) -> ClientId {
    let new = NewClient { name: "Application".to_owned(), with_secret: true, ..NewClient::default() };
    app.app.identity.client_create(&app.site.id, new).await.unwrap().0.id
}

fn path(id: &str) -> String {
    format!("/_api/apps/v1/{id}/jwks")
}

async fn shown(app: &TestApp, id: &ClientId) -> Reply {
    let reply = app.anonymous().get(&path(id.as_str())).await;
    assert_eq!(reply.verdict(), "200", "{:?}", reply.body);
    reply
}

fn ids(reply: &Reply) -> Vec<Value> {
    reply.json()["keys"].as_array().unwrap().iter().map(|it| it["kid"].clone()).collect()
}

fn content(pem: &str) -> Vec<u8> {
    STANDARD.decode(pem.lines().filter(|it| !it.starts_with('-')).collect::<String>()).unwrap()
}

/// Whether these bytes stand in the data, as they are or in a form in which they are written as text.
async fn is_stored(app: &TestApp, engine: Engine, bytes: &[u8]) -> bool {
    let hex: String = bytes.iter().map(|it| format!("{it:02x}")).collect();
    let base64 = STANDARD.encode(&bytes[..bytes.len() / 3 * 3]);
    let mut is_there = false;
    for text in [hex, base64.replace('+', "-").replace('/', "_"), base64] {
        is_there |= crate::sealed::is_stored(app, engine, &text).await;
    }
    is_there || engine == Engine::Sqlite && crate::sealed::stands_in(&app.kit.data(), bytes)
}

on_both_engines! {
    async fn public_keys_are_shown_to_everyone(engine) {
        let app = TestApp::new(engine).await;
        let (identity, site) = (&app.app.identity, &app.site.id);
        let id = application(&app).await;
        let none = shown(&app, &id).await;
        assert_eq!(none.json(), json!({ "keys": [] }));
        assert_eq!(none.headers[header::CACHE_CONTROL], "public, max-age=60");
        assert_eq!(none.headers[header::VARY], "accept-encoding");
        assert_eq!(none.headers[header::CONTENT_TYPE], "application/json");
        assert_eq!(none.headers[header::ACCESS_CONTROL_ALLOW_ORIGIN], "*");

        let key = identity.app_key_import(site, &id, PRIVATE).await.unwrap();
        let one = shown(&app, &id).await;
        let shown_key = &one.json()["keys"][0];
        let names: Vec<&String> = shown_key.as_object().unwrap().keys().collect();
        assert_eq!(names, ["kty", "use", "alg", "kid", "n", "e"], "and nothing of the private half");
        assert_eq!((&shown_key["kid"], &shown_key["e"]), (&json!(key.id), &json!("AQAB")));
        identity.app_key_activate(site, &id, None).await.unwrap();
        assert_eq!(ids(&shown(&app, &id).await), [json!(key.id)]);

        // By its tag it is asked for again at no cost, until it changes.
        let tag = one.headers[header::ETAG].clone();
        let again = async |tag: &header::HeaderValue| {
            let request = Request::builder().uri(path(id.as_str())).header(header::HOST, "localhost");
            let request = request.header(header::IF_NONE_MATCH, tag).body(Body::empty()).unwrap();
            app.service().oneshot(request).await.unwrap().status().as_u16()
        };
        assert_eq!(again(&tag).await, 304);
        let next = identity.app_key_rotate(site, &id).await.unwrap();
        assert_eq!(again(&tag).await, 200);
        assert_eq!(ids(&shown(&app, &id).await), [json!(key.id), json!(next.id)]);
    }

    async fn public_keys_of_unknown_applications_are_not_found(engine) {
        let app = TestApp::new(engine).await;
        let (identity, site) = (&app.app.identity, &app.site.id);
        let id = application(&app).await;
        identity.app_key_rotate(site, &id).await.unwrap();
        let other = app.kit.store.site_create("Other", &app.kit.world).await.unwrap();
        let new = NewClient { name: "Other".to_owned(), with_secret: true, ..NewClient::default() };
        let of_other = identity.client_create(&other.id, new).await.unwrap().0.id;
        // Whichever site the address names: an application is known by its id alone.
        for prefix in [String::new(), format!("/s/{}", other.id)] {
            assert_eq!(app.anonymous().get(&format!("{prefix}{}", path(id.as_str()))).await.verdict(), "200");
        }
        let long = "x".repeat(5_000);
        for unknown in ["none", "%20", "%00", "a%00b", "%ff", "a%2Fb", "'", &long, app.client.id.as_str()] {
            let reply = app.anonymous().get(&path(unknown)).await;
            assert_eq!(reply.verdict(), "404 NOT_FOUND", "{unknown:.40}");
            assert_eq!(reply.headers[header::CACHE_CONTROL], "no-store");
        }
        for method in [Method::POST, Method::DELETE] {
            assert_eq!(app.anonymous().send(method, &path(id.as_str()), None).await.verdict(), "405 METHOD_NOT_ALLOWED");
        }
        identity.client_revoke(site, &id).await.unwrap();
        app.kit.store.site_delete(&other.id, app.kit.world.now()).await.unwrap();
        for gone in [&id, &of_other] {
            assert_eq!(app.anonymous().get(&path(gone.as_str())).await.verdict(), "404 NOT_FOUND");
        }
    }

    async fn private_keys_are_stored_sealed_and_shown_nowhere(engine) {
        let app = TestApp::new(engine).await;
        let (identity, site) = (&app.app.identity, &app.site.id);
        let id = application(&app).await;
        let key = identity.app_key_import(site, &id, PRIVATE).await.unwrap();
        identity.app_key_activate(site, &id, None).await.unwrap();
        let claims = json!({ "data": "x" });
        let token = identity.app_sign(&id, SigningKey::Active, claims.as_object().unwrap()).await.unwrap();
        let rotation = identity.seal_begin().await.unwrap();
        assert_eq!(identity.seal_catalog().await.unwrap(), 1);
        identity.seal_end(&rotation.id).await.unwrap();

        let (private, public) = (content(PRIVATE), content(PUBLIC));
        // The modulus stands in both: it is found, so what isn't there would be.
        let modulus = &public[40..100];
        assert!(private.windows(60).any(|it| it == modulus) && is_stored(&app, engine, modulus).await);
        // What follows the public exponent is private, to the end: pieces of each of its numbers.
        let begin = private.windows(5).position(|it| it == [2, 3, 1, 0, 1]).unwrap() + 5;
        for at in (begin + 10..private.len() - 60).step_by(130) {
            // Where three bytes are four letters of base64.
            let at = at / 3 * 3;
            assert!(!is_stored(&app, engine, &private[at..at + 60]).await, "at {at}");
        }
        let told = format!("{key:?} {token} {:?}", shown(&app, &id).await);
        let base64 = STANDARD.encode(&private[begin..]);
        assert!(!told.contains(&base64[..40]) && !told.contains("PRIVATE"), "{told}");
    }
}
