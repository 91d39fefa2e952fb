//! Members for whom an app vouches: whose password is dropped, and whose stays, on both engines.

#![allow(clippy::unwrap_used, reason = "a test that can't be set up has failed")]

mod common;

use common::*;
use serde_json::json;
use stoa_identity::sign_in::SignOn;
use stoa_kernel::{Caller, Code, Result, Secret};
use stoa_testkit::on_both_engines;

const EVE: &str = "eve@example.org";
const NEW: &str = "quite another phrase";

fn app() -> Caller {
    Caller::App { id: "key".into() }
}

fn code_of<T>(result: Result<T>) -> Option<Code> {
    result.err().map(|it| it.code())
}

impl Kit {
    /// Signs on an address of which the app says nothing; answers the caller of a session so begun.
    async fn sign_on(&self, email: &str) -> Caller {
        self.caller(&self.signed_on(email).await).await.unwrap()
    }

    /// The same: the session's access token.
    async fn signed_on(&self, email: &str) -> String {
        let sign_on = SignOn { email: email.to_owned(), profile: json!(null), verify_email: false };
        let (_, token) = self.identity.member_sign_on(&self.site, &app(), None, &sign_on).await.unwrap();
        let (session, _) = self.browser_session(token.expose()).await.unwrap();
        self.exchange(&session).await.unwrap().access_token
    }

    async fn change(&self, caller: &Caller, password: &str) -> Option<Code> {
        let from = attempt().address;
        code_of(self.identity.password_change(&self.site, caller, from, &Secret::new(password)).await)
    }

    /// How many messages tell of a dropped password.
    fn told(&self) -> usize {
        self.mail.take().iter().filter(|it| it.to == EVE && it.subject == "Your password for Test was removed").count()
    }
}

on_both_engines! {
    async fn password_set_after_an_app_vouched_stays(engine) {
        let kit = Kit::new(engine).await;
        kit.register(EVE).await.unwrap();
        let eve = kit.sign_on(EVE).await;
        assert_eq!(code_of(kit.login(EVE, PASSWORD).await), Some(Code::PasswordWrong), "another person may have set it");
        assert_eq!(kit.told(), 1);
        assert_eq!(kit.change(&eve, NEW).await, None);
        kit.mail.take();
        for _ in 0..3 {
            kit.sign_on("EVE@example.org").await;
            assert_eq!(code_of(kit.login(EVE, NEW).await), None, "it is the owner's");
        }
        assert_eq!(kit.told(), 0);
        assert_eq!(kit.change(&eve, "a third phrase now").await, None, "and so are the sessions");

        // One whom the app made had no password to lose.
        let bob = kit.sign_on("bob@example.org").await;
        assert_eq!(kit.change(&bob, NEW).await, None);
        kit.sign_on("bob@example.org").await;
        assert_eq!(code_of(kit.login("bob@example.org", NEW).await), None);
    }

    async fn password_is_dropped_again_for_another_address(engine) {
        let kit = Kit::new(engine).await;
        let eve = kit.sign_on("old@example.org").await;
        assert_eq!(kit.change(&eve, NEW).await, None);
        let Caller::Member { id, .. } = &eve else { panic!("a member") };
        kit.identity.member_change_email(&kit.site, &app(), id, EVE).await.unwrap();
        assert_eq!(code_of(kit.login(EVE, NEW).await), None);
        kit.sign_on(EVE).await;
        assert_eq!(code_of(kit.login(EVE, NEW).await), Some(Code::PasswordWrong), "no one vouched for this address before");
        assert_eq!(kit.told(), 1);
    }

    async fn session_that_has_ended_ends_no_newer_one(engine) {
        let kit = Kit::new(engine).await;
        let (tokens, ..) = kit.member(EVE).await;
        let squatter = kit.caller(&tokens.access_token).await.unwrap();
        let owner = kit.signed_on(EVE).await;
        // Its call was let in before the session ended.
        assert_eq!(kit.change(&squatter, NEW).await, Some(Code::Unauthenticated));
        assert!(kit.caller(&owner).await.is_ok());
    }

    /// Who was there first sets a password again and again at the moment at which the app vouches for the owner.
    async fn sessions_of_another_person_set_no_password(engine) {
        let kit = Kit::new(engine).await;
        let (tokens, ..) = kit.member(EVE).await;
        let squatter = kit.caller(&tokens.access_token).await.unwrap();
        let mut crowd = tokio::task::JoinSet::new();
        for n in 0..20 {
            let (identity, site, squatter) = (kit.identity.clone(), kit.site.clone(), squatter.clone());
            crowd.spawn(async move {
                let password = Secret::new(format!("phrase of a squatter {n}"));
                let _ = identity.password_change(&site, &squatter, attempt().address, &password).await;
            });
        }
        let owner = kit.sign_on(EVE).await;
        while crowd.join_next().await.is_some() {}
        let member = kit.identity.member_by_email(&kit.site, &stoa_kernel::Email::parse(EVE).unwrap()).await.unwrap();
        assert!(!member.unwrap().has_password());
        // Passwords are counted by account: what was tried is forgotten after an hour.
        kit.base.clock.advance(60 * 60_000);
        assert_eq!(kit.change(&squatter, "another phrase of theirs").await, Some(Code::Unauthenticated));
        assert_eq!(kit.change(&owner, NEW).await, None);
        kit.sign_on(EVE).await;
        assert_eq!(code_of(kit.login(EVE, NEW).await), None);
    }
}
