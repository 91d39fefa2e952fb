//! How a site looks on its account pages.

use super::*;
use stoa_identity::face::FaceSetting;
use stoa_testkit::on_both_engines;

on_both_engines! {
    async fn looks_of_a_site_are_shown_with_its_pages(engine) {
        let world = World::new(engine).await;
        let identity = &world.app.app.identity;
        let plain = world.browser().start(json!({ "kind": "SIGN_IN" })).await;
        assert_eq!((&plain["site"]["logoUrl"], &plain["site"]["colours"]), (&Value::Null, &Value::Null));
        let face = FaceSetting {
            logo: Some("https://www.example.org/logo.svg".to_owned()),
            colour: Some("#0b5394".to_owned()),
            terms: Some("https://www.example.org/terms".to_owned()),
            privacy: Some("http://www.example.org/privacy".to_owned()),
            language: Some("de".to_owned()),
        };
        identity.site_face_change(&world.app.site, face.clone()).await.unwrap();
        let shown = world.browser().start(json!({ "kind": "SIGN_IN" })).await["site"].clone();
        assert_eq!(shown["id"], json!(world.app.site.id));
        assert_eq!((&shown["logoUrl"], &shown["termsUrl"]), (&json!(face.logo), &json!(face.terms)));
        assert_eq!((&shown["privacyUrl"], &shown["language"]), (&json!(face.privacy), &json!("de")));
        assert_eq!(shown["colours"]["light"]["accent"], "#0b5394");

        // What can't be shown is refused by name, all of it at once, and changes nothing.
        let text = |it: &str| Some(it.to_owned());
        let wrong = FaceSetting {
            logo: text("http://www.example.org/logo.svg"),
            colour: text("blue"),
            terms: text("javascript:alert(1)"),
            privacy: text("//www.example.org/x"),
            language: text("dee"),
        };
        let refused = identity.site_face_change(&world.app.site, wrong).await.unwrap_err();
        let fields: Vec<_> = refused.violations().iter().map(|it| it.field.clone()).collect();
        assert_eq!(fields, ["logo", "colour", "terms", "privacy", "language"]);
        assert_eq!(identity.site_face_setting(&world.app.site).await.unwrap(), face);
        let less = FaceSetting { logo: text(""), ..FaceSetting::default() };
        let left = identity.site_face_change(&world.app.site, less).await.unwrap();
        assert_eq!(left, FaceSetting { logo: None, ..face });
    }
}
