//! What a statement reads for a pipeline, and what is left to do. SQL chooses the rows (scope, filter, and the order
//! and window where it needs no memory for them), and the stages do the rest.

use super::value::Members;
use crate::{
    compile::{self, Statement},
    plan::{Find, Order, PageSpec, Start},
    stages::{Accumulator, Group, Pipeline, SortKey, Stage},
};
use std::collections::BTreeSet;
use stoa_sql::{Dialect, Direction, Table};

/// The longest window that a statement cuts where no index has the order: so many rows are put in order at most.
const MOST_SORTED: u64 = 10_001;

/// How the items of a pipeline are read.
pub struct Reading {
    find: Find,
    is_ordered: bool,
    /// Whether the first stage is not of the request: it puts the items in their order, which no statement does.
    pub(super) sorts_items: bool,
    pub(super) stages: Vec<Stage>,
    pub(super) members: Members,
    /// Whether the place of an item in the order is needed: its keys, and its id.
    pub(super) ranked_by: Option<Vec<SortKey>>,
    /// How the results are ordered: the directions of the keys, and of what decides behind them.
    pub(super) directions: (Vec<Direction>, Direction),
}

impl Reading {
    pub fn of(pipeline: &Pipeline) -> Self {
        let mut find = pipeline.source.clone();
        let order = keys(&find.order);
        let mut stages = pipeline.stages.clone();
        let (offset, limit, windows) = window(&stages);
        let is_by_offset = matches!(pipeline.page.start, Start::Offset(_));
        let keeps_rows = stages[windows..].iter().all(Stage::keeps_rows);
        // The page is a window as well, if nothing is counted beyond it.
        let of_page = (keeps_rows && is_by_offset && !pipeline.total)
            .then(|| pipeline.page.start.offset().saturating_add(u64::from(pipeline.page.limit)).saturating_add(1));
        let rows = [limit, of_page].into_iter().flatten().min();
        let is_shown = shows_order(&stages);
        let is_in_order = compile::is_in_order(&find);
        let sorted = rows.filter(|it| offset.saturating_add(*it) <= MOST_SORTED);
        let (mut is_ordered, mut sorts_items) = (is_shown && is_in_order, false);
        match sorted {
            Some(rows) if is_shown && rows > 0 => {
                is_ordered = true;
                // One row more is read than a page has.
                find.page = PageSpec { start: Start::Offset(offset), limit: rows as u32 - 1 };
                stages.drain(..windows);
            }
            _ if is_shown && !is_ordered => {
                sorts_items = true;
                stages.insert(0, Stage::Sort(order.clone()));
            }
            _ => {}
        }
        let ranked_by = is_ranked(&stages, !is_by_offset).then(|| order.clone());
        let directions = directions(&stages, &order);
        let members = members(&stages, ranked_by.as_deref());
        Self { find, is_ordered, sorts_items, stages, members, ranked_by, directions }
    }

    /// Rows of the document.
    pub fn statement(&self, dialect: &dyn Dialect, table: Table) -> Statement {
        match self.is_ordered {
            true => compile::find(dialect, table, &self.find),
            false => compile::scan(dialect, table, &self.find),
        }
    }

    /// Whether any stage, or the order, is about this member of the items.
    pub fn reads(&self, name: &str) -> bool {
        match &self.members {
            Members::All => true,
            Members::Some(names) => names.iter().any(|it| &**it == name),
        }
    }

    /// Whether documents are read as a whole, so that what the caller may see of them must be seen to.
    pub fn is_whole(&self) -> bool {
        self.members == Members::All
    }
}

fn keys(order: &Order) -> Vec<SortKey> {
    match order {
        Order::Keys(keys) => keys.iter().map(SortKey::of).collect(),
        Order::Random { .. } => Vec::new(),
    }
}

/// What leading windows come to: how many rows are passed over, how many are wanted at most, and how many stages
/// these are.
fn window(stages: &[Stage]) -> (u64, Option<u64>, usize) {
    let (mut offset, mut limit, mut count) = (0_u64, None::<u64>, 0);
    for it in stages {
        match it {
            Stage::Skip(n) => {
                offset = offset.saturating_add(*n);
                limit = limit.map(|it| it.saturating_sub(*n));
            }
            Stage::Limit(n) => limit = Some(limit.map_or(*n, |it| it.min(*n))),
            _ => break,
        }
        count += 1;
    }
    (offset, limit, count)
}

/// Whether the order of the rows that a stage gets shows in the results.
pub(super) fn shows_order(stages: &[Stage]) -> bool {
    for it in stages {
        match it {
            Stage::Filter(..) | Stage::Project(_) | Stage::Unwind(_) | Stage::ObjectToArray { .. } => {}
            Stage::Limit(_) | Stage::Skip(_) => return true,
            Stage::Sort(_) => return false,
            Stage::Group(Group { accumulators, .. }) => {
                return accumulators.iter().any(|it| Accumulator::shows_order(&it.1));
            }
        }
    }
    true
}

/// Whether the place of an item is asked for, by a sort whose keys leave it open or by a cursor.
fn is_ranked(stages: &[Stage], is_by_cursor: bool) -> bool {
    for it in stages {
        match it {
            Stage::Sort(_) => return true,
            Stage::Group(_) => return false,
            _ => {}
        }
    }
    is_by_cursor
}

fn directions(stages: &[Stage], order: &[SortKey]) -> (Vec<Direction>, Direction) {
    let of = |keys: &[SortKey]| -> Vec<_> { keys.iter().map(|it| it.direction).collect() };
    let mut current = of(order);
    let mut is_grouped = false;
    for it in stages {
        match it {
            Stage::Group(_) => (current, is_grouped) = (Vec::new(), true),
            Stage::Sort(keys) => current = of(keys),
            _ => {}
        }
    }
    let by_id = if is_grouped { Direction::Ascending } else { current.last().copied().unwrap_or(Direction::Ascending) };
    (current, by_id)
}

/// The members that stages name, as far as nothing else of an item goes through.
fn members(stages: &[Stage], ranked_by: Option<&[SortKey]>) -> Members {
    let mut names = BTreeSet::new();
    let mut is_closed = false;
    for it in stages {
        it.reads(&mut |it| {
            names.insert(it);
        });
        is_closed = it.is_closed();
        if is_closed {
            break;
        }
    }
    if !is_closed {
        return Members::All;
    }
    if let Some(keys) = ranked_by {
        names.insert("_id");
        names.extend(keys.iter().filter_map(|it| it.path.first().map(String::as_str)));
    }
    Members::Some(names.into_iter().map(Into::into).collect())
}
