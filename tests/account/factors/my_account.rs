//! The account pages of a member (docs/my-account.md): what they begin with, the password, where the member is signed in.

use super::*;

const OPEN: &str = "/_api/account/v1/member";
const HERE: [(&str, &str); 3] = [
    ("sec-fetch-site", "same-origin"),
    ("content-type", "application/json"),
    ("user-agent", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"),
];

impl Browser<'_> {
    /// Signs in beneath a path, in a Firefox.
    async fn sign_in_at(&self, prefix: &str, email: &str) -> Value {
        let start = json!({ "kind": "SIGN_IN" });
        let view = self.ask(Method::POST, &format!("{prefix}/_api/account/v1/flows"), Some(&start)).await.json();
        let path = format!("{prefix}/_api/account/v1/flows/{}", text(&view["token"]));
        let input = json!({ "type": "SIGN_IN", "email": email, "password": PASSWORD });
        self.send(Method::POST, &path, &HERE, Some(&input)).await.json()
    }

    async fn open_account(&self, prefix: &str) -> Reply {
        self.ask(Method::POST, &format!("{prefix}{OPEN}"), Some(&json!({}))).await
    }

    /// The token of the member who is signed in.
    async fn own_access(&self) -> String {
        text(&self.open_account("").await.json()["access_token"])
    }
}

impl World {
    /// A browser in which a member is signed in on the account pages.
    async fn signed_in(&self, email: &str) -> Browser<'_> {
        let browser = self.browser();
        let view = browser.sign_in_at("", email).await;
        assert_eq!(view["step"]["message"], "SIGNED_IN", "{view}");
        browser
    }

    async fn replace_password(&self, access: &str, old: &str, new: &str) -> Reply {
        self.post_own(access, "password", json!({ "oldPassword": old, "newPassword": new })).await
    }

    async fn sessions(&self, access: &str) -> Vec<Value> {
        let listed = self.own(access, Method::GET, "sessions", Value::Null).await;
        listed.json()["sessions"].as_array().cloned().unwrap_or_default()
    }
}

on_both_engines! {
    async fn page_begins_with_who_is_signed_in_in_the_browser(engine) {
        let world = World::with_factors(engine).await;
        world.register("anna@example.org").await;
        let browser = world.signed_in("anna@example.org").await;
        let reply = browser.open_account("").await;
        assert_eq!(reply.headers["cache-control"], "no-store");
        let account = reply.json();
        assert_eq!(
            (&account["email"], &account["emailVerified"], &account["hasPassword"], &account["passwordMinLength"]),
            (&json!("anna@example.org"), &json!(false), &json!(true), &json!(8))
        );
        assert_eq!((&account["site"]["name"], &account["memberId"]), (&json!("Test"), &json!(world.id_of("anna@example.org").await)));
        // The token is good for what members change about themselves.
        let access = text(&account["access_token"]);
        let path = format!("/members/v1/members/{}", text(&account["memberId"]));
        let patch = async |body: Value| {
            let headers = [("authorization", access.as_str()), ("content-type", "application/json")];
            send(&world.app, Method::PATCH, &path, &headers, Some(&body)).await
        };
        let member = json!({ "profile": { "nickname": "Ann", "photo": { "url": "https://pictures.example.org/a.png" } },
            "contact": { "firstName": "Anna", "lastName": null } });
        let changed = patch(json!({ "member": member })).await.json();
        assert_eq!(changed["member"]["profile"]["nickname"], "Ann", "{changed}");
        assert_eq!(changed["member"]["profile"]["photo"]["url"], "https://pictures.example.org/a.png");
        let removed = patch(json!({ "member": { "profile": { "photo": null } } })).await.json();
        assert!(removed["member"]["profile"]["photo"].is_null(), "{removed}");
        let wrong = patch(json!({ "member": { "profile": { "photo": { "url": "javascript:alert(1)" } } } })).await;
        let wrong = wrong.json()["details"]["validationError"]["fieldViolations"][0].clone();
        assert_eq!((&wrong["field"], &wrong["violatedRule"]), (&json!("member.profile.photo.url"), &json!("FORMAT")));
        assert_eq!(world.events("member_change").await, 2);
    }

    async fn other_origins_and_strangers_get_no_token(engine) {
        let world = World::with_factors(engine).await;
        world.register("anna@example.org").await;
        let browser = world.signed_in("anna@example.org").await;
        let json_type = ("content-type", "application/json");
        for headers in [
            vec![("sec-fetch-site", "cross-site"), json_type],
            vec![("sec-fetch-site", "same-site"), json_type],
            vec![("origin", APP), json_type],
            vec![("origin", "null"), json_type],
        ] {
            let reply = browser.send(Method::POST, OPEN, &headers, Some(&json!({}))).await;
            assert_eq!(reply.verdict(), "403 PERMISSION_DENIED", "{headers:?}");
        }
        for kind in [vec![], vec![("content-type", "text/plain")], vec![("content-type", "application/x-www-form-urlencoded")]] {
            let headers = [vec![("sec-fetch-site", "same-origin")], kind].concat();
            let reply = browser.send(Method::POST, OPEN, &headers, Some(&json!({}))).await;
            assert_eq!(reply.status, StatusCode::BAD_REQUEST, "{headers:?}");
        }
        assert_eq!(world.browser().open_account("").await.verdict(), "401 UNAUTHENTICATED");
        let forged = world.browser();
        forged.cookies.lock().unwrap().insert("stoa-session-1".to_owned(), format!("b1.{}", "x".repeat(43)));
        assert_eq!(forged.open_account("").await.verdict(), "401 UNAUTHENTICATED");
        // What the page is given is no cookie: without the token nothing is changed.
        let body = json!({ "oldPassword": PASSWORD, "newPassword": ANOTHER });
        let reply = browser.ask(Method::POST, "/_api/identity/v1/password", Some(&body)).await;
        assert_eq!(reply.verdict(), "401 UNAUTHENTICATED");
    }

    async fn member_of_another_site_on_the_host_is_a_stranger(engine) {
        let world = World::with_factors(engine).await;
        world.register("anna@example.org").await;
        let site = world.app.kit.store.site_create("Beside", &world.app.kit.world).await.unwrap();
        let (own, other) = (format!("/s/{}", world.app.site.id), format!("/s/{}", site.id));
        let browser = world.browser();
        assert_eq!(browser.sign_in_at(&own, "anna@example.org").await["step"]["message"], "SIGNED_IN");
        assert_eq!(browser.open_account(&own).await.json()["site"]["name"], "Test");
        assert_eq!(browser.open_account(&other).await.verdict(), "401 UNAUTHENTICATED");
        assert_eq!(browser.open_account("").await.json()["site"]["name"], "Test", "the only one there is");
        // A cookie under the name of the other site counts for neither.
        let value = browser.cookie("stoa-session").unwrap();
        let thief = world.browser();
        thief.cookies.lock().unwrap().insert(format!("stoa-session-{}", site.number), value);
        assert_eq!(thief.open_account(&other).await.verdict(), "401 UNAUTHENTICATED");
        assert_eq!(thief.open_account(&own).await.verdict(), "401 UNAUTHENTICATED");
        // A person with accounts at both is each at its own.
        let start = json!({ "kind": "SIGN_UP" });
        let view = browser.ask(Method::POST, &format!("{other}/_api/account/v1/flows"), Some(&start)).await.json();
        let path = format!("{other}/_api/account/v1/flows/{}", text(&view["token"]));
        let input = json!({ "type": "SIGN_UP", "email": "beth@example.org", "password": PASSWORD, "profile": {} });
        browser.ask(Method::POST, &path, Some(&input)).await;
        assert_eq!(browser.open_account(&own).await.json()["email"], "anna@example.org");
        assert_eq!(browser.open_account(&other).await.json()["email"], "beth@example.org");
        assert_eq!(browser.open_account("").await.verdict(), "404 SITE_NOT_FOUND", "two sites, and nothing says which");
    }

    async fn password_is_changed_by_who_shows_the_old_one(engine) {
        let world = World::with_factors(engine).await;
        world.register("anna@example.org").await;
        let (here, there) = (world.signed_in("anna@example.org").await, world.signed_in("anna@example.org").await);
        let (access, other) = (here.own_access().await, there.own_access().await);
        world.app.mail.take();
        assert_eq!(world.replace_password(&access, "not the old one", ANOTHER).await.verdict(), "401 -19976");
        let short = world.replace_password(&access, PASSWORD, "short").await.json();
        let violation = &short["details"]["validationError"]["fieldViolations"][0];
        assert_eq!((&violation["field"], &violation["violatedRule"]), (&json!("newPassword"), &json!("MIN_LENGTH")));
        assert!(world.subjects().await.is_empty(), "nothing has changed");
        assert_eq!(world.replace_password(&access, PASSWORD, ANOTHER).await.verdict(), "200");
        assert_eq!(there.open_account("").await.verdict(), "401 UNAUTHENTICATED");
        assert_eq!(world.own(&other, Method::GET, "sessions", Value::Null).await.verdict(), "401 UNAUTHENTICATED");
        assert_eq!(world.sessions(&access).await.len(), 1);
        assert_eq!(world.subjects().await.len(), 1, "the member is told");
        assert_eq!(world.events("password_change").await, 1);
        assert_eq!(world.login("anna@example.org", ANOTHER).await["state"], "SUCCESS");
        // It was shown, so the new one is as good a proof as the old.
        assert_eq!(world.prove(&access, json!({ "password": ANOTHER })).await, "200");
        for (body, field, rule) in [
            (json!({}), "oldPassword", "REQUIRED_FIELD"),
            (json!({ "oldPassword": 1, "newPassword": ANOTHER }), "oldPassword", "FORMAT"),
            (json!({ "oldPassword": PASSWORD, "newPassword": "x".repeat(1_001) }), "newPassword", "MAX_LENGTH"),
        ] {
            let reply = world.post_own(&access, "password", body).await.json();
            let violation = &reply["details"]["validationError"]["fieldViolations"][0];
            assert_eq!((&violation["field"], &violation["violatedRule"]), (&json!(field), &json!(rule)));
        }
    }

    async fn stolen_session_changes_no_password_and_no_factor(engine) {
        let world = World::with_factors(engine).await;
        world.register("anna@example.org").await;
        let stolen = world.signed_in("anna@example.org").await.own_access().await;
        // Guesses at the old password are counted as sign-ins.
        let mut verdicts = Vec::new();
        for n in 0..25 {
            verdicts.push(world.replace_password(&stolen, &format!("guess number {n}"), ANOTHER).await.verdict());
        }
        assert_eq!(verdicts.first().map(String::as_str), Some("401 -19976"));
        assert_eq!(verdicts.last().map(String::as_str), Some("429 THROTTLED_FEATURE"));
        assert_eq!(world.events("password_change").await, 0);
        // One that it set by the call which asks for no old one is shown in vain.
        world.register("beth@example.org").await;
        let stolen = world.signed_in("beth@example.org").await.own_access().await;
        assert_eq!(world.call(&stolen, "/v2/change-password", &json!({ "newPassword": ANOTHER })).await.verdict(), "200");
        assert_eq!(world.replace_password(&stolen, ANOTHER, "a third long phrase").await.verdict(), NEEDED);
        assert_eq!(world.prove(&stolen, json!({ "password": ANOTHER })).await, NEEDED);

        // With a second factor the password alone is not enough, right or wrong.
        let carl = world.enrolled("carl@example.org").await;
        let asked = world.browser();
        let view = asked.password("carl@example.org").await;
        asked.factor(&view, &world.totp(&carl.secret, 0), false).await;
        world.next_step();
        let access = asked.own_access().await;
        for old in [PASSWORD, "not the old one"] {
            assert_eq!(world.replace_password(&access, old, ANOTHER).await.verdict(), NEEDED, "{old}");
        }
        assert_eq!(world.own(&access, Method::DELETE, &format!("factors/{}", carl.id), Value::Null).await.verdict(), NEEDED);
        let code = json!({ "totpData": { "code": world.totp(&carl.secret, 0) } });
        assert_eq!(world.prove(&access, code).await, "200");
        // Another member's factor is out of reach.
        let dora = world.enrolled("dora@example.org").await;
        assert_eq!(world.own(&access, Method::DELETE, &format!("factors/{}", dora.id), Value::Null).await.verdict(), "404 NOT_FOUND");
        assert_eq!(world.replace_password(&access, "not the old one", ANOTHER).await.verdict(), "401 -19976");
        assert_eq!(world.replace_password(&access, PASSWORD, ANOTHER).await.verdict(), "200");
    }

    async fn hundred_changes_at_once_leave_one_password(engine) {
        let world = World::with_factors(engine).await;
        world.register("anna@example.org").await;
        let accesses = [
            world.signed_in("anna@example.org").await.own_access().await,
            world.signed_in("anna@example.org").await.own_access().await,
        ];
        let new = |n: usize| format!("phrase number {n} of many");
        let tries = (0..100).map(|n| {
            let (world, access) = (&world, &accesses[n % 2]);
            async move { world.replace_password(access, PASSWORD, &new(n)).await.verdict() }
        });
        let verdicts = join_all(tries).await;
        let taken: Vec<usize> = (0..100).filter(|n| verdicts[*n] == "200").collect();
        assert!(!taken.is_empty(), "{verdicts:?}");
        assert!(taken.iter().all(|it| it % 2 == taken[0] % 2), "one session ends the other: {verdicts:?}");
        let known = ["200", "401 UNAUTHENTICATED", "401 -19976", "429 THROTTLED_FEATURE"];
        assert!(verdicts.iter().all(|it| known.contains(&it.as_str())), "{verdicts:?}");
        assert_eq!(world.events("password_change").await, taken.len(), "each is written down");
    }

    async fn member_sees_and_ends_sessions(engine) {
        let world = World::with_factors(engine).await;
        world.register("anna@example.org").await;
        world.register("eve@example.org").await;
        let (here, there) = (world.signed_in("anna@example.org").await, world.signed_in("anna@example.org").await);
        let (access, other) = (here.own_access().await, there.own_access().await);
        // A client that is signed on through the browser is in its family.
        let authorize = format!(
            "/oauth2/authorize?client_id={}&response_type=code&code_challenge={CHALLENGE}&code_challenge_method=S256\
             &redirect_uri=https%3A%2F%2Fapp.example.org%2Fcallback", world.client.id);
        let location = location(&here.open(&authorize).await);
        let code = parameters(&location, '?')["code"].clone();
        assert_eq!(world.exchange(&code, Some(CALLBACK)).await.status, StatusCode::OK);
        let sessions = world.sessions(&access).await;
        assert_eq!(sessions.len(), 2, "{sessions:?}");
        let current = sessions.iter().find(|it| it["isCurrent"] == true).unwrap();
        assert_eq!((&current["device"], &current["address"]), (&json!("Firefox · Linux"), &json!("127.0.0.1")));
        assert_eq!(current["clientNames"], json!(["Elsewhere"]));
        let second = text(&sessions.iter().find(|it| it["isCurrent"] == false).unwrap()["id"]);

        world.app.mail.take();
        let eve = world.signed_in("eve@example.org").await.own_access().await;
        let path = format!("sessions/{second}");
        assert_eq!(world.own(&eve, Method::DELETE, &path, Value::Null).await.verdict(), "404 NOT_FOUND", "another's");
        let named = format!("sessions?memberId={}", world.id_of("anna@example.org").await);
        assert_eq!(world.own(&eve, Method::GET, &named, Value::Null).await.verdict(), "403 PERMISSION_DENIED");
        assert_eq!(world.own(&eve, Method::DELETE, &named, Value::Null).await.verdict(), "403 PERMISSION_DENIED");
        assert!(world.subjects().await.is_empty());
        assert_eq!(world.own(&access, Method::DELETE, &path, Value::Null).await.verdict(), "200");
        assert_eq!(there.open_account("").await.verdict(), "401 UNAUTHENTICATED");
        assert_eq!(world.own(&other, Method::GET, "sessions", Value::Null).await.verdict(), "401 UNAUTHENTICATED");
        let told = world.app.mail.take();
        assert_eq!(told.iter().map(|it| it.to.as_str()).collect::<Vec<_>>(), ["anna@example.org"]);
        assert_eq!(told[0].subject, "You were signed out elsewhere at Test");
        assert_eq!(world.events("session_end").await, 1);
        // Where nothing ended nothing is said.
        assert_eq!(world.own(&access, Method::DELETE, "sessions", Value::Null).await.verdict(), "200");
        assert!(world.subjects().await.is_empty());
        let third = world.signed_in("anna@example.org").await;
        assert_eq!(world.own(&access, Method::DELETE, "sessions", Value::Null).await.verdict(), "200");
        assert_eq!(third.open_account("").await.verdict(), "401 UNAUTHENTICATED");
        assert_eq!(here.open_account("").await.status, StatusCode::OK);
        // After the end of all, the one that asks included, its token and its cookie are worth nothing.
        let owner = format!("/_api/identity/v1/sessions?memberId={}", world.id_of("anna@example.org").await);
        assert_eq!(world.app.app().send(Method::DELETE, &owner, None).await.verdict(), "200");
        assert_eq!(here.open_account("").await.verdict(), "401 UNAUTHENTICATED");
        assert_eq!(world.replace_password(&access, PASSWORD, ANOTHER).await.verdict(), "401 UNAUTHENTICATED");
    }

    async fn browser_signed_out_from_the_list_is_asked_for_the_factor_again(engine) {
        let world = World::with_factors(engine).await;
        let anna = world.enrolled("anna@example.org").await;
        world.next_step();
        let stolen = world.browser();
        let view = stolen.password("anna@example.org").await;
        stolen.factor(&view, &world.totp(&anna.secret, 0), true).await;
        assert_eq!(world.count("remembered_browser").await, 1);
        let sessions = world.sessions(&anna.access).await;
        let other = text(&sessions.iter().find(|it| it["isCurrent"] == false).unwrap()["id"]);
        let path = format!("sessions/{other}");
        assert_eq!(world.own(&anna.access, Method::DELETE, &path, Value::Null).await.verdict(), "200");
        assert_eq!(world.count("remembered_browser").await, 0);
        let view = stolen.password("anna@example.org").await;
        assert_ne!(view["step"]["message"], "SIGNED_IN", "{view}");
    }

    async fn sign_in_that_is_no_session_yet_ends_with_one_from_the_list(engine) {
        let world = World::with_factors(engine).await;
        let access = world.member_access("anna@example.org").await;
        let stolen = world.signed_in("anna@example.org").await;
        let token = text(&world.login("anna@example.org", PASSWORD).await["sessionToken"]);
        assert_eq!(world.count("session_token").await, 1, "{token}");
        let sessions = world.sessions(&access).await;
        let other = text(&sessions.iter().find(|it| it["isCurrent"] == false).unwrap()["id"]);
        assert_eq!(world.own(&access, Method::DELETE, &format!("sessions/{other}"), Value::Null).await.verdict(), "200");
        assert_eq!(world.count("session_token").await, 0);
        drop(stolen);
    }

    async fn only_members_who_ended_their_sessions_are_told(engine) {
        let world = World::with_factors(engine).await;
        world.register("anna@example.org").await;
        world.signed_in("anna@example.org").await;
        world.app.mail.take();
        let owner = format!("/_api/identity/v1/sessions?memberId={}", world.id_of("anna@example.org").await);
        assert_eq!(world.app.app().send(Method::DELETE, &owner, None).await.verdict(), "200");
        assert!(world.subjects().await.is_empty());
    }
}
