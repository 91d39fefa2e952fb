//! A process that dies while its mail is under way: nothing is lost, and nothing arrives more than twice.

use crate::process::{Deployment, Server, post};
use serde_json::{Value, json};
use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc,
    time::Duration,
};
use stoa_sql::params;
use stoa_store::{ReaderPool, Store, boxed};
use stoa_testkit::Engine;

#[test]
fn mail_under_way_survives_a_kill_on_sqlite() {
    killed_while_mail_is_under_way(Engine::Sqlite);
}

#[test]
fn mail_under_way_survives_a_kill_on_postgres() {
    killed_while_mail_is_under_way(Engine::Postgres);
}

fn killed_while_mail_is_under_way(engine: Engine) {
    let deployment = Deployment::new(engine);
    deployment.json(&["site", "create", "--name", "Test"]);
    let key = deployment.json(&["key", "create", "--name", "Test"])["apiKey"].as_str().unwrap().to_owned();
    let mut office = PostOffice::start(&deployment);
    let server = serve(&deployment, &office);
    // One has been accepted when the process dies, but that could not be recorded; one has not.
    for email in ["late@example.org", "slow@example.org"] {
        activate(&server, &key, email);
    }
    let before = office.until(|seen| seen.mails.len() == 1 && seen.waiting.len() == 2);
    assert_eq!(before.waiting, ["late@example.org", "slow@example.org"]);
    assert_eq!(before.mails[0]["recipients"], json!(["late@example.org"]));
    drop(server);
    office.release();
    assert_eq!(rows(&deployment, None).len(), 2, "both are still there");

    // Another process looks for them once the lease of the first is over.
    rows(&deployment, Some("update stoa.mail set due = 1 where site = $1"));
    let server = serve(&deployment, &office);
    let mut after = office.until(|seen| seen.waiting.len() == 2);
    office.release();
    while after.mails.len() < 2 {
        after.extend(office.until(|seen| !seen.mails.is_empty()));
    }
    let mut ids: Vec<(&str, &str)> = after.mails.iter().map(|it| (recipient(it), message_id(it))).collect();
    ids.sort_unstable();
    assert_eq!((ids.len(), ids[0].0, ids[1].0), (2, "late@example.org", "slow@example.org"));
    assert_eq!(ids[0].1, message_id(&before.mails[0]), "the second copy can be known by its Message-ID");
    // The directory is read when no server holds it; the lease of the second is not over yet.
    let mut server = Some(server);
    for _ in 0..20 {
        std::thread::sleep(Duration::from_millis(500));
        assert!(server.take().is_some_and(Server::stop));
        if rows(&deployment, None).is_empty() {
            break;
        }
        server = Some(serve(&deployment, &office));
    }
    assert!(rows(&deployment, None).is_empty(), "what was delivered is forgotten");
    let server = serve(&deployment, &office);
    std::thread::sleep(Duration::from_millis(1_500));
    assert!(office.lines.try_recv().is_err(), "nothing comes a third time");
    assert!(server.stop());
}

fn recipient(mail: &Value) -> &str {
    mail["recipients"][0].as_str().unwrap()
}

fn message_id(mail: &Value) -> &str {
    mail["messageId"].as_str().unwrap()
}

/// Makes a member and has the link for a password sent.
fn activate(server: &Server, key: &str, email: &str) {
    let call = |path: &str, body: Value| {
        let (status, answer) = post(&format!("{}{path}", server.url), key, &body).unwrap();
        assert_eq!(status, 200, "{path}: {answer}");
        answer
    };
    let made = call("/members/v1/members", json!({ "member": { "loginEmail": email } }));
    call("/v1/activation-email", json!({ "identityId": made["member"]["id"] }));
}

fn serve(deployment: &Deployment, office: &PostOffice) -> Server {
    deployment.serve(|command| {
        command
            .args(["--smtp-host", "localhost", "--smtp-port", &office.at["port"].to_string()])
            .args(["--smtp-from", "no-reply@example.org", "--smtp-timeout", "60", "--smtp-ca"])
            .arg(deployment.file("ca.pem"))
            .args(["--smtp-user", office.at["user"].as_str().unwrap()])
            .env("STOA_SMTP_PASSWORD", office.at["password"].as_str().unwrap());
    })
}

/// The ids of what waits, after a statement on the site's rows.
fn rows(deployment: &Deployment, change: Option<&'static str>) -> Vec<String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let store = Store::open(&deployment.store_config()).await.unwrap();
        let (id, _) = store.sites().await.unwrap().remove(0);
        let site = store.site(&id).await.unwrap();
        if let Some(sql) = change {
            let written = site.write_with(id.clone(), move |tx, id| boxed!(Ok(tx.execute(sql, &params![id]).await?)));
            written.await.unwrap();
        }
        let read = site.read(ReaderPool::Scan, move |tx| {
            let id = id.clone();
            boxed!({
                let values = params![&id];
                Ok(tx.rows("select id from stoa.mail where site = $1", &values, |row| row.get(0)).await?)
            })
        });
        let found = read.await.unwrap();
        store.close();
        found
    })
}

/// The SMTP server of the tests, until it is dropped.
struct PostOffice {
    process: Child,
    input: ChildStdin,
    lines: mpsc::Receiver<Value>,
    at: Value,
}

#[derive(Default)]
struct Seen {
    mails: Vec<Value>,
    /// Who waits for [`PostOffice::release`], by address.
    waiting: Vec<String>,
}

impl Seen {
    fn extend(&mut self, more: Self) {
        self.mails.extend(more.mails);
        self.waiting.extend(more.waiting);
    }
}

impl PostOffice {
    fn start(deployment: &Deployment) -> Self {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/smtp/server.mjs");
        let mut command = Command::new("node");
        let mut process = command.arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("node runs");
        let (input, output) = (process.stdin.take().unwrap(), process.stdout.take().unwrap());
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let _ = sender.send(serde_json::from_str(&line).expect("the server prints JSON"));
            }
        });
        let at: Value = lines.recv_timeout(Duration::from_secs(60)).expect("the server starts; npm ci in tests/smtp");
        std::fs::write(deployment.file("ca.pem"), at["ca"].as_str().unwrap()).unwrap();
        Self { process, input, lines, at }
    }

    /// Reads on until enough was seen.
    fn until(&self, enough: impl Fn(&Seen) -> bool) -> Seen {
        let mut seen = Seen::default();
        while !enough(&seen) {
            let line = self.lines.recv_timeout(Duration::from_secs(30)).expect("something arrives");
            match line["waiting"].as_str() {
                Some(address) => seen.waiting.push(address.to_owned()),
                None => seen.mails.push(line),
            }
            seen.waiting.sort();
        }
        seen
    }

    fn release(&mut self) {
        self.input.write_all(b"\n").unwrap();
    }
}

impl Drop for PostOffice {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
