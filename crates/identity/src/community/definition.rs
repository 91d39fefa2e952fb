//! Nouns that those who run the site define: roles, badges, custom fields and to whom these apply.

use crate::{
    Identity,
    community::{Kind, Noun, Place, decides, kind, noun},
};
use serde_json::{Map, Value, json};
use stoa_kernel::{Caller, Code, Fault, Result};
use stoa_store::{Site, boxed};

impl Identity {
    /// Makes a noun of a kind that those who run the site define.
    ///
    /// # Errors
    /// [`Code::Forbidden`]; [`Code::Validation`]; [`Code::AlreadyExists`]; [`Code::TooMany`]; [`Code::NotFound`] when
    /// the noun that it is a part of is not there.
    pub async fn definition_create(
        &self,
        site: &Site,
        caller: &Caller,
        kind: &'static Kind,
        object: &Value,
    ) -> Result<Noun> {
        let core = &self.core;
        decides(caller)?;
        let mut doc = kind.parse(object, true)?;
        doc.retain(|_, it| !it.is_null());
        let id = match kind.id_from {
            Some(name) => doc.get(name).and_then(Value::as_str).unwrap_or_default().to_owned(),
            None => core.world().uuid(),
        };
        for (name, usual) in kind.defaults {
            doc.entry(*name).or_insert_with(|| json!(usual));
        }
        if kind.name == kind::FIELD.name {
            let key = key_of(&doc);
            doc.entry("key").or_insert(key);
        }
        let (site_id, now) = (site.id.clone(), core.now());
        site.write(move |tx| {
            let (site, id, mut doc) = (site_id.clone(), id.clone(), doc.clone());
            boxed!({
                if let Some(part) = &kind.part_of {
                    let whole =
                        noun::get(tx, &site, part.whole, &id).await?.ok_or_else(|| Fault::new(Code::NotFound))?;
                    doc.insert(part.takes_as.to_owned(), json!(whole.text(part.takes)));
                }
                noun::insert(tx, &site, kind, id, doc, now).await
            })
        })
        .await
    }

    /// Changes one.
    ///
    /// # Errors
    /// [`Code::Forbidden`]; [`Code::Validation`]; [`Code::NotFound`]; [`Code::RevisionOld`].
    pub async fn definition_update(
        &self,
        site: &Site,
        caller: &Caller,
        kind: &'static Kind,
        id: &str,
        object: &Value,
    ) -> Result<Noun> {
        let core = &self.core;
        decides(caller)?;
        let change = kind.parse(object, false)?;
        noun::change(core, site, kind, id, noun::revision_in(object)?, change).await
    }

    /// Deletes one, its parts and what was tied to it.
    ///
    /// # Errors
    /// As for update.
    pub async fn definition_delete(
        &self,
        site: &Site,
        caller: &Caller,
        kind: &'static Kind,
        id: &str,
        revision: Option<i64>,
    ) -> Result<()> {
        decides(caller)?;
        noun::delete(site, kind, id, revision).await
    }

    /// Puts them in an order.
    ///
    /// # Errors
    /// [`Code::Forbidden`]; [`Code::NotFound`].
    pub async fn definition_order(
        &self,
        site: &Site,
        caller: &Caller,
        kind: &'static Kind,
        ids: Vec<String>,
    ) -> Result<Vec<Noun>> {
        decides(caller)?;
        noun::order(site, kind, ids).await
    }

    /// Moves one among its kind.
    ///
    /// # Errors
    /// [`Code::Forbidden`]; [`Code::NotFound`].
    pub async fn definition_move(
        &self,
        site: &Site,
        caller: &Caller,
        kind: &'static Kind,
        id: &str,
        to: Place,
    ) -> Result<()> {
        decides(caller)?;
        noun::place(site, kind, id, to).await
    }
}

/// The key of a custom field that came without one, after its name.
fn key_of(doc: &Map<String, Value>) -> Value {
    let name = doc.get("name").and_then(Value::as_str).unwrap_or_default().to_lowercase();
    let key: String = name.chars().map(|it| if it.is_alphanumeric() { it } else { '-' }).collect();
    json!(format!("custom.{key}"))
}
