//! The paired collection of the plugin DRAFT_ITEMS (docs/protocol/content.md §3.7; decision 37): made, kept in step and
//! deleted with the collection whose drafts it has.

use crate::{
    collection::{
        access::Manager,
        save,
        stored::{StoredCollection, live},
    },
    fault::{self, invalid, invalid_as},
    limits::ContentLimits,
    manage::making::{Purge, make_collection, next_number},
    schema::{
        definition::{self, Definition},
        field,
        plugin::{MULTILINGUAL, is_drafts, set_draft_option},
        relation,
        special::PrincipalGrants,
    },
};
use serde_json::json;
use stoa_kernel::{Code, Fault, Result, SiteId, clock::Millis};
use stoa_sql::Table;
use stoa_store::{Site, Tx};

/// The id of the collection that has the drafts of another.
pub(crate) fn drafts_id(published: &str) -> String {
    format!("{published}__drafts")
}

/// Completes a new definition with what only the server says of its pair.
///
/// # Errors
/// WDE0080 for a collection of drafts, which is changed by way of the other; WDE0075 and WDE0119 for what doesn't go with
/// the plugin.
pub(crate) fn settle(
    id: &str,
    before: Option<&Definition>,
    after: &mut Definition,
    limits: &ContentLimits,
) -> Result<()> {
    if let Some(published) = before.and_then(Definition::published_id) {
        return Err(fault::follows(published));
    }
    let old = before.filter(|it| it.draft_levels().is_some());
    // Older versions kept the plugin without a pair.
    let has_pair = old.is_none_or(|it| it.drafts_id().is_some());
    let conflicts = ["PUBLISH", "SINGLE_ITEM"].into_iter().find(|it| after.has_plugin(it));
    let is_encrypted = after.fields.iter().any(field::is_encrypted);
    let is_translated = after.keeps_translations || after.has_plugin(MULTILINGUAL);
    let Some(plugin) = after.plugins.iter_mut().find(|it| is_drafts(it)).filter(|_| has_pair) else { return Ok(()) };
    if let Some(other) = conflicts {
        return Err(invalid("collection.plugins", &format!("must not have both {other} and DRAFT_ITEMS")));
    }
    if is_encrypted {
        return Err(unsupported("encrypted fields"));
    }
    if is_translated {
        return Err(unsupported("values in other languages"));
    }
    let drafts = drafts_id(id);
    if old.is_none() {
        definition::parse_id(&json!({ "id": drafts }), limits)?;
    }
    set_draft_option(plugin, "draftsCollectionId", drafts.into());
    Ok(())
}

/// A change of a collection, which its pair follows.
pub(crate) struct Pairing<'a> {
    pub manager: &'a Manager,
    pub site: &'a Site,
    pub number: i64,
    pub id: &'a str,
    pub now: Millis,
    pub limits: &'a ContentLimits,
    /// What the ids of jobs begin with that purge values of removed fields.
    pub job: &'a str,
    /// Whether drafts go with the plugin.
    pub discards: bool,
}

/// A collection of drafts that was made, changed or deleted.
pub(crate) struct Followed {
    pub id: String,
    /// Its table, if values are to go out of its items.
    pub purged: Option<Table>,
}

impl Pairing<'_> {
    /// Does to the collection of drafts what follows from a definition.
    ///
    /// # Errors
    /// WDE0027, WDE0104 when its id is taken, WDE0080 when drafts are in the way, WDE0119 for multi-references.
    pub(crate) async fn follow(
        &self,
        tx: &mut Tx<'_>,
        before: Option<&Definition>,
        after: &Definition,
    ) -> Result<Option<Followed>> {
        let (old, new) = (before.and_then(Definition::drafts_id), after.drafts_id());
        if new.is_some() {
            let relations = relation::relations(tx, &self.site.id, self.number).await?;
            if relations.iter().any(|it| it.referring.collection == self.number) {
                return Err(unsupported("multi-references"));
            }
        }
        match (old, new) {
            (None, None) => Ok(None),
            (None, Some(id)) => self.make(tx, id, after).await.map(Some),
            (Some(id), None) => self.delete(tx, id).await.map(Some),
            (Some(id), Some(_)) => self.change(tx, id, after).await,
        }
    }

    async fn make(&self, tx: &mut Tx<'_>, id: &str, published: &Definition) -> Result<Followed> {
        if live(tx, &self.site.id, id).await?.is_some() {
            return Err(fault::collection_exists(id));
        }
        let definition = published.of_drafts(self.id);
        let access = self.manager.creation(id, &definition)?;
        let number = next_number(tx, &self.site.id, self.limits.collections).await?;
        let (grants, indexes, now) = (PrincipalGrants::default(), Vec::new(), self.now);
        let id = id.to_owned();
        let stored =
            StoredCollection { number, id, definition, revision: 1, created: now, updated: now, grants, indexes };
        make_collection(tx, self.site, &stored, &access).await?;
        Ok(Followed { id: stored.id, purged: None })
    }

    async fn change(&self, tx: &mut Tx<'_>, id: &str, published: &Definition) -> Result<Option<Followed>> {
        let (site, now) = (&self.site.id, self.now);
        let mut stored = live(tx, site, id).await?.ok_or_else(|| fault::collection_not_found(id))?;
        let after = published.of_drafts(self.id);
        if stored.definition == after {
            return Ok(None);
        }
        let access = self.manager.change(id, &stored.definition, &after)?;
        let job = format!("{}-drafts", self.job);
        let purge = Purge { site, site_number: self.site.number, job: &job, now };
        let has_removed = purge.begin(tx, &stored, &after, &access).await?;
        let before = std::mem::replace(&mut stored.definition, after);
        save::update(tx, site, &mut stored, now, &access).await?;
        if !before.has_same_access(&stored.definition) {
            save::tell_access(tx, site, id, now, &access).await?;
        }
        let table = Table { site: self.site.number, number: stored.number };
        Ok(Some(Followed { id: stored.id, purged: has_removed.then_some(table) }))
    }

    async fn delete(&self, tx: &mut Tx<'_>, id: &str) -> Result<Followed> {
        let site = &self.site.id;
        let stored = live(tx, site, id).await?.ok_or_else(|| fault::collection_not_found(id))?;
        let access = self.manager.deletion(id, &stored.definition.levels)?;
        if !self.discards {
            let table = tx.dialect().table(Table { site: self.site.number, number: stored.number });
            let one = tx.row(&format!("select id from {table} limit 1"), &[], |row| row.get::<String>(0)).await?;
            if one.is_some() {
                let text = "The collection has drafts: publish or remove them, or name DISCARD_EXISTING_DRAFT_ITEMS.";
                return Err(Fault::because(Code::BadRequest, text));
            }
        }
        save::delete(tx, site, id, self.now, &access).await?;
        Ok(Followed { id: id.to_owned(), purged: None })
    }
}

/// Deletes the collection of drafts of one that is deleted.
///
/// # Errors
/// WDE0027, and WDE0080 for a collection of drafts, which goes with the other.
pub(crate) async fn delete(tx: &mut Tx<'_>, site: &SiteId, id: &str, now: Millis, manager: &Manager) -> Result<()> {
    let Some(stored) = live(tx, site, id).await? else { return Ok(()) };
    if let Some(published) = stored.definition.published_id() {
        return Err(fault::follows(published));
    }
    if let Some(drafts) = stored.definition.drafts_id() {
        let access = manager.deletion(drafts, &stored.definition.of_drafts(id).levels)?;
        save::delete(tx, site, drafts, now, &access).await?;
    }
    Ok(())
}

/// Restores the collection of drafts of one that is restored, and answers whether there is one.
///
/// # Errors
/// WDE0027, WDE0104 when its id is in use, WDE0080 for a collection of drafts, which comes back with the other.
pub(crate) async fn restore(
    tx: &mut Tx<'_>,
    site: &SiteId,
    restored: &StoredCollection,
    now: Millis,
    manager: &Manager,
) -> Result<bool> {
    if let Some(published) = restored.definition.published_id() {
        return Err(fault::follows(published));
    }
    let Some(drafts) = restored.definition.drafts_id() else { return Ok(false) };
    if live(tx, site, drafts).await?.is_some() {
        return Err(fault::collection_exists(drafts));
    }
    let access = manager.restoration(drafts)?;
    save::restore(tx, site, drafts, now, &access).await?;
    let pair = live(tx, site, drafts).await?;
    match pair.is_some_and(|it| it.definition.published_id() == Some(restored.id.as_str())) {
        true => Ok(true),
        false => Err(fault::collection_exists(drafts)),
    }
}

fn unsupported(what: &str) -> Fault {
    let rule = format!("names the plugin DRAFT_ITEMS, which is not supported yet in a collection with {what}");
    let fault = invalid_as(Code::NotSupported, "collection.plugins", &rule);
    fault.with("pluginType", "DRAFT_ITEMS").with("path", "collection.plugins")
}
