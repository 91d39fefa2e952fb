//! The tables `[limits]` and `[identity]`. A key of theirs is declared where the limit is kept to, with its
//! default and its bounds ([`stoa_kernel::limits!`]), and has one name in two places: the file
//! (`[limits]`, `bulk_items = 500`) and the environment (`STOA_LIMITS_BULK_ITEMS`).

use serde::{Deserialize, Deserializer, de::Visitor};
use std::{collections::BTreeMap, fmt};
use stoa_kernel::{limit::Limited, nearest::hint};

/// Limits as they are meant.
#[derive(Debug, Clone, Default)]
pub struct ServerLimits {
    pub content: stoa_content::ContentLimits,
    pub graphql: stoa_http::GraphqlLimits,
    pub hooks: stoa_hooks::HookLimits,
    pub http: stoa_http::HttpLimits,
    pub identity: stoa_identity::IdentityLimits,
    pub realtime: stoa_realtime::RealtimeLimits,
    pub webhooks: stoa_webhooks::WebhookLimits,
}

/// A table as it was written.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(transparent)]
pub struct Table(BTreeMap<String, RawValue>);

/// A value as it was written.
#[derive(Debug, Clone)]
struct RawValue {
    text: String,
    /// The variable that it is from, if it isn't from the file.
    variable: Option<String>,
}

/// The tables `limits` and `identity` as the environment has them.
///
/// A variable whose value isn't text is a mistake.
#[expect(clippy::disallowed_methods, reason = "the one place that reads variables that have no flags")]
pub fn of_environment(mistakes: &mut Vec<String>) -> (Table, Table) {
    let mut variables = Vec::new();
    for (name, value) in std::env::vars_os() {
        let Ok(name) = name.into_string() else { continue };
        if ["STOA_LIMITS_", "STOA_IDENTITY_"].iter().any(|it| name.starts_with(it)) {
            match value.into_string() {
                Ok(value) => variables.push((name, value)),
                Err(_) => mistakes.push(format!("the value of {name} is no text")),
            }
        }
    }
    (Table::of("STOA_LIMITS_", &variables), Table::of("STOA_IDENTITY_", &variables))
}

impl ServerLimits {
    /// What the tables mean. Mistakes name the key, its value and what it may be.
    pub fn read(limits: &Table, identity: &Table, mistakes: &mut Vec<String>) -> Self {
        let mut it = Self::default();
        let names = [
            stoa_content::ContentLimits::DECLARED,
            stoa_query_declared(),
            stoa_http::HttpLimits::DECLARED,
            stoa_http::GraphqlLimits::DECLARED,
            stoa_realtime::RealtimeLimits::DECLARED,
            stoa_webhooks::WebhookLimits::DECLARED,
            stoa_hooks::HookLimits::DECLARED,
        ];
        let names: Vec<&str> = names.iter().copied().flatten().map(|it| it.name).collect();
        let set = |key: &str, text: &str| {
            let is_of_content = it.content.set(key, text)? || it.content.query.set(key, text)?;
            Ok(is_of_content
                || it.http.set(key, text)?
                || it.graphql.set(key, text)?
                || it.realtime.set(key, text)?
                || it.webhooks.set(key, text)?
                || it.hooks.set(key, text)?)
        };
        limits.apply("limits", &names, set, mistakes);
        let names: Vec<&str> = stoa_identity::IdentityLimits::DECLARED.iter().map(|it| it.name).collect();
        identity.apply("identity", &names, |key, text| it.identity.set(key, text), mistakes);
        let ages = [("signing_key_age", it.identity.signing_key_age), ("sealing_key_age", it.identity.sealing_key_age)];
        for (name, age) in ages {
            if (1..stoa_identity::SHORTEST_KEY_AGE).contains(&age) {
                mistakes.push(format!("identity.{name} is shorter than 7d, but must be 0s or at least that"));
            }
        }
        it
    }
}

/// What is declared for queries, whose crate the program doesn't use but through content.
fn stoa_query_declared() -> &'static [stoa_kernel::limit::Limit] {
    fn declared<T: Limited>(_: &T) -> &'static [stoa_kernel::limit::Limit] {
        T::DECLARED
    }
    declared(&stoa_content::ContentLimits::default().query)
}

impl Table {
    /// The variables that begin so.
    fn of(prefix: &str, variables: &[(String, String)]) -> Self {
        let key = |(variable, text): &(String, String)| {
            let key = variable.strip_prefix(prefix)?.to_ascii_lowercase();
            Some((key, RawValue { text: text.clone(), variable: Some(variable.clone()) }))
        };
        Self(variables.iter().filter_map(key).collect())
    }

    /// This one, and from another what it doesn't have.
    pub fn over(self, mut other: Self) -> Self {
        other.0.extend(self.0);
        other
    }

    fn apply(
        &self,
        name: &str,
        known: &[&str],
        mut set: impl FnMut(&str, &str) -> Result<bool, String>,
        mistakes: &mut Vec<String>,
    ) {
        for (key, RawValue { text, variable }) in &self.0 {
            let variable = variable.as_ref().map(|it| format!(" ({it})")).unwrap_or_default();
            match set(key, text) {
                Ok(true) => {}
                Ok(false) => {
                    let hint = hint(key, known.iter().copied());
                    mistakes.push(format!("{name}.{key}{variable} is no key of the table {name}{hint}"));
                }
                Err(why) => mistakes.push(format!("{name}.{key}{variable} {why}")),
            }
        }
    }
}

impl<'de> Deserialize<'de> for RawValue {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct AsText;
        impl Visitor<'_> for AsText {
            type Value = String;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a whole number, or a time as text such as \"15m\"")
            }
            fn visit_i64<E>(self, number: i64) -> Result<String, E> {
                Ok(number.to_string())
            }
            fn visit_u64<E>(self, number: u64) -> Result<String, E> {
                Ok(number.to_string())
            }
            fn visit_str<E>(self, text: &str) -> Result<String, E> {
                Ok(text.to_owned())
            }
        }
        Ok(Self { text: from.deserialize_any(AsText)?, variable: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, Loaded, Options, file::Keys};
    use stoa_kernel::limit::{Limit, Unit};

    const PAGE: &str = include_str!("../../../../docs/configuration.md");

    /// Every limit with its table, in the order of the documentation.
    fn declared() -> Vec<(&'static str, Limit)> {
        let of = |table: &'static str, list: &[Limit]| list.iter().map(|it| (table, *it)).collect::<Vec<_>>();
        [
            of("limits", stoa_http::HttpLimits::DECLARED),
            of("limits", stoa_content::ContentLimits::DECLARED),
            of("limits", stoa_query::QueryLimits::DECLARED),
            of("limits", stoa_http::GraphqlLimits::DECLARED),
            of("limits", stoa_realtime::RealtimeLimits::DECLARED),
            of("limits", stoa_webhooks::WebhookLimits::DECLARED),
            of("limits", stoa_hooks::HookLimits::DECLARED),
            of("identity", stoa_identity::IdentityLimits::DECLARED),
        ]
        .concat()
    }

    fn meant(written: Options) -> Result<ServerLimits, String> {
        let mut mistakes = Vec::new();
        let config = Config::from_options(written, &mut mistakes);
        Loaded { config, mistakes }.checked().map(|it| it.limits)
    }

    fn read(text: &str) -> Result<ServerLimits, String> {
        let written: Options = toml::from_str(text).map_err(|it| it.to_string())?;
        meant(written)
    }

    fn written(limit: &Limit, value: u64) -> String {
        match limit.unit {
            Unit::Number => value.to_string(),
            Unit::Time => format!("{:?}", limit.print(value)),
        }
    }

    #[test]
    fn documentation_has_every_limit_as_declared() {
        for table in ["limits", "identity"] {
            let row = |(_, it): &(&str, Limit)| {
                let [default, least, most] = [it.default, it.least, it.most].map(|value| it.print(value));
                format!("| `{table}.{}` | {default} | {least} to {most} | {} |\n", it.name, it.meaning())
            };
            let rows: String = declared().iter().filter(|it| it.0 == table).map(row).collect();
            let has = PAGE.lines().filter(|it| it.starts_with(&format!("| `{table}.")));
            let has: String = has.map(|it| format!("{it}\n")).collect();
            assert!(has == rows, "the rows of docs/configuration.md must be these:\n\n{rows}");
        }
    }

    #[test]
    fn declarations_are_whole() {
        let mut names = std::collections::HashSet::new();
        for (table, it) in declared() {
            assert!(names.insert((table, it.name)), "{table}.{} is declared twice", it.name);
            assert!((it.least..=it.most).contains(&it.default), "{table}.{}", it.name);
            assert!(it.meaning().ends_with('.'), "{table}.{}", it.name);
        }
    }

    #[test]
    fn limits_refuse_what_is_beyond_their_bounds() {
        for (table, it) in declared() {
            let step = if it.unit == Unit::Time { 1_000 } else { 1 };
            for value in [it.least, it.most] {
                read(&format!("[{table}]\n{} = {}", it.name, written(&it, value))).unwrap();
            }
            let below = it.least.checked_sub(step);
            for value in below.into_iter().chain([it.most + step]) {
                let refused = read(&format!("[{table}]\n{} = {}", it.name, written(&it, value))).unwrap_err();
                let [value, least, most] = [value, it.least, it.most].map(|value| it.print(value));
                let says = format!("{table}.{} is {value}, but must be between {least} and {most}", it.name);
                assert_eq!(refused, says);
            }
        }
    }

    #[test]
    fn limits_set_a_value_of_their_own() {
        let before = format!("{:?}", ServerLimits::default());
        let mut seen = std::collections::HashSet::new();
        for (table, it) in declared() {
            let value = if it.default == it.least { it.most } else { it.least };
            let limits = read(&format!("[{table}]\n{} = {}", it.name, written(&it, value))).unwrap();
            let after = format!("{limits:?}");
            assert!(after != before && seen.insert(after), "{table}.{} sets nothing", it.name);
        }
    }

    #[test]
    fn mistakes_are_named() {
        for (text, says) in [
            ("[limits]\nbulk = 5", "limits.bulk is no key of the table limits"),
            ("[identity]\nbulk_items = 5", "identity.bulk_items is no key of the table identity"),
            ("[limits]\nbulk_items = -1", "limits.bulk_items is \"-1\", but must be a whole number"),
            ("[limits]\nbulk_items = 1.5", "a whole number, or a time as text"),
            ("[limits]\nbulk_items = \"many\"", "limits.bulk_items is \"many\", but must be a whole number"),
            ("[identity]\naccess_life = 4", "identity.access_life is \"4\", but must be a time such as 90s"),
            ("[identity]\nsigning_key_age = \"6d\"", "identity.signing_key_age is shorter than 7d, but must be 0s or"),
            ("[identity]\nsealing_key_age = \"1s\"", "identity.sealing_key_age is shorter than 7d, but must be 0s or"),
            ("limits = 5", "invalid type"),
        ] {
            let refused = read(text).unwrap_err();
            assert!(refused.contains(says), "{text}: {refused}");
        }
    }

    #[test]
    fn variable_beats_the_file_and_is_named() {
        let read = |name: &str, value: &str| {
            let variables = [(name.to_owned(), value.to_owned())];
            let [limits, identity] = ["STOA_LIMITS_", "STOA_IDENTITY_"].map(|it| Table::of(it, &variables));
            let file: Options = toml::from_str("[limits]\nbulk_items = 500\nfields = 20").unwrap();
            meant(Options { limits, identity, ..Options::default() }.over(file))
        };
        let limits = read("STOA_LIMITS_BULK_ITEMS", "600").unwrap();
        assert_eq!((limits.content.bulk_items, limits.content.fields), (600, 20));
        let limits = read("STOA_IDENTITY_ACCESS_LIFE", "5m").unwrap();
        assert_eq!((limits.content.bulk_items, limits.identity.access_life), (500, 300_000));
        assert!(read("STOA_SMTP_HOST", "x").is_ok(), "not one of these");
        for (name, value, says) in [
            (
                "STOA_LIMITS_BULK_ITEMS",
                "0",
                "limits.bulk_items (STOA_LIMITS_BULK_ITEMS) is 0, but must be between 1 and 10000",
            ),
            (
                "STOA_LIMITS_BULK",
                "5",
                "limits.bulk (STOA_LIMITS_BULK) is no key of the table limits; did you mean bulk_items?",
            ),
            (
                "STOA_IDENTITY_CODE_LIFE",
                "",
                "identity.code_life (STOA_IDENTITY_CODE_LIFE) is \"\", but must be a time such as 90s, 15m, 4h or 60d",
            ),
        ] {
            assert_eq!(read(name, value).unwrap_err(), says);
        }
    }
}
