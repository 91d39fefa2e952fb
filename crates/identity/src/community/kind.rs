//! The kinds of nouns: what each may hold and how many a site may have.

use crate::profile::Shape;

const PRIVACY: Shape = Shape::OneOf(&["UNKNOWN", "PUBLIC", "PRIVATE"]);
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

/// A kind of noun.
#[derive(Debug, PartialEq, Eq)]
pub struct Kind {
    pub(crate) name: &'static str,
    /// What it is called in requests and answers.
    pub wire: &'static str,
    pub(crate) members: &'static [(&'static str, Shape)],
    pub(crate) required: &'static [&'static str],
    /// Members that stay as they were made.
    pub(crate) fixed: &'static [&'static str],
    pub(crate) most: i64,
}

/// A role that members can be given; its id is its key.
pub static ROLE: Kind = Kind {
    name: "role",
    wire: "role",
    members: &[("roleKey", Shape::Text(100)), ("title", Shape::Text(100)), ("blockable", Shape::Flag)],
    required: &["roleKey"],
    fixed: &["roleKey"],
    most: 500,
};

pub static BADGE: Kind = Kind {
    name: "badge",
    wire: "badge",
    members: &[
        ("title", Shape::Text(100)),
        ("description", Shape::Text(1_000)),
        ("backgroundColor", Shape::Text(100)),
        ("textColor", Shape::Text(100)),
        ("icon", Shape::Text(2_048)),
        ("permissionsEnabled", Shape::Flag),
        ("slug", Shape::Text(255)),
    ],
    required: &["title"],
    fixed: &[],
    most: 500,
};

/// The definition of a custom field.
pub static FIELD: Kind = Kind {
    name: "field",
    wire: "field",
    members: &[
        ("name", Shape::Text(100)),
        ("key", Shape::Text(100)),
        ("defaultPrivacy", PRIVACY),
        ("fieldType", Shape::OneOf(FIELD_TYPES)),
        ("socialType", Shape::OneOf(SOCIAL)),
        ("fieldOrigin", Shape::OneOf(&["UNKNOWN", "CUSTOM", "CONTACT", "SYSTEM"])),
        ("appliesTo", Shape::OneOf(&["ALL_MEMBERS", "SELECTED_MEMBERS"])),
        ("section", Shape::OneOf(&["GENERAL", "SOCIAL", "DISPLAY_INFO", "ADDRESS"])),
        ("hidden", Shape::Flag),
    ],
    required: &["name"],
    fixed: &["fieldType"],
    most: 200,
};

/// To whom a custom field applies; its id is the field's.
pub static APPLICATION: Kind = Kind {
    name: "application",
    wire: "application",
    members: &[
        ("customFieldId", Shape::Text(100)),
        ("customFieldKey", Shape::Text(100)),
        ("applications", Shape::Object),
        ("exclusions", Shape::Object),
    ],
    required: &["customFieldId"],
    fixed: &["customFieldId", "customFieldKey"],
    most: 200,
};

/// What a member tells of themselves at length; its id is the member's.
pub static ABOUT: Kind = Kind {
    name: "about",
    wire: "memberAbout",
    members: &[("memberId", Shape::Text(100)), ("content", Shape::Object)],
    required: &[],
    fixed: &["memberId"],
    most: i64::MAX,
};

/// The site's settings around members: one noun each.
pub static SETTINGS: Kind = Kind {
    name: "settings",
    wire: "memberPrivacySettings",
    members: &[
        ("defaultPrivacy", Shape::OneOf(&["PUBLIC", "PRIVATE"])),
        ("publicMemberVisibility", Shape::OneOf(&["VISIBLE_TO_MEMBERS_ONLY", "VISIBLE_TO_ALL"])),
        ("publicMemberCandidates", Shape::OneOf(&["NO_ONE", "ANYONE"])),
    ],
    required: &[],
    fixed: &[],
    most: 10,
};
