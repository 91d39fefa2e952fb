//! Permissions by URL: both models, special permissions, what is mine, and those who try to help themselves.

use serde_json::{Value, json};
use stoa_kernel::{Caller, Role};
use stoa_sql::params;
use stoa_store::boxed;
use stoa_testkit::{TestApp, TestClient, on_both_engines};

const OPEN: &str = "ANYONE";

async fn collection(app: &TestApp, id: &str, read: &str, others: &str) {
    let levels = json!({ "itemRead": read, "itemInsert": others, "itemUpdate": others, "itemRemove": others });
    let object = json!({ "id": id, "fields": [{ "key": "n", "type": "NUMBER" }], "dataPermissions": levels });
    let reply = app.app().post("/v2/collections", &json!({ "collection": object })).await;
    assert_eq!(reply.verdict(), "200", "{:?}", reply.body);
}

async fn insert(client: &TestClient<'_>, id: &str, item: &str) -> stoa_testkit::Reply {
    let body = json!({ "dataCollectionId": id, "dataItem": { "data": { "_id": item, "n": 1 } } });
    client.post("/v2/items", &body).await
}

/// The id of the caller: who owns what they write.
async fn id(app: &TestApp, client: &TestClient<'_>) -> String {
    let name = format!("who-{}", app.kit.world.uuid());
    collection(app, &name, OPEN, OPEN).await;
    insert(client, &name, "x").await.json()["dataItem"]["data"]["_owner"].as_str().unwrap().to_owned()
}

async fn special(client: &TestClient<'_>, collection: &str, object: Value) -> stoa_testkit::Reply {
    let body = json!({ "dataCollectionId": collection, "specialPermissions": object });
    client.post("/v1/permissions/special", &body).await
}

async fn levels(client: &TestClient<'_>, object: Value) -> stoa_testkit::Reply {
    client.post("/v1/permissions", &json!({ "dataPermissions": object })).await
}

async fn permissions(app: &TestApp, id: &str) -> Value {
    app.app().get(&format!("/v1/permissions?dataCollectionId={id}")).await.json()["dataPermissions"].clone()
}

/// Four letters: read, insert, update, remove; `-` for what is not allowed.
async fn mine(client: &TestClient<'_>, id: &str) -> String {
    let reply = client.get(&format!("/v1/permissions/current?dataCollectionId={id}")).await;
    let json = reply.json();
    let symbol = |(name, symbol)| if json[name] == true { symbol } else { '-' };
    [("itemRead", 'r'), ("itemInsert", 'i'), ("itemUpdate", 'u'), ("itemRemove", 'd')].map(symbol).iter().collect()
}

async fn allowed(client: &TestClient<'_>, id: &str) -> Value {
    let path = format!("/v2/collections/{id}?dataCollectionId={id}&includeAllowedDataPermissions=true");
    client.get(&path).await.json()["collection"]["allowedDataPermissions"].clone()
}

async fn seen(client: &TestClient<'_>, id: &str) -> String {
    let reply = client.post("/v2/items/query", &json!({ "dataCollectionId": id, "query": {} })).await;
    match reply.verdict().as_str() {
        "200" => reply.json()["dataItems"].as_array().unwrap().len().to_string(),
        it => it.to_owned(),
    }
}

on_both_engines! {
    async fn permission_models_agree(engine) {
        let app = TestApp::new(engine).await;
        collection(&app, "c", "SITE_MEMBER", "CMS_EDITOR").await;
        let before = permissions(&app, "c").await;
        assert_eq!(before, json!({
            "id": "c", "itemRead": "SITE_MEMBER", "itemInsert": "CMS_EDITOR", "itemUpdate": "CMS_EDITOR",
            "itemRemove": "CMS_EDITOR", "specialPermissions": [],
        }));
        // What isn't sent stays; what is sent shows in the collection in both models, with a new revision.
        let reply = levels(&app.owner().await, json!({ "id": "c", "itemRead": "ANYONE", "itemRemove": "PRIVILEGED" })).await;
        assert_eq!(reply.verdict(), "200", "{:?}", reply.body);
        assert_eq!(reply.json()["dataPermissions"]["itemInsert"], "CMS_EDITOR");
        let shown = app.app().get("/v2/collections/c?dataCollectionId=c").await.json()["collection"].clone();
        assert_eq!((&shown["permissions"]["read"], &shown["permissions"]["remove"]), (&json!("ANYONE"), &json!("ADMIN")));
        assert_eq!((&shown["dataPermissions"]["itemRemove"], &shown["revision"]), (&json!("PRIVILEGED"), &json!("2")));
        // The older model changes the same levels.
        let older = json!({ "dataCollection": { "id": "c", "permissions": { "read": "SITE_MEMBER_AUTHOR", "insert": "ANYONE", "update": "ADMIN", "remove": "ADMIN" } } });
        let body = older.to_string().into();
        assert_eq!(app.app().send(axum::http::Method::PATCH, "/v2/collections/c", Some(body)).await.verdict(), "200");
        let after = permissions(&app, "c").await;
        assert_eq!((&after["itemRead"], &after["itemInsert"], &after["itemRemove"]), (&json!("SITE_MEMBER_AUTHOR"), &json!("ANYONE"), &json!("PRIVILEGED")));
        assert_eq!(mine(&app.visitor().await, "c").await, "-i--");
    }

    async fn special_permissions_add_rights_and_fall_back(engine) {
        let app = TestApp::new(engine).await;
        let (ann, bob) = (app.member("ann@example.org").await, app.member("bob@example.org").await);
        let (visitor, editor) = (app.visitor().await, app.editor().await);
        let ann_id = id(&app, &ann).await;
        collection(&app, "c", "SITE_MEMBER_AUTHOR", "CMS_EDITOR").await;
        for item in ["1", "2"] {
            assert_eq!(insert(&app.app(), "c", item).await.verdict(), "200");
        }
        assert_eq!((mine(&ann, "c").await, seen(&ann, "c").await), ("r---".to_owned(), "0".to_owned()));
        let made = special(&editor, "c", json!({ "userId": ann_id, "itemRead": "ALLOWED", "itemInsert": "ALLOWED" })).await;
        assert_eq!(made.verdict(), "200", "{:?}", made.body);
        let made = made.json()["specialPermissions"].clone();
        assert_eq!((&made["userId"], &made["itemRead"], &made["itemUpdate"]), (&json!(ann_id), &json!("ALLOWED"), &json!("UNSPECIFIED")));
        let key = made["id"].as_str().unwrap().to_owned();

        // She sees everything at once, and inserts; she updates nothing, and no other got anything.
        assert_eq!((mine(&ann, "c").await, seen(&ann, "c").await), ("ri--".to_owned(), "2".to_owned()));
        assert_eq!(allowed(&ann, "c").await, json!({ "itemRead": true, "itemInsert": true, "itemUpdate": false, "itemRemove": false }));
        assert_eq!(insert(&ann, "c", "hers").await.verdict(), "200");
        let update = json!({ "dataCollectionId": "c", "dataItem": { "id": "1", "data": { "_id": "1" } } });
        assert_eq!(ann.post("/v2/items/update", &update).await.verdict(), "403 WDE0027");
        let count = ann.post("/v2/items/count", &json!({ "dataCollectionId": "c" })).await;
        assert_eq!(count.json()["totalCount"], 3);
        assert_eq!((mine(&bob, "c").await, seen(&bob, "c").await), ("r---".to_owned(), "0".to_owned()));
        assert_eq!(mine(&visitor, "c").await, "----");
        for (client, all) in [(&editor, "riud"), (&app.owner().await, "riud"), (&app.app(), "riud")] {
            assert_eq!(mine(client, "c").await, all);
        }
        assert_eq!(permissions(&app, "c").await["specialPermissions"], json!([made]));

        // Changed: what is sent counts, what is not stays, whose it is can't change.
        let path = format!("/v1/permissions/special/{key}");
        let changed = editor.post(&path, &json!({ "specialPermissions": { "id": key, "itemInsert": "UNSPECIFIED", "itemUpdate": "ALLOWED" } })).await;
        assert_eq!(changed.verdict(), "200", "{:?}", changed.body);
        assert_eq!(mine(&ann, "c").await, "r-u-");
        assert_eq!(ann.post("/v2/items/update", &update).await.verdict(), "200", "not only her own");
        let other = json!({ "specialPermissions": { "id": key, "userId": "somebody-else" } });
        assert_eq!(editor.post(&path, &other).await.verdict(), "400 WDE0075");
        // Once only for each user.
        assert_eq!(special(&editor, "c", json!({ "userId": ann_id })).await.verdict(), "409 ALREADY_EXISTS");

        let gone = editor.delete(&format!("{path}?specialPermissionsId={key}")).await;
        assert_eq!((gone.verdict().as_str(), gone.json()), ("200", json!({})));
        assert_eq!((mine(&ann, "c").await, seen(&ann, "c").await), ("r---".to_owned(), "1".to_owned()), "her own is left");
        assert_eq!(editor.delete(&path).await.verdict(), "404 NOT_FOUND");
        assert_eq!(editor.post(&path, &json!({ "specialPermissions": { "id": key } })).await.verdict(), "404 NOT_FOUND");
    }

    async fn grant_opens_a_closed_collection(engine) {
        let app = TestApp::new(engine).await;
        let ann = app.member("ann@example.org").await;
        let ann_id = id(&app, &ann).await;
        collection(&app, "c", "CMS_EDITOR", "CMS_EDITOR").await;
        insert(&app.app(), "c", "1").await;
        let known = |reply: stoa_testkit::Reply| reply.json()["collections"].as_array().unwrap().iter().any(|it| it["id"] == "c");
        assert!(!known(ann.get("/v2/collections").await));
        assert_eq!((ann.get("/v2/collections/c?dataCollectionId=c").await.verdict().as_str(), seen(&ann, "c").await.as_str()), ("404 WDE0025", "403 WDE0027"));
        let key = special(&app.app(), "c", json!({ "userId": ann_id, "itemRead": "ALLOWED" })).await.json()["specialPermissions"]["id"].clone();
        assert!(known(ann.get("/v2/collections").await));
        assert_eq!((ann.get("/v2/collections/c?dataCollectionId=c").await.verdict().as_str(), seen(&ann, "c").await.as_str()), ("200", "1"));
        // A collection made again under the same id inherits nothing.
        assert_eq!(app.app().delete("/v2/collections/c?dataCollectionId=c").await.verdict(), "200");
        let path = format!("/v1/permissions/special/{}", key.as_str().unwrap());
        assert_eq!(app.app().post(&path, &json!({ "specialPermissions": { "id": key } })).await.verdict(), "404 NOT_FOUND");
        collection(&app, "c", "CMS_EDITOR", "CMS_EDITOR").await;
        assert_eq!(mine(&ann, "c").await, "----");
    }

    async fn policies_are_the_roles_of_operators(engine) {
        let app = TestApp::new(engine).await;
        let (editor, member) = (app.editor().await, app.member("m@example.org").await);
        collection(&app, "c", "PRIVILEGED", "PRIVILEGED").await;
        assert_eq!(mine(&editor, "c").await, "----");
        assert_eq!(special(&app.owner().await, "c", json!({ "policyId": "EDITOR", "itemRead": "ALLOWED" })).await.verdict(), "200");
        assert_eq!(mine(&editor, "c").await, "r---");
        assert_eq!(special(&app.app(), "c", json!({ "policyId": "nobody-holds-this", "itemRemove": "ALLOWED" })).await.verdict(), "200");
        assert_eq!((mine(&editor, "c").await, mine(&member, "c").await), ("r---".to_owned(), "----".to_owned()));
    }

    async fn operators_give_themselves_no_rights(engine) {
        let app = TestApp::new(engine).await;
        let (ann, visitor, editor) = (app.member("ann@example.org").await, app.visitor().await, app.editor().await);
        let ann_id = id(&app, &ann).await;
        let editor_id = id(&app, &editor).await;
        collection(&app, "c", "CMS_EDITOR", "PRIVILEGED").await;
        let key = special(&app.app(), "c", json!({ "userId": ann_id, "itemRead": "ALLOWED" })).await.json()["specialPermissions"]["id"].as_str().unwrap().to_owned();
        let path = format!("/v1/permissions/special/{key}");
        // Members and visitors, with a grant or without, touch nothing and learn nothing.
        for client in [&ann, &visitor] {
            let everything = json!({ "userId": ann_id, "itemRemove": "ALLOWED" });
            for reply in [
                special(client, "c", everything.clone()).await, special(client, "none", everything.clone()).await,
                client.post(&path, &json!({ "specialPermissions": { "id": key, "itemRemove": "ALLOWED" } })).await,
                client.post("/v1/permissions/special/guess", &json!({ "specialPermissions": { "itemRemove": "ALLOWED" } })).await,
                client.delete(&path).await, client.delete("/v1/permissions/special/guess").await,
                levels(client, json!({ "id": "c", "itemRead": "ANYONE" })).await, levels(client, json!({ "id": "none" })).await,
                client.get("/v1/permissions?dataCollectionId=c").await, client.get("/v1/permissions?dataCollectionId=none").await,
            ] {
                assert_eq!(reply.verdict(), "403 WDE0027", "{:?}", reply.body);
            }
        }
        assert_eq!(app.anonymous().get("/v1/permissions?dataCollectionId=c").await.verdict(), "401 UNAUTHENTICATED");
        // An editor gives what editors have, and nothing of what is kept for owners and apps.
        let of_editor = |operation: &str| json!({ "userId": editor_id, operation: "ALLOWED" });
        assert_eq!(special(&editor, "c", of_editor("itemInsert")).await.verdict(), "403 WDE0027");
        assert_eq!(levels(&editor, json!({ "id": "c", "itemInsert": "ANYONE" })).await.verdict(), "403 WDE0027");
        assert_eq!(levels(&editor, json!({ "id": "c", "itemRead": "PRIVILEGED" })).await.verdict(), "403 WDE0027");
        assert_eq!(special(&editor, "c", of_editor("itemRead")).await.verdict(), "200");
        let raise = json!({ "specialPermissions": { "id": key, "itemRemove": "ALLOWED" } });
        assert_eq!(editor.post(&path, &raise).await.verdict(), "403 WDE0027");
        assert_eq!(app.app().post(&path, &raise).await.verdict(), "200");
        assert_eq!(editor.delete(&path).await.verdict(), "403 WDE0027", "nor does he take it");
        // Callers it doesn't name get nothing: not a visitor with the same id, not another site.
        assert_eq!(mine(&visitor, "c").await, "----");
        let other = app.kit.store.site_create("Other", &app.kit.world).await.unwrap();
        let (_, secret) = app.app.identity.api_key_create(&other.id, "other").await.unwrap();
        let stranger = app.with_token(secret.expose());
        assert_eq!(stranger.delete(&path).await.verdict(), "404 NOT_FOUND");
        assert_eq!(stranger.post(&path, &raise).await.verdict(), "404 NOT_FOUND");
        assert_eq!(stranger.get("/v1/permissions?dataCollectionId=c").await.verdict(), "404 WDE0025");
        assert_eq!(special(&stranger, "c", json!({ "userId": ann_id })).await.verdict(), "404 WDE0025");
        assert_eq!(permissions(&app, "c").await["specialPermissions"].as_array().unwrap().len(), 2);
    }

    async fn malformed_grants_have_their_codes(engine) {
        let app = TestApp::new(engine).await;
        collection(&app, "c", OPEN, OPEN).await;
        let long = "x".repeat(65);
        for (object, verdict) in [
            (json!({}), "400 WDE0075"), (json!({ "userId": "" }), "400 WDE0075"), (json!({ "userId": long }), "400 WDE0075"),
            (json!({ "userId": "a", "policyId": "b" }), "400 WDE0075"), (json!({ "userId": "a", "itemRead": "DENIED" }), "400 WDE0075"),
            (json!({ "userId": "a", "itemRead": 1 }), "400 WDE0075"), (json!({ "userId": "a\u{0}b" }), "400 WDE0075"),
            (json!({ "userId": "a", "draftItemsPluginPermissions": { "manageDrafts": "X" } }), "400 WDE0075"),
        ] {
            assert_eq!(special(&app.app(), "c", object.clone()).await.verdict(), verdict, "{object}");
        }
        for (object, verdict) in [
            (json!({}), "400 WDE0075"), (json!({ "id": 1 }), "400 WDE0075"), (json!({ "id": "none" }), "404 WDE0025"),
            (json!({ "id": "c", "itemRead": "ADMIN" }), "400 WDE0075"), (json!({ "id": "c", "itemRead": null }), "200"),
            (json!({ "id": "c", "draftItemsPluginPermissions": { "manageDrafts": "ANYONE" } }), "400 WDE0075"),
            (json!({ "id": "c\u{0}" }), "404 WDE0025"), (json!({ "id": "c", "specialPermissions": "ignored" }), "200"),
        ] {
            assert_eq!(levels(&app.app(), object.clone()).await.verdict(), verdict, "{object}");
        }
        assert_eq!(special(&app.app(), "none", json!({ "userId": "a" })).await.verdict(), "404 WDE0025");
        assert_eq!(app.app().get("/v1/permissions/current?dataCollectionId=none").await.verdict(), "404 WDE0025");
        assert_eq!(app.app().get("/v1/permissions/current").await.verdict(), "400 WDE0001");
        assert_eq!(app.app().delete("/v1/permissions/special/a%00b").await.verdict(), "404 NOT_FOUND");
    }

    async fn drafts_have_levels_of_their_own(engine) {
        let app = TestApp::new(engine).await;
        let editor = app.editor().await;
        let object = json!({
            "id": "c", "fields": [{ "key": "n", "type": "NUMBER" }], "dataPermissions": { "itemRead": "ANYONE" },
        });
        assert_eq!(app.app().post("/v2/collections", &json!({ "collection": object })).await.verdict(), "200");
        // Collections from older versions have the plugin without a collection of drafts.
        let kept = app.site.write(|tx| {
            boxed!({
                let plugin = r#""plugins":[{"type":"DRAFT_ITEMS","draftItemsOptions":{"draftPermissions":{"manageDrafts":"SITE_MEMBER"}}}]"#;
                let sql = "update stoa.collection set definition = replace(definition, '\"plugins\":[]', $1)";
                assert_eq!(tx.execute(sql, &[plugin.into()]).await?, 1);
                Ok(())
            })
        });
        kept.await.unwrap();
        let raise = json!({ "id": "c", "draftItemsPluginPermissions": { "managePublishStatus": "PRIVILEGED" } });
        assert_eq!(levels(&editor, raise.clone()).await.verdict(), "403 WDE0027");
        let changed = levels(&app.app(), raise).await.json();
        assert_eq!(changed["dataPermissions"]["draftItemsPluginPermissions"], json!({ "manageDrafts": "SITE_MEMBER", "managePublishStatus": "PRIVILEGED" }));
        let ann = app.member("ann@example.org").await;
        let ann_id = id(&app, &ann).await;
        let drafts = |client: TestClient<'_>| {
            let token = client.token;
            let app = &app;
            async move { app.with_token(&token).get("/v1/permissions/current?dataCollectionId=c").await.json()["draftItemsPluginPermissions"].clone() }
        };
        assert_eq!(drafts(ann.clone()).await, json!({ "manageDrafts": true, "managePublishStatus": false }));
        assert_eq!(drafts(app.visitor().await).await, json!(null), "visitors aren't told of the plugin");
        let given = json!({ "userId": ann_id, "draftItemsPluginPermissions": { "managePublishStatus": "ALLOWED" } });
        assert_eq!(special(&editor, "c", given.clone()).await.verdict(), "403 WDE0027");
        let made = special(&app.app(), "c", given).await.json();
        assert_eq!(made["specialPermissions"]["draftItemsPluginPermissions"], json!({ "manageDrafts": "UNSPECIFIED", "managePublishStatus": "ALLOWED" }));
        assert_eq!(drafts(ann).await, json!({ "manageDrafts": true, "managePublishStatus": true }));
    }

    async fn equal_grants_at_once_let_one_win(engine) {
        let app = TestApp::new(engine).await;
        collection(&app, "c", OPEN, OPEN).await;
        let tries = (0..20).map(|_| async { special(&app.app(), "c", json!({ "userId": "ann" })).await.verdict() });
        let all = futures(tries).await;
        assert_eq!(all.iter().filter(|it| *it == "200").count(), 1, "{all:?}");
        assert!(all.iter().all(|it| matches!(it.as_str(), "200" | "409 ALREADY_EXISTS" | "503 UNAVAILABLE")), "{all:?}");
    }

    async fn access_ends_with_its_key_client_or_role(engine) {
        let app = TestApp::new(engine).await;
        let (identity, site) = (&app.app.identity, &app.site.id);
        let standing = identity.standing();
        let owner = app.owner().await;
        let owner = identity.authenticate(Some(&owner.token), None).await.unwrap().caller;
        let key = identity.api_key_list(site).await.unwrap().remove(0).id;
        let client = Caller::App { id: app.client.id.as_str().into() };
        let callers = [owner.clone(), Caller::App { id: key.clone() }, client];
        for caller in &callers {
            assert!(standing.still(site, caller).await.unwrap(), "{caller:?}");
        }
        identity.api_key_revoke(site, &key).await.unwrap();
        identity.client_revoke(site, &app.client.id).await.unwrap();
        let lesser = app.kit.store.catalog().write(|tx| {
            boxed!({
                tx.execute("update stoa.person_role set role = 'EDITOR'", &[]).await?;
                Ok(())
            })
        });
        lesser.await.unwrap();
        for caller in &callers {
            assert!(!standing.still(site, caller).await.unwrap(), "{caller:?}");
        }
        let Caller::User { id, session, .. } = owner else { panic!("a person") };
        let editor = Caller::User { id, session, role: Role::Editor };
        assert!(standing.still(site, &editor).await.unwrap());
        let gone = app.kit.store.catalog().write(|tx| {
            boxed!({
                tx.execute("delete from stoa.person_role", &[]).await?;
                Ok(())
            })
        });
        gone.await.unwrap();
        assert!(!standing.still(site, &editor).await.unwrap());
    }

    async fn truncate_job_ends_with_its_key(engine) {
        let app = TestApp::new(engine).await;
        collection(&app, "c", OPEN, OPEN).await;
        for item in ["a", "b"] {
            insert(&app.app(), "c", item).await;
        }
        let key = app.app.identity.api_key_list(&app.site.id).await.unwrap().remove(0).id;
        let client = json!({ "app": key }).to_string();
        let left = app.site.write_with((app.site.id.clone(), client), |tx, (site, client)| {
            boxed!({
                let sql = "insert into stoa.sweep \
                           (site, collection, id, kind, upto, started, done, touched, event, asker) \
                           select $1, number, 's', 'TRUNCATE', 9, $2, 0, 0, '{}', $3 from stoa.collection where id = 'c'";
                tx.execute(sql, &params![site, i64::MAX, client.as_str()]).await?;
                Ok(())
            })
        });
        left.await.unwrap();
        let owner = app.owner().await;
        app.app.identity.api_key_revoke(&app.site.id, &key).await.unwrap();
        app.kit.clock.advance(10_001);
        let body = json!({ "dataCollectionId": "c" });
        assert_eq!(owner.post("/v2/items/count", &body).await.json()["totalCount"], 2);
        let stalled = app.app.content.stalled_jobs_wait().await;
        app.app.content.stalled_jobs_do(&stalled[0]).await.unwrap();
        assert_eq!(owner.post("/v2/items/count", &body).await.json()["totalCount"], 2);
        assert_eq!(owner.post("/v2/items/truncate", &body).await.verdict(), "200");
        assert_eq!(owner.post("/v2/items/count", &body).await.json()["totalCount"], 0);
    }
}

/// Runs them side by side.
pub(crate) async fn futures<T>(all: impl Iterator<Item = impl Future<Output = T>>) -> Vec<T> {
    let mut waiting: Vec<_> = all.map(|it| (Box::pin(it), None)).collect();
    std::future::poll_fn(|context| {
        for (future, answer) in &mut waiting {
            if answer.is_none()
                && let std::task::Poll::Ready(it) = future.as_mut().poll(context)
            {
                *answer = Some(it);
            }
        }
        if waiting.iter().all(|(_, it)| it.is_some()) { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    waiting.into_iter().filter_map(|(_, it)| it).collect()
}
