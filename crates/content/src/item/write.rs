//! The two ways in which items are written: inserted blindly, or changed after a look at what is there.
//!
//! One call is one transaction whatever the number of items, with a statement for all of them and one
//! row of the outbox for each kind of event. A refusal of one item leaves the others alone.

use crate::{
    Collection, Content, Limits, Operation,
    collection::{
        statements,
        vault::{Sight, Vault},
    },
    event,
    item::{
        references::{Lack, Saving},
        unique,
    },
    reference::link,
    schema::level,
    wire::patch::{self, Modification, Work},
};
use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    sync::Arc,
};
use stoa_kernel::{Caller, Code, Fault, Result, SiteId, clock::Millis};
use stoa_query::{
    CanonicalItem, Filter, Scope, Stamp, compile,
    plan::{Field, Scalar, Test},
};
use stoa_sql::{Value, Writer, params};
use stoa_store::{InsertRows, InsertTold, Site, Tx, boxed};

/// Columns of a row to insert ([`statements::Texts`]).
const ID: usize = 0;
const CREATED: usize = 1;
const OWNER: usize = 3;
const DOC: usize = 4;

/// What a call writes to, and for whom.
#[derive(Clone)]
pub(crate) struct Target {
    pub content: Content,
    pub site: SiteId,
    pub collection: Arc<Collection>,
    pub caller: Caller,
    pub author: event::Author,
    pub now: Millis,
    /// What seals the values of encrypted fields, if there are any.
    vault: Option<Arc<Vault>>,
    /// What the caller is shown of what was written.
    pub sight: Sight,
    /// Links that come with the items.
    pub saving: Arc<Saving>,
    /// Times and owners of the items count: an import by a caller to whom everything is allowed.
    pub is_import: bool,
}

/// An item on its way in.
pub(crate) struct Incoming {
    pub id: String,
    pub draft: Draft,
}

/// What an item is to become.
pub(crate) enum Draft {
    Whole(CanonicalItem),
    /// What is there, changed so.
    Patch(Vec<Modification>),
}

/// An item that was written, as the caller is shown it.
pub(crate) struct Written {
    pub is_new: bool,
    pub doc: String,
    /// What links of an import's item lead to and isn't there.
    pub lacks: Vec<Lack>,
}

/// What happens to an item that isn't there yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// It is refused: WDE0073.
    Update,
    /// It is inserted.
    Save,
}

impl Content {
    pub(crate) async fn target(&self, site: &Site, caller: &Caller, collection: &Arc<Collection>) -> Result<Target> {
        let vault = self.vault(site, collection).await?;
        Ok(Target::new(self, site, collection.clone(), caller, vault))
    }
}

impl Target {
    pub(crate) fn new(
        content: &Content,
        site: &Site,
        collection: Arc<Collection>,
        caller: &Caller,
        vault: Option<Arc<Vault>>,
    ) -> Self {
        let now = content.world().now();
        let author = event::Author::new(&site.id, &collection, caller, now);
        let sight = Sight::new(caller, vault.as_ref());
        let (content, site, caller) = (content.clone(), site.id.clone(), caller.clone());
        let saving = Arc::default();
        Self { content, site, collection, caller, author, now, vault, sight, saving, is_import: false }
    }

    fn limits(&self) -> &Limits {
        self.content.limits()
    }

    /// The row of a new item, its defaults filled in.
    pub(crate) fn new_row(&self, id: String, item: &CanonicalItem) -> Result<Vec<Value>> {
        let admitted = self.collection.rules().admit(item, &self.caller, self.now)?;
        let item = admitted.as_ref().unwrap_or(item);
        let sent_owner = item.owner.as_deref().filter(|it| !it.is_empty() && self.caller.is_privileged());
        let owner = sent_owner.or_else(|| self.caller.owner());
        let created = item.created.filter(|_| self.is_import).unwrap_or(self.now);
        self.row(id, item, created, owner, None)
    }

    /// The row that takes the place of one that is there. What the item has of encrypted fields is clear
    /// where it was sent, and sealed as before where it wasn't.
    fn changed_row(&self, id: String, draft: &Draft, old: &Existing, work: &mut Work) -> Result<Vec<Value>> {
        let patched;
        let (item, patch) = match draft {
            Draft::Whole(it) => (it, None),
            Draft::Patch(modifications) => {
                patched = patch::apply(&old.doc, modifications, work, self.limits().query.item())?;
                (&patched, Some(modifications.as_slice()))
            }
        };
        let readable = self.vault.as_ref().map(|it| it.readable(&old.doc)).transpose()?;
        let before = readable.as_ref().unwrap_or(&old.doc);
        let admitted = self.collection.rules().admit_change(item, patch, before, &self.caller, self.now)?;
        let item = admitted.as_ref().unwrap_or(item);
        let kept = match &self.vault {
            Some(it) if patch.is_none() && !self.caller.is_privileged() => Some(it.keep(item, &old.doc)?),
            _ => None,
        };
        let item = kept.as_ref().unwrap_or(item);
        let sent_owner = item.owner.as_deref().filter(|it| !it.is_empty() && self.caller.is_privileged());
        let created = item.created.filter(|_| self.is_import).unwrap_or(old.created);
        self.row(id, item, created, sent_owner.or(old.owner.as_deref()), Some(&old.doc))
    }

    fn row(
        &self,
        id: String,
        item: &CanonicalItem,
        created: Millis,
        owner: Option<&str>,
        old: Option<&str>,
    ) -> Result<Vec<Value>> {
        let seal = |it: &Arc<Vault>| it.seal(self.content.world(), &id, item, old);
        let sealed = self.vault.as_ref().map(seal).transpose()?;
        let item = sealed.as_ref().unwrap_or(item);
        let doc = item.document(Stamp { id: &id, created, updated: self.now, owner })?;
        let owner = owner.map(str::to_owned);
        Ok(vec![id.into(), created.into(), self.now.into(), owner.into(), doc.into()])
    }

    /// The document of a row, as the caller is shown it.
    pub(crate) fn shown(&self, row: &[Value]) -> Result<String> {
        self.sight.show(doc(row)).map(Cow::into_owned)
    }

    fn insert_told(&self, row: &[Value]) -> InsertTold {
        let (texts, told) = (&self.collection.texts, self.author.creation(std::iter::once(doc(row))));
        InsertTold { into: texts.insert.clone(), values: texts.values.clone(), key: "id", row: row.to_vec(), told }
    }

    fn insert<'r>(&'r self, replace: Option<&'r str>, rows: &'r [Vec<Value>]) -> InsertRows<'r> {
        let texts = &self.collection.texts;
        InsertRows { into: &texts.insert, values: &texts.values, key: "id", key_index: 0, replace, rows }
    }
}

/// The document of a row, as it is stored.
pub(crate) fn doc(row: &[Value]) -> &str {
    text(row, DOC).unwrap_or_default()
}

/// The id of a row.
pub(crate) fn id(row: &[Value]) -> &str {
    text(row, ID).unwrap_or_default()
}

fn text(row: &[Value], index: usize) -> Option<&str> {
    match row.get(index) {
        Some(Value::Text(it)) => Some(it),
        _ => None,
    }
}

/// Inserts rows whose ids differ and tells for each why it wasn't, if so.
pub(crate) async fn insert(site: &Site, target: &Target, rows: Arc<Vec<Vec<Value>>>) -> Result<Vec<Result<()>>> {
    let is_visitor = matches!(target.caller, Caller::Visitor { .. });
    // Most inserts are of one item that is new, and decide on nothing.
    if let ([row], false, true, false) = (rows.as_slice(), is_visitor, target.saving.is_empty(), target.is_import)
        && site.insert_told(target.insert_told(row)).await?
    {
        return Ok(vec![Ok(())]);
    }
    let call = Arc::new((target.clone(), rows));
    // Visitors may become members at this very moment, and what is linked may go, so such writes decide on
    // what they read.
    let faults = if is_visitor || !target.saving.is_empty() {
        site.write(move |tx| {
            let call = call.clone();
            boxed!(insert_in(tx, &call.0, &call.1).await)
        })
        .await?
    } else {
        site.append(move |tx| {
            let call = call.clone();
            boxed!(insert_in(tx, &call.0, &call.1).await)
        })
        .await?
    };
    target.content.visitor_wrote(target);
    Ok(faults)
}

async fn insert_in(tx: &mut Tx<'_>, target: &Target, rows: &[Vec<Value>]) -> Result<Vec<Result<()>>> {
    target.content.visitor_writes(tx, target).await?;
    if target.saving.is_empty() {
        return insert_rows(tx, target, rows).await;
    }
    let ids: Vec<String> = rows.iter().map(|it| id(it).to_owned()).collect();
    let mut refused = target.saving.refusals(tx, &target.collection, 0, &ids).await?;
    let fitting = rows.iter().enumerate().filter(|(n, _)| !refused.contains_key(n)).map(|(_, row)| row.clone());
    let mut inserted = insert_rows(tx, target, &fitting.collect::<Vec<_>>()).await?.into_iter();
    let answer = |n| match refused.remove(&n) {
        Some(fault) => Err(fault),
        None => inserted.next().unwrap_or(Ok(())),
    };
    let answers: Vec<_> = (0..rows.len()).map(answer).collect();
    target.saving.write(tx, 0, |n| ids.get(n).filter(|_| answers[n].is_ok()).map(String::as_str)).await?;
    Ok(answers)
}

async fn insert_rows(tx: &mut Tx<'_>, target: &Target, rows: &[Vec<Value>]) -> Result<Vec<Result<()>>> {
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let is_new = tx.insert_rows(target.insert(None, rows)).await?;
    if is_new.contains(&true) {
        let docs = rows.iter().zip(&is_new).filter(|(_, is_new)| **is_new).map(|(row, _)| doc(row));
        target.author.created(tx, docs).await?;
    }
    unique::refusals(tx, target, rows, is_new).await
}

/// Makes the item of a collection that has but one, with the defaults of its fields, unless it is there.
pub(crate) async fn single_insert(tx: &mut Tx<'_>, target: &Target, id: &str) -> Result<()> {
    let item = target.collection.rules().filled(&CanonicalItem::empty(target.limits().query.item()), target.now)?;
    let row = target.row(id.to_owned(), &item, target.now, target.caller.owner(), None)?;
    insert_in(tx, target, &[row]).await?;
    Ok(())
}

/// An item that is there.
struct Existing {
    created: Millis,
    owner: Option<String>,
    doc: String,
}

/// Updates or saves items, in order; of several with one id each finds what the one before it left.
pub(crate) async fn change(
    site: &Site,
    target: &Target,
    mode: Mode,
    items: Vec<Incoming>,
    condition: Option<Filter>,
) -> Result<Vec<Result<Written>>> {
    let fresh = match mode {
        Mode::Save if target.saving.is_empty() => fresh_rows(target, &items),
        Mode::Save | Mode::Update => None,
    };
    let call = Arc::new(Change { target: target.clone(), mode, items, fresh, condition });
    let whole = call.clone();
    let written = site.write(move |tx| {
        let call = whole.clone();
        boxed!(call.run(tx, &call.items.iter().collect::<Vec<_>>(), call.fresh.as_ref()).await)
    });
    let written = match written.await {
        // A unique index that is not known of yet: only the guilty ones are to fail.
        Err(fault) if fault.code() == Code::UniqueConflict && call.items.len() > 1 => one_by_one(site, &call).await?,
        written => written?,
    };
    if call.mode == Mode::Save {
        call.target.content.visitor_wrote(&call.target);
    }
    Ok(written)
}

async fn one_by_one(site: &Site, call: &Arc<Change>) -> Result<Vec<Result<Written>>> {
    let mut answers = Vec::with_capacity(call.items.len());
    for n in 0..call.items.len() {
        let one = call.clone();
        let written = site.write(move |tx| {
            let call = one.clone();
            boxed!(call.run(tx, &call.items.iter().skip(n).take(1).collect::<Vec<_>>(), None).await)
        });
        match written.await {
            Ok(written) => answers.extend(written),
            Err(fault) if fault.code() == Code::UniqueConflict => answers.push(Err(fault)),
            Err(fault) => return Err(fault),
        }
    }
    Ok(answers)
}

/// The rows that a save comes to if none of its items is there: most often they aren't, and one
/// statement finds out. Nothing when the caller may not insert, or when an item can't be such a row.
fn fresh_rows(target: &Target, items: &[Incoming]) -> Option<Vec<Vec<Value>>> {
    if unique::guards(&target.collection) {
        return None;
    }
    level::may_insert(&target.caller, &target.collection).ok()?;
    let mut ids = HashSet::with_capacity(items.len());
    let row = |it: &Incoming| match &it.draft {
        Draft::Whole(item) => target.new_row(it.id.clone(), item).ok(),
        Draft::Patch(_) => None,
    };
    items.iter().map(|it| row(it).filter(|_| ids.insert(&it.id))).collect()
}

/// A call that changes items, ready to be run and run again.
struct Change {
    target: Target,
    mode: Mode,
    items: Vec<Incoming>,
    fresh: Option<Vec<Vec<Value>>>,
    condition: Option<Filter>,
}

impl Change {
    async fn run(
        &self,
        tx: &mut Tx<'_>,
        items: &[&Incoming],
        fresh: Option<&Vec<Vec<Value>>>,
    ) -> Result<Vec<Result<Written>>> {
        if self.mode == Mode::Save {
            self.target.content.visitor_writes(tx, &self.target).await?;
        }
        let Some(rows) = fresh else {
            let mut answers = Vec::with_capacity(items.len());
            for part in self.parts(items) {
                answers.extend(self.replace(tx, part).await?);
            }
            return Ok(answers);
        };
        let is_new = tx.insert_rows(self.target.insert(None, rows)).await?;
        let docs = || rows.iter().zip(&is_new).filter(|(_, is_new)| **is_new).map(|(row, _)| doc(row));
        if docs().next().is_some() {
            self.target.author.created(tx, docs()).await?;
        }
        let there: Vec<_> =
            items.iter().copied().zip(&is_new).filter(|(_, is_new)| !**is_new).map(|(it, _)| it).collect();
        let mut replaced = match there.is_empty() {
            true => Vec::new(),
            false => self.replace(tx, &there).await?,
        }
        .into_iter();
        let answer = |(row, is_new): (&Vec<Value>, bool)| match is_new {
            true => Some(self.target.shown(row).map(|doc| Written { is_new, doc, lacks: Vec::new() })),
            false => replaced.next(),
        };
        Ok(rows.iter().zip(is_new).filter_map(answer).collect())
    }

    /// Items that may be looked over together: where values must be unique, no id comes twice, for what
    /// the first of them leaves decides on the second.
    fn parts<'i, 'a>(&self, mut rest: &'i [&'a Incoming]) -> Vec<&'i [&'a Incoming]> {
        if !unique::guards(&self.target.collection) {
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
    async fn replace(&self, tx: &mut Tx<'_>, items: &[&Incoming]) -> Result<Vec<Result<Written>>> {
        let ids: Vec<String> = items.iter().map(|it| it.id.clone()).collect();
        let mut there = existing(tx, &self.target.collection.texts.some, &ids).await?;
        let fitting = fitting(tx, &self.target, &ids, self.condition.as_ref()).await?;
        // The items stand side by side in the call, which may be carried out in parts.
        let first = self.items.iter().position(|it| items.first().is_some_and(|first| std::ptr::eq(*first, it)));
        let (saving, first) = (&self.target.saving, first.unwrap_or_default());
        let mut refused = saving.refusals(tx, &self.target.collection, first, &ids).await?;
        let mut batch = Batch::default();
        for (n, it) in items.iter().enumerate() {
            match refused.remove(&(first + n)) {
                Some(fault) => batch.answers.push(Err(fault)),
                None => batch.add(&self.target, self.mode, it, &mut there, fitting.as_ref()),
            }
        }
        let mut answers = batch.write(tx, &self.target).await?;
        let is_written = |n: usize| ids.get(n).filter(|_| answers[n].is_ok()).map(String::as_str);
        for it in saving.write(tx, first, is_written).await? {
            if let Some(Ok(written)) = answers.get_mut(it.index - first) {
                written.lacks.push(it);
            }
        }
        Ok(answers)
    }
}

async fn existing(tx: &mut Tx<'_>, sql: &str, ids: &[String]) -> Result<HashMap<String, Existing>> {
    let read = |row: &stoa_store::Row<'_>| {
        Ok((
            row.get::<String>(0)?,
            Existing { created: row.get(1)?, owner: row.get(2)?, doc: row.doc(3)?.into_owned() },
        ))
    };
    let rows = tx.rows(sql, &params![ids.to_vec()], read).await?;
    Ok(rows.into_iter().collect())
}

/// The ids of items that the condition holds for; nothing when there is no condition.
///
/// A condition tells something of the item, so it sees only what the caller may read.
async fn fitting(
    tx: &mut Tx<'_>,
    target: &Target,
    ids: &[String],
    condition: Option<&Filter>,
) -> Result<Option<HashSet<String>>> {
    let Some(condition) = condition else { return Ok(None) };
    let scope = level::scope(&target.caller, Operation::Read, &target.collection)?;
    let among = Test::In(ids.iter().cloned().map(Scalar::Text).collect());
    let filter = Filter::all([scope.filter(), Filter::Test(Field::Id, among), condition.clone()]);
    let mut sql = Writer::new(tx.dialect());
    sql.push("select id from ").push(&target.collection.texts.name).push(" where ");
    compile::condition(&mut sql, &filter);
    let (sql, params) = sql.finish();
    Ok(Some(tx.rows(&sql, &params, |row| row.get(0)).await?.into_iter().collect()))
}

/// What a change comes to: an answer for each item, a row for each id.
#[derive(Default)]
struct Batch {
    answers: Vec<Result<Written>>,
    rows: Vec<Vec<Value>>,
    /// Where the row of an id is.
    places: HashMap<String, usize>,
    /// Whose answer stands for a row, and whose update.
    answer_of: Vec<usize>,
    update_of: Vec<usize>,
    created: Vec<usize>,
    updated: Vec<(String, Vec<String>)>,
    work: Work,
}

impl Batch {
    fn add(
        &mut self,
        target: &Target,
        mode: Mode,
        incoming: &Incoming,
        there: &mut HashMap<String, Existing>,
        fitting: Option<&HashSet<String>>,
    ) {
        let old = there.get(&incoming.id);
        // What can't be shown isn't written either: the caller would take it for not written.
        let decided = self.decide(target, mode, incoming, old, fitting);
        let (row, shown) = match decided.and_then(|row| target.shown(&row).map(|shown| (row, shown))) {
            Ok(it) => it,
            Err(fault) => return self.answers.push(Err(fault)),
        };
        let (is_new, after) = (old.is_none(), doc(&row).to_owned());
        if let Some(old) = old {
            self.update_of.push(self.places.get(&incoming.id).copied().unwrap_or(self.rows.len()));
            self.updated.push((after.clone(), event::modified(&old.doc, &after)));
        }
        let created = match row.get(CREATED) {
            Some(Value::Int(it)) => *it,
            _ => target.now,
        };
        let now_there = Existing { created, owner: text(&row, OWNER).map(str::to_owned), doc: after.clone() };
        there.insert(incoming.id.clone(), now_there);
        match self.places.get(&incoming.id) {
            Some(&place) => self.rows[place] = row,
            None => {
                let place = self.rows.len();
                self.places.insert(incoming.id.clone(), place);
                if is_new {
                    self.created.push(place);
                }
                self.rows.push(row);
                self.answer_of.push(self.answers.len());
            }
        }
        self.answers.push(Ok(Written { is_new, doc: shown, lacks: Vec::new() }));
    }

    fn decide(
        &mut self,
        target: &Target,
        mode: Mode,
        incoming: &Incoming,
        old: Option<&Existing>,
        fitting: Option<&HashSet<String>>,
    ) -> Result<Vec<Value>> {
        let (collection, id) = (&target.collection, &incoming.id);
        match (old, &incoming.draft) {
            (None, Draft::Whole(item)) if mode == Mode::Save => {
                level::may_insert(&target.caller, collection)?;
                target.new_row(id.clone(), item)
            }
            (None, _) => Err(missing(collection, id)),
            (Some(old), draft) => {
                let scope = level::scope(&target.caller, Operation::Update, collection)?;
                let fits = fitting.is_none_or(|it| it.contains(id));
                if !covers(&scope, old.owner.as_deref()) || !fits {
                    return Err(missing(collection, id));
                }
                target.changed_row(id.clone(), draft, old, &mut self.work)
            }
        }
    }

    async fn write(mut self, tx: &mut Tx<'_>, target: &Target) -> Result<Vec<Result<Written>>> {
        if unique::guards(&target.collection) {
            let breaches = unique::breaches(tx, target, &self.rows).await?;
            self.leave_out(breaches);
        }
        if !self.rows.is_empty()
            && let Err(error) = tx.insert_rows(target.insert(Some(statements::REPLACE), &self.rows)).await
        {
            return Err(unique::refused(tx, &target.collection, &self.rows, error));
        }
        if !self.created.is_empty() {
            target.author.created(tx, self.created.iter().map(|it| doc(&self.rows[*it]))).await?;
        }
        if !self.updated.is_empty() {
            target.author.updated(tx, &self.updated).await?;
        }
        Ok(self.answers)
    }
}

impl Batch {
    /// Takes rows out again; the batch has each id once.
    fn leave_out(&mut self, refused: HashMap<usize, Fault>) {
        if refused.is_empty() {
            return;
        }
        let mut kept = Vec::with_capacity(self.rows.len());
        let mut place_of = HashMap::with_capacity(self.rows.len());
        for (place, row) in std::mem::take(&mut self.rows).into_iter().enumerate() {
            if !refused.contains_key(&place) {
                place_of.insert(place, kept.len());
                kept.push(row);
            }
        }
        self.rows = kept;
        self.created = self.created.iter().filter_map(|it| place_of.get(it).copied()).collect();
        let mut updates = self.update_of.iter();
        self.updated.retain(|_| updates.next().is_some_and(|it| place_of.contains_key(it)));
        for (place, fault) in refused {
            if let Some(answer) = self.answer_of.get(place).and_then(|it| self.answers.get_mut(*it)) {
                *answer = Err(fault);
            }
        }
    }
}

/// Removes items and answers, for each id, the document that was there as the caller is shown it, or
/// nothing of it if `shows` is off: a thousand documents need not be read to be removed.
pub(crate) async fn remove(
    site: &Site,
    target: &Target,
    ids: Vec<String>,
    condition: Option<Filter>,
    shows: bool,
) -> Result<Vec<Result<String>>> {
    let (target, ids, condition) = (target.clone(), Arc::new(ids), condition.map(Arc::new));
    let site_id = site.id.clone();
    site.write(move |tx| {
        let (site_id, target, ids, condition) = (site_id.clone(), target.clone(), ids.clone(), condition.clone());
        boxed!({
            let collection = &target.collection;
            let scope = level::scope(&target.caller, Operation::Remove, collection)?;
            let texts = &collection.texts;
            let mut there = existing(tx, if shows { &texts.some } else { &texts.some_briefly }, &ids).await?;
            let fitting = fitting(tx, &target, &ids, condition.as_deref()).await?;
            there.retain(|id, it| {
                covers(&scope, it.owner.as_deref()) && fitting.as_ref().is_none_or(|fitting| fitting.contains(id))
            });
            let gone: Vec<String> = ids.iter().filter(|it| there.contains_key(*it)).cloned().collect();
            // An id that stands twice in the list is found once.
            let answer = |id: &String| match there.remove(id) {
                Some(it) if shows => Ok(target.sight.show_last(&it.doc)),
                Some(_) => Ok(String::new()),
                None => Err(missing(collection, id)),
            };
            let answers: Vec<_> = ids.iter().map(answer).collect();
            if !gone.is_empty() {
                let gone: Vec<String> = unique(gone);
                tx.send(&collection.texts.delete, params![gone.clone()]).await?;
                link::items_removed(tx, &site_id, collection.table.number, &gone).await?;
                target.author.deleted(tx, &gone).await?;
            }
            Ok(answers)
        })
    })
    .await
}

fn unique(list: Vec<String>) -> Vec<String> {
    let mut seen = HashSet::with_capacity(list.len());
    list.into_iter().filter(|it| seen.insert(it.clone())).collect()
}

/// Whether a scope lets an item of this owner through.
pub(crate) fn covers(scope: &Scope, owner: Option<&str>) -> bool {
    match scope {
        Scope::Everything => true,
        Scope::OwnedBy(it) => owner == Some(it),
        Scope::Nothing => false,
    }
}

/// The item isn't there, or the caller may not know that it is.
pub(crate) fn missing(collection: &Collection, id: &str) -> Fault {
    let text = format!("Item {id} does not exist in collection {}.", collection.id);
    Fault::because(Code::ItemNotFound, text).with("itemId", id).with("collectionName", collection.id.as_str())
}

/// The id is taken.
pub(crate) fn exists(collection: &Collection, id: &str) -> Fault {
    let text = format!("An item with _id {id} exists in collection {}.", collection.id);
    Fault::because(Code::ItemExists, text).with("itemId", id).with("collectionName", collection.id.as_str())
}
