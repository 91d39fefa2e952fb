//! The page of those who run a site: their password, and where they are signed in.

use super::*;
use stoa_kernel::Role;
use stoa_sql::params;
use stoa_store::boxed;
use stoa_testkit::on_both_engines;

const ACCOUNT: &str = "/_api/account/v1/operator";
const NEW: &str = "quite another phrase";
const FIREFOX: (&str, &str) = ("user-agent", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0");

impl Browser<'_> {
    /// Signs in as an operator.
    pub async fn run_site(&self, email: &str, password: &str) -> Value {
        let token = text(&self.start(json!({ "kind": "OWNER_SIGN_IN" })).await["token"]);
        let input = json!({ "type": "SIGN_IN", "email": email, "password": password });
        let headers = [("sec-fetch-site", "same-origin"), ("content-type", "application/json"), FIREFOX];
        self.send(Method::POST, &format!("/_api/account/v1/flows/{token}"), &headers, Some(&input)).await.json()
    }

    pub async fn account(&self) -> Reply {
        self.ask(Method::GET, ACCOUNT, None).await
    }

    pub async fn change(&self, path: &str, body: Value) -> Reply {
        self.ask(Method::POST, &format!("{ACCOUNT}/{path}"), Some(&body)).await
    }

    async fn access(&self) -> String {
        let tokens = self.ask(Method::POST, "/_api/account/v1/token", Some(&json!({}))).await;
        text(&tokens.json()["access_token"])
    }
}

impl World {
    pub async fn owner(&self, email: &str) {
        let invite = self.invite(Some(email), Role::Owner).await;
        let browser = self.browser();
        let token = text(&browser.start(json!({ "kind": "OWNER_SETUP", "invite": invite })).await["token"]);
        let view = browser.answer(&token, json!({ "type": "NEW_PASSWORD", "password": PASSWORD })).await;
        assert_eq!(view["step"]["message"], "OWNER_READY");
        // So that the session of this browser is not among those of the tests.
        let own = session(&browser.account().await.json());
        assert_eq!(browser.change("sessions/end", json!({ "session": own })).await.status, StatusCode::OK);
    }

    /// Whether an access token is taken.
    async fn takes(&self, access: &str) -> bool {
        let headers = [("authorization", access)];
        send(&self.app, Method::GET, "/v1/sign-on-policies", &headers, None).await.status == StatusCode::OK
    }
}

/// The id of the session that asks.
fn session(account: &Value) -> String {
    let sessions = account["sessions"].as_array().unwrap();
    text(&sessions.iter().find(|it| it["isCurrent"] == true).unwrap()["id"])
}

on_both_engines! {
    async fn owner_changes_the_password_and_stays_signed_in_here_alone(engine) {
        let world = World::new(engine).await;
        world.owner("olga@example.org").await;
        let (here, there) = (world.browser(), world.browser());
        for browser in [&here, &there] {
            assert_eq!(browser.run_site("olga@example.org", PASSWORD).await["step"]["message"], "SIGNED_IN");
        }
        let accesses = (here.access().await, there.access().await);
        let problem = async |old: &str, password: &str| {
            let answer = here.change("password", json!({ "old": old, "password": password })).await.json();
            let problem = &answer["problems"][0];
            (problem["field"].as_str().unwrap_or("").to_owned(), problem["code"].as_str().unwrap_or("").to_owned())
        };
        let is = |field: &str, code: &str| (field.to_owned(), code.to_owned());
        assert_eq!(problem("wrong one", NEW).await, is("old", "INVALID_CREDENTIALS"));
        assert_eq!(problem(PASSWORD, "short").await, is("password", "PASSWORD_TOO_SHORT"));
        assert_eq!(problem(PASSWORD, "olga@example.org").await, is("password", "PASSWORD_CONTEXT"));
        assert!(world.takes(&accesses.1).await, "nothing has changed yet");
        assert_eq!(problem(PASSWORD, NEW).await, is("", ""));

        let account = here.account().await.json();
        assert_eq!(account["sessions"].as_array().unwrap().len(), 1);
        assert_eq!(there.account().await.verdict(), "401 UNAUTHENTICATED");
        assert!(world.takes(&accesses.0).await && !world.takes(&accesses.1).await);
        let wrong = there.run_site("olga@example.org", PASSWORD).await;
        assert_eq!(wrong["problems"][0]["code"], "INVALID_CREDENTIALS");
        assert_eq!(there.run_site("olga@example.org", NEW).await["step"]["message"], "SIGNED_IN");
        let told = world.app.mail.take();
        assert!(told.iter().any(|it| it.to == "olga@example.org"), "the owner of the address is told: {told:?}");
    }

    async fn wrong_passwords_of_the_page_are_counted_like_others(engine) {
        let world = World::new(engine).await;
        world.owner("olga@example.org").await;
        let browser = world.browser();
        browser.run_site("olga@example.org", PASSWORD).await;
        // A stolen session in a browser that the account does not know.
        browser.cookies.lock().unwrap().remove("stoa-device");
        let mut codes = Vec::new();
        for n in 0..25 {
            let body = json!({ "old": format!("guess number {n}"), "password": NEW });
            codes.push(text(&browser.change("password", body).await.json()["problems"][0]["code"]));
        }
        assert_eq!(codes.first().map(String::as_str), Some("INVALID_CREDENTIALS"));
        assert_eq!(codes.last().map(String::as_str), Some("THROTTLED_FEATURE"));
    }

    async fn owner_sees_and_ends_sessions(engine) {
        let world = World::new(engine).await;
        world.owner("olga@example.org").await;
        world.owner("eve@example.org").await;
        let browsers = [world.browser(), world.browser(), world.browser()];
        for browser in &browsers {
            browser.run_site("olga@example.org", PASSWORD).await;
        }
        let eve = world.browser();
        eve.run_site("eve@example.org", PASSWORD).await;
        let [here, second, third] = &browsers;
        let account = here.account().await.json();
        assert_eq!((&account["email"], &account["role"]), (&json!("olga@example.org"), &json!("OWNER")));
        assert_eq!(account["site"]["name"], "Test");
        let sessions = account["sessions"].as_array().unwrap();
        assert_eq!(sessions.len(), 3);
        assert!(sessions.iter().all(|it| it["device"] == "Firefox · Linux" && it["siteName"] == "Test"), "{account}");
        assert_eq!(sessions.iter().filter(|it| it["isCurrent"] == true).count(), 1);

        let access = second.access().await;
        let second_id = session(&second.account().await.json());
        assert_eq!(eve.change("sessions/end", json!({ "session": second_id })).await.verdict(), "404 NOT_FOUND", "another's");
        assert!(world.takes(&access).await);
        let answer = here.change("sessions/end", json!({ "session": second_id })).await.json();
        assert_eq!(answer["sessions"].as_array().unwrap().len(), 2);
        assert!(!world.takes(&access).await, "its tokens are refused");
        assert_eq!(second.account().await.verdict(), "401 UNAUTHENTICATED");
        assert_eq!(here.change("sessions/end", json!({ "session": second_id })).await.verdict(), "404 NOT_FOUND");

        here.change("sessions/end-others", json!({})).await;
        assert_eq!(third.account().await.verdict(), "401 UNAUTHENTICATED");
        assert_eq!(here.account().await.json()["sessions"].as_array().unwrap().len(), 1);
        assert_eq!(eve.account().await.status, StatusCode::OK, "others' are none of theirs");
    }

    async fn own_session_is_listed_beside_many_newer_ones(engine) {
        let world = World::new(engine).await;
        world.owner("olga@example.org").await;
        let browser = world.browser();
        browser.run_site("olga@example.org", PASSWORD).await;
        let own = session(&browser.account().await.json());
        let write = world.app.kit.store.catalog().write_with(own.clone(), |tx, own| {
            boxed!({
                let sql = "select person, site, created, expires from stoa.person_session where id = $1";
                let read = |row: &stoa_store::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?));
                let (person, site, created, expires): (String, String, i64, i64) =
                    tx.row(sql, &params![own], read).await?.unwrap();
                let sql = "insert into stoa.person_session (id, hash, person, site, created, expires) \
                           values ($1, $2, $3, $4, $5, $6)";
                for n in 1..=120_i64 {
                    let values = params![format!("newer {n}"), n.to_be_bytes().to_vec(), &person, &site, created + n, expires];
                    tx.execute(sql, &values).await?;
                }
                Ok(())
            })
        });
        write.await.unwrap();
        let account = browser.account().await.json();
        let sessions = account["sessions"].as_array().unwrap();
        assert_eq!((sessions.len(), &sessions[0]["id"]), (100, &json!(own)));
        assert_eq!(sessions.iter().filter(|it| it["isCurrent"] == true).count(), 1);
        assert_eq!(sessions[1]["id"], "newer 120", "then the latest");
    }

    async fn page_of_owners_is_asked_by_itself_alone(engine) {
        let world = World::new(engine).await;
        world.owner("olga@example.org").await;
        let browser = world.browser();
        assert_eq!(browser.account().await.verdict(), "401 UNAUTHENTICATED");
        browser.run_site("olga@example.org", PASSWORD).await;
        for (method, path, body) in [
            (Method::GET, "", None),
            (Method::POST, "/password", Some(json!({ "old": PASSWORD, "password": NEW }))),
            (Method::POST, "/sessions/end-others", Some(json!({}))),
        ] {
            let cross = [("sec-fetch-site", "cross-site"), ("content-type", "application/json")];
            let reply = browser.send(method, &format!("{ACCOUNT}{path}"), &cross, body.as_ref()).await;
            assert_eq!(reply.verdict(), "403 PERMISSION_DENIED", "{path}");
        }
        let plain = [("sec-fetch-site", "same-origin"), ("content-type", "text/plain")];
        let reply = browser.send(Method::POST, &format!("{ACCOUNT}/sessions/end-others"), &plain, Some(&json!({}))).await;
        assert_eq!(reply.status, StatusCode::BAD_REQUEST);
    }
}
