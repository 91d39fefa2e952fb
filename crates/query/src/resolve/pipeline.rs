//! A pipeline, stage after stage: each knows what names mean behind the one before it.

use super::{
    Context, direction,
    names::{Names, check_made, check_new},
    page, partial,
};
use crate::{
    item::MAX_DEPTH,
    plan::{Field, Filter, Find, Key, Order, PageSpec, Projection, Start},
    stages::{
        Accumulator, Expression, FieldPath, Function, Group, GroupForm, Kept, Made, Pipeline, Projected, SortKey, Stage,
    },
    wire::{self, Member, Named},
};
use std::collections::HashSet;
use stoa_kernel::{Code, Fault, Faults, Result};
use stoa_sql::Direction;

/// The most levels that a result may come to have.
const MAX_RESULT_DEPTH: usize = 100;

/// A pipeline request.
///
/// # Errors
/// All that is wrong with its stages and its paging.
pub fn pipeline(request: &wire::Pipeline, context: Context<'_>) -> Result<Pipeline> {
    let mut faults = Faults::default();
    let leading = request.stages.iter().take_while(|it| matches!(it, wire::Stage::Filter(_))).count();
    let (filters, others) = request.stages.split_at(leading);
    let filters: Vec<_> =
        filters.iter().filter_map(|it| if let wire::Stage::Filter(it) = it { Some(it) } else { None }).collect();
    faults.take(wire::Filter::check_together(filters.iter().copied()));
    let filter = Filter::all(filters.iter().map(|it| partial(it, context.schema, &mut faults)));
    let mut stages = Stages { names: Names::of_items(context.schema), depth: MAX_DEPTH, faults };
    let (sort, others) = match others.split_first() {
        Some((wire::Stage::Sort(keys), rest)) => (stages.sort(keys), rest),
        _ => (Vec::new(), others),
    };
    let resolved = others.iter().map(|it| stages.resolve(it)).collect();
    let page = stages.faults.take(page(&request.paging));
    stages.faults.refuse()?;
    Ok(Pipeline {
        source: source(filter, sort, context),
        stages: resolved,
        page: page.unwrap_or(PageSpec { start: Start::First, limit: 1 }),
        total: request.total,
    })
}

/// The items of a filter in an order, all of them.
pub(super) fn source(filter: Filter, keys: Vec<Key>, context: Context<'_>) -> Find {
    let default = Key { field: Field::Created, direction: Direction::Descending };
    let mut keys = if keys.is_empty() { vec![default] } else { keys };
    // No two items differ in anything after `_id`.
    if let Some(n) = keys.iter().position(|it| it.field == Field::Id) {
        keys.truncate(n + 1);
    }
    Find {
        filter,
        order: Order::Keys(keys),
        page: PageSpec { start: Start::Offset(0), limit: u32::MAX },
        projection: Projection::All,
        total: false,
        indexes: context.schema.indexes.clone(),
        scope: context.scope,
    }
}

struct Stages {
    names: Names,
    /// The most levels that a row may have.
    depth: usize,
    faults: Faults,
}

impl Stages {
    fn resolve(&mut self, stage: &wire::Stage) -> Stage {
        let stage = match stage {
            wire::Stage::Filter(it) => {
                let (filter, names) = self.names.filter(it, &mut self.faults);
                Stage::Filter(filter, names)
            }
            wire::Stage::Project(members) => Stage::Project(self.project(members)),
            wire::Stage::Group { keys, accumulators } => Stage::Group(self.group(keys, accumulators)),
            wire::Stage::Unwind(it) => Stage::Unwind(self.names.path(it, &mut self.faults)),
            wire::Stage::Sort(keys) => Stage::Sort(self.sort(keys).iter().map(SortKey::of).collect()),
            wire::Stage::Limit(it) => Stage::Limit(*it),
            wire::Stage::Skip(it) => Stage::Skip(*it),
            wire::Stage::ObjectToArray { from, to } => {
                check_made(to, &mut self.faults);
                let from = self.names.path(from, &mut self.faults);
                self.names.make(&to.name);
                self.depth += 1;
                Stage::ObjectToArray { from, to: to.name.clone() }
            }
        };
        if self.depth > MAX_RESULT_DEPTH {
            let text = format!("results may come to be nested deeper than {MAX_RESULT_DEPTH} levels");
            self.faults.add(wire::at(Fault::because(Code::BadRequest, text), "pipeline.stages"));
            self.depth = MAX_DEPTH;
        }
        stage
    }

    /// The keys of a sort, each once.
    fn sort(&mut self, keys: &[(Named, bool)]) -> Vec<Key> {
        let mut resolved: Vec<Key> = Vec::with_capacity(keys.len());
        let mut arrays = 0;
        for (named, descending) in keys {
            let field = self.names.field(&named.name).map_err(|it| wire::at(it, &named.path));
            let Some(field) = self.faults.take(field) else { continue };
            if resolved.iter().any(|it| it.field == field) {
                continue;
            }
            arrays += usize::from(self.names.is_array(&named.name));
            if arrays == 2 {
                let fault = Fault::because(Code::SortSeveralArrays, "at most one sort field may be an array");
                self.faults.add(wire::at(fault, &named.path));
            }
            resolved.push(Key { field, direction: direction(*descending) });
        }
        resolved
    }

    fn project(&mut self, members: &[Member]) -> Projected {
        let (projected, depth) = self.members(members, None);
        match &projected.kept {
            Kept::Only(kept) => self.names.keep_only(kept),
            Kept::All => {}
        }
        projected.made.iter().for_each(|(name, _)| self.names.make(name));
        self.depth = self.depth.max(depth);
        projected
    }

    /// A projection, and the levels of what it makes. Names inside of a nested one are those of the member that
    /// it is of.
    fn members(&mut self, members: &[Member], inside: Option<&str>) -> (Projected, usize) {
        let (mut projected, mut depth) = (Projected::default(), 1);
        let (mut kept, mut taken) = (Vec::new(), HashSet::new());
        for it in members {
            match it {
                Member::Include(named) => {
                    check_new(&mut taken, named, &mut self.faults);
                    kept.push(match inside {
                        None => self.names.path(named, &mut self.faults),
                        Some(_) => self.names.path_away(named, &mut self.faults),
                    });
                }
                Member::Exclude(named) => {
                    check_new(&mut taken, named, &mut self.faults);
                    projected.excluded.push(self.names.path_away(named, &mut self.faults));
                }
                Member::Reshape(named, value) => {
                    check_made(named, &mut self.faults);
                    check_new(&mut taken, named, &mut self.faults);
                    let value = self.names.expression(value, &mut self.faults);
                    depth = depth.max(1 + self.depth_of(&value));
                    projected.made.push((named.name.clone(), Made::Value(value)));
                }
                Member::Nested(named, members) => {
                    check_made(named, &mut self.faults);
                    check_new(&mut taken, named, &mut self.faults);
                    if inside.is_none() {
                        // What it keeps is read, so it must be what can be.
                        self.names.path(named, &mut self.faults);
                    }
                    let (nested, levels) = self.members(members, Some(&named.name));
                    depth = depth.max(1 + levels);
                    projected.made.push((named.name.clone(), Made::Nested(nested)));
                }
            }
        }
        if !kept.is_empty() || projected.excluded.is_empty() {
            if inside.is_none() {
                kept.push(vec!["_id".to_owned()]);
            }
            projected.kept = Kept::Only(kept);
        }
        (projected, depth)
    }

    fn group(
        &mut self,
        keys: &[(Named, Expression<Named>)],
        accumulators: &[(Named, Function, Expression<Named>)],
    ) -> Group {
        let (mut taken, mut of_keys) = (HashSet::from(["_id"]), HashSet::new());
        let mut depth = 2;
        let resolved = keys.iter().map(|(named, value)| {
            check_made(named, &mut self.faults);
            check_new(&mut of_keys, named, &mut self.faults);
            let value = self.names.expression(value, &mut self.faults);
            depth = depth.max(2 + self.depth_of(&value));
            (named.name.clone(), value)
        });
        let resolved = resolved.collect();
        let mut accumulated = Vec::with_capacity(accumulators.len());
        for (named, function, value) in accumulators {
            check_made(named, &mut self.faults);
            check_new(&mut taken, named, &mut self.faults);
            let value = self.names.expression(value, &mut self.faults);
            depth = depth.max(1 + usize::from(*function == Function::Push) + self.depth_of(&value));
            accumulated.push((named.name.clone(), Accumulator::Of(*function, value)));
        }
        self.names = Names::of_made(accumulators.iter().map(|it| it.0.name.as_str()));
        self.depth = depth;
        Group { keys: resolved, accumulators: accumulated, form: GroupForm::Pipeline }
    }

    /// The most levels of a value: a way through arrays gives a list, for which it passed one.
    fn depth_of(&self, value: &Expression<FieldPath>) -> usize {
        match value {
            Expression::Field(path) => self.depth.saturating_sub(path.len()).max(1),
            _ => 1,
        }
    }
}
