//! However sessions end, their tokens are refused first, and what ends them is one transaction: a crash in between
//! refuses too much, not too little.

#![allow(clippy::unwrap_used, reason = "a test that can't be set up has failed")]

mod common;

use common::{
    statements::{self, DONE, TURN},
    *,
};
use serde_json::json;
use stoa_identity::{
    oauth::{pkce, rotation::GRACE},
    sign_in::SignOn,
};
use stoa_kernel::{Caller, Code, MemberId, Secret};
use stoa_testkit::on_both_engines;

/// The statements of an operation that ends sessions of members, of which each must be refused before it is ended.
async fn ends(what: &str, operation: impl Future<Output = ()>) {
    DONE.lock().unwrap().clear();
    operation.await;
    let done = std::mem::take(&mut *DONE.lock().unwrap());
    let places = |it: &str| {
        let is_one = |(n, text): (usize, &String)| text.starts_with(it).then_some(n);
        done.iter().enumerate().filter_map(is_one).collect::<Vec<_>>()
    };
    let (refused, ended) = (places("insert into stoa.revocation"), places("update stoa.session set ended"));
    assert!(!refused.is_empty() && ended.len() == 1, "{what}: {done:#?}");
    assert!(refused.iter().all(|it| *it < ended[0]), "{what}: {done:#?}");
}

on_both_engines! {
    async fn sessions_are_refused_and_then_ended_once(engine) {
        let _turn = TURN.lock().await;
        statements::listen();
        let kit = Kit::new(engine).await;
        let (identity, site) = (&kit.identity, &kit.site);
        let app = Caller::App { id: "key".into() };

        let (tokens, browser, _) = kit.member("ada@example.org").await;
        let caller = kit.caller(&tokens.access_token).await.unwrap();
        let (other, _) = kit.browser_session(&success(kit.login("ada@example.org", PASSWORD).await.unwrap())).await.unwrap();
        let new = Secret::new("quite another phrase");
        ends("a new password", async { identity.password_change(site, &caller, attempt().address, &new).await.unwrap() }).await;
        assert!(kit.caller(&tokens.access_token).await.is_ok(), "the caller's own stays");
        assert_ne!(other.root, browser.root);
        ends("a refused password", async { identity.password_refuse(site, &app, &browser.member).await.unwrap() }).await;
        assert_eq!(kit.caller(&tokens.access_token).await.unwrap_err().code(), Code::Unauthenticated);
        let nobody = identity.password_refuse(site, &app, &MemberId::from("nobody")).await;
        assert_eq!(nobody.unwrap_err().code(), Code::NotFound);

        let (tokens, browser, _) = kit.member("bob@example.org").await;
        ends("a block", async { drop(identity.member_block(site, &app, &browser.member).await.unwrap()) }).await;
        assert_eq!(kit.caller(&tokens.access_token).await.unwrap_err().code(), Code::Unauthenticated);

        kit.member("eve@example.org").await;
        let sign_on = SignOn { email: "eve@example.org".to_owned(), profile: json!(null), verify_email: true };
        ends("a sign-on", async { drop(identity.member_sign_on(site, &app, None, &sign_on).await.unwrap()) }).await;

        let (_, browser, _) = kit.member("kim@example.org").await;
        for _ in 0..47 {
            kit.exchange(&browser).await.unwrap();
        }
        let code = kit.code_that(&browser, Some(REDIRECT), Some(pkce::challenge_of(VERIFIER)), true).await;
        let copied = kit.identity.token_grant(&kit.code_request(&code), None).await.unwrap().refresh_token.unwrap();
        kit.exchange(&browser).await.unwrap();
        ends("one session too many", async { drop(kit.exchange(&browser).await.unwrap()) }).await;
        kit.refresh(&copied).await.unwrap();
        kit.base.clock.advance(GRACE + 1);
        ends("a copy of a refresh token", async { assert!(kit.refresh(&copied).await.is_err()) }).await;
    }
}
