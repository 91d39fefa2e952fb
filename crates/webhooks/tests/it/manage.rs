//! Who manages endpoints, and what they can do.

use crate::common::{CREATED, DELETED, Event, ITEMS, Kit, Receiver, Reply, app, claims, quick, verified};
use serde_json::{Value, json};
use stoa_kernel::{Caller, Code, EndpointId, Result, Scopes};
use stoa_store::{ReaderPool, boxed, outbox};
use stoa_testkit::on_both_engines;
use stoa_webhooks::{EndpointChange, EndpointWish, Pull, Replay, Resumption, Times, WebhookLimits};

fn code<T>(result: Result<T>) -> Code {
    result.map(drop).unwrap_err().code()
}

on_both_engines! {
    async fn endpoint_is_paused_resumed_and_deleted(engine) {
        let (kit, receiver) = (Kit::new(engine).await, Receiver::new().await);
        let (endpoint, _) = kit.endpoint(&receiver, &[CREATED], json!({})).await;
        let (webhooks, site, id) = (&kit.webhooks, &kit.site, &endpoint.id);
        kit.insert("a", 1).await;
        receiver.until(1).await;
        webhooks.endpoint_pause(site, &app(), id).await.unwrap();
        kit.until_idle().await;
        kit.insert("b", 1).await;
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        assert_eq!((receiver.got().len(), kit.status(id).await["state"].clone()), (1, json!("PAUSED")));
        webhooks.endpoint_resume(site, &app(), id, Resumption::default()).await.unwrap();
        receiver.until(2).await;
        webhooks.endpoint_pause(site, &app(), id).await.unwrap();
        kit.until_idle().await;
        kit.insert("c", 1).await;
        webhooks.endpoint_resume(site, &app(), id, Resumption { from_now: true }).await.unwrap();
        kit.insert("d", 1).await;
        let taken = receiver.until(3).await;
        assert_eq!(taken.iter().map(|it| it.entity.as_str()).collect::<Vec<_>>(), ["a", "b", "d"]);
        assert_eq!(site.outbox().consumers().await.unwrap().len(), 1);
        webhooks.endpoint_delete(site, &app(), id).await.unwrap();
        kit.insert("e", 1).await;
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        // One whose place was not stored yet may come twice, and nothing that happened since.
        assert!(receiver.taken().iter().all(|it| it.entity != "e"));
        assert!(site.outbox().consumers().await.unwrap().is_empty());
        assert!(site.outbox().status(0).await.unwrap().reasons.is_empty());
        assert_eq!(code(webhooks.endpoint_get(site, &app(), id).await), Code::NotFound);
        assert_eq!(code(webhooks.endpoint_delete(site, &app(), id).await), Code::NotFound);
    }

    async fn two_secrets_sign_while_one_follows_the_other(engine) {
        let (kit, receiver) = (Kit::new(engine).await, Receiver::new().await);
        let (endpoint, first) = kit.endpoint(&receiver, &[CREATED], json!({ "format": "standard" })).await;
        let second = kit.webhooks.endpoint_secret_rotate(&kit.site, &app(), &endpoint.id).await.unwrap();
        assert_ne!(first, second);
        kit.insert("a", 1).await;
        receiver.until(1).await;
        let signatures = receiver.got()[0].headers["webhook-signature"].to_str().unwrap().to_owned();
        assert_eq!(signatures.split(' ').count(), 2);
        assert_eq!(format!("{first:?}"), "EndpointSecret(Secret(…))");
    }

    async fn endpoints_are_limited_and_refused_by_name(engine) {
        let limits = WebhookLimits { webhook_endpoints: 2, ..WebhookLimits::default() };
        let (kit, receiver) = (Kit::with(engine, quick(), limits).await, Receiver::new().await);
        let wish = |more: Value| {
            let mut wish = json!({ "appId": kit.client.id, "url": receiver.url, "types": [CREATED] });
            more.as_object().unwrap().iter().for_each(|(name, it)| wish[name.as_str()] = it.clone());
            EndpointWish::parse(&wish).unwrap()
        };
        let create = |caller: Caller, more: Value| {
            let wish = wish(more);
            let (webhooks, site) = (kit.webhooks.clone(), kit.site.clone());
            async move { webhooks.endpoint_create(&site, &caller, wish).await }
        };
        for inner in ["https://10.0.0.1/x", "https://[fd00::1]/", "http://example.org/", "https://169.254.169.254/"] {
            let fault = create(app(), json!({ "url": inner })).await.unwrap_err();
            assert_eq!((fault.code(), fault.violations()[0].field.as_str()), (Code::Validation, "url"));
            assert!(!fault.violations()[0].description.contains("private"), "{fault:?}");
        }
        let fault = create(app(), json!({ "appId": "nobody" })).await.unwrap_err();
        assert_eq!((fault.code(), fault.violations()[0].field.as_str()), (Code::Validation, "appId"));
        let editor = Caller::User { id: "e".into(), role: stoa_kernel::Role::Editor, session: "s".into() };
        assert_eq!(code(create(editor, json!({})).await), Code::Forbidden);
        let all = futures_util::future::join_all((0..8).map(|_| create(app(), json!({})))).await;
        assert_eq!(all.iter().filter(|it| it.is_ok()).count(), 2);
        assert!(all.into_iter().filter_map(Result::err).all(|it| it.code() == Code::TooMany));
        assert_eq!(kit.webhooks.endpoint_list(&kit.site, &app()).await.unwrap().len(), 2);
    }

    async fn application_of_others_has_its_own_within_its_scopes(engine) {
        let (kit, receiver) = (Kit::new(engine).await, Receiver::new().await);
        let scopes = Scopes::among("site:write items:read:c");
        let new = stoa_identity::client::NewClient {
            name: "Partner".to_owned(),
            with_secret: true,
            is_third_party: true,
            scopes: Some(scopes.clone()),
            ..Default::default()
        };
        let (partner, _) = kit.identity.client_create(&kit.site.id, new).await.unwrap();
        let caller = Caller::App { id: partner.id.as_str().into() }.held_to(Some(&scopes));
        let create = |wish: Value| {
            let (webhooks, site, caller) = (kit.webhooks.clone(), kit.site.clone(), caller.clone());
            let wish = EndpointWish::parse(&wish).unwrap();
            async move { webhooks.endpoint_create(&site, &caller, wish).await }
        };
        let wish = json!({ "appId": partner.id, "url": receiver.url, "types": [CREATED], "collections": ["c"] });
        let (mut anothers, mut everything, mut people) = (wish.clone(), wish.clone(), wish.clone());
        anothers["appId"] = json!(kit.client.id);
        everything["collections"] = Value::Null;
        people["types"] = json!(["wix.members.v1.member_created"]);
        for (wish, field) in [(anothers, "appId"), (everything, "types"), (people, "types")] {
            let fault = create(wish).await.unwrap_err();
            assert_eq!((fault.code(), fault.violations()[0].field.as_str()), (Code::Validation, field), "{fault:?}");
        }
        let (own, _) = create(wish).await.unwrap();
        let (ours, _) = kit.endpoint(&receiver, &[DELETED], json!({})).await;
        let seen = kit.webhooks.endpoint_list(&kit.site, &caller).await.unwrap();
        assert_eq!(seen.iter().map(|it| it.endpoint.id.clone()).collect::<Vec<_>>(), std::slice::from_ref(&own.id));
        assert_eq!(code(kit.webhooks.endpoint_delete(&kit.site, &caller, &ours.id).await), Code::NotFound);
        // No owner has installed it: it hears nothing yet.
        kit.insert("a", 1).await;
        let status = kit.until(&own.id, "open", |it| it["state"] == "OPEN").await;
        assert_eq!(status["reason"], "No owner of the site has installed the application.");
        assert!(receiver.got().is_empty());
    }

    async fn endpoint_that_a_narrower_token_changes_hears_no_more_than_that_may_read(engine) {
        let (kit, receiver) = (Kit::new(engine).await, Receiver::new().await);
        let held = |scopes: &str| Caller::App { id: kit.client.id.as_str().into() }.held_to(Some(&Scopes::among(scopes)));
        let change = |caller: Caller, id: &EndpointId, change: Value| {
            let (webhooks, site, id) = (kit.webhooks.clone(), kit.site.clone(), id.clone());
            let change = EndpointChange::parse(&change).unwrap();
            async move { webhooks.endpoint_update(&site, &caller, &id, change).await }
        };
        let refused = |result: Result<stoa_webhooks::Endpoint>| {
            let fault = result.unwrap_err();
            (fault.code(), fault.violations().first().map(|it| it.field.clone()))
        };
        let types = Some("types".to_owned());
        // An owner made it, for everything; whoever holds a token for `site:write` alone has it sent nowhere else.
        let (everything, _) = kit.endpoint(&receiver, &ITEMS, json!({})).await;
        let elsewhere = json!({ "url": Receiver::new().await.url });
        for scopes in ["site:write", "site:write members:read", "site:write items:read:c"] {
            let result = change(held(scopes), &everything.id, elsewhere.clone()).await;
            assert_eq!(refused(result), (Code::Validation, types.clone()), "{scopes}");
        }
        let (of_c, _) = kit.endpoint(&receiver, &[CREATED], json!({ "collections": ["c"] })).await;
        let narrow = held("site:write items:read:c");
        change(narrow.clone(), &of_c.id, elsewhere.clone()).await.unwrap();
        // From then on it hears what that token may read, whoever changes it next.
        for more in [json!({ "collections": null }), json!({ "types": ["wix.members.v1.member_created"] })] {
            for caller in [narrow.clone(), held("site:write items:read members:read"), app()] {
                assert_eq!(refused(change(caller, &of_c.id, more.clone()).await), (Code::Validation, types.clone()), "{more}");
            }
        }
        assert_eq!(kit.status(&everything.id).await["url"], receiver.url);
        change(app(), &everything.id, elsewhere).await.unwrap();
    }

    async fn log_that_tells_of_other_things_is_not_read_to_its_end_at_once(engine) {
        let kit = Kit::with(engine, Times { reading: 0, ..quick() }, WebhookLimits::default()).await;
        let mut token = site_end(&kit).await;
        let filled = kit.site.write_with(kit.site.id.clone(), |tx, site| {
            boxed!({
                for _ in 0..1_100 {
                    outbox::put(tx, site, "of_another_kind", "{}".to_owned(), 0).await?;
                }
                Ok(())
            })
        });
        filled.await.unwrap();
        kit.insert("a", 1).await;
        // Other tests' transactions may hold it up.
        let is_readable = async || !kit.site.outbox().read_since(outbox::Position::default(), 1, &["data_item_created"], 1).await.unwrap().entries.is_empty();
        while !is_readable().await {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        let mut counts = Vec::new();
        while counts.last() != Some(&1) && counts.len() < 10 {
            let body = json!({ "appId": kit.client.id, "types": [CREATED], "after": token });
            let pulled = kit.webhooks.pull(&kit.site, &app(), Pull::parse(&body).unwrap()).await.unwrap();
            token = pulled.token;
            counts.push(pulled.messages.len());
        }
        assert_eq!(counts, [0, 1], "a piece that had nothing, and the rest");
    }

    async fn replay_reads_what_was_written_since_and_is_found_when_it_is_cut_off(engine) {
        let (kit, receiver) = (Kit::new(engine).await, Receiver::new().await);
        let (endpoint, _) = kit.endpoint(&receiver, &[CREATED], json!({})).await;
        for id in ["a", "b", "c"] {
            kit.insert(id, 1).await;
        }
        receiver.until(3).await;
        let rows = kit.site.outbox().read(outbox::Position::default(), &["data_item_created"], 10).await.unwrap().entries;
        // One by its number, and those from a time on: the log is not read from its beginning.
        let row = kit.site.outbox().row(rows[1].sequence).await.unwrap().unwrap();
        assert_eq!((&row, kit.site.outbox().row(i64::MAX).await.unwrap()), (&rows[1], None));
        let since = kit.site.outbox().read_since(outbox::Position::default(), rows[2].created, &[], 10).await.unwrap();
        assert!(since.entries.contains(&rows[2]) && since.entries.iter().all(|it| it.created >= rows[2].created));
        let replay = |body: Value| {
            let (webhooks, site, id) = (kit.webhooks.clone(), kit.site.clone(), endpoint.id.clone());
            async move { webhooks.replay(&site, &app(), &id, Replay::parse(&body).unwrap()).await }
        };
        let id = |sequence: i64, place: usize| format!("{}-{sequence}-{place}", kit.site.id);
        for missing in [id(i64::MAX, 0), id(rows[0].sequence, 1), id(rows[0].sequence - 1, 0)] {
            assert_eq!(code(replay(json!({ "event": missing })).await), Code::NotFound, "{missing}");
        }
        assert_eq!(replay(json!({ "event": id(rows[1].sequence, 0) })).await.unwrap().count, 1);
        receiver.until_got(4).await;
        kit.until(&endpoint.id, "sent again", |it| it["parked"] == 0).await;
        // What is put apart ends the lease in the same transaction: a call that is cut off has left nothing that nobody
        // looks at.
        kit.webhooks.endpoint_pause(&kit.site, &app(), &endpoint.id).await.unwrap();
        for row in 0..2 {
            kit.insert_many((0..300).map(|it| format!("{row}-{it}"))).await;
        }
        let before = lease(&kit).await;
        let mut replaying = Box::pin(replay(json!({ "since": "2020-01-01T00:00:00Z" })));
        let parked = loop {
            tokio::select! {
                biased;
                it = &mut replaying => panic!("it was not cut off: {it:?}"),
                () = tokio::time::sleep(std::time::Duration::from_millis(1)) => {}
            }
            match kit.status(&endpoint.id).await["parked"].as_i64().unwrap() {
                0 => {}
                some => break some,
            }
        };
        drop(replaying);
        assert!(parked < 603 && lease(&kit).await > before, "{parked}");
    }

    async fn application_that_is_held_to_scopes_has_few_of_the_endpoints(engine) {
        let limits = WebhookLimits { webhook_endpoints: 4, webhook_endpoints_of_app: 2, ..WebhookLimits::default() };
        let (kit, receiver) = (Kit::with(engine, quick(), limits).await, Receiver::new().await);
        let scopes = Scopes::among("site:write items:read");
        let held = Caller::App { id: kit.client.id.as_str().into() }.held_to(Some(&scopes));
        let create = |caller: Caller| {
            let wish = EndpointWish::parse(&json!({ "appId": kit.client.id, "url": receiver.url, "types": [CREATED] })).unwrap();
            let (webhooks, site) = (kit.webhooks.clone(), kit.site.clone());
            async move { webhooks.endpoint_create(&site, &caller, wish).await }
        };
        let all = futures_util::future::join_all((0..8).map(|_| create(held.clone()))).await;
        assert_eq!(all.iter().filter(|it| it.is_ok()).count(), 2);
        assert!(all.into_iter().filter_map(Result::err).all(|it| it.code() == Code::TooMany));
        // Owners are held to the number of the site alone.
        for _ in 0..2 {
            create(app()).await.unwrap();
        }
        assert_eq!(code(create(app()).await), Code::TooMany);
    }

    async fn test_message_tells_how_it_went(engine) {
        let (kit, receiver) = (Kit::new(engine).await, Receiver::new().await);
        let (endpoint, _) = kit.endpoint(&receiver, &ITEMS, json!({})).await;
        let outcome = kit.webhooks.test(&kit.site, &app(), &endpoint.id).await.unwrap();
        assert_eq!((outcome.delivered, outcome.status, outcome.error), (true, Some(200), None));
        let event = Event::of(&receiver.got()[0]);
        assert_eq!((event.event_type.as_str(), &event.body["originatedFrom"]), (CREATED, &json!("test")));
        receiver.answer(|_| Reply::Status(500));
        let outcome = kit.webhooks.test(&kit.site, &app(), &endpoint.id).await.unwrap();
        assert_eq!((outcome.delivered, outcome.status, outcome.excerpt.as_str()), (false, Some(500), "what the receiver says"));
        assert_eq!(kit.status(&endpoint.id).await["state"], "ACTIVE");
        let nobody = EndpointId::from("a\u{0}");
        assert_eq!(code(kit.webhooks.test(&kit.site, &app(), &nobody).await), Code::NotFound);
    }

    async fn events_are_pulled_as_they_would_be_sent(engine) {
        let kit = Kit::new(engine).await;
        let pull = |after: Option<&str>, limit: usize| {
            let mut body = json!({ "appId": kit.client.id, "types": ITEMS, "limit": limit, "waitMs": 5_000 });
            if let Some(after) = after {
                body["after"] = json!(after);
            }
            let (webhooks, site, pull) = (kit.webhooks.clone(), kit.site.clone(), Pull::parse(&body).unwrap());
            async move { webhooks.pull(&site, &app(), pull).await.unwrap() }
        };
        let start = site_end(&kit).await;
        kit.insert_many((0..5).map(|it| format!("i{it}"))).await;
        kit.update("i0", 1).await;
        let (mut token, mut ids) = (start, Vec::new());
        while ids.len() < 6 {
            let pulled = pull(Some(&token), 4).await;
            assert!(pulled.messages.len() <= 4 && pulled.gap.is_none());
            for message in &pulled.messages {
                verified(&kit, &message.body).await;
                ids.push(claims(&message.body)["jti"].clone());
            }
            token = pulled.token;
        }
        let mut distinct = ids.clone();
        distinct.dedup();
        assert_eq!((ids.len(), distinct.len()), (6, 6));
        let waiting = pull(Some(&token), 4);
        let (pulled, ()) = futures_util::future::join(waiting, kit.insert("late", 1)).await;
        assert_eq!(pulled.messages.len(), 1);
        let other = format!("{}{}", "A".repeat(16), &token[16..]);
        assert_eq!(pull(Some(&other), 4).await.gap, Some("epoch"));
    }
}

async fn site_end(kit: &Kit) -> String {
    kit.site.outbox().end().await.unwrap().to_string()
}

/// The number of the lease of the one consumer.
async fn lease(kit: &Kit) -> i64 {
    let read = kit.site.read(ReaderPool::Point, |tx| {
        boxed!(Ok(tx.row("select lease from stoa.outbox_consumer", &[], |row| row.get(0)).await?))
    });
    read.await.unwrap().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn endpoints_are_shared_out_and_go_on_elsewhere() {
    let mut kit = Kit::new(stoa_testkit::Engine::Postgres).await;
    let nodes = kit.store.nodes(2).await;
    let other = kit.node(&nodes[1].store).await;
    let serving = other.start();
    // One each: a node that ends may leave an event to be sent twice, which isn't an event of another endpoint.
    let mut receivers = Vec::new();
    for _ in 0..4 {
        let receiver = Receiver::new().await;
        kit.endpoint(&receiver, &[CREATED], json!({ "format": "standard" })).await;
        receivers.push(receiver);
    }
    let until = |both: bool| {
        let (first, second) = (kit.webhooks.clone(), other.clone());
        async move {
            for _ in 0..1_000 {
                let served = (first.counts().served, second.counts().served);
                if served.0 + served.1 == 4 && (served.0 > 0 && served.1 > 0 || !both && served.0 == 0) {
                    return;
                }
                tokio::time::sleep(std::time::Duration::from_millis(10)).await;
            }
            panic!("{:?} and {:?}", first.counts(), second.counts());
        }
    };
    until(true).await;
    kit.insert("a", 1).await;
    for receiver in &receivers {
        receiver.until(1).await;
    }
    kit.serving.take().unwrap().end().await;
    until(false).await;
    kit.insert("b", 1).await;
    for receiver in &receivers {
        let entities: Vec<String> = receiver.until(2).await.into_iter().map(|it| it.entity).collect();
        assert_eq!(entities, ["a", "b"]);
    }
    serving.end().await;
}
