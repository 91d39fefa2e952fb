//! Segments as they are listed.

use stoa_kernel::{Fault, Result, SiteId};
use stoa_search::{Damaged, rows::Rows};
use stoa_sql::params;
use stoa_store::{Row, Tx};

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
    /// 0 for one that was made of items, one more than those that a merged one was made of.
    pub level: i64,
    /// That of the words in it.
    pub version: u16,
    /// How many items it was made of.
    pub items: usize,
    /// The rows of those that were written again or removed since.
    pub dead: Rows,
}

impl Index {
    /// The segments that questions read, by number.
    ///
    /// # Errors
    /// [`stoa_kernel::Code::Internal`] where what is stored is damaged: the index is to be built anew.
    pub async fn segments(&self, tx: &mut Tx<'_>) -> Result<Vec<StoredSegment>> {
        let sql = "select segment, level, version, items, dead from stoa.search_segment \
                   where site = $1 and collection = $2 and state = 'LIVE' order by segment";
        let read = |row: &Row<'_>| {
            let dead: Vec<u8> = row.get(4)?;
            let (version, items): (i64, i64) = (row.get(2)?, row.get(3)?);
            Ok((row.get(0)?, row.get(1)?, version, items, dead))
        };
        let rows: Vec<(i64, i64, i64, i64, Vec<u8>)> =
            tx.rows(sql, &params![&self.site, self.collection], read).await?;
        rows.into_iter().map(|row| segment(row).map_err(|it| self.damaged(it))).collect()
    }

    pub(super) fn damaged(&self, damaged: Damaged) -> Fault {
        Fault::internal(format!("collection {} of site {}: {damaged}", self.collection, self.site))
    }
}

fn segment((number, level, version, items, dead): (i64, i64, i64, i64, Vec<u8>)) -> Result<StoredSegment, Damaged> {
    let none = Damaged { at: 0 };
    let (version, items) = (u16::try_from(version).map_err(|_| none)?, usize::try_from(items).map_err(|_| none)?);
    Ok(StoredSegment { number, level, version, items, dead: Rows::decode([&dead[..]])? })
}
