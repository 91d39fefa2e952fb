//! Many items at once: queries, counts, different values (protocol/content.md 3.8, 3.9, 5).
//!
//! The scope of the caller is part of the plan, so that no filter, sort or count can see past it. Who
//! asks by offset is answered without cursors, who asks by cursor with them: on every page but the last
//! `next`, on every page but the first `prev` (section 5.3).

use crate::{
    Collection, Content, Operation,
    collection::vault::Sight,
    index::auto::Answered,
    item::calls,
    page::cursor::{self, Cursors, Kept, Sealer, Walk},
    reference::include::{self, Room},
    schema::level,
    wire::request,
};
use serde_json::{Map, Value as Json, json};
use std::{borrow::Cow, sync::Arc};
use stoa_kernel::{Caller, Code, Fault, Result};
use stoa_query::{
    Context, Filter, Projection, Schema, Scope, compile,
    plan::{Field, Find, Key, Mark, Order, Position, Start, Test},
    resolve, wire,
};
use stoa_sql::Direction;
use stoa_store::{Document, Lane, Row, Site, Tx, boxed};

/// Items of a page that an index alone can bring, beside everything else.
const POINT_ROWS: u64 = 100;

/// A page of items or values.
pub struct Page {
    /// The elements of the page as JSON text, with commas between them.
    pub elements: String,
    pub count: usize,
    pub offset: u64,
    pub has_next: bool,
    /// How many there are on all pages, when the request asks for it.
    pub total: Option<i64>,
    /// Set in a walk by cursors, which knows no offset.
    pub cursors: Option<Cursors>,
}

/// Room made for a page when its first item is known.
const RESERVED: usize = 256 * 1024;

/// What a query leaves to its cursors.
const QUERY: Kept = Kept { outer: &["sortMode", "randomOptions"], inner: &["filter", "sort"] };
const DISTINCT: Kept = Kept { outer: &["fieldName", "filter", "order"], inner: &[] };

impl Page {
    pub(crate) fn new(start: &Start) -> Self {
        let offset = start.offset();
        Self { elements: String::new(), count: 0, offset, has_next: false, total: None, cursors: None }
    }

    /// `"count":…,"offset":…`: the members of `pagingMetadata`.
    pub fn print_metadata(&self, out: &mut String) {
        use std::fmt::Write;
        let Self { count, offset, has_next, cursors, .. } = self;
        let _ = write!(out, "\"count\":{count},");
        if cursors.is_none() {
            let _ = write!(out, "\"offset\":{offset},");
        }
        let _ = write!(out, "\"hasNext\":{has_next},\"tooManyToCount\":false");
        if let Some(total) = self.total {
            let _ = write!(out, ",\"total\":{total}");
        }
        if let Some(Cursors { next, prev }) = cursors {
            let named = [("next", next), ("prev", prev)];
            let named = named.iter().filter_map(|(name, it)| Some(format!("\"{name}\":\"{}\"", it.as_ref()?)));
            let _ = write!(out, ",\"cursors\":{{{}}}", named.collect::<Vec<_>>().join(","));
        }
    }

    /// Says where a page that was read from there lies in its walk.
    pub(crate) fn walk(
        &mut self,
        sealer: &Sealer,
        request: &Map<String, Json>,
        start: &Start,
        ends: Option<(Position, Position)>,
    ) -> Result<()> {
        let cursors = cursor::around(sealer, request, start, ends, self.has_next)?;
        self.has_next = cursors.next.is_some();
        self.cursors = Some(cursors);
        Ok(())
    }
}

/// A request by cursor: how its cursors are sealed, and what it continues.
pub(crate) struct Walking {
    pub sealer: Sealer,
    pub from: Option<Walk>,
}

impl Content {
    /// A page of items.
    ///
    /// # Errors
    /// WDE0001, WDE0025, WDE0027, and what makes a query invalid.
    pub async fn item_query(&self, site: &Site, caller: &Caller, members: &Map<String, Json>) -> Result<Page> {
        let collection = self.collection(site, request::collection(members, caller)?).await?;
        let (walking, members) = self.walking(site, caller, &collection, "items", &QUERY, members).await?;
        let mut query = wire::Query::parse(&members, &self.limits().query)?;
        if let wire::Sort::Random { seed: seed @ None } = &mut query.sort {
            // Within the integers that clients count with.
            *seed = Some(u32::from_le_bytes(self.world().bytes::<4>()).into());
        }
        let schema = self.schema(site, caller, &collection, &query.filter).await?;
        let mut plan = resolve::find(&query, context(caller, &collection, &schema)?)?;
        if let Some(walk) = walking.as_ref().and_then(|it| it.from.as_ref()) {
            plan.window.start = walk.start(Some(&plan.order))?;
        }
        let includes = self.include_plan(site, caller, &collection, &query.references).await?;
        let (most, is_plain) = (self.limits().page_bytes, includes.is_empty());
        let sight = self.sight(site, caller, &collection).await?;
        let (plan, includes, began) = (Arc::new(plan), Arc::new(includes), self.world().now());
        let (asked, place) = (plan.clone(), collection.clone());
        let lane = if is_plain && is_bounded(&asked) { Lane::Point } else { Lane::Scan };
        let found =
            site.query(lane, move |tx| boxed!(find(tx, &collection, &plan, (&sight, &includes), most).await)).await;
        if is_plain && lane == Lane::Scan {
            let (filter, order) = (&asked.filter, Some(&asked.order));
            self.query_answered(site, &place, &Answered { scope: &asked.scope, filter, order, began });
        }
        let (mut page, ends) = found?;
        if let Some(Walking { sealer, from }) = walking {
            let first = || {
                let mut request = QUERY.take(&members);
                if let wire::Sort::Random { seed: Some(seed) } = query.sort {
                    request.insert("randomOptions".to_owned(), json!({ "seed": seed }));
                }
                request
            };
            let request = from.map_or_else(first, |it| it.request);
            page.walk(&sealer, &request, &asked.window.start, ends)?;
        }
        Ok(page)
    }

    /// How many items there are.
    ///
    /// # Errors
    /// As for a query.
    pub async fn item_count(&self, site: &Site, caller: &Caller, members: &Map<String, Json>) -> Result<i64> {
        let collection = self.collection(site, request::collection(members, caller)?).await?;
        let filter = wire::Filter::parse_member(members, &self.limits().query)?;
        let schema = self.schema(site, caller, &collection, &filter).await?;
        let plan = resolve::count(&filter, context(caller, &collection, &schema)?)?;
        let (plan, began) = (Arc::new(plan), self.world().now());
        let (asked, place) = (plan.clone(), collection.clone());
        let count = site.query(Lane::Scan, move |tx| {
            boxed!({
                let (sql, params) = compile::count(tx.dialect(), collection.table, &plan);
                Ok(tx.row(&sql, &params, |row| row.get(0)).await?.unwrap_or(0))
            })
        });
        let count = count.await;
        let (scope, filter) = (&asked.scope, &asked.filter);
        self.query_answered(site, &place, &Answered { scope, filter, order: None, began });
        count
    }

    /// A page of the different values of a field, in order.
    ///
    /// # Errors
    /// As for a query, and WDE0003 for the field's name.
    pub async fn item_distinct(&self, site: &Site, caller: &Caller, members: &Map<String, Json>) -> Result<Page> {
        let collection = self.collection(site, request::collection(members, caller)?).await?;
        let (walking, members) = self.walking(site, caller, &collection, "distinct", &DISTINCT, members).await?;
        let distinct = wire::Distinct::parse(&members, &self.limits().query)?;
        let schema = self.schema(site, caller, &collection, &distinct.filter).await?;
        let mut plan = resolve::distinct(&distinct, context(caller, &collection, &schema)?)?;
        if let Some(walk) = walking.as_ref().and_then(|it| it.from.as_ref()) {
            plan.window.start = walk.start(None)?;
        }
        let start = plan.window.start.clone();
        let found = site.query(Lane::Scan, move |tx| {
            boxed!({
                let (mut page, limit) = (Page::new(&plan.window.start), plan.window.limit as usize);
                let (sql, params) = compile::distinct(tx.dialect(), collection.table, &plan);
                let read = |row: &Row<'_>| Ok((row.get::<String>(0)?, row.get::<String>(1)?));
                let mut keys = tx.rows(&sql, &params, read).await?;
                page.has_next = keys.len() > limit;
                keys.truncate(limit);
                if plan.window.start.is_backward() {
                    keys.reverse();
                }
                page.count = keys.len();
                for (n, (key, _)) in keys.iter().enumerate() {
                    page.elements.push_str(if n > 0 { "," } else { "" });
                    print_value(key, &mut page.elements);
                }
                if plan.total {
                    let (sql, params) = compile::distinct_count(tx.dialect(), collection.table, &plan);
                    page.total = tx.row(&sql, &params, |row| row.get(0)).await?;
                }
                let at = |(_, mark): &(String, String)| Position {
                    marks: vec![Mark::Key(mark.clone())],
                    id: String::new(),
                    is_included: false,
                };
                Ok((page, keys.first().map(at).zip(keys.last().map(at))))
            })
        });
        let (mut page, ends) = found.await?;
        if let Some(Walking { sealer, from }) = walking {
            let request = from.map_or_else(|| DISTINCT.take(&members), |it| it.request);
            page.walk(&sealer, &request, &start, ends)?;
        }
        Ok(page)
    }

    /// What a request by cursor needs, and the whole request; nothing and itself if it goes by offset.
    pub(crate) async fn walking<'m>(
        &self,
        site: &Site,
        caller: &Caller,
        collection: &Collection,
        purpose: &str,
        kept: &Kept,
        members: &'m Map<String, Json>,
    ) -> Result<(Option<Walking>, Cow<'m, Map<String, Json>>)> {
        let holder = if kept.inner.is_empty() { Some(members) } else { members.get("query").and_then(Json::as_object) };
        if holder.and_then(|it| it.get("cursorPaging")).is_none_or(Json::is_null) {
            return Ok((None, Cow::Borrowed(members)));
        }
        let sealer = self.sealer(site, caller, collection, purpose).await?;
        let from: Option<Walk> = kept.cursor(members).map(|it| sealer.open(it)).transpose()?;
        let members = match &from {
            Some(walk) => Cow::Owned(kept.put(&walk.request, members.clone())),
            None => Cow::Borrowed(members),
        };
        Ok((Some(Walking { sealer, from }), members))
    }
}

/// What a request is resolved against. A caller who may read nothing is refused here.
fn context<'c>(caller: &Caller, collection: &Collection, schema: &'c Schema) -> Result<Context<'c>> {
    let scope = level::scope(caller, Operation::Read, collection)?;
    Ok(Context { schema, scope, seed: 0 })
}

/// A value in canonical text.
fn print_value(key: &str, out: &mut String) {
    match stoa_sql::key::value(key) {
        Json::Number(it) => stoa_query::item::number::print(it.as_f64().unwrap_or_default(), out),
        it => out.push_str(&it.to_string()),
    }
}

async fn find(
    tx: &mut Tx<'_>,
    collection: &Arc<Collection>,
    plan: &Find,
    (sight, includes): (&Sight, &include::Plan),
    most: usize,
) -> Result<(Page, Option<(Position, Position)>)> {
    let is_edited = !sight.is_plain() || !includes.is_empty();
    let mut rows = Rows::new(collection, plan, is_edited, most);
    if !rows.take_even(tx).await? {
        rows = Rows::new(collection, plan, is_edited, most);
        let (sql, params) = compile::find(tx.dialect(), collection.table, plan);
        tx.rows(&sql, &params, |row| rows.take(row)).await?;
    }
    let Rows { elements, count, mut documents, held, mut ends, limit, .. } = rows;
    let elements = String::from_utf8(elements).map_err(|_| Fault::internal("a stored document isn't UTF-8"))?;
    let mut page = Page { elements, ..Page::new(&plan.window.start) };
    if plan.window.start.is_backward() {
        documents.reverse();
        ends = ends.map(|(nearest, farthest)| (farthest, nearest));
    }
    sight.show_all(documents.iter_mut())?;
    for (n, it) in includes.fill(tx, documents, &mut Room::new(most)).await?.into_iter().enumerate() {
        page.elements.push_str(if n > 0 { "," } else { "" });
        calls::print(collection, &stoa_query::project(&it, &plan.projection), &mut page.elements);
    }
    if page.elements.len().max(held) > most {
        let text = format!("The items of the page are larger than {most} bytes; ask for fewer.");
        return Err(Fault::because(Code::PayloadTooLarge, text));
    }
    page.has_next = count > limit;
    page.count = count.min(limit);
    if plan.total {
        let (sql, params) = compile::count(tx.dialect(), collection.table, &plan.count());
        page.total = tx.row(&sql, &params, |row| row.get(0)).await?;
    }
    Ok((page, ends))
}

/// What the rows of a page have come to so far.
struct Rows<'a> {
    collection: &'a Collection,
    plan: &'a Find,
    limit: usize,
    /// Bytes, of `elements` or of `documents`.
    most: usize,
    /// Whether documents are kept, because others are to be put into them, or they have encrypted fields, or
    /// they come in the wrong order. Else they go to the answer as they are.
    keeps: bool,
    count: usize,
    /// JSON text, the elements of the page with commas between them.
    elements: Vec<u8>,
    documents: Vec<String>,
    held: usize,
    ends: Option<(Position, Position)>,
}

impl<'a> Rows<'a> {
    fn new(collection: &'a Collection, plan: &'a Find, is_edited: bool, most: usize) -> Self {
        let (limit, keeps) = (plan.window.limit as usize, is_edited || plan.window.start.is_backward());
        let (elements, documents) = (Vec::new(), Vec::new());
        Self { collection, plan, limit, most, keeps, count: 0, elements, documents, held: 0, ends: None }
    }

    /// Reads the page by one select, which is all that most collections need. `false`: this one needs more, or
    /// there is no row to tell, and nothing that was taken counts.
    async fn take_even(&mut self, tx: &mut Tx<'_>) -> Result<bool> {
        let odd = self.collection.odd_indexes.read().clone();
        let Some(even) = compile::find_even(tx.dialect(), self.collection.table, self.plan, &odd) else {
            return Ok(false);
        };
        let (sql, params) = even.statement;
        let (told, mut has_odd) = (if self.is_walk() { 2 + self.plan.order.marked().count() } else { 1 }, None);
        tx.rows(&sql, &params, |row| {
            // The same in every row.
            if has_odd.is_none() {
                has_odd = Some(row.get(told)?);
            }
            if has_odd == Some(true) { Ok(()) } else { self.take(row) }
        })
        .await?;
        if has_odd == Some(true) {
            let mut known = self.collection.odd_indexes.write();
            if !known.contains(&even.index) {
                known.push(even.index);
            }
        }
        Ok(has_odd == Some(false))
    }

    fn take(&mut self, row: &Row<'_>) -> Result<(), stoa_store::Error> {
        self.count += 1;
        if self.is_walk() && self.count <= self.limit {
            let here = position(row, &self.plan.order)?;
            self.ends = Some((self.ends.take().map_or_else(|| here.clone(), |(first, _)| first), here));
        }
        if self.keeps {
            let document = row.doc(0)?;
            self.held += document.len();
            if self.count <= self.limit && self.held <= self.most {
                self.documents.push(document.into_owned());
            }
            return Ok(());
        }
        if self.count > self.limit || self.elements.len() > self.most {
            return Ok(());
        }
        match &self.plan.projection {
            Projection::All => self.print(row.document(0)?),
            some => self.print(Document::Text(&stoa_query::project(&row.doc(0)?, some))),
        }
    }

    fn print(&mut self, document: Document<'_>) -> Result<(), stoa_store::Error> {
        if self.count > 1 {
            self.elements.push(b',');
        }
        let start = self.elements.len();
        calls::print_stored(self.collection, document, &mut self.elements)?;
        if self.count == 1 {
            // The others will be about as long, and the answer has something around them.
            let length = self.elements.len() - start + 20;
            self.elements.reserve((length * self.limit).min(RESERVED));
        }
        Ok(())
    }

    fn is_walk(&self) -> bool {
        !matches!(self.plan.window.start, Start::Offset(_))
    }
}

/// Where the item of a row stands in the order.
fn position(row: &Row<'_>, order: &Order) -> Result<Position, stoa_store::Error> {
    let mark = |(n, key): (usize, &Key)| {
        Ok(match key.field {
            Field::Created | Field::Updated => Mark::Time(row.get(n + 2)?),
            _ => Mark::Key(row.get(n + 2)?),
        })
    };
    let marks = order.marked().enumerate().map(mark).collect::<Result<_, stoa_store::Error>>()?;
    Ok(Position { marks, id: row.get(1)?, is_included: false })
}

/// Whether an index bounds the rows that are looked at, whatever the size of the collection.
fn is_bounded(plan: &Find) -> bool {
    if plan.total {
        return false;
    }
    let offset = plan.window.start.offset();
    let is_id = |it: &Filter| match it {
        Filter::Test(Field::Id, Test::Equal(_)) => true,
        Filter::Test(Field::Id, Test::In(list)) => list.len() as u64 <= POINT_ROWS,
        Filter::False => true,
        _ => false,
    };
    let by_id = match &plan.filter {
        Filter::And(parts) => parts.iter().any(is_id),
        it => is_id(it),
    };
    by_id || plan.scope == Scope::Nothing || {
        let is_default = match &plan.order {
            Order::Keys(keys) => {
                keys.iter().all(|it| it.field == Field::Created && it.direction == Direction::Descending)
            }
            Order::Random { .. } => false,
        };
        plan.filter == Filter::True && is_default && offset + u64::from(plan.window.limit) <= POINT_ROWS
    }
}
