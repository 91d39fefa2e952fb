//! Drafts in a paired collection: made, published and taken back (docs/protocol/content.md §3.7; decision 37).
//!
//! Each call is one transaction over both collections, and looks there whether they are still a pair. No hook is asked:
//! where hooks of either collection would have to be, the call is refused.

use crate::{
    Content, RequestContext,
    collection::{
        self, Collection,
        access::{self, ItemWrite, Write, covers},
    },
    drafts::Drafts,
    fault,
    hook::CallHooks,
    item::{
        change::{Change, ChangeResult, Mode, PendingChange},
        ownership,
        remove::Removal,
        row::{NewValue, WriteContext},
        visibility::{self, Item},
    },
    schema::{level::Operation, publishing},
    wire::{
        options::{flag, present},
        request::Request,
    },
};
use serde_json::{Map, Value};
use std::sync::Arc;
use stoa_hooks::Hook;
use stoa_kernel::{Caller, Code, Fault, Result};
use stoa_query::{CanonicalItem, Scope};
use stoa_sql::params;
use stoa_store::{Site, Tx, boxed};

/// Nobody's rights include drafts by an option here: what isn't published is in another collection.
const DRAFTS: Drafts = Drafts::Hidden;
/// Drafts that one transaction publishes, where all of a collection are.
const PIECE: usize = 50;
/// Drafts that one transaction copies into the collection that they are drafts of.
const MOST_COPIED: usize = 1_000;

const INSERTS: &[Hook] = &[Hook::BeforeInsert, Hook::AfterInsert];
const SAVES: &[Hook] = &[Hook::BeforeInsert, Hook::AfterInsert, Hook::BeforeUpdate, Hook::AfterUpdate];
const REMOVES: &[Hook] = &[Hook::BeforeRemove, Hook::AfterRemove];

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
        let write = access::items(caller, DRAFTS, &pair.drafts, Write::Insert)?.keeping_stamps();
        refuse_hooks((self, site, caller), &request.members, &[(&pair.drafts, INSERTS)]).await?;
        let call = (pair, readable, context(self, site, write).await?);
        let call = Arc::new(call);
        let doc = site.write_with(call.clone(), |tx, call| {
            boxed!({
                let (pair, readable, drafts) = &**call;
                pair.check(tx).await?;
                let doc = pair.published_item(tx, readable).await?;
                if found(tx, &pair.drafts, &pair.id).await?.is_some() {
                    let text = format!("Item {} has a draft.", pair.id);
                    return Err(Fault::because(Code::AlreadyExists, text).with("itemId", pair.id.as_str()));
                }
                put(tx, drafts, &pair.id, &doc).await
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
                pair.check(tx).await?;
                let there = found(tx, &pair.drafts, &pair.id).await?;
                let Some((_, draft)) = there.filter(|it| covers(readable, it.0.as_deref(), &it.1)) else {
                    let text = format!("Item {} has no draft.", pair.id);
                    return Err(Fault::because(Code::NotFound, text).with("itemId", pair.id.as_str()));
                };
                let doc = put(tx, published, &pair.id, &draft).await?;
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
                Some(context(self, site, write.keeping_stamps()).await?)
            }
            false => None,
        };
        let hooks = [(&pair.published, REMOVES), (&pair.drafts, SAVES)];
        refuse_hooks((self, site, caller), &request.members, &hooks[..1 + usize::from(copies)]).await?;
        let call = Arc::new((pair, removable, context(self, site, publication).await?, drafts));
        let doc = site.write_with(call.clone(), |tx, call| {
            boxed!({
                let (pair, removable, published, drafts) = &**call;
                pair.check(tx).await?;
                let doc = pair.published_item(tx, removable).await?;
                let draft = match drafts {
                    Some(it) => Some(put(tx, it, &pair.id, &doc).await?),
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
            pair.check(tx).await?;
            publish_piece(tx, pair, published, drafts).await
        })
    });
    published.await
}

/// Publishes some of the drafts, and answers how many.
async fn publish_piece(
    tx: &mut Tx<'_>,
    pair: &Pair,
    published: &Arc<WriteContext>,
    drafts: &Arc<WriteContext>,
) -> Result<usize> {
    let table = tx.dialect().table(pair.drafts.table);
    let sql = format!("select id from {table} order by id limit {PIECE}");
    let ids = tx.rows(&sql, &[], |row| row.get::<String>(0)).await?;
    for id in &ids {
        let Some((_, draft)) = found(tx, &pair.drafts, id).await? else { continue };
        put(tx, published, id, &draft).await.map_err(|it| it.with("itemId", id.as_str()))?;
        take(tx, drafts, id).await?;
    }
    Ok(ids.len())
}

/// Writes the drafts of a collection that has the plugin PUBLISH from now on as its own, in one transaction with that.
///
/// # Errors
/// WDE0080 for more than [`MOST_COPIED`], and for an item that is published and has a draft: with PUBLISH it can't be both.
/// What makes an item invalid, with its `itemId`.
pub(crate) async fn copy_all(tx: &mut Tx<'_>, context: &Arc<WriteContext>, drafts: &Collection) -> Result<()> {
    let table = tx.dialect().table(drafts.table);
    let sql = format!("select id from {table} order by id limit {}", MOST_COPIED + 1);
    let ids = tx.rows(&sql, &[], |row| row.get::<String>(0)).await?;
    if ids.len() > MOST_COPIED {
        let text = format!("The collection has more than {MOST_COPIED} drafts: publish or remove some of them first.");
        return Err(Fault::because(Code::BadRequest, text));
    }
    for id in &ids {
        if found(tx, context.collection(), id).await?.is_some() {
            let text = format!("Item {id} is published and has a draft: publish the draft or remove it first.");
            return Err(Fault::because(Code::BadRequest, text).with("itemId", id.as_str()));
        }
        let Some((_, draft)) = found(tx, drafts, id).await? else { continue };
        let draft = publishing::as_draft(&stoa_query::canonical(&draft, context.content.limits().query.item())?)?;
        put_item(tx, context, id, draft).await.map_err(|it| it.with("itemId", id.as_str()))?;
    }
    Ok(())
}

/// Refuses to copy drafts into a collection with hooks of what is inserted.
///
/// # Errors
/// WDE0119.
pub(crate) async fn may_copy(
    content: &Content,
    site: &Site,
    caller: &Caller,
    published: &Arc<Collection>,
) -> Result<()> {
    refuse_hooks((content, site, caller), &Map::new(), &[(published, INSERTS)]).await
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
        if let Some(hook) = hooks.iter().find(|it| calls.has(**it)) {
            return Err(fault::draft_hook_not_built(collection.id.as_str(), hook.name()));
        }
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
        if !published.access(caller).may_know(caller) {
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

    /// Whether both collections are still there: without its plugin a collection has no pair.
    async fn check(&self, tx: &mut Tx<'_>) -> Result<()> {
        let sql = "select count(*) from stoa.collection \
                   where site = $1 and (number = $2 or number = $3) and deleted is null";
        let numbers = params![&self.site, self.published.table.number, self.drafts.table.number];
        match tx.row(sql, &numbers, |row| row.get::<i64>(0)).await? {
            Some(2) => Ok(()),
            _ => Err(fault::collection_not_found(self.drafts.id.as_str())),
        }
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

/// Saves a document of one collection in the other.
async fn put(tx: &mut Tx<'_>, context: &Arc<WriteContext>, id: &str, document: &str) -> Result<ChangeResult> {
    put_item(tx, context, id, stoa_query::canonical(document, context.content.limits().query.item())?).await
}

async fn put_item(tx: &mut Tx<'_>, context: &Arc<WriteContext>, id: &str, item: CanonicalItem) -> Result<ChangeResult> {
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
