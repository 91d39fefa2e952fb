//! Variables and arguments as the schema's types take them (GraphQL specification, sections 6.1.2 and 6.4.1).

use crate::error::{Error, ErrorCode, shortened};
use apollo_compiler::{
    Schema,
    ast::{Type, Value as Literal},
    executable::{Field, Operation},
    schema::{ExtendedType, InputValueDefinition},
};
use serde_json::{Map, Number, Value};
use std::{borrow::Cow, cell::Cell, collections::HashMap};

/// The variables of a request, of the types that its operation declares.
pub(crate) struct Variables<'v> {
    values: HashMap<String, Variable<'v>>,
}

struct Variable<'v> {
    value: Cow<'v, Value>,
    /// Bytes that it has about as text.
    weight: usize,
}

impl<'v> Variables<'v> {
    /// Takes what was sent, with the defaults for what wasn't. What no variable is called so is ignored, as the
    /// specification says.
    ///
    /// # Errors
    /// A value that isn't of its type, one that is missing.
    pub(crate) fn of(schema: &Schema, operation: &Operation, sent: &'v Map<String, Value>) -> Result<Self, Error> {
        let mut values = HashMap::new();
        for it in &operation.variables {
            let (name, what) = (it.name.as_str(), Named::Variable(&it.name));
            let value = match (sent.get(name), &it.default_value) {
                (Some(value), _) => coerce(schema, &it.ty, value, what)?,
                (None, Some(default)) => {
                    let none = Self { values: HashMap::new() };
                    let arguments = Arguments { schema, variables: &none, left: Cell::new(usize::MAX), most: 0 };
                    Cow::Owned(arguments.literal(&it.ty, default, what)?)
                }
                (None, None) if it.ty.is_non_null() => return Err(what.refuse("is missing")),
                (None, None) => continue,
            };
            let weight = weight(&value);
            values.insert(name.to_owned(), Variable { value, weight });
        }
        Ok(Self { values })
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.values.get(name).map(|it| &*it.value)
    }

    pub(crate) fn number(&self, name: &str) -> Option<i64> {
        self.get(name).and_then(Value::as_i64)
    }

    /// Elements of a list; anything else is one.
    pub(crate) fn elements(&self, name: &str) -> u64 {
        self.get(name).map_or(0, |it| it.as_array().map_or(1, |it| it.len() as u64))
    }

    /// Those that are no lists and no objects.
    pub(crate) fn plain(&self) -> impl Iterator<Item = (&str, &Value)> {
        let plain = self.values.iter().filter(|(_, it)| !it.value.is_array() && !it.value.is_object());
        plain.map(|(name, it)| (name.as_str(), &*it.value))
    }
}

/// What has a value, for refusals.
#[derive(Clone, Copy)]
enum Named<'n> {
    Variable(&'n str),
    Argument(&'n str),
}

impl Named<'_> {
    fn refuse(self, problem: &str) -> Error {
        let text = match self {
            Self::Variable(name) => format!("The variable ${name} {problem}."),
            Self::Argument(name) => format!("The argument {name} {problem}."),
        };
        Error::new(ErrorCode::Input, shortened(text))
    }
}

/// Reads the arguments of fields.
pub(crate) struct Arguments<'a> {
    schema: &'a Schema,
    variables: &'a Variables<'a>,
    /// Bytes that variables in arguments may still have.
    left: Cell<usize>,
    most: usize,
}

impl<'a> Arguments<'a> {
    /// Variables may stand in as many places as they are `most` bytes together.
    pub(crate) fn new(schema: &'a Schema, variables: &'a Variables<'a>, most: usize) -> Self {
        Self { schema, variables, left: Cell::new(most), most }
    }

    /// The arguments of a field that have a value. One that is null counts as missing: no field makes a difference.
    ///
    /// # Errors
    /// A value that isn't of its type; too many bytes.
    pub(crate) fn of(&self, field: &Field) -> Result<Map<String, Value>, Error> {
        let mut values = Map::new();
        for definition in &field.definition.arguments {
            if let Some(value) = self.argument(field, definition)?
                && !value.is_null()
            {
                values.insert(definition.name.to_string(), value);
            }
        }
        Ok(values)
    }

    fn argument(&self, field: &Field, definition: &InputValueDefinition) -> Result<Option<Value>, Error> {
        let (name, ty) = (Named::Argument(&definition.name), &definition.ty);
        let default = || definition.default_value.as_ref().map(|it| self.literal(ty, it, name)).transpose();
        let value = match field.specified_argument_by_name(&definition.name).map(|it| &**it) {
            None => default()?,
            Some(Literal::Variable(it)) => match self.variable(it)? {
                Some(it) => Some(it),
                None => default()?,
            },
            Some(it) => Some(self.literal(ty, it, name)?),
        };
        match value.as_ref().is_none_or(Value::is_null) && ty.is_non_null() {
            true => Err(name.refuse("is missing")),
            false => Ok(value),
        }
    }

    fn variable(&self, name: &str) -> Result<Option<Value>, Error> {
        let Some(Variable { value, weight }) = self.variables.values.get(name) else { return Ok(None) };
        match self.left.get().checked_sub(*weight) {
            Some(left) => self.left.set(left),
            None => {
                let what = "bytes of variables in its arguments";
                let found = self.most.saturating_sub(self.left.get()).saturating_add(*weight);
                return Err(Error::limit("graphql_argument_bytes", what, found as u64, self.most));
            }
        }
        Ok(Some(value.clone().into_owned()))
    }

    fn literal(&self, ty: &Type, literal: &Literal, name: Named<'_>) -> Result<Value, Error> {
        match (ty, literal) {
            (_, Literal::Null) if ty.is_non_null() => Err(name.refuse("must not be null")),
            (_, Literal::Null) => Ok(Value::Null),
            (_, Literal::Variable(it)) => Ok(self.variable(it)?.unwrap_or(Value::Null)),
            (Type::List(of) | Type::NonNullList(of), Literal::List(list)) => {
                list.iter().map(|it| self.literal(of, it, name)).collect()
            }
            (Type::List(of) | Type::NonNullList(of), one) => Ok(Value::Array(vec![self.literal(of, one, name)?])),
            (Type::Named(of) | Type::NonNullNamed(of), literal) => match (self.schema.types.get(of), literal) {
                (Some(ExtendedType::InputObject(of)), Literal::Object(members)) => {
                    let sent = |name: &str| members.iter().find(|it| it.0 == name).map(|it| &*it.1);
                    let mut object = Map::new();
                    for (key, field) in &of.fields {
                        let literal = sent(key).or(field.default_value.as_deref());
                        if let Some(it) = literal {
                            object.insert(key.to_string(), self.literal(&field.ty, it, name)?);
                        }
                    }
                    Ok(Value::Object(object))
                }
                (_, Literal::Int(it)) if of == "ID" => Ok(Value::String(it.as_str().to_owned())),
                (_, literal) => self.any(literal, name),
            },
        }
    }

    /// A literal as JSON, whatever it is.
    fn any(&self, literal: &Literal, name: Named<'_>) -> Result<Value, Error> {
        let number = |text: &str| {
            let read = text.parse::<i64>().map(Number::from).ok();
            let read = read.or_else(|| text.parse::<f64>().ok().and_then(Number::from_f64));
            read.map(Value::Number).ok_or_else(|| name.refuse("has a number beyond what is counted with"))
        };
        Ok(match literal {
            Literal::Null => Value::Null,
            Literal::Enum(it) => Value::String(it.to_string()),
            Literal::Variable(it) => self.variable(it)?.unwrap_or(Value::Null),
            Literal::String(it) => Value::String(it.clone()),
            Literal::Boolean(it) => Value::Bool(*it),
            Literal::Int(it) => number(it.as_str())?,
            Literal::Float(it) => number(it.as_str())?,
            Literal::List(list) => list.iter().map(|it| self.any(it, name)).collect::<Result<_, _>>()?,
            Literal::Object(members) => {
                let member = |it: &(apollo_compiler::Name, apollo_compiler::Node<Literal>)| {
                    // A member whose variable wasn't sent is missing.
                    match &*it.1 {
                        Literal::Variable(variable) => {
                            Ok(self.variable(variable)?.map(|value| (it.0.to_string(), value)))
                        }
                        literal => Ok(Some((it.0.to_string(), self.any(literal, name)?))),
                    }
                };
                let members = members.iter().filter_map(|it| member(it).transpose());
                Value::Object(members.collect::<Result<_, Error>>()?)
            }
        })
    }
}

/// A value that was sent as a type takes it.
fn coerce<'v>(schema: &Schema, ty: &Type, value: &'v Value, name: Named<'_>) -> Result<Cow<'v, Value>, Error> {
    if value.is_null() {
        return if ty.is_non_null() { Err(name.refuse("must not be null")) } else { Ok(Cow::Borrowed(value)) };
    }
    let of = match ty {
        Type::List(of) | Type::NonNullList(of) => {
            let list = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
            let element = |it| coerce(schema, of, it, name).map(Cow::into_owned);
            return Ok(Cow::Owned(list.iter().map(element).collect::<Result<_, _>>()?));
        }
        Type::Named(of) | Type::NonNullNamed(of) => of,
    };
    let wrong = |what: &str| Err(name.refuse(&format!("is {value}, which is no {what}")));
    match schema.types.get(of) {
        Some(ExtendedType::Scalar(_)) => match of.as_str() {
            "Int" if value.as_i64().is_none_or(|it| i32::try_from(it).is_err()) => wrong("Int"),
            "Float" if !value.is_number() => wrong("Float"),
            "String" if !value.is_string() => wrong("String"),
            "Boolean" if !value.is_boolean() => wrong("Boolean"),
            "ID" => match value {
                Value::String(_) => Ok(Cow::Borrowed(value)),
                Value::Number(it) if it.is_i64() => Ok(Cow::Owned(Value::String(it.to_string()))),
                _ => wrong("ID"),
            },
            _ => Ok(Cow::Borrowed(value)),
        },
        Some(ExtendedType::Enum(of)) => {
            let is_one = value.as_str().is_some_and(|sent| of.values.keys().any(|it| it == sent));
            if is_one { Ok(Cow::Borrowed(value)) } else { wrong(&of.name) }
        }
        Some(ExtendedType::InputObject(of)) => {
            let Value::Object(sent) = value else { return wrong(&of.name) };
            if let Some(unknown) = sent.keys().find(|it| !of.fields.contains_key(it.as_str())) {
                return Err(name.refuse(&format!("has the member {unknown}, which {} has not", of.name)));
            }
            let none = Variables { values: HashMap::new() };
            let defaults = Arguments { schema, variables: &none, left: Cell::new(usize::MAX), most: 0 };
            let mut object = Map::new();
            for (key, field) in &of.fields {
                let value = match (sent.get(key.as_str()), &field.default_value) {
                    (Some(it), _) => coerce(schema, &field.ty, it, name)?.into_owned(),
                    (None, Some(it)) => defaults.literal(&field.ty, it, name)?,
                    (None, None) if field.ty.is_non_null() => {
                        return Err(name.refuse(&format!("lacks the member {key}")));
                    }
                    (None, None) => continue,
                };
                object.insert(key.to_string(), value);
            }
            Ok(Cow::Owned(Value::Object(object)))
        }
        // Validation has refused it.
        _ => wrong(of),
    }
}

/// Bytes that a value has about as text.
fn weight(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) => 5,
        Value::Number(_) => 16,
        Value::String(it) => it.len() + 3,
        Value::Array(list) => list.iter().map(weight).sum::<usize>() + 2,
        Value::Object(members) => members.iter().map(|(name, it)| name.len() + 4 + weight(it)).sum::<usize>() + 2,
    }
}
