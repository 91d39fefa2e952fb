//! What code is asked and answers, through a process.

use crate::world::{LEFT, ask, call, call_of, host, patient, source, told, version};
use std::time::Duration;
use stoa_hooks::{Failure, Hook, SourceRefusal};
use stoa_kernel::SiteId;
use tokio::time::Instant;

/// Bytes of answers.
const ROOM: usize = 1 << 20;

#[tokio::test]
async fn answer_comes_with_what_was_said_to_the_console() {
    let host = host(patient());
    let body = "console.log('seen', item); item.n++; item.d = new Date(0); return item";
    let called =
        host.call(&version("s", 1, body), &call(r#"{"n":1,"d":{"$date":"2024-01-01T00:00:00Z"}}"#), LEFT).await;
    assert_eq!(told(&called), r#"{"n":2,"d":{"$date":"1970-01-01T00:00:00.000Z"}}"#);
    assert_eq!(called.console, "seen {\"n\":1,\"d\":{\"$date\":\"2024-01-01T00:00:00.000Z\"}}\n");
    host.shutdown().await;
    assert!(matches!(host.call(&version("s", 1, body), &call("{}"), LEFT).await.outcome, Err(Failure::NotStarted)));
}

#[tokio::test]
async fn one_request_runs_one_version_and_another_site_its_own() {
    let host = host(patient());
    let (one, two) = (version("a", 1, "return {v: 1}"), version("a", 2, "return {v: 2}"));
    let other = version("b", 1, "return {v: 'b', seen: typeof globalThis.left}");
    let leaves = version("a", 3, "globalThis.left = 1; return {}");
    for _ in 0..3 {
        assert_eq!(ask(&host, &one).await, r#"{"v":1}"#);
        assert_eq!(ask(&host, &two).await, r#"{"v":2}"#);
        ask(&host, &leaves).await;
        assert_eq!(ask(&host, &other).await, r#"{"v":"b","seen":"undefined"}"#);
    }
    assert_eq!(host.figures().started, 2, "a process for each site");
}

#[tokio::test]
async fn bulk_has_an_answer_for_each_call() {
    let host = host(patient());
    let body = "if (item.n === 2) throw new Error('two'); if (item.n === 4) for (;;); return {n: item.n * 10}";
    let calls: Vec<_> = (0..7).map(|n| call(&format!(r#"{{"n":{n}}}"#))).collect();
    let called = host.call_each(&version("s", 1, body), &calls, LEFT, ROOM).await;
    let all: Vec<_> = called.iter().map(told).collect();
    assert_eq!(
        all,
        [r#"{"n":0}"#, r#"{"n":10}"#, "Error: two", r#"{"n":30}"#, "TimedOut", r#"{"n":50}"#, r#"{"n":60}"#]
    );
    // One process, unless it was too busy to stop its code within the time that it gets for that.
    assert!(host.figures().started <= 2, "{:?}", host.figures());

    // What waits for nothing that is still to come is stopped as well, and only that.
    let body = "if (item.n % 3 === 1) return new Promise(() => {}); return {n: item.n}";
    let called = host.call_each(&version("s", 3, body), &calls, LEFT, ROOM).await;
    let all: Vec<_> = called.iter().map(told).collect();
    assert_eq!(all, [r#"{"n":0}"#, "TimedOut", r#"{"n":2}"#, r#"{"n":3}"#, "TimedOut", r#"{"n":5}"#, r#"{"n":6}"#]);
    assert_eq!(host.figures().died, 0);

    let slow = version("s", 2, "const until = Date.now() + 500; while (Date.now() < until); return {}");
    let began = Instant::now();
    let called = host.call_each(&slow, &calls, Duration::from_millis(200), ROOM).await;
    assert_eq!(called.len(), calls.len());
    assert!(matches!(called[6].outcome, Err(Failure::TimedOut)), "{}", told(&called[6]));
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
}

#[tokio::test]
async fn call_that_ends_its_process_is_the_one_that_fails() {
    let host = host(patient());
    let body = "if (item.n % 100 === 50) { const a = []; a[4e9] = 1; a.reverse(); } return {n: item.n * 10}";
    let calls: Vec<_> = (0..160).map(|n| call(&format!(r#"{{"n":{n}}}"#))).collect();
    let called = host.call_each(&version("s", 1, body), &calls, LEFT, ROOM).await;
    for (n, it) in called.iter().enumerate() {
        let becomes = if n % 100 == 50 { "TimedOut".to_owned() } else { format!(r#"{{"n":{}}}"#, n * 10) };
        assert_eq!(told(it), becomes, "{n}");
    }
    assert_eq!((called.len(), host.figures().died, host.figures().calls), (160, 2, 160));
}

#[tokio::test]
async fn answers_of_a_bulk_may_be_large() {
    let host = host(patient());
    let calls: Vec<_> = (0..120).map(|n| call(&format!(r#"{{"n":{n},"text":"{}"}}"#, "x".repeat(n * 50)))).collect();
    let body = "return {n: item.n, text: item.n % 40 ? item.text : 'é'.repeat(200_000)}";
    let called = host.call_each(&version("s", 1, body), &calls, LEFT, 8 * ROOM).await;
    let length = |n: usize| if n.is_multiple_of(40) { 400_000 } else { n * 50 };
    for (n, it) in called.iter().enumerate() {
        assert_eq!(told(it).len(), format!(r#"{{"n":{n},"text":""}}"#).len() + length(n), "{n}");
    }
    assert_eq!((called.len(), host.figures().started), (120, 1));
}

#[tokio::test]
async fn exports_are_hooks_or_the_source_is_refused() {
    let host = host(patient());
    let exports = host
        .exports_of(
            &SiteId::from("s"),
            "export function my_cars_beforeInsert() {}; export const b_onFailure = async () => 1",
        )
        .await;
    let names: Vec<_> = exports.unwrap().iter().map(ToString::to_string).collect();
    assert_eq!(names, ["b_onFailure", "my_cars_beforeInsert"]);
    let refused = async |source: &str| format!("{:?}", host.exports_of(&SiteId::from("s"), source).await.unwrap_err());
    for (source, part) in [
        ("export function cars_beforInsert() {}", r#"nearest: Some("cars_beforeInsert")"#),
        ("export function helper() {}", r#"NotAHook { name: "helper", nearest: None }"#),
        ("export const cars_beforeInsert = 5", "NotAHook"),
        ("export default () => 1", r#"name: "default""#),
        ("import wixData from 'wix-data'; export function c_afterGet() { wixData.get() }", "wix-data"),
        ("export function c_afterGet( {", "SyntaxError"),
        ("throw new Error('no')", "no"),
        ("for (;;);", "TimedOut"),
        ("const a = []; a[4e9] = 1; a.reverse()", "TimedOut"),
        ("globalThis.a = []; for (;;) a.push({})", "Failed"),
    ] {
        let why = refused(source).await;
        assert!(why.contains(part), "{source}: {why}");
    }
    let long = " ".repeat(1_048_577);
    assert!(matches!(
        host.exports_of(&SiteId::from("s"), &long).await,
        Err(SourceRefusal::TooLong { limit: 1_048_576 })
    ));
    assert_eq!(host.figures().processes, 0, "each had a process of its own");
}

#[tokio::test]
async fn each_hook_gets_and_answers_its_kind() {
    let host = host(patient());
    let code: String = Hook::ALL.iter().map(|it| format!("export const c_{it} = (it) => globalThis.f(it);")).collect();
    let version = source("s", 1, &format!("globalThis.f = (it) => it; {code}"));
    for (hook, argument, answer) in [
        (Hook::AfterQuery, r#"{"a":1}"#, r#"{"a":1}"#),
        (Hook::BeforeRemove, r#""id""#, r#""id""#),
        (Hook::BeforeQuery, r#"{"filter":{"a":1},"other":true}"#, r#"{"filter":{"a":1},"other":true}"#),
        (Hook::BeforeDistinct, r#"{"fieldName":"a"}"#, r#"{"fieldName":"a"}"#),
        (Hook::AfterCount, "7", "7"),
        (Hook::AfterDistinct, r#"[1,"b"]"#, r#"[1,"b"]"#),
        (Hook::OnFailure, r#"{"message":"m","code":"WDE0025"}"#, r#"{"code":"WDE0025"}"#),
    ] {
        let called = host.call(&version, &call_of(hook, argument), LEFT).await;
        assert_eq!(told(&called), answer, "{hook}");
    }
}

/// Not a limit: the machine of a test is busy. The figures are for who reads them.
#[tokio::test]
async fn figures_of_a_call() {
    let host = host(patient());
    let version = version("s", 1, "item.seen = true; return item");
    let item = format!(
        r#"{{"_id":"{}","title":"{}","n":5,"d":{{"$date":"2024-03-05T06:07:08.009Z"}},"tags":["a","b"]}}"#,
        "i".repeat(36),
        "t".repeat(200)
    );
    let calls: Vec<_> = (0..2_000).map(|_| call(&item)).collect();
    let began = Instant::now();
    host.call(&version, &calls[0], LEFT).await;
    let start = began.elapsed();
    let began = Instant::now();
    for it in &calls {
        host.call(&version, it, LEFT).await;
    }
    let single = began.elapsed() / 2_000;
    let began = Instant::now();
    host.call_each(&version, &calls, LEFT, ROOM).await;
    println!("hooks: first answer {start:?}, a call {single:?}, in bulk {:?}", began.elapsed() / 2_000);
    let figures = host.figures();
    assert_eq!((figures.calls, figures.started, figures.died), (4_001, 1, 0));
}
