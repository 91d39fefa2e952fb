//! What is read of the lists of a segment.

use super::{
    memory::SearchMemory,
    row::{Index, StoredSegment},
};
use stoa_kernel::{Fault, Result};
use stoa_search::{
    Damaged,
    list::Part,
    lists::{ITEMS, Lists, Row},
    question::Question,
    rows::Rows,
    segment::Segment,
};
use stoa_sql::{Value, params};
use stoa_store::{Error, Tx};

/// Bytes of a row in memory beside its term and its list.
pub(super) const ROW_BYTES: usize = 128;

/// Lists that one statement names, one by one: PostgreSQL takes the lists of a segment for few until it has counted them,
/// and would read them all where the terms stood in a list.
const NAMED: usize = 32;

const SELECT: &str = "select term, part, postings, list from stoa.search_list \
                      where site = $1 and collection = $2 and segment = $3";

impl Index {
    /// The lists of some segments that a question reads, for each segment.
    ///
    /// # Errors
    /// [`stoa_kernel::Code::Internal`] where what is stored is damaged: the index is to be built anew. WDE0092 and
    /// UNAVAILABLE where there are more than `memory` has.
    pub async fn lists(
        &self,
        tx: &mut Tx<'_>,
        segments: &[StoredSegment],
        question: &Question,
        memory: &mut SearchMemory,
    ) -> Result<Vec<Lists>> {
        let reads = question.reads();
        let of_prefix = |term: &String| reads.prefixes.iter().any(|it| term.starts_with(it.as_str()));
        let (mut all, mut named) = (Vec::with_capacity(segments.len()), Vec::new());
        for (at, segment) in segments.iter().enumerate() {
            let (mut rows, mut terms) = (Vec::new(), reads.terms.clone());
            for prefix in &reads.like {
                terms.extend(self.like(tx, segment, prefix, question, memory).await?);
            }
            for prefix in &reads.prefixes {
                let sql = format!("{SELECT} and term >= $4 and term < $5");
                rows.extend(self.rows(tx, segment, &sql, params![prefix, end(prefix)], |it| memory.take(it)).await?);
            }
            terms.retain(|it| !of_prefix(it));
            if terms.len() > NAMED {
                // Near words of a fuzzy one: about as much is read whichever way.
                let sql = format!("{SELECT} and {}", tx.dialect().any_of("term", "$4"));
                rows.extend(self.rows(tx, segment, &sql, params![terms], |it| memory.take(it)).await?);
            } else {
                named.extend(terms.into_iter().map(|it| (at, segment.number, it)));
            }
            all.push(rows);
        }
        for some in named.chunks(NAMED) {
            for (at, row) in self.named(tx, some, memory).await? {
                all[at].push(row);
            }
        }
        let lists = |(segment, mut rows): (&StoredSegment, Vec<Row>)| {
            // One prefix may begin with another one, and a word be like two.
            rows.sort_unstable_by(|a, b| (&a.term, a.number).cmp(&(&b.term, b.number)));
            rows.dedup_by(|a, b| a.term == b.term && a.number == b.number);
            Lists::new(segment.items, segment.dead.clone(), rows).map_err(|it| self.damaged(it))
        };
        segments.iter().zip(all).map(lists).collect()
    }

    /// The rows of lists, each of a term in a segment, with the place of the segment.
    async fn named(
        &self,
        tx: &mut Tx<'_>,
        lists: &[(usize, i64, String)],
        memory: &mut SearchMemory,
    ) -> Result<Vec<(usize, Row)>> {
        let one = |n: usize| {
            // Parameters are numbered as they come.
            let (at, segment, term) = if n == 0 { (1, 4, 5) } else { (3 + 3 * n, 4 + 3 * n, 5 + 3 * n) };
            format!(
                "select cast(${at} as bigint), term, part, postings, list from stoa.search_list \
                 where site = $2 and collection = $3 and segment = ${segment} and term = ${term}"
            )
        };
        let sql = (0..lists.len()).map(one).collect::<Vec<_>>().join(" union all ");
        let mut params = Vec::with_capacity(2 + 3 * lists.len());
        for (n, (at, segment, term)) in lists.iter().enumerate() {
            params.push(Value::from(*at as i64));
            if n == 0 {
                params.extend(params![&self.site, self.collection]);
            }
            params.extend(params![*segment, term.as_str()]);
        }
        let mut refused = None;
        let read = |row: &stoa_store::Row<'_>| {
            let (at, term, list): (i64, String, Vec<u8>) = (row.get(0)?, row.get(1)?, row.get(4)?);
            kept(memory.take(ROW_BYTES + term.len() + list.len()), &mut refused)?;
            Ok(stored(term, row.get(2)?, row.get(3)?, list).map(|it| (at as usize, it)))
        };
        let rows = tx.rows(&sql, &params, read).await.map_err(Fault::from);
        refused.map_or(rows, Err)?.into_iter().collect::<Result<_, Damaged>>().map_err(|it| self.damaged(it))
    }

    /// All of a segment.
    ///
    /// # Errors
    /// As for [`Self::lists`].
    pub async fn whole(&self, tx: &mut Tx<'_>, segment: &StoredSegment) -> Result<Segment> {
        let rows = self.rows(tx, segment, SELECT, [], unbounded).await?;
        let dead = segment.dead.to_bytes();
        let whole = Segment::read(segment.version, [&dead[..]], rows).map_err(|it| self.damaged(it))?;
        if whole.items().len() == segment.items { Ok(whole) } else { Err(self.damaged(Damaged { at: 0 })) }
    }

    /// The next rows of a segment's lists behind one, in order; fewer than `most` at the end.
    ///
    /// # Errors
    /// As for [`Self::lists`].
    pub(super) async fn rows_behind(
        &self,
        tx: &mut Tx<'_>,
        segment: &StoredSegment,
        (term, number): (&str, u32),
        most: usize,
    ) -> Result<Vec<Row>> {
        let sql = format!("{SELECT} and (term, part) > ($4, $5) order by term, part limit {most}");
        self.rows(tx, segment, &sql, params![term, number], unbounded).await
    }

    /// What is dead once the items of these rows are: for each segment in which any of them is live, all its dead ones.
    ///
    /// # Errors
    /// As for [`Self::lists`].
    pub async fn buried(&self, tx: &mut Tx<'_>, rids: &Rows) -> Result<Vec<(i64, Rows)>> {
        let mut buried = Vec::new();
        for segment in self.segments(tx).await? {
            let from = rids.as_slice().partition_point(|it| *it < segment.first);
            // New rows are behind those of all segments, as a rule.
            if rids.as_slice().get(from).is_some_and(|it| *it <= segment.last) {
                let (items, mut dead) = (self.items(tx, &segment).await?, segment.dead);
                if dead.add_if(rids, &items) > 0 {
                    buried.push((segment.number, dead));
                }
            }
        }
        Ok(buried)
    }

    /// The bytes of a segment's lists.
    pub(super) async fn bytes(&self, tx: &mut Tx<'_>, segment: &StoredSegment) -> Result<u64> {
        let sql = "select cast(coalesce(sum(octet_length(list)), 0) as bigint) from stoa.search_list \
                   where site = $1 and collection = $2 and segment = $3";
        let params = params![&self.site, self.collection, segment.number];
        let bytes = tx.row(sql, &params, |row| row.get::<i64>(0)).await?;
        Ok(bytes.unwrap_or(0).unsigned_abs())
    }

    /// The rows of a segment's items.
    pub(super) async fn items(&self, tx: &mut Tx<'_>, segment: &StoredSegment) -> Result<Rows> {
        let parts = self.item_parts(tx, segment).await?;
        segment.items_in(&parts).map_err(|it| self.damaged(it))
    }

    /// The same as they are stored: [`StoredSegment::items_in`] reads them.
    pub(super) async fn item_parts(&self, tx: &mut Tx<'_>, segment: &StoredSegment) -> Result<Vec<Row>> {
        let sql = format!("{SELECT} and term = $4 order by part");
        self.rows(tx, segment, &sql, params![ITEMS], unbounded).await
    }

    /// The terms of a segment that begin so and are near enough to a word with errors.
    async fn like(
        &self,
        tx: &mut Tx<'_>,
        segment: &StoredSegment,
        prefix: &str,
        question: &Question,
        memory: &mut SearchMemory,
    ) -> Result<Vec<String>> {
        let sql = "select term from stoa.search_list where site = $1 and collection = $2 and segment = $3 \
                   and term >= $4 and term < $5 and part = 0";
        let params = params![&self.site, self.collection, segment.number, prefix, end(prefix)];
        let mut refused = None;
        let read = |row: &stoa_store::Row<'_>| {
            let term: String = row.get(0)?;
            if !question.is_like(&term) {
                return Ok(None);
            }
            kept(memory.take(ROW_BYTES + term.len()), &mut refused)?;
            Ok(Some(term))
        };
        let terms = tx.rows(sql, &params, read).await.map_err(Fault::from);
        Ok(refused.map_or(terms, Err)?.into_iter().flatten().collect())
    }

    /// `keep` is told the bytes of each row, and may refuse it.
    async fn rows<const N: usize>(
        &self,
        tx: &mut Tx<'_>,
        segment: &StoredSegment,
        sql: &str,
        more: [Value; N],
        mut keep: impl FnMut(usize) -> Result<()> + Send,
    ) -> Result<Vec<Row>> {
        let mut params = Vec::from(params![&self.site, self.collection, segment.number]);
        params.extend(more);
        let mut refused = None;
        let read = |row: &stoa_store::Row<'_>| {
            let (term, list): (String, Vec<u8>) = (row.get(0)?, row.get(3)?);
            kept(keep(ROW_BYTES + term.len() + list.len()), &mut refused)?;
            Ok(stored(term, row.get(1)?, row.get(2)?, list))
        };
        let rows = tx.rows(sql, &params, read).await.map_err(Fault::from);
        refused.map_or(rows, Err)?.into_iter().collect::<Result<_, Damaged>>().map_err(|it| self.damaged(it))
    }
}

impl StoredSegment {
    /// The rows of its items in the parts that are stored of them.
    pub(super) fn items_in(&self, parts: &[Row]) -> Result<Rows, Damaged> {
        let items = Rows::decode(parts.iter().map(|it| &it.part.bytes[..]))?;
        if items.len() == self.items { Ok(items) } else { Err(Damaged { at: 0 }) }
    }
}

/// Ends the reading where a row isn't to be kept, and keeps why.
fn kept(taken: Result<()>, refused: &mut Option<Fault>) -> Result<(), Error> {
    taken.map_err(|fault| {
        *refused = Some(fault);
        Error::Interrupted
    })
}

/// The work of the server itself is bounded by how much it reads.
fn unbounded(_: usize) -> Result<()> {
    Ok(())
}

fn stored(term: String, number: i64, count: i64, bytes: Vec<u8>) -> Result<Row, Damaged> {
    let none = Damaged { at: 0 };
    let (number, count) = (u32::try_from(number).map_err(|_| none)?, u32::try_from(count).map_err(|_| none)?);
    Ok(Row { term, number, part: Part { count, bytes } })
}

/// After all terms that begin so: no word holds the last character.
fn end(prefix: &str) -> String {
    format!("{prefix}{}", char::MAX)
}
