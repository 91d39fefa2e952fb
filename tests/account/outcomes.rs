//! Every outcome and every error of registration, login and verification that a client can tell apart
//! (docs/protocol/identity.md §11), each from a real request, as the public client reads it.

use super::*;
use std::collections::BTreeSet;
use stoa_identity::defence::captcha::zero_bits;
use stoa_testkit::on_both_engines;

const LOGIN: &str = "/_api/iam/authentication/v2/login";
const REGISTER: &str = "/_api/iam/authentication/v2/register";
const VERIFY: &str = "/_api/iam/verification/v1/auth/verify";

/// What `OAuthStrategy` makes of an answer: the table of the protocol.
fn verdict(path: &str, reply: &Reply) -> String {
    let body = reply.json();
    if reply.status == StatusCode::OK {
        return match body["state"].as_str() {
            Some("SUCCESS") if body["sessionToken"].is_string() => "SUCCESS",
            Some("REQUIRE_OWNER_APPROVAL") => "OWNER_APPROVAL_REQUIRED",
            Some("REQUIRE_EMAIL_VERIFICATION") if body["stateToken"].is_string() => "EMAIL_VERIFICATION_REQUIRED",
            _ => "FAILURE Unknown _state",
        }
        .to_owned();
    }
    let details = &body["details"];
    let violations = details["validationError"]["fieldViolations"].as_array().cloned().unwrap_or_default();
    let is_register = path == REGISTER;
    if details.get("validationError").is_some() {
        assert!(violations.iter().all(|it| it["field"].is_string()), "a violation without field breaks clients");
        let is_email = violations.iter().any(|it| it["data"]["type"] == "EMAIL");
        return match (is_register, is_email) {
            (true, true) => "FAILURE invalidEmail",
            (true, false) => "FAILURE",
            (false, _) => "TypeError",
        }
        .to_owned();
    }
    let code = &details["applicationError"]["code"];
    assert!(code.is_string(), "a code must be text: {body}");
    let name = match (code.as_str().unwrap(), is_register) {
        ("-19971", _) => "missingCaptchaToken",
        ("-19970", _) => "invalidCaptchaToken",
        ("-19976", false) => "invalidPassword",
        ("-19973", false) => "resetPassword",
        ("-19995", true) => "emailAlreadyExists",
        (_, false) => "invalidEmail",
        (_, true) => return "FAILURE".to_owned(),
    };
    format!("FAILURE {name}")
}

/// Requests, and what they came to so far.
struct Seen<'w> {
    world: &'w World,
    states: BTreeSet<String>,
    outcomes: BTreeSet<(&'static str, String)>,
}

impl Seen<'_> {
    /// Sends a request and expects this outcome; `state` or `code` of the answer stands before it.
    async fn expects(&mut self, path: &'static str, body: Value, wants: &str) -> Value {
        let reply = self.world.call(&self.world.visitor().await, path, &body).await;
        let json = reply.json();
        let (state, code) = (json["state"].as_str(), json["details"]["applicationError"]["code"].as_str());
        let found = format!("{}: {}", state.or(code).unwrap_or("validationError"), verdict(path, &reply));
        assert_eq!(found, wants, "{path} {body} {json}");
        self.states.extend(state.map(str::to_owned));
        self.outcomes.insert((path.rsplit('/').next().unwrap(), verdict(path, &reply)));
        json
    }
}

fn login(email: &str, password: &str) -> Value {
    json!({ "loginId": { "email": email }, "password": password })
}

impl World {
    /// Does the work of a challenge and answers it.
    pub async fn captcha(&self) -> String {
        let path = "/_api/account/v1/captcha";
        let reply = send(&self.app, Method::GET, path, &[("authorization", &self.visitor().await)], None).await;
        let challenge = text(&reply.json()["challenge"]);
        let bits = u32::try_from(reply.json()["bits"].as_u64().unwrap()).unwrap();
        let answers = (0..u32::MAX).map(|it| format!("{challenge}~{it}"));
        answers.into_iter().find(|it| zero_bits(it) >= bits).unwrap()
    }
}

on_both_engines! {
    async fn outcomes_and_errors_are_all_produced(engine) {
        let world = World::new(engine).await;
        let mut seen = Seen { world: &world, states: BTreeSet::new(), outcomes: BTreeSet::new() };
        let (anna, good) = ("anna@example.org", PASSWORD);

        // Registration and what it refuses.
        seen.expects(REGISTER, login(anna, good), "SUCCESS: SUCCESS").await;
        seen.expects(REGISTER, login(anna, good), "-19995: FAILURE emailAlreadyExists").await;
        seen.expects(REGISTER, login("nonsense", good), "validationError: FAILURE invalidEmail").await;
        seen.expects(REGISTER, login("b@example.org", "short"), "validationError: FAILURE").await;

        // Login: the password, the address, and nothing that would tell who is known.
        let member = seen.expects(LOGIN, login(anna, good), "SUCCESS: SUCCESS").await;
        seen.expects(LOGIN, login(anna, "wrong one"), "-19976: FAILURE invalidPassword").await;
        seen.expects(LOGIN, login("eve@example.org", good), "-19976: FAILURE invalidPassword").await;
        seen.expects(LOGIN, login("nonsense", good), "INVALID_EMAIL: FAILURE invalidEmail").await;
        seen.expects(LOGIN, json!({}), "INVALID_EMAIL: FAILURE invalidEmail").await;

        // An address alone asks for the first factor, whether it is known or not.
        let (known, unknown) = (json!({ "loginId": { "email": anna } }), json!({ "loginId": { "email": "eve@example.org" } }));
        let first = "REQUIRE_FIRST_FACTOR: FAILURE Unknown _state";
        let state = seen.expects(LOGIN, known, first).await["stateToken"].clone();
        let nobody = seen.expects(LOGIN, unknown, first).await["stateToken"].clone();
        let go_on = |state: &Value, password: &str| json!({ "stateToken": state, "password": password });
        seen.expects(LOGIN, json!({ "stateToken": state }), first).await;
        seen.expects(LOGIN, go_on(&state, "wrong one"), "-19976: FAILURE invalidPassword").await;
        seen.expects(LOGIN, go_on(&nobody, good), "-19976: FAILURE invalidPassword").await;
        seen.expects(LOGIN, go_on(&state, good), "SUCCESS: SUCCESS").await;
        let swapped = json!({ "stateToken": state, "password": good, "loginId": { "email": "eve@example.org" } });
        for bad in [swapped, go_on(&json!("st.nonsense.x"), good), go_on(&member["sessionToken"], good)] {
            seen.expects(LOGIN, bad, "INVALID_STATE_TOKEN: FAILURE invalidEmail").await;
        }
        world.app.kit.clock.advance(31 * 60_000);
        seen.expects(LOGIN, go_on(&state, good), "INVALID_STATE_TOKEN: FAILURE invalidEmail").await;

        // A password that must be set again: said to those who know it, ended by recovery.
        let path = format!("/_api/identity/v1/members/{}/refuse-password", text(&member["identity"]["id"]));
        let visitor = world.visitor().await;
        assert_eq!(world.call(&visitor, &path, &json!({})).await.verdict(), "403 PERMISSION_DENIED");
        assert_eq!(world.app.app().post(&path.replace(text(&member["identity"]["id"]).as_str(), "nobody"), &json!({})).await.verdict(), "404 NOT_FOUND");
        assert_eq!(world.app.app().post(&path, &json!({})).await.verdict(), "200");
        seen.expects(LOGIN, login(anna, good), "-19973: FAILURE resetPassword").await;
        seen.expects(LOGIN, login(anna, "wrong one"), "-19976: FAILURE invalidPassword").await;
        world.call(&visitor, "/v1/send-email", &json!({ "email": anna })).await;
        let link = world.link_to(anna).await.unwrap();
        let body = json!({ "recoveryToken": link.split_once("token=").unwrap().1, "password": "another long phrase" });
        seen.expects("/v1/recover", body, "SUCCESS: SUCCESS").await;
        seen.expects(LOGIN, login(anna, "another long phrase"), "SUCCESS: SUCCESS").await;

        // Everything a site can ask of new members, one after the other.
        world.policy(json!({ "requireEmailVerification": true, "requireOwnerApproval": true,
            "requiredFields": ["nickname", "firstName", "nickname"] })).await;
        let ben = "ben@example.org";
        let waits = "REQUIRE_EMAIL_VERIFICATION: EMAIL_VERIFICATION_REQUIRED";
        let registered = seen.expects(REGISTER, login(ben, good), waits).await;
        let first = world.app.code_to(ben).await;
        assert_eq!(registered["identity"]["status"]["reasons"], json!([
            "PENDING_EMAIL_VERIFICATION_REQUIRED", "PENDING_REQUIRED_FIELDS_MISSING", "PENDING_ADMIN_APPROVAL_REQUIRED"]));
        seen.expects(LOGIN, login(ben, good), waits).await;
        world.app.code_to(ben).await;
        let again = json!({ "stateToken": registered["stateToken"] });
        seen.expects("/v1/auth/resend", again, waits).await;
        let code = world.app.code_to(ben).await;
        let verify = |code: &str| json!({ "code": code, "stateToken": registered["stateToken"] });
        seen.expects(VERIFY, verify(&first), "VERIFICATION_FAILED: FAILURE invalidEmail").await;
        let missing = "REQUIRE_MISSING_FIELDS: FAILURE Unknown _state";
        let missing_fields = seen.expects(VERIFY, verify(&code), missing).await;
        assert_eq!(missing_fields["additionalData"]["missingFields"]["listValue"]["value"],
            json!([{ "strValue": "firstName" }, { "strValue": "nickname" }]));
        let state = seen.expects(LOGIN, login(ben, good), missing).await["stateToken"].clone();
        let tell = |state: &Value, profile: Value| json!({ "stateToken": state, "profile": profile });
        seen.expects(LOGIN, tell(&state, json!({ "firstName": "Ben", "nickname": " " })), missing).await;
        let slug = tell(&state, json!({ "nickname": "ben", "slug": "root", "labels": ["x"] }));
        let approval = "REQUIRE_OWNER_APPROVAL: OWNER_APPROVAL_REQUIRED";
        let pending_approval = seen.expects(LOGIN, slug, approval).await;
        assert_eq!(pending_approval["identity"]["identityProfile"], json!({ "firstName": "Ben", "nickname": "ben" }), "nothing else");
        for state in [&state, &missing_fields["stateToken"]] {
            seen.expects(LOGIN, tell(state, json!({ "nickname": "eve" })), "INVALID_STATE_TOKEN: FAILURE invalidEmail").await;
        }
        seen.expects(LOGIN, login(ben, good), approval).await;
        let approve = format!("/members/v1/members/{}/approve", text(&pending_approval["identity"]["id"]));
        assert_eq!(world.app.app().post(&approve, &json!({})).await.verdict(), "200");
        let ben = seen.expects(LOGIN, login(ben, good), "SUCCESS: SUCCESS").await;

        // A code that no sign-in waits for proves the address and signs no member in.
        let start = json!({ "identityId": ben["identity"]["id"], "target": "EMAIL" });
        let started = world.app.app().post("/v1/start", &start).await.json();
        let code = world.app.code_to("ben@example.org").await;
        let body = json!({ "code": code, "stateToken": started["verificationId"] });
        let checked = seen.expects(VERIFY, body, "STATUS_CHECK: FAILURE Unknown _state").await;
        assert!(checked["sessionToken"].is_null());

        // Who may not sign in at all.
        let block = format!("/members/v1/members/{}/block", text(&ben["identity"]["id"]));
        assert_eq!(world.app.app().post(&block, &json!({})).await.verdict(), "200");
        seen.expects(LOGIN, login("ben@example.org", good), "MEMBER_BLOCKED: FAILURE invalidEmail").await;

        // The captcha, with each place a client puts its answer in.
        world.policy(json!({ "requireCaptcha": true, "requireEmailVerification": false, "requireOwnerApproval": false,
            "requiredFields": [] })).await;
        let answered = |mut body: Value, tokens: Value| {
            body["captchaTokens"] = tokens;
            body
        };
        for path in [LOGIN, REGISTER] {
            let body = || login(&format!("cleo-{}@example.org", path.len()), good);
            seen.expects(path, body(), "-19971: FAILURE missingCaptchaToken").await;
            seen.expects(path, answered(body(), json!([{}])), "-19971: FAILURE missingCaptchaToken").await;
            let bad = answered(body(), json!([{ "Recaptcha": "nonsense" }]));
            seen.expects(path, bad, "-19970: FAILURE invalidCaptchaToken").await;
        }
        let answer = world.captcha().await;
        let challenge = answer.split_once('~').unwrap().0;
        for lazy in [challenge.to_owned(), format!("{challenge}~"), format!("{challenge}~x"), format!("{answer}0~1")] {
            let body = answered(login("dora@example.org", good), json!([{ "InvisibleRecaptcha": lazy }]));
            seen.expects(REGISTER, body, "-19970: FAILURE invalidCaptchaToken").await;
        }
        let with = |email: &str, answer: &str| answered(login(email, good), json!([{ "InvisibleRecaptcha": answer }]));
        seen.expects(REGISTER, with("dora@example.org", &answer), "SUCCESS: SUCCESS").await;
        seen.expects(LOGIN, with("dora@example.org", &answer), "-19970: FAILURE invalidCaptchaToken").await;
        let late = world.captcha().await;
        world.app.kit.clock.advance(11 * 60_000);
        seen.expects(LOGIN, with("dora@example.org", &late), "-19970: FAILURE invalidCaptchaToken").await;
        let own = json!([{ "recaptchaForClientSiteKey": { "token": world.captcha().await } }]);
        seen.expects(LOGIN, answered(login("dora@example.org", good), own), "SUCCESS: SUCCESS").await;

        // Nothing of the protocol's table is left out; the two of a second factor come with it.
        let states = ["REQUIRE_EMAIL_VERIFICATION", "REQUIRE_FIRST_FACTOR", "REQUIRE_MISSING_FIELDS",
            "REQUIRE_OWNER_APPROVAL", "STATUS_CHECK", "SUCCESS"];
        assert_eq!(seen.states.iter().map(String::as_str).collect::<Vec<_>>(), states);
        for outcome in ["invalidEmail", "invalidPassword", "resetPassword", "missingCaptchaToken", "invalidCaptchaToken"] {
            assert!(seen.outcomes.contains(&("login", format!("FAILURE {outcome}"))), "login {outcome}");
        }
        for outcome in ["invalidEmail", "emailAlreadyExists", "missingCaptchaToken", "invalidCaptchaToken"] {
            assert!(seen.outcomes.contains(&("register", format!("FAILURE {outcome}"))), "register {outcome}");
        }
        assert!(!seen.outcomes.iter().any(|it| it.0 == "login" && it.1 == "TypeError"));
    }

    async fn captcha_answer_counts_once(engine) {
        let world = World::new(engine).await;
        world.policy(json!({ "requireCaptcha": true })).await;
        let (answer, visitor) = (world.captcha().await, world.visitor().await);
        let mut tasks = Vec::new();
        for n in 0..20 {
            let (app, visitor) = (world.app.app.clone(), visitor.clone());
            let mut body = login(&format!("p{n}@example.org"), PASSWORD);
            body["captchaTokens"] = json!([{ "Recaptcha": answer }]);
            tasks.push(tokio::spawn(async move {
                let request = Request::builder().method(Method::POST).uri("/v2/register").header("host", "localhost");
                let request = request.header("authorization", visitor).body(Body::from(body.to_string())).unwrap();
                stoa_http::service(app).oneshot(request).await.unwrap().status()
            }));
        }
        let mut good = 0;
        for task in tasks {
            good += usize::from(task.await.unwrap() == StatusCode::OK);
        }
        assert_eq!(good, 1);
    }

    async fn missing_fields_are_named_on_the_pages(engine) {
        let world = World::new(engine).await;
        world.policy(json!({ "requiredFields": ["lastName"], "requireCaptcha": true })).await;
        let browser = world.browser();
        let token = text(&browser.start(json!({ "kind": "SIGN_UP" })).await["token"]);
        let up = |captcha: Value| json!({ "type": "SIGN_UP", "email": "b@example.org", "password": PASSWORD,
            "profile": {}, "captcha": captcha });
        assert_eq!(browser.answer(&token, up(json!(null))).await["problems"][0]["code"], "-19971");
        assert_eq!(browser.answer(&token, up(json!("x"))).await["problems"][0]["code"], "-19970");
        let view = browser.answer(&token, up(json!(world.captcha().await))).await;
        assert_eq!(view["step"], json!({ "type": "MISSING_FIELDS", "fields": [{ "name": "lastName", "required": true }] }));
        let tell = |name: &str| json!({ "type": "MISSING_FIELDS", "profile": { "lastName": name } });
        let view = browser.answer(&token, tell("  ")).await;
        assert_eq!((&view["problems"][0]["field"], &view["problems"][0]["code"]), (&json!("lastName"), &json!("REQUIRED")));
        assert!(!browser.has("stoa-session"));
        let view = browser.answer(&token, tell("Berg")).await;
        assert_eq!((&view["step"]["type"], browser.has("stoa-session")), (&json!("DONE"), true));
    }
}
