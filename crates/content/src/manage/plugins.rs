//! Plugins added to a collection and deleted (docs/protocol/content.md §6.2).
//!
//! PUBLISH and DRAFT_ITEMS exclude each other: a call that adds one says what becomes of the other.

use crate::{
    Content,
    fault::invalid,
    limits::ContentLimits,
    manage::collections::{Revised, change},
    schema::{
        definition::Definition,
        plugin::{self, TYPES, kind},
    },
};
use serde_json::Value;
use std::sync::Arc;
use stoa_kernel::{Caller, Code, Fault, Result};
use stoa_store::Site;

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
        let plugin = plugin::parse(plugin, "plugin", self.limits())?;
        let (rival, actions, name): (_, &[&str], _) = match kind(&plugin) {
            "PUBLISH" => ("DRAFT_ITEMS", PUBLISH_CONFLICT, "draftItemsPluginConflictAction"),
            "DRAFT_ITEMS" => ("PUBLISH", DRAFT_CONFLICT, "publishPluginConflictAction"),
            _ => ("", &[], ""),
        };
        let fails = is_default(action, actions, name)?;
        let make = move |before: &Definition, limits: &ContentLimits| {
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
            plugin::check_count(after.plugins.len(), "collection.plugins", limits)?;
            Ok(after)
        };
        change(self, site, caller, Revised { id: id.to_owned(), revision: None, make }).await
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
            return Err(invalid("pluginType", "is not the type of a plugin"));
        }
        is_default(action, DRAFT_REMOVAL, "draftItemsRemovalAction")?;
        let name = name.to_owned();
        let make = move |before: &Definition, _: &ContentLimits| {
            let mut after = before.clone();
            after.plugins.retain(|it| kind(it) != name);
            match after.plugins.len() == before.plugins.len() {
                true => Err(Fault::because(Code::BadRequest, format!("The collection has no plugin {name}."))),
                false => Ok(after),
            }
        };
        change(self, site, caller, Revised { id: id.to_owned(), revision: None, make }).await
    }
}

/// Whether an action is what happens without one.
fn is_default(action: Option<&Value>, actions: &[&str], name: &str) -> Result<bool> {
    match action.filter(|it| !it.is_null()) {
        None => Ok(true),
        Some(it) => match it.as_str() {
            Some(it) if actions.is_empty() || actions.contains(&it) => Ok(actions.first() == Some(&it)),
            _ => Err(invalid(name, &format!("must be one of {}", actions.join(", ")))),
        },
    }
}
