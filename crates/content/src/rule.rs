//! Who may do what with the items of a collection, and which items that is.
//!
//! Pure: a caller, an operation and the collection's levels in, a scope or a refusal out. Nothing else
//! in this crate decides on rights to items (protocol/content.md 8 and 21.9; decisions: "read without
//! right", "another's item under SITE_MEMBER_AUTHOR").

use crate::Collection;
use serde::{Deserialize, Serialize};
use stoa_kernel::{Caller, Code, Fault, Result};
use stoa_query::Scope;

/// What a caller must be to do something, the lowest demand first. Who holds a level holds those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Level {
    Anyone,
    SiteMember,
    /// Members, for items that they own.
    SiteMemberAuthor,
    /// The people who run the site, and apps.
    CmsEditor,
    /// Owners and apps.
    Privileged,
}

/// The four things that levels are set for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operation {
    Read,
    Insert,
    Update,
    Remove,
}

/// A collection's levels (`dataPermissions` on the wire).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Levels {
    pub item_read: Level,
    pub item_insert: Level,
    pub item_update: Level,
    pub item_remove: Level,
}

impl Level {
    pub const ALL: [Self; 5] =
        [Self::Anyone, Self::SiteMember, Self::SiteMemberAuthor, Self::CmsEditor, Self::Privileged];

    pub fn name(self) -> &'static str {
        match self {
            Self::Anyone => "ANYONE",
            Self::SiteMember => "SITE_MEMBER",
            Self::SiteMemberAuthor => "SITE_MEMBER_AUTHOR",
            Self::CmsEditor => "CMS_EDITOR",
            Self::Privileged => "PRIVILEGED",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }

    /// The name in the older model, which knows nobody above its editors.
    pub fn older_name(self) -> &'static str {
        match self {
            Self::CmsEditor | Self::Privileged => "ADMIN",
            it => it.name(),
        }
    }

    /// Reads a name of the older model.
    pub fn parse_older(name: &str) -> Option<Self> {
        match name {
            "ADMIN" => Some(Self::CmsEditor),
            _ => Self::parse(name).filter(|it| *it < Self::CmsEditor),
        }
    }
}

impl Operation {
    pub const ALL: [Self; 4] = [Self::Read, Self::Insert, Self::Update, Self::Remove];

    pub fn verb(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Insert => "insert",
            Self::Update => "update",
            Self::Remove => "remove",
        }
    }
}

impl Levels {
    pub fn of(&self, operation: Operation) -> Level {
        match operation {
            Operation::Read => self.item_read,
            Operation::Insert => self.item_insert,
            Operation::Update => self.item_update,
            Operation::Remove => self.item_remove,
        }
    }

    /// Whether the caller may do this to at least some items.
    pub fn allow(&self, caller: &Caller, operation: Operation) -> bool {
        matches!(verdict(caller, self.of(operation)), Verdict::All | Verdict::Own)
    }
}

impl Default for Levels {
    /// Protocol/content.md 6.3: reads SITE_MEMBER_AUTHOR, everything else CMS_EDITOR.
    fn default() -> Self {
        let editor = Level::CmsEditor;
        Self { item_read: Level::SiteMemberAuthor, item_insert: editor, item_update: editor, item_remove: editor }
    }
}

/// What a level means for a caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    All,
    /// Items that the caller owns.
    Own,
    /// No item, and for reads no error either.
    Nothing,
    Refused,
}

fn verdict(caller: &Caller, level: Level) -> Verdict {
    if caller.is_privileged() || (caller.is_editor() && level <= Level::CmsEditor) || level == Level::Anyone {
        return Verdict::All;
    }
    match (level, caller.is_member()) {
        (Level::SiteMember, true) => Verdict::All,
        (Level::SiteMemberAuthor, true) => Verdict::Own,
        (Level::SiteMemberAuthor, false) => Verdict::Nothing,
        _ => Verdict::Refused,
    }
}

/// The items that the caller may read, update or remove.
///
/// # Errors
/// WDE0027 when the caller has no right at all. Reading under SITE_MEMBER_AUTHOR is never refused: who
/// owns nothing finds nothing.
pub fn scope(caller: &Caller, operation: Operation, collection: &Collection) -> Result<Scope> {
    match verdict(caller, collection.levels().of(operation)) {
        Verdict::All => Ok(Scope::Everything),
        Verdict::Own => Ok(caller.owner().map_or(Scope::Nothing, |it| Scope::OwnedBy(it.to_owned()))),
        Verdict::Nothing if operation == Operation::Read => Ok(Scope::Nothing),
        Verdict::Nothing | Verdict::Refused => Err(refusal(operation, collection)),
    }
}

/// Whether the caller may insert. A new item is the caller's own, so author counts like member.
///
/// # Errors
/// WDE0027.
pub fn may_insert(caller: &Caller, collection: &Collection) -> Result<()> {
    match collection.levels().allow(caller, Operation::Insert) {
        true => Ok(()),
        false => Err(refusal(Operation::Insert, collection)),
    }
}

/// Those who define collections: the people who run the site, and apps.
///
/// # Errors
/// WDE0027.
pub fn may_manage(caller: &Caller) -> Result<()> {
    match caller.is_editor() {
        true => Ok(()),
        false => Err(Fault::because(
            Code::PermissionDenied,
            "The current user does not have permissions to manage collections.",
        )),
    }
}

/// Whether the caller may know that the collection exists: managers always, others when any right to its
/// items is theirs.
pub fn may_know(caller: &Caller, levels: &Levels) -> bool {
    caller.is_editor() || Operation::ALL.iter().any(|it| levels.allow(caller, *it))
}

fn refusal(operation: Operation, collection: &Collection) -> Fault {
    let (verb, id) = (operation.verb(), &collection.id);
    let text = format!("The current user does not have permissions to {verb} on the {id} collection.");
    Fault::because(Code::PermissionDenied, text).with("collectionName", id.as_str()).with("operation", verb)
}
