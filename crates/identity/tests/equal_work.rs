//! The cost of an answer does not reveal who has an account: for a known address and an unknown one the same
//! statements run, in the same order, as many passwords are hashed, and the answer is the same. Counted,
//! not timed; on both engines.

#![allow(clippy::unwrap_used, reason = "a test that can't be set up has failed")]

mod common;

use common::{
    statements::{self, DONE, TURN},
    *,
};
use serde_json::json;
use std::{collections::HashSet, net::IpAddr, time::Duration};
use stoa_identity::{
    Config, DeviceHints,
    browser::{Browser, Change},
    defence::{
        Attempt,
        throttle::{Lockout, ThrottleLimits},
    },
    flow::{FlowInput, FlowKind, FlowStart},
    sign_in::SignOn,
};
use stoa_kernel::{Caller, Code, Email, MemberId, Result, Role, Secret};
use stoa_sql::params;
use stoa_store::{ReaderPool, boxed};
use stoa_testkit::Engine;

/// What a request did and what it answered.
///
/// On a runtime of one thread nothing else runs between a request's last wait and its end, so what it
/// leaves to the background is not counted; the background's own round is told apart by its statements.
async fn work<T>(request: impl Future<Output = Result<T>>) -> (Vec<String>, Option<String>) {
    DONE.lock().unwrap().clear();
    let answer = request.await;
    let mut done = std::mem::take(&mut *DONE.lock().unwrap());
    done.retain(|it| it.starts_with("insert into stoa.mail") || !(it.contains("stoa.mail") || it.contains("revoc")));
    let told =
        |it: stoa_kernel::Fault| format!("{:?} {} {:?} {:?}", it.code(), it.message(), it.data(), it.violations());
    (done, answer.err().map(told))
}

fn hashes(done: &[String]) -> usize {
    done.iter().filter(|it| *it == "hash").count()
}

fn here() -> IpAddr {
    IpAddr::from([127, 0, 0, 1])
}

/// A site with members of every kind.
async fn kit(engine: Engine) -> Kit {
    statements::listen();
    let limits = ThrottleLimits { lockout: Lockout { free: 6.0, ..Lockout::default() }, ..ThrottleLimits::default() };
    let kit = Kit::with(engine, Config { throttle: limits, ..config() }).await;
    for name in ["active", "blocked", "enrolled"] {
        kit.register(&format!("{name}@example.org")).await.unwrap();
    }
    let id = kit.identity.member_by_email(&kit.site, &Email::parse("enrolled@example.org").unwrap()).await.unwrap();
    add_factor(&kit, id.unwrap().id).await;
    let app = Caller::App { id: "key".into() };
    let id = kit.identity.member_by_email(&kit.site, &Email::parse("blocked@example.org").unwrap()).await.unwrap();
    kit.identity.member_block(&kit.site, &app, &id.unwrap().id).await.unwrap();
    let sign_on = SignOn { email: "passwordless@example.org".to_owned(), profile: json!(null), verify_email: true };
    kit.identity.member_sign_on(&kit.site, &app, None, &sign_on).await.unwrap();
    kit
}

/// A second factor, of which nothing is looked at before the password.
async fn add_factor(kit: &Kit, member: MemberId) {
    let added = kit.site.write_with((kit.site.id.clone(), member), |tx, (site, member)| {
        boxed!({
            tx.execute("insert into stoa.factor_guard (site, member) values ($1, $2)", &params![site, member]).await?;
            let sql = "insert into stoa.factor (site, id, member, name, sealed, created, confirmed) \
                       values ($1, 'f', $2, 'Phone', $3, 0, 0)";
            Ok(tx.execute(sql, &params![site, member, vec![0_u8; 40]]).await?)
        })
    });
    assert_eq!(added.await.unwrap(), 1);
}

const WHO: [&str; 5] = [
    "nobody@example.org",
    "active@example.org",
    "blocked@example.org",
    "passwordless@example.org",
    "enrolled@example.org",
];

async fn sign_in(engine: Engine) {
    let _turn = TURN.lock().await;
    let kit = kit(engine).await;
    let mut first = None;
    for guess in ["a wrong phrase", ""] {
        for who in WHO {
            let done = work(kit.login(who, guess)).await;
            assert_eq!((hashes(&done.0), done.0.len()), (1, 3), "the policy, a look and a hash: {done:?}");
            assert_eq!(*first.get_or_insert_with(|| done.clone()), done, "{who}");
        }
    }
    let long = "x".repeat(2_000);
    for who in WHO {
        assert_eq!(Some(work(kit.login(who, &long)).await), first, "{who}");
    }
    // The try with which a wait begins, and those that are refused.
    let mut first = None;
    for who in WHO {
        for n in 0..4 {
            let device = (n == 3).then(|| "A".repeat(43));
            let hints = DeviceHints { cookie: device, user_agent: Some("Firefox/140.0 Linux".to_owned()) };
            let attempt = Attempt { address: here(), visitor: None, client: None, hints, captcha: None };
            let guess = Secret::new("a wrong phrase");
            let done = work(kit.identity.member_login(&kit.site, &attempt, who, &guess)).await;
            match n {
                0 | 1 => continue,
                _ if hashes(&done.0) == 1 => continue,
                _ => {
                    assert_eq!(done.0.len(), 3, "the policy and two looks: {done:?}");
                    assert!(done.1.as_ref().is_some_and(|it| it.starts_with("Throttled")), "{done:?}");
                    assert_eq!(*first.get_or_insert_with(|| done.clone()), done, "{who}");
                }
            }
        }
    }
    assert!(first.is_some());
}

/// The try after which others wait is written down alike for everybody.
async fn lockout_begins(engine: Engine) {
    let _turn = TURN.lock().await;
    let kit = kit(engine).await;
    let mut all = Vec::new();
    for who in WHO {
        let mut last = None;
        for _ in 0..6 {
            last = Some(work(kit.login(who, "a wrong phrase")).await);
        }
        all.push(last.unwrap());
    }
    assert!(all[0].0.iter().any(|it| it.starts_with("insert into stoa.audit")), "{all:?}");
    assert!(all.iter().all(|it| *it == all[0]), "{all:#?}");
}

/// Waits until the background has nothing left to answer or to send.
async fn answered(kit: &Kit) {
    let sql = "select count(*) from stoa.mail";
    for _ in 0..3_000 {
        let open = kit.site.read(ReaderPool::Point, move |tx| boxed!(Ok(tx.row(sql, &[], |row| row.get(0)).await?)));
        if open.await.unwrap() == Some(0) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("mail waits for ever");
}

async fn recovery(engine: Engine) {
    let _turn = TURN.lock().await;
    let kit = kit(engine).await;
    let app = Caller::App { id: "key".into() };
    let mut first = None;
    for who in WHO {
        let body = json!({ "email": who });
        let done = work(kit.identity.recovery_send(&kit.site, &app, here(), &body)).await;
        assert_eq!((hashes(&done.0), done.0.len(), &done.1), (0, 1, &None), "{done:?}");
        assert_eq!(*first.get_or_insert_with(|| done.clone()), done, "{who}");
        answered(&kit).await;
    }
    // A link that never was.
    let link = |n: u8| format!("l{}.{}", kit.site.number, String::from(char::from(n)).repeat(43));
    let new = Secret::new("quite another phrase");
    let mut tried = Vec::new();
    for n in [b'a', b'b'] {
        tried.push(work(kit.identity.recovery_finish(&kit.site, &link(n), &new, here().into())).await);
    }
    assert_eq!((tried[0].clone(), hashes(&tried[0].0)), (tried[1].clone(), 0));
}

/// Sealing keys that another node has made: no request asks for them, whether or not this node has heard of them. What
/// the background reads of them is told apart by its statement.
async fn recovery_while_sealing_keys_rotate(engine: Engine) {
    const READ: &str = "select id, private, retired from stoa.signing_key";
    const READ_TOKENS: &str = "select id, purpose, private, retired from stoa.signing_key";
    let _turn = TURN.lock().await;
    let kit = kit(engine).await;
    let other = kit.second_node().await;
    let app = Caller::App { id: "key".into() };
    let mut first = None;
    for has_heard in [false, true] {
        for who in WHO {
            if !has_heard {
                // Each time a rotation of which this node hasn't heard yet.
                let rotation = other.seal_begin().await.unwrap();
                other.seal_end(&rotation.id).await.unwrap();
            }
            let body = json!({ "email": who });
            let (mut done, fault) = work(kit.identity.recovery_send(&kit.site, &app, here(), &body)).await;
            if !has_heard {
                done.retain(|it| !it.starts_with(READ) && !it.starts_with(READ_TOKENS));
            }
            assert!(!done.iter().any(|it| it.contains("signing_key")), "{done:?}");
            assert_eq!((hashes(&done), done.len(), &fault), (0, 1, &None), "{done:?}");
            assert_eq!(*first.get_or_insert_with(|| done.clone()), done, "{who}");
            answered(&kit).await;
        }
        hears(READ).await;
    }
}

/// Waits until the background has read the sealing keys again.
async fn hears(read: &str) {
    DONE.lock().unwrap().clear();
    let mut quiet = 0;
    for _ in 0..1_000 {
        tokio::time::sleep(Duration::from_millis(20)).await;
        let has_read = std::mem::take(&mut *DONE.lock().unwrap()).iter().any(|it| it.starts_with(read));
        // It looks every second whether there is anything to read.
        quiet = if has_read { 0 } else { quiet + 1 };
        if quiet > 150 {
            return;
        }
    }
    panic!("sealing keys are read for ever");
}

async fn start(engine: Engine) {
    let _turn = TURN.lock().await;
    let kit = kit(engine).await;
    let known = kit.identity.member_by_email(&kit.site, &Email::parse("active@example.org").unwrap()).await.unwrap();
    let (known, unknown) = (known.unwrap().id, MemberId::from(kit.base.world.uuid()));
    let visitor = kit.caller(&kit.visitor().await.access_token).await.unwrap();
    let member = kit.caller(&kit.member("other@example.org").await.0.access_token).await.unwrap();
    for caller in [visitor, member] {
        let here = work(kit.identity.verification_start(&kit.site, &caller, &known)).await;
        let there = work(kit.identity.verification_start(&kit.site, &caller, &unknown)).await;
        assert_eq!((&here.0, here.1.as_deref().map(|it| it.starts_with("Forbidden"))), (&Vec::new(), Some(true)));
        assert_eq!(here, there);
    }
}

/// Registering tells that an address is taken, as the protocol asks; it hashes nothing then, so that one who
/// asks for many costs little.
async fn registration_of_a_taken_address(engine: Engine) {
    let _turn = TURN.lock().await;
    let kit = kit(engine).await;
    for who in &WHO[1..] {
        let done = work(kit.register(who)).await;
        assert_eq!((hashes(&done.0), done.0.len()), (0, 2), "the policy and a look: {done:?}");
        assert!(done.1.is_some_and(|it| it.starts_with("EmailTaken")));
    }
    let fresh = work(kit.register(WHO[0])).await;
    assert_eq!((hashes(&fresh.0), fresh.1), (1, None));
}

/// Asking for a link on the owners' page.
async fn recovery_of_operators(engine: Engine) {
    let _turn = TURN.lock().await;
    let kit = kit(engine).await;
    let mut browser = invite_olga(&kit).await;
    let mut first = None;
    for who in ["nobody@example.org", "olga@example.org", "active@example.org"] {
        let token = owner_page(&kit, &mut browser).await;
        let answer = async |input: serde_json::Value| {
            let input: FlowInput = serde_json::from_value(input).unwrap();
            kit.identity.flow_answer(&kit.site, &token, input, &browser).await.map(|it| it.view)
        };
        answer(json!({ "type": "SWITCH", "to": "RECOVER", "email": who })).await.unwrap();
        let mut shown = None;
        let done = work(async {
            shown = Some(answer(json!({ "type": "RECOVER_REQUEST", "email": who })).await?);
            Ok(())
        });
        let (mut statements, fault) = done.await;
        // What answers in the background may have begun: it asks for the person and for the clients that name the site's
        // address, and writes a letter as the call does.
        let mut seen = HashSet::new();
        let background = |it: &str| it.contains("stoa.person") || it.contains("from stoa.client");
        statements.retain(|it| !background(it) && seen.insert(it.clone()));
        let shown = serde_json::to_value(shown.unwrap()).unwrap();
        assert_eq!((hashes(&statements), &fault, &shown["step"]["type"]), (0, &None, &json!("RECOVER_SENT")));
        assert_eq!(*first.get_or_insert_with(|| statements.clone()), statements, "{who}");
        answered(&kit).await;
    }
    assert_eq!(kit.mail.take().len(), 1);
}

/// Makes Olga an owner, and an unknown browser.
async fn invite_olga(kit: &Kit) -> Browser {
    let life = Duration::from_secs(60);
    let email = Email::parse("olga@example.org").unwrap();
    let url = kit.identity.invite_create(&kit.site.id, Some(&email), Role::Owner, life, "http://localhost");
    let invite = url.await.unwrap().split_once("invite=").unwrap().1.to_owned();
    kit.identity.invite_accept(&invite, None, &Secret::new(PASSWORD), here()).await.unwrap();
    kit.mail.take();
    Browser {
        session: Vec::new(),
        operator: Vec::new(),
        flow: None,
        device: None,
        user_agent: None,
        language: None,
        address: here(),
        base_url: "http://localhost".to_owned(),
        is_at_sites_host: false,
        relying_party: None,
    }
}

/// Opens the page on which owners sign in: the flow's token.
async fn owner_page(kit: &Kit, browser: &mut Browser) -> String {
    let begin = FlowStart { kind: FlowKind::OwnerSignIn, client_id: None, return_url: None, invite: None };
    let shown = kit.identity.flow_start(&kit.site, &begin, browser).await.unwrap();
    let Change::Set(cookie) = shown.cookies.flow else { panic!("a flow has a cookie") };
    browser.flow = Some(cookie.expose().to_owned());
    shown.view.token
}

async fn operators(engine: Engine) {
    let _turn = TURN.lock().await;
    let kit = kit(engine).await;
    let mut browser = invite_olga(&kit).await;
    let mut all = Vec::new();
    for who in ["nobody@example.org", "olga@example.org", "active@example.org"] {
        let token = owner_page(&kit, &mut browser).await;
        let input = json!({ "type": "SIGN_IN", "email": who, "password": "a wrong phrase" });
        let input: FlowInput = serde_json::from_value(input).unwrap();
        let mut problems = Vec::new();
        let done = work(async {
            problems = kit.identity.flow_answer(&kit.site, &token, input, &browser).await?.view.problems;
            Ok(())
        });
        let (statements, fault) = done.await;
        assert_eq!((hashes(&statements), fault), (1, None));
        all.push((statements, serde_json::to_value(problems).unwrap()));
    }
    assert!(all.iter().all(|it| *it == all[0]), "{all:#?}");
    assert_eq!(all[0].1[0]["code"], "INVALID_CREDENTIALS");
    assert_eq!(Code::PasswordWrong.name(), "-19976");
}

/// Of those who sign in at once only as many are looked up as have a turn; the others hold up no one.
async fn many_at_once(engine: Engine) {
    const CROWD: u8 = 60;
    let _turn = TURN.lock().await;
    let kit = kit(engine).await;
    DONE.lock().unwrap().clear();
    let mut crowd = tokio::task::JoinSet::new();
    for n in 0..CROWD {
        let (identity, site) = (kit.identity.clone(), kit.site.clone());
        crowd.spawn(async move {
            let hints = DeviceHints { cookie: None, user_agent: None };
            let attempt =
                Attempt { address: IpAddr::from([10, 0, 0, n]), visitor: None, client: None, hints, captcha: None };
            let (who, guess) = (format!("nobody{n}@example.org"), Secret::new("a wrong phrase"));
            let answer = identity.member_login(&site, &attempt, &who, &guess).await;
            DONE.lock().unwrap().push("answered".to_owned());
            answer.err().map(|it| it.code())
        });
    }
    while let Some(answer) = crowd.join_next().await {
        assert_eq!(answer.unwrap(), Some(Code::PasswordWrong));
    }
    let (mut looked_up, mut answered, mut most) = (0, 0, 0);
    for line in std::mem::take(&mut *DONE.lock().unwrap()) {
        answered += usize::from(line == "answered");
        looked_up += usize::from(line.contains("from stoa.member"));
        most = most.max(looked_up - answered);
    }
    assert_eq!((looked_up, answered), (CROWD.into(), CROWD.into()));
    // Two turns for each core, of eight at most.
    let turns = 2 * std::thread::available_parallelism().map_or(1, usize::from).clamp(1, 8);
    assert!((1..=turns).contains(&most), "{most} at once");
}

macro_rules! alike {
    ($($name:ident),+) => {$(
        mod $name {
            #[tokio::test(flavor = "current_thread")]
            async fn sqlite() { super::$name(stoa_testkit::Engine::Sqlite).await }

            #[tokio::test(flavor = "current_thread")]
            async fn postgres() { super::$name(stoa_testkit::Engine::Postgres).await }
        }
    )+};
}

alike!(
    sign_in,
    many_at_once,
    lockout_begins,
    recovery,
    recovery_while_sealing_keys_rotate,
    start,
    registration_of_a_taken_address,
    operators,
    recovery_of_operators
);
