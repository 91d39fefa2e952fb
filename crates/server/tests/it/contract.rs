//! The contract for scripts (design: decisions taken), to the letter.

use crate::process::{Deployment, all_things, make_things, post, write_items};
use serde_json::{Value, json};
use std::io::Write;
use stoa_testkit::Engine;

#[test]
fn contract_holds_on_sqlite() {
    contract(Engine::Sqlite);
}

#[test]
fn contract_holds_on_postgres() {
    contract(Engine::Postgres);
}

fn contract(engine: Engine) {
    let deployment = Deployment::new(engine);
    let site = text(&deployment.json(&["site", "create", "--name", "X"]), "siteId");
    let uris = ["client", "create", "--name", "X", "--redirect-uri", "https://a.example/cb", "https://a.example/cb2"];
    let client = deployment.json(&[&uris[..], &["--origin", "https://a.example"]].concat());
    assert_eq!(text(&client, "siteId"), site);
    assert!(!text(&client, "clientId").is_empty() && client.get("clientSecret").is_none());
    let client =
        deployment.json(&["client", "create", "--name", "Y", "--redirect-uri", "https://a.example/cb", "--secret"]);
    assert!(!text(&client, "clientSecret").is_empty());
    let (app, first) = (text(&client, "clientId"), text(&client, "clientSecret"));
    let next = text(&deployment.json(&["client", "secret", &app]), "clientSecret");
    let key = deployment.json(&["key", "create", "--name", "X"]);
    assert_eq!(text(&key, "siteId"), site);
    let key = text(&key, "apiKey");
    assert!(
        text(&deployment.json(&["owner", "invite", "--email", "owner@example.org"]), "setupUrl")
            .contains("/account/setup")
    );

    // A name that a site is shown under, whatever the server listens on; and then the first is the only one again.
    let other = Deployment::new(engine);
    let named = ["site", "create", "--name", "Y", "--host-name", "y.example", "z.example", "--json"];
    let named = other.stoa(&named).env("STOA_HOST", "127.0.0.1").output().unwrap();
    assert!(named.status.success(), "{}", String::from_utf8_lossy(&named.stderr));

    // The same commands while the server holds the directory.
    let server = deployment.serve(|_| {});
    assert!(server.url.starts_with("http://127.0.0.1:"));
    make_things(&server, &key);
    let second = text(&deployment.json(&["key", "create", "--name", "Y"]), "apiKey");
    let (status, _) =
        post(&format!("{}/v2/items/query", server.url), &second, &json!({ "dataCollectionId": "things" })).unwrap();
    assert_eq!(status, 200, "a key made while the server runs works at once");
    let credentials = |secret: &str| {
        let body = json!({ "grant_type": "client_credentials", "client_id": app, "client_secret": secret });
        post(&format!("{}/oauth2/token", server.url), "", &body).unwrap().0
    };
    assert_eq!((credentials(&first), credentials(&next)), (401, 200));
    let last = text(&deployment.json(&["client", "secret", &app]), "clientSecret");
    assert_eq!((credentials(&next), credentials(&last)), (401, 200), "at once");
    assert_eq!(deployment.json(&["client", "revoke", &app]), json!({ "revoked": app }));
    assert_eq!(credentials(&last), 401);
    for bad in [["client", "revoke", "nobody"], ["client", "secret", &app]] {
        assert!(!deployment.stoa(&bad).output().unwrap().status.success(), "{bad:?}");
    }
    let file = deployment.file("things.jsonl");
    write_items(&file, 2500);
    let result = deployment.json(&["import", "things", file.to_str().unwrap()]);
    assert_eq!(result, json!({ "inserted": 2500, "updated": 0, "failed": 0 }));
    assert_eq!(deployment.json(&["import", "things", file.to_str().unwrap()])["updated"], json!(2500));
    assert_eq!(all_things(&server, &key).len(), 2500);
    let exported = deployment.stoa(&["export", "things", "--format", "jsonl"]).output().unwrap();
    assert_eq!(exported.stdout.iter().filter(|it| **it == b'\n').count(), 2500);
    for (path, wants) in [("/healthz", "ok"), ("/readyz", "ready")] {
        let text = ureq::get(format!("{}{path}", server.url)).call().unwrap().body_mut().read_to_string().unwrap();
        assert!(text.contains(wants), "{path}: {text}");
    }

    // What can't be read to its end is no shorter file.
    let directory = deployment.file("").to_str().unwrap().to_owned();
    for import in [&["import", "things"][..], &["member", "import"]] {
        let refused = deployment.stoa(&[import, &[directory.as_str()]].concat()).output().unwrap();
        let said = String::from_utf8_lossy(&refused.stderr);
        assert!(!refused.status.success() && said.contains("can't be read"), "{said}");
    }

    // Another server can't take the same directory, and says why.
    let refused = deployment.stoa(&["serve", "--port", "0"]).output().unwrap();
    assert!(String::from_utf8_lossy(&refused.stderr).contains("in use by another process"));

    // From another machine, with a key.
    let url = server.url.clone();
    let remote = ["import", "things", file.to_str().unwrap(), "--url", &url, "--api-key", &key];
    assert_eq!(deployment.json(&remote)["updated"], json!(2500));
    assert!(server.stop(), "SIGTERM ends it cleanly");

    // And without a server again: a bad line is named and the good ones are kept.
    std::fs::File::options().append(true).open(&file).unwrap().write_all(b"{\"_id\": 7}\nnot json\n").unwrap();
    let output = deployment.stoa(&["import", "things", file.to_str().unwrap(), "--json"]).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(
        format!("{out}{err}").contains("2501") && format!("{out}{err}").contains("2502"),
        "lines are named: {out} {err}"
    );
    assert!(!output.status.success(), "a script sees that something failed");
}

fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_else(|| panic!("{name} in {value}")).to_owned()
}
