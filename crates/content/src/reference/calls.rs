//! Links made and removed by their own calls (protocol/content.md 3.6, 21.6, 21.9; decisions/0010).
//!
//! A call does all it was asked for or nothing: clients ignore failures of single references inside a
//! 200, so the first one is the answer. A link belongs to the field that somebody declared: whoever
//! changes it needs the right to update the item that has this field, also when the call goes through
//! the field that came with it on the other collection, which asks for the right to update there as well.

use crate::{
    Collection, Content, Operation, Request,
    item::write::missing,
    reference::{
        Reference, Side,
        link::{Links, Pair, visible},
        not_a_reference,
    },
    schema::level,
};
use serde_json::{Map, Value, json};
use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
};
use stoa_kernel::{Caller, Code, Fault, Result};
use stoa_query::Scope;
use stoa_store::{Site, Tx, boxed};

/// A multi-reference field as a caller may change it.
#[derive(Clone)]
pub(crate) struct Changeable {
    pub links: Links,
    pub near: Arc<Collection>,
    pub far: Arc<Collection>,
    pub key: String,
    /// Items whose field the caller may change.
    pub near_scope: Scope,
    /// Items that the caller may link them with.
    pub far_scope: Scope,
}

/// A multi-reference field whose links the caller may change, as far as the items at the other end go.
pub(crate) struct Linkable {
    pub links: Links,
    pub far: Arc<Collection>,
    pub scope: Scope,
}

/// One link as it travels.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ItemReference {
    pub field: String,
    pub referring: String,
    pub referenced: String,
}

impl ItemReference {
    pub fn view(&self) -> Value {
        json!({
            "referringItemFieldName": self.field, "referringItemId": self.referring, "referencedItemId": self.referenced,
        })
    }
}

impl Content {
    /// Links items, all or none.
    ///
    /// # Errors
    /// WDE0021 for references that aren't any, WDE0080 for an empty list; WDE0025, WDE0027; WDE0020 when
    /// the field isn't a multi-reference, WDE0073 when an item isn't there or isn't the caller's to use,
    /// WDE0029 when two are linked already.
    pub async fn references_insert(
        &self,
        site: &Site,
        caller: &Caller,
        request: &Request<'_>,
    ) -> Result<Vec<ItemReference>> {
        let sent = self.sent_references(request)?;
        let mut seen = HashSet::with_capacity(sent.len());
        if let Some(twice) = sent.iter().find(|it| !seen.insert(*it)) {
            return Err(linked_already(request.collection(caller)?, twice));
        }
        let fields = Arc::new(self.by_field(site, caller, request, &sent).await?);
        site.write(move |tx| {
            let fields = fields.clone();
            boxed!({
                for (field, pairs) in fields.iter() {
                    field.insert(tx, pairs).await?;
                }
                Ok(())
            })
        })
        .await?;
        Ok(sent)
    }

    /// Removes links; one that isn't there is no fault.
    ///
    /// # Errors
    /// As for insert, but WDE0029, and an item at the other end may be missing.
    pub async fn references_remove(
        &self,
        site: &Site,
        caller: &Caller,
        request: &Request<'_>,
    ) -> Result<Vec<ItemReference>> {
        let sent = self.sent_references(request)?;
        let fields = Arc::new(self.by_field(site, caller, request, &sent).await?);
        site.write(move |tx| {
            let fields = fields.clone();
            boxed!({
                for (field, pairs) in fields.iter() {
                    field.links.check(tx).await?;
                    field.check_near(tx, pairs.iter().map(|it| &it.0)).await?;
                    field.links.remove(tx, pairs, &field.far_scope).await?;
                }
                Ok(())
            })
        })
        .await?;
        Ok(sent)
    }

    /// Puts links in the place of all that an item has in a field, in the order given.
    ///
    /// # Errors
    /// As for insert, but WDE0029.
    pub async fn references_replace(
        &self,
        site: &Site,
        caller: &Caller,
        request: &Request<'_>,
    ) -> Result<Vec<ItemReference>> {
        let members = &request.members;
        let (field, referring) = (text(members, "referringItemFieldName")?, id(members.get("referringItemId"))?);
        let list = members.get("newReferencedItemIds").and_then(Value::as_array);
        let list = list.ok_or_else(|| invalid("newReferencedItemIds must be a list of ids."))?;
        self.check_count(list.len())?;
        let mut seen = HashSet::with_capacity(list.len());
        let ids = list.iter().map(|it| id(Some(it))).collect::<Result<Vec<_>>>()?;
        let ids: Vec<_> = ids.into_iter().filter(|it| seen.insert(it.clone())).collect();
        let reference =
            |it: String| ItemReference { field: field.clone(), referring: referring.clone(), referenced: it };
        let sent: Vec<_> = ids.into_iter().map(reference).collect();
        let collection = self.collection(site, request.collection(caller)?).await?;
        let changeable = self.changeable(site, caller, &collection, &field).await?;
        let pairs: Arc<Vec<Pair>> = Arc::new(sent.iter().map(pair).collect());
        let item = vec![referring];
        site.write(move |tx| {
            let (changeable, item, pairs) = (changeable.clone(), item.clone(), pairs.clone());
            boxed!({
                changeable.links.check(tx).await?;
                changeable.check_near(tx, item.iter()).await?;
                changeable.check_far(tx, &pairs).await?;
                changeable.links.clear(tx, &item, &changeable.far_scope).await?;
                changeable.links.insert(tx, &pairs).await
            })
        })
        .await?;
        Ok(sent)
    }

    /// A multi-reference field, if the caller may change it at all.
    ///
    /// # Errors
    /// WDE0020, WDE0025, WDE0027.
    pub(crate) async fn changeable(
        &self,
        site: &Site,
        caller: &Caller,
        near: &Arc<Collection>,
        key: &str,
    ) -> Result<Changeable> {
        let near_scope = level::scope(caller, Operation::Update, near)?;
        let Linkable { links, far, scope } = self.linkable(site, caller, near, key).await?;
        Ok(Changeable { links, near: near.clone(), far, key: key.to_owned(), near_scope, far_scope: scope })
    }

    /// The same for a caller whose right to the item that has the field is another matter.
    ///
    /// # Errors
    /// WDE0020, WDE0025, WDE0027.
    pub(crate) async fn linkable(
        &self,
        site: &Site,
        caller: &Caller,
        near: &Collection,
        key: &str,
    ) -> Result<Linkable> {
        let target = self.reference(site, near, key).await?;
        let target = target.ok_or_else(|| not_a_reference(near, key, "multi-reference"))?;
        let Reference::Multi(link) = target.reference else {
            return Err(not_a_reference(near, key, "multi-reference"));
        };
        let far = target.existing()?.clone();
        let needs = match link.side {
            Side::Referring => Operation::Read,
            Side::Referenced => Operation::Update,
        };
        let scope = level::scope(caller, needs, &far)?;
        Ok(Linkable { links: Links::new(site, link, &far), far, scope })
    }

    /// The references of a call, together by field.
    async fn by_field(
        &self,
        site: &Site,
        caller: &Caller,
        request: &Request<'_>,
        sent: &[ItemReference],
    ) -> Result<Vec<(Changeable, Vec<Pair>)>> {
        let collection = self.collection(site, request.collection(caller)?).await?;
        let mut fields: BTreeMap<&str, Vec<Pair>> = BTreeMap::new();
        for it in sent {
            fields.entry(&it.field).or_default().push(pair(it));
        }
        let mut changeable = Vec::with_capacity(fields.len());
        for (key, pairs) in fields {
            changeable.push((self.changeable(site, caller, &collection, key).await?, pairs));
        }
        Ok(changeable)
    }

    fn sent_references(&self, request: &Request<'_>) -> Result<Vec<ItemReference>> {
        let list = request.members.get("dataItemReferences").and_then(Value::as_array);
        let list = list.ok_or_else(|| invalid("dataItemReferences must be a list."))?;
        if list.is_empty() {
            return Err(Fault::because(Code::BadRequest, "dataItemReferences must not be empty."));
        }
        self.check_count(list.len())?;
        let read = |it: &Value| {
            let members = it.as_object().ok_or_else(|| invalid("dataItemReferences must be a list of objects."))?;
            Ok(ItemReference {
                field: text(members, "referringItemFieldName")?,
                referring: id(members.get("referringItemId"))?,
                referenced: id(members.get("referencedItemId"))?,
            })
        };
        list.iter().map(read).collect()
    }

    fn check_count(&self, count: usize) -> Result<()> {
        let most = self.limits().bulk_items;
        match count > most {
            true => Err(Fault::because(Code::TooManyItems, format!("At most {most} references per request."))),
            false => Ok(()),
        }
    }
}

impl Changeable {
    /// Links items that are all there and all the caller's to use, and not linked yet.
    pub(crate) async fn insert(&self, tx: &mut Tx<'_>, pairs: &[Pair]) -> Result<()> {
        self.links.check(tx).await?;
        self.check_near(tx, pairs.iter().map(|it| &it.0)).await?;
        self.check_far(tx, pairs).await?;
        if let Some((referring, referenced)) = self.links.first_of(tx, pairs).await? {
            let reference = ItemReference { field: self.key.clone(), referring, referenced };
            return Err(linked_already(self.near.id.as_str(), &reference));
        }
        self.links.insert(tx, pairs).await
    }

    /// # Errors
    /// WDE0073 for the first item that has no field the caller may change.
    pub(crate) async fn check_near<'i>(
        &self,
        tx: &mut Tx<'_>,
        items: impl Iterator<Item = &'i String> + Clone,
    ) -> Result<()> {
        check(tx, &self.near, &self.near_scope, items).await
    }

    /// # Errors
    /// WDE0073 for the first item that the caller can't link with.
    pub(crate) async fn check_far(&self, tx: &mut Tx<'_>, pairs: &[Pair]) -> Result<()> {
        check(tx, &self.far, &self.far_scope, pairs.iter().map(|it| &it.1)).await
    }
}

async fn check<'i>(
    tx: &mut Tx<'_>,
    collection: &Collection,
    scope: &Scope,
    items: impl Iterator<Item = &'i String> + Clone,
) -> Result<()> {
    let ids: HashSet<&String> = items.clone().collect();
    let there = visible(tx, collection, scope, ids.into_iter().cloned().collect()).await?;
    match items.into_iter().find(|it| !there.contains(*it)) {
        Some(it) => Err(missing(collection, it)),
        None => Ok(()),
    }
}

fn pair(reference: &ItemReference) -> Pair {
    (reference.referring.clone(), reference.referenced.clone())
}

/// The name of a reference field in a request.
///
/// # Errors
/// WDE0094 when it is empty, WDE0003 when it isn't text.
pub(crate) fn text(members: &Map<String, Value>, name: &str) -> Result<String> {
    match members.get(name) {
        Some(Value::String(it)) if it.is_empty() => {
            Err(Fault::because(Code::NameEmpty, format!("{name} must not be empty.")))
        }
        Some(Value::String(it)) => Ok(it.clone()),
        _ => Err(Fault::because(Code::FieldNotText, format!("{name} must be a string."))),
    }
}

/// Longer than any id there is.
pub(crate) const MAX_ID: usize = 4096;

fn id(value: Option<&Value>) -> Result<String> {
    match value.and_then(crate::reference::id_of) {
        Some(it) if !it.is_empty() && it.len() <= MAX_ID && !it.contains('\0') => Ok(it.to_owned()),
        _ => Err(invalid("Ids of referring and referenced items must be non-empty strings.")),
    }
}

fn invalid(text: &str) -> Fault {
    Fault::because(Code::ReferencesInvalid, text)
}

fn linked_already(collection: &str, it: &ItemReference) -> Fault {
    let text = format!("{} of item {} refers to item {} already.", it.field, it.referring, it.referenced);
    Fault::because(Code::ReferenceExists, text)
        .with("collectionName", collection)
        .with("propertyName", it.field.as_str())
        .with("referencingItemId", it.referring.as_str())
        .with("referencedItemId", it.referenced.as_str())
}
