//! What codes by telephone cost: who makes a server send them to numbers that pay, and what happens when the provider fails.

use super::{
    phone::{ByPhone, MINUTE, Phones, THROTTLED, field},
    *,
};
use std::time::Duration;
use stoa_identity::{
    defence::throttle::{Rate, ThrottleLimits},
    telephone::DayLimits,
};
use stoa_kernel::Secret;
use stoa_outbound::{TelephoneCounts, TelephoneLimits};

const DAY: i64 = 24 * 60 * MINUTE;
const FAILED: &str = "503 UNAVAILABLE";
/// More than a test sends.
const MANY: DayLimits = DayLimits { number: 1_000, member: 1_000, prefix: 1_000, site: 1_000 };

impl Phones {
    /// A site that sends so much in a day.
    async fn sending(engine: Engine, daily: DayLimits) -> Self {
        Self::with(engine, |config| Config { telephone_daily: daily, ..config }).await
    }

    /// Members with numbers of their own.
    async fn members(&self, count: usize) -> Vec<ByPhone> {
        let mut members = Vec::new();
        for n in 0..count {
            members.push(self.by_message(&format!("member{n}@example.org"), &format!("+491511234567{n}")).await);
        }
        members
    }

    fn counts(&self) -> TelephoneCounts {
        self.app.app.identity.telephone_counts()
    }
}

/// After how many seconds it is worth another try.
fn retry_after(reply: &Reply) -> Value {
    reply.json()["details"]["applicationError"]["data"]["retryAfterSeconds"].clone()
}

/// Seconds to wait for.
fn wait(reply: &Reply) -> i64 {
    assert_eq!(reply.verdict(), THROTTLED);
    retry_after(reply).as_i64().unwrap()
}

on_both_engines! {
    async fn numbers_of_other_countries_are_sent_nothing(engine) {
        let world = Phones::with(engine, |mut config| {
            let telephone = config.telephone.as_mut().unwrap();
            telephone.prefixes = ["49", "1212"].map(str::to_owned).to_vec();
            telephone.except = ["49900", "491805"].map(str::to_owned).to_vec();
            config
        }).await;
        let access = world.proved("anna@example.org").await;
        // A neighbour of a country that is allowed, islands with its calling code, satellites, and numbers that cost more, also
        // as they are dialled at home.
        for number in [
            "+33612345678", "+18765551234", "+12425551234", "+881612345678", "+97912345678", "+4312345678",
            "+49 900 1234567", "+49 (0)900 1234567", "+49 00900 1234567", "+49 1805 123456",
        ] {
            for kind in ["SMS", "CALL"] {
                let refused = world.begin(&access, kind, number).await;
                assert_eq!((refused.status, field(&refused)), (StatusCode::BAD_REQUEST, json!("phone")), "{number}");
            }
        }
        assert_eq!((world.exchange.asked(), world.count("phone_count").await), (0, 0));
        assert_eq!(world.begin(&access, "SMS", "+12125551234").await.verdict(), "200");
        assert_eq!(world.begin(&access, "CALL", "+4915112345678").await.verdict(), "200");
        assert_eq!(world.exchange.rung().len(), 2);
    }

    async fn site_sends_so_many_a_day_however_many_ask_at_once(engine) {
        let world = Phones::sending(engine, DayLimits { site: 10, ..MANY }).await;
        let members = world.members(3).await;
        let mut tokens = Vec::new();
        for member in &members {
            tokens.push(world.asked(member).await);
        }
        let tries = join_all((0..100).map(|n| world.ask(&tokens[n % 3], "SMS"))).await;
        assert!(tries.iter().all(|it| ["200", THROTTLED].contains(&it.verdict().as_str())));
        let sent = world.exchange.rung().len();
        assert!((1..=7).contains(&sent), "{sent}");
        // With others between them: there is room for the rest, and for no more.
        for n in sent..7 {
            assert_eq!(world.ask(&tokens[n % 3], "SMS").await.verdict(), "200");
        }
        assert_eq!(sent + world.exchange.rung().len(), 7, "and three that members were added by");
        let refused = world.ask(&tokens[0], "SMS").await;
        assert!((1..=24 * 3_600).contains(&wait(&refused)));
        let refused = world.post_own(&members[1].access, "proof", json!({ "smsData": {} })).await;
        assert_eq!((refused.verdict().as_str(), world.exchange.asked()), (THROTTLED, 10));
        // Those who have kept their recovery codes get in, and a day later there is room again.
        world.app.kit.clock.advance(DAY);
        let token = world.asked(&members[0]).await;
        assert_eq!(world.ask(&token, "SMS").await.verdict(), "200");
        assert_eq!(world.counts(), TelephoneCounts { messages: 11, ..TelephoneCounts::default() });
    }

    async fn who_adds_numbers_keeps_no_member_out(engine) {
        let world = Phones::sending(engine, DayLimits { site: 6, ..MANY }).await;
        let members = world.members(1).await;
        // Another has as many codes sent as they can, to numbers that they have nothing of.
        let eve = world.proved("eve@example.org").await;
        let mut verdicts = Vec::new();
        for n in 0..6 {
            verdicts.push(world.begin(&eve, "SMS", &format!("+491600000000{n}")).await.verdict());
        }
        assert_eq!(verdicts, ["200", "200", THROTTLED, THROTTLED, THROTTLED, THROTTLED], "half of what the site sends");
        let token = world.asked(&members[0]).await;
        for _ in 0..3 {
            assert_eq!(world.ask(&token, "SMS").await.verdict(), "200");
        }
        assert_eq!(world.ask(&token, "SMS").await.verdict(), THROTTLED);
        assert_eq!(world.exchange.rung().len(), 5);
    }

    async fn who_adds_the_number_of_another_keeps_them_out_of_nothing(engine) {
        let world = Phones::sending(engine, DayLimits { number: 6, prefix: 12, ..MANY }).await;
        let anna = world.by_message("anna@example.org", "+4915112345678").await;
        let eve = world.proved("eve@example.org").await;
        let mut verdicts = Vec::new();
        for number in ["+49 151 12345678", "+49 (0)151 12345678", "+49 00 151/12345678", "+4915112345678"] {
            for kind in ["SMS", "CALL"] {
                verdicts.push(world.begin(&eve, kind, number).await.verdict() == "200");
            }
        }
        assert_eq!(verdicts, [true, true, false, false, false, false, false, false], "one number, however it is written");
        // The rest of what may be added of the country goes to other numbers.
        let mut verdicts = Vec::new();
        for n in 0..5 {
            verdicts.push(world.begin(&eve, "CALL", &format!("+491600000000{n}")).await.verdict() == "200");
        }
        assert_eq!(verdicts, [true, true, true, false, false]);
        world.exchange.rung();
        let token = world.asked(&anna).await;
        for _ in 0..3 {
            assert_eq!(world.ask(&token, "SMS").await.verdict(), "200");
        }
        assert_eq!((world.ask(&token, "SMS").await.verdict().as_str(), world.exchange.rung().len()), (THROTTLED, 3));
    }

    async fn number_member_and_country_get_so_many_a_day(engine) {
        for (limits, what) in [
            (DayLimits { number: 6, ..MANY }, "number"),
            (DayLimits { member: 3, ..MANY }, "member"),
            (DayLimits { prefix: 6, ..MANY }, "prefix"),
        ] {
            let world = Phones::sending(engine, limits).await;
            // Each of the two gets a number, and both have the first one's for calls.
            let (anna, ben) = (world.proved("anna@example.org").await, world.proved("ben@example.org").await);
            world.add(&anna, "SMS", "+4915112345678").await;
            let mut verdicts = Vec::new();
            for (access, number) in [
                (&anna, "+4915112345678"),
                (&ben, "+4915112345678"),
                (&ben, "+4915112345678"),
                (&anna, "+4915112345670"),
                (&ben, "+4915112345671"),
                (&anna, "+15005550001"),
                (&ben, "+15005550001"),
                (&anna, "+15005550002"),
            ] {
                verdicts.push(world.begin(access, "CALL", number).await.verdict() == "200");
            }
            let expected = match what {
                // Three to one number, from any member.
                "number" => [true, true, false, true, true, true, true, true],
                // Anna has had one to begin with.
                "member" => [true, true, true, true, true, false, false, false],
                // Three that begin with 49, and others beside them.
                _ => [true, true, false, false, false, true, true, true],
            };
            assert_eq!(verdicts, expected, "{what}");
            let sent = world.exchange.rung().len();
            assert_eq!(sent, expected.iter().filter(|it| **it).count(), "{what}");
        }
    }

    async fn network_asks_for_few_whichever_members_it_has(engine) {
        let telephone = Rate { burst: 4.0, per_second: 0.01 };
        let world = Phones::with(engine, |config| {
            Config { throttle: ThrottleLimits { telephone, ..ThrottleLimits::default() }, ..config }
        }).await;
        let members = world.members(2).await;
        let mut verdicts = Vec::new();
        for member in &members {
            let token = world.asked(member).await;
            verdicts.push(world.ask(&token, "SMS").await.verdict());
            verdicts.push(world.post_own(&member.access, "proof", json!({ "smsData": {} })).await.verdict());
        }
        assert_eq!(verdicts, ["200", "200", THROTTLED, THROTTLED]);
        let browser = world.browser();
        let view = browser.password(&members[1].email).await;
        let resend = json!({ "type": "RESEND", "factor": "SMS" });
        let view = browser.answer(&text(&view["token"]), resend).await;
        assert_eq!(view["problems"][0]["code"], "THROTTLED_FEATURE");
        assert_eq!(world.exchange.asked(), 4);
        // Other ways are not used up with it.
        let access = world.proved("carl@example.org").await;
        assert_eq!(world.post_own(&access, "factors", json!({ "type": "EMAIL" })).await.verdict(), "200");
    }

    async fn network_gets_back_what_was_shown_there(engine) {
        let telephone = Rate { burst: 3.0, per_second: 0.01 };
        let world = Phones::with(engine, |config| {
            Config { throttle: ThrottleLimits { telephone, ..ThrottleLimits::default() }, ..config }
        }).await;
        let anna = world.by_message("anna@example.org", "+4915112345678").await;
        // An office signs in all day. What shows the number in the first place stays counted.
        for _ in 0..4 {
            let (token, code) = world.challenge_by_message(&anna).await;
            assert_eq!(world.verify(&token, "SMS", &code).await.json()["state"], "SUCCESS");
            assert_ne!(world.verify(&token, "SMS", &code).await.verdict(), "200", "once");
        }
        assert_eq!(world.prove_by_message(&anna.access).await, "200");
        let token = world.asked(&anna).await;
        let mut verdicts = Vec::new();
        for _ in 0..3 {
            verdicts.push(world.ask(&token, "SMS").await.verdict());
        }
        assert_eq!(verdicts, ["200", "200", THROTTLED]);
    }

    async fn stolen_session_leaves_codes_to_sign_in_by(engine) {
        let world = Phones::sending(engine, DayLimits { member: 6, number: 6, ..MANY }).await;
        let anna = world.by_message("anna@example.org", "+4915112345678").await;
        let mut verdicts = Vec::new();
        for _ in 0..5 {
            verdicts.push(world.post_own(&anna.access, "proof", json!({ "smsData": {} })).await.verdict());
        }
        assert_eq!(verdicts, ["200", "200", "200", THROTTLED, THROTTLED], "half of what the member gets");
        let token = world.asked(&anna).await;
        for expected in ["200", "200", THROTTLED] {
            assert_eq!(world.ask(&token, "SMS").await.verdict(), expected);
        }
    }

    async fn member_gets_few_codes_an_hour_however_many_are_asked_for(engine) {
        let world = Phones::sending(engine, MANY).await;
        let anna = world.by_message("anna@example.org", "+4915112345678").await;
        let token = world.asked(&anna).await;
        let tries = join_all((0..100).map(|_| world.ask(&token, "SMS"))).await;
        assert!(tries.iter().all(|it| ["200", THROTTLED].contains(&it.verdict().as_str())));
        let sent = world.exchange.rung().len();
        assert!((1..=10).contains(&sent), "{sent}");
        for _ in sent..10 {
            assert_eq!(world.ask(&token, "SMS").await.verdict(), "200");
        }
        // Messages of all kinds are counted together.
        assert_eq!(world.ask(&token, "SMS").await.verdict(), THROTTLED);
        let start = json!({ "identityId": world.id_of(&anna.email).await, "target": "EMAIL" });
        assert_eq!(world.call(&anna.access, "/v1/start", &start).await.verdict(), THROTTLED);
    }

    async fn provider_that_fails_is_asked_once_and_then_left_alone(engine) {
        let world = Phones::sending(engine, MANY).await;
        let access = world.proved("anna@example.org").await;
        for (status, error) in [(500, 20_500), (403, 20_003), (302, 0)] {
            world.exchange.refuses(status, error);
            for _ in 0..3 {
                let failed = world.begin(&access, "SMS", "+4915112345678").await;
                assert_eq!(failed.verdict(), FAILED, "{status}");
                assert!(!failed.json().to_string().contains(&error.to_string()) || error == 0, "{}", failed.json());
            }
            assert_eq!(world.exchange.asked(), 3, "{status}: each once");
            let counted = world.count("phone_count").await;
            assert_eq!(world.begin(&access, "SMS", "+15005550001").await.verdict(), FAILED);
            assert_eq!((world.exchange.asked(), world.count("phone_count").await), (0, counted), "{status}: nothing in vain");
            world.app.kit.clock.advance(60_001);
            // One message looks whether it is back.
            world.exchange.recovers();
            assert_eq!(world.begin(&access, "SMS", "+4915112345678").await.verdict(), "200", "{status}");
            assert_eq!((world.exchange.asked(), world.exchange.rung().len()), (1, 1));
            world.app.kit.clock.advance(61 * MINUTE);
            assert_eq!(world.prove(&access, json!({ "password": PASSWORD })).await, "200");
        }
        assert_eq!(world.login("anna@example.org", PASSWORD).await["state"], "SUCCESS", "nothing was added");
    }

    async fn number_that_the_provider_refuses_is_told_and_stops_nobody(engine) {
        let world = Phones::sending(engine, MANY).await;
        let eve = world.proved("eve@example.org").await;
        for (status, error) in [(400, 21_211), (403, 21_408)] {
            world.exchange.refuses(status, error);
            for _ in 0..4 {
                let refused = world.begin(&eve, "SMS", "+4900000000").await;
                assert_eq!((refused.status, field(&refused)), (StatusCode::BAD_REQUEST, json!("phone")));
            }
            assert_eq!(world.exchange.asked(), 4);
        }
        // What is about the number of the operator is not blamed on this one, nor kept from others.
        world.app.kit.clock.advance(61 * MINUTE);
        let eve = world.proved("eva@example.org").await;
        world.exchange.refuses(400, 21_606);
        for _ in 0..4 {
            let failed = world.begin(&eve, "SMS", "+4915112345670").await;
            assert_eq!((failed.verdict().as_str(), retry_after(&failed)), (FAILED, json!(60)));
        }
        assert_eq!(world.exchange.asked(), 4);
        world.exchange.recovers();
        let anna = world.by_message("anna@example.org", "+4915112345678").await;
        // One that it takes no more: the member is told that another way is needed.
        world.exchange.refuses(400, 21_610);
        let token = world.asked(&anna).await;
        let failed = world.ask(&token, "SMS").await;
        assert_eq!((failed.verdict().as_str(), retry_after(&failed)), (FAILED, Value::Null), "later is no better");
        assert!(text(&failed.json()["message"]).contains("use another way"), "{}", failed.json());
        assert_eq!(world.counts(), TelephoneCounts { messages: 1, refused: 9, failed: 4, calls: 0 });
    }

    async fn answer_that_is_lost_sends_nothing_again(engine) {
        let world = Phones::with(engine, |mut config| {
            config.telephone.as_mut().unwrap().limits.timeout = Duration::from_secs(3);
            config
        }).await;
        let anna = world.by_message("anna@example.org", "+4915112345678").await;
        let token = world.asked(&anna).await;
        world.exchange.hangs();
        world.exchange.asked();
        // What may have arrived counts: in a sign-in, in a session, and for a number that is added.
        let (sent, rung) = world.rung_by(world.ask(&token, "SMS")).await;
        let signed = world.verify(&sent.json()["stateToken"], "SMS", &rung.code).await;
        assert_eq!(signed.json()["state"], "SUCCESS", "{}", signed.json());
        assert_eq!(world.prove_by_message(&anna.access).await, "200");
        world.add(&anna.access, "CALL", "+15005550001").await;
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!((world.exchange.asked(), world.exchange.rung().len()), (3, 0), "each went out once");
        // The provider fails all the same, and is left alone.
        let failed = world.post_own(&anna.access, "proof", json!({ "smsData": {} })).await;
        assert_eq!((failed.verdict().as_str(), world.exchange.asked()), (FAILED, 0));
        assert_eq!(world.counts(), TelephoneCounts { messages: 1, failed: 4, ..TelephoneCounts::default() });
    }

    async fn message_is_counted_though_who_asked_hangs_up(engine) {
        let world = Phones::with(engine, |mut config| {
            config.telephone.as_mut().unwrap().limits.timeout = Duration::from_secs(3);
            config
        }).await;
        let anna = world.by_message("anna@example.org", "+4915112345678").await;
        let token = world.asked(&anna).await;
        world.exchange.hangs();
        world.exchange.asked();
        let asked = async {
            while world.exchange.asked() == 0 {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::select! {
            reply = world.ask(&token, "SMS") => panic!("{}", reply.verdict()),
            () = asked => {}
        }
        for _ in 0..300 {
            if world.counts().failed > 0 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        assert_eq!(world.counts(), TelephoneCounts { messages: 1, failed: 1, ..TelephoneCounts::default() });
    }

    async fn provider_with_another_secret_gets_no_code_out(engine) {
        let world = Phones::with(engine, |mut config| {
            config.telephone.as_mut().unwrap().provider.secret = Secret::new("another");
            config.telephone.as_mut().unwrap().limits = TelephoneLimits::default();
            config
        }).await;
        let access = world.proved("anna@example.org").await;
        assert_eq!(world.begin(&access, "SMS", "+4915112345678").await.verdict(), FAILED);
        assert_eq!((world.exchange.asked(), world.exchange.rung().len()), (1, 0));
    }
}
