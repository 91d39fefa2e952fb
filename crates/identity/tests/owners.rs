//! Recovery of those who run sites, and what becomes of their tokens and sessions, on both engines.

#![allow(clippy::unwrap_used, reason = "a test that can't be set up has failed")]

mod common;

use common::*;
use serde_json::{Value, json};
use std::{
    net::{IpAddr, Ipv4Addr},
    time::Duration,
};
use stoa_identity::{
    Config, Identity,
    audit::AuditQuery,
    browser::{Browser, Change},
    factor::Proof,
    flow::{FlowInput, FlowKind, FlowStart, FlowView},
    operator::OperatorSession,
};
use stoa_kernel::{Caller, Code, Email, Fault, KeyId, Result, Role, Secret, SessionId};
use stoa_sql::params;
use stoa_store::{ReaderPool, boxed};
use stoa_testkit::on_both_engines;

const OLGA: &str = "olga@example.org";
const NEW: &str = "quite another phrase";

fn machine(n: u8) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(203, 0, 113, n))
}

fn browser(n: u8) -> Browser {
    Browser {
        session: Vec::new(),
        operator: Vec::new(),
        flow: None,
        device: None,
        user_agent: None,
        language: None,
        address: machine(n),
        base_url: "http://localhost".to_owned(),
        is_at_sites_host: false,
        relying_party: None,
    }
}

fn value(change: Change) -> Option<String> {
    match change {
        Change::Set(it) => Some(it.expose().to_owned()),
        Change::Keep | Change::Clear(_) => None,
    }
}

fn codes(view: &FlowView) -> Vec<&str> {
    view.problems.iter().map(|it| it.code.as_str()).collect()
}

impl Kit {
    /// Makes somebody an operator of the site.
    async fn operator(&self, email: &str, role: Role, site: &stoa_store::Site) {
        let (email, life) = (Email::parse(email).unwrap(), Duration::from_secs(60));
        let url = self.identity.invite_create(&site.id, Some(&email), role, life, "http://localhost").await.unwrap();
        let invite = url.split_once("invite=").unwrap().1;
        self.identity.invite_accept(invite, None, &Secret::new(PASSWORD), machine(1)).await.unwrap();
    }

    /// Somebody who runs the site, signed in, with the cookie.
    async fn operator_signed_in(&self) -> (OperatorSession, Secret) {
        self.operator(OLGA, Role::Owner, &self.site).await;
        let (email, password) = (Email::parse(OLGA).unwrap(), Secret::new(PASSWORD));
        let known = self.identity.operator_sign_in(&self.site.id, &email, &password, machine(1)).await.unwrap();
        self.identity.operator_session_create(&self.site.id, &known.operator, known.role).await.unwrap()
    }

    /// When a session of who runs sites was last used, as it is stored.
    async fn last_use(&self, session: &SessionId) -> i64 {
        let id = session.clone();
        let sql = "select used from stoa.person_session where id = $1";
        let read = self
            .base
            .store
            .catalog()
            .read(ReaderPool::Point, move |tx| boxed!(Ok(tx.row(sql, &params![&id], |row| row.get(0)).await?)));
        read.await.unwrap().unwrap()
    }

    async fn begin(&self, browser: &mut Browser) -> FlowView {
        let start = FlowStart { kind: FlowKind::OwnerSignIn, client_id: None, return_url: None, invite: None };
        let shown = self.identity.flow_start(&self.site, &start, browser).await.unwrap();
        browser.flow = value(shown.cookies.flow);
        shown.view
    }

    /// Answers a step; the cookie of an operator's session comes along when there is one.
    async fn answer(&self, token: &str, input: Value, browser: &Browser) -> (FlowView, Option<String>) {
        let input: FlowInput = serde_json::from_value(input).unwrap();
        let shown = self.identity.flow_answer(&self.site, token, input, browser).await.unwrap();
        (shown.view, value(shown.cookies.operator))
    }

    /// Tries a password on the owners' page from an unknown browser.
    async fn try_password(&self, n: u8, password: &str) -> Option<String> {
        let mut browser = browser(n);
        let token = self.begin(&mut browser).await.token;
        let input = json!({ "type": "SIGN_IN", "email": OLGA, "password": password });
        self.answer(&token, input, &browser).await.0.problems.first().map(|it| it.code.clone())
    }

    /// Asks for a link on the owners' page.
    async fn ask_for_link(&self, email: &str) {
        let mut browser = browser(90);
        let token = self.begin(&mut browser).await.token;
        self.answer(&token, json!({ "type": "SWITCH", "to": "RECOVER", "email": email }), &browser).await;
        let (view, _) = self.answer(&token, json!({ "type": "RECOVER_REQUEST", "email": email }), &browser).await;
        assert_eq!(serde_json::to_value(&view.step).unwrap()["type"], "RECOVER_SENT", "{view:?}");
    }

    /// The token of the link that was sent to an address, once there is one.
    async fn link_to(&self, email: &str) -> Option<String> {
        for _ in 0..3_000 {
            if let Some(mail) = self.mail.last_to(email) {
                let url = mail.links[0].clone();
                assert!(url.starts_with("http://localhost/_api/account/v1/recover?token=o"), "{url}");
                return Some(url.split_once("token=").unwrap().1.to_owned());
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        None
    }

    /// Opens a link in a browser and sets the password.
    async fn set_by_link(&self, link: &str, password: &str) -> Result<(FlowView, Option<String>)> {
        let mut browser = browser(91);
        let begun = self.identity.recovery_open(&self.site, link, &browser).await?;
        browser.flow = value(begun.cookies.flow);
        let input = json!({ "type": "NEW_PASSWORD", "password": password });
        Ok(self.answer(begun.token.expose(), input, &browser).await)
    }

    async fn audited(&self, event: &str) -> usize {
        let app = Caller::App { id: "key".into() };
        let query = AuditQuery { event: Some(event.to_owned()), limit: 100, ..AuditQuery::default() };
        self.identity.audit_list(&self.site, &app, query).await.unwrap().len()
    }

    async fn catalog(&self, sql: &'static str) {
        let write = self.base.store.catalog().write(move |tx| {
            boxed!({
                tx.execute(sql, &[]).await?;
                Ok(())
            })
        });
        write.await.unwrap();
    }
}

on_both_engines! {
    async fn session_of_an_operator_that_is_not_used_ends(engine) {
        let kit = Kit::new(engine).await;
        let hour = 3_600_000;
        let (session, cookie) = kit.operator_signed_in().await;
        let cookie = cookie.expose();
        for _ in 0..3 {
            kit.base.clock.advance(11 * hour);
            assert!(kit.identity.operator_session_by_cookie(cookie).await.unwrap().is_some(), "used within twelve hours");
        }
        // Its access tokens count as use, on whichever node.
        let node = kit.second_node().await;
        for _ in 0..4 {
            let access = kit.identity.operator_access(&session).await.unwrap().token;
            kit.base.clock.advance(3 * hour);
            assert!(node.authenticate(Some(&access), None).await.is_ok());
        }
        assert!(node.operator_session_by_cookie(cookie).await.unwrap().is_some());
        let access = kit.identity.operator_access(&session).await.unwrap().token;
        assert!(kit.caller(&access).await.is_ok());
        assert_eq!(kit.identity.operator_list(&kit.site.id).await.unwrap()[0].sessions, 1);
        assert_eq!(kit.identity.operator_browsers(&session).await.unwrap().len(), 1);
        kit.base.clock.advance(12 * hour);
        for identity in [&kit.identity, &node] {
            assert_eq!(identity.operator_session_by_cookie(cookie).await.unwrap(), None);
            let late = identity.operator_access(&session).await.unwrap().token;
            assert!(identity.authenticate(Some(&late), None).await.is_err(), "nor by a token that is made of it");
        }
        assert_eq!(kit.identity.operator_list(&kit.site.id).await.unwrap()[0].sessions, 0);
        assert!(kit.identity.operator_browsers(&session).await.unwrap().is_empty());
    }

    async fn session_of_an_operator_that_was_found_unused_stays_over(engine) {
        let kit = Kit::new(engine).await;
        let (hour, day) = (3_600_000, 86_400_000);
        let (session, cookie) = kit.operator_signed_in().await;
        let (other, other_cookie) = kit.operator_signed_in().await;
        kit.base.clock.advance(12 * hour);
        let access = async |identity: &Identity, session: &OperatorSession| {
            let access = identity.operator_access(session).await.unwrap().token;
            identity.authenticate(Some(&access), None).await.is_ok()
        };
        // One is found by its cookie, the other one by a token that is made of it.
        assert_eq!(kit.identity.operator_session_by_cookie(cookie.expose()).await.unwrap(), None);
        assert!(!access(&kit.identity, &other).await);
        let longer = kit.node_with(Config { operator_idle: 14 * day, ..config() }).await;
        for (session, cookie) in [(session, cookie), (other, other_cookie)] {
            assert_eq!(longer.operator_session_by_cookie(cookie.expose()).await.unwrap(), None);
            assert!(!access(&longer, &session).await);
        }
    }

    async fn access_token_that_is_over_keeps_no_session_open(engine) {
        let kit = Kit::new(engine).await;
        let hour = 3_600_000;
        let (session, cookie) = kit.operator_signed_in().await;
        let access = kit.identity.operator_access(&session).await.unwrap().token;
        let begun = kit.last_use(&session.id).await;
        kit.base.clock.advance(5 * hour);
        assert!(kit.caller(&access).await.is_err());
        assert_eq!(kit.last_use(&session.id).await, begun);
        kit.base.clock.advance(7 * hour);
        assert_eq!(kit.identity.operator_session_by_cookie(cookie.expose()).await.unwrap(), None);
    }

    async fn session_of_an_earlier_version_counts_from_the_upgrade(engine) {
        let kit = Kit::new(engine).await;
        let hour = 3_600_000;
        let (session, cookie) = kit.operator_signed_in().await;
        let is_open = async |identity: &Identity| identity.operator_session_by_cookie(cookie.expose()).await.unwrap().is_some();
        // As a version before leaves it, which writes down no use.
        kit.catalog("update stoa.person_session set used = null").await;
        kit.base.clock.advance(11 * hour);
        assert!(is_open(&kit.identity).await, "one that is made beside this version counts from when it began");
        kit.catalog("update stoa.person_session set used = null").await;
        kit.base.clock.advance(20 * hour);
        let upgraded = kit.second_node().await;
        assert_eq!(kit.last_use(&session.id).await, kit.base.world.now());
        kit.base.clock.advance(12 * hour - 1);
        assert!(is_open(&upgraded).await);
        // Starting once more is no use of it.
        kit.base.clock.advance(11 * hour);
        let upgraded = kit.second_node().await;
        kit.base.clock.advance(hour);
        assert!(!is_open(&upgraded).await);
    }

    async fn use_of_an_operators_session_is_written_once_a_minute(engine) {
        let kit = Kit::new(engine).await;
        let (session, cookie) = kit.operator_signed_in().await;
        let begun = kit.last_use(&session.id).await;
        kit.base.clock.advance(59_999);
        assert!(kit.identity.operator_session_by_cookie(cookie.expose()).await.unwrap().is_some());
        assert_eq!(kit.last_use(&session.id).await, begun);
        kit.base.clock.advance(1);
        let tries = (0..100).map(|_| {
            let (identity, cookie) = (kit.identity.clone(), cookie.clone());
            tokio::spawn(async move { identity.operator_session_by_cookie(cookie.expose()).await.unwrap().is_some() })
        });
        for tried in tries.collect::<Vec<_>>() {
            assert!(tried.await.unwrap());
        }
        assert_eq!(kit.last_use(&session.id).await, begun + 60_000);
        kit.base.clock.advance(1_000);
        assert!(kit.identity.operator_session_by_cookie(cookie.expose()).await.unwrap().is_some());
        assert_eq!(kit.last_use(&session.id).await, begun + 60_000);
    }

    async fn owner_whose_account_is_guessed_at_gets_in_by_a_link(engine) {
        let kit = Kit::new(engine).await;
        kit.operator(OLGA, Role::Owner, &kit.site).await;
        for n in 0..25 {
            kit.try_password(n, &format!("guess number {n}")).await;
        }
        assert_eq!(kit.try_password(50, PASSWORD).await.as_deref(), Some("THROTTLED_FEATURE"), "twenty guesses");
        kit.ask_for_link(OLGA).await;
        let link = kit.link_to(OLGA).await.expect("a link");
        let (view, session) = kit.set_by_link(&link, NEW).await.unwrap();
        assert!(session.is_some() && codes(&view).is_empty(), "signed in at once: {view:?}");
        assert_eq!(serde_json::to_value(&view.step).unwrap()["message"], "PASSWORD_CHANGED");
        assert_eq!(kit.try_password(51, NEW).await, None, "the wait is over everywhere");
        assert_eq!(kit.try_password(52, PASSWORD).await.as_deref(), Some("INVALID_CREDENTIALS"));
        assert_eq!(kit.audited("operator_password_change").await, 1);
        let told = kit.mail.take();
        assert!(told.iter().any(|it| it.to == OLGA && it.links == ["http://localhost/account/owner?clientId=".to_owned() + kit.client.id.as_str()]), "{told:?}");
    }

    async fn owners_link_ends_every_session_and_every_link(engine) {
        let kit = Kit::new(engine).await;
        kit.operator(OLGA, Role::Owner, &kit.site).await;
        let (other, _) = kit.other_site().await;
        kit.operator(OLGA, Role::Editor, &other).await;
        let email = Email::parse(OLGA).unwrap();
        let mut held = Vec::new();
        for site in [&kit.site, &other] {
            let known = kit.identity.operator_sign_in(&site.id, &email, &Secret::new(PASSWORD), machine(1)).await.unwrap();
            let made = kit.identity.operator_session_create(&site.id, &known.operator, known.role).await.unwrap();
            let access = kit.identity.operator_access(&made.0).await.unwrap().token;
            assert!(kit.caller(&access).await.is_ok());
            held.push((made.1, access));
        }
        kit.ask_for_link(OLGA).await;
        let first = kit.link_to(OLGA).await.unwrap();
        kit.mail.take();
        kit.ask_for_link(OLGA).await;
        let second = kit.link_to(OLGA).await.unwrap();
        kit.set_by_link(&second, NEW).await.unwrap();
        let node = kit.second_node().await;
        for (cookie, access) in held {
            assert_eq!(kit.identity.operator_session_by_cookie(cookie.expose()).await.unwrap(), None);
            assert_eq!(kit.caller(&access).await.unwrap_err().code(), Code::Unauthenticated);
            assert!(node.authenticate(Some(&access), None).await.is_err(), "on every node");
        }
        for link in [&first, &second] {
            let refused = kit.set_by_link(link, "a third phrase now").await.map(drop);
            assert_eq!(refused.map_err(|it| it.code()), Err(Code::LinkInvalid));
        }
        let known = kit.identity.operator_sign_in(&other.id, &email, &Secret::new(NEW), machine(1)).await;
        assert!(known.is_ok(), "one password for all sites");
    }

    async fn role_counts_on_every_node_once_it_is_set(engine) {
        let kit = Kit::new(engine).await;
        kit.operator(OLGA, Role::Owner, &kit.site).await;
        kit.operator("otto@example.org", Role::Owner, &kit.site).await;
        let email = Email::parse(OLGA).unwrap();
        let mut nodes = kit.other_nodes().await;
        nodes.push(kit.identity.clone());
        let known = kit.identity.operator_sign_in(&kit.site.id, &email, &Secret::new(PASSWORD), machine(1)).await.unwrap();
        // Its session is in no list, so that it goes on when the role changes.
        let access = kit.identity.operator_access(&known).await.unwrap().token;
        for role in [Role::Editor, Role::Owner, Role::Editor] {
            kit.identity.operator_role_set(&kit.site.id, &email, role).await.unwrap();
            for node in &nodes {
                let caller = node.authenticate(Some(&access), None).await.unwrap().caller;
                assert!(matches!(caller, Caller::User { role: now, .. } if now == role), "{caller:?}, not {role:?}");
            }
        }
        kit.identity.operator_remove(&kit.site.id, &email).await.unwrap();
        for node in &nodes {
            assert!(node.authenticate(Some(&access), None).await.is_err());
        }
    }

    async fn proof_and_reset_of_factors_count_on_every_node(engine) {
        let kit = Kit::new(engine).await;
        let (session, _) = kit.operator_signed_in().await;
        let access = kit.identity.operator_access(&session).await.unwrap().token;
        let mut nodes = kit.other_nodes().await;
        nodes.push(kit.identity.clone());
        let begun = async |node: &Identity| node.operator_factor_begin(&session, None).await.map(drop);
        for node in &nodes {
            assert_eq!(begun(node).await.map_err(|it| it.code()), Err(Code::ProofNeeded));
        }
        let proof = Proof::Password(Secret::new(PASSWORD));
        nodes[0].operator_prove(&session, &attempt(), &proof).await.unwrap();
        for node in &nodes {
            begun(node).await.unwrap();
            assert!(node.authenticate(Some(&access), None).await.is_ok());
        }
        let command = Caller::App { id: KeyId::from("command-line") };
        let email = Email::parse(OLGA).unwrap();
        nodes[0].operator_factors_reset(&kit.site.id, &command, &email).await.unwrap();
        for node in &nodes {
            assert_eq!(begun(node).await.map_err(|it| it.code()), Err(Code::ProofNeeded));
            assert!(node.authenticate(Some(&access), None).await.is_err());
        }
    }

    async fn owners_link_counts_once_among_a_hundred(engine) {
        let kit = Kit::new(engine).await;
        kit.operator(OLGA, Role::Owner, &kit.site).await;
        kit.ask_for_link(OLGA).await;
        let link = kit.link_to(OLGA).await.unwrap();
        // A hundred pages show it already.
        let mut pages = Vec::new();
        for n in 0..100 {
            let mut browser = browser(n);
            let begun = kit.identity.recovery_open(&kit.site, &link, &browser).await.unwrap();
            browser.flow = value(begun.cookies.flow);
            pages.push((browser, begun.token));
        }
        let mut crowd = tokio::task::JoinSet::new();
        for (n, (browser, token)) in pages.into_iter().enumerate() {
            let (identity, site) = (kit.identity.clone(), kit.site.clone());
            crowd.spawn(async move {
                let input = json!({ "type": "NEW_PASSWORD", "password": format!("quite another phrase {n}") });
                let input: FlowInput = serde_json::from_value(input).unwrap();
                match identity.flow_answer(&site, token.expose(), input, &browser).await {
                    Ok(shown) => shown.view.problems.first().map(|it| it.code.clone()),
                    Err(fault) => Some(fault.code().name().to_owned()),
                }
            });
        }
        let mut answers: Vec<Option<String>> = Vec::new();
        while let Some(it) = crowd.join_next().await {
            answers.push(it.unwrap());
        }
        let of = |code: Option<&str>| answers.iter().filter(|it| it.as_deref() == code).count();
        assert_eq!(of(None), 1, "{answers:?}");
        assert_eq!(of(Some("INVALID_LINK")) + of(Some("THROTTLED_FEATURE")), 99, "{answers:?}");
        assert_eq!(kit.audited("operator_password_change").await, 1);
    }

    /// A guesser who knows the old password signs in at the moment at which the link is used.
    async fn old_password_of_an_owner_opens_no_session_later(engine) {
        let kit = Kit::new(engine).await;
        kit.operator(OLGA, Role::Owner, &kit.site).await;
        let (email, old) = (Email::parse(OLGA).unwrap(), Secret::new(PASSWORD));
        let known = kit.identity.operator_sign_in(&kit.site.id, &email, &old, machine(1)).await.unwrap();
        kit.ask_for_link(OLGA).await;
        let link = kit.link_to(OLGA).await.unwrap();
        kit.set_by_link(&link, NEW).await.unwrap();
        let late = kit.identity.operator_session_create(&kit.site.id, &known.operator, known.role).await;
        assert_eq!(late.map(drop).map_err(|it| it.code()), Err(Code::PasswordWrong));
        let known = kit.identity.operator_sign_in(&kit.site.id, &email, &Secret::new(NEW), machine(1)).await.unwrap();
        assert!(kit.identity.operator_session_create(&kit.site.id, &known.operator, known.role).await.is_ok());
    }

    async fn owners_link_is_bound_to_person_site_and_hour(engine) {
        let kit = Kit::new(engine).await;
        kit.operator(OLGA, Role::Owner, &kit.site).await;
        let (other, _) = kit.other_site().await;
        let at_other = kit.identity.invite_create(&other.id, Email::parse("eve@example.org").as_ref(), Role::Owner, Duration::from_secs(60), "http://localhost").await.unwrap();
        kit.identity.invite_accept(at_other.split_once("invite=").unwrap().1, None, &Secret::new(PASSWORD), machine(1)).await.unwrap();
        // Who runs another site, is a member or unknown gets none, and no answer tells so.
        kit.register("ada@example.org").await.unwrap();
        for email in ["eve@example.org", "ada@example.org", "nobody@example.org"] {
            kit.ask_for_link(email).await;
        }
        kit.ask_for_link(OLGA).await;
        let link = kit.link_to(OLGA).await.unwrap();
        assert!(kit.mail.take().iter().all(|it| it.to == OLGA));

        let code = |it: Result<(FlowView, Option<String>)>| it.map(drop).map_err(|it: Fault| it.code());
        let swapped = link.replacen(&format!("o{}.", kit.site.number), &format!("o{}.", other.number), 1);
        assert_eq!(code(kit.set_by_link(&swapped, NEW).await), Err(Code::LinkInvalid));
        let as_member = link.replacen('o', "l", 1);
        assert_eq!(code(kit.set_by_link(&as_member, NEW).await), Err(Code::LinkInvalid));
        let direct = kit.identity.recovery_finish(&kit.site, &link, &Secret::new(NEW), machine(1).into()).await;
        assert_eq!(direct.map(drop).map_err(|it| it.code()), Err(Code::LinkInvalid), "no member's password");
        // What is refused for the password leaves the link as it is.
        for (bad, why) in [("short", "PASSWORD_TOO_SHORT"), ("password1", "PASSWORD_COMMON"), (OLGA, "PASSWORD_CONTEXT")] {
            let (view, _) = kit.set_by_link(&link, bad).await.unwrap();
            assert_eq!(codes(&view), [why]);
        }
        kit.base.clock.advance(60 * 60_000);
        assert_eq!(code(kit.set_by_link(&link, NEW).await), Err(Code::LinkInvalid), "an hour later");
        kit.ask_for_link(OLGA).await;
        let link = kit.link_to(OLGA).await.unwrap();
        kit.catalog("delete from stoa.person_role").await;
        assert_eq!(code(kit.set_by_link(&link, NEW).await), Err(Code::LinkInvalid), "without a role any more");
    }

    async fn owners_links_are_few_an_hour(engine) {
        let kit = Kit::new(engine).await;
        kit.operator(OLGA, Role::Owner, &kit.site).await;
        for _ in 0..8 {
            kit.ask_for_link(OLGA).await;
        }
        let mut mails = Vec::new();
        for _ in 0..3_000 {
            mails.extend(kit.mail.take());
            if mails.len() >= 5 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        // One too many would come now.
        tokio::time::sleep(Duration::from_millis(500)).await;
        mails.extend(kit.mail.take());
        assert_eq!(mails.len(), 5);
    }

    async fn session_of_an_operator_ends_after_fourteen_days(engine) {
        let kit = Kit::new(engine).await;
        kit.operator(OLGA, Role::Owner, &kit.site).await;
        let known = kit.identity.operator_sign_in(&kit.site.id, &Email::parse(OLGA).unwrap(), &Secret::new(PASSWORD), machine(1)).await.unwrap();
        let (_, cookie) = kit.identity.operator_session_create(&kit.site.id, &known.operator, known.role).await.unwrap();
        let is_open = async || kit.identity.operator_session_by_cookie(cookie.expose()).await.unwrap().is_some();
        let hour = 3_600_000;
        for _ in 0..30 {
            kit.base.clock.advance(11 * hour);
            assert!(is_open().await);
        }
        kit.base.clock.advance(6 * hour - 1);
        assert!(is_open().await);
        kit.base.clock.advance(1);
        assert!(!is_open().await, "used or not");
    }

    async fn role_of_an_operator_is_that_of_today(engine) {
        let kit = Kit::new(engine).await;
        kit.operator(OLGA, Role::Owner, &kit.site).await;
        let known = kit.identity.operator_sign_in(&kit.site.id, &Email::parse(OLGA).unwrap(), &Secret::new(PASSWORD), machine(1)).await.unwrap();
        let (session, _) = kit.identity.operator_session_create(&kit.site.id, &known.operator, known.role).await.unwrap();
        let access = kit.identity.operator_access(&session).await.unwrap().token;
        let role = async || kit.caller(&access).await.map(|it| match it {
            Caller::User { role, .. } => role,
            other => panic!("{other:?}"),
        }).map_err(|it| it.code());
        assert_eq!(role().await, Ok(Role::Owner));
        kit.catalog("update stoa.person_role set role = 'EDITOR'").await;
        kit.base.clock.advance(2_000);
        assert_eq!(role().await, Ok(Role::Editor), "two seconds later");
        kit.catalog("delete from stoa.person_role").await;
        kit.base.clock.advance(2_000);
        assert_eq!(role().await, Err(Code::Unauthenticated));
        kit.base.clock.advance(4 * 3_600_000);
        assert_eq!(role().await, Err(Code::Unauthenticated));
    }
}
