//! A segment is begun, written in pieces, and published.

use super::row::{Index, StoredSegment};
use stoa_kernel::{Fault, Millis, Result};
use stoa_search::{lists::Row, rows::Rows, segment::Segment};
use stoa_sql::{Value, params};
use stoa_store::{InsertRows, Tx};

/// The most rows and bytes of lists that one transaction writes: 10 to 15 ms.
const ROWS: usize = 1_500;
const BYTES: usize = 1_000_000;
/// The most rows, and bytes of lists, that one transaction deletes.
const DELETED: i64 = 1_500;
const DELETED_BYTES: i64 = 4_000_000;

/// A segment on its way into the tables.
#[derive(Debug, Clone)]
pub struct NewSegment {
    pub segment: Segment,
    pub level: i64,
    /// That of its words, in small letters; empty for the primary text.
    pub language: String,
}

/// Rows of lists that one transaction writes, by the places of their segments.
pub(super) type Piece = Vec<(usize, Vec<Row>)>;

/// What is seen from one moment to the next.
#[derive(Debug, Clone, Default)]
pub struct Publication {
    /// All dead rows of segments in which more are dead now.
    pub dead: Vec<(i64, Rows)>,
    /// The segments that it was merged of.
    pub replaced: Vec<i64>,
    pub now: Millis,
}

/// Whether one transaction writes so many rows and bytes of lists.
pub(super) fn fits(rows: usize, bytes: usize) -> bool {
    rows <= ROWS && bytes <= BYTES
}

/// The rows of a segment as transactions write them.
pub fn pieces(segment: &Segment) -> Vec<Vec<Row>> {
    let (mut pieces, mut bytes) = (Vec::<Vec<Row>>::new(), 0);
    for row in segment.rows() {
        let size = row.part.bytes.len();
        match pieces.last_mut().filter(|it| it.len() < ROWS && bytes + size <= BYTES) {
            Some(piece) => piece.push(row),
            None => {
                pieces.push(vec![row]);
                bytes = 0;
            }
        }
        bytes += size;
    }
    pieces
}

/// The rows of several segments in few transactions.
pub(super) fn together(segments: &[NewSegment]) -> Vec<Piece> {
    let (mut all, mut count, mut bytes) = (Vec::<Piece>::new(), 0, 0);
    for (n, it) in segments.iter().enumerate() {
        for rows in pieces(&it.segment) {
            let size = rows.iter().map(|it| it.part.bytes.len()).sum::<usize>();
            let fits = fits(count + rows.len(), bytes + size);
            (count, bytes) = if fits { (count + rows.len(), bytes + size) } else { (rows.len(), size) };
            match all.last_mut().filter(|_| fits) {
                Some(piece) => piece.push((n, rows)),
                None => all.push(vec![(n, rows)]),
            }
        }
    }
    all
}

impl Index {
    /// Gives a segment its number. It isn't seen yet.
    pub async fn begin(&self, tx: &mut Tx<'_>, new: &NewSegment) -> Result<StoredSegment> {
        let NewSegment { segment, level, language } = new;
        let sql = "select coalesce(max(segment), 0) + 1 from stoa.search_segment where site = $1 and collection = $2";
        let number = tx.row(sql, &params![&self.site, self.collection], |row| row.get::<i64>(0)).await?.unwrap_or(1);
        let (version, items) = (segment.version(), segment.items().len());
        let rows = segment.items();
        let (first, last) = (rows.first().unwrap_or_default(), rows.last().unwrap_or_default());
        let sql = "insert into stoa.search_segment (site, collection, segment, state, level, version, items, first_row, \
                   last_row, dead, language) values ($1, $2, $3, 'WRITING', $4, $5, $6, $7, $8, $9, $10)";
        let row = params![
            &self.site,
            self.collection,
            number,
            *level,
            i64::from(version),
            items as i64,
            first as i64, // Rows are below 2^63.
            last as i64,
            segment.dead().to_bytes(),
            language
        ];
        tx.execute(sql, &row).await?;
        let (level, language, dead) = (*level, language.clone(), segment.dead().clone());
        Ok(StoredSegment { number, language, level, version, items, first, last, dead, died: None })
    }

    /// Writes a piece of segments, each of which its first rows begin. `numbers`: those that the segments have by now.
    pub(super) async fn put_piece(
        &self,
        tx: &mut Tx<'_>,
        segments: &[NewSegment],
        mut numbers: Vec<Option<i64>>,
        piece: &Piece,
    ) -> Result<Vec<Option<i64>>> {
        for (n, rows) in piece {
            let number = match numbers[*n] {
                Some(it) => it,
                None => self.begin(tx, &segments[*n]).await?.number,
            };
            self.put(tx, number, rows).await?;
            numbers[*n] = Some(number);
        }
        Ok(numbers)
    }

    /// Writes a piece of a segment that was begun.
    pub async fn put(&self, tx: &mut Tx<'_>, segment: i64, rows: &[Row]) -> Result<()> {
        let columns = |Row { term, number, part }: &Row| {
            let list = part.bytes.clone();
            Vec::from(params![&self.site, self.collection, segment, term, *number, part.count, list])
        };
        let rows: Vec<Vec<Value>> = rows.iter().map(columns).collect();
        let insert = InsertRows {
            into: "insert into stoa.search_list (site, collection, segment, term, part, postings, list)",
            values: &["$1", "$2", "$3", "$4", "$5", "$6", "$7"].map(String::from),
            key: "term",
            key_index: 3,
            replace: None,
            keeps_order: true,
            rows: &rows.iter().map(Vec::as_slice).collect::<Vec<_>>(),
        };
        tx.insert_rows(insert).await?;
        Ok(())
    }

    /// Lets questions see segments, and no longer those that they were merged of. In the transaction that keeps the lease
    /// ([`stoa_store::Held::keep`]): who lost it publishes nothing.
    ///
    /// `segments` are those whose rows are all written; none where items only went.
    pub async fn publish(&self, tx: &mut Tx<'_>, segments: &[i64], publication: &Publication) -> Result<()> {
        let Publication { dead, replaced, now } = publication;
        for (segment, dead) in dead {
            let sql = "update stoa.search_segment set dead = $1, died = coalesce(died, $2) \
                       where site = $3 and collection = $4 and segment = $5";
            tx.send(sql, params![dead.to_bytes(), *now, &self.site, self.collection, *segment]).await?;
        }
        for segment in replaced {
            self.enter(tx, *segment, "REMOVED").await?;
        }
        for segment in segments {
            if self.enter(tx, *segment, "LIVE").await? != 1 {
                let text = format!("segment {segment} of collection {} isn't there", self.collection);
                return Err(Fault::internal(text));
            }
        }
        Ok(())
    }

    /// Answers how many segments it met.
    async fn enter(&self, tx: &mut Tx<'_>, segment: i64, state: &str) -> Result<u64> {
        let sql = "update stoa.search_segment set state = $1 where site = $2 and collection = $3 and segment = $4";
        Ok(tx.execute(sql, &params![state, &self.site, self.collection, segment]).await?)
    }

    /// Deletes a piece of what no question reads: segments that were cut off while they were written, and those that
    /// were replaced. Answers whether there may be more. Only its writer calls it, and not between the beginning of a
    /// segment and its publication.
    pub async fn sweep(&self, tx: &mut Tx<'_>) -> Result<bool> {
        let sql =
            "select min(segment) from stoa.search_segment where site = $1 and collection = $2 and state <> 'LIVE'";
        let left = tx.row(sql, &params![&self.site, self.collection], |row| row.get::<Option<i64>>(0)).await?;
        let Some(segment) = left.flatten() else { return Ok(false) };
        let next = "select site, collection, segment, term, part, octet_length(list) as size from stoa.search_list \
                    where site = $1 and collection = $2 and segment = $3 order by term, part limit $4";
        // A part is far smaller than what may be deleted, so there is always one.
        let sql = format!(
            "delete from stoa.search_list where (site, collection, segment, term, part) in \
             (select site, collection, segment, term, part from \
             (select n.*, sum(size) over (order by term, part) as bytes from ({next}) n) m where bytes <= $5)"
        );
        let params = params![&self.site, self.collection, segment, DELETED, DELETED_BYTES];
        tx.erase(&sql, &params).await?;
        let sql = "select 1 from stoa.search_list where site = $1 and collection = $2 and segment = $3 limit 1";
        let rest = tx.row(sql, &params![&self.site, self.collection, segment], |_| Ok(())).await?;
        if rest.is_none() {
            let sql = "delete from stoa.search_segment where site = $1 and collection = $2 and segment = $3";
            tx.execute(sql, &params![&self.site, self.collection, segment]).await?;
        }
        Ok(true)
    }
}
