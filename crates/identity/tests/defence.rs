//! Attacks on accounts, on a site and on its room, on both engines: what each one gets, and that no one
//! else is the worse for it.

#![allow(clippy::unwrap_used, reason = "a test that can't be set up has failed")]

mod common;

use common::*;
use serde_json::json;
use std::{
    net::{IpAddr, Ipv4Addr},
    sync::Arc,
};
use stoa_identity::{
    Config, DeviceHints,
    audit::AuditQuery,
    browser::{Browser, Change},
    defence::{
        Attempt,
        throttle::{Lockout, Rate, SiteLimits, ThrottleLimits},
    },
    flow::{FlowInput, FlowKind, FlowStart},
    redirect::RequestContext,
};
use stoa_kernel::{Caller, Code, Email, Fault, MemberId, Result, Role, Secret, VisitorId};
use stoa_store::{Database, Ownership, ReaderPool, Site, Tx, TxFuture, boxed};
use stoa_testkit::on_both_engines;

/// The n-th machine of an attacker who has many.
fn machine(n: u16) -> IpAddr {
    let [high, low] = n.to_be_bytes();
    IpAddr::V4(Ipv4Addr::new(203, 0, high, low))
}

fn code_of<T>(result: Result<T>) -> Option<Code> {
    result.err().map(|it| it.code())
}

fn with_limits(throttle: ThrottleLimits) -> Config {
    Config { throttle, ..config() }
}

fn slow(burst: f64) -> Rate {
    Rate { burst, per_second: 0.1 }
}

fn of_sites(site: SiteLimits) -> Config {
    with_limits(ThrottleLimits { site, ..ThrottleLimits::default() })
}

fn browser_at(address: IpAddr, device: Option<&str>) -> Browser {
    Browser {
        session: Vec::new(),
        operator: Vec::new(),
        flow: None,
        device: device.map(str::to_owned),
        user_agent: Some("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0".to_owned()),
        language: None,
        address,
        base_url: "http://localhost".to_owned(),
        is_at_sites_host: false,
        relying_party: None,
    }
}

fn start(kind: FlowKind) -> FlowStart {
    FlowStart { kind, client_id: None, return_url: None, invite: None }
}

fn value(change: Change) -> Option<String> {
    match change {
        Change::Set(it) => Some(it.expose().to_owned()),
        Change::Keep | Change::Clear(_) => None,
    }
}

impl Kit {
    async fn login_as(&self, from: IpAddr, device: Option<&str>, email: &str, password: &str) -> Option<Code> {
        let hints = DeviceHints { cookie: device.map(str::to_owned), user_agent: None };
        let attempt = Attempt { address: from, visitor: None, client: None, hints, captcha: None };
        code_of(self.identity.member_login(&self.site, &attempt, email, &Secret::new(password)).await)
    }

    /// Signs in on the account pages: the cookie by which the browser is known from then on, or `None` when
    /// the page says no.
    async fn page(&self, kind: FlowKind, from: IpAddr, device: Option<&str>, email: &str) -> Option<String> {
        let mut browser = browser_at(from, device);
        let shown = self.identity.flow_start(&self.site, &start(kind), &browser).await.unwrap();
        browser.flow = value(shown.cookies.flow);
        let input = json!({ "type": "SIGN_IN", "email": email, "password": PASSWORD });
        let input: FlowInput = serde_json::from_value(input).unwrap();
        let shown = self.identity.flow_answer(&self.site, &shown.view.token, input, &browser).await.unwrap();
        value(shown.cookies.device)
    }

    /// The token of an invitation to run the site, good for an hour.
    async fn invite(&self, email: Option<&Email>) -> String {
        let life = std::time::Duration::from_secs(3_600);
        let url = self.identity.invite_create(&self.site.id, email, Role::Owner, life, "http://localhost");
        url.await.unwrap().split_once("invite=").unwrap().1.to_owned()
    }

    /// A hundred guesses at once, each from a machine of its own: how many were looked at.
    async fn hundred_guesses(&self, email: &'static str) -> usize {
        let tries = (0..100).map(|n| {
            let (identity, site) = (self.identity.clone(), self.site.clone());
            tokio::spawn(async move {
                let guess = Secret::new(format!("guess number {n}"));
                identity.member_login(&site, &attempt_from(machine(n)), email, &guess).await
            })
        });
        let mut looked_at = 0;
        for answer in tries.collect::<Vec<_>>() {
            match code_of(answer.await.unwrap()) {
                Some(Code::PasswordWrong) => looked_at += 1,
                other => assert_eq!(other, Some(Code::Throttled)),
            }
        }
        looked_at
    }

    async fn audited(&self, event: &str) -> Vec<Option<String>> {
        let app = Caller::App { id: "key".into() };
        let query = AuditQuery { event: Some(event.to_owned()), limit: 1_000, ..AuditQuery::default() };
        let all = self.identity.audit_list(&self.site, &app, query).await.unwrap();
        let mut of: Vec<_> = all.into_iter().map(|it| it.member).collect();
        of.sort();
        of
    }

    async fn count(&self, table: &str) -> i64 {
        count(&self.site, table).await
    }

    async fn count_in_catalog(&self, table: &str) -> i64 {
        count(self.base.store.catalog(), table).await
    }
}

async fn count(database: &Database, table: &str) -> i64 {
    let sql = format!("select count(*) from stoa.{table}");
    let read = database.read(ReaderPool::Point, move |tx| boxed!(Ok(tx.row(&sql, &[], |row| row.get(0)).await?)));
    read.await.unwrap().unwrap_or(0)
}

on_both_engines! {
    async fn lockout_spares_devices_seen_before(engine) {
        let kit = Kit::new(engine).await;
        let (ada, bob) = ("ada@example.org", "bob@example.org");
        let id = kit.register(ada).await.unwrap().member().unwrap().id.to_string();
        kit.register(bob).await.unwrap();
        let home = machine(60_000);
        let mine = kit.page(FlowKind::SignIn, home, None, ada).await.unwrap();
        let theirs = kit.page(FlowKind::SignIn, machine(1), None, bob).await.unwrap();

        assert_eq!(kit.hundred_guesses(ada).await, 20);
        assert_eq!(kit.hundred_guesses("nobody@example.org").await, 20, "nobody is told who has an account");
        assert_eq!(kit.audited("sign_in_slowed").await, [None, Some(id)], "told once");
        let refused = Some(Code::Throttled);
        // The right password does not help from another browser, nor does a cookie of another account.
        assert_eq!(kit.login_as(machine(7), None, ada, PASSWORD).await, refused);
        assert_eq!(kit.login_as(machine(7), Some(&theirs), ada, PASSWORD).await, refused);
        assert_eq!(kit.login_as(machine(7), Some(&"A".repeat(43)), ada, PASSWORD).await, refused);
        assert_eq!(kit.login_as(machine(7), Some(""), ada, PASSWORD).await, refused);
        assert_eq!(kit.login_as(machine(7), Some(&mine), "nobody@example.org", PASSWORD).await, refused);
        assert_eq!(kit.page(FlowKind::SignIn, home, None, ada).await, None);

        // The owner signs in wherever they have before, and as often as they like.
        for _ in 0..30 {
            assert_eq!(kit.login_as(machine(60_001), Some(&mine), ada, PASSWORD).await, None);
        }
        assert_eq!(kit.page(FlowKind::SignIn, home, Some(&mine), ada).await, Some(mine.clone()));
        assert_eq!(kit.login_as(machine(7), Some(&theirs), bob, PASSWORD).await, None);
        // It opens no door for who has stolen the cookie either.
        let guesses = async || kit.login_as(machine(8), Some(&mine), ada, "a guess").await;
        assert_eq!(kit.login_as(machine(7), None, ada, PASSWORD).await, refused, "still");
        let mut wrong = 0;
        while guesses().await == Some(Code::PasswordWrong) {
            wrong += 1;
        }
        assert_eq!(wrong, 20);
        assert_eq!(guesses().await, refused);
    }

    async fn guesses_wait_longer_each_time(engine) {
        let lockout = Lockout { free: 3.0, first: 1_000, longest: 8_000, forgotten: 3_600_000 };
        let kit = Kit::with(engine, with_limits(ThrottleLimits { lockout, ..ThrottleLimits::default() })).await;
        kit.register("ada@example.org").await.unwrap();
        let guess = async |n: u16, password: &str| kit.login_as(machine(n), None, "ada@example.org", password).await;
        for n in 0..3 {
            assert_eq!(guess(n, "a guess").await, Some(Code::PasswordWrong));
        }
        for (n, wait) in [1_000, 2_000, 4_000, 8_000, 8_000].into_iter().enumerate() {
            kit.base.clock.advance(wait - 1);
            assert_eq!(guess(10, PASSWORD).await, Some(Code::Throttled), "before {wait}");
            kit.base.clock.advance(1);
            assert_eq!(guess(20 + n as u16, "a guess").await, Some(Code::PasswordWrong), "after {wait}");
        }
        kit.base.clock.advance(8_000);
        assert_eq!(guess(30, PASSWORD).await, None, "a new browser has to wait, not more");
    }

    async fn recovery_link_ends_the_wait(engine) {
        let kit = Kit::new(engine).await;
        let (ada, here) = ("ada@example.org", machine(60_000));
        kit.register(ada).await.unwrap();
        kit.hundred_guesses(ada).await;
        let app = Caller::App { id: "key".into() };
        kit.identity.recovery_send(&kit.site, &app, here, &json!({ "email": ada })).await.unwrap();
        let mut link = None;
        while link.is_none() {
            link = kit.mail.last_to(ada).map(|it| it.links[0].split_once("token=").unwrap().1.to_owned());
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        let new = Secret::new("quite another phrase");
        kit.identity.recovery_finish(&kit.site, &link.unwrap(), &new, here.into()).await.unwrap();
        assert_eq!(kit.login_as(here, None, ada, new.expose()).await, None);
        assert_eq!(kit.audited("password_change").await.len(), 1);
    }

    async fn lockout_spares_the_devices_of_operators(engine) {
        let kit = Kit::new(engine).await;
        let email = Email::parse("olga@example.org").unwrap();
        let life = std::time::Duration::from_secs(60);
        let url = kit.identity.invite_create(&kit.site.id, Some(&email), Role::Owner, life, "http://localhost");
        let invite = url.await.unwrap().split_once("invite=").unwrap().1.to_owned();
        kit.identity.invite_accept(&invite, None, &Secret::new(PASSWORD), machine(1)).await.unwrap();
        let sign_in = async |n: u16, device: Option<&str>| {
            kit.page(FlowKind::OwnerSignIn, machine(n), device, email.as_str()).await
        };
        let mine = sign_in(60_000, None).await.unwrap();
        for n in 0..25 {
            let mut browser = browser_at(machine(n), None);
            let shown = kit.identity.flow_start(&kit.site, &start(FlowKind::OwnerSignIn), &browser).await.unwrap();
            browser.flow = value(shown.cookies.flow);
            let input = json!({ "type": "SIGN_IN", "email": email.as_str(), "password": format!("guess {n}") });
            let input: FlowInput = serde_json::from_value(input).unwrap();
            kit.identity.flow_answer(&kit.site, &shown.view.token, input, &browser).await.unwrap();
        }
        assert_eq!(sign_in(50_000, None).await, None);
        assert_eq!(sign_in(50_000, Some(&mine)).await, Some(mine));
        assert_eq!(kit.audited("operator_sign_in").await.len(), 2);
    }

    async fn site_under_attack_keeps_its_members(engine) {
        let site = SiteLimits { sign_in: slow(30.0), registration: slow(6.0), ..ThrottleLimits::default().site };
        let kit = Kit::with(engine, of_sites(site)).await;
        let (tokens, ..) = kit.member("ada@example.org").await;
        let refresh = tokens.refresh_token.unwrap();
        let visitor = kit.visitor().await.refresh_token.unwrap();
        let mine = kit.page(FlowKind::SignIn, machine(60_000), None, "ada@example.org").await.unwrap();
        let guess = async |n: u16| kit.login_as(machine(n), None, &format!("member{n}@example.org"), "a guess").await;
        for n in 0..40 {
            assert_eq!(kit.login_as(machine(n), None, "ada@example.org", PASSWORD).await, None, "those don't count");
        }
        for n in 0..30 {
            assert_eq!(guess(n).await, Some(Code::PasswordWrong));
        }
        assert_eq!(guess(31).await, Some(Code::Throttled), "one guess at each account from each machine");
        assert_eq!(kit.login_as(machine(32), None, "ada@example.org", PASSWORD).await, Some(Code::Throttled));
        assert_eq!(kit.login_as(machine(32), Some(&mine), "ada@example.org", PASSWORD).await, None);
        let register = async |n: u16| {
            let registration = registration(&format!("new{n}@example.org"), PASSWORD);
            code_of(kit.identity.member_register(&kit.site, &attempt_from(machine(n)), &registration).await)
        };
        for n in 0..5 {
            assert_eq!(register(n).await, None);
        }
        assert_eq!(register(6).await, Some(Code::Throttled));

        // No member is signed out, no visitor is turned away: refreshing is never counted.
        for _ in 0..200 {
            kit.refresh(&refresh).await.unwrap();
            kit.refresh(&visitor).await.unwrap();
            kit.visitor().await;
        }
        let (other, _) = kit.other_site().await;
        let there = kit.identity.member_login(&other, &attempt(), "ada@example.org", &Secret::new(PASSWORD)).await;
        assert_eq!(code_of(there), Some(Code::PasswordWrong), "another site is none the wiser");
        kit.base.clock.advance(10_000);
        assert_eq!(guess(40).await, Some(Code::PasswordWrong));
    }

    async fn flows_fill_no_disk(engine) {
        let limits = ThrottleLimits { flow: slow(4.0), ..ThrottleLimits::default() };
        let kit = Kit::with(engine, with_limits(limits)).await;
        let (tokens, ..) = kit.member("ada@example.org").await;
        let begin = async |n: u16| {
            let browser = browser_at(machine(n), None);
            code_of(kit.identity.flow_start(&kit.site, &start(FlowKind::SignIn), &browser).await)
        };
        let redirect = async |n: u16, caller: &Caller| {
            let context = RequestContext { caller, address: machine(n), origin: None, base_url: "http://localhost" };
            code_of(kit.identity.redirect_session_create(&kit.site, context, &json!({ "login": {} })).await)
        };
        let visitor = kit.caller(&kit.visitor().await.access_token).await.unwrap();
        for _ in 0..2 {
            assert_eq!((begin(0).await, redirect(0, &visitor).await), (None, None));
        }
        let refused = Some(Code::Throttled);
        for _ in 0..50 {
            assert_eq!((begin(0).await, redirect(0, &visitor).await), (refused, refused));
        }
        assert_eq!((kit.count("flow").await, kit.count("redirect_session").await), (2, 2));
        assert_eq!((begin(1).await, redirect(1, &visitor).await), (None, None), "others are let in");
        assert_eq!(redirect(0, &Caller::App { id: "key".into() }).await, None, "an app speaks for many people");
        assert!(kit.refresh(&tokens.refresh_token.unwrap()).await.is_ok());
        kit.base.clock.advance(10_000);
        assert_eq!(begin(0).await, None);
    }

    async fn retention_deletes_what_is_over_and_nothing_else(engine) {
        let kit = Kit::new(engine).await;
        let begin = async || {
            let browser = browser_at(machine(0), None);
            kit.identity.flow_start(&kit.site, &start(FlowKind::SignIn), &browser).await.unwrap();
            let caller = Caller::App { id: "key".into() };
            let context = RequestContext { caller: &caller, address: machine(0), origin: None, base_url: "http://localhost" };
            kit.identity.redirect_session_create(&kit.site, context, &json!({ "login": {} })).await.unwrap();
        };
        // More than two pieces.
        kit.site.write(|tx| boxed!({
            for n in 0..2_345 {
                let values = stoa_sql::params!["other", format!("{n:043}").into_bytes(), 1];
                let sql = "insert into stoa.redirect_session (site, hash, plan, expires) values ($1, $2, '{}', $3)";
                tx.execute(sql, &values).await?;
            }
            Ok(())
        })).await.unwrap();
        begin().await;
        kit.base.clock.advance(61 * 60_000);
        begin().await;
        kit.identity.retention_run(&kit.site).await;
        assert_eq!(kit.count("flow").await, 1);
        assert_eq!(kit.count("redirect_session").await, 2_346, "another site's are its own affair");
        kit.site.write(|tx| boxed!({
            let sql = "update stoa.redirect_session set site = (select max(site) from stoa.flow) where site = 'other'";
            tx.execute(sql, &[]).await?;
            Ok(())
        })).await.unwrap();
        kit.identity.retention_run(&kit.site).await;
        assert_eq!(kit.count("redirect_session").await, 1);
    }

    async fn retention_deletes_what_is_over_of_operators(engine) {
        let kit = Kit::new(engine).await;
        let (hour, day) = (3_600_000, 86_400_000);
        let email = Email::parse("olga@example.org").unwrap();
        kit.invite(None).await;
        let token = kit.invite(Some(&email)).await;
        let (olga, role) = kit.identity.invite_accept(&token, None, &Secret::new(PASSWORD), machine(1)).await.unwrap();
        let session = async || kit.identity.operator_session_create(&kit.site.id, &olga, role).await.unwrap();
        let (ended, _) = session().await;
        kit.identity.operator_session_end(&ended).await.unwrap();
        let (_, cookie) = session().await;
        let left = async || {
            kit.identity.retention_run_catalog().await;
            (kit.count_in_catalog("invite").await, kit.count_in_catalog("person_session").await)
        };
        assert_eq!(left().await, (2, 2));
        kit.base.clock.advance(day + hour);
        let open = kit.invite(Some(&email)).await;
        assert_eq!(left().await, (1, 1));
        assert!(kit.identity.invite_get(&open).await.is_ok());
        // The one that nobody used is over; its row goes once no token that was made of it could still be good.
        assert!(kit.identity.operator_session_by_cookie(cookie.expose()).await.unwrap().is_none());
        kit.base.clock.advance(14 * day);
        assert_eq!(left().await, (0, 0));
    }

    async fn retention_deletes_operators_sessions_that_are_not_used(engine) {
        let kit = Kit::new(engine).await;
        let (hour, minute) = (3_600_000, 60_000);
        let token = kit.invite(Email::parse("olga@example.org").as_ref()).await;
        let (olga, role) = kit.identity.invite_accept(&token, None, &Secret::new(PASSWORD), machine(1)).await.unwrap();
        let session = async || kit.identity.operator_session_create(&kit.site.id, &olga, role).await.unwrap().1;
        let (used, unused) = (session().await, session().await);
        let left = async || {
            kit.identity.retention_run_catalog().await;
            kit.count_in_catalog("person_session").await
        };
        let is_open = async |cookie: &Secret| kit.identity.operator_session_by_cookie(cookie.expose()).await.unwrap().is_some();
        for _ in 0..4 {
            kit.base.clock.advance(9 * hour);
            assert!(is_open(&used).await);
        }
        // Twelve hours, and as long as an access token may be good.
        kit.base.clock.advance(20 * minute);
        assert_eq!(left().await, 2);
        kit.base.clock.advance(1);
        assert_eq!(left().await, 1);
        assert!(is_open(&used).await && !is_open(&unused).await);
    }

    async fn site_begins_without_accounts(engine) {
        let kit = Kit::new(engine).await;
        assert_eq!(kit.count("member").await, 0);
        for table in ["person", "person_role", "person_session", "invite", "api_key"] {
            assert_eq!(kit.count_in_catalog(table).await, 0, "{table}");
        }
    }

    async fn retention_goes_on_after_a_failure(engine) {
        let kit = Kit::new(engine).await;
        kit.identity.set_ownership(Arc::new(Broken));
        let write = kit.site.write_with(kit.site.id.clone(), |tx, site| {
            boxed!({
                let sql = "insert into stoa.visitor_member (site, visitor, member, created, unfinished) \
                           values ($1, 'v', 'm', 0, 1)";
                tx.execute(sql, &stoa_sql::params![site]).await?;
                let sql = "insert into stoa.captcha (site, hash, expires) values ($1, $2, 0)";
                tx.execute(sql, &stoa_sql::params![site, b"over".to_vec()]).await?;
                Ok(())
            })
        });
        write.await.unwrap();
        kit.identity.retention_run(&kit.site).await;
        assert_eq!((kit.count("visitor_member").await, kit.count("captcha").await), (1, 0));
    }
}

/// Keeps what it should pass on.
struct Broken;

impl Ownership for Broken {
    fn pass<'t>(&'t self, _: &'t mut Tx<'_>, _: &'t Site, _: &'t VisitorId, _: &'t MemberId) -> TxFuture<'t, bool> {
        boxed!(Err(Fault::internal("broken")))
    }
}
