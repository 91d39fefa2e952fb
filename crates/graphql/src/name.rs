//! Names of GraphQL for ids of collections and keys of fields, which may have any characters.
//!
//! The mapping is fixed: what a name can't have becomes `_`. Where two come to the same, the older keeps the name and the
//! others are numbered.

use crate::{print::Leaf, types::Write};
use std::collections::HashSet;

/// Types that every schema has. No collection's types are called so.
pub(crate) const SHARED_TYPES: [&str; 16] = [
    "Query",
    "Mutation",
    "Subscription",
    "Int",
    "Float",
    "String",
    "Boolean",
    "ID",
    "JSON",
    "DateTime",
    "Sort",
    "SortOrder",
    "Patch",
    "BulkError",
    "Member",
    "Collection",
];

/// Fields that every item has.
pub(crate) const SYSTEM: [(&str, Leaf); 4] =
    [("_id", Leaf::Id), ("_createdDate", Leaf::DateTime), ("_updatedDate", Leaf::DateTime), ("_owner", Leaf::Id)];

/// The field of an item that is all of it.
pub(crate) const DATA: &str = "_data";

/// Items of a list that brings as many as it says without being asked.
pub(crate) const LIMIT: u32 = 50;

/// The field that every query type has: without a collection there is nothing else.
pub(crate) const COLLECTIONS: &str = "_collections";

/// The name that an id or a key would have by itself: letters, digits and `_`, beginning with no digit and not with
/// `__`, which is the language's own.
pub(crate) fn of(text: &str) -> String {
    let plain = |it: char| if it.is_ascii_alphanumeric() || it == '_' { it } else { '_' };
    let mapped: String = text.chars().map(plain).collect();
    let rest = mapped.trim_start_matches('_');
    let begins_low = mapped.len() > rest.len();
    match rest.chars().next() {
        None => "_".to_owned(),
        Some(it) if begins_low || it.is_ascii_digit() => format!("_{rest}"),
        Some(_) => mapped,
    }
}

/// The same as a type is called: beginning with a capital.
pub(crate) fn capital(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map_or_else(String::new, |it| it.to_ascii_uppercase().to_string() + letters.as_str())
}

/// The first of `name`, `name_2`, `name_3`, … that is free.
pub(crate) fn numbered(name: &str, is_free: impl Fn(&str) -> bool) -> String {
    // What begins with `__` is the language's own.
    let separator = if name == "_" { "" } else { "_" };
    let mut candidate = name.to_owned();
    let mut number = 1;
    while !is_free(&candidate) {
        number += 1;
        candidate = format!("{name}{separator}{number}");
    }
    candidate
}

/// Takes the first free name of a set.
pub(crate) fn take(name: &str, taken: &mut HashSet<String>) -> String {
    let free = numbered(name, |it| !taken.contains(it));
    taken.insert(free.clone());
    free
}

/// The type of pages of these items.
pub(crate) fn page(item_type: &str) -> String {
    format!("{item_type}Page")
}

/// The type of what becomes of one of these items in a bulk call.
pub(crate) fn outcome(item_type: &str) -> String {
    format!("{item_type}Outcome")
}

/// The field that brings one item.
pub(crate) fn one(root: &str) -> String {
    format!("{root}Item")
}

/// The field that counts items.
pub(crate) fn count(root: &str) -> String {
    format!("{root}Count")
}

/// The field that writes items of this type.
pub(crate) fn write(write: Write, item_type: &str) -> String {
    format!("{}{}", write.name(), capital(item_type))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_become_names() {
        for (id, name) in [
            ("cars", "cars"),
            ("Cars", "Cars"),
            ("ns/cars", "ns_cars"),
            ("my-cars 2", "my_cars_2"),
            ("2cars", "_2cars"),
            ("__typename", "_typename"),
            ("_x", "_x"),
            ("été", "_t_"),
            ("日本", "_"),
            ("", "_"),
        ] {
            assert_eq!(of(id), name, "{id}");
        }
        assert_eq!(capital("cars"), "Cars");
        assert_eq!(capital("_x"), "_x");
    }

    #[test]
    fn names_that_are_taken_get_numbers() {
        let mut taken = HashSet::new();
        let names: Vec<_> = ["a-b", "a_b", "a b", "a_b_2"].map(|it| take(&of(it), &mut taken)).into();
        assert_eq!(names, ["a_b", "a_b_2", "a_b_3", "a_b_2_2"]);
    }
}
