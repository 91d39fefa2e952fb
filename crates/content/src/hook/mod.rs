//! What a site's own code has to say in calls on items (decision 34).
//!
//! ```text
//! permission → before hook → checks of what it answered → transaction → commit → after hook → answer
//!                  ↓ fails: nothing is written                             ↓ fails: the write stands
//!                  └──────── onFailure, which answers in place of the call, or says what the caller is told
//! ```
//!
//! No hook is asked inside a transaction, which would hold the one writer of SQLite, or a connection, and may run twice. So
//! what changes or removes an item reads it first, and writes on the condition that it is still what the hook saw.
//! What a hook answers is as untrusted as a request: it goes through the same checks, after it.

pub(crate) mod deploy;
mod failure;
pub(crate) mod log;
mod referenced;
pub(crate) mod request;
mod standing;
pub(crate) mod trial;
mod types;
pub(crate) mod version;

use crate::{Content, RequestContext, collection::Collection, document::quoted_id, page::Page, wire::options::Options};
use parking_lot::Mutex;
use serde_json::{Map, Value as Json, value::RawValue};
use std::{
    borrow::Cow,
    collections::{BTreeMap, VecDeque},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use stoa_hooks::{Call, Called, Context, Failure, Hook, Hooks, Host, Outcome, Thrown, Version};
use stoa_kernel::{Code, EventActor, Fault, Result};
use stoa_sql::json::quoted;
use tokio::time::Instant;

/// The hooks of updates and of removals.
pub(crate) const UPDATES: &[Hook] = &[Hook::BeforeUpdate, Hook::AfterUpdate];
pub(crate) const REMOVES: &[Hook] = &[Hook::BeforeRemove, Hook::AfterRemove];

/// Bytes of items that are asked about at once. What doesn't fit is asked about next.
const MOST_AT_ONCE: usize = 1 << 20;

/// The hooks of one call on items of one collection. They are of one version from its start to its end.
#[derive(Clone)]
pub(crate) struct CallHooks {
    active: Option<Arc<Active>>,
}

/// Hooks that there are.
struct Active {
    content: Content,
    host: Host,
    version: Arc<Version>,
    hooks: Hooks,
    collection: Arc<str>,
    context: Arc<Context>,
    /// What is left of the time of the request.
    left: Mutex<Duration>,
    /// Bytes that the hooks may still answer: a page of items, each made as large as an answer may be, has to fit into
    /// memory.
    bytes_left: Mutex<usize>,
    /// The withdrawals in regard of which the caller was let in.
    seen: u64,
    /// Whether a hook was asked: that takes time.
    is_asked: AtomicBool,
    /// What was answered already of what will be asked.
    ahead: Mutex<Ahead>,
}

/// What a hook is asked about: its argument, and the item as it is stored.
pub(crate) type Question = (String, Option<String>);

/// Calls and what became of them, in the order in which they were asked, which is the one in which they are asked again.
type Ahead = VecDeque<(Call, Called)>;

impl Active {
    /// What becomes of a question.
    fn question(&self, hook: Hook, argument: String, current: Option<String>) -> Result<Call> {
        let (argument, current) = (raw(argument)?, current.map(raw).transpose()?);
        Ok(Call { collection: self.collection.clone(), hook, argument, current, context: self.context.clone() })
    }

    fn answered(&self, hook: Hook, argument: &str, current: Option<&str>) -> Option<Called> {
        let mut ahead = self.ahead.lock();
        let is_of = |(it, _): &(Call, _)| {
            it.hook == hook && it.argument.get() == argument && it.current.as_deref().map(RawValue::get) == current
        };
        let at = ahead.iter().position(is_of)?;
        ahead.remove(at).map(|it| it.1)
    }

    /// Asks about several items at once, and keeps the answers.
    async fn ask_ahead(&self, hook: Hook, questions: Vec<Question>) -> Result<()> {
        self.is_asked.store(true, Ordering::Relaxed);
        let calls = questions.into_iter().map(|(argument, current)| self.question(hook, argument, current));
        let calls = calls.collect::<Result<Vec<_>>>()?;
        let (left, room, began) = (*self.left.lock(), *self.bytes_left.lock(), Instant::now());
        let called = self.host.call_each(&self.version, &calls, left, room).await;
        *self.left.lock() = left.saturating_sub(began.elapsed());
        let called = called.into_iter().map(|it| self.charged(it));
        self.ahead.lock().extend(calls.into_iter().zip(called));
        Ok(())
    }

    async fn call(&self, call: &Call) -> Called {
        self.is_asked.store(true, Ordering::Relaxed);
        let left = *self.left.lock();
        if left.is_zero() {
            // No process is started for what has no time.
            return Called { outcome: Err(Failure::TimedOut), console: String::new(), took: left };
        }
        let called = self.host.call(&self.version, call, left).await;
        *self.left.lock() = left.saturating_sub(called.took);
        self.charged(called)
    }

    /// An answer, if there is room for it beside those that came before.
    fn charged(&self, mut called: Called) -> Called {
        let mut left = self.bytes_left.lock();
        match left.checked_sub(called.bytes()) {
            Some(it) => *left = it,
            None => called.outcome = Err(Failure::TooLarge),
        }
        called
    }
}

impl CallHooks {
    /// The hooks of a collection, as far as the caller doesn't suppress them.
    pub(crate) async fn load(context: RequestContext<'_>, collection: &Collection, options: &Options) -> Result<Self> {
        let RequestContext { content, site, caller, .. } = context;
        let none = Ok(Self { active: None });
        let Some(host) = content.state.hook_host.get() else { return none };
        let Some(version) = version::active(content, site).await? else { return none };
        let hooks = version.hooks_of(collection.id.as_str());
        if hooks.is_empty() || options.suppresses_hooks(caller) {
            return none;
        }
        let left = Mutex::new(Duration::from_millis(u64::try_from(host.limits().hook_request_time).unwrap_or(0)));
        let bytes_left = Mutex::new(content.limits().page_bytes);
        let context = Context {
            collection_name: collection.id.as_str().to_owned(),
            user_id: caller.owner().map(str::to_owned),
            user_role: trial::role(caller),
            request_id: request::id(),
            network: request::network().filter(|_| !caller.bare().is_privileged()),
            identity: EventActor::of(caller).to_json(),
        };
        let seen = request::seen().unwrap_or_else(|| *site.withdrawals().watch().borrow());
        let (content, host, is_asked) = (content.clone(), host.clone(), AtomicBool::new(false));
        let (collection, context, ahead) = (collection.id.as_str().into(), Arc::new(context), Mutex::default());
        let active =
            Active { content, host, version, hooks, collection, context, left, bytes_left, seen, is_asked, ahead };
        Ok(Self { active: Some(Arc::new(active)) })
    }

    /// Asks about many items at once. What is answered is kept until it is asked about them one after another.
    pub(crate) async fn ahead(&self, hook: Hook, questions: impl Iterator<Item = Question>) -> Result<()> {
        let Some(active) = self.active.as_ref().filter(|it| it.hooks.has(hook)) else { return Ok(()) };
        let mut rest: Vec<Question> = questions.collect();
        while !rest.is_empty() {
            let mut bytes = 0;
            let fits = |(argument, current): &&Question| {
                bytes += argument.len() + current.as_ref().map_or(0, String::len);
                bytes <= MOST_AT_ONCE
            };
            let later = rest.split_off(rest.iter().take_while(fits).count().max(1));
            active.ask_ahead(hook, std::mem::replace(&mut rest, later)).await?;
        }
        Ok(())
    }

    pub(crate) async fn of_members(
        context: RequestContext<'_>,
        collection: &Collection,
        members: &Map<String, Json>,
    ) -> Result<Self> {
        Self::load(context, collection, &Options::parse(members)?).await
    }

    pub(crate) fn has(&self, hook: Hook) -> bool {
        self.active.as_ref().is_some_and(|it| it.hooks.has(hook))
    }

    /// Refuses a call that would pass over one of these hooks, because it writes what it only finds in its transaction.
    ///
    /// # Errors
    /// What `refusal` makes of the ids of the collection and of the hook.
    pub(crate) fn refuse(
        &self,
        collection: &Collection,
        hooks: &[Hook],
        refusal: fn(&str, &str) -> Fault,
    ) -> Result<()> {
        match hooks.iter().find(|it| self.has(**it)) {
            Some(hook) => Err(refusal(collection.id.as_str(), hook.name())),
            None => Ok(()),
        }
    }

    /// Whether there is a hook that is told of what was written.
    pub(crate) fn has_after(&self) -> bool {
        [Hook::AfterInsert, Hook::AfterUpdate, Hook::AfterRemove].iter().any(|it| self.has(*it))
    }

    /// Asks a hook; nothing where there is none, or where it leaves things as they are.
    ///
    /// # Errors
    /// WDE0078 for what it throws, WDE0150 and WDE0172 where it fails, WDE0122 where too many wait.
    pub(crate) async fn ask(&self, hook: Hook, argument: &str, current: Option<&str>) -> Result<Option<Box<RawValue>>> {
        let Some(active) = self.active.as_ref().filter(|it| it.hooks.has(hook)) else { return Ok(None) };
        let called = match active.answered(hook, argument, current) {
            Some(it) => it,
            None => active.call(&active.question(hook, argument.to_owned(), current.map(str::to_owned))?).await,
        };
        let state = &active.content.state;
        state.hook_log.note(&state.world, &active.version, (hook, &active.context), &called);
        match called.outcome {
            Ok(Outcome::Value(value)) => Ok(Some(value)),
            Ok(Outcome::Nothing) => Ok(None),
            Err(failure) => Err(refusal(hook, failure)),
        }
    }

    /// The id that a hook would have read in place of the one that is asked for.
    pub(crate) async fn asked_id(&self, id: &str) -> Result<Option<String>> {
        let argument = || quoted(id).to_string();
        if !self.has(Hook::BeforeGet) {
            return Ok(None);
        }
        let answer = self.ask(Hook::BeforeGet, &argument(), None).await?;
        answer.map(|it| serde_json::from_str(it.get()).map_err(|it| unreadable(Hook::BeforeGet, &it))).transpose()
    }

    /// Whether what is read is made for this caller, so that no other may be answered the same.
    pub(crate) fn decide_on_reads(&self) -> bool {
        version::READS.iter().any(|it| self.has(*it))
    }

    /// A document as a hook that comes after would have it answered. It keeps its id.
    pub(crate) async fn after(&self, hook: Hook, document: String) -> Result<String> {
        match self.ask(hook, &document, None).await? {
            Some(answer) => with_id(hook, &document, &answer),
            None => Ok(document),
        }
    }

    /// The elements of a page, each with its item as the hook would have it.
    pub(crate) async fn after_each(&self, hook: Hook, elements: String) -> Result<String> {
        if !self.has(hook) {
            return Ok(elements);
        }
        let list = format!("[{elements}]");
        let mut changed = Vec::new();
        let elements = serde_json::from_str::<Vec<Element<'_>>>(&list).map_err(Fault::internal)?;
        self.ahead(hook, elements.iter().map(|it| (it.data.get().to_owned(), None))).await?;
        for it in elements {
            let data = self.after(hook, it.data.get().to_owned()).await?;
            let (id, collection) = (it.id.get(), it.collection.get());
            changed.push(format!("{{\"id\":{id},\"dataCollectionId\":{collection},\"data\":{data}}}"));
        }
        Ok(changed.join(","))
    }

    /// How many items there are, as a hook has it.
    pub(crate) async fn after_count(&self, count: i64) -> Result<i64> {
        let answer = self.ask(Hook::AfterCount, &count.to_string(), None).await?;
        // Anything but a count is ignored.
        Ok(answer.and_then(|it| Self::number(&it)).unwrap_or(count))
    }

    /// A number of items, if an answer is one.
    pub(crate) fn number(answer: &RawValue) -> Option<i64> {
        answer.get().parse().ok().filter(|it| *it >= 0)
    }

    /// A page of different values, as a hook has them. What is no list is ignored.
    pub(crate) async fn after_distinct(&self, page: &mut Page) -> Result<()> {
        let answer = self.ask(Hook::AfterDistinct, &format!("[{}]", page.elements), None).await?;
        if let Some(it) = answer {
            page.set_values(&it);
        }
        Ok(())
    }

    /// The members of a request, with those that a hook may set as it has them.
    pub(crate) async fn narrowed<'m>(
        &self,
        hook: Hook,
        mut members: Cow<'m, Map<String, Json>>,
        names: &[&str],
    ) -> Result<Cow<'m, Map<String, Json>>> {
        if !self.has(hook) {
            return Ok(members);
        }
        let argument: Map<_, _> =
            names.iter().filter_map(|it| Some(((*it).to_owned(), members.get(*it)?.clone()))).collect();
        if let Some(answer) = self.ask(hook, &Json::Object(argument).to_string(), None).await? {
            let mut answer: Map<String, Json> =
                serde_json::from_str(answer.get()).map_err(|it| unreadable(hook, &it))?;
            for name in names {
                match answer.remove(*name) {
                    Some(it) => members.to_mut().insert((*name).to_owned(), it),
                    None => members.to_mut().remove(*name),
                };
            }
        }
        Ok(members)
    }
}

/// An element of a page, as it is printed.
#[derive(serde::Deserialize)]
struct Element<'a> {
    #[serde(borrow)]
    id: &'a RawValue,
    #[serde(borrow, rename = "dataCollectionId")]
    collection: &'a RawValue,
    #[serde(borrow)]
    data: &'a RawValue,
}

/// An answered item with the id of the document that the hook was asked about, first as in every document.
///
/// # Errors
/// [`Code::HookFailed`] for a name that is no text, such as half of a surrogate pair.
fn with_id(hook: Hook, document: &str, answer: &RawValue) -> Result<String> {
    let members = serde_json::from_str(answer.get());
    let mut members: BTreeMap<String, &RawValue> = members.map_err(|it| unreadable(hook, &it))?;
    members.remove("_id");
    Ok(joined(document.starts_with("{\"_id\":").then(|| quoted_id(document)), members))
}

/// A document of members, with this id as the first.
fn joined(quoted_id: Option<&str>, members: BTreeMap<String, &RawValue>) -> String {
    let mut text = String::from("{");
    if let Some(id) = quoted_id {
        text.extend(["\"_id\":", id]);
    }
    for (name, value) in members {
        text.extend([if text.len() > 1 { "," } else { "" }, &quoted(&name), ":", value.get()]);
    }
    text.push('}');
    text
}

fn raw(text: String) -> Result<Box<RawValue>> {
    RawValue::from_string(text).map_err(Fault::internal)
}

fn unreadable(hook: Hook, why: &serde_json::Error) -> Fault {
    Fault::because(Code::HookFailed, format!("The hook {hook} answered what can't be read: {why}"))
}

fn refusal(hook: Hook, failure: Failure) -> Fault {
    let failed = |code, what: &str| Fault::because(code, format!("The hook {hook} {what}.")).with("hook", hook.name());
    match failure {
        Failure::Thrown(Thrown::Error { name, message, code }) => {
            let mut error = serde_json::json!({ "name": name, "message": message });
            if let Some(code) = code.and_then(|it| serde_json::from_str::<Json>(it.get()).ok()) {
                error["code"] = code;
            }
            let text = if message.is_empty() { name } else { message };
            Fault::because(Code::HookThrew, text).with("jsErrorValue", error)
        }
        Failure::Thrown(Thrown::Value(value)) => {
            let value: Json = serde_json::from_str(value.get()).unwrap_or_default();
            failed(Code::HookThrew, "refused this").with("value", value)
        }
        Failure::TimedOut => failed(Code::HookTimeout, "took too long"),
        Failure::Busy => Fault::new(Code::HookQuota),
        Failure::OutOfMemory => failed(Code::HookFailed, "needed more memory than it may have"),
        Failure::TooLarge => failed(Code::HookFailed, "answered more than an item may be"),
        Failure::Died => failed(Code::HookFailed, "ended its process"),
        Failure::NotStarted => failed(Code::HookFailed, "can't be run at the moment"),
        Failure::Failing => failed(Code::HookFailed, "isn't asked for a while, since it failed too often"),
    }
}
