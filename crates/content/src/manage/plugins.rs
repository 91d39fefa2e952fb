//! Plugins added to a collection and deleted (docs/protocol/content.md §6.2).

use crate::{
    Content,
    fault::{action_not_built, invalid},
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

/// What a call may say of drafts when it deletes a plugin. The last is still to be built.
const DRAFT_REMOVAL: &[&str] =
    &["FAIL_IF_DRAFT_ITEMS_EXIST", "DISCARD_EXISTING_DRAFT_ITEMS", "PUBLISH_EXISTING_DRAFT_ITEMS"];

/// What a call may say of drafts of the other plugin when it adds one: its member, and actions, of which all but the
/// first are still to be built.
const CONFLICTS: &[(&str, &str, &[&str])] = &[
    (
        "PUBLISH",
        "draftItemsPluginConflictAction",
        &[
            "FAIL_WHEN_DRAFT_ITEMS_INSTALLED",
            "DISCARD_DRAFT_ITEMS",
            "PUBLISH_DRAFT_ITEMS",
            "COPY_DRAFT_ITEMS_WITH_DRAFT_STATUS",
        ],
    ),
    (
        "DRAFT_ITEMS",
        "publishPluginConflictAction",
        &["FAIL_WHEN_PUBLISH_INSTALLED", "COPY_DRAFT_ITEMS_WITH_DRAFT_STATUS"],
    ),
];

impl Content {
    /// Adds a plugin. `conflict` says what becomes of drafts of the other plugin for drafts, if it is there: without it
    /// that is refused.
    ///
    /// # Errors
    /// WDE0075 for a plugin that isn't valid, WDE0119 for one that is still to be built; WDE0080 when the
    /// collection has one of this type; otherwise as for `collection_update`.
    pub async fn plugin_add(
        &self,
        site: &Arc<Site>,
        caller: &Caller,
        id: &str,
        plugin: &Value,
        conflict: Option<&Value>,
    ) -> Result<Value> {
        let plugin = plugin::parse(plugin, "plugin", self.limits())?;
        check_conflict(kind(&plugin), conflict)?;
        let make = move |before: &Definition, limits: &ContentLimits| {
            let (mut after, name) = (before.clone(), kind(&plugin));
            if before.has_plugin(name) {
                return Err(Fault::because(Code::BadRequest, format!("The plugin {name} is there already.")));
            }
            plugin::check_built(std::slice::from_ref(&plugin), &before.plugins, |_| "plugin".to_owned())?;
            after.plugins.push(plugin.clone());
            plugin::check_count(after.plugins.len(), "collection.plugins", limits)?;
            Ok(after)
        };
        change(self, site, caller, Revised { id: id.to_owned(), revision: None, discards_drafts: false, make }).await
    }

    /// Deletes a plugin by its type. `action` says what becomes of drafts of their own: without it there must be none.
    ///
    /// # Errors
    /// WDE0075 for a type or an action that doesn't exist, WDE0119 for an action that is still to be built; WDE0080 when the collection has no such plugin; otherwise as
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
        let discards_drafts = discards(action)?;
        let name = name.to_owned();
        let make = move |before: &Definition, _: &ContentLimits| {
            let mut after = before.clone();
            after.plugins.retain(|it| kind(it) != name);
            match after.plugins.len() == before.plugins.len() {
                true => Err(Fault::because(Code::BadRequest, format!("The collection has no plugin {name}."))),
                false => Ok(after),
            }
        };
        change(self, site, caller, Revised { id: id.to_owned(), revision: None, discards_drafts, make }).await
    }
}

/// # Errors
/// WDE0075 for an action that doesn't exist for this plugin, WDE0119 for one that is still to be built.
fn check_conflict(name: &str, action: Option<&Value>) -> Result<()> {
    let Some(action) = action.filter(|it| !it.is_null()) else { return Ok(()) };
    let Some((_, path, actions)) = CONFLICTS.iter().find(|it| it.0 == name) else { return Ok(()) };
    match action.as_str().and_then(|it| actions.iter().position(|known| *known == it)) {
        Some(0) => Ok(()),
        Some(n) => Err(action_not_built(path, actions[n])),
        None => Err(invalid(path, &format!("must be one of {}", actions.join(", ")))),
    }
}

/// Whether drafts of their own go with the plugin.
///
/// # Errors
/// WDE0075 for an action that doesn't exist, WDE0119 for one that is still to be built.
fn discards(action: Option<&Value>) -> Result<bool> {
    let path = "draftItemsRemovalAction";
    let Some(action) = action.filter(|it| !it.is_null()) else { return Ok(false) };
    match action.as_str().filter(|it| DRAFT_REMOVAL.contains(it)) {
        Some("PUBLISH_EXISTING_DRAFT_ITEMS") => Err(action_not_built(path, "PUBLISH_EXISTING_DRAFT_ITEMS")),
        Some(it) => Ok(it == "DISCARD_EXISTING_DRAFT_ITEMS"),
        None => Err(invalid(path, &format!("must be one of {}", DRAFT_REMOVAL.join(", ")))),
    }
}
