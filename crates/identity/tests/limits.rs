//! What the operator of the server sets of attempts, waits and lives takes effect, on both engines.

#![allow(clippy::unwrap_used, reason = "a test that can't be set up has failed")]

mod common;

use common::*;
use std::net::{IpAddr, Ipv4Addr};
use stoa_identity::{Config, Identity, IdentityLimits};
use stoa_kernel::{Code, Result, Secret};
use stoa_testkit::{Engine, local_reach, on_both_engines};

const SECOND: i64 = 1_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;

fn machine(n: u8) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(203, 0, 113, n))
}

fn configured(limits: &IdentityLimits) -> Config {
    Config { password: config().password, ..Config::from(limits) }
}

async fn kit(engine: Engine, limits: IdentityLimits) -> Kit {
    Kit::with(engine, configured(&limits)).await
}

fn code_of<T>(result: Result<T>) -> Option<Code> {
    result.err().map(|it| it.code())
}

async fn guess(kit: &Kit, from: IpAddr, email: &str, password: &str) -> Option<Code> {
    code_of(kit.identity.member_login(&kit.site, &attempt_from(from), email, &Secret::new(password)).await)
}

on_both_engines! {
    async fn attempts_at_an_account(engine) {
        let kit = kit(engine, IdentityLimits { account_burst: 3, account_per_hour: 60, ..IdentityLimits::default() }).await;
        kit.register("ada@example.org").await.unwrap();
        let try_it = async |from| guess(&kit, from, "ada@example.org", "a guess").await;
        for _ in 0..3 {
            assert_eq!(try_it(machine(1)).await, Some(Code::PasswordWrong));
        }
        assert_eq!(try_it(machine(1)).await, Some(Code::Throttled));
        assert_eq!(try_it(machine(2)).await, Some(Code::PasswordWrong), "another address");
        kit.base.clock.advance(MINUTE - 1);
        assert_eq!(try_it(machine(1)).await, Some(Code::Throttled));
        kit.base.clock.advance(1);
        assert_eq!(try_it(machine(1)).await, Some(Code::PasswordWrong));
    }

    async fn registrations_from_an_address_and_at_a_site(engine) {
        let limits = IdentityLimits { registration_burst: 2, site_registration_burst: 3, ..IdentityLimits::default() };
        let kit = kit(engine, limits).await;
        let register = async |from, n: u8| {
            let who = registration(&format!("a{n}@example.org"), PASSWORD);
            code_of(kit.identity.member_register(&kit.site, &attempt_from(machine(from)), &who).await)
        };
        assert_eq!([register(1, 1).await, register(1, 2).await], [None, None]);
        assert_eq!(register(1, 3).await, Some(Code::Throttled), "the address");
        assert_eq!(register(2, 4).await, None);
        assert_eq!(register(3, 5).await, Some(Code::Throttled), "the site");
    }

    async fn waits_at_an_account(engine) {
        let limits = IdentityLimits {
            lockout_free: 2,
            lockout_first: 10 * SECOND,
            lockout_longest: 15 * SECOND,
            lockout_forgotten: HOUR,
            ..IdentityLimits::default()
        };
        let kit = kit(engine, limits).await;
        kit.register("ada@example.org").await.unwrap();
        let try_it = async |n, password: &str| guess(&kit, machine(n), "ada@example.org", password).await;
        for n in 0..2 {
            assert_eq!(try_it(n, "a guess").await, Some(Code::PasswordWrong));
        }
        for (n, wait) in [10 * SECOND, 15 * SECOND, 15 * SECOND].into_iter().enumerate() {
            kit.base.clock.advance(wait - 1);
            assert_eq!(try_it(10, PASSWORD).await, Some(Code::Throttled), "before {wait}");
            kit.base.clock.advance(1);
            assert_eq!(try_it(20 + n as u8, "a guess").await, Some(Code::PasswordWrong), "after {wait}");
        }
        kit.base.clock.advance(10 * HOUR);
        assert_eq!(try_it(30, PASSWORD).await, None, "all is forgotten");
    }

    async fn lives_of_tokens_and_codes(engine) {
        let limits = IdentityLimits {
            access_life: 5 * MINUTE,
            access_grace: 10 * SECOND,
            session_token_life: 20 * SECOND,
            code_life: 30 * SECOND,
            ..IdentityLimits::default()
        };
        let kit = kit(engine, limits).await;
        let visitor = kit.visitor().await;
        assert_eq!(visitor.expires_in, 300, "what the client is told");
        kit.base.clock.advance(5 * MINUTE + 9 * SECOND);
        assert!(kit.caller(&visitor.access_token).await.is_ok());
        kit.base.clock.advance(SECOND);
        assert_eq!(code_of(kit.caller(&visitor.access_token).await), Some(Code::Unauthenticated));

        let token = success(kit.register("ada@example.org").await.unwrap());
        let late = success(kit.login("ada@example.org", PASSWORD).await.unwrap());
        kit.base.clock.advance(19 * SECOND);
        let (session, _) = kit.browser_session(&token).await.unwrap();
        kit.base.clock.advance(SECOND);
        assert!(kit.browser_session(&late).await.is_none());

        let challenge = || Some(stoa_identity::oauth::pkce::challenge_of(VERIFIER));
        let [code, late] = [kit.code(&session, Some(REDIRECT), challenge()).await, kit.code(&session, Some(REDIRECT), challenge()).await];
        let exchange = async |code: &str| code_of(kit.identity.token_grant(&kit.code_request(code), None).await);
        kit.base.clock.advance(29 * SECOND);
        assert_eq!(exchange(&code).await, None);
        kit.base.clock.advance(SECOND);
        assert_eq!(exchange(&late).await, Some(Code::OauthInvalidGrant));
    }

    async fn lives_of_sessions(engine) {
        let kit = kit(engine, IdentityLimits { session_life: 10 * HOUR, session_idle: 4 * HOUR, ..IdentityLimits::default() }).await;
        let (tokens, ..) = kit.member("ada@example.org").await;
        let refresh = tokens.refresh_token.unwrap();
        for _ in 0..3 {
            kit.base.clock.advance(3 * HOUR);
            assert!(kit.refresh(&refresh).await.is_ok(), "used within the idle time");
        }
        kit.base.clock.advance(HOUR);
        assert_eq!(code_of(kit.refresh(&refresh).await), Some(Code::OauthInvalidGrant), "its life is over");
        let (tokens, ..) = kit.member("bob@example.org").await;
        kit.base.clock.advance(4 * HOUR);
        assert_eq!(code_of(kit.refresh(&tokens.refresh_token.unwrap()).await), Some(Code::OauthInvalidGrant), "idle");
    }

    async fn shorter_life_holds_for_tokens_issued_before(engine) {
        let kit = kit(engine, IdentityLimits::default()).await;
        let (tokens, session, _) = kit.member("ada@example.org").await;
        let visitor = kit.visitor().await.access_token;
        let lower = IdentityLimits { access_life: 10 * MINUTE, access_grace: 0, ..IdentityLimits::default() };
        let (store, world) = (kit.base.store.clone(), kit.base.world.clone());
        let again = Identity::open(store, world, kit.mail.clone(), local_reach(), configured(&lower)).await.unwrap();
        let accepts = async |token: &str| again.authenticate(Some(token), None).await.is_ok();
        assert!(accepts(&tokens.access_token).await && accepts(&visitor).await);
        again.session_end(&kit.site, &session.root).await.unwrap();
        assert!(!accepts(&tokens.access_token).await);
        kit.base.clock.advance(10 * MINUTE - 1);
        assert!(accepts(&visitor).await);
        // It is as old as tokens get, and none the better for a longer life later.
        kit.base.clock.advance(HOUR);
        again.retention_run_catalog().await;
        let (store, world) = (kit.base.store.clone(), kit.base.world.clone());
        let later = Identity::open(store, world, kit.mail.clone(), local_reach(), configured(&lower)).await.unwrap();
        assert!(later.authenticate(Some(&tokens.access_token), None).await.is_err());
        assert!(!accepts(&visitor).await);
        let (store, world) = (kit.base.store.clone(), kit.base.world.clone());
        let longer = Identity::open(store, world, kit.mail.clone(), local_reach(), configured(&IdentityLimits::default())).await.unwrap();
        assert!(longer.authenticate(Some(&visitor), None).await.is_ok());
        assert!(longer.authenticate(Some(&tokens.access_token), None).await.is_err(), "it was revoked");
    }
}
