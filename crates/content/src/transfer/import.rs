//! A file read into a collection, batch by batch.
//!
//! Links are made in the transaction that saves their item. A value that leads to an item which isn't there
//! waits as a whole until the file has been read, since that item may stand further down; meanwhile the item
//! keeps the links it had. What then still isn't there is told, and the links to the rest are made.

use crate::transfer::{
    Format, Record, Records,
    waiting::{Value, Waiting},
};
use crate::{
    Collection, Content,
    item::{
        references::{Lack, Saving},
        write::{self, Draft, Incoming, Mode},
    },
    reference::link::visible,
    schema::level::{self, Operation},
    wire::items::check_id,
};
use std::{io::Read, mem, sync::Arc};
use stoa_kernel::{Caller, Code, Fault, Result};
use stoa_query::SentId;
use stoa_store::{Site, boxed};

/// Items of one transaction.
pub const BATCH: usize = 1000;
/// Bytes of text that a batch may have before it is written with fewer items.
const BATCH_BYTES: usize = 4 * 1024 * 1024;
/// Links that a transaction may make before it is written with fewer items, beside those of its last item.
const BATCH_LINKS: usize = 1000;

/// What an import has come to so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    pub inserted: u64,
    pub updated: u64,
    pub failed: u64,
    /// Nothing for a collection without multi-references.
    pub links: Option<Links>,
}

/// The links that the items of a file came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Links {
    /// Those that are there now, whether or not they were before.
    pub made: u64,
    /// Those that lead to items which aren't there. Known when the file has been read.
    pub missing: u64,
}

/// What an import tells while it runs.
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
        collection: &str,
        format: Format,
        source: impl Read,
        tell: impl FnMut(Event<'_>),
    ) -> Result<Counts> {
        let collection = self.privileged(site, caller, collection).await?;
        let mut records = Records::new(format, source, &collection);
        let mut import = Import::new(self, site, caller, collection, tell).await?;
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

    fn imported(&self, text: &str, index: usize, saving: &mut Saving) -> Result<Incoming> {
        let mut item = stoa_query::canonical(text, self.limits().query.item())?;
        saving.take(index, &mut item)?;
        let id = match mem::replace(&mut item.id, SentId::Absent) {
            SentId::Text(id) => {
                check_id(&id, self.limits())?;
                id
            }
            SentId::Absent => self.world().uuid(),
            SentId::Null | SentId::Other => return Err(Fault::new(Code::ItemIdInvalid)),
        };
        Ok(Incoming { id, draft: Draft::Whole(item) })
    }
}

/// An import at work.
struct Import<'a, F> {
    content: &'a Content,
    site: &'a Site,
    caller: &'a Caller,
    collection: Arc<Collection>,
    counts: Counts,
    waiting: Waiting,
    tell: F,
}

/// Items of one transaction, with their lines.
struct Part {
    items: Vec<Incoming>,
    lines: Vec<u64>,
    saving: Saving,
}

impl<'a, F: FnMut(Event<'_>)> Import<'a, F> {
    async fn new(
        content: &'a Content,
        site: &'a Site,
        caller: &'a Caller,
        collection: Arc<Collection>,
        tell: F,
    ) -> Result<Self> {
        let waiting = Waiting::new(&site.scratch);
        let mut import = Self { content, site, caller, collection, counts: Counts::default(), waiting, tell };
        let has_links = import.part().await?.saving.has_fields();
        import.counts.links = has_links.then(Links::default);
        Ok(import)
    }

    async fn part(&self) -> Result<Part> {
        let saving = self.content.importing(self.site, self.caller, &self.collection).await?;
        Ok(Part { items: Vec::new(), lines: Vec::new(), saving })
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
            let mut item = self.content.imported(&text, part.items.len(), &mut part.saving);
            let is_too_much = matches!(&item, Err(it) if it.code() == Code::TooManyItems);
            if is_too_much && !part.items.is_empty() {
                let full = mem::replace(&mut part, self.part().await?);
                self.save(full).await?;
                item = self.content.imported(&text, 0, &mut part.saving);
            }
            match item {
                Ok(it) => {
                    part.items.push(it);
                    part.lines.push(line);
                }
                Err(fault) => self.refuse(line, &fault),
            }
            if part.saving.link_count() >= BATCH_LINKS {
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
        let Part { items, lines, saving } = part;
        if items.is_empty() {
            return Ok(());
        }
        let ids: Vec<String> = items.iter().map(|it| it.id.clone()).collect();
        let saving = Arc::new(saving);
        let mut target = self.content.target(self.site, self.caller, &self.collection).await?;
        target.is_import = true;
        target.author = target.author.importing();
        target.saving = saving.clone();
        let answers = write::change(self.site, &target, Mode::Save, items, None).await?;
        for (n, ((line, id), answer)) in lines.into_iter().zip(ids).zip(answers).enumerate() {
            match answer {
                Ok(it) => {
                    let count = if it.is_new { &mut self.counts.inserted } else { &mut self.counts.updated };
                    *count += 1;
                    for (field, key, ids) in saving.values(n) {
                        self.note(line, &id, key, ids, it.is_new, it.lacks.iter().any(|it| it.field == field))?;
                    }
                }
                Err(fault) => self.refuse(line, &fault),
            }
        }
        Ok(())
    }

    /// Counts a value whose links were made, and keeps one whose links are to be made at the end.
    ///
    /// An item that stands in the file twice has the links of its last value. If the first one waits, the
    /// last one must come after it once more; an item that is new was not there before.
    fn note(
        &mut self,
        line: u64,
        item: &str,
        field: &str,
        ids: &[String],
        is_new: bool,
        is_lacking: bool,
    ) -> Result<()> {
        if !is_lacking {
            self.links().made += ids.len() as u64;
        }
        if is_lacking || !is_new && !self.waiting.is_empty {
            let (item, field, ids) = (item.to_owned(), field.to_owned(), ids.to_vec());
            self.waiting.put(&Value { line, item, field, ids, is_linked: !is_lacking })?;
        }
        Ok(())
    }

    /// Makes the links that waited.
    async fn end(mut self) -> Result<Counts> {
        let waiting = mem::replace(&mut self.waiting, Waiting::new(&self.site.scratch));
        if waiting.is_empty {
            return Ok(self.counts);
        }
        let (mut values, mut links) = (Vec::new(), 0);
        for it in waiting.read()? {
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

    /// Makes the links of values in one transaction and tells which can't be made.
    async fn link(&mut self, values: Vec<Value>) -> Result<()> {
        let mut saving = self.content.trying(self.site, self.caller, &self.collection).await?;
        for (n, it) in values.iter().enumerate() {
            saving.add_value(n, &it.field, it.ids.clone())?;
        }
        let ids = values.iter().map(|it| it.item.clone()).collect();
        let work = Arc::new((self.collection.clone(), saving, ids, self.caller.clone()));
        let done = self.site.write(move |tx| {
            let work = work.clone();
            boxed!({
                let (collection, saving, ids, caller): &(Arc<Collection>, Saving, Vec<String>, Caller) = &work;
                saving.refusals(tx, collection, 0, ids).await?;
                // Somebody may have removed an item since it was saved.
                let scope = level::scope(caller, Operation::Update, collection)?;
                let there = visible(tx, collection, &scope, ids.clone()).await?;
                let is_there = |n: usize| ids.get(n).filter(|it| there.contains(*it)).map(String::as_str);
                let lacks = saving.write(tx, 0, is_there).await?;
                Ok((there, lacks))
            })
        });
        let (there, lacks) = done.await?;
        let is_new = |it: &Value| !it.is_linked && there.contains(&it.item);
        for (n, it) in values.iter().enumerate().filter(|it| is_new(it.1)) {
            let lacking = lacks.iter().find(|lack| lack.index == n).map_or(&[][..], |it: &Lack| it.ids.as_slice());
            self.links().made += (it.ids.len() - lacking.len()) as u64;
            for id in lacking {
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
        let fault = match self.content.linkable(self.site, self.caller, &self.collection, field).await {
            Ok(it) => write::missing(&it.far, id),
            Err(fault) => fault.with("itemId", id),
        };
        fault.with("propertyName", field)
    }

    fn refuse(&mut self, line: u64, fault: &Fault) {
        self.counts.failed += 1;
        (self.tell)(Event::Refused { line, fault });
    }

    fn links(&mut self) -> &mut Links {
        self.counts.links.get_or_insert_default()
    }
}
