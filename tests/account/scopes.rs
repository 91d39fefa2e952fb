//! What scopes take away, from keys, clients of others and what comes of them (docs/scopes.md).

use super::*;
use stoa_testkit::{TestClient, on_both_engines};

const ALL: &str = "items:write collections:write members:write members:sign-in site:write";

/// An open collection with one item.
async fn collection(world: &World, id: &str, level: &str) {
    let levels = json!({ "itemRead": level, "itemInsert": level, "itemUpdate": level, "itemRemove": level });
    let object = json!({ "id": id, "fields": [{ "key": "n", "type": "NUMBER" }], "dataPermissions": levels });
    let app = world.app.app();
    assert_eq!(app.post("/v2/collections", &json!({ "collection": object })).await.verdict(), "200");
    assert_eq!(insert(&app, id, "first").await, "200");
}

async fn insert(client: &TestClient<'_>, collection: &str, item: &str) -> String {
    let body = json!({ "dataCollectionId": collection, "dataItem": { "data": { "_id": item, "n": 1 } } });
    client.post("/v2/items", &body).await.verdict()
}

async fn query(client: &TestClient<'_>, collection: &str) -> String {
    client.post("/v2/items/query", &json!({ "dataCollectionId": collection, "query": {} })).await.verdict()
}

/// Reads and writes of a collection that is open to everyone, and a look at oneself.
async fn rights(client: &TestClient<'_>, collection: &str) -> [String; 3] {
    let item = client.token.get(client.token.len() - 12..).unwrap_or_default();
    let me = client.get("/members/v1/members/my").await.verdict();
    [query(client, collection).await, insert(client, collection, item).await, me]
}

const WHOLE: [&str; 3] = ["200", "200", "200"];
const NONE: [&str; 3] = ["403 WDE0027", "403 WDE0027", "403 INSUFFICIENT_SCOPE"];
const READS: [&str; 3] = ["200", "403 WDE0027", "403 INSUFFICIENT_SCOPE"];

impl World {
    async fn token(&self, authorization: &str, grant: Value) -> Reply {
        self.call(authorization, "/oauth2/token", &grant).await
    }

    /// What a key makes of a member's id.
    async fn vouched(&self, key: &TestClient<'_>, member: &Value, more: Value) -> Reply {
        let mut grant = json!({ "grant_type": "authorized_client", "member_id": member });
        grant.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.token(&format!("{},{}", self.visitor().await, key.token), grant).await
    }

    /// Tokens of the member of a browser for a client that asks as the standard says.
    async fn authorized(&self, browser: &Browser<'_>, client: &Client, secret: &str, scope: &str) -> Value {
        let reply = self.token("", self.code_grant(browser, client, secret, scope).await).await;
        assert_eq!(reply.status, StatusCode::OK, "{}", reply.json());
        reply.json()
    }

    /// What such a client redeems for tokens.
    async fn code_grant(&self, browser: &Browser<'_>, client: &Client, secret: &str, scope: &str) -> Value {
        let uri = &client.redirect_uris[0];
        let to = browser.agree(&authorize_path(client, &[("scope", scope)])).await;
        json!({
            "grant_type": "authorization_code", "client_id": client.id, "client_secret": secret, "redirect_uri": uri,
            "code": parameters(&to, '?')["code"], "code_verifier": VERIFIER,
        })
    }

    fn held(&self, tokens: &Value) -> TestClient<'_> {
        self.app.with_token(tokens["access_token"].as_str().unwrap_or_else(|| panic!("{tokens}")))
    }
}

on_both_engines! {
    async fn key_is_held_to_its_scopes(engine) {
        let world = World::new(engine).await;
        for id in ["a", "b"] {
            collection(&world, id, "PRIVILEGED").await;
        }
        let reader = world.app.key("items:read:a").await;
        assert_eq!((query(&reader, "a").await, query(&reader, "b").await), ("200".to_owned(), "403 WDE0027".to_owned()));
        assert_eq!(insert(&reader, "a", "x").await, "403 WDE0027");
        for (path, body) in [
            ("/v2/items/update", json!({ "dataCollectionId": "a", "dataItem": { "id": "first", "data": { "_id": "first" } } })),
            ("/v2/items/remove", json!({ "dataCollectionId": "a", "dataItemId": "first" })),
            ("/v2/items/truncate", json!({ "dataCollectionId": "a" })),
            ("/v2/bulk/items/remove", json!({ "dataCollectionId": "a", "dataItemIds": ["first"] })),
            ("/v2/items/count", json!({ "dataCollectionId": "b" })),
            ("/v1/permissions", json!({ "dataPermissions": { "id": "a", "itemRead": "ANYONE" } })),
            ("/v1/permissions/special", json!({ "dataCollectionId": "a", "specialPermissions": { "userId": "u", "itemRead": "ALLOWED" } })),
            ("/v2/indexes", json!({ "dataCollectionId": "a", "index": { "name": "n", "fields": [{ "path": "n" }] } })),
            ("/v2/collections", json!({ "collection": { "id": "c", "fields": [] } })),
        ] {
            assert_eq!(reader.post(path, &body).await.verdict(), "403 WDE0027", "{path}");
        }
        // It knows of the collection what those know who only read it, and nothing of the other one.
        let known = reader.get("/v2/collections").await.json();
        assert_eq!(known["collections"].as_array().unwrap().iter().map(|it| &it["id"]).collect::<Vec<_>>(), ["a"]);
        assert!(known["collections"][0].get("dataPermissions").is_none(), "{known}");
        assert_eq!(reader.get("/v2/collections/b?dataCollectionId=b").await.verdict(), "404 WDE0025");
        let keeper = world.app.key("collections:write:a").await;
        assert_eq!(query(&keeper, "a").await, "403 WDE0027");
        let level = |id: &str| json!({ "dataPermissions": { "id": id, "itemRead": "CMS_EDITOR" } });
        assert_eq!(keeper.post("/v1/permissions", &level("a")).await.verdict(), "200");
        assert_eq!(keeper.post("/v1/permissions", &level("b")).await.verdict(), "403 WDE0027");
        assert_eq!(keeper.delete("/v2/collections/b?dataCollectionId=b").await.verdict(), "403 WDE0027");
        // A field that would reach into another collection needs a scope for that one.
        let metadata = json!({ "multiReference": { "referencedCollectionId": "b", "referencingFieldKey": "back" } });
        let field = json!({ "dataCollectionId": "a", "field": { "key": "bs", "type": "MULTI_REFERENCE", "typeMetadata": metadata } });
        assert_eq!(keeper.post("/v2/collections/create-field", &field).await.verdict(), "403 WDE0027");
        // Areas by their names, and nothing where none is named.
        for (scopes, members, policies, sessions) in [
            ("items:write", "403 INSUFFICIENT_SCOPE", "403 INSUFFICIENT_SCOPE", "403 INSUFFICIENT_SCOPE"),
            ("members:read", "200", "403 INSUFFICIENT_SCOPE", "403 INSUFFICIENT_SCOPE"),
            ("site:read members:sign-in", "403 INSUFFICIENT_SCOPE", "200", "403 INSUFFICIENT_SCOPE"),
            (ALL, "200", "200", "403 INSUFFICIENT_SCOPE"),
        ] {
            let key = world.app.key(scopes).await;
            assert_eq!(key.get("/members/v1/members").await.verdict(), members, "{scopes}");
            assert_eq!(key.get("/v1/sign-on-policies").await.verdict(), policies, "{scopes}");
            assert_eq!(key.get("/_api/identity/v1/sessions?memberId=m").await.verdict(), sessions, "{scopes}");
        }
        let read = world.app.key("members:read site:read").await;
        let member = json!({ "member": { "loginEmail": "new@example.org" } });
        let refused = read.post("/members/v1/members", &member).await;
        assert_eq!(refused.verdict(), "403 INSUFFICIENT_SCOPE");
        assert_eq!(refused.json()["details"]["applicationError"]["data"]["scope"], "members:write");
        let wrong = json!({ "member": { "loginEmail": "x" } });
        assert_eq!(world.app.key("members:write").await.post("/members/v1/members", &wrong).await.status, StatusCode::BAD_REQUEST);
    }

    async fn references_show_nothing_beyond_the_scopes(engine) {
        let world = World::new(engine).await;
        collection(&world, "b", "PRIVILEGED").await;
        let reference = json!({ "reference": { "referencedCollectionId": "b" } });
        let object = json!({
            "id": "a", "fields": [{ "key": "b", "type": "REFERENCE", "typeMetadata": reference }],
            "dataPermissions": { "itemRead": "PRIVILEGED" },
        });
        let app = world.app.app();
        assert_eq!(app.post("/v2/collections", &json!({ "collection": object })).await.verdict(), "200");
        let item = json!({ "dataCollectionId": "a", "dataItem": { "data": { "_id": "x", "b": "first" } } });
        assert_eq!(app.post("/v2/items", &item).await.verdict(), "200");
        let including = json!({ "dataCollectionId": "a", "query": {}, "includeReferences": [{ "field": "b" }] });
        let shown = app.post("/v2/items/query", &including).await.json();
        assert_eq!(shown["dataItems"][0]["data"]["b"]["n"], 1);
        let held = world.app.key("items:read:a").await;
        let shown = held.post("/v2/items/query", &including).await;
        assert!(!String::from_utf8_lossy(&shown.body).contains("\"n\":1"), "{:?}", shown);
    }

    async fn member_tokens_need_the_scope_sign_in(engine) {
        let world = World::new(engine).await;
        let member = world.register("ada@example.org").await["identity"]["id"].clone();
        let without = world.app.key("items:write collections:write members:write site:write").await;
        let refused = world.vouched(&without, &member, json!({})).await;
        assert_eq!((refused.verdict().as_str(), &refused.json()["error"]), ("403 INSUFFICIENT_SCOPE", &json!("unauthorized_client")));
        let sign_on = json!({ "loginId": { "email": "ada@example.org" } });
        assert_eq!(without.post("/v2/sign-on", &sign_on).await.verdict(), "403 INSUFFICIENT_SCOPE");
        let other = json!({ "loginId": { "email": "never@example.org" } });
        assert_eq!(without.post("/v2/sign-on", &other).await.verdict(), "403 INSUFFICIENT_SCOPE");
        let listed = world.app.app().get("/members/v1/members?fieldsets=FULL").await.json();
        assert!(!listed.to_string().contains("never@example.org"), "nothing was made");
        let with = world.app.key("members:sign-in").await;
        assert_eq!(world.vouched(&with, &member, json!({})).await.verdict(), "200");
        assert_eq!(with.post("/v2/sign-on", &sign_on).await.verdict(), "200");
        // Nor does a member's own token, through a client of others, vouch for anyone.
        let (partner, _) = world.app.partner(ALL).await;
        let ada = world.vouched(&world.app.app(), &member, json!({})).await.json();
        let through = world.app.through(&partner, &world.held(&ada), ALL).await;
        assert_eq!(world.vouched(&through, &member, json!({})).await.verdict(), "401 UNAUTHENTICATED");
        assert_eq!(through.post("/v2/sign-on", &sign_on).await.verdict(), "403 PERMISSION_DENIED");
    }

    async fn tokens_made_by_a_key_hold_no_more_than_it(engine) {
        let world = World::new(engine).await;
        for id in ["a", "b"] {
            collection(&world, id, "ANYONE").await;
        }
        let registered = world.register("ada@example.org").await;
        let member = &registered["identity"]["id"];
        let key = world.app.key("members:sign-in items:read:a").await;
        let sign_on = async || {
            let body = json!({ "loginId": { "email": "ada@example.org" } });
            text(&key.post("/v2/sign-on", &body).await.json()["sessionToken"])
        };
        for more in [json!({}), json!({ "scope": "offline_access" }), json!({ "scope": ALL }), json!({ "session_token": sign_on().await })] {
            let tokens = world.vouched(&key, member, more.clone()).await.json();
            assert_eq!(rights(&world.held(&tokens), "a").await, READS, "{more}");
            assert_eq!(rights(&world.held(&tokens), "b").await, NONE, "{more}");
            for scope in [None, Some("offline_access"), Some(ALL), Some("items:write:b items:read:a")] {
                let refresh = json!({ "grant_type": "refresh_token", "refresh_token": tokens["refresh_token"], "scope": scope });
                let again = world.token("", refresh).await.json();
                assert_eq!(rights(&world.held(&again), "a").await, READS, "{more} {scope:?}");
                assert_eq!(rights(&world.held(&again), "b").await, NONE, "{more} {scope:?}");
            }
            let strip = json!({ "grant_type": "strip_bound_session", "access_token": tokens["access_token"] });
            assert_eq!(rights(&world.held(&world.token("", strip).await.json()), "b").await, NONE);
        }
        // A key with full rights makes no more of the token than the key had that got it.
        let tokens = world.vouched(&world.app.app(), member, json!({ "session_token": sign_on().await })).await.json();
        assert_eq!(rights(&world.held(&tokens), "b").await, NONE);
        // Nor does a browser become the member by it, in the name of the site's own client.
        let path = world.direct(&sign_on().await).await;
        let browser = world.browser();
        let page = browser.open_from(&path, Some(APP)).await;
        assert_eq!(message_of(&page)["error"], "login_required");
        assert!(!browser.has("stoa-session"));
        // A token that is held may not begin what would give another one, and changes no password.
        let held = world.held(&world.vouched(&key, member, json!({})).await.json());
        let body = json!({ "auth": { "authRequest": world.auth_request(), "prompt": "none" } });
        for (path, body) in [
            ("/_api/redirects-api/v1/redirect-session", body),
            ("/v2/change-password", json!({ "newPassword": "an other one entirely" })),
        ] {
            assert_eq!(held.post(path, &body).await.verdict(), "403 INSUFFICIENT_SCOPE", "{path}");
        }
        // With full rights it is as it was.
        let whole = world.vouched(&world.app.app(), member, json!({ "scope": "offline_access" })).await.json();
        assert_eq!((rights(&world.held(&whole), "b").await, &whole["scope"]), (WHOLE.map(str::to_owned), &json!("offline_access")));
    }

    async fn third_party_gets_what_it_names_and_may(engine) {
        let world = World::new(engine).await;
        collection(&world, "a", "ANYONE").await;
        let browser = world.browser();
        world.member(&browser, "ada@example.org").await;
        let (partner, secret) = world.app.partner("items:read members:read").await;
        for (scope, granted, expected) in [
            ("", "offline_access", NONE),
            ("offline_access", "offline_access", NONE),
            ("openid profile", "offline_access", NONE),
            ("offline_access items:read", "items:read offline_access", READS),
            ("items:write:a collections:write site:write", "items:read:a offline_access", READS),
            (ALL, "items:read members:read offline_access", ["200", "403 WDE0027", "200"]),
        ] {
            let tokens = world.authorized(&browser, &partner, secret.expose(), scope).await;
            assert_eq!(tokens["scope"], granted, "{scope}");
            assert_eq!(rights(&world.held(&tokens), "a").await, expected, "{scope}");
            for asked in ["", "offline_access", ALL] {
                let refresh = json!({
                    "grant_type": "refresh_token", "refresh_token": tokens["refresh_token"], "scope": asked,
                    "client_id": partner.id, "client_secret": secret.expose(),
                });
                // The first token is good again for a while.
                let again = world.token("", refresh).await.json();
                assert_eq!(again["scope"], granted, "{scope}, then {asked}");
                assert_eq!(rights(&world.held(&again), "a").await, expected, "{scope}, then {asked}");
            }
            for name in ["access_token", "refresh_token"] {
                let query = json!({ "token": tokens[name], "client_id": partner.id, "client_secret": secret.expose() });
                let info = world.call("", "/oauth2/introspect", &query).await.json();
                assert_eq!(format!("{} offline_access", info["scope"].as_str().unwrap()).trim(), granted, "{name}: {info}");
            }
        }
        // Anyone is a visitor; those of others' clients read what these may.
        let grant = json!({ "clientId": partner.id, "grantType": "anonymous" });
        let visitor = world.token("", grant).await.json();
        assert_eq!((query(&world.held(&visitor), "a").await, insert(&world.held(&visitor), "a", "v").await),
            ("200".to_owned(), "403 WDE0027".to_owned()));
        let refresh = json!({ "grant_type": "refresh_token", "refresh_token": visitor["refresh_token"], "scope": ALL, "client_secret": secret.expose() });
        assert_eq!(insert(&world.held(&world.token("", refresh).await.json()), "a", "v").await, "403 WDE0027");
    }

    async fn member_sees_what_applications_of_others_may_and_signs_off(engine) {
        let world = World::new(engine).await;
        collection(&world, "a", "ANYONE").await;
        let browser = world.browser();
        let ada = world.member(&browser, "ada@example.org").await;
        let ben = world.member(&world.browser(), "ben@example.org").await;
        let (ada, ben) = (world.held(&ada), world.held(&ben));
        let (partner, secret) = world.app.partner("items:read members:read").await;
        let list = "/_api/identity/v1/applications";
        let none = json!({ "applications": [] });
        assert_eq!(ada.get(list).await.json(), none, "the site's own client is none of others");
        let first = world.authorized(&browser, &partner, secret.expose(), "items:read").await;
        world.app.kit.clock.advance(60_000);
        let second = world.authorized(&browser, &partner, secret.expose(), "items:read:a members:read").await;
        let shown = ada.get(list).await.json()["applications"].clone();
        let found = &shown[0];
        assert_eq!((shown.as_array().map(Vec::len), &found["id"], &found["name"]), (Some(1), &json!(partner.id), &json!(partner.name)));
        assert_eq!(found["scopes"], json!(["items:read", "items:read:a", "members:read"]), "{found}");
        assert!(found["createdDate"].as_str() < found["lastUsedDate"].as_str(), "{found}");

        let end = format!("{list}/{}", partner.id);
        assert_eq!((ben.get(list).await.json(), ben.delete(&end).await.verdict()), (none.clone(), "404 NOT_FOUND".to_owned()));
        let other = format!("{list}/{}", world.client.id);
        for path in [other, format!("{list}/none")] {
            assert_eq!(ada.delete(&path).await.verdict(), "404 NOT_FOUND", "{path}");
        }
        for tokens in [&first, &second] {
            let held = world.held(tokens);
            for verdict in [held.get(list).await.verdict(), held.delete(&end).await.verdict()] {
                assert!(verdict.starts_with("403 "), "an application is no member: {verdict}");
            }
            assert_eq!(query(&held, "a").await, "200");
        }
        let kept = world.code_grant(&browser, &partner, secret.expose(), "items:read").await;
        assert_eq!(ada.delete(&end).await.verdict(), "200");
        assert_eq!(world.token("", kept).await.verdict(), "400 invalid_grant", "a code that the client held");
        for tokens in [&first, &second] {
            assert_eq!(query(&world.held(tokens), "a").await, "401 UNAUTHENTICATED");
            let refresh = json!({ "grant_type": "refresh_token", "refresh_token": tokens["refresh_token"],
                "client_id": partner.id, "client_secret": secret.expose() });
            assert_eq!(world.token("", refresh).await.verdict(), "400 invalid_grant");
        }
        assert_eq!((ada.get(list).await.json(), ada.delete(&end).await.verdict()), (none, "404 NOT_FOUND".to_owned()));
        let events = world.app.app().get("/_api/identity/v1/audit?event=application_end").await.json();
        assert_eq!(events["entries"].as_array().map(Vec::len), Some(1), "{events}");
    }

    async fn first_party_has_the_whole_right_unless_it_names_less(engine) {
        let world = World::new(engine).await;
        collection(&world, "a", "ANYONE").await;
        let browser = world.browser();
        world.member(&browser, "ada@example.org").await;
        let draft = NewClient {
            name: "Own".to_owned(), redirect_uris: vec![CALLBACK.to_owned()], with_secret: true, ..NewClient::default()
        };
        let (own, secret) = world.app.app.identity.client_create(&world.app.site.id, draft).await.unwrap();
        let secret = secret.unwrap();
        for (scope, expected) in [
            ("", WHOLE), ("offline_access", WHOLE), ("openid email", WHOLE),
            ("items:read", READS), ("offline_access items:read:a", READS),
        ] {
            let tokens = world.authorized(&browser, &own, secret.expose(), scope).await;
            assert_eq!(rights(&world.held(&tokens), "a").await, expected, "{scope}");
        }
        let credentials = |scope: &str| json!({ "grant_type": "client_credentials", "client_id": own.id, "client_secret": secret.expose(), "scope": scope });
        let full = world.held(&world.token("", credentials("")).await.json());
        assert_eq!(full.get("/v1/sign-on-policies").await.verdict(), "200");
        let less = world.held(&world.token("", credentials("items:read")).await.json());
        assert_eq!(less.get("/v1/sign-on-policies").await.verdict(), "403 INSUFFICIENT_SCOPE");
    }

    async fn third_party_without_scopes_is_not_made(engine) {
        let world = World::new(engine).await;
        for scopes in [None, Some(stoa_kernel::Scopes::default())] {
            let draft = NewClient { name: "P".to_owned(), is_third_party: true, scopes, ..NewClient::default() };
            let refused = world.app.app.identity.client_create(&world.app.site.id, draft).await.unwrap_err();
            assert_eq!(refused.violations()[0].field, "scopes");
        }
    }

    async fn truncation_goes_on_with_the_scopes_of_its_key(engine) {
        let world = World::new(engine).await;
        for id in ["a", "b"] {
            collection(&world, id, "PRIVILEGED").await;
        }
        let key = world.app.key("items:write:a").await;
        let truncate = |id: &str| json!({ "dataCollectionId": id });
        assert_eq!(key.post("/v2/items/truncate", &truncate("b")).await.verdict(), "403 WDE0027");
        assert_eq!(key.post("/v2/items/truncate", &truncate("a")).await.verdict(), "200");
        let count = async |id: &str| world.app.app().post("/v2/items/count", &truncate(id)).await.json()["totalCount"].clone();
        assert_eq!((count("a").await, count("b").await), (json!(0), json!(1)));
    }
}
