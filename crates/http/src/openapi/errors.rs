//! Refusals that many calls share, each documented once: what any request may meet, and what follows from whom a call
//! lets in and what it takes.

use super::{Callers, Listed};
use crate::{opening::Opening, traffic::Kind};
use axum::http::StatusCode;
use stoa_kernel::Code;

/// A refusal that many calls share.
pub(super) struct SharedError {
    /// Among the responses of the document's components.
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    /// All of one status.
    pub(super) codes: &'static [Code],
    /// Whether a call may be refused so.
    pub(super) applies: fn(&Listed) -> bool,
}

pub(super) const SHARED: &[SharedError] = &[
    SharedError {
        name: "Malformed",
        about: "The body is not JSON, or not of the media type that the call takes.",
        codes: &[Code::MalformedJson],
        applies: |it| takes_body(it),
    },
    SharedError {
        name: "Unauthenticated",
        about: "There is no token, or it is over or withdrawn, or of another site.",
        codes: &[Code::Unauthenticated],
        applies: |it| looks_at_tokens(it),
    },
    SharedError {
        name: "ScopeMissing",
        about: "The key or client is held to scopes, and none of them opens this call.",
        codes: &[Code::ScopeMissing],
        applies: |it| looks_at_tokens(it) && it.route.opening != Opening::Collections,
    },
    SharedError {
        name: "SiteUnknown",
        about: "No site answers to the host name, or the one that is named is gone.",
        codes: &[Code::SiteUnknown],
        applies: |it| it.route.kind != Kind::Public && it.operation.callers != Callers::Clients,
    },
    SharedError {
        name: "TooLarge",
        about: "The body has more bytes or values than the configuration allows.",
        codes: &[Code::PayloadTooLarge],
        applies: |it| takes_body(it),
    },
    SharedError {
        name: "Throttled",
        about: "The network has too much in progress, or tried this too often. `retry-after` says when to come back.",
        codes: &[Code::Throttled],
        applies: |_| true,
    },
    SharedError { name: "Failed", about: "A fault of the server.", codes: &[Code::Internal], applies: |_| true },
    SharedError {
        name: "Unavailable",
        about: "There is no room at the moment, the disk is full, or it is not known whether a write happened.",
        codes: &[Code::Unavailable, Code::StorageFull, Code::OutcomeUnknown],
        applies: |_| true,
    },
    SharedError {
        name: "HooksRefuse",
        about: "A hook of the collection threw, failed, or took too long. `data` has what it threw.",
        codes: &[Code::HookThrew, Code::HookFailed, Code::HookTimeout],
        applies: asks_hooks,
    },
    SharedError {
        name: "HooksBusy",
        about: "Too many calls wait for the hooks of the site.",
        codes: &[Code::HookQuota],
        applies: asks_hooks,
    },
    SharedError {
        name: "ChangedMeanwhile",
        about: "Others changed it meanwhile: an item each time its hook had run, or what the revision was of.",
        codes: &[Code::RevisionWrong],
        applies: |it| asks_hooks(it) && it.operation.codes().contains(&Code::RevisionWrong),
    },
    SharedError {
        name: "TimeLimit",
        about: "The engine took too long.",
        codes: &[Code::TimeLimit],
        applies: |it| it.route.kind == Kind::Content,
    },
];

/// What a call may be refused with, its own codes first, by status.
pub(super) fn statuses(listed: &Listed) -> Vec<(u16, Vec<Code>)> {
    let shared = SHARED.iter().filter(|it| (it.applies)(listed)).flat_map(|it| it.codes.iter().copied());
    let mut statuses: Vec<(u16, Vec<Code>)> = Vec::new();
    for code in listed.operation.codes().into_iter().chain(shared) {
        match statuses.iter_mut().find(|it| it.0 == code.status()) {
            Some((_, codes)) if codes.contains(&code) => {}
            Some((_, codes)) => codes.push(code),
            None => statuses.push((code.status(), vec![code])),
        }
    }
    statuses.sort_by_key(|it| it.0);
    statuses
}

/// The shared refusal that says all there is to say of a call's status.
pub(super) fn shared(codes: &[Code]) -> Option<&'static SharedError> {
    SHARED.iter().find(|it| it.codes == codes)
}

/// What a status is called.
pub(super) fn phrase(status: u16) -> &'static str {
    StatusCode::from_u16(status).ok().and_then(|it| it.canonical_reason()).unwrap_or("Refused")
}

fn asks_hooks(listed: &Listed) -> bool {
    listed.operation.codes().contains(&Code::HookThrew)
}

fn takes_body(listed: &Listed) -> bool {
    listed.operation.request.is_some()
}

/// Whether the caller is told from a token.
pub(super) fn looks_at_tokens(listed: &Listed) -> bool {
    !matches!(listed.operation.callers, Callers::Open | Callers::Clients | Callers::Pages)
}
