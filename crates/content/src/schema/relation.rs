//! Relations: two multi-reference fields on two collections (or on one) that read the same links
//! (docs/protocol/content.md §21.6; decision 10).
//!
//! The links are kept beside the items. Collections stand in a relation by number, so a collection that
//! takes a deleted one's id inherits nothing.

use crate::schema::field::{Field, is_multi};
use std::collections::HashMap;
use stoa_kernel::{Result, SiteId};
use stoa_sql::params;
use stoa_store::{Row, Tx};

/// Which of a relation's two fields is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Side {
    /// The field that was declared.
    Referring,
    /// Its inverse field, which came with it on the other collection.
    Referenced,
}

/// A multi-reference field's side of its relation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Link {
    pub relation: i64,
    pub side: Side,
    /// The number of the collection on the other side.
    pub other: i64,
}

/// A field at one end of a relation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct End {
    pub collection: i64,
    pub field: String,
}

/// A row of `stoa.relation`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Relation {
    pub number: i64,
    pub referring: End,
    pub referenced: End,
}

impl Side {
    /// The column with the ids of the items that have the field.
    pub(crate) fn source_column(self) -> &'static str {
        match self {
            Self::Referring => "referring",
            Self::Referenced => "referenced",
        }
    }

    /// The column with the ids of the items it leads to.
    pub(crate) fn target_column(self) -> &'static str {
        match self {
            Self::Referring => "referenced",
            Self::Referenced => "referring",
        }
    }
}

impl Relation {
    /// The ends that are fields of this collection: two when it refers to itself.
    pub(crate) fn ends(&self, collection: i64) -> impl Iterator<Item = (Side, &End, &End)> {
        let ends = [
            (Side::Referring, &self.referring, &self.referenced),
            (Side::Referenced, &self.referenced, &self.referring),
        ];
        ends.into_iter().filter(move |(_, end, _)| end.collection == collection)
    }
}

/// The relations that a collection is part of.
pub(crate) async fn relations(tx: &mut Tx<'_>, site: &SiteId, collection: i64) -> Result<Vec<Relation>> {
    let sql = "select number, referring, referring_field, referenced, referenced_field from stoa.relation \
               where site = $1 and (referring = $2 or referenced = $2) and deleted is null order by number";
    let read = |row: &Row<'_>| {
        Ok(Relation {
            number: row.get(0)?,
            referring: End { collection: row.get(1)?, field: row.get(2)? },
            referenced: End { collection: row.get(3)?, field: row.get(4)? },
        })
    };
    Ok(tx.rows(sql, &params![site, collection], read).await?)
}

/// The links of a collection's multi-reference fields, by key. A collection without such a field costs
/// no statement.
pub(crate) async fn links(
    tx: &mut Tx<'_>,
    site: &SiteId,
    collection: i64,
    fields: &[Field],
) -> Result<HashMap<String, Link>> {
    if !fields.iter().any(is_multi) {
        return Ok(HashMap::new());
    }
    let relations = relations(tx, site, collection).await?;
    let links = relations.iter().flat_map(|relation| {
        let link = |(side, end, other): (Side, &End, &End)| {
            (end.field.clone(), Link { relation: relation.number, side, other: other.collection })
        };
        relation.ends(collection).map(link).collect::<Vec<_>>()
    });
    Ok(links.collect())
}
