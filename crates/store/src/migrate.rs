//! Brings a database to the present shape: forward only, one numbered folder a scope, each migration
//! once and in a transaction.
//!
//! One text serves both engines. Where their types differ the text says `{text}`, `{bytes}`, `{key}`
//! (an integer key that counts up by itself) or `{transaction}` (the number of the transaction that wrote
//! the row, 0 on SQLite); a line for one of them begins with `{postgres}` or `{sqlite}`. A migration whose
//! text changed after it ran is refused, so that two installations can't drift apart unseen. A new SQLite file is a copy of what
//! the migrations make.
//!
//! A program refuses data to which a later one has done what it does not know, instead of going wrong on it. What only
//! adds something that earlier programs need not know of is `additive`: those go on working on the data, beside a later
//! one or after it, so that there is a way back. The ledger says which those are, as the earlier program can't.

use crate::{
    Error,
    postgres::{self, Postgres},
};
use parking_lot::Mutex;
use rusqlite::{Connection, OptionalExtension, backup::Backup};
use std::path::Path;
use stoa_kernel::{Code, Fault, Result, TokenHash};

/// Which tables a database holds. On PostgreSQL one database holds both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    Catalog,
    Site,
}

struct Migration {
    number: i64,
    name: &'static str,
    text: &'static str,
    /// Whether programs without it work on the data as before.
    is_additive: bool,
}

impl Migration {
    /// Its row in the ledger, as [`RECORD`] writes it on SQLite.
    fn row(&self, scope: Scope) -> (&'static str, i64, &'static str, String, i64) {
        (scope.name(), self.number, self.name, checksum(self.text), i64::from(self.is_additive))
    }
}

macro_rules! migrations {
    ($($number:literal $name:literal $($additive:ident)?),* $(,)?) => {
        &[$(Migration {
            number: $number,
            name: $name,
            text: include_str!(concat!("../migrations/", $name, ".sql")),
            is_additive: migrations!(@ $($additive)?),
        }),*]
    };
    (@ additive) => { true };
    (@) => { false };
}

const CATALOG: &[Migration] = migrations![
    1 "catalog/0001_catalog",
    2 "catalog/0002_person",
    3 "catalog/0003_site",
    4 "catalog/0004_node",
    5 "catalog/0005_scopes",
    6 "catalog/0006_session" additive,
    7 "catalog/0007_key",
    8 "catalog/0008_log",
    9 "catalog/0009_sandbox",
    10 "catalog/0010_session_use" additive,
    11 "catalog/0011_key_upkeep" additive,
    12 "catalog/0012_operator_factor",
    13 "catalog/0013_session_address" additive,
    14 "catalog/0014_password_doubted",
];

const SITE: &[Migration] = migrations![
    1 "site/0001_site",
    2 "site/0002_identity",
    3 "site/0003_content",
    4 "site/0004_flow",
    5 "site/0005_reference",
    6 "site/0006_index_permission",
    7 "site/0007_sweep",
    8 "site/0008_mail",
    9 "site/0009_member",
    10 "site/0010_outbox",
    11 "site/0011_sign_in",
    12 "site/0012_member_list",
    13 "site/0013_sweep_asker",
    14 "site/0014_write_lane",
    15 "site/0015_address",
    16 "site/0016_scopes",
    17 "site/0017_log",
    18 "site/0018_webhook" additive,
    19 "site/0019_async_job" additive,
    20 "site/0020_hook",
    21 "site/0021_search" additive,
    22 "site/0022_translation",
    23 "site/0023_factor",
    25 "site/0025_environment" additive,
    26 "site/0026_search_language",
    28 "site/0028_environment_worker" additive,
    30 "site/0030_session_device" additive,
    32 "site/0032_deletion" additive,
    33 "site/0033_phone_count",
    34 "site/0034_passkey",
    35 "site/0035_impersonation" additive,
    36 "site/0036_task" additive,
    38 "site/0038_email_change" additive,
    39 "site/0039_push",
    40 "site/0040_provider",
    41 "site/0041_consent",
    42 "site/0042_password_doubted",
];

impl Scope {
    fn migrations(self) -> &'static [Migration] {
        match self {
            Self::Catalog => CATALOG,
            Self::Site => SITE,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Catalog => "catalog",
            Self::Site => "site",
        }
    }

    /// Of which migrations a ledger of this scope tells. That of a catalogue has those of sites too: on SQLite each site is
    /// a file, opened when it is asked for, and a program that can't go on with them is to say so at start.
    fn told(self) -> &'static [Self] {
        match self {
            Self::Catalog => &[Self::Catalog, Self::Site],
            Self::Site => &[Self::Site],
        }
    }

    /// Refuses data to which a later program has done what this one can't go on with.
    ///
    /// # Errors
    /// [`Code::Unavailable`] with a sentence that names what was done.
    fn refuse_later(self, place: &str, done: &[Done]) -> Result<()> {
        let is_known = |it: &Done| self.migrations().iter().any(|known| known.number == it.number);
        let later: Vec<&str> =
            done.iter().filter(|it| it.additive == 0 && !is_known(it)).map(|it| it.name.as_str()).collect();
        if later.is_empty() {
            return Ok(());
        }
        Err(Fault::because(
            Code::Unavailable,
            format!(
                "{place} was changed by a later version of Stoa ({}), and this one does not know how to go on with it; \
                 run that version, or this one with a backup from before",
                later.join(", ")
            ),
        ))
    }
}

/// A migration that was done.
struct Done {
    number: i64,
    name: String,
    additive: i64,
}

const LEDGER: &str = "create table if not exists stoa.migration \
    (scope text not null, number bigint not null, name text not null, checksum text not null, \
    additive bigint not null default 0, primary key (scope, number))";
/// Programs before the column knew every migration that they met.
const LEDGER_ADDITIVE: &str = "alter table stoa.migration add column additive bigint not null default 0";
/// Of a copy: in one step.
const ALL_PAGES: i32 = -1;
const RECORD: &str = "insert into stoa.migration (scope, number, name, checksum, additive) values ($1, $2, $3, $4, $5)";

/// Migrates a SQLite file, making it when it is missing.
pub(crate) fn sqlite(file: &Path, scope: Scope) -> Result<()> {
    let mut conn = crate::sqlite::open_for_migration(file)?;
    copy_into_empty(&mut conn, scope)?;
    migrate_connection(&mut conn, scope, &file.display().to_string())
}

/// Fills an empty file, which no one else has open, with all that the migrations make. The process keeps a migrated database in memory
/// for it: SQLite reads its whole schema after each change of a table, so that step by step a site takes fifteen times as long.
/// What was not copied is made step by step.
fn copy_into_empty(file: &mut Connection, scope: Scope) -> Result<()> {
    static CATALOG_COPY: Mutex<Option<Connection>> = Mutex::new(None);
    static SITE_COPY: Mutex<Option<Connection>> = Mutex::new(None);
    let mut kept = match scope {
        Scope::Catalog => CATALOG_COPY.lock(),
        Scope::Site => SITE_COPY.lock(),
    };
    let failed = |it: rusqlite::Error| Fault::from(Error::from_sqlite(&it));
    let tables: i64 = file.query_row("select count(*) from sqlite_schema", (), |row| row.get(0)).map_err(failed)?;
    if tables > 0 {
        return Ok(());
    }
    let migrated = match &mut *kept {
        Some(migrated) => migrated,
        none => {
            let mut made = crate::sqlite::open_for_migration(Path::new(":memory:"))?;
            migrate_connection(&mut made, scope, "a new database")?;
            none.insert(made)
        }
    };
    Backup::new(migrated, file).and_then(|it| it.step(ALL_PAGES)).map(drop).map_err(failed)
}

fn migrate_connection(conn: &mut Connection, scope: Scope, place: &str) -> Result<()> {
    let run = |conn: &mut Connection| -> Result<Result<()>, rusqlite::Error> {
        conn.execute_batch(LEDGER)?;
        let tx = conn.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        let sql = "select count(*) from pragma_table_info('migration') where name = 'additive'";
        if tx.query_row(sql, (), |row| row.get::<_, i64>(0))? == 0 {
            tx.execute_batch(LEDGER_ADDITIVE)?;
        }
        for told in scope.told() {
            let mut read = tx.prepare("select number, name, additive from stoa.migration where scope = ?")?;
            let each =
                |row: &rusqlite::Row<'_>| Ok(Done { number: row.get(0)?, name: row.get(1)?, additive: row.get(2)? });
            let done: Vec<Done> = read.query_map((told.name(),), each)?.collect::<Result<_, _>>()?;
            if let Err(fault) = told.refuse_later(place, &done) {
                return Ok(Err(fault));
            }
        }
        for it in scope.migrations() {
            let sql = "select checksum from stoa.migration where scope = ? and number = ?";
            let known: Option<String> = tx.query_row(sql, (scope.name(), it.number), |row| row.get(0)).optional()?;
            match known {
                Some(known) if known == checksum(it.text) => {}
                Some(_) => return Ok(Err(changed(place))),
                None => {
                    tx.execute_batch(&for_sqlite(it.text))?;
                    tx.execute(RECORD, it.row(scope))?;
                }
            }
        }
        for told in scope.told().iter().filter(|it| **it != scope) {
            for it in told.migrations() {
                tx.execute(&format!("{RECORD} on conflict do nothing"), it.row(*told))?;
            }
        }
        tx.commit().map(Ok)
    };
    run(conn).map_err(|it| Fault::from(Error::from_sqlite(&it)))?
}

/// Migrates the whole database; several nodes may start at once.
pub(crate) async fn postgres(pool: &Postgres) -> Result<()> {
    let client = pool.client().await?;
    postgres::check_encoding(&client).await?;
    postgres::version(&client).await?;
    let map = |it: tokio_postgres::Error| Fault::from(Error::from_postgres(&it));
    postgres::command(&client, "begin; select pg_advisory_xact_lock(7305811); create schema if not exists stoa")
        .await?;
    postgres::command(&client, LEDGER).await?;
    let place = "the PostgreSQL database";
    let sql = "select 1 from information_schema.columns \
               where table_schema = 'stoa' and table_name = 'migration' and column_name = 'additive'";
    if client.query_opt(sql, &[]).await.map_err(map)?.is_none() {
        postgres::command(&client, LEDGER_ADDITIVE).await?;
    }
    for scope in [Scope::Catalog, Scope::Site] {
        let sql = "select number, name, additive from stoa.migration where scope = $1";
        let rows = client.query(sql, &[&scope.name()]).await.map_err(map)?;
        let done = rows.iter().map(|row| Done { number: row.get(0), name: row.get(1), additive: row.get(2) });
        scope.refuse_later(place, &done.collect::<Vec<_>>())?;
        for it in scope.migrations() {
            let sql = "select checksum from stoa.migration where scope = $1 and number = $2";
            let known = client.query_opt(sql, &[&scope.name(), &it.number]).await.map_err(map)?;
            match known.map(|row| row.get::<_, String>(0)) {
                Some(known) if known == checksum(it.text) => {}
                Some(_) => return Err(changed(place)),
                None => {
                    postgres::command(&client, &for_postgres(it.text)).await?;
                    let row: [&(dyn tokio_postgres::types::ToSql + Sync); 5] =
                        [&scope.name(), &it.number, &it.name, &checksum(it.text), &i64::from(it.is_additive)];
                    client.execute(RECORD, &row).await.map_err(map)?;
                }
            }
        }
    }
    // Made again at each start: their text follows the program, for example its Unicode version.
    for statement in stoa_sql::postgres_functions::statements() {
        postgres::command(&client, &statement).await?;
    }
    postgres::number_anew(&client).await?;
    postgres::command(&client, "commit").await?;
    Ok(())
}

fn for_sqlite(text: &str) -> String {
    // SQLite takes no schema before the table of an index; an index is always in its table's schema.
    let text = text.replace(" on stoa.", " on ");
    text.replace("{text}", "text")
        .replace("{bytes}", "blob")
        .replace("{key}", "integer primary key")
        .replace("{transaction}", "bigint not null default 0")
        .replace("{postgres}", "--")
        .replace("{sqlite}", "")
}

fn for_postgres(text: &str) -> String {
    text.replace("{text}", "text collate \"C\"")
        .replace("{bytes}", "bytea")
        .replace("{key}", "bigint generated by default as identity primary key")
        .replace("{transaction}", "bigint not null default (pg_current_xact_id()::text::bigint)")
        .replace("{postgres}", "")
        .replace("{sqlite}", "--")
}

fn checksum(text: &str) -> String {
    TokenHash::of(text).to_vec()[..8].iter().map(|it| format!("{it:02x}")).collect()
}

fn changed(place: &str) -> Fault {
    Fault::because(Code::Unavailable, format!("{place} was migrated by a different version of Stoa"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Columns and indexes of a table in a SQLite file, whatever their order.
    fn shape(file: &Path, table: &str) -> Vec<String> {
        let conn = crate::sqlite::open_for_migration(file).unwrap();
        let columns = "select name || ' ' || type || ' ' || \"notnull\" || ' ' || coalesce(dflt_value, '-') || ' ' || pk \
                       from pragma_table_info(?) order by name";
        let indexes = "select name || ' ' || \"unique\" || ' ' || partial || ' ' || \
                       (select group_concat(coalesce(it.name, '?')) from pragma_index_info(of.name) it) \
                       from pragma_index_list(?) of order by name";
        let mut shape: Vec<String> = Vec::new();
        for sql in [columns, indexes] {
            let mut read = conn.prepare(sql).unwrap();
            shape.extend(read.query_map((table,), |row| row.get(0)).unwrap().map(|it| it.unwrap()));
        }
        shape
    }

    #[test]
    fn copied_file_is_what_the_migrations_make() {
        let directory = tempfile::tempdir().unwrap();
        let everything = |file: &Path| -> Vec<String> {
            let conn = crate::sqlite::open_for_migration(file).unwrap();
            let mode: String = conn.query_row("pragma journal_mode", (), |row| row.get(0)).unwrap();
            assert_eq!(mode, "wal");
            let sql = "select type || name || tbl_name || coalesce(sql, '') from sqlite_schema \
                       union all select scope || number || name || checksum || additive from stoa.migration order by 1";
            let mut read = conn.prepare(sql).unwrap();
            read.query_map((), |row| row.get(0)).unwrap().map(|it| it.unwrap()).collect()
        };
        for scope in [Scope::Catalog, Scope::Site] {
            let [step_by_step, first, second] =
                ["step by step", "first", "second"].map(|it| directory.path().join(format!("{} {it}", scope.name())));
            let mut conn = crate::sqlite::open_for_migration(&step_by_step).unwrap();
            migrate_connection(&mut conn, scope, "a test").unwrap();
            drop(conn);
            let expected = everything(&step_by_step);
            assert!(expected.len() > 40, "{expected:?}");
            for file in [first, second] {
                sqlite(&file, scope).unwrap();
                assert_eq!(everything(&file), expected);
            }
        }
    }

    #[test]
    fn factors_of_operators_stand_in_the_tables_of_members() {
        let directory = tempfile::tempdir().unwrap();
        let [catalog, site] = [Scope::Catalog, Scope::Site].map(|scope| {
            let file = directory.path().join(scope.name());
            sqlite(&file, scope).unwrap();
            file
        });
        for table in ["factor", "factor_guard", "recovery_code", "passkey", "passkey_challenge"] {
            let members = shape(&site, table);
            assert!(members.len() > 3, "{table}: {members:?}");
            assert_eq!(shape(&catalog, table), members, "{table}");
        }
    }
}
