//! Several sites on one host: which one an account page is of, and that a person is signed in to each by itself.

use super::*;
use std::sync::Arc;
use stoa_store::Site;
use stoa_testkit::on_both_engines;

impl World {
    /// Another site, with a client of its own.
    pub(super) async fn beside(&self) -> (Arc<Site>, Client) {
        let site = self.app.kit.store.site_create("Beside", &self.app.kit.world).await.unwrap();
        let draft = NewClient {
            name: "Beside".to_owned(),
            redirect_uris: vec!["https://beside.example.org/callback".to_owned()],
            origins: Vec::new(),
            with_secret: false,
            ..NewClient::default()
        };
        let (client, _) = self.app.app.identity.client_create(&site.id, draft).await.unwrap();
        (site, client)
    }
}

impl Browser<'_> {
    /// Makes an account on the pages beneath `prefix`; the last view.
    async fn sign_up_at(&self, prefix: &str, start: Value) -> Value {
        let view = self.ask(Method::POST, &format!("{prefix}/_api/account/v1/flows"), Some(&start)).await.json();
        let path = format!("{prefix}/_api/account/v1/flows/{}", text(&view["token"]));
        let input = json!({ "type": "SIGN_UP", "email": "anna@example.org", "password": PASSWORD, "profile": {} });
        self.ask(Method::POST, &path, Some(&input)).await.json()
    }

    /// Who would be signed out.
    async fn who(&self, client: &Client) -> Value {
        let view = self.start(json!({ "kind": "SIGN_OUT", "clientId": client.id })).await;
        view["step"]["displayName"].clone()
    }
}

on_both_engines! {
    async fn account_pages_find_their_site_by_path_client_and_flow(engine) {
        let world = World::new(engine).await;
        let (site, client) = world.beside().await;
        let prefix = format!("/s/{}", site.id);
        let browser = world.browser();
        let begin = async |path: &str, start: Value| {
            browser.ask(Method::POST, &format!("{path}/_api/account/v1/flows"), Some(&start)).await
        };
        let open = begin("", json!({ "kind": "SIGN_IN" })).await;
        assert_eq!(open.verdict(), "404 SITE_NOT_FOUND", "two sites, and nothing says which");
        for (path, start) in [
            (prefix.as_str(), json!({ "kind": "SIGN_IN" })),
            (prefix.as_str(), json!({ "kind": "SIGN_IN", "clientId": client.id })),
            ("", json!({ "kind": "SIGN_IN", "clientId": client.id })),
        ] {
            let view = begin(path, start).await.json();
            assert_eq!(view["site"]["name"], "Beside");
            let again = browser.flow_view(view["token"].as_str().unwrap()).await.json();
            assert_eq!(again["site"]["name"], "Beside", "the flow names it");
        }
        let mixed = begin(&prefix, json!({ "kind": "SIGN_IN", "clientId": world.client.id })).await;
        assert_eq!(mixed.verdict(), "400 CLIENT_NOT_FOUND");

        // What leads to a page beneath a site stays beneath it.
        let authorize = format!("{prefix}/oauth2/authorize?client_id={}&response_type=code&code_challenge={CHALLENGE}\
            &code_challenge_method=S256&redirect_uri=https%3A%2F%2Fbeside.example.org%2Fcallback", client.id);
        let location = location(&browser.open(&authorize).await);
        assert!(location.starts_with(&format!("{prefix}/account/flow/")), "{location}");
        let recover = format!("{prefix}/_api/account/v1/recover?token=x");
        assert!(super::location(&browser.open(&recover).await).starts_with(&format!("{prefix}/account/recover?over=link")));
        let typed = send(&world.app, Method::GET, &prefix, &[], None).await;
        assert_eq!((typed.status, typed.headers["location"].to_str().unwrap()), (StatusCode::PERMANENT_REDIRECT, &*format!("{prefix}/")));
        let odd = send(&world.app, Method::GET, "/s/%22%3E/_api/account/v1/recover?token=x", &[], None).await;
        assert_eq!(odd.status, StatusCode::NOT_FOUND, "what is no id is no site");
    }

    async fn pages_beneath_a_site_are_for_its_own_clients(engine) {
        let world = World::new(engine).await;
        let (site, _) = world.beside().await;
        let (own, other) = (format!("/s/{}", world.app.site.id), format!("/s/{}", site.id));
        let client = &world.client.id;
        let authorize = format!("/oauth2/authorize?client_id={client}&response_type=code&code_challenge={CHALLENGE}\
            &code_challenge_method=S256&redirect_uri=https%3A%2F%2Fapp.example.org%2Fcallback");
        let session = world.redirect_session(&world.visitor().await, &json!({ "auth": { "authRequest": world.auth_request() } })).await;
        let logout = format!("/v1/logout?clientId={client}");
        let browser = world.browser();
        let page = async |path: String| {
            let headers = [("accept", "text/html"), ("sec-fetch-mode", "navigate")];
            location(&browser.send(Method::GET, &path, &headers, None).await)
        };
        for (path, code) in [(&authorize, "CLIENT_NOT_FOUND"), (&session, "INVALID_LINK"), (&logout, "CLIENT_NOT_FOUND")] {
            let refused = browser.open(&format!("{other}{path}")).await;
            assert_eq!(refused.verdict(), format!("400 {code}"), "{path}");
            assert_eq!(page(format!("{other}{path}")).await, format!("{other}/account/error?code={code}"), "{path}");
            for prefix in ["", own.as_str()] {
                let led = page(format!("{prefix}{path}")).await;
                assert!(!led.contains("/account/error"), "{prefix}{path}: {led}");
            }
        }
        let install = format!("{other}/installer/install?appId={client}&redirectUrl=https%3A%2F%2Fapp.example.org%2Fcallback");
        assert_eq!(browser.open(&install).await.verdict(), "400 CLIENT_NOT_FOUND");
    }

    async fn person_is_signed_in_to_each_site_by_itself(engine) {
        let world = World::new(engine).await;
        let (site, beside) = world.beside().await;
        let browser = world.browser();
        browser.sign_up_at("", json!({ "kind": "SIGN_UP", "clientId": world.client.id })).await;
        assert_eq!((browser.who(&world.client).await, browser.who(&beside).await), (json!("anna@example.org"), Value::Null));
        browser.sign_up_at(&format!("/s/{}", site.id), json!({ "kind": "SIGN_UP" })).await;
        assert_eq!(browser.who(&beside).await, "anna@example.org");
        assert_eq!(browser.who(&world.client).await, "anna@example.org", "the other stays");

        let names: Vec<String> = browser.cookies.lock().unwrap().keys().cloned().collect();
        for number in [world.app.site.number, site.number] {
            assert!(names.contains(&format!("stoa-session-{number}")), "{names:?}");
        }
        let token = text(&browser.start(json!({ "kind": "SIGN_OUT", "clientId": beside.id })).await["token"]);
        browser.answer(&token, json!({ "type": "CONFIRM_SIGN_OUT" })).await;
        assert_eq!((browser.who(&world.client).await, browser.who(&beside).await), (json!("anna@example.org"), Value::Null));
    }

    async fn session_cookie_of_an_older_program_is_read_and_replaced(engine) {
        let world = World::new(engine).await;
        let browser = world.browser();
        browser.sign_up_at("", json!({ "kind": "SIGN_UP" })).await;
        let named = format!("stoa-session-{}", world.app.site.number);
        let value = browser.cookies.lock().unwrap().remove(&named).unwrap();
        browser.cookies.lock().unwrap().insert("stoa-session".to_owned(), value);
        assert_eq!(browser.who(&world.client).await, "anna@example.org");
        let token = text(&browser.start(json!({ "kind": "SIGN_IN" })).await["token"]);
        let input = json!({ "type": "SIGN_IN", "email": "anna@example.org", "password": PASSWORD });
        browser.answer(&token, input).await;
        let names: Vec<String> = browser.cookies.lock().unwrap().keys().cloned().collect();
        assert!(names.contains(&named) && !names.contains(&"stoa-session".to_owned()), "{names:?}");
    }
}
