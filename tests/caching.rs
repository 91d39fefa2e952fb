//! What shared caches may keep: what everybody reads the same, where the collection's owner sets it.

use axum::{
    body::Body,
    http::{Method, Request, header},
};
use serde_json::{Value, json};
use stoa_testkit::{TestApp, TestClient, on_both_engines};
use tower::ServiceExt;

const ITEM: &str = "/v2/items/i1?dataItemId=i1&dataCollectionId=notes";
const PAGE: &str = "/v2/items/query?dataCollectionId=notes&query.paging.limit=50";
const SHARED: &str = "public, max-age=60; accept-encoding";
const PRIVATE: &str = "private, no-cache; authorization";

/// A collection that anyone reads, with items that refer to each other.
async fn notes(app: &TestApp) {
    let target = json!({ "reference": { "referencedCollectionId": "notes" } });
    let fields = json!([{ "key": "t", "type": "TEXT" }, { "key": "r", "type": "REFERENCE", "typeMetadata": target }]);
    let collection =
        json!({ "collection": { "id": "notes", "fields": fields, "dataPermissions": { "itemRead": "ANYONE" } } });
    assert_eq!(app.app().post("/v2/collections", &collection).await.verdict(), "200");
    for n in 0..3 {
        let data = json!({ "_id": format!("i{n}"), "t": "text", "r": "i1" });
        let item = json!({ "dataCollectionId": "notes", "dataItem": { "data": data } });
        assert_eq!(app.app().post("/v2/items", &item).await.verdict(), "200");
    }
}

/// What caches are told of an answer: for how long, and what it depends on.
async fn caching(client: &TestClient<'_>, path: &str) -> String {
    let reply = client.get(path).await;
    assert_eq!(reply.verdict(), "200", "{path}: {:?}", reply.body);
    let text = |name| reply.headers.get(name).map_or("", |it| it.to_str().unwrap()).to_owned();
    format!("{}; {}", text(header::CACHE_CONTROL), text(header::VARY))
}

/// The verdict on a change of the collection, and the places that a refusal names.
async fn patch(app: &TestApp, members: Value) -> (String, Value) {
    let mut object = json!({ "id": "notes" });
    object.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    let body = json!({ "dataCollection": object }).to_string();
    let reply = app.app().send(Method::PATCH, "/v2/collections/notes", Some(body.into())).await;
    let violations = reply.json()["details"]["validationError"]["fieldViolations"].take();
    let fields = violations.as_array().into_iter().flatten().map(|it| it["field"].clone()).collect();
    (reply.verdict(), fields)
}

async fn shown(app: &TestApp) -> Value {
    app.app().get("/v2/collections/notes?dataCollectionId=notes").await.json()["collection"].take()
}

on_both_engines! {
    async fn shared_caches_keep_what_the_owner_lets_them(engine) {
        let app = TestApp::new(engine).await;
        notes(&app).await;
        let (visitor, member) = (app.visitor().await, app.member("m@example.org").await);
        for path in [ITEM, PAGE] {
            assert_eq!(caching(&visitor, path).await, PRIVATE, "{path}");
        }
        assert_eq!(patch(&app, json!({ "cacheSeconds": 60 })).await.0, "200");
        assert_eq!(shown(&app).await["cacheSeconds"], 60);
        let mut texts = Vec::new();
        for client in [&visitor, &member, &app.editor().await, &app.owner().await, &app.app()] {
            for path in [ITEM, PAGE] {
                assert_eq!(caching(client, path).await, SHARED, "{path}");
            }
            texts.push((client.get(ITEM).await.body, client.get(PAGE).await.body));
        }
        assert!(texts.iter().all(|it| *it == texts[0]), "everybody reads the same");
        // What is made for one caller, or for one moment, is no one else's.
        for more in [
            "consistentRead=true",
            "sortMode=RANDOM",
            "includeReferencedItems=r&includeReferencedItems=r",
        ] {
            assert_eq!(caching(&visitor, &format!("{PAGE}&{more}")).await, PRIVATE, "{more}");
        }
        let by_cursor = "/v2/items/query?dataCollectionId=notes&query.cursorPaging.limit=50";
        assert_eq!(caching(&visitor, by_cursor).await, PRIVATE);
        let missing = visitor.get("/v2/items/no?dataItemId=no&dataCollectionId=notes").await;
        assert_eq!((missing.verdict().as_str(), &missing.headers[header::CACHE_CONTROL]), ("404 WDE0073", &"no-store".parse().unwrap()));
        // A client sends a definition back as it knows it.
        let mut object = shown(&app).await;
        object.as_object_mut().unwrap().remove("cacheSeconds");
        let back = json!({ "collection": object }).to_string();
        let reply = app.app().send(Method::PUT, "/v2/collections", Some(back.into())).await;
        assert_eq!(reply.verdict(), "200", "{:?}", reply.body);
        assert_eq!(caching(&visitor, ITEM).await, SHARED);
        assert_eq!(patch(&app, json!({ "cacheSeconds": 0 })).await.0, "200");
        assert_eq!(caching(&visitor, ITEM).await, PRIVATE);
        assert!(shown(&app).await.get("cacheSeconds").is_none());
    }

    /// A cache asks again by address alone.
    async fn shared_caches_keep_what_the_address_leads_to(engine) {
        let app = TestApp::new(engine).await;
        notes(&app).await;
        assert_eq!(patch(&app, json!({ "cacheSeconds": 60 })).await.0, "200");
        let visitor = app.visitor().await;
        assert_eq!(caching(&visitor, ITEM).await, SHARED, "the only site");
        let other = app.kit.store.site_create("Other", &app.kit.world).await.unwrap();
        assert_eq!(caching(&visitor, ITEM).await, PRIVATE, "the token alone tells which of two sites");
        assert_eq!(caching(&visitor, &format!("/s/{}{ITEM}", app.site.id)).await, SHARED);
        assert_eq!(caching(&visitor, &format!("/s/{}{ITEM}", other.id)).await, PRIVATE);
    }

    /// A client takes such a value over and sends it from then on, so it must not come out of a cache.
    async fn shared_caches_keep_no_value_that_is_sent_back(engine) {
        let app = TestApp::new(engine).await;
        notes(&app).await;
        assert_eq!(patch(&app, json!({ "cacheSeconds": 60 })).await.0, "200");
        let visitor = app.visitor().await;
        for path in [ITEM, PAGE] {
            let request = Request::builder().uri(path).header("host", "localhost").header("x-wix-consistent", "value");
            let request = request.header("authorization", &visitor.token).body(Body::empty()).unwrap();
            let reply = app.service().oneshot(request).await.unwrap();
            let headers = reply.headers();
            assert_eq!(headers["x-wix-consistent"], "value");
            assert_eq!(headers[header::CACHE_CONTROL], "private, no-cache", "{path}");
            assert_eq!(caching(&visitor, path).await, SHARED, "{path}");
        }
    }

    async fn shared_caches_keep_nothing_that_depends_on_the_caller(engine) {
        let app = TestApp::new(engine).await;
        notes(&app).await;
        let path = json!(["dataCollection.cacheSeconds"]);
        for wrong in [json!(-1), json!("60"), json!(1.5), json!(31_536_001)] {
            let refused = patch(&app, json!({ "cacheSeconds": wrong })).await;
            assert_eq!(refused, ("400 WDE0075".to_owned(), path.clone()), "{wrong}");
        }
        for level in ["SITE_MEMBER", "SITE_MEMBER_AUTHOR", "CMS_EDITOR", "PRIVILEGED"] {
            let both = json!({ "cacheSeconds": 60, "dataPermissions": { "itemRead": level } });
            assert_eq!(patch(&app, both).await, ("400 WDE0075".to_owned(), path.clone()), "{level}");
        }
        let secret = json!([{ "key": "t", "type": "TEXT", "encrypted": true }]);
        let refused = patch(&app, json!({ "cacheSeconds": 60, "fields": secret })).await;
        assert_eq!(refused, ("400 WDE0075".to_owned(), path.clone()));

        // No one who narrows a permission is held up by it, and it doesn't come back by itself.
        assert_eq!(patch(&app, json!({ "cacheSeconds": 60 })).await.0, "200");
        let visitor = app.visitor().await;
        assert_eq!(caching(&visitor, ITEM).await, SHARED);
        for (level, verdict) in [("CMS_EDITOR", "403 WDE0027"), ("ANYONE", "200")] {
            let levels = json!({ "dataPermissions": { "id": "notes", "itemRead": level } });
            assert_eq!(app.app().post("/v1/permissions", &levels).await.verdict(), "200");
            let reply = visitor.get(ITEM).await;
            assert_eq!(reply.verdict(), verdict, "{level}");
            assert!(!reply.headers[header::CACHE_CONTROL].to_str().unwrap().contains("public"), "{level}");
        }
        assert!(shown(&app).await.get("cacheSeconds").is_none());

        // Nor is one who sends the whole definition back as it was read, with a narrower level.
        let open = json!({ "cacheSeconds": 60, "dataPermissions": { "itemRead": "ANYONE" } });
        assert_eq!(patch(&app, open).await.0, "200");
        let put = async |whole: &Value| {
            let body = json!({ "collection": whole }).to_string();
            app.app().send(Method::PUT, "/v2/collections", Some(body.into())).await.verdict()
        };
        let mut whole = shown(&app).await;
        whole["dataPermissions"]["itemRead"] = json!("SITE_MEMBER");
        let mut longer = whole.clone();
        longer["cacheSeconds"] = json!(90);
        assert_eq!(put(&longer).await, "400 WDE0075", "another value is asked for");
        assert_eq!(put(&whole).await, "200");
        let now = shown(&app).await;
        assert!(now.get("cacheSeconds").is_none(), "{now}");
        assert_eq!(visitor.get(ITEM).await.verdict(), "403 WDE0027");
    }
}
