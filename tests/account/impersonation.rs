//! Owners who act as members (docs/impersonation.md), and those who would like to.

mod ends;

use super::{
    PASSWORD,
    scopes_everywhere::{body_of, path_of_route, refuses_to_follow},
    text,
};
use axum::http::Method;
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use futures_util::future::join_all;
use serde_json::{Value, json};
use stoa_http::{
    Opening,
    openapi::{Callers, Listed},
    operations,
};
use stoa_identity::{
    Impersonation,
    manage::{ImpersonationRequest, MemberChange},
};
use stoa_kernel::{Caller, Email, MemberId, Role};
use stoa_store::{ReaderPool, boxed};
use stoa_testkit::{Reply, TestApp, TestClient, on_both_engines};

const NO_SCOPE: &str = "403 INSUFFICIENT_SCOPE";
const ENDED: &str = "401 UNAUTHENTICATED";
const MY: &str = "/members/v1/members/my";
const SESSIONS: &str = "/_api/identity/v1/sessions";
const HALF_AN_HOUR: i64 = 30 * 60_000;

/// A member with an item of her own in a collection in which members see and change their own.
struct Scene<'a> {
    app: &'a TestApp,
    owner: TestClient<'a>,
    ada: TestClient<'a>,
    id: String,
}

impl<'a> Scene<'a> {
    async fn new(app: &'a TestApp, policy: &str) -> Self {
        let (owner, ada) = (app.owner().await, app.member("ada@example.org").await);
        let id = subject(app, &ada).await;
        let scene = Self { app, owner, ada, id };
        scene.policy(json!({ "impersonation": policy })).await;
        scene.define("kept", "SITE_MEMBER_AUTHOR").await;
        insert(&scene.ada, "first").await;
        app.mail.take();
        scene
    }

    async fn policy(&self, policy: Value) {
        let body = json!({ "signOnPolicy": policy }).to_string();
        let reply = self.app.app().send(Method::PATCH, "/v1/sign-on-policies", Some(body.into())).await;
        assert_eq!(reply.verdict(), "200", "{policy}");
    }

    async fn define(&self, id: &str, level: &str) {
        let levels = json!({ "itemRead": level, "itemInsert": level, "itemUpdate": level, "itemRemove": level });
        let link = json!({ "multiReference": { "referencedCollectionId": id, "referencingFieldKey": "back" } });
        let fields = json!([{ "key": "n", "type": "TEXT" }]);
        let object = json!({ "id": id, "fields": fields, "dataPermissions": levels, "realtime": true });
        assert_eq!(self.app.app().post("/v2/collections", &json!({ "collection": object })).await.verdict(), "200");
        let field = json!({ "key": "link", "type": "MULTI_REFERENCE", "typeMetadata": link });
        let field = json!({ "dataCollectionId": id, "field": field });
        assert_eq!(self.app.app().post("/v2/collections/create-field", &field).await.verdict(), "200");
    }

    fn path(&self) -> String {
        path(&self.id)
    }

    /// The call as the owner makes it.
    async fn ask(&self, access: &str) -> Reply {
        begin(&self.owner, &self.id, access).await
    }

    /// The owner as the member.
    async fn begin(&self, access: &str) -> TestClient<'a> {
        let reply = self.ask(access).await;
        assert_eq!(reply.verdict(), "200", "{}", reply.json());
        self.app.with_token(&text(&reply.json()["accessToken"]))
    }

    async fn audited(&self, event: &str) -> Vec<Value> {
        let path = format!("/_api/identity/v1/audit?event={event}&member={}&paging.limit=1000", self.id);
        self.app.app().get(&path).await.json()["entries"].as_array().cloned().unwrap_or_default()
    }

    /// Where the member sees that an owner acts as her.
    async fn shown(&self) -> Vec<Value> {
        let listed = self.ada.get(SESSIONS).await.json();
        let all = listed["sessions"].as_array().cloned().unwrap_or_default();
        all.into_iter().filter(|it| it["impersonation"].is_object()).collect()
    }

    /// All that a call of hers could change, as the site's key sees it.
    async fn state(&self) -> Vec<Value> {
        let app = self.app.app();
        let mut state = Vec::new();
        for path in [
            format!("/members/v1/members/{}?fieldsets=FULL", self.id),
            "/v2/items/first?dataCollectionId=kept".to_owned(),
            "/v2/collections/kept".to_owned(),
            "/v2/indexes?dataCollectionId=kept".to_owned(),
            "/v1/permissions?dataCollectionId=kept".to_owned(),
            "/v1/sign-on-policies".to_owned(),
            "/members/v1/members".to_owned(),
        ] {
            state.push(app.get(&path).await.json());
        }
        let count = json!({ "dataCollectionId": "kept" });
        state.push(app.post("/v2/items/count", &count).await.json());
        for table in ["member_noun", "member_tie", "factor", "session_token", "session", "link", "verification"] {
            let sql = format!("select count(*) from stoa.{table}");
            let read = self.app.site.read(ReaderPool::Scan, move |tx| {
                boxed!(Ok(tx.row(&sql, &[], |row| row.get::<i64>(0)).await?.unwrap_or_default()))
            });
            state.push(json!({ table: read.await.unwrap() }));
        }
        state
    }
}

fn path(member: &str) -> String {
    format!("/_api/identity/v1/members/{member}/impersonation")
}

async fn begin(caller: &TestClient<'_>, member: &str, access: &str) -> Reply {
    let body = json!({ "reason": "Ticket 4711", "password": PASSWORD, "access": access });
    caller.post(&path(member), &body).await
}

async fn token_info(app: &TestApp, token: &str) -> Value {
    app.anonymous().post("/oauth2/token-info", &json!({ "token": token })).await.json()
}

async fn subject(app: &TestApp, client: &TestClient<'_>) -> String {
    text(&token_info(app, &client.token).await["subjectId"])
}

async fn insert(client: &TestClient<'_>, id: &str) -> Reply {
    let body = json!({ "dataCollectionId": "kept", "dataItem": { "data": { "_id": id, "n": "hers" } } });
    client.post("/v2/items", &body).await
}

async fn seen(client: &TestClient<'_>) -> String {
    let reply = client.post("/v2/items/query", &json!({ "dataCollectionId": "kept", "query": {} })).await;
    match reply.verdict().as_str() {
        "200" => reply.json()["dataItems"].as_array().map_or(0, Vec::len).to_string(),
        refused => refused.to_owned(),
    }
}

fn claims(token: &str) -> Value {
    let claims = URL_SAFE_NO_PAD.decode(token.split('.').nth(1).unwrap()).unwrap();
    serde_json::from_slice(&claims).unwrap()
}

async fn call(client: &TestClient<'_>, listed: &Listed) -> Reply {
    let body = (listed.method != Method::GET).then(|| body_of(listed.route.path, "kept").to_string().into());
    client.send(listed.method.clone(), &path_of_route(listed.route.path), body).await
}

/// Whether a call looks at whose token it is.
fn looks_at_callers(listed: &Listed) -> bool {
    !matches!(listed.operation.callers, Callers::Open | Callers::Clients | Callers::Pages)
}

on_both_engines! {
    async fn owner_sees_what_the_member_sees_and_everyone_can_tell(engine) {
        let app = TestApp::new(engine).await;
        let scene = Scene::new(&app, "READ").await;
        let (owner_id, before) = (subject(&app, &scene.owner).await, scene.state().await);
        let signed_in = scene.audited("member_sign_in").await.len();
        insert(&app.member("eve@example.org").await, "others").await;
        let reply = scene.ask("READ").await;
        assert_eq!(reply.headers["cache-control"], "no-store");
        let begun = reply.json();
        assert_eq!((&begun["access"], &begun["expiresIn"], &begun["memberId"]), (&json!("READ"), &json!(1800), &json!(scene.id)), "{begun}");
        assert!(begun.get("refreshToken").is_none() && begun.get("refresh_token").is_none());
        let as_ada = app.with_token(&text(&begun["accessToken"]));

        // Her own item and no other, herself, and nothing of her account.
        assert_eq!(seen(&as_ada).await, "1");
        assert_eq!(as_ada.get("/v2/items/first?dataCollectionId=kept").await.json()["dataItem"]["data"]["n"], "hers");
        let my = as_ada.get(MY).await.json();
        assert_eq!((&my["member"]["id"], &my["act"]), (&json!(scene.id), &json!({ "sub": owner_id })));
        assert!(scene.ada.get(MY).await.json().get("act").is_none());
        let info = as_ada.get("/oauth2/user-info").await.json();
        assert_eq!((&info["sub"], &info["act"]["sub"]), (&json!(scene.id), &json!(owner_id)));
        for path in [SESSIONS, "/_api/identity/v1/factors", "/_api/identity/v1/export"] {
            assert_eq!(as_ada.get(path).await.verdict(), NO_SCOPE, "{path}");
        }

        // The token says whose it is, by the standard's name.
        let claims = claims(&as_ada.token);
        assert_eq!((&claims["sub"], &claims["act"]["sub"]), (&json!(scene.id), &json!(owner_id)));
        assert!(claims["exp"].as_i64().unwrap() - claims["iat"].as_i64().unwrap() <= 1800);
        let info = token_info(&app, &as_ada.token).await;
        assert_eq!((&info["subjectType"], &info["act"]["sub"]), (&json!("MEMBER"), &json!(owner_id)));
        assert_eq!(info["scope"], "items:read collections:read members:read");
        let inspected = app.app().post("/oauth2/introspect", &json!({ "token": as_ada.token })).await.json();
        assert_eq!((&inspected["sub"], &inspected["act"]["sub"]), (&json!(scene.id), &json!(owner_id)), "{inspected}");
        assert!(token_info(&app, &scene.ada.token).await.get("act").is_none());

        // She is told, and sees it; nothing counts as her own sign-in.
        let mails = app.mail.take();
        assert_eq!(mails.iter().map(|it| (it.to.as_str(), it.subject.as_str())).collect::<Vec<_>>(),
            [("ada@example.org", "The owner of Test opened your account")]);
        let shown = scene.shown().await;
        assert_eq!((shown.len(), &shown[0]["id"], &shown[0]["impersonation"]["access"]), (1, &begun["sessionId"], &json!("READ")));
        assert_eq!(shown[0]["impersonation"]["expiresDate"], begun["expiresDate"]);
        assert_eq!(scene.state().await[0], before[0], "last login and all else of the member");
        let entries = scene.audited("impersonation_start").await;
        assert_eq!(entries.len(), 1);
        assert_eq!((&entries[0]["actor"], &entries[0]["actorKind"]), (&json!(owner_id), &json!("WIX_USER")));
        assert_eq!((&entries[0]["detail"], &entries[0]["address"]), (&json!("READ: Ticket 4711"), &json!("127.0.0.1")));
        assert_eq!(scene.audited("member_sign_in").await.len(), signed_in);

        // A site that says otherwise tells her nothing by mail; she sees it all the same.
        scene.policy(json!({ "impersonationWithoutNotice": true })).await;
        scene.begin("READ").await;
        assert!(app.mail.take().is_empty());
        assert_eq!(scene.shown().await.len(), 1, "the one before has ended");
    }

    async fn log_tells_who_changed_what_owners_may(engine) {
        let app = TestApp::new(engine).await;
        let scene = Scene::new(&app, "OFF").await;
        let rows = async || {
            let path = "/_api/identity/v1/audit?event=impersonation_policy_change";
            app.app().get(path).await.json()["entries"].as_array().cloned().unwrap()
        };
        let before = rows().await.len();
        for policy in [
            json!({ "impersonation": "READ" }),
            json!({ "impersonation": "READ", "requireCaptcha": false }),
            json!({ "impersonation": "WRITE", "impersonationWithoutNotice": true }),
            json!({ "secondFactor": "OPTIONAL" }),
            json!({ "impersonation": "OFF" }),
            json!({ "impersonationWithoutNotice": false }),
        ] {
            scene.policy(policy).await;
        }
        let mut told = rows().await;
        told.truncate(told.len() - before);
        // Of two in one moment either may be told first.
        let mut details: Vec<&str> = told.iter().map(|it| it["detail"].as_str().unwrap()).collect();
        details.sort_unstable();
        assert_eq!(details, [
            "from OFF to READ",
            "from OFF without notice to OFF",
            "from READ to WRITE without notice",
            "from WRITE without notice to OFF without notice",
        ]);
        assert!(told.iter().all(|it| it["actorKind"] == "APP" && it.get("member").is_none()), "{told:?}");
    }

    async fn only_owners_who_show_their_password_begin(engine) {
        let app = TestApp::new(engine).await;
        let scene = Scene::new(&app, "WRITE").await;
        let everything = "items:write collections:write members:write members:sign-in site:write";
        let (partner, _) = app.partner(everything).await;
        let as_ada = scene.begin("WRITE").await;
        for (who, caller, refused) in [
            ("nobody", app.anonymous(), ENDED),
            ("visitor", app.visitor().await, "403 PERMISSION_DENIED"),
            ("member", scene.ada.clone(), "403 PERMISSION_DENIED"),
            ("editor", app.editor().await, "403 PERMISSION_DENIED"),
            ("key", app.app(), "403 PERMISSION_DENIED"),
            ("held key", app.key(everything).await, NO_SCOPE),
            ("application", app.installed(everything).await, NO_SCOPE),
            ("through others", app.through(&partner, &scene.ada, everything).await, NO_SCOPE),
            ("owner as a member", as_ada.clone(), NO_SCOPE),
        ] {
            assert_eq!(begin(&caller, &scene.id, "READ").await.verdict(), refused, "{who}");
        }
        assert_eq!(as_ada.delete(&scene.path()).await.verdict(), NO_SCOPE);
        assert_eq!(scene.ada.delete(&scene.path()).await.verdict(), "403 PERMISSION_DENIED");
        let body = |password: Value, reason: Value| json!({ "reason": reason, "password": password });
        for (sent, refused) in [
            (body(json!("not the right one"), json!("x")), "401 -19976"),
            (body(json!(""), json!("x")), "400 validationError"),
            (body(Value::Null, json!("x")), "400 validationError"),
            (body(json!(1), json!("x")), "400 validationError"),
            (body(json!(PASSWORD), Value::Null), "400 validationError"),
            (body(json!(PASSWORD), json!("  ")), "400 validationError"),
            (body(json!(PASSWORD), json!("a\u{0}b")), "400 validationError"),
            (json!({ "reason": "x", "password": PASSWORD, "access": "OFF" }), "400 validationError"),
        ] {
            assert_eq!(scene.owner.post(&scene.path(), &sent).await.verdict(), refused, "{sent}");
        }
        assert_eq!(begin(&scene.owner, "none", "READ").await.verdict(), "404 NOT_FOUND");
        assert_eq!(scene.owner.delete(&path("none")).await.verdict(), "404 NOT_FOUND");
        assert_eq!(scene.owner.delete(&format!("{}?.r=%25", scene.path())).await.verdict(), "400 validationError");
        let blocked = app.member("bob@example.org").await;
        let bob = subject(&app, &blocked).await;
        assert_eq!(app.app().post(&format!("/members/v1/members/{bob}/block"), &json!({})).await.verdict(), "200");
        assert_eq!(begin(&scene.owner, &bob, "READ").await.verdict(), "403 MEMBER_BLOCKED");
        // A member of another site is none here, whatever their id.
        let other = app.kit.store.site_create("Beside", &app.kit.world).await.unwrap();
        let (identity, key) = (&app.app.identity, Caller::App { id: "key".into() });
        let change = MemberChange::default();
        let theirs = identity.member_create(&other, &key, "cleo@example.org", change).await.unwrap().id;
        assert_eq!(begin(&scene.owner, theirs.as_str(), "READ").await.verdict(), "404 NOT_FOUND");
        assert_eq!(scene.owner.delete(&path(theirs.as_str())).await.verdict(), "404 NOT_FOUND");
        let token = &scene.begin("READ").await.token;
        assert!(identity.authenticate(Some(token), Some(app.site.id.as_str())).await.is_ok());
        let elsewhere = identity.authenticate(Some(token), Some(other.id.as_str())).await.unwrap_err();
        assert_eq!(elsewhere.code(), stoa_kernel::Code::Unauthenticated);

        // The policy says how far, and says it by name; off is how sites begin.
        for (policy, access, refused) in [("READ", "WRITE", "READ; WRITE is needed"), ("OFF", "READ", "OFF; READ is needed")] {
            scene.policy(json!({ "impersonation": policy })).await;
            let reply = scene.ask(access).await;
            assert_eq!(reply.verdict(), "403 PERMISSION_DENIED");
            assert!(text(&reply.json()["message"]).contains(refused), "{}", reply.json());
        }
        assert!(app.app().get("/v1/sign-on-policies").await.json()["signOnPolicy"].get("impersonation").is_none());
    }

    async fn guesses_of_the_owners_password_are_few(engine) {
        let app = TestApp::new(engine).await;
        let scene = Scene::new(&app, "READ").await;
        let wrong = json!({ "reason": "x", "password": "not the right one" });
        let to = path(&scene.id);
        let tries = join_all((0..100).map(|_| scene.owner.post(&to, &wrong))).await;
        let verdicts: Vec<String> = tries.iter().map(Reply::verdict).collect();
        assert!(verdicts.iter().any(|it| it == "429 THROTTLED_FEATURE"), "{verdicts:?}");
        assert!(verdicts.iter().all(|it| it == "401 -19976" || it == "429 THROTTLED_FEATURE"), "{verdicts:?}");
        assert!(scene.shown().await.is_empty());
    }

    async fn no_call_changes_anything_with_a_token_that_reads(engine) {
        let app = TestApp::new(engine).await;
        let scene = Scene::new(&app, "READ").await;
        let as_ada = scene.begin("READ").await;
        // She herself may all of this.
        scene.app.app().post("/v1/permissions", &json!({ "dataPermissions": { "id": "kept", "itemRead": "SITE_MEMBER",
            "itemInsert": "SITE_MEMBER", "itemUpdate": "SITE_MEMBER", "itemRemove": "SITE_MEMBER" } })).await;
        let before = scene.state().await;
        let (mut walked, mut open) = (0, Vec::new());
        for listed in operations().iter().filter(|it| looks_at_callers(it)) {
            let (id, route) = (listed.operation.id, listed.route);
            // What opens no area at all is closed to reading, too.
            if route.is_read && route.opening != Opening::Whole {
                continue;
            }
            walked += 1;
            let reply = call(&as_ada, listed).await;
            let (verdict, words) = (reply.verdict(), String::from_utf8_lossy(&reply.body).into_owned());
            let is_closed = match route.opening {
                Opening::Collections if id == "graphqlExecute" => true,
                Opening::Collections => matches!(reply.status.as_u16(), 403 | 404) || refuses_to_follow(&words),
                _ if id == "memberSignOn" => reply.status == 403,
                // For the pages of this server, by the host's name as well.
                _ if id == "captchaChallengeGet" => true,
                _ => verdict == NO_SCOPE,
            };
            if !is_closed {
                open.push(format!("{} {}: {verdict} {words}", listed.method, route.path));
            }
        }
        assert!(open.is_empty(), "{open:#?}");
        assert!(walked > 120, "{walked}");
        for document in [
            "mutation {x: patchKept(id: \"first\", set: {n: \"taken\"}) {_id}}",
            "mutation {x: removeKept(id: \"first\") {_id}}",
            "mutation {x: insertKept(item: {n: \"taken\"}) {_id}}",
        ] {
            let answer = as_ada.post("/graphql/v1", &json!({ "query": document })).await.json();
            assert!(answer["errors"][0].is_object() && answer["data"]["x"].is_null(), "{document}: {answer}");
        }
        assert_eq!(scene.state().await, before);
        assert_eq!(scene.audited("impersonation_write").await.len(), 0, "none of them could");

        // The walk has teeth: with the right to change items the same calls do.
        scene.policy(json!({ "impersonation": "WRITE" })).await;
        let as_ada = scene.begin("WRITE").await;
        let mut done = 0;
        for listed in operations().iter().filter(|it| it.route.opening == Opening::Collections && !it.route.is_read) {
            done += usize::from(call(&as_ada, listed).await.verdict() == "200");
        }
        assert!(done > 10, "{done}");
        assert_ne!(scene.state().await, before);
    }

    async fn items_alone_are_changed_and_every_change_says_by_whom(engine) {
        let app = TestApp::new(engine).await;
        let scene = Scene::new(&app, "WRITE").await;
        let owner_id = subject(&app, &scene.owner).await;
        let as_ada = scene.begin("WRITE").await;
        let before = scene.state().await;
        for listed in operations().iter().filter(|it| looks_at_callers(it)) {
            let (id, route) = (listed.operation.id, listed.route);
            if route.opening == Opening::Collections || route.is_read && route.opening != Opening::Whole {
                continue;
            }
            let verdict = call(&as_ada, listed).await.verdict();
            let is_closed = verdict == NO_SCOPE || id == "memberSignOn" && verdict.starts_with("403") || id == "captchaChallengeGet";
            assert!(is_closed, "{} {}: {verdict}", listed.method, route.path);
        }
        // By its own names, with her id: what would take the account over.
        for (method, path, body) in [
            (Method::PATCH, format!("/members/v1/members/{}", scene.id), json!({ "member": { "contact": { "phones": ["1"] } } })),
            (Method::PATCH, format!("/wix-sm/api/v1/auth/api/v1/members/{}/change-login-email", scene.id), json!({ "newEmail": "o@example.org" })),
            (Method::DELETE, MY.to_owned(), Value::Null),
            (Method::POST, "/_api/identity/v1/proof".to_owned(), json!({ "password": PASSWORD })),
            (Method::POST, "/v2/change-password".to_owned(), json!({ "newPassword": "another long phrase" })),
            (Method::POST, "/v1/redirect-session".to_owned(), json!({ "logout": { "clientId": app.client.id } })),
            (Method::POST, format!("/members/v1/roles/members/{}", scene.id), json!({ "roleKey": "x" })),
        ] {
            let reply = as_ada.send(method.clone(), &path, (!body.is_null()).then(|| body.to_string().into())).await;
            assert_eq!(reply.verdict(), NO_SCOPE, "{method} {path}");
        }
        // No grant makes more of it than it is.
        for grant in [
            json!({ "grant_type": "refresh_token", "refresh_token": as_ada.token, "client_id": app.client.id }),
            json!({ "grant_type": "authorized_client", "member_id": scene.id, "scope": "offline_access" }),
        ] {
            let reply = as_ada.post("/oauth2/token", &grant).await;
            assert!(!reply.status.is_success(), "{grant}: {}", reply.json());
        }
        assert_eq!(scene.state().await, before);
        assert_eq!(scene.audited("impersonation_write").await.len(), 0);

        assert_eq!(insert(&as_ada, "second").await.verdict(), "200");
        let item = app.app().get("/v2/items/second?dataCollectionId=kept").await.json();
        assert_eq!(item["dataItem"]["data"]["_owner"], json!(scene.id), "it is hers");
        let entries = scene.audited("impersonation_write").await;
        assert_eq!(entries.len(), 1);
        assert_eq!((&entries[0]["actor"], &entries[0]["detail"]), (&json!(owner_id), &json!("POST /v2/items")));
        let sql = "select payload from stoa.outbox where kind like 'data_item%' order by seq desc limit 1";
        let last = app.site.read(ReaderPool::Scan, move |tx| boxed!(Ok(tx.row(sql, &[], |row| row.get::<String>(0)).await?)));
        let last: Value = serde_json::from_str(&last.await.unwrap().unwrap()).unwrap();
        assert_eq!(last["identity"], json!({ "type": "MEMBER", "id": scene.id, "impersonator": owner_id }), "{last}");
        insert(&scene.ada, "third").await;
        assert_eq!(scene.audited("impersonation_write").await.len(), 1, "her own are not recorded");

        // What was written about her in words goes with her.
        assert_eq!(scene.audited("impersonation_start").await[0]["detail"], "WRITE: Ticket 4711");
        assert_eq!(app.app().delete(&format!("/members/v1/members/{}", scene.id)).await.verdict(), "200");
        assert!(scene.audited("impersonation_start").await[0].get("detail").is_none());
        assert_eq!(seen(&as_ada).await, ENDED);
    }

    async fn either_side_ends_it(engine) {
        let app = TestApp::with_nodes(engine, 3).await;
        let scene = Scene::new(&app, "WRITE").await;
        let is_over = async |as_ada: &TestClient<'_>, why: &str| {
            // Each call goes to another node.
            for _ in 0..4 {
                assert_eq!(seen(as_ada).await, ENDED, "{why}");
            }
            assert!(scene.shown().await.is_empty(), "{why}");
        };
        let open = async || {
            let as_ada = scene.begin("READ").await;
            for _ in 0..4 {
                assert_eq!(seen(&as_ada).await, "1");
            }
            as_ada
        };

        let as_ada = open().await;
        assert_eq!(scene.owner.delete(&scene.path()).await.json(), json!({ "ended": 1 }));
        is_over(&as_ada, "the owner ended it").await;
        assert_eq!(scene.audited("impersonation_end").await.len(), 1);
        assert_eq!(scene.owner.delete(&scene.path()).await.json(), json!({ "ended": 0 }));
        assert_eq!(scene.audited("impersonation_end").await.len(), 1, "nothing ended");

        let as_ada = open().await;
        let session = text(&scene.shown().await[0]["id"]);
        assert_eq!(scene.ada.delete(&format!("{SESSIONS}/{session}")).await.verdict(), "200");
        is_over(&as_ada, "the member ended it").await;

        let as_ada = open().await;
        assert_eq!(scene.ada.delete(SESSIONS).await.verdict(), "200");
        is_over(&as_ada, "the member ended all others").await;

        let as_ada = open().await;
        let newer = open().await;
        assert_eq!(seen(&as_ada).await, ENDED, "one follows the other");
        scene.policy(json!({ "impersonation": "READ" })).await;
        is_over(&newer, "the policy allows less").await;
        let as_ada = open().await;
        scene.policy(json!({ "impersonation": "WRITE" })).await;
        assert_eq!(seen(&as_ada).await, "1", "it allows more");
        scene.policy(json!({ "impersonation": "OFF" })).await;
        is_over(&as_ada, "the policy allows nothing").await;
        scene.policy(json!({ "impersonation": "READ" })).await;

        // To the second: nothing is accepted for longer because clients are late.
        let as_ada = open().await;
        app.kit.clock.advance(HALF_AN_HOUR - 2_000);
        assert_eq!(seen(&as_ada).await, "1");
        app.kit.clock.advance(2_000);
        is_over(&as_ada, "half an hour has passed").await;
    }

    async fn it_ends_with_the_rights_of_the_owner_and_of_the_member(engine) {
        let app = TestApp::with_nodes(engine, 3).await;
        let scene = Scene::new(&app, "WRITE").await;
        let (identity, site) = (&app.app.identity, &app.site.id);
        let is_over = async |as_ada: &TestClient<'_>, why: &str| {
            for _ in 0..4 {
                assert_eq!(seen(as_ada).await, ENDED, "{why}");
                assert_eq!(insert(as_ada, "late").await.verdict(), ENDED, "{why}");
            }
        };
        let owner = Email::parse("owner@example.org").unwrap();
        let other = Email::parse("installer@example.org").unwrap();
        // Another owner, so that the first can stop being one.
        app.installed("items:read").await;
        let by_command = async |access: Impersonation| {
            let request = ImpersonationRequest::new(access, "x").unwrap();
            let member = MemberId::from(scene.id.as_str());
            identity.impersonation_start_for(&app.site, &owner, &member, request).await
        };

        let as_ada = scene.begin("WRITE").await;
        assert_eq!(insert(&as_ada, "one").await.verdict(), "200");
        let command = app.with_token(&by_command(Impersonation::Read).await.unwrap().token.token);
        assert_eq!((seen(&as_ada).await.as_str(), seen(&command).await.as_str()), (ENDED, "2"), "one of an owner at a time");
        identity.operator_role_set(site, &owner, Role::Editor).await.unwrap();
        is_over(&as_ada, "the owner is an editor").await;
        is_over(&command, "the owner is an editor").await;
        assert_eq!(scene.ask("READ").await.verdict(), ENDED, "the owner's own session has ended with it");
        let refused = by_command(Impersonation::Read).await.unwrap_err();
        assert_eq!(refused.code(), stoa_kernel::Code::Forbidden);
        identity.operator_role_set(site, &owner, Role::Owner).await.unwrap();
        let stranger = Email::parse("nobody@example.org").unwrap();
        let request = ImpersonationRequest::new(Impersonation::Read, "x").unwrap();
        let member = MemberId::from(scene.id.as_str());
        assert!(identity.impersonation_start_for(&app.site, &stranger, &member, request).await.is_err());

        // The one who owns the site meanwhile ends nothing of the other's by owning it.
        let command = app.with_token(&by_command(Impersonation::Write).await.unwrap().token.token);
        assert_eq!(seen(&command).await, "2");
        identity.operator_role_set(site, &other, Role::Editor).await.unwrap();
        assert_eq!(seen(&command).await, "2");
        assert_eq!(app.app().post(&format!("/members/v1/members/{}/block", scene.id), &json!({})).await.verdict(), "200");
        is_over(&command, "the member is blocked").await;
        assert_eq!(by_command(Impersonation::Read).await.unwrap_err().code(), stoa_kernel::Code::MemberBlocked);
        assert_eq!(app.app().post(&format!("/members/v1/members/{}/approve", scene.id), &json!({})).await.verdict(), "200");
        is_over(&command, "what has ended stays ended").await;
    }

    async fn it_ends_where_the_owner_signs_out(engine) {
        let app = TestApp::with_nodes(engine, 3).await;
        let scene = Scene::new(&app, "READ").await;
        let as_ada = scene.begin("READ").await;
        let session = text(&claims(&as_ada.token)["act"]["sid"]);
        assert_eq!(session, text(&claims(&scene.owner.token)["sid"]));
        assert_eq!(seen(&as_ada).await, "1");
        let owner = Email::parse("owner@example.org").unwrap();
        assert_eq!(app.app.identity.operator_sessions_end(&app.site.id, &owner).await.unwrap(), 1);
        for _ in 0..4 {
            assert_eq!(seen(&as_ada).await, ENDED);
        }
    }

    async fn of_a_hundred_at_once_one_lives_and_none_outlives_its_end(engine) {
        let app = TestApp::new(engine).await;
        let scene = Scene::new(&app, "WRITE").await;
        let (identity, owner) = (&app.app.identity, Email::parse("owner@example.org").unwrap());
        let member = MemberId::from(scene.id.as_str());
        let begun = join_all((0..100).map(|n| {
            let request = ImpersonationRequest::new(Impersonation::Write, &format!("try {n}")).unwrap();
            identity.impersonation_start_for(&app.site, &owner, &member, request)
        }));
        let mut alive = Vec::new();
        for started in begun.await {
            let as_ada = app.with_token(&started.unwrap().token.token);
            if seen(&as_ada).await != ENDED {
                alive.push(as_ada);
            }
        }
        assert_eq!((alive.len(), scene.shown().await.len()), (1, 1));

        // Ended beside a hundred uses: what was answered before it is there, nothing comes after.
        let as_ada = alive.remove(0);
        let names: Vec<String> = (0..100).map(|n| format!("n{n}")).collect();
        let uses = join_all(names.iter().map(|name| insert(&as_ada, name)));
        let path = scene.path();
        let (written, ended) = tokio::join!(uses, scene.owner.delete(&path));
        assert_eq!(ended.json(), json!({ "ended": 1 }));
        let written = written.iter().filter(|it| it.verdict() == "200").count();
        assert_eq!(seen(&scene.ada).await.parse::<usize>().unwrap().min(50), (written + 1).min(50));
        let count = app.app().post("/v2/items/count", &json!({ "dataCollectionId": "kept" })).await.json();
        assert_eq!(count["totalCount"], json!(written + 1));
        assert_eq!(insert(&as_ada, "late").await.verdict(), ENDED);
        assert!(scene.audited("impersonation_write").await.len() >= written, "no change without its record");
    }

    async fn forged_marks_open_nothing(engine) {
        let app = TestApp::new(engine).await;
        let scene = Scene::new(&app, "READ").await;
        let as_ada = scene.begin("READ").await;
        let parts: Vec<&str> = as_ada.token.split('.').collect();
        let mut said = claims(&as_ada.token);
        for change in [json!({ "scp": "items:write" }), json!({ "scp": null }), json!({ "act": null }), json!({ "exp": 9_999_999_999_i64 })] {
            for (name, value) in change.as_object().unwrap() {
                match value.is_null() {
                    true => drop(said.as_object_mut().unwrap().remove(name)),
                    false => said[name] = value.clone(),
                }
            }
            let forged = format!("{}.{}.{}", parts[0], URL_SAFE_NO_PAD.encode(said.to_string()), parts[2]);
            assert_eq!(seen(&app.with_token(&forged)).await, ENDED, "{change}");
        }
        // Nor does a key beside it lend it more, or take it for a visitor's.
        let both = app.with_token(&format!("{},{}", as_ada.token, app.app().token));
        let grant = json!({ "grant_type": "authorized_client", "scope": "offline_access" });
        assert!(!both.post("/oauth2/token", &grant).await.status.is_success());
    }
}
