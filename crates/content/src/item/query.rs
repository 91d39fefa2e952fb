//! Many items at once: queries, counts, different values (docs/protocol/content.md §3.8, §3.9, §5).
//!
//! The scope of the caller is part of the plan, so that no filter, sort or count can see past it. A request
//! by offset is answered without cursors, one by cursor with them: on every page but the last `next`, on
//! every page but the first `prev` (docs/protocol/content.md §5.3).

use crate::{
    Content, ContentLimits, Origin, RequestContext,
    collection::{
        self, Collection, access,
        cipher::{self, FieldView},
    },
    index::auto::{self, Answered},
    page::{
        Page,
        budget::ResponseBudget,
        cursor::{self, CursorCall, Ends},
        print,
    },
    reference::{
        filter,
        include::{self, IncludePlan},
    },
    schema::level::Operation,
    wire::request,
};
use serde_json::{Map, Value as Json, json};
use std::sync::Arc;
use stoa_kernel::{Caller, Code, Fault, Result};
use stoa_query::{
    Context, Filter, Projection, Schema, Scope, compile,
    plan::{Field, Find, Key, KeysetValue, Order, Position, Start, Test},
    resolve,
    schema::IndexSpec,
    wire,
};
use stoa_sql::Direction;
use stoa_store::{Document, ReaderPool, Row, Site, Tx, boxed};

/// Items of a page that an index alone can bring, beside everything else.
const POINT_ROWS: u64 = 100;

/// Bytes reserved for a page when its first item is known.
const RESERVED: usize = 256 * 1024;

/// What queries leave to their cursors.
const QUERY: CursorCall =
    CursorCall { name: "items", outer: &["sortMode", "randomOptions"], inner: &["filter", "sort"] };
const DISTINCT: CursorCall = CursorCall { name: "distinct", outer: &["fieldName", "filter", "order"], inner: &[] };

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
        let context = RequestContext { content: self, site, caller };
        let collection = collection::load(self, site, request::collection(members, caller)?).await?;
        let (paging, members) = cursor::paging(context, &collection, &QUERY, members).await?;
        let mut query = wire::Query::parse(&members, &self.limits().query)?;
        if let wire::Sort::Random { seed: seed @ None } = &mut query.sort {
            // Within the integers that clients count with.
            *seed = Some(u32::from_le_bytes(self.state.world.bytes::<4>()).into());
        }
        let schema = filter::schema(context, &collection, &query.filter).await?;
        let mut plan = resolve::find(&query, query_context(caller, &collection, &schema)?)?;
        if let Some(paging) = &paging
            && let Some(start) = paging.start(Some(&plan.order))?
        {
            plan.page.start = start;
        }
        let includes = include::plan(context, &collection, &query.references).await?;
        let is_plain = includes.is_empty();
        let view = cipher::view(self, site, caller, &collection).await?;
        let pool = match is_plain && is_bounded(&plan) {
            true => ReaderPool::Point,
            false => {
                check_cost(self.limits(), caller, &plan.indexes, &plan.scope, &plan.filter)?;
                self.scan(caller, origin)
            }
        };
        let (most, began) = (self.limits().page_bytes, self.state.world.now());
        let find = Arc::new(PageQuery { collection, plan, view, includes, most });
        let running = find.clone();
        let found = site.query(pool, move |tx| boxed!(running.run(tx).await)).await;
        let PageQuery { collection, plan, .. } = &*find;
        if is_plain && pool != ReaderPool::Point {
            let (filter, order) = (&plan.filter, Some(&plan.order));
            auto::record(self, site, collection, &Answered { scope: &plan.scope, filter, order, began });
        }
        let (mut page, ends) = found?;
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
        let context = RequestContext { content: self, site, caller };
        let collection = collection::load(self, site, request::collection(members, caller)?).await?;
        let filter = wire::Filter::parse_member(members, &self.limits().query)?;
        let schema = filter::schema(context, &collection, &filter).await?;
        let plan = Arc::new(resolve::count(&filter, query_context(caller, &collection, &schema)?)?);
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
        count
    }

    /// A page of the different values of a field, in order.
    ///
    /// # Errors
    /// As for a query, and WDE0003 for the field's name.
    pub async fn item_distinct(
        &self,
        site: &Site,
        caller: &Caller,
        origin: Origin,
        members: &Map<String, Json>,
    ) -> Result<Page> {
        let context = RequestContext { content: self, site, caller };
        let collection = collection::load(self, site, request::collection(members, caller)?).await?;
        let (paging, members) = cursor::paging(context, &collection, &DISTINCT, members).await?;
        let distinct = wire::Distinct::parse(&members, &self.limits().query)?;
        let schema = filter::schema(context, &collection, &distinct.filter).await?;
        let mut plan = resolve::distinct(&distinct, query_context(caller, &collection, &schema)?)?;
        // Different values are looked for without an index.
        check_cost(self.limits(), caller, &[], &plan.scope, &plan.filter)?;
        if let Some(paging) = &paging
            && let Some(start) = paging.start(None)?
        {
            plan.page.start = start;
        }
        let (start, table) = (plan.page.start.clone(), collection.table);
        let found = site.query(self.scan(caller, origin), move |tx| {
            boxed!({
                let (mut page, limit) = (Page::new(&plan.page.start), plan.page.limit as usize);
                let (sql, params) = compile::distinct(tx.dialect(), table, &plan);
                let read = |row: &Row<'_>| Ok((row.get::<String>(0)?, row.get::<String>(1)?));
                let mut keys = tx.rows(&sql, &params, read).await?;
                page.has_next = keys.len() > limit;
                keys.truncate(limit);
                if plan.page.start.is_backward() {
                    keys.reverse();
                }
                page.count = keys.len();
                for (n, (key, _)) in keys.iter().enumerate() {
                    print_value(key, page.element(n));
                }
                if plan.total {
                    let (sql, params) = compile::distinct_count(tx.dialect(), table, &plan);
                    page.total = tx.row(&sql, &params, |row| row.get(0)).await?;
                }
                let position = |(_, keyset_value): &(String, String)| Position {
                    keyset: vec![KeysetValue::Key(keyset_value.clone())],
                    id: String::new(),
                    is_included: false,
                };
                Ok((page, keys.first().map(position).zip(keys.last().map(position))))
            })
        });
        let (mut page, ends) = found.await?;
        if let Some(paging) = paging {
            page.add_cursors(paging, || DISTINCT.take(&members), &start, ends)?;
        }
        Ok(page)
    }
}

/// Anonymous callers cost the server little to make, so what each of their requests may cost is bounded.
///
/// # Errors
/// WDE0093 for a filter with too many conditions that no index serves.
fn check_cost(
    limits: &ContentLimits,
    caller: &Caller,
    indexes: &[IndexSpec],
    scope: &Scope,
    filter: &Filter,
) -> Result<()> {
    let (conditions, most) = (filter.tests(), limits.anonymous_conditions);
    let is_served = || compile::served_by(indexes, scope, filter, None).is_some();
    if !matches!(caller, Caller::Visitor { .. }) || conditions <= most || is_served() {
        return Ok(());
    }
    let text =
        format!("The filter has {conditions} conditions that no index serves; anonymous callers may have {most}.");
    Err(Fault::because(Code::FilterInvalid, text).with("conditions", conditions).with("most", most))
}

/// What a request is resolved against. A caller who may read nothing is refused here.
fn query_context<'c>(caller: &Caller, collection: &Collection, schema: &'c Schema) -> Result<Context<'c>> {
    let scope = access::scope(caller, Operation::Read, collection)?;
    Ok(Context { schema, scope, seed: 0 })
}

/// A value in canonical text.
fn print_value(key: &str, out: &mut String) {
    match stoa_sql::key::value(key) {
        Json::Number(it) => stoa_query::item::number::print(it.as_f64().unwrap_or_default(), out),
        it => out.push_str(&it.to_string()),
    }
}

/// A query for a page of items, resolved.
struct PageQuery {
    collection: Arc<Collection>,
    plan: Find,
    view: FieldView,
    includes: IncludePlan,
    /// Bytes of the page.
    most: usize,
}

impl PageQuery {
    async fn run(&self, tx: &mut Tx<'_>) -> Result<(Page, Ends)> {
        let Self { collection, plan, view, includes, most } = self;
        let most = *most;
        let is_edited = !view.is_plain() || !includes.is_empty();
        let mut rows = PageRows::new(collection, plan, is_edited, most);
        if !rows.take_scalar(tx).await? {
            rows = PageRows::new(collection, plan, is_edited, most);
            let (sql, params) = compile::find(tx.dialect(), collection.table, plan);
            tx.rows(&sql, &params, |row| rows.take(row)).await?;
        }
        let PageRows { elements, count, mut documents, held, mut ends, limit, .. } = rows;
        let elements = String::from_utf8(elements).map_err(|_| Fault::internal("a stored document isn't UTF-8"))?;
        let mut page = Page { elements, ..Page::new(&plan.page.start) };
        if plan.page.start.is_backward() {
            documents.reverse();
            ends = ends.map(|(nearest, farthest)| (farthest, nearest));
        }
        view.show_all(documents.iter_mut())?;
        let filled = includes.fill(tx, documents, &mut ResponseBudget::new(most)).await?;
        for (n, it) in filled.into_iter().enumerate() {
            print::print(collection, &stoa_query::project(&it, &plan.projection), page.element(n));
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
}

/// The rows of a page that were read so far.
struct PageRows<'a> {
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

impl<'a> PageRows<'a> {
    fn new(collection: &'a Collection, plan: &'a Find, is_edited: bool, most: usize) -> Self {
        let (limit, keeps) = (plan.page.limit as usize, is_edited || plan.page.start.is_backward());
        let (elements, documents) = (Vec::new(), Vec::new());
        Self { collection, plan, limit, most, keeps, count: 0, elements, documents, held: 0, ends: None }
    }

    /// Reads the page by one select, which is all that most collections need. `false`: this one needs more, or
    /// there is no row to tell, and nothing that was taken counts.
    async fn take_scalar(&mut self, tx: &mut Tx<'_>) -> Result<bool> {
        let array_valued = self.collection.array_valued_indexes.read().clone();
        let Some(scalar) = compile::find_scalar(tx.dialect(), self.collection.table, self.plan, &array_valued) else {
            return Ok(false);
        };
        let (sql, params) = scalar.statement;
        let column = if self.pages_by_cursor() { 2 + self.plan.order.keyset_keys().count() } else { 1 };
        let mut has_arrays = None;
        tx.rows(&sql, &params, |row| {
            // The same in every row.
            if has_arrays.is_none() {
                has_arrays = Some(row.get(column)?);
            }
            if has_arrays == Some(true) { Ok(()) } else { self.take(row) }
        })
        .await?;
        if has_arrays == Some(true) {
            let mut known = self.collection.array_valued_indexes.write();
            if !known.contains(&scalar.index) {
                known.push(scalar.index);
            }
        }
        Ok(has_arrays == Some(false))
    }

    fn take(&mut self, row: &Row<'_>) -> Result<(), stoa_store::Error> {
        self.count += 1;
        if self.pages_by_cursor() && self.count <= self.limit {
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
        print::print_stored(self.collection, document, &mut self.elements)?;
        if self.count == 1 {
            // The others will be about as long, and the answer has something around them.
            let length = self.elements.len() - start + 20;
            self.elements.reserve((length * self.limit).min(RESERVED));
        }
        Ok(())
    }

    fn pages_by_cursor(&self) -> bool {
        !matches!(self.plan.page.start, Start::Offset(_))
    }
}

/// The position of a row's item in the order.
fn position(row: &Row<'_>, order: &Order) -> Result<Position, stoa_store::Error> {
    let keyset_value = |(n, key): (usize, &Key)| {
        Ok(match key.field {
            Field::Created | Field::Updated => KeysetValue::Time(row.get(n + 2)?),
            _ => KeysetValue::Key(row.get(n + 2)?),
        })
    };
    let keyset = order.keyset_keys().enumerate().map(keyset_value).collect::<Result<_, stoa_store::Error>>()?;
    Ok(Position { keyset, id: row.get(1)?, is_included: false })
}

/// Whether an index bounds the rows that are looked at, whatever the size of the collection.
fn is_bounded(plan: &Find) -> bool {
    if plan.total {
        return false;
    }
    let offset = plan.page.start.offset();
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
        // Among drafts that the caller can't read, a page may be far away.
        let is_narrowed = matches!(plan.scope, Scope::Published { .. });
        plan.filter == Filter::True && is_default && !is_narrowed && offset + u64::from(plan.page.limit) <= POINT_ROWS
    }
}
