//! Emptying a collection, and the values of deleted fields.

use crate::common::*;
use serde_json::json;
use stoa_content::{Content, Limits, Request};
use stoa_kernel::{Caller, Result};
use stoa_store::boxed;
use stoa_testkit::on_both_engines;

async fn truncate(world: &World, caller: &Caller, collection: &str) -> Result<()> {
    let body = json!({ "dataCollectionId": collection }).to_string();
    world.content.item_truncate(&world.site, caller, &Request::parse(body.as_bytes())?).await
}

async fn fill(world: &World, count: usize) {
    for start in (0..count).step_by(1000) {
        let items = (start..count.min(start + 1000))
            .map(|n| json!({ "_id": format!("i{n}"), "n": n, "title": "x", "tags": ["a"] }));
        let outcomes = world.bulk(&app(), "insert", &many(items)).await.unwrap();
        assert!(outcomes.iter().all(|it| it.fault.is_none()));
    }
}

/// As a process leaves a job that was killed in its midst.
async fn leave_a_truncate(world: &World) {
    let write = world.site.write_with(world.site.id.clone(), |tx, site| {
        boxed!({
            let sql = "insert into stoa.sweep (site, collection, id, kind, upto, started, done, touched) \
                       select $1, number, 's', 'TRUNCATE', 1000000, $2, 0, $2 from stoa.collection where id = 'c'";
            tx.execute(sql, &stoa_sql::params![site, 1_767_225_600_000_i64]).await?;
            Ok(())
        })
    });
    write.await.unwrap();
}

async fn count(world: &World) -> i64 {
    world.count(&app(), json!({})).await.unwrap()
}

on_both_engines! {
    async fn truncate_leaves_nothing_and_tells_of_it_once(engine) {
        let world = World::open(engine).await;
        fill(&world, 1_700).await;
        truncate(&world, &owner(), "c").await.unwrap();
        assert_eq!(count(&world).await, 0);
        let (kind, event) = world.outbox().await.pop().unwrap();
        assert_eq!(kind, "data_items_truncated");
        assert_eq!(event, json!({ "collection": "c", "identity": { "type": "WIX_USER", "id": "olga" }, "truncated": true }));
        truncate(&world, &app(), "c").await.unwrap();
        world.insert(&visitor("v"), json!({ "_id": "i1" })).await.unwrap();
        assert_eq!(count(&world).await, 1);
    }

    async fn truncate_is_for_owners_and_apps_only(engine) {
        let world = World::open(engine).await;
        fill(&world, 3).await;
        for caller in [visitor("v"), member("m"), editor()] {
            assert_eq!(code(truncate(&world, &caller, "c").await), "WDE0027");
        }
        assert_eq!(count(&world).await, 3);
        assert_eq!(code(truncate(&world, &app(), "none").await), "WDE0025");
        let body = Request::parse(b"{}").unwrap();
        assert_eq!(code(world.content.item_truncate(&world.site, &app(), &body).await), "WDE0001");
    }

    async fn truncates_run_beside_each_other_and_a_writer(engine) {
        let world = World::open(engine).await;
        fill(&world, 1_200).await;
        let writer = {
            let (content, site) = (world.content.clone(), world.site.clone());
            tokio::spawn(async move {
                for n in 0..50 {
                    let body = single(json!({ "_id": format!("new{n}") })).to_string();
                    content.item_insert(&site, &app(), &Request::parse(body.as_bytes()).unwrap()).await.unwrap();
                }
            })
        };
        let (app, other) = (app(), owner());
        let (one, two) = tokio::join!(truncate(&world, &app, "c"), truncate(&world, &other, "c"));
        one.unwrap();
        two.unwrap();
        writer.await.unwrap();
        assert_eq!(world.count(&app, json!({ "n": { "$exists": true } })).await.unwrap(), 0, "what was there is gone");
        truncate(&world, &app, "c").await.unwrap();
        assert_eq!(count(&world).await, 0);
    }

    async fn job_of_a_killed_process_is_taken_up(engine) {
        let world = World::open(engine).await;
        fill(&world, 1_100).await;
        leave_a_truncate(&world).await;
        // Another process after the kill. While the one that began may still be at it, it waits.
        let after = World { content: Content::new(world.test.world.clone(), Limits::default()), site: world.site.clone(), test: world.test };
        assert_eq!(count(&after).await, 1_100);
        after.test.clock.advance(10_001);
        after.insert(&app(), json!({ "_id": "later" })).await.unwrap();
        // The server's loop waits for it.
        let stalled = after.content.stalled_jobs_wait().await;
        assert_eq!(stalled.len(), 1);
        after.content.stalled_jobs_do(&stalled[0]).await.unwrap();
        assert_eq!(count(&after).await, 1, "what was inserted later stays");
    }

    async fn deleted_field_takes_its_values_along(engine) {
        let world = World::open(engine).await;
        fill(&world, 1_100).await;
        let before = world.get(&app(), "i7").await.unwrap();
        world.content.field_delete(&world.site, &app(), "c", "tags").await.unwrap();
        let mut wants = before.clone();
        wants.as_object_mut().unwrap().shift_remove("tags");
        assert_eq!(world.get(&app(), "i7").await.unwrap(), wants, "and nothing else of the item changes");
        assert_eq!(world.count(&app(), json!({ "tags": { "$exists": true } })).await.unwrap(), 0);
        assert_eq!(count(&world).await, 1_100);
        // A definition that no longer has the field comes to the same.
        let whole = world.content.collection_get(&world.site, &app(), "c", &[], false).await.unwrap();
        let mut without = whole.clone();
        without["fields"].as_array_mut().unwrap().retain(|it| it["key"] != "n");
        world.content.collection_update(&world.site, &app(), &without).await.unwrap();
        assert_eq!(world.count(&app(), json!({ "n": { "$exists": true } })).await.unwrap(), 0);
        let field = json!({ "key": "tags", "type": "TEXT" });
        world.content.field_create(&world.site, &app(), "c", &field).await.unwrap();
        world.save(&app(), json!({ "_id": "i7", "tags": "new" })).await.unwrap();
        assert_eq!(world.get(&app(), "i7").await.unwrap()["tags"], "new");
    }

    async fn deleted_key_is_refused_while_its_values_go(engine) {
        let world = World::open(engine).await;
        fill(&world, 10).await;
        let write = world.site.write_with(world.site.id.clone(), |tx, site| {
            boxed!({
                let sql = "insert into stoa.sweep (site, collection, id, kind, field, upto, started, done, touched) \
                           select $1, number, 's', 'FIELD', 'gone', 5, 0, 0, $2 from stoa.collection where id = 'c'";
                tx.execute(sql, &stoa_sql::params![site, 1_767_225_600_000_i64]).await?;
                Ok(())
            })
        });
        write.await.unwrap();
        let field = json!({ "key": "gone", "type": "TEXT" });
        assert_eq!(code(world.content.field_create(&world.site, &app(), "c", &field).await), "WDE0024");
        let other = json!({ "key": "other", "type": "TEXT" });
        world.content.field_create(&world.site, &app(), "c", &other).await.unwrap();
    }
}
