//! Links and codes work once, for whom and what they were made, and not for long.

use crate::account::{PASSWORD, World, text};
use axum::{
    body::Body,
    http::{Method, Request},
};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    net::{IpAddr, Ipv4Addr},
    sync::Arc,
    time::Duration,
};
use stoa_kernel::{Email, Role, Secret};
use stoa_testkit::{TestApp, on_both_engines};
use tower::ServiceExt;

const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// The statuses of a hundred equal requests sent at once.
async fn a_hundred(app: &TestApp, path: &'static str, token: &str, body: &Value) -> BTreeMap<u16, usize> {
    let mut tasks = Vec::new();
    for _ in 0..100 {
        let (app, body, token) = (app.app.clone(), body.to_string(), token.to_owned());
        tasks.push(tokio::spawn(async move {
            let request = Request::builder().method(Method::POST).uri(path).header("host", "localhost");
            let request = request.header("authorization", token).body(Body::from(body)).unwrap();
            stoa_http::service(app).oneshot(request).await.unwrap().status().as_u16()
        }));
    }
    let mut statuses = BTreeMap::new();
    for task in tasks {
        *statuses.entry(task.await.unwrap()).or_insert(0) += 1;
    }
    statuses
}

async fn recovery_token(world: &World, email: &str) -> String {
    world.app.mail.take();
    let asked = world.call(&world.visitor().await, "/v1/send-email", &json!({ "email": email })).await;
    assert_eq!(asked.verdict(), "200");
    for _ in 0..500 {
        if let Some(mail) = world.app.mail.last_to(email) {
            return mail.links[0].split_once("token=").unwrap().1.to_owned();
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("no link came");
}

on_both_engines! {
    async fn recovery_counts_once_among_a_hundred(engine) {
        let world = World::new(engine).await;
        world.register("anna@example.org").await;
        let (token, visitor) = (recovery_token(&world, "anna@example.org").await, world.visitor().await);
        let body = json!({ "recoveryToken": token, "password": "another long phrase" });
        let statuses = a_hundred(&world.app, "/v1/recover", &visitor, &body).await;
        assert_eq!(statuses.get(&200), Some(&1), "{statuses:?}");
        assert!(statuses.keys().all(|it| *it < 500), "{statuses:?}");
        let notices = world.app.mail.take().into_iter().filter(|it| it.subject.contains("was changed")).count();
        assert_eq!(notices, 1);
    }

    async fn recovery_link_is_bound_to_site_member_and_hour(engine) {
        let world = World::new(engine).await;
        world.register("anna@example.org").await;
        world.register("bob@example.org").await;
        let visitor = world.visitor().await;
        let recover = async |token: &str| {
            let body = json!({ "recoveryToken": token, "password": "another long phrase" });
            world.call(&visitor, "/v1/recover", &body).await
        };
        let token = recovery_token(&world, "anna@example.org").await;
        let other = world.app.kit.store.site_create("Other", &world.app.kit.world).await.unwrap();
        let (_, random) = token.split_once('.').unwrap();
        for swapped in [format!("l{}.{random}", other.number), format!("a{}.{random}", world.app.site.number)] {
            assert_eq!(recover(&swapped).await.verdict(), "400 INVALID_LINK");
            let secret = Secret::new("another long phrase");
            let there = world.app.app.identity.recovery_finish(&other, &swapped, &secret, HERE.into()).await;
            assert!(there.is_err());
        }
        // The newer link of a member ends with the older one; another member's does not.
        let (second, bobs) = (recovery_token(&world, "anna@example.org").await, recovery_token(&world, "bob@example.org").await);
        assert_eq!(recover(&token).await.json()["identity"]["email"]["address"], "anna@example.org");
        assert_eq!(recover(&second).await.verdict(), "400 INVALID_LINK");
        world.app.kit.clock.advance(60 * 60_000);
        assert_eq!(recover(&bobs).await.verdict(), "400 INVALID_LINK", "expired");
        let login = json!({ "loginId": { "email": "bob@example.org" }, "password": PASSWORD });
        assert_eq!(world.call(&visitor, "/v2/login", &login).await.verdict(), "200");
    }

    async fn link_ends_with_the_address_it_was_sent_to(engine) {
        let world = World::new(engine).await;
        let registered = world.register("lost@example.org").await;
        let (token, visitor) = (recovery_token(&world, "lost@example.org").await, world.visitor().await);
        // An operator moves the account away from a mailbox that somebody else reads.
        let path = format!("/wix-sm/api/v1/auth/api/v1/members/{}/change-login-email", text(&registered["identity"]["id"]));
        let body = json!({ "newEmail": "safe@example.org" }).to_string();
        assert_eq!(world.app.app().send(Method::PATCH, &path, Some(body.into())).await.verdict(), "200");
        let body = json!({ "recoveryToken": token, "password": "another long phrase" });
        assert_eq!(world.call(&visitor, "/v1/recover", &body).await.verdict(), "400 INVALID_LINK");
        let body = json!({ "recoveryToken": recovery_token(&world, "safe@example.org").await, "password": "another long phrase" });
        assert_eq!(world.call(&visitor, "/v1/recover", &body).await.verdict(), "200");
    }

    async fn code_is_for_one_state_token(engine) {
        let world = World::new(engine).await;
        world.policy(json!({ "requireEmailVerification": true })).await;
        let (anna, bob) = (world.register("anna@example.org").await, world.register("bob@example.org").await);
        let (annas, visitor) = (world.app.code_to("anna@example.org").await, world.visitor().await);
        let verify = async |state: &Value, code: &str| {
            world.call(&visitor, "/v1/auth/verify", &json!({ "code": code, "stateToken": state })).await.verdict()
        };
        if annas != world.app.code_to("bob@example.org").await {
            assert_eq!(verify(&bob["stateToken"], &annas).await, "400 VERIFICATION_FAILED");
        }
        let other = world.app.kit.store.site_create("Other", &world.app.kit.world).await.unwrap();
        let there = world.app.app.identity.verification_check(&other, &text(&anna["stateToken"]), &annas, HERE.into()).await;
        assert!(there.is_err(), "another site");
        assert_eq!(verify(&anna["stateToken"], &annas).await, "200");
        assert_eq!(verify(&anna["stateToken"], &annas).await, "400 INVALID_STATE_TOKEN");
    }

    async fn invitation_is_accepted_once_among_a_hundred(engine) {
        let world = World::new(engine).await;
        let identity = &world.app.app.identity;
        let email = Email::parse("olga@example.org").unwrap();
        let link = identity.invite_create(&world.app.site.id, Some(&email), Role::Owner, Duration::from_secs(60), "http://localhost");
        let token = Arc::new(link.await.unwrap().split_once("invite=").unwrap().1.to_owned());
        let mut tasks = Vec::new();
        for n in 0..20 {
            let (identity, token) = (identity.clone(), token.clone());
            tasks.push(tokio::spawn(async move {
                identity.invite_accept(&token, None, &Secret::new(format!("a long phrase {n}")), HERE).await.is_ok()
            }));
        }
        let mut accepted = 0;
        for task in tasks {
            accepted += usize::from(task.await.unwrap());
        }
        assert_eq!(accepted, 1);
    }
}
