//! Shares in the hashing of passwords: whatever sign-ins come to, one network's don't delay another's, on both engines.

#![allow(clippy::unwrap_used, reason = "a test that can't be set up has failed")]

mod common;

use common::*;
use std::{
    net::{IpAddr, Ipv4Addr},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};
use stoa_identity::{Config, IdentityLimits, password::Cost};
use stoa_kernel::{Code, Secret, limit::MINUTE};
use stoa_testkit::{Engine, on_both_engines};
use tokio::task::JoinSet;

const ACCOUNTS: usize = 12;

fn machine(n: u8) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(203, 0, 113, n))
}

/// A hash takes some milliseconds, so that there is a line. Hashing gives way to all that else the machine does
/// (decision 17), so a line may last.
async fn kit(engine: Engine, limits: IdentityLimits) -> Arc<Kit> {
    let password = Cost { memory_kib: 8_192, passes: 2, lanes: 1 };
    let limits = IdentityLimits { hash_wait: 2 * MINUTE, ..limits };
    let kit = Kit::with(engine, Config { password, ..Config::from(&limits) }).await;
    for n in 0..ACCOUNTS {
        kit.register(&format!("own{n}@example.org")).await.unwrap();
    }
    kit.register("ada@example.org").await.unwrap();
    Arc::new(kit)
}

/// Signs in to a dozen own accounts over and over; answers what became of each.
fn crowd(kit: &Arc<Kit>, count: usize, done: &Arc<AtomicUsize>) -> JoinSet<Option<(Code, u64)>> {
    let mut crowd = JoinSet::new();
    for n in 0..count {
        let (kit, done) = (kit.clone(), done.clone());
        crowd.spawn(async move {
            let email = format!("own{}@example.org", n % ACCOUNTS);
            let attempt = attempt_from(machine(1));
            let answer = kit.identity.member_login(&kit.site, &attempt, &email, &Secret::new(PASSWORD)).await;
            done.fetch_add(1, Ordering::SeqCst);
            answer.err().map(|it| (it.code(), it.data()["retryAfterSeconds"].as_u64().unwrap_or(0)))
        });
    }
    crowd
}

on_both_engines! {
    async fn own_accounts_delay_no_others(engine) {
        let kit = kit(engine, IdentityLimits::default()).await;
        let done = Arc::new(AtomicUsize::new(0));
        let mut crowd = crowd(&kit, 60, &done);
        while done.load(Ordering::SeqCst) < 3 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let before = done.load(Ordering::SeqCst);
        let attempt = attempt_from(machine(2));
        kit.identity.member_login(&kit.site, &attempt, "ada@example.org", &Secret::new(PASSWORD)).await.unwrap();
        let passed = done.load(Ordering::SeqCst) - before;
        assert!(passed <= 24, "{passed} of another network were served first");
        while let Some(answer) = crowd.join_next().await {
            assert_eq!(answer.unwrap(), None, "all are served in the end");
        }
    }

    async fn line_of_one_network_is_bounded_and_says_so(engine) {
        let limits = IdentityLimits { hash_waiting_network: 10, hash_waiting_account: 3, ..IdentityLimits::default() };
        let kit = kit(engine, limits).await;
        let done = Arc::new(AtomicUsize::new(0));
        let mut crowd = crowd(&kit, 60, &done);
        let attempt = attempt_from(machine(2));
        kit.identity.member_login(&kit.site, &attempt, "ada@example.org", &Secret::new(PASSWORD)).await.unwrap();
        let (mut served, mut refused) = (0, 0);
        while let Some(answer) = crowd.join_next().await {
            match answer.unwrap() {
                None => served += 1,
                Some((code, seconds)) => {
                    assert_eq!(code, Code::Throttled);
                    assert!(seconds >= 1, "when to come back");
                    refused += 1;
                }
            }
        }
        assert!(served >= 10 && refused >= 10, "{served} served, {refused} refused");
    }
}
