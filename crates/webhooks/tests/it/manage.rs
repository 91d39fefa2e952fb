//! Who manages endpoints, and what they can do.

use crate::common::{CREATED, DELETED, Event, ITEMS, Kit, Receiver, Reply, app, claims, verified};
use serde_json::{Value, json};
use stoa_kernel::{Caller, Code, EndpointId, Result, Scopes};
use stoa_testkit::on_both_engines;
use stoa_webhooks::{EndpointWish, Pull, WebhookLimits};

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
        kit.insert("b", 1).await;
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        assert_eq!((receiver.got().len(), kit.status(id).await["state"].clone()), (1, json!("PAUSED")));
        webhooks.endpoint_resume(site, &app(), id, false).await.unwrap();
        receiver.until(2).await;
        webhooks.endpoint_pause(site, &app(), id).await.unwrap();
        kit.insert("c", 1).await;
        webhooks.endpoint_resume(site, &app(), id, true).await.unwrap();
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
        let (kit, receiver) = (Kit::with(engine, crate::common::quick(), limits).await, Receiver::new().await);
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
            async move { webhooks.pull(&site, &app(), pull, None).await.unwrap() }
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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn endpoints_are_shared_out_and_go_on_elsewhere() {
    let mut kit = Kit::new(stoa_testkit::Engine::Postgres).await;
    let nodes = kit.store.nodes(2).await;
    let other = kit.node(&nodes[1].store).await;
    let serving = other.start();
    let receiver = Receiver::new().await;
    let mut ids = Vec::new();
    for _ in 0..4 {
        ids.push(kit.endpoint(&receiver, &[CREATED], json!({ "format": "standard" })).await.0.id);
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
    receiver.until_got(4).await;
    kit.serving.take().unwrap().end().await;
    until(false).await;
    kit.insert("b", 1).await;
    let got = receiver.until_got(8).await;
    assert_eq!(got[4..].iter().filter(|it| Event::of(it).entity == "b").count(), 4);
    serving.end().await;
}
