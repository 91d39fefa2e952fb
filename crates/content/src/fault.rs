//! Refusals that more than one folder answers: each has its code and its text here, once.
//!
//! They take ids, so that every folder can use them.

pub(crate) use stoa_kernel::Faults;
use stoa_kernel::{Code, Fault, fault::Violation};

/// One member of a request or a definition that doesn't fit; `path` names it.
pub(crate) fn invalid(path: &str, rule: &str) -> Fault {
    invalid_as(Code::RequestInvalid, path, rule)
}

/// The same with a code of its own.
pub(crate) fn invalid_as(code: Code, path: &str, rule: &str) -> Fault {
    violates(code, path, "FORMAT", rule)
}

/// A member that must be there; `path` names it.
pub(crate) fn missing(path: &str) -> Fault {
    violates(Code::RequestInvalid, path, "REQUIRED_FIELD", "is missing")
}

fn violates(code: Code, path: &str, violated_rule: &'static str, text: &str) -> Fault {
    let text = format!("{path} {text}");
    Fault::because(code, format!("{text}.")).violating(vec![Violation::new(path, violated_rule, text)])
}

/// What is to become of drafts, in a way that this server doesn't have yet.
pub(crate) fn action_not_built(path: &str, action: &str) -> Fault {
    let rule = format!("names {action}, which is not supported yet");
    invalid_as(Code::NotSupported, path, &rule).with("path", path)
}

/// Drafts that are made or published, or taken back, where hooks have a say.
pub(crate) fn draft_hook_not_built(collection: &str, hook: &str) -> Fault {
    hook_not_built("Drafts of", collection, hook)
}

/// Jobs by filter on items of which hooks would have to be asked.
pub(crate) fn job_hook_not_built(collection: &str, hook: &str) -> Fault {
    hook_not_built("Jobs by filter on", collection, hook)
}

/// A field of a kind that jobs by filter don't change or read.
pub(crate) fn job_field_not_built(key: &str, kind: &str) -> Fault {
    let text = format!("{key} is {kind} field, which jobs don't change.");
    Fault::because(Code::NotSupported, text).with("propertyName", key)
}

fn hook_not_built(what: &str, collection: &str, hook: &str) -> Fault {
    let text = format!("{what} a collection with hooks are not supported yet: {collection} has {hook}.");
    let fault = Fault::because(Code::NotSupported, text);
    fault.with("collectionName", collection).with("hook", hook)
}

/// A call that can't be in a language other than that of the items; `rule` says why.
pub(crate) fn language_refused(rule: &str) -> Fault {
    invalid_as(Code::NotSupported, "language", rule).with("path", "language")
}

/// The item is there, and what the write makes a condition doesn't hold for it.
pub(crate) fn condition_failed(collection: &str, id: &str) -> Fault {
    item_not_found(collection, id).with("reason", "CONDITION")
}

/// The item is another than its hook saw, and has been as often as it was read again.
pub(crate) fn item_changed(collection: &str, id: &str) -> Fault {
    let text = format!("Item {id} of collection {collection} was changed by others each time its hook had run.");
    Fault::because(Code::RevisionWrong, text).with("itemId", id).with("reason", CHANGED)
}

/// Whether a fault says so.
pub(crate) fn is_item_changed(fault: &Fault) -> bool {
    fault.code() == Code::RevisionWrong && fault.data().get("reason").is_some_and(|it| it == CHANGED)
}

const CHANGED: &str = "CHANGED";

/// A collection of drafts is changed by way of the one whose drafts it has.
pub(crate) fn follows(published: &str) -> Fault {
    let text = format!("This collection has the drafts of {published} and follows it: change that one.");
    Fault::because(Code::BadRequest, text).with("publishedCollectionId", published)
}

/// There is no such collection, or no longer, or none that the caller may know of.
pub(crate) fn collection_not_found(id: &str) -> Fault {
    let text = format!("The {id} collection does not exist.");
    Fault::because(Code::CollectionNotFound, text).with("collectionName", id)
}

/// The collection was deleted, and may be restored.
pub(crate) fn collection_deleted(id: &str) -> Fault {
    Fault::because(Code::CollectionDeleted, format!("The {id} collection was deleted.")).with("collectionName", id)
}

/// The id of a collection is taken.
pub(crate) fn collection_exists(id: &str) -> Fault {
    Fault::because(Code::CollectionExists, format!("The {id} collection already exists.")).with("collectionName", id)
}

/// Whether a fault says that there is no such collection, or no longer.
pub(crate) fn is_collection_gone(fault: &Fault) -> bool {
    matches!(fault.code(), Code::CollectionNotFound | Code::CollectionDeleted)
}

/// The item isn't there, or the caller may not know that it is.
pub(crate) fn item_not_found(collection: &str, id: &str) -> Fault {
    let text = format!("Item {id} does not exist in collection {collection}.");
    Fault::because(Code::ItemNotFound, text).with("itemId", id).with("collectionName", collection)
}

/// The fields of a collection are others than those that the call began with.
pub(crate) fn definition_changed(collection: &str) -> Fault {
    let text = format!("The collection {collection} was changed while its hooks were asked; send the call again.");
    Fault::because(Code::RevisionWrong, text).with("collectionName", collection).with("reason", "DEFINITION")
}

/// The id of an item is taken.
pub(crate) fn item_exists(collection: &str, id: &str) -> Fault {
    let text = format!("An item with _id {id} exists in collection {collection}.");
    Fault::because(Code::ItemExists, text).with("itemId", id).with("collectionName", collection)
}

/// A value that another item has; `details` tell which index allows it once.
pub(crate) fn value_not_unique(collection: &str, id: &str, details: String) -> Fault {
    let text = format!("Another item of collection {collection} has the same unique value. {details}");
    let fault = Fault::because(Code::UniqueConflict, text).with("collectionName", collection);
    fault.with("itemId", id).with("details", details)
}

/// The caller lacks the right to do this to items of a collection.
pub(crate) fn operation_denied(verb: &str, collection: &str) -> Fault {
    let text = format!("The current user does not have permissions to {verb} on the {collection} collection.");
    Fault::because(Code::PermissionDenied, text).with("collectionName", collection).with("operation", verb)
}

/// A field that isn't what the call needs: a `kind` of reference.
pub(crate) fn not_a_reference(collection: &str, key: &str, kind: &str) -> Fault {
    let text = format!("{key} is not a {kind} field of the {collection} collection.");
    Fault::because(Code::NotMultiReference, text).with("collectionName", collection).with("propertyName", key)
}

/// A definition has no field with this key.
pub(crate) fn field_not_found(key: &str) -> Fault {
    Fault::because(Code::FieldInvalid, format!("The field {key} does not exist.")).with("propertyName", key)
}

/// A collection has no index of this name.
pub(crate) fn index_not_found(name: &str) -> Fault {
    Fault::because(Code::IndexNotFound, format!("There is no index {name}."))
}

/// The name of an index is taken, or there is one of the same fields.
pub(crate) fn index_exists(text: &str) -> Fault {
    Fault::because(Code::IndexExists, text)
}

/// The cursor of a request is another server's, another site's, or another call's.
pub(crate) fn cursor_invalid() -> Fault {
    Fault::because(Code::CursorInvalid, "The cursor is not one of this server, or not for this request.")
}
