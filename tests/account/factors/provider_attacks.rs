//! What must not work at sign-in by identity providers (docs/security.md, docs/defence.md).

use super::{
    providers::{back, person},
    *,
};
use stoa_identity::defence::throttle::{Rate, ThrottleLimits};
use stoa_testkit::openid::{OpenidProvider, Signing};

fn failed(view: &Value) -> &Value {
    assert_eq!(view["step"]["type"], "PROVIDER_FAILED", "{view}");
    &view["step"]["reason"]
}

/// The address with another value of a parameter.
fn with(url: &str, name: &str, value: &str) -> String {
    let (path, query) = url.split_once('?').unwrap();
    let pairs = query.split('&').map(|it| match it.split_once('=') {
        Some((found, _)) if found == name => format!("{name}={value}"),
        _ => it.to_owned(),
    });
    format!("{path}?{}", pairs.collect::<Vec<_>>().join("&"))
}

/// What a provider does otherwise than it should.
type Change = Box<dyn Fn(&mut stoa_testkit::openid::Orders)>;

on_both_engines! {
    async fn browser_that_was_not_sent_does_not_come_back(engine) {
        let world = World::new(engine).await;
        let (provider, id) = world.with_provider(json!({})).await;
        let attacker = world.browser();
        let (_, url) = attacker.to_provider(&id).await;
        let way_back = back(&provider.approve(&url, person("evil", "evil@example.org")));
        // A victim's browser is made to open it: with no cookie, and with one of its own.
        let victim = world.browser();
        assert_eq!(victim.open(&way_back).await.verdict(), GONE);
        let (token, _) = victim.to_provider(&id).await;
        assert_eq!(victim.open(&way_back).await.verdict(), GONE);
        assert_eq!(victim.flow_view(&token).await.json()["step"]["type"], "SIGN_IN");
        assert!(!victim.has("stoa-session"));
        assert_eq!((world.count("member").await, provider.calls().get("token")), (0, None), "the code was not even looked at");
        // A state that nobody made, or of another site.
        for state in ["", "1.AAAA", "999999.AAAA", "x", &format!("{}.{}", world.app.site.number, "A".repeat(9_000))] {
            let forged = with(&way_back, "state", state);
            assert_eq!(attacker.open(&forged).await.verdict(), GONE, "{state}");
        }
        let sent = send(&world.app, Method::GET, "/v1/callback?sessionToken=x&state=y", &[], None).await;
        assert_eq!(sent.verdict(), "400 validationError", "of a form that is not built");
    }

    async fn answer_counts_once_and_in_time(engine) {
        let world = World::new(engine).await;
        let (provider, id) = world.with_provider(json!({})).await;
        let browser = world.browser();
        let (token, url) = browser.to_provider(&id).await;
        let way_back = provider.approve(&url, person("s", "anna@example.org"));
        assert_eq!(browser.come_back(&token, &way_back).await["step"]["message"], "SIGNED_IN");
        // The flow is over, so the same address leads nowhere.
        assert_eq!(browser.open(&back(&way_back)).await.verdict(), GONE);
        // A code of one flow in another one of the same browser: the verifier is another.
        let (_, first) = browser.to_provider(&id).await;
        let (second, other) = browser.to_provider(&id).await;
        let [of_first, of_other] = [&first, &other].map(|it| provider.approve(it, person("s", "anna@example.org")));
        let code = parameters(&of_first, '?')["code"].clone();
        provider.calls();
        let view = browser.come_back(&second, &with(&of_other, "code", &code)).await;
        assert_eq!(failed(&view), "REFUSED");
        // Too late.
        let browser = world.browser();
        let (_, url) = browser.to_provider(&id).await;
        let way_back = provider.approve(&url, person("s", "anna@example.org"));
        world.app.kit.clock.advance(11 * 60_000);
        assert_eq!(browser.open(&back(&way_back)).await.verdict(), GONE);
    }

    async fn token_must_be_signed_for_this_client_and_request(engine) {
        let world = World::new(engine).await;
        let (provider, id) = world.with_provider(json!({})).await;
        let other = "https://evil.example";
        let now = world.app.kit.world.now() / 1_000;
        let cases: Vec<(&str, Change)> = vec![
            ("no signature", Box::new(|it| it.signing = Signing::Nothing)),
            ("a MAC with the public key", Box::new(|it| it.signing = Signing::Mac)),
            ("a key that is not the provider's", Box::new(|it| it.signing = Signing::Another)),
            ("the algorithm of another kind", Box::new(|it| it.head = json!({ "alg": "RS256" }))),
            ("a key that there is not", Box::new(|it| it.head = json!({ "kid": "unknown" }))),
            ("extensions", Box::new(|it| it.head = json!({ "crit": ["exp"] }))),
            ("another client", Box::new(|it| it.claims = json!({ "aud": "another" }))),
            ("several clients", Box::new(|it| it.claims = json!({ "aud": ["the:client", "another"] }))),
            ("made for another client", Box::new(|it| it.claims = json!({ "azp": "another" }))),
            ("another issuer", Box::new(move |it| it.claims = json!({ "iss": other }))),
            ("another request", Box::new(|it| it.claims = json!({ "nonce": "x".repeat(43) }))),
            ("no request", Box::new(|it| it.claims = json!({ "nonce": null }))),
            ("over", Box::new(move |it| it.claims = json!({ "exp": now - 400 }))),
            ("of tomorrow", Box::new(move |it| it.claims = json!({ "iat": now + 86_400 }))),
            ("of yesterday", Box::new(move |it| it.claims = json!({ "iat": now - 86_400 }))),
            ("of nobody", Box::new(|it| it.claims = json!({ "sub": null }))),
        ];
        for (what, order) in cases {
            provider.order(|it| order(it));
            let view = world.browser().by_provider(&provider, &id, person("s", "anna@example.org")).await;
            assert_eq!(failed(&view), "REFUSED", "{what}");
            provider.behave("first");
            // Wrong ones count for the network.
            world.app.kit.clock.advance(120_000);
        }
        assert_eq!(world.count("member").await, 0);
        provider.calls();
        // Keys that were changed are found.
        provider.behave("second");
        world.app.kit.clock.advance(60_000);
        assert_eq!(world.browser().by_provider(&provider, &id, person("s", "anna@example.org")).await["step"]["message"], "SIGNED_IN");
        assert_eq!(provider.calls()["keys"], 1);
    }

    async fn answers_of_two_providers_are_not_mixed_up(engine) {
        let world = World::new(engine).await;
        let (honest, id) = world.with_provider(json!({})).await;
        let evil = OpenidProvider::start(&world.app.kit.world).await;
        let other = world.connect(&evil, "evil", json!({})).await;
        // The browser went to one, and the other answers.
        let browser = world.browser();
        let (token, url) = browser.to_provider(&id).await;
        let way_back = honest.approve(&url, person("s", "anna@example.org"));
        let issuer = evil.issuer.replace(':', "%3A").replace('/', "%2F");
        assert_eq!(failed(&browser.come_back(&token, &with(&way_back, "iss", &issuer)).await), "REFUSED");
        let nameless = way_back.split("&iss=").next().unwrap();
        assert_eq!(failed(&browser.come_back(&token, nameless).await), "REFUSED", "it says that its answers name it");
        assert_eq!((honest.calls().get("token"), evil.calls().get("token")), (None, None), "no code went anywhere");
        // Subjects of one mean nothing to the other.
        assert_eq!(world.browser().by_provider(&honest, &id, person("s", "anna@example.org")).await["step"]["message"], "SIGNED_IN");
        let view = world.browser().by_provider(&evil, &other, person("s", "anna@example.org")).await;
        assert_eq!(view["step"]["type"], "LINK_PROVIDER", "another provider that names the address takes no account");
        assert_eq!(world.count("provider_link").await, 1);
    }

    async fn account_that_waits_for_its_owner_is_not_linked(engine) {
        let world = World::new(engine).await;
        let (provider, id) = world.with_provider(json!({ "linksByEmail": true })).await;
        // The attacker has registered the address before, with a password.
        let attacker = world.unproven_access("victim@example.org").await;
        let view = world.browser().by_provider(&provider, &id, person("victim", "victim@example.org")).await;
        assert_eq!((&view["step"]["type"], world.count("provider_link").await), (&json!("LINK_PROVIDER"), 0));
        assert_eq!(world.connections(&attacker).await, json!([]));
        // Or by a provider that lets people name any address: the owner's recovery link ends that.
        let doubtful = json!({ "sub": "evil", "email": "other@example.org", "email_verified": false });
        let view = world.browser().by_provider(&provider, &id, doubtful.clone()).await;
        assert_eq!(view["step"]["type"], "VERIFY_EMAIL");
        let link = world.recovery_link("other@example.org").await;
        let body = json!({ "recoveryToken": link, "password": PASSWORD });
        assert_eq!(world.call(&world.visitor().await, "/v1/recover", &body).await.json()["state"], "SUCCESS");
        assert_eq!(world.count("provider_link").await, 0);
        // Nor is there a question for its password, which would tie it.
        let view = world.browser().by_provider(&provider, &id, doubtful.clone()).await;
        assert_eq!(failed(&view), "NO_EMAIL");
        let nonce = "a nonce that was drawn";
        let body = json!({ "idpConnectionId": id, "tokenParams": { "idToken": provider.id_token(&doubtful, nonce), "nonce": nonce } });
        let refused = world.call(&world.visitor().await, "/v1/sso/login-with-token-params", &body).await;
        assert_eq!(refused.verdict(), "400 INVALID_EMAIL");
    }

    async fn provider_that_fails_holds_nobody_up(engine) {
        let world = World::new(engine).await;
        let begin = async |id: &str| {
            let browser = world.browser();
            let token = text(&browser.start(json!({ "kind": "SIGN_IN" })).await["token"]);
            browser.answer(&token, json!({ "type": "PROVIDER", "id": id })).await
        };
        for (n, order) in [
            json!({ "issuer": "https://other.example" }),
            json!({ "token_endpoint": "http://169.254.169.254/latest" }),
            json!({ "jwks_uri": "http://10.0.0.1/keys" }),
            json!({ "authorization_endpoint": "javascript:alert(1)" }),
            json!({ "token_endpoint": null }),
        ].into_iter().enumerate() {
            let provider = OpenidProvider::start(&world.app.kit.world).await;
            provider.order(|it| it.metadata = order.clone());
            let id = world.connect(&provider, &format!("n{n}"), json!({})).await;
            assert_eq!(failed(&begin(&id).await), "UNAVAILABLE", "{order}");
            // However many ask, it is asked again after a while only.
            begin(&id).await;
            assert_eq!(provider.calls()["metadata"], 1);
            world.app.kit.clock.advance(11_000);
            provider.behave("first");
            assert_eq!(begin(&id).await["step"]["type"], "REDIRECT");
        }
        let provider = OpenidProvider::start(&world.app.kit.world).await;
        let id = world.connect(&provider, "slow", json!({})).await;
        provider.order(|it| it.is_huge = true);
        assert_eq!(failed(&begin(&id).await), "UNAVAILABLE");
        world.app.kit.clock.advance(11_000);
        provider.order(|it| (it.is_huge, it.hangs) = (false, true));
        let began = stoa_kernel::clock::elapsing();
        assert_eq!(failed(&begin(&id).await), "UNAVAILABLE");
        assert!(stoa_kernel::clock::elapsing() - began < 20_000);
        world.app.kit.clock.advance(11_000);
        provider.behave("first");
        for (status, reason) in [(500, "UNAVAILABLE"), (302, "REFUSED"), (401, "REFUSED")] {
            provider.order(|it| it.token_status = Some(status));
            let view = world.browser().by_provider(&provider, &id, person("s", "anna@example.org")).await;
            assert_eq!(failed(&view), reason, "{status}");
        }
        provider.behave("first");
        assert_eq!(world.browser().by_provider(&provider, &id, person("s", "anna@example.org")).await["step"]["message"], "SIGNED_IN");
    }

    async fn answers_without_end_are_bounded_however_good_they_are(engine) {
        let flow = Rate { burst: 4.0, per_second: 0.1 };
        let throttle = ThrottleLimits { flow, ..ThrottleLimits::default() };
        let world = World::with(engine, Config { throttle, ..Config::default() }).await;
        let (provider, id) = world.with_provider(json!({})).await;
        let browsers: Vec<Browser<'_>> = (0..6).map(|_| world.browser()).collect();
        let mut urls = Vec::new();
        for browser in &browsers {
            urls.push(browser.to_provider(&id).await.1);
            // So that the beginnings have used nothing up.
            world.app.kit.clock.advance(10_000);
        }
        world.app.kit.clock.advance(40_000);
        let mut statuses = Vec::new();
        for (n, (browser, url)) in browsers.iter().zip(&urls).enumerate() {
            let back = back(&provider.approve(url, person(&format!("s {n}"), "anna@example.org")));
            statuses.push(browser.open(&back).await.status);
        }
        assert_eq!(statuses[..4], [StatusCode::SEE_OTHER; 4]);
        assert_eq!(statuses[4..], [StatusCode::TOO_MANY_REQUESTS; 2]);
        assert_eq!(provider.calls()["token"], 4);
    }

    async fn unknown_keys_make_few_calls(engine) {
        let world = World::new(engine).await;
        let (provider, id) = world.with_provider(json!({})).await;
        let (visitor, nonce) = (world.visitor().await, "a nonce that was drawn");
        let login = async |n: usize| {
            provider.order(|it| it.head = json!({ "kid": format!("unknown {n}") }));
            let token = provider.id_token(&person("s", "anna@example.org"), nonce);
            let body = json!({ "idpConnectionId": id, "tokenParams": { "idToken": token, "nonce": nonce } });
            world.call(&visitor, "/v1/sso/login-with-token-params", &body).await.status
        };
        login(0).await;
        // The keys of before are known, and no others can be read.
        world.app.kit.clock.advance(31_000);
        provider.order(|it| it.keys_status = Some(500));
        provider.calls();
        let answers = join_all((0..100).map(login)).await;
        assert!(answers.iter().all(|it| !it.is_success()));
        assert_eq!(provider.calls(), [("keys", 1)].into());
        // A token with a key that is known counts all the while.
        provider.order(|it| it.head = Value::Null);
        world.app.kit.clock.advance(60_000);
        let view = world.browser().by_provider(&provider, &id, person("s", "anna@example.org")).await;
        assert_eq!(view["step"]["message"], "SIGNED_IN", "{view}");
        assert_eq!(provider.calls().get("keys"), None);
    }

    async fn hundred_at_once_are_one_member(engine) {
        let world = World::new(engine).await;
        let (provider, id) = world.with_provider(json!({})).await;
        let browsers: Vec<Browser<'_>> = (0..100).map(|_| world.browser()).collect();
        let mut ways = Vec::new();
        for browser in &browsers {
            let (token, url) = browser.to_provider(&id).await;
            let way_back = provider.approve(&url, person("s", "anna@example.org"));
            assert_eq!(flow_of(&browser.open(&back(&way_back)).await), token);
            ways.push(token);
        }
        // All pages are asked for at once, some of them twice.
        // Of two answers about one sign-in the later finds it changed, whichever that is.
        let asked = browsers.iter().zip(&ways).enumerate();
        let asked = asked.flat_map(|(n, (browser, token))| (0..if n % 10 == 9 { 2 } else { 1 }).map(|_| browser.flow_view(token)));
        let views = join_all(asked).await;
        let signed = views.iter().filter(|it| it.status == StatusCode::OK && it.json()["step"]["message"] == "SIGNED_IN").count();
        let told = || views.iter().map(|it| format!("{} {}", it.verdict(), it.json()["problems"])).collect::<std::collections::BTreeSet<_>>();
        assert!((1..=100).contains(&signed), "{signed}: {:?}", told());
        assert_eq!((world.count("member").await, world.count("provider_link").await), (1, 1));
    }

    async fn address_of_the_provider_is_the_only_one_that_a_browser_is_sent_to(engine) {
        let world = World::new(engine).await;
        let (provider, id) = world.with_provider(json!({})).await;
        let browser = world.browser();
        let (_, url) = browser.to_provider(&id).await;
        let sent = parameters(&url, '?');
        assert_eq!(sent["redirect_uri"], "http://localhost/_api/iam/authentication/v1/callback");
        assert_eq!((sent["response_type"].as_str(), sent["code_challenge_method"].as_str(), sent["scope"].as_str()), ("code", "S256", "openid email profile"));
        assert!(!sent["state"].contains(&sent["nonce"]), "what is in it is sealed");
        for more in ["&redirect_uri=https://evil.example", "&returnUrl=https://evil.example", "&postFlowUrl=//evil.example"] {
            let (_, url) = browser.to_provider(&id).await;
            let way_back = back(&provider.approve(&url, person("s", "anna@example.org")));
            let sent_on = location(&browser.open(&format!("{way_back}{more}")).await);
            assert!(sent_on.starts_with("/account/flow/"), "{sent_on}");
        }
        // Those who run the site have no part in it.
        let owner = text(&browser.start(json!({ "kind": "OWNER_SIGN_IN" })).await["token"]);
        let view = browser.answer(&owner, json!({ "type": "PROVIDER", "id": id })).await;
        assert_eq!((&view["step"]["type"], &view["problems"][0]["code"]), (&json!("SIGN_IN"), &json!("STEP_CHANGED")));
        assert_eq!(view["step"]["providers"], json!([]));
    }

    async fn who_only_begins_fills_no_table(engine) {
        let world = World::new(engine).await;
        let (_provider, id) = world.with_provider(json!({})).await;
        let browser = world.browser();
        let token = text(&browser.start(json!({ "kind": "SIGN_IN" })).await["token"]);
        for _ in 0..20 {
            browser.answer(&token, json!({ "type": "PROVIDER", "id": id })).await;
        }
        assert_eq!((world.count("flow").await, world.count("provider_answer").await, world.count("provider_link").await), (1, 0, 0));
    }
}
