//! Encrypted fields of a definition, and when a field may be declared so (decision 13): from its first day
//! on, and then for good.
//!
//! What items hold under a key stays as it is when a field is declared. So a field can't become encrypted
//! when there are values, clear ones would remain in items, indexes and events; nor can it cease to be.

use crate::{
    fault::invalid_as,
    schema::{
        definition::Definition,
        field::{self, Field},
        index::{Index, IndexDefinition, Status},
    },
};
use std::{borrow::Cow, sync::Arc};
use stoa_kernel::{Code, Fault, Result};
use stoa_query::item;
use stoa_sql::json::quoted;

/// The encrypted fields of a collection. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct EncryptedFields(pub Arc<[EncryptedField]>);

#[derive(Debug)]
pub(crate) struct EncryptedField {
    pub key: String,
    /// As it stands in canonical text.
    pub quoted: String,
}

impl EncryptedFields {
    pub(crate) fn of(fields: &[Field]) -> Self {
        let name = |it: &Field| EncryptedField { key: field::key(it).to_owned(), quoted: quoted(field::key(it)) };
        Self(fields.iter().filter(|it| field::is_encrypted(it)).map(name).collect())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The document without these fields. It must be canonical.
    pub(crate) fn hide<'d>(&self, document: impl Into<Cow<'d, str>>) -> Cow<'d, str> {
        self.0.iter().fold(document.into(), |document, it| match item::without(&document, &it.key) {
            Some(without) => Cow::Owned(without),
            None => document,
        })
    }

    /// Whether a member of this name, as it stands in canonical text, is one of them.
    pub(crate) fn has(&self, quoted: &str) -> bool {
        self.0.iter().any(|it| it.quoted == quoted)
    }
}

/// Whether a definition may take the place of another, or be the first, as far as encryption goes.
///
/// # Errors
/// WDE0119 naming the field that isn't encrypted any more, or suddenly is, or that an index holds.
pub(crate) fn check(before: &Definition, after: &Definition, indexes: &[Index]) -> Result<()> {
    for (n, it) in after.fields.iter().enumerate() {
        let (key, is_encrypted) = (field::key(it), field::is_encrypted(it));
        match before.fields.iter().find(|old| field::key(old) == key).map(field::is_encrypted) {
            Some(was_encrypted) if was_encrypted == is_encrypted => {}
            Some(_) => return Err(refused(n, "can't be changed; delete the field and make another")),
            None if is_encrypted => {
                let is_of_it = |it: &&Index| it.status != Status::Dropping && it.definition.is_of(key);
                if let Some(it) = indexes.iter().find(is_of_it) {
                    return Err(refused(n, &format!("can't be while the index {} holds its values", it.name)));
                }
            }
            None => {}
        }
    }
    Ok(())
}

/// Whether an index may hold these fields.
///
/// # Errors
/// WDE0119 for an encrypted one.
pub(crate) fn check_index(definition: &Definition, index: &IndexDefinition) -> Result<()> {
    let encrypted = definition.fields.iter().filter(|it| field::is_encrypted(it)).map(field::key);
    match encrypted.into_iter().find(|key| index.is_of(key)) {
        None => Ok(()),
        Some(key) => {
            let text = format!("{key} is an encrypted field, which no index can hold.");
            Err(Fault::because(Code::NotSupported, text).with("propertyName", key))
        }
    }
}

/// The encrypted fields, by their positions, that a definition adds to another.
pub(crate) fn added<'d>(before: &'d Definition, after: &'d Definition) -> impl Iterator<Item = (usize, &'d str)> {
    let encrypted = after.fields.iter().enumerate().filter(|(_, it)| field::is_encrypted(it));
    let keys = encrypted.map(|(n, it)| (n, field::key(it)));
    keys.filter(|(_, key)| before.fields.iter().all(|it| field::key(it) != *key))
}

/// The refusal of the field in position `n` of its definition.
pub(crate) fn refused(n: usize, why: &str) -> Fault {
    invalid_as(Code::NotSupported, &format!("collection.fields[{n}].encrypted"), why)
}
