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
use std::{
    collections::{BTreeSet, HashSet},
    sync::Arc,
};
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

/// The longest key of a translatable field, in bytes: it stands in the primary key of the table of translations.
const MOST_KEY_BYTES: usize = 500;

/// The translatable fields of a collection. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct TranslatableFields {
    /// In the order of their keys.
    fields: Arc<[TranslatableField]>,
    /// Their places, in the order of their names as these stand in canonical text.
    by_quoted: Arc<[usize]>,
}

#[derive(Debug)]
pub(crate) struct TranslatableField {
    pub key: String,
    /// As it stands in canonical text.
    pub quoted: String,
}

impl TranslatableFields {
    pub(crate) fn of(definition: &Definition) -> Self {
        let translatable = translatable(definition);
        let keys: BTreeSet<&str> = listed(definition).into_iter().filter(|it| translatable.contains(it)).collect();
        Self::of_keys(keys.into_iter())
    }

    /// The one of this key alone, if it is among them.
    pub(crate) fn only(&self, key: &str) -> Self {
        Self::of_keys(self.by_key(key).into_iter().map(|it| it.key.as_str()))
    }

    /// `keys`: in their order, each once.
    fn of_keys<'k>(keys: impl Iterator<Item = &'k str>) -> Self {
        let fields: Vec<_> = keys.map(|it| TranslatableField { key: it.to_owned(), quoted: quoted(it) }).collect();
        let mut by_quoted: Vec<usize> = (0..fields.len()).collect();
        by_quoted.sort_unstable_by_key(|n| &fields[*n].quoted);
        Self { by_quoted: by_quoted.into(), fields: fields.into() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &TranslatableField> {
        self.fields.iter()
    }

    pub(crate) fn by_key(&self, key: &str) -> Option<&TranslatableField> {
        self.fields.binary_search_by(|it| it.key.as_str().cmp(key)).ok().map(|n| &self.fields[n])
    }

    /// The one of this name, as it stands in canonical text.
    pub(crate) fn by_quoted(&self, quoted: &str) -> Option<&TranslatableField> {
        let found = self.by_quoted.binary_search_by(|n| self.fields[*n].quoted.as_str().cmp(quoted));
        found.ok().map(|n| &self.fields[self.by_quoted[n]])
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
    let old: HashSet<&str> = before.map(listed).unwrap_or_default().into_iter().collect();
    let (mut kept, mut known, mut faults) = (Vec::<String>::new(), HashSet::new(), Faults::default());
    let translatable = translatable(after);
    for (n, key) in listed(after).into_iter().enumerate() {
        match translatable.contains(key) {
            true if !known.insert(key) => {}
            true => kept.push(key.to_owned()),
            false if old.contains(key) => {}
            false => {
                let types = TYPES.join(", ");
                let rule = format!(
                    "must be the key of a field of the type {types}, not encrypted, and have at most {MOST_KEY_BYTES} bytes"
                );
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

/// The keys of all fields that can be in the list.
fn translatable(definition: &Definition) -> HashSet<&str> {
    let is_translatable = |it: &&Field| {
        TYPES.contains(&field::kind(it)) && !field::is_encrypted(it) && field::key(it).len() <= MOST_KEY_BYTES
    };
    definition.fields.iter().filter(is_translatable).map(field::key).collect()
}
