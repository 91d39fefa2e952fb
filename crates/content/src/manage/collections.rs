//! Collections made, changed, deleted and restored by those who run the site (docs/protocol/content.md §6.2).
//!
//! Each call is one transaction over the definition; a table of items is made with its collection. The
//! node that changes a definition forgets what it knew of it before it answers.

use crate::{
    Content, RequestContext,
    collection::{
        Collection,
        access::{self, ManageAccess, Manager},
        cache, cipher, load, load_existing, save,
        stored::{StoredCollection, live},
        view,
    },
    drafts::Drafts,
    fault::{self, Faults, field_not_found, invalid, missing},
    item::{insert::insert_single, row::WriteContext, truncate},
    limits::ContentLimits,
    log::keep_reason,
    manage::{
        encryption,
        making::{Purge, check_count, make_collection, next_number},
        paired::{self, Pairing},
        relations::{self, Defined},
    },
    schema::{
        catalog,
        definition::{self, Definition},
        encrypted, field, page_link,
        rules::Rules,
        special::PrincipalGrants,
        translatable,
    },
};
use serde_json::{Map, Value};
use std::{sync::Arc, time::Duration};
use stoa_kernel::{Caller, Code, Fault, Result, clock::Millis};
use stoa_sql::Table;
use stoa_store::{Site, Tx, boxed, outbox};

/// How long a call waits for the values of a deleted field to go.
const PURGE: Duration = Duration::from_secs(5);

impl Content {
    /// Makes a collection from its wire object and answers the whole of it.
    ///
    /// # Errors
    /// WDE0027 without the right to manage collections, WDE0104 when the id is taken, WDE0075, WDE0134 and
    /// WDE0147 when the object isn't valid.
    pub async fn collection_create(&self, site: &Arc<Site>, caller: &Caller, object: &Value) -> Result<Value> {
        let manager = access::manager(caller)?;
        let mut faults = Faults::default();
        let id = faults.take(definition::parse_id(object, self.limits())).unwrap_or_default().to_owned();
        let definition = faults.take(Definition::parse(object, None, self.limits()));
        faults.refuse()?;
        let Some(mut definition) = definition else { return Err(Fault::internal("a definition was lost")) };
        paired::settle(&id, None, &mut definition, self.limits())?;
        let access = manager.creation(&id, &definition)?;
        Rules::check(&definition, self.limits())?;
        page_link::check(None, &definition, &[])?;
        let creation = Arc::new(Creation {
            content: self.clone(),
            site: site.clone(),
            caller: caller.clone(),
            manager,
            access,
            id,
            definition,
            now: self.state.world.now(),
        });
        // Each takes the next number of all, so two at a time would only hinder each other.
        let made = site.write_alone_with(creation.clone(), |tx, creation| boxed!(creation.run(tx).await));
        let (made, reconciled) = made.await?;
        self.state.schema_cache.forget(&site.id, &creation.id);
        relations::after_change(self, site, &reconciled).await?;
        Ok(view::view(&made, caller, false, self.limits()))
    }

    /// Puts a new definition in the place of the old one. The object names the revision it was made from.
    ///
    /// # Errors
    /// As for create, and WDE0178 when the revision isn't the current one, WDE0025.
    pub async fn collection_update(&self, site: &Arc<Site>, caller: &Caller, object: &Value) -> Result<Value> {
        let mut faults = Faults::default();
        let id = faults.take(definition::parse_id(object, self.limits())).unwrap_or_default().to_owned();
        let revision = faults.take(parse_revision(object)).flatten();
        if object.get("revision").is_none_or(Value::is_null) {
            faults.add(missing("collection.revision"));
        }
        if object.get("fields").is_none_or(Value::is_null) {
            faults.add(missing("collection.fields"));
        }
        faults.refuse()?;
        let object = object.clone();
        let make = move |before: &Definition, limits: &ContentLimits| Definition::parse(&object, Some(before), limits);
        change(self, site, caller, Revised { id, revision, discards_drafts: false, make }).await
    }

    /// Changes the members that the object has. A revision is checked if it is there.
    ///
    /// # Errors
    /// As for update.
    pub async fn collection_patch(&self, site: &Arc<Site>, caller: &Caller, object: &Value) -> Result<Value> {
        let id = definition::parse_id(object, self.limits())?.to_owned();
        let revision = parse_revision(object)?;
        let object = object.clone();
        let make = move |before: &Definition, limits: &ContentLimits| before.patched(&object, limits);
        change(self, site, caller, Revised { id, revision, discards_drafts: false, make }).await
    }

    /// Deletes a collection. It can be restored, with its items, until its id is used again.
    ///
    /// # Errors
    /// WDE0027, WDE0025.
    pub async fn collection_delete(&self, site: &Arc<Site>, caller: &Caller, id: &str) -> Result<()> {
        let manager = access::manager_of(caller, id)?;
        let access = manager.deletion(id, load_existing(self, site, id).await?.levels())?;
        let now = self.state.world.now();
        let deleted = site.write_with(
            (site.id.clone(), id.to_owned(), access, manager),
            move |tx, (site, id, access, manager)| {
                boxed!({
                    paired::delete(tx, site, id, now, manager).await?;
                    save::delete(tx, site, id, now, access).await
                })
            },
        );
        let was_there = deleted.await?;
        cache::announce(self, site, [id, &paired::drafts_id(id)]).await?;
        if was_there { Ok(()) } else { Err(fault::collection_not_found(id)) }
    }

    /// Brings back the collection that was last deleted under this id.
    ///
    /// # Errors
    /// WDE0027, WDE0025 when none was, WDE0104 when the id is in use, WDE0080 when the site has as many
    /// collections as it may have.
    pub async fn collection_restore(&self, site: &Arc<Site>, caller: &Caller, id: &str) -> Result<Value> {
        let manager = access::manager(caller)?;
        let access = manager.restoration(id)?;
        if id.contains(char::is_control) {
            return Err(fault::collection_not_found(id));
        }
        let (most, now) = (self.limits().collections, self.state.world.now());
        let restored = site.write_with(
            (site.id.clone(), id.to_owned(), access, manager),
            move |tx, (site, id, access, manager)| {
                boxed!({
                    if live(tx, site, id).await?.is_some() {
                        return Err(fault::collection_exists(id));
                    }
                    check_count(tx, site, most).await?;
                    if !save::restore(tx, site, id, now, access).await? {
                        return Err(fault::collection_not_found(id));
                    }
                    let restored = live(tx, site, id).await?;
                    if let Some(it) = &restored
                        && paired::restore(tx, site, it, now, manager).await?
                    {
                        check_count(tx, site, most.saturating_add(1)).await?;
                    }
                    match restored {
                        Some(it) if it.definition.keeps_old_values() => outbox::keep(tx, site, &keep_reason(id)).await,
                        _ => Ok(()),
                    }
                })
            },
        );
        restored.await?;
        cache::announce(self, site, [id, &paired::drafts_id(id)]).await?;
        self.collection_get(site, caller, id, &[], false).await
    }

    /// Adds a field.
    ///
    /// # Errors
    /// As for update, and WDE0123 when there is a field with this key.
    pub async fn field_create(&self, site: &Arc<Site>, caller: &Caller, id: &str, field: &Value) -> Result<Value> {
        let field = field::parse(field, "field", self.limits())?;
        let make = move |before: &Definition, limits: &ContentLimits| {
            let (mut after, key) = (before.clone(), field::key(&field));
            if field::is_system(key) || after.fields.iter().any(|it| field::key(it) == key) {
                let text = format!("The field {key} already exists.");
                return Err(Fault::because(Code::UniqueConflict, text).with("propertyName", key));
            }
            after.fields.push(field.clone());
            field::check_count(after.fields.len(), "collection.fields", limits)?;
            Ok(after)
        };
        change(self, site, caller, Revised { id: id.to_owned(), revision: None, discards_drafts: false, make }).await
    }

    /// Puts a field's definition in the place of the one with its key; with `is_patch` only the members
    /// that are given.
    ///
    /// # Errors
    /// As for update, and WDE0147 when there is no such field.
    pub async fn field_update(
        &self,
        site: &Arc<Site>,
        caller: &Caller,
        id: &str,
        field: &Value,
        is_patch: bool,
    ) -> Result<Value> {
        let input = field.clone();
        let make = move |before: &Definition, limits: &ContentLimits| {
            let key = input.get("key").and_then(Value::as_str).ok_or_else(|| missing("field.key"))?;
            let mut after = before.clone();
            let old = after.fields.iter_mut().find(|it| field::key(it) == key).ok_or_else(|| field_not_found(key))?;
            let mut whole = if is_patch { old.clone() } else { Map::new() };
            whole.extend(input.as_object().cloned().unwrap_or_default());
            *old = field::parse(&Value::Object(whole), "field", limits)?;
            Ok(after)
        };
        change(self, site, caller, Revised { id: id.to_owned(), revision: None, discards_drafts: false, make }).await
    }

    /// Takes a field out of the definition, and its values out of the items ([`crate::item::truncate`]): before the
    /// answer when that takes seconds, else after it. Until it is done no field can have the key.
    ///
    /// # Errors
    /// As for update, and WDE0147 when there is no such field.
    pub async fn field_delete(&self, site: &Arc<Site>, caller: &Caller, id: &str, key: &str) -> Result<Value> {
        let key = key.to_owned();
        let make = move |before: &Definition, _: &ContentLimits| {
            let mut after = before.clone();
            after.fields.retain(|it| field::key(it) != key);
            if after.fields.len() == before.fields.len() { Err(field_not_found(&key)) } else { Ok(after) }
        };
        change(self, site, caller, Revised { id: id.to_owned(), revision: None, discards_drafts: false, make }).await
    }
}

/// A change of a definition.
pub(crate) struct Revised<F> {
    /// The collection's.
    pub id: String,
    /// The revision that the change was made from, if the request says.
    pub revision: Option<i64>,
    /// Whether drafts go with the plugin DRAFT_ITEMS; without it there must be none.
    pub discards_drafts: bool,
    /// What becomes of the definition.
    pub make: F,
}

/// Replaces the definition of a collection with what is made of it, in one transaction, and answers the whole of
/// the collection.
pub(crate) async fn change<F>(
    content: &Content,
    site: &Arc<Site>,
    caller: &Caller,
    revised: Revised<F>,
) -> Result<Value>
where
    F: Fn(&Definition, &ContentLimits) -> Result<Definition> + Send + Sync + 'static,
{
    let changed = change_definition(content, site, caller, revised).await?;
    Ok(view::view(&changed, caller, false, content.limits()))
}

/// The same, answering the collection as it is then.
pub(crate) async fn change_definition<F>(
    content: &Content,
    site: &Arc<Site>,
    caller: &Caller,
    revised: Revised<F>,
) -> Result<Arc<Collection>>
where
    F: Fn(&Definition, &ContentLimits) -> Result<Definition> + Send + Sync + 'static,
{
    let manager = access::manager_of(caller, &revised.id)?;
    if revised.id.contains('\0') {
        return Err(fault::collection_not_found(&revised.id));
    }
    // What is wrong with the change itself is found by the transaction.
    if let Ok(known) = load(content, site, &revised.id).await
        && let Ok(after) = (revised.make)(&known.definition, content.limits())
        && manager.change(&revised.id, &known.definition, &after).is_ok()
    {
        encryption::refuse_clear(site, &known, &after).await?;
    }
    let revision = Arc::new(Revision {
        content: content.clone(),
        site: site.clone(),
        caller: caller.clone(),
        manager,
        revised,
        job: content.state.world.uuid(),
        now: content.state.world.now(),
    });
    let outcome = site.write_with(revision.clone(), |tx, revision| boxed!(revision.run(tx).await)).await?;
    content.state.schema_cache.forget(&site.id, &revision.revised.id);
    relations::after_change(content, site, &outcome.reconciled).await?;
    if (outcome.has_encrypted || outcome.has_languages) && site.is_shared() {
        // For so long another node may not know of it, and would store the field's values as they come, or remove items
        // without what they are in other languages.
        tokio::time::sleep(Duration::from_millis(cache::LIFE.unsigned_abs())).await;
    }
    for table in outcome.purged {
        // The job goes on by itself if it takes longer, and is taken up again if it fails.
        let purge = tokio::time::timeout(PURGE, truncate::run(content, site, table)).await;
        if let Ok(Err(fault)) = purge {
            tracing::warn!(site = %site.id, "the values of a deleted field remain for now: {fault:?}");
        }
    }
    Ok(outcome.collection)
}

/// A collection on its way into a row and a table.
struct Creation {
    content: Content,
    site: Arc<Site>,
    caller: Caller,
    manager: Manager,
    access: ManageAccess,
    id: String,
    definition: Definition,
    now: Millis,
}

impl Creation {
    async fn run(&self, tx: &mut Tx<'_>) -> Result<(Arc<Collection>, relations::Reconciled)> {
        let Self { content, site, manager, id, now, .. } = self;
        let (now, limits, mut definition) = (*now, content.limits(), self.definition.clone());
        translatable::settle(None, &mut definition)?;
        catalog::settle(None, &mut definition)?;
        if live(tx, &site.id, id).await?.is_some() {
            return Err(fault::collection_exists(id));
        }
        let number = next_number(tx, &site.id, limits.collections).await?;
        let defined = Defined { manager, site: &site.id, number, id, now, limits };
        let mut reconciled = relations::reconcile(tx, &defined, &[], &mut definition).await?;
        let single = definition.single_item().map(str::to_owned);
        let (grants, indexes) = (PrincipalGrants::default(), Vec::new());
        let id = id.clone();
        let stored =
            StoredCollection { number, id, definition, revision: 1, created: now, updated: now, grants, indexes };
        make_collection(tx, site, &stored, &self.access).await?;
        let pairing = Pairing { manager, site, number, id: &stored.id, now, limits, job: "", discards: false };
        reconciled.touched.extend(pairing.follow(tx, None, &stored.definition).await?.map(|it| it.id));
        let made = Arc::new(Collection::new(site, stored));
        let context = RequestContext::new(content, site, &self.caller, Drafts::Included);
        complete(tx, context, &made, single.as_deref(), &self.access).await?;
        Ok((made, reconciled))
    }
}

/// A change of a definition on its way into the collection's row.
struct Revision<F> {
    content: Content,
    site: Arc<Site>,
    caller: Caller,
    manager: Manager,
    revised: Revised<F>,
    /// The id of the job that purges what is removed.
    job: String,
    now: Millis,
}

/// The result of a change of a definition.
struct RevisionOutcome {
    collection: Arc<Collection>,
    reconciled: relations::Reconciled,
    /// Tables out of whose items the values of removed fields are to go.
    purged: Vec<Table>,
    /// Whether encrypted fields were added.
    has_encrypted: bool,
    /// Whether items may have values in other languages from now on.
    has_languages: bool,
}

impl<F: Fn(&Definition, &ContentLimits) -> Result<Definition>> Revision<F> {
    async fn run(&self, tx: &mut Tx<'_>) -> Result<RevisionOutcome> {
        let Self { content, site, caller, manager, revised, now, .. } = self;
        let (now, limits, id) = (*now, content.limits(), &revised.id);
        let Some(mut stored) = live(tx, &site.id, id).await? else {
            return Err(fault::collection_not_found(id));
        };
        if let Some(wrong) = revised.revision.filter(|it| *it != stored.revision) {
            let text = format!("Revision {wrong} is not the current one.");
            let current = stored.revision.to_string();
            return Err(Fault::because(Code::RevisionWrong, text).with("currentRevision", current));
        }
        let mut after = (revised.make)(&stored.definition, limits)?.settled();
        paired::settle(id, Some(&stored.definition), &mut after, limits)?;
        translatable::settle(Some(&stored.definition), &mut after)?;
        catalog::settle(Some(&stored.definition), &mut after)?;
        let access = manager.change(id, &stored.definition, &after)?;
        Rules::check(&after, limits)?;
        page_link::check(Some(&stored.definition), &after, &stored.indexes)?;
        encrypted::check(&stored.definition, &after, &stored.indexes)?;
        let defined = Defined { manager, site: &site.id, number: stored.number, id, now, limits };
        let mut reconciled = relations::reconcile(tx, &defined, &stored.definition.fields, &mut after).await?;
        let purge = Purge { site: &site.id, site_number: site.number, job: &self.job, now };
        let has_removed = purge.begin(tx, &stored, &after, &access).await?;
        let discards = revised.discards_drafts;
        let pairing = Pairing { manager, site, number: stored.number, id, now, limits, job: &self.job, discards };
        let followed = pairing.follow(tx, Some(&stored.definition), &after).await?;
        let purged = followed.as_ref().and_then(|it| it.purged);
        reconciled.touched.extend(followed.map(|it| it.id));
        let has_languages = after.keeps_translations && !stored.definition.keeps_translations;
        let has_encrypted = encrypted::added(&stored.definition, &after).next().is_some();
        let single = after.single_item().filter(|it| stored.definition.single_item() != Some(it));
        let single = single.map(str::to_owned);
        stored.updated = now;
        let before = std::mem::replace(&mut stored.definition, after);
        save::update(tx, &site.id, &mut stored, now, &access).await?;
        if !before.has_same_access(&stored.definition) {
            save::tell_access(tx, &site.id, id, now, &access).await?;
        }
        match (before.keeps_old_values(), stored.definition.keeps_old_values()) {
            (false, true) => outbox::keep(tx, &site.id, &keep_reason(id)).await?,
            (true, false) => outbox::keep_no_longer(tx, &site.id, &keep_reason(id)).await?,
            _ => {}
        }
        let collection = Arc::new(Collection::new(site, stored));
        let context = RequestContext::new(content, site, caller, Drafts::Included);
        complete(tx, context, &collection, single.as_deref(), &access).await?;
        let own = has_removed.then_some(collection.table);
        let purged = own.into_iter().chain(purged).collect();
        Ok(RevisionOutcome { collection, reconciled, purged, has_encrypted, has_languages })
    }
}

/// Makes what a new definition needs beside its row: the key of encrypted fields, and the only item of a
/// collection that can have but one.
async fn complete(
    tx: &mut Tx<'_>,
    context: RequestContext<'_>,
    collection: &Arc<Collection>,
    single: Option<&str>,
    access: &ManageAccess,
) -> Result<()> {
    let RequestContext { content, site, caller, .. } = context;
    let cipher = cipher::create(tx, &content.state.world, &site.id, collection).await?;
    match single {
        Some(id) => {
            let access = access.single_item(caller, collection);
            insert_single(tx, &WriteContext::new(content, site, access, cipher), id).await
        }
        None => Ok(()),
    }
}

/// A revision travels as text.
fn parse_revision(object: &Value) -> Result<Option<i64>> {
    let revision = match object.get("revision") {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::String(it)) => it.parse().ok(),
        Some(it) => it.as_i64(),
    };
    revision.map(Some).ok_or_else(|| invalid("collection.revision", "must be a whole number as a string"))
}
