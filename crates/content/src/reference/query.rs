//! Which items an item refers to (docs/protocol/content.md §3.6, §21.6, §21.9; decision 10).
//!
//! Both calls need the right to read both collections; items that the caller may not read are as if
//! they weren't there. A single reference that leads nowhere is answered as unresolved, because its id
//! stands in the document anyway.
//!
//! Paging by cursor goes on behind a link by the number that it got when it was made, or, where the ids
//! stand in the documents, behind a referring item by its position in the request, which the cursor holds.

use crate::{
    Content, Origin, RequestContext,
    collection::{self, Collection, access},
    fault::{cursor_invalid, not_a_reference},
    hook::CallHooks,
    language::Language,
    limits::ContentLimits,
    page::{
        Page,
        budget::ResponseBudget,
        cursor::{self, CursorCall, Ends},
        language,
        print::print,
    },
    reference::{
        self, Reference, and_scope, field_name, id_of,
        include::{self, ReadableCollection},
        link::{Edge, visible},
    },
    schema::{level::Operation, relation::Link},
    wire::request,
};
use serde_json::{Map, Value, json};
use std::{
    borrow::Cow,
    cmp::Ordering,
    collections::{HashMap, HashSet},
    sync::Arc,
};
use stoa_kernel::{Caller, Code, Fault, Result};
use stoa_query::{
    Projection, Scope,
    plan::{KeysetValue, PageSpec, Position, Start},
    resolve,
    wire::{self, Paging},
};
use stoa_sql::{DocumentPath, Writer, json::quoted};
use stoa_store::{ReaderPool, Site, Tx, boxed};

/// The page's size when the request names none.
const DEFAULT_LIMIT: u32 = 50;

/// What a query leaves to its cursors.
const REFERENCED: CursorCall = CursorCall {
    name: "referenced",
    outer: &["referringItemId", "referringItemIds", "referringItemFieldName", "order", "language"],
    within: "query",
    inner: &[],
};

/// A reference field as a caller may read it.
struct ReadableField {
    key: String,
    reference: Reference,
    source: Arc<Collection>,
    source_scope: Scope,
    target: ReadableCollection,
}

/// A query for a page of what items refer to.
struct ReferencedQuery {
    field: ReadableField,
    site: String,
    /// Different from each other.
    items: Vec<String>,
    /// Whether answers say which of the items refers.
    is_plural: bool,
    descending: bool,
    page: PageSpec,
    projection: Projection,
    total: bool,
}

impl Content {
    /// Whether one item refers to another.
    ///
    /// # Errors
    /// WDE0019 for ids, WDE0020 when the field isn't a reference; WDE0025, WDE0027.
    pub async fn is_referenced(&self, site: &Site, caller: &Caller, members: &Map<String, Value>) -> Result<bool> {
        let (source, target) = (id(members.get("referringItemId"))?, id(members.get("referencedItemId"))?);
        let collection = collection::load(self, site, request::collection(members, caller)?).await?;
        let field =
            readable_field(RequestContext::of_members(self, site, caller, members), collection, members).await?;
        let site_id = site.id.as_str().to_owned();
        let found = site.read(ReaderPool::Point, move |tx| {
            boxed!({
                let is_there = |seen: HashSet<String>| !seen.is_empty();
                let ReadableCollection { collection, scope, .. } = &field.target;
                if !is_there(visible(tx, &field.source, &field.source_scope, vec![source.clone()]).await?)
                    || !is_there(visible(tx, collection, scope, vec![target.clone()]).await?)
                {
                    return Ok(false);
                }
                let mut sql = Writer::new(tx.dialect());
                match &field.reference {
                    Reference::Single => {
                        let value = sql.dialect().text(&DocumentPath::field(std::slice::from_ref(&field.key)));
                        sql.push(&format!("select 1 from {} where id = ", field.source.statements.name)).bind(source);
                        sql.push(&format!(" and ({value}) = ")).bind(target);
                    }
                    Reference::Multi(link) => {
                        sql.push("select 1 from stoa.item_link link where link.site = ").bind(site_id);
                        sql.push(" and link.relation = ").bind(link.relation);
                        sql.push(&format!(" and link.{} = ", link.side.source_column())).bind(source);
                        sql.push(&format!(" and link.{} = ", link.side.target_column())).bind(target);
                    }
                }
                let (sql, params) = sql.finish();
                Ok(tx.row(&sql, &params, |_| Ok(())).await?.is_some())
            })
        });
        found.await
    }

    /// A page of the items that one or several items refer to, in the order in which the links were made.
    ///
    /// # Errors
    /// As for [`Content::is_referenced`], and what makes paging invalid.
    pub async fn references_query(
        &self,
        site: &Site,
        caller: &Caller,
        origin: Origin,
        members: &Map<String, Value>,
    ) -> Result<Page> {
        let context = RequestContext::of_members(self, site, caller, members);
        let source = collection::load(self, site, request::collection(members, caller)?).await?;
        let (paging, members) = cursor::paging(context, &source, &REFERENCED, members).await?;
        let context = context.in_language(Language::of(&members));
        let (items, is_plural) = referring_items(&members, self.limits())?;
        let request = wire::Referenced::parse(&members, &self.limits().query)?;
        let (limit, first) = match request.paging {
            Paging::Offset { limit, offset } => (limit, Start::Offset(offset)),
            Paging::Cursor { limit, .. } => (limit, Start::First),
        };
        let continued = paging.as_ref().map(|it| it.start(None)).transpose()?.flatten();
        let start = continued.unwrap_or(first);
        let query = ReferencedQuery {
            field: readable_field(context, source, &members).await?,
            site: site.id.as_str().to_owned(),
            items,
            is_plural,
            descending: request.descending,
            page: PageSpec { start: start.clone(), limit: limit.unwrap_or(DEFAULT_LIMIT) },
            projection: resolve::projection(&request.fields),
            total: request.total,
        };
        let hooks = CallHooks::of_members(context, &query.field.target.collection, &members).await?;
        let most = self.limits().page_bytes;
        // A transaction may be run again, and begins with the whole budget then.
        let query = Arc::new(query);
        let scan = self.scan(caller, origin);
        let found = site.query(scan, move |tx| boxed!(query.answer(tx, &mut ResponseBudget::new(most)).await));
        let (mut page, ends) = found.await?;
        page.elements = hooks.after_referenced(page.elements).await?;
        if let Some(paging) = paging {
            page.add_cursors(paging, || REFERENCED.take(&members), &start, ends)?;
        }
        Ok(page)
    }
}

/// The field that a request names, if the caller may read both sides.
async fn readable_field(
    context: RequestContext<'_>,
    source: Arc<Collection>,
    members: &Map<String, Value>,
) -> Result<ReadableField> {
    let source_scope = access::scope(context.caller, context.drafts, Operation::Read, &source)?;
    let key = field_name(members, "referringItemFieldName")?;
    let found = reference::target(context.content, context.site, &source, &key).await?;
    let found = found.ok_or_else(|| not_a_reference(source.id.as_str(), &key, "reference"))?;
    let target = include::readable(context, found.existing()?.clone()).await?;
    Ok(ReadableField { key, reference: found.reference, source, source_scope, target })
}

/// `referringItemId` or `referringItemIds`, and whether it is the latter.
fn referring_items(members: &Map<String, Value>, limits: &ContentLimits) -> Result<(Vec<String>, bool)> {
    let Some(list) = members.get("referringItemIds").filter(|it| !it.is_null()) else {
        return Ok((vec![id(members.get("referringItemId"))?], false));
    };
    let list = list.as_array().filter(|it| !it.is_empty());
    let list =
        list.ok_or_else(|| Fault::because(Code::ReferenceIdInvalid, "referringItemIds must be a list of ids."))?;
    let most = limits.bulk_items;
    if list.len() > most {
        return Err(Fault::because(Code::TooManyIds, format!("At most {most} ids per request.")));
    }
    let mut seen = HashSet::with_capacity(list.len());
    let ids = list.iter().map(|it| id(Some(it))).collect::<Result<Vec<_>>>()?;
    Ok((ids.into_iter().filter(|it| seen.insert(it.clone())).collect(), true))
}

impl ReferencedQuery {
    async fn answer(&self, tx: &mut Tx<'_>, budget: &mut ResponseBudget) -> Result<(Page, Ends)> {
        let mut page = Page::new(&self.page.start);
        let seen = visible(tx, &self.field.source, &self.field.source_scope, self.items.clone()).await?;
        let items: Vec<String> = self.items.iter().filter(|it| seen.contains(*it)).cloned().collect();
        if items.is_empty() {
            page.total = self.total.then_some(0);
            return Ok((page, None));
        }
        let ends = match &self.field.reference {
            Reference::Single => self.single(tx, items, &mut page, budget).await?,
            Reference::Multi(link) => self.multi(tx, link, items, &mut page, budget).await?,
        };
        Ok((page, ends))
    }

    async fn multi(
        &self,
        tx: &mut Tx<'_>,
        link: &Link,
        mut items: Vec<String>,
        page: &mut Page,
        budget: &mut ResponseBudget,
    ) -> Result<Ends> {
        let (source, target) = (link.side.source_column(), link.side.target_column());
        let one = if items.len() == 1 { items.pop() } else { None };
        let from = |sql: &mut Writer<'_>| {
            let table = &self.field.target.collection.statements.name;
            sql.push(&format!(" from stoa.item_link link cross join {table} t where link.site = ")).bind(&self.site);
            sql.push(" and link.relation = ").bind(link.relation);
            match &one {
                Some(it) => drop(sql.push(&format!(" and link.{source} = ")).bind(it)),
                None => {
                    let list = sql.param(items.clone());
                    let among = sql.dialect().any_of(&format!("link.{source}"), &list);
                    sql.push(" and ").push(&among);
                }
            }
            sql.push(&format!(" and t.id = link.{target}"));
            and_scope(sql, "t", &self.field.target.scope);
        };
        let (start, limit) = (&self.page.start, self.page.limit as usize);
        let falling = self.descending != start.is_backward();
        let mut sql = Writer::new(tx.dialect());
        sql.push(&format!("select link.{source}, t.doc, link.seq"));
        from(&mut sql);
        if let Some(Position { keyset, is_included, .. }) = start.position() {
            let [KeysetValue::Time(seq)] = keyset.as_slice() else { return Err(cursor_invalid()) };
            let (beyond, at) = (if falling { "<" } else { ">" }, if *is_included { "=" } else { "" });
            sql.push(&format!(" and link.seq {beyond}{at} ")).bind(*seq);
        }
        sql.push(if falling { " order by link.seq desc limit " } else { " order by link.seq limit " });
        sql.bind(i64::from(self.page.limit) + 1);
        sql.push(" offset ").bind(i64::try_from(start.offset()).unwrap_or(i64::MAX));
        let (sql, params) = sql.finish();
        let (mut count, mut fits) = (0, Ok(()));
        let mut found: Vec<(i64, String, String)> = Vec::new();
        tx.rows(&sql, &params, |row| {
            count += 1;
            if count <= limit && fits.is_ok() {
                match self.shown(row.doc(1)?, budget) {
                    Ok(shown) => found.push((row.get::<i64>(2)?, row.get::<String>(0)?, shown)),
                    Err(fault) => fits = Err(fault),
                }
            }
            Ok(())
        })
        .await?;
        fits?;
        if let Some(it) = &self.field.target.translation {
            language::show(it, tx, found.iter_mut().map(|it| &mut it.2).collect(), budget).await?;
            found.iter_mut().for_each(|it| it.2 = stoa_query::project(&it.2, &self.projection));
        }
        if start.is_backward() {
            found.reverse();
        }
        page.has_next = count > limit;
        page.count = found.len();
        let position = |it: &(i64, String, String)| behind(vec![KeysetValue::Time(it.0)], String::new());
        let ends = found.first().map(position).zip(found.last().map(position));
        join(page, found.iter().map(|(_, source, document)| self.print(source, document)));
        if self.total {
            let mut sql = Writer::new(tx.dialect());
            sql.push("select count(*)");
            from(&mut sql);
            let (sql, params) = sql.finish();
            page.total = tx.row(&sql, &params, |row| row.get(0)).await?;
        }
        Ok(ends)
    }

    /// The ids stand in the documents, one each; their order is that of the request.
    async fn single(
        &self,
        tx: &mut Tx<'_>,
        items: Vec<String>,
        page: &mut Page,
        budget: &mut ResponseBudget,
    ) -> Result<Ends> {
        let field = &self.field;
        let mut sql = Writer::new(tx.dialect());
        let target = sql.dialect().text(&DocumentPath::field(std::slice::from_ref(&field.key)));
        sql.push(&format!("select id, {target} from {} where ", field.source.statements.name));
        let list = sql.param(items.clone());
        let among = sql.dialect().any_of("id", &list);
        sql.push(&among);
        let (sql, params) = sql.finish();
        let read = |row: &stoa_store::Row<'_>| Ok((row.get::<String>(0)?, row.get::<Option<String>>(1)?));
        let targets: HashMap<_, _> = tx.rows(&sql, &params, read).await?.into_iter().collect();
        let edge = |source: String| {
            let target = targets.get(&source).cloned().flatten()?;
            Some(Edge { source, target })
        };
        let mut edges: Vec<_> = items.into_iter().filter_map(edge).collect();
        if self.descending {
            edges.reverse();
        }
        page.total = self.total.then(|| i64::try_from(edges.len()).unwrap_or(i64::MAX));
        let edges = self.cut(edges, page)?;
        let wanted: HashSet<_> = edges.iter().map(|it| it.target.clone()).collect();
        let found = include::items(tx, &field.target, wanted.into_iter().collect(), budget).await?;
        let mut elements = Vec::with_capacity(edges.len());
        for edge in &edges {
            elements.push(match found.get(&edge.target) {
                Some(document) => {
                    let shown = stoa_query::project(document, &self.projection);
                    budget.take(shown.len())?;
                    self.print(&edge.source, &shown)
                }
                None => self.print_unresolved(edge),
            });
        }
        page.count = elements.len();
        join(page, elements);
        let position = |it: &Edge| behind(Vec::new(), it.source.clone());
        Ok(edges.first().map(position).zip(edges.last().map(position)))
    }

    /// The links of the page, of all of them in order.
    fn cut(&self, mut edges: Vec<Edge>, page: &mut Page) -> Result<Vec<Edge>> {
        let (start, limit) = (&self.page.start, self.page.limit as usize);
        if let Some(Position { keyset, id, is_included }) = start.position() {
            let indexes: HashMap<&str, usize> = self.items.iter().enumerate().map(|(n, it)| (it.as_str(), n)).collect();
            // The item may have lost its reference since, or not be the caller's: its position is still known.
            let here = indexes.get(id.as_str()).filter(|_| keyset.is_empty()).ok_or_else(cursor_invalid)?;
            let beyond = if self.descending != start.is_backward() { Ordering::Less } else { Ordering::Greater };
            edges.retain(|edge| {
                let order = indexes.get(edge.source.as_str()).map(|it| it.cmp(here));
                order == Some(beyond) || *is_included && order == Some(Ordering::Equal)
            });
        }
        if start.is_backward() {
            page.has_next = edges.len() > limit;
            return Ok(edges.split_off(edges.len().saturating_sub(limit)));
        }
        let offset = usize::try_from(start.offset()).unwrap_or(usize::MAX);
        page.has_next = edges.len().saturating_sub(offset) > limit;
        Ok(edges.into_iter().skip(offset).take(limit).collect())
    }

    /// What the caller wants of a stored document and is shown; all of it, if it is to be in another language.
    fn shown(&self, document: Cow<'_, str>, budget: &mut ResponseBudget) -> Result<String> {
        let shown = self.field.target.view.show(document)?;
        let shown = match self.field.target.translation {
            Some(_) => shown.into_owned(),
            None => stoa_query::project(&shown, &self.projection),
        };
        budget.take(shown.len())?;
        Ok(shown)
    }

    fn print(&self, source: &str, document: &str) -> String {
        let mut out = String::from("{");
        if self.is_plural {
            out.extend(["\"referringItemId\":", &quoted(source), ","]);
        }
        out.push_str("\"dataItem\":");
        print(&self.field.target.collection, document, &mut out);
        out.push('}');
        out
    }

    /// Whether the item isn't there or isn't the caller's is only revealed where all that is there is visible.
    fn print_unresolved(&self, edge: &Edge) -> String {
        let unresolved = json!({
            "referringItemId": edge.source, "referringItemFieldName": self.field.key, "referencedItemId": edge.target,
            "unauthorized": self.field.target.scope != Scope::Everything,
        });
        let mut element = json!({ "unresolvedReference": unresolved });
        if self.is_plural {
            element["referringItemId"] = edge.source.as_str().into();
        }
        element.to_string()
    }
}

/// Where a cursor goes on: behind this position.
fn behind(keyset: Vec<KeysetValue>, id: String) -> Position {
    Position { keyset, id, is_included: false }
}

fn join(page: &mut Page, elements: impl IntoIterator<Item = String>) {
    for (n, it) in elements.into_iter().enumerate() {
        page.element(n).push_str(&it);
    }
}

fn id(value: Option<&Value>) -> Result<String> {
    match value.and_then(id_of) {
        Some(it) if !it.is_empty() && !it.contains('\0') => Ok(it.to_owned()),
        _ => Err(Fault::new(Code::ReferenceIdInvalid)),
    }
}
