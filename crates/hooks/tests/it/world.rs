//! What the tests share: a host whose processes are this program, and sites with code.

use crate::AS_HOOK_HOST;
use serde_json::value::RawValue;
use std::{sync::Arc, time::Duration};
use stoa_hooks::{Call, Called, Context, Failure, Hook, HookLimits, Host, HostProgram, Outcome, Thrown, Version};
use stoa_kernel::SiteId;

pub const LEFT: Duration = Duration::from_secs(20);

/// Limits of tests that are not about time: machines of tests are slow now and then.
pub fn patient() -> HookLimits {
    HookLimits { hook_milliseconds: 2_000, ..HookLimits::default() }
}

pub fn host(limits: HookLimits) -> Host {
    host_named("unnamed", limits)
}

/// A host whose processes are found by [`processes_named`].
pub fn host_named(name: &str, limits: HookLimits) -> Host {
    let arguments = ["hook_host", "--exact", "--nocapture", "--test-threads=1", AS_HOOK_HOST, name];
    Host::new(limits, HostProgram::this_program(&arguments).unwrap())
}

/// A version with one hook, `c_beforeInsert`, whose body is given.
pub fn version(site: &str, number: i64, body: &str) -> Arc<Version> {
    source(site, number, &format!("export function c_beforeInsert(item, context) {{ {body} }}"))
}

pub fn source(site: &str, number: i64, source: &str) -> Arc<Version> {
    Arc::new(Version::new(SiteId::from(site), number, source, Vec::new()))
}

pub fn raw(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).unwrap()
}

pub fn call(argument: &str) -> Call {
    call_of(Hook::BeforeInsert, argument)
}

pub fn call_of(hook: Hook, argument: &str) -> Call {
    let context = Context { collection_name: "c".to_owned(), user_role: "siteMember", ..Context::default() };
    Call { collection: "c".into(), hook, argument: raw(argument), current: None, context: Arc::new(context) }
}

/// A message as it travels.
pub fn frame(message: &str) -> Vec<u8> {
    [&u32::try_from(message.len()).unwrap().to_le_bytes(), message.as_bytes()].concat()
}

/// What became of a call, in a word or as JSON.
pub fn told(called: &Called) -> String {
    match &called.outcome {
        Ok(Outcome::Value(value)) => value.get().to_owned(),
        Ok(Outcome::Nothing) => "nothing".to_owned(),
        Err(Failure::Thrown(Thrown::Error { name, message, .. })) => format!("{name}: {message}"),
        Err(Failure::Thrown(Thrown::Value(value))) => format!("threw {}", value.get()),
        Err(other) => format!("{other:?}"),
    }
}

pub async fn ask(host: &Host, version: &Arc<Version>) -> String {
    told(&host.call(version, &call("{}"), LEFT).await)
}

/// The processes of a host, among those that this program started.
pub fn processes_named(name: &str) -> Vec<i32> {
    let is_named = |id: &i32| {
        let line = std::fs::read_to_string(format!("/proc/{id}/cmdline")).unwrap_or_default();
        line.trim_end_matches('\0').rsplit('\0').next() == Some(name)
    };
    children().into_iter().filter(is_named).collect()
}

fn children() -> Vec<i32> {
    let threads = std::fs::read_dir("/proc/self/task").unwrap();
    let of_thread =
        |it: std::io::Result<std::fs::DirEntry>| std::fs::read_to_string(it.ok()?.path().join("children")).ok();
    let text: Vec<String> = threads.filter_map(of_thread).collect();
    text.iter().flat_map(|it| it.split_whitespace()).map(|it| it.parse().unwrap()).collect()
}
