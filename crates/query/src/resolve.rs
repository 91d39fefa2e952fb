//! From what was written to what it means: wire + schema + scope → plan. Every rejection happens here
//! or in [`crate::wire`]; a plan always compiles.

mod aggregate;
mod names;
mod operand;
mod pipeline;
mod search;

pub use aggregate::aggregate;
pub use pipeline::pipeline;
pub use search::{Search, search};

use crate::{
    item::MAX_DEPTH,
    plan::{Count, Distinct, Field, Filter, Find, Key, Order, PageSpec, Projection, Scope, Start, Test},
    schema::{Kind, Schema},
    wire::{self, Condition, Operator, Paging, Sort},
};
use stoa_kernel::{Code, Fault, Faults, Result};
use stoa_sql::Direction;

/// The page's size when the request names none (docs/protocol/content.md §19).
const DEFAULT_LIMIT: u32 = 50;
/// In the place of one that is refused.
const FIRST_PAGE: PageSpec = PageSpec { start: Start::First, limit: DEFAULT_LIMIT };

/// What a request is resolved against.
#[derive(Debug, Clone)]
pub struct Context<'a> {
    pub schema: &'a Schema,
    /// What the caller may see.
    pub scope: Scope,
    /// The seed of a random order for which the request names none.
    pub seed: i64,
}

/// A query request.
///
/// # Errors
/// All that is wrong with its filter, its sort and its paging.
pub fn find(query: &wire::Query, context: Context<'_>) -> Result<Find> {
    let mut faults = Faults::default();
    let filter = partial(&query.filter, context.schema, &mut faults);
    let order = order(&query.sort, &context, "query", &mut faults);
    let page = faults.take(page(&query.paging));
    faults.refuse()?;
    Ok(Find {
        filter,
        order,
        page: page.unwrap_or(FIRST_PAGE),
        projection: projection(&query.fields),
        total: query.total,
        indexes: context.schema.indexes.clone(),
        scope: context.scope,
    })
}

/// A count request.
///
/// # Errors
/// As for [`filter`].
pub fn count(wire: &wire::Filter, context: Context<'_>) -> Result<Count> {
    let filter = filter(wire, context.schema)?;
    Ok(Count { filter, indexes: context.schema.indexes.clone(), scope: context.scope })
}

/// A distinct request.
///
/// # Errors
/// What is wrong with its filter, its field or its paging.
pub fn distinct(request: &wire::Distinct, context: Context<'_>) -> Result<Distinct> {
    Ok(Distinct {
        filter: filter(&request.filter, context.schema)?,
        field: field(&request.field, context.schema).map_err(|it| wire::at(it, "fieldName"))?,
        direction: direction(request.descending),
        page: page(&request.paging)?,
        total: request.total,
        scope: context.scope,
    })
}

/// The projection to a list of dotted names, none meaning all; unknown names are ignored.
pub fn projection(fields: &[String]) -> Projection {
    let paths: Vec<_> = fields.iter().map(|it| it.split('.').map(str::to_owned).collect()).collect();
    Projection::of(&paths)
}

/// A filter on its own: conditions of writes, and the filter inside the requests above.
///
/// # Errors
/// All that is wrong with it.
pub fn filter(wire: &wire::Filter, schema: &Schema) -> Result<Filter> {
    let mut faults = Faults::default();
    let filter = partial(wire, schema, &mut faults);
    faults.refuse().map(|()| filter)
}

/// The filter without the conditions that are wrong, which go to the faults.
fn partial(wire: &wire::Filter, schema: &Schema, faults: &mut Faults) -> Filter {
    let mut each = |list: &[wire::Filter]| list.iter().map(|it| partial(it, schema, faults)).collect::<Vec<_>>();
    match wire {
        wire::Filter::And(list) => Filter::all(each(list)),
        wire::Filter::Or(list) => Filter::any(each(list)),
        wire::Filter::Not(it) => partial(it, schema, faults).negated(),
        wire::Filter::Condition(it) => {
            let resolved = condition(it, schema).map_err(|fault| wire::at(fault, &it.path));
            faults.take(resolved).unwrap_or(Filter::False)
        }
    }
}

fn condition(condition: &Condition, schema: &Schema) -> Result<Filter> {
    let condition = &operand::ids(condition, schema);
    let field = match schema.links.get(&condition.field) {
        Some(links) => {
            operand::of_links(condition)?;
            Field::Links(links.clone())
        }
        None => field(&condition.field, schema)?,
    };
    let on = |test| Filter::Test(field.clone(), test);
    Ok(match condition.operator {
        Operator::Eq => on(operand::equal(condition)?),
        Operator::Ne => on(operand::equal(condition)?).negated(),
        Operator::In | Operator::HasSome => operand::list(condition)?.map_or(Filter::False, on),
        Operator::Nin => operand::list(condition)?.map_or(Filter::False, on).negated(),
        Operator::HasAll => match operand::scalars(condition)? {
            none if none.is_empty() => on(Test::Array),
            each => Filter::all(each.into_iter().map(|it| on(Test::Equal(it)))),
        },
        Operator::Exists if operand::flag(condition)? => on(Test::Present),
        Operator::Exists => on(Test::Present).negated(),
        Operator::IsEmpty if operand::flag(condition)? => on(Test::Empty),
        Operator::IsEmpty => on(Test::Empty).negated(),
        Operator::Lt | Operator::Lte | Operator::Gt | Operator::Gte => on(operand::comparison(condition)?),
        Operator::StartsWith => on(Test::StartsWith(operand::folded(condition)?)),
        Operator::EndsWith => on(Test::EndsWith(operand::folded(condition)?)),
        Operator::Contains => on(Test::Contains(operand::folded(condition)?)),
        Operator::Matches => on(operand::matches(condition)?),
    })
}

/// The field of a dotted name, as filters, sorts, different values and indexes may ask for it.
pub fn field(name: &str, schema: &Schema) -> Result<Field> {
    let names = name.split('.');
    if names.clone().any(|it| it.starts_with('$')) {
        return Err(Fault::because(Code::FieldNameDollar, format!("{name}: field names must not begin with $")));
    }
    if names.count() > MAX_DEPTH {
        let text = format!("a field name leads deeper than {MAX_DEPTH} levels");
        return Err(Fault::because(Code::FilterInvalid, text));
    }
    if schema.fields.get(name) == Some(&Kind::MultiReference) {
        let text = format!("{name} is a multi-reference field, which filters and sorts can't read");
        return Err(Fault::because(Code::NotSupported, text));
    }
    let outermost = name.split('.').next().unwrap_or_default();
    let what = match schema.fields.get(outermost) {
        Some(Kind::Encrypted) => "an encrypted field",
        Some(Kind::Calculated { .. }) => "a calculated field",
        _ => return Ok(Field::parse(name)),
    };
    let text = format!("{outermost} is {what}, which filters, sorts and indexes can't read");
    Err(Fault::because(Code::NotSupported, text).with("propertyName", outermost))
}

/// `holder`: the member of the request that has the sort.
fn order(sort: &Sort, context: &Context<'_>, holder: &str, faults: &mut Faults) -> Order {
    let keys = match sort {
        Sort::Random { seed } => return Order::Random { seed: seed.unwrap_or(context.seed).to_string() },
        Sort::Keys(keys) => keys,
    };
    let mut resolved: Vec<Key> = Vec::with_capacity(keys.len() + 1);
    let mut arrays = 0;
    for (n, key) in keys.iter().enumerate() {
        let path = || format!("{holder}.sort[{n}].fieldName");
        let Some(field) = faults.take(field(&key.field, context.schema).map_err(|it| wire::at(it, &path()))) else {
            continue;
        };
        // No two items differ in a key that has decided before, or in anything after `_id`.
        if resolved.iter().any(|it| it.field == field || it.field == Field::Id) {
            continue;
        }
        arrays += usize::from(context.schema.fields.get(&key.field) == Some(&Kind::Array));
        resolved.push(Key { field, direction: direction(key.descending) });
    }
    if arrays > 1 {
        let fault = Fault::because(Code::SortSeveralArrays, "at most one sort field may be an array");
        faults.add(wire::at(fault, &format!("{holder}.sort")));
    }
    if resolved.is_empty() {
        resolved.push(Key { field: Field::Created, direction: Direction::Descending });
    }
    Order::Keys(resolved)
}

fn direction(descending: bool) -> Direction {
    if descending { Direction::Descending } else { Direction::Ascending }
}

fn page(paging: &Paging) -> Result<PageSpec> {
    let (limit, offset) = match paging {
        Paging::Offset { limit, offset } => (limit, *offset),
        Paging::Cursor { limit, cursor: None } => {
            return Ok(PageSpec { start: Start::First, limit: limit.unwrap_or(DEFAULT_LIMIT) });
        }
        Paging::Cursor { cursor: Some(_), .. } => {
            return Err(Fault::because(Code::CursorInvalid, "the cursor is not one of this server"));
        }
    };
    Ok(PageSpec { start: Start::Offset(offset), limit: limit.unwrap_or(DEFAULT_LIMIT) })
}
