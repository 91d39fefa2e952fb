//! Functions that SQLite lacks. PostgreSQL has each of them as SQL: see [`crate::postgres_functions`].
//!
//! `store` registers every row of [`FUNCTIONS`] on every connection, as deterministic and innocuous,
//! because expression indexes may use them:
//!
//! ```text
//! for it in stoa_sql::functions::FUNCTIONS {
//!     connection.create_scalar_function(it.name, it.arity, flags, |context| …(it.call)(&args)…)?;
//! }
//! ```

use crate::{Value, key, pattern, random};

/// One function: text in, a value out, no state.
#[derive(Debug, Clone, Copy)]
pub struct ScalarFunction {
    pub name: &'static str,
    /// How many arguments it takes, as SQLite counts.
    pub arity: i32,
    /// An argument that is NULL, or that isn't text, comes as `None`.
    pub call: fn(&[Option<&str>]) -> Value,
}

/// All of them. The names are the ones that [`crate::Sqlite`] prints.
pub const FUNCTIONS: &[ScalarFunction] = &[
    // stoa_fold(text): simple case folding.
    ScalarFunction { name: "stoa_fold", arity: 1, call: |it| text(it, |a| stoa_kernel::fold::fold(a).into_owned()) },
    // stoa_sorted(json): equal for equal values, whatever the order of keys.
    ScalarFunction { name: "stoa_sorted", arity: 1, call: |it| text(it, key::sorted) },
    // stoa_least(json), stoa_greatest(json): the sort key, ascending and descending; never NULL.
    ScalarFunction { name: "stoa_least", arity: 1, call: |it| key::least(first(it)).into() },
    ScalarFunction { name: "stoa_greatest", arity: 1, call: |it| key::greatest(first(it)).into() },
    // stoa_keys(json): the keys of an array's elements, or of any other value, as a JSON array.
    ScalarFunction { name: "stoa_keys", arity: 1, call: |it| text(it, key::of_values) },
    // stoa_bounded(key): a key that fits into an index.
    ScalarFunction { name: "stoa_bounded", arity: 1, call: |it| text(it, |a| key::bounded(a.to_owned())) },
    // stoa_indexed(json, most), stoa_indexed_folded(json, most): what an index keeps of a value.
    ScalarFunction { name: "stoa_indexed", arity: 2, call: |it| indexed(it, false) },
    ScalarFunction { name: "stoa_indexed_folded", arity: 2, call: |it| indexed(it, true) },
    // stoa_unique(json), stoa_unique_folded(json): what a unique index keeps of it.
    ScalarFunction { name: "stoa_unique", arity: 1, call: |it| key::unique(first(it), false).into() },
    ScalarFunction { name: "stoa_unique_folded", arity: 1, call: |it| key::unique(first(it), true).into() },
    // stoa_random(seed, id): a position in the random order of a seed.
    ScalarFunction { name: "stoa_random", arity: 2, call: |it| two(it, |seed, id| random::key(seed, id).into()) },
    // stoa_matches(text, pattern): whether the whole text fits a pattern of [`crate::pattern`].
    ScalarFunction { name: "stoa_matches", arity: 2, call: |it| two(it, |a, b| pattern::matches(a, b).into()) },
];

fn first<'a>(arguments: &[Option<&'a str>]) -> Option<&'a str> {
    arguments.first().copied().flatten()
}

fn indexed(arguments: &[Option<&str>], fold: bool) -> Value {
    let most = arguments.get(1).copied().flatten().and_then(|it| it.parse().ok());
    key::indexed(first(arguments), most.unwrap_or_default(), fold).into()
}

fn text(arguments: &[Option<&str>], call: fn(&str) -> String) -> Value {
    first(arguments).map(call).into()
}

fn two(arguments: &[Option<&str>], call: fn(&str, &str) -> Value) -> Value {
    match arguments {
        [Some(a), Some(b)] => call(a, b),
        _ => Value::Null,
    }
}
