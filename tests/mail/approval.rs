//! Owners decide about members by a link in a message.

use axum::{
    body::Body,
    http::{Method, Request, StatusCode},
};
use serde_json::{Value, json};
use std::{collections::BTreeMap, time::Duration};
use stoa_kernel::{Email, Role, Secret};
use stoa_sql::params;
use stoa_store::boxed;
use stoa_testkit::{Engine, TestApp, on_both_engines};
use tower::ServiceExt;

const PASSWORD: &str = "correct horse battery";
const DECIDE: &str = "/_api/account/v1/approvals/decide";

/// A site whose owners approve members.
async fn careful(engine: Engine) -> TestApp {
    let app = TestApp::new(engine).await;
    app.owner().await;
    let policy = json!({ "signOnPolicy": { "requireOwnerApproval": true } });
    let reply = app.app().send(Method::PATCH, "/v1/sign-on-policies", Some(policy.to_string().into())).await;
    assert_eq!(reply.status, 200);
    app
}

async fn register(app: &TestApp, email: &str) -> Value {
    let profile = json!({ "firstName": "Anna", "lastName": "Beispiel" });
    let body = json!({ "loginId": { "email": email }, "password": PASSWORD, "profile": profile });
    let reply = app.visitor().await.post("/v2/register", &body).await.json();
    assert_eq!(reply["state"], "REQUIRE_OWNER_APPROVAL", "{reply}");
    reply
}

async fn login(app: &TestApp, email: &str) -> String {
    let body = json!({ "loginId": { "email": email }, "password": PASSWORD });
    let reply = app.visitor().await.post("/v2/login", &body).await;
    if reply.status == 200 { reply.json()["state"].as_str().unwrap().to_owned() } else { reply.verdict() }
}

/// The token of the newest link to an owner.
fn token_to(app: &TestApp, owner: &str) -> String {
    let mail = app.mail.last_to(owner).expect("a message to the owner");
    let (page, token) = mail.links[0].split_once('#').unwrap();
    assert_eq!(page, "http://localhost/account/approve");
    token.to_owned()
}

async fn open_link(app: &TestApp, token: &str) -> stoa_testkit::Reply {
    app.anonymous().post("/_api/account/v1/approvals", &json!({ "token": token })).await
}

async fn decide(app: &TestApp, token: &str, decision: &str) -> stoa_testkit::Reply {
    app.anonymous().post(DECIDE, &json!({ "token": token, "decision": decision })).await
}

on_both_engines! {
    async fn owner_approves_a_member(engine) {
        let app = careful(engine).await;
        register(&app, "anna@example.org").await;
        let mail = app.mail.last_to("owner@example.org").unwrap();
        assert_eq!(mail.subject, "Anna Beispiel asks to join Test");
        let token = token_to(&app, "owner@example.org");
        for _ in 0..3 {
            // Mail programs look first; GET of the page is a static file and does nothing either.
            let seen = open_link(&app, &token).await.json();
            assert_eq!((&seen["name"], &seen["email"], &seen["state"]), (&json!("Anna Beispiel"), &json!("anna@example.org"), &json!("PENDING")));
        }
        for path in [DECIDE, "/_api/account/v1/approvals"] {
            assert_eq!(app.anonymous().get(&format!("{path}?token={token}")).await.status, StatusCode::METHOD_NOT_ALLOWED);
        }
        assert_eq!(login(&app, "anna@example.org").await, "REQUIRE_OWNER_APPROVAL");
        app.mail.take();
        assert_eq!(decide(&app, &token, "APPROVE").await.json()["state"], "APPROVED");
        assert_eq!(app.mail.last_to("anna@example.org").unwrap().subject, "Welcome to Test");
        assert_eq!(login(&app, "anna@example.org").await, "SUCCESS");
        for again in ["APPROVE", "DECLINE"] {
            assert_eq!(decide(&app, &token, again).await.verdict(), "400 INVALID_LINK", "replayed");
        }
        assert_eq!(open_link(&app, &token).await.verdict(), "400 INVALID_LINK");
        assert_eq!(login(&app, "anna@example.org").await, "SUCCESS");
    }

    async fn owner_rejects_a_member(engine) {
        let app = careful(engine).await;
        let member = register(&app, "anna@example.org").await;
        let token = token_to(&app, "owner@example.org");
        assert_eq!(decide(&app, &token, "DECLINE").await.json()["state"], "DECLINED");
        assert_eq!(app.mail.last_to("anna@example.org").unwrap().subject, "Your account at Test");
        assert_eq!(login(&app, "anna@example.org").await, "403 MEMBER_BLOCKED");
        assert_eq!(decide(&app, &token, "APPROVE").await.verdict(), "400 INVALID_LINK");
        // A change of mind, by another way: unblocked, then approved.
        let id = stoa_kernel::MemberId::from(member["identity"]["id"].as_str().unwrap());
        let operator = stoa_kernel::Caller::App { id: "k".into() };
        app.app.identity.member_unblock(&app.site, &operator, &id).await.unwrap();
        app.app.identity.member_approve(&app.site, &operator, &id).await.unwrap();
        assert_eq!(login(&app, "anna@example.org").await, "SUCCESS");
    }

    async fn links_are_bound_to_everything(engine) {
        let app = careful(engine).await;
        register(&app, "anna@example.org").await;
        let token = token_to(&app, "owner@example.org");
        let other = app.kit.store.site_create("Other", &app.kit.world).await.unwrap();
        let (_, random) = token.split_once('.').unwrap();
        let forged = format!("a{}.{}", app.site.number, app.kit.world.token::<32>());
        let swapped = format!("a{}.{random}", other.number);
        let purpose = format!("l{}.{random}", app.site.number);
        for bad in ["", "x", "a1", &forged, &swapped, &purpose, &format!("{token}x"), &token.to_uppercase(), &format!("a99.{random}")] {
            assert_eq!(decide(&app, bad, "APPROVE").await.verdict(), "400 INVALID_LINK", "{bad}");
            assert_eq!(open_link(&app, bad).await.verdict(), "400 INVALID_LINK", "{bad}");
        }
        // A recovery link is no approval, and an approval link recovers nothing.
        let recover = json!({ "recoveryToken": token, "password": "another long phrase" });
        assert_eq!(app.visitor().await.post("/v1/recover", &recover).await.verdict(), "400 INVALID_LINK");
        let as_recovery = json!({ "recoveryToken": purpose, "password": "another long phrase" });
        assert_eq!(app.visitor().await.post("/v1/recover", &as_recovery).await.verdict(), "400 INVALID_LINK");
        for body in [json!({ "token": token }), json!({ "token": token, "decision": "MAYBE" }), json!({ "decision": "APPROVE" }), json!([])] {
            assert_eq!(app.anonymous().post(DECIDE, &body).await.status, StatusCode::BAD_REQUEST, "{body}");
        }
        assert_eq!(login(&app, "anna@example.org").await, "REQUIRE_OWNER_APPROVAL");

        // Another site's page can't decide in the owner's browser.
        let body = json!({ "token": token, "decision": "APPROVE" });
        let request = Request::builder().method(Method::POST).uri(DECIDE).header("host", "localhost");
        let request = request.header("content-type", "application/json").header("origin", "https://evil.example");
        let request = request.header("sec-fetch-site", "cross-site").body(Body::from(body.to_string())).unwrap();
        assert_eq!(app.service().oneshot(request).await.unwrap().status(), StatusCode::FORBIDDEN);

        app.kit.clock.advance(7 * 24 * 60 * 60_000);
        assert_eq!(decide(&app, &token, "APPROVE").await.verdict(), "400 INVALID_LINK", "expired");
        // Signing in again asks again.
        assert_eq!(login(&app, "anna@example.org").await, "REQUIRE_OWNER_APPROVAL");
        let fresh = token_to(&app, "owner@example.org");
        assert_ne!(fresh, token);
        assert_eq!(decide(&app, &fresh, "APPROVE").await.verdict(), "200");
    }

    async fn former_owner_decides_nothing(engine) {
        let app = careful(engine).await;
        app.editor().await;
        register(&app, "anna@example.org").await;
        assert!(app.mail.last_to("editor@example.org").is_none(), "editors do not decide");
        let token = token_to(&app, "owner@example.org");
        app.kit.store.catalog().write(|tx| boxed!({
            tx.execute("update stoa.person_role set role = $1 where role = $2", &params!["EDITOR", "OWNER"]).await?;
            Ok(())
        })).await.unwrap();
        assert_eq!(open_link(&app, &token).await.verdict(), "400 INVALID_LINK");
        assert_eq!(decide(&app, &token, "APPROVE").await.verdict(), "400 INVALID_LINK");
    }

    async fn decision_counts_once_among_a_hundred(engine) {
        let app = careful(engine).await;
        let second = Email::parse("second@example.org").unwrap();
        let identity = &app.app.identity;
        let link = identity.invite_create(&app.site.id, Some(&second), Role::Owner, Duration::from_secs(60), "http://localhost").await.unwrap();
        identity.invite_accept(link.split_once("invite=").unwrap().1, None, &Secret::new(PASSWORD), std::net::Ipv4Addr::LOCALHOST.into()).await.unwrap();
        register(&app, "anna@example.org").await;
        let tokens = [token_to(&app, "owner@example.org"), token_to(&app, "second@example.org")];
        assert_ne!(tokens[0], tokens[1]);
        app.mail.take();
        let mut tasks = Vec::new();
        for n in 0..100 {
            let body = json!({ "token": tokens[n % 2], "decision": if n % 3 == 0 { "DECLINE" } else { "APPROVE" } }).to_string();
            let app = app.app.clone();
            tasks.push(tokio::spawn(async move {
                let request = Request::builder().method(Method::POST).uri(DECIDE).header("host", "localhost");
                let request = request.header("content-type", "application/json").body(Body::from(body)).unwrap();
                stoa_http::service(app).oneshot(request).await.unwrap().status()
            }));
        }
        let mut statuses = BTreeMap::new();
        for task in tasks {
            *statuses.entry(task.await.unwrap().as_u16()).or_insert(0) += 1;
        }
        assert_eq!(statuses.get(&200), Some(&1), "{statuses:?}");
        assert!(statuses.keys().all(|it| *it < 500), "{statuses:?}");
        assert_eq!(app.mail.take().len(), 1, "the member is told once");
    }

    async fn owners_are_asked_once_and_not_flooded(engine) {
        let app = careful(engine).await;
        register(&app, "anna@example.org").await;
        for _ in 0..5 {
            login(&app, "anna@example.org").await;
        }
        let mails = app.mail.take();
        assert_eq!(mails.iter().filter(|it| it.to == "owner@example.org").count(), 1);
        // Approved in another way: the link is over, the member gets a message.
        register(&app, "bob@example.org").await;
        let token = token_to(&app, "owner@example.org");
        let bob = Email::parse("bob@example.org").unwrap();
        let bob = app.app.identity.member_by_email(&app.site, &bob).await.unwrap().unwrap();
        assert_eq!(app.app().post(&format!("/members/v1/members/{}/approve", bob.id), &json!({})).await.status, 200);
        assert_eq!(app.mail.last_to("bob@example.org").unwrap().subject, "Welcome to Test");
        assert_eq!(decide(&app, &token, "DECLINE").await.verdict(), "400 INVALID_LINK");
    }
}
