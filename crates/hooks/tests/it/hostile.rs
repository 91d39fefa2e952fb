//! Processes that say what they like. What they say is taken for an answer of their own site, or they are ended.

use crate::world::{LEFT, ask, call, frame, told, version};
use std::{fs, time::Duration};
use stoa_hooks::{HookLimits, Host, HostProgram, child::build};
use tempfile::TempDir;
use tokio::time::Instant;

fn ready() -> Vec<u8> {
    frame(&format!(r#"{{"ready":{{"build":"{}"}}}}"#, build()))
}

fn loaded() -> Vec<u8> {
    frame(r#"{"loaded":{"exports":[]}}"#)
}

fn answer(id: u64, console: &str, told: &str) -> Vec<u8> {
    frame(&format!(r#"{{"answer":{{"id":{id},"console":"{console}","told":{told}}}}}"#))
}

/// A host whose processes say these bytes, whatever they are asked, and then do what the shell is told.
fn pretender(directory: &TempDir, bytes: &[u8], then: &str) -> Host {
    quiet_pretender(directory, &[], bytes, then)
}

/// The same, whose processes say something on the other socket before.
fn quiet_pretender(directory: &TempDir, quiet: &[u8], bytes: &[u8], then: &str) -> Host {
    let (file, quiet_file) = (directory.path().join("bytes"), directory.path().join("quiet"));
    fs::write(&file, bytes).unwrap();
    fs::write(&quiet_file, quiet).unwrap();
    let script = format!("cat {} >&2; cat {} >&0; {then}", quiet_file.display(), file.display());
    let program = HostProgram { path: "/bin/sh".into(), arguments: ["-c".into(), script.into()].to_vec() };
    let limits = HookLimits { hook_answer: 2_048, hook_console: 64, hook_deaths: 1_000, ..HookLimits::default() };
    Host::new(limits, program)
}

#[tokio::test]
async fn whatever_a_process_says_is_an_answer_or_its_end() {
    let begun = [ready(), loaded()].concat();
    let said = |more: &[u8]| [&begun, more].concat();
    let (stays, leaves) = ("exec sleep 60", "sleep 0.05");
    for (bytes, then, becomes) in [
        (Vec::new(), leaves, "NotStarted"),
        (b"\xff\xff\xff\xff".to_vec(), stays, "NotStarted"),
        (b"HTTP/1.1 200 OK\r\n\r\n".to_vec(), stays, "NotStarted"),
        (frame(r#"{"ready":{"build":"0.0.1"}}"#), stays, "NotStarted"),
        (loaded(), stays, "NotStarted"),
        (ready(), leaves, "Died"),
        (ready(), stays, "TimedOut"),
        (said(&[]), leaves, "Died"),
        (said(&[]), stays, "TimedOut"),
        (said(&answer(1, "", r#"{"value":{"a":1}}"#)), stays, r#"{"a":1}"#),
        (said(&answer(1, "", r#"{"value":[1]}"#)), stays, "nothing"),
        (said(&answer(1, "", r#"{"value":"text"}"#)), stays, "nothing"),
        (said(&answer(1, "", r#"{"error":{"name":"N","message":"m","code":{"a":1}}}"#)), stays, "N: m"),
        (said(&answer(2, "", r#"{"value":{}}"#)), stays, "Died"),
        (said(&answer(1, &"x".repeat(65), r#"{"value":{}}"#)), stays, "Died"),
        (said(&answer(1, "", &format!(r#"{{"value":{{"a":"{}"}}}}"#, "x".repeat(2_100)))), stays, "TooLarge"),
        (said(&answer(1, "", &format!(r#"{{"value":{{"a":"{}"}}}}"#, "x".repeat(9_000)))), stays, "Died"),
        (said(&frame("[[[[")), stays, "Died"),
        (said(&ready()), stays, "Died"),
        (said(&answer(1, "", r#"{"value":{}}"#)[..20]), leaves, "Died"),
    ] {
        let directory = TempDir::new().unwrap();
        let host = pretender(&directory, &bytes, then);
        assert_eq!(ask(&host, &version("s", 1, "")).await, becomes, "{:?}", String::from_utf8_lossy(&bytes));
        host.shutdown().await;
    }
}

#[tokio::test]
async fn whatever_a_process_says_on_the_other_socket_is_an_answer_in_its_place_or_its_end() {
    let begun = [ready(), loaded()].concat();
    let said = |more: &[u8]| [&begun, more].concat();
    let answers = |ids: &[u64]| ids.iter().flat_map(|it| answer(*it, "", r#"{"value":{}}"#)).collect::<Vec<_>>();
    let last = said(&answers(&[4]));
    let long = answer(1, "", &format!(r#"{{"value":{{"a":"{}"}}}}"#, "x".repeat(20_000)));
    // The first process is asked about one call, the next about the other three, and each says the same.
    for (quiet, loud, becomes) in [
        (answers(&[1, 2, 3]), last.clone(), ["{}", "{}", "{}", "{}"]),
        (answers(&[1, 2]), last.clone(), ["{}", "{}", "{}", "Died"]),
        (answers(&[1, 3]), last.clone(), ["{}", "{}", "Died", "{}"]),
        (answers(&[2]), last.clone(), ["Died"; 4]),
        (answers(&[1, 2, 3, 4]), begun.clone(), ["{}", "{}", "{}", "{}"]),
        (b"\xff\xff\xff\xff".to_vec(), last.clone(), ["Died"; 4]),
        (b"HTTP/1.1 200 OK\r\n\r\n".to_vec(), last.clone(), ["Died"; 4]),
        (frame("[[[["), last.clone(), ["Died"; 4]),
        (ready(), last.clone(), ["Died"; 4]),
        (long, last.clone(), ["Died"; 4]),
        (answers(&[1, 2, 3])[..20].to_vec(), last, ["Died"; 4]),
    ] {
        let mut said = Vec::new();
        // Where the first call takes long, because the machine is busy, the next process is asked about fewer.
        for _ in 0..10 {
            let directory = TempDir::new().unwrap();
            let host = quiet_pretender(&directory, &quiet, &loud, "exec sleep 60");
            let calls: Vec<_> = (0..4).map(|_| call("{}")).collect();
            let called = host.call_each(&version("s", 1, ""), &calls, LEFT, usize::MAX).await;
            said = called.iter().map(told).collect();
            host.shutdown().await;
            assert!(said.len() == 4 && said.iter().all(|it| ["{}", "Died"].contains(&it.as_str())), "{said:?}");
            if said == becomes {
                break;
            }
        }
        assert_eq!(said, becomes, "{:?}", String::from_utf8_lossy(&quiet));
    }
}

#[tokio::test]
async fn process_that_does_not_begin_takes_no_longer_than_the_request() {
    let directory = TempDir::new().unwrap();
    let host = pretender(&directory, &[], "exec sleep 60");
    let began = Instant::now();
    let called = host.call(&version("s", 1, ""), &call("{}"), Duration::from_millis(100)).await;
    assert_eq!(told(&called), "TimedOut");
    assert!(began.elapsed() < Duration::from_secs(2));
}

#[tokio::test]
async fn program_that_is_not_there_is_told_and_not_counted_as_a_death() {
    let program = HostProgram { path: "/nonexistent/stoa".into(), arguments: Vec::new() };
    let host = Host::new(HookLimits { hook_deaths: 1, ..HookLimits::default() }, program);
    for _ in 0..3 {
        assert_eq!(told(&host.call(&version("s", 1, ""), &call("{}"), LEFT).await), "NotStarted");
    }
    assert_eq!(host.figures().died, 0);
}
