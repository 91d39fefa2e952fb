//! Both engines, as bare as they come: what `store` does, without pools, transactions and threads.

#![allow(dead_code, reason = "each test uses its part")]

pub mod values;

use rusqlite::config::DbConfig;
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::{ToSqlOutput, ValueRef};
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use stoa_query::QueryLimits;
use stoa_query::compile::Statement;
use stoa_query::item::{self, Stamp};
use stoa_sql::{Dialect, Postgres, Sqlite, Table, Value, probe};
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{IsNull, ToSql, Type, private::BytesMut, to_sql_checked};

/// An item in its table.
#[derive(Debug, Clone)]
pub struct Row {
    pub id: String,
    pub owner: Option<String>,
    pub created: i64,
    pub updated: i64,
    pub document: String,
}

impl Row {
    /// What becomes of an item's `data` when it is inserted.
    pub fn stamped(data: &str, id: &str, owner: Option<&str>, created: i64, updated: i64) -> Self {
        let item = item::canonical(data, QueryLimits::default().item()).unwrap_or_else(|it| panic!("{data}: {it}"));
        let stamp = Stamp { id, created, updated, owner };
        let document = item.document(stamp).expect("a document");
        Self { id: id.to_owned(), owner: owner.map(str::to_owned), created, updated, document }
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.document).expect("a document is JSON")
    }
}

pub struct OnSqlite(rusqlite::Connection);

impl OnSqlite {
    pub fn open() -> Self {
        let connection = rusqlite::Connection::open_in_memory().expect("SQLite opens");
        connection.execute_batch("attach ':memory:' as stoa").expect("a second database");
        // As the store's connections plan (decision 64).
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).expect("an option");
        let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_INNOCUOUS;
        for it in stoa_sql::functions::FUNCTIONS {
            let call = move |context: &Context<'_>| {
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
        Self(connection)
    }

    pub fn create(&self, table: Table, rows: &[Row]) {
        for it in Sqlite.create_items_table(table) {
            self.0.execute_batch(&it).expect("a table");
        }
        self.insert(table, rows);
    }

    pub fn insert(&self, table: Table, rows: &[Row]) {
        let name = Sqlite.table(table);
        let text = format!(
            "insert into {name} (id, created, updated, owner, doc) values ($1, $2, $3, $4, {})",
            Sqlite.store_doc("$5")
        );
        let mut statement = self.0.prepare(&text).expect("an insert");
        for it in rows {
            let row = (&it.id, it.created, it.updated, &it.owner, &it.document);
            statement.execute(row).expect("a row goes in");
        }
    }

    pub fn try_execute(&self, text: &str) -> bool {
        self.0.execute_batch(text).is_ok()
    }

    pub fn execute(&self, text: &str) {
        self.0.execute_batch(text).expect("a statement");
    }

    /// The rows of a statement, every column as text.
    pub fn rows(&self, (text, params): &Statement) -> Vec<Vec<Option<String>>> {
        let fail = |it: rusqlite::Error| -> ! { panic!("{it}\n{text}\n{params:?}") };
        let mut statement = self.0.prepare_cached(text).unwrap_or_else(|it| fail(it));
        let count = statement.column_count();
        let params: Vec<_> = params.iter().map(owned).collect();
        let rows = statement.query_map(rusqlite::params_from_iter(params), |row| {
            (0..count)
                .map(|n| {
                    Ok(match row.get_ref(n)? {
                        ValueRef::Null => None,
                        ValueRef::Integer(it) => Some(it.to_string()),
                        ValueRef::Real(it) => Some(it.to_string()),
                        ValueRef::Text(it) => Some(String::from_utf8_lossy(it).into_owned()),
                        ValueRef::Blob(it) => Some(stoa_sql::jsonb::print(it).expect("a document")),
                    })
                })
                .collect()
        });
        rows.and_then(|it| it.collect()).unwrap_or_else(|it| fail(it))
    }

    /// How many steps SQLite takes to answer.
    pub fn steps(&self, (text, params): &Statement) -> i32 {
        let mut statement = self.0.prepare(text).expect("a statement");
        let params: Vec<_> = params.iter().map(owned).collect();
        let mut rows = statement.query(rusqlite::params_from_iter(params)).expect("rows");
        while rows.next().expect("a row").is_some() {}
        drop(rows);
        statement.get_status(rusqlite::StatementStatus::VmStep)
    }

    /// How SQLite means to answer.
    pub fn plan(&self, (text, params): &Statement) -> String {
        let lines = self.rows(&(format!("explain query plan {text}"), params.clone()));
        lines.iter().filter_map(|it| it[3].clone()).collect::<Vec<_>>().join("\n")
    }
}

fn owned(value: &Value) -> ToSqlOutput<'static> {
    use rusqlite::types::Value as Own;
    ToSqlOutput::Owned(match value {
        Value::Null => Own::Null,
        Value::Int(it) => Own::Integer(*it),
        Value::Real(it) => Own::Real(*it),
        Value::Text(it) => Own::Text(it.clone()),
        Value::Bytes(it) => Own::Blob(it.clone()),
        Value::Texts(it) => Own::Text(serde_json::to_string(it).expect("a list")),
    })
}

fn holds(context: &Context<'_>) -> rusqlite::Result<bool> {
    let operand = match context.get_raw(3) {
        ValueRef::Real(it) => probe::Bound::Real(it),
        ValueRef::Integer(it) => probe::Bound::Int(it),
        it => probe::Bound::Text(it.as_str()?),
    };
    let (document, path, test) = (context.get_raw(0), context.get_raw(1), context.get_raw(2));
    Ok(probe::holds(document.as_blob()?, path.as_str()?, test.as_str()?, operand))
}

/// A database of its own in the cluster: other tests run there, perhaps with other functions of the
/// same names, is never met.
pub struct OnPostgres {
    runtime: tokio::runtime::Runtime,
    client: tokio_postgres::Client,
    database: String,
    pub site: i64,
}

impl OnPostgres {
    pub fn open() -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let chance = RandomState::new().build_hasher().finish();
        let database = format!("stoa_query_{}_{chance:x}", std::process::id());
        let client = runtime.block_on(async {
            let cluster = connect(&cluster()).await;
            let create = format!("create database {database} encoding 'UTF8' template template0");
            cluster.batch_execute(&create).await.expect("a database");
            let client = connect(&address(&database)).await;
            // Compiling a long condition to machine code takes a minute, running it without takes 40 ms.
            client.batch_execute("set jit = off; set synchronous_commit = off").await.expect("a setting");
            for it in stoa_sql::postgres_functions::statements() {
                client.batch_execute(&it).await.unwrap_or_else(|error| panic!("{error:?}\n{it}"));
            }
            client
        });
        Self { runtime, client, database, site: 1 }
    }

    pub fn create(&self, table: Table, rows: &[Row]) {
        for it in Postgres.create_items_table(table) {
            self.execute(&it);
        }
        self.insert(table, rows);
    }

    pub fn insert(&self, table: Table, rows: &[Row]) {
        let name = Postgres.table(table);
        let text = format!("insert into {name} (id, created, updated, owner, doc) values ($1, $2, $3, $4, $5)");
        self.runtime.block_on(async {
            let statement = self.client.prepare(&text).await.expect("an insert");
            for it in rows {
                let row: [&(dyn ToSql + Sync); 5] = [&it.id, &it.created, &it.updated, &it.owner, &it.document];
                self.client.execute(&statement, &row).await.unwrap_or_else(|error| panic!("{error:?} {it:?}"));
            }
        });
    }

    pub fn try_execute(&self, text: &str) -> bool {
        self.runtime.block_on(self.client.batch_execute(text)).is_ok()
    }

    pub fn execute(&self, text: &str) {
        let done = self.runtime.block_on(self.client.batch_execute(text));
        done.unwrap_or_else(|it| panic!("{it:?}\n{text}"));
    }

    /// Vacuums until the server knows every page to be visible to all: only then does a count read an
    /// index alone, and any reader of the database, such as autovacuum, puts it off.
    pub fn analyze(&self, table: Table) {
        let name = Postgres.table(table);
        let unseen = format!("select (relpages - relallvisible)::bigint from pg_class where oid = '{name}'::regclass");
        for _ in 0..600 {
            self.execute(&format!("vacuum analyze {name}"));
            if self.rows(&(unseen.clone(), Vec::new())) == [[Some("0".to_owned())]] {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        panic!("somebody has been reading for a minute");
    }

    /// The rows of a statement, every column as text.
    pub fn rows(&self, statement: &Statement) -> Vec<Vec<Option<String>>> {
        self.runtime.block_on(self.ask(statement))
    }

    /// The rows of each, all asked at once over the one connection.
    pub fn rows_of_all<'s>(&self, all: impl Iterator<Item = &'s Statement>) -> Vec<Vec<Vec<Option<String>>>> {
        self.runtime.block_on(futures_util::future::join_all(all.map(|it| self.ask(it))))
    }

    async fn ask(&self, (text, params): &Statement) -> Vec<Vec<Option<String>>> {
        let bound: Vec<_> = params.iter().map(Bound).collect();
        let bound: Vec<_> = bound.iter().map(|it| it as &(dyn ToSql + Sync)).collect();
        let rows = self.client.query(text, &bound).await;
        let rows = rows.unwrap_or_else(|it| panic!("{it:?}\n{text}\n{params:?}"));
        let cell = |row: &tokio_postgres::Row, n: usize| match *row.columns()[n].type_() {
            Type::INT8 => row.get::<_, Option<i64>>(n).map(|it| it.to_string()),
            Type::BOOL => row.get::<_, Option<bool>>(n).map(|it| i64::from(it).to_string()),
            _ => row.get::<_, Option<String>>(n),
        };
        rows.iter().map(|row| (0..row.len()).map(|n| cell(row, n)).collect()).collect()
    }

    /// The most rows that a part of PostgreSQL's plan reads, passes on or throws away, and the plan.
    pub fn effort(&self, (text, params): &Statement) -> (u64, String) {
        let lines =
            self.rows(&(format!("explain (analyze, costs off, timing off, summary off) {text}"), params.clone()));
        let lines: Vec<_> = lines.iter().filter_map(|it| it[0].clone()).collect();
        let number = |text: &str| text.chars().take_while(char::is_ascii_digit).collect::<String>().parse().ok();
        let counts = lines.iter().filter_map(|it| {
            let (_, count) = it.split_once(" rows=").or_else(|| it.split_once("Rows Removed by Filter: "))?;
            number(count)
        });
        (counts.max().unwrap_or_default(), lines.join("\n"))
    }

    /// How PostgreSQL means to answer.
    pub fn plan(&self, (text, params): &Statement) -> String {
        let lines = self.rows(&(format!("explain (costs off) {text}"), params.clone()));
        lines.iter().filter_map(|it| it[0].clone()).collect::<Vec<_>>().join("\n")
    }
}

impl Drop for OnPostgres {
    fn drop(&mut self) {
        let drop = format!("drop database if exists {} with (force)", self.database);
        let _ = self.runtime.block_on(async { connect(&cluster()).await.batch_execute(&drop).await });
    }
}

/// Rounds of a random test: `usual`, which take seconds, times `STOA_EFFORT`, which `make soak` raises.
#[expect(clippy::disallowed_methods, reason = "the environment says how much to try")]
pub fn rounds(usual: usize) -> usize {
    usual * std::env::var("STOA_EFFORT").ok().map_or(1, |it| it.parse().expect("STOA_EFFORT is a number"))
}

#[expect(clippy::disallowed_methods, reason = "tests are told where PostgreSQL is by the environment")]
fn cluster() -> String {
    std::env::var("STOA_TEST_POSTGRES").expect(
        "STOA_TEST_POSTGRES must hold the URL of a PostgreSQL to test against; `scripts/with-postgres` starts one",
    )
}

fn address(database: &str) -> String {
    let cluster = cluster();
    let (server, _) = cluster.rsplit_once('/').expect("STOA_TEST_POSTGRES ends with a database name");
    format!("{server}/{database}")
}

/// Waits for a free connection: the tests of other crates may have taken all connections for a moment.
async fn connect(url: &str) -> tokio_postgres::Client {
    for _ in 0..300 {
        match tokio_postgres::connect(url, tokio_postgres::NoTls).await {
            Ok((client, connection)) => {
                tokio::spawn(connection);
                return client;
            }
            Err(it) if it.code() == Some(&SqlState::TOO_MANY_CONNECTIONS) => {
                tokio::time::sleep(std::time::Duration::from_millis(100)).await;
            }
            Err(it) => panic!("PostgreSQL does not answer: {it:?}"),
        }
    }
    panic!("PostgreSQL had no free connection for half a minute");
}

#[derive(Debug)]
struct Bound<'a>(&'a Value);

impl ToSql for Bound<'_> {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match (self.0, ty) {
            (Value::Null, _) => Ok(IsNull::Yes),
            (Value::Int(it), &Type::INT4) => i32::try_from(*it)?.to_sql(ty, out),
            (Value::Int(it), _) => it.to_sql(ty, out),
            (Value::Real(it), _) => it.to_sql(ty, out),
            (Value::Text(it), &Type::JSONPATH) => {
                out.extend_from_slice(&[1]);
                it.to_sql(&Type::TEXT, out)
            }
            (Value::Text(it), _) => it.to_sql(ty, out),
            (Value::Bytes(it), _) => it.to_sql(ty, out),
            (Value::Texts(it), _) => it.to_sql(ty, out),
        }
    }
    fn accepts(_: &Type) -> bool {
        true
    }
    to_sql_checked!();
}
