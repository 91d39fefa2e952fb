//! Drafts in a paired collection: made, published and taken back (docs/protocol/content.md §3.7; decision 37).
//!
//! Each call is one transaction over both collections, and looks there whether they are still a pair. No hook is asked:
//! where hooks of either collection would have to be, the call is refused, and so it is where a draft would show what hooks
//! of reads hide.

use crate::{
    Content, RequestContext,
    collection::{
        self, Collection,
        access::{self, ItemWrite, Write, covers, may_change_status},
        job,
    },
    document::owner,
    drafts::Drafts,
    fault,
    hook::{CallHooks, REMOVES},
    item::{
        change::{Change, ChangeResult, Mode, PendingChange},
        ownership,
        remove::Removal,
        row::{NewValue, WriteContext},
        truncate::is_still,
        visibility::{self, Item},
    },
    schema::{
        field::{self, is_multi},
        level::Operation,
    },
    wire::{
        options::{flag, present},
        request::Request,
    },
};
use serde_json::{Map, Value};
use std::{borrow::Cow, sync::Arc};
use stoa_hooks::Hook;
use stoa_kernel::{Caller, Code, Fault, Result};
use stoa_query::Scope;
use stoa_sql::params;
use stoa_store::{Site, Tx, boxed};

/// No caller's rights include drafts by an option here: what isn't published is in another collection.
const DRAFTS: Drafts = Drafts::Hidden;
/// Drafts that one transaction publishes, where all of a collection are.
const PIECE: usize = 50;

const READS: &[Hook] = &[Hook::BeforeGet, Hook::AfterGet, Hook::BeforeQuery, Hook::AfterQuery];
const INSERTS: &[Hook] = &[Hook::BeforeInsert, Hook::AfterInsert];
const SAVES: &[Hook] = &[Hook::BeforeInsert, Hook::AfterInsert, Hook::BeforeUpdate, Hook::AfterUpdate];

impl Content {
    /// Copies a published item into the collection of drafts, under its id.
    ///
    /// # Errors
    /// WDE0002, WDE0025, WDE0027 without the right to read the item or to manage drafts; WDE0073 when the item isn't
    /// there for the caller; ALREADY_EXISTS when it has a draft; WDE0080 for a collection without drafts of its own;
    /// WDE0119 where hooks would have to be asked.
    pub async fn item_draft_create(&self, site: &Site, caller: &Caller, request: &Request<'_>) -> Result<Item> {
        let pair = Pair::of(self, site, caller, request).await?;
        let readable = access::scope(caller, DRAFTS, Operation::Read, &pair.published)?;
        let write = access::items(caller, DRAFTS, &pair.drafts, Write::Insert)?.moving();
        let own = write.scope(Operation::Update)?;
        let hooks = [(&pair.drafts, INSERTS), (&pair.published, READS)];
        refuse_hooks((self, site, caller), &request.members, &hooks).await?;
        let call = Arc::new((pair, (readable, own), context(self, site, write).await?));
        let doc = site.write_with(call.clone(), |tx, call| {
            boxed!({
                let (pair, (readable, own), drafts) = &**call;
                let left = pair.check(tx).await?;
                let doc = pair.published_item(tx, readable).await?;
                if !covers(own, owner(&doc).as_deref(), &doc) {
                    // They would have no right to the draft, or to know of one that is there.
                    return Err(fault::operation_denied(Operation::Update.verb(), pair.drafts.id.as_str()));
                }
                if found(tx, &pair.drafts, &pair.id).await?.is_some() {
                    let text = format!("Item {} has a draft.", pair.id);
                    return Err(Fault::because(Code::AlreadyExists, text).with("itemId", pair.id.as_str()));
                }
                put(tx, drafts, (&pair.published, &left), &pair.id, &doc).await
            })
        });
        let ChangeResult { doc, .. } = doc.await?;
        ownership::visitor_wrote(&call.2);
        Ok(Item::new(&call.0.drafts, doc))
    }

    /// Puts a draft in the place of the published item, or makes that, and removes the draft.
    ///
    /// # Errors
    /// WDE0002, WDE0025, WDE0027 without the right to publish or to manage drafts; NOT_FOUND without a draft for the
    /// caller; WDE0073 when the published item isn't the caller's to change; what makes an item invalid; WDE0080 for a
    /// collection without drafts of its own; WDE0119 where hooks would have to be asked.
    pub async fn item_draft_publish(&self, site: &Site, caller: &Caller, request: &Request<'_>) -> Result<Item> {
        let pair = Pair::of(self, site, caller, request).await?;
        let publication = access::publication(caller, &pair.published)?;
        let readable = access::scope(caller, DRAFTS, Operation::Read, &pair.drafts)?;
        let removal = access::items(caller, DRAFTS, &pair.drafts, Write::Remove)?;
        let hooks = [(&pair.published, SAVES), (&pair.drafts, REMOVES)];
        refuse_hooks((self, site, caller), &request.members, &hooks).await?;
        let contexts = (context(self, site, publication).await?, context(self, site, removal).await?);
        let call = Arc::new((pair, readable, contexts));
        let doc = site.write_with(call.clone(), |tx, call| {
            boxed!({
                let (pair, readable, (published, drafts)) = &**call;
                let left = pair.check(tx).await?;
                let there = found(tx, &pair.drafts, &pair.id).await?;
                let Some((_, draft)) = there.filter(|it| covers(readable, it.0.as_deref(), &it.1)) else {
                    let text = format!("Item {} has no draft.", pair.id);
                    return Err(Fault::because(Code::NotFound, text).with("itemId", pair.id.as_str()));
                };
                let doc = put(tx, published, (&pair.drafts, &left), &pair.id, &draft).await?;
                take(tx, drafts, &pair.id).await?;
                Ok(doc)
            })
        });
        let ChangeResult { doc, .. } = doc.await?;
        ownership::visitor_wrote(&call.2.0);
        Ok(Item::new(&call.0.published, doc))
    }

    /// Removes a published item, and unless `copyToDraft` is false leaves it as a draft, in the place of the one that is
    /// there, which is answered.
    ///
    /// # Errors
    /// WDE0002, WDE0018, WDE0025, WDE0027 without the right to publish, or to manage drafts where one is left; WDE0073
    /// when the item isn't there, or it or its draft isn't the caller's to change; WDE0080 for a collection without
    /// drafts of its own; WDE0119 where hooks would have to be asked.
    pub async fn item_unpublish(&self, site: &Site, caller: &Caller, request: &Request<'_>) -> Result<Option<Item>> {
        let copies = present(&request.members, "copyToDraft").is_none() || flag(&request.members, "copyToDraft")?;
        let pair = Pair::of(self, site, caller, request).await?;
        let publication = access::publication(caller, &pair.published)?;
        let removable = publication.scope(Operation::Remove)?;
        let drafts = match copies {
            true => {
                let write = access::items(caller, DRAFTS, &pair.drafts, Write::Save)?;
                Some(context(self, site, write.moving()).await?)
            }
            false => None,
        };
        let hooks = [(&pair.published, REMOVES), (&pair.drafts, SAVES), (&pair.published, READS)];
        let hooks = if copies { &hooks } else { &hooks[..1] };
        refuse_hooks((self, site, caller), &request.members, hooks).await?;
        let call = Arc::new((pair, removable, context(self, site, publication).await?, drafts));
        let doc = site.write_with(call.clone(), |tx, call| {
            boxed!({
                let (pair, removable, published, drafts) = &**call;
                let left = pair.check(tx).await?;
                let doc = pair.published_item(tx, removable).await?;
                let draft = match drafts {
                    Some(it) => Some(put(tx, it, (&pair.published, &left), &pair.id, &doc).await?),
                    None => None,
                };
                take(tx, published, &pair.id).await?;
                Ok(draft)
            })
        });
        let doc = doc.await?;
        call.3.iter().for_each(|it| ownership::visitor_wrote(it));
        Ok(doc.map(|it| visibility::patched(&call.0.drafts, caller, it)))
    }
}

/// Publishes all drafts of a collection, in pieces, each by what the collections and the caller's rights are then. What was
/// published when it fails stays so, and the others stay drafts.
///
/// # Errors
/// As for publishing one, with the `itemId` of the first that can't be.
pub(crate) async fn publish_all(content: &Content, site: &Site, caller: &Caller, id: &str) -> Result<()> {
    while publish_some(content, site, caller, id).await? == PIECE {}
    Ok(())
}

async fn publish_some(content: &Content, site: &Site, caller: &Caller, id: &str) -> Result<usize> {
    if !is_still(content, site.principals(), caller).await? {
        return Err(Fault::new(Code::PermissionDenied));
    }
    let published = collection::load(content, site, id).await?;
    let pair = Pair::of_collection(content, site, published, String::new()).await?;
    let publication = access::publication(caller, &pair.published)?;
    let readable = access::scope(caller, DRAFTS, Operation::Read, &pair.drafts)?;
    if !matches!(readable, Scope::Everything) {
        return Err(fault::operation_denied(Operation::Read.verb(), pair.drafts.id.as_str()));
    }
    let removal = access::items(caller, DRAFTS, &pair.drafts, Write::Remove)?;
    let hooks = [(&pair.published, SAVES), (&pair.drafts, REMOVES)];
    refuse_hooks((content, site, caller), &Map::new(), &hooks).await?;
    let contexts = (context(content, site, publication).await?, context(content, site, removal).await?);
    let published = site.write_with((pair, contexts), |tx, (pair, (published, drafts))| {
        boxed!({
            let left = pair.check(tx).await?;
            publish_piece(tx, pair, &left, (published, drafts)).await
        })
    });
    published.await
}

/// Publishes some of the drafts, and answers how many.
async fn publish_piece(
    tx: &mut Tx<'_>,
    pair: &Pair,
    left: &[String],
    (published, drafts): (&Arc<WriteContext>, &Arc<WriteContext>),
) -> Result<usize> {
    let table = tx.dialect().table(pair.drafts.table);
    let sql = format!("select id from {table} order by id limit {PIECE}");
    let ids = tx.rows(&sql, &[], |row| row.get::<String>(0)).await?;
    for id in &ids {
        let Some((_, draft)) = found(tx, &pair.drafts, id).await? else { continue };
        put(tx, published, (&pair.drafts, left), id, &draft).await.map_err(|it| it.with("itemId", id.as_str()))?;
        take(tx, drafts, id).await?;
    }
    Ok(ids.len())
}

/// Refuses a call that would pass over hooks: these would have to be asked before the transaction of both collections, of
/// what it only finds in it.
///
/// # Errors
/// WDE0119 with the collection and the hook.
async fn refuse_hooks(
    (content, site, caller): (&Content, &Site, &Caller),
    members: &Map<String, Value>,
    written: &[(&Arc<Collection>, &[Hook])],
) -> Result<()> {
    let context = RequestContext::new(content, site, caller, DRAFTS);
    for (collection, hooks) in written {
        let calls = CallHooks::of_members(context, collection, members).await?;
        calls.refuse(collection, hooks, fault::draft_hook_not_built)?;
    }
    Ok(())
}

/// An item of a collection with drafts of its own.
struct Pair {
    site: stoa_kernel::SiteId,
    published: Arc<Collection>,
    drafts: Arc<Collection>,
    id: String,
}

impl Pair {
    async fn of(content: &Content, site: &Site, caller: &Caller, request: &Request<'_>) -> Result<Self> {
        let published = collection::load(content, site, request.collection(caller)?).await?;
        let id = request.item_id()?.to_owned();
        if id.contains('\0') {
            return Err(fault::item_not_found(published.id.as_str(), &id));
        }
        // Others aren't told whether it has drafts.
        let may_know = || published.may_know_drafts(caller) || may_change_status(caller, &published);
        if !access::may_know(caller, &published) || !caller.bare().is_editor() && !may_know() {
            return Err(fault::operation_denied(Operation::Update.verb(), published.id.as_str()));
        }
        Self::of_collection(content, site, published, id).await
    }

    async fn of_collection(content: &Content, site: &Site, published: Arc<Collection>, id: String) -> Result<Self> {
        let Some(drafts) = published.definition.drafts_id() else {
            let text = format!("The {} collection has no drafts by the plugin DRAFT_ITEMS.", published.id);
            return Err(Fault::because(Code::BadRequest, text));
        };
        let drafts = collection::load(content, site, drafts).await?;
        Ok(Self { site: site.id.clone(), published, drafts, id })
    }

    /// Whether both collections are still there: without its plugin a collection has no pair. Answers which members items
    /// don't take along: values of fields that are being deleted, and what the published collection reads as links.
    async fn check(&self, tx: &mut Tx<'_>) -> Result<Vec<String>> {
        let sql = "select count(*) from stoa.collection \
                   where site = $1 and (number = $2 or number = $3) and deleted is null";
        let numbers = params![&self.site, self.published.table.number, self.drafts.table.number];
        match tx.row(sql, &numbers, |row| row.get::<i64>(0)).await? {
            Some(2) => {}
            _ => return Err(fault::collection_not_found(self.drafts.id.as_str())),
        }
        let fields = &self.published.definition.fields;
        let mut left: Vec<_> = fields.iter().filter(|it| is_multi(it)).map(|it| field::key(it).to_owned()).collect();
        for collection in [&self.published, &self.drafts] {
            left.extend(job::purged_fields(tx, &self.site, collection.table.number).await?);
        }
        Ok(left)
    }

    async fn published_item(&self, tx: &mut Tx<'_>, scope: &Scope) -> Result<String> {
        let there = found(tx, &self.published, &self.id).await?;
        let there = there.filter(|(owner, doc)| covers(scope, owner.as_deref(), doc));
        let (_, doc) = there.ok_or_else(|| fault::item_not_found(self.published.id.as_str(), &self.id))?;
        Ok(doc)
    }
}

async fn context(content: &Content, site: &Site, access: ItemWrite) -> Result<Arc<WriteContext>> {
    WriteContext::load(content, site, access).await.map(Arc::new)
}

/// The owner and the document of an item that is there.
async fn found(tx: &mut Tx<'_>, collection: &Collection, id: &str) -> Result<Option<(Option<String>, String)>> {
    let read = |row: &stoa_store::Row<'_>| Ok((row.get::<Option<String>>(2)?, row.doc(3)?.into_owned()));
    Ok(tx.row(&collection.statements.some, &params![vec![id.to_owned()]], read).await?)
}

/// Saves a document of one collection in the other, without the members that it doesn't take along.
async fn put(
    tx: &mut Tx<'_>,
    context: &Arc<WriteContext>,
    (source, left): (&Collection, &[String]),
    id: &str,
    document: &str,
) -> Result<ChangeResult> {
    if let Some(owner) = owner(document) {
        ownership::moves(tx, context, source, &owner).await?;
    }
    let mut document = Cow::Borrowed(document);
    for name in left {
        if let Some(without) = stoa_query::item::without(&document, name) {
            document = Cow::Owned(without);
        }
    }
    let item = stoa_query::canonical(&document, context.content.limits().query.item())?;
    let changes = vec![PendingChange { id: id.to_owned(), value: NewValue::Whole(item), seen: None }];
    let change = Change { context: context.clone(), mode: Mode::Save, changes, condition: None };
    only(change.write(tx).await?)
}

async fn take(tx: &mut Tx<'_>, context: &Arc<WriteContext>, id: &str) -> Result<()> {
    let removal =
        Removal { context: context.clone(), ids: vec![id.to_owned()], condition: None, shows: true, seen: None };
    only(removal.run(tx).await?).map(|_| ())
}

fn only<T>(answers: Vec<Result<T>>) -> Result<T> {
    answers.into_iter().next().unwrap_or_else(|| Err(Fault::internal("a write answered nothing")))
}
