//! Tags of the badges that members have.

use crate::{
    Identity,
    community::{AT_ONCE, TieFilter, decides, kind::BADGE, malformed, tie},
};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use stoa_kernel::{Caller, Result};
use stoa_store::{Site, boxed};

/// Tags that badges of members get and lose, public and private ones.
#[derive(Debug, Clone)]
pub struct Retag([(&'static str, Tags, Tags); 2]);

type Tags = BTreeSet<String>;

/// Most tags of a list; those behind in the order of their ids are dropped.
const MOST: usize = 100;

impl Retag {
    /// Reads `assignTags` and `unassignTags` of a request; a list of anything but texts counts as none.
    pub fn parse(object: &Value) -> Self {
        let tags = |what: &str, list: &str| tag_ids(&object[what][list]["tagIds"]);
        Self(["tags", "privateTags"].map(|list| (list, tags("assignTags", list), tags("unassignTags", list))))
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
    /// Changes the tags of badges that members have, by the ids of the ties; answers for each whether it was there.
    ///
    /// # Errors
    /// [`stoa_kernel::Code::Forbidden`]; [`stoa_kernel::Code::Validation`].
    pub async fn retag(&self, site: &Site, caller: &Caller, ids: &[String], with: &Retag) -> Result<Vec<bool>> {
        if ids.is_empty() || ids.len() > AT_ONCE {
            return Err(malformed("ids", format!("1 to {AT_ONCE} ids are expected")));
        }
        decides(caller)?;
        let (site_id, ids, with) = (site.id.clone(), ids.to_vec(), with.clone());
        site.write(move |tx| {
            let (site, ids, with) = (site_id.clone(), ids.clone(), with.clone());
            boxed!({
                let mut found = Vec::with_capacity(ids.len());
                for id in ids {
                    let tie = tie::get(tx, &site, BADGE.name, &id).await?;
                    found.push(tie.is_some());
                    if let Some(tie) = tie {
                        tie::write(tx, &site, BADGE.name, &id, with.apply(tie.doc)).await?;
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
    pub async fn retag_all(&self, site: &Site, caller: &Caller, filter: &TieFilter, with: &Retag) -> Result<()> {
        decides(caller)?;
        let mut after = None;
        loop {
            let (site_id, filter, with) = (site.id.clone(), filter.clone(), with.clone());
            let write = site.write(move |tx| {
                let (site, filter, with, after) = (site_id.clone(), filter.clone(), with.clone(), after.clone());
                boxed!({
                    let ties = tie::page(tx, &site, BADGE.name, &filter, after.as_ref(), tie::AT_ONCE).await?;
                    let last = ties.last().filter(|_| ties.len() == tie::AT_ONCE).map(tie::Tie::place);
                    for tie in ties {
                        tie::write(tx, &site, BADGE.name, &tie.id, with.apply(tie.doc)).await?;
                    }
                    Ok(last)
                })
            });
            after = write.await?;
            if after.is_none() {
                return Ok(());
            }
        }
    }
}
