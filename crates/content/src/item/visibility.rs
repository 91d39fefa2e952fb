//! What callers are shown of the items that they write and read.

pub(crate) use crate::collection::access::may_read;

use crate::{
    RequestContext,
    collection::{
        Collection,
        translation::{Values, overlaid},
    },
    document::member,
    item::change::ChangeResult,
    page::{budget::ResponseBudget, print::print},
    reference::include,
};
use serde_json::Value;
use std::{mem, sync::Arc};
use stoa_kernel::{Caller, Result};
use stoa_query::resolve;
use stoa_store::{ReaderPool, boxed};

/// An item as it is answered.
pub struct Item {
    collection: Arc<Collection>,
    /// Canonical JSON text, `_id` first.
    pub doc: String,
    /// What takes the place of its values, once hooks were told of it.
    translation: Values,
    /// For how many seconds anyone may be answered the same; nothing for what was made for this caller.
    pub cache_seconds: Option<u32>,
}

impl Item {
    pub(crate) fn collection(&self) -> &Collection {
        &self.collection
    }

    pub(crate) fn new(collection: &Arc<Collection>, doc: String) -> Self {
        Self { collection: collection.clone(), doc, translation: Values::new(), cache_seconds: None }
    }

    /// The item as a hook has it. What the hook changes or takes out of it is so in every language.
    pub(crate) fn take(&mut self, doc: String) {
        let is_kept = |name: &str| {
            let [before, after] = [&self.doc, &doc].map(|it| member(it, name));
            let value = |it: Option<&str>| it.and_then(|it| serde_json::from_str::<Value>(it).ok());
            before == after || before.is_some() && value(before) == value(after)
        };
        self.translation.retain(|name, _| is_kept(name));
        self.doc = doc;
    }

    /// The item as it is answered, in the language of the call.
    pub(crate) fn in_language(mut self) -> Result<Self> {
        if !self.translation.is_empty() {
            self.doc = overlaid(&self.doc, &mem::take(&mut self.translation))?;
        }
        Ok(self)
    }

    /// An item without what it refers to, as everyone reads it.
    pub(crate) fn read(collection: &Arc<Collection>, doc: String) -> Self {
        Self { cache_seconds: collection.definition.cache_seconds(), ..Self::new(collection, doc) }
    }

    /// `{"id":…,"dataCollectionId":…,"data":…}`, appended to an answer.
    pub fn print(&self, out: &mut String) {
        print(&self.collection, &self.doc, out);
    }
}

/// A written item, with what it refers to if that is to be shown.
///
/// # Errors
/// WDE0109 when that is too large.
pub(crate) async fn inserted(
    context: RequestContext<'_>,
    collection: &Arc<Collection>,
    doc: String,
    with_references: bool,
) -> Result<Item> {
    if !with_references {
        return Ok(Item::new(collection, doc));
    }
    let includes = include::plan_all(context, collection).await?;
    let mut budget = ResponseBudget::new(context.content.limits().page_bytes);
    let fill = context.site.read(ReaderPool::Scan, move |tx| boxed!(includes.fill(tx, vec![doc], &mut budget).await));
    Ok(Item::new(collection, fill.await?.into_iter().next().unwrap_or_default()))
}

/// An item as the write that replaced it or made it answers. What an item was linked to before the call
/// is shown only to callers who may read it.
pub(crate) async fn write_result(
    context: RequestContext<'_>,
    collection: &Arc<Collection>,
    result: ChangeResult,
    with_references: bool,
) -> Result<Item> {
    let shows = with_references && (result.is_new || may_read(collection, context.caller, &result.doc));
    match shows {
        true => inserted(context, collection, result.doc, true).await,
        false => Ok(replaced(collection, context.caller, result)),
    }
}

/// An item as a write in another language answers it: of what it has the caller has sent the translation only.
pub(crate) async fn translated(
    context: RequestContext<'_>,
    collection: &Arc<Collection>,
    result: ChangeResult,
    with_references: bool,
) -> Result<Item> {
    match may_read(collection, context.caller, &result.doc) {
        true => {
            let ChangeResult { doc, translation, .. } = result;
            Ok(Item { translation, ..inserted(context, collection, doc, with_references).await? })
        }
        false => Ok(patched(collection, context.caller, result)),
    }
}

/// A patched item. It has more fields than the caller sent, so it is shown to those who may read it.
pub(crate) fn patched(collection: &Arc<Collection>, caller: &Caller, result: ChangeResult) -> Item {
    let ChangeResult { doc, translation, .. } = result;
    match may_read(collection, caller, &doc) {
        true => Item { translation, ..Item::new(collection, doc) },
        false => Item::new(collection, stoa_query::project(&doc, &resolve::projection(&["_id".to_owned()]))),
    }
}

/// A written item. One that was there keeps who made it and when, which is shown to those who may read it;
/// everything else of it the caller has sent.
pub(crate) fn replaced(collection: &Arc<Collection>, caller: &Caller, result: ChangeResult) -> Item {
    let ChangeResult { is_new, doc, .. } = result;
    if is_new || may_read(collection, caller, &doc) {
        return Item::new(collection, doc);
    }
    let without = |doc: String, name| stoa_query::item::without(&doc, name).unwrap_or(doc);
    // A page link may say what the item was before.
    let doc = collection.page_links.without(doc);
    Item::new(collection, without(without(doc, "_owner"), "_createdDate"))
}
