//! The program as it runs a site's hooks for itself.

use crate::process::{Deployment, post, refusal};
use serde_json::{Value, json, value::RawValue};
use std::{fs, process::Command, sync::Arc, time::Duration};
use stoa_hooks::{Call, Context, Hook, HookLimits, Host, HostProgram, Outcome, Version};
use stoa_kernel::SiteId;
use stoa_testkit::Engine;

#[tokio::test]
async fn program_runs_hooks_confined() {
    let program = HostProgram { path: env!("CARGO_BIN_EXE_stoa").into(), arguments: vec!["hook-host".into()] };
    let host = Host::new(HookLimits { hook_milliseconds: 2_000, ..HookLimits::default() }, program);
    let source = "export const c_afterGet = (item) => ({ seen: item.n, at: typeof process })";
    let exports = host.exports_of(&SiteId::from("s"), source).await.unwrap();
    let version = Arc::new(Version::new(SiteId::from("s"), 1, source, exports));
    let argument = RawValue::from_string(r#"{"n":5}"#.to_owned()).unwrap();
    let (hook, context) = (Hook::AfterGet, Arc::new(Context::default()));
    let call = Call { collection: "c".into(), hook, argument, current: None, context };
    let called = host.call(&version, &call, Duration::from_secs(20)).await;
    let Ok(Outcome::Value(value)) = called.outcome else { panic!("{called:?}") };
    assert_eq!(value.get(), r#"{"seen":5,"at":"undefined"}"#);
    assert!(host_status().contains("Seccomp:\t2"), "{}", host_status());
    host.shutdown().await;
}

/// Of the one process of hooks that this program has.
fn host_status() -> String {
    let threads = fs::read_dir("/proc/self/task").unwrap();
    let children = threads.filter_map(|it| fs::read_to_string(it.unwrap().path().join("children")).ok());
    let ids: Vec<String> =
        children.flat_map(|it| it.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).collect();
    let is_host = |id: &&String| {
        fs::read_to_string(format!("/proc/{id}/cmdline")).is_ok_and(|it| it.starts_with("stoa-hook-host\0"))
    };
    let id = ids.iter().find(is_host).unwrap();
    fs::read_to_string(format!("/proc/{id}/status")).unwrap()
}

#[test]
fn hooks_by_command_on_sqlite() {
    hooks(Engine::Sqlite);
}

#[test]
fn hooks_by_command_on_postgres() {
    hooks(Engine::Postgres);
}

/// Machines of tests are slow now and then.
fn patient(command: &mut Command) -> &mut Command {
    command.env("STOA_LIMITS_HOOK_MILLISECONDS", "2000")
}

fn hooks(engine: Engine) {
    let deployment = Deployment::new(engine);
    let key = deployment.site_with_things();
    deployment.json(&["collection", "create", "things", "--field", "n:number"]);
    let source = |body: &str| format!("export function things_beforeInsert(item) {{ {body}; return item }}");
    let write = |name: &str, text: &str| {
        let file = deployment.file(name);
        fs::write(&file, text).unwrap();
        file.to_str().unwrap().to_owned()
    };
    let (one, two) = (write("one.js", &source("item.n = 1")), write("two.js", &source("item.n = 2")));
    let item = write("item.json", r#"{"n":5}"#);

    // Without a server, as with one.
    assert_eq!(deployment.json(&["hooks", "list"]), json!([]));
    let mut command = deployment.stoa(&["hooks", "try", "things", "beforeInsert", &item, "--source", &two, "--json"]);
    let tried: Value = serde_json::from_slice(&patient(&mut command).output().unwrap().stdout).unwrap();
    assert_eq!((&tried["outcome"], &tried["value"]), (&json!("VALUE"), &json!({ "n": 2 })));
    let deployed = deployment.json(&["hooks", "deploy", &one]);
    assert_eq!((&deployed["version"], &deployed["exports"]), (&json!(1), &json!("things_beforeInsert")));
    let server = deployment.serve(|it| {
        patient(it);
    });
    let inserted = || {
        let item = json!({ "dataCollectionId": "things", "dataItem": { "data": { "n": 7 } } });
        let (status, answer) = post(&format!("{}/v2/items", server.url), &key, &item).unwrap();
        assert_eq!(status, 200, "{answer}");
        answer["dataItem"]["data"]["n"].clone()
    };
    assert_eq!(inserted(), 1);
    assert_eq!(deployment.json(&["hooks", "deploy", &two])["version"], 2);
    assert_eq!(inserted(), 2);
    assert_eq!(deployment.json(&["hooks", "activate", "1"])["active"], 1);
    assert_eq!(inserted(), 1);
    let tried = deployment.json(&["hooks", "try", "things", "beforeInsert", &item]);
    assert_eq!((&tried["version"], &tried["value"]), (&json!(1), &json!({ "n": 1 })));
    let active: Vec<_> =
        deployment.json(&["hooks", "list"]).as_array().unwrap().iter().map(|it| it["active"].clone()).collect();
    assert_eq!(active, [json!(false), json!(true)]);
    assert_eq!(deployment.json(&["hooks", "resume"])["resumed"], true);

    let wrong = write("wrong.js", "const a = 1;\nexport function {");
    let refused = refusal(&deployment, &["hooks", "deploy", &wrong]);
    assert_eq!(refused["code"], "INVALID_ARGUMENT");
    assert!(refused["message"].as_str().unwrap().contains("data.js:2:"), "{refused}");
    assert_eq!(refused["data"]["violations"][0]["data"]["line"], 2, "{refused}");
    let strange = write("strange.js", "export function thing_beforeInsert() {}");
    let refused = refusal(&deployment, &["hooks", "deploy", &strange]);
    assert!(refused["message"].as_str().unwrap().contains("did you mean things?"), "{refused}");
    let tests = write(
        "two.test.js",
        "import { things_beforeInsert } from './data.js';
        test('sets n', () => equal(things_beforeInsert({}), { n: 2 }));
        test('loops', () => { for (;;); });
        test('is asked after one that was stopped', () => console.log('here'));",
    );
    let run = deployment.stoa(&["hooks", "test", &tests, "--source", &two, "--json"]).output().unwrap();
    assert_eq!(run.status.code(), Some(1), "{run:?}");
    let told: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!((&told["passed"], &told["failed"]), (&json!(2), &json!(1)), "{told}");
    let all: Vec<_> = told["tests"].as_array().unwrap().iter().map(|it| it["outcome"].as_str().unwrap()).collect();
    assert_eq!(all, ["NOTHING", "TIMED_OUT", "NOTHING"], "{told}");
    assert_eq!(told["tests"][2]["console"], "here\n");
    let good = write("data.test.js", "test('is there', () => equal(1, 1))");
    write("data.js", "");
    let run = deployment.stoa(&["hooks", "test", &good]).output().unwrap();
    assert_eq!((run.status.code(), String::from_utf8_lossy(&run.stdout).trim()), (Some(0), "passed  is there"));
    let connect = ["hooks", "connect", "https://example.org/?a", "--app", "none", "--hook", "thing_beforeInsert"];
    let refused = refusal(&deployment, &connect);
    let fields: Vec<_> = refused["data"]["violations"].as_array().unwrap().iter().map(|it| &it["field"]).collect();
    assert_eq!(fields, ["plugin.url", "plugin.appId"], "{refused}");
    let types = deployment.stoa(&["hooks", "types"]).output().unwrap();
    let types = String::from_utf8(types.stdout).unwrap();
    assert!(types.contains("\"things\": SystemFields & {") && types.ends_with("}\n"), "{types}");
    assert!(server.stop());
}
