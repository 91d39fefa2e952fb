//! Code that takes too much: time, memory, places. It costs its own site, and no more than it may.

use crate::world::{LEFT, ask, call, host, host_named, patient, processes_named, told, version};
use rustix::process::{Pid, Signal, kill_process};
use std::{net::IpAddr, sync::Arc, time::Duration};
use stoa_hooks::{HookLimits, Host, Version};
use stoa_kernel::{Network, SiteId};
use tokio::time::Instant;

/// Those that the engine doesn't stop by itself, and those that it does.
const SCRIPTS: [&str; 12] = [
    "return {a: 10n ** 900000n + ''}",
    "return {a: new Array(1e8).join('x').length}",
    "const s = 'a'.repeat(1e6); for (;;) s.indexOf('b'.repeat(1e5))",
    "const a = []; a[4e9] = 1; a.reverse()",
    "const s = 'a'.repeat(4e6); for (;;) s.replaceAll('a', 'bb')",
    "for (;;);",
    "const f = () => f() + 1; return {a: f()}",
    "/^(a+)+$/.test('a'.repeat(50) + 'b')",
    "const a = []; for (;;) a.push({})",
    "return new Promise(() => {})",
    "return (async () => { for (;;) await 0 })()",
    "let s = 'x'; for (;;) s += s",
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_script_ends_in_time_and_the_next_call_is_answered() {
    let host = host(HookLimits { hook_deaths: 1_000, ..HookLimits::default() });
    for (at, script) in SCRIPTS.into_iter().enumerate() {
        let body = format!("if (item.ok) return item; {script}");
        let version = version("s", at as i64 + 1, &body);
        answers(&host, &version, r#"{"ok":1}"#).await;
        let (took, ended) = soonest(&host, &version).await;
        assert!(took < Duration::from_millis(150), "{script}: {took:?} {ended}");
        println!("{took:?} {ended} {script}");
        answers(&host, &version, r#"{"ok":2}"#).await;
    }
}

/// Asks until there is an answer: the machine of a test may be too busy for the time of a call.
async fn answers(host: &Host, version: &Arc<Version>, item: &str) {
    let mut told_at_last = String::new();
    for _ in 0..20 {
        told_at_last = told(&host.call(version, &call(item), LEFT).await);
        if told_at_last != "TimedOut" {
            break;
        }
    }
    assert_eq!(told_at_last, item);
}

/// How long a call takes that can't succeed: the least of several, since the machine of a test is busy.
async fn soonest(host: &Host, version: &Arc<Version>) -> (Duration, String) {
    let mut least: Option<(Duration, String)> = None;
    for _ in 0..10 {
        if least.as_ref().is_some_and(|it| it.0 < Duration::from_millis(140)) {
            break;
        }
        let began = Instant::now();
        let called = host.call(version, &call("{}"), LEFT).await;
        assert!(called.outcome.is_err(), "{}", told(&called));
        let one = (began.elapsed(), told(&called));
        least = least.into_iter().chain([one]).min();
    }
    least.unwrap()
}

#[tokio::test]
async fn version_whose_processes_die_is_failing_until_resumed_or_replaced() {
    let host = host(HookLimits { hook_deaths: 2, hook_milliseconds: 500, ..HookLimits::default() });
    let body = "if (item.ok) return item; const a = []; a[4e9] = 1; a.reverse()";
    let bad = version("s", 1, body);
    let (fine, ok) = (version("s", 2, "return {}"), call(r#"{"ok":1}"#));
    for _ in 0..2 {
        assert_eq!(ask(&host, &bad).await, "TimedOut");
    }
    let started = host.figures().started;
    for _ in 0..100 {
        assert_eq!(told(&host.call(&bad, &ok, LEFT).await), "Failing");
    }
    assert_eq!(host.figures().started, started, "nothing is done for it");
    assert_eq!(ask(&host, &version("other", 1, "return {}")).await, "{}");
    assert_eq!(ask(&host, &fine).await, "{}");
    host.resume(&SiteId::from("s"));
    assert_eq!(told(&host.call(&bad, &ok, LEFT).await), r#"{"ok":1}"#);
    let figures = host.figures();
    assert_eq!((figures.died, figures.refused, figures.timed_out), (2, 100, 2));
}

#[tokio::test]
async fn version_that_rests_is_asked_again_by_itself() {
    let host = host(HookLimits { hook_deaths: 2, hook_rest: 1_000, hook_milliseconds: 500, ..HookLimits::default() });
    let body = "if (item.ok) return item; const a = []; a[4e9] = 1; a.reverse()";
    let (bad, ok) = (version("s", 1, body), call(r#"{"ok":1}"#));
    for _ in 0..2 {
        assert_eq!(ask(&host, &bad).await, "TimedOut");
    }
    let mut asked = Vec::new();
    for _ in 0..600 {
        asked.push(told(&host.call(&bad, &ok, LEFT).await));
        match asked.last().map(String::as_str) {
            Some(r#"{"ok":1}"#) => break,
            // A slow machine may take longer than a call may.
            Some("Failing" | "TimedOut") => tokio::time::sleep(Duration::from_millis(100)).await,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(asked.last().map(String::as_str), Some(r#"{"ok":1}"#), "{asked:?}");
    assert_eq!(ask(&host, &bad).await, "TimedOut", "it is asked as before");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn so_many_calls_of_a_site_wait_and_no_more() {
    let host = host(HookLimits { hook_processes_of_site: 1, hook_waiting: 3, ..patient() });
    let slow = version("s", 1, "const until = Date.now() + 50; while (Date.now() < until); return {}");
    ask(&host, &slow).await;
    let calls: Vec<_> = (0..10).map(|_| spawn(&host, &slow)).collect();
    let mut told = Vec::new();
    for it in calls {
        told.push(it.await.unwrap());
    }
    let count = |what: &str| told.iter().filter(|it| *it == what).count();
    assert_eq!((count("{}"), count("Busy")), (4, 6), "{told:?}");
    assert_eq!(ask(&host, &slow).await, "{}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn network_has_a_part_of_the_places_of_a_site() {
    let host = host(HookLimits { hook_processes_of_site: 1, hook_waiting: 7, ..patient() });
    let slow = version("s", 1, "const until = Date.now() + 50; while (Date.now() < until); return {}");
    ask(&host, &slow).await;
    let from = |last: u8| {
        let (host, slow) = (host.clone(), Arc::clone(&slow));
        let mut call = call("{}");
        Arc::make_mut(&mut call.context).network = Some(Network::of(IpAddr::from([192, 0, 2, last])));
        tokio::spawn(async move { told(&host.call(&slow, &call, LEFT).await) })
    };
    let (greedy, other): (Vec<_>, _) = ((0..10).map(|_| from(1)).collect(), from(2));
    let mut answered = 0;
    for it in greedy {
        answered += usize::from(it.await.unwrap() == "{}");
    }
    assert_eq!((answered, other.await.unwrap().as_str()), (3, "{}"), "one that runs and two that wait");
    assert_eq!(from(1).await.unwrap(), "{}", "the part is free again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn network_runs_code_in_a_quarter_of_the_processes_of_a_site() {
    let host = host(HookLimits { hook_processes_of_site: 4, hook_waiting: 64, ..patient() });
    let slow = version("s", 1, "const until = Date.now() + 20; while (Date.now() < until); return {}");
    let from = |network: Option<u8>| {
        let (host, slow) = (host.clone(), Arc::clone(&slow));
        let mut call = call("{}");
        Arc::make_mut(&mut call.context).network = network.map(|it| Network::of(IpAddr::from([192, 0, 2, it])));
        tokio::spawn(async move { told(&host.call(&slow, &call, LEFT).await) })
    };
    let all = async |network| {
        let calls: Vec<_> = (0..8).map(|_| from(network)).collect();
        for it in calls {
            assert_eq!(it.await.unwrap(), "{}");
        }
    };
    all(Some(1)).await;
    assert_eq!(host.figures().started, 1);
    all(None).await;
    assert_eq!(host.figures().started, 4);
}

#[tokio::test]
async fn answers_of_a_bulk_end_where_there_is_no_room_for_more() {
    let host = host(patient());
    let calls: Vec<_> = (0..200).map(|_| call("{}")).collect();
    let long = version("s", 1, "return {text: 'x'.repeat(1000)}");
    let called = host.call_each(&long, &calls, LEFT, 100_000).await;
    let bytes: usize = called.iter().map(stoa_hooks::Called::bytes).sum();
    assert_eq!(called.len(), 200);
    assert!((100_000..200_000).contains(&bytes), "{bytes}");
    assert_eq!(told(&called[199]), "TooLarge");
    for (body, end) in [("throw 'x'.repeat(5000)", "TooLarge"), ("throw 'x'", "threw \"x\"")] {
        assert_eq!(ask(&host, &version("s", 2, body)).await, end);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn code_that_is_tried_leaves_places_to_other_sites() {
    let host = host(HookLimits { hook_processes: 2, ..patient() });
    let trial = |_| {
        let host = host.clone();
        tokio::spawn(async move { host.exports_of(&SiteId::from("s"), "for (;;);").await.is_err() })
    };
    let trials: Vec<_> = (0..4).map(trial).collect();
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(ask(&host, &version("other", 1, "return {}")).await, "{}");
    // Each takes a second, one after another.
    assert!(trials.iter().filter(|it| it.is_finished()).count() < 3, "the other site waited for all of them");
    for it in trials {
        assert!(it.await.unwrap());
    }
}

fn spawn(host: &Host, version: &Arc<Version>) -> tokio::task::JoinHandle<String> {
    let (host, version) = (host.clone(), Arc::clone(version));
    tokio::spawn(async move { ask(&host, &version).await })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processes_of_a_server_stay_within_its_memory() {
    let limits = HookLimits { hook_memory: 16, hook_memory_of_server: 60, ..patient() };
    let most = limits.hook_memory_of_server << 20;
    let host = host(limits);
    let holds = "globalThis.a = 'x'.repeat(1e7).split(''); return {}";
    let versions: Vec<_> = (0..8).map(|it| version(&format!("s{it}"), 1, holds)).collect();
    let calls: Vec<_> = (0..32).map(|it| spawn(&host, &versions[it % 8])).collect();
    while host.figures().calls < 32 {
        let figures = host.figures();
        assert!(figures.memory <= most, "{figures:?}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    for it in calls {
        it.await.unwrap();
    }
}

#[tokio::test]
async fn idle_processes_end_and_the_oldest_makes_room() {
    let host = host(HookLimits { hook_processes: 2, hook_idle: 1_000, ..patient() });
    for site in ["a", "b", "c", "a"] {
        assert_eq!(ask(&host, &version(site, 1, "return {}")).await, "{}");
    }
    let figures = host.figures();
    assert_eq!((figures.started, figures.processes), (4, 2), "a made room for c");
    assert_eq!(ask(&host, &version("c", 1, "return {}")).await, "{}");
    assert_eq!(host.figures().started, 4);
    let until = Instant::now() + Duration::from_secs(10);
    while host.figures().processes > 0 {
        assert!(Instant::now() < until);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn process_killed_at_random_fails_its_call_and_no_other_answer_is_wrong() {
    let host = host_named("killed", HookLimits { hook_deaths: 1_000, ..patient() });
    let version = version("s", 1, "for (let i = 0; i < 2e4; i++); item.seen = true; return item");
    let asking = {
        let host = host.clone();
        tokio::spawn(async move {
            let mut counts = [0, 0];
            let until = Instant::now() + Duration::from_secs(3);
            let mut n = 0;
            while Instant::now() < until {
                n += 1;
                let called = host.call(&version, &call(&format!(r#"{{"n":{n}}}"#)), LEFT).await;
                match told(&called).as_str() {
                    // The latter where it was killed as it began.
                    "Died" | "NotStarted" => counts[1] += 1,
                    told => {
                        assert_eq!(told, format!(r#"{{"n":{n},"seen":true}}"#));
                        counts[0] += 1;
                    }
                }
            }
            counts
        })
    };
    while !asking.is_finished() {
        tokio::time::sleep(Duration::from_millis(37)).await;
        for id in processes_named("killed") {
            let _ = kill_process(Pid::from_raw(id).unwrap(), Signal::KILL);
        }
    }
    let [answered, died] = asking.await.unwrap();
    println!("{answered} answered, {died} died");
    assert!(answered > 0 && died > 0, "{answered} answered, {died} died");
}

#[tokio::test]
async fn place_of_code_that_was_stopped_stays_empty_while_others_wait() {
    const RUN: Duration = Duration::from_millis(500);
    let host = host(HookLimits { hook_processes_of_site: 1, hook_milliseconds: 500, ..HookLimits::default() });
    // A process that a busy machine gives no time to say that its code was stopped is lost, and its place is free at once.
    for n in 1.. {
        let (endless, died) = (version("s", n, "for (;;);"), host.figures().died);
        let began = Instant::now();
        let told_of = tokio::join!(ask(&host, &endless), ask(&host, &endless), ask(&host, &endless));
        assert_eq!(told_of, ("TimedOut".to_owned(), "TimedOut".to_owned(), "TimedOut".to_owned()));
        if host.figures().died == died {
            assert!(began.elapsed() >= 3 * RUN + 2 * 3 * RUN, "{:?}", began.elapsed());
            break;
        }
        assert!(n < 10, "it is lost each time");
    }
    // A bulk goes on itself, behind those that wait.
    let calls: Vec<_> = (0..2).map(|n| call(&format!(r#"{{"n":{n}}}"#))).collect();
    let first = version("s", 100, "if (item.n === 0) for (;;); return item");
    let began = Instant::now();
    let (called, _) = tokio::join!(host.call_each(&first, &calls, LEFT, 1 << 20), ask(&host, &first));
    assert_eq!(told(&called[1]), r#"{"n":1}"#);
    assert!(began.elapsed() >= RUN, "{:?}", began.elapsed());
}

/// The figures are for who reads them: on a machine of tests they say little. That each call succeeds is the test.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn site_whose_code_never_ends_costs_another_no_call() {
    // Time enough for the neighbour's code to be given a processor at all.
    let host = host(HookLimits { hook_deaths: 100_000, hook_milliseconds: 300, ..HookLimits::default() });
    let neighbour = version("neighbour", 1, "item.seen = true; return item");
    let before = median(&host, &neighbour).await;
    let endless = version("endless", 1, "const a = []; a[4e9] = 1; a.reverse()");
    let attackers: Vec<_> = (0..16)
        .map(|_| {
            let (host, endless) = (host.clone(), Arc::clone(&endless));
            tokio::spawn(async move {
                loop {
                    ask(&host, &endless).await;
                }
            })
        })
        .collect();
    tokio::time::sleep(Duration::from_millis(200)).await;
    let beside = median(&host, &neighbour).await;
    attackers.iter().for_each(tokio::task::JoinHandle::abort);
    println!("hooks: a call every 5 ms takes {before:?}, beside endless ones {beside:?}");
    assert!(host.figures().died > 1 && beside < Duration::from_millis(50), "{beside:?}");
}

/// Of 200 calls at a fixed rate, each of which is answered.
async fn median(host: &Host, version: &Arc<Version>) -> Duration {
    let mut times = Vec::new();
    let mut ticks = tokio::time::interval(Duration::from_millis(5));
    for _ in 0..200 {
        ticks.tick().await;
        let began = Instant::now();
        let called = host.call(version, &call("{}"), LEFT).await;
        assert_eq!(told(&called), r#"{"seen":true}"#);
        times.push(began.elapsed());
    }
    times.sort();
    times[100]
}
