//! The calls of content that a request comes to, one after another.

use crate::{App, Call, problem, traffic::off_runtime};
use serde_json::{Map, Value};
use std::future::Future;
use stoa_content::{Action, Item, Outcome, Request};
use stoa_graphql::{Ask, Page, Run, Write, Written};
use stoa_kernel::{Fault, Result};
use tokio::time::{Instant, timeout_at};

/// What content answered to one of them.
enum Answered {
    Page(Page),
    Count(i64),
    Written(Vec<Written>),
    Refused(Fault),
    /// The time is over.
    Late,
}

/// Runs a request until a moment, and answers its text. Queries are given up then; a write that has begun is waited for,
/// because nobody could tell whether it happened, and none begins after it.
///
/// # Errors
/// Faults of the server that spoil all of it.
pub(super) async fn run(app: &App, call: &Call, mut run: Run, until: Instant) -> Result<String> {
    let milliseconds = app.graphql.limits.graphql_time;
    loop {
        let answered = match run.next_ask() {
            None => break,
            Some(_) if Instant::now() >= until => Answered::Late,
            Some(Ask::Query(members)) => in_time(until, query(app, call, members), Answered::Page).await,
            Some(Ask::Count(members)) => in_time(until, count(app, call, members), Answered::Count).await,
            Some(Ask::Write(how, body)) => match write(app, call, how, body).await {
                Ok(it) => Answered::Written(it),
                Err(fault) => Answered::Refused(fault),
            },
        };
        match answered {
            Answered::Page(page) => printed(page.elements.len(), || run.page(&page))?,
            Answered::Count(count) => run.count(count),
            Answered::Written(written) => {
                let reread = reread(app, call, &run, &written, until).await;
                run.written(&written, reread.as_deref())?;
            }
            Answered::Refused(fault) => {
                problem::log(&fault);
                run.refuse(&fault);
            }
            Answered::Late => run.time_out(milliseconds),
        }
    }
    Ok(run.finish())
}

/// Work that takes longer than a moment, by the bytes it goes through.
fn printed<T>(bytes: usize, print: impl FnOnce() -> T) -> T {
    if bytes > 64 * 1024 { off_runtime(print) } else { print() }
}

async fn in_time<T>(until: Instant, answer: impl Future<Output = Result<T>>, as_is: fn(T) -> Answered) -> Answered {
    match timeout_at(until, answer).await {
        Ok(Ok(it)) => as_is(it),
        Ok(Err(fault)) => Answered::Refused(fault),
        Err(_) => Answered::Late,
    }
}

async fn query(app: &App, call: &Call, members: &Map<String, Value>) -> Result<Page> {
    let page = app.content.item_query(&call.site, &call.caller, call.origin(), members).await?;
    let (next, prev) = page.cursors.map(|it| (it.next, it.prev)).unwrap_or_default();
    Ok(Page { elements: page.elements, total: page.total, has_next: page.has_next, next, prev })
}

async fn count(app: &App, call: &Call, members: &Map<String, Value>) -> Result<i64> {
    app.content.item_count(&call.site, &call.caller, call.origin(), members).await
}

/// What written items refer to, as the caller may read it. It is asked after the write, and where it can't be told, or
/// not in time, the items are answered without.
async fn reread(app: &App, call: &Call, run: &Run, written: &[Written], until: Instant) -> Option<String> {
    let members = run.reread(written)?;
    let page = timeout_at(until, query(app, call, &members)).await.ok()?;
    page.map(|it| it.elements).ok()
}

async fn write(app: &App, call: &Call, how: Write, body: &Value) -> Result<Vec<Written>> {
    let text = serde_json::to_vec(body).map_err(Fault::internal)?;
    let request = &Request::parse(&text)?;
    let (content, site, caller) = (&app.content, &*call.site, &call.caller);
    let one = |action: &'static str, item: Option<Item>| vec![written(action, item)];
    Ok(match how {
        Write::Insert => one("INSERT", Some(content.item_insert(site, caller, request).await?)),
        Write::Update => one("UPDATE", Some(content.item_update(site, caller, request).await?)),
        Write::Patch => one("PATCH", Some(content.item_patch(site, caller, request).await?)),
        Write::Remove => one("DELETE", content.item_remove(site, caller, request).await?),
        Write::Save => {
            let saved = content.item_save(site, caller, request).await?;
            one(if saved.is_new { "INSERT" } else { "UPDATE" }, Some(saved.item))
        }
        Write::BulkInsert => all(content.item_bulk_insert(site, caller, request).await?),
        Write::BulkUpdate => all(content.item_bulk_update(site, caller, request).await?),
        Write::BulkSave => all(content.item_bulk_save(site, caller, request).await?),
        Write::BulkPatch => all(content.item_bulk_patch(site, caller, request).await?),
        Write::BulkRemove => all(content.item_bulk_remove(site, caller, request).await?),
    })
}

fn all(outcomes: Vec<Outcome>) -> Vec<Written> {
    let of = |it: Outcome| {
        let Outcome { action, id, fault, item } = it;
        Written { id, fault, ..written(Action::name(action), item) }
    };
    outcomes.into_iter().map(of).collect()
}

fn written(action: &'static str, item: Option<Item>) -> Written {
    let document = item.map(|it| it.doc);
    let id = document.as_deref().and_then(id_of);
    Written { action, id, fault: None, document }
}

/// The id of a document, which is its first member.
fn id_of(document: &str) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Named {
        #[serde(rename = "_id")]
        id: String,
    }
    serde_json::from_str::<Named>(document).ok().map(|it| it.id)
}
