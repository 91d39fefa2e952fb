//! Keys of applications and sealing keys by command: with a server and without, on several nodes, and killed on the way.

use crate::process::{Deployment, get, post, refusal};
use serde_json::{Value, json};
use std::{
    path::Path,
    process::{Output, Stdio},
    time::Duration,
};
use stoa_kernel::World;
use stoa_testkit::{Engine, TestDatabase, rounds};

const IMPORTED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../identity/tests/keys/pkcs8.pem");
const LOCKED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../identity/tests/keys/locked.pem");
const IMPORTED_ID: &str = "NYgVWm1naVMDZ_FCd3Fe0RrG4H5-8M26pm9LAHilQWg";

#[test]
fn keys_of_applications_by_command_on_sqlite() {
    keys_of_applications(Engine::Sqlite);
}

#[test]
fn keys_of_applications_by_command_on_postgres() {
    keys_of_applications(Engine::Postgres);
}

#[test]
fn sealing_keys_by_command_on_sqlite() {
    sealing_keys(Engine::Sqlite);
}

#[test]
fn sealing_keys_by_command_on_postgres() {
    sealing_keys(Engine::Postgres);
}

#[test]
fn rotation_of_sealing_keys_killed_on_sqlite() {
    killed_rotation(Engine::Sqlite);
}

#[test]
fn rotation_of_sealing_keys_killed_on_postgres() {
    killed_rotation(Engine::Postgres);
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A site with an application; answers its id.
fn with_application(deployment: &Deployment) -> String {
    deployment.json(&["site", "create", "--name", "Test"]);
    deployment.json(&["client", "create", "--name", "Website", "--redirect-uri", "https://a.example/cb"]);
    let app = deployment.json(&["client", "create", "--name", "Billing", "--secret"]);
    app["clientId"].as_str().unwrap().to_owned()
}

/// The file with claims that name both times: what one key signs of them is always the same text.
fn claims(deployment: &Deployment) -> String {
    let file = deployment.file("claims.json");
    std::fs::write(&file, json!({ "aud": "x", "iat": 1, "exp": 9_999_999_999_i64 }).to_string()).unwrap();
    file.to_str().unwrap().to_owned()
}

fn run(deployment: &Deployment, data: &Path, arguments: &[&str]) -> Output {
    let output = deployment.stoa_at(data, arguments).output().unwrap();
    assert!(output.status.success(), "stoa {arguments:?}: {}", text(&output.stderr));
    output
}

/// What `app key sign` prints for other programs: the token and nothing else.
fn sign(deployment: &Deployment, data: &Path, claims: &str, more: &[&str]) -> String {
    let output = run(deployment, data, &[&["app", "key", "sign", "--claims", claims], more].concat());
    let printed = text(&output.stdout);
    assert_eq!(printed.trim_end().split('.').count(), 3, "{printed}");
    printed
}

fn keys_of_applications(engine: Engine) {
    let deployment = Deployment::new(engine);
    let app = with_application(&deployment);
    let (data, claims) = (deployment.data().to_owned(), claims(&deployment));
    assert_eq!(deployment.json(&["app", "key", "list"]), json!([]), "the only application is meant");
    let refused = |arguments: &[&str]| refusal(&deployment, arguments)["code"].as_str().unwrap().to_owned();
    for arguments in
        [&["app", "key", "activate"][..], &["app", "key", "show"], &["app", "key", "sign", "--claims", &claims]]
    {
        assert_eq!(refused(arguments), "NOT_FOUND", "{arguments:?}");
    }

    // For people a key is what is printed, and what to do with it is said beside it.
    let made = run(&deployment, &data, &["app", "key", "rotate"]);
    let pem = text(&made.stdout);
    assert!(pem.starts_with("-----BEGIN PUBLIC KEY-----\n") && pem.ends_with("-----END PUBLIC KEY-----\n"), "{pem}");
    assert!(text(&made.stderr).contains("stoa app key activate"), "{made:?}");
    assert_eq!(refused(&["app", "key", "rotate"]), "ALREADY_EXISTS");
    let first = deployment.json(&["app", "key", "list"])[0].clone();
    assert_eq!((&first["state"], &first["origin"], &first["bits"]), (&json!("NEXT"), &json!("MADE"), &json!(2048)));
    let id = first["key"].as_str().unwrap();
    assert_eq!(text(&run(&deployment, &data, &["app", "key", "show", id]).stdout), pem);
    let of_first = sign(&deployment, &data, &claims, &["--next"]);
    let active = deployment.json(&["app", "key", "activate", "--key", id]);
    assert_eq!((&active["state"], &active["key"]), (&json!("ACTIVE"), &json!(id)));
    assert_eq!(sign(&deployment, &data, &claims, &[]), of_first);

    // The same through a running server, where everyone sees the public halves.
    let server = deployment.serve(|_| {});
    let shown = || {
        let (status, body) = get(&format!("{}/_api/apps/v1/{app}/jwks", server.url), &[]);
        assert_eq!(status, 200, "{body}");
        let keys: Value = serde_json::from_str(&body).unwrap();
        keys["keys"].as_array().unwrap().iter().map(|it| it["kid"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(shown(), [id]);
    assert_eq!(sign(&deployment, &data, &claims, &[]), of_first);
    let locked = refusal(&deployment, &["app", "key", "import", LOCKED]);
    assert_eq!(locked["code"], "INVALID_ARGUMENT");
    assert!(locked["message"].as_str().unwrap().contains("passphrase"), "{locked}");
    let imported = deployment.json(&["app", "key", "import", IMPORTED, "--app", "Billing"]);
    assert_eq!(
        (&imported["key"], &imported["app"], &imported["origin"]),
        (&json!(IMPORTED_ID), &json!(app), &json!("IMPORTED"))
    );
    assert!(imported["publicKey"].as_str().unwrap().starts_with("-----BEGIN PUBLIC KEY-----"));
    assert!(!imported.to_string().contains("PRIVATE"));
    assert_eq!(shown(), [id, IMPORTED_ID]);
    assert_eq!(sign(&deployment, &data, &claims, &[]), of_first, "it is only shown");
    let of_imported = sign(&deployment, &data, &claims, &["--next"]);
    assert_eq!(refused(&["app", "key", "activate", "--key", "another"]), "NOT_FOUND");
    deployment.json(&["app", "key", "activate"]);
    assert_eq!(sign(&deployment, &data, &claims, &[]), of_imported);
    assert_eq!(refused(&["app", "key", "remove", IMPORTED_ID]), "PERMISSION_DENIED");
    assert_eq!(deployment.json(&["app", "key", "remove", id]), json!({ "removed": id }));
    assert_eq!(shown(), [IMPORTED_ID]);

    // Which application is meant must be said where there are two.
    deployment.json(&["client", "create", "--name", "Search", "--secret"]);
    let open = refusal(&deployment, &["app", "key", "list"]);
    assert_eq!((&open["code"], open["data"]["candidates"].as_array().unwrap().len()), (&json!("USAGE"), 2));
    assert_eq!(deployment.json(&["app", "key", "list", "--app", "Search"]), json!([]));
    assert_eq!(deployment.json(&["app", "key", "list", "--app", &app]).as_array().unwrap().len(), 1);
    assert!(
        refusal(&deployment, &["app", "key", "list", "--app", "Biling"])["message"]
            .as_str()
            .unwrap()
            .contains("did you mean Billing?")
    );
    std::fs::write(&claims, "[1]").unwrap();
    assert_eq!(refused(&["app", "key", "sign", "--app", "Billing", "--claims", &claims]), "USAGE");
    assert!(server.stop());
}

/// When an activation is answered, no node signs with the key before it.
#[test]
fn activation_by_command_holds_on_every_node() {
    let database = TestDatabase::blocking_create();
    let nodes: Vec<_> = (0..3).map(|_| Deployment::with_database(database.url())).collect();
    with_application(&nodes[0]);
    let claims = claims(&nodes[0]);
    let servers: Vec<_> = nodes.iter().map(|it| it.serve(|_| {})).collect();
    let sign = |node: usize, more: &[&str]| sign(&nodes[node], nodes[node].data(), &claims, more);
    for n in 0..rounds(4) {
        nodes[n % 3].json(&["app", "key", "rotate"]);
        let expected = sign((n + 1) % 3, &["--next"]);
        nodes[(n + 2) % 3].json(&["app", "key", "activate"]);
        for node in 0..3 {
            assert_eq!(sign(node, &[]), expected, "node {node} in round {n}");
        }
    }
    for server in servers {
        assert!(server.stop());
    }
}

/// A collection with encrypted values and as many items, and all else that is sealed.
fn with_sealed(deployment: &Deployment, items: usize) {
    with_application(deployment);
    deployment.json(&["app", "key", "rotate"]);
    deployment.json(&["app", "key", "activate"]);
    let secret = deployment.file("secret");
    std::fs::write(&secret, "a-secret-of-the-provider").unwrap();
    let set = ["site", "captcha", "set", "--verify-url", "https://captcha.example/siteverify", "--visible-key", "v"];
    deployment.json(&[&set[..], &["--secret-file", secret.to_str().unwrap()]].concat());
    let key = deployment.json(&["key", "create", "--name", "test"])["apiKey"].as_str().unwrap().to_owned();
    let server = deployment.serve(|_| {});
    let collection = json!({ "collection": {
        "id": "vault", "fields": [{ "key": "pin", "type": "TEXT", "encrypted": true }],
        "permissions": { "read": "ADMIN", "insert": "ADMIN", "update": "ADMIN", "remove": "ADMIN" },
    }});
    let (status, answer) = post(&format!("{}/v2/collections", server.url), &key, &collection).unwrap();
    assert_eq!(status, 200, "{answer}");
    let file = deployment.file("vault.jsonl");
    let lines: String = (0..items)
        .map(|n| json!({ "_id": format!("i{n:05}"), "pin": format!("pin {n}") }).to_string() + "\n")
        .collect();
    std::fs::write(&file, lines).unwrap();
    assert_eq!(deployment.json(&["import", "vault", file.to_str().unwrap()])["inserted"], items);
    assert!(server.stop());
}

fn exported(deployment: &Deployment) -> String {
    text(&run(deployment, deployment.data(), &["export", "vault", "--format", "jsonl"]).stdout)
}

fn sealing_keys(engine: Engine) {
    let deployment = Deployment::new(engine);
    with_sealed(&deployment, 20);
    let (claims, before) = (claims(&deployment), exported(&deployment));
    let token = sign(&deployment, deployment.data(), &claims, &[]);
    let status = || deployment.json(&["seal", "status"]);
    let none = json!({ "messages": 0, "captchaSecrets": 0, "appKeys": 0, "webhookSecrets": 0, "factorSecrets": 0, "providerSecrets": 0, "items": 0 });
    let first = status();
    assert_eq!((&first["state"], &first["left"], first.get("rotation")), (&json!("COMPLETE"), &none, None));
    assert_eq!(first["keys"].as_array().unwrap().len(), 6);
    assert_eq!(deployment.json(&["seal", "forget"]), json!({ "forgotten": 0 }));

    for with_server in [false, true] {
        let server = with_server.then(|| deployment.serve(|_| {}));
        let rotated = deployment.json(&["seal", "rotate"]);
        assert_eq!(
            (&rotated["sealed"], &rotated["left"]),
            (&json!(22), &json!(0)),
            "items, a secret and a key: {rotated}"
        );
        let now = status();
        assert_eq!(
            (&now["state"], &now["left"], &now["rotation"]["id"]),
            (&json!("COMPLETE"), &none, &rotated["rotation"])
        );
        assert_eq!(exported(&deployment), before);
        assert_eq!(sign(&deployment, deployment.data(), &claims, &[]), token);
        assert_eq!(deployment.json(&["site", "captcha", "show"])["kind"], "PROVIDER");
        assert_eq!(refusal(&deployment, &["seal", "forget"])["code"], "PERMISSION_DENIED", "it has just finished");
        assert!(server.is_none_or(|it| it.stop()));
    }
    let people = text(&run(&deployment, deployment.data(), &["seal", "status"]).stdout);
    assert!(people.starts_with("STATE") && people.contains("captcha secret"), "{people}");

    // What a deleted site has could still be needed.
    deployment.json(&["site", "create", "--name", "Gone"]);
    deployment.json(&["site", "delete", "Gone", "--yes", "Gone"]);
    let refused = refusal(&deployment, &["seal", "forget"]);
    assert!(refused["message"].as_str().unwrap().contains("can be restored"), "{refused}");
}

/// Whenever it is killed, all is read; asked again it goes on, and comes to an end.
fn killed_rotation(engine: Engine) {
    let deployment = Deployment::new(engine);
    with_sealed(&deployment, 3_000);
    let (claims, before) = (claims(&deployment), exported(&deployment));
    let token = sign(&deployment, deployment.data(), &claims, &[]);
    let mut cut_off = 0;
    for _ in 0..rounds(6) {
        let mut child =
            deployment.stoa(&["seal", "rotate"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(u64::from_le_bytes(World::real().bytes::<8>()) % 700));
        let _ = child.kill();
        let _ = child.wait();
        deployment.wait_for_database();
        assert_eq!(exported(&deployment), before);
        assert_eq!(sign(&deployment, deployment.data(), &claims, &[]), token);
        cut_off += usize::from(deployment.json(&["seal", "status"])["state"] == "ROTATING");
    }
    // How often that was depends on the machine; what is asked again comes to an end however often.
    let rotated = deployment.json(&["seal", "rotate"]);
    assert_eq!(rotated["left"], 0, "{cut_off} were cut off: {rotated}");
    assert_eq!(deployment.json(&["seal", "status"])["state"], "COMPLETE");
    assert_eq!(exported(&deployment), before);
    assert_eq!(sign(&deployment, deployment.data(), &claims, &[]), token);
}
