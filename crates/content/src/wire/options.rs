//! What every call on items may be told besides what it is about (docs/protocol/content.md §3.0, §13.2).

use crate::{
    drafts::Drafts,
    fault::{self, Faults, invalid_as},
    language::Language,
};
use serde_json::{Map, Value};
use stoa_kernel::{Caller, Code, Fault, LanguageTag, Result};

/// The options of a call, each of its type.
#[derive(Debug, Clone, Default)]
pub struct Options {
    is_sandbox: bool,
    language: Option<LanguageTag>,
    suppresses_hooks: bool,
    pub(crate) drafts: Drafts,
}

/// Options that are true, false or null. `showDrafts` is the form that pipelines have (docs/protocol/content.md §3.11).
const FLAGS: [&str; 2] = ["consistentRead", "showDrafts"];

impl Options {
    /// Reads the options among the members of a call. A call that has no use for one refuses it all the same when it is
    /// of another type.
    ///
    /// # Errors
    /// WDE0018 with all that is wrong, each with its path.
    pub(crate) fn parse(members: &Map<String, Value>) -> Result<Self> {
        let mut faults = Faults::default();
        let is_sandbox = faults.take(is_sandbox(members));
        let language = faults.take(language(members));
        let suppresses_hooks = faults.take(flag(members, "suppressHooks")).unwrap_or_default();
        for name in FLAGS {
            faults.take(flag(members, name));
        }
        faults.take(object(members, "appOptions"));
        if let Some(Some(it)) = faults.take(object(members, "publishPluginOptions")) {
            faults.take(flag_at(it, "includeDraftItems", "publishPluginOptions.includeDraftItems"));
        }
        faults.refuse()?;
        let (is_sandbox, drafts) = (is_sandbox.unwrap_or_default(), Drafts::of(members));
        Ok(Self { is_sandbox, language: language.flatten(), suppresses_hooks, drafts })
    }

    /// What reaches a collection is about LIVE: where there is a SANDBOX to be asked, the request was taken there before
    /// ([`crate::Content::environment_of`]).
    ///
    /// # Errors
    /// WDE0179 where SANDBOX is asked for, WDE0027 where it is by somebody who could not use it.
    pub(crate) fn refuse_sandbox(&self, caller: &Caller) -> Result<()> {
        match (self.is_sandbox, caller.bare().is_editor()) {
            (false, _) => Ok(()),
            (true, true) => Err(Fault::new(Code::SandboxDisabled)),
            (true, false) => Err(Fault::because(
                Code::PermissionDenied,
                "The current user does not have permissions to use the sandbox.",
            )),
        }
    }

    /// Whether hooks aren't to be asked: owners, apps and editors may say so, and from others it is without effect.
    pub(crate) fn suppresses_hooks(&self, caller: &Caller) -> bool {
        self.suppresses_hooks && caller.bare().is_editor()
    }

    pub(crate) fn language(&self) -> Language<'_> {
        Language::of_tag(self.language.as_ref())
    }

    /// # Errors
    /// WDE0119: only what updates items can be in a language.
    pub(crate) fn refuse_language(&self) -> Result<()> {
        match self.language {
            None => Ok(()),
            Some(_) => Err(fault::language_refused("can only be named in writes that update, save or patch items")),
        }
    }
}

/// A member that is true or false; false where it is missing or null.
///
/// # Errors
/// WDE0018 for anything else.
pub(crate) fn flag(members: &Map<String, Value>, name: &str) -> Result<bool> {
    flag_at(members, name, name)
}

fn flag_at(members: &Map<String, Value>, name: &str, path: &str) -> Result<bool> {
    match present(members, name) {
        None => Ok(false),
        Some(Value::Bool(it)) => Ok(*it),
        Some(_) => Err(wrong(path, "must be true or false")),
    }
}

/// Whether a request insists on SANDBOX.
fn is_sandbox(members: &Map<String, Value>) -> Result<bool> {
    match present(members, "environment").map(Value::as_str) {
        None | Some(Some("LIVE" | "SANDBOX_PREFERRED" | "UNKNOWN_ENVIRONMENT")) => Ok(false),
        Some(Some("SANDBOX")) => Ok(true),
        Some(_) => Err(wrong("environment", "must be LIVE, SANDBOX or SANDBOX_PREFERRED")),
    }
}

fn language(members: &Map<String, Value>) -> Result<Option<LanguageTag>> {
    let Some(it) = present(members, "language") else { return Ok(None) };
    let tag = it.as_str().and_then(LanguageTag::parse);
    tag.map(Some).ok_or_else(|| wrong("language", "must be the tag of a language, such as de or fr-CA"))
}

fn object<'m>(members: &'m Map<String, Value>, name: &str) -> Result<Option<&'m Map<String, Value>>> {
    let Some(it) = present(members, name) else { return Ok(None) };
    it.as_object().map(Some).ok_or_else(|| wrong(name, "must be an object"))
}

fn wrong(path: &str, rule: &str) -> Fault {
    invalid_as(Code::OptionsInvalid, path, rule)
}

/// A member that is there; null counts as absent.
pub(crate) fn present<'m>(members: &'m Map<String, Value>, name: &str) -> Option<&'m Value> {
    members.get(name).filter(|it| !it.is_null())
}
