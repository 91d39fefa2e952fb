//! What names mean to the stages of a pipeline: fields of items at first, then what stages made.

use super::{field, partial};
use crate::{
    plan::{Field, Filter},
    schema::{Kind, Schema},
    stages::{Expression, FieldPath},
    wire::{self, Named},
};
use std::collections::HashSet;
use stoa_kernel::{Code, Fault, Faults, Result};

/// The names that a stage may use.
pub(super) struct Names {
    /// Of the fields that are still those of items: links and encrypted values can't be read.
    schema: Schema,
    /// Names with dots that are no paths.
    literal: HashSet<String>,
}

impl Names {
    /// Of items, without the links that only a statement can look up.
    pub(super) fn of_items(schema: &Schema) -> Self {
        let schema = Schema { fields: schema.fields.clone(), ..Schema::default() };
        Self { schema, literal: HashSet::new() }
    }

    /// Of rows that have nothing but what was made for them.
    pub(super) fn of_made<'n>(names: impl Iterator<Item = &'n str>) -> Self {
        let literal = names.filter(|it| it.contains('.')).map(str::to_owned).collect();
        Self { schema: Schema::default(), literal }
    }

    /// Forgets what fields were, but for those literal names that were kept.
    pub(super) fn keep_only(&mut self, kept: &[FieldPath]) {
        self.schema = Schema::default();
        self.literal.retain(|it| kept.iter().any(|path| path.as_slice() == [it.as_str()]));
    }

    /// A member that takes the place of a field.
    pub(super) fn make(&mut self, name: &str) {
        self.schema.fields.remove(name);
        if name.contains('.') {
            self.literal.insert(name.to_owned());
        }
    }

    pub(super) fn is_array(&self, name: &str) -> bool {
        self.schema.fields.get(name) == Some(&Kind::Array)
    }

    /// The field that a name stands for.
    pub(super) fn field(&self, name: &str) -> Result<Field> {
        match self.literal.contains(name) {
            true => Ok(Field::Path(vec![name.to_owned()])),
            false => field(name, &self.schema),
        }
    }

    pub(super) fn path(&self, named: &Named, faults: &mut Faults) -> FieldPath {
        let field = self.field(&named.name).map_err(|it| wire::at(it, &named.path));
        faults.take(field).map(|it| names(&it)).unwrap_or_default()
    }

    /// Where something is that is taken away: it may be what can't be read.
    pub(super) fn path_away(&self, named: &Named, faults: &mut Faults) -> FieldPath {
        match field(&named.name, &Schema::default()) {
            Ok(_) if self.literal.contains(&named.name) => vec![named.name.clone()],
            Ok(it) => names(&it),
            Err(fault) => {
                faults.add(wire::at(fault, &named.path));
                FieldPath::new()
            }
        }
    }

    pub(super) fn expression(&self, expression: &Expression<Named>, faults: &mut Faults) -> Expression<FieldPath> {
        expression.map(&mut |it| self.path(it, faults))
    }

    /// A filter over rows, and the outermost names that it reads.
    pub(super) fn filter(&self, filter: &wire::Filter, faults: &mut Faults) -> (Filter, Vec<String>) {
        let mut filter = partial(filter, &self.schema, faults);
        let mut read = Vec::new();
        self.settle(&mut filter, &mut read);
        read.sort();
        read.dedup();
        (filter, read)
    }

    /// Names with dots as what they are.
    fn settle(&self, filter: &mut Filter, read: &mut Vec<String>) {
        match filter {
            Filter::True | Filter::False | Filter::Rows(_) => {}
            Filter::And(list) | Filter::Or(list) => list.iter_mut().for_each(|it| self.settle(it, read)),
            Filter::Not(it) => self.settle(it, read),
            Filter::Test(field, _) => {
                let name = field.name().into_owned();
                if self.literal.contains(&name) {
                    *field = Field::Path(vec![name]);
                }
                read.extend(names(field).into_iter().next());
            }
        }
    }
}

/// The way to a field.
pub(super) fn names(field: &Field) -> FieldPath {
    match field {
        Field::Path(names) => names.clone(),
        it => vec![it.name().into_owned()],
    }
}

/// A name that a result is to have: it becomes the key of an object, and must be harmless as one.
pub(super) fn check_made(named: &Named, faults: &mut Faults) {
    let fault = match named.name.as_str() {
        it if it.starts_with('$') => {
            Fault::because(Code::FieldNameDollar, format!("{it}: names must not begin with $"))
        }
        "__proto__" => Fault::because(Code::FieldInvalid, "__proto__ can't be the name of a result"),
        _ => return,
    };
    faults.add(wire::at(fault, &named.path));
}

/// Refuses a name that is there already.
pub(super) fn check_new<'n>(taken: &mut HashSet<&'n str>, named: &'n Named, faults: &mut Faults) {
    if !taken.insert(&named.name) {
        let fault = Fault::because(Code::BadRequest, format!("{} is there twice", wire::shortened(&named.name)));
        faults.add(wire::at(fault, &named.path));
    }
}
