//! Scopes at every route, at both ends of links, on every node, and in what clients ask for (docs/scopes.md).

use super::*;
use stoa_http::{
    Opening,
    openapi::{Callers, Listed, Operation},
    operations,
};
use stoa_kernel::KeyId;
use stoa_testkit::{TestClient, on_both_engines};

/// Whether a call is for those who come without a token: it looks at no caller, or at whom it is told of elsewhere.
fn is_without_token(operation: &Operation) -> bool {
    matches!(operation.callers, Callers::Open | Callers::Clients | Callers::Pages)
}

/// What every call to content can be about, so that each gets as far as the rights of its caller.
pub(crate) fn body_about(collection: &str) -> Value {
    let levels =
        json!({ "itemRead": "ANYONE", "itemInsert": "ANYONE", "itemUpdate": "ANYONE", "itemRemove": "ANYONE" });
    let mut permissions = levels.clone();
    permissions["id"] = json!(collection);
    let item = json!({ "id": "first", "data": { "_id": "first", "n": "taken" } });
    let reference =
        json!({ "referringItemFieldName": "link", "referringItemId": "first", "referencedItemId": "first" });
    let changes = json!([{ "fieldPath": "n", "action": "SET_FIELD", "setFieldOptions": { "value": "taken" } }]);
    let patch = json!({ "dataItemId": "first", "fieldModifications": changes });
    let options = json!({ "dataCollectionId": collection, "filter": { "n": "taken" } });
    json!({
        "dataCollectionId": collection, "dataItemId": "first", "dataItemIds": ["first"], "query": {}, "aggregation": {}, "pipeline": {},
        "dataItem": item, "dataItems": [item], "patch": patch, "patches": [patch], "fieldName": "n", "fieldKey": "n",
        "referringItemFieldName": "link", "referringItemId": "first", "referencedItemId": "first",
        "newReferencedItemIds": [], "dataItemReferences": [reference], "field": { "key": "m", "type": "TEXT" },
        "collection": { "id": collection, "revision": "1", "fields": [{ "key": "n", "type": "TEXT" }], "permissions": levels },
        "index": { "name": "i", "fields": [{ "path": "n" }] }, "indexName": "i", "dataPermissions": permissions,
        "filter": { "n": "taken" }, "fieldModifications": changes,
        "task": { "type": "DELETE_BY_QUERY", "deleteByQueryOptions": options },
        "specialPermissions": { "id": "s", "userId": "u", "itemRead": "ALLOWED" },
        "plugin": { "type": "CMS", "cmsOptions": { "siteSort": { "sort": [] } } }, "pluginType": "CMS",
    })
}

/// The call that opens a stream, and takes nothing else.
const STREAM: &str = "/_api/realtime/v1/stream";

/// What a call to this route can be about; for GraphQL a document that asks for the item.
pub(crate) fn body_of(path: &str, collection: &str) -> Value {
    match path {
        STREAM => json!({ "subscriptions": [{ "key": "a", "dataCollectionId": collection, "snapshot": true }] }),
        _ if path.starts_with("/graphql/") => {
            json!({ "query": format!("{{{collection}Item(id: \"first\") {{_data}}}}") })
        }
        _ => body_about(collection),
    }
}

/// Whether this is a stream that tells nothing but that the caller has no right.
pub(crate) fn refuses_to_follow(text: &str) -> bool {
    let events: Vec<&str> = text.lines().filter_map(|it| it.strip_prefix("event: ")).collect();
    events == ["failed", "bye"] && text.contains("\"code\":\"WDE0027\"")
}

pub(crate) fn path_of_route(path: &str) -> String {
    let path = path.replace("/v2/items/{*id}", "/v2/items/first").replace("{*id}", "kept");
    format!(
        "{}?dataCollectionId=kept&dataItemId=first&indexName=i",
        path.replace("{number}", "1").replace("{id}", "x").replace("{key}", "x").replace("{token}", "x")
    )
}

async fn call(client: &TestClient<'_>, method: &Method, path: &str, body: &Value) -> Reply {
    let body = (*method != Method::GET).then(|| body.to_string().into());
    client.send(method.clone(), path, body).await
}

async fn define(client: &TestClient<'_>, id: &str, fields: Value, level: &str) {
    let levels = json!({ "itemRead": level, "itemInsert": level, "itemUpdate": level, "itemRemove": level });
    let object = json!({ "id": id, "fields": fields, "dataPermissions": levels, "realtime": true });
    assert_eq!(client.post("/v2/collections", &json!({ "collection": object })).await.verdict(), "200");
}

async fn insert(client: &TestClient<'_>, collection: &str, data: Value) {
    let body = json!({ "dataCollectionId": collection, "dataItem": { "data": data } });
    assert_eq!(client.post("/v2/items", &body).await.verdict(), "200");
}

on_both_engines! {
    async fn route_of_an_area_needs_its_scope(engine) {
        let world = World::new(engine).await;
        let elsewhere = world.app.key("items:write collections:write members:sign-in").await;
        let whole = world.app.key("items:write collections:write members:write members:sign-in site:write").await;
        let is_refused = async |key: &TestClient<'_>, method: &Method, path: &str| {
            let reply = call(key, method, path, &json!({})).await;
            reply.status == 403 && reply.verdict() == "403 INSUFFICIENT_SCOPE"
        };
        let mut walked = 0;
        for Listed { method, route, operation } in operations() {
            let path = path_of_route(route.path);
            if is_without_token(operation) {
                assert!(!is_refused(&elsewhere, &method, &path).await, "{method} {path} looks at the caller");
                continue;
            }
            // Its own scope: it makes tokens of members.
            if route.opening == Opening::Collections || operation.id == "memberSignOn" {
                continue;
            }
            walked += 1;
            assert!(is_refused(&elsewhere, &method, &path).await, "{method} {path} is open to other scopes");
            let (Opening::Area(area) | Opening::Own(area)) = route.opening else {
                assert!(is_refused(&whole, &method, &path).await, "{method} {path} is open to scopes");
                continue;
            };
            let reader = world.app.key(&format!("{}:read", area.name())).await;
            assert_eq!(is_refused(&reader, &method, &path).await, !route.is_read, "{method} {path} to a reader");
            assert!(!is_refused(&whole, &method, &path).await, "{method} {path} is closed to its scope");
        }
        assert!(walked > 100, "{walked}");
    }

    async fn route_of_content_needs_the_scope_of_its_collection(engine) {
        let world = World::new(engine).await;
        let app = world.app.app();
        let link = json!({ "multiReference": { "referencedCollectionId": "kept", "referencingFieldKey": "back" } });
        define(&app, "kept", json!([{ "key": "n", "type": "TEXT" }]), "ANYONE").await;
        let field = json!({ "dataCollectionId": "kept", "field": { "key": "link", "type": "MULTI_REFERENCE", "typeMetadata": link } });
        assert_eq!(app.post("/v2/collections/create-field", &field).await.verdict(), "200");
        insert(&app, "kept", json!({ "_id": "first", "n": "kept secret" })).await;
        let state = async || {
            let mut state = Vec::new();
            for path in ["/v2/collections", "/v2/items/first?dataCollectionId=kept", "/v2/indexes?dataCollectionId=kept"] {
                state.push(app.get(path).await.json());
            }
            state.push(app.get("/v1/permissions?dataCollectionId=kept").await.json());
            state
        };
        let before = state().await;
        let mut open = Vec::new();
        // Every right there is, but not in this collection.
        let scopes = "items:write:other collections:write:other members:write members:sign-in site:write";
        let (partner, _) = world.app.partner(scopes).await;
        let member = world.app.member("ada@example.org").await;
        for client in [
            world.app.key(scopes).await,
            world.app.installed(scopes).await,
            world.app.through(&partner, &member, scopes).await,
            world.app.key("").await,
        ] {
            for Listed { method, route, .. } in operations() {
                if route.opening != Opening::Collections {
                    continue;
                }
                let reply = call(&client, &method, &path_of_route(route.path), &body_of(route.path, "kept")).await;
                let (verdict, text) = (reply.verdict(), String::from_utf8_lossy(&reply.body).into_owned());
                assert!(!text.contains("kept secret"), "{method} {}: {text}", route.path);
                // What lists, lists nothing of it; how late search is, is public.
                let lists = ["/v2/collections", "/v1/tasks", "/v1/permissions/current", "/_api/content/v1/openapi.json", "/_api/search/v1/lag"];
                let is_list = lists.contains(&route.path)
                    && method == Method::GET
                    || route.path.starts_with("/graphql/") && reply.json().get("data").is_none();
                let is_closed = matches!(reply.status.as_u16(), 403 | 404)
                    || is_list && !text.contains("\"kept\"")
                    || refuses_to_follow(&text);
                if !is_closed {
                    open.push(format!("{method} {}: {verdict} {text}", route.path));
                }
            }
        }
        assert!(open.is_empty(), "{open:#?}");
        assert_eq!(state().await, before);
    }

    async fn link_needs_scopes_at_both_ends(engine) {
        let world = World::new(engine).await;
        let app = world.app.app();
        define(&app, "actors", json!([{ "key": "n", "type": "TEXT" }]), "PRIVILEGED").await;
        let link = json!({ "multiReference": { "referencedCollectionId": "actors", "referencingFieldKey": "movies" } });
        define(&app, "movies", json!([{ "key": "actors", "type": "MULTI_REFERENCE", "typeMetadata": link }]), "PRIVILEGED").await;
        insert(&app, "movies", json!({ "_id": "m" })).await;
        insert(&app, "actors", json!({ "_id": "p" })).await;
        let entry = |field: &str, one: &str, other: &str| {
            json!([{ "referringItemFieldName": field, "referringItemId": one, "referencedItemId": other }])
        };
        let from_movies = json!({ "dataCollectionId": "movies", "dataItemReferences": entry("actors", "m", "p") });
        let from_actors = json!({ "dataCollectionId": "actors", "dataItemReferences": entry("movies", "p", "m") });
        let linked = async || {
            let body = json!({ "dataCollectionId": "movies", "referringItemFieldName": "actors", "referringItemId": "m", "referencedItemId": "p" });
            app.post("/v2/items/is-referenced", &body).await.json()["isReferenced"].clone()
        };
        let insert = "/v2/bulk/items/insert-references";
        for (scopes, body) in [
            ("items:write:movies", &from_movies),
            ("items:write:actors", &from_actors),
            ("items:read:movies items:write:actors", &from_movies),
            ("items:read:movies items:write:actors", &from_actors),
        ] {
            let key = world.app.key(scopes).await;
            let reply = key.post(insert, body).await;
            assert_eq!((linked().await, reply.status.is_success()), (json!(false), false), "{scopes}: {}", reply.json());
        }
        let key = world.app.key("items:write:movies items:read:actors").await;
        assert_eq!((key.post(insert, &from_movies).await.verdict().as_str(), linked().await), ("200", json!(true)));
        // Nor is it seen from one end alone.
        let include = json!({ "dataCollectionId": "movies", "query": {}, "referencedItemOptions": [{ "fieldName": "actors" }] });
        let query = json!({ "dataCollectionId": "movies", "referringItemFieldName": "actors", "referringItemId": "m" });
        let held = world.app.key("items:read:movies").await;
        assert!(!String::from_utf8_lossy(&held.post("/v2/items/query", &include).await.body).contains("\"p\""));
        assert_eq!(held.post("/v2/items/query-referenced", &query).await.verdict(), "403 WDE0027");
    }

    async fn unknown_scope_is_refused_by_name(engine) {
        let world = World::new(engine).await;
        let browser = world.browser();
        world.member(&browser, "ada@example.org").await;
        let refused = |reply: Reply| {
            let said = reply.json();
            assert_eq!((reply.status, &said["error"]), (StatusCode::BAD_REQUEST, &json!("invalid_scope")), "{said}");
            assert!(text(&said["error_description"]).contains("did you mean read?"), "{said}");
        };
        // To pass over it would give a client of the site more than it asked for.
        let member = world.register("bob@example.org").await["identity"]["id"].clone();
        let both = format!("{},{}", world.visitor().await, world.app.app().token);
        let vouched = json!({ "grant_type": "authorized_client", "member_id": member, "scope": "offline_access items:raed" });
        refused(world.call(&both, "/oauth2/token", &vouched).await);
        let tokens = world.call(&both, "/oauth2/token", &json!({ "grant_type": "authorized_client", "member_id": member })).await.json();
        let refresh = json!({ "grant_type": "refresh_token", "refresh_token": tokens["refresh_token"], "scope": "items:raed" });
        refused(world.call("", "/oauth2/token", &refresh).await);

        let mut request = world.auth_request();
        request["scope"] = json!("offline_access items:raed");
        let body = json!({ "auth": { "authRequest": request } });
        let reply = world.call(&world.visitor().await, "/_api/redirects-api/v1/redirect-session", &body).await;
        let said = String::from_utf8_lossy(&reply.body).into_owned();
        assert_eq!(reply.status, StatusCode::BAD_REQUEST);
        assert!(said.contains("auth.authRequest.scope") && said.contains("did you mean read?"), "{said}");

        let query = stoa_identity::address_form([
            ("client_id", world.client.id.as_str()), ("redirect_uri", CALLBACK), ("response_type", "code"), ("state", "s"),
            ("scope", "openid items:raed \"x\\"), ("code_challenge", CHALLENGE), ("code_challenge_method", "S256"),
        ]);
        let to = location(&browser.open(&format!("/_api/oauth2/authorize?{query}")).await);
        let answer = parameters(&to, '?');
        assert_eq!((answer["error"].as_str(), answer["state"].as_str()), ("invalid_scope", "s"));
        let why = &answer["error_description"];
        assert!(why.contains("did you mean read?") && !why.contains(['"', '\\']), "{why}");
        assert!(!answer.contains_key("code"));
    }

    async fn held_callers_end_with_what_they_came_through(engine) {
        let app = TestApp::with_nodes(engine, 3).await;
        let (identity, site) = (&app.app.identity, &app.site.id);
        define(&app.app(), "open", json!([{ "key": "n", "type": "TEXT" }]), "ANYONE").await;
        let query = json!({ "dataCollectionId": "open", "query": {} });
        let member = app.member("ada@example.org").await;
        for _ in 0..5 {
            let held = app.key("items:read").await;
            let id = app.anonymous().post("/oauth2/token-info", &json!({ "token": held.token })).await.json()["subjectId"].clone();
            let (partner, _) = app.partner("items:read").await;
            let through = app.through(&partner, &member, "items:read").await;
            for client in [&held, &through] {
                for _ in 0..4 {
                    assert_eq!(client.post("/v2/items/query", &query).await.verdict(), "200");
                }
            }
            // Each later call goes to another node.
            identity.api_key_revoke(site, &KeyId::from(id.as_str().unwrap())).await.unwrap();
            identity.client_revoke(site, &partner.id).await.unwrap();
            for client in [&held, &through] {
                for _ in 0..4 {
                    assert_eq!(client.post("/v2/items/query", &query).await.verdict(), "401 UNAUTHENTICATED");
                }
            }
        }
    }

    async fn longest_scopes_fit_a_token(engine) {
        let world = World::new(engine).await;
        let member = world.app.member("ada@example.org").await;
        let many: Vec<String> = (10..60).map(|it| format!("items:read:c{it}")).collect();
        let long: Vec<String> = (0..7).map(|it| format!("items:read:{it}{}", "c".repeat(130))).collect();
        let query = json!({ "dataCollectionId": "none", "query": {} });
        for scopes in [many, long] {
            let (partner, _) = world.app.partner(&scopes.join(" ")).await;
            let through = world.app.through(&partner, &member, &scopes.join(" ")).await;
            let info = world.app.anonymous().post("/oauth2/token-info", &json!({ "token": through.token })).await.json();
            assert_eq!(text(&info["scope"]), scopes.join(" "));
            assert_eq!(through.post("/v2/items/query", &query).await.verdict(), "404 WDE0025");
        }
    }

    async fn mail_leads_to_a_client_of_the_site(engine) {
        let app = TestApp::new(engine).await;
        // The oldest client of the site is one of others.
        let (partner, _) = app.partner("items:read").await;
        app.app.identity.client_revoke(&app.site.id, &app.client.id).await.unwrap();
        let draft = NewClient { name: "Own".to_owned(), redirect_uris: vec![CALLBACK.to_owned()], ..NewClient::default() };
        app.kit.clock.advance(1000);
        let (own, _) = app.app.identity.client_create(&app.site.id, draft).await.unwrap();
        let mails = format!("{:?}", app.app.identity.mail_preview(&app.site).await.unwrap());
        assert!(mails.contains(own.id.as_str()) && !mails.contains(partner.id.as_str()), "{mails}");
    }
}
