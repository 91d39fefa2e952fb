//! What the document says of callers is so, for every call of the table.

use super::{check_caller, forgotten, is_at, looks_at_tokens, operation};
use crate::{
    account::scopes_everywhere::{body_of, path_of_route, refuses_to_follow},
    matrix::{
        self,
        members::{ROUTES, World, send},
    },
};
use axum::{
    body::Body,
    http::{Method, Request},
};
use serde_json::{Value, json};
use stoa_http::{
    Opening,
    openapi::{Callers, Listed, Operation},
    operations,
};
use stoa_testkit::{TestApp, on_both_engines};
use tower::ServiceExt;

/// Calls about accounts that stand in no matrix, and what they send, as in the matrix of members.
const ROWS: &[(&str, &str, &str)] = &[
    (
        "memberRegister",
        "/v2/register",
        r#"{"loginId":{"email":"r{n}@example.org"},"password":"correct horse battery"}"#,
    ),
    ("memberLogin", "/v2/login", r#"{"loginId":{"email":"ada@example.org"}}"#),
    ("memberSignOn", "/v2/sign-on", r#"{"loginId":{"email":"s{n}@example.org"}}"#),
    ("factorVerify", "/v2/TOTP/verify", r#"{"stateToken":"x"}"#),
    ("loginWithIdpConnectionTokenParams", "/v1/sso/login-with-token-params", "{}"),
    ("passwordChange", "/v2/change-password", r#"{"newPassword":""}"#),
    ("emailValidate", "/v2/validate-email", r#"{"email":"ada@example.org"}"#),
    ("redirectSessionCreate", "/v1/redirect-session", "{}"),
    ("verificationCheck", "/v1/auth/verify", r#"{"code":"123456","stateToken":"x"}"#),
    ("verificationResend", "/v1/auth/resend", r#"{"stateToken":"x"}"#),
    ("verificationStart", "/v1/start", r#"{"identityId":"{ada}","target":"EMAIL"}"#),
    ("recoveryEmailSend", "/v1/send-email", "{}"),
    ("activationEmailSend", "/v1/activation-email", r#"{"identityId":"none"}"#),
    ("recoveryFinish", "/v1/recover", r#"{"recoveryToken":"x","password":"correct horse battery"}"#),
    ("userInfoGet", "/oauth2/user-info", ""),
    ("signOnPolicyUpdate", "/v1/sign-on-policies", r#"{"signOnPolicy":{"requireCaptcha":false}}"#),
];

/// All rows about accounts and members.
fn rows() -> impl Iterator<Item = &'static (&'static str, &'static str, &'static str)> {
    ROUTES.iter().chain(ROWS)
}

fn of_collections(operation: &Listed) -> bool {
    operation.route.opening == Opening::Collections
}

/// Operations that look at tokens and for which there is neither a row here nor a walk over all of their kind.
fn without_row(operations: &[Listed]) -> Vec<&'static str> {
    let of_members: Vec<Listed> =
        operations.iter().filter(|it| looks_at_tokens(it.operation) && !of_collections(it)).cloned().collect();
    forgotten(&of_members, &rows().map(|it| it.0).collect::<Vec<_>>())
}

#[test]
fn operations_have_their_rows() {
    let operations = operations();
    let missing = without_row(&operations);
    assert!(missing.is_empty(), "no caller is tried at {missing:?}: add a row to the matrix of members, or here");
    // A route that is added without one is found.
    let listed = operation("memberGet");
    let planted: &'static Operation = Box::leak(Box::new(Operation { id: "plantedGet", ..*listed.operation }));
    let planted = Listed { operation: planted, ..listed };
    assert_eq!(without_row(&[operations, vec![planted]].concat()), ["plantedGet"]);
}

#[test]
fn rows_are_those_of_their_operations() {
    for (id, path, _) in rows() {
        let listed = operations().into_iter().filter(|it| it.operation.id == *id);
        assert!(listed.into_iter().any(|it| is_at(&it, path)), "{path} is not where {id} is");
    }
    let of_content = matrix::OPERATIONS.iter().map(|it| operation(it.1));
    assert!(of_content.into_iter().all(|it| of_collections(&it)));
}

on_both_engines! {
    async fn calls_about_accounts_let_in_whom_they_say(engine) {
        let app = TestApp::new(engine).await;
        let (ada, bob) = (app.member("ada@example.org").await, app.member("bob@example.org").await);
        let world = World::new(&app, &ada, &bob).await;
        let callers = [
            ("nobody", app.anonymous()), ("visitor", app.visitor().await), ("other", bob.clone()), ("self", ada.clone()),
            ("editor", app.editor().await), ("owner", app.owner().await), ("app", app.app()),
        ];
        for (id, path, body) in ROWS {
            let listed = operation(id);
            for (name, caller) in &callers {
                let (path, body) = world.fill(path, body).await;
                let verdict = send(caller, listed.method.as_str(), &path, &body).await.verdict();
                check_caller(listed.operation, name, &verdict);
            }
        }
    }

    async fn closed_collection_refuses_strangers_at_every_call(engine) {
        let app = TestApp::new(engine).await;
        let levels = json!({ "itemRead": "PRIVILEGED", "itemInsert": "PRIVILEGED", "itemUpdate": "PRIVILEGED", "itemRemove": "PRIVILEGED" });
        let link = json!({ "multiReference": { "referencedCollectionId": "kept" } });
        let fields = json!([{ "key": "n", "type": "TEXT" }, { "key": "link", "type": "MULTI_REFERENCE", "typeMetadata": link }]);
        let object = json!({ "id": "kept", "fields": fields, "dataPermissions": levels, "realtime": true });
        assert_eq!(app.app().post("/v2/collections", &json!({ "collection": object })).await.verdict(), "200");
        let item = json!({ "dataCollectionId": "kept", "dataItem": { "data": { "_id": "first", "n": "kept secret" } } });
        assert_eq!(app.app().post("/v2/items", &item).await.verdict(), "200");
        let state = async || {
            let collection = app.app().get("/v2/collections/kept?dataCollectionId=kept").await.json();
            (collection, app.app().get("/v2/items/first?dataCollectionId=kept").await.json())
        };
        let before = state().await;
        let (anonymous, visitor) = (app.anonymous(), app.visitor().await);
        let mut walked = 0;
        for listed in operations().into_iter().filter(of_collections) {
            let (path, id) = (path_of_route(listed.route.path), listed.operation.id);
            let body = (listed.method != Method::GET).then(|| body_of(listed.route.path, "kept").to_string().into());
            let unknown = anonymous.send(listed.method.clone(), &path, body.clone()).await.verdict();
            assert_eq!(unknown, "401 UNAUTHENTICATED", "{id} without a token");
            let reply = visitor.send(listed.method.clone(), &path, body).await;
            let text = String::from_utf8_lossy(&reply.body).into_owned();
            assert!(!text.contains("kept secret"), "{id} shows the item to a visitor: {text}");
            let is_closed = matches!(reply.status.as_u16(), 403 | 404) || refuses_to_follow(&text);
            // What lists, lists nothing of it.
            let is_list = listed.operation.callers == Callers::Known && reply.status == 200 && !text.contains("\"kept\"");
            assert!(is_closed || is_list, "{id} answers a visitor {} {text}", reply.verdict());
            walked += 1;
        }
        assert!(walked >= 60, "{walked}");
        assert_eq!(state().await, before);
    }

    async fn pages_are_asked_by_themselves_alone(engine) {
        let app = TestApp::new(engine).await;
        let mut walked = 0;
        for listed in operations().into_iter().filter(|it| it.operation.callers == Callers::Pages) {
            let path = listed.path().replace("{token}", "x").replace("{id}", "x");
            let request = Request::builder().method(listed.method.clone()).uri(&path).header("host", "localhost");
            let request = request.header("content-type", "application/json").header("sec-fetch-site", "cross-site");
            let response = app.service().oneshot(request.body(Body::from("{}")).unwrap()).await.unwrap();
            let status = response.status();
            let body = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
            let body: Value = serde_json::from_slice(&body).unwrap();
            let code = &body["details"]["applicationError"]["code"];
            assert_eq!((status.as_u16(), code), (403, &json!("PERMISSION_DENIED")), "{}", listed.operation.id);
            walked += 1;
        }
        assert!(walked > 10, "{walked}");
    }

    async fn open_calls_look_at_no_token(engine) {
        let app = TestApp::new(engine).await;
        for listed in operations().into_iter().filter(|it| it.operation.callers == Callers::Open) {
            let path = listed.path();
            let body = (listed.method != Method::GET).then(|| "{}".into());
            let reply = app.anonymous().send(listed.method.clone(), &path, body).await;
            let is_json = reply.headers.get("content-type").is_some_and(|it| it == "application/json");
            let verdict = if is_json { reply.verdict() } else { reply.status.as_u16().to_string() };
            check_caller(listed.operation, "nobody", &verdict);
        }
    }
}
