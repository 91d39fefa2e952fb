//! Mail through a real SMTP server (`tests/smtp/server.mjs`) with TLS.

use serde_json::{Value, json};
use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, Command, Stdio},
    sync::{Arc, mpsc},
    time::Duration,
};
use stoa_identity::{defence::Attempt, policy::PolicyChange, sign_in::Registration};
use stoa_kernel::{Caller, Secret};
use stoa_outbound::{Security, Smtp, SmtpConfig};
use stoa_sql::params;
use stoa_store::{ReaderPool, boxed};
use stoa_testkit::{Reply, TestApp, on_both_engines};

const PASSWORD: &str = "correct horse battery";

/// The server, until it is dropped.
struct Server {
    process: Child,
    input: ChildStdin,
    lines: mpsc::Receiver<Value>,
    at: Value,
}

impl Server {
    fn start(ports: &[u16]) -> Self {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/smtp/server.mjs");
        let mut command = Command::new("node");
        command.arg(script).args(ports.iter().map(u16::to_string)).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().expect("node runs");
        let (input, output) = (process.stdin.take().unwrap(), process.stdout.take().unwrap());
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let _ = sender.send(serde_json::from_str(&line).expect("the server prints JSON"));
            }
        });
        let at = lines.recv_timeout(Duration::from_secs(60)).expect("the server starts; npm ci in tests/smtp");
        Self { process, input, lines, at }
    }

    fn port(&self, name: &str) -> u16 {
        self.at[name].as_u64().unwrap() as u16
    }

    fn config(&self, security: Security) -> SmtpConfig {
        SmtpConfig {
            host: "localhost".to_owned(),
            port: self.port(if security == Security::StartTls { "starttlsPort" } else { "port" }),
            security,
            login: Some((
                self.at["user"].as_str().unwrap().to_owned(),
                Secret::new(self.at["password"].as_str().unwrap()),
            )),
            from: "no-reply@mail.example.org".to_owned(),
            timeout: Duration::from_secs(5),
            connections: 2,
            authority: Some(self.at["ca"].as_str().unwrap().as_bytes().to_vec()),
        }
    }

    /// The next message that arrives.
    async fn next(&self) -> Value {
        for _ in 0..600 {
            if let Ok(mail) = self.lines.try_recv() {
                return mail;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("no message arrived");
    }

    /// Lets go on what waits.
    fn release(&mut self) {
        self.input.write_all(b"\n").unwrap();
    }

    async fn stays_silent(&self) {
        tokio::time::sleep(Duration::from_millis(1_500)).await;
        assert!(self.lines.try_recv().is_err());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

async fn app_with(engine: stoa_testkit::Engine, config: &SmtpConfig) -> TestApp {
    TestApp::with_mailer(engine, Some(Arc::new(Smtp::new(config).unwrap()))).await
}

async fn must_verify(app: &TestApp) {
    let policy = json!({ "signOnPolicy": { "requireEmailVerification": true } });
    let reply =
        app.app().send(axum::http::Method::PATCH, "/v1/sign-on-policies", Some(policy.to_string().into())).await;
    assert_eq!(reply.status, 200);
}

async fn register(app: &TestApp, email: &str, profile: Value) -> Reply {
    let body = json!({ "loginId": { "email": email }, "password": PASSWORD, "profile": profile });
    app.visitor().await.post("/v2/register", &body).await
}

/// Has the site send as this, in the domain `rooms.example`.
async fn send_as(app: &TestApp, sender: Value) {
    let operator = Caller::App { id: "operator".into() };
    app.app.identity.mail_domains_change(&app.site, &operator, &["rooms.example".to_owned()], &[]).await.unwrap();
    let body = json!({ "mailSender": sender }).to_string();
    let reply = app.app().send(axum::http::Method::PATCH, "/_api/site/v1/mail-sender", Some(body.into())).await;
    assert_eq!(reply.verdict(), "200");
}

/// How many rows wait or were given up, and every text of theirs.
async fn queue(app: &TestApp) -> (usize, Vec<u8>) {
    let rows: Vec<Vec<u8>> = app
        .site
        .read(ReaderPool::Scan, |tx| {
            boxed!({
                let sql = "select id, kind, member, error, sealed from stoa.mail where site <> $1";
                let values = params![""];
                let read = tx.rows(sql, &values, |row| {
                    let texts: [Option<String>; 4] = [row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?];
                    let sealed: Option<Vec<u8>> = row.get(4)?;
                    let mut all = texts.map(Option::unwrap_or_default).join(" ").into_bytes();
                    all.extend(sealed.unwrap_or_default());
                    Ok(all)
                });
                Ok(read.await?)
            })
        })
        .await
        .unwrap();
    (rows.len(), rows.concat())
}

async fn is_empty(app: &TestApp) -> bool {
    for _ in 0..600 {
        if queue(app).await.0 == 0 {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    false
}

on_both_engines! {
    async fn messages_in_four_languages_over_tls(engine) {
        let server = Server::start(&[]);
        let app = app_with(engine, &server.config(Security::Implicit)).await;
        must_verify(&app).await;
        for (language, dir, says) in [
            ("de", "ltr", "ist Ihr Code für"), ("he", "rtl", "הוא הקוד שלך"), ("ja-JP", "ltr", "確認コード"), ("xx", "ltr", "is your code for"),
        ] {
            let email = format!("anna+{}@example.org", &language[..2]);
            let state = register(&app, &email, json!({ "language": language })).await.json();
            let mail = server.next().await;
            let tag = match language { "ja-JP" => "ja-JP", "xx" => "en", other => other };
            assert_eq!((&mail["isEncrypted"], &mail["user"]), (&json!(true), &json!("stoa")), "{mail}");
            assert_eq!((&mail["recipients"], &mail["from"]), (&json!([email]), &json!("no-reply@mail.example.org")));
            assert_eq!(mail["sender"], json!({ "address": "no-reply@mail.example.org", "name": "Test" }));
            assert!(mail["subject"].as_str().unwrap().contains(says), "{mail}");
            assert!(mail["messageId"].as_str().unwrap().ends_with("@mail.example.org>"));
            let header = |name: &str| mail["headers"].as_array().unwrap().iter().find(|it| it["key"] == name).map(|it| it["value"].clone());
            assert_eq!((header("auto-submitted"), header("content-language")), (Some(json!("auto-generated")), Some(json!(tag))));
            let (html, text) = (mail["html"].as_str().unwrap(), mail["text"].as_str().unwrap());
            assert!(html.contains(&format!("dir=\"{dir}\"")), "{html}");
            let subject = mail["subject"].as_str().unwrap();
            let code: String = subject.chars().filter(char::is_ascii_digit).collect();
            assert!(code.len() == 6 && html.contains(&code) && text.contains(&code), "{subject}");
            let body = json!({ "code": code, "stateToken": state["stateToken"] });
            assert_eq!(app.visitor().await.post("/v1/auth/verify", &body).await.json()["state"], "SUCCESS");
        }
        assert!(is_empty(&app).await, "what was delivered is forgotten");
    }

    async fn site_sends_from_its_own_address(engine) {
        let server = Server::start(&[]);
        let app = app_with(engine, &server.config(Security::Implicit)).await;
        must_verify(&app).await;
        send_as(&app, json!({ "name": "Café, \"Zeus\"", "address": "hello@rooms.example", "replyTo": "help@elsewhere.example" })).await;
        register(&app, "anna@example.org", json!({})).await;
        let mail = server.next().await;
        assert_eq!(mail["sender"], json!({ "address": "hello@rooms.example", "name": "Café, \"Zeus\"" }));
        assert_eq!(mail["from"], "hello@rooms.example", "failures are told the site");
        let header = |name: &str| mail["headers"].as_array().unwrap().iter().find(|it| it["key"] == name).map(|it| it["value"].clone());
        assert_eq!(header("reply-to"), Some(json!("help@elsewhere.example")));
        assert!(is_empty(&app).await);
    }

    async fn message_waits_where_the_server_refuses_the_address_of_a_site(engine) {
        let server = Server::start(&[]);
        let app = app_with(engine, &server.config(Security::Implicit)).await;
        must_verify(&app).await;
        send_as(&app, json!({ "address": "unverified@rooms.example" })).await;
        register(&app, "anna@example.org", json!({})).await;
        server.stays_silent().await;
        assert_eq!((queue(&app).await.0, app.app.identity.mail_failures(&app.site).await.unwrap().len()), (1, 0));
        app.kit.clock.advance(6_000);
        assert_eq!(server.next().await["from"], "unverified@rooms.example");
        assert!(is_empty(&app).await);
    }

    async fn recovery_link_over_starttls(engine) {
        let server = Server::start(&[]);
        let app = app_with(engine, &server.config(Security::StartTls)).await;
        register(&app, "anna@example.org", json!({})).await;
        let visitor = app.visitor().await;
        let ask = async |email: &str| visitor.post("/v1/send-email", &json!({ "email": email, "language": "fr" })).await.verdict();
        assert_eq!((ask("nobody@example.org").await, ask("anna@example.org").await), ("200".to_owned(), "200".to_owned()));
        let mail = server.next().await;
        assert_eq!((&mail["recipients"], &mail["isEncrypted"]), (&json!(["anna@example.org"]), &json!(true)));
        assert!(mail["subject"].as_str().unwrap().starts_with("Un nouveau mot de passe"), "{mail}");
        let text = mail["text"].as_str().unwrap();
        let token = text.split_once("token=").unwrap().1.split_whitespace().next().unwrap();
        let recover = json!({ "recoveryToken": token, "password": "another long phrase" });
        assert_eq!(visitor.post("/v1/recover", &recover).await.json()["state"], "SUCCESS");
        let notice = server.next().await;
        assert!(notice["subject"].as_str().unwrap().contains("was changed"), "{notice}");
        server.stays_silent().await;
        assert!(is_empty(&app).await);
    }

    async fn unreachable_server_is_retried(engine) {
        let server = Server::start(&[]);
        let (config, ports) = (server.config(Security::Implicit), [server.port("port"), server.port("starttlsPort")]);
        drop(server);
        // The next server has an authority of its own: the connection isn't trusted until it is known.
        let app = app_with(engine, &config).await;
        must_verify(&app).await;
        assert_eq!(register(&app, "anna@example.org", json!({})).await.json()["state"], "REQUIRE_EMAIL_VERIFICATION");
        tokio::time::sleep(Duration::from_millis(500)).await;
        let (waiting, texts) = queue(&app).await;
        assert_eq!(waiting, 1);
        let readable = String::from_utf8_lossy(&texts).into_owned();
        assert!(!readable.contains("anna@") && !readable.contains("\"code\"") && !readable.contains("verification\""), "{readable}");
        let stranger = Server::start(&ports);
        app.kit.clock.advance(6_000);
        stranger.stays_silent().await;
        let (waiting, texts) = queue(&app).await;
        assert_eq!(waiting, 1);
        assert!(String::from_utf8_lossy(&texts).contains("certificate"), "{}", String::from_utf8_lossy(&texts));
    }

    async fn busy_server_is_retried_and_refusals_recorded(engine) {
        let server = Server::start(&[]);
        let app = app_with(engine, &server.config(Security::Implicit)).await;
        must_verify(&app).await;
        register(&app, "busy@example.org", json!({})).await;
        server.stays_silent().await;
        app.kit.clock.advance(6_000);
        let mail = server.next().await;
        assert_eq!(mail["recipients"], json!(["busy@example.org"]));
        assert!(is_empty(&app).await, "delivered once, then forgotten");

        let refused = register(&app, "refused@example.org", json!({})).await.json();
        let mut failures = Vec::new();
        for _ in 0..600 {
            failures = app.app.identity.mail_failures(&app.site).await.unwrap();
            if !failures.is_empty() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        assert_eq!((failures.len(), failures[0].kind.as_str(), failures[0].attempts), (1, "verification", 1));
        assert!(failures[0].error.contains("no such mailbox"), "{failures:?}");
        assert_eq!(failures[0].member.as_deref(), refused["identity"]["id"].as_str());
        app.kit.clock.advance(3_600_000);
        server.stays_silent().await;
        assert_eq!(app.app.identity.mail_failures(&app.site).await.unwrap(), failures, "not tried again");
        app.kit.clock.advance(31 * 24 * 3_600_000);
        app.app.identity.retention_run(&app.site).await;
        assert_eq!(queue(&app).await.0, 0);
    }

    async fn slow_mailbox_holds_up_its_own_site_only(engine) {
        let mut server = Server::start(&[]);
        let config = SmtpConfig { timeout: Duration::from_secs(60), ..server.config(Security::Implicit) };
        let app = app_with(engine, &config).await;
        must_verify(&app).await;
        let other = app.kit.store.site_create("Other", &app.kit.world).await.unwrap();
        let policy = PolicyChange { require_email_verification: Some(true), ..Default::default() };
        let operator = Caller::App { id: "operator".into() };
        app.app.identity.policy_update(&other, &operator, policy).await.unwrap();
        let mut slow: Vec<String> = (0..6).map(|n| format!("slow{n}@example.org")).collect();
        for email in &slow {
            register(&app, email, json!({})).await;
        }
        // So many of one site may be under way, and no more.
        for _ in 0..4 {
            assert!(server.next().await["waiting"].is_string());
        }
        let attempt = Attempt { address: [127, 0, 0, 1].into(), visitor: None, client: None, hints: Default::default(), captcha: None };
        let registration =
            Registration { email: "anna@example.org".to_owned(), password: Secret::new(PASSWORD), profile: json!({}) };
        app.app.identity.member_register(&other, &attempt, &registration).await.unwrap();
        let mail = server.next().await;
        assert_eq!((&mail["recipients"], &mail["sender"]["name"]), (&json!(["anna@example.org"]), &json!("Other")), "{mail}");
        let mut arrived = Vec::new();
        while arrived.len() < slow.len() {
            server.release();
            let line = server.next().await;
            arrived.extend(line["recipients"][0].as_str().map(str::to_owned));
        }
        arrived.sort();
        slow.sort();
        assert_eq!(arrived, slow);
        assert!(is_empty(&app).await);
    }

    async fn old_address_gets_notice_of_the_new(engine) {
        let server = Server::start(&[]);
        let app = app_with(engine, &server.config(Security::StartTls)).await;
        let reply = register(&app, "anna@example.org", json!({ "language": "de" })).await.json();
        register(&app, "bob@example.org", json!({})).await;
        let path = format!("/wix-sm/api/v1/auth/api/v1/members/{}/change-login-email", reply["identity"]["id"].as_str().unwrap());
        let change = async |email: &str| {
            app.app().send(axum::http::Method::PATCH, &path, Some(json!({ "newEmail": email }).to_string().into())).await.verdict()
        };
        assert_eq!(change("bob@example.org").await, "409 -19995");
        assert_eq!(change("nobody").await, "400 validationError");
        assert_eq!(change("Anna@Example.org").await, "200", "the same address in other letters");
        server.stays_silent().await;
        assert_eq!(change("anna@new.example.org").await, "200");
        let mail = server.next().await;
        assert_eq!(mail["recipients"], json!(["Anna@Example.org"]), "{mail}");
        let text = mail["text"].as_str().unwrap();
        assert!(text.contains("anna@new.example.org") && mail["html"].as_str().unwrap().contains("anna@new.example.org"), "{text}");
        assert!(mail["subject"].as_str().unwrap().contains("wurde geändert"), "{mail}");
        assert!(!text.contains("http") && text.contains("die Test betreiben"), "whoever reads it can only ask: {text}");
        server.stays_silent().await;
        assert!(is_empty(&app).await);
    }

    async fn international_domain_reaches_every_server(engine) {
        let server = Server::start(&[]);
        let app = app_with(engine, &server.config(Security::StartTls)).await;
        must_verify(&app).await;
        register(&app, "anna@bücher.example", json!({})).await;
        let mail = server.next().await;
        assert_eq!(mail["to"][0]["address"], "anna@xn--bcher-kva.example", "{mail}");
        assert!(is_empty(&app).await);
        // What stands before the @ has no other form: such an address is given up at once.
        register(&app, "änna@example.org", json!({})).await;
        server.stays_silent().await;
        let failures = app.app.identity.mail_failures(&app.site).await.unwrap();
        assert_eq!((failures.len(), failures[0].attempts), (1, 1));
        assert!(failures[0].error.contains("SMTPUTF8"), "{failures:?}");
    }

    async fn obsolete_messages_are_not_sent(engine) {
        let server = Server::start(&[]);
        let app = app_with(engine, &server.config(Security::Implicit)).await;
        must_verify(&app).await;
        register(&app, "busy@example.org", json!({})).await;
        server.stays_silent().await;
        // The code has expired when the mailbox would take it.
        app.kit.clock.advance(11 * 60_000);
        server.stays_silent().await;
        let failures = app.app.identity.mail_failures(&app.site).await.unwrap();
        assert_eq!(failures.len(), 1);
    }

    async fn input_never_becomes_a_header(engine) {
        let server = Server::start(&[]);
        let app = app_with(engine, &server.config(Security::Implicit)).await;
        must_verify(&app).await;
        for email in [
            "a@example.org\r\nBcc: eve@example.org", "a@example.org,eve@example.org", "a@example.org>\r\nRCPT TO:<eve@example.org",
            "\"a\r\nb\"@example.org", "a@example.org\u{0}", "<a@example.org>", "a@exa mple.org", "a@example.org\u{2028}x",
        ] {
            assert_eq!(register(&app, email, json!({})).await.verdict(), "400 validationError", "{email:?}");
        }
        app.owner().await;
        let policy = json!({ "signOnPolicy": { "requireEmailVerification": false, "requireOwnerApproval": true } });
        app.app().send(axum::http::Method::PATCH, "/v1/sign-on-policies", Some(policy.to_string().into())).await;
        let name = "Eve\r\nBcc: eve@example.org\r\n\r\n<script>alert(1)</script>\u{202e}";
        let reply = register(&app, "eve@example.org", json!({ "firstName": name })).await;
        let reply = if reply.status == 200 { reply } else { register(&app, "eve@example.org", json!({ "firstName": "<script>Eve {link}" })).await };
        assert_eq!(reply.json()["state"], "REQUIRE_OWNER_APPROVAL");
        let mail = server.next().await;
        assert_eq!(mail["recipients"], json!(["owner@example.org"]));
        assert!(mail["headers"].as_array().unwrap().iter().all(|it| it["key"] != "bcc"), "{mail}");
        assert!(!mail["html"].as_str().unwrap().contains("<script"), "{mail}");
        server.stays_silent().await;
    }
}
