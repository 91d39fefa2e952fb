//! Where a log stood when data were read, so that following it goes on exactly from there.

use super::log_row;
use crate::{
    Tx,
    position::{Position, Token},
};
use std::fmt;
use stoa_kernel::{Fault, Result, SiteId};
use stoa_sql::params;

/// The state of a site in which data were read, seen from its log: which rows tell of what those data have already.
///
/// On SQLite these are all rows up to the last one. On PostgreSQL transactions commit in another order than the one
/// in which rows are read: behind the position there are rows whose effect is in the data, and others that were still to
/// be committed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadPoint {
    pub epoch: String,
    /// Everything before it is in the data.
    pub position: Position,
    /// What else is; nothing where the position says all.
    pub visible: Option<Visible>,
}

/// The transactions behind a position whose effect was seen, as an excerpt of PostgreSQL's snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Visible {
    /// The first that had not begun.
    end: i64,
    /// Those before it that were still running, in order.
    running: Vec<i64>,
}

impl ReadPoint {
    /// Whether the data have what the row behind which this position stands tells of.
    pub fn includes(&self, row: Position) -> bool {
        row <= self.position || self.visible.as_ref().is_some_and(|it| it.includes(row))
    }

    /// The place from which following the log goes on, past [`Self::includes`].
    pub fn token(&self) -> Token {
        Token { epoch: self.epoch.clone(), position: self.position, delivered: None }
    }
}

impl Visible {
    /// Whether the effect of a row was seen.
    pub fn includes(&self, row: Position) -> bool {
        row.transaction < self.end && self.running.binary_search(&row.transaction).is_err()
    }

    /// Whether no row from this position on was seen: it says nothing any more.
    pub fn is_past(&self, position: Position) -> bool {
        position.transaction >= self.end
    }

    /// Reads what [`fmt::Display`] printed; nothing for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.split('.').map(|it| i64::from_str_radix(it, 16).ok().filter(|it| *it >= 0));
        let end = numbers.next()??;
        let running = numbers.collect::<Option<Vec<_>>>()?;
        let is_sorted = running.is_sorted_by(|a, b| a < b) && running.last().is_none_or(|it| *it < end);
        is_sorted.then_some(Self { end, running })
    }

    /// Of PostgreSQL's text for a snapshot, `xmin:xmax:running,…`; nothing where all before its end had committed.
    fn of_snapshot(text: &str) -> Option<Result<Self>> {
        if text.is_empty() {
            return None;
        }
        let read = || {
            let mut parts = text.split(':');
            let (begin, end): (i64, i64) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
            let list = parts.next()?;
            let mut running: Vec<i64> = match list.is_empty() {
                true => Vec::new(),
                false => list.split(',').map(|it| it.parse().ok()).collect::<Option<_>>()?,
            };
            running.sort_unstable();
            Some((begin, Self { end, running }))
        };
        match read() {
            Some((begin, it)) => (begin < it.end).then_some(Ok(it)),
            None => Some(Err(Fault::internal(format!("a snapshot of PostgreSQL that can't be read: {text}")))),
        }
    }
}

impl fmt::Display for Visible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}", self.end)?;
        self.running.iter().try_for_each(|it| write!(f, ".{it:x}"))
    }
}

/// The point of a transaction that sees one state of the data.
pub(crate) async fn read_point(tx: &mut Tx<'_>, site: &SiteId) -> Result<ReadPoint> {
    let sql = format!("select epoch, {} from stoa.log where site = $1", tx.dialect().visible_transactions());
    let read = |row: &crate::Row<'_>| Ok((row.get::<String>(0)?, row.get::<String>(1)?));
    let (epoch, snapshot) = tx.row(&sql, &params![site], read).await?.unwrap_or_default();
    let position = log_row::end(tx, site).await?;
    Ok(ReadPoint { epoch, position, visible: Visible::of_snapshot(&snapshot).transpose()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(transaction: i64, number: i64) -> Position {
        Position { transaction, number }
    }

    fn point(snapshot: &str) -> ReadPoint {
        let visible = Visible::of_snapshot(snapshot).transpose().expect("a snapshot");
        ReadPoint { epoch: "e".to_owned(), position: row(99, 7), visible }
    }

    #[test]
    fn rows_are_in_the_data_whose_transactions_had_committed() {
        let point = point("100:105:103,100");
        for (transaction, is_seen) in [(98, true), (100, false), (101, true), (103, false), (104, true), (105, false)] {
            assert_eq!(point.includes(row(transaction, 50)), is_seen, "{transaction}");
        }
        assert!(point.includes(row(99, 7)) && !point.visible.as_ref().is_some_and(|it| it.is_past(row(104, 50))));
        assert!(point.visible.as_ref().is_some_and(|it| it.is_past(row(105, 1))));
    }

    #[test]
    fn position_says_all_where_nothing_was_running() {
        for snapshot in ["", "105:105:"] {
            let point = point(snapshot);
            assert_eq!(point.visible, None);
            assert!(point.includes(row(99, 7)) && !point.includes(row(99, 8)), "{snapshot}");
        }
        assert!(Visible::of_snapshot("1:x:").is_some_and(|it| it.is_err()));
    }

    #[test]
    fn visible_transactions_are_read_as_they_were_printed() {
        for snapshot in ["100:105:103,100", "1:9:", "5:6:5"] {
            let visible = point(snapshot).visible.expect("some were running");
            assert_eq!(Visible::parse(&visible.to_string()), Some(visible));
        }
        for wrong in ["", "x", "-1", "5.3.3", "5.4.3", "5.5", "5.", "fffffffffffffffff"] {
            assert_eq!(Visible::parse(wrong), None, "{wrong}");
        }
    }
}
