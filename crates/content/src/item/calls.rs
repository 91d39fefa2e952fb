//! One item: read, inserted, updated, saved, removed (protocol/content.md 3, 21.4).
//!
//! A document is the stored text; it is read and answered without being parsed, unless it has encrypted
//! fields.

use crate::{
    Collection, Content, GetRequest, Operation, Request,
    item::write::{self, Draft, Incoming, Mode, Written, covers, missing},
    reference::include::Room,
    schema::level,
    wire::{items::Sent, patch::Patch},
};
use std::sync::Arc;
use stoa_kernel::{Caller, Code, Fault, Result};
use stoa_query::{Filter, Projection, Scope, resolve};
use stoa_sql::{Value, jsonb};
use stoa_store::{Document, Lane, Site, boxed};

/// An item as it is answered.
pub struct Item {
    collection: Arc<Collection>,
    /// Canonical JSON text, `_id` first.
    pub doc: String,
}

/// What a save came to.
pub struct Saved {
    pub item: Item,
    /// INSERTED instead of UPDATED.
    pub is_new: bool,
}

impl Item {
    pub(crate) fn new(collection: &Arc<Collection>, doc: String) -> Self {
        Self { collection: collection.clone(), doc }
    }

    /// `{"id":…,"dataCollectionId":…,"data":…}`, appended to an answer.
    pub fn print(&self, out: &mut String) {
        print(&self.collection, &self.doc, out);
    }
}

/// The wire form of a document, without parsing it.
pub(crate) fn print(collection: &Collection, doc: &str, out: &mut String) {
    let (id, name) = (quoted_id(doc), &collection.texts.quoted_id);
    out.reserve(doc.len() + id.len() + name.len() + 40);
    out.extend(["{\"id\":", id, ",\"dataCollectionId\":", name, ",\"data\":", doc, "}"]);
}

/// The same from what is stored, without a text of it in between. Of what is appended nobody has seen yet
/// whether it is UTF-8.
pub(crate) fn print_stored(
    collection: &Collection,
    document: Document<'_>,
    out: &mut Vec<u8>,
) -> Result<(), stoa_store::Error> {
    out.extend_from_slice(b"{\"id\":");
    match document {
        Document::Text(it) => out.extend_from_slice(quoted_id(it).as_bytes()),
        Document::Jsonb(it) => jsonb::print_first_member_to(it, out).ok_or_else(Document::unreadable)?,
    }
    out.extend_from_slice(b",\"dataCollectionId\":");
    out.extend_from_slice(collection.texts.quoted_id.as_bytes());
    out.extend_from_slice(b",\"data\":");
    document.print(out)?;
    out.push(b'}');
    Ok(())
}

/// The JSON string after `{"_id":`, with which every canonical document begins.
pub(crate) fn quoted_id(doc: &str) -> &str {
    let start = "{\"_id\":".len();
    let bytes = doc.as_bytes();
    let mut end = start + 1;
    while end < bytes.len() && bytes[end] != b'"' {
        end += if bytes[end] == b'\\' { 2 } else { 1 };
    }
    doc.get(start..=end).unwrap_or("\"\"")
}

impl Content {
    /// An item by its id.
    ///
    /// # Errors
    /// WDE0025 for the collection, WDE0027 without the right to read, WDE0073 when the item isn't there or
    /// isn't among those that the caller may read.
    pub async fn item_get(&self, site: &Site, caller: &Caller, request: &GetRequest) -> Result<Item> {
        let collection = self.collection(site, request.collection(caller)?).await?;
        let scope = level::scope(caller, Operation::Read, &collection)?;
        let id = &request.id;
        if scope == Scope::Nothing || id.is_empty() || id.contains('\0') {
            return Err(missing(&collection, id));
        }
        let (reader, key) = (collection.clone(), id.clone());
        let projection = resolve::projection(&request.fields);
        let includes = self.include_plan(site, caller, &collection, &request.references).await?;
        let sight = self.sight(site, caller, &collection).await?;
        let most = self.limits().page_bytes;
        let found = site
            .read(Lane::Point, move |tx| {
                boxed!({
                    let (sql, params) = match scope {
                        Scope::OwnedBy(owner) => (&reader.texts.get_owned, vec![key.into(), owner.into()]),
                        _ => (&reader.texts.get, vec![Value::Text(key)]),
                    };
                    let mut found = tx.row(sql, &params, |row| Ok(row.doc(0)?.into_owned())).await?;
                    sight.show_all(found.iter_mut())?;
                    if let (false, Some(doc)) = (includes.is_empty(), &mut found) {
                        let filled = includes.fill(tx, vec![std::mem::take(doc)], &mut Room::new(most)).await?;
                        *doc = filled.into_iter().next().unwrap_or_default();
                    }
                    Ok(match &projection {
                        Projection::All => found,
                        some => found.map(|it| stoa_query::project(&it, some)),
                    })
                })
            })
            .await?;
        match found {
            Some(doc) => Ok(Item { collection, doc }),
            None => Err(missing(&collection, id)),
        }
    }

    /// Inserts an item.
    ///
    /// # Errors
    /// WDE0025, WDE0027, WDE0074 when the id is taken, and what makes an item invalid.
    pub async fn item_insert(&self, site: &Site, caller: &Caller, request: &Request<'_>) -> Result<Item> {
        let collection = self.collection(site, request.collection(caller)?).await?;
        level::may_insert(caller, &collection)?;
        let (id, mut item) = sent(request)?.canonical(self.limits())?;
        let id = single(&collection, id)?;
        let mut target = self.target(site, caller, &collection).await?;
        let shows = self.take_references(site, &mut target, request, &mut item).await?;
        let row = target.new_row(id.unwrap_or_else(|| self.world().uuid()), &item)?;
        let doc = target.shown(&row)?;
        let answers = write::insert(site, &target, Arc::new(vec![row])).await?;
        answers.into_iter().collect::<Result<()>>()?;
        self.shown(site, caller, collection, doc, shows).await
    }

    /// Replaces an item whole; `_createdDate` and `_owner` stay.
    ///
    /// # Errors
    /// WDE0007 without an id; WDE0073 when the item isn't there, isn't the caller's to change, or doesn't
    /// meet the condition; otherwise as for insert.
    pub async fn item_update(&self, site: &Site, caller: &Caller, request: &Request<'_>) -> Result<Item> {
        let collection = self.collection(site, request.collection(caller)?).await?;
        level::scope(caller, Operation::Update, &collection)?;
        let condition = self.condition(site, caller, request, &collection).await?;
        let (id, mut item) = sent(request)?.canonical(self.limits())?;
        let id = id.ok_or_else(|| Fault::because(Code::ItemIdInvalid, "An update needs the item's _id."))?;
        let mut target = self.target(site, caller, &collection).await?;
        let shows = self.take_references(site, &mut target, request, &mut item).await?;
        let incoming = Incoming { id, draft: Draft::Whole(item) };
        let written = only(write::change(site, &target, Mode::Update, vec![incoming], condition).await?)?;
        self.written(site, caller, collection, written, shows).await
    }

    /// Changes the fields that a patch names. Who may not read the item is answered its id alone.
    ///
    /// # Errors
    /// WDE0073 when the item isn't there, isn't the caller's to change, or doesn't meet the condition, and
    /// what makes a patch, or the item that it comes to, invalid.
    pub async fn item_patch(&self, site: &Site, caller: &Caller, request: &Request<'_>) -> Result<Item> {
        let collection = self.collection(site, request.collection(caller)?).await?;
        level::scope(caller, Operation::Update, &collection)?;
        let condition = self.condition(site, caller, request, &collection).await?;
        let mut saving = self.saving(site, caller, &collection, true).await?;
        let patch = saving.take_patch(0, request.patch()?)?;
        let Patch { id, modifications } = Patch::parse(&patch, caller, &collection, self.limits().query.item())?;
        if id.contains('\0') {
            return Err(missing(&collection, &id));
        }
        let mut target = self.target(site, caller, &collection).await?;
        target.saving = Arc::new(saving);
        let incoming = Incoming { id, draft: Draft::Patch(modifications) };
        let written = only(write::change(site, &target, Mode::Update, vec![incoming], condition).await?)?;
        Ok(patched(&collection, caller, written.doc))
    }

    /// Updates the item with this id, or inserts it when there is none.
    ///
    /// # Errors
    /// As for update and insert, whichever it comes to.
    pub async fn item_save(&self, site: &Site, caller: &Caller, request: &Request<'_>) -> Result<Saved> {
        let collection = self.collection(site, request.collection(caller)?).await?;
        may_save(caller, &collection)?;
        let (id, mut item) = sent(request)?.canonical(self.limits())?;
        let id = single(&collection, id)?.unwrap_or_else(|| self.world().uuid());
        let mut target = self.target(site, caller, &collection).await?;
        let shows = self.take_references(site, &mut target, request, &mut item).await?;
        let incoming = Incoming { id, draft: Draft::Whole(item) };
        let written = only(write::change(site, &target, Mode::Save, vec![incoming], None).await?)?;
        let is_new = written.is_new;
        Ok(Saved { item: self.written(site, caller, collection, written, shows).await?, is_new })
    }

    /// An item as the write that replaced it or made it answers. What an item was linked to before the call
    /// is shown only to who may read it.
    async fn written(
        &self,
        site: &Site,
        caller: &Caller,
        collection: Arc<Collection>,
        written: Written,
        shows: bool,
    ) -> Result<Item> {
        let shows = shows && (written.is_new || may_read(&collection, caller, &written.doc));
        match shows {
            true => self.shown(site, caller, collection, written.doc, true).await,
            false => Ok(replaced(&collection, caller, written)),
        }
    }

    /// Removes an item and answers it, unless the caller may not read it.
    ///
    /// # Errors
    /// WDE0002, WDE0025, WDE0027, WDE0073.
    pub async fn item_remove(&self, site: &Site, caller: &Caller, request: &Request<'_>) -> Result<Option<Item>> {
        let collection = self.collection(site, request.collection(caller)?).await?;
        level::scope(caller, Operation::Remove, &collection)?;
        let condition = self.condition(site, caller, request, &collection).await?;
        let id = request.item_id()?;
        if id.contains('\0') {
            return Err(missing(&collection, id));
        }
        let target = self.target(site, caller, &collection).await?;
        let doc = only(write::remove(site, &target, vec![id.to_owned()], condition, true).await?)?;
        Ok(readable(&collection, caller, doc))
    }

    /// The condition of a write. It tells something of the item, so it needs the right to read.
    pub(crate) async fn condition(
        &self,
        site: &Site,
        caller: &Caller,
        request: &Request<'_>,
        collection: &Collection,
    ) -> Result<Option<Filter>> {
        let Some(filter) = request.condition(self.limits())? else { return Ok(None) };
        level::scope(caller, Operation::Read, collection)?;
        let schema = self.schema(site, caller, collection, &filter).await?;
        resolve::filter(&filter, &schema).map(Some)
    }
}

/// A save comes to an insert or an update; who may do neither is refused before anything is looked at.
pub(crate) fn may_save(caller: &Caller, collection: &Collection) -> Result<()> {
    match collection.access(caller).allow(caller, Operation::Update) {
        true => Ok(()),
        false => level::may_insert(caller, collection),
    }
}

/// A patched item. It has more fields than the caller sent, so it is shown to those who may read it.
pub(crate) fn patched(collection: &Arc<Collection>, caller: &Caller, doc: String) -> Item {
    match may_read(collection, caller, &doc) {
        true => Item::new(collection, doc),
        false => Item::new(collection, stoa_query::project(&doc, &resolve::projection(&["_id".to_owned()]))),
    }
}

/// A written item. One that was there keeps who made it and when, which is told to those who may read it;
/// everything else of it the caller has sent.
pub(crate) fn replaced(collection: &Arc<Collection>, caller: &Caller, written: Written) -> Item {
    let Written { is_new, doc, .. } = written;
    if is_new || may_read(collection, caller, &doc) {
        return Item::new(collection, doc);
    }
    let without = |doc: String, name| stoa_query::item::without(&doc, name).unwrap_or(doc);
    Item::new(collection, without(without(doc, "_owner"), "_createdDate"))
}

/// A removed item, if the caller might have read it.
pub(crate) fn readable(collection: &Arc<Collection>, caller: &Caller, doc: String) -> Option<Item> {
    may_read(collection, caller, &doc).then(|| Item::new(collection, doc))
}

fn may_read(collection: &Collection, caller: &Caller, doc: &str) -> bool {
    match level::scope(caller, Operation::Read, collection) {
        Ok(Scope::Everything) => true,
        Ok(scope) => covers(&scope, owner(doc).as_deref()),
        Err(_) => false,
    }
}

fn owner(doc: &str) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Owned {
        #[serde(rename = "_owner")]
        owner: Option<String>,
    }
    serde_json::from_str::<Owned>(doc).ok()?.owner
}

fn sent<'r, 'a>(request: &'r Request<'a>) -> Result<&'r Sent<'a>> {
    request.item.as_ref().ok_or_else(|| Fault::because(Code::ItemNotObject, "dataItem is missing."))
}

/// The id of a new item: in a collection of one item, the id of that (protocol/content.md 21.4).
fn single(collection: &Collection, id: Option<String>) -> Result<Option<String>> {
    let Some(single) = collection.definition.single_item() else { return Ok(id) };
    match id {
        Some(id) if id != single => {
            let text = format!("The {} collection has one item only, {single}.", collection.id);
            Err(Fault::because(Code::NotSupported, text))
        }
        _ => Ok(Some(single.to_owned())),
    }
}

/// The answer for the one item of a call.
fn only<T>(answers: Vec<Result<T>>) -> Result<T> {
    answers.into_iter().next().unwrap_or_else(|| Err(Fault::internal("a write answered nothing")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_is_cut_from_the_document() {
        for (doc, id) in [
            (r#"{"_id":"a","x":1}"#, r#""a""#),
            (r#"{"_id":"a\"b\\","x":"y"}"#, r#""a\"b\\""#),
            (r#"{"_id":"ü"}"#, r#""ü""#),
            ("{}", "\"\""),
        ] {
            assert_eq!(quoted_id(doc), id);
        }
    }
}
