//! Notices to members about their account, and the timing of what strangers ask.

use crate::account::{PASSWORD, World, text};
use serde_json::json;
use stoa_kernel::Email;
use stoa_sql::params;
use stoa_store::{ReaderPool, boxed};
use stoa_testkit::on_both_engines;

on_both_engines! {
    async fn notice_is_sent_for_new_browsers_only(engine) {
        let world = World::new(engine).await;
        world.register("anna@example.org").await;
        let sign_in = async |browser: &crate::account::Browser<'_>| {
            let token = text(&browser.start(json!({ "kind": "SIGN_IN" })).await["token"]);
            let input = json!({ "type": "SIGN_IN", "email": "anna@example.org", "password": PASSWORD });
            assert_eq!(browser.answer(&token, input).await["step"]["type"], "DONE");
        };
        let home = world.browser();
        sign_in(&home).await;
        assert!(home.has("stoa-device"));
        assert!(world.app.mail.take().is_empty(), "the first browser is no news");
        let away = world.browser();
        sign_in(&away).await;
        let mails = world.app.mail.take();
        assert_eq!((mails.len(), mails[0].subject.as_str()), (1, "New sign-in to Test"));
        assert!(mails[0].links[0].starts_with("http://localhost/account/recover?clientId="), "{:?}", mails[0].links);
        sign_in(&home).await;
        sign_in(&away).await;
        assert!(world.app.mail.take().is_empty(), "both are known now");
        // Another member's cookie is not known for this one.
        world.register("bob@example.org").await;
        let token = text(&home.start(json!({ "kind": "SIGN_IN" })).await["token"]);
        let input = json!({ "type": "SIGN_IN", "email": "bob@example.org", "password": PASSWORD });
        home.answer(&token, input).await;
        assert!(world.app.mail.take().is_empty(), "Bob's first");
    }

    async fn browser_that_a_recovery_has_forgotten_is_news(engine) {
        let world = World::new(engine).await;
        world.register("anna@example.org").await;
        let new_password = "another long phrase";
        let sign_in = async |browser: &crate::account::Browser<'_>, password: &str| {
            let token = text(&browser.start(json!({ "kind": "SIGN_IN" })).await["token"]);
            let input = json!({ "type": "SIGN_IN", "email": "anna@example.org", "password": password });
            assert_eq!(browser.answer(&token, input).await["step"]["type"], "DONE");
            world.app.mail.take().iter().map(|it| it.subject.clone()).collect::<Vec<_>>()
        };
        let (home, thief) = (world.browser(), world.browser());
        assert!(sign_in(&home, PASSWORD).await.is_empty());
        assert_eq!(sign_in(&thief, PASSWORD).await, ["New sign-in to Test"]);
        let body = json!({ "recoveryToken": world.recovery_link("anna@example.org").await, "password": new_password });
        assert_eq!(world.call(&world.visitor().await, "/v1/recover", &body).await.verdict(), "200");
        world.app.mail.take();
        // Whoever knows the new password: none of the browsers of before is known any more.
        assert_eq!(sign_in(&thief, new_password).await, ["New sign-in to Test"]);
        assert_eq!(sign_in(&home, new_password).await, ["New sign-in to Test"]);
        assert!(sign_in(&home, new_password).await.is_empty());
        // So it is where those who run the site end all sessions.
        let (identity, site) = (&world.app.app.identity, &world.app.site);
        let anna = identity.member_by_email(site, &Email::parse("anna@example.org").unwrap()).await.unwrap().unwrap().id;
        let operator = stoa_kernel::Caller::App { id: "k".into() };
        identity.member_block(site, &operator, &anna).await.unwrap();
        identity.member_unblock(site, &operator, &anna).await.unwrap();
        world.app.mail.take();
        assert_eq!(sign_in(&home, new_password).await, ["New sign-in to Test"]);
    }

    async fn notices_are_sent_for_changes(engine) {
        let world = World::new(engine).await;
        let browser = world.browser();
        let tokens = world.member(&browser, "anna@example.org").await;
        world.app.mail.take();
        let access = text(&tokens["access_token"]);
        let change = json!({ "newPassword": "another long phrase" });
        assert_eq!(world.call(&access, "/v2/change-password", &change).await.verdict(), "200");
        let mails = world.app.mail.take();
        assert_eq!((mails.len(), mails[0].subject.as_str()), (1, "Your password for Test was changed"));
        assert_eq!((mails[0].to.as_str(), mails[0].links.len()), ("anna@example.org", 1));

        // The address of an account in use is proven later.
        let login = json!({ "loginId": { "email": "anna@example.org" }, "password": "another long phrase" });
        let member = world.call(&world.visitor().await, "/v2/login", &login).await.json();
        let start = json!({ "identityId": member["identity"]["id"], "target": "EMAIL" });
        let started = world.app.app().post("/v1/start", &start).await.json();
        let code = world.app.code_to("anna@example.org").await;
        let verify = json!({ "code": code, "stateToken": started["verificationId"] });
        assert_eq!(world.call(&world.visitor().await, "/v1/auth/verify", &verify).await.verdict(), "200");
        assert_eq!(world.app.mail.last_to("anna@example.org").unwrap().subject, "Your address for Test is confirmed");
    }

    async fn first_password_sends_no_notice_and_keeps_its_locale(engine) {
        let world = World::new(engine).await;
        let made = world.app.app().post("/members/v1/members", &json!({ "member": { "loginEmail": "anna@example.org" } })).await;
        let id = text(&made.json()["member"]["id"]);
        let ask = json!({ "identityId": id, "emailOptions": { "language": "de" } });
        assert_eq!(world.app.app().post("/v1/activation-email", &ask).await.verdict(), "200");
        let mail = world.app.mail.take().remove(0);
        assert_eq!(mail.subject, "Ihr Konto bei Test");
        let set = async |link: &str, password: &str| {
            let body = json!({ "recoveryToken": link.split_once("token=").unwrap().1, "password": password });
            assert_eq!(world.call(&world.visitor().await, "/v1/recover", &body).await.json()["state"], "SUCCESS");
        };
        set(&mail.links[0], PASSWORD).await;
        assert!(world.app.mail.take().is_empty(), "nobody had a password to change");
        // Nothing is asked for now: what they get later is in the language of the first message.
        assert_eq!(world.call(&world.visitor().await, "/v1/send-email", &json!({ "email": "anna@example.org" })).await.verdict(), "200");
        let link = world.link_to("anna@example.org").await.unwrap();
        set(&link, "another long phrase").await;
        assert_eq!(world.app.mail.last_to("anna@example.org").unwrap().subject, "Ihr Passwort für Test wurde geändert");
    }

    async fn locale_falls_back_to_the_members_own(engine) {
        let world = World::new(engine).await;
        let body = json!({ "loginId": { "email": "anna@example.org" }, "password": PASSWORD, "profile": { "language": "de" } });
        world.call(&world.visitor().await, "/v2/register", &body).await;
        for (asked, subject) in [("sv", "Ein neues Passwort für Test"), ("fr", "Un nouveau mot de passe pour Test")] {
            let ask = json!({ "email": "anna@example.org", "language": asked });
            assert_eq!(world.call(&world.visitor().await, "/v1/send-email", &ask).await.verdict(), "200");
            world.link_to("anna@example.org").await.unwrap();
            assert_eq!(world.app.mail.take().pop().unwrap().subject, subject, "{asked}");
        }
    }

    async fn link_request_costs_the_same_for_every_address(engine) {
        // The request writes one sealed row whatever address is asked about; nothing else tells them apart.
        let world = World::new(engine).await;
        world.register("anna@example.org").await;
        let visitor = world.visitor().await;
        let rows = async || {
            let site = world.app.site.clone();
            site.read(ReaderPool::Point, |tx| boxed!({
                let sql = "select count(*) from stoa.link where purpose = $1";
                Ok(tx.row(sql, &params!["recovery"], |row| row.get::<i64>(0)).await?.unwrap_or(0))
            })).await.unwrap()
        };
        for email in ["anna@example.org", "nobody@example.org"] {
            let reply = world.call(&visitor, "/v1/send-email", &json!({ "email": email })).await;
            assert_eq!((reply.verdict().as_str(), reply.body.as_ref()), ("200", b"{}".as_slice()));
        }
        for _ in 0..1_500 {
            if rows().await == 1 {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        assert_eq!(rows().await, 1);
        assert!(world.app.mail.last_to("nobody@example.org").is_none());
    }
}
