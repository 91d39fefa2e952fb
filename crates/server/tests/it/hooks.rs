//! The program as it runs a site's hooks for itself.

use serde_json::value::RawValue;
use std::{fs, sync::Arc, time::Duration};
use stoa_hooks::{Call, Context, Hook, HookLimits, Host, HostProgram, Outcome, Version};
use stoa_kernel::SiteId;

#[tokio::test]
async fn program_runs_hooks_confined() {
    let program = HostProgram { path: env!("CARGO_BIN_EXE_stoa").into(), arguments: vec!["hook-host".into()] };
    let host = Host::new(HookLimits::default(), program);
    let source = "export const c_afterGet = (item) => ({ seen: item.n, at: typeof process })";
    let exports = host.exports_of(source).await.unwrap();
    let version = Arc::new(Version::new(SiteId::from("s"), 1, source, exports));
    let argument = RawValue::from_string(r#"{"n":5}"#.to_owned()).unwrap();
    let call = Call { collection: "c".to_owned(), hook: Hook::AfterGet, argument, context: Context::default() };
    let called = host.call(&version, &call, Duration::from_secs(20)).await;
    let Ok(Outcome::Value(value)) = called.outcome else { panic!("{called:?}") };
    assert_eq!(value.get(), r#"{"seen":5,"at":"undefined"}"#);
    assert!(host_status().contains("Seccomp:\t2"), "{}", host_status());
    host.shutdown().await;
}

/// Of the one process of hooks that this program has.
fn host_status() -> String {
    let threads = fs::read_dir("/proc/self/task").unwrap();
    let children = threads.filter_map(|it| fs::read_to_string(it.unwrap().path().join("children")).ok());
    let ids: Vec<String> =
        children.flat_map(|it| it.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).collect();
    let is_host = |id: &&String| {
        fs::read_to_string(format!("/proc/{id}/cmdline")).is_ok_and(|it| it.starts_with("stoa-hook-host\0"))
    };
    let id = ids.iter().find(is_host).unwrap();
    fs::read_to_string(format!("/proc/{id}/status")).unwrap()
}
