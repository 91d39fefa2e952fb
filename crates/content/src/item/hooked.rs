//! Items on their way through the hooks of a write: what is there is read, the hooks are asked, and what they answer is
//! written if the items are still what the hooks saw. Others are read and asked about again, [`TRIES`] times.

use crate::{
    RequestContext,
    collection::access::covers,
    fault,
    hook::{CallHooks, Question},
    item::{
        change::{Change, ChangeResult, Mode, PendingChange, change},
        references::{self, ReferenceChanges},
        remove::{Removal, remove},
        row::{DocumentPart, Existing, NewValue, Seen, WriteContext},
        visibility::{self, Item},
    },
    schema::level::Operation,
    wire::patch::{self, PatchBudget},
};
use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};
use stoa_hooks::Hook;
use stoa_kernel::{Fault, Result};
use stoa_query::{CanonicalItem, RawId};
use stoa_sql::json::quoted;
use stoa_store::{ReaderPool, boxed};

/// How often items are written, if others change them meanwhile.
const TRIES: usize = 5;
/// Writes of a call on the same item: each sees what the one before it left.
const ROUNDS: usize = 100;

/// The hooks of a call that writes.
pub(crate) struct WriteHooks<'a> {
    context: RequestContext<'a>,
    pub calls: CallHooks,
    /// Takes multi-references out of what a hook answers: links aren't a hook's to change.
    links: ReferenceChanges,
    /// Of all patches of the call.
    patches: PatchBudget,
}

impl<'a> WriteHooks<'a> {
    pub(crate) async fn load(
        context: RequestContext<'a>,
        collection: &crate::Collection,
        members: &serde_json::Map<String, serde_json::Value>,
    ) -> Result<Self> {
        let calls = CallHooks::of_members(context, collection, members).await?;
        let links = match [Hook::BeforeInsert, Hook::BeforeUpdate].iter().any(|it| calls.has(*it)) {
            true => references::of_collection(context, collection, false).await?,
            false => ReferenceChanges::default(),
        };
        Ok(Self { context, calls, links, patches: PatchBudget::default() })
    }

    /// Asks about all items that are to be inserted at once.
    pub(crate) async fn ahead_of_inserts(&mut self, items: impl Iterator<Item = (&str, &CanonicalItem)>) -> Result<()> {
        let Self { calls, links, .. } = self;
        let question = |(id, item): (&str, &CanonicalItem)| {
            let mut item = item.clone();
            links.take(0, &mut item).ok()?;
            Some((argument(id, &item), None))
        };
        calls.ahead(Hook::BeforeInsert, items.filter_map(question)).await
    }

    /// Asks about all items that were written, whose documents these are.
    pub(crate) async fn ahead_of_after<'d>(&self, hook: Hook, documents: impl Iterator<Item = &'d str>) -> Result<()> {
        self.calls.ahead(hook, documents.map(|it| (it.to_owned(), None))).await
    }

    /// A new item as its hook has it.
    pub(crate) async fn before_insert(&mut self, id: &str, item: CanonicalItem) -> Result<CanonicalItem> {
        self.before(Hook::BeforeInsert, id, item, None).await
    }

    /// Has what is written from now on be by the rights of this moment, once hooks were asked.
    ///
    /// # Errors
    /// WDE0027 where the right was withdrawn meanwhile.
    pub(crate) async fn renew(&self, write: &mut WriteContext) -> Result<()> {
        let collection = self.calls.still(self.context, write.collection()).await?;
        write.renew(self.context.site, collection).await
    }

    async fn renewed(&self, write: &WriteContext) -> Result<Arc<WriteContext>> {
        let mut write = write.clone();
        self.renew(&mut write).await?;
        Ok(Arc::new(write))
    }

    /// Changes items as [`change`] does, by way of their hooks.
    pub(crate) async fn change(&mut self, call: Change) -> Result<Vec<Result<ChangeResult>>> {
        let has = |it| self.calls.has(it);
        let is_asked = has(Hook::BeforeUpdate) || call.mode == Mode::Save && has(Hook::BeforeInsert);
        if !is_asked {
            return change(self.context.site, call).await;
        }
        let Change { mut context, mode, changes: sent, condition } = call;
        let mut results: Vec<_> = sent.iter().map(|it| Err(self.changed(&context, &it.id))).collect();
        let mut open: Vec<usize> = (0..sent.len()).collect();
        let (mut lost, mut rounds) = (0, 0);
        while lost < TRIES && rounds < ROUNDS {
            rounds += 1;
            let mut ids = HashSet::with_capacity(open.len());
            let (now, later): (Vec<usize>, Vec<usize>) = open.into_iter().partition(|n| ids.insert(&sent[*n].id));
            let there = self.there(&context, now.iter().map(|n| sent[*n].id.clone()).collect()).await?;
            let refused =
                |it: &PendingChange| PendingChange { id: it.id.clone(), value: NewValue::Refused, seen: None };
            let mut changes: Vec<_> = sent.iter().map(refused).collect();
            let mut asked = Vec::with_capacity(now.len());
            let mut steps = Vec::with_capacity(now.len());
            for n in now {
                steps.push((n, self.step(&context, mode, &sent[n], there.get(&sent[n].id))));
            }
            for hook in [Hook::BeforeInsert, Hook::BeforeUpdate] {
                let questions = steps.iter().filter_map(|(_, it)| it.as_ref().ok()?.question(hook));
                self.calls.ahead(hook, questions).await?;
            }
            for (n, step) in steps {
                match self.taken(step).await {
                    Ok(it) => {
                        changes[n] = it;
                        asked.push(n);
                    }
                    Err(fault) => results[n] = Err(fault),
                }
            }
            open = later;
            if !asked.is_empty() {
                context = match self.renewed(&context).await {
                    Ok(it) => it,
                    Err(fault) if rounds == 1 => return Err(fault),
                    Err(fault) => {
                        // What an earlier round wrote stands.
                        asked.into_iter().chain(open).for_each(|n| results[n] = Err(same(&fault)));
                        break;
                    }
                };
                let attempt = Change { context: context.clone(), mode, changes, condition: condition.clone() };
                let mut written: Vec<_> = change(self.context.site, attempt).await?.into_iter().map(Some).collect();
                let others = open.len();
                for n in asked {
                    let result = written.get_mut(n).and_then(Option::take);
                    results[n] = result.unwrap_or_else(|| Err(Fault::internal("a write answered nothing")));
                    if results[n].as_ref().is_err_and(fault::is_item_changed) {
                        open.push(n);
                    }
                }
                lost += usize::from(open.len() > others);
                open.sort_unstable();
            }
            if open.is_empty() {
                break;
            }
        }
        Ok(results)
    }

    /// Removes items as [`remove`] does, by way of their hooks.
    pub(crate) async fn remove(&self, removal: Removal) -> Result<Vec<Result<String>>> {
        let (before, after) = (self.calls.has(Hook::BeforeRemove), self.calls.has(Hook::AfterRemove));
        let Removal { mut context, ids, condition, shows, .. } = removal;
        // What comes after is told what was there.
        let shows = shows || after;
        if !before {
            return remove(self.context.site, Removal { context, ids, condition, shows, seen: None }).await;
        }
        let mut results: Vec<_> = ids.iter().map(|it| Err(self.changed(&context, it))).collect();
        let mut open: Vec<usize> = (0..ids.len()).collect();
        for round in 0..TRIES {
            let there = self.there(&context, open.iter().map(|n| ids[*n].clone()).collect()).await?;
            let scope = context.access().scope(Operation::Remove)?;
            let (mut seen, mut asked) = (HashMap::new(), Vec::new());
            let current = |id: &String| {
                let it = there.get(id).filter(|it| covers(&scope, it.owner.as_deref(), &it.doc))?;
                Some((it, context.view.show_last(&it.doc)))
            };
            let questions = open
                .iter()
                .filter_map(|n| Some((quoted(&ids[*n]).to_string(), Some(current(&ids[*n])?.1.to_string()))));
            self.calls.ahead(Hook::BeforeRemove, questions).await?;
            for n in open {
                let id = &ids[n];
                if let Some((it, current)) = current(id) {
                    if let Err(fault) = self.calls.ask(Hook::BeforeRemove, &quoted(id), Some(&current)).await {
                        results[n] = Err(fault);
                        continue;
                    }
                    seen.insert(id.clone(), Seen::of(&it.doc));
                }
                asked.push(n);
            }
            if asked.is_empty() {
                break;
            }
            let asked_ids = asked.iter().map(|n| ids[*n].clone()).collect();
            let condition = condition.clone();
            context = match self.renewed(&context).await {
                Ok(it) => it,
                Err(fault) if round == 0 => return Err(fault),
                Err(fault) => {
                    asked.into_iter().for_each(|n| results[n] = Err(same(&fault)));
                    break;
                }
            };
            let context = context.clone();
            let attempt = Removal { context, ids: asked_ids, condition, shows, seen: Some(seen) };
            open = Vec::new();
            for (n, result) in asked.into_iter().zip(remove(self.context.site, attempt).await?) {
                if result.as_ref().is_err_and(fault::is_item_changed) {
                    open.push(n);
                }
                results[n] = result;
            }
            if open.is_empty() {
                break;
            }
        }
        Ok(results)
    }

    /// A written document for [`Self::after`], where a hook is told of it.
    pub(crate) fn told(&self, document: &str) -> Option<String> {
        self.calls.has_after().then(|| document.to_owned())
    }

    /// An item as it is answered, after the hook that comes after it was told of its primary text. Only who may read all of the item
    /// is answered what the hook makes of it.
    pub(crate) async fn after(&self, hook: Hook, whole: Option<String>, mut item: Item) -> Result<Item> {
        let Some(whole) = whole.filter(|_| self.calls.has(hook)) else { return item.in_language() };
        if visibility::may_read(item.collection(), self.context.caller, &whole) {
            item.take(self.calls.after(hook, item.doc.clone()).await?);
        } else {
            self.calls.ask(hook, &whole, None).await?;
        }
        item.in_language()
    }

    /// The same of an item that was changed, or made by a save.
    pub(crate) async fn after_change(&self, is_new: bool, whole: Option<String>, item: Item) -> Result<Item> {
        self.after(if is_new { Hook::AfterInsert } else { Hook::AfterUpdate }, whole, item).await
    }

    /// What is to be done with a change before it is written, on the condition that the item is what it is now.
    fn step(
        &mut self,
        context: &WriteContext,
        mode: Mode,
        sent: &PendingChange,
        there: Option<&Existing>,
    ) -> Result<Step> {
        let id = sent.id.clone();
        let Some(there) = there else {
            let seen = Seen::Nothing;
            return match &sent.value {
                NewValue::Whole(item) if mode == Mode::Save => {
                    context.access().may_insert()?;
                    let (hook, item) = (Hook::BeforeInsert, item.clone());
                    Ok(Step::Ask(Asked { hook, id, item, current: None, named: None, seen, is_translation: false }))
                }
                other => Ok(Step::Write(PendingChange { id, value: other.clone(), seen: Some(seen) })),
            };
        };
        let seen = Seen::of(&there.doc);
        if !self.calls.has(Hook::BeforeUpdate) || !context.may_update(there.owner.as_deref(), &there.doc)? {
            return Ok(Step::Write(PendingChange { id, value: sent.value.clone(), seen: Some(seen) }));
        }
        let current = context.view.show(there.doc.as_str())?;
        let mut named = None;
        let item = match &sent.value {
            NewValue::Whole(item) | NewValue::Patched(item, _) => item.clone(),
            NewValue::Patch(modifications) => {
                let limits = context.content.limits().query.item();
                let mut patched = patch::apply(&current, modifications, &mut self.patches, limits)?;
                // As though it had been sent whole by who sent the patch.
                (patched.id, patched.created) = (RawId::Absent, None);
                if !modifications.iter().any(|it| it.field() == "_owner") {
                    patched.owner = None;
                }
                named = Some(modifications.iter().map(|it| it.field().to_owned()).collect());
                patched
            }
            NewValue::Refused => return Err(self.changed(context, &id)),
        };
        let (hook, current) = (Hook::BeforeUpdate, Some(current.to_string()));
        let is_translation = context.translations.is_in_language();
        Ok(Step::Ask(Asked { hook, id, item, current, named, seen, is_translation }))
    }

    /// A change as its hook has it.
    async fn taken(&mut self, step: Result<Step>) -> Result<PendingChange> {
        let Asked { hook, id, item, current, named, seen, is_translation } = match step? {
            Step::Write(change) => return Ok(change),
            Step::Ask(it) => it,
        };
        let item = self.before(hook, &id, item, current.as_deref()).await?;
        let value = match named {
            // A hook may refuse it, and what else it answers would change the primary text.
            _ if is_translation => NewValue::Patch(Vec::new()),
            Some(named) => NewValue::Patched(item, named),
            None => NewValue::Whole(item),
        };
        Ok(PendingChange { id, value, seen: Some(seen) })
    }

    async fn before(
        &mut self,
        hook: Hook,
        id: &str,
        item: CanonicalItem,
        current: Option<&str>,
    ) -> Result<CanonicalItem> {
        if !self.calls.has(hook) {
            return Ok(item);
        }
        let Some(answer) = self.calls.ask(hook, &argument(id, &item), current).await? else { return Ok(item) };
        let limits = self.context.content.limits().query.item();
        let mut changed = stoa_query::canonical(answer.get(), limits)?;
        // Whose the item is, and which, isn't the hook's to say.
        (changed.id, changed.owner, changed.created) = (item.id, item.owner, item.created);
        self.links.take(0, &mut changed)?;
        Ok(changed)
    }

    /// Items as they are stored, read outside of the transaction that writes.
    async fn there(&self, context: &Arc<WriteContext>, ids: Vec<String>) -> Result<HashMap<String, Existing>> {
        let context = context.clone();
        let read = self
            .context
            .site
            .read(ReaderPool::Point, move |tx| boxed!(context.existing(tx, &ids, DocumentPart::Whole).await));
        read.await
    }

    fn changed(&self, context: &WriteContext, id: &str) -> Fault {
        fault::item_changed(context.collection().id.as_str(), id)
    }
}

/// A refusal of one item, for another that it holds for as well.
fn same(fault: &Fault) -> Fault {
    Fault::because(fault.code(), fault.message().to_owned())
}

/// What is to be done before a change is written.
enum Step {
    Write(PendingChange),
    Ask(Asked),
}

/// A hook that is asked about a change.
struct Asked {
    hook: Hook,
    id: String,
    item: CanonicalItem,
    /// The item as it is stored.
    current: Option<String>,
    /// The fields that a patch names.
    named: Option<Vec<String>>,
    seen: Seen,
    /// Whether only values in a language are written.
    is_translation: bool,
}

impl Step {
    fn question(&self, asked: Hook) -> Option<Question> {
        match self {
            Self::Ask(it) if it.hook == asked => Some((argument(&it.id, &it.item), it.current.clone())),
            _ => None,
        }
    }
}

/// An item as a hook is given it.
fn argument(id: &str, item: &CanonicalItem) -> String {
    let data = item.data();
    let comma = if data == "{}" { "" } else { "," };
    format!("{{\"_id\":{}{comma}{}", quoted(id), &data[1..])
}
