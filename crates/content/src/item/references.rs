//! References inside items on their way in (protocol/content.md 3.0, 3.3, 21.6; decisions/0010).
//!
//! A whole item in the place of a single reference becomes its id. Values of multi-references never
//! reach the document: with `saveReferences`, and in patches, they become links in the transaction that
//! writes the item, otherwise they are dropped without a word. A field that isn't sent keeps its links,
//! because items are read without them.
//!
//! An import's items come before what they refer to as often as after it. So a value that leads to what isn't
//! there refuses nothing: it waits, and whoever imports tries it again at the end ([`Saving::trying`]).

use crate::{
    Collection, Content, Item, Request,
    item::write::{Target, missing},
    reference::{
        calls::{Linkable, MAX_ID},
        id_of,
        include::Room,
        is_multi,
        link::{Pair, visible},
        target_id,
    },
    schema::field,
};
use serde_json::Value;
use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
};
use stoa_kernel::{Caller, Code, Fault, Result};
use stoa_query::{
    CanonicalItem,
    item::{Edit, members},
};
use stoa_sql::json::quoted;
use stoa_store::{Lane, Site, Tx, boxed};

/// Links that one call may bring along: they are written while others wait.
const MAX_LINKS: usize = 10_000;

/// The references of a call that writes items of a collection.
#[derive(Default)]
pub(crate) struct Saving {
    /// Single references, as they stand in canonical text.
    singles: HashSet<String>,
    /// Multi-references; without what it takes to link them they are dropped.
    multis: Vec<Multi>,
    /// Whether they are linked.
    saves: bool,
    changes: Vec<Change>,
    links: usize,
    /// Ids in one value.
    most: usize,
    patience: Patience,
}

/// What becomes of a value that leads to an item that isn't there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Patience {
    /// Its item is refused.
    #[default]
    None,
    /// The item is saved, with the links it had. The value comes again as a whole, or its order would be lost.
    Waits,
    /// The links to what is there are made.
    Over,
}

/// A value that leads to items that aren't there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Lack {
    /// The item's place in the call.
    pub index: usize,
    /// As in [`Saving::values`].
    pub field: usize,
    pub ids: Vec<String>,
}

struct Multi {
    key: String,
    quoted: String,
    linkable: Option<Linkable>,
}

/// What becomes of the links of one item in one field.
struct Change {
    /// The item's place in the call.
    index: usize,
    field: usize,
    step: Step,
}

enum Step {
    Replace(Vec<String>),
    Add(String),
    Remove(String),
}

/// Several steps on one field of one item, in the order in which they are carried out.
#[derive(Default)]
struct Folded {
    is_cleared: bool,
    removed: Vec<String>,
    added: Vec<String>,
}

impl Content {
    /// Gets ready to take references out of items; with `saves` also what it takes to link them.
    pub(crate) async fn saving(
        &self,
        site: &Site,
        caller: &Caller,
        collection: &Arc<Collection>,
        saves: bool,
    ) -> Result<Saving> {
        let mut saving = Saving { saves, most: self.limits().bulk_items, ..Saving::default() };
        for it in collection.definition.fields.iter().filter(|it| target_id(it).is_some()) {
            let key = field::key(it);
            if is_multi(it) {
                // Who sends nothing for a field needs no right to what it leads to: that is asked later.
                let linkable = if saves { self.linkable(site, caller, collection, key).await.ok() } else { None };
                saving.multis.push(Multi { key: key.to_owned(), quoted: quoted(key), linkable });
            } else {
                saving.singles.insert(quoted(key));
            }
        }
        Ok(saving)
    }

    /// The same for an import, whose values may lead to what is still to come.
    pub(crate) async fn importing(&self, site: &Site, caller: &Caller, collection: &Arc<Collection>) -> Result<Saving> {
        Ok(Saving { patience: Patience::Waits, ..self.saving(site, caller, collection, true).await? })
    }

    /// The same for values of an import that waited, and wait no longer.
    pub(crate) async fn trying(&self, site: &Site, caller: &Caller, collection: &Arc<Collection>) -> Result<Saving> {
        Ok(Saving { patience: Patience::Over, ..self.saving(site, caller, collection, true).await? })
    }

    /// The same for a request that says whether it saves references.
    ///
    /// # Errors
    /// WDE0018 when it says so wrongly.
    pub(crate) async fn saving_for(
        &self,
        site: &Site,
        caller: &Caller,
        collection: &Arc<Collection>,
        request: &Request<'_>,
    ) -> Result<Saving> {
        self.saving(site, caller, collection, request.saves_references()?).await
    }
}

impl Content {
    /// Takes the references of the one item of a call out of it, and answers whether the call wants to be
    /// shown what the item refers to.
    ///
    /// # Errors
    /// As for [`Saving::take`], and WDE0018 when the request doesn't say clearly what it wants.
    pub(crate) async fn take_references(
        &self,
        site: &Site,
        target: &mut Target,
        request: &Request<'_>,
        item: &mut CanonicalItem,
    ) -> Result<bool> {
        let mut saving = self.saving_for(site, &target.caller, &target.collection, request).await?;
        saving.take(0, item)?;
        target.saving = Arc::new(saving);
        request.includes_references()
    }

    /// A written item, with what it refers to if that is to be shown.
    ///
    /// # Errors
    /// WDE0109 when that is too large.
    pub(crate) async fn shown(
        &self,
        site: &Site,
        caller: &Caller,
        collection: Arc<Collection>,
        doc: String,
        with_references: bool,
    ) -> Result<Item> {
        if !with_references {
            return Ok(Item::new(&collection, doc));
        }
        let includes = self.include_all(site, caller, &collection).await?;
        let mut room = Room::new(self.limits().page_bytes);
        let filled = site.read(Lane::Scan, move |tx| boxed!(includes.fill(tx, vec![doc], &mut room).await)).await?;
        Ok(Item::new(&collection, filled.into_iter().next().unwrap_or_default()))
    }
}

impl Saving {
    /// Whether there is nothing to link.
    pub(crate) fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Whether the collection has fields whose values are links.
    pub(crate) fn has_fields(&self) -> bool {
        !self.multis.is_empty()
    }

    /// How many links the items taken so far bring along.
    pub(crate) fn link_count(&self) -> usize {
        self.links
    }

    /// What an item of an import, or one that [`Saving::add_value`] was told of, refers to: the number of the
    /// field, its key and the ids.
    pub(crate) fn values(&self, index: usize) -> impl Iterator<Item = (usize, &str, &[String])> {
        let first = self.changes.partition_point(|it| it.index < index);
        let of_item = self.changes[first..].iter().take_while(move |it| it.index == index);
        of_item.map(|it| (it.field, self.multis[it.field].key.as_str(), it.step.wanted()))
    }

    /// Takes a value of a field by itself; a field that is none any more takes nothing.
    ///
    /// # Errors
    /// WDE0006 when there are too many ids.
    pub(crate) fn add_value(&mut self, index: usize, key: &str, ids: Vec<String>) -> Result<()> {
        match self.multis.iter().position(|it| it.key == key) {
            Some(field) => self.add(index, field, Step::Replace(ids)),
            None => Ok(()),
        }
    }

    /// Takes the references of an item out of it.
    ///
    /// # Errors
    /// WDE0303 for a multi-reference that isn't a list of ids, WDE0027 for one that the caller may not link.
    pub(crate) fn take(&mut self, index: usize, item: &mut CanonicalItem) -> Result<()> {
        if self.singles.is_empty() && self.multis.is_empty() {
            return Ok(());
        }
        self.forget(index);
        let mut taken = Vec::new();
        item.edit(|name, value| {
            if let Some(field) = self.multis.iter().position(|it| it.quoted == name) {
                taken.push((field, value.to_owned()));
                return Ok(Edit::Drop);
            }
            let is_item = value.starts_with('{') && self.singles.contains(name);
            let id = members(value).find(|(name, value)| is_item && *name == "\"_id\"" && value.starts_with('"'));
            Ok(id.map_or(Edit::Keep, |(_, id)| Edit::Put(id.to_owned())))
        })?;
        if !self.saves {
            return Ok(());
        }
        for (field, value) in taken {
            let value = serde_json::from_str(&value).map_err(Fault::internal)?;
            let step = Step::Replace(self.ids(field, &value)?);
            self.add(index, field, step)?;
        }
        Ok(())
    }

    /// A patch without its changes of multi-references, which are links.
    ///
    /// # Errors
    /// WDE0303 for what isn't an id or a list of ids, WDE0080 for what can't be done with links.
    pub(crate) fn take_patch(&mut self, index: usize, patch: &Value) -> Result<Value> {
        self.forget(index);
        let mut patch = patch.clone();
        let list = patch.get_mut("fieldModifications").and_then(Value::as_array_mut);
        let Some(list) = list.filter(|_| !self.singles.is_empty() || !self.multis.is_empty()) else { return Ok(patch) };
        let mut kept = Vec::with_capacity(list.len());
        for mut it in std::mem::take(list) {
            let path = it.get("fieldPath").and_then(Value::as_str).unwrap_or_default();
            let (name, rest) = path.split_once('.').map_or((path, None), |(name, rest)| (name, Some(rest)));
            match self.multis.iter().position(|it| it.key == name) {
                None => {
                    let is_single = self.singles.contains(&quoted(path));
                    if let Some(value) = it.pointer_mut("/setFieldOptions/value").filter(|_| is_single) {
                        let id = id_of(value).map(str::to_owned);
                        id.into_iter().for_each(|id| *value = id.into());
                    }
                    kept.push(it);
                }
                Some(_) if rest.is_some() => return Err(bad(path, "has no members to change")),
                Some(field) => {
                    let step = self.step(field, &it)?;
                    self.add(index, field, step)?;
                }
            }
        }
        *list = kept;
        Ok(patch)
    }

    /// Leaves out what was taken from an item that stood in this place and was refused.
    fn forget(&mut self, index: usize) {
        while self.changes.last().is_some_and(|it| it.index >= index) {
            self.changes.pop();
        }
    }

    fn step(&self, field: usize, modification: &Value) -> Result<Step> {
        let value = |options: &str| modification.get(options).and_then(|it| it.get("value")).unwrap_or(&Value::Null);
        let one =
            |options: &str| Ok::<_, Fault>(self.ids(field, &Value::Array(vec![value(options).clone()]))?.remove(0));
        match modification.get("action").and_then(Value::as_str) {
            Some("SET_FIELD") => Ok(Step::Replace(self.ids(field, value("setFieldOptions"))?)),
            Some("REMOVE_FIELD") => Ok(Step::Replace(Vec::new())),
            Some("APPEND_TO_ARRAY") => Ok(Step::Add(one("appendToArrayOptions")?)),
            Some("REMOVE_FROM_ARRAY") => Ok(Step::Remove(one("removeFromArrayOptions")?)),
            _ => Err(bad(&self.multis[field].key, "can be set, removed, appended to and removed from")),
        }
    }

    /// The ids in the value of a multi-reference; null counts as an empty list.
    fn ids(&self, field: usize, value: &Value) -> Result<Vec<String>> {
        let key = &self.multis[field].key;
        let wrong = |what: &str| {
            Fault::because(Code::MultiReferenceValue, format!("{key} {what}.")).with("propertyName", key.as_str())
        };
        let list = match value {
            Value::Null => return Ok(Vec::new()),
            Value::Array(it) if it.len() > self.most => return Err(wrong(&format!("takes at most {} ids", self.most))),
            Value::Array(it) => it,
            _ => return Err(wrong("takes a list of ids")),
        };
        let mut seen = HashSet::with_capacity(list.len());
        let id = |it: &Value| {
            id_of(it).filter(|it| !it.is_empty() && it.len() <= MAX_ID && !it.contains('\0')).map(str::to_owned)
        };
        let ids =
            list.iter().map(|it| id(it).ok_or_else(|| wrong("takes a list of ids"))).collect::<Result<Vec<_>>>()?;
        Ok(ids.into_iter().filter(|it| seen.insert(it.clone())).collect())
    }

    fn add(&mut self, index: usize, field: usize, step: Step) -> Result<()> {
        // To an import, a collection that was deleted is one whose items aren't there.
        if self.multis[field].linkable.is_none() && self.patience == Patience::None {
            let text =
                format!("The current user does not have permissions to link items by {}.", self.multis[field].key);
            return Err(
                Fault::because(Code::PermissionDenied, text).with("propertyName", self.multis[field].key.as_str())
            );
        }
        self.links += if let Step::Replace(ids) = &step { ids.len() } else { 1 };
        if self.links > MAX_LINKS {
            return Err(Fault::because(Code::TooManyItems, format!("At most {MAX_LINKS} references per request.")));
        }
        self.changes.push(Change { index, field, step });
        Ok(())
    }

    /// The items, by their places in the call, that refer to what isn't there or isn't the caller's to
    /// link. `ids` are those of the items from place `first` on; they may refer to each other.
    pub(crate) async fn refusals(
        &self,
        tx: &mut Tx<'_>,
        collection: &Collection,
        first: usize,
        ids: &[String],
    ) -> Result<HashMap<usize, Fault>> {
        let mut refused = HashMap::new();
        if self.is_empty() {
            return Ok(refused);
        }
        let places = first..first + ids.len();
        let call: HashSet<&str> = ids.iter().map(String::as_str).collect();
        for (field, multi) in self.multis.iter().enumerate() {
            let changes = || self.changes.iter().filter(|it| it.field == field && places.contains(&it.index));
            let (Some(linkable), true) = (&multi.linkable, changes().next().is_some()) else { continue };
            linkable.links.check(tx).await?;
            if self.patience != Patience::None {
                continue;
            }
            let wanted: HashSet<&String> = changes().flat_map(|it| it.step.wanted()).collect();
            let wanted = wanted.into_iter().cloned().collect();
            let there = visible(tx, &linkable.far, &linkable.scope, wanted).await?;
            let is_among_them = linkable.far.table == collection.table;
            let is_there = |it: &str| there.contains(it) || is_among_them && call.contains(it);
            for it in changes() {
                if let Some(id) = it.step.wanted().iter().find(|id| !is_there(id)) {
                    refused.insert(it.index, missing(&linkable.far, id));
                }
            }
        }
        Ok(refused)
    }

    /// Changes the links of the items that were written: `written` gives their ids by how far they stand
    /// behind place `first` of the call. Answers what an import's values lack.
    pub(crate) async fn write<'i>(
        &self,
        tx: &mut Tx<'_>,
        first: usize,
        written: impl Fn(usize) -> Option<&'i str>,
    ) -> Result<Vec<Lack>> {
        if self.patience != Patience::None {
            return self.write_patiently(tx, first, written).await;
        }
        let mut fields: BTreeMap<usize, BTreeMap<&str, Folded>> = BTreeMap::new();
        for it in &self.changes {
            if let Some(id) = it.index.checked_sub(first).and_then(&written) {
                fields.entry(it.field).or_default().entry(id).or_default().add(&it.step);
            }
        }
        for (field, items) in fields {
            let Some(linkable) = &self.multis[field].linkable else { continue };
            let cleared: Vec<String> = items.iter().filter(|it| it.1.is_cleared).map(|it| (*it.0).to_owned()).collect();
            let pairs = |ids: fn(&Folded) -> &Vec<String>| -> Vec<Pair> {
                let of = |(id, folded): (&&str, _)| {
                    let id = (*id).to_owned();
                    ids(folded).iter().map(move |it| (id.clone(), it.clone())).collect::<Vec<_>>()
                };
                items.iter().flat_map(of).collect()
            };
            let (removed, added) = (pairs(|it| &it.removed), pairs(|it| &it.added));
            if !cleared.is_empty() {
                linkable.links.clear(tx, &cleared, &linkable.scope).await?;
            }
            if !removed.is_empty() {
                linkable.links.remove(tx, &removed, &linkable.scope).await?;
            }
            linkable.links.insert(tx, &added).await?;
        }
        Ok(Vec::new())
    }

    /// The same for an import, after its items were written: they may refer to each other.
    async fn write_patiently<'i>(
        &self,
        tx: &mut Tx<'_>,
        first: usize,
        written: impl Fn(usize) -> Option<&'i str>,
    ) -> Result<Vec<Lack>> {
        let mut lacks = Vec::new();
        for (field, multi) in self.multis.iter().enumerate() {
            let id = |it: &Change| it.index.checked_sub(first).and_then(&written);
            let changes = self.changes.iter().filter(|it| it.field == field);
            let changes: Vec<_> = changes.filter_map(|it| Some((it, id(it)?))).collect();
            let wanted: HashSet<&String> = changes.iter().flat_map(|it| it.0.step.wanted()).collect();
            let there = match &multi.linkable {
                Some(it) if !wanted.is_empty() => {
                    visible(tx, &it.far, &it.scope, wanted.into_iter().cloned().collect()).await?
                }
                _ => HashSet::new(),
            };
            // An item may have stood in the file twice: its last value counts.
            let (mut lists, mut places) = (Vec::<(&str, Vec<String>)>::new(), HashMap::<&str, usize>::new());
            for (change, id) in changes {
                let (ids, lacking): (Vec<_>, Vec<_>) =
                    change.step.wanted().iter().cloned().partition(|it| there.contains(it));
                let is_to_wait = !lacking.is_empty() && self.patience == Patience::Waits;
                if !lacking.is_empty() {
                    lacks.push(Lack { index: change.index, field, ids: lacking });
                }
                if is_to_wait {
                    continue;
                }
                match places.get(id) {
                    Some(place) => lists[*place].1 = ids,
                    None => {
                        places.insert(id, lists.len());
                        lists.push((id, ids));
                    }
                }
            }
            if let (Some(it), false) = (&multi.linkable, lists.is_empty()) {
                let lists: Vec<_> = lists.iter().map(|(id, ids)| (*id, ids.as_slice())).collect();
                it.links.put(tx, &lists, &it.scope).await?;
            }
        }
        Ok(lacks)
    }
}

impl Step {
    /// The items that it links.
    fn wanted(&self) -> &[String] {
        match self {
            Self::Replace(ids) => ids,
            Self::Add(id) => std::slice::from_ref(id),
            Self::Remove(_) => &[],
        }
    }
}

impl Folded {
    fn add(&mut self, step: &Step) {
        match step {
            Step::Replace(ids) => *self = Self { is_cleared: true, removed: Vec::new(), added: ids.clone() },
            Step::Add(id) => {
                if !self.added.contains(id) {
                    self.added.push(id.clone());
                }
            }
            Step::Remove(id) => {
                self.added.retain(|it| it != id);
                self.removed.push(id.clone());
            }
        }
    }
}

fn bad(path: &str, what: &str) -> Fault {
    Fault::because(Code::BadRequest, format!("{path} is a multi-reference, which {what}."))
}
