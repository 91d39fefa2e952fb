//! The kinds of entities: what each may hold and how many a site may have.

use crate::member::validator::ValueType;
use stoa_kernel::EntryKind;

const PRIVACY: ValueType = ValueType::OneOf(&["UNKNOWN", "PUBLIC", "PRIVATE"]);
const FIELD_TYPES: &[&str] = &["UNKNOWN", "TEXT", "NUMBER", "DATE", "URL", "SOCIAL"];
const SOCIAL: &[&str] = &[
    "UNKNOWN",
    "FACEBOOK",
    "INSTAGRAM",
    "LINKEDIN",
    "TWITTER",
    "YOUTUBE",
    "PINTEREST",
    "TIKTOK",
    "DEVIANTART",
    "SOUNDCLOUD",
    "TUMBLR",
    "VIMEO",
    "VKONTAKTE",
    "ODNOKLASSNIKI",
    "OTHER",
];

/// A kind of entity.
#[derive(Debug, PartialEq, Eq)]
pub struct Kind {
    pub(crate) name: &'static str,
    /// What it is called in requests and answers.
    pub wire: &'static str,
    pub(crate) members: &'static [(&'static str, ValueType)],
    pub(crate) required: &'static [&'static str],
    /// Members that stay as they were made.
    pub(crate) fixed: &'static [&'static str],
    pub(crate) most: i64,
    /// Who reads it; who may change it is said by the operation.
    pub(crate) read: Readers,
    /// The flag that hides one of them from all but operators of the site.
    pub(crate) hidden: Option<&'static str>,
    /// The member that is its id; else it gets one of its own.
    pub(crate) id_from: Option<&'static str>,
    /// What members hold that were never set.
    pub(crate) defaults: &'static [(&'static str, &'static str)],
    /// The entity that it belongs to.
    pub(crate) part_of: Option<Part>,
    /// The kinds of rows by which the log tells of one that is made, changed or deleted.
    pub(crate) rows: Option<EntityRows>,
}

/// See [`Kind::rows`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EntityRows {
    pub(crate) created: EntryKind,
    pub(crate) updated: EntryKind,
    pub(crate) deleted: EntryKind,
}

/// Who reads something around members.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Readers {
    Everyone,
    /// Members, and visitors where the site shows its members to all.
    Members,
    /// Operators of the site.
    Staff,
}

/// How an entity belongs to another, whose id it has: it is made for one that is there, and goes with it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) whole: &'static Kind,
    /// The member of the whole that it takes over, and under which name.
    pub(crate) takes: &'static str,
    pub(crate) takes_as: &'static str,
}

/// Kinds that belong to another.
pub(crate) static PARTS: [&Kind; 1] = [&APPLICATION];

/// A role that members can be given; its id is its key.
pub static ROLE: Kind = Kind {
    name: "role",
    wire: "role",
    members: &[("roleKey", ValueType::Text(100)), ("title", ValueType::Text(100)), ("blockable", ValueType::Flag)],
    required: &["roleKey"],
    fixed: &["roleKey"],
    most: 500,
    read: Readers::Everyone,
    hidden: None,
    id_from: Some("roleKey"),
    defaults: &[],
    part_of: None,
    rows: None,
};

pub static BADGE: Kind = Kind {
    name: "badge",
    wire: "badge",
    members: &[
        ("title", ValueType::Text(100)),
        ("description", ValueType::Text(1_000)),
        ("backgroundColor", ValueType::Text(100)),
        ("textColor", ValueType::Text(100)),
        ("icon", ValueType::Image),
        ("permissionsEnabled", ValueType::Flag),
        ("slug", ValueType::Text(255)),
    ],
    required: &["title"],
    fixed: &[],
    most: 500,
    read: Readers::Everyone,
    hidden: None,
    id_from: None,
    defaults: &[],
    part_of: None,
    rows: Some(EntityRows {
        created: EntryKind::BadgeCreated,
        updated: EntryKind::BadgeUpdated,
        deleted: EntryKind::BadgeDeleted,
    }),
};

/// The definition of a custom field.
pub static FIELD: Kind = Kind {
    name: "field",
    wire: "field",
    members: &[
        ("name", ValueType::Text(100)),
        ("key", ValueType::Text(100)),
        ("defaultPrivacy", PRIVACY),
        ("fieldType", ValueType::OneOf(FIELD_TYPES)),
        ("socialType", ValueType::OneOf(SOCIAL)),
        ("fieldOrigin", ValueType::OneOf(&["UNKNOWN", "CUSTOM", "CONTACT", "SYSTEM"])),
        ("appliesTo", ValueType::OneOf(&["ALL_MEMBERS", "SELECTED_MEMBERS"])),
        ("section", ValueType::OneOf(&["GENERAL", "SOCIAL", "DISPLAY_INFO", "ADDRESS"])),
        ("hidden", ValueType::Flag),
    ],
    required: &["name"],
    fixed: &["fieldType"],
    most: 200,
    read: Readers::Everyone,
    hidden: Some("hidden"),
    id_from: None,
    defaults: &[
        ("fieldOrigin", "CUSTOM"),
        ("defaultPrivacy", "PRIVATE"),
        ("fieldType", "TEXT"),
        ("section", "GENERAL"),
    ],
    part_of: None,
    rows: None,
};

/// To whom a custom field applies; its id is the field's. It names members, so operators of the site read it.
pub static APPLICATION: Kind = Kind {
    name: "application",
    wire: "application",
    members: &[
        ("customFieldId", ValueType::Text(100)),
        ("customFieldKey", ValueType::Text(100)),
        ("applications", ValueType::Object),
        ("exclusions", ValueType::Object),
    ],
    required: &["customFieldId"],
    fixed: &["customFieldId", "customFieldKey"],
    most: 200,
    read: Readers::Staff,
    hidden: None,
    id_from: Some("customFieldId"),
    defaults: &[],
    part_of: Some(Part { whole: &FIELD, takes: "key", takes_as: "customFieldKey" }),
    rows: None,
};

/// What a member tells of themselves at length; its id is the member's. Others read it by [`crate::Identity::about_get`].
pub static ABOUT: Kind = Kind {
    name: "about",
    wire: "memberAbout",
    members: &[("memberId", ValueType::Text(100)), ("content", ValueType::Object)],
    required: &[],
    fixed: &["memberId"],
    most: i64::MAX,
    read: Readers::Staff,
    hidden: None,
    id_from: None,
    defaults: &[],
    part_of: None,
    rows: Some(EntityRows {
        created: EntryKind::AboutCreated,
        updated: EntryKind::AboutUpdated,
        deleted: EntryKind::AboutDeleted,
    }),
};

/// The site's settings around members: one entity each.
pub static SETTINGS: Kind = Kind {
    name: "settings",
    wire: "memberPrivacySettings",
    members: &[
        ("defaultPrivacy", ValueType::OneOf(&["PUBLIC", "PRIVATE"])),
        ("publicMemberVisibility", ValueType::OneOf(&["VISIBLE_TO_MEMBERS_ONLY", "VISIBLE_TO_ALL"])),
        ("publicMemberCandidates", ValueType::OneOf(&["NO_ONE", "ANYONE"])),
    ],
    required: &[],
    fixed: &[],
    most: 10,
    read: Readers::Everyone,
    hidden: None,
    id_from: None,
    defaults: &[
        ("defaultPrivacy", "PRIVATE"),
        ("publicMemberVisibility", "VISIBLE_TO_MEMBERS_ONLY"),
        ("publicMemberCandidates", "ANYONE"),
    ],
    part_of: None,
    rows: None,
};
