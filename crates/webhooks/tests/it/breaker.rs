//! When it is the endpoint that fails, and when it isn't.

use crate::common::{CREATED, Event, Got, ITEMS, Kit, Receiver, Reply, quick};
use serde_json::json;
use std::time::Duration;
use stoa_kernel::date;
use stoa_testkit::on_both_engines;
use stoa_webhooks::{Times, WebhookLimits};

fn is_bad(got: &Got) -> bool {
    Event::of(got).entity.starts_with("bad")
}

fn refuses_bad(got: &Got) -> Reply {
    Reply::Status(if is_bad(got) { 500 } else { 200 })
}

async fn pause(millis: u64) {
    tokio::time::sleep(Duration::from_millis(millis)).await;
}

on_both_engines! {
    async fn calls_that_fail_together_are_one_failure(engine) {
        let times = Times { probes: vec![3_000, 600_000], ..quick() };
        let kit = Kit::with(engine, times, WebhookLimits::default()).await;
        let receiver = Receiver::new().await;
        let (endpoint, _) = kit.endpoint(&receiver, &[CREATED], json!({ "format": "standard" })).await;
        let address = receiver.address().to_owned();
        drop(receiver);
        kit.insert_many((0..8).map(|it| format!("i{it}"))).await;
        kit.until(&endpoint.id, "open", |it| it["state"] == "OPEN").await;
        // All four that were on their way have failed by then.
        pause(300).await;
        let status = kit.status(&endpoint.id).await;
        let next = date::parse(status["nextAttempt"].as_str().unwrap()).unwrap();
        assert!(next - kit.world.now() < 4_000, "{status}");
        let receiver = Receiver::at(&address, |_| Reply::Status(200)).await;
        receiver.until(8).await;
        kit.until(&endpoint.id, "active", |it| it["state"] == "ACTIVE").await;
    }

    async fn receiver_that_says_at_once_is_not_called_at_once(engine) {
        let times = Times { probes: vec![200], ..quick() };
        let kit = Kit::with(engine, times, WebhookLimits::default()).await;
        let receiver = Receiver::answering(|_| Reply::With(503, "retry-after", "0")).await;
        let (endpoint, _) = kit.endpoint(&receiver, &[CREATED], json!({ "format": "standard" })).await;
        kit.insert("a", 1).await;
        kit.until(&endpoint.id, "open", |it| it["state"] == "OPEN").await;
        let before = receiver.got().len();
        pause(900).await;
        assert!(receiver.got().len() - before <= 5, "{} calls", receiver.got().len() - before);
        receiver.answer(|_| Reply::Status(200));
        receiver.until(1).await;
    }

    async fn endpoint_with_nothing_to_send_is_not_given_up(engine) {
        let times = Times { parked: vec![50; 2], without_success: 300, ..quick() };
        let kit = Kit::with(engine, times, WebhookLimits::default()).await;
        let receiver = Receiver::answering(refuses_bad).await;
        let (endpoint, _) = kit.endpoint(&receiver, &[CREATED], json!({ "format": "standard" })).await;
        kit.insert("bad", 1).await;
        kit.until(&endpoint.id, "given up", |it| it["dead"] == 1).await;
        pause(800).await;
        let status = kit.status(&endpoint.id).await;
        assert_eq!((&status["state"], status.get("failingSince")), (&json!("ACTIVE"), None));
        kit.insert("good", 1).await;
        receiver.until(1).await;
    }

    async fn event_that_waits_apart_is_given_up_after_the_endpoint_was_away(engine) {
        let times = Times { parked: vec![400, 100, 100], ..quick() };
        let kit = Kit::with(engine, times, WebhookLimits::default()).await;
        let receiver = Receiver::answering(refuses_bad).await;
        let (endpoint, _) = kit.endpoint(&receiver, &[CREATED], json!({ "format": "standard" })).await;
        kit.insert("bad", 1).await;
        kit.until(&endpoint.id, "parked", |it| it["parked"] == 1).await;
        let address = receiver.address().to_owned();
        drop(receiver);
        kit.until(&endpoint.id, "open", |it| it["state"] == "OPEN").await;
        // It is there again, and nothing else happens that it could be tried with.
        let receiver = Receiver::at(&address, refuses_bad).await;
        kit.until(&endpoint.id, "active", |it| it["state"] == "ACTIVE").await;
        kit.until(&endpoint.id, "given up", |it| it["dead"] == 1 && it["parked"] == 0).await;
        kit.insert("good", 1).await;
        receiver.until(1).await;
        assert_eq!(kit.status(&endpoint.id).await["state"], "ACTIVE");
    }

    async fn events_that_fail_keep_no_other_from_an_endpoint(engine) {
        let times = Times { parked: vec![60_000; 3], ..quick() };
        let kit = Kit::with(engine, times, WebhookLimits::default()).await;
        let receiver = Receiver::answering(refuses_bad).await;
        let (endpoint, _) = kit.endpoint(&receiver, &ITEMS, json!({ "format": "standard" })).await;
        kit.insert_many((0..3).map(|it| format!("bad{it}"))).await;
        kit.until(&endpoint.id, "open", |it| it["state"] == "OPEN").await;
        kit.insert("good", 1).await;
        receiver.until(1).await;
        // Those that were refused before are known to fail alone.
        kit.until(&endpoint.id, "parked", |it| it["parked"] == 3 && it["state"] == "ACTIVE").await;
        kit.insert("better", 1).await;
        receiver.until(2).await;
        assert_eq!(receiver.got().iter().filter(|it| !is_bad(it)).count(), 2, "each once");
    }
}
