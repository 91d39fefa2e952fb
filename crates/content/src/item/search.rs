//! Items that are found by words (docs/protocol/content.md §3.12, §21.8).
//!
//! An index of words says which rows answer, best first; which of them there are for the caller, SQL decides: scope and
//! filter stand in each statement that reads rows or documents. All of it is read in one state of the data.

use crate::{
    Content, Origin, RequestContext,
    collection::{self, Collection, field_view, translation::Translation},
    fault,
    hook::CallHooks,
    item::{
        highlight::Highlighting,
        page_query::PageQuery,
        query::{check_cost, narrowed, query_context, reader_hooks},
    },
    language::Language,
    page::{
        Page,
        cursor::{self, CursorCall, CursorPaging, Ends},
    },
    reference::{filter, include},
    search::{Answered, Asked, Index, Layout, SearchMemory, note_damage},
    wire::request,
};
use serde_json::{Map, Value as Json, json};
use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};
use stoa_hooks::Hook;
use stoa_kernel::{Caller, Code, Fault, Result};
use stoa_query::{
    Filter, Scope, compile,
    plan::{KeysetValue, PageSpec, Position, Start},
    resolve, wire,
};
use stoa_search::question::{Hit, Hits, Mode, Options, Question, Suggestions};
use stoa_store::{Row, Site, Tx, boxed};

/// What searches leave to their cursors. Clients send it again; a cursor is about what it was made for.
const SEARCH: CursorCall =
    CursorCall { name: "search", outer: &["language"], within: "search", inner: &["filter", "sort", "search"] };

/// Hits whose rows are asked for at once, at first; then four times as many each time.
const FIRST_CHUNK: usize = 256;
/// So many rows are looked up one by one and put in order, rather than met in the order of an index.
const LISTED: usize = 20_000;
/// Bytes of the number of a row in a statement that has it in a list.
const LISTED_BYTES: usize = 100;

impl Content {
    /// A page of the items that hold words, and, where the request asks for them, what of them answers and which other
    /// words may be meant (decision 43).
    ///
    /// # Errors
    /// As for a query; WDE0080 for too long an expression, WDE0147 for a field that isn't searched or shown, WDE0190 where
    /// the collection isn't; WDE0109 where highlights make the page too large; WDE0092 for words of too many items;
    /// UNAVAILABLE when the index is damaged, or other searches have all the memory.
    pub async fn item_search(
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
            let (mut page, highlighting) = self.searched(context, origin, &collection, &hooks, members).await?;
            page.elements = hooks.after_each(Hook::AfterQuery, page.elements).await?;
            if let Some(it) = highlighting {
                it.put(&mut page, site, self.scan(caller, origin), self.limits().page_bytes).await?;
            }
            Ok(page)
        };
        hooks.answering(call, |it| hooks.page(&collection, it)).await
    }

    async fn searched(
        &self,
        context: RequestContext<'_>,
        origin: Origin,
        collection: &Arc<Collection>,
        hooks: &CallHooks,
        members: &Map<String, Json>,
    ) -> Result<(Page, Option<Highlighting>)> {
        let RequestContext { site, caller, .. } = context;
        let (paging, members) = cursor::paging(context, collection, &SEARCH, members).await?;
        let context = context.in_language(Language::of(&members));
        let narrowed = narrowed(hooks, &members, SEARCH.within).await?;
        let collection = &hooks.still(context, collection).await?;
        let request = wire::Search::parse(narrowed.as_ref().unwrap_or(&members), &self.limits().query)?;
        let schema = filter::schema(context, collection, &request.filter).await?;
        let resolve::Search { find: mut plan, is_ranked } =
            resolve::search(&request, query_context(context, collection, &schema)?)?;
        let translation = Translation::of(&site.id, collection, context.language, &plan.scope);
        let languages = translation.as_ref().map(|it| it.languages().to_vec()).unwrap_or_default();
        let (layout, within) = (Layout::of(&collection.definition), request.words.within.clone());
        let suggests = request.suggests && tells_words(&plan.scope, hooks) && layout.tells_apart(&within);
        let asked = asked(collection, request.words, &plan.scope, languages)?;
        let asked = asked.map(|it| Arc::new(Asked { wants_suggestions: suggests, ..it }));
        // A field that a hook leaves out is not what the caller got wrong: it has no highlights, as it isn't shown.
        let shown = if narrowed.is_some() { own_fields(&members) } else { request.fields };
        let highlighting = request.highlight;
        let highlighting = highlighting.map(|it| Highlighting::resolve(it, &layout, within, &shown, asked.clone()));
        let highlighting = highlighting.transpose()?;
        let is_ranked = is_ranked && asked.is_some();
        if let Some(paging) = &paging
            && let Some(start) = paging.start(Some(&plan.order).filter(|_| !is_ranked))?
        {
            plan.page.start = if is_ranked { revealed(paging, start)? } else { start };
        }
        check_cost(self.limits(), caller, &plan.indexes, &plan.scope, &plan.filter)?;
        let includes = include::plan(context, collection, &request.references).await?;
        let view = field_view::load(self, site, caller, collection).await?;
        let mut start = plan.page.start.clone();
        let most = self.limits().page_bytes;
        let collection = collection.clone();
        let page = PageQuery { collection, plan, view, translation, includes, most, asked: asked.clone() };
        let (mut page, mut ends) = match asked {
            Some(asked) => self.found(context, origin, Search { page, asked, is_ranked }).await?,
            None => {
                let is_plain = page.includes.is_empty();
                let (mut page, ends) = Arc::new(page).answer(site, self.scan(caller, origin), is_plain).await?;
                // There is no word that another one may be meant by.
                page.suggestions = suggests.then(|| printed(&Suggestions::default()));
                (page, ends)
            }
        };
        if let Some(paging) = paging {
            if is_ranked {
                let once = || i64::from_le_bytes(self.state.world.bytes());
                start = with_position(start, |it| Ok(hidden(&paging, once(), &it)))?;
                ends = ends.map(|(first, last)| (hidden(&paging, once(), &first), hidden(&paging, once(), &last)));
            }
            page.add_cursors(paging, || SEARCH.take(&members), &start, ends)?;
        }
        Ok((page, highlighting))
    }

    async fn found(&self, context: RequestContext<'_>, origin: Origin, search: Search) -> Result<(Page, Ends)> {
        let RequestContext { site, caller, .. } = context;
        let table = search.page.collection.table;
        let index = || Index { site: site.id.clone(), collection: table.number };
        let asked = index();
        let memory = SearchMemory::new(self.limits().search_bytes, self.state.search_memory.clone());
        let found = site.read_snapshot(self.requester(caller, origin), move |tx| {
            boxed!(match search.ask(tx, &asked, memory).await {
                Ok((answered, suggestions)) => {
                    let (mut page, ends) = search.answer(tx, answered).await?;
                    page.suggestions = suggestions.map(|it| printed(&it));
                    Ok(Ok((page, ends)))
                }
                Err(fault) => Ok(Err(fault)),
            })
        });
        match found.await? {
            Err(fault) if fault.code() == Code::Internal => {
                tracing::warn!(site = %site.id, collection = table.number, "an index of words is built anew: {fault:?}");
                let now = self.state.world.now();
                site.write_with(index(), move |tx, it| boxed!(note_damage(tx, it, now).await)).await?;
                Err(Fault::because(Code::Unavailable, "The index of words is built anew; search again in a while."))
            }
            found => found,
        }
    }
}

/// What is asked of the index; nothing where all items are wanted.
///
/// # Errors
/// WDE0190, WDE0147, WDE0080.
fn asked(collection: &Collection, words: wire::Words, scope: &Scope, languages: Vec<String>) -> Result<Option<Asked>> {
    if collection.definition.search_off {
        return Err(Fault::new(Code::SearchOff).with("collectionName", collection.id.as_str()));
    }
    let wire::Words { expression, fuzzy, all_words, within } = words;
    let layout = Layout::of(&collection.definition);
    let fields = layout.bits(&within).map_err(|it| {
        let text = format!("{it} is no field whose words are searched.");
        Fault::because(Code::FieldInvalid, text).with("propertyName", it)
    })?;
    let options = Options {
        mode: if all_words { Mode::And } else { Mode::Or },
        fuzzy,
        fields,
        // How rare a word is counts all items: who sees some of them is told nothing of the others.
        rarity: *scope == Scope::Everything,
    };
    let question = Question::parse(&expression, options).map_err(|it| {
        let text = format!("search.search.expression: {it}");
        Fault::because(Code::BadRequest, text)
    })?;
    Ok(question.map(|question| Asked { question, expression, wants_suggestions: false, layout, within, languages }))
}

/// Whether a caller may be told words of the index: who is shown all of every item in any case, whatever code of the site
/// makes of what they ask and are answered.
fn tells_words(scope: &Scope, hooks: &CallHooks) -> bool {
    *scope == Scope::Everything && !hooks.decide_on_reads()
}

/// The fields that a caller wants to be shown, whatever a hook makes of them; all where none is named.
fn own_fields(members: &Map<String, Json>) -> Vec<String> {
    let fields = members.get(SEARCH.within).and_then(|it| it.get("fields")?.as_array());
    fields.into_iter().flatten().filter_map(|it| it.as_str().map(str::to_owned)).collect()
}

fn printed(Suggestions { expression, words }: &Suggestions) -> String {
    let words = words.iter().map(|it| {
        let alternatives = it.alternatives.iter().map(|it| json!({ "word": it.word, "itemCount": it.items }));
        json!({ "word": it.word, "alternatives": alternatives.collect::<Vec<_>>() })
    });
    let mut suggestions = json!({ "words": words.collect::<Vec<_>>() });
    if let Some(it) = expression {
        suggestions["expression"] = it.as_str().into();
    }
    suggestions.to_string()
}

/// A search, resolved.
struct Search {
    page: PageQuery,
    asked: Arc<Asked>,
    /// By rank; else by the order of the plan.
    is_ranked: bool,
}

impl Search {
    /// What the index says, and, if the caller is told and there is room for their lists, which other words may be meant.
    async fn ask(
        &self,
        tx: &mut Tx<'_>,
        index: &Index,
        memory: SearchMemory,
    ) -> Result<(Answered, Option<Suggestions>)> {
        let mut answered = index.ask(tx, &self.asked, memory).await?;
        let suggestions = match self.asked.wants_suggestions {
            true => index.suggest(tx, &self.asked, &mut answered).await?,
            false => None,
        };
        Ok((answered, suggestions))
    }

    async fn answer(mut self, tx: &mut Tx<'_>, answered: Answered) -> Result<(Page, Ends)> {
        let Answered { hits, mut memory, .. } = answered;
        if self.is_ranked {
            return self.ranked(tx, hits).await;
        }
        memory.take(LISTED_BYTES * hits.count())?;
        let plan = &mut self.page.plan;
        if hits.count() <= LISTED {
            plan.indexes = Arc::default();
        }
        let rows: Arc<[i64]> = hits.rows().map(u64::cast_signed).collect();
        plan.filter = Filter::all([std::mem::replace(&mut plan.filter, Filter::True), Filter::Rows(rows)]);
        self.page.run(tx).await
    }

    async fn ranked(&self, tx: &mut Tx<'_>, mut hits: Hits) -> Result<(Page, Ends)> {
        let PageSpec { start, limit } = &self.page.plan.page;
        if let Some(it) = start.position() {
            hits = hits.beyond(&hit(it)?, start.is_backward(), it.is_included);
        }
        let (skipped, limit) = (usize::try_from(start.offset()).unwrap_or(usize::MAX), *limit as usize);
        let most = skipped.saturating_add(limit).saturating_add(1);
        let mut shown = self.let_through(tx, hits, most).await?;
        shown.drain(..skipped.min(shown.len()));
        let mut page = Page::new(start);
        page.has_next = shown.len() > limit;
        shown.truncate(limit);
        if start.is_backward() {
            shown.reverse();
        }
        let (documents, held) = self.documents(tx, &shown).await?;
        let documents = self.page.answering(tx, documents, held).await?;
        page.count = documents.len();
        self.page.print(tx, &mut page, documents, held).await?;
        Ok((page, shown.first().map(position).zip(shown.last().map(position))))
    }

    /// The best hits that scope and filter let through.
    async fn let_through(&self, tx: &mut Tx<'_>, mut hits: Hits, most: usize) -> Result<Vec<Hit>> {
        let plan = &self.page.plan;
        if plan.scope == Scope::Everything && plan.filter == Filter::True {
            return Ok(hits.take(most).to_vec());
        }
        let (mut through, mut chunk) = (Vec::new(), most.saturating_mul(2).max(FIRST_CHUNK));
        while through.len() < most {
            let next = hits.take(chunk);
            if next.is_empty() {
                break;
            }
            let (sql, params) = compile::rows(tx.dialect(), self.page.collection.table, &plan.scope, &self.among(next));
            let rows = tx.rows(&sql, &params, |row| Ok(row.get::<i64>(0)?.unsigned_abs())).await?;
            let rows: HashSet<u64> = rows.into_iter().collect();
            through.extend(next.iter().filter(|it| rows.contains(&it.rid)));
            chunk = chunk.saturating_mul(4);
        }
        through.truncate(most);
        Ok(through)
    }

    /// The documents of hits that are there, in their order, and the bytes of all of them.
    async fn documents(&self, tx: &mut Tx<'_>, hits: &[Hit]) -> Result<(Vec<String>, usize)> {
        let (plan, most, mut held) = (&self.page.plan, self.page.most, 0);
        let filter = self.among(hits);
        let (sql, params) = compile::rows_and_documents(tx.dialect(), self.page.collection.table, &plan.scope, &filter);
        let read = |row: &Row<'_>| {
            let document = row.doc(1)?;
            held += document.len();
            // More than a page may hold is refused, and not kept until then.
            let document = if held <= most { document.into_owned() } else { String::new() };
            Ok((row.get::<i64>(0)?.unsigned_abs(), document))
        };
        let mut documents: HashMap<u64, String> = tx.rows(&sql, &params, read).await?.into_iter().collect();
        if held > most {
            return Ok((Vec::new(), held));
        }
        Ok((hits.iter().filter_map(|it| documents.remove(&it.rid)).collect(), held))
    }

    fn among(&self, hits: &[Hit]) -> Filter {
        let rows = hits.iter().map(|it| it.rid.cast_signed()).collect();
        Filter::all([self.page.plan.filter.clone(), Filter::Rows(rows)])
    }
}

/// The position at which a page starts, as it is turned into another one.
fn with_position(start: Start, turn: impl FnOnce(Position) -> Result<Position>) -> Result<Start> {
    Ok(match start {
        Start::After(it) => Start::After(turn(it)?),
        Start::Before(it) => Start::Before(turn(it)?),
        start => start,
    })
}

/// A position as it stands in a cursor. The number of a row would tell how many items others have written.
fn hidden(paging: &CursorPaging, once: i64, position: &Position) -> Position {
    let mut keyset = position.keyset.clone();
    if let Some(KeysetValue::Time(rid)) = keyset.last_mut() {
        *rid = paging.hidden(*rid, once);
        keyset.push(KeysetValue::Time(once));
    }
    Position { keyset, ..position.clone() }
}

/// # Errors
/// WDE0151 for a place of another order.
fn revealed(paging: &CursorPaging, start: Start) -> Result<Start> {
    with_position(start, |mut position| {
        let once = position.keyset.pop();
        match (position.keyset.last_mut(), once) {
            (Some(KeysetValue::Time(rid)), Some(KeysetValue::Time(once))) => *rid = paging.hidden(*rid, once),
            _ => return Err(fault::cursor_invalid()),
        }
        Ok(position)
    })
}

/// The place of a hit in the order of ranks.
fn position(hit: &Hit) -> Position {
    let keyset = [i64::from(hit.words), i64::from(hit.score), hit.rid.cast_signed()];
    Position { keyset: keyset.map(KeysetValue::Time).into(), is_included: false, id: String::new() }
}

/// # Errors
/// WDE0151 for a place that isn't one.
fn hit(position: &Position) -> Result<Hit> {
    let &[KeysetValue::Time(words), KeysetValue::Time(score), KeysetValue::Time(rid)] = position.keyset.as_slice()
    else {
        return Err(fault::cursor_invalid());
    };
    let read = || Some(Hit { words: words.try_into().ok()?, score: score.try_into().ok()?, rid: rid.try_into().ok()? });
    read().ok_or_else(fault::cursor_invalid)
}
