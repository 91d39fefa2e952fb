//! References inside items on their way in (docs/protocol/content.md §3.0, §3.3, §21.6; decision 10).
//!
//! A whole item in the place of a single reference becomes its id. Values of multi-references never
//! reach the document: with `saveReferences`, and in patches, they become links in the transaction that
//! writes the item, otherwise they are dropped without a word. A field that isn't sent keeps its links,
//! because items are read without them.
//!
//! An import's items come before what they refer to as often as after it. So a value that leads to what isn't
//! there refuses nothing: it is deferred, and resolved again at the end of the import
//! ([`ResolutionPolicy::Skip`]).

use crate::{
    RequestContext,
    collection::Collection,
    event::write::{EventWriter, LinkedField},
    fault,
    reference::{
        MAX_ID,
        calls::{LinkAccess, link_access},
        id_of,
        link::{self, Edge, TargetList, visible},
    },
    schema::field::{self, is_multi, target_id},
    wire::request::Request,
};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap, HashSet};
use stoa_kernel::{Code, Fault, Result};
use stoa_query::{
    CanonicalItem,
    item::{Edit, members},
};
use stoa_sql::json::quoted;
use stoa_store::Tx;

/// Links that one call may bring along: they are written while others wait.
const MAX_LINKS: usize = 10_000;

/// The references of a call that writes items of a collection.
#[derive(Default)]
pub(crate) struct ReferenceChanges {
    /// Single references, as they stand in canonical text.
    singles: HashSet<String>,
    /// Multi-references; without what it takes to link them they are dropped.
    multis: Vec<MultiField>,
    /// Whether they are linked.
    saves: bool,
    changes: Vec<LinkChange>,
    links: usize,
    /// Ids in one value.
    most: usize,
    policy: ResolutionPolicy,
}

/// What becomes of a value that leads to an item that isn't there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum ResolutionPolicy {
    /// Its item is refused.
    #[default]
    Refuse,
    /// The item is saved, with the links it had. The value comes again as a whole, or its order would be lost.
    Defer,
    /// The links to what is there are made, as for values that were deferred and are so no longer.
    Skip,
}

/// A value that leads to items that aren't there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unresolved {
    /// The item's position in the call.
    pub index: usize,
    /// As in [`ReferenceChanges::values`].
    pub field: usize,
    pub ids: Vec<String>,
}

struct MultiField {
    key: String,
    quoted: String,
    link: Option<LinkAccess>,
}

/// What becomes of the links of one item in one field.
struct LinkChange {
    /// The item's position in the call.
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
struct NetChange {
    is_cleared: bool,
    removed: Vec<String>,
    added: Vec<String>,
}

/// Gets ready to take references out of items; with `saves` also what it takes to link them.
pub(crate) async fn of_collection(
    context: RequestContext<'_>,
    collection: &Collection,
    saves: bool,
) -> Result<ReferenceChanges> {
    let most = context.content.limits().bulk_items;
    let mut changes = ReferenceChanges { saves, most, ..ReferenceChanges::default() };
    for it in collection.definition.fields.iter().filter(|it| target_id(it).is_some()) {
        let key = field::key(it);
        if is_multi(it) {
            // A caller who sends nothing for a field needs no right to what it leads to: that is asked later.
            let link = if saves { link_access(context, collection, key).await.ok() } else { None };
            changes.multis.push(MultiField { key: key.to_owned(), quoted: quoted(key), link });
        } else {
            changes.singles.insert(quoted(key));
        }
    }
    Ok(changes)
}

/// The same for an import.
pub(crate) async fn of_import(
    context: RequestContext<'_>,
    collection: &Collection,
    policy: ResolutionPolicy,
) -> Result<ReferenceChanges> {
    Ok(ReferenceChanges { policy, ..of_collection(context, collection, true).await? })
}

/// The same for a request that says whether it saves references.
///
/// # Errors
/// WDE0018 when it says so wrongly.
pub(crate) async fn of_request(
    context: RequestContext<'_>,
    collection: &Collection,
    request: &Request<'_>,
) -> Result<ReferenceChanges> {
    of_collection(context, collection, request.saves_references()?).await
}

impl ReferenceChanges {
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

    /// What an item of an import, or one that came by [`ReferenceChanges::add_value`], refers to: the number of the
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

    /// Leaves out what was taken from an item that stood in this position and was refused.
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
        if self.multis[field].link.is_none() && self.policy == ResolutionPolicy::Refuse {
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
        self.changes.push(LinkChange { index, field, step });
        Ok(())
    }

    /// The items, by their positions in the call, that refer to what isn't there or isn't the caller's to
    /// link. `ids` are those of the items from position `first` on; they may refer to each other.
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
        let positions = first..first + ids.len();
        let call: HashSet<&str> = ids.iter().map(String::as_str).collect();
        for (field, multi) in self.multis.iter().enumerate() {
            let changes = || self.changes.iter().filter(|it| it.field == field && positions.contains(&it.index));
            let (Some(link), true) = (&multi.link, changes().next().is_some()) else { continue };
            link.links.check(tx).await?;
            if self.policy != ResolutionPolicy::Refuse {
                continue;
            }
            let wanted: HashSet<&String> = changes().flat_map(|it| it.step.wanted()).collect();
            let wanted = wanted.into_iter().cloned().collect();
            let there = visible(tx, &link.target, link.access.scope(), wanted).await?;
            let is_among_them = link.target.table == collection.table;
            let is_there = |it: &str| there.contains(it) || is_among_them && call.contains(it);
            for it in changes() {
                if let Some(id) = it.step.wanted().iter().find(|id| !is_there(id)) {
                    refused.insert(it.index, fault::item_not_found(link.target.id.as_str(), id));
                }
            }
        }
        Ok(refused)
    }

    /// Changes the links of the items that were written: those of the call from position `first` on, of which `ids` are
    /// all and `is_written` says which. Answers what an import's values lead to and isn't there.
    pub(crate) async fn write(
        &self,
        tx: &mut Tx<'_>,
        events: &EventWriter,
        first: usize,
        (ids, is_written): (&[String], impl Fn(usize) -> bool),
    ) -> Result<Vec<Unresolved>> {
        let written_id = |n: usize| ids.get(n).filter(|_| is_written(n)).map(String::as_str);
        if self.policy != ResolutionPolicy::Refuse {
            return self.write_resolving(tx, events, first, written_id).await;
        }
        let mut fields: BTreeMap<usize, BTreeMap<&str, NetChange>> = BTreeMap::new();
        for it in &self.changes {
            if let Some(id) = it.index.checked_sub(first).and_then(&written_id) {
                fields.entry(it.field).or_default().entry(id).or_default().add(&it.step);
            }
        }
        for (field, items) in fields {
            let multi = &self.multis[field];
            let Some(link) = &multi.link else { continue };
            let cleared: Vec<String> = items.iter().filter(|it| it.1.is_cleared).map(|it| (*it.0).to_owned()).collect();
            let edges = |targets: fn(&NetChange) -> &Vec<String>| -> Vec<Edge> {
                let of = |(source, net): (&&str, _)| {
                    let edge = |target: &String| Edge { source: (*source).to_owned(), target: target.clone() };
                    targets(net).iter().map(edge).collect::<Vec<_>>()
                };
                items.iter().flat_map(of).collect()
            };
            let (removed, mut added) = (edges(|it| &it.removed), edges(|it| &it.added));
            let (written, others): (Vec<_>, Vec<_>) = ids.iter().enumerate().partition(|it| is_written(it.0));
            let written: HashSet<&String> = written.into_iter().map(|it| it.1).collect();
            let is_refused = |id: &&String| !written.contains(*id) && added.iter().any(|it| it.target == **id);
            let refused: HashSet<&String> = others.into_iter().map(|it| it.1).filter(is_refused).collect();
            if !refused.is_empty() {
                // They count as there because they are in the call: now only for who may see them.
                let seen = refused.iter().map(|it| (*it).clone()).collect();
                let seen = visible(tx, &link.target, link.access.scope(), seen).await?;
                added.retain(|it| seen.contains(&it.target) || !refused.contains(&it.target));
            }
            let mut gone = Vec::new();
            if !cleared.is_empty() {
                gone.extend(link.links.clear(tx, &cleared, &link.access).await?);
            }
            if !removed.is_empty() {
                gone.extend(link.links.remove(tx, &removed, &link.access).await?);
            }
            let made = link.links.insert(tx, &added, &link.access).await?;
            events.references_changed(tx, multi.linked(link), (&gone, &made)).await?;
        }
        Ok(Vec::new())
    }

    /// The same for an import, after its items were written: they may refer to each other.
    async fn write_resolving<'i>(
        &self,
        tx: &mut Tx<'_>,
        events: &EventWriter,
        first: usize,
        written_id: impl Fn(usize) -> Option<&'i str>,
    ) -> Result<Vec<Unresolved>> {
        let mut unresolved = Vec::new();
        for (field, multi) in self.multis.iter().enumerate() {
            let id = |it: &LinkChange| it.index.checked_sub(first).and_then(&written_id);
            let changes = self.changes.iter().filter(|it| it.field == field);
            let changes: Vec<_> = changes.filter_map(|it| Some((it, id(it)?))).collect();
            let wanted: HashSet<&String> = changes.iter().flat_map(|it| it.0.step.wanted()).collect();
            let there = match &multi.link {
                Some(it) if !wanted.is_empty() => {
                    visible(tx, &it.target, it.access.scope(), wanted.into_iter().cloned().collect()).await?
                }
                _ => HashSet::new(),
            };
            // An item may have stood in the file twice: its last value counts.
            let (mut lists, mut list_of) = (Vec::<TargetList<'_>>::new(), HashMap::<&str, usize>::new());
            for (change, source) in changes {
                let (targets, missing): (Vec<_>, Vec<_>) =
                    change.step.wanted().iter().cloned().partition(|it| there.contains(it));
                let is_deferred = !missing.is_empty() && self.policy == ResolutionPolicy::Defer;
                if !missing.is_empty() {
                    unresolved.push(Unresolved { index: change.index, field, ids: missing });
                }
                if is_deferred {
                    continue;
                }
                match list_of.get(source) {
                    Some(n) => lists[*n].targets = targets,
                    None => {
                        list_of.insert(source, lists.len());
                        lists.push(TargetList { source, targets });
                    }
                }
            }
            if let (Some(it), false) = (&multi.link, lists.is_empty()) {
                let link::LinkChange { removed, added } = it.links.put(tx, &lists, &it.access).await?;
                if !removed.is_empty() || !added.is_empty() {
                    events.references_put(tx, multi.linked(it), lists.iter().map(|it| it.source)).await?;
                }
            }
        }
        Ok(unresolved)
    }
}

impl MultiField {
    fn linked<'f>(&'f self, link: &'f LinkAccess) -> LinkedField<'f> {
        LinkedField { key: &self.key, target: link.target.id.as_str() }
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

impl NetChange {
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
