//! A file read into a collection, batch by batch.
//!
//! Links are made in the transaction that saves their item. A value that leads to an item which isn't there
//! is deferred as a whole until the file has been read, since that item may stand further down; meanwhile the item
//! keeps the links it had. What then still isn't there is reported, and the links to the rest are made.

use crate::transfer::{
    FileOf, Record, Records, commanded,
    compare::{Verdict, compare},
    deferred::{DeferredLinks, DeferredValue},
    translations::Reader,
};
use crate::{
    Content, RequestContext,
    collection::{Collection, access::Command, translation::AllValues},
    drafts::Drafts,
    event::write::EventWriter,
    fault,
    item::{
        change::{Change, ChangeResult, Mode, PendingChange, change},
        hooked::WriteHooks,
        references::{self, ReferenceChanges, ResolutionPolicy, Unresolved},
        row::{NewValue, WriteContext},
        translation::TranslationChanges,
    },
    reference::{calls::link_access, link::visible},
    schema::level::Operation,
    wire::items::check_id,
};
use serde_json::{Map, Value};
use std::{io::Read, mem, sync::Arc};
use stoa_hooks::Hook;
use stoa_kernel::{Caller, Code, Fault, Result};
use stoa_query::RawId;
use stoa_store::{Site, boxed};

/// Items of one transaction.
pub const BATCH: usize = 1000;
/// Bytes of text that a batch may have before it is written with fewer items.
const BATCH_BYTES: usize = 4 * 1024 * 1024;
/// Links that a transaction may make before it is written with fewer items, beside those of its last item.
const BATCH_LINKS: usize = 1000;

/// Items of one transaction where hooks are asked about each, which have so long for all of them together as for a request.
const HOOKED: usize = 100;

/// How far an import is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    pub inserted: u64,
    pub updated: u64,
    /// Items that are there as the file has them, where these are left alone ([`ImportOptions::key`]).
    pub unchanged: u64,
    pub failed: u64,
    /// Nothing for a collection without multi-references.
    pub links: Option<LinkCounts>,
}

/// The links that the items of a file came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LinkCounts {
    /// Those that are there now, whether or not they were before.
    pub made: u64,
    /// Those that lead to items which aren't there. Known when the file has been read.
    pub missing: u64,
}

/// How a file is read into a collection.
#[derive(Debug, Clone, Copy, Default)]
pub struct ImportOptions<'a> {
    /// The field whose value is the id of an item without `_id`. Items that are there as the file has them are left
    /// alone, so that the same file again changes nothing; but not in a collection with multi-references.
    pub key: Option<&'a str>,
    /// Nothing is written: each item is compared with what is there before the import. Links are not looked at.
    pub is_dry_run: bool,
    /// The site's hooks are asked about each item, as a save asks them. What a hook that comes after throws is in their log.
    pub asks_hooks: bool,
}

/// What an import reports while it runs.
pub enum Event<'a> {
    /// A batch is written for good.
    Progress(Counts),
    /// An item was refused.
    Refused { line: u64, fault: &'a Fault },
    /// An item was saved without one of its links; its `propertyName` is in the fault's data.
    Unlinked { line: u64, fault: &'a Fault },
}

impl Content {
    /// Reads items from `source` and saves them. Their `_createdDate` and `_owner` count, and the ids in their
    /// multi-references become links; a field that an item doesn't have keeps its links.
    ///
    /// Reading blocks the thread it is called on.
    ///
    /// # Errors
    /// WDE0027 unless the caller is privileged, WDE0025 for the collection, WDE0080 with the line where the
    /// file can't be read on; batches before that stay.
    pub async fn import(
        &self,
        site: &Site,
        caller: &Caller,
        file: FileOf<'_>,
        source: impl Read,
        tell: impl FnMut(Event<'_>),
    ) -> Result<Counts> {
        self.import_with(site, caller, file, ImportOptions::default(), source, tell).await
    }

    /// [`Content::import`] in another way.
    ///
    /// # Errors
    /// As for import.
    pub async fn import_with(
        &self,
        site: &Site,
        caller: &Caller,
        file: FileOf<'_>,
        options: ImportOptions<'_>,
        source: impl Read,
        tell: impl FnMut(Event<'_>),
    ) -> Result<Counts> {
        let context = RequestContext::new(self, site, caller, Drafts::Included);
        let (command, collection) = commanded(context, file.collection).await?;
        let mut records = Records::new(file.format, source, &collection);
        let mut import = Import::new(context, command, collection, options, tell).await?;
        loop {
            let (mut batch, mut bytes) = (Vec::with_capacity(BATCH), 0);
            let mut is_over = true;
            let mut broken = None;
            for it in records.by_ref() {
                match it {
                    Ok(it) => {
                        bytes += it.size();
                        batch.push(it);
                    }
                    Err(fault) => {
                        broken = Some(fault);
                        break;
                    }
                }
                if batch.len() == BATCH || bytes > BATCH_BYTES {
                    is_over = false;
                    break;
                }
            }
            import.batch(batch).await?;
            if let Some(fault) = broken {
                return Err(fault);
            }
            if is_over {
                return import.end().await;
            }
        }
    }
}

/// The change that an item of a file asks for, and what the item is to be in other languages.
fn parse(
    content: &Content,
    reader: Reader<'_>,
    text: &str,
    key: Option<&str>,
    (index, references): (usize, &mut ReferenceChanges),
) -> Result<(PendingChange, Option<AllValues>)> {
    let (mut item, translations) = reader.item(text)?;
    if let (Some(key), RawId::Absent) = (key, &item.id) {
        item.id = RawId::Text(key_of(text, key)?);
    }
    references.take(index, &mut item)?;
    let id = match mem::replace(&mut item.id, RawId::Absent) {
        RawId::Text(id) => {
            check_id(&id, content.limits())?;
            id
        }
        RawId::Absent => content.state.world.uuid(),
        RawId::Null | RawId::Other => return Err(Fault::new(Code::ItemIdInvalid)),
    };
    Ok((PendingChange { id, value: NewValue::Whole(item), seen: None }, translations))
}

/// An item's text with the id that it has by a field, and that id. One with an `_id` stays as it is.
///
/// # Errors
/// MALFORMED_JSON; WDE0007 for an item without `_id` that has no text or number in the field.
pub fn with_id_of(text: String, key: &str) -> Result<(Option<String>, String)> {
    let item: Value = serde_json::from_str(&text).map_err(|it| Fault::because(Code::MalformedJson, it.to_string()))?;
    if let Some(id) = item.get("_id") {
        return Ok((id.as_str().map(str::to_owned), text));
    }
    let id = key_of(&text, key)?;
    let text = text.replacen('{', &format!("{{\"_id\":{},", Value::from(id.as_str())), 1);
    Ok((Some(id), text))
}

/// The id that an item has by a field: its text, or its number as text.
fn key_of(text: &str, key: &str) -> Result<String> {
    let item: Value = serde_json::from_str(text).unwrap_or_default();
    match &item[key] {
        Value::String(text) if !text.is_empty() => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        _ => {
            let why = format!("The item has no text or number in {key}, which is to be its id.");
            Err(Fault::because(Code::ItemIdInvalid, why).with("propertyName", key))
        }
    }
}

/// An import at work.
struct Import<'a, F> {
    context: RequestContext<'a>,
    command: Command,
    collection: Arc<Collection>,
    options: ImportOptions<'a>,
    counts: Counts,
    deferred: DeferredLinks,
    tell: F,
}

/// Items of one transaction, with their lines.
struct Part {
    changes: Vec<PendingChange>,
    lines: Vec<u64>,
    /// What the items are to be in other languages, of those that say so.
    translations: Vec<Option<AllValues>>,
    references: ReferenceChanges,
}

impl<'a, F: FnMut(Event<'_>)> Import<'a, F> {
    async fn new(
        context: RequestContext<'a>,
        command: Command,
        collection: Arc<Collection>,
        options: ImportOptions<'a>,
        tell: F,
    ) -> Result<Self> {
        let deferred = DeferredLinks::new(&context.site.scratch);
        let mut import = Self { context, command, collection, options, counts: Counts::default(), deferred, tell };
        let has_links = import.part().await?.references.has_fields();
        import.counts.links = has_links.then(LinkCounts::default);
        Ok(import)
    }

    async fn part(&self) -> Result<Part> {
        let references = references::of_import(self.context, &self.collection, ResolutionPolicy::Defer).await?;
        Ok(Part { changes: Vec::new(), lines: Vec::new(), translations: Vec::new(), references })
    }

    /// Saves the items of one batch, in one transaction unless they bring many links.
    async fn batch(&mut self, batch: Vec<Record>) -> Result<()> {
        let mut part = self.part().await?;
        for Record { line, text } in batch {
            let text = match text {
                Ok(it) => it,
                Err(fault) => {
                    self.refuse(line, &fault);
                    continue;
                }
            };
            let (content, key) = (self.context.content, self.options.key);
            let (collection, limits) = (self.collection.clone(), content.limits());
            let reader =
                Reader { collection: &collection, caller: self.context.caller, limits, now: content.state.world.now() };
            let mut change = parse(content, reader, &text, key, (part.changes.len(), &mut part.references));
            let is_too_much = matches!(&change, Err(it) if it.code() == Code::TooManyItems);
            if is_too_much && !part.changes.is_empty() {
                let full = mem::replace(&mut part, self.part().await?);
                self.save(full).await?;
                change = parse(content, reader, &text, key, (0, &mut part.references));
            }
            match change {
                Ok((it, translations)) => {
                    part.changes.push(it);
                    part.lines.push(line);
                    part.translations.push(translations);
                }
                Err(fault) => self.refuse(line, &fault),
            }
            let is_long = self.options.asks_hooks && part.changes.len() >= HOOKED;
            if is_long || part.references.link_count() >= BATCH_LINKS {
                let full = mem::replace(&mut part, self.part().await?);
                self.save(full).await?;
            }
        }
        self.save(part).await?;
        (self.tell)(Event::Progress(self.counts));
        Ok(())
    }

    /// Saves items in one transaction and counts what became of each.
    async fn save(&mut self, part: Part) -> Result<()> {
        let compares = self.options.is_dry_run || self.options.key.is_some() && self.counts.links.is_none();
        let Part { changes, lines, translations, references } = if compares { self.sift(part).await? } else { part };
        if changes.is_empty() {
            return Ok(());
        }
        let ids: Vec<String> = changes.iter().map(|it| it.id.clone()).collect();
        let references = Arc::new(references);
        let RequestContext { content, site, .. } = self.context;
        let mut write = WriteContext::load(content, site, self.command.import(&self.collection)).await?;
        write.references = references.clone();
        let translations = translations.into_iter().enumerate().filter_map(|(n, it)| Some((n, it?)));
        write.translations = Arc::new(TranslationChanges::of_import(&self.collection, translations));
        let call = Change { context: Arc::new(write), mode: Mode::Save, changes, condition: None };
        let results = self.written(call).await?;
        for (n, ((line, item), result)) in lines.into_iter().zip(ids).zip(results).enumerate() {
            match result {
                Ok(it) => {
                    let count = if it.is_new { &mut self.counts.inserted } else { &mut self.counts.updated };
                    *count += 1;
                    for (field, key, ids) in references.values(n) {
                        let is_linked = !it.unresolved.iter().any(|it| it.field == field);
                        let (item, key, ids) = (item.clone(), key.to_owned(), ids.to_vec());
                        self.count_value(DeferredValue { line, item, field: key, ids, is_linked }, it.is_new)?;
                    }
                }
                Err(fault) => self.refuse(line, &fault),
            }
        }
        Ok(())
    }

    /// Saves items, by way of their hooks if these are to be asked.
    async fn written(&self, call: Change) -> Result<Vec<Result<ChangeResult>>> {
        if !self.options.asks_hooks {
            return change(self.context.site, call).await;
        }
        let mut hooks = WriteHooks::load(self.context, &self.collection, &Map::new()).await?;
        let results = hooks.change(call).await?;
        for (hook, is_new) in [(Hook::AfterInsert, true), (Hook::AfterUpdate, false)] {
            let written = || results.iter().flatten().filter(|it| it.is_new == is_new).map(|it| it.doc.as_str());
            hooks.ahead_of_after(hook, written()).await?;
            for document in written() {
                // The item is there, whatever the hook says of it.
                let _ = hooks.calls.ask(hook, document, None).await;
            }
        }
        Ok(results)
    }

    /// Leaves out the items that are there as the file has them, and in a dry run all: they are counted as what
    /// they would come to.
    async fn sift(&mut self, part: Part) -> Result<Part> {
        let RequestContext { content, site, .. } = self.context;
        let is_dry_run = self.options.is_dry_run;
        let write = WriteContext::load(content, site, self.command.import(&self.collection)).await?;
        let verdicts = compare(site, write, (&part.changes, &part.translations), is_dry_run).await?;
        let mut rest =
            Part { changes: Vec::new(), lines: Vec::new(), translations: Vec::new(), references: part.references };
        let items = part.changes.into_iter().zip(part.lines).zip(part.translations);
        for (((change, line), translations), verdict) in items.zip(verdicts) {
            match verdict {
                Verdict::Same => self.counts.unchanged += 1,
                _ if !is_dry_run => {
                    rest.changes.push(change);
                    rest.lines.push(line);
                    rest.translations.push(translations);
                }
                Verdict::New => self.counts.inserted += 1,
                Verdict::Changed => self.counts.updated += 1,
                Verdict::Refused(fault) => self.refuse(line, &fault),
            }
        }
        Ok(rest)
    }

    /// Counts a value whose links were made, and keeps one whose links are to be made at the end.
    ///
    /// An item that stands in the file twice has the links of its last value. If the first one is deferred,
    /// the last one must come after it once more; an item that is new was not there before.
    fn count_value(&mut self, value: DeferredValue, is_new: bool) -> Result<()> {
        if value.is_linked {
            self.links().made += value.ids.len() as u64;
        }
        if !value.is_linked || !is_new && !self.deferred.is_empty {
            self.deferred.put(&value)?;
        }
        Ok(())
    }

    /// Makes the links that were deferred.
    async fn end(mut self) -> Result<Counts> {
        let deferred = mem::replace(&mut self.deferred, DeferredLinks::new(&self.context.site.scratch));
        if deferred.is_empty {
            return Ok(self.counts);
        }
        let (mut values, mut links) = (Vec::new(), 0);
        for it in deferred.read()? {
            let it = it?;
            links += it.ids.len();
            values.push(it);
            if values.len() == BATCH || links >= BATCH_LINKS {
                self.link(mem::take(&mut values)).await?;
                links = 0;
            }
        }
        self.link(values).await?;
        Ok(self.counts)
    }

    /// Makes the links of values in one transaction and reports which can't be made.
    async fn link(&mut self, values: Vec<DeferredValue>) -> Result<()> {
        let mut references = references::of_import(self.context, &self.collection, ResolutionPolicy::Skip).await?;
        for (n, it) in values.iter().enumerate() {
            references.add_value(n, &it.field, it.ids.clone())?;
        }
        let sources: Vec<String> = values.iter().map(|it| it.item.clone()).collect();
        let RequestContext { content, site, caller, .. } = self.context;
        let events = EventWriter::new(&site.id, &self.collection, caller, content.state.world.now()).for_import();
        let input = (self.command.import(&self.collection), references, sources, events);
        let linked = site.write_with(input, |tx, (access, references, sources, events)| {
            boxed!({
                references.refusals(tx, access.collection(), 0, sources).await?;
                // An item may have been removed since it was saved.
                let scope = access.scope(Operation::Update)?;
                let there = visible(tx, access.collection(), &scope, sources.clone()).await?;
                let is_there = |n: usize| there.contains(&sources[n]);
                let unresolved = references.write(tx, events, 0, (sources, is_there)).await?;
                Ok((there, unresolved))
            })
        });
        let (there, unresolved) = linked.await?;
        let is_new = |it: &DeferredValue| !it.is_linked && there.contains(&it.item);
        for (n, it) in values.iter().enumerate().filter(|it| is_new(it.1)) {
            let missing = unresolved.iter().find(|it| it.index == n);
            let missing = missing.map_or(&[][..], |it: &Unresolved| it.ids.as_slice());
            self.links().made += (it.ids.len() - missing.len()) as u64;
            for id in missing {
                let fault = self.unlinked(&it.field, id).await;
                self.links().missing += 1;
                (self.tell)(Event::Unlinked { line: it.line, fault: &fault });
            }
        }
        (self.tell)(Event::Progress(self.counts));
        Ok(())
    }

    /// Why there is no link by this field to the item with this id.
    async fn unlinked(&self, field: &str, id: &str) -> Fault {
        let fault = match link_access(self.context, &self.collection, field).await {
            Ok(it) => fault::item_not_found(it.target.id.as_str(), id),
            Err(fault) => fault.with("itemId", id),
        };
        fault.with("propertyName", field)
    }

    fn refuse(&mut self, line: u64, fault: &Fault) {
        self.counts.failed += 1;
        (self.tell)(Event::Refused { line, fault });
    }

    fn links(&mut self) -> &mut LinkCounts {
        self.counts.links.get_or_insert_default()
    }
}
