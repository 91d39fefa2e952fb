//! Work in the background and in bulk goes in pieces: SQLite's writer serves no other request meanwhile, so none of
//! its transactions may grow with the number of rows there are (decision 11). No clock is looked at: each
//! transaction tells how many rows it changed.
//!
//! An index on SQLite is built in one piece, which decision 11 gives the reason for.

#![allow(clippy::unwrap_used, reason = "in a test a failed step is the failure")]

use serde_json::{Value as Json, json};
use std::sync::{Mutex, OnceLock};
use stoa_content::{
    CopyWish, READ_OUT, Request,
    transfer::{FileOf, Format},
};
use stoa_identity::{
    manage::ImportedMember,
    member::{MemberFilter, Move},
};
use stoa_kernel::{Caller, Role};
use stoa_sql::Value;
use stoa_store::{Database, Environment, InsertRows, ReaderPool, boxed, outbox};
use stoa_testkit::{TestApp, TestClient, on_both_engines};
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    level_filters::LevelFilter,
    span,
};

/// What each transaction of the process changed.
static CHANGED: Mutex<Vec<u64>> = Mutex::new(Vec::new());
/// The statements of the process.
static STATEMENTS: Mutex<Vec<String>> = Mutex::new(Vec::new());
/// One test at a time, for that reason.
static SERIAL: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

struct Listener;

impl Subscriber for Listener {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        matches!(metadata.target(), "stoa::transaction" | "stoa::statement")
    }
    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(LevelFilter::TRACE)
    }
    fn event(&self, event: &Event<'_>) {
        struct Changed;
        impl Visit for Changed {
            fn record_u64(&mut self, _: &Field, value: u64) {
                CHANGED.lock().unwrap().push(value);
            }
            fn record_str(&mut self, _: &Field, sql: &str) {
                STATEMENTS.lock().unwrap().push(sql.to_owned());
            }
            fn record_debug(&mut self, _: &Field, _: &dyn std::fmt::Debug) {}
        }
        event.record(&mut Changed);
    }
    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }
    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
    fn enter(&self, _: &span::Id) {}
    fn exit(&self, _: &span::Id) {}
}

fn listen() {
    static LISTENING: OnceLock<()> = OnceLock::new();
    LISTENING.get_or_init(|| tracing::subscriber::set_global_default(Listener).unwrap());
}

/// The statements of some work.
async fn statements<T>(work: impl Future<Output = T>) -> (T, Vec<String>) {
    listen();
    STATEMENTS.lock().unwrap().clear();
    let done = work.await;
    (done, std::mem::take(&mut *STATEMENTS.lock().unwrap()))
}

/// Does some work that changes at least so many rows, and makes sure that no transaction changed more than
/// `most` of them.
async fn in_pieces<T>(what: &str, rows: u64, most: u64, work: impl Future<Output = T>) -> T {
    listen();
    CHANGED.lock().unwrap().clear();
    let done = work.await;
    let changed = std::mem::take(&mut *CHANGED.lock().unwrap());
    assert!(changed.iter().sum::<u64>() >= rows, "{what} changes {rows} rows: {changed:?}");
    assert!(changed.iter().all(|it| *it <= most), "{what} changes at most {most} rows at once: {changed:?}");
    done
}

fn owner() -> Caller {
    Caller::User { id: "olga".into(), role: Role::Owner, session: "s".into() }
}

fn key() -> Caller {
    Caller::App { id: "key".into() }
}

/// Fills a table with rows from long ago. A column is `name:t` for text, `name:b` for bytes, both different in
/// each row, or `name:i` for zero.
async fn fill(database: &Database, table: &'static str, site: Option<&str>, columns: &'static str, count: usize) {
    let write = database.append_with(site.map(str::to_owned), move |tx, site| {
        boxed!({
            let (mut names, mut kinds): (Vec<&str>, Vec<&str>) =
                columns.split(' ').filter_map(|it| it.split_once(':')).unzip();
            if site.is_some() {
                names.insert(0, "site");
                kinds.insert(0, "s");
            }
            let cell = |kind: &str, n: usize| match kind {
                "s" => Value::Text(site.clone().unwrap_or_default()),
                "t" => Value::Text(format!("{table}{n}")),
                "b" => Value::Bytes(n.to_be_bytes().to_vec()),
                _ => Value::Int(0),
            };
            let rows: Vec<Vec<Value>> = (0..count).map(|n| kinds.iter().map(|it| cell(it, n)).collect()).collect();
            let into = format!("insert into stoa.{table} ({})", names.join(", "));
            let values: Vec<String> = (1..=names.len()).map(|it| format!("${it}")).collect();
            // A text that differs from row to row tells them apart.
            let key_index = kinds.iter().position(|it| *it == "t").unwrap_or_default();
            let key = names[key_index];
            let rows: Vec<&[Value]> = rows.iter().map(Vec::as_slice).collect();
            let insert = InsertRows {
                into: &into,
                values: &values,
                key,
                key_index,
                replace: None,
                keeps_order: true,
                rows: &rows,
            };
            assert!(tx.insert_rows(insert).await?.iter().all(|it| *it), "{table}");
            Ok(())
        })
    });
    write.await.unwrap();
}

/// The first column of what is selected.
async fn rows(database: &Database, sql: String) -> Vec<String> {
    let read = database.read(ReaderPool::Scan, move |tx| boxed!(Ok(tx.rows(&sql, &[], |row| row.get(0)).await?)));
    read.await.unwrap()
}

/// The tables with a column that says when a row is over.
async fn expiring(database: &Database) -> Vec<String> {
    let sql = match database.dialect().name() {
        "sqlite" => {
            "select m.name from sqlite_master m join pragma_table_info(m.name, 'stoa') c \
             where m.type = 'table' and c.name = 'expires'"
        }
        _ => {
            "select cast(table_name as text) from information_schema.columns \
             where table_schema = 'stoa' and column_name = 'expires'"
        }
    };
    let tables = rows(database, sql.to_owned()).await;
    assert!(!tables.is_empty());
    tables
}

async fn create(app: &TestApp, id: &str, fields: Json) {
    let levels = json!({ "itemRead": "ANYONE", "itemInsert": "ANYONE", "itemUpdate": "SITE_MEMBER_AUTHOR" });
    let object = json!({ "id": id, "fields": fields, "dataPermissions": levels });
    app.app.content.collection_create(&app.site, &owner(), &object).await.unwrap();
}

/// Items by an import, so many rows that one transaction can't be meant to have them all.
async fn import(app: &TestApp, collection: &str, items: impl Iterator<Item = Json>) {
    let text: String = items.map(|it| format!("{it}\n")).collect();
    let done = app
        .app
        .content
        .import(&app.site, &key(), FileOf { collection, format: Format::JsonLines }, text.as_bytes(), |_| {})
        .await
        .unwrap();
    assert_eq!((done.failed, done.links.map_or(0, |it| it.missing)), (0, 0));
}

async fn truncate(app: &TestApp, collection: &str) {
    let body = json!({ "dataCollectionId": collection }).to_string();
    let request = Request::parse(body.as_bytes()).unwrap();
    app.app.content.item_truncate(&app.site, &key(), &request).await.unwrap();
}

fn number() -> Json {
    json!([{ "key": "n", "type": "NUMBER" }])
}

fn links_to(collection: &str) -> Json {
    let target = json!({ "multiReference": { "referencedCollectionId": collection, "referencingFieldKey": "back" } });
    json!({ "key": "to", "type": "MULTI_REFERENCE", "typeMetadata": target })
}

on_both_engines! {
    async fn translations_are_looked_up_by_the_rows_of_their_items(engine) {
        let _turn = SERIAL.lock().await;
        let app = TestApp::new(engine).await;
        let levels = json!({ "itemRead": "SITE_MEMBER_AUTHOR", "itemInsert": "ANYONE", "itemUpdate": "ANYONE" });
        let plugin = json!({ "type": "MULTILINGUAL", "multilingualOptions": { "translatableFieldKeys": ["title"] } });
        let object = json!({ "id": "c", "fields": [{ "key": "title", "type": "TEXT" }], "dataPermissions": levels, "plugins": [plugin] });
        app.app.content.collection_create(&app.site, &owner(), &object).await.unwrap();
        let member = app.member("ann@example.org").await;
        let call = async |client: &TestClient<'_>, path: &str, mut body: Json| {
            (body["dataCollectionId"], body["language"]) = (json!("c"), json!("de-AT"));
            let reply = client.post(path, &body).await;
            assert_eq!(reply.verdict(), "200", "{path}: {:?}", reply.body);
        };
        let item = json!({ "dataCollectionId": "c", "dataItem": { "data": { "_id": "a", "title": "House" } } });
        assert_eq!(member.post("/v2/items", &item).await.verdict(), "200");
        let update = json!({ "dataItem": { "data": { "_id": "a", "title": "Haus" } } });
        let group = json!({ "group": { "groupIds": [{ "key": "k", "expression": { "fieldPath": "title" } }] } });
        let ((), asked) = statements(async {
            call(&app.app(), "/v2/items/update", update).await;
            for client in [&app.app(), &member] {
                let reply = client.get("/v2/items/a?dataCollectionId=c&language=de-AT").await;
                assert_eq!(reply.json()["dataItem"]["data"]["title"], "Haus");
                call(client, "/v2/items/query", json!({})).await;
                call(client, "/v2/items/aggregate-pipeline", json!({ "pipeline": { "stages": [group] } })).await;
            }
        })
        .await;
        let asked: Vec<String> = asked.into_iter().filter(|it| it.starts_with("select") && it.contains("item_translation v")).collect();
        assert_eq!(asked.len(), 7, "{asked:?}");
        // What a caller may read is asked in the statement that reads the values as well.
        assert_eq!(asked.iter().filter(|it| it.contains("owner")).count(), 3, "{asked:?}");
        if app.site.dialect().name() != "sqlite" {
            return;
        }
        for sql in asked {
            let count = (1..20).take_while(|n| sql.contains(&format!("${n}"))).count();
            let (explain, params) = (format!("explain query plan {sql}"), vec![Value::Text("[]".to_owned()); count]);
            let plan = app.site.read(ReaderPool::Scan, move |tx| boxed!(Ok(tx.rows(&explain, &params, |row| row.get::<String>(3)).await?)));
            let plan = plan.await.unwrap().join("\n");
            let lookup = plan.lines().find(|it| it.contains("SEARCH v ")).unwrap_or_default();
            assert!(lookup.contains("item=?"), "{sql}\n{plan}");
        }
    }

    async fn fields_of_graphql_take_the_same_statements_for_any_page(engine) {
        let _turn = SERIAL.lock().await;
        let app = TestApp::new(engine).await;
        let open = json!({ "itemRead": "ANYONE", "itemInsert": "ANYONE", "itemUpdate": "ANYONE", "itemRemove": "ANYONE" });
        let link = json!({ "multiReference": { "referencedCollectionId": "c", "referencingFieldKey": "back" } });
        let fields = json!([
            { "key": "n", "type": "NUMBER" },
            { "key": "one", "type": "REFERENCE", "typeMetadata": { "reference": { "referencedCollectionId": "c" } } },
            { "key": "many", "type": "MULTI_REFERENCE", "typeMetadata": link },
        ]);
        let made = app.app().post("/v2/collections", &json!({ "collection": { "id": "c", "fields": fields, "dataPermissions": open } })).await;
        assert_eq!(made.verdict(), "200", "{:?}", made.body);
        let items: Json = (0..200).map(|n| json!({ "data": { "_id": format!("i{n}"), "n": n, "one": format!("i{}", (n + 1) % 200) } })).collect();
        let made = app.app().post("/v2/bulk/items/insert", &json!({ "dataCollectionId": "c", "dataItems": items })).await;
        assert_eq!(made.json()["bulkActionMetadata"]["totalFailures"], 0, "{:?}", made.body);
        let links: Json = (0..200).map(|n| json!({ "referringItemFieldName": "many", "referringItemId": format!("i{n}"), "referencedItemId": "i7" })).collect();
        let made = app.app().post("/v2/bulk/items/insert-references", &json!({ "dataCollectionId": "c", "dataItemReferences": links })).await;
        assert_eq!(made.verdict(), "200", "{:?}", made.body);
        let visitor = app.visitor().await;
        let ask = async |fields: &str, limit: usize| {
            let query = json!({ "query": format!("{{c(limit: {limit}, sort: {{field: \"n\"}}) {{items {{{fields}}}}}}}") });
            let reply = visitor.post("/graphql/v1", &query).await.json();
            assert_eq!(reply["data"]["c"]["items"].as_array().map(Vec::len), Some(limit), "{reply}");
        };
        // What is kept in memory is there from then on.
        ask("n one {one {n} many {n}}", 1).await;
        for (fields, most) in [("n", 1), ("n one {n}", 2), ("n one {one {n}}", 3), ("n many {n}", 3), ("one {one {n} many {n}} many {one {n}}", 8)] {
            let mut counts = Vec::new();
            for limit in [1, 50, 100] {
                let ((), asked) = statements(ask(fields, limit)).await;
                let of_items: Vec<_> = asked.into_iter().filter(|it| it.starts_with("select") || it.starts_with("with")).collect();
                // What is kept in memory is read again after a while, whoever asks.
                let kept = ["stoa.collection", "stoa.content_index", "select number, referring, ", "stoa.sweep", "stoa.special", "stoa.revocation", "stoa.hook"];
                let of_items: Vec<_> = of_items.into_iter().filter(|it| !kept.iter().any(|table| it.contains(table))).collect();
                counts.push(of_items.len());
                assert!(of_items.len() <= most, "{fields} of {limit}: {of_items:#?}");
            }
            assert!(counts.iter().all(|it| *it == counts[0]), "{fields}: {counts:?}");
        }
    }

    async fn copies_between_environments_go_in_pieces(engine) {
        let _guard = SERIAL.lock().await;
        let app = TestApp::new(engine).await;
        let (store, content) = (&app.kit.store, &app.app.content);
        let object = json!({ "collection": { "id": "c", "fields": [{ "key": "n", "type": "NUMBER" }], "dataPermissions": {
            "itemRead": "ANYONE", "itemInsert": "ANYONE", "itemUpdate": "ANYONE", "itemRemove": "ANYONE" } } });
        assert_eq!(app.app().post("/v2/collections", &object).await.verdict(), "200");
        for piece in 0..4 {
            let items: Json = (0..1000).map(|n| json!({ "data": { "_id": format!("i{piece}-{n}"), "n": n } })).collect();
            let made = app.app().post("/v2/bulk/items/insert", &json!({ "dataCollectionId": "c", "dataItems": items })).await;
            assert_eq!(made.json()["bulkActionMetadata"]["totalFailures"], 0, "{:?}", made.body);
        }
        content.environment_create(store, &app.site, &key()).await.unwrap();
        let wish = CopyWish { source: Environment::Live, collections: Vec::new() };
        for what in ["a copy", "a second one", "a third one"] {
            let (copy, _) = content.environment_copy_begin(store, &app.site, &key(), &wish).await.unwrap();
            in_pieces(what, 4_000, 600, content.environment_work(store, copy)).await.unwrap();
        }
        let sandbox = store.sandbox(&app.site).await.unwrap().unwrap();
        app.kit.clock.advance(READ_OUT + 1);
        in_pieces("what the second one had", 4_000, 600, content.environment_tend(store, &sandbox)).await.unwrap();
    }

    async fn expired_rows_are_deleted_in_batches(engine) {
        let _guard = SERIAL.lock().await;
        let app = TestApp::new(engine).await;
        let (site, identity) = (&app.site, &app.app.identity);
        let catalog = app.kit.store.catalog();
        // The clock of tests stands in the year 2026.
        let of_site = [
            ("async_job", "id:t collection:i collection_id:t kind:t status:t asker:t asker_kind:t asker_id:t created:i done:t succeeded:i failed:i failures:t touched:i attempts:i ended:i"),
            ("audit", "id:t created:i event:t actor_kind:t actor:t"),
            ("captcha", "hash:b expires:i"),
            ("code", "hash:b client:t member:t root:t expires:i"),
            ("device", "hash:b member:t created:i expires:i"),
            ("factor", "id:t member:t name:t sealed:b created:i"),
            ("flow", "hash:b browser:b kind:t state:t context:t revision:i expires:i"),
            ("hook_log", "id:t created:i collection:t hook:t version:i milliseconds:i outcome:t console:t"),
            ("install_code", "hash:b client:t expires:i"),
            ("link", "hash:b purpose:t member:t created:i expires:i"),
            ("mail", "id:t kind:t created:i expires:i attempts:i"),
            ("passkey_challenge", "hash:b expires:i"),
            ("phone_count", "hash:b since:i sent:i"),
            ("provider_answer", "hash:b expires:i"),
            ("push_question", "hash:b member:t id:t name:t kind:t generation:i number:i address:t created:i expires:i"),
            ("redirect_session", "hash:b plan:t expires:i"),
            ("refresh_token", "hash:b session:t children:i expires:i"),
            ("remembered_browser", "hash:b member:t created:i expires:i"),
            ("session", "id:t root:t member:t hash:b created:i used:i expires:i"),
            ("session_token", "hash:b member:t expires:i"),
            ("webhook_event", "id:t endpoint:t sequence:i place:i entity:t type:t state:t kind:t payload:t happened:i attempts:i created:i died:i"),
            ("webhook_secret", "id:t endpoint:t sealed:b created:i expires:i"),
            ("verification", "hash:b member:t email_folded:t code_hash:b code_expires:i attempts:i messages:i created:i expires:i"),
        ];
        let of_catalog = [
            ("app_key", "id:t client:t site:t state:t origin:t modulus:b exponent:b created:i retired:i"),
            (
                "environment_copy",
                "id:t site:t source:t status:t collections:t items:i started:i runner:t touched:i attempts:i ended:i",
            ),
            ("invite", "hash:b site:t role:t expires:i"),
            ("person_link", "hash:b person:t site:t created:i expires:i"),
            ("person_session", "id:t hash:b person:t site:t created:i expires:i"),
            ("revocation", "subject:t created:i expires:i"),
        ];
        for (table, columns) in of_site {
            fill(site, table, Some(site.id.as_str()), columns, 1250).await;
        }
        for (table, columns) in of_catalog {
            fill(catalog, table, None, columns, 1250).await;
        }
        in_pieces("a site", 1250 * of_site.len() as u64, 500, identity.retention_run(site)).await;
        in_pieces("the catalogue", 1250 * of_catalog.len() as u64, 500, identity.retention_run_catalog()).await;
        for (table, _) in of_site.iter().chain(&of_catalog) {
            let database: &Database = if of_catalog.iter().any(|it| it.0 == *table) { catalog } else { site };
            let left = rows(database, format!("select cast(count(*) as text) from stoa.{table}")).await;
            assert_eq!(left, ["0"], "{table}");
        }
        // A table of what expires must say when it is deleted.
        let mut tables = expiring(site).await;
        tables.extend(expiring(catalog).await);
        let known = of_site.iter().chain(&of_catalog).map(|it| it.0);
        tables.retain(|it| known.clone().all(|known| known != it));
        assert!(tables.is_empty(), "nobody tidies {tables:?}");
    }

    async fn values_are_sealed_again_in_batches(engine) {
        let _guard = SERIAL.lock().await;
        let app = TestApp::new(engine).await;
        create(&app, "vault", json!([{ "key": "pin", "type": "TEXT", "encrypted": true }])).await;
        import(&app, "vault", (0..1250).map(|n| json!({ "_id": format!("v{n}"), "pin": "1" }))).await;
        let sealing = app.app.content.seal_site(&app.site, "first", |_| ());
        assert_eq!(in_pieces("sealing again", 1250, 500, sealing).await.unwrap(), 1250);
    }

    async fn outbox_is_trimmed_in_batches(engine) {
        let _guard = SERIAL.lock().await;
        let app = TestApp::new(engine).await;
        let write = app.site.append_with(app.site.id.clone(), |tx, id| {
            boxed!({
                for n in 0..4000 {
                    outbox::put(tx, id, "test", format!("{n}"), 0).await?;
                }
                Ok(())
            })
        });
        write.await.unwrap();
        in_pieces("the outbox", 2000, 500, app.site.outbox().prune(app.kit.world.now())).await.unwrap();
    }

    async fn imports_are_written_in_batches(engine) {
        let _guard = SERIAL.lock().await;
        let app = TestApp::new(engine).await;
        create(&app, "plain", number()).await;
        create(&app, "linked", json!([links_to("plain")])).await;
        let plain = (0..4500).map(|n| json!({ "_id": format!("p{n}") }));
        // Items and the row that announces them.
        in_pieces("an import", 4500, 1001, import(&app, "plain", plain)).await;
        let linked = |count: usize| move |n: usize| json!({ "_id": format!("l{n}"),
            "to": (0..count).map(|it| format!("p{}", (n * count + it) % 4500)).collect::<Vec<_>>() });
        let most = 1000 + 50 + 1;
        in_pieces("an import of links", 5000, most, import(&app, "linked", (0..100).map(linked(50)))).await;
        // Old links go, new ones come.
        in_pieces("an import of other links", 4000, 3 * most, import(&app, "linked", (0..100).map(linked(40)))).await;

        // Links that wait until the end of the file.
        create(&app, "chain", number()).await;
        app.app.content.field_create(&app.site, &owner(), "chain", &links_to("chain")).await.unwrap();
        let chain = (0..4500).map(|n| json!({ "_id": format!("c{n}"), "to": [format!("c{}", 4499 - n)] }));
        in_pieces("an import of a chain", 9000, 2001, import(&app, "chain", chain)).await;

        let member = |n: usize| json!({ "email": format!("m{n}@example.org") });
        let arrivals: Vec<ImportedMember> = (0..1500).map(|n| ImportedMember::parse(&member(n)).unwrap()).collect();
        in_pieces("an import of members", 1500, 2000, async {
            let mut arrivals = arrivals.into_iter();
            loop {
                let some: Vec<_> = arrivals.by_ref().take(stoa_identity::manage::AT_ONCE).collect();
                if some.is_empty() {
                    break;
                }
                app.app.identity.member_import(&app.site, &key(), some).await.unwrap();
            }
        })
        .await;
        // A member, the past of their sessions, a line of the audit log, and a row of the log.
        for step in [Move::Block, Move::Approve, Move::Delete] {
            let moved = async { app.app.identity.members_move(&app.site, &key(), MemberFilter::default(), step).await };
            assert_eq!(in_pieces("a move of members", 3000, 125, moved).await.unwrap(), 1500);
        }
        // Those whose day has come go one by one, however many they are.
        let due = app.site.append_with(app.site.id.clone(), |tx, site| {
            boxed!({
                let sql = "update stoa.member set deletion_due = 0, deletion_kept_as = 'ACTIVE' where site = $1 and id in \
                           (select id from stoa.member where site = $1 order by id limit 250)";
                Ok(tx.send(sql, &[Value::Text(site.to_string())]).await?)
            })
        });
        due.await.unwrap();
        in_pieces("members who wanted to go", 3 * 250, 10, app.app.identity.retention_run(&app.site)).await;
        let left = rows(&app.site, "select id from stoa.member where deletion_due is not null".to_owned()).await;
        assert_eq!(left, [""; 0]);
    }

    async fn collections_are_truncated_in_batches(engine) {
        let _guard = SERIAL.lock().await;
        let app = TestApp::new(engine).await;
        let content = &app.app.content;
        create(&app, "plain", number()).await;
        create(&app, "linked", json!([links_to("plain")])).await;
        let plain = || (0..3500).map(|n| json!({ "_id": format!("p{n}"), "n": n }));
        // Items of which one alone has more links than go at once.
        let linked = || {
            (0..8).map(|n| json!({ "_id": format!("l{n}"), "to": (0..900).map(|it| format!("p{}", if n < 4 { it + n * 800 } else { it })).collect::<Vec<_>>() }))
        };
        import(&app, "plain", plain()).await;
        import(&app, "linked", linked()).await;
        let most = 500 + 1000 + 2;
        in_pieces("a field of items", 3500, 502, content.field_delete(&app.site, &key(), "plain", "n")).await.unwrap();
        in_pieces("a truncate of few items with many links", 7200, most, truncate(&app, "linked")).await;
        import(&app, "linked", linked()).await;
        in_pieces("a truncate of many items with many links", 3500 + 7200, most, truncate(&app, "plain")).await;
        import(&app, "plain", plain()).await;
        import(&app, "linked", linked()).await;
        in_pieces("a field of links", 7200, 1000, content.field_delete(&app.site, &owner(), "linked", "to")).await.unwrap();
        in_pieces("a deleted collection", 1, 10, content.collection_delete(&app.site, &owner(), "plain")).await.unwrap();
    }

    async fn jobs_by_filter_go_in_batches(engine) {
        let _guard = SERIAL.lock().await;
        let app = TestApp::new(engine).await;
        create(&app, "plain", number()).await;
        create(&app, "linked", json!([number()[0].clone(), links_to("plain")])).await;
        import(&app, "plain", (0..1250).map(|n| json!({ "_id": format!("p{n}"), "n": n }))).await;
        import(&app, "linked", (0..60).map(|n| json!({ "_id": format!("l{n}") }))).await;
        let client = app.app();
        let run = async |call: &str, collection: &str, changes: Json| {
            let mut body = json!({ "dataCollectionId": collection, "filter": {} });
            if !changes.is_null() {
                body["fieldModifications"] = changes;
            }
            let begun = client.post(&format!("/v2/bulk/items/async-{call}-by-filter"), &body).await;
            let id = begun.json()["jobId"].as_str().unwrap().to_owned();
            loop {
                let state = client.get(&format!("/v2/async-jobs/{id}/status?jobId={id}")).await.json();
                match state["status"].as_str() {
                    Some("SUCCEEDED") => return,
                    Some("FAILED") => panic!("{state}"),
                    _ => tokio::time::sleep(std::time::Duration::from_millis(5)).await,
                }
            }
        };
        let set = |field: &str, value: Json| json!([{ "fieldPath": field, "action": "SET_FIELD", "setFieldOptions": { "value": value } }]);
        // Items, the row that announces them, and that of the job, twice.
        in_pieces("a patch by filter", 1250, 103, run("patch", "plain", set("n", json!(1)))).await;
        let links: Vec<String> = (0..200).map(|n| format!("p{n}")).collect();
        in_pieces("a patch of links by filter", 12_000, 1_030, run("patch", "linked", set("to", json!(links)))).await;
        in_pieces("a removal by filter", 1250 + 12_000, 1_103, run("remove", "plain", json!(null))).await;
    }

    async fn member_badges_are_updated_in_batches(engine) {
        let _guard = SERIAL.lock().await;
        let app = TestApp::new(engine).await;
        let write = app.site.append_with(app.site.id.clone(), |tx, id| {
            boxed!({
                let sql = "insert into stoa.member_tie (site, kind, holder, target, id, doc, created) \
                           with recursive n(i) as (select cast(1 as bigint) union all select i + 1 from n where i < 1600) \
                           select $1, 'badge', 'm' || i, 'b', 't' || i, '{}', 0 from n";
                tx.execute(sql, &[Value::Text(id.as_str().to_owned())]).await?;
                Ok(())
            })
        });
        write.await.unwrap();
        let body = json!({ "filter": { "badgeId": "b" }, "assignTags": { "tags": { "tagIds": ["t"] } } });
        in_pieces("badges of members", 1600, 500, async {
            let path = "/badges/v4/bulk/assignments/update-tags-by-filter";
            assert_eq!(app.app().post(path, &body).await.verdict(), "200");
        })
        .await;
    }

    async fn visitor_items_change_owner_in_batches(engine) {
        let _guard = SERIAL.lock().await;
        let app = TestApp::new(engine).await;
        create(&app, "wishes", number()).await;
        let visitor = app.visitor().await;
        for part in 0..3 {
            let items: Vec<_> = (0..600).map(|n| json!({ "data": { "_id": format!("w{part}-{n}") } })).collect();
            let body = json!({ "dataCollectionId": "wishes", "dataItems": items });
            assert_eq!(visitor.post("/v2/bulk/items/insert", &body).await.verdict(), "200");
        }
        let body = json!({ "loginId": { "email": "ada@example.org" }, "password": "correct horse battery" });
        let member = visitor.post("/v2/register", &body).await.json()["identity"]["id"].clone();
        let grant = json!({ "grant_type": "authorized_client", "scope": "offline_access", "member_id": member });
        let both = app.with_token(&format!("{},{}", visitor.token, app.app().token));
        in_pieces("a visitor's items", 1800, 600, async {
            assert_eq!(both.post("/oauth2/token", &grant).await.verdict(), "200");
            app.app.identity.visitor_merges_finish(&app.site).await.unwrap();
            let body = json!({ "dataCollectionId": "wishes", "filter": { "_owner": member } });
            for _ in 0..500 {
                if app.app().post("/v2/items/count", &body).await.json()["totalCount"] == 1800 {
                    return;
                }
                tokio::time::sleep(std::time::Duration::from_millis(10)).await;
            }
            panic!("a minute was not enough");
        })
        .await;
    }
}
