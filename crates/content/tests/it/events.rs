//! Rows of the outbox become the events of docs/protocol/content.md §16.

use crate::common::{World, app, many, member, single};
use serde_json::{Value, json};
use std::time::Duration;
use stoa_content::{
    ItemEvent,
    event::read::KINDS,
    transfer::{FileOf, Format},
};
use stoa_store::outbox::Start;
use stoa_testkit::on_both_engines;

/// Reads as a consumer does, from where it was to the end. On PostgreSQL a transaction of another database
/// holds readers up, so it asks again until there are as many as were made.
async fn read(world: &World, made: usize) -> Vec<ItemEvent> {
    let outbox = world.site.outbox();
    outbox.subscribe("test", Start::Oldest).await.unwrap();
    let consumer = outbox.consumers().await.unwrap().pop().unwrap();
    let lease = outbox.take(&consumer, "me").await.unwrap().unwrap();
    let mut place = lease.position;
    let mut events = Vec::new();
    loop {
        let batch = outbox.read(place, &KINDS, 2).await.unwrap();
        for entry in &batch.entries {
            events.extend(world.content.item_events(&world.site, entry).await.unwrap());
        }
        place = batch.end;
        assert!(outbox.advance(&lease, place).await.unwrap());
        if batch.is_last && events.len() >= made {
            return events;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

on_both_engines! {
    async fn events_have_the_documented_shape(engine) {
        let world = World::open(engine).await;
        let ann = member("ann");
        world.insert(&ann, json!({ "_id": "a", "n": 1, "title": "x", "at": { "$date": "2024-03-05T06:07:08.009Z" } })).await.unwrap();
        world.update(&app(), json!({ "_id": "a", "n": 2, "title": "x" }), None).await.unwrap();
        world.remove(&ann, "a", None).await.unwrap();
        let events = read(&world, 3).await;
        let types: Vec<_> = events.iter().map(|it| it.event_type.trim_start_matches("wix.data.v2.data_item_")).collect();
        assert_eq!(types, ["created", "updated", "deleted"]);

        let created = &events[0].body;
        assert_eq!(created["entityFqdn"], "wix.data.v2.data_item");
        assert_eq!((&created["slug"], &created["entityId"]), (&json!("created"), &json!("a")));
        assert_eq!(created["eventTime"], "2026-01-01T00:00:00.000Z");
        assert_eq!((&created["triggeredByAnonymizeRequest"], &created["originatedFrom"]), (&json!(false), &Value::Null));
        let entity = &created["createdEvent"]["entity"];
        assert_eq!((&entity["id"], &entity["dataCollectionId"], &entity["data"]["n"]), (&json!("a"), &json!("c"), &json!(1)));
        assert_eq!(entity["data"]["at"]["$date"], "2024-03-05T06:07:08.009Z");
        assert_eq!(events[0].identity, json!({ "identityType": "MEMBER", "memberId": "ann" }));

        let updated = &events[1].body["updatedEvent"];
        assert_eq!(updated["currentEntity"]["data"]["n"], 2);
        assert_eq!(updated["modifiedFields"], json!({ "n": 2, "at": null }));
        assert_eq!(events[1].identity, json!({ "identityType": "APP", "appId": "key" }));
        assert_eq!(events[2].body["deletedEvent"]["deletedEntity"], json!({ "id": "a", "dataCollectionId": "c" }));

        let sequence = |it: &ItemEvent| it.body["entityEventSequence"].as_str().unwrap().parse::<i64>().unwrap();
        assert!(events.windows(2).all(|it| sequence(&it[0]) < sequence(&it[1])), "the order of changes can be told");
        assert!(read(&world, 0).await.is_empty(), "what was read is not read again");
    }

    async fn events_of_one_statement_are_told_apart(engine) {
        let world = World::open(engine).await;
        world.bulk(&app(), "insert", &many((0..3).map(|n| json!({ "_id": format!("i{n}"), "n": n })))).await.unwrap();
        world.bulk(&app(), "remove", &json!({ "dataCollectionId": "c", "dataItemIds": ["i0", "i2"] })).await.unwrap();
        let events = read(&world, 5).await;
        let ids: Vec<_> = events.iter().map(|it| it.body["entityId"].as_str().unwrap()).collect();
        assert_eq!(ids, ["i0", "i1", "i2", "i0", "i2"]);
        let names: std::collections::HashSet<_> = events.iter().map(|it| it.body["id"].to_string()).collect();
        assert_eq!(names.len(), 5, "each event has an id of its own");
    }

    /// An import names its items: a large file is not written twice.
    async fn import_events_name_their_items(engine) {
        let world = World::open(engine).await;
        world.insert(&app(), json!({ "_id": "i1", "n": -1 })).await.unwrap();
        let lines: String = (0..3).map(|n| format!("{{\"_id\":\"i{n}\",\"n\":{n},\"title\":\"{}\"}}\n", "t".repeat(500))).collect();
        let file = lines.as_bytes();
        world.content.import(&world.site, &app(), FileOf { collection: "c", format: Format::JsonLines }, file, |_| {}).await.unwrap();
        let rows = world.outbox().await;
        assert!(rows[1..].iter().all(|it| it.1.get("items").is_none() && it.1.to_string().len() < 200), "{rows:?}");
        world.bulk(&app(), "save", &json!({ "dataCollectionId": "c", "dataItems": [single(json!({ "_id": "i0", "n": 7 }))["dataItem"]] })).await.unwrap();
        world.remove(&app(), "i2", None).await.unwrap();

        let events = read(&world, 5).await;
        let announced: Vec<_> = events[1..].iter().map(|it| (it.body["slug"].as_str().unwrap(), it.body["entityId"].as_str().unwrap())).collect();
        assert_eq!(announced, [("created", "i0"), ("updated", "i1"), ("updated", "i0"), ("deleted", "i2")]);
        assert_eq!(events[1].body["createdEvent"]["entity"]["data"]["n"], 7, "as it is when it is told");
    }
}
