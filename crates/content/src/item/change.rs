//! Items updated, saved and patched: changed after a look at what is there.
//!
//! One call is one transaction whatever the number of items, with a statement for all of them and one
//! row of the outbox for each kind of event. A refusal of one item leaves the others alone.

use crate::{
    RequestContext,
    collection::{Collection, access, statements::Row, translation::Values},
    event::write::UpdatedItem,
    fault,
    item::{
        insert::insert_new,
        ownership,
        references::Unresolved,
        row::{Before, DocumentPart, Existing, NewValue, Seen, WriteContext},
        translation::{TargetItem, TranslationChanges},
        unique,
    },
    reference::filter,
    schema::level::Operation,
    wire::{patch::PatchBudget, request::Request},
};
use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};
use stoa_kernel::{Code, Fault, Result};
use stoa_query::{Filter, resolve};
use stoa_store::{Site, Tx, boxed};

/// A change of one item, on its way in.
pub(crate) struct PendingChange {
    pub id: String,
    pub value: NewValue,
    /// What the item must still be, where a hook saw it.
    pub seen: Option<Seen>,
}

/// An item that was written, as the caller is shown it.
pub(crate) struct ChangeResult {
    pub is_new: bool,
    pub doc: String,
    /// What takes the place of its values in the answer to a write in a language.
    pub translation: Values,
    /// What references of an import's item lead to and isn't there.
    pub unresolved: Vec<Unresolved>,
}

/// What happens to an item that isn't there yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// It is refused: WDE0073.
    Update,
    /// It is inserted.
    Save,
}

impl Mode {
    /// Only what is there can be translated.
    pub(crate) fn within(self, translations: &TranslationChanges) -> Self {
        if translations.is_in_language() { Self::Update } else { self }
    }
}

/// A call that changes items.
pub(crate) struct Change {
    pub context: Arc<WriteContext>,
    pub mode: Mode,
    pub changes: Vec<PendingChange>,
    /// Items that it doesn't hold for are refused.
    pub condition: Option<Filter>,
}

/// The condition of a write. It tells something of the item, so it needs the right to read.
pub(crate) async fn condition(
    context: RequestContext<'_>,
    request: &Request<'_>,
    collection: &Collection,
) -> Result<Option<Filter>> {
    let Some(request_filter) = request.condition(context.content.limits())? else { return Ok(None) };
    access::scope(context.caller, context.drafts, Operation::Read, collection)?;
    let schema = filter::schema(context, collection, &request_filter).await?;
    resolve::filter(&request_filter, &schema).map(Some)
}

/// Updates or saves items, in order; of several with one id each finds what the one before it left.
pub(crate) async fn change(site: &Site, change: Change) -> Result<Vec<Result<ChangeResult>>> {
    let new_rows = match change.mode {
        Mode::Save if change.context.references.is_empty() && change.context.translations.is_empty() => {
            new_rows(&change)
        }
        Mode::Save | Mode::Update => None,
    };
    let change = Arc::new(change);
    let write = site.write_with((change.clone(), new_rows), |tx, (change, new_rows)| {
        boxed!(change.run(tx, &change.changes, new_rows.as_deref()).await)
    });
    let results = match write.await {
        // A unique index that is not known of yet: only the items that breach it are to fail.
        Err(fault) if fault.code() == Code::UniqueConflict && change.changes.len() > 1 => {
            one_by_one(site, &change).await?
        }
        results => results?,
    };
    if change.mode == Mode::Save {
        ownership::visitor_wrote(&change.context);
    }
    Ok(results)
}

async fn one_by_one(site: &Site, change: &Arc<Change>) -> Result<Vec<Result<ChangeResult>>> {
    let mut results = Vec::with_capacity(change.changes.len());
    for n in 0..change.changes.len() {
        let write = site
            .write_with(change.clone(), move |tx, change| boxed!(change.run(tx, &change.changes[n..=n], None).await));
        match write.await {
            Ok(result) => results.extend(result),
            Err(fault) if fault.code() == Code::UniqueConflict => results.push(Err(fault)),
            Err(fault) => return Err(fault),
        }
    }
    Ok(results)
}

/// The rows that a save comes to if none of its items is there: most often they aren't, and one
/// statement finds out. Nothing when the caller may not insert, or when an item can't be such a row.
fn new_rows(change: &Change) -> Option<Vec<Row>> {
    let context = &change.context;
    let is_seen = change.changes.iter().any(|it| it.seen.is_some());
    if is_seen || unique::guards(context.collection()) {
        return None;
    }
    context.access().may_insert().ok()?;
    let mut ids = HashSet::with_capacity(change.changes.len());
    let row = |it: &PendingChange| match &it.value {
        NewValue::Whole(item) => context.new_row(it.id.clone(), item).ok(),
        NewValue::Patch(_) | NewValue::Patched(..) | NewValue::Refused => None,
    };
    change.changes.iter().map(|it| row(it).filter(|_| ids.insert(&it.id))).collect()
}

impl Change {
    /// Writes all of the items, in a transaction that writes more than them.
    pub(crate) async fn write(&self, tx: &mut Tx<'_>) -> Result<Vec<Result<ChangeResult>>> {
        self.run(tx, &self.changes, None).await
    }

    /// Writes some of the items; `new_rows` are what they are if none is there.
    async fn run(
        &self,
        tx: &mut Tx<'_>,
        changes: &[PendingChange],
        new_rows: Option<&[Row]>,
    ) -> Result<Vec<Result<ChangeResult>>> {
        if self.mode == Mode::Save {
            ownership::visitor_writes(tx, &self.context).await?;
        }
        self.context.check_drafts(tx).await?;
        let Some(rows) = new_rows else {
            let mut results = Vec::with_capacity(changes.len());
            for part in self.parts(changes) {
                results.extend(self.replace(tx, &part.iter().collect::<Vec<_>>()).await?);
            }
            return Ok(results);
        };
        let is_new = insert_new(tx, &self.context, &rows.iter().collect::<Vec<_>>()).await?;
        let there: Vec<_> = changes.iter().zip(&is_new).filter(|(_, is_new)| !**is_new).map(|(it, _)| it).collect();
        let replaced = if there.is_empty() { Vec::new() } else { self.replace(tx, &there).await? };
        let mut replaced = replaced.into_iter();
        let result = |(row, is_new): (&Row, bool)| match is_new {
            true => Some(self.context.shown(row).map(|doc| ChangeResult {
                is_new,
                doc,
                translation: Values::new(),
                unresolved: Vec::new(),
            })),
            false => replaced.next(),
        };
        Ok(rows.iter().zip(is_new).filter_map(result).collect())
    }

    /// The items that may be written in another language. Who may not update an item is told that it isn't there.
    fn translated<'i>(
        &self,
        changes: &[&'i PendingChange],
        first: usize,
        there: &'i HashMap<String, Existing>,
    ) -> Result<Vec<TargetItem<'i>>> {
        let mut items = Vec::new();
        if self.context.translations.is_empty() {
            return Ok(items);
        }
        for (n, it) in changes.iter().enumerate().filter(|it| !matches!(it.1.value, NewValue::Refused)) {
            let existing = there.get(&it.id).map(|it| (it.owner.as_deref(), it.doc.as_str()));
            let may_update = existing.map(|(owner, document)| self.context.may_update(owner, document)).transpose()?;
            if may_update != Some(false) {
                items.push(TargetItem { index: first + n, id: &it.id, existing });
            }
        }
        Ok(items)
    }

    /// Items that may be looked over together: where values must be unique, no id comes twice, for what
    /// the first of them leaves decides on the second.
    fn parts<'c>(&self, mut rest: &'c [PendingChange]) -> Vec<&'c [PendingChange]> {
        if !unique::guards(self.context.collection()) {
            return vec![rest];
        }
        let mut parts = Vec::new();
        while !rest.is_empty() {
            let mut ids = HashSet::new();
            let (part, others) = rest.split_at(rest.iter().take_while(|it| ids.insert(&it.id)).count());
            parts.push(part);
            rest = others;
        }
        parts
    }

    /// Looks at what is there and writes what follows from it.
    async fn replace(&self, tx: &mut Tx<'_>, changes: &[&PendingChange]) -> Result<Vec<Result<ChangeResult>>> {
        let (context, references) = (&self.context, &self.context.references);
        let ids: Vec<String> = changes.iter().map(|it| it.id.clone()).collect();
        let there = context.existing(tx, &ids, DocumentPart::Whole).await?;
        let meeting = context.meeting(tx, &ids, self.condition.as_ref()).await?;
        // The items stand side by side in the call, which may be carried out in parts.
        let first = self.changes.iter().position(|it| changes.first().is_some_and(|first| std::ptr::eq(*first, it)));
        let first = first.unwrap_or_default();
        let mut refused = references.refusals(tx, context.collection(), first, &ids).await?;
        let items = self.translated(changes, first, &there)?;
        let mut translated = context.translations.prepare(tx, context.translator(), &items).await?;
        let mut batch = Batch::new(context, self.mode, there, meeting);
        for (n, it) in changes.iter().enumerate() {
            match refused.remove(&(first + n)).or_else(|| translated.refusals.remove(&(first + n))) {
                Some(fault) => batch.results.push(Err(fault)),
                None => batch.add(it),
            }
        }
        let mut results = batch.write(tx).await?;
        let written_ids: Vec<Option<&str>> =
            ids.iter().zip(&results).map(|(id, it)| it.is_ok().then_some(id.as_str())).collect();
        let written_id = |n: usize| written_ids.get(n).copied().flatten();
        let is_written = |n: usize| written_id(n).is_some();
        for it in references.write(tx, &context.events, first, (&ids, is_written)).await? {
            if let Some(Ok(result)) = results.get_mut(it.index - first) {
                result.unresolved.push(it);
            }
        }
        let (place, written_id) = ((&context.site, &**context.collection()), |n: usize| written_id(n - first));
        for (n, values) in context.translations.write(tx, place, translated, written_id).await? {
            if let Some(Ok(result)) = results.get_mut(n - first) {
                result.translation = values;
            }
        }
        Ok(results)
    }
}

/// The changes of a call with their results: a result for each, an entry for each id.
struct Batch<'c> {
    context: &'c WriteContext,
    mode: Mode,
    /// What was there before the call.
    there: HashMap<String, Existing>,
    /// The ids of items that the condition holds for, if there is one.
    meeting: Option<HashSet<String>>,
    results: Vec<Result<ChangeResult>>,
    entries: Vec<Entry>,
    entry_of: HashMap<String, usize>,
    updates: Vec<Update>,
    budget: PatchBudget,
}

/// What the item with one id becomes.
struct Entry {
    row: Row,
    is_new: bool,
    /// The result of the first change of this item; where values must be unique it is the only one.
    result: usize,
    is_refused: bool,
}

/// A change of an item that was there, or was made by a change before it.
struct Update {
    entry: usize,
    item: UpdatedItem,
}

impl<'c> Batch<'c> {
    fn new(
        context: &'c WriteContext,
        mode: Mode,
        there: HashMap<String, Existing>,
        meeting: Option<HashSet<String>>,
    ) -> Self {
        let (results, entries, updates) = (Vec::new(), Vec::new(), Vec::new());
        let (entry_of, budget) = (HashMap::new(), PatchBudget::default());
        Self { context, mode, there, meeting, results, entries, entry_of, updates, budget }
    }

    fn add(&mut self, change: &PendingChange) {
        let known = self.entry_of.get(&change.id).copied();
        let before = match known {
            Some(entry) => {
                let row = &self.entries[entry].row;
                Some(Before { created: row.created(), owner: row.owner(), doc: row.doc() })
            }
            None => self.there.get(&change.id).map(|it| Before {
                created: it.created,
                owner: it.owner.as_deref(),
                doc: &it.doc,
            }),
        };
        let (is_new, meeting) = (before.is_none(), self.meeting.as_ref());
        let row = decide(self.context, Decision { mode: self.mode, change, before, meeting }, &mut self.budget);
        // What can't be shown isn't written either: the caller would take it for not written.
        let (row, doc) = match row.and_then(|row| self.context.shown(&row).map(|doc| (row, doc))) {
            Ok(it) => it,
            Err(fault) => return self.results.push(Err(fault)),
        };
        let update = before.map(|it| self.context.events.update(it.doc, row.doc()));
        let entry = known.unwrap_or(self.entries.len());
        match known {
            Some(entry) => self.entries[entry].row = row,
            None => {
                self.entry_of.insert(change.id.clone(), entry);
                self.entries.push(Entry { row, is_new, result: self.results.len(), is_refused: false });
            }
        }
        self.updates.extend(update.map(|item| Update { entry, item }));
        self.results.push(Ok(ChangeResult { is_new, doc, translation: Values::new(), unresolved: Vec::new() }));
    }

    async fn write(mut self, tx: &mut Tx<'_>) -> Result<Vec<Result<ChangeResult>>> {
        let collection = self.context.collection();
        let is_guarded = unique::guards(collection);
        if is_guarded {
            // Written in the order of the call, for one may take the value that another gives up.
            let ids: Vec<String> = self.entries.iter().map(|it| it.row.id().to_owned()).collect();
            collection.statements.lock_rows(tx, &ids).await?;
            let rows: Vec<&Row> = self.entries.iter().map(|it| &it.row).collect();
            for (n, fault) in unique::breaches(tx, collection, &rows).await? {
                let entry = &mut self.entries[n];
                entry.is_refused = true;
                self.results[entry.result] = Err(fault);
            }
        }
        let entries = &self.entries;
        let rows: Vec<&Row> = entries.iter().filter(|it| !it.is_refused).map(|it| &it.row).collect();
        let values: Vec<_> = rows.iter().map(|it| it.values()).collect();
        if !rows.is_empty()
            && let Err(error) = tx.insert_rows(collection.statements.insert_rows(true, is_guarded, &values)).await
        {
            return Err(unique::refused(tx, collection, &rows, error));
        }
        let created = entries.iter().filter(|it| it.is_new && !it.is_refused).map(|it| it.row.doc());
        if created.clone().next().is_some() {
            self.context.events.created(tx, created).await?;
        }
        let updated = self.updates.into_iter().filter(|it| !entries[it.entry].is_refused).map(|it| it.item);
        let updated: Vec<UpdatedItem> = updated.collect();
        if !updated.is_empty() {
            self.context.events.updated(tx, &updated).await?;
        }
        Ok(self.results)
    }
}

/// What decides on the row of a change.
struct Decision<'d> {
    mode: Mode,
    change: &'d PendingChange,
    before: Option<Before<'d>>,
    meeting: Option<&'d HashSet<String>>,
}

fn decide(context: &WriteContext, decision: Decision<'_>, budget: &mut PatchBudget) -> Result<Row> {
    let id = &decision.change.id;
    let row = next_row(context, decision, budget)?;
    match context.may_leave(&row)? {
        true => Ok(row),
        false => Err(fault::item_not_found(context.collection().id.as_str(), id)),
    }
}

/// What the row becomes, by the caller's right to what is there.
fn next_row(context: &WriteContext, decision: Decision<'_>, budget: &mut PatchBudget) -> Result<Row> {
    let Decision { mode, change: PendingChange { id, value, seen }, before, meeting } = decision;
    let not_found = || -> Fault { fault::item_not_found(context.collection().id.as_str(), id) };
    let changed = || -> Fault { fault::item_changed(context.collection().id.as_str(), id) };
    if matches!(value, NewValue::Refused) {
        return Err(changed());
    }
    let Some(before) = before else {
        let NewValue::Whole(item) = value else { return Err(not_found()) };
        if mode != Mode::Save {
            return Err(not_found());
        }
        if matches!(seen, Some(Seen::Text(_))) {
            return Err(changed());
        }
        return context.new_row(id.clone(), item);
    };
    if !context.may_update(before.owner, before.doc)? {
        return Err(not_found());
    }
    if !meeting.is_none_or(|it| it.contains(id)) {
        return Err(fault::condition_failed(context.collection().id.as_str(), id));
    }
    if seen.as_ref().is_some_and(|it| *it != Seen::of(before.doc)) {
        return Err(changed());
    }
    context.changed_row(id.clone(), value, before, budget)
}
