//! The document of the interface: where the tests that ask every call have their calls from, what it says of callers,
//! what it must not lose, and how it is served.

mod callers;
mod compare;
mod options;
mod refusals_content;
mod refusals_identity;
mod released;
mod served;

use stoa_http::{
    openapi::{Callers, Listed, Operation},
    operations,
};

/// The operation of this id.
pub(crate) fn operation(id: &str) -> Listed {
    let found = operations().into_iter().find(|it| it.operation.id == id);
    found.unwrap_or_else(|| panic!("there is no operation {id}"))
}

/// Whether a path as it is sent, with names in braces or without, is one of a path of the table.
pub(crate) fn is_at(listed: &Listed, path: &str) -> bool {
    let sent = path.split('?').next().unwrap_or_default();
    let (own, sent): (Vec<&str>, Vec<&str>) = (listed.route.path.split('/').collect(), sent.split('/').collect());
    let has_rest = own.last().is_some_and(|it| it.starts_with("{*"));
    let is_long_enough = own.len() == sent.len() || has_rest && sent.len() > own.len();
    is_long_enough && own.iter().zip(&sent).all(|(own, sent)| own == sent || own.starts_with('{') && !sent.is_empty())
}

/// The ids of the operations for which there is no row.
pub(crate) fn forgotten(operations: &[Listed], rows: &[&str]) -> Vec<&'static str> {
    operations.iter().map(|it| it.operation.id).filter(|it| !rows.contains(it)).collect()
}

/// All calls that take a body, at paths that name the collection `things`, its item `one`, or nothing that is there.
pub(crate) fn calls_with_bodies(is_meant: impl Fn(&Listed) -> bool) -> Vec<(Listed, String)> {
    let taking = operations().into_iter().filter(|it| it.operation.request.is_some() && is_meant(it));
    let path = |it: &Listed| {
        let path = it.path().replace("/v2/items/{id}", "/v2/items/one");
        let path = path.replace("/v2/collections/{id}", "/v2/collections/things");
        ["{id}", "{key}", "{token}"].iter().fold(path, |path, name| path.replace(name, "x"))
    };
    taking.map(|it| (it.clone(), path(&it))).collect()
}

/// Whether the caller of a call is told from a token.
pub(crate) fn looks_at_tokens(operation: &Operation) -> bool {
    !matches!(operation.callers, Callers::Open | Callers::Clients | Callers::Pages)
}

/// Tests that a call answers a caller of the matrices as its operation says that it does.
pub(crate) fn check_caller(operation: &Operation, caller: &str, verdict: &str) {
    let is_unknown = verdict == "401 UNAUTHENTICATED";
    let is_forbidden = matches!(verdict, "403 PERMISSION_DENIED" | "403 WDE0027");
    // What is not for a caller may be hidden from them.
    let is_closed = is_forbidden || verdict.starts_with("404 ");
    let id = operation.id;
    match (caller, operation.callers) {
        ("nobody", Callers::Open) => assert!(!is_unknown, "{id} is open to anyone: {verdict}"),
        ("nobody", _) if looks_at_tokens(operation) => assert!(is_unknown, "{id} without a token: {verdict}"),
        ("visitor", Callers::Known) => assert!(!is_forbidden, "{id} is open to visitors: {verdict}"),
        ("visitor", Callers::Members | Callers::Editors | Callers::Owners | Callers::Persons | Callers::Apps)
        | ("member" | "other" | "self", Callers::Editors | Callers::Owners | Callers::Persons | Callers::Apps)
        | ("editor", Callers::Owners | Callers::Persons | Callers::Apps)
        | ("app", Callers::Persons)
        | ("owner", Callers::Apps) => assert!(is_closed, "{id} is closed to {caller}: {verdict}"),
        ("editor", Callers::Editors)
        | ("owner" | "app", Callers::Editors | Callers::Owners)
        | ("owner", Callers::Persons)
        | ("app", Callers::Apps) => {
            assert!(!is_forbidden, "{id} is open to {caller}: {verdict}");
        }
        _ => {}
    }
}
