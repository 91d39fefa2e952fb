//! Events that arrive.

use crate::common::{CREATED, DELETED, Event, ITEMS, Kit, Receiver, Reply, UPDATED, app, in_order, verified};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use ring::hmac;
use serde_json::{Value, json};
use stoa_content::Request;
use stoa_testkit::on_both_engines;

on_both_engines! {
    async fn event_arrives_as_a_signed_token(engine) {
        let (kit, receiver) = (Kit::new(engine).await, Receiver::new().await);
        let (_, secret) = kit.endpoint(&receiver, &ITEMS, json!({})).await;
        kit.insert("a", 1).await;
        kit.update("a", 2).await;
        kit.remove("a").await;
        let taken = receiver.until(3).await;
        assert_eq!(taken.iter().map(|it| it.event_type.as_str()).collect::<Vec<_>>(), ITEMS);
        in_order(&taken);

        let got = &receiver.got()[1];
        assert_eq!(got.headers["content-type"], "text/plain; charset=utf-8");
        assert!(got.headers["user-agent"].to_str().unwrap().starts_with("Stoa/"));
        let claims = verified(&kit, &got.body).await;
        assert_eq!((&claims["aud"], &claims["jti"]), (&json!(kit.client.id), &json!(taken[1].id)));
        assert_eq!(claims["iss"], json!(format!("https://stoa.example/s/{}", kit.site.id)));
        let (issued, expires) = (claims["iat"].as_i64().unwrap(), claims["exp"].as_i64().unwrap());
        assert_eq!(expires - issued, 300);
        assert!((kit.world.now() / 1_000 - issued).abs() < 30);
        assert!(!claims.contains_key("nbf"));
        let data: Value = serde_json::from_str(claims["data"].as_str().unwrap()).unwrap();
        assert_eq!((&data["eventType"], &data["instanceId"]), (&json!(UPDATED), &json!(kit.site.id)));
        assert_eq!(data["accountInfo"], json!({ "siteId": kit.site.id }));
        let identity: Value = serde_json::from_str(data["identity"].as_str().unwrap()).unwrap();
        assert_eq!(identity, json!({ "identityType": "APP", "appId": "key" }));
        let event: Value = serde_json::from_str(data["data"].as_str().unwrap()).unwrap();
        assert_eq!(event["updatedEvent"]["currentEntity"]["data"]["n"], 2);
        assert_eq!(event["updatedEvent"]["modifiedFields"], json!({ "n": 2 }));
        assert_eq!(event["id"], json!(taken[1].id));

        // The same body, signed as Standard Webhooks has it.
        let key = STANDARD.decode(secret.expose().strip_prefix("whsec_").unwrap()).unwrap();
        let header = |name: &str| got.headers[name].to_str().unwrap();
        let signed = format!("{}.{}.{}", header("webhook-id"), header("webhook-timestamp"), got.body);
        let tag = STANDARD.decode(header("webhook-signature").strip_prefix("v1,").unwrap()).unwrap();
        hmac::verify(&hmac::Key::new(hmac::HMAC_SHA256, &key), signed.as_bytes(), &tag).expect("a good signature");
    }

    async fn endpoint_hears_what_it_names_and_nothing_of_another_site(engine) {
        let (kit, receiver, other) = (Kit::new(engine).await, Receiver::new().await, Receiver::new().await);
        kit.collection("d").await;
        kit.endpoint(&receiver, &[CREATED, "wix.members.v1.member_created"], json!({ "collections": ["d"] })).await;
        let elsewhere = kit.store.store.site_create("Other", &kit.world).await.unwrap();
        let theirs = crate::common::application(&kit.identity, &elsewhere).await;
        let wish = json!({ "appId": theirs.id, "url": other.url, "types": ITEMS });
        let wish = stoa_webhooks::EndpointWish::parse(&wish).unwrap();
        kit.webhooks.endpoint_create(&elsewhere, &app(), wish).await.unwrap();

        kit.insert("a", 1).await;
        kit.insert_into("d", json!({ "_id": "b" })).await;
        let body = json!({ "dataCollectionId": "d", "dataItemId": "b" }).to_string();
        kit.content.item_remove(&kit.site, &app(), &Request::parse(body.as_bytes()).unwrap()).await.unwrap();
        kit.insert_into("d", json!({ "_id": "c" })).await;
        let taken = receiver.until(2).await;
        // Between two items there is no order.
        let mut entities: Vec<&str> = taken.iter().map(|it| it.entity.as_str()).collect();
        entities.sort_unstable();
        assert_eq!(entities, ["b", "c"]);
        assert!(other.got().is_empty() && receiver.got().len() == 2);
    }

    async fn standard_format_is_json(engine) {
        let (kit, receiver) = (Kit::new(engine).await, Receiver::new().await);
        kit.endpoint(&receiver, &[CREATED], json!({ "format": "standard" })).await;
        kit.insert("a", 1).await;
        receiver.until(1).await;
        let got = &receiver.got()[0];
        assert_eq!(got.headers["content-type"], "application/json");
        let body: Value = serde_json::from_str(&got.body).unwrap();
        assert_eq!(body.as_object().unwrap().keys().collect::<Vec<_>>(), ["type", "timestamp", "data"]);
        assert_eq!((&body["type"], &body["data"]["entityId"]), (&json!(CREATED), &json!("a")));
        assert_eq!((&body["data"]["instanceId"], &body["data"]["identity"]["appId"]), (&json!(kit.site.id), &json!("key")));
    }

    async fn many_events_of_one_statement_arrive_each(engine) {
        let (kit, receiver) = (Kit::new(engine).await, Receiver::new().await);
        kit.endpoint(&receiver, &[CREATED], json!({ "format": "standard" })).await;
        kit.insert_many((0..600).map(|n| format!("i{n}"))).await;
        let taken = receiver.until(600).await;
        let mut entities: Vec<String> = taken.iter().map(|it| it.entity.clone()).collect();
        entities.sort();
        entities.dedup();
        assert_eq!((entities.len(), receiver.got().len()), (600, 600));
    }

    async fn what_is_too_long_goes_without_its_data(engine) {
        let (kit, receiver) = (Kit::new(engine).await, Receiver::answering(|got| match got.body.len() {
            0..2_500 => Reply::Status(200),
            _ => Reply::Status(413),
        }).await);
        kit.endpoint(&receiver, &[CREATED], json!({ "maxBytes": 20_000 })).await;
        // One passes the limit of the endpoint, the other that of the receiver alone.
        kit.insert_into("c", json!({ "_id": "long", "text": "x".repeat(20_000) })).await;
        kit.insert_into("c", json!({ "_id": "middle", "text": "x".repeat(4_000) })).await;
        let taken = receiver.until(2).await;
        for event in &taken {
            assert_eq!(event.body["dataOmitted"], true);
            let entity = json!({ "id": event.entity, "dataCollectionId": "c" });
            assert_eq!(event.body["createdEvent"]["entity"], entity);
        }
        assert_eq!(receiver.got().len(), 3);
    }

    async fn truncate_tells_the_items_that_went(engine) {
        let (kit, receiver) = (Kit::new(engine).await, Receiver::new().await);
        kit.insert_many(["a", "b"].map(str::to_owned).into_iter()).await;
        kit.endpoint(&receiver, &[DELETED], json!({})).await;
        let body = json!({ "dataCollectionId": "c" }).to_string();
        kit.content.item_truncate(&kit.site, &app(), &Request::parse(body.as_bytes()).unwrap()).await.unwrap();
        let mut entities: Vec<String> = receiver.until(2).await.into_iter().map(|it| it.entity).collect();
        entities.sort();
        assert_eq!(entities, ["a", "b"]);
    }

    async fn people_are_told_as_they_are(engine) {
        let (kit, receiver) = (Kit::new(engine).await, Receiver::new().await);
        let types = ["wix.badges.v4.badge_created", "wix.iam.signon.v1.sign_on_policy_updated"];
        kit.endpoint(&receiver, &types, json!({})).await;
        let change = stoa_identity::policy::PolicyChange { require_captcha: Some(true), ..Default::default() };
        kit.identity.policy_update(&kit.site, &app(), change).await.unwrap();
        let taken = receiver.until(1).await;
        assert_eq!(taken[0].body["updatedEvent"]["currentEntity"]["requireCaptcha"], true);
        assert_eq!(taken[0].event_type, types[1]);
    }

    async fn rotation_of_the_key_loses_nothing(engine) {
        let (kit, receiver) = (Kit::new(engine).await, Receiver::new().await);
        kit.endpoint(&receiver, &[CREATED], json!({})).await;
        let (site, client) = (&kit.site.id, &kit.client.id);
        let first = kit.identity.app_key_list(site, client).await.unwrap().pop().unwrap().id;
        let deployed = std::sync::Arc::new(parking_lot::Mutex::new(first));
        // A receiver that holds one key, as the public client does.
        let holds = deployed.clone();
        receiver.answer(move |got| match kid(&got.body) == *holds.lock() {
            true => Reply::Status(200),
            false => Reply::Status(500),
        });
        kit.insert("a", 1).await;
        receiver.until(1).await;
        let next = kit.identity.app_key_rotate(site, client).await.unwrap().id;
        kit.insert("b", 1).await;
        receiver.until(2).await;
        // Deployed too early: what comes between is refused, and sent again.
        *deployed.lock() = next.clone();
        kit.insert("c", 1).await;
        receiver.until_got(3).await;
        kit.identity.app_key_activate(site, client, Some(&next)).await.unwrap();
        kit.insert("d", 1).await;
        let taken = receiver.until(4).await;
        let mut entities: Vec<&str> = taken.iter().map(|it| it.entity.as_str()).collect();
        entities.sort_unstable();
        assert_eq!(entities, ["a", "b", "c", "d"]);
        let last: Vec<Event> = receiver.got().iter().filter(|it| kid(&it.body) == next).map(Event::of).collect();
        assert!(last.iter().any(|it| it.entity == "c"), "signed anew");
    }
}

fn kid(token: &str) -> String {
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    let header: Value =
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(token.split('.').next().unwrap()).unwrap()).unwrap();
    header["kid"].as_str().unwrap().to_owned()
}
