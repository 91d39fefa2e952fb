//! Indexes that the server makes by itself: slow queries are recorded, what would serve them is built, and
//! what no query uses any more is dropped again.
//!
//! The statistics are kept in memory, bounded, and cost a query nothing unless it was slow or was served by an
//! index of ours. A form of query that was slow [`AutoIndex::repeats`] times within
//! [`AutoIndex::window`] is worth an index. Such indexes don't count against the limit of a collection's
//! managers; a collection has at most [`ContentLimits::auto_indexes`] of them.
//!
//! [`AutoIndex::repeats`]: crate::limits::AutoIndex::repeats
//! [`AutoIndex::window`]: crate::limits::AutoIndex::window
//! [`ContentLimits::auto_indexes`]: crate::limits::ContentLimits::auto_indexes

use crate::{
    Content,
    collection::{self, Collection, access},
    fault,
    index::{
        consent::{self, SETTING},
        step::{self, IndexRequest, Transition},
    },
    schema::index::{IndexDefinition, IndexField, IndexOrder, Source, Status, Why, of_site},
};
use parking_lot::Mutex;
use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};
use stoa_kernel::{Code, Result, SiteId, clock::Millis};
use stoa_query::{
    Filter, Scope, compile,
    plan::{Field, Key, Order, Test},
};
use stoa_sql::{Direction, params};
use stoa_store::{ReaderPool, Site, boxed, setting};

/// Forms of slow queries, and indexes in use, that are remembered.
const MOST: usize = 1000;

/// Slow-query statistics since the job that tends indexes last read them.
#[derive(Default)]
pub(crate) struct QueryStatistics {
    slow: Mutex<HashMap<Form, Slow>>,
    /// The AUTO indexes that served a query: site, collection, number.
    used: Mutex<HashSet<(SiteId, i64, i64)>>,
}

/// Queries that one index would serve.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Form {
    site: SiteId,
    collection: String,
    definition: IndexDefinition,
}

#[derive(Debug, Clone)]
struct Slow {
    first: Millis,
    count: u32,
    slowest: Millis,
}

/// A query that was answered.
pub(crate) struct Answered<'q> {
    pub scope: &'q Scope,
    pub filter: &'q Filter,
    pub order: Option<&'q Order>,
    pub began: Millis,
}

/// Records a query that may have looked at many items.
pub(crate) fn record(content: &Content, site: &Site, collection: &Collection, query: &Answered<'_>) {
    let (statistics, limits) = (&content.state.query_statistics, &content.limits().auto_index);
    if collection.indexes.iter().any(|it| it.source == Source::Auto && it.status == Status::Active) {
        statistics.record_use(site, collection, query);
    }
    let now = content.state.world.now();
    let took = now - query.began;
    let is_of_owner = matches!(query.scope, Scope::OwnedBy(_));
    if took < limits.slow && !is_of_owner {
        return;
    }
    let Some(of_all) = serving_index(query) else { return };
    let definition = if is_of_owner { of_all.led_by_owner() } else { of_all.clone() };
    let is_covered = |it: &IndexDefinition| collection.indexes.iter().any(|index| index.definition.covers(it));
    // Where a manager wanted the fields indexed, owners are to find theirs as fast, whatever it takes them now.
    if is_covered(&definition) || took < limits.slow && !is_covered(&of_all) {
        return;
    }
    let form = Form { site: site.id.clone(), collection: collection.id.to_string(), definition };
    let mut slow = statistics.slow.lock();
    if slow.len() >= MOST && !slow.contains_key(&form) {
        slow.retain(|_, it| now - it.first < limits.window);
        if slow.len() >= MOST {
            return;
        }
    }
    let seen = slow.entry(form).or_insert(Slow { first: now, count: 0, slowest: 0 });
    if now - seen.first >= limits.window {
        *seen = Slow { first: now, count: 0, slowest: 0 };
    }
    seen.count = seen.count.saturating_add(1);
    seen.slowest = seen.slowest.max(took);
}

impl QueryStatistics {
    fn record_use(&self, site: &Site, collection: &Collection, query: &Answered<'_>) {
        let served = compile::served_by(&collection.schema.indexes, query.scope, query.filter, query.order);
        let is_auto =
            |number: &i64| collection.indexes.iter().any(|it| it.number == *number && it.source == Source::Auto);
        if let Some(number) = served.filter(is_auto) {
            let mut used = self.used.lock();
            if used.len() < MOST {
                used.insert((site.id.clone(), collection.table.number, number));
            }
        }
    }

    /// The AUTO indexes of a site that were used, by collection and number; they are forgotten here.
    fn take_used(&self, site: &SiteId) -> Vec<(i64, i64)> {
        let mut taken = Vec::new();
        self.used.lock().retain(|(id, collection, number)| {
            let is_of_site = id == site;
            if is_of_site {
                taken.push((*collection, *number));
            }
            !is_of_site
        });
        taken
    }
}

impl Content {
    /// What the job does now and then: writes down which indexes of ours were used, asks for those that
    /// are worth making on this site, and drops those that are no longer used.
    ///
    /// # Errors
    /// When the database can't be asked.
    pub async fn auto_indexes_tend(&self, site: &Arc<Site>) -> Result<()> {
        write_uses(self, site).await?;
        let is_on = self.auto_index_is_on(site).await?;
        for (form, slow) in ripe(self, &site.id) {
            if is_on {
                make(self, site, form, &slow).await?;
            }
        }
        drop_unused(self, site).await
    }

    /// Whether the server makes indexes on this site by itself.
    ///
    /// # Errors
    /// When the database can't be asked.
    pub async fn auto_index_is_on(&self, site: &Site) -> Result<bool> {
        let input = (site.id.clone(), self.limits().clone());
        site.read(ReaderPool::Point, move |tx| boxed!(consent::is_on(tx, &input.0, &input.1).await)).await
    }

    /// Sets it for this site; nothing goes back to what the configuration says.
    ///
    /// # Errors
    /// When the database can't be written.
    pub async fn auto_index_set(&self, site: &Arc<Site>, is_on: Option<bool>) -> Result<()> {
        let set = site.write_with(site.id.clone(), move |tx, site| {
            boxed!({
                match is_on {
                    Some(true) => setting::put(tx, site, SETTING, "\"on\"".to_owned()).await?,
                    Some(false) => setting::put(tx, site, SETTING, "\"off\"".to_owned()).await?,
                    None => setting::remove(tx, site, SETTING).await?,
                }
                Ok(())
            })
        });
        set.await
    }
}

/// The forms that are worth an index; their count begins again from here.
fn ripe(content: &Content, site: &SiteId) -> Vec<(Form, Slow)> {
    let (now, limits) = (content.state.world.now(), &content.limits().auto_index);
    let mut slow = content.state.query_statistics.slow.lock();
    slow.retain(|_, it| now - it.first < limits.window);
    let is_ripe = |form: &Form, it: &Slow| form.site == *site && it.count >= limits.repeats;
    let ripe: Vec<_> = slow.iter().filter(|it| is_ripe(it.0, it.1)).map(|it| (it.0.clone(), it.1.clone())).collect();
    for (form, _) in &ripe {
        slow.remove(form);
    }
    ripe
}

async fn make(content: &Content, site: &Arc<Site>, form: Form, slow: &Slow) -> Result<()> {
    let Ok(collection) = collection::load(content, site, &form.collection).await else { return Ok(()) };
    let limits = &content.limits().auto_index;
    if !site.builds_online() && count(site, &collection).await? > limits.items {
        tracing::warn!(
            site = %site.id, collection = form.collection, fields = form.definition.names(),
            "slow queries: an index would help, but writes would wait too long while the server makes it"
        );
        return Ok(());
    }
    let why = Why {
        queries: slow.count,
        slowest_milliseconds: u64::try_from(slow.slowest).unwrap_or(0),
        window_minutes: u64::try_from(limits.window / 60_000).unwrap_or(0),
    };
    tracing::info!(
        site = %site.id, collection = form.collection, fields = form.definition.names(), ?why,
        "slow queries: making an index"
    );
    for name in consent::names(&form.definition) {
        let (definition, why) = (form.definition.clone(), Some(why.clone()));
        let request = IndexRequest { manager: access::server(), name, definition, source: Source::Auto, why };
        match step::request(content, site, &form.collection, request).await {
            // The name is taken, or there is such an index by now: another name tells which.
            Err(fault) if fault.code() == Code::IndexExists => {}
            Err(fault) if fault.code() == Code::IndexLimit || fault::is_collection_gone(&fault) => return Ok(()),
            // The field was declared encrypted since the queries came.
            Err(fault) if fault.code() == Code::NotSupported => return Ok(()),
            made => return made.map(|_| ()),
        }
    }
    Ok(())
}

async fn write_uses(content: &Content, site: &Arc<Site>) -> Result<()> {
    let used = content.state.query_statistics.take_used(&site.id);
    if used.is_empty() {
        return Ok(());
    }
    let now = content.state.world.now();
    let written = site.write_with((site.id.clone(), used), move |tx, (site, used)| {
        boxed!({
            for (collection, number) in used {
                let sql = "update stoa.content_index set used = $1 where site = $2 and collection = $3 and number = $4";
                tx.send(sql, params![now, site, *collection, *number]).await?;
            }
            Ok(())
        })
    });
    written.await
}

async fn drop_unused(content: &Content, site: &Arc<Site>) -> Result<()> {
    let (site_id, now) = (site.id.clone(), content.state.world.now());
    let all = site
        .read(ReaderPool::Point, move |tx| boxed!(Ok(of_site(tx, &site_id, &[Status::Active, Status::Failed]).await?)));
    let limit = now - content.limits().auto_index.unused;
    for (collection, index) in all.await?.into_iter().filter(|it| it.1.source == Source::Auto && it.1.used <= limit) {
        tracing::info!(site = %site.id, index = index.name, "an index that the server made is no longer used");
        let dropped = site.write_with((site.clone(), index), move |tx, (site, index)| {
            let change = Transition { next: Status::Dropping, now };
            boxed!(step::transition(tx, site, collection, index, change, &access::upkeep()).await)
        });
        dropped.await?;
        content.state.schema_cache.forget_number(&site.id, collection);
        content.state.build_queue.add(site);
    }
    Ok(())
}

async fn count(site: &Site, collection: &Collection) -> Result<i64> {
    let sql = format!("select count(*) from {}", collection.statements.name);
    let count = site.read(ReaderPool::Scan, move |tx| boxed!(Ok(tx.row(&sql, &[], |row| row.get(0)).await?)));
    Ok(count.await?.unwrap_or(0))
}

/// The index that would serve a query, were all items in its scope: the fields that are given, then the order, or else
/// a range.
fn serving_index(query: &Answered<'_>) -> Option<IndexDefinition> {
    if !matches!(query.scope, Scope::Everything | Scope::OwnedBy(_)) {
        return None;
    }
    let tests: &[Filter] = match query.filter {
        Filter::And(list) => list,
        one => std::slice::from_ref(one),
    };
    let on_path = tests.iter().filter_map(|it| match it {
        Filter::Test(field @ Field::Path(_), test) => Some((field, test)),
        _ => None,
    });
    let mut fields: Vec<IndexField> = Vec::new();
    let mut add = |field: &Field, direction: Direction| {
        let order = match direction {
            Direction::Ascending => IndexOrder::Asc,
            Direction::Descending => IndexOrder::Desc,
        };
        let path = field.name().into_owned();
        if fields.len() < 3 && fields.iter().all(|it| it.path != path) {
            fields.push(IndexField { path, order });
        }
    };
    let (given, others): (Vec<_>, Vec<_>) = on_path.partition(|it| matches!(it.1, Test::Equal(_) | Test::In(_)));
    given.iter().for_each(|(field, _)| add(field, Direction::Ascending));
    let range = others.iter().find(|it| matches!(it.1, Test::Compare(..)));
    let keys: &[Key] = match query.order {
        Some(Order::Keys(keys)) => keys,
        _ => &[],
    };
    // An order by times alone is the system's; what the filter leaves is sorted soon enough.
    let by_path = keys.iter().any(|it| matches!(it.field, Field::Path(_)));
    match (range, by_path) {
        (Some((field, _)), _) => add(field, Direction::Ascending),
        (None, true) => {
            keys.iter().filter(|it| !matches!(it.field, Field::Id)).for_each(|it| add(&it.field, it.direction));
        }
        (None, false) => {}
    }
    if fields.is_empty() {
        // What texts begin with is folded.
        let (field, _) = others.iter().find(|it| matches!(it.1, Test::StartsWith(_)))?;
        let fields = vec![IndexField { path: field.name().into_owned(), order: IndexOrder::Asc }];
        return Some(IndexDefinition { fields, unique: false, case_insensitive: true });
    }
    let is_short = fields.iter().all(|it| it.path.chars().count() <= 128);
    is_short.then_some(IndexDefinition { fields, unique: false, case_insensitive: false })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use stoa_query::{Context, Schema, resolve, wire};

    fn of(query: serde_json::Value) -> Option<String> {
        let members = json!({ "query": query });
        let query = wire::Query::parse(members.as_object().expect("an object"), &stoa_query::QueryLimits::default())
            .expect("a query");
        let context = Context { schema: &Schema::default(), scope: Scope::Everything, seed: 0 };
        let plan = resolve::find(&query, context).expect("a plan");
        let answered = Answered { scope: &plan.scope, filter: &plan.filter, order: Some(&plan.order), began: 0 };
        let definition = serving_index(&answered)?;
        let field = |it: &IndexField| format!("{}{}", it.path, if it.order == IndexOrder::Desc { "-" } else { "" });
        let fields: Vec<_> = definition.fields.iter().map(field).collect();
        Some(format!("{}{}", fields.join(" "), if definition.case_insensitive { " folded" } else { "" }))
    }

    #[test]
    fn wanted_index_follows_from_the_query() {
        let sort = |name: &str, order: &str| json!([{ "fieldName": name, "order": order }]);
        for (query, wants) in [
            (json!({}), None),
            (json!({ "sort": sort("_createdDate", "ASC") }), None),
            (json!({ "filter": { "a": 1 }, "sort": sort("b", "DESC") }), Some("a b-")),
            (json!({ "filter": { "a": 1, "b": { "$in": ["x"] } }, "sort": sort("c", "ASC") }), Some("a b c")),
            (json!({ "filter": { "a": 1, "b": 2, "c": 3, "d": 4 } }), Some("a b c")),
            (json!({ "filter": { "a": { "$gt": 1 } }, "sort": sort("b", "ASC") }), Some("a")),
            (json!({ "filter": { "n": { "$gt": 1 }, "a": 1 } }), Some("a n")),
            (json!({ "sort": sort("x.y", "DESC") }), Some("x.y-")),
            (json!({ "filter": { "a": { "$startsWith": "x" } } }), Some("a folded")),
            (json!({ "filter": { "a": { "$contains": "x" } } }), None),
            (json!({ "filter": { "$or": [{ "a": 1 }, { "b": 2 }] } }), None),
            (json!({ "filter": { "a": { "$ne": 1 } } }), None),
            (json!({ "filter": { "_id": "x" } }), None),
        ] {
            assert_eq!(of(query.clone()).as_deref(), wants, "{query}");
        }
    }
}
