//! Operators of a site: invitation, sign-in, tokens.

use super::*;
use std::time::Duration;
use stoa_kernel::{Email, Role, Secret};
use stoa_testkit::on_both_engines;

const HERE: std::net::IpAddr = std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

impl World {
    pub async fn invite(&self, email: Option<&str>, role: Role) -> String {
        let email = email.and_then(Email::parse);
        let life = Duration::from_secs(7 * 86_400);
        let identity = &self.app.app.identity;
        let url =
            identity.invite_create(&self.app.site.id, email.as_ref(), role, life, "http://localhost").await.unwrap();
        url.split_once("/account/setup?invite=").unwrap().1.to_owned()
    }
}

on_both_engines! {
    async fn invited_operator_becomes_an_owner(engine) {
        let world = World::new(engine).await;
        let invite = world.invite(Some("olga@example.org"), Role::Owner).await;
        let browser = world.browser();
        let start = json!({ "kind": "OWNER_SETUP", "invite": invite });
        let view = browser.start(start.clone()).await;
        assert_eq!((&view["step"]["type"], &view["step"]["emailHint"]), (&json!("NEW_PASSWORD"), &json!("olga@example.org")));
        let (token, late) = (text(&view["token"]), text(&browser.start(start.clone()).await["token"]));
        let set = json!({ "type": "NEW_PASSWORD", "password": PASSWORD });
        let short = browser.answer(&token, json!({ "type": "NEW_PASSWORD", "password": "short" })).await;
        assert_eq!(short["problems"][0]["code"], "PASSWORD_TOO_SHORT");
        let view = browser.answer(&token, set.clone()).await;
        assert_eq!(view["step"], json!({ "type": "DONE", "message": "OWNER_READY" }));
        assert!(browser.has("stoa-person") && !browser.has("stoa-session"));

        // The link works once, also for a page that was open before.
        let view = browser.answer(&late, set).await;
        assert_eq!(view["problems"][0]["code"], "INVALID_LINK");
        let replay = browser.ask(Method::POST, "/_api/account/v1/flows", Some(&start)).await;
        assert_eq!(replay.verdict(), "400 INVALID_LINK");

        let tokens = browser.ask(Method::POST, "/_api/account/v1/token", Some(&json!({}))).await;
        let tokens = tokens.json();
        assert!(tokens["expires_in"].as_i64().unwrap() > 0);
        let access = text(&tokens["access_token"]);
        let policy = send(&world.app, Method::GET, "/v1/sign-on-policies", &[("authorization", &access)], None).await;
        assert_eq!(policy.verdict(), "200", "an owner may");
        let cross = [("sec-fetch-site", "cross-site"), ("content-type", "application/json")];
        let cross = browser.send(Method::POST, "/_api/account/v1/token", &cross, Some(&json!({}))).await;
        assert_eq!(cross.verdict(), "403 PERMISSION_DENIED");
        let nobody = world.browser().ask(Method::POST, "/_api/account/v1/token", Some(&json!({}))).await;
        assert_eq!(nobody.verdict(), "401 UNAUTHENTICATED");

        // Signing out ends the tokens as well.
        let token = text(&browser.start(json!({ "kind": "SIGN_OUT" })).await["token"]);
        let view = browser.answer(&token, json!({ "type": "CONFIRM_SIGN_OUT" })).await;
        assert_eq!(view["step"]["type"], "DONE");
        let policy = send(&world.app, Method::GET, "/v1/sign-on-policies", &[("authorization", &access)], None).await;
        assert_eq!(policy.verdict(), "401 UNAUTHENTICATED");
    }

    async fn operators_sign_in_on_their_own_page(engine) {
        let world = World::new(engine).await;
        world.register("member@example.org").await;
        let invite = world.invite(None, Role::Editor).await;
        let browser = world.browser();
        let view = browser.start(json!({ "kind": "OWNER_SETUP", "invite": invite })).await;
        assert_eq!(view["step"]["type"], "SIGN_UP", "whoever opens the first link says who they are");
        let up = json!({ "type": "SIGN_UP", "email": "ed@example.org", "password": PASSWORD, "profile": {} });
        let view = browser.answer(&text(&view["token"]), up).await;
        assert_eq!(view["step"]["message"], "OWNER_READY");

        let browser = world.browser();
        let token = text(&browser.start(json!({ "kind": "OWNER_SIGN_IN" })).await["token"]);
        let input = |email: &str, password: &str| json!({ "type": "SIGN_IN", "email": email, "password": password });
        for (email, password) in [("ed@example.org", "wrong one"), ("nobody@example.org", PASSWORD), ("member@example.org", PASSWORD)] {
            let view = browser.answer(&token, input(email, password)).await;
            assert_eq!(view["problems"][0]["code"], "INVALID_CREDENTIALS", "{email}");
        }
        let view = browser.answer(&token, json!({ "type": "SWITCH", "to": "SIGN_UP" })).await;
        assert_eq!((&view["step"]["type"], &view["problems"][0]["code"]), (&json!("SIGN_IN"), &json!("STEP_CHANGED")));
        let view = browser.answer(&token, input("Ed@Example.org", PASSWORD)).await;
        assert_eq!(view["step"]["message"], "SIGNED_IN");
        let access = browser.ask(Method::POST, "/_api/account/v1/token", Some(&json!({}))).await.json();
        let access = text(&access["access_token"]);
        let body = json!({ "signOnPolicy": { "requireOwnerApproval": true } });
        let reply = send(&world.app, Method::PATCH, "/v1/sign-on-policies",
            &[("authorization", &access), ("content-type", "application/json")], Some(&body)).await;
        assert_eq!(reply.verdict(), "403 PERMISSION_DENIED", "an editor may not");
    }

    async fn invitation_opens_no_other_account(engine) {
        let world = World::new(engine).await;
        let browser = world.browser();
        let accept = async |invite: String, password: &str| {
            let view = browser.start(json!({ "kind": "OWNER_SETUP", "invite": invite })).await;
            browser.answer(&text(&view["token"]), json!({ "type": "NEW_PASSWORD", "password": password })).await
        };
        accept(world.invite(Some("olga@example.org"), Role::Owner).await, PASSWORD).await;
        let again = world.invite(Some("Olga@example.org"), Role::Owner).await;
        let view = accept(again.clone(), "somebody else's phrase").await;
        assert_eq!(view["problems"][0]["code"], "INVALID_CREDENTIALS");
        let view = accept(again, PASSWORD).await;
        assert_eq!(view["step"]["message"], "OWNER_READY");
        world.app.kit.clock.advance(8 * 86_400_000);
        let old = world.invite(Some("x@example.org"), Role::Owner).await;
        world.app.kit.clock.advance(8 * 86_400_000);
        let reply = browser.ask(Method::POST, "/_api/account/v1/flows", Some(&json!({ "kind": "OWNER_SETUP", "invite": old }))).await;
        assert_eq!(reply.verdict(), "400 INVALID_LINK");
    }

    async fn open_link_ends_once_there_is_an_owner(engine) {
        let world = World::new(engine).await;
        let browser = world.browser();
        let open = async |invite: &str| text(&browser.start(json!({ "kind": "OWNER_SETUP", "invite": invite })).await["token"]);
        let sign_up = async |token: &str, email: &str| {
            let up = json!({ "type": "SIGN_UP", "email": email, "password": PASSWORD, "profile": {} });
            browser.answer(token, up).await
        };
        // A new open link takes the place of the one before, also on a page that shows it.
        let first = world.invite(None, Role::Owner).await;
        let page = open(&first).await;
        let second = world.invite(None, Role::Owner).await;
        assert_eq!(sign_up(&page, "eve@example.org").await["problems"][0]["code"], "INVALID_LINK");
        let (page, other) = (open(&second).await, open(&second).await);
        assert_eq!(sign_up(&page, "olga@example.org").await["step"]["message"], "OWNER_READY");
        assert_eq!(sign_up(&other, "eve@example.org").await["problems"][0]["code"], "INVALID_LINK");

        // Nor does one open anything that is made while the site has an owner.
        for role in [Role::Owner, Role::Editor] {
            let page = open(&world.invite(None, role).await).await;
            assert_eq!(sign_up(&page, "eve@example.org").await["problems"][0]["code"], "INVALID_LINK");
        }
        assert_eq!(world.app.app.identity.owner_count(&world.app.site.id).await.unwrap(), 1);

        // A named owner ends open links too.
        let world = World::new(engine).await;
        let browser = world.browser();
        let invite = world.invite(None, Role::Owner).await;
        let named = world.invite(Some("olga@example.org"), Role::Owner).await;
        let view = browser.start(json!({ "kind": "OWNER_SETUP", "invite": named })).await;
        let set = json!({ "type": "NEW_PASSWORD", "password": PASSWORD });
        assert_eq!(browser.answer(&text(&view["token"]), set).await["step"]["message"], "OWNER_READY");
        let start = json!({ "kind": "OWNER_SETUP", "invite": invite });
        let reply = browser.ask(Method::POST, "/_api/account/v1/flows", Some(&start)).await;
        assert_eq!(reply.verdict(), "400 INVALID_LINK");
    }

    async fn invitation_takes_no_rights_away(engine) {
        let world = World::new(engine).await;
        let identity = &world.app.app.identity;
        let (email, password) = (Email::parse("olga@example.org").unwrap(), Secret::new(PASSWORD));
        for (invited, has) in [(Role::Editor, Role::Editor), (Role::Owner, Role::Owner), (Role::Editor, Role::Owner)] {
            let invite = world.invite(Some("olga@example.org"), invited).await;
            let (_, role) = identity.invite_accept(&invite, None, &password, HERE).await.unwrap();
            assert_eq!(role, has);
            assert_eq!(identity.operator_sign_in(&world.app.site.id, &email, &password, HERE).await.unwrap().role, has);
        }
    }
}
