//! Many items in one call and one transaction, each with an answer of its own (protocol/content.md 3.4).

use crate::{
    Collection, Content, Item, Operation, Request,
    item::{may_save, readable},
    rule,
    sent::Sent,
    write::{self, Incoming, Mode, Target, exists, missing},
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

impl Content {
    /// Inserts items; those whose id is taken, or that aren't valid, are refused one by one.
    ///
    /// # Errors
    /// WDE0005, WDE0006, WDE0025, WDE0027: nothing is written.
    pub async fn item_bulk_insert(&self, site: &Site, caller: &Caller, request: &Request<'_>) -> Result<Vec<Outcome>> {
        let collection = self.collection(site, request.collection(caller)?).await?;
        rule::may_insert(caller, &collection)?;
        let (items, shows_items) = (request.items(self.limits())?, request.wants_items()?);
        let target = Target::new(self, site, collection.clone(), caller);
        let mut outcomes = Vec::with_capacity(items.len());
        let (mut rows, mut places) = (Vec::with_capacity(items.len()), Vec::with_capacity(items.len()));
        let mut ids = HashSet::with_capacity(items.len());
        for (n, it) in items.iter().enumerate() {
            let row = self.incoming(it, true).and_then(|it| {
                if !ids.insert(it.id.clone()) {
                    return Err((Some(it.id.clone()), exists(&collection, &it.id)));
                }
                let id = it.id.clone();
                target.new_row(it.id, &it.item).map_err(|fault| (Some(id), fault))
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
        let is_new = write::insert(site, &target, rows.clone()).await?;
        for ((place, is_new), row) in places.into_iter().zip(is_new).zip(rows.iter()) {
            match is_new {
                true if shows_items => {
                    outcomes[place].item = Some(Item::new(&collection, write::doc(row).to_owned()));
                }
                true => {}
                false => outcomes[place].fault = Some(exists(&collection, write::id(row))),
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
        rule::scope(caller, Operation::Update, &collection)?;
        let condition = self.condition(request, caller, &collection)?;
        self.change_many(site, caller, collection, Mode::Update, request, condition).await
    }

    /// Updates the items that are there and inserts the others.
    ///
    /// # Errors
    /// As for insert.
    pub async fn item_bulk_save(&self, site: &Site, caller: &Caller, request: &Request<'_>) -> Result<Vec<Outcome>> {
        let collection = self.collection(site, request.collection(caller)?).await?;
        may_save(caller, &collection)?;
        self.change_many(site, caller, collection, Mode::Save, request, None).await
    }

    /// Removes items by their ids.
    ///
    /// # Errors
    /// WDE0068, WDE0069, WDE0025, WDE0027: nothing is removed.
    pub async fn item_bulk_remove(&self, site: &Site, caller: &Caller, request: &Request<'_>) -> Result<Vec<Outcome>> {
        let collection = self.collection(site, request.collection(caller)?).await?;
        rule::scope(caller, Operation::Remove, &collection)?;
        let condition = self.condition(request, caller, &collection)?;
        let (ids, shows_items) = (request.item_ids(self.limits())?, request.wants_items()?);
        let known = ids.iter().filter(|it| !it.contains('\0')).map(|it| (*it).to_owned()).collect();
        let target = Target::new(self, site, collection.clone(), caller);
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
        let mut outcomes = Vec::with_capacity(sent.len());
        let (mut items, mut places) = (Vec::with_capacity(sent.len()), Vec::with_capacity(sent.len()));
        for (n, it) in sent.iter().enumerate() {
            outcomes.push(match self.incoming(it, mode == Mode::Save) {
                Ok(it) => {
                    let id = Some(it.id.clone());
                    items.push(it);
                    places.push(n);
                    Outcome { action: Action::Update, id, fault: None, item: None }
                }
                Err((id, fault)) => Outcome::refused(Action::Update, id, fault),
            });
        }
        if items.is_empty() {
            return Ok(outcomes);
        }
        let target = Target::new(self, site, collection.clone(), caller);
        let written = write::change(site, &target, mode, items, condition).await?;
        for (place, answer) in places.into_iter().zip(written) {
            let outcome = &mut outcomes[place];
            match answer {
                Ok(it) => {
                    outcome.action = if it.is_new { Action::Insert } else { Action::Update };
                    outcome.item = shows_items.then(|| Item::new(&collection, it.doc));
                }
                Err(fault) => outcome.fault = Some(fault),
            }
        }
        Ok(outcomes)
    }

    /// An element of `dataItems`, with an id of ours when it may come without. In a list an id that is
    /// null or empty is an error like any other (protocol/content.md 20, trap 20).
    fn incoming(&self, sent: &Sent<'_>, makes_id: bool) -> Result<Incoming, (Option<String>, Fault)> {
        let (id, item): (Option<String>, CanonicalItem) = match sent.canonical(self.limits()) {
            Ok(it) => it,
            Err(fault) => return Err((sent.id().map(str::to_owned), fault)),
        };
        match id {
            Some(id) => Ok(Incoming { id, item }),
            None if makes_id => Ok(Incoming { id: self.world().uuid(), item }),
            None => Err((None, Fault::because(Code::ItemIdInvalid, "An update needs the item's _id."))),
        }
    }
}
