//! Tokens, registration, login and policy as clients meet them: by URL, in every form they send.

use axum::{
    body::Body,
    http::{Method, Request},
};
use serde_json::{Value, json};
use stoa_testkit::{Reply, TestApp, on_both_engines};
use tower::ServiceExt;

/// Sends a request with any headers.
async fn send(app: &TestApp, path: &str, headers: &[(&str, &str)], body: &str) -> Reply {
    let mut request = Request::builder().method(Method::POST).uri(path).header("host", "localhost");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(Body::from(body.to_owned())).unwrap();
    let response = app.service().oneshot(request).await.unwrap();
    let (status, headers) = (response.status(), response.headers().clone());
    Reply { status, headers, body: axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap() }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("text expected, not {value}")).to_owned()
}

/// Base64 of a JSON value, as the module `oauth.token()` packs its request.
fn envelope(inner: &Value) -> Value {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut packed = String::new();
    for chunk in inner.to_string().as_bytes().chunks(3) {
        let bits = chunk.iter().fold(0_u32, |bits, it| bits << 8 | u32::from(*it)) << (8 * (3 - chunk.len()));
        for i in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * i) & 63) as usize] as char;
            packed.push(if i <= chunk.len() { digit } else { '=' });
        }
    }
    json!({ "body": packed, "method": "POST" })
}

on_both_engines! {
    async fn tokens_in_every_form(engine) {
        let app = TestApp::new(engine).await;
        let client = app.client.id.as_str();
        let anonymous = json!({ "clientId": client, "grantType": "anonymous" });
        let reply = app.anonymous().post("/oauth2/token", &anonymous).await;
        assert_eq!(reply.headers["cache-control"], "no-store");
        let first = reply.json();
        assert_eq!((first["expires_in"].as_i64(), first["token_type"].as_str()), (Some(14_400), Some("Bearer")));
        let refresh = text(&first["refresh_token"]);

        let json_type = ("content-type", "application/json");
        let form_type = ("content-type", "application/x-www-form-urlencoded; charset=utf-8");
        let forms = [
            (json_type, json!({ "refreshToken": refresh, "grantType": "refresh_token" }).to_string()),
            (json_type, json!({ "refresh_token": refresh, "grant_type": "refresh_token", "client_id": client }).to_string()),
            (json_type, envelope(&json!({ "refreshToken": refresh, "grantType": "refresh_token" })).to_string()),
            (form_type, format!("grant_type=refresh_token&refresh_token={refresh}&client_id={client}")),
        ];
        for (kind, body) in &forms {
            for path in ["/oauth2/token", "/_api/oauth2/token"] {
                let reply = send(&app, path, &[*kind, ("authorization", "ignored")], body).await;
                assert_eq!(reply.verdict(), "200", "{path} {body}: {:?}", reply.body);
                let info = app.anonymous().post("/oauth2/token-info", &json!({ "token": reply.json()["access_token"] })).await;
                assert_eq!(info.json()["subjectType"], "VISITOR");
            }
        }
        let info = envelope(&json!({ "token": first["access_token"] }));
        assert_eq!(app.anonymous().post("/oauth2/token_info", &info).await.json()["active"], true);
        assert_eq!(app.anonymous().get("/oauth2/jwks").await.json()["keys"][0]["kty"], "OKP");
    }

    async fn refused_token_requests_have_both_shapes(engine) {
        let app = TestApp::new(engine).await;
        let token = async |body: Value| app.anonymous().post("/oauth2/token", &body).await;
        let cases = [
            (json!({}), 400, "invalid_request"),
            (json!({ "grantType": "password" }), 400, "unsupported_grant_type"),
            (json!({ "grantType": "anonymous", "clientId": "nobody" }), 401, "invalid_client"),
            (json!({ "grantType": "anonymous", "clientId": "\u{0}" }), 401, "invalid_client"),
            (json!({ "grantType": "refresh_token", "refreshToken": "r1.x" }), 400, "invalid_grant"),
            (json!({ "grantType": "authorization_code", "clientId": app.client.id, "code": "c1.x" }), 400, "invalid_grant"),
            (json!({ "grantType": "authorized_client", "member_id": "x" }), 401, "unauthorized_client"),
            (json!([]), 400, "invalid_request"),
        ];
        for (body, status, error) in cases {
            let reply = token(body.clone()).await;
            let json = reply.json();
            assert_eq!((reply.status.as_u16(), json["error"].as_str()), (status, Some(error)), "{body}: {json}");
            assert!(json["error_description"].is_string() && json["message"].is_string(), "{json}");
            assert!(json["details"]["applicationError"]["code"].is_string(), "{json}");
            assert_eq!(reply.headers["cache-control"], "no-store");
        }
        let broken = send(&app, "/oauth2/token", &[("content-type", "application/json")], "{").await;
        assert_eq!((broken.status.as_u16(), broken.json()["error"].as_str()), (400, Some("invalid_request")));
        let nul = json!({ "grant_type": "authorized_client", "member_id": "\u{0}" });
        let reply = app.app().post("/oauth2/token", &nul).await;
        assert_eq!(reply.json()["error"], "invalid_grant");
    }

    async fn register_and_login_by_url(engine) {
        let app = TestApp::new(engine).await;
        let visitor = app.visitor().await;
        let login_id = json!({ "email": "ada@example.org" });
        let body = json!({
            "loginId": login_id, "password": "correct horse battery",
            "profile": { "nickname": "ada", "addresses": [{ "address": { "addressLine": "1 High St" }, "tag": "HOME" }] },
        });
        assert_eq!(app.anonymous().post("/v2/register", &body).await.verdict(), "401 UNAUTHENTICATED");
        let reply = visitor.post("/_api/iam/authentication/v2/register", &body).await.json();
        assert_eq!(reply["state"], "SUCCESS");
        assert_eq!(reply["identity"]["identityProfile"], body["profile"]);
        assert_eq!(visitor.post("/v2/register", &body).await.verdict(), "409 -19995");
        let login = |password: &str| json!({ "loginId": login_id, "password": password });
        let good = visitor.post("/iam/authentication/v2/login", &login("correct horse battery")).await.json();
        assert_eq!(good["identity"]["id"], reply["identity"]["id"]);
        assert!(good["sessionToken"].is_string());
        assert_eq!(visitor.post("/v2/login", &login("wrong")).await.verdict(), "401 -19976");
        let unknown = json!({ "loginId": { "email": "eve@example.org" }, "password": "wrong" });
        assert_eq!(visitor.post("/v2/login", &unknown).await.verdict(), "401 -19976");
        for odd in [json!({}), json!({ "loginId": 1 }), json!({ "loginId": { "email": "x\u{0}@b.co" } }), json!(null)] {
            assert_eq!(visitor.post("/v2/login", &odd).await.verdict(), "400 INVALID_EMAIL", "{odd}");
        }
        let bad = visitor.post("/v2/register", &json!({ "loginId": { "email": "x" }, "password": "long enough" })).await.json();
        let violation = &bad["details"]["validationError"]["fieldViolations"][0];
        assert_eq!((violation["field"].as_str(), violation["data"]["type"].as_str()), (Some("loginId.email"), Some("EMAIL")));

        let member = app.member("bob@example.org").await;
        assert_eq!(member.get("/oauth2/user-info").await.json()["email"], "bob@example.org");
        assert_eq!(visitor.get("/oauth2/user-info").await.verdict(), "403 PERMISSION_DENIED");
        let new = json!({ "newPassword": "another long phrase" });
        assert_eq!(member.post("/v2/change-password", &new).await.json(), json!({}));
        assert_eq!(visitor.post("/v2/change-password", &new).await.verdict(), "403 PERMISSION_DENIED");
        assert_eq!(member.get("/members/v1/members/my").await.json()["member"]["id"].as_str().map(str::len), Some(36));
        let valid = visitor.post("/v2/validate-email", &json!({ "email": "a@b.co" })).await.json();
        assert_eq!(valid, json!({ "valid": true, "formatInvalid": false }));
    }

    async fn external_login_by_url(engine) {
        let app = TestApp::new(engine).await;
        let (visitor, key) = (app.visitor().await, app.app());
        let both = app.with_token(&format!("{},{}", visitor.token, key.token));
        let body = json!({ "loginId": { "email": "eve@example.org" }, "profile": { "nickname": "eve" }, "verifyEmail": true });
        assert_eq!(visitor.post("/v2/sign-on", &body).await.verdict(), "403 PERMISSION_DENIED");
        assert_eq!(app.anonymous().post("/v2/sign-on", &body).await.verdict(), "401 UNAUTHENTICATED");
        for (name, value) in [("mergeExistingContact", json!("false")), ("mergeExistingContact", json!(false)), ("verifyEmail", json!("true")), ("verifyEmail", json!(1))] {
            let mut wrong = body.clone();
            wrong[name] = value;
            assert_eq!(both.post("/v2/sign-on", &wrong).await.verdict(), "400 validationError", "{wrong}");
        }
        let mut body = body;
        body["mergeExistingContact"] = json!(true);
        let reply = both.post("/_api/iam/authentication/v2/sign-on", &body).await.json();
        let grant = json!({
            "grant_type": "authorized_client", "member_id": reply["identity"]["id"], "session_token": reply["sessionToken"],
        });
        let tokens = both.post("/oauth2/token", &grant).await.json();
        let info = app.anonymous().post("/oauth2/token-info", &json!({ "token": tokens["access_token"] })).await.json();
        assert_eq!((info["subjectType"].as_str(), &info["subjectId"]), (Some("MEMBER"), &reply["identity"]["id"]));
        assert_eq!(info["clientId"].as_str(), Some(app.client.id.as_str()));
        assert!(tokens["refresh_token"].is_string());
    }

    async fn policy_and_members_belong_to_a_site(engine) {
        let app = TestApp::new(engine).await;
        let (visitor, key) = (app.visitor().await, app.app());
        let member = app.member("ada@example.org").await;
        for path in ["/v1/sign-on-policies", "/iam/signon/v1/sign-on-policies"] {
            let policy = key.get(path).await.json();
            assert_eq!(policy["signOnPolicy"], json!({ "requireOwnerApproval": false, "requireEmailVerification": false }));
            assert_eq!(visitor.get(path).await.verdict(), "403 PERMISSION_DENIED");
        }
        let change = json!({ "signOnPolicy": { "requireOwnerApproval": true } }).to_string();
        let patch = async |who: &stoa_testkit::TestClient<'_>| {
            who.send(Method::PATCH, "/v1/sign-on-policies", Some(change.clone().into())).await
        };
        assert_eq!(patch(&member).await.verdict(), "403 PERMISSION_DENIED");
        assert_eq!(patch(&key).await.json()["signOnPolicy"]["requireOwnerApproval"], true);
        let body = json!({ "loginId": { "email": "bob@example.org" }, "password": "correct horse battery" });
        let bob = visitor.post("/v2/register", &body).await.json();
        assert_eq!(bob["state"], "REQUIRE_OWNER_APPROVAL");

        let id = text(&bob["identity"]["id"]);
        let one = format!("/members/v1/members/{id}");
        assert_eq!(member.get(&one).await.verdict(), "404 NOT_FOUND", "a private profile is not shown to others");
        let full = key.get(&format!("{one}?fieldsets=PUBLIC&fieldsets=FULL&id={id}")).await.json();
        assert_eq!((full["member"]["status"].as_str(), full["member"]["loginEmail"].as_str()), (Some("PENDING"), Some("bob@example.org")));
        assert_eq!(key.get("/members/v1/members/%00").await.verdict(), "404 NOT_FOUND");
        assert_eq!(visitor.get("/members/v1/members/my").await.verdict(), "404 NOT_FOUND");
        let query = json!({ "fieldsets": ["FULL"], "query": { "filter": { "status": "PENDING" }, "paging": { "limit": 10 } } });
        assert_eq!(visitor.post("/members/v1/members/query", &query).await.verdict(), "403 PERMISSION_DENIED");
        let found = key.post("/members/v1/members/query", &query).await.json();
        assert_eq!((&found["members"][0]["id"], &found["metadata"]["total"]), (&json!(id), &json!(1)));
        for (filter, count) in [
            (json!({ "loginEmail": "BOB@example.org", "status": { "$eq": "PENDING" } }), 1),
            (json!({ "id": id }), 1),
            (json!({ "id": "\u{0}" }), 0),
            (json!({}), 2),
        ] {
            let found = key.post("/members/v1/members/query", &json!({ "query": { "filter": filter } })).await.json();
            assert_eq!(found["metadata"]["total"], count, "{filter}");
        }
        for (filter, verdict) in [(json!({ "status": "x" }), "400 validationError"), (json!({ "x": "y" }), "428 WDE0119")] {
            let query = json!({ "query": { "filter": filter } });
            assert_eq!(key.post("/members/v1/members/query", &query).await.verdict(), verdict);
        }
        assert_eq!(visitor.post(&format!("{one}/approve"), &json!({})).await.verdict(), "403 PERMISSION_DENIED");
        assert_eq!(key.post(&format!("{one}/approve"), &json!({})).await.json()["member"]["status"], "APPROVED");
        assert_eq!(visitor.post("/v2/login", &body).await.json()["state"], "SUCCESS");

        let mine = text(&member.get("/members/v1/members/my").await.json()["member"]["id"]);
        let blocked = key.post(&format!("/members/v1/members/{mine}/block"), &json!({})).await.json();
        assert_eq!(blocked["member"]["status"], "BLOCKED");
        assert_eq!(member.get("/members/v1/members/my").await.verdict(), "401 UNAUTHENTICATED");
        assert_eq!(key.delete(&one).await.json(), json!({}));
        assert_eq!(key.get(&one).await.verdict(), "404 NOT_FOUND");
    }
}
