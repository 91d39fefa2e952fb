//! Limits from a file and a variable, seen through HTTP; and values that the program doesn't start with.

use crate::process::{Deployment, make_things, post};
use serde_json::{Value, json};
use stoa_testkit::Engine;

#[test]
fn limits_hold_on_sqlite() {
    take_effect(Engine::Sqlite);
}

#[test]
fn limits_hold_on_postgres() {
    take_effect(Engine::Postgres);
}

fn take_effect(engine: Engine) {
    let deployment = Deployment::new(engine);
    let key = deployment.site_with_things();
    let client = deployment.json(&["client", "create", "--name", "X", "--redirect-uri", "https://a.example/cb"]);
    let file = deployment.file("stoa.toml");
    let text = "[limits]\nbulk_items = 5\nquery_limit = 60\nbody_bytes = 70000\n\n[identity]\naccess_life = \"5m\"\n";
    std::fs::write(&file, text).unwrap();
    let server = deployment.serve(|command| {
        command
            .arg("--config")
            .arg(&file)
            .env("STOA_LIMITS_BULK_ITEMS", "3")
            .env("STOA_IDENTITY_REGISTRATION_BURST", "2");
    });
    make_things(&server, &key);
    let ask = |path: &str, body: &Value| {
        let (status, answer) = post(&format!("{}{path}", server.url), &key, body).unwrap();
        let error = &answer["details"]["applicationError"];
        (status, error["code"].as_str().map(str::to_owned), error["description"].to_string())
    };
    let insert = |count: usize| {
        let items: Value = (0..count).map(|n| json!({ "data": { "n": n } })).collect();
        ask("/v2/bulk/items/insert", &json!({ "dataCollectionId": "things", "dataItems": items }))
    };
    assert_eq!(insert(3).0, 200);
    let (status, code, description) = insert(4);
    assert_eq!((status, code.as_deref()), (400, Some("WDE0006")), "the variable beats the file");
    assert!(description.contains("At most 3 items"), "{description}");
    let page = |limit: usize| {
        ask("/v2/items/query", &json!({ "dataCollectionId": "things", "query": { "paging": { "limit": limit } } }))
    };
    assert_eq!(page(60).0, 200);
    assert_eq!(page(61).1.as_deref(), Some("WDE0036"));
    let long = json!({ "dataCollectionId": "things", "query": { "filter": { "n": "x".repeat(70_000) } } });
    let (status, code, _) = ask("/v2/items/query", &long);
    assert_eq!((status, code.as_deref()), (413, Some("WDE0109")));

    let post = |path: &str, body: &Value| post(&format!("{}{path}", server.url), "", body).unwrap();
    let (_, token) = post("/oauth2/token", &json!({ "clientId": client["clientId"], "grantType": "anonymous" }));
    assert_eq!(token["expires_in"], 300);
    let visitor = token["access_token"].as_str().unwrap();
    let register = |n: usize| {
        let email = format!("a{n}@example.org");
        let body = json!({ "loginId": { "email": email }, "password": "correct horse battery" });
        crate::process::post(&format!("{}/v2/register", server.url), visitor, &body).unwrap().0
    };
    assert_eq!([register(1), register(2), register(3)], [200, 200, 429]);
    assert!(server.stop());

    // What can't be meant stops every command, with a sentence.
    let refusal = |arguments: &[&str], text: &str, variable: Option<(&str, &str)>| {
        std::fs::write(&file, text).unwrap();
        let mut command = deployment.stoa(arguments);
        command.arg("--config").arg(&file).envs(variable);
        let output = command.output().unwrap();
        assert!(!output.status.success(), "{arguments:?} {text}");
        // `check` answers, the others complain.
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
    };
    for arguments in [&["serve", "--port", "0"][..], &["check"]] {
        let says = refusal(arguments, "[limits]\nbulk_items = 0\n", None);
        assert!(says.contains("limits.bulk_items is 0, but must be between 1 and 10000"), "{says}");
        let says = refusal(arguments, "", Some(("STOA_IDENTITY_SESSION_IDLE", "1h")));
        let wants = "identity.session_idle (STOA_IDENTITY_SESSION_IDLE) is 1h, but must be between 2h and 365d";
        assert!(says.contains(wants), "{says}");
        let says = refusal(arguments, "[limits]\nbulk_itmes = 5\n", None);
        assert!(says.contains("limits.bulk_itmes is no key of the table limits"), "{says}");
    }
}
