//! What a process of hooks has: nothing of the server's.

use crate::{
    AS_HOOK_HOST,
    world::{LEFT, ask, call, frame, host, host_named, patient, processes_named, version},
};
use std::{
    fs,
    io::{Read, Write},
    os::{fd::OwnedFd, unix::net::UnixStream},
    process::{Command, Stdio},
    time::Duration,
};
use stoa_hooks::{Host, HostProgram, child::build};
use tempfile::TempDir;
use tokio::time::Instant;

#[tokio::test]
async fn process_gives_up_what_code_must_not_have() {
    let host = host_named("confined", patient());
    assert_eq!(ask(&host, &version("s", 1, "return {}")).await, "{}");
    let [id] = processes_named("confined")[..] else { panic!("one process") };
    let limits = fs::read_to_string(format!("/proc/{id}/limits")).unwrap();
    let limit = |name: &str| {
        let line = limits.lines().find(|it| it.starts_with(name)).unwrap();
        line[name.len()..].split_whitespace().take(2).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(limit("Max open files"), ["3", "3"]);
    assert_eq!(limit("Max core file size"), ["1", "1"]);
    for none in ["Max file size", "Max processes"] {
        assert_eq!(limit(none), ["0", "0"], "{none}");
    }
    assert_ne!(limit("Max address space")[1], "unlimited");
    // Of the thread that runs code: a test program has another, which waits for it.
    let threads = fs::read_dir(format!("/proc/{id}/task")).unwrap();
    let status: Vec<_> = threads.map(|it| fs::read_to_string(it.unwrap().path().join("status")).unwrap()).collect();
    let is_confined = |it: &String| it.contains("NoNewPrivs:\t1") && it.contains("Seccomp:\t2");
    assert_eq!(status.iter().filter(|it| is_confined(it)).count(), 1, "{status:?}");
}

#[tokio::test]
async fn descriptor_that_the_server_was_left_with_is_closed() {
    let (mut reader, writer) = std::io::pipe().unwrap();
    // Unlike those that the program opens itself, it outlives the start of another program.
    let inherited = rustix::io::dup(&writer).unwrap();
    let host = host(patient());
    assert_eq!(ask(&host, &version("s", 1, "return {}")).await, "{}");
    drop((writer, inherited));
    let read = tokio::task::spawn_blocking(move || reader.read(&mut [0]).unwrap());
    assert_eq!(tokio::time::timeout(Duration::from_secs(10), read).await.expect("nothing writes any more").unwrap(), 0);
    assert_eq!(host.figures().processes, 1);
}

#[tokio::test]
async fn environment_and_directory_are_empty() {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("seen");
    let script = format!("pwd > {0}; env >> {0}; ls /proc/self/fd | wc -l >> {0}", file.display());
    let program = HostProgram { path: "/bin/sh".into(), arguments: ["-c".into(), script.into()].to_vec() };
    let host = Host::new(patient(), program);
    assert!(host.call(&version("s", 1, ""), &call("{}"), LEFT).await.outcome.is_err());
    let seen = fs::read_to_string(file).unwrap();
    let mut lines = seen.lines();
    assert_eq!(lines.next(), Some("/"));
    for line in lines.filter(|it| it.contains('=')) {
        assert!(["PWD=/", "OLDPWD=", "SHLVL=", "_="].iter().any(|it| line.starts_with(it)), "{line}");
    }
}

#[tokio::test]
async fn code_finds_no_way_out_of_the_language() {
    let host = host(patient());
    let names = "['setTimeout','fetch','XMLHttpRequest','WebSocket','Worker','process','require','std','os','load','print','scriptArgs','navigator']";
    let body = format!("return {{found: {names}.filter((it) => it in globalThis)}}");
    assert_eq!(ask(&host, &version("s", 1, &body)).await, r#"{"found":[]}"#);
    for module in ["std", "os", "qjs:std", "/etc/passwd", "./other.js"] {
        let body = format!("return import('{module}').then(() => ({{}}))");
        let told = ask(&host, &version("s", 2, &body)).await;
        assert!(told.starts_with("ReferenceError"), "{module}: {told}");
    }
}

#[test]
fn process_whose_server_is_gone_ends_though_its_code_does_not() {
    let (mut server, theirs) = UnixStream::pair().unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["hook_host", "--exact", "--nocapture", AS_HOOK_HOST])
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let settings = r#"{"memory":33554432,"answer":4096,"console":64}"#;
    let source = "export function c_afterGet() { const a = []; a[4e9] = 1; a.reverse() }";
    let call = r#"{"id":1,"export":"c_afterGet","hook":"afterGet","milliseconds":100,"argument":{},"context":{}}"#;
    for message in [
        format!(r#"{{"begin":{{"build":"{}","settings":{settings}}}}}"#, build()),
        format!(r#"{{"load":{{"source":"{source}","milliseconds":1000}}}}"#),
        format!(r#"{{"call":{call}}}"#),
    ] {
        server.write_all(&frame(&message)).unwrap();
    }
    drop(server);
    let until = Instant::now() + Duration::from_secs(20);
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > until {
            child.kill().unwrap();
            panic!("it still runs");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}
