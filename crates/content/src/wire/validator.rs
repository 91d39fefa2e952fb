//! Validators: tables of what the JSON of a collection's definition may be.
//!
//! What fits is kept as it was sent. A member that is null counts as absent, and one that the table
//! doesn't name is not looked at: the server ignores unknown members.

use crate::{
    fault::{Faults, invalid},
    limits::ContentLimits,
};
use serde_json::Value;
use stoa_kernel::{Result, clock::Millis};

/// What a value may be.
pub(crate) enum Validator {
    Any,
    /// Text of so many characters, least and most.
    Text(usize, usize),
    /// Text of so many characters, at most as many as the configuration says.
    TextTo(usize, fn(&ContentLimits) -> usize),
    Flag,
    /// A number, or `"NaN"`, `"Infinity"`, `"-Infinity"` (docs/protocol/content.md §6.1).
    Number,
    /// A whole number, 0 or more.
    Count,
    /// A whole number.
    Whole,
    /// A time in ISO 8601.
    Time,
    OneOf(&'static [&'static str]),
    /// At most so many of these.
    List(usize, &'static Validator),
    /// At most as many of these as the configuration says.
    ListTo(fn(&ContentLimits) -> usize, &'static Validator),
    Object(&'static [(&'static str, Validator)]),
    /// An object with at most one of these members: the variants of a union.
    Union(&'static [(&'static str, Validator)]),
    /// A validator that has a name, for those that hold themselves.
    Of(&'static Validator),
}

/// Checks a value; `path` names it in the refusal.
///
/// # Errors
/// WDE0075 with the path of each thing that doesn't fit.
pub(crate) fn check(value: &Value, validator: &Validator, path: &str, limits: &ContentLimits) -> Result<()> {
    let mut found = Check { limits, faults: Faults::default() };
    found.value(value, validator, path);
    found.faults.refuse()
}

/// What was found so far.
struct Check<'l> {
    limits: &'l ContentLimits,
    faults: Faults,
}

impl Check<'_> {
    fn value(&mut self, value: &Value, validator: &Validator, path: &str) {
        let fits = match validator {
            Validator::Any => true,
            Validator::Of(it) => return self.value(value, it, path),
            Validator::TextTo(least, most) => return self.text(value, *least, most(self.limits), path),
            Validator::Text(least, most) => return self.text(value, *least, *most, path),
            Validator::Flag => value.is_boolean(),
            Validator::Number => value.is_number() || matches!(value.as_str(), Some("NaN" | "Infinity" | "-Infinity")),
            Validator::Count => value.as_u64().is_some(),
            Validator::Whole => value.as_i64().is_some(),
            Validator::Time => value.as_str().is_some_and(|it| parse_time(it).is_some()),
            Validator::OneOf(names) => match value.as_str() {
                Some(it) if !names.contains(&it) => {
                    return self.faults.add(invalid(path, &format!("must be one of {}", names.join(", "))));
                }
                it => it.is_some(),
            },
            Validator::List(most, validator) => return self.list(value, *most, validator, path),
            Validator::ListTo(most, validator) => return self.list(value, most(self.limits), validator, path),
            Validator::Object(members) => return self.members(value, members, path),
            Validator::Union(members) => {
                let present = members.iter().filter(|(name, _)| value.get(name).is_some_and(|it| !it.is_null()));
                if present.count() > 1 {
                    self.faults.add(invalid(path, "must have only one member"));
                }
                return self.members(value, members, path);
            }
        };
        if !fits {
            self.refuse(path, validator.type_name());
        }
    }

    fn text(&mut self, value: &Value, least: usize, most: usize, path: &str) {
        match value.as_str() {
            None => self.refuse(path, "a string"),
            Some(it) if it.contains('\0') => self.faults.add(invalid(path, "must not contain the character NUL")),
            Some(it) if !(least..=most).contains(&it.chars().count()) => {
                self.faults.add(invalid(path, &format!("must have {least} to {most} characters")));
            }
            Some(_) => {}
        }
    }

    fn list(&mut self, value: &Value, most: usize, validator: &Validator, path: &str) {
        match value.as_array() {
            None => self.refuse(path, "a list"),
            Some(list) if list.len() > most => {
                self.faults.add(invalid(path, &format!("must have at most {most} elements")));
            }
            Some(list) => {
                list.iter().enumerate().for_each(|(n, it)| self.value(it, validator, &format!("{path}[{n}]")));
            }
        }
    }

    fn members(&mut self, value: &Value, members: &[(&str, Validator)], path: &str) {
        let Some(object) = value.as_object() else {
            return self.refuse(path, "an object");
        };
        for (name, validator) in members {
            if let Some(member) = object.get(*name).filter(|it| !it.is_null()) {
                self.value(member, validator, &format!("{path}.{name}"));
            }
        }
    }

    fn refuse(&mut self, path: &str, wanted: &str) {
        self.faults.add(invalid(path, &format!("must be {wanted}")));
    }
}

fn parse_time(text: &str) -> Option<Millis> {
    stoa_kernel::date::parse(text)
}

impl Validator {
    fn type_name(&self) -> &'static str {
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

    static TREE: Validator =
        Validator::Object(&[("name", Validator::Text(1, 3)), ("inner", Validator::List(2, &TREE))]);

    #[test]
    fn refusal_names_the_path() {
        let refused = |value: Value| {
            check(&value, &TREE, "tree", &ContentLimits::default()).expect_err("refused").message().to_owned()
        };
        assert!(
            check(
                &json!({"name": null, "other": 1, "inner": [{"name": "abc"}]}),
                &TREE,
                "tree",
                &ContentLimits::default()
            )
            .is_ok()
        );
        assert_eq!(refused(json!({"inner": [{}, {"name": 1}]})), "tree.inner[1].name must be a string.");
        assert_eq!(refused(json!({"inner": [{}, {}, {}]})), "tree.inner must have at most 2 elements.");
        assert_eq!(refused(json!({"name": ""})), "tree.name must have 1 to 3 characters.");
        assert_eq!(refused(json!([])), "tree must be an object.");
        assert_eq!(
            refused(json!({"name": 7, "inner": [{"name": ""}, 1]})),
            "tree.name must be a string. tree.inner[0].name must have 1 to 3 characters. tree.inner[1] must be an object."
        );
    }
}
