//! Rows in an order: by keys, ties by the id of the item or the key of the group.

use super::{
    budget::Budget,
    row::{Rank, Row},
    value::Value,
};
use crate::stages::{SortKey, Stage};
use std::{cmp::Ordering, mem};
use stoa_kernel::Result;
use stoa_sql::Direction;

/// Rows that wait for their order.
pub(super) struct Sorter {
    keys: Vec<SortKey>,
    directions: Vec<Direction>,
    by_id: Direction,
    /// Whether rows come with their keys.
    is_by_rank: bool,
    /// How many of the first rows are wanted, if not all.
    most: Option<usize>,
    /// Each with the bytes that were taken for it.
    rows: Vec<(Row, usize)>,
}

/// Rows beyond those that are wanted that are kept before they are let go.
const SLACK: usize = 1_000;

impl Sorter {
    pub(super) fn new(keys: Vec<SortKey>, by_id: Direction, most: Option<u64>) -> Self {
        let directions = keys.iter().map(|it| it.direction).collect();
        let most = most.and_then(|it| usize::try_from(it).ok());
        Self { keys, directions, by_id, is_by_rank: false, most, rows: Vec::new() }
    }

    /// Has rows that come with the keys of this order, which may be those of another text than theirs, keep them.
    pub(super) fn keep_ranks(&mut self) {
        self.is_by_rank = true;
    }

    pub(super) fn add(&mut self, mut row: Row, budget: &mut Budget) -> Result<()> {
        if !self.is_by_rank {
            row.rank.keys = self.keys.iter().map(|it| key(it, &row.value)).collect();
        }
        let keys: usize = row.rank.keys.iter().map(|it| it.len() + 24).sum();
        let weight = size_of::<Row>() + row.value.weight() + row.rank.id.len() + row.rank.positions.len() + keys;
        budget.take(weight)?;
        self.rows.push((row, weight));
        if let Some(most) = self.most
            && self.rows.len() >= most.saturating_mul(2).saturating_add(SLACK)
        {
            let (directions, by_id) = (&self.directions, self.by_id);
            self.rows.select_nth_unstable_by(most, |a, b| compare(&a.0.rank, &b.0.rank, directions, by_id));
            self.rows.drain(most..).for_each(|(_, weight)| budget.give(weight));
        }
        Ok(())
    }

    pub(super) fn finish(&mut self) -> impl Iterator<Item = (Row, usize)> {
        let mut rows = mem::take(&mut self.rows);
        rows.sort_unstable_by(|a, b| compare(&a.0.rank, &b.0.rank, &self.directions, self.by_id));
        rows.into_iter()
    }
}

/// How many rows the stages behind a sort look at, if not all; `most` is what the results need.
pub(super) fn bound(after: &[Stage], most: Option<u64>) -> Option<u64> {
    let (mut skipped, mut bound) = (0_u64, None::<u64>);
    for it in after {
        match it {
            Stage::Skip(n) => skipped = skipped.saturating_add(*n),
            Stage::Limit(n) => {
                let here = skipped.saturating_add(*n);
                bound = Some(bound.map_or(here, |it| it.min(here)));
            }
            it if it.keeps_rows() => {}
            _ => return bound,
        }
    }
    let of_page = most.map(|it| skipped.saturating_add(it));
    [bound, of_page].into_iter().flatten().min()
}

/// The key of a row in an order, as statements have it.
pub(super) fn key(by: &SortKey, row: &Value) -> String {
    let mut best: Option<String> = None;
    row.leaves(&by.path, &mut |leaf| {
        let (key, is_better): (_, fn(&String, &String) -> bool) = match by.direction {
            Direction::Ascending => (leaf.least_key(), |a, b| a < b),
            Direction::Descending => (leaf.greatest_key(), |a, b| a > b),
        };
        if best.as_ref().is_none_or(|it| is_better(&key, it)) {
            best = Some(key);
        }
    });
    best.unwrap_or_default()
}

pub(super) fn compare(a: &Rank, b: &Rank, directions: &[Direction], by_id: Direction) -> Ordering {
    let turned = |order: Ordering, direction: Direction| match direction {
        Direction::Ascending => order,
        Direction::Descending => order.reverse(),
    };
    let keys = a.keys.iter().zip(&b.keys).zip(directions);
    let by_key = keys.map(|((a, b), direction)| turned(a.cmp(b), *direction)).find(|it| it.is_ne());
    by_key
        .unwrap_or(Ordering::Equal)
        .then_with(|| turned(a.id.cmp(&b.id), by_id))
        .then_with(|| a.positions.cmp(&b.positions))
}
