//! Many items at once: queries, counts, different values (protocol/content.md 3.8, 3.9, 5).
//!
//! The scope of the caller is part of the plan, so that no filter, sort or count can see past it. Pages
//! are answered by offset, without cursors: one of the two designs of section 5.3 that work fully.

use crate::{
    Collection, Content, Operation,
    include::{self, Room},
    index_auto::Answered,
    item, request, rule,
};
use serde_json::{Map, Value as Json};
use std::sync::Arc;
use stoa_kernel::{Caller, Code, Fault, Result};
use stoa_query::{
    Context, Filter, Projection, Scope, compile,
    plan::{Field, Find, Order, Start, Test},
    resolve, wire,
};
use stoa_sql::Direction;
use stoa_store::{Lane, Site, Tx, boxed};

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
}

impl Page {
    pub(crate) fn new(start: &Start) -> Self {
        let offset = start.offset();
        Self { elements: String::new(), count: 0, offset, has_next: false, total: None }
    }

    /// `"count":…,"offset":…`: the members of `pagingMetadata`.
    pub fn print_metadata(&self, out: &mut String) {
        use std::fmt::Write;
        let Self { count, offset, has_next, .. } = self;
        let _ = write!(out, "\"count\":{count},\"offset\":{offset},\"hasNext\":{has_next},\"tooManyToCount\":false");
        if let Some(total) = self.total {
            let _ = write!(out, ",\"total\":{total}");
        }
    }
}

impl Content {
    /// A page of items.
    ///
    /// # Errors
    /// WDE0001, WDE0025, WDE0027, and what makes a query invalid.
    pub async fn item_query(&self, site: &Site, caller: &Caller, members: &Map<String, Json>) -> Result<Page> {
        let collection = self.collection(site, request::collection(members, caller)?).await?;
        let query = wire::Query::parse(members)?;
        let seed = match query.sort {
            // Within the integers that clients count with.
            wire::Sort::Random { seed: None } => i64::from(u32::from_le_bytes(self.world().bytes::<4>())),
            _ => 0,
        };
        let plan = resolve::find(&query, context(caller, &collection, seed)?)?;
        let includes = self.include_plan(site, caller, &collection, &query.references).await?;
        let lane = if is_bounded(&plan) && includes.is_empty() { Lane::Point } else { Lane::Scan };
        let (most, is_plain) = (self.limits().page_bytes, includes.is_empty());
        let (plan, began) = (Arc::new(plan), self.world().now());
        let (asked, place) = (plan.clone(), collection.clone());
        let found = site.read(lane, move |tx| boxed!(find(tx, &collection, &plan, &includes, most).await)).await;
        if is_plain && lane == Lane::Scan {
            let (filter, order) = (&asked.filter, Some(&asked.order));
            self.query_answered(site, &place, &Answered { scope: &asked.scope, filter, order, began });
        }
        found
    }

    /// How many items there are.
    ///
    /// # Errors
    /// As for a query.
    pub async fn item_count(&self, site: &Site, caller: &Caller, members: &Map<String, Json>) -> Result<i64> {
        let collection = self.collection(site, request::collection(members, caller)?).await?;
        let filter = wire::Filter::parse_member(members)?;
        let plan = resolve::count(&filter, context(caller, &collection, 0)?)?;
        let (plan, began) = (Arc::new(plan), self.world().now());
        let (asked, place) = (plan.clone(), collection.clone());
        let count = site.read(Lane::Scan, move |tx| {
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
        let distinct = wire::Distinct::parse(members)?;
        let plan = resolve::distinct(&distinct, context(caller, &collection, 0)?)?;
        let found = site.read(Lane::Scan, move |tx| {
            boxed!({
                let mut page = Page::new(&plan.window.start);
                let (sql, params) = compile::distinct(tx.dialect(), collection.table, &plan);
                let keys = tx.rows(&sql, &params, |row| row.get::<String>(0)).await?;
                page.has_next = keys.len() > plan.window.limit as usize;
                for key in keys.iter().take(plan.window.limit as usize) {
                    if page.count > 0 {
                        page.elements.push(',');
                    }
                    page.count += 1;
                    print_value(key, &mut page.elements);
                }
                if plan.total {
                    let (sql, params) = compile::distinct_count(tx.dialect(), collection.table, &plan);
                    page.total = tx.row(&sql, &params, |row| row.get(0)).await?;
                }
                Ok(page)
            })
        });
        found.await
    }
}

/// What a request is resolved against. A caller who may read nothing is refused here.
fn context<'c>(caller: &Caller, collection: &'c Collection, seed: i64) -> Result<Context<'c>> {
    let scope = rule::scope(caller, Operation::Read, collection)?;
    Ok(Context { schema: &collection.schema, scope, seed })
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
    includes: &include::Plan,
    most: usize,
) -> Result<Page> {
    let mut page = Page::new(&plan.window.start);
    let limit = plan.window.limit as usize;
    let (sql, params) = compile::find(tx.dialect(), collection.table, plan);
    let (elements, mut count) = (&mut page.elements, 0);
    // Documents that others are to be put into; all others go to the answer as they are.
    let (mut documents, mut held) = (Vec::new(), 0);
    tx.rows(&sql, &params, |row| {
        count += 1;
        if !includes.is_empty() {
            held += row.text(1)?.len();
            if count <= limit && held <= most {
                documents.push(row.text(1)?.to_owned());
            }
            return Ok(());
        }
        if count > limit || elements.len() > most {
            return Ok(());
        }
        if count > 1 {
            elements.push(',');
        }
        match &plan.projection {
            Projection::All => item::print(collection, row.text(1)?, elements),
            some => item::print(collection, &stoa_query::project(row.text(1)?, some), elements),
        }
        Ok(())
    })
    .await?;
    for (n, it) in includes.fill(tx, documents, &mut Room::new(most)).await?.into_iter().enumerate() {
        page.elements.push_str(if n > 0 { "," } else { "" });
        item::print(collection, &stoa_query::project(&it, &plan.projection), &mut page.elements);
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
    Ok(page)
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
