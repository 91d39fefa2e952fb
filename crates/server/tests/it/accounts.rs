//! Members by the command line: shown, kept out, let in, made to set another password, deleted.

use crate::process::{Deployment, post, refusal};
use serde_json::{Value, json};
use stoa_testkit::Engine;

#[test]
fn members_are_managed_on_sqlite() {
    manage(Engine::Sqlite);
}

#[test]
fn members_are_managed_on_postgres() {
    manage(Engine::Postgres);
}

fn manage(engine: Engine) {
    let deployment = Deployment::new(engine);
    deployment.json(&["site", "create", "--name", "X"]);
    let client = deployment.json(&["client", "create", "--name", "X", "--redirect-uri", "https://a.example/cb"]);
    let server = deployment.serve(|_| {});
    let call = |path: &str, token: &str, body: Value| post(&format!("{}{path}", server.url), token, &body).unwrap();
    let grant = json!({ "clientId": client["clientId"], "grantType": "anonymous" });
    let visitor = call("/oauth2/token", "", grant).1["access_token"].as_str().unwrap().to_owned();
    let person = json!({ "loginId": { "email": "ada@example.org" }, "password": "correct horse battery" });
    assert_eq!(call("/v2/register", &visitor, person.clone()).0, 200);
    let login = || {
        let (status, answer) = call("/v2/login", &visitor, person.clone());
        (status, answer["details"]["applicationError"]["code"].as_str().unwrap_or("").to_owned())
    };
    assert_eq!(login().0, 200);

    let shown = deployment.json(&["member", "show", "ada@example.org"]);
    assert_eq!((&shown["status"], &shown["email"]), (&json!("ACTIVE"), &json!("ada@example.org")), "{shown}");
    let id = shown["memberId"].as_str().unwrap();
    assert_eq!(deployment.json(&["member", "show", id]), shown);
    assert_eq!(deployment.json(&["member", "block", "ada@example.org"])["status"], "BLOCKED");
    assert_eq!(login().0, 403);
    assert_eq!(deployment.json(&["member", "block", id, "--undo"])["status"], "ACTIVE");
    assert_eq!(login().0, 200);

    assert_eq!(deployment.json(&["member", "reset-password", "ada@example.org"])["sentTo"], "ada@example.org");
    assert_eq!(login(), (403, "-19973".to_owned()), "the password is good no longer");
    assert_eq!(deployment.json(&["member", "show", id])["mustResetPassword"], true);
    let outbox = deployment.file("outbox/mail.jsonl");
    let mut mail = String::new();
    for _ in 0..600 {
        mail = std::fs::read_to_string(&outbox).unwrap_or_default();
        if mail.contains("ada@example.org") {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert!(mail.contains("/account/"), "a link for another one: {mail}");

    let refused = refusal(&deployment, &["member", "delete", "ada@example.org"]);
    assert!(refused["message"].as_str().unwrap().contains("--yes"), "{refused}");
    assert_eq!(deployment.json(&["member", "delete", "ada@example.org", "--yes"])["deleted"], json!(id));
    for words in [
        &["member", "show", "ada@example.org"][..],
        &["member", "show", id],
        &["member", "block", "none"],
        &["member", "reset-password", "eve@example.org"],
    ] {
        assert_eq!(refusal(&deployment, words)["code"], "NOT_FOUND", "{words:?}");
    }
    assert!(server.stop());
    assert_eq!(deployment.json(&["member", "list"]), json!([]), "without a server");
}
