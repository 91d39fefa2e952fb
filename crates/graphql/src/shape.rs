//! What a document asks for by its form alone, before anything is known of its types: how deep, how many fields.
//!
//! Each fragment is looked at once, whatever uses it, and sums stop at the largest number: a document of a kilobyte can
//! mean more fields than there are atoms.

use crate::{
    error::{Error, ErrorCode, shortened},
    fragments::Fragments,
    limits::GraphqlLimits,
};
use apollo_compiler::ast::{Definition, Document, OperationType, Selection};
use std::collections::HashMap;

/// Selections within selections, fragments put where they are used: all that walks a document calls itself so often.
pub(crate) const NESTING: usize = 64;

/// What selections come to, each fragment in its place.
#[derive(Debug, Clone, Copy, Default)]
struct Shape {
    /// Selections within selections.
    nesting: u64,
    /// Fields within fields.
    depth: u64,
    fields: u64,
}

/// Checks a document by its form.
///
/// # Errors
/// The first limit that it exceeds, a fragment that uses itself, a subscription.
pub(crate) fn check(document: &Document, limits: &GraphqlLimits) -> Result<(), Error> {
    let fragments = Fragments::of(document).map_err(|name| {
        let text = format!("The fragment {name} uses itself.");
        Error::new(ErrorCode::Validation, shortened(text))
    })?;
    let within = |name, what: &str, found: u64, most: usize| match found > most as u64 {
        true => Err(Error::limit(name, what, found, most)),
        false => Ok(()),
    };
    within("graphql_fragments", "fragments", fragments.len() as u64, limits.graphql_fragments)?;
    within("graphql_aliases", "aliases", aliases(document), limits.graphql_aliases)?;
    let mut known = HashMap::with_capacity(fragments.len());
    let mut all = Shape::default();
    for name in &fragments.ordered {
        let shape = shape(fragments.selections(name), &known);
        within("nesting", "selections within selections", shape.nesting, NESTING)?;
        known.insert(*name, shape);
        // A fragment that nothing uses is validated all the same.
        all.fields = all.fields.max(shape.fields);
    }
    let mut expanded = 0_u64;
    for it in &document.definitions {
        let Definition::OperationDefinition(operation) = it else { continue };
        let shape = shape(&operation.selection_set, &known);
        expanded = expanded.saturating_add(shape.fields);
        within("nesting", "selections within selections", shape.nesting, NESTING)?;
        within("graphql_depth", "fields within fields", shape.depth, limits.graphql_depth)?;
        let roots = roots(&operation.selection_set, &fragments, &mut HashMap::new());
        match operation.operation_type {
            OperationType::Query => {
                within("graphql_root_fields", "fields at its top", roots, limits.graphql_root_fields)?;
            }
            OperationType::Mutation => {
                within("graphql_mutations", "fields at its top", roots, limits.graphql_mutations)?;
            }
            OperationType::Subscription => {
                let text = "Subscriptions are not served; changes are sent by realtime and webhooks.";
                return Err(Error::new(ErrorCode::Validation, text));
            }
        }
    }
    within("graphql_fields", "fields", expanded.max(all.fields), limits.graphql_fields)
}

fn shape(selections: &[Selection], known: &HashMap<&str, Shape>) -> Shape {
    let mut sum = Shape::default();
    for it in selections {
        let one = match it {
            Selection::Field(it) if is_introspection(&it.name) => {
                let within = shape(&it.selection_set, known);
                Shape { depth: 1, fields: within.fields.saturating_add(1), ..within }
            }
            Selection::Field(it) => {
                let within = shape(&it.selection_set, known);
                let fields = within.fields.saturating_add(1);
                Shape { depth: within.depth.saturating_add(1), fields, ..within }
            }
            Selection::InlineFragment(it) => shape(&it.selection_set, known),
            Selection::FragmentSpread(it) => known.get(it.fragment_name.as_str()).copied().unwrap_or_default(),
        };
        sum.nesting = sum.nesting.max(one.nesting.saturating_add(1));
        sum.depth = sum.depth.max(one.depth);
        sum.fields = sum.fields.saturating_add(one.fields);
    }
    sum
}

/// Fields that ask for the schema: what lies below them is no item, and their depth has bounds of its own.
pub(crate) fn is_introspection(name: &str) -> bool {
    matches!(name, "__schema" | "__type")
}

/// Fields that stand at the top, in fragments too.
fn roots<'d>(selections: &'d [Selection], fragments: &Fragments<'d>, known: &mut HashMap<&'d str, u64>) -> u64 {
    let mut count = 0_u64;
    for it in selections {
        let one = match it {
            Selection::Field(_) => 1,
            Selection::InlineFragment(it) => roots(&it.selection_set, fragments, known),
            Selection::FragmentSpread(it) => match known.get(it.fragment_name.as_str()) {
                Some(it) => *it,
                None => {
                    let found = roots(fragments.selections(&it.fragment_name), fragments, known);
                    known.insert(&it.fragment_name, found);
                    found
                }
            },
        };
        count = count.saturating_add(one);
    }
    count
}

/// Aliases as they are written, those of fragments once.
fn aliases(document: &Document) -> u64 {
    let of = |it: &Definition| match it {
        Definition::OperationDefinition(it) => count_aliases(&it.selection_set),
        Definition::FragmentDefinition(it) => count_aliases(&it.selection_set),
        _ => 0,
    };
    document.definitions.iter().map(of).sum()
}

fn count_aliases(selections: &[Selection]) -> u64 {
    let of = |it: &Selection| match it {
        Selection::Field(it) => u64::from(it.alias.is_some()) + count_aliases(&it.selection_set),
        Selection::InlineFragment(it) => count_aliases(&it.selection_set),
        Selection::FragmentSpread(_) => 0,
    };
    selections.iter().map(of).sum()
}
