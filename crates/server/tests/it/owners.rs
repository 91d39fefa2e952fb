//! The people who run a site, by the command line. A site keeps an owner, whatever is done at once.

use crate::process::{Deployment, get, refusal};
use serde_json::{Value, json};
use std::process::Stdio;
use stoa_sql::params;
use stoa_store::{Store, boxed};
use stoa_testkit::{Engine, rounds};

#[test]
fn owners_are_managed_on_sqlite() {
    manage(Engine::Sqlite);
}

#[test]
fn owners_are_managed_on_postgres() {
    manage(Engine::Postgres);
}

#[test]
fn last_owner_stays_when_two_are_removed_at_once_on_sqlite() {
    race(Engine::Sqlite);
}

#[test]
fn last_owner_stays_when_two_are_removed_at_once_on_postgres() {
    race(Engine::Postgres);
}

#[test]
fn owners_act_as_members_on_sqlite() {
    act_as_members(Engine::Sqlite);
}

#[test]
fn owners_act_as_members_on_postgres() {
    act_as_members(Engine::Postgres);
}

/// Writes people into the catalogue as invitations that were accepted leave them, each with a session.
fn seat(deployment: &Deployment, site: &str, people: &[(&str, &str)]) {
    let people: Vec<_> = people.iter().map(|(name, role)| ((*name).to_owned(), (*role).to_owned())).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let store = Store::open(&deployment.store_config()).await.unwrap();
        let written = store.catalog().write_with((site.to_owned(), people), |tx, (site, people)| {
            boxed!({
                for (name, role) in people {
                    let email = format!("{name}@example.org");
                    let sql = "insert into stoa.person (id, email, email_folded, password_hash, created) \
                               values ($1, $2, $3, 'x', 1) on conflict (id) do nothing";
                    tx.execute(sql, &params![name, &email, &email]).await?;
                    let sql = "insert into stoa.person_role (person, site, role) values ($1, $2, $3) \
                               on conflict (person, site) do update set role = excluded.role";
                    tx.execute(sql, &params![name, site, role]).await?;
                    let sql = "insert into stoa.person_session (id, hash, person, site, created, expires) \
                               values ($1, $2, $3, $4, 1, $5) on conflict (id) do nothing";
                    tx.execute(sql, &params![name, name.as_bytes().to_vec(), name, site, i64::MAX]).await?;
                }
                Ok(())
            })
        });
        written.await.unwrap();
        store.close();
    });
}

fn roles(deployment: &Deployment) -> Value {
    let all = deployment.json(&["owner", "list"]);
    all.as_array().unwrap().iter().map(|it| json!([it["email"], it["role"], it["state"]])).collect()
}

fn manage(engine: Engine) {
    let deployment = Deployment::new(engine);
    let site = deployment.json(&["site", "create", "--name", "X"])["siteId"].as_str().unwrap().to_owned();
    seat(&deployment, &site, &[("ada", "OWNER"), ("bob", "EDITOR")]);
    let last = refusal(&deployment, &["owner", "remove", "ada@example.org"]);
    assert!(last["message"].as_str().unwrap().contains("last owner"), "{last}");
    assert_eq!(refusal(&deployment, &["owner", "role", "ada@example.org", "editor"])["code"], "PERMISSION_DENIED");

    let server = deployment.serve(|_| {});
    let link = deployment.json(&["owner", "invite", "--email", "eve@example.org", "--role", "editor"]);
    assert!(link["setupUrl"].as_str().unwrap().starts_with(&format!("{}/account/setup?invite=", server.url)));
    let expected = json!([
        ["ada@example.org", "owner", "active"],
        ["bob@example.org", "editor", "active"],
        ["eve@example.org", "editor", "invited"],
    ]);
    assert_eq!(roles(&deployment), expected);
    assert_eq!(deployment.json(&["owner", "sign-out", "Ada@Example.org"])["sessionsEnded"], 1);
    assert_eq!(deployment.json(&["owner", "sign-out", "ada@example.org"])["sessionsEnded"], 0);
    deployment.json(&["owner", "role", "bob@example.org", "owner"]);
    assert_eq!(deployment.json(&["owner", "list"])[1]["sessions"], 0, "a session has the role it began with");
    deployment.json(&["owner", "remove", "ada@example.org"]);
    let reset = deployment.json(&["owner", "reset-password", "bob@example.org"]);
    assert!(reset["setupUrl"].as_str().unwrap().contains("/account/setup?invite="));
    let expected = json!([
        ["bob@example.org", "owner", "no password"],
        ["bob@example.org", "owner", "invited"],
        ["eve@example.org", "editor", "invited"],
    ]);
    assert_eq!(roles(&deployment), expected);
    for words in [
        &["owner", "remove", "ada@example.org"][..],
        &["owner", "role", "zoe@example.org", "owner"],
        &["owner", "sign-out", "zoe@example.org"],
        &["owner", "reset-password", "zoe@example.org"],
    ] {
        assert_eq!(refusal(&deployment, words)["code"], "NOT_FOUND", "{words:?}");
    }
    assert_eq!(refusal(&deployment, &["owner", "remove", "zoe"])["code"], "INVALID_EMAIL");
    assert!(server.stop());
}

fn act_as_members(engine: Engine) {
    let deployment = Deployment::new(engine);
    let site = deployment.json(&["site", "create", "--name", "X"])["siteId"].as_str().unwrap().to_owned();
    seat(&deployment, &site, &[("ada", "OWNER"), ("bob", "EDITOR")]);
    let file = deployment.file("members.jsonl");
    std::fs::write(&file, r#"{"email": "cleo@example.org"}"#).unwrap();
    deployment.json(&["member", "import", file.to_str().unwrap()]);
    let server = deployment.serve(|_| {});
    let begin = ["member", "impersonate", "cleo@example.org", "--owner", "ada@example.org", "--reason", "Ticket 4711"];
    let write = [&begin[..], &["--write"]].concat();

    let refused = refusal(&deployment, &begin);
    assert_eq!(refused["code"], "PERMISSION_DENIED", "{refused}");
    assert!(refused["message"].as_str().unwrap().contains("impersonation OFF; READ is needed"), "{refused}");
    let policy = deployment.json(&["site", "impersonation", "read"]);
    assert_eq!(policy, json!({ "impersonation": "READ", "notice": true }));
    let policy = deployment.json(&["site", "impersonation", "read", "--notice", "false"]);
    assert_eq!(policy, json!({ "impersonation": "READ", "notice": false }));
    assert_eq!(refusal(&deployment, &write)["code"], "PERMISSION_DENIED");

    let begun = deployment.json(&begin);
    assert_eq!((&begun["email"], &begun["access"]), (&json!("cleo@example.org"), &json!("READ")), "{begun}");
    let token = begun["accessToken"].as_str().unwrap();
    let my = format!("{}/members/v1/members/my", server.url);
    let (status, body) = get(&my, &[("authorization", token)]);
    let said: Value = serde_json::from_str(&body).unwrap();
    assert_eq!((status, &said["member"]["id"]), (200, &begun["memberId"]), "{body}");
    assert_eq!(said["act"], json!({ "sub": "ada" }));

    let end = ["member", "impersonate", "cleo@example.org", "--end"];
    assert_eq!(deployment.json(&end)["ended"], 1);
    assert_eq!(get(&my, &[("authorization", token)]).0, 401);
    assert_eq!(deployment.json(&end)["ended"], 0);
    let rows = deployment.json(&["audit", "--member", "cleo@example.org"]);
    let rows: Vec<_> = rows.as_array().unwrap().iter().filter(|it| it["event"] != "member_import").collect();
    let told: Vec<_> = rows.iter().map(|it| json!([it["event"], it["actor"], it["detail"]])).collect();
    let expected = [
        json!(["impersonation_end", "command-line", null]),
        json!(["impersonation_start", "ada", "READ, member not told: Ticket 4711"]),
    ];
    assert_eq!(told, expected);

    let by = |owner: &str| refusal(&deployment, &[&begin[..4], &[owner, "--reason", "x"]].concat());
    for (owner, code) in [("bob@example.org", "PERMISSION_DENIED"), ("zoe@example.org", "PERMISSION_DENIED")] {
        assert_eq!(by(owner)["code"], code, "{owner}");
    }
    // What the command line itself refuses.
    for words in [&begin[..5], &[&begin[..3], &begin[5..]].concat(), &[&end[..], &["--write"]].concat()] {
        assert!(!deployment.stoa(words).output().unwrap().status.success(), "{words:?}");
    }
    assert!(server.stop());
}

fn race(engine: Engine) {
    let deployment = Deployment::new(engine);
    let site = deployment.json(&["site", "create", "--name", "X"])["siteId"].as_str().unwrap().to_owned();
    for round in 0..rounds(3) {
        seat(&deployment, &site, &[("ada", "OWNER"), ("bob", "OWNER")]);
        let server = deployment.serve(|_| {});
        // On PostgreSQL the second removal comes from another process, by a directory of its own.
        let beside = tempfile::tempdir().unwrap();
        let remove = |email: &str, is_beside: bool| {
            let mut command = deployment.stoa(&["owner", "remove", email, "--json"]);
            if is_beside && engine == Engine::Postgres {
                command = deployment.stoa_at(beside.path(), &["owner", "remove", email, "--json"]);
            }
            command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
        };
        let both = [remove("ada@example.org", false), remove("bob@example.org", true)];
        let removed = both.into_iter().filter_map(|mut it| it.wait().unwrap().success().then_some(())).count();
        assert_eq!(removed, 1, "round {round}");
        assert_eq!(roles(&deployment).as_array().unwrap().len(), 1, "round {round}");
        assert!(server.stop());
    }
}
