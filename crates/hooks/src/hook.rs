//! The hooks there are, and what a site's code exports of them.

use serde_json::value::RawValue;
use std::fmt;

/// A moment of a call at which a site's code may be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Hook {
    BeforeInsert,
    AfterInsert,
    BeforeUpdate,
    AfterUpdate,
    BeforeRemove,
    AfterRemove,
    BeforeGet,
    AfterGet,
    BeforeQuery,
    AfterQuery,
    BeforeCount,
    AfterCount,
    BeforeDistinct,
    AfterDistinct,
    OnFailure,
}

/// What a hook may answer. Anything else is ignored, as the vendor does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answers {
    /// An object that is no array: an item, a query.
    Object,
    /// An id.
    Text,
    Number,
    Any,
}

impl Hook {
    pub const ALL: [Self; 15] = [
        Self::BeforeInsert,
        Self::AfterInsert,
        Self::BeforeUpdate,
        Self::AfterUpdate,
        Self::BeforeRemove,
        Self::AfterRemove,
        Self::BeforeGet,
        Self::AfterGet,
        Self::BeforeQuery,
        Self::AfterQuery,
        Self::BeforeCount,
        Self::AfterCount,
        Self::BeforeDistinct,
        Self::AfterDistinct,
        Self::OnFailure,
    ];

    /// As the exported function's name ends.
    pub fn name(self) -> &'static str {
        match self {
            Self::BeforeInsert => "beforeInsert",
            Self::AfterInsert => "afterInsert",
            Self::BeforeUpdate => "beforeUpdate",
            Self::AfterUpdate => "afterUpdate",
            Self::BeforeRemove => "beforeRemove",
            Self::AfterRemove => "afterRemove",
            Self::BeforeGet => "beforeGet",
            Self::AfterGet => "afterGet",
            Self::BeforeQuery => "beforeQuery",
            Self::AfterQuery => "afterQuery",
            Self::BeforeCount => "beforeCount",
            Self::AfterCount => "afterCount",
            Self::BeforeDistinct => "beforeDistinct",
            Self::AfterDistinct => "afterDistinct",
            Self::OnFailure => "onFailure",
        }
    }

    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }

    pub fn answers(self) -> Answers {
        match self {
            Self::BeforeGet | Self::BeforeRemove => Answers::Text,
            Self::AfterCount => Answers::Number,
            Self::AfterDistinct | Self::OnFailure => Answers::Any,
            _ => Answers::Object,
        }
    }

    fn bit(self) -> u16 {
        1 << (self as u16)
    }
}

impl Answers {
    /// Whether a value is of the kind.
    pub fn include(self, value: &RawValue) -> bool {
        let first = value.get().bytes().next();
        match self {
            Self::Object => first == Some(b'{'),
            Self::Text => first == Some(b'"'),
            Self::Number => first.is_some_and(|it| it == b'-' || it.is_ascii_digit()),
            Self::Any => true,
        }
    }
}

/// Whether a value may be the code of an error.
pub(crate) fn is_code(value: &RawValue) -> bool {
    Answers::Text.include(value) || Answers::Number.include(value)
}

impl fmt::Display for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The hooks of one collection.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Hooks(u16);

impl Hooks {
    pub fn has(self, hook: Hook) -> bool {
        self.0 & hook.bit() != 0
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub fn add(&mut self, hook: Hook) {
        self.0 |= hook.bit();
    }
}

/// A function of `data.js`: `cars_beforeInsert` is the hook `beforeInsert` of the collection `cars`.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Export {
    pub collection: String,
    pub hook: Hook,
}

impl Export {
    /// The collection ends at the last underscore, for its own id may have some.
    pub fn of_name(name: &str) -> Option<Self> {
        let (collection, hook) = name.rsplit_once('_')?;
        let hook = Hook::of_name(hook)?;
        (!collection.is_empty()).then(|| Self { collection: collection.to_owned(), hook })
    }
}

impl fmt::Display for Export {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}_{}", self.collection, self.hook)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_of_an_export_is_collection_and_hook() {
        for hook in Hook::ALL {
            let name = format!("my_cars_{hook}");
            let export = Export::of_name(&name).expect("an export");
            assert_eq!((export.collection.as_str(), export.hook), ("my_cars", hook));
            assert_eq!(export.to_string(), name);
            assert_eq!(serde_json::to_value(hook).expect("json"), hook.name());
        }
        for name in ["", "_beforeInsert", "beforeInsert", "cars_beforeinsert", "cars_", "cars_beforeInsert_"] {
            assert_eq!(Export::of_name(name), None, "{name}");
        }
    }

    #[test]
    fn each_hook_has_its_own_bit() {
        for hook in Hook::ALL {
            let mut hooks = Hooks::default();
            hooks.add(hook);
            assert_eq!(Hook::ALL.into_iter().filter(|it| hooks.has(*it)).collect::<Vec<_>>(), [hook]);
        }
    }
}
