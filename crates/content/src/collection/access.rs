//! Who may do what in a collection: every question of rights that content asks, in one place.
//!
//! A right to items becomes a [`Scope`] inside the statement, never a filter on its answer. A right to write
//! becomes a value that only this module makes, and what writes takes that value: [`ItemWrite`] and
//! [`LinkWrite`] for items and their links, [`ManageAccess`] for definitions, indexes, permissions and the
//! emptying of a collection. What no request asks for has a proof of its own name: [`Command`], [`JobAccess`],
//! [`Handover`]. What a level means for a caller is in [`crate::schema::level`].

use crate::{
    collection::Collection,
    document::owner,
    drafts::Drafts,
    fault,
    schema::{
        definition::Definition,
        field::{self, Field, is_multi, target_id},
        level::{Access, Grants, Level, Levels, Operation},
        plugin::{self, Plugin},
        relation::Side,
        special::Rights,
    },
};
use std::sync::Arc;
use stoa_kernel::{Area, Caller, Code, Fault, Result, Right};
use stoa_query::Scope;

/// The items that the caller may read, update or remove.
///
/// # Errors
/// WDE0027 when the caller has no right at all. Reading under SITE_MEMBER_AUTHOR is never refused: who
/// owns nothing finds nothing.
pub(crate) fn scope(caller: &Caller, drafts: Drafts, operation: Operation, collection: &Collection) -> Result<Scope> {
    scope_of(&collection.access(caller), (caller, drafts), operation, collection)
}

/// Drafts are there for those who may see them and say that their call is about drafts too, whatever it does; for all
/// others they aren't.
fn scope_of(
    access: &Access,
    (caller, drafts): (&Caller, Drafts),
    operation: Operation,
    collection: &Collection,
) -> Result<Scope> {
    let scope = access.scope(caller, operation).ok_or_else(|| denied(operation, collection))?;
    Ok(match collection.definition.publishes_unmarked() {
        Some(unmarked) if drafts == Drafts::Hidden || !may_publish(caller) => scope.published(unmarked),
        _ => scope,
    })
}

/// Whether the caller may see drafts and say which items are: those who work on the site, and apps. Which items they may
/// read or change at all is another matter.
pub(crate) fn may_publish(caller: &Caller) -> bool {
    caller.bare().is_editor()
}

/// The right to say at what time items are published or taken back, beside that to update them.
///
/// # Errors
/// WDE0027 for all but those who work on the site, and apps.
pub(crate) fn publishing(caller: &Caller, collection: &Collection) -> Result<()> {
    match may_publish(caller) {
        true => Ok(()),
        false => Err(denied(Operation::Update, collection)),
    }
}

/// Whether a scope of a write lets an item of this owner through. The document is looked at only where the scope
/// [`reads_documents`].
pub(crate) fn covers(scope: &Scope, owner: Option<&str>, document: &str) -> bool {
    match scope {
        Scope::Everything => true,
        Scope::OwnedBy(it) => owner == Some(it),
        Scope::Published { .. } => shows(scope, document),
        Scope::Nothing => false,
    }
}

/// Whether only its document tells that a scope lets an item through.
pub(crate) fn reads_documents(scope: &Scope) -> bool {
    matches!(scope, Scope::Published { .. })
}

/// Whether a scope lets an item with this document through.
pub(crate) fn shows(scope: &Scope, document: &str) -> bool {
    match scope {
        Scope::Everything => true,
        Scope::OwnedBy(_) | Scope::Nothing => covers(scope, owner(document).as_deref(), document),
        Scope::Published { .. } => {
            serde_json::from_str(document).is_ok_and(|it| stoa_query::matches(&scope.filter(), &it))
        }
    }
}

/// The right to write what items are in other languages, beside that to update them.
///
/// # Errors
/// WDE0027 for all but those who work on the site, and apps.
pub(crate) fn translation(caller: &Caller, collection: &Collection) -> Result<()> {
    if caller.bare().is_editor() {
        return Ok(());
    }
    let text =
        format!("The current user does not have permissions to translate items of the {} collection.", collection.id);
    Err(Fault::because(Code::PermissionDenied, text).with("collectionName", collection.id.as_str()))
}

/// Whether the caller may read the item of a document, which may be a draft: what counts is the right, not what the call
/// was about.
pub(crate) fn may_read(collection: &Collection, caller: &Caller, doc: &str) -> bool {
    scope(caller, Drafts::Included, Operation::Read, collection).is_ok_and(|it| shows(&it, doc))
}

/// What a call does to items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Write {
    Insert,
    /// A replacement or a patch, or a change of links.
    Update,
    /// An insert or an update, whichever it comes to.
    Save,
    Remove,
}

/// A caller's right to write items of a collection.
#[derive(Clone)]
pub(crate) struct ItemWrite {
    collection: Arc<Collection>,
    caller: Caller,
    access: Access,
    drafts: Drafts,
    write: Write,
    is_import: bool,
    /// Whether an item comes from the other collection of a pair: as it is, with its owner and the time when it was made.
    moves: bool,
}

/// The right to write items. A new item is the caller's own, so under SITE_MEMBER_AUTHOR a member may insert.
///
/// # Errors
/// WDE0027 for a caller who may do this to no item at all, before anything is looked at.
pub(crate) fn items(caller: &Caller, drafts: Drafts, collection: &Arc<Collection>, write: Write) -> Result<ItemWrite> {
    let access = collection.access(caller);
    let owned = (collection.clone(), caller.clone());
    let proof =
        ItemWrite { collection: owned.0, caller: owned.1, access, drafts, write, is_import: false, moves: false };
    match write {
        Write::Save if access.allow(caller, Operation::Update) => {}
        Write::Insert | Write::Save => proof.may_insert()?,
        Write::Update => proof.allow(Operation::Update)?,
        Write::Remove => proof.allow(Operation::Remove)?,
    }
    Ok(proof)
}

/// The right to publish drafts and to take items back, under the level and the special permissions for that.
///
/// # Errors
/// WDE0027 for a caller who may do this to no item.
pub(crate) fn publication(caller: &Caller, collection: &Arc<Collection>) -> Result<ItemWrite> {
    let proof = ItemWrite {
        collection: collection.clone(),
        caller: caller.clone(),
        access: publication_access(caller, collection),
        drafts: Drafts::Hidden,
        write: Write::Save,
        is_import: false,
        moves: true,
    };
    proof.allow(Operation::Update)?;
    Ok(proof)
}

/// Whether the caller may publish drafts of some item at least, or take it back.
pub(crate) fn may_change_status(caller: &Caller, collection: &Collection) -> bool {
    collection.definition.draft_levels().is_some()
        && publication_access(caller, collection).allow(caller, Operation::Update)
}

/// Whether the caller may know that there is this collection: who may do something to its items, or to drafts of them.
pub(crate) fn may_know(caller: &Caller, collection: &Collection) -> bool {
    collection.access(caller).may_know(caller)
        || collection.may_know_drafts(caller)
        || may_change_status(caller, collection)
}

/// What decides on a caller's rights to published items where they are published and taken back.
fn publication_access(caller: &Caller, collection: &Collection) -> Access {
    let level = collection.definition.draft_levels().map_or(Level::Privileged, |it| it.1);
    let may = collection.grants.of(caller).any(|it| it.manage_publish_status);
    let Access { levels, grants, reach } = collection.access(caller);
    Access {
        levels: Levels { item_insert: level, item_update: level, item_remove: level, ..levels },
        grants: Grants { item_insert: may, item_update: may, item_remove: may, ..grants },
        reach,
    }
}

impl ItemWrite {
    /// The same for an item that comes from the paired collection.
    pub(crate) fn moving(self) -> Self {
        Self { moves: true, ..self }
    }

    pub(crate) fn moves(&self) -> bool {
        self.moves
    }

    /// Whether an item that is there stays whose it is, whatever is written over it: a draft says nothing of that.
    pub(crate) fn publishes(&self) -> bool {
        self.moves && self.collection.definition.published_id().is_none()
    }

    pub(crate) fn collection(&self) -> &Arc<Collection> {
        &self.collection
    }

    pub(crate) fn caller(&self) -> &Caller {
        &self.caller
    }

    /// The same right by what the collection is now.
    ///
    /// # Errors
    /// WDE0027 where it was taken away.
    pub(crate) fn again(&self, collection: &Arc<Collection>) -> Result<Self> {
        Ok(Self { is_import: self.is_import, ..items(&self.caller, self.drafts, collection, self.write)? })
    }

    /// Whether times and owners of the items count: an import by a caller to whom everything is allowed.
    pub(crate) fn is_import(&self) -> bool {
        self.is_import
    }

    /// # Errors
    /// WDE0027 when the caller may not insert.
    pub(crate) fn may_insert(&self) -> Result<()> {
        self.allow(Operation::Insert)
    }

    /// The items that the caller may do this to.
    ///
    /// # Errors
    /// WDE0027 when there can't be any.
    pub(crate) fn scope(&self, operation: Operation) -> Result<Scope> {
        scope_of(&self.access, (&self.caller, self.drafts), operation, &self.collection)
    }

    fn allow(&self, operation: Operation) -> Result<()> {
        match self.access.allow(&self.caller, operation) {
            true => Ok(()),
            false => Err(denied(operation, &self.collection)),
        }
    }
}

/// A caller's right to write links to items of a collection.
pub(crate) struct LinkWrite {
    scope: Scope,
}

/// The right to link with items. A link belongs to the field that was declared: through its inverse field it is
/// a change of the items that it leads to.
///
/// # Errors
/// WDE0027.
pub(crate) fn links(caller: &Caller, drafts: Drafts, target: &Collection, side: Side) -> Result<LinkWrite> {
    let needed = match side {
        Side::Referring => Operation::Read,
        Side::Referenced => Operation::Update,
    };
    Ok(LinkWrite { scope: scope(caller, drafts, needed, target)? })
}

impl LinkWrite {
    /// The items that may be linked with.
    pub(crate) fn scope(&self) -> &Scope {
        &self.scope
    }
}

/// One who defines collections. What they may change of a given collection is asked of its definition.
pub(crate) struct Manager {
    /// Nothing for the server itself, which tends the indexes that it made.
    caller: Option<Caller>,
}

/// The right to one change of a collection: of its definition, its indexes, its permissions, or all its items.
pub(crate) struct ManageAccess {
    caller: Option<Caller>,
}

/// Those who define collections: operators and apps. Which collections scopes leave is asked with each change.
///
/// # Errors
/// WDE0027.
pub(crate) fn manager(caller: &Caller) -> Result<Manager> {
    let is_left = caller.scopes().is_none_or(|it| it.allow_somewhere(Area::Collections, Right::Read));
    match caller.bare().is_editor() && is_left {
        true => Ok(Manager { caller: Some(caller.clone()) }),
        false => Err(Fault::because(
            Code::PermissionDenied,
            "The current user does not have permissions to manage collections.",
        )),
    }
}

/// One who may change the collection of this id as far as scopes go. It is asked before the collection is looked at:
/// what else is wrong with a change tells of it.
///
/// # Errors
/// WDE0027.
pub(crate) fn manager_of(caller: &Caller, id: &str) -> Result<Manager> {
    let manager = manager(caller)?;
    manager.reaches(Right::Write, id)?;
    Ok(manager)
}

/// The server itself, for the indexes that slow queries ask for.
pub(crate) fn server() -> Manager {
    Manager { caller: None }
}

/// The right of the server to drop an index that it made.
pub(crate) fn upkeep() -> ManageAccess {
    ManageAccess { caller: None }
}

/// The right to empty a collection whole: owners and apps have it (docs/protocol/content.md §21.9).
///
/// # Errors
/// WDE0027.
pub(crate) fn truncation(caller: &Caller, collection: &Collection) -> Result<ManageAccess> {
    match may_truncate(caller, collection.id.as_str()) {
        true => Ok(ManageAccess { caller: Some(caller.clone()) }),
        false => Err(denied(Operation::Remove, collection)),
    }
}

fn may_truncate(caller: &Caller, id: &str) -> bool {
    caller.bare().is_privileged() && caller.reaches(Area::Items, Right::Write, Some(id))
}

impl ManageAccess {
    /// Who asked for the change; nothing for the server itself.
    pub(crate) fn caller(&self) -> Option<&Caller> {
        self.caller.as_ref()
    }

    /// The right to write the item of a collection that has but one, which comes with its definition.
    pub(crate) fn single_item(&self, caller: &Caller, collection: &Arc<Collection>) -> ItemWrite {
        ItemWrite {
            collection: collection.clone(),
            caller: caller.clone(),
            access: collection.access(caller),
            drafts: Drafts::Included,
            write: Write::Update,
            is_import: false,
            moves: false,
        }
    }
}

impl Manager {
    /// The right to read all of what the collection of this id is.
    ///
    /// # Errors
    /// WDE0027 when scopes don't leave it.
    pub(crate) fn definition(&self, id: &str) -> Result<()> {
        self.reaches(Right::Read, id)
    }

    /// The right to make a collection.
    ///
    /// # Errors
    /// WDE0027.
    pub(crate) fn creation(&self, id: &str, definition: &Definition) -> Result<ManageAccess> {
        self.may_set_levels(None, definition)?;
        self.access(id)
    }

    /// The right to put a definition in the place of another.
    ///
    /// # Errors
    /// WDE0027 for levels above the manager's own, for what would show drafts that the manager can't see, and for
    /// other fields or plugins of a collection that is kept for PRIVILEGED.
    pub(crate) fn change(&self, id: &str, before: &Definition, after: &Definition) -> Result<ManageAccess> {
        self.may_set_levels(Some(before), after)?;
        if !self.is_privileged() && before.publishes_unmarked() != after.publishes_unmarked() {
            return Err(Fault::because(
                Code::PermissionDenied,
                "The current user does not have permissions to change which items are drafts.",
            ));
        }
        let publishes = |it: &Definition| it.draft_levels().is_some();
        if !self.is_privileged()
            && before.levels.item_insert == Level::Privileged
            && publishes(after)
            && !publishes(before)
        {
            // To publish is to insert.
            return Err(Fault::because(
                Code::PermissionDenied,
                "The current user does not have permissions to add drafts to a collection whose items only PRIVILEGED inserts.",
            ));
        }
        match has_same_fields(before, after) && has_same_plugins(before, after) {
            true => self.access(id),
            false => self.of_kept(id, &before.levels),
        }
    }

    /// The right to give a collection a field, or to take one away, as another collection's change brings along.
    ///
    /// # Errors
    /// WDE0027 when it is kept for PRIVILEGED.
    pub(crate) fn fields(&self, id: &str, definition: &Definition) -> Result<ManageAccess> {
        self.of_kept(id, &definition.levels)
    }

    /// The right to make or drop indexes.
    ///
    /// # Errors
    /// WDE0027 when the collection is kept for PRIVILEGED.
    pub(crate) fn indexes(&self, id: &str, definition: &Definition) -> Result<ManageAccess> {
        self.of_kept(id, &definition.levels)
    }

    /// The right to delete a collection.
    ///
    /// # Errors
    /// WDE0027 when it is kept for PRIVILEGED.
    pub(crate) fn deletion(&self, id: &str, levels: &Levels) -> Result<ManageAccess> {
        match self.is_privileged() || !is_kept(levels) {
            true => self.access(id),
            false => Err(Fault::new(Code::PermissionDenied)),
        }
    }

    /// The right to bring a deleted collection back as it was.
    ///
    /// # Errors
    /// WDE0027 when scopes don't leave it.
    pub(crate) fn restoration(&self, id: &str) -> Result<ManageAccess> {
        self.access(id)
    }

    /// The right to give or take special permissions: what the levels keep for PRIVILEGED only the privileged
    /// give.
    ///
    /// # Errors
    /// WDE0027.
    pub(crate) fn grant(&self, id: &str, definition: &Definition, rights: &Rights) -> Result<ManageAccess> {
        let drafts = definition.draft_levels().is_some_and(|(drafts, status)| {
            rights.manage_drafts && drafts == Level::Privileged
                || rights.manage_publish_status && status == Level::Privileged
        });
        let is_privileged = |it: &Operation| rights.items.of(*it) && definition.levels.of(*it) == Level::Privileged;
        match !self.is_privileged() && (drafts || Operation::ALL.iter().any(is_privileged)) {
            true => Err(Fault::because(
                Code::PermissionDenied,
                "The current user does not have permissions to give or take what the level PRIVILEGED holds.",
            )),
            false => self.access(id),
        }
    }

    /// The right to a change of the collection of this id that nothing but scopes may be in the way of.
    fn access(&self, id: &str) -> Result<ManageAccess> {
        self.reaches(Right::Write, id)?;
        Ok(ManageAccess { caller: self.caller.clone() })
    }

    fn reaches(&self, right: Right, id: &str) -> Result<()> {
        match self.caller.as_ref().is_none_or(|it| it.reaches(Area::Collections, right, Some(id))) {
            true => Ok(()),
            false => {
                let text = format!("The key or token has no scope collections:{} for {id:?}.", right.name());
                Err(Fault::because(Code::PermissionDenied, text))
            }
        }
    }

    fn is_privileged(&self) -> bool {
        self.caller.as_ref().is_none_or(|it| it.bare().is_privileged())
    }

    fn of_kept(&self, id: &str, levels: &Levels) -> Result<ManageAccess> {
        match self.is_privileged() || !is_kept(levels) {
            true => self.access(id),
            false => Err(Fault::because(
                Code::PermissionDenied,
                "The current user does not have permissions to change the fields, plugins or indexes of a collection \
                 whose items are kept for PRIVILEGED.",
            )),
        }
    }

    /// No caller gives or takes a level above their own.
    fn may_set_levels(&self, before: Option<&Definition>, after: &Definition) -> Result<()> {
        let privileged = |it: &Definition| {
            let (levels, drafts) = (it.levels, it.draft_levels().unwrap_or((Level::CmsEditor, Level::CmsEditor)));
            let items = [levels.item_read, levels.item_insert, levels.item_update, levels.item_remove];
            (items.map(|it| it == Level::Privileged), [drafts.0, drafts.1].map(|it| it == Level::Privileged))
        };
        let old = before.map_or(([false; 4], [false; 2]), privileged);
        if self.is_privileged() || privileged(after) == old {
            return Ok(());
        }
        Err(Fault::because(
            Code::PermissionDenied,
            "The current user does not have permissions to set or change the level PRIVILEGED.",
        ))
    }
}

/// Whether only owners and apps may read, update or remove the items. What a definition, an index or a
/// deletion does to items is no insert, so the level for that doesn't count.
fn is_kept(levels: &Levels) -> bool {
    [levels.item_read, levels.item_update, levels.item_remove].contains(&Level::Privileged)
}

/// Whether nothing changes for the fields, as managers read them. What a multi-reference says of its inverse was
/// decided when it was made, and need not be sent again.
fn has_same_fields(before: &Definition, after: &Definition) -> bool {
    let without_inverse = |it: &Field| {
        let mut field = it.clone();
        field.remove("typeMetadata");
        field::view(&field)
    };
    let is_same = |(old, new): (&Field, &Field)| {
        let leads_there = is_multi(old) && is_multi(new) && target_id(old) == target_id(new);
        field::view(old) == field::view(new) || leads_there && without_inverse(old) == without_inverse(new)
    };
    before.fields.len() == after.fields.len() && before.fields.iter().zip(&after.fields).all(is_same)
}

/// Whether nothing changes for the plugins but levels, which are a matter of permissions.
fn has_same_plugins(before: &Definition, after: &Definition) -> bool {
    let without_levels = |it: &Plugin| {
        let mut plugin = it.clone();
        plugin.remove("draftItemsOptions");
        plugin::view(&plugin)
    };
    before.plugins.iter().map(without_levels).eq(after.plugins.iter().map(without_levels))
}

/// The right of a command on the machine, which takes a whole collection in or out.
pub(crate) struct Command {
    caller: Caller,
}

/// # Errors
/// WDE0027 for a caller to whom not everything is allowed.
pub(crate) fn command(caller: &Caller) -> Result<Command> {
    match caller.is_privileged() {
        true => Ok(Command { caller: caller.clone() }),
        false => Err(Fault::new(Code::PermissionDenied)),
    }
}

impl Command {
    /// The right to save items with the times and owners that they have.
    pub(crate) fn import(&self, collection: &Arc<Collection>) -> ItemWrite {
        ItemWrite {
            collection: collection.clone(),
            caller: self.caller.clone(),
            access: collection.access(&self.caller),
            drafts: Drafts::Included,
            write: Write::Save,
            is_import: true,
            moves: false,
        }
    }
}

/// The right of a background job to its next piece of work.
pub(crate) struct JobAccess(());

/// The right to the next piece of emptying a collection, if who asked for it still has the right to all of it. A
/// job of an older version has no caller recorded, and has the right for good. Whether a caller is still who
/// they were is another question ([`stoa_store::Standing`]).
pub(crate) fn truncation_job(caller: Option<&Caller>, id: &str) -> Option<JobAccess> {
    caller.is_none_or(|it| may_truncate(it, id)).then_some(JobAccess(()))
}

/// The same for the values of a deleted field.
pub(crate) fn purge_job(caller: Option<&Caller>, id: &str, levels: &Levels) -> Option<JobAccess> {
    let may = |it: &Caller| manager(it).is_ok_and(|it| it.of_kept(id, levels).is_ok());
    caller.is_none_or(may).then_some(JobAccess(()))
}

/// The right to make the items of a visitor those of the member that the visitor becomes.
pub(crate) struct Handover(());

/// The right comes with the transaction that issues the member's first session.
pub(crate) fn handover() -> Handover {
    Handover(())
}

fn denied(operation: Operation, collection: &Collection) -> Fault {
    fault::operation_denied(operation.verb(), collection.id.as_str())
}
