//! Events that alone fail: retried, set apart with their entity, given up, sent once more.

use crate::common::{CREATED, Event, Got, ITEMS, Kit, Receiver, Reply, UPDATED, app, in_order, quick};
use serde_json::json;
use stoa_kernel::{Code, EndpointId};
use stoa_store::{ReaderPool, boxed};
use stoa_testkit::on_both_engines;
use stoa_webhooks::{EventPage, EventQuery, EventState, Replay, Times, WebhookLimits};

async fn list(kit: &Kit, id: &EndpointId, state: EventState) -> EventPage {
    let query = EventQuery { state, limit: 100, after: None };
    kit.webhooks.event_list(&kit.site, &app(), id, query).await.unwrap()
}

fn entities(page: &EventPage) -> Vec<String> {
    page.events.iter().map(|it| it.to_json()["entityId"].as_str().unwrap().to_owned()).collect()
}

fn is_of(got: &Got, entity: &str) -> bool {
    Event::of(got).entity == entity
}

on_both_engines! {
    async fn poison_event_delays_no_other_and_holds_its_entity(engine) {
        let times = Times { parked: vec![1_500; 3], ..quick() };
        let kit = Kit::with(engine, times, WebhookLimits::default()).await;
        let receiver = Receiver::answering(|got| match is_of(got, "bad") {
            true => Reply::Status(500),
            false => Reply::Status(200),
        }).await;
        let (endpoint, _) = kit.endpoint(&receiver, &ITEMS, json!({})).await;
        kit.insert("bad", 1).await;
        for n in 0..20 {
            kit.insert(&format!("good{n}"), 1).await;
        }
        receiver.until(20).await;
        kit.until(&endpoint.id, "parked", |it| it["parked"] == 1).await;
        // What comes later of the same item waits behind it, and others don't.
        kit.update("bad", 2).await;
        kit.insert("good20", 1).await;
        receiver.until(21).await;
        kit.until(&endpoint.id, "held", |it| it["parked"] == 2).await;
        let (parked, held) = (list(&kit, &endpoint.id, EventState::Parked).await, list(&kit, &endpoint.id, EventState::Held).await);
        assert_eq!((entities(&parked), entities(&held)), (vec!["bad".to_owned()], vec!["bad".to_owned()]));
        let shown = parked.events[0].to_json();
        assert_eq!((&shown["type"], &shown["lastError"]), (&json!(CREATED), &json!("the receiver answered 500")));
        assert_eq!(kit.status(&endpoint.id).await["state"], "ACTIVE");

        receiver.answer(|_| Reply::Status(200));
        kit.update("bad", 3).await;
        let taken = receiver.until(24).await;
        in_order(&taken);
        let bad: Vec<&str> = taken.iter().filter(|it| it.entity == "bad").map(|it| it.event_type.as_str()).collect();
        assert_eq!(bad, [CREATED, UPDATED, UPDATED]);
        kit.until(&endpoint.id, "drained", |it| it["parked"] == 0).await;
    }

    async fn event_that_fails_to_the_end_is_given_up_and_can_be_sent_once_more(engine) {
        let kit = Kit::new(engine).await;
        let receiver = Receiver::answering(|got| match Event::of(got).event_type == CREATED && is_of(got, "bad") {
            true => Reply::Status(400),
            false => Reply::Status(200),
        }).await;
        let (endpoint, _) = kit.endpoint(&receiver, &ITEMS, json!({})).await;
        kit.insert_into("c", json!({ "_id": "bad", "text": "a secret of somebody" })).await;
        kit.insert("good", 1).await;
        receiver.until(1).await;
        kit.until(&endpoint.id, "parked", |it| it["parked"] == 1).await;
        kit.update("bad", 2).await;
        // Three attempts early, three when parked: then it is dead, and the next of its entity is sent.
        kit.until(&endpoint.id, "dead", |it| it["dead"] == 1 && it["parked"] == 0).await;
        assert_eq!(receiver.taken().iter().filter(|it| it.entity == "bad").count(), 1);
        assert_eq!(receiver.got().iter().filter(|it| matches!(it.reply, Reply::Status(400))).count(), 6);
        let dead = list(&kit, &endpoint.id, EventState::Dead).await;
        assert_eq!((entities(&dead), dead.events[0].to_json()["attempts"].clone()), (vec!["bad".to_owned()], json!(3)));
        // What was given up holds no document.
        let payload = payloads(&kit).await;
        assert!(payload.len() == 1 && !payload[0].contains("secret") && payload[0].contains("\"ids\":[\"bad\"]"), "{payload:?}");

        receiver.answer(|_| Reply::Status(200));
        let replayed = kit.webhooks.replay(&kit.site, &app(), &endpoint.id, Replay::Dead).await.unwrap();
        assert_eq!(replayed.count, 1);
        let taken = receiver.until(3).await;
        let last = taken.last().unwrap();
        assert_eq!((last.id.clone(), last.event_type.as_str()), (dead.events[0].id(), CREATED));
        // It is told as the item is now.
        assert_eq!(last.body["createdEvent"]["entity"]["data"]["n"], 2);
        kit.until(&endpoint.id, "sent", |it| it["dead"] == 0 && it["parked"] == 0).await;
    }

    async fn events_are_sent_once_more_under_their_ids(engine) {
        let (kit, receiver) = (Kit::new(engine).await, Receiver::new().await);
        let (endpoint, _) = kit.endpoint(&receiver, &ITEMS, json!({})).await;
        let before = kit.world.now();
        kit.insert("a", 1).await;
        kit.update("a", 2).await;
        kit.insert("b", 1).await;
        let mut first = receiver.until(3).await;
        first.sort_by(|a, b| a.id.cmp(&b.id));
        let caller = app();
        let replay = |it| kit.webhooks.replay(&kit.site, &caller, &endpoint.id, it);
        let since = |types: Option<&[&str]>, entity: Option<&str>| Replay::Since {
            time: before,
            types: types.map(|it| it.iter().map(|it| (*it).to_owned()).collect()),
            entity: entity.map(str::to_owned),
        };
        let times = |id: &str| receiver.got().iter().filter(|it| Event::of(it).id == id).count();
        // What was on its way when a replay was asked for may be sent again besides.
        assert_eq!(replay(since(None, None)).await.unwrap().count, 3);
        kit.until(&endpoint.id, "all sent again", |it| it["parked"] == 0).await;
        assert!(first.iter().all(|it| times(&it.id) > 1));
        for (wish, n) in [(since(Some(&[CREATED]), Some("a")), 0), (Replay::Event(first[1].id.clone()), 1)] {
            let before = times(&first[n].id);
            assert_eq!(replay(wish).await.unwrap().count, 1);
            kit.until(&endpoint.id, "sent again", |it| it["parked"] == 0).await;
            assert!(times(&first[n].id) > before, "{}", first[n].id);
        }
        for wrong in ["x".to_owned(), format!("{}-99999-0", kit.site.id), format!("{}-0-0", kit.site.id)] {
            assert_eq!(replay(Replay::Event(wrong)).await.unwrap_err().code(), Code::NotFound);
        }
        kit.until(&endpoint.id, "done", |it| it["parked"] == 0).await;
    }

    async fn receiver_can_refuse_an_event_for_good(engine) {
        let (kit, receiver) = (Kit::new(engine).await, Receiver::new().await);
        receiver.answer(|got| match is_of(got, "bad") {
            true => Reply::With(400, "webhook-delivery", "abort-message"),
            false => Reply::Status(200),
        });
        let (endpoint, _) = kit.endpoint(&receiver, &[CREATED], json!({})).await;
        kit.insert("bad", 1).await;
        kit.insert("good", 1).await;
        receiver.until(1).await;
        kit.until(&endpoint.id, "dead", |it| it["dead"] == 1).await;
        assert_eq!(receiver.got().len(), 2);
    }

    async fn rows_that_wait_say_no_word_about_people(engine) {
        let kit = Kit::with(engine, Times { parked: vec![400; 3], ..quick() }, WebhookLimits::default()).await;
        let types = ["wix.members.v1.member_created", "wix.members.v1.member_deleted", CREATED];
        let receiver = Receiver::answering(|got| match Event::of(got).event_type == CREATED {
            true => Reply::Status(200),
            false => Reply::Status(500),
        }).await;
        let (endpoint, _) = kit.endpoint(&receiver, &types, json!({})).await;
        let member = kit.identity.member_create(&kit.site, &app(), "ada@example.org", Default::default()).await.unwrap();
        kit.insert("a", 1).await;
        kit.until(&endpoint.id, "parked", |it| it["parked"] == 1).await;
        assert!(receiver.got().iter().any(|it| Event::of(it).body.to_string().contains("ada@example.org")));
        let payload = payloads(&kit).await.concat();
        assert!(payload.contains(member.id.as_str()) && !payload.contains("ada@"), "{payload}");
        // Erased while it waits, the person is told of no more; that they are gone is.
        kit.identity.member_delete(&kit.site, &app(), &member.id).await.unwrap();
        receiver.answer(|_| Reply::Status(200));
        let before = receiver.got().len();
        let taken = receiver.until(2).await;
        assert_eq!(taken[1].event_type, types[1]);
        assert!(receiver.got()[before..].iter().all(|it| !Event::of(it).body.to_string().contains("ada@example.org")));
        kit.until(&endpoint.id, "drained", |it| it["parked"] == 0).await;
    }

    async fn item_that_always_fails_keeps_no_other_waiting(engine) {
        let limits = WebhookLimits { webhook_parked: 10, ..WebhookLimits::default() };
        let kit = Kit::with(engine, Times { parked: vec![1_500; 20], ..quick() }, limits).await;
        let receiver = Receiver::answering(|got| match is_of(got, "bad") {
            true => Reply::Status(500),
            false => Reply::Status(200),
        }).await;
        let (endpoint, _) = kit.endpoint(&receiver, &ITEMS, json!({ "format": "standard" })).await;
        kit.insert("bad", 0).await;
        kit.insert("good", 0).await;
        kit.until(&endpoint.id, "parked", |it| it["parked"] == 1).await;
        for n in 1..30 {
            kit.update("bad", n).await;
        }
        kit.insert("other", 0).await;
        receiver.until(2).await;
        // As many as may wait, the one that is tried and the newest ones; the others were given up.
        let status = kit.until(&endpoint.id, "all read", |it| it["dead"] == 20).await;
        assert_eq!((&status["parked"], &status["state"]), (&json!(10), &json!("ACTIVE")));
        assert_eq!(list(&kit, &endpoint.id, EventState::Parked).await.events[0].to_json()["type"], CREATED);
        receiver.answer(|_| Reply::Status(200));
        let taken = receiver.until(12).await;
        in_order(&taken);
        kit.until(&endpoint.id, "drained", |it| it["parked"] == 0 && it["dead"] == 20).await;
    }

    async fn event_behind_one_that_was_given_up_is_tried_twice(engine) {
        let kit = Kit::with(engine, Times { parked: vec![300, 100, 100, 100], ..quick() }, WebhookLimits::default()).await;
        let receiver = Receiver::answering(|got| match is_of(got, "bad") {
            true => Reply::Status(500),
            false => Reply::Status(200),
        }).await;
        let (endpoint, _) = kit.endpoint(&receiver, &ITEMS, json!({ "format": "standard" })).await;
        kit.insert("bad", 0).await;
        kit.insert("good", 0).await;
        kit.until(&endpoint.id, "parked", |it| it["parked"] == 1).await;
        kit.update("bad", 1).await;
        kit.update("bad", 2).await;
        kit.until(&endpoint.id, "given up", |it| it["dead"] == 3).await;
        // The first three times early and four times parked, and each one behind it twice.
        assert_eq!(receiver.got().iter().filter(|it| is_of(it, "bad")).count(), 3 + 4 + 2 + 2);
    }

    async fn what_is_read_again_waits_once(engine) {
        let kit = Kit::with(engine, Times { parked: vec![300; 10], ..quick() }, WebhookLimits::default()).await;
        let receiver = Receiver::answering(|got| match Event::of(got).entity.as_str() {
            "slow" => Reply::Late(4_000),
            "bad" => Reply::Status(500),
            _ => Reply::Status(200),
        }).await;
        let (endpoint, _) = kit.endpoint(&receiver, &ITEMS, json!({ "format": "standard" })).await;
        // The place stays before the slow one.
        for id in ["slow", "bad", "good"] {
            kit.insert(id, 0).await;
        }
        kit.until(&endpoint.id, "parked", |it| it["parked"] == 1).await;
        let change = stoa_webhooks::EndpointChange::parse(&json!({ "timeoutMs": 20_000 })).unwrap();
        kit.webhooks.endpoint_update(&kit.site, &app(), &endpoint.id, change).await.unwrap();
        receiver.answer(|_| Reply::Status(200));
        receiver.until(3).await;
        kit.until(&endpoint.id, "drained", |it| it["parked"] == 0 && it["lagSeconds"] == 0.0).await;
        // What comes now is an event like others, of which no row is written while it is on its way.
        receiver.answer(|got| if is_of(got, "bad") { Reply::Late(1_000) } else { Reply::Status(200) });
        let before = receiver.got().len();
        kit.update("bad", 1).await;
        receiver.until_got(before + 1).await;
        assert!(payloads(&kit).await.is_empty());
    }

    async fn what_waits_apart_goes_on_after_a_restart(engine) {
        let mut kit = Kit::with(engine, Times { parked: vec![300, 400, 500], ..quick() }, WebhookLimits::default()).await;
        let receiver = Receiver::answering(|got| match is_of(got, "bad") {
            true => Reply::Status(500),
            false => Reply::Status(200),
        }).await;
        let (endpoint, _) = kit.endpoint(&receiver, &ITEMS, json!({})).await;
        kit.insert("bad", 1).await;
        kit.insert("good", 1).await;
        kit.until(&endpoint.id, "parked", |it| it["parked"] == 1).await;
        kit.serving.take().unwrap().end().await;
        receiver.answer(|_| Reply::Status(200));
        kit.update("bad", 2).await;
        kit.serving = Some(kit.webhooks.start());
        let taken = receiver.until(3).await;
        in_order(&taken);
        kit.until(&endpoint.id, "drained", |it| it["parked"] == 0).await;
    }
}

async fn payloads(kit: &Kit) -> Vec<String> {
    let read = kit.site.read(ReaderPool::Scan, |tx| {
        boxed!(Ok(tx.rows("select payload from stoa.webhook_event", &[], |row| row.get::<String>(0)).await?))
    });
    read.await.unwrap()
}
