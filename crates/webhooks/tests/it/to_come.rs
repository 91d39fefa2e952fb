//! Rows of modules that are not built: backups and movement jobs. Nothing of this program writes them, so the test does,
//! as those modules will; from there on they go the way of all others.

use crate::common::{CREATED, Event, Kit, Receiver, Reply, app, verified};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use stoa_kernel::{EndpointId, SiteId};
use stoa_sql::params;
use stoa_store::{boxed, outbox};
use stoa_testkit::on_both_engines;
use stoa_webhooks::EndpointWish;

const JOB_UPDATED: &str = "wix.hub.v1.job_updated";

/// The kind of a row and its payload without the author; the type, the entity and the change of its event.
fn cases() -> [(&'static str, Value, &'static str, &'static str, Value); 5] {
    let backup = json!({ "id": "b", "status": "READY", "type": "ON_DEMAND", "collections": [{ "id": "cars" }] });
    let restoration = json!({ "id": "r", "status": "COMPLETED", "backup": backup });
    let job = |status: &str| json!({ "id": "j", "status": status, "progress": { "current": 1, "total": 2 } });
    let modified = json!({ "status": "COMPLETED", "finishedAt": null });
    [
        (
            "backup_state_changed",
            json!({ "entity": backup }),
            "wix.data.v2.backup_backup_state_changed",
            "b",
            json!({ "actionEvent": { "body": { "backup": backup } } }),
        ),
        (
            "restoration_state_changed",
            json!({ "entity": restoration }),
            "wix.data.v2.backup_restoration_state_changed",
            "b",
            json!({ "actionEvent": { "body": { "restoration": restoration } } }),
        ),
        (
            "movement_job_created",
            json!({ "entity": job("IN_PROGRESS") }),
            "wix.hub.v1.job_created",
            "j",
            json!({ "createdEvent": { "entity": job("IN_PROGRESS") } }),
        ),
        (
            "movement_job_updated",
            json!({ "entity": job("COMPLETED"), "modified": [["status", "finishedAt"]] }),
            JOB_UPDATED,
            "j",
            json!({ "updatedEvent": { "currentEntity": job("COMPLETED"), "modifiedFields": modified } }),
        ),
        (
            "movement_job_deleted",
            json!({ "entity": { "id": "j" } }),
            "wix.hub.v1.job_deleted",
            "j",
            json!({ "deletedEvent": {} }),
        ),
    ]
}

/// Has the endpoint hear of these types, which nobody can ask for yet.
async fn set_types(kit: &Kit, id: &EndpointId, types: &[&str]) {
    kit.webhooks.endpoint_pause(&kit.site, &app(), id).await.unwrap();
    kit.until_idle().await;
    let written = kit.site.write_with(json!(types).to_string(), |tx, types| {
        boxed!({
            // There is no other endpoint.
            let sql = "update stoa.webhook_endpoint set types = $1";
            assert_eq!(tx.execute(sql, &params![types.clone()]).await?, 1);
            Ok(())
        })
    });
    written.await.unwrap();
    kit.webhooks.endpoint_resume(&kit.site, &app(), id, stoa_webhooks::Resumption::default()).await.unwrap();
}

/// Writes a row of the log, as a member's doing.
async fn put(kit: &Kit, kind: &'static str, mut payload: Value) {
    payload["identity"] = json!({ "type": "MEMBER", "id": "m" });
    let input = (kit.site.id.to_string(), payload.to_string(), kit.world.now());
    let written = kit.site.write_with(input, move |tx, (site, payload, now)| {
        boxed!(outbox::put(tx, &SiteId::from(site.as_str()), kind, payload.clone(), *now).await)
    });
    written.await.unwrap();
}

on_both_engines! {
    async fn rows_of_backups_and_movement_jobs_are_sent_like_others(engine) {
        let (kit, receiver) = (Kit::new(engine).await, Receiver::new().await);
        let types = cases().map(|it| it.2);
        for event_type in types {
            let asked = json!({ "appId": kit.client.id, "url": receiver.url, "types": [event_type] });
            let refusal = EndpointWish::parse(&asked).unwrap_err();
            assert!(refusal.violations()[0].description.contains("is never sent"), "{:?}", refusal.violations());
        }
        let (endpoint, _) = kit.endpoint(&receiver, &[CREATED], json!({})).await;
        set_types(&kit, &endpoint.id, &[&types[..], &[CREATED]].concat()).await;

        // One of them is refused until it waits apart, so it is made again of what is kept of its row.
        let refused = AtomicUsize::new(0);
        receiver.answer(move |got| {
            let is_refused = Event::of(got).event_type == JOB_UPDATED && refused.fetch_add(1, Relaxed) < 4;
            Reply::Status(if is_refused { 500 } else { 200 })
        });
        for (kind, payload, ..) in cases() {
            put(&kit, kind, payload).await;
        }
        kit.insert("a", 1).await;
        let taken = receiver.until(6).await;
        for (_, _, event_type, entity, change) in cases() {
            let event = taken.iter().find(|it| it.event_type == event_type).expect(event_type);
            assert_eq!(event.entity, entity);
            let (member, value) = change.as_object().unwrap().iter().next().unwrap();
            assert_eq!(&event.body[member], value, "{event_type}");
            let fqdn = event.body["entityFqdn"].as_str().unwrap();
            assert_eq!(format!("{fqdn}_{}", event.body["slug"].as_str().unwrap()), event_type);

            let got = receiver.got().into_iter().rfind(|it| it.headers["webhook-id"] == event.id.as_str()).unwrap();
            let claims = verified(&kit, &got.body).await;
            assert_eq!((&claims["aud"], &claims["jti"]), (&json!(kit.client.id), &json!(event.id)));
            let data: Value = serde_json::from_str(claims["data"].as_str().unwrap()).unwrap();
            let identity: Value = serde_json::from_str(data["identity"].as_str().unwrap()).unwrap();
            assert_eq!(identity, json!({ "identityType": "MEMBER", "memberId": "m" }));
        }
        let of_job: Vec<&str> =
            taken.iter().filter(|it| it.entity == "j").map(|it| it.event_type.as_str()).collect();
        assert_eq!(of_job, [types[2], types[3], types[4]], "its events stay in order");
        kit.until(&endpoint.id, "active", |it| it["parked"] == 0 && it["dead"] == 0).await;
    }
}
