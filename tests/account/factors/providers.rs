//! Sign-in by identity providers (docs/identity-providers.md), as people, front ends and those who run a site meet it.

use super::*;
use stoa_testkit::openid::{CLIENT, OpenidProvider, SECRET, Signing};

/// A person at a provider, whose address it vouches for.
pub(super) fn person(subject: &str, email: &str) -> Value {
    json!({ "sub": subject, "email": email, "email_verified": true })
}

/// Path and query of where a provider sends a browser.
pub(super) fn back(url: &str) -> String {
    let path = path_of(url);
    assert!(path.starts_with("/_api/iam/authentication/v1/callback?"), "{path}");
    path
}

impl World {
    /// A provider, and the connection of the site to it with these members beside the usual ones.
    pub(super) async fn with_provider(&self, more: Value) -> (OpenidProvider, String) {
        let provider = OpenidProvider::start(&self.app.kit.world).await;
        let id = self.connect(&provider, "idp", more).await;
        (provider, id)
    }

    pub(super) async fn connect(&self, provider: &OpenidProvider, name: &str, more: Value) -> String {
        let mut connection = json!({ "name": name, "issuer": provider.issuer, "clientId": CLIENT, "clientSecret": SECRET,
            "label": "Elsewhere" });
        for (name, value) in more.as_object().into_iter().flatten() {
            connection[name] = value.clone();
        }
        let made =
            self.app.app().post(&format!("{OWN}/idp-connections"), &json!({ "idpConnection": connection })).await;
        assert_eq!(made.verdict(), "200", "{}", made.json());
        text(&made.json()["idpConnection"]["id"])
    }

    /// What a member is tied to.
    pub(super) async fn connections(&self, access: &str) -> Value {
        self.own(access, Method::GET, "connections", Value::Null).await.json()["connections"].clone()
    }
}

impl Browser<'_> {
    /// Begins a sign-in and goes to a provider: the flow's token and where the browser is.
    pub(super) async fn to_provider(&self, id: &str) -> (String, String) {
        let token = text(&self.start(json!({ "kind": "SIGN_IN" })).await["token"]);
        let view = self.answer(&token, json!({ "type": "PROVIDER", "id": id })).await;
        assert_eq!(view["step"]["type"], "REDIRECT", "{view}");
        (token, text(&view["step"]["url"]))
    }

    /// Comes back, and answers the view of the flow.
    pub(super) async fn come_back(&self, token: &str, url: &str) -> Value {
        assert_eq!(flow_of(&self.open(&back(url)).await), token);
        let view = self.flow_view(token).await;
        assert_eq!(view.status, StatusCode::OK, "{}", view.json());
        view.json()
    }

    /// Signs in by a provider, and answers what comes then.
    pub(super) async fn by_provider(&self, provider: &OpenidProvider, id: &str, person: Value) -> Value {
        let (token, url) = self.to_provider(id).await;
        self.come_back(&token, &provider.approve(&url, person)).await
    }
}

on_both_engines! {
    async fn client_of_others_waits_for_an_answer_behind_a_provider_too(engine) {
        let world = World::new(engine).await;
        let (provider, id) = world.with_provider(json!({})).await;
        let (partner, _) = world.app.partner("items:read").await;
        let browser = world.browser();
        let token = flow_of(&browser.open(&authorize_path(&partner, &[("scope", "items:read")])).await);
        let view = browser.answer(&token, json!({ "type": "PROVIDER", "id": id })).await;
        let returned = provider.approve(&text(&view["step"]["url"]), person("s 1", "anna@example.org"));
        let view = browser.come_back(&token, &returned).await;
        assert_eq!((&view["step"]["type"], &view["step"]["account"]), (&json!("CONSENT"), &json!("anna@example.org")));
        assert_eq!((world.count("consent").await, world.count("code").await), (0, 0));
        let view = browser.answer(&token, json!({ "type": "ALLOW" })).await;
        assert!(parameters(view["step"]["url"].as_str().unwrap(), '?').contains_key("code"), "{view}");
    }

    async fn person_becomes_a_member_and_comes_again(engine) {
        let world = World::new(engine).await;
        let (provider, id) = world.with_provider(json!({})).await;
        let browser = world.browser();
        let first = browser.start(json!({ "kind": "SIGN_UP" })).await;
        assert_eq!(first["step"]["providers"], json!([{ "id": id, "label": "Elsewhere" }]));
        let mut anna = person("s 1", "Anna@example.org");
        (anna["given_name"], anna["family_name"], anna["locale"]) = (json!("Anna"), json!("Berg"), json!("de_DE"));
        let view = browser.by_provider(&provider, &id, anna.clone()).await;
        assert_eq!(view["step"], json!({ "type": "DONE", "message": "SIGNED_IN" }));
        assert!(browser.has("stoa-session"));

        let member = world.id_of("anna@example.org").await;
        let shown = world.app.app().get(&format!("{OWN}/audit?event=connection_add")).await.json();
        assert_eq!((&shown["entries"][0]["member"], shown["entries"].as_array().map(Vec::len)), (&json!(member), Some(1)));
        let stored = world.app.app.identity.member_by_email(&world.app.site, &Email::parse("anna@example.org").unwrap()).await.unwrap().unwrap();
        let identity = stored.to_json();
        assert_eq!(identity["connections"], json!([{ "idpConnection": { "idpConnectionId": id, "idpUserId": "s 1" } }]));
        assert_eq!((&identity["factors"], &identity["email"]["isVerified"]), (&json!([]), &json!(true)));
        let profile = &identity["identityProfile"];
        assert_eq!((&profile["firstName"], &profile["lastName"], &profile["language"]), (&json!("Anna"), &json!("Berg"), &json!("de-DE")));

        // The subject counts, not the address; keys are asked for once.
        assert_eq!(provider.calls()["keys"], 1);
        anna["email"] = json!("other@example.org");
        provider.order(|it| it.signing = Signing::P256);
        assert_eq!(world.browser().by_provider(&provider, &id, anna).await["step"]["message"], "SIGNED_IN");
        assert_eq!((world.count("member").await, world.count("provider_link").await), (1, 1));
        assert_eq!(provider.calls().keys().copied().collect::<Vec<_>>(), ["token"]);
        // Nobody signs in with a password that there is not.
        assert_eq!(world.login("anna@example.org", PASSWORD).await["details"]["applicationError"]["code"], "-19976");
    }

    async fn front_end_gets_its_code(engine) {
        let world = World::new(engine).await;
        let (provider, id) = world.with_provider(json!({})).await;
        for idp in [id.clone(), id.to_uppercase()] {
            let browser = world.browser();
            let mut request = world.auth_request();
            request["idp"] = json!(idp);
            let path = world.redirect_session(&world.visitor().await, &json!({ "auth": { "authRequest": request } })).await;
            // The browser goes to the provider at once.
            let url = location(&browser.open_from(&path, Some(APP)).await);
            let token = flow_of(&browser.open(&back(&provider.approve(&url, person("s", "anna@example.org")))).await);
            let view = browser.flow_view(&token).await.json();
            let answer = parameters(&text(&view["step"]["url"]), '#');
            assert_eq!(answer["state"], "the state");
            let tokens = world.exchange(&answer["code"], Some(CALLBACK)).await;
            assert_eq!(tokens.status, StatusCode::OK, "{}", tokens.json());
            let access = text(&tokens.json()["access_token"]);
            let mine = world.connections(&access).await;
            assert_eq!((&mine[0]["idpConnectionId"], &mine[0]["idpUserId"], &mine[0]["email"]), (&json!(id), &json!("s"), &json!("anna@example.org")));
        }
        let mut request = world.auth_request();
        request["idp"] = json!("0e6a50f5-b523-4e29-990d-f37fa2ffdd69");
        let body = json!({ "auth": { "authRequest": request } });
        let session = |token: String, body: Value| { let world = &world; async move { world.call(&token, "/_api/redirects-api/v1/redirect-session", &body).await } };
        let refused = session(world.visitor().await, body.clone()).await.json();
        assert_eq!(refused["details"]["validationError"]["fieldViolations"][0]["field"], "auth.authRequest.idp", "{refused}");
        // What clients call google is the connection with that name.
        world.connect(&provider, "google", json!({})).await;
        assert_eq!(session(world.visitor().await, body.clone()).await.verdict(), "200");
        // A provider that does not answer: the flow says so.
        let other = OpenidProvider::start(&world.app.kit.world).await;
        other.order(|it| it.metadata_status = Some(500));
        let broken = world.connect(&other, "broken", json!({})).await;
        request["idp"] = json!(broken);
        let path = world.redirect_session(&world.visitor().await, &json!({ "auth": { "authRequest": request } })).await;
        let browser = world.browser();
        let token = flow_of(&browser.open_from(&path, Some(APP)).await);
        let view = browser.flow_view(&token).await.json();
        assert_eq!(view["step"], json!({ "type": "PROVIDER_FAILED", "provider": { "id": broken, "label": "Elsewhere" }, "reason": "UNAVAILABLE" }));
        assert_eq!(browser.answer(&token, json!({ "type": "BACK" })).await["step"]["type"], "SIGN_IN");
    }

    async fn account_is_linked_once_its_password_was_shown(engine) {
        let world = World::new(engine).await;
        let (provider, id) = world.with_provider(json!({})).await;
        let access = world.member_access("anna@example.org").await;
        let anna = || person("s", "ANNA@example.org");
        let browser = world.browser();
        let view = browser.by_provider(&provider, &id, anna()).await;
        assert_eq!(view["step"], json!({ "type": "LINK_PROVIDER", "provider": "Elsewhere", "email": "anna@example.org", "canRecover": true }));
        assert_eq!(view["canGoBack"], true);
        let token = text(&view["token"]);
        let link = |password: &str| json!({ "type": "LINK_PROVIDER", "password": password });
        let wrong = browser.answer(&token, link("another one")).await;
        assert_eq!((&wrong["step"]["type"], &wrong["problems"][0]["code"]), (&json!("LINK_PROVIDER"), &json!("INVALID_CREDENTIALS")));
        assert_eq!(browser.answer(&token, link("")).await["problems"][0]["code"], "REQUIRED");
        assert_eq!(world.connections(&access).await, json!([]));
        world.app.mail.take();
        assert_eq!(browser.answer(&token, link(PASSWORD)).await["step"]["message"], "SIGNED_IN");
        assert_eq!(world.connections(&access).await[0]["idpUserId"], "s");
        assert!(world.subjects().await.contains(&"A provider was connected to your account at Test".to_owned()));
        assert_eq!(world.browser().by_provider(&provider, &id, anna()).await["step"]["message"], "SIGNED_IN");

        // Who goes back and signs in otherwise is linked with nobody.
        world.member_access("bob@example.org").await;
        let browser = world.browser();
        let view = browser.by_provider(&provider, &id, person("t", "bob@example.org")).await;
        let token = text(&view["token"]);
        assert_eq!(browser.answer(&token, json!({ "type": "BACK" })).await["step"]["type"], "SIGN_IN");
        let input = json!({ "type": "SIGN_IN", "email": "bob@example.org", "password": PASSWORD });
        assert_eq!(browser.answer(&token, input).await["step"]["message"], "SIGNED_IN");
        assert_eq!(world.count("provider_link").await, 1);
    }

    async fn link_waits_for_the_second_factor(engine) {
        let world = World::with_factors(engine).await;
        let (provider, id) = world.with_provider(json!({})).await;
        let anna = world.enrolled("anna@example.org").await;
        let browser = world.browser();
        let view = browser.by_provider(&provider, &id, person("s", "anna@example.org")).await;
        let asked = browser.answer(&text(&view["token"]), json!({ "type": "LINK_PROVIDER", "password": PASSWORD })).await;
        assert_eq!((&asked["step"]["type"], world.count("provider_link").await), (&json!("SECOND_FACTOR"), 0));
        let code = world.totp(&anna.secret, 0);
        assert_eq!(browser.factor(&asked, &code, false).await["step"]["message"], "SIGNED_IN");
        assert_eq!(world.count("provider_link").await, 1);
        // Who comes by the provider is asked for it as well.
        world.next_step();
        let browser = world.browser();
        let asked = browser.by_provider(&provider, &id, person("s", "anna@example.org")).await;
        assert_eq!(asked["step"]["factors"], json!(["TOTP", "RECOVERY_CODE"]));
        assert_eq!(browser.factor(&asked, &world.totp(&anna.secret, 0), false).await["step"]["message"], "SIGNED_IN");
    }

    async fn word_of_both_sides_links_where_the_site_says_so(engine) {
        let world = World::new(engine).await;
        let (provider, id) = world.with_provider(json!({ "linksByEmail": true })).await;
        world.member_access("anna@example.org").await;
        world.unproven_access("bob@example.org").await;
        let mut doubtful = person("s", "anna@example.org");
        doubtful["email_verified"] = json!(false);
        assert_eq!(world.browser().by_provider(&provider, &id, doubtful).await["step"]["reason"], "NO_EMAIL");
        // Nobody has shown that address here: who registered it may be another.
        assert_eq!(world.browser().by_provider(&provider, &id, person("t", "bob@example.org")).await["step"]["type"], "LINK_PROVIDER");
        assert_eq!(world.count("provider_link").await, 0);
        assert_eq!(world.browser().by_provider(&provider, &id, person("s", "anna@example.org")).await["step"]["message"], "SIGNED_IN");
        assert_eq!((world.count("provider_link").await, world.count("member").await), (1, 2));
    }

    async fn site_says_who_gets_an_account(engine) {
        let world = World::new(engine).await;
        let (provider, id) = world.with_provider(json!({ "createsMembers": false })).await;
        let failed = |reason: &str| json!({ "type": "PROVIDER_FAILED", "provider": { "id": id, "label": "Elsewhere" }, "reason": reason });
        let view = world.browser().by_provider(&provider, &id, person("s", "anna@example.org")).await;
        assert_eq!((&view["step"], &view["canGoBack"]), (&failed("NO_ACCOUNT"), &json!(true)));
        assert_eq!(world.browser().by_provider(&provider, &id, json!({ "sub": "s" })).await["step"], failed("NO_EMAIL"));
        // Whether there is an account of an address, nobody is told for whom the provider doesn't vouch.
        for email in ["anna@example.org", "there@example.org"] {
            world.register("there@example.org").await;
            let unsure = json!({ "sub": "s", "email": email });
            assert_eq!(world.browser().by_provider(&provider, &id, unsure).await["step"], failed("NO_EMAIL"), "{email}");
        }
        assert_eq!(world.browser().by_provider(&provider, &id, json!({ "sub": "s", "email": "nonsense" })).await["step"], failed("NO_EMAIL"));
        let browser = world.browser();
        let (token, url) = browser.to_provider(&id).await;
        assert_eq!(browser.come_back(&token, &provider.decline(&url, "access_denied")).await["step"], failed("DECLINED"));
        let view = browser.answer(&token, json!({ "type": "PROVIDER", "id": id })).await;
        assert_eq!(view["step"]["type"], "REDIRECT");
        assert_eq!(browser.flow_view(&token).await.json()["step"]["type"], "SIGN_IN", "the way back of the browser");
        assert_eq!(world.count("member").await, 1);

        // What sites ask of members they ask of these.
        let path = format!("{OWN}/idp-connections/{id}");
        let change = json!({ "idpConnection": { "createsMembers": true } }).to_string();
        assert_eq!(world.app.app().send(Method::PATCH, &path, Some(change.into())).await.verdict(), "200");
        world.policy(json!({ "requiredFields": ["firstName"], "requireOwnerApproval": true })).await;
        let browser = world.browser();
        let view = browser.by_provider(&provider, &id, person("s", "anna@example.org")).await;
        assert_eq!(view["step"]["type"], "MISSING_FIELDS", "{view}");
        let profile = json!({ "type": "MISSING_FIELDS", "profile": { "firstName": "Anna" } });
        assert_eq!(browser.answer(&text(&view["token"]), profile).await["step"]["type"], "AWAIT_APPROVAL");
        // An address that the provider does not vouch for is shown first.
        world.policy(json!({ "requiredFields": [], "requireOwnerApproval": false })).await;
        let browser = world.browser();
        let doubtful = json!({ "sub": "t", "email": "bob@example.org" });
        let view = browser.by_provider(&provider, &id, doubtful).await;
        assert_eq!(view["step"]["type"], "VERIFY_EMAIL", "{view}");
        let code = world.app.code_to("bob@example.org").await;
        let done = browser.answer(&text(&view["token"]), json!({ "type": "VERIFY_EMAIL", "code": code })).await;
        assert_eq!(done["step"]["message"], "SIGNED_IN", "{done}");
    }

    async fn connections_are_kept_by_those_who_run_the_site(engine) {
        let world = World::new(engine).await;
        let app = world.app.app();
        let path = format!("{OWN}/idp-connections");
        let provider = OpenidProvider::start(&world.app.kit.world).await;
        let good = json!({ "name": "idp", "issuer": provider.issuer, "clientId": CLIENT, "clientSecret": SECRET });
        let with = |name: &str, value: Value| { let mut it = good.clone(); it[name] = value; json!({ "idpConnection": it }) };
        for (name, value) in [
            ("name", json!("Upper")), ("name", json!("")), ("name", Value::Null), ("name", json!("x".repeat(51))), ("name", json!(1)),
            ("issuer", json!("nonsense")), ("issuer", json!("ftp://x.example")), ("issuer", json!("https://x.example?y")), ("issuer", json!("https://u:p@x.example")),
            ("issuer", json!("http://x.example")), ("clientSecret", Value::Null), ("clientSecret", json!("a b")), ("label", json!("a\u{7}")),
            ("createsMembers", json!("yes")), ("other", json!(1)),
        ] {
            assert_eq!(app.post(&path, &with(name, value.clone())).await.verdict(), "400 validationError", "{name} {value}");
        }
        assert_eq!(app.post(&path, &json!({})).await.verdict(), "400 validationError");
        let made = app.post(&path, &with("label", Value::Null)).await.json();
        let shown = &made["idpConnection"];
        assert_eq!((&shown["label"], &shown["createsMembers"], &shown["linksByEmail"], &shown["isEnabled"]), (&json!("idp"), &json!(true), &json!(false), &json!(true)));
        assert_eq!(made["callbackUrl"], "http://localhost/_api/iam/authentication/v1/callback");
        assert!(!made.to_string().contains("hush"), "{made}");
        assert_eq!(app.post(&path, &with("label", Value::Null)).await.verdict(), "409 ALREADY_EXISTS");
        let one = format!("{path}/{}", text(&shown["id"]));
        assert_eq!(app.get(&one).await.json(), made);
        let patch = async |body: Value| app.send(Method::PATCH, &one, Some(body.to_string().into())).await;
        assert_eq!(patch(with("label", json!("L"))).await.verdict(), "400 validationError", "the issuer stays");
        let changed = patch(json!({ "idpConnection": { "label": "L", "isEnabled": false, "clientSecret": "other" } })).await.json();
        assert_eq!((&changed["idpConnection"]["label"], &changed["idpConnection"]["isEnabled"]), (&json!("L"), &json!(false)));
        // One that is turned off is not there.
        let id = text(&shown["id"]);
        assert_eq!(world.browser().start(json!({ "kind": "SIGN_IN" })).await["step"]["providers"], json!([]));
        let browser = world.browser();
        let token = text(&browser.start(json!({ "kind": "SIGN_IN" })).await["token"]);
        let view = browser.answer(&token, json!({ "type": "PROVIDER", "id": id })).await;
        assert_eq!((&view["step"]["reason"], &view["step"]["provider"]["label"]), (&json!("UNAVAILABLE"), &json!("L")), "{view}");
        let view = browser.answer(&token, json!({ "type": "BACK" })).await;
        assert_eq!(view["step"]["type"], "SIGN_IN", "{view}");
        let view = browser.answer(&token, json!({ "type": "PROVIDER", "id": "none\u{0}" })).await;
        assert_eq!((&view["step"]["type"], &view["problems"][0]["code"]), (&json!("SIGN_IN"), &json!("STEP_CHANGED")));
        for n in 1..10 {
            assert_eq!(app.post(&path, &with("name", json!(format!("n{n}")))).await.verdict(), "200");
        }
        assert_eq!(patch(json!({ "idpConnection": { "name": "n1" } })).await.verdict(), "409 ALREADY_EXISTS");
        assert_eq!(app.post(&path, &with("name", json!("n10"))).await.verdict(), "400 TOO_MANY");
        assert_eq!(app.get(&path).await.json()["idpConnections"].as_array().map(Vec::len), Some(10));
        assert_eq!(app.delete(&one).await.verdict(), "200");
        assert_eq!(app.delete(&one).await.verdict(), "404 NOT_FOUND");
        assert_eq!(world.events("provider_change").await, 12);
    }

    async fn connection_that_goes_takes_its_links(engine) {
        let world = World::new(engine).await;
        let (provider, id) = world.with_provider(json!({})).await;
        world.browser().by_provider(&provider, &id, person("s", "anna@example.org")).await;
        assert_eq!(world.app.app().delete(&format!("{OWN}/idp-connections/{id}")).await.verdict(), "200");
        assert_eq!((world.count("provider_link").await, world.count("provider").await), (0, 0));
        let email = Email::parse("anna@example.org").unwrap();
        let member = world.app.app.identity.member_by_email(&world.app.site, &email).await.unwrap().unwrap();
        assert_eq!(member.to_json()["connections"], json!([]));
        let link = world.recovery_link("anna@example.org").await;
        let body = json!({ "recoveryToken": link, "password": PASSWORD });
        assert_eq!(world.call(&world.visitor().await, "/v1/recover", &body).await.json()["state"], "SUCCESS");
    }

    async fn member_disconnects_but_not_the_last_way_in(engine) {
        let world = World::new(engine).await;
        let (provider, id) = world.with_provider(json!({})).await;
        let browser = world.browser();
        browser.by_provider(&provider, &id, person("s", "anna@example.org")).await;
        let own = text(&browser.ask(Method::POST, "/_api/account/v1/member", Some(&json!({}))).await.json()["access_token"]);
        let remove = async |id: &str| world.own(&own, Method::DELETE, &format!("connections/{id}"), Value::Null).await.verdict();
        assert_eq!(remove(&id).await, NEEDED);
        // A link to the address sets a password, which proves and is another way in.
        let link = world.recovery_link("anna@example.org").await;
        let body = json!({ "recoveryToken": link, "password": PASSWORD });
        let signed = world.call(&world.visitor().await, "/v1/recover", &body).await.json();
        let own = world.access_of(&signed["sessionToken"]).await;
        let remove = async |id: &str| world.own(&own, Method::DELETE, &format!("connections/{id}"), Value::Null).await.verdict();
        assert_eq!(world.prove(&own, json!({ "password": PASSWORD })).await, "200");
        assert_eq!(remove("none").await, "404 NOT_FOUND");
        world.app.mail.take();
        assert_eq!(remove(&id).await, "200");
        assert_eq!(remove(&id).await, "404 NOT_FOUND");
        assert_eq!(world.subjects().await, ["A provider was disconnected from your account at Test"]);
        assert_eq!(world.connections(&own).await, json!([]));
        assert_eq!(world.browser().by_provider(&provider, &id, person("s", "anna@example.org")).await["step"]["type"], "LINK_PROVIDER");
        // Who has no password, and shows a second factor in its place.
        world.policy(json!({ "secondFactor": "REQUIRED", "secondFactorGraceDays": 0 })).await;
        let browser = world.browser();
        let view = browser.by_provider(&provider, &id, person("t", "bob@example.org")).await;
        let (token, secret) = (text(&view["token"]), text(&view["step"]["secret"]));
        let confirm = json!({ "type": "CONFIRM_FACTOR", "code": world.totp(&secret, 0) });
        assert_eq!(browser.answer(&token, confirm).await["step"]["type"], "RECOVERY_CODES");
        assert_eq!(browser.answer(&token, json!({ "type": "CODES_KEPT" })).await["step"]["type"], "DONE");
        let own = text(&browser.ask(Method::POST, "/_api/account/v1/member", Some(&json!({}))).await.json()["access_token"]);
        world.app.kit.clock.advance(30_000);
        assert_eq!(world.prove(&own, json!({ "totpData": { "code": world.totp(&secret, 0) } })).await, "200");
        assert_eq!(world.own(&own, Method::DELETE, &format!("connections/{id}"), Value::Null).await.verdict(), "409 LAST_WAY_IN");
    }

    async fn front_end_brings_a_token_of_its_own(engine) {
        let world = World::new(engine).await;
        let (provider, id) = world.with_provider(json!({})).await;
        let nonce = "a nonce that was drawn";
        let visitor = world.visitor().await;
        let login = async |token: &str, nonce: &str| {
            let body = json!({ "idpConnectionId": id, "tokenParams": { "idToken": token, "nonce": nonce } });
            world.call(&visitor, "/_api/iam/authentication/v1/sso/login-with-token-params", &body).await
        };
        let token = provider.id_token(&person("s", "anna@example.org"), nonce);
        let signed = login(&token, nonce).await;
        assert_eq!(signed.json()["state"], "SUCCESS", "{}", signed.json());
        assert_eq!(signed.json()["identity"]["connections"][0]["idpConnection"]["idpUserId"], "s");
        assert!(!world.access_of(&signed.json()["sessionToken"]).await.is_empty());
        assert_eq!(login(&token, nonce).await.verdict(), GONE, "it counts once");
        assert_eq!(login(&token, "another nonce that was drawn").await.verdict(), WRONG);
        // Of another client of the provider, and one that somebody has kept.
        let old = world.app.kit.world.now() / 1_000 - 16 * 60;
        for (claim, value) in [("aud", json!("another")), ("azp", json!("another")), ("iat", json!(old)), ("exp", json!(old))] {
            let mut claims = person("s", "anna@example.org");
            claims[claim] = value;
            let nonce = "a nonce that another page drew";
            assert_eq!(login(&provider.id_token(&claims, nonce), nonce).await.verdict(), WRONG, "{claim}");
        }
        assert_eq!(login(&token, "short").await.verdict(), "400 validationError");
        assert_eq!(login(&"x".repeat(20_000), nonce).await.verdict(), "400 validationError");
        assert_eq!(login("nonsense", nonce).await.verdict(), WRONG);
        for body in [json!({}), json!({ "idpConnectionId": id }), json!({ "idpConnectionId": 1, "tokenParams": {} }), json!({ "idpConnectionId": id, "tokenParams": { "idToken": token, "nonce": nonce, "code": "x" } })] {
            assert_eq!(world.call(&visitor, "/v1/sso/login-with-token-params", &body).await.verdict(), "400 validationError", "{body}");
        }
        let unknown = json!({ "idpConnectionId": "none", "tokenParams": { "idToken": token, "nonce": nonce } });
        assert_eq!(world.call(&visitor, "/v1/sso/login-with-token-params", &unknown).await.verdict(), "404 NOT_FOUND");
        // An account of the same address: the password is asked for.
        world.register("bob@example.org").await;
        let token = provider.id_token(&person("t", "bob@example.org"), "yet another nonce");
        let asked = login(&token, "yet another nonce").await.json();
        assert_eq!(asked["state"], "REQUIRE_FIRST_FACTOR");
        let body = json!({ "stateToken": asked["stateToken"], "password": PASSWORD });
        assert_eq!(world.call(&visitor, "/v2/login", &body).await.json()["state"], "SUCCESS");

        let mut n = 0;
        let mut verdict = async |person: Value| {
            n += 1;
            let nonce = format!("nonce of refusal {n}");
            login(&provider.id_token(&person, &nonce), &nonce).await.verdict()
        };
        // One that has changed is kept for its member.
        let carl = world.member_access("carl@example.org").await;
        assert_eq!(world.prove(&carl, json!({ "password": PASSWORD })).await, "200");
        assert_eq!(world.post_own(&carl, "email", json!({ "email": "carl@new.example.org" })).await.verdict(), "200");
        let code = world.app.code_to("carl@new.example.org").await;
        assert_eq!(world.post_own(&carl, "email/confirm", json!({ "code": code })).await.verdict(), "200");
        assert_eq!(verdict(person("u", "carl@example.org")).await, "409 -19995");
        let anna = signed.json()["identity"]["id"].clone();
        world.member_call(&anna, "refuse-password").await;
        assert_eq!(verdict(person("s", "anna@example.org")).await, "403 -19973");
        let block = format!("/members/v1/members/{}/block", text(&anna));
        assert_eq!(world.app.app().post(&block, &json!({})).await.verdict(), "200");
        assert_eq!(verdict(person("s", "anna@example.org")).await, "403 MEMBER_BLOCKED");
        let path = format!("{OWN}/idp-connections/{id}");
        let change = json!({ "idpConnection": { "createsMembers": false } }).to_string();
        assert_eq!(world.app.app().send(Method::PATCH, &path, Some(change.into())).await.verdict(), "200");
        assert_eq!(verdict(person("v", "dora@example.org")).await, "403 PERMISSION_DENIED");
    }

    async fn page_that_waits_is_told_in_its_channel(engine) {
        let world = World::new(engine).await;
        let (provider, id) = world.with_provider(json!({})).await;
        let key = base64_of(&[7; 32]);
        let query = format!("tenantType=SITE&sessionId=abc-1&encryptionKey={}&customPayload.from=shop", key.replace('=', "%3D"));
        let path = format!("/_api/iam/authentication/v1/sso/login/{}/{id}?{query}", world.app.site.id);
        // A client's call is told an address, by which its visitor becomes the member.
        let visitor = world.visitor().await;
        let headers = [("authorization", visitor.as_str()), ("origin", APP)];
        let told = send(&world.app, Method::GET, &path, &headers, None).await.json();
        assert_eq!((&told["statusCode"], &told["headers"][0]["key"]), (&json!(302), &json!("Location")));
        let opened = path_of(&text(&told["headers"][0]["value"]));
        let browser = world.browser();
        let url = location(&browser.open(&opened).await);
        let page = browser.open(&back(&provider.approve(&url, person("s", "anna@example.org")))).await;
        assert_eq!(page.status, StatusCode::OK);
        assert!(page.headers["content-security-policy"].to_str().unwrap().contains("script-src 'nonce-"));
        let answer = decrypted(&page, "abc-1", &[7; 32]);
        assert_eq!((&answer["state"], &answer["additionalData"]["from"]), (&json!("SUCCESS"), &json!({ "strValue": "shop" })));
        assert!(!world.access_of(&answer["sessionToken"]).await.is_empty());
        // A browser alone, and one who declines.
        let browser = world.browser();
        let url = location(&browser.open(&path).await);
        let page = browser.open(&back(&provider.decline(&url, "access_denied"))).await;
        assert_eq!(decrypted(&page, "abc-1", &[7; 32])["error"], "DECLINED");
        // One whom the sign-in refuses.
        let block = format!("/members/v1/members/{}/block", world.id_of("anna@example.org").await);
        assert_eq!(world.app.app().post(&block, &json!({})).await.verdict(), "200");
        let browser = world.browser();
        let url = location(&browser.open(&path).await);
        let way_back = back(&provider.approve(&url, person("s", "anna@example.org")));
        let refused = decrypted(&browser.open(&way_back).await, "abc-1", &[7; 32]);
        assert_eq!((&refused["error"], &refused["additionalData"]["from"]["strValue"]), (&json!("MEMBER_BLOCKED"), &json!("shop")), "{refused}");
        assert!(refused["errorDescription"].is_string() && refused.get("sessionToken").is_none());
        let wrong = |from: &str, to: &str| path.replace(from, to);
        for (bad, what) in [
            (wrong("tenantType=SITE", "tenantType=ACCOUNT"), "another kind of tenant"),
            (wrong("sessionId=abc-1", "sessionId=a%22b"), "a channel that is none"),
            (wrong("sessionId=abc-1", "sessionId="), "no channel"),
            (wrong(&key.replace('=', "%3D"), "AAAA"), "a key that is none"),
            (format!("{path}&visitorId=someone"), "a visitor whom nothing shows"),
            (format!("{path}&idpConnectionId=other"), "two connections"),
            (format!("{path}&customPayload.x={}", "x".repeat(600)), "too much"),
        ] {
            let refused = send(&world.app, Method::GET, &bad, &[], None).await;
            assert_eq!(refused.verdict(), "400 validationError", "{what}");
        }
        assert_eq!(send(&world.app, Method::GET, &wrong(&id, "none"), &[], None).await.verdict(), "404 NOT_FOUND");
        let elsewhere = wrong(world.app.site.id.as_str(), "none");
        assert_eq!(send(&world.app, Method::GET, &elsewhere, &[], None).await.verdict(), "404 SITE_NOT_FOUND");
        assert_eq!(world.app.app().get(&path).await.verdict(), "403 PERMISSION_DENIED", "an application waits for no page");
        let over = format!("/_api/iam/authentication/v1/sso/login/{}/{id}?ticket=nonsense", world.app.site.id);
        assert_eq!(send(&world.app, Method::GET, &over, &[], None).await.verdict(), "400 INVALID_LINK");
    }

    async fn data_of_links_is_exported_and_erased(engine) {
        let world = World::new(engine).await;
        let (provider, id) = world.with_provider(json!({})).await;
        let access = world.member_access("anna@example.org").await;
        let browser = world.browser();
        let view = browser.by_provider(&provider, &id, person("subject-7", "anna@example.org")).await;
        browser.answer(&text(&view["token"]), json!({ "type": "LINK_PROVIDER", "password": PASSWORD })).await;
        assert_eq!(world.prove(&access, json!({ "password": PASSWORD })).await, "200");
        let copy = world.own(&access, Method::GET, "export", Value::Null).await.json();
        assert_eq!((&copy["connections"][0]["idpUserId"], &copy["connections"][0]["label"]), (&json!("subject-7"), &json!("Elsewhere")));
        world.policy(json!({ "accountDeletionDays": 0 })).await;
        assert_eq!(world.post_own(&access, "deletion", json!({})).await.verdict(), "200");
        assert_eq!(world.count("provider_link").await, 0);
        assert_eq!(world.browser().by_provider(&provider, &id, person("subject-7", "anna@example.org")).await["step"]["message"], "SIGNED_IN", "an account of its own");
    }
}

pub(super) fn base64_of(bytes: &[u8]) -> String {
    use base64::{Engine as _, engine::general_purpose::STANDARD};
    STANDARD.encode(bytes)
}

/// What a page posts in a channel.
pub(super) fn decrypted(page: &Reply, channel: &str, key: &[u8]) -> Value {
    use base64::{Engine as _, engine::general_purpose::STANDARD};
    use ring::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
    let html = String::from_utf8_lossy(&page.body);
    assert!(html.contains(&format!("new BroadcastChannel(\"wix-idp-{channel}\")")), "{html}");
    let message: Value =
        serde_json::from_str(&html[html.find("postMessage(").unwrap() + 12..html.find(");c.close").unwrap()]).unwrap();
    let [iv, mut data] = ["iv", "data"].map(|it| STANDARD.decode(message[it].as_str().unwrap()).unwrap());
    let key = LessSafeKey::new(UnboundKey::new(&AES_256_GCM, key).unwrap());
    let nonce = Nonce::try_assume_unique_for_key(&iv).unwrap();
    serde_json::from_slice(key.open_in_place(nonce, Aad::empty(), &mut data).unwrap()).unwrap()
}
