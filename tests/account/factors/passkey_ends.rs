//! What becomes of passkeys: when others change, when the site requires one, and when their member goes.

use super::{passkeys::honest, *};
use stoa_testkit::passkey::Passkey;

on_both_engines! {
    async fn sign_ins_that_wait_end_with_a_new_passkey(engine) {
        let world = World::with_factors(engine).await;
        let (access, mut passkey) = world.with_passkey("anna@example.org").await;
        let asked = world.login("anna@example.org", PASSWORD).await;
        assert_eq!(asked["mfaChallengeData"]["factorType"], "WEBAUTHN", "{asked}");
        assert_eq!(world.prove_by_passkey(&access, &mut passkey).await, "200");
        let (_, second) = world.add_passkey(&access, "Key").await;
        assert_eq!(world.verify_recovery(&asked["stateToken"], "x").await.verdict(), GONE);
        // A name is no change of what is asked for, a removal is.
        let asked = world.login("anna@example.org", PASSWORD).await;
        let path = format!("factors/{}", text(&second["factor"]["id"]));
        assert_eq!(world.own(&access, Method::PATCH, &path, json!({ "name": "Other" })).await.verdict(), "200");
        assert_eq!(world.verify_recovery(&asked["stateToken"], "x").await.verdict(), WRONG);
        assert_eq!(world.own(&access, Method::DELETE, &path, Value::Null).await.verdict(), "200");
        assert_eq!(world.verify_recovery(&asked["stateToken"], "x").await.verdict(), GONE);
    }

    async fn last_of_what_the_site_requires_is_kept(engine) {
        let world = World::with_factors(engine).await;
        let (access, mut passkey) = world.with_passkey("anna@example.org").await;
        world.policy(json!({ "secondFactor": "REQUIRED", "secondFactorGraceDays": 0 })).await;
        let passkey_path = format!("factors/{}", text(&world.own(&access, Method::GET, "factors", Value::Null).await.json()["factors"][0]["id"]));
        let remove = async |path: &str| world.own(&access, Method::DELETE, path, Value::Null).await.verdict();
        assert_eq!(remove(&passkey_path).await, "403 PERMISSION_DENIED");
        assert_eq!(world.count("passkey").await, 1);
        // It is what the site requires: nothing else is asked for.
        assert!(!world.session_by_passkey("anna@example.org", &mut passkey).await.is_empty());
        // Beside an authenticator it goes, and the authenticator stays.
        let proof = async |passkey: &mut Passkey| {
            let (id, options) = world.ask_proof(&access).await;
            json!({ "webauthnData": { "challengeId": id, "credential": passkey.get(&options, &honest()) } })
        };
        let shown = proof(&mut passkey).await;
        let (totp, _, codes) = world.enrol(&access, shown).await;
        assert_eq!(codes, [""; 0]);
        assert_eq!(remove(&passkey_path).await, "200");
        assert_eq!(remove(&format!("factors/{totp}")).await, "403 PERMISSION_DENIED");
        // And the other way round.
        world.add_passkey(&access, "Key").await;
        assert_eq!(remove(&format!("factors/{totp}")).await, "200");
    }

    async fn those_who_run_the_site_take_passkeys_away(engine) {
        let world = World::with_factors(engine).await;
        let (access, mut passkey) = world.with_passkey("anna@example.org").await;
        assert_eq!(world.prove_by_passkey(&access, &mut passkey).await, "200");
        world.add_passkey(&access, "Key").await;
        let path = format!("{OWN}/members/{}/factors", world.id_of("anna@example.org").await);
        assert_eq!(world.app.visitor().await.delete(&path).await.verdict(), "403 PERMISSION_DENIED");
        assert_eq!(world.app.app().delete(&path).await.json()["removed"], 2);
        assert_eq!((world.count("passkey").await, world.count("recovery_code").await), (0, 0));
        assert_eq!(world.login("anna@example.org", PASSWORD).await["state"], "SUCCESS");
        assert_eq!(world.events("factor_reset").await, 1);
    }

    async fn passkeys_go_with_their_member_and_stand_in_the_export_by_name(engine) {
        let world = World::with_factors(engine).await;
        let (access, mut passkey) = world.with_passkey("anna@example.org").await;
        assert_eq!(world.prove_by_passkey(&access, &mut passkey).await, "200");
        let export = world.own(&access, Method::GET, "export", Value::Null).await.json();
        let factor = &export["factors"][0];
        assert_eq!(factor.as_object().unwrap().keys().collect::<Vec<_>>(), ["type", "name", "createdDate", "lastUsedDate"]);
        assert_eq!((&factor["type"], &factor["name"]), (&json!("WEBAUTHN"), &json!("Laptop")));
        let path = format!("/members/v1/members/{}", world.id_of("anna@example.org").await);
        assert_eq!(world.app.app().delete(&path).await.verdict(), "200");
        for table in ["passkey", "factor_guard", "recovery_code"] {
            assert_eq!(world.count(table).await, 0, "{table}");
        }
        // What is left says that some challenges were answered, for a day.
        assert_eq!(world.count("passkey_challenge").await, 2);
        world.app.kit.clock.advance(25 * 60 * 60_000);
        world.app.app.identity.retention_run(&world.app.site).await;
        assert_eq!(world.count("passkey_challenge").await, 0);
    }
}
