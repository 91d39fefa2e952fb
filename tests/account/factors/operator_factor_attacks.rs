//! Second factors of those who run a site, as attackers meet them (docs/defence.md).

use super::{
    operator_factors::{OLGA, at},
    *,
};
use crate::account::{counted, cut_off};
use std::{net::Ipv4Addr, time::Duration};
use stoa_identity::{audit::AuditQuery, policy::PolicyChange};
use stoa_kernel::{Caller, KeyId, Role, Secret};
use stoa_store::Site;

impl World {
    /// Sends an input five times at once in each of twenty browsers that wait for a second factor: how many there are, and how many are
    /// signed in.
    async fn hundred(&self, input: Value) -> (usize, usize) {
        let mut waiting = Vec::new();
        for _ in 0..20 {
            let browser = self.browser();
            let view = browser.run_site(OLGA, PASSWORD).await;
            assert_eq!(at(&view), ("SECOND_FACTOR", None), "{view}");
            waiting.push((browser, view));
        }
        let all = waiting.iter().flat_map(|it| [it; 5]);
        join_all(all.map(|(browser, view)| browser.try_next(view, &input))).await;
        (waiting.len(), waiting.iter().filter(|it| it.0.has("stoa-person")).count())
    }

    async fn reset_operator(&self) -> u64 {
        let email = Email::parse(OLGA).unwrap();
        self.app.app.identity.operator_factors_reset(&self.app.site.id, &command(), &email).await.unwrap()
    }

    /// An invitation to own another site; open to anyone where there is no address.
    async fn invitation_to(&self, site: &Site, email: Option<&Email>) -> String {
        let (identity, life) = (&self.app.app.identity, Duration::from_secs(60));
        let link = identity.invite_create(&site.id, email, Role::Owner, life, "http://localhost").await.unwrap();
        link.split_once("invite=").unwrap().1.to_owned()
    }

    /// Makes a person who has a password an owner of another site.
    async fn owner_of(&self, site: &Site, email: &str) {
        let invite = self.invitation_to(site, Email::parse(email).as_ref()).await;
        let (identity, password) = (&self.app.app.identity, Secret::new(PASSWORD));
        identity.invite_accept(&invite, None, &password, Ipv4Addr::LOCALHOST.into()).await.unwrap();
    }

    /// From which network addresses an event came, as a site was told.
    async fn told_of(&self, site: &Site, event: &str) -> Vec<Option<String>> {
        let query = AuditQuery { event: Some(event.to_owned()), limit: 100, ..AuditQuery::default() };
        let entries = self.app.app.identity.audit_list(site, &command(), query).await.unwrap();
        entries.into_iter().map(|it| it.address).collect()
    }

    /// Waits until the log has this many entries of an event.
    async fn is_told(&self, event: &str, count: usize) {
        for _ in 0..500 {
            if self.events(event).await == count {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("{event} is told {} times", self.events(event).await);
    }
}

/// Who runs the installation.
fn command() -> Caller {
    Caller::App { id: KeyId::from("command-line") }
}

fn pages_of(site: &Site) -> String {
    format!("/s/{}", site.id)
}

impl Browser<'_> {
    /// What follows a step of a flow on the pages beneath a site.
    async fn next_at(&self, pages: &str, view: &Value, input: Value) -> Value {
        let path = format!("{pages}/_api/account/v1/flows/{}", text(&view["token"]));
        self.ask(Method::POST, &path, Some(&input)).await.json()
    }

    /// Shows the password on the pages beneath a site.
    async fn run_site_at(&self, pages: &str) -> Value {
        let start = json!({ "kind": "OWNER_SIGN_IN" });
        let view = self.ask(Method::POST, &format!("{pages}/_api/account/v1/flows"), Some(&start)).await.json();
        self.next_at(pages, &view, json!({ "type": "SIGN_IN", "email": OLGA, "password": PASSWORD })).await
    }

    async fn show_at(&self, pages: &str, view: &Value, factor: &str, code: &str) -> Value {
        let input = json!({ "type": "SECOND_FACTOR", "factor": factor, "code": code, "remember": false });
        self.next_at(pages, view, input).await
    }

    async fn is_in(&self, pages: &str) -> String {
        self.ask(Method::GET, &format!("{pages}/_api/account/v1/operator/factors"), None).await.verdict()
    }
}

on_both_engines! {
    async fn operators_code_signs_in_once_among_a_hundred(engine) {
        let world = World::new(engine).await;
        let olga = world.runner(OLGA).await;
        let (browsers, inside) = world.hundred(json!({
            "type": "SECOND_FACTOR", "factor": "TOTP", "code": world.totp(&olga.secret, 0), "remember": false
        })).await;
        assert_eq!((browsers, inside), (20, 1));
        // Nor does a code that is older than it.
        let browser = world.browser();
        world.app.kit.clock.advance(3_600_000);
        let view = browser.run_site(OLGA, PASSWORD).await;
        assert_eq!(at(&browser.show_totp(&view, &world.totp(&olga.secret, 1)).await), ("DONE", None));
        let view = browser.run_site(OLGA, PASSWORD).await;
        for steps in [1, 0] {
            let refused = browser.show_totp(&view, &world.totp(&olga.secret, steps)).await;
            assert_eq!(at(&refused), ("SECOND_FACTOR", Some("INVALID_CODE")), "{steps}");
        }
    }

    async fn operators_recovery_code_counts_once_among_a_hundred(engine) {
        let world = World::new(engine).await;
        let olga = world.runner(OLGA).await;
        let input = json!({
            "type": "SECOND_FACTOR", "factor": "RECOVERY_CODE", "code": olga.recovery_codes[0], "remember": false
        });
        assert_eq!(world.hundred(input).await, (20, 1));
        assert_eq!(world.events("recovery_code_use").await, 1);
    }

    async fn guessing_at_an_operators_factor_waits_longer_each_time(engine) {
        let world = World::new(engine).await;
        let olga = world.runner(OLGA).await;
        let browser = world.browser();
        let view = browser.run_site(OLGA, PASSWORD).await;
        let guess = wrong(&world, &olga.secret);
        for _ in 0..5 {
            assert_eq!(at(&browser.show_totp(&view, &guess).await), ("SECOND_FACTOR", Some("INVALID_CODE")));
        }
        assert_eq!(world.events("factor_slowed").await, 1);
        // The right one waits as well, here and for a proof; a recovery code does not.
        let right = world.totp(&olga.secret, 0);
        assert_eq!(at(&browser.show_totp(&view, &right).await), ("SECOND_FACTOR", Some("THROTTLED_FEATURE")));
        world.app.kit.clock.advance(10_000);
        let proof = json!({ "totpData": { "code": world.totp(&olga.secret, 0) } });
        assert_eq!(olga.browser.prove_operator(proof).await, "429 THROTTLED_FEATURE");
        assert_eq!(at(&browser.show_recovery(&view, &olga.recovery_codes[0]).await), ("DONE", None));
    }

    async fn steps_of_operators_are_taken_in_their_order_by_one_browser(engine) {
        let world = World::new(engine).await;
        let olga = world.runner(OLGA).await;
        let oscar = world.runner("oscar@example.org").await;
        let browser = world.browser();
        let view = browser.run_site(OLGA, PASSWORD).await;
        // Neither past the factor, nor another's, nor a wish that is not kept.
        for input in [
            json!({ "type": "CODES_KEPT" }),
            json!({ "type": "LATER" }),
            json!({ "type": "ENROL_FACTOR" }),
            json!({ "type": "CONFIRM_FACTOR", "code": "123456" }),
            json!({ "type": "SECOND_FACTOR", "factor": "TOTP", "code": world.totp(&olga.secret, 0), "remember": true }),
            json!({ "type": "RESEND", "factor": "EMAIL" }),
            json!({ "type": "SIGN_IN", "email": OLGA, "password": PASSWORD }),
        ] {
            assert_eq!(at(&browser.next(&view, input.clone()).await), ("SECOND_FACTOR", Some("STEP_CHANGED")), "{input}");
        }
        for (factor, code) in [
            ("TOTP", world.totp(&oscar.secret, 0)),
            ("RECOVERY_CODE", oscar.recovery_codes[0].clone()),
            ("EMAIL", world.totp(&olga.secret, 0)),
        ] {
            let input = json!({ "type": "SECOND_FACTOR", "factor": factor, "code": code, "remember": false });
            assert_eq!(at(&browser.next(&view, input).await), ("SECOND_FACTOR", Some("INVALID_CODE")), "{factor}");
        }
        assert!(!browser.has("stoa-person"));
        // Another browser has no part in the flow.
        let thief = world.browser();
        assert_eq!(thief.flow_view(&text(&view["token"])).await.verdict(), GONE);
        // A challenge is over after ten minutes, and with a change of factors.
        world.app.kit.clock.advance(10 * 60_000);
        let late = browser.show_totp(&view, &world.totp(&olga.secret, 0)).await;
        assert_eq!(at(&late), ("SIGN_IN", Some("STEP_CHANGED")));
        let view = browser.run_site(OLGA, PASSWORD).await;
        let proof = json!({ "totpData": { "code": world.totp(&olga.secret, 0) } });
        assert_eq!(olga.browser.prove_operator(proof).await, "200");
        assert_eq!(olga.browser.of_operator(Method::POST, "recovery-codes", json!({})).await.verdict(), "200");
        world.next_step();
        let ended = browser.show_totp(&view, &world.totp(&olga.secret, 0)).await;
        assert_eq!(at(&ended), ("SIGN_IN", Some("STEP_CHANGED")));
        assert!(!browser.has("stoa-person"));
    }

    async fn stolen_session_of_an_operator_changes_no_factor(engine) {
        let world = World::new(engine).await;
        let olga = world.runner(OLGA).await;
        // The thief has the cookie, the password and what was proven in the session before.
        let thief = world.browser();
        *thief.cookies.lock().unwrap() = olga.browser.cookies.lock().unwrap().clone();
        world.app.kit.clock.advance(10 * 60_000);
        assert_eq!(thief.prove_operator(json!({ "password": PASSWORD })).await, NEEDED);
        let begin = async || thief.of_operator(Method::POST, "factors", json!({})).await.verdict();
        assert_eq!(begin().await, NEEDED);
        assert_eq!(thief.of_operator(Method::DELETE, &format!("factors/{}", olga.id), json!({})).await.verdict(), NEEDED);
        assert_eq!(thief.change("password", json!({ "old": PASSWORD, "password": ANOTHER })).await.verdict(), NEEDED);
        // Another page can't ask in the person's name.
        let cross = [("sec-fetch-site", "cross-site"), ("content-type", "application/json")];
        for (method, path) in [(Method::POST, "factors"), (Method::POST, "proof"), (Method::DELETE, "factors/x")] {
            let path = format!("/_api/account/v1/operator/{path}");
            let reply = thief.send(method, &path, &cross, Some(&json!({}))).await;
            assert_eq!(reply.verdict(), "403 PERMISSION_DENIED", "{path}");
        }
        let nobody = world.browser().of_operator(Method::GET, "factors", json!({})).await;
        assert_eq!(nobody.verdict(), "401 UNAUTHENTICATED");
        // Another's factor is none of theirs, and what is proven in one session holds in no other.
        let oscar = world.runner("oscar@example.org").await;
        let there = format!("factors/{}", olga.id);
        assert_eq!(oscar.browser.of_operator(Method::DELETE, &there, json!({})).await.verdict(), "404 NOT_FOUND");
        assert_eq!(oscar.browser.of_operator(Method::PATCH, &there, json!({ "name": "Mine" })).await.verdict(), "404 NOT_FOUND");
        let second = world.browser();
        let view = second.run_site("oscar@example.org", PASSWORD).await;
        assert_eq!(at(&second.show_totp(&view, &world.totp(&oscar.secret, 0)).await), ("DONE", None));
        assert_eq!(second.of_operator(Method::POST, "factors", json!({})).await.verdict(), NEEDED);
    }

    async fn factor_of_an_operator_is_stored_sealed_and_its_key_is_replaced(engine) {
        let world = World::new(engine).await;
        let olga = world.runner(OLGA).await;
        let sql = "select sealed from stoa.factor where site = ''";
        let read = world.app.app.store.catalog().read(ReaderPool::Point, move |tx| {
            boxed!(Ok(tx.row(sql, &[], |row| row.get::<Vec<u8>>(0)).await?))
        });
        let sealed = read.await.unwrap().unwrap();
        assert!(!sealed.windows(8).any(|it| olga.secret.as_bytes().windows(8).any(|secret| secret == it)));
        let identity = &world.app.app.identity;
        let rotation = identity.seal_begin().await.unwrap();
        assert_eq!(identity.seal_left_catalog().await.unwrap().1, 1);
        identity.seal_catalog().await.unwrap();
        assert_eq!(identity.seal_left_catalog().await.unwrap().1, 0);
        identity.seal_end(&rotation.id).await.unwrap();
        let browser = world.browser();
        let view = browser.run_site(OLGA, PASSWORD).await;
        assert_eq!(at(&browser.show_totp(&view, &world.totp(&olga.secret, 0)).await), ("DONE", None));
    }

    async fn operator_factor_is_set_up_once_among_a_hundred(engine) {
        let world = World::new(engine).await;
        world.runner_without(OLGA).await;
        world.policy(json!({ "operatorSecondFactor": "REQUIRED", "operatorSecondFactorGraceDays": 0 })).await;
        let browser = world.browser();
        let view = browser.run_site(OLGA, PASSWORD).await;
        assert_eq!(at(&view), ("ENROL_FACTOR", None), "{view}");
        let code = world.totp(&text(&view["step"]["secret"]), 0);
        let confirm = || browser.next(&view, json!({ "type": "CONFIRM_FACTOR", "code": code }));
        join_all((0..100).map(|_| confirm())).await;
        assert_eq!((world.count_of_operators("factor").await, world.count_of_operators("recovery_code").await), (1, 10));
        assert_eq!(world.events("factor_add").await, 1);
        assert!(!browser.has("stoa-person"), "the codes are to be kept first");
    }

    async fn proof_of_another_session_of_an_operator_ends_with_a_change(engine) {
        let world = World::new(engine).await;
        let olga = world.runner(OLGA).await;
        let second = world.browser();
        let view = second.run_site(OLGA, PASSWORD).await;
        assert_eq!(at(&second.show_totp(&view, &world.totp(&olga.secret, 0)).await), ("DONE", None));
        world.next_step();
        assert_eq!(second.prove_operator(json!({ "totpData": { "code": world.totp(&olga.secret, 0) } })).await, "200");
        assert_eq!(second.of_operator(Method::POST, "factors", json!({})).await.verdict(), "200");
        assert_eq!(olga.browser.of_operator(Method::POST, "recovery-codes", json!({})).await.verdict(), "200");
        assert_eq!(second.of_operator(Method::POST, "factors", json!({})).await.verdict(), NEEDED);
        assert_eq!(olga.browser.of_operator(Method::POST, "factors", json!({})).await.verdict(), "200", "in the one that acts it holds");
    }

    async fn one_account_of_several_sites_is_asked_and_told_of_at_each(engine) {
        let world = World::new(engine).await;
        let olga = world.runner(OLGA).await;
        let (beside, _) = world.beside().await;
        world.owner_of(&beside, OLGA).await;
        let (here, there) = (pages_of(&world.app.site), pages_of(&beside));
        let (first, second) = (world.browser(), world.browser());
        let (at_first, at_second) = (first.run_site_at(&here).await, second.run_site_at(&there).await);
        assert_eq!((at(&at_first), at(&at_second)), (("SECOND_FACTOR", None), ("SECOND_FACTOR", None)));
        // Who guesses at the one site waits at the other; only the one is told from where.
        let guess = wrong(&world, &olga.secret);
        for _ in 0..5 {
            let refused = second.show_at(&there, &at_second, "TOTP", &guess).await;
            assert_eq!(at(&refused), ("SECOND_FACTOR", Some("INVALID_CODE")));
        }
        let waits = first.show_at(&here, &at_first, "TOTP", &world.totp(&olga.secret, 0)).await;
        assert_eq!(at(&waits), ("SECOND_FACTOR", Some("THROTTLED_FEATURE")));
        assert_eq!(world.told_of(&world.app.site, "factor_slowed").await, [None]);
        assert!(matches!(world.told_of(&beside, "factor_slowed").await.as_slice(), [Some(_)]));
        // A recovery code counts once for both.
        let code = &olga.recovery_codes[0];
        assert_eq!(at(&second.show_at(&there, &at_second, "RECOVERY_CODE", code).await), ("DONE", None));
        let used = first.show_at(&here, &at_first, "RECOVERY_CODE", code).await;
        assert_eq!(at(&used), ("SECOND_FACTOR", Some("INVALID_CODE")));
        let other = &olga.recovery_codes[1];
        assert_eq!(at(&first.show_at(&here, &at_first, "RECOVERY_CODE", other).await), ("DONE", None));
        assert_eq!((first.is_in(&here).await, second.is_in(&there).await), ("200".to_owned(), "200".to_owned()));
        assert_eq!(first.is_in(&there).await, "401 UNAUTHENTICATED", "a session is of one site");
        // A reset is of all sites.
        assert_eq!(world.reset_operator().await, 1);
        for (browser, pages) in [(&first, &here), (&second, &there)] {
            assert_eq!(browser.is_in(pages).await, "401 UNAUTHENTICATED", "{pages}");
        }
        for site in [&world.app.site, &beside] {
            assert_eq!(world.told_of(site, "factor_reset").await, [None], "{}", site.id);
        }
        // What the one requires the other does not.
        let policy = json!({ "signOnPolicy": { "operatorSecondFactor": "REQUIRED", "operatorSecondFactorGraceDays": 0 } });
        let change = PolicyChange::parse(&policy).unwrap();
        world.app.app.identity.policy_update(&beside, &command(), change).await.unwrap();
        assert_eq!(at(&second.run_site_at(&there).await), ("ENROL_FACTOR", None));
        assert_eq!(at(&first.run_site_at(&here).await), ("DONE", None));
    }

    async fn what_was_begun_before_the_factors_changed_signs_nobody_in(engine) {
        let world = World::new(engine).await;
        let first = world.runner_without(OLGA).await;
        world.policy(json!({ "operatorSecondFactor": "REQUIRED" })).await;
        let offered = world.browser();
        let offer = offered.run_site(OLGA, PASSWORD).await;
        assert_eq!(at(&offer), ("OFFER_FACTOR", None));
        world.policy(json!({ "operatorSecondFactorGraceDays": 0 })).await;
        let enrolling = world.browser();
        let view = enrolling.run_site(OLGA, PASSWORD).await;
        let code = world.totp(&text(&view["step"]["secret"]), 0);
        let kept = enrolling.next(&view, json!({ "type": "CONFIRM_FACTOR", "code": code })).await;
        assert_eq!(at(&kept), ("RECOVERY_CODES", None), "{kept}");
        // One page could still put it off, the other has but to say that the codes are kept.
        world.policy(json!({ "operatorSecondFactor": "OPTIONAL" })).await;
        assert_eq!(at(&offered.next(&offer, json!({ "type": "LATER" })).await), ("SIGN_IN", Some("STEP_CHANGED")));
        assert_eq!(world.reset_operator().await, 1);
        assert_eq!(at(&enrolling.next(&kept, json!({ "type": "CODES_KEPT" })).await), ("SIGN_IN", Some("STEP_CHANGED")));
        assert!(!offered.has("stoa-person") && !enrolling.has("stoa-person"));
        assert_eq!(first.account().await.status, 401);
    }

    async fn open_invitation_signs_in_no_one_who_has_a_factor(engine) {
        let world = World::new(engine).await;
        world.runner(OLGA).await;
        let (beside, _) = world.beside().await;
        let (invite, pages) = (world.invitation_to(&beside, None).await, pages_of(&beside));
        let browser = world.browser();
        let start = json!({ "kind": "OWNER_SETUP", "invite": invite });
        let view = browser.ask(Method::POST, &format!("{pages}/_api/account/v1/flows"), Some(&start)).await.json();
        let up = |password: &str| json!({ "type": "SIGN_UP", "email": OLGA, "password": password, "profile": {} });
        let wrong_password = browser.next_at(&pages, &view, up(ANOTHER)).await;
        assert!(wrong_password["problems"][0]["code"].is_string() && !browser.has("stoa-person"), "{wrong_password}");
        let view = browser.next_at(&pages, &view, up(PASSWORD)).await;
        assert_eq!((at(&view), browser.has("stoa-person")), (("SECOND_FACTOR", None), false), "{view}");
    }

    async fn closing_the_connection_keeps_nobody_from_being_told(engine) {
        let world = World::new(engine).await;
        let olga = world.runner(OLGA).await;
        // A change is made near the end of a call. Every ninth is answered, and tells how often it waits; of those between, one is
        // closed some waits before that, the next some milliseconds after it began, until a change is made whose answer nobody hears.
        let (mut waits, mut answered, mut tries) = (0_usize, 0, 0_usize);
        loop {
            assert!(tries < 270, "no call was cut off between its change and its answer");
            let nth = tries % 9;
            tries += 1;
            // As many changes are permitted, and a proof holds for ten minutes.
            world.app.kit.clock.advance(60_000);
            if nth == 0 {
                let code = world.totp(&olga.secret, 0);
                assert_eq!(olga.browser.prove_operator(json!({ "totpData": { "code": code } })).await, "200");
            }
            let rename = json!({ "name": format!("Phone {tries}") });
            let path = format!("factors/{}", olga.id);
            let call = olga.browser.of_operator(Method::PATCH, &path, rename.clone());
            let heard = match nth {
                0 => counted(call, usize::MAX).await.ok(),
                _ if nth % 2 == 1 => counted(call, waits.saturating_sub(nth.div_ceil(2))).await.ok(),
                _ => tokio::time::timeout(Duration::from_millis(tries as u64 % 30), call).await.ok().map(|it| (it, waits)),
            };
            if let Some((answer, waited)) = heard {
                assert_eq!(answer.verdict(), "200");
                (waits, answered) = (waited, answered + 1);
                continue;
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
            let list = olga.browser.of_operator(Method::GET, "factors", json!({})).await.json();
            if list["factors"][0]["name"] == rename["name"] {
                break;
            }
        }
        world.is_told("factor_rename", answered + 1).await;
        // The same of the reset, which is to be told to the person as well.
        assert!(cut_off(world.reset_operator(), 0).await.is_none());
        world.is_told("factor_reset", 1).await;
        assert_eq!(world.count_of_operators("factor").await, 0);
    }
}
