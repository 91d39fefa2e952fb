//! What commands print for people and for scripts, and what they take.

use crate::process::{Deployment, STOA, refusal, write_items};
use serde_json::{Value, json};
use std::{
    collections::BTreeSet,
    process::{Command, Output},
};
use stoa_testkit::Engine;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn stoa(arguments: &[&str]) -> Output {
    Command::new(STOA).args(arguments).output().unwrap()
}

#[test]
fn help_shows_what_a_command_takes_and_no_setting_of_the_server() {
    let client = text(&stoa(&["client", "create", "--help"]).stdout);
    for expected in ["--redirect-uri", "--site", "--data", "--database-url", "--config", "--json", "Examples:"] {
        assert!(client.contains(expected), "{expected} in {client}");
    }
    assert!(!client.contains("--smtp-host") && !client.contains("--port"), "{client}");
    let serve = text(&stoa(&["serve", "--help"]).stdout);
    assert!(serve.contains("--smtp-host") && serve.contains("--public-url") && !serve.contains("--site"), "{serve}");
    let refused = stoa(&["client", "list", "--port", "1"]);
    assert_eq!(refused.status.code(), Some(2));
}

#[test]
fn settings_of_the_server_are_read_by_commands_from_environment_and_file() {
    let deployment = Deployment::new(Engine::Sqlite);
    deployment.json(&["site", "create", "--name", "X"]);
    let invite = ["owner", "invite", "--email", "a@example.org", "--json"];
    let output = deployment.stoa(&invite).env("STOA_PUBLIC_URL", "https://www.example.org").output().unwrap();
    assert!(text(&output.stdout).contains("https://www.example.org/account/setup"), "{output:?}");
    let output = deployment.stoa(&invite).env("STOA_PORT", "many").output().unwrap();
    assert!(!output.status.success() && text(&output.stderr).contains("STOA_PORT"), "{output:?}");
}

#[test]
fn rights_of_keys_and_clients_are_printed() {
    let deployment = Deployment::new(Engine::Sqlite);
    deployment.json(&["site", "create", "--name", "X"]);
    let full = json!("full rights");
    assert_eq!(deployment.json(&["key", "create", "--name", "all"])["rights"], full);
    let held = deployment.json(&["key", "create", "--name", "feed", "--scope", "members:sign-in", "items:read:posts"]);
    assert_eq!(held["rights"], json!(["items:read:posts", "members:sign-in"]));
    let keys = deployment.json(&["key", "list"]);
    assert_eq!([&keys[0]["rights"], &keys[1]["rights"]], [&full, &held["rights"]]);
    let shown = deployment.stoa(&["key", "list"]).output().unwrap();
    let shown = text(&shown.stdout);
    assert!(shown.contains("full rights") && shown.contains("items:read:posts, members:sign-in"), "{shown}");

    fn create<'t>(more: &[&'t str]) -> Vec<&'t str> {
        [&["client", "create", "--name", "C", "--redirect-uri", "https://a.example/cb"], more].concat()
    }
    let public = deployment.json(&create(&[]));
    assert!(public.get("rights").is_none(), "as ever: {public}");
    assert_eq!(deployment.json(&create(&["--secret"]))["rights"], full);
    let partner = deployment.json(&create(&["--third-party", "--secret", "--scope", "items:read"]));
    assert_eq!(partner["rights"], json!(["items:read"]));
    let clients = deployment.json(&["client", "list"]);
    let view = |at: usize| (clients[at]["thirdParty"].clone(), clients[at]["rights"].clone());
    assert_eq!([view(1), view(2)], [(json!(false), full), (json!(true), json!(["items:read"]))]);

    let refused = deployment.stoa(&create(&["--third-party"])).output().unwrap();
    assert!(refused.status.code() == Some(2) && text(&refused.stderr).contains("--scope"), "{refused:?}");
    let wrong = refusal(&deployment, &["key", "create", "--name", "x", "--scope", "item:read", "site:read", "items:x"]);
    let violations = wrong["data"]["violations"].as_array().unwrap();
    let fields: Vec<&str> = violations.iter().filter_map(|it| it["field"].as_str()).collect();
    assert_eq!(fields, ["scopes[0]", "scopes[2]"], "{wrong}");
    assert_eq!(deployment.json(&["key", "list"]).as_array().unwrap().len(), 2);
}

#[test]
fn errors_are_json_where_that_is_asked_for() {
    let deployment = Deployment::new(Engine::Sqlite);
    deployment.json(&["site", "create", "--name", "X"]);
    let unknown = refusal(&deployment, &["client", "revoke", "none"]);
    assert_eq!(unknown["code"], "NOT_FOUND");
    let wrong = ["client", "create", "--name", "x", "--origin", "x y", "--redirect-uri", "javascript:x"];
    let server = deployment.serve(|_| {});
    let violations = refusal(&deployment, &wrong)["data"]["violations"].clone();
    assert_eq!(violations.as_array().unwrap().len(), 2, "both, through the running server: {violations}");
    assert!(server.stop());
    let usage = stoa(&["site", "creat", "--json"]);
    let error: Value = serde_json::from_slice(&usage.stderr).unwrap();
    assert_eq!((usage.status.code(), &error["error"]["code"]), (Some(2), &json!("USAGE")));
    assert!(error["error"]["message"].as_str().unwrap().contains("create"), "the nearest is named: {error}");
    let error: Value = serde_json::from_slice(&stoa(&["site", "--json"]).stderr).unwrap();
    assert!(error["error"]["message"].as_str().unwrap().contains("create, list"), "what may follow is named: {error}");
    let plain = deployment.stoa(&["client", "revoke", "none"]).output().unwrap();
    assert!(text(&plain.stderr).starts_with("stoa: ") && plain.status.code() == Some(1), "{plain:?}");
}

#[test]
fn lists_have_heads_for_people() {
    let deployment = Deployment::new(Engine::Sqlite);
    deployment.json(&["site", "create", "--name", "X"]);
    let none = deployment.stoa(&["key", "list"]).output().unwrap();
    assert_eq!(text(&none.stdout), "none\n");
    deployment.json(&["key", "create", "--name", "backend"]);
    let keys = text(&deployment.stoa(&["key", "list"]).output().unwrap().stdout);
    let mut lines = keys.lines();
    assert_eq!(lines.next().unwrap().split_whitespace().collect::<Vec<_>>(), ["KEY", "ID", "NAME", "RIGHTS"]);
    assert!(lines.next().unwrap().ends_with("  backend  full rights"), "{keys}");
    let id = deployment.json(&["key", "list"])[0]["keyId"].as_str().unwrap().to_owned();
    deployment.json(&["key", "revoke", &id]);
    assert_eq!(deployment.json(&["key", "list"]), json!([]), "those that are revoked open nothing");
    assert_eq!(deployment.json(&["site", "show"])["keys"], 0);
}

#[test]
fn check_reports_every_mistake() {
    let deployment = Deployment::new(Engine::Sqlite);
    let file = deployment.file("stoa.toml");
    std::fs::write(&file, "prot = 1\nopen_sites = 0\ntls_key = \"k\"\n\n[limits]\nbulk_itmes = 5\n").unwrap();
    let output =
        deployment.stoa(&["check", "--json"]).arg("--config").arg(&file).env("STOA_PORT", "0").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let findings = report["findings"].as_array().unwrap();
    let wrong: Vec<&str> =
        findings.iter().filter(|it| it["ok"] == false).map(|it| it["text"].as_str().unwrap()).collect();
    let expected = [
        "stoa.toml:1: prot is no key; did you mean port?",
        "tls_key is set without tls_cert",
        "open_sites must be at least 1",
        "did you mean bulk_items?",
    ];
    assert_eq!(wrong.len(), expected.len(), "{wrong:?}");
    assert!(expected.iter().all(|it| wrong.iter().any(|text| text.contains(it))), "{wrong:?}");
    assert!(findings.iter().any(|it| it["key"] == "port" && it["ok"] == true), "and what is right: {report}");
}

#[test]
fn completions_are_made_for_shells() {
    for shell in ["bash", "zsh", "fish"] {
        let made = text(&stoa(&["completions", shell]).stdout);
        assert!(made.contains("reset-password"), "{shell}");
    }
}

#[test]
fn description_of_the_interface_is_the_kept_one() {
    let kept = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/openapi.json")).unwrap();
    assert!(text(&stoa(&["openapi"]).stdout) == kept, "as docs/openapi.json is");
    let line = text(&stoa(&["openapi", "--json"]).stdout);
    assert_eq!(line.lines().count(), 1);
    let (line, kept): (Value, Value) = (serde_json::from_str(&line).unwrap(), serde_json::from_str(&kept).unwrap());
    assert_eq!(line, kept);
}

#[test]
fn import_bar_moves_while_a_server_does_the_work() {
    let deployment = Deployment::new(Engine::Sqlite);
    deployment.json(&["site", "create", "--name", "X"]);
    deployment.json(&["collection", "create", "things", "--field", "n:number"]);
    let server = deployment.serve(|_| {});
    let file = deployment.file("things.jsonl");
    write_items(&file, 20_000);
    // A terminal of its own.
    let command =
        format!("{STOA} import things {} --data {}", file.to_str().unwrap(), deployment.data().to_str().unwrap());
    let output = Command::new("script").args(["-qec", &command, "/dev/null"]).env("TERM", "xterm").output().unwrap();
    let shown = text(&output.stdout);
    let percent = |it: &str| it.rsplit(|letter: char| !letter.is_ascii_digit()).next()?.parse::<u32>().ok();
    let seen: BTreeSet<u32> = shown.split('%').filter_map(percent).collect();
    assert!(seen.len() > 3 && seen.iter().any(|it| (1..100).contains(it)), "{seen:?} in {shown}");
    assert!(shown.contains("20,000 inserted"), "{shown}");
    let digits = |it: &str| it.bytes().all(|it| it.is_ascii_digit() || it == b',');
    let paces: Vec<&str> = shown.split("/s").filter_map(|it| it.rsplit(' ').next()).collect();
    assert!(paces[..paces.len() - 1].iter().all(|it| digits(it)), "rounded: {paces:?}");
    assert!(server.stop());
}
