//! Plugins of a collection: what their makers may send, and calls that add and delete one
//! (protocol/content.md 6.2, 6.3).
//!
//! A collection has at most one plugin of a type. PUBLISH and DRAFT_ITEMS exclude each other: whoever adds
//! one says what becomes of the other.

use crate::{
    Content, Limits,
    manage::permissions::DRAFT_LEVELS,
    schema::definition::Definition,
    wire::shape::{Shape, check, unfit},
};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use stoa_kernel::{Caller, Code, Fault, Result};
use stoa_store::Site;

/// A plugin as its maker sent it, without what only the server knows.
pub type Plugin = Map<String, Value>;

/// Each type of plugin, the member that holds its options, and what these are.
const TYPES: &[(&str, &str, Shape)] = &[
    ("PUBLISH", "publishOptions", Shape::Object(&[("defaultStatus", Shape::OneOf(&["PUBLISHED", "DRAFT"]))])),
    ("SINGLE_ITEM", "singleItemOptions", Shape::Object(&[("singleItemId", Shape::Text(0, 128))])),
    ("URLIZED", "urlizedOptions", Shape::Object(&[("format", Shape::OneOf(&["UNKNOWN_FORMAT", "ORIGINAL", "PLAIN"]))])),
    ("GRIDAPPLESS", "gridapplessOptions", Shape::Object(&[])),
    (
        "MULTILINGUAL",
        "multilingualOptions",
        Shape::Object(&[("translatableFieldKeys", Shape::List(1000, &Shape::Text(0, 1000)))]),
    ),
    ("SHARED", "sharedOptions", Shape::Object(&[])),
    (
        "EDITABLE_PAGE_LINK",
        "editablePageLinkOptions",
        Shape::Object(&[("isPersisted", Shape::Flag), ("isMutable", Shape::Flag)]),
    ),
    ("CMS", "cmsOptions", Shape::Object(&[("siteSort", Shape::Object(&[("sort", Shape::List(100, &SITE_SORT))]))])),
    ("CATALOG", "catalogOptions", Shape::Object(CATALOG)),
    ("CATEGORIES", "categoriesOptions", Shape::Object(&[])),
    ("DRAFT_ITEMS", "draftItemsOptions", Shape::Object(&[("draftPermissions", DRAFT_LEVELS)])),
];

static SITE_SORT: Shape =
    Shape::Object(&[("fieldKey", Shape::Text(0, 1000)), ("direction", Shape::OneOf(&["ASC", "DESC"]))]);

const KEY: Shape = Shape::Text(0, 1000);
/// The second form of each name is deprecated, and kept as it is sent.
const CATALOG: &[(&str, Shape)] = &[
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

/// Actions that a call may name, the first being what happens without one.
const PUBLISH_CONFLICT: &[&str] = &[
    "FAIL_WHEN_DRAFT_ITEMS_INSTALLED",
    "DISCARD_DRAFT_ITEMS",
    "PUBLISH_DRAFT_ITEMS",
    "COPY_DRAFT_ITEMS_WITH_DRAFT_STATUS",
];
const DRAFT_CONFLICT: &[&str] = &["FAIL_WHEN_PUBLISH_INSTALLED", "COPY_DRAFT_ITEMS_WITH_DRAFT_STATUS"];
const DRAFT_REMOVAL: &[&str] =
    &["FAIL_IF_DRAFT_ITEMS_EXIST", "DISCARD_EXISTING_DRAFT_ITEMS", "PUBLISH_EXISTING_DRAFT_ITEMS"];

fn check_count(count: usize, path: &str, limits: &Limits) -> Result<()> {
    match count <= limits.plugins {
        true => Ok(()),
        false => Err(unfit(path, &format!("must have at most {} elements", limits.plugins))),
    }
}

/// Reads the list of a collection's plugins.
///
/// # Errors
/// WDE0075 with the path of what is wrong.
pub(crate) fn parse_all(list: &Value, path: &str, limits: &Limits) -> Result<Vec<Plugin>> {
    let Some(list) = list.as_array() else {
        return Err(unfit(path, "must be a list"));
    };
    check_count(list.len(), path, limits)?;
    let mut plugins: Vec<Plugin> = Vec::with_capacity(list.len());
    for (n, it) in list.iter().enumerate() {
        let path = format!("{path}[{n}]");
        let plugin = parse(it, &path, limits)?;
        if plugins.iter().any(|it| kind(it) == kind(&plugin)) {
            return Err(unfit(&format!("{path}.type"), "occurs twice"));
        }
        plugins.push(plugin);
    }
    let has = |name: &str| plugins.iter().any(|it| kind(it) == name);
    match has("PUBLISH") && has("DRAFT_ITEMS") {
        true => Err(unfit(path, "must not have both PUBLISH and DRAFT_ITEMS")),
        false => Ok(plugins),
    }
}

/// Reads one plugin.
fn parse(value: &Value, path: &str, limits: &Limits) -> Result<Plugin> {
    let Some(object) = value.as_object() else {
        return Err(unfit(path, "must be an object"));
    };
    let Some(name) = object.get("type").and_then(Value::as_str) else {
        return Err(unfit(&format!("{path}.type"), "is missing"));
    };
    let Some((_, own, shape)) = TYPES.iter().find(|it| it.0 == name) else {
        let names: Vec<_> = TYPES.iter().map(|it| it.0).collect();
        return Err(unfit(&format!("{path}.type"), &format!("must be one of {}", names.join(", "))));
    };
    for (_, member, _) in TYPES {
        if member != own && object.get(*member).is_some_and(|it| !it.is_null()) {
            return Err(unfit(&format!("{path}.{member}"), &format!("doesn't belong to a plugin of the type {name}")));
        }
    }
    let mut plugin = Plugin::from_iter([("type".to_owned(), name.into())]);
    if let Some(options) = object.get(*own).filter(|it| !it.is_null()) {
        check(options, shape, &format!("{path}.{own}"), limits)?;
        let mut options = options.as_object().cloned().unwrap_or_default();
        options.retain(|name, it| !it.is_null() && !READ_ONLY.contains(&name.as_str()));
        plugin.insert((*own).to_owned(), options.into());
    }
    if let Some(id) = single_item(&plugin) {
        let is_plain = !id.is_empty() && id.chars().all(|it| !it.is_control() && !matches!(it, '?' | '#'));
        if !is_plain {
            return Err(unfit(&format!("{path}.singleItemOptions.singleItemId"), "can't be the id of an item"));
        }
    }
    Ok(plugin)
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
fn single_item(plugin: &Plugin) -> Option<&str> {
    if kind(plugin) != "SINGLE_ITEM" {
        return None;
    }
    let id = plugin.get("singleItemOptions").and_then(|it| it.get("singleItemId")).and_then(Value::as_str);
    Some(id.unwrap_or("SINGLE"))
}

impl Definition {
    /// The id of the only item of this collection, if it can have but one.
    pub(crate) fn single_item(&self) -> Option<&str> {
        self.plugins.iter().find_map(single_item)
    }

    fn has_plugin(&self, name: &str) -> bool {
        self.plugins.iter().any(|it| kind(it) == name)
    }
}

impl Content {
    /// Adds a plugin. `action` says what becomes of one that excludes it.
    ///
    /// # Errors
    /// WDE0075 for a plugin that isn't valid; WDE0080 when the collection has one of this type, or one that
    /// excludes it and the action is to fail; otherwise as for `collection_update`.
    pub async fn plugin_add(
        &self,
        site: &Arc<Site>,
        caller: &Caller,
        id: &str,
        plugin: &Value,
        action: Option<&Value>,
    ) -> Result<Value> {
        let plugin = parse(plugin, "plugin", self.limits())?;
        let (rival, actions, name): (_, &[&str], _) = match kind(&plugin) {
            "PUBLISH" => ("DRAFT_ITEMS", PUBLISH_CONFLICT, "draftItemsPluginConflictAction"),
            "DRAFT_ITEMS" => ("PUBLISH", DRAFT_CONFLICT, "publishPluginConflictAction"),
            _ => ("", &[], ""),
        };
        let fails = is_default(action, actions, name)?;
        let content = self.clone();
        self.change(site, caller, id.to_owned(), None, move |before| {
            let (mut after, name) = (before.clone(), kind(&plugin));
            if before.has_plugin(name) {
                return Err(Fault::because(Code::BadRequest, format!("The plugin {name} is there already.")));
            }
            if before.has_plugin(rival) && fails {
                return Err(Fault::because(Code::BadRequest, format!("The plugin {rival} excludes {name}.")));
            }
            // No drafts are kept beside the items, so leaving the other plugin out is all there is to do.
            after.plugins.retain(|it| kind(it) != rival);
            after.plugins.push(plugin.clone());
            check_count(after.plugins.len(), "collection.plugins", content.limits())?;
            Ok(after)
        })
        .await
    }

    /// Deletes a plugin by its type. `action` says what becomes of drafts, of which there are none.
    ///
    /// # Errors
    /// WDE0075 for a type that doesn't exist; WDE0080 when the collection has no such plugin; otherwise as
    /// for `collection_update`.
    pub async fn plugin_delete(
        &self,
        site: &Arc<Site>,
        caller: &Caller,
        id: &str,
        name: &str,
        action: Option<&Value>,
    ) -> Result<Value> {
        if !TYPES.iter().any(|it| it.0 == name) {
            return Err(unfit("pluginType", "is not the type of a plugin"));
        }
        is_default(action, DRAFT_REMOVAL, "draftItemsRemovalAction")?;
        let name = name.to_owned();
        self.change(site, caller, id.to_owned(), None, move |before| {
            let mut after = before.clone();
            after.plugins.retain(|it| kind(it) != name);
            match after.plugins.len() == before.plugins.len() {
                true => Err(Fault::because(Code::BadRequest, format!("The collection has no plugin {name}."))),
                false => Ok(after),
            }
        })
        .await
    }
}

/// Whether an action is what happens without one.
fn is_default(action: Option<&Value>, actions: &[&str], name: &str) -> Result<bool> {
    match action.filter(|it| !it.is_null()) {
        None => Ok(true),
        Some(it) => match it.as_str() {
            Some(it) if actions.is_empty() || actions.contains(&it) => Ok(actions.first() == Some(&it)),
            _ => Err(unfit(name, &format!("must be one of {}", actions.join(", ")))),
        },
    }
}
