//! Items on their way into an answer: of each document the values that were asked for, copied as they stand.
//!
//! A document is canonical JSON. It is gone through once, and nothing of it is parsed but what must be looked into.

use crate::error::{Error, ErrorCode, PathStep};
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::{collections::HashMap, fmt};

/// Errors that are told one by one; a page may have a value of another type in each of its items.
const TOLD: usize = 100;

/// What a value must be to be answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leaf {
    Id,
    Text,
    Number,
    Boolean,
    DateTime,
    Texts,
    Any,
}

/// What is answered of an item.
#[derive(Debug, Default)]
pub(crate) struct Selection {
    pub(crate) type_name: String,
    /// The keys of the values that are needed, and at which place each is kept.
    pub(crate) slots: HashMap<String, usize>,
    pub(crate) outputs: Vec<Output>,
}

/// A member of the answer.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) key: String,
    pub(crate) value: OutputValue,
}

#[derive(Debug)]
pub(crate) enum OutputValue {
    TypeName,
    Data,
    Value(usize, Leaf),
    Single(usize, Selection),
    Multi { slot: usize, offset: usize, limit: usize, selection: Selection },
}

impl Leaf {
    pub(crate) fn type_name(self) -> &'static str {
        match self {
            Self::Id => "ID",
            Self::Text => "String",
            Self::Number => "Float",
            Self::Boolean => "Boolean",
            Self::DateTime => "DateTime",
            Self::Texts => "[String]",
            Self::Any => "JSON",
        }
    }

    /// The text of a value of this type; nothing for one of another. Lists are another matter.
    fn text(self, value: &str) -> Option<&str> {
        let begins = |signs: &[u8]| value.as_bytes().first().is_some_and(|it| signs.contains(it));
        match self {
            Self::Id | Self::Text => begins(b"\"").then_some(value),
            Self::Number => begins(b"-0123456789").then_some(value),
            Self::Boolean => begins(b"tf").then_some(value),
            Self::DateTime => {
                let inner = value.strip_prefix("{\"$date\":")?.strip_suffix('}')?;
                (inner.starts_with('"') && inner.len() < 64).then_some(inner)
            }
            Self::Texts => None,
            Self::Any => Some(value),
        }
    }
}

impl Selection {
    /// Whether something of what items refer to is answered.
    pub(crate) fn has_references(&self) -> bool {
        self.outputs.iter().any(|it| matches!(it.value, OutputValue::Single(..) | OutputValue::Multi { .. }))
    }
}

/// A part of an answer as it is printed, and what went wrong meanwhile.
pub struct Answer {
    pub(crate) out: String,
    errors: Vec<Error>,
    untold: usize,
    path: Vec<PathStep>,
    /// Bytes of `out`.
    most: usize,
}

impl Answer {
    /// An answer of at most so many bytes.
    pub(crate) fn new(most: usize) -> Self {
        Self { out: String::new(), errors: Vec::new(), untold: 0, path: Vec::new(), most }
    }

    pub(crate) fn fail(&mut self, error: Error) {
        if self.errors.len() < TOLD {
            self.errors.push(error);
        } else {
            self.untold += 1;
        }
    }

    /// What went wrong, and how much more of it there is.
    pub(crate) fn take_errors(&mut self) -> Vec<Error> {
        let mut errors = std::mem::take(&mut self.errors);
        if self.untold > 0 {
            errors.push(Error::new(ErrorCode::ValueType, format!("There are {} more errors.", self.untold)));
        }
        errors
    }

    pub(crate) fn most(&self) -> usize {
        self.most
    }

    /// Whether the answer has more bytes than it may.
    pub(crate) fn is_full(&self) -> bool {
        self.out.len() > self.most
    }

    pub(crate) fn at<T>(&mut self, step: PathStep, print: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(step);
        let printed = print(self);
        self.path.pop();
        printed
    }

    /// An item's document, as much as is selected of it. What it refers to stands in the document, or in
    /// `references` where there is such a one.
    pub(crate) fn item(&mut self, selection: &Selection, document: &str, references: Option<Option<&str>>) {
        let mut values = slots(selection, document);
        if let Some(other) = references {
            let filled = other.map(|it| slots(selection, it)).unwrap_or_default();
            for output in &selection.outputs {
                if let OutputValue::Single(slot, _) | OutputValue::Multi { slot, .. } = output.value {
                    values[slot] = filled.get(slot).copied().flatten();
                }
            }
        }
        self.out.push('{');
        for (n, output) in selection.outputs.iter().enumerate() {
            if self.is_full() {
                break;
            }
            self.out.extend([if n > 0 { ",\"" } else { "\"" }, &output.key, "\":"]);
            match &output.value {
                OutputValue::TypeName => self.out.extend(["\"", &selection.type_name, "\""]),
                OutputValue::Data => self.out.push_str(document),
                OutputValue::Value(slot, leaf) => self.leaf(&output.key, *leaf, values[*slot]),
                OutputValue::Single(slot, below) => match values[*slot].filter(|it| is_item(it)) {
                    Some(it) => {
                        self.at(PathStep::Field(output.key.clone()), |answer| answer.item(below, it, None));
                    }
                    // The id that stands there leads to nothing that the caller may read.
                    None => self.out.push_str("null"),
                },
                OutputValue::Multi { slot, offset, limit, selection } => {
                    let list = values[*slot].unwrap_or("[]");
                    self.at(PathStep::Field(output.key.clone()), |answer| {
                        answer.items(selection, list, *offset, *limit);
                    });
                }
            }
        }
        self.out.push('}');
    }

    /// Those items of a list that are there in full.
    fn items(&mut self, selection: &Selection, list: &str, offset: usize, limit: usize) {
        self.out.push('[');
        let elements = elements(list);
        let items = elements.into_iter().map(RawValue::get).filter(|it| is_item(it)).skip(offset).take(limit);
        for (n, it) in items.enumerate() {
            if n > 0 {
                self.out.push(',');
            }
            self.at(PathStep::Index(n), |answer| answer.item(selection, it, None));
        }
        self.out.push(']');
    }

    fn leaf(&mut self, key: &str, leaf: Leaf, value: Option<&str>) {
        let Some(value) = value.filter(|it| *it != "null") else {
            self.out.push_str("null");
            return;
        };
        if leaf == Leaf::Texts && value.starts_with('[') {
            self.at(PathStep::Field(key.to_owned()), |answer| answer.texts(value));
            return;
        }
        match leaf.text(value) {
            Some(it) => self.out.push_str(it),
            None => {
                self.at(PathStep::Field(key.to_owned()), |answer| answer.misfit(leaf.type_name()));
                self.out.push_str("null");
            }
        }
    }

    fn texts(&mut self, list: &str) {
        self.out.push('[');
        for (n, it) in elements(list).into_iter().map(RawValue::get).enumerate() {
            if n > 0 {
                self.out.push(',');
            }
            if it.starts_with('"') || it == "null" {
                self.out.push_str(it);
                continue;
            }
            self.at(PathStep::Index(n), |answer| answer.misfit("String"));
            self.out.push_str("null");
        }
        self.out.push(']');
    }

    fn misfit(&mut self, type_name: &str) {
        let text = format!("The stored value is no {type_name}; _data shows it as it is.");
        let mut error = Error::new(ErrorCode::ValueType, text);
        error.path.clone_from(&self.path);
        self.fail(error);
    }
}

/// Whether a value is an item and not the id of one.
fn is_item(value: &str) -> bool {
    value.starts_with("{\"_id\":\"")
}

/// The values of a document that a selection needs, each at its place.
fn slots<'d>(selection: &Selection, document: &'d str) -> Vec<Option<&'d str>> {
    let mut values = vec![None; selection.slots.len()];
    if !values.is_empty() {
        let mut parser = serde_json::Deserializer::from_str(document);
        // Documents are canonical; of one that can't be read what stands before that is answered.
        let _ = parser.deserialize_map(Slots { slots: &selection.slots, values: &mut values });
    }
    values
}

struct Slots<'s, 'd> {
    slots: &'s HashMap<String, usize>,
    values: &'s mut [Option<&'d str>],
}

impl<'d> Visitor<'d> for Slots<'_, 'd> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a document")
    }

    fn visit_map<A: MapAccess<'d>>(self, mut members: A) -> Result<(), A::Error> {
        while let Some(slot) = members.next_key_seed(Key(self.slots))? {
            match slot {
                Some(slot) => {
                    let value: &'d RawValue = members.next_value()?;
                    let place = self.values.get_mut(slot).ok_or_else(|| A::Error::custom("no such place"))?;
                    *place = Some(value.get());
                }
                None => drop(members.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

/// Reads a name, and answers at which place its value is kept.
struct Key<'s>(&'s HashMap<String, usize>);

impl<'d> DeserializeSeed<'d> for Key<'_> {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'d>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_str(self)
    }
}

impl Visitor<'_> for Key<'_> {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        Ok(self.0.get(name).copied())
    }
}

/// The elements of a list, unread.
fn elements(list: &str) -> Vec<&RawValue> {
    serde_json::from_str(list).unwrap_or_default()
}

/// The documents of the elements of a page, which stand with commas between them, each as the member `data`.
///
/// # Errors
/// What can't be read: a fault of the server.
pub(crate) fn documents(mut elements: &str) -> Result<Vec<&str>, serde_json::Error> {
    #[derive(serde::Deserialize)]
    struct Element<'d> {
        #[serde(borrow)]
        data: &'d RawValue,
    }

    let mut documents = Vec::new();
    while !elements.is_empty() {
        let mut stream = serde_json::Deserializer::from_str(elements).into_iter::<Element<'_>>();
        let Some(element) = stream.next() else { break };
        let end = stream.byte_offset();
        documents.push(element?.data.get());
        elements = elements.get(end..).map_or("", |rest| rest.strip_prefix(',').unwrap_or(rest));
    }
    Ok(documents)
}
