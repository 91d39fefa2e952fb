//! Bytes → request → plan → SQL for both engines. SQLite runs its text on a few items and must find
//! what the matcher finds; PostgreSQL's text must number its parameters in order.
//!
//! The input is a request, and after a line feed items, one a line.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rusqlite::functions::FunctionFlags;
use rusqlite::types::{Value as Own, ValueRef};
use serde_json::Value as Json;
use std::cell::RefCell;
use stoa_query::{Context, QueryLimits, Schema, Scope, Stamp, canonical, compile, matches, order, resolve, wire};
use stoa_sql::{Dialect, Postgres, Sqlite, Table, Value, jsonb, probe};

const TABLE: Table = Table { site: 1, number: 1 };

thread_local! {
    static ENGINE: RefCell<rusqlite::Connection> = RefCell::new(open());
}

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let mut lines = text.lines();
    let Some(Json::Object(request)) = lines.next().and_then(|it| serde_json::from_str(it).ok()) else { return };
    let schema = Schema::default();
    let context = Context { schema: &schema, scope: Scope::Everything, seed: 0 };
    let plan = match wire::Query::parse(&request, &QueryLimits::default()).and_then(|it| resolve::find(&it, context)) {
        Ok(plan) => plan,
        Err(fault) => {
            assert!(fault.code().status() < 500, "{fault:?}");
            return;
        }
    };
    check_numbering(&compile::find(&Postgres, TABLE, &plan));
    compile::find_scalar(&Postgres, TABLE, &plan, &[]).iter().for_each(|it| check_numbering(&it.statement));
    let statement = compile::find(&Sqlite, TABLE, &plan);
    check_numbering(&statement);

    let items: Vec<Item> = lines.take(8).enumerate().filter_map(|(n, it)| Item::read(n as i64, it)).collect();
    let mut expected: Vec<&Item> = items.iter().filter(|it| matches(&plan.filter, &it.json)).collect();
    expected.sort_by(|a, b| order::compare(&plan.order, &a.json, &b.json));
    let offset = plan.page.start.offset();
    let expected = expected.into_iter().skip(usize::try_from(offset).unwrap_or(usize::MAX));
    let expected: Vec<&str> = expected.take(plan.page.limit as usize + 1).map(|it| it.document.as_str()).collect();
    let found = ENGINE.with_borrow(|it| run(it, &items, &statement));
    assert_eq!(found, expected, "SQLite (left) and the matcher (right) differ\n{}", statement.0);
});

struct Item {
    id: String,
    created: i64,
    document: String,
    json: Json,
}

impl Item {
    fn read(n: i64, data: &str) -> Option<Self> {
        let (id, created) = (format!("i{n}"), n / 2);
        let stamp = Stamp { id: &id, created, updated: created, owner: None };
        let document = canonical(data, QueryLimits::default().item()).ok()?.document(stamp).ok()?;
        let json = serde_json::from_str(&document).expect("a document is JSON");
        Some(Self { id, created, document, json })
    }
}

fn open() -> rusqlite::Connection {
    let connection = rusqlite::Connection::open_in_memory().expect("SQLite opens");
    connection.execute_batch("attach ':memory:' as stoa").expect("a second database");
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_INNOCUOUS;
    for it in stoa_sql::functions::FUNCTIONS {
        let call = move |context: &rusqlite::functions::Context<'_>| {
            let argument = |n| match context.get_raw(n) {
                ValueRef::Text(it) => std::str::from_utf8(it).ok(),
                _ => None,
            };
            let arguments: Vec<_> = (0..context.len()).map(argument).collect();
            Ok(owned(&(it.call)(&arguments)))
        };
        connection.create_scalar_function(it.name, it.arity, flags, call).expect("a function");
    }
    connection.create_scalar_function(probe::FUNCTION, 4, flags, holds).expect("a function");
    for it in Sqlite.create_items_table(TABLE) {
        connection.execute_batch(&it).expect("a table");
    }
    connection
}

fn holds(context: &rusqlite::functions::Context<'_>) -> rusqlite::Result<bool> {
    let operand = match context.get_raw(3) {
        ValueRef::Real(it) => probe::Bound::Real(it),
        ValueRef::Integer(it) => probe::Bound::Int(it),
        it => probe::Bound::Text(it.as_str()?),
    };
    let (document, path, test) = (context.get_raw(0), context.get_raw(1), context.get_raw(2));
    Ok(probe::holds(document.as_blob()?, path.as_str()?, test.as_str()?, operand))
}

fn run(connection: &rusqlite::Connection, items: &[Item], (text, params): &compile::Statement) -> Vec<String> {
    connection.execute_batch("delete from stoa.c1").expect("an empty table");
    let insert = "insert into stoa.c1 (id, created, updated, doc) values ($1, $2, $2, jsonb($3))";
    for it in items {
        connection.execute(insert, (&it.id, it.created, &it.document)).expect("an item goes in");
    }
    let mut statement = connection.prepare(text).unwrap_or_else(|it| panic!("{it}\n{text}"));
    let params = rusqlite::params_from_iter(params.iter().map(owned));
    let rows = statement.query_map(params, |row| row.get(0));
    let rows: Vec<Vec<u8>> = rows.and_then(|it| it.collect()).unwrap_or_else(|it| panic!("{it}\n{text}"));
    rows.iter().map(|it| jsonb::print(it).expect("a document")).collect()
}

fn owned(value: &Value) -> Own {
    match value {
        Value::Null => Own::Null,
        Value::Int(it) => Own::Integer(*it),
        Value::Real(it) => Own::Real(*it),
        Value::Text(it) => Own::Text(it.clone()),
        Value::Bytes(it) => Own::Blob(it.clone()),
        Value::Texts(it) => Own::Text(serde_json::to_string(it).expect("a list")),
    }
}

/// Placeholders appear for the first time in the order of their numbers, and there are as many as
/// parameters. Text literals are skipped: names of fields stand in them.
fn check_numbering((text, params): &compile::Statement) {
    let mut highest = 0;
    let mut outside = true;
    let bytes = text.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'\'' => outside = !outside,
            b'$' if outside => {
                let digits: String = text[at + 1..].chars().take_while(char::is_ascii_digit).collect();
                let number: usize = digits.parse().expect("a number follows");
                assert!(number <= highest + 1, "{text}");
                highest = highest.max(number);
            }
            _ => {}
        }
    }
    assert_eq!(highest, params.len(), "{text}");
}
