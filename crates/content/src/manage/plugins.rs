//! Plugins added to a collection and deleted (docs/protocol/content.md §6.2).

use crate::{
    Content,
    collection::{access, load},
    fault::{action_not_built, invalid},
    item::drafts::publish_all,
    limits::ContentLimits,
    manage::collections::{Revised, change},
    schema::{
        definition::Definition,
        plugin::{self, TYPES, is_drafts, kind},
    },
};
use serde_json::Value;
use std::sync::Arc;
use stoa_kernel::{Caller, Code, Fault, Result};
use stoa_store::Site;

/// What becomes of drafts that are in the way of a change of plugins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DraftAction {
    /// There must be none.
    Fail,
    Discard,
    /// They are published before, in pieces. Those that are made meanwhile are in the way.
    Publish,
    /// Still to be built.
    Copy,
}

/// What a call may say of drafts when it deletes a plugin.
const REMOVAL: (&str, &[(&str, DraftAction)]) = (
    "draftItemsRemovalAction",
    &[
        ("FAIL_IF_DRAFT_ITEMS_EXIST", DraftAction::Fail),
        ("DISCARD_EXISTING_DRAFT_ITEMS", DraftAction::Discard),
        ("PUBLISH_EXISTING_DRAFT_ITEMS", DraftAction::Publish),
    ],
);

/// What a call may say of drafts of the other plugin when it adds PUBLISH or DRAFT_ITEMS.
const PUBLISH_CONFLICT: (&str, &[(&str, DraftAction)]) = (
    "draftItemsPluginConflictAction",
    &[
        ("FAIL_WHEN_DRAFT_ITEMS_INSTALLED", DraftAction::Fail),
        ("DISCARD_DRAFT_ITEMS", DraftAction::Discard),
        ("PUBLISH_DRAFT_ITEMS", DraftAction::Publish),
        ("COPY_DRAFT_ITEMS_WITH_DRAFT_STATUS", DraftAction::Copy),
    ],
);
const DRAFT_ITEMS_CONFLICT: (&str, &[(&str, DraftAction)]) = (
    "publishPluginConflictAction",
    &[("FAIL_WHEN_PUBLISH_INSTALLED", DraftAction::Fail), ("COPY_DRAFT_ITEMS_WITH_DRAFT_STATUS", DraftAction::Copy)],
);

impl Content {
    /// Adds a plugin. `conflict` says what becomes of the other plugin for drafts and of its drafts, if it is there: without
    /// it that is refused, and else DRAFT_ITEMS gives way to PUBLISH.
    ///
    /// # Errors
    /// WDE0075 for a plugin that isn't valid, WDE0119 for one that doesn't go with what the collection has; WDE0080 when
    /// the collection has one of this type; what is wrong with a draft that can't be published; otherwise as for
    /// `collection_update`.
    pub async fn plugin_add(
        &self,
        site: &Arc<Site>,
        caller: &Caller,
        id: &str,
        plugin: &Value,
        conflict: Option<&Value>,
    ) -> Result<Value> {
        let plugin = plugin::parse(plugin, "plugin", self.limits())?;
        let action = match kind(&plugin) {
            "PUBLISH" => draft_action(PUBLISH_CONFLICT, conflict)?,
            "DRAFT_ITEMS" => draft_action(DRAFT_ITEMS_CONFLICT, conflict)?,
            _ => DraftAction::Fail,
        };
        let make = move |before: &Definition, limits: &ContentLimits| {
            let (mut after, name) = (before.clone(), kind(&plugin));
            if before.has_plugin(name) {
                return Err(Fault::because(Code::BadRequest, format!("The plugin {name} is there already.")));
            }
            after.plugins.retain(|it| action == DraftAction::Fail || !is_drafts(it));
            after.plugins.push(plugin.clone());
            plugin::check_count(after.plugins.len(), "collection.plugins", limits)?;
            Ok(after)
        };
        change_plugins(self, site, caller, (id, action), make).await
    }

    /// Deletes a plugin by its type. `action` says what becomes of drafts of their own: without it there must be none.
    ///
    /// # Errors
    /// WDE0075 for a type or an action that doesn't exist; WDE0080 when the collection has no such plugin; what is wrong
    /// with a draft that can't be published; otherwise as for `collection_update`.
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
        let action = draft_action(REMOVAL, action)?;
        let name = name.to_owned();
        let make = move |before: &Definition, _: &ContentLimits| {
            let mut after = before.clone();
            after.plugins.retain(|it| kind(it) != name);
            match after.plugins.len() == before.plugins.len() {
                true => Err(Fault::because(Code::BadRequest, format!("The collection has no plugin {name}."))),
                false => Ok(after),
            }
        };
        change_plugins(self, site, caller, (id, action), make).await
    }
}

/// Changes the plugins of a collection, after the drafts that are in the way were published if the action says so.
async fn change_plugins<F>(
    content: &Content,
    site: &Arc<Site>,
    caller: &Caller,
    (id, action): (&str, DraftAction),
    make: F,
) -> Result<Value>
where
    F: Fn(&Definition, &ContentLimits) -> Result<Definition> + Send + Sync + 'static,
{
    if action == DraftAction::Publish {
        let manager = access::manager_of(caller, id)?;
        let collection = load(content, site, id).await?;
        let after = make(&collection.definition, content.limits())?;
        manager.change(id, &collection.definition, &after)?;
        if let (Some(drafts), None) = (collection.definition.drafts_id(), after.drafts_id()) {
            manager.deletion(drafts, &collection.definition.of_drafts(id).levels)?;
            publish_all(content, site, caller, id).await?;
        }
    }
    let discards_drafts = action == DraftAction::Discard;
    change(content, site, caller, Revised { id: id.to_owned(), revision: None, discards_drafts, make }).await
}

/// # Errors
/// WDE0075 for an action that doesn't exist there, WDE0119 for one that is still to be built.
fn draft_action((path, actions): (&str, &[(&str, DraftAction)]), action: Option<&Value>) -> Result<DraftAction> {
    let Some(action) = action.filter(|it| !it.is_null()) else { return Ok(DraftAction::Fail) };
    match actions.iter().find(|it| action == it.0) {
        Some((name, DraftAction::Copy)) => Err(action_not_built(path, name)),
        Some((_, it)) => Ok(*it),
        None => {
            let names: Vec<_> = actions.iter().map(|it| it.0).collect();
            Err(invalid(path, &format!("must be one of {}", names.join(", "))))
        }
    }
}
