//! Expressions of a pipeline: `{"add": {"expressions": [{"fieldPath": "price"}, {"numeric": 1}]}}`.

use super::{
    member::{field_name, present},
    report::{Report, shortened},
};
use crate::stages::{Expression, Many, One, Two};
use serde_json::{Map, Value as Json};
use stoa_kernel::{Code, Fault};

/// The name of a field, and where it stands in the request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    pub name: String,
    pub path: Box<str>,
}

/// Elements of each list of a stage or an expression.
pub(super) const MAX_LIST: usize = 1000;
/// Characters of a text.
const MAX_TEXT: usize = 1000;
/// Expressions within each other.
const MAX_DEPTH: usize = 32;
/// Expressions and names of one pipeline: each is worked out for every row.
const MAX_NODES: usize = 10_000;

/// Reads parts of a pipeline; what is wrong goes to the report, and the rest is read on.
pub(super) struct Reader<'r> {
    pub(super) report: &'r mut Report,
    nodes: usize,
}

impl<'r> Reader<'r> {
    pub(super) fn new(report: &'r mut Report) -> Self {
        Self { report, nodes: 0 }
    }

    /// Reads a member of the object at hand.
    pub(super) fn inside<T>(&mut self, name: &str, read: impl FnOnce(&mut Self) -> T) -> T {
        let mark = self.report.enter(name);
        let read = read(self);
        self.report.leave(mark);
        read
    }

    /// Keeps a fault of what is at hand.
    pub(super) fn wrong<T>(&mut self, code: Code, text: impl Into<String>) -> Option<T> {
        self.report.keep(Err(Fault::because(code, text)))
    }

    /// The only member of an object, which says what the rest is: its name and its value.
    pub(super) fn one_of<'j>(&mut self, what: &str, value: &'j Json, known: &[&str]) -> Option<(&'j str, &'j Json)> {
        let Json::Object(object) = value else {
            return self.wrong(Code::BadRequest, format!("{what} must be an object"));
        };
        if let Some((name, _)) = object.iter().find(|(name, it)| !it.is_null() && !known.contains(&name.as_str())) {
            let text = format!("{} is no kind of {what} that this server has", shortened(name));
            return self.wrong(Code::BadRequest, text);
        }
        let mut given = object.iter().filter(|(_, it)| !it.is_null());
        match (given.next(), given.next()) {
            (Some((name, value)), None) => Some((name.as_str(), value)),
            _ => self.wrong(Code::BadRequest, format!("{what} must have exactly one of {}", known.join(", "))),
        }
    }

    pub(super) fn object<'j>(&mut self, value: &'j Json) -> Option<&'j Map<String, Json>> {
        match value {
            Json::Object(it) => Some(it),
            _ => self.wrong(Code::BadRequest, "must be an object"),
        }
    }

    /// The elements of a list in a member, each as `read` reads it; none if it is absent.
    pub(super) fn list<T>(
        &mut self,
        object: &Map<String, Json>,
        name: &str,
        mut read: impl FnMut(&mut Self, &Json) -> Option<T>,
    ) -> Vec<T> {
        let Some(value) = present(object, name) else { return Vec::new() };
        self.inside(name, |reader| {
            let Json::Array(list) = value else {
                reader.wrong::<()>(Code::BadRequest, format!("{name} must be a list"));
                return Vec::new();
            };
            if list.len() > MAX_LIST {
                reader.wrong::<()>(Code::BadRequest, format!("{name} has more than {MAX_LIST} elements"));
                return Vec::new();
            }
            let mut elements = Vec::with_capacity(list.len());
            for (n, it) in list.iter().enumerate() {
                if reader.report.is_full() {
                    break;
                }
                let mark = reader.report.enter_element(n);
                elements.extend(read(reader, it));
                reader.report.leave(mark);
            }
            elements
        })
    }

    /// A name of a field that is read.
    pub(super) fn name(&mut self, object: &Map<String, Json>, member: &str) -> Option<Named> {
        self.inside(member, |reader| {
            let name = match present(object, member) {
                Some(Json::String(it)) if it.is_empty() => {
                    Err(Fault::because(Code::NameEmpty, format!("{member} must not be empty")))
                }
                Some(Json::String(it)) => field_name(it),
                _ => Err(Fault::because(Code::FieldNotText, format!("{member} must be a string"))),
            };
            let name = reader.report.keep(name)?;
            reader.count()?;
            Some(Named { name, path: reader.report.path().into() })
        })
    }

    /// The expression in a member.
    pub(super) fn expression(
        &mut self,
        object: &Map<String, Json>,
        member: &str,
        depth: usize,
    ) -> Option<Expression<Named>> {
        self.inside(member, |reader| match present(object, member) {
            Some(it) => reader.value(it, depth),
            None => reader.wrong(Code::BadRequest, format!("{member} is missing")),
        })
    }

    fn value(&mut self, value: &Json, depth: usize) -> Option<Expression<Named>> {
        if depth > MAX_DEPTH {
            return self.wrong(Code::BadRequest, format!("expressions are nested deeper than {MAX_DEPTH} levels"));
        }
        self.count()?;
        let (name, operand) = self.one_of("an expression", value, KINDS)?;
        match name {
            "fieldPath" => {
                let object = self.object(value)?;
                self.name(object, name).map(Expression::Field)
            }
            "text" => self.inside(name, |reader| reader.text(operand)).map(Expression::Text),
            "numeric" => self.inside(name, |reader| reader.number(operand)).map(Expression::Number),
            _ => self.inside(name, |reader| {
                let object = reader.object(operand)?;
                reader.operation(name, object, depth + 1)
            }),
        }
    }

    fn operation(&mut self, name: &str, object: &Map<String, Json>, depth: usize) -> Option<Expression<Named>> {
        if let Some((_, it)) = ONE.iter().find(|it| it.0 == name) {
            return Some(Expression::One(*it, Box::new(self.expression(object, "expression", depth)?)));
        }
        if let Some((_, it)) = TWO.iter().find(|it| it.0 == name) {
            let first = self.expression(object, "firstExpression", depth);
            let second = self.expression(object, "secondExpression", depth);
            return Some(Expression::Two(*it, Box::new([first?, second?])));
        }
        if let Some((_, it)) = MANY.iter().find(|it| it.0 == name) {
            let list = self.list(object, "expressions", |reader, it| reader.value(it, depth));
            if list.is_empty() && !self.report.is_wrong() {
                return self
                    .inside("expressions", |it| it.wrong(Code::BadRequest, format!("{name} needs an expression")));
            }
            return Some(Expression::Many(*it, list));
        }
        let text = self.expression(object, "expression", depth);
        let start = self.expression(object, "startExpression", depth);
        let length = match present(object, "lengthExpression") {
            None => None,
            Some(_) => Some(Box::new(self.expression(object, "lengthExpression", depth)?)),
        };
        Some(Expression::Substring { text: Box::new(text?), start: Box::new(start?), length })
    }

    fn text(&mut self, value: &Json) -> Option<String> {
        match value {
            Json::String(it) if it.contains('\0') => self.wrong(Code::BadRequest, "a text contains the character NUL"),
            Json::String(it) if it.chars().count() > MAX_TEXT => {
                self.wrong(Code::BadRequest, format!("a text is longer than {MAX_TEXT} characters"))
            }
            Json::String(it) => Some(it.clone()),
            _ => self.wrong(Code::OperandNotText, "text must be a string"),
        }
    }

    fn number(&mut self, value: &Json) -> Option<f64> {
        match value {
            Json::Number(it) => it.as_f64().filter(|it| it.is_finite()).map(|it| it + 0.0),
            _ => None,
        }
        .or_else(|| self.wrong(Code::NotNumber, "numeric must be a number"))
    }

    /// Counts what is worked out for each row.
    fn count(&mut self) -> Option<()> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return self
                .wrong(Code::BadRequest, format!("the request has more than {MAX_NODES} names and expressions"));
        }
        Some(())
    }
}

const KINDS: &[&str] = &[
    "fieldPath",
    "text",
    "numeric",
    "add",
    "sum",
    "subtract",
    "multiply",
    "divide",
    "mod",
    "abs",
    "floor",
    "ceil",
    "concat",
    "stringify",
    "toLower",
    "toUpper",
    "substring",
    "length",
];
const ONE: &[(&str, One)] = &[
    ("abs", One::Abs),
    ("floor", One::Floor),
    ("ceil", One::Ceil),
    ("stringify", One::Stringify),
    ("toLower", One::Lower),
    ("toUpper", One::Upper),
    ("length", One::Length),
];
const TWO: &[(&str, Two)] = &[("subtract", Two::Subtract), ("divide", Two::Divide), ("mod", Two::Modulo)];
const MANY: &[(&str, Many)] =
    &[("add", Many::Add), ("sum", Many::Sum), ("multiply", Many::Multiply), ("concat", Many::Concat)];
