//! How many items a document may bring, from its limits alone.

use crate::{
    error::Error,
    limits::GraphqlLimits,
    name::LIMIT,
    schema::{QueryField, SiteSchema, TypeUse},
    types::ItemField,
    value::Variables,
};
use apollo_compiler::{
    ExecutableDocument,
    ast::Value,
    executable::{Field, Operation, Selection, SelectionSet},
};
use std::collections::HashMap;

/// Checks how many items an operation's lists may bring: the limit of each, times the limits of those above it.
/// `ordered` names the document's fragments, each behind those that it uses.
///
/// # Errors
/// The number, and how many are let through.
pub(crate) fn check(
    schema: &SiteSchema,
    document: &ExecutableDocument,
    ordered: &[String],
    operation: &Operation,
    variables: &Variables<'_>,
    limits: &GraphqlLimits,
) -> Result<(), Error> {
    let mut counter = Counter { schema, variables, known: HashMap::new() };
    for name in ordered {
        if let Some(it) = document.fragments.get(name.as_str()) {
            let items = counter.items(&it.selection_set);
            counter.known.insert(name, items);
        }
    }
    let items = counter.items(&operation.selection_set);
    match items > limits.graphql_items as u64 {
        true => Err(Error::limit("graphql_items", "items in its lists", items, limits.graphql_items)),
        false => Ok(()),
    }
}

struct Counter<'c> {
    schema: &'c SiteSchema,
    variables: &'c Variables<'c>,
    known: HashMap<&'c str, u64>,
}

impl Counter<'_> {
    /// Items for one object of the type that is selected from.
    fn items(&self, selected: &SelectionSet) -> u64 {
        let of = |it: &Selection| match it {
            Selection::Field(it) => self.of_field(&selected.ty, it),
            Selection::InlineFragment(it) => self.items(&it.selection_set),
            Selection::FragmentSpread(it) => self.known.get(it.fragment_name.as_str()).copied().unwrap_or(0),
        };
        selected.selections.iter().map(of).fold(0, u64::saturating_add)
    }

    fn of_field(&self, parent: &str, field: &Field) -> u64 {
        let below = || self.items(&field.selection_set);
        let each = || below().saturating_add(1);
        match self.schema.type_use(parent) {
            TypeUse::Query => match self.schema.query_field(&field.name) {
                // The page's own field counts its items.
                Some(QueryField::Page(_)) => self.limit(field).saturating_mul(below()),
                Some(QueryField::Item(_)) => each(),
                Some(QueryField::Count(_)) => 1,
                Some(QueryField::Collections) | None => 0,
            },
            TypeUse::Mutation => match self.schema.mutation_field(&field.name) {
                Some(it) if it.write.is_bulk() => self.elements(field).saturating_mul(each()),
                Some(_) => each(),
                None => 0,
            },
            TypeUse::Page(_) if field.name == "items" => each(),
            TypeUse::Outcome(_) => below(),
            TypeUse::Item(n) => match self.schema.types[n].fields.get(field.name.as_str()) {
                Some(ItemField::Single(..)) => each(),
                Some(ItemField::Multi(..)) => self.limit(field).saturating_mul(each()),
                _ => 0,
            },
            TypeUse::Page(_) | TypeUse::Other => 0,
        }
    }

    /// The argument `limit`. What is no number is refused later.
    fn limit(&self, field: &Field) -> u64 {
        let sent = field.specified_argument_by_name("limit");
        let number = match sent.map(|it| &**it) {
            None => None,
            Some(Value::Variable(name)) => self.variables.number(name),
            Some(it) => it.to_i32().map(i64::from),
        };
        number.map_or(u64::from(LIMIT), |it| u64::try_from(it).unwrap_or(0))
    }

    /// Elements of the list that a bulk call writes.
    fn elements(&self, field: &Field) -> u64 {
        let lists = ["items", "patches", "ids"].into_iter().filter_map(|it| field.specified_argument_by_name(it));
        let count = |it: &Value| match it {
            Value::List(list) => list.len() as u64,
            Value::Variable(name) => self.variables.elements(name),
            _ => 1,
        };
        lists.map(|it| count(it)).fold(0, u64::saturating_add)
    }
}
