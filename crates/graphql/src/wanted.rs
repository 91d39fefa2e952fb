//! What a query must bring, so that all that is selected can be printed.

use crate::print::{OutputValue, Selection};
use std::collections::{BTreeMap, HashMap};

/// What a query must bring for a selection.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Wanted {
    /// Keys of the fields; nothing for the whole item.
    pub(crate) fields: Option<Vec<String>>,
    /// References with dots between their names, and how many items of each.
    pub(crate) references: BTreeMap<String, Option<usize>>,
}

/// Names in a projection; an item with more is asked for whole.
const NAMES: usize = 1_000;

/// What a query must bring for what is answered of its items.
pub(crate) fn wanted(selection: &Selection) -> Wanted {
    let is_whole = selection.outputs.iter().any(|it| matches!(it.value, OutputValue::Data));
    let is_named = selection.slots.len() <= NAMES && !selection.slots.keys().any(|it| it.contains('.'));
    let mut fields: Vec<_> = selection.slots.keys().cloned().collect();
    fields.sort_unstable();
    if fields.is_empty() {
        fields.push("_id".to_owned());
    }
    let mut wanted = Wanted { fields: (!is_whole && is_named).then_some(fields), ..Wanted::default() };
    add_references(selection, "", &mut wanted.references);
    wanted
}

pub(crate) fn add_references(selection: &Selection, above: &str, references: &mut BTreeMap<String, Option<usize>>) {
    let keys: HashMap<usize, &str> = selection.slots.iter().map(|(key, slot)| (*slot, key.as_str())).collect();
    for output in &selection.outputs {
        let (slot, most, below) = match &output.value {
            OutputValue::Single(slot, below) => (slot, None, below),
            OutputValue::Multi { slot, offset, limit, selection } => {
                (slot, Some(offset.saturating_add(*limit)), selection)
            }
            _ => continue,
        };
        let name = format!("{above}{}", keys.get(slot).copied().unwrap_or_default());
        let known = references.entry(name.clone()).or_default();
        *known = (*known).max(most);
        add_references(below, &format!("{name}."), references);
    }
}

impl Wanted {
    /// What both want.
    pub(crate) fn add(&mut self, other: Self) {
        self.fields = match (self.fields.take(), other.fields) {
            (Some(mut fields), Some(more)) => {
                fields.extend(more);
                fields.sort_unstable();
                fields.dedup();
                Some(fields)
            }
            _ => None,
        };
        for (name, limit) in other.references {
            let known = self.references.entry(name).or_default();
            *known = (*known).max(limit);
        }
    }
}
