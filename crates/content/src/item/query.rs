//! Many items at once: queries and counts (docs/protocol/content.md §3.8, §5).
//!
//! The scope of the caller is part of the plan, so that no filter, sort or count can see past it. A request
//! by offset is answered without cursors, one by cursor with them: on every page but the last `next`, on
//! every page but the first `prev` (docs/protocol/content.md §5.3).

use crate::{
    Content, ContentLimits, Origin, RequestContext,
    collection::{self, Collection, access, field_view, translation::Translation},
    hook::CallHooks,
    index::auto::{self, Answered},
    item::page_query::{PageQuery, is_bounded},
    language::Language,
    page::{
        Page,
        cursor::{self, CursorCall},
    },
    reference::{filter, include},
    schema::level::Operation,
    wire::request,
};
use serde_json::{Map, Value as Json, json};
use std::{borrow::Cow, sync::Arc};
use stoa_hooks::Hook;
use stoa_kernel::{Caller, Code, Fault, Result};
use stoa_query::{Context, Filter, Schema, Scope, compile, resolve, schema::IndexSpec, wire};
use stoa_store::{ReaderPool, Site, boxed};

/// What queries leave to their cursors.
const QUERY: CursorCall = CursorCall {
    name: "items",
    outer: &["sortMode", "randomOptions", "language"],
    within: "query",
    inner: &["filter", "sort"],
};

impl Content {
    /// A page of items.
    ///
    /// # Errors
    /// WDE0001, WDE0025, WDE0027, and what makes a query invalid; THROTTLED_FEATURE when it waited too long for its
    /// turn.
    pub async fn item_query(
        &self,
        site: &Site,
        caller: &Caller,
        origin: Origin,
        members: &Map<String, Json>,
    ) -> Result<Page> {
        let context = RequestContext::of_members(self, site, caller, members);
        let collection = collection::load(self, site, request::collection(members, caller)?).await?;
        let hooks = reader_hooks(context, &collection, members).await?;
        let call = async {
            let (paging, members) = cursor::paging(context, &collection, &QUERY, members).await?;
            let context = context.in_language(Language::of(&members));
            let narrowed = narrowed(&hooks, &members, "query").await?;
            let collection = hooks.still(context, &collection).await?;
            let mut query = wire::Query::parse(narrowed.as_ref().unwrap_or(&members), &self.limits().query)?;
            if let wire::Sort::Random { seed: seed @ None } = &mut query.sort {
                // Within the integers that clients count with.
                *seed = Some(u32::from_le_bytes(self.state.world.bytes::<4>()).into());
            }
            let schema = filter::schema(context, &collection, &query.filter).await?;
            let mut plan = resolve::find(&query, query_context(context, &collection, &schema)?)?;
            if let Some(paging) = &paging
                && let Some(start) = paging.start(Some(&plan.order))?
            {
                plan.page.start = start;
            }
            let includes = include::plan(context, &collection, &query.references).await?;
            let is_plain = includes.is_empty();
            // Cursors are for one kind of caller, and what is referred to has permissions of its own.
            let is_random = matches!(query.sort, wire::Sort::Random { .. });
            let is_same_for_all = is_plain && paging.is_none() && !is_random && matches!(schema, Cow::Borrowed(_));
            let cache_seconds =
                collection.definition.cache_seconds().filter(|_| is_same_for_all && !hooks.decide_on_reads());
            let view = field_view::load(self, site, caller, &collection).await?;
            let pool = match is_plain && is_bounded(&plan) {
                true => ReaderPool::Point,
                false => {
                    check_cost(self.limits(), caller, &plan.indexes, &plan.scope, &plan.filter)?;
                    self.scan(caller, origin)
                }
            };
            let (most, began) = (self.limits().page_bytes, self.state.world.now());
            let translation = Translation::of(&site.id, &collection, context.language, &plan.scope);
            let collection = collection.clone();
            let find = Arc::new(PageQuery { collection, plan, view, translation, includes, most, asked: None });
            let found = find.clone().answer(site, pool, is_plain).await;
            let PageQuery { collection, plan, .. } = &*find;
            if is_plain && pool != ReaderPool::Point {
                let (filter, order) = (&plan.filter, Some(&plan.order));
                auto::record(self, site, collection, &Answered { scope: &plan.scope, filter, order, began });
            }
            let (mut page, ends) = found?;
            page.cache_seconds = cache_seconds;
            page.elements = hooks.after_each(Hook::AfterQuery, page.elements).await?;
            if let Some(paging) = paging {
                let first = || {
                    let mut request = QUERY.take(&members);
                    if let wire::Sort::Random { seed: Some(seed) } = query.sort {
                        request.insert("randomOptions".to_owned(), json!({ "seed": seed }));
                    }
                    request
                };
                page.add_cursors(paging, first, &plan.page.start, ends)?;
            }
            Ok(page)
        };
        hooks.answering(call, |it| hooks.page(&collection, it)).await
    }

    /// How many items there are.
    ///
    /// # Errors
    /// As for a query.
    pub async fn item_count(
        &self,
        site: &Site,
        caller: &Caller,
        origin: Origin,
        members: &Map<String, Json>,
    ) -> Result<i64> {
        let context = RequestContext::of_members(self, site, caller, members);
        let collection = collection::load(self, site, request::collection(members, caller)?).await?;
        let hooks = reader_hooks(context, &collection, members).await?;
        let call = async {
            let members = &*hooks.narrowed(Hook::BeforeCount, Cow::Borrowed(members), &["filter"]).await?;
            let collection = hooks.still(context, &collection).await?;
            let filter = wire::Filter::parse_member(members, &self.limits().query)?;
            let schema = filter::schema(context, &collection, &filter).await?;
            let plan = Arc::new(resolve::count(&filter, query_context(context, &collection, &schema)?)?);
            check_cost(self.limits(), caller, &plan.indexes, &plan.scope, &plan.filter)?;
            let (counted, table, began) = (plan.clone(), collection.table, self.state.world.now());
            let count = site.query(self.scan(caller, origin), move |tx| {
                boxed!({
                    let (sql, params) = compile::count(tx.dialect(), table, &counted);
                    Ok(tx.row(&sql, &params, |row| row.get(0)).await?.unwrap_or(0))
                })
            });
            let count = count.await;
            let (scope, filter) = (&plan.scope, &plan.filter);
            auto::record(self, site, &collection, &Answered { scope, filter, order: None, began });
            hooks.after_count(count?).await
        };
        hooks.answering(call, CallHooks::number).await
    }
}

/// The request as its hook has it, where it has one. What cursors hold is the request as it was sent: they are signed but
/// not hidden, and the hook is asked about each page.
/// `within`: the member that has the query.
pub(super) async fn narrowed(
    hooks: &CallHooks,
    members: &Map<String, Json>,
    within: &str,
) -> Result<Option<Map<String, Json>>> {
    let mut query = match members.get(within) {
        _ if !hooks.has(Hook::BeforeQuery) => return Ok(None),
        None | Some(Json::Null) => Map::new(),
        Some(Json::Object(it)) => it.clone(),
        // Is refused as it is read.
        Some(_) => return Ok(None),
    };
    let mut members = members.clone();
    // A builder holds as one what the wire has in two places.
    query.remove(INCLUDES);
    query.extend(members.remove_entry(INCLUDES));
    let names = ["filter", "sort", "paging", "fields", INCLUDES];
    let mut query = paged(hooks, Hook::BeforeQuery, Cow::Owned(query), &names).await?.into_owned();
    members.extend(query.remove_entry(INCLUDES));
    members.insert(within.to_owned(), query.into());
    Ok(Some(members))
}

const INCLUDES: &str = "includeReferences";

/// Members as a hook has them. A request by cursor stays one, whose pages the hook may have shorter.
pub(super) async fn paged<'m>(
    hooks: &CallHooks,
    hook: Hook,
    members: Cow<'m, Map<String, Json>>,
    names: &[&str],
) -> Result<Cow<'m, Map<String, Json>>> {
    const BY_CURSOR: &str = "cursorPaging";
    let by_cursor = members.get(BY_CURSOR).filter(|it| it.is_object()).cloned();
    let names: Vec<&str> = names.iter().copied().chain(by_cursor.as_ref().map(|_| BY_CURSOR)).collect();
    let mut narrowed = hooks.narrowed(hook, members, &names).await?;
    if let Some(it) = by_cursor.filter(|_| !narrowed.get(BY_CURSOR).is_some_and(Json::is_object)) {
        narrowed.to_mut().insert(BY_CURSOR.to_owned(), it);
    }
    Ok(narrowed)
}

/// The hooks of a call by one who may read something: none is asked for others.
pub(super) async fn reader_hooks(
    context: RequestContext<'_>,
    collection: &Collection,
    members: &Map<String, Json>,
) -> Result<CallHooks> {
    access::scope(context.caller, context.drafts, Operation::Read, collection)?;
    CallHooks::of_members(context, collection, members).await
}

/// Anonymous callers cost the server little to make, so what each of their requests may cost is bounded.
///
/// # Errors
/// WDE0093 for a filter with too many conditions that no index serves.
pub(crate) fn check_cost(
    limits: &ContentLimits,
    caller: &Caller,
    indexes: &[IndexSpec],
    scope: &Scope,
    filter: &Filter,
) -> Result<()> {
    let (conditions, most) = (filter.tests(), limits.anonymous_conditions);
    let is_served = || compile::served_by(indexes, scope, filter, None).is_some();
    if !matches!(caller.bare(), Caller::Visitor { .. }) || conditions <= most || is_served() {
        return Ok(());
    }
    let text =
        format!("The filter has {conditions} conditions that no index serves; anonymous callers may have {most}.");
    Err(Fault::because(Code::FilterInvalid, text).with("conditions", conditions).with("most", most))
}

/// What a request is resolved against. A caller who may read nothing is refused here.
pub(super) fn query_context<'c>(
    context: RequestContext<'_>,
    collection: &Collection,
    schema: &'c Schema,
) -> Result<Context<'c>> {
    let scope = access::scope(context.caller, context.drafts, Operation::Read, collection)?;
    Ok(Context { schema, scope, seed: 0 })
}
