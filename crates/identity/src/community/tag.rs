//! Tags of the badges that members have.

use crate::{
    Identity,
    community::{
        check::{AT_ONCE, check_owner, malformed},
        kind::BADGE,
        relation::{self, Relation, RelationFilter, RelationQuery},
    },
    member::validator::{Validator, ValueType},
};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use stoa_kernel::{Caller, Fault, Result, Violation};
use stoa_store::{Site, boxed};

/// Tags that badges of members get and lose, public and private ones.
#[derive(Debug, Clone)]
pub struct TagUpdate([(&'static str, Tags, Tags); 2]);

type Tags = BTreeSet<String>;

/// Most tags of a list; those behind in the order of their ids are dropped.
const MOST: usize = 100;

const LISTS: [&str; 2] = ["tags", "privateTags"];
/// Most bytes of the tags that one request gives a badge, as JSON text.
const MOST_BYTES: usize = 8_192;

/// What is wrong with the tags of a request; `path` is their place in it. Null is no tags.
pub(super) fn violations(tags: &Value, path: &str) -> Vec<Violation> {
    let mut validator = Validator(Vec::new());
    if tags.is_null() {
        return validator.0;
    }
    validator.value(ValueType::Object, tags, path);
    for list in LISTS {
        let (sent, path) = (&tags[list], format!("{path}.{list}"));
        if !sent.is_null() {
            validator.value(ValueType::Object, sent, &path);
        }
        let ids = &sent["tagIds"];
        if !ids.is_null() && !ids.is_string() {
            validator.strings(ids, &format!("{path}.tagIds"));
        }
    }
    if validator.0.is_empty() && tags.to_string().len() > MOST_BYTES {
        let why = format!("at most {MOST_BYTES} bytes of JSON text");
        validator.0.push(Violation::new(path, "MAX_LENGTH", why).with("threshold", MOST_BYTES));
    }
    validator.0
}

impl TagUpdate {
    /// Reads `assignTags` and `unassignTags` of a request.
    ///
    /// # Errors
    /// [`stoa_kernel::Code::Validation`] for what is no object of lists of texts, and for too much.
    pub fn parse(object: &Value) -> Result<Self> {
        let wrong = ["assignTags", "unassignTags"].map(|what| violations(&object[what], what)).concat();
        if !wrong.is_empty() {
            return Err(Fault::invalid(wrong));
        }
        let tags = |what: &str, list: &str| tag_ids(&object[what][list]["tagIds"]);
        Ok(Self(LISTS.map(|list| (list, tags("assignTags", list), tags("unassignTags", list)))))
    }

    fn apply(&self, mut doc: Map<String, Value>) -> Map<String, Value> {
        let tags = doc.entry("tags").or_insert_with(|| json!({}));
        for (list, added, gone) in &self.0 {
            let now = tag_ids(&tags[list]["tagIds"]);
            let now: Vec<&String> = now.union(added).filter(|it| !gone.contains(*it)).take(MOST).collect();
            tags[*list] = json!({ "tagIds": now });
        }
        doc
    }
}

fn tag_ids(list: &Value) -> Tags {
    let text = |it: &Value| it.as_str().map(str::to_owned);
    match list {
        Value::Array(list) => list.iter().map(text).collect::<Option<_>>().unwrap_or_default(),
        one => text(one).into_iter().collect(),
    }
}

impl Identity {
    /// Changes the tags of badges that members have, by the ids of the relations; answers for each whether it was there.
    ///
    /// # Errors
    /// [`stoa_kernel::Code::Forbidden`]; [`stoa_kernel::Code::Validation`].
    pub async fn tags_update(
        &self,
        site: &Site,
        caller: &Caller,
        ids: &[String],
        with: &TagUpdate,
    ) -> Result<Vec<bool>> {
        if ids.is_empty() || ids.len() > AT_ONCE {
            return Err(malformed("ids", format!("1 to {AT_ONCE} ids are expected")));
        }
        check_owner(caller)?;
        site.write_with((site.id.clone(), ids.to_vec(), with.clone()), |tx, (site, ids, with)| {
            boxed!({
                let mut found = Vec::with_capacity(ids.len());
                for id in ids {
                    let relation = relation::get(tx, site, BADGE.name, id).await?;
                    found.push(relation.is_some());
                    if let Some(relation) = relation {
                        relation::write(tx, site, BADGE.name, id, with.apply(relation.doc)).await?;
                    }
                }
                Ok(found)
            })
        })
        .await
    }

    /// Changes the tags of all badges that members have and a filter finds, in pieces.
    ///
    /// # Errors
    /// [`stoa_kernel::Code::Forbidden`].
    pub async fn tags_update_all(
        &self,
        site: &Site,
        caller: &Caller,
        filter: &RelationFilter,
        with: &TagUpdate,
    ) -> Result<()> {
        check_owner(caller)?;
        let mut after = None;
        loop {
            let write = site.write_with(
                (site.id.clone(), filter.clone(), with.clone(), after.take()),
                |tx, (site, filter, with, after)| {
                    boxed!({
                        let limit = relation::AT_ONCE;
                        let query = RelationQuery { kind: BADGE.name, filter, after: after.as_ref(), limit };
                        let page = relation::page(tx, site, query).await?;
                        let last = page.last().filter(|_| page.len() == limit).map(Relation::keyset);
                        for relation in page {
                            let doc = with.apply(relation.doc);
                            relation::write(tx, site, BADGE.name, &relation.id, doc).await?;
                        }
                        Ok(last)
                    })
                },
            );
            after = write.await?;
            if after.is_none() {
                return Ok(());
            }
        }
    }
}
