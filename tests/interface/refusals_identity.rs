//! What calls of members, sign-in and tokens may be refused with, where no other test brings it about: a line a refusal.

use super::operation;
use crate::community::relation;
use axum::{
    body::{Body, Bytes},
    http::Request,
};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::{Value, json};
use std::{convert::Infallible, pin::Pin};
use stoa_kernel::{Caller, KeyId, MemberId};
use stoa_sql::params;
use stoa_store::boxed;
use stoa_testkit::{Reply, TestApp, TestClient, on_both_engines};
use tower::ServiceExt;

/// Who asks for what: the operation, the id in its path, what is sent, and the verdict.
type Row<'a> = (&'a TestClient<'a>, &'a str, &'a str, Value, &'a str);

/// A cursor that no list gives out.
const CURSOR: &str = "~x";

/// What finds members, or what is around them, by a filter.
const FILTERED: &[&str] = &[
    "badgeListV3",
    "badgeQuery",
    "badgeAssignmentQuery",
    "badgeAssignmentBulkTagByFilter",
    "customFieldSuggestionList",
    "customFieldSuggestionQuery",
    "memberQuery",
    "memberBulkDeleteByFilter",
    "memberBulkApproveByFilter",
    "memberBulkBlockByFilter",
    "userMemberQuery",
    "memberRoleQuery",
    "memberReportQuery",
    "reportedMemberList",
    "reportedMemberQuery",
    "memberAboutQuery",
];

const PASSWORD: &str = "correct horse battery";

/// Asks one after another. Each verdict must be one that the operation is described to have.
async fn walk(rows: &[Row<'_>]) {
    let mut wrong = Vec::new();
    for (client, id, name, sent, verdict) in rows {
        let found = ask(client, id, name, sent).await.verdict();
        if found != *verdict || !is_described(id, verdict) {
            wrong.push(format!("{id} {name} {sent}: {found} instead of {verdict}"));
        }
    }
    assert!(wrong.is_empty(), "other than expected, or not described:\n{}", wrong.join("\n"));
}

fn is_described(id: &str, verdict: &str) -> bool {
    let operation = operation(id).operation;
    let Some((status, code)) = verdict.split_once(' ') else {
        return operation.answers.iter().any(|it| it.status.to_string() == verdict);
    };
    let code = if code == "validationError" { "INVALID_ARGUMENT" } else { code };
    operation.codes().iter().any(|it| it.name() == code && it.status().to_string() == status)
}

/// Sends an object where the operation takes it, in the body or packed into the query, and anything else in the body.
async fn ask(client: &TestClient<'_>, id: &str, name: &str, sent: &Value) -> Reply {
    let listed = operation(id);
    let path = ["{id}", "{key}"].iter().fold(listed.path(), |path, it| path.replace(it, name));
    if listed.operation.request.is_none() && sent.is_object() {
        let path = format!("{path}?.r={}", URL_SAFE_NO_PAD.encode(sent.to_string()));
        return client.send(listed.method.clone(), &path, None).await;
    }
    client.send(listed.method.clone(), &path, (!sent.is_null()).then(|| sent.to_string().into())).await
}

/// The id of what a call has made.
async fn made(client: &TestClient<'_>, id: &str, sent: Value, name: &str) -> String {
    let reply = ask(client, id, "", &sent).await;
    assert_eq!(reply.verdict(), "200", "{id} {sent}");
    reply.json()[name]["id"].as_str().unwrap().to_owned()
}

async fn own_id(member: &TestClient<'_>) -> String {
    member.get("/members/v1/members/my").await.json()["member"]["id"].as_str().unwrap().to_owned()
}

/// Writes as many definitions of a kind as a site may have, or more.
async fn define(app: &TestApp, kind: &'static str, count: i64) {
    let sql = "insert into stoa.member_noun (site, kind, id, doc, position, revision, created, updated) \
               with recursive n(i) as (select cast(1 as bigint) union all select i + 1 from n where i < $1) \
               select $2, $3, 'n' || i, '{}', i, 1, i, i from n";
    let write = app.site.write_with(app.site.id.clone(), move |tx, site| {
        boxed!(Ok(tx.execute(sql, &params![count, site, kind]).await?))
    });
    assert_eq!(write.await.unwrap(), count as u64);
}

/// A call whose body arrives after something else has happened, and after it was seen who asks.
async fn ask_before(
    client: &TestClient<'_>,
    (app, id): (&TestApp, &str),
    happens: Pin<Box<dyn Future<Output = ()> + Send>>,
) -> Reply {
    let listed = operation(id);
    let sent = json!({ "slug": "another", "email": "anna@example.org" }).to_string();
    let body = futures_util::stream::once(async move {
        happens.await;
        Ok::<_, Infallible>(Bytes::from(sent))
    });
    let request = Request::builder().method(listed.method.clone()).uri(listed.path()).header("host", "localhost");
    let request = request.header("authorization", &client.token).header("content-type", "application/json");
    let response = app.service().oneshot(request.body(Body::from_stream(body)).unwrap()).await.unwrap();
    let (status, headers) = (response.status(), response.headers().clone());
    Reply { status, headers, body: axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap() }
}

on_both_engines! {
    async fn definitions_are_refused(engine) {
        let app = TestApp::new(engine).await;
        let key = &app.app();
        let badge = made(key, "badgeCreate", json!({ "badge": { "title": "Wise" } }), "badge").await;
        let field = made(key, "customFieldCreate", json!({ "field": { "name": "Club" } }), "field").await;
        let (badge, field) = (badge.as_str(), field.as_str());
        let applied = json!({ "application": { "customFieldId": field } });
        let too_many: Vec<String> = (0..501).map(|n| format!("n{n}")).collect();
        walk(&[
            (key, "roleCreate", "", json!({ "roleKey": "guide" }), "200"),
            (key, "fieldApplicationCreate", "", applied.clone(), "200"),
            (key, "roleUpdate", "guide", json!({ "roleTitle": "Guide", "revision": "9" }), "409 INVALID_REVISION"),
            (key, "badgeUpdateV3", badge, json!({ "badge": { "title": "Old", "revision": "9" } }), "409 INVALID_REVISION"),
            (key, "customFieldUpdate", field, json!({ "field": { "name": "Clubs", "revision": "9" } }), "409 INVALID_REVISION"),
            (key, "customFieldDelete", field, json!({ "revision": "9" }), "409 INVALID_REVISION"),
            (key, "fieldApplicationUpdate", field, json!({ "application": { "revision": "9" } }), "409 INVALID_REVISION"),
            (key, "badgeOrderUpdateV3", "", json!({ "badgeIds": too_many }), "400 TOO_MANY"),
            (key, "badgeOrderUpdate", "", json!({ "ids": too_many }), "400 TOO_MANY"),
            (key, "customFieldOrderUpdate", "", json!({ "fieldIds": too_many }), "400 TOO_MANY"),
            (key, "badgeQuery", "", json!({ "query": { "cursorPaging": { "cursor": CURSOR } } }), "400 WDE0151"),
        ]).await;
        for (kind, count) in [("role", 500), ("badge", 500), ("field", 200), ("application", 200)] {
            define(&app, kind, count).await;
        }
        walk(&[
            (key, "roleCreate", "", json!({ "roleKey": "one more" }), "400 TOO_MANY"),
            (key, "badgeCreateV3", "", json!({ "badge": { "title": "One more" } }), "400 TOO_MANY"),
            (key, "badgeCreate", "", json!({ "badge": { "title": "One more" } }), "400 TOO_MANY"),
            (key, "customFieldCreate", "", json!({ "field": { "name": "One more" } }), "400 TOO_MANY"),
            (key, "fieldApplicationCreate", "", applied, "400 TOO_MANY"),
        ]).await;
    }

    async fn filters_are_refused(engine) {
        let app = TestApp::new(engine).await;
        let key = &app.app();
        let tags = json!({ "tags": { "tagIds": ["a"] } });
        let with = |filter: &Value| json!({ "filter": filter, "assignTags": tags });
        let unknown = json!({ "colour": "red" });
        let deep = (0..20).fold(json!({}), |inner, _| json!({ "$not": inner }));
        let rows = FILTERED.iter().flat_map(|it| {
            [(key, *it, "", with(&unknown), "428 WDE0119"), (key, *it, "", with(&deep), "400 WDE0169")]
        });
        walk(&rows.collect::<Vec<_>>()).await;
    }

    async fn ids_with_a_nul_are_of_nothing(engine) {
        let app = TestApp::new(engine).await;
        let (key, nul) = (&app.app(), "a\0");
        let member = own_id(&app.member("ada@example.org").await).await;
        let tags = json!({ "tags": { "tagIds": ["a"] } });
        walk(&[
            (key, "passwordRefuse", "a%00", json!({}), "404 NOT_FOUND"),
            (key, "memberReportDelete", "a%00", Value::Null, "404 NOT_FOUND"),
            (key, "memberBlockList", "a%00", Value::Null, "404 NOT_FOUND"),
            (key, "memberRoleList", "a%00", Value::Null, "404 NOT_FOUND"),
            (key, "connectionQuery", "a%00", json!({ "connectedMemberIds": [member] }), "404 NOT_FOUND"),
            (key, "badgeAssignmentDelete", "a%00", Value::Null, "404 NOT_FOUND"),
            (key, "badgeUnassignV3", "a%00", json!({ "memberIds": [member] }), "404 NOT_FOUND"),
            (key, "badgeUnassignV3", "badge", json!({ "memberIds": [nul] }), "200"),
            (key, "badgeAssignmentBulkDelete", "", json!({ "badgeAssignmentIds": [nul] }), "200"),
            (key, "badgeAssignmentBulkTag", "", json!({ "ids": [nul], "assignTags": tags }), "200"),
            (key, "memberRoleUnassign", &member, json!({ "roleKey": nul }), "200"),
        ]).await;
    }

    async fn what_members_do_to_each_other_is_refused(engine) {
        let app = TestApp::new(engine).await;
        let (ada, bob, key) = (&app.member("ada@example.org").await, &app.member("bob@example.org").await, &app.app());
        let (a, b) = (own_id(ada).await, own_id(bob).await);
        let (a, b) = (a.as_str(), b.as_str());
        let page = json!({ "cursorPaging": { "cursor": CURSOR } });
        let report = |whom: &str| json!({ "memberReport": { "reportedMemberId": whom } });
        let block = |whom: &str| json!({ "memberId": whom });
        walk(&[
            (bob, "communityJoin", "", json!({}), "200"),
            (bob, "memberBlockCreate", "", block("nobody"), "404 NOT_FOUND"),
            (bob, "memberBlockCreate", "", block(a), "200"),
            (bob, "memberBlockCreate", "", block(a), "409 ALREADY_EXISTS"),
            (ada, "followingList", b, Value::Null, "403 MEMBER_TO_MEMBER_BLOCKED"),
            (ada, "connectionQuery", b, json!({ "connectedMemberIds": [a] }), "403 MEMBER_TO_MEMBER_BLOCKED"),
            (bob, "memberBlockDelete", a, Value::Null, "200"),
            (ada, "memberReportCreate", "", report(a), "400 MEMBER_SELF_BLOCK_FORBIDDEN"),
            (ada, "memberReportCreate", "", report("nobody"), "404 NOT_FOUND"),
            (ada, "memberReportCreate", "", report(b), "200"),
            (ada, "memberReportCreate", "", report(b), "409 ALREADY_EXISTS"),
            (ada, "followerListMy", "", page.clone(), "400 WDE0151"),
            (ada, "followingListMy", "", page.clone(), "400 WDE0151"),
            (ada, "memberBlockListMy", "", page.clone(), "400 WDE0151"),
            (key, "memberReportQuery", "", json!({ "query": page }), "400 WDE0151"),
            (key, "reportedMemberQuery", "", json!({ "query": page }), "400 WDE0151"),
            (ada, "memberAboutGetMy", "", Value::Null, "404 NOT_FOUND"),
            (ada, "memberAboutCreate", "", json!({ "memberAbout": { "content": {} } }), "200"),
            (ada, "memberAboutCreate", "", json!({ "memberAbout": { "content": {} } }), "409 ALREADY_EXISTS"),
        ]).await;
        for kind in ["follow", "block", "report"] {
            relation(&app, kind, (&format!("'{a}'"), &format!("'{kind}' || i")), 5_000).await;
        }
        walk(&[
            (ada, "followerCreate", b, json!({}), "400 TOO_MANY"),
            (ada, "memberBlockCreate", "", block(b), "400 TOO_MANY"),
            (ada, "memberReportCreate", "", report(b), "400 TOO_MANY"),
        ]).await;
    }

    async fn changes_of_members_are_refused(engine) {
        let app = TestApp::new(engine).await;
        let (ada, bob, key) = (&app.member("ada@example.org").await, &app.member("bob@example.org").await, &app.app());
        let (a, visitor) = (own_id(ada).await, &app.visitor().await);
        let a = a.as_str();
        let slug = json!({ "slug": "bob" });
        let with_slug = |email: &str| json!({ "loginId": { "email": email }, "password": PASSWORD, "profile": slug });
        let by_name = json!([{ "fieldName": "nickname" }]);
        walk(&[
            (bob, "memberSlugUpdateMy", "", slug.clone(), "200"),
            (ada, "memberSlugUpdateMy", "", slug.clone(), "409 SLUG_ALREADY_EXISTS"),
            (key, "memberSlugUpdate", a, slug.clone(), "409 SLUG_ALREADY_EXISTS"),
            (ada, "memberUpdate", a, json!({ "member": { "profile": slug } }), "409 SLUG_ALREADY_EXISTS"),
            (visitor, "memberRegister", "", with_slug("cleo@example.org"), "409 SLUG_ALREADY_EXISTS"),
            (key, "memberSignOn", "", with_slug("cleo@example.org"), "409 SLUG_ALREADY_EXISTS"),
            (ada, "memberDeleteMy", "", json!([]), "400 validationError"),
            (ada, "memberDeleteMy", "", json!({ "contentAssigneeId": "another" }), "428 WDE0119"),
            (key, "memberList", "", json!({ "sorting": [{ "fieldName": "muted" }] }), "428 WDE0119"),
            (key, "memberList", "", json!({ "cursorPaging": {}, "sorting": by_name }), "400 WDE0152"),
            (key, "userMemberQuery", "", json!({ "query": { "cursorPaging": { "cursor": CURSOR } } }), "400 WDE0151"),
            (key, "privacySettingsUpdate", "", json!({ "memberPrivacySettings": { "publicMemberCandidates": "NO_ONE" } }), "200"),
            (ada, "memberUpdate", a, json!({ "member": { "privacyStatus": "PUBLIC" } }), "403 COMMUNITY_JOIN_IMPOSSIBLE"),
            (key, "memberSignOn", "", with_slug("ada@example.org"), "409 SLUG_ALREADY_EXISTS"),
        ]).await;
    }

    async fn members_go_while_they_ask(engine) {
        let app = TestApp::new(engine).await;
        for (n, id) in ["memberDeleteMy", "memberSlugUpdateMy", "communityJoin", "communityLeave"].into_iter().enumerate() {
            let member = app.member(&format!("m{n}@example.org")).await;
            let (here, site, own) = (app.app.clone(), app.site.clone(), MemberId::from(own_id(&member).await));
            let key = Caller::App { id: KeyId::from("key") };
            let goes = Box::pin(async move { here.identity.member_delete(&site, &key, &own).await.unwrap() });
            let reply = ask_before(&member, (&app, id), goes).await;
            assert!(reply.verdict() == "404 NOT_FOUND" && is_described(id, "404 NOT_FOUND"), "{id}: {}", reply.verdict());
        }
        let (visitor, id) = (app.visitor().await, "passwordEmailSend");
        let (here, site, client) = (app.app.clone(), app.site.id.clone(), app.client.id.clone());
        let goes = Box::pin(async move { here.identity.client_revoke(&site, &client).await.unwrap() });
        let reply = ask_before(&visitor, (&app, id), goes).await;
        assert!(reply.verdict() == "400 CLIENT_NOT_FOUND" && is_described(id, "400 CLIENT_NOT_FOUND"), "{}", reply.verdict());
    }

    async fn sign_ins_of_the_members_package_are_refused(engine) {
        let app = TestApp::new(engine).await;
        let (key, visitor) = (&app.app(), &app.visitor().await);
        let ids = [own_id(&app.member("ada@example.org").await).await, own_id(&app.member("bob@example.org").await).await];
        let by = |email: &str| json!({ "email": email, "password": PASSWORD });
        let with_answer = |email: &str| {
            json!({ "email": email, "password": PASSWORD, "captchaTokens": [{ "Recaptcha": "nonsense" }] })
        };
        let policy = |policy: Value| json!({ "signOnPolicy": policy });
        walk(&[
            (key, "passwordRefuse", ids[0].as_str(), json!({}), "200"),
            (key, "memberBlock", ids[1].as_str(), json!({}), "200"),
            (visitor, "memberLoginByEmail", "", by("ada@example.org"), "403 -19973"),
            (visitor, "memberLoginByEmail", "", by("bob@example.org"), "403 MEMBER_BLOCKED"),
            (key, "signOnPolicyUpdate", "", policy(json!({ "requireEmailVerification": true })), "200"),
            (visitor, "memberRegisterByEmail", "", by("cleo@example.org"), "403 EMAIL_VERIFICATION_REQUIRED"),
            (visitor, "memberLoginByEmail", "", by("cleo@example.org"), "403 EMAIL_VERIFICATION_REQUIRED"),
            (key, "signOnPolicyUpdate", "", policy(json!({ "requireCaptcha": true })), "200"),
            (visitor, "memberRegisterByEmail", "", by("dora@example.org"), "400 -19971"),
            (visitor, "memberRegisterByEmail", "", with_answer("dora@example.org"), "400 -19970"),
            (visitor, "memberLoginByEmail", "", by("ada@example.org"), "400 -19971"),
            (visitor, "memberLoginByEmail", "", with_answer("ada@example.org"), "400 -19970"),
        ]).await;
    }

    async fn addresses_of_others_are_refused(engine) {
        let app = TestApp::new(engine).await;
        let (key, visitor, nobody) = (&app.app(), &app.visitor().await, &app.anonymous());
        let member = own_id(&app.member("ada@example.org").await).await;
        let unknown = json!({ "clientId": "nope" });
        let elsewhere = json!({ "url": "https://elsewhere.example/" });
        let activation = |redirect: &Value| json!({ "identityId": member, "emailOptions": { "redirect": redirect } });
        let (partner, secret) = app.partner("items:read").await;
        let consent = |url: &str, state: &str| json!({ "appId": partner.id, "redirectUrl": url, "state": state });
        let access = |grant: &str, scope: &str| {
            let (id, secret) = (partner.id.as_str(), secret.expose());
            json!({ "client_id": id, "client_secret": secret, "grant_type": grant, "scope": scope })
        };
        let of_token = json!({ "token": "unknown", "scope": "items:raed" });
        walk(&[
            (visitor, "recoveryEmailSend", "", json!({ "email": "ada@example.org", "redirect": unknown }), "400 CLIENT_NOT_FOUND"),
            (key, "activationEmailSend", "", activation(&unknown), "400 CLIENT_NOT_FOUND"),
            (key, "activationEmailSend", "", activation(&elsewhere), "400 REDIRECT_URI_NOT_ALLOWED"),
            (nobody, "appConsentGet", "", json!({ "appId": "nope", "redirectUrl": "x" }), "400 CLIENT_NOT_FOUND"),
            (nobody, "appConsentGet", "", consent("https://elsewhere.example/", ""), "400 REDIRECT_URI_NOT_ALLOWED"),
            (nobody, "appConsentGet", "", consent(&partner.redirect_uris[0], &"x".repeat(3_000)), "400 invalid_request"),
            (nobody, "applicationTokenCreate", "", access("anonymous", ""), "400 unsupported_grant_type"),
            (nobody, "applicationTokenCreate", "", access("refresh_token", "items:raed"), "400 invalid_scope"),
            (nobody, "tokenRevoke", "", of_token.clone(), "400 invalid_scope"),
            (nobody, "tokenIntrospect", "", of_token, "400 invalid_scope"),
        ]).await;
    }

    async fn token_of_a_client_that_is_gone_counts_as_taken_back(engine) {
        let app = TestApp::new(engine).await;
        let member = own_id(&app.member("ada@example.org").await).await;
        let both = app.with_token(&format!("{},{}", app.visitor().await.token, app.app().token));
        let grant = json!({ "grant_type": "authorized_client", "member_id": member });
        let token = ask(&both, "tokenCreate", "", &grant).await.json()["refresh_token"].clone();
        assert!(token.is_string());
        app.app.identity.client_revoke(&app.site.id, &app.client.id).await.unwrap();
        let nobody = &app.anonymous();
        let refresh = json!({ "grant_type": "refresh_token", "refresh_token": token });
        walk(&[
            (nobody, "tokenRevoke", "", json!({ "token": token }), "200"),
            (nobody, "tokenCreate", "", refresh, "400 invalid_grant"),
        ]).await;
    }
}
