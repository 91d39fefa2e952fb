//! What a validated operation comes to: for each field at its top one call of content, and what is answered of that.

use crate::{
    call::{self, Call, OutcomeField, PageField},
    error::{Error, ErrorCode, line_column},
    name::{self, LIMIT},
    print::{Output, OutputValue, Selection},
    schema::{Mutation, QueryField, SiteSchema},
    types::{ItemField, Write},
    value::{Arguments, Variables},
    wanted::{Wanted, add_references, wanted},
};
use apollo_compiler::{
    ExecutableDocument,
    ast::Value as Literal,
    executable::{Field, Operation, Selection as Selected, SelectionSet},
};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashMap, HashSet};

/// A field at the top of an operation.
#[derive(Debug)]
pub struct Root {
    /// Its name in the answer.
    pub(crate) key: String,
    pub(crate) location: Option<(usize, usize)>,
    pub(crate) call: Call,
}

/// Fields that are answered under one name, with what is selected below all of them.
struct Group<'d> {
    key: &'d str,
    fields: Vec<&'d Field>,
}

/// Makes plans of one operation.
pub(crate) struct Planner<'p> {
    pub(crate) schema: &'p SiteSchema,
    pub(crate) document: &'p ExecutableDocument,
    pub(crate) variables: &'p Variables<'p>,
    pub(crate) arguments: Arguments<'p>,
}

impl<'p> Planner<'p> {
    /// The fields at the top, in order; introspection is answered by others.
    ///
    /// # Errors
    /// Arguments that can't be what the schema wants.
    pub(crate) fn roots(&self, operation: &Operation) -> Result<Vec<Root>, Error> {
        let mut roots = Vec::new();
        for group in self.collect([&operation.selection_set]) {
            let field = group.fields[0];
            let call = if operation.is_mutation() { self.mutation(&group) } else { self.query(&group) };
            let span = field.name.location();
            let place = |it: Error| it.at(span, &self.document.sources).in_field(group.key);
            let location = line_column(span, &self.document.sources);
            roots.push(Root { key: group.key.to_owned(), location, call: call.map_err(place)? });
        }
        Ok(roots)
    }

    fn query(&self, group: &Group<'_>) -> Result<Call, Error> {
        let field = group.fields[0];
        let known = match field.name.as_str() {
            "__typename" => return Ok(Call::Known("\"Query\"".to_owned())),
            "__schema" | "__type" => return Ok(Call::Introspection),
            name => self.schema.query_field(name).ok_or_else(unknown)?,
        };
        let arguments = self.arguments.of(field)?;
        let item_type = match known {
            QueryField::Collections => return Ok(Call::Known(json!(self.schema.readable()).to_string())),
            QueryField::Page(it) | QueryField::Item(it) | QueryField::Count(it) => it,
        };
        let collection = &self.schema.types[item_type].collection;
        Ok(match known {
            QueryField::Count(_) => Call::Count(call::count(collection, arguments)),
            QueryField::Item(_) => {
                let selection = self.selection(item_type, &group.fields)?;
                Call::Item { members: call::one(collection, arguments, &wanted(&selection)), selection }
            }
            QueryField::Page(_) | QueryField::Collections => {
                let fields = self.page_fields(item_type, &group.fields)?;
                Call::Page { members: call::page(collection, arguments, &fields)?, fields }
            }
        })
    }

    fn mutation(&self, group: &Group<'_>) -> Result<Call, Error> {
        let field = group.fields[0];
        if field.name == "__typename" {
            return Ok(Call::Known("\"Mutation\"".to_owned()));
        }
        let Mutation { write, item_type } = self.schema.mutation_field(&field.name).ok_or_else(unknown)?;
        let arguments = self.arguments.of(field)?;
        let collection = &self.schema.types[item_type].collection;
        let outcome = match write.is_bulk() {
            true => self.outcome_fields(item_type, &group.fields)?,
            false => vec![("item".to_owned(), OutcomeField::Item(self.selection(item_type, &group.fields)?))],
        };
        let shows_items = outcome.iter().any(|it| matches!(it.1, OutcomeField::Item(_)));
        let body = call::write(write, collection, arguments, shows_items)?;
        let reread = match write {
            // There is nothing left to be read.
            Write::Remove | Write::BulkRemove => None,
            _ => reread(collection, &outcome),
        };
        Ok(Call::Write { write, body, outcome, reread })
    }

    /// The fields of a page.
    fn page_fields(&self, item_type: usize, fields: &[&Field]) -> Result<Vec<(String, PageField)>, Error> {
        let of = |group: Group<'_>| {
            let field = match group.fields[0].name.as_str() {
                "items" => PageField::Items(self.selection(item_type, &group.fields)?),
                "totalCount" => PageField::TotalCount,
                "hasNext" => PageField::HasNext,
                "next" => PageField::Next,
                "prev" => PageField::Prev,
                _ => PageField::TypeName(name::page(&self.schema.types[item_type].name)),
            };
            Ok((group.key.to_owned(), field))
        };
        self.collect(fields.iter().map(|it| &it.selection_set)).into_iter().map(of).collect()
    }

    /// The fields of what becomes of each item of a bulk call.
    fn outcome_fields(&self, item_type: usize, fields: &[&Field]) -> Result<Vec<(String, OutcomeField)>, Error> {
        let of = |group: Group<'_>| {
            let field = match group.fields[0].name.as_str() {
                "item" => OutcomeField::Item(self.selection(item_type, &group.fields)?),
                "action" => OutcomeField::Action,
                "id" => OutcomeField::Id,
                "error" => OutcomeField::Error(self.error_fields(&group.fields)),
                _ => OutcomeField::TypeName(name::outcome(&self.schema.types[item_type].name)),
            };
            Ok((group.key.to_owned(), field))
        };
        self.collect(fields.iter().map(|it| &it.selection_set)).into_iter().map(of).collect()
    }

    /// The members of an error, by the names in the answer.
    fn error_fields(&self, fields: &[&Field]) -> Vec<(String, String)> {
        let groups = self.collect(fields.iter().map(|it| &it.selection_set));
        groups.into_iter().map(|it| (it.key.to_owned(), it.fields[0].name.to_string())).collect()
    }

    /// What is answered of items of a type.
    fn selection(&self, item_type: usize, fields: &[&Field]) -> Result<Selection, Error> {
        let of = &self.schema.types[item_type];
        let mut selection = Selection { type_name: of.name.clone(), ..Selection::default() };
        for group in self.collect(fields.iter().map(|it| &it.selection_set)) {
            let field = group.fields[0];
            let next = selection.slots.len();
            let mut slot = |key: &str| *selection.slots.entry(key.to_owned()).or_insert(next);
            let value = match of.fields.get(field.name.as_str()) {
                None if field.name == "__typename" => OutputValue::TypeName,
                None => return Err(unknown()),
                Some(ItemField::Data) => OutputValue::Data,
                Some(ItemField::Value(key, leaf)) => OutputValue::Value(slot(key), *leaf),
                Some(ItemField::Single(key, target)) => {
                    OutputValue::Single(slot(key), self.selection(*target, &group.fields)?)
                }
                Some(ItemField::Multi(key, target)) => {
                    let (limit, offset) = self.part(field)?;
                    let below = self.selection(*target, &group.fields)?;
                    OutputValue::Multi { slot: slot(key), offset, limit, selection: below }
                }
            };
            selection.outputs.push(Output { key: group.key.to_owned(), value });
        }
        Ok(selection)
    }

    /// Which of the items of a multi-reference are wanted.
    fn part(&self, field: &Field) -> Result<(usize, usize), Error> {
        let arguments = self.arguments.of(field)?;
        let number = |name: &str, default: i64, least: i64| {
            let number = arguments.get(name).and_then(Value::as_i64).unwrap_or(default);
            let refuse = |_| {
                let text = format!("The argument {name} of {} is {number}, but must be at least {least}.", field.name);
                Error::new(ErrorCode::Input, text)
            };
            usize::try_from(number - least).map(|it| it + least as usize).map_err(refuse)
        };
        Ok((number("limit", i64::from(LIMIT), 1)?, number("offset", 0, 0)?))
    }

    /// The fields that selections of one object come to (GraphQL specification, section 6.3.2): those of one name in the
    /// answer are together.
    fn collect<'d>(&self, selected: impl IntoIterator<Item = &'d SelectionSet>) -> Vec<Group<'d>>
    where
        'p: 'd,
    {
        let mut collected = Collected { groups: Vec::new(), by_key: HashMap::new(), seen: HashSet::new() };
        for it in selected {
            self.collect_into(&mut collected, it);
        }
        collected.groups
    }

    fn collect_into<'d>(&self, collected: &mut Collected<'d>, selected: &'d SelectionSet)
    where
        'p: 'd,
    {
        for it in &selected.selections {
            if !self.is_included(it) {
                continue;
            }
            match it {
                Selected::Field(it) => {
                    let key = it.response_key().as_str();
                    match collected.by_key.get(key) {
                        Some(n) => collected.groups[*n].fields.push(it),
                        None => {
                            collected.by_key.insert(key, collected.groups.len());
                            collected.groups.push(Group { key, fields: vec![it] });
                        }
                    }
                }
                // Every type here is an object's: a fragment that is valid is of this one.
                Selected::InlineFragment(it) => self.collect_into(collected, &it.selection_set),
                Selected::FragmentSpread(it) => {
                    if collected.seen.insert(it.fragment_name.as_str())
                        && let Some(fragment) = self.document.fragments.get(&it.fragment_name)
                    {
                        self.collect_into(collected, &fragment.selection_set);
                    }
                }
            }
        }
    }

    /// What `@skip` and `@include` say.
    fn is_included(&self, selected: &Selected) -> bool {
        let is = |directive: &str| {
            let argument = selected.directives().get(directive)?.specified_argument_by_name("if")?;
            match &**argument {
                Literal::Boolean(it) => Some(*it),
                Literal::Variable(name) => self.variables.get(name)?.as_bool(),
                _ => None,
            }
        };
        !is("skip").unwrap_or(false) && is("include").unwrap_or(true)
    }
}

struct Collected<'d> {
    groups: Vec<Group<'d>>,
    by_key: HashMap<&'d str, usize>,
    seen: HashSet<&'d str>,
}

/// Validation lets no such field through.
fn unknown() -> Error {
    Error::new(ErrorCode::Validation, "The schema has no such field.")
}

/// The query that brings what written items refer to, if that is answered.
fn reread(collection: &str, outcome: &[(String, OutcomeField)]) -> Option<Map<String, Value>> {
    let mut references = BTreeMap::new();
    for (_, it) in outcome {
        if let OutcomeField::Item(selection) = it
            && selection.has_references()
        {
            add_references(selection, "", &mut references);
        }
    }
    let wanted = Wanted { fields: None, references };
    (!wanted.references.is_empty()).then(|| call::by_ids(collection, &wanted))
}
