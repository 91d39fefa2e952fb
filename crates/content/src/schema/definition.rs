//! A collection as managers define it, read from its wire object (docs/protocol/content.md §6.3).

use crate::{
    fault::{Faults, invalid, missing},
    limits::ContentLimits,
    schema::{
        field::{self, Field},
        level::{LEVELS, Level, Levels},
        plugin::{self, Plugin},
        publishing::Publishing,
    },
    wire::validator::{Validator, check},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::HashMap;
use stoa_kernel::Result;
use stoa_query::schema::{Kind, Schema};

/// What is stored of a collection beside its id, revision and times.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Definition {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_field: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Items are held to the rules of their fields ([`crate::schema::rules`]).
    #[serde(default)]
    pub strict_mode: bool,
    /// Rows of the log hold what updated and deleted items were before ([`crate::event::write`]).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub log_old_values: bool,
    /// Who may read items may follow them as they change. It brings what [`Definition::keeps_old_values`] says.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub realtime: bool,
    /// No index of the words of its items is kept ([`crate::search`]). Without it who may read items may search them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub search_off: bool,
    /// Items may be followed as they are stored, though hooks decide on how they are shown to others.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub realtime_without_hooks: bool,
    /// Items may have values in other languages: the collection has, or had, the plugin MULTILINGUAL.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keeps_translations: bool,
    pub levels: Levels,
    pub fields: Vec<Field>,
    #[serde(default)]
    pub plugins: Vec<Plugin>,
    /// See [`Definition::cache_seconds`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cache_seconds: Option<u32>,
}

/// Nothing is kept by caches for more than a year.
const MOST_CACHE_SECONDS: u64 = 31_536_000;

const ID: Validator = Validator::TextTo(1, |it| it.collection_id);

/// The id is another matter: [`parse_id`].
static COLLECTION: Validator = Validator::Object(&[
    ("displayName", Validator::Text(0, 1000)),
    ("displayField", Validator::Text(0, 1000)),
    ("description", Validator::TextTo(0, |it| it.collection_description)),
    ("strictMode", Validator::Flag),
    ("logOldValues", Validator::Flag),
    ("realtime", Validator::Flag),
    ("search", Validator::Flag),
    ("realtimeWithoutHooks", Validator::Flag),
    ("cacheSeconds", Validator::Count),
    ("permissions", OLDER_LEVELS),
    ("dataPermissions", LEVELS),
]);

const OLDER_LEVEL: Validator = Validator::OneOf(&["ADMIN", "SITE_MEMBER_AUTHOR", "SITE_MEMBER", "ANYONE"]);
const OLDER_LEVELS: Validator = Validator::Object(&[
    ("read", OLDER_LEVEL),
    ("insert", OLDER_LEVEL),
    ("update", OLDER_LEVEL),
    ("remove", OLDER_LEVEL),
]);

/// The `id` of a collection object.
///
/// # Errors
/// WDE0075 when it is missing, not text, empty, too long, or has a character that no request
/// path can carry (docs/protocol/content.md §1.4).
pub(crate) fn parse_id<'o>(collection: &'o Value, limits: &ContentLimits) -> Result<&'o str> {
    let path = "collection.id";
    let id = match collection.get("id") {
        None | Some(Value::Null) => return Err(missing(path)),
        Some(it) => it,
    };
    check(id, &ID, path, limits)?;
    let id = id.as_str().unwrap_or_default();
    match id.chars().any(|it| it.is_control() || matches!(it, '?' | '#')) {
        true => Err(invalid(path, "must not contain ?, # or control characters")),
        false => Ok(id),
    }
}

impl Definition {
    /// Reads a collection object. Without `before` it is a new one, which needs fields and permissions;
    /// with it, what the object doesn't say of permissions stays as it was.
    ///
    /// # Errors
    /// WDE0075, WDE0119, WDE0134, WDE0147 with the path of each thing that is wrong; the first decides on the code.
    pub(crate) fn parse(collection: &Value, before: Option<&Self>, limits: &ContentLimits) -> Result<Self> {
        let mut faults = Faults::default();
        faults.take(check(collection, &COLLECTION, "collection", limits));
        let present = |name: &str| collection.get(name).filter(|it| !it.is_null());
        let text = |name: &str| present(name).and_then(Value::as_str).map(str::to_owned);
        let flag = |name: &str| present(name).and_then(Value::as_bool);
        let fields = present("fields").and_then(|it| faults.take(field::parse_all(it, "collection.fields", limits)));
        let is_without_fields = match present("fields") {
            None => true,
            Some(it) => it.as_array().is_some_and(Vec::is_empty),
        };
        if before.is_none() && is_without_fields {
            faults.add(invalid("collection.fields", "must have at least one field"));
        }
        let plugins =
            present("plugins").and_then(|it| faults.take(plugin::parse_all(it, "collection.plugins", limits)));
        let plugins = plugins.unwrap_or_default();
        let levels = faults.take(parse_levels(collection, before.map(|it| it.levels)));
        faults.refuse()?;
        let definition = Self {
            display_name: text("displayName"),
            display_field: text("displayField"),
            description: text("description"),
            strict_mode: flag("strictMode").unwrap_or(false),
            // Ours: clients that send a whole definition back don't know of them.
            log_old_values: flag("logOldValues").unwrap_or_else(|| before.is_some_and(|it| it.log_old_values)),
            realtime: flag("realtime").unwrap_or_else(|| before.is_some_and(|it| it.realtime)),
            search_off: flag("search").map_or_else(|| before.is_some_and(|it| it.search_off), |it| !it),
            realtime_without_hooks: flag("realtimeWithoutHooks")
                .unwrap_or_else(|| before.is_some_and(|it| it.realtime_without_hooks)),
            keeps_translations: before.is_some_and(|it| it.keeps_translations),
            levels: levels.unwrap_or_default(),
            fields: fields.unwrap_or_default(),
            plugins,
            cache_seconds: before.and_then(|it| it.cache_seconds),
        };
        definition.cached_for(collection.get("cacheSeconds").filter(|it| !it.is_null()), "collection")
    }

    /// This definition with the members that `patch` has; there is no other mask (docs/protocol/content.md §6.2).
    pub(crate) fn patched(&self, patch: &Value, limits: &ContentLimits) -> Result<Self> {
        let (mut patched, mut faults) = (self.clone(), Faults::default());
        faults.take(check(patch, &COLLECTION, "dataCollection", limits));
        let text = |name: &str, old: &Option<String>| match patch.get(name) {
            Some(it) => it.as_str().map(str::to_owned),
            None => old.clone(),
        };
        patched.display_name = text("displayName", &self.display_name);
        patched.display_field = text("displayField", &self.display_field);
        patched.description = text("description", &self.description);
        let flag = |name: &str, old: bool| patch.get(name).and_then(Value::as_bool).unwrap_or(old);
        patched.strict_mode = flag("strictMode", self.strict_mode);
        patched.log_old_values = flag("logOldValues", self.log_old_values);
        patched.realtime = flag("realtime", self.realtime);
        patched.search_off = !flag("search", !self.search_off);
        patched.realtime_without_hooks = flag("realtimeWithoutHooks", self.realtime_without_hooks);
        if let Some(levels) = faults.take(parse_levels(patch, Some(self.levels))) {
            patched.levels = levels;
        }
        if let Some(fields) = patch.get("fields").filter(|it| !it.is_null())
            && let Some(fields) = faults.take(field::parse_all(fields, "dataCollection.fields", limits))
        {
            patched.fields = fields;
        }
        if let Some(list) = patch.get("plugins").filter(|it| !it.is_null())
            && let Some(plugins) = faults.take(plugin::parse_all(list, "dataCollection.plugins", limits))
        {
            patched.plugins = plugins;
        }
        faults.refuse()?;
        patched.cached_for(patch.get("cacheSeconds"), "dataCollection")
    }

    /// This definition with what an object says of caches: nothing, if it doesn't.
    ///
    /// # Errors
    /// WDE0075 for more than a year, and where callers may be answered differently.
    fn cached_for(mut self, seconds: Option<&Value>, object: &str) -> Result<Self> {
        let Some(seconds) = seconds.map(|it| it.as_u64().unwrap_or(0)) else { return Ok(self) };
        let path = format!("{object}.cacheSeconds");
        if seconds > MOST_CACHE_SECONDS {
            return Err(invalid(&path, &format!("must be at most {MOST_CACHE_SECONDS}")));
        }
        if seconds > 0 && self.cache_seconds.map(u64::from) == Some(seconds) {
            // Sent back as it stands, perhaps beside a narrower level: then the setting ends by itself.
            return Ok(self);
        }
        if seconds > 0 && !self.is_same_for_all() {
            let rule = "needs a collection that ANYONE may read, without encrypted fields and without drafts";
            return Err(invalid(&path, rule));
        }
        self.cache_seconds = u32::try_from(seconds).ok().filter(|it| *it > 0);
        Ok(self)
    }

    /// For how many seconds shared caches may keep what is read by GET, and answer anyone with it. A setting ends
    /// where it can no longer be kept to.
    pub(crate) fn cache_seconds(&self) -> Option<u32> {
        self.cache_seconds.filter(|_| self.is_same_for_all())
    }

    /// This definition without the setting that it can no longer keep to.
    pub(crate) fn settled(mut self) -> Self {
        self.cache_seconds = self.cache_seconds();
        self
    }

    /// Whether rows of the log hold what items were before, and stay for readers that resume: the collection asks for
    /// it, or is followed as it changes, which takes both.
    pub(crate) fn keeps_old_values(&self) -> bool {
        self.log_old_values || self.realtime
    }

    /// Whether items may have values in other languages, shown at the moment or not.
    pub(crate) fn holds_translations(&self) -> bool {
        self.keeps_translations || self.has_plugin(plugin::MULTILINGUAL)
    }

    /// Whether both give everyone the same rights to items, drafts included.
    pub(crate) fn has_same_access(&self, other: &Self) -> bool {
        self.levels == other.levels
            && self.draft_levels() == other.draft_levels()
            && self.publishes_unmarked() == other.publishes_unmarked()
    }

    /// Whether all callers get the same answer.
    fn is_same_for_all(&self) -> bool {
        let has_drafts = self.publishes_unmarked().is_some();
        self.levels.item_read == Level::Anyone && !has_drafts && !self.fields.iter().any(field::is_encrypted)
    }

    /// What queries depend on, but for page links, which are read by themselves ([`crate::schema::page_link`]).
    pub(crate) fn schema(&self) -> Schema {
        let kind = |it: &Field| match field::kind(it) {
            _ if field::is_encrypted(it) => Kind::Encrypted,
            "ARRAY_STRING" | "ARRAY_DOCUMENT" | "ARRAY" | "MEDIA_GALLERY" => Kind::Array,
            "REFERENCE" => Kind::Reference,
            "MULTI_REFERENCE" => Kind::MultiReference,
            _ => Kind::Plain,
        };
        let fields: HashMap<_, _> = self.fields.iter().map(|it| (field::key(it).to_owned(), kind(it))).collect();
        Schema { fields, ..Schema::default() }
    }

    /// The id of the only item of this collection, if it can have but one.
    pub(crate) fn single_item(&self) -> Option<&str> {
        self.plugins.iter().find_map(plugin::single_item)
    }

    pub(crate) fn has_plugin(&self, name: &str) -> bool {
        self.plugin(name).is_some()
    }

    pub(crate) fn plugin(&self, name: &str) -> Option<&Plugin> {
        self.plugins.iter().find(|it| plugin::kind(it) == name)
    }

    /// Whether items without a status are published, where items may be drafts.
    pub(crate) fn publishes_unmarked(&self) -> Option<bool> {
        self.plugins.iter().find_map(plugin::publishes_unmarked)
    }

    /// What the plugin PUBLISH asks of items.
    pub(crate) fn publishing(&self) -> Option<Publishing> {
        self.plugins.iter().find_map(Publishing::of)
    }

    /// The collection with the drafts of this one, where they are kept apart.
    pub(crate) fn drafts_id(&self) -> Option<&str> {
        self.plugins.iter().find_map(plugin::drafts_id)
    }

    /// The collection whose drafts this one has.
    pub(crate) fn published_id(&self) -> Option<&str> {
        self.plugins.iter().find_map(plugin::published_id)
    }

    /// What the collection with the drafts of this one is: the same fields and page links, but for multi-references, for
    /// those who manage drafts. Rules are kept when a draft is published.
    pub(crate) fn of_drafts(&self, id: &str) -> Self {
        let level = self.draft_levels().map_or(Level::Privileged, |it| it.0);
        let is_kept = |it: &&Plugin| plugin::is_drafts(it) || plugin::is_about_links(it);
        let mut plugins: Vec<Plugin> = self.plugins.iter().filter(is_kept).cloned().collect();
        for it in plugins.iter_mut().filter(|it| plugin::is_drafts(it)) {
            if let Some(options) = it.get_mut("draftItemsOptions").and_then(Value::as_object_mut) {
                options.remove("draftsCollectionId");
            }
            plugin::set_draft_option(it, "publishedCollectionId", id.into());
        }
        Self {
            strict_mode: false,
            log_old_values: false,
            realtime: false,
            realtime_without_hooks: false,
            levels: Levels { item_read: level, item_insert: level, item_update: level, item_remove: level },
            fields: self.fields.iter().filter(|it| !field::is_multi(it)).cloned().collect(),
            plugins,
            cache_seconds: None,
            ..self.clone()
        }
    }

    /// The levels for drafts and for publishing, when the collection has drafts.
    pub(crate) fn draft_levels(&self) -> Option<(Level, Level)> {
        self.plugins.iter().find(|it| plugin::is_drafts(it)).map(plugin::draft_levels)
    }
}

/// Both models are one truth. A client that changes one sends the other back as it read it, so the one
/// that differs from what is stored counts; if both do, the newer.
fn parse_levels(collection: &Value, before: Option<Levels>) -> Result<Levels> {
    let older = collection.get("permissions").filter(|it| it.is_object());
    let newer = collection.get("dataPermissions").filter(|it| it.is_object());
    let base = match (before, older, newer) {
        (None, None, None) => return Err(missing("collection.permissions")),
        (before, ..) => before.unwrap_or_default(),
    };
    let read = |object: Option<&Value>, name: &str, parse: fn(&str) -> Option<Level>| {
        object?.get(name)?.as_str().and_then(parse)
    };
    let level = |old: Level, older_name: &str, newer_name: &str| {
        let from_older = read(older, older_name, Level::parse_older);
        let from_newer = read(newer, newer_name, Level::parse);
        // ADMIN is also how PRIVILEGED reads in the older model: coming back, it changes nothing.
        let from_older = from_older.filter(|it| before.is_none() || it.older_name() != old.older_name());
        match (from_newer, from_older) {
            (Some(newer), Some(older)) if before.is_some() && newer == old => older,
            (Some(newer), _) => newer,
            (None, Some(older)) => older,
            (None, None) => old,
        }
    };
    Ok(Levels {
        item_read: level(base.item_read, "read", "itemRead"),
        item_insert: level(base.item_insert, "insert", "itemInsert"),
        item_update: level(base.item_update, "update", "itemUpdate"),
        item_remove: level(base.item_remove, "remove", "itemRemove"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use Level::{Anyone, CmsEditor, Privileged, SiteMember, SiteMemberAuthor};
    use serde_json::json;

    fn levels(read: Level, others: Level) -> Levels {
        Levels { item_read: read, item_insert: others, item_update: others, item_remove: others }
    }

    #[test]
    fn permission_models_are_both_read() {
        let older =
            json!({ "permissions": { "read": "ANYONE", "insert": "ADMIN", "update": "ADMIN", "remove": "ADMIN" } });
        assert_eq!(parse_levels(&older, None).expect("levels"), levels(Anyone, CmsEditor));
        let newer = json!({ "dataPermissions": { "itemRead": "PRIVILEGED" } });
        assert_eq!(parse_levels(&newer, None).expect("levels"), levels(Privileged, CmsEditor));
        assert_eq!(
            parse_levels(&json!({ "permissions": {} }), None).expect("levels"),
            levels(SiteMemberAuthor, CmsEditor)
        );
        assert!(parse_levels(&json!({}), None).is_err());
    }

    #[test]
    fn permission_model_that_was_changed_counts() {
        let before = levels(Privileged, CmsEditor);
        let back = |older: &str, newer: &str| {
            let sent = json!({ "permissions": { "read": older }, "dataPermissions": { "itemRead": newer } });
            parse_levels(&sent, Some(before)).expect("levels").item_read
        };
        assert_eq!(back("ADMIN", "PRIVILEGED"), Privileged);
        assert_eq!(back("SITE_MEMBER", "PRIVILEGED"), SiteMember);
        assert_eq!(back("ADMIN", "ANYONE"), Anyone);
        assert_eq!(back("SITE_MEMBER", "ANYONE"), Anyone);
    }
}
