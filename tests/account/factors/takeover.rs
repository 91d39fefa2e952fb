//! Second factors as a weapon: of strangers who register the address of others, of thieves of a password or a session.

use super::*;

on_both_engines! {
    async fn stranger_who_registers_an_address_keeps_its_owner_out_by_no_factor(engine) {
        let world = World::with_factors(engine).await;
        let stranger = world.unproven_access("anna@example.org").await;
        assert_eq!(world.prove(&stranger, json!({ "password": PASSWORD })).await, "200");
        assert_eq!(world.post_own(&stranger, "factors", json!({})).await.verdict(), UNPROVEN);
        assert_eq!(world.count("factor").await, 0);
        let recover = json!({ "recoveryToken": world.recovery_link("anna@example.org").await, "password": ANOTHER });
        let owner = world.call(&world.visitor().await, "/v1/recover", &recover).await.json();
        assert_eq!(owner["state"], "SUCCESS");
        let own = world.access_of(&owner["sessionToken"]).await;
        world.enrol(&own, json!({ "password": ANOTHER })).await;

        // Nor does one who began while another address was theirs, or had a factor there before.
        let ben = world.enrolled("ben@example.org").await;
        let begun = world.post_own(&ben.access, "factors", json!({})).await.json();
        world.move_to(&ben.email, "carl@example.org").await;
        let confirm = format!("factors/{}/confirm", text(&begun["factor"]["id"]));
        let code = json!({ "code": world.totp(&text(&begun["secret"]), 0) });
        assert_eq!(world.post_own(&ben.access, &confirm, code).await.verdict(), UNPROVEN);
        let vouch = json!({ "loginId": { "email": "carl@example.org" } });
        assert!(world.app.app().post("/v2/sign-on", &vouch).await.json()["sessionToken"].is_string());
        assert_eq!((world.count("factor").await, world.count("recovery_code").await), (1, 10), "those of Anna");
        assert_eq!(world.events("factor_reset").await, 1);
        let recover = json!({ "recoveryToken": world.recovery_link("carl@example.org").await, "password": ANOTHER });
        let owner = world.call(&world.visitor().await, "/v1/recover", &recover).await.json();
        assert_eq!(owner["state"], "SUCCESS");
    }

    async fn code_counts_once_among_a_hundred_at_sign_in_and_as_proof(engine) {
        let world = World::with_factors(engine).await;
        let anna = world.enrolled("anna@example.org").await;
        let (totp, recovery) = (world.totp(&anna.secret, 0), anna.recovery_codes[0].as_str());
        for shown in [json!({ "totpData": { "code": totp } }), json!({ "recoveryCodeData": { "code": recovery } })] {
            let token = world.challenge(&anna).await;
            let tries = (0..100).map(|n| {
                let (world, anna, shown, token) = (&world, &anna, &shown, &token);
                async move {
                    match (n % 2 == 0, shown["totpData"].is_object()) {
                        (false, _) => world.prove(&anna.access, shown.clone()).await,
                        (true, true) => world.verify_totp(token, shown["totpData"]["code"].as_str().unwrap()).await.verdict(),
                        (true, false) => world.verify_recovery(token, recovery).await.verdict(),
                    }
                }
            });
            let verdicts = join_all(tries).await;
            assert_eq!(verdicts.iter().filter(|it| *it == "200").count(), 1, "{shown}: {verdicts:?}");
            let known = ["200", WRONG, "429 THROTTLED_FEATURE"];
            assert!(verdicts.iter().all(|it| known.contains(&it.as_str())), "{shown}: {verdicts:?}");
        }
    }

    async fn changes_of_factors_are_few(engine) {
        let world = World::with_factors(engine).await;
        let anna = world.enrolled("anna@example.org").await;
        // A session without proof uses up nothing.
        let token = world.challenge(&anna).await;
        let signed = world.verify_recovery(&token, &anna.recovery_codes[0]).await.json();
        let stolen = world.access_of(&signed["sessionToken"]).await;
        for _ in 0..30 {
            assert_eq!(world.post_own(&stolen, "recovery-codes", json!({})).await.verdict(), NEEDED);
        }
        world.app.mail.take();
        let tries = join_all((0..100).map(|_| world.post_own(&anna.access, "recovery-codes", json!({})))).await;
        let done = tries.iter().filter(|it| it.verdict() == "200").count();
        assert!((10..=20).contains(&done), "{done}");
        assert!(tries.iter().all(|it| ["200", "429 THROTTLED_FEATURE"].contains(&it.verdict().as_str())));
        assert!(world.subjects().await.len() <= done && world.events("recovery_code_renew").await == done);
        let remove = format!("factors/{}", anna.id);
        for (method, path) in [(Method::POST, "factors"), (Method::POST, "factors/none/confirm"), (Method::DELETE, remove.as_str())] {
            let reply = world.own(&anna.access, method, path, json!({ "code": "123456" })).await;
            assert_eq!(reply.verdict(), "429 THROTTLED_FEATURE", "{path}");
        }
        // Others notice nothing, and there is room again later.
        world.enrolled("ben@example.org").await;
        world.app.kit.clock.advance(60_000);
        assert_eq!(world.own(&anna.access, Method::DELETE, &remove, json!({})).await.verdict(), "200");
    }

    async fn proofs_of_other_sessions_end_with_a_change(engine) {
        let world = World::with_factors(engine).await;
        let own = world.member_access("anna@example.org").await;
        let thief = async || {
            let signed = world.login("anna@example.org", PASSWORD).await;
            let access = world.access_of(&signed["sessionToken"]).await;
            assert_eq!(world.prove(&access, json!({ "password": PASSWORD })).await, "200");
            access
        };
        let stolen = thief().await;
        let (id, ..) = world.enrol(&own, json!({ "password": PASSWORD })).await;
        let remove = format!("factors/{id}");
        let tries = [(Method::DELETE, remove.as_str()), (Method::POST, "recovery-codes"), (Method::POST, "factors")];
        for (method, path) in tries {
            assert_eq!(world.own(&stolen, method, path, json!({})).await.verdict(), NEEDED, "{path}");
        }
        // The session that acted goes on.
        assert_eq!(world.own(&own, Method::DELETE, &remove, json!({})).await.verdict(), "200");
        let stolen = thief().await;
        world.enrol(&stolen, json!({ "password": PASSWORD })).await;
        let reset = format!("{OWN}/members/{}/factors", world.id_of("anna@example.org").await);
        assert_eq!(world.app.app().delete(&reset).await.json(), json!({ "removed": 1 }));
        assert_eq!(world.post_own(&stolen, "factors", json!({})).await.verdict(), NEEDED);
    }
}
