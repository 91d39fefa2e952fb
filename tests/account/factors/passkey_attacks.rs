//! Passkeys at sign-in: as their owners show them, and as others try to (docs/security.md).

use super::{
    passkeys::{dishonest, honest, options_of},
    *,
};
use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use stoa_identity::defence::throttle::{Rate, ThrottleLimits};
use stoa_testkit::passkey::{Algorithm, Ceremony, Passkey};

const MINUTE: i64 = 60_000;
pub(super) const REFUSED: (&str, Option<&str>) = ("SIGN_IN", Some("PASSKEY_REFUSED"));
const DONE: (&str, Option<&str>) = ("DONE", None);

/// A member with a passkey.
struct Holder {
    email: String,
    /// Of the session in which it was added.
    access: String,
    factor: String,
    passkey: Passkey,
    recovery_codes: Vec<String>,
}

/// What a browser is asked.
#[derive(Clone)]
struct Question {
    id: String,
    options: Value,
}

impl Question {
    fn of_page(view: &Value) -> Self {
        let asked = &view["step"]["passkey"];
        let options = serde_json::from_str(asked["options"].as_str().unwrap_or_else(|| panic!("{view}"))).unwrap();
        Self { id: text(&asked["challengeId"]), options }
    }

    fn of_data(data: &Value) -> Self {
        Self { id: text(&data["challengeId"]), options: options_of(data) }
    }

    fn of_call(answer: &Value) -> Self {
        assert_eq!(answer["mfaChallengeData"]["factorType"], "WEBAUTHN", "{answer}");
        Self::of_data(&answer["mfaChallengeData"]["verificationChallengeData"]["webauthnData"])
    }

    fn answered(&self, passkey: &mut Passkey) -> Value {
        self.answered_with(passkey, &honest())
    }

    fn answered_with(&self, passkey: &mut Passkey, ceremony: &Ceremony) -> Value {
        json!({ "challengeId": self.id, "credential": passkey.get(&self.options, ceremony) })
    }
}

/// An input of the pages.
fn passkey_input(answer: &Value) -> Value {
    json!({ "type": "PASSKEY", "challengeId": answer["challengeId"], "credential": answer["credential"], "remember": false })
}

pub(super) fn at(view: &Value) -> (&str, Option<&str>) {
    (view["step"]["type"].as_str().unwrap(), view["problems"][0]["code"].as_str())
}

impl World {
    async fn holder(&self, email: &str) -> Holder {
        let access = self.member_access(email).await;
        assert_eq!(self.prove(&access, json!({ "password": PASSWORD })).await, "200");
        let (passkey, confirmed) = self.add_passkey(&access, "Laptop").await;
        let factor = text(&confirmed["factor"]["id"]);
        let recovery_codes = confirmed["recoveryCodes"].as_array().unwrap().iter().map(text).collect();
        self.app.mail.take();
        Holder { email: email.to_owned(), access, factor, passkey, recovery_codes }
    }

    /// One who has shown the password: a state token, and what a passkey is to sign.
    async fn waiting(&self, email: &str) -> (Value, Question) {
        let asked = self.login(email, PASSWORD).await;
        assert_eq!(asked["state"], "MFA_CHALLENGE", "{asked}");
        (asked["stateToken"].clone(), Question::of_call(&asked))
    }

    async fn show(&self, state_token: &Value, answer: &Value) -> Reply {
        let body = json!({ "stateToken": state_token, "webauthnData": answer });
        self.call(&self.visitor().await, "/v2/WEBAUTHN/verify", &body).await
    }

    /// What a passkey is to sign as proof in a session.
    async fn asked_for_proof(&self, access: &str) -> Question {
        let (id, options) = self.ask_proof(access).await;
        Question { id, options }
    }

    /// A site on the same host that lets members add factors, and a client of it.
    async fn another_site(&self) -> Client {
        let site = self.app.kit.store.site_create("Other", &self.app.kit.world).await.unwrap();
        let (_, key) = self.app.app.identity.api_key_create(&site.id, "other").await.unwrap();
        let headers = [("authorization", key.expose()), ("content-type", "application/json")];
        let policy = json!({ "signOnPolicy": { "secondFactor": "OPTIONAL" } });
        let reply = send(&self.app, Method::PATCH, "/v1/sign-on-policies", &headers, Some(&policy)).await;
        assert_eq!(reply.verdict(), "200");
        let draft = NewClient {
            name: "Other".to_owned(),
            redirect_uris: vec![CALLBACK.to_owned()],
            origins: vec![APP.to_owned()],
            ..NewClient::default()
        };
        self.app.app.identity.client_create(&site.id, draft).await.unwrap().0
    }
}

impl Browser<'_> {
    pub(super) async fn sign_in_page(&self) -> Value {
        self.start(json!({ "kind": "SIGN_IN" })).await
    }

    /// Shows a passkey where the view asks for one.
    pub(super) async fn show(&self, view: &Value, passkey: &mut Passkey) -> Value {
        self.show_with(view, passkey, &honest()).await
    }

    async fn show_with(&self, view: &Value, passkey: &mut Passkey, ceremony: &Ceremony) -> Value {
        let answer = Question::of_page(view).answered_with(passkey, ceremony);
        self.answer(&text(&view["token"]), passkey_input(&answer)).await
    }
}

on_both_engines! {
    async fn member_signs_in_by_a_passkey_alone_and_as_second_factor(engine) {
        let world = World::with_factors(engine).await;
        let mut anna = world.holder("anna@example.org").await;
        // The first view of the page asks already, so that the browser can offer it at the address field.
        let browser = world.browser();
        let view = browser.sign_in_page().await;
        let question = Question::of_page(&view);
        assert_eq!((&question.options["rpId"], &question.options["userVerification"]), (&json!("localhost"), &json!("required")));
        assert!(view["step"]["passkey"]["expiresDate"].is_string(), "{view}");
        let again = browser.flow_view(&text(&view["token"])).await.json();
        assert_ne!(Question::of_page(&again).id, question.id, "each view has a challenge of its own");
        assert_eq!(at(&browser.show(&again, &mut anna.passkey).await), DONE);
        assert!(browser.has("stoa-session"));
        assert_eq!(world.events("passkey_use").await, 1, "it is told from a sign-in by password");
        // Behind the password it is the second factor; then this browser need not ask again.
        let browser = world.browser();
        let view = browser.password(&anna.email).await;
        assert_eq!(view["step"]["factors"], json!(["WEBAUTHN", "RECOVERY_CODE"]));
        let question = Question::of_page(&view);
        assert_eq!(question.options["allowCredentials"][0]["id"], URL_SAFE_NO_PAD.encode(&anna.passkey.id));
        let mut input = passkey_input(&question.answered(&mut anna.passkey));
        input["remember"] = json!(true);
        assert_eq!(at(&browser.answer(&text(&view["token"]), input).await), DONE);
        assert_eq!(at(&browser.password(&anna.email).await), DONE);
        // By call, in both forms of the wire.
        let asked = world.login(&anna.email, PASSWORD).await;
        let data = &asked["mfaChallengeData"]["verificationChallengeData"]["webauthnData"];
        let question = Question::of_call(&asked);
        let bytes = STANDARD.decode(text(&data["challenge"])).unwrap();
        assert_eq!(question.options["challenge"], URL_SAFE_NO_PAD.encode(bytes));
        assert_eq!(data["allowCredentials"][0]["id"], STANDARD.encode(&anna.passkey.id));
        let answer = question.answered(&mut anna.passkey);
        let signed = world.show(&asked["stateToken"], &answer).await.json();
        assert_eq!((&signed["state"], &signed["identity"]["email"]["address"]), (&json!("SUCCESS"), &json!(anna.email)));
        // Another challenge where it is only chosen, and a recovery code in its place.
        let chosen = world.show(&asked["stateToken"], &json!({})).await.json();
        assert_ne!(Question::of_call(&chosen).id, question.id);
        assert_eq!(world.verify_recovery(&chosen["stateToken"], &anna.recovery_codes[0]).await.json()["state"], "SUCCESS");
        // Where members may add none any more, who has one shows it still.
        world.policy(json!({ "secondFactor": "OFF" })).await;
        let browser = world.browser();
        let view = browser.sign_in_page().await;
        assert_eq!(at(&browser.show(&view, &mut anna.passkey).await), DONE);
        assert_eq!(world.events("passkey_use").await, 2);
    }

    async fn client_of_others_waits_for_an_answer_behind_a_passkey_too(engine) {
        let world = World::with_factors(engine).await;
        let mut anna = world.holder("anna@example.org").await;
        let (partner, _) = world.app.partner("items:read").await;
        let path = authorize_path(&partner, &[("scope", "items:read")]);
        // In the place of the password, and behind it.
        for has_password in [false, true] {
            let browser = world.browser();
            let token = flow_of(&browser.open(&path).await);
            let sign_in = json!({ "type": "SIGN_IN", "email": anna.email, "password": PASSWORD });
            let view = match has_password {
                true => browser.answer(&token, sign_in).await,
                false => browser.flow_view(&token).await.json(),
            };
            let view = browser.show(&view, &mut anna.passkey).await;
            assert_eq!((&view["step"]["type"], &view["step"]["account"]), (&json!("CONSENT"), &json!(anna.email)));
            assert_eq!(world.count("consent").await, 0);
            if has_password {
                let view = browser.answer(&token, json!({ "type": "ALLOW" })).await;
                assert!(parameters(view["step"]["url"].as_str().unwrap(), '?').contains_key("code"), "{view}");
            }
        }
    }

    async fn passkey_of_another_site_or_page_counts_nowhere(engine) {
        let world = World::with_factors(engine).await;
        let mut anna = world.holder("anna@example.org").await;
        let client = world.another_site().await;
        let browser = world.browser();
        let there = browser.start(json!({ "kind": "SIGN_IN", "clientId": client.id })).await;
        assert_eq!(at(&browser.show(&there, &mut anna.passkey).await), REFUSED, "its site is not this one");
        // What was asked at the other site counts for nothing here.
        let there = browser.start(json!({ "kind": "SIGN_IN", "clientId": client.id })).await;
        let here = browser.start(json!({ "kind": "SIGN_IN", "clientId": world.client.id })).await;
        let answer = Question::of_page(&there).answered(&mut anna.passkey);
        assert_eq!(at(&browser.answer(&text(&here["token"]), passkey_input(&answer)).await), REFUSED);
        let mut view = browser.flow_view(&text(&here["token"])).await.json();
        for (what, ceremony) in dishonest("webauthn.create") {
            view = browser.show_with(&view, &mut anna.passkey, &ceremony).await;
            assert_eq!(at(&view), REFUSED, "{what}");
            assert_eq!(view["problems"][0]["field"], "passkey");
            let (token, question) = world.waiting(&anna.email).await;
            let answer = question.answered_with(&mut anna.passkey, &ceremony);
            assert_eq!(world.show(&token, &answer).await.verdict(), WRONG, "{what}");
        }
        assert!(!browser.has("stoa-session"));
        // A site without members' factors, and those who run one, are shown nothing of it.
        let nobody = World::new(engine).await;
        assert!(nobody.browser().sign_in_page().await["step"]["passkey"].is_null());
        let alone = World::with_factors(engine).await;
        let desk = alone.browser();
        let owner = desk.start(json!({ "kind": "OWNER_SIGN_IN" })).await;
        assert!(owner["step"]["passkey"].is_null(), "{owner}");
        let input = passkey_input(&Question::of_page(&view).answered(&mut anna.passkey));
        assert_eq!(at(&desk.answer(&text(&owner["token"]), input).await), ("SIGN_IN", Some("STEP_CHANGED")));
        assert_eq!(at(&browser.show(&view, &mut anna.passkey).await), DONE, "an honest browser");
    }

    async fn assertion_counts_once_among_a_hundred(engine) {
        let world = World::with_factors(engine).await;
        let mut anna = world.holder("anna@example.org").await;
        let before = world.events("member_sign_in").await;
        // In the place of a password.
        let browser = world.browser();
        let view = browser.sign_in_page().await;
        let input = passkey_input(&Question::of_page(&view).answered(&mut anna.passkey));
        let path = format!("/_api/account/v1/flows/{}", text(&view["token"]));
        let tries = join_all((0..100).map(|_| browser.ask(Method::POST, &path, Some(&input)))).await;
        let done = tries.iter().filter(|it| it.json()["step"]["type"] == "DONE").count();
        assert_eq!((done, world.events("member_sign_in").await - before), (1, 1));
        assert!(tries.iter().all(|it| ["200", GONE].contains(&it.verdict().as_str())));
        // As second factor, then with another state token.
        world.app.kit.clock.advance(60 * MINUTE);
        let (token, question) = world.waiting(&anna.email).await;
        let answer = question.answered(&mut anna.passkey);
        let tries = join_all((0..100).map(|_| world.show(&token, &answer))).await;
        let verdicts: Vec<String> = tries.iter().map(Reply::verdict).collect();
        assert_eq!(verdicts.iter().filter(|it| *it == "200").count(), 1, "{verdicts:?}");
        assert!(verdicts.iter().all(|it| ["200", WRONG, "429 THROTTLED_FEATURE"].contains(&it.as_str())), "{verdicts:?}");
        world.app.kit.clock.advance(MINUTE);
        let (other, _) = world.waiting(&anna.email).await;
        assert_eq!(world.show(&other, &answer).await.verdict(), WRONG);
        // Those that could count yet are written down, and no others.
        assert!(world.count("passkey_challenge").await <= 3);
    }

    async fn challenge_of_a_passkey_is_for_one_use_member_and_moment(engine) {
        let world = World::with_factors(engine).await;
        let (mut anna, mut ben) = (world.holder("anna@example.org").await, world.holder("ben@example.org").await);
        let (token, question) = world.waiting(&anna.email).await;
        let (others, of_ben) = world.waiting(&ben.email).await;
        let wrong = async |answer: &Value, what: &str| assert_eq!(world.show(&token, answer).await.verdict(), WRONG, "{what}");
        // Another member's passkey, challenge or both.
        wrong(&question.answered(&mut ben.passkey), "another's passkey").await;
        wrong(&of_ben.answered(&mut anna.passkey), "another's challenge").await;
        wrong(&of_ben.answered(&mut ben.passkey), "both").await;
        assert_eq!(world.show(&others, &of_ben.answered(&mut ben.passkey)).await.verdict(), "200");
        // One for something else, and for this elsewhere.
        let browser = world.browser();
        let view = browser.sign_in_page().await;
        wrong(&Question::of_page(&view).answered(&mut anna.passkey), "in the place of a password").await;
        let proof = world.asked_for_proof(&anna.access).await;
        wrong(&proof.answered(&mut anna.passkey), "a proof").await;
        let input = passkey_input(&question.answered(&mut anna.passkey));
        assert_eq!(at(&browser.answer(&text(&view["token"]), input).await), REFUSED, "a second factor alone");
        let input = passkey_input(&proof.answered(&mut anna.passkey));
        assert_eq!(at(&browser.answer(&text(&view["token"]), input).await), REFUSED, "a proof");
        let as_proof = async |answer: Value| world.prove(&anna.access, json!({ "webauthnData": answer })).await;
        assert_eq!(as_proof(question.answered(&mut anna.passkey)).await, WRONG);
        assert_eq!(as_proof(world.asked_for_proof(&ben.access).await.answered(&mut anna.passkey)).await, WRONG);
        let signed = world.verify_recovery(&token, &anna.recovery_codes[0]).await.json();
        let session = world.access_of(&signed["sessionToken"]).await;
        let answer = json!({ "webauthnData": proof.answered(&mut anna.passkey) });
        assert_eq!(world.prove(&session, answer).await, WRONG, "another session");
        // Of another flow of the pages, whose browser is the same.
        let other = browser.sign_in_page().await;
        let input = passkey_input(&Question::of_page(&other).answered(&mut anna.passkey));
        let view = browser.answer(&text(&view["token"]), input).await;
        assert_eq!(at(&view), REFUSED, "another flow");
        assert_eq!(at(&browser.show(&view, &mut anna.passkey).await), DONE);
        // One that was not made here, or whose id is another's.
        let mut made_up = question.clone();
        for bytes in [vec![0_u8; 56], vec![1; 32], Vec::new()] {
            made_up.options["challenge"] = json!(URL_SAFE_NO_PAD.encode(bytes));
            wrong(&made_up.answered(&mut anna.passkey), "made up").await;
        }
        let swapped = Question { id: of_ben.id.clone(), options: question.options.clone() };
        wrong(&swapped.answered(&mut anna.passkey), "another id").await;
        // Too old, though the sign-in waits still.
        world.app.kit.clock.advance(5 * MINUTE);
        wrong(&question.answered(&mut anna.passkey), "too old").await;
        let (token, question) = world.waiting(&anna.email).await;
        // The factors are others by now.
        assert_eq!(world.prove_by_passkey(&anna.access, &mut anna.passkey).await, "200");
        assert_eq!(world.post_own(&anna.access, "recovery-codes", json!({})).await.verdict(), "200");
        assert_eq!(world.show(&token, &question.answered(&mut anna.passkey)).await.verdict(), GONE);
        let (token, _) = world.waiting(&anna.email).await;
        assert_eq!(world.show(&token, &question.answered(&mut anna.passkey)).await.verdict(), WRONG);
    }

    async fn passkey_is_passed_by_by_no_way_in_and_no_weaker_factor(engine) {
        let world = World::with_factors(engine).await;
        let mut anna = world.holder("anna@example.org").await;
        let (token, _) = world.waiting(&anna.email).await;
        let visitor = world.visitor().await;
        let older = json!({ "email": anna.email, "password": PASSWORD });
        assert_eq!(world.call(&visitor, "/wix-sm/api/v1/auth/api/v1/auth/login", &older).await.verdict(), "403 REQUIRE_MFA");
        // The ways in that the packages declare for themselves take nothing, also beside the right password.
        for name in ["webauthn", "emailOtp"] {
            let login = json!({ "loginId": { "email": anna.email }, "password": PASSWORD, name: {} });
            let reply = world.call(&visitor, "/v2/login", &login).await;
            assert_eq!(reply.verdict(), "501 UNIMPLEMENTED");
            assert!(reply.json()["message"].as_str().unwrap().contains(name), "{}", reply.json());
        }
        // Kinds that she has not, and the password as proof.
        assert_eq!(world.verify_totp(&token, "123456").await.verdict(), WRONG);
        for (kind, data) in [("TOTP", "totpData"), ("EMAIL", "emailData")] {
            let body = json!({ "stateToken": token, data: {} });
            assert_eq!(world.call(&visitor, &format!("/v2/{kind}/verify"), &body).await.verdict(), "400 validationError");
        }
        world.app.kit.clock.advance(11 * MINUTE);
        assert_eq!(world.prove(&anna.access, json!({ "password": PASSWORD })).await, NEEDED);
        let browser = world.browser();
        let view = browser.password(&anna.email).await;
        let typed = json!({ "type": "SECOND_FACTOR", "factor": "WEBAUTHN", "code": "{}", "remember": false });
        assert_eq!(at(&browser.answer(&text(&view["token"]), typed).await), ("SECOND_FACTOR", Some("STEP_CHANGED")));
        let put_off = browser.answer(&text(&view["token"]), json!({ "type": "LATER" })).await;
        assert_eq!(at(&put_off), ("SECOND_FACTOR", Some("STEP_CHANGED")));
        // A recovery link sets the password and asks all the same, by call and on the pages.
        let recover = json!({ "recoveryToken": world.recovery_link(&anna.email).await, "password": PASSWORD });
        let asked = world.call(&visitor, "/v1/recover", &recover).await.json();
        let answer = Question::of_call(&asked).answered(&mut anna.passkey);
        assert_eq!(world.show(&asked["stateToken"], &answer).await.json()["state"], "SUCCESS");
        // A passkey shown on a page that doesn't ask for one changes nothing.
        let sign_in = browser.sign_in_page().await;
        let input = passkey_input(&Question::of_page(&sign_in).answered(&mut anna.passkey));
        let switched = browser.answer(&text(&sign_in["token"]), json!({ "type": "SWITCH", "to": "SIGN_UP" })).await;
        assert_eq!(at(&switched).0, "SIGN_UP");
        assert_eq!(at(&browser.answer(&text(&sign_in["token"]), input).await), ("SIGN_UP", Some("STEP_CHANGED")));
        assert!(!browser.has("stoa-session"));
        // Nor does a passkey open what a password would not.
        let refuse = format!("{OWN}/members/{}/refuse-password", world.id_of(&anna.email).await);
        assert_eq!(world.app.owner().await.post(&refuse, &json!({})).await.verdict(), "200");
        let browser = world.browser();
        let view = browser.sign_in_page().await;
        assert_eq!(at(&browser.show(&view, &mut anna.passkey).await), ("SIGN_IN", Some("-19973")));
        let mut ben = world.holder("ben@example.org").await;
        let block = format!("/members/v1/members/{}/block", world.id_of(&ben.email).await);
        assert_eq!(world.app.app().post(&block, &json!({})).await.verdict(), "200");
        let view = browser.sign_in_page().await;
        assert_eq!(at(&browser.show(&view, &mut ben.passkey).await), ("SIGN_IN", Some("MEMBER_BLOCKED")));
        assert!(!browser.has("stoa-session"));
    }

    async fn passkey_that_was_removed_or_copied_signs_nobody_in(engine) {
        let world = World::with_factors(engine).await;
        let mut anna = world.holder("anna@example.org").await;
        let browser = world.browser();
        // A copy that has counted less than its original by now.
        let mut copy = anna.passkey.copy();
        let view = browser.sign_in_page().await;
        assert_eq!(at(&browser.show(&view, &mut anna.passkey).await), DONE);
        let thief = world.browser();
        let view = thief.sign_in_page().await;
        assert_eq!(at(&thief.show(&view, &mut copy).await), REFUSED);
        let (token, question) = world.waiting(&anna.email).await;
        copy.counter = 0;
        assert_eq!(world.show(&token, &question.answered(&mut copy)).await.verdict(), WRONG, "one that stops counting");
        assert_eq!(world.events("passkey_copy").await, 2);
        // One that was no copy may not become one.
        let (token, question) = world.waiting(&anna.email).await;
        let mut synced = anna.passkey.copy();
        synced.backup = (true, true);
        assert_eq!(world.show(&token, &question.answered(&mut synced)).await.verdict(), WRONG);
        // Removed while it is asked for: alone, and as second factor.
        let view = browser.sign_in_page().await;
        let (token, question) = world.waiting(&anna.email).await;
        assert_eq!(world.prove_by_passkey(&anna.access, &mut anna.passkey).await, "200");
        let remove = format!("factors/{}", anna.factor);
        assert_eq!(world.own(&anna.access, Method::DELETE, &remove, json!({})).await.verdict(), "200");
        assert_eq!(at(&browser.show(&view, &mut anna.passkey).await), REFUSED);
        assert_eq!(world.show(&token, &question.answered(&mut anna.passkey)).await.verdict(), GONE);
        assert_eq!(world.login(&anna.email, PASSWORD).await["state"], "SUCCESS");
        // Removed while many show it: those before may sign in, none after.
        let ben = world.holder("ben@example.org").await;
        let mut inputs = Vec::new();
        let mut passkey = ben.passkey.copy();
        for _ in 0..20 {
            let browser = world.browser();
            let view = browser.sign_in_page().await;
            let input = passkey_input(&Question::of_page(&view).answered(&mut passkey));
            inputs.push((browser, text(&view["token"]), input));
        }
        let (removed, views) = futures_util::future::join(
            async {
                let access = &ben.access;
                let answer = world.asked_for_proof(access).await;
                let mut last = passkey.copy();
                last.counter += 1_000;
                assert_eq!(world.prove(access, json!({ "webauthnData": answer.answered(&mut last) })).await, "200");
                world.own(access, Method::DELETE, &format!("factors/{}", ben.factor), json!({})).await.verdict()
            },
            join_all(inputs.iter().map(|(browser, token, input)| browser.answer(token, input.clone()))),
        )
        .await;
        assert_eq!(removed, "200");
        assert!(views.iter().all(|it| [DONE, REFUSED].contains(&at(it))), "{views:?}");
        for ((browser, ..), view) in inputs.iter().zip(&views) {
            assert_eq!(browser.has("stoa-session"), at(view) == DONE, "{view}");
        }
        let browser = world.browser();
        let view = browser.sign_in_page().await;
        passkey.counter += 2_000;
        assert_eq!(at(&browser.show(&view, &mut passkey).await), REFUSED);
    }

    async fn new_password_ends_no_passkey_and_those_who_run_the_site_do(engine) {
        let world = World::with_factors(engine).await;
        // A thief who had the password added one; the owner sets another password by a link.
        let mut thief = world.holder("anna@example.org").await;
        let recover = json!({ "recoveryToken": world.recovery_link(&thief.email).await, "password": ANOTHER });
        let asked = world.call(&world.visitor().await, "/v1/recover", &recover).await.json();
        assert_eq!((&asked["state"], asked.get("sessionToken")), (&json!("MFA_CHALLENGE"), None));
        let browser = world.browser();
        let view = browser.sign_in_page().await;
        assert_eq!(at(&browser.show(&view, &mut thief.passkey).await), DONE, "as docs/second-factors.md says");
        assert_eq!(world.events("passkey_use").await, 1);
        let reset = format!("{OWN}/members/{}/factors", world.id_of(&thief.email).await);
        assert_eq!(world.app.app().delete(&reset).await.json(), json!({ "removed": 1 }));
        let view = browser.sign_in_page().await;
        assert_eq!(at(&browser.show(&view, &mut thief.passkey).await), REFUSED);
        assert_eq!(world.login(&thief.email, ANOTHER).await["state"], "SUCCESS");
    }

    async fn refusal_tells_nothing_of_passkeys_or_accounts(engine) {
        let world = World::with_factors(engine).await;
        let (anna, ben) = (world.holder("anna@example.org").await, world.holder("ben@example.org").await);
        let browser = world.browser();
        let view = browser.sign_in_page().await;
        let asked = Question::of_page(&view).options;
        assert!(asked.get("allowCredentials").is_none_or(|it| *it == json!([])), "{asked}");
        let options = json!({ "challenge": "", "rp": { "id": "localhost" }, "user": { "id": URL_SAFE_NO_PAD.encode(&anna.passkey.user_handle) } });
        let (unknown, _) = Passkey::create(&options, &honest());
        let (mut other_key, _) = Passkey::create_with(&options, &honest(), Algorithm::Ed25519, (7, (false, false)));
        other_key.id = anna.passkey.id.clone();
        let mut others_name = ben.passkey.copy();
        others_name.user_handle = anna.passkey.user_handle.clone();
        let mut no_name = anna.passkey.copy();
        no_name.user_handle = b"anna@example.org".to_vec();
        let mut refusals = Vec::new();
        for mut passkey in [unknown, other_key, others_name, no_name] {
            let view = browser.flow_view(&text(&view["token"])).await.json();
            let mut refused = browser.show(&view, &mut passkey).await;
            refused["step"]["passkey"] = Value::Null;
            refusals.push(refused);
        }
        let nameless = Ceremony { tells_user: false, ..honest() };
        let view = browser.flow_view(&text(&view["token"])).await.json();
        let mut refused = browser.show_with(&view, &mut anna.passkey.copy(), &nameless).await;
        refused["step"]["passkey"] = Value::Null;
        refusals.push(refused);
        // What is no passkey at all is answered alike.
        for credential in ["", "{}", "null", "[]", "{\"id\":\"AA\",\"type\":\"public-key\",\"response\":{}}"] {
            let input = json!({ "type": "PASSKEY", "challengeId": "x", "credential": credential, "remember": false });
            let mut refused = browser.answer(&text(&view["token"]), input).await;
            refused["step"]["passkey"] = Value::Null;
            refusals.push(refused);
        }
        let long = json!({ "type": "PASSKEY", "challengeId": "x", "credential": " ".repeat(50_000), "remember": false });
        let mut refused = browser.answer(&text(&view["token"]), long).await;
        refused["step"]["passkey"] = Value::Null;
        refusals.push(refused);
        for refused in &refusals {
            assert_eq!(at(refused), REFUSED);
            assert_eq!(refused, &refusals[0]);
        }
        assert_eq!(world.count("passkey_challenge").await, 2, "those with which the passkeys were made");
    }

    async fn passkeys_of_one_network_are_bounded(engine) {
        let address = Rate { burst: 8.0, per_second: 0.01 };
        let throttle = ThrottleLimits { address, ..ThrottleLimits::default() };
        let world = World::with(engine, Config { throttle, ..Config::default() }).await;
        world.policy(json!({ "secondFactor": "OPTIONAL" })).await;
        let mut anna = world.holder("anna@example.org").await;
        // Those that are right don't count.
        for _ in 0..10 {
            let browser = world.browser();
            let view = browser.sign_in_page().await;
            assert_eq!(at(&browser.show(&view, &mut anna.passkey).await), DONE);
        }
        let written = world.count("passkey_challenge").await;
        let browser = world.browser();
        let mut view = browser.sign_in_page().await;
        let options = json!({ "challenge": "", "rp": { "id": "localhost" }, "user": { "id": "AAAA" } });
        let (mut unknown, _) = Passkey::create(&options, &honest());
        let mut codes = Vec::new();
        for _ in 0..12 {
            view = browser.show(&view, &mut unknown).await;
            codes.push(text(&view["problems"][0]["code"]));
        }
        assert!(codes[..8].iter().all(|it| it == "PASSKEY_REFUSED"), "{codes:?}");
        assert!(codes[8..].iter().all(|it| it == "THROTTLED_FEATURE"), "{codes:?}");
        assert_eq!(world.count("passkey_challenge").await, written, "who shows none fills no table");
        // What hasn't the form of one counts as well.
        world.app.kit.clock.advance(20 * MINUTE);
        let junk = json!({ "type": "PASSKEY", "challengeId": "x", "credential": "{}", "remember": false });
        let mut codes = Vec::new();
        for _ in 0..10 {
            view = browser.answer(&text(&view["token"]), junk.clone()).await;
            codes.push(text(&view["problems"][0]["code"]));
        }
        assert!(codes[..8].iter().all(|it| it == "PASSKEY_REFUSED"), "{codes:?}");
        assert!(codes[8..].iter().all(|it| it == "THROTTLED_FEATURE"), "{codes:?}");
    }

    async fn factor_that_a_site_requires_may_be_a_passkey(engine) {
        let world = World::with_factors(engine).await;
        for email in ["anna@example.org", "ben@example.org"] {
            world.member_access(email).await;
        }
        world.policy(json!({ "secondFactor": "REQUIRED", "secondFactorGraceDays": 0 })).await;
        world.app.mail.take();
        let (browser, other) = (world.browser(), world.browser());
        let mut view = browser.password("anna@example.org").await;
        let others = other.password("ben@example.org").await;
        assert_eq!((at(&view), at(&others)), (("ENROL_FACTOR", None), ("ENROL_FACTOR", None)));
        let confirm = |question: &Question, credential: &str| json!({ "type": "CONFIRM_PASSKEY", "challengeId": question.id, "credential": credential });
        // One of other pages, one that was made for another's sign-in, one that is shown and not made.
        for (what, ceremony) in dishonest("webauthn.get") {
            let question = Question::of_page(&view);
            let (_, credential) = Passkey::create(&question.options, &ceremony);
            view = browser.answer(&text(&view["token"]), confirm(&question, &credential)).await;
            assert_eq!(at(&view), ("ENROL_FACTOR", Some("PASSKEY_REFUSED")), "{what}");
        }
        let question = Question::of_page(&others);
        let (mut made, credential) = Passkey::create(&question.options, &honest());
        view = browser.answer(&text(&view["token"]), confirm(&question, &credential)).await;
        assert_eq!(at(&view), ("ENROL_FACTOR", Some("PASSKEY_REFUSED")), "another's");
        let question = Question::of_page(&view);
        view = browser.answer(&text(&view["token"]), confirm(&question, &made.get(&question.options, &honest()))).await;
        assert_eq!(at(&view), ("ENROL_FACTOR", Some("PASSKEY_REFUSED")), "one that is shown");
        let shown = passkey_input(&Question::of_page(&view).answered(&mut made));
        assert_eq!(at(&browser.answer(&text(&view["token"]), shown).await), ("ENROL_FACTOR", Some("STEP_CHANGED")));
        assert_eq!((world.count("passkey").await, world.count("recovery_code").await), (0, 0));
        // A hundred at once make one.
        view = browser.flow_view(&text(&view["token"])).await.json();
        let question = Question::of_page(&view);
        let (mut passkey, credential) = Passkey::create(&question.options, &honest());
        let input = confirm(&question, &credential);
        let path = format!("/_api/account/v1/flows/{}", text(&view["token"]));
        let tries = join_all((0..100).map(|_| browser.ask(Method::POST, &path, Some(&input)))).await;
        for reply in &tries {
            assert_eq!(reply.verdict(), "200");
            let view = reply.json();
            assert_eq!(at(&view).0, "RECOVERY_CODES", "{view}");
            assert_ne!(at(&view).1, Some("PASSKEY_REFUSED"), "the page has moved on");
        }
        let kept = browser.flow_view(&text(&view["token"])).await.json();
        assert_eq!((at(&kept).0, kept["step"]["codes"].as_array().map(Vec::len)), ("RECOVERY_CODES", Some(10)), "{kept}");
        assert_eq!((world.count("passkey").await, world.count("recovery_code").await, world.events("factor_add").await), (1, 10, 1));
        assert!(!browser.has("stoa-session"));
        assert_eq!(at(&browser.answer(&text(&view["token"]), json!({ "type": "CODES_KEPT" })).await), DONE);
        assert!(browser.has("stoa-session"));
        // It is what the site requires, alone and behind the password; and the last one stays.
        let browser = world.browser();
        let view = browser.sign_in_page().await;
        assert_eq!(at(&browser.show(&view, &mut passkey).await), DONE);
        let (token, question) = world.waiting("anna@example.org").await;
        let signed = world.show(&token, &question.answered(&mut passkey)).await.json();
        assert_eq!(signed["state"], "SUCCESS");
        let access = world.access_of(&signed["sessionToken"]).await;
        assert_eq!(world.prove_by_passkey(&access, &mut passkey).await, "200");
        let list = world.own(&access, Method::GET, "factors", json!({})).await.json();
        let remove = format!("factors/{}", text(&list["factors"][0]["id"]));
        assert_eq!(world.own(&access, Method::DELETE, &remove, json!({})).await.verdict(), "403 PERMISSION_DENIED");
    }
}
