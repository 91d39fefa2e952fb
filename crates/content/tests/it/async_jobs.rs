//! Jobs by filter: what a job does when its caller or its collection is no longer what it was, or its process is gone.

use crate::{
    common::*,
    jobs::{fill, with_standing},
};
use serde_json::{Value, json};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use stoa_content::{Content, ContentLimits, Request};
use stoa_kernel::{
    Caller, Result, SiteId,
    clock::{Clock, FixedClock},
};
use stoa_store::{Credential, ReaderPool, Site, Standing, TxFuture, boxed};
use stoa_testkit::on_both_engines;

fn increments(filter: Value) -> Value {
    let one = json!({ "fieldPath": "count", "action": "INCREMENT_FIELD", "incrementFieldOptions": { "value": 1 } });
    json!({ "dataCollectionId": "c", "filter": filter, "fieldModifications": [one] })
}

async fn begin(world: &World, caller: &Caller, body: &Value) -> Result<String> {
    let (body, credential) = (body.to_string(), Credential { caller: caller.clone(), grant: None });
    let request = Request::parse(body.as_bytes())?;
    match body.contains("fieldModifications") {
        true => world.content.item_patch_by_filter(&world.site, credential, &request).await,
        false => world.content.item_remove_by_filter(&world.site, credential, &request).await,
    }
}

/// Takes four seconds of the test's clock for its first answer. The clock goes on only when the job is noted as worked
/// on by then, however late a busy machine gets to it.
struct Slow {
    clock: Arc<FixedClock>,
    site: Arc<Site>,
    has_answered: AtomicBool,
}

impl Slow {
    async fn until_touched(&self) {
        for _ in 0..3_000 {
            let touched = self.site.read(ReaderPool::Point, |tx| {
                boxed!({
                    Ok(tx
                        .row("select touched from stoa.async_job", &stoa_sql::params![], |row| row.get::<i64>(0))
                        .await?)
                })
            });
            if touched.await.unwrap().unwrap() == self.clock.now() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("no beat says that the job is worked on");
    }
}

impl Standing for Slow {
    fn still<'t>(&'t self, _: &'t SiteId, _: &'t Caller) -> TxFuture<'t, bool> {
        boxed!(Ok(true))
    }

    fn holds<'t>(&'t self, _: &'t SiteId, _: &'t Credential) -> TxFuture<'t, bool> {
        boxed!({
            let times = if self.has_answered.swap(true, Ordering::Relaxed) { 0 } else { 5 };
            for _ in 0..times {
                self.clock.advance(800);
                self.until_touched().await;
            }
            Ok(true)
        })
    }
}

/// How a job has ended.
async fn ended(world: &World, id: &str) -> Value {
    for _ in 0..1_000 {
        let state = world.content.async_job_status(&world.site, &app(), id).await.unwrap();
        if !matches!(state["status"].as_str(), Some("INITIALIZED" | "PROCESSING")) {
            return state;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{id} has not ended");
}

async fn run(world: &World, caller: &Caller, body: &Value) -> Value {
    let id = begin(world, caller, body).await.unwrap();
    ended(world, &id).await
}

async fn count(world: &World, filter: Value) -> i64 {
    world.count(&app(), filter).await.unwrap()
}

/// As a process leaves a job that increments a number and was killed in its midst: items up to `done` have it.
async fn leave_a_job(world: &World, asker: &'static str, done: &'static str) {
    let request = increments(json!({})).to_string();
    let left = world.site.write_with((world.site.id.clone(), request), move |tx, (site, request)| {
        boxed!({
            let sql = "insert into stoa.async_job (site, id, collection, collection_id, kind, status, asker, asker_kind, \
                       asker_id, request, created, done, succeeded, failed, failures, runner, touched, attempts) \
                       select $1, 'left', number, 'c', 'PATCH', 'PROCESSING', $2, 'APP', 'key', $3, $4, $5, 7, 0, '[]', \
                       'gone', $4, 1 from stoa.collection where id = 'c' and deleted is null";
            tx.execute(sql, &stoa_sql::params![site, asker, request.as_str(), 1_767_225_600_000_i64, done]).await?;
            Ok(())
        })
    });
    left.await.unwrap();
}

/// Another process, which sees after a while that nobody works on the job.
fn after_a_kill(world: World) -> World {
    let content = Content::new(world.test.world.clone(), ContentLimits::default());
    world.test.clock.advance(3_001);
    World { content, site: world.site.clone(), test: world.test }
}

on_both_engines! {
    async fn jobs_change_each_item_once(engine) {
        let world = World::open(engine).await;
        fill(&world, 1_250).await;
        let state = run(&world, &app(), &increments(json!({ "n": { "$lt": 1_000 } }))).await;
        assert_eq!(state, json!({ "status": "SUCCEEDED", "successCount": 1_000, "failureCount": 0, "failures": [] }));
        assert_eq!(count(&world, json!({ "count": 1 })).await, 1_000);
        // What the job changes makes its filter hold no more, or hold again: each item is met once.
        let state = run(&world, &app(), &increments(json!({ "count": { "$gte": 1 } }))).await;
        assert_eq!((&state["successCount"], count(&world, json!({ "count": 2 })).await), (&json!(1_000), 1_000));
        let state = run(&world, &app(), &json!({ "dataCollectionId": "c", "filter": { "count": 2 } })).await;
        assert_eq!((&state["successCount"], count(&world, json!({})).await), (&json!(1_000), 250));
        let none = run(&world, &app(), &increments(json!({ "n": -1 }))).await;
        assert_eq!((&none["status"], &none["successCount"]), (&json!("SUCCEEDED"), &json!(0)));
        // All of it is told as any change is.
        let told = world.outbox().await.into_iter().filter(|(kind, _)| kind == "data_item_updated");
        let items: usize = told.map(|(_, event)| event["items"].as_array().unwrap().len()).sum();
        assert_eq!(items, 2_000);
    }

    async fn job_ends_when_its_caller_is_let_in_no_more(engine) {
        let world = World::open(engine).await;
        fill(&world, 350).await;
        let world = with_standing(world, 2);
        let state = run(&world, &member("m"), &increments(json!({ "n": { "$gte": 0 } }))).await;
        assert_eq!((&state["status"], &state["error"]["code"], &state["successCount"]), (&json!("FAILED"), &json!("WDE0027"), &json!(200)));
        assert_eq!(count(&world, json!({ "count": 1 })).await, 200, "what was done stays, and nothing else is done");
        let world = with_standing(world, 1);
        let all = json!({ "dataCollectionId": "c", "filter": { "n": { "$gte": 0 } } });
        assert_eq!(run(&world, &visitor("v"), &all).await["status"], "FAILED");
        assert_eq!(count(&world, json!({})).await, 250);
    }

    async fn job_goes_on_where_a_killed_process_left_it(engine) {
        let world = World::open(engine).await;
        fill(&world, 350).await;
        leave_a_job(&world, r#"{"app":"key"}"#, "i200").await;
        // While the one that began may still be at it, no other works on it.
        assert_eq!(world.content.async_job_status(&world.site, &app(), "left").await.unwrap()["status"], "PROCESSING");
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert_eq!(count(&world, json!({ "count": 1 })).await, 0);
        let world = after_a_kill(world);
        let state = ended(&world, "left").await;
        let rest = (0..350).filter(|n| format!("i{n}").as_str() > "i200").count();
        assert_eq!((&state["status"], &state["successCount"]), (&json!("SUCCEEDED"), &json!(7 + rest)));
        assert_eq!(count(&world, json!({ "count": 1 })).await, rest as i64);
        assert_eq!(count(&world, json!({ "count": { "$gt": 1 } })).await, 0);
    }

    async fn job_ends_with_the_level_of_its_collection(engine) {
        for (level, code) in [("PRIVILEGED", Some("WDE0027")), ("CMS_EDITOR", None)] {
            let world = World::open(engine).await;
            fill(&world, 30).await;
            leave_a_job(&world, r#"{"user":"edda","role":"EDITOR","session":"s"}"#, "").await;
            let levels = json!({ "id": "c", "dataPermissions": { "itemUpdate": level } });
            world.content.collection_patch(&world.site, &owner(), &levels).await.unwrap();
            let world = after_a_kill(world);
            let state = ended(&world, "left").await;
            assert_eq!(state["error"]["code"].as_str(), code, "{state}");
            assert_eq!(count(&world, json!({ "count": 1 })).await, if code.is_some() { 0 } else { 30 });
        }
    }

    async fn job_ends_with_its_collection(engine) {
        let world = World::open(engine).await;
        fill(&world, 30).await;
        leave_a_job(&world, r#"{"app":"key"}"#, "").await;
        world.content.collection_delete(&world.site, &owner(), "c").await.unwrap();
        let open = json!({ "itemRead": "ANYONE", "itemInsert": "ANYONE", "itemUpdate": "ANYONE" });
        world.create("c", open).await;
        fill(&world, 5).await;
        let world = after_a_kill(world);
        assert_eq!(ended(&world, "left").await["error"]["code"], "WDE0025");
        assert_eq!(count(&world, json!({ "count": 1 })).await, 0, "another collection of that name is left alone");
    }

    async fn job_that_is_too_old_ends(engine) {
        let world = World::open(engine).await;
        fill(&world, 3).await;
        leave_a_job(&world, r#"{"app":"key"}"#, "").await;
        world.test.clock.advance(24 * 3_600_000);
        let world = after_a_kill(world);
        assert_eq!(ended(&world, "left").await["error"]["code"], "WDE0028");
        assert_eq!(count(&world, json!({ "count": 1 })).await, 0);
    }

    async fn job_that_takes_long_is_taken_from_nobody(engine) {
        let world = World::open(engine).await;
        fill(&world, 3).await;
        let other = Content::new(world.test.world.clone(), ContentLimits::default());
        // The first process asks for four seconds whether the caller is let in; the other does not ask.
        let clock = world.test.clock.clone();
        let slow = Slow { clock, site: world.site.clone(), has_answered: AtomicBool::new(false) };
        world.content.keep_standing(Arc::new(slow));
        let id = begin(&world, &app(), &increments(json!({}))).await.unwrap();
        // Until then it is for the process that sees it next, and asking about it lets a process look.
        while world.content.async_job_status(&world.site, &app(), &id).await.unwrap()["status"] == "INITIALIZED" {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let state = loop {
            let state = other.async_job_status(&world.site, &app(), &id).await.unwrap();
            if state["status"] == "SUCCEEDED" {
                break state;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        };
        assert_eq!(state["successCount"], 3, "{state}");
        let done = world.site.read(ReaderPool::Point, |tx| boxed!({
            Ok(tx.row("select touched - created from stoa.async_job", &stoa_sql::params![], |row| row.get::<i64>(0)).await?)
        }));
        assert!(done.await.unwrap().unwrap() >= 4_000, "the other process has done it");
    }

    async fn job_that_can_not_be_read_ends_and_one_of_a_later_program_waits(engine) {
        let world = World::open(engine).await;
        fill(&world, 3).await;
        leave_a_job(&world, r#"{"robot":"r2"}"#, "").await;
        let world = after_a_kill(world);
        assert_eq!(ended(&world, "left").await["error"]["code"], "WDE0053");
        let later = world.site.write_with((), |tx, ()| {
            boxed!({
                let sql = "update stoa.async_job set kind = 'LATER', status = 'PROCESSING', ended = null";
                tx.execute(sql, &stoa_sql::params![]).await?;
                Ok(())
            })
        });
        later.await.unwrap();
        let world = after_a_kill(world);
        for _ in 0..20 {
            assert_eq!(world.content.async_job_status(&world.site, &app(), "left").await.unwrap()["status"], "PROCESSING");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert_eq!(count(&world, json!({})).await, 3, "what isn't known is no removal");
    }

    async fn modifications_of_a_piece_are_those_of_single_calls(engine) {
        let world = World::open(engine).await;
        let list: Vec<usize> = (0..1_000).collect();
        let items = (0..100).map(|n| json!({ "_id": format!("i{n:02}"), "list": list }));
        assert!(world.bulk(&app(), "insert", &many(items)).await.unwrap().iter().all(|it| it.fault.is_none()));
        // Each looks through a list, which one call may do for two million values.
        let take = |n: usize| {
            let options = json!({ "value": format!("absent {n}") });
            json!({ "fieldPath": "list", "action": "REMOVE_FROM_ARRAY", "removeFromArrayOptions": options })
        };
        let modifications: Vec<Value> = (0..25).map(take).collect();
        let body = json!({ "dataCollectionId": "c", "filter": {}, "fieldModifications": modifications });
        let state = run(&world, &app(), &body).await;
        assert_eq!(state, json!({ "status": "SUCCEEDED", "successCount": 100, "failureCount": 0, "failures": [] }));
    }

    async fn failures_of_single_items_are_told_and_bounded(engine) {
        let world = World::open(engine).await;
        fill(&world, 150).await;
        for n in 0..40 {
            world.update(&app(), json!({ "_id": format!("i{n}"), "n": n, "count": "text" }), None).await.unwrap();
        }
        let state = run(&world, &app(), &increments(json!({}))).await;
        assert_eq!((&state["status"], &state["successCount"], &state["failureCount"]), (&json!("SUCCEEDED"), &json!(110), &json!(40)));
        let failures = state["failures"].as_array().unwrap();
        assert_eq!((failures.len(), &failures[0]["error"]["code"]), (20, &json!("WDE0080")), "{state}");
        assert!(failures.iter().all(|it| it["itemId"].as_str().unwrap().starts_with('i')));
    }

    async fn job_changes_what_its_caller_may_read_and_change(engine) {
        let world = World::with_levels(engine, "SITE_MEMBER_AUTHOR", "ANYONE", "ANYONE", "SITE_MEMBER_AUTHOR").await;
        for (caller, id) in [(member("a"), "a1"), (member("a"), "a2"), (member("b"), "b1"), (visitor("v"), "v1")] {
            world.insert(&caller, json!({ "_id": id, "n": 1 })).await.unwrap();
        }
        for filter in [json!({ "n": 1 }), json!({ "$or": [{ "n": 1 }, { "_owner": "b" }] }), json!({ "$not": [{ "n": 2 }] })] {
            assert_eq!(run(&world, &member("a"), &increments(filter)).await["successCount"], 2);
        }
        assert_eq!(count(&world, json!({ "count": 3 })).await, 2);
        assert_eq!(count(&world, json!({ "count": { "$exists": true } })).await, 2, "what can't be read isn't changed");
        // A visitor reads nothing here, and may update anything.
        assert_eq!(run(&world, &visitor("v"), &increments(json!({}))).await["successCount"], 0);
        let all = |filter: Value| json!({ "dataCollectionId": "c", "filter": filter });
        assert_eq!(code(begin(&world, &member("a"), &all(json!({}))).await), "WDE0027");
        assert_eq!(code(begin(&world, &member("a"), &all(json!({ "$and": [] }))).await), "WDE0027");
        assert_eq!(code(begin(&world, &visitor("v"), &all(json!({ "n": 1 }))).await), "WDE0027");
        assert_eq!(run(&world, &member("a"), &all(json!({ "n": 1 }))).await["successCount"], 2);
        assert_eq!(run(&world, &owner(), &all(json!({}))).await["successCount"], 2);
    }

    async fn values_of_a_unique_index_stay_unique(engine) {
        let world = World::open(engine).await;
        fill(&world, 120).await;
        let index = json!({ "name": "once", "fields": [{ "path": "code" }], "unique": true });
        world.content.index_create(&world.site, &app(), "c", &index).await.unwrap();
        world.content.index_work_do(&world.site).await.unwrap();
        let set = json!([{ "fieldPath": "code", "action": "SET_FIELD", "setFieldOptions": { "value": "x" } }]);
        let body = json!({ "dataCollectionId": "c", "filter": {}, "fieldModifications": set });
        let state = run(&world, &app(), &body).await;
        assert_eq!((&state["successCount"], &state["failureCount"]), (&json!(1), &json!(119)));
        assert_eq!(state["failures"][0]["error"]["code"], "WDE0123");
    }
}
