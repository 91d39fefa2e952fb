//! Whether a call is about drafts (docs/protocol/content.md §3.7).

use serde_json::{Map, Value};

/// Whether a call is about drafts too, where items may be drafts and the caller may see them.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Drafts {
    #[default]
    Hidden,
    Included,
}

impl Drafts {
    /// What the members of a call say: `publishPluginOptions.includeDraftItems`, or `showDrafts`, which pipelines have. What
    /// is of another type is refused with the other options.
    pub(crate) fn of(members: &Map<String, Value>) -> Self {
        let is_set = |members: &Map<String, Value>, name: &str| members.get(name) == Some(&Value::Bool(true));
        let nested = members.get("publishPluginOptions").and_then(Value::as_object);
        match is_set(members, "showDrafts") || nested.is_some_and(|it| is_set(it, "includeDraftItems")) {
            true => Self::Included,
            false => Self::Hidden,
        }
    }
}
