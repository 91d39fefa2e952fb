//! Endpoints that fail.

use crate::common::{CREATED, Event, ITEMS, Kit, Receiver, Reply, app, in_order, quick};
use serde_json::json;
use stoa_kernel::{Email, Role, Secret};
use stoa_store::{ReaderPool, boxed};
use stoa_testkit::{on_both_engines, rounds};
use stoa_webhooks::{Resumption, Times, WebhookLimits};

/// Rows that wait apart, on all endpoints.
async fn rows(kit: &Kit) -> i64 {
    let read = kit.site.read(ReaderPool::Scan, |tx| {
        boxed!(Ok(tx.row("select count(*) from stoa.webhook_event", &[], |row| row.get::<i64>(0)).await?))
    });
    read.await.unwrap().unwrap()
}

on_both_engines! {
    async fn dead_endpoint_writes_no_rows_and_drains_in_order(engine) {
        let kit = Kit::new(engine).await;
        let receiver = Receiver::answering(|_| Reply::Status(500)).await;
        let (endpoint, _) = kit.endpoint(&receiver, &ITEMS, json!({ "format": "standard" })).await;
        for n in 0..5 {
            kit.insert(&format!("first{n}"), 1).await;
        }
        let status = kit.until(&endpoint.id, "open", |it| it["state"] == "OPEN").await;
        assert_eq!(status["reason"], "Events don't arrive: the receiver answered 500.");
        assert_eq!(status["lastError"], "the receiver answered 500: what the receiver says");
        let total = 5 + rounds(10) * 100;
        for n in 0..rounds(10) {
            kit.insert_many((0..50).map(|it| format!("i{n}-{it}"))).await;
            for it in 0..50 {
                kit.update(&format!("i{n}-{it}"), 1).await;
            }
        }
        let probed = receiver.got().len();
        tokio::time::sleep(std::time::Duration::from_millis(400)).await;
        assert!(receiver.got().len() - probed <= 4, "a probe from time to time");
        assert_eq!(rows(&kit).await, 0);
        receiver.answer(|_| Reply::Status(200));
        let taken = receiver.until(total).await;
        in_order(&taken);
        assert_eq!(taken.len(), total);
        kit.until(&endpoint.id, "active", |it| it["state"] == "ACTIVE" && it["lagSeconds"] == 0.0).await;
        assert_eq!(rows(&kit).await, 0);
    }

    /// `make soak` lets 100,000 wait.
    async fn thousands_behind_an_open_breaker_drain_in_order(engine) {
        // So few that many events of one item are read at once.
        const ITEMS_AT_ONCE: usize = 50;
        let kit = Kit::new(engine).await;
        let receiver = Receiver::answering(|_| Reply::Status(500)).await;
        let (endpoint, _) = kit.endpoint(&receiver, &ITEMS, json!({ "format": "standard" })).await;
        for n in 0..5 {
            kit.insert(&format!("first{n}"), 0).await;
        }
        kit.until(&endpoint.id, "open", |it| it["state"] == "OPEN").await;
        // A tenth are rows of their own.
        let (many, single) = (rounds(90), rounds(500));
        for n in 0..many {
            kit.save_many((0..ITEMS_AT_ONCE).map(|it| format!("i{it}")), n).await;
        }
        for n in 0..single {
            kit.update(&format!("i{}", n % ITEMS_AT_ONCE), i64::try_from(many + n).unwrap()).await;
        }
        assert_eq!(rows(&kit).await, 0);
        let total = 5 + many * ITEMS_AT_ONCE + single;
        assert!(receiver.got().len() < total / 10, "it only probes");
        assert_eq!(receiver.taken(), []);
        kit.until(&endpoint.id, "open", |it| it["state"] == "OPEN").await;

        receiver.answer(|_| Reply::Status(200));
        let taken = receiver.until(total).await;
        assert_eq!(taken.len(), total);
        in_order(&taken);
        for it in [0, ITEMS_AT_ONCE - 1] {
            let of_item: Vec<&Event> = taken.iter().filter(|event| event.entity == format!("i{it}")).collect();
            assert_eq!(of_item.len(), many + single / ITEMS_AT_ONCE);
            assert_eq!(of_item[0].event_type, CREATED);
            let last = &of_item[of_item.len() - 1].body["updatedEvent"]["currentEntity"]["data"]["n"];
            assert_eq!(last, many + single - ITEMS_AT_ONCE + it);
        }
        kit.until(&endpoint.id, "active", |it| it["state"] == "ACTIVE" && it["lagSeconds"] == 0.0).await;
        assert_eq!(rows(&kit).await, 0);
    }

    async fn receiver_that_hangs_answers_late_or_drops_gets_all(engine) {
        // So many attempts that no event fails in all of them by chance.
        let kit = Kit::with(engine, Times { parked: vec![100; 30], ..quick() }, WebhookLimits::default()).await;
        let receiver = Receiver::new().await;
        let seen = std::sync::atomic::AtomicUsize::new(0);
        receiver.answer(move |_| match seen.fetch_add(1, std::sync::atomic::Ordering::SeqCst) % 7 {
            1 => Reply::Drop,
            3 => Reply::Late(1_300),
            5 => Reply::Status(302),
            _ => Reply::Status(200),
        });
        let (endpoint, _) = kit.endpoint(&receiver, &ITEMS, json!({ "timeoutMs": 1_000, "format": "standard" })).await;
        for n in 0..12 {
            kit.insert(&format!("i{n}"), 1).await;
            kit.update(&format!("i{n}"), 2).await;
        }
        let taken = receiver.until(24).await;
        in_order(&taken);
        assert!(taken.iter().filter(|it| it.event_type == CREATED).count() == 12);
        kit.until(&endpoint.id, "drained", |it| it["parked"] == 0 && it["lagSeconds"] == 0.0).await;
    }

    async fn connection_refused_opens_at_once(engine) {
        let (kit, receiver) = (Kit::new(engine).await, Receiver::new().await);
        let (endpoint, _) = kit.endpoint(&receiver, &[CREATED], json!({ "url": "http://127.0.0.1:9/hook" })).await;
        kit.insert("a", 1).await;
        let status = kit.until(&endpoint.id, "open", |it| it["state"] == "OPEN").await;
        assert_eq!(status["reason"], "Events don't arrive: no connection could be made.");
        let change = stoa_webhooks::EndpointChange::parse(&json!({ "url": receiver.url })).unwrap();
        kit.webhooks.endpoint_update(&kit.site, &app(), &endpoint.id, change).await.unwrap();
        receiver.until(1).await;
        kit.until(&endpoint.id, "active", |it| it["state"] == "ACTIVE").await;
    }

    async fn receiver_that_asks_to_wait_is_waited_for(engine) {
        let (kit, receiver) = (Kit::new(engine).await, Receiver::new().await);
        receiver.answer(|_| Reply::With(503, "retry-after", "3600"));
        let (endpoint, _) = kit.endpoint(&receiver, &[CREATED], json!({})).await;
        kit.insert("a", 1).await;
        kit.until(&endpoint.id, "open", |it| it["state"] == "OPEN").await;
        let asked = kit.world.now();
        receiver.answer(|_| Reply::Status(200));
        receiver.until(1).await;
        // The longest wait of this test is 400 ms, a probe would have come after 72 at most.
        assert!(kit.world.now() - asked > 150, "{}", kit.world.now() - asked);
    }

    async fn receiver_that_is_gone_gets_nothing_more(engine) {
        for reply in [Reply::Status(410), Reply::With(500, "webhook-delivery", "disable")] {
            let (kit, receiver) = (Kit::new(engine).await, Receiver::new().await);
            receiver.answer(move |_| reply);
            let (endpoint, _) = kit.endpoint(&receiver, &[CREATED], json!({})).await;
            kit.insert("a", 1).await;
            let status = kit.until(&endpoint.id, "disabled", |it| it["state"] == "DISABLED").await;
            assert!(status["reason"].as_str().unwrap().contains("wants nothing any more"), "{status}");
            let got = receiver.got().len();
            receiver.answer(|_| Reply::Status(200));
            kit.insert("b", 1).await;
            tokio::time::sleep(std::time::Duration::from_millis(300)).await;
            assert_eq!(receiver.got().len(), got);
            // Resumed it goes on where it was.
            kit.webhooks.endpoint_resume(&kit.site, &app(), &endpoint.id, Resumption::default()).await.unwrap();
            let taken = receiver.until(2).await;
            let mut entities: Vec<&str> = taken.iter().map(|it| it.entity.as_str()).collect();
            entities.sort_unstable();
            assert_eq!(entities, ["a", "b"]);
        }
    }

    async fn endpoint_without_success_is_disabled_and_owners_are_told(engine) {
        let kit = Kit::with(engine, Times { without_success: 250, ..quick() }, WebhookLimits::default()).await;
        let email = Email::parse("owner@example.org").unwrap();
        let life = std::time::Duration::from_secs(60);
        let invited = kit.identity.invite_create(&kit.site.id, Some(&email), Role::Owner, life, "http://localhost").await;
        let (_, token) = invited.as_ref().unwrap().split_once("invite=").unwrap();
        let password = Secret::new("correct horse battery");
        kit.identity.invite_accept(token, None, &password, std::net::Ipv4Addr::LOCALHOST.into()).await.unwrap();
        let receiver = Receiver::answering(|_| Reply::Status(500)).await;
        let (endpoint, _) = kit.endpoint(&receiver, &[CREATED], json!({})).await;
        for n in 0..4 {
            kit.insert(&format!("i{n}"), 1).await;
        }
        let status = kit.until(&endpoint.id, "disabled", |it| it["state"] == "DISABLED").await;
        assert!(status["reason"].as_str().unwrap().starts_with("Nothing has arrived"), "{status}");
        let mut mail = None;
        for _ in 0..500 {
            mail = kit.mail.last_to("owner@example.org");
            if mail.is_some() {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        let mail = mail.unwrap();
        assert!(mail.subject.contains("Webhooks of Test") && mail.text.contains("http://127.0.0.1:"), "{mail:?}");
        assert!(!mail.text.contains("/hook"), "an address may hold a secret");
    }

    async fn application_without_a_key_or_revoked_gets_nothing(engine) {
        let (kit, receiver) = (Kit::new(engine).await, Receiver::new().await);
        let new = stoa_identity::client::NewClient { name: "Two".to_owned(), with_secret: true, ..Default::default() };
        let (client, _) = kit.identity.client_create(&kit.site.id, new).await.unwrap();
        let (endpoint, _) = kit.endpoint(&receiver, &[CREATED], json!({ "appId": client.id })).await;
        assert!(kit.status(&endpoint.id).await["reason"].as_str().unwrap().contains("no active key"));
        kit.insert("a", 1).await;
        kit.until(&endpoint.id, "open", |it| it["state"] == "OPEN").await;
        assert!(receiver.got().is_empty());
        kit.identity.app_key_rotate(&kit.site.id, &client.id).await.unwrap();
        kit.identity.app_key_activate(&kit.site.id, &client.id, None).await.unwrap();
        receiver.until(1).await;
        kit.identity.client_revoke(&kit.site.id, &client.id).await.unwrap();
        kit.insert("b", 1).await;
        let status = kit.until(&endpoint.id, "disabled", |it| it["state"] == "DISABLED").await;
        assert_eq!(status["reason"], "The application was revoked.");
        assert_eq!(receiver.got().len(), 1);
    }

    async fn full_of_parked_events_it_gives_the_oldest_up(engine) {
        let limits = WebhookLimits { webhook_parked: 10, ..WebhookLimits::default() };
        let kit = Kit::with(engine, Times { parked: vec![400; 20], ..quick() }, limits).await;
        let receiver = Receiver::answering(|got| match Event::of(got).entity.starts_with("bad") {
            true => Reply::Status(500),
            false => Reply::Status(200),
        }).await;
        let (endpoint, _) = kit.endpoint(&receiver, &ITEMS, json!({ "format": "standard" })).await;
        kit.insert("bad", 0).await;
        kit.insert("good", 0).await;
        kit.until(&endpoint.id, "parked", |it| it["parked"] == 1).await;
        for n in 1..20 {
            kit.update("bad", n).await;
        }
        kit.until(&endpoint.id, "full", |it| it["parked"] == 10 && it["dead"] == 10).await;
        receiver.answer(|_| Reply::Status(200));
        let taken = receiver.until(11).await;
        in_order(&taken);
        assert_eq!(taken.iter().filter(|it| it.entity == "bad").count(), 10);
        kit.until(&endpoint.id, "drained", |it| it["parked"] == 0 && it["dead"] == 10).await;
    }
}
