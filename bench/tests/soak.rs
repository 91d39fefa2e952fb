//! A short soak on each engine: nothing that must not grow does. `make soak` takes hours.
//!
//! Twenty-five seconds hold a burst of scans, quiet after it, and two prunings of the outbox.

#![allow(clippy::unwrap_used, reason = "in a test a failed step is the failure")]

use std::{path::Path, process::Command};

fn soak(engine: &str) {
    let bench = Path::new(env!("CARGO_BIN_EXE_stoa-bench"));
    let program = bench.parent().unwrap().join("stoa");
    assert!(program.exists(), "the program is built by cargo test --workspace, or cargo build -p stoa-server");
    let mut command = Command::new(bench);
    command
        .args(["soak", "--only", "load", "--minutes", "0.42", "--items", "5000", "--engine", engine, "--program"])
        .arg(program)
        // Writing down what a load asks would be part of what is measured.
        .env_remove("STOA_TEST_TRAFFIC");
    let output = command.output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}\n{err}");
}

#[test]
fn on_sqlite() {
    soak("sqlite");
}

#[test]
fn on_postgres() {
    soak("postgres");
}
