//! Plugins of a collection: what managers may send (docs/protocol/content.md §6.3).
//!
//! A collection has at most one plugin of a type. PUBLISH and DRAFT_ITEMS exclude each other.

use crate::{
    fault::{Faults, invalid, missing},
    limits::ContentLimits,
    schema::level::{DRAFT_LEVELS, Level},
    wire::validator::{Validator, check},
};
use serde_json::{Map, Value, json};
use stoa_kernel::Result;

/// The type of the plugin that names translatable fields.
pub(crate) const MULTILINGUAL: &str = "MULTILINGUAL";

/// The type of the plugin that says how page links are written.
pub(crate) const URLIZED: &str = "URLIZED";

/// The type of the plugin by which page links are stored.
pub(crate) const EDITABLE_PAGE_LINK: &str = "EDITABLE_PAGE_LINK";

/// The type of the plugin that names what an item is to a shop.
pub(crate) const CATALOG: &str = "CATALOG";

/// A plugin as it was sent, without what only the server knows.
pub type Plugin = Map<String, Value>;

/// Each type of plugin, the member that holds its options, and what these are.
pub(crate) const TYPES: &[(&str, &str, Validator)] = &[
    ("PUBLISH", "publishOptions", Validator::Object(&[("defaultStatus", Validator::OneOf(&["PUBLISHED", "DRAFT"]))])),
    ("SINGLE_ITEM", "singleItemOptions", Validator::Object(&[("singleItemId", Validator::Text(0, 128))])),
    (
        URLIZED,
        "urlizedOptions",
        Validator::Object(&[("format", Validator::OneOf(&["UNKNOWN_FORMAT", "ORIGINAL", "PLAIN"]))]),
    ),
    ("GRIDAPPLESS", "gridapplessOptions", Validator::Object(&[])),
    (
        MULTILINGUAL,
        "multilingualOptions",
        Validator::Object(&[("translatableFieldKeys", Validator::List(1000, &Validator::Text(0, 1000)))]),
    ),
    ("SHARED", "sharedOptions", Validator::Object(&[])),
    (
        EDITABLE_PAGE_LINK,
        "editablePageLinkOptions",
        Validator::Object(&[("isPersisted", Validator::Flag), ("isMutable", Validator::Flag)]),
    ),
    (
        "CMS",
        "cmsOptions",
        Validator::Object(&[("siteSort", Validator::Object(&[("sort", Validator::List(100, &SITE_SORT))]))]),
    ),
    (CATALOG, "catalogOptions", Validator::Object(CATALOG_OPTIONS)),
    ("CATEGORIES", "categoriesOptions", Validator::Object(&[])),
    ("DRAFT_ITEMS", "draftItemsOptions", Validator::Object(&[("draftPermissions", DRAFT_LEVELS)])),
];

static SITE_SORT: Validator =
    Validator::Object(&[("fieldKey", Validator::Text(0, 1000)), ("direction", Validator::OneOf(&["ASC", "DESC"]))]);

const KEY: Validator = Validator::Text(0, 1000);
/// The second form of each name is deprecated, and kept as it is sent.
const CATALOG_OPTIONS: &[(&str, Validator)] = &[
    ("nameFieldKey", KEY),
    ("priceFieldKey", KEY),
    ("urlFieldKey", KEY),
    ("descriptionFieldKey", KEY),
    ("imageFieldKey", KEY),
    ("quantityFieldKey", KEY),
    ("digitalFileFieldKey", KEY),
    ("weightFieldKey", KEY),
    ("skuFieldKey", KEY),
    ("shippableFieldKey", KEY),
    ("name", KEY),
    ("price", KEY),
    ("url", KEY),
    ("description", KEY),
    ("image", KEY),
    ("quantity", KEY),
    ("digitalFile", KEY),
    ("weight", KEY),
    ("sku", KEY),
    ("shippable", KEY),
];

/// Members of options that only the server sets; they come back on a round trip and are ignored.
const READ_ONLY: &[&str] = &["lifecycleStatus", "draftsCollectionId", "publishedCollectionId", "allowedPermissions"];

/// Refuses more plugins than a collection may have.
pub(crate) fn check_count(count: usize, path: &str, limits: &ContentLimits) -> Result<()> {
    match count <= limits.plugins {
        true => Ok(()),
        false => Err(invalid(path, &format!("must have at most {} elements", limits.plugins))),
    }
}

/// Reads the list of a collection's plugins.
///
/// # Errors
/// WDE0075 with the path of what is wrong.
pub(crate) fn parse_all(list: &Value, path: &str, limits: &ContentLimits) -> Result<Vec<Plugin>> {
    let Some(list) = list.as_array() else {
        return Err(invalid(path, "must be a list"));
    };
    check_count(list.len(), path, limits)?;
    let (mut plugins, mut faults) = (Vec::<Plugin>::with_capacity(list.len()), Faults::default());
    for (n, it) in list.iter().enumerate() {
        let path = format!("{path}[{n}]");
        let Some(plugin) = faults.take(parse(it, &path, limits)) else { continue };
        if plugins.iter().any(|it| kind(it) == kind(&plugin)) {
            faults.add(invalid(&format!("{path}.type"), "occurs twice"));
        }
        plugins.push(plugin);
    }
    let has = |name: &str| plugins.iter().any(|it| kind(it) == name);
    if has("PUBLISH") && has("DRAFT_ITEMS") {
        faults.add(invalid(path, "must not have both PUBLISH and DRAFT_ITEMS"));
    }
    faults.refuse().map(|()| plugins)
}

/// Reads one plugin.
pub(crate) fn parse(value: &Value, path: &str, limits: &ContentLimits) -> Result<Plugin> {
    let Some(object) = value.as_object() else {
        return Err(invalid(path, "must be an object"));
    };
    let Some(name) = object.get("type").and_then(Value::as_str) else {
        return Err(missing(&format!("{path}.type")));
    };
    let Some((_, own, validator)) = TYPES.iter().find(|it| it.0 == name) else {
        let names: Vec<_> = TYPES.iter().map(|it| it.0).collect();
        return Err(invalid(&format!("{path}.type"), &format!("must be one of {}", names.join(", "))));
    };
    for (_, member, _) in TYPES {
        if member != own && object.get(*member).is_some_and(|it| !it.is_null()) {
            return Err(invalid(
                &format!("{path}.{member}"),
                &format!("doesn't belong to a plugin of the type {name}"),
            ));
        }
    }
    let mut plugin = Plugin::from_iter([("type".to_owned(), name.into())]);
    if let Some(options) = object.get(*own).filter(|it| !it.is_null()) {
        check(options, validator, &format!("{path}.{own}"), limits)?;
        let mut options = options.as_object().cloned().unwrap_or_default();
        options.retain(|name, it| !it.is_null() && !READ_ONLY.contains(&name.as_str()));
        plugin.insert((*own).to_owned(), options.into());
    }
    if let Some(id) = single_item(&plugin) {
        let is_plain = !id.is_empty() && id.chars().all(|it| !it.is_control() && !matches!(it, '?' | '#'));
        if !is_plain {
            return Err(invalid(&format!("{path}.singleItemOptions.singleItemId"), "can't be the id of an item"));
        }
    }
    Ok(plugin)
}

/// What a plugin says in one of its options.
pub(crate) fn option<'p>(plugin: &'p Plugin, name: &str) -> Option<&'p Value> {
    plugin.get(member(plugin)?)?.get(name)
}

pub(crate) fn options_mut(plugin: &mut Plugin) -> Option<&mut Map<String, Value>> {
    let member = member(plugin)?;
    plugin.get_mut(member)?.as_object_mut()
}

/// The member that holds the options of a plugin.
fn member(plugin: &Plugin) -> Option<&'static str> {
    TYPES.iter().find(|it| it.0 == kind(plugin)).map(|it| it.1)
}

/// Whether a plugin decides on what the page links of items are.
pub(crate) fn is_about_links(plugin: &Plugin) -> bool {
    matches!(kind(plugin), URLIZED | EDITABLE_PAGE_LINK)
}

pub(crate) fn kind(plugin: &Plugin) -> &str {
    plugin.get("type").and_then(Value::as_str).unwrap_or_default()
}

/// A plugin as it is shown: with what the server knows of it.
pub(crate) fn view(plugin: &Plugin) -> Value {
    let mut view = Value::Object(plugin.clone());
    if kind(plugin) == "PUBLISH" {
        if !view["publishOptions"].is_object() {
            view["publishOptions"] = json!({ "defaultStatus": "PUBLISHED" });
        }
        view["publishOptions"]["lifecycleStatus"] = "ACTIVE".into();
    }
    view
}

/// The id of the only item, if the plugin is that of a collection with one.
pub(crate) fn single_item(plugin: &Plugin) -> Option<&str> {
    if kind(plugin) != "SINGLE_ITEM" {
        return None;
    }
    let id = plugin.get("singleItemOptions").and_then(|it| it.get("singleItemId")).and_then(Value::as_str);
    Some(id.unwrap_or("SINGLE"))
}

pub(crate) fn is_drafts(plugin: &Plugin) -> bool {
    kind(plugin) == "DRAFT_ITEMS"
}

/// The collection that has the drafts of the one with this plugin.
pub(crate) fn drafts_id(plugin: &Plugin) -> Option<&str> {
    draft_option(plugin, "draftsCollectionId")
}

/// The collection whose drafts the one with this plugin has.
pub(crate) fn published_id(plugin: &Plugin) -> Option<&str> {
    draft_option(plugin, "publishedCollectionId")
}

fn draft_option<'p>(plugin: &'p Plugin, name: &str) -> Option<&'p str> {
    plugin.get("draftItemsOptions")?.get(name)?.as_str()
}

/// Sets an option that only the server sets.
pub(crate) fn set_draft_option(plugin: &mut Plugin, name: &str, value: Value) {
    let options = plugin.entry("draftItemsOptions").or_insert_with(|| json!({}));
    if let Some(options) = options.as_object_mut() {
        options.insert(name.to_owned(), value);
    }
}

/// Whether items without a status are published where this plugin says which are; nothing if it doesn't.
pub(crate) fn publishes_unmarked(plugin: &Plugin) -> Option<bool> {
    let default = plugin.get("publishOptions").and_then(|it| it.get("defaultStatus")).and_then(Value::as_str);
    match kind(plugin) {
        "PUBLISH" => Some(default != Some("DRAFT")),
        // Of an older version, which made no paired collection.
        "DRAFT_ITEMS" if drafts_id(plugin).or(published_id(plugin)).is_none() => Some(true),
        _ => None,
    }
}

/// The levels for drafts and for publishing that a plugin of drafts has.
pub(crate) fn draft_levels(plugin: &Plugin) -> (Level, Level) {
    let levels = plugin.get("draftItemsOptions").and_then(|it| it.get("draftPermissions"));
    let level = |name: &str| {
        let given = levels.and_then(|it| it.get(name)).and_then(Value::as_str).and_then(Level::parse);
        given.unwrap_or(Level::CmsEditor)
    };
    (level("manageDrafts"), level("managePublishStatus"))
}
