//! Collections shown to callers as wire objects: one, or a page of them.

use crate::{
    Content,
    collection::{
        Collection,
        access::may_know,
        load_existing,
        stored::{self, StoredCollection},
        view,
    },
    fault,
    schema::level::{Access, Reach},
};
use serde_json::Value;
use std::cmp::Ordering;
use stoa_kernel::{Caller, Code, Fault, Result};
use stoa_store::{ReaderPool, Site, boxed};

/// Which collections a list shows, and in which order.
#[derive(Debug, Clone, Default)]
pub struct ListOptions {
    /// A member of the collection object: id, displayName, createdDate or updatedDate.
    pub sort: Option<String>,
    pub is_descending: bool,
    pub limit: Option<usize>,
    pub offset: usize,
    /// Members that are wanted; none for all.
    pub fields: Vec<String>,
}

/// One page of collections as wire objects.
pub struct CollectionList {
    pub collections: Vec<Value>,
    pub offset: usize,
    pub total: usize,
}

impl Content {
    /// The wire object of a collection: all of it for managers, a reduced form for others.
    ///
    /// # Errors
    /// WDE0025 when there is none, or none that the caller may know of.
    pub async fn collection_get(
        &self,
        site: &Site,
        caller: &Caller,
        id: &str,
        fields: &[String],
        with_allowed: bool,
    ) -> Result<Value> {
        let collection = load_existing(self, site, id).await?;
        if !may_know(caller, &collection) {
            return Err(fault::collection_not_found(id));
        }
        Ok(only(view::view(&collection, caller, with_allowed, self.limits()), fields))
    }

    /// A page of the collections that the caller may know of, the oldest first unless sorted.
    ///
    /// # Errors
    /// WDE0080 for a sort by anything else than the four members.
    pub async fn collection_list(&self, site: &Site, caller: &Caller, options: &ListOptions) -> Result<CollectionList> {
        let id = site.id.clone();
        let mut all = site.read(ReaderPool::Scan, move |tx| boxed!(stored::all_live(tx, &id).await)).await?;
        let access = |it: &StoredCollection| Access {
            levels: it.definition.levels,
            grants: it.grants.grants(caller),
            reach: Reach::of(caller, &it.id),
        };
        // Few have drafts of their own.
        let has_drafts = |it: &StoredCollection| {
            it.definition.drafts_id().is_some() && may_know(caller, &Collection::new(site, it.clone()))
        };
        all.retain(|it| access(it).may_know(caller) || has_drafts(it));
        if let Some(name) = &options.sort {
            let by = compare(name)?;
            all.sort_by(|a, b| if options.is_descending { by(b, a) } else { by(a, b) });
        }
        let total = all.len();
        let page = all.into_iter().skip(options.offset).take(options.limit.unwrap_or(100));
        let show = |it| only(view::view(&Collection::new(site, it), caller, false, self.limits()), &options.fields);
        Ok(CollectionList { collections: page.map(show).collect(), offset: options.offset, total })
    }
}

fn compare(name: &str) -> Result<fn(&StoredCollection, &StoredCollection) -> Ordering> {
    Ok(match name {
        "id" | "_id" => |a, b| a.id.cmp(&b.id),
        "displayName" => |a, b| a.definition.display_name.cmp(&b.definition.display_name).then(a.id.cmp(&b.id)),
        "createdDate" | "_createdDate" => |a, b| (a.created, a.number).cmp(&(b.created, b.number)),
        "updatedDate" | "_updatedDate" => |a, b| (a.updated, a.number).cmp(&(b.updated, b.number)),
        _ => {
            return Err(Fault::because(
                Code::BadRequest,
                "Collections are sorted by id, displayName, createdDate or updatedDate.",
            ));
        }
    })
}

/// The members that were asked for, and the id.
fn only(mut view: Value, fields: &[String]) -> Value {
    if let (false, Some(object)) = (fields.is_empty(), view.as_object_mut()) {
        let is_wanted = |name: &str| fields.iter().any(|it| it.split('.').next() == Some(name));
        object.retain(|name, _| name == "id" || is_wanted(name));
    }
    view
}
