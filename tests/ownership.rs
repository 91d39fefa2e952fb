//! What a visitor owns passes to the member that the visitor becomes, once, and to no other.

use serde_json::{Value, json};
use std::collections::HashSet;
use stoa_identity::client::NewClient;
use stoa_testkit::{TestApp, TestClient, on_both_engines};

const PASSWORD: &str = "correct horse battery";

/// A collection into which anybody may write and of which members see their own items.
async fn wishes(app: &TestApp) {
    let levels = json!({
        "itemRead": "SITE_MEMBER_AUTHOR", "itemInsert": "ANYONE",
        "itemUpdate": "SITE_MEMBER_AUTHOR", "itemRemove": "SITE_MEMBER_AUTHOR",
    });
    let collection = json!({ "collection": { "id": "wishes", "displayName": "wishes", "fields": [{ "key": "text", "type": "TEXT" }], "dataPermissions": levels } });
    assert_eq!(app.app().post("/v2/collections", &collection).await.verdict(), "200");
}

async fn write(who: &TestClient<'_>, id: &str) -> String {
    let item =
        json!({ "dataCollectionId": "wishes", "dataItem": { "data": { "_id": id, "text": "\",\"_owner\":\"x" } } });
    who.post("/v2/items", &item).await.verdict()
}

/// Ids and owners that the caller sees.
async fn seen(who: &TestClient<'_>) -> Vec<(String, String)> {
    let query = json!({ "dataCollectionId": "wishes", "query": { "paging": { "limit": 1000 } } });
    let found = who.post("/v2/items/query", &query).await.json();
    let text = |it: &Value| it.as_str().unwrap_or_default().to_owned();
    let items = found["dataItems"].as_array().cloned().unwrap_or_default();
    let mut seen: Vec<_> = items.iter().map(|it| (text(&it["data"]["_id"]), text(&it["data"]["_owner"]))).collect();
    seen.sort();
    seen
}

pub async fn register(who: &TestClient<'_>, email: &str) -> Value {
    let body = json!({ "loginId": { "email": email }, "password": PASSWORD });
    who.post("/v2/register", &body).await.json()
}

/// The first session of a member, asked for in the visitor's name.
pub async fn joined<'a>(app: &'a TestApp, visitor: &TestClient<'_>, member: &Value) -> Option<TestClient<'a>> {
    let grant = json!({ "grant_type": "authorized_client", "scope": "offline_access", "member_id": member });
    let both = app.with_token(&format!("{},{}", visitor.token, app.app().token));
    let reply = both.post("/oauth2/token", &grant).await.json();
    reply["access_token"].as_str().map(|it| app.with_token(it))
}

on_both_engines! {
    async fn items_pass_with_the_first_session(engine) {
        let app = TestApp::new(engine).await;
        wishes(&app).await;
        let (visitor, stranger) = (app.visitor().await, app.visitor().await);
        for id in ["a", "b"] {
            assert_eq!(write(&visitor, id).await, "200");
        }
        assert_eq!(write(&stranger, "s").await, "200");
        let member = register(&visitor, "ada@example.org").await["identity"]["id"].clone();
        let before = seen(&app.app()).await;
        assert!(before.iter().all(|it| it.1 != member), "registering alone passes nothing on");
        let ada = joined(&app, &visitor, &member).await.expect("tokens");
        let mine = member.as_str().unwrap_or_default().to_owned();
        assert_eq!(seen(&ada).await, [("a".to_owned(), mine.clone()), ("b".to_owned(), mine)]);
        // The rest of each document is as it was, and it is the member's to change.
        let item = ada.get("/v2/items/a?dataCollectionId=wishes").await.json();
        assert_eq!(item["dataItem"]["data"]["text"], "\",\"_owner\":\"x");
        let change = json!({ "dataCollectionId": "wishes", "dataItem": { "data": { "_id": "a", "text": "mine" } } });
        assert_eq!(ada.post("/v2/items/update", &change).await.verdict(), "200");
        // The visitor is over: its later writes could come from the next person at this browser.
        assert_eq!(write(&visitor, "later").await, "403 WDE0027");
        let save = json!({ "dataCollectionId": "wishes", "dataItem": { "data": { "_id": "later" } } });
        assert_eq!(visitor.post("/v2/items/save", &save).await.verdict(), "403 WDE0027");
        let bulk = json!({ "dataCollectionId": "wishes", "dataItems": [{ "data": { "_id": "later" } }] });
        assert_eq!(visitor.post("/v2/bulk/items/insert", &bulk).await.verdict(), "403 WDE0027");
        assert_eq!(write(&stranger, "s2").await, "200");
    }

    async fn items_pass_to_no_other_member(engine) {
        let app = TestApp::new(engine).await;
        wishes(&app).await;
        // A member who has been here before signs in where somebody else was a visitor.
        let first = app.visitor().await;
        let member = register(&first, "old@example.org").await["identity"]["id"].clone();
        joined(&app, &first, &member).await.expect("tokens");
        let visitor = app.visitor().await;
        assert_eq!(write(&visitor, "v").await, "200");
        let old = joined(&app, &visitor, &member).await.expect("tokens");
        assert_eq!(seen(&old).await, []);
        // The second who registers at a shared browser gets nothing of the first.
        let one = register(&visitor, "one@example.org").await["identity"]["id"].clone();
        let one = joined(&app, &visitor, &one).await.expect("tokens");
        let two = register(&visitor, "two@example.org").await["identity"]["id"].clone();
        let two = joined(&app, &visitor, &two).await.expect("tokens");
        assert_eq!((seen(&one).await.len(), seen(&two).await.len()), (1, 0));
        // Another site's visitor is unknown here, whatever it wrote there.
        let there = app.kit.store.site_create("Other", &app.kit.world).await.unwrap();
        let draft = NewClient {
            name: "Other".to_owned(),
            redirect_uris: vec!["http://localhost/callback".to_owned()],
            origins: Vec::new(),
            with_secret: false,
            ..NewClient::default()
        };
        let (client, _) = app.app.identity.client_create(&there.id, draft).await.unwrap();
        let grant = json!({ "clientId": client.id, "grantType": "anonymous" });
        let foreigner = app.anonymous().post("/oauth2/token", &grant).await.json();
        let foreigner = app.with_token(foreigner["access_token"].as_str().unwrap());
        let me = register(&app.visitor().await, "me@example.org").await["identity"]["id"].clone();
        assert!(joined(&app, &foreigner, &me).await.is_none());
    }

    async fn pending_member_gets_no_items(engine) {
        let app = TestApp::new(engine).await;
        wishes(&app).await;
        let policy = json!({ "signOnPolicy": { "requireOwnerApproval": true } });
        let patch = Some(policy.to_string().into());
        assert_eq!(app.app().send(axum::http::Method::PATCH, "/v1/sign-on-policies", patch).await.verdict(), "200");
        let visitor = app.visitor().await;
        assert_eq!(write(&visitor, "v").await, "200");
        let member = register(&visitor, "ada@example.org").await["identity"]["id"].clone();
        assert!(joined(&app, &visitor, &member).await.is_none());
        assert!(seen(&app.app()).await.iter().all(|it| it.1 != member));
        let approve = format!("/members/v1/members/{}/approve", member.as_str().unwrap_or_default());
        assert_eq!(app.app().post(&approve, &json!({})).await.verdict(), "200");
        let ada = joined(&app, &visitor, &member).await.expect("tokens");
        assert_eq!(seen(&ada).await.len(), 1);
    }

    async fn items_pass_once_to_a_hundred_first_sessions(engine) {
        let app = TestApp::new(engine).await;
        wishes(&app).await;
        let visitor = app.visitor().await;
        for n in 0..10 {
            assert_eq!(write(&visitor, &format!("{n}")).await, "200");
        }
        let mut members = Vec::new();
        for n in 0..4 {
            members.push(register(&visitor, &format!("m{n}@example.org")).await["identity"]["id"].clone());
        }
        // 25 sessions for each of four members in the name of one visitor, while the visitor goes on writing.
        let sessions = (0..100).map(|n| joined(&app, &visitor, &members[n % 4]));
        let ids: Vec<String> = (0..50).map(|n| format!("late-{n}")).collect();
        let writes = ids.iter().map(|id| write(&visitor, id));
        let (made, written) = tokio::join!(together(sessions), together(writes));
        assert!(made.iter().filter(|it| it.is_some()).count() >= 4, "each member signs in");
        let all = seen(&app.app()).await;
        let taken = written.iter().filter(|it| *it == "200").count();
        assert!(written.iter().all(|it| it == "200" || it == "403 WDE0027" || it.starts_with("503")), "{written:?}");
        assert_eq!(all.len(), 10 + taken, "what was refused is not there");
        let owners: HashSet<&str> = all.iter().map(|it| it.1.as_str()).collect();
        assert_eq!(owners.len(), 1, "one member has everything: {owners:?}");
        assert!(members.iter().any(|it| owners.contains(it.as_str().unwrap_or_default())));
    }

    async fn items_pass_in_several_transactions(engine) {
        let app = TestApp::new(engine).await;
        wishes(&app).await;
        let visitor = app.visitor().await;
        let items: Vec<Value> = (0..900).map(|n| json!({ "data": { "_id": format!("{n}") } })).collect();
        let bulk = json!({ "dataCollectionId": "wishes", "dataItems": items });
        assert_eq!(visitor.post("/v2/bulk/items/insert", &bulk).await.verdict(), "200");
        let member = register(&visitor, "ada@example.org").await["identity"]["id"].clone();
        let ada = joined(&app, &visitor, &member).await.expect("tokens");
        assert!(seen(&ada).await.len() >= 500);
        app.app.identity.visitor_merges_finish(&app.site).await.expect("finished");
        assert_eq!(seen(&ada).await.len(), 900);
    }
}

pub async fn together<T>(futures: impl IntoIterator<Item = impl Future<Output = T>>) -> Vec<T> {
    use std::{pin::Pin, task::Poll};
    let mut running: Vec<Pin<Box<_>>> = futures.into_iter().map(Box::pin).collect();
    let mut done: Vec<Option<T>> = running.iter().map(|_| None).collect();
    std::future::poll_fn(|context| {
        for (future, done) in running.iter_mut().zip(&mut done).filter(|it| it.1.is_none()) {
            if let Poll::Ready(it) = future.as_mut().poll(context) {
                *done = Some(it);
            }
        }
        if done.iter().all(Option::is_some) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    done.into_iter().flatten().collect()
}
