//! SQLite: one file, one writer thread, two pools of readers.

mod log;
mod map;
mod reader;
mod writer;

pub(crate) use log::Gate;
pub(crate) use reader::Readers;
pub(crate) use writer::Writer;

use crate::{Error, Fold, InsertRows, Row};
use rusqlite::{Connection, OpenFlags, Statement, ToSql, config::DbConfig, types::ToSqlOutput, types::ValueRef};
use std::path::Path;
use stoa_sql::{Value, probe};

/// What is deleted is overwritten in pages that are written anyway.
const FAST: &str = "fast";

/// A connection lent to one transaction or read.
pub(crate) struct SqliteTx<'t> {
    conn: &'t mut Connection,
    /// Rows that its statements changed.
    changed: u64,
    /// Whether bytes were overwritten that may still be in the log.
    has_erased: bool,
}

impl<'t> SqliteTx<'t> {
    fn new(conn: &'t mut Connection) -> Self {
        Self { conn, changed: 0, has_erased: false }
    }

    pub(crate) fn execute(&mut self, sql: &str, params: &[Value]) -> Result<u64, Error> {
        let mut statement = prepare(self.conn, sql)?;
        bind(&mut statement, params)?;
        let changed = statement.raw_execute().map_err(|it| Error::from_sqlite(&it))? as u64;
        self.changed += changed;
        Ok(changed)
    }

    /// [`Tx::erase`](crate::Tx::erase): pages that are no longer used are overwritten too.
    pub(crate) fn erase(&mut self, sql: &str, params: &[Value]) -> Result<u64, Error> {
        self.has_erased = true;
        self.overwrite("on")?;
        let erased = self.execute(sql, params);
        self.overwrite(FAST)?;
        erased
    }

    fn overwrite(&self, what: &str) -> Result<(), Error> {
        let set = self.conn.pragma_update_and_check(None, "secure_delete", what, |_| Ok(()));
        set.map_err(|it| Error::from_sqlite(&it))
    }

    pub(crate) fn rows<T>(
        &mut self,
        sql: &str,
        params: &[Value],
        mut each: impl FnMut(&Row<'_>) -> Result<T, Error>,
    ) -> Result<Vec<T>, Error> {
        let mut statement = prepare(self.conn, sql)?;
        bind(&mut statement, params)?;
        let mut rows = statement.raw_query();
        let mut found = Vec::new();
        while let Some(row) = rows.next().map_err(|it| Error::from_sqlite(&it))? {
            found.push(each(&Row::Sqlite(row))?);
        }
        Ok(found)
    }

    pub(crate) fn fold<F: Fold>(&mut self, sql: &str, params: &[Value], mut fold: F) -> stoa_kernel::Result<F::Output> {
        let mut statement = prepare(self.conn, sql)?;
        bind(&mut statement, params)?;
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next().map_err(|it| Error::from_sqlite(&it))? {
            if fold.take(Row::Sqlite(row).document(0)?)?.is_break() {
                break;
            }
        }
        // The snapshot is given back before what may take long.
        drop(rows);
        drop(statement);
        fold.finish()
    }

    pub(crate) fn insert_rows(&mut self, insert: InsertRows<'_>) -> Result<Vec<bool>, Error> {
        let sql = format!("{} values ({}) {}", insert.into, insert.values.join(", "), insert.on_conflict());
        let mut statement = prepare(self.conn, &sql)?;
        let mut inserted = Vec::with_capacity(insert.rows.len());
        for row in insert.rows {
            bind(&mut statement, row)?;
            let changed = statement.raw_execute().map_err(|it| Error::from_sqlite(&it))?;
            inserted.push(changed == 1);
        }
        self.changed += insert.rows.len() as u64;
        Ok(inserted)
    }

    pub(crate) fn batch(&mut self, sql: &str) -> Result<(), Error> {
        self.conn.execute_batch(sql).map_err(|it| Error::from_sqlite(&it))
    }
}

fn prepare<'c>(conn: &'c Connection, sql: &str) -> Result<rusqlite::CachedStatement<'c>, Error> {
    let statement = conn.prepare_cached(sql).map_err(|it| Error::Other(format!("{it} in: {sql}")))?;
    debug_assert!(
        (1..=statement.parameter_count()).all(|i| statement.parameter_name(i) == Some(format!("${i}").as_str())),
        "parameters must first appear in the order $1, $2 …: {sql}"
    );
    Ok(statement)
}

fn bind(statement: &mut Statement<'_>, params: &[Value]) -> Result<(), Error> {
    if statement.parameter_count() != params.len() {
        let (wants, has) = (statement.parameter_count(), params.len());
        return Err(Error::Other(format!("the statement takes {wants} parameters and has {has}")));
    }
    for (i, value) in params.iter().enumerate() {
        statement.raw_bind_parameter(i + 1, Bound(value)).map_err(|it| Error::from_sqlite(&it))?;
    }
    Ok(())
}

struct Bound<'v>(&'v Value);

impl ToSql for Bound<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(bound(self.0))
    }
}

fn bound(value: &Value) -> ToSqlOutput<'_> {
    match value {
        Value::Null => ToSqlOutput::Borrowed(ValueRef::Null),
        Value::Int(it) => ToSqlOutput::Borrowed(ValueRef::Integer(*it)),
        Value::Real(it) => ToSqlOutput::Borrowed(ValueRef::Real(*it)),
        Value::Text(it) => ToSqlOutput::Borrowed(ValueRef::Text(it.as_bytes())),
        Value::Bytes(it) => ToSqlOutput::Borrowed(ValueRef::Blob(it)),
        // A list travels as a JSON array and is read by json_each (Dialect::any_of).
        Value::Texts(list) => {
            let json = serde_json::to_string(list).unwrap_or_else(|_| "[]".to_owned());
            ToSqlOutput::Owned(rusqlite::types::Value::Text(json))
        }
    }
}

/// Opens a connection with the settings every one of ours has.
fn open(path: &Path, flags: OpenFlags) -> Result<Connection, Error> {
    let conn = Connection::open_with_flags(path, flags).map_err(|it| Error::from_sqlite(&it))?;
    name_main_database(&conn)?;
    register_functions(&conn)?;
    // A plan follows from the text alone. Otherwise SQLite parses a statement again at each use when a value that is bound to
    // it could tell it more: that of a limit, or of a column that no index finds (decision 64).
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map_err(|it| Error::from_sqlite(&it))?;
    conn.set_prepared_statement_cache_capacity(256);
    Ok(conn)
}

/// Lets SQLite know its database as `stoa`, the name of the schema on PostgreSQL, so that one text
/// names a table on both engines.
#[expect(unsafe_code, reason = "the option has no safe wrapper; the name is static, as SQLite demands")]
fn name_main_database(conn: &Connection) -> Result<(), Error> {
    use rusqlite::ffi;
    // SAFETY: the handle is open for the whole call, and SQLite keeps only the pointer to a static text.
    let code = unsafe { ffi::sqlite3_db_config(conn.handle(), ffi::SQLITE_DBCONFIG_MAINDBNAME, c"stoa".as_ptr()) };
    (code == ffi::SQLITE_OK).then_some(()).ok_or_else(|| Error::Other(format!("naming the database: {code}")))
}

/// A connection that makes the file when it is missing, before anyone else has it open.
pub(crate) fn open_for_migration(path: &Path) -> Result<Connection, Error> {
    let conn = open(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)?;
    conn.execute_batch("pragma busy_timeout = 10000; pragma journal_mode = wal; pragma synchronous = full")
        .map_err(|it| Error::from_sqlite(&it))?;
    Ok(conn)
}

/// Functions that PostgreSQL has or gets by migration and SQLite gets from us. Deterministic and
/// innocuous, because expression indexes may use them.
fn register_functions(conn: &Connection) -> Result<(), Error> {
    use rusqlite::functions::FunctionFlags;
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_INNOCUOUS;
    for it in stoa_sql::functions::FUNCTIONS {
        conn.create_scalar_function(it.name, it.arity, flags, |context| {
            let mut arguments = [None; 4];
            for (i, argument) in arguments.iter_mut().enumerate().take(context.len()) {
                *argument = context.get_raw(i).as_str().ok();
            }
            Ok(Returned((it.call)(&arguments[..context.len()])))
        })
        .map_err(|it| Error::from_sqlite(&it))?;
    }
    let holds = |context: &rusqlite::functions::Context<'_>| {
        let operand = match context.get_raw(3) {
            ValueRef::Real(it) => probe::Bound::Real(it),
            ValueRef::Integer(it) => probe::Bound::Int(it),
            it => probe::Bound::Text(it.as_str()?),
        };
        let (document, path, test) = (context.get_raw(0), context.get_raw(1), context.get_raw(2));
        Ok(probe::holds(document.as_blob()?, path.as_str()?, test.as_str()?, operand))
    };
    conn.create_scalar_function(probe::FUNCTION, 4, flags, holds).map_err(|it| Error::from_sqlite(&it))
}

struct Returned(Value);

impl ToSql for Returned {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(bound(&self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::StatementStatus;
    use stoa_sql::params;

    #[test]
    fn statement_is_parsed_once_whatever_is_bound() {
        let directory = tempfile::tempdir().unwrap();
        let conn = open_for_migration(&directory.path().join("file")).unwrap();
        conn.execute_batch("create table t (id text primary key, kind text, n integer)").unwrap();
        let sql = "select n from t where id > $1 and kind = $2 order by n limit $3";
        for n in 0..5_i64 {
            let mut statement = prepare(&conn, sql).unwrap();
            bind(&mut statement, &params!["a", n.to_string(), n]).unwrap();
            assert!(statement.raw_query().next().unwrap().is_none());
            assert_eq!(statement.get_status(StatementStatus::RePrepare), 0);
        }
    }
}
