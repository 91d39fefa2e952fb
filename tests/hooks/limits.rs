//! What the configuration can lower of what code may take: what is just within it is taken. `hook_processes`,
//! `hook_idle`, `hook_deaths` and `hook_rest` are met in `crates/hooks/tests/it/limits.rs`, `hook_source`, `hook_waiting` and
//! `hook_processes_of_site` in `tests/hooks.rs`, and those of applications in `tests/hook_plugin.rs`.

use super::*;
use stoa_content::{Content, ContentLimits};

/// The process started again with other limits.
fn restart(app: &mut TestApp, change: impl FnOnce(&mut HookLimits)) {
    let mut limits = HookLimits { hook_milliseconds: 20_000, hook_request_time: 120_000, ..HookLimits::default() };
    change(&mut limits);
    let content = Content::new(app.kit.world.clone(), ContentLimits::default());
    content.keep_hooks(host_of(limits));
    app.restart(|it| it.content = content);
}

/// A limit that is lowered, code that keeps to what it is otherwise, and how that is refused then.
type Row = (&'static str, fn(&mut HookLimits), &'static str, &'static str);

const LARGE: &str = "item.price = new Array(1e6).fill(1).length; return item";
const ROWS: [Row; 4] = [
    ("hook_answer", |it| it.hook_answer = 1_024, "item.title = 'x'.repeat(1100); return item", "400 WDE0150"),
    (
        "hook_milliseconds",
        |it| it.hook_milliseconds = 10,
        "const until = Date.now() + 100; while (Date.now() < until); return item",
        "400 WDE0172",
    ),
    ("hook_memory", |it| it.hook_memory = 4, LARGE, "400 WDE0150"),
    ("hook_memory_of_server", |it| it.hook_memory_of_server = 16, LARGE, "400 WDE0150"),
];

on_both_engines! {
    async fn limits_of_code_are_taken_from_the_configuration(engine) {
        let mut app = open(engine, host()).await;
        for (name, lower, body, refusal) in ROWS {
            restart(&mut app, |_| {});
            assert_eq!(deploy(&app, &format!("export function cars_beforeInsert(item) {{ {body} }}")).await.verdict(), "200");
            assert_eq!(app.app().post("/v2/items", &item(json!({ "title": "x" }))).await.verdict(), "200", "{name}");
            restart(&mut app, lower);
            assert_eq!(app.app().post("/v2/items", &item(json!({ "title": "x" }))).await.verdict(), refusal, "{name}");
        }
    }

    async fn time_of_a_request_is_taken_from_the_configuration(engine) {
        let mut app = open(engine, host()).await;
        let source = "export function cars_beforeInsert(item) { const until = Date.now() + 400; while (Date.now() < until); return item }";
        assert_eq!(deploy(&app, source).await.verdict(), "200");
        let bulk = json!({ "dataCollectionId": "cars", "dataItems": vec![json!({ "data": { "title": "x" } }); 4] });
        let failed = async |app: &TestApp| {
            let told = app.app().post("/v2/bulk/items/insert", &bulk).await.json();
            let code = |it: &Value| it["itemMetadata"]["error"]["code"].as_str().map(str::to_owned);
            told["results"].as_array().unwrap().iter().filter_map(code).collect::<Vec<_>>()
        };
        restart(&mut app, |_| {});
        assert_eq!(failed(&app).await, Vec::<String>::new());
        restart(&mut app, |it| it.hook_request_time = 1_000);
        let codes = failed(&app).await;
        assert!(codes.len() >= 2 && codes.iter().all(|it| it == "WDE0172"), "{codes:?}");
    }

    async fn length_of_what_is_said_is_taken_from_the_configuration(engine) {
        let mut app = open(engine, host()).await;
        assert_eq!(deploy(&app, "export function cars_beforeInsert(item) { console.log('x'.repeat(100)); return item }").await.verdict(), "200");
        for most in [200, 10] {
            restart(&mut app, |it| it.hook_console = most);
            assert_eq!(app.app().post("/v2/items", &item(json!({ "title": "x" }))).await.verdict(), "200");
            app.app.content.hook_log_write(&app.site).await.unwrap();
        }
        // The clock of the test stands still, so their order isn't known.
        let entries = app.app().get(LOG).await.json();
        let said = entries["entries"].as_array().unwrap().iter().map(|it| it["console"].as_str().unwrap().len());
        let mut said: Vec<usize> = said.collect();
        said.sort_unstable();
        assert_eq!(said, [10, 101], "{entries}");
    }
}
