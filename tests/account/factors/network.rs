//! Many addresses are counted together by their network, whichever member they guess at.

use super::{operator_factors::OLGA, *};
use stoa_identity::defence::throttle::{Rate, ThrottleLimits};

impl World {
    /// Eight attempts of a network go through at once.
    async fn with_eight_attempts(engine: Engine) -> Self {
        let address = Rate { burst: 8.0, per_second: 0.01 };
        let throttle = ThrottleLimits { address, ..ThrottleLimits::default() };
        Self::with(engine, Config { throttle, ..Config::default() }).await
    }

    /// What was tried ten times. Then the network is free again.
    fn was_bounded(&self, verdicts: &[String], refused: &str, throttled: &str) {
        assert!(verdicts[..8].iter().all(|it| it == refused), "{verdicts:?}");
        assert!(verdicts[8..].iter().all(|it| it == throttled), "{verdicts:?}");
        self.app.kit.clock.advance(20 * 60_000);
    }
}

on_both_engines! {
    async fn guesses_of_one_network_are_bounded(engine) {
        let world = World::with_eight_attempts(engine).await;
        world.policy(json!({ "secondFactor": "OPTIONAL" })).await;
        let mut members = Vec::new();
        for n in 0..3 {
            members.push(world.enrolled(&format!("member{n}@example.org")).await);
        }
        let mut verdicts = Vec::new();
        for member in &members {
            let token = world.challenge(member).await;
            for _ in 0..4 {
                verdicts.push(world.verify_totp(&token, &wrong(&world, &member.secret)).await.verdict());
            }
        }
        assert_eq!(verdicts.iter().filter(|it| *it == WRONG).count(), 8, "{verdicts:?}");
        assert!(verdicts[8..].iter().all(|it| it == "429 THROTTLED_FEATURE"), "{verdicts:?}");
    }

    async fn what_has_not_the_form_of_a_passkey_counts_for_its_network_in_every_way(engine) {
        let world = World::with_eight_attempts(engine).await;
        world.policy(json!({ "secondFactor": "OPTIONAL" })).await;
        let (access, mut passkey) = world.with_passkey("anna@example.org").await;
        world.member_access("ben@example.org").await;
        let junk = json!({ "challengeId": "x", "credential": "{}" });

        let token = world.login("anna@example.org", PASSWORD).await["stateToken"].clone();
        let visitor = world.visitor().await;
        let mut verdicts = Vec::new();
        for _ in 0..10 {
            let body = json!({ "stateToken": token, "webauthnData": junk });
            verdicts.push(world.call(&visitor, "/v2/WEBAUTHN/verify", &body).await.verdict());
        }
        world.was_bounded(&verdicts, WRONG, "429 THROTTLED_FEATURE");

        let mut verdicts = Vec::new();
        for _ in 0..10 {
            verdicts.push(world.show_proof(&access, "x", "{}").await);
        }
        world.was_bounded(&verdicts, WRONG, "429 THROTTLED_FEATURE");

        assert_eq!(world.prove_by_passkey(&access, &mut passkey).await, "200", "one that is right isn't counted");
        let (id, _) = world.begin_passkey(&access).await;
        let mut verdicts = Vec::new();
        for _ in 0..10 {
            verdicts.push(world.confirm_passkey(&access, &id, "{}", Value::Null).await.verdict());
        }
        world.was_bounded(&verdicts, WRONG, "429 THROTTLED_FEATURE");

        world.policy(json!({ "secondFactor": "REQUIRED", "secondFactorGraceDays": 0 })).await;
        let browser = world.browser();
        let view = browser.password("ben@example.org").await;
        assert_eq!(view["step"]["type"], "ENROL_FACTOR", "{view}");
        let mut codes = Vec::new();
        for _ in 0..10 {
            let input = json!({ "type": "CONFIRM_PASSKEY", "challengeId": "x", "credential": "{}" });
            codes.push(text(&browser.answer(&text(&view["token"]), input).await["problems"][0]["code"]));
        }
        world.was_bounded(&codes, "PASSKEY_REFUSED", "THROTTLED_FEATURE");
        assert_eq!(world.count("passkey").await, 1);
    }

    async fn what_has_not_the_form_of_a_passkey_counts_where_operators_show_it(engine) {
        let world = World::with_eight_attempts(engine).await;
        let olga = world.runner_without(OLGA).await;
        let junk = json!({ "webauthnData": { "challengeId": "x", "credential": "{}" } });
        let mut verdicts = Vec::new();
        for _ in 0..10 {
            verdicts.push(olga.prove_operator(junk.clone()).await);
        }
        world.was_bounded(&verdicts, WRONG, "429 THROTTLED_FEATURE");

        assert_eq!(olga.prove_operator(json!({ "password": PASSWORD })).await, "200");
        let mut verdicts = Vec::new();
        for _ in 0..10 {
            let added = olga.of_operator(Method::POST, "factors/x/confirm", json!({ "credential": "{}" })).await;
            verdicts.push(added.verdict());
        }
        world.was_bounded(&verdicts, WRONG, "429 THROTTLED_FEATURE");
    }
}
