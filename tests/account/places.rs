//! Where sessions began, told by a file of places: to members, and to those who run a site.

use super::*;
use stoa_identity::session::Places;
use stoa_store::boxed;
use stoa_testkit::{
    on_both_engines,
    places::{city, place_file},
};

const SESSIONS: &str = "/_api/identity/v1/sessions";
const OPERATOR: &str = "/_api/account/v1/operator";

impl World {
    /// A server with a file that knows these networks.
    async fn with_places(engine: Engine, networks: &[(&str, Value)]) -> Self {
        let places = Places::parse(place_file("GeoLite2-City", networks)).unwrap();
        places.verify().unwrap();
        Self::with(engine, Config { places: Some(places), ..Config::default() }).await
    }

    /// The only session of a member who signs in on the pages, as it is told in a language.
    async fn session_in(&self, access: &str, language: &str) -> Value {
        let headers = [("authorization", access), ("accept-language", language)];
        let listed = send(&self.app, Method::GET, SESSIONS, &headers, None).await.json();
        let sessions = listed["sessions"].as_array().unwrap().clone();
        let session = sessions.into_iter().find(|it| it["address"] == "127.0.0.1");
        session.unwrap_or_else(|| panic!("no session that a browser began: {listed}"))
    }

    /// A member who is signed in on the pages, and a token of theirs.
    async fn on_the_pages(&self, email: &str) -> String {
        self.register(email).await;
        let browser = self.browser();
        let token = text(&browser.start(json!({ "kind": "SIGN_IN" })).await["token"]);
        browser.answer(&token, json!({ "type": "SIGN_IN", "email": email, "password": PASSWORD })).await;
        let account = browser.ask(Method::POST, "/_api/account/v1/member", Some(&json!({}))).await;
        text(&account.json()["access_token"])
    }
}

fn here(names: Value) -> [(&'static str, Value); 2] {
    [("127.0.0.0/8", city(names, "CH")), ("2001:db8::/32", city(json!({ "en": "Elsewhere" }), "FR"))]
}

on_both_engines! {
    async fn member_is_told_the_place_of_a_session_in_their_language(engine) {
        let names = json!({ "de": "Basel", "en": "Basle", "fr": "Bâle" });
        let world = World::with_places(engine, &here(names)).await;
        let access = world.on_the_pages("anna@example.org").await;
        for (language, city) in [("fr-CH, de;q=0.8", "Bâle"), ("de", "Basel"), ("he", "Basle"), ("*", "Basle"), ("", "Basle")] {
            let session = world.session_in(&access, language).await;
            assert_eq!(session["place"], json!({ "city": city, "country": "CH" }), "{language}");
        }
    }

    async fn nothing_is_told_of_what_the_file_does_not_know(engine) {
        let elsewhere = [("192.0.2.0/24", city(json!({ "en": "Basle" }), "CH"))];
        let world = World::with_places(engine, &elsewhere).await;
        let access = world.on_the_pages("anna@example.org").await;
        assert_eq!(world.session_in(&access, "en").await.get("place"), None);
        // A country alone, a code that is none, and values of other kinds.
        for (value, place) in [
            (json!({ "country": { "iso_code": "CH" } }), json!({ "country": "CH" })),
            (json!({ "country": { "iso_code": "Switzerland" }, "city": { "names": { "ja": "x" } } }), Value::Null),
            (json!({ "country": "CH", "city": ["Basle"] }), Value::Null),
            (json!({ "country": { "iso_code": 7 }, "city": { "names": { "en": "" } } }), Value::Null),
        ] {
            let places = Places::parse(place_file("GeoLite2-Country", &[("127.0.0.0/8", value.clone())])).unwrap();
            let found = places.find("127.0.0.1".parse().unwrap(), None);
            assert_eq!(json!(found), place, "{value}");
            assert_eq!(places.find("::ffff:127.0.0.1".parse().unwrap(), None), found, "an IPv4 address in IPv6 form");
        }
        // A server without a file.
        let world = World::new(engine).await;
        let access = world.on_the_pages("anna@example.org").await;
        assert_eq!(world.session_in(&access, "en").await.get("place"), None);
    }

    async fn those_who_run_a_site_are_told_address_and_place(engine) {
        let world = World::with_places(engine, &here(json!({ "de": "Basel", "en": "Basle" }))).await;
        world.owner("olga@example.org").await;
        let browser = world.browser();
        browser.run_site("olga@example.org", PASSWORD).await;
        let told = async |language: &str| {
            let headers = [("sec-fetch-site", "same-origin"), ("accept-language", language)];
            browser.send(Method::GET, OPERATOR, &headers, None).await.json()["sessions"][0].clone()
        };
        assert_eq!(told("de").await["address"], "127.0.0.1");
        assert_eq!(told("de").await["place"], json!({ "city": "Basel", "country": "CH" }));
        assert_eq!(told("ja").await["place"], json!({ "city": "Basle", "country": "CH" }));
        // A session of before addresses were written down.
        let gone = world.app.kit.store.catalog().write(|tx| {
            boxed!({
                tx.execute("update stoa.person_session set address = null", &[]).await?;
                Ok(())
            })
        });
        gone.await.unwrap();
        let old = told("de").await;
        assert_eq!((&old["address"], &old["place"]), (&Value::Null, &Value::Null));
    }
}

#[test]
fn file_that_is_broken_or_of_another_kind_is_refused() {
    let whole = place_file("GeoLite2-City", &here(json!({ "en": "Basle" })));
    let told = |bytes: &[u8]| Places::parse(bytes.to_vec()).map(|_| ()).unwrap_err();
    assert!(told(&place_file("GeoLite2-ASN", &[])).contains("GeoLite2-ASN"));
    for length in 0..whole.len() {
        told(&whole[..length]);
    }
    // Nothing that is wrong inside is more than a place that isn't told.
    for at in 0..whole.len() {
        let mut broken = whole.clone();
        broken[at] ^= 0xff;
        if let Ok(places) = Places::parse(broken) {
            places.find("127.0.0.1".parse().unwrap(), None);
            places.find("2001:db8::1".parse().unwrap(), None);
            let _ = places.verify();
        }
    }
}
