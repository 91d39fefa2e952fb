//! Many addresses are counted together by their network, whichever member they guess at.

use super::*;
use stoa_identity::defence::throttle::{Rate, ThrottleLimits};

on_both_engines! {
    async fn guesses_of_one_network_are_bounded(engine) {
        let address = Rate { burst: 8.0, per_second: 0.01 };
        let throttle = ThrottleLimits { address, ..ThrottleLimits::default() };
        let world = World::with(engine, Config { throttle, ..Config::default() }).await;
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
}
