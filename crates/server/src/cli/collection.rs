//! `stoa collection …`

use super::choice::ContentChoice;
use clap::{Args, Subcommand, ValueEnum};
use serde::{Deserialize, Serialize};
use std::{path::PathBuf, str::FromStr};
use stoa_content::schema::field::TYPES;
use stoa_kernel::nearest::hint;

#[derive(Debug, Args, Serialize, Deserialize)]
pub struct Collection {
    #[command(flatten)]
    pub site: ContentChoice,
    #[command(subcommand)]
    pub verb: CollectionVerb,
}

#[derive(Debug, Subcommand, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CollectionVerb {
    /// Make a collection of fields, or as a file defines it
    #[command(after_help = "Examples:\n  \
        stoa collection create books --field title:text --field author:reference:authors --read anyone\n  \
        stoa collection create books --from schema.json")]
    Create(NewCollection),
    /// List the collections of a site
    #[command(after_help = "Examples:\n  stoa collection list\n  stoa collection list --site Mine --json")]
    List,
    /// Show a collection's fields and permissions; with --json as a file that create takes
    #[command(
        after_help = "Examples:\n  stoa collection show books\n  stoa collection show books --json > schema.json"
    )]
    Show {
        /// Id of the collection
        name: String,
    },
    /// Add or remove fields, change permissions, the name, how long caches keep items, what the log holds, or realtime
    #[command(after_help = "Examples:\n  stoa collection update books --field isbn:text --no-field author\n  \
                            stoa collection update books --read anyone --insert site-member --realtime")]
    Update(CollectionChange),
    /// Delete a collection with its items; it can be restored until its id is used again
    #[command(after_help = "Examples:\n  stoa collection delete books\n  stoa collection delete books --yes books")]
    Delete {
        /// Id of the collection
        name: String,
        /// The id once more, so that nothing is asked
        #[arg(long, value_name = "NAME")]
        yes: Option<String>,
    },
    /// Bring back a collection that was deleted, with its items
    #[command(after_help = "Examples:\n  stoa collection restore books\n  stoa collection restore books --site Mine")]
    Restore {
        /// Id of the collection
        name: String,
    },
}

#[derive(Debug, Args, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NewCollection {
    /// Id of the collection
    pub name: String,
    /// Name for people [default: the id]
    #[arg(long, value_name = "TEXT", conflicts_with = "from")]
    pub display_name: Option<String>,
    /// A field, `key:type` or `key:reference:collection`; may be given several times
    #[arg(long = "field", value_name = "KEY:TYPE", required_unless_present = "from")]
    pub fields: Vec<NewField>,
    /// A definition as `collection show --json` prints it, `-` for standard input
    #[serde(skip)]
    #[arg(long, value_name = "FILE", conflicts_with_all = ["fields", "read", "insert", "update", "remove"])]
    pub from: Option<PathBuf>,
    /// Let the log hold what updated and deleted items were before
    #[arg(long, conflicts_with = "from")]
    pub log_old_values: bool,
    /// Let who may read items follow them as they change; brings --log-old-values
    #[arg(long, conflicts_with = "from")]
    pub realtime: bool,
    #[command(flatten)]
    pub levels: Levels,
}

#[derive(Debug, Args, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CollectionChange {
    /// Id of the collection
    pub name: String,
    /// Another name for people
    #[arg(long, value_name = "TEXT")]
    pub display_name: Option<String>,
    /// A further field, `key:type`; may be given several times
    #[arg(long = "field", value_name = "KEY:TYPE")]
    pub fields: Vec<NewField>,
    /// Key of a field to remove with its values; may be given several times
    #[arg(long = "no-field", value_name = "KEY")]
    pub no_fields: Vec<String>,
    /// How long shared caches may keep what anyone may read, 0 for not at all
    #[arg(long, value_name = "N")]
    pub cache_seconds: Option<u32>,
    /// Let the log hold what updated and deleted items were before, or no longer with `=false`
    #[arg(long, value_name = "ON", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub log_old_values: Option<bool>,
    /// Let who may read items follow them as they change, or no longer with `=false`
    #[arg(long, value_name = "ON", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub realtime: Option<bool>,
    /// Keep an index of the words of items, so that they can be searched, or no longer with `=false`
    #[arg(long, value_name = "ON", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub search: Option<bool>,
    /// Let them be followed as they are stored, though a hook decides on how they are shown, or no longer with `=false`
    #[arg(long, value_name = "ON", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub realtime_without_hooks: Option<bool>,
    #[command(flatten)]
    pub levels: Levels,
}

/// Who may do what with items. Where nothing is said, a new collection is for editors, owners and apps.
#[derive(Debug, Clone, Copy, Default, Args, Serialize, Deserialize)]
pub struct Levels {
    /// Who may read items
    #[arg(long, value_name = "LEVEL", ignore_case = true)]
    pub read: Option<LevelName>,
    /// Who may insert items
    #[arg(long, value_name = "LEVEL", ignore_case = true)]
    pub insert: Option<LevelName>,
    /// Who may update items
    #[arg(long, value_name = "LEVEL", ignore_case = true)]
    pub update: Option<LevelName>,
    /// Who may remove items
    #[arg(long, value_name = "LEVEL", ignore_case = true)]
    pub remove: Option<LevelName>,
}

/// Who may do something; each includes those after it.
#[derive(Debug, Clone, Copy, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum LevelName {
    /// Everyone
    #[value(alias = "ANYONE")]
    Anyone,
    /// Members who are signed in
    #[value(alias = "SITE_MEMBER")]
    SiteMember,
    /// Members, for items that they made
    #[value(alias = "SITE_MEMBER_AUTHOR")]
    SiteMemberAuthor,
    /// Editors, owners and apps
    #[value(aliases = ["CMS_EDITOR", "ADMIN"])]
    CmsEditor,
    /// Owners and apps
    #[value(alias = "PRIVILEGED")]
    Privileged,
}

impl Levels {
    /// Whether nothing is said.
    pub fn is_empty(self) -> bool {
        [self.read, self.insert, self.update, self.remove].iter().all(Option::is_none)
    }
}

/// `key:type`, for references `key:reference:collection`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewField {
    pub key: String,
    /// As on the wire: `TEXT`, `MULTI_REFERENCE`.
    pub kind: String,
    /// The collection that a reference leads to.
    pub target: Option<String>,
}

impl FromStr for NewField {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (key, kind) = text.split_once(':').ok_or("a field is KEY:TYPE, for example title:text")?;
        let (kind, target) = kind.split_once(':').map_or((kind, None), |(kind, target)| (kind, Some(target)));
        let kind = kind.to_ascii_uppercase().replace('-', "_");
        if !TYPES.contains(&kind.as_str()) {
            let hint = hint(&kind, TYPES.iter().copied()).to_lowercase();
            return Err(format!("{} is no type of field{hint}", kind.to_lowercase()));
        }
        let is_reference = matches!(kind.as_str(), "REFERENCE" | "MULTI_REFERENCE");
        match (is_reference, target) {
            (true, None) => Err(format!("a reference names its collection: {key}:{}:COLLECTION", kind.to_lowercase())),
            (false, Some(_)) => Err(format!("only references name a collection, {key} is {}", kind.to_lowercase())),
            _ => Ok(Self { key: key.to_owned(), kind, target: target.map(str::to_owned) }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_or_refused_with_the_nearest_type() {
        let read = |text: &str| text.parse::<NewField>();
        let field = |key: &str, kind: &str, target: Option<&str>| {
            Ok(NewField { key: key.to_owned(), kind: kind.to_owned(), target: target.map(str::to_owned) })
        };
        assert_eq!(read("title:text"), field("title", "TEXT", None));
        assert_eq!(read("tags:multi-reference:tags"), field("tags", "MULTI_REFERENCE", Some("tags")));
        for (text, says) in [
            ("title", "KEY:TYPE"),
            ("n:nubmer", "nubmer is no type of field; did you mean number?"),
            ("author:reference", "author:reference:COLLECTION"),
            ("title:text:books", "only references"),
        ] {
            assert!(read(text).is_err_and(|it| it.contains(says)), "{text}");
        }
    }
}
