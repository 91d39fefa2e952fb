//! Leaving a site by its calls and pages (docs/my-account.md): deletion that waits, the link that keeps the account, and the copy
//! of what is known.

use super::*;

const DAY: i64 = 24 * 60 * 60_000;
const GET: &str = "/_api/account/v1/deletions";
const UNDO: &str = "/_api/account/v1/deletions/undo";
const LINK: &str = "400 INVALID_LINK";

impl World {
    /// The token behind the link that the member was sent.
    async fn keep_token(&self, email: &str) -> String {
        for _ in 0..250 {
            let links = self.app.mail.last_to(email).map(|it| it.links).unwrap_or_default();
            if let Some((_, token)) = links.iter().find_map(|it| it.split_once("/account/keep#")) {
                return token.to_owned();
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        panic!("no link to {email}");
    }

    /// A member who is to be deleted, and the token of the link.
    async fn leaving(&self, email: &str) -> String {
        let access = self.unproven_access(email).await;
        assert_eq!(self.prove(&access, json!({ "password": PASSWORD })).await, "200");
        assert_eq!(self.post_own(&access, "deletion", json!({})).await.verdict(), "200");
        self.keep_token(email).await
    }
}

on_both_engines! {
    async fn stolen_session_deletes_nothing_and_learns_nothing(engine) {
        let world = World::with_factors(engine).await;
        let access = world.unproven_access("anna@example.org").await;
        assert_eq!(world.post_own(&access, "deletion", json!({})).await.verdict(), NEEDED);
        assert_eq!(world.own(&access, Method::GET, "export", Value::Null).await.verdict(), NEEDED);
        // Of a member with a second factor the password is no proof either.
        let bob = world.enrolled("bob@example.org").await;
        world.app.kit.clock.advance(11 * 60_000);
        let browser = world.access_of(&world.verify_totp(&world.challenge(&bob).await, &world.totp(&bob.secret, 0)).await.json()["sessionToken"]).await;
        for access in [&bob.access, &browser] {
            assert_eq!(world.prove(access, json!({ "password": PASSWORD })).await, NEEDED);
            assert_eq!(world.post_own(access, "deletion", json!({})).await.verdict(), NEEDED);
            assert_eq!(world.own(access, Method::GET, "export", Value::Null).await.verdict(), NEEDED);
        }
        // A proof is of its session, for a while.
        assert_eq!(world.prove(&access, json!({ "password": PASSWORD })).await, "200");
        world.app.kit.clock.advance(10 * 60_000);
        assert_eq!(world.post_own(&access, "deletion", json!({})).await.verdict(), NEEDED);
        for email in ["anna@example.org", "bob@example.org"] {
            world.id_of(email).await;
        }
        assert_eq!(world.events("deletion_ask").await + world.events("data_export").await, 0);
    }

    async fn account_waits_and_is_kept_by_the_page_of_the_link(engine) {
        let world = World::with_factors(engine).await;
        let access = world.unproven_access("anna@example.org").await;
        let browser = world.browser();
        browser.password("anna@example.org").await;
        assert_eq!(world.prove(&access, json!({ "password": PASSWORD })).await, "200");
        world.app.mail.take();
        for days in [json!("14"), json!(-1), json!(13.5), json!(13)] {
            let refused = world.post_own(&access, "deletion", json!({ "deletionDays": days })).await;
            assert_eq!(refused.verdict(), "400 validationError", "{days}");
            let violation = &refused.json()["details"]["validationError"]["fieldViolations"][0];
            assert_eq!(violation["field"], "deletionDays", "{violation}");
        }
        let reply = world.post_own(&access, "deletion", json!({ "deletionDays": 14 })).await;
        assert_eq!(reply.verdict(), "200", "{}", reply.json());
        assert_eq!(reply.headers["cache-control"], "no-store");
        let date = reply.json()["deletionDate"].clone();
        assert_eq!(reply.json()["isDeleted"], false);
        assert_eq!(world.own(&access, Method::GET, "sessions", Value::Null).await.verdict(), "401 UNAUTHENTICATED");
        let opened = browser.ask(Method::POST, "/_api/account/v1/member", Some(&json!({}))).await;
        assert_eq!(opened.verdict(), "401 UNAUTHENTICATED", "the browser is signed out as well");
        let view = world.browser().password("anna@example.org").await;
        assert_eq!(view["problems"][0]["code"], "DELETION_WAITS", "{view}");
        let refused = world.login("anna@example.org", PASSWORD).await;
        assert_eq!(refused["details"]["applicationError"]["code"], "MEMBER_BLOCKED", "{refused}");

        let token = world.keep_token("anna@example.org").await;
        let link = world.app.mail.last_to("anna@example.org").unwrap().links.into_iter().find(|it| it.contains("keep#")).unwrap();
        // What fetches the address, as programs do that look at mail, keeps nothing.
        let headers = [("sec-fetch-mode", "navigate"), ("accept", "text/html")];
        let page = world.browser().send(Method::GET, &path_of(&link), &headers, None).await;
        // Where the apps aren't built, the answer says so.
        let is_unbuilt = String::from_utf8_lossy(&page.body).contains("were not built");
        assert!(page.status == StatusCode::OK || is_unbuilt, "{}", page.status);
        let stranger = world.browser();
        for path in [GET, UNDO] {
            let read = stranger.ask(Method::GET, &format!("{path}?token={token}"), None).await;
            assert!(read.status.is_client_error(), "{path}: {:?}", read.status);
            // Nor does another page, in the name of who reads it.
            let cross = [("sec-fetch-site", "cross-site"), ("content-type", "application/json")];
            let reply = stranger.send(Method::POST, path, &cross, Some(&json!({ "token": token }))).await;
            assert_eq!(reply.verdict(), "403 PERMISSION_DENIED", "{path}");
            let reply = stranger.ask(Method::POST, path, Some(&json!({ "token": "e1.nonsense" }))).await;
            assert_eq!(reply.verdict(), LINK, "{path}");
        }
        let shown = stranger.ask(Method::POST, GET, Some(&json!({ "token": token }))).await.json();
        assert_eq!((&shown["email"], &shown["deletionDate"], &shown["site"]["name"]), (&json!("anna@example.org"), &date, &json!("Test")));
        let kept = stranger.ask(Method::POST, UNDO, Some(&json!({ "token": token }))).await.json();
        assert!(kept["email"] == "anna@example.org" && kept["deletionDate"].is_null(), "{kept}");
        for path in [GET, UNDO] {
            assert_eq!(stranger.ask(Method::POST, path, Some(&json!({ "token": token }))).await.verdict(), LINK, "{path}");
        }
        assert_eq!(world.login("anna@example.org", PASSWORD).await["state"], "SUCCESS");
        assert_eq!((world.events("deletion_ask").await, world.events("deletion_undo").await), (1, 1));
    }

    async fn those_who_run_the_site_see_and_keep_who_leaves(engine) {
        let world = World::with_factors(engine).await;
        world.policy(json!({ "accountDeletionDays": 30 })).await;
        let policy = world.app.app().get("/v1/sign-on-policies").await.json();
        assert_eq!(policy["signOnPolicy"]["accountDeletionDays"], 30, "{policy}");
        let token = world.leaving("anna@example.org").await;
        let id = world.id_of("anna@example.org").await;
        let seen = world.app.app().get(&format!("/members/v1/members/{id}?fieldsets=FULL")).await.json();
        assert_eq!(seen["member"]["loginEmail"], "anna@example.org", "{seen}");
        // The members API has no name for it: they can't sign in, and are found as such.
        let is_shown = async |status: &str| {
            let app = world.app.app();
            let shown = app.get(&format!("/members/v1/members/{id}?fieldsets=EXTENDED")).await.json()["member"]["status"].clone();
            let query = json!({ "query": { "filter": { "status": status } } });
            let found = app.post("/members/v1/members/query", &query).await.json()["members"].clone();
            let is_found = found.as_array().is_some_and(|it| it.iter().any(|it| it["id"] == json!(id)));
            assert_eq!((shown, is_found), (json!(status), true), "{status}");
            for other in ["APPROVED", "PENDING", "BLOCKED", "OFFLINE"].into_iter().filter(|it| *it != status) {
                let query = json!({ "query": { "filter": { "status": other } } });
                let found = app.post("/members/v1/members/query", &query).await.json()["members"].clone();
                assert!(found.as_array().is_some_and(|it| it.iter().all(|it| it["id"] != json!(id))), "{other}: {found}");
            }
        };
        is_shown("OFFLINE").await;
        let path = format!("/members/v1/members/{id}/block");
        assert_eq!(world.app.app().post(&path, &json!({})).await.status, StatusCode::OK);
        is_shown("BLOCKED").await;
        let (member, caller) = (stoa_kernel::MemberId::from(id.as_str()), stoa_kernel::Caller::App { id: "k".into() });
        world.app.app.identity.member_unblock(&world.app.site, &caller, &member).await.unwrap();
        is_shown("OFFLINE").await;
        world.app.kit.clock.advance(29 * DAY);
        world.app.app.identity.retention_run(&world.app.site).await;
        let keep = format!("{OWN}/members/{id}/keep");
        assert_eq!(world.app.app().post(&keep, &json!({})).await.verdict(), "200");
        assert_eq!(world.app.app().post(&keep, &json!({})).await.verdict(), "409 ALREADY_EXISTS");
        assert_eq!(world.app.app().post(&format!("{OWN}/members/none/keep"), &json!({})).await.verdict(), "404 NOT_FOUND");
        is_shown("APPROVED").await;
        assert_eq!(world.browser().ask(Method::POST, UNDO, Some(&json!({ "token": token }))).await.verdict(), LINK);
        assert_eq!(world.login("anna@example.org", PASSWORD).await["state"], "SUCCESS");
    }

    async fn policy_of_no_days_deletes_at_once(engine) {
        let world = World::with_factors(engine).await;
        world.policy(json!({ "accountDeletionDays": 0 })).await;
        let access = world.unproven_access("anna@example.org").await;
        assert_eq!(world.prove(&access, json!({ "password": PASSWORD })).await, "200");
        let reply = world.post_own(&access, "deletion", json!({})).await.json();
        assert_eq!(reply, json!({ "isDeleted": true }));
        assert_eq!(world.register("anna@example.org").await["state"], "SUCCESS");
    }

    async fn copy_is_a_file_without_secrets(engine) {
        let world = World::with_factors(engine).await;
        let bob = world.enrolled("bob@example.org").await;
        world.next_step();
        assert_eq!(world.prove(&bob.access, json!({ "totpData": { "code": world.totp(&bob.secret, 0) } })).await, "200");
        let reply = world.own(&bob.access, Method::GET, "export", Value::Null).await;
        assert_eq!(reply.verdict(), "200");
        assert_eq!(reply.headers["cache-control"], "no-store");
        assert_eq!(reply.headers["content-disposition"], "attachment; filename=\"my-data.json\"");
        let copy = reply.json();
        assert_eq!((&copy["factors"][0]["type"], &copy["recoveryCodesLeft"]), (&json!("TOTP"), &json!(10)), "{copy}");
        let told = copy.to_string();
        assert!(!told.contains(&bob.secret) && bob.recovery_codes.iter().all(|it| !told.contains(it)), "{told}");
        for _ in 0..4 {
            world.own(&bob.access, Method::GET, "export", Value::Null).await;
        }
        assert_eq!(world.own(&bob.access, Method::GET, "export", Value::Null).await.verdict(), "429 THROTTLED_FEATURE");
    }
}
