//! What a hook is asked, and what becomes of it.

use crate::{hook::Hook, message::TAKEN_APART};
use serde_json::value::RawValue;
use std::{sync::Arc, time::Duration};
use stoa_kernel::Network;

/// One hook, asked once: for one item, one id, one query.
#[derive(Debug)]
pub struct Call {
    pub collection: Arc<str>,
    pub hook: Hook,
    /// As the wire has it, dates as `{"$date":…}`; the hook sees them as `Date`, and its answer has them so again.
    ///
    /// | hook | argument |
    /// |---|---|
    /// | beforeInsert, afterInsert, beforeUpdate, afterUpdate, afterRemove, afterGet, afterQuery | the item |
    /// | beforeRemove, beforeGet | the id, a string |
    /// | beforeQuery, beforeCount | `{"filter":…, "sort":[…], "paging":{…}, "fields":[…]}`, as `query` on the wire; the hook sees a `WixDataQuery`. Members not known are kept |
    /// | beforeDistinct | `{"fieldName":…, "filter":…, "order":…, "paging":…}`; the hook sees a `WixDataDistinct` |
    /// | afterCount | the number |
    /// | afterDistinct | the values |
    /// | onFailure | `{"name":…, "message":…, "code":…}`; the hook sees an `Error` |
    pub argument: Box<RawValue>,
    /// The item as it is stored, update and remove only: `currentItem` of the context.
    pub current: Option<Box<RawValue>>,
    /// Calls that are asked about together have one and the same.
    pub context: Arc<Context>,
}

/// What a hook is told beside its argument.
#[derive(Debug, Default, Clone, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Context {
    pub collection_name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
    pub user_role: &'static str,
    /// The id of the request, by which its log lines are found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// The network that the request comes from, which may have a part of its site's places; nothing for owners and
    /// applications.
    #[serde(skip)]
    pub network: Option<Network>,
    /// Who calls, as applications are told it beside the request.
    #[serde(skip)]
    pub identity: serde_json::Value,
}

/// What became of a call.
#[derive(Debug)]
pub struct Called {
    pub outcome: Result<Outcome, Failure>,
    /// What the hook said to `console`, at most 4 kB.
    pub console: String,
    /// From the beginning of the call, waiting included.
    pub took: Duration,
}

impl Called {
    /// A call that wasn't made.
    pub(crate) fn failed(failure: Failure) -> Self {
        Self { outcome: Err(failure), console: String::new(), took: Duration::ZERO }
    }

    /// What is to be kept of the answer, in bytes. A value that was thrown is taken apart, which takes more than its text.
    pub fn bytes(&self) -> usize {
        match &self.outcome {
            Ok(Outcome::Value(it)) => it.get().len(),
            Err(Failure::Thrown(Thrown::Error { name, message, code })) => {
                name.len() + message.len() + code.as_ref().map_or(0, |it| TAKEN_APART * it.get().len())
            }
            Err(Failure::Thrown(Thrown::Value(it))) => TAKEN_APART * it.get().len(),
            _ => 0,
        }
    }
}

#[derive(Debug)]
pub enum Outcome {
    /// JSON of the kind that the hook may answer ([`Hook::answers`]), at most 512 kB. Untrusted otherwise: it may be nested
    /// deeply and have any keys.
    Value(Box<RawValue>),
    /// `undefined`, or a value of another kind, which is ignored.
    Nothing,
}

#[derive(Debug, Clone)]
pub enum Failure {
    /// The hook threw, or rejected (WDE0078).
    Thrown(Thrown),
    /// It took longer than a hook may, or than was left of the request; or what it waits for can't happen (WDE0172).
    TimedOut,
    /// It needed more memory than it may have (WDE0150).
    OutOfMemory,
    /// Its answer is larger than an item may be (WDE0150).
    TooLarge,
    /// Its process ended, or broke the protocol; an application could not be reached, or answered something else
    /// (WDE0150).
    Died,
    /// No process could be started, or none of the version of this server (WDE0150).
    NotStarted,
    /// So many of the site's calls wait that no more may (WDE0122).
    Busy,
    /// So many of the version's processes died within a minute that it is left alone for a while, which ends early by
    /// [`crate::Host::resume`] or another version (WDE0150). An application that failed as often is asked again when a
    /// minute has passed.
    Failing,
}

#[derive(Debug, Clone)]
pub enum Thrown {
    /// An `Error`: `jsErrorValue` on the wire.
    Error {
        name: String,
        message: String,
        /// A string or a number, where the error has one.
        code: Option<Box<RawValue>>,
    },
    /// Anything else that was thrown: `value` on the wire.
    Value(Box<RawValue>),
}

/// Why a source can't be deployed.
#[derive(Debug)]
pub enum SourceRefusal {
    /// More bytes than a source may have.
    TooLong { limit: usize },
    /// It doesn't parse, imports something, or throws while it is loaded.
    Broken { message: String },
    /// What it exports under this name is no hook, or no function.
    NotAHook { name: String, nearest: Option<String> },
    /// Loading it takes too long or too much memory, or ends the process.
    Failed(Failure),
}
