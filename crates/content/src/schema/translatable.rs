//! Which fields have values in other languages: what the plugin MULTILINGUAL names (docs/translations.md).

use crate::{
    fault::{Faults, invalid},
    schema::{
        definition::Definition,
        field::{self, Field},
        plugin::{MULTILINGUAL, kind},
    },
};
use serde_json::Value;
use std::sync::Arc;
use stoa_kernel::Result;
use stoa_sql::json::quoted;

/// The types of fields whose values say something in a language, or show it.
pub(crate) const TYPES: &[&str] = &[
    "TEXT",
    "RICH_TEXT",
    "RICH_CONTENT",
    "URL",
    "ARRAY_STRING",
    "IMAGE",
    "MEDIA_GALLERY",
    "VIDEO",
    "AUDIO",
    "DOCUMENT",
];

/// The translatable fields of a collection. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct TranslatableFields(pub Arc<[TranslatableField]>);

#[derive(Debug)]
pub(crate) struct TranslatableField {
    pub key: String,
    /// As it stands in canonical text.
    pub quoted: String,
}

impl TranslatableFields {
    pub(crate) fn of(definition: &Definition) -> Self {
        let keys = listed(definition).into_iter().filter(|it| is_translatable(definition, it));
        Self(keys.map(|it| TranslatableField { key: it.to_owned(), quoted: quoted(it) }).collect())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn by_key(&self, key: &str) -> Option<&TranslatableField> {
        self.0.iter().find(|it| it.key == key)
    }

    /// The one of this name, as it stands in canonical text.
    pub(crate) fn by_quoted(&self, quoted: &str) -> Option<&TranslatableField> {
        self.0.iter().find(|it| it.quoted == quoted)
    }
}

/// A definition whose list of translatable fields holds such fields only. A field that was in the list and is deleted, or
/// is of another type by now, leaves it.
///
/// # Errors
/// WDE0075 for a new name in the list that is no such field.
pub(crate) fn settle(before: Option<&Definition>, after: &mut Definition) -> Result<()> {
    let was_multilingual = before.is_some_and(|it| it.has_plugin(MULTILINGUAL));
    after.keeps_translations |= was_multilingual || after.has_plugin(MULTILINGUAL);
    let old = before.map(listed).unwrap_or_default();
    let (mut kept, mut faults) = (Vec::<String>::new(), Faults::default());
    for (n, key) in listed(after).into_iter().enumerate() {
        match is_translatable(after, key) {
            true if kept.iter().any(|it| it == key) => {}
            true => kept.push(key.to_owned()),
            false if old.contains(&key) => {}
            false => {
                let rule = format!("must be the key of a field of the type {}, not encrypted", TYPES.join(", "));
                faults.add(invalid(&format!("multilingualOptions.translatableFieldKeys[{n}]"), &rule));
            }
        }
    }
    faults.refuse()?;
    let plugin = after.plugins.iter_mut().find(|it| kind(it) == MULTILINGUAL);
    if let Some(list) = plugin.and_then(|it| it.get_mut(OPTIONS)?.get_mut(KEYS)) {
        *list = kept.into();
    }
    Ok(())
}

const OPTIONS: &str = "multilingualOptions";
const KEYS: &str = "translatableFieldKeys";

/// The keys that the plugin lists.
fn listed(definition: &Definition) -> Vec<&str> {
    let plugin = definition.plugins.iter().find(|it| kind(it) == MULTILINGUAL);
    let list = plugin.and_then(|it| it.get(OPTIONS)?.get(KEYS)?.as_array());
    list.into_iter().flatten().filter_map(Value::as_str).collect()
}

fn is_translatable(definition: &Definition, key: &str) -> bool {
    let is_it = |it: &&Field| field::key(it) == key;
    definition.fields.iter().find(is_it).is_some_and(|it| TYPES.contains(&field::kind(it)) && !field::is_encrypted(it))
}
