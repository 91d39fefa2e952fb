//! Second factors that a site requires: the way through, the ways around, and what changes in the middle.

use super::*;

const DAY: i64 = 24 * 60 * 60_000;

impl World {
    /// A site that requires a second factor of all its members, after so many days.
    async fn requiring(engine: Engine, days: i64) -> Self {
        let world = Self::new(engine).await;
        world.policy(json!({ "secondFactor": "REQUIRED", "secondFactorGraceDays": days })).await;
        world
    }

    /// A member whose address is shown, of the time before any factor was required.
    async fn old_member(&self, email: &str) {
        self.policy(json!({ "secondFactor": "OPTIONAL" })).await;
        self.member_access(email).await;
        self.policy(json!({ "secondFactor": "REQUIRED", "secondFactorGraceDays": 0 })).await;
        self.app.mail.take();
    }

    /// A call's sign-in, which must lead to the pages and to nothing else.
    async fn is_sent_to_the_pages(&self, email: &str, password: &str) {
        let answer = self.login(email, password).await;
        let names: Vec<&String> = answer.as_object().unwrap().keys().collect();
        assert_eq!(names, ["state", "requireMfaData", "additionalData"], "{answer}");
        assert_eq!(answer["state"], "REQUIRE_MFA");
        let factor = |kind: &str| json!({ "factorType": kind, "factorStatus": "REQUIRE_ACTIVATION" });
        assert_eq!(answer["requireMfaData"]["availableFactors"], json!([factor("WEBAUTHN"), factor("TOTP")]));
        let url = text(&answer["additionalData"]["signInUrl"]["strValue"]);
        assert!(url.contains("/account/sign-in"), "{url}");
    }

    async fn mailed_code(&self, email: &str) -> String {
        self.app.code_to(email).await
    }

    /// The policy with this change, refused: the fields that are named.
    async fn refused_fields(&self, policy: Value) -> Vec<String> {
        let body = json!({ "signOnPolicy": policy }).to_string();
        let reply = self.app.app().send(Method::PATCH, "/v1/sign-on-policies", Some(body.into())).await;
        assert_eq!(reply.status, StatusCode::BAD_REQUEST);
        let found = reply.json()["details"]["validationError"]["fieldViolations"].clone();
        found.as_array().unwrap().iter().map(|it| text(&it["field"])).collect()
    }
}

impl Browser<'_> {
    async fn input(&self, view: &Value, input: Value) -> Value {
        self.answer(&text(&view["token"]), input).await
    }

    async fn confirm(&self, view: &Value, code: &str) -> Value {
        self.input(view, json!({ "type": "CONFIRM_FACTOR", "code": code })).await
    }
}

fn step(view: &Value) -> (&str, Option<&str>) {
    (view["step"]["type"].as_str().unwrap(), view["problems"][0]["code"].as_str())
}

fn secret(view: &Value) -> String {
    assert_eq!(step(view), ("ENROL_FACTOR", None), "{view}");
    text(&view["step"]["secret"])
}

on_both_engines! {
    async fn member_puts_a_factor_off_then_sets_it_up_on_the_pages(engine) {
        let world = World::requiring(engine, 14).await;
        world.member_access("anna@example.org").await;
        assert_eq!(world.login("anna@example.org", PASSWORD).await["state"], "SUCCESS", "calls put it off");
        let browser = world.browser();
        let view = browser.password("anna@example.org").await;
        assert_eq!(step(&view), ("OFFER_FACTOR", None));
        assert!(view["step"]["until"].is_string() && !browser.has("stoa-session"), "{view}");
        let view = browser.input(&view, json!({ "type": "LATER" })).await;
        assert_eq!(step(&view), ("DONE", None));
        assert!(browser.has("stoa-session"));
        // One that is begun can be put off as well.
        let view = browser.password("anna@example.org").await;
        let view = browser.input(&view, json!({ "type": "ENROL_FACTOR" })).await;
        secret(&view);
        assert_eq!(step(&browser.input(&view, json!({ "type": "LATER" })).await), ("DONE", None));
        assert_eq!(world.count("factor").await, 0, "what is begun is stored nowhere else");

        world.app.kit.clock.advance(14 * DAY);
        world.is_sent_to_the_pages("anna@example.org", PASSWORD).await;
        let older = json!({ "email": "anna@example.org", "password": PASSWORD });
        let reply = world.call(&world.visitor().await, "/wix-sm/api/v1/auth/api/v1/auth/login", &older).await;
        assert_eq!(reply.verdict(), "403 REQUIRE_MFA");
        let recover = json!({ "recoveryToken": world.recovery_link("anna@example.org").await, "password": PASSWORD });
        let asked = world.call(&world.visitor().await, "/v1/recover", &recover).await.json();
        assert_eq!(asked["state"], "REQUIRE_MFA");
        // The word of an application stands for it.
        let vouch = json!({ "loginId": { "email": "anna@example.org" } });
        assert!(world.app.app().post("/v2/sign-on", &vouch).await.json()["sessionToken"].is_string());

        world.app.mail.take();
        let browser = world.browser();
        let view = browser.password("anna@example.org").await;
        let secret = secret(&view);
        assert!(text(&view["step"]["uri"]).contains(&secret) && view["step"]["until"].is_null(), "{view}");
        let again = browser.flow_view(&text(&view["token"])).await.json();
        let shown = |it: &Value| ["type", "secret", "uri", "until"].map(|name| it["step"][name].clone());
        assert_eq!(shown(&again), shown(&view), "a page that is opened again shows the same");
        assert_eq!(step(&browser.input(&view, json!({ "type": "LATER" })).await), ("ENROL_FACTOR", Some("STEP_CHANGED")));
        assert_eq!(step(&browser.confirm(&view, " ").await), ("ENROL_FACTOR", Some("REQUIRED")));
        assert_eq!(step(&browser.confirm(&view, &wrong(&world, &secret)).await), ("ENROL_FACTOR", Some("INVALID_CODE")));
        let view = browser.confirm(&view, &format!(" {} ", world.totp(&secret, 0))).await;
        assert_eq!((step(&view).0, view["step"]["codes"].as_array().map(Vec::len)), ("RECOVERY_CODES", Some(10)));
        assert!(!browser.has("stoa-session"));
        let again = browser.flow_view(&text(&view["token"])).await.json();
        assert_eq!(again["step"]["codes"], view["step"]["codes"], "they are shown until they are kept");
        let done = browser.input(&view, json!({ "type": "CODES_KEPT" })).await;
        assert_eq!(step(&done), ("DONE", None), "{done}");
        assert!(browser.has("stoa-session"));
        assert_eq!(world.subjects().await, ["Your account at Test asks for a second step now", "New sign-in to Test"]);
        assert_eq!((world.events("factor_add").await, world.count("factor").await), (1, 1));

        // From now on it is asked for, as any other.
        let asked = world.login("anna@example.org", PASSWORD).await;
        assert_eq!(world.verify_totp(&asked["stateToken"], &world.totp(&secret, 0)).await.verdict(), WRONG, "it has counted");
        let recovery = text(&view["step"]["codes"][4]);
        assert_eq!(world.verify_recovery(&asked["stateToken"], &recovery).await.json()["state"], "SUCCESS");
    }

    async fn address_is_shown_before_a_factor_that_is_required(engine) {
        let world = World::requiring(engine, 0).await;
        // A stranger who registers the address of others comes no further than its mailbox.
        let stranger = world.register("anna@example.org").await;
        assert_eq!((&stranger["state"], stranger.get("sessionToken")), (&json!("REQUIRE_MFA"), None));
        let browser = world.browser();
        let view = browser.password("anna@example.org").await;
        assert_eq!(step(&view), ("VERIFY_EMAIL", None));
        assert_eq!(step(&browser.input(&view, json!({ "type": "VERIFY_EMAIL", "code": "000000" })).await), ("VERIFY_EMAIL", Some("INVALID_CODE")));
        assert_eq!(step(&browser.input(&view, json!({ "type": "ENROL_FACTOR" })).await), ("VERIFY_EMAIL", Some("STEP_CHANGED")));
        let code = json!({ "type": "VERIFY_EMAIL", "code": world.mailed_code("anna@example.org").await });
        let view = browser.input(&view, code).await;
        secret(&view);
        // So does one who signs up on the pages, until the code.
        let start = browser.start(json!({ "kind": "SIGN_UP" })).await;
        let sign_up = json!({ "type": "SIGN_UP", "email": "ben@example.org", "password": PASSWORD, "profile": {} });
        let view = browser.input(&start, sign_up).await;
        assert_eq!(step(&view), ("VERIFY_EMAIL", None));
        let code = json!({ "type": "VERIFY_EMAIL", "code": world.mailed_code("ben@example.org").await });
        let view = browser.input(&view, code).await;
        let shown = browser.confirm(&view, &world.totp(&secret(&view), 0)).await;
        assert_eq!(step(&browser.input(&shown, json!({ "type": "CODES_KEPT" })).await), ("DONE", None));

        // A session that was stolen sets a password, but shows no mailbox.
        world.policy(json!({ "secondFactor": "OPTIONAL" })).await;
        let stolen = world.member_access("carl@example.org").await;
        world.policy(json!({ "secondFactor": "REQUIRED", "secondFactorGraceDays": 0 })).await;
        assert_eq!(world.call(&stolen, "/v2/change-password", &json!({ "newPassword": ANOTHER })).await.verdict(), "200");
        let thief = world.browser();
        let start = thief.start(json!({ "kind": "SIGN_IN" })).await;
        let view = thief.input(&start, json!({ "type": "SIGN_IN", "email": "carl@example.org", "password": ANOTHER })).await;
        assert_eq!(step(&view), ("VERIFY_EMAIL", None));
        // Its owner comes by a link, which shows the mailbox.
        let opened = browser.open(&format!("/_api/account/v1/recover?token={}", world.recovery_link("carl@example.org").await)).await;
        let view = browser.answer(&flow_of(&opened), json!({ "type": "NEW_PASSWORD", "password": "a third long phrase" })).await;
        secret(&view);
        assert_eq!(world.count("factor").await, 1);
    }

    async fn steps_of_the_set_up_are_taken_in_their_order_by_one_browser(engine) {
        let world = World::requiring(engine, 0).await;
        world.old_member("anna@example.org").await;
        world.old_member("ben@example.org").await;
        let browser = world.browser();
        let start = browser.start(json!({ "kind": "SIGN_IN" })).await;
        for input in [json!({ "type": "ENROL_FACTOR" }), json!({ "type": "CONFIRM_FACTOR", "code": "123456" }), json!({ "type": "LATER" }), json!({ "type": "CODES_KEPT" })] {
            assert_eq!(step(&browser.input(&start, input).await), ("SIGN_IN", Some("STEP_CHANGED")));
        }
        let view = browser.password("anna@example.org").await;
        let own = secret(&view);
        for input in [
            json!({ "type": "CODES_KEPT" }),
            json!({ "type": "LATER" }),
            json!({ "type": "ENROL_FACTOR" }),
            json!({ "type": "SECOND_FACTOR", "factor": "TOTP", "code": world.totp(&own, 0), "remember": true }),
            json!({ "type": "SIGN_IN", "email": "anna@example.org", "password": PASSWORD }),
            json!({ "type": "VERIFY_EMAIL", "code": "123456" }),
            json!({ "type": "NEW_PASSWORD", "password": ANOTHER }),
        ] {
            assert_eq!(step(&browser.input(&view, input.clone()).await), ("ENROL_FACTOR", Some("STEP_CHANGED")), "{input}");
        }
        // Another browser has nothing of it, and another member's authenticator fits nothing.
        let other = world.browser();
        assert_eq!(other.flow_view(&text(&view["token"])).await.verdict(), GONE);
        let bens = other.password("ben@example.org").await;
        let others = secret(&bens);
        assert_ne!(own, others);
        assert_eq!(step(&browser.confirm(&view, &world.totp(&others, 0)).await), ("ENROL_FACTOR", Some("INVALID_CODE")));
        // A second sign-in of the same member, begun before: the first that ends is the only one.
        let second = other.password("anna@example.org").await;
        let late = secret(&second);
        let shown = browser.confirm(&view, &world.totp(&own, 0)).await;
        assert_eq!(step(&shown).0, "RECOVERY_CODES");
        assert_eq!(step(&other.confirm(&second, &world.totp(&late, 0)).await), ("SIGN_IN", Some("STEP_CHANGED")));
        assert_eq!(step(&browser.confirm(&shown, &world.totp(&own, 0)).await), ("RECOVERY_CODES", Some("STEP_CHANGED")), "twice");
        assert_eq!(step(&browser.input(&shown, json!({ "type": "BACK" })).await), ("RECOVERY_CODES", Some("STEP_CHANGED")));
        assert!(!browser.has("stoa-session") && !other.has("stoa-session"));
        assert_eq!(step(&browser.input(&shown, json!({ "type": "CODES_KEPT" })).await), ("DONE", None));
        let over = browser.ask(Method::POST, &format!("/_api/account/v1/flows/{}", text(&shown["token"])), Some(&json!({ "type": "CODES_KEPT" }))).await;
        assert_eq!(over.verdict(), GONE);
        assert_eq!((world.count("factor").await, world.count("recovery_code").await), (1, 10));
    }

    async fn factor_is_set_up_once_among_a_hundred(engine) {
        let world = World::requiring(engine, 0).await;
        world.old_member("anna@example.org").await;
        let browser = world.browser();
        let view = browser.password("anna@example.org").await;
        let code = world.totp(&secret(&view), 0);
        let tries = join_all((0..100).map(|_| browser.confirm(&view, &code))).await;
        let shown = tries.iter().filter(|it| it["step"]["codes"].as_array().is_some_and(|it| !it.is_empty())).count();
        assert!(shown >= 1, "{shown}");
        let again = browser.flow_view(&text(&view["token"])).await.json();
        assert_eq!(again["step"]["codes"].as_array().map(Vec::len), Some(10), "{again}");
        assert_eq!((world.count("factor").await, world.count("recovery_code").await, world.events("factor_add").await), (1, 10, 1));
        assert!(!browser.has("stoa-session"));
    }

    async fn what_changes_in_the_middle_ends_or_frees_the_sign_in(engine) {
        let world = World::requiring(engine, 14).await;
        let access = world.member_access("anna@example.org").await;
        let browser = world.browser();
        // Nothing is required any more.
        let view = browser.password("anna@example.org").await;
        let view = browser.input(&view, json!({ "type": "ENROL_FACTOR" })).await;
        let secret = secret(&view);
        world.policy(json!({ "secondFactor": "OFF" })).await;
        assert_eq!(step(&browser.confirm(&view, &world.totp(&secret, 0)).await), ("DONE", None));
        assert_eq!(world.count("factor").await, 0);
        // The time to put it off is over.
        world.policy(json!({ "secondFactor": "REQUIRED", "secondFactorGraceDays": 14 })).await;
        let view = browser.password("anna@example.org").await;
        assert_eq!(step(&view).0, "OFFER_FACTOR");
        world.policy(json!({ "secondFactorGraceDays": 0 })).await;
        let view = browser.input(&view, json!({ "type": "LATER" })).await;
        assert_eq!((step(&view).0, view["step"]["until"].is_null()), ("ENROL_FACTOR", true));
        // A factor was added elsewhere.
        world.enrol(&access, json!({ "password": PASSWORD })).await;
        let own = text(&view["step"]["secret"]);
        assert_eq!(step(&browser.confirm(&view, &world.totp(&own, 0)).await), ("SIGN_IN", Some("STEP_CHANGED")));
        // The password is another one, the member is blocked, it took too long.
        let moments = ["password", "block", "time"];
        for (at, moment) in moments.into_iter().enumerate() {
            let email = format!("member{at}@example.org");
            world.policy(json!({ "secondFactor": "OFF" })).await;
            let access = world.member_access(&email).await;
            world.policy(json!({ "secondFactor": "REQUIRED", "secondFactorGraceDays": 0 })).await;
            let view = browser.password(&email).await;
            let own = text(&view["step"]["secret"]);
            let expected = match moment {
                "password" => {
                    world.call(&access, "/v2/change-password", &json!({ "newPassword": ANOTHER })).await;
                    ("SIGN_IN", Some("STEP_CHANGED"))
                }
                "block" => {
                    let path = "/wix-sm/api/v1/auth/api/v1/members/block";
                    assert_eq!(world.app.app().post(path, &json!({ "email": email })).await.verdict(), "200");
                    ("SIGN_IN", Some("STEP_CHANGED"))
                }
                _ => {
                    world.app.kit.clock.advance(31 * 60_000);
                    ("SIGN_IN", Some("STEP_CHANGED"))
                }
            };
            let found = browser.confirm(&view, &world.totp(&own, 0)).await;
            assert_eq!(step(&found), expected, "{moment}: {found}");
        }
        assert_eq!(world.count("factor").await, 1);
    }

    async fn last_factor_stays_where_one_is_required_and_sessions_go_on(engine) {
        let world = World::new(engine).await;
        let tokens = world.member(&world.browser(), "ben@example.org").await;
        let anna = {
            world.policy(json!({ "secondFactor": "OPTIONAL" })).await;
            world.enrolled("anna@example.org").await
        };
        world.policy(json!({ "secondFactor": "REQUIRED", "secondFactorGraceDays": 0 })).await;
        let proof = |world: &World| json!({ "totpData": { "code": world.totp(&anna.secret, 0) } });
        assert_eq!(world.prove(&anna.access, proof(&world)).await, "200");
        let remove = format!("factors/{}", anna.id);
        assert_eq!(world.own(&anna.access, Method::DELETE, &remove, json!({})).await.verdict(), "403 PERMISSION_DENIED");
        let asked = world.login(&anna.email, PASSWORD).await;
        assert_eq!(asked["state"], "MFA_CHALLENGE");
        // With another one it may go, also where both are to go at once.
        world.next_step();
        let (other, ..) = world.enrol(&anna.access, proof(&world)).await;
        let both = [remove, format!("factors/{other}")];
        let tries = join_all(both.iter().map(|it| world.own(&anna.access, Method::DELETE, it, json!({})))).await;
        let mut verdicts: Vec<String> = tries.iter().map(Reply::verdict).collect();
        verdicts.sort();
        assert_eq!(verdicts, ["200", "403 PERMISSION_DENIED"]);
        assert_eq!(world.count("factor").await, 1);
        // Those who run the site take it away; the next sign-in asks to set one up.
        let reset = format!("{OWN}/members/{}/factors", world.id_of(&anna.email).await);
        assert_eq!(world.app.app().delete(&reset).await.json(), json!({ "removed": 1 }));
        world.is_sent_to_the_pages(&anna.email, PASSWORD).await;
        secret(&world.browser().password(&anna.email).await);
        // A session of before goes on.
        let refresh = json!({ "clientId": world.client.id, "grantType": "refresh_token", "refreshToken": tokens["refresh_token"] });
        assert_eq!(world.call("", "/oauth2/token", &refresh).await.verdict(), "200");
    }

    async fn first_code_counts_where_the_rule_was_loosened(engine) {
        let world = World::requiring(engine, 0).await;
        world.old_member("anna@example.org").await;
        let browser = world.browser();
        let view = browser.password("anna@example.org").await;
        world.policy(json!({ "secondFactor": "OPTIONAL" })).await;
        let shown = browser.confirm(&view, &world.totp(&secret(&view), 0)).await;
        assert_eq!(shown["step"]["codes"].as_array().map(Vec::len), Some(10), "{shown}");
        // The factor is taken away before the codes are kept: the sign-in is over.
        let reset = format!("{OWN}/members/{}/factors", world.id_of("anna@example.org").await);
        assert_eq!(world.app.app().delete(&reset).await.json(), json!({ "removed": 1 }));
        assert_eq!(step(&browser.input(&shown, json!({ "type": "CODES_KEPT" })).await), ("SIGN_IN", Some("STEP_CHANGED")));
        assert!(!browser.has("stoa-session"));
    }

    async fn who_shows_the_address_in_the_grace_is_asked_once(engine) {
        let world = World::requiring(engine, 14).await;
        world.register("anna@example.org").await;
        let browser = world.browser();
        let view = browser.password("anna@example.org").await;
        assert_eq!(step(&view).0, "OFFER_FACTOR");
        let view = browser.input(&view, json!({ "type": "ENROL_FACTOR" })).await;
        assert_eq!(step(&view).0, "VERIFY_EMAIL");
        let code = json!({ "type": "VERIFY_EMAIL", "code": world.mailed_code("anna@example.org").await });
        let view = browser.input(&view, code).await;
        secret(&view);
        world.app.kit.clock.advance(31 * 60_000);
        let late = browser.flow_view(&text(&view["token"])).await.json();
        assert_eq!(step(&late), ("SIGN_IN", Some("STEP_CHANGED")), "no secret is shown that no code can follow");
    }

    async fn old_session_opens_no_other_client_once_a_factor_is_due(engine) {
        let world = World::requiring(engine, 14).await;
        world.member_access("anna@example.org").await;
        let browser = world.browser();
        let view = browser.password("anna@example.org").await;
        assert_eq!(step(&browser.input(&view, json!({ "type": "LATER" })).await), ("DONE", None));
        let client = &world.client.id;
        let silent = format!("/_api/oauth2/authorize?client_id={client}&redirect_uri=https%3A%2F%2Fapp.example.org%2Fcallback&response_type=code&state=s&code_challenge={CHALLENGE}&code_challenge_method=S256&prompt=none");
        assert!(location(&browser.open(&silent).await).contains("code="));
        world.app.kit.clock.advance(14 * DAY);
        assert!(location(&browser.open(&silent).await).contains("error=login_required"));
    }

    async fn policy_is_written_back_as_it_was_read(engine) {
        let world = World::new(engine).await;
        let app = world.app.app();
        let policy = async || app.get("/v1/sign-on-policies").await.json()["signOnPolicy"].clone();
        for key in ["mod", "editor"] {
            app.post("/members/v1/roles/definitions", &json!({ "roleKey": key, "roleTitle": key })).await;
        }
        world.member_access("ben@example.org").await;
        let path = format!("/members/v1/roles/members/{}", world.id_of("ben@example.org").await);
        assert_eq!(app.post(&path, &json!({ "roleKey": "mod" })).await.verdict(), "200");
        world.policy(json!({ "secondFactor": "REQUIRED", "secondFactorGraceDays": 2, "secondFactorRoles": ["mod"] })).await;
        assert_eq!(world.refused_fields(json!({ "secondFactorRoles": ["mod", "OWNER"] })).await, ["signOnPolicy.secondFactorRoles[1]"]);
        // A role that the policy names stays, and others go.
        assert_eq!(app.delete("/members/v1/roles/definitions/mod").await.verdict(), "400 validationError");
        // Those who were meant before get no more days when others are meant too, or all.
        world.app.kit.clock.advance(2 * DAY);
        for roles in [json!(["editor", "mod"]), json!([]), json!(["mod"])] {
            world.policy(json!({ "secondFactorRoles": roles })).await;
            world.is_sent_to_the_pages("ben@example.org", PASSWORD).await;
        }
        assert_eq!(app.delete("/members/v1/roles/definitions/editor").await.verdict(), "200");
        let mut whole = policy().await;
        whole["requireOwnerApproval"] = json!(false);
        world.policy(whole.clone()).await;
        assert_eq!(policy().await, whole);
        whole["secondFactor"] = json!("OPTIONAL");
        world.policy(whole).await;
        assert_eq!(policy().await["secondFactor"], "OPTIONAL");
    }

    async fn factors_are_required_of_members_with_a_role(engine) {
        let world = World::new(engine).await;
        for email in ["anna@example.org", "ben@example.org"] {
            world.member_access(email).await;
        }
        assert_eq!(world.refused_fields(json!({ "secondFactor": "REQUIRED", "secondFactorRoles": ["mod"] })).await, ["signOnPolicy.secondFactorRoles[0]"]);
        assert_eq!(world.refused_fields(json!({ "secondFactor": "REQUIRED", "secondFactorRoles": ["OWNER", "a\u{0}b"] })).await, ["signOnPolicy.secondFactorRoles[0]", "signOnPolicy.secondFactorRoles[1]"]);
        assert_eq!(world.refused_fields(json!({ "secondFactor": "OPTIONAL", "secondFactorGraceDays": 3 })).await, ["signOnPolicy.secondFactorGraceDays"]);
        assert_eq!(world.refused_fields(json!({ "secondFactorRoles": ["mod"] })).await, ["signOnPolicy.secondFactorRoles"]);
        let app = world.app.app();
        assert_eq!(app.post("/members/v1/roles/definitions", &json!({ "roleKey": "mod", "roleTitle": "Mod" })).await.verdict(), "200");
        let path = format!("/members/v1/roles/members/{}", world.id_of("ben@example.org").await);
        assert_eq!(app.post(&path, &json!({ "roleKey": "mod" })).await.verdict(), "200");
        let policy = async || app.get("/v1/sign-on-policies").await.json()["signOnPolicy"].clone();
        world.policy(json!({ "secondFactor": "REQUIRED", "secondFactorGraceDays": 0, "secondFactorRoles": ["mod"] })).await;
        let first = policy().await;
        assert_eq!((&first["secondFactor"], &first["secondFactorRoles"]), (&json!("REQUIRED"), &json!(["mod"])));
        world.is_sent_to_the_pages("ben@example.org", PASSWORD).await;
        assert_eq!(world.login("anna@example.org", PASSWORD).await["state"], "SUCCESS");
        // The days begin again when others are meant, and only then.
        world.app.kit.clock.advance(1_000);
        world.policy(json!({ "secondFactor": "REQUIRED", "secondFactorGraceDays": 2 })).await;
        assert_eq!(policy().await["secondFactorRequiredDate"], first["secondFactorRequiredDate"]);
        assert_eq!(world.login("ben@example.org", PASSWORD).await["state"], "SUCCESS");
        world.policy(json!({ "secondFactorRoles": [] })).await;
        let all = policy().await;
        assert!(all["secondFactorRequiredDate"] != first["secondFactorRequiredDate"] && all.get("secondFactorRoles").is_none());
        world.app.kit.clock.advance(2 * DAY);
        world.is_sent_to_the_pages("anna@example.org", PASSWORD).await;
        // Who registers later has as many days.
        let carl = world.register("carl@example.org").await;
        assert_eq!(carl["state"], "SUCCESS");
        world.app.kit.clock.advance(2 * DAY);
        world.is_sent_to_the_pages("carl@example.org", PASSWORD).await;
        // What is switched off leaves nothing behind.
        world.policy(json!({ "secondFactor": "OPTIONAL" })).await;
        assert_eq!(policy().await.as_object().unwrap().keys().filter(|it| it.starts_with("secondFactor")).count(), 1);
    }
}
