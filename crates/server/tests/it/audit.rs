//! `stoa audit`: the same with a server and without one.

use crate::process::{Deployment, post};
use serde_json::{Value, json};
use stoa_testkit::Engine;

#[test]
fn audit_on_sqlite() {
    audit(Engine::Sqlite);
}

#[test]
fn audit_on_postgres() {
    audit(Engine::Postgres);
}

fn events(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|it| it["event"].as_str().unwrap()).collect()
}

fn sorted(entries: &[Value]) -> Vec<&str> {
    let mut events: Vec<_> = entries.iter().map(|it| it["event"].as_str().unwrap()).collect();
    events.sort_unstable();
    events
}

fn audit(engine: Engine) {
    let deployment = Deployment::new(engine);
    deployment.json(&["site", "create", "--name", "X"]);
    let client = deployment.json(&["client", "create", "--name", "X", "--redirect-uri", "https://a.example/cb"]);
    assert_eq!(deployment.json(&["audit"]), json!([]));
    let server = deployment.serve(|_| {});
    let call = |path: &str, token: &str, body: Value| post(&format!("{}{path}", server.url), token, &body).unwrap();
    let grant = json!({ "clientId": client["clientId"], "grantType": "anonymous" });
    let visitor = call("/oauth2/token", "", grant).1["access_token"].as_str().unwrap().to_owned();
    let person = |email: &str| json!({ "loginId": { "email": email }, "password": "correct horse battery" });
    for email in ["ada@example.org", "bob@example.org"] {
        assert_eq!(call("/v2/register", &visitor, person(email)).0, 200);
    }
    assert_eq!(call("/v2/login", &visitor, person("ada@example.org")).0, 200);
    let id = call("/v2/login", &visitor, person("ada@example.org")).1["identity"]["id"].as_str().unwrap().to_owned();

    let all = deployment.json(&["audit"]);
    // Each registration was a sign-in as well; of one moment no entry comes first.
    assert_eq!(events(&all)[..2], ["member_sign_in", "member_sign_in"]);
    let both = ["member_register", "member_register", "member_sign_in", "member_sign_in"];
    assert_eq!(sorted(&all.as_array().unwrap()[2..]), both);
    let last = &all[0];
    assert_eq!((&last["memberId"], &last["actor"]), (&json!(id), &json!(id)));
    assert_eq!((&last["actorKind"], &last["address"]), (&json!("MEMBER"), &json!("127.0.0.1")));
    let mine = ["member_register", "member_sign_in", "member_sign_in", "member_sign_in"];
    assert_eq!(sorted(deployment.json(&["audit", "--member", "ada@example.org"]).as_array().unwrap()), mine);
    assert_eq!(events(&deployment.json(&["audit", "--member", &id, "--limit", "1"])), ["member_sign_in"]);
    let time = all[1]["time"].as_str().unwrap().to_owned();
    assert_eq!(events(&deployment.json(&["audit", "--since", &time])).len(), 2);
    assert_eq!(sorted(deployment.json(&["audit", "--before", &time]).as_array().unwrap()), both);
    assert_eq!(deployment.json(&["audit", "--before", "2026-01-01"]), json!([]));

    for (wrong, says) in [
        (["--since", "yesterday"], "yesterday is no time"),
        (["--member", "eve@example.org"], "nobody has the address"),
        (["--limit", "0"], "0 is not in 1..=1000"),
    ] {
        let refused = deployment.stoa(&["audit"]).args(wrong).output().unwrap();
        let text = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(!refused.status.success() && text.contains(says), "{text}");
    }
    assert!(server.stop());
    assert_eq!(
        deployment.json(&["audit", "--event", "member_register"]).as_array().unwrap().len(),
        2,
        "without a server"
    );
    let printed = deployment.stoa(&["audit", "--event", "member_register"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&printed.stdout).lines().count(), 3, "for people a head and a line each");
}
