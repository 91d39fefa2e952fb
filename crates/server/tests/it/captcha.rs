//! A captcha provider set by the command line, with a server and without: its secret is used, and shown
//! nowhere.

use crate::process::{Deployment, Server, post};
use serde_json::{Value, json};
use std::{
    fs::File,
    io::Write,
    path::Path,
    process::{Output, Stdio},
};
use stoa_testkit::{Engine, Provider, TRAFFIC};

const SECRET: &str = "a-secret-of-the-provider";
const ANOTHER: &str = "another-secret-of-the-provider";

#[test]
fn provider_is_set_by_command_on_sqlite() {
    provider_is_set(Engine::Sqlite);
}

#[test]
fn provider_is_set_by_command_on_postgres() {
    provider_is_set(Engine::Postgres);
}

fn provider_is_set(engine: Engine) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let provider = runtime.block_on(Provider::start(SECRET));
    let deployment = Deployment::new(engine);
    deployment.json(&["site", "create", "--name", "Test"]);
    let client = deployment.json(&["client", "create", "--name", "Test", "--redirect-uri", "https://a.example/cb"]);
    let key = deployment.json(&["key", "create", "--name", "Test"])["apiKey"].as_str().unwrap().to_owned();
    let mut said = String::new();

    // Without a server, from a file.
    let none =
        json!({ "kind": "PROOF_OF_WORK", "visibleSiteKey": null, "invisibleSiteKey": null, "isRequired": false });
    assert_eq!(deployment.json(&["site", "captcha", "show"]), none);
    let file = deployment.file("secret");
    std::fs::write(&file, format!("{SECRET}\n")).unwrap();
    let path = file.to_str().unwrap();
    let set = ["site", "captcha", "set", "--verify-url", &provider.url, "--visible-key", "key-v"];
    let output = deployment.stoa(&set).args(["--secret-file", path]).output().unwrap();
    said += &text(&output);
    assert!(output.status.success(), "{said}");
    std::fs::remove_file(&file).unwrap();
    let shown = deployment.json(&["site", "captcha", "show"]);
    let wants = json!({ "kind": "PROVIDER", "visibleSiteKey": "key-v", "invisibleSiteKey": null,
        "widget": null, "scriptUrl": null, "verifyUrl": provider.url, "minimumScore": null, "isRequired": false });
    assert_eq!(shown, wants);

    // What can't be one is refused, and the one that is there stays.
    for (wrong, says) in [
        (["--verify-url", "http://api.example.org/siteverify"], "url: "),
        (["--verify-url", "https://api.example.org/siteverify?secret=x"], "url: "),
        (["--minimum-score", "2"], "minimumScore: "),
        (["--visible-key", "two words"], "visibleSiteKey: "),
        (["--script-url", "http://api.example.org/api.js"], "scriptUrl: "),
    ] {
        let usual = [["--verify-url", &provider.url], ["--visible-key", "key-v"]];
        let usual = usual.into_iter().filter(|it| it[0] != wrong[0]).flatten();
        let mut command = deployment.stoa(&["site", "captcha", "set", "--secret-file", "-"]);
        let output = typed(command.args(wrong).args(usual), SECRET);
        said += &text(&output);
        assert!(!output.status.success() && text(&output).contains(says), "{wrong:?}: {}", text(&output));
    }
    let output = typed(deployment.stoa(&set).args(["--secret-file", "-"]), " \n");
    assert!(!output.status.success() && text(&output).contains("secret: "), "{}", text(&output));
    assert_eq!(deployment.json(&["site", "captcha", "show"]), shown);

    // With a server that logs everything, from standard input.
    let log = deployment.file("log");
    let server = deployment.serve_logging(File::create(&log).unwrap().into(), |command| {
        // No server listens there, so a question that went by a proxy would have no answer.
        let proxies = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"];
        command.args(["--log", "trace"]).envs(proxies.map(|it| (it, "http://127.0.0.1:9")));
    });
    let require = json!({ "signOnPolicy": { "requireCaptcha": true } });
    let url = format!("{}/v1/sign-on-policies", server.url);
    let agent: ureq::Agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
    let patched = agent.patch(&url).header("authorization", &key).header("content-type", "application/json");
    assert_eq!(patched.send(require.to_string()).unwrap().status().as_u16(), 200);
    provider.solved("good");
    let visitor = visitor(&server, &client["clientId"]);
    let register = |email: &str, token: &str| {
        let body = json!({ "loginId": { "email": email }, "password": "correct horse battery",
            "captchaTokens": [{ "Recaptcha": token }] });
        let (status, answer) = post(&format!("{}/v2/register", server.url), &visitor, &body).unwrap();
        (status, answer.to_string())
    };
    let mut answers = Vec::new();
    for (email, token, wants) in
        [("a@example.org", "bad", 400), ("a@example.org", "good", 200), ("b@example.org", "good", 400)]
    {
        let (status, answer) = register(email, token);
        assert_eq!(status, wants, "{answer}");
        answers.push(answer);
    }
    let output = typed(deployment.stoa(&set).args(["--secret-file", "-", "--json"]), &format!("{ANOTHER}\n"));
    said += &text(&output);
    assert!(output.status.success(), "{said}");
    provider.solved("good too");
    let (status, answer) = register("c@example.org", "good too");
    assert_eq!(status, 503, "{answer}");
    answers.push(answer);
    for path in ["/_api/account/v1/captcha", "/_api/site/v1/public-settings"] {
        let mut reply = agent.get(format!("{}{path}", server.url)).header("authorization", &visitor).call().unwrap();
        answers.push(reply.body_mut().read_to_string().unwrap());
    }

    let shown = deployment.json(&["site", "captcha", "show"]);
    assert_eq!((&shown["kind"], &shown["isRequired"]), (&json!("PROVIDER"), &json!(true)));
    said += &shown.to_string();
    assert_eq!(deployment.json(&["site", "captcha", "remove"])["kind"], "PROOF_OF_WORK");
    assert_eq!(deployment.json(&["site", "captcha", "remove"])["kind"], "PROOF_OF_WORK", "twice is no mistake");
    let (status, answer) = register("d@example.org", "good too");
    assert_eq!(status, 400, "{answer}");
    assert!(server.stop());

    let log = std::fs::read_to_string(log).unwrap();
    assert!(log.contains("the captcha provider says invalid-input-secret"), "{log}");
    assert!(log.contains("addresses of this machine may be called"), "{log}");
    for secret in [SECRET, ANOTHER] {
        assert!(!log.contains(secret), "the log");
        assert!(!said.contains(secret), "{said}");
        assert!(!answers.iter().any(|it| it.contains(secret)), "{answers:?}");
        assert_eq!(holds(deployment.data(), secret.as_bytes()), None);
    }
}

/// A server that others reach calls its own machine only where its operator says so.
#[test]
fn provider_inside_the_network_is_asked_where_it_is_allowed() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let provider = runtime.block_on(Provider::start(SECRET));
    let deployment = Deployment::new(Engine::Sqlite);
    let key = deployment.site_with_things();
    let client = deployment.json(&["client", "create", "--name", "Test", "--redirect-uri", "https://a.example/cb"]);
    let set = ["site", "captcha", "set", "--verify-url", &provider.url, "--visible-key", "k", "--secret-file", "-"];
    // The command line by itself serves no one.
    assert!(typed(&mut deployment.stoa(&set), SECRET).status.success());
    // Behind a proxy on loopback.
    let proxied = ["--trusted-proxy", "10.0.0.0/8"];
    let log = deployment.file("log");
    let server = deployment.serve_logging(File::create(&log).unwrap().into(), |it| {
        // What is for others is not written down.
        it.args(proxied).env_remove(TRAFFIC);
    });
    let url = format!("{}/v1/sign-on-policies", server.url);
    let require = json!({ "signOnPolicy": { "requireCaptcha": true } }).to_string();
    let agent: ureq::Agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
    let patched = agent.patch(&url).header("authorization", &key).header("content-type", "application/json");
    assert_eq!(patched.send(require).unwrap().status().as_u16(), 200);
    let register = |server: &Server, token: &str| {
        let visitor = visitor(server, &client["clientId"]);
        let body = json!({ "loginId": { "email": "a@example.org" }, "password": "correct horse battery",
            "captchaTokens": [{ "Recaptcha": token }] });
        post(&format!("{}/v2/register", server.url), &visitor, &body).unwrap()
    };
    provider.solved("token");
    let (status, answer) = register(&server, "token");
    assert_eq!(status, 503, "{answer}");
    let refused = typed(&mut deployment.stoa(&set), SECRET);
    assert!(!refused.status.success() && text(&refused).contains("127.0.0.1 is loopback"), "{}", text(&refused));
    assert!(server.stop() && provider.asked().is_empty());
    let said = std::fs::read_to_string(log).unwrap();
    assert!(said.contains("127.0.0.1 is loopback") && !said.contains("addresses of this machine may"), "{said}");

    let server = deployment.serve(|it| {
        it.args(proxied).args(["--reach-allow", "127.0.0.1/32"]).env_remove(TRAFFIC);
    });
    let (status, answer) = register(&server, "token");
    assert_eq!(status, 200, "{answer}");
    assert!(typed(&mut deployment.stoa(&set), SECRET).status.success() && server.stop());
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&[output.stdout.as_slice(), &output.stderr].concat()).into_owned()
}

/// Runs a command that reads a text.
fn typed(command: &mut std::process::Command, text: &str) -> Output {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // One that refuses early reads nothing.
    let _ = child.stdin.take().unwrap().write_all(text.as_bytes());
    child.wait_with_output().unwrap()
}

fn visitor(server: &Server, client: &Value) -> String {
    let grant = json!({ "clientId": client, "grantType": "anonymous" });
    let (status, answer) = post(&format!("{}/oauth2/token", server.url), "", &grant).unwrap();
    assert_eq!(status, 200, "{answer}");
    answer["access_token"].as_str().unwrap().to_owned()
}

/// A file that holds the bytes, if there is one.
fn holds(path: &Path, bytes: &[u8]) -> Option<String> {
    if path.is_dir() {
        return std::fs::read_dir(path).unwrap().find_map(|it| holds(&it.unwrap().path(), bytes));
    }
    // A socket can't be read.
    let content = std::fs::read(path).unwrap_or_default();
    content.windows(bytes.len()).any(|it| it == bytes).then(|| path.display().to_string())
}
