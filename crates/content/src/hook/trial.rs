//! One hook asked by those who manage the code: nothing is read of the site's items, and nothing is written.

use serde_json::{Map, Value as Json, json, value::RawValue};
use std::{sync::Arc, time::Duration};
use stoa_hooks::{Call, Called, Context, Failure, Hook, Host, Outcome, Tested, Thrown, Version};
use stoa_kernel::{Caller, Code, EventActor, Fault, Faults, Result, Role, Violation, nearest::hint};

/// What is asked.
#[derive(Debug)]
pub struct HookTrial<'a> {
    /// Code that is not deployed; without it the active version is asked.
    pub(super) source: Option<&'a str>,
    collection: &'a str,
    hook: Hook,
    argument: Box<RawValue>,
    current_item: Option<Box<RawValue>>,
}

impl<'a> HookTrial<'a> {
    /// Reads `{collectionId, hook, argument, currentItem?, source?}`.
    ///
    /// # Errors
    /// INVALID_ARGUMENT with each member that is wrong.
    pub fn parse(members: &'a Map<String, Json>) -> Result<Self> {
        let collection = text(members, "collectionId").and_then(needed("collectionId"));
        let hook = text(members, "hook").and_then(needed("hook")).and_then(|it| {
            let known = || Hook::ALL.iter().map(|it| it.name());
            Hook::of_name(it).ok_or_else(|| invalid("hook", format!("{it} is no hook{}", hint(it, known()))))
        });
        let (collection, hook) = Faults::both(collection, hook)?;
        let argument = members.get("argument").ok_or_else(|| missing("argument"))?;
        let current_item = members.get("currentItem").filter(|it| !it.is_null());
        Ok(Self {
            source: text(members, "source")?,
            collection,
            hook,
            argument: raw(argument)?,
            current_item: current_item.map(raw).transpose()?,
        })
    }

    /// Asks the hook, and tells what came of it:
    /// `{version, outcome, value?, error?, console, milliseconds}`.
    pub(super) async fn run(self, host: &Host, version: &Arc<Version>, caller: &Caller) -> Result<Json> {
        let Self { source: _, collection, hook, argument, current_item } = self;
        if !version.has(collection, hook) {
            let names: Vec<String> = version.exports.iter().map(ToString::to_string).collect();
            let name = format!("{collection}_{hook}");
            let hint = hint(&name, names.iter().map(String::as_str));
            return Err(Fault::because(Code::NotFound, format!("The code exports no {name}{hint}")));
        }
        let context = Context {
            collection_name: collection.to_owned(),
            user_id: caller.owner().map(str::to_owned),
            user_role: role(caller),
            identity: EventActor::of(caller).to_json(),
            ..Context::default()
        };
        let (collection, context) = (collection.into(), Arc::new(context));
        let call = Call { collection, hook, argument, current: current_item, context };
        let left = Duration::from_millis(u64::try_from(host.limits().hook_request_time).unwrap_or(0));
        let called = host.call(version, &call, left).await;
        told(version.number, called)
    }
}

fn told(version: i64, called: Called) -> Result<Json> {
    let Called { outcome, console, took } = called;
    let mut name = outcome_name(&outcome);
    let mut told = json!({ "version": version, "console": console, "milliseconds": took.as_secs_f64() * 1e3 });
    let read = |it: &RawValue| serde_json::from_str::<Json>(it.get());
    match outcome {
        Ok(Outcome::Value(value)) | Err(Failure::Thrown(Thrown::Value(value))) => match read(&value) {
            Ok(it) => told["value"] = it,
            // It is nested deeper than can be read.
            Err(_) => name = "TOO_LARGE",
        },
        Err(Failure::Thrown(Thrown::Error { name, message, code })) => {
            told["error"] = json!({ "name": name, "message": message });
            if let Some(code) = code.and_then(|it| read(&it).ok()) {
                told["error"]["code"] = code;
            }
        }
        Err(Failure::Busy) => return Err(Fault::new(Code::HookQuota)),
        Ok(_) | Err(_) => {}
    }
    told["outcome"] = json!(name);
    Ok(told)
}

/// A test as it is told.
pub(super) fn tested(Tested { name, called }: Tested) -> Result<Json> {
    let passed = called.outcome.is_ok();
    let mut told = told(0, called)?;
    if let Some(members) = told.as_object_mut() {
        members.shift_remove("version");
        if passed {
            // What a test answers means nothing.
            members.shift_remove("value");
        }
        members.insert("name".to_owned(), name.into());
        members.insert("passed".to_owned(), passed.into());
    }
    Ok(told)
}

/// What became of a call, as it is told.
pub(super) fn outcome_name(outcome: &std::result::Result<Outcome, Failure>) -> &'static str {
    match outcome {
        Ok(Outcome::Value(_)) => "VALUE",
        Ok(Outcome::Nothing) => "NOTHING",
        Err(Failure::Thrown(_)) => "THROWN",
        Err(Failure::TimedOut) => "TIMED_OUT",
        Err(Failure::OutOfMemory) => "OUT_OF_MEMORY",
        Err(Failure::TooLarge) => "TOO_LARGE",
        Err(Failure::Died) => "DIED",
        Err(Failure::NotStarted) => "NOT_STARTED",
        Err(Failure::Busy) => "BUSY",
        Err(Failure::Failing) => "FAILING",
    }
}

/// The vendor's words for who a caller is.
pub(super) fn role(caller: &Caller) -> &'static str {
    match caller.bare() {
        Caller::Member { .. } => "siteMember",
        Caller::User { role: Role::Editor, .. } => "siteContributor",
        Caller::User { .. } | Caller::App { .. } => "siteOwner",
        Caller::Visitor { .. } | Caller::Scoped(_) => "anonymous",
    }
}

fn text<'a>(members: &'a Map<String, Json>, name: &'static str) -> Result<Option<&'a str>> {
    match members.get(name) {
        None | Some(Json::Null) => Ok(None),
        Some(Json::String(it)) => Ok(Some(it)),
        Some(_) => Err(invalid(name, "a text is expected".to_owned())),
    }
}

fn needed<'a>(name: &'static str) -> impl Fn(Option<&'a str>) -> Result<&'a str> {
    move |it| it.ok_or_else(|| missing(name))
}

fn raw(value: &Json) -> Result<Box<RawValue>> {
    RawValue::from_string(value.to_string()).map_err(Fault::internal)
}

fn missing(name: &'static str) -> Fault {
    Fault::invalid(vec![Violation::new(name, "REQUIRED_FIELD", "it is missing")])
}

fn invalid(name: &'static str, why: String) -> Fault {
    Fault::invalid(vec![Violation::new(name, "FORMAT", why)])
}
