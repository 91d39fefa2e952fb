//! The configuration file, read key by key where all of it can't be: every mistake is told at once.

use serde::de::DeserializeOwned;
use std::path::Path;
use stoa_kernel::nearest::hint;
use toml::{Table, Value};

/// What can be written in a file.
pub trait Keys: DeserializeOwned + Default {
    /// The names of all keys outside of the tables of limits: `port`, `smtp.host`.
    fn keys() -> Vec<String>;

    /// These keys, and from another what they don't have.
    fn over(self, other: Self) -> Self;
}

/// What the file says; mistakes are added with the file's name and line.
pub fn read<K: Keys>(path: &Path, mistakes: &mut Vec<String>) -> K {
    match std::fs::read_to_string(path) {
        Ok(text) => parse(&text, &path.display().to_string(), mistakes),
        Err(error) => {
            mistakes.push(format!("{}: {error}", path.display()));
            K::default()
        }
    }
}

/// What a text says that is in a file of this name.
pub fn parse<K: Keys>(text: &str, name: &str, mistakes: &mut Vec<String>) -> K {
    let Err(error) = toml::from_str::<K>(text) else {
        return toml::from_str(text).unwrap_or_default();
    };
    let table: Table = match toml::from_str(text) {
        Ok(table) => table,
        // The parser's own message shows the line and points at the word.
        Err(_) => {
            mistakes.push(format!("{name}: {error}"));
            return K::default();
        }
    };
    let (known, mut options, mut found) = (K::keys(), K::default(), Vec::new());
    for (table, key, value) in leaves(table) {
        let path = table.as_ref().map_or_else(|| key.clone(), |it| format!("{it}.{key}"));
        let line = line_of(text, table.as_deref(), &key);
        let Err(error) = alone(table.as_deref(), &key, value).try_into::<K>().map(|it| {
            options = std::mem::take(&mut options).over(it);
        }) else {
            continue;
        };
        let is_limit = matches!(table.as_deref(), Some("limits" | "identity"));
        let is_known = known.contains(&path)
            || is_limit
            || matches!(path.as_str(), "limits" | "identity" | "smtp" | "reach" | "telephone");
        let what = match is_known {
            true => format!("{path}: {}", error.message()),
            false => format!("{path} is no key{}", hint(&path, known.iter().map(String::as_str))),
        };
        let place = line.map_or(name.to_owned(), |line| format!("{name}:{line}"));
        found.push((line, format!("{place}: {what}")));
    }
    found.sort();
    mistakes.extend(found.into_iter().map(|it| it.1));
    options
}

/// Every key with the table that it stands in, and its value.
fn leaves(table: Table) -> Vec<(Option<String>, String, Value)> {
    let mut leaves = Vec::new();
    for (name, value) in table {
        match value {
            Value::Table(inner) => {
                leaves.extend(inner.into_iter().map(|(key, value)| (Some(name.clone()), key, value)))
            }
            value => leaves.push((None, name, value)),
        }
    }
    leaves
}

/// A file with this key only.
fn alone(table: Option<&str>, key: &str, value: Value) -> Table {
    let file = Table::from_iter([(key.to_owned(), value)]);
    match table {
        Some(name) => Table::from_iter([(name.to_owned(), Value::Table(file))]),
        None => file,
    }
}

/// The line, from 1, that sets a key of a table.
fn line_of(text: &str, table: Option<&str>, key: &str) -> Option<usize> {
    let mut current = None;
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        if let Some(name) = line.strip_prefix('[').and_then(|it| it.split(']').next()) {
            current = Some(name.trim().to_owned());
        }
        let sets = |key: &str| line.strip_prefix(key).is_some_and(|it| it.trim_start().starts_with('='));
        let is_dotted = table.is_some_and(|it| current.is_none() && sets(&format!("{it}.{key}")));
        if current.as_deref() == table && sets(key) || is_dotted {
            return Some(at + 1);
        }
    }
    None
}
