//! However a member signs in, the audit log records it once, and from where.

use super::*;
use stoa_testkit::on_both_engines;

const ANOTHER: &str = "another long phrase";

impl World {
    /// What was noted of this kind about a member: who did it, and from where.
    async fn audited(&self, event: &str, email: &str) -> Vec<(String, Value)> {
        let email = stoa_kernel::Email::parse(email).unwrap();
        let Some(member) = self.app.app.identity.member_by_email(&self.app.site, &email).await.unwrap() else {
            return Vec::new();
        };
        let path = format!("/_api/identity/v1/audit?event={event}&member={}", member.id);
        let entries = self.app.app().get(&path).await.json()["entries"].as_array().unwrap().clone();
        entries.into_iter().map(|it| (text(&it["actorKind"]), it["address"].clone())).collect()
    }

    async fn sign_ins(&self, email: &str) -> usize {
        self.audited("member_sign_in", email).await.len()
    }

    /// The token of a recovery link.
    async fn recovery(&self, email: &str) -> String {
        self.call(&self.visitor().await, "/v1/send-email", &json!({ "email": email })).await;
        let link = self.link_to(email).await.unwrap();
        link.split_once("token=").unwrap().1.to_owned()
    }

    async fn code(&self, email: &str) -> String {
        self.app.code_to(email).await
    }

    async fn approve(&self, email: &str) {
        let email = stoa_kernel::Email::parse(email).unwrap();
        let member = self.app.app.identity.member_by_email(&self.app.site, &email).await.unwrap().unwrap();
        let path = format!("/members/v1/members/{}/approve", member.id);
        assert_eq!(self.app.app().post(&path, &json!({})).await.verdict(), "200");
    }

    /// The policy that makes a sign-in wait for this.
    async fn demands(&self, what: &str) {
        let fields = if what == "fields" { vec!["lastName"] } else { Vec::new() };
        let (verification, approval) = (what == "code", what == "approval");
        self.policy(json!({ "requireEmailVerification": verification, "requireOwnerApproval": approval,
            "requiredFields": fields }))
            .await;
    }

    /// Comes in by the calls of a client, and is asked for this on the way.
    async fn calls(&self, what: &str, email: &str) -> Value {
        let visitor = self.visitor().await;
        if what == "link" {
            let recover = json!({ "recoveryToken": self.recovery(email).await, "password": ANOTHER });
            return self.call(&visitor, "/v1/recover", &recover).await.json();
        }
        let login = json!({ "loginId": { "email": email }, "password": PASSWORD });
        let answer = self.call(&visitor, "/v2/login", &login).await.json();
        let token = &answer["stateToken"];
        match what {
            "code" => {
                let verify = json!({ "code": self.code(email).await, "stateToken": token });
                self.call(&visitor, "/v1/auth/verify", &verify).await.json()
            }
            "fields" => {
                let body = json!({ "stateToken": token, "profile": { "lastName": "Berg" } });
                self.call(&visitor, "/v2/login", &body).await.json()
            }
            _ => answer,
        }
    }

    /// The same on the account pages.
    async fn pages(&self, what: &str, email: &str) -> Value {
        let browser = self.browser();
        if what == "link" {
            let link = format!("/_api/account/v1/recover?token={}", self.recovery(email).await);
            let token = flow_of(&browser.open(&link).await);
            return browser.answer(&token, json!({ "type": "NEW_PASSWORD", "password": ANOTHER })).await;
        }
        let token = text(&browser.start(json!({ "kind": "SIGN_IN" })).await["token"]);
        let input = json!({ "type": "SIGN_IN", "email": email, "password": PASSWORD });
        let view = browser.answer(&token, input).await;
        match what {
            "code" => {
                let code = self.code(email).await;
                browser.answer(&token, json!({ "type": "VERIFY_EMAIL", "code": code })).await
            }
            "fields" => {
                let body = json!({ "type": "MISSING_FIELDS", "profile": { "lastName": "Berg" } });
                browser.answer(&token, body).await
            }
            "approval" => {
                assert_eq!(self.sign_ins(email).await, 0, "still waiting");
                self.approve(email).await;
                browser.flow_view(&token).await.json()
            }
            _ => view,
        }
    }
}

on_both_engines! {
    async fn sign_ins_of_every_kind_are_audited_once(engine) {
        let world = World::new(engine).await;
        let here = ("MEMBER".to_owned(), json!("127.0.0.1"));
        for what in ["nothing", "code", "fields", "link"] {
            for way in ["calls", "pages"] {
                world.demands(what).await;
                let email = format!("{what}-{way}@example.org");
                world.register(&email).await;
                // Registering is signing in where nothing is demanded.
                let before = world.sign_ins(&email).await;
                assert_eq!(before, usize::from(matches!(what, "nothing" | "link")), "{email}");
                let is_in = match way {
                    "calls" => world.calls(what, &email).await["state"] == "SUCCESS",
                    _ => world.pages(what, &email).await["step"]["type"] == "DONE",
                };
                assert!(is_in, "{email}");
                assert_eq!(world.audited("member_sign_in", &email).await, vec![here.clone(); before + 1], "{email}");
            }
        }
        world.demands("approval").await;
        world.register("waiting@example.org").await;
        assert_eq!(world.pages("approval", "waiting@example.org").await["step"]["type"], "DONE");
        assert_eq!(world.audited("member_sign_in", "waiting@example.org").await, [here]);
    }

    async fn sign_ins_by_an_app_are_audited_as_its_own(engine) {
        let world = World::new(engine).await;
        let app = ("APP".to_owned(), Value::Null);
        let sign_on = async |email: &str| {
            let body = json!({ "loginId": { "email": email }, "profile": {} });
            assert_eq!(world.app.app().post("/v2/sign-on", &body).await.verdict(), "200");
        };
        for times in 1..3 {
            sign_on("new@example.org").await;
            assert_eq!(world.audited("member_create", "new@example.org").await, vec![app.clone()]);
            assert_eq!(world.audited("member_sign_in", "new@example.org").await, vec![app.clone(); times]);
        }
        world.register("first@example.org").await;
        sign_on("first@example.org").await;
        assert_eq!(world.audited("password_drop", "first@example.org").await, [app]);
        assert_eq!(world.audited("member_create", "first@example.org").await, []);
        assert_eq!(world.sign_ins("first@example.org").await, 2);
    }
}
