//! What one caller may see of one collection's changes.

use crate::{
    Content,
    collection::{self, Collection, access},
    drafts::Drafts,
    feed::{Before, FeedItem, FeedRequest},
    hook::version,
    schema::level::Operation,
};
use ring::digest::{SHA256, digest};
use serde_json::Value;
use std::sync::Arc;
use stoa_kernel::{Caller, Code, Fault, Result};
use stoa_query::{
    Context, Filter, Projection, Scope, matches,
    plan::{Find, PageSpec, Start},
    resolve,
};
use stoa_store::Site;

/// Stands for all that decides what is told: equal keys mean equal judgements of every row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FeedKey([u8; 32]);

/// A request to follow, resolved for a caller as the collection is now.
pub struct FeedView {
    pub(crate) collection: Arc<Collection>,
    pub(crate) plan: Find,
    /// The scope and the filter.
    visible: Filter,
    key: FeedKey,
    shape: FeedKey,
}

/// What a follower is to be told of a change of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judgement {
    /// It was not, and is not, among the items that the follower may see and asked for.
    Nothing,
    /// It comes among them.
    Enter,
    /// It is among them in another form.
    Update,
    /// It is no longer among them.
    Leave,
    /// It isn't now, and whether it was isn't known.
    Unknown,
}

impl Content {
    /// What this caller may follow of a collection, as its definition is now.
    ///
    /// # Errors
    /// WDE0025 and WDE0026 where there is no such collection, WDE0027, WDE0119 for a collection without `realtime`, for
    /// one whose hooks decide on what is shown, and for a filter through multi-references or encrypted fields, and what makes a query invalid.
    pub async fn feed_view(&self, site: &Site, caller: &Caller, request: &FeedRequest) -> Result<FeedView> {
        let collection = collection::load(self, site, &request.collection).await?;
        let scope = access::scope(caller, Drafts::Included, Operation::Read, &collection)?;
        check_followable(self, site, &collection).await?;
        let mut plan = resolve::find(&request.query, Context { schema: &collection.schema, scope, seed: 0 })?;
        plan.page = PageSpec { start: Start::Offset(0), limit: plan.page.limit };
        Ok(FeedView::new(collection, plan))
    }

    /// Whether the definition that a view was made by is certainly still the one that counts. A caller who is the same has the
    /// same view then.
    pub fn feed_is_current(&self, site: &Site, view: &FeedView) -> bool {
        let known = self.state.schema_cache.get(&site.id, view.collection(), self.state.world.now());
        known.is_some_and(|it| Arc::ptr_eq(&it, &view.collection))
    }

    /// Whether what is told by a view may still be told. Nodes forget which hooks are active before that is acknowledged;
    /// this is for one that crashed in between, and costs a look into memory.
    ///
    /// # Errors
    /// WDE0119 where a hook decides on what is shown by now.
    pub async fn feed_may_go_on(&self, site: &Site, view: &FeedView) -> Result<()> {
        check_followable(self, site, &view.collection).await
    }

    /// Whether a definition says of items what it said when the view was made: rights apart, which are told otherwise.
    ///
    /// # Errors
    /// WDE0025 and WDE0026 where there is no such collection any more, WDE0119 when it can't be followed any more.
    pub async fn feed_has_same_shape(&self, site: &Site, view: &FeedView) -> Result<bool> {
        let collection = collection::load(self, site, view.collection.id.as_str()).await?;
        check_followable(self, site, &collection).await?;
        Ok(shape(&collection) == view.shape)
    }
}

/// Whether the items of a collection may be followed: not where a hook decides on how they are shown, which would be passed
/// by, unless the collection says that this is meant.
///
/// # Errors
/// WDE0119.
async fn check_followable(content: &Content, site: &Site, collection: &Collection) -> Result<()> {
    let id = collection.id.as_str();
    let text = if !collection.is_realtime() {
        format!("The collection {id:?} is not realtime, so its items can't be followed.")
    } else if !collection.definition.realtime_without_hooks
        && version::decides_on_what_is_shown(content, site, id).await?
    {
        format!(
            "The collection {id:?} has a hook that decides on what is read, which realtime would pass by, so its items can't be \
             followed unless it has realtimeWithoutHooks."
        )
    } else {
        return Ok(());
    };
    Err(Fault::because(Code::NotSupported, text).with("dataCollectionId", id))
}

impl FeedView {
    fn new(collection: Arc<Collection>, plan: Find) -> Self {
        let visible = Filter::all([plan.scope.filter(), plan.filter.clone()]);
        let shape = shape(&collection);
        // Whoever has an equal key is told the same: `Debug` of these three is derived, and so tells any two apart.
        let whole = format!("{:?} {:?} {:?} {:?}", shape.0, plan.filter, plan.scope, plan.projection);
        Self { key: FeedKey::of(&whole), visible, collection, plan, shape }
    }

    pub fn key(&self) -> FeedKey {
        self.key
    }

    /// Whether both were made by definitions that say the same of items.
    pub fn has_shape_of(&self, other: &Self) -> bool {
        self.shape == other.shape
    }

    /// The collection's id.
    pub fn collection(&self) -> &str {
        self.collection.id.as_str()
    }

    /// Conditions of the filter: what judging a row costs.
    pub fn conditions(&self) -> usize {
        self.plan.filter.tests()
    }

    /// Whose items alone the caller may see; nothing if those of others as well.
    pub fn owner(&self) -> Option<&str> {
        let mut scope = &self.plan.scope;
        while let Scope::Published { within, .. } = scope {
            scope = within;
        }
        if let Scope::OwnedBy(it) = scope { Some(it) } else { None }
    }

    /// What the follower is to be told of a change.
    pub fn judge(&self, item: &FeedItem) -> Judgement {
        let is_visible = item.after.as_ref().is_some_and(|it| matches(&self.visible, &it.document));
        let was_visible = match &item.before {
            Before::Absent => false,
            Before::Known(it) => matches(&self.visible, it),
            Before::Unknown if is_visible => false,
            Before::Unknown => return Judgement::Unknown,
        };
        match (was_visible, is_visible) {
            (false, false) => Judgement::Nothing,
            (false, true) => Judgement::Enter,
            (true, false) => Judgement::Leave,
            (true, true) if self.is_changed(item) => Judgement::Update,
            (true, true) => Judgement::Nothing,
        }
    }

    /// The item as the follower is shown it; nothing for one that was deleted.
    pub fn document(&self, item: &FeedItem) -> Option<String> {
        let after = item.after.as_ref()?;
        Some(stoa_query::project(&after.text, &self.plan.projection))
    }

    /// The names, as JSON strings, of the fields that the follower is shown and that changed.
    pub fn modified<'i>(&self, item: &'i FeedItem) -> impl Iterator<Item = &'i str> {
        item.modified.iter().map(String::as_str).filter(|it| self.shows(it))
    }

    /// Whether the follower is shown anything that is another: a time of writing is.
    fn is_changed(&self, item: &FeedItem) -> bool {
        self.plan.projection.shows("\"_updatedDate\"") || item.modified.iter().any(|it| self.shows(it))
    }

    fn shows(&self, quoted: &str) -> bool {
        self.plan.projection.shows(quoted) && !self.collection.encrypted.has(quoted)
    }

    /// A stored document as the follower is shown it.
    pub(crate) fn show(&self, document: &str) -> String {
        let shown = self.collection.page_links.put(self.collection.encrypted.hide(document));
        match &self.plan.projection {
            Projection::All => shown.into_owned(),
            some => stoa_query::project(&shown, some),
        }
    }
}

/// Stands for what a collection's items are, and how conditions on them are understood.
fn shape(collection: &Collection) -> FeedKey {
    let definition = &collection.definition;
    let fields: Vec<Value> = definition.fields.iter().map(|it| Value::Object(it.clone())).collect();
    let (table, links) = (collection.table, collection.page_links.shape());
    FeedKey::of(&format!("{} {} {} {links}", table.site, table.number, Value::Array(fields)))
}

impl FeedKey {
    fn of(text: &str) -> Self {
        let mut key = [0; 32];
        key.copy_from_slice(digest(&SHA256, text.as_bytes()).as_ref());
        Self(key)
    }
}
