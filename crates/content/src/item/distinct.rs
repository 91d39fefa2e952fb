//! The different values of a field (docs/protocol/content.md §3.9): those of the primary text by a statement, those in
//! another language out of the items as they are read there.

use crate::{
    Content, Origin, RequestContext,
    collection::{
        self,
        translation::{Translation, id_of, overlaid},
    },
    hook::CallHooks,
    item::{
        aggregate::{Gone, Translated, is_over},
        query::{check_cost, paged, query_context, reader_hooks},
    },
    language::Language,
    page::{
        Page,
        cursor::{self, CursorCall, Ends},
    },
    reference::filter,
    wire::request,
};
use serde_json::{Map, Value as Json};
use std::{
    borrow::Cow,
    collections::BTreeMap,
    ops::ControlFlow,
    sync::{Arc, atomic::AtomicBool},
};
use stoa_hooks::Hook;
use stoa_kernel::{Caller, Code, Fault, Result};
use stoa_query::{
    compile, order,
    plan::{Distinct, Field, KeysetValue, Position},
    resolve, wire,
};
use stoa_sql::{Direction, Table, jsonb, key};
use stoa_store::{Document, Fold, Row, Site, Tx, boxed};

const DISTINCT: CursorCall =
    CursorCall { name: "distinct", outer: &["fieldName", "filter", "order", "language"], within: "query", inner: &[] };

/// Bytes that a value takes in memory beside its text.
const ENTRY: usize = 150;
/// Items between two looks at the clock.
const STEP: usize = 64;

impl Content {
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
        let context = RequestContext::of_members(self, site, caller, members);
        let collection = collection::load(self, site, request::collection(members, caller)?).await?;
        let hooks = reader_hooks(context, &collection, members).await?;
        let call = async {
            let (paging, members) = cursor::paging(context, &collection, &DISTINCT, members).await?;
            let context = context.in_language(Language::of(&members));
            let names = ["fieldName", "filter", "order", "paging"];
            let narrowed = paged(&hooks, Hook::BeforeDistinct, Cow::Borrowed(&*members), &names).await?;
            let collection = hooks.still(context, &collection).await?;
            let distinct = wire::Distinct::parse(&narrowed, &self.limits().query)?;
            let schema = filter::schema(context, &collection, &distinct.filter).await?;
            let mut plan = resolve::distinct(&distinct, query_context(context, &collection, &schema)?)?;
            // Different values are looked for without an index.
            check_cost(self.limits(), caller, &[], &plan.scope, &plan.filter)?;
            if let Some(paging) = &paging
                && let Some(start) = paging.start(None)?
            {
                plan.page.start = start;
            }
            let (start, table) = (plan.page.start.clone(), collection.table);
            let translation = Translation::of(&site.id, &collection, context.language, &plan.scope);
            let field = distinct.field.split('.').next().unwrap_or_default();
            let found = match translation.and_then(|it| it.of_field(field)) {
                Some(translation) => {
                    let gone = Gone::default();
                    let values = InLanguage { content: self.clone(), table, plan, translation, gone: gone.0.clone() };
                    site.read(self.fold(caller, origin), move |tx| boxed!(values.page(tx).await)).await
                }
                None => {
                    site.query(self.scan(caller, origin), move |tx| boxed!(of_primary_text(tx, table, &plan).await))
                        .await
                }
            };
            let (mut page, ends) = found?;
            hooks.after_distinct(&mut page).await?;
            if let Some(paging) = paging {
                page.add_cursors(paging, || DISTINCT.take(&members), &start, ends)?;
            }
            Ok(page)
        };
        hooks.answering(call, CallHooks::values).await
    }
}

/// The key of a value, which gives the value back, and that of its place.
type Keys = (String, String);

/// A page of the different values of the primary text.
async fn of_primary_text(tx: &mut Tx<'_>, table: Table, plan: &Distinct) -> Result<(Page, Ends)> {
    let (sql, params) = compile::distinct(tx.dialect(), table, plan);
    let read = |row: &Row<'_>| Ok((row.get::<String>(0)?, row.get::<String>(1)?));
    let (mut page, ends) = page(plan, tx.rows(&sql, &params, read).await?);
    if plan.total {
        let (sql, params) = compile::distinct_count(tx.dialect(), table, plan);
        page.total = tx.row(&sql, &params, |row| row.get(0)).await?;
    }
    Ok((page, ends))
}

/// The different values of a field in a language.
struct InLanguage {
    content: Content,
    table: Table,
    plan: Distinct,
    /// Of this field alone.
    translation: Translation,
    /// Whether the caller has left.
    gone: Arc<AtomicBool>,
}

impl InLanguage {
    /// A page of them. Filter and scope are about the primary text, as in a query.
    ///
    /// # Errors
    /// WDE0092 where the values are too large, UNAVAILABLE when others have all memory, WDE0028 when time is over or the
    /// caller has left.
    async fn page(self, tx: &mut Tx<'_>) -> Result<(Page, Ends)> {
        let Self { content, table, plan, translation, gone } = self;
        let is_over = is_over(&content, &gone, content.state.world.now());
        let translated = Translated::read(&content, tx, (&translation, &plan.filter), &is_over).await?;
        let (sql, params) = compile::documents(tx.dialect(), table, &plan.scope, &plan.filter);
        let (field, most) = (plan.field.clone(), content.limits().pipeline_bytes);
        let collecting = Collecting { field, translated, keys: BTreeMap::new(), most, read: 0, is_over };
        let keys = tx.fold(&sql, &params, collecting).await?;
        let total = i64::try_from(keys.len()).ok().filter(|_| plan.total);
        let (mut page, ends) = page(&plan, cut(&plan, keys));
        page.total = total;
        Ok((page, ends))
    }
}

/// What is kept of the documents that were read.
struct Collecting<F> {
    field: Field,
    translated: Translated,
    /// The values by the keys of their places.
    keys: BTreeMap<String, String>,
    /// Bytes of both.
    most: usize,
    /// Documents.
    read: usize,
    is_over: F,
}

impl<F: Fn() -> bool + Send + 'static> Collecting<F> {
    fn put(&mut self, document: &str) -> Result<()> {
        self.read += 1;
        if self.read.is_multiple_of(STEP) && (self.is_over)() {
            return Err(Fault::new(Code::TimeLimit));
        }
        let shown = match self.translated.values.get(&id_of(document)?) {
            Some(it) => serde_json::from_str(&overlaid(document, it)?),
            None => serde_json::from_str(document),
        };
        let shown: Json = shown.map_err(Fault::internal)?;
        for value in order::values(&self.field, &shown) {
            let place = key::bounded(value.clone());
            if self.keys.contains_key(&place) {
                continue;
            }
            self.translated.bytes += value.len() + place.len() + ENTRY;
            if self.translated.bytes > self.most {
                let text = format!("The different values take more than {} bytes; filter before.", self.most);
                return Err(Fault::because(Code::SortTooLarge, text));
            }
            self.translated.share.hold(self.translated.bytes)?;
            self.keys.insert(place, value);
        }
        Ok(())
    }
}

impl<F: Fn() -> bool + Send + 'static> Fold for Collecting<F> {
    type Output = BTreeMap<String, String>;

    fn take(&mut self, document: Document<'_>) -> Result<ControlFlow<()>> {
        match document {
            Document::Jsonb(it) => self.put(&jsonb::print(it).ok_or_else(Document::unreadable)?)?,
            Document::Text(it) => self.put(it)?,
        }
        Ok(ControlFlow::Continue(()))
    }

    fn finish(self) -> Result<Self::Output> {
        Ok(self.keys)
    }
}

/// The values of a page and one more, as the statement for the primary text has them.
fn cut(plan: &Distinct, keys: BTreeMap<String, String>) -> Vec<Keys> {
    let start = &plan.page.start;
    let is_ascending = (plan.direction == Direction::Ascending) != start.is_backward();
    let first = start.position().and_then(|it| Some((it.is_included, it.keyset.first()?)));
    let is_beyond = |place: &str| match first {
        Some((is_included, KeysetValue::Key(first))) if place == first => is_included,
        Some((_, KeysetValue::Key(first))) => (place > first.as_str()) == is_ascending,
        _ => true,
    };
    let mut keys: Vec<Keys> = keys.into_iter().map(|(place, value)| (value, place)).collect();
    keys.retain(|(_, place)| is_beyond(place));
    if !is_ascending {
        keys.reverse();
    }
    let skipped = usize::try_from(start.offset()).unwrap_or(usize::MAX);
    keys.into_iter().skip(skipped).take(plan.page.limit as usize + 1).collect()
}

/// `keys`: one more than the page holds, if there are more.
fn page(plan: &Distinct, mut keys: Vec<Keys>) -> (Page, Ends) {
    let (mut page, limit) = (Page::new(&plan.page.start), plan.page.limit as usize);
    page.has_next = keys.len() > limit;
    keys.truncate(limit);
    if plan.page.start.is_backward() {
        keys.reverse();
    }
    page.count = keys.len();
    for (n, (key, _)) in keys.iter().enumerate() {
        print_value(key, page.element(n));
    }
    let position = |(_, place): &Keys| Position {
        keyset: vec![KeysetValue::Key(place.clone())],
        id: String::new(),
        is_included: false,
    };
    let ends = keys.first().map(position).zip(keys.last().map(position));
    (page, ends)
}

/// A value in canonical text.
fn print_value(key: &str, out: &mut String) {
    match key::value(key) {
        Json::Number(it) => stoa_query::item::number::print(it.as_f64().unwrap_or_default(), out),
        it => out.push_str(&it.to_string()),
    }
}
