//! What items are in another language, written (docs/translations.md, decision 38).
//!
//! To the item such a write is a patch of nothing: rights, conditions, hooks, locks and events are those of an update, and
//! only `_updatedDate` changes. Which values are written is decided on the item as it is shown to the caller, in the same
//! transaction.

use crate::{
    RequestContext,
    collection::{
        Collection,
        access::{self, ItemWrite},
        field_view::FieldView,
        translation::{self, AllValues, TranslationUpdate, Values, overlaid, stored_tag, value_bytes},
    },
    document::member,
    fault::{Faults, invalid_as, language_refused},
    limits::ContentLimits,
    schema::translatable::TranslatableFields,
    wire::{
        patch::{self, Modification, PatchBudget},
        request::Request,
    },
};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use stoa_kernel::{Caller, Code, Fault, LanguageTag, Millis, Result, SiteId};
use stoa_query::{CanonicalItem, item::members};
use stoa_sql::params;
use stoa_store::Tx;

/// Languages that an item may have beside its own.
pub(crate) const MOST_LANGUAGES: usize = 100;

/// What the items of a call are to be in other languages, by their places in the call.
#[derive(Default)]
pub(crate) struct TranslationChanges {
    /// The one that is written, and those that stand in for it; none for a call that says all languages of an item.
    languages: Vec<String>,
    fields: TranslatableFields,
    changes: HashMap<usize, TranslationChange>,
}

enum TranslationChange {
    /// The item as it is to be in the language.
    Whole(CanonicalItem),
    /// What it is in the language, changed so.
    Patch(Vec<Modification>),
    /// All that it is in other languages, by language and name.
    All(AllValues),
}

/// What is written of the items of one transaction, and who can't be.
#[derive(Default)]
pub(crate) struct Prepared {
    pub refusals: HashMap<usize, Fault>,
    items: BTreeMap<usize, PreparedItem>,
}

/// Who writes what items are in another language, and where.
#[derive(Clone, Copy)]
pub(crate) struct Writer<'w> {
    pub site: &'w SiteId,
    pub collection: &'w Collection,
    pub caller: &'w Caller,
    pub view: &'w FieldView,
    pub limits: &'w ContentLimits,
    pub now: Millis,
}

/// An item that the caller may write.
pub(crate) struct TargetItem<'i> {
    /// Its place in the call.
    pub index: usize,
    pub id: &'i str,
    /// Its owner and its document, if it is there.
    pub existing: Option<(Option<&'i str>, &'i str)>,
}

struct PreparedItem {
    /// By language and name; without a value it is taken away.
    values: Vec<(String, String, Option<String>)>,
    /// Whether nothing else of it remains.
    is_all: bool,
    /// What takes the place of values of the item as it is answered.
    shown: Values,
}

/// What an item is in the language of a call.
#[derive(Default, Clone)]
struct TranslationState {
    own: Values,
    /// Of the languages that stand in.
    others: Values,
    /// All that it has.
    languages: BTreeSet<String>,
    /// Of all of them together ([`value_bytes`]).
    bytes: usize,
}

impl TranslationChanges {
    /// Nothing, for a call without a language.
    ///
    /// # Errors
    /// WDE0027 for those who don't translate; WDE0119 for a collection without translatable fields, and for links;
    /// WDE0018 for a tag that is too long.
    pub(crate) fn of_request(
        context: RequestContext<'_>,
        collection: &Collection,
        request: &Request<'_>,
    ) -> Result<Self> {
        let Some(tag) = context.language.tag() else { return Ok(Self::default()) };
        access::translation(context.caller, collection)?;
        if collection.translatable.is_empty() {
            return Err(language_refused("can't be named in a write to a collection without translatable fields"));
        }
        check_length(&tag, "language")?;
        if request.saves_references()? {
            return Err(language_refused("can't be named in a write that saves references, which are in no language"));
        }
        Ok(Self { languages: tag.lookup(), fields: collection.translatable.clone(), changes: HashMap::new() })
    }

    /// For items that come with all that they are in other languages.
    pub(crate) fn of_import(collection: &Collection, all: impl Iterator<Item = (usize, AllValues)>) -> Self {
        let changes = all.map(|(n, it)| (n, TranslationChange::All(it))).collect();
        Self { languages: Vec::new(), fields: collection.translatable.clone(), changes }
    }

    /// Whether the call is in a language.
    pub(crate) fn is_in_language(&self) -> bool {
        !self.languages.is_empty()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// The item at this place of the call, as it is to be in the language.
    pub(crate) fn put(&mut self, index: usize, item: CanonicalItem) {
        self.changes.insert(index, TranslationChange::Whole(item));
    }

    /// How the item at this place is changed in the language.
    pub(crate) fn put_patch(&mut self, index: usize, modifications: Vec<Modification>) {
        self.changes.insert(index, TranslationChange::Patch(modifications));
    }

    /// Looks at what is there, and decides what is written.
    pub(crate) async fn prepare(
        &self,
        tx: &mut Tx<'_>,
        writer: Writer<'_>,
        items: &[TargetItem<'_>],
    ) -> Result<Prepared> {
        let mut prepared = Prepared::default();
        if self.is_empty() || items.is_empty() {
            return Ok(prepared);
        }
        let ids = items.iter().map(|it| it.id.to_owned()).collect();
        let mut states = if self.is_in_language() { self.states(tx, writer, ids).await? } else { HashMap::new() };
        let mut budget = PatchBudget::default();
        for it in items {
            let item = match (self.changes.get(&it.index), it.existing) {
                (Some(TranslationChange::All(all)), _) => Ok(self.all(all)),
                (Some(wanted), Some(existing)) => {
                    self.item(writer, wanted, existing, states.entry(it.id.to_owned()).or_default(), &mut budget)
                }
                _ => continue,
            };
            match item {
                Ok(item) => drop(prepared.items.insert(it.index, item)),
                Err(fault) => drop(prepared.refusals.insert(it.index, fault)),
            }
        }
        Ok(prepared)
    }

    fn all(&self, all: &AllValues) -> PreparedItem {
        let mut values = Vec::new();
        for (language, of_language) in all {
            for (name, value) in of_language {
                let field = self.fields.by_quoted(name);
                values.extend(field.map(|it| (language.clone(), it.key.clone(), Some(value.clone()))));
            }
        }
        PreparedItem { values, is_all: true, shown: Values::new() }
    }

    async fn states(
        &self,
        tx: &mut Tx<'_>,
        Writer { site, collection, .. }: Writer<'_>,
        ids: Vec<String>,
    ) -> Result<HashMap<String, TranslationState>> {
        let stored = translation::stored(tx, (site, collection), &ids, Some(&self.languages)).await?;
        let mut states = HashMap::<String, TranslationState>::new();
        // The nearest last, so that it counts.
        for language in self.languages.iter().rev() {
            for it in stored.iter().filter(|it| it.language == *language) {
                let Some(field) = self.fields.by_key(&it.field) else { continue };
                let state = states.entry(it.item.clone()).or_default();
                let values = if self.languages.first() == Some(language) { &mut state.own } else { &mut state.others };
                values.extend(it.value.clone().map(|value| (field.quoted.clone(), value)));
            }
        }
        for it in stored {
            let state = states.entry(it.item).or_default();
            state.bytes += it.bytes;
            state.languages.insert(it.language);
        }
        Ok(states)
    }

    fn item(
        &self,
        writer: Writer<'_>,
        wanted: &TranslationChange,
        (owner, document): (Option<&str>, &str),
        state: &mut TranslationState,
        budget: &mut PatchBudget,
    ) -> Result<PreparedItem> {
        let primary = writer.view.show(document)?;
        let own = match wanted {
            TranslationChange::Whole(item) => {
                let may_read = access::may_read(writer.collection, writer.caller, document);
                let item = writer.collection.page_links.strip(item)?;
                self.whole(&item, (may_read, &primary), owner, state)?
            }
            TranslationChange::Patch(list) => self.patched(writer, list, &primary, state, budget)?,
            TranslationChange::All(_) => return Err(Fault::internal("all languages are not one")),
        };
        let mut shown = state.others.clone();
        shown.extend(own.clone());
        let Some(language) = self.languages.first() else { return Err(Fault::internal("a write has no language")) };
        let mut values = Vec::new();
        let mut bytes = state.bytes;
        for field in self.fields.iter() {
            let (value, before) = (own.get(&field.quoted), state.own.get(&field.quoted));
            if value != before {
                bytes += value.map_or(0, |it| value_bytes(language, &field.key, it));
                bytes -= before.map_or(0, |it| value_bytes(language, &field.key, it));
                values.push((language.clone(), field.key.clone(), value.cloned()));
            }
        }
        writer.check(&overlaid(&primary, &shown)?, &values)?;
        if bytes > state.bytes {
            check_bytes(bytes, writer.limits)?;
        }
        if !own.is_empty() && state.languages.insert(language.clone()) && state.languages.len() > MOST_LANGUAGES {
            state.languages.remove(language);
            let text = format!("An item is translated into at most {MOST_LANGUAGES} languages.");
            return Err(Fault::because(Code::BadRequest, text).with("path", "language"));
        }
        (state.own, state.bytes) = (own, bytes);
        Ok(PreparedItem { values, is_all: false, shown })
    }

    /// What an item that is sent whole says in the language. What would be shown anyway isn't kept as a translation, unless
    /// it is one already, so that an item that is read, changed and sent back says only what was changed.
    fn whole(
        &self,
        item: &CanonicalItem,
        (may_read, primary): (bool, &str),
        owner: Option<&str>,
        state: &TranslationState,
    ) -> Result<Values> {
        let (data, mut own, mut faults) = (item.data(), Values::new(), Faults::default());
        for (name, value) in members(&data) {
            let before = member(primary, name);
            if self.fields.by_quoted(name).is_none() {
                // Whether it is the same is not for everyone to find out.
                if !may_read || before != Some(value) {
                    faults.add(untranslatable(&serde_json::from_str::<String>(name).map_err(Fault::internal)?));
                }
                continue;
            }
            let without = state.others.get(name).map(String::as_str).or(before);
            let has_translation = state.own.contains_key(name) || without != Some(value);
            if value != "null" && has_translation {
                own.insert(name.to_owned(), value.to_owned());
            }
        }
        if item.owner.as_deref().is_some_and(|it| may_read && owner != Some(it)) {
            faults.add(untranslatable("_owner"));
        }
        faults.refuse().map(|()| own)
    }

    fn patched(
        &self,
        writer: Writer<'_>,
        list: &[Modification],
        primary: &str,
        state: &TranslationState,
        budget: &mut PatchBudget,
    ) -> Result<Values> {
        let mut faults = Faults::default();
        let fields: Vec<_> = list
            .iter()
            .filter_map(|it| {
                let field = self.fields.by_key(it.field());
                field.or_else(|| faults.take(Err(untranslatable(it.field()))))
            })
            .collect();
        faults.refuse()?;
        let mut shown = state.others.clone();
        shown.extend(state.own.clone());
        let patched = patch::apply(&overlaid(primary, &shown)?, list, budget, writer.limits.query.item())?;
        let (data, mut own) = (patched.data(), state.own.clone());
        for field in fields {
            match member(&data, &field.quoted).filter(|it| *it != "null") {
                Some(value) => drop(own.insert(field.quoted.clone(), value.to_owned())),
                None => drop(own.remove(&field.quoted)),
            }
        }
        Ok(own)
    }

    /// Writes what was decided of the items that are there now, and answers what they are in the language. `written` has the ids of
    /// those whose change went through.
    pub(crate) async fn write<'i>(
        &self,
        tx: &mut Tx<'_>,
        (site, collection): (&SiteId, &Collection),
        prepared: Prepared,
        written: impl Fn(usize) -> Option<&'i str>,
    ) -> Result<HashMap<usize, Values>> {
        let items: Vec<(usize, &str, PreparedItem)> =
            prepared.items.into_iter().filter_map(|(n, it)| Some((n, written(n)?, it))).collect();
        if items.is_empty() {
            return Ok(HashMap::new());
        }
        let ids: Vec<String> = items.iter().map(|it| it.1.to_owned()).collect();
        let sql =
            format!("select id, rid from {} where {}", collection.statements.name, tx.dialect().any_of("id", "$1"));
        let rows = tx.rows(&sql, &params![ids], |row| Ok((row.get::<String>(0)?, row.get::<i64>(1)?))).await?;
        let rows: HashMap<String, i64> = rows.into_iter().collect();
        let (mut values, mut emptied, mut shown) = (BTreeMap::new(), BTreeSet::new(), HashMap::new());
        for (n, id, item) in items {
            let Some(row) = rows.get(id) else { continue };
            if item.is_all {
                values.retain(|it: &(i64, String, String), _| it.0 != *row);
                emptied.insert(*row);
            }
            values.extend(item.values.into_iter().map(|(language, field, value)| ((*row, language, field), value)));
            shown.insert(n, item.shown);
        }
        if !emptied.is_empty() {
            let emptied: Vec<i64> = emptied.into_iter().collect();
            translation::remove(tx, site, collection.table.number, &emptied).await?;
        }
        let values: Vec<TranslationUpdate> = values
            .into_iter()
            .map(|((item, language, field), value)| TranslationUpdate { item, language, field, value })
            .collect();
        translation::write(tx, (site, collection), &values).await?;
        Ok(shown)
    }
}

impl Writer<'_> {
    /// In each language an item is held to what it is held to in its own.
    fn check(self, shown: &str, values: &[(String, String, Option<String>)]) -> Result<()> {
        let item = stoa_query::canonical(shown, self.limits.query.item())?;
        let is_written = |key: &str| values.iter().any(|(_, field, value)| field == key && value.is_some());
        self.collection.rules().validate_fields(&item, is_written, self.caller, self.now)
    }
}

/// Removes what items that go are in other languages.
pub(crate) async fn items_removed(tx: &mut Tx<'_>, site: &SiteId, access: &ItemWrite, rows: &[i64]) -> Result<()> {
    let collection = access.collection();
    match collection.definition.holds_translations() {
        true => translation::remove(tx, site, collection.table.number, rows).await,
        false => Ok(()),
    }
}

/// # Errors
/// WDE0009 for more than an item may have in all other languages together.
pub(crate) fn check_bytes(bytes: usize, limits: &ContentLimits) -> Result<()> {
    let most = limits.translations_bytes;
    if bytes <= most {
        return Ok(());
    }
    let text = format!("An item has at most {most} bytes in all other languages together.");
    Err(Fault::because(Code::ItemTooLarge, text).with("path", "language"))
}

/// A tag by which values are stored.
///
/// # Errors
/// WDE0018.
pub(crate) fn check_length(tag: &LanguageTag, path: &str) -> Result<String> {
    match tag.as_str().len() <= LanguageTag::MOST_LOOKED_UP {
        true => Ok(stored_tag(tag)),
        false => {
            let rule = format!("must have at most {} characters", LanguageTag::MOST_LOOKED_UP);
            Err(invalid_as(Code::OptionsInvalid, path, &rule))
        }
    }
}

fn untranslatable(key: &str) -> Fault {
    let text = format!("{key} is no translatable field; write it without a language.");
    Fault::because(Code::NotSupported, text).with("propertyName", key).with("path", "language")
}
