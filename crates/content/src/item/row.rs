//! Rows of items: made from what was sent, and as they are there already.

use crate::{
    Content,
    collection::{
        Collection,
        access::{ItemWrite, covers, may_publish},
        cipher::{self, FieldCipher},
        field_view::FieldView,
        statements::Row,
        translation::FILE_MEMBER,
    },
    document::member,
    event::write::EventWriter,
    fault,
    item::{
        references::ReferenceChanges,
        translation::{self, TranslationChanges},
    },
    limits::ContentLimits,
    schema::{level::Operation, page_link::LinkWriter, publishing},
    wire::patch::{self, Modification, PatchBudget},
};
use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    sync::Arc,
};
use stoa_kernel::{Caller, Code, Fault, Result, SiteId, TokenHash, clock::Millis};
use stoa_query::{
    CanonicalItem, Filter, Stamp, compile,
    plan::{Field, PUBLISH_STATUS, Scalar, Test},
};
use stoa_sql::{Writer, params};
use stoa_store::{Site, Tx};

/// What a call that writes items writes to, and by what right.
#[derive(Clone)]
pub(crate) struct WriteContext {
    pub content: Content,
    pub site: SiteId,
    access: ItemWrite,
    pub events: EventWriter,
    pub now: Millis,
    /// What seals the values of encrypted fields, if there are any.
    cipher: Option<Arc<FieldCipher>>,
    /// What the caller is shown of what was written.
    pub view: FieldView,
    /// Links that come with the items.
    pub references: Arc<ReferenceChanges>,
    /// What the items are to be in other languages.
    pub translations: Arc<TranslationChanges>,
}

/// What an item is to become.
#[derive(Clone)]
pub(crate) enum NewValue {
    Whole(CanonicalItem),
    /// What is there, changed so.
    Patch(Vec<Modification>),
    /// What a patch and then a hook made of what is there, and the fields that the patch names.
    Patched(CanonicalItem, Vec<String>),
    /// Nothing: a hook refused the change, or it is done.
    Refused,
}

impl NewValue {
    /// What a value that is in the language of its call is to the item itself.
    pub(crate) fn in_language(self, index: usize, translations: &mut TranslationChanges) -> Self {
        match self {
            value if !translations.is_in_language() => return value,
            Self::Whole(it) | Self::Patched(it, _) => translations.put(index, it),
            Self::Patch(it) => translations.put_patch(index, it),
            Self::Refused => return Self::Refused,
        }
        Self::Patch(Vec::new())
    }

    /// The fields that are what the caller says, if they are hidden from the caller as well.
    fn named(&self) -> &[String] {
        match self {
            Self::Patched(_, named) => named,
            Self::Whole(_) | Self::Patch(_) | Self::Refused => &[],
        }
    }
}

/// What a hook saw of an item.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Seen {
    Nothing,
    /// The hash of the stored text.
    Text(Vec<u8>),
}

impl Seen {
    pub(crate) fn of(document: &str) -> Self {
        Self::Text(TokenHash::of(document).to_vec())
    }
}

/// An item that is there.
pub(crate) struct Existing {
    pub created: Millis,
    pub owner: Option<String>,
    /// Empty where it isn't read.
    pub doc: String,
    /// Of the document as it is stored, in bytes; 0 where neither is read.
    pub length: usize,
    /// The number of its row.
    pub rid: i64,
}

/// What is read of an item's document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DocumentPart {
    Whole,
    /// How long it is.
    Length,
    Nothing,
}

/// What an item was before a change.
#[derive(Clone, Copy)]
pub(crate) struct Before<'b> {
    pub created: Millis,
    pub owner: Option<&'b str>,
    pub doc: &'b str,
}

impl WriteContext {
    pub(crate) async fn load(content: &Content, site: &Site, access: ItemWrite) -> Result<Self> {
        let cipher = cipher::load(content, site, access.collection()).await?;
        Ok(Self::new(content, site, access, cipher))
    }

    pub(crate) fn new(content: &Content, site: &Site, access: ItemWrite, cipher: Option<Arc<FieldCipher>>) -> Self {
        let now = content.state.world.now();
        let events = events(&site.id, &access, now);
        let view = FieldView::new(access.caller(), access.collection(), cipher.as_ref());
        let (content, site) = (content.clone(), site.id.clone());
        let (references, translations) = (Arc::default(), Arc::default());
        Self { content, site, access, events, now, cipher, view, references, translations }
    }

    /// Has what is written from now on be of this moment, and by what the collection is by now: hooks take time, in
    /// which others may have written, and rights may have been withdrawn.
    ///
    /// # Errors
    /// WDE0027 where the right was withdrawn, WDE0178 where items are something else by now.
    pub(crate) async fn renew(&mut self, site: &Site, collection: Arc<Collection>) -> Result<()> {
        if !Arc::ptr_eq(&collection, self.collection()) {
            let access = self.access.again(&collection)?;
            let before = self.collection();
            if before.table != collection.table
                || before.definition.fields != collection.definition.fields
                || before.translatable.iter().map(|it| &it.key).ne(collection.translatable.iter().map(|it| &it.key))
            {
                return Err(fault::definition_changed(collection.id.as_str()));
            }
            let (references, translations) = (self.references.clone(), self.translations.clone());
            *self = Self { references, translations, ..Self::load(&self.content, site, access).await? };
        }
        self.date();
        Ok(())
    }

    /// Has what is written from now on be of this moment.
    fn date(&mut self) {
        self.now = self.content.state.world.now();
        self.events = events(&self.site, &self.access, self.now);
    }

    /// The right by which is written.
    pub(crate) fn access(&self) -> &ItemWrite {
        &self.access
    }

    pub(crate) fn collection(&self) -> &Arc<Collection> {
        self.access.collection()
    }

    pub(crate) fn caller(&self) -> &Caller {
        self.access.caller()
    }

    fn limits(&self) -> &ContentLimits {
        self.content.limits()
    }

    /// The row of a new item, its defaults filled in.
    ///
    /// # Errors
    /// WDE0027 without the right to insert, and what makes an item invalid.
    pub(crate) fn new_row(&self, id: String, item: &CanonicalItem) -> Result<Row> {
        self.access.may_insert()?;
        let rules = self.collection().rules();
        let validated = match self.access.moves() {
            true => rules.validate_moved(item, self.caller(), self.now).map(|()| None),
            false => rules.validate_new(item, self.caller(), self.now),
        }?;
        let item = validated.as_ref().unwrap_or(item);
        let marked = self.collection().definition.publishing().map(|it| it.mark_new(item, self.may_publish()));
        let marked = marked.transpose()?.flatten();
        let item = marked.as_ref().unwrap_or(item);
        let created = self.requested_time(item).unwrap_or(self.now);
        let own = || self.caller().owner().filter(|_| !self.access.moves());
        self.row(id, item, created, self.requested_owner(item).or_else(own), None)
    }

    /// The row of the item of a collection that has but one, with the defaults of its fields.
    pub(crate) fn single_row(&self, id: String) -> Result<Row> {
        let empty = CanonicalItem::empty(self.limits().query.item());
        let item = self.collection().rules().with_defaults(&empty, self.now)?;
        self.row(id, &item, self.now, self.caller().owner(), None)
    }

    /// Whether the caller may update an item of this owner with this document.
    ///
    /// # Errors
    /// WDE0027 for a caller who may update no item.
    pub(crate) fn may_update(&self, owner: Option<&str>, document: &str) -> Result<bool> {
        Ok(covers(&self.access.scope(Operation::Update)?, owner, document))
    }

    /// Whether what a move between the collections of a pair would leave there is the caller's to change: an item keeps its
    /// owner, and who has rights to their own items alone has none to those of others that way.
    ///
    /// # Errors
    /// WDE0027 for a caller who may update no item.
    pub(crate) fn may_leave(&self, row: &Row) -> Result<bool> {
        Ok(!self.access.moves() || self.may_update(row.owner(), row.doc())?)
    }

    /// The row that takes the place of one that is there. What the item has of encrypted fields is clear
    /// where it was sent, and sealed as before where it wasn't.
    pub(crate) fn changed_row(
        &self,
        id: String,
        value: &NewValue,
        before: Before<'_>,
        budget: &mut PatchBudget,
    ) -> Result<Row> {
        let patched;
        let (item, patch) = match value {
            NewValue::Whole(it) | NewValue::Patched(it, _) => (it, None),
            NewValue::Patch(modifications) => {
                patched = patch::apply(before.doc, modifications, budget, self.limits().query.item())?;
                (&patched, Some(modifications.as_slice()))
            }
            NewValue::Refused => return Err(Fault::internal("a refused change was written")),
        };
        let readable = self.cipher.as_ref().map(|it| it.readable(before.doc)).transpose()?;
        let old = readable.as_deref().unwrap_or(before.doc);
        let validated = self.collection().rules().validate_change(item, patch, old, self.caller(), self.now)?;
        let item = validated.as_ref().unwrap_or(item);
        let rules = self.collection().definition.publishing();
        // A status that a hook leaves out is kept; one that a patch takes away isn't.
        let is_patch = patch.is_some() || value.named().iter().any(|it| it == PUBLISH_STATUS);
        let writer = match patch {
            Some(it) if it.iter().any(Modification::is_of_task) => publishing::Writer::Task,
            Some(it) => publishing::Writer::naming(it.iter().map(Modification::field)),
            None => publishing::Writer::naming(value.named().iter().map(String::as_str)),
        };
        let may = (writer, self.may_publish());
        let marked = rules.map(|it| it.mark_changed(item, is_patch, before.doc, may));
        let marked = marked.transpose()?.flatten();
        let item = marked.as_ref().unwrap_or(item);
        let kept = match &self.cipher {
            Some(it) if patch.is_none() && !self.caller().bare().is_privileged() => {
                Some(it.keep(item, before.doc, value.named())?)
            }
            _ => None,
        };
        let item = kept.as_ref().unwrap_or(item);
        let (created, owner) = match self.access.publishes() {
            true => (None, before.owner),
            // An item of no owner stays so where it takes the place of a draft that has one.
            false if self.access.moves() => (self.requested_time(item), self.requested_owner(item)),
            false => (self.requested_time(item), self.requested_owner(item).or(before.owner)),
        };
        self.row(id, item, created.unwrap_or(before.created), owner, Some(before.doc))
    }

    fn may_publish(&self) -> bool {
        self.access.is_import() || may_publish(self.caller())
    }

    /// The owner that the caller gives an item, if that is theirs to do.
    fn requested_owner<'i>(&self, item: &'i CanonicalItem) -> Option<&'i str> {
        let counts = self.caller().bare().is_privileged() || self.access.moves();
        item.owner.as_deref().filter(|it| !it.is_empty() && counts)
    }

    /// When an item was made, if that is not for the clock to say.
    fn requested_time(&self, item: &CanonicalItem) -> Option<Millis> {
        item.created.filter(|_| self.access.is_import() || self.access.moves())
    }

    fn row(
        &self,
        id: String,
        item: &CanonicalItem,
        created: Millis,
        owner: Option<&str>,
        before: Option<&str>,
    ) -> Result<Row> {
        let settled = self.collection().page_links.settle(&id, item, before, self.link_writer())?;
        let item = settled.as_ref().unwrap_or(item);
        let seal = |it: &Arc<FieldCipher>| it.seal(&self.content.state.world, &id, item, before);
        let sealed = self.cipher.as_ref().map(seal).transpose()?;
        let item = sealed.as_ref().unwrap_or(item);
        let doc = item.document(Stamp { id: &id, created, updated: self.now, owner })?;
        self.refuse_file_member(&doc, before)?;
        Ok(Row::new(id, created, self.now, owner.map(str::to_owned), doc))
    }

    fn link_writer(&self) -> LinkWriter {
        match (self.access.is_import(), self.access.moves()) {
            (true, _) => LinkWriter::Import,
            (false, true) => LinkWriter::Pair,
            (false, false) => LinkWriter::Caller,
        }
    }

    /// Where fields are translatable a file would take a member of its name for what the item is in other languages.
    ///
    /// # Errors
    /// WDE0080 for one that wasn't there before.
    fn refuse_file_member(&self, doc: &str, before: Option<&str>) -> Result<()> {
        if self.collection().translatable.is_empty() || !doc.contains(FILE_MEMBER) {
            return Ok(());
        }
        let own = member(doc, FILE_MEMBER);
        if own.is_none() || before.and_then(|it| member(it, FILE_MEMBER)) == own {
            return Ok(());
        }
        let text = "_translations can't be a member of an item in a collection with translatable fields.";
        Err(Fault::because(Code::BadRequest, text).with("propertyName", "_translations"))
    }

    /// Who writes what items are in another language.
    pub(crate) fn translator(&self) -> translation::Writer<'_> {
        let (site, collection, caller) = (&self.site, &**self.collection(), self.caller());
        translation::Writer { site, collection, caller, view: &self.view, limits: self.limits(), now: self.now }
    }

    /// The document of a row, as the caller is shown it.
    pub(crate) fn shown(&self, row: &Row) -> Result<String> {
        self.view.show(row.doc()).map(Cow::into_owned)
    }

    /// Whether a collection of drafts is still there, in a transaction that writes to it: one that went with its plugin
    /// never comes back, and what is written then would be lost.
    ///
    /// # Errors
    /// WDE0025.
    pub(crate) async fn check_drafts(&self, tx: &mut Tx<'_>) -> Result<()> {
        let collection = self.collection();
        if collection.definition.published_id().is_none() {
            return Ok(());
        }
        let sql = "select number from stoa.collection where site = $1 and number = $2 and deleted is null";
        match tx.row(sql, &params![&self.site, collection.table.number], |row| row.get::<i64>(0)).await? {
            Some(_) => Ok(()),
            None => Err(fault::collection_not_found(collection.id.as_str())),
        }
    }

    /// Those of the items with these ids that are there, with as much of their documents as is needed.
    pub(crate) async fn existing(
        &self,
        tx: &mut Tx<'_>,
        ids: &[String],
        part: DocumentPart,
    ) -> Result<HashMap<String, Existing>> {
        let statements = &self.collection().statements;
        let sql = match part {
            DocumentPart::Whole => &statements.some,
            DocumentPart::Length => &statements.some_lengths,
            DocumentPart::Nothing => &statements.some_without_documents,
        };
        let read = |row: &stoa_store::Row<'_>| {
            let (doc, length) = match part {
                DocumentPart::Length => (String::new(), usize::try_from(row.get::<i64>(3)?).unwrap_or(0)),
                DocumentPart::Whole | DocumentPart::Nothing => {
                    let doc = row.doc(3)?.into_owned();
                    let length = doc.len();
                    (doc, length)
                }
            };
            let existing = Existing { created: row.get(1)?, owner: row.get(2)?, doc, length, rid: row.get(4)? };
            Ok((row.get::<String>(0)?, existing))
        };
        Ok(tx.rows(sql, &params![ids.to_vec()], read).await?.into_iter().collect())
    }

    /// The ids of items that the condition holds for; nothing when there is no condition.
    ///
    /// A condition tells something of the item, so it sees only what the caller may read.
    pub(crate) async fn meeting(
        &self,
        tx: &mut Tx<'_>,
        ids: &[String],
        condition: Option<&Filter>,
    ) -> Result<Option<HashSet<String>>> {
        let Some(condition) = condition else { return Ok(None) };
        let scope = self.access.scope(Operation::Read)?;
        let among = Test::In(ids.iter().cloned().map(Scalar::Text).collect());
        let filter = Filter::all([scope.filter(), Filter::Test(Field::Id, among), condition.clone()]);
        let mut sql = Writer::new(tx.dialect());
        sql.push("select id from ").push(&self.collection().statements.name).push(" where ");
        compile::condition(&mut sql, &filter);
        let (sql, params) = sql.finish();
        Ok(Some(tx.rows(&sql, &params, |row| row.get(0)).await?.into_iter().collect()))
    }
}

fn events(site: &SiteId, access: &ItemWrite, now: Millis) -> EventWriter {
    let events = EventWriter::new(site, access.collection(), access.caller(), now);
    if access.is_import() { events.for_import() } else { events }
}
