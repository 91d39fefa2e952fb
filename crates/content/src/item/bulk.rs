//! Many items in one call and one transaction, each with an answer of its own (docs/protocol/content.md §3.4).

use crate::{
    Content, RequestContext,
    collection::{
        self, Collection,
        access::{self, ItemWrite, Write},
    },
    fault,
    item::{
        change::{Change, ChangeResult, Mode, PendingChange, condition},
        hooked::WriteHooks,
        insert::{Insert, insert},
        references,
        remove::Removal,
        row::{NewValue, WriteContext},
        translation::TranslationChanges,
        visibility::{self, Item},
    },
    wire::{items::RawItem, patch::Patch, request::Request},
};
use std::{collections::HashSet, sync::Arc};
use stoa_hooks::Hook;
use stoa_kernel::{Caller, Code, Fault, Result};
use stoa_query::{CanonicalItem, Filter};
use stoa_sql::json::quoted;
use stoa_store::Site;

/// What was done to an item, or would have been.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    Insert,
    Update,
    Delete,
    Patch,
}

/// The answer for one item of a call, in the order of the request.
pub struct Outcome {
    pub action: Action,
    pub id: Option<String>,
    pub fault: Option<Fault>,
    /// The item, when the request asks for items and the caller may read it.
    pub item: Option<Item>,
}

impl Action {
    pub fn name(self) -> &'static str {
        match self {
            Self::Insert => "INSERT",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
            Self::Patch => "PATCH",
        }
    }
}

impl Outcome {
    fn refused(action: Action, id: Option<String>, fault: Fault) -> Self {
        Self { action, id, fault: Some(fault), item: None }
    }

    /// What a hook that comes after makes of the answer.
    fn take(&mut self, item: Result<Item>, is_shown: bool) {
        match item {
            Ok(it) => self.item = Some(it).filter(|_| is_shown),
            Err(fault) => self.fault = Some(fault),
        }
    }

    /// What `onFailure` makes of a failure.
    async fn after_failure(&mut self, hooks: &WriteHooks<'_>, collection: &Arc<Collection>, shows_items: bool) {
        let Some(fault) = &self.fault else { return };
        match hooks.calls.failure(fault).await {
            Ok(answer) => {
                if let Some(it) = answer.and_then(|it| hooks.calls.document(self.id.as_deref(), &it)) {
                    self.fault = None;
                    self.item = shows_items.then(|| Item::new(collection, it));
                }
            }
            Err(thrown) => self.fault = Some(thrown),
        }
    }

    /// One element of `results`, appended to an answer; `error` writes what a fault says.
    pub fn print(&self, index: usize, out: &mut String, error: impl Fn(&Fault) -> String) {
        use std::fmt::Write;
        out.extend(["{\"action\":\"", self.action.name(), "\",\"itemMetadata\":{"]);
        if let Some(id) = &self.id {
            out.extend(["\"id\":", &quoted(id), ","]);
        }
        let _ = write!(out, "\"originalIndex\":{index},\"success\":{}", self.fault.is_none());
        if let Some(fault) = &self.fault {
            out.extend([",\"error\":", &error(fault)]);
        }
        out.push('}');
        if let Some(item) = &self.item {
            out.push_str(",\"dataItem\":");
            item.print(out);
        }
        out.push('}');
    }
}

/// The outcomes of a call, each failure as `onFailure` has it.
async fn answered(
    hooks: &WriteHooks<'_>,
    collection: &Arc<Collection>,
    shows_items: bool,
    mut outcomes: Vec<Outcome>,
) -> Vec<Outcome> {
    if hooks.calls.has(Hook::OnFailure) {
        hooks.calls.ahead_of_failures(outcomes.iter().filter_map(|it| it.fault.as_ref())).await;
        for it in &mut outcomes {
            it.after_failure(hooks, collection, shows_items).await;
        }
    }
    outcomes
}

/// Items don't come by the thousand where there is but one (docs/protocol/content.md §21.10).
fn refuse_single(collection: &Collection) -> Result<()> {
    match collection.definition.single_item() {
        None => Ok(()),
        Some(_) => {
            let text = format!("The {} collection has one item only.", collection.id);
            Err(Fault::because(Code::NotSupported, text))
        }
    }
}

/// A call that changes items: those that can be tried, and an outcome for each item.
struct BulkChange {
    action: Action,
    outcomes: Vec<Outcome>,
    pending: Vec<PendingChange>,
    /// Which outcome each of the tried ones has.
    outcome_of: Vec<usize>,
}

impl BulkChange {
    fn new(action: Action, size: usize) -> Self {
        let (outcomes, pending) = (Vec::with_capacity(size), Vec::with_capacity(size));
        Self { action, outcomes, pending, outcome_of: Vec::with_capacity(size) }
    }

    /// The next item, or the id and the fault of one that can't even be tried.
    fn add(&mut self, item: Result<PendingChange, (Option<String>, Fault)>) {
        self.outcomes.push(match item {
            Ok(change) => {
                let id = Some(change.id.clone());
                self.pending.push(change);
                self.outcome_of.push(self.outcomes.len());
                Outcome { action: self.action, id, fault: None, item: None }
            }
            Err((id, fault)) => Outcome::refused(self.action, id, fault),
        });
    }

    async fn carry_out(
        mut self,
        hooks: &mut WriteHooks<'_>,
        context: WriteContext,
        mode: Mode,
        condition: Option<Filter>,
        (shows_items, show): (bool, impl Fn(ChangeResult) -> Item),
    ) -> Result<Vec<Outcome>> {
        let collection = context.collection().clone();
        if self.pending.is_empty() {
            return Ok(answered(hooks, &collection, shows_items, self.outcomes).await);
        }
        let change = Change { context: Arc::new(context), mode, changes: self.pending, condition };
        let results = hooks.change(change).await?;
        for (hook, is_new) in [(Hook::AfterInsert, true), (Hook::AfterUpdate, false)] {
            let written = results.iter().filter_map(|it| it.as_ref().ok().filter(|it| it.is_new == is_new));
            hooks.ahead_of_after(hook, written.map(|it| it.doc.as_str())).await?;
        }
        for (n, result) in self.outcome_of.into_iter().zip(results) {
            let outcome = &mut self.outcomes[n];
            match result {
                Ok(it) => {
                    outcome.action = if it.is_new { Action::Insert } else { self.action };
                    if shows_items || hooks.calls.has_after() {
                        let (is_new, told) = (it.is_new, hooks.told(&it.doc));
                        outcome.take(hooks.after_change(is_new, told, show(it)).await, shows_items);
                    }
                }
                Err(fault) => outcome.fault = Some(fault),
            }
        }
        Ok(answered(hooks, &collection, shows_items, self.outcomes).await)
    }
}

impl Content {
    /// Inserts items; those whose id is taken, or that aren't valid, are refused one by one.
    ///
    /// # Errors
    /// WDE0005, WDE0006, WDE0025, WDE0027: nothing is written.
    pub async fn item_bulk_insert(&self, site: &Site, caller: &Caller, request: &Request<'_>) -> Result<Vec<Outcome>> {
        let context = RequestContext::new(self, site, caller, request.drafts()).in_language(request.language());
        let collection = collection::load(self, site, request.collection(caller)?).await?;
        let access = access::items(caller, context.drafts, &collection, Write::Insert)?;
        refuse_single(&collection)?;
        let mut hooks = WriteHooks::load(context, &collection, &request.members).await?;
        let calls = hooks.calls.clone();
        let call = async {
            let (items, shows_items) = (request.items(self.limits())?, request.wants_items()?);
            let mut write = WriteContext::load(self, site, access).await?;
            let mut references = references::of_request(context, &collection, request).await?;
            let mut outcomes = Vec::with_capacity(items.len());
            let (mut rows, mut outcome_of) = (Vec::with_capacity(items.len()), Vec::with_capacity(items.len()));
            let mut ids = HashSet::with_capacity(items.len());
            let sent: Vec<_> = items.iter().map(|it| canonical_with_id(self, it, true)).collect();
            let valid = sent.iter().filter_map(|it| it.as_ref().ok());
            hooks.ahead_of_inserts(valid.map(|(id, item)| (id.as_str(), item))).await?;
            // Rows are made by the rights and rules of now.
            hooks.renew(&mut write).await?;
            for (n, it) in sent.into_iter().enumerate() {
                let row = it.and_then(|(id, mut item)| {
                    if !ids.insert(id.clone()) {
                        return Err((Some(id.clone()), fault::item_exists(collection.id.as_str(), &id)));
                    }
                    match references.take(rows.len(), &mut item) {
                        Ok(()) => Ok((id, item)),
                        Err(fault) => Err((Some(id), fault)),
                    }
                });
                let row = match row {
                    Ok((id, item)) => {
                        let item = hooks.before_insert(&id, item).await;
                        item.and_then(|it| write.new_row(id.clone(), &it)).map_err(|fault| (Some(id), fault))
                    }
                    Err(it) => Err(it),
                };
                outcomes.push(match row {
                    Ok(row) => {
                        let id = Some(row.id().to_owned());
                        rows.push(row);
                        outcome_of.push(n);
                        Outcome { action: Action::Insert, id, fault: None, item: None }
                    }
                    Err((id, fault)) => Outcome::refused(Action::Insert, id, fault),
                });
            }
            if rows.is_empty() {
                return Ok(answered(&hooks, &collection, shows_items, outcomes).await);
            }
            hooks.renew(&mut write).await?;
            write.references = Arc::new(references);
            let call = Arc::new(Insert { context: write, rows });
            let answers = insert(site, &call).await?;
            let shows = shows_items || hooks.calls.has(Hook::AfterInsert);
            let shown = call.rows.iter().map(|it| if shows { call.context.shown(it) } else { Ok(String::new()) });
            let documents = shown.collect::<Result<Vec<_>>>()?;
            let written = answers.iter().zip(&documents).filter(|(it, _)| it.is_ok());
            hooks.ahead_of_after(Hook::AfterInsert, written.map(|(_, it)| it.as_str())).await?;
            for ((n, answer), doc) in outcome_of.into_iter().zip(answers).zip(documents) {
                match answer {
                    Ok(()) if shows => {
                        let item = hooks.after(Hook::AfterInsert, hooks.told(&doc), Item::new(&collection, doc)).await;
                        outcomes[n].take(item, shows_items);
                    }
                    Ok(()) => {}
                    Err(fault) => outcomes[n].fault = Some(fault),
                }
            }
            Ok(answered(&hooks, &collection, shows_items, outcomes).await)
        };
        calls.answering(call, |_| None).await
    }

    /// Replaces items; those that aren't there, aren't the caller's to change or don't meet the condition
    /// are refused one by one.
    ///
    /// # Errors
    /// As for insert.
    pub async fn item_bulk_update(&self, site: &Site, caller: &Caller, request: &Request<'_>) -> Result<Vec<Outcome>> {
        let context = RequestContext::new(self, site, caller, request.drafts()).in_language(request.language());
        let collection = collection::load(self, site, request.collection_in_language(caller)?).await?;
        let access = access::items(caller, context.drafts, &collection, Write::Update)?;
        let condition = condition(context, request, &collection);
        change_many(context, access, request, Mode::Update, condition).await
    }

    /// Updates the items that are there and inserts the others.
    ///
    /// # Errors
    /// As for insert.
    pub async fn item_bulk_save(&self, site: &Site, caller: &Caller, request: &Request<'_>) -> Result<Vec<Outcome>> {
        let context = RequestContext::new(self, site, caller, request.drafts()).in_language(request.language());
        let collection = collection::load(self, site, request.collection_in_language(caller)?).await?;
        let access = access::items(caller, context.drafts, &collection, Write::Save)?;
        refuse_single(&collection)?;
        change_many(context, access, request, Mode::Save, async { Ok(None) }).await
    }

    /// Changes the fields that patches name; those that can't be applied are refused one by one.
    ///
    /// # Errors
    /// WDE0080 for no patches, WDE0006, WDE0025, WDE0027: nothing is written.
    pub async fn item_bulk_patch(&self, site: &Site, caller: &Caller, request: &Request<'_>) -> Result<Vec<Outcome>> {
        let context = RequestContext::new(self, site, caller, request.drafts()).in_language(request.language());
        let collection = collection::load(self, site, request.collection_in_language(caller)?).await?;
        let access = access::items(caller, context.drafts, &collection, Write::Update)?;
        let mut translations = TranslationChanges::of_request(context, &collection, request)?;
        let mut hooks = WriteHooks::load(context, &collection, &request.members).await?;
        let calls = hooks.calls.clone();
        let call = async {
            let condition = condition(context, request, &collection).await?;
            let (patches, shows_items) = (request.patches(self.limits())?, request.wants_items()?);
            let mut references = references::of_collection(context, &collection, true).await?;
            let (mut call, item_limits) = (BulkChange::new(Action::Patch, patches.len()), self.limits().query.item());
            for raw_patch in patches {
                let patch = match translations.is_in_language() {
                    // Links are in no language.
                    true => Ok(raw_patch.clone()),
                    false => references.take_patch(call.pending.len(), raw_patch),
                };
                call.add(match patch.and_then(|it| Patch::parse(&it, caller, &collection.schema, item_limits)) {
                    Ok(it) if it.id.contains('\0') => {
                        Err((Some(it.id.clone()), fault::item_not_found(collection.id.as_str(), &it.id)))
                    }
                    Ok(it) => {
                        let value =
                            NewValue::Patch(it.modifications).in_language(call.pending.len(), &mut translations);
                        Ok(PendingChange { id: it.id, value, seen: None })
                    }
                    Err(fault) => Err((Patch::id_of(raw_patch).map(str::to_owned), fault)),
                });
            }
            let mut write = WriteContext::load(self, site, access).await?;
            write.references = Arc::new(references);
            write.translations = Arc::new(translations);
            let show = |it: ChangeResult| visibility::patched(&collection, caller, it);
            call.carry_out(&mut hooks, write, Mode::Update, condition, (shows_items, show)).await
        };
        calls.answering(call, |_| None).await
    }

    /// Removes items by their ids.
    ///
    /// # Errors
    /// WDE0068, WDE0069, WDE0025, WDE0027: nothing is removed.
    pub async fn item_bulk_remove(&self, site: &Site, caller: &Caller, request: &Request<'_>) -> Result<Vec<Outcome>> {
        let context = RequestContext::new(self, site, caller, request.drafts()).in_language(request.language());
        let collection = collection::load(self, site, request.collection(caller)?).await?;
        let access = access::items(caller, context.drafts, &collection, Write::Remove)?;
        let hooks = WriteHooks::load(context, &collection, &request.members).await?;
        let calls = hooks.calls.clone();
        let call = async {
            let condition = condition(context, request, &collection).await?;
            let (ids, shows_items) = (request.item_ids(self.limits())?, request.wants_items()?);
            let possible = ids.iter().filter(|it| !it.contains('\0')).map(|it| (*it).to_owned()).collect();
            let write = WriteContext::load(self, site, access).await?;
            let shows = shows_items || hooks.calls.has(Hook::AfterRemove);
            let removal = Removal { context: Arc::new(write), ids: possible, condition, shows, seen: None };
            let answers = hooks.remove(removal).await?;
            let removed = answers.iter().filter_map(|it| it.as_deref().ok());
            hooks.ahead_of_after(Hook::AfterRemove, removed).await?;
            let mut answers = answers.into_iter();
            let mut outcomes = Vec::with_capacity(ids.len());
            for id in ids {
                let answer = if id.contains('\0') { None } else { answers.next() };
                let answer = answer.unwrap_or_else(|| Err(fault::item_not_found(collection.id.as_str(), id)));
                let mut outcome = Outcome { action: Action::Delete, id: Some(id.to_owned()), fault: None, item: None };
                match answer {
                    Ok(doc) if shows => {
                        let is_shown = shows_items && visibility::may_read(&collection, caller, &doc);
                        let item = Item::new(&collection, doc.clone());
                        outcome.take(hooks.after(Hook::AfterRemove, Some(doc), item).await, is_shown);
                    }
                    Ok(_) => {}
                    Err(fault) => outcome.fault = Some(fault),
                }
                outcomes.push(outcome);
            }
            Ok(answered(&hooks, &collection, shows_items, outcomes).await)
        };
        calls.answering(call, |_| None).await
    }
}

async fn change_many(
    context: RequestContext<'_>,
    access: ItemWrite,
    request: &Request<'_>,
    mode: Mode,
    condition: impl Future<Output = Result<Option<Filter>>>,
) -> Result<Vec<Outcome>> {
    let RequestContext { content, site, caller, .. } = context;
    let collection = &access.collection().clone();
    let mut translations = TranslationChanges::of_request(context, collection, request)?;
    let (mode, is_translation) = (mode.within(&translations), translations.is_in_language());
    let mut hooks = WriteHooks::load(context, collection, &request.members).await?;
    let calls = hooks.calls.clone();
    let call = async {
        let condition = condition.await?;
        let (items, shows_items) = (request.items(content.limits())?, request.wants_items()?);
        let mut references = references::of_request(context, collection, request).await?;
        let mut call = BulkChange::new(Action::Update, items.len());
        for it in items {
            let change = canonical_with_id(content, it, mode == Mode::Save).and_then(|(id, mut item)| match references
                .take(call.pending.len(), &mut item)
            {
                Ok(()) => {
                    let value = NewValue::Whole(item).in_language(call.pending.len(), &mut translations);
                    Ok(PendingChange { id, value, seen: None })
                }
                Err(fault) => Err((Some(id), fault)),
            });
            call.add(change);
        }
        let mut write = WriteContext::load(content, site, access).await?;
        write.references = Arc::new(references);
        write.translations = Arc::new(translations);
        let show = |it: ChangeResult| match is_translation {
            true => visibility::patched(collection, caller, it),
            false => visibility::replaced(collection, caller, it),
        };
        call.carry_out(&mut hooks, write, mode, condition, (shows_items, show)).await
    };
    calls.answering(call, |_| None).await
}

/// An element of `dataItems`, with an id of ours when it may come without. In a list an id that is
/// null or empty is an error like any other (docs/protocol/content.md §20.20).
fn canonical_with_id(
    content: &Content,
    raw: &RawItem<'_>,
    makes_id: bool,
) -> Result<(String, CanonicalItem), (Option<String>, Fault)> {
    let (id, item): (Option<String>, CanonicalItem) = match raw.canonical(content.limits()) {
        Ok(it) => it,
        Err(fault) => return Err((raw.id().map(str::to_owned), fault)),
    };
    match id {
        Some(id) => Ok((id, item)),
        None if makes_id => Ok((content.state.world.uuid(), item)),
        None => Err((None, Fault::because(Code::ItemIdInvalid, "An update needs the item's _id."))),
    }
}
