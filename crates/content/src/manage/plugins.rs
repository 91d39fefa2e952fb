//! Plugins added to a collection and deleted (docs/protocol/content.md §6.2).

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

/// What a call may say of drafts when it deletes a plugin. There are none beside the items.
const DRAFT_REMOVAL: &[&str] =
    &["FAIL_IF_DRAFT_ITEMS_EXIST", "DISCARD_EXISTING_DRAFT_ITEMS", "PUBLISH_EXISTING_DRAFT_ITEMS"];

impl Content {
    /// Adds a plugin.
    ///
    /// # Errors
    /// WDE0075 for a plugin that isn't valid, WDE0119 for one that is still to be built; WDE0080 when the
    /// collection has one of this type; otherwise as for `collection_update`.
    pub async fn plugin_add(&self, site: &Arc<Site>, caller: &Caller, id: &str, plugin: &Value) -> Result<Value> {
        let plugin = plugin::parse(plugin, "plugin", self.limits())?;
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
        check_action(action)?;
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

/// # Errors
/// WDE0075 for an action that doesn't exist.
fn check_action(action: Option<&Value>) -> Result<()> {
    let is_known = |it: &Value| it.as_str().is_some_and(|it| DRAFT_REMOVAL.contains(&it));
    match action.filter(|it| !it.is_null()) {
        Some(it) if !is_known(it) => {
            Err(invalid("draftItemsRemovalAction", &format!("must be one of {}", DRAFT_REMOVAL.join(", "))))
        }
        _ => Ok(()),
    }
}
