//! Tokens by URL beyond the SDK's own: revocation, introspection, applications, stripping; and that
//! members who may not sign in are refused on every path to a token.

use serde_json::{Value, json};
use stoa_identity::client::NewClient;
use stoa_testkit::{TestApp, TestClient, on_both_engines};

const PASSWORD: &str = "correct horse battery";

async fn tokens(app: &TestApp, member: &str) -> Value {
    let visitor = app.visitor().await;
    let both = app.with_token(&format!("{},{}", visitor.token, app.app().token));
    let grant = json!({ "grant_type": "authorized_client", "scope": "offline_access", "member_id": member });
    both.post("/oauth2/token", &grant).await.json()
}

async fn registered(who: &TestClient<'_>, email: &str) -> Value {
    let body = json!({ "loginId": { "email": email }, "password": PASSWORD });
    who.post("/v2/register", &body).await.json()
}

async fn refresh(app: &TestApp, token: &Value) -> String {
    let grant = json!({ "grantType": "refresh_token", "refreshToken": token });
    app.anonymous().post("/oauth2/token", &grant).await.verdict()
}

on_both_engines! {
    async fn tokens_are_revoked(engine) {
        let app = TestApp::new(engine).await;
        let member = registered(&app.visitor().await, "ada@example.org").await["identity"]["id"].clone();
        let (one, two) = (tokens(&app, member.as_str().unwrap()).await, tokens(&app, member.as_str().unwrap()).await);
        let me = |it: &Value| app.with_token(it["access_token"].as_str().unwrap());
        let revoke = async |token: &Value| app.anonymous().post("/oauth2/revoke", &json!({ "token": token })).await.verdict();
        assert_eq!(revoke(&one["refresh_token"]).await, "200");
        assert_eq!(revoke(&one["refresh_token"]).await, "200", "taking back twice is no error");
        assert_eq!(refresh(&app, &one["refresh_token"]).await, "400 invalid_grant");
        assert_eq!(me(&one).get("/members/v1/members/my").await.verdict(), "401 UNAUTHENTICATED");
        assert_eq!(me(&two).get("/members/v1/members/my").await.verdict(), "200");
        assert_eq!(revoke(&two["access_token"]).await, "200");
        assert_eq!(refresh(&app, &two["refresh_token"]).await, "400 invalid_grant");
        assert_eq!(revoke(&json!("nonsense")).await, "200");
        assert_eq!(revoke(&json!(app.visitor().await.token)).await, "400 unsupported_token_type");
        assert_eq!(app.anonymous().post("/oauth2/revoke", &json!({})).await.verdict(), "400 invalid_request");
        // Another client can't take it back.
        let three = tokens(&app, member.as_str().unwrap()).await;
        let other = app.app.identity.client_create(&app.site.id, NewClient {
            name: "Other".to_owned(), redirect_uris: vec!["http://localhost/other".to_owned()], origins: Vec::new(), with_secret: false, ..NewClient::default()
        }).await.unwrap().0;
        let foreign = json!({ "token": three["refresh_token"], "client_id": other.id });
        assert_eq!(app.anonymous().post("/oauth2/revoke", &foreign).await.verdict(), "200");
        assert_eq!(refresh(&app, &three["refresh_token"]).await, "200");
    }

    async fn tokens_are_introspected(engine) {
        let app = TestApp::new(engine).await;
        let member = registered(&app.visitor().await, "ada@example.org").await["identity"]["id"].clone();
        let own = tokens(&app, member.as_str().unwrap()).await;
        let ask = async |token: &Value| app.app().post("/oauth2/introspect", &json!({ "token": token })).await.json();
        assert_eq!((&ask(&own["access_token"]).await["active"], &ask(&own["refresh_token"]).await["sub"]), (&json!(true), &member));
        // A token with the whole right names no scope.
        for name in ["access_token", "refresh_token"] {
            assert!(ask(&own[name]).await.get("scope").is_none(), "{name}");
        }
        assert_eq!(ask(&json!("nonsense")).await, json!({ "active": false }));
        assert_eq!(app.anonymous().post("/oauth2/introspect", &json!({ "token": own["access_token"] })).await.verdict(), "401 invalid_client");
        // Another site's token is nothing here.
        let there = app.kit.store.site_create("Other", &app.kit.world).await.unwrap();
        let (_, key) = app.app.identity.api_key_create(&there.id, "other").await.unwrap();
        let foreign = app.with_token(key.expose());
        for name in ["access_token", "refresh_token"] {
            let answer = foreign.post("/oauth2/introspect", &json!({ "token": own[name] })).await.json();
            assert_eq!(answer, json!({ "active": false }), "{name}");
        }
    }

    async fn applications_and_stripped_tokens(engine) {
        let app = TestApp::new(engine).await;
        let (client, secret) = app.app.identity.client_create(&app.site.id, NewClient {
            name: "App".to_owned(), redirect_uris: vec!["http://localhost/app".to_owned()], origins: Vec::new(), with_secret: true, ..NewClient::default()
        }).await.unwrap();
        let secret = secret.unwrap();
        let wrong = json!({ "grant_type": "refresh_token", "refresh_token": "r1.x", "client_id": client.id, "client_secret": "wrong" });
        assert_eq!(app.anonymous().post("/oauth/access", &wrong).await.verdict(), "401 invalid_client");
        let none = json!({ "grant_type": "refresh_token", "refresh_token": "r1.x", "client_id": client.id });
        assert_eq!(app.anonymous().post("/oauth/access", &none).await.verdict(), "401 invalid_client");
        let anonymous = json!({ "clientId": client.id, "clientSecret": secret.expose(), "grantType": "anonymous" });
        let visitor = app.anonymous().post("/oauth2/token", &anonymous).await.json();
        let access = json!({ "grant_type": "refresh_token", "refresh_token": visitor["refresh_token"], "client_id": client.id, "client_secret": secret.expose() });
        let answer = app.anonymous().post("/oauth/access", &access).await.json();
        assert_eq!(answer["refresh_token"], visitor["refresh_token"], "applications ask before every request");
        let strip = |secret: &str| json!({ "grant_type": "strip_bound_session", "access_token": visitor["access_token"], "client_secret": secret });
        assert_eq!(app.anonymous().post("/oauth2/token", &strip("wrong")).await.verdict(), "401 invalid_client");
        let stripped = app.anonymous().post("/oauth2/token", &strip(secret.expose())).await.json();
        assert!(stripped["expires_in"].as_i64().is_some_and(|it| it > 0 && it <= 14_400), "{stripped}");
        let dead = json!({ "grant_type": "strip_bound_session", "access_token": "nonsense" });
        assert_eq!(app.anonymous().post("/oauth2/token", &dead).await.verdict(), "400 invalid_grant");
    }

    async fn barred_members_get_no_token_anywhere(engine) {
        for refused in ["block", "disconnect", "delete", "pending"] {
            let app = TestApp::new(engine).await;
            let visitor = app.visitor().await;
            let email = "ada@example.org";
            if refused == "pending" {
                let policy = json!({ "signOnPolicy": { "requireOwnerApproval": true } });
                let patch = Some(policy.to_string().into());
                assert_eq!(app.app().send(axum::http::Method::PATCH, "/v1/sign-on-policies", patch).await.verdict(), "200");
            }
            let answer = registered(&visitor, email).await;
            let member = answer["identity"]["id"].as_str().unwrap().to_owned();
            let before = tokens(&app, &member).await;
            let path = format!("/members/v1/members/{member}");
            match refused {
                "pending" => assert_eq!(before["error"], "invalid_grant"),
                "delete" => assert_eq!(app.app().delete(&path).await.verdict(), "200"),
                step => assert_eq!(app.app().post(&format!("{path}/{step}"), &json!({})).await.verdict(), "200"),
            }
            if refused != "pending" {
                assert_eq!(refresh(&app, &before["refresh_token"]).await, "400 invalid_grant", "{refused}: refresh");
                let access = before["access_token"].as_str().unwrap();
                assert_eq!(app.with_token(access).get("/members/v1/members/my").await.verdict(), "401 UNAUTHENTICATED", "{refused}");
                let strip = json!({ "grant_type": "strip_bound_session", "access_token": access });
                assert_eq!(app.anonymous().post("/oauth2/token", &strip).await.verdict(), "400 invalid_grant", "{refused}");
                let info = app.anonymous().post("/oauth2/token-info", &json!({ "token": access })).await.json();
                assert_eq!(info, json!({ "active": false }), "{refused}");
            }
            let login = json!({ "loginId": { "email": email }, "password": PASSWORD });
            let login = visitor.post("/v2/login", &login).await.json();
            assert!(login["sessionToken"].is_null(), "{refused}: {login}");
            assert_eq!(tokens(&app, &member).await["error"], "invalid_grant", "{refused}: external login");
            let session = json!({ "grant_type": "authorized_client", "member_id": member, "session_token": answer["sessionToken"] });
            let both = app.with_token(&format!("{},{}", visitor.token, app.app().token));
            assert!(both.post("/oauth2/token", &session).await.json()["access_token"].is_null(), "{refused}: session token");
            let direct = json!({ "auth": { "prompt": "none", "authRequest": {
                "clientId": app.client.id, "responseType": "code", "responseMode": "web_message", "scope": "offline_access",
                "state": "s", "codeChallenge": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", "codeChallengeMethod": "S256",
                "sessionToken": answer["sessionToken"],
            } } });
            let redirect = visitor.post("/v1/redirect-session", &direct).await.json();
            if let Some(url) = redirect["redirectSession"]["fullUrl"].as_str() {
                let page = app.anonymous().get(url.trim_start_matches("http://localhost")).await;
                assert!(!String::from_utf8_lossy(&page.body).contains("\"code\""), "{refused}: authorize page");
            }
            if refused != "pending" && refused != "delete" {
                let sign_on = json!({ "loginId": { "email": email } });
                assert_eq!(app.app().post("/v2/sign-on", &sign_on).await.verdict(), "403 MEMBER_BLOCKED", "{refused}: sign-on");
            }
        }
    }
}
