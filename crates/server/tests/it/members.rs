//! Moving in by the command line: members of another system sign in with the password they had there, and
//! what is kept of it is ours from then on.

use crate::process::{Deployment, Server, post};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use stoa_sql::params;
use stoa_store::{ReaderPool, Store, boxed};
use stoa_testkit::Engine;

const PASSWORD: &str = "correct horse battery";
/// Name, password and the hash as the other system wrote it: made by glibc's crypt, OpenSSL and the
/// reference implementation of Argon2.
const MEMBERS: [(&str, &str, &str); 7] = [
    ("bcrypt", PASSWORD, "$2b$05$abcdefghijklmnopqrstuuD3mHdCr44zlIZ.VZCaYRpfQhXMYnEo."),
    ("bcrypt-2a", "U*U", "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"),
    ("scrypt", PASSWORD, "$scrypt$ln=10,r=8,p=1$c2FsdCBvZiBzY3J5cHQgMDE$pKptMSeXeeFZVHz/RH94CYbI2s6xbV+bvTIB9ILJNgs"),
    (
        "pbkdf2",
        PASSWORD,
        "$pbkdf2-sha512$i=25000$c2FsdCBvZiBwYmtkZjIgMQ$VrkASzutpGptABOLQ2mZzUV70a9xPin9vBjgELTi+Xe4rx2dBJ7pMP0I2ZFXjQmjKoNFn0si5K2MEAaRf3SFQw",
    ),
    ("django", PASSWORD, "pbkdf2_sha256$30000$saltText12$hOphMVn7u26S+0XX0fBYUkeihF9e2He496DzJu+qjgc="),
    ("argon2i", "password", "$argon2i$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$wWKIMhR9lyDFvRz9YTZweHKfbftvj+qf+YFY4NeBbtA"),
    ("argon2id", "password", "$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4"),
];
/// How every hash of ours begins.
const OURS: &str = "$argon2id$v=19$m=19456,t=2,p=1$";

#[test]
fn imported_passwords_sign_in_on_sqlite() {
    sign_in_with_what_they_had(Engine::Sqlite);
}

#[test]
fn imported_passwords_sign_in_on_postgres() {
    sign_in_with_what_they_had(Engine::Postgres);
}

fn sign_in_with_what_they_had(engine: Engine) {
    let deployment = Deployment::new(engine);
    deployment.json(&["site", "create", "--name", "Test"]);
    let client = deployment.json(&["client", "create", "--name", "Test", "--redirect-uri", "https://a.example/cb"]);
    let file = write(&deployment, "members.jsonl", &lines());
    let first = deployment.json(&["member", "import", &file]);
    assert_eq!((&first["inserted"], &first["failed"]), (&json!(MEMBERS.len() + 1), &json!(0)), "{first}");

    // Through the running server, from a table; who is there stays, and what is wrong is named.
    let server = deployment.serve(|_| {});
    assert_eq!(deployment.json(&["member", "import", &file])["known"], json!(MEMBERS.len() + 1));
    let table = format!("email,passwordHash,firstName\ncsv@example.org,{},Ann\n", MEMBERS[0].2);
    let table = write(&deployment, "members.csv", &table);
    assert_eq!(deployment.json(&["member", "import", &table])["inserted"], json!(1));
    let wrong = [
        json!({ "email": "md5@example.org", "passwordHash": "$1$salt$qJH7.N4xYta3aEG/dfqo/0" }),
        json!({ "email": "dear@example.org", "passwordHash": "$2b$20$abcdefghijklmnopqrstuuD3mHdCr44zlIZ.VZCaYRpfQhXMYnEo." }),
        json!({ "email": "nobody" }),
        json!({ "email": "x@example.org", "profile": { "birthdate": "2023-02-30" } }),
    ];
    let wrong = write(&deployment, "wrong.jsonl", &wrong.map(|it| it.to_string()).join("\n"));
    let output = deployment.stoa(&["member", "import", &wrong, "--json"]).output().unwrap();
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(!output.status.success(), "{said}");
    for expected in ["line 1: passwordHash", "line 2: passwordHash", "line 3: email", "line 4: profile.birthdate"] {
        assert!(said.contains(expected), "{expected} in {said}");
    }

    // Whatever is wrong with one of them, the others come in.
    let array = "\u{feff}[{\"email\": \"json@example.org\"}, {}, {\"email\": \"last@example.org\"}]";
    let rows = b"email,firstName\nrow@example.org,Ann\n\xff@example.org,Ben\nend@example.org,'+Cleo\n".to_vec();
    for (name, text) in [("three.json", array.as_bytes()), ("three.csv", &rows)] {
        let file = deployment.file(name);
        std::fs::write(&file, text).unwrap();
        let output = deployment.stoa(&["member", "import", file.to_str().unwrap()]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert_eq!(said.trim_end(), "2 inserted, 0 already there, 1 failed", "{name}");
    }
    let visitor = Visitor::new(&server, client["clientId"].as_str().unwrap());
    for (name, password, _) in MEMBERS {
        let email = format!("{name}@example.org");
        assert_eq!(visitor.login(&email, "not the password"), (401, json!("-19976")), "{name}");
        assert_eq!(visitor.login(&email, password), (200, json!("SUCCESS")), "{name}");
    }
    assert_eq!(visitor.login("csv@example.org", PASSWORD), (200, json!("SUCCESS")));
    let (status, code) = visitor.login("blocked@example.org", PASSWORD);
    assert!(status >= 400 && code != json!("-19976"), "{status} {code}");
    assert!(server.stop());

    let hashes = hashes(&deployment);
    assert_eq!(hashes.len(), MEMBERS.len() + 2, "{hashes:?}");
    for (email, hash) in &hashes {
        // No member who was refused has a new hash.
        assert_eq!(hash.starts_with(OURS), email != "blocked@example.org", "{email}: {hash}");
    }

    let server = deployment.serve(|_| {});
    let visitor = Visitor::new(&server, client["clientId"].as_str().unwrap());
    for (name, password, _) in MEMBERS {
        let email = format!("{name}@example.org");
        assert_eq!(visitor.login(&email, password), (200, json!("SUCCESS")), "{name} with the hash of ours");
        assert_eq!(visitor.login(&email, "not the password"), (401, json!("-19976")), "{name}");
    }
    assert!(server.stop());
    assert_eq!(self::hashes(&deployment), hashes, "a hash of ours stays");
}

/// The members, and one who is blocked.
fn lines() -> String {
    let line = |name: &str, hash: &str, status: &str| {
        json!({
            "email": format!("{name}@example.org"), "passwordHash": hash, "emailVerified": true, "status": status,
            "createdDate": "2019-03-05T06:07:08.009Z", "profile": { "firstName": name, "slug": name },
        })
        .to_string()
    };
    let blocked = line("blocked", MEMBERS[0].2, "BLOCKED");
    MEMBERS.iter().map(|(name, _, hash)| line(name, hash, "ACTIVE")).chain([blocked]).collect::<Vec<_>>().join("\n")
}

fn write(deployment: &Deployment, name: &str, text: &str) -> String {
    let file = deployment.file(name);
    std::fs::write(&file, text).unwrap();
    file.to_str().unwrap().to_owned()
}

/// A visitor of the running server.
struct Visitor {
    url: String,
    token: String,
}

impl Visitor {
    fn new(server: &Server, client: &str) -> Self {
        let grant = json!({ "clientId": client, "grantType": "anonymous" });
        let (status, answer) = post(&format!("{}/oauth2/token", server.url), "", &grant).unwrap();
        assert_eq!(status, 200, "{answer}");
        Self { url: format!("{}/v2/login", server.url), token: answer["access_token"].as_str().unwrap().to_owned() }
    }

    /// The status, and the state or the code of the error.
    fn login(&self, email: &str, password: &str) -> (u16, Value) {
        let body = json!({ "loginId": { "email": email }, "password": password });
        let (status, answer) = post(&self.url, &self.token, &body).unwrap();
        let code = &answer["details"]["applicationError"]["code"];
        (status, if code.is_null() { answer["state"].clone() } else { code.clone() })
    }
}

/// What is kept of everybody's password, by address.
fn hashes(deployment: &Deployment) -> BTreeMap<String, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let store = Store::open(&deployment.store_config()).await.unwrap();
        let (id, _) = store.sites().await.unwrap().remove(0);
        let site = store.site(&id).await.unwrap();
        let read = site.read(ReaderPool::Scan, move |tx| {
            let id = id.clone();
            boxed!({
                let sql = "select email, password_hash from stoa.member where site = $1";
                let values = params![&id];
                Ok(tx.rows(sql, &values, |row| Ok((row.get(0)?, row.get(1)?))).await?)
            })
        });
        let found: Vec<(String, Option<String>)> = read.await.unwrap();
        store.close();
        found.into_iter().filter_map(|(email, hash)| Some((email, hash?))).collect()
    })
}
