//! Aggregation in both forms (docs/protocol/content.md §3.10, §3.11, §21.7): groups, sums and pipelines of stages.
//!
//! The scope of the caller is part of the statement that reads the items, and what isn't shown to the caller is taken
//! out of them before the first stage: no stage sees past it. Encrypted fields can't be named at all.

use crate::{
    Content, Origin, RequestContext,
    collection::{
        self, Collection,
        field_view::{self, FieldView},
        translation::{Translation, Values, id_of, overlaid},
    },
    index::auto::{self, Answered},
    item::query::{check_cost, query_context},
    language::Language,
    page::{
        Page,
        cursor::{self, CursorCall, CursorPaging},
    },
    reference::filter,
    wire::request,
};
use serde_json::{Map, Value as Json};
use std::{
    borrow::Cow,
    collections::HashMap,
    ops::ControlFlow,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};
use stoa_kernel::{Caller, Code, Fault, Millis, Result};
use stoa_query::{
    Filter,
    pipeline::{Bounds, Reading, Results, Run, Share},
    resolve,
    stages::{Pipeline, Stage},
    wire,
};
use stoa_sql::jsonb;
use stoa_store::{Document, Fold, Site, Tx, boxed};

/// What aggregations leave to their cursors.
const AGGREGATE: CursorCall = CursorCall {
    name: "aggregate",
    outer: &["initialFilter", "finalFilter", "aggregation", "sort", "language", "publishPluginOptions", "showDrafts"],
    within: "query",
    inner: &[],
};
const PIPELINE: CursorCall =
    CursorCall { name: "pipeline", outer: &["language"], within: "pipeline", inner: &["stages"] };

/// Bytes that a value in a language takes in memory beside its text.
const ENTRY: usize = 150;

/// A pipeline is ended after this long, as a scan is (docs/protocol/content.md §15).
const TIME_LIMIT: Millis = 30_000;

impl Content {
    /// A page of groups, by the older form.
    ///
    /// # Errors
    /// As for a query; WDE0080 for what can't be worked out; WDE0092 when groups take too much memory.
    pub async fn item_aggregate(
        &self,
        site: &Site,
        caller: &Caller,
        origin: Origin,
        members: &Map<String, Json>,
    ) -> Result<Page> {
        let context = RequestContext::of_members(self, site, caller, members);
        let collection = collection::load(self, site, request::collection(members, caller)?).await?;
        let (paging, members) = cursor::paging(context, &collection, &AGGREGATE, members).await?;
        // A page by cursor is about the drafts and the language that the paging began with, by the rights of now.
        let context = RequestContext::of_members(self, site, caller, &members);
        let request = wire::Aggregate::parse(&members, &self.limits().query)?;
        let schema = filter::schema(context, &collection, &request.initial).await?;
        let plan = resolve::aggregate(&request, query_context(context, &collection, &schema)?)?;
        self.run(context, origin, collection, plan, Paged { call: &AGGREGATE, paging, members: &members }).await
    }

    /// A page of what a pipeline makes of the items.
    ///
    /// # Errors
    /// As for [`Content::item_aggregate`].
    pub async fn item_aggregate_pipeline(
        &self,
        site: &Site,
        caller: &Caller,
        origin: Origin,
        members: &Map<String, Json>,
    ) -> Result<Page> {
        let context = RequestContext::of_members(self, site, caller, members);
        let collection = collection::load(self, site, request::collection(members, caller)?).await?;
        let (paging, members) = cursor::paging(context, &collection, &PIPELINE, members).await?;
        let context = context.in_language(Language::of(&members));
        let request = wire::Pipeline::parse(&members, &self.limits().query)?;
        let schema = filter::schema(context, &collection, &request.leading_filter()).await?;
        let plan = resolve::pipeline(&request, query_context(context, &collection, &schema)?)?;
        self.run(context, origin, collection, plan, Paged { call: &PIPELINE, paging, members: &members }).await
    }

    async fn run(
        &self,
        context: RequestContext<'_>,
        origin: Origin,
        collection: Arc<Collection>,
        mut plan: Pipeline,
        paged: Paged<'_>,
    ) -> Result<Page> {
        let RequestContext { site, caller, .. } = context;
        let source = &plan.source;
        check_cost(self.limits(), caller, &source.indexes, &source.scope, &source.filter)?;
        check_stages(self.limits().anonymous_conditions, caller, &plan.stages)?;
        if let Some(paging) = &paged.paging
            && let Some(start) = paging.start(None)?
        {
            plan.page.start = start;
        }
        let view = field_view::load(self, site, caller, &collection).await?;
        let (start, source, began) = (plan.page.start.clone(), plan.source.clone(), self.state.world.now());
        let gone = Gone::default();
        let translation = Translation::of(&site.id, &collection, context.language, &source.scope);
        let (content, gone_of_work) = (self.clone(), gone.0.clone());
        let work = Work { content, collection: collection.clone(), plan, view, translation, gone: gone_of_work };
        let found = site.read(self.fold(caller, origin), move |tx| {
            boxed!({
                let reading = Reading::of(&work.plan);
                let (sql, params) = reading.statement(tx.dialect(), work.collection.table);
                let began = work.content.state.world.now();
                let translated = work.translated(tx, &reading, began).await?;
                tx.fold(&sql, &params, work.fold(&reading, translated, began)).await
            })
        });
        let found = found.await;
        let (scope, filter) = (&source.scope, &source.filter);
        auto::record(self, site, &collection, &Answered { scope, filter, order: None, began });
        let Results { elements, count, has_next, total, ends } = found?;
        let total = total.and_then(|it| i64::try_from(it).ok());
        let mut page = Page { elements, count, has_next, total, ..Page::new(&start) };
        if let Some(paging) = paged.paging {
            page.add_cursors(paging, || paged.call.take(paged.members), &start, ends)?;
        }
        Ok(page)
    }
}

/// A request and how it is paged.
struct Paged<'m> {
    call: &'static CursorCall,
    paging: Option<CursorPaging>,
    members: &'m Map<String, Json>,
}

/// What a scan needs to know.
struct Work {
    content: Content,
    collection: Arc<Collection>,
    plan: Pipeline,
    view: FieldView,
    /// The language of the items, if not their own.
    translation: Option<Translation>,
    gone: Arc<AtomicBool>,
}

/// What items are in the language of a call.
pub(super) struct Translated {
    /// By their ids.
    pub values: HashMap<String, Values>,
    /// The memory that they take, which is counted among that of pipelines.
    pub share: Share,
    pub bytes: usize,
}

impl Translated {
    /// Reads that of the caller's items that pass a filter.
    ///
    /// # Errors
    /// WDE0092 when it is too large, UNAVAILABLE when others have all memory, WDE0028 when `is_over` says so.
    pub(super) async fn read(
        content: &Content,
        tx: &mut Tx<'_>,
        (translation, filter): (&Translation, &Filter),
        is_over: &(dyn Fn() -> bool + Send + Sync),
    ) -> Result<Self> {
        let (most, mut held) = (content.limits().pipeline_bytes, 0);
        let mut share = Share::new(content.state.pipeline_memory.clone());
        let mut room = |bytes, count| {
            held = bytes + count * ENTRY;
            if is_over() {
                return Err(Fault::new(Code::TimeLimit));
            }
            if held > most {
                let text = format!("What the items are in this language takes more than {most} bytes; filter before.");
                return Err(Fault::because(Code::SortTooLarge, text));
            }
            share.hold(held)
        };
        let values = translation.values(tx, filter, &mut room).await?;
        Ok(Self { values, share, bytes: held })
    }
}

impl Work {
    /// The filter, order and window of the statement are about the primary text, as in a query; all stages after them
    /// are about the items in the language.
    ///
    /// # Errors
    /// As for [`Translated::read`]; time is over when the caller has left, too.
    async fn translated(&self, tx: &mut Tx<'_>, reading: &Reading, began: Millis) -> Result<Option<Translated>> {
        let translation = self.translation.as_ref().filter(|it| it.is_about(|key| reading.reads(key)));
        let Some(translation) = translation else { return Ok(None) };
        let of = (translation, &self.plan.source.filter);
        Translated::read(&self.content, tx, of, &self.is_over(began)).await.map(Some)
    }

    fn is_over(&self, began: Millis) -> impl Fn() -> bool + Send + Sync + use<> {
        is_over(&self.content, &self.gone, began)
    }

    fn fold(&self, reading: &Reading, translated: Option<Translated>, began: Millis) -> Documents {
        let limits = self.content.limits();
        let bounds = Bounds {
            bytes: limits.pipeline_bytes,
            rows: u64::try_from(limits.pipeline_rows).unwrap_or(u64::MAX),
            answer: limits.page_bytes,
        };
        let shared = self.content.state.pipeline_memory.clone();
        let run = Run::new(&self.plan, reading, bounds, shared, Box::new(self.is_over(began)));
        // Fields that are named are neither encrypted nor calculated.
        let view = if reading.is_whole() { self.view.clone() } else { FieldView::default() };
        Documents { run, view, translated: translated.filter(|it| !it.values.is_empty()) }
    }
}

/// Documents on their way into a pipeline.
struct Documents {
    run: Run,
    view: FieldView,
    translated: Option<Translated>,
}

impl Documents {
    /// A document as the caller is shown it, on its way.
    fn shown(&mut self, document: Cow<'_, str>) -> Result<ControlFlow<()>> {
        let primary = self.view.show(document)?;
        let Some(translated) = &self.translated else { return self.run.text(&primary) };
        match translated.values.get(&id_of(&primary)?) {
            Some(it) => self.run.text_in_language(&primary, &overlaid(&primary, it)?),
            None => self.run.text(&primary),
        }
    }

    /// Whether documents are shown as they are stored.
    fn is_plain(&self) -> bool {
        self.view.is_plain() && self.translated.is_none()
    }
}

impl Fold for Documents {
    type Output = Results;

    fn take(&mut self, document: Document<'_>) -> Result<ControlFlow<()>> {
        match document {
            Document::Jsonb(it) if self.is_plain() => self.run.jsonb(it),
            Document::Text(it) if self.is_plain() => self.run.text(it),
            Document::Jsonb(it) => self.shown(jsonb::print(it).ok_or_else(Document::unreadable)?.into()),
            Document::Text(it) => self.shown(it.into()),
        }
    }

    fn finish(self) -> Result<Results> {
        self.run.finish()
    }
}

/// Says that nobody waits any more, when it is dropped.
#[derive(Default)]
pub(super) struct Gone(pub(super) Arc<AtomicBool>);

impl Drop for Gone {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

/// Whether a read that began then takes too long, or the caller is gone.
pub(super) fn is_over(
    content: &Content,
    gone: &Arc<AtomicBool>,
    began: Millis,
) -> impl Fn() -> bool + Send + Sync + use<> {
    let (gone, world) = (gone.clone(), content.state.world.clone());
    move || gone.load(Relaxed) || world.now() - began > TIME_LIMIT
}

/// No index serves the filters of later stages.
///
/// # Errors
/// WDE0093 when they have more conditions than an anonymous caller may ask of every row.
fn check_stages(most: usize, caller: &Caller, stages: &[Stage]) -> Result<()> {
    let tests = |it: &Stage| if let Stage::Filter(filter, _) = it { filter.tests() } else { 0 };
    let conditions: usize = stages.iter().map(tests).sum();
    if !matches!(caller.bare(), Caller::Visitor { .. }) || conditions <= most {
        return Ok(());
    }
    let text = format!("The stages have {conditions} conditions; anonymous callers may have {most}.");
    Err(Fault::because(Code::FilterInvalid, text).with("conditions", conditions).with("most", most))
}
