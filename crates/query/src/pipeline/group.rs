//! Groups of rows and what is accumulated of them. Sums are exact and groups leave in the order of their keys, so
//! that the order of the rows shows in nothing but what asks for it.

use super::{
    budget::{Budget, Work},
    expression,
    row::Row,
    sum::Sum,
    value::Value,
};
use crate::stages::{Accumulator, Expression, FieldPath, Function, Group, GroupForm};
use std::{borrow::Cow, cmp::Ordering, collections::HashMap, mem, sync::Arc};
use stoa_kernel::Result;

/// The groups of a stage so far.
pub(super) struct Grouper {
    keys: Vec<(Arc<str>, Expression<FieldPath>)>,
    inputs: Vec<Input>,
    accumulators: Vec<(Arc<str>, Kind)>,
    form: GroupForm,
    numbers: HashMap<Box<str>, usize>,
    groups: Vec<Accumulated>,
    /// The key of the row at hand.
    key: String,
}

/// What accumulators read, and the numbers of those that do.
struct Input {
    value: Expression<FieldPath>,
    readers: Vec<(usize, Function)>,
}

#[derive(Clone, Copy)]
enum Kind {
    Count,
    Of(Function),
}

struct Accumulated {
    keys: Vec<Value>,
    states: Vec<State>,
    /// Bytes that were taken for it.
    weight: usize,
}

enum State {
    Count(u64),
    Sum(Sum),
    Average(Sum, u64),
    /// The extreme value, the first or the last one.
    One(Option<Value>),
    List(Vec<Value>),
}

/// Between keys: no text has it.
const SEPARATOR: char = '\0';

impl Grouper {
    pub(super) fn new(group: &Group) -> Self {
        let mut inputs: Vec<Input> = Vec::new();
        let mut accumulators = Vec::with_capacity(group.accumulators.len());
        for (n, (name, it)) in group.accumulators.iter().enumerate() {
            let kind = match it {
                Accumulator::Count => Kind::Count,
                Accumulator::Of(function, input) => {
                    match inputs.iter_mut().find(|it| it.value == *input) {
                        Some(known) => known.readers.push((n, *function)),
                        None => inputs.push(Input { value: input.clone(), readers: vec![(n, *function)] }),
                    }
                    Kind::Of(*function)
                }
            };
            accumulators.push((name.as_str().into(), kind));
        }
        Self {
            keys: group.keys.iter().map(|(name, it)| (name.as_str().into(), it.clone())).collect(),
            inputs,
            accumulators,
            form: group.form,
            numbers: HashMap::new(),
            groups: Vec::new(),
            key: String::new(),
        }
    }

    pub(super) fn add(&mut self, row: &Value, budget: &mut Budget) -> Result<()> {
        let work = Work::new();
        let number = self.group_of(row, &work, budget)?;
        let group = &mut self.groups[number];
        let mut grown = 0;
        for it in &self.inputs {
            let value = expression::value(&it.value, row, &work)?;
            for (n, function) in &it.readers {
                grown += group.states[*n].add(*function, value.as_deref());
            }
        }
        for it in &mut group.states {
            it.count();
        }
        if grown > 0 {
            budget.take(grown)?;
            group.weight += grown;
        }
        Ok(())
    }

    /// The number of the group of a row, which may be the first of it.
    fn group_of(&mut self, row: &Value, work: &Work, budget: &mut Budget) -> Result<usize> {
        self.key.clear();
        let mut is_composite = false;
        for (_, it) in &self.keys {
            if let Some(it) = expression::value(it, row, work)?.as_deref() {
                if let Value::Array(_) | Value::Object(_) = it {
                    work.take(8 * it.weight())?;
                    is_composite = true;
                }
                it.bounded_key(&mut self.key);
            }
            self.key.push(SEPARATOR);
        }
        let known = self.numbers.get(self.key.as_str()).copied();
        if let (Some(number), false) = (known, is_composite) {
            return Ok(number);
        }
        // It was worked out once: most rows need no more than the key.
        let again = Work::new();
        let value = |it: &Expression<FieldPath>| expression::value(it, row, &again);
        let Some(number) = known else {
            let mut keys = Vec::with_capacity(self.keys.len());
            for (_, it) in &self.keys {
                keys.push(value(it)?.map_or(Value::Null, Cow::into_owned));
            }
            return self.begin(keys, budget);
        };
        for ((_, it), known) in self.keys.iter().zip(&mut self.groups[number].keys) {
            settle(known, value(it)?.as_deref());
        }
        Ok(number)
    }

    /// A group that has no rows yet.
    fn begin(&mut self, keys: Vec<Value>, budget: &mut Budget) -> Result<usize> {
        let states: Vec<_> = self.accumulators.iter().map(|it| State::new(it.1)).collect();
        let own = self.key.len() + 80 + size_of::<Accumulated>();
        let weight = own + keys.iter().map(Value::weight).sum::<usize>() + states.len() * size_of::<State>();
        budget.take(weight)?;
        self.numbers.insert(self.key.as_str().into(), self.groups.len());
        self.groups.push(Accumulated { keys, states, weight });
        Ok(self.groups.len() - 1)
    }

    /// The groups in the order of their keys.
    pub(super) fn finish(&mut self, budget: &mut Budget) -> Result<Finished> {
        if self.keys.is_empty() && self.groups.is_empty() && self.form == GroupForm::Aggregate {
            self.key.clear();
            self.begin(Vec::new(), budget)?;
        }
        let mut order: Vec<_> = mem::take(&mut self.numbers).into_iter().collect();
        order.sort_unstable();
        let groups = mem::take(&mut self.groups).into_iter().map(Some).collect();
        Ok(Finished { order: order.into_iter(), groups })
    }

    /// The result of a group.
    fn row(&self, key: Box<str>, group: Accumulated) -> Result<Row> {
        let names = self.keys.iter().map(|it| it.0.clone());
        let keys: Vec<_> = names.zip(group.keys).collect();
        let mut members = Vec::with_capacity(1 + keys.len() + group.states.len());
        members.push(("_id".into(), Value::Object(keys.clone())));
        if self.form == GroupForm::Aggregate {
            members.extend(keys.into_iter().filter(|it| &*it.0 != "_id"));
        }
        for ((name, _), state) in self.accumulators.iter().zip(group.states) {
            members.push((name.clone(), state.result()?));
        }
        Ok(Row::of_group(Value::Object(members), key))
    }
}

/// Groups that leave one after another.
pub(super) struct Finished {
    order: std::vec::IntoIter<(Box<str>, usize)>,
    groups: Vec<Option<Accumulated>>,
}

impl Finished {
    pub(super) fn next(&mut self, grouper: &Grouper, budget: &mut Budget) -> Result<Option<Row>> {
        let Some((key, number)) = self.order.next() else { return Ok(None) };
        let Some(group) = self.groups[number].take() else { return Ok(None) };
        budget.give(group.weight);
        grouper.row(key, group).map(Some)
    }
}

/// Objects that are equal may have their members in another order: one form of all is shown.
fn settle(known: &mut Value, new: Option<&Value>) {
    let Some(new @ (Value::Object(_) | Value::Array(_))) = new else { return };
    if known != new && printed(new) < printed(known) {
        *known = new.clone();
    }
}

impl State {
    fn new(kind: Kind) -> Self {
        match kind {
            Kind::Count => Self::Count(0),
            Kind::Of(Function::Sum) => Self::Sum(Sum::default()),
            Kind::Of(Function::Average) => Self::Average(Sum::default(), 0),
            Kind::Of(Function::Push) => Self::List(Vec::new()),
            Kind::Of(_) => Self::One(None),
        }
    }

    fn count(&mut self) {
        if let Self::Count(it) = self {
            *it += 1;
        }
    }

    /// Takes the value of a row, and answers by how many bytes it has grown.
    fn add(&mut self, function: Function, value: Option<&Value>) -> usize {
        match self {
            Self::Sum(sum) => match value {
                Some(Value::Number(it)) => grown(sum, *it),
                _ => 0,
            },
            Self::Average(sum, count) => match value {
                Some(Value::Number(it)) => {
                    *count += 1;
                    grown(sum, *it)
                }
                _ => 0,
            },
            Self::One(known) => {
                let takes = match function {
                    Function::First => known.is_none(),
                    Function::Last => true,
                    _ => value.is_some_and(|it| is_extreme(it, known.as_ref(), function == Function::Max)),
                };
                if !takes {
                    return 0;
                }
                let (before, new) = (known.as_ref().map_or(0, own_weight), value.cloned().unwrap_or(Value::Null));
                let after = own_weight(&new);
                *known = Some(new);
                after.saturating_sub(before)
            }
            Self::List(list) => match value {
                Some(it) => {
                    list.push(it.clone());
                    it.weight()
                }
                None => 0,
            },
            Self::Count(_) => 0,
        }
    }

    fn result(self) -> Result<Value> {
        Ok(match self {
            Self::Count(it) => Value::Number(it as f64),
            Self::Sum(it) => Value::Number(expression::finite(it.value())?),
            Self::Average(_, 0) => Value::Null,
            Self::Average(sum, count) => {
                Value::Number(expression::finite(expression::finite(sum.value())? / count as f64)?)
            }
            Self::One(it) => it.unwrap_or(Value::Null),
            Self::List(it) => Value::Array(it),
        })
    }
}

fn grown(sum: &mut Sum, value: f64) -> usize {
    let before = sum.weight();
    sum.add(value);
    sum.weight() - before
}

/// What a value takes beside itself.
fn own_weight(value: &Value) -> usize {
    value.weight() - size_of::<Value>()
}

/// Whether a value goes before the one that is known. What ranks with null is none.
fn is_extreme(value: &Value, known: Option<&Value>, is_max: bool) -> bool {
    if matches!(value, Value::Null) || matches!(value, Value::Array(_)) && value.least_key().is_empty() {
        return false;
    }
    let Some(known) = known else { return true };
    let order = match (value, known) {
        (Value::Number(a), Value::Number(b)) => a.partial_cmp(b).unwrap_or(Ordering::Equal),
        (Value::Text(a), Value::Text(b)) if a.len().max(b.len()) < stoa_sql::key::LONGEST => a.cmp(b),
        (a, b) if is_max => b.greatest_key().cmp(&a.greatest_key()).reverse(),
        (a, b) => a.least_key().cmp(&b.least_key()),
    };
    match if is_max { order.reverse() } else { order } {
        // Of those that rank alike, the same one in whatever order the rows are.
        Ordering::Equal => value != known && printed(value) < printed(known),
        order => order.is_lt(),
    }
}

fn printed(value: &Value) -> String {
    let mut text = String::new();
    value.print(&mut text);
    text
}
