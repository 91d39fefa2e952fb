//! Addresses of people and of their pictures: which are the same, which lead nowhere bad, and what an upgrade makes of
//! those that are stored.

use crate::members_api::{MEMBERS, id_of};
use serde_json::{Value, json};
use std::time::Duration;
use stoa_kernel::{Email, SiteId};
use stoa_sql::params;
use stoa_store::{ReaderPool, SiteChange, Store, boxed};
use stoa_testkit::{TestApp, TestStore, on_both_engines};

const PASSWORD: &str = "correct horse battery";
/// With the Kelvin sign and with a long s.
const LOOKALIKES: [(&str, &str); 3] = [
    ("\u{212a}aren@example.org", "karen@example.org"),
    ("\u{17f}mith@example.org", "smith@example.org"),
    ("nico\u{3c2}@example.org", "nico\u{3c3}@example.org"),
];

async fn register(app: &TestApp, email: &str) -> Value {
    let body = json!({ "loginId": { "email": email }, "password": PASSWORD });
    let reply = app.visitor().await.post("/v2/register", &body).await;
    assert_eq!(reply.verdict(), "200", "{email}");
    reply.json()["identity"].clone()
}

on_both_engines! {
    async fn addresses_that_look_alike_are_two(engine) {
        let app = TestApp::new(engine).await;
        for (odd, plain) in LOOKALIKES {
            let known = register(&app, plain).await;
            // Nothing of one is sent for the other, and no app signs one on as the other.
            let visitor = app.visitor().await;
            assert_eq!(visitor.post("/v1/send-email", &json!({ "email": odd })).await.verdict(), "200");
            tokio::time::sleep(Duration::from_millis(100)).await;
            assert!(app.mail.take().is_empty(), "{odd}");
            let sign_on = json!({ "loginId": { "email": odd }, "verifyEmail": true });
            let signed = app.app().post("/v2/sign-on", &sign_on).await.json();
            assert_ne!(signed["identity"]["id"], known["id"], "{odd}");
            let login = json!({ "loginId": { "email": odd }, "password": PASSWORD });
            assert_eq!(visitor.post("/v2/login", &login).await.verdict(), "401 -19976", "{odd}");
            // The case of A to Z does not count, as before.
            let login = json!({ "loginId": { "email": plain.to_ascii_uppercase() }, "password": PASSWORD });
            assert_eq!(visitor.post("/v2/login", &login).await.json()["identity"]["id"], known["id"]);
            for (email, id) in [(odd, &signed["identity"]["id"]), (plain, &known["id"])] {
                let query = json!({ "query": { "filter": { "loginEmail": { "$startsWith": email } } } });
                let found = app.app().post(&format!("{MEMBERS}/query"), &query).await.json();
                assert_eq!(found["members"].as_array().unwrap().len(), 1, "{email}: {found}");
                assert_eq!(&found["members"][0]["id"], id);
            }
        }
    }

    async fn stored_addresses_are_folded_again_by_an_upgrade(engine) {
        let kit = TestStore::new(engine).await;
        let site = kit.store.site_create("Test", &kit.world).await.unwrap();
        let id = site.id.clone();
        // As a program before folded them.
        let rows = [
            ("1", "\u{212a}aren@example.org", "karen@example.org"),
            ("2", "Smith@Example.org", "smith@example.org"),
            ("3", "\u{dc}nal@example.org", "\u{fc}nal@example.org"),
        ];
        let old = site.write_with(id.clone(), move |tx, site| boxed!({
            for (id, email, folded) in rows {
                let sql = "insert into stoa.member (site, id, email, email_folded, email_verified, status, pending_email, \
                           pending_approval, profile, revision, created, updated) \
                           values ($1, $2, $3, $4, $5, 'ACTIVE', $5, $5, '{}', 1, 1, 1)";
                tx.execute(sql, &params![&*site, id, email, folded, false]).await?;
            }
            tx.execute("alter table stoa.member drop column vouched_email", &[]).await?;
            tx.execute("delete from stoa.migration where name = 'site/0015_address'", &[]).await?;
            Ok(())
        }));
        old.await.unwrap();
        let old = kit.store.catalog().write(move |tx| boxed!({
            for (id, email, folded) in rows {
                let sql = "insert into stoa.person (id, email, email_folded, created) values ($1, $2, $3, 1)";
                tx.execute(sql, &params![id, email, folded]).await?;
            }
            tx.execute("drop table stoa.person_link", &[]).await?;
            tx.execute("delete from stoa.migration where name like 'catalog/%_person'", &[]).await?;
            Ok(())
        }));
        old.await.unwrap();
        drop(site);
        let (config, _guards) = kit.close();
        let store = Store::open(&config).await.unwrap();
        let site = store.site(&SiteId::from(id.as_str())).await.unwrap();
        let wanted: Vec<String> = rows.iter().map(|it| Email::parse(it.1).unwrap().folded().to_owned()).collect();
        let members = site.read(ReaderPool::Point, |tx| boxed!({
            Ok(tx.rows("select email_folded from stoa.member order by id", &[], |row| row.get::<String>(0)).await?)
        }));
        assert_eq!(members.await.unwrap(), wanted);
        let people = store.catalog().read(ReaderPool::Point, |tx| boxed!({
            Ok(tx.rows("select email_folded from stoa.person order by id", &[], |row| row.get::<String>(0)).await?)
        }));
        assert_eq!(people.await.unwrap(), wanted);
    }

    async fn pictures_lead_to_the_web_only(engine) {
        let app = TestApp::new(engine).await;
        let visitor = app.visitor().await;
        for bad in ["javascript:alert(1)", "JAVASCRIPT:alert(1)", " javascript:alert(1)", "data:text/html,x", "//a.example/p"] {
            let profile = json!({ "picture": bad });
            let body = json!({ "loginId": { "email": "eve@example.org" }, "password": PASSWORD, "profile": profile });
            let reply = visitor.post("/v2/register", &body).await;
            assert_eq!(reply.verdict(), "400 validationError", "{bad}");
            let violation = reply.json()["details"]["validationError"]["fieldViolations"][0].clone();
            assert_eq!(violation["field"], "profile.picture", "{bad}");
            let sign_on = json!({ "loginId": { "email": "eve@example.org" }, "profile": profile });
            assert_eq!(app.app().post("/v2/sign-on", &sign_on).await.verdict(), "400 validationError", "{bad}");
        }
        // What was stored before is shown to no one, and writing back what was read is no mistake.
        let ada = app.member("ada@example.org").await;
        let id = id_of(&ada).await;
        let stored = app.site.write_with(app.site.id.clone(), |tx, site| boxed!({
            let sql = "update stoa.member set profile = $1, card = $2, privacy = 'PUBLIC' where site = $3";
            let profile = r#"{"picture":"javascript:alert(1)","nickname":"ada"}"#;
            let card = r#"{"photo":{"id":"p","url":"javascript:alert(2)"},"cover":{"id":"c","url":"javascript:alert(3)"}}"#;
            tx.execute(sql, &params![profile, card, site]).await?;
            Ok(())
        }));
        stored.await.unwrap();
        let shown = app.visitor().await.get(&format!("{MEMBERS}/{id}?fieldsets=FULL")).await.json();
        let shown_to_all = [shown, app.app().get(&format!("{MEMBERS}/{id}?fieldsets=FULL")).await.json(),
            ada.get("/oauth2/user-info").await.json()];
        for shown in &shown_to_all {
            assert!(!shown.to_string().contains("javascript"), "{shown}");
        }
        let member = &shown_to_all[1]["member"];
        assert_eq!((&member["profile"]["photo"], &member["profile"]["cover"]), (&json!({ "id": "p" }), &json!({ "id": "c" })));
        let login = json!({ "loginId": { "email": "ada@example.org" }, "password": PASSWORD });
        let login = visitor.post("/v2/login", &login).await.json();
        assert_eq!(login["identity"]["identityProfile"], json!({ "nickname": "ada" }));
        let back = json!({ "member": { "profile": member["profile"] } });
        assert_eq!(crate::members_api::patch(&ada, &format!("{MEMBERS}/{id}"), &back).await.verdict(), "200");
    }

    async fn password_is_none_of_the_words_around_it(engine) {
        let app = TestApp::new(engine).await;
        let hosts = SiteChange { add_hosts: vec!["gruener-markt.example".to_owned()], ..SiteChange::default() };
        app.kit.store.site_update(&app.site.id, hosts, app.kit.world.now()).await.unwrap();
        let visitor = app.visitor().await;
        let names = json!({ "firstName": "Karoline", "lastName": "Grünspecht", "nickname": "specht" });
        let body = |password: &str| json!({ "loginId": { "email": "k.gruen@mail.example.org" }, "password": password, "profile": names });
        let refused = async |path: &str, body: &Value, client: &stoa_testkit::TestClient<'_>| {
            let reply = client.post(path, body).await;
            (reply.status != 200).then(|| {
                reply.json()["details"]["validationError"]["fieldViolations"][0]["ruleName"].as_str().unwrap().to_owned()
            })
        };
        for password in [
            "k.gruen@mail.example.org", "K.GRUEN@MAIL.EXAMPLE.ORG", "mail.example.org", "karoline1", "Grünspecht2026",
            "SpechtSpecht", "gruener-markt.example", "gruener.markt!", "localhost2026",
        ] {
            assert_eq!(refused("/v2/register", &body(password), &visitor).await.as_deref(), Some("CONTEXT_PASSWORD"), "{password}");
        }
        // Some of the lists: 560 passwords were known before.
        for password in ["letmein123", "whatever1", "chocolate1", "international", "Christopher", "  football1 "] {
            assert_eq!(refused("/v2/register", &body(password), &visitor).await.as_deref(), Some("COMMON_PASSWORD"), "{password}");
        }
        assert_eq!(refused("/v2/register", &body(PASSWORD), &visitor).await, None);
        let ada = app.member("ada.lovelace@example.org").await;
        for password in ["ada.lovelace@example.org", "lovelace1815", "lovelacelovelace"] {
            let change = json!({ "newPassword": password });
            assert_eq!(refused("/v2/change-password", &change, &ada).await.as_deref(), Some("CONTEXT_PASSWORD"), "{password}");
        }
        let change = json!({ "newPassword": "correct lovelace battery" });
        assert_eq!(refused("/v2/change-password", &change, &ada).await, None);
    }
}
