//! Segments as they are listed.

use std::collections::BTreeSet;
use stoa_kernel::{Fault, Millis, Result, SiteId};
use stoa_search::{Damaged, rows::Rows};
use stoa_sql::params;
use stoa_store::{Error, Row, Tx};

/// The index of a collection, by the collection's number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Index {
    pub site: SiteId,
    pub collection: i64,
}

/// A segment without its lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredSegment {
    pub number: i64,
    /// That of its words, in small letters; empty for the primary text.
    pub language: String,
    /// 0 for one that was made of items, one more than those that a merged one was made of.
    pub level: i64,
    /// That of the words in it.
    pub version: u16,
    /// How many items it was made of, and the first and the last of their rows.
    pub items: usize,
    pub first: u64,
    pub last: u64,
    /// The rows of those that were written again or removed since.
    pub dead: Rows,
    /// When the first of those was.
    pub died: Option<Millis>,
}

/// Reads [`StoredSegment`].
const SELECT: &str = "select segment, level, version, items, first_row, last_row, died, dead, language \
                      from stoa.search_segment where site = $1 and collection = $2 and state = 'LIVE'";

impl Index {
    /// The segments that questions read, by number.
    ///
    /// # Errors
    /// [`stoa_kernel::Code::Internal`] where what is stored is damaged: the index is to be built anew.
    pub async fn segments(&self, tx: &mut Tx<'_>) -> Result<Vec<StoredSegment>> {
        let sql = format!("{SELECT} order by segment");
        let rows = tx.rows(&sql, &params![&self.site, self.collection], segment).await?;
        rows.into_iter().map(|it| it.map_err(|it| self.damaged(it))).collect()
    }

    /// Those of some languages alone.
    pub(super) async fn segments_in(&self, tx: &mut Tx<'_>, languages: Vec<String>) -> Result<Vec<StoredSegment>> {
        let sql = format!("{SELECT} and {} order by segment", tx.dialect().any_of("language", "$3"));
        let rows = tx.rows(&sql, &params![&self.site, self.collection, languages], segment).await?;
        rows.into_iter().map(|it| it.map_err(|it| self.damaged(it))).collect()
    }

    /// The languages that it has segments of.
    pub(super) async fn languages(&self, tx: &mut Tx<'_>) -> Result<BTreeSet<String>> {
        let sql = "select distinct language from stoa.search_segment \
                   where site = $1 and collection = $2 and state = 'LIVE' and language <> ''";
        Ok(tx.rows(sql, &params![&self.site, self.collection], |row| row.get(0)).await?.into_iter().collect())
    }

    pub(super) fn damaged(&self, damaged: Damaged) -> Fault {
        Fault::internal(format!("collection {} of site {}: {damaged}", self.collection, self.site))
    }
}

fn segment(row: &Row<'_>) -> Result<Result<StoredSegment, Damaged>, Error> {
    let (number, level, died) = (row.get(0)?, row.get(1)?, row.get(6)?);
    let (version, items): (i64, i64) = (row.get(2)?, row.get(3)?);
    let (first, last): (i64, i64) = (row.get(4)?, row.get(5)?);
    let (dead, language): (Vec<u8>, String) = (row.get(7)?, row.get(8)?);
    let read = || {
        Some(StoredSegment {
            number,
            language,
            level,
            version: u16::try_from(version).ok()?,
            items: usize::try_from(items).ok()?,
            first: u64::try_from(first).ok()?,
            last: u64::try_from(last).ok()?,
            dead: Rows::decode([&dead[..]]).ok()?,
            died,
        })
    };
    Ok(read().ok_or(Damaged { at: 0 }))
}
