//! Permission levels: what a caller may do with items, and with which.
//!
//! Pure: a caller, an operation, the collection's levels and what the caller is specially granted in, a scope
//! or nothing out (docs/protocol/content.md §8, §21.9; docs/compatibility.md). What is asked of it is in
//! [`crate::collection::access`].

use crate::wire::validator::Validator;
use serde::{Deserialize, Serialize};
use stoa_kernel::{Area, Caller, Right};
use stoa_query::Scope;

/// What a caller must be to do something, the lowest demand first. A caller who holds a level holds those
/// before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Level {
    Anyone,
    SiteMember,
    /// Members, for items that they own.
    SiteMemberAuthor,
    /// Operators and apps.
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

/// A level as it is sent.
pub(crate) const LEVEL: Validator =
    Validator::OneOf(&["ANYONE", "SITE_MEMBER", "SITE_MEMBER_AUTHOR", "CMS_EDITOR", "PRIVILEGED"]);
/// The levels of a collection (`dataPermissions`).
pub(crate) const LEVELS: Validator =
    Validator::Object(&[("itemRead", LEVEL), ("itemInsert", LEVEL), ("itemUpdate", LEVEL), ("itemRemove", LEVEL)]);
/// The levels for drafts and for publishing.
pub(crate) const DRAFT_LEVELS: Validator =
    Validator::Object(&[("manageDrafts", LEVEL), ("managePublishStatus", LEVEL)]);

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

    /// The name in the older model, which has no level above its editors'.
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

/// What a caller may do whatever the levels say: special permissions only ever add.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Grants {
    pub item_read: bool,
    pub item_insert: bool,
    pub item_update: bool,
    pub item_remove: bool,
}

/// What scopes leave of a caller's rights in one collection, whatever these are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reach {
    reads: bool,
    writes: bool,
    defines: bool,
}

/// All that decides on a caller's rights in a collection, beside the caller.
#[derive(Debug, Clone, Copy)]
pub struct Access {
    pub levels: Levels,
    /// What this caller is specially granted.
    pub grants: Grants,
    pub reach: Reach,
}

impl Reach {
    /// Everything: the caller is held to no scopes.
    #[cfg(test)]
    const WHOLE: Self = Self { reads: true, writes: true, defines: true };

    /// What the caller's scopes leave in the collection of this id.
    pub(crate) fn of(caller: &Caller, collection: &str) -> Self {
        let reaches = |area, right| caller.reaches(area, right, Some(collection));
        Self {
            reads: reaches(Area::Items, Right::Read),
            writes: reaches(Area::Items, Right::Write),
            defines: reaches(Area::Collections, Right::Read),
        }
    }

    /// Whether the definition may be read, by one who manages collections.
    pub(crate) fn defines(self) -> bool {
        self.defines
    }

    pub(crate) fn covers(self, operation: Operation) -> bool {
        match operation {
            Operation::Read => self.reads,
            Operation::Insert | Operation::Update | Operation::Remove => self.writes,
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
}

impl Grants {
    pub fn of(&self, operation: Operation) -> bool {
        match operation {
            Operation::Read => self.item_read,
            Operation::Insert => self.item_insert,
            Operation::Update => self.item_update,
            Operation::Remove => self.item_remove,
        }
    }

    /// What either gives.
    pub fn or(self, other: Self) -> Self {
        Self {
            item_read: self.item_read || other.item_read,
            item_insert: self.item_insert || other.item_insert,
            item_update: self.item_update || other.item_update,
            item_remove: self.item_remove || other.item_remove,
        }
    }
}

impl Access {
    /// Whether the caller may do this to at least some items.
    pub fn allow(&self, caller: &Caller, operation: Operation) -> bool {
        matches!(self.verdict(caller, operation), Verdict::All | Verdict::Own)
    }

    /// The items that the caller may do this to; nothing when the caller is to be refused.
    pub(crate) fn scope(&self, caller: &Caller, operation: Operation) -> Option<Scope> {
        match self.verdict(caller, operation) {
            Verdict::All => Some(Scope::Everything),
            Verdict::Own => Some(caller.owner().map_or(Scope::Nothing, |it| Scope::OwnedBy(it.to_owned()))),
            Verdict::Nothing if operation == Operation::Read => Some(Scope::Nothing),
            Verdict::Nothing | Verdict::Refused => None,
        }
    }

    /// Whether the caller manages collections and may read what this one is.
    pub(crate) fn may_define(&self, caller: &Caller) -> bool {
        caller.bare().is_editor() && self.reach.defines()
    }

    /// Whether the caller may know that the collection exists: managers always, others when they have any
    /// right to its items.
    pub(crate) fn may_know(&self, caller: &Caller) -> bool {
        self.may_define(caller) || Operation::ALL.iter().any(|it| self.allow(caller, *it))
    }

    fn verdict(&self, caller: &Caller, operation: Operation) -> Verdict {
        match (self.reach.covers(operation), self.grants.of(operation)) {
            (false, _) => Verdict::Refused,
            (true, true) => Verdict::All,
            (true, false) => verdict(caller.bare(), self.levels.of(operation)),
        }
    }
}

impl Default for Levels {
    /// docs/protocol/content.md §6.3: reads SITE_MEMBER_AUTHOR, everything else CMS_EDITOR.
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

#[cfg(test)]
mod tests {
    use super::*;
    use stoa_kernel::Role;

    const LEVELS: [Level; 5] = Level::ALL;

    /// What each caller gets at the five levels without a grant: `a`ll, `o`wn, `n`othing without an
    /// error, `-` refused. First for reading, then for everything else.
    const TABLE: &[(&str, &str, &str)] = &[
        ("visitor", "a-n--", "a----"),
        ("member", "aao--", "aao--"),
        ("editor", "aaaa-", "aaaa-"),
        ("owner", "aaaaa", "aaaaa"),
        ("app", "aaaaa", "aaaaa"),
    ];

    fn caller(name: &str) -> Caller {
        let user = |role| Caller::User { id: "u".into(), role, session: "s".into() };
        match name {
            "visitor" => Caller::Visitor { id: "v".into(), client: None },
            "member" => Caller::Member { id: "m".into(), session: "s".into(), client: None },
            "editor" => user(Role::Editor),
            "owner" => user(Role::Owner),
            _ => Caller::App { id: "k".into() },
        }
    }

    fn symbol(scope: Option<Scope>) -> char {
        match scope {
            Some(Scope::Everything) => 'a',
            Some(Scope::OwnedBy(_)) => 'o',
            Some(Scope::Published { .. }) => 'p',
            Some(Scope::Nothing) => 'n',
            None => '-',
        }
    }

    fn grants(bits: usize) -> Grants {
        let [item_read, item_insert, item_update, item_remove] = [0, 1, 2, 3].map(|it| bits >> it & 1 == 1);
        Grants { item_read, item_insert, item_update, item_remove }
    }

    #[test]
    fn levels_of_every_caller_with_every_grant() {
        for (name, read, other) in TABLE {
            let caller = caller(name);
            for (n, level) in LEVELS.into_iter().enumerate() {
                let levels = Levels { item_read: level, item_insert: level, item_update: level, item_remove: level };
                for bits in 0..16 {
                    let access = Access { levels, grants: grants(bits), reach: Reach::WHOLE };
                    for (bit, operation) in Operation::ALL.into_iter().enumerate() {
                        let row = if operation == Operation::Read { read } else { other };
                        let plain = row.chars().nth(n).expect("five letters");
                        // A grant opens its own operation wholly, and no other one by a hair.
                        let expected = if bits >> bit & 1 == 1 { 'a' } else { plain };
                        let what = format!("{name} {level:?} {operation:?} granted {bits:04b}");
                        assert_eq!(symbol(access.scope(&caller, operation)), expected, "{what}");
                        assert_eq!(access.allow(&caller, operation), matches!(expected, 'a' | 'o'), "{what}");
                    }
                    let knows = caller.is_editor() || Operation::ALL.iter().any(|it| access.allow(&caller, *it));
                    assert_eq!(access.may_know(&caller), knows, "{name} {level:?} {bits:04b}");
                }
            }
        }
    }

    #[test]
    fn levels_are_decided_one_by_one() {
        // Every combination of four levels: what one says changes nothing for another.
        for (name, read, other) in TABLE {
            let caller = caller(name);
            for n in 0..625_usize {
                let [r, i, u, d] = [n % 5, n / 5 % 5, n / 25 % 5, n / 125];
                let [item_read, item_insert, item_update, item_remove] = [r, i, u, d].map(|it| LEVELS[it]);
                let levels = Levels { item_read, item_insert, item_update, item_remove };
                let access = Access { levels, grants: Grants::default(), reach: Reach::WHOLE };
                for (operation, at) in Operation::ALL.into_iter().zip([r, i, u, d]) {
                    let row = if operation == Operation::Read { read } else { other };
                    assert_eq!(Some(symbol(access.scope(&caller, operation))), row.chars().nth(at), "{name} {n}");
                }
            }
        }
    }

    #[test]
    fn scopes_take_rights_away_and_give_none() {
        let operations = |text: &str, caller: Caller, level: Level| -> String {
            let caller = caller.held_to(Some(&stoa_kernel::Scopes::among(text)));
            let levels = Levels { item_read: level, item_insert: level, item_update: level, item_remove: level };
            let access = Access { levels, grants: grants(0b1000), reach: Reach::of(&caller, "c") };
            let symbols = Operation::ALL.map(|it| symbol(access.scope(&caller, it)));
            symbols.into_iter().chain([if access.may_know(&caller) { 'k' } else { '-' }]).collect()
        };
        // Read, insert, update, remove, which is granted, and whether the collection is known.
        for (text, expected) in [
            ("", "-----"),
            ("offline_access members:write site:write items:write:d", "-----"),
            ("collections:write:c", "----k"),
            ("items:read", "a---k"),
            ("items:read:c items:write:d", "a---k"),
            ("items:write:c", "aaaak"),
        ] {
            assert_eq!(operations(text, caller("app"), Level::Privileged), expected, "{text}");
        }
        assert_eq!(operations("items:write", caller("member"), Level::Privileged), "---ak");
        assert_eq!(operations("items:read", caller("member"), Level::SiteMemberAuthor), "o---k");
        assert_eq!(operations("collections:write items:write", caller("visitor"), Level::Anyone), "aaaak");
        assert_eq!(operations("collections:write", caller("visitor"), Level::Anyone), "-----");
    }

    #[test]
    fn level_holders_hold_those_before_it() {
        for name in ["member", "editor", "owner", "app"] {
            let held: Vec<bool> = LEVELS.iter().map(|it| verdict(&caller(name), *it) != Verdict::Refused).collect();
            assert!(held.is_sorted_by(|a, b| a >= b), "{name} {held:?}");
        }
    }
}
