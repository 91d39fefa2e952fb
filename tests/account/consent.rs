//! Members agree before a client of others acts for them (docs/scopes.md, decision 62).

use super::*;
use futures_util::future::{join, join_all};
use stoa_kernel::Secret;
use stoa_testkit::on_both_engines;

const LIST: &str = "/_api/identity/v1/applications";
const GONE: &str = "400 INVALID_STATE_TOKEN";
const BOTH: &str = "items:read members:read";

/// A member who is signed in in a browser, and a client of others that may be given two scopes.
struct Scene<'w> {
    browser: Browser<'w>,
    /// The member's own access token.
    ada: String,
    partner: Client,
    secret: Secret,
}

impl World {
    async fn scene(&self) -> Scene<'_> {
        let browser = self.browser();
        let ada = text(&self.member(&browser, "ada@example.org").await["access_token"]);
        let (partner, secret) = self.app.partner(BOTH).await;
        Scene { browser, ada, partner, secret }
    }

    /// A redirect session of a visitor of the client, with a sign-in that has just succeeded.
    async fn signed_on(&self, partner: &Client, email: &str, more: Value) -> String {
        let grant = json!({ "clientId": partner.id, "grantType": "anonymous" });
        let visitor = text(&self.call("", "/oauth2/token", &grant).await.json()["access_token"]);
        let login = json!({ "loginId": { "email": email }, "password": PASSWORD });
        let signed = self.call(&self.visitor().await, "/v2/login", &login).await.json();
        let mut request = self.auth_request();
        let changes = json!({ "clientId": partner.id, "redirectUri": partner.redirect_uris[0], "scope": "items:read",
            "sessionToken": signed["sessionToken"] });
        request.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        let mut auth = json!({ "authRequest": request });
        auth.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.redirect_session(&visitor, &json!({ "auth": auth })).await
    }
}

impl Scene<'_> {
    fn path(&self, scope: &str) -> String {
        authorize_path(&self.partner, &[("scope", scope)])
    }

    /// The token of the flow that asks for consent, and its step.
    async fn asked(&self, path: &str) -> (String, Value) {
        let token = flow_of(&self.browser.open(path).await);
        let view = self.browser.flow_view(&token).await.json();
        assert_eq!(view["step"]["type"], "CONSENT", "{view}");
        assert_eq!(
            (&view["kind"], &view["cancelUrl"], &view["canGoBack"]),
            (&json!("SIGN_IN"), &json!(null), &json!(false))
        );
        (token, view["step"].clone())
    }

    async fn allow(&self, token: &str) -> BTreeMap<String, String> {
        self.answer(token, "ALLOW").await
    }

    /// Where an answer leads, as parameters of the client's address.
    async fn answer(&self, token: &str, input: &str) -> BTreeMap<String, String> {
        let view = self.browser.answer(token, json!({ "type": input })).await;
        let url = view["step"]["url"].as_str().unwrap_or_else(|| panic!("{view}"));
        assert!(url.starts_with(&self.partner.redirect_uris[0]), "{url}");
        parameters(url, '?')
    }

    /// The parameters with which an address leads on without a question.
    async fn unasked(&self, path: &str) -> BTreeMap<String, String> {
        let to = location(&self.browser.open(path).await);
        assert!(to.starts_with(&self.partner.redirect_uris[0]), "{to}");
        parameters(&to, '?')
    }

    async fn tokens(&self, world: &World, code: &str) -> Reply {
        let grant = json!({ "grant_type": "authorization_code", "client_id": self.partner.id, "client_secret": self.secret.expose(),
            "redirect_uri": self.partner.redirect_uris[0], "code": code, "code_verifier": VERIFIER });
        world.call("", "/oauth2/token", &grant).await
    }

    async fn applications(&self, world: &World) -> Value {
        world.app.with_token(&self.ada).get(LIST).await.json()["applications"].clone()
    }

    async fn end(&self, world: &World) -> String {
        world.app.with_token(&self.ada).delete(&format!("{LIST}/{}", self.partner.id)).await.verdict()
    }
}

on_both_engines! {
    async fn member_is_asked_before_a_client_of_others_gets_a_code(engine) {
        let world = World::new(engine).await;
        let scene = world.scene().await;
        let (token, step) = scene.asked(&scene.path("items:read")).await;
        assert_eq!(step, json!({ "type": "CONSENT", "appName": scene.partner.name, "host": "partner.example",
            "account": "ada@example.org", "scopes": ["items:read"] }));
        assert_eq!((world.count("code").await, world.count("consent").await), (1, 0), "that of the sign-in alone");
        let found = scene.allow(&token).await;
        assert_eq!((found["state"].as_str(), &found["iss"]), ("s", &format!("http://localhost/s/{}", world.app.site.id)));
        assert_eq!(scene.tokens(&world, &found["code"]).await.json()["scope"], "items:read offline_access");

        // For that, for less of it and for nothing no question is asked again, silently either.
        for more in [&[("scope", "items:read")][..], &[("scope", "items:read:a")], &[], &[("scope", "items:read"), ("prompt", "none")]] {
            assert!(scene.unasked(&authorize_path(&scene.partner, more)).await.contains_key("code"), "{more:?}");
        }
        // For more one is, and it names all of it.
        let (token, step) = scene.asked(&scene.path(BOTH)).await;
        assert_eq!(step["scopes"], json!(["items:read", "members:read"]));
        scene.allow(&token).await;
        assert!(scene.unasked(&scene.path(BOTH)).await.contains_key("code"));
        // What was agreed to before stays.
        assert!(scene.unasked(&scene.path("members:read")).await.contains_key("code"));
        for prompt in ["consent", "consent consent"] {
            let path = authorize_path(&scene.partner, &[("scope", "items:read"), ("prompt", prompt)]);
            let token = flow_of(&scene.browser.open(&path).await);
            let view = scene.browser.flow_view(&token).await.json();
            // Several words have both questions asked.
            assert_eq!(view["step"]["type"], if prompt == "consent" { "CONSENT" } else { "SIGN_IN" });
        }
        let events = world.app.app().get("/_api/identity/v1/audit?event=application_allow").await.json();
        assert_eq!(events["entries"].as_array().map(Vec::len), Some(2), "{events}");
        assert_eq!(world.count("consent").await, 1);
    }

    async fn client_that_asks_for_no_scope_is_asked_about(engine) {
        let world = World::new(engine).await;
        let scene = world.scene().await;
        let (token, step) = scene.asked(&authorize_path(&scene.partner, &[])).await;
        assert_eq!(step["scopes"], json!([]));
        let tokens = scene.tokens(&world, &scene.allow(&token).await["code"]).await.json();
        assert_eq!(tokens["scope"], "offline_access");
        scene.asked(&scene.path("items:read")).await;
    }

    async fn declining_leads_back_with_an_error_and_ends_the_flow(engine) {
        let world = World::new(engine).await;
        let scene = world.scene().await;
        for input in ["DECLINE", "CANCEL"] {
            let (token, _) = scene.asked(&scene.path("items:read")).await;
            let found = scene.answer(&token, input).await;
            assert_eq!((found["error"].as_str(), found["state"].as_str()), ("access_denied", "s"));
            assert_eq!(found["iss"], format!("http://localhost/s/{}", world.app.site.id));
            assert!(!found.contains_key("code"));
            let path = format!("/_api/account/v1/flows/{token}");
            let again = scene.browser.ask(Method::POST, &path, Some(&json!({ "type": "ALLOW" }))).await;
            assert_eq!(again.verdict(), GONE, "one answer counts, once");
        }
        assert_eq!((world.count("consent").await, scene.applications(&world).await), (0, json!([])));
        assert!(scene.browser.has("stoa-session"), "the member stays signed in at the site");
    }

    async fn nothing_is_given_silently_without_consent(engine) {
        let world = World::new(engine).await;
        let scene = world.scene().await;
        let silent = authorize_path(&scene.partner, &[("scope", "items:read"), ("prompt", "none")]);
        let found = scene.unasked(&silent).await;
        assert_eq!((found["error"].as_str(), found["state"].as_str()), ("consent_required", "s"));
        assert!(found.contains_key("iss"));
        let stranger = parameters(&location(&world.browser().open(&silent).await), '?');
        assert_eq!(stranger["error"], "login_required");
        // No page that asks can be shown in a frame.
        let framed = [("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "iframe")];
        for more in [&[("scope", "items:read")][..], &[("scope", "items:read"), ("prompt", "consent")]] {
            let reply = scene.browser.send(Method::GET, &authorize_path(&scene.partner, more), &framed, None).await;
            assert_eq!(parameters(&location(&reply), '?')["error"], "consent_required", "{more:?}");
        }
        let (token, _) = scene.asked(&scene.path("items:read")).await;
        scene.allow(&token).await;
        assert!(scene.unasked(&silent).await.contains_key("code"));
        let reply = scene.browser.send(Method::GET, &scene.path("items:read"), &framed, None).await;
        assert!(parameters(&location(&reply), '?').contains_key("code"));
    }

    async fn sign_in_goes_on_to_the_question(engine) {
        let world = World::new(engine).await;
        world.register("ada@example.org").await;
        let (partner, _) = world.app.partner(BOTH).await;
        let path = authorize_path(&partner, &[("scope", "items:read")]);
        let sign_in = json!({ "type": "SIGN_IN", "email": "ada@example.org", "password": PASSWORD });
        let browser = world.browser();
        let token = flow_of(&browser.open(&path).await);
        // The answer before the question means nothing.
        let early = browser.answer(&token, json!({ "type": "ALLOW" })).await;
        assert_eq!((&early["step"]["type"], &early["problems"][0]["code"]), (&json!("SIGN_IN"), &json!("STEP_CHANGED")));
        let view = browser.answer(&token, sign_in.clone()).await;
        assert_eq!((&view["step"]["type"], &view["step"]["account"]), (&json!("CONSENT"), &json!("ada@example.org")));
        assert!(browser.has("stoa-session"), "signed in, whatever the answer is");
        assert_eq!(browser.flow_view(&token).await.json()["step"]["type"], "CONSENT");
        let again = browser.answer(&token, sign_in.clone()).await;
        assert_eq!((&again["step"]["type"], &again["problems"][0]["code"]), (&json!("CONSENT"), &json!("STEP_CHANGED")));
        let view = browser.answer(&token, json!({ "type": "ALLOW" })).await;
        assert!(parameters(view["step"]["url"].as_str().unwrap(), '?').contains_key("code"), "{view}");

        // Who has agreed is not asked in another browser, but where the client wants it.
        for (prompt, step) in [("login", "REDIRECT"), ("login consent", "CONSENT")] {
            let browser = world.browser();
            let path = authorize_path(&partner, &[("scope", "items:read"), ("prompt", prompt)]);
            let token = flow_of(&browser.open(&path).await);
            let view = browser.answer(&token, sign_in.clone()).await;
            assert_eq!(view["step"]["type"], step, "{prompt}");
            assert!(browser.has("stoa-session"));
            if step == "REDIRECT" {
                assert!(parameters(view["step"]["url"].as_str().unwrap(), '?').contains_key("code"));
                assert_eq!(browser.flow_view(&token).await.verdict(), GONE);
            }
        }
    }

    async fn sign_ins_sent_at_once_show_one_question(engine) {
        let world = World::new(engine).await;
        world.register("ada@example.org").await;
        let (partner, _) = world.app.partner(BOTH).await;
        let browser = world.browser();
        let token = flow_of(&browser.open(&authorize_path(&partner, &[("scope", "items:read")])).await);
        let sign_in = json!({ "type": "SIGN_IN", "email": "ada@example.org", "password": PASSWORD });
        for view in join_all((0..8).map(|_| browser.answer(&token, sign_in.clone()))).await {
            assert_eq!(view["step"]["type"], "CONSENT", "{view}");
        }
        let view = browser.answer(&token, json!({ "type": "ALLOW" })).await;
        assert!(parameters(view["step"]["url"].as_str().unwrap(), '?').contains_key("code"), "{view}");
    }

    async fn session_token_gives_no_code_without_consent(engine) {
        let world = World::new(engine).await;
        world.register("ada@example.org").await;
        let (partner, _) = world.app.partner(BOTH).await;
        let own_page = Some("https://partner.example");
        let silent = json!({ "prompt": "none" });
        let browser = world.browser();
        let path = world.signed_on(&partner, "ada@example.org", silent.clone()).await;
        let found = parameters(&location(&browser.open_from(&path, own_page).await), '#');
        assert_eq!((found["error"].as_str(), found["state"].as_str()), ("consent_required", "the state"));
        assert!(!browser.has("stoa-session"));
        // Nobody is asked about a sign-in that a page of others has sent the browser, the client's own among them.
        for from in [None, Some("https://evil.example"), own_page] {
            let browser = world.browser();
            let path = world.signed_on(&partner, "ada@example.org", json!({})).await;
            let token = flow_of(&browser.open_from(&path, from).await);
            assert_eq!(browser.flow_view(&token).await.json()["step"]["type"], "SIGN_IN", "{from:?}");
            assert!(!browser.has("stoa-session"), "{from:?}");
        }
        let path = world.signed_on(&partner, "ada@example.org", json!({})).await;
        let token = flow_of(&browser.open_from(&path, own_page).await);
        let sign_in = json!({ "type": "SIGN_IN", "email": "ada@example.org", "password": PASSWORD });
        let view = browser.answer(&token, sign_in).await;
        assert_eq!((&view["step"]["type"], &view["step"]["host"]), (&json!("CONSENT"), &json!("partner.example")));
        let view = browser.answer(&token, json!({ "type": "ALLOW" })).await;
        assert!(parameters(view["step"]["url"].as_str().unwrap(), '#').contains_key("code"), "{view}");
        // What was agreed to gives a code, and keeps nobody signed in here.
        let path = world.signed_on(&partner, "ada@example.org", silent).await;
        let browser = world.browser();
        let found = parameters(&location(&browser.open_from(&path, own_page).await), '#');
        assert!(found.contains_key("code"), "agreed to: {found:?}");
        assert!(!browser.has("stoa-session"));
    }

    async fn nobody_agrees_without_the_factor_that_is_due(engine) {
        let world = World::new(engine).await;
        let scene = world.scene().await;
        let own_page = Some("https://partner.example");
        let signed_on = world.signed_on(&scene.partner, "ada@example.org", json!({})).await;
        let token = flow_of(&scene.browser.open_from(&signed_on, own_page).await);
        assert_eq!(scene.browser.flow_view(&token).await.json()["step"]["type"], "CONSENT", "by the browser's own session");
        let later = world.signed_on(&scene.partner, "ada@example.org", json!({})).await;
        let (seen, _) = scene.asked(&scene.path("items:read")).await;
        world.policy(json!({ "secondFactor": "REQUIRED", "secondFactorGraceDays": 0 })).await;
        assert_eq!(scene.browser.flow_view(&seen).await.json()["step"]["type"], "SIGN_IN");
        let view = scene.browser.answer(&token, json!({ "type": "ALLOW" })).await;
        assert_eq!((&view["step"]["type"], &view["problems"][0]["code"]), (&json!("SIGN_IN"), &json!("STEP_CHANGED")));
        let token = flow_of(&scene.browser.open_from(&later, own_page).await);
        assert_eq!(scene.browser.flow_view(&token).await.json()["step"]["type"], "SIGN_IN");
        assert_eq!(world.count("consent").await, 0);
    }

    async fn consent_belongs_to_its_browser_and_its_member(engine) {
        let world = World::new(engine).await;
        let scene = world.scene().await;
        let input = json!({ "type": "ALLOW" });
        let (token, _) = scene.asked(&scene.path("items:read")).await;
        let path = format!("/_api/account/v1/flows/{token}");
        // Another browser, in which another member is signed in, with a flow of its own.
        let other = world.browser();
        world.member(&other, "ben@example.org").await;
        flow_of(&other.open(&scene.path("items:read")).await);
        for method in [Method::GET, Method::POST] {
            let body = (method == Method::POST).then_some(&input);
            assert_eq!(other.ask(method, &path, body).await.verdict(), GONE);
        }
        // A page of others.
        let foreign = [("content-type", "application/json"), ("sec-fetch-site", "cross-site"), ("origin", "https://evil.example")];
        let reply = scene.browser.send(Method::POST, &path, &foreign, Some(&input)).await;
        assert_eq!(reply.verdict(), "403 PERMISSION_DENIED");
        // The same browser, in which another member has signed in meanwhile, or nobody is signed in any more.
        let session = |browser: &Browser<'_>| {
            let cookies = browser.cookies.lock().unwrap();
            cookies.iter().find(|it| it.0.starts_with("stoa-session")).map(|(name, value)| (name.clone(), value.clone())).unwrap()
        };
        let (name, own) = session(&scene.browser);
        for kept in [Some(session(&other).1), None] {
            let (token, _) = scene.asked(&scene.path("items:read")).await;
            match kept {
                Some(value) => scene.browser.cookies.lock().unwrap().insert(name.clone(), value),
                None => scene.browser.cookies.lock().unwrap().remove(&name),
            };
            let view = scene.browser.answer(&token, input.clone()).await;
            assert_eq!((&view["step"]["type"], &view["problems"][0]["code"]), (&json!("SIGN_IN"), &json!("STEP_CHANGED")));
            scene.browser.cookies.lock().unwrap().insert(name.clone(), own.clone());
        }
        // Nor does one who was signed out elsewhere see whose account it was.
        let (token, _) = scene.asked(&scene.path("items:read")).await;
        let info = world.app.anonymous().post("/oauth2/token-info", &json!({ "token": scene.ada })).await.json();
        let block = format!("/members/v1/members/{}/block", text(&info["subjectId"]));
        assert_eq!(world.app.app().post(&block, &json!({})).await.verdict(), "200");
        let view = scene.browser.flow_view(&token).await.json();
        assert_eq!((&view["step"]["type"], &view["step"]["email"]), (&json!("SIGN_IN"), &json!(null)));
        assert_eq!(world.count("consent").await, 0);
    }

    async fn one_answer_of_a_hundred_counts(engine) {
        let world = World::new(engine).await;
        let scene = world.scene().await;
        let (token, _) = scene.asked(&scene.path("items:read")).await;
        let path = format!("/_api/account/v1/flows/{token}");
        let inputs = [json!({ "type": "ALLOW" }), json!({ "type": "DECLINE" })];
        let replies = join_all((0..100).map(|at| scene.browser.ask(Method::POST, &path, Some(&inputs[at % 2])))).await;
        let urls: Vec<String> = replies
            .iter()
            .filter(|it| it.status == StatusCode::OK)
            .filter_map(|it| it.json()["step"]["url"].as_str().map(str::to_owned))
            .collect();
        assert_eq!(urls.len(), 1, "{urls:?}");
        let allowed = parameters(&urls[0], '?').contains_key("code");
        // The code of the sign-in is the first.
        assert_eq!((world.count("code").await, world.count("consent").await), (1 + i64::from(allowed), i64::from(allowed)));
    }

    async fn what_was_agreed_to_is_taken_back_with_sessions_and_codes(engine) {
        let world = World::new(engine).await;
        let scene = world.scene().await;
        assert_eq!(scene.end(&world).await, "404 NOT_FOUND");
        let (token, _) = scene.asked(&scene.path("items:read")).await;
        let code = scene.allow(&token).await["code"].clone();
        // It is in the list, and in the copy of the data, before it has a session.
        let listed = scene.applications(&world).await;
        assert_eq!((&listed[0]["id"], &listed[0]["scopes"]), (&json!(scene.partner.id), &json!(["items:read"])), "{listed}");
        assert_eq!(scene.end(&world).await, "200");
        assert_eq!((world.count("consent").await, scene.applications(&world).await), (0, json!([])));
        assert_eq!(scene.tokens(&world, &code).await.verdict(), "400 invalid_grant", "a code of before");

        let (token, _) = scene.asked(&scene.path("items:read")).await;
        let tokens = scene.tokens(&world, &scene.allow(&token).await["code"]).await.json();
        let held = world.app.with_token(tokens["access_token"].as_str().unwrap());
        let query = json!({ "dataCollectionId": "none", "query": {} });
        assert_eq!(held.post("/v2/items/query", &query).await.verdict(), "404 WDE0025");
        assert_eq!(scene.end(&world).await, "200");
        assert_eq!(held.post("/v2/items/query", &query).await.verdict(), "401 UNAUTHENTICATED");
        scene.asked(&scene.path("items:read")).await;
    }

    async fn member_is_told_of_what_they_allow_and_take_back(engine) {
        let world = World::new(engine).await;
        let scene = world.scene().await;
        let (items, members) = ("• Read the items of all collections\n", "• Read the profiles and addresses of all members\n");
        let (token, _) = scene.asked(&scene.path("items:read")).await;
        world.app.mail.take();
        scene.allow(&token).await;
        let told = world.app.mail.take();
        assert_eq!((told.len(), told[0].to.as_str()), (1, "ada@example.org"));
        assert_eq!(told[0].subject, "Partner has access to your account at Test");
        assert!(told[0].text.contains(items) && !told[0].text.contains(members), "{}", told[0].text);
        assert!(told[0].links[0].ends_with("/account/sessions"), "where it is taken back: {:?}", told[0].links);
        // The same once more is no news.
        let again = authorize_path(&scene.partner, &[("scope", "items:read"), ("prompt", "consent")]);
        let (token, _) = scene.asked(&again).await;
        scene.allow(&token).await;
        assert!(world.app.mail.take().is_empty());
        // More is, and all of it is named.
        let (token, _) = scene.asked(&scene.path("members:read")).await;
        scene.allow(&token).await;
        let told = world.app.mail.take();
        assert!(told.len() == 1 && told[0].text.contains(items) && told[0].text.contains(members), "{told:?}");
        assert_eq!(scene.end(&world).await, "200");
        let told = world.app.mail.take();
        assert_eq!((told.len(), told[0].subject.as_str()), (1, "Partner was signed off at Test"));
        for (event, count) in [("application_allow", 3), ("application_end", 1)] {
            let events = world.app.app().get(&format!("/_api/identity/v1/audit?event={event}")).await.json();
            assert_eq!(events["entries"].as_array().map(Vec::len), Some(count), "{events}");
        }
    }

    async fn nothing_outlives_a_consent_that_is_taken_back_meanwhile(engine) {
        let world = World::new(engine).await;
        let scene = world.scene().await;
        let query = json!({ "dataCollectionId": "none", "query": {} });
        for _ in 0..5 {
            let (token, _) = scene.asked(&scene.path("items:read")).await;
            let mut codes = vec![scene.allow(&token).await["code"].clone()];
            while codes.len() < 10 {
                codes.push(scene.unasked(&scene.path("items:read")).await["code"].clone());
            }
            let pairs = codes.iter().map(|code| join(scene.tokens(&world, code), scene.end(&world)));
            let (redeemed, ended): (Vec<Reply>, Vec<String>) = join_all(pairs).await.into_iter().unzip();
            assert!(ended.iter().any(|it| it == "200"), "{ended:?}");
            assert!(ended.iter().all(|it| it == "200" || it == "404 NOT_FOUND"), "{ended:?}");
            assert_eq!((scene.applications(&world).await, world.count("consent").await), (json!([]), 0), "no session is open");
            for reply in redeemed {
                let tokens = reply.json();
                let Some(access) = tokens["access_token"].as_str() else {
                    assert_eq!(reply.verdict(), "400 invalid_grant");
                    continue;
                };
                let held = world.app.with_token(access).post("/v2/items/query", &query).await;
                assert_eq!(held.verdict(), "401 UNAUTHENTICATED");
                let grant = json!({ "grant_type": "refresh_token", "client_id": scene.partner.id,
                    "client_secret": scene.secret.expose(), "refresh_token": tokens["refresh_token"] });
                assert_eq!(world.call("", "/oauth2/token", &grant).await.verdict(), "400 invalid_grant");
            }
        }
    }

    async fn answer_and_taking_back_at_once_leave_both_or_neither(engine) {
        let world = World::new(engine).await;
        let scene = world.scene().await;
        let again = authorize_path(&scene.partner, &[("scope", "items:read"), ("prompt", "consent")]);
        for _ in 0..25 {
            scene.browser.agree(&scene.path("items:read")).await;
            let (token, _) = scene.asked(&again).await;
            let (found, ended) = join(scene.allow(&token), scene.end(&world)).await;
            assert_eq!(ended, "200");
            let is_kept = world.count("consent").await == 1;
            let tokens = scene.tokens(&world, &found["code"]).await;
            assert_eq!(tokens.verdict(), if is_kept { "200" } else { "400 invalid_grant" });
        }
    }

    async fn consent_that_is_given_while_its_client_is_revoked_goes_with_it(engine) {
        let world = World::new(engine).await;
        let browser = world.browser();
        world.member(&browser, "ada@example.org").await;
        let (identity, site, input) = (&world.app.app.identity, &world.app.site.id, json!({ "type": "ALLOW" }));
        for _ in 0..10 {
            let (partner, _) = world.app.partner(BOTH).await;
            let token = flow_of(&browser.open(&authorize_path(&partner, &[("scope", "items:read")])).await);
            let path = format!("/_api/account/v1/flows/{token}");
            let allowed = browser.ask(Method::POST, &path, Some(&input));
            let (reply, revoked) = join(allowed, identity.client_revoke(site, &partner.id)).await;
            revoked.unwrap();
            assert!(["200", GONE].contains(&reply.verdict().as_str()), "{}", reply.json());
            assert_eq!(world.count("consent").await, 0);
        }
    }

    async fn consents_end_with_the_client_and_with_the_member(engine) {
        let world = World::new(engine).await;
        let scene = world.scene().await;
        let (other, _) = world.app.partner(BOTH).await;
        for client in [&scene.partner, &other] {
            scene.browser.agree(&authorize_path(client, &[("scope", BOTH)])).await;
        }
        assert_eq!(world.count("consent").await, 2);
        let (token, _) = scene.asked(&authorize_path(&scene.partner, &[("prompt", "consent")])).await;
        world.app.app.identity.client_revoke(&world.app.site.id, &scene.partner.id).await.unwrap();
        assert_eq!(world.count("consent").await, 1);
        // One that is gone is asked about no more, and nothing is written that says it was agreed to.
        let codes = world.count("code").await;
        assert_eq!(scene.browser.flow_view(&token).await.verdict(), GONE);
        let path = format!("/_api/account/v1/flows/{token}");
        let late = scene.browser.ask(Method::POST, &path, Some(&json!({ "type": "ALLOW" }))).await;
        assert_eq!(late.verdict(), GONE);
        assert_eq!((world.count("consent").await, world.count("code").await), (1, codes));
        let events = world.app.app().get("/_api/identity/v1/audit?event=application_allow").await.json();
        assert_eq!(events["entries"].as_array().map(Vec::len), Some(2), "{events}");
        let listed = scene.applications(&world).await;
        assert_eq!((listed.as_array().map(Vec::len), &listed[0]["id"]), (Some(1), &json!(other.id)));
        assert_eq!(world.app.with_token(&scene.ada).delete("/members/v1/members/my").await.verdict(), "200");
        assert_eq!(world.count("consent").await, 0);
    }

    async fn address_of_an_app_names_no_host(engine) {
        let world = World::new(engine).await;
        let browser = world.browser();
        world.member(&browser, "ada@example.org").await;
        let draft = NewClient {
            name: "Ledger".to_owned(), redirect_uris: vec!["com.evil://accounts.bank.example/callback".to_owned()],
            is_third_party: true, scopes: Some(stoa_kernel::Scopes::among(BOTH)), ..NewClient::default()
        };
        let (ledger, _) = world.app.app.identity.client_create(&world.app.site.id, draft).await.unwrap();
        let token = flow_of(&browser.open(&authorize_path(&ledger, &[("scope", "items:read")])).await);
        assert_eq!(browser.flow_view(&token).await.json()["step"]["host"], "com.evil");
    }

    async fn client_that_others_can_pass_for_is_asked_about_each_time(engine) {
        let world = World::new(engine).await;
        let browser = world.browser();
        world.member(&browser, "ada@example.org").await;
        for (uri, is_asked) in [
            ("http://127.0.0.1/callback", true), ("org.example.ledger:/callback", true), ("https://ledger.example/callback", false),
        ] {
            let draft = NewClient {
                name: "Ledger".to_owned(), redirect_uris: vec![uri.to_owned()], is_third_party: true,
                scopes: Some(stoa_kernel::Scopes::among(BOTH)), ..NewClient::default()
            };
            let (ledger, _) = world.app.app.identity.client_create(&world.app.site.id, draft).await.unwrap();
            for round in 0..2 {
                let to = location(&browser.open(&authorize_path(&ledger, &[("scope", "items:read")])).await);
                assert_eq!(to.starts_with("/account/flow/"), is_asked || round == 0, "{uri}: {to}");
                browser.agree(&authorize_path(&ledger, &[("scope", "items:read")])).await;
            }
            let silent = authorize_path(&ledger, &[("scope", "items:read"), ("prompt", "none")]);
            let found = parameters(&location(&browser.open(&silent).await), '?');
            assert_eq!(found.get("error").map(String::as_str), is_asked.then_some("consent_required"), "{uri}");
        }
    }

    async fn own_clients_are_not_asked_about(engine) {
        let world = World::new(engine).await;
        let scene = world.scene().await;
        for more in [&[][..], &[("prompt", "none")], &[("scope", "items:read")]] {
            let to = location(&scene.browser.open(&authorize_path(&world.client, more)).await);
            assert!(parameters(&to, '?').contains_key("code"), "{more:?}: {to}");
        }
        let token = flow_of(&scene.browser.open(&authorize_path(&world.client, &[("prompt", "consent")])).await);
        assert_eq!(scene.browser.flow_view(&token).await.json()["step"]["type"], "SIGN_IN");
        let sign_in = json!({ "type": "SIGN_IN", "email": "ada@example.org", "password": PASSWORD });
        assert_eq!(scene.browser.answer(&token, sign_in).await["step"]["type"], "REDIRECT");
        assert_eq!(world.count("consent").await, 0);
    }
}
