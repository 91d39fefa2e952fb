//! Links and codes without a mail server: kept in a file for the owner of the directory, never told to the log.

use crate::process::{Deployment, STOA, post};
use serde_json::{Value, json};
use std::{
    fs::{self, File},
    os::unix::fs::PermissionsExt,
    process::{Command, Stdio},
    time::Duration,
};
use stoa_testkit::Engine;

fn kept(deployment: &Deployment) -> Vec<Value> {
    let text = fs::read_to_string(deployment.file("outbox/mail.jsonl")).unwrap_or_default();
    text.lines().map(|it| serde_json::from_str(it).unwrap()).collect()
}

#[test]
fn links_and_codes_are_in_the_outbox_and_not_in_the_log() {
    let deployment = Deployment::new(Engine::Sqlite);
    deployment.json(&["site", "create", "--name", "Test"]);
    let key = deployment.json(&["key", "create", "--name", "test"])["apiKey"].as_str().unwrap().to_owned();
    let log = deployment.file("log.txt");
    let server = deployment.serve_logging(Stdio::from(File::create(&log).unwrap()), |it| {
        it.args(["--log", "debug"]);
    });
    let owner = kept(&deployment).remove(0);
    let link = owner["links"][0].as_str().unwrap();
    assert!(link.contains("/account/setup?invite="), "{owner}");

    let url = |path: &str| format!("{}{path}", server.url);
    let member = json!({ "member": { "loginEmail": "ada@example.org" } });
    let (status, made) = post(&url("/members/v1/members"), &key, &member).unwrap();
    assert_eq!(status, 200, "{made}");
    let policy = json!({ "signOnPolicy": { "requireEmailVerification": true } });
    let agent = ureq::Agent::new_with_defaults();
    let patched = agent.patch(url("/v1/sign-on-policies")).header("authorization", &key);
    assert_eq!(patched.header("content-type", "application/json").send(policy.to_string()).unwrap().status(), 200);
    assert_eq!(post(&url("/v1/send-email"), &key, &json!({ "email": "ada@example.org" })).unwrap().0, 200);
    let bob = json!({ "loginId": { "email": "bob@example.org" }, "password": "correct horse battery" });
    assert_eq!(post(&url("/v2/register"), &key, &bob).unwrap().0, 200);
    let mut mails = Vec::new();
    for _ in 0..500 {
        mails = kept(&deployment);
        if mails.len() >= 3 {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(server.stop());
    let said = fs::read_to_string(&log).unwrap();
    assert_eq!(mails.len(), 3, "{mails:?}");
    for mail in &mails {
        let links = mail["links"].as_array().unwrap().iter().map(|it| it.as_str().unwrap());
        for secret in links.map(|it| it.split_once('=').unwrap().1).chain(mail["code"].as_str()) {
            assert!(!said.contains(secret), "{secret} in {said}");
        }
    }
    assert!(mails.iter().any(|it| it["code"].is_string()) && said.matches("outbox/mail.jsonl").count() == 3, "{said}");
    assert!(said.contains("one-time link for the first one was kept in"), "{said}");
    let mode = fs::metadata(deployment.file("outbox/mail.jsonl")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn public_address_is_not_served_without_mail() {
    let deployment = Deployment::without_traffic(Engine::Sqlite);
    deployment.json(&["site", "create", "--name", "Test"]);
    let public = ["--host", "0.0.0.0"];
    let refused = deployment.stoa(&["serve", "--port", "0"]).args(public).output().unwrap();
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && said.contains("--outbox-only") && said.contains("smtp.host"), "{said}");
    let variables = [("STOA_PORT", "0"), ("STOA_HOST", public[1])];
    let checked = deployment.stoa(&["check"]).envs(variables).output().unwrap();
    assert!(!checked.status.success() && String::from_utf8_lossy(&checked.stdout).contains("--outbox-only"));
    let server = deployment.serve(|it| {
        it.args(public).arg("--outbox-only");
    });
    assert!(server.stop());
    // Behind a proxy the name alone is public; then the log says so.
    let server = deployment.serve(|it| {
        it.args(["--public-url", "https://www.example.org"]);
    });
    assert!(server.stop());
    // Commands that serve no one need none.
    assert!(deployment.stoa(&["site", "list"]).envs(variables).output().unwrap().status.success());
}

#[test]
fn list_of_ones_own_refuses_its_passwords() {
    let deployment = Deployment::new(Engine::Sqlite);
    deployment.json(&["site", "create", "--name", "Test"]);
    let key = deployment.json(&["key", "create", "--name", "test"])["apiKey"].as_str().unwrap().to_owned();
    let list = deployment.file("refused.txt");
    fs::write(&list, "Our Company Motto\r\ncorrect horse battery\n").unwrap();
    let server = deployment.serve(|it| {
        it.arg("--password-list").arg(&list);
    });
    let register = |password: &str| {
        let body = json!({ "loginId": { "email": "ada@example.org" }, "password": password });
        post(&format!("{}/v2/register", server.url), &key, &body).unwrap()
    };
    for password in ["our company motto", "correct horse battery"] {
        let (status, refused) = register(password);
        assert_eq!(status, 400, "{refused}");
        let violation = &refused["details"]["validationError"]["fieldViolations"][0];
        assert_eq!(violation["ruleName"], "COMMON_PASSWORD", "{refused}");
    }
    assert_eq!(register("correct horse battery staple").0, 200);
    let missing = deployment.file("nowhere.txt");
    let refused = Command::new(STOA).args(["serve", "--port", "0", "--password-list"]).arg(missing).output().unwrap();
    assert!(String::from_utf8_lossy(&refused.stderr).contains("password_list"));
}
