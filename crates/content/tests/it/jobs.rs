//! Emptying a collection, and the values of deleted fields.

use crate::common::*;
use serde_json::json;
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};
use stoa_content::{Content, ContentLimits, Request};
use stoa_kernel::{Caller, Result, SiteId};
use stoa_store::{Credential, ReaderPool, Standing, TxFuture, boxed};
use stoa_testkit::on_both_engines;

async fn truncate(world: &World, caller: &Caller, collection: &str) -> Result<()> {
    let body = json!({ "dataCollectionId": collection }).to_string();
    world.content.item_truncate(&world.site, caller, &Request::parse(body.as_bytes())?).await
}

pub async fn fill(world: &World, count: usize) {
    for start in (0..count).step_by(1000) {
        let items = (start..count.min(start + 1000))
            .map(|n| json!({ "_id": format!("i{n}"), "n": n, "title": "x", "tags": ["a"] }));
        let outcomes = world.bulk(&app(), "insert", &many(items)).await.unwrap();
        assert!(outcomes.iter().all(|it| it.fault.is_none()));
    }
}

/// Callers are who they were for so many questions.
struct StillFor(AtomicUsize);

impl Standing for StillFor {
    fn still<'t>(&'t self, _: &'t SiteId, _: &'t Caller) -> TxFuture<'t, bool> {
        let left = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |it| it.checked_sub(1));
        boxed!(Ok(left.is_ok()))
    }

    fn holds<'t>(&'t self, site: &'t SiteId, credential: &'t Credential) -> TxFuture<'t, bool> {
        self.still(site, &credential.caller)
    }
}

/// The same site in another process, where callers lose their rights after so many questions.
pub fn with_standing(world: World, questions: usize) -> World {
    let content = Content::new(world.test.world.clone(), ContentLimits::default());
    content.keep_standing(Arc::new(StillFor(questions.into())));
    World { content, site: world.site.clone(), test: world.test }
}

/// As a process leaves the job of somebody that it has half done.
async fn leave_a_job(world: &World, field: Option<&'static str>, caller: &'static str) {
    let write = world.site.write_with(world.site.id.clone(), move |tx, site| {
        boxed!({
            let kind = if field.is_some() { "FIELD" } else { "TRUNCATE" };
            let field = field.map(str::to_owned);
            let sql = "insert into stoa.sweep (site, collection, id, kind, field, upto, started, done, touched, event, asker) \
                       select $1, number, 's', $2, $3, 1000000, $4, 500, $4, '{}', $5 from stoa.collection where id = 'c'";
            tx.execute(sql, &stoa_sql::params![site, kind, field, 1_767_225_600_000_i64, caller]).await?;
            Ok(())
        })
    });
    write.await.unwrap();
}

/// Lets the server take up what stands still.
async fn take_up(world: &World) {
    world.test.clock.advance(10_001);
    count(world).await;
    let stalled = world.content.stalled_jobs_wait().await;
    world.content.stalled_jobs_do(&stalled[0]).await.unwrap();
    let read = world.site.read(ReaderPool::Scan, |tx| {
        boxed!(Ok(tx.rows("select id from stoa.sweep", &[], |row| row.get::<String>(0)).await?))
    });
    assert_eq!(read.await.unwrap(), [""; 0], "nothing is left to be taken up");
}

async fn was_announced(world: &World) -> bool {
    world.outbox().await.iter().any(|(kind, _)| kind == "data_items_truncated")
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
    async fn truncate_leaves_nothing_and_one_event(engine) {
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
        let after = World { content: Content::new(world.test.world.clone(), ContentLimits::default()), site: world.site.clone(), test: world.test };
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

    async fn truncate_stops_when_its_caller_loses_the_right(engine) {
        let world = World::open(engine).await;
        fill(&world, 1_700).await;
        let world = with_standing(world, 2);
        assert_eq!(code(truncate(&world, &owner(), "c").await), "WDE0027");
        assert_eq!(count(&world).await, 700, "the rest is there");
        assert!(!was_announced(&world).await);
    }

    async fn truncate_job_ends_with_the_rights_of_its_caller(engine) {
        for (caller, questions, left) in [
            (r#"{"app":"key"}"#, 0, 1_700),
            (r#"{"app":"key"}"#, 1, 1_200),
            (r#"{"user":"olga","role":"OWNER"}"#, 1, 1_200),
            (r#"{"user":"olga","role":"OWNER"}"#, 9, 500),
            (r#"{"user":"edda","role":"EDITOR"}"#, 9, 1_700),
        ] {
            let world = World::open(engine).await;
            fill(&world, 1_700).await;
            leave_a_job(&world, None, caller).await;
            let world = with_standing(world, questions);
            take_up(&world).await;
            assert_eq!(count(&world).await, left, "{caller} {questions}");
            assert_eq!(was_announced(&world).await, left == 500, "{caller} {questions}");
        }
    }

    async fn purge_job_ends_when_the_collection_is_kept(engine) {
        let editor = r#"{"user":"edda","role":"EDITOR"}"#;
        for (level, left) in [("PRIVILEGED", 1_100), ("CMS_EDITOR", 500)] {
            let world = World::open(engine).await;
            fill(&world, 1_100).await;
            leave_a_job(&world, Some("tags"), editor).await;
            let levels = json!({ "id": "c", "dataPermissions": { "itemUpdate": level } });
            world.content.collection_patch(&world.site, &owner(), &levels).await.unwrap();
            let world = with_standing(world, 99);
            take_up(&world).await;
            assert_eq!(world.count(&app(), json!({ "tags": { "$exists": true } })).await.unwrap(), left, "{level}");
        }
    }

    async fn job_without_a_caller_goes_on(engine) {
        let world = World::open(engine).await;
        fill(&world, 1_100).await;
        leave_a_truncate(&world).await;
        let world = with_standing(world, 0);
        take_up(&world).await;
        assert_eq!(count(&world).await, 0);
    }
}
