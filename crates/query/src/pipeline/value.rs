//! Values on their way through a pipeline: read once from what is stored, cheap to copy, printed once.

use crate::item::number;
use serde_json::Value as Json;
use std::{fmt::Write, sync::Arc};
use stoa_sql::{json, jsonb::Element, key};

#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Null,
    Flag(bool),
    /// Finite, and never minus zero.
    Number(f64),
    Text(Arc<str>),
    Array(Vec<Value>),
    /// Members in their order; no name is there twice. A date is an object of one member, `$date`.
    Object(Vec<(Arc<str>, Value)>),
}

/// Which members of a document are read.
#[derive(Debug, Clone, PartialEq)]
pub enum Members {
    All,
    /// Those of these names.
    Some(Vec<Arc<str>>),
}

/// No document is as deep; what else might be in a file must not use up the stack.
const DEEPEST: usize = 100;

impl Members {
    /// The members of a document in SQLite's form, in this room, which is empty; nothing if it is none.
    pub fn of_jsonb(&self, document: &[u8], room: Vec<(Arc<str>, Value)>) -> Option<Value> {
        let root = Element::root(document).filter(|it| it.is_object())?;
        let Self::Some(names) = self else { return of_element(root, 0) };
        let mut members = room;
        members.reserve(names.len());
        for (name, value) in root.members() {
            if members.len() == names.len() {
                break;
            }
            if let Some(it) = names.iter().find(|it| name.is_text(it)) {
                members.push((it.clone(), of_element(value, 1)?));
            }
        }
        Some(Value::Object(members))
    }

    /// The same of a document in canonical text.
    pub fn of_text(&self, document: &str, room: Vec<(Arc<str>, Value)>) -> Option<Value> {
        let Self::Some(names) = self else {
            return Some(Value::of_json(serde_json::from_str(document).ok()?));
        };
        let mut members = room;
        members.reserve(names.len());
        for (quoted, text) in crate::item::members(document) {
            if members.len() == names.len() {
                break;
            }
            if let Some(it) = names.iter().find(|it| is_quoted(quoted, it)) {
                members
                    .push((it.clone(), scalar(text).or_else(|| serde_json::from_str(text).ok().map(Value::of_json))?));
            }
        }
        Some(Value::Object(members))
    }
}

/// Whether a name in canonical text is this one.
fn is_quoted(quoted: &str, name: &str) -> bool {
    let inner = quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default();
    inner == name && !name.contains('\\') || inner.contains('\\') && json::quoted(name) == quoted
}

/// The value of canonical text that is short to read.
fn scalar(text: &str) -> Option<Value> {
    match text.as_bytes().first()? {
        b'"' if !text.contains('\\') => Some(Value::Text(text.get(1..text.len().checked_sub(1)?)?.into())),
        b'-' | b'0'..=b'9' => text.parse().ok().map(Value::Number),
        _ => None,
    }
}

fn of_element(element: Element<'_>, depth: usize) -> Option<Value> {
    if depth > DEEPEST {
        return None;
    }
    if let Some(it) = element.number() {
        return Some(Value::Number(it + 0.0));
    }
    if let Some(it) = element.text() {
        return Some(Value::Text(it.as_ref().into()));
    }
    if let Some(it) = element.flag() {
        return Some(Value::Flag(it));
    }
    if element.is_array() {
        return element.elements().map(|it| of_element(it, depth + 1)).collect::<Option<_>>().map(Value::Array);
    }
    if element.is_object() {
        let member =
            |(name, it): (Element<'_>, Element<'_>)| Some((name.text()?.as_ref().into(), of_element(it, depth + 1)?));
        return element.members().map(member).collect::<Option<_>>().map(Value::Object);
    }
    Some(Value::Null)
}

impl Value {
    pub fn of_json(json: Json) -> Self {
        match json {
            Json::Null => Self::Null,
            Json::Bool(it) => Self::Flag(it),
            Json::Number(it) => Self::Number(it.as_f64().unwrap_or_default() + 0.0),
            Json::String(it) => Self::Text(it.into()),
            Json::Array(list) => Self::Array(list.into_iter().map(Self::of_json).collect()),
            Json::Object(members) => {
                Self::Object(members.into_iter().map(|(name, it)| (name.into(), Self::of_json(it))).collect())
            }
        }
    }

    pub fn to_json(&self) -> Json {
        match self {
            Self::Null => Json::Null,
            Self::Flag(it) => (*it).into(),
            Self::Number(it) => (*it).into(),
            Self::Text(it) => (&**it).into(),
            Self::Array(list) => list.iter().map(Self::to_json).collect(),
            Self::Object(members) => {
                Json::Object(members.iter().map(|(name, it)| (name.to_string(), it.to_json())).collect())
            }
        }
    }

    pub(super) fn text(text: &str) -> Self {
        Self::Text(text.into())
    }

    /// The member of an object.
    pub(super) fn member(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Object(members) => members.iter().find(|it| &*it.0 == name).map(|it| &it.1),
            _ => None,
        }
    }

    pub(super) fn member_mut(&mut self, name: &str) -> Option<&mut Self> {
        match self {
            Self::Object(members) => members.iter_mut().find(|it| &*it.0 == name).map(|it| &mut it.1),
            _ => None,
        }
    }

    /// Takes a member out of an object.
    pub(super) fn take(&mut self, name: &str) -> Option<Self> {
        let Self::Object(members) = self else { return None };
        let n = members.iter().position(|it| &*it.0 == name)?;
        Some(members.remove(n).1)
    }

    /// Puts a member into an object: in the place of the one of this name, or at the end.
    pub(super) fn put(&mut self, name: &Arc<str>, value: Self) {
        let Self::Object(members) = self else { return };
        match members.iter_mut().find(|it| it.0 == *name) {
            Some(it) => it.1 = value,
            None => members.push((name.clone(), value)),
        }
    }

    /// The text of a date.
    pub(super) fn date(&self) -> Option<&str> {
        match self {
            Self::Object(members) => match members.as_slice() {
                [(name, Self::Text(iso))] if &**name == "$date" => Some(iso),
                _ => None,
            },
            _ => None,
        }
    }

    /// Every value at a path, each array on the way standing for its elements.
    pub(super) fn leaves<'v>(&'v self, path: &[String], each: &mut impl FnMut(&'v Self)) {
        let Some((name, rest)) = path.split_first() else { return each(self) };
        let Some(found) = self.member(name) else { return };
        match found {
            Self::Array(list) if !rest.is_empty() => list.iter().for_each(|it| it.leaves(rest, each)),
            it => it.leaves(rest, each),
        }
    }

    /// The key of the value as a whole, as `stoa_sql::key::own` has it.
    pub(super) fn own_key(&self, out: &mut String) {
        match self {
            Self::Null => {}
            Self::Number(it) => key::own_of_number(*it, out),
            Self::Text(it) => {
                out.push('2');
                out.push_str(it);
            }
            Self::Flag(it) => out.push_str(if *it { "51" } else { "50" }),
            Self::Array(_) | Self::Object(_) => out.push_str(&key::own_of(&self.to_json())),
        }
    }

    /// The same, bounded.
    pub(super) fn bounded_key(&self, out: &mut String) {
        let start = out.len();
        self.own_key(out);
        if out.len() - start > key::LONGEST {
            let own = out.split_off(start);
            out.push_str(&key::bounded(own));
        }
    }

    /// The sort keys of the value: an array stands where its extreme element stands.
    pub(super) fn least_key(&self) -> String {
        self.extreme_key(|keys| keys.min())
    }

    pub(super) fn greatest_key(&self) -> String {
        self.extreme_key(|keys| keys.max())
    }

    fn extreme_key(&self, choose: fn(&mut dyn Iterator<Item = String>) -> Option<String>) -> String {
        let bounded = |it: &Self| {
            let mut key = String::new();
            it.bounded_key(&mut key);
            key
        };
        match self {
            Self::Array(list) => choose(&mut list.iter().map(bounded)).unwrap_or_default(),
            it => bounded(it),
        }
    }

    /// About the bytes that it takes in memory.
    pub(super) fn weight(&self) -> usize {
        const SELF: usize = size_of::<Value>();
        SELF + match self {
            Self::Null | Self::Flag(_) | Self::Number(_) => 0,
            Self::Text(it) => it.len() + 16,
            Self::Array(list) => list.iter().map(Self::weight).sum(),
            Self::Object(members) => members.iter().map(|(name, it)| name.len() + 32 + it.weight()).sum(),
        }
    }

    /// Appends canonical text.
    pub fn print(&self, out: &mut String) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Flag(it) => {
                let _ = write!(out, "{it}");
            }
            Self::Number(it) => number::print(*it, out),
            Self::Text(it) => out.push_str(&json::quoted(it)),
            Self::Array(list) => {
                out.push('[');
                for (n, it) in list.iter().enumerate() {
                    out.push_str(if n > 0 { "," } else { "" });
                    it.print(out);
                }
                out.push(']');
            }
            Self::Object(members) => {
                out.push('{');
                for (n, (name, it)) in members.iter().enumerate() {
                    out.push_str(if n > 0 { "," } else { "" });
                    out.push_str(&json::quoted(name));
                    out.push(':');
                    it.print(out);
                }
                out.push('}');
            }
        }
    }
}
