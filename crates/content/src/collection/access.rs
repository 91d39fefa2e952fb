//! Who may do what in a collection: every question of rights that content asks, in one place.
//!
//! A right to items becomes a [`Scope`] inside the statement, never a filter on its answer. What a level
//! means for a caller is in [`crate::schema::level`].

use crate::{
    collection::Collection,
    fault,
    schema::{
        definition::Definition,
        level::{Level, Levels, Operation},
        special::Rights,
    },
};
use stoa_kernel::{Caller, Code, Fault, Result};
use stoa_query::Scope;

/// The items that the caller may read, update or remove.
///
/// # Errors
/// WDE0027 when the caller has no right at all. Reading under SITE_MEMBER_AUTHOR is never refused: who
/// owns nothing finds nothing.
pub(crate) fn scope(caller: &Caller, operation: Operation, collection: &Collection) -> Result<Scope> {
    let scope = collection.access(caller).scope(caller, operation);
    scope.ok_or_else(|| denied(operation, collection))
}

/// Whether a scope lets an item of this owner through.
pub(crate) fn covers(scope: &Scope, owner: Option<&str>) -> bool {
    match scope {
        Scope::Everything => true,
        Scope::OwnedBy(it) => owner == Some(it),
        Scope::Nothing => false,
    }
}

/// Whether the caller may insert. A new item is the caller's own, so author counts like member.
///
/// # Errors
/// WDE0027.
pub(crate) fn may_insert(caller: &Caller, collection: &Collection) -> Result<()> {
    match collection.access(caller).allow(caller, Operation::Insert) {
        true => Ok(()),
        false => Err(denied(Operation::Insert, collection)),
    }
}

/// Whether the caller may save: a save comes to an insert or an update, and a caller who may do neither is
/// refused before anything is looked at.
///
/// # Errors
/// WDE0027.
pub(crate) fn may_save(caller: &Caller, collection: &Collection) -> Result<()> {
    match collection.access(caller).allow(caller, Operation::Update) {
        true => Ok(()),
        false => may_insert(caller, collection),
    }
}

/// Whether the caller may empty the collection whole: owners and apps (docs/protocol/content.md §21.9).
///
/// # Errors
/// WDE0027.
pub(crate) fn may_truncate(caller: &Caller, collection: &Collection) -> Result<()> {
    match caller.is_privileged() {
        true => Ok(()),
        false => Err(denied(Operation::Remove, collection)),
    }
}

/// Those who define collections: the people who run the site, and apps.
///
/// # Errors
/// WDE0027.
pub(crate) fn may_manage(caller: &Caller) -> Result<()> {
    match caller.is_editor() {
        true => Ok(()),
        false => Err(Fault::because(
            Code::PermissionDenied,
            "The current user does not have permissions to manage collections.",
        )),
    }
}

/// Whether a manager may delete a collection: an editor doesn't delete what only owners and apps may read or
/// change.
///
/// # Errors
/// WDE0027.
pub(crate) fn may_delete(caller: &Caller, levels: &Levels) -> Result<()> {
    let is_privileged = levels.item_read == Level::Privileged || levels.item_remove == Level::Privileged;
    match is_privileged && !caller.is_privileged() {
        true => Err(Fault::new(Code::PermissionDenied)),
        false => Ok(()),
    }
}

/// Whether a manager may put a definition in the place of another, or make it the first, as far as levels go:
/// no caller gives or takes a level above their own.
///
/// # Errors
/// WDE0027.
pub(crate) fn may_set_levels(caller: &Caller, before: Option<&Definition>, after: &Definition) -> Result<()> {
    let privileged = |it: &Definition| {
        let (levels, drafts) = (it.levels, it.draft_levels().unwrap_or((Level::CmsEditor, Level::CmsEditor)));
        let items = [levels.item_read, levels.item_insert, levels.item_update, levels.item_remove];
        (items.map(|it| it == Level::Privileged), [drafts.0, drafts.1].map(|it| it == Level::Privileged))
    };
    let old = before.map_or(([false; 4], [false; 2]), privileged);
    if caller.is_privileged() || privileged(after) == old {
        return Ok(());
    }
    Err(Fault::because(
        Code::PermissionDenied,
        "The current user does not have permissions to set or change the level PRIVILEGED.",
    ))
}

/// Whether a manager may give or take special permissions: what the levels keep for PRIVILEGED only the
/// privileged give.
///
/// # Errors
/// WDE0027.
pub(crate) fn may_grant(caller: &Caller, definition: &Definition, rights: &Rights) -> Result<()> {
    let drafts = definition.draft_levels().is_some_and(|(drafts, status)| {
        rights.manage_drafts && drafts == Level::Privileged
            || rights.manage_publish_status && status == Level::Privileged
    });
    let is_privileged = |it: &Operation| rights.items.of(*it) && definition.levels.of(*it) == Level::Privileged;
    match !caller.is_privileged() && (drafts || Operation::ALL.iter().any(is_privileged)) {
        true => Err(Fault::because(
            Code::PermissionDenied,
            "The current user does not have permissions to give or take what the level PRIVILEGED holds.",
        )),
        false => Ok(()),
    }
}

fn denied(operation: Operation, collection: &Collection) -> Fault {
    fault::operation_denied(operation.verb(), collection.id.as_str())
}
