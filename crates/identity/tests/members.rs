//! Registration, login, policy and what is done to an account, on both engines.

#![allow(clippy::unwrap_used, reason = "a test that can't be set up has failed")]

mod common;

use common::*;
use serde_json::json;
use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};
use stoa_identity::{
    Config, Identity,
    defence::throttle::{Rate, ThrottleLimits},
    member::{Audience, MemberQuery, Status},
    password::{Cost, LineLimits},
    policy::{PolicyChange, SignOnPolicy},
    session::NewSession,
    sign_in::Outcome,
    sign_in::{Registration, SignOn},
    token::Kind,
};
use stoa_kernel::{Caller, Code, Result, Role, Secret};
use stoa_outbound::{Letter, Mail, Mailer, Sending, Undelivered};
use stoa_testkit::{local_reach, on_both_engines};
use tokio::sync::Semaphore;

fn code_of<T: std::fmt::Debug>(result: Result<T>) -> Code {
    result.expect_err("refused").code()
}

fn app() -> Caller {
    Caller::App { id: "key".into() }
}

/// A mail server that takes its time.
struct Slow {
    begun: AtomicUsize,
    gate: Semaphore,
}

impl Slow {
    async fn begins(&self, count: usize) -> bool {
        for _ in 0..1500 {
            if self.begun.load(Ordering::SeqCst) >= count {
                return true;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        false
    }
}

impl Mailer for Slow {
    fn send<'a>(&'a self, _: &'a Letter) -> Sending<'a> {
        self.begun.fetch_add(1, Ordering::SeqCst);
        Box::pin(async { self.gate.acquire().await.map(drop).map_err(|it| Undelivered::Later(it.to_string())) })
    }
}

/// A message that is sent after the answer.
async fn mail_to(kit: &Kit, email: &str) -> Option<Mail> {
    for _ in 0..250 {
        if let Some(mail) = kit.mail.last_to(email) {
            return Some(mail);
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    None
}

fn roomy() -> Config {
    let rate = Rate { burst: 10_000.0, per_second: 10_000.0 };
    Config {
        throttle: ThrottleLimits {
            account: rate,
            address: rate,
            registration: rate,
            recovery: rate,
            ..ThrottleLimits::default()
        },
        ..config()
    }
}

on_both_engines! {
    async fn registration_then_login(engine) {
        let kit = Kit::new(engine).await;
        let outcome = kit.register("Ada@Example.org").await.unwrap();
        let json = outcome.to_json();
        assert_eq!(json["state"], "SUCCESS");
        assert!(json["sessionToken"].as_str().is_some_and(|it| it.starts_with(&format!("s{}.", kit.site.number))));
        assert_eq!(json["identity"], json!({
            "id": outcome.member().unwrap().id,
            "revision": "1",
            "createdDate": "2026-01-01T00:00:00.000Z",
            "updatedDate": "2026-01-01T00:00:00.000Z",
            "connections": [],
            "identityProfile": { "firstName": "Ada", "nickname": "ada" },
            "metadata": { "tags": [] },
            "email": { "address": "Ada@Example.org", "isVerified": false },
            "status": { "name": "ACTIVE", "reasons": [] },
            "factors": [{ "factorId": outcome.member().unwrap().id, "type": "PASSWORD", "status": "ACTIVE" }],
        }));
        let login = kit.login(" ada@EXAMPLE.org ", PASSWORD).await.unwrap();
        assert_eq!(login.member().unwrap().id, outcome.member().unwrap().id);
        assert_eq!(code_of(kit.login("ada@example.org", "another long phrase").await), Code::PasswordWrong);
        assert_eq!(code_of(kit.login("ada@example.org", "").await), Code::PasswordWrong);
        assert_eq!(code_of(kit.login("ada@example.org", &"x".repeat(5_000)).await), Code::PasswordWrong);
        assert_eq!(code_of(kit.login("eve@example.org", PASSWORD).await), Code::PasswordWrong);
        assert_eq!(code_of(kit.login("not an address", PASSWORD).await), Code::EmailInvalid);
        assert_eq!(code_of(kit.register("ADA@example.org").await), Code::EmailTaken);
        let (other, _) = kit.other_site().await;
        let there = kit.identity.member_login(&other, &attempt(), "ada@example.org", &Secret::new(PASSWORD)).await;
        assert_eq!(code_of(there), Code::PasswordWrong);
        let there = kit.identity.member_register(&other, &attempt(), &registration("ada@example.org", PASSWORD)).await;
        assert!(there.is_ok(), "addresses are unique in a site only");
    }

    async fn registration_faults_are_all_reported(engine) {
        let kit = Kit::new(engine).await;
        let violations = async |email: &str, password: &str, profile| {
            let registration = Registration { email: email.to_owned(), password: Secret::new(password), profile };
            let fault = kit.identity.member_register(&kit.site, &attempt(), &registration).await.expect_err("refused");
            assert_eq!(fault.code(), Code::Validation);
            let all = fault.violations().iter().map(|it| (it.field.clone(), it.violated_rule, it.data.get("type").cloned()));
            all.collect::<Vec<_>>()
        };
        let email = ("loginId.email".to_owned(), "FORMAT", Some(json!("EMAIL")));
        assert_eq!(violations("nobody", PASSWORD, json!(null)).await, vec![email.clone()]);
        let short = ("password".to_owned(), "MIN_LENGTH", None);
        let name = ("profile.firstName".to_owned(), "FORMAT", None);
        assert_eq!(violations("", "short", json!({ "firstName": 1 })).await, vec![email, short, name]);
        let missing = ("password".to_owned(), "REQUIRED_FIELD", None);
        assert_eq!(violations("a@b.co", "", json!({})).await, vec![missing]);
        let common = ("password".to_owned(), "OTHER", None);
        assert_eq!(violations("a@b.co", "Password123", json!({})).await, vec![common]);
    }

    async fn registration_succeeds_once_of_a_hundred(engine) {
        let hash_line = LineLimits { all: 256, network: 256, account: 256, wait: 60_000 };
        let kit = Kit::with(engine, Config { hash_line, ..roomy() }).await;
        let tries = (0..100).map(|n| {
            let (identity, site) = (kit.identity.clone(), kit.site.clone());
            let email = if n % 2 == 0 { "ada@example.org" } else { "ADA@EXAMPLE.ORG" };
            tokio::spawn(async move {
                identity.member_register(&site, &attempt(), &registration(email, PASSWORD)).await
            })
        });
        let mut good = 0;
        for answer in tries.collect::<Vec<_>>() {
            match answer.await.unwrap() {
                Ok(_) => good += 1,
                Err(fault) => assert_eq!(fault.code(), Code::EmailTaken, "{fault:?}"),
            }
        }
        assert_eq!(good, 1);
        let all = kit.identity.member_query(&kit.site, Audience::Staff, &MemberQuery::default()).await.unwrap();
        assert_eq!(all.total, Some(1));
    }

    async fn approval_comes_before_the_first_sign_in(engine) {
        let kit = Kit::new(engine).await;
        assert_eq!(kit.identity.policy_get(&kit.site, &app()).await.unwrap(), SignOnPolicy::default());
        let change = PolicyChange::parse(&json!({ "signOnPolicy": { "requireOwnerApproval": true } })).unwrap();
        let visitor = Caller::Visitor { id: "v".into(), client: None };
        assert_eq!(code_of(kit.identity.policy_update(&kit.site, &visitor, change.clone()).await), Code::Forbidden);
        assert_eq!(code_of(kit.identity.policy_get(&kit.site, &visitor).await), Code::Forbidden);
        let policy = kit.identity.policy_update(&kit.site, &app(), change).await.unwrap();
        assert_eq!(json!(policy), json!({ "requireOwnerApproval": true, "requireEmailVerification": false }));

        let outcome = kit.register("ada@example.org").await.unwrap();
        let json = outcome.to_json();
        assert_eq!((json["state"].as_str(), json.get("sessionToken")), (Some("REQUIRE_OWNER_APPROVAL"), None));
        let status = json!({ "name": "PENDING", "reasons": ["PENDING_ADMIN_APPROVAL_REQUIRED"] });
        assert_eq!(json["identity"]["status"], status);
        let waiting = kit.login("ada@example.org", PASSWORD).await.unwrap();
        assert!(matches!(waiting, Outcome::RequireOwnerApproval { .. }));
        assert_eq!(code_of(kit.login("ada@example.org", "wrong password").await), Code::PasswordWrong);
        let id = outcome.member().unwrap().id.clone();
        assert_eq!(code_of(kit.identity.member_approve(&kit.site, &visitor, &id).await), Code::Forbidden);
        assert_eq!(kit.identity.member_approve(&kit.site, &app(), &id).await.unwrap().status, Status::Active);
        success(kit.login("ada@example.org", PASSWORD).await.unwrap());
    }

    async fn policy_update_must_be_well_formed(engine) {
        let kit = Kit::new(engine).await;
        for body in [json!({}), json!({ "signOnPolicy": 1 }), json!({ "signOnPolicy": { "requireOwnerApproval": "yes" } })] {
            assert_eq!(code_of(PolicyChange::parse(&body)), Code::Validation, "{body}");
        }
        let both = json!({ "signOnPolicy": { "requireOwnerApproval": true, "requireEmailVerification": true } });
        kit.identity.policy_update(&kit.site, &app(), PolicyChange::parse(&both).unwrap()).await.unwrap();
        let one = json!({ "signOnPolicy": { "requireOwnerApproval": false } });
        let policy = kit.identity.policy_update(&kit.site, &app(), PolicyChange::parse(&one).unwrap()).await.unwrap();
        assert!(policy.require_email_verification && !policy.require_owner_approval);
    }

    async fn verification_comes_before_approval(engine) {
        let kit = Kit::new(engine).await;
        let both = json!({ "signOnPolicy": { "requireOwnerApproval": true, "requireEmailVerification": true } });
        kit.identity.policy_update(&kit.site, &app(), PolicyChange::parse(&both).unwrap()).await.unwrap();
        let json = kit.register("ada@example.org").await.unwrap().to_json();
        assert_eq!(json["state"], "REQUIRE_EMAIL_VERIFICATION");
        assert!(json["stateToken"].as_str().is_some_and(|it| !it.is_empty() && it.len() <= 1_000));
        let reasons = json!(["PENDING_EMAIL_VERIFICATION_REQUIRED", "PENDING_ADMIN_APPROVAL_REQUIRED"]);
        assert_eq!(json["identity"]["status"]["reasons"], reasons);
        let mail = kit.mail.last_to("ada@example.org").unwrap();
        assert_eq!(mail.code.unwrap().len(), 6);
        let login = kit.login("ada@example.org", PASSWORD).await.unwrap();
        assert!(matches!(login, Outcome::RequireEmailVerification { .. }));
    }

    async fn blocked_member_is_out_at_once(engine) {
        let kit = Kit::new(engine).await;
        let (tokens, browser, cookie) = kit.member("ada@example.org").await;
        let pending = success(kit.login("ada@example.org", PASSWORD).await.unwrap());
        let code = kit.code(&browser, Some(REDIRECT), Some(stoa_identity::oauth::pkce::challenge_of(VERIFIER))).await;
        let id = browser.member.clone();
        let member = kit.identity.member_block(&kit.site, &app(), &id).await.unwrap();
        assert_eq!(member.to_json()["status"]["name"], "BLOCKED");
        let refresh = tokens.refresh_token.unwrap();
        assert_eq!(code_of(kit.caller(&tokens.access_token).await), Code::Unauthenticated);
        assert_eq!(code_of(kit.refresh(&refresh).await), Code::OauthInvalidGrant);
        assert!(kit.identity.session_by_cookie(&kit.site, cookie.expose()).await.unwrap().is_none());
        assert_eq!(code_of(kit.identity.token_grant(&kit.code_request(&code), None).await), Code::OauthInvalidGrant);
        assert_eq!(code_of(kit.login("ada@example.org", PASSWORD).await), Code::MemberBlocked);
        assert_eq!(code_of(kit.login("ada@example.org", "wrong password").await), Code::PasswordWrong);
        assert_eq!(code_of(kit.register("ada@example.org").await), Code::EmailTaken);
        assert!(kit.browser_session(&pending).await.is_none());
        let new = NewSession { member: id.clone(), client: None, root: None, visitor: None, scopes: None };
        let created = kit.site.write_with((kit.identity.clone(), kit.site.clone(), new), |tx, (identity, site, new)| {
            stoa_store::boxed!({
                identity.session_create(tx, site, Kind::Cookie, new).await
            })
        });
        assert_eq!(code_of(created.await), Code::MemberBlocked);
        kit.identity.member_unblock(&kit.site, &app(), &id).await.unwrap();
        let token = success(kit.login("ada@example.org", PASSWORD).await.unwrap());
        let (session, _) = kit.browser_session(&token).await.unwrap();
        let fresh = kit.exchange(&session).await.unwrap();
        assert!(kit.caller(&fresh.access_token).await.is_ok());
        assert_eq!(code_of(kit.caller(&tokens.access_token).await), Code::Unauthenticated, "ended stays ended");
    }

    async fn deleted_member_frees_the_address(engine) {
        let kit = Kit::new(engine).await;
        let (tokens, browser, _) = kit.member("ada@example.org").await;
        let (other, ..) = kit.member("bob@example.org").await;
        let bob = kit.caller(&other.access_token).await.unwrap();
        assert_eq!(code_of(kit.identity.member_delete(&kit.site, &bob, &browser.member).await), Code::Forbidden);
        let ada = kit.caller(&tokens.access_token).await.unwrap();
        kit.identity.member_delete(&kit.site, &ada, &browser.member).await.unwrap();
        assert_eq!(code_of(kit.caller(&tokens.access_token).await), Code::Unauthenticated);
        assert_eq!(code_of(kit.login("ada@example.org", PASSWORD).await), Code::PasswordWrong);
        assert_eq!(code_of(kit.identity.member_delete(&kit.site, &app(), &browser.member).await), Code::NotFound);
        let again = kit.register("ada@example.org").await.unwrap();
        assert_ne!(again.member().unwrap().id, browser.member);
        let gone = kit.identity.member_get(&kit.site, &browser.member).await.unwrap().unwrap();
        assert!(gone.email.is_empty() && gone.status == Status::Deleted);
    }

    async fn new_password_ends_the_other_sessions(engine) {
        let kit = Kit::new(engine).await;
        let (tokens, browser, cookie) = kit.member("ada@example.org").await;
        let sibling = kit.exchange(&browser).await.unwrap();
        let token = success(kit.login("ada@example.org", PASSWORD).await.unwrap());
        let (elsewhere, elsewhere_cookie) = kit.browser_session(&token).await.unwrap();
        let foreign = kit.exchange(&elsewhere).await.unwrap();
        let caller = kit.caller(&tokens.access_token).await.unwrap();
        let change = async |text: &str| kit.identity.password_change(&kit.site, &caller, attempt().address, &Secret::new(text)).await;
        assert_eq!(code_of(change("short").await), Code::Validation);
        let begun_elsewhere = success(kit.login("ada@example.org", PASSWORD).await.unwrap());
        change("quite another phrase").await.unwrap();
        assert!(kit.browser_session(&begun_elsewhere).await.is_none());
        for token in [&tokens.access_token, &sibling.access_token] {
            assert!(kit.caller(token).await.is_ok(), "the calling family stays");
        }
        assert!(kit.identity.session_by_cookie(&kit.site, cookie.expose()).await.unwrap().is_some());
        assert_eq!(code_of(kit.caller(&foreign.access_token).await), Code::Unauthenticated);
        assert!(kit.identity.session_by_cookie(&kit.site, elsewhere_cookie.expose()).await.unwrap().is_none());
        assert_eq!(code_of(kit.login("ada@example.org", PASSWORD).await), Code::PasswordWrong);
        success(kit.login("ada@example.org", "quite another phrase").await.unwrap());
        assert_eq!(code_of(kit.identity.password_change(&kit.site, &app(), attempt().address, &Secret::new(PASSWORD)).await), Code::Forbidden);
    }

    async fn sign_on_is_for_apps(engine) {
        let kit = Kit::new(engine).await;
        let sign_on = |verify_email, profile| SignOn { email: "eve@example.org".to_owned(), profile, verify_email };
        let visitor = Caller::Visitor { id: "v".into(), client: None };
        let refused = kit.identity.member_sign_on(&kit.site, &visitor, None, &sign_on(true, json!({}))).await;
        assert_eq!(code_of(refused), Code::Forbidden);
        let bad = SignOn { email: "eve".to_owned(), ..sign_on(false, json!(1)) };
        let fault = kit.identity.member_sign_on(&kit.site, &app(), None, &bad).await.expect_err("refused");
        assert_eq!(fault.violations().len(), 2);
        let (first, token) = kit.identity.member_sign_on(&kit.site, &app(), None, &sign_on(false, json!({ "firstName": "Eve" }))).await.unwrap();
        assert!(!first.email_verified && first.status == Status::Active);
        assert!(kit.browser_session(token.expose()).await.is_some());
        let (second, _) = kit.identity.member_sign_on(&kit.site, &app(), None, &sign_on(true, json!({ "lastName": "E" }))).await.unwrap();
        assert_eq!(second.id, first.id);
        assert_eq!(second.profile.to_json(), json!({ "firstName": "Eve", "lastName": "E" }));
        assert!(second.email_verified && second.revision > first.revision);
        let (third, _) = kit.identity.member_sign_on(&kit.site, &app(), None, &sign_on(true, json!({ "lastName": "E" }))).await.unwrap();
        assert_eq!(third.revision, second.revision, "nothing is new");
        assert_eq!(code_of(kit.login("eve@example.org", PASSWORD).await), Code::PasswordWrong, "it has no password");
    }

    async fn unverified_address_goes_to_its_owner(engine) {
        let kit = Kit::new(engine).await;
        let (squatter, ..) = kit.member("eve@example.org").await;
        let sign_on = SignOn { email: "eve@example.org".to_owned(), profile: json!(null), verify_email: true };
        kit.identity.member_sign_on(&kit.site, &app(), None, &sign_on).await.unwrap();
        assert_eq!(code_of(kit.caller(&squatter.access_token).await), Code::Unauthenticated);
        assert_eq!(code_of(kit.refresh(&squatter.refresh_token.unwrap()).await), Code::OauthInvalidGrant);
        assert_eq!(code_of(kit.login("eve@example.org", PASSWORD).await), Code::PasswordWrong);
    }

    async fn password_counts_as_it_was_typed(engine) {
        let kit = Kit::with(engine, roomy()).await;
        let long = format!(" \u{dc}bermut & Regen, {}", "drei W\u{f6}rter ".repeat(20));
        let passwords = [&*long, "nothing but small letters", "918 273 645 017", "\u{1f40e}\u{1f50b} \u{1f4ce}\u{1f40e} \u{1f50b}\u{1f4ce}\u{1f40e}"];
        for (n, typed) in passwords.into_iter().enumerate() {
            let email = format!("member{n}@example.org");
            kit.identity.member_register(&kit.site, &attempt(), &registration(&email, typed)).await.unwrap();
            let cut = |count: usize| typed.chars().take(count).collect::<String>();
            let others = [typed.trim().to_owned(), typed.to_uppercase(), typed.replace(' ', ""), cut(64), cut(72), format!("{typed} ")];
            for other in others.iter().filter(|it| *it != typed) {
                assert_eq!(code_of(kit.login(&email, other).await), Code::PasswordWrong, "{other:?}");
            }
            // Nor does it get too old.
            kit.base.clock.advance(3 * 365 * 86_400_000);
            success(kit.login(&email, typed).await.unwrap());
        }
    }

    async fn cheap_hash_is_made_again(engine) {
        let kit = Kit::new(engine).await;
        kit.register("ada@example.org").await.unwrap();
        let dearer = Config { password: Cost { memory_kib: 128, passes: 1, lanes: 1 }, ..config() };
        let (store, world) = (kit.base.store.clone(), kit.base.world.clone());
        let node = Identity::open(store, world, kit.mail.clone(), local_reach(), dearer).await.unwrap();
        let login = async || node.member_login(&kit.site, &attempt(), "ada@example.org", &Secret::new(PASSWORD)).await;
        login().await.unwrap();
        let hash: Option<String> = kit.site.read(stoa_store::ReaderPool::Point, |tx| stoa_store::boxed!({
            Ok(tx.row("select password_hash from stoa.member", &[], |row| row.get(0)).await?)
        })).await.unwrap();
        assert!(hash.unwrap().starts_with("$argon2id$v=19$m=128,"));
        login().await.unwrap();
    }

    async fn guessing_is_slowed_down(engine) {
        let kit = Kit::new(engine).await;
        kit.register("ada@example.org").await.unwrap();
        let mut codes = Vec::new();
        for n in 0..25 {
            codes.push(code_of(kit.login("ada@example.org", &format!("guess number {n}")).await));
        }
        assert_eq!(codes.iter().filter(|it| **it == Code::PasswordWrong).count(), 19, "one try went into registering");
        assert_eq!(codes.last(), Some(&Code::Throttled));
        assert_eq!(code_of(kit.login("ada@example.org", PASSWORD).await), Code::Throttled);
        let elsewhere = attempt_from("192.0.2.1".parse().unwrap());
        let from_elsewhere = kit.identity.member_login(&kit.site, &elsewhere, "ada@example.org", &Secret::new(PASSWORD)).await;
        assert!(from_elsewhere.is_ok(), "the member is not locked out by somebody else's guesses");
        kit.base.clock.advance(15_000);
        assert!(kit.login("ada@example.org", PASSWORD).await.is_ok());
        assert!(!kit.visitor().await.access_token.is_empty());
    }

    async fn address_taken_first_gives_no_access_later(engine) {
        let kit = Kit::new(engine).await;
        let both = json!({ "signOnPolicy": { "requireOwnerApproval": true, "requireEmailVerification": true } });
        let sign_on = |email: &str| SignOn { email: email.to_owned(), profile: json!(null), verify_email: false };
        // Signed in already, or still waiting: the app says nothing of the address.
        let (squatter, ..) = kit.member("eve@example.org").await;
        kit.identity.policy_update(&kit.site, &app(), PolicyChange::parse(&both).unwrap()).await.unwrap();
        kit.register("ada@example.org").await.unwrap();
        for email in ["eve@example.org", "ada@example.org"] {
            let (member, token) = kit.identity.member_sign_on(&kit.site, &app(), None, &sign_on(email)).await.unwrap();
            assert!(!member.has_password() && !member.email_verified && member.status == Status::Active);
            assert_eq!(code_of(kit.login(email, PASSWORD).await), Code::PasswordWrong, "{email}");
            let (session, cookie) = kit.browser_session(token.expose()).await.unwrap();
            let own = kit.exchange(&session).await.unwrap();
            kit.identity.member_sign_on(&kit.site, &app(), None, &sign_on(email)).await.unwrap();
            assert!(kit.caller(&own.access_token).await.is_ok(), "the second time there is nothing to take back");
            assert!(kit.identity.session_by_cookie(&kit.site, cookie.expose()).await.unwrap().is_some());
        }
        assert_eq!(code_of(kit.caller(&squatter.access_token).await), Code::Unauthenticated);
        assert_eq!(code_of(kit.refresh(&squatter.refresh_token.unwrap()).await), Code::OauthInvalidGrant);
    }

    async fn password_queue_is_not_filled_by_one_account(engine) {
        let kit = Kit::new(engine).await;
        let (ada, ..) = kit.member("ada@example.org").await;
        let (bob, ..) = kit.member("bob@example.org").await;
        let (ada, bob) = (kit.caller(&ada.access_token).await.unwrap(), kit.caller(&bob.access_token).await.unwrap());
        let here = attempt().address;
        let ask = json!({ "email": "ada@example.org" });
        kit.identity.recovery_send(&kit.site, &app(), here, &ask).await.unwrap();
        let mail = mail_to(&kit, "ada@example.org").await.unwrap();
        let link = mail.links[0].split_once("token=").unwrap().1;

        let change = async |who: &Caller, n: usize| {
            kit.identity.password_change(&kit.site, who, attempt().address, &Secret::new(format!("phrase number {n}"))).await
        };
        for n in 0..20 {
            change(&ada, n).await.unwrap();
        }
        assert_eq!(code_of(change(&ada, 20).await), Code::Throttled);
        let new = Secret::new("quite another phrase");
        let recover = async || kit.identity.recovery_finish(&kit.site, link, &new, attempt().address.into()).await;
        assert_eq!(code_of(recover().await), Code::Throttled);
        change(&bob, 0).await.unwrap();
        kit.base.clock.advance(60_000);
        assert!(recover().await.is_ok(), "the link is still good");

        let olga = stoa_kernel::Email::parse("olga@example.org").unwrap();
        let invite = async || {
            let life = Duration::from_secs(60);
            let url = kit.identity.invite_create(&kit.site.id, Some(&olga), Role::Owner, life, "http://localhost");
            url.await.unwrap().split_once("invite=").unwrap().1.to_owned()
        };
        kit.identity.invite_accept(&invite().await, None, &Secret::new(PASSWORD), attempt().address).await.unwrap();
        let mut codes = Vec::new();
        for n in 0..20 {
            let guess = Secret::new(format!("guess number {n}"));
            codes.push(code_of(kit.identity.invite_accept(&invite().await, None, &guess, attempt().address).await));
        }
        assert_eq!(codes.iter().filter(|it| **it == Code::PasswordWrong).count(), 19);
        assert_eq!(codes.last(), Some(&Code::Throttled));
    }

    async fn recovery_links_are_throttled(engine) {
        let slow = ThrottleLimits { recovery: Rate { burst: 3.0, per_second: 0.1 }, ..ThrottleLimits::default() };
        let kit = Kit::with(engine, Config { throttle: slow, ..config() }).await;
        kit.register("ada@example.org").await.unwrap();
        let ask = async |from: &str, email: &str| {
            let body = json!({ "email": email });
            kit.identity.recovery_send(&kit.site, &app(), from.parse().unwrap(), &body).await
        };
        for n in 0..50 {
            ask("192.0.2.1", &format!("nobody{n}@example.org")).await.unwrap();
        }
        ask("192.0.2.1", "ada@example.org").await.expect("the same answer");
        tokio::time::sleep(Duration::from_millis(200)).await;
        assert!(kit.mail.last_to("ada@example.org").is_none(), "nothing is sent");
        ask("192.0.2.2", "ada@example.org").await.unwrap();
        assert!(mail_to(&kit, "ada@example.org").await.is_some(), "others are not locked out");
    }

    async fn recovery_storm_is_bounded(engine) {
        let kit = Kit::with(engine, roomy()).await;
        let emails: Vec<String> = (0..60).map(|n| format!("a{n}@example.org")).collect();
        for email in &emails {
            kit.register(email).await.unwrap();
        }
        let mailer = Arc::new(Slow { begun: AtomicUsize::new(0), gate: Semaphore::new(0) });
        let (store, world) = (kit.base.store.clone(), kit.base.world.clone());
        // Every node sends what it finds in the queue, so there is to be no other.
        drop(kit.identity);
        let node = Identity::open(store, world, mailer.clone(), local_reach(), roomy()).await.unwrap();
        let ask = async |email: &str| {
            let (body, here) = (json!({ "email": email }), attempt().address);
            node.recovery_send(&kit.site, &app(), here, &body).await.expect("the same answer");
        };
        for email in &emails {
            ask(email).await;
        }
        assert!(mailer.begins(4).await);
        tokio::time::sleep(Duration::from_millis(200)).await;
        assert_eq!(mailer.begun.load(Ordering::SeqCst), 4, "so many of one site at a time");
        mailer.gate.add_permits(1_000);
        assert!(mailer.begins(60).await, "the rest has waited");
    }
}
