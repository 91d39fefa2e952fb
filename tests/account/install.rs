//! Installing an application: from the owner's browser to an App caller (docs/protocol/identity.md §16.1).

use super::*;
use stoa_kernel::{Role, Scopes, Secret};
use stoa_testkit::{local_reach, on_both_engines};

const INSTALLED: &str = "https://app.example.org/installed?x=1";
const ASK: &str = "/_api/account/v1/installs";
const DECIDE: &str = "/_api/account/v1/installs/decide";

impl World {
    async fn application(&self) -> (Client, Secret) {
        let draft = NewClient {
            name: "Helper".to_owned(),
            redirect_uris: vec![INSTALLED.to_owned()],
            origins: Vec::new(),
            with_secret: true,
            ..NewClient::default()
        };
        let (client, secret) = self.app.app.identity.client_create(&self.app.site.id, draft).await.unwrap();
        (client, secret.unwrap())
    }

    /// A browser in which an operator is signed in.
    async fn person(&self, email: &str, role: Role) -> Browser<'_> {
        let browser = self.browser();
        let invite = self.invite(Some(email), role).await;
        let token = text(&browser.start(json!({ "kind": "OWNER_SETUP", "invite": invite })).await["token"]);
        let view = browser.answer(&token, json!({ "type": "NEW_PASSWORD", "password": PASSWORD })).await;
        assert_eq!(view["step"]["message"], "OWNER_READY");
        browser
    }

    /// Where a browser goes whose owner agrees to an application.
    async fn install(&self, owner: &Browser<'_>, app: &Client, state: &str) -> String {
        assert_eq!(path_of_page(&owner.open(&address(app, INSTALLED, state)).await), "/account/install");
        self.decide(owner, app, state, "INSTALL").await
    }

    async fn decide(&self, owner: &Browser<'_>, app: &Client, state: &str, decision: &str) -> String {
        let body = json!({ "appId": app.id, "redirectUrl": INSTALLED, "state": state, "decision": decision });
        let reply = owner.ask(Method::POST, DECIDE, Some(&body)).await;
        assert_eq!(reply.status, StatusCode::OK, "{}", reply.json());
        text(&reply.json()["url"])
    }

    async fn access(&self, app: &Client, secret: &str, grant: Value) -> Reply {
        let mut body = grant;
        (body["client_id"], body["client_secret"]) = (json!(app.id), json!(secret));
        self.call("", "/oauth/access", &body).await
    }
}

fn address(app: &Client, redirect: &str, state: &str) -> String {
    let redirect = stoa_identity::address_form([("redirectUrl", redirect)]);
    format!("/installer/install?{redirect}&appId={}&state={state}&token=unread", app.id)
}

/// The page that a browser is sent to, without what it is about.
fn path_of_page(reply: &Reply) -> String {
    location(reply).split('?').next().unwrap_or_default().to_owned()
}

fn code(code: &str) -> Value {
    json!({ "grant_type": "authorization_code", "code": code })
}

on_both_engines! {
    async fn owner_installs_an_application(engine) {
        let world = World::new(engine).await;
        let (app, secret) = world.application().await;
        let owner = world.person("olga@example.org", Role::Owner).await;
        let page = location(&owner.open(&address(&app, INSTALLED, "s%261")).await);
        let asked = parameters(&page, '?');
        assert!(page.starts_with("/account/install?"), "{page}");
        assert_eq!((asked["appId"].as_str(), asked["redirectUrl"].as_str(), asked["state"].as_str()), (app.id.as_str(), INSTALLED, "s&1"));
        let to = world.decide(&owner, &app, "s&1", "INSTALL").await;
        assert!(to.starts_with("https://app.example.org/installed?x=1&code="), "{to}");
        let found = parameters(&to, '?');
        assert_eq!((found["state"].as_str(), found["instanceId"].as_str()), ("s&1", world.app.site.id.as_str()));

        let wrong = world.access(&app, "wrong", code(&found["code"])).await;
        assert_eq!(wrong.verdict(), "401 invalid_client", "a code is nothing without the secret");
        let (other, others) = world.application().await;
        assert_eq!(world.access(&other, others.expose(), code(&found["code"])).await.verdict(), "400 invalid_grant");
        let tokens = world.access(&app, secret.expose(), code(&found["code"])).await.json();
        let info = world.app.anonymous().post("/oauth2/token-info", &json!({ "token": tokens["access_token"] })).await.json();
        assert_eq!((&info["subjectType"], &info["clientId"], &info["instanceId"]),
            (&json!("APP"), &json!(app.id), &json!(world.app.site.id)));
        let as_app = world.app.with_token(tokens["access_token"].as_str().unwrap());
        assert_eq!(as_app.get("/v1/sign-on-policies").await.verdict(), "200");
        assert_eq!(world.access(&app, secret.expose(), code(&found["code"])).await.verdict(), "400 invalid_grant", "once");

        // Its refresh token stays, is its own, and is nothing elsewhere.
        let refresh = json!({ "grant_type": "refresh_token", "refresh_token": tokens["refresh_token"] });
        for _ in 0..3 {
            let again = world.access(&app, secret.expose(), refresh.clone()).await.json();
            assert_eq!(again["refresh_token"], tokens["refresh_token"]);
            assert!(again["access_token"].is_string());
        }
        assert_eq!(world.access(&app, "wrong", refresh.clone()).await.verdict(), "401 invalid_client");
        assert_eq!(world.access(&other, others.expose(), refresh.clone()).await.verdict(), "400 invalid_grant");
        assert_eq!(world.call("", "/oauth2/token", &refresh).await.verdict(), "400 invalid_grant");
        let api = world.app.with_token(tokens["refresh_token"].as_str().unwrap());
        assert_eq!(api.get("/v1/sign-on-policies").await.verdict(), "401 UNAUTHENTICATED");

        // With the application ends what it got.
        world.app.app.identity.client_revoke(&world.app.site.id, &app.id).await.unwrap();
        assert_eq!(world.access(&app, secret.expose(), refresh).await.verdict(), "401 invalid_client");
        assert_eq!(as_app.get("/v1/sign-on-policies").await.verdict(), "401 UNAUTHENTICATED");
        world.app.app.identity.client_revoke(&world.app.site.id, &app.id).await.unwrap();

        // The log has told of both, once.
        let rows = world.app.site.read(stoa_store::ReaderPool::Point, |tx| {
            stoa_store::boxed!({
                let sql = "select kind, payload from stoa.outbox where kind in ('app_installed', 'app_removed') order by seq";
                Ok(tx.rows(sql, &[], |row| Ok((row.get::<String>(0)?, row.get::<String>(1)?))).await?)
            })
        });
        let told: Vec<_> = rows.await.unwrap().into_iter().map(|(kind, it)| {
            let payload: Value = serde_json::from_str(&it).unwrap();
            (kind, payload["ids"].clone(), text(&payload["identity"]["type"]))
        }).collect();
        let told: Vec<_> = told.iter().map(|it| (it.0.as_str(), &it.1, it.2.as_str())).collect();
        assert_eq!(told, [("app_installed", &json!([app.id]), "WIX_USER"), ("app_removed", &json!([app.id]), "UNKNOWN")]);
    }

    async fn installs_need_an_owner_and_a_registration(engine) {
        let world = World::new(engine).await;
        let (app, _) = world.application().await;
        let owner = world.person("olga@example.org", Role::Owner).await;
        let editor = world.person("ed@example.org", Role::Editor).await;
        assert_eq!(editor.open(&address(&app, INSTALLED, "s")).await.verdict(), "403 PERMISSION_DENIED");
        for bad in ["https://evil.example/", "https://app.example.org/installed", "javascript:alert(1)", ""] {
            assert_eq!(owner.open(&address(&app, bad, "s")).await.verdict(), "400 REDIRECT_URI_NOT_ALLOWED", "{bad}");
        }
        assert_eq!(owner.open(&address(&world.client, CALLBACK, "s")).await.verdict(), "400 CLIENT_NOT_FOUND", "no secret");
        assert_eq!(owner.open("/installer/install").await.verdict(), "400 CLIENT_NOT_FOUND");
        let long = "s".repeat(3000);
        assert_eq!(owner.open(&address(&app, INSTALLED, &long)).await.verdict(), "400 invalid_request");

        // A browser that comes from elsewhere is led through our own page, then asked to sign in.
        let browser = world.browser();
        let page = browser.open(&address(&app, INSTALLED, "%22%3E%3Cscript%3E")).await;
        let html = String::from_utf8_lossy(&page.body).into_owned();
        assert_eq!(page.status, StatusCode::OK);
        assert!(!html.contains("<script") && html.contains("http-equiv=\"refresh\""), "{html}");
        let next = html.split_once("url=").unwrap().1.split_once('"').unwrap().0.replace("&amp;", "&");
        let token = flow_of(&browser.open(&next).await);
        let view = browser.flow_view(&token).await.json();
        assert_eq!((&view["kind"], &view["step"]["type"]), (&json!("OWNER_SIGN_IN"), &json!("SIGN_IN")));
        let input = json!({ "type": "SIGN_IN", "email": "olga@example.org", "password": PASSWORD });
        let view = browser.answer(&token, input).await;
        let page = location(&browser.open(&path_of(&text(&view["step"]["url"]))).await);
        assert!(page.starts_with("/account/install?"), "{page}");
        assert_eq!(parameters(&page, '?')["state"], "\"><script>");
        let to = world.decide(&browser, &app, "\"><script>", "INSTALL").await;
        assert_eq!(parameters(&to, '?')["state"], "\"><script>");
    }

    async fn owner_is_asked_before_an_application_is_installed(engine) {
        let world = World::new(engine).await;
        let (app, secret) = world.application().await;
        let owner = world.person("olga@example.org", Role::Owner).await;
        let editor = world.person("ed@example.org", Role::Editor).await;
        let codes = async || {
            let count = world.app.site.read(stoa_store::ReaderPool::Point, |tx| {
                stoa_store::boxed!(Ok(tx.row("select count(*) from stoa.install_code", &[], |row| row.get::<i64>(0)).await?))
            });
            count.await.unwrap()
        };
        // However often the address is opened, nothing comes of it.
        for _ in 0..3 {
            assert_eq!(path_of_page(&owner.open(&address(&app, INSTALLED, "s")).await), "/account/install");
        }
        let asked = json!({ "appId": app.id, "redirectUrl": INSTALLED });
        let shown = owner.ask(Method::POST, ASK, Some(&asked)).await;
        let mut consent = shown.json();
        assert_eq!(consent["site"].take()["name"], "Test");
        assert_eq!(consent, json!({
            "site": null, "appName": "Helper", "host": "app.example.org", "isThirdParty": false, "scopes": null,
        }));
        assert_eq!(shown.headers["cache-control"], "no-store");
        assert_eq!(codes().await, Some(0));

        // Nor may a page of others answer for the owner, or anybody but an owner.
        let agreed = json!({ "appId": app.id, "redirectUrl": INSTALLED, "decision": "INSTALL" });
        let json_type = ("content-type", "application/json");
        for headers in [
            [("sec-fetch-site", "cross-site"), json_type], [("sec-fetch-site", "same-site"), json_type],
            [("origin", "https://evil.example"), json_type], [("origin", "null"), json_type],
        ] {
            let reply = owner.send(Method::POST, DECIDE, &headers, Some(&agreed)).await;
            assert_eq!(reply.verdict(), "403 PERMISSION_DENIED", "{headers:?}");
        }
        let form = [("sec-fetch-site", "same-origin"), ("content-type", "text/plain")];
        assert_eq!(owner.send(Method::POST, DECIDE, &form, Some(&agreed)).await.verdict(), "400 MALFORMED_JSON");
        assert_eq!(editor.ask(Method::POST, DECIDE, Some(&agreed)).await.verdict(), "403 PERMISSION_DENIED");
        assert_eq!(editor.ask(Method::POST, ASK, Some(&asked)).await.verdict(), "403 PERMISSION_DENIED");
        assert_eq!(world.browser().ask(Method::POST, DECIDE, Some(&agreed)).await.verdict(), "401 UNAUTHENTICATED");
        for (name, value, verdict) in [
            ("redirectUrl", json!("https://evil.example/"), "400 REDIRECT_URI_NOT_ALLOWED"),
            ("appId", json!(world.client.id), "400 CLIENT_NOT_FOUND"),
            ("state", json!("s".repeat(3000)), "400 invalid_request"),
            ("decision", json!("MAYBE"), "400 MALFORMED_JSON"),
        ] {
            let mut bad = agreed.clone();
            bad[name] = value;
            assert_eq!(owner.ask(Method::POST, DECIDE, Some(&bad)).await.verdict(), verdict, "{name}");
        }
        assert_eq!(codes().await, Some(0));

        // Declined, the application learns just that.
        let declined = world.decide(&owner, &app, "s", "DECLINE").await;
        assert_eq!(declined, "https://app.example.org/installed?x=1&error=access_denied&state=s");
        assert_eq!(codes().await, Some(0));
        let to = world.install(&owner, &app, "s").await;
        assert_eq!(world.access(&app, secret.expose(), code(&parameters(&to, '?')["code"])).await.verdict(), "200");
    }

    async fn installation_holds_what_was_agreed_to(engine) {
        let world = World::new(engine).await;
        let draft = NewClient {
            name: "Feed".to_owned(), redirect_uris: vec![INSTALLED.to_owned()], with_secret: true, is_third_party: true,
            scopes: Some(Scopes::among("items:read site:read")), ..NewClient::default()
        };
        let (app, secret) = world.app.app.identity.client_create(&world.app.site.id, draft).await.unwrap();
        let secret = secret.unwrap();
        let credentials = |scope: &str| {
            json!({ "grant_type": "client_credentials", "client_id": app.id, "client_secret": secret.expose(), "scope": scope })
        };
        // By its secret alone it is nothing.
        assert_eq!(world.call("", "/oauth2/token", &credentials("")).await.verdict(), "403 unauthorized_client");
        let owner = world.person("olga@example.org", Role::Owner).await;
        let asked = json!({ "appId": app.id, "redirectUrl": INSTALLED });
        let shown = owner.ask(Method::POST, ASK, Some(&asked)).await.json();
        assert_eq!((&shown["isThirdParty"], &shown["scopes"]), (&json!(true), &json!(["items:read", "site:read"])));
        world.decide(&owner, &app, "s", "DECLINE").await;
        assert_eq!(world.call("", "/oauth2/token", &credentials("")).await.verdict(), "403 unauthorized_client");

        let to = world.install(&owner, &app, "s").await;
        let first = world.access(&app, secret.expose(), code(&parameters(&to, '?')["code"])).await.json();
        assert_eq!(first["scope"], "items:read site:read offline_access");
        let refresh = json!({ "grant_type": "refresh_token", "refresh_token": first["refresh_token"], "scope": "members:write items:write" });
        let again = world.access(&app, secret.expose(), refresh).await.json();
        assert_eq!(again["scope"], "items:read offline_access", "a refresh narrows and never widens");
        let own = world.call("", "/oauth2/token", &credentials("")).await.json();
        assert_eq!(own["scope"], "items:read site:read");
        let wider = world.call("", "/oauth2/token", &credentials("site:write items:write collections:write")).await.json();
        assert_eq!(wider["scope"], "items:read site:read");
        for (tokens, site) in [(&first, "200"), (&again, "403 INSUFFICIENT_SCOPE"), (&own, "200"), (&wider, "200")] {
            let client = world.app.with_token(tokens["access_token"].as_str().unwrap());
            assert_eq!(client.get("/v1/sign-on-policies").await.verdict(), site);
            let policy = Some(json!({ "signOnPolicy": { "requireOwnerApproval": true } }).to_string().into());
            let patch = client.send(Method::PATCH, "/v1/sign-on-policies", policy).await;
            assert_eq!(patch.verdict(), "403 INSUFFICIENT_SCOPE");
            assert_eq!(client.get("/members/v1/members").await.verdict(), "403 INSUFFICIENT_SCOPE");
            assert_eq!(client.post("/v2/collections", &json!({ "collection": { "id": "x", "fields": [] } })).await.verdict(), "403 WDE0027");
        }
    }

    async fn exchange_succeeds_once_among_a_hundred(engine) {
        let world = World::new(engine).await;
        let (app, secret) = world.application().await;
        let owner = world.person("olga@example.org", Role::Owner).await;
        let to = world.install(&owner, &app, "s").await;
        let mut body = code(&parameters(&to, '?')["code"]);
        (body["client_id"], body["client_secret"]) = (json!(app.id), json!(secret.expose()));
        let mut tasks = Vec::new();
        for _ in 0..100 {
            let (app, body) = (world.app.app.clone(), body.to_string());
            tasks.push(tokio::spawn(async move {
                let request = Request::builder().method(Method::POST).uri("/oauth/access").header("host", "localhost");
                let request = request.header("content-type", "application/json").body(Body::from(body)).unwrap();
                stoa_http::service(app).oneshot(request).await.unwrap().status()
            }));
        }
        let mut good = 0;
        for task in tasks {
            good += usize::from(task.await.unwrap() == StatusCode::OK);
        }
        assert_eq!(good, 1);
        let late = world.install(&owner, &app, "s").await;
        world.app.kit.clock.advance(6 * 60_000);
        assert_eq!(world.access(&app, secret.expose(), code(&parameters(&late, '?')["code"])).await.verdict(), "400 invalid_grant");
    }

    async fn application_tokens_are_revoked(engine) {
        let world = World::new(engine).await;
        let (app, secret) = world.application().await;
        let owner = world.person("olga@example.org", Role::Owner).await;
        let install = async || {
            let to = world.install(&owner, &app, "s").await;
            world.access(&app, secret.expose(), code(&parameters(&to, '?')["code"])).await.json()
        };
        let (one, two) = (install().await, install().await);
        let revoke = async |token: &Value, secret: Option<&str>| {
            let mut body = json!({ "token": token });
            if let Some(secret) = secret {
                (body["client_id"], body["client_secret"]) = (json!(app.id), json!(secret));
            }
            world.call("", "/oauth2/revoke", &body).await.verdict()
        };
        let refresh = async |it: &Value| {
            let body = json!({ "grant_type": "refresh_token", "refresh_token": it["refresh_token"] });
            world.access(&app, secret.expose(), body).await
        };
        let policies = async |tokens: &Value| {
            world.app.with_token(tokens["access_token"].as_str().unwrap()).get("/v1/sign-on-policies").await.verdict()
        };
        let again = refresh(&one).await.json();
        assert_eq!(revoke(&one["refresh_token"], None).await, "401 invalid_client");
        assert_eq!(policies(&one).await, "200");
        assert_eq!(revoke(&one["refresh_token"], Some(secret.expose())).await, "200");
        assert_eq!(revoke(&one["refresh_token"], Some(secret.expose())).await, "200", "twice is no error");
        assert_eq!(refresh(&one).await.verdict(), "400 invalid_grant");
        assert_eq!((policies(&one).await, policies(&again).await), ("401 UNAUTHENTICATED".to_owned(), "401 UNAUTHENTICATED".to_owned()));
        assert_eq!((policies(&two).await, refresh(&two).await.status), ("200".to_owned(), StatusCode::OK), "another installation");

        // Its tokens have no end, so neither has this.
        world.app.kit.clock.advance(400 * 86_400_000);
        assert_eq!(refresh(&one).await.verdict(), "400 invalid_grant");
        let restarted = stoa_identity::Identity::open(
            world.app.kit.store.clone(), world.app.kit.world.clone(), world.app.mail.clone(), local_reach(),
            Config::default()).await.unwrap();
        let request = stoa_identity::oauth::TokenRequest {
            grant_type: "refresh_token".to_owned(), client_id: Some(app.id.to_string()),
            client_secret: Some(secret.expose().to_owned()), refresh_token: one["refresh_token"].as_str().map(str::to_owned),
            ..Default::default()
        };
        assert!(restarted.application_grant(&request).await.is_err());
        assert_eq!(refresh(&two).await.verdict(), "200");

        let grant = json!({ "grant_type": "client_credentials", "client_id": app.id, "client_secret": secret.expose() });
        let (own, other) = (world.call("", "/oauth2/token", &grant).await.json(), world.call("", "/oauth2/token", &grant).await.json());
        assert_eq!(policies(&own).await, "200");
        assert_eq!(revoke(&own["access_token"], None).await, "401 invalid_client");
        assert_eq!(revoke(&own["access_token"], Some(secret.expose())).await, "200");
        assert_eq!((policies(&own).await, policies(&other).await), ("401 UNAUTHENTICATED".to_owned(), "200".to_owned()));

        // An application names the site that it means; it is at no other.
        let elsewhere = world.app.kit.store.site_create("Elsewhere", &world.app.kit.world).await.unwrap();
        let site = json!(world.app.site.id);
        for (name, instance, verdict) in [
            ("instance_id", site.clone(), "200"),
            ("instanceId", site, "200"),
            ("instance_id", json!(""), "200"),
            ("instance_id", json!(elsewhere.id), "400 invalid_grant"),
            ("instanceId", json!("none"), "400 invalid_grant"),
            ("instance_id", json!(5), "400 invalid_request"),
        ] {
            let mut named = grant.clone();
            named[name] = instance;
            assert_eq!(world.call("", "/oauth2/token", &named).await.verdict(), verdict, "{named}");
        }
        let mut both = grant.clone();
        (both["instance_id"], both["instanceId"]) = (json!(world.app.site.id), json!(elsewhere.id));
        assert_eq!(world.call("", "/oauth2/token", &both).await.verdict(), "400 invalid_request");
    }
}
