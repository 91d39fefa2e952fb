//! Every way to a session × every standing of a member, as one text: what each is answered.

use super::*;
use std::fmt::Write;
use stoa_testkit::{Engine, on_both_engines};

/// What a member waits for, and what was done to them then.
const STANDINGS: [(&str, [bool; 3], Option<&str>); 12] = [
    ("ACTIVE", [false, false, false], None),
    ("PENDING address", [true, false, false], None),
    ("PENDING fields", [false, true, false], None),
    ("PENDING address+fields", [true, true, false], None),
    ("PENDING approval", [false, false, true], None),
    ("PENDING address+approval", [true, false, true], None),
    ("PENDING fields+approval", [false, true, true], None),
    ("PENDING all", [true, true, true], None),
    ("BLOCKED", [false, false, false], Some("block")),
    ("BLOCKED all", [true, true, true], Some("block")),
    ("OFFLINE", [false, false, false], Some("disconnect")),
    ("DELETED", [false, false, false], Some("delete")),
];
const WAYS: [&str; 7] =
    ["register", "login", "account page", "recover", "verify after start", "sign-on", "external login"];

on_both_engines! {
    async fn sign_ins_of_every_kind_and_status(engine) {
        let table = draw(engine).await;
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/snapshots/standings.txt");
        #[expect(clippy::disallowed_methods, reason = "how a snapshot is renewed")]
        if std::env::var("UPDATE_SNAPSHOTS").is_ok() {
            std::fs::write(file, &table).unwrap();
        }
        let kept = std::fs::read_to_string(file).unwrap_or_default();
        assert_eq!(table, kept, "the table changed; look at each line, then renew it with UPDATE_SNAPSHOTS=1");
    }
}

async fn draw(engine: Engine) -> String {
    let world = World::new(engine).await;
    let mut table =
        String::from("# How each way to a session answers a member of each standing. Only SUCCESS brings a session.\n");
    for (s, (standing, [address, fields, approval], step)) in STANDINGS.into_iter().enumerate() {
        let _ = writeln!(table, "\n## {standing}");
        let policy = json!({ "requireEmailVerification": address, "requireOwnerApproval": approval,
            "requiredFields": if fields { vec!["nickname"] } else { Vec::new() } });
        world.policy(policy).await;
        for (w, way) in WAYS.into_iter().enumerate() {
            // Attempts and messages of one do not count for another.
            world.app.kit.clock.advance(61 * 60_000);
            let email = format!("m{s}-{w}@example.org");
            let id = text(&world.register(&email).await["identity"]["id"]);
            let link = if way == "recover" { Some(recovery(&world, &email).await) } else { None };
            let code = if way == "verify after start" { Some(started(&world, &id, &email).await) } else { None };
            let path = format!("/members/v1/members/{id}");
            let done = match step {
                Some("delete") => Some(world.app.app().delete(&path).await),
                Some(step) => Some(world.app.app().post(&format!("{path}/{step}"), &json!({})).await),
                None => None,
            };
            assert!(done.is_none_or(|it| it.status == StatusCode::OK));
            let _ = writeln!(table, "{way:<20} {}", enter(&world, way, &email, &id, link, code).await);
        }
    }
    table
}

async fn recovery(world: &World, email: &str) -> String {
    world.call(&world.visitor().await, "/v1/send-email", &json!({ "email": email })).await;
    for _ in 0..500 {
        let link = world.app.mail.last_to(email).and_then(|it| it.links.first().cloned());
        if let Some((_, token)) = link.as_deref().and_then(|it| it.split_once("token=")) {
            return token.to_owned();
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    panic!("no link to {email}")
}

async fn started(world: &World, id: &str, email: &str) -> Value {
    let reply = world.app.app().post("/v1/start", &json!({ "identityId": id })).await.json();
    json!({ "stateToken": reply["verificationId"], "code": world.app.mail.last_to(email).unwrap().code })
}

async fn enter(world: &World, way: &str, email: &str, id: &str, link: Option<String>, code: Option<Value>) -> String {
    let visitor = world.visitor().await;
    let body = json!({ "loginId": { "email": email }, "password": PASSWORD });
    let reply = match way {
        "register" => world.call(&visitor, "/v2/register", &body).await,
        "login" => world.call(&visitor, "/v2/login", &body).await,
        "recover" => {
            let body = json!({ "recoveryToken": link, "password": "another long phrase" });
            world.call(&visitor, "/v1/recover", &body).await
        }
        "verify after start" => world.call(&visitor, "/v1/auth/verify", &code.unwrap()).await,
        "sign-on" => world.app.app().post("/v2/sign-on", &body).await,
        "external login" => {
            let both = world.app.with_token(&format!("{visitor},{}", world.app.app().token));
            both.post("/oauth2/token", &json!({ "grant_type": "authorized_client", "member_id": id })).await
        }
        _ => {
            let browser = world.browser();
            let token = text(&browser.start(json!({ "kind": "SIGN_IN" })).await["token"]);
            let input = json!({ "type": "SIGN_IN", "email": email, "password": PASSWORD });
            let view = browser.answer(&token, input).await;
            assert_eq!(browser.has("stoa-session"), view["step"]["type"] == "DONE");
            let problem = view["problems"][0]["code"].as_str().map(|it| format!(" !{it}"));
            let step = if view["step"]["type"] == "DONE" { "SUCCESS" } else { view["step"]["type"].as_str().unwrap() };
            return format!("{step}{}", problem.unwrap_or_default());
        }
    };
    let json = reply.json();
    let has_session = json["sessionToken"].is_string() || json["access_token"].is_string();
    let state = json["state"].as_str().map(str::to_owned);
    let outcome = state.unwrap_or_else(|| if has_session { "SUCCESS".to_owned() } else { reply.verdict() });
    assert_eq!(has_session, outcome == "SUCCESS", "{way} {json}");
    outcome
}
