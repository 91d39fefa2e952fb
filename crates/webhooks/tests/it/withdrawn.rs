//! What may not be told any more by the time when it could be.

use crate::common::{CREATED, Event, ITEMS, Kit, Receiver, Reply, app};
use serde_json::json;
use stoa_identity::client::NewClient;
use stoa_kernel::{ClientId, Scopes};
use stoa_sql::params;
use stoa_store::boxed;
use stoa_testkit::on_both_engines;

/// What an owner agrees to for an application of others.
async fn agree(kit: &Kit, app: &ClientId, scopes: &'static str) {
    let agreed = kit.site.write_with((kit.site.id.clone(), app.clone()), move |tx, (site, app)| {
        boxed!({
            let sql = "insert into stoa.installation (site, client, scopes, person, created) values ($1, $2, $3, '', 0) \
                       on conflict (site, client) do update set scopes = excluded.scopes";
            tx.execute(sql, &params![site, app, scopes]).await?;
            Ok(())
        })
    });
    agreed.await.unwrap();
}

on_both_engines! {
    async fn person_who_was_erased_is_told_of_no_more(engine) {
        let kit = Kit::new(engine).await;
        let receiver = Receiver::answering(|_| Reply::Status(500)).await;
        let types = ["wix.members.v1.member_created", "wix.members.v1.member_deleted"];
        let (endpoint, _) = kit.endpoint(&receiver, &types, json!({ "format": "standard" })).await;
        let mut members = Vec::new();
        for name in ["ada", "ben", "cleo", "dan"] {
            let email = format!("{name}@example.org");
            members.push(kit.identity.member_create(&kit.site, &app(), &email, Default::default()).await.unwrap());
        }
        kit.until(&endpoint.id, "open", |it| it["state"] == "OPEN").await;
        kit.identity.member_delete(&kit.site, &app(), &members[0].id).await.unwrap();
        // What is on its way at that moment may still arrive.
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        let before = receiver.got().len();
        receiver.answer(|_| Reply::Status(200));
        let taken = receiver.until(4).await;
        assert_eq!(taken.iter().filter(|it| it.event_type == types[1]).count(), 1);
        assert!(receiver.got()[before..].iter().all(|it| !it.body.contains("ada@")), "{:?}", receiver.got());
    }

    async fn what_no_owner_has_agreed_to_is_not_sent(engine) {
        let (kit, receiver) = (Kit::new(engine).await, Receiver::new().await);
        kit.collection("d").await;
        let new = NewClient {
            name: "Partner".to_owned(),
            with_secret: true,
            is_third_party: true,
            scopes: Some(Scopes::among("items:read")),
            ..Default::default()
        };
        let (partner, _) = kit.identity.client_create(&kit.site.id, new).await.unwrap();
        let wish = json!({ "appId": partner.id, "format": "standard" });
        let (endpoint, _) = kit.endpoint(&receiver, &ITEMS, wish).await;
        kit.insert_into("d", json!({ "_id": "secret" })).await;
        kit.insert("a", 1).await;
        let status = kit.until(&endpoint.id, "open", |it| it["state"] == "OPEN").await;
        assert_eq!(status["reason"], "No owner of the site has installed the application.");
        assert!(receiver.got().is_empty());
        // Nothing was lost meanwhile, and what was read before tells no more than is agreed to.
        agree(&kit, &partner.id, "items:read:c").await;
        receiver.until(1).await;
        kit.insert_into("d", json!({ "_id": "secret2" })).await;
        kit.insert("b", 1).await;
        let taken = receiver.until(2).await;
        assert_eq!(taken.iter().map(|it| it.entity.as_str()).collect::<Vec<_>>(), ["a", "b"]);
        // While it fails, it is agreed to less.
        receiver.answer(|_| Reply::Status(500));
        kit.insert_many((0..4).map(|it| format!("later{it}"))).await;
        kit.until(&endpoint.id, "open", |it| it["state"] == "OPEN").await;
        agree(&kit, &partner.id, "items:read:d").await;
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        receiver.answer(|_| Reply::Status(200));
        kit.insert_into("d", json!({ "_id": "public" })).await;
        let taken = receiver.until(3).await;
        assert_eq!((taken[2].entity.as_str(), taken[2].event_type.as_str()), ("public", CREATED));
        assert!(receiver.taken().iter().all(|it: &Event| !it.entity.starts_with("later")));
    }
}
