//! Processes of hooks that are killed from outside at any moment, and writes that meet: no write is let through without
//! its hook, and none is lost.

use super::*;
use crate::oracle::{Random, fresh_seed};
use futures_util::future::join_all;
use std::{
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

/// Writes that must succeed, and kills that must have happened, before a test is content.
const ENOUGH: usize = 40;

/// Kills the processes of one host at moments of chance.
pub struct Killer {
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<usize>,
}

impl Killer {
    pub fn start(name: String) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let until = is_over.clone();
        let thread = thread::spawn(move || {
            let (mut random, mut killed) = (Random(fresh_seed()), 0);
            while !until.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_millis(random.below(30) as u64));
                killed += processes(&name).iter().filter(|it| kill(it)).count();
            }
            killed
        });
        Self { is_over, thread }
    }

    /// How many processes it killed.
    pub fn stop(self) -> usize {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.join().unwrap()
    }
}

fn kill(id: &str) -> bool {
    Command::new("kill").args(["-KILL", id]).output().unwrap().status.success()
}

/// The ids of the processes whose last argument is this name.
fn processes(name: &str) -> Vec<String> {
    let is_named = |id: &String| {
        std::fs::read(format!("/proc/{id}/cmdline")).is_ok_and(|it| it.ends_with(format!("\0{name}\0").as_bytes()))
    };
    let all = std::fs::read_dir("/proc").unwrap().flatten().filter_map(|it| it.file_name().into_string().ok());
    all.filter(|it| it.bytes().all(|it| it.is_ascii_digit())).filter(is_named).collect()
}

on_both_engines! {
    async fn no_write_is_let_through_without_its_hook(engine) {
        let name = format!("killed-at-random-{engine:?}");
        let limits = HookLimits { hook_milliseconds: 2_000, hook_request_time: 60_000, hook_deaths: 1_000, ..HookLimits::default() };
        let app = open(engine, host_named(&name, limits)).await;
        let source = "
            export function cars_beforeInsert(item) { for (let n = 0; n < 20000; n++); item.price = 7; return item }
            export function cars_beforeUpdate(item, context) { item.price = context.currentItem.price + 1; return item }
        ";
        assert_eq!(deploy(&app, source).await.verdict(), "200");
        let visitor = app.visitor().await;
        let killer = Killer::start(name);
        let (mut written, mut refused) = (0, 0);
        for round in 0.. {
            let inserts = (0..8).map(|n| {
                let data = item(json!({ "_id": format!("{round}-{n}"), "title": "t" }));
                let visitor = visitor.clone();
                async move { visitor.post("/v2/items", &data).await }
            });
            for reply in join_all(inserts).await {
                match reply.verdict().as_str() {
                    "200" => {
                        assert_eq!(reply.json()["dataItem"]["data"]["price"], 7);
                        written += 1;
                    }
                    "400 WDE0150" => refused += 1,
                    other => panic!("{other}: {reply:?}"),
                }
            }
            if written >= ENOUGH && refused >= ENOUGH / 4 || round > 5_000 {
                break;
            }
        }
        assert!(killer.stop() > 0 && written >= ENOUGH && refused >= ENOUGH / 4, "{written} {refused}");
        let count = async |filter: Value| {
            let body = json!({ "dataCollectionId": "cars", "filter": filter });
            app.app().post("/v2/items/count", &body).await.json()["totalCount"].clone()
        };
        assert_eq!(count(json!({})).await, written);
        assert_eq!(count(json!({ "price": 7 })).await, written);
    }

    async fn concurrent_patches_with_a_counting_hook_lose_nothing(engine) {
        let app = open(engine, host()).await;
        let source = "export function cars_beforeUpdate(item, context) { item.price = context.currentItem.price + 1; return item }";
        assert_eq!(deploy(&app, source).await.verdict(), "200");
        let visitor = app.visitor().await;
        assert_eq!(visitor.post("/v2/items", &item(json!({ "_id": "a", "price": 0 }))).await.verdict(), "200");
        let set = json!([{ "fieldPath": "title", "action": "SET_FIELD", "setFieldOptions": { "value": "p" } }]);
        let body = json!({ "dataCollectionId": "cars", "patch": { "dataItemId": "a", "fieldModifications": set } });
        let patches = (0..64).map(|_| {
            let (visitor, body) = (visitor.clone(), body.clone());
            // Those that others were quicker than each time are refused, and asked for again.
            async move {
                loop {
                    match visitor.post("/v2/items/patch", &body).await.verdict().as_str() {
                        "200" => break,
                        "409 WDE0178" | "429 WDE0122" => tokio::time::sleep(Duration::from_millis(10)).await,
                        other => panic!("{other}"),
                    }
                }
            }
        });
        join_all(patches).await;
        let stored = visitor.get("/v2/items/a?dataCollectionId=cars").await.json();
        assert_eq!(stored["dataItem"]["data"]["price"], 64);
    }
}
