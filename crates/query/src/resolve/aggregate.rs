//! The older form of an aggregation, which is a pipeline of filter, group, filter and sort.

use super::{
    Context, direction,
    names::{Names, check_made, check_new},
    page, partial,
    pipeline::source,
};
use crate::{
    plan::{Filter, Key, PageSpec, Start},
    stages::{Accumulator, Expression, Group, GroupForm, Pipeline, SortKey, Stage},
    wire::{self, OperationKind},
};
use std::collections::HashSet;
use stoa_kernel::{Faults, Result};

/// A request of the older form.
///
/// # Errors
/// All that is wrong with its filters, its fields, its sort and its paging.
pub fn aggregate(request: &wire::Aggregate, context: Context<'_>) -> Result<Pipeline> {
    let mut faults = Faults::default();
    let filter = partial(&request.initial, context.schema, &mut faults);
    let group = group(request, &Names::of_items(context.schema), &mut faults);
    let names = group.keys.iter().map(|it| &it.0).chain(group.accumulators.iter().map(|it| &it.0));
    let names = Names::of_made(names.map(String::as_str));
    let (having, read) = names.filter(&request.having, &mut faults);
    let sort = sort(request, &names, &mut faults);
    let page = faults.take(page(&request.paging));
    faults.refuse()?;
    let mut stages = vec![Stage::Group(group)];
    if having != Filter::True {
        stages.push(Stage::Filter(having, read));
    }
    if !sort.is_empty() {
        stages.push(Stage::Sort(sort));
    }
    Ok(Pipeline {
        source: source(filter, Vec::new(), context),
        stages,
        page: page.unwrap_or(PageSpec { start: Start::First, limit: 1 }),
        total: request.total,
    })
}

fn group(request: &wire::Aggregate, names: &Names, faults: &mut Faults) -> Group {
    let (mut of_keys, mut keys) = (HashSet::new(), Vec::with_capacity(request.fields.len()));
    for it in &request.fields {
        check_made(it, faults);
        check_new(&mut of_keys, it, faults);
        keys.push((it.name.clone(), Expression::Field(names.path(it, faults))));
    }
    // `_id` of a result is the object of all keys, though items may be grouped by theirs.
    let mut taken = of_keys;
    taken.insert("_id");
    let mut accumulators = Vec::with_capacity(request.operations.len());
    for it in &request.operations {
        check_made(&it.name, faults);
        check_new(&mut taken, &it.name, faults);
        let accumulator = match &it.kind {
            OperationKind::Count => Accumulator::Count,
            OperationKind::Of(function, field) => {
                Accumulator::Of(*function, Expression::Field(names.path(field, faults)))
            }
        };
        accumulators.push((it.name.name.clone(), accumulator));
    }
    Group { keys, accumulators, form: GroupForm::Aggregate }
}

fn sort(request: &wire::Aggregate, names: &Names, faults: &mut Faults) -> Vec<SortKey> {
    let mut keys: Vec<Key> = Vec::with_capacity(request.sort.len());
    for (n, it) in request.sort.iter().enumerate() {
        let field = names.field(&it.field).map_err(|fault| wire::at(fault, &format!("sort[{n}].fieldName")));
        let Some(field) = faults.take(field) else { continue };
        if keys.iter().all(|it| it.field != field) {
            keys.push(Key { field, direction: direction(it.descending) });
        }
    }
    keys.iter().map(SortKey::of).collect()
}
