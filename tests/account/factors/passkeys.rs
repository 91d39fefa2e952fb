//! Passkeys of members (decision 50): how they are added, shown as proof and removed, and what is none.

use super::*;
use stoa_testkit::passkey::{Algorithm, Ceremony, Passkey};

/// The origin of the account pages.
pub(super) const HERE: &str = "http://localhost";

/// As an honest browser on the account pages.
pub(super) fn honest() -> Ceremony {
    Ceremony::at(HERE)
}

/// What a browser is asked that `webauthnData` of an answer holds.
pub(super) fn options_of(data: &Value) -> Value {
    serde_json::from_str(data["publicKeyCredentialRequestOptionsJson"].as_str().unwrap_or_else(|| panic!("{data}")))
        .unwrap()
}

impl World {
    /// Begins to add a passkey: the id of the challenge and what the browser is asked.
    pub(super) async fn begin_passkey(&self, access: &str) -> (String, Value) {
        let begun = self.post_own(access, "factors", json!({ "type": "WEBAUTHN" })).await;
        assert_eq!(begun.verdict(), "200", "{}", begun.json());
        (text(&begun.json()["factor"]["id"]), begun.json()["options"].clone())
    }

    pub(super) async fn confirm_passkey(&self, access: &str, id: &str, credential: &str, name: Value) -> Reply {
        let body = json!({ "credential": credential, "name": name });
        self.post_own(access, &format!("factors/{id}/confirm"), body).await
    }

    /// Adds a passkey in a session in which the member has shown who they are: it, and what was answered.
    pub(super) async fn add_passkey(&self, access: &str, name: &str) -> (Passkey, Value) {
        let (id, options) = self.begin_passkey(access).await;
        let (passkey, credential) = Passkey::create(&options, &honest());
        let added = self.confirm_passkey(access, &id, &credential, json!(name)).await;
        assert_eq!(added.verdict(), "200", "{}", added.json());
        (passkey, added.json())
    }

    /// A member with one passkey and nothing else: an access token and the passkey.
    pub(super) async fn with_passkey(&self, email: &str) -> (String, Passkey) {
        let access = self.member_access(email).await;
        assert_eq!(self.prove(&access, json!({ "password": PASSWORD })).await, "200");
        let (passkey, _) = self.add_passkey(&access, "Laptop").await;
        self.app.mail.take();
        (access, passkey)
    }

    /// Asks for a passkey as proof: the id of the challenge and what the browser is asked.
    pub(super) async fn ask_proof(&self, access: &str) -> (String, Value) {
        let asked = self.post_own(access, "proof", json!({ "webauthnData": {} })).await;
        assert_eq!(asked.verdict(), "200", "{}", asked.json());
        let data = asked.json()["webauthnData"].clone();
        (text(&data["challengeId"]), options_of(&data))
    }

    pub(super) async fn show_proof(&self, access: &str, id: &str, credential: &str) -> String {
        self.prove(access, json!({ "webauthnData": { "challengeId": id, "credential": credential } })).await
    }

    pub(super) async fn prove_by_passkey(&self, access: &str, passkey: &mut Passkey) -> String {
        let (id, options) = self.ask_proof(access).await;
        self.show_proof(access, &id, &passkey.get(&options, &honest())).await
    }

    /// Another session of a member who has a passkey and no other factor.
    pub(super) async fn session_by_passkey(&self, email: &str, passkey: &mut Passkey) -> String {
        let asked = self.login(email, PASSWORD).await;
        let data = asked["mfaChallengeData"]["verificationChallengeData"]["webauthnData"].clone();
        let credential = passkey.get(&options_of(&data), &honest());
        let body = json!({ "stateToken": asked["stateToken"],
            "webauthnData": { "challengeId": data["challengeId"], "credential": credential } });
        let signed = self.call(&self.visitor().await, "/v2/WEBAUTHN/verify", &body).await.json();
        assert_eq!(signed["state"], "SUCCESS", "{signed}");
        self.access_of(&signed["sessionToken"]).await
    }

    /// Factors of a member as their list has them.
    async fn factors_of(&self, access: &str) -> Value {
        self.own(access, Method::GET, "factors", Value::Null).await.json()
    }
}

/// What stands in the middle of a credential's JSON, replaced.
fn with_response(credential: &str, member: &str, value: Value) -> String {
    let mut credential: Value = serde_json::from_str(credential).unwrap();
    credential["response"][member] = value;
    credential.to_string()
}

/// A ceremony that is changed in one way.
fn but(change: impl FnOnce(&mut Ceremony)) -> Ceremony {
    let mut ceremony = honest();
    change(&mut ceremony);
    ceremony
}

/// Each way in which a browser or an authenticator can be another than that of an honest person on the account pages.
pub(super) fn dishonest(other_kind: &'static str) -> Vec<(&'static str, Ceremony)> {
    vec![
        ("a page of others", Ceremony::at("https://evil.example")),
        ("another port of the host", Ceremony::at("http://localhost:8080")),
        ("a page below the host", Ceremony::at("http://accounts.localhost")),
        ("another relying party", but(|it| it.relying_party = Some("evil.example".to_owned()))),
        ("a person who shows nothing", but(|it| it.is_verified = false)),
        ("no person at all", but(|it| it.is_present = false)),
        ("a frame of others", but(|it| it.is_framed = true)),
        ("another ceremony", but(|it| it.kind = Some(other_kind))),
    ]
}

on_both_engines! {
    async fn member_adds_a_passkey_proves_by_it_and_removes_it(engine) {
        let world = World::with_factors(engine).await;
        let access = world.member_access("anna@example.org").await;
        assert_eq!(world.factors_of(&access).await["addable"][0], "WEBAUTHN");
        assert_eq!(world.prove(&access, json!({ "password": PASSWORD })).await, "200");
        world.app.mail.take();

        let begun = world.post_own(&access, "factors", json!({ "type": "WEBAUTHN" })).await;
        assert_eq!(begun.headers["cache-control"], "no-store");
        let (id, options) = (text(&begun.json()["factor"]["id"]), begun.json()["options"].clone());
        assert_eq!((&options["rp"], &options["attestation"]), (&json!({ "id": "localhost", "name": "Test" }), &json!("none")));
        assert_eq!(options["authenticatorSelection"], json!({ "residentKey": "required", "requireResidentKey": true, "userVerification": "required" }));
        assert_eq!((&options["user"]["name"], &options["excludeCredentials"]), (&json!("anna@example.org"), &json!([])));
        let algorithms: Vec<&Value> = options["pubKeyCredParams"].as_array().unwrap().iter().map(|it| &it["alg"]).collect();
        assert_eq!(algorithms, [-7, -8, -257]);
        assert_eq!((world.count("passkey").await, world.count("passkey_challenge").await), (0, 0), "who begins stores nothing");
        let (mut laptop, credential) = Passkey::create(&options, &honest());
        let added = world.confirm_passkey(&access, &id, &credential, json!(" Laptop ")).await;
        assert_eq!(added.headers["cache-control"], "no-store");
        let added = added.json();
        let laptop_id = text(&added["factor"]["id"]);
        assert!(laptop_id.starts_with("passkey-"), "{added}");
        assert_eq!((&added["factor"]["type"], &added["factor"]["name"], &added["factor"]["backedUp"]), (&json!("WEBAUTHN"), &json!("Laptop"), &json!(false)));
        assert_eq!(added["recoveryCodes"].as_array().map(Vec::len), Some(10));
        let told = world.app.mail.take().pop().unwrap();
        assert_eq!(told.subject, "A passkey was added to your account at Test");
        assert!(told.text.contains("remove the passkey") && told.text.contains("the password alone ends no passkey"), "{}", told.text);
        let beside_a_code = json!({ "code": "123456", "name": "Laptop" });
        let refused = world.post_own(&access, "factors/totp-x/confirm", beside_a_code).await.json();
        assert_eq!(refused["details"]["validationError"]["fieldViolations"][0]["field"], "name", "{refused}");

        // The password alone is none any more; the passkey is a proof, and the next one brings no codes.
        assert_eq!(world.login("anna@example.org", PASSWORD).await["state"], "MFA_CHALLENGE");
        world.app.kit.clock.advance(11 * 60_000);
        assert_eq!(world.post_own(&access, "factors", json!({ "type": "WEBAUTHN" })).await.verdict(), NEEDED);
        assert_eq!(world.prove(&access, json!({ "password": PASSWORD })).await, NEEDED);
        let (challenge, asked) = world.ask_proof(&access).await;
        assert_eq!((&asked["rpId"], &asked["userVerification"]), (&json!("localhost"), &json!("required")));
        assert_eq!(asked["allowCredentials"].as_array().map(Vec::len), Some(1));
        assert_eq!(asked["allowCredentials"][0]["transports"], json!(["internal", "hybrid"]));
        let proof = laptop.get(&asked, &honest());
        assert_eq!(world.show_proof(&access, &challenge, &proof).await, "200");
        let (_, options) = world.begin_passkey(&access).await;
        assert_eq!(options["excludeCredentials"].as_array().map(Vec::len), Some(1));
        let (_, second) = world.add_passkey(&access, "Key").await;
        assert_eq!(second.get("recoveryCodes"), None);
        let list = world.factors_of(&access).await;
        let names: Vec<&Value> = list["factors"].as_array().unwrap().iter().map(|it| &it["name"]).collect();
        assert_eq!(names, ["Laptop", "Key"]);
        assert!(list["factors"][0]["lastUsedDate"].is_string() && list["factors"][1].get("lastUsedDate").is_none(), "{list}");

        // Names.
        let path = format!("factors/{laptop_id}");
        let renamed = world.own(&access, Method::PATCH, &path, json!({ "name": "Old laptop" })).await;
        assert_eq!((renamed.verdict().as_str(), &renamed.json()["factor"]["name"]), ("200", &json!("Old laptop")));
        for bad in [json!({}), json!({ "name": "" }), json!({ "name": " \u{a0} " }), json!({ "name": 1 }), json!({ "name": "x".repeat(101) }), json!({ "name": "a\u{7}b" })] {
            assert_eq!(world.own(&access, Method::PATCH, &path, bad.clone()).await.verdict(), "400 validationError", "{bad}");
        }
        assert_eq!(world.own(&access, Method::PATCH, "factors/passkey-none", json!({ "name": "x" })).await.verdict(), "404 NOT_FOUND");
        assert_eq!(world.own(&access, Method::PATCH, "factors/email-x", json!({ "name": "x" })).await.verdict(), "400 validationError");

        world.app.mail.take();
        world.app.kit.clock.advance(9 * 60_000);
        assert_eq!(world.own(&access, Method::DELETE, &path, Value::Null).await.verdict(), "200");
        assert_eq!(world.own(&access, Method::DELETE, &path, Value::Null).await.verdict(), "404 NOT_FOUND");
        assert_eq!(world.subjects().await, ["A second step was removed from your account at Test"]);
        assert_eq!(world.count("recovery_code").await, 10, "there is another passkey");
        let (challenge, asked) = world.ask_proof(&access).await;
        assert_eq!(world.show_proof(&access, &challenge, &laptop.get(&asked, &honest())).await, WRONG, "it is gone");
        let key_id = text(&second["factor"]["id"]);
        assert_eq!(world.own(&access, Method::DELETE, &format!("factors/{key_id}"), Value::Null).await.verdict(), "200");
        assert_eq!((world.count("passkey").await, world.count("recovery_code").await), (0, 0));
        assert_eq!(world.login("anna@example.org", PASSWORD).await["state"], "SUCCESS");
        for (event, count) in [("factor_add", 2), ("factor_rename", 1), ("factor_remove", 2), ("passkey_copy", 0)] {
            assert_eq!(world.events(event).await, count, "{event}");
        }
    }

    async fn stolen_session_adds_renames_and_removes_nothing(engine) {
        let world = World::with_factors(engine).await;
        let (access, mut passkey) = world.with_passkey("anna@example.org").await;
        let id = text(&world.factors_of(&access).await["factors"][0]["id"]);
        let stolen = world.session_by_passkey("anna@example.org", &mut passkey).await;
        let (challenge, options) = world.begin_passkey(&access).await;
        let (_, credential) = Passkey::create(&options, &honest());
        for path in ["factors".to_owned(), format!("factors/{challenge}/confirm")] {
            let body = json!({ "type": "WEBAUTHN", "credential": credential });
            assert_eq!(world.post_own(&stolen, &path, body).await.verdict(), NEEDED, "{path}");
        }
        let path = format!("factors/{id}");
        assert_eq!(world.own(&stolen, Method::PATCH, &path, json!({ "name": "x" })).await.verdict(), NEEDED);
        assert_eq!(world.own(&stolen, Method::DELETE, &path, Value::Null).await.verdict(), NEEDED);
        // What another session has begun is not this one's, also when both have shown who they are.
        assert_eq!(world.prove_by_passkey(&stolen, &mut passkey).await, "200");
        assert_eq!(world.confirm_passkey(&stolen, &challenge, &credential, Value::Null).await.verdict(), WRONG);
        assert_eq!(world.confirm_passkey(&access, &challenge, &credential, Value::Null).await.verdict(), "200");
        // And what one has proven ends in the other with it.
        assert_eq!(world.post_own(&stolen, "factors", json!({ "type": "WEBAUTHN" })).await.verdict(), NEEDED);
    }

    async fn passkeys_are_added_only_where_the_site_and_the_address_let(engine) {
        let world = World::with_factors(engine).await;
        let unproven = world.unproven_access("bob@example.org").await;
        assert_eq!(world.prove(&unproven, json!({ "password": PASSWORD })).await, "200");
        assert_eq!(world.post_own(&unproven, "factors", json!({ "type": "WEBAUTHN" })).await.verdict(), UNPROVEN);
        let access = world.member_access("anna@example.org").await;
        assert_eq!(world.prove(&access, json!({ "password": PASSWORD })).await, "200");
        let (id, options) = world.begin_passkey(&access).await;
        let (_, credential) = Passkey::create(&options, &honest());
        world.policy(json!({ "secondFactor": "OFF" })).await;
        assert_eq!(world.factors_of(&access).await["addable"], json!([]));
        assert_eq!(world.post_own(&access, "factors", json!({ "type": "WEBAUTHN" })).await.verdict(), "403 PERMISSION_DENIED");
        assert_eq!(world.confirm_passkey(&access, &id, &credential, Value::Null).await.verdict(), "403 PERMISSION_DENIED");
        world.policy(json!({ "secondFactor": "OPTIONAL" })).await;
        for (body, field) in [
            (json!({ "type": "WEBAUTHN", "name": "x" }), "name"),
            (json!({ "type": "WEBAUTHN", "phone": "+4915112345678" }), "phone"),
        ] {
            let refused = world.post_own(&access, "factors", body).await.json();
            assert_eq!(refused["details"]["validationError"]["fieldViolations"][0]["field"], field, "{refused}");
        }
        let confirm = format!("factors/{id}/confirm");
        for (body, field) in [
            (json!({ "credential": credential, "code": "123456" }), "code"),
            (json!({ "credential": {} }), "credential"),
            (json!({ "credential": "x".repeat(16_001) }), "credential"),
            (json!({ "credential": credential, "name": 1 }), "name"),
            (json!({ "credential": credential, "name": "x".repeat(101) }), "name"),
        ] {
            let refused = world.post_own(&access, &confirm, body).await.json();
            assert_eq!(refused["details"]["validationError"]["fieldViolations"][0]["field"], field, "{refused}");
        }
        // By a number in the place of a host browsers have none.
        let headers = [("authorization", access.as_str()), ("content-type", "application/json")];
        let at_number = async |method: Method, path: &str, body: Option<&Value>| {
            let mut request = Request::builder().method(method).uri(format!("{OWN}/{path}")).header("host", "127.0.0.1:4400");
            for (name, value) in headers {
                request = request.header(name, value);
            }
            let body = body.map_or_else(Body::empty, |it| Body::from(it.to_string()));
            let response = ServiceExt::oneshot(world.app.service(), request.body(body).unwrap()).await.unwrap();
            let (status, headers) = (response.status(), response.headers().clone());
            Reply { status, headers, body: axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap() }
        };
        let listed = at_number(Method::GET, "factors", None).await.json();
        assert_eq!(listed["addable"], json!(["TOTP", "EMAIL"]), "{listed}");
        let begun = at_number(Method::POST, "factors", Some(&json!({ "type": "WEBAUTHN" }))).await;
        assert_eq!(begun.verdict(), "403 PERMISSION_DENIED");
        let confirmed = at_number(Method::POST, &confirm, Some(&json!({ "credential": credential }))).await;
        assert_eq!(confirmed.verdict(), WRONG, "another origin than that of the page");
        assert_eq!((world.count("passkey").await, world.count("passkey_challenge").await), (0, 0));
    }

    async fn what_is_no_new_passkey_of_these_pages_is_refused(engine) {
        let world = World::with_factors(engine).await;
        let access = world.member_access("anna@example.org").await;
        let ben = world.member_access("ben@example.org").await;
        for who in [&access, &ben] {
            assert_eq!(world.prove(who, json!({ "password": PASSWORD })).await, "200");
        }
        let (id, options) = world.begin_passkey(&access).await;
        let (_, good) = Passkey::create(&options, &honest());
        let mut bad: Vec<(&str, String)> = dishonest("webauthn.get")
            .into_iter()
            .map(|(what, ceremony)| (what, Passkey::create(&options, &ceremony).1))
            .collect();
        let (_, of_ben) = world.begin_passkey(&ben).await;
        bad.push(("the challenge of another member", Passkey::create(&of_ben, &honest()).1));
        let (_, of_proof) = Passkey::create(&options, &honest());
        let other: Value = serde_json::from_str(&of_proof).unwrap();
        let mut mixed: Value = serde_json::from_str(&good).unwrap();
        mixed["response"] = other["response"].clone();
        bad.push(("the id of another credential", mixed.to_string()));
        let mut ids: Value = serde_json::from_str(&good).unwrap();
        ids["rawId"] = json!("AAAA");
        bad.push(("two ids", ids.to_string()));
        bad.push(("a copy of what can not be copied", Passkey::create_with(&options, &honest(), Algorithm::Es256, (1, (false, true))).1));
        bad.push(("no attestation object", with_response(&good, "attestationObject", json!("AAAA"))));
        bad.push(("no client data", with_response(&good, "clientDataJSON", json!("AAAA"))));
        bad.push(("no JSON", "x".to_owned()));
        bad.push(("nothing", String::new()));
        for (what, credential) in bad {
            assert_eq!(world.confirm_passkey(&access, &id, &credential, Value::Null).await.verdict(), WRONG, "{what}");
        }
        assert_eq!(world.confirm_passkey(&access, "00000000-0000-4000-8000-000000000000", &good, Value::Null).await.verdict(), WRONG);
        assert_eq!((world.count("passkey").await, world.count("passkey_challenge").await), (0, 0));
        // Too late.
        world.app.kit.clock.advance(5 * 60_000);
        assert_eq!(world.confirm_passkey(&access, &id, &good, Value::Null).await.verdict(), WRONG, "after five minutes");
    }

    async fn challenge_of_a_new_passkey_counts_once_among_a_hundred(engine) {
        let world = World::with_factors(engine).await;
        let access = world.member_access("anna@example.org").await;
        assert_eq!(world.prove(&access, json!({ "password": PASSWORD })).await, "200");
        let (id, options) = world.begin_passkey(&access).await;
        let credentials: Vec<String> = (0..100).map(|_| Passkey::create(&options, &honest()).1).collect();
        let tries = join_all(credentials.iter().map(|it| world.confirm_passkey(&access, &id, it, Value::Null))).await;
        assert_eq!(tries.iter().filter(|it| it.verdict() == "200").count(), 1);
        assert!(tries.iter().all(|it| ["200", WRONG, "429 THROTTLED_FEATURE"].contains(&it.verdict().as_str())));
        assert_eq!((world.count("passkey").await, world.count("recovery_code").await), (1, 10));
        assert_eq!(world.events("factor_add").await, 1);
    }

    async fn credential_is_of_one_member_once_and_ten_are_the_most(engine) {
        let world = World::with_factors(engine).await;
        let (access, first) = world.with_passkey("anna@example.org").await;
        let (ben, _) = world.with_passkey("ben@example.org").await;
        for who in [&access, &ben] {
            let (id, options) = world.begin_passkey(who).await;
            let again = first.attest(&options, &honest());
            assert_eq!(world.confirm_passkey(who, &id, &again, Value::Null).await.verdict(), WRONG);
        }
        let mut passkey = first;
        for n in 1..10 {
            world.app.kit.clock.advance(2 * 60_000);
            assert_eq!(world.prove_by_passkey(&access, &mut passkey).await, "200");
            world.add_passkey(&access, &format!("Key {n}")).await;
        }
        assert_eq!(world.post_own(&access, "factors", json!({ "type": "WEBAUTHN" })).await.verdict(), "400 TOO_MANY");
        assert_eq!(world.count("passkey").await, 11);
    }

    async fn proof_is_of_the_member_the_session_and_the_moment(engine) {
        let world = World::with_factors(engine).await;
        let (access, mut passkey) = world.with_passkey("anna@example.org").await;
        let (ben, mut of_ben) = world.with_passkey("ben@example.org").await;
        let other = world.session_by_passkey("anna@example.org", &mut passkey).await;
        let (id, options) = world.ask_proof(&access).await;
        for (what, ceremony) in dishonest("webauthn.create") {
            let shown = passkey.get(&options, &ceremony);
            assert_eq!(world.show_proof(&access, &id, &shown).await, WRONG, "{what}");
        }
        assert_eq!(world.show_proof(&access, &id, &of_ben.get(&options, &honest())).await, WRONG, "another member's");
        let shown = passkey.get(&options, &honest());
        assert_eq!(world.show_proof(&other, &id, &shown).await, WRONG, "another session's");
        assert_eq!(world.show_proof(&ben, &id, &shown).await, WRONG, "another member's session");
        assert_eq!(world.show_proof(&access, "00000000-0000-4000-8000-000000000000", &shown).await, WRONG, "another name");
        let signature = with_response(&shown, "signature", json!("MEUCIQ"));
        assert_eq!(world.show_proof(&access, &id, &signature).await, WRONG, "another signature");
        let user = with_response(&shown, "userHandle", json!("AAAA"));
        assert_eq!(world.show_proof(&access, &id, &user).await, WRONG, "another user");
        // Of an enrolment no proof is made.
        let (enrolment, creation) = world.begin_passkey(&ben).await;
        let crossed = of_ben.get(&creation, &honest());
        assert_eq!(world.show_proof(&ben, &enrolment, &crossed).await, WRONG, "the challenge of another purpose");
        // Who says nothing of the user is found by the member who was asked.
        let quiet = passkey.get(&options, &but(|it| it.tells_user = false));
        assert_eq!(world.show_proof(&access, &id, &quiet).await, "200");
        assert_eq!(world.show_proof(&access, &id, &quiet).await, WRONG, "a second time");
        let (id, options) = world.ask_proof(&access).await;
        let shown = passkey.get(&options, &honest());
        world.app.kit.clock.advance(5 * 60_000);
        assert_eq!(world.show_proof(&access, &id, &shown).await, WRONG, "after five minutes");
        // Members without one are told so.
        let carl = world.member_access("carl@example.org").await;
        let refused = world.post_own(&carl, "proof", json!({ "webauthnData": {} })).await.json();
        assert_eq!(refused["details"]["validationError"]["fieldViolations"][0]["field"], "webauthnData", "{refused}");
        assert_eq!(world.events("passkey_copy").await, 0);
    }

    async fn proof_counts_once_among_a_hundred(engine) {
        let world = World::with_factors(engine).await;
        let (access, mut passkey) = world.with_passkey("anna@example.org").await;
        let (id, options) = world.ask_proof(&access).await;
        let shown = passkey.get(&options, &honest());
        let tries = join_all((0..100).map(|_| world.show_proof(&access, &id, &shown))).await;
        assert_eq!(tries.iter().filter(|it| *it == "200").count(), 1);
        assert!(tries.iter().all(|it| ["200", WRONG, "429 THROTTLED_FEATURE"].contains(&it.as_str())));
        assert_eq!((world.count("passkey_challenge").await, world.events("passkey_copy").await), (2, 0));
    }

    async fn copied_passkey_is_found_by_its_counter(engine) {
        let world = World::with_factors(engine).await;
        let (access, mut passkey) = world.with_passkey("anna@example.org").await;
        let mut copy = passkey.copy();
        assert_eq!(world.prove_by_passkey(&access, &mut passkey).await, "200");
        assert_eq!(world.prove_by_passkey(&access, &mut passkey).await, "200");
        assert_eq!(world.prove_by_passkey(&access, &mut copy).await, WRONG);
        assert_eq!(world.events("passkey_copy").await, 1);
        // Nor by counting nothing any more.
        copy.counter = 0;
        assert_eq!(world.prove_by_passkey(&access, &mut copy).await, WRONG);
        assert_eq!(world.events("passkey_copy").await, 2);
        // Of copies at once that have counted as far one is taken.
        let mut copies: Vec<Passkey> = (0..20).map(|_| passkey.copy()).collect();
        let mut shown = Vec::new();
        for copy in &mut copies {
            let (id, options) = world.ask_proof(&access).await;
            shown.push((id, copy.get(&options, &honest())));
        }
        let tries = join_all(shown.iter().map(|(id, shown)| world.show_proof(&access, id, shown))).await;
        assert_eq!(tries.iter().filter(|it| *it == "200").count(), 1, "{tries:?}");
    }

    async fn keys_of_other_kinds_and_counters_that_stand_still(engine) {
        let world = World::with_factors(engine).await;
        let access = world.member_access("anna@example.org").await;
        assert_eq!(world.prove(&access, json!({ "password": PASSWORD })).await, "200");
        let (id, options) = world.begin_passkey(&access).await;
        // As those are that are kept in an account of the platform.
        let (mut synced, credential) = Passkey::create_with(&options, &honest(), Algorithm::Ed25519, (0, (true, false)));
        assert_eq!(world.confirm_passkey(&access, &id, &credential, Value::Null).await.verdict(), "200");
        assert_eq!(world.factors_of(&access).await["factors"][0]["name"], "Passkey");
        for _ in 0..3 {
            assert_eq!(world.prove_by_passkey(&access, &mut synced).await, "200");
        }
        synced.backup = (true, true);
        assert_eq!(world.prove_by_passkey(&access, &mut synced).await, "200");
        assert_eq!(world.factors_of(&access).await["factors"][0]["backedUp"], true);
        // Whether it may be copied never changes.
        synced.backup = (false, false);
        assert_eq!(world.prove_by_passkey(&access, &mut synced).await, WRONG);
        assert_eq!(world.events("passkey_copy").await, 0);
    }
}
