//! Many items in one call and one transaction, each with an answer of its own (protocol/content.md 3.4).

use crate::{
    Collection, Content, Item, Operation, Request,
    item::{
        calls::{may_save, patched, readable, replaced},
        write::{self, Draft, Incoming, Mode, Target, Written, exists, missing},
    },
    schema::level,
    wire::{items::Sent, patch::Patch},
};
use std::{collections::HashSet, sync::Arc};
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

/// Items don't come by the thousand where there is but one (protocol/content.md 21.10).
fn refuse_single(collection: &Collection) -> Result<()> {
    match collection.definition.single_item() {
        None => Ok(()),
        Some(_) => {
            let text = format!("The {} collection has one item only.", collection.id);
            Err(Fault::because(Code::NotSupported, text))
        }
    }
}

/// A call that changes items: those that can be tried, and an answer for each.
struct Call {
    action: Action,
    outcomes: Vec<Outcome>,
    items: Vec<Incoming>,
    /// Which outcome each of the items has.
    places: Vec<usize>,
}

impl Call {
    fn new(action: Action, size: usize) -> Self {
        let (outcomes, items, places) = (Vec::with_capacity(size), Vec::with_capacity(size), Vec::with_capacity(size));
        Self { action, outcomes, items, places }
    }

    /// The next item, or the id and the fault of one that can't even be tried.
    fn add(&mut self, item: Result<Incoming, (Option<String>, Fault)>) {
        self.outcomes.push(match item {
            Ok(it) => {
                let id = Some(it.id.clone());
                self.items.push(it);
                self.places.push(self.outcomes.len());
                Outcome { action: self.action, id, fault: None, item: None }
            }
            Err((id, fault)) => Outcome::refused(self.action, id, fault),
        });
    }

    async fn write(
        mut self,
        site: &Site,
        target: &Target,
        mode: Mode,
        condition: Option<Filter>,
        show: impl Fn(Written) -> Option<Item>,
    ) -> Result<Vec<Outcome>> {
        if self.items.is_empty() {
            return Ok(self.outcomes);
        }
        let written = write::change(site, target, mode, self.items, condition).await?;
        for (place, answer) in self.places.into_iter().zip(written) {
            let outcome = &mut self.outcomes[place];
            match answer {
                Ok(it) => {
                    outcome.action = if it.is_new { Action::Insert } else { self.action };
                    outcome.item = show(it);
                }
                Err(fault) => outcome.fault = Some(fault),
            }
        }
        Ok(self.outcomes)
    }
}

impl Content {
    /// Inserts items; those whose id is taken, or that aren't valid, are refused one by one.
    ///
    /// # Errors
    /// WDE0005, WDE0006, WDE0025, WDE0027: nothing is written.
    pub async fn item_bulk_insert(&self, site: &Site, caller: &Caller, request: &Request<'_>) -> Result<Vec<Outcome>> {
        let collection = self.collection(site, request.collection(caller)?).await?;
        level::may_insert(caller, &collection)?;
        refuse_single(&collection)?;
        let (items, shows_items) = (request.items(self.limits())?, request.wants_items()?);
        let mut target = self.target(site, caller, &collection).await?;
        let mut saving = self.saving_for(site, caller, &collection, request).await?;
        let mut outcomes = Vec::with_capacity(items.len());
        let (mut rows, mut places) = (Vec::with_capacity(items.len()), Vec::with_capacity(items.len()));
        let mut ids = HashSet::with_capacity(items.len());
        for (n, it) in items.iter().enumerate() {
            let row = self.whole(it, true).and_then(|(id, mut item)| {
                if !ids.insert(id.clone()) {
                    return Err((Some(id.clone()), exists(&collection, &id)));
                }
                let taken = saving.take(rows.len(), &mut item);
                taken.and_then(|()| target.new_row(id.clone(), &item)).map_err(|fault| (Some(id), fault))
            });
            outcomes.push(match row {
                Ok(row) => {
                    let id = Some(write::id(&row).to_owned());
                    rows.push(row);
                    places.push(n);
                    Outcome { action: Action::Insert, id, fault: None, item: None }
                }
                Err((id, fault)) => Outcome::refused(Action::Insert, id, fault),
            });
        }
        if rows.is_empty() {
            return Ok(outcomes);
        }
        let rows = Arc::new(rows);
        target.saving = Arc::new(saving);
        let answers = write::insert(site, &target, rows.clone()).await?;
        for ((place, answer), row) in places.into_iter().zip(answers).zip(rows.iter()) {
            match answer {
                Ok(()) if shows_items => {
                    outcomes[place].item = Some(Item::new(&collection, target.shown(row)?));
                }
                Ok(()) => {}
                Err(fault) => outcomes[place].fault = Some(fault),
            }
        }
        Ok(outcomes)
    }

    /// Replaces items; those that aren't there, aren't the caller's to change or don't meet the condition
    /// are refused one by one.
    ///
    /// # Errors
    /// As for insert.
    pub async fn item_bulk_update(&self, site: &Site, caller: &Caller, request: &Request<'_>) -> Result<Vec<Outcome>> {
        let collection = self.collection(site, request.collection(caller)?).await?;
        level::scope(caller, Operation::Update, &collection)?;
        let condition = self.condition(site, caller, request, &collection).await?;
        self.change_many(site, caller, collection, Mode::Update, request, condition).await
    }

    /// Updates the items that are there and inserts the others.
    ///
    /// # Errors
    /// As for insert.
    pub async fn item_bulk_save(&self, site: &Site, caller: &Caller, request: &Request<'_>) -> Result<Vec<Outcome>> {
        let collection = self.collection(site, request.collection(caller)?).await?;
        may_save(caller, &collection)?;
        refuse_single(&collection)?;
        self.change_many(site, caller, collection, Mode::Save, request, None).await
    }

    /// Changes the fields that patches name; those that can't be applied are refused one by one.
    ///
    /// # Errors
    /// WDE0080 for no patches, WDE0006, WDE0025, WDE0027: nothing is written.
    pub async fn item_bulk_patch(&self, site: &Site, caller: &Caller, request: &Request<'_>) -> Result<Vec<Outcome>> {
        let collection = self.collection(site, request.collection(caller)?).await?;
        level::scope(caller, Operation::Update, &collection)?;
        let condition = self.condition(site, caller, request, &collection).await?;
        let (sent, shows_items) = (request.patches(self.limits())?, request.wants_items()?);
        let mut saving = self.saving(site, caller, &collection, true).await?;
        let mut call = Call::new(Action::Patch, sent.len());
        for it in sent {
            let patch = saving.take_patch(call.items.len(), it);
            call.add(match patch.and_then(|it| Patch::parse(&it, caller, &collection, self.limits().query.item())) {
                Ok(it) if it.id.contains('\0') => Err((Some(it.id.clone()), missing(&collection, &it.id))),
                Ok(it) => Ok(Incoming { id: it.id, draft: Draft::Patch(it.modifications) }),
                Err(fault) => Err((Patch::id_of(it).map(str::to_owned), fault)),
            });
        }
        let mut target = self.target(site, caller, &collection).await?;
        target.saving = Arc::new(saving);
        let show = |it: Written| shows_items.then(|| patched(&collection, caller, it.doc));
        call.write(site, &target, Mode::Update, condition, show).await
    }

    /// Removes items by their ids.
    ///
    /// # Errors
    /// WDE0068, WDE0069, WDE0025, WDE0027: nothing is removed.
    pub async fn item_bulk_remove(&self, site: &Site, caller: &Caller, request: &Request<'_>) -> Result<Vec<Outcome>> {
        let collection = self.collection(site, request.collection(caller)?).await?;
        level::scope(caller, Operation::Remove, &collection)?;
        let condition = self.condition(site, caller, request, &collection).await?;
        let (ids, shows_items) = (request.item_ids(self.limits())?, request.wants_items()?);
        let known = ids.iter().filter(|it| !it.contains('\0')).map(|it| (*it).to_owned()).collect();
        let target = self.target(site, caller, &collection).await?;
        let mut answers = write::remove(site, &target, known, condition, shows_items).await?.into_iter();
        let outcome = |id: &str| {
            let answer = if id.contains('\0') { None } else { answers.next() };
            let (fault, item) = match answer.unwrap_or_else(|| Err(missing(&collection, id))) {
                Ok(doc) if shows_items => (None, readable(&collection, caller, doc)),
                Ok(_) => (None, None),
                Err(fault) => (Some(fault), None),
            };
            Outcome { action: Action::Delete, id: Some(id.to_owned()), fault, item }
        };
        Ok(ids.into_iter().map(outcome).collect())
    }

    async fn change_many(
        &self,
        site: &Site,
        caller: &Caller,
        collection: Arc<Collection>,
        mode: Mode,
        request: &Request<'_>,
        condition: Option<Filter>,
    ) -> Result<Vec<Outcome>> {
        let (sent, shows_items) = (request.items(self.limits())?, request.wants_items()?);
        let mut saving = self.saving_for(site, caller, &collection, request).await?;
        let mut call = Call::new(Action::Update, sent.len());
        for it in sent {
            let incoming = self.whole(it, mode == Mode::Save).and_then(|(id, mut item)| {
                match saving.take(call.items.len(), &mut item) {
                    Ok(()) => Ok(Incoming { id, draft: Draft::Whole(item) }),
                    Err(fault) => Err((Some(id), fault)),
                }
            });
            call.add(incoming);
        }
        let mut target = self.target(site, caller, &collection).await?;
        target.saving = Arc::new(saving);
        let show = |it: Written| shows_items.then(|| replaced(&collection, caller, it));
        call.write(site, &target, mode, condition, show).await
    }

    /// An element of `dataItems`, with an id of ours when it may come without. In a list an id that is
    /// null or empty is an error like any other (protocol/content.md 20, trap 20).
    fn whole(&self, sent: &Sent<'_>, makes_id: bool) -> Result<(String, CanonicalItem), (Option<String>, Fault)> {
        let (id, item): (Option<String>, CanonicalItem) = match sent.canonical(self.limits()) {
            Ok(it) => it,
            Err(fault) => return Err((sent.id().map(str::to_owned), fault)),
        };
        match id {
            Some(id) => Ok((id, item)),
            None if makes_id => Ok((self.world().uuid(), item)),
            None => Err((None, Fault::because(Code::ItemIdInvalid, "An update needs the item's _id."))),
        }
    }
}
