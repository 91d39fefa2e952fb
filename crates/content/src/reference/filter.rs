//! Multi-references in filters: what of their links a caller may ask for (docs/protocol/content.md §21.1).
//!
//! The scope of the collection that a field leads to is part of the query, so that a filter tells nothing of
//! links to items that the caller can't read: to that caller they aren't there.

use crate::{
    RequestContext,
    collection::{Collection, access},
    reference::{self, Reference},
    schema::level::Operation,
};
use std::{borrow::Cow, collections::HashSet, sync::Arc};
use stoa_kernel::Result;
use stoa_query::{Kind, Links, Schema, Scope, wire};

/// What a filter is resolved against: the collection's schema, with the links that the filter names.
pub(crate) async fn schema<'c>(
    context: RequestContext<'_>,
    collection: &'c Collection,
    filter: &wire::Filter,
) -> Result<Cow<'c, Schema>> {
    let mut named = HashSet::new();
    filter.fields(&mut |it| {
        if collection.schema.fields.get(it) == Some(&Kind::MultiReference) {
            named.insert(it);
        }
    });
    if named.is_empty() {
        return Ok(Cow::Borrowed(&collection.schema));
    }
    let mut schema = collection.schema.clone();
    for key in named {
        let Some(target) = reference::target(context.content, context.site, collection, key).await? else { continue };
        let Reference::Multi(link) = target.reference else { continue };
        let scope = |it: &Arc<Collection>| access::scope(context.caller, context.drafts, Operation::Read, it).ok();
        let links = Links {
            field: key.to_owned(),
            site: context.site.id.as_str().to_owned(),
            relation: link.relation,
            source_column: link.side.source_column(),
            target_column: link.side.target_column(),
            scope: target.collection.as_ref().and_then(scope).unwrap_or(Scope::Nothing),
            table: target.collection.map_or(collection.table, |it| it.table),
        };
        schema.links.insert(key.to_owned(), Arc::new(links));
    }
    Ok(Cow::Owned(schema))
}
