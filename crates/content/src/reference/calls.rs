//! Links made and removed by their own calls (docs/protocol/content.md §3.6, §21.6, §21.9; decision 10).
//!
//! A call does all it was asked for or nothing: clients ignore failures of single references inside a
//! 200, so the first one is the answer. A link belongs to the field that was declared: a caller who changes
//! it needs the right to update the item that has this field, also when the call goes through the inverse
//! field on the other collection, which asks for the right to update there as well.

use crate::{
    Content, RequestContext,
    collection::{
        self, Collection,
        access::{self, ItemWrite, LinkWrite, Write},
    },
    event::write::{EventWriter, LinkedField},
    fault::{self, not_a_reference},
    limits::ContentLimits,
    reference::{
        self, MAX_ID, Reference, field_name, id_of,
        link::{Edge, FieldLinks, LinkChange, visible},
    },
    schema::level::Operation,
    wire::request::Request,
};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    sync::Arc,
};
use stoa_kernel::{Caller, Code, Fault, Result};
use stoa_query::Scope;
use stoa_store::{Site, Tx, boxed};

/// A multi-reference field whose links the caller may change, as far as the items that it leads to go.
pub(crate) struct LinkAccess {
    pub links: FieldLinks,
    pub target: Arc<Collection>,
    /// By what right items are linked with.
    pub access: LinkWrite,
}

/// The same, as far as the items that have the field go as well.
struct FieldAccess {
    key: String,
    /// By what right the field of items is changed.
    source: ItemWrite,
    link: LinkAccess,
    events: EventWriter,
}

/// Links of one field that a call names.
struct FieldEdges {
    field: FieldAccess,
    edges: Vec<Edge>,
}

/// One link as it travels.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ItemReference {
    pub field: String,
    pub referring: String,
    pub referenced: String,
}

impl ItemReference {
    pub fn view(&self) -> Value {
        json!({
            "referringItemFieldName": self.field, "referringItemId": self.referring, "referencedItemId": self.referenced,
        })
    }
}

impl Content {
    /// Links items, all or none.
    ///
    /// # Errors
    /// WDE0021 for references that aren't any, WDE0080 for an empty list; WDE0025, WDE0027; WDE0020 when
    /// the field isn't a multi-reference, WDE0073 when an item isn't there or isn't the caller's to use,
    /// WDE0029 when two are linked already.
    pub async fn references_insert(
        &self,
        site: &Site,
        caller: &Caller,
        request: &Request<'_>,
    ) -> Result<Vec<ItemReference>> {
        let references = parse_references(request, self.limits())?;
        let mut seen = HashSet::with_capacity(references.len());
        if let Some(twice) = references.iter().find(|it| !seen.insert(*it)) {
            return Err(linked_already(request.collection(caller)?, twice));
        }
        let fields = by_field(
            RequestContext::new(self, site, caller, request.drafts()).in_language(request.language()),
            request,
            &references,
        )
        .await?;
        let inserted = site.write_with(fields, |tx, fields| {
            boxed!({
                for FieldEdges { field, edges } in fields {
                    field.insert(tx, edges).await?;
                }
                Ok(())
            })
        });
        inserted.await?;
        Ok(references)
    }

    /// Removes links; one that isn't there is no fault.
    ///
    /// # Errors
    /// As for insert, but WDE0029, and an item at the other end may be missing.
    pub async fn references_remove(
        &self,
        site: &Site,
        caller: &Caller,
        request: &Request<'_>,
    ) -> Result<Vec<ItemReference>> {
        let references = parse_references(request, self.limits())?;
        let fields = by_field(
            RequestContext::new(self, site, caller, request.drafts()).in_language(request.language()),
            request,
            &references,
        )
        .await?;
        let removed = site.write_with(fields, |tx, fields| {
            boxed!({
                for FieldEdges { field, edges } in fields {
                    field.link.links.check(tx).await?;
                    field.lock_sources(tx, edges).await?;
                    field.check_sources(tx, edges.iter().map(|it| &it.source)).await?;
                    let removed = field.link.links.remove(tx, edges, &field.link.access).await?;
                    field.tell(tx, LinkChange { removed, ..LinkChange::default() }).await?;
                }
                Ok(())
            })
        });
        removed.await?;
        Ok(references)
    }

    /// Puts links in the place of all that an item has in a field, in the order given.
    ///
    /// # Errors
    /// As for insert, but WDE0029.
    pub async fn references_replace(
        &self,
        site: &Site,
        caller: &Caller,
        request: &Request<'_>,
    ) -> Result<Vec<ItemReference>> {
        let members = &request.members;
        let (key, source) = (field_name(members, "referringItemFieldName")?, id(members.get("referringItemId"))?);
        let list = members.get("newReferencedItemIds").and_then(Value::as_array);
        let list = list.ok_or_else(|| invalid("newReferencedItemIds must be a list of ids."))?;
        check_count(list.len(), self.limits())?;
        let mut seen = HashSet::with_capacity(list.len());
        let targets = list.iter().map(|it| id(Some(it))).collect::<Result<Vec<_>>>()?;
        let targets = targets.into_iter().filter(|it| seen.insert(it.clone()));
        let reference =
            |target: String| ItemReference { field: key.clone(), referring: source.clone(), referenced: target };
        let references: Vec<_> = targets.map(reference).collect();
        let collection = collection::load(self, site, request.collection(caller)?).await?;
        let field = field_access(
            RequestContext::new(self, site, caller, request.drafts()).in_language(request.language()),
            &collection,
            &key,
        )
        .await?;
        let edges: Vec<Edge> = references.iter().map(edge).collect();
        let replaced = site.write_with((field, vec![source], edges), |tx, (field, sources, edges)| {
            boxed!({
                let LinkAccess { links, access, .. } = &field.link;
                links.check(tx).await?;
                field.lock_sources(tx, edges).await?;
                field.check_sources(tx, sources.iter()).await?;
                field.check_targets(tx, edges).await?;
                let removed = links.clear(tx, sources, access).await?;
                let added = links.insert(tx, edges, access).await?;
                field.tell(tx, LinkChange { removed, added }).await
            })
        });
        replaced.await?;
        Ok(references)
    }
}

/// A multi-reference field, for a caller whose right to the items that have the field is another matter.
///
/// # Errors
/// WDE0020, WDE0025, WDE0027.
pub(crate) async fn link_access(context: RequestContext<'_>, source: &Collection, key: &str) -> Result<LinkAccess> {
    let not_multi = || not_a_reference(source.id.as_str(), key, "multi-reference");
    let found = reference::target(context.content, context.site, source, key).await?.ok_or_else(not_multi)?;
    let Reference::Multi(link) = found.reference else { return Err(not_multi()) };
    let target = found.existing()?.clone();
    let access = access::links(context.caller, context.drafts, &target, link.side)?;
    Ok(LinkAccess { links: FieldLinks::new(context.site, link, source, &target), target, access })
}

/// A multi-reference field, if the caller may change it at all.
///
/// # Errors
/// WDE0020, WDE0025, WDE0027.
async fn field_access(context: RequestContext<'_>, source: &Arc<Collection>, key: &str) -> Result<FieldAccess> {
    let access = access::items(context.caller, context.drafts, source, Write::Update)?;
    let link = link_access(context, source, key).await?;
    let now = context.content.state.world.now();
    let events = EventWriter::new(&context.site.id, source, context.caller, now);
    Ok(FieldAccess { key: key.to_owned(), source: access, link, events })
}

/// The references of a call, together by field.
async fn by_field(
    context: RequestContext<'_>,
    request: &Request<'_>,
    references: &[ItemReference],
) -> Result<Vec<FieldEdges>> {
    let id = request.collection(context.caller)?;
    let collection = collection::load(context.content, context.site, id).await?;
    let mut by_key: BTreeMap<&str, Vec<Edge>> = BTreeMap::new();
    for it in references {
        by_key.entry(&it.field).or_default().push(edge(it));
    }
    let mut fields = Vec::with_capacity(by_key.len());
    for (key, edges) in by_key {
        fields.push(FieldEdges { field: field_access(context, &collection, key).await?, edges });
    }
    Ok(fields)
}

fn parse_references(request: &Request<'_>, limits: &ContentLimits) -> Result<Vec<ItemReference>> {
    let list = request.members.get("dataItemReferences").and_then(Value::as_array);
    let list = list.ok_or_else(|| invalid("dataItemReferences must be a list."))?;
    if list.is_empty() {
        return Err(Fault::because(Code::BadRequest, "dataItemReferences must not be empty."));
    }
    check_count(list.len(), limits)?;
    let read = |it: &Value| {
        let members = it.as_object().ok_or_else(|| invalid("dataItemReferences must be a list of objects."))?;
        Ok(ItemReference {
            field: field_name(members, "referringItemFieldName")?,
            referring: id(members.get("referringItemId"))?,
            referenced: id(members.get("referencedItemId"))?,
        })
    };
    list.iter().map(read).collect()
}

fn check_count(count: usize, limits: &ContentLimits) -> Result<()> {
    let most = limits.bulk_items;
    match count > most {
        true => Err(Fault::because(Code::TooManyItems, format!("At most {most} references per request."))),
        false => Ok(()),
    }
}

impl FieldAccess {
    /// Links items that are all there and all the caller's to use, and not linked yet.
    async fn insert(&self, tx: &mut Tx<'_>, edges: &[Edge]) -> Result<()> {
        let links = &self.link.links;
        links.check(tx).await?;
        self.lock_sources(tx, edges).await?;
        self.check_sources(tx, edges.iter().map(|it| &it.source)).await?;
        self.check_targets(tx, edges).await?;
        if let Some(Edge { source, target }) = links.first_of(tx, edges).await? {
            let reference = ItemReference { field: self.key.clone(), referring: source, referenced: target };
            return Err(linked_already(self.source.collection().id.as_str(), &reference));
        }
        let added = links.insert(tx, edges, &self.link.access).await?;
        self.tell(tx, LinkChange { added, ..LinkChange::default() }).await
    }

    /// Tells the outbox what became of links, where one of the collections asks for it.
    async fn tell(&self, tx: &mut Tx<'_>, LinkChange { removed, added }: LinkChange) -> Result<()> {
        let field = LinkedField { key: &self.key, target: self.link.target.id.as_str() };
        self.events.references_changed(tx, field, (&removed, &added)).await
    }

    /// Calls on the same items go one after the other, whatever the order of their links.
    async fn lock_sources(&self, tx: &mut Tx<'_>, edges: &[Edge]) -> Result<()> {
        let ids: BTreeSet<&String> = edges.iter().map(|it| &it.source).collect();
        let ids: Vec<String> = ids.into_iter().cloned().collect();
        self.source.collection().statements.lock_rows(tx, &ids).await
    }

    /// # Errors
    /// WDE0073 for the first item that has no field the caller may change.
    async fn check_sources<'i>(&self, tx: &mut Tx<'_>, items: impl Iterator<Item = &'i String> + Clone) -> Result<()> {
        check(tx, self.source.collection(), &self.source.scope(Operation::Update)?, items).await
    }

    /// # Errors
    /// WDE0073 for the first item that the caller can't link with.
    async fn check_targets(&self, tx: &mut Tx<'_>, edges: &[Edge]) -> Result<()> {
        let LinkAccess { target, access, .. } = &self.link;
        check(tx, target, access.scope(), edges.iter().map(|it| &it.target)).await
    }
}

async fn check<'i>(
    tx: &mut Tx<'_>,
    collection: &Collection,
    scope: &Scope,
    items: impl Iterator<Item = &'i String> + Clone,
) -> Result<()> {
    let ids: HashSet<&String> = items.clone().collect();
    let there = visible(tx, collection, scope, ids.into_iter().cloned().collect()).await?;
    match items.into_iter().find(|it| !there.contains(*it)) {
        Some(id) => Err(fault::item_not_found(collection.id.as_str(), id)),
        None => Ok(()),
    }
}

fn edge(reference: &ItemReference) -> Edge {
    Edge { source: reference.referring.clone(), target: reference.referenced.clone() }
}

fn id(value: Option<&Value>) -> Result<String> {
    match value.and_then(id_of) {
        Some(it) if !it.is_empty() && it.len() <= MAX_ID && !it.contains('\0') => Ok(it.to_owned()),
        _ => Err(invalid("Ids of referring and referenced items must be non-empty strings.")),
    }
}

fn invalid(text: &str) -> Fault {
    Fault::because(Code::ReferencesInvalid, text)
}

fn linked_already(collection: &str, it: &ItemReference) -> Fault {
    let text = format!("{} of item {} refers to item {} already.", it.field, it.referring, it.referenced);
    Fault::because(Code::ReferenceExists, text)
        .with("collectionName", collection)
        .with("propertyName", it.field.as_str())
        .with("referencingItemId", it.referring.as_str())
        .with("referencedItemId", it.referenced.as_str())
}
