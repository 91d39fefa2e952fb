//! A page of items: the statements that read it, and its rows on their way into the answer.

use crate::{
    collection::{Collection, field_view::FieldView, translation::Translation},
    page::{Page, budget::ResponseBudget, cursor::Ends, language, print},
    reference::include::IncludePlan,
    search::Asked,
};
use std::sync::Arc;
use stoa_kernel::{Code, Fault, Result};
use stoa_query::{
    Filter, Projection, Scope, compile,
    plan::{Field, Find, Key, KeysetValue, Order, PageSpec, Position, Start, Test},
};
use stoa_sql::Direction;
use stoa_store::{Document, ReaderPool, Row, Site, Tx, boxed};

/// Items of a page that an index alone can bring, beside everything else.
const POINT_ROWS: u64 = 100;

/// Bytes reserved for a page when its first item is known.
const RESERVED: usize = 256 * 1024;

/// A query for a page of items, resolved.
pub(super) struct PageQuery {
    pub collection: Arc<Collection>,
    pub plan: Find,
    pub view: FieldView,
    /// The language of its items, if not their own.
    pub translation: Option<Translation>,
    pub includes: IncludePlan,
    /// Bytes of the page.
    pub most: usize,
    /// What its items must answer; one that doesn't leaves a gap.
    pub asked: Option<Arc<Asked>>,
}

impl PageQuery {
    /// A page that an index has as it is takes no turn among the scans, unless the statement that reads it so doesn't
    /// have it.
    pub(super) async fn answer(self: Arc<Self>, site: &Site, pool: ReaderPool, is_plain: bool) -> Result<(Page, Ends)> {
        if is_plain && pool != ReaderPool::Point && self.is_read_from_index() {
            let running = self.clone();
            let found = site.read(ReaderPool::Point, move |tx| boxed!(running.run_scalar(tx).await)).await?;
            if let Some(it) = found {
                return Ok(it);
            }
        }
        site.query(pool, move |tx| boxed!(self.run(tx).await)).await
    }

    fn is_read_from_index(&self) -> bool {
        let PageSpec { start, limit } = &self.plan.page;
        let is_short = start.offset().saturating_add(u64::from(*limit)) <= POINT_ROWS;
        is_short && !self.plan.total && compile::is_read_from_index(&self.plan)
    }

    async fn run_scalar(&self, tx: &mut Tx<'_>) -> Result<Option<(Page, Ends)>> {
        let mut rows = self.rows();
        Ok(match rows.take_scalar(tx).await? {
            true => Some(self.page(tx, rows).await?),
            false => None,
        })
    }

    pub(super) async fn run(&self, tx: &mut Tx<'_>) -> Result<(Page, Ends)> {
        let Self { collection, plan, .. } = self;
        let mut rows = self.rows();
        if !rows.take_scalar(tx).await? {
            rows = self.rows();
            match compile::find_counted(tx.dialect(), collection.table, plan) {
                Some((sql, params)) => tx.rows(&sql, &params, |row| rows.take_counted(row)).await?,
                None => {
                    let (sql, params) = compile::find(tx.dialect(), collection.table, plan);
                    tx.rows(&sql, &params, |row| rows.take(row)).await?
                }
            };
        }
        self.page(tx, rows).await
    }

    fn rows(&self) -> PageRows<'_> {
        let is_edited =
            !self.view.is_plain() || self.translation.is_some() || !self.includes.is_empty() || self.asked.is_some();
        PageRows::new(&self.collection, &self.plan, is_edited, self.most)
    }

    async fn page(&self, tx: &mut Tx<'_>, rows: PageRows<'_>) -> Result<(Page, Ends)> {
        let Self { collection, plan, .. } = self;
        let total = rows.known_total();
        let PageRows { elements, count, mut documents, held, mut ends, limit, .. } = rows;
        let elements = String::from_utf8(elements).map_err(|_| Fault::internal("a stored document isn't UTF-8"))?;
        let mut page = Page { elements, ..Page::new(&plan.page.start) };
        if plan.page.start.is_backward() {
            documents.reverse();
            ends = ends.map(|(nearest, farthest)| (farthest, nearest));
        }
        page.has_next = count > limit;
        page.count = count.min(limit);
        let count = documents.len();
        documents = self.answering(tx, documents, held).await?;
        page.count -= count - documents.len();
        self.print(tx, &mut page, documents, held).await?;
        if plan.total {
            page.total = match total {
                Some(it) => Some(it),
                None => {
                    let (sql, params) = compile::count(tx.dialect(), collection.table, &plan.count());
                    tx.row(&sql, &params, |row| row.get(0)).await?
                }
            };
        }
        Ok((page, ends))
    }

    /// Documents as the caller is shown them, in the language of the call: those that answer it, if words were asked for.
    ///
    /// # Errors
    /// WDE0109 when they are too large; `held`: the bytes of all that were read.
    pub(super) async fn answering(
        &self,
        tx: &mut Tx<'_>,
        mut documents: Vec<String>,
        held: usize,
    ) -> Result<Vec<String>> {
        let Self { view, translation, asked, most, .. } = self;
        view.show_all(documents.iter_mut())?;
        if let Some(it) = translation {
            language::show(it, tx, documents.iter_mut().collect(), &mut ResponseBudget::new(*most).beside(held)?)
                .await?;
        }
        match asked {
            Some(it) => it.answering(tx, documents).await,
            None => Ok(documents),
        }
    }

    /// Puts documents into a page.
    ///
    /// # Errors
    /// As for [`Self::answering`].
    pub(super) async fn print(
        &self,
        tx: &mut Tx<'_>,
        page: &mut Page,
        documents: Vec<String>,
        held: usize,
    ) -> Result<()> {
        let Self { collection, plan, includes, most, .. } = self;
        let filled = includes.fill(tx, documents, &mut ResponseBudget::new(*most)).await?;
        for (n, it) in filled.into_iter().enumerate() {
            print::print(collection, &stoa_query::project(&it, &plan.projection), page.element(n));
        }
        if page.elements.len().max(held) > *most {
            let text = format!("The items of the page are larger than {most} bytes; ask for fewer.");
            return Err(Fault::because(Code::PayloadTooLarge, text));
        }
        Ok(())
    }
}

/// The rows of a page that were read so far.
struct PageRows<'a> {
    collection: &'a Collection,
    plan: &'a Find,
    limit: usize,
    /// Bytes, of `elements` or of `documents`.
    most: usize,
    /// Whether documents are kept, because others are to be put into them, or they aren't shown as they are stored, or
    /// they come in the wrong order. Else they go to the answer as they are.
    keeps: bool,
    count: usize,
    /// JSON text, the elements of the page with commas between them.
    elements: Vec<u8>,
    documents: Vec<String>,
    held: usize,
    ends: Option<(Position, Position)>,
    /// How many items the filter lets through, if a row told.
    total: Option<i64>,
}

impl<'a> PageRows<'a> {
    fn new(collection: &'a Collection, plan: &'a Find, is_edited: bool, most: usize) -> Self {
        let (limit, keeps) = (plan.page.limit as usize, is_edited || plan.page.start.is_backward());
        let (elements, documents) = (Vec::new(), Vec::new());
        Self { collection, plan, limit, most, keeps, count: 0, elements, documents, held: 0, ends: None, total: None }
    }

    /// How many items the filter lets through, if it is known from the page.
    fn known_total(&self) -> Option<i64> {
        let PageSpec { start, .. } = &self.plan.page;
        let is_last = start.position().is_none() && self.count <= self.limit && (self.count > 0 || start.offset() == 0);
        let counted = || i64::try_from(start.offset().saturating_add(self.count as u64)).ok().filter(|_| is_last);
        self.total.or_else(counted)
    }

    /// Reads the page by one select, which is all that most collections need. `false`: this one needs more, or
    /// there is no row to tell, and nothing that was taken counts.
    async fn take_scalar(&mut self, tx: &mut Tx<'_>) -> Result<bool> {
        let array_valued = self.collection.array_valued_indexes.read().clone();
        let Some(scalar) = compile::find_scalar(tx.dialect(), self.collection.table, self.plan, &array_valued) else {
            return Ok(false);
        };
        let (sql, params) = scalar.statement;
        let (column, mut has_arrays) = (self.columns(), None);
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

    /// A row of [`compile::find_counted`].
    fn take_counted(&mut self, row: &Row<'_>) -> Result<(), stoa_store::Error> {
        // The same in every row.
        if self.total.is_none() {
            self.total = Some(row.get(self.columns())?);
        }
        self.take(row)
    }

    /// How many columns a row has that are the item's own.
    fn columns(&self) -> usize {
        if self.pages_by_cursor() { 2 + self.plan.order.keyset_keys().count() } else { 1 }
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
pub(super) fn is_bounded(plan: &Find) -> bool {
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
