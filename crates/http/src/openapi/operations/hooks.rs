//! A site's own code beside its items.

use super::{DONE, PACKED, UNCHANGED};
use crate::{
    openapi::{Answer, Callers, Operation, Parameter},
    subject::Subject,
};
use stoa_kernel::Code;

const INVALID: &[Code] = &[Code::Validation, Code::Forbidden];
/// What was sent can't be read as JSON, or isn't an object.
const UNREADABLE: &[Code] = &[Code::BadRequest];
/// The server runs no hooks.
const NO_HOOKS: &[Code] = &[Code::NotSupported];

const fn hook(id: &'static str, summary: &'static str) -> Operation {
    Operation::new(id, Subject::Hooks, Callers::Owners, summary)
}

pub(crate) const HOOK_VERSION_LIST: Operation = hook("hookVersionList", "Lists the versions of the code that are kept")
    .answers(&[Answer::json("HookVersionListResponse", "The versions, the newest first."), UNCHANGED])
    .errors(&[&[Code::Forbidden]]);

pub(crate) const HOOK_VERSION_DEPLOY: Operation =
    hook("hookVersionDeploy", "Deploys code, which runs from now on in place of what ran before")
        .notes(
            "Either `source`, one module of JavaScript, which exports functions `<collection>_<hook>` and nothing else, and is \
             loaded once to see what it exports; or `plugin`, an application that is asked instead. Each violation of `source` tells the line and column, or the export, if it is about \
             one.",
        )
        .takes("HookVersionDeployRequest")
        .answers(&[Answer::json("HookVersionResponse", "The version, which is active.")])
        .errors(&[INVALID, UNREADABLE, NO_HOOKS]);

pub(crate) const HOOK_VERSION_ACTIVATE: Operation =
    hook("hookVersionActivate", "Has another version run: the way back").may_take("Empty").answers(DONE).errors(&[
        INVALID,
        UNREADABLE,
        &[Code::NotFound],
    ]);

pub(crate) const HOOK_LOG_LIST: Operation = hook("hookLogList", "Lists calls of hooks that failed or said something")
    .notes("They are kept for 7 days, and 10,000 of them. A call is listed a second or two after it.")
    .query(&[
        Parameter::number("limit", "As many, 1 to 1000; 100 without it."),
        Parameter::text(
            "after",
            "The id of an entry: those after it, the oldest first. Without it the newest are listed.",
        ),
        PACKED,
    ])
    .answers(&[Answer::json("HookLogListResponse", "The calls, the oldest first."), UNCHANGED])
    .errors(&[INVALID, UNREADABLE]);

pub(crate) const HOOKS_RESUME: Operation =
    hook("hooksResume", "Lets hooks be asked again on this server, after so many of their processes died that none is")
        .may_take("Empty")
        .answers(DONE)
        .errors(&[INVALID, UNREADABLE, NO_HOOKS]);

pub(crate) const HOOK_TRY: Operation = hook("hookTry", "Asks one hook, and writes nothing")
    .notes("Of the code that is sent, else of the version that is active.")
    .takes("HookTryRequest")
    .answers(&[Answer::json("HookTryResponse", "What the hook answered, or how it failed.")])
    .errors(&[INVALID, UNREADABLE, &[Code::NotFound], NO_HOOKS]);
