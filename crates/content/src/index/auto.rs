//! Indexes that the server makes by itself: slow queries are noticed, what would serve them is built, and
//! what nobody uses any more is dropped again.
//!
//! All of it is kept in memory, bounded, and costs a query nothing unless it was slow or was served by an
//! index of ours. A form of query that was slow [`AutoIndex::repeats`] times within
//! [`AutoIndex::window`] is worth an index. Such indexes take none of the places of a collection's makers;
//! a collection has at most [`crate::Limits::auto_indexes`] of them.

use crate::{
    Collection, Content, Why, collection,
    manage::indexes::{Wish, step},
    schema::index::{Definition, IndexField, IndexOrder, Source, Status, of_site},
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
use stoa_store::{Lane, Site, boxed, setting};

/// Forms of slow queries, and indexes in use, that are remembered.
const MOST: usize = 1000;
/// The site's setting: `"on"` or `"off"` as JSON.
const SETTING: &str = "autoIndex";

/// When an index is worth making, and when it is no longer.
#[derive(Debug, Clone)]
pub struct AutoIndex {
    /// Whether the server makes indexes on sites that don't say otherwise.
    pub is_on: bool,
    /// A query that takes so many milliseconds is slow.
    pub slow: Millis,
    /// So many slow ones of a form, within this time, are worth an index.
    pub repeats: u32,
    pub window: Millis,
    /// An index that served nobody for so long is dropped.
    pub unused: Millis,
    /// Items beyond which none is made where writers would wait for it.
    pub items: i64,
}

impl Default for AutoIndex {
    fn default() -> Self {
        let (minute, day) = (60_000, 86_400_000);
        Self { is_on: true, slow: 100, repeats: 20, window: 60 * minute, unused: 14 * day, items: 500_000 }
    }
}

/// What was noticed since it was last asked for.
#[derive(Default)]
pub(crate) struct Noticed {
    slow: Mutex<HashMap<Form, Slow>>,
    /// The AUTO indexes that served somebody: site, collection, number.
    used: Mutex<HashSet<(SiteId, i64, i64)>>,
}

/// Queries that one index would serve.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Form {
    site: SiteId,
    collection: String,
    definition: Definition,
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

impl Content {
    /// Takes note of a query that may have looked at many items.
    pub(crate) fn query_answered(&self, site: &Site, collection: &Collection, query: &Answered<'_>) {
        if collection.indexes.iter().any(|it| it.source == Source::Auto && it.status == Status::Active) {
            self.note_use(site, collection, query);
        }
        let (now, limits) = (self.world().now(), &self.limits().auto_index);
        let took = now - query.began;
        if took < limits.slow {
            return;
        }
        let Some(definition) = wanted(query) else { return };
        if collection.indexes.iter().any(|it| it.definition.covers(&definition)) {
            return;
        }
        let form = Form { site: site.id.clone(), collection: collection.id.to_string(), definition };
        let mut slow = self.noticed().slow.lock();
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

    fn note_use(&self, site: &Site, collection: &Collection, query: &Answered<'_>) {
        let served = compile::served_by(&collection.schema.indexes, query.scope, query.filter, query.order);
        let is_auto =
            |number: &i64| collection.indexes.iter().any(|it| it.number == *number && it.source == Source::Auto);
        if let Some(number) = served.filter(is_auto) {
            let mut used = self.noticed().used.lock();
            if used.len() < MOST {
                used.insert((site.id.clone(), collection.table.number, number));
            }
        }
    }

    /// What the job does now and then: writes down which indexes of ours were used, asks for those that
    /// are worth making on this site, and drops those that nobody uses.
    ///
    /// # Errors
    /// When the database can't be asked.
    pub async fn auto_indexes_tend(&self, site: &Arc<Site>) -> Result<()> {
        self.flush_uses(site).await?;
        let is_on = self.auto_index_is_on(site).await?;
        for (form, slow) in self.ripe(&site.id) {
            if is_on {
                self.make(site, form, &slow).await?;
            }
        }
        self.drop_unused(site).await
    }

    /// Whether the server makes indexes on this site by itself.
    ///
    /// # Errors
    /// When the database can't be asked.
    pub async fn auto_index_is_on(&self, site: &Site) -> Result<bool> {
        let key = site.id.clone();
        let found = site.read(Lane::Point, move |tx| boxed!(Ok(setting::get(tx, &key, SETTING).await?)));
        Ok(found.await?.map_or(self.limits().auto_index.is_on, |it| it == "\"on\""))
    }

    /// Sets it for this site; nothing goes back to what the configuration says.
    ///
    /// # Errors
    /// When the database can't be written.
    pub async fn auto_index_set(&self, site: &Arc<Site>, is_on: Option<bool>) -> Result<()> {
        let key = site.id.clone();
        site.write(move |tx| {
            let key = key.clone();
            boxed!({
                match is_on {
                    Some(true) => setting::put(tx, &key, SETTING, "\"on\"".to_owned()).await?,
                    Some(false) => setting::put(tx, &key, SETTING, "\"off\"".to_owned()).await?,
                    None => setting::remove(tx, &key, SETTING).await?,
                }
                Ok(())
            })
        })
        .await
    }

    /// The forms that are worth an index; they are counted anew from here.
    fn ripe(&self, site: &SiteId) -> Vec<(Form, Slow)> {
        let (now, limits) = (self.world().now(), &self.limits().auto_index);
        let mut slow = self.noticed().slow.lock();
        slow.retain(|_, it| now - it.first < limits.window);
        let is_ripe = |form: &Form, it: &Slow| form.site == *site && it.count >= limits.repeats;
        let ripe: Vec<_> =
            slow.iter().filter(|it| is_ripe(it.0, it.1)).map(|it| (it.0.clone(), it.1.clone())).collect();
        for (form, _) in &ripe {
            slow.remove(form);
        }
        ripe
    }

    async fn make(&self, site: &Arc<Site>, form: Form, slow: &Slow) -> Result<()> {
        let Ok(collection) = self.collection(site, &form.collection).await else { return Ok(()) };
        let limits = &self.limits().auto_index;
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
        tracing::info!(site = %site.id, collection = form.collection, fields = form.definition.names(), ?why, "slow queries: making an index");
        let names: String = form.definition.names().chars().take(100).collect();
        let mut name = format!("auto-{names}");
        for n in 2..10 {
            let wish = Wish {
                name: name.clone(),
                definition: form.definition.clone(),
                source: Source::Auto,
                why: Some(why.clone()),
            };
            match self.index_wish(site, &form.collection, wish).await {
                // Somebody has the name, or has such an index by now: another name tells which.
                Err(fault) if fault.code() == Code::IndexExists => name = format!("auto-{names}-{n}"),
                Err(fault) if fault.code() == Code::IndexLimit || collection::is_gone(&fault) => return Ok(()),
                // The field was declared encrypted since the queries came.
                Err(fault) if fault.code() == Code::NotSupported => return Ok(()),
                made => return made.map(|_| ()),
            }
        }
        Ok(())
    }

    async fn flush_uses(&self, site: &Arc<Site>) -> Result<()> {
        let mut mine = Vec::new();
        self.noticed().used.lock().retain(|(id, collection, number)| {
            let is_mine = *id == site.id;
            if is_mine {
                mine.push((*collection, *number));
            }
            !is_mine
        });
        if mine.is_empty() {
            return Ok(());
        }
        let (key, now) = (site.id.clone(), self.world().now());
        site.write(move |tx| {
            let (key, mine) = (key.clone(), mine.clone());
            boxed!({
                for (collection, number) in mine {
                    let sql = "update stoa.content_index set used = $1 \
                               where site = $2 and collection = $3 and number = $4";
                    tx.send(sql, params![now, &key, collection, number]).await?;
                }
                Ok(())
            })
        })
        .await
    }

    async fn drop_unused(&self, site: &Arc<Site>) -> Result<()> {
        let (key, now) = (site.id.clone(), self.world().now());
        let all = site
            .read(Lane::Point, move |tx| boxed!(Ok(of_site(tx, &key, &[Status::Active, Status::Failed]).await?)))
            .await?;
        let limit = now - self.limits().auto_index.unused;
        for (collection, index) in all.into_iter().filter(|it| it.1.source == Source::Auto && it.1.used <= limit) {
            tracing::info!(site = %site.id, index = index.name, "nobody uses an index that the server made");
            let place = site.clone();
            site.write(move |tx| {
                let (site, index) = (place.clone(), index.clone());
                boxed!(step(tx, &site, collection, &index, Status::Dropping, now).await)
            })
            .await?;
            self.cache().forget_number(&site.id, collection);
            self.index_work().add(site);
        }
        Ok(())
    }
}

async fn count(site: &Site, collection: &Collection) -> Result<i64> {
    let sql = format!("select count(*) from {}", collection.texts.name);
    let count = site.read(Lane::Scan, move |tx| boxed!(Ok(tx.row(&sql, &[], |row| row.get(0)).await?)));
    Ok(count.await?.unwrap_or(0))
}

/// The index that would serve a query: the fields that are given, then the order, or else a range.
fn wanted(query: &Answered<'_>) -> Option<Definition> {
    // An owner's items are found by the system's index.
    if *query.scope != Scope::Everything {
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
        return Some(Definition { fields, unique: false, case_insensitive: true });
    }
    let is_short = fields.iter().all(|it| it.path.chars().count() <= 128);
    is_short.then_some(Definition { fields, unique: false, case_insensitive: false })
}

impl Definition {
    /// Whether this index does for another's queries as well: its fields come first.
    fn covers(&self, other: &Self) -> bool {
        self.case_insensitive == other.case_insensitive && self.fields.starts_with(&other.fields)
    }

    fn names(&self) -> String {
        self.fields.iter().map(|it| it.path.as_str()).collect::<Vec<_>>().join("-")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use stoa_query::{Context, Schema, resolve, wire};

    fn of(query: serde_json::Value) -> Option<String> {
        let members = json!({ "query": query });
        let query = wire::Query::parse(members.as_object().expect("an object"), &stoa_query::Limits::default())
            .expect("a query");
        let context = Context { schema: &Schema::default(), scope: Scope::Everything, seed: 0 };
        let plan = resolve::find(&query, context).expect("a plan");
        let answered = Answered { scope: &plan.scope, filter: &plan.filter, order: Some(&plan.order), began: 0 };
        let definition = wanted(&answered)?;
        let field = |it: &IndexField| format!("{}{}", it.path, if it.order == IndexOrder::Desc { "-" } else { "" });
        let fields: Vec<_> = definition.fields.iter().map(field).collect();
        Some(format!("{}{}", fields.join(" "), if definition.case_insensitive { " folded" } else { "" }))
    }

    #[test]
    fn the_index_that_a_query_wants() {
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

    #[test]
    fn a_longer_index_does_for_a_shorter_one() {
        let definition = |paths: &[&str]| Definition {
            fields: paths.iter().map(|it| IndexField { path: (*it).to_owned(), order: IndexOrder::Asc }).collect(),
            unique: false,
            case_insensitive: false,
        };
        assert!(definition(&["a", "b"]).covers(&definition(&["a"])));
        assert!(!definition(&["a"]).covers(&definition(&["a", "b"])));
        assert!(!definition(&["b", "a"]).covers(&definition(&["a"])));
    }
}
