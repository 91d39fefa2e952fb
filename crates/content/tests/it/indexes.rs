//! Indexes: their life, their limits, what a unique one allows once, and that the engines use them.

use crate::common::{World, app, code, editor, many, member, verdicts, visitor};
use serde_json::{Value, json};
use std::sync::Arc;
use stoa_content::{AutoIndex, Content, ContentLimits, transfer};
use stoa_kernel::Result;
use stoa_query::{Context, Scope, compile, plan::Field, plan::Key, resolve, schema::IndexSpec, wire};
use stoa_sql::{Direction, Table};
use stoa_store::{ReaderPool, Store, boxed};
use stoa_testkit::{Engine, on_both_engines};

impl World {
    async fn index(&self, name: &str, object: Value) -> Result<Value> {
        let mut index = object;
        index["name"] = json!(name);
        self.content.index_create(&self.site, &app(), "c", &index).await
    }

    /// A regular index on one field.
    async fn by(&self, path: &str) -> Result<Value> {
        self.index(path, json!({ "fields": [{ "path": path }] })).await
    }

    async fn unique(&self, path: &str, ignore_case: bool) {
        let object = json!({ "fields": [{ "path": path }], "unique": true, "caseInsensitive": ignore_case });
        self.index("only", object).await.unwrap();
        self.work().await;
        assert_eq!(self.status("only").await, "ACTIVE");
    }

    /// The job's work, until nothing is left.
    async fn work(&self) {
        for _ in 0..1_500 {
            if !self.content.index_work_do(&self.site).await.unwrap() {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        panic!("the work does not end");
    }

    async fn indexes(&self) -> Vec<Value> {
        self.content.index_list(&self.site, &app(), "c", 3, None).await.unwrap().indexes
    }

    async fn row(&self, name: &str) -> Value {
        self.indexes().await.into_iter().find(|it| it["name"] == name).unwrap_or_default()
    }

    async fn status(&self, name: &str) -> String {
        self.row(name).await["status"].as_str().unwrap_or("gone").to_owned()
    }

    async fn available(&self) -> Value {
        self.content.index_available(&self.site, &app(), "c").await.unwrap()
    }

    async fn drop_index(&self, name: &str) -> Result<()> {
        self.content.index_drop(&self.site, &app(), "c", name).await
    }

    async fn run(&self, sql: &'static str) {
        self.site.write(move |tx| boxed!(Ok(tx.batch(sql).await?))).await.unwrap();
    }

    /// The indexes that the database has beside those of every collection.
    async fn in_database(&self) -> Vec<String> {
        let sql = match self.site.dialect().name() {
            "sqlite" => {
                "select name from stoa.sqlite_master where type = 'index' and name glob 'c1_i[0-9]*' order by 1"
            }
            _ => {
                "select c.relname::text from pg_class c join pg_index i on i.indexrelid = c.oid where c.relname ~ '^c1_i[0-9]' order by 1"
            }
        };
        self.site
            .read(ReaderPool::Scan, move |tx| boxed!(Ok(tx.rows(sql, &[], |row| row.get(0)).await?)))
            .await
            .unwrap()
    }

    /// How the engine goes about a filter that is planned with these indexes.
    pub async fn explain(&self, filter: Value, indexes: Vec<IndexSpec>) -> String {
        let schema = stoa_query::Schema { indexes: indexes.into(), ..Default::default() };
        let filter = wire::Filter::parse_member(
            &crate::common::members(json!({ "filter": filter })),
            &ContentLimits::default().query,
        )
        .unwrap();
        let plan = resolve::count(&filter, Context { schema: &schema, scope: Scope::Everything, seed: 0 }).unwrap();
        let table = Table { site: self.site.number, number: 1 };
        let (sql, params) = compile::count(self.site.dialect(), table, &plan);
        let is_sqlite = self.site.dialect().name() == "sqlite";
        let sql = if is_sqlite { format!("explain query plan {sql}") } else { format!("explain {sql}") };
        let column = if is_sqlite { 3 } else { 0 };
        let rows = self.site.read(ReaderPool::Scan, move |tx| {
            boxed!({
                // SQLite sees that the schema changed when it runs a statement, and explaining is not running.
                tx.rows("select 1 from stoa.collection", &[], |_| Ok(())).await?;
                // A table of a few rows is quicker read whole; what is asked is whether the index could serve.
                if !is_sqlite {
                    tx.batch("set enable_seqscan = off").await?;
                }
                let rows: Vec<String> = tx.rows(&sql, &params, |row| row.get(column)).await?;
                if !is_sqlite {
                    tx.batch("set enable_seqscan = on").await?;
                }
                Ok(rows)
            })
        });
        rows.await.unwrap().join("\n")
    }
}

fn spec(number: i64, path: &str) -> IndexSpec {
    let fields = vec![Key { field: Field::parse(path), direction: Direction::Ascending }];
    IndexSpec { number, fields, unique: false, case_insensitive: false }
}

/// Runs them side by side.
async fn together<T: Send + 'static>(all: Vec<impl Future<Output = T> + Send + 'static>) -> Vec<T> {
    let tasks: Vec<_> = all.into_iter().map(tokio::spawn).collect();
    let mut answers = Vec::new();
    for it in tasks {
        answers.push(it.await.unwrap());
    }
    answers
}

on_both_engines! {
    async fn index_goes_from_building_to_dropped(engine) {
        let world = World::open(engine).await;
        for n in 0..50 {
            world.insert(&app(), json!({ "n": n, "title": format!("t{n}") })).await.unwrap();
        }
        assert_eq!(world.available().await, json!({ "regular1Field": 0, "regular3Field": 3, "unique1Field": 1, "total": 4 }));
        let made = world.by("n").await.unwrap();
        assert_eq!((&made["status"], &made["source"], &made["unique"]), (&json!("BUILDING"), &json!("USER"), &json!(false)));
        assert_eq!(made["fields"], json!([{ "path": "n", "order": "ASC" }]));
        assert_eq!(made["id"].as_str().unwrap().len(), 36);
        assert_eq!((world.status("n").await.as_str(), world.in_database().await.len()), ("BUILDING", 0));
        world.work().await;
        assert_eq!(world.status("n").await, "ACTIVE");
        assert!(world.explain(json!({ "n": 7 }), vec![spec(1, "n")]).await.contains("c1_i1"));
        assert_eq!(world.count(&app(), json!({ "n": { "$gte": 40 } })).await.unwrap(), 10);
        assert_eq!(world.available().await["regular3Field"], 2);

        // The system's own come first and can't be dropped.
        let all = world.content.index_list(&world.site, &editor(), "c", 0, Some(3)).await.unwrap();
        let names: Vec<_> = all.indexes.iter().map(|it| (it["name"].as_str().unwrap(), it["source"].as_str().unwrap())).collect();
        assert_eq!(names, [("_id", "SYSTEM"), ("_createdDate", "SYSTEM"), ("_owner", "SYSTEM")]);
        assert_eq!(all.total, 4);
        assert_eq!(code(world.drop_index("_id").await), "WDE0075");
        assert_eq!(code(world.drop_index("none").await), "WDE0176");

        world.drop_index("n").await.unwrap();
        assert_eq!((world.status("n").await.as_str(), world.available().await["total"].as_i64()), ("DROPPING", Some(4)));
        // Its name is free again before it is gone.
        world.by("n").await.unwrap();
        assert_eq!(code(world.drop_index("n").await), "ok");
        world.work().await;
        assert_eq!((world.indexes().await.len(), world.in_database().await.len()), (0, 0));
        assert_eq!(world.count(&app(), json!({ "n": { "$gte": 40 } })).await.unwrap(), 10);
    }

    async fn index_limits_and_names_are_checked(engine) {
        let world = World::open(engine).await;
        for path in ["a", "b", "n"] {
            world.by(path).await.unwrap();
        }
        assert_eq!(code(world.by("d").await), "WDE0160");
        assert_eq!(code(world.index("a", json!({ "fields": [{ "path": "z" }], "unique": true })).await), "WDE0164");
        assert_eq!(code(world.index("_owner", json!({ "fields": [{ "path": "z" }], "unique": true })).await), "WDE0164");
        world.index("only", json!({ "fields": [{ "path": "z" }], "unique": true })).await.unwrap();
        assert_eq!(code(world.index("second", json!({ "fields": [{ "path": "y" }], "unique": true })).await), "WDE0160");
        assert_eq!(world.available().await, json!({ "regular1Field": 0, "regular3Field": 0, "unique1Field": 0, "total": 0 }));
        world.drop_index("a").await.unwrap();
        assert_eq!(code(world.index("again", json!({ "fields": [{ "path": "b" }] })).await), "WDE0164", "there is one of the same fields");
        let three = json!({ "fields": [{ "path": "a" }, { "path": "b", "order": "DESC" }, { "path": "_createdDate" }], "caseInsensitive": true });
        world.index("three", three).await.unwrap();
        world.work().await;
        for name in ["b", "n", "only", "three"] {
            assert_eq!(world.status(name).await, "ACTIVE", "{name}");
        }
        // No other caller may, and what isn't there isn't.
        for caller in [member("ann"), visitor("v")] {
            let object = json!({ "name": "x", "fields": [{ "path": "x" }] });
            assert_eq!(code(world.content.index_create(&world.site, &caller, "c", &object).await), "WDE0027");
            assert_eq!(code(world.content.index_drop(&world.site, &caller, "c", "b").await), "WDE0027");
            assert_eq!(code(world.content.index_list(&world.site, &caller, "c", 0, None).await), "WDE0027");
            assert_eq!(code(world.content.index_available(&world.site, &caller, "none").await), "WDE0027");
        }
        for id in ["none", "", "a\0b"] {
            assert_eq!(code(world.content.index_list(&world.site, &app(), id, 0, None).await), "WDE0025");
        }
        assert_eq!(code(world.drop_index("a\0b").await), "WDE0176");
        for path in ["_id", "_createdDate", "_owner"] {
            assert_eq!(code(world.index("u", json!({ "fields": [{ "path": path }], "unique": true })).await), "WDE0075");
        }
    }

    async fn failed_build_leaves_nothing(engine) {
        let world = World::open(engine).await;
        for (id, n) in [("a", json!(1)), ("b", json!(2)), ("c", json!(1)), ("d", json!("1"))] {
            world.insert(&app(), json!({ "_id": id, "n": n })).await.unwrap();
        }
        world.index("only", json!({ "fields": [{ "path": "n" }], "unique": true })).await.unwrap();
        world.work().await;
        let row = world.row("only").await;
        assert_eq!((&row["status"], &row["failure"]["code"], &row["failure"]["itemId"]), (&json!("FAILED"), &json!("WDE0113"), &json!("c")));
        assert!(row["failure"]["description"].as_str().unwrap().starts_with("WDE0113: "));
        // It keeps its slot until it is dropped, but no value is refused on its account.
        assert_eq!(world.available().await["unique1Field"], 0);
        assert_eq!(world.in_database().await, [""; 0]);
        world.insert(&app(), json!({ "_id": "e", "n": 2 })).await.unwrap();
        world.drop_index("only").await.unwrap();
        world.work().await;
        assert_eq!(world.available().await["unique1Field"], 1);
        // What fails for an unknown reason is tried a few times.
        world.by("title").await.unwrap();
        world.run(if engine == Engine::Sqlite { "alter table stoa.c1 rename to elsewhere" } else { "alter schema site_1 rename to elsewhere" }).await;
        world.work().await;
        let row = world.row("title").await;
        assert_eq!((&row["status"], &row["failure"]["code"]), (&json!("FAILED"), &json!("WDE0112")));
    }

    async fn unique_value_is_refused_by_every_call(engine) {
        let world = World::open(engine).await;
        world.unique("n", false).await;
        for (id, n) in [("a", 1), ("b", 2)] {
            world.insert(&app(), json!({ "_id": id, "n": n })).await.unwrap();
        }
        let fault = world.insert(&app(), json!({ "_id": "x", "n": 1 })).await.unwrap_err();
        assert_eq!((fault.code().name(), fault.code().status()), ("WDE0123", 409));
        assert_eq!((&fault.data()["collectionName"], &fault.data()["itemId"]), (&json!("c"), &json!("x")));
        assert!(fault.data()["details"].as_str().unwrap().contains("only"));
        assert_eq!(code(world.insert(&app(), json!({ "_id": "a", "n": 9 })).await), "WDE0074");
        assert_eq!(code(world.update(&app(), json!({ "_id": "b", "n": 1 }), None).await), "WDE0123");
        assert_eq!(code(world.save(&app(), json!({ "_id": "b", "n": 1 })).await), "WDE0123");
        assert_eq!(code(world.save(&app(), json!({ "_id": "x", "n": 1 })).await), "WDE0123");
        assert_eq!(code(world.update(&app(), json!({ "_id": "b", "n": 2, "title": "its own" }), None).await), "ok");

        // Only the guilty ones fail, and within one call the first wins.
        let list = many([json!({ "_id": "c", "n": 3 }), json!({ "_id": "d", "n": 1 }), json!({ "_id": "e", "n": 3 }), json!({ "_id": "f", "n": 4 }), json!({ "_id": "a", "n": 8 })]);
        assert_eq!(verdicts(&world.bulk(&app(), "insert", &list).await.unwrap()), ["INSERT", "WDE0123", "WDE0123", "INSERT", "WDE0074"]);
        let list = many([json!({ "_id": "a", "n": 5 }), json!({ "_id": "b", "n": 4 }), json!({ "_id": "c", "n": 1 }), json!({ "_id": "f", "n": 1 })]);
        assert_eq!(verdicts(&world.bulk(&app(), "update", &list).await.unwrap()), ["UPDATE", "WDE0123", "UPDATE", "WDE0123"], "what the first gave up the third takes");
        let list = many([json!({ "_id": "g", "n": 6 }), json!({ "_id": "h", "n": 6 }), json!({ "_id": "b", "n": 6 }), json!({ "_id": "h", "n": 7 })]);
        assert_eq!(verdicts(&world.bulk(&app(), "save", &list).await.unwrap()), ["INSERT", "WDE0123", "WDE0123", "INSERT"]);
        // An item that comes twice may move out of another's way.
        let list = many([json!({ "_id": "a", "n": 50 }), json!({ "_id": "b", "n": 5 }), json!({ "_id": "a", "n": 2 })]);
        assert_eq!(verdicts(&world.bulk(&app(), "update", &list).await.unwrap()), ["UPDATE", "UPDATE", "UPDATE"]);
        let mut left = Vec::new();
        for id in ["a", "b", "c", "f", "g", "h"] {
            left.push(world.get(&app(), id).await.unwrap()["n"].clone());
        }
        assert_eq!(left, [2, 5, 1, 4, 6, 7]);
        // The outbox has what was written, and nothing else.
        let outbox = world.outbox().await;
        let ids = |kind: &str| -> Vec<String> {
            let rows = outbox.iter().filter(|it| it.0 == kind).flat_map(|it| it.1["items"].as_array().unwrap().clone());
            rows.map(|it| it["_id"].as_str().unwrap().to_owned()).collect()
        };
        assert_eq!(ids("data_item_created"), ["a", "b", "c", "f", "g", "h"]);
        assert_eq!(ids("data_item_updated"), ["b", "a", "c", "a", "b", "a"]);
    }

    async fn unique_values_are_equal_as_queries_find_them(engine) {
        let world = World::open(engine).await;
        world.unique("v", false).await;
        let long = |end: &str| format!("{}{end}", "😀é".repeat(3000));
        for (value, verdict) in [
            (json!(1), "ok"), (json!(1.0), "WDE0123"), (json!("1"), "ok"), (json!(true), "ok"), (json!(0), "ok"), (json!(-0.0), "WDE0123"),
            (json!(null), "ok"), (json!(null), "ok"), (json!(""), "ok"), (json!(""), "WDE0123"), (json!("Ab"), "ok"), (json!("ab"), "ok"),
            (json!({ "$date": "2024-01-01T00:00:00.000Z" }), "ok"), (json!({ "$date": "2024-01-01T00:00:00Z" }), "WDE0123"), (json!("2024-01-01T00:00:00.000Z"), "ok"),
            (json!([1, 2]), "ok"), (json!([1, 2]), "WDE0123"), (json!([2, 1]), "ok"), (json!([]), "ok"), (json!([]), "WDE0123"),
            (json!({ "a": 1, "b": 2 }), "ok"), (json!({ "b": 2, "a": 1 }), "WDE0123"), (json!({ "a": 1 }), "ok"),
            (json!(long("x")), "ok"), (json!(long("y")), "ok"), (json!(long("x")), "WDE0123"), (json!([long("x")]), "ok"),
            (json!(9007199254740993_i64), "ok"), (json!(9007199254740992_i64), "WDE0123"), (json!(1e300), "ok"),
        ] {
            let text = value.to_string().chars().take(40).collect::<String>();
            assert_eq!(code(world.insert(&app(), json!({ "v": value.clone() })).await), verdict, "insert {text}");
            let saved = code(world.save(&app(), json!({ "v": value.clone() })).await);
            assert_eq!(saved, if value.is_null() { "ok" } else { "WDE0123" }, "save {text}");
        }
        assert_eq!(code(world.insert(&app(), json!({ "other": 1 })).await), "ok");
        assert_eq!(code(world.insert(&app(), json!({ "other": 1 })).await), "ok");
    }

    async fn unique_index_ignores_case_and_looks_into_objects(engine) {
        let world = World::open(engine).await;
        world.unique("address.city", true).await;
        let city = |it: Value| json!({ "address": { "city": it } });
        for (value, verdict) in [("Köln", "ok"), ("KÖLN", "WDE0123"), ("Kolin", "ok"), ("STRASSE", "ok"), ("ΣΑΣ", "ok"), ("σας", "WDE0123")] {
            assert_eq!(code(world.insert(&app(), city(json!(value))).await), verdict, "{value}");
            assert_eq!(code(world.save(&app(), city(json!(value))).await), "WDE0123", "{value}");
        }
        // Through a list there is no one value.
        assert_eq!(code(world.insert(&app(), json!({ "address": [{ "city": "Köln" }] })).await), "ok");
    }

    async fn unique_value_goes_to_one_of_a_hundred_writers(engine) {
        let world = Arc::new(World::open(engine).await);
        world.unique("n", false).await;
        world.insert(&app(), json!({ "_id": "there", "n": -1 })).await.unwrap();
        let count = |answers: &[&'static str], word: &str| answers.iter().filter(|it| **it == word).count();
        let inserts = (0..100).map(|_| { let world = world.clone(); async move { code(world.insert(&app(), json!({ "n": 1 })).await) } });
        let answers = together(inserts.collect()).await;
        assert_eq!((count(&answers, "ok"), count(&answers, "WDE0123")), (1, 99), "{answers:?}");
        let saves = (0..30).map(|n| { let world = world.clone(); async move { code(world.save(&app(), json!({ "_id": format!("s{n}"), "n": 2 })).await) } });
        let answers = together(saves.collect()).await;
        assert_eq!(count(&answers, "ok"), 1, "{answers:?}");
        assert!(answers.iter().all(|it| matches!(*it, "ok" | "WDE0123" | "UNAVAILABLE")), "{answers:?}");
        assert_eq!(world.count(&app(), json!({ "n": { "$in": [1, 2] } })).await.unwrap(), 2);
        // And no value is left without its one owner.
        let moves = (0..30).map(|n| { let world = world.clone(); async move { code(world.update(&app(), json!({ "_id": "there", "n": n + 10 }), None).await) } });
        together(moves.collect()).await;
        assert_eq!(world.count(&app(), json!({ "n": { "$gte": 10 } })).await.unwrap(), 1);
    }

    async fn unique_index_unknown_to_a_node_still_holds(engine) {
        let world = World::open(engine).await;
        world.insert(&app(), json!({ "_id": "a", "n": 1 })).await.unwrap();
        // The clock stands still, so the other node believes what it read before the index was there.
        let other = World { content: Content::new(world.test.world.clone(), ContentLimits::default()), site: world.site.clone(), test: world.test };
        other.insert(&app(), json!({ "_id": "b", "n": 2 })).await.unwrap();
        let world = Content::new(other.test.world.clone(), ContentLimits::default());
        let index = json!({ "name": "only", "fields": [{ "path": "n" }], "unique": true });
        world.index_create(&other.site, &app(), "c", &index).await.unwrap();
        while world.index_work_do(&other.site).await.unwrap() {}
        assert_eq!(code(other.insert(&app(), json!({ "_id": "x", "n": 1 })).await), "WDE0123");
        assert_eq!(code(other.save(&app(), json!({ "_id": "x", "n": 1 })).await), "WDE0123");
        assert_eq!(code(other.update(&app(), json!({ "_id": "b", "n": 1 }), None).await), "WDE0123");
        let list = many([json!({ "_id": "c", "n": 3 }), json!({ "_id": "d", "n": 1 }), json!({ "_id": "e", "n": 3 }), json!({ "_id": "a", "n": 4 })]);
        assert_eq!(verdicts(&other.bulk(&app(), "save", &list).await.unwrap()), ["INSERT", "WDE0123", "WDE0123", "UPDATE"]);
        let list = many([json!({ "_id": "f", "n": 5 }), json!({ "_id": "g", "n": 3 })]);
        assert_eq!(verdicts(&other.bulk(&app(), "insert", &list).await.unwrap()), ["INSERT", "WDE0123"]);
        assert_eq!(other.count(&app(), json!({})).await.unwrap(), 4);
    }

    async fn import_leaves_out_lines_that_breach_a_unique_index(engine) {
        let world = World::open(engine).await;
        world.unique("n", false).await;
        let lines = [("a", 1), ("b", 2), ("c", 1), ("d", 3)].map(|(id, n)| json!({ "_id": id, "n": n }).to_string()).join("\n");
        let mut refused = Vec::new();
        let tell = |it: transfer::Event<'_>| {
            if let transfer::Event::Refused { line, fault } = it {
                refused.push((line, fault.code().name()));
            }
        };
        let done = world.content.import(&world.site, &app(), transfer::FileOf { collection: "c", format: transfer::Format::JsonLines }, lines.as_bytes(), tell).await.unwrap();
        assert_eq!((done.inserted, done.failed, refused), (3, 1, vec![(3, "WDE0123")]));
    }

    async fn builds_are_taken_up_after_a_restart(engine) {
        let world = World::open(engine).await;
        world.insert(&app(), json!({ "n": 1 })).await.unwrap();
        world.by("n").await.unwrap();
        world.by("title").await.unwrap();
        world.work().await;
        world.drop_index("title").await.unwrap();
        world.by("tags").await.unwrap();
        let World { test, site, content } = world;
        let (id, kernel) = (site.id.clone(), test.world.clone());
        drop((site, content));
        let (config, _guards) = test.close();
        let store = Store::open(&config).await.unwrap();
        let site = store.site(&id).await.unwrap();
        let content = Content::new(kernel, ContentLimits::default());
        assert!(!content.index_work_do(&site).await.unwrap());
        let list = content.index_list(&site, &app(), "c", 3, None).await.unwrap().indexes;
        let list: Vec<_> = list.iter().map(|it| format!("{} {}", it["name"].as_str().unwrap(), it["status"].as_str().unwrap())).collect();
        assert_eq!(list, ["n ACTIVE", "tags ACTIVE"]);
    }
}

/// Two nodes on one database: each index is built by one of them, and both know of it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn build_runs_on_one_of_two_nodes() {
    let world = World::open(Engine::Postgres).await;
    for n in 0..300 {
        world.insert(&app(), json!({ "n": n })).await.unwrap();
    }
    let directory = tempfile_dir(&world);
    let config = stoa_store::Config { data: directory.clone(), ..world.test.config.clone() };
    let store = Store::open(&config).await.unwrap();
    let site = store.site(&world.site.id).await.unwrap();
    let other = Content::new(world.test.world.clone(), ContentLimits::default());
    world.index("only", json!({ "fields": [{ "path": "n" }], "unique": true })).await.unwrap();
    let (here, there) = tokio::join!(world.content.index_work_do(&world.site), other.index_work_do(&site));
    assert!(here.is_ok() && there.is_ok());
    for content in [&world.content, &other] {
        while content.index_work_do(&site).await.unwrap() {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    }
    assert_eq!(world.status("only").await, "ACTIVE");
    assert_eq!(world.in_database().await, ["c1_i1", "c1_i1_unique"]);
    assert_eq!(code(world.insert(&app(), json!({ "n": 7 })).await), "WDE0123");
    // A node that read the definition before the index was there finds out from the engine.
    drop(store);
    let _ = std::fs::remove_dir_all(directory);
}

fn tempfile_dir(world: &World) -> std::path::PathBuf {
    std::env::temp_dir().join(format!("stoa-node-{}", world.site.id))
}

const DAY: i64 = 86_400_000;

impl World {
    /// A site whose server takes every query for a slow one.
    async fn attentive(engine: Engine) -> Self {
        let mut world = Self::open(engine).await;
        let auto_index = AutoIndex { slow: 0, repeats: 5, ..AutoIndex::default() };
        world.content =
            Content::new(world.test.world.clone(), ContentLimits { auto_index, ..ContentLimits::default() });
        for n in 0..20 {
            world.insert(&app(), json!({ "n": n, "title": format!("t{n}") })).await.unwrap();
        }
        world
    }

    async fn ask(&self, times: usize, query: Value) {
        for _ in 0..times {
            self.ids(&app(), query.clone()).await.unwrap();
        }
    }

    async fn tend(&self) {
        self.content.auto_indexes_tend(&self.site).await.unwrap();
        self.work().await;
    }

    async fn names(&self) -> Vec<String> {
        self.indexes()
            .await
            .iter()
            .map(|it| format!("{} {}", it["source"].as_str().unwrap(), it["name"].as_str().unwrap()))
            .collect()
    }
}

on_both_engines! {
    async fn auto_indexes_stop_at_their_limit(engine) {
        let mut world = World::attentive(engine).await;
        let auto_index = AutoIndex { slow: 0, repeats: 5, ..AutoIndex::default() };
        for (most, wants) in [(0, 0), (1, 1), (2, 2)] {
            let limits = ContentLimits { auto_index: auto_index.clone(), auto_indexes: most, ..ContentLimits::default() };
            world.content = Content::new(world.test.world.clone(), limits);
            for field in ["n", "title", "other"] {
                world.ask(5, json!({ "filter": { field: 7 } })).await;
            }
            world.tend().await;
            assert_eq!(world.names().await.len(), wants);
        }
    }

    async fn index_leads_with_the_owner_where_owners_read(engine) {
        let world = World::with_levels(engine, "SITE_MEMBER_AUTHOR", "ANYONE", "ANYONE", "ANYONE").await;
        for n in 0..60 {
            world.insert(&member(if n % 3 == 0 { "ann" } else { "ben" }), json!({ "n": n, "title": "t" })).await.unwrap();
        }
        world.by("n").await.unwrap();
        world.index("two", json!({ "fields": [{ "path": "title" }, { "path": "_owner" }, { "path": "n", "order": "DESC" }] })).await.unwrap();
        world.work().await;
        assert_eq!(world.names().await, ["USER n", "AUTO auto-_owner-n", "USER two", "AUTO auto-_owner-title-n"]);
        let row = world.row("auto-_owner-title-n").await;
        assert_eq!((&row["status"], row.get("why")), (&json!("ACTIVE"), None));
        assert_eq!(row["fields"][2], json!({ "path": "n", "order": "DESC" }));
        // They count against no limit of managers.
        assert_eq!(world.available().await["regular3Field"], 1);
        for (query, first) in [
            (json!({ "sort": [{ "fieldName": "n", "order": "DESC" }] }), 57),
            (json!({ "filter": { "n": { "$gt": 6 } }, "sort": [{ "fieldName": "n", "order": "ASC" }] }), 9),
            (json!({ "filter": { "title": "t" }, "sort": [{ "fieldName": "n", "order": "DESC" }] }), 57),
        ] {
            let page = world.page(&member("ann"), json!({ "dataCollectionId": "c", "query": query })).await.unwrap();
            let items: Vec<Value> = serde_json::from_str(&format!("[{}]", page.elements)).unwrap();
            assert_eq!(items[0]["data"]["n"], first);
            assert!(items.iter().all(|it| it["data"]["_owner"] == "ann"));
        }
        // Not where the site says no, and not beside one that leads with the owner.
        world.content.auto_index_set(&world.site, Some(false)).await.unwrap();
        world.drop_index("n").await.unwrap();
        world.drop_index("auto-_owner-n").await.unwrap();
        world.by("n").await.unwrap();
        world.content.auto_index_set(&world.site, None).await.unwrap();
        world.index("own", json!({ "fields": [{ "path": "_owner" }, { "path": "tags" }] })).await.unwrap();
        world.work().await;
        assert_eq!(world.names().await, ["USER two", "AUTO auto-_owner-title-n", "USER n", "USER own"]);
    }

    async fn owners_get_no_index_that_would_hold_writes_up(engine) {
        let mut world = World::with_levels(engine, "SITE_MEMBER_AUTHOR", "ANYONE", "ANYONE", "ANYONE").await;
        let auto_index = AutoIndex { items: 10, ..AutoIndex::default() };
        let limits = ContentLimits { auto_index, ..ContentLimits::default() };
        world.content = Content::new(world.test.world.clone(), limits);
        for n in 0..10 {
            world.insert(&member("ann"), json!({ "n": n })).await.unwrap();
        }
        world.by("n").await.unwrap();
        world.work().await;
        assert_eq!(world.names().await, ["USER n", "AUTO auto-_owner-n"]);
        world.insert(&member("ann"), json!({ "n": 10 })).await.unwrap();
        world.by("title").await.unwrap();
        world.work().await;
        let beside: &[&str] = if world.site.builds_online() { &["AUTO auto-_owner-title"] } else { &[] };
        assert_eq!(world.names().await[2..], [&["USER title"][..], beside].concat());
    }

    async fn owners_get_an_index_beside_that_of_a_manager(engine) {
        let world = World::open(engine).await;
        for n in 0..20 {
            world.insert(&member("ann"), json!({ "n": n })).await.unwrap();
        }
        world.by("n").await.unwrap();
        world.work().await;
        let own = json!({ "id": "c", "itemRead": "SITE_MEMBER_AUTHOR" });
        world.content.permissions_update(&world.site, &app(), &own).await.unwrap();
        // However fast they are answered.
        let query = json!({ "sort": [{ "fieldName": "n", "order": "DESC" }] });
        for _ in 0..20 {
            assert_eq!(world.ids(&member("ann"), query.clone()).await.unwrap().len(), 20);
            world.ids(&member("ann"), json!({ "sort": [{ "fieldName": "title", "order": "DESC" }] })).await.unwrap();
        }
        world.tend().await;
        assert_eq!(world.names().await, ["USER n", "AUTO auto-_owner-n"]);
    }

    async fn slow_queries_get_an_index(engine) {
        let world = World::attentive(engine).await;
        let query = json!({ "filter": { "n": 7 }, "sort": [{ "fieldName": "title", "order": "DESC" }] });
        world.ask(4, query.clone()).await;
        world.tend().await;
        assert_eq!(world.names().await, [""; 0], "not yet");
        world.ask(1, query.clone()).await;
        world.content.auto_indexes_tend(&world.site).await.unwrap();
        let row = world.row("auto-n-title").await;
        assert_eq!((&row["status"], &row["source"]), (&json!("BUILDING"), &json!("AUTO")));
        assert_eq!(row["fields"], json!([{ "path": "n", "order": "ASC" }, { "path": "title", "order": "DESC" }]));
        assert_eq!(row["why"], json!({ "queries": 5, "slowestMilliseconds": 0, "windowMinutes": 60 }));
        world.work().await;
        assert_eq!(world.status("auto-n-title").await, "ACTIVE");
        let title = Key { field: Field::parse("title"), direction: Direction::Descending };
        let mut index = spec(1, "n");
        index.fields.push(title);
        let plan = world.explain(json!({ "n": 7 }), vec![index]).await;
        assert!(plan.contains("c1_i1"), "the engine does not use it: {plan}");
        assert_eq!(world.ids(&app(), query.clone()).await.unwrap().len(), 1);
        // It counts against no limit of managers, and what it serves asks for no other.
        assert_eq!(world.available().await["total"], 4);
        world.ask(20, query).await;
        world.ask(20, json!({ "filter": { "n": 3 } })).await;
        world.tend().await;
        assert_eq!(world.names().await, ["AUTO auto-n-title"]);
        // Who wants to keep it makes one of their own: it is there at once.
        let mine = world.index("mine", json!({ "fields": [{ "path": "n" }, { "path": "title", "order": "DESC" }] })).await.unwrap();
        assert_eq!((&mine["status"], &mine["source"], mine.get("why")), (&json!("ACTIVE"), &json!("USER"), None));
        world.test.clock.advance(100 * DAY);
        world.tend().await;
        assert_eq!(world.names().await, ["USER mine"]);
    }

    async fn unused_auto_index_is_dropped(engine) {
        let world = World::attentive(engine).await;
        let query = json!({ "filter": { "n": { "$gt": 17 } } });
        world.ask(5, query.clone()).await;
        world.tend().await;
        assert_eq!(world.names().await, ["AUTO auto-n"]);
        for _ in 0..3 {
            world.test.clock.advance(10 * DAY);
            world.ask(1, query.clone()).await;
            world.tend().await;
            assert_eq!(world.names().await, ["AUTO auto-n"], "it is used");
        }
        world.test.clock.advance(13 * DAY);
        world.ask(1, json!({ "filter": { "title": "t1" } })).await;
        world.tend().await;
        assert_eq!(world.names().await, ["AUTO auto-n"], "not for long enough");
        world.test.clock.advance(DAY);
        world.tend().await;
        assert_eq!((world.names().await, world.in_database().await), (vec![], vec![]));
        assert_eq!(world.ids(&app(), query).await.unwrap().len(), 2);
    }

    async fn auto_index_is_made_only_where_it_may_be(engine) {
        let world = World::attentive(engine).await;
        let query = |path: &str| json!({ "filter": { path: 1 } });
        // Slow ones that lie too far apart are not many.
        world.ask(4, query("n")).await;
        world.test.clock.advance(3_600_000);
        world.ask(4, query("n")).await;
        world.tend().await;
        assert_eq!(world.names().await, [""; 0]);
        // A site that says no.
        world.content.auto_index_set(&world.site, Some(false)).await.unwrap();
        world.ask(5, query("n")).await;
        world.tend().await;
        assert_eq!(world.names().await, [""; 0]);
        world.content.auto_index_set(&world.site, None).await.unwrap();
        assert!(world.content.auto_index_is_on(&world.site).await.unwrap());
        // Members who see their own only are served by the system's index.
        for path in ["a", "b", "d", "e", "f"] {
            world.ask(5, query(path)).await;
        }
        world.tend().await;
        assert_eq!(world.names().await.len(), 3, "a collection has at most three of them");
        // They stand in no other's way, by number or by name.
        let name = world.names().await[0].replace("AUTO ", "");
        world.drop_index(&name).await.unwrap();
        for path in ["x", "y", "z"] {
            world.by(path).await.unwrap();
        }
        world.work().await;
        assert_eq!(world.names().await.len(), 5);
    }
}
