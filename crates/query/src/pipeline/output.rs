//! The results of a pipeline: which of them are the page, as text.

use super::{
    budget::Budget,
    row::{DONE, Flow, MORE, Rank, Row},
    sort,
};
use crate::plan::{KeysetValue, Position, Start};
use std::{cmp::Ordering, collections::VecDeque};
use stoa_kernel::Result;
use stoa_sql::Direction;

/// A page of results.
#[derive(Debug, Clone, PartialEq)]
pub struct Results {
    /// Canonical texts with commas between them.
    pub elements: String,
    pub count: usize,
    /// Whether there are more the way that the page was read.
    pub has_next: bool,
    /// How many there are in all, if that was asked.
    pub total: Option<u64>,
    /// The positions of the first and the last one, of a page by cursor.
    pub ends: Option<(Position, Position)>,
}

pub(super) struct Output {
    start: Start,
    limit: usize,
    total: bool,
    directions: (Vec<Direction>, Direction),
    /// Results that came.
    seen: u64,
    /// The page: in paging by cursor with the places of its results.
    page: VecDeque<(Rank, String)>,
    bytes: usize,
    has_next: bool,
}

impl Output {
    pub(super) fn new(start: Start, limit: usize, total: bool, directions: (Vec<Direction>, Direction)) -> Self {
        Self { start, limit, total, directions, seen: 0, page: VecDeque::new(), bytes: 0, has_next: false }
    }

    pub(super) fn is_by_cursor(&self) -> bool {
        !matches!(self.start, Start::Offset(_))
    }

    /// How many results are looked at, if not all.
    pub(super) fn most(&self) -> Option<u64> {
        let is_first = matches!(self.start, Start::Offset(_) | Start::First) && !self.total;
        is_first.then(|| self.start.offset().saturating_add(self.limit as u64).saturating_add(1))
    }

    pub(super) fn take(&mut self, row: Row, budget: &mut Budget) -> Result<Flow> {
        self.seen += 1;
        let more = if self.total { MORE } else { DONE };
        match &self.start {
            Start::Offset(offset) if self.seen <= *offset => return Ok(MORE),
            Start::After(position) if !self.is_beyond(&row.rank, position) => return Ok(MORE),
            // Counted as before it, being at it.
            Start::Before(position) if !self.is_before(&row.rank, position) => return Ok(more),
            _ => {}
        }
        if self.page.len() == self.limit {
            self.has_next = true;
            if !self.start.is_backward() {
                return Ok(more);
            }
            if let Some((_, text)) = self.page.pop_front() {
                self.bytes -= text.len();
                budget.give(text.len());
            }
        }
        let mut text = String::new();
        row.value.print(&mut text);
        self.bytes += text.len() + 1;
        budget.check_answer(self.bytes)?;
        budget.take(text.len())?;
        let rank = if self.is_by_cursor() { row.rank } else { Rank::default() };
        self.page.push_back((rank, text));
        Ok(MORE)
    }

    fn is_beyond(&self, rank: &Rank, position: &Position) -> bool {
        match self.compare(rank, position) {
            Ordering::Greater => true,
            Ordering::Equal => position.is_included,
            Ordering::Less => false,
        }
    }

    fn is_before(&self, rank: &Rank, position: &Position) -> bool {
        match self.compare(rank, position) {
            Ordering::Less => true,
            Ordering::Equal => position.is_included,
            Ordering::Greater => false,
        }
    }

    fn compare(&self, rank: &Rank, position: &Position) -> Ordering {
        sort::compare(rank, &rank_of(position), &self.directions.0, self.directions.1)
    }

    pub(super) fn finish(self) -> Results {
        let ends = self.page.front().zip(self.page.back()).filter(|_| self.is_by_cursor());
        let ends = ends.map(|((first, _), (last, _))| (position_of(first), position_of(last)));
        let mut elements = String::with_capacity(self.bytes);
        for (n, (_, text)) in self.page.iter().enumerate() {
            elements.push_str(if n > 0 { "," } else { "" });
            elements.push_str(text);
        }
        let count = self.page.len();
        Results { elements, count, has_next: self.has_next, total: self.total.then_some(self.seen), ends }
    }
}

/// The elements that a result was unwound from stand as one more key.
fn position_of(rank: &Rank) -> Position {
    let keys = rank.keys.iter().chain([&rank.positions]).cloned().map(KeysetValue::Key);
    Position { keyset: keys.collect(), is_included: false, id: rank.id.to_string() }
}

fn rank_of(position: &Position) -> Rank {
    let key = |it: &KeysetValue| match it {
        KeysetValue::Key(it) => it.clone(),
        KeysetValue::Time(it) => it.to_string(),
    };
    let mut keys: Vec<_> = position.keyset.iter().map(key).collect();
    let positions = keys.pop().unwrap_or_default();
    Rank { keys, id: position.id.as_str().into(), positions }
}
