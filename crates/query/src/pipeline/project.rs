//! Projections of rows.

use super::{budget::RowBudget, expression, value::Value};
use crate::stages::{Kept, Made, Projected};
use std::sync::Arc;
use stoa_kernel::Result;

/// A projection, its names ready to be put into rows.
pub(super) struct Projector {
    kept: Option<Tree>,
    excluded: Vec<Vec<String>>,
    made: Vec<(Arc<str>, Maker)>,
}

enum Maker {
    Value(crate::stages::Expression<crate::stages::FieldPath>),
    Nested(Projector),
}

/// Which members are kept.
#[derive(Default)]
struct Tree {
    /// All that is there.
    is_whole: bool,
    members: Vec<(String, Tree)>,
}

impl Projector {
    pub(super) fn new(projected: &Projected) -> Self {
        let kept = match &projected.kept {
            Kept::All => None,
            Kept::Only(paths) => {
                let mut tree = Tree::default();
                paths.iter().for_each(|it| tree.add(it));
                Some(tree)
            }
        };
        let made = projected.made.iter().map(|(name, it)| {
            let maker = match it {
                Made::Value(it) => Maker::Value(it.clone()),
                Made::Nested(it) => Maker::Nested(Self::new(it)),
            };
            (name.as_str().into(), maker)
        });
        Self { kept, excluded: projected.excluded.clone(), made: made.collect() }
    }

    pub(super) fn row(&self, row: Value) -> Result<Value> {
        let mut budget = RowBudget::new();
        // What is made is worked out from the row as it was.
        let made = self.make(&row, &row, &mut budget)?;
        let mut projected = self.keep(row);
        put_all(&mut projected, made);
        Ok(projected)
    }

    /// The same of a member inside of a row; nothing where nothing is left.
    fn nested(&self, own: Option<&Value>, row: &Value, budget: &mut RowBudget) -> Result<Option<Value>> {
        if let Some(Value::Array(list)) = own {
            let mut elements = Vec::with_capacity(list.len());
            for it in list {
                elements.extend(self.nested(Some(it), row, budget)?);
            }
            return Ok(Some(Value::Array(elements)));
        }
        let own = own.filter(|it| matches!(it, Value::Object(_)) && it.date().is_none());
        if own.is_none() && self.made.is_empty() {
            return Ok(None);
        }
        let empty = Value::Object(Vec::new());
        let own = own.unwrap_or(&empty);
        let made = self.make(own, row, budget)?;
        budget.take(own.weight())?;
        let mut projected = self.keep(own.clone());
        put_all(&mut projected, made);
        Ok(Some(projected))
    }

    fn make(&self, own: &Value, row: &Value, budget: &mut RowBudget) -> Result<Vec<(Arc<str>, Option<Value>)>> {
        let mut made = Vec::with_capacity(self.made.len());
        for (name, maker) in &self.made {
            let value = match maker {
                Maker::Value(it) => {
                    let value = expression::value(it, row, &budget.work)?;
                    budget.take(64 + value.as_deref().map_or(0, Value::weight))?;
                    value.map(std::borrow::Cow::into_owned)
                }
                Maker::Nested(it) => it.nested(own.member(name), row, budget)?,
            };
            made.push((name.clone(), value));
        }
        Ok(made)
    }

    fn keep(&self, row: Value) -> Value {
        let mut kept = match &self.kept {
            None => row,
            Some(tree) => tree.object(row),
        };
        self.excluded.iter().for_each(|it| exclude(&mut kept, it));
        kept
    }
}

/// What has no value is not there.
fn put_all(object: &mut Value, made: Vec<(Arc<str>, Option<Value>)>) {
    for (name, value) in made {
        object.take(&name);
        if let Some(it) = value {
            object.put(&name, it);
        }
    }
}

impl Tree {
    fn add(&mut self, path: &[String]) {
        match path.split_first() {
            // What is wanted whole stays whole.
            _ if self.is_whole => {}
            None => *self = Self { is_whole: true, members: Vec::new() },
            Some((name, rest)) => match self.members.iter_mut().find(|it| it.0 == *name) {
                Some((_, it)) => it.add(rest),
                None => {
                    let mut tree = Self::default();
                    tree.add(rest);
                    self.members.push((name.clone(), tree));
                }
            },
        }
    }

    fn object(&self, value: Value) -> Value {
        let Value::Object(members) = value else { return value };
        let keep = |(name, value): (Arc<str>, Value)| {
            let (_, inner) = self.members.iter().find(|it| *it.0 == *name)?;
            Some((name, inner.value(value)?))
        };
        Value::Object(members.into_iter().filter_map(keep).collect())
    }

    /// What is left of a value; nothing of what has no members.
    fn value(&self, value: Value) -> Option<Value> {
        if self.is_whole {
            return Some(value);
        }
        match value {
            Value::Array(list) => Some(Value::Array(list.into_iter().filter_map(|it| self.value(it)).collect())),
            it @ Value::Object(_) if it.date().is_none() => Some(self.object(it)),
            _ => None,
        }
    }
}

/// Takes away what a path leads to, in each element of arrays on the way.
fn exclude(value: &mut Value, path: &[String]) {
    let Some((name, rest)) = path.split_first() else { return };
    if let Value::Array(list) = value {
        return list.iter_mut().for_each(|it| exclude(it, path));
    }
    if rest.is_empty() {
        value.take(name);
    } else if let Some(it) = value.member_mut(name) {
        exclude(it, rest);
    }
}
