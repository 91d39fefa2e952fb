//! Tasks that wait for their time: what a program does with them that was stopped, or killed, and what others hear.

use crate::common::*;
use serde_json::{Value, json};
use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};
use stoa_content::{Content, ContentLimits, TaskRequest};
use stoa_kernel::{Caller, Code, Fault, SiteId, clock::Clock, date};
use stoa_store::{Credential, ReaderPool, Standing, TxFuture, boxed};
use stoa_testkit::on_both_engines;

const DAY: i64 = 24 * 3_600_000;

/// All sessions have ended; the people and keys are who they were.
struct SignedOut;

impl Standing for SignedOut {
    fn still<'t>(&'t self, _: &'t SiteId, _: &'t Caller) -> TxFuture<'t, bool> {
        boxed!(Ok(true))
    }

    fn holds<'t>(&'t self, _: &'t SiteId, _: &'t Credential) -> TxFuture<'t, bool> {
        boxed!(Ok(false))
    }
}

/// Nothing can be asked at the moment, and how often it was tried.
struct Away(Arc<AtomicUsize>);

impl Standing for Away {
    fn still<'t>(&'t self, _: &'t SiteId, _: &'t Caller) -> TxFuture<'t, bool> {
        self.0.fetch_add(1, Ordering::SeqCst);
        boxed!(Err(Fault::new(Code::Unavailable)))
    }

    fn holds<'t>(&'t self, _: &'t SiteId, _: &'t Credential) -> TxFuture<'t, bool> {
        boxed!(Err(Fault::new(Code::Unavailable)))
    }
}

/// A collection of drafts, and a task of this caller that is to publish those with `n` below 150 in thirty days.
async fn scheduled(world: &World, caller: &Caller) -> String {
    let plugin = json!([{ "type": "PUBLISH", "publishOptions": { "defaultStatus": "DRAFT" } }]);
    let open = json!({ "itemRead": "ANYONE", "itemInsert": "ANYONE", "itemUpdate": "ANYONE", "itemRemove": "ANYONE" });
    world.create_with("c", json!({ "dataPermissions": open, "plugins": plugin })).await;
    crate::jobs::fill(world, 200).await;
    let at = date::print(world.test.clock.now() + 30 * DAY);
    let options = json!({
        "dataCollectionId": "c", "filter": { "n": { "$lt": 150 }, "title": "x" }, "operation": "SCHEDULE_PUBLISHED_STATUS",
        "schedulePublishedStatusOptions": { "date": at },
    });
    let body = json!({ "task": { "type": "UPDATE_PUBLISH_STATUS", "updatePublishStatusOptions": options } });
    let request = TaskRequest::parse(&body, &ContentLimits::default()).unwrap();
    let credential = Credential { caller: caller.clone(), grant: None };
    let task = world.content.task_create(&world.site, credential, request).await.unwrap();
    let id = task["id"].as_str().unwrap().to_owned();
    until(world, &id, |it| it["estimatedItemCount"] == 150 && it["itemsSucceeded"] == 0).await;
    id
}

async fn until(world: &World, id: &str, is_so: impl Fn(&Value) -> bool) -> Value {
    for _ in 0..1_000 {
        let state = world.content.task_get(&world.site, &app(), id).await.unwrap();
        if is_so(&state) {
            return state;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{id} stands still");
}

/// Waits until a task has ended, while time goes on: when the next try is due is counted from the end of the one before.
async fn ended(world: &World, id: &str) -> Value {
    let is_so = |it: &Value| {
        world.test.clock.advance(30);
        it["finishedAt"].is_string()
    };
    until(world, id, is_so).await
}

async fn published(world: &World) -> i64 {
    world.count(&visitor("v"), json!({})).await.unwrap()
}

/// Another process on the same site.
fn restarted(world: World) -> World {
    let content = Content::new(world.test.world.clone(), ContentLimits::default());
    World { content, site: world.site.clone(), test: world.test }
}

/// How many items say when they are to be published.
async fn marked(world: &World) -> i64 {
    let request = members(json!({
        "dataCollectionId": "c", "filter": { "_publishDate": { "$exists": true } },
        "publishPluginOptions": { "includeDraftItems": true },
    }));
    world.content.item_count(&world.site, &app(), None, &request).await.unwrap()
}

/// How many items were told of as changed, and what the rows of jobs keep of their filters.
async fn told(world: &World) -> usize {
    let told = world.outbox().await.into_iter().filter(|(kind, _)| kind == "data_item_updated");
    told.map(|(_, event)| event["items"].as_array().unwrap().len()).sum()
}

on_both_engines! {
    async fn schedule_is_kept_by_a_program_that_slept_past_it(engine) {
        let world = World::new(engine).await;
        let id = scheduled(&world, &editor()).await;
        assert_eq!(told(&world).await, 150, "the marks");
        let kept = world.site.read(ReaderPool::Point, |tx| boxed!({
            let sql = "select request || task from stoa.async_job";
            Ok(tx.row(sql, &[], |row| row.get::<String>(0)).await?)
        }));
        assert!(!kept.await.unwrap().unwrap().contains("title"), "what was asked for is not kept for months");
        world.test.clock.advance(30 * DAY - 1);
        let world = restarted(world);
        assert_eq!(world.content.task_get(&world.site, &app(), &id).await.unwrap()["status"], "RUNNING");
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert_eq!((published(&world).await, told(&world).await), (0, 150));
        assert!(world.content.async_jobs_due().is_empty());
        world.test.clock.advance(9 * DAY);
        assert_eq!(world.content.async_jobs_due().as_slice(), std::slice::from_ref(&world.site.id), "the site is opened for it");
        let world = restarted(world);
        assert!(world.content.async_jobs_due().is_empty(), "the next process knows of no site");
        world.content.async_jobs_look(&world.site).await;
        assert_eq!(world.content.async_jobs_due().as_slice(), std::slice::from_ref(&world.site.id), "until it has looked at it");
        let away = Fault::new(Code::Unavailable);
        world.content.async_jobs_unseen(&world.site.id, &away);
        assert!(world.content.async_jobs_due().is_empty());
        world.test.clock.advance(30_000);
        assert_eq!(world.content.async_jobs_due().as_slice(), std::slice::from_ref(&world.site.id), "it is tried again");
        let gone = Fault::new(Code::SiteUnknown);
        world.content.async_jobs_unseen(&world.site.id, &gone);
        assert!(world.content.async_jobs_due().is_empty());
        world.content.keep_standing(Arc::new(SignedOut));
        let state = ended(&world, &id).await;
        assert_eq!((&state["status"], &state["itemsSucceeded"]), (&json!("COMPLETED"), &json!(150)), "{state}");
        assert_eq!((published(&world).await, told(&world).await), (150, 300));
    }

    async fn publishing_goes_on_where_a_killed_process_left_it(engine) {
        let world = World::new(engine).await;
        let id = scheduled(&world, &app()).await;
        let now = world.test.clock.now() + 30 * DAY;
        // As it is left by one that was killed when it had taken the task up.
        let left = world.site.write(move |tx| boxed!({
            let sql = "update stoa.async_job set status = 'PROCESSING', runner = 'gone', touched = $1, attempts = 1";
            tx.execute(sql, &stoa_sql::params![now]).await?;
            Ok(())
        }));
        left.await.unwrap();
        world.test.clock.advance(30 * DAY);
        let world = restarted(world);
        world.content.task_get(&world.site, &app(), &id).await.unwrap();
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert_eq!(published(&world).await, 0, "while the one that began may still be at it, no other works on it");
        world.test.clock.advance(3_001);
        assert_eq!(ended(&world, &id).await["itemsSucceeded"], 150);
        assert_eq!(published(&world).await, 150);
    }

    async fn what_waits_outlasts_trouble_of_the_server(engine) {
        let world = World::new(engine).await;
        let id = scheduled(&world, &editor()).await;
        let tried = Arc::new(AtomicUsize::new(0));
        // The first process may still look for work when the time has come.
        world.content.keep_standing(Arc::new(Away(tried.clone())));
        world.test.clock.advance(30 * DAY);
        let world = restarted(world);
        world.content.keep_standing(Arc::new(Away(tried.clone())));
        // More often than a job may fail by itself.
        for n in 1..=12 {
            while tried.load(Ordering::SeqCst) < n {
                assert_eq!(world.content.task_get(&world.site, &app(), &id).await.unwrap()["status"], "RUNNING");
                // Time goes on: when the next try is due is counted from the end of the one before.
                world.test.clock.advance(100);
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
        let world = restarted(world);
        world.test.clock.advance(3_001);
        assert_eq!(ended(&world, &id).await["status"], "COMPLETED");
        assert_eq!(published(&world).await, 150);
    }

    async fn schedule_that_fails_while_it_marks_takes_its_marks_away(engine) {
        let world = World::new(engine).await;
        let id = scheduled(&world, &editor()).await;
        assert_eq!(marked(&world).await, 150);
        world.content.keep_standing(Arc::new(SignedOut));
        // As it is in the middle of the first pass.
        let before = world.site.write(|tx| boxed!({
            tx.execute("update stoa.async_job set pass = 0, due = null, done = '', succeeded = 50", &[]).await?;
            Ok(())
        }));
        before.await.unwrap();
        let world = restarted(world);
        world.content.keep_standing(Arc::new(SignedOut));
        let state = ended(&world, &id).await;
        assert_eq!((&state["status"], &state["failures"][0]["code"], &state["itemsSucceeded"]), (&json!("FAILED"), &json!("WDE0027"), &json!(0)), "{state}");
        assert_eq!(marked(&world).await, 0, "no item says that it will be published");
    }

    async fn cancelled_task_is_cleared_by_whom_it_is_left_to(engine) {
        let world = World::new(engine).await;
        let id = scheduled(&world, &app()).await;
        let told = world.content.task_cancel(&world.site, &app(), &id).await.unwrap();
        assert_eq!(told["status"], "FAILED");
        let again = world.content.task_cancel(&world.site, &app(), &id).await.unwrap();
        assert_eq!(again["failures"][0]["code"], "CANCELLED");
        let world = restarted(world);
        assert_eq!(ended(&world, &id).await["failures"], json!([{ "code": "CANCELLED", "description": "The task was cancelled." }]));
        assert_eq!(marked(&world).await, 0);
        world.test.clock.advance(31 * DAY);
        assert_eq!(published(&world).await, 0);
    }
}
