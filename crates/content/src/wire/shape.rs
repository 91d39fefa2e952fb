//! The shape of JSON that a collection's maker sends, checked against a table.
//!
//! What fits is kept as it was sent. A member that is null counts as absent, and one that the table
//! doesn't name is not looked at: the server ignores unknown members.

use crate::Limits;
use serde_json::Value;
use stoa_kernel::{Code, Fault, Result, clock::Millis};

/// What a value may be.
pub(crate) enum Shape {
    Any,
    /// Text of so many characters, least and most.
    Text(usize, usize),
    /// Text of so many characters, at most as many as the configuration says.
    TextTo(usize, fn(&Limits) -> usize),
    Flag,
    /// A number, or `"NaN"`, `"Infinity"`, `"-Infinity"` (protocol/content.md 6.1).
    Number,
    /// A whole number, 0 or more.
    Count,
    /// A whole number.
    Whole,
    /// A time in ISO 8601.
    Time,
    OneOf(&'static [&'static str]),
    /// At most so many of these.
    List(usize, &'static Shape),
    /// At most as many of these as the configuration says.
    ListTo(fn(&Limits) -> usize, &'static Shape),
    Object(&'static [(&'static str, Shape)]),
    /// An object with at most one of these members: the variants of a union.
    Union(&'static [(&'static str, Shape)]),
    /// A shape that has a name, for those that hold themselves.
    Of(&'static Shape),
}

/// Checks a value; `path` names it in the refusal.
///
/// # Errors
/// WDE0075 with the path of the first thing that doesn't fit.
pub(crate) fn check(value: &Value, shape: &Shape, path: &str, limits: &Limits) -> Result<()> {
    let fits = match shape {
        Shape::Any => true,
        Shape::Of(it) => return check(value, it, path, limits),
        Shape::TextTo(least, most) => return check(value, &Shape::Text(*least, most(limits)), path, limits),
        Shape::ListTo(most, shape) => return check(value, &Shape::List(most(limits), shape), path, limits),
        Shape::Text(least, most) => match value.as_str() {
            Some(it) if it.contains('\0') => return Err(unfit(path, "must not contain the character NUL")),
            Some(it) if !(*least..=*most).contains(&it.chars().count()) => {
                return Err(unfit(path, &format!("must have {least} to {most} characters")));
            }
            it => it.is_some(),
        },
        Shape::Flag => value.is_boolean(),
        Shape::Number => value.is_number() || matches!(value.as_str(), Some("NaN" | "Infinity" | "-Infinity")),
        Shape::Count => value.as_u64().is_some(),
        Shape::Whole => value.as_i64().is_some(),
        Shape::Time => value.as_str().is_some_and(|it| parse_time(it).is_some()),
        Shape::OneOf(names) => match value.as_str() {
            Some(it) if !names.contains(&it) => {
                return Err(unfit(path, &format!("must be one of {}", names.join(", "))));
            }
            it => it.is_some(),
        },
        Shape::List(most, shape) => match value.as_array() {
            Some(list) if list.len() > *most => return Err(unfit(path, &format!("must have at most {most} elements"))),
            Some(list) => {
                let mut elements = list.iter().enumerate();
                return elements.try_for_each(|(n, it)| check(it, shape, &format!("{path}[{n}]"), limits));
            }
            None => false,
        },
        Shape::Object(members) => return check_members(value, members, path, limits),
        Shape::Union(members) => {
            check_members(value, members, path, limits)?;
            let present = members.iter().filter(|(name, _)| value.get(name).is_some_and(|it| !it.is_null()));
            if present.count() > 1 {
                return Err(unfit(path, "must have only one member"));
            }
            true
        }
    };
    if fits { Ok(()) } else { Err(unfit(path, &format!("must be {}", shape.noun()))) }
}

fn check_members(value: &Value, members: &[(&str, Shape)], path: &str, limits: &Limits) -> Result<()> {
    let Some(object) = value.as_object() else {
        return Err(unfit(path, "must be an object"));
    };
    for (name, shape) in members {
        match object.get(*name) {
            None | Some(Value::Null) => {}
            Some(member) => check(member, shape, &format!("{path}.{name}"), limits)?,
        }
    }
    Ok(())
}

/// A refusal of one member of a collection.
pub(crate) fn unfit(path: &str, rule: &str) -> Fault {
    Fault::because(Code::RequestInvalid, format!("{path} {rule}."))
}

fn parse_time(text: &str) -> Option<Millis> {
    stoa_kernel::date::parse(text)
}

impl Shape {
    fn noun(&self) -> &'static str {
        match self {
            Self::Any | Self::Of(_) => "present",
            Self::Text(..) | Self::TextTo(..) | Self::OneOf(_) => "a string",
            Self::Flag => "a boolean",
            Self::Number => "a number",
            Self::Count => "a whole number of 0 or more",
            Self::Whole => "a whole number",
            Self::Time => "a time in ISO 8601",
            Self::List(..) | Self::ListTo(..) => "a list",
            Self::Object(_) | Self::Union(_) => "an object",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    static TREE: Shape = Shape::Object(&[("name", Shape::Text(1, 3)), ("inner", Shape::List(2, &TREE))]);

    #[test]
    fn the_path_names_what_does_not_fit() {
        let refused =
            |value: Value| check(&value, &TREE, "tree", &Limits::default()).expect_err("refused").message().to_owned();
        assert!(
            check(&json!({"name": null, "other": 1, "inner": [{"name": "abc"}]}), &TREE, "tree", &Limits::default())
                .is_ok()
        );
        assert_eq!(refused(json!({"inner": [{}, {"name": 1}]})), "tree.inner[1].name must be a string.");
        assert_eq!(refused(json!({"inner": [{}, {}, {}]})), "tree.inner must have at most 2 elements.");
        assert_eq!(refused(json!({"name": ""})), "tree.name must have 1 to 3 characters.");
        assert_eq!(refused(json!([])), "tree must be an object.");
    }
}
