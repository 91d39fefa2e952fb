//! One item: read, inserted, updated, saved, removed (docs/protocol/content.md §3, §21.4).
//!
//! A document is the stored text; it is read and answered without being parsed, unless it has encrypted
//! fields.

use crate::{
    Content, RequestContext,
    collection::{
        self, Collection,
        access::{self, Write},
        field_view,
        translation::Translation,
    },
    fault,
    hook::CallHooks,
    item::{
        change::{Change, Mode, PendingChange, condition},
        hooked::WriteHooks,
        insert::{Insert, insert},
        references,
        remove::Removal,
        row::{NewValue, WriteContext},
        translation::TranslationChanges,
        visibility::{self, Item},
    },
    page::{budget::ResponseBudget, language},
    reference::{and_scope, include},
    schema::level::Operation,
    wire::{
        items::RawItem,
        patch::Patch,
        request::{GetRequest, Request},
    },
};
use serde_json::value::RawValue;
use std::{borrow::Cow, sync::Arc};
use stoa_hooks::Hook;
use stoa_kernel::{Caller, Code, Fault, Result};
use stoa_query::{CanonicalItem, Projection, Scope, resolve};
use stoa_sql::{Value, Writer};
use stoa_store::{ReaderPool, Site, boxed};

/// The result of a save.
pub struct Saved {
    pub item: Item,
    /// INSERTED instead of UPDATED.
    pub is_new: bool,
}

impl Content {
    /// An item by its id.
    ///
    /// # Errors
    /// WDE0025 for the collection, WDE0027 without the right to read, WDE0073 when the item isn't there or
    /// isn't among those that the caller may read.
    pub async fn item_get(&self, site: &Site, caller: &Caller, request: &GetRequest) -> Result<Item> {
        let drafts = request.options.drafts;
        let context = RequestContext::new(self, site, caller, drafts).in_language(request.options.language());
        let collection = collection::load(self, site, request.collection(caller)?).await?;
        let scope = access::scope(caller, drafts, Operation::Read, &collection)?;
        if scope == Scope::Nothing {
            return Err(fault::item_not_found(collection.id.as_str(), &request.id));
        }
        let hooks = CallHooks::load(context, &collection, &request.options).await?;
        let call = async {
            let asked = hooks.asked_id(&request.id).await?;
            let collection = hooks.still(context, &collection).await?;
            let scope = access::scope(caller, drafts, Operation::Read, &collection)?;
            let id = asked.as_ref().unwrap_or(&request.id);
            if id.is_empty() || id.contains('\0') || scope == Scope::Nothing {
                return Err(fault::item_not_found(collection.id.as_str(), id));
            }
            let (reader, key) = (collection.clone(), id.clone());
            let projection = resolve::projection(&request.fields);
            let includes = include::plan(context, &collection, &request.references).await?;
            let is_plain = includes.is_empty();
            let view = field_view::load(self, site, caller, &collection).await?;
            let translation = Translation::of(&site.id, &collection, context.language, &scope);
            let most = self.limits().page_bytes;
            let found = site.read(ReaderPool::Point, move |tx| {
                boxed!({
                    let statements = &reader.statements;
                    let (sql, params) = match scope {
                        Scope::Everything | Scope::Nothing => (Cow::Borrowed(&statements.get), vec![Value::Text(key)]),
                        Scope::OwnedBy(owner) => (Cow::Borrowed(&statements.get_owned), vec![key.into(), owner.into()]),
                        scope @ Scope::Published { .. } => {
                            let mut sql = Writer::new(tx.dialect());
                            sql.push("select t.doc from ").push(&statements.name).push(" t where t.id = ").bind(key);
                            and_scope(&mut sql, "t", &scope);
                            let (sql, params) = sql.finish();
                            (Cow::Owned(sql), params)
                        }
                    };
                    let mut found = tx.row(&sql, &params, |row| Ok(row.doc(0)?.into_owned())).await?;
                    view.show_all(found.iter_mut())?;
                    if let Some(it) = &translation {
                        language::show(it, tx, found.iter_mut().collect(), &mut ResponseBudget::new(most)).await?;
                    }
                    if let (false, Some(doc)) = (includes.is_empty(), &mut found) {
                        let mut budget = ResponseBudget::new(most);
                        let filled = includes.fill(tx, vec![std::mem::take(doc)], &mut budget).await?;
                        *doc = filled.into_iter().next().unwrap_or_default();
                    }
                    Ok(match &projection {
                        Projection::All => found,
                        some => found.map(|it| stoa_query::project(&it, some)),
                    })
                })
            });
            match found.await? {
                Some(doc) if hooks.decide_on_reads() => {
                    Ok(Item::new(&collection, hooks.after(Hook::AfterGet, doc).await?))
                }
                Some(doc) if is_plain => Ok(Item::read(&collection, doc)),
                Some(doc) => Ok(Item::new(&collection, doc)),
                None => Err(fault::item_not_found(collection.id.as_str(), id)),
            }
        };
        one(&hooks, &collection, Some(&request.id), call).await
    }

    /// Inserts an item.
    ///
    /// # Errors
    /// WDE0025, WDE0027, WDE0074 when the id is taken, and what makes an item invalid.
    pub async fn item_insert(&self, site: &Site, caller: &Caller, request: &Request<'_>) -> Result<Item> {
        let context = RequestContext::new(self, site, caller, request.drafts()).in_language(request.language());
        let collection = collection::load(self, site, request.collection(caller)?).await?;
        let access = access::items(caller, context.drafts, &collection, Write::Insert)?;
        let mut hooks = WriteHooks::load(context, &collection, &request.members).await?;
        let calls = hooks.calls.clone();
        let call = async {
            let (id, mut item) = raw_item(request)?.canonical(self.limits())?;
            let id = single(&collection, id)?;
            let mut write = WriteContext::load(self, site, access).await?;
            let shows = take_references(context, &mut write, request, &mut item).await?;
            let id = id.unwrap_or_else(|| self.state.world.uuid());
            let item = hooks.before_insert(&id, item).await?;
            hooks.renew(&mut write).await?;
            let row = write.new_row(id.clone(), &item)?;
            let doc = write.shown(&row)?;
            let collection = write.collection().clone();
            only(insert(site, &Arc::new(Insert { context: write, rows: vec![row] })).await?)?;
            let told = hooks.told(&doc);
            hooks.after(Hook::AfterInsert, told, visibility::inserted(context, &collection, doc, shows).await?).await
        };
        one(&calls, &collection, sent_id(request), call).await
    }

    /// Replaces an item whole; `_createdDate` and `_owner` stay.
    ///
    /// # Errors
    /// WDE0007 without an id; WDE0073 when the item isn't there, isn't the caller's to change, or doesn't
    /// meet the condition; otherwise as for insert.
    pub async fn item_update(&self, site: &Site, caller: &Caller, request: &Request<'_>) -> Result<Item> {
        let context = RequestContext::new(self, site, caller, request.drafts()).in_language(request.language());
        let collection = collection::load(self, site, request.collection_in_language(caller)?).await?;
        let access = access::items(caller, context.drafts, &collection, Write::Update)?;
        let mut translations = TranslationChanges::of_request(context, &collection, request)?;
        let mut hooks = WriteHooks::load(context, &collection, &request.members).await?;
        let calls = hooks.calls.clone();
        let call = async {
            let condition = condition(context, request, &collection).await?;
            let (id, mut item) = raw_item(request)?.canonical(self.limits())?;
            let id = id.ok_or_else(|| Fault::because(Code::ItemIdInvalid, "An update needs the item's _id."))?;
            let mut write = WriteContext::load(self, site, access).await?;
            let shows = take_references(context, &mut write, request, &mut item).await?;
            let (mode, is_translation) = (Mode::Update.within(&translations), translations.is_in_language());
            let value = NewValue::Whole(item).in_language(0, &mut translations);
            write.translations = Arc::new(translations);
            let changes = vec![PendingChange { id, value, seen: None }];
            let change = Change { context: Arc::new(write), mode, changes, condition };
            let result = only(hooks.change(change).await?)?;
            let told = hooks.told(&result.doc);
            let item = match is_translation {
                true => visibility::translated(context, &collection, result, shows).await?,
                false => visibility::write_result(context, &collection, result, shows).await?,
            };
            hooks.after(Hook::AfterUpdate, told, item).await
        };
        one(&calls, &collection, sent_id(request), call).await
    }

    /// Changes the fields that a patch names. A caller who may not read the item is answered its id alone.
    ///
    /// # Errors
    /// WDE0073 when the item isn't there, isn't the caller's to change, or doesn't meet the condition, and
    /// what makes a patch, or the item that it comes to, invalid.
    pub async fn item_patch(&self, site: &Site, caller: &Caller, request: &Request<'_>) -> Result<Item> {
        let context = RequestContext::new(self, site, caller, request.drafts()).in_language(request.language());
        let collection = collection::load(self, site, request.collection_in_language(caller)?).await?;
        let access = access::items(caller, context.drafts, &collection, Write::Update)?;
        let mut translations = TranslationChanges::of_request(context, &collection, request)?;
        let mut hooks = WriteHooks::load(context, &collection, &request.members).await?;
        let calls = hooks.calls.clone();
        let call = async {
            let condition = condition(context, request, &collection).await?;
            let mut references = references::of_collection(context, &collection, true).await?;
            let patch = match translations.is_in_language() {
                // Links are in no language.
                true => request.patch()?.clone(),
                false => references.take_patch(0, request.patch()?)?,
            };
            let item_limits = self.limits().query.item();
            let Patch { id, modifications } = Patch::parse(&patch, caller, &collection.schema, item_limits)?;
            if id.contains('\0') {
                return Err(fault::item_not_found(collection.id.as_str(), &id));
            }
            let mut write = WriteContext::load(self, site, access).await?;
            write.references = Arc::new(references);
            let value = NewValue::Patch(modifications).in_language(0, &mut translations);
            write.translations = Arc::new(translations);
            let changes = vec![PendingChange { id, value, seen: None }];
            let change = Change { context: Arc::new(write), mode: Mode::Update, changes, condition };
            let result = only(hooks.change(change).await?)?;
            let told = hooks.told(&result.doc);
            hooks.after(Hook::AfterUpdate, told, visibility::patched(&collection, caller, result)).await
        };
        one(&calls, &collection, request.patch().ok().and_then(Patch::id_of), call).await
    }

    /// Updates the item with this id, or inserts it when there is none.
    ///
    /// # Errors
    /// As for update and insert, whichever it comes to.
    pub async fn item_save(&self, site: &Site, caller: &Caller, request: &Request<'_>) -> Result<Saved> {
        let context = RequestContext::new(self, site, caller, request.drafts()).in_language(request.language());
        let collection = collection::load(self, site, request.collection_in_language(caller)?).await?;
        let access = access::items(caller, context.drafts, &collection, Write::Save)?;
        let mut translations = TranslationChanges::of_request(context, &collection, request)?;
        let mut hooks = WriteHooks::load(context, &collection, &request.members).await?;
        let calls = hooks.calls.clone();
        let call = async {
            let (id, mut item) = raw_item(request)?.canonical(self.limits())?;
            let id = single(&collection, id)?.unwrap_or_else(|| self.state.world.uuid());
            let mut write = WriteContext::load(self, site, access).await?;
            let shows = take_references(context, &mut write, request, &mut item).await?;
            let (mode, is_translation) = (Mode::Save.within(&translations), translations.is_in_language());
            let value = NewValue::Whole(item).in_language(0, &mut translations);
            write.translations = Arc::new(translations);
            let changes = vec![PendingChange { id, value, seen: None }];
            let change = Change { context: Arc::new(write), mode, changes, condition: None };
            let result = only(hooks.change(change).await?)?;
            let (is_new, told) = (result.is_new, hooks.told(&result.doc));
            let item = match is_translation {
                true => visibility::translated(context, &collection, result, shows).await?,
                false => visibility::write_result(context, &collection, result, shows).await?,
            };
            Ok(Saved { item: hooks.after_change(is_new, told, item).await?, is_new })
        };
        let saved = |it: &RawValue| {
            let document = calls.document(sent_id(request), it)?;
            Some(Saved { item: Item::new(&collection, document), is_new: false })
        };
        calls.answering(call, saved).await
    }

    /// Removes an item and answers it, unless the caller may not read it.
    ///
    /// # Errors
    /// WDE0002, WDE0025, WDE0027, WDE0073.
    pub async fn item_remove(&self, site: &Site, caller: &Caller, request: &Request<'_>) -> Result<Option<Item>> {
        let context = RequestContext::new(self, site, caller, request.drafts()).in_language(request.language());
        let collection = collection::load(self, site, request.collection(caller)?).await?;
        let access = access::items(caller, context.drafts, &collection, Write::Remove)?;
        let hooks = WriteHooks::load(context, &collection, &request.members).await?;
        let calls = hooks.calls.clone();
        let call = async {
            let condition = condition(context, request, &collection).await?;
            let id = request.item_id()?;
            if id.contains('\0') {
                return Err(fault::item_not_found(collection.id.as_str(), id));
            }
            let context_of_write = Arc::new(WriteContext::load(self, site, access).await?);
            let (ids, shows) = (vec![id.to_owned()], true);
            let doc =
                only(hooks.remove(Removal { context: context_of_write, ids, condition, shows, seen: None }).await?)?;
            let (told, is_shown) = (hooks.told(&doc), visibility::may_read(&collection, caller, &doc));
            let removed = hooks.after(Hook::AfterRemove, told, Item::new(&collection, doc)).await?;
            Ok(is_shown.then_some(removed))
        };
        let removed = |it: &RawValue| Some(Some(Item::new(&collection, calls.document(request.item_id().ok(), it)?)));
        calls.answering(call, removed).await
    }
}

/// Does a call on one item, whose failure is answered by an item of `onFailure` where that has one.
async fn one(
    calls: &CallHooks,
    collection: &Arc<Collection>,
    id: Option<&str>,
    call: impl Future<Output = Result<Item>>,
) -> Result<Item> {
    calls.answering(call, |it| Some(Item::new(collection, calls.document(id, it)?))).await
}

fn sent_id<'r>(request: &'r Request<'_>) -> Option<&'r str> {
    request.item.as_ref().and_then(RawItem::id)
}

/// Takes the references of the one item of a call out of it, and answers whether the call wants to be
/// shown what the item refers to.
///
/// # Errors
/// WDE0303 and WDE0027 for references that can't be saved, WDE0018 for a flag that is neither true nor false.
async fn take_references(
    context: RequestContext<'_>,
    write: &mut WriteContext,
    request: &Request<'_>,
    item: &mut CanonicalItem,
) -> Result<bool> {
    let mut references = references::of_request(context, write.collection(), request).await?;
    references.take(0, item)?;
    write.references = Arc::new(references);
    request.includes_references()
}

fn raw_item<'r, 'a>(request: &'r Request<'a>) -> Result<&'r RawItem<'a>> {
    request.item.as_ref().ok_or_else(|| Fault::because(Code::ItemNotObject, "dataItem is missing."))
}

/// The id of a new item: in a collection of one item, the id of that (docs/protocol/content.md §21.4).
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
