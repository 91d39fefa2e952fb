//! How often a member's browsers are asked: who has the password can not ask until somebody gives in.

use super::{
    phone::offered,
    push::{MINUTE, Pushes, THROTTLED, at},
    *,
};
use stoa_identity::defence::throttle::{Rate, ThrottleLimits};

on_both_engines! {
    async fn questions_without_an_approval_wait_longer_each_time(engine) {
        let world = Pushes::new(engine).await;
        let anna = world.holder("anna@example.org").await;
        for _ in 0..5 {
            world.asked(&anna).await;
        }
        // The sixth after an hour, the seventh after two more.
        for hours in [1, 2] {
            let state = world.waiting(&anna).await;
            let refused = world.ask(&state).await;
            assert_eq!(refused.verdict(), THROTTLED);
            let wait = refused.json()["details"]["applicationError"]["data"]["retryAfterSeconds"].as_i64();
            assert_eq!(wait, Some(hours * 3_600), "{}", refused.json());
            world.app.kit.clock.advance(hours * 60 * MINUTE - 1);
            assert_eq!(world.ask(&world.waiting(&anna).await).await.verdict(), THROTTLED);
            world.app.kit.clock.advance(1);
            world.asked(&anna).await;
        }
        // Pages say so, and name the other ways.
        let browser = world.browser();
        let view = browser.password(&anna.email).await;
        let refused = browser.ask_push(&view, false).await;
        assert_eq!((at(&refused), &refused["problems"][0]["field"]), (("SECOND_FACTOR", Some("THROTTLED_FEATURE")), &json!("push")));
        assert_eq!(refused["step"]["factors"], json!(["RECOVERY_CODE"]), "it would outlast the sign-in");
        assert!(world.service.is_quiet().await, "what is refused asks nothing");
        // One that is approved ends the waiting.
        world.app.kit.clock.advance(4 * 60 * MINUTE);
        let asked = world.asked(&anna).await;
        assert_eq!(world.approve(&asked).await, "200");
        assert_eq!(world.stands(&asked.state, &asked.id).await.json()["state"], "SUCCESS");
        for _ in 0..5 {
            world.asked(&anna).await;
        }
        assert_eq!(world.ask(&world.waiting(&anna).await).await.verdict(), THROTTLED);
        // Other ways go on, and other members.
        let state = world.waiting(&anna).await;
        assert_eq!(world.verify_recovery(&state, &anna.recovery_codes[0]).await.json()["state"], "SUCCESS");
        // Any factor that was right ends the waiting.
        for _ in 0..5 {
            world.asked(&anna).await;
        }
        assert_eq!(world.ask(&world.waiting(&anna).await).await.verdict(), THROTTLED);
        let ben = world.holder("ben@example.org").await;
        world.asked(&ben).await;
    }

    async fn few_questions_are_forgotten_after_an_hour(engine) {
        let world = Pushes::new(engine).await;
        let anna = world.holder("anna@example.org").await;
        for _ in 0..4 {
            world.asked(&anna).await;
        }
        world.app.kit.clock.advance(60 * MINUTE);
        for _ in 0..5 {
            world.asked(&anna).await;
        }
        assert_eq!(world.ask(&world.waiting(&anna).await).await.verdict(), THROTTLED);
    }

    async fn approved_questions_are_bounded_too(engine) {
        let world = Pushes::new(engine).await;
        let anna = world.holder("anna@example.org").await;
        for _ in 0..60 {
            assert_eq!(world.prove_by_push(&anna.access).await, "200");
        }
        let refused = world.post_own(&anna.access, "proof", json!({ "pushData": {} })).await;
        assert_eq!(refused.verdict(), THROTTLED);
        let wait = refused.json()["details"]["applicationError"]["data"]["retryAfterSeconds"].as_i64();
        assert_eq!(wait, Some(3_600), "{}", refused.json());
        world.app.kit.clock.advance(60 * MINUTE);
        world.asked(&anna).await;
    }

    async fn two_denials_pause_the_questions_for_an_hour(engine) {
        let world = Pushes::new(engine).await;
        let anna = world.holder("anna@example.org").await;
        let first = world.asked(&anna).await;
        assert_eq!(world.deny(&first).await, "200");
        // Later than an hour it is the first again.
        world.app.kit.clock.advance(60 * MINUTE);
        let second = world.asked(&anna).await;
        assert_eq!(world.deny(&second).await, "200");
        world.app.kit.clock.advance(1);
        let kept = world.waiting(&anna).await;
        let third = world.asked(&anna).await;
        let wrong = json!({ "number": third.wrong_number() });
        assert_eq!(world.answer(&third.token, wrong).await.verdict(), WRONG, "a wrong number counts as a denial");
        assert_eq!(world.events("push_deny").await, 3);
        // Sign-ins from now on don't offer it, and one from before gets none.
        let asked = world.login(&anna.email, PASSWORD).await;
        assert_eq!(offered(&asked), ["RECOVERY_CODE"]);
        assert_eq!(world.ask(&kept).await.status, StatusCode::BAD_REQUEST);
        assert_eq!(world.post_own(&anna.access, "proof", json!({ "pushData": {} })).await.verdict(), THROTTLED);
        assert!(world.service.is_quiet().await);
        assert_eq!(world.verify_recovery(&asked["stateToken"], &anna.recovery_codes[0]).await.json()["state"], "SUCCESS");
        world.app.kit.clock.advance(60 * MINUTE);
        let asked = world.asked(&anna).await;
        assert_eq!(world.approve(&asked).await, "200");
        assert_eq!(world.stands(&asked.state, &asked.id).await.json()["state"], "SUCCESS");
    }

    async fn few_are_asked_however_many_ask_at_once(engine) {
        let world = Pushes::new(engine).await;
        let anna = world.holder("anna@example.org").await;
        let state = world.waiting(&anna).await;
        let asked = join_all((0..100).map(|_| world.ask(&state))).await;
        assert_eq!(asked.iter().filter(|it| it.verdict() == "200").count(), 5);
        assert!(asked.iter().all(|it| ["200", THROTTLED].contains(&it.verdict().as_str())));
        // Each of them took the place of the one before: one can be answered.
        let pushed = world.service.next(5).await;
        let mut open = 0;
        for message in &pushed {
            open += usize::from(world.question(&text(&message.content["token"])).await.verdict() == "200");
        }
        assert_eq!((open, world.count("push_question").await), (1, 1));
    }

    async fn guesses_at_tokens_are_bounded_by_their_network(engine) {
        let address = Rate { burst: 8.0, per_second: 0.01 };
        let throttle = ThrottleLimits { address, ..ThrottleLimits::default() };
        let world = World::with(engine, Config { throttle, ..Config::default() }).await;
        let mut verdicts = Vec::new();
        for n in 0..10 {
            let body = json!({ "token": format!("q{}.{n:0>43}", world.app.site.number) });
            verdicts.push(world.browser().ask(Method::POST, "/_api/identity/v1/push-questions", Some(&body)).await.verdict());
        }
        assert_eq!(verdicts.iter().filter(|it| *it == "404 NOT_FOUND").count(), 8, "{verdicts:?}");
        assert!(verdicts[8..].iter().all(|it| it == THROTTLED), "{verdicts:?}");
        let body = json!({ "token": format!("q{}.{}", world.app.site.number, "A".repeat(43)), "denied": true });
        let answered = world.browser().ask(Method::POST, "/_api/identity/v1/push-questions/answer", Some(&body)).await;
        assert_eq!(answered.verdict(), THROTTLED);
    }
}
