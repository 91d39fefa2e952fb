//! Members who want to be deleted: the wait, what keeps the account, and what deletes it in the end (decision 47).

#![allow(clippy::unwrap_used, reason = "a test that can't be set up has failed")]

mod common;

use common::*;
use serde_json::{Value, json};
use std::{net::Ipv4Addr, sync::Arc, time::Duration};
use stoa_identity::{
    Identity,
    audit::AuditQuery,
    factor::Proof,
    manage::Wish,
    member::{Audience, Member, MemberFilter, MemberQuery, Move, Status},
    policy::PolicyChange,
    sign_in::SignOn,
};
use stoa_kernel::{Caller, Code, MemberId, Result, Role, Secret, VisitorId};
use stoa_store::Site;
use stoa_testkit::on_both_engines;

const ADA: &str = "ada@example.org";
const DAY: i64 = 24 * 60 * 60_000;
const HERE: std::net::IpAddr = std::net::IpAddr::V4(Ipv4Addr::LOCALHOST);

fn code_of<T: std::fmt::Debug>(result: Result<T>) -> Code {
    result.expect_err("refused").code()
}

fn app() -> Caller {
    Caller::App { id: "key".into() }
}

fn count(events: &[String], event: &str) -> usize {
    events.iter().filter(|it| *it == event).count()
}

impl Kit {
    /// A new member who has shown who they are.
    async fn proven(&self, email: &str) -> Caller {
        let (tokens, ..) = self.member(email).await;
        let caller = self.caller(&tokens.access_token).await.unwrap();
        self.prove(&caller).await;
        caller
    }

    async fn prove(&self, caller: &Caller) {
        let proof = Proof::Password(Secret::new(PASSWORD));
        self.identity.member_prove(&self.site, caller, &attempt(), &proof).await.unwrap();
    }

    async fn ask(&self, caller: &Caller) -> Result<Wish> {
        self.identity.deletion_ask(&self.site, caller, HERE, None).await
    }

    /// One who is to be deleted, and the token that keeps the account.
    async fn leaving(&self, email: &str) -> (MemberId, String) {
        let caller = self.proven(email).await;
        self.mail.take();
        assert!(matches!(self.ask(&caller).await.unwrap(), Wish::Waits(_)));
        (MemberId::from(caller.id()), self.token_to(email).await)
    }

    async fn token_to(&self, email: &str) -> String {
        for _ in 0..250 {
            let links = self.mail.last_to(email).map(|it| it.links).unwrap_or_default();
            if let Some((_, token)) = links.iter().find_map(|it| it.split_once("/account/keep#")) {
                return token.to_owned();
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("no link to {email}");
    }

    async fn undo(&self, token: &str) -> Result<Member> {
        self.identity.deletion_undo(&self.site, token, HERE).await
    }

    async fn found(&self, id: &MemberId) -> Member {
        self.identity.member_get(&self.site, id).await.unwrap().unwrap()
    }

    async fn wait_days(&self, days: i64) {
        let policy = PolicyChange { account_deletion_days: Some(days as u32), ..PolicyChange::default() };
        self.identity.policy_update(&self.site, &app(), policy).await.unwrap();
    }

    async fn events(&self, member: &MemberId) -> Vec<String> {
        let query = AuditQuery { member: Some(member.to_string()), limit: 100, ..AuditQuery::default() };
        let rows = self.identity.audit_list(&self.site, &app(), query).await.unwrap();
        rows.into_iter().map(|it| it.event).rev().collect()
    }

    /// This node and others, with their sites.
    async fn everywhere(&self) -> Vec<(Identity, Arc<Site>)> {
        let mut nodes = vec![(self.identity.clone(), self.site.clone())];
        for node in self.other_nodes().await {
            let site = node.store().site(&self.site.id).await.unwrap();
            nodes.push((node, site));
        }
        nodes
    }
}

on_both_engines! {
    async fn account_goes_after_the_days_of_the_policy(engine) {
        let kit = Kit::new(engine).await;
        let (tokens, browser, cookie) = kit.member(ADA).await;
        let caller = kit.caller(&tokens.access_token).await.unwrap();
        assert_eq!(code_of(kit.ask(&caller).await), Code::ProofNeeded);
        kit.prove(&caller).await;
        // Another session of the same member has shown nothing.
        let other = kit.exchange(&browser).await.unwrap();
        let other = kit.caller(&other.access_token).await.unwrap();
        assert_eq!(code_of(kit.ask(&other).await), Code::ProofNeeded);
        let due = kit.base.world.now() + 14 * DAY;
        assert_eq!(kit.ask(&caller).await.unwrap(), Wish::Waits(due));

        // Signed out everywhere, and no way back in, but nothing is lost.
        assert_eq!(code_of(kit.caller(&tokens.access_token).await), Code::Unauthenticated);
        assert!(kit.refresh(tokens.refresh_token.as_deref().unwrap_or_default()).await.is_err());
        assert!(kit.identity.session_by_cookie(&kit.site, cookie.expose()).await.unwrap().is_none());
        let refused = kit.login(ADA, PASSWORD).await.expect_err("refused");
        assert_eq!((refused.code(), refused.data().contains_key("deletionDate")), (Code::MemberBlocked, true));
        assert_eq!(code_of(kit.login(ADA, "another long phrase").await), Code::PasswordWrong);
        assert_eq!(code_of(kit.register(ADA).await), Code::EmailTaken);
        let sign_on = SignOn { email: ADA.to_owned(), profile: json!({}), verify_email: true };
        let vouched = kit.identity.member_sign_on(&kit.site, &app(), None::<&VisitorId>, &sign_on).await;
        assert_eq!(code_of(vouched), Code::MemberBlocked);
        let id = browser.member.clone();
        let waiting = kit.found(&id).await;
        assert_eq!((waiting.status, waiting.email.as_str(), waiting.has_password()), (Status::Deleted, ADA, true));
        let listed = kit.identity.member_query(&kit.site, Audience::Staff, &MemberQuery::default()).await.unwrap();
        assert_eq!(listed.members.iter().map(|it| &it.id).collect::<Vec<_>>(), [&id], "operators see it");
        assert_eq!(waiting.to_json()["status"]["name"], "DELETED");

        kit.base.clock.advance(14 * DAY - 1);
        kit.identity.retention_run(&kit.site).await;
        assert!(kit.found(&id).await.deletion.is_some(), "a moment before");
        kit.base.clock.advance(1);
        let nodes = kit.everywhere().await;
        let runs = (0..20).map(|n| {
            let (node, site) = nodes[n % nodes.len()].clone();
            tokio::spawn(async move { node.retention_run(&site).await })
        });
        for run in runs.collect::<Vec<_>>() {
            run.await.unwrap();
        }
        let gone = kit.found(&id).await;
        assert_eq!((gone.status, gone.email.as_str(), gone.deletion, gone.has_password()), (Status::Deleted, "", None, false));
        let events = kit.events(&id).await;
        assert_eq!((count(&events, "deletion_ask"), count(&events, "member_delete")), (1, 1), "{events:?}");
        assert_ne!(kit.register(ADA).await.unwrap().member().unwrap().id, id);
        let listed = kit.identity.member_query(&kit.site, Audience::Staff, &MemberQuery::default()).await.unwrap();
        assert!(listed.members.iter().all(|it| it.id != id));
    }

    async fn link_keeps_the_account_once(engine) {
        let kit = Kit::new(engine).await;
        let (id, token) = kit.leaving(ADA).await;
        let (other, other_token) = kit.leaving("bob@example.org").await;
        // Looking at it changes nothing.
        for _ in 0..3 {
            assert_eq!(kit.identity.deletion_get(&kit.site, &token).await.unwrap().0.id, id);
        }
        let (elsewhere, _) = kit.other_site().await;
        let there = kit.identity.deletion_undo(&elsewhere, &token, HERE).await;
        assert_eq!(code_of(there), Code::LinkInvalid, "of another site");
        let moved = token.replacen(&format!("e{}.", kit.site.number), &format!("e{}.", elsewhere.number), 1);
        assert_eq!(code_of(kit.identity.deletion_undo(&elsewhere, &moved, HERE).await), Code::LinkInvalid);
        let recovery = token.replacen('e', "l", 1);
        for bad in ["", "e1.", "nonsense", recovery.as_str(), &token[..token.len() - 1]] {
            assert_eq!(code_of(kit.undo(bad).await), Code::LinkInvalid, "{bad}");
        }
        assert_eq!(kit.undo(&token).await.unwrap().id, id, "a link keeps its own member");
        assert!(kit.found(&other).await.deletion.is_some(), "and no other");
        assert_eq!(code_of(kit.undo(&token).await), Code::LinkInvalid, "a second time");
        assert_eq!(code_of(kit.identity.deletion_get(&kit.site, &token).await), Code::LinkInvalid);
        assert!(kit.login(ADA, PASSWORD).await.is_ok());
        kit.base.clock.advance(15 * DAY);
        kit.identity.retention_run(&kit.site).await;
        assert_eq!(kit.found(&id).await.status, Status::Active);
        assert_eq!(code_of(kit.undo(&other_token).await), Code::LinkInvalid, "the account is gone");
        // A link of a wish before keeps nothing of a later one.
        let (session, _) = kit.browser_session(&success(kit.login(ADA, PASSWORD).await.unwrap())).await.unwrap();
        let tokens = kit.exchange(&session).await.unwrap();
        let caller = kit.caller(&tokens.access_token).await.unwrap();
        kit.prove(&caller).await;
        kit.ask(&caller).await.unwrap();
        assert_eq!(code_of(kit.undo(&token).await), Code::LinkInvalid);
        assert!(kit.found(&id).await.deletion.is_some());
    }

    async fn link_that_is_due_keeps_nothing(engine) {
        let kit = Kit::new(engine).await;
        let (id, token) = kit.leaving(ADA).await;
        kit.base.clock.advance(14 * DAY);
        assert_eq!(code_of(kit.undo(&token).await), Code::LinkInvalid, "before housekeeping as well");
        assert_eq!(code_of(kit.identity.deletion_undo_for(&kit.site, &app(), &id).await), Code::AlreadyExists);
        kit.identity.retention_run(&kit.site).await;
        assert!(kit.found(&id).await.email.is_empty());
        assert_eq!(code_of(kit.identity.deletion_undo_for(&kit.site, &app(), &id).await), Code::NotFound);
    }

    async fn of_a_hundred_at_once_one_asks_and_one_keeps(engine) {
        let kit = Kit::new(engine).await;
        let caller = kit.proven(ADA).await;
        let nodes = kit.everywhere().await;
        let asked = (0..100).map(|n| {
            let ((node, site), caller) = (nodes[n % nodes.len()].clone(), caller.clone());
            tokio::spawn(async move { node.deletion_ask(&site, &caller, HERE, None).await.map_err(|it| it.code()) })
        });
        let mut asks = Vec::new();
        for ask in asked.collect::<Vec<_>>() {
            asks.push(ask.await.unwrap());
        }
        assert_eq!(asks.iter().filter(|it| it.is_ok()).count(), 1, "{asks:?}");
        let refusals = [Code::Unauthenticated, Code::ProofNeeded, Code::Throttled];
        assert!(asks.iter().filter_map(|it| it.err()).all(|it| refusals.contains(&it)), "{asks:?}");
        let token = kit.token_to(ADA).await;
        let undone = (0..100).map(|n| {
            let ((node, site), token) = (nodes[n % nodes.len()].clone(), token.clone());
            tokio::spawn(async move { node.deletion_undo(&site, &token, HERE).await.map(drop).map_err(|it| it.code()) })
        });
        let mut undos = Vec::new();
        for undo in undone.collect::<Vec<_>>() {
            undos.push(undo.await.unwrap());
        }
        assert_eq!(undos.iter().filter(|it| it.is_ok()).count(), 1, "{undos:?}");
        assert!(undos.iter().filter_map(|it| it.err()).all(|it| it == Code::LinkInvalid), "{undos:?}");
        let events = kit.events(&MemberId::from(caller.id())).await;
        assert_eq!((count(&events, "deletion_ask"), count(&events, "deletion_undo")), (1, 1));
    }

    async fn at_the_moment_itself_it_is_kept_whole_or_gone_whole(engine) {
        let kit = Kit::new(engine).await;
        kit.wait_days(1).await;
        let nodes = kit.everywhere().await;
        for round in 0..4 {
            let email = format!("ada{round}@example.org");
            let (id, token) = kit.leaving(&email).await;
            kit.base.clock.advance(DAY - 1);
            let clock = kit.base.clock.clone();
            let both = (0..100).map(|n| {
                let ((node, site), token) = (nodes[n % nodes.len()].clone(), token.clone());
                let clock = (n == 20 + 20 * round).then(|| clock.clone());
                tokio::spawn(async move {
                    if let Some(clock) = clock {
                        clock.advance(1);
                    }
                    match n % 2 {
                        0 => node.deletion_undo(&site, &token, HERE).await.map(|_| true).map_err(|it| it.code()),
                        _ => {
                            node.retention_run(&site).await;
                            Ok(false)
                        }
                    }
                })
            });
            let mut answers = Vec::new();
            for one in both.collect::<Vec<_>>() {
                answers.push(one.await.unwrap());
            }
            kit.identity.retention_run(&kit.site).await;
            let kept = answers.iter().filter(|it| **it == Ok(true)).count();
            assert!(kept <= 1 && answers.iter().all(|it| matches!(it, Ok(_) | Err(Code::LinkInvalid))), "{answers:?}");
            let member = kit.found(&id).await;
            let events = kit.events(&id).await;
            let [undone, deleted] = ["deletion_undo", "member_delete"].map(|it| count(&events, it));
            assert_eq!((undone, deleted), if kept == 1 { (1, 0) } else { (0, 1) }, "{events:?}");
            assert_eq!(member.deletion, None);
            match kept {
                1 => {
                    assert_eq!((member.status, member.email.as_str(), member.has_password()), (Status::Active, email.as_str(), true));
                    assert!(kit.login(&email, PASSWORD).await.is_ok());
                }
                _ => {
                    assert_eq!((member.status, member.email.as_str(), member.has_password()), (Status::Deleted, "", false));
                    assert_eq!(code_of(kit.login(&email, PASSWORD).await), Code::PasswordWrong);
                }
            }
        }
    }

    async fn who_is_blocked_meanwhile_stays_blocked(engine) {
        let kit = Kit::new(engine).await;
        let (id, token) = kit.leaving(ADA).await;
        let blocked = kit.identity.member_block(&kit.site, &app(), &id).await.unwrap();
        assert!(blocked.status == Status::Deleted && blocked.deletion.unwrap().kept_as == Status::Blocked);
        let approved = kit.identity.member_approve(&kit.site, &app(), &id).await;
        assert_eq!(code_of(approved), Code::AlreadyExists, "nothing else brings it back");
        assert_eq!(kit.undo(&token).await.unwrap().status, Status::Blocked);
        assert_eq!(code_of(kit.login(ADA, PASSWORD).await), Code::MemberBlocked);
        // Deleted at once by those who run the site, it is gone whatever waits.
        let (id, token) = kit.leaving("bob@example.org").await;
        kit.identity.member_block(&kit.site, &app(), &id).await.unwrap();
        kit.identity.member_unblock(&kit.site, &app(), &id).await.unwrap();
        kit.identity.member_delete(&kit.site, &app(), &id).await.unwrap();
        assert_eq!(code_of(kit.undo(&token).await), Code::LinkInvalid);
        assert!(kit.found(&id).await.email.is_empty());
    }

    async fn who_is_disconnected_meanwhile_stays_out(engine) {
        let kit = Kit::new(engine).await;
        let (id, token) = kit.leaving(ADA).await;
        let all = kit.identity.members_move(&kit.site, &app(), MemberFilter::default(), Move::Disconnect).await;
        assert_eq!(all.unwrap(), 1, "a move of all means those as well who are to go");
        assert_eq!(code_of(kit.identity.member_unblock(&kit.site, &app(), &id).await), Code::AlreadyExists);
        assert_eq!(kit.undo(&token).await.unwrap().status, Status::Offline);
        assert_eq!(code_of(kit.login(ADA, PASSWORD).await), Code::MemberBlocked);
    }

    async fn password_that_leaked_is_refused_before_the_account_is_kept(engine) {
        let kit = Kit::new(engine).await;
        let (id, token) = kit.leaving(ADA).await;
        kit.identity.password_refuse(&kit.site, &app(), &id).await.unwrap();
        assert_eq!(kit.identity.factors_reset(&kit.site, &app(), &id).await.unwrap(), 0);
        assert_eq!(code_of(kit.login(ADA, PASSWORD).await), Code::MemberBlocked);
        kit.undo(&token).await.unwrap();
        assert_eq!(code_of(kit.login(ADA, PASSWORD).await), Code::PasswordReset, "not for a moment it signs in");
    }

    async fn other_days_than_the_member_was_told_are_refused(engine) {
        let kit = Kit::new(engine).await;
        let caller = kit.proven(ADA).await;
        let told = async |days| kit.identity.deletion_ask(&kit.site, &caller, HERE, Some(days)).await;
        kit.wait_days(0).await;
        assert_eq!(code_of(told(14).await), Code::Validation);
        let member = kit.found(&MemberId::from(caller.id())).await;
        assert_eq!((member.status, member.deletion, member.email.as_str()), (Status::Active, None, ADA));
        kit.wait_days(30).await;
        assert_eq!(code_of(told(0).await), Code::Validation);
        assert_eq!(told(30).await.unwrap(), Wish::Waits(kit.base.world.now() + 30 * DAY));
    }

    async fn those_who_run_the_site_keep_an_account(engine) {
        let kit = Kit::new(engine).await;
        let (id, token) = kit.leaving(ADA).await;
        let bob = kit.proven("bob@example.org").await;
        let editor = Caller::User { id: "u".into(), role: Role::Editor, session: "s".into() };
        for caller in [&bob, &editor] {
            assert_eq!(code_of(kit.identity.deletion_undo_for(&kit.site, caller, &id).await), Code::Forbidden);
        }
        assert_eq!(kit.identity.deletion_undo_for(&kit.site, &app(), &id).await.unwrap().status, Status::Active);
        assert_eq!(code_of(kit.undo(&token).await), Code::LinkInvalid, "the link ended with it");
        let again = kit.identity.deletion_undo_for(&kit.site, &app(), &id).await;
        assert_eq!(code_of(again), Code::AlreadyExists);
    }

    async fn without_days_it_goes_at_once(engine) {
        let kit = Kit::new(engine).await;
        kit.wait_days(0).await;
        let caller = kit.proven(ADA).await;
        kit.mail.take();
        assert_eq!(kit.ask(&caller).await.unwrap(), Wish::Gone);
        let gone = kit.found(&MemberId::from(caller.id())).await;
        assert!(gone.email.is_empty() && gone.deletion.is_none());
        assert!(kit.register(ADA).await.is_ok());
    }

    async fn copy_tells_what_is_known_of_the_member_alone(engine) {
        let kit = Kit::new(engine).await;
        let (tokens, ..) = kit.member(ADA).await;
        let caller = kit.caller(&tokens.access_token).await.unwrap();
        let export = async |caller: &Caller| kit.identity.member_export(&kit.site, caller, HERE).await;
        for stranger in [app(), Caller::Visitor { id: "v".into(), client: None }] {
            assert_eq!(code_of(export(&stranger).await), Code::Forbidden);
        }
        assert_eq!(code_of(export(&caller).await), Code::ProofNeeded);
        kit.proven("bob@example.org").await;
        kit.prove(&caller).await;
        let copy: Value = export(&caller).await.unwrap();
        assert_eq!(copy["member"]["email"]["address"], ADA);
        assert_eq!(copy["member"]["identityProfile"]["firstName"], "Ada");
        assert!(copy["sessions"].as_array().unwrap().iter().any(|it| it["isCurrent"] == true));
        let events: Vec<_> = copy["audit"].as_array().unwrap().iter().map(|it| it["event"].clone()).collect();
        assert!(events.contains(&json!("member_register")) && events.contains(&json!("data_export")), "{events:?}");
        let text = copy.to_string();
        assert!(!text.contains("bob@") && !text.contains("argon") && !text.contains("\"hash"), "{text}");
        // So many, then later again.
        for _ in 0..4 {
            export(&caller).await.unwrap();
        }
        assert_eq!(code_of(export(&caller).await), Code::Throttled);
        kit.base.clock.advance(60 * 60_000);
        kit.prove(&caller).await;
        assert!(export(&caller).await.is_ok());
    }

    async fn of_a_hundred_copies_at_once_few_are_made(engine) {
        let kit = Kit::new(engine).await;
        let caller = kit.proven(ADA).await;
        let copies = (0..100).map(|_| {
            let (node, site, caller) = (kit.identity.clone(), kit.site.clone(), caller.clone());
            tokio::spawn(async move { node.member_export(&site, &caller, HERE).await.map(drop).map_err(|it| it.code()) })
        });
        let mut made = Vec::new();
        for copy in copies.collect::<Vec<_>>() {
            made.push(copy.await.unwrap());
        }
        let count_made = made.iter().filter(|it| it.is_ok()).count();
        assert!((1..=5).contains(&count_made) && made.iter().all(|it| matches!(it, Ok(()) | Err(Code::Throttled))), "{made:?}");
        // Those who were refused hold no turn.
        let bob = kit.proven("bob@example.org").await;
        assert!(kit.identity.member_export(&kit.site, &bob, HERE).await.is_ok());
    }
}
