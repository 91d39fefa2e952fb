//! A pipeline at work: documents go in, results come out. Pure: who reads the documents is somebody else's business.
//!
//! ```text
//! Reading::of(plan) ── statement ──▶ documents ── Run::jsonb | text | text_in_language ──▶ stages ──▶ Run::finish ──▶ Results
//! ```
//!
//! A row passes all stages before the next one is read, but for groups and sorts, which keep what they need within a
//! budget. The order of results is total: by the keys of the last sort, then by the id of the item, or by the keys
//! of the group; so both engines give the same results, and a cursor finds its place again.

mod budget;
mod expression;
mod group;
mod output;
mod project;
mod reading;
mod row;
mod sort;
mod sum;
mod value;

pub use budget::{Bounds, Share, SharedMemory};
pub use output::Results;
pub use reading::Reading;
pub use sum::Sum;
pub use value::{Members, Value};

use crate::{
    matches,
    plan::{Filter, PageSpec},
    stages::{FieldPath, Pipeline, SortKey, Stage},
};
use budget::Budget;
use group::Grouper;
use output::Output;
use project::Projector;
use row::{DONE, Flow, MORE, Rank, Row};
use sort::Sorter;
use std::{mem, sync::Arc};
use stoa_kernel::{Code, Fault, Result};
use stoa_sql::Direction;

/// A pipeline that takes documents.
pub struct Run {
    members: Members,
    ranked_by: Option<Vec<SortKey>>,
    steps: Vec<Step>,
    output: Output,
    budget: Budget,
    /// The room of an item's members, where a group has looked at it and let it go.
    room: Vec<(Arc<str>, Value)>,
}

enum Step {
    Filter(Filter, Vec<String>),
    Project(Projector),
    Group(Box<Grouper>),
    /// Whether places are asked for behind it.
    Unwind(FieldPath, bool),
    Sort(Sorter),
    Limit(u64),
    Skip(u64),
    ObjectToArray(FieldPath, Arc<str>),
}

impl Run {
    /// `is_over` is asked now and then whether the time is over, or nobody waits for the answer any more.
    pub fn new(
        plan: &Pipeline,
        reading: &Reading,
        bounds: Bounds,
        shared: Arc<SharedMemory>,
        is_over: Box<dyn Fn() -> bool + Send>,
    ) -> Self {
        let PageSpec { start, limit } = &plan.page;
        let output = Output::new(start.clone(), *limit as usize, plan.total, reading.directions.clone());
        let most = output.most();
        let is_ranked = reading.ranked_by.is_some() || output.is_by_cursor();
        let stages = &reading.stages;
        let steps = stages.iter().enumerate().map(|(n, it)| step(it, &stages[..n], &stages[n + 1..], is_ranked, most));
        let mut steps: Vec<Step> = steps.collect();
        if let (true, Some(Step::Sort(sorter))) = (reading.sorts_items, steps.first_mut()) {
            sorter.keep_ranks();
        }
        Self {
            members: reading.members.clone(),
            ranked_by: reading.ranked_by.clone(),
            steps,
            output,
            budget: Budget::new(bounds, shared, is_over),
            room: Vec::new(),
        }
    }

    /// Takes a document in SQLite's form.
    ///
    /// # Errors
    /// What a stage refuses to work out (WDE0080), and what is beyond a bound.
    pub fn jsonb(&mut self, document: &[u8]) -> Result<Flow> {
        let value = self.members.of_jsonb(document, mem::take(&mut self.room)).ok_or_else(unreadable)?;
        self.item(value)
    }

    /// Takes a document in canonical text.
    ///
    /// # Errors
    /// As for [`Run::jsonb`].
    pub fn text(&mut self, document: &str) -> Result<Flow> {
        let value = self.members.of_text(document, mem::take(&mut self.room)).ok_or_else(unreadable)?;
        self.item(value)
    }

    /// Takes a document as it is shown in a language, both in canonical text. The order of the items is that of their
    /// primary texts, as in the statement that reads them; stages are about what is shown.
    ///
    /// # Errors
    /// As for [`Run::jsonb`].
    pub fn text_in_language(&mut self, primary: &str, shown: &str) -> Result<Flow> {
        let rank = match &self.ranked_by {
            None => Rank::default(),
            Some(keys) => {
                let names = keys.iter().filter_map(|it| it.path.first()).map(|it| it.as_str().into());
                let members = Members::Some(names.chain(["_id".into()]).collect());
                rank(keys, &members.of_text(primary, Vec::new()).ok_or_else(unreadable)?)
            }
        };
        let value = self.members.of_text(shown, Vec::new()).ok_or_else(unreadable)?;
        push(&mut self.steps, Row { value, rank }, &mut self.output, &mut self.budget)
    }

    fn item(&mut self, value: Value) -> Result<Flow> {
        // A group keeps nothing of an item: the next one takes its room.
        if let Some(Step::Group(it)) = self.steps.first_mut() {
            self.budget.row()?;
            it.add(&value, &mut self.budget)?;
            if let Value::Object(members) = value {
                self.room = members;
                self.room.clear();
            }
            return Ok(MORE);
        }
        let rank = self.ranked_by.as_ref().map_or_else(Rank::default, |keys| rank(keys, &value));
        push(&mut self.steps, Row { value, rank }, &mut self.output, &mut self.budget)
    }

    /// The results, after the last document.
    ///
    /// # Errors
    /// As for [`Run::jsonb`].
    pub fn finish(mut self) -> Result<Results> {
        for n in 0..self.steps.len() {
            let Some((step, rest)) = self.steps[n..].split_first_mut() else { break };
            match step {
                Step::Group(grouper) => {
                    let mut groups = grouper.finish(&mut self.budget)?;
                    while let Some(row) = groups.next(grouper, &mut self.budget)? {
                        if push(rest, row, &mut self.output, &mut self.budget)?.is_break() {
                            break;
                        }
                    }
                }
                Step::Sort(sorter) => {
                    for (row, weight) in sorter.finish() {
                        self.budget.give(weight);
                        if push(rest, row, &mut self.output, &mut self.budget)?.is_break() {
                            break;
                        }
                    }
                }
                _ => {}
            }
        }
        Ok(self.output.finish())
    }
}

/// The place of an item in the order of these keys.
fn rank(keys: &[SortKey], item: &Value) -> Rank {
    let id = match item.member("_id") {
        Some(Value::Text(it)) => it.as_ref().into(),
        _ => Box::default(),
    };
    Rank { keys: keys.iter().map(|it| sort::key(it, item)).collect(), id, positions: String::new() }
}

fn step(stage: &Stage, before: &[Stage], after: &[Stage], is_ranked: bool, most: Option<u64>) -> Step {
    match stage {
        Stage::Filter(filter, names) => Step::Filter(filter.clone(), names.clone()),
        Stage::Project(it) => Step::Project(Projector::new(it)),
        Stage::Group(it) => Step::Group(Box::new(Grouper::new(it))),
        Stage::Unwind(it) => {
            let is_sorted = after.iter().any(|it| matches!(it, Stage::Sort(_)));
            Step::Unwind(it.clone(), is_ranked || is_sorted)
        }
        Stage::Sort(keys) => {
            let is_grouped = before.iter().any(|it| matches!(it, Stage::Group(_)));
            let last = keys.last().map_or(Direction::Ascending, |it| it.direction);
            let by_id = if is_grouped { Direction::Ascending } else { last };
            Step::Sort(Sorter::new(keys.clone(), by_id, sort::bound(after, most)))
        }
        Stage::Limit(it) => Step::Limit(*it),
        Stage::Skip(it) => Step::Skip(*it),
        Stage::ObjectToArray { from, to } => Step::ObjectToArray(from.clone(), to.as_str().into()),
    }
}

/// Hands a row to the first of these steps.
fn push(steps: &mut [Step], mut row: Row, output: &mut Output, budget: &mut Budget) -> Result<Flow> {
    budget.row()?;
    let Some((step, rest)) = steps.split_first_mut() else { return output.take(row, budget) };
    match step {
        Step::Filter(filter, names) => {
            let read = names.iter().filter_map(|name| Some((name.clone(), row.value.member(name)?.to_json())));
            if !matches(filter, &serde_json::Value::Object(read.collect())) {
                return Ok(MORE);
            }
        }
        Step::Project(it) => row.value = it.row(row.value)?,
        Step::Group(it) => return it.add(&row.value, budget).map(|()| MORE),
        Step::Unwind(path, is_ranked) => return unwind(path, *is_ranked, rest, row, output, budget),
        Step::Sort(it) => return it.add(row, budget).map(|()| MORE),
        Step::Limit(0) => return Ok(DONE),
        Step::Limit(left) => {
            *left -= 1;
            let is_last = *left == 0;
            let flow = push(rest, row, output, budget)?;
            return Ok(if is_last { DONE } else { flow });
        }
        Step::Skip(0) => {}
        Step::Skip(left) => {
            *left -= 1;
            return Ok(MORE);
        }
        Step::ObjectToArray(from, to) => object_to_array(from, to, &mut row.value)?,
    }
    push(rest, row, output, budget)
}

fn unwind(
    path: &[String],
    is_ranked: bool,
    rest: &mut [Step],
    mut row: Row,
    output: &mut Output,
    budget: &mut Budget,
) -> Result<Flow> {
    let elements = match at(&mut row.value, path) {
        None | Some(Value::Null) => return Ok(MORE),
        Some(Value::Array(it)) => mem::take(it),
        Some(_) => return push(rest, row, output, budget),
    };
    for (n, element) in elements.into_iter().enumerate() {
        let mut next = Row { value: row.value.clone(), rank: row.rank.clone() };
        if let Some(it) = at(&mut next.value, path) {
            *it = element;
        }
        if is_ranked {
            next.rank.positions.push_str(&format!("{n:08x}"));
        }
        if push(rest, next, output, budget)?.is_break() {
            return Ok(DONE);
        }
    }
    Ok(MORE)
}

/// The value at a path through objects.
fn at<'v>(value: &'v mut Value, path: &[String]) -> Option<&'v mut Value> {
    path.iter().try_fold(value, |it, name| it.member_mut(name))
}

fn object_to_array(from: &[String], to: &Arc<str>, row: &mut Value) -> Result<()> {
    let list = match expression::field(from, row, &budget::Work::new())?.as_deref() {
        None | Some(Value::Null) => return Ok(()),
        Some(it @ Value::Object(members)) if it.date().is_none() => {
            let (k, v): (Arc<str>, Arc<str>) = ("k".into(), "v".into());
            let pair = |(name, value): &(Arc<str>, Value)| {
                Value::Object(vec![(k.clone(), Value::Text(name.clone())), (v.clone(), value.clone())])
            };
            Value::Array(members.iter().map(pair).collect())
        }
        Some(_) => return Err(Fault::because(Code::BadRequest, "objectToArray takes objects")),
    };
    budget::RowBudget::new().take(row.weight() + list.weight())?;
    row.put(to, list);
    Ok(())
}

fn unreadable() -> Fault {
    Fault::internal("what is stored as a document is none")
}
